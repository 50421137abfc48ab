/* compare.c - two dumps: matches their calls, and compares their tensors. */
#include "base/hash.h"
#include "base/linediff.h"
#include "diff.h"

#include <ctype.h>

/* ---- models ---- */

struct models {
	struct numbered {
		uint32_t id, ordinal, number; /* ordinal: among those of this name; number: the same on both sides */
		struct slice name;
	} * v;
	size_t n, cap;
};

static void find_models(struct models *m, const struct dump *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_call *c = &d->call[i];
		uint32_t ordinal = 0;
		size_t k = 0;
		for (; k < m->n && m->v[k].id != c->model_id; k++)
			ordinal += slice_eq(m->v[k].name, c->model);
		if (k < m->n)
			continue;
		PUSH_TO(m->v, m->n, m->cap) = (struct numbered){c->model_id, ordinal, (uint32_t)k, c->model};
	}
}

/* By name; if each side has only one model, they are the same, whatever their names. */
static void match_models(const struct models *a, struct models *b)
{
	uint32_t next = (uint32_t)a->n;
	for (size_t i = 0; i < b->n; i++) {
		size_t k = 0;
		while (k < a->n && !(slice_eq(a->v[k].name, b->v[i].name) && a->v[k].ordinal == b->v[i].ordinal))
			k++;
		if (k == a->n && a->n == 1 && b->n == 1)
			k = 0;
		b->v[i].number = k < a->n ? a->v[k].number : next++;
	}
}

static uint32_t model_number(const struct models *m, uint32_t id)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].id == id)
			return m->v[i].number;
	return 0;
}

/* ---- calls in order ---- */

struct ordered {
	const struct dump_call *c;
	uint32_t model;
};
struct side {
	struct ordered *v;
	size_t n, at;
	struct models models;
};

static int by_order(const void *pa, const void *pb)
{
	const struct ordered *x = pa, *y = pb;
	if (x->model != y->model)
		return x->model < y->model ? -1 : 1;
	if (x->c->run != y->c->run)
		return x->c->run < y->c->run ? -1 : 1;
	if ((x->c->kind == DUMP_RUN) != (y->c->kind == DUMP_RUN)) /* the model's own inputs come first */
		return x->c->kind == DUMP_RUN ? -1 : 1;
	if (x->c->call != y->c->call)
		return x->c->call < y->c->call ? -1 : 1;
	return x->c->seq < y->c->seq ? -1 : x->c->seq > y->c->seq;
}

static bool filter_passes(const struct filter *f, const struct dump_call *c)
{
	const bool run = c->kind == DUMP_RUN;
	return (!run || (!f->kernel.n && !f->n_calls)) && filter_call(f, c->name, c->run, run ? 0 : c->call);
}

static void order_calls(struct side *s, const struct dump *d, const struct filter *f)
{
	s->v = xcalloc(d->n + 1, sizeof(*s->v));
	for (size_t i = 0; i < d->n; i++)
		if (filter_passes(f, &d->call[i]))
			s->v[s->n++] = (struct ordered){&d->call[i], model_number(&s->models, d->call[i].model_id)};
	qsort(s->v, s->n, sizeof(*s->v), by_order);
}

/* How many calls from s->at on belong to this run of this model. */
static size_t group_size(const struct side *s, uint32_t model, uint32_t run)
{
	size_t n = 0;
	while (s->at + n < s->n && s->v[s->at + n].model == model && s->v[s->at + n].c->run == run)
		n++;
	return n;
}

/* The last of the nodes that a call comes from ("relu, linear_1"). */
static struct slice last_node(const struct dump_call *c)
{
	const char *end = c->nodes.p + c->nodes.n, *p = end;
	while (p > c->nodes.p && p[-1] != ' ' && p[-1] != ',')
		p--;
	return slice_of(p, (size_t)(end - p));
}

/* nodes: operators must also come from the same node. On another device other kernels lie between them and may have absorbed some of the
 * operators, so that the next operator of that name is a later one. */
static uint64_t key_of(const struct dump_call *c, bool nodes)
{
	size_t device;
	struct slice what = diff_computes(c->name, &device), node = last_node(c);
	uint64_t key = hash_bytes(what.p, what.n);
	if (nodes && c->kind == DUMP_OP)
		key ^= hash_bytes(node.p, node.n) * 31;
	return c->kind == DUMP_RUN ? 1 : key;
}

/* The first operator of these calls; NULL: none, or one of them has no source nodes. */
static const struct dump_call *first_op(const struct ordered *v, size_t n)
{
	const struct dump_call *first = NULL;
	for (size_t i = n; i-- > 0;)
		if (v[i].c->kind == DUMP_OP) {
			if (!v[i].c->nodes.n)
				return NULL;
			first = v[i].c;
		}
	return first;
}

