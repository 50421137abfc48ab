#include "graph/fxcode_part.h"
#include "graph/pytext.h"

/* "self" or "self.get_submodule('a.0')". */
static void add_base(struct fxwriter *w, struct slice prefix)
{
	buf_adds(w->b, "self");
	if (prefix.n) {
		buf_adds(w->b, ".get_submodule(");
		pytext_quote(w->b, prefix);
		buf_addc(w->b, ')');
	}
}

/* BASE.leaf = , or setattr(BASE, 'leaf', ; *close is the closing text. */
static void begin_assign(struct fxwriter *w, struct slice prefix, struct slice leaf, unsigned columns, const char **close)
{
	fx_indent(w, columns);
	*close = "\n";
	if (fx_identifier(leaf)) {
		add_base(w, prefix);
		buf_addc(w->b, '.');
		buf_add_slice(w->b, leaf);
		buf_adds(w->b, " = ");
		return;
	}
	buf_adds(w->b, "setattr(");
	add_base(w, prefix);
	buf_adds(w->b, ", ");
	pytext_quote(w->b, leaf);
	buf_adds(w->b, ", ");
	*close = ")\n";
}

/* Modules that contain attributes with dotted names: self.layers = torch.nn.Module(), once each. */
static void add_holders(struct fxwriter *w, uint32_t module, struct slice name, struct intern *held, unsigned columns)
{
	for (size_t i = 0; i < name.n; i++) {
		struct slice path = slice_of(name.p, i), leaf = path;
		if (name.p[i] != '.' || graph_attr(w->g, module, path) || graph_child(w->g, module, path) != NONE)
			continue;
		const uint32_t known = held->n;
		if (intern_add(held, path) < known)
			continue;
		const char *dot = i ? memrchr(path.p, '.', i) : NULL, *close;
		struct slice prefix = slice_of(path.p, dot ? (size_t)(dot - path.p) : 0);
		if (dot)
			leaf = slice_of(dot + 1, (size_t)(path.p + i - dot - 1));
		begin_assign(w, prefix, leaf, columns, &close);
		buf_adds(w->b, "torch.nn.Module()");
		buf_adds(w->b, close);
	}
}

/* A value for an attribute whose own is elsewhere: with its shape. */
static void add_stand_in(struct fxwriter *w, uint32_t meta)
{
	const struct graph *g = w->g;
	const struct gmeta *m = meta < g->n_meta ? &g->meta[meta] : NULL;
	const struct dtype_info *d = m && m->kind == GMETA_TENSOR ? dtype_info(m->dtype) : NULL;
	if (!d) {
		buf_adds(w->b, "None");
		return;
	}
	const bool floating = strchr(d->name, 'f') == d->name || *d->name == 'b';
	buf_adds(w->b, floating && !slice_is(slice_str(d->name), "bool") ? "torch.randn([" : "torch.zeros([");
	for (unsigned i = 0; i < m->n_dim; i++) {
		if (i)
			buf_adds(w->b, ", ");
		symsize_print(&g->tab, g->dim[m->dim + i], w->b);
	}
	buf_addf(w->b, "], dtype=torch.%s", d->name);
	if (m->device != NONE && !slice_is(graph_text(g, m->device), "cpu")) {
		buf_adds(w->b, ", device=");
		pytext_quote(w->b, graph_text(g, m->device));
	}
	buf_addc(w->b, ')');
}

static void add_attr(struct fxwriter *w, const struct gattr *a, struct intern *held, unsigned columns)
{
	struct slice name = graph_text(w->g, a->name), prefix = slice_of(name.p, 0), leaf = name;
	const char *dot = slice_rchr(name, '.'), *close = ")\n";
	if (dot) {
		prefix = slice_of(name.p, (size_t)(dot - name.p));
		leaf = slice_of(dot + 1, (size_t)(name.p + name.n - dot - 1));
		add_holders(w, a->module, name, held, columns);
	}
	if (a->kind == GATTR_BUFFER) {
		fx_indent(w, columns);
		add_base(w, prefix);
		buf_adds(w->b, ".register_buffer(");
		pytext_quote(w->b, leaf);
		buf_adds(w->b, ", ");
	} else {
		begin_assign(w, prefix, leaf, columns, &close);
	}
	if (a->kind == GATTR_PARAMETER)
		buf_adds(w->b, "torch.nn.Parameter(");
	if (a->expr == NONE)
		add_stand_in(w, a->meta);
	else
		buf_add_slice(w->b, graph_text(w->g, a->expr));
	if (a->kind == GATTR_PARAMETER)
		buf_addc(w->b, ')');
	buf_adds(w->b, close);
}

