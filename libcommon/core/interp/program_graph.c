/* A graph without a package as a program: what it is to be called with stands in its placeholders' metadata. */
#include "interp/program.h"

static void *room(struct contract *c, size_t n, size_t size)
{
	void *p = arena_alloc(&c->arena, (n + 1) * size);
	memset(p, 0, (n + 1) * size);
	return p;
}

/* A size of the graph's table in that of the contract. */
static struct symsize size_of(const struct program *p, struct symtab *to, struct symsize size)
{
	struct buf b = {0};
	if (symsize_is_int(size))
		return size;
	symsize_print(&p->graph.tab, size, &b);
	size = symsize_parse_any(to, buf_slice(&b));
	buf_release(&b);
	return size;
}

static void take_tensor(struct program *p, const struct gmeta *m, struct contract_input *in)
{
	struct contract *c = &p->contract;
	in->dtype = m->dtype;
	in->n_dim = m->n_dim;
	in->dim = contract_dims(c, m->n_dim);
	for (uint32_t d = 0; d < m->n_dim; d++) {
		in->dim[d].size = size_of(p, &c->tab, p->graph.dim[m->dim + d]);
		if (m->has_stride)
			in->dim[d].stride = size_of(p, &c->tab, p->graph.dim[m->dim + m->n_dim + d]);
	}
}

/* Do sizes of tensors among the placeholders say what all its symbols are? */
static bool told_by_sizes(const struct program *p, struct symsize size)
{
	const struct contract *c = &p->contract;
	uint32_t id[8], symbol;
	int64_t mul, add;
	const size_t n = symsize_symbols(&c->tab, size, id, ARRAY_LEN(id));
	bool all = n <= ARRAY_LEN(id) && !symsize_has_opaque(&c->tab, size);
	for (size_t k = 0; k < n && all; k++) {
		bool told = false;
		for (uint32_t i = 0; i < c->n_inputs && !told; i++)
			for (int d = 0; d < c->input[i].n_dim && !told; d++)
				told = symsize_linear(&c->tab, c->input[i].dim[d].size, &symbol, &mul, &add) && symbol == id[k] && mul > 0;
		all = told;
	}
	return all;
}

static struct contract_input *add_input(struct program *p, struct program_input *in, uint32_t node)
{
	struct contract *c = &p->contract;
	*in = (struct program_input){.from = PROGRAM_INPUT, .index = c->n_inputs};
	struct contract_input *to = &c->input[c->n_inputs++];
	*to = (struct contract_input){.name = arena_slice(&c->arena, graph_name(&p->graph, node)),
				      .dtype = DTYPE_I64,
				      .device = DEVICE_NONE,
				      .rank_known = true,
				      .used = true};
	return to;
}

/* Tensors first: they tell symbols. A placeholder that nothing reads and of which nothing is known may be anything. */
static int take_placeholders(struct program *p, const char *name, struct err *err)
{
	const struct graph *g = &p->graph;
	const uint32_t first = g->module[0].first;
	for (uint32_t i = 0; i < p->n_inputs; i++) {
		const uint32_t meta = g->node[first + i].meta;
		const bool tensor = meta != NONE && g->meta[meta].kind == GMETA_TENSOR && g->meta[meta].dtype != DTYPE_NONE;
		if (tensor)
			take_tensor(p, &g->meta[meta], add_input(p, &p->input[i], first + i));
		else if (meta != NONE && g->meta[meta].kind == GMETA_SYM)
			continue;
		else if (g->user_of[first + i + 1] == g->user_of[first + i])
			p->input[i].from = PROGRAM_CONSTANT;
		else
			return err_set(err, EXIT_INPUT, "'%s': no metadata for its input '%.*s'", name, SLN(graph_name(g, first + i), 100));
	}
	for (uint32_t i = 0; i < p->n_inputs; i++) {
		const uint32_t meta = g->node[first + i].meta;
		if (meta == NONE || g->meta[meta].kind != GMETA_SYM)
			continue;
		const struct symsize size = size_of(p, &p->contract.tab, g->meta[meta].expr);
		if (told_by_sizes(p, size))
			p->input[i] = (struct program_input){.from = PROGRAM_SIZE, .size = size};
		else
			add_input(p, &p->input[i], first + i);
	}
	return 0;
}

/* ---- parameters that are attributes ---- */

/* Names that torch.fx or the compiler makes have no module path: _tensor_constant0, lifted_tensor_0. */
static bool is_made(struct slice name) { return slice_starts(name, "_tensor_constant") || slice_starts(name, "lifted_tensor_"); }

