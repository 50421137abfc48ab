/* inputs.c - generated inputs: other sizes where sizes are free, other values where values are. */
#include "base/process/elsewhere.h"
#include "graph/indices.h"
#include "tensor/write.h"
#include "verifier.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

const char *const input_text[INPUT_KINDS] = {
    [INPUTS_GIVEN] = "your inputs",
    [INPUTS_MADE] = "generated",
    [INPUTS_SIZES] = "other sizes",
    [INPUTS_VALUES] = "ties, zeros and signs",
    [INPUTS_SPECIAL] = "NaN and large numbers",
    [INPUTS_ALONE] = "alone: ties and zeros",
    [INPUTS_ALONE + 1] = "alone: extremes",
    [INPUTS_ALONE + 2] = "alone: positive",
};
const char *const input_words[INPUT_KINDS] = {
    [INPUTS_GIVEN] = "as given",
    [INPUTS_MADE] = "made up",
    [INPUTS_SIZES] = "other sizes",
    [INPUTS_VALUES] = "ties, zeros and signs",
    [INPUTS_SPECIAL] = "NaN and large numbers",
    [INPUTS_ALONE] = "kernels alone: ties and zeros",
    [INPUTS_ALONE + 1] = "kernels alone: extremes",
    [INPUTS_ALONE + 2] = "kernels alone: positive",
};

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static double unit(uint64_t *state) { return ((double)(next_random(state) >> 11) + 0.5) * 0x1p-53; }
static double normal(uint64_t *state) { return sqrt(-2 * log(unit(state))) * cos(6.283185307179586 * unit(state)); }

/* ---- sizes ---- */

/* Covers the vector loop and its tail, whatever the width: not a multiple of 8 or 16. */
static const int64_t other_sizes[] = {19, 21, 35, 13, 11, 7, 5, 3, 6, 9, 4, 2, 1};

static bool other_size(const struct contract_symbol *s, int64_t was, int64_t *out)
{
	for (size_t i = 0; i < ARRAY_LEN(other_sizes); i++) {
		const int64_t n = other_sizes[i];
		if (n != was && (s->range.lo_inf || n >= s->range.lo) && (s->range.hi_inf || n <= s->range.hi) && n > 1)
			return *out = n, true;
	}
	return false;
}

/* The strides that the contract demands (channels_last, transposed, expanded), the given ones where it demands none, else contiguous. */
static void find_strides(const struct contract *c, uint32_t input, const struct symbind *env, const struct trial *first,
			 struct tensor_meta *m)
{
	const struct tensor_meta *given = first ? &first->h.observed.write[input].v->meta : NULL;
	int64_t stride[TENSOR_MAX_DIMS];
	bool known = c->input[input].n_dim == m->n_dim;
	for (int d = 0; d < m->n_dim && known; d++)
		known = symsize_eval(&c->tab, c->input[input].dim[d].stride, env, &stride[d], NULL) == 0 && stride[d] >= 0;
	if (!known && given && given->n_dim == m->n_dim && tensor_same_sizes(given, m)) {
		memcpy(stride, given->stride, (size_t)m->n_dim * sizeof(*stride));
		known = true;
	}
	if (known)
		memcpy(m->stride, stride, (size_t)m->n_dim * sizeof(*stride));
	else
		tensor_contiguous(m);
}

/* The program's inputs with their sizes: those of `first`, or others where sizes are free. False: no other sizes. */
static bool find_sizes(const struct program *p, const struct trial *first, bool other, struct tensor_meta *m)
{
	const struct contract *c = &p->contract;
	struct symbind env = {0};
	bool any = false, ok = true;
	if (first) {
		for (uint32_t i = 0; i < c->n_inputs; i++)
			m[i] = first->h.in[i].meta;
		contract_bind(c, m, c->n_inputs, &env);
	}
	for (uint32_t i = 0; i < c->n_symbols; i++) {
		int64_t was = 0, n;
		symbind_get(&env, c->symbol[i].symbol, &was);
		if ((other || !first) && c->symbol[i].input != NONE && other_size(&c->symbol[i], was, &n))
			symbind_set(&env, c->symbol[i].symbol, n), any = true;
	}
	for (uint32_t i = 0; i < c->n_inputs && ok && (any || !first); i++) {
		const struct contract_input *in = &c->input[i];
		m[i] = (struct tensor_meta){.dtype = in->dtype, .device = DEVICE_CPU, .device_index = -1, .n_dim = in->n_dim};
		for (int d = 0; d < in->n_dim && ok; d++)
			ok = symsize_eval(&c->tab, in->dim[d].size, &env, &m[i].size[d], NULL) == 0 && m[i].size[d] >= 0;
	}
	for (uint32_t i = 0; i < c->n_inputs && ok; i++)
		find_strides(c, i, &env, first, &m[i]);
	symbind_release(&env);
	return ok && (any || !other);
}

/* ---- values ---- */

struct making {
	enum input_kind kind;
	uint64_t state;
	double *v;
	int64_t n;
};

static double next_value(struct making *m)
{
	static const double ties[] = {0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, 1, 0, 6};
	static const double special[] = {(double)NAN, 1e4, -1e4, 1e10, 1e-40, 0, (double)NAN, -1e6};
	const uint64_t r = next_random(&m->state);
	if (m->kind == INPUTS_VALUES && r % 4)
		return ties[r / 4 % ARRAY_LEN(ties)];
	if (m->kind == INPUTS_SPECIAL && r % 8 == 0)
		return special[r / 8 % ARRAY_LEN(special)];
	return normal(&m->state);
}

