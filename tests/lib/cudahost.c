/* cudahost.c - a program that runs the model of cudamodel/ on the fake driver (fakecuda.h), as a C++ host of torch's would: tensors on
 * the device, streams, threads, CUDA graphs. Arguments are done in order. ROWS is the size s0; results are held against the same numbers
 * computed here: each prints "rc 0 as computed", "rc 0 NaN, as computed" or "rc 0 wrong at INDEX: GOT, not WANTED", "rc 1 TEXT" (of the
 * model), "rc 0, then 700 TEXT" (when the output is fetched), or "no inputs: TEXT" where these could not be made.
 *
 *     torch=FILE       faketorch.so; without it the one that lies beside this program
 *     load=FILE        a model; its cubins are beside it. Its container has 2 models
 *     device=K         of what follows: a container for cuda:K, inputs there
 *     call=ROWS        ...ContainerRun on the default stream, then wait
 *     single=ROWS      ...RunSingleThreaded
 *     issue=ROWS       call without waiting: "issued" or "rc 1 TEXT"; the output is dropped
 *     wait             cudaDeviceSynchronize: "wait 0" or "wait 700 an illegal memory access was encountered"
 *     streams=N:ROWS   N runs, by turns on two streams, then wait for both
 *     beside=ROWS      work of this program's own on a stream that does not wait for the default one, which fails; then as issue=
 *     capturing=ROWS   call= while another stream is being captured: "captured: 0" when that ends well
 *     threads=TxN:ROWS T threads, each N runs on a stream of its own: how many failed, how many were wrong
 *     graph=N:ROWS     a graph captured once, replayed N times with new inputs
 *     nangraph=N:ROWS  the same, with a NaN in the first input of the last replay, at index 9
 *     unseen=N:ROWS    graph= with functions that dlsym() gave
 *     replays=TxN:ROWS a graph captured once, made executable by each of T threads and replayed N times there: how many failed
 *     remade=N:ROWS    a graph replayed N times as graph= does, made anew and replayed N times, cloned and replayed once; as the child of
 *                      another one once; captured into another one and that replayed once; then another capture of the model, and the
 *                      executable of the first updated to it: each says as computed
 *     both=N:ROWS      two threads, N runs on a GPU each: how many failed, how many were wrong
 *     nan=ROWS         one NaN in the first input, at index 9
 *     host=ROWS        the second input is on the host
 *     other=ROWS       the second input is on the other device
 *     wide=ROWS        the second input says it has ROWS rows; its memory has half of them, and torch is not told (from_blob)
 *     walks=ROWS       the same as a view of a tensor with half of the rows: its strides reach outside of its storage
 *     bench=N:ROWS     nanoseconds per call, without waiting for each
 *     alive            tensors nobody has deleted
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fakecuda.h"
#include "hostload.h"

enum { COLUMNS = 8, TO_DEVICE = 1, TO_HOST = 2, CUDA = 1, F32 = 6, CAPTURE_GLOBAL = 0, CAPTURE_RELAXED = 2, NON_BLOCKING = 1 };
enum what { PLAIN, WITH_NAN, ON_HOST, ON_OTHER, WIDE, WALKS };

extern int cudaSetDevice(int), cudaDeviceSynchronize(void), cudaMemcpy(void *, const void *, size_t, int), cudaGetLastError(void);
extern int cudaStreamCreate(void **), cudaStreamDestroy(void *), cudaStreamSynchronize(void *), cudaStreamBeginCapture(void *, int);
extern int cudaStreamCreateWithFlags(void **, unsigned), cudaStreamEndCapture(void *, void **),
    cudaGraphInstantiate(void **, void *, unsigned long long), cudaGraphLaunch(void *, void *);
extern int cudaGraphDestroy(void *), cudaGraphExecDestroy(void *), cudaGraphInstantiateWithFlags(void **, void *, unsigned long long);
extern int cudaGraphInstantiateWithParams(void **, void *, void *), cudaGraphClone(void **, void *),
    cudaGraphExecUpdate(void *, void *, void *);
extern int cudaGraphCreate(void **, unsigned), cudaGraphAddChildGraphNode(void **, void *, const void *, size_t, void *);
extern const char *cudaGetErrorString(int);

typedef int32_t run_fn(void *, void **, size_t, void **, size_t, void *, void *);
static _Thread_local void *the_container;
static struct {
	void *so;
	int32_t (*create)(void **, size_t, const char *, const char *);
	run_fn *run, *single;
	int32_t (*delete)(void *);
	int32_t (*error)(const char **);
	char folder[4096];
} model;
static struct {
	int32_t (*empty)(int64_t, const int64_t *, const int64_t *, int32_t, int32_t, int32_t, void **);
	int32_t (*blob)(void *, int64_t, const int64_t *, const int64_t *, int64_t, int32_t, int32_t, int32_t, void **);
	int32_t (*view)(void *, int64_t, const int64_t *, const int64_t *, int64_t, void **);
	int32_t (*again)(void *, void **);
	int32_t (*data)(void *, void **);
	int32_t (*delete)(void *);
	long (*alive)(void);
} torch;
static _Thread_local int device;

static void load_torch(const char *path)
{
	void *so = must_load(path, RTLD_NOW | RTLD_LOCAL);
	*(void **)&torch.empty = must_sym(so, "aoti_torch_empty_strided");
	*(void **)&torch.blob = must_sym(so, "aoti_torch_create_tensor_from_blob");
	*(void **)&torch.view = must_sym(so, "aoti_torch__reinterpret_tensor");
	*(void **)&torch.again = must_sym(so, "aoti_torch_new_tensor_handle");
	*(void **)&torch.data = must_sym(so, "aoti_torch_get_data_ptr");
	*(void **)&torch.delete = must_sym(so, "aoti_torch_delete_tensor_object");
	*(void **)&torch.alive = dlsym(so, "faketorch_alive");
}

/* ---- numbers ---- */

