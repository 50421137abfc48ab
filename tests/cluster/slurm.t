#!/bin/bash
# fxminify --launcher 'srun -n1 --gres=gpu:1': a Slurm of one node with two GPUs that do nothing, on this machine (far.sh).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/cluster/far.sh
. "$ROOT/tests/cluster/far.sh"
PATH=$PATH:/usr/sbin
far_needs slurmctld slurmd munged srun squeue

port=$((30000 + RANDOM % 10000))
host=$(hostname -s)
mkdir -m 700 "$FAR/munge" "$FAR/state" "$FAR/spool"
chmod 711 "$TMP" "$FAR" "$FAR/munge"
dd if=/dev/urandom of="$FAR/munge/key" bs=1024 count=1 status=none
chmod 400 "$FAR/munge/key"
cat >"$FAR/slurm.conf" <<END_OF_CONFIG
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmctldPidFile=$FAR/slurmctld.pid
SlurmctldLogFile=$FAR/slurmctld.log
StateSaveLocation=$FAR/state
SlurmUser=root
SlurmdUser=root
SlurmdPort=$((port + 1))
SlurmdPidFile=$FAR/slurmd.pid
SlurmdLogFile=$FAR/slurmd.log
SlurmdSpoolDir=$FAR/spool
AuthType=auth/munge
AuthInfo=socket=$FAR/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
GresTypes=gpu
NodeName=far NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=$(nproc) Gres=gpu:2
PartitionName=all Nodes=far Default=YES State=UP
END_OF_CONFIG
printf 'NodeName=far Name=gpu File=%s\n' /dev/zero /dev/full >"$FAR/gres.conf"
export SLURM_CONF=$FAR/slurm.conf
far_start "munged --foreground --force --socket='$FAR/munge/socket' --key-file='$FAR/munge/key' --pid-file='$FAR/munge/pid' \
	--log-file='$FAR/munge/log' --seed-file='$FAR/munge/seed' & \
	while [ ! -S '$FAR/munge/socket' ]; do sleep 0.1; done; slurmctld -D & slurmd -D -N far & wait"
for _ in $(seq 100); do
	[ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
	sleep 0.2
done
[ "$(sinfo -h -o %T 2>err)" = idle ] || skip_all "Slurm does not start: $(tail -n 1 err) $(tail -n 1 "$FAR/log")"

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
