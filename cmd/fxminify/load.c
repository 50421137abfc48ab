/* What the operand is: a launcher or repro, graph.json, readable code, a trace log with --graph, an exported .pt2. */
#include "fxminify.h"

#include "tool/diag.h"
#include "trace/trace.h"
#include "base/text.h"

#include <unistd.h>

/* ---- a graph of a trace ---- */

struct pick {
	struct slice id, name; /* of --graph ID:NAME */
	struct buf payload, list, first_id;
	size_t n;
	int rank;     /* of the payload, 0: there is none */
	bool several; /* compilations */
};

/* The name a person knows the record's graph by; empty when it holds none. */
static struct slice graph_of_record(const struct trace_scan *s, const struct trace_record *r, struct slice *name)
{
	*name = SLICE("");
	for (int k = 0; k < KIND_COUNT; k++) {
		if (!(r->kinds >> k & 1))
			continue;
		uint32_t value = trace_value(s, r, (enum trace_kind)k);
		struct slice own = json_word(&s->tape, value, "name");
		if (r->nodes >= 0)
			*name = slice_of(trace_kind[k].name, trace_kind[k].name_len);
		if (own.p && (r->nodes >= 0 || slice_is(own, "fx_graph_runnable")))
			*name = own;
	}
	return name->n ? trace_payload(s, r) : SLICE("");
}

/* Of the graphs of one compilation the nearest to what Inductor was given, when no name is asked for. */
static int rank_of(struct slice name)
{
	static const char *const best_last[] = {"dynamo_output_graph", "aot_joint_graph",     "aot_backward_graph",
						"aot_forward_graph",   "aot_inference_graph", "fx_graph_runnable"};
	for (size_t i = ARRAY_LEN(best_last); i-- > 0;)
		if (slice_is(name, best_last[i]))
			return (int)i + 2;
	return 1;
}

/* A program that torch 2.13 made of a graph with subgraphs has lost them: the graph itself is better. */
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
	int rank = is_lossy(payload) ? 1 : rank_of(name);
	if ((p->id.n && !id_matches(id, p->id)) || (p->name.n && !slice_eq(name, p->name)) || rank < p->rank)
		return 0;
	buf_reset(&p->payload);
	buf_add_slice(&p->payload, payload);
	p->rank = rank;
	return 0;
}

static void show_graphs(const struct pick *p)
{
	struct slice list = buf_slice(&p->list), line;
	while (slice_line(&list, &line))
		note("%.*s", SL(line));
}

/* What cannot be reduced, since a part of it is not there. */
static int check_whole(const struct subject *in, const char *path, struct err *err)
{
	const struct gattr *lost = repro_lost_module(&in->repro);
	if (!lost)
		return 0;
	const struct slice name = graph_text(&in->repro.graph, lost->name), by = in->repro.torch_version;
	return err_set(err, EXIT_INPUT,
		       "'%s': the subgraph '%.*s' is not in it: torch %.*s writes \"<lambda>()\" in its place (2.15 writes it). "
		       "A trace has it: run the failing program with TORCH_TRACE=DIR, then "
		       "fxminify --graph 0/0:aot_inference_graph DIR/FILE.log",
		       path, SL(name), SL(by.n ? by : SLICE("2.13")));
}

static int load_trace(struct subject *in, const char *path, const char *graph, struct err *err)
{
	struct pick p = {0};
	const char *colon = graph ? strchr(graph, ':') : NULL;
	if (graph) {
		p.id = slice_of(graph, colon ? (size_t)(colon - graph) : strlen(graph));
		p.name = colon ? slice_str(colon + 1) : SLICE("");
	}
	struct trace t;
	trace_init(&t, path);
	int status = trace_read(&t, &(struct trace_hooks){.ctx = &p, .record = pick_record, .threads = 1}, err);
	if (status == 0 && (!p.rank || (!graph && p.several))) {
		show_graphs(&p);
		status = err_set(err, EXIT_USAGE, "'%s' is a trace with %zu graph%s; choose one: --graph ID:NAME%s", path, p.n, plural(p.n),
				 graph ? " (there is none of this name)" : "");
	}
	if (status == 0) {
		char *shown = xasprintf("%s (%s)", path, graph ? graph : "its graph");
		in->hash = hash_bytes(p.payload.p, p.payload.len);
		const char *name = arena_slice(&in->text, slice_of(shown, strlen(shown) + 1)).p;
		status = repro_read(&in->repro, arena_slice(&in->text, buf_slice(&p.payload)), name, err);
		if (status == 0)
			status = check_whole(in, name, err);
		free(shown);
	}
	trace_release(&t);
	buf_release(&p.payload);
	buf_release(&p.list);
	buf_release(&p.first_id);
	return status;
}

/* ---- by content ---- */

static enum subject_kind kind_of(const struct repro *r, struct slice bytes)
{
	while (bytes.n && strchr(" \t\r\n", *bytes.p)) {
		bytes.p++;
		bytes.n--;
	}
	if (bytes.n && *bytes.p == '{')
		return SUBJECT_JSON;
	return r->form == REPRO_GRAPH ? SUBJECT_READABLE : SUBJECT_PROGRAM;
}

static char *name_for(const struct subject *in, const char *path)
{
	if (strcmp(path, "-"))
		return xstrdup(path_base(path));
	return xstrdup(in->kind == SUBJECT_JSON ? "graph.json" : "graph.py");
}

int subject_load(struct subject *in, const char *path, const struct fxminify_options *o, struct err *err)
{
	*in = (struct subject){.path = path, .kind = SUBJECT_OTHER};
	if (strcmp(path, "-") && trace_is_log(path)) {
		in->file_name = xstrdup("fx_graph.py");
		return load_trace(in, path, o->graph, err);
	}
	struct input log;
	if (o->graph && input_open(&log, path, err) < 0) /* no trace, because it cannot be read */
		return -1;
	if (o->graph) {
		input_close(&log);
		return err_set(err, EXIT_USAGE, "--graph is for a trace log (TORCH_TRACE), which '%s' is not", path);
	}
	if (repro_open(&in->repro, path, err) < 0 || check_whole(in, path, err) < 0)
		return -1;
	/* An exported program alone has candidates that are programs. */
	bool alone = !in->repro.file.bytes.p && in->repro.package.bytes.p;
	struct slice bytes = alone ? in->repro.package.bytes : in->repro.file.bytes;
	in->hash = hash_bytes(bytes.p, bytes.n);
	in->kind = alone ? SUBJECT_OTHER : kind_of(&in->repro, bytes);
	in->file_name = alone ? xstrdup("repro.py") : name_for(in, path);
	return 0;
}

void subject_release(struct subject *in)
{
	repro_release(&in->repro);
	arena_release(&in->text);
	free(in->file_name);
}
