#!/bin/bash
# pt2-runner by itself: its options, what it refuses, and that memory is used and given back as it should (valgrind).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
lib=$BUILD/lib/pt2utils
exits "--help" 0 "$lib/pt2-runner" --help
like "--help lists the options" "$(cat out)" '--torch LIB .*--outputs FILE'
exits "no options" 2 "$lib/pt2-runner"
like "the message lists required options" "$(cat err)" '^pt2-runner: --torch, --model, --inputs and --outputs are required'
exits "an invalid number" 2 "$lib/pt2-runner" --runs many
like "the message names it" "$(cat err)" "^pt2-runner: --runs needs a number, not 'many'"

mkdir mlp
python3 - "$DATA/aoti/mlp.pt2" <<'E2' || skip_all "no packages"
import struct
import sys
import zipfile
for m in zipfile.ZipFile(sys.argv[1]).infolist():
    with open("mlp/" + m.filename.rsplit("/", 1)[1], "wb") as f:
        f.write(zipfile.ZipFile(sys.argv[1]).read(m))
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 8), }"
head += " " * (117 - len(head)) + "\n"
with open("x.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.encode() + struct.pack("<24f", *range(24)))
E2
so=$(echo "$PWD"/mlp/*.wrapper.so)
go=("$lib/pt2-runner" --torch "$lib/libpt2shim.so" --model "$so" --outputs res --inputs)

exits "a model runs" 0 "${go[@]}" x.npy
is "nothing is printed" "$(cat out err)" ""
is "outputs are written" "$(head -c 7 res)" PT2RUN1
is "outputs are probabilities" "$(python3 - <<'E2'
import struct
data = open("res", "rb").read()
dims, at = struct.unpack_from("<i", data, 96 + 12)[0], struct.unpack_from("<Q", data, 96 + 32)[0]
size = struct.unpack_from(f"<{dims}q", data, 96 + 48)
rows = [struct.unpack_from("<4f", data, at + 16 * i) for i in range(3)]
print(size, all(abs(sum(r) - 1) < 1e-6 and min(r) >= 0 for r in rows))
E2
)" "(3, 4) True"
exits "a missing input" 3 "${go[@]}" none.npy
like "the message names it" "$(cat err)" "^pt2-runner: cannot open 'none.npy'"
is "the message is one line" "$(wc -l <err)" 1
exits "--quiet with a missing input" 3 "${go[@]}" none.npy --quiet
is "--quiet prints nothing" "$(cat err)" ""
like "the outputs file has the reason" "$(tr -d '\0' <res)" "cannot open 'none.npy'"
exits "a missing runtime" 4 "$lib/pt2-runner" --torch "$TMP/missing.so" --model "$so" --outputs res --inputs x.npy
like "the message names the runtime" "$(cat err)" "^pt2-runner: cannot load '$TMP/missing.so'"
exits "another library as runtime" 4 "$lib/pt2-runner" --torch "$lib/libpt2probe.so" --model "$so" --outputs res --inputs x.npy
like "the message says what it lacks" "$(cat err)" 'has no AOTInductor interface'
exits "outputs that cannot be written" 4 "$lib/pt2-runner" --torch "$lib/libpt2shim.so" --model "$so" --outputs none/res --inputs x.npy
exits "another library as model" 3 "$lib/pt2-runner" --torch "$lib/libpt2shim.so" --model "$lib/libpt2probe.so" --outputs res --inputs x.npy
like "the message says what it is not" "$(cat err)" 'was not built for libtorch'
exits "closed standard streams" 0 bash -c '"$@" <&- >&- 2>&-' - "${go[@]}" x.npy
is "outputs are complete with closed streams" "$(head -c 7 res)" PT2RUN1

# Calls through the proxy executor: what the package's list says is made, the rest is refused before anything runs.
mkdir proxied
python3 - "$DATA/aoti/proxied.pt2" "$ROOT/tests/data/aoti/io/proxied.npz" <<'E2'
import sys
import zipfile
z = zipfile.ZipFile(sys.argv[1])
for m in z.namelist():
    with open("proxied/" + m.rsplit("/", 1)[1], "wb") as f:
        f.write(z.read(m))
with zipfile.ZipFile(sys.argv[2]) as io, zipfile.ZipFile("in.npz", "w") as f:
    for m in io.namelist():
        if m.startswith("in"):
            f.writestr(m, io.read(m))
E2
proxied=$(echo "$PWD"/proxied/*.wrapper.so) nodes=$(echo "$PWD"/proxied/*.wrapper.json)
call=("$lib/pt2-runner" --torch "$lib/libpt2shim.so" --model "$proxied" --outputs res --inputs in.npz)
exits "calls through the proxy executor" 0 "${call[@]}" --extern-nodes "$nodes"
is "they print nothing" "$(cat out err)" ""
exits "--extern-nodes is missing" 3 "${call[@]}"
like "the message says so" "$(cat err)" 'calls operators through the proxy executor, but the package.s list of them \(\*.wrapper.json\) is missing$'
exits "a missing --extern-nodes file" 3 "${call[@]}" --extern-nodes none.json
sed 's/aten::_unique2/aten::poisson/; s/aten::bincount/mine::op.some/' "$nodes" >other.json
exits "unsupported operators" 3 "${call[@]}" --extern-nodes other.json
like "the message lists all of them" "$(cat err)" 'that libpt2shim.so lacks: aten::poisson, mine::op.some; run it with an installed libtorch'
is "the list is one line" "$(wc -l <err)" 1
sed 's/aten::median.dim/aten::nanmedian.dim/; s/"keepdim"/"other"/' "$nodes" >same.json
exits "an omitted value has its default" 0 "${call[@]}" --extern-nodes same.json
sed 's/{"as_int": 1}/{"as_bool": true}/' "$nodes" >kind.json
exits "a value of the wrong kind" 3 "${call[@]}" --extern-nodes kind.json
like "the message names the operator" "$(cat err)" "aten::median.dim: wrong kind of value for dim"
head -c 300 "$nodes" >cut.json
exits "an incomplete list" 3 "${call[@]}" --extern-nodes cut.json
like "the message has the offset" "$(cat err)" 'extern nodes: .* at offset 300$'
exits "--load without libtorch" 2 "${call[@]}" --extern-nodes "$nodes" --load ./mine.so
like "the message says what it needs" "$(cat err)" "^pt2-runner: './mine.so' needs an installed libtorch \(--torch\)"
if command -v valgrind >/dev/null && valgrind -q true 2>/dev/null; then
	exits "valgrind finds no error in these calls" 0 valgrind -q --leak-check=full --error-exitcode=9 "${call[@]}" --extern-nodes "$nodes" --unconfined
else
	skip "no memory is misused or lost by them" "no valgrind"
fi

libraries=$(LD_TRACE_LOADED_OBJECTS=1 "$lib/pt2-runner"; ldd "$lib/libpt2shim.so")
unlike "nothing links torch or BLAS" "$libraries" 'torch|blas|sleef|libc10'
if command -v valgrind >/dev/null && valgrind -q true 2>/dev/null; then
	exits "valgrind finds no error in a run" 0 valgrind -q --leak-check=full --error-exitcode=9 "${go[@]}" x.npy --unconfined --runs 2
else
	skip "no memory is misused or lost" "no valgrind"
fi
exits "coverage-ops" 0 "$ROOT/scripts/coverage-ops" "$lib/libpt2shim.so" "$ROOT/libcommon/core/model/doctor/shimversions.h"
like "it lists operators of the proxy executor" "$(cat out)" 'without a C function.*:
  .*aten::_unique2.*aten::median.dim'
like "it prints a table" "$(cat out)" 'CPU operators +\| +[0-9]{3} \|'
done_testing
