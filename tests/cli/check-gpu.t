#!/bin/bash
# make check-gpu where there is no GPU: one line and status 77, never a failure; and the kit that it makes for another machine.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || skip_all "no python3"
unset LD_LIBRARY_PATH OUT PT2_GPU_DEVICE
cat >python-without-torch <<'S'
#!/bin/sh
exit 1
S
cat >python-for-cpu <<'S'
#!/bin/sh
echo '{"torch": "2.13.0+cpu", "cuda": null}'
S
chmod +x python-*
without() { # without WHAT REASON ENVIRONMENT...
	local what=$1 why=$2
	shift 2
	exits "$what: skipped" 77 env "$@" "$ROOT/scripts/gpu-accept" "$BUILD"
	like "$what: why" "$(cat out)" "^gpu-accept: skipped: .*$why"
	is "$what: in one line" "$(wc -l <out)" 1
	is "$what: standard error stays empty" "$(cat err)" ""
}
without "no Python" 'PT2_PYTHON' PT2_PYTHON=./nosuch
without "no torch" "$TMP/python-without-torch cannot import torch" PT2_PYTHON=./python-without-torch
without "torch without CUDA" 'not for CUDA' PT2_PYTHON="$TMP/python-for-cpu"
exits "no build" 2 "$ROOT/scripts/gpu-accept" "$TMP"
while read -r f; do
	ok "${f#"$ROOT/tests/gpu/"} is Python" python3 -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' "$f"
done < <(find "$ROOT/tests/gpu" -name '*.py' | sort)

# ---- the kit ----

grep -qa __asan_init "$BUILD/bin/tlparse" && { skip "the kit" "of sanitized tools"; done_testing; exit; }
command -v patchelf >/dev/null || { skip "the kit" "no patchelf"; done_testing; exit; }
command -v xz >/dev/null || { skip "the kit" "no xz"; done_testing; exit; }
exits "a kit" 0 "$ROOT/scripts/gpu-kit" "$BUILD" kit
exits "... is replaced" 0 "$ROOT/scripts/gpu-kit" "$BUILD" kit
mkdir other && touch other/file
exits "a folder that is none is not" 2 "$ROOT/scripts/gpu-kit" "$BUILD" other
# Moved, and with an environment of somebody else's: it finds its own libraries, and all but the C library's, libz, liblzma and libgcc_s are its own.
mv kit elsewhere
like "its tools start" "$(for tool in "${tools[@]}"; do "elsewhere/bin/$tool" --version </dev/null; done)" "^aoti-checkinputs.*tlparse"
is "libraries that are not its own" "$(for f in elsewhere/bin/* elsewhere/lib/pt2utils/* elsewhere/lib/*.so*; do ldd "$f"; done |
	awk '$2 == "=>" { print $1, $3 }' | grep -vE "$TMP/elsewhere/" | grep -vE '^lib(c|m|dl|rt|pthread|z|lzma|gcc_s)\.so' | sort -u)" ""
is "the preload says nothing" "$(LD_PRELOAD=$PWD/elsewhere/lib/pt2utils/libpt2probe.so python3 -c 'import zlib, lzma, bz2, ssl; print(1)' 2>&1)" 1
like "it can be asked what it checks" "$(elsewhere/scripts/gpu-accept --list)" '^ +1 .*8  side stream'
like "it is a kit by itself" "$(PT2_PYTHON=./nosuch elsewhere/scripts/gpu-accept)" 'skipped'
size=$(du -sm elsewhere | cut -f1)
ok "it is under 60 MB ($size)" test "$size" -lt 60
done_testing
