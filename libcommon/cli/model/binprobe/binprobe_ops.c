/* Calls of the program: torch's operators, generated kernels, custom ops through the proxy executor, CUDA launches. Each is
 * recorded with its tensors; the result of an operator becomes a tensor whose sizes the program will reveal.
 *
 * A kernel's parameters have no types in the binary. A word is a tensor if it is a data pointer that the program queried
 * since the last call, as generated code does right before it, or a constant's; they end with the last one queried,
 * because a kernel always writes something. Which ones are written follows from Inductor's order (in_out_ptrs, in_ptrs, out_ptrs). */
#include "model/contract/opsig.h"
#include "model/cppwrapper/optypes.h"
#include "model/binprobe/binprobe_child.h"

#define PREFIX OPSIG_PREFIX

/* *dtype: of result `ret`, given the first tensors, if no rule applies; returns whether it is certain. */
static bool result_type(const char *name, int ret, const struct fake *first, const struct fake *second, int *dtype)
{
	const char *types = op_result_types(name);
	char letter = (size_t)ret < strlen(types) ? types[ret] : '?';
	bool sure = first && (first->value >= world->run.n_values || world->run.value[first->value].dtype_sure);
	int given = sure ? first->dtype : DTYPE_NONE, certain = op_result_type(letter, given, second ? second->dtype : DTYPE_NONE);
	*dtype = certain != DTYPE_NONE ? certain : first ? first->dtype : DTYPE_F32;
	return certain != DTYPE_NONE;
}

/* ---- operators ---- */

/* The arguments of a call, by the calling convention (model/contract/callwords.h). */
struct reader {
	const struct stub_call *c;
	int ints, reals, stack;
};

static uint64_t next_int(struct reader *r) { return r->ints < CALL_INTS ? r->c->ints[r->ints++] : r->c->stack[r->stack++]; }
static uint64_t next_real(struct reader *r) { return r->reals < CALL_REALS ? r->c->reals[2 * r->reals++] : r->c->stack[r->stack++]; }

static struct op_word next_word(struct reader *r, char letter)
{
	struct op_word w = {letter, strchr("cdfz", letter) ? next_real(r) : next_int(r)};
	if (letter == 'z')
		next_real(r);
	if (letter == 'c' && CALL_COMPLEX_REALS == 2)
		w.bits = (w.bits & UINT32_MAX) | next_real(r) << 32;
	return w;
}

/* The answer to `if` and `while`: true once at each place, so that a branch is taken and a loop ends, unless another answer is being
 * tried. */
static bool read_bool(uint64_t from)
{
	struct run *r = &world->run;
	world_note("the program branches on data (aoti_torch_item_bool): shown is the way for true, with each loop run once");
	for (uint32_t i = 0; i < r->n_asked; i++)
		if (r->asked[i].place == from)
			return false;
	if (r->n_asked == ARRAY_LEN(r->asked))
		return false;
	const struct asked *d = decided(from);
	bool answer = d ? d->answer : true;
	r->asked[r->n_asked++] = (struct asked){from, answer, true};
	return answer;
}

/* A number read from a tensor: an integer may be a size that comes from data. */
static void read_item(const char *type, void *out, uint64_t from)
{
	int dtype = dtype_by_name(slice_str(type));
	const struct dtype_info *d = dtype_info(dtype);
	if (!out || !d)
		return;
	memset(out, 0, (size_t)d->bytes);
	if (dtype == DTYPE_F32)
		*(float *)out = 1;
	else if (dtype == DTYPE_F64)
		*(double *)out = 1;
	else if (dtype == DTYPE_BOOL)
		*(bool *)out = read_bool(from);
	else if (dtype == DTYPE_I64 || dtype == DTYPE_U64)
		*(int64_t *)out = item_next(from);
	else if (dtype == DTYPE_I32 || dtype == DTYPE_U32)
		*(int32_t *)out = (int32_t)item_next(from);
	else
		*(char *)out = 1;
}

static uint64_t make_scalar(const char *type, struct reader *r, bool real)
{
	if (real)
		next_real(r);
	else
		next_int(r);
	if (!strcmp(type, "complex128"))
		next_real(r);
	struct fake **out = (struct fake **)(uintptr_t)next_int(r);
	typedef int32_t empty(int64_t, const int64_t *, const int64_t *, int32_t, int32_t, int32_t, struct fake **);
	empty *make = (empty *)fake_function("aoti_torch_empty_strided");
	return out ? (uint64_t)make(0, NULL, NULL, dtype_by_name(slice_str(type)), DEVICE_CPU, -1, out) : 1;
}

