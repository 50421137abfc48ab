#!/bin/bash
# What fxexplain says of texts as people paste them: recorded from real runs (tests/data/README.md).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
of() { fxexplain --all - <"$ROOT/tests/data/pasted/$1.txt"; }

# ---- a decision on a number read from a tensor: the fix is made of the line and of the expression ----
like "the condition of the user's own line" "$(of guard_equal)" 'torch\._check\(y\.shape\[0\] == x\.shape\[1\]\).*If it never holds: torch\._check\(y\.shape\[0\] != x\.shape\[1\]\)'
like "a float" "$(of guard_float)" 'zuf \(floats\).*torch\._check\(f > 0\.5\).*torch\._check\(f <= 0\.5\)'
like "a plain number is needed: no assertion helps" "$(of guard_index)" 'needs it as a plain number.*Torch met it at app/key4\.py:5 in forward.*torch\.index_select'
unlike "so none is suggested" "$(of guard_index)" 'torch\._check'
line='torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not guard on data-dependent expression'
guard() { printf '%s %s.  (Size-like symbols: none)\n' "$line" "$1" | fxexplain -; }
like "without its line, the expression" "$(guard 'Ne(u0, 12) (unhinted: Ne(u0, s70))')" 'with your names: torch\._check\(u0 != s70\).*never holds: torch\._check\(u0 == s70\)'
like "a nested expression" "$(guard 'Eq(Max(1, u0), s0) (unhinted: Eq(Max(1, u0), s0))')" 'torch\._check\(torch\.sym_max\(1, u0\) == s0\)'
like "SymPy's words are Python's" "$(guard 'Eq(Mod(u0 + 1, 3), 1) (unhinted: Eq(Mod(u0 + 1, 3), 1))')" 'torch\._check\(\(u0 \+ 1\) % 3 == 1\)'
like "nested ones, too" "$(guard 'FloorDiv(Mod(u0, 8), 2) > 1 (unhinted: FloorDiv(Mod(u0, 8), 2) > 1)')" 'torch\._check\(\(u0 % 8\) // 2 > 1\)'
like "not a comparison" "$(guard 'u0 > 2 & u0 < 9 (unhinted: u0 > 2 & u0 < 9)')" 'torch\._check\(u0 > 2 & u0 < 9\)'

# ---- Ctrl-C and py-spy during a slow compilation ----
like "Ctrl-C while Inductor lowers" "$(of interrupted_lowering)" 'Interrupted while Inductor was lowering the graph'
like "Ctrl-C while AOTAutograd traces" "$(of interrupted_aot)" 'Interrupted while AOTAutograd was tracing forward and backward'
unlike "it is not the program's fault" "$(of interrupted_aot)" "the program's own code|backend=\"aot_eager\"|fxminify"
like "Ctrl-C elsewhere is none of this" "$(printf 'Traceback (most recent call last):\n  File "app.py", line 3, in <module>\n    time.sleep(9)\nKeyboardInterrupt\n' | fxexplain -)" 'error +app\.py:3.*KeyboardInterrupt'
like "py-spy: lowering" "$(of pyspy_lowering)" 'Inductor lowers a graph'
like "py-spy: tracing" "$(of pyspy_tracing)" 'Dynamo traces your code'
like "py-spy: passes, and nothing else" "$(of pyspy_passes)" 'worst first \(1\).*runs its pattern matcher'

# ---- other tools around torch.export ----
like "torch.onnx.export stops at the capture (the text has colors)" "$(of onnx_trace)" 'Likely cause: torch\.export.*torch\.export cannot capture the model.*torch\._check\(y\.shape\[0\] == x\.shape\[1\]\).*dynamo=False'
like "an operator without a translation" "$(of onnx_operator)" 'cannot be converted to ONNX.*no translation of aten\.linalg_qr'
like "a file of another schema is a matter of loading" "$(of schema)" 'Likely cause: loading the package.*file has version 99\.20, this torch \(8, 20\)'
unlike "drafting an export does not help there" "$(of schema)" 'draft_export'
like "a number of a tensor as a key" "$(of export_key)" 'cannot select an entry of a dict'

