#include "aten/firstnan/firstnan.h"

#include "aten/interp/functionalize.h"
#include "tensor/stats.h"

void firstnan_meta(const struct aten_tensor *t, struct tensor_meta *m)
{
	*m = (struct tensor_meta){.dtype = t->dtype, .n_dim = t->n_dim};
	memcpy(m->size, t->size, (size_t)t->n_dim * sizeof(*m->size));
	memcpy(m->stride, t->stride, (size_t)t->n_dim * sizeof(*m->stride));
}

void firstnan_open(struct firstnan *f, const struct graph *g, bool inf)
{
	*f = (struct firstnan){.g = g, .inf = inf, .options = {.max_bytes = FIRSTNAN_MOST}};
	f->run = interp_open(g, &f->options);
	f->first = g->n_modules ? g->module[0].first : 0;
	f->n = g->n_modules ? g->module[0].n : 0;
	f->value = xcalloc(f->n + 1, sizeof(*f->value));
	f->state = xcalloc(f->n + 1, sizeof(*f->state));
}

void firstnan_close(struct firstnan *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		aten_value_release(&f->value[i]);
	free(f->value);
	free(f->state);
	symbind_release(&f->env);
	buf_release(&f->why);
	if (f->run)
		interp_close(f->run);
	*f = (struct firstnan){0};
}

/* ---- what is known ---- */

static const struct gmeta *tensor_meta_of(const struct firstnan *f, uint32_t node)
{
	const uint32_t meta = f->g->node[node].meta;
	return meta != NONE && f->g->meta[meta].kind == GMETA_TENSOR ? &f->g->meta[meta] : NULL;
}

/* Learns the symbols of its sizes. */
static void learn_sizes(struct firstnan *f, uint32_t node, const int64_t *size, int n_dim)
{
	const struct gmeta *m = tensor_meta_of(f, node);
	for (int d = 0; m && m->n_dim == n_dim && d < n_dim; d++) {
		uint32_t symbol;
		int64_t mul, add;
		if (symsize_linear(&f->g->tab, f->g->dim[m->dim + (uint32_t)d], &symbol, &mul, &add) && mul && (size[d] - add) % mul == 0)
			symbind_set(&f->env, symbol, (size[d] - add) / mul);
	}
}

/* The node's sizes (and strides, if it has any), as numbers. */
static bool plain_sizes(const struct firstnan *f, const struct gmeta *m, int64_t *size, int64_t *stride)
{
	struct err ignored;
	for (uint32_t d = 0; d < m->n_dim; d++) {
		if (symsize_eval(&f->g->tab, f->g->dim[m->dim + d], &f->env, &size[d], &ignored) < 0)
			return false;
		if (m->has_stride && symsize_eval(&f->g->tab, f->g->dim[m->dim + m->n_dim + d], &f->env, &stride[d], &ignored) < 0)
			return false;
	}
	return true;
}

static bool same_numbers(const int64_t *a, const int64_t *b, int n) { return !n || !memcmp(a, b, (size_t)n * sizeof(*a)); }

/* A view of memory in which the node has other sizes: reinterpret_tensor. NULL: not the same memory. */
static struct aten_tensor *as_node(const struct firstnan *f, const struct gmeta *meta, const struct tensor_meta *m,
				   struct aten_tensor *plain)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	int64_t n = 1;
	if (!meta)
		return plain;
	if (!plain_sizes(f, meta, size, stride))
		return meta->n_dim == m->n_dim ? plain : NULL;
	if (meta->n_dim == m->n_dim && same_numbers(size, m->size, m->n_dim))
		return plain;
	for (uint32_t d = 0; d < meta->n_dim; d++)
		n *= size[d];
	if (n != aten_numel(plain))
		return NULL;
	struct aten_tensor *memory = aten_new(plain->dtype, m->n_dim, m->size, m->stride);
	if (!aten_is_dense(memory))
		return NULL;
	aten_copy(memory, plain);
	if (!meta->has_stride)
		aten_contiguous_strides((int)meta->n_dim, size, stride);
	return aten_view(memory, (int)meta->n_dim, size, stride, 0);
}

void firstnan_sizes(struct firstnan *f, uint32_t node, const struct tensor_meta *m)
{
	if (node - f->first < f->n && m->n_dim > 0)
		learn_sizes(f, node, m->size, m->n_dim);
}

