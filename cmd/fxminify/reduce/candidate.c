/* candidate.c - parts and variants of the original graph (candidate.h). */
#include "reduce/candidate.h"

#include "graph/graph_forms.h"

static void copy_lines(struct candidate *c, const struct repro_line *line, size_t n)
{
	c->line = xreallocarray(NULL, n ? n : 1, sizeof(*line));
	if (n)
		memcpy(c->line, line, n * sizeof(*line));
	c->n_lines = n;
}

/* Every placeholder gets the value of the original node of the same name. */
static void feeds_by_name(struct candidate *c)
{
	const struct gmodule *root = &c->graph.module[0];
	c->feed = xcalloc(root->n ? root->n : 1, sizeof(*c->feed));
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		if (c->graph.node[i].op == GRAPH_PLACEHOLDER)
			c->feed[c->n_feeds++] =
			    (struct feed){.kind = FEED_RECORDED, .name = graph_name(&c->graph, i), .meta = c->graph.node[i].meta};
}

/* An input of the original keeps its properties: its storage, and whether it is a leaf. */
static void feeds_kind(struct candidate *c, const struct repro *original)
{
	for (size_t i = 0; i < c->n_feeds; i++) {
		const uint32_t k = repro_find_input(original, c->feed[i].name);
		if (k == NONE)
			continue;
		const struct repro_input *in = &original->input[k];
		c->feed[i].memory = repro_is_view(original, k) ? in : NULL;
		c->feed[i].non_leaf = in->kind == REPRO_TENSOR && in->requires_grad && !in->is_leaf;
	}
}

/* Texts in the candidate's own table would move with it: use those of the original. */
static void feeds_of_cut(struct candidate *c, const struct repro *original, const struct cut *cut)
{
	c->feed = xcalloc(cut->n_inputs ? cut->n_inputs : 1, sizeof(*c->feed));
	c->n_feeds = cut->n_inputs;
	for (size_t i = 0; i < cut->n_inputs; i++)
		c->feed[i] = (struct feed){.kind = FEED_RECORDED,
					   .name = graph_name(&original->graph, cut->input[i]),
					   .meta = original->graph.node[cut->input[i]].meta};
}

/* The metadata of each placeholder in the candidate's graph. */
static void feeds_meta(struct candidate *c)
{
	const struct gmodule *root = &c->graph.module[0];
	size_t k = 0;
	for (uint32_t i = root->first; i < root->first + root->n && k < c->n_feeds; i++)
		if (c->graph.node[i].op == GRAPH_PLACEHOLDER)
			c->feed[k++].meta = c->graph.node[i].meta;
}

static void copy_graph(struct graph *to, const struct graph *from)
{
	*to = (struct graph){0};
	graph_copy_module(to, NONE, from, 0);
	struct err err;
	graph_finish(to, &err);
}

void candidate_whole(struct candidate *c, const struct repro *original)
{
	*c = (struct candidate){0};
	copy_graph(&c->graph, &original->graph);
	feeds_by_name(c);
	struct candidate names = {.graph = original->graph};
	feeds_by_name(&names);
	for (size_t i = 0; i < c->n_feeds && i < names.n_feeds; i++)
		c->feed[i].name = names.feed[i].name;
	free(names.feed);
	feeds_kind(c, original);
	copy_lines(c, original->line, original->n_lines);
	c->ops = graph_n_ops(&c->graph);
}

int candidate_cut(struct candidate *c, const struct repro *original, const struct units *u, const uint64_t *keep, const uint32_t *replace,
		  struct err *err)
{
	*c = (struct candidate){0};
	OWNED(cut_release) struct cut cut = {0};
	if (slice_build(&original->graph, u, keep, replace, &c->graph, &cut, err) < 0)
		return -1;
	feeds_of_cut(c, original, &cut);
	feeds_kind(c, original);
	feeds_meta(c);
	copy_lines(c, original->line, original->n_lines);
	c->ops = graph_n_ops(&c->graph);
	return 0;
}

void candidate_copy(struct candidate *to, const struct candidate *from)
{
	*to = (struct candidate){.n_feeds = from->n_feeds, .ops = from->ops, .cost = from->cost};
	copy_graph(&to->graph, &from->graph);
	to->feed = xreallocarray(NULL, from->n_feeds ? from->n_feeds : 1, sizeof(*to->feed));
	if (from->n_feeds)
		memcpy(to->feed, from->feed, from->n_feeds * sizeof(*to->feed));
	feeds_meta(to);
	copy_lines(to, from->line, from->n_lines);
	/* Changed lines are in the other's arena, which may be freed first. */
	for (size_t i = 0; i < to->n_lines; i++)
		if (from->arena.total) {
			to->line[i].text = arena_slice(&to->arena, to->line[i].text);
			to->line[i].name = arena_slice(&to->arena, to->line[i].name);
			to->line[i].value = arena_slice(&to->arena, to->line[i].value);
		}
}