/* A class within __init__ must not have a name called by the lines before it. */
static void add_class_name(struct fxwriter *w, uint32_t module)
{
	const struct gmodule *m = &w->g->module[module];
	struct slice s = graph_text(w->g, m->name);
	if (m->parent == NONE) {
		buf_adds(w->b, "Repro");
	} else if (fx_good_name(s) && !w->g->module[m->parent].n_attr) {
		buf_add_slice(w->b, s);
	} else {
		buf_addf(w->b, "module_%u", module);
	}
}

static void begin_runnable(struct fxwriter *w, uint32_t module, unsigned columns)
{
	const struct gmodule *m = &w->g->module[module];
	OWNED(intern_release) struct intern held = {0};
	fx_indent(w, columns);
	buf_adds(w->b, "class ");
	add_class_name(w, module);
	buf_adds(w->b, "(torch.nn.Module):\n");
	fx_indent(w, columns + 4);
	buf_adds(w->b, "def __init__(self) -> None:\n");
	fx_indent(w, columns + 8);
	buf_adds(w->b, "super().__init__()\n");
	for (uint32_t i = m->first_attr; i < m->first_attr + m->n_attr; i++)
		add_attr(w, &w->g->attr[i], &held, columns + 8);
}

static void end_runnable(struct fxwriter *w, uint32_t module, unsigned columns)
{
	const struct gmodule *m = &w->g->module[module];
	const char *close;
	buf_addc(w->b, '\n');
	fx_write_forward(w, m, columns + 4);
	if (m->parent == NONE)
		return;
	begin_assign(w, SLICE(""), graph_text(w->g, m->name), columns, &close);
	add_class_name(w, module);
	buf_adds(w->b, "()");
	buf_adds(w->b, close);
}

/* As torch.fx.GraphModule.print_readable has it; nested names are written where torch would have another class.
 */
static void readable(struct fxwriter *w, uint32_t module, unsigned columns)
{
	const struct gmodule *m = &w->g->module[module];
	struct slice name = graph_text(w->g, m->parent == NONE ? m->class_name : m->name);
	fx_indent(w, columns);
	buf_adds(w->b, "class ");
	buf_add_slice(w->b, name.n ? name : SLICE("GraphModule"));
	buf_adds(w->b, "(torch.nn.Module):\n");
	fx_write_forward(w, m, columns + 4);
	buf_addc(w->b, '\n');
}

static void link_modules(struct fxwriter *w)
{
	const size_t n = w->g->n_modules;
	w->child = xcalloc(2 * n, sizeof(*w->child));
	w->next = w->child + n;
	memset(w->child, 0xff, 2 * n * sizeof(*w->child));
	for (uint32_t i = (uint32_t)n; i-- > 1;) {
		const uint32_t parent = w->g->module[i].parent;
		w->next[i] = w->child[parent];
		w->child[parent] = i;
	}
}

/* Modules by their parents, without recursion. */
static void write_modules(struct fxwriter *w)
{
	const bool run = w->form != FXCODE_READABLE;
	const unsigned step = run ? 8 : 4;
	unsigned columns = 0;
	uint32_t m = 0;
	link_modules(w);
	for (bool enter = true;;) {
		if (enter) {
			run ? begin_runnable(w, m, columns) : readable(w, m, columns);
			if (w->child[m] != NONE) {
				m = w->child[m];
				columns += step;
				continue;
			}
		}
		if (run)
			end_runnable(w, m, columns);
		if (!m)
			return;
		enter = w->next[m] != NONE;
		if (enter) {
			m = w->next[m];
		} else {
			m = w->g->module[m].parent;
			columns -= step;
		}
	}
}

