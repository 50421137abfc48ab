/* Decides which values the inputs of a program get, and in what form. */
#include <limits.h>
#include "base/md5many.h"
#include "graph/repro/repro_plan.h"
#include "tensor/tensor.h"

struct planning {
	struct plan *p;
	const struct repro *r;
	const struct repro_program *how;
	const struct graph *g;
	struct symbind env, own; /* of r's symbols, and of the program's graph */
	uint32_t *of_original;   /* r's storage -> plan's + 1 */
	struct err *err;
};

static struct slice keep_text(struct planning *w, struct buf *b)
{
	struct slice s = b->len ? arena_slice(&w->p->arena, buf_slice(b)) : SLICE("");
	buf_release(b);
	return s;
}

static const struct symbind *values(const struct planning *w, const struct graph *g) { return g == &w->r->graph ? &w->env : &w->own; }

/* ---- sizes in Python ---- */

/* Names and operators only: no calls, which sympy's text has but Python does not (Max, Mod). */
static bool is_python(struct slice s)
{
	for (size_t i = 1; i < s.n; i++)
		if (s.p[i] == '(' && ((s.p[i - 1] | 32) >= 'a' && (s.p[i - 1] | 32) <= 'z'))
			return false;
	return !slice_chr(s, '[');
}

static void note_symbol(struct planning *w, struct slice name, int64_t value)
{
	struct plan *p = w->p;
	for (size_t i = 0; i < w->r->n_lines; i++)
		if (w->r->line[i].kind == REPRO_SYMBOL && slice_eq(w->r->line[i].name, name))
			return;
	for (size_t i = 0; i < p->n_symbols; i++)
		if (slice_eq(p->symbol[i].name, name))
			return;
	if (!(p->n_symbols & (p->n_symbols - 1)))
		p->symbol = xreallocarray(p->symbol, p->n_symbols ? 2 * p->n_symbols : 1, sizeof(*p->symbol));
	p->symbol[p->n_symbols++] = (struct plan_symbol){arena_slice(&p->arena, name), value};
}

/* Its symbols all have values; the head sets them. */
static bool bound(struct planning *w, const struct graph *g, struct symsize s)
{
	uint32_t id[64];
	const size_t n = symsize_symbols(&g->tab, s, id, ARRAY_LEN(id));
	int64_t v;
	for (size_t i = 0; i < n; i++)
		if (i == ARRAY_LEN(id) || !symbind_get(values(w, g), id[i], &v))
			return false;
	for (size_t i = 0; i < n; i++)
		if (symbind_get(values(w, g), id[i], &v))
			note_symbol(w, symtab_name(&g->tab, id[i]), v);
	return true;
}

static int add_size(struct planning *w, const struct graph *g, struct symsize s, struct slice name, struct buf *b)
{
	LOCAL_BUF text = {0};
	struct err why = {0};
	int64_t v;
	int rc = 0;
	symsize_print(&g->tab, s, &text);
	w->p->symbolic |= !symsize_is_int(s);
	if (symsize_is_int(s) || (is_python(buf_slice(&text)) && bound(w, g, s)))
		buf_add_slice(b, buf_slice(&text));
	else if (symsize_eval(&g->tab, s, values(w, g), &v, &why) == 0)
		buf_addf(b, "%lld", (long long)v);
	else
		rc = err_set(w->err, EXIT_INPUT, "input '%.*s': the size %s has no value: %s", SL(name), buf_str(&text), why.text);
	return rc;
}

static int add_tuple(struct planning *w, const struct graph *g, const struct symsize *dim, int n, struct slice name, struct buf *b)
{
	buf_addc(b, '(');
	for (int i = 0; i < n; i++) {
		buf_adds(b, i ? ", " : "");
		if (add_size(w, g, dim[i], name, b) < 0)
			return -1;
	}
	buf_adds(b, n == 1 ? ",)" : ")");
	return 0;
}

/* Are the strides reader.tensor's defaults? Unknown if a size to their left is symbolic. */
static bool default_strides(const struct symsize *dim, int n)
{
	int64_t at = 1;
	bool known = true;
	for (int i = n; i-- > 0;) {
		if (!known || !symsize_is_int(dim[n + i]) || dim[n + i].k != at)
			return false;
		known = symsize_is_int(dim[i]);
		if (known && dim[i].k > 1 && __builtin_mul_overflow(at, dim[i].k, &at))
			return false;
	}
	return true;
}

