/* The libtorch the model will use: its location, its version, and whether it has every function that the model calls. */
#include <dirent.h>
#include <sys/stat.h>

#include "model/doctor/doctor_part.h"
#include "model/doctor/shimversions.h"
#include "base/hash.h"
#include "base/io/mapfile.h"

enum { CLIP = 400 }; /* maximum bytes of input text in a message */

/* ---- finding it ---- */

static bool is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* `at` may be the directory of libraries, a torch (with lib/ below), a site-packages, or libtorch_cpu.so. */
static bool try_folder(struct arena *a, const char *at, struct slice *folder)
{
	static const char *const below[] = {"", "/lib", "/torch/lib"};
	size_t n = strlen(at);
	if (slice_ends(slice_str(at), "/libtorch_cpu.so") && is_file(at)) {
		*folder = arena_slice(a, slice_of(at, n - strlen("/libtorch_cpu.so")));
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(below); i++) {
		FREED char *path = xasprintf("%s%s/libtorch_cpu.so", at, below[i]);
		bool found = is_file(path);
		if (found)
			*folder = arena_slice(a, slice_of(path, strlen(path) - strlen("/libtorch_cpu.so")));
		if (found)
			return true;
	}
	return false;
}

/* PREFIX/lib/python3.N/site-packages, newest first; and Debian's dist-packages. */
static bool try_prefix(struct arena *a, const char *prefix, struct slice *folder)
{
	static const char *const lib[] = {"lib", "lib64"}, *const kind[] = {"site-packages", "dist-packages"};
	bool found = false;
	if (!prefix || !*prefix)
		return false;
	for (unsigned v = 20; !found && v >= 8; v--)
		for (unsigned i = 0; !found && i < 4; i++) {
			FREED char *path = xasprintf("%s/%s/python3.%u/%s", prefix, lib[i / 2], v, kind[i % 2]);
			found = try_folder(a, path, folder);
		}
	FREED char *debian = xasprintf("%s/lib/python3/dist-packages", prefix);
	return found || try_folder(a, debian, folder);
}

/* The python3 that the shell would run: its prefix is the part before bin/. */
static bool try_path(struct arena *a, struct slice *folder)
{
	for (const char *p = getenv("PATH"), *end; p && *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, ':');
		char *bin = xstrndup(p, (size_t)(end - p)), *python = xasprintf("%s/python3", bin);
		bool here = slice_ends(slice_str(bin), "/bin") && is_file(python), found = false;
		if (here) {
			bin[strlen(bin) - strlen("/bin")] = 0;
			found = try_prefix(a, bin, folder);
		}
		free(python);
		free(bin);
		if (here) /* the first python3 is the one that would run */
			return found;
	}
	return false;
}

static struct slice read_version(struct arena *a, struct slice folder)
{
	struct mapfile f;
	struct slice line, version = {"", 0};
	char *py = xasprintf("%.*s/../version.py", SLN(folder, CLIP)), *plain = xasprintf("%.*s/../build-version", SLN(folder, CLIP));
	if (is_file(py) && mapfile_open(&f, py, NULL) == 0) {
		struct slice rest = f.bytes;
		while (!version.n && slice_line(&rest, &line)) {
			const char *q = slice_starts(line, "__version__") ? slice_chr(line, '\'') : NULL;
			const char *end = q ? memchr(q + 1, '\'', (size_t)(line.p + line.n - q - 1)) : NULL;
			if (end)
				version = arena_slice(a, slice_of(q + 1, (size_t)(end - q - 1)));
		}
		mapfile_close(&f);
	} else if (is_file(plain) && mapfile_open(&f, plain, NULL) == 0) { /* libtorch-*.zip */
		struct slice rest = f.bytes;
		if (slice_line(&rest, &line))
			version = arena_slice(a, slice_trim(line));
		mapfile_close(&f);
	}
	free(py);
	free(plain);
	return version;
}

