/* The system: needed libraries, and the versions of their symbols. */
#include <glob.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/doctor/doctor_part.h"
#include "base/hash.h"
#include "base/io/mapfile.h"

enum { CLIP = 200 }; /* maximum bytes of input text in a message */

/* ---- where ld.so searches ---- */

/* /etc/ld.so.cache (glibc, sysdeps/generic/dl-cache.h: struct cache_file_new): a table of soname and path, as offsets
 * from the header. An old table may precede it. */
struct cache_header {
	char magic[20]; /* glibc-ld.so.cache1.1 */
	uint32_t nlibs, len_strings;
	uint8_t flags, pad[3];
	uint32_t extension, unused[3];
};
struct cache_entry {
	int32_t flags;
	uint32_t key, value, osversion;
	uint64_t hwcap;
};

/* By uname's machine: how that cache marks its libraries (FLAG_..._LIB64 | FLAG_ELF_LIBC6), and Debian's directories for them. */
static const struct system_kind {
	const char *machine;
	int32_t cache_flags;
	const char *folders;
} system_kinds[] = {
    {"x86_64", 0x0303, "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu"},
    {"aarch64", 0x0a03, "/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu"},
    {NULL, 0x0003, ""},
};

static const struct system_kind *kind_of_system(const char *machine)
{
	const struct system_kind *k = system_kinds;
	while (k->machine && strcmp(k->machine, machine))
		k++;
	return k;
}

static struct slice cache_string(struct slice b, uint32_t at)
{
	if (at >= b.n)
		return (struct slice){"", 0};
	size_t left = b.n - at < PATH_MAX ? b.n - at : PATH_MAX;
	const char *end = memchr(b.p + at, 0, left);
	return end ? slice_of(b.p + at, (size_t)(end - b.p) - at) : (struct slice){"", 0};
}

static bool in_cache(struct arena *a, int32_t flags, struct slice soname, struct slice *path)
{
	struct mapfile f;
	struct cache_header h;
	struct cache_entry e;
	bool found = false;
	if (mapfile_open(&f, "/etc/ld.so.cache", NULL) < 0)
		return false;
	const char *at = f.bytes.n ? memmem(f.bytes.p, f.bytes.n, "glibc-ld.so.cache1.1", 20) : NULL;
	struct slice b = at ? slice_of(at, (size_t)(f.bytes.p + f.bytes.n - at)) : (struct slice){"", 0};
	if (b.n >= sizeof(h)) {
		memcpy(&h, b.p, sizeof(h));
		for (uint32_t i = 0; i < h.nlibs && !found && (b.n - sizeof(h)) / sizeof(e) > i; i++) {
			memcpy(&e, b.p + sizeof(h) + (size_t)i * sizeof(e), sizeof(e));
			if (e.flags != flags || !slice_eq(cache_string(b, e.key), soname))
				continue;
			*path = arena_slice(a, cache_string(b, e.value));
			found = true;
		}
	}
	mapfile_close(&f);
	return found;
}

static bool in_folder(struct arena *a, struct slice folder, struct slice soname, struct slice *path)
{
	FREED char *p = xasprintf("%.*s/%.*s", SLN(folder, PATH_MAX), SLN(soname, CLIP));
	struct stat st;
	bool found = folder.n && stat(p, &st) == 0 && S_ISREG(st.st_mode);
	if (found)
		*path = arena_slice(a, slice_str(p));
	return found;
}

static bool in_folders(struct arena *a, const char *list, struct slice soname, struct slice *path)
{
	for (const char *end; list && *list; list = *end ? end + 1 : end) {
		end = strchrnul(list, ':');
		if (in_folder(a, slice_of(list, (size_t)(end - list)), soname, path))
			return true;
	}
	return false;
}

/* The wheels of NVIDIA's libraries, which torch loads before any model: SITE/nvidia/cublas/lib beside SITE/torch/lib.
 */
