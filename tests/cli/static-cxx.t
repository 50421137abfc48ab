#!/bin/bash
# Models with libstdc++ inside (g++ -static-libstdc++): what the prober learns of them, and the doctor's warning, which is true.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

check=aoti-checkinputs
build() { g++ -std=c++17 -O1 -fPIC -shared "$@" 2>err; }
build -o probe.so -static-libstdc++ "$ROOT/tests/lib/cxxmodel.cc" || skip_all "no g++ with a static libstdc++"

# As torch does: another library has used the system's libstdc++ before.
cat >other.cc <<'C'
#include <iostream>
#include <sstream>
extern "C" int used(int n)
{
	std::ostringstream s;
	s << n;
	return (int)s.str().size();
}
C
build -o other.so other.cc
cat >load.py <<'P'
import ctypes
import sys

ctypes.CDLL("./other.so").used(64)
torch = ctypes.CDLL("./torch.so", ctypes.RTLD_GLOBAL)  # what the model calls
container = ctypes.c_void_p()
sys.exit(ctypes.CDLL("./model.so").AOTInductorModelContainerCreateWithDevice(ctypes.byref(container), 1, b"cpu", None))
P
echo 'int aoti_torch_get_dtype(void *t, int *d) { return t == (void *)d; } int aoti_torch_get_dim(void *t, long *d) { return t == (void *)d; }' >torch.c
gcc -fPIC -shared -o torch.so torch.c

hide=-Wl,--exclude-libs,ALL
n=0
for flags in "" "-static-libstdc++" "-static-libstdc++ -Wl,-Bsymbolic" "-static-libstdc++ -static-libgcc" \
	"-static-libstdc++ $hide" "-static-libstdc++ -static-libgcc $hide"; do
	n=$((n + 1))
	# shellcheck disable=SC2086 # several flags
	build -o model.so $flags "$ROOT/tests/lib/cxxmodel.cc"
	is "'$flags': its input is known by its exceptions" "$($check --json model.so 2>err | jq -c '[.inputs[0].dtype, .followed.stopped]')" '["float32",null]'
	run $check --doctor --torch=none model.so
	warned=$(grep -c '^warning has a libstdc++ inside' out)
	run python3 load.py
	is "'$flags': the doctor warns of what fails" "$warned" "$status"
	case $n in
	1 | 5 | 6) is "'$flags': it loads" "$status" 0 ;;
	*)
		is "'$flags': it does not load" "$status $(cat err)" "1 Error: std::bad_cast"
		run env LD_PRELOAD=libstdc++.so.6 python3 load.py
		is "'$flags': the other fix" "$status" $((n == 3))
		;;
	esac
done
done_testing
