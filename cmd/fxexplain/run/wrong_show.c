/* wrong_show.c - prints `run --wrong`: verdict, evidence, what to run next; the document of docs/formats/EXPLAIN.md (wrong.h). */
#include "run/wrong.h"

#include "base/text.h"
#include "watch/dump.h"

static const char *basis(const struct wrong *w)
{
	const struct bisect *b = &w->b;
	return !b->first->failed || b->flaky || b->unreached || b->ended_by ? "not known" : "seen";
}

static unsigned count(const struct wrong *w, int verdict)
{
	unsigned n = 0;
	for (unsigned i = 0; i < w->n_graph; i++)
		n += (int)w->graph[i].verdict == verdict;
	return n;
}

static bool has_numbers(const struct wrong *w) { return w->b.first->failed && !bisect_while_compiling(w->b.first) && !w->b.first->r.sig; }

static void add_verdict(struct buf *out, const struct wrong *w)
{
	const struct bisect *b = &w->b;
	if (!b->first->failed) {
		buf_adds(out, "the program does not fail: its check of the numbers passes, or it has none");
		return;
	}
	if (w->fault >= 0) {
		const struct wrong_graph *g = &w->graph[w->fault];
		buf_addf(out, "%s computes something else than %s", *g->kernel ? g->kernel : "a kernel", *g->node ? g->node : "its graph");
		if (*g->python)
			buf_addf(out, ": %s", g->python);
		return;
	}
	if (w->n_lost && b->found == EAGER)
		buf_addf(out, "after call %u of %s %s is not what eager leaves", w->lost[0].call, w->lost[0].function, w->lost[0].what);
	else if (w->n_lost)
		buf_addf(out, "%s; after call %u of %s %s is not what eager leaves", component_title[bisect_verdict(b)], w->lost[0].call,
			 w->lost[0].function, w->lost[0].what);
	else
		bisect_sentence(out, b);
	if (w->n_graph && count(w, GRAPH_RIGHT) == w->n_graph)
		buf_adds(out, "; every kernel computes what its graph says");
}

static void add_evidence(struct buf *out, const struct wrong *w)
{
	bisect_evidence(out, &w->b);
	for (unsigned i = 0; i < w->n_graph; i++) {
		const struct wrong_graph *g = &w->graph[i];
		if (g->verdict == GRAPH_WRONG && g->what)
			buf_addf(out, "%s:%s: %s (run %u): %s\n", g->id, g->name, g->kernel, g->run, g->what);
	}
	if (w->n_graph)
		buf_addf(out, "%u of %u graphs right, %u wrong, %u only partly verified, %u not verified\n", count(w, GRAPH_RIGHT),
			 w->n_graph, count(w, GRAPH_WRONG), count(w, GRAPH_PARTLY), count(w, GRAPH_OPEN));
	for (unsigned i = 0; i < w->n_graph; i++)
		if (w->graph[i].verdict == GRAPH_OPEN && w->graph[i].why)
			buf_addf(out, "%s:%s: not verified: %s\n", w->graph[i].id, w->graph[i].name, w->graph[i].why);
	for (unsigned i = 0; i < w->n_lost; i++) {
		const struct wrong_lost *l = &w->lost[i];
		buf_addf(out, "%s:%u in %s, call %u: %s is %s, eager: %s\n", l->file, l->line, l->function, l->call, l->what, l->compiled,
			 l->eager);
	}
	if (w->compared && !w->n_lost)
		buf_adds(out,
			 "each call of a compiled function leaves what eager leaves (results, arguments, closures, globals, attributes)\n");
	if (w->note)
		buf_addf(out, "%s\n", w->note);
}

static void add_next(struct buf *out, const struct wrong *w)
{
	if (w->fault >= 0) {
		const struct wrong_graph *g = &w->graph[w->fault];
		LOCAL_BUF trace = {0}, dump = {0}, document = {0};
		FREED char *path = xasprintf("%s/wrong.json", w->b.folder);
		buf_add_word(&trace, g->trace);
		buf_add_word(&dump, w->dump);
		buf_add_word(&document, path);
		buf_addf(out, "fxminify %s    # the smallest graph that is still wrong, with its real inputs\n", buf_str(&document));
		buf_addf(out, "aoti-verify --graph %s:%s --model %s %s %s    # the kernel, its operands, its line\n", g->id, g->name,
			 g->model, buf_str(&trace), buf_str(&dump));
		return;
	}
	if (w->n_lost && w->b.found == EAGER) {
		buf_addf(out, "torch.compiler.disable on what changes %s in %s    # until torch is fixed\n", w->lost[0].what,
			 w->lost[0].function);
		return;
	}
	if (w->b.part)
		buf_addf(out, "torch._inductor.config.%s    # the check passes with it\n", w->b.part->setting);
	bisect_next(out, &w->b);
}