/* "(8, 8), (1, 8), dtype=torch.bool, storage_offset=4": the arguments after the storage in reader.tensor(...). */
static int add_layout(struct planning *w, const struct graph *g, const struct gmeta *m, struct slice name, struct buf *b)
{
	const struct symsize *dim = g->dim + m->dim;
	if (add_tuple(w, g, dim, m->n_dim, name, b) < 0)
		return -1;
	if (m->has_stride && !default_strides(dim, m->n_dim)) {
		buf_adds(b, ", ");
		if (add_tuple(w, g, dim + m->n_dim, m->n_dim, name, b) < 0)
			return -1;
	}
	if (m->dtype != DTYPE_F32)
		buf_addf(b, ", dtype=torch.%s", dtype_name(m->dtype));
	return 0;
}

/* The same in numbers, for a program that creates the tensor itself. */
static int note_layout(struct planning *w, const struct graph *g, const struct gmeta *m, struct symsize offset, struct plan_input *to)
{
	const struct symsize *dim = g->dim + m->dim;
	struct tensor_meta *t;
	struct err why;
	if (w->how->style != REPRO_PLAIN)
		return 0;
	t = to->layout = arena_alloc(&w->p->arena, sizeof(*t));
	*t = (struct tensor_meta){.dtype = m->dtype, .n_dim = m->n_dim, .device_index = -1};
	for (int i = 0; i < m->n_dim; i++) {
		if (symsize_eval(&g->tab, dim[i], values(w, g), &t->size[i], &why) < 0)
			return err_set(w->err, EXIT_INPUT, "input '%.*s': %s", SL(to->name), why.text);
		to->dynamic |= (uint64_t)(symsize_is_int(dim[i]) ? 0 : 1) << i;
	}
	tensor_contiguous(t);
	for (int i = 0; m->has_stride && i < m->n_dim; i++)
		if (symsize_eval(&g->tab, dim[m->n_dim + i], values(w, g), &t->stride[i], &why) < 0)
			return err_set(w->err, EXIT_INPUT, "input '%.*s': %s", SL(to->name), why.text);
	if (symsize_eval(&g->tab, offset, values(w, g), &to->offset, &why) < 0)
		return err_set(w->err, EXIT_INPUT, "input '%.*s': %s", SL(to->name), why.text);
	return 0;
}

/* ---- storages ---- */

static uint32_t add_storage(struct planning *w, const struct plan_storage *s)
{
	struct plan *p = w->p;
	if (!(p->n_storages & (p->n_storages - 1)))
		p->storage = xreallocarray(p->storage, p->n_storages ? 2 * p->n_storages : 1, sizeof(*p->storage));
	p->storage[p->n_storages] = *s;
	return (uint32_t)p->n_storages++;
}

static uint32_t inline_max(const struct planning *w) { return w->how->inline_max ? w->how->inline_max : REPRO_INLINE; }

static struct slice name_bytes(struct planning *w, struct slice bytes)
{
	uint8_t digest[16];
	struct md5_job job = {bytes.p, bytes.n, digest};
	struct buf b = {0};
	md5_many(&job, 1);
	for (size_t i = 0; i < sizeof(digest); i++)
		buf_addf(&b, "%02x", digest[i]);
	return keep_text(w, &b);
}

/* Available bytes: into the text, or a file in the folder. A launcher has no folder. */
static void place_bytes(struct planning *w, struct slice bytes, struct plan_storage *s)
{
	s->how = bytes.n <= inline_max(w) || w->how->style == REPRO_LAUNCHER ? PLAN_INLINE : PLAN_FILE;
	s->bytes = bytes;
	if (s->how == PLAN_FILE)
		s->hash = name_bytes(w, bytes);
}

/* A stored input is kept with the program. One whose file is missing or invalid becomes random. */
static int take_along(struct planning *w, uint32_t original, struct plan_storage *s)
{
	LOCAL_BUF path = {0};
	struct repro_bytes bytes;
	struct err why;
	s->how = PLAN_RANDOM;
	if (repro_storage_path(w->r, original, &path) == 0 && repro_bytes_open(&bytes, buf_str(&path), &why) == 0) {
		s->how = bytes.bytes.n <= inline_max(w) ? PLAN_INLINE : PLAN_FILE;
		if (s->how == PLAN_INLINE)
			s->bytes = bytes.bytes.n ? arena_slice(&w->p->arena, bytes.bytes) : SLICE("");
		else
			s->path = arena_slice(&w->p->arena, slice_str(buf_str(&path)));
		repro_bytes_close(&bytes);
	}
	return 0;
}

