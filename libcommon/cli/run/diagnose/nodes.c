/* nodes.c - a failure that names a node of a graph is placed at the line of the program that the node comes from: graphs have it in their
 * comments ("# File: app/m.py:5 in f, code: y = x @ w"), the traceback has only the first line of the compiled function. */
#include "run/diagnose/locate.h"
#include "run/trace/trace.h"

enum { WANTED = 64 }; /* failures that are searched for */

struct wanted {
	uint32_t failure;
	struct slice name; /* "addmm"; empty: any node */
	struct slice call; /* its beginning: "torch.ops.aten.addmm.default(primals_3" */
	struct fact_loc at;
	bool several; /* nodes of different lines match */
};
struct search {
	struct facts *f;
	const struct trace *t;
	struct wanted w[WANTED];
	uint32_t n;
};

/* "<eval_with_key>.3:12 in forward: addmm = torch.ops.aten.addmm.default(primals_3, x, t);  primals_3 = None": a frame of the graph that
 * ran. */
static bool ran_node(struct slice frames, struct wanted *w)
{
	struct slice line, code = {0};
	while (slice_line(&frames, &line))
		if (slice_find(line, "<eval_with_key>"))
			code = slice_until(slice_behind(line, " in forward: "), ";");
	w->name = slice_trim(slice_until(code, " = "));
	w->call = slice_trim(slice_behind(code, " = "));
	return w->call.n > 3;
}

/* The operator that a message names: AOTAutograd's of a missing gradient, Inductor's of a failed lowering, that of a wrong fake
 * kernel. */
static bool named_operator(struct facts *f, struct slice reason, struct wanted *w)
{
	struct slice op = slice_until(slice_behind(reason, "Trying to backward through "), " but no autograd formula");
	if (!op.n)
		op = slice_trim(slice_first_line(slice_behind(reason, "\n  target: ")));
	if (!op.n) /* generated code: assert_size_stride (torch/csrc/dynamo/guards.cpp) */
		op = slice_trim(slice_first_line(slice_behind(reason, "\nError in op: torch.ops.")));
	if (!op.n || op.n > 200 || slice_chr(op, ' '))
		return false;
	buf_reset(&f->tmp);
	buf_addf(&f->tmp, "torch.ops.%.*s(", SL(op));
	w->call = facts_text(f, facts_intern(f, buf_slice(&f->tmp)));
	return true;
}

static void look_for(struct search *s, uint32_t failure)
{
	const struct fact_failure *r = &s->f->failure[failure];
	struct wanted w = {.failure = failure, .at = facts_no_loc()};
	struct slice frames = facts_text(s->f, r->frames), line, last = {0};
	while (slice_line(&frames, &line))
		last = line;
	const char *colon = slice_chr(last, ':');
	if (colon && srcloc_is_user(slice_of(last.p, (size_t)(colon - last.p))))
		return; /* the program's own line raises it: a custom operator */
	if (s->n < WANTED && (ran_node(facts_text(s->f, r->frames), &w) || named_operator(s->f, facts_text(s->f, r->reason), &w)))
		s->w[s->n++] = w;
}

static bool starts_with(struct slice s, struct slice head) { return s.n >= head.n && !memcmp(s.p, head.p, head.n); }

/* "addmm: "f32[2, 8]" = torch.ops...", in a graph without types "addmm = torch.ops..." */
static bool is_node(struct slice line, const struct wanted *w)
{
	struct slice call = slice_behind(line, " = ");
	if (!starts_with(call, w->call))
		return false;
	return !w->name.n || (starts_with(line, w->name) && line.n > w->name.n && (line.p[w->name.n] == ':' || line.p[w->name.n] == ' '));
}

static void take_graph(struct search *s, struct slice text)
{
	struct slice line, comment = {0};
	while (slice_line(&text, &line)) {
		line = slice_trim(line);
		if (slice_starts(line, "# File: "))
			comment = line;
		for (uint32_t i = 0; comment.n && i < s->n; i++) {
			struct wanted *w = &s->w[i];
			struct srcloc at;
			if (!is_node(line, w) || !srcloc_parse(comment, &at) || !at.line)
				continue;
			struct fact_loc loc = facts_loc(s->f, &at);
			w->several |= w->at.file != NONE && (w->at.file != loc.file || w->at.line != loc.line);
			w->at = loc;
		}
	}
}

static int on_record(void *ctx, struct trace_scan *scan, struct trace_record *rec)
{
	struct search *s = ctx;
	for (uint32_t i = 0; i < rec->artifacts; i++)
		if (trace_kind[s->t->artifact[rec->first_artifact + i].kind].flags & K_GRAPH)
			take_graph(s, trace_payload(scan, rec));
	return 0;
}

void locate_nodes(struct facts *f)
{
	struct search s = {.f = f};
	for (uint32_t i = 0; i < f->n_failure; i++)
		look_for(&s, i);
	for (uint32_t i = 0; s.n && i < f->n_input; i++) {
		struct trace t;
		struct err err;
		struct slice path = facts_text(f, f->input[i].file);
		if (f->input[i].kind != FACT_TRACE || !path.n)
			continue;
		FREED char *name = xstrndup(path.p, path.n);
		struct trace_hooks hooks = {.ctx = &s, .record = on_record, .threads = 1, .in_part = true};
		s.t = &t;
		trace_init(&t, name, NULL);
		trace_read(&t, &hooks, &err); /* it was read before: whatever it has now is used */
		trace_release(&t);
	}
	for (uint32_t i = 0; i < s.n; i++)
		if (s.w[i].at.file != NONE && !s.w[i].several)
			f->failure[s.w[i].failure].user = s.w[i].at;
}
