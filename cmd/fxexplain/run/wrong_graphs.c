/* wrong_graphs.c - each kernel of each graph, compared with its graph: aoti-printer -i -o, then aoti-verify --graph (wrong.h). */
#include "run/wrong.h"

#include "aten/verify/verify.h"
#include "base/io/jsonfile.h"
#include "base/text.h"
#include "base/tool/diag.h"
#include "base/tool/parts.h"
#include "watch/dump.h"

#include <sys/stat.h>
#include <unistd.h>

const char *const wrong_verdict_name[] = {"not verified", "right", "partly", "wrong"};

static const char *keep(struct wrong *w, struct slice s) { return arena_strndup(&w->b.arena, s.p, s.n); }

#define keepf(w, ...) (arena_textf(&(w)->b.arena, __VA_ARGS__).p)

/* ---- the run ---- */

/* False: it cannot be done, and w->note says why. */
static bool record(struct wrong *w)
{
	struct child_result r;
	struct err err;
	FREED char *printer = tool_need("aoti-printer", &err);
	const char *dir = keepf(w, "%s/graphs", w->b.folder);
	FREED char *trace = xasprintf("TORCH_TRACE=%s", dir);
	const char *const env[] = {trace, "TORCHINDUCTOR_FORCE_DISABLE_CACHES=1", NULL}; /* what comes from a cache is in no trace */
	size_t n = 0, k = 0;
	if (!printer) {
		w->note = keepf(w, "%s", err.text);
		return false;
	}
	while (w->b.command[n])
		n++;
	const char *dump = keepf(w, "%s/dump", w->b.folder);
	FREED const char **argv = xcalloc(n + 8, sizeof(*argv));
	const char *const before[] = {printer, "-q", "-i", "-o", dump, "--"};
	for (; k < ARRAY_LEN(before); k++)
		argv[k] = before[k];
	for (size_t i = 0; i < n; i++)
		argv[k++] = w->b.command[i];
	if (!w->b.o->quiet)
		note("%s: keeping the graphs and what their kernels read and write", diag_tool);
	bisect_start(&w->b, argv, env, dir, &r);
	if (!dump_like(dump)) {
		w->note = keepf(w, "aoti-printer kept no graph: see %s/stderr.txt", dir);
		return false;
	}
	w->dump = dump;
	return true;
}

/* ---- the graphs ---- */

static void add_graph(struct wrong *w, const struct facts *f, const struct fact_graph *g, unsigned number)
{
	static const char *const names[] = {"aot_forward_graph", "aot_backward_graph", "aot_inference_graph"};
	struct slice name = facts_text(f, g->name);
	if (g->compile == NONE || !slice_any(name, names, slice_is))
		return;
	if (w->n_graph == WRONG_GRAPHS) {
		w->more_graphs++;
		return;
	}
	const struct fact_compile *c = &f->compile[g->compile];
	struct slice kind = slice_of(name.p + 4, name.n - 4 - strlen("_graph"));
	w->graph[w->n_graph++] = (struct wrong_graph){.id = keep(w, facts_text(f, c->id)),
						      .name = keep(w, name),
						      .trace = keep(w, facts_text(f, f->input[c->src.input].path)),
						      .model = keepf(w, "%u_%.*s", number, SL(kind))};
}

/* torch numbers what AOTAutograd compiles ("0_forward": torch/_functorch/_aot_autograd/logging_utils.py): the forward, or the graph of an
 * inference, begins a number; the backward has that of its forward, the same compilation. */
static void list_graphs(struct wrong *w)
{
	struct facts f;
	struct err err;
	static const struct facts_options o = {.keep_graphs = true};
	FREED char *dir = xasprintf("%s/graphs", w->b.folder);
	OWNED(run_names_release) struct run_names logs = {0};
	facts_init(&f);
	run_list(&logs, dir);
	for (size_t i = 0; i < logs.n; i++)
		(void)facts_add_trace(&f, logs.v[i], &o, &err);
	facts_finish(&f);
	FREED unsigned *number = xcalloc(f.n_compile + 1, sizeof(*number));
	uint32_t input = NONE;
	unsigned next = 0;
	for (uint32_t i = 0; i < f.n_graph; i++) {
		const struct fact_graph *g = &f.graph[i];
		if (g->compile == NONE)
			continue;
		if (f.compile[g->compile].src.input != input) { /* of each process */
			input = f.compile[g->compile].src.input;
			next = 0;
		}
		struct slice name = facts_text(&f, g->name);
		if (slice_is(name, "aot_forward_graph") || slice_is(name, "aot_inference_graph"))
			number[g->compile] = next++;
		add_graph(w, &f, g, number[g->compile]);
	}
	facts_release(&f);
}

