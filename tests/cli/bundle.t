#!/bin/bash
# fxexplain report --bundle and replay, without torch: recorded runs into bundles and back, a program that needs no torch run again, bundles made to harm.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v jq >/dev/null || skip_all "jq is not installed"
tar -xJf "$ROOT/tests/data/causes/v213.tar.xz" ./cpp_error ./prints ./optimizer_lr ./key_error
json() { jq -r "$1" out; }

# ---- recorded runs ----
for p in cpp_error prints optimizer_lr key_error; do
	inputs=("$p/trace")
	[ ! -s "$p/stderr" ] || inputs+=("$p/stderr")
	exits "$p: report --bundle" 0 fxexplain report --bundle $p.pt2b "${inputs[@]}"
	like "$p: the message has its size" "$(cat err)" "$p.pt2b: [0-9.]+ KB; without the program"
	ok "$p: smaller than 200 KB" test "$(stat -c %s $p.pt2b)" -lt 200000
	ok "$p: a valid zip archive" unzip -tqq $p.pt2b
	run fxexplain -q "${inputs[@]}" && grep -vE '^[^ ]*: a t|^  next ' out >was
	run fxexplain replay -q $p.pt2b
	is "$p: replay prints what fxexplain prints" "$(grep -vxFf out was)" ""
	is "$p: replay ends with 0" "$status" 0
	run fxexplain replay --json $p.pt2b
	is "$p: the manifest lists every file" "$(json '.files[].name' | sort)" "$(unzip -Z1 $p.pt2b | grep -v manifest.json | sort)"
	unzip -p $p.pt2b findings.json >findings
	is "$p: the bundle has every finding" "$(json '.findings | length')" \
		"$(jq '[.findings[] | select(.level != "note" and .kind != "compile-time" and .kind != "cache")] | length' findings)"
done
run fxexplain replay --json cpp_error.pt2b
is "only graphs of the failure are included" "$(json '[.files[] | select(.kind == "graph") | .about] | join(" ")')" "0/0:dynamo_output_graph 0/0:aot_inference_graph"
is "the manifest has torch's version and the component" "$(json '.torch + " " + .component')" "2.13.0+cpu compiler"
exits "replay shows what can be run" 0 fxexplain replay cpp_error.pt2b
like "as a command" "$(cat out)" 'fxminify +fxminify --no-journal .*--graph 0/0 trace/'
like "a note says that nothing has been run" "$(cat out)" 'nothing has been run yet'
exits "replay --html" 0 fxexplain replay --html=page.html cpp_error.pt2b
ok "the page is written" grep -q '<!doctype html>' page.html
exits "without a terminal nothing is run" 0 fxexplain replay --tool fxminify --python "$PWD/none" cpp_error.pt2b
like "the message suggests --run" "$(cat err)" 'nothing was run: pass --run'
exits "a --tool that has nothing to run" 2 fxexplain replay --run --tool aoti-verify cpp_error.pt2b
exits "--json with --run is rejected" 2 fxexplain replay --json --run cpp_error.pt2b
exits "--with without --bundle is rejected" 2 fxexplain report --with x.npz cpp_error/trace
exits "--bundle with --json is rejected" 2 fxexplain report --bundle x.pt2b --json cpp_error/trace

