#!/bin/bash
# --bounds in a real torch.compile program whose kernels Python calls (tests/live/bounds.py): a kernel that writes past the end of its output is named.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
mkdir cache
export TORCHINDUCTOR_CACHE_DIR=$PWD/cache
program=$ROOT/tests/live/bounds.py

exits "without --bounds it runs as if nothing was wrong" 0 aoti-nanassert -- "$python" "$program"
like "though the fault is there" "$(cat out)" 'planted 1'
exits "with --bounds its status is 1" 1 aoti-nanassert --bounds -- "$python" "$program"
like "the kernel, the elements and the bytes are named" "$(cat out err)" 'cpp_fused_add_sin_0 writes buf0\[1003\.\.1005\], which has 1003 elements: 12 bytes past the end'
like "so is the line of the program" "$(cat out err)" 'bounds.py:[0-9]* in f: return torch.sin'
like "its tensors were guarded" "$(cat out err)" '2 kernel arguments guarded, 1 memory error'
exits "without the fault it is silent" 0 aoti-nanassert --bounds -- "$python" "$program" --plain
like "and was looked at" "$(cat out err)" '2 kernel arguments guarded, no memory error'

# ---- memory itself ----
exits "with --bounds=alloc, too" 1 aoti-nanassert --bounds=alloc -- "$python" "$program"
like "the kernel is named" "$(cat out err)" 'cpp_fused_add_sin_0 writes buf0\[1003\.\.1005\], which has 1003 elements: 12 bytes past the end'
like "no NaN is found beside it" "$(cat out err)" 'no NaN or infinity found'
exits "without the fault it is silent" 0 aoti-nanassert --bounds=alloc -- "$python" "$program" --plain
exits "a custom operator" 1 aoti-nanassert --bounds=alloc -- "$python" "$ROOT/tests/live/bounds_op.py"
like "is named with its result" "$(cat out err)" 'mylib.scale.default writes buf1\[1003\], which has 1003 elements: 4 bytes past the end'
unlike "no kernel is accused of it" "$(cat out err)" 'cpp_fused_[a-z_0-9]* writes'
done_testing
