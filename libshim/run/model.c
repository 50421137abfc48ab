/* model.c - loads a runtime and a model, and calls it. Everything in both is found by name: the model's entry points (torch 2.13,
 * torch/csrc/inductor/aoti_runtime/interface.h) and the runtime's C interface, whichever library it comes from. */
#include "proxy.h"
#include "run.h"

#include "model/elf/modelso.h"
#include "base/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

typedef struct opaque *tensor;
typedef struct container *container;

/* Entry points of the model; those of the oldest supported torch exist, newer ones may be NULL. */
struct model {
	void *so;
	int32_t (*create_with_device)(container *c, size_t models, const char *device, const char *dir);
	int32_t (*create)(container *c, size_t models, bool is_cpu, const char *dir);
	int32_t (*destroy)(container c);
	int32_t (*run)(container c, tensor *in, size_t n_in, tensor *out, size_t n_out, void *stream, void *proxy);
	int32_t (*n_inputs)(container c, size_t *n);
	int32_t (*n_outputs)(container c, size_t *n);
	int32_t (*from_blob)(container c, const uint8_t *blob);
	int32_t (*last_error)(const char **text);
	container c;
	struct proxy *proxy; /* NULL: it calls nothing through one */
	bool no_weights;     /* none in its library */
};

struct torch {
	void *so;
	int32_t (*empty_strided)(int64_t n, const int64_t *size, const int64_t *stride, int32_t dtype, int32_t device, int32_t index,
				 tensor *ret);
	int32_t (*data_ptr)(tensor t, void **ret);
	int32_t (*sizes)(tensor t, int64_t **ret);
	int32_t (*strides)(tensor t, int64_t **ret);
	int32_t (*dim)(tensor t, int64_t *ret);
	int32_t (*dtype)(tensor t, int32_t *ret);
	int32_t (*drop)(tensor t);
	/* for a GPU */
	int32_t (*device)(tensor t, int32_t *ret);
	int32_t (*copy)(tensor to, tensor from, int32_t non_blocking);
	int32_t (*settle)(tensor to, tensor from, int32_t non_blocking); /* the same function; NULL if missing */
	const char *(*last_error)(void);                                 /* libpt2shim.so only */
	bool (*starved)(void);
	void (*guard_freed)(void);
};

static uint64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- what is missing ---- */

static int load_needed(const struct modelso *m, struct err *err)
{
	for (uint32_t i = 0; i < m->n_needed; i++) {
		char name[256];
		if (modelso_of_torch(m->needed[i]) || slice_starts(m->needed[i], "ld-linux"))
			continue;
		snprintf(name, sizeof(name), "%.*s", SL(m->needed[i]));
		if (!dlopen(name, RTLD_LAZY | RTLD_LOCAL))
			return err_set(err, EXIT_ENVIRON, "'%s' needs %s, which is not installed", m->name, name);
	}
	return 0;
}

static bool defined_somewhere(const struct modelso *m, const struct torch *t, const char *name)
{
	if (dlsym(t->so, name) || dlsym(RTLD_DEFAULT, name))
		return true;
	for (uint32_t i = 0; i < m->n_needed; i++) {
		char library[256];
		snprintf(library, sizeof(library), "%.*s", SL(m->needed[i]));
		void *so = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
		bool found = so && dlsym(so, name);
		if (so)
			dlclose(so);
		if (found)
			return true;
	}
	return false;
}

static int compare_names(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	return slice_cmp(*x, *y);
}

static size_t find_missing(const struct modelso *m, const struct torch *t, struct slice *missing)
{
	size_t n = 0;
	for (uint32_t i = 0; i < m->n_import; i++) {
		const struct modelso_import *s = &m->import[i];
		char name[512];
		if (s->weak || s->version.n)
			continue;
		snprintf(name, sizeof(name), "%.*s", SL(s->name));
		if (!defined_somewhere(m, t, name))
			missing[n++] = s->name;
	}
	return n;
}

