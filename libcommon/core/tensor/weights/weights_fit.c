/* Matches weights to constants and checks that they fit. */
#include "tensor/weights/weights.h"

#include "base/hash.h"

enum { NAMES = 8 }; /* of weights in one message */

static void add_weight_name(struct buf *b, size_t *n, struct slice name)
{
	if (*n < NAMES)
		buf_addf(b, "%s%.*s", *n ? ", " : "", SLN(name, 120));
	++*n;
}

static void end_names(struct buf *b, size_t n)
{
	if (n > NAMES)
		buf_addf(b, " and %zu more", n - NAMES);
}

/* The weights that a model requires: not those computed from others on its first call. */
static bool is_asked(const struct contract_constant *c) { return !c->from_folded && c->type != CONSTANT_FOLDED && dtype_info(c->dtype); }

static struct slice shown_name(const struct contract_constant *c) { return c->fqn.n ? c->fqn : c->name; }

void constant_meta(const struct contract_constant *c, struct tensor_meta *m)
{
	*m = (struct tensor_meta){.dtype = c->dtype, .device = c->device == DEVICE_NONE ? DEVICE_CPU : c->device, .n_dim = c->n_dim};
	for (int d = 0; d < c->n_dim && d < TENSOR_MAX_DIMS; d++) {
		m->size[d] = c->dim[d].size.k;
		m->stride[d] = c->dim[d].stride.k;
	}
}

static bool same_layout(const struct tensor_meta *a, const struct tensor_meta *b)
{
	for (int d = 0; d < a->n_dim; d++)
		if (a->size[d] > 1 && a->stride[d] != b->stride[d])
			return false;
	return true;
}

/* A copy with the strides of `to`. */
static int lay_out(struct arena *a, const struct tensor_view *from, struct tensor_view *to, struct err *err)
{
	const struct tensor_meta *m = &to->meta;
	const int64_t bytes = dtype_info(m->dtype)->bytes;
	int64_t index[TENSOR_MAX_DIMS] = {0}, n, all, at = 0, where = 0;
	if (!tensor_numel(m, &n) || !tensor_extent(m, &all))
		return err_set(err, EXIT_INPUT, "the model's constant '%.*s' has impossible strides", SL(to->name));
	char *p = arena_alloc(a, (size_t)all + 1);
	memset(p, 0, (size_t)all);
	for (int64_t i = 0; i < n; i++) {
		memcpy(p + where * bytes, (const char *)from->data + at * bytes, (size_t)bytes);
		for (int d = m->n_dim; d-- > 0;) {
			at += from->meta.stride[d];
			where += m->stride[d];
			if (++index[d] < m->size[d])
				break;
			at -= m->size[d] * from->meta.stride[d];
			where -= m->size[d] * m->stride[d];
			index[d] = 0;
		}
	}
	to->data = p;
	return 0;
}

static void add_meta(struct buf *b, const struct tensor_meta *m)
{
	struct tensor_meta shown = *m;
	if (m->n_dim < 0) {
		buf_addf(b, "%s of another size", dtype_name(m->dtype));
		return;
	}
	shown.device = DEVICE_CPU;
	tensor_contiguous(&shown);
	tensor_spec_print(&shown, b);
}

/* "up.weight is f32[4,8] and must be f32[16,8]" */
static void add_misfit(struct buf *b, size_t *n, struct slice name, const struct tensor_meta *given, const struct tensor_meta *want)
{
	if ((*n)++ >= NAMES)
		return;
	buf_addf(b, "%s%.*s is ", *n > 1 ? ", " : "", SLN(name, 120));
	add_meta(b, given);
	buf_adds(b, " and must be ");
	add_meta(b, want);
}

/* A tensor constant of the program renamed by the compiler: torch._inductor's _tensor_constant0 is the export's "k". */
static bool is_renamed(const struct contract_constant *c) { return c->type == CONSTANT_TENSOR && c->n_dim >= 0; }

struct matching {
	const struct weights *w;
	struct intern names;
	size_t *which;       /* name -> weight */
	bool *taken, *meant; /* meant: a constant has its name */
	struct buf missing, misfit;
	size_t n_missing, n_misfit;
};

