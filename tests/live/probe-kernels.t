#!/bin/bash
# Kernels of models in real torch are watched, from Python and from C++, in many threads: the models return what they return
# unwatched, bit for bit; exceptions pass; a killed process leaves what it did.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
[ -x "$BUILD/bin/aoti-printer" ] || skip_all "aoti-printer is not built"
# shellcheck source=tests/live/zoo.sh
. "$ROOT/tests/live/zoo.sh"

# The C++ server takes a while to compile, so it is kept.
torch=$("$python" -c 'import torch, os; print(os.path.dirname(torch.__file__))')
host=$BUILD/live-host
if [ ! "$host" -nt "$ROOT/tests/live/host.cpp" ]; then
	run g++ -std=c++20 -O0 -w -I"$torch/include" -I"$torch/include/torch/csrc/api/include" "$ROOT/tests/live/host.cpp" \
		-o "$host.new" -L"$torch/lib" -Wl,-rpath,"$torch/lib" -ltorch_cpu -lc10 -pthread
	is "the C++ server was compiled" "$status" 0
	mv "$host.new" "$host"
fi
command_of() { # into $command
	if [ "$1" = cpp ]; then command=("$host"); else command=("$python" "$ROOT/tests/live/serve.py"); fi
}
# kernels NAME : what the model calls, from the zoo's facts
kernels() { sed -n '/"calls"/,/\]/s/^ *"\([a-z_0-9A-Z]*\)",*$/\1/p' "$zoo/$1.json" | sort; }

# encoder: products, attention (an operator that returns tensors). indexing: many operators. nan_mean_empty: NaN, and a size from data.
for model in encoder indexing nan_mean_empty; do
	for language in cpp py; do
		command_of $language
		call=("${command[@]}" "$zoo/$model.pt2" "$zoo/$model.in.pt" 8 1000)
		"${call[@]}" >want 2>err
		like "$model, $language: 8 threads x 1000 calls agree when unwatched" "$(cat want)" '^[0-9a-f]+ 8000$'
		run aoti-printer -q --level 3 --log=names -- "${call[@]}"
		is "$model, $language: the log on: the same bits" "$(cat out)" "$(cat want)"
		is "$model, $language: the log on: status" "$status" 0
		is "$model, $language: the kernels are those in the code" \
			"$(sed -nE 's/^\[ *after_launch: (\w+) *\]$/\1/p' names | sort -u)" "$(kernels $model)"
	done
	run aoti-printer -q --level 2 --runs 0-20 --log=/dev/null -- "$host" "$zoo/$model.pt2" "$zoo/$model.in.pt" 8 1000
	"$host" "$zoo/$model.pt2" "$zoo/$model.in.pt" 8 1000 >want
	is "$model, cpp: all tensors looked at: the same bits" "$(cat out)" "$(cat want)"
done

# A bad index is an exception inside a kernel. In one thread: torch 2.13's container wakes no thread that waits for a model when a
# call of another one ends so, watched or not (aoti_runtime/model_container.h, run()).
xz -dc "$ROOT/tests/data/aoti/emb.pt2.xz" >emb.pt2
"$python" -c 'import torch; torch.save([torch.tensor([[1, 2, 3, 4, 99], [0, 1, 2, 3, 4]])], "far.pt")'
for language in cpp py; do
	command_of $language
	"${command[@]}" emb.pt2 far.pt 1 50 >want 2>/dev/null
	like "an exception in a kernel, $language: unwatched" "$(cat want)" '^exception: .* 50$'
	run aoti-printer -q --level 3 --log=names -- "${command[@]}" emb.pt2 far.pt 1 50
	is "an exception in a kernel, $language: passes" "$(cat out)" "$(cat want)"
done

# Killed in the middle.
run aoti-printer -q --level 3 --runs 0-50 --log=names -- timeout -s KILL 3 "$host" "$zoo/encoder.pt2" "$zoo/encoder.in.pt" 8 100000000
is "kill -9: status" "$status" 137
like "kill -9: the first calls can be read" "$(head -n 1 names)" 'before_launch: (cpp_fused|aoti_torch_cpu)_'
is "kill -9: so can all of them" "$(sed -nE 's/^\[ *after_launch: (\w+) *\]$/\1/p' names | sort -u)" "$(kernels encoder)"
done_testing