/* Loads one of torch's libraries beside libtorch_cpu.so. */
static void load_beside(const struct job *j, struct slice soname)
{
	const struct slice folder = path_folder(j->torch);
	char path[4096];
	if (modelso_of_torch(soname) && snprintf(path, sizeof(path), "%.*s/%.*s", SL(folder), SL(soname)) < (int)sizeof(path))
		dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
}

/* The copy needs none of torch's libraries by name (modelso_make_loadable): installed ones are only loaded if something is missing without
 * them, since libtorch.so of a CUDA wheel pulls in all of CUDA. */
static int name_missing(const struct modelso *m, const struct job *j, const struct torch *t, struct err *err)
{
	struct slice *missing = xcalloc((size_t)m->n_import + 1, sizeof(*missing));
	size_t n = find_missing(m, t, missing);
	for (uint32_t i = 0; n && !t->last_error && i < m->n_needed; i++)
		load_beside(j, m->needed[i]);
	if (n && !t->last_error)
		n = find_missing(m, t, missing);
	qsort(missing, n, sizeof(*missing), compare_names);
	struct buf b = {0};
	for (size_t i = 0; i < n && b.len < 700; i++)
		buf_addf(&b, "%s%.*s", i ? ", " : "", SLN(missing[i], 200));
	bool own = t->last_error != NULL;
	if (n)
		err_set(err, EXIT_INPUT, "'%s' needs functions that %s lacks: %s%s", m->name, own ? "libpt2shim.so" : "this libtorch",
			buf_str(&b), own ? "; run it with an installed libtorch (--torch)" : "");
	buf_release(&b);
	free(missing);
	return n ? -1 : 0;
}

/* pt2-runner's own folder, by its name before view_enter(). */
static char own_folder[4096];

static void find_own_folder(void)
{
	ssize_t n = readlink("/proc/self/exe", own_folder, sizeof(own_folder) - 1);
	own_folder[n > 0 ? n : 0] = 0;
	char *slash = strrchr(own_folder, '/');
	if (slash)
		*slash = 0;
}

/* A library in pt2-runner's own folder (from a wheel), else the system's. */
static void *load_own(const char *soname)
{
	FREED char *path = xasprintf("%s/%s", own_folder, soname);
	void *so = *own_folder ? dlopen(path, RTLD_LAZY | RTLD_GLOBAL) : NULL;
	return so ? so : dlopen(soname, RTLD_LAZY | RTLD_GLOBAL);
}

/* libtorch_cpu.so contains Sleef; the system's has the same interface. */
static int load_sleef(const struct modelso *m, const struct torch *t, struct err *err)
{
	for (uint32_t i = 0; i < m->n_import; i++) {
		char name[128];
		if (m->import[i].origin != FROM_SLEEF)
			continue;
		snprintf(name, sizeof(name), "%.*s", SL(m->import[i].name));
		if (dlsym(t->so, name))
			return 0;
		if (!load_own("libsleef.so.3"))
			return err_set(err, EXIT_ENVIRON, "'%s' calls %s, which needs libsleef.so.3: install libsleef3, or use --torch",
				       m->name, name);
		return 0;
	}
	return 0;
}

#define PROXY_CALL "aoti_torch_proxy_executor_call_function"

static int refuse_model(const struct modelso *m, const struct job *j, struct err *err)
{
	if (m->runtime != RUNTIME_TORCH && m->runtime != RUNTIME_SHIM)
		return err_set(err, EXIT_INPUT, "'%s' was not built for libtorch: %s%s%.*s", m->name, modelso_runtime_name(m->runtime),
			       m->shim_prefix.n ? ", prefix " : "", SL(m->shim_prefix));
	if (m->api < API_CONTAINER)
		return err_set(err, EXIT_INPUT, "'%s' has no model container to run: %s", m->name, modelso_api_name(m->api));
	if (m->device_code != (j->gpu ? DEVICE_CODE_CUDA : DEVICE_CODE_CPU))
		return err_set(err, EXIT_INPUT, "'%s' was compiled for %s", m->name,
			       m->device_code == DEVICE_CODE_CPU    ? "the CPU"
			       : m->device_code == DEVICE_CODE_CUDA ? "CUDA"
								    : "a non-CUDA GPU");
	if (modelso_imports(m, PROXY_CALL) && !j->extern_nodes)
		return err_set(
		    err, EXIT_INPUT,
		    "'%s' calls operators through the proxy executor, but the package's list of them (*.wrapper.json) is missing", m->name);
	return 0;
}

