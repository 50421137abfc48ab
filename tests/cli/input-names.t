#!/bin/bash
# forward()'s names for the inputs of a compiled model: keys of an .npz, NAME=; lent by an exported program that takes the same inputs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || skip_all "no python3"

mkdir alone pair
cp "$DATA/aoti/derived.pt2" alone/model.pt2 && cp alone/model.pt2 pair/
cp "$ROOT/tests/data/export/derived.pt2" named.pt2 && cp named.pt2 pair/named.pt2
cp "$ROOT/tests/data/export/mlp.pt2" other.pt2
# The values of the recording, as numpy.savez(y=..., x=..., unused=...) writes them.
python3 - "$ROOT/tests/data/aoti/io/derived.npz" <<'P'
import sys, zipfile
def save(path, keys):
    with zipfile.ZipFile(sys.argv[1]) as data, zipfile.ZipFile(path, "w") as out:
        for key, member in keys:
            out.writestr(key + ".npy", data.read(member + ".npy"))
save("good.npz", [("y", "in2"), ("x", "in0"), ("unused", "in1")])
save("two words.npz", [("a b", "in2"), ("x", "in0"), ("unused", "in1")])
save("swapped.npz", [("y", "in0"), ("x", "in2"), ("unused", "in1")])
P

for tool in "aoti-checkinputs" "pt2-run -q" "aoti-nanassert" "aoti-printer -q"; do
	# shellcheck disable=SC2086 # the tool and its option
	exits "$tool: names of the program beside the model" 0 $tool pair/model.pt2 good.npz
	like "$tool: the note says whose names" "$(cat err)" "the inputs' names are those of 'pair/named.pt2', beside the model"
	# shellcheck disable=SC2086
	exits "$tool: without a program" 2 $tool alone/model.pt2 good.npz
	like "$tool: the message offers keys in an order that fits" "$(cat err)" \
		"key 'y' is not an input of this model: .*; pass good.npz:x good.npz:unused good.npz:y \\(in no other order"
	# shellcheck disable=SC2086
	exits "$tool: what it offers works" 0 $tool alone/model.pt2 good.npz:x good.npz:unused good.npz:y
done
# Each reads the right values: the outputs are the same as by position.
run pt2-run -f alone/model.pt2 good.npz:x good.npz:unused good.npz:y
mv out want
run pt2-run -f pair/model.pt2 good.npz
is "pt2-run: the values are those of each name" "$(cat out)" "$(cat want)"
run pt2-run -f pair/model.pt2 y=good.npz:y unused=good.npz:unused x=good.npz:x
is "NAME= may be forward()'s name, too" "$status $(cat out)" "0 $(cat want)"
exits "aoti-checkinputs: a wrong call by name" 1 aoti-checkinputs pair/model.pt2 swapped.npz

exits "aoti-verify: the program that it verifies against lends the names" 0 aoti-verify --partial named.pt2 alone/model.pt2 good.npz
is "aoti-verify: nothing to say about that" "$(grep -c beside err)" 0
exits "aoti-nanassert --against lends the names" 0 aoti-nanassert --against=named.pt2 alone/model.pt2 good.npz
exits "aoti-checkinputs --against lends the names" 0 aoti-checkinputs --against=named.pt2 alone/model.pt2 good.npz
like "it checks the call" "$(cat out)" 'all inputs fit'
exits "--against a program with other inputs" 3 aoti-checkinputs --against=other.pt2 alone/model.pt2 good.npz
like "the message says so" "$(cat err)" "'other.pt2' has other inputs than the model"
exits "--against what cannot be read" 3 aoti-checkinputs --against=good.npz alone/model.pt2 good.npz
exits "pt2: a model, its program and a file" 0 pt2 check named.pt2 alone/model.pt2 good.npz
exits "pt2: NaN" 0 pt2 nan named.pt2 alone/model.pt2 good.npz

# The offer is a command line.
run aoti-checkinputs alone/model.pt2 "two words.npz"
like "names with blanks are quoted" "$(cat err)" "pass 'two words.npz:x' 'two words.npz:unused' 'two words.npz:a b' \\("

# Two programs beside it that name the inputs differently: nothing is guessed.
python3 - <<'P'
import zipfile
with zipfile.ZipFile("named.pt2") as data, zipfile.ZipFile("pair/renamed.pt2", "w") as out:
    for m in data.infolist():
        out.writestr(m, data.read(m).replace(b'\\"unused\\"', b'\\"ignored\\"').replace(b'"unused"', b'"ignored"'))
P
exits "the renamed program is one" 0 aoti-checkinputs -q pair/renamed.pt2
exits "two programs that disagree" 2 aoti-checkinputs pair/model.pt2 good.npz
mv pair/renamed.pt2 other2.pt2 && cp named.pt2 pair/again.pt2
exits "two programs that agree" 0 aoti-checkinputs pair/model.pt2 good.npz
rm pair/again.pt2 && head -c 3000 named.pt2 >pair/named.pt2
exits "a damaged program lends nothing" 2 aoti-checkinputs pair/model.pt2 good.npz

# A package that carries its exported program.
python3 - <<'P'
import zipfile
with zipfile.ZipFile("alone/model.pt2") as data, zipfile.ZipFile("named.pt2") as program, zipfile.ZipFile("alone/both.pt2", "w") as out:
    for m in data.infolist():
        out.writestr(m, data.read(m))
    root = data.namelist()[0].split("/")[0]
    for m in program.infolist():
        if "/models/" in m.filename:
            out.writestr(root + m.filename[m.filename.index("/models/"):], program.read(m))
P
exits "the package's own program lends the names" 0 aoti-checkinputs alone/both.pt2 good.npz
is "without a note" "$(cat err)" ""
# What could be passed in two orders is not said to be the only one.
python3 - <<'P'
import zipfile
with zipfile.ZipFile("good.npz") as data, zipfile.ZipFile("same.npz", "w") as out:
    for key in "q", "k", "v":
        out.writestr(key + ".npy", data.read("x.npy"))
P
exits "other sizes in every order" 2 aoti-checkinputs alone/model.pt2 same.npz
like "no order is offered" "$(cat err)" "; pass FILE:KEY for each, in the order of forward\(\)'s arguments"
python3 - "$ROOT/tests/data/aoti/io/custom_op.npz" <<'P'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as data, zipfile.ZipFile("two.npz", "w") as out:
    out.writestr("b.npy", data.read("in1.npy"))
    out.writestr("a.npy", data.read("in0.npy"))
P
run aoti-checkinputs --no-exec "$DATA/aoti/custom_op.pt2" two.npz
like "an order that is one of two says so" "$(cat err)" "; pass two.npz:b two.npz:a \\(or another order: that of forward"
done_testing
