#!/bin/bash
# fxexplain kernel: one kernel whole, the other directions, unknown names, compile errors, each kind of input.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
data=$ROOT/tests/data

mkdir models broken
tar -xJf "$data/inductor/models.tar.xz" -C models
tar -xJf "$data/inductor/broken.tar.xz" -C broken
xz -dc "$data/inductor/broken.txt.xz" >broken.txt
xz -dc "$data/traces/provenance_jit.log.xz" >trace.log
xz -dc "$data/aoti/mlp_provenance.pt2.xz" >model.pt2

# The example of the CPU debugging tutorial: the FX line above each line of C++.
fxexplain kernel cpp_fused_maximum_neg_0 models >out 2>err
is 'status of a kernel' "$?" 0
is 'neg and maximum stand above their lines' "$(grep -A1 '// FX:' out | sed 's/^ *//' | grep -v '^--')" \
'// FX: neg = torch.ops.aten.neg.default(arg0_1)   /home/user/app/inductor.py:10 in tutorial
auto tmp2 = tmp1.neg();
// FX: maximum = torch.ops.aten.maximum.default(arg1_1, neg)   /home/user/app/inductor.py:11 in tutorial
auto tmp3 = at::vec::maximum(tmp0, tmp2);'
is 'its lines of Python' "$(sed -n '/^Python/,/^$/p' out | sed 1d)" \
'  /home/user/app/inductor.py:10 in tutorial   a = torch.neg(x1)
  /home/user/app/inductor.py:11 in tutorial   b = torch.maximum(x2, a)'
is 'no colour in a pipe' "$(grep -c "$(printf '\033')" out)" 0

# The other directions.
fxexplain kernel neg models >out
is 'an FX node names its kernel' "$(grep -c '^  cpp_fused_maximum_neg_0 ' out)" 1
is 'and its line there' "$(grep -c '^ *[0-9]*  auto tmp2 = tmp1.neg();$' out)" 1
fxexplain kernel inductor.py:37 models >out
is 'a line of Python' "$(grep -c '^  cpp_fused_mean_sigmoid_0 ' out)" 1
fxexplain kernel op5 models >out
is 'an IR node, of each compilation that has one' "$(grep -c 'IR node of' out)" \
	"$(cat models/*/run*/torchinductor/*/ir_post_fusion.txt | grep -c '^ *op5: ')"

# All of them.
fxexplain kernel models >out
is 'without a name: a table per compilation' "$(grep -c '^model__' out)" 10
fxexplain kernel --json models >out
is 'all calls' "$(jq '[.compilations[].kernels[]] | length' out)" 14
is 'the lines of one' "$(jq -c '[.compilations[0].kernels[0].lines[] | select(.fx) | [.value, .fx, .how]] | .[2:4]' out)" \
	'[["tmp2","neg","same"],["tmp3","maximum","same"]]'

# Why nodes were fused or not.
fxexplain kernel cpp_fused_native_layer_norm_sum_tanh_0 models "$data/inductor/models.txt" >out
is "torch's own reason for not fusing" "$(grep -c 'not fused op1 with op6: intermediate nodes between node1 & node2$' out)" 1
fxexplain kernel cpp_fused_relu_sum_0 models >out
is 'a reason seen in the IR is said to be one' "$(grep -c 'not fused op1 with op2: different loops.*seen in the IR' out)" 1

# A compile error: kernel, line, IR, FX, Python.
fxexplain kernel broken broken.txt >out
is 'status with an error located' "$?" 0
is 'a compile error is mapped' "$(sed -n '2,6s/^ *//p' out)" \
'kernel    cpp_fused_add_relu_sin_0, line 48 of model__0_inference_0.0
line      auto tmp2 = compile error!;
IR        op0: relu = ops.relu(sin)
FX        relu = torch.ops.aten.relu.default(sin)
Python    /home/user/app/inductor.py:64 in broken   z = torch.relu(y)'
fxexplain kernel --json broken broken.txt >out
is 'the same as JSON' "$(jq -c '.errors[0] | [.kernel, .kernel_line, .value, .ir, .fx, .python.line]' out)" \
	'["cpp_fused_add_relu_sin_0",15,"tmp2","op0","relu",64]'
fxexplain kernel broken.txt >out 2>err
is 'the error alone' "$(grep -c 'no kernel in the inputs has this line' out)" 1

