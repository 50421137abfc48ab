/* A model that is run here, or a command that is watched: its calls go through the filters to a taker. */
#include "base/tool/diag.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"
#include "base/process/elsewhere.h"
#include "watch/dump.h"
#include "watch/guard.h"
#include "watch/ima.h"
#include "printer.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int output_path(const struct output *o, char *path, size_t room, struct err *err)
{
	char link[64];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", output_fd(o));
	ssize_t n = readlink(link, path, room - 1);
	if (n < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot read '%s'", link);
	if ((size_t)n >= room - 1)
		return err_set(err, EXIT_USAGE, "the path of the folder is too long (more than %zu bytes)", room - 2);
	path[n] = 0;
	return 0;
}

void session_begin(struct session *s, const struct printer_options *o, session_take *take, session_end_fn *end, void *user)
{
	*s = (struct session){.o = o, .take = take, .end = end, .user = user, .log_fd = -1, .screen = screen_make()};
	if (filter_make(&s->filter, o, &s->err) < 0)
		die_err(&s->err);
	if (!o->log)
		return;
	if ((s->log_fd = open(o->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666)) < 0)
		die_errno(EXIT_ENVIRON, "cannot write '%s'", o->log);
	s->screen.color = false;
	s->screen.width = 0;
}

void session_release(struct session *s)
{
	if (s->log_fd >= 0)
		close(s->log_fd);
	temp_folder_remove(s->cleanup);
	filter_release(&s->filter);
	buf_release(&s->screen.b);
}

void session_end(struct session *s)
{
	const struct err err = s->err;
	session_release(s);
	if (err.text[0])
		die_err(&err);
}

/* ---- calls ---- */

void session_forget(const struct session *s, const char *saved)
{
	char *path = xasprintf("%s/%s", s->folder, saved);
	remove_file(path);
	free(path);
}

static void forget_files(const struct session *s, const struct watch_call *c)
{
	for (uint32_t i = 0; i < c->n_values; i++)
		if (*c->value[i].saved)
			session_forget(s, c->value[i].saved);
}

static bool session_passes(const struct session *s, const struct watch_call *c)
{
	if (c->begin.what == CALL_RUN_BEGIN)
		return s->filter.inputs && !s->filter.kernel.n && !s->filter.n_calls && filter_call(&s->filter, SLICE(""), c->begin.run, 0);
	return filter_call(&s->filter, slice_str(c->name), c->begin.run, c->begin.call);
}

void session_flush(struct session *s)
{
	struct err err = {0};
	if (!s->screen.b.len)
		return;
	int r = s->log_fd >= 0 ? screen_write(&s->screen, s->log_fd, s->o->log, &err) : screen_flush(&s->screen, &err);
	/* A reader that has gone (| head) had enough: the model runs on, nothing more is shown. */
	if (r < 0 && err.text[0] && !s->err.text[0])
		s->err = err;
}

static void drain_calls(struct session *s, struct watch *w)
{
	struct watch_call c;
	while (watch_next(w, &c)) {
		bool call = c.begin.what == CALL_BEGIN && c.begin.result != CALLS_TIMED;
		s->seen += call;
		if (!s->err.text[0] && session_passes(s, &c)) {
			s->shown += call;
			s->take(s, &c);
		}
		if (s->folder && !s->keep)
			forget_files(s, &c);
		if (s->screen.b.len > 1u << 16)
			session_flush(s);
	}
	session_flush(s);
}

static void tick(void *user, struct watch *w) { drain_calls(user, w); }

/* ---- the end ---- */

static void say_models(const struct session *s, const struct watch *w)
{
	warn_lines(buf_slice(&w->asides));
	for (size_t i = 0; i < w->n_models; i++)
		if (w->model[i].why)
			warn("model %u ('%s'): %s", w->model[i].id, w->model[i].path, w->model[i].why);
	struct buf why = {0};
	if (w->o->command && !live_watched(&w->live, &why))
		warn("%s", buf_str(&why));
	else if (!s->seen)
		warn("no call of a kernel or op was seen");
	else if (!s->shown)
		warn("%llu calls were seen, but the filters let none pass", (unsigned long long)s->seen);
	buf_release(&why);
}

static void say_graphs(const struct watch *w)
{
	struct buf b = {0};
	for (size_t i = 0; i < w->n_graphs; i++) {
		buf_reset(&b);
		watch_graph_text(w, &w->graph[i], &b);
		note("%s: %s", diag_tool, buf_str(&b));
	}
	buf_release(&b);
}

static void say_end(const struct session *s, const struct watch *w)
{
	if (!s->o->ima)
		ima_warn(buf_slice(&w->device));
	if (w->calls.lost)
		warn("%llu records were overwritten before they could be read: name kernels (--kernels) or runs (--runs)",
		     (unsigned long long)w->calls.lost);
	if (w->failed.text[0])
		warn("%s", w->failed.text);
	if (!s->o->quiet) {
		say_graphs(w);
		say_models(s, w);
	}
}

static void set_wants(struct session *s, struct watch_options *w, uint32_t want)
{
	struct calls_config *c = &w->calls;
	c->want = want | (s->filter.inputs || s->filter.constants ? CALLS_INPUTS | CALLS_CONSTANTS : 0);
	struct err err;
	if (watch_only(c, s->o->graph, s->o->step, &err) < 0)
		die_err(&err);
	guard_want(c, &s->o->how, w->command != NULL);
	c->lo = -__builtin_inf();
	c->hi = __builtin_inf();
	c->save_format = TENSOR_NPY;
	c->save_max = s->o->save_max;
	if (s->folder)
		snprintf(c->save_dir, sizeof(c->save_dir), "%s", s->folder);
	if (s->filter.n_runs) {
		c->first_run = NONE;
		c->last_run = 0;
		for (size_t i = 0; i < s->filter.n_runs; i++) {
			c->first_run = s->filter.runs[i].first < c->first_run ? s->filter.runs[i].first : c->first_run;
			c->last_run = s->filter.runs[i].last > c->last_run ? s->filter.runs[i].last : c->last_run;
		}
	}
	/* The library needs to know of kernels only so that it does less; what it cannot hold is filtered here. */
	/* A bundle run again has other names there. */
	bool fits = !s->o->recorded && s->filter.kernel.n <= CALLS_FILTERS && !s->filter.fold && !s->filter.inputs;
	for (size_t i = 0; i < s->filter.kernel.n && fits; i++)
		fits = strlen(s->filter.kernel.v[i]) < sizeof(c->filter[0]);
	for (size_t i = 0; i < s->filter.kernel.n && fits; i++)
		snprintf(c->filter[c->n_filters++], sizeof(c->filter[0]), "%s", s->filter.kernel.v[i]);
}

/* A signal has ended the model: what was made so far goes, what was shown stays. */
static int end_early(struct session *s, struct watch *w)
{
	output_abort_all();
	if (s->folder && s->folder != s->cleanup)
		remove_tree(s->folder);
	temp_folder_remove(s->cleanup);
	s->cleanup = NULL;
	return watch_end(w, watch_status(w, 0, -1));
}

int session_run(struct session *s, const struct operands *in, int first, uint32_t want)
{
	struct watch_options wo = {.how = s->o->how,
				   .tick = tick,
				   .user = s,
				   .quiet = s->o->quiet,
				   .command = in->command,
				   .no_exec = s->o->no_exec,
				   .recorded = s->o->recorded};
	struct watch w;
	struct err err = {0};
	if (!in->command) {
		wo.model = in->v[first];
		wo.operand = in->v + first + 1;
		wo.n_operand = in->n - first - 1;
	}
	set_wants(s, &wo, want);
	if (watch_run(&w, &wo, &err) < 0) {
		s->err = err;
		return (int)err.status;
	}
	drain_calls(s, &w);
	if (!in->command && child_signalled())
		return end_early(s, &w);
	session_flush(s);
	if (s->folder && calls_unsaved(&w.calls) && !s->err.text[0]) {
		errno = calls_unsaved(&w.calls);
		err_errno(&s->err, EXIT_ENVIRON, "cannot write tensors into '%s/'", s->called ? s->called : s->folder);
	}
	s->seen += calls_unlogged(&w.calls);
	say_end(s, &w);
	if (s->end)
		s->end(s, &w);
	if (w.guard) {
		guard_show(&s->screen, w.guard, "aoti-printer: ");
		s->found += guard_found(w.guard);
	}
	session_flush(s);
	temp_folder_remove(s->cleanup);
	s->cleanup = NULL;
	int status =
	    s->err.text[0] ? (int)s->err.status : ima_status(buf_slice(&w.device), watch_status(&w, s->found, s->o->error_exitcode));
	if (!s->err.text[0] && !s->stay)
		return watch_end(&w, status);
	watch_release(&w);
	return status;
}
