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
like "a nested expression" "$(guard 'Eq(Max(1, u0), s0) (unhinted: Eq(Max(1, u0), s0))')" 'torch\._check\(Max\(1, u0\) == s0\)'
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
like "torch.onnx.export stops at the capture (the text has colors)" "$(of onnx_trace)" 'Likely cause: torch\.export.*torch\.export cannot capture the model.*dynamo=False.*torch\._check\(y\.shape\[0\] == x\.shape\[1\]\)'
like "an operator without a translation" "$(of onnx_operator)" 'cannot be converted to ONNX.*no translation of aten\.linalg_qr'
like "a file of another schema is a matter of loading" "$(of schema)" 'Likely cause: loading the package.*file has version 99\.20, this torch \(8, 20\)'
unlike "drafting an export does not help there" "$(of schema)" 'draft_export'
like "a number of a tensor as a key" "$(of export_key)" 'cannot select an entry of a dict'

# ---- whose fault ----
like "checkpoints: eager tells the block from its variants" "$(of checkpoint)" 'TORCH_COMPILE_DISABLE=1 python app\.py    # if it passes, two compiled variants.*_set_lru_cache\(False\)'
unlike "the program is not accused" "$(of checkpoint)" "the program's own code"
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
like "with a compile id, from a trace" "$(sed 's/AttributeError(/ValueError(/' "$ROOT/tests/data/pasted/triton_scalar.txt" | fxexplain --all -)" 'next +TORCH_TRACE=traces python app\.py; fxminify --graph 0/0 traces/\*\.log'
unlike "no recipe needs the program to succeed" "$(for f in "$ROOT"/tests/data/pasted/*.txt; do fxexplain --all - <"$f"; done)" 'app\.py &&'
done_testing