/* ---- text ---- */

static void put_lines(struct screen *s, const char *title, struct slice text)
{
	struct slice line;
	if (text.n)
		buf_addf(&s->b, "\n%s:\n", title);
	while (slice_line(&text, &line)) {
		buf_adds(&s->b, "  ");
		put_text(s, line);
		buf_addc(&s->b, '\n');
	}
}

void wrong_show(struct screen *s, const struct wrong *w)
{
	LOCAL_BUF text = {0};
	const enum component c = w->b.first->failed ? bisect_verdict(&w->b) : COMPONENT_NONE;
	add_verdict(&text, w);
	put_bold(s, c == COMPONENT_NONE ? "Verdict" : component_name[c]);
	buf_adds(&s->b, ": ");
	put_text(s, buf_slice(&text));
	buf_adds(&s->b, "\n");
	if (w->b.first->failed && !has_numbers(w))
		buf_adds(&s->b, "It is not a check of numbers that fails: fxexplain run explains that failure.\n");
	buf_adds(&s->b, "\n");
	bisect_table(s, &w->b);
	buf_reset(&text);
	add_evidence(&text, w);
	put_lines(s, "Evidence", buf_slice(&text));
	buf_reset(&text);
	add_next(&text, w);
	put_lines(s, "Next", buf_slice(&text));
	buf_addf(&s->b, "\nKept in %s\n", w->b.folder);
}

/* ---- the document ---- */

/* "app.py:12 in f, code: y = x" of aoti-verify, or the parts of one */
static void put_location(struct json_out *o, struct slice file, uint32_t line, struct slice function, struct slice code)
{
	if (!json_member_obj_if(o, "location", file.n > 0))
		return;
	json_member(o, "file", file);
	json_member_positive(o, "line", line);
	json_member(o, "function", function);
	json_member(o, "code", code);
	json_close(o);
}

static void put_python(struct json_out *o, const char *python)
{
	struct slice s = slice_str(python), place = slice_until(s, " in "), code = slice_behind(s, ", code: "),
		     rest = slice_behind(s, " in ");
	const char *colon = slice_rchr(place, ':');
	uint64_t line = 0;
	if (colon)
		(void)slice_u64(slice_of(colon + 1, place.n - (size_t)(colon + 1 - place.p)), &line);
	put_location(o, colon ? slice_of(place.p, (size_t)(colon - place.p)) : slice_of(NULL, 0), (uint32_t)line,
		     slice_until(rest, ", code: "), code);
}

static void put_inputs(struct json_out *o, const struct wrong *w, const struct wrong_graph *g)
{
	struct dump d;
	struct err err;
	json_member_arr(o, "inputs");
	if (dump_open(&d, w->dump, &err) == 0) {
		for (size_t i = 0; i < d.n; i++) {
			const struct dump_call *c = &d.call[i];
			if (c->kind != DUMP_RUN || c->run != g->run || !slice_is(c->model, g->model))
				continue;
			for (uint32_t k = 0; k < c->n_values; k++) {
				const struct dump_value *v = &c->value[k];
				if (!v->before || v->role != CALL_ROLE_MODEL_INPUT || !v->file.n)
					continue;
				FREED char *path = xasprintf("%s/%.*s", w->dump, SL(v->file));
				json_obj(o);
				json_member(o, "name", v->buffer);
				json_member(o, "file", slice_str(path));
				json_close(o);
			}
			break;
		}
		dump_close(&d);
	}
	json_close(o);
}

static void put_fault(struct json_out *o, const struct wrong *w)
{
	if (!json_member_obj_if(o, "fault", w->fault >= 0))
		return;
	const struct wrong_graph *g = &w->graph[w->fault];
	json_member(o, "compile_id", slice_str(g->id));
	json_member(o, "graph", slice_str(g->name));
	json_member(o, "trace", slice_str(g->trace));
	json_member(o, "dump", slice_str(w->dump));
	json_member(o, "model", slice_str(g->model));
	json_member_u64(o, "run", g->run);
	put_inputs(o, w, g);
	json_member(o, "kernel", slice_str(g->kernel ? g->kernel : ""));
	json_member(o, "node", slice_str(g->node ? g->node : ""));
	put_python(o, g->python ? g->python : "");
	json_member(o, "what", slice_str(g->what ? g->what : ""));
	json_close(o);
}