bool firstnan_know(struct firstnan *f, uint32_t node, const struct tensor_meta *m, const void *data)
{
	const uint32_t i = node - f->first;
	const struct gmeta *meta = tensor_meta_of(f, node);
	if (i >= f->n || f->state[i] == FIRSTNAN_KNOWN || (meta && meta->dtype != m->dtype))
		return i < f->n && f->state[i] == FIRSTNAN_KNOWN;
	struct aten_tensor *kept = NULL;
	learn_sizes(f, node, m->size, m->n_dim);
	ATEN_TRY("value")
	{
		struct aten_tensor *t = aten_new(m->dtype, m->n_dim, m->size, NULL);
		memcpy(aten_data(t), data, (size_t)aten_numel(t) * (size_t)dtype_info(m->dtype)->bytes);
		t = as_node(f, meta, m, t);
		kept = t ? aten_keep(t) : NULL;
	}
	if (ATEN_END || !kept)
		return false;
	f->value[i] = aten_of(kept);
	f->state[i] = FIRSTNAN_KNOWN;
	return true;
}

void firstnan_know_value(struct firstnan *f, uint32_t node, const struct aten_value *v)
{
	const uint32_t i = node - f->first;
	struct aten_tensor *kept = NULL;
	if (i >= f->n || f->state[i] != FIRSTNAN_UNKNOWN)
		return;
	if (v->kind == ATEN_TENSOR) {
		learn_sizes(f, node, v->tensor->size, v->tensor->n_dim);
		ATEN_TRY("value") { kept = aten_keep(aten_alias(v->tensor)); }
		if (ATEN_END)
			return;
		f->value[i] = aten_of(kept);
	} else if (v->kind == ATEN_LIST) {
		return;
	} else {
		f->value[i] = *v;
	}
	f->state[i] = FIRSTNAN_KNOWN;
}

/* ---- computing ---- */

struct sweep {
	struct firstnan *f;
	bool *needed;
	bool *bad;
};

static bool need(void *user, uint32_t operand)
{
	struct sweep *s = user;
	s->needed[operand - s->f->first] = true;
	return true;
}

/* Stops at the first operand without a value. */
static bool has_value(void *user, uint32_t operand)
{
	const struct sweep *s = user;
	const uint8_t state = s->f->state[operand - s->f->first];
	return state == FIRSTNAN_KNOWN || state == FIRSTNAN_COMPUTED;
}

static bool is_clean(void *user, uint32_t operand)
{
	const struct sweep *s = user;
	return !s->bad[operand - s->f->first];
}

static bool holds_bad(const struct firstnan *f, const struct aten_value *v)
{
	struct tensor_stats t;
	struct tensor_meta m;
	bool bad = false;
	for (uint32_t i = 0; v->kind == ATEN_LIST && i < v->n; i++)
		bad |= holds_bad(f, &v->item[i]);
	if (v->kind != ATEN_TENSOR || !v->tensor->storage || !aten_data(v->tensor))
		return bad;
	firstnan_meta(v->tensor, &m);
	tensor_stats(&m, aten_data(v->tensor), STATS_BAD, &t);
	return t.known && (t.nan || (f->inf && (t.pos_inf || t.neg_inf)));
}

static void unknown(struct firstnan *f, uint32_t node, const char *why)
{
	f->state[node - f->first] = FIRSTNAN_FAILED;
	if (!f->why.len)
		buf_addf(&f->why, "%.*s: %s", SL(graph_name(f->g, node)), why);
}

/* "s77": a size, known from a tensor that has it. */
static bool take_size(struct firstnan *f, uint32_t node)
{
	const uint32_t meta = f->g->node[node].meta;
	struct err ignored;
	int64_t v;
	if (meta == NONE || f->g->meta[meta].kind != GMETA_SYM ||
	    symsize_eval(&f->g->tab, f->g->meta[meta].expr, &f->env, &v, &ignored) < 0)
		return false;
	f->value[node - f->first] = aten_int(v);
	f->state[node - f->first] = FIRSTNAN_KNOWN;
	return true;
}

/* Without elements: whatever it is computed of. */
static bool take_empty(struct firstnan *f, uint32_t node)
{
	const struct gmeta *m = tensor_meta_of(f, node);
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS], n = 1;
	struct aten_tensor *kept = NULL;
	if (!m || !plain_sizes(f, m, size, stride))
		return false;
	for (uint32_t d = 0; d < m->n_dim; d++)
		n *= size[d];
	if (n)
		return false;
	ATEN_TRY("value") { kept = aten_keep(aten_new(m->dtype, (int)m->n_dim, size, m->has_stride ? stride : NULL)); }
	if (ATEN_END || !kept)
		return false;
	f->value[node - f->first] = aten_of(kept);
	f->state[node - f->first] = FIRSTNAN_COMPUTED;
	return true;
}