static bool weight_fits(const struct contract_constant *c, const struct tensor_meta *m)
{
	struct tensor_meta want;
	constant_meta(c, &want);
	return m->dtype == want.dtype && tensor_same_sizes(m, &want);
}

static bool stands_behind(const struct matching *m, size_t i) { return i >= m->w->n - m->w->n_behind; }

/* The weight of its module path or name; m->w->n: none. */
static size_t named_weight(const struct matching *m, const struct contract_constant *c)
{
	uint32_t at = c->fqn.n ? intern_find(&m->names, c->fqn) : NONE;
	if (at == NONE)
		at = intern_find(&m->names, c->name);
	return at == NONE ? m->w->n : m->which[at];
}

/* The one weight that matches no constant by name and fits only this one. */
static const struct tensor_view *only_weight(struct matching *m, const struct contract *all, const struct contract_constant *c)
{
	size_t found = m->w->n;
	for (size_t i = 0; i < m->w->n; i++) {
		if (m->meant[i] || stands_behind(m, i) || !weight_fits(c, &m->w->v[i].meta))
			continue;
		if (found < m->w->n)
			return NULL;
		found = i;
	}
	for (uint32_t i = 0; i < all->n_constants && found < m->w->n; i++)
		if (&all->constant[i] != c && is_renamed(&all->constant[i]) && stands_behind(m, named_weight(m, &all->constant[i])) &&
		    weight_fits(&all->constant[i], &m->w->v[found].meta))
			return NULL;
	if (found == m->w->n)
		return NULL;
	m->taken[found] = true;
	return &m->w->v[found];
}

static const struct tensor_view *find_weight(struct matching *m, const struct contract *all, const struct contract_constant *c)
{
	const size_t at = named_weight(m, c);
	const struct tensor_view *only = stands_behind(m, at) && is_renamed(c) ? only_weight(m, all, c) : NULL;
	if (only || at == m->w->n)
		return only;
	m->taken[at] = true;
	return &m->w->v[at];
}

/* The parts of a tensor subclass, named behind the constant: "p_fc_weight.qdata". Their number. */
static size_t take_parts(struct matching *m, const struct contract_constant *c, struct weights_fit *f)
{
	size_t n = 0;
	for (size_t i = 0; i < m->w->n; i++) {
		const struct slice name = m->w->v[i].name;
		if (!c->fqn.n || name.n <= c->fqn.n + 1 || memcmp(name.p, c->fqn.p, c->fqn.n) != 0 || name.p[c->fqn.n] != '.' ||
		    m->meant[i] || m->taken[i])
			continue;
		LOCAL_BUF b = {0};
		buf_addf(&b, "%.*s%.*s", SL(c->name), SL(slice_of(name.p + c->fqn.n, name.n - c->fqn.n)));
		m->taken[i] = true;
		f->v[f->n] = m->w->v[i];
		f->v[f->n++].name = arena_slice(&f->arena, buf_slice(&b));
		n++;
	}
	return n;
}

static int match_constant(struct matching *m, const struct contract *all, const struct contract_constant *c, struct weights_fit *f,
			  struct err *err)
{
	const struct tensor_view *found = find_weight(m, all, c);
	struct tensor_view *to = &f->v[f->n];
	if (!found && take_parts(m, c, f))
		return 0;
	if (!found) {
		if (c->bytes) /* torch does not require empty ones (model_container.h, assert_all_constants) */
			add_weight_name(&m->missing, &m->n_missing, shown_name(c));
		return 0;
	}
	int64_t elements;
	if (c->n_dim >= 0) {
		constant_meta(c, &to->meta);
	} else { /* for a library without its text, only type and size are known */
		to->meta = found->meta;
		to->meta.dtype = c->dtype;
		if (!tensor_numel(&found->meta, &elements) || (uint64_t)elements * (uint64_t)dtype_info(c->dtype)->bytes != c->bytes)
			to->meta.n_dim = -1;
	}
	if (found->meta.dtype != to->meta.dtype || !tensor_same_sizes(&found->meta, &to->meta)) {
		add_misfit(&m->misfit, &m->n_misfit, shown_name(c), &found->meta, &to->meta);
		return 0;
	}
	if (found >= m->w->v + m->w->n - m->w->n_behind)
		add_weight_name(&f->kept, &f->n_kept, shown_name(c));
	to->name = c->name;
	to->data = found->data;
	f->n++;
	return same_layout(&found->meta, &to->meta) ? 0 : lay_out(&f->arena, found, to, err);
}

