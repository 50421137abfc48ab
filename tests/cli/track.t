#!/bin/bash
# scripts/track without a torch: two installed trees that differ in known places, pages of two runs, and traces in which something was planted.
# shellcheck source=tests/lib/tap.sh disable=SC2016
. "$(dirname "$0")/../lib/tap.sh"
export BUILD TRACK_DIR=$TMP/track TRACK_KEPT=$TMP/kept
track=$ROOT/scripts/track
mkdir track

# tree NAME SED : a site-packages folder with what is read of one; SED makes it another release
tree() {
	local at=$1/torch runtime=$1/torch/include/torch/csrc/inductor/aoti_runtime shim=$1/torch/include/torch/csrc/inductor/aoti_torch/c
	mkdir -p "$at"/{_dynamo/repro,_inductor/codegen,_functorch,_logging,_export/serde,lib} "$runtime" "$shim"
	echo "__version__ = '2.77.0'" >"$at/version.py"
	cat >"$at/_logging/new.py" <<-'END'
		KIND = "old_kind"
		def f(x):
		    trace_structured(KIND, metadata_fn=lambda: {})
		    trace_structured("artifact", metadata_fn=lambda: {"name": f"pass_{x}", "encoding": "string"})
		    with dynamo_timed("old_phase"):
		        trace_structured_artifact("fixed", "json")
	END
	echo 'register_artifact("old_log", "help")' >"$at/_logging/_registrations.py"
	printf 'class CompilationMetrics:\n    old_field: int\nclass Other:\n    not_read: int\n' >"$at/_dynamo/utils.py"
	echo '{"GB0001": [{"Gb_type": "old break"}], "GB0002": [{"Gb_type": "reworded"}]}' >"$at/_dynamo/graph_break_registry.json"
	for name in _dynamo _inductor _functorch; do printf 'kept = 1\nclass aot:\n    old_default: int = 2\n' >"$at/$name/config.py"; done
	echo 'AOTI_TORCH_EXPORT AOTITorchError aoti_torch_cpu_old(AtenTensorHandle self, AtenTensorHandle* ret0);' >"$shim/shim.h"
	echo 'AOTIRuntimeError AOTInductorModelOld(int x);' >"$runtime/interface.h"
	printf '#define AOTI_OLD 1\n// "in a comment, not read"\nchar *s = "dtype is not what was expected";\n' >"$runtime/utils.h"
	printf '"""docstring with assert_nothing"""\nx = f"assert_old({1})"\n' >"$at/_inductor/codegen/cpp_wrapper_cpu.py"
	printf 'SCHEMA_VERSION = (8, 20)\nclass Node:\n    target: str\n' >"$at/_export/serde/schema.py"
	printf 'x = "load_args._version = 0"\n' >"$at/_dynamo/repro/after_aot.py"
	printf 'junk\0Cannot load AOTInductor package: old\0more' >"$at/lib/libtorch_cpu.so"
	[ -z "$2" ] || find "$1" -type f -exec sed -i "$2" {} +
}
tree old ""
tree new 's/old/new/g; s/ModelOld/ModelNew/; s/"reworded"/"said otherwise"/; s/pass_/step_/; s/8, 20/8, 21/; s/int x/int y/; s/= 2$/= 3/; s/_new_default: int = 3/&/; s/was expected/is wanted/; s/_version = 0/_version = 1/'
run "$track" --compare old new
is "two trees are compared" "$status" 0
# has SECTION LINE : of the page
has() { is "$1" "$(sed -n "/^### $1\$/,/^###/p" out | grep '^- \(new\|gone\|changed\),')" "$2"; }
both() { printf -- '- new, 1: `%s`\n- gone, 1: `%s`' "$2" "$1"; } # both OLD NEW
has "Structured record kinds" "- new, 1: \`new_kind\`
- gone, 1: \`old_kind\`"
has "Artifact names" "$(both 'pass_*' 'step_*')"
has "Names of TORCH_LOGS" "$(both old_log new_log)"
has Phases "$(both old_phase new_phase)"
has "CompilationMetrics fields" '- new, 1: `CompilationMetrics.new_field` (`int`)
- gone, 1: `CompilationMetrics.old_field` (`int`)'
has "Graph-break registry" '- changed, 2: `GB0001` (`old break`, now `new break`); `GB0002` (`reworded`, now `said otherwise`)'
has "Functions of the C interface" '- new, 1: `aoti_torch_cpu_new` (`TR`)
- gone, 1: `aoti_torch_cpu_old` (`TR`)'
has "Functions that models export" "$(both AOTInductorModelOld AOTInductorModelNew)"
has "Words of wrappers" "$(both assert_old assert_new)"
has "Runtime in every model" '- new, 1: `"dtype is not what is wanted"`
- gone, 1: `"dtype is not what was expected"`'
has "Messages of the loader" "$(both 'Cannot load AOTInductor package: old' 'Cannot load AOTInductor package: new')"
like "defaults that changed" "$(sed -n '/^### Config/,/^###/p' out)" '`_inductor.aot.new_default` \(`3`\).*gone, 3'
has "Export schema" '- changed, 1: `SCHEMA_VERSION` (`(8, 20)`, now `(8, 21)`)'
has "Lines of launchers" "$(both 'load_args._version = 0' 'load_args._version = 1')"
run "$track" --compare new new
is "a second run has nothing new" "$(grep -c '^- nothing new of' out; grep -cE '^- (new|gone|changed)' out)" "$(grep -c '^###' out)
0"

# Pages of two runs.
page() { # page VERSION DATE PROBLEM
	jq -n --arg of "$1" --arg date "$2" --arg problem "$3" '{torch: ($of + "+cpu"), date: $date, commit: "abc", models: {m: "g", n: "g"}, not_compiled: {}, not_traced: {q: "no module z"}, programs: {p: "0"},
		installed: {Phases: {a: ""}}, made: {Packages: {m: ["x"], n: ["y"]}}, checks: {"pt2-run: runs": {m: "", n: $problem}, "tlparse: counts": {p: ""}}}'
}
page 2.77.0 2030-01-01 "" >track/2.77.0.json
exits "--keep" 0 "$track" --keep 2.77.0
page 2.77.0 2030-01-02 "status 4: new \`op\`" >track/2.77.0.json
mv track/2.77.0.json now.json
exits "--diff with a single run is rejected" 4 "$track" --diff 2.77.0
like "the message says so" "$(cat err)" "of 2.77.0 before none is kept"
cp now.json track/2.77.0.json
exits "--keep, again" 0 "$track" --keep 2.77.0
is "the previous run is kept" "$(cd kept && echo *)" "2.77.0.before.json.xz 2.77.0.json.xz"
rm track/*
exits "--diff of kept runs" 0 "$track" --diff 2.77.0
is "failures since then are listed" "$(grep '^- ' out)" '- changed, 1: `n` (`ok`, now `` status 4: new `op` ``)'
is "the runs' dates are shown" "$(head -1 out)" "# torch 2.77.0 (2030-01-01, commit abc) and 2.77.0 (2030-01-02, commit abc)"
page 2.77.0 2030-01-01 "" | jq . >track/2.77.0.before.json
cp track/2.77.0.before.json track/2.77.0.json
like "what was run here comes first; or nothing changed" "$("$track" --diff 2.77.0)" "2030-01-01.*2030-01-01.*nothing changed"
page 2.9.0 2030-01-03 "x of torch before 2.14 have none" | jq '.installed.Phases = {b: ""} | .checks["aoti-checkinputs: it takes what was exported"] = {lstm: "4 dims", m: ""}' >track/2.12.0.json
exits "--diff of two releases" 0 "$track" --diff 2.12.0 2.77.0
like "releases are compared item by item" "$(cat out)" 'Phases:.- new, 1: `b`.- gone, 1: `a`'
exits "--diff of a release that was not run" 4 "$track" --diff 2.78.0
like "the message says how to run it" "$(cat err)" "of 2.78.0 none is kept: make track TORCH=2.78.0"
sed -i 's/2.9.0/2.12.0/' track/2.12.0.json
exits "--keep of part of the checks" 0 "$track" --keep 2.12.0
rm track/*
run "$track" --table
like "the table has every kept release, old ones and torch's own failures" "$(cat out)" \
	'\| 2.12.0\+cpu \| 2 \| 1 \| 1 of 2, 1 too old \| all 2 \| .*\| 2.77.0\+cpu \| 2 \| 1 \| 1 of 2 \| .*all 1 \| 2030-01-02, abc \|.*lstm: `4 dims`: torch.s own: .*n: .*status 4: new .*q leaves no trace: `no module z`'
exits "--keep of a release that was not run" 4 "$track" --keep 2.12.0
# What is kept with the sources: the table is of it, and what was found by hand of 2.15 with the tools of 4835b94 the checks find by themselves.
is "docs/user/VERSIONS.md matches the kept runs" "$(TRACK_KEPT=$ROOT/tests/data/track "$track" --table | cmp - "$ROOT/docs/user/VERSIONS.md" 2>&1)" ""
TRACK_KEPT=$ROOT/tests/data/track exits "track-diff of a checkout" 0 "$track" --diff 2.15.0
like "a missing library is found" "$(cat out)" 'aoti-nanassert: runs.*`mlp` \(`[^`]*libtorch.so: cannot open[^`]*; with an empty one: runs`, now `ok`\)'
like "behind it, an output that is None" "$(cat out)" '`none_out` \(`[^`]*libtorch.so: cannot open[^`]*; with an empty one: [^`]*SIGSEGV'
like "a wrong accusation is found" "$(cat out)" '`fft` \(`3 kernel and op calls in the text, 0 in the binary`, now `ok`\)'
like "text that is not understood is found" "$(cat out)" '`bert` \(`line 1573: not understood: assert_alignment'
like "defaults mistaken for settings are found" "$(cat out)" '`fine` \(`` `torch._dynamo.config.use_lamba_guard_for_object_aliasing = false`'
exits "usage" 2 "$track"
exits "a program that is none" 2 "$track" --programs=simple,nosuch 2.77.0
like "is named" "$(cat err)" "no such program: nosuch"
exits "a Python without that torch" 4 env TRACK_PYTHON=/bin/false "$track" 2.77.0
like "is named" "$(cat err)" "/bin/false has no torch 2.77.0.*TRACK_PYTHON"

# Installing, from a folder of wheels: the newest transformers that wants no newer torch. This torch can make no zoo.
if python3 -c 'import ensurepip, venv' 2>/dev/null; then
	python3 - <<-'END'
		import zipfile
		def wheel(name, version, text="", meta=""):
		    with zipfile.ZipFile(f"{name}-{version}-py3-none-any.whl", "w") as z:
		        info = f"{name}-{version}.dist-info/"
		        files = {f"{name}/__init__.py": text, info + "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{meta}",
		            info + "WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
		        for path, data in (files | {info + "RECORD": "".join(f"{p},,\n" for p in [*files, info + "RECORD"])}).items():
		            z.writestr(path, data)
		wheel("numpy", "1.0")
		for version in "2.76.0", "2.77.0":
		    wheel("torch", version, f"__version__ = '{version}+cu1'\n")
		for version, wants in ("4.1", "2.70"), ("5.0", "2.77.1"):
		    wheel("transformers", version, meta=f"Provides-Extra: torch\nRequires-Dist: torch>={wants}; extra == 'torch'\n")
	END
	exits "a torch is installed" 4 env -u PYTHONPATH -u PYTHONHOME PIP_CONFIG_FILE=/dev/null PIP_NO_INDEX=1 PIP_FIND_LINKS="$TMP" PIP_DISABLE_PIP_VERSION_CHECK=1 TRACK_DIR="$TMP/made" "$track" --few 2.77.0
	like "which can make no zoo" "$(cat err)" "installing torch 2.77.0.*the zoo cannot be made with .*made/2.77.0/venv/bin/python"
	is "with the newest transformers for it" "$(cd made/2.77.0/venv/lib/python3*/site-packages && echo torch-* transformers-*)" "torch-2.77.0.dist-info transformers-4.1.dist-info"
	exits "none such: said so" 4 env -u PYTHONPATH -u PYTHONHOME PIP_CONFIG_FILE=/dev/null PIP_NO_INDEX=1 PIP_FIND_LINKS="$TMP" TRACK_DIR="$TMP/made" "$track" 2.78.0
	like "the message names the release" "$(cat err)" "torch 2.78.0 cannot be installed in .*made/2.78.0/venv"
else
	skip "installing" "python3 has no ensurepip"
fi

# One fault hides no other: a program whose library is not there, and that fails where it is.
echo 'int main(void) { return 7; }' >lacks.c
if ${CC:-cc} -shared -o libgone.so -x c /dev/null 2>/dev/null && ${CC:-cc} -o lacks lacks.c -Wl,--no-as-needed -L. -lgone; then
	rm libgone.so
	beyond() { PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$ROOT/scripts/track.d python3 -c 'import checks, sys; print(checks.beyond("./lacks", ok=[int(sys.argv[1])])[1])' "$@"; }
	like "a missing library and what it hides are reported" "$(beyond 0)" 'status 127: .*libgone.so: cannot open shared object file.*; with an empty one: status 7'
	like "or that it hides nothing" "$(beyond 7)" 'libgone.so: .*; with an empty one: runs'
else
	skip "what is behind a missing library" "no program can be linked here"
fi

# The checks of traces: a recorded one passes, with something planted they say so.
mkdir -p rec/{time_inside,prints,hop}/trace
cp "$DATA/v215_hop.log" rec/hop/trace/b.log
tar -xJf "$ROOT/tests/data/causes/v215.tar.xz" ./time_inside/trace
cp time_inside/trace/*.log rec/time_inside/trace/a.log
{ cat rec/time_inside/trace/a.log; echo 'V1122 10:00:00.000001 77 torch/x.py:1] {"a_new_key": {"x": 1}}'; } >rec/prints/trace/a.log
traces() { # traces FOLDER BREAK...
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$ROOT/scripts/track.d PATH=$BUILD/bin:$PATH python3 -c 'import checks, pathlib, sys
for check, found in checks.traces(at := pathlib.Path(sys.argv[1]), [p.name for p in at.iterdir()], pathlib.Path("dirs"), set(sys.argv[2:])).items():
    print(check, {s: p for s, p in found.items() if p})' "$@"
}
mapfile -t ids < <(grep -oh '/gb/gb[0-9]*' rec/*/trace/*.log | sed 's|.*/gb|GB|' | sort -u)
traces rec "${ids[@]}" >checked
is "only the planted problems are found" "$(grep -v '{}$' checked)" "tlparse: 0 unknown keys, 0 damaged {'prints': 'a_new_key'}
fxexplain: 0 unknown keys, 0 damaged {'prints': 'a_new_key'}"
is "every check was made" "$(wc -l <checked)" 10
like "a graph break that the registry lacks" "$(traces rec GB9999)" "in the registry .'prints': 'GB.*'time_inside': 'GB"
mkdir -p bad/fine/trace
echo "no trace" >bad/fine/trace/c.log
like "a log that a tool rejects is a problem" "$(traces bad)" "tlparse: counts are the independent counter's .'fine': .*status 3"
done_testing