static int open_proxy(const struct modelso *m, const struct job *j, const struct torch *t, struct proxy **p, struct err *err)
{
	struct mapfile f;
	if (!j->extern_nodes || !modelso_imports(m, PROXY_CALL))
		return 0;
	if (mapfile_open(&f, j->extern_nodes, err) < 0)
		return -1;
	*p = proxy_open(t->so, m->name, f.bytes, err);
	mapfile_close(&f);
	return *p ? 0 : -1;
}

static int check_model(const struct job *j, const struct torch *t, struct model *model, struct err *err)
{
	struct mapfile f;
	struct modelso m;
	if (mapfile_open(&f, j->model, err) < 0)
		return -1;
	int r = modelso_open(&m, f.bytes, j->name, err);
	if (!r) {
		r = refuse_model(&m, j, err) < 0 || load_needed(&m, err) < 0 || load_sleef(&m, t, err) < 0 ||
			    name_missing(&m, j, t, err) < 0 || open_proxy(&m, j, t, &model->proxy, err) < 0
			? -1
			: 0;
		model->no_weights = m.constants.form == CONSTANTS_NONE;
		modelso_close(&m);
	}
	mapfile_close(&f);
	return r;
}

/* ---- loading ---- */

/* dlsym() gives functions as data pointers. */
#define FIND(so, name, into) (*(void **)&(into) = dlsym((so), (name)))

static int load_torch(struct torch *t, const char *path, struct err *err)
{
	/* Global: a model that was linked without libtorch finds its functions too. */
	t->so = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
	if (!t->so)
		return err_set(err, EXIT_ENVIRON, "cannot load '%s': %s", path, dlerror());
	if (!FIND(t->so, "aoti_torch_empty_strided", t->empty_strided) || !FIND(t->so, "aoti_torch_get_data_ptr", t->data_ptr) ||
	    !FIND(t->so, "aoti_torch_get_sizes", t->sizes) || !FIND(t->so, "aoti_torch_get_strides", t->strides) ||
	    !FIND(t->so, "aoti_torch_get_dim", t->dim) || !FIND(t->so, "aoti_torch_get_dtype", t->dtype) ||
	    !FIND(t->so, "aoti_torch_delete_tensor_object", t->drop))
		return err_set(err, EXIT_ENVIRON, "'%s' has no AOTInductor interface (needs torch 2.4 or later)", path);
	FIND(t->so, "shim_last_error", t->last_error);
	FIND(t->so, "shim_starved", t->starved);
	FIND(t->so, "shim_guard_freed", t->guard_freed);
	FIND(t->so, "aoti_torch_copy_", t->settle);
	return 0;
}

/* Loads the libraries of an installed libtorch that are for CUDA. */
static int load_torch_cuda(struct torch *t, const char *torch, struct err *err)
{
	char path[4096];
	const struct slice folder = path_folder(torch);
	snprintf(path, sizeof(path), "%.*s/libtorch_cuda.so", SL(folder));
	if (access(path, F_OK) < 0)
		return err_set(err, EXIT_ENVIRON, "'%s' is a libtorch without CUDA: no libtorch_cuda.so beside it", torch);
	if (!dlopen(path, RTLD_LAZY | RTLD_GLOBAL))
		return err_set(err, EXIT_ENVIRON, "cannot load '%s': %s", path, dlerror());
	if (!FIND(t->so, "aoti_torch_get_device_type", t->device) || !FIND(t->so, "aoti_torch_copy_", t->copy))
		return err_set(err, EXIT_ENVIRON, "'%s' cannot copy tensors (aoti_torch_copy_ needs torch 2.5 or later)", torch);
	return 0;
}