static bool on_gpu(const struct dump_call *c) { return slice_starts(c->name, "triton_") || slice_starts(c->name, "aoti_torch_cuda_"); }

/* On two devices buffers are numbered independently: their names mean nothing. */
static bool one_device(const struct dump_call *a, const struct dump_call *b)
{
	size_t x, y;
	diff_computes(a->name, &x);
	diff_computes(b->name, &y);
	return slice_eq(slice_of(a->name.p, x), slice_of(b->name.p, y));
}

/* The first call that belongs to a device. */
static const struct dump_call *first_of_device(const struct ordered *v, size_t n)
{
	size_t device;
	for (size_t i = 0; i < n; i++)
		if (diff_computes(v[i].c->name, &device), device)
			return v[i].c;
	return NULL;
}

static bool match_nodes(struct diff *d, const struct ordered *a, size_t na, const struct ordered *b, size_t nb)
{
	if (!na || !nb || diff_is_nodes(a[na - 1].c) == diff_is_nodes(b[nb - 1].c))
		return false;
	struct diff_calls x = {xcalloc(na, sizeof(*x.v)), na}, y = {xcalloc(nb, sizeof(*y.v)), nb};
	for (size_t i = 0; i < na; i++)
		x.v[i] = a[i].c;
	for (size_t i = 0; i < nb; i++)
		y.v[i] = b[i].c;
	diff_pair_nodes(d, &x, &y);
	d->nodes = true;
	free(x.v);
	free(y.v);
	return true;
}

static void match_group(struct diff *d, struct linediff *l, struct side *a, size_t na, struct side *b, size_t nb)
{
	if (match_nodes(d, a->v + a->at, na, b->v + b->at, nb)) {
		a->at += na;
		b->at += nb;
		return;
	}
	uint64_t *ka = xcalloc(na + 1, sizeof(*ka)), *kb = xcalloc(nb + 1, sizeof(*kb));
	const struct dump_call *op = first_op(a->v + a->at, na), *op_b = first_op(b->v + b->at, nb);
	const struct dump_call *first = first_of_device(a->v + a->at, na), *first_b = first_of_device(b->v + b->at, nb);
	const bool nodes = op && op_b && !one_device(op, op_b), devices = first && first_b && on_gpu(first) != on_gpu(first_b);
	const size_t from = d->n_rows;
	for (size_t i = 0; i < na; i++)
		ka[i] = key_of(a->v[a->at + i].c, nodes);
	for (size_t i = 0; i < nb; i++)
		kb[i] = key_of(b->v[b->at + i].c, nodes);
	linediff_keys(l, ka, (uint32_t)na, kb, (uint32_t)nb);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct linediff_row *r = &l->row[i];
		const struct dump_call *x = r->a == NONE ? NULL : a->v[a->at + r->a].c;
		const struct dump_call *y = r->b == NONE ? NULL : b->v[b->at + r->b].c;
		if (r->same) {
			diff_add_row(d, x, y);
			continue;
		}
		/* A run's own inputs and outputs exist if they were requested. */
		if (x && x->kind != DUMP_RUN)
			diff_add_row(d, x, NULL);
		if (y && y->kind != DUMP_RUN)
			diff_add_row(d, NULL, y);
	}
	if (devices || d->two_types)
		diff_pair_devices(d, from);
	a->at += na;
	b->at += nb;
	free(ka);
	free(kb);
}

static void match_calls(struct diff *d, const struct filter *f)
{
	struct side a = {0}, b = {0};
	struct linediff l = {0};
	find_models(&a.models, &d->a);
	find_models(&b.models, &d->b);
	match_models(&a.models, &b.models);
	order_calls(&a, &d->a, f);
	order_calls(&b, &d->b, f);
	while (a.at < a.n || b.at < b.n) {
		const struct ordered *x = a.at < a.n ? &a.v[a.at] : NULL, *y = b.at < b.n ? &b.v[b.at] : NULL;
		bool second = !x || (y && (y->model < x->model || (y->model == x->model && y->c->run < x->c->run)));
		const struct ordered *next = second ? y : x;
		match_group(d, &l, &a, group_size(&a, next->model, next->c->run), &b, group_size(&b, next->model, next->c->run));
	}
	linediff_release(&l);
	free(a.v);
	free(b.v);
	free(a.models.v);
	free(b.models.v);
}

/* ---- tensors ---- */

static bool is_shown(const struct filter *f, const struct dump_value *v) { return filter_buffer(f, v->role, v->buffer, v->path); }