/* In-place operators work on a copy, so that other nodes' values stay. */
static int eval_node(struct firstnan *f, uint32_t node, struct err *err)
{
	uint32_t written[FUNCTIONAL_WRITTEN], n = f->g->functional ? 0 : functional_written(f->g, node, written);
	struct aten_value kept[FUNCTIONAL_WRITTEN];
	uint32_t at[FUNCTIONAL_WRITTEN];
	for (uint32_t k = 0; k < n; k++) {
		const struct gvalue v = f->g->value[f->g->node[node].args + written[k]];
		if (v.kind != GV_NODE || written[k] >= f->g->node[node].n_args)
			return err_set(err, EXIT_PARTIAL, "it changes an operand in place");
		at[k] = v.node - f->first;
		kept[k] = f->value[at[k]];
		struct aten_tensor *copy = NULL;
		ATEN_TRY("copy")
		{
			if (kept[k].kind != ATEN_TENSOR)
				aten_fail("not a tensor");
			struct aten_tensor *t = aten_like(kept[k].tensor, kept[k].tensor->dtype);
			aten_copy(t, kept[k].tensor);
			copy = aten_keep(t);
		}
		if (ATEN_END)
			return err_set(err, EXIT_PARTIAL, "%s", aten_last_error());
		f->value[at[k]] = aten_of(copy);
	}
	const int r = interp_eval(f->run, node, f->value, err);
	for (uint32_t k = n; k-- > 0;) {
		aten_value_release(&f->value[at[k]]);
		f->value[at[k]] = kept[k];
	}
	return r;
}

static bool is_random(struct slice op)
{
	static const char *const words[] = {"rand",    "dropout", "bernoulli", "inductor_seed", "inductor_lookup_seed",
					    "normal_", "uniform", "philox"};
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (slice_has(op, words[i]))
			return true;
	return false;
}

static void compute(struct sweep *s, uint32_t node)
{
	struct firstnan *f = s->f;
	const struct gnode *n = &f->g->node[node];
	struct err err;
	if ((n->op == GRAPH_PLACEHOLDER && take_size(f, node)) || take_empty(f, node))
		return;
	if (n->op == GRAPH_PLACEHOLDER)
		unknown(f, node, "its value was not among what was read");
	else if (n->op == GRAPH_GET_ATTR && graph_child(f->g, n->module, graph_text(f->g, n->target)) != NONE)
		f->state[node - f->first] = FIRSTNAN_COMPUTED;
	else if (n->op == GRAPH_GET_ATTR)
		unknown(f, node, "a constant that is not in the text");
	else if (is_random(graph_op_text(f->g, node)))
		unknown(f, node, "it is random");
	else if (!graph_operands(f->g, node, has_value, s))
		f->state[node - f->first] = FIRSTNAN_FAILED;
	else if (eval_node(f, node, &err) < 0)
		unknown(f, node, err.text);
	else
		f->state[node - f->first] = FIRSTNAN_COMPUTED;
}

static bool is_there(const struct firstnan *f, uint32_t i) { return f->state[i] == FIRSTNAN_KNOWN || f->state[i] == FIRSTNAN_COMPUTED; }

int firstnan_find(struct firstnan *f, const uint32_t *target, size_t n, uint32_t *node)
{
	struct sweep s = {f, xcalloc(f->n + 1, sizeof(bool)), xcalloc(f->n + 1, sizeof(bool))};
	int result = 0;
	for (size_t i = 0; i < n; i++)
		if (target[i] - f->first < f->n)
			s.needed[target[i] - f->first] = true;
	for (uint32_t i = f->n; i-- > 0;)
		if (s.needed[i] && !is_there(f, i))
			graph_operands(f->g, f->first + i, need, &s);
	*node = NONE;
	for (uint32_t i = 0; i < f->n; i++) {
		if (!s.needed[i])
			continue;
		const bool known = f->state[i] == FIRSTNAN_KNOWN;
		if (!is_there(f, i))
			compute(&s, f->first + i);
		s.bad[i] = is_there(f, i) && holds_bad(f, &f->value[i]);
		if (s.bad[i] && *node == NONE && !known && graph_operands(f->g, f->first + i, is_clean, &s))
			*node = f->first + i;
	}
	if (*node != NONE)
		result = 1;
	for (size_t i = 0; i < n && !result; i++)
		if (target[i] - f->first >= f->n || !is_there(f, target[i] - f->first))
			result = -1;
	free(s.needed);
	free(s.bad);
	return result;
}

/* ---- infinities ---- */

struct way {
	const struct firstnan *f;
	bool *on;
	bool any; /* an operand */
};

