#!/bin/bash
# tlparse --serve: a report over HTTP, to this machine alone.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

ask='
import http.client, sys
port, method, path, host = int(sys.argv[1]), sys.argv[2], sys.argv[3], (sys.argv + ["127.0.0.1"])[4]
c = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
c.putrequest(method, path, skip_host=True)
if host: c.putheader("Host", host)
c.endheaders()
r = c.getresponse()
body = r.read()
print(r.status, r.getheader("Content-Type"), r.getheader("X-Content-Type-Options"), len(body))
open("body", "wb").write(body)
'
ask() { python3 -c "$ask" "$port" "$@"; }
# serve NAME OPTION... : in the background, as $pid on $port
serve() {
	local i log=$1.err
	shift
	tlparse --serve --port=0 "$@" >/dev/null 2>"$log" &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		port=$(sed -n 's|^tlparse: http://127.0.0.1:\([0-9]*\)/.*|\1|p' "$log")
		[ -z "$port" ] && kill -0 $pid 2>/dev/null || return 0
		sleep 0.1
	done
}
stop() { kill -TERM $pid; wait $pid 2>/dev/null; }
export TMPDIR=$PWD/tmp
mkdir tmp

tlparse --html=page.html "$DATA/simple.log" 2>err
serve page "$DATA/simple.log"
like "it says where" "$(cat page.err)" "http://127.0.0.1:$port/ .*ssh -L"
is "the page" "$(ask GET /)" "200 text/html nosniff $(stat -c %s page.html)"
ok "... is what --html writes" cmp -s body page.html
is "its head" "$(ask HEAD /)" "200 text/html nosniff 0"
is "nothing else" "$(for p in /report.html /.pt2utils /../../etc/passwd; do ask GET $p | cut -d' ' -f1; done | tr '\n' ' ')" "404 404 404 "
is "another name for this machine gets nothing" "$(ask GET / evil.example | cut -d' ' -f1) $(ask GET / "evil.example:$port" | cut -d' ' -f1) $(ask GET / '' | cut -d' ' -f1)" "403 403 403"
is "localhost is its name, too" "$(ask GET / "localhost:$port" | cut -d' ' -f1)" 200
is "it reads only" "$(ask POST / | cut -d' ' -f1) $(ask PUT / | cut -d' ' -f1)" "501 501"
ok "it listens on the loopback device alone" test -z "$(python3 -c '
import socket, sys
for a in {i[4][0] for i in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}:
    if a.startswith("127."): continue
    s = socket.socket(); s.settimeout(5)
    if s.connect_ex((a, int(sys.argv[1]))) == 0: print(a)' "$port" 2>/dev/null)"
taken=$port
exits "a port that is taken" 4 tlparse --serve --port="$taken" "$DATA/simple.log"
like "... says so" "$(cat err)" "cannot serve on port $taken: .*--port=0"
stop
is "it leaves nothing" "$(find tmp -name 'pt2*')" ""

serve folder -o folder "$DATA/simple.log"
is "a directory: its index" "$(ask GET / | cut -d' ' -f1-3)" "200 text/html nosniff"
ok "... as it is" cmp -s body folder/index.html
file=$(cd folder && find . -name '*aot_forward_graph*' | head -1)
is "... and a text" "$(ask GET "/${file#./}" | cut -d' ' -f1-3)" "200 text/plain; charset=utf-8"
ln -s /etc folder/out
ln -s /etc/passwd folder/users.txt
mkdir folder/deep
is "no link leads out, no folder is listed" "$(for p in /out/passwd /users.txt /out/ /deep/ /../page.html /%2e%2e/page.html /a%00b; do ask GET $p | cut -d' ' -f1; done | tr '\n' ' ')" \
	"404 404 404 404 404 404 404 "
stop
serve ranks --all-ranks-html "$DATA/ranks2" -o ranks
is "ranks: the comparison" "$(ask GET / | cut -d' ' -f1)" 200
stop

exits "no log" 3 tlparse --serve --port=0 missing.log
exits "with --json" 2 tlparse --serve --json "$DATA/simple.log"
exits "with --diff" 2 tlparse --serve --diff "$DATA/simple.log" "$DATA/simple.log"
exits "with --html to standard output" 2 tlparse --serve --html "$DATA/simple.log"
exits "a port too high" 2 tlparse --serve --port=65536 "$DATA/simple.log"
PT2_PYTHON=$PWD/missing exits "without Python" 4 tlparse --serve --port=0 "$DATA/simple.log"
like "... says so" "$(cat err)" "cannot run '.*missing'"
done_testing