void candidate_release(struct candidate *c)
{
	graph_release(&c->graph);
	free(c->feed);
	free(c->line);
	arena_release(&c->arena);
	*c = (struct candidate){0};
}

/* ---- hash ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
	return h * 0xff51afd7ed558ccdull;
}

static uint64_t mix_text(uint64_t h, struct slice s) { return mix(h, s.n ? hash_bytes(s.p, s.n) : 0); }

static uint64_t mix_meta(uint64_t h, const struct graph *g, uint32_t meta, struct buf *b)
{
	if (meta == NONE)
		return mix(h, 1);
	const struct gmeta *m = &g->meta[meta];
	h = mix(mix(mix(h, m->kind), (uint64_t)m->dtype), m->n_dim);
	for (size_t i = 0; i < (size_t)m->n_dim * (m->has_stride ? 2 : 1); i++) {
		buf_reset(b);
		symsize_print(&g->tab, g->dim[m->dim + i], b);
		h = mix_text(h, buf_slice(b));
	}
	return m->device == NONE ? h : mix_text(h, graph_text(g, m->device));
}

uint64_t candidate_hash(const struct candidate *c)
{
	LOCAL_BUF b = {0};
	uint64_t h = graph_hash(&c->graph);
	for (size_t i = 0; i < c->n_feeds; i++) {
		const struct feed *f = &c->feed[i];
		h = mix_text(mix(mix(h, f->kind), (uint64_t)f->value), f->name);
		if (f->memory || f->non_leaf)
			h = mix_text(mix(h, f->non_leaf ? 3 : 2), f->memory ? f->memory->name : SLICE(""));
		if (f->kind != FEED_RECORDED)
			h = mix_meta(h, &c->graph, f->meta, &b);
	}
	for (size_t i = 0; i < c->n_lines; i++)
		h = mix_text(h, c->line[i].text);
	return h ? h : 1;
}

struct test candidate_test(const struct candidate *c, const struct repro *head)
{
	return (struct test){.graph = &c->graph, .feed = c->feed, .n_feeds = c->n_feeds, .repro = head};
}

/* ---- as a program ---- */

/* The input of the original that the feed is, unchanged; NONE. */
static uint32_t original_input(const struct repro *original, const struct feed *f)
{
	return f->kind == FEED_RECORDED ? repro_find_input(original, f->name) : NONE;
}

/* The number, if the placeholder is one with a known value. */
static bool given_int(const struct candidate *c, const struct feed *f, const struct symbind *env, int64_t *value)
{
	struct err err;
	*value = f->value;
	if (f->kind == FEED_INT)
		return true;
	if (f->meta == NONE || c->graph.meta[f->meta].kind != GMETA_SYM)
		return false;
	return symsize_eval(&c->graph.tab, c->graph.meta[f->meta].expr, env, value, &err) == 0;
}

void candidate_bind(const struct candidate *c, const struct repro *original, struct symbind *env)
{
	OWNED(symbind_release) struct symbind theirs = {0};
	const struct symtab *tab = &original->graph.tab;
	repro_bind(original, &theirs);
	for (uint32_t i = 0; i < c->graph.tab.names.n; i++) {
		uint32_t id = intern_find(&tab->names, intern_get(&c->graph.tab.names, i));
		int64_t value;
		if (id != NONE && symbind_get(&theirs, id, &value))
			symbind_set(env, i, value);
	}
}

struct repro_given *candidate_given(const struct candidate *c, const struct repro *original)
{
	struct repro_given *given = xcalloc(c->n_feeds ? c->n_feeds : 1, sizeof(*given));
	OWNED(symbind_release) struct symbind env = {0};
	candidate_bind(c, original, &env);
	for (size_t i = 0; i < c->n_feeds; i++) {
		const struct feed *f = &c->feed[i];
		uint32_t input = original_input(original, f);
		if (input != NONE)
			given[i] = (struct repro_given){.how = REPRO_GIVE_INPUT,
							.input = input,
							.own_memory = !f->memory && repro_is_view(original, input),
							.leaf = !f->non_leaf};
		else if (given_int(c, f, &env, &given[i].value))
			given[i].how = REPRO_GIVE_INT;
		else
			given[i] = (struct repro_given){
			    .how = f->meta == NONE ? REPRO_GIVE_GUESS : REPRO_GIVE_RANDOM, .memory = f->memory, .non_leaf = f->non_leaf};
	}
	return given;
}