static bool in_wheels(struct arena *a, struct slice torch, struct slice soname, struct slice *path)
{
	glob_t g;
	FREED char *pattern = xasprintf("%.*s/../../nvidia/*/lib/%.*s", SLN(torch, CLIP), SLN(soname, CLIP));
	bool found = torch.n && glob(pattern, GLOB_NOSORT, NULL, &g) == 0;
	if (!found)
		return false;
	*path = arena_slice(a, slice_str(g.gl_pathv[0]));
	globfree(&g);
	return true;
}

/* Path of a library by its soname, as ld.so would find it; also in torch's directory. False if not found. */
static bool doctor_library_path(struct exam *x, struct slice soname, struct slice *path)
{
	struct arena *a = &x->d->arena;
	const struct modelso *so = &x->so;
	const struct system_kind *kind = kind_of_system(x->host.machine);
	if (!soname.n || slice_chr(soname, '/'))
		return false;
	for (uint32_t i = 0; i < so->n_rpath; i++) {
		FREED char *rpath = xstrndup(so->rpath[i].p, so->rpath[i].n);
		bool found = in_folders(a, rpath, soname, path);
		if (found)
			return true;
	}
	/* A library already loaded by the process takes precedence: importing torch loads its own. */
	return in_folder(a, x->torch, soname, path) || in_wheels(a, x->torch, soname, path) ||
	       in_folders(a, getenv("LD_LIBRARY_PATH"), soname, path) || in_cache(a, kind->cache_flags, soname, path) ||
	       in_folders(a, kind->folders, soname, path) || in_folders(a, "/lib64:/usr/lib64:/lib:/usr/lib", soname, path);
}

/* ---- versions ---- */

static void add_version(void *arg, struct slice version) { intern_add(arg, version); }

static struct slice prefix_of(struct slice version)
{
	size_t n = 0;
	while (n < version.n && !is_digit(version.p[n]))
		n++;
	return slice_of(version.p, n);
}

/* In a described library GLIBC_2.36 includes all earlier versions. */
static bool described_has(const struct doctor_library *l, struct slice version)
{
	for (const char *const *v = l->version; v && *v; v++) {
		struct slice have = slice_str(*v);
		if (slice_eq(have, version) || (slice_eq(prefix_of(have), prefix_of(version)) && prefix_of(version).n < version.n &&
						modelso_version_cmp(have, version) >= 0))
			return true;
	}
	return false;
}

struct library {
	struct slice soname, path;
	bool found;
	const struct doctor_library *described;
	struct intern versions;
	struct slice unread; /* it is there, and why it cannot be read */
};

static void open_library(struct exam *x, struct library *l)
{
	l->found = false;
	for (size_t i = 0; x->host.described && i < x->host.n_library; i++)
		if (slice_is(l->soname, x->host.library[i].soname))
			l->described = &x->host.library[i], l->found = true;
	if (l->found)
		return;
	if (x->host.described) { /* a described machine has only the given torch, nothing else from this machine */
		l->found = in_folder(&x->d->arena, x->torch, l->soname, &l->path) || in_wheels(&x->d->arena, x->torch, l->soname, &l->path);
		return;
	}
	struct mapfile f;
	struct modelso_lib lib;
	struct err err;
	l->found = doctor_library_path(x, l->soname, &l->path);
	FREED char *path = xstrndup(l->path.p, l->path.n);
	if (l->found && mapfile_open(&f, path, &err) == 0) {
		modelso_lib_read(&lib, f.bytes, path, add_version, NULL, &l->versions, NULL);
		mapfile_close(&f);
	} else if (l->found) {
		l->unread = doctor_text(x, "%s", err.text);
	}
}

static bool has_version(const struct library *l, struct slice version)
{
	return l->described ? described_has(l->described, version) : intern_find(&l->versions, version) != NONE;
}

/* The newest of a library's versions with this prefix, for the message. */
static struct slice newest(const struct library *l, struct slice prefix)
{
	struct slice best = {"", 0};
	if (l->described) {
		for (const char *const *v = l->described->version; v && *v; v++)
			if (slice_eq(prefix_of(slice_str(*v)), prefix) && modelso_version_cmp(slice_str(*v), best) > 0)
				best = slice_str(*v);
		return best;
	}
	for (uint32_t i = 0; i < l->versions.n; i++)
		if (slice_eq(prefix_of(intern_get(&l->versions, i)), prefix) && modelso_version_cmp(intern_get(&l->versions, i), best) > 0)
			best = intern_get(&l->versions, i);
	return best;
}

