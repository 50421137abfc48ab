/* einsum, as in torch (torch 2.13 and 2.15, aten/src/ATen/native/Linear.cpp): operands are brought to one order of dims, that of the
 * result first, and multiplied in pairs. */
#include "call.h"
#include "elem.h"
#include "ops.h"

enum { LETTERS = 52, ELLIPSIS = LETTERS, LABELS };

/* An operand's or the result's labels. */
struct labels {
	int n, label[ATEN_DIMS];
};

static int letter(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1; }

static const char *read_labels(const char *p, struct labels *l, const char *until)
{
	*l = (struct labels){0};
	for (; *p && !strchr(until, *p); p++) {
		int which = !strncmp(p, "...", 3) ? ELLIPSIS : letter(*p);
		if (*p == ' ')
			continue;
		if (which < 0 || l->n == ATEN_DIMS)
			aten_fail("einsum(): invalid subscript given at '%.20s'", p);
		for (int i = 0; which == ELLIPSIS && i < l->n; i++)
			if (l->label[i] == ELLIPSIS)
				aten_fail("einsum(): found '.' for which an ellipsis was already found");
		l->label[l->n++] = which;
		p += which == ELLIPSIS ? 2 : 0;
	}
	return p;
}

struct einsum {
	struct aten_tensor **op;
	struct labels *in, out;
	int64_t n;
	int count[LABELS], place[LABELS]; /* number of uses of a label on the left; position of its dim in the common order, -1: none */
	int ellipsis;                     /* dims it represents, the maximum over all operands */
	int n_out, n_all;                 /* dims of the result, of the common order */
};

static void read_equation(struct einsum *e, const char *equation)
{
	const char *p = equation;
	for (int64_t i = 0; i < e->n; i++) {
		p = read_labels(p, &e->in[i], ",-");
		if ((i < e->n - 1) != (*p == ','))
			aten_fail("einsum(): %s operands were provided than specified in the equation", *p == ',' ? "fewer" : "more");
		p += *p == ',';
		int dims = e->op[i]->n_dim - e->in[i].n, open = -1;
		for (int k = 0; k < e->in[i].n; k++) {
			e->count[e->in[i].label[k]]++;
			open = e->in[i].label[k] == ELLIPSIS ? k : open;
		}
		if (open < 0 ? dims : dims + 1 < 0)
			aten_fail("einsum(): the number of subscripts in the equation (%d) does not match the number of dimensions (%d) "
				  "for operand %lld",
				  e->in[i].n, e->op[i]->n_dim, (long long)i);
		e->ellipsis = open >= 0 && dims + 1 > e->ellipsis ? dims + 1 : e->ellipsis;
	}
	if (!strncmp(p, "->", 2)) {
		if (*read_labels(p + 2, &e->out, ""))
			aten_fail("einsum(): invalid output");
		return;
	}
	if (*p)
		aten_fail("einsum(): expected '->' at '%.20s'", p);
	if (e->count[ELLIPSIS]) /* repeated labels are summed, the rest in alphabetical order */
		e->out.label[e->out.n++] = ELLIPSIS;
	for (int l = 0; l < LETTERS; l++)
		if (e->count[l] == 1)
			e->out.label[e->out.n++] = l;
}

static void place_labels(struct einsum *e)
{
	for (int l = 0; l < LABELS; l++)
		e->place[l] = -1;
	for (int i = 0; i < e->out.n; i++) {
		int l = e->out.label[i];
		if (e->place[l] >= 0 || (l != ELLIPSIS && !e->count[l]))
			aten_fail("einsum(): output subscript %s", e->count[l] ? "appears more than once in the output"
									       : "does not appear in the equation for any input operand");
		e->place[l] = e->n_all;
		e->n_all += l == ELLIPSIS ? e->ellipsis : 1;
	}
	e->n_out = e->n_all;
	if (e->count[ELLIPSIS] && e->place[ELLIPSIS] < 0) {
		e->place[ELLIPSIS] = e->n_all;
		e->n_all += e->ellipsis;
	}
	for (int l = 0; l < LETTERS; l++)
		if (e->count[l] && e->place[l] < 0)
			e->place[l] = e->n_all++;
	if (e->n_all > ATEN_DIMS - 2)
		aten_fail("einsum(): too many dimensions");
}