static void put_graphs(struct json_out *o, const struct wrong *w)
{
	json_rows(o, "graphs", i, w->n_graph) {
		const struct wrong_graph *g = &w->graph[i];
		json_member(o, "compile_id", slice_str(g->id));
		json_member(o, "graph", slice_str(g->name));
		json_member(o, "model", slice_str(g->model));
		json_member(o, "verdict", slice_str(wrong_verdict_name[g->verdict]));
		json_member_u64(o, "kernels", g->kernels);
		json_member_u64(o, "verified", g->verified);
		json_member(o, "why", slice_str(g->why ? g->why : ""));
	}
}

static void put_lost(struct json_out *o, const struct wrong *w)
{
	json_rows(o, "lost", i, w->n_lost) {
		const struct wrong_lost *l = &w->lost[i];
		json_member(o, "what", slice_str(l->what));
		json_member(o, "eager", slice_str(l->eager));
		json_member(o, "compiled", slice_str(l->compiled));
		json_member_u64(o, "call", l->call);
		put_location(o, slice_str(l->file), l->line, slice_str(l->function), slice_of(NULL, 0));
	}
}

static const char *eager_of(const struct bisect *b)
{
	const struct trial *t = b->at[DISABLED];
	return !t ? "" : !t->failed ? "passes" : bisect_same(t, b->first) ? "same failure" : "another failure";
}

void wrong_document(struct buf *out, const struct wrong *w)
{
	struct json_out o = {.b = out};
	const struct bisect *b = &w->b;
	const enum component c = b->first->failed ? bisect_verdict(b) : COMPONENT_NONE;
	struct slice where = slice_str(b->first->where ? b->first->where : "");
	const char *colon = slice_rchr(where, ':');
	uint64_t line = 0;
	LOCAL_BUF text = {0};
	json_obj(&o);
	json_member(&o, "schema", SLICE("pt2utils.wrong/1"));
	json_member(&o, "tool", SLICE("fxexplain run --wrong"));
	json_member(&o, "version", SLICE(PT2_VERSION));
	json_member_arr(&o, "command");
	for (char *const *word = b->command; *word; word++)
		json_out_str(&o, slice_str(*word));
	json_close(&o);
	json_member(&o, "torch", slice_str(bisect_torch(b)));
	json_member(&o, "asked_for", slice_str(bisect_asked(b)));
	json_member(&o, "folder", slice_str(b->folder));
	json_member_bool(&o, "fails", b->first->failed);
	json_member_bool(&o, "flaky", b->flaky);
	json_member(&o, "check", slice_str(b->first->error ? b->first->error : ""));
	if (colon)
		(void)slice_u64(slice_of(colon + 1, where.n - (size_t)(colon + 1 - where.p)), &line);
	put_location(&o, colon ? slice_of(where.p, (size_t)(colon - where.p)) : slice_of(NULL, 0), (uint32_t)line, slice_of(NULL, 0),
		     slice_of(NULL, 0));
	json_member(&o, "eager", slice_str(eager_of(b)));
	json_member(&o, "component", slice_str(c == COMPONENT_NONE ? "" : component_name[c]));
	json_member(&o, "basis", slice_str(basis(w)));
	const bool stage = c != COMPONENT_NONE && c != COMPONENT_EAGER && c != COMPONENT_ENVIRONMENT;
	json_member(&o, "stage", slice_str(!stage ? "" : b->found == AS_IS ? bisect_asked(b) : places[b->found].backend));
	json_member(&o, "part", slice_str(b->part ? b->part->setting : ""));
	put_graphs(&o, w);
	put_fault(&o, w);
	put_lost(&o, w);
	add_verdict(&text, w);
	json_member(&o, "verdict", buf_slice(&text));
	buf_reset(&text);
	add_evidence(&text, w);
	json_member_lines(&o, "evidence", buf_slice(&text));
	buf_reset(&text);
	add_next(&text, w);
	json_member_lines(&o, "next", buf_slice(&text));
	bisect_runs(&o, b);
	json_close(&o);
	buf_addc(out, '\n');
}