static int original_storage(struct planning *w, uint32_t original, bool own, struct slice name, uint32_t *out)
{
	const struct repro_storage *from = &w->r->storage[original];
	struct plan_storage s = {.original = original, .hash = from->hash, .dtype_hint = SLICE("")};
	LOCAL_BUF b = {0};
	int type, index;
	s.device = from->device.n && device_parse(from->device, &type, &index) == 0 ? from->device : SLICE("");
	if (from->dtype_hint.n && dtype_by_name(from->dtype_hint) != DTYPE_NONE)
		s.dtype_hint = slice_str(dtype_name(dtype_by_name(from->dtype_hint)));
	if (w->of_original[original] && !own) {
		*out = w->of_original[original] - 1;
		return 0;
	}
	if (add_size(w, &w->r->graph, from->nbytes, name, &b) < 0)
		return -1;
	s.nbytes = keep_text(w, &b);
	if (from->bytes.p)
		place_bytes(w, from->bytes, &s);
	else if (!from->hash.n)
		s.how = PLAN_RANDOM;
	else if (w->how->style == REPRO_LAUNCHER)
		s.how = PLAN_STORED;
	else
		take_along(w, original, &s);
	*out = add_storage(w, &s);
	if (!own)
		w->of_original[original] = *out + 1;
	return 0;
}

/* ---- inputs ---- */

static int given_input(struct planning *w, const struct repro_given *v, struct plan_input *to)
{
	const uint32_t input = v->input;
	const struct repro_input *in = &w->r->input[input];
	const struct graph *g = &w->r->graph;
	struct buf b = {0};
	int rc = 0;
	to->kind = in->kind;
	to->original = input;
	to->block = in->block;
	if (in->kind == REPRO_TENSOR) {
		rc = original_storage(w, in->storage, v->own_memory, to->name, &to->storage) < 0 ||
		     add_layout(w, g, &g->meta[in->meta], to->name, &b) < 0;
		if (!rc && !(symsize_is_int(in->offset) && in->offset.k == 0)) {
			buf_adds(&b, ", storage_offset=");
			rc = add_size(w, g, in->offset, to->name, &b) < 0;
		}
		if (in->extra.n)
			buf_addf(&b, ", %.*s", SL(in->extra));
		buf_adds(&b, in->requires_grad ? ", requires_grad=True" : "");
		buf_adds(&b, in->is_leaf || v->leaf ? ", is_leaf=True" : "");
		to->random = !rc && w->p->storage[to->storage].how == PLAN_RANDOM;
		to->requires_grad = in->requires_grad;
		to->is_leaf = in->is_leaf || v->leaf;
		to->extra = in->extra;
		rc = rc || note_layout(w, g, &g->meta[in->meta], in->offset, to) < 0;
	} else if (in->kind == REPRO_SYMINT) {
		struct err why;
		rc = add_size(w, g, in->value, to->name, &b) < 0;
		if (symsize_eval(&g->tab, in->value, values(w, g), &to->number, &why) < 0 && w->how->style == REPRO_PLAIN)
			rc = err_set(w->err, EXIT_INPUT, "input '%.*s' has no value", SL(to->name));
		to->expr = in->expr;
		if (in->expr.n) {
			buf_adds(&b, ", expr=");
			pytext_quote(&b, in->expr);
			w->p->symbolic = true;
		}
	} else {
		buf_add_slice(&b, in->expr);
	}
	to->value = keep_text(w, &b);
	return rc ? -1 : 0;
}

/* In the storage of `memory` in r, which grows with its tensors. */
static int in_memory(struct planning *w, const struct repro_input *memory, const struct gmeta *m, struct slice name, int64_t *offset,
		     int64_t *bytes, const void **key)
{
	struct err why = {0};
	int64_t nbytes;
	*key = &w->r->storage[memory->storage];
	if (repro_tensor_bytes(w->g, m, values(w, w->g), bytes, &why) < 0 ||
	    symsize_eval(&w->r->graph.tab, memory->offset, &w->env, offset, &why) < 0 ||
	    symsize_eval(&w->r->graph.tab, w->r->storage[memory->storage].nbytes, &w->env, &nbytes, &why) < 0)
		return err_set(w->err, EXIT_INPUT, "input '%.*s' cannot be generated: %s", SL(name), why.text);
	int64_t before;
	if (*offset < 0 || __builtin_mul_overflow(*offset, dtype_info(m->dtype)->bytes, &before) ||
	    __builtin_add_overflow(*bytes, before, bytes))
		return err_set(w->err, EXIT_INPUT, "input '%.*s' cannot be generated: invalid offset", SL(name));
	*bytes = nbytes > *bytes ? nbytes : *bytes;
	return 0;
}