/* The last is the most certain. In another dtype a kernel may write through other buffers, or in place where the other does not: there
 * numbers come first. */
enum stands { BY_PLACE, BY_NAME, BY_NUMBERS, BY_NAME_AND_NUMBERS };

static bool stands_for(const struct diff *d, const struct dump_value *a, const struct dump_value *b, enum stands how)
{
	const bool name = slice_eq(a->buffer, b->buffer), numbers = how >= BY_NUMBERS;
	if (a->before != b->before || (numbers ? dump_written(a) != dump_written(b) : a->role != b->role))
		return false;
	switch (how) {
	case BY_NAME_AND_NUMBERS: return name && diff_same_numbers(d, a, b);
	case BY_NUMBERS: return diff_same_numbers(d, a, b);
	case BY_NAME: return name && (a->buffer.n || a->arg == b->arg) && (!d->two_types || diff_same_sizes(a, b));
	case BY_PLACE: break;
	}
	return a->arg == b->arg;
}

/* Pairs the written values of a row that was matched by numbers, or by name. */
static void match_written(struct diff *d, struct diff_row *r, const struct filter *f)
{
	bool *taken = xcalloc(r->b->n_values + 1u, sizeof(*taken));
	for (uint32_t i = 0; i < r->a->n_values; i++)
		for (uint32_t k = 0; k < r->b->n_values && is_shown(f, &r->a->value[i]); k++)
			if (!taken[k] && diff_wrote_alike(d, r->alike, &r->a->value[i], &r->b->value[k])) {
				diff_add_value(d, r, &r->a->value[i], &r->b->value[k]);
				taken[k] = true;
				break;
			}
	free(taken);
}

/* In several passes: the most certain matches first, so that the rest can be matched with the rest. */
static void match_values(struct diff *d, struct diff_row *r, const struct filter *f)
{
	const struct dump_call *a = r->a, *b = r->b;
	const bool alike = r->alike != ALIKE_NAME, names = one_device(a, b);
	if (alike && !d->two_types) {
		match_written(d, r, f);
		return;
	}
	const struct dump_value **with = xcalloc(a->n_values + 1u, sizeof(*with));
	bool *taken = xcalloc(b->n_values + 1u, sizeof(*taken));
	for (int how = d->two_types ? BY_NAME_AND_NUMBERS : names ? BY_NAME : BY_NUMBERS; how >= (alike ? BY_NAME : BY_PLACE); how--)
		for (uint32_t i = 0; i < a->n_values && (names || how != BY_NAME); i++)
			for (uint32_t k = 0; k < b->n_values && !with[i]; k++)
				if (!taken[k] && stands_for(d, &a->value[i], &b->value[k], (enum stands)how)) {
					with[i] = &b->value[k];
					taken[k] = true;
				}
	for (uint32_t i = 0; i < a->n_values; i++)
		if (is_shown(f, &a->value[i]))
			diff_add_value(d, r, &a->value[i], with[i]);
	for (uint32_t k = 0; k < b->n_values; k++)
		if (!taken[k] && is_shown(f, &b->value[k]))
			diff_add_value(d, r, NULL, &b->value[k]);
	free(with);
	free(taken);
}

static int compare_value(struct diff *d, struct diff_value *v, struct err *err)
{
	if (!v->a->file.n || !v->b->file.n) {
		v->what = DIFF_UNSAVED;
		d->unsaved++;
		return 0;
	}
	d->compared++;
	return diff_compare(d, v, d->how, err);
}

/* A tensor that only one side has: the requested ones may differ (--inputs, --constants), but not what a call writes. */
static bool value_differs(const struct diff *d, const struct diff_value *v)
{
	const struct dump_value *any = diff_any(v);
	bool written = dump_written(any);
	switch (v->what) {
	case DIFF_SAME:
	case DIFF_UNSAVED:
	case DIFF_OTHER: return false;
	/* On two devices or in two types: an intermediate buffer; its result is compared. */
	case DIFF_ONLY_A: return written && !d->two_types && !d->two_devices;
	case DIFF_ONLY_B: return written && !d->two_types && !d->two_devices && !d->live;
	default: return true;
	}
}

static int compare_row(struct diff *d, size_t i, const struct filter *f, struct err *err)
{
	struct diff_row *r = &d->row[i];
	r->value = d->n_values;
	if (!r->a || !r->b)
		return 0;
	if (r->nodes)
		diff_match_nodes(d, i);
	else
		match_values(d, r, f);
	for (size_t k = r->value; k < r->value + r->n_values; k++)
		if (d->value[k].what == DIFF_SAME && compare_value(d, &d->value[k], err) < 0)
			return -1;
	return 0;
}