# ---- whose fault ----
like "checkpoints: eager tells the block from its variants" "$(of checkpoint)" 'TORCH_COMPILE_DISABLE=1 python app\.py    # if it passes, two compiled variants.*_set_lru_cache\(False\)'
unlike "the program is not accused" "$(of checkpoint)" "the program's own code"
like "a GPU's error does not accuse the call that reports it, also where it is repeated" "$(of gpu_error_twice)" \
	'Likely cause: a kernel on the GPU, of compiled code or of eager.*to check +CUDA_LAUNCH_BLOCKING=1.*fxminify -- python app\.py'
like "an error that surfaces in autotuning may be an earlier kernel's" "$(of autotune_misaligned)" 'noticed in benchmark_gpu.*any kernel started earlier'
like "a Triton kernel that calls .to on a constant" "$(of triton_scalar)" 'calls \.to\(\) on a scalar of type int.*tl\.cast\(x, tl\.int64\)'
like "a run of a package points at the reason before it" "$(of aoti_run)" 'reason is printed before it.*CUDA kernel read or wrote outside'
like "a known bug of torch has its workaround" "$(of multi_kernel)" 'known bug of torch 2\.11.*TORCHINDUCTOR_DISABLE_MULTI_KERNEL_CACHE=1'

# ---- Ctrl-C is nobody's fault: the verdict is the phase that the stack shows ----
interrupted=$ROOT/tests/data/pasted/interrupted_lowering.txt
like "the verdict of Ctrl-C" "$(of interrupted_lowering)" '.*Interrupted: Inductor was lowering the graph.*because +KeyboardInterrupt'
is "in the document" "$(fxexplain --json - <"$interrupted" | jq -c '.verdict | [.component, .title, .interrupted, .basis, .next]')" '[null,"Inductor was lowering the graph",true,"follows",[]]'
like "in an issue" "$(fxexplain report "$interrupted")" 'Interrupted: Inductor was lowering the graph\.'
like "in a GitHub summary" "$(GITHUB_STEP_SUMMARY=summary fxexplain --github "$interrupted" >/dev/null; cat summary)" 'Interrupted: .*Inductor was lowering the graph'
like "outside a compilation" "$(printf 'Traceback (most recent call last):\n  File "/home/user/app/train.py", line 9, in <module>\n    time.sleep(100)\nKeyboardInterrupt\n' | fxexplain -)" 'Interrupted: torch was not compiling'

# ---- an exception that only reports another process's: the verdict is that one, from the process that raised it first ----
root='Failed: Inductor \(passes, lowering, scheduling\).*because +torch\._inductor\.exc\.InductorError: LoweringException: AssertionError: sizes do not match: 3 != 4.*raised at torch/_inductor/graph\.py:1495'
like "ray_actor: the root" "$(of carrier_ray_actor)" "$root"
for name in mp_process mp_pool cf_pool dataloader torchrun_plain ray_task vllm_engine vllm_engine_08 vllm_worker vllm_ray; do
	like "$name: the root" "$(of "carrier_$name")" "$root"
	is "$name: one error, at the line of the model" "$(fxexplain --json - <"$ROOT/tests/data/pasted/carrier_$name.txt" | jq -r '[.findings[] | select(.level == "error") | "\(.location.file):\(.location.line)"] | join(" ")')" "/home/user/app/model.py:18"