/* In the common order; missing dims have size 1; a repeated label takes the diagonal. */
static struct aten_tensor *ordered(const struct einsum *e, const struct aten_tensor *t, const struct labels *l)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	bool has[ATEN_DIMS] = {0};
	int dim = 0;
	for (int i = 0; i < e->n_all; i++) {
		size[i] = 1;
		stride[i] = 0;
	}
	for (int k = 0; k < l->n; k++) {
		bool open = l->label[k] == ELLIPSIS;
		int dims = open ? t->n_dim - l->n + 1 : 1, at = e->place[l->label[k]] + (open ? e->ellipsis - dims : 0);
		for (int i = 0; i < dims; i++, dim++, at++) {
			if (has[at] && size[at] != t->size[dim])
				aten_fail("einsum(): a subscript is repeated for dimensions of %lld and %lld", (long long)size[at],
					  (long long)t->size[dim]);
			size[at] = t->size[dim];
			stride[at] = has[at] ? stride[at] + t->stride[dim] : t->stride[dim];
			has[at] = true;
		}
	}
	return aten_view(t, e->n_all, size, stride, t->offset);
}

static struct aten_tensor *summed(struct aten_tensor *t, const int64_t *dims, int64_t n, bool keepdim)
{
	return n ? APPLIED("sum.dim_IntList", aten_of(t), aten_ints(dims, n), aten_bool(keepdim)) : t;
}

struct dims {
	int64_t n, dim[ATEN_DIMS], size;
};
static void add_dim(struct dims *d, int64_t dim, int64_t size)
{
	d->dim[d->n++] = dim;
	d->size = size_times(d->size, size);
}
static int64_t append(int64_t *to, int64_t n, const struct dims *d)
{
	memcpy(to + n, d->dim, (size_t)d->n * sizeof(*to));
	return n + d->n;
}

/* sumproduct_pair: one batched product; summed dims remain with size 1. */
static struct aten_tensor *product_of(struct aten_tensor *a, struct aten_tensor *b, const bool *sums)
{
	struct dims both = {.size = 1}, left = {.size = 1}, right = {.size = 1}, sum = {.size = 1};
	int64_t order[ATEN_DIMS], back[ATEN_DIMS], size[ATEN_DIMS], k = 0;
	int n = a->n_dim;
	for (int i = 0; i < n; i++) {
		bool in_a = a->size[i] != 1, in_b = b->size[i] != 1;
		if (sums[i])
			add_dim(&sum, i, a->size[i]);
		else if (in_a && in_b)
			add_dim(&both, i, a->size[i]);
		else if (in_a)
			add_dim(&left, i, a->size[i]);
		else
			add_dim(&right, i, b->size[i]);
	}
	/* The result is already in output order if b's dims come first (seen in torch 2.13 and 2.15). */
	if (left.n && right.n && right.dim[right.n - 1] < left.dim[0])
		return product_of(b, a, sums);
	append(order, append(order, append(order, append(order, 0, &both), &left), &sum), &right);
	for (int i = 0; i < n; i++) {
		size[i] = sums[order[i]] ? 1 : a->size[order[i]] != 1 ? a->size[order[i]] : b->size[order[i]];
		back[order[i]] = k++;
	}
	struct aten_tensor *x = aten_reshape(aten_permute(a, order, n), (const int64_t[]){both.size, left.size, sum.size}, 3);
	append(order, append(order, append(order, append(order, 0, &both), &sum), &right), &left);
	struct aten_tensor *y = aten_reshape(aten_permute(b, order, n), (const int64_t[]){both.size, sum.size, right.size}, 3);
	return aten_permute(aten_reshape(APPLIED("bmm", aten_of(x), aten_of(y)), size, n), back, n);
}

/* Combines a and b, summing dims in no other operand. count: operands that have a dim to be summed. */
static struct aten_tensor *pair(const struct einsum *e, struct aten_tensor *a, struct aten_tensor *b, int *count)
{
	struct dims of_a = {0}, of_b = {0};
	bool sums[ATEN_DIMS] = {0}, any = false;
	for (int d = 0; d < e->n_all; d++) {
		bool in_a = a->size[d] != 1, in_b = b->size[d] != 1;
		if (in_a && in_b && a->size[d] != b->size[d])
			aten_fail("einsum(): operands do not broadcast: sizes %lld and %lld", (long long)a->size[d], (long long)b->size[d]);
		if (d < e->n_out)
			continue;
		if (in_a && in_b) {
			sums[d] = --count[d] == 1;
			any = any || sums[d];
		} else if (count[d] == 1 && (in_a || in_b)) {
			add_dim(in_a ? &of_a : &of_b, d, 1);
		}
	}
	a = summed(a, of_a.dim, of_a.n, true);
	b = summed(b, of_b.dim, of_b.n, true);
	return any ? product_of(a, b, sums) : aten_mul(a, b);
}