static const char *version_id(struct slice soname)
{
	return slice_is(soname, "libc.so.6")        ? "glibc-version"
	       : slice_is(soname, "libstdc++.so.6") ? "libstdcxx-version"
						    : "library-version";
}

static void check_versions(struct exam *x, const struct library *l)
{
	struct slice worst = {"", 0}, top = {"", 0};
	bool weak = true;
	if (l->unread.n) {
		doctor_add(x, DOCTOR_FATAL, version_id(l->soname), l->unread, SLICE("it will not load"),
			   SLICE("make it readable, or install it again"));
		return;
	}
	for (uint32_t i = 0; i < x->so.n_version; i++) {
		const struct modelso_version *v = &x->so.version[i];
		if (!slice_eq(v->library, l->soname))
			continue;
		if (modelso_version_cmp(v->version, top) > 0)
			top = v->version;
		if (has_version(l, v->version))
			continue;
		if (!worst.n || (weak && !v->weak) || (weak == v->weak && modelso_version_cmp(v->version, worst) > 0))
			worst = v->version;
		weak = weak && v->weak;
	}
	if (!worst.n) {
		if (top.n)
			doctor_ok(x, version_id(l->soname),
				  doctor_text(x, "%.*s has %.*s, the newest version required", SLN(l->soname, CLIP), SLN(top, CLIP)));
		return;
	}
	struct slice have = newest(l, prefix_of(worst));
	doctor_add(x, weak ? DOCTOR_NOTE : DOCTOR_FATAL, version_id(l->soname),
		   doctor_text(x, "needs %.*s of %.*s, but this machine has only %.*s", SLN(worst, CLIP), SLN(l->soname, CLIP),
			       SLN(have.n ? have : SLICE("an older one"), CLIP)),
		   weak ? SLICE("the requirement is weak: it loads, and the missing function is not called")
			: doctor_text(x, "it will not load: \"version `%.*s' not found\"", SLN(worst, CLIP)),
		   slice_is(l->soname, "libstdc++.so.6")
		       ? SLICE("compile with a gcc no newer than this system's, or put a newer libstdc++ first (conda install "
			       "libstdcxx-ng, or LD_LIBRARY_PATH)")
		       : SLICE("compile on a system as old as the oldest it will run on, or run it in a container of a newer "
			       "one"));
}

/* ---- the check ---- */

/* Reported once, by the checks of the driver and of torch. */
static bool said_elsewhere(struct exam *x, struct slice soname)
{
	if (x->so.device_code != DEVICE_CODE_CUDA)
		return false;
	if (slice_find(soname, "_cuda.so"))
		return doctor_torch_without_cuda(x);
	if (!slice_is(soname, "libcuda.so.1"))
		return false;
	doctor_ask_driver(x);
	return !x->host.gpu_driver;
}

static void missing_library(struct exam *x, struct slice soname)
{
	if (said_elsewhere(x, soname))
		return;
	if (modelso_of_torch(soname)) {
		if (x->torch.n)
			doctor_add(x, DOCTOR_FATAL, "library-missing",
				   doctor_text(x, "needs %.*s, which this torch (%.*s) lacks", SLN(soname, CLIP), SLN(x->torch, CLIP)),
				   SLICE("it will not load: \"cannot open shared object file\""),
				   slice_find(soname, "cuda") && x->so.device_code == DEVICE_CODE_CPU
				       ? doctor_text(x, "patchelf --remove-needed %.*s: a CPU model does not use it", SLN(soname, CLIP))
				   : slice_find(soname, "cuda") ? SLICE("install a torch with CUDA; this one is for the CPU")
								: SLICE("use the same kind of torch that it was compiled with"));
		return; /* doctor_torch reports it if there is no torch */
	}
	bool driver = slice_is(soname, "libcuda.so.1");
	doctor_add(x, DOCTOR_FATAL, "library-missing", doctor_text(x, "needs %.*s, which is not installed", SLN(soname, CLIP)),
		   SLICE("it will not load: \"cannot open shared object file\""),
		   driver ? SLICE("it is part of the NVIDIA driver: run on a machine with a GPU, or in a container "
				  "with access to one")
			  : SLICE("install the package that has it, or add its directory to LD_LIBRARY_PATH"));
}