done
like "a pool that broke: the signal that hit its process" "$(of carrier_cf_broken)" 'because +Segmentation fault: in .*string_at'
unlike "no compile worker died" "$(of carrier_cf_broken)" 'compile worker'
like "torchrun without a traceback: which rank was first" "$(of carrier_torchrun_signal)" 'Not known yet: why a rank of torchrun failed: its own traceback is not in this log.*first to fail: rank 0 \(local_rank: 0\) on localhost, exitcode -11.*Signal 11 \(SIGSEGV\).*--redirects=3'
like "joblib's pool" "$(of carrier_loky)" "$root"
like "a Ray task that waits for another" "$(of carrier_raytrain)" 'because +TypeError: Net\.forward\(\) got an unexpected.*train_func\.py:22'
like "a rank that lost its peer is not the first" "$(of carrier_torchrun_tee)" 'Failed: TorchDynamo.*because +torch\._dynamo\.exc\.Unsupported: Data-dependent branching.*error +/home/user/app/train\.py:31'
like "a command that failed" "$(of carrier_accelerate_alone)" 'Not known yet: why a command that this program started failed: its own traceback is not in this log'
like "the end of vLLM's log alone" "$(of carrier_vllm_last)" "Not known yet: why vLLM's engine core failed: its own traceback is not in this log.*first ERROR line of EngineCore"
unlike "nobody is accused" "$(of carrier_vllm_last; of carrier_torchrun_signal)" 'eager fails|the program itself'
like "a program's own exit code is its own failure" "$(printf 'Traceback (most recent call last):\n  File "/home/user/app/train.py", line 9, in <module>\n    raise RuntimeError("ffmpeg: exit code 1")\nRuntimeError: ffmpeg: exit code 1\n' | fxexplain -)" 'train\.py:9.*RuntimeError: ffmpeg: exit code 1'

# ---- the printed recipe runs: the program fails, as before, so no && ----
like "with a compile id, from a trace" "$(sed 's/AttributeError(/ValueError(/; s/log_of_all/triton_poi_fused_log_0/' "$ROOT/tests/data/pasted/triton_scalar.txt" | fxexplain --all -)" 'next +TORCH_TRACE=traces python app\.py; fxminify --graph 0/0 traces/\*\.log'
unlike "no recipe needs the program to succeed" "$(for f in "$ROOT"/tests/data/pasted/*.txt; do fxexplain --all - <"$f"; done)" 'app\.py &&'

# ---- dresses: cut heads, pytest's indentation, py-spy ----
explanation='  Explanation: Dynamo failed to run FX node with fake tensors: call_function <built-in function linear>(*(FakeTensor(..., size=(4, 126)), Parameter(FakeTensor(..., size=(10, 128)))), **{}): got RuntimeError('"'"'a and b must have same reduction dim, but got [4, 126] X [128, 10].'"'"')
  Hint: Your code may result in an error when running in eager.

  Developer debug context:

 For more details about this graph break, please visit: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb4315.html

from user code:
   File "/home/me/model.py", line 10, in forward
    return self.fc(x)'
like "the message's first line is cut off" "$(fxexplain --all - <<<"$explanation")" 'model\.py:10 in forward: RuntimeError: a and b.*in_features=128'
pytest='____________________________ test_matches _____________________________

    def test_matches():
        eager = net(x)
>       assert torch.CHECK(eager, compiled)
E       AssertionError: assert False
E        +  where False = <built-in method CHECK of type object at 0x7f>(tensor([1.]), tensor([2.]))

tests/test_net.py:23: AssertionError'
like "pytest's own words of a failed comparison" "$(fxexplain --all - <<<"${pytest//CHECK/allclose}")" 'compiled code gave other numbers.*test_net\.py:23 in test_matches'
unlike "another assertion is no comparison" "$(fxexplain --all - <<<"${pytest//CHECK/is_tensor}")" 'other numbers'
like "py-spy: at the user's line" "$(fxexplain --all - <<'END'
Thread 991 (active): "MainThread"
    fuse_nodes (torch/_inductor/scheduler.py:3020)
    _compile (sympy/core/basic.py:12)
    compile_fx_inner (torch/_inductor/compile_fx.py:790)
    wait (threading.py:327)
    train_step (train.py:61)
    <module> (main.py:9)
END
)" 'train\.py:61 in train_step: A stack of a process in which Inductor'

like "faulthandler's time-out: the phase, at the user's line" "$(fxexplain --all - <<'END'
Timeout (0:10:00)!
Thread 0x00007f12b5c4e740 (most recent call first):
  File "/opt/lib/python3.11/site-packages/torch/_inductor/scheduler.py", line 3020 in fuse_nodes
  File "/opt/lib/python3.11/site-packages/torch/_inductor/compile_fx.py", line 1460 in codegen_and_compile
  File "/home/q/exp/train.py", line 33 in step
  File "/home/q/exp/train.py", line 58 in <module>
END
)" 'train\.py:33 in step: A stack of a process in which Inductor'
like "paths of Windows" "$(printf 'Traceback (most recent call last):\n  File "C:\\Users\\me\\run.py", line 14, in <module>\n    f(x)\n  File "C:\\Users\\me\\venv\\Lib\\site-packages\\torch\\_inductor\\cpp_builder.py", line 176, in check\n    raise RuntimeError(e)\ntorch._inductor.exc.InductorError: RuntimeError: Compiler: cl is not found.\n' | fxexplain --all -)" 'error +C:\\Users\\me\\run\.py:14'

