/* cudarun.c - a process that runs a model of AOTInductor's on tensors from files, without torch, on the fake CUDA driver (fakecuda.h) or on the
 * CPU (faketorch.c):
 *
 *     cudarun load=model/NAME.so in=x.npy in=bf16:y.npy call out=result.     result.0.npy, result.1.npy, ...
 *
 *     torch=FILE       faketorch.so; without it the one that lies beside this program
 *     device=cpu       of what follows; else it is cuda:0
 *     load=FILE        a model; its cubins are beside it
 *     in=[TYPE:]FILE   one more input, dense, from an .npy file; TYPE (bf16) in place of the one that the file says
 *     rows=N           the next inputs get N rows: those of the file again and again
 *     call             ...ContainerRun, then wait: "rc 0 f32[32, 16]", "rc 1 TEXT" (of the model), or "rc 0, then 700 TEXT"
 *     out=PREFIX       writes what the last call returned
 *     time=N           N calls: nanoseconds per call, waited for
 *     wait             cudaDeviceSynchronize: "wait 0" or "wait 700 TEXT"
 *     drop             forgets the inputs
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hostload.h"

enum { MAX_TENSORS = 32, MAX_DIMS = 8, MAX_FILE = 64 << 20 };

extern int cudaDeviceSynchronize(void), cudaMemcpy(void *, const void *, size_t, int), cudaGetLastError(void);
extern const char *cudaGetErrorString(int);

static struct {
	void *container;
	int32_t (*create)(void **, size_t, const char *, const char *);
	int32_t (*run)(void *, void **, size_t, void **, size_t, void *, void *);
	int32_t (*delete)(void *);
	int32_t (*n_outputs)(void *, size_t *);
	int32_t (*error)(const char **);
} model;

static struct {
	int32_t (*empty)(int64_t, const int64_t *, const int64_t *, int32_t, int32_t, int32_t, void **);
	int32_t (*again)(void *, void **);
	int32_t (*data)(void *, void **);
	int32_t (*dim)(void *, int64_t *);
	int32_t (*sizes)(void *, int64_t **);
	int32_t (*strides)(void *, int64_t **);
	int32_t (*dtype)(void *, int32_t *);
	int32_t (*delete)(void *);
} torch;

static void *in[MAX_TENSORS], *out[MAX_TENSORS];
static size_t n_in, n_out;
static bool on_cpu;
static int64_t rows;

/* c10's numbers of dtypes, and what .npy calls them; bf16 is there as what has as many bytes. */
static const struct {
	int number;
	const char *name, *descr;
	size_t bytes;
} types[] = {{6, "f32", "<f4", 4}, {7, "f64", "<f8", 8}, {5, "f16", "<f2", 2},   {15, "bf16", "<u2", 2},
	     {3, "i32", "<i4", 4}, {4, "i64", "<i8", 8}, {11, "bool", "|b1", 1}, {0, "u8", "|u1", 1}};
enum { TYPES = sizeof(types) / sizeof(*types) };

static void load_torch(const char *path)
{
	void *so = must_load(path, RTLD_NOW | RTLD_LOCAL);
	*(void **)&torch.empty = must_sym(so, "aoti_torch_empty_strided");
	*(void **)&torch.again = must_sym(so, "aoti_torch_new_tensor_handle");
	*(void **)&torch.data = must_sym(so, "aoti_torch_get_data_ptr");
	*(void **)&torch.dim = must_sym(so, "aoti_torch_get_dim");
	*(void **)&torch.sizes = must_sym(so, "aoti_torch_get_sizes");
	*(void **)&torch.strides = must_sym(so, "aoti_torch_get_strides");
	*(void **)&torch.dtype = must_sym(so, "aoti_torch_get_dtype");
	*(void **)&torch.delete = must_sym(so, "aoti_torch_delete_tensor_object");
}

static int32_t no_error(const char **why) { return *why = "see stderr", 0; } /* before torch 2.13 */

static void load(const char *path)
{
	char folder[4096];
	const char *why = NULL;
	snprintf(folder, sizeof(folder), "%s", path);
	char *slash = strrchr(folder, '/');
	if (slash)
		*slash = 0;
	void *so = must_load(path, RTLD_NOW | RTLD_LOCAL);
	*(void **)&model.create = must_sym(so, "AOTInductorModelContainerCreateWithDevice");
	*(void **)&model.delete = must_sym(so, "AOTInductorModelContainerDelete");
	*(void **)&model.run = must_sym(so, "AOTInductorModelContainerRun");
	*(void **)&model.n_outputs = must_sym(so, "AOTInductorModelContainerGetNumOutputs");
	*(void **)&model.error = dlsym(so, "AOTInductorGetLastError");
	model.error = model.error ? model.error : no_error;
	if (model.create(&model.container, 1, on_cpu ? "cpu" : "cuda:0", folder)) {
		model.error(&why);
		printf("no container: %s\n", why ? why : "?");
		exit(1);
	}
	if (model.n_outputs(model.container, &n_out) || n_out > MAX_TENSORS)
		die(path, "too many outputs");
}

