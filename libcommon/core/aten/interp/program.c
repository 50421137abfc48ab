#include "aten/interp/program.h"
#include "model/contract/exported.h"
#include "graph/graph_forms.h"

/* ---- open ---- */

static int read_parts(struct program *p, const char *path, const char *weights, struct err *err)
{
	struct package *pkg = &p->weights.own;
	struct slice json;
	if (weights_open(&p->weights, path, err) < 0)
		return -1;
	if (!pkg->n_exported)
		return err_set(err, EXIT_INPUT, "'%s' contains no exported program: pass a file saved by torch.export.save", path);
	if (package_data(pkg, pkg->exported[0], &json, err) < 0 || exported_read(&p->contract, json, err) < 0 ||
	    graph_exported_read(&p->graph, json, path, err) < 0)
		return -1;
	if (weights) {
		if (weights_open(&p->other, weights, err) < 0)
			return -1;
		weights_behind(&p->other, &p->weights);
	}
	return weights_fit(weights ? &p->other : &p->weights, &p->contract, true, &p->fit, err);
}

static void name_places(struct intern *names, uint32_t **at, size_t n, struct slice name, uint32_t place)
{
	const uint32_t id = intern_add(names, name);
	if (!*at)
		*at = xcalloc(n + 1, sizeof(**at));
	(*at)[id] = place;
}

void program_count_outputs(struct program *p)
{
	const struct gmodule *root = &p->graph.module[0];
	const struct gnode *out = root->output == NONE ? NULL : &p->graph.node[root->output];
	const struct gvalue *v = out && out->n_args ? &p->graph.value[out->args] : NULL;
	p->n_outputs = !v ? 0 : v->kind == GV_TUPLE || v->kind == GV_LIST ? v->n : 1;
}

/* A placeholder whose parts are weights: they lie behind each other. */
static bool find_parts(const struct program *p, struct slice name, struct program_input *in)
{
	*in = (struct program_input){.from = PROGRAM_PARTS};
	for (uint32_t i = 0; i < p->fit.n; i++) {
		const struct slice part = p->fit.v[i].name;
		if (part.n <= name.n + 1 || memcmp(part.p, name.p, name.n) != 0 || part.p[name.n] != '.')
			continue;
		in->index = in->n_parts ? in->index : i;
		in->n_parts++;
	}
	return in->n_parts > 0;
}

/* Placeholders have the names from the signature. */
static int place_inputs(struct program *p, struct err *err)
{
	const struct gmodule *root = &p->graph.module[0];
	const size_t n = p->fit.n + p->contract.n_inputs;
	OWNED(intern_release) struct intern names = {0};
	uint32_t *at = NULL;
	for (uint32_t i = 0; i < p->fit.n; i++)
		name_places(&names, &at, n, p->fit.v[i].name, i);
	for (uint32_t i = 0; i < p->contract.n_inputs; i++)
		name_places(&names, &at, n, p->contract.input[i].name, (uint32_t)p->fit.n + i);
	p->input = xcalloc(root->n + 1, sizeof(*p->input));
	for (uint32_t i = root->first; i < root->first + root->n && p->graph.node[i].op == GRAPH_PLACEHOLDER; i++) {
		const uint32_t id = intern_find(&names, graph_name(&p->graph, i));
		struct program_input *in = &p->input[p->n_inputs++];
		if (id == NONE && find_parts(p, graph_name(&p->graph, i), in))
			continue;
		in->from = id == NONE ? PROGRAM_CONSTANT : at[id] < p->fit.n ? PROGRAM_WEIGHT : PROGRAM_INPUT;
		in->index = id == NONE ? 0 : in->from == PROGRAM_WEIGHT ? at[id] : at[id] - (uint32_t)p->fit.n;
	}
	free(at);
	program_count_outputs(p);
	if (p->n_outputs < p->contract.n_outputs)
		return err_set(err, EXIT_INPUT, "'%s': its graph returns %u values, but its signature has %u: the file is damaged",
			       p->weights.path, p->n_outputs, p->contract.n_outputs);
	return 0;
}

/* A size that is a number was one when the graph was created: no other is accepted. */
void program_hold_sizes(struct program *p)
{
	struct contract *c = &p->contract;
	for (uint32_t i = 0; i < c->n_inputs; i++)
		for (int d = 0; d < c->input[i].n_dim; d++)
			c->input[i].dim[d].size_checked |= symsize_is_int(c->input[i].dim[d].size);
}

int program_open(struct program *p, const char *path, const char *weights, struct err *err)
{
	*p = (struct program){.weights.own.map.fd = -1, .other.own.map.fd = -1};
	if (read_parts(p, path, weights, err) == 0 && place_inputs(p, err) == 0) {
		program_hold_sizes(p);
		return 0;
	}
	program_close(p);
	return -1;
}

