/* livehost.c - a program that uses AOTInductor models by their C interface and without torch, for tests of the probe.
 * Its arguments are done in order; what it prints depends on nothing but them.
 *
 *     torch=FILE         load faketorch.so (or libpt2shim.so) as python loads libtorch: out of the global scope
 *     load=FILE          load a model and make a container; later calls are of the last one loaded
 *     use=N              later calls are of the Nth one loaded, from 0
 *     call=SPEC;SPEC     run: "rc", the outputs' hash, the error's text. A SPEC is f32[2,3] or f32[2,3]/(1,2), with
 * dtypes f32 f64 i32 i64 b8 bf16 single=... bare=   the same by ...RunSingleThreaded, by AOTInductorModelRun
 *     threads=TxN:SPECS  T threads run N times each: how many failed, how many different outputs
 *     bench=N:SPECS      nanoseconds per call
 *     errno=SPECS        does a call leave errno alone?
 *     unload             delete the container, dlclose
 *     fork               the child goes on; the parent waits, tells how it ended, and ends
 *     exec               start anew with the arguments that are left
 *     closefds           close all descriptors but 0, 1, 2
 *     alive              tensors of faketorch's that nobody has deleted
 *     _exit, kill        end like this
 *
 * Compiled with -DLINKED it is linked against one model, and load= takes that.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hostload.h"

enum { MAX_INPUTS = 16, MAX_OUTPUTS = 16, MAX_DIMS = 16, MAX_MODELS = 64 };
typedef int32_t run_fn(void *, void **, size_t, void **, size_t, void *, void *);
typedef int32_t create_fn(void **, size_t, const char *, const char *);
typedef int32_t count_fn(void *, size_t *);
typedef int32_t delete_fn(void *);
typedef int32_t create_model_fn(void **, const void *, size_t);
typedef int32_t model_run_fn(void *, void **, void **);
typedef int32_t error_fn(const char **);

static struct model {
	void *so, *container, *bare;
	size_t n_outputs;
	run_fn *run, *run_single;
	delete_fn *delete, *delete_model;
	model_run_fn *model_run;
	error_fn *error;
} model[MAX_MODELS], *cur;
static int n_models;

static struct {
	void *so;
	int32_t (*empty)(int64_t, const int64_t *, const int64_t *, int32_t, int32_t, int32_t, void **);
	int32_t (*data)(void *, void **);
	int32_t (*numel)(void *, int64_t *);
	int32_t (*bytes)(void *, int64_t *);
	int32_t (*delete)(void *);
	long (*alive)(void);
} torch;

#ifdef LINKED
extern run_fn AOTInductorModelContainerRun, AOTInductorModelContainerRunSingleThreaded;
extern create_fn AOTInductorModelContainerCreateWithDevice;
extern count_fn AOTInductorModelContainerGetNumOutputs;
extern delete_fn AOTInductorModelContainerDelete, AOTInductorModelDelete;
extern create_model_fn AOTInductorModelCreateV2;
extern model_run_fn AOTInductorModelRun;
extern error_fn AOTInductorGetLastError;
#define ENTRY(so, name) ((void)(so), &name)
#else
#define ENTRY(so, name) must_sym(so, #name)
#endif

static void load_torch(const char *path)
{
	torch.so = must_load(path, RTLD_NOW | RTLD_LOCAL);
	torch.empty = must_sym(torch.so, "aoti_torch_empty_strided");
	torch.data = must_sym(torch.so, "aoti_torch_get_data_ptr");
	torch.numel = must_sym(torch.so, "aoti_torch_get_numel");
	torch.bytes = must_sym(torch.so, "aoti_torch_get_storage_size");
	torch.delete = must_sym(torch.so, "aoti_torch_delete_tensor_object");
	if (strstr(path, "libpt2shim")) /* whose Sleef is the system's */
		dlopen("libsleef.so.3", RTLD_LAZY | RTLD_GLOBAL);
	*(void **)&torch.alive = dlsym(torch.so, "faketorch_alive");
}

static void load(const char *path)
{
	struct model *m = &model[n_models++];
#ifndef LINKED
	m->so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!m->so)
		die(path, dlerror());
