#!/bin/bash
# fxminify --launcher 'srun -n1 --gres=gpu:1': a Slurm of one node with two GPUs that do nothing, on this machine (far.sh).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/cluster/far.sh
. "$ROOT/tests/cluster/far.sh"
far_needs slurmctld slurmd munged srun squeue
far_slurm far

# Its own TMPDIR and an empty folder $HERE are there; srun hands on the environment.
export XDG_CACHE_HOME
srun="srun -n1 --gres=gpu:1 --export=ALL,TMPDIR=$FAR/tmp"
is "the far side does not see this folder" "$(cd / && $srun ls -A "$HERE")" ""
like "the far side has a GPU" "$(cd / && $srun env)" "CUDA_VISIBLE_DEVICES=0"

far_jobs() { squeue -h 2>&1; }
far_cases "$srun" "srun -n1 --gres=gpu:9" "srun: error: .*Requested node configuration is not available"

# A verifier while one GPU is all there is; a job that somebody holds makes it one.
$srun sleep 100000 2>"$FAR/holder" &
holder=$!
for _ in $(seq 50); do
	[ "$(squeue -h -t R | wc -l)" = 1 ] && break
	sleep 0.2
done
run fxminify -q -j1 --max-tests 1 --no-locate --launcher "$srun" -o one.py compile_error/minifier_launcher.py
is "one GPU: status" "$status" 0
like "one GPU: verified when the oracle has given it back" "$(cat one.py)" "fails the same way in a fresh process"
kill "$holder"
wait "$holder" 2>/dev/null
far_idle "one GPU"
done_testing