/* Inductor's weights come from an object without .note.GNU-stack, for which the linker requests an executable stack. dlopen() of glibc 2.41
 * and newer refuses it ("cannot enable executable stack as shared object requires: Invalid argument"; its NEWS). The fixes were tested with
 * torch 2.15 on Debian 13. */
static void check_stack(struct exam *x)
{
	struct library c = {.soname = SLICE("libc.so.6")};
	if (!x->so.exec_stack) {
		doctor_ok(x, "exec-stack", SLICE("does not need an executable stack"));
		return;
	}
	open_library(x, &c);
	struct slice have = newest(&c, SLICE("GLIBC_"));
	const bool here = modelso_version_cmp(have, SLICE("GLIBC_2.41")) >= 0, fatal = here && !x->o->no_torch;
	doctor_add(x, fatal ? DOCTOR_FATAL : DOCTOR_NOTE, "exec-stack",
		   doctor_text(x, "needs an executable stack, which glibc 2.41 and newer refuse%s%.*s", here ? "; this machine has " : "",
			       SL(here ? have : SLICE(""))),
		   doctor_text(x,
			       "%s will not load it: \"cannot enable executable stack as shared object requires\"; "
			       "these tools run a copy that does not need one",
			       here ? "torch" : "on a newer system (Debian 13) torch"),
		   SLICE("run with GLIBC_TUNABLES=glibc.rtld.execstack=2, or patchelf --clear-execstack (0.18) the library, or compile "
			 "with CXX set to a "
			 "script with exec g++ -z noexecstack \"$@\""));
	intern_release(&c.versions);
}

/* std::locale has a table of facets, and each facet's class a number, its place there. Of the numbers that templates have (STB_GNU_UNIQUE)
 * a process has one each; the tables and the other numbers a library with libstdc++ inside has for itself, and counts from 1 again: of two
 * facets with one number one is lost. Tried with torch 2.11: std::bad_cast from std::regex, by which a model reads the device's name
 * (aoti_runtime/model_base.h of 2.11, 2.13 and 2.15). Not so in a program that is linked with libstdc++.so.6, whose names come first. */
static void check_cxx(struct exam *x)
{
	if (x->so.own_locale)
		doctor_add(x, DOCTOR_WARNING, "libstdcxx-static",
			   SLICE("has a libstdc++ inside (g++ -static-libstdc++), whose std::locale fails beside torch's"),
			   SLICE("in Python loading it fails with std::bad_cast, or crashes"),
			   SLICE("compile with CXX set to a script with exec g++ \"$@\" -Wl,--exclude-libs,ALL, or run with "
				 "LD_PRELOAD=libstdc++.so.6 (no help if it was linked with -Bsymbolic)"));
}

void doctor_system(struct exam *x)
{
	unsigned missing = 0, here = 0;
	if (strcmp(x->host.machine, modelso_machine_name(x->so.machine, x->so.big_endian)))
		return;
	for (uint32_t i = 0; i < x->so.n_needed; i++) {
		struct library l = {.soname = x->so.needed[i]};
		open_library(x, &l);
		if (l.found)
			check_versions(x, &l);
		else
			missing_library(x, l.soname), missing += !modelso_of_torch(l.soname);
		here += l.found && !modelso_of_torch(l.soname);
		intern_release(&l.versions);
	}
	if (!missing && here)
		doctor_ok(x, "library-missing", doctor_text(x, "the %u libraries it needs besides torch are installed", here));
	check_stack(x);
	check_cxx(x);
	if (x->so.n_rpath)
		doctor_add(x, DOCTOR_NOTE, "rpath", doctor_text(x, "searches for libraries in %.*s first", SLN(x->so.rpath[0], CLIP)),
			   SLICE("a torch found there differs from the one the process has loaded"), SLICE("patchelf --remove-rpath"));
}
