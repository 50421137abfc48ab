/* The inputs of a plain program: torch.randn(8, 16), torch.tensor([1, 2]), preserving strides and shared memory. */
#include "graph/fxcode_part.h"
#include "graph/repro/repro_plain.h"

#include <inttypes.h>
#include <math.h>

enum { LITERAL_MAX = 32 }; /* elements that are spelled out */

struct making {
	struct plain_writer *w;
	const struct plan_input *in;
	const struct plan_storage *s;
	const struct tensor_meta *t;
	struct buf *b;
	bool grad_said; /* the constructor already has requires_grad=True */
};

static bool is_float(int dtype)
{
	return (dtype >= DTYPE_F16 && dtype <= DTYPE_F64) || dtype == DTYPE_BF16 || dtype == DTYPE_C64 || dtype == DTYPE_C128;
}

/* torch.randn has no kernel for them. */
static bool is_converted(int dtype) { return (dtype >= DTYPE_F8E5M2 && dtype <= DTYPE_F8E4M3FNUZ) || dtype == DTYPE_C32; }

static void add_numbers(struct buf *b, const int64_t *v, int n)
{
	for (int i = 0; i < n; i++)
		buf_addf(b, "%s%" PRId64, i ? ", " : "", v[i]);
}

static void add_tuple(struct buf *b, const int64_t *v, int n)
{
	buf_addc(b, '(');
	add_numbers(b, v, n);
	buf_adds(b, n == 1 ? ",)" : ")");
}

/* "8, 16", of a number "()". */
static void add_sizes(struct buf *b, const int64_t *v, int n)
{
	if (n)
		add_numbers(b, v, n);
	else
		buf_adds(b, "()");
}

/* ", dtype=torch.int64, device='cuda:0', requires_grad=True": those that differ from the call's defaults. */
static void add_options(struct making *m, int own_dtype, bool whole)
{
	if (m->t->dtype != own_dtype)
		buf_addf(m->b, ", dtype=torch.%s", dtype_name(m->t->dtype));
	if (m->s->device.n) {
		buf_adds(m->b, ", device=");
		pytext_quote(m->b, m->s->device);
	}
	m->grad_said = whole && m->w->form == REPRO_AFTER_DYNAMO && m->in->requires_grad;
	buf_adds(m->b, m->grad_said ? ", requires_grad=True" : "");
}

/* ---- literals ---- */

/* The fewest digits that give the same float. */
static void add_single(struct buf *b, float v)
{
	char text[32];
	for (int digits = 1; digits < 10; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, (double)v);
		if (strtof(text, NULL) == v)
			break;
	}
	buf_adds(b, text);
	if (!strpbrk(text, ".e"))
		buf_adds(b, ".0");
}

static void add_real(struct buf *b, int dtype, double v)
{
	if (!isfinite(v) || dtype == DTYPE_F64 || dtype == DTYPE_C128)
		fx_add_float(b, v);
	else
		add_single(b, (float)v);
}

static void add_element(struct buf *b, int dtype, const char *p)
{
	const struct tensor_number v = tensor_load(dtype, p);
	int64_t wide;
	uint64_t unsigned_wide;
	if (dtype == DTYPE_BOOL) {
		buf_adds(b, v.re != 0 ? "True" : "False");
	} else if (dtype == DTYPE_I64) {
		memcpy(&wide, p, sizeof(wide));
		buf_addf(b, "%" PRId64, wide);
	} else if (dtype == DTYPE_U64) {
		memcpy(&unsigned_wide, p, sizeof(unsigned_wide));
		buf_addf(b, "%" PRIu64, unsigned_wide);
	} else if (dtype_is_integer(dtype)) {
		buf_addf(b, "%.0f", v.re);
	} else if (dtype == DTYPE_C64 || dtype == DTYPE_C128 || dtype == DTYPE_C32) {
		buf_adds(b, "complex(");
		add_real(b, dtype, v.re);
		buf_adds(b, ", ");
		add_real(b, dtype, v.im);
		buf_addc(b, ')');
	} else {
		add_real(b, dtype, v.re);
	}
}

