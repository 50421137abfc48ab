/* live.c - a model that is run here, or a command that is watched. */
#include "base/tool/diag.h"
#include "base/tool/tempfolder.h"
#include "watch/guard.h"
#include "watch/ima.h"
#include "nanassert.h"
#include "base/text.h"

#include <math.h>
#include <signal.h>

enum { CLOSER = 8 }; /* findings for which the model is run again */
#define KEPT_MOST (UINT64_C(2) << 30)

/* A scan finds the first NaN (or infinity) of all. Whoever asks for more needs each call's values. */
static bool can_scan(const struct nanassert_options *o)
{
	return !o->explode && !o->exact && !o->stops && !o->all && !o->range && !o->constants && !o->ignore.n && !o->fail;
}

static void set_wants(const struct nanassert_options *o, bool scans, bool live, struct calls_config *c)
{
	struct err err;
	if (watch_only(c, o->graph, o->step, &err) < 0)
		die_err(&err);
	c->want = CALLS_NAMES | CALLS_BAD | (o->constants ? CALLS_INPUTS | CALLS_CONSTANTS : 0) | (o->fail ? CALLS_FAIL : 0) |
		  (o->inf ? CALLS_INF : 0) | (scans ? CALLS_SCAN : 0);
	guard_want(c, &o->how, live);
	if (o->stops) {
		c->first_run = c->last_run = o->stop_run;
		c->one_call = o->stop_call + 1;
	}
	c->lo = o->range ? o->lo : -INFINITY;
	c->hi = o->range ? o->hi : INFINITY;
}

/* What the first calls that produced a NaN had read is kept, to find the node of the graph that did (evaluate.c). */
static void keep_tensors(struct session *s, struct calls_config *c)
{
	struct err err;
	s->folder = temp_folder(TEMP_NANASSERT, &err);
	if (!s->folder || (size_t)snprintf(c->save_dir, sizeof(c->save_dir), "%s", s->folder) >= sizeof(c->save_dir))
		return;
	c->want |= CALLS_KEEP;
	c->save_max = KEPT_MOST;
}

/* ---- where kernels come from ---- */

static void add_sources(struct session *s, const struct watch *w, struct nan_finding *f)
{
	const struct watch_model *m = watch_find_model(w, f->call.c.model_id);
	if (m)
		nan_sources_apply(watch_sources(m), f);
	if (s->trace.n)
		nan_sources_apply(&s->trace, f);
}

/* ---- calls ---- */

static void add_call_of_run(struct buf *b, const struct watch_call *c)
{
	buf_addf(b, "%s (call %u of run %u)", c->name, c->begin.call, c->begin.run);
}

/* A call that did not return: did its process crash in it? Appends to b how it ended. */
static bool has_crashed(struct session *s, const struct watch *w, const struct watch_call *c, struct buf *b)
{
	struct child_result how;
	enum watch_fate fate = watch_fate(w, c->begin.pid, &how);
	const struct child_result *command = &w->live.command;
	bool main_thread = c->begin.tid == c->begin.pid, over = command->how == CHILD_TIMED_OUT;
	/* A shell exits with 128 plus the signal that killed its last command. */
	int sig = fate == WATCH_KILLED ? how.sig : command->sig ? command->sig : command->status > 128 ? command->status - 128 : 0;
	if (fate == WATCH_RUNS || fate == WATCH_EXITED) /* a thread was still running */
		return false;
	if (!over && (child_asks_to_end(sig) || (sig == SIGKILL && child_signalled()))) {
		if (!s->stopped.len)
			add_call_of_run(&s->stopped, c);
		return false;
	}
	if (fate == WATCH_KILLED) {
		child_describe(&how, b);
	} else if (w->ended && command->sig) {
		child_describe(command, b);
	} else if (!sig && !main_thread) { /* or it exited normally, and a thread was still running */
		if (!s->o->quiet)
			warn("process %u ended while one of its threads was in %s (call %u); only its parent knows how", c->begin.pid,
			     c->name, c->begin.call);
		return false;
	}
	return true;
}

static void drain_calls(struct session *s, struct watch *w)
{
	struct gathered g = {0};
	struct watch_call c;
	struct buf ended = {0};
	while (watch_next(w, &c)) {
		bool open = c.begin.what == CALL_BEGIN && c.end.what == CALL_NONE;
		buf_reset(&ended);
		if (open && !has_crashed(s, w, &c, &ended))
			continue;
		s->captured += c.launch && c.launch->captured && !s->scans;
		if (c.replay) /* outputs are on the host */
			continue;
		if (s->exploded && !open) {
			exploded_take(s->exploded, &c);
			s->nan.calls += c.begin.what == CALL_BEGIN;
			continue;
		}
		gather_watched(&g, &c, open ? buf_str(&ended) : NULL);
		if (c.begin.what == CALL_BEGIN && !open && c.end.result) {
			s->failed_in = arena_slice(&s->nan.arena, slice_str(c.name));
			s->failed_call = c.begin.call;
		}
		nan_take(&s->nan, &g.call);
	}
	buf_release(&ended);
	gathered_release(&g);
}