struct op_tensors {
	const struct fake *first, *second;
};

static void op_arg(struct op_tensors *t, enum arg_role role, const void *handle)
{
	struct fake *f = fake_of(handle);
	if (!f)
		return;
	if (!t->first)
		t->first = f;
	else if (!t->second)
		t->second = f;
	call_arg(role, f);
}

static void op_list(struct op_tensors *t, char letter, const void *const *list, uint64_t n)
{
	for (uint64_t i = 0; list && i < n && i < 4096; i++)
		op_arg(t, ARG_IN, letter == 'L' ? list[i] : list[i] ? *(const void *const *)list[i] : NULL);
}

static void op_result(const struct stub *s, const struct op_tensors *t, int ret, const struct ruled *ruled, struct fake **out)
{
	int dtype = ruled ? ruled->dtype : DTYPE_NONE;
	const bool sure = ruled ? ruled->sure : result_type(s->name, ret, t->first, t->second, &dtype);
	struct fake *f = fake_made((uint32_t)(s - world->stub), ret, dtype, sure, t->first ? t->first->device : world->device,
				   t->first ? t->first->device_index : -1);
	if (ruled)
		fake_take_rule(f, ruled);
	if (out)
		*out = f;
	call_arg(ARG_OUT, f);
}

enum { MAX_WORDS = 512, MAX_RESULTS = 16 };

static uint64_t op_called(struct stub *s, const struct stub_call *c)
{
	static const char item[] = PREFIX "item_", scalar[] = PREFIX "scalar_to_tensor_";
	struct reader r = {.c = c};
	if (!strncmp(s->name, item, strlen(item))) {
		call_begin(CALL_OP, s->name);
		call_arg(ARG_IN, fake_of((void *)(uintptr_t)c->ints[0]));
		call_end();
		read_item(s->name + strlen(item), (void *)(uintptr_t)c->ints[1], c->stack[-1]);
		return 0;
	}
	if (!strncmp(s->name, scalar, strlen(scalar)))
		return make_scalar(s->name + strlen(scalar), &r, s->sig[0] != 'i');
	struct op_word word[MAX_WORDS];
	struct ruled ruled[MAX_RESULTS];
	struct op_tensors t = {0};
	const size_t n = strnlen(s->sig, MAX_WORDS);
	size_t n_results = 0;
	int ret = 0;
	for (size_t i = 0; i < n; i++) {
		word[i] = next_word(&r, s->sig[i]);
		n_results += word[i].letter == 'R';
	}
	const bool by_rule = n_results <= MAX_RESULTS && rule_ask(s, word, n, ruled, n_results);
	call_begin(CALL_OP, s->name);
	for (size_t i = 0; i < n; i++) {
		const void *p = (const void *)(uintptr_t)word[i].bits;
		switch (word[i].letter) {
		case 'T': op_arg(&t, ARG_IN, p); break;
		case 'O': call_arg(ARG_OUT, fake_of(p)); break;
		case 'M': op_arg(&t, ARG_INOUT, p); break;
		case 'P': op_arg(&t, ARG_IN, p ? *(const void *const *)p : NULL); break;
		case 'L':
		case 'Q':
			op_list(&t, word[i].letter, p, i + 1 < n ? word[i + 1].bits : 0);
			i++; /* the length */
			break;
		case 'R':
			op_result(s, &t, ret, by_rule && ruled[ret].n_dim >= 0 ? &ruled[ret] : NULL,
				  (struct fake **)(uintptr_t)word[i].bits);
			ret++;
			break;
		case 'S':
			if (p)
				*(int64_t *)(uintptr_t)word[i].bits = item_next(c->stack[-1]);
			break;
		}
	}
	call_end();
	return 0;
}

/* ---- kernels ---- */

/* The tensor that a word of a kernel's arguments refers to, or NONE. *fetched: queried since the last call. */
static uint32_t value_at(uint64_t word, bool *fetched)
{
	const struct run *r = &world->run;
	*fetched = true;
	for (uint32_t i = r->n_fetched; i-- > 0;)
		if (r->fetched[i].address == word)
			return r->fetched[i].value;
	*fetched = false;
	for (uint32_t i = 0; word && i < world->n_constants; i++) {
		const struct fake *f = world->constant[i].fake;
		const struct dtype_info *d = f ? dtype_info(f->dtype) : NULL;
		if (d && f->address + (uint64_t)f->offset * (uint64_t)d->bytes == word)
			return world->n_inputs + i;
	}
	return NONE;
}

