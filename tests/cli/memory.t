#!/bin/bash
# Compressed packages: written anew by a zip program they give the same answers, written to exhaust memory they cost little of it.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
P=$DATA/aoti
export TMPDIR=$TMP/tmp
mkdir "$TMPDIR" stored deflated
deflated() { python3 "$ROOT/tests/lib/deflated.py" "$@" || exit 4; }
inputs() { local i; for i in $(unzip -Z1 "$ROOT/tests/data/aoti/io/$1.npz" 'in*' | sed 's/[^0-9]//g' | sort -n); do echo "$ROOT/tests/data/aoti/io/$1.pt:inputs[$i]"; done; }
mapfile -t mlp < <(inputs mlp_provenance)
mapfile -t blob < <(inputs weights_blob)

# ---- the same answers ----
xz -dc "$ROOT/tests/data/crash/crash.pt2.xz" >stored/crash.pt2
cp "$P/mlp_provenance.pt2" "$P/weights_blob.pt2" stored
cp "$ROOT/tests/data/export/mlp.pt2" stored/exported.pt2
for file in stored/*; do
	deflated "$file" "deflated/${file##*/}"
	ok "${file##*/} is compressed" test -z "$(unzip -Zv "deflated/${file##*/}" 2>/dev/null | grep -F 'none (stored)')"
done
# same COMMAND... : in either folder, with the same status and output
same() {
	(cd stored && "$@" >../want 2>&1)
	local want=$?
	(cd deflated && "$@" >../got 2>&1)
	is "$1 $2 $3: the same status, not a failure" "$? $((want > 1))" "$want 0"
	ok "... and the same output" cmp -s got want
}
same aoti-checkinputs mlp_provenance.pt2 "${mlp[@]}"
same aoti-checkinputs --json mlp_provenance.pt2
same aoti-checkinputs --doctor --torch=none mlp_provenance.pt2
same aoti-checkinputs --probe mlp_provenance.pt2
same aoti-checkinputs --against exported.pt2 mlp_provenance.pt2
same fxexplain kernel cpp_fused_relu_0 mlp_provenance.pt2
same fxexplain crash "$ROOT/tests/data/crash/expand.txt" crash.pt2
same fxminify -q -j1 --test 'grep -q relu' exported.pt2 -o -
same pt2-run weights_blob.pt2 "${blob[@]}"
same aoti-printer --level 3 mlp_provenance.pt2 "${mlp[@]}"
same aoti-nanassert mlp_provenance.pt2 "${mlp[@]}"
is "no temporary file is left" "$(ls -A "$TMPDIR")" ""

# ---- little memory ----
size=100 # more than what is read at most
no_limit=
nm "$BUILD/bin/aoti-checkinputs" 2>/dev/null | grep -q __asan_init && no_limit=1
deflated stored/mlp_provenance.pt2 so.pt2 .so=$size
deflated stored/mlp_provenance.pt2 so_x.pt2 .so=${size}xjunk
deflated stored/mlp_provenance.pt2 alone.pt2 .so=$size -.cpp
deflated stored/weights_blob.pt2 blob.pt2 .blob=$size
deflated stored/crash.pt2 crash.pt2 .so=${size}xjunk
deflated stored/crash.pt2 lines.pt2 .so:.debug_line=$size
for table in dynsym symtab gnu.version; do
	deflated stored/mlp_provenance.pt2 "$table.pt2" ".so:.$table=${size}xjunk" -.cpp
done
deflated stored/exported.pt2 graph.pt2 models/model.json=$size
rows=$((size << 15))
python3 - $rows <<'E2'
import sys, zipfile
header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (%s, 8), }" % sys.argv[1].encode()
header = header.ljust(117) + b"\n"
zipfile.ZipFile("long.npz", "w").writestr("in0.npy", b"\x93NUMPY\1\0" + bytes([118, 0]) + header)
E2
deflated long.npz long.npz in0.npy=$size
deflated "$ROOT/tests/data/aoti/io/mlp.pt" long.pt mlp/data.pkl=$size
deflated "$ROOT/tests/data/aoti/io/mlp.pt" storage.pt mlp/data/0=$size
# cheap STATUS TEXT COMMAND... : ends with STATUS, says TEXT, took less than 64 MB of which $size were to be had
cheap() {
	local want=$1 text=$2 status peak
	shift 2
	read -r status peak < <(python3 "$ROOT/tests/lib/peak.py" "$@")
	is "${*##*/}" "$status $(grep -c -e "$text" out err | awk -F: '{n += $2} END {print (n > 0)}')" "$want 1"
	if [ -n "$no_limit" ]; then skip "... with little memory" "a sanitizer's own"; else ok "... with little memory ($peak MB)" test "$peak" -lt 64; fi
}
by_name="inflates to $size MiB: at most 64 MiB of compressed text are read"
table="is a table of $size MiB, but at most .* are read"
for package in so.pt2 so_x.pt2; do
	cheap 0 'model for cpu\|Inputs' aoti-checkinputs $package
	cheap 0 'GLIBC' aoti-checkinputs --doctor --torch=none $package
	cheap 0 'Inputs' aoti-checkinputs --probe $package
	cheap 0 cpp_fused_relu_0 fxexplain kernel cpp_fused_relu_0 $package
	cheap 0 'out0 ' pt2-run $package "${mlp[@]}"
	cheap 0 buf aoti-printer $package "${mlp[@]}"
done
cheap 0 'Inputs' aoti-checkinputs alone.pt2
cheap 3 'prevents probing' aoti-checkinputs --no-exec alone.pt2
cheap 0 'Inputs' aoti-checkinputs --probe blob.pt2
cheap 0 'out0 ' pt2-run blob.pt2 "${blob[@]}"
cheap 1 'wrapper  *line' fxexplain crash "$ROOT/tests/data/crash/expand.txt" crash.pt2
cheap 1 'in the kernel' fxexplain crash "$ROOT/tests/data/crash/expand.txt" lines.pt2
for package in dynsym.pt2 symtab.pt2 gnu.version.pt2; do
	cheap 0 Inputs aoti-checkinputs $package # the prober takes what the loader would take
	cheap 3 "$table" aoti-checkinputs --doctor --torch=none $package
done
cheap 3 "model.json' $by_name" aoti-checkinputs --against graph.pt2 stored/mlp_provenance.pt2
cheap 3 "model.json' $by_name" fxminify --test true graph.pt2
cheap 3 "data.pkl' $by_name" aoti-checkinputs stored/mlp_provenance.pt2 long.pt
cheap 1 "size of dim 0: expected 2..64, given $rows" aoti-checkinputs "$P/mlp.pt2" long.npz
cheap 0 'out0 ' pt2-run "$P/mlp.pt2" 'storage.pt:inputs[0]'
is "no temporary file is left" "$(ls -A "$TMPDIR")" ""

# ---- no room for what is inflated ----
cheap 4 "cannot create a temporary file in '$TMP/missing'.*TMPDIR" env TMPDIR="$TMP/missing" aoti-checkinputs --doctor --torch=none so.pt2
cheap 4 "cannot write '.*(temporary file)': File too large" bash -c 'ulimit -f 50000; exec aoti-checkinputs --doctor --torch=none so_x.pt2'
done_testing
