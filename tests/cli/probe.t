#!/bin/bash
# aoti-checkinputs --probe, and libraries without their text: what is told when all was followed, when something differs, and when the
# program could not be followed.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

check=aoti-checkinputs
P=$DATA/aoti

bare() { # PACKAGE NAME: its library alone
	mkdir -p "$2" && unzip -qop "$1" '*.so' >"$2/model.so"
}
changed() { # PACKAGE FOLDER SED: its text with a change
	mkdir "$2" && unzip -qo "$1" -d "$2" && sed -i "$3" "$(find "$2" -name '*.wrapper.cpp')"
}

# ---- torch 2.15: types of results are asserted, weights left out, profiles recorded, branches ----
for name in mlp none sdpa complex decomp switch cond noweights fourk kprofile div frozen proxied; do
	exits "$name: binary and text agree" 0 $check --probe "$P/v215/$name.pt2"
	like "$name: everything was compared" "$(cat out)" "agrees with its code in everything that was compared.* ([0-9]+) of \1 calls"
	like "$name: what is never compared is listed" "$(cat out)" "not compared +what the kernels compute"
	bare "$P/v215/$name.pt2" "bare_$name"
	exits "$name: the library alone" 0 $check --json "bare_$name/model.so"
	is "$name: the program was followed to its end" "$(jq -c '[.followed.stopped, .followed.rigid, .followed.lost_ways]' out)" '[null,false,0]'
done
# What an operator makes of its operands is known by its rule, though nothing asserts it (logsumexp of attention): so is the peak.
is "peak memory" "$(for name in sdpa kprofile fourk; do $check --json "bare_$name/model.so" 2>err | jq .peak_bytes; done | xargs)" "1088 496 4160"
like "a branch" "$($check --probe "$P/v215/switch.pt2")" "their order on each path through the branches"
is "each path has its calls" "$($check --json bare_switch/model.so 2>err | jq -c '[.calls[2].name, .followed.ways[][2]]')" \
	'["cpp_fused_gt_mul_sin_2","aoti_torch_cpu_mm_out"]'
is "paths in the JSON" "$($check --json --probe "$P/v215/switch.pt2" | jq -c '[.differences, .open, .calls_compared]')" '[[],[],5]'
is "None as an output" "$($check --json bare_none/model.so 2>err | jq -c '[.outputs[].none]')" "$($check --json "$P/v215/none.pt2" | jq -c '[.outputs[].none]')"

# ---- 4*k ----
for n in 8 12 40; do exits "4*k: $n" 0 $check bare_fourk/model.so "f32[$n,8]"; done
for n in 4 10 13 44; do exits "not 4*k: $n" 1 $check bare_fourk/model.so "f32[$n,8]"; done
is "the size and its range" "$($check --json bare_fourk/model.so 2>err | jq -c '[.inputs[0].dims[0].size, (.symbols[] | .min, .max)]')" '["4*s0",2,10]'

# ---- what differs ----
changed "$P/v215/kprofile.pt2" size 's/assert_size_stride(buf1, {4L, 8L}/assert_size_stride(buf1, {4L, 9L}/'
exits "another size in an assertion" 1 $check --probe size
like "the size is reported" "$(cat out)" "is not what this binary was built from.*buf1\), dim 1: size 9 in the text, 8 in the binary"
changed "$P/v215/kprofile.pt2" type 's/sort.default", cached_torch_dtype_float32, "torch.float32"/sort.default", cached_torch_dtype_float64, "torch.float64"/'
exits "another dtype in an assertion" 1 $check --probe type
changed "$P/v215/mlp.pt2" gone '/^    cpp_fused_relu_0(/d'
exits "a missing call in the text" 1 $check --probe gone
like "the first difference is reported" "$(cat out)" "call 1: aoti_torch_cpu_addmm_out in the text, cpp_fused_relu_0 in the binary.*compared .* 1 of 3 calls"
changed "$P/v215/mlp.pt2" swapped 's/aoti_torch_cpu_addmm_out(buf0, up_bias/aoti_torch_cpu_addmm_out(buf0, up_weight/'
exits "another weight" 1 $check --probe swapped
changed "$P/v215/switch.pt2" way 's/cpp_fused_cos_gt_1(/cpp_fused_sin_gt_1(/'
exits "another kernel in a branch" 1 $check --probe way
like "the kernel is reported" "$(cat out)" "cpp_fused_cos_gt_1 in the binary, nowhere in the text"
mkdir other && unzip -qo "$P/v215/mlp.pt2" -d other && unzip -qop "$P/v215/none.pt2" '*.wrapper.cpp' >text
cp text "$(find other -name '*.wrapper.cpp')"
exits "the text of another package" 1 $check --probe other

# ---- what cannot be followed: an operator that is not known ----
mkdir unknown && unzip -qo "$P/v215/mlp.pt2" -d unknown
so=$(find unknown -name '*.so')
sed -i 's/aoti_torch_cpu_addmm_out/aoti_torch_cpu_addmm_xxx/g' "$so"
exits "an unknown operator: no verdict" 5 $check --probe unknown
like "the text is not blamed" "$(cat out)" "only be compared with its code in part; there it agrees.*open +the binary was followed for [0-9]+ of [0-9]+ calls: aoti_torch_cpu_addmm_xxx"
unlike "no difference is reported" "$(cat out)" "not what this binary was built from"
exits "an unknown operator with --json" 5 $check --json --probe unknown
is "no difference, but something open" "$(jq -c '[.differences, (.open | length)]' out)" '[[],1]'
mkdir bare_unknown && cp "$so" bare_unknown/model.so
exits "an unknown operator without text: a partial contract" 5 $check --json bare_unknown/model.so
like "the reason is reported" "$(jq -r .followed.stopped out)" "^aoti_torch_cpu_addmm_xxx.* API call failed"
is "what came before is known" "$(jq -c '[.inputs[0].dtype, .inputs[0].dims[1].size, .peak_bytes]' out)" '["float32",8,null]'
exits "an input that fits as far as known" 5 $check bare_unknown/model.so 'f32[4,8]'
like "a message says so" "$(cat err)" "only partly known"
exits "an input that does not fit" 1 $check bare_unknown/model.so 'f64[4,8]'
sed -i 's/8 != arg4_1_size\[1\]/9 != arg4_1_size[1]/; s/{s77, 8L}, {8L, 1L}/{s77, 9L}, {9L, 1L}/' "$(find unknown -name '*.wrapper.cpp')"
exits "a difference before the unknown operator" 1 $check --probe unknown
changed "$P/v215/mlp.pt2" unclear 's/^    cpp_fused_relu_0(.*/    surely(*not)(a, statement);/'
exits "a text that is not fully understood" 5 $check --probe unclear
like "the summary says so" "$(cat out)" "open +part of the text was not understood"
done_testing
