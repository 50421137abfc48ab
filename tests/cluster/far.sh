# far.sh - for tests/cluster/*.t, after tap.sh: a "far" machine on this one, and what every launcher has to do there.
# The far side has process and mount namespaces of its own: it does not see the folder of the test ($HERE), its processes can be
# counted, and all of them end with the first one, or with the test, however that ends.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are for the tests; tap.sh has the others

HERE=$TMP/here   # where fxminify runs
FAR=$TMP/far     # what daemons need, and the far side's own TMPDIR
far=             # the process that holds the far side
mkdir "$HERE" "$FAR" "$FAR/tmp"

# far_has PROGRAM... : skips the test where something is missing
far_has() {
	local p
	PATH=$PATH:/usr/sbin
	[ "$(id -u)" = 0 ] || skip_all "a far side of its own needs root"
	for p in "$@" unshare setpriv; do
		command -v "$p" >/dev/null || skip_all "no $p (scripts/install-deps cluster)"
	done
	unshare --mount --pid --fork true 2>/dev/null || skip_all "namespaces are not allowed here"
}
# far_needs PROGRAM... : the same for fxminify; sets $python
far_needs() {
	far_has "$@" g++
	python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
	export PT2_PYTHON=$python XDG_CACHE_HOME=${XDG_CACHE_HOME-$BUILD/live-cache}
	cp -r "$ROOT/tests/data/minifier/aot_compile_error" "$HERE/compile_error"
	cp -r "$ROOT/tests/data/minifier/aot_accuracy" "$HERE/accuracy"
	cd "$HERE" || exit 4
	# An input of 8 KiB, too large to be written into a program
	sed -i "s/, 128)/, 8192)/; s/(buf2, (4, 8)/(buf2, (256, 8)/" accuracy/minifier_launcher.py
	"$python" -c 'import sys, torch; torch.save(torch.randn(256, 8).untyped_storage(), sys.argv[1])' \
		accuracy/storages/939bd8eabcf3ed541d501efa72b855a00cc464c3
}