#endif
	create_fn *create = ENTRY(m->so, AOTInductorModelContainerCreateWithDevice);
	count_fn *outputs = ENTRY(m->so, AOTInductorModelContainerGetNumOutputs);
	create_model_fn *create_model = ENTRY(m->so, AOTInductorModelCreateV2);
	m->run = ENTRY(m->so, AOTInductorModelContainerRun);
	m->run_single = ENTRY(m->so, AOTInductorModelContainerRunSingleThreaded);
	m->model_run = ENTRY(m->so, AOTInductorModelRun);
	m->delete = ENTRY(m->so, AOTInductorModelContainerDelete);
	m->delete_model = ENTRY(m->so, AOTInductorModelDelete);
	m->error = ENTRY(m->so, AOTInductorGetLastError);
	if (create(&m->container, 4, "cpu", NULL) || outputs(m->container, &m->n_outputs) || create_model(&m->bare, NULL, 0))
		die(path, "no container");
	cur = m;
}

static void unload(void)
{
	cur->delete (cur->container);
	cur->delete_model(cur->bare);
	if (cur->so)
		dlclose(cur->so);
	cur->so = NULL;
}

/* One tensor from a spec; *at moves behind it. */
static void *make_input(const char **at)
{
	static const struct {
		const char *name;
		int32_t dtype;
	} dtypes[] = {{"f32", 6}, {"f64", 7}, {"i32", 3}, {"i64", 4}, {"bf16", 15}, {"b8", 11}};
	int32_t dtype = -1;
	for (size_t i = 0; i < sizeof(dtypes) / sizeof(*dtypes); i++)
		if (!strncmp(*at, dtypes[i].name, strlen(dtypes[i].name))) {
			dtype = dtypes[i].dtype;
			*at += strlen(dtypes[i].name);
			break;
		}
	if (dtype < 0 || **at != '[')
		die(*at, "no such spec");
	int64_t size[MAX_DIMS], stride[MAX_DIMS], n = 0;
	char *p = (char *)(uintptr_t)*at + 1;
	while (*p != ']' && n < MAX_DIMS) {
		size[n++] = strtoll(p, &p, 10);
		p += *p == ',';
	}
	p++;
	for (int64_t i = n, step = 1; i-- > 0; step *= size[i] ? size[i] : 1)
		stride[i] = step;
	if (!strncmp(p, "/(", 2)) {
		p += 2;
		for (int64_t i = 0; *p != ')' && i < n; i++) {
			stride[i] = strtoll(p, &p, 10);
			p += *p == ',';
		}
		p++;
	}
	*at = p + (*p == ';');
	void *t, *data;
	int64_t bytes;
	torch.empty(n, size, stride, dtype, 0, 0, &t);
	torch.data(t, &data);
	torch.bytes(t, &bytes);
	uint32_t x = 12345;
	for (int64_t i = 0; i < bytes; i += dtype == 6 ? 4 : bytes) {
		float f = (float)((x = x * 1664525u + 1013904223u) >> 8) / 1e7f;
		if (dtype == 6)
			memcpy((char *)data + i, &f, 4);
		else
			memset(data, dtype == 11 ? 1 : 0x3f, (size_t)bytes);
	}
	return t;
}

static size_t make_inputs(const char *specs, void **in)
{
	size_t n = 0;
	while (*specs && n < MAX_INPUTS)
		in[n++] = make_input(&specs);
	return n;
}

enum how { RUN, SINGLE, BARE };

static int32_t call(struct model *m, enum how how, const char *specs, uint64_t *hash)
{
	void *in[MAX_INPUTS], *out[MAX_OUTPUTS] = {0};
	size_t n = make_inputs(specs, in);
	int32_t rc = how == BARE ? m->model_run(m->bare, in, out)
				 : (how == SINGLE ? m->run_single : m->run)(m->container, in, n, out, m->n_outputs, NULL, NULL);
	*hash = 14695981039346656037ull;
	for (size_t i = 0; i < m->n_outputs && !rc; i++) {
		void *data;
		int64_t bytes;
		torch.data(out[i], &data);
		torch.bytes(out[i], &bytes);
		for (int64_t k = 0; k < bytes; k++)
			*hash = (*hash ^ ((unsigned char *)data)[k]) * 1099511628211ull;
		torch.delete(out[i]);
	}
	return rc;
}

static void tell_call(enum how how, const char *specs)
{
	uint64_t hash;
	int32_t rc = call(cur, how, specs, &hash);
	const char *text = "";
	if (rc)
		cur->error(&text);
	printf("rc %d", rc);
	if (rc)
		printf(" %s\n", text);
	else
		printf(" %016llx\n", (unsigned long long)hash);
}

