#!/bin/bash
# fxminify --launcher 'ssh ...': an sshd on a port of its own, with keys of its own, on this machine (far.sh).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/cluster/far.sh
. "$ROOT/tests/cluster/far.sh"
sshd=$(PATH=$PATH:/usr/sbin command -v sshd)
far_needs ssh ssh-keygen "${sshd:-sshd}"

port=$((20000 + RANDOM % 10000))
ssh-keygen -q -t ed25519 -N '' -f "$FAR/host"
ssh-keygen -q -t ed25519 -N '' -f "$FAR/key"
cp "$FAR/key.pub" "$FAR/authorized"
cat >"$FAR/sshd_config" <<END_OF_CONFIG
ListenAddress 127.0.0.1:$port
HostKey $FAR/host
AuthorizedKeysFile $FAR/authorized
PidFile none
UsePAM no
PermitRootLogin prohibit-password
StrictModes no
SetEnv TMPDIR=$FAR/tmp XDG_CACHE_HOME=$XDG_CACHE_HOME
END_OF_CONFIG
far_start "mount -t tmpfs far /run && mkdir /run/sshd && { '$sshd' -D -e -f '$FAR/sshd_config'; exit; }"

ssh="ssh -F none -p $port -i $FAR/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=$FAR/known -o BatchMode=yes localhost"
for _ in $(seq 50); do
	$ssh true 2>/dev/null && break
	sleep 0.2
done
$ssh true 2>err || skip_all "sshd does not let in: $(tail -n 1 err) $(tail -n 1 "$FAR/log")"
is "the far side does not see this folder" "$($ssh "ls -A $HERE")" ""
unlike "the far side starts elsewhere" "$($ssh pwd)" "^$HERE"

far_cases "$ssh" "ssh -F none -p 1 -o BatchMode=yes localhost" "Connection refused"
done_testing