bool doctor_find_torch(struct arena *a, const char *given, struct slice *folder, struct slice *version)
{
	static const char *const env[] = {"PT2_TORCH", "LIBTORCH"};
	static const char *const prefix[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
	bool found = given && try_folder(a, given, folder);
	found = found || (given && try_prefix(a, given, folder));
	for (size_t i = 0; !given && !found && i < ARRAY_LEN(env); i++)
		found = getenv(env[i]) && *getenv(env[i]) && try_folder(a, getenv(env[i]), folder);
	for (size_t i = 0; !given && !found && i < ARRAY_LEN(prefix); i++)
		found = try_prefix(a, getenv(prefix[i]), folder);
	if (!given && !found)
		found = try_path(a, folder) || try_prefix(a, "/usr/local", folder) || try_prefix(a, "/usr", folder) ||
			try_folder(a, "/usr/local/libtorch", folder) || try_folder(a, "/opt/libtorch", folder) ||
			try_folder(a, "/usr/lib/x86_64-linux-gnu", folder);
	if (found)
		*version = read_version(a, *folder);
	return found;
}

/* ---- versions of functions ---- */

/* The rows of both tables begin with the name. */
static int compare_name(const void *key, const void *row)
{
	return slice_cmp(*(const struct slice *)key, slice_str(*(const char *const *)row));
}

/* The torch 2.N that introduced a function; 0: the oldest known or earlier; SHIM_ABSENT: not a torch function. */
static unsigned since(struct slice name)
{
	static const char *const device[] = {"aoti_torch_cpu_", "aoti_torch_cuda_", "aoti_torch_mps_", "aoti_torch_xpu_"};
	for (size_t i = 0; i < ARRAY_LEN(device); i++)
		if (slice_starts(name, device[i])) {
			const struct slice stem = slice_of(name.p + strlen(device[i]), name.n - strlen(device[i]));
			const struct shim_operator *o =
			    bsearch(&stem, shim_operators, ARRAY_LEN(shim_operators), sizeof(*shim_operators), compare_name);
			return o ? o->minor[i] : SHIM_ABSENT;
		}
	const struct shim_version *v = bsearch(&name, shim_versions, ARRAY_LEN(shim_versions), sizeof(*shim_versions), compare_name);
	return v ? v->minor : SHIM_ABSENT;
}

/* The oldest torch 2.N that has all its imports; SHIM_OLDEST if nothing is newer. *why: the newest import. */
static unsigned oldest_torch(const struct modelso *so, struct slice *why)
{
	unsigned minor = SHIM_OLDEST;
	for (uint32_t i = 0; i < so->n_import; i++) {
		const unsigned v = since(so->import[i].name);
		if (v != SHIM_ABSENT && v > minor)
			minor = v, *why = so->import[i].name;
	}
	return minor;
}

/* Every model has all entry points of its torch, except those that the generated code adds only to some. */
static bool optional(const char *entry) { return strstr(entry, "MinimalArrayref"); }

/* The torch 2.N that compiled it, judging by its exports: *from to *to; *from 0: an old one; *to SHIM_NEWEST: or a newer one. */
static void compiled_by(const struct modelso *so, unsigned *from, unsigned *to)
{
	*from = 0, *to = SHIM_NEWEST;
	for (size_t i = 0; i < ARRAY_LEN(entry_versions); i++) {
		const struct shim_version *v = &entry_versions[i];
		if (modelso_exports(so, v->name))
			*from = v->minor > *from ? v->minor : *from;
		else if (!optional(v->name) && v->minor <= *to)
			*to = v->minor ? v->minor - 1u : 0;
	}
}

/* ---- its symbols ---- */

struct found {
	struct intern want;
	bool *have;
	bool cxx11, old_abi;
	bool no_cuda;   /* it is for the cpu, the model is not: CUDA functions are not checked */
	unsigned minor; /* newest torch 2.N whose functions it has */
};

static void exported(void *arg, struct slice name)
{
	struct found *f = arg;
	uint32_t i = intern_find(&f->want, name);
	if (i != NONE)
		f->have[i] = true;
	if (slice_starts(name, "aoti_torch_") || slice_starts(name, "torch_")) {
		const unsigned v = since(name);
		f->minor = v != SHIM_ABSENT && v > f->minor ? v : f->minor;
	}
	/* torch's own functions only: templates of others may be of either kind */
	if (slice_starts(name, "_ZN2at") || slice_starts(name, "_ZN3c10")) {
		f->cxx11 = f->cxx11 || slice_find(name, "7__cxx1112basic_string");
		f->old_abi = f->old_abi || slice_find(name, "RKSs");
	}
}

/* All of torch's libraries count: aoti_torch_cuda_* is in libtorch_cuda.so. The biggest (300 MB) is read in 10 ms.
 */
static void read_libraries(struct exam *x, struct found *f)
{
	FREED char *folder = xstrndup(x->torch.p, x->torch.n);
	DIR *d = opendir(folder);
	struct dirent *e;
	while (d && (e = readdir(d))) {
		struct slice name = slice_str(e->d_name);
		struct mapfile file;
		struct modelso_lib lib;
		if (!modelso_of_torch(name) || !slice_ends(name, ".so"))
			continue;
		FREED char *path = xasprintf("%s/%s", folder, e->d_name);
		if (is_file(path) && mapfile_open(&file, path, NULL) == 0) {
			modelso_lib_read(&lib, file.bytes, path, NULL, exported, f, NULL);
			mapfile_close(&file);
		}
	}
	if (d)
		closedir(d);
}

static bool from_torch(const struct modelso_import *im)
{
	return !im->weak && (im->origin == FROM_AOTI || im->origin == FROM_TORCH || im->origin == FROM_SLEEF);
}

bool doctor_torch_without_cuda(const struct exam *x)
{
	FREED char *path = xasprintf("%.*s/libtorch_cuda.so", SL(x->torch));
	return x->torch.n && !is_file(path);
}

static void report_missing(struct exam *x, const struct found *f, struct slice version)
{
	LOCAL_BUF b = {0};
	unsigned n = 0, newest = 0, unknown = 0;
	for (uint32_t i = 0; i < f->want.n; i++) {
		if (f->have[i])
			continue;
		struct slice name = intern_get(&f->want, i);
		const unsigned v = since(name), known = v == SHIM_ABSENT ? 0 : v;
		unknown += v == SHIM_ABSENT;
		newest = known > newest ? known : newest;
		if (n++ < 5)
			buf_addf(&b, known ? "%s%.*s (since torch 2.%u)" : "%s%.*s", n > 1 ? ", " : "", SLN(name, CLIP), known);
	}
	if (n > 5)
		buf_addf(&b, " and %u more", n - 5);
	struct slice have = version.n ? version : SLICE("of an unknown version");
	if (!n)
		doctor_ok(x, "torch-symbols",
			  doctor_text(x, "torch %.*s has all %u functions it calls%s", SLN(have, CLIP), f->want.n,
				      f->no_cuda ? ", except CUDA's" : ""));
	else
		doctor_add(x, DOCTOR_FATAL, "torch-symbols",
			   doctor_text(x, "needs %s, which torch %.*s (%.*s) lacks", buf_str(&b), SLN(have, CLIP), SLN(x->torch, CLIP)),
			   SLICE("it will not load, or crashes on the first call: \"undefined symbol\""),
			   newest
			       ? doctor_text(x, "run it with torch 2.%u or newer, or recompile it with the torch that will run it", newest)
			   : unknown == n ? SLICE("first load the library that defines them (a custom operator's?), or "
						  "recompile it with the torch "
						  "that will run it")
					  : SLICE("use the same kind of torch that it was compiled with (CUDA, XPU)"));
}

/* Strings cross between model and torch only in old entry points (constant maps), so a mismatch alone is not a failure. */
static void report_abi(struct exam *x, const struct found *f)
{
	if (!(f->cxx11 || f->old_abi) || !(x->so.cxx11_abi || x->so.old_abi))
		return;
	bool model_old = x->so.old_abi && !x->so.cxx11_abi, torch_old = f->old_abi && !f->cxx11;
	if (model_old == torch_old)
		doctor_ok(x, "cxx-abi", doctor_text(x, "C++ ABI: both %s std::__cxx11::string", model_old ? "without" : "with"));
	else
		doctor_add(x, DOCTOR_WARNING, "cxx-abi",
			   doctor_text(x, "compiled %s std::__cxx11::string, but this torch is %s it", model_old ? "without" : "with",
				       torch_old ? "without" : "with"),
			   SLICE("loading works, since the interface is C; exchanging or extracting constants by name "
				 "passes C++ maps and crashes"),
			   SLICE("recompile it with the torch that will run it"));
}

static void needed_version(struct exam *x)
{
	struct slice why = {"", 0};
	unsigned oldest = oldest_torch(&x->so, &why), from, to;
	compiled_by(&x->so, &from, &to);
	if (from) {
		/* Some functions are missing that an earlier torch has: a model with parts of its own. */
		const char *newer = to >= SHIM_NEWEST || to < from ? " or newer" : "";
		struct slice by = *newer || to == from ? doctor_text(x, "2.%u%s", from, newer) : doctor_text(x, "2.%u to 2.%u", from, to);
		doctor_ok(x, "torch-compiled", doctor_text(x, "compiled by torch %.*s (from its exports)", SLN(by, CLIP)));
	}
	if (why.n)
		doctor_ok(x, "torch-needed", doctor_text(x, "calls functions of torch 2.%u (%.*s)", oldest, SLN(why, CLIP)));
}

void doctor_torch(struct exam *x)
{
	struct found f = {0};
	struct slice version = {"", 0}, folder;
	if (x->so.runtime == RUNTIME_NONE || x->so.runtime == RUNTIME_STANDALONE || x->so.runtime == RUNTIME_PREFIXED)
		return;
	needed_version(x);
	if (!x->torch.n) {
		doctor_add(x, DOCTOR_NOTE, "torch-found",
			   x->o->no_torch ? SLICE("not checked against any torch") : SLICE("no libtorch found to check against"),
			   SLICE("missing functions would only be noticed when it is loaded"),
			   x->o->no_torch ? SLICE("") : SLICE("pass one: its directory or libtorch_cpu.so, or set PT2_TORCH"));
		return;
	}
	doctor_find_torch(&x->d->arena, x->o->torch, &folder, &version);
	f.no_cuda = x->so.device_code == DEVICE_CODE_CUDA && doctor_torch_without_cuda(x);
	if (f.no_cuda)
		doctor_add(x, DOCTOR_FATAL, "torch-cpu",
			   doctor_text(x, "compiled for CUDA, but this torch (%.*s) is for the cpu: it has no libtorch_cuda.so",
				       SLN(x->torch, CLIP)),
			   SLICE("it will not load: \"libtorch_cuda.so: cannot open shared object file\", or \"undefined symbol\""),
			   SLICE("install a torch with CUDA"));
	for (uint32_t i = 0; i < x->so.n_import; i++)
		if (from_torch(&x->so.import[i]) && !(f.no_cuda && slice_find(x->so.import[i].name, "_cuda_")))
			intern_add(&f.want, x->so.import[i].name);
	f.have = xcalloc(f.want.n, sizeof(*f.have));
	read_libraries(x, &f);
	if (!version.n && f.minor)
		version = doctor_text(x, "2.%u (from its functions)", f.minor);
	report_missing(x, &f, version);
	report_abi(x, &f);
	free(f.have);
	intern_release(&f.want);
}