static void conclude_row(struct diff *d, struct diff_row *r)
{
	bool reads = false;
	r->in_differs = r->out_differs = r->outputs = r->parted = false;
	r->compared = 0;
	for (size_t k = r->value; k < r->value + r->n_values; k++) {
		struct diff_value *v = &d->value[k];
		bool before = diff_any(v)->before, different = value_differs(d, v);
		reads |= before;
		r->in_differs |= before && different;
		r->out_differs |= !before && different;
		r->compared += v->a && v->b;
		r->parted |= d->two_devices && !before && (!v->a || !v->b || v->what == DIFF_OTHER);
		r->outputs |= v->a && v->b && v->what != DIFF_UNSAVED && v->a->role == CALL_ROLE_MODEL_OUTPUT;
		d->differing += different;
	}
	/* A whole run computes nothing itself: its kernels do. */
	r->origin = reads && r->out_differs && !r->in_differs && diff_call(r)->kind != DUMP_RUN;
	d->origins += r->origin;
}

static int conclude(struct diff *d, struct err *err)
{
	if ((d->two_types || d->two_devices || (d->nodes && !d->how.given)) && diff_judge_rounding(d, err) < 0)
		return -1;
	d->differing = d->origins = 0;
	for (size_t i = 0; i < d->n_rows; i++)
		conclude_row(d, &d->row[i]);
	return 0;
}

/* torch.compile graphs alternate: which difference came first? */
static bool is_earlier(const struct diff *d, size_t i, size_t first)
{
	const struct dump_call *x = d->row[i].a, *y = first == SIZE_MAX ? NULL : d->row[first].a;
	return x && y && x->text.n && y->text.n && x->seq != y->seq ? x->seq < y->seq : i < first;
}

static bool row_differs(const struct diff *d, const struct diff_row *r)
{
	if (r->nodes)
		return r->out_differs && !r->elsewhere;
	if (r->a && r->b && !r->parted)
		return r->in_differs || r->out_differs;
	return r->in_differs || r->out_differs || (!r->elsewhere && (r->a || !d->live));
}

/* On two devices, a call on one side only means less than a call that differs. The outputs of a run differ because of one of its kernels,
 * which comes after it in the order of a dump; if its inputs differ, that is the first difference. */
static void judge_rows(struct diff *d)
{
	size_t alone = SIZE_MAX, whole = SIZE_MAX;
	for (size_t i = 0; i < d->n_rows; i++) {
		const struct diff_row *r = &d->row[i];
		if (!row_differs(d, r))
			continue;
		d->different = true;
		const bool result = r->a && r->b && r->a->kind == DUMP_RUN && !r->in_differs;
		const bool one_sided = !r->a || !r->b || !(r->in_differs || r->out_differs);
		size_t *first = result ? &whole : r->devices && one_sided ? &alone : &d->first;
		*first = is_earlier(d, i, *first) ? i : *first;
	}
	if (d->first == SIZE_MAX)
		d->first = alone != SIZE_MAX ? alone : whole;
}

int diff_run(struct diff *d, const struct filter *f, struct err *err)
{
	d->first = SIZE_MAX;
	d->two_types = !d->how.given && diff_two_types(d);
	d->two_devices = !d->how.given && diff_two_devices(d);
	d->how.any_dtype = d->two_types;
	match_calls(d, f);
	for (size_t i = 0; i < d->n_rows; i++)
		if (compare_row(d, i, f, err) < 0)
			return -1;
	if (conclude(d, err) < 0)
		return -1;
	enum diff_what *was = d->two_devices ? diff_try_others(d) : NULL;
	const int rc = was ? conclude(d, err) : 0;
	if (was)
		diff_keep_others(d, was);
	if (rc < 0)
		return -1;
	diff_settle_devices(d);
	if (d->nodes)
		diff_settle_nodes(d);
	for (size_t i = 0; i < d->n_rows; i++)
		if (d->row[i].alike == ALIKE_SIZES && compare_row(d, i, f, err) < 0)
			return -1;
	if (conclude(d, err) < 0)
		return -1;
	judge_rows(d);
	if (!d->both)
		return err_set(err, EXIT_INPUT, "'%s' and '%s' have no call in common (%zu and %zu calls): are they from the same model?",
			       d->name[0], d->name[1], d->only[0], d->only[1]);
	return 0;
}

void diff_release(struct diff *d)
{
	free(d->row);
	free(d->value);
	if (d->a.path)
		dump_close(&d->a);
	if (d->b.path)
		dump_close(&d->b);
	*d = (struct diff){0};
}