int program_functionalize(struct program *p, struct err *err)
{
	struct functionalized f;
	if (functionalize(&p->graph, &f, err) < 0)
		return -1;
	if (!f.node)
		return 0;
	graph_release(&p->graph);
	p->graph = f.graph;
	f.graph = (struct graph){0};
	p->functional = f;
	return 0;
}

void program_close(struct program *p)
{
	functionalized_release(&p->functional);
	weights_fit_release(&p->fit);
	weights_close(&p->other);
	weights_close(&p->weights);
	contract_release(&p->contract);
	graph_release(&p->graph);
	free(p->input);
	*p = (struct program){.weights.own.map.fd = -1, .other.own.map.fd = -1};
}

/* ---- run ---- */

/* The same bytes, aligned: a member of an archive may be at any offset. */
static struct aten_tensor *aligned(const struct tensor_view *v)
{
	struct aten_tensor *t = aten_new(v->meta.dtype, v->meta.n_dim, v->meta.size, v->meta.stride);
	int64_t bytes;
	if (aten_data(t) && tensor_extent(&v->meta, &bytes) && bytes)
		memcpy(aten_data(t), v->data, (size_t)bytes);
	return t;
}

/* A tensor over the view's memory, or a copy of it; with other strides than these (NULL: any) a copy that has them. */
static int tensor_of(const struct tensor_view *v, bool copy, const int64_t *stride, struct aten_value *out, struct err *err)
{
	ATEN_TRY("input")
	{
		const struct dtype_info *d = dtype_info(v->meta.dtype);
		struct aten_tensor *t =
		    d && (uintptr_t)v->data % (unsigned)d->bytes
			? aligned(v)
			: aten_of_blob((void *)(uintptr_t)v->data, v->meta.dtype, v->meta.n_dim, v->meta.size, v->meta.stride, 0);
		const bool turn = stride && memcmp(stride, t->stride, (size_t)t->n_dim * sizeof(*stride)) != 0;
		if (copy || turn) {
			struct aten_tensor *mine = turn ? aten_new(t->dtype, t->n_dim, t->size, stride) : aten_like(t, v->meta.dtype);
			aten_copy(mine, t);
			t = mine;
		}
		*out = aten_of(aten_keep(t));
	}
	return ATEN_END ? err_set(err, EXIT_INPUT, "'%.*s': %s", SLN(v->name, 100), aten_last_error()) : 0;
}

/* An integer input of the graph is passed as a tensor. */
static int input_number(const struct tensor_view *v, struct aten_value *out, struct err *err)
{
	int64_t elements;
	if (!tensor_numel(&v->meta, &elements) || elements != 1)
		return err_set(err, EXIT_INPUT, "'%.*s' is a number: expected a tensor with one element", SLN(v->name, 100));
	const struct tensor_number x = tensor_load(v->meta.dtype, v->data);
	*out = aten_int((int64_t)x.re);
	if (v->meta.dtype == DTYPE_I64)
		memcpy(&out->i, v->data, sizeof(out->i));
	return 0;
}

static bool is_number(const struct graph *g, uint32_t node)
{
	const uint32_t meta = g->node[node].meta;
	return meta != NONE && g->meta[meta].kind == GMETA_SYM;
}

/* Everything needed for a run. */
struct taking {
	const struct program *p;
	const struct tensor_view *in;
	size_t n;
	bool copy;          /* the graph writes to its inputs */
	struct symbind env; /* symbols of the contract */
	struct err *err;
};

/* The strides that a graph has for an input, at these sizes; NULL: none. */
static const int64_t *wanted_strides(const struct taking *k, uint32_t input, int64_t *stride)
{
	const struct contract_input *c = &k->p->contract.input[input];
	const struct tensor_view *v = &k->in[input];
	struct err ignored;
	bool known = k->p->strided && c->n_dim == v->meta.n_dim;
	for (int d = 0; d < v->meta.n_dim && known; d++) {
		known = symsize_eval(&k->p->contract.tab, c->dim[d].stride, &k->env, &stride[d], &ignored) == 0;
		if (known && v->meta.size[d] == 1)
			stride[d] = v->meta.stride[d];
	}
	return known ? stride : NULL;
}

/* "qdata", its tensor, "scale", its tensor ...: interp_check.c picks from it. */
static int take_parts(const struct taking *k, uint32_t i, struct aten_value *out)
{
	const struct program *p = k->p;
	const struct program_input *from = &p->input[i];
	const size_t behind = graph_name(&p->graph, p->graph.module[0].first + i).n + 1;
	struct aten_value list = {.kind = ATEN_LIST, .item = xcalloc(2 * (size_t)from->n_parts, sizeof(*list.item))};
	for (uint32_t at = 0; at < from->n_parts; at++) {
		const struct tensor_view *v = &p->fit.v[from->index + at];
		list.item[list.n++] = (struct aten_value){.kind = ATEN_STRING, .text = slice_of(v->name.p + behind, v->name.n - behind)};
		if (tensor_of(v, k->copy, NULL, &list.item[list.n], k->err) < 0) {
			aten_value_release(&list);
			return -1;
		}
		list.n++;
	}
	return *out = list, 0;
}