/* Generated values get a storage without a hash, as large as the tensor needs. */
static uint32_t add_storage(const struct candidate *c, const struct gmeta *m, const struct symbind *env, struct repro *out)
{
	struct err err;
	int64_t bytes;
	struct repro_storage s = {.nbytes = symsize_int(0)};
	if (repro_tensor_bytes(&c->graph, m, env, &bytes, &err) == 0)
		s.nbytes = symsize_int(bytes);
	if (m->device != NONE && !slice_is(graph_text(&c->graph, m->device), "cpu"))
		s.device = graph_text(&c->graph, m->device);
	if (m->dtype != DTYPE_F32)
		s.dtype_hint = slice_str(dtype_info(m->dtype)->name);
	out->storage[out->n_storages] = s;
	return (uint32_t)out->n_storages++;
}

static struct repro_input made_input(const struct candidate *c, size_t i, const struct repro_given *g, const struct symbind *env,
				     struct repro *out)
{
	const struct feed *f = &c->feed[i];
	struct repro_input in = {.kind = REPRO_TENSOR, .name = f->name, .meta = f->meta, .storage = NONE, .is_leaf = !g->non_leaf};
	if (g->how == REPRO_GIVE_INT) {
		in.kind = REPRO_SYMINT;
		in.value = symsize_int(g->value);
	} else if (g->how == REPRO_GIVE_GUESS) {
		in.kind = REPRO_UNSUPPORTED; /* a document cannot express a guess */
		in.expr = SLICE("'a tensor of unknown shape'");
	} else if (f->meta != NONE && c->graph.meta[f->meta].kind == GMETA_TENSOR && dtype_info(c->graph.meta[f->meta].dtype)) {
		in.requires_grad = c->graph.meta[f->meta].requires_grad;
		if (g->memory)
			in.storage = g->memory->storage, in.offset = g->memory->offset;
		else
			in.storage = add_storage(c, &c->graph.meta[f->meta], env, out);
	}
	return in;
}

/* The original's storages that an input still uses; one for all inputs that share it. */
static void take_storage(const struct repro *original, struct repro *out, uint32_t *at, uint32_t *moved)
{
	if (*at >= original->n_storages)
		return;
	if (moved[*at] == NONE) {
		moved[*at] = (uint32_t)out->n_storages;
		out->storage[out->n_storages++] = original->storage[*at];
	}
	*at = moved[*at];
}

void candidate_repro(const struct candidate *c, const struct repro *original, struct repro *out)
{
	OWNED(symbind_release) struct symbind env = {0};
	*out = *original;
	out->graph = c->graph;
	out->line = c->line;
	out->n_lines = c->n_lines;
	out->input = xcalloc(c->n_feeds ? c->n_feeds : 1, sizeof(*out->input));
	out->n_inputs = c->n_feeds;
	out->storage = xcalloc(original->n_storages + c->n_feeds + 1, sizeof(*out->storage)); /* each feed adds one at most */
	out->n_storages = 0;
	out->n_fixups = 0; /* they are by position, which has changed */
	FREED uint32_t *moved = xreallocarray(NULL, original->n_storages + 1, sizeof(*moved));
	memset(moved, 0xff, (original->n_storages + 1) * sizeof(*moved));
	candidate_bind(c, original, &env);
	FREED struct repro_given *given = candidate_given(c, original);
	for (size_t i = 0; i < c->n_feeds; i++) {
		if (given[i].how == REPRO_GIVE_INPUT) {
			out->input[i] = original->input[given[i].input];
			out->input[i].is_leaf |= given[i].leaf && out->input[i].kind == REPRO_TENSOR;
			if (given[i].own_memory)
				moved[out->input[i].storage] = NONE;
			take_storage(original, out, &out->input[i].storage, moved);
		} else {
			out->input[i] = made_input(c, i, &given[i], &env, out);
			if (given[i].memory)
				take_storage(original, out, &out->input[i].storage, moved);
		}
		out->input[i].meta = c->feed[i].meta;
	}
}

void candidate_repro_release(struct repro *out)
{
	free(out->input);
	free(out->storage);
}
