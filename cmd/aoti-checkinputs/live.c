/* live.c - watches a command: checks every call of every model in it against its contract. */
#include "base/tool/diag.h"
#include "base/tool/screen.h"
#include "checkinputs.h"
#include "base/tool/output.h"
#include "watch/live.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct watch {
	struct checkinputs_options o;
	int log; /* -1: standard error */
	bool log_failed;
	struct buf unread; /* for each model whose code was not fully understood: "; in /x/model.so 5 checks were not understood" */
};

static void show_text(struct watch *w, struct screen *text)
{
	struct err err;
	int fd = w->log < 0 ? STDERR_FILENO : w->log;
	if (w->log_failed || screen_write(text, fd, w->o.log ? w->o.log : "standard error", &err) == 0)
		return;
	w->log_failed = true;
	if (w->log >= 0)
		warn("%s", err.text);
}

static void on_event(void *user, const struct live_event *ev)
{
	struct watch *w = user;
	bool finding = ev->kind == LIVE_CALL_MISMATCH || ev->kind == LIVE_NO_CONTRACT || ev->kind == LIVE_STEPPED_ASIDE;
	if (w->o.quiet || (!finding && !w->o.log))
		return;
	struct screen s = {0};
	buf_addf(&s.b, "%s: ", diag_tool);
	live_event_text(ev, &s.b);
	buf_addc(&s.b, '\n');
	show_text(w, &s);
	buf_release(&s.b);
}

static int on_contract(void *user, const char *so_path, pid_t pid, struct buf *json, struct err *err)
{
	struct watch *w = user;
	struct loaded l;
	(void)pid;
	if (load_model(&l, so_path, load_how(&w->o), err) < 0)
		return -1;
	struct json_out out = {.b = json};
	contract_to_json(&l.contract, &out);
	if (l.contract.n_unread) {
		buf_addf(&w->unread, "; in %s ", so_path);
		contract_unread_text(&l.contract, &w->unread);
		buf_adds(&w->unread, " understood");
	}
	loaded_release(&l);
	return 0;
}

static void summary(struct watch *w, const struct live_result *r)
{
	struct screen s = {0};
	if (w->o.quiet)
		return;
	buf_addf(&s.b, "%s: ", diag_tool);
	if (!r->models || (!r->calls && !r->past)) {
		live_watched(r, &s.b);
	} else {
		buf_addf(&s.b, "%u model%s, %llu call%s, %llu did not fit", r->models, plural(r->models), (unsigned long long)r->calls,
			 plural(r->calls), (unsigned long long)r->mismatched);
		if (r->failed)
			buf_addf(&s.b, ", %llu stopped", (unsigned long long)r->failed);
		if (r->unchecked)
			buf_addf(&s.b, ", %llu not checked", (unsigned long long)r->unchecked);
		if (r->past) {
			buf_adds(&s.b, "; ");
			live_watched(r, &s.b);
		}
		buf_add_slice(&s.b, buf_slice(&w->unread));
	}
	buf_addc(&s.b, '\n');
	show_text(w, &s);
	buf_release(&s.b);
}

int run_live(char **command, const struct checkinputs_options *o)
{
	struct watch w = {.o = *o, .log = -1};
	struct live_options lo = {.contract = on_contract, .event = on_event, .user = &w, .fail = o->fail};
	struct live_result r;
	struct err err;
	w.o.model = NULL; /* a library in a process is a single model */
	w.o.probe = false;
	if (o->log && (w.log = open(o->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666)) < 0)
		die_errno(EXIT_ENVIRON, "cannot write '%s'", o->log);
	child_signals(CHILD_SIGNALS_FORWARD);
	if (live_run(&lo, command, &r, &err) < 0)
		die_err(&err);
	summary(&w, &r);
	if (w.log >= 0 && close(w.log) < 0)
		die_errno(EXIT_ENVIRON, "cannot write '%s'", o->log);
	int own = r.command.how == CHILD_EXITED ? r.command.status : -1;
	if (r.mismatched && o->error_exitcode >= 0)
		own = o->error_exitcode;
	else if (own == 0 && r.mismatched)
		own = EXIT_FOUND;
	else if (own == 0 && (!live_watched(&r, NULL) || r.unchecked == r.calls))
		own = EXIT_ENVIRON; /* nothing was checked: never a silent 0 */
	else if (own == 0 && (w.unread.len || r.unchecked))
		own = EXIT_PARTIAL;
	buf_release(&w.unread);
	if (own < 0)
		child_exit_like(&r.command);
	live_result_release(&r);
	return own;
}
