#!/bin/bash
# aoti-printer and aoti-nanassert on models for CUDA, on a driver without a GPU (tests/lib/fakecuda.h), whose threads are interpreted: a large
# tensor takes seconds; PT2_LONG=1 (make check-long): aoti-nanassert on one, too.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

host=$BUILD/tests-lib/cudahost
so=$(echo "$BUILD"/tests-lib/cuda/model/*.so)
[ -f "$so" ] || skip_all "the model is not built"
model() { "$host" "load=$so" "$@"; }
names='triton_poi_fused_add_0
aoti_torch_cuda_addmm_out
triton_per_fused_relu_sum_1
triton_poi_fused_mul_2'

# ---- names ----
exits "--level 3" 0 aoti-printer -l3 --log=log -- "$host" "load=$so" call=4
is "the model's output is unchanged" "$(cat out)" "rc 0 as computed"
is "launches and ops are named, in order" "$(sed -n 's/^\[ before_launch: \([^ ]*\) \].*/\1/p' log)" "$names"
like "the launch's configuration is printed" "$(cat log)" 'triton_poi_fused_add_0 \] grid \(1, 1, 1\), block \(128, 1, 1\), shared 0, stream 0x0'
run aoti-printer -l3 --json --log=log -- "$host" "load=$so" call=4000
is "JSON has the grid" "$(jq -c '.calls[0].launch | [.grid, .block, .shared, .captured]' log)" '[[250,1,1],[128,1,1],0,false]'
is "each call has its line of the wrapper" "$(jq '[.calls[] | select(.line > 0)] | length' log)" 4
run aoti-printer -l3 --json -k 'triton_p*' --log=log -- "$host" "load=$so" call=4
is "-k filters launches" "$(jq -r '.calls[].kernel' log)" "$(grep '^triton_p' <<<"$names")"
exits "several threads with their own streams" 0 aoti-printer -l3 --json --log=log -- "$host" "load=$so" threads=2x5:4
is "every call is recorded" "$(jq '.calls | length' log)" 40
is "at least three streams are seen" "$(jq '[.calls[].launch.stream // empty] | unique | length > 1' log)" true

# ---- values ----
exits "values" 0 aoti-printer --json --log=log -- "$host" "load=$so" call=4
is "each launch has its tensors, with names" "$(jq -c '.calls[0].values | map([.buffer, .role, .when, .device])' log)" \
	'[["arg1_1","in","before","cuda:0"],["arg2_1","in","before","cuda:0"],["buf0","out","after","cuda:0"]]'
is "an op has its outputs" "$(jq -r '.calls[1].values[] | select(.when == "after").buffer' log)" buf1
is "tensors have statistics" "$(jq '.calls[2].values[0] | .elements == 32 and .nan == 0 and .min < 0 and .max > 0' log)" true
exits "-o" 0 aoti-printer -o dump -- "$host" "load=$so" call=4
exits "--diff with the same run agrees" 0 aoti-printer --diff dump -- "$host" "load=$so" call=4
exits "--diff finds a NaN" 1 aoti-printer --diff dump -- "$host" "load=$so" nan=4
# As if compiled for the CPU, where kernels and buffers are called otherwise: made of the dump, for no other model computes the same.
cp -r dump cpu
sed -i 's/\("[a-z]*":"\)triton_p[a-z]*_fused/\1cpp_fused/; s/\("[a-z]*":"\)aoti_torch_cuda_/\1aoti_torch_cpu_/; s/"cuda:0"/"cpu"/g' cpu/calls.jsonl
sed -i 's/"buffer":"buf0"/"buffer":"buf9"/g; s/"buffer":"buf1"/"buffer":"buf0"/g' cpu/calls.jsonl
exits "--diff of a CPU and a GPU dump agrees" 0 aoti-printer --json --diff cpu dump
is "it compares call by call" "$(jq -c '[.both, .only_a, .only_b, .differing]' out)" '[4,0,0,0]'
large=525000 # rows: more than the 16 MiB that are copied at a time (CUDA_STAGE)
exits "a large tensor, read in chunks" 0 env FAKECUDA_LOG=driver aoti-printer --json --log=log -- "$host" "load=$so" call=$large
is "statistics cover all its elements" "$(jq -c '.calls[0].values | map([.elements, .nan])' log)" '[[4200000,0],[4200000,0],[4200000,0]]'
like "statistics are computed on the device" "$(cat driver)" 'run pt2_stats_f32 = 0'
like "the mean covers all elements" "$(jq '.calls[0].values | (.[2].mean - .[0].mean - .[1].mean) | . < 1e-6 and . > -1e-6' log)" true

# ---- aoti-nanassert ----
exits "aoti-nanassert without a NaN" 0 aoti-nanassert -- "$host" "load=$so" call=4
exits "aoti-nanassert with a NaN" 1 aoti-nanassert --json --log=log -- "$host" "load=$so" nan=4
is "the kernel and the position are found" "$(jq -c '.findings[0] | [.kind, .kernel, .call, .values[.cause].buffer, .values[.bad].position]' log)" \
	'["input","triton_poi_fused_add_0",0,"arg1_1",[1,1]]'
is "the model's output is unchanged with a NaN" "$(cat out)" "rc 0 NaN, as computed"
if [ -n "${PT2_LONG-}" ]; then
	exits "a NaN in a large tensor" 1 aoti-nanassert --json --log=log -- "$host" "load=$so" nan=$large
	is "its position is found" "$(jq -c '.findings[0] | .values[.bad].position' log)" '[1,1]'
fi
exits "in a graph nothing is copied" 0 aoti-nanassert --exact -- "$host" "load=$so" graph=3:4
is "which is replayed as before" "$(grep -c 'as computed' out)" 3
like "and said" "$(cat err)" '[34] of them were captured into a CUDA graph'

# ---- a scan, which waits for nothing ----
FAKECUDA_LOG=unwatched "$host" "load=$so" graph=2:4 call=4 >/dev/null
exits "nothing found" 0 env FAKECUDA_LOG=scanned aoti-nanassert -- "$host" "load=$so" graph=2:4 call=4
like "said without more" "$(cat err)" 'calls of kernels and operators, nothing found'
waits() { grep -c '^cu\(Stream\|Ctx\|Event\)Synchronize' "$1"; }
is "one wait, when the kernels are loaded" "$(($(waits scanned) - $(waits unwatched)))" 1
is "nothing is copied" "$(grep -c '^cuMemcpy' scanned)" "$(grep -c '^cuMemcpy' unwatched)"
is "one launch for each call, and for each captured run" "$(grep -c '^cuLaunchKernel pt2_' scanned)" $((3 + 12 + 1))
exits "a NaN, text" 1 aoti-nanassert --log=log -- "$host" "load=$so" nan=4
like "numbers, as they were on the GPU" "$(tr -s '\n ' ' ' <log)" \
	'wrote buf0 f32\[4,8\]@cuda:0: 1 NaN of 32 elements; min [-.0-9]+, max [.0-9]+, mean [-.0-9]+; the first at \[1, 1\] = nan read args\[0\]'
like "the same place in the other input" "$(cat log)" 'args\[1\] \(arg2_1\).*there \[1, 1\] = 0.786133'
like "the command that examines that call" "$(cat log)" "again +aoti-nanassert --stop-at 0:0 -- .*cudahost load=.* nan=4"
like "that more was not looked for" "$(cat log)" 'only the first is looked for'
exits "that command" 1 sh -c "$(sed -n 's/^ *again *//p' log)"
like "finds the same" "$(cat err)" '1 NaN of 32 elements.*the first at \[1, 1\] = nan'
exits "a call before it is clean" 0 aoti-nanassert --stop-at 0:1 -- "$host" "load=$so" call=4 nan=4
exits "... and of another run" 1 aoti-nanassert --stop-at 1:1 -- "$host" "load=$so" call=4 nan=4
exits "where a call is: a bad one" 2 aoti-nanassert --stop-at 3 -- true
exits "the same without a scan" 1 aoti-nanassert --exact --json --log=exact -- "$host" "load=$so" nan=4
exits "and with one" 1 aoti-nanassert --json --log=scan -- "$host" "load=$so" nan=4
same='.findings[0] | [.kind, .what, .run, .call, .kernel, .line, .bad, .cause, [.values[] | del(.mean)]]'
is "agree" "$(jq -c "$same" scan)" "$(jq -c "$same" exact)"
is "in the document" "$(jq -c '.findings[0].scanned' scan exact | paste -sd' ')" "true null"
exits "a NaN in the third replay of a graph" 1 aoti-nanassert --json --log=log -- "$host" "load=$so" nangraph=3:4
is "is found there" "$(jq -c '.findings[0] | [.kernel, .run, .call, .graph, .replay, .values[.bad].position]' log)" \
	'["triton_poi_fused_add_0",1,0,1,3,[1,1]]'
is "the host sees what it saw before" "$(tail -1 out)" "rc 0 NaN, as computed"
exits "text" 1 aoti-nanassert --log=log -- "$host" "load=$so" nangraph=3:4
like "which replay" "$(head -1 log)" 'call 0 of run 1, in replay 3 of CUDA graph 1'
like "without graphs it is another command" "$(cat log)" 'again +aoti-nanassert --exact -- '
exits "threads on streams of their own" 0 aoti-nanassert -- "$host" "load=$so" threads=3x5:64
exits "a driver that does not take the kernel" 1 env FAKECUDA_FAIL=noscan aoti-nanassert --json --log=log -- "$host" "load=$so" nan=4
is "each call is examined instead" "$(jq -c '.findings[0] | [.kind, .kernel, .scanned]' log)" '["input","triton_poi_fused_add_0",null]'
like "which is said" "$(jq -r '.asides[]' log)" 'the driver does not run the kernel that looks for NaN'
exits "a tensor that reaches outside of its storage" 1 aoti-nanassert --json --log=log -- "$host" "load=$so" walks=4
is "is not read, and what was computed from it is" "$(jq -c '[.findings[0].values[].buffer]' log)" '["arg1_1","buf0"]'

if clang-14 --version 2>/dev/null | grep -q 'version 14\.0\.6' && clang-14 --print-targets | grep -q nvptx64; then
	is "its text is that of its source" "$("$ROOT/scripts/gen-scan" | cmp - "$ROOT/libprobe/scan.ptx" 2>&1)" ""
fi

# ---- times ----
FAKECUDA_LOG=untimed "$host" "load=$so" call=4 call=4 call=4 >/dev/null
exits "times" 0 env FAKECUDA_LOG=timed aoti-printer --profile --json --log=log -- "$host" "load=$so" call=4 call=4 call=4
is "the GPU's and the CPU's" "$(jq -c '[.kernels[] | [.kernel, .calls, .gpu_calls, .gpu_median_ns]] | sort' log)" \
	'[["aoti_torch_cuda_addmm_out",2,2,1000],["triton_per_fused_relu_sum_1",2,2,1000],["triton_poi_fused_add_0",2,2,1000],["triton_poi_fused_mul_2",2,2,1000]]'
is "their sum" "$(jq -c '.gpu_typical_ns' log)" 8000
is "nothing is waited for" "$(waits timed)" "$(waits untimed)"
exits "text" 0 aoti-printer --profile --log=log -- "$host" "load=$so" call=4 call=4
like "both clocks" "$(cat log)" 'GPU us +min us +max us +total us +launch us +kernel or op'
like "a row" "$(cat log)" '25.0% +1 +1.00 +1.00 +1.00 +1.00 +[0-9.]+ +triton_poi_fused_add_0'
like "that the GPU waited" "$(cat log)" 'Before 100% of these calls the GPU was idle'
exits "in threads" 0 aoti-printer --profile --json --log=log -- "$host" "load=$so" threads=3x20:4
is "each call has one" "$(jq -c '[.kernels[] | .calls == .gpu_calls] | all' log)" true
exits "replays" 0 aoti-printer --profile --json --log=log -- "$host" "load=$so" graph=3:4
is "have times, what is captured has none" "$(jq -c '[.kernels[] | select(.gpu_calls) | [.kernel, .gpu_calls]]' log)" '[["cuda_graph[1]",3]]'

# ---- a fault, and another question was asked ----
cut='a GPU error stopped the run: an illegal memory access was encountered \(CUDA_ERROR_ILLEGAL_ADDRESS\), seen at triton_[a-z0-9_]+ \(call [0-9]\).*aoti-printer --ima -- COMMAND \(or --ima --torch MODEL.pt2 INPUT...\)'
FAKECUDA_FAIL=illegal@3 run aoti-nanassert --exact -- "$host" "load=$so" call=4
is "a fault is no NaN, nor is all well" "$status" 3
like "it is said" "$(cat err)" "$cut"
like "and what that means" "$(cat err)" 'nothing found before that'
FAKECUDA_FAIL=illegal@3 run aoti-nanassert --exact --json --log=log -- "$host" "load=$so" call=4
like "in the document, too" "$(jq -r .failure log)" "^$cut$"
FAKECUDA_FAIL=illegal@3 run aoti-nanassert --exact -- "$host" "load=$so" nan=4
is "a NaN that was found before is one" "$status" 1
FAKECUDA_FAIL=illegal@3 run aoti-nanassert --exact -- sh -c "'$host' 'load=$so' call=4; exit 9"
is "the command's own status goes before" "$status" 9
later='a GPU error stopped the run: an illegal memory access was encountered \(CUDA_ERROR_ILLEGAL_ADDRESS\); nothing after it was checked'
FAKECUDA_FAIL=illegal@7 run aoti-nanassert -- "$host" "load=$so" call=4
is "a scan: a fault" "$status" 3
like "is said, with no kernel" "$(cat err)" "$later"
FAKECUDA_FAIL=illegal@7 run aoti-nanassert -- "$host" "load=$so" nan=4
is "a NaN before it is found" "$status" 1
like "both" "$(cat err)" "NaN in the input args\[0\]"
FAKECUDA_FAIL=illegal@3 run aoti-printer --log=log -- "$host" "load=$so" call=4
is "aoti-printer: a GPU error" "$status" 3
like "the message names the GPU error, too" "$(cat err)" "$cut"
FAKECUDA_FAIL=launch@3 run aoti-printer --profile --log=log -- "$host" "load=$so" call=4
is "--profile with a failing launch" "$status" 3
FAKECUDA_FAIL=illegal@3 run aoti-printer -o dump.cut -- "$host" "load=$so" call=4
is "-o with a GPU error" "$status" 3
like "the index says why the run ended" "$(tail -1 dump.cut/calls.jsonl | jq -r .failed)" "^$cut$"
exits "--diff with an incomplete dump" 3 aoti-printer --diff dump dump.cut
like "the verdict covers what both have" "$(cat out)" 'They agree up to the point where a GPU error cut one short'
like "the message says which is incomplete" "$(cat err)" "'dump.cut': $cut"
exits "--diff with the incomplete dump first" 3 aoti-printer --json --diff dump.cut dump
like "the JSON says so" "$(jq -r '[.different, .failed_b == null, .failed_a] | map(tostring) | join(" ")' out)" "^false true $cut$"
FAKECUDA_FAIL=illegal@3 run aoti-printer --diff dump -- "$host" "load=$so" call=4
is "--diff with a run that fails" "$status $(grep -c 'a GPU error stopped the run:' err)" "3 1"
FAKECUDA_FAIL=illegal@2 run aoti-printer --diff dump -- "$host" "load=$so" call=4
is "calls that one side lacks are a difference" "$status" 1

# ---- --ima --sanitizer: a stand-in for compute-sanitizer, which runs the command and writes a report ----
mkdir tools
cat >tools/compute-sanitizer <<'EOF'
#!/bin/bash
# Always the same addresses: setarch -R.
[ "$1 $2 $3 $4 $5" = "--tool memcheck --target-processes all --log-file" ] || exit 99
log=${6//%p/$$}
shift 6
[ "$PYTORCH_NO_CUDA_MEMORY_CACHING" = 1 ] || exit 98
setarch -R "$@"
status=$?
[ -n "$REPORT" ] && cat "$REPORT" >"$log"
exit $status
EOF
chmod +x tools/compute-sanitizer
sanitized() { FAKECUDA_FAIL=illegal@2 REPORT=$1 PATH=$PWD/tools:$PATH run aoti-printer --ima --sanitizer "${@:2}" --log=log -- "$host" "load=$so" call=4; }
report() { # report ADDRESS KERNEL
	printf '========= %s\n' "Invalid __global__ read of size 4 bytes" "    at $2+0x1a0 in model.py:88" "    by thread (3,0,0) in block (2,0,0)" "    Access to $1 is out of bounds" ""
}
PATH=$(dirname "$(type -P aoti-printer)"):/usr/bin:/bin CUDA_HOME=$TMP/missing exits "--sanitizer without compute-sanitizer" 4 aoti-printer --ima --sanitizer -- true
like "says what is missing" "$(cat err)" 'compute-sanitizer not found in PATH'
exits "--sanitizer without --ima" 2 aoti-printer --sanitizer -- true
report 0x10 triton_per_fused_relu_sum_1 >found.txt
sanitized found.txt --json
if address=$(jq -r '.faults[0].arguments[0].address' log 2>/dev/null) && [ "$address" != null ]; then
	report "$(printf '0x%x' $((address + 128 + 4)))" triton_per_fused_relu_sum_1 >found.txt
	report 0x10 triton_poi_fused_mul_2 >>found.txt
	sanitized found.txt --json
	is "the access has its argument, and the bytes past its end" "$(jq -c '.accesses[0] | [.kernel, .buffer, .beyond, .thread, .block, .file, .file_line]' log)" \
		'["triton_per_fused_relu_sum_1","buf1",8,[3,0,0],[2,0,0],"model.py",88]'
	is "its call in the model is known" "$(jq -c '.accesses[0] | [.line > 0, .source_nodes]' log)" '[true,"relu, sum_1"]'
	is "so is that of another kernel, without arguments" "$(jq -c '.accesses[1] | [.kernel, .argument, .line > 0]' log)" '["triton_poi_fused_mul_2",null,true]'
	is "the document is as its page says" "$(python3 "$ROOT/tests/lib/check_ima.py" log)" ""
	sanitized found.txt
	like "as text" "$(tr -s '\n ' ' ' <log)" 'triton_per_fused_relu_sum_1 reads 4 bytes at 0x[0-9a-f]+, 8 bytes past the end of buf1 in thread \(3,0,0\) of block \(2,0,0\), \+0x1a0, model.py:88, called at wrapper.cpp:[0-9]+'
else
	for what in argument call other page text; do skip "the access: $what" "no fixed addresses here"; done
fi
FAKECUDA_FAIL="" REPORT="" PATH=$PWD/tools:$PATH run aoti-printer --ima --sanitizer --log=log -- "$host" "load=$so" call=4
like "no report is told" "$(cat err)" 'compute-sanitizer wrote no report'
is "its folder is removed" "$(find "$TMP" -name 'report.*' | wc -l)" 0

# ---- --ima ----
ima() { FAKECUDA_FAIL=$1 run aoti-printer --ima --log=log -- "$host" "load=$so" "${@:2}"; }
ima "" call=4
is "--ima without a fault" "$status" 0
like "the summary counts calls" "$(cat err)" '4 calls, each waited for: none failed'
ima illegal@2 call=4
is "--ima with a fault" "$status" 1
like "the kernel and the error are reported" "$(head -1 log)" '^triton_per_fused_relu_sum_1: illegal memory access \(CUDA_ERROR_ILLEGAL_ADDRESS, 700\)'
like "the call is reported" "$(cat log)" 'in +process [0-9]+, call 2 of run 0 of cho'
like "wrapper line and nodes are reported" "$(tr '\n' ' ' <log)" 'from +wrapper.cpp:[0-9]+ +nodes +relu, sum_1'
like "the launch is reported" "$(cat log)" 'grid \(1, 1, 1\), block \([0-9]+, 1, 1\), [0-9]+ bytes of shared memory, stream 0x0, cuda:0'
like "symbolic sizes are reported" "$(cat log)" 'sizes +s0 = 4'
like "arguments are reported" "$(cat log)" '0 +buf1 +in +float32\[4, 8\] strides \(8, 1\)'
like "arguments have their memory ranges" "$(cat log)" '0 +buf1 +0x[0-9a-f]+ +128 +128 +[0-9]+ +0x[0-9a-f]+ \+ [0-9]+'
last() { sed -n '/last calls/,/^$/p' log | awk 'NF && NR > 1 {print $3}'; }
is "the calls before it are listed" "$(last)" "$(head -3 <<<"$names")"
like "next steps are suggested" "$(sed -n '/^next:/,$ p' log | tr '\n' ' ')" \
	'aoti-printer --ima=alloc -- .*/cudahost load=.* call=4 .*fxexplain kernel triton_per_fused_relu_sum_1 .*fxminify'
ima illegal@1 call=4 call=4
is "the fault is reported once" "$(grep -c 'illegal memory access (' log)" 1
FAKECUDA_FAIL=illegal@3 run aoti-printer --ima --last=2 --log=log -- "$host" "load=$so" call=4
is "--last N lists N calls" "$(last)" "$(tail -2 <<<"$names")"
FAKECUDA_FAIL=illegal@3 run aoti-printer --ima --last=0 --log=log -- "$host" "load=$so" call=4
is "--last 0 lists none" "$(last)" ""
exits "--last without --ima is rejected" 2 aoti-printer --last=2 -- true
ima launch@3 call=4
like "a failing launch" "$(tr '\n' ' ' <log)" '^triton_poi_fused_mul_2: unspecified launch failure \(CUDA_ERROR_LAUNCH_FAILED, 719\).*the driver rejected the launch'
ima "" host=4
is "a pointer to host memory" "$status" 1
like "it is found before the launch" "$(cat log)" 'arg2_1 is in host memory that this GPU cannot access'
like "it is the suspect of the fault" "$(head -2 log)" 'illegal memory access.*suspect +arg2_1 is in host memory'
like "aoti-checkinputs is suggested" "$(grep -A1 '^next:' log)" 'aoti-checkinputs -- .*cudahost'
FAKECUDA_DEVICES=2 run aoti-printer --ima --log=log -- "$host" "load=$so" other=4
like "a tensor on another GPU" "$(cat log)" 'arg2_1 is on cuda:1, the kernel runs on cuda:0'
like "it is found before the launch, too" "$(cat log)" 'triton_poi_fused_add_0: arg2_1 is on a different GPU than the kernel'
ima "" walks=4
is "strides that reach outside the storage" "$status" 1
is "they are found without a fault" "$(cat out) $(head -1 log)" "$(cat out) triton_poi_fused_add_0: arg2_1 has sizes and strides that reach past its storage"
like "required and available bytes are reported" "$(cat log)" 'arg2_1 +0x[0-9a-f]+ +128 +64'
run aoti-printer --ima=alloc --log=log -- "$host" "load=$so" walks=128
like "without the caching allocator it is a fault" "$(cat log)" '^triton_poi_fused_add_0: illegal memory access.*'
like "of a tensor with a name" "$(cat log)" 'suspect +arg2_1 reaches 2048 bytes past its storage: sizes and strides need 4096 bytes, it has 2048'
like "which need not be asked for twice" "$(grep -c 'ima=alloc' log)" '^0$'

# A tensor in several mappings: the driver tells one of them (cuMemGetAddressRange).
export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
ima "" call=100000
is "a tensor across mappings" "$status $(cat out)" "0 rc 0 as computed"
FAKECUDA_FAIL=illegal@1 run aoti-printer --ima --json --log=log -- "$host" "load=$so" call=100000
is "is no suspect of a fault" "$(jq -c '.faults[0] | [.kernel, [.suspects[] | select(.certain)], (.arguments[0] | [.extent, .storage, .room, .allocation.bytes])]' log)" \
	'["triton_poi_fused_add_0",[],[3200000,3200000,null,2097152]]'
ima illegal@1 walks=100000
like "strides that leave its storage are" "$(cat log)" 'suspect +arg2_1 reaches 1600000 bytes past its storage'
unset PYTORCH_CUDA_ALLOC_CONF
ima "" beside=4
is "a fault of another stream is not blamed on this call" "$status $(grep -c 'seen *the error existed before this call' log)" "1 1"
ima "" capturing=4
is "only the call's own stream is synchronised during a capture" "$status $(tr '\n' ' ' <out)" "0 rc 0 as computed captured: 0 "
ima "" graph=2:4
is "--ima does not disturb a capture" "$status $(grep -c 'as computed' out)" "0 2"
like "a message counts launches that were captured" "$(cat err)" '3 of the launches were captured into a CUDA graph'
ima illegal@9 graph=3:4
like "a fault in a graph replay" "$(cat log)" '^cuda_graph\[1\]: illegal memory access'
like "the graph and its kernels are reported" "$(tr -s '\n ' ' ' <log)" "replay 2 of CUDA graph 1, with 4 model calls in it kernels $(tr '\n' ' ' <<<"$names" | sed 's/ $//; s/ /, /g')"
FAKECUDA_FAIL=illegal@9 run aoti-printer --ima --json --log=log -- "$host" "load=$so" graph=3:4
is "the JSON has the replay" "$(python3 "$ROOT/tests/lib/check_ima.py" log)$(jq -c '.faults[0] | .launch, (.replay | [.graph, .times, .captured, (.kernels | length)])' log | tr '\n' ' ')" \
	'null [1,2,4,4] '
ima "" call=5
is "the caching allocator hides an overrun" "$status" 0
run aoti-printer --ima=alloc --log=log -- "$host" "load=$so" call=5
is "--ima=alloc reveals it" "$status" 1
like "its kernel is reported" "$(cat log)" '^triton_poi_fused_mul_2: '
like "its call is reported" "$(cat log)" 'call 3 of run 0'
exits "--ima with a model is rejected" 2 aoti-printer --ima "$so"
exits "an invalid --ima value" 2 aoti-printer --ima=what -- true
exits "--ima with a command without a model" 4 aoti-printer --ima -- true
like "compute-sanitizer is suggested" "$(cat err)" 'no compiled model was seen.*compute-sanitizer'
exits "--ima with a missing command" 4 aoti-printer --ima -- ./nothing
like "the message names it" "$(cat err)" "cannot run './nothing': No such file or directory"
unzip -qo "$DATA/aoti/nested.pt2" -d cpu-model
cpu=("$BUILD/tests-lib/livehost" "torch=$BUILD/tests-lib/faketorch.so" "load=$(find "$PWD/cpu-model" -name '*.so')" 'call=f32[2,3];f32[2,3];f32[2,3];f32[]')
exits "--ima with a CPU model" 0 aoti-printer --ima -- "${cpu[@]}"
like "aoti-nanassert is suggested" "$(cat err)" '[0-9]+ calls, none of a GPU model.*aoti-nanassert -- COMMAND'

mkdir alone && cp "$so" alone/model.so && cp "${so%/*}"/*.cubin alone/
run aoti-printer --ima --no-exec -- "$host" "load=$PWD/alone/model.so" call=4
like "--ima with a model of unknown contract" "$(cat err)" '4 calls, each waited for: none failed'

# ---- several processes, signals ----
cat >several <<S
#!/bin/sh
FAKECUDA_FAIL=illegal@2 '$host' 'load=$so' call=4 >/dev/null 2>&1
FAKECUDA_FAIL=launch@3 '$host' 'load=$so' call=4 >/dev/null 2>&1
exit 7
S
cat >dies <<S
#!/bin/sh
FAKECUDA_FAIL=illegal@2 '$host' 'load=$so' call=4 >/dev/null 2>&1
kill -ABRT \$\$
S
chmod +x several dies
exits "--error-exitcode overrides the status" 9 aoti-printer --ima --error-exitcode=9 --log=log -- ./several
exits "faults in two processes" 7 aoti-printer --ima --json --log=log -- ./several
is "each fault has its own calls" "$(jq -c '[.faults[] | [.code, .kernel, (.last_calls | length)]], ([.faults[].pid] | unique | length)' log | tr '\n' ' ')" \
	'[[700,"triton_per_fused_relu_sum_1",3],[719,"triton_poi_fused_mul_2",4]] 2 '
is "the JSON has the command's status" "$(jq -c .ended log)" '{"status":7,"signal":null,"text":"exited with status 7"}'
bash -c 'aoti-printer --ima --json -o report -- ./dies' >out 2>err
is "a command that crashes after a fault: status and report" "$? $(jq -c '[.ended.signal, .faults[0].code]' report)" '134 ["ABRT",700]'
{ FAKECUDA_FAIL=illegal@2 timeout -s INT 3 aoti-printer --ima -o report -- sh -c "'$host' 'load=$so' call=4; echo \$\$ >pid; exec sleep 60"; } >out 2>err
is "an interrupted command: the report is complete" "$(head -1 report)" 'triton_per_fused_relu_sum_1: illegal memory access (CUDA_ERROR_ILLEGAL_ADDRESS, 700)'
is "no file and no process is left" "$(echo report*; kill -0 "$(cat pid)" 2>&1 | grep -o 'No such process')" $'report\nNo such process'

# ---- as a document ----
FAKECUDA_FAIL=illegal@2 run aoti-printer --ima --json -o report -- "$host" "load=$so" call=4
is "with -o, standard output is the command's" "$(cat out)" "rc 1 CUDA driver error: an illegal memory access was encountered"
ok "the report is valid" python3 "$ROOT/tests/lib/check_ima.py" report
is "the report has the fault" "$(jq -c '.faults[0] | [.code, .error, .when, .kernel, .run, .call, .device, .sizes, .source_nodes]' report)" \
	'[700,"CUDA_ERROR_ILLEGAL_ADDRESS","after","triton_per_fused_relu_sum_1",0,2,0,{"s0":4},"relu, sum_1"]'
is "the report has the arguments" "$(jq -c '.faults[0].arguments | map([.kind, .name, .role, .value, .sizes, .extent, .storage, .could_leave])' report)" \
	'[["tensor","buf1","in",null,[4,8],128,128,false],["tensor","buf2","out",null,[4],16,16,false],["number","s0",null,4,null,null,null,false],["number","8L",null,8,null,null,null,false],["number",null,null,0,null,null,null,false],["number",null,null,0,null,null,null,false]]'
is "room and allocation are consistent" "$(jq -c '.faults[0].arguments[:2] | map(.allocation.base + .allocation.bytes - .address == .room)' report)" '[true,true]'
is "the report has the calls before" "$(jq -r '.faults[0].last_calls[].kernel' report)" "$(head -3 <<<"$names")"
run aoti-printer --ima --json --log=report -- "$host" "load=$so" walks=4
ok "a report of a finding is valid" python3 "$ROOT/tests/lib/check_ima.py" report
is "the report has the finding and its suspect" "$(jq -c '.findings[0] | [.what, .kernel, (.arguments[0] | [.index, .name, .extent, .storage, .could_leave]), (.suspects[0] | [.argument, .why, .certain])]' report)" \
	'["walks-outside","triton_poi_fused_add_0",[1,"arg2_1",128,64,true],[1,"beyond-storage",true]]'
run aoti-printer --ima --json --log=report -- "$host" "load=$so" call=4
ok "a report without findings is valid" python3 "$ROOT/tests/lib/check_ima.py" report
is "nothing is in it" "$(jq -c '[.calls, .faults, .findings, .deaths, .next, .ended.status]' report)" '[4,[],[],[],[],0]'
exits "a report without a model" 4 aoti-printer --ima --json -o report -- true
ok "it is valid, too" python3 "$ROOT/tests/lib/check_ima.py" report
exits "-o in a missing directory" 4 aoti-printer --ima -o nowhere/report -- touch started
ok "the command did not start" test ! -e started
FAKECUDA_FAIL=illegal@2 run aoti-printer --ima -o /dev/full -- "$host" "load=$so" call=4
is "a report that cannot be written" "$status" 4
like "it is printed instead" "$(cat out)" 'triton_per_fused_relu_sum_1: illegal memory access'
exits "-o with --log is rejected" 2 aoti-printer --ima -o report --log=log -- true

# ---- on a terminal ----
for width in 80 120; do
	FAKECUDA_FAIL=illegal@2 COLUMNS=$width TERM=xterm run script -qec "stty cols $width; aoti-printer --ima -- '$host' 'load=$so' call=4" /dev/null
	is "the report fits $width columns" "$(sed 's/\x1b\[[0-9;]*m//g; s/\r$//' out | grep -v "$host\|^Error\|^Failed" | awk -v w="$width" 'length > w')" ""
	like "$width: the first line is red" "$(grep -am1 'illegal memory access (' out)" $'\x1b\\[[0-9;]*31'
done
done_testing