/* Is an input of the program in this storage of r, unchanged? Then others that share it are, too. */
static bool is_kept(const struct planning *w, uint32_t storage)
{
	for (size_t i = 0; w->how->given && i < w->how->n_given; i++) {
		const struct repro_given *v = &w->how->given[i];
		if (v->how == REPRO_GIVE_INPUT && !v->own_memory && v->input < w->r->n_inputs &&
		    w->r->input[v->input].kind == REPRO_TENSOR && w->r->input[v->input].storage == storage)
			return true;
	}
	return false;
}

/* A generated storage: the one with its key, if there is one. */
static uint32_t made_storage(struct planning *w, const struct plan_storage *s)
{
	struct plan *p = w->p;
	uint32_t i = 0;
	while (i < p->n_storages && (!s->key || p->storage[i].key != s->key || p->storage[i].bytes.n != s->bytes.n))
		i++;
	if (i == p->n_storages)
		add_storage(w, s);
	struct buf b = {0};
	p->storage[i].n = p->storage[i].n > s->n ? p->storage[i].n : s->n;
	buf_addf(&b, "%lld", (long long)p->storage[i].n);
	p->storage[i].nbytes = keep_text(w, &b);
	return i;
}

static int make_tensor(struct planning *w, const struct repro_given *v, const struct gmeta *m, struct plan_input *to)
{
	struct plan_storage s = {.how = PLAN_RANDOM, .original = NONE, .hash = SLICE("")};
	const struct slice device = m->device == NONE ? SLICE("cpu") : graph_text(w->g, m->device);
	const bool data = v->how == REPRO_GIVE_DATA;
	struct buf b = {0};
	struct err why = {0};
	int64_t offset = data ? v->offset : 0;
	to->kind = REPRO_TENSOR;
	to->random = v->how == REPRO_GIVE_RANDOM;
	s.device = slice_is(device, "cpu") ? SLICE("") : device;
	s.dtype_hint = m->dtype == DTYPE_F32 ? SLICE("") : slice_str(dtype_name(m->dtype));
	if (data) {
		place_bytes(w, v->bytes, &s);
		s.n = (int64_t)v->bytes.n;
		s.key = v->bytes.p;
	} else if (v->memory) {
		if (in_memory(w, v->memory, m, to->name, &offset, &s.n, &s.key) < 0)
			return -1;
	} else if (repro_tensor_bytes(w->g, m, values(w, w->g), &s.n, &why) < 0) {
		return err_set(w->err, EXIT_INPUT, "input '%.*s' cannot be generated: %s", SL(to->name), why.text);
	}
	if (data || !v->memory || !is_kept(w, v->memory->storage))
		to->storage = made_storage(w, &s);
	else if (original_storage(w, v->memory->storage, false, to->name, &to->storage) < 0)
		return -1;
	to->requires_grad = v->requires_grad || m->requires_grad;
	to->is_leaf = !v->non_leaf;
	const int rc = add_layout(w, w->g, m, to->name, &b) < 0 ? -1 : note_layout(w, w->g, m, symsize_int(offset), to);
	if (offset)
		buf_addf(&b, ", storage_offset=%lld", (long long)offset);
	buf_adds(&b, to->requires_grad ? ", requires_grad=True" : "");
	buf_adds(&b, to->is_leaf ? ", is_leaf=True" : "");
	to->value = keep_text(w, &b);
	return rc;
}

static int make_symint(struct planning *w, const struct repro_given *v, const struct gmeta *m, struct plan_input *to)
{
	struct err why = {0};
	struct buf b = {0};
	int64_t value = v->value;
	to->kind = REPRO_SYMINT;
	if (v->how != REPRO_GIVE_INT &&
	    (!m || m->kind != GMETA_SYM || symsize_eval(&w->g->tab, m->expr, values(w, w->g), &value, &why) < 0))
		return err_set(w->err, EXIT_INPUT, "input '%.*s' has no value: %s", SL(to->name), why.text);
	buf_addf(&b, "%lld", (long long)value);
	if (m && m->kind == GMETA_SYM && !symsize_is_int(m->expr)) {
		struct buf text = {0};
		symsize_print(&w->g->tab, m->expr, &text);
		buf_adds(&b, ", expr=");
		pytext_quote(&b, buf_slice(&text));
		to->expr = keep_text(w, &text);
		w->p->symbolic = true;
	}
	to->number = value;
	to->value = keep_text(w, &b);
	return 0;
}