/* "[[1, 2], [3, 4]]" of contiguous elements. */
static void add_nested(struct buf *b, int dtype, const char *p, const int64_t *size, int n_dim)
{
	const int64_t bytes = dtype_info(dtype)->bytes;
	int64_t n = 1, at[TENSOR_MAX_DIMS] = {0};
	for (int d = 0; d < n_dim; d++)
		n *= size[d];
	for (int64_t i = 0; i < n; i++) {
		int opened = 0;
		while (opened < n_dim && !at[n_dim - 1 - opened])
			opened++;
		for (int k = 0; k < opened; k++)
			buf_addc(b, '[');
		add_element(b, dtype, p + i * bytes);
		int closed = 0;
		while (closed < n_dim && ++at[n_dim - 1 - closed] == size[n_dim - 1 - closed])
			at[n_dim - 1 - closed++] = 0;
		for (int k = 0; k < closed; k++)
			buf_addc(b, ']');
		buf_adds(b, i + 1 < n ? ", " : "");
	}
}

static bool all_equal(struct slice bytes, size_t one) { return bytes.n <= one || !memcmp(bytes.p, bytes.p + one, bytes.n - one); }

/* torch.tensor's own dtype for such a literal. */
static int literal_dtype(int dtype)
{
	if (dtype_is_integer(dtype))
		return dtype == DTYPE_BOOL ? DTYPE_BOOL : DTYPE_I64;
	return dtype == DTYPE_C64 || dtype == DTYPE_C128 ? DTYPE_C64 : DTYPE_F32;
}

/* All elements are the same: torch.ones, torch.zeros, torch.full. */
static void add_constant(struct making *m, struct slice bytes, const int64_t *size, int n_dim, bool whole)
{
	const struct tensor_number v = tensor_load(m->t->dtype, bytes.p);
	const bool zero = v.re == 0 && v.im == 0 && !signbit(v.re), one = v.re == 1 && v.im == 0;
	if (zero || one) {
		buf_adds(m->b, zero ? "torch.zeros(" : "torch.ones(");
		add_sizes(m->b, size, n_dim);
		add_options(m, DTYPE_F32, whole);
	} else {
		buf_adds(m->b, "torch.full(");
		add_tuple(m->b, size, n_dim);
		buf_adds(m->b, ", ");
		add_element(m->b, m->t->dtype, bytes.p);
		add_options(m, literal_dtype(m->t->dtype), whole);
	}
	buf_addc(m->b, ')');
}

/* Contiguous elements, as a tensor of these sizes. */
static void add_data(struct making *m, struct slice bytes, const int64_t *size, int n_dim, bool whole)
{
	const size_t one = (size_t)dtype_info(m->t->dtype)->bytes, n = bytes.n / one;
	if (!n) {
		buf_adds(m->b, "torch.empty(");
		add_sizes(m->b, size, n_dim);
		add_options(m, DTYPE_F32, whole);
		buf_addc(m->b, ')');
	} else if (n > 1 && all_equal(slice_of(bytes.p, n * one), one)) {
		add_constant(m, bytes, size, n_dim, whole);
	} else if (n <= LITERAL_MAX) {
		buf_adds(m->b, "torch.tensor(");
		add_nested(m->b, m->t->dtype, bytes.p, size, n_dim);
		add_options(m, literal_dtype(m->t->dtype), whole);
		buf_addc(m->b, ')');
	} else {
		m->w->base64 = true;
		buf_adds(m->b, "torch.frombuffer(bytearray(base64.b64decode(");
		plan_add_base64(m->b, slice_of(bytes.p, n * one));
		buf_addf(m->b, ")), dtype=torch.%s)", dtype_name(m->t->dtype));
		if (n_dim != 1) {
			buf_adds(m->b, ".reshape(");
			add_sizes(m->b, size, n_dim);
			buf_addc(m->b, ')');
		}
		if (m->s->device.n) {
			buf_adds(m->b, ".to(");
			pytext_quote(m->b, m->s->device);
			buf_addc(m->b, ')');
		}
	}
}

/* ---- one tensor ---- */

