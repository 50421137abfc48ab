#!/bin/bash
# fxexplain crash: recorded backtraces, a core file of a real crash, operands in any order, exit statuses, JSON.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
data=$ROOT/tests/data/crash
xz -dc "$data/crash.pt2.xz" >crash.pt2 || skip_all "no xz"
kernel=cpp_fused__softmax_add_log_mul_1

exits "a crash in a Python process, with the package" 1 fxexplain crash "$data/expand.txt" crash.pt2
is "standard error stays empty" "$(cat err)" ""
like "the kind of crash and whose code" "$(head -1 out)" "^SIGSEGV: .*, in the kernel $kernel\$"
like "the call, and how it is known" "$(cat out)" "call +$kernel \(by line information\)"
like "the kernel's line" "$(cat out)" 'kernel +line [0-9]+: auto tmp3 = tmp0 \* tmp2;'
like "the wrapper's line" "$(cat out)" "wrapper +line [0-9]+: $kernel\(\(const float\*\)\(buf3.data_ptr\(\)\), \(const float\*\)\(arg5_1"
like "an input and its argument path" "$(cat out)" 'arg5_1 +input args\[1\] +reads +float32 +\[4096, 4096\] +\[4096, 1\]'
like "the nodes" "$(cat out)" 'nodes +exp, sub, amax'
like "the Python line" "$(cat out)" 'crash.py:[0-9]+ in forward: scaled = torch.log\(table \* 2 \+ 1\)'
like "the Python stack" "$(cat out)" '/home/user/app/crash.py:[0-9]+ in run'
like "the next command" "$(cat out)" 'aoti-checkinputs crash.pt2 INPUT'
unlike "frames of the signal handler are hidden" "$(cat out)" FatalSignalHandler
cp out first
exits "operands in the other order" 1 fxexplain crash crash.pt2 "$data/expand.txt"
ok "the answer is equal" cmp -s out first
exits "standard input" 1 bash -c "fxexplain crash - crash.pt2 <'$data/expand.txt'"
ok "the answer is equal, too" cmp -s out first
exits "--all" 1 fxexplain crash --all "$data/expand.txt" crash.pt2
like "--all shows frames of the handler" "$(cat out)" 'c10::FatalSignalHandler::stacktraceSignalHandler'
exits "-o FILE" 1 fxexplain crash -o answer "$data/expand.txt" crash.pt2
ok "the file has the same answer" cmp -s answer first

exits "without the package" 1 fxexplain crash "$data/expand.txt"
like "the kernel is known by its name" "$(head -1 out)" "in the kernel $kernel\$"
exits "a call that the model rejected" 1 fxexplain crash "$data/checked.txt" crash.pt2
like "the title says so" "$(head -1 out)" '^The model rejected the call'
like "the model's message is shown" "$(cat out)" 'RuntimeError: input_handles\[1\]: unmatched stride value at 0, expected: 4096, but got: 0'
echo "all is well" >well.txt
exits "a text without a crash" 0 fxexplain crash well.txt crash.pt2
is "the answer says so" "$(cat out)" "nothing about a crash found: no backtrace, no signal, no known error"
echo "run.sh: line 1: 12 Illegal instruction (core dumped) python app.py" >ill.txt
exits "an illegal instruction" 1 fxexplain crash ill.txt crash.pt2
like "--doctor is suggested" "$(cat out)" 'aoti-checkinputs --doctor crash.pt2'
like "its answer is shown" "$(cat out)" 'instruction sets: .*avx2'

exits "a package alone is rejected" 2 fxexplain crash crash.pt2
like "the message says what is missing" "$(cat err)" '^fxexplain: crash needs a text with a backtrace'
exits "a missing file" 3 fxexplain crash nowhere.txt
exits "a damaged package" 3 bash -c 'head -c 5000 crash.pt2 >cut.pt2; fxexplain crash cut.pt2 well.txt'
exits "--sarif is rejected" 2 fxexplain crash --sarif well.txt

exits "--json" 1 fxexplain crash --json "$data/expand.txt" crash.pt2
is "--json has the facts" "$(jq -r '[.kind, .owner, .signal, .call.name, .call.how, (.call.arguments | length), (.stacks | length),
	(.stacks[] | select(.main) | .frames[3] | .kernel, .handler), (.stacks[] | select(.python) | .frames[0].symbol)] | join(" ")' out)" \
	"segv kernel SIGSEGV $kernel line 5 2 $kernel false __call__"