static int take_input(const struct taking *k, uint32_t i, struct aten_value *out)
{
	const struct program *p = k->p;
	const struct program_input *from = &p->input[i];
	int64_t number, stride[TENSOR_MAX_DIMS];
	*out = (struct aten_value){.kind = ATEN_NONE};
	switch (from->from) {
	case PROGRAM_CONSTANT: return 0;
	case PROGRAM_WEIGHT:
		if (from->index >= p->fit.n)
			return err_set(k->err, EXIT_INPUT, "the value of its parameter '%.*s' is missing",
				       SLN(graph_name(&p->graph, p->graph.module[0].first + i), 100));
		return tensor_of(&p->fit.v[from->index], k->copy, NULL, out, k->err);
	case PROGRAM_PARTS: return take_parts(k, i, out);
	case PROGRAM_SIZE:
		if (symsize_eval(&p->contract.tab, from->size, &k->env, &number, k->err) < 0)
			return -1;
		return *out = aten_int(number), 0;
	case PROGRAM_INPUT: break;
	}
	if (from->index >= k->n)
		return err_set(k->err, EXIT_USAGE, "got %zu inputs, but the program takes %u", k->n, p->contract.n_inputs);
	if (is_number(&p->graph, p->graph.module[0].first + i))
		return input_number(&k->in[from->index], out, k->err);
	return tensor_of(&k->in[from->index], k->copy, wanted_strides(k, from->index, stride), out, k->err);
}

static int bind_sizes(struct taking *k)
{
	FREED struct tensor_meta *meta = xcalloc(k->n + 1, sizeof(*meta));
	for (size_t i = 0; i < k->n; i++)
		meta[i] = k->in[i].meta;
	const bool bound = contract_bind(&k->p->contract, meta, k->n, &k->env);
	return bound || !k->p->strided ? 0 : err_set(k->err, EXIT_INPUT, "the graph cannot have inputs of these sizes");
}

static void view_output(struct program_result *r, size_t i, const struct aten_value *v)
{
	struct tensor_view *to = &r->v[i];
	char name[32];
	snprintf(name, sizeof(name), "out%zu", i);
	*to = (struct tensor_view){.name = slice_of(arena_strndup(&r->arena, name, strlen(name)), strlen(name)),
				   .meta = {.dtype = DTYPE_NONE, .device_index = -1}};
	if (v->kind == ATEN_TENSOR) {
		to->meta.dtype = v->tensor->dtype;
		to->meta.n_dim = v->tensor->n_dim;
		memcpy(to->meta.size, v->tensor->size, (size_t)v->tensor->n_dim * sizeof(int64_t));
		memcpy(to->meta.stride, v->tensor->stride, (size_t)v->tensor->n_dim * sizeof(int64_t));
		to->data = aten_data(v->tensor);
	} else if (v->kind == ATEN_INT || v->kind == ATEN_FLOAT || v->kind == ATEN_BOOL) {
		int64_t *number = arena_alloc(&r->arena, sizeof(*number));
		to->meta.dtype = v->kind == ATEN_INT ? DTYPE_I64 : v->kind == ATEN_FLOAT ? DTYPE_F64 : DTYPE_BOOL;
		*number = v->i;
		if (v->kind == ATEN_BOOL)
			*(char *)number = v->i != 0;
		to->data = number;
	} else if (v->kind == ATEN_STRING) {
		to->data = arena_strndup(&r->arena, v->text.p, v->text.n);
	}
}

static void take_outputs(const struct program *p, struct program_result *r)
{
	const size_t before = r->out.n - p->contract.n_outputs;
	r->n = p->contract.n_outputs;
	r->v = arena_alloc(&r->arena, (r->n + 1) * sizeof(*r->v));
	for (size_t i = 0; i < r->n; i++)
		view_output(r, i, &r->out.item[before + i]);
}

static void release_inputs(struct aten_value *v, uint32_t n)
{
	while (n-- > 0)
		aten_value_release(&v[n]);
}

int program_inputs(const struct program *p, const struct tensor_view *in, size_t n, struct aten_value *v, struct err *err)
{
	struct taking k = {.p = p, .in = in, .n = n, .copy = interp_writes(&p->graph), .err = err};
	uint32_t i = 0;
	int rc = bind_sizes(&k);
	while (!rc && i < p->n_inputs && (rc = take_input(&k, i, &v[i])) == 0)
		i++;
	symbind_release(&k.env);
	if (rc < 0)
		release_inputs(v, i);
	return rc;
}