static void add_weight(struct program *p, uint32_t i)
{
	struct contract *c = &p->contract;
	struct gnode *n = &p->graph.node[p->graph.module[0].first + i];
	const struct gmeta *m = &p->graph.meta[n->meta];
	struct contract_constant *to = &c->constant[c->n_constants];
	struct contract_input shape;
	take_tensor(p, m, &shape);
	*to = (struct contract_constant){.name = arena_slice(&c->arena, graph_text(&p->graph, n->name)),
					 .fqn = arena_slice(&c->arena, graph_text(&p->graph, n->target)),
					 .dtype = m->dtype,
					 .device = DEVICE_NONE,
					 .n_dim = (int)m->n_dim,
					 .dim = shape.dim};
	struct tensor_meta whole;
	int64_t bytes;
	constant_meta(to, &whole);
	to->bytes = tensor_extent(&whole, &bytes) ? (uint64_t)bytes : 0;
	to->type = is_made(to->fqn) ? CONSTANT_TENSOR : CONSTANT_PARAMETER;
	p->input[i] = (struct program_input){.from = PROGRAM_WEIGHT, .index = c->n_constants++};
	n->op = GRAPH_PLACEHOLDER;
	n->target = n->name;
}

static bool is_weight(const struct graph *g, const struct gnode *n)
{
	bool known = n->op == GRAPH_GET_ATTR && n->meta != NONE && g->meta[n->meta].kind == GMETA_TENSOR &&
		     g->meta[n->meta].dtype != DTYPE_NONE && g->meta[n->meta].has_stride && g->meta[n->meta].n_dim <= TENSOR_MAX_DIMS;
	for (uint32_t d = 0; known && d < g->meta[n->meta].n_dim; d++)
		known = symsize_is_int(g->dim[g->meta[n->meta].dim + d]) &&
			symsize_is_int(g->dim[g->meta[n->meta].dim + g->meta[n->meta].n_dim + d]);
	return known;
}

/* Those that stand behind the placeholders, where torch puts them all. */
static uint32_t count_weights(const struct program *p)
{
	const struct gmodule *root = &p->graph.module[0];
	uint32_t n = 0;
	while (p->n_inputs + n < root->n && is_weight(&p->graph, &p->graph.node[root->first + p->n_inputs + n]))
		n++;
	return n;
}

static void take_attributes(struct program *p, uint32_t n)
{
	p->contract.constant = room(&p->contract, n, sizeof(*p->contract.constant));
	while (n-- > 0)
		add_weight(p, p->n_inputs++);
}

int program_take_weights(struct program *p, const struct weights *w, struct err *err)
{
	if (weights_fit(w, &p->contract, true, &p->fit, err) < 0)
		return -1;
	return p->fit.n == p->contract.n_constants ? 0 : err_set(err, EXIT_INPUT, "'%s' lacks weights of the graph", w->path);
}

int program_weights(struct program *p, const char *path, struct err *err)
{
	return weights_open(&p->other, path, err) < 0 ? -1 : program_take_weights(p, &p->other, err);
}

/* ---- open ---- */

int program_of_graph(struct program *p, struct graph *g, const char *name, struct err *err)
{
	*p = (struct program){.weights.own.map.fd = -1, .other.own.map.fd = -1, .graph = *g, .strided = true};
	*g = (struct graph){0};
	struct contract *c = &p->contract;
	const struct gmodule *root = p->graph.n_modules ? &p->graph.module[0] : NULL;
	if (!root || !root->n || root->output == NONE) {
		program_close(p);
		return err_set(err, EXIT_INPUT, "'%s': the graph is empty: nothing to run", name);
	}
	while (p->n_inputs < root->n && p->graph.node[root->first + p->n_inputs].op == GRAPH_PLACEHOLDER)
		p->n_inputs++;
	const uint32_t n_weights = count_weights(p);
	p->input = xcalloc(p->n_inputs + n_weights + 1, sizeof(*p->input));
	c->source = CONTRACT_FROM_EXPORT;
	c->device = DEVICE_NONE;
	c->input = room(c, p->n_inputs, sizeof(*c->input));
	program_count_outputs(p);
	c->n_outputs = p->n_outputs;
	c->output = room(c, c->n_outputs, sizeof(*c->output));
	for (uint32_t i = 0; i < c->n_outputs; i++)
		c->output[i] = (struct contract_output){.n_dim = -1, .dtype = DTYPE_NONE, .device = DEVICE_NONE, .value = NONE};
	if (take_placeholders(p, name, err) == 0 && contract_finish(c, err) == 0) {
		take_attributes(p, n_weights);
		program_hold_sizes(p);
		return 0;
	}
	program_close(p);
	return -1;
}