static int fit_verdict(struct matching *m, bool all, struct weights_fit *f, struct err *err)
{
	const size_t given = m->w->n - m->w->n_behind;
	for (size_t i = 0; i < given; i++)
		if (!m->taken[i])
			add_weight_name(&f->surplus, &f->n_surplus, m->w->v[i].name);
	end_names(&f->surplus, f->n_surplus);
	end_names(&f->kept, f->n_kept);
	end_names(&m->missing, m->n_missing);
	end_names(&m->misfit, m->n_misfit);
	if (m->n_misfit)
		return err_set(err, EXIT_INPUT, "'%s' has weights that do not fit this model: %s", m->w->path, buf_str(&m->misfit));
	if (m->n_missing && all)
		return err_set(err, EXIT_INPUT, "'%s' lacks weights that the model needs: %s%s%s%s", m->w->path, buf_str(&m->missing),
			       f->n_surplus ? " (it has these, which the model does not take: " : "",
			       f->n_surplus ? buf_str(&f->surplus) : "", f->n_surplus ? ")" : "");
	if (f->n == f->n_kept && m->n_missing + f->n_kept)
		return err_set(err, EXIT_INPUT, "'%s' has none of the model's weights: the model takes %s%s%s", m->w->path,
			       buf_str(&m->missing), m->n_missing && f->n_kept ? ", " : "", buf_str(&f->kept));
	if (!f->n && m->w->n)
		return err_set(err, EXIT_INPUT, "'%s': the model takes no weights: they are compiled into its code", m->w->path);
	if (m->n_missing)
		buf_addf(&f->kept, "%s%s", f->n_kept ? ", " : "", buf_str(&m->missing));
	f->n_kept += m->n_missing;
	return 0;
}

int weights_fit(const struct weights *w, const struct contract *c, bool all, struct weights_fit *f, struct err *err)
{
	struct matching m = {.w = w,
			     .which = xcalloc(w->n + 1, sizeof(*m.which)),
			     .taken = xcalloc(w->n + 1, sizeof(*m.taken)),
			     .meant = xcalloc(w->n + 1, sizeof(*m.meant))};
	int r = 0;
	*f = (struct weights_fit){0};
	f->v = arena_alloc(&f->arena, ((size_t)c->n_constants + w->n + 1) * sizeof(*f->v));
	for (size_t i = 0; i < w->n; i++)
		m.which[intern_add(&m.names, w->v[i].name)] = i;
	for (uint32_t i = 0; i < c->n_constants; i++) {
		const struct slice name[] = {c->constant[i].fqn, c->constant[i].name};
		for (size_t k = 0; k < 2; k++)
			if (name[k].n && intern_find(&m.names, name[k]) != NONE)
				m.meant[m.which[intern_find(&m.names, name[k])]] = true;
	}
	for (uint32_t i = 0; i < c->n_constants && !r; i++)
		if (is_asked(&c->constant[i]))
			r = match_constant(&m, c, &c->constant[i], f, err);
	if (!r)
		r = fit_verdict(&m, all, f, err);
	free(m.which);
	free(m.taken);
	free(m.meant);
	intern_release(&m.names);
	buf_release(&m.missing);
	buf_release(&m.misfit);
	if (r < 0)
		weights_fit_release(f);
	return r;
}

void weights_fit_release(struct weights_fit *f)
{
	buf_release(&f->kept);
	buf_release(&f->surplus);
	arena_release(&f->arena);
	*f = (struct weights_fit){0};
}
