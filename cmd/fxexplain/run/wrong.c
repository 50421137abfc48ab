/* wrong.c - `fxexplain run --wrong`: bisects, then looks into the graphs, or for what Dynamo lost (wrong.h). */
#include "run/wrong.h"

#include "base/tool/diag.h"
#include "base/tool/output.h"
#include "run/kept/kept.h"

static void show(const struct wrong *w)
{
	struct screen s = explain_screen(w->b.o->output);
	if (w->b.o->json)
		wrong_document(&s.b, w);
	else
		wrong_show(&s, w);
	explain_write(&s, w->b.o->output);
}

static void show_what_is_known(const struct bisect *b)
{
	const struct wrong *w = (const struct wrong *)b; /* its first member */
	show(w);
}

/* Beside the other files, whatever is printed. */
static void keep_document(const struct wrong *w)
{
	LOCAL_BUF b = {0};
	struct err err;
	FREED char *path = xasprintf("%s/wrong.json", w->b.folder);
	wrong_document(&b, w);
	if (output_write(path, &(struct slice){b.p, b.len}, 1, &err) < 0)
		warn("%s", err.text);
}

/* The kernels, if the compiler is at fault; if no kernel is: settings, then what calls leave behind. */
static void look_into(struct wrong *w)
{
	struct bisect *b = &w->b;
	const enum component c = bisect_verdict(b);
	if (b->flaky || b->unreached || b->cached || c == COMPONENT_EAGER || c == COMPONENT_NONE || bisect_while_compiling(b->first))
		return;
	if (b->found == AS_IS)
		wrong_find_graphs(w);
	/* Other random numbers than eager's come from a decomposition. */
	if (w->fault < 0 && (b->found == AS_IS || b->found == DECOMP))
		bisect_parts(b, b->found == DECOMP ? "fallback_random=True" : NULL);
	if (w->fault < 0 && !b->part)
		wrong_find_lost(w);
}

int wrong_run(char *const *command, const char *keep, int timeout_ms)
{
	struct wrong w = {.b = {.o = &explain_opt,
				.command = command,
				.timeout_ms = timeout_ms,
				.tell = show_what_is_known,
				.kept = true,
				.no_parts = true},
			  .fault = -1};
	struct err err;
	explain_only("--wrong only writes text or --json");
	struct kept *run = kept_begin("fxexplain run --wrong", (const char *const *)command, &err);
	char *own = keep ? run_kept_folder(keep) : NULL;
	if (!own && !run)
		die(EXIT_ENVIRON, "%s: pass --keep=DIR", err.text);
	w.b.folder = own ? own : kept_folder(run);
	bisect_open(&w.b);
	bisect_search(&w.b);
	if (w.b.first->failed)
		look_into(&w);
	show(&w);
	keep_document(&w);
	const int status = !w.b.first->failed ? EXIT_FINE : w.b.unreached ? EXIT_ENVIRON : EXIT_FOUND;
	const char *traces[WRONG_GRAPHS];
	size_t n = 0;
	for (unsigned i = 0; i < w.n_graph; i++)
		if (!n || strcmp(traces[n - 1], w.graph[i].trace))
			traces[n++] = w.graph[i].trace;
	kept_end(run, &(struct kept_result){.seconds = (double)w.b.first->r.wall_ns / 1e9,
					    .status = w.b.first->r.status,
					    .sig = w.b.first->r.sig,
					    .traces = traces,
					    .n_traces = n});
	bisect_close(&w.b);
	free(own);
	return status;
}
