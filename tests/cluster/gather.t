#!/bin/bash
# pt2 gather: a Slurm of two nodes on this machine (far.sh), each with the logs of two ranks, and a Ray of two nodes if $PT2_RAY is a Python
# that has it. Kubernetes is a stand-in of kubectl in tests/cli/pt2-gather.t.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/cluster/far.sh
. "$ROOT/tests/cluster/far.sh"
far_has slurmctld slurmd munged srun squeue scontrol

mkdir "$FAR/far1" "$FAR/far2"
for r in 0 1 2 3; do
	xz -dc "$ROOT"/tests/data/traces/ranks4/*rank_${r}_* >"$FAR/far$((1 + r / 2))/dedicated_log_torch_trace_rank_${r}_log.log"
done
far_slurm far1 far2
cd "$HERE" || exit 4

srun -N2 -n2 sleep 1000 2>holder &
holder=$!
for _ in $(seq 50); do
	job=$(squeue -h -t R -o %A)
	[ -n "$job" ] && break
	sleep 0.2
done
# The page names its ranks; "rank_N" are folders of logs that came as they are.
ranks() { grep -o 'rank [0-9]' "$1/index.html" | sort -u | paste -sd,; }
run pt2 gather --slurm="$job" --documents=documents "$FAR/traces"
is "--slurm: status" "$status" 0
is "... all ranks" "$(ranks ranks)" "rank 0,rank 1,rank 2,rank 3"
is "... each node sends a document" "$(jq -r .schema documents/* | sort | uniq -c | sed 's/^ *//')" "2 2"
cat >without <<END
#!/bin/sh
PATH=/usr/bin:/bin exec "\$@"
END
chmod +x without
run pt2 gather --nodes='far[1-2]' --tlparse=/nowhere/tlparse -o packed "$FAR/traces"
kill "$holder"
wait "$holder" 2>/dev/null
is "--nodes, without a tlparse there: status" "$status" 0
is "... all ranks" "$(ranks packed)" "rank 0,rank 1,rank 2,rank 3"
is "... from the logs" "$(echo packed/rank_*)" "packed/rank_0 packed/rank_1 packed/rank_2 packed/rank_3"
for _ in $(seq 50); do
	[ -z "$(squeue -h)" ] && break
	sleep 0.2
done
is "no job is left" "$(squeue -h)" ""
run pt2 gather --slurm="$job" -o over "$FAR/traces"
is "a job that is over: status" "$status" 3
like "... what to do" "$(cat err)" "--nodes=LIST"
run pt2 gather --nodes=nowhere -o over "$FAR/traces"
like "no such node" "$status $(cat err)" "^4 pt2: nowhere: exited with status 1: srun: error"

if [ -z "${PT2_RAY:-}" ]; then
	skip "--ray" "PT2_RAY names no Python that has Ray"
	done_testing
	exit
fi
# ---- Ray ----
ray=$(dirname "$PT2_RAY")/ray
export RAY_USAGE_STATS_ENABLED=0 RAY_AUTH_MODE=disabled
raylet() { # NODE ARGUMENT...
	local node=$1
	shift
	setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc \
		sh -c "mount --bind '$FAR/$node' '$FAR/traces' && exec '$ray' start --num-cpus=1 --temp-dir='$FAR/ray' --block $*" >"$node.log" 2>&1 &
}
raylet far1 --head --port=6399 --include-dashboard=false
wait_for far1.log "will now block"
raylet far2 --address=127.0.0.1:6399
wait_for far2.log "will now block"
PT2_PYTHON=$PT2_RAY run pt2 gather --ray=127.0.0.1:6399 -o rayed "$FAR/traces"
is "--ray: status" "$status" 0
is "... all ranks" "$(ranks rayed)" "rank 0,rank 1,rank 2,rank 3"
pkill -KILL -P $$ unshare
wait
done_testing