/* ---- tensors ---- */

struct npy {
	int type;
	int64_t dim, size[MAX_DIMS];
	size_t bytes, at; /* of the data; where they begin in .text */
	char *text;
};

static int type_named(const char *name, size_t n, bool descr)
{
	for (int i = 0; i < TYPES; i++) {
		const char *is = descr ? types[i].descr : types[i].name;
		if (strlen(is) == n && !memcmp(is, name, n))
			return i;
	}
	return -1;
}

static void read_npy(const char *path, struct npy *a)
{
	FILE *f = fopen(path, "re");
	a->text = malloc(MAX_FILE);
	size_t n = f && a->text ? fread(a->text, 1, MAX_FILE - 1, f) : 0;
	if (f)
		fclose(f);
	if (n < 12 || memcmp(a->text, "\x93NUMPY\1\0", 8))
		die(path, "no .npy file");
	a->at = 10 + (size_t)(unsigned char)a->text[8] + 256 * (size_t)(unsigned char)a->text[9];
	if (a->at > n)
		die(path, "no .npy file");
	a->text[a->at - 1] = 0;
	const char *descr = strstr(a->text + 10, "'descr': '"), *shape = strstr(a->text + 10, "'shape': (");
	if (!descr || !shape || strstr(a->text + 10, "'fortran_order': True"))
		die(path, "an .npy file that is not understood");
	a->type = type_named(descr + 10, strcspn(descr + 10, "'"), true);
	if (a->type < 0)
		die(path, "a dtype that is not known");
	a->bytes = n - a->at;
	for (char *p = (char *)(uintptr_t)shape + 10; *p && *p != ')' && a->dim < MAX_DIMS;) {
		a->size[a->dim++] = strtoll(p, &p, 10);
		p += strspn(p, ", ");
	}
}

static void add_input(const char *value)
{
	struct npy a = {0};
	const char *colon = strchr(value, ':');
	int type = colon ? type_named(value, (size_t)(colon - value), false) : -1;
	int64_t stride[MAX_DIMS], n = 1;
	void *t = NULL, *p = NULL;
	read_npy(type >= 0 ? colon + 1 : value, &a);
	a.type = type >= 0 ? type : a.type;
	if (rows && a.dim)
		a.size[0] = rows;
	for (int64_t i = a.dim; i-- > 0; n *= a.size[i])
		stride[i] = n;
	size_t bytes = (size_t)n * types[a.type].bytes;
	char *data = malloc(bytes + 1);
	for (size_t i = 0; i < bytes && a.bytes; i += a.bytes)
		memcpy(data + i, a.text + a.at, bytes - i < a.bytes ? bytes - i : a.bytes);
	if (n_in == MAX_TENSORS || torch.empty(a.dim, a.size, stride, types[a.type].number, on_cpu ? 0 : 1, 0, &t) || torch.data(t, &p))
		die(value, "no tensor");
	if (on_cpu)
		memcpy(p, data, bytes);
	else if (cudaMemcpy(p, data, bytes, 1))
		die(value, cudaGetErrorString(cudaGetLastError()));
	in[n_in++] = t;
	free(data);
	free(a.text);
}

struct view {
	int64_t dim, *size, *stride;
	int type;
	size_t elements, reach; /* reach: bytes up to its last element */
	char *at;
};

static struct view view_of(void *t)
{
	struct view v = {.elements = 1, .type = -1};
	int32_t dtype = -1;
	size_t last = 0;
	torch.dim(t, &v.dim);
	torch.sizes(t, &v.size);
	torch.strides(t, &v.stride);
	torch.dtype(t, &dtype);
	torch.data(t, (void **)&v.at);
	for (int i = 0; i < TYPES; i++)
		v.type = types[i].number == dtype ? i : v.type;
	if (v.type < 0 || v.dim > MAX_DIMS)
		die("an output", "of a dtype that is not known");
	for (int64_t i = 0; i < v.dim; i++) {
		v.elements *= (size_t)v.size[i];
		last += (size_t)((v.size[i] - 1) * v.stride[i]);
	}
	v.reach = v.elements ? (last + 1) * types[v.type].bytes : 0;
	return v;
}

