#!/bin/bash
# fxminify with a command as the oracle: what it reads and writes, limits, signals, resuming, hostile files. No torch.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
repros=$ROOT/tests/data/repro
bug=$BUILD/tests-lib/predicate
synthetic=$ROOT/tests/minify/synthetic.py
[ -x "$bug" ] || skip_all "no $bug"
mkdir tmp
export TMPDIR=$TMP/tmp
unset PT2_PYTHON # torch would be asked for shapes
for n in 50 200 1000; do python3 "$synthetic" graph $n >g$n.py; done
ops() { grep -cE '^ *[A-Za-z_0-9]+(: "[^"]*")? = (torch\.ops\.|torch\._C|[a-z])' "$1"; }
left() { find "$TMPDIR" -mindepth 1 | head -5; } # of temporary folders
running() { pgrep -f "$1" | head -3; } # of this test: its process id is in what is looked for, as another may run beside it
keys() { grep -o '"key":"[0-9a-f]*"' "$1" | sort | uniq -d; } # that were tested twice
last() { tail -1 err; }

# ---- what is read ----
for f in aot_forward aot_backward aot_strides dynamo_dynamic aoti; do
	exits "$f is reduced" 0 fxminify --test 'grep -q torch' -j2 --max-tests 60 "$repros/$f/minifier_launcher.py" -o repro.py
	like "$f: the last line names the result" "$(last)" '^result .* in repro.py; [0-9]+ tests?, [0-9.]+ s$'
	ok "$f: the result is valid Python" python3 -m py_compile repro.py
	exits "$f: the result can be reduced again" 0 fxminify --test true -q --passes nodes repro.py -o again.py