/* What was found again in a skipped step: is it an overflow, which a smaller scale ends? */
static void judge(struct session *s, const struct watch *w)
{
	for (size_t i = 0; i < s->nan.n_held; i++) {
		struct nan_held *h = &s->nan.held[i];
		if (h->finding != NONE || h->row < 2 || h->judged)
			continue;
		h->judged = true;
		add_sources(s, w, &h->f);
		evaluate_graph(s, w, &h->f);
		if (h->f.why && h->f.why->finite)
			nan_alarm(&s->nan, (uint32_t)i);
	}
}

/* ended: no more comes. */
static void drain(struct session *s, struct watch *w, bool ended)
{
	for (size_t i = 0; i < w->n_scalers; i++)
		nan_scaler(&s->nan, &w->scaler[i]);
	w->n_scalers = 0;
	drain_calls(s, w);
	nan_settle(&s->nan, ended);
	judge(s, w);
}

static void on_tick(void *user, struct watch *w)
{
	struct session *s = user;
	drain(s, w, w->ended);
	if (s->o->json || s->o->quiet)
		return;
	size_t n = s->o->all || s->nan.n < 1 ? s->nan.n : 1;
	for (; s->shown < n; s->shown++) {
		add_sources(s, w, &s->nan.finding[s->shown]);
		evaluate_graph(s, w, &s->nan.finding[s->shown]);
		buf_addf(&s->screen.b, "%s: ", diag_tool);
		show_finding(&s->screen, s, &s->nan.finding[s->shown]);
	}
	session_flush(s);
}

static void say_lost(struct session *s, const struct watch *w)
{
	if (!s->o->quiet)
		ima_warn(buf_slice(&w->device));
	if (!s->failure.len)
		ima_failure(buf_slice(&w->device), &s->failure);
	if (w->calls.lost && !s->o->quiet)
		warn("%llu call records were overwritten before they were read: a NaN may have been missed",
		     (unsigned long long)w->calls.lost);
	for (size_t i = 0; i < w->n_models && !s->o->quiet; i++)
		if (!w->model[i].has_contract)
			warn("'%s': %s; buffers have no names, and write-only arguments of kernels count as read, too", w->model[i].path,
			     w->model[i].why ? w->model[i].why : "it has no contract");
}

/* ---- a model ---- */

/* Stopped by the user: show what was found so far. */
static void say_stopped(struct session *s)
{
	const char *name = signal_name(child_signalled());
	if (!child_signalled())
		return;
	buf_addf(&s->failure, "stopped by %s", name ? name : "a signal");
	if (s->stopped.len)
		buf_addf(&s->failure, " in %s", buf_str(&s->stopped));
	if (!s->o->quiet)
		warn("%s, after %llu calls", buf_str(&s->failure), (unsigned long long)s->nan.calls);
}

static void say_failure(struct session *s, const struct watch *w)
{
	if (!w->failed.text[0])
		return;
	buf_adds(&s->failure, w->failed.text);
	if (s->failed_in.n)
		buf_addf(&s->failure, " (in %.*s, call %u)", SL(s->failed_in), s->failed_call);
	/* With --fail that was requested. */
	if (!s->o->quiet && !(s->o->fail && s->nan.n))
		warn("%s", buf_str(&s->failure));
}

static void say_asides(const struct session *s, const struct watch *w)
{
	struct slice rest = buf_slice(&w->asides), line;
	while (!s->o->quiet && slice_line(&rest, &line))
		note("%s: %.*s", diag_tool, SL(line));
}

/* Of --bounds. */
static void say_guard(struct session *s, const struct watch *w)
{
	if (w->guard && !s->o->json && !s->o->quiet)
		guard_show(&s->screen, w->guard, "aoti-nanassert: ");
}

/* During the run, so that the log does not overflow. */
static void only_read(void *user, struct watch *w) { drain_calls(user, w); }

int run_model_file(const struct nanassert_options *o, const struct operands *in)
{
	struct session s;
	struct watch w;
	struct err err;
	struct watch_options wo = {
	    .model = in->v[0],
	    .operand = in->v + 1,
	    .n_operand = in->n - 1,
	    .how = o->how,
	    .no_exec = o->no_exec,
	    .quiet = o->quiet,
	    .tick = only_read,
	    .user = &s,
	};
	wo.how.names = o->against;
	set_wants(o, false, false, &wo.calls);
	if (session_open(&s, o, in->v[0], false, &err) < 0 || watch_run(&w, &wo, &err) < 0)
		die_err(&err);
	drain_calls(&s, &w);
	for (size_t i = 0; i < s.nan.n && (i == 0 || o->all); i++) {
		add_sources(&s, &w, &s.nan.finding[i]);
		if (i < CLOSER && !o->quiet && !child_signalled())
			closer_by_running(&s, &wo, &s.nan.finding[i]);
	}
	if (o->against && !child_signalled())
		against_run(&s, in);
	say_stopped(&s);
	say_failure(&s, &w);
	say_lost(&s, &w);
	say_asides(&s, &w);
	s.watch = &w;
	session_end(&s);
	say_guard(&s, &w);
	session_flush(&s);
	int status = session_status(
	    &s, ima_status(buf_slice(&w.device), watch_status(&w, session_findings(&s) + guard_found(w.guard), o->error_exitcode)));
	if (s.log_failed)
		status = EXIT_ENVIRON;
	session_close(&s);
	return watch_end(&w, status);
}

