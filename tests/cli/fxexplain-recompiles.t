#!/bin/bash
# Recompiles as TORCH_LOGS=recompiles and torch's warnings print them: what changed, where, and what to do.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
head='V1126 19:01:59.808000 13183 torch/_dynamo/guards.py:5396]'
# recompile N REASON...: the N-th of step
recompile() {
	local n=$1 r
	shift
	printf '%s [0/%s] [__recompiles] Recompiling function step in /home/me/loop.py:3\n' "$head" "$n"
	printf '%s [0/%s] [__recompiles]     triggered by the following guard failure(s):\n' "$head" "$n"
	for r; do printf '%s [0/%s] [__recompiles]     - %s\n' "$head" "$n" "$r"; done
}
is "a step that goes back to an older variant takes that variant's guard" "$({
	recompile 1 "0/0: tensor 'x' dtype mismatch. expected Float, actual Double"
	recompile 2 "0/1: tensor 'x' dtype mismatch. expected Double, actual Float" "0/0: tensor 'x' requires_grad mismatch. expected requires_grad=0"
} | fxexplain - | grep -E '0/[12]  ' | sed 's/^.*0\//0\//')" '0/1  dtype of x: Float -> Double
0/2  x now requires grad'
is "a value that is new stays the reason" "$({
	recompile 1 "0/0: tensor 'x' dtype mismatch. expected Float, actual Double"
	recompile 2 "0/1: tensor 'x' dtype mismatch. expected Double, actual Half" "0/0: tensor 'x' requires_grad mismatch. expected requires_grad=0"
} | fxexplain - | grep -E '0/2  ' | sed 's/^.*0\//0\//')" '0/2  dtype of x: Double -> Half'

# ---- the warning about the limit has the fix of its own last reason ----
limit() {
	local w="W1126 21:00:00.000000 77 torch/_dynamo/convert_frame.py:1234] [0/8]"
	printf '%s torch._dynamo hit config.recompile_limit (8)\n' "$w"
	printf "%s    function: 'forward' (/home/me/app/model.py:31)\n" "$w"
	printf '%s    last reason: 0/7: %s\n' "$w" "$1"
	printf '%s To log all recompilation reasons, use TORCH_LOGS="recompiles".\n' "$w"
}
while IFS='|' read -r reason want; do
	like "limit: ${reason:0:60}" "$(limit "$reason" | fxexplain --all -)" "8 compiled variants.*$want"
done <<'END'
tensor 'x' size mismatch at index 1. expected 77, actual 154|fix +torch\._dynamo\.mark_dynamic\(x, 1\)
tensor 'w' size mismatch at index 0. expected 77, actual 154. Guard failed on a parameter, consider using torch._dynamo.config.force_parameter_static_shapes = False to allow dynamism on parameters.|fix +torch\._dynamo\.config\.force_parameter_static_shapes = False
tensor 'x' stride mismatch at index 0. expected 77, actual 154|fix +x = x\.contiguous\(\)
tensor 'x' requires_grad mismatch. expected requires_grad=0|fix +Pass x\.detach\(\)
GLOBAL_STATE changed: grad_mode |fix +Always call it in the same grad mode
___check_type_id(batch, 94003), type=<class 'data.Batch'>|hint +Use one compiled function per type
___check_obj_id(mode, 94003), type=<class 'function'>|hint +Create mode once
kwargs['timestep'] == 901|kwargs\['timestep'\] = torch\.tensor\(901\)
len(self.cache) == 3|fix +If the compiled function itself changes self\.cache
not L['self']._flat_weights|hint +self\._flat_weights is a list of torch's own
self.idx == 7    # x = x + self.idx  # app/model.py:33 in forward (HINT: torch.compile considers integer attributes of the nn.Module to be static.)|allow_unspec_int_on_nn_module
cfg.idx == 7    # x = x + cfg.idx  # app/model.py:33 in forward|cfg\.idx = torch\.tensor\(7\)
x.size()[0] == 4    # if x.shape[0] == 4:  # app/model.py:35 in forward|`if x\.shape\[0\] == 4:` at /home/me/app/model\.py:35
END
unlike "a plain object's int is no int of a module" "$(limit 'cfg.idx == 7    # x = x + cfg.idx  # app/model.py:33 in forward' | fxexplain --all -)" 'allow_unspec_int|register_buffer'
raised="$({ limit "s == 'aaaa'"; printf 'Traceback (most recent call last):\n  File "/home/me/app/main.py", line 5, in <module>\n    f(x)\ntorch._dynamo.exc.FailOnRecompileLimitHit: Hard failure due to fullgraph=True\n'; } | fxexplain --all -)"
unlike "with fullgraph=True it does not run in eager" "$raised" 'runs in eager:'
is "the same advice is printed once" "$(grep -c 'is a constant of the graph' <<<"$raised") $(grep -c 'as above, for ' <<<"$raised")" '1 1'

# ---- ranks ----
mkdir ranks
for rank in $(seq 0 69); do
	[ "$rank" = 37 ] || { recompile 1 "0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5" | sed "s/^/[rank$rank]: /" >"ranks/rank_$rank.log"; }
done
recompile 1 "0/0: tensor 'x' dtype mismatch. expected Float, actual Double" | sed 's/^/[rank37]: /' >ranks/rank_37.log
ranks=$(fxexplain --all ranks)
like "all but one" "$ranks" 'size of x at dim 0.*ranks +69 of 70, not 37'
like "and the one" "$ranks" 'ranks +37'
done_testing