/* Arbitrary values: normally distributed; integers are 0, a valid index into anything nonempty. */
static void add_random(struct making *m, const int64_t *size, int n_dim, bool whole)
{
	const int dtype = m->t->dtype;
	const bool drawn = is_float(dtype) || is_converted(dtype);
	m->w->random |= drawn;
	buf_adds(m->b, drawn ? "torch.randn(" : "torch.zeros(");
	add_sizes(m->b, size, n_dim);
	if (is_converted(dtype)) {
		buf_adds(m->b, dtype == DTYPE_C32 ? ", dtype=torch.complex64" : "");
		buf_addf(m->b, ").to(torch.%s)", dtype_name(dtype));
		return;
	}
	add_options(m, DTYPE_F32, whole);
	buf_addc(m->b, ')');
}

/* Number of elements from the storage's start to the tensor's last one. */
static int64_t reach(const struct plan_input *in)
{
	int64_t bytes = 0;
	tensor_extent(in->layout, &bytes);
	return in->offset + bytes / dtype_info(in->layout->dtype)->bytes;
}

/* Memory of n elements as a tensor of one dimension. */
static void add_memory(struct making *m, int64_t n)
{
	if (m->s->how == PLAN_INLINE) {
		n = (int64_t)m->s->bytes.n / dtype_info(m->t->dtype)->bytes;
		add_data(m, m->s->bytes, &n, 1, false);
	} else {
		add_random(m, &n, 1, false);
	}
}

static void add_strided(struct making *m)
{
	buf_adds(m->b, ".as_strided(");
	add_tuple(m->b, m->t->size, m->t->n_dim);
	buf_adds(m->b, ", ");
	add_tuple(m->b, m->t->stride, m->t->n_dim);
	if (m->in->offset)
		buf_addf(m->b, ", %" PRId64, m->in->offset);
	buf_addc(m->b, ')');
}

static bool is_transposed(const struct making *m)
{
	const struct tensor_meta *t = m->t;
	return t->n_dim == 2 && t->stride[0] == 1 && t->stride[1] == t->size[0] && t->size[0] > 1 && t->size[1] > 1 && !m->in->offset;
}

/* torch.load returns the storage that torch.save wrote (torch 2.13, torch/utils/_content_store.py). */
static void add_file(struct making *m)
{
	const bool place = m->s->device.n > 0;
	m->w->files = true;
	buf_addf(m->b, "torch.empty(0, dtype=torch.%s", dtype_name(m->t->dtype));
	if (place) {
		buf_adds(m->b, ", device=");
		pytext_quote(m->b, m->s->device);
	}
	buf_adds(m->b, ").set_(torch.load(os.path.join(here, ");
	pytext_quote(m->b, m->w->p->folder);
	buf_adds(m->b, ", 'storages', ");
	pytext_quote(m->b, m->s->hash);
	buf_adds(m->b, ")");
	if (place) {
		buf_adds(m->b, ", map_location=");
		pytext_quote(m->b, m->s->device);
	}
	buf_addf(m->b, ")._untyped_storage, %" PRId64 ", ", m->in->offset);
	add_tuple(m->b, m->t->size, m->t->n_dim);
	buf_adds(m->b, ", ");
	add_tuple(m->b, m->t->stride, m->t->n_dim);
	buf_addc(m->b, ')');
}

static void add_alone(struct making *m)
{
	const struct tensor_meta *t = m->t;
	const bool dense = tensor_is_contiguous(t) && !m->in->offset;
	if (m->s->how == PLAN_FILE) {
		add_file(m);
	} else if (dense && m->s->how == PLAN_INLINE) {
		int64_t n = 0;
		tensor_numel(t, &n);
		const size_t bytes = (size_t)n * (size_t)dtype_info(t->dtype)->bytes;
		add_data(m, slice_of(m->s->bytes.p, bytes < m->s->bytes.n ? bytes : m->s->bytes.n), t->size, t->n_dim, true);
	} else if (dense) {
		add_random(m, t->size, t->n_dim, true);
	} else if (m->s->how != PLAN_INLINE && is_transposed(m)) {
		add_random(m, (const int64_t[]){t->size[1], t->size[0]}, 2, false);
		buf_adds(m->b, ".t()");
	} else {
		add_memory(m, reach(m->in));
		add_strided(m);
	}
}

/* A leaf that requires gradients, or a tensor computed from one. */
static void add_gradient(struct making *m)
{
	if (m->w->form != REPRO_AFTER_DYNAMO || !m->in->requires_grad)
		return;
	buf_adds(m->b, m->grad_said ? "" : ".requires_grad_()");
	buf_adds(m->b, m->in->is_leaf ? "" : ".clone()");
}

