/* provset.c - phase 2: groups graphs, code and mappings that belong together, and their line links (trace_provenance). */
#include "run/trace/reduce.h"

/* Texts of a compile id waiting for the rest of their set. */
struct prov_set {
	uint32_t compile;
	uint32_t artifact[PROV_TEXTS];
	struct buf text[PROV_TEXTS];
	uint64_t touched; /* line */
};

enum prov_text trace_provenance_part(const struct trace *t, const struct trace_artifact *a)
{
	static const struct {
		const char *name;
		enum prov_text part;
	} parts[] = {
	    {"before_pre_grad_graph", PROV_PRE},
	    {"inductor_pre_grad_graph", PROV_PRE},
	    {"inductor_post_grad_graph", PROV_POST},
	    {"after_post_grad_graph", PROV_POST},
	    {"inductor_provenance_tracking_node_mappings", PROV_MAP},
	    {"inductor_provenance_tracking_kernel_stack_traces", PROV_STACKS},
	};
	struct slice name = intern_get(&t->f->names, a->name);
	switch ((enum trace_kind)a->kind) {
	case KIND_inductor_pre_grad_graph: return PROV_PRE;
	case KIND_inductor_post_grad_graph: return PROV_POST;
	case KIND_inductor_output_code: return PROV_CODE;
	case KIND_graph_dump: return slice_is(name, "inductor_aot_wrapper_code") ? PROV_AOT : PROV_TEXTS;
	case KIND_artifact:
		for (unsigned i = 0; i < ARRAY_LEN(parts); i++)
			if (slice_starts(name, parts[i].name))
				return parts[i].part;
		return PROV_TEXTS;
	default: return PROV_TEXTS;
	}
}

static void drop(struct trace *t, struct prov_set *x, enum prov_text part)
{
	t->prov_bytes -= x->text[part].cap;
	buf_release(&x->text[part]);
	x->artifact[part] = NONE;
}

/* Links what is available; the graph before the passes is kept, since the backward's mappings also refer to it. */
static void complete(struct trace *t, struct prov_set *x)
{
	struct slice text[PROV_TEXTS];
	if (x->artifact[PROV_MAP] != NONE) {
		struct provenance p = {0};
		LOCAL_BUF b = {0};
		struct json_out o = {.b = &b, .html = true};
		for (unsigned i = 0; i < PROV_TEXTS; i++)
			text[i] = buf_slice(&x->text[i]);
		if (provenance_build(&p, text)) {
			provenance_json(&p, &o);
			GROW(t->provenance, t->n_provenance, t->cap_provenance, 1);
			struct trace_provenance *row = &t->provenance[t->n_provenance++];
			row->attempt = x->compile;
			memcpy(row->artifact, x->artifact, sizeof(row->artifact));
			row->links = arena_slice(&t->links, buf_slice(&b));
		}
		provenance_release(&p);
	}
	for (unsigned i = PROV_POST; i < PROV_TEXTS; i++)
		drop(t, x, i);
}

static void forget(struct trace *t, uint32_t k)
{
	complete(t, &t->prov_set[k]);
	drop(t, &t->prov_set[k], PROV_PRE);
	t->prov_set[k] = t->prov_set[--t->n_prov_set];
}

/* Sets wait for few records: a linear search from the newest is short. */
static struct prov_set *set_of(struct trace *t, uint32_t compile, bool make)
{
	for (uint32_t i = t->n_prov_set; i-- > 0;)
		if (t->prov_set[i].compile == compile)
			return &t->prov_set[i];
	if (!make)
		return NULL;
	if (t->n_prov_set >= 256) { /* compilations that never ended */
		uint32_t oldest = 0;
		for (uint32_t i = 1; i < t->n_prov_set; i++)
			if (t->prov_set[i].touched < t->prov_set[oldest].touched)
				oldest = i;
		forget(t, oldest);
	}
	GROW(t->prov_set, t->n_prov_set, t->cap_prov_set, 1);
	struct prov_set *x = &t->prov_set[t->n_prov_set++];
	*x = (struct prov_set){.compile = compile};
	memset(x->artifact, 0xff, sizeof(x->artifact));
	return x;
}

static void bound(struct trace *t, const struct prov_set *keep)
{
	uint32_t compile = keep->compile;
	while (t->prov_bytes > TRACE_TEXTS_MAX && t->n_prov_set > 1) {
		uint32_t oldest = NONE;
		for (uint32_t i = 0; i < t->n_prov_set; i++)
			if (t->prov_set[i].compile != compile && (oldest == NONE || t->prov_set[i].touched < t->prov_set[oldest].touched))
				oldest = i;
		forget(t, oldest);
	}
}

static void take_part(struct trace *t, struct prov_set *x, enum prov_text part, uint32_t artifact, struct slice payload, uint64_t line)
{
	bool mapped = x->artifact[PROV_MAP] != NONE;
	/* A set ends at the start of the next one. */
	if (mapped && (part == PROV_PRE || part == PROV_POST || part == PROV_MAP || x->artifact[part] != NONE))
		complete(t, x);
	if (part == PROV_PRE || part == PROV_POST)
		for (unsigned i = part + 1; i < PROV_TEXTS; i++)
			drop(t, x, i);
	drop(t, x, part);
	x->touched = line;
	x->artifact[part] = artifact;
	if (payload.n > TRACE_TEXTS_MAX)
		return;
	buf_add_slice(&x->text[part], payload);
	t->prov_bytes += x->text[part].cap;
	bound(t, x);
	x = set_of(t, t->artifact[artifact].attempt, true);
	if (part == PROV_STACKS && x->artifact[PROV_MAP] != NONE && (x->artifact[PROV_CODE] != NONE || x->artifact[PROV_AOT] != NONE))
		complete(t, x);
}

void provset_record(struct trace *t, const struct trace_scan *s, const struct trace_record *r)
{
	for (uint32_t i = 0; i < r->artifacts; i++) {
		const struct trace_artifact *a = &t->artifact[r->first_artifact + i];
		enum prov_text part = trace_provenance_part(t, a);
		if (part != PROV_TEXTS)
			take_part(t, set_of(t, r->attempt, true), part, r->first_artifact + i, trace_payload(s, r),
				  s->first_line + r->line);
	}
	bool forward = r->kinds >> KIND_compilation_metrics & 1, backward = r->kinds >> KIND_bwd_compilation_metrics & 1;
	struct prov_set *x = forward || backward ? set_of(t, r->attempt, false) : NULL;
	if (!x)
		return;
	bool linked = x->artifact[PROV_MAP] != NONE;
	for (uint32_t i = t->n_provenance; !linked && i-- > 0 && t->n_provenance - i < 8;)
		linked = t->provenance[i].attempt == r->attempt;
	if (backward || !linked)
		forget(t, (uint32_t)(x - t->prov_set));
	else
		complete(t, x); /* the backward may come */
}

void provset_end(struct trace *t)
{
	/* In compile id order, whatever their order so far. */
	while (t->n_prov_set) {
		uint32_t first = 0;
		for (uint32_t i = 1; i < t->n_prov_set; i++)
			if (t->prov_set[i].compile < t->prov_set[first].compile)
				first = i;
		forget(t, first);
	}
}

void provset_release(struct trace *t)
{
	for (uint32_t k = 0; k < t->n_prov_set; k++)
		for (unsigned i = 0; i < PROV_TEXTS; i++)
			buf_release(&t->prov_set[k].text[i]);
	free(t->prov_set);
}