static struct slice better_name(struct fxwriter *w, uint32_t node, struct buf *tmp)
{
	struct slice s = graph_name(w->g, node);
	uint32_t known;
	buf_reset(tmp);
	if (!s.n || !fx_name_start((unsigned char)*s.p))
		buf_addc(tmp, '_');
	for (size_t i = 0; i < s.n; i++)
		buf_addc(tmp, fx_name_part((unsigned char)s.p[i]) ? s.p[i] : '_');
	const size_t base = tmp->len;
	uint32_t k = 1;
	do {
		buf_cut(tmp, base);
		buf_addf(tmp, "_%u", k);
		known = w->made.n;
		k = k < 4 || k > node ? k + 1 : node + 1; /* soon one that no other node needs */
	} while (intern_add(&w->made, buf_slice(tmp)) < known);
	return intern_get(&w->made, known);
}

/* Names that the text calls and that are not torch's, by their texts: relu in "relu(x)" and F in hand-written "F.relu(x)". A node of that
 * name would hide them. NULL: none. */
static bool *foreign_names(const struct graph *g)
{
	bool *foreign = NULL;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct gnode *n = &g->node[i];
		struct slice t = graph_text(g, n->target);
		if (n->op != GRAPH_CALL_FUNCTION || slice_starts(t, "torch.") || slice_starts(t, "_operator."))
			continue;
		const char *dot = slice_chr(t, '.');
		const uint32_t id = dot ? intern_find(&g->text, slice_of(t.p, (size_t)(dot - t.p))) : n->target;
		if (id >= g->text.n)
			continue;
		if (!foreign)
			foreign = xcalloc(g->text.n, sizeof(*foreign));
		foreign[id] = true;
	}
	return foreign;
}

static bool name_is_good(const struct graph *g, uint32_t node, const bool *foreign)
{
	return fx_good_name(graph_name(g, node)) && !(foreign && foreign[g->node[node].name]);
}

/* Names that are not identifiers, are keywords, or would hide names used by the text are replaced. */
static void choose_names(struct fxwriter *w)
{
	const struct graph *g = w->g;
	bool good = true, *foreign = foreign_names(g);
	LOCAL_BUF tmp = {0};
	for (uint32_t i = 0; i < g->n_nodes && good; i++)
		good = g->node[i].op == GRAPH_OUTPUT || name_is_good(g, i, foreign);
	if (!good) {
		w->names = xcalloc(g->n_nodes, sizeof(*w->names));
		for (uint32_t i = 0; i < g->n_nodes; i++)
			intern_add(&w->made, graph_name(g, i));
		for (uint32_t i = 0; foreign && i < g->text.n; i++)
			if (foreign[i])
				intern_add(&w->made, graph_text(g, i));
		for (uint32_t i = 0; i < g->n_nodes; i++)
			w->names[i] = name_is_good(g, i, foreign) ? graph_name(g, i) : better_name(w, i, &tmp);
	}
	free(foreign);
}

/* Module constructors are written like their repr(): Linear(in_features=2, ...). */
static bool bare_constructors(const struct graph *g)
{
	for (size_t i = 0; i < g->n_attrs; i++)
		if (g->attr[i].kind == GATTR_MODULE)
			return true;
	return false;
}

void fxcode_write(const struct graph *g, enum fxcode_form form, struct buf *b)
{
	struct fxwriter w = {.g = g, .b = b, .form = form};
	if (!g->n_modules)
		return;
	buf_room(b, g->n_nodes * 64);
	w.freed = xcalloc(g->n_nodes + 1, sizeof(*w.freed));
	choose_names(&w);
	if (form != FXCODE_READABLE && bare_constructors(g))
		buf_adds(b, "from torch.nn import *\n");
	if (form == FXCODE_PLAIN && fxcode_is_function(g))
		fx_write_forward(&w, &g->module[0], 0);
	else
		write_modules(&w);
	intern_release(&w.made);
	free(w.names);
	free(w.freed);
	free(w.child);
}