# ---- whose line, whose kernel ----
# shellcheck disable=SC2016
line='File "%s", line 280, in __init__
    validate(data)
torch._dynamo.exc.Unsupported: Unsupported method call
  Explanation: Dynamo does not know how to trace method `validate`
  Hint: Avoid calling it.

  Developer debug context: call_method x [] {}

from user code:
   File "/home/me/app.py", line 5, in f
    M(x)
  File "%s", line 280, in __init__
    validate(data)
'
mkdir -p site/pydantic site/pydantic-2.11.3.dist-info
# shellcheck disable=SC2059 # a form with two places
from() { printf "Traceback (most recent call last):\n  $line" "$1" "$1" | fxexplain --all -; }
like "a package beside its dist-info is not the program" "$(from "$PWD/site/pydantic/main.py")" 'app\.py:5 in f, through .*pydantic/main\.py:280'
like "a folder without one is" "$(from "$PWD/site/mine/main.py")" 'error +.*site/mine/main\.py:280 in __init__: Unsupported'
triton='triton.compiler.errors.CompilationError: at 4:11:
def %s(x_ptr, n):
    y = x * 2
    out = y + z
           ^
ValueError('"'"'Cannot make_shape_compatible: incompatible dimensions at index 0: 1024 and 512'"'"')'
# shellcheck disable=SC2059
like "a Triton kernel of the program's own" "$(printf "$triton" scale_kernel | fxexplain --all -)" "Failed: the program's own Triton kernel scale_kernel.*line 4: out = y \+ z.*TRITON_INTERPRET=1"
# shellcheck disable=SC2059
unlike "not one of Inductor's" "$(printf "$triton" triton_poi_fused_add_0 | fxexplain --all -)" "own Triton kernel"
product() { printf 'Traceback (most recent call last):\n  File "/home/me/app.py", line 5, in f\n    %s\nRuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)\n' "$1" | fxexplain --all -; }
like "x @ y has no in_features" "$(product 'return x @ y')" 'hint +x @ y multiplies'
like "a layer has" "$(product 'return self.fc(x)')" 'in_features=4'

# ---- a build's output without Python's exception ----
error="cqa7.main.cpp:17:57: error: 'vec_reduce_all' was not declared in this scope"
like "the first error in Inductor's code" "$(printf '[1/2] g++ -c\n/tmp/torchinductor_me/qa/%s\n' "$error" | fxexplain --all -)" "Failed: the C\+\+ or Triton compiler.*'vec_reduce_all' was not declared"
unlike "an error in other code is not torch's" "$(printf '/home/me/server/%s\n' "$error" | fxexplain --all -)" 'Failed'
like "a killed compiler ran out of memory" "$(printf 'c++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n' | fxexplain --all -)" 'The C\+\+ compiler was killed.*TORCHINDUCTOR_COMPILE_THREADS'

# ---- the text of an issue ----
xz -dc "$ROOT/tests/data/traces/compile_error.log.xz" >compile_error.log
like "the graph of a compilation that failed has its operations" "$(fxexplain report compile_error.log)" ', [0-9]+ graphs? with [1-9][0-9]* operations?,'
done_testing