/* Row by row, whatever its strides; the whole of its memory is fetched. */
static void write_npy(const char *prefix, size_t index)
{
	struct view v = view_of(out[index]);
	size_t each = types[v.type].bytes;
	char path[4096], shape[256] = "", header[512];
	char *from = malloc(v.reach + 1);
	if (on_cpu)
		memcpy(from, v.at, v.reach);
	else if (cudaMemcpy(from, v.at, v.reach, 2))
		die("an output", cudaGetErrorString(cudaGetLastError()));
	for (int64_t i = 0; i < v.dim; i++)
		snprintf(shape + strlen(shape), sizeof(shape) - strlen(shape), "%" PRId64 ", ", v.size[i]);
	snprintf(path, sizeof(path), "%s%zu.npy", prefix, index);
	snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", types[v.type].descr, shape);
	FILE *f = fopen(path, "we");
	if (!f)
		die(path, "cannot be written");
	fprintf(f, "\x93NUMPY%c%c%c%c%-118s", 1, 0, 118, 0, header);
	for (size_t i = 0; i < v.elements; i++) {
		size_t at = 0, rest = i;
		for (int64_t k = v.dim; k-- > 0; rest /= (size_t)v.size[k])
			at += rest % (size_t)v.size[k] * (size_t)v.stride[k];
		fwrite(from + at * each, each, 1, f);
	}
	if (fclose(f))
		die(path, "cannot be written");
	free(from);
}

/* ---- runs ---- */

static void drop(void **t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (t[i])
			torch.delete(t[i]);
		t[i] = NULL;
	}
}

static int call(void)
{
	void *handle[MAX_TENSORS];
	for (size_t i = 0; i < n_in; i++)
		torch.again(in[i], &handle[i]);
	drop(out, n_out);
	return model.run(model.container, handle, n_in, out, n_out, NULL, NULL);
}

static void tell(void)
{
	const char *why = "";
	int rc = call(), cuda;
	if (rc) {
		model.error(&why);
		printf("rc %d %s\n", rc, why);
		memset(out, 0, sizeof(out));
	} else if (!on_cpu && (cuda = cudaDeviceSynchronize())) {
		printf("rc 0, then %d %s\n", cuda, cudaGetErrorString(cuda));
	} else {
		printf("rc 0");
		for (size_t i = 0; i < n_out; i++) {
			struct view v = view_of(out[i]);
			printf(" %s[", types[v.type].name);
			for (int64_t k = 0; k < v.dim; k++)
				printf("%s%" PRId64, k ? ", " : "", v.size[k]);
			printf("]");
		}
		printf("\n");
	}
}

static void bench(int n)
{
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < n; i++)
		if (call() || (!on_cpu && cudaDeviceSynchronize()))
			die("time", "a call failed");
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%.0f ns per call\n", ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / n);
}

static bool is(const char *arg, const char *name) { return !strncmp(arg, name, strlen(name)); }

int main(int argc, char **argv)
{
	if (argc < 2 || !is(argv[1], "torch="))
		load_torch(beside_program("faketorch.so"));
	for (int i = 1; i < argc; i++) {
		const char *a = argv[i], *value = strchr(a, '=') ? strchr(a, '=') + 1 : a;
		if (is(a, "torch="))
			load_torch(value);
		else if (is(a, "device="))
			on_cpu = is(value, "cpu");
		else if (is(a, "load="))
			load(value);
		else if (is(a, "in="))
			add_input(value);
		else if (is(a, "rows="))
			rows = strtoll(value, NULL, 10);
		else if (!strcmp(a, "call"))
			tell();
		else if (is(a, "time="))
			bench((int)strtol(value, NULL, 10));
		else if (is(a, "out="))
			for (size_t k = 0; k < n_out && out[0]; k++)
				write_npy(value, k);
		else if (!strcmp(a, "wait")) {
			int rc = cudaDeviceSynchronize();
			printf(rc ? "wait %d %s\n" : "wait %d\n", rc, cudaGetErrorString(rc));
		} else if (!strcmp(a, "drop")) {
			drop(in, n_in);
			n_in = 0;
		} else
			die(a, "no such argument");
		fflush(stdout);
	}
	drop(in, n_in);
	drop(out, n_out);
	if (model.container)
		model.delete(model.container);
	return 0;
}