# ---- redacted ----
python3 - <<'E2'
import struct
def npy(path, values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    head = head.ljust(117) + "\n"
    open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%df" % len(values), *values))
npy("secret.npy", [i + 0.25 if i % 10 else 0 for i in range(1000)])
E2
cp -r cpp_error ann && sed -i 's|torchinductor_user|torchinductor_secretann|g; s|/home/user|/home/secretann|g' ann/trace/* ann/stderr
exits "--redact" 0 fxexplain report --redact --bundle r.pt2b --with secret.npy --with "$DATA/aoti/mlp.pt2" ann/trace ann/stderr
mkdir r && unzip -qq r.pt2b -d r
is "no path and no user name is left" "$(grep -rlE '/home/|secretann' r)" ""
# torch in folders of the user's, whatever these are called; every file of the bundle, as text and as JSON decodes it
for where in '/home/secretann/venv' '/opt/hush-hush' '/data/hush disk (old)/v' '/srv/h\\u00fcsh/v'; do
	rm -rf x xr && cp -r cpp_error x
	sed -i "s|torchinductor_user|torchinductor_secretann|g; s|/home/user|/home/secretann|g; s|/usr/lib/python3/site-packages|$where/lib/python3.11/site-packages|g" x/trace/* x/stderr
	exits "--redact with torch in $where" 0 fxexplain report -q --redact --bundle x.pt2b x/trace x/stderr
	mkdir xr && unzip -qq -o x.pt2b -d xr
	is "no file reveals $where" "$(grep -rohiE '.{0,30}(/home/|secretann|hush|h.u00fcsh|hüsh|site-packages).{0,30}' xr | head -n 3)" ""
	run tlparse --json xr/trace/*
	is "the log is intact: $where" "$(json '.summary.damage // 0') $(cat err)" "0 "
	ok "the findings are valid JSON: $where" jq -e '.findings | length > 0' xr/findings.json
	ok "torch's own files keep their names: $where" grep -q torch/_inductor/ xr/findings.json
done
run tlparse --json r/trace/*
is "the redacted log is intact" "$(json '.summary.damage // 0')" 0
is "it has the same failures" "$(json '.summary.failures')" "$(tlparse --json cpp_error/trace | jq .summary.failures)"
is "its hashes are correct" "$(cat err)" ""
run fxexplain replay --json r.pt2b
is "the manifest says redacted" "$(json .redacted)" true
is "inputs are replaced by generated ones with the same statistics" "$(json '.files[] | select(.kind == "inputs") | .made_up') $(json '.tensors[] | "\(.spec) \(.zeros) \(.min) \(.max)"')" \
	"true f32[1000] 100 0 999.25"
is "their values are different" "$(cmp -s secret.npy r/inputs/secret.npy && echo same) $(stat -c %s secret.npy)" " $(stat -c %s r/inputs/secret.npy)"
is "the model is left out, with a reason" "$(json '.left_out[] | select(.name == "mlp.pt2") | .why')" "redacted: it holds the model and its weights"

# ---- a model and its inputs ----
xz -dc "$ROOT/tests/data/aoti/nan/log.pt2.xz" >log.pt2
unzip -qp "$ROOT/tests/data/aoti/nan/io/log.npz" in0.npy >log.npy
exits "a bundle of a model and its inputs" 0 fxexplain report -q --bundle nan.pt2b --with log.pt2 --with log.npy cpp_error/stderr
exits "replay runs aoti-nanassert on it" 0 fxexplain replay -q --run --tool aoti-nanassert nan.pt2b
like "and finds the same NaN" "$(cat out err)" 'log.*NaN'
unzip -pq log.pt2 '*.so' >log.so
python3 -c 'import zipfile; zipfile.ZipFile("log.npz", "w").write("log.npy", "in0.npy")'
aoti-printer -q --record kept -- "$BUILD/lib/pt2utils/pt2-runner" --torch "$BUILD/lib/pt2utils/libpt2shim.so" --model ./log.so --outputs ran --watched --unconfined \
	--inputs log.npz >/dev/null 2>&1
exits "a bundle of a recording" 0 fxexplain report -q --bundle run.pt2b --with kept cpp_error/stderr
exits "replay runs it again" 0 fxexplain replay -q --run --tool aoti-nanassert run.pt2b
python3 "$ROOT/tests/lib/npy.py" x.npy '<f4' 3 8
fxexplain report -q --bundle good.pt2b --with "$DATA/aoti/mlp.pt2" --with x.npy cpp_error/stderr
exits "replay of a recording without a NaN: not reproduced" 1 fxexplain replay -q --run --tool aoti-nanassert good.pt2b

# ---- a program: one that needs no torch ----
mkdir -p app/parts
: >app/parts/__init__.py
echo 'from . import deep' >app/parts/one.py
echo 'def fail(what): raise RuntimeError("mat1 and mat2 shapes cannot be multiplied (%s)" % what)' >app/parts/deep.py
echo 'x = 1' >app/beside.py
echo 'x = 1' >app/stranger.py
printf 'import sys, os\nimport beside, json\nfrom parts import one\nif os.environ.get("TORCH_TEST") == "set": one.deep.fail(sys.argv[1])\n' >app/main.py
run env TORCH_TEST=set fxexplain run -q --bundle p.pt2b -o explained -- python3 app/main.py "2x3 and 4x5"
is "run --bundle keeps the command's status" "$status" 1
run fxexplain replay --json p.pt2b
is "the program and its imports are included" "$(json '[.files[] | select(.kind == "program" or .kind == "source") | .name] | sort | join(" ")')" \
	"program/beside.py program/main.py program/parts/__init__.py program/parts/deep.py program/parts/one.py"
is "status, arguments and environment are included" "$(json '"\(.status) \(.arguments[0]) \(.environment[] | select(.name == "TORCH_TEST") | .value)"')" "1 2x3 and 4x5 set"
is "all members have the same date" "$(python3 -c 'import zipfile; print(*{i.date_time for i in zipfile.ZipFile("p.pt2b").infolist()})')" "(1980, 1, 1, 0, 0, 0)"
mv app gone
exits "showing a bundle runs nothing" 0 fxexplain replay -q p.pt2b
exits "the program fails the same way elsewhere" 0 fxexplain replay -q --run --python python3 p.pt2b
like "the message says so" "$(cat err)" 'it fails the same way'
like "the program's text was shown" "$(cat out)" '\| from parts import one'
# On a terminal it asks.
ask() { printf '%s\n' "$1" | script -qec "fxexplain replay -q --python python3 p.pt2b" /dev/null 2>&1; }
if command -v script >/dev/null; then
	said=$(ask n)
	like "on a terminal replay asks" "$said" 'run it\? \[y/N\]'
	unlike "n runs nothing" "$said" 'fails as it did'
	like "y runs it" "$(ask y)" 'it fails the same way'
else
	skip "on a terminal it asks" "script is not installed"
fi
# Another failure is not the same.
mkdir other && (cd other && unzip -qq ../p.pt2b && sed -i 's/raise RuntimeError.*/raise ValueError("something else")/' program/parts/deep.py &&
	python3 - <<'E3'
import json, os
m = json.load(open("manifest.json"))
for f in m["files"]:
    f["bytes"] = os.path.getsize(f["name"])
json.dump(m, open("manifest.json", "w"))
E3
	python3 -m zipfile -c ../other.pt2b ./*) # which takes no file of before 1980
exits "another failure is not the same" 1 fxexplain replay -q --run --python python3 other.pt2b
like "both failures are named" "$(cat err)" 'not reproduced:.*mat1'

# ---- made to harm ----
bad() { # bad WHAT REGEX : bad.pt2b is refused, named, and nothing is left of it
	local what=$1 why=$2
	exits "$what: rejected" 3 fxexplain replay --run bad.pt2b
	like "$what: the message says why" "$(cat err)" "$why"
}
python3 - <<'E4'
import json, zipfile, stat
def bundle(name, files, members=None, **more):
    m = {"schema": "pt2utils.bundle/1", "files": [{"name": n, "kind": k, "bytes": len(d)} for n, k, d in files], **more}
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("manifest.json", json.dumps(m))
        for n, k, d in files if members is None else members:
            z.writestr(n, d)
bundle("up.pt2b", [("trace/../../../up", "trace", "x")])
bundle("absolute.pt2b", [("/tmp/absolute", "trace", "x")])
bundle("pickle.pt2b", [("inputs/x.pt", "inputs", "cos\nsystem\n(S'touch harm'\ntR.")])
bundle("preload.pt2b", [], environment=[{"name": "LD_PRELOAD", "value": "/tmp/x.so"}])
bundle("extra.pt2b", [], [("program/sitecustomize.py", "", "x")])
bundle("bomb.pt2b", [("trace/%d" % i, "trace", "\0" * (300 << 20)) for i in range(4)])
link = zipfile.ZipInfo("trace/link")
link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
bundle("link.pt2b", [("trace/link", "trace", "/etc/passwd")], [(link, "", "/etc/passwd")])
E4
for c in "up:leads out" "absolute:absolute name" "pickle:inputs/x.pt" "preload:LD_PRELOAD" "extra:not in the manifest" "bomb:zip bomb" "link:symbolic link"; do
	cp "${c%%:*}.pt2b" bad.pt2b
	bad "${c%%:*}" "${c#*:}"
done
ok "nothing was written outside" sh -c '! ls harm ../up /tmp/absolute 2>/dev/null'
cp "$DATA/aoti/mlp.pt2" bad.pt2b
bad "a package" 'no manifest.json'
head -c 3000 cpp_error.pt2b >bad.pt2b
bad "cut off" 'truncated'
echo hello >bad.pt2b
bad "no zip at all" 'not a zip archive'
done_testing