is "--json has the Python lines of the call" "$(jq -r '.call.python | map(select(test("torch.log"))) | length' out)" 1

# Paths and names of all kinds in what is read reach the terminal as text.
printf 'frame #0: f\033[31m + 0x1 (0x1 in /tmp/\033]0;x\007.so)\nSegmentation fault\n' >hostile.txt
exits "control bytes in the text" 1 fxexplain crash hostile.txt
ok "they are not printed" bash -c '! grep -q $'"'\\033'"' out'

# ---- recorded cores of real deaths, under torch 2.13 (scripts/fixtures/trim_core.py): as read on another machine, without their libraries ----
for f in plain fatal; do xz -dc "$data/$f.core.xz" >$f.core; done
xz -dc "$ROOT/tests/data/aoti/bounds/fatal.pt2.xz" >fatal.pt2
if [ "$(uname -m)" = x86_64 ]; then
	exits "a core of a model that was given an expanded tensor" 1 fxexplain crash plain.core crash.pt2
	is "the kernel is named" "$(head -1 out)" 'SIGSEGV: an access just past the end of mapped memory, in the kernel cpp_fused__softmax_add_log_mul_1'
	like "so are the instruction" "$(cat out)" 'a load of 32 bytes \(256-bit vector\) at r12 \+ rbx\*4'
	like "the element" "$(cat out)" 'element 952368, 4 bytes each'
	like "and the model's functions up to its Run" "$(cat out)" 'AOTInductorModelContainerRun +wrapper.cpp:[0-9]+'
	like "what is missing is said" "$(cat out)" "/opt/venv/.*/libtorch_cpu.so' differs from the one in the core, or is missing"
	like "the next command has the command that died" "$(cat out)" 'aoti-checkinputs crash.pt2 -- /opt/venv/bin/python /srv/app/crash.py plain crash.pt2'
fi
exits "a core of a process that malloc() ended" 1 fxexplain crash fatal.core fatal.pt2
like "is a damaged heap by glibc's words alone, without its library" "$(cat out)" '^SIGABRT: the heap was corrupted earlier'
is "which are shown" "$(sed -n 2p out)" "  $(head -1 "$data/fatal.err")"
like "the next command looks for the kernel" "$(cat out)" 'pt2-run --bounds fatal.pt2'
exits "standard error of the same death" 1 fxexplain crash "$data/fatal.err"
like "is one, too" "$(cat out)" 'the heap was corrupted earlier'

# A real core file, where the kernel writes one into the folder.
if [ "$(uname -m)" != x86_64 ] || ! grep -q avx2 /proc/cpuinfo; then
	skip "a core file" "the recorded model is x86-64-v3 code"
	done_testing
	exit
fi
python3 - <<'EOF' || skip_all "cannot unpack"
import zipfile
for m in zipfile.ZipFile("crash.pt2").infolist():
    if m.filename.endswith(".so"):
        open("model.wrapper.so", "wb").write(zipfile.ZipFile("crash.pt2").read(m))
EOF
(
	ulimit -c "$(ulimit -Hc)"
	echo 0x31 >/proc/self/coredump_filter
	exec "$BUILD/tests-lib/livehost" torch="$BUILD/lib/pt2utils/libpt2shim.so" load="$PWD/model.wrapper.so" \
		'call=f32[3,8];f32[4096,4096]/(0,0)'
) >/dev/null 2>&1
core=$(find . -maxdepth 1 -name 'core*' | head -1)
if [ -z "$core" ]; then
	skip "a core file" "the kernel writes none here (core_pattern: $(cat /proc/sys/kernel/core_pattern))"
	done_testing
	exit
fi
rm model.wrapper.so # only the package has it
exits "a core file" 1 fxexplain crash "$core" crash.pt2
like "the invalid access is described" "$(head -1 out)" "^SIGSEGV: an access just past the end of mapped memory, in the kernel $kernel\$"
like "the element is computed" "$(cat out)" 'operand +r[a-z0-9]+ \+ 4\*r[a-z0-9]+; .* element [0-9]+'
like "the library is found by its build id" "$(cat out)" "model.wrapper.so\+0x[0-9a-f]+ +$kernel +kernel.cpp:[0-9]+"
like "the stack reaches main" "$(cat out)" 'livehost\+0x[0-9a-f]+ +main'
# A core file has 79 bytes of it.
command="$BUILD/tests-lib/livehost torch=$BUILD/lib/pt2utils/libpt2shim.so load=$PWD/model.wrapper.so"
cut=${command:0:79}
case $cut in *' ') cut=${cut% } ;; *) cut+=... ;; esac
ok "the next command includes the crashed command" grep -qF "aoti-checkinputs crash.pt2 -- $cut  " out
exits "a core file without the package" 1 fxexplain crash "$core"
like "the missing library is named" "$(cat out)" "model.wrapper.so' differs from the one in the core, or is missing"
exits "an incomplete core file" 3 bash -c "head -c 700 '$core' >cut.core; fxexplain crash cut.core"
exits "two core files are rejected" 2 fxexplain crash "$core" "$core"
exits "a core file and a text" 1 fxexplain crash "$core" "$data/expand.txt" crash.pt2
like "Python frames come from the text" "$(cat out)" 'crash.py:[0-9]+ in run'