static void run_einsum(struct aten_call *c) /* equation, tensors, path */
{
	struct tensors operands = call_tensors(c, 1);
	struct einsum e = {.op = operands.v, .n = operands.n};
	struct ints pairs = call_ints(c, 2);
	const int64_t *path = pairs.v;
	int count[ATEN_DIMS] = {0};
	if (!e.n)
		aten_fail("einsum(): must provide at least one operand");
	e.in = aten_scratch((uint64_t)e.n, sizeof(*e.in));
	for (int64_t i = 0; i < e.n; i++)
		if (!e.op[i])
			aten_fail("einsum(): operand %lld is None", (long long)i);
	read_equation(&e, call_string_or(c, 0, ""));
	place_labels(&e);
	for (int64_t i = 0; i < e.n; i++) {
		e.op[i] = ordered(&e, e.op[i], &e.in[i]);
		for (int d = e.n_out; d < e.n_all; d++)
			count[d] += e.op[i]->size[d] != 1;
	}
	if (path && pairs.n != 2 * (e.n - 1))
		aten_fail("einsum(): expected a path of %lld pairs", (long long)e.n - 1);
	for (int64_t left = e.n; left > 1; left--, path = path ? path + 2 : NULL) {
		int64_t i = path ? (path[0] < path[1] ? path[0] : path[1]) : 0, j = path ? (path[0] < path[1] ? path[1] : path[0]) : 1;
		if (i < 0 || i == j || j >= left)
			aten_fail("einsum(): invalid contraction path");
		struct aten_tensor *made = pair(&e, e.op[i], e.op[j], count);
		memmove(e.op + j, e.op + j + 1, (size_t)(left - j - 1) * sizeof(struct aten_tensor *));
		memmove(e.op + i, e.op + i + 1, (size_t)(left - i - 2) * sizeof(struct aten_tensor *));
		e.op[left - 2] = made;
	}
	struct aten_tensor *out = e.op[0];
	int64_t rest[ATEN_DIMS], n_rest = 0;
	for (int64_t d = e.n_out; d < e.n_all; d++)
		rest[n_rest++] = d;
	call_give(c, 0, e.n > 1 ? aten_reshape(out, out->size, e.n_out) : summed(out, rest, n_rest, false));
}

static void run_tensordot(struct aten_call *c) /* self, other, dims_self, dims_other */
{
	struct aten_tensor *t[2] = {call_tensor(c, 0), call_tensor(c, 1)}, *flat[2];
	int64_t size[ATEN_DIMS], sums = 1, free_[2] = {1, 1}, n_size = 0;
	for (uint32_t k = 0; k < 2; k++) {
		struct ints dims = call_ints(c, 2 + k), other = call_ints(c, 3 - k);
		int64_t order[ATEN_DIMS], m = 0, n = dims.n;
		bool summed_dim[ATEN_DIMS] = {0};
		if (n != other.n || n > t[0]->n_dim || n > t[1]->n_dim)
			aten_fail("both dimension lists should have same length");
		for (int64_t i = 0; i < n; i++) {
			int a = aten_dim(t[k], dims.v[i]), b = aten_dim(t[1 - k], other.v[i]);
			if (summed_dim[a] || t[k]->size[a] != t[1 - k]->size[b])
				aten_fail("contracted dimensions need to match, but first has size %lld in dim %d and second has size %lld "
					  "in dim %d",
					  (long long)t[k]->size[a], a, (long long)t[1 - k]->size[b], b);
			summed_dim[a] = true;
			sums *= k ? 1 : t[k]->size[a];
		}
		for (int64_t i = 0; k && i < n; i++)
			order[m++] = aten_dim(t[k], dims.v[i]);
		for (int i = 0; i < t[k]->n_dim; i++)
			if (!summed_dim[i]) {
				order[m++] = i;
				free_[k] *= size[n_size++] = t[k]->size[i];
			}
		for (int64_t i = 0; !k && i < n; i++)
			order[m++] = aten_dim(t[k], dims.v[i]);
		flat[k] = aten_permute(t[k], order, m);
	}
	flat[0] = aten_reshape(flat[0], (const int64_t[]){free_[0], sums}, 2);
	flat[1] = aten_reshape(flat[1], (const int64_t[]){sums, free_[1]}, 2);
	call_give(c, 0, aten_reshape(APPLIED("mm", aten_of(flat[0]), aten_of(flat[1])), size, n_size));
}

const struct aten_entry aten_einsum_entries[] = {{"einsum", run_einsum}, {"tensordot", run_tensordot}, {0}};
