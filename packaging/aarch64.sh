# aarch64.sh - AArch64 on a machine that is none: Debian's libraries of it in a folder, its cross compiler, programs that run under qemu. Sourced by
# scripts/check-aarch64 and packaging/wheel/make-aarch64, after packaging/roots.sh.
# shellcheck shell=bash
#
#     root=$(arm_root bookworm zlib1g-dev...)   # made once, kept in $ROOTS: packages of arm64 with what they depend on, unpacked, and no more
#     arm_make "$root" O=build-aarch64 all      # this tree, by the cross compiler
#     arm_run "$root" build-aarch64/bin/tlparse # its programs run, and what they start; arm_chroot "$root" command... as root in that folder
#
# The host stays as it is: apt has folders of its own, and qemu is registered in a user namespace (Linux 6.7 and newer have binfmt_misc for each).
# A filter of system calls cannot be set up under qemu-user; arm_boot is a whole machine.
arm_cross=aarch64-linux-gnu-
export QEMU_CPU=${QEMU_CPU:-max,sve256=on} # as Graviton 3: vectors of 256 bits, which is what packages are compiled for (scripts/fixtures/cross_aoti.py)

arm_needs() {
	local missing=() c
	for c in "${arm_cross}gcc gcc-aarch64-linux-gnu" "${arm_cross}g++ g++-aarch64-linux-gnu" 'qemu-aarch64-static qemu-user-static' 'apt-get apt' 'unshare util-linux'; do
		command -v "${c%% *}" >/dev/null || missing+=("${c#* }")
	done
	[ ${#missing[@]} = 0 ] || root_die "missing: apt-get install ${missing[*]}"
	arm_run / true 2>/dev/null || root_die "cannot register qemu for AArch64: needs Linux 6.7, and a user who may make namespaces"
}
arm_root() { # arm_root SUITE PACKAGE...
	local suite=$1 dir at mirror deb
	shift
	dir=$ROOTS/arm64-$suite-$(printf '%s ' "$@" | cksum | cut -d' ' -f1)
	[ ! -e "$dir/.whole" ] || { echo "$dir"; return; }
	mirror=$(root_mirror) || exit 4
	at=$dir.apt
	echo "packages of arm64 of $suite in $dir" >&2
	rm -rf "$dir" "$at"
	mkdir -p "$at"/{lists,archives}/partial "$dir"/usr/{bin,sbin,lib}
	: >"$at/status"
	echo "deb $mirror $suite main" >"$at/sources.list"
	local apt=(apt-get -q -o Dir::State="$at" -o Dir::State::Lists="$at/lists" -o Dir::State::status="$at/status" -o Dir::Cache="$at"
		-o Dir::Cache::Archives="$at/archives" -o Dir::Etc::sourcelist="$at/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
	if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends --download-only "$@"; } >"$dir.log" 2>&1; then
		tail -5 "$dir.log" >&2
		root_die "cannot get packages of arm64 (the whole output: $dir.log)"
	fi
	ln -s usr/bin usr/sbin usr/lib "$dir"
	for deb in "$at"/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -C "$dir" --keep-directory-symlink -x || root_die "cannot unpack $deb"
		# shellcheck disable=SC2016 # dpkg-deb's
		dpkg-deb -W --showformat '${source:Package} ${source:Version} (${Package})\n' "$deb" >>"$dir/.packages"
	done
	mkdir -p "$dir"/{proc,dev,tmp,root}
	# As a --sysroot its links must lead to itself.
	(cd "$dir" && find . -type l -lname '/*' | while IFS= read -r l; do
		ln -sfn "$(realpath -m --relative-to="$(dirname "$l")" ".$(readlink "$l")")" "$l"
	done)
	rm -rf "$at"
	touch "$dir/.whole"
	echo "$dir"
}
# Debian's cross compiler looks into its own C library's folders before it looks into --sysroot.
arm_cc() { # arm_cc ROOT : the command of the C compiler
	local ccache
	ccache=$(command -v ccache || true)
	echo "$ccache ${arm_cross}gcc --sysroot=$1 -isystem $1/usr/include/aarch64-linux-gnu -isystem $1/usr/include -B$1/usr/lib/aarch64-linux-gnu -L$1/usr/lib/aarch64-linux-gnu"
}
arm_make() { # arm_make ROOT ARGUMENT...
	local root=$1 ccache lib
	shift
	ccache=$(command -v ccache || true)
	lib=$root/usr/lib/aarch64-linux-gnu
	arm_run "$root" env PKG_CONFIG_LIBDIR="$lib/pkgconfig:$root/usr/share/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root" make -s \
		CC="$(arm_cc "$root")" CXX="$ccache ${arm_cross}g++ --sysroot=$root" AR=${arm_cross}ar OBJCOPY=${arm_cross}objcopy \
		STRIP=${arm_cross}strip "$@"
}
arm_run() { # arm_run ROOT COMMAND...
	local root=$1
	shift
	# The ELF header of its programs and libraries (magic, mask), as Debian's qemu-user registers it; F: the interpreter is opened now.
	# shellcheck disable=SC2016 # for the inner shell
	QEMU_LD_PREFIX=$root unshare --user --map-root-user --mount sh -c 'mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc &&
		printf "%s" ":aarch64:M::\\x7f\\x45\\x4c\\x46\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00:\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff:$(command -v qemu-aarch64-static):POF" >/proc/sys/fs/binfmt_misc/register && exec "$@"' sh "$@"
}
arm_chroot() { # arm_chroot ROOT COMMAND...
	local root=$1
	shift
	# shellcheck disable=SC2016 # for the inner shell
	arm_run / sh -c 'mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev" && exec chroot "$@"' sh "$root" env -i QEMU_CPU="$QEMU_CPU" \
		HOME=/root LC_ALL=C.UTF-8 TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin "$@"
}
# A machine with a kernel of its own (qemu-system-aarch64): FOLDER is its whole file system, /run in it what it does; what that prints is printed.
arm_boot() { # arm_boot KERNEL_ROOT FOLDER
	local kernel=$1 folder=$2
	mkdir -p "$folder"/{bin,proc,sys,dev,tmp}
	cp "$kernel/usr/bin/busybox" "$folder/bin/busybox"
	cat >"$folder/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
ln -s /proc/self/fd /dev/fd
export HOME=/tmp PATH=/usr/bin:/bin
ip link set lo up
sh /run >/dev/ttyAMA0 2>&1
sync
poweroff -f
END
	chmod +x "$folder/init"
	(cd "$folder" && find . | cpio -o -H newc --quiet | gzip -1) >"$folder.initrd"
	timeout 500 qemu-system-aarch64 -M virt -cpu "$QEMU_CPU" -smp 2 -m 2G -kernel "$(ls "$kernel"/boot/vmlinuz-*)" -initrd "$folder.initrd" \
		-append 'console=ttyAMA0 quiet panic=-1' -nographic -no-reboot -nic none </dev/null | tr -d '\r'
	rm -f "$folder.initrd"
}