# ---- a real death: a kernel that writes past the end of a tensor, which glibc notices when the run frees it ----
python3 - <<'EOF'
import zipfile
for m in zipfile.ZipFile("fatal.pt2").infolist():
    if m.filename.endswith(".so"):
        open("detector.so", "wb").write(zipfile.ZipFile("fatal.pt2").read(m))
EOF
rm -f "$core"
(
	ulimit -c "$(ulimit -Hc)"
	echo 0x31 >/proc/self/coredump_filter
	exec "$BUILD/tests-lib/livehost" torch="$BUILD/lib/pt2utils/libpt2shim.so" load="$PWD/detector.so" 'call=f32[7,90]'
) >/dev/null 2>death.err
core=$(find . -maxdepth 1 -name 'core*' | head -1)
like "glibc ends it" "$(cat death.err)" 'free\(\)|corrupted|malloc|munmap_chunk|invalid'
exits "a core of a damaged heap" 1 fxexplain crash "$core" fatal.pt2
like "glibc's words come from the core" "$(cat out)" "$(head -1 death.err | sed 's/[()]/\\&/g')"
like "the call of the model that noticed it is named" "$(cat out)" 'aoti_torch_cpu_addmm_out'
like "the next command is --bounds" "$(cat out)" 'pt2-run --bounds fatal.pt2'
exits "which names the kernel" 1 pt2-run -q --bounds fatal.pt2 "$ROOT/tests/data/aoti/bounds/fatal.pt"
like "and how far it wrote" "$(cat err)" 'cpp_fused_sin_0 writes buf0\[630\.\.693\], which has 630 elements: 256 bytes past the end'

# ---- models by their symbols, damaged heaps, what to do next ----
cat >renamed.txt <<'END'
Program terminated with signal SIGSEGV, Segmentation fault.
#0  0x00007f3a1c0a5b10 in cpp_fused_relu_0 () from /srv/app/detector.so
#1  0x00007f3a1c0a6d42 in torch::aot_inductor::AOTInductorModel::run_impl(AtenTensorOpaque**, AtenTensorOpaque**) () from /srv/app/detector.so
#2  0x00007f3a1c0a9000 in ?? () from /srv/app/detector.so
#3  0x000055d0c0a01234 in main () from /srv/app/server
END
exits "a model's library with a name of its own" 1 fxexplain crash renamed.txt
like "its kernel is named" "$(cat out)" 'in the kernel cpp_fused_relu_0'
unlike "it is no custom op" "$(cat out)" 'custom op'
cat >malloc.txt <<'END'
Program terminated with signal SIGABRT, Aborted.
#0  0x00007f3a1d08aeec in ?? () from /lib/x86_64-linux-gnu/libc.so.6
#1  0x00007f3a1d03bfb2 in raise () from /lib/x86_64-linux-gnu/libc.so.6
#2  0x00007f3a1d026472 in abort () from /lib/x86_64-linux-gnu/libc.so.6
#3  0x00007f3a1d0984c0 in posix_memalign () from /lib/x86_64-linux-gnu/libc.so.6
#4  0x00007f3a1e012340 in c10::alloc_cpu(unsigned long) () from /opt/torch/lib/libc10.so
#5  0x00007f3a1c0a6d42 in torch::aot_inductor::AOTInductorModel::run_impl(AtenTensorOpaque**, AtenTensorOpaque**) () from /srv/app/detector.so
END
exits "abort() below malloc" 1 fxexplain crash malloc.txt
like "is a damaged heap" "$(cat out)" 'the heap was corrupted earlier'
like "the next command looks for the kernel" "$(cat out)" 'pt2-run --bounds model.pt2 INPUT'
done_testing