static void load_needed_of(void *arg, struct slice soname) { load_beside(arg, soname); }

/* The user's own C++ operators. Foreign code like the model, so loaded after confinement. torch's libraries that they need by name are
 * found beside libtorch_cpu.so. */
static int load_libraries(struct job *j, const struct torch *t, struct err *err)
{
	if (j->n_load && t->last_error)
		return err_set(err, EXIT_USAGE, "'%s' needs an installed libtorch (--torch)", j->load[0]);
	for (unsigned i = 0; i < j->n_load; i++) {
		struct mapfile f;
		if (mapfile_open(&f, j->load[i], err) < 0)
			return -1;
		modelso_lib_needed(f.bytes, j->load[i], load_needed_of, j, NULL);
		mapfile_close(&f);
		if (!dlopen(j->load[i], RTLD_NOW | RTLD_LOCAL))
			return err_set(err, EXIT_ENVIRON, "cannot load '%s': %s", j->load[i], dlerror());
	}
	return 0;
}

static void loaded_from(const struct job *j, char path[4096])
{
	if (j->in_memory >= 0)
		snprintf(path, 4096, "/proc/self/fd/%d", j->in_memory);
	else
		snprintf(path, 4096, "%s", j->model);
}

/* What prevents our copy from loading is removed from it. One in memory cannot be written from then on. */
static int make_loadable(const struct job *j, struct err *err)
{
	char path[4096];
	loaded_from(j, path);
	if (modelso_make_loadable(path, err) < 0)
		return -1;
	if (j->in_memory >= 0 && fcntl(j->in_memory, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot seal the copy of '%s' in memory", j->name);
	return 0;
}

static int load_model(struct model *m, const struct job *j, struct err *err)
{
	char path[4096];
	loaded_from(j, path);
	m->so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!m->so)
		return err_set(err, EXIT_INPUT, "cannot load '%s': %s", j->name, dlerror());
	FIND(m->so, "AOTInductorModelContainerCreateWithDevice", m->create_with_device);
	FIND(m->so, "AOTInductorModelContainerCreate", m->create);
	FIND(m->so, "AOTInductorModelUpdateConstantsFromBlob", m->from_blob);
	FIND(m->so, "AOTInductorGetLastError", m->last_error);
	if (!FIND(m->so, "AOTInductorModelContainerDelete", m->destroy) || !FIND(m->so, "AOTInductorModelContainerRun", m->run) ||
	    !FIND(m->so, "AOTInductorModelContainerGetNumInputs", m->n_inputs) ||
	    !FIND(m->so, "AOTInductorModelContainerGetNumOutputs", m->n_outputs))
		return err_set(err, EXIT_INPUT, "'%s' lacks a model's entry points", j->name);
	return 0;
}

/* The last meaningful line that was printed: libtorch gives its reasons only there. */
static void printed_error(const struct job *j, struct buf *b)
{
	static char text[65536 + 1];
	ssize_t n = j->model_err >= 0 ? read(j->model_err, text, sizeof(text) - 1) : 0;
	struct slice rest = slice_of(text, n > 0 ? (size_t)n : 0), line, found = {0};
	while (slice_line(&rest, &line)) {
		const char *at = slice_find(line, "Exception in aoti_torch: ");
		if (at)
			found = slice_of(at + 25, line.n - (size_t)(at + 25 - line.p));
		else if (!found.n && slice_starts(line, "Error: "))
			found = slice_of(line.p + 7, line.n - 7);
	}
	buf_add_slice(b, slice_trim(found));
}

/* Makes an error line from the model's message and reason. */
static int model_error(const struct job *j, const struct model *m, const struct torch *t, const char *what, struct err *err)
{
	struct buf b = {0};
	const char *text = NULL, *own = t->last_error ? t->last_error() : "";
	if (m->last_error)
		m->last_error(&text);
	if (!own || !*own)
		own = proxy_last_error(m->proxy);
	if (text)
		buf_adds(&b, text);
	if (own && *own && !(text && strstr(text, own)))
		buf_addf(&b, "%s%s", b.len ? ": " : "", own);
	if (!b.len || !t->last_error) {
		struct buf p = {0};
		printed_error(j, &p);
		if (p.len && !(text && strstr(text, buf_str(&p))))
			buf_addf(&b, "%s%s", b.len ? ": " : "", buf_str(&p));
		buf_release(&p);
	}
	if (!b.len)
		buf_adds(&b, "no reason given");
	/* c10::Error's text is followed by the stack. */
	const char *stack = slice_find(buf_slice(&b), " (most recent call first)");
	if (stack)
		buf_cut(&b, (size_t)(stack - b.p));
	for (size_t i = 0; i < b.len; i++)
		if (b.p[i] == '\n')
			b.p[i] = ' ';
	err_set(err, t->starved && t->starved() ? EXIT_ENVIRON : EXIT_INPUT, "%s '%s': %s", what, j->name, buf_str(&b));
	buf_release(&b);
	return -1;
}

static int create(const struct job *j, struct model *m, const struct torch *t, struct mapfile *blob, struct err *err)
{
	char dir[4096];
	const struct slice folder = path_folder(j->model);
	snprintf(dir, sizeof(dir), "%.*s", SL(folder));
	if (m->create_with_device ? m->create_with_device(&m->c, 1, j->gpu ? "cuda" : "cpu", dir)
	    : m->create           ? m->create(&m->c, 1, !j->gpu, dir)
				  : 1)
		return model_error(j, m, t, "cannot create the model in", err);
	if (!j->blob)
		return 0;
	if (!m->from_blob)
		return err_set(err, EXIT_INPUT, "'%s' cannot take weights from a file", j->name);
	if (mapfile_open(blob, j->blob, err) < 0)
		return -1;
	return m->from_blob(m->c, (const uint8_t *)blob->bytes.p) ? model_error(j, m, t, "cannot load weights into", err) : 0;
}

/* ---- calling ---- */

static int make_tensor(const struct torch *t, const struct tensor_meta *m, int32_t device, size_t i, tensor *ret, struct err *err)
{
	int64_t bytes;
	if (!tensor_extent(m, &bytes) || t->empty_strided(m->n_dim, m->size, m->stride, m->dtype, device, 0, ret))
		return err_set(err, EXIT_INPUT, "cannot create input %zu, %s with %d dimensions", i, dtype_name(m->dtype), m->n_dim);
	return 0;
}

/* Moves *host to the GPU. */
static int to_gpu(const struct torch *t, const struct tensor_meta *m, size_t i, tensor *host, struct err *err)
{
	tensor there = NULL;
	if (make_tensor(t, m, DEVICE_CUDA, i, &there, err) < 0)
		return -1;
	int r = t->copy(there, *host, 0) ? err_set(err, EXIT_INPUT, "cannot copy input %zu to the GPU", i) : 0;
	t->drop(*host);
	*host = there;
	return r;
}

static int make_input(const struct torch *t, const struct tensor_view *v, size_t i, tensor *ret, struct err *err)
{
	int64_t bytes;
	void *data;
	if (make_tensor(t, &v->meta, DEVICE_CPU, i, ret, err) < 0)
		return -1;
	if (t->data_ptr(*ret, &data))
		return err_set(err, EXIT_INPUT, "input %zu has no memory", i);
	if (tensor_extent(&v->meta, &bytes) && bytes)
		memcpy(data, v->data, (size_t)bytes);
	return v->meta.device == DEVICE_CUDA && t->copy ? to_gpu(t, &v->meta, i, ret, err) : 0;
}

/* ---- weights ---- */

struct given {
	struct runfile f;
	tensor *handle;
};

static int give_weights(const struct job *j, struct model *m, const struct torch *t, struct given *g, struct err *err)
{
	if (j->weights && runfile_open(&g->f, j->weights, err) < 0)
		return -1;
	g->handle = xcalloc(g->f.n + 1, sizeof(*g->handle));
	for (size_t i = 0; i < g->f.n; i++)
		if (make_input(t, &g->f.v[i], i, &g->handle[i], err) < 0)
			return -1;
	return constants_give(m->so, m->c, j->name, &(struct constants){g->f.v, g->handle, g->f.n, m->no_weights}, err);
}

/* After the container, which still uses them. */
static void drop_weights(const struct torch *t, struct given *g)
{
	for (size_t i = 0; g->handle && i < g->f.n; i++)
		if (g->handle[i])
			t->drop(g->handle[i]);
	free(g->handle);
	runfile_close(&g->f);
}

/* libtorch conjugates and negates by a flag on the tensor (x.conj(), x.conj().imag), which is not visible in memory. */
static bool may_be_marked(const struct torch *t, int32_t dtype)
{
	const bool number = dtype == DTYPE_F16 || dtype == DTYPE_F32 || dtype == DTYPE_F64;
	return t->settle && !t->last_error && (number || dtype == DTYPE_C32 || dtype == DTYPE_C64 || dtype == DTYPE_C128);
}

/* An expanded tensor cannot be copied to. */
static const int64_t *own_strides(int64_t n, const int64_t *size, const int64_t *stride, struct tensor_meta *m)
{
	m->n_dim = (int)n;
	memcpy(m->size, size, (size_t)n * sizeof(*size));
	tensor_contiguous(m);
	for (int64_t d = 0; d < n; d++)
		if (size[d] > 1 && !stride[d])
			return m->stride;
	return stride;
}

/* Replaces *o by a host tensor without such flags, with the same strides. */
static int settle_output(const struct torch *t, tensor *o, size_t i, struct err *err)
{
	int32_t device = DEVICE_CPU, dtype;
	int64_t n, *size, *stride;
	struct tensor_meta m;
	tensor host = NULL;
	if (!*o || (t->copy && t->device(*o, &device)) || t->dtype(*o, &dtype) || (device != DEVICE_CUDA && !may_be_marked(t, dtype)))
		return 0;
	if (t->dim(*o, &n) || n > TENSOR_MAX_DIMS || t->sizes(*o, &size) || t->strides(*o, &stride) ||
	    t->empty_strided(n, size, own_strides(n, size, stride, &m), dtype, DEVICE_CPU, 0, &host) || t->settle(host, *o, 0))
		return err_set(err, EXIT_INPUT, "cannot copy output %zu%s", i, device == DEVICE_CUDA ? " from the GPU" : "");
	t->drop(*o);
	*o = host;
	return 0;
}

static int view_output(const struct torch *t, tensor o, size_t i, struct tensor_view *v, struct arena *a, struct err *err)
{
	int64_t n, *size, *stride;
	void *data;
	char name[32];
	snprintf(name, sizeof(name), "out%zu", i);
	v->name = slice_str(arena_strndup(a, name, strlen(name)));
	v->meta.device_index = -1;
	v->meta.dtype = DTYPE_NONE;
	if (!o) /* the model returns None there: Inductor's code does not touch the entry */
		return 0;
	if (t->dim(o, &n) || t->sizes(o, &size) || t->strides(o, &stride) || t->dtype(o, &v->meta.dtype) || t->data_ptr(o, &data) ||
	    n > TENSOR_MAX_DIMS)
		return err_set(err, EXIT_INPUT, "cannot read output %zu", i);
	v->meta.n_dim = (int)n;
	memcpy(v->meta.size, size, (size_t)n * sizeof(*size));
	memcpy(v->meta.stride, stride, (size_t)n * sizeof(*stride));
	v->data = data;
	return 0;
}

/* Which entry has the same handle? A value that is returned more than once is one handle in several entries ("output_handles[1] =
 * output_handles[0]", torch/_inductor/codegen/cpp_wrapper_cpu.py, generate_return), and the caller owns it once
 * (torch/csrc/inductor/aoti_torch/tensor_converter.cpp, alloc_tensors_by_stealing_from_handles, which looks for equal handles, too). The
 * entry itself: no earlier one. */
static size_t first_entry(const tensor *out, size_t i)
{
	size_t k = 0;
	while (out[k] != out[i])
		k++;
	return k;
}

static int settle_outputs(const struct torch *t, tensor *out, size_t n, struct err *err)
{
	tensor *was = xcalloc(n + 1, sizeof(*was));
	int r = 0;
	memcpy(was, out, n * sizeof(*was));
	for (size_t i = 0; i < n && !r; i++) {
		const size_t first = first_entry(was, i);
		if (first == i)
			r = settle_output(t, &out[i], i, err);
		else
			out[i] = out[first];
	}
	free(was);
	return r;
}

static int write_outputs(const struct job *j, const struct torch *t, tensor *out, size_t n, const struct run_times *times, struct err *err)
{
	struct arena a = {0};
	struct tensor_view *v = arena_alloc(&a, (n + 1) * sizeof(*v));
	memset(v, 0, (n + 1) * sizeof(*v));
	int r = settle_outputs(t, out, n, err);
	for (size_t i = 0; i < n && !r; i++)
		r = view_output(t, out[i], i, &v[i], &a, err);
	if (!r)
		r = runfile_write(j->out_fd, v, n, times, j->outputs, err);
	arena_release(&a);
	return r;
}

/* ---- calls ---- */

/* Inputs of this many calls are created ahead if they are small, so that clocks are read once for all of them. */
enum { CALLS_AHEAD_MOST = 16, INPUTS_AHEAD_BYTES = 1 << 20 };

struct calls {
	const struct job *j;
	struct model *m;
	const struct torch *t;
	const struct tensor_view *in;
	size_t n_in, n_out;
	tensor *given, *out; /* given: for CALLS_AHEAD_MOST calls */
	struct run_times *times;
};

static unsigned calls_ahead(const struct calls *c)
{
	int64_t bytes, all = 0;
	for (size_t i = 0; i < c->n_in; i++)
		if (!tensor_extent(&c->in[i].meta, &bytes) || (all += bytes) > INPUTS_AHEAD_BYTES / CALLS_AHEAD_MOST)
			return 1;
	return CALLS_AHEAD_MOST;
}

static void drop_outputs(const struct calls *c)
{
	for (size_t i = c->n_out; i-- > 0;) /* from the end: the earlier entries are still there to compare with */
		if (c->out[i] && first_entry(c->out, i) == i)
			c->t->drop(c->out[i]);
	memset(c->out, 0, c->n_out * sizeof(*c->out));
}

static int by_time(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Makes n calls with the inputs created for them. The last one's outputs are kept. */
static int call(const struct calls *c, unsigned n, uint64_t *took, uint64_t *cpu, struct err *err)
{
	int r = 0;
	uint64_t start = now(CLOCK_MONOTONIC), cpu_start = now(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned k = 0; k < n && !r; k++) {
		drop_outputs(c);
		tensor *given = c->given + k * c->n_in;
		r = c->m->run(c->m->c, given, c->n_in, c->out, c->n_out, NULL, c->m->proxy);
		memset(given, 0, c->n_in * sizeof(*given)); /* it consumes the inputs in any case */
	}
	*cpu += now(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
	*took += now(CLOCK_MONOTONIC) - start;
	return r ? model_error(c->j, c->m, c->t, "error in", err) : 0;
}

static int call_all(const struct calls *c, struct err *err)
{
	const unsigned ahead = calls_ahead(c);
	struct run_times *times = c->times;
	uint64_t *each = xcalloc((size_t)c->j->runs + 1, sizeof(*each));
	size_t n_each = 0;
	int r = 0;
	for (unsigned k = 0, n; k < c->j->runs && !r; k += n) {
		uint64_t first_cpu = 0, before = times->rest;
		n = !k ? 1 : c->j->runs - k < ahead ? c->j->runs - k : ahead;
		for (size_t i = 0; i < n * c->n_in && !r; i++)
			r = make_input(c->t, &c->in[i % c->n_in], i % c->n_in, &c->given[i], err);
		if (!r)
			r = call(c, n, k ? &times->rest : &times->first, k ? &times->rest_cpu : &first_cpu, err);
		times->runs += n;
		if (k)
			each[n_each++] = (times->rest - before) / n;
	}
	qsort(each, n_each, sizeof(*each), by_time);
	times->median = each[n_each / 2];
	free(each);
	for (size_t i = 0; i < ahead * c->n_in; i++)
		if (c->given[i])
			c->t->drop(c->given[i]);
	return r;
}

static int run_created(const struct job *j, struct model *m, const struct torch *t, const struct tensor_view *in, size_t n_in,
		       struct run_times *times, struct err *err)
{
	struct calls c = {.j = j, .m = m, .t = t, .in = in, .n_in = n_in, .times = times};
	size_t want;
	if (m->n_inputs(m->c, &want) || m->n_outputs(m->c, &c.n_out))
		return model_error(j, m, t, "cannot get the inputs and outputs of", err);
	if (want != n_in)
		return err_set(err, EXIT_INPUT, "'%s' takes %zu input%s, but got %zu", j->name, want, plural(want), n_in);
	c.out = xcalloc(c.n_out + 1, sizeof(*c.out));
	c.given = xcalloc(CALLS_AHEAD_MOST * n_in + 1, sizeof(*c.given));
	int r = call_all(&c, err);
	if (!r)
		r = write_outputs(j, t, c.out, c.n_out, times, err);
	if (!r)
		drop_outputs(&c);
	free(c.given);
	free(c.out);
	return r;
}

int run_job(struct job *j, const struct tensor_view *in, size_t n_in, struct err *err)
{
	struct torch t = {0};
	struct model m = {0};
	struct mapfile blob = {.fd = -1};
	struct given given = {.f.map.fd = -1};
	struct run_times times = {0};
	if (j->own_copy && make_loadable(j, err) < 0)
		return -1;
	find_own_folder();
	if (confine_early(j, err) < 0)
		return -1;
	uint64_t start = now(CLOCK_MONOTONIC);
	if (load_torch(&t, j->torch, err) < 0 || (j->gpu && load_torch_cuda(&t, j->torch, err) < 0))
		return -1;
	if (j->guard && t.guard_freed)
		t.guard_freed();
	times.torch = now(CLOCK_MONOTONIC) - start;
	if (confine(j, err) < 0 || load_libraries(j, &t, err) < 0)
		return -1;
	if (check_model(j, &t, &m, err) < 0)
		return -1;
	start = now(CLOCK_MONOTONIC);
	if (load_model(&m, j, err) < 0)
		return -1;
	times.load = now(CLOCK_MONOTONIC) - start;
	start = now(CLOCK_MONOTONIC);
	int r = create(j, &m, &t, &blob, err);
	if (!r)
		r = give_weights(j, &m, &t, &given, err);
	times.create = now(CLOCK_MONOTONIC) - start;
	if (!r)
		r = run_created(j, &m, &t, in, n_in, &times, err);
	if (m.c)
		m.destroy(m.c);
	drop_weights(&t, &given);
	proxy_close(m.proxy);
	mapfile_close(&blob);
	return r;
}
