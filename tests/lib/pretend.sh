# shellcheck shell=bash
# A torch that only pretends, for tests of what fxminify does with the oracle's answers (share/fxminify/oracle.py). Sourced.
#
#   chain OP...           chain.py: a launcher of these operators, one after the other; record.json: what the oracle records of it ($RECORD)
#   pretends FILE [DIR]   a Python in which each test fails with a KeyError. A program that is run does, too, if it has at least ENOUGH
#                         calls of torch, its inputs included (default: 0). DIR: has a torch with which this Python runs other programs
chain() {
	local op last=x meta='{"kind": "tensor", "dtype": "float32", "size": [3, 4], "stride": [4, 1], "device": "cpu"}'
	{
		printf 'import torch\nclass Repro(torch.nn.Module):\n    def forward(self, x):\n'
		for op; do
			echo "        $op = torch.ops.aten.$op.default($last);  $last = None"
			last=$op
		done
		cat <<P
        return ($last,)
def load_args(reader):
    buf0 = reader.storage(None, 48)
    reader.tensor(buf0, (3, 4), is_leaf=True)  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='minify', save_dir=None, tracing_mode='real', check_str=None)
P
	} >chain.py
	{
		printf '{"re": "record", "kind": "passes", "random": [], "nodes": {"x": %s' "$meta"
		for op; do printf ', "%s": %s' "$op" "$meta"; done
		printf '}}\n'
	} >record.json
	export RECORD=$PWD/record.json
}
pretends() {
	{
		echo '#!/bin/sh'
		# shellcheck disable=SC2016 # the program's own
		[ -z "${2-}" ] || echo 'case ${1-} in *.py) PYTHONPATH='"$2"'${PYTHONPATH:+:$PYTHONPATH} exec python3 "$@" ;; esac'
		cat <<'P'
printf '>>> \n@pt2-oracle\n'
while read -r line; do
	case $line in "{"*) ;; *) continue ;; esac # the oracle's own text, in which this shell would search for seconds
	id=${line#*'"id":'}; id=$(printf %s "${id%%,*}" | tr -d ' }')
	op=${line#*'"op":'}; op=$(printf %s "${op%%,*}" | tr -d '" }')
	case $op in
	start) echo '{"re": "hello", "torch": "2.13.0", "session": ""}' ;;
	record) cat "$RECORD" ;;
	test) echo '{"re": "test", "id": '"$id"', "kind": "raised", "type": "KeyError", "message": "no"}' ;;
	inputs) echo '{"re": "inputs", "kind": "infra", "detail": "none"}' ;;
	verify)
		path=${line#*'"path":'}; path=${path#*\"}; path=${path%%\"*}
		kind=passes
		[ "$(grep -cE '^ *[a-z_0-9]+ = torch|return torch' "$path")" -lt "${ENOUGH:-0}" ] || kind='raised", "type": "KeyError", "message": "no", "detail": "no `way`'
		echo '{"re": "verify", "id": '"$id"', "kind": "'"$kind"'"}' ;;
	esac
done
P
	} >"$1"
	chmod +x "$1"
}