/* ---- a command ---- */

static void say_replays(const struct watch *w, struct buf *b)
{
	uint64_t n = 0;
	for (size_t i = 0; i < w->n_graphs; i++)
		n += w->graph[i].replays;
	if (n)
		buf_addf(b, ", nor what %llu replay%s of %s wrote", (unsigned long long)n, plural(n),
			 w->n_graphs == 1 ? "it" : "such graphs");
}

static bool is_scanned(const struct session *s)
{
	for (size_t i = 0; i < s->nan.n; i++)
		if (s->nan.finding[i].call.scanned)
			return true;
	return false;
}

static void add_counts(struct session *s, const struct watch *w, struct buf *b)
{
	const struct live_result *r = &w->live;
	live_models(r, b);
	buf_addf(b, ", %llu call%s of kernels and operators", (unsigned long long)s->nan.calls, plural(s->nan.calls));
	uint64_t times = 0, passed = 0;
	for (size_t i = 0; i < s->nan.n; i++) {
		times += s->nan.finding[i].times;
		passed += s->nan.finding[i].passed_on;
	}
	if (!s->nan.n) {
		const char *nothing = guard_found(w->guard) ? ", no NaN or infinity found" : ", nothing found";
		buf_addf(b, "%s%s", nothing, s->failure.len ? " before that" : "");
		add_unread(b, s);
	} else
		buf_addf(b, ", found %llu time%s in %zu place%s", (unsigned long long)times, plural(times), s->nan.n, plural(s->nan.n));
	if (passed)
		buf_addf(b, ", propagated by %llu call%s", (unsigned long long)passed, plural(passed));
	if (s->nan.n > 1 && !s->o->all)
		buf_adds(b, " (--all shows all)");
	if (s->nan.skipped_steps)
		buf_addf(b, "; %llu step%s skipped by GradScaler: their infinities are its own", (unsigned long long)s->nan.skipped_steps,
			 plural(s->nan.skipped_steps));
	if (s->captured)
		buf_addf(b, "; %llu of them were captured into a CUDA graph: what they write is not checked",
			 (unsigned long long)s->captured);
	if (!s->scans)
		say_replays(w, b);
	if (is_scanned(s))
		buf_adds(b, "; on the GPU, only the first is looked for (--all examines every call)");
	if (s->stopped.len)
		buf_addf(b, "; it was stopped in %s", buf_str(&s->stopped));
	buf_addc(b, '\n');
}

static void live_summary(struct session *s, const struct watch *w)
{
	struct buf *b = &s->screen.b;
	const struct live_result *r = &w->live;
	buf_addf(b, "%s: ", diag_tool);
	if (!live_watched(r, b)) {
		buf_addc(b, '\n');
		if (r->calls)
			buf_addf(b, "%s: ", diag_tool);
	}
	if (r->calls && s->exploded)
		exploded_show(&s->screen, s->exploded, s->o->all);
	else if (r->calls)
		add_counts(s, w, b);
	struct slice rest = buf_slice(&w->asides), aside;
	while (slice_line(&rest, &aside))
		buf_addf(b, "%s: %.*s\n", diag_tool, SL(aside));
}

int run_command(const struct nanassert_options *o, char **command)
{
	struct session s;
	struct watch w;
	struct err err;
	struct watch_options wo = {
	    .command = command, .recorded = o->recorded, .no_exec = o->no_exec, .quiet = o->quiet, .tick = on_tick, .scalers = !o->explode};
	set_wants(o, can_scan(o), true, &wo.calls);
	if (session_open(&s, o, command[0], true, &err) < 0)
		die_err(&err);
	s.command = command;
	s.scans = can_scan(o);
	if (o->explode) {
		s.exploded = exploded_new();
		wo.calls.want = CALLS_NAMES | CALLS_STATS | CALLS_INPUTS;
	} else {
		keep_tensors(&s, &wo.calls);
	}
	wo.user = &s;
	if (watch_run(&w, &wo, &err) < 0)
		die_err(&err);
	on_tick(&s, &w);
	say_lost(&s, &w);
	s.watch = &w;
	struct buf why = {0};
	if (o->json) {
		if (!live_watched(&w.live, &why) && !o->quiet)
			warn("%s", buf_str(&why));
		buf_release(&why);
		for (size_t i = 0; i < s.nan.n && (i == 0 || o->all); i++) {
			add_sources(&s, &w, &s.nan.finding[i]);
			evaluate_graph(&s, &w, &s.nan.finding[i]);
		}
		session_end(&s);
	} else {
		say_guard(&s, &w);
		live_summary(&s, &w);
		session_flush(&s);
	}
	int status = session_status(
	    &s, ima_status(buf_slice(&w.device), watch_status(&w, session_findings(&s) + guard_found(w.guard), o->error_exitcode)));
	session_close(&s);
	return watch_end(&w, status);
}
