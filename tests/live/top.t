#!/bin/bash
# pt2 top and pt2 attach over a real compilation: two ranks (torchrun, gloo) with compile threads, minutes long, and one that is killed.
# The screen is a terminal of 80x24 (tmux); each that differs is kept in $SCREENS (default: this test's folder), to be looked at.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
py=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
command -v tmux >/dev/null || skip_all "no tmux"
SCREENS=${SCREENS:-$PWD/screens}
BLOCKS=${BLOCKS:-6}
mkdir -p "$SCREENS"
export TORCHINDUCTOR_COMPILE_THREADS=2 OMP_NUM_THREADS=1 TORCHINDUCTOR_CACHE_DIR=$PWD/cache TMUX_TMPDIR=$PWD

tmux_() { tmux -L pt2 -f /dev/null "$@"; }
shot() { tmux_ capture-pane -p -t top >shot 2>/dev/null; }
# watch NAME PID: a screen every second until PID has ended; those that differ in more than numbers are kept
watch() {
	local n=0 last=
	while kill -0 "$2" 2>/dev/null; do
		shot
		now=$(sed 's/[0-9.]\+//g' shot)
		if [ "$now" != "$last" ]; then
			n=$((n + 1))
			cp shot "$SCREENS/$1.$(printf %03d $n).txt"
			last=$now
		fi
		sleep 1
	done
	sleep 2
	shot
	cp shot "$SCREENS/$1.end.txt"
}
begin() { # NAME: a screen of pt2 top over NAME's traces
	mkdir "$1"
	tmux_ kill-server 2>/dev/null
	tmux_ new-session -d -s top -x 80 -y 24 "$BUILD/bin/pt2 top $PWD/$1"
}
any() { cat "$SCREENS/$1".*.txt; }

# ---- two ranks ----

begin ranks
began=$(date +%s)
TORCH_TRACE=$PWD/ranks "$py" -m torch.distributed.run --nproc-per-node 2 --master-port $((20000 + $$ % 20000)) "$ROOT/tests/live/top_ranks.py" "$BLOCKS" >out 2>err &
run=$!
watch ranks $run &
watcher=$!
for _ in $(seq 600); do grep -q 'kernel [0-9]* of' "$SCREENS"/ranks.*.txt 2>/dev/null && break; kill -0 $run 2>/dev/null || break; sleep 1; done
rank=$(pgrep -P $run | head -1)
exits "attach to a rank" 0 pt2 attach "$rank"
like "... what it compiles now" "$(cat out)" "compiling .*kernel [0-9]+ of [0-9]+"
wait $watcher
wait $run
is "both ranks end well" "$?" 0
echo "# it took $(($(date +%s) - began)) s; $(find "$SCREENS" -name 'ranks.*' | wc -l) screens in $SCREENS"
like "both ranks are on one screen" "$(any ranks)" "rank 0  compiling"
like "... each" "$(any ranks)" "rank 1  compiling"
like "the kernel of how many" "$(any ranks)" "\(kernel [0-9]+ of [0-9]+\)"
like "the compilers that run" "$(any ranks)" "compilers? running: cc1plus"
like "breaks as they come" "$(any ranks)" "graph break top_ranks.py"
like "recompiles, too" "$(any ranks)" "recompile [0-9]+/1"
like "the slowest so far" "$(any ranks)" "slowest: "
is "no line is wider than the screen" "$(any ranks | LC_ALL=C.UTF-8 grep -E '^.{81,}' | head -3)" ""
like "at the end it says so" "$(cat "$SCREENS/ranks.end.txt")" "rank 0  ended"

# ---- one that is killed ----

begin killed
TORCH_TRACE=$PWD/killed TORCHINDUCTOR_CACHE_DIR=$PWD/cache2 "$py" -m torch.distributed.run --nproc-per-node 1 --master-port $((20000 + ($$ + 1) % 20000)) \
	"$ROOT/tests/live/top_ranks.py" 6 >out 2>err &
run=$!
watch killed $run &
watcher=$!
for _ in $(seq 300); do grep -q 'async_compile.wait' "$SCREENS"/killed.*.txt 2>/dev/null && break; sleep 1; done
kill -9 $(pgrep -P $run)
wait $watcher
like "a process that was killed ended while compiling" "$(cat "$SCREENS/killed.end.txt")" "ended while compiling"
tmux_ send-keys -t top q
sleep 1
is "q ends it" "$(tmux_ list-sessions 2>/dev/null | wc -l)" 0
tmux_ kill-server 2>/dev/null
done_testing
