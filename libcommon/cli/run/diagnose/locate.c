/* locate.c - a compiler's error in generated code, traced back to the kernel, the IR, the FX node and the line of Python that it comes
 * from: where the input holds that code. */
#include "graph/inductor/kernelmaps.h"
#include "run/diagnose/locate.h"

/* Reads the code of the inputs again, if there is an error to trace back. Inputs without code (a text log, a trace that failed before
 * there was any) add nothing. */
static void load_code(struct kernelmaps *k, const struct facts *f)
{
	struct err err;
	bool any = false;
	for (uint32_t i = 0; i < f->n_compiler_error; i++)
		any |= slice_find(facts_text(f, f->compiler_error[i].severity), "error") != NULL;
	for (uint32_t i = 0; any && i < f->n_input; i++) {
		FREED char *path = xstrndup(facts_text(f, f->input[i].file).p, facts_text(f, f->input[i].file).n);
		if (f->input[i].kind == FACT_TRACE && *path)
			kernelmaps_add_trace(k, path, &err);
		else if (f->input[i].kind == FACT_DEBUGDIR)
			kernelmaps_add_debugdir(k, path, &err);
	}
	if (k->n_input)
		kernelmaps_build(k);
}

/* Lines for the evidence: from the generated code back to the program. */
static void add_location(struct buf *b, const struct kernelmaps *k, const struct kmlocation *at)
{
	const struct kernelmap *m = k->map[at->map];
	const struct kmuse *u = &m->use[at->use];
	const struct kmline *l = &m->line[u->line + at->line - 1];
	buf_addf(b, "\nkernel %.*s of %.*s, line %u%s", SL(u->name), SL(m->in.name), m->code.kernel[u->kernel].line + at->line - 1,
		 at->several ? " (the closest of several identical ones)" : "");
	if (l->ir_node != NONE)
		buf_addf(b, "\nIR node %.*s", SL(m->ir->node[l->ir_node].name));
	if (l->node == NONE)
		return;
	buf_addf(b, "\nFX node %s", l->how == MATCH_GUESS ? "perhaps " : "");
	kernelmap_node(b, &m->node[l->node]);
	if (m->node[l->node].source != NONE) {
		buf_adds(b, "\nPython ");
		kernelmap_source(b, m, m->node[l->node].source);
		struct slice code = m->source[m->node[l->node].source].code;
		if (code.n)
			buf_addf(b, ": %.*s", SL(code));
	}
}

/* Where the error comes from is inserted after the compiler's own words, before torch's frames. */
static struct slice with_location(struct explanation *x, struct slice evidence, const struct buf *location)
{
	const char *frames = slice_find(evidence, "\nraised at ");
	size_t n = frames ? (size_t)(frames - evidence.p) : evidence.n;
	const struct slice rest = slice_of(evidence.p + n, evidence.n - n);
	return explain_textf(x, "%.*s%.*s%.*s", SLN(evidence, n), SL(buf_slice(location)), SL(rest));
}

/* Places the finding at the line of Python that the kernel's line comes from. */
static void stands_there(struct explanation *x, struct finding *g, const struct kernelmaps *k, const struct kmlocation *at)
{
	const struct kernelmap *m = k->map[at->map];
	const struct kmline *l = &m->line[m->use[at->use].line + at->line - 1];
	if (l->node == NONE || m->node[l->node].source == NONE)
		return;
	const struct srcloc *source = &m->source[m->node[l->node].source];
	if (srcloc_origin(source->file) != SRCLOC_USER)
		return;
	g->loc = facts_loc(x->facts, source);
	g->through = facts_no_loc();
}

enum { LOCATED = 256 }; /* each is searched for in all code: the worst first */

static void locate_errors(struct explanation *x, const struct kernelmaps *k)
{
	const struct facts *f = x->facts;
	for (uint32_t c = 0, n = 0; k->n && c < x->n_component && n < LOCATED; c++) {
		struct component_view *v = &x->component[c];
		const struct fact_failure *r = v->failure == NONE ? NULL : &f->failure[v->failure];
		struct kmlocation at;
		if (!r || !slice_find(facts_text(f, r->reason), "error:"))
			continue;
		n++;
		if (!kernelmap_locate(k->map, k->n, facts_text(f, r->reason), &at) || at.line == NONE)
			continue;
		LOCAL_BUF b = {0};
		add_location(&b, k, &at);
		v->evidence = with_location(x, v->evidence, &b);
		for (uint32_t g = 0; g < x->n_finding; g++) {
			struct finding *to = &x->finding[g];
			if (to->kind == FINDING_FAILURE && to->src.input == r->src.input && to->src.line == r->src.line) {
				to->evidence = with_location(x, to->evidence, &b);
				stands_there(x, to, k, &at);
			}
		}
	}
}

void explain_located(struct explanation *x, struct facts *f)
{
	OWNED(kernelmaps_release) struct kernelmaps maps = {0};
	locate_nodes(f);
	explain(x, f);
	load_code(&maps, f);
	locate_errors(x, &maps);
}