/* A new buffer is written, inputs and constants are read; for a buffer that was written before, binprobe_roles.c decides. */
static void kernel_args(const uint32_t *v, uint32_t n)
{
	const struct run *r = &world->run;
	for (uint32_t i = 0; i < n; i++) {
		const struct run_value *x = &r->value[v[i]];
		call_value(x->kind != VALUE_BUFFER ? ARG_IN : x->written ? ARG_UNKNOWN : ARG_OUT, v[i]);
	}
}

static void kernel_called(const char *name, const struct stub_call *c)
{
	struct run *r = &world->run;
	uint32_t found[MAX_WORDS], n = 0, n_until = 0, left = r->n_fetched, missed = 0;
	/* Pointers come before numbers, so several words that are not pointers mark the end. */
	for (uint32_t i = 0; i < MAX_WORDS && left && missed < 6; i++) {
		bool fetched;
		uint32_t v = value_at(call_word(c->ints, c->stack, i), &fetched);
		missed = v == NONE ? missed + 1 : 0;
		if (v == NONE)
			continue;
		found[n++] = v;
		if (fetched) {
			n_until = n;
			left -= left > 0;
		}
	}
	call_begin(CALL_KERNEL, name);
	kernel_args(found, n_until);
	call_end();
}

/* ---- CUDA: no device, no error; a launch is a kernel's call ---- */

/* Streams created by the model are numbered from 1; all others are the caller's. An event is any pointer that is not NULL. */
#define STREAMS UINT64_C(0x5700000000000000)

static uint32_t stream_number(const void *stream)
{
	uint64_t k = (uint64_t)(uintptr_t)stream - STREAMS;
	return k <= world->n_streams ? (uint32_t)k : 0;
}

static int cuda_stream_create(void **out)
{
	*out = (void *)(uintptr_t)(STREAMS + ++world->n_streams);
	return 0;
}

static int cuda_event_create(void **out)
{
	*out = (void *)(uintptr_t)STREAMS;
	return 0;
}

static int cuda_query(const void *of, int *out)
{
	(void)of;
	*out = 0;
	return 0;
}

/* A guard is the previously current stream. */
static int32_t stream_guard(const void *stream, int32_t device, void **out)
{
	(void)device;
	*out = (void *)(uintptr_t)(STREAMS + world->stream);
	world->stream = stream_number(stream);
	return 0;
}

static int32_t stream_guard_end(const void *guard)
{
	world->stream = stream_number(guard);
	return 0;
}

/* Its parameters are variables of the launching function, as is the array of their addresses, so a word that points elsewhere is the
 * end. Constants are found only there: their addresses were queried when they were loaded. */
static void kernel_launched(const char *name, void *const *arguments, const void *stream)
{
	enum { FRAME = 4096 };
	struct run *r = &world->run;
	uint32_t found[MAX_WORDS], n = 0;
	bool any = !r->n_fetched, fetched;
	for (uint32_t i = 0; arguments && i < MAX_WORDS; i++) {
		uint64_t word, far = (uint64_t)(uintptr_t)arguments[i] - (uint64_t)(uintptr_t)arguments + FRAME;
		if (far > 2 * FRAME)
			break;
		memcpy(&word, arguments[i], sizeof(word));
		uint32_t v = value_at(word, &fetched);
		if (v != NONE)
			found[n++] = v;
		any |= v != NONE && fetched;
	}
	if (!any)
		for (n = 0; n < r->n_fetched && n < MAX_WORDS; n++)
			found[n] = r->fetched[n].value;
	call_begin(CALL_KERNEL, name);
	r->call[r->n_calls - 1].stream = stream_number(stream);
	kernel_args(found, n);
	call_end();
}

struct cuda_function {
	uint64_t magic;
	const char *name;
};

static int cuda_get_function(void **out, void *module, const char *name)
{
	(void)module;
	struct cuda_function *f = arena_alloc(&world->arena, sizeof(*f));
	*f = (struct cuda_function){FAKE_MAGIC, arena_strndup(&world->arena, name, strnlen(name, 4096))};
	*out = f;
	return 0;
}

