# roots.sh - clean systems to build and try packages in (debootstrap, as root): sourced by packaging/*-in-root and check-*.
# shellcheck shell=bash
#
#     root=$(root_of bullseye gcc make)       # made once, kept in $ROOTS with these packages
#     try=$(root_fresh trixie python3)        # a copy of it, for once: root_drop "$try"
#     inside "$try" command...                # as root; inside_as "$try" command... as the user `guest`, in its home
ROOTS=${ROOTS:-$PWD/build/roots}

root_die() { echo "${root_name:-${0##*/}}: $1" >&2; exit 4; }
root_needs() {
	[ "$(id -u)" = 0 ] || root_die "needs root, for debootstrap and chroot; $1"
	command -v debootstrap >/dev/null || root_die "debootstrap is missing (apt-get install debootstrap)"
}
# Where this system's apt gets Debian from.
root_mirror() {
	local at=${MIRROR-}
	[ -z "$at" ] || { echo "$at"; return; }
	# shellcheck disable=SC2016 # apt's
	at=$(apt-get indextargets 'Created-By: Packages' 'Label: Debian' --format '$(SITE)' 2>/dev/null | sort -u | head -1)
	[ -n "$at" ] || root_die "this system's apt gets nothing of Debian's: MIRROR=http://... says from where"
	echo "$at"
}
# Ubuntu's have a mirror and keys of their own (its package ubuntu-keyring); debootstrap's script for all of them is gutsy's.
ubuntu() { # ubuntu SUITE
	case $1 in noble) true ;; *) false ;; esac
}
root_of() { # root_of SUITE PACKAGE...
	local suite=$1 dir log keys=${UBUNTU_KEYS:-/usr/share/keyrings/ubuntu-archive-keyring.gpg} by=(--variant=minbase --include=ca-certificates) from
	shift
	dir=$ROOTS/$suite-$(printf '%s ' "$@" | cksum | cut -d' ' -f1)
	log=$dir.log
	if [ ! -e "$dir/.whole" ]; then
		mkdir -p "$ROOTS"
		rm -rf "$dir"
		echo "a root of $suite in $dir" >&2
		if ubuntu "$suite"; then
			[ -e "$keys" ] || root_die "Ubuntu's keys are missing: UBUNTU_KEYS=ubuntu-archive-keyring.gpg says where (of its package ubuntu-keyring)"
			by+=(--keyring="$keys" --components=main,universe)
			from=("${UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}" gutsy)
		else
			from=("$(root_mirror)") || exit 4
		fi
		if ! { debootstrap "${by[@]}" "$suite" "$dir" "${from[@]}" &&
			inside "$dir" useradd -m -s /bin/bash guest &&
			inside "$dir" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; } >"$log" 2>&1; then
			tail -5 "$log" >&2
			root_die "cannot make a root of $suite (the whole output: $log)"
		fi
		touch "$dir/.whole"
	fi
	echo "$dir"
}
root_fresh() {
	local from to
	from=$(root_of "$@") || exit 4
	to=$(mktemp -d "$ROOTS/try.XXXXXX")
	cp -a --reflink=auto "$from/." "$to"
	chmod 755 "$to"
	echo "$to"
}
root_drop() { rm -rf --one-file-system "$1"; }
# With /proc and /dev of its own; nothing stays mounted, and no process behind.
inside() {
	local root=$1
	shift
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --pid --fork --kill-child sh -c 'root=$1 && shift && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
		exec chroot "$root" env -i HOME=/root LC_ALL=C.UTF-8 TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' sh "$root" "$@"
}
inside_as() {
	local root=$1
	shift
	inside "$root" setpriv --reuid=guest --regid=guest --init-groups env HOME=/home/guest sh -c 'cd && exec "$@"' sh "$@"
}
# The tree as git has it, and what is not committed yet; or as a tarball had it: without what a build has made.
root_files() {
	if [ -e .git ]; then git ls-files -co --exclude-standard -z; else find . \( -path './build*' -o -path "$ROOTS" \) -prune -o ! -type d -print0; fi
}
root_tree() { # root_tree ROOT FOLDER
	mkdir -p "$1/$2"
	root_files | while IFS= read -r -d '' f; do [ -e "$f" ] && printf '%s\0' "$f"; done |
		tar --null -T - -c | tar -C "$1/$2" --no-same-owner -x
}
# The same without a network.
inside_alone() {
	local root=$1
	shift
	inside "$root" unshare --net setpriv --reuid=guest --regid=guest --init-groups env HOME=/home/guest sh -c 'cd && exec "$@"' sh "$@"
}
