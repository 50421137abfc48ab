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
			return err_set(err, EXIT_INPUT, "'%s': nothing is said of what its input '%.*s' is", name,
				       SLN(graph_name(g, first + i), 100));
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

int program_of_graph(struct program *p, struct graph *g, const char *name, struct err *err)
{
	*p = (struct program){.weights.own.map.fd = -1, .other.own.map.fd = -1, .graph = *g, .strided = true};
	*g = (struct graph){0};
	struct contract *c = &p->contract;
	const struct gmodule *root = p->graph.n_modules ? &p->graph.module[0] : NULL;
	if (!root || !root->n || root->output == NONE) {
		program_close(p);
		return err_set(err, EXIT_INPUT, "'%s': an empty graph: there is nothing to run", name);
	}
	while (p->n_inputs < root->n && p->graph.node[root->first + p->n_inputs].op == GRAPH_PLACEHOLDER)
		p->n_inputs++;
	p->input = xcalloc(p->n_inputs + 1, sizeof(*p->input));
	c->source = CONTRACT_FROM_EXPORT;
	c->device = DEVICE_NONE;
	c->input = room(c, p->n_inputs, sizeof(*c->input));
	program_count_outputs(p);
	c->n_outputs = p->n_outputs;
	c->output = room(c, c->n_outputs, sizeof(*c->output));
	for (uint32_t i = 0; i < c->n_outputs; i++)
		c->output[i] = (struct contract_output){.n_dim = -1, .dtype = DTYPE_NONE, .device = DEVICE_NONE, .value = NONE};
	if (take_placeholders(p, name, err) == 0 && contract_finish(c, err) == 0) {
		program_hold_sizes(p);
		return 0;
	}
	program_close(p);
	return -1;
}
