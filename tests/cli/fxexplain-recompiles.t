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
tensor 'x' size mismatch at index 1. expected 77, actual 154|fix +torch\.compile\(f, dynamic=True\).*torch\._dynamo\.mark_dynamic\(x, 1\)
tensor 'w' size mismatch at index 0. expected 77, actual 154. Guard failed on a parameter, consider using torch._dynamo.config.force_parameter_static_shapes = False to allow dynamism on parameters.|fix +torch\._dynamo\.config\.force_parameter_static_shapes = False
tensor 'x' stride mismatch at index 0. expected 77, actual 154|fix +x = x\.contiguous\(\)
tensor 'x' requires_grad mismatch. expected requires_grad=0|fix +Always call it with x of the same requires_grad; .*two variants are right
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

# ---- what follows from a break is reported with it, and has no fix of its own; what a branch needs is no setting ----
b='V1127 00:05:08.748000 7178 torch/_dynamo/symbolic_convert.py:5124] [0/0] [__graph_breaks]'
# at_break LINE_OF_CODE RECOMPILE_REASON
at_break() {
	cat <<-END
		$b Graph break in user code at /home/me/app.py:4
		$b Graph Break Reason: Unsupported Tensor.item() call with capture_scalar_outputs=False
		$b   Explanation: Dynamo does not support tracing it.
		$b   Hint: Set \`torch._dynamo.config.capture_scalar_outputs = True\` to include these operations.
		$b   Developer debug context: call_method TensorVariable() item () {}
		$b User code traceback:
		$b   File "/home/me/app.py", line 4, in f
		$b     $1
	END
	printf '%s [1/1] [__recompiles] Recompiling function torch_dynamo_resume_in_f_at_4 in /home/me/app.py:4\n' "$head"
	printf '%s [1/1] [__recompiles]     triggered by the following guard failure(s):\n%s [1/1] [__recompiles]     - 1/0: %s\n' "$head" "$head" "$2"
}
at_break "n = y.sum().item()" "___stack0 == 0.0" | fxexplain --all - >out
like "a value of the line that breaks: with the break" "$(cat out)" \
	"What to look at, worst first \(1\).*cost .*; causes: 1 recompile of the rest of f after line 4: the value of line 4 is no longer 0\.0"
unlike "without a fix of its own" "$(cat out)" "___stack|torch\.tensor\("
at_break "n = y.sum().item()" "tensor 'y' requires_grad mismatch. expected requires_grad=0" | fxexplain - >out
like "a gradient between two layers, too" "$(cat out)" "causes: 1 recompile of the rest of f after line 4: y now requires grad"
unlike "and nobody is told to end training" "$(cat out)" "detach"
at_break "n = y.sum().item()" "tensor 'y' size mismatch at index 0. expected 3, actual 5" | fxexplain - >out
like "a size is its own reason" "$(cat out)" "worst first \(2\).*mark_dynamic\(y, 0\)"
at_break "if h.abs().max().item() > 100:" "___stack0 == 0.0" | fxexplain --all - >out
like "a branch: an operator, which has the better figure, or where" "$(cat out)" "fix +@torch\.library\.custom_op\(\"ns::check\".*y = torch\.where\(cond"
unlike "no setting helps there, not even torch's" "$(cat out)" "config\.capture_scalar_outputs = True"
like "a check" "$(at_break 'if y.sum().item() < 0: raise ValueError("no")' "___stack0 == 0.0" | fxexplain -)" "fix +torch\._assert_async\("
like "a list that grows" "$(at_break 'self.history.append(loss.item())' "___stack0 == 0.0" | fxexplain -)" "fix +@torch\.library\.custom_op\(\"ns::note\""
like "a value that was freed, in words" "$(at_break 'n = y.sum().item()' "Cache line invalidated because L['___stack0'] got deallocated" | fxexplain -)" \
	"causes: 1 recompile of the rest of f after line 4: the value of line 4 was freed"
mkdir project && printf 'import torch\n@torch.compile\ndef f(y):\n    return y * y.sum().item()\nf(torch.ones(2))\n' >project/app.py
at_break "return y * y.sum().item()" "___stack0 == 0.0" | sed "s|/home/me/app.py|$PWD/project/app.py|" >fix.log
fxexplain fix fix.log >out 2>err
like "fix edits what breaks" "$(cat out)" '\+    return y \* y\.sum\(\)\.detach\(\)'
unlike "and not what only follows from it" "$(cat out err)" "recompile|is no longer|torch\.tensor"
like "how often a fix was tried" "$(at_break 'self.history.append(loss.item())' "___stack0 == 0.0" | fxexplain -)" "prints, logs or counts; tried in [0-9]+ programs: [0-9]+"
done_testing
