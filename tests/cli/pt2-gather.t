#!/bin/bash
# pt2 gather: commands of this machine stand for launchers, kubectl is a stand-in. A real Slurm and Ray: tests/cluster/gather.t.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

export TMPDIR=$TMP/tmp
mkdir "$TMPDIR"
for r in 0 1 2 3; do
	mkdir -p "n$((1 + r / 2))/a b"
	xz -dc "$ROOT"/tests/data/traces/ranks4/*rank_${r}_* >"n$((1 + r / 2))/a b/dedicated_log_torch_trace_rank_${r}_log.log"
done
# A "machine" is a folder; on the second one there is no tlparse.
for n in 1 2; do
	cat >on$n <<-END
		#!/bin/sh
		cd $TMP/n$n && PATH=$([ $n = 1 ] && echo "$BUILD/bin:")/usr/bin:/bin exec "\$@"
	END
done
printf '#!/bin/sh\necho "line one" >&2\necho "no route to host" >&2\nexit 255\n' >gone
chmod +x on1 on2 gone
ranks() { grep -o 'rank [0-9]' "$1/index.html" | sort -u | paste -sd,; }

run pt2 gather --launcher=./on1 --launcher=./on2 "a b"
is "two machines" "$status $(ranks ranks)" "0 rank 0,rank 1,rank 2,rank 3"
is "... one sends a document, the other its logs" "$(echo ranks/rank_*)" "ranks/rank_2 ranks/rank_3"
like "... which is said" "$(cat err)" "./on2 has no 'tlparse': its logs came instead"
is "... nothing is left" "$(ls "$TMPDIR")" ""
run pt2 gather -q --launcher=./on1 -o one "a b/dedicated_log_torch_trace_rank_1_log.log"
is "a single log; -q is silent" "$status $(ranks one) $(cat out err)" "0 rank 1 "
run pt2 gather --launcher=./on1 --launcher=./gone -o part "a b"
is "one of two does not answer: status" "$status" 5
is "... the others' ranks" "$(ranks part)" "rank 0,rank 1"
like "... why, and how many" "$(cat err)" "./gone: exited with status 255: no route to host.*1 of 2 machines did not answer: their ranks are not in part"
run pt2 gather --launcher=./gone -o none "a b"
is "none answers" "$status $(tail -n 1 err)" "4 pt2: no machine has answered"
ok "... no report" test ! -e none
run pt2 gather --launcher=./on1 --launcher=./on2 -o none nothere
like "no such folder there" "$status $(cat err)" "^4 .*no 'nothere' there"
run pt2 gather --launcher=true -o none "a b"
like "a launcher that runs nothing" "$status $(cat err)" "^4 pt2: true: it wrote nothing"
run pt2 gather --launcher='printf "\037\213damaged" #' -o none "a b"
like "a damaged archive" "$status $(cat err)" "its logs came damaged"
run pt2 gather --launcher='echo Welcome; ./on1' --documents=docs -o none "a b"
like "a banner before the document" "$status $(cat err)" "^4 pt2: .*neither a document nor an archive"
run pt2 gather --launcher='sleep 100 #' --timeout=1 -o none "a b"
like "--timeout" "$status $(cat err)" "^4 pt2: .*timed out"
run pt2 gather --launcher=./on1 "a b"
like "an earlier report is kept" "$status $(cat err)" "^2 pt2: 'ranks' exists"
run pt2 gather -q --launcher=./on1 --overwrite "a b"
is "--overwrite" "$status $(ranks ranks)" "0 rank 0,rank 1"
run pt2 gather "a b"
like "nowhere to ask" "$status $(cat err)" "^2 .*--slurm, --nodes, --kubernetes"
run pt2 --no-exec ranks --launcher=./on1 "a b"
is "--no-exec" "$status" 2

# ---- a signal ----
pt2 gather --launcher='sleep 98765 #' -o none "a b" >out 2>err &
pid=$!
for _ in $(seq 100); do
	pgrep -P "$pid" >/dev/null && break
	sleep 0.1
done
kill "$pid"
wait "$pid"
is "SIGTERM: status" "$?" 143
is "... what it started ends" "$(pgrep -f 'sleep 98765')" ""

# ---- Kubernetes, Slurm: what they are asked ----
mkdir bin
cat >bin/kubectl <<END
#!/bin/sh
case "\$1" in
get) echo "\$*" >$TMP/get; printf 'train llama-0\ntrain llama-1\n' ;;
exec) echo "\$*" >>$TMP/exec; case "\$5" in llama-0) n=1 ;; *) n=2 ;; esac; shift 6; exec $TMP/on\$n "\$@" ;;
esac
END
chmod +x bin/kubectl
PATH=$TMP/bin:$PATH run pt2 gather --kubernetes='-n train -l job-name=llama' -o pods "a b"
is "--kubernetes" "$status $(ranks pods)" "0 rank 0,rank 1,rank 2,rank 3"
like "... lists running pods" "$(cat get)" "^get pods -n train -l job-name=llama --field-selector=status.phase=Running -o jsonpath="
is "... and runs in each" "$(sort exec | paste -sd,)" "exec -i -n train llama-0 -- sh,exec -i -n train llama-1 -- sh"
printf '#!/bin/sh\necho "error: no context" >&2\nexit 1\n' >bin/kubectl
PATH=$TMP/bin:$PATH run pt2 gather --kubernetes='' -o none "a b"
like "a kubectl that fails" "$status $(cat err)" "^4 pt2: kubectl exited with status 1: error: no context"
printf '#!/bin/sh\n' >bin/kubectl
PATH=$TMP/bin:$PATH run pt2 gather --kubernetes='-l a=b' -o none "a b"
like "no pod" "$status $(cat err)" "^3 pt2: no running pod: kubectl get pods -l a=b"
(unset SLURM_JOB_ID; run pt2 gather --slurm -o none "a b"; like "no job here" "$status $(cat err)" "^2 pt2: no SLURM_JOB_ID here")
tests=$((tests + 1))
printf '#!/bin/sh\n' >bin/python3 && chmod +x bin/python3
PT2_PYTHON=$TMP/bin/python3 run pt2 gather --ray -o none "a b"
like "a Python that says nothing" "$status $(cat err)" "^4 pt2: no machine has answered"
PT2_PYTHON=python3 run pt2 gather --ray -o none "a b"
like "a Python without Ray" "$status $(cat err)" "^4 pt2: Ray: exited with status 1: (ModuleNotFoundError|ConnectionError)"
done_testing
