/* workers.c - the processes that compile kernels for torch (2.15): those that died or hang. */
#include "run/diagnose/finding.h"
#include "base/text.h"

#include <signal.h>

enum { WORKERS_MAX = 100 };
#define HANGS_SECONDS 90.0 /* there is a status every minute: after the last one, the log does not mention it for this long, or ends */
#define LONG_SECONDS 120.0

/* The last lines of a text, at most six. */
static struct slice last_lines(struct slice text)
{
	unsigned n = 0;
	size_t at = text.n;
	while (at && n < 6)
		if (text.p[--at] == '\n')
			n++;
	return n == 6 ? slice_of(text.p + at + 1, text.n - at - 1) : text;
}

static void died(struct explanation *x, const struct fact_worker *w)
{
	struct finding *g = explain_finding(x, FINDING_FAILURE, FINDING_ERROR);
	const char *signal = signal_name(w->signal);
	g->id = SLICE("compile-worker-died");
	LOCAL_BUF b = {0};
	buf_adds(&b, "Compile worker");
	if (w->pid >= 0)
		buf_addf(&b, " (pid %lld)", (long long)w->pid);
	if (signal)
		buf_addf(&b, " was killed by %s", signal);
	else if (w->signal)
		buf_addf(&b, " was killed by signal %d", w->signal);
	else if (w->code >= 0)
		buf_addf(&b, " exited with status %lld", (long long)w->code);
	else
		buf_adds(&b, " died");
	g->title = explain_keep(x, buf_slice(&b));
	g->src = w->src;
	g->compile = w->compile;
	g->count = 1;
	if (w->compile != NONE)
		g->loc = x->facts->compile[w->compile].loc;
	g->evidence = last_lines(explain_text(x, w->tail));
	g->why = w->signal == SIGKILL
		     ? SLICE("Something killed it: usually the kernel when memory ran out (see dmesg), or a limit of the job. What it was "
			     "compiling failed with it.")
		     : SLICE("What it was compiling failed with it.");
	g->hint = w->signal == SIGKILL
		      ? SLICE("TORCHINDUCTOR_COMPILE_THREADS=4    # fewer at a time need less memory\n"
			      "TORCHINDUCTOR_COMPILE_THREADS=1    # compiles in the main process, whose own crash has a traceback")
		      : SLICE("TORCHINDUCTOR_COMPILE_THREADS=1    # compiles in the main process, whose own crash has a traceback");
}

/* Has the compilation that it works for finished? */
static bool went_on(const struct facts *f, const struct fact_worker *w)
{
	if (w->compile != NONE)
		return f->compile[w->compile].status != COMPILE_UNKNOWN;
	return f->input[w->src.input].span > w->time + HANGS_SECONDS;
}

static void slow(struct explanation *x, const struct fact_worker *w, uint64_t n)
{
	const struct facts *f = x->facts;
	bool over = went_on(f, w), queued = slice_is(facts_text(f, w->phase), "queued");
	if (w->seconds < LONG_SECONDS && over)
		return;
	struct finding *g = explain_finding(x, FINDING_TIME, over || queued ? FINDING_NOTE : FINDING_WARNING);
	LOCAL_BUF b = {0};
	g->id = over ? SLICE("compile-worker-slow") : SLICE("compile-worker-hangs");
	buf_addf(&b, over ? "Slow kernel in a compile worker" : queued ? "Kernel waits for a compile worker" : "Compile worker hangs");
	if (w->pid >= 0)
		buf_addf(&b, " (pid %lld)", (long long)w->pid);
	buf_adds(&b, ": ");
	put_seconds(&b, w->seconds);
	if (w->phase != NONE && !queued) {
		buf_addf(&b, ", %.*s", SLN(facts_text(f, w->phase), 40));
		if (w->phase_seconds >= 0) {
			buf_adds(&b, " for ");
			put_seconds(&b, w->phase_seconds);
		}
	}
	g->title = explain_keep(x, buf_slice(&b));
	g->src = w->src;
	g->compile = w->compile;
	g->count = n;
	if (w->compile != NONE) {
		g->loc = f->compile[w->compile].loc;
		g->compiles = explain_keep(x, facts_label(f, w->compile));
	}
	g->why = over     ? SLICE("Its compilation finished.")
		 : queued ? SLICE("All workers were busy when the log ended: it waits for those that hang.")
			  : SLICE("The log ends before its compilation finishes.");
	if (!over && !queued && w->pid >= 0)
		g->next = explain_textf(x, "py-spy dump --native --pid %lld    # shows where it hangs", (long long)w->pid);
	if (!queued)
		g->hint = SLICE("TORCHINDUCTOR_COMPILE_THREADS=1    # compiles in the main process: Ctrl-C then shows where");
}

/* The last status of each job has everything. */
void explain_workers(struct explanation *x)
{
	const struct facts *f = x->facts;
	OWNED(intern_release) struct intern jobs = {0};
	uint32_t *last = xcalloc(f->n_worker + 1u, sizeof(*last)), told = 0;
	FREED uint64_t *n = xcalloc(f->n_worker + 1u, sizeof(*n));
	for (uint32_t i = 0; i < f->n_worker; i++) {
		const struct fact_worker *w = &f->worker[i];
		if (w->what == WORKER_DIED) {
			if (told++ < WORKERS_MAX)
				died(x, w);
			continue;
		}
		/* Job numbers belong to a process, that of its compilation. */
		int64_t key[3] = {w->src.input, w->job, w->compile};
		uint32_t k = intern_add(&jobs, slice_of((const char *)key, sizeof(key)));
		last[k] = i;
		n[k]++;
	}
	for (uint32_t k = 0; k < jobs.n && k < WORKERS_MAX; k++)
		slow(x, &f->worker[last[k]], n[k]);
	free(last);
}