/* ---- aoti-verify ---- */

static void read_finding(struct wrong *w, struct wrong_graph *g, const struct json_tape *t, uint32_t k, unsigned run)
{
	LOCAL_BUF text = {0}, what = {0};
	const uint32_t node = json_get(t, k, "node");
	struct slice buffer;
	g->run = run;
	g->kernel = keep(w, json_text(t, k, "kernel", &text));
	g->node = keep(w, json_text(t, node, "name", &text));
	g->python = keep(w, json_text(t, node, "python", &text));
	buffer = json_text(t, k, "buffer", &text);
	buf_addf(&what, "%.*s: ", SL(buffer));
	verify_add_count(&what, &(struct verify_finding){.wrong = json_count(t, k, "differ", 0), .n = json_count(t, k, "elements", 0)});
	const uint32_t got = json_get(t, k, "got"), want = json_get(t, k, "want"), worst = json_get(t, k, "worst");
	if (json_is(t, got, JSON_NUMBER) && json_is(t, want, JSON_NUMBER) && json_is(t, worst, JSON_STRING))
		buf_addf(&what, "; at %.*s got %.6g, expected %.6g", SL(json_slice(t, worst)), json_number(t, k, "got", 0),
			 json_number(t, k, "want", 0));
	g->what = keep(w, buf_slice(&what));
}

static void read_verdict(struct wrong *w, struct wrong_graph *g, const char *path)
{
	OWNED(jsonfile_close) struct jsonfile d;
	if (!jsonfile_open(&d, path))
		return;
	const int64_t status = json_int(&d.t, d.root, "status", -1);
	g->verdict = status == EXIT_FINE      ? GRAPH_RIGHT
		     : status == EXIT_PARTIAL ? GRAPH_PARTLY
		     : status == EXIT_FOUND   ? GRAPH_WRONG
					      : GRAPH_OPEN;
	json_each(&d.t, json_get(&d.t, d.root, "runs"), k) {
		if (!json_flag(&d.t, k, "counts"))
			continue;
		static const char *const good[] = {"equal", "rounding", "effect", "wrong"};
		unsigned verified = 0;
		for (size_t i = 0; i < ARRAY_LEN(good); i++)
			verified += (unsigned)json_count(&d.t, k, good[i], 0);
		if (verified > g->verified || !g->kernels) {
			g->verified = verified;
			g->kernels = verified + (unsigned)json_count(&d.t, k, "open", 0);
		}
		json_each(&d.t, json_get(&d.t, k, "findings"), one) {
			if (!g->what && !slice_is(json_word(&d.t, one, "what"), "less_exact"))
				read_finding(w, g, &d.t, one, (unsigned)json_count(&d.t, k, "run", 0));
		}
	}
}

static void verify(struct wrong *w, struct wrong_graph *g, const char *tool, unsigned i)
{
	struct child_result r;
	FREED char *graph = xasprintf("%s:%s", g->id, g->name), *dir = xasprintf("%s/verify-%u", w->b.folder, i);
	FREED char *out = xasprintf("%s/stdout.txt", dir), *text = xasprintf("%s/stderr.txt", dir);
	const char *const argv[] = {tool, "--json", "--no-more", "--model", g->model, "--graph", graph, g->trace, w->dump, NULL};
	const char *const env[] = {NULL};
	struct mapfile file;
	struct err err;
	bisect_start(&w->b, argv, env, dir, &r);
	read_verdict(w, g, out);
	if (g->verdict == GRAPH_OPEN && mapfile_open(&file, text, &err) == 0) {
		struct slice line = slice_trim(slice_first_line(slice_trim(file.bytes)));
		g->why = keep(w, line.n ? slice_of(line.p, line.n < 300 ? line.n : 300) : SLICE("aoti-verify gave no answer"));
		mapfile_close(&file);
	}
}

void wrong_find_graphs(struct wrong *w)
{
	struct err err;
	FREED char *tool = tool_need("aoti-verify", &err);
	if (!tool)
		w->note = keepf(w, "%s", err.text);
	if (!tool || !record(w))
		return;
	list_graphs(w);
	if (!w->n_graph)
		w->note = "no graph could be kept: AOTAutograd wrote none into the trace";
	for (unsigned i = 0; i < w->n_graph; i++) {
		verify(w, &w->graph[i], tool, i);
		if (w->fault < 0 && w->graph[i].verdict == GRAPH_WRONG)
			w->fault = (int)i;
	}
}