struct job {
	struct model *m;
	const char *specs;
	int n, failed, different;
	uint64_t first;
};

static void *work(void *arg)
{
	struct job *j = arg;
	for (int i = 0; i < j->n; i++) {
		uint64_t hash;
		j->failed += call(j->m, RUN, j->specs, &hash) != 0;
		j->different += hash != j->first;
	}
	return NULL;
}

static void threads(char *text)
{
	int t = (int)strtol(text, &text, 10), n = (int)strtol(text + 1, &text, 10), failed = 0, different = 0;
	struct job j[64];
	pthread_t id[64];
	uint64_t first;
	call(cur, RUN, text + 1, &first);
	for (int i = 0; i < t; i++) {
		j[i] = (struct job){cur, text + 1, n, 0, 0, first};
		pthread_create(&id[i], NULL, work, &j[i]);
	}
	for (int i = 0; i < t; i++) {
		pthread_join(id[i], NULL);
		failed += j[i].failed;
		different += j[i].different;
	}
	printf("threads: %d failed, %d different, %016llx\n", failed, different, (unsigned long long)first);
}

/* Without the making of the inputs: they are handed over, so each call gets new handles of the same tensors. */
static void bench(char *text)
{
	long n = strtol(text, &text, 10);
	int32_t (*again)(void *, void **) = must_sym(torch.so, "aoti_torch_new_tensor_handle");
	void *in[MAX_INPUTS], *given[MAX_INPUTS], *out[MAX_OUTPUTS];
	size_t n_in = make_inputs(text + 1, in);
	double best = 1e18;
	for (int round = 0; round < 5; round++) {
		struct timespec a, b;
		clock_gettime(CLOCK_MONOTONIC, &a);
		for (long i = 0; i < n; i++) {
			for (size_t k = 0; k < n_in; k++)
				again(in[k], &given[k]);
			if (cur->run(cur->container, given, n_in, out, cur->n_outputs, NULL, NULL))
				die("bench", "a call failed");
			for (size_t k = 0; k < cur->n_outputs; k++)
				torch.delete(out[k]);
		}
		clock_gettime(CLOCK_MONOTONIC, &b);
		double ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / (double)n;
		best = ns < best ? ns : best;
	}
	printf("%.0f ns per call\n", best);
}

static void in_child(void)
{
	fflush(stdout);
	pid_t pid = fork();
	if (!pid)
		return;
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		printf("child killed by %d\n", WTERMSIG(status));
	else
		printf("child ended with %d\n", WEXITSTATUS(status));
	exit(0);
}

static bool starts(const char *s, const char *with) { return !strncmp(s, with, strlen(with)); }

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *a = argv[i], *value = strchr(a, '=') ? strchr(a, '=') + 1 : a;
		if (starts(a, "torch="))
			load_torch(value);
		else if (starts(a, "load="))
			load(value);
		else if (starts(a, "use="))
			cur = &model[strtol(value, NULL, 10)];
		else if (starts(a, "call="))
			tell_call(RUN, value);
		else if (starts(a, "single="))
			tell_call(SINGLE, value);
		else if (starts(a, "bare="))
			tell_call(BARE, value);
		else if (starts(a, "threads="))
			threads(value);
		else if (starts(a, "bench="))
			bench(value);
		else if (starts(a, "errno=")) {
			uint64_t hash;
			errno = 77;
			call(cur, RUN, value, &hash);
			printf("errno %s\n", errno == 77 ? "kept" : "changed");
		} else if (!strcmp(a, "unload"))
			unload();
		else if (!strcmp(a, "fork"))
			in_child();
		else if (!strcmp(a, "closefds"))
			for (int fd = 3; fd < 256; fd++)
				close(fd);
		else if (!strcmp(a, "alive"))
			printf("alive %ld\n", torch.alive ? torch.alive() : 0);
		else if (!strcmp(a, "exec")) {
			argv[i] = argv[0];
			fflush(stdout);
			execv("/proc/self/exe", argv + i);
		} else if (!strcmp(a, "_exit")) {
			fflush(stdout);
			_exit(0);
		} else if (!strcmp(a, "kill")) {
			fflush(stdout);
			raise(SIGKILL);
		} else
			die(a, "no such argument");
		fflush(stdout);
	}
	return 0;
}