done
for f in "$repros"/*.py; do
	exits "$(basename "$f")" 0 fxminify --test 'grep -q torch' -q --max-tests 40 "$f" -o repro.py
done
exits "a program whose subgraphs torch 2.15 writes beside Repro" 0 fxminify --test 'grep -q aten.relu' --passes nodes,subgraphs -q "$repros/cond_2_15.py" -o repro.py
is "its subgraphs are reduced, too" "$(grep -o 'aten\.[a-z]*' repro.py | sort -u | paste -sd' ')" "aten.relu"
is "its result has the subgraphs" "$(python3 -c 'import ast; print([c.name for c in ast.walk(ast.parse(open("repro.py").read())) if isinstance(c, ast.ClassDef)])')" \
	"['Repro', 'true_graph_0', 'false_graph_0']"
exits "subgraphs that torch 2.13 left out" 3 fxminify --test true -q "$repros/cond_2_13.txt" -o repro.py
like "the message names the missing subgraph" "$(last)" "lacks the subgraph 'true_graph_0': launchers of torch before 2.14 have .*\(this is one of 2.13.0.cpu\).*--graph 0/0:aot_inference_graph"
exits "an exported program of torch before 2.8 is rejected" 3 fxminify --test true -q "$ROOT/tests/data/export/old_2_6.pt2" -o repro.py
like "the message says that it is not supported" "$(last)" "exported programs of torch before 2.8 .serialized_exported_program.json. are not supported"
# In one storage, each where it was: in every candidate while that matters, and in the result.
shared=$repros/aot_strides/minifier_launcher.py
# shellcheck disable=SC2016 # that is the script's own
printf '[ "$(grep -c "buf[0-9]* = reader.storage" "$1")" = 1 ] && grep -q "sin.default" "$1"\n' >one-storage
exits "inputs that share storage" 0 fxminify --test "sh '$TMP/one-storage'" -q --passes memory "$shared" -o repro.py
is "they still share it" "$(grep -c 'buf[0-9]* = ' repro.py) $(grep -c 'storage_offset=8' repro.py)" "1 1"
exits "inputs whose sharing does not matter" 0 fxminify --test 'grep -q sin.default' -q --passes memory "$shared" -o repro.py
is "each gets its own storage" "$(grep -c 'buf[0-9]* = ' repro.py)" 2
rm -f repro.py*
exits "a graph as readable code" 0 fxminify --test "'$bug' single 50" --passes nodes g50.py
ok "the default result is repro.txt" test -s repro.txt
is "exactly the failing operation is left" "$(ops repro.txt) $(grep -c ' n30[: ]' repro.txt)" "1 1"
exits "the program comes from standard input" 0 fxminify --test "'$bug' single 50" --passes nodes -q -o - - <g50.py
like "the result goes to standard output" "$(cat out)" 'class Repro.*n30 = '
is "-q prints nothing" "$(cat err)" ""
exits "-o FILE.json writes a graph" 0 fxminify --test "'$bug' far 50" --passes nodes -q g50.py -o far.json
ok "the graph is valid JSON" python3 -m json.tool far.json
exits "the JSON graph can be reduced again" 0 fxminify --test 'grep -q n45' -q far.json -o one.json
is "candidates are JSON, too" "$(python3 -c 'import json; print(sum(n["op"] == "call_function" for n in json.load(open("one.json"))["nodes"]))')" 1
exits "standard input may be JSON" 0 fxminify --test 'grep -q n45' -q -o - - <far.json
exits "an exported program is reduced" 0 fxminify --test 'grep -q relu' -q "$ROOT/tests/data/export/mlp.pt2" -o repro.py
ok "its result is valid Python" python3 -m py_compile repro.py
exits "a trace without --graph is rejected" 2 fxminify --test 'grep -q relu' -q "$DATA/graph_breaks.log"
like "the message lists the trace's graphs" "$(cat err)" '[0-9]/[0-9]+:aot_.*choose one: --graph ID:NAME'
failing=$(grep -m1 -oE '[0-9]/[0-9]+' err)
python3 - "$DATA/graph_breaks.log" "$failing" >failing.log <<'PY'
import json, re, sys
frame, compile = map(int, sys.argv[2].split("/"))
for line in open(sys.argv[1]):
    head, brace, rest = line.partition("{")
    if '"compilation_metrics"' in rest and (d := json.loads(brace + rest)) and (d.get("frame_id"), d.get("frame_compile_id")) == (frame, compile):
        d["compilation_metrics"].update(fail_type="InductorError", fail_reason="it cannot")
        line = head + json.dumps(d) + "\n"
    sys.stdout.write(line)
PY
exits "a trace in which a compilation failed" 2 fxminify --test 'grep -q relu' -q failing.log
is "its graphs are marked, no others" "$(sed -nE 's/^([0-9]+\/[0-9]+)(_[0-9]+)?:.* <- failed: /\1 /p' err | sort -u)" "$failing InductorError"
id=$(grep -m1 -oE '[0-9]/[0-9_]+:aot_[a-z_]*graph' err)
exits "--graph selects a graph of a trace" 0 fxminify --test 'grep -q aten' --graph "$id" -q --passes nodes "$DATA/graph_breaks.log" -o small.txt
is "that graph is reduced" "$(ops small.txt)" 1
exits "an unknown --graph is rejected" 2 fxminify --test true --graph 99/9:none "$DATA/graph_breaks.log"
like "the message says that no graph has this name" "$(last)" 'none has this name'
few() { grep -oE '[0-9]+ tests' err | tail -n 1 | cut -d' ' -f1; }
exits "a launcher without shapes, with one needed operation" 0 env -u PT2_PYTHON fxminify -j1 --test "grep -q ' sigmoid = torch'" -o one.py "$ROOT/tests/data/minifier/aot_deep/minifier_launcher.py"
ok "it is found within 20 tests" test "$(few)" -le 20

# A document of fxexplain run --wrong: the graph at fault, with what it was called with.
python3 - "$DATA/graph_breaks.log" <<'PY'
import json, struct, sys
compile_id, _, name = "8/0_1:aot_inference_graph".partition(":")
head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }".ljust(117) + b"\n"
with open("x.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack("<4f", 1.5, -2, 3, 4.25))
with open("wrong.json", "w") as f:
    fault = {"compile_id": compile_id, "graph": name, "trace": sys.argv[1], "inputs": [{"name": "arg0_1", "file": "x.npy"}]}
    json.dump({"schema": "pt2utils.wrong/1", "verdict": "Inductor", "fault": fault}, f)
with open("lost.json", "w") as f:
    json.dump({"schema": "pt2utils.wrong/1", "verdict": "Dynamo", "fault": None}, f)
PY
exits "what run --wrong found is a graph" 0 fxminify --level 1 -q -o found.py wrong.json
like "that one" "$(cat found.py)" 'torch.ops.aten.mul.Tensor\(arg0_1, 3\)'
like "with its values" "$(cat found.py)" "$(python3 -c 'import base64, struct; print(base64.b64encode(struct.pack("<4f", 1.5, -2, 3, 4.25)).decode().rstrip("="))')"
like "its numbers are wrong" "$(cat found.py)" 'accuracy=True'
exits "of a run in which no graph is wrong" 3 fxminify --level 1 lost.json
like "the message says what is" "$(last)" "names no graph whose numbers are wrong: Dynamo"
sed 's/x.npy/wrong.json/' wrong.json >bad.json
exits "an input that is no tensor" 3 fxminify --level 1 bad.json
exits "--graph without a trace is rejected" 2 fxminify --test true --graph 0/0 g50.py
exits "--level 1 converts without reducing" 0 fxminify --level 1 --test false -q g50.py -o whole.txt
is "--level 1 keeps every operation" "$(ops whole.txt)" 50

# ---- what torch writes has no shapes ----
deep=$ROOT/tests/data/minifier/aot_deep/minifier_launcher.py
calls() { grep -c ' = torch\.ops' "$1"; } # of a program
n_tests() { grep -c '"test":' "$1.journal"; }
has() { # OP... : a test that wants all of these computed
	printf '#!/bin/sh\n'
	# shellcheck disable=SC2016 # for the script
	printf 'grep -q " %s = torch" "$1" || exit 1\n' "$@"
}
has relu >one.sh
has relu tanh_2 >two.sh
has relu tanh_2 permute_8 >three.sh
chmod +x ./*.sh
for want in "one 1 20" "two 2 45" "three 3 70"; do
	read -r name nodes most <<<"$want"
	exits "a launcher without annotations, $name" 0 fxminify --test "./$name.sh" -j1 "$deep" -o "$name.py"
	is "$name: only the failing operations are left" "$(calls "$name.py")" "$nodes"
	ok "$name: the failing operations are left" sh "./$name.sh" "$name.py"
	ok "$name: in at most $most tests ($(n_tests "$name.py"))" test "$(n_tests "$name.py")" -le "$most"
	unlike "$name: no shape is guessed" "$(cat "$name.py")" 'GUESSED SHAPES'
	like "$name: shapes come from operator rules" "$(cat err)" "shapes +152 values, by operator rules"
	unlike "$name: no pass makes invalid calls" "$(cat err)" '(arguments|constants|sizes|dtypes|subgraphs) +'
done
like "calls keep their arguments" "$(cat three.py)" 'permute\.default\([a-z0-9_]+, \[1, 0\]\)'
exits "--passes selects passes that make invalid calls" 0 fxminify --test ./three.sh --passes nodes,arguments "$deep" -o three.py
like "the selected pass drops arguments" "$(cat three.py)" 'permute\.default\([a-z0-9_]+\)'
# An operator that is not here leaves open what comes of it.
sed 's/torch\.ops\.aten\.sigmoid\.default/torch.ops.mine.sigmoid.default/' "$deep" >mine.py
exits "shapes that no rule computes" 0 fxminify --test ./one.sh mine.py -o one.py
like "the result marks guessed shapes" "$(cat one.py)" '#: WARNING: GUESSED SHAPES: .*shape unknown, guessed'
like "standard error counts the guesses" "$(cat err)" 'shapes +[0-9]+ values have unknown shapes; .*a guess \(set PT2_PYTHON to ask torch\)'
like "standard error names the first unknown shape and why" "$(cat err)" "no shape +node '[a-z0-9_]+' \(mine\.sigmoid\.default\): unsupported operator"
PT2_PYTHON=$TMP/no_python exits "no torch where PT2_PYTHON says" 0 fxminify --test ./one.sh mine.py -o one.py
like "without torch, a message says why shapes are guessed" "$(cat err)" 'torch could not compute the shapes: .*no_python'
is "with guessed shapes one operation is left" "$(calls one.py)" 1
exits "-o one.json" 0 fxminify --test 'grep -q relu.default' -q "$deep" -o one.json
exits "its JSON can be reduced again" 0 fxminify --test 'grep -q relu.default' -q one.json -o again.json
cat >every.sh <<'EOS'
[ "$(grep -c ' = torch.ops' "$1")" = 132 ]
EOS
chmod +x every.sh
exits "a graph whose operations are all needed" 0 fxminify --test ./every.sh --passes nodes "$deep" -o every.py
like "a message says that nothing could be dropped" "$(cat err)" 'no operation could be dropped: none of [0-9]+ smaller graphs fails like the whole \([0-9]+ pass\)'

# ---- what the original returns ----
returned=$ROOT/tests/data/minifier/aot_returned/minifier_launcher.py
cat >used.sh <<'EOS'
grep -q ' relu = torch' "$1" && grep -qE 'torch\.ops\.[^;]*relu[,)]' "$1" && grep -q 'return (.*relu' "$1"
EOS
chmod +x used.sh
exits "a value that is both returned and used" 0 fxminify --test ./used.sh --passes nodes "$returned" -o used.py
ok "the result still returns and uses it" sh ./used.sh used.py
is "two operations are left" "$(calls used.py)" 2
cat >given.sh <<'EOS'
grep -q 'return (.*primals_3' "$1" && grep -q ' relu = torch' "$1"
EOS
chmod +x given.sh
exits "a returned input" 0 fxminify --test ./given.sh "$repros/aot_forward/minifier_launcher.py" -o given.py
like "it is still returned" "$(grep return given.py)" 'return \(.*primals_3'
is "one operation is left" "$(calls given.py)" 1
exits "outputs that do not matter" 0 fxminify --test 'grep -q relu.default' "$repros/aot_forward/minifier_launcher.py" -o outputs.py
like "a pass drops and counts them" "$(cat err)" 'outputs +1 dropped; 1 test'
like "their inputs are dropped, too" "$(cat outputs.py)" 'def forward\(self, addmm\)'

# ---- what is written ----
exits "-o FILE.dot" 0 fxminify --test "'$bug' far 50" --passes nodes -q g50.py -o small.dot
like "the result is a Graphviz graph" "$(cat small.dot)" '^digraph '
exits "-o FILE.py" 0 fxminify --test "'$bug' far 50" --passes nodes -q g50.py -o small.py
ok "the result is valid Python" python3 -m py_compile small.py
like "the result names the command and the original" "$(cat small.py)" '#: command: fxminify .*#: original: g50.py'
cp small.py repro.py
before=$(sha256sum repro.py)
exits "without -o, repro.py is not the result of repro.py" 0 fxminify --test 'grep -q n45' -q repro.py
is "the original is unchanged" "$(sha256sum repro.py)" "$before"
ok "the result is minified.py" test -s minified.py
exits "-o rejects the original" 2 fxminify --test true -q repro.py -o ./repro.py
like "the message asks for another --output" "$(last)" "^fxminify: './repro.py' is the input file: choose another --output"
exits "--journal rejects the original" 2 fxminify --test true -q repro.py --journal repro.py -o x.py
is "the original is unchanged by --journal" "$(sha256sum repro.py)" "$before"
exits "-o in a missing directory" 4 fxminify --test true -q g50.py -o none/x.txt
is "the error is one line" "$(wc -l <err)" 1
like "the error names the path" "$(last)" '^fxminify: .*none/x.txt'
exits "-o rejects a directory" 2 fxminify --test true -q g50.py -o tmp
is "--no-journal leaves no journal" "$(fxminify --test true -q --no-journal g50.py -o nj.txt; ls nj.txt*)" "nj.txt"

# ---- the form of a program ----
exits "--form plain" 0 fxminify --test 'grep -q relu.default' --form plain --passes nodes -q "$repros/aot_forward/minifier_launcher.py" -o plain.py
ok "a plain program is valid Python" python3 -m py_compile plain.py
like "a plain program is a function and its call" "$(cat plain.py)" 'import torch.*def f\([xyz, ]*\):.*torch\.relu\(.*x = torch\.tensor\(.*torch\.compile\(f\)\([xyz, ]*\)'
like "a plain program has the failure and the command" "$(cat plain.py)" '# failure: the test command exits with status 0.*# made by fxminify [0-9.]+: fxminify --test'
exits "--form plain without -q" 0 fxminify --test 'grep -q relu.default' --form plain --passes nodes "$repros/aot_forward/minifier_launcher.py" -o plain.py
like "standard error says that it was not run" "$(cat err)" 'no: it was not run'
exits "without --form" 0 fxminify --test 'grep -q relu.default' --passes nodes -q "$repros/aot_forward/minifier_launcher.py" -o launcher.py
like "the result is a launcher" "$(cat launcher.py)" 'run_repro'
exits "--form plain for AOTInductor" 0 fxminify --level 1 --form plain -q "$repros/aoti/minifier_launcher.py" -o plain.py
like "the plain program exports and compiles a package" "$(cat plain.py)" 'class M\(torch.nn.Module\).*torch.export.export\(M\(\), .*aoti_compile_and_package\(program.*aoti_load_package'
exits "--form plain after dynamo" 0 fxminify --level 1 --form plain -q "$repros/dynamo_dynamic/minifier_launcher.py" -o plain.py
like "the plain program names the backend" "$(cat plain.py)" "torch.compile\\(f, backend='failing'\\)"
exits "--form plain for a user's Triton kernel" 0 fxminify --test 'grep -q kernel_side' --form plain --max-tests 1 "$repros/triton.py" -o triton-plain.py
like "the result is a launcher that says why" "$(cat triton-plain.py)" "#: not a plain program: it has a user's Triton kernel.*run_repro"
exits "an invalid --form" 2 fxminify --test true --form nice g50.py

# ---- extract ----
part() { sed -n '/^def f/,/^$/p' extract.py | tr '\n' ' '; } # the function
exits "extract --node" 0 fxminify extract --node n30 --radius 0 --no-values g50.py
like "only that node is extracted" "$(part)" 'def f\([xyz, ]*\):     return [^;]*  $'
like "standard error counts operations and inputs" "$(cat err)" 'extract.py: 1 of 50 operations, [12] input'
exits "extract --node of a launcher, which has no shapes" 0 fxminify extract --node relu --radius 0 --no-values "$repros/aot_forward/minifier_launcher.py"
like "they come from the operators' rules" "$(cat err)" 'shapes +[0-9]+ values, by operator rules.* extract.py: 1 of 5 operations'
sed 's/aten\.addmm\.default/mylib.mine.default/' "$repros/aot_forward/minifier_launcher.py" >unknown.py
exits "extract --node with unknown shapes" 0 fxminify extract --node relu --radius 0 --no-values unknown.py
like "a message says how much more was included" "$(cat err)" 'included 1 more operation, whose values cannot be inputs: .*mine'
exits "extract --radius 1" 0 fxminify extract --node relu --no-values -q "$repros/aot_forward/minifier_launcher.py"
like "neighbours are included" "$(part)" 'addmm.*relu.*sum_1.*le'
exits "extract --from and --to" 0 fxminify extract --from permute --to relu --no-values -q "$repros/aot_forward/minifier_launcher.py"
like "the nodes in between are extracted" "$(part)" 'addmm = torch.addmm\(.*return torch.relu\(addmm\)'
exits "extract --to" 0 fxminify extract --to addmm --no-values -q "$repros/aot_forward/minifier_launcher.py"
like "all its inputs are included" "$(part)" 'permute = .*return torch.addmm'
exits "extract --from an input" 0 fxminify extract --from primals_1 --no-values -q "$repros/aot_forward/minifier_launcher.py"
like "all its users are included" "$(part)" 'permute.*addmm.*relu'
for f in "$ROOT/tests/data/export/mlp.pt2" far.json "$repros/aoti/minifier_launcher.py" "$repros/old_aot_1_13.py" g50.py; do
	node=$(fxminify extract --node '?' --no-values "$f" 2>&1 | grep -oE '[a-z_0-9]+, \.\.\.$|[a-z_0-9]+$' | head -1 | cut -d, -f1)
	exits "$(basename "$f"): extract" 0 fxminify extract --node "$node" --radius 2 --no-values -q "$f" -o ex.py
	ok "$(basename "$f"): a program" python3 -m py_compile ex.py
done
exits "extract --graph from a trace" 0 fxminify extract --graph "$id" --node "$(fxminify extract --graph "$id" --node '?' --no-values "$DATA/graph_breaks.log" 2>&1 | grep -oE '[a-z_0-9]+$')" --no-values -q \
	"$DATA/graph_breaks.log" -o ex.py
exits "extract -o x.json" 0 fxminify extract --node n30 --no-values -q g50.py -o x.json
ok "the extracted graph is valid JSON" python3 -m json.tool x.json
exits "extract -o -" 0 fxminify extract --node n30 --no-values -q g50.py -o -
like "the program goes to standard output" "$(cat out)" 'def f\('
exits "extract --form launcher" 0 fxminify extract --node n30 --no-values --form launcher -q g50.py -o ex.py
like "the launcher calls run_repro" "$(cat ex.py)" 'run_repro'
printf '#!/bin/sh\nexit 1\n' >nopython && chmod +x nopython
exits "extract without a Python that has torch" 5 fxminify extract --node sin --python ./nopython -q "$repros/aot_strides/minifier_launcher.py" -o ex.py
like "a message says that input values are random" "$(cat err)" 'input values are random, not recorded: '
ok "the program is written anyway" python3 -m py_compile ex.py
exits "extract rejects an unknown node" 2 fxminify extract --node mulx --no-values g50.py
like "the message lists nodes" "$(last)" "'g50.py' has no node 'mulx'; it has "
exits "extract rejects --from and --to without a path between them" 2 fxminify extract --from n45 --to n5 --no-values g50.py
like "the message says that one does not depend on the other" "$(last)" "'n5' does not depend on 'n45'"
exits "extract without --node, --from or --to" 2 fxminify extract --no-values g50.py
exits "extract rejects --node with --to" 2 fxminify extract --node n3 --to n5 --no-values g50.py
exits "extract rejects options for reducing" 2 fxminify extract --node n3 --test true g50.py
exits "extract with a missing file" 3 fxminify extract --node n3 none.py

# ---- limits and passes ----
exits "--passes selects passes" 0 fxminify --test "'$bug' single 50" --passes nodes,sizes g50.py -o p.txt
unlike "only the selected passes run" "$(cat err)" 'Forget values|Consolidate'
exits "an unknown pass is rejected" 2 fxminify --test true --passes nodes,nothing g50.py
exits "--max-granularity" 0 fxminify --test "'$bug' single 50" --max-granularity 4 --passes nodes g50.py -o p.txt
is "--max-granularity finds the same result" "$(ops p.txt)" 1
ok "--max-granularity limits the step" python3 -c '
import json
ops = [json.loads(l)["ops"] for l in open("p.txt.journal") if "\"test\"" in l and "fails-same" in l]
assert max(a - b for a, b in zip(ops, ops[1:])) <= 4, ops'
exits "--max-tests" 0 fxminify --test "'$bug' far 1000" --max-tests 7 -j1 g1000.py -o p.txt
is "--max-tests limits the tests" "$(grep -c '"test":' p.txt.journal)" 7
like "a message says that it ran out of tests" "$(cat err)" 'stopped +out of tests'
ok "the best result so far fails" "$bug" far 1000 p.txt
exits "--max-time" 0 fxminify --test "sleep 0.2; '$bug' far 1000" --max-time 1 -j1 g1000.py -o p.txt
like "a message says that it ran out of time" "$(cat err)" 'stopped +out of time'
cat >flaky.sh <<'EOS'
echo >>"$COUNT"
[ $(($(wc -l <"$COUNT") % 3)) = 0 ] && exit 1
exec "$BUILD/tests-lib/predicate" single 50 "$1"
EOS
chmod +x flaky.sh
COUNT=$TMP/count exits "--repeat, a failure that comes and goes" 0 fxminify --test ./flaky.sh --repeat 3 -j1 --passes nodes g50.py -o p.txt
is "a flaky test: the operation is found" "$(ops p.txt) $(grep -c ' n30[: ]' p.txt)" "1 1"
like "the journal says flaky" "$(cat p.txt.journal)" '"verdict":"flaky"'
cat >sees.sh <<'EOS'
[ "$(basename "$1")" = g50.py ] && [ "$(ls)" = g50.py ] && [ "$(dirname "$1")" = "$(pwd -P)" ] || exit 125
echo more >another
exec "$BUILD/tests-lib/predicate" single 50 "$1"
EOS
chmod +x sees.sh
exits "the test command sees its relative path, an empty directory and the input's name" 0 fxminify --test ./sees.sh -q --passes nodes g50.py -o p.txt
is "the relative command works" "$(ops p.txt)" 1
is "no directory is left" "$(left)" ""

# ---- side by side ----
exits "--jobs 4" 0 fxminify --test "'$bug' single 200 \"\$1\"; s=\$?; [ \$s = 0 ] || sleep 77.7$$; (exit \$s) #" --jobs 4 --passes nodes g200.py -o p.txt
is "--jobs 4 finds the same result" "$(ops p.txt)" 1
is "--jobs 4: cancelled tests are killed" "$(running "sleep 77\.7$$")" ""
is "--jobs 4: no directory is left" "$(left)" ""
for i in 1 2; do
	run fxminify --test "'$bug' far 200" -j1 g200.py -o p.txt
	sed 's/"at":[0-9.]*//; s/"seconds":[0-9.]*//' p.txt.journal >journal$i
	cp p.txt result$i
