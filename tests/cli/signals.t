#!/bin/bash
# A signal in the middle of a run: the process dies of it, says nothing, and leaves nothing.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
mkdir box
for _ in 1 2 3 4 5 6; do cat "$DATA/models.log"; done >big.log

# interrupt SIGNAL WAIT INPUT ARGUMENT... : start tlparse in box/ (input: a file, or a pipe that gets a log and never ends), send the
# signal when something is being written and WAIT seconds have passed; prints the status (-15: died of 15), messages and what is left.
cat >interrupt.py <<'EOS'
import glob, os, signal, subprocess, sys, threading, time
sig, wait, kind, args = getattr(signal, sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4:]
ignored = signal.SIG_IGN if kind == "ignored" else signal.SIG_DFL
out = open("stdout", "wb")
p = subprocess.Popen(["tlparse", *args], cwd="box", stdin=subprocess.PIPE, stdout=out, stderr=subprocess.PIPE,
                     preexec_fn=lambda: signal.signal(sig, ignored))
def feed(log):
    try:
        p.stdin.write(open(log, "rb").read())
        p.stdin.flush()
    except OSError:
        pass # it died of the signal
if kind == "big":
    threading.Thread(target=feed, args=["big.log"], daemon=True).start()
elif kind != "file":
    feed(os.environ["DATA"] + "/models.log")
end = time.time() + 20
while time.time() < end and not glob.glob("box/*.tmp.*") and not (args[0] == "--html" and kind != "file") and p.poll() is None:
    time.sleep(0.001)
time.sleep(wait)
p.send_signal(sig)
if kind == "ignored":
    time.sleep(0.1)
    p.stdin.close()
    p.stdin = None
try:
    p.wait(timeout=60) # its input stays open: it ends of the signal, which may come late on a busy machine
    err = p.communicate()[1]
except subprocess.TimeoutExpired:
    p.kill()
    err = b"it goes on"
    p.wait()
print(p.returncode, err.decode(), " ".join(sorted(os.listdir("box"))), sep="|", flush=True)
os._exit(0) # whatever the thread does
EOS
check() { # check WHAT WANT ARGUMENT...
	local what=$1 want=$2
	shift 2
	is "$what" "$(python3 interrupt.py "$@" 2>&1)" "$want"
	rm -rf box && mkdir box
}

check "SIGINT, a directory" "-2||" SIGINT 0.05 pipe - -o dir
check "SIGTERM, a directory" "-15||" SIGTERM 0.05 pipe - -o dir
check "SIGHUP, a directory" "-1||" SIGHUP 0.05 pipe - -o dir
check "SIGINT, --html=" "-2||" SIGINT 0.05 pipe --html=page.html -
check "SIGTERM, --html=" "-15||" SIGTERM 0.05 pipe --html=page.html -
check "SIGINT, standard output" "-2||" SIGINT 0.2 pipe --html -
is "nothing was written to standard output" "$(wc -c <stdout)" 0
for wait in 0 0.01 0.03 0.1; do
	check "SIGTERM while workers write files ($wait s)" "-15||" SIGTERM $wait big - -o dir
done
# A file ends: on a fast machine the signal may come too late.
like "SIGTERM while reading: no output or all of it" "$(python3 interrupt.py SIGTERM 0 file "$TMP/big.log" -o dir 2>&1)" '^(-15\|\||0\|\|dir)$'
rm -rf box && mkdir box
check "nohup: an ignored SIGHUP stays ignored" "0||dir" SIGHUP 0.05 ignored - -o dir
cp "$DATA/simple.log" box/
(cd box && tlparse simple.log -o dir && touch dir/-_0_0_0/old)
is "SIGTERM before an existing report is replaced: it is kept" \
	"$(python3 interrupt.py SIGTERM 0.05 big - -o dir --overwrite 2>&1) $(ls box/dir/-_0_0_0/old)" "-15||dir simple.log box/dir/-_0_0_0/old"

# In the middle of the last step: what is there under the final name is whole, the old or the new, and nothing lies beside it.
# A sanitizer has a preload of its own.
inject=$BUILD/tests-lib/inject.so
if [ -e "$inject" ]; then
	rm -rf box && mkdir box && cd box || exit 1
	# On a busy machine the signal's thread may come too late: then the run ends well. The files must be right either way.
	in_the_middle() { # in_the_middle CALL ARGUMENT... : whether it ended of the signal or well, what is there, and how many files
		INJECT_SIGNAL=$1 LD_PRELOAD=$inject tlparse "${@:2}" >/dev/null 2>err
		local ended=$?
		[ $ended = 143 ] || [ $ended = 0 ] && ended=ended
		echo "$ended$(cat err) $(find . -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | tr '\n' ' ')$(find . -type f | wc -l)"
	}
	tlparse "$DATA/simple.log" -o whole
	files=$(find whole -type f | wc -l)
	rm -r whole
	is "a signal during the final rename: the report is complete" "$(in_the_middle rename "$DATA/simple.log" -o out)" "ended err out $((files + 1))"
	touch out/-_0_0_0/old
	is "a signal during --overwrite: the new report only" \
		"$(in_the_middle rename "$DATA/simple.log" -o out --overwrite)" "ended err out $((files + 1))"
	rm -r out
	like "a signal during mkdir: no report or all of it" "$(in_the_middle mkdir "$DATA/simple.log" -o out)" "^ended err (out $((files + 1))|1)$"
	rm -rf out
	is "a signal during the rename of a file" "$(in_the_middle rename --html=page.html "$DATA/simple.log")" "ended err page.html 2"
	is "the file is complete" "$(tail -c 8 page.html)" "</html>"
	cd ..
fi
done_testing