/* ---- state ---- */

static bool is_weight(const struct program *p, uint32_t i)
{
	return p->input[i].from == PROGRAM_WEIGHT || p->input[i].from == PROGRAM_PARTS;
}

/* v: the values of the placeholders; those of the state replace them. */
static int take_state(const struct program *p, const struct interp_options *o, struct program_state *s, struct aten_value *v,
		      struct err *err)
{
	const struct aten_mode plain = {0};
	for (uint32_t i = 0; i < s->n && i < p->n_inputs; i++)
		if (s->v[i].kind != ATEN_NONE) {
			aten_value_release(&v[i]);
			v[i] = s->v[i];
			s->v[i] = (struct aten_value){.kind = ATEN_NONE};
		}
	/* A run in double would change copies. */
	for (uint32_t i = 0; o && o->as_double && i < p->n_inputs; i++) {
		struct aten_value wide;
		if (!is_weight(p, i))
			continue;
		if (interp_to_double(&v[i], &plain, &wide, err) < 0)
			return -1;
		aten_value_release(&v[i]);
		v[i] = wide;
	}
	return 0;
}

/* The output of the root that is this node; NONE. */
static uint32_t output_of(const struct program *p, struct slice node)
{
	const struct graph *g = &p->graph;
	const struct gvalue *v = &g->value[g->node[g->module[0].output].args];
	for (uint32_t i = 0; (v->kind == GV_TUPLE || v->kind == GV_LIST) && i < v->n; i++)
		if (g->value[v->first + i].kind == GV_NODE && slice_eq(graph_name(g, g->value[v->first + i].node), node))
			return i;
	return NONE;
}

/* A graph with in-place operators has changed v itself; a functional one returns what a buffer becomes. */
static int keep_state(const struct program *p, struct program_state *s, struct aten_value *v, const struct aten_value *out, struct err *err)
{
	s->v = s->v ? s->v : xcalloc(p->n_inputs + 1, sizeof(*s->v));
	s->n = p->n_inputs;
	const bool writes = interp_writes(&p->graph);
	for (uint32_t i = 0; i < p->n_inputs; i++) {
		if (!is_weight(p, i))
			continue;
		const struct slice name = graph_name(&p->graph, p->graph.module[0].first + i);
		uint32_t at = NONE;
		for (uint32_t k = 0; k < p->contract.n_constants && at == NONE; k++)
			if (p->contract.constant[k].becomes.n && slice_eq(p->contract.constant[k].name, name))
				at = output_of(p, p->contract.constant[k].becomes);
		if (at != NONE && at < out->n && out->item[at].kind == ATEN_TENSOR) {
			ATEN_TRY("state") { s->v[i] = aten_of(aten_keep(out->item[at].tensor)); }
			if (ATEN_END)
				return err_set(err, EXIT_INPUT, "%s", aten_last_error());
		} else if (writes) {
			s->v[i] = v[i];
			v[i] = (struct aten_value){.kind = ATEN_NONE};
		}
	}
	return 0;
}

void program_state_release(struct program_state *s)
{
	release_inputs(s->v, s->n);
	free(s->v);
	*s = (struct program_state){0};
}

int program_run_on(const struct program *p, const struct tensor_view *in, size_t n, const struct interp_options *o,
		   struct program_state *state, struct program_result *r, struct err *err)
{
	FREED struct aten_value *v = xcalloc(p->n_inputs + 1, sizeof(*v));
	struct interp_options with = o ? *o : (struct interp_options){0};
	with.more = with.more ? with.more : p->more;
	*r = (struct program_result){0};
	int rc = program_inputs(p, in, n, v, err);
	if (!rc) {
		rc = state ? take_state(p, o, state, v, err) : 0;
		if (!rc)
			rc = interp_run(&p->graph, v, p->n_inputs, &with, &r->out, err);
		if (!rc && state && (rc = keep_state(p, state, v, &r->out, err)) < 0)
			aten_value_release(&r->out);
		release_inputs(v, p->n_inputs);
	}
	if (!rc && r->out.n != p->n_outputs) {
		aten_value_release(&r->out);
		rc = err_set(err, EXIT_INPUT, "'%s': the graph returned %u values, expected %u", p->weights.path, r->out.n, p->n_outputs);
	}
	if (!rc)
		take_outputs(p, r);
	return rc;
}

int program_run(const struct program *p, const struct tensor_view *in, size_t n, const struct interp_options *o, struct program_result *r,
		struct err *err)
{
	return program_run_on(p, in, n, o, NULL, r, err);
}

void program_result_release(struct program_result *r)
{
	aten_value_release(&r->out);
	arena_release(&r->arena);
	*r = (struct program_result){0};
}