done
ok "-j1 runs the same tests each time" cmp journal1 journal2
ok "-j1 gives the same result each time" cmp result1 result2
is "no candidate is tested twice" "$(keys p.txt.journal)" ""

# ---- tests that cannot be made ----
exits "--timeout" 0 fxminify --test "'$bug' single 50 \"\$1\" || sleep 77.8$$ #" --timeout 1 -j4 --max-tests 6 --passes nodes g50.py -o p.txt
is "--timeout kills a hanging command" "$(running "sleep 77\.8$$")" ""
exits "an original that hangs" 0 fxminify --test "'$bug' single 50 \"\$1\" && sleep 77.9$$ #" --timeout 1 -j4 --max-tests 5 --passes nodes g50.py -o p.txt
like "hanging is the failure: other candidates pass" "$(cat p.txt.journal)" '"verdict":"fails-same","outcome":"timeout".*"verdict":"passes"'
is "no process is left" "$(running "sleep 77\.9$$")" ""
exits "--max-memory that is too small" 4 fxminify --test "python3 -c 'x = bytearray(1 << 29)' || exit 125; true" --max-memory 100M -q g50.py -o p.txt
exits "--max-memory that is large enough" 0 fxminify --test "python3 -c 'x = bytearray(1 << 20)' || exit 125; true" --max-memory 1G -q --max-tests 3 g50.py -o p.txt
exits "a missing test command" 4 fxminify --test no_such_command g50.py -o p.txt
like "the message says that it was not found" "$(last)" '^fxminify: cannot test the original: .*no_such_command.*not found'
exits "a missing test file" 2 fxminify --test ./no_such_file g50.py -o p.txt
exits "status 125 means undecided" 4 fxminify --test 'exit 125 #' -q g50.py -o p.txt
exits "a test killed by a signal" 4 fxminify --test 'kill -9 $$ #' -q g50.py -o p.txt
like "the message names the signal" "$(last)" 'SIGKILL|signal 9|Killed'
exits "an original that does not fail" 1 fxminify --test 'echo fine here; false #' -q g50.py -o none.txt
like "the message has what the test printed" "$(last)" '^fxminify: the original does not fail: .*fine here'
ok "there is no result" test ! -e none.txt
is "no directory is left after that" "$(left)" ""