static int plan_one(struct planning *w, uint32_t node, const struct repro_given *v, struct plan_input *to)
{
	const struct gnode *n = &w->g->node[node];
	const struct gmeta *m = n->meta == NONE ? NULL : &w->g->meta[n->meta];
	*to = (struct plan_input){.name = graph_name(w->g, node), .original = NONE, .storage = NONE};
	if (v->how == REPRO_GIVE_INPUT && v->input < w->r->n_inputs)
		return given_input(w, v, to);
	if (v->how == REPRO_GIVE_INT || (m && m->kind == GMETA_SYM))
		return make_symint(w, v, m, to);
	if (m && m->kind == GMETA_TENSOR && dtype_info(m->dtype) && v->how != REPRO_GIVE_INPUT)
		return make_tensor(w, v, m, to);
	if (v->how == REPRO_GIVE_GUESS) {
		const struct gmeta number = {.kind = GMETA_TENSOR, .dtype = DTYPE_F32, .device = NONE};
		to->guess = true;
		return make_tensor(w, &(struct repro_given){.how = REPRO_GIVE_RANDOM}, &number, to);
	}
	return err_set(w->err, EXIT_INPUT, "input '%.*s' cannot be generated: unknown shape", SL(to->name));
}

static int plan_inputs(struct planning *w)
{
	const struct graph *g = w->g;
	struct plan *p = w->p;
	size_t k = 0, n = w->how->given ? w->how->n_given : w->r->n_inputs;
	if (!g->n_modules)
		return err_set(w->err, EXIT_INPUT, "'%.*s': no graph to write", SL(w->r->path));
	p->input = xcalloc(n ? n : 1, sizeof(*p->input));
	for (uint32_t i = 0; g->n_modules && i < g->module[0].n; i++) {
		const uint32_t node = g->module[0].first + i;
		if (g->node[node].op != GRAPH_PLACEHOLDER)
			continue;
		const struct repro_given same = {.how = REPRO_GIVE_INPUT, .input = (uint32_t)k};
		if (k == n)
			return err_set(w->err, EXIT_INPUT, "%zu inputs given, forward takes more", n);
		if (plan_one(w, node, w->how->given ? &w->how->given[k] : &same, &p->input[k]) < 0)
			return -1;
		p->n_inputs = ++k;
	}
	return k == n ? 0 : err_set(w->err, EXIT_INPUT, "%zu inputs given, forward takes %zu", n, k);
}

/* ---- places ---- */

/* Where the stored inputs of a launcher are: its save_dir, made absolute, since a candidate runs elsewhere. */
static struct slice find_save_dir(struct planning *w)
{
	LOCAL_BUF b = {0};
	char full[PATH_MAX];
	for (uint32_t i = 0; i < w->r->n_storages; i++) {
		if (repro_storage_path(w->r, i, &b) < 0)
			continue;
		buf_cut(&b, b.len - (w->r->storage[i].hash.n + sizeof("/storages/") - 1));
		if (realpath(b.len ? buf_str(&b) : ".", full))
			return arena_slice(&w->p->arena, slice_str(full));
		buf_reset(&b);
	}
	return w->r->save_dir;
}

static struct slice name_folder(struct planning *w, const char *base)
{
	struct buf b = {0};
	struct slice name = slice_str(base);
	if (w->how->folder.n)
		return w->how->folder;
	if (slice_ends(name, ".py"))
		name.n -= 3;
	buf_add_slice(&b, name);
	buf_adds(&b, ".data");
	return keep_text(w, &b);
}

/* The same symbols by their names in the program's graph. */
static void bind_own(struct planning *w)
{
	const struct symtab *from = &w->r->graph.tab, *to = &w->g->tab;
	for (uint32_t i = 0; i < w->env.n; i++) {
		int64_t v;
		uint32_t id = symbind_get(&w->env, i, &v) ? intern_find(&to->names, symtab_name(from, i)) : NONE;
		if (id != NONE)
			symbind_set(&w->own, id, v);
	}
}

int plan_make(struct plan *p, const struct repro *r, const struct repro_program *how, const char *base, struct err *err)
{
	struct planning w = {.p = p, .r = r, .how = how, .g = how->graph ? how->graph : &r->graph, .err = err};
	*p = (struct plan){0};
	w.of_original = xcalloc(r->n_storages + 1, sizeof(*w.of_original));
	repro_bind(r, &w.env);
	if (w.g != &r->graph)
		bind_own(&w);
	const int rc = plan_inputs(&w);
	p->folder = name_folder(&w, base);
	p->save_dir = find_save_dir(&w);
	symbind_release(&w.env);
	symbind_release(&w.own);
	free(w.of_original);
	if (rc < 0)
		plan_release(p);
	return rc;
}

void plan_release(struct plan *p)
{
	free(p->storage);
	free(p->input);
	free(p->symbol);
	arena_release(&p->arena);
	*p = (struct plan){0};
}