static float weight(int i, int j) { return (float)((3 * i + 5 * j) % 7 - 3) / 4; }

static void numbers(float *v, int64_t n, uint32_t seed)
{
	for (int64_t i = 0; i < n; i++)
		v[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 20) / 1024 - 2;
}

static void compute(const float *x, const float *y, float *out, int64_t rows)
{
	for (int64_t i = 0; i < rows; i++) {
		float sum = 0, row[COLUMNS];
		for (int j = 0; j < COLUMNS; j++) {
			float dot = 0;
			for (int k = 0; k < COLUMNS; k++)
				dot += (x[COLUMNS * i + k] + y[COLUMNS * i + k]) * weight(j, k);
			row[j] = dot + y[COLUMNS * i + j];
			sum += row[j] < 0 ? 0 : row[j];
		}
		for (int j = 0; j < COLUMNS; j++)
			out[COLUMNS * i + j] = row[j] * sum;
	}
}

/* "as computed" when all are. */
static const char *compare(const float *got, const float *want, int64_t n, char text[160])
{
	bool nan = false;
	for (int64_t i = 0; i < n; i++) {
		nan |= isnan(want[i]) != 0;
		if (isnan(got[i]) && isnan(want[i]))
			continue;
		if (!(fabsf(got[i] - want[i]) <= 1e-4f * (1 + fabsf(want[i])))) {
			snprintf(text, 160, "wrong at %lld: %g, not %g", (long long)i, (double)got[i], (double)want[i]);
			return text;
		}
	}
	return nan ? "NaN, as computed" : "as computed";
}

/* ---- a run ---- */

struct job {
	int64_t rows;
	float *x, *y, *want, *got;
	void *tensor[2], *out;
};

static int32_t tensor_on(int where, int64_t rows, const float *v, void **t)
{
	const int64_t size[] = {rows, COLUMNS}, stride[] = {COLUMNS, 1};
	void *p;
	int32_t rc = torch.empty(2, size, stride, F32, where < 0 ? 0 : CUDA, where < 0 ? 0 : where, t);
	if (rc)
		return rc;
	torch.data(*t, &p);
	if (where < 0)
		memcpy(p, v, (size_t)rows * COLUMNS * 4);
	return where < 0 ? 0 : cudaMemcpy(p, v, (size_t)rows * COLUMNS * 4, TO_DEVICE);
}