static const char *cuda_name(const void *function)
{
	const struct cuda_function *f = function;
	return f && f->magic == FAKE_MAGIC ? f->name : "unknown kernel";
}

static int cuda_launch(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
		       void *stream, void **arguments, void **extra)
{
	(void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)extra;
	kernel_launched(cuda_name(function), arguments, stream);
	return 0;
}

struct launch_config { /* CUlaunchConfig */
	unsigned grid[3], block[3], shared;
	void *stream;
};

static int cuda_launch_ex(const struct launch_config *config, void *function, void **arguments, void **extra)
{
	(void)extra;
	kernel_launched(cuda_name(function), arguments, config->stream);
	return 0;
}

static int cuda_zero(int *out)
{
	*out = 0;
	return 0;
}

static int cuda_malloc(void **out, size_t n)
{
	(void)n;
	*out = (void *)(uintptr_t)(0x6000000000000000ull + world->kept_address++ * (1ull << 36));
	return 0;
}

static const char *cuda_no_error(int code)
{
	(void)code;
	return "";
}

static int cuda_error_text(int code, const char **out)
{
	(void)code;
	*out = "";
	return 0;
}

/* ---- custom ops ---- */

static int32_t proxy_call(void *executor, int node, int n_ints, int64_t *ints, int n_tensors, struct fake **tensors)
{
	(void)executor, (void)n_ints, (void)ints;
	/* wrapper_name_proxies() finds its name. */
	const char *name = arena_textf(&world->run.arena, "proxy_executor[%d]", node).p;
	const struct fake *first = NULL;
	int ret = 0;
	call_begin(CALL_PROXY, name);
	for (int i = 0; i < n_tensors && i < 65536; i++) {
		struct fake *f = fake_of(tensors[i]);
		if (f && !f->defined) {
			f->dtype = first ? first->dtype : f->dtype;
			fake_become_made(f, 0x80000000u | (uint32_t)node, ret++, false);
			call_arg(ARG_OUT, f);
		} else if (f) {
			first = first ? first : f;
			call_arg(ARG_IN, f);
		}
	}
	call_end();
	return 0;
}

void *op_function(const char *name)
{
	static const struct named_function table[] = {
	    {PREFIX "proxy_executor_call_function", proxy_call},
	    {"cuModuleGetFunction", cuda_get_function},
	    {"cuLaunchKernel", cuda_launch},
	    {"cuLaunchKernelEx", cuda_launch_ex},
	    {PREFIX "create_cuda_stream_guard", stream_guard},
	    {PREFIX "delete_cuda_stream_guard", stream_guard_end},
	    {"cudaStreamCreate", cuda_stream_create},
	    {"cudaStreamCreateWithFlags", cuda_stream_create},
	    {"cudaStreamCreateWithPriority", cuda_stream_create},
	    {"cuStreamCreate", cuda_stream_create},
	    {"cudaEventCreate", cuda_event_create},
	    {"cudaEventCreateWithFlags", cuda_event_create},
	    {"cuEventCreate", cuda_event_create},
	    {"cudaStreamIsCapturing", cuda_query},
	    {"cuStreamIsCapturing", cuda_query},
	    {"cudaGetDevice", cuda_zero},
	    {"cuCtxGetDevice", cuda_zero},
	    {"cudaMalloc", cuda_malloc},
	    {"cudaGetErrorString", cuda_no_error},
	    {"cudaGetErrorName", cuda_no_error},
	    {"cuGetErrorString", cuda_error_text},
	    {"cuGetErrorName", cuda_error_text},
	};
	return function_named(table, ARRAY_LEN(table), name);
}

static uint64_t stub_called(uint32_t number, const struct stub_call *c)
{
	if (number >= world->n_stubs)
		return 1;
	struct stub *s = &world->stub[number];
	switch (s->kind) {
	case STUB_VALUE: return (uint64_t)s->value;
	case STUB_KERNEL: kernel_called(s->name, c); return 0;
	case STUB_OP: return op_called(s, c);
	case STUB_UNKNOWN: break;
	}
	/* Return an error like torch's functions: an operator that produced nothing must not seem to have produced something. */
	world_note("the program calls %s, which is unknown here", s->name);
	return 1;
}

uint64_t binprobe_stub_called(uint32_t number, const uint64_t *saved, const uint64_t *stack)
{
	return stub_called(number, &(struct stub_call){.ints = saved, .reals = saved + CALL_INTS, .stack = stack});
}