static bool mark_way(void *user, uint32_t operand)
{
	struct way *w = user;
	w->on[operand - w->f->first] = true;
	return true;
}

static bool holds_infinity(const struct firstnan *f, uint32_t node)
{
	const struct aten_tensor *t = firstnan_tensor(f, node);
	struct tensor_stats s;
	struct tensor_meta m;
	if (!t)
		return false;
	firstnan_meta(t, &m);
	tensor_stats(&m, aten_data(t), STATS_BAD, &s);
	return s.known && (s.pos_inf || s.neg_inf);
}

static bool is_finite(void *user, uint32_t operand)
{
	struct way *w = user;
	w->any = true;
	return !holds_infinity(w->f, operand);
}

/* It makes infinities of finite numbers; one that only fills memory with them makes a mask. */
static bool makes_infinity(struct way *w, uint32_t node)
{
	w->any = false;
	return w->f->state[node - w->f->first] == FIRSTNAN_COMPUTED && graph_computes(&w->f->g->node[node]) && holds_infinity(w->f, node) &&
	       graph_operands(w->f->g, node, is_finite, w) && w->any;
}

uint32_t firstnan_infinity(const struct firstnan *f, uint32_t node)
{
	struct way w = {.f = f, .on = xcalloc(f->n + 1, sizeof(bool))};
	uint32_t found = NONE;
	w.on[node - f->first] = true;
	for (uint32_t i = node - f->first + 1; i-- > 0;)
		if (w.on[i] && f->state[i] == FIRSTNAN_COMPUTED)
			graph_operands(f->g, f->first + i, mark_way, &w);
	for (uint32_t i = 0; i < node - f->first && found == NONE; i++)
		if (w.on[i] && makes_infinity(&w, f->first + i))
			found = f->first + i;
	free(w.on);
	return found;
}

/* ---- lines ---- */

/* The innermost of the user's in a stack, else the innermost. */
static bool line_in(struct slice text, struct srcloc *at)
{
	struct srcloc one;
	bool any = false, user = false;
	while (srcloc_next(&text, &one)) {
		if (user && !srcloc_is_user(one.file))
			continue;
		user |= srcloc_is_user(one.file);
		*at = one;
		any = true;
	}
	return any;
}

static bool line_of(const struct firstnan *f, uint32_t node, struct srcloc *at)
{
	const uint32_t stack = f->g->node[node].stack;
	if (f->stack) /* in the text a node without one seems to have that of the node before */
		return f->stack[node - f->first].n && line_in(f->stack[node - f->first], at);
	return stack != NONE && line_in(graph_text(f->g, stack), at);
}

struct nearest {
	const struct firstnan *f;
	struct srcloc *at;
	bool found;
	int depth;
};

static bool try_operand(void *user, uint32_t operand)
{
	struct nearest *n = user;
	n->found = line_of(n->f, operand, n->at);
	if (!n->found && n->depth < 4) {
		n->depth++;
		graph_operands(n->f->g, operand, try_operand, n);
		n->depth--;
	}
	return !n->found;
}

bool firstnan_other_line(const struct firstnan *f, uint32_t node, const struct srcloc *shown, struct srcloc *at)
{
	const uint32_t own = f->g->node[node].stack;
	struct slice text = f->stack && f->stack[node - f->first].n ? f->stack[node - f->first]
			    : own != NONE                           ? graph_text(f->g, own)
								    : SLICE("");
	const bool of_package = srcloc_origin(shown->file) == SRCLOC_PACKAGE;
	struct srcloc one;
	bool found = false;
	while (srcloc_next(&text, &one)) {
		if (of_package ? srcloc_origin(one.file) != SRCLOC_USER : !slice_has(one.file, "torch/optim/"))
			continue;
		*at = one;
		found = true;
	}
	return found;
}

/* Of what reads it, also one of its results: of an operator that a pass of Inductor's put there (prepare_softmax_online). */
static bool line_of_user(const struct firstnan *f, uint32_t node, int depth, struct srcloc *at)
{
	for (uint32_t u = f->g->user_of[node]; u < f->g->user_of[node + 1]; u++)
		if (line_of(f, f->g->user[u], at) ||
		    (depth && slice_has(graph_op_text(f->g, f->g->user[u]), "getitem") && line_of_user(f, f->g->user[u], depth - 1, at)))
			return true;
	return false;
}

bool firstnan_line(const struct firstnan *f, uint32_t node, struct srcloc *at)
{
	struct nearest n = {.f = f, .at = at};
	if (line_of(f, node, at) || line_of_user(f, node, 1, at))
		return true;
	graph_operands(f->g, node, try_operand, &n);
	return n.found;
}
