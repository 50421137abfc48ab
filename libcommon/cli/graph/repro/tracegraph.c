#include "graph/repro/tracegraph.h"

#include "base/tool/diag.h"
#include "run/trace/trace.h"
#include "base/text.h"

struct pick {
	struct slice id, name; /* of --graph ID:NAME */
	struct buf payload, list, first_id;
	size_t n;
	int rank; /* preference of the payload, 0: none */
	enum tracegraph_use use;
	bool several; /* compilations */
};

/* Artifacts that are also graphs, recognized by their form (torch 2.13, torch/_inductor/compile_fx.py: before_joint_graph,
 * before_post_grad_graph, inductor_post_grad_graph). */
static bool is_graph_text(struct slice payload) { return slice_starts(payload, "class ") && slice_find(payload, "(torch.nn.Module):\n"); }

/* The usual name of the record's graph; empty if it has none. */
static struct slice graph_of_record(const struct trace_scan *s, const struct trace_record *r, struct slice *name)
{
	const struct slice payload = trace_payload(s, r);
	*name = SLICE("");
	for (int k = 0; k < KIND_COUNT; k++) {
		if (!(r->kinds >> k & 1))
			continue;
		uint32_t value = trace_value(s, r, (enum trace_kind)k);
		struct slice own = json_word(&s->tape, value, "name");
		if (r->nodes >= 0)
			*name = slice_of(trace_kind[k].name, trace_kind[k].name_len);
		if (own.p && (r->nodes >= 0 || slice_is(own, "fx_graph_runnable") || is_graph_text(payload)))
			*name = own;
	}
	return name->n ? payload : SLICE("");
}

/* Without a given name: which is best. */
enum { RANK_MODEL = 100 };
static int rank_of(enum tracegraph_use use, struct slice name)
{
	static const char *const best_last[][6] = {
	    [TRACEGRAPH_PROGRAM] = {"dynamo_output_graph", "aot_joint_graph", "aot_backward_graph", "aot_forward_graph",
				    "aot_inference_graph", "fx_graph_runnable"},
	    [TRACEGRAPH_VALUES] = {"dynamo_output_graph", "aot_joint_graph", "aot_backward_graph", "fx_graph_runnable", "aot_forward_graph",
				   "aot_inference_graph"},
	};
	for (size_t i = ARRAY_LEN(best_last[use]); i-- > 0;)
		if (slice_is(name, best_last[use][i]))
			return (int)i + 2;
	return 1;
}

/* AOTInductor's form: parameters are attributes with their module paths, and its arguments are the model's inputs. */
static bool is_of_model(struct slice name, struct slice payload)
{
	return slice_is(name, "before_joint_graph") && slice_find(payload, "fx_pytree.tree_flatten_spec(");
}

/* A program that torch 2.13 wrote for a graph with subgraphs lacks them: the graph itself is better. */
static bool is_lossy(struct slice payload) { return slice_find(payload, " = <lambda>()\n") != NULL; }

/* 0/0 also means its last attempt, 0/0_1. */
static bool id_matches(const char *id, struct slice want)
{
	return slice_is(want, id) || (!strncmp(id, want.p, want.n) && id[want.n] == '_');
}

static int pick_record(void *ctx, struct trace_scan *s, struct trace_record *r)
{
	struct pick *p = ctx;
	char text[COMPILE_ID_TEXT];
	struct slice name, payload = graph_of_record(s, r, &name);
	if (!payload.n)
		return 0;
	const char *id = compile_id_text(&r->id, text);
	buf_addf(&p->list, "%s:%.*s", id, SL(name));
	if (r->nodes >= 0)
		buf_addf(&p->list, "  (%d nodes)", (int)r->nodes);
	buf_addc(&p->list, '\n');
	p->n++;
	if (!p->first_id.len)
		buf_adds(&p->first_id, id);
	p->several |= !slice_is(buf_slice(&p->first_id), id);
	const int rank = is_lossy(payload)                                           ? 1
			 : p->use == TRACEGRAPH_VALUES && is_of_model(name, payload) ? RANK_MODEL
										     : rank_of(p->use, name);
	if ((p->id.n && !id_matches(id, p->id)) || (p->name.n && !slice_eq(name, p->name)) || rank < p->rank)
		return 0;
	buf_reset(&p->payload);
	buf_add_slice(&p->payload, payload);
	p->rank = rank;
	return 0;
}

/* How the compilation of a graph ended, if not well. */
static struct slice failed_with(const struct facts *f, struct slice graph)
{
	const struct slice id = slice_until(slice_until(graph, ":"), "_");
	for (size_t i = f->n_attempt; i-- > 0;) {
		const struct fact_attempt *a = &f->attempt[i];
		char text[COMPILE_ID_TEXT];
		if (a->fail_type != NONE && slice_eq(id, slice_until(slice_str(compile_id_text(&a->id, text)), "_")))
			return facts_text(f, a->fail_type);
	}
	return SLICE("");
}

static void show_graphs(const struct pick *p, const struct facts *f)
{
	struct slice list = buf_slice(&p->list), line;
	while (slice_line(&list, &line)) {
		const struct slice failed = failed_with(f, line);
		note("%.*s%s%.*s", SL(line), failed.n ? "  <- failed: " : "", SL(failed));
	}
}

int tracegraph_read(const char *path, const char *which, enum tracegraph_use use, struct buf *text, struct err *err)
{
	struct pick p = {.use = use};
	const char *colon = which ? strchr(which, ':') : NULL;
	if (which) {
		p.id = slice_of(which, colon ? (size_t)(colon - which) : strlen(which));
		p.name = colon ? slice_str(colon + 1) : SLICE("");
	}
	struct trace t;
	trace_init(&t, path, NULL);
	int status = trace_read(&t, &(struct trace_hooks){.ctx = &p, .record = pick_record, .threads = 1}, err);
	if (status == 0 && (!p.rank || (!which && p.several))) {
		show_graphs(&p, t.f);
		status = err_set(err, EXIT_USAGE, "'%s' is a trace with %zu graph%s; choose one: --graph ID:NAME%s", path, p.n, plural(p.n),
				 which ? " (none has this name)" : "");
	}
	if (status == 0)
		buf_add_slice(text, buf_slice(&p.payload));
	trace_release(&t);
	buf_release(&p.payload);
	buf_release(&p.list);
	buf_release(&p.first_id);
	return status;
}