# ---- signals ----
cat >slow.sh <<EOS
if [ "\$SLOW_AFTER" ]; then # kill.py has the time to kill, whatever else the machine does
	echo >>"\$SLOW_COUNT"
	[ "\$(wc -l <"\$SLOW_COUNT")" -le "\$SLOW_AFTER" ] || sleep 5.0378$$
fi
sleep 0.0378$$
exec "$BUILD/tests-lib/predicate" triple 1000 "\$1"
EOS
chmod +x slow.sh
cat >kill.py <<'EOS'
import os, signal, subprocess, sys, time
sig, tests, args = getattr(signal, sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
slow = {"SLOW_AFTER": sys.argv[2], "SLOW_COUNT": os.path.abspath(f"count.{os.getpid()}")}
p = subprocess.Popen(["fxminify", *args], stderr=open("err", "w"), start_new_session=True, env={**os.environ, **slow})
journal = next(a[10:] for a in args if a.startswith("--journal="))
def n():
    try:
        return open(journal).read().count('"test":')
    except OSError:
        return 0
while n() < tests and p.poll() is None:
    time.sleep(0.005)
p.send_signal(sig)
print(p.wait(timeout=30))
EOS
is "SIGINT: status 1" "$(python3 kill.py SIGINT 9 --test ./slow.sh -j2 --journal=int.journal g1000.py -o int.txt)" 130
like "SIGINT: a message names the best result" "$(cat err)" 'interrupted; best so far in int.txt'
like "SIGINT: and how to go on" "$(cat err)" 'to continue: fxminify --resume int.journal'
ok "SIGINT: the best result fails" "$bug" triple 1000 int.txt
is "SIGINT: no directory is left" "$(left)" ""
is "SIGINT: no process is left" "$(running "sleep [05]\.0378$$|slow\.sh.*$TMP")" ""
like "SIGINT: the journal says interrupted" "$(tail -1 int.journal)" '"end":"interrupted"'
fxminify --test "'$bug' triple 1000" -q -j1 --passes nodes g1000.py -o want.txt
for at in 1 7 30; do
	rm -f res.txt*
	is "kill -9 after test $at" "$(python3 kill.py SIGKILL $at --test ./slow.sh -j1 --passes=nodes --journal=res.txt.journal g1000.py -o res.txt)" -9
	for _ in $(seq 200); do [ "$(running "sleep [05]\.0378$$|slow\.sh.*$TMP")" ] || break; sleep 0.05; done
	is "the killed run's tests end" "$(running "sleep [05]\.0378$$|slow\.sh.*$TMP")" ""
	exits "--resume after kill -9" 0 fxminify --resume res.txt.journal
	is "--resume repeats no test" "$(keys res.txt.journal)" ""
	ok "--resume finds the same result" cmp res.txt want.txt
done
# The way to where it was is gone in memory: what is on disk is never replaced by less.
rm -f res.txt* # kill.py counts what is in the journal
python3 kill.py SIGKILL 20 --test ./slow.sh -j1 --passes=nodes --journal=res.txt.journal g1000.py -o res.txt >/dev/null
had=$(ops res.txt)
exits "--resume that stops after one test" 0 fxminify --resume res.txt.journal --max-tests 1
like "it says how to go on" "$(cat err)" 'stopped .*to continue: fxminify --resume res.txt.journal'
ok "its result is not larger than before" test "$(ops res.txt)" -le "$had"
cp res.txt small-one
sed -i 's/"key":"[0-9a-f]*"/"key":"1"/' res.txt.journal # as if other questions were asked this time
exits "--resume that stops before it finds a smaller result" 0 fxminify --resume res.txt.journal --max-tests 2
ok "it keeps the better result" cmp res.txt small-one
rm -rf "${TMPDIR:?}"/* # a process that is killed leaves its folder
head -c -30 res.txt.journal >cut.journal
exits "--resume with an incomplete line in the journal" 0 fxminify --resume cut.journal
like "a message says which command the journal runs" "$(cat err)" "--resume runs code from the journal 'cut.journal': the command ./slow\.sh"
exits "--resume -q" 0 fxminify -q --resume cut.journal
is "--resume -q prints nothing" "$(cat err)" ""
sed '1s|"--test"|"-q","--test"|' cut.journal >hush.journal
exits "a -q in the journal does not silence --resume" 0 fxminify --resume hush.journal
like "--resume names the journal's command" "$(cat err)" "'hush.journal': the command ./slow\.sh"
like "-h warns about journals" "$(fxminify -h | tr -s '\n ' ' ')" "so is what a journal names"
exits "--stats with an incomplete line" 0 fxminify --stats cut.journal
like "--stats counts unreadable lines" "$(cat out)" '1 line of the journal could not be read'
exits "--stats" 0 fxminify --stats int.journal
like "--stats sums up the run" "$(cat out)" 'g1000.py: [0-9]+ tests in .*interrupted.*strategy .*Truncate suffix.*fails-same'
exits "--stats rejects another file" 3 fxminify --stats g50.py
like "the message says that it is not a journal" "$(last)" "'g50.py' is not an fxminify journal"
echo '# changed' >>g1000.py
exits "--resume rejects a changed input" 3 fxminify --resume int.journal
like "the message says that it was changed" "$(last)" 'it was changed'
exits "--resume with an input file is rejected" 2 fxminify --resume int.journal g50.py
exits "--resume with a missing journal" 3 fxminify --resume none.journal

# ---- files that are none ----
: >empty.py
exits "an empty file" 3 fxminify --test true empty.py
is "its error is one line" "$(wc -l <err)" 1
head -c 5000 /dev/urandom >random.bin
exits "a file of random bytes" 3 fxminify --test true random.bin
is "its error is one line, too" "$(wc -l <err)" 1
exits "a binary" 3 fxminify --test true "$BUILD/bin/fxminify"
exits "a directory" 3 fxminify --test true "$ROOT"
sed 's/def forward/def foreward/' "$repros/aot_forward/minifier_launcher.py" >broken.py
exits "a program without forward" 3 fxminify --test true broken.py
sed 's/reader.tensor(buf0/reader.tensor(buf77/' "$repros/aot_forward/minifier_launcher.py" >broken.py
exits "an input without storage" 3 fxminify --test true broken.py
like "the error names the line" "$(last)" "broken.py' line [0-9]+: 'buf77'"
sed 's/n3: /n99999: /' g50.py >order.py
exits "an undefined name" 3 fxminify --test true order.py
python3 - <<'EOS'
lines = open("g50.py").read().split("\n")
lines[10], lines[20] = lines[20], lines[10]
open("order.py", "w").write("\n".join(lines))
EOS
exits "nodes out of order" 3 fxminify --test true order.py
like "the error names the line of the node" "$(last)" "order.py.*line [0-9]+"
sed 's/aten\.relu/nonesuch.no_such_op/' g50.py >unknown.py
exits "an unknown operator" 0 fxminify --test "'$bug' single 50" -q unknown.py -o p.txt
exits "an invalid option" 2 fxminify --nonesuch g50.py
exits "a missing operand" 2 fxminify --test true
exits "--test with --locate is rejected" 2 fxminify --test true --locate g50.py
exits "a missing input file" 3 fxminify --test true none.py

# ---- large ----
if nm "$BUILD/bin/fxminify" 2>/dev/null | grep -q __asan_init; then
	skip "50 MB are read in bounded time and memory" "sanitizers"
else
	python3 - <<'EOS'
with open("large.py", "w") as f:
    f.write('class GraphModule(torch.nn.Module):\n    def forward(self, x: "f32[8, 8]"):\n        n0: "f32[8, 8]" = torch.ops.aten.relu.default(x)\n')
    pad = "# " + "x" * 190 + "\n"
    for i in range(1, 200000):
        f.write(f'        n{i}: "f32[8, 8]" = torch.ops.aten.add.Tensor(n{i - 1}, n{i - 1})\n')
        f.write("        " + pad)
    f.write("        return (n199999,)\n")
EOS
	ok "the input has 50 MB" test "$(stat -c %s large.py)" -gt 50000000
	run timeout 120 bash -c 'ulimit -v 1500000; exec fxminify --test true --max-tests 1 -q large.py -o large.txt'
	is "50 MB are read in bounded time and memory" "$status $(head -1 err)" "0 "
	rm -f large.*
fi

# ---- no room ----
mkdir small
if mount -t tmpfs -o size=64k none small 2>/dev/null; then
	TMPDIR=$TMP/small exits "no room for tests" 4 fxminify --test true -q g1000.py -o p2.txt
	is "a full disk: the error is one line" "$(wc -l <err)" 1
	like "the error says that no space is left" "$(last)" 'No space left'
	is "nothing is left on the full disk" "$(ls small)" ""
	head -c 60000 /dev/zero >small/fill
	exits "a full disk for the result" 4 fxminify --test "'$bug' far 1000" -q g1000.py -o small/r.txt --journal p2.journal
	like "the error names the result" "$(last)" 'small/r.txt.*No space left'
	is "no partial result is left" "$(ls small)" fill
	rm small/fill
	exits "a full disk for the journal" 0 fxminify --test "'$bug' far 200" -j1 g200.py -o p2.txt --journal small/j
	umount small
else
	skip "a full disk" "cannot mount a tmpfs"
fi
is "no directory is left after all" "$(left)" ""
done_testing