# far_start COMMANDS : a shell there, which has to stay; it sees $FAR and an empty $HERE
far_start() {
	setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc \
		sh -c "mount -t tmpfs far '$HERE' && cd / && $1" >"$FAR/log" 2>&1 &
	far=$!
	trap 'far_stop; cd /; rm -rf "$TMP"' EXIT
	trap 'exit 4' INT TERM HUP
}
# far_slurm NODE... : a Slurm of these nodes, each with two GPUs that do nothing; its own $FAR/traces is $FAR/NODE where that is there
far_slurm() {
	local node i=0 daemons="" port host
	port=$((30000 + RANDOM % 10000))
	host=$(hostname -s)
	mkdir -m 700 "$FAR/munge" "$FAR/state"
	chmod 711 "$TMP" "$FAR" "$FAR/munge"
	dd if=/dev/urandom of="$FAR/munge/key" bs=1024 count=1 status=none
	chmod 400 "$FAR/munge/key"
	cat >"$FAR/slurm.conf" <<-END_OF_CONFIG
		ClusterName=test
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=$port
		SlurmctldPidFile=$FAR/slurmctld.pid
		SlurmctldLogFile=$FAR/slurmctld.log
		StateSaveLocation=$FAR/state
		SlurmUser=root
		SlurmdUser=root
		SlurmdPidFile=$FAR/slurmd.%n.pid
		SlurmdLogFile=$FAR/slurmd.%n.log
		SlurmdSpoolDir=$FAR/spool.%n
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
		PartitionName=all Nodes=ALL Default=YES State=UP
	END_OF_CONFIG
	for node; do
		i=$((i + 1))
		mkdir "$FAR/spool.$node"
		echo "NodeName=$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + i)) CPUs=$(nproc) Gres=gpu:2" >>"$FAR/slurm.conf"
		printf 'NodeName=%s Name=gpu File=%s\n' "$node" /dev/zero "$node" /dev/full >>"$FAR/gres.conf"
		daemons+="unshare -m sh -c '[ ! -d $FAR/$node ] || mount --bind $FAR/$node $FAR/traces; exec slurmd -D -N $node' & "
	done
	mkdir "$FAR/traces"
	export SLURM_CONF=$FAR/slurm.conf
	far_start "munged --foreground --force --socket='$FAR/munge/socket' --key-file='$FAR/munge/key' --pid-file='$FAR/munge/pid' \
		--log-file='$FAR/munge/log' --seed-file='$FAR/munge/seed' & \
		while [ ! -S '$FAR/munge/socket' ]; do sleep 0.1; done; slurmctld -D & $daemons wait"
	for _ in $(seq 100); do
		[ "$(sinfo -h -N -t idle 2>/dev/null | wc -l)" = $# ] && return
		sleep 0.2
	done
	sinfo -h -N >err 2>&1
	skip_all "Slurm does not start: $(tail -n 1 err) $(tail -n 1 "$FAR/log")"
}
far_stop() {
	[ -n "$far" ] && pkill -KILL -P "$far"
	wait
	far=
}
# Whatever runs there, but for the daemons and shells that wait: one line each
far_processes() {
	local first
	first=$(pgrep -P "$far") || { echo "the far side is gone"; return; }
	ps -eo pidns=,stat=,comm=,args= | awk -v ns="$(ps -o pidns= -p "$first" | tr -d ' ')" '$1 == ns && $2 !~ /Z/ &&
		$3 !~ /^(sh|sshd|munged|slurmctld|slurmscriptd|slurmd)$/'
}
# Jobs that a scheduler still has, other than the test's own: a test with a scheduler has its own function
far_jobs() { :; }
# far_idle WHAT : nothing of the tool is left there, within 20 s: no process, no folder, no job
far_idle() {
	local i
	for i in $(seq 100); do
		[ -z "$(far_processes)" ] && [ -z "$(ls "$FAR/tmp")$(far_jobs)" ] && break
		sleep 0.2
	done
	is "$1: no process is left there" "$(far_processes)" ""
	is "$1: no folder is left there" "$(ls "$FAR/tmp")" ""
	is "$1: no job is left" "$(far_jobs)" ""
}
# wait_for FILE TEXT : up to two minutes
wait_for() {
	local i
	for i in $(seq 600); do
		grep -q -- "$2" "$1" 2>/dev/null && return 0
		sleep 0.2
	done
	return 1
}
# The program without what names this run
body() { grep -v '^#' "$1"; }

# far_cases LAUNCHER BROKEN TEXT : BROKEN is one that cannot work, and says so with TEXT
far_cases() {
	local launcher=$1 broken=$2 text=$3 pid sig
	run fxminify -q -j1 -p nodes --no-verify -o here.py compile_error/minifier_launcher.py
	is "without a launcher: status" "$status" 0

	run fxminify -j1 -p nodes --launcher "$launcher" -o there.py compile_error/minifier_launcher.py
	is "through the launcher: status" "$status" 0
	is "through the launcher: the same program" "$(body there.py)" "$(body here.py)"
	like "through the launcher: verified there" "$(cat there.py)" "fails the same way in a fresh process"
	far_idle "through the launcher"

	# Stored inputs are files that the far side cannot see; --max-tests keeps the whole graph, so that the large one is in the result.
	run fxminify -j1 --max-tests 1 --no-locate --launcher "$launcher" -o stored.py accuracy/minifier_launcher.py
	is "stored inputs: status" "$status" 0
	like "stored inputs: the same failure there, in a fresh process" "$(cat stored.py)" "fails the same way in a fresh process"
	unlike "stored inputs: none is random" "$(cat err; grep '^#' stored.py)" "RANDOM|random"
	is "stored inputs: a large one lies beside the program" "$(stat -c %s stored.data/storages/* | awk '$1 > 8192' | wc -l)" 1

	printf '#!/bin/sh\necho "Welcome to $0"\necho "{not for you}"\nexec "$@"\n' >banner
	chmod +x banner
	run fxminify -j1 -p nodes --no-verify --launcher "./banner $launcher" --launcher "$launcher" -o two.py compile_error/minifier_launcher.py
	is "two, one with a banner: status" "$status" 0
	is "two, one with a banner: the same program" "$(body two.py)" "$(body here.py)"
	far_idle "two"

	run fxminify -q --launcher "$broken" -o never.py compile_error/minifier_launcher.py
	is "a launcher that cannot work: status" "$status" 4
	is "a launcher that cannot work: one line" "$(wc -l <err)" 1
	like "a launcher that cannot work: which says why" "$(cat err)" "^fxminify: .*$text"
	ok "a launcher that cannot work: no result" test ! -e never.py

	run fxminify -j1 -p nodes --no-verify --launcher "$broken" --launcher "$launcher" -o one.py compile_error/minifier_launcher.py
	is "one of two cannot work: status" "$status" 0
	is "one of two cannot work: the same program" "$(body one.py)" "$(body here.py)"
	like "one of two cannot work: which is said" "$(cat err)" "--launcher '[^']*' is not used: .*$text"

	for sig in INT KILL; do
		# A shell starts what is in its background with SIGINT ignored.
		env --default-signal=INT fxminify -j2 --launcher "$launcher" -o "killed$sig.py" compile_error/minifier_launcher.py >out 2>err &
		pid=$!
		ok "SIG$sig: a search is under way" wait_for err "^failure"
		like "SIG$sig: it runs there" "$(far_processes)" python
		kill -s "$sig" "$pid"
		wait "$pid" 2>/dev/null
		is "SIG$sig: status" $? "$([ "$sig" = INT ] && echo 130 || echo 137)"
		far_idle "SIG$sig"
	done
}