# Traces, packages, generated code.
is 'a trace' "$(fxexplain kernel cpp_fused_add_gelu_1 trace.log | grep -c '// FX: erf = ')" 1
like 'code of a cache says whose lines it has' "$(fxexplain kernel "$DATA/caches_warm.log"; fxexplain kernel cpp_fused_mul_sin_0 "$DATA/caches_warm.log")" \
	'0/0  from the cache: the Python lines are those of the program that filled it.*defined in line [0-9]+  from the cache'
is '... also as JSON' "$(fxexplain kernel --json "$DATA/caches_warm.log" | jq -c '[.compilations[].cached]')" '[true,false,true]'
if command -v script >/dev/null; then
	LC_ALL=C script -qec "stty cols 80; fxexplain kernel cpp_fused_add_div_mean_std_sub_0 $DATA/mix.log" /dev/null </dev/null | sed 's/\x1b\[[0-9;]*m//g' | tr -d '\r' >wide
	is 'a kernel fits the terminal where its words do' "$(awk 'length > 80 && !/^ *[^ ]+$/' wide | head -3)" ""
	ok '... whole' [ "$(wc -l <wide)" -gt 100 ]
fi
is 'a package' "$(fxexplain kernel cpp_fused_relu_0 model.pt2 | grep -c '// FX, possibly: relu')" 1
is 'Triton, by its comments' "$(fxexplain kernel triton_poi_fused_add_sin_0 "$data/inductor/triton.py" | grep -c '    # FX: sin = ')" 1

# Packages for CUDA: Triton's kernels stand in the wrapper, the nodes of a call above it.
for name in dynamic nan user linear; do
	xz -dc "$data/aoti/cuda/$name.pt2.xz" >$name.pt2
	fxexplain kernel $name.pt2 >$name.out
done
is 'kernels and operators of a package for CUDA' "$(awk 'NR > 2 { print $2, $3 }' linear.out | paste -sd,)" \
	"aoti_torch_cuda_mm_out torch,triton_poi_fused_addmm_relu_0 Triton,aoti_torch_cuda_addmm_out torch,triton_per_fused__softmax_prepare_softmax_online_1 Triton"