static int32_t wide(struct job *j)
{
	const int64_t size[] = {j->rows, COLUMNS}, stride[] = {COLUMNS, 1};
	void *half, *p;
	int32_t rc = tensor_on(device, j->rows / 2, j->y, &half);
	if (rc)
		return rc;
	torch.data(half, &p); /* the handle of the smaller one is kept: its memory must stay */
	return torch.blob(p, 2, size, stride, 0, F32, CUDA, device, &j->tensor[1]);
}

/* torch/csrc/inductor/inductor_ops.cpp, _reinterpret_tensor: sizes and strides are taken as they are. */
static int32_t walks(struct job *j)
{
	const int64_t size[] = {j->rows, COLUMNS}, stride[] = {COLUMNS, 1};
	void *half;
	int32_t rc = tensor_on(device, j->rows / 2, j->y, &half);
	rc = rc ? rc : torch.view(half, 2, size, stride, 0, &j->tensor[1]);
	if (!rc)
		torch.delete(half);
	return rc;
}

static int32_t begin(struct job *j, int64_t rows, enum what what, uint32_t seed)
{
	size_t n = (size_t)rows * COLUMNS;
	*j = (struct job){.rows = rows, .x = malloc(4 * n), .y = malloc(4 * n), .want = malloc(4 * n), .got = malloc(4 * n)};
	numbers(j->x, (int64_t)n, seed);
	numbers(j->y, (int64_t)n, seed + 1);
	if (what == WITH_NAN && n > 9)
		j->x[9] = NAN;
	compute(j->x, j->y, j->want, rows);
	int32_t rc = tensor_on(device, rows, j->x, &j->tensor[0]);
	if (rc)
		return rc;
	switch (what) {
	case WIDE: return wide(j);
	case WALKS: return walks(j);
	default: return tensor_on(what == ON_HOST ? -1 : what == ON_OTHER ? 1 - device : device, rows, j->y, &j->tensor[1]);
	}
}

static void end(struct job *j)
{
	for (int i = 0; i < 2; i++)
		if (j->tensor[i])
			torch.delete(j->tensor[i]);
	if (j->out)
		torch.delete(j->out);
	free(j->x);
	free(j->y);
	free(j->want);
	free(j->got);
}

/* The handles are given away, the tensors kept. */
static int32_t run(struct job *j, run_fn *fn, void *stream)
{
	void *in[2];
	torch.again(j->tensor[0], &in[0]);
	torch.again(j->tensor[1], &in[1]);
	if (j->out)
		torch.delete(j->out);
	j->out = NULL;
	return fn(the_container, in, 2, &j->out, 1, stream, NULL);
}

static int fetch(struct job *j)
{
	void *p;
	torch.data(j->out, &p);
	return cudaMemcpy(j->got, p, (size_t)j->rows * COLUMNS * 4, TO_HOST);
}

static void tell(struct job *j, int32_t rc)
{
	char text[160];
	const char *why = "";
	if (rc)
		model.error(&why);
	int cuda = rc ? 0 : fetch(j);
	if (rc)
		printf("rc %d %s\n", rc, why);
	else if (cuda)
		printf("rc 0, then %d %s\n", cuda, cudaGetErrorString(cuda));
	else
		printf("rc 0 %s\n", compare(j->got, j->want, j->rows * COLUMNS, text));
}