/* ---- all ---- */

static int check_input(struct plain_writer *w, const struct plan_input *in)
{
	const struct plan_storage *s;
	int64_t bytes;
	if (in->kind != REPRO_TENSOR && in->kind != REPRO_SYMINT && in->kind != REPRO_CONST)
		return err_set(w->err, EXIT_INPUT, "the input '%.*s' is neither a tensor nor an integer", SLN(in->name, 100));
	if (in->kind != REPRO_TENSOR)
		return 0;
	const int dtype = in->layout->dtype;
	if (in->extra.n || !(is_float(dtype) || is_converted(dtype) || dtype_is_integer(dtype)))
		return err_set(w->err, EXIT_INPUT, "the input '%.*s' is of a kind that cannot be created in one line (%s%.*s)",
			       SLN(in->name, 100), dtype_name(dtype), SL(in->extra));
	s = &w->p->storage[in->storage];
	if (!tensor_extent(in->layout, &bytes) || in->offset < 0 ||
	    (s->how == PLAN_INLINE && (uint64_t)reach(in) > s->bytes.n / (size_t)dtype_info(dtype)->bytes))
		return err_set(w->err, EXIT_INPUT, "the input '%.*s' reaches past its values", SLN(in->name, 100));
	for (size_t i = 0; i < w->p->n_inputs; i++)
		if (w->p->input[i].kind == REPRO_TENSOR && w->p->input[i].storage == in->storage && w->p->input[i].layout->dtype != dtype)
			return err_set(w->err, EXIT_INPUT, "the input '%.*s' shares its memory with an input of another dtype",
				       SLN(in->name, 100));
	return 0;
}

/* Several inputs in one storage: it gets a name, and comes before the first of them. */
static void add_shared(struct plain_writer *w, size_t at, struct buf *b)
{
	const struct plan_input *in = &w->p->input[at];
	struct making m = {w, in, &w->p->storage[in->storage], in->layout, b, false};
	int64_t n = 0;
	bool first = true;
	for (size_t i = 0; i < w->p->n_inputs; i++)
		if (w->p->input[i].kind == REPRO_TENSOR && w->p->input[i].storage == in->storage) {
			first &= i >= at;
			n = reach(&w->p->input[i]) > n ? reach(&w->p->input[i]) : n;
		}
	if (first && m.s->how == PLAN_FILE) {
		const struct tensor_meta flat = {.dtype = m.t->dtype, .n_dim = 1, .size = {n}, .stride = {1}};
		struct plan_input whole = *in;
		whole.offset = 0;
		m.in = &whole;
		m.t = &flat;
		buf_addf(b, "memory%u = ", in->storage);
		add_file(&m);
		buf_addc(b, '\n');
		m.in = in;
		m.t = in->layout;
	} else if (first) {
		buf_addf(b, "memory%u = ", in->storage);
		add_memory(&m, n);
		buf_addc(b, '\n');
	}
	buf_addf(b, "%.*s = memory%u", SL(w->name[at]), in->storage);
	add_strided(&m);
	add_gradient(&m);
	buf_addc(b, '\n');
}

int plain_add_inputs(struct plain_writer *w, struct buf *b)
{
	const struct plan *p = w->p;
	FREED uint32_t *users = xcalloc(p->n_storages + 1, sizeof(*users));
	int status = 0;
	for (size_t i = 0; i < p->n_inputs && status == 0; i++) {
		status = check_input(w, &p->input[i]);
		if (status == 0 && p->input[i].kind == REPRO_TENSOR)
			users[p->input[i].storage]++;
	}
	for (size_t i = 0; i < p->n_inputs && status == 0; i++) {
		const struct plan_input *in = &p->input[i];
		if (in->kind != REPRO_TENSOR)
			continue;
		if (users[in->storage] > 1) {
			add_shared(w, i, b);
			continue;
		}
		struct making m = {w, in, &p->storage[in->storage], in->layout, b, false};
		buf_addf(b, "%.*s = ", SL(w->name[i]));
		add_alone(&m);
		add_gradient(&m);
		buf_adds(b, in->guess ? "  # shape unknown, guessed\n" : "\n");
	}
	return status;
}