is 'their nodes' "$(awk 'NR > 2 { $1 = $2 = $3 = ""; print }' linear.out | tr -d ' ' | paste -sd' ')" "linear linear,relu linear,relu,linear_1 softmax"
fxexplain kernel triton_per_fused_add_log_mul_sub_sum_2 nan.pt2 >out
is 'a line of a Triton kernel in a package' "$(grep -A1 'FX, possibly: log' out | tail -1)" "    tmp9 = tl_math.log(tmp8)"
is 'its nodes, names only' "$(sed -n '/^FX nodes/{n;p;}' out)" "  mul, sum_2, sub, log, add_1"
fxexplain kernel far_copy_0 user.pt2 >out
like "a user's Triton kernel" "$(cat out)" 'far_copy_0   Triton, .*, called in line [0-9]+, defined in line [0-9]+'
line=$(sed -n 's/.*defined in line //p' out)
is 'its text, without the indent, as in the wrapper' "$(sed -n '/^import triton$/,$p' out)" \
	"$(unzip -p user.pt2 '*wrapper.cpp' | sed -n "$line,/''', device_str/p" | sed '$d; s/^    //')"

# Names from an input drive no terminal.
mkdir hostile
cp -r models/*/run*/torchinductor/model__0_inference_0.0 "hostile/$(printf 'a\033[31mb')"
sed -i "s/neg/n\x1b[1meg/g; s,/home/user,/ho\x1bme," hostile/*/fx_graph_transformed.py hostile/*/output_code.py
fxexplain kernel hostile >out 2>err
is 'no escape in a table' "$? $(grep -c "$(printf '\033')" out)" '0 0'

# What is not there.
fxexplain kernel cpp_fused_maximum_neg models >out 2>err
is 'status of an unknown name' "$?" 2
is 'the nearest first' "$(grep -c "named 'cpp_fused_maximum_neg'; available: cpp_fused_maximum_neg_0, " err)" 1
fxexplain kernel x missing >out 2>err
is 'status of an input that is not there' "$?" 3
echo hello >text
fxexplain kernel text >out 2>err
is 'status of a text without code' "$?" 3
is 'it says what to give' "$(grep -c 'add the debug folder' err)" 1
mkdir empty
fxexplain kernel empty >out 2>err
is 'status of an empty folder' "$?" 3
# A compilation by AOTInductor for CUDA: its trace, and its debug folder, which has output_code.cpp.
xz -dc "$data/aoti/cuda/linear.trace.log.xz" >gpu.log
mkdir gpu
tar -xJf "$data/aoti/cuda/linear.debug.tar.xz" -C gpu
for from in gpu.log gpu; do
	fxexplain kernel "$from" >out 2>err
	is "$from: its kernels" "$(awk '/Triton|torch /{print $2, $3}' out | sort | paste -sd,)" \
'aoti_torch_cuda_addmm_out torch,aoti_torch_cuda_mm_out torch,triton_per_fused__softmax_prepare_softmax_online_1 Triton,triton_poi_fused_addmm_relu_0 Triton'
	unlike "$from: annotations are not part of file names" "$(cat out)" Annotation
	fxexplain kernel triton_poi_fused_addmm_relu_0 "$from" >out
	is "$from: FX nodes are shown above Triton lines" "$(grep -A1 '# FX:' out | sed 's/^ *//; s/   .*//' | grep -v '^--')" \
'# FX: add_tensor = torch.ops.aten.add.Tensor(up_bias, mm_default)
tmp2 = tmp0 + tmp1
# FX: relu = torch.ops.aten.relu.default(add_tensor)
tmp4 = triton_helpers.maximum(tmp3, tmp2)'
done
like 'the trace: what it is' "$(fxexplain gpu.log)" 'compiled by AOTInductor in [0-9.]+ s; torch\.compile was not used: 0 failures'
like 'its time, and what AOTInductor can do about it' "$(fxexplain gpu.log)" 'why +AOTInductor compiles and links'
unlike 'nothing of graph breaks' "$(fxexplain -a gpu.log)" 'graph break'
like 'its size' "$(fxexplain -a gpu.log)" "s77 +L\['x'\]\.size\(\)\[0\] .*\[2, 4096\]"
like 'its report: versions' "$(fxexplain report gpu.log | tr '\n' ' ')" '- torch .2\.13\.0\+cpu. .*- CUDA .13\.0.'
like 'its report: no local folder' "$(fxexplain report gpu.log | grep -c '/tmp/\|/root/')" '^0$'
is 'a node of it names its kernel' "$(fxexplain kernel exp_default gpu | grep -c '^  triton_per_fused__softmax_prepare_softmax_online_1 ')" 1
unlike 'one text: no other file is named' "$(fxexplain kernel triton_poi_fused_addmm_relu_0 gpu)" 'of kernel\.cpp'
exits 'tlparse reads the trace' 0 tlparse -o page gpu.log
is 'with its code' "$(grep -c 'call_triton_poi_fused_addmm_relu_0' page/*/inductor_aot_wrapper_code_*.txt)" 2
# A compiler's error in a trace: the finding itself leads from the generated code to the program's line.
run fxexplain "$DATA/compile_error.log"
like "a compile error: the kernel is named" "$(cat out)" "kernel cpp_fused_add_relu_0 of 0/0, line 47"
like "the node is known from the kernel's name only" "$(cat out)" "FX node perhaps relu = torch.ops.aten.relu.default"
like "the Python line is shown" "$(cat out)" "Python /home/user/app/compile_error.py:15 in relu: return torch.relu"
is "--json has the kernel, too" "$(fxexplain --json "$DATA/compile_error.log" | jq '[.findings[].evidence[] | select(startswith("FX node"))] | length')" 1
exits "a line without a kernel" 2 fxexplain kernel provenance_jit.py:3 "$DATA/provenance_jit.log"
like "... the message lists lines with kernels" "$(cat err)" 'available: provenance_jit\.py:[0-9]+'
unlike "a name without a kernel is not an argument" "$(fxexplain kernel primals "$DATA/provenance_jit.log" 2>&1)" 'primals_[0-9]'
for sub in kernel profile crash report; do
	like "fxexplain $sub -h describes its operands" "$(fxexplain $sub -h)" '(INPUT|PROFILE|NAME): '
done
done_testing