static bool inputs(struct job *j, int64_t rows, enum what what, uint32_t seed)
{
	if (!begin(j, rows, what, seed))
		return true;
	printf("no inputs: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	return false;
}

static void call(run_fn *fn, int64_t rows, enum what what)
{
	struct job j;
	if (inputs(&j, rows, what, 1))
		tell(&j, run(&j, fn, NULL));
	end(&j);
}

static void issue(int64_t rows)
{
	struct job j;
	const char *text = "";
	if (inputs(&j, rows, PLAIN, 1)) {
		int32_t rc = run(&j, model.run, NULL);
		if (rc)
			model.error(&text);
		printf(rc ? "rc %d %s\n" : "issued\n", rc, text);
	}
	end(&j);
}

static void on_streams(int n, int64_t rows)
{
	void *stream[2];
	struct job *j = calloc((size_t)n, sizeof(*j));
	int32_t *rc = calloc((size_t)n, sizeof(*rc));
	bool *made = calloc((size_t)n, sizeof(*made));
	for (int i = 0; i < 2; i++)
		cudaStreamCreate(&stream[i]);
	for (int i = 0; i < n; i++) {
		made[i] = inputs(&j[i], rows, PLAIN, (uint32_t)i);
		rc[i] = made[i] ? run(&j[i], model.run, stream[i % 2]) : 0;
	}
	for (int i = 0; i < 2; i++)
		cudaStreamSynchronize(stream[i]);
	for (int i = 0; i < n; i++) {
		if (made[i])
			tell(&j[i], rc[i]);
		end(&j[i]);
	}
	for (int i = 0; i < 2; i++)
		cudaStreamDestroy(stream[i]);
	free(made);
	free(rc);
	free(j);
}

static void *(*at_address)(const struct fakecuda_kernel *, uint64_t, size_t);
static void walks_off(const struct fakecuda_kernel *k) { at_address(k, 8, 8); }

static void beside(int64_t rows)
{
	void *stream;
	int (*enqueue)(void *, const char *, fakecuda_fn *, const uint64_t *, size_t);
	*(void **)&enqueue = must_sym(RTLD_DEFAULT, "fakecuda_enqueue");
	*(void **)&at_address = must_sym(RTLD_DEFAULT, "fakecuda_at");
	if (!cudaStreamCreateWithFlags(&stream, NON_BLOCKING) && !enqueue(stream, "of_the_host", walks_off, NULL, 0))
		issue(rows);
}

static void capturing(int64_t rows)
{
	void *stream, *graph = NULL;
	cudaStreamCreateWithFlags(&stream, NON_BLOCKING);
	cudaStreamBeginCapture(stream, CAPTURE_RELAXED);
	call(model.run, rows, PLAIN);
	int rc = cudaStreamEndCapture(stream, &graph);
	printf("captured: %d\n", rc);
	if (!rc)
		cudaGraphDestroy(graph);
	cudaStreamDestroy(stream);
}

struct thread {
	pthread_t id;
	void *container;
	int device, n, failed, wrong;
	int64_t rows;
	uint32_t seed;
};

static void *work(void *arg)
{
	struct thread *t = arg;
	char text[160];
	void *stream;
	device = t->device;
	the_container = t->container;
	cudaSetDevice(device);
	cudaStreamCreate(&stream);
	for (int i = 0; i < t->n; i++) {
		struct job j;
		if (begin(&j, t->rows, PLAIN, t->seed + (uint32_t)i) || run(&j, model.run, stream) || cudaStreamSynchronize(stream) ||
		    fetch(&j))
			t->failed++;
		else
			t->wrong += strcmp(compare(j.got, j.want, j.rows * COLUMNS, text), "as computed") != 0;
		end(&j);
	}
	cudaStreamDestroy(stream);
	return NULL;
}

static void threads(int t, int n, int64_t rows)
{
	struct thread *v = calloc((size_t)t, sizeof(*v));
	int failed = 0, wrong = 0;
	for (int i = 0; i < t; i++) {
		v[i] = (struct thread){.container = the_container, .device = device, .n = n, .rows = rows, .seed = (uint32_t)i * 1000};
		pthread_create(&v[i].id, NULL, work, &v[i]);
	}
	for (int i = 0; i < t; i++) {
		pthread_join(v[i].id, NULL);
		failed += v[i].failed;
		wrong += v[i].wrong;
	}
	printf("threads: %d failed, %d wrong\n", failed, wrong);
	free(v);
}

/* NULL: this program's own slots. */
static struct {
	int (*end)(void *, void **), (*instantiate)(void **, void *, unsigned long long), (*launch)(void *, void *);
} graphs;

static void find_graphs(bool by_name)
{
	*(void **)&graphs.end = by_name ? must_sym(RTLD_DEFAULT, "cudaStreamEndCapture") : NULL;
	*(void **)&graphs.instantiate = by_name ? must_sym(RTLD_DEFAULT, "cudaGraphInstantiate") : NULL;
	*(void **)&graphs.launch = by_name ? must_sym(RTLD_DEFAULT, "cudaGraphLaunch") : NULL;
}

/* Inputs keep their addresses; what is in them changes from one replay to the next. */
static int replay(struct job *j, void *exec, void *stream, uint32_t seed, bool with_nan)
{
	size_t bytes = (size_t)j->rows * COLUMNS * 4;
	void *x;
	numbers(j->x, j->rows * COLUMNS, seed);
	if (with_nan)
		j->x[9] = NAN;
	compute(j->x, j->y, j->want, j->rows);
	torch.data(j->tensor[0], &x);
	int rc = cudaMemcpy(x, j->x, bytes, TO_DEVICE);
	rc = rc ? rc : (graphs.launch ? graphs.launch : cudaGraphLaunch)(exec, stream);
	return rc ? rc : cudaStreamSynchronize(stream);
}

static int capture(struct job *j, void *stream, void **g)
{
	int32_t rc = cudaStreamBeginCapture(stream, CAPTURE_GLOBAL);
	rc = rc ? rc : run(j, model.single, stream);
	int ended = rc ? 0 : (graphs.end ? graphs.end : cudaStreamEndCapture)(stream, g);
	printf("captured: %d\n", rc ? rc : ended);
	return rc ? rc : ended;
}

/* Modules are loaded before the capture. */
static int warm(struct job *j, int64_t rows, void *stream)
{
	int32_t rc = begin(j, rows, PLAIN, 1);
	rc = rc ? rc : run(j, model.single, stream);
	return rc ? rc : cudaStreamSynchronize(stream);
}

static void graph(int n, int64_t rows, bool with_nan)
{
	struct job j;
	void *stream, *g = NULL, *exec = NULL;
	cudaStreamCreate(&stream);
	int32_t rc = warm(&j, rows, stream);
	rc = rc ? rc : capture(&j, stream, &g);
	rc = rc ? rc : (graphs.instantiate ? graphs.instantiate : cudaGraphInstantiate)(&exec, g, 0);
	for (int i = 0; i < n && !rc; i++) {
		rc = replay(&j, exec, stream, 100 + (uint32_t)i, with_nan && i == n - 1);
		if (!rc)
			tell(&j, 0);
	}
	if (rc)
		printf("rc %d %s\n", rc, cudaGetErrorString(rc));
	if (exec)
		cudaGraphExecDestroy(exec);
	if (g)
		cudaGraphDestroy(g);
	cudaStreamDestroy(stream);
	end(&j);
}

struct replayer {
	pthread_t id;
	void *graph;
	int n, failed;
};

static void *replay_often(void *arg)
{
	struct replayer *r = arg;
	void *exec = NULL, *stream;
	cudaSetDevice(device);
	cudaStreamCreate(&stream);
	r->failed = cudaGraphInstantiateWithFlags(&exec, r->graph, 0) != 0;
	for (int i = 0; i < r->n && exec; i++)
		r->failed += cudaGraphLaunch(exec, stream) || cudaStreamSynchronize(stream);
	cudaGraphExecDestroy(exec);
	cudaStreamDestroy(stream);
	return NULL;
}

static void replays(int t, int n, int64_t rows)
{
	struct job j;
	struct replayer *v = calloc((size_t)t, sizeof(*v));
	void *stream, *g = NULL;
	int failed = 0;
	cudaStreamCreate(&stream);
	int32_t rc = warm(&j, rows, stream);
	rc = rc ? rc : capture(&j, stream, &g);
	for (int i = 0; i < t && !rc; i++) {
		v[i] = (struct replayer){.graph = g, .n = n};
		pthread_create(&v[i].id, NULL, replay_often, &v[i]);
	}
	for (int i = 0; i < t && !rc; i++) {
		pthread_join(v[i].id, NULL);
		failed += v[i].failed;
	}
	printf("replays: %d failed\n", failed);
	cudaGraphDestroy(g);
	cudaStreamDestroy(stream);
	end(&j);
	free(v);
}

static void replay_and_tell(struct job *j, void *exec, void *stream, int n)
{
	for (int i = 0; i < n; i++) {
		int rc = replay(j, exec, stream, 200 + (uint32_t)i, false);
		if (rc)
			printf("rc %d %s\n", rc, cudaGetErrorString(rc));
		else
			tell(j, 0);
	}
}

static void remade(int n, int64_t rows)
{
	struct job j;
	uint64_t params[4] = {0};
	void *stream, *g = NULL, *exec = NULL, *again = NULL, *clone = NULL, *parent = NULL, *node = NULL, *outer = NULL, *other = NULL;
	cudaStreamCreate(&stream);
	if (warm(&j, rows, stream) || capture(&j, stream, &g) || cudaGraphInstantiateWithFlags(&exec, g, 0))
		die("remade", "no graph");
	replay_and_tell(&j, exec, stream, n);
	cudaGraphExecDestroy(exec);
	if (cudaGraphInstantiateWithParams(&exec, g, params) || cudaGraphClone(&clone, g))
		die("remade", "no executable");
	replay_and_tell(&j, exec, stream, n);
	if (cudaGraphInstantiate(&again, clone, 0))
		die("remade", "no clone");
	replay_and_tell(&j, again, stream, 1);
	cudaGraphExecDestroy(again);
	if (cudaGraphCreate(&parent, 0) || cudaGraphAddChildGraphNode(&node, parent, NULL, 0, g) || cudaGraphInstantiate(&again, parent, 0))
		die("remade", "no child");
	replay_and_tell(&j, again, stream, 1);
	if (cudaStreamBeginCapture(stream, CAPTURE_GLOBAL) || cudaGraphLaunch(exec, stream) || cudaStreamEndCapture(stream, &outer) ||
	    cudaGraphExecDestroy(again) || cudaGraphInstantiate(&again, outer, 0))
		die("remade", "no graph of a graph");
	replay_and_tell(&j, again, stream, 1);
	if (capture(&j, stream, &other) || cudaGraphExecUpdate(exec, other, params))
		die("remade", "no update");
	replay_and_tell(&j, exec, stream, 1);
	for (size_t i = 0; i < 5; i++)
		cudaGraphDestroy((void *[]){g, clone, parent, outer, other}[i]);
	cudaGraphExecDestroy(exec);
	cudaGraphExecDestroy(again);
	cudaStreamDestroy(stream);
	end(&j);
}

static void bench(int n, int64_t rows)
{
	struct job j;
	double best = 1e18;
	if (begin(&j, rows, PLAIN, 1))
		die("bench", "no inputs");
	for (int round = 0; round < 5; round++) {
		struct timespec a, b;
		clock_gettime(CLOCK_MONOTONIC, &a);
		for (int i = 0; i < n; i++)
			if (run(&j, model.run, NULL))
				die("bench", "a call failed");
		cudaDeviceSynchronize();
		clock_gettime(CLOCK_MONOTONIC, &b);
		double ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / n;
		best = ns < best ? ns : best;
	}
	printf("%.0f ns per call\n", best);
	end(&j);
}

/* ---- arguments ---- */

static void container(void)
{
	char name[16];
	const char *text = "";
	snprintf(name, sizeof(name), "cuda:%d", device);
	if (the_container)
		model.delete(the_container);
	the_container = NULL;
	cudaSetDevice(device);
	if (model.create(&the_container, 2, name, model.folder)) {
		model.error(&text);
		printf("no container: %s\n", text);
		fflush(stdout);
		exit(1);
	}
}

static void both(int n, int64_t rows)
{
	struct thread v[2];
	void *before = the_container;
	int was = device;
	for (int i = 0; i < 2; i++) {
		the_container = NULL;
		device = i;
		container();
		v[i] = (struct thread){.container = the_container, .device = i, .n = n, .rows = rows, .seed = (uint32_t)i * 1000};
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&v[i].id, NULL, work, &v[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(v[i].id, NULL);
	printf("both: %d failed, %d wrong\n", v[0].failed + v[1].failed, v[0].wrong + v[1].wrong);
	for (int i = 0; i < 2; i++)
		model.delete(v[i].container);
	the_container = before;
	cudaSetDevice(device = was);
}

static void load(const char *path)
{
	snprintf(model.folder, sizeof(model.folder), "%s", path);
	char *slash = strrchr(model.folder, '/');
	if (slash)
		*slash = 0;
	model.so = must_load(path, RTLD_NOW | RTLD_LOCAL);
	*(void **)&model.create = must_sym(model.so, "AOTInductorModelContainerCreateWithDevice");
	*(void **)&model.delete = must_sym(model.so, "AOTInductorModelContainerDelete");
	*(void **)&model.run = must_sym(model.so, "AOTInductorModelContainerRun");
	*(void **)&model.single = must_sym(model.so, "AOTInductorModelContainerRunSingleThreaded");
	*(void **)&model.error = must_sym(model.so, "AOTInductorGetLastError");
	container();
}

static bool is(const char *arg, const char *name) { return !strncmp(arg, name, strlen(name)); }

int main(int argc, char **argv)
{
	if (argc < 2 || !is(argv[1], "torch="))
		load_torch(beside_program("faketorch.so"));
	for (int i = 1; i < argc; i++) {
		const char *a = argv[i], *value = strchr(a, '=') ? strchr(a, '=') + 1 : a;
		char *rest = NULL;
		long n = strtol(value, &rest, 10);
		if (is(a, "torch="))
			load_torch(value);
		else if (is(a, "load="))
			load(value);
		else if (is(a, "device=")) {
			device = (int)n;
			if (model.so)
				container();
		} else if (is(a, "call="))
			call(model.run, n, PLAIN);
		else if (is(a, "single="))
			call(model.single, n, PLAIN);
		else if (is(a, "issue="))
			issue(n);
		else if (is(a, "beside="))
			beside(n);
		else if (is(a, "capturing="))
			capturing(n);
		else if (is(a, "nan="))
			call(model.run, n, WITH_NAN);
		else if (is(a, "host="))
			call(model.run, n, ON_HOST);
		else if (is(a, "other="))
			call(model.run, n, ON_OTHER);
		else if (is(a, "wide="))
			call(model.run, n, WIDE);
		else if (is(a, "walks="))
			call(model.run, n, WALKS);
		else if (is(a, "streams="))
			on_streams((int)n, strtol(rest + 1, NULL, 10));
		else if (is(a, "threads=")) {
			int each = (int)strtol(rest + 1, &rest, 10);
			threads((int)n, each, strtol(rest + 1, NULL, 10));
		} else if (is(a, "unseen=")) {
			find_graphs(true);
			graph((int)n, strtol(rest + 1, NULL, 10), false);
			find_graphs(false);
		} else if (is(a, "replays=")) {
			int each = (int)strtol(rest + 1, &rest, 10);
			replays((int)n, each, strtol(rest + 1, NULL, 10));
		} else if (is(a, "remade="))
			remade((int)n, strtol(rest + 1, NULL, 10));
		else if (is(a, "both="))
			both((int)n, strtol(rest + 1, NULL, 10));
		else if (is(a, "graph=") || is(a, "nangraph="))
			graph((int)n, strtol(rest + 1, NULL, 10), is(a, "nangraph="));
		else if (is(a, "bench="))
			bench((int)n, strtol(rest + 1, NULL, 10));
		else if (!strcmp(a, "wait")) {
			int rc = cudaDeviceSynchronize();
			printf(rc ? "wait %d %s\n" : "wait %d\n", rc, cudaGetErrorString(rc));
		} else if (!strcmp(a, "alive"))
			printf("alive %ld\n", torch.alive ? torch.alive() : 0);
		else
			die(a, "no such argument");
		fflush(stdout);
	}
	if (the_container)
		model.delete(the_container);
	return 0;
}
