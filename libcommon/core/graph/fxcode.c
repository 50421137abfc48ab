#include "graph/fxcode_part.h"

static void parse_release(struct fxparse *p)
{
	free(p->env);
	free(p->val);
	free(p->val_node);
	free(p->kw);
	free(p->frame);
	free(p->ops);
	free(p->names);
	free(p->param);
	free(p->meta_of);
	free(p->dim_of);
	intern_release(&p->metas);
	intern_release(&p->dims);
	buf_release(&p->tmp);
}

static int parse_all(struct fxparse *p, struct fxscan *s)
{
	size_t next = 0;
	for (uint32_t i = 0; i < s->n_cls; i++) {
		struct fxclass *c = &s->cls[i];
		const bool root = i == 0;
		if (!c->fwd || (!root && (c->parent == NONE || s->cls[c->parent].module == NONE)))
			continue;
		c->module = p->module = graph_add_module(p->g, root ? NONE : s->cls[c->parent].module, root ? SLICE("") : c->attr, c->name);
		fxscan_attrs(s, &next, i, p->g, p->module);
		if (fx_parse_forward(p, i) < 0)
			return -1;
	}
	return graph_finish(p->g, p->err);
}

static int read_plain(struct graph *g, struct slice text, const char *name, struct err *err)
{
	struct fxscan scan = {0};
	struct fxparse p = {.g = g,
			    .err = err,
			    .budget = 4 * text.n + (1u << 20),
			    .scan = &scan,
			    .lex = {.p = text.p, .end = text.p + text.n, .start = text.p, .name = name, .line = 1}};
	int rc;
	GROW(p.kw, 0, p.cap_kw, 1); /* offsets into an empty stack are valid */
	GROW(p.val, 0, p.cap_val, 1);
	if (!fxscan_find(&scan, text)) {
		if (scan.open)
			rc = fx_error(&p.lex, scan.open, err, "this bracket or string is never closed, and no forward() was found");
		else
			rc = err_set(err, EXIT_INPUT,
				     "%.200s: no graph found: neither a class with a forward() nor a standalone def forward()", name);
	} else if (!fxscan_bind(&scan)) {
		rc = err_set(err, EXIT_INPUT, "%.200s: its classes instantiate each other too often", name);
	} else {
		rc = parse_all(&p, &scan);
	}
	fxscan_release(&scan);
	parse_release(&p);
	return rc;
}

int fxcode_read(struct graph *g, struct slice text, const char *name, struct err *err)
{
	LOCAL_BUF plain = {0};
	int rc = read_plain(g, fxscan_plain(text, &plain) ? buf_slice(&plain) : text, name ? name : "graph", err);
	if (rc < 0)
		graph_release(g);
	return rc;
}