static bool is_permutation(const double *v, int64_t n)
{
	bool *seen = xcalloc((size_t)n + 1, sizeof(*seen)), all = n > 1;
	for (int64_t i = 0; i < n && all; i++) {
		all = v[i] >= 0 && v[i] < (double)n && !seen[(int64_t)v[i]];
		if (all)
			seen[(int64_t)v[i]] = true;
	}
	free(seen);
	return all;
}

/* Integers and masks only take values that were given; a permutation stays one. */
static void repeat_given(struct making *m, const struct numbers *given)
{
	const bool permutation = is_permutation(given->v, given->n);
	for (int64_t i = 0; i < m->n; i++)
		m->v[i] = permutation ? (double)((i * 7 + 3) % m->n) : given->n ? given->v[i % given->n] : 0;
	if (permutation && m->n % 7 == 0)
		for (int64_t i = 0; i < m->n; i++)
			m->v[i] = (double)(m->n - 1 - i);
}

/* 1: values other than the given ones; 0: the given ones again. */
static int fill_input(struct making *m, const struct program *p, uint32_t input, const struct tensor_meta *meta,
		      const struct observed_tensor *given, struct err *err)
{
	const struct numbers *was = given && given->x.v && given->x.class != NUMBERS_COMPLEX ? &given->x : NULL;
	if (aten_is_float(meta->dtype) || aten_is_complex(meta->dtype)) {
		for (int64_t i = 0; i < m->n; i++)
			m->v[i] = next_value(m);
		return 1;
	}
	const uint32_t node = graph_find(&p->graph, 0, p->contract.input[input].name);
	const int64_t bound = meta->dtype == DTYPE_BOOL ? 0 : node == NONE ? -1 : graph_index_bound(&p->graph, node).n;
	if (was && (bound <= 0 || m->kind == INPUTS_SPECIAL || is_permutation(was->v, was->n)))
		return repeat_given(m, was), 0;
	if (bound < 0)
		return err_set(err, EXIT_USAGE, "cannot tell which values '%.*s' may hold (integers used as an index): give the inputs",
			       SL(p->contract.input[input].name));
	for (int64_t i = 0; i < m->n; i++)
		m->v[i] = bound ? (double)(next_random(&m->state) % (uint64_t)bound) : 1;
	return 1;
}

/* Writes it in the dtype of the input. */
static int to_input_dtype(const struct making *m, const struct tensor_meta *meta, struct aten_value *out, struct err *err)
{
	ATEN_TRY("input")
	{
		int64_t stride[ATEN_DIMS];
		aten_contiguous_strides(meta->n_dim, meta->size, stride);
		struct aten_tensor *t = aten_new(meta->dtype, meta->n_dim, meta->size, meta->stride);
		aten_copy(t, aten_of_blob(m->v, DTYPE_F64, meta->n_dim, meta->size, stride, 0));
		*out = aten_of(aten_keep(t));
	}
	return ATEN_END ? err_set(err, EXIT_INPUT, "%s", aten_last_error()) : 0;
}

static int write_file(const char *path, const struct tensor_view *v, size_t n, struct err *err)
{
	const int fd = make_file(path, O_WRONLY | O_TRUNC, 0600);
	if (fd < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path);
	int r = tensor_write(fd, TENSOR_PT, v, n, path, err);
	if (close(fd) < 0 && !r)
		r = err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path);
	return r;
}

int inputs_make(const struct program *p, const struct trial *first, enum input_kind kind, uint64_t seed, const char *path, struct err *err)
{
	const uint32_t n = p->contract.n_inputs;
	struct tensor_meta *meta = xcalloc(n + 1, sizeof(*meta));
	struct aten_value *t = xcalloc(n + 1, sizeof(*t));
	struct tensor_view *v = xcalloc(n + 1, sizeof(*v));
	struct making m = {.kind = kind, .state = seed * 1000003 + kind};
	bool other = false;
	int r = find_sizes(p, first, kind == INPUTS_SIZES, meta);
	if (!r && !first)
		r = err_set(err, EXIT_USAGE, "cannot tell the input sizes from the graph: give the inputs");
	for (uint32_t i = 0; i < n && r > 0; i++) {
		if (!dtype_info(meta[i].dtype) || !tensor_numel(&meta[i], &m.n)) {
			r = 0;
			break;
		}
		m.v = xcalloc((size_t)m.n + 1, sizeof(*m.v));
		const int filled = fill_input(&m, p, i, &meta[i], first ? &first->h.observed.write[i] : NULL, err);
		other |= filled > 0;
		if (filled < 0 || to_input_dtype(&m, &meta[i], &t[i], err) < 0)
			r = -1;
		else
			v[i] = (struct tensor_view){.meta = meta[i], .data = aten_data(t[i].tensor)};
		free(m.v);
	}
	if (r > 0 && !other && (kind == INPUTS_VALUES || kind == INPUTS_SPECIAL))
		r = 0; /* they would be the same */
	if (r > 0 && n && write_file(path, v, n, err) < 0)
		r = -1;
	for (uint32_t i = 0; i < n; i++)
		aten_value_release(&t[i]);
	free(t);
	free(v);
	free(meta);
	return r;
}
