/* --record: the model and the inputs of a run that went wrong, in a folder that can be run again (calls/bundle.h). */
#include "tool/diag.h"
#include "calls/bundle.h"
#include "printer.h"
#include "base/text.h"

#include <dirent.h>
#include <inttypes.h>
#include <unistd.h>

struct recording {
	struct session s;
	struct output *out;
	struct buf what; /* the first that was bad */
};

static void record_call(struct session *s, const struct watch_call *c)
{
	struct recording *k = s->user;
	if (k->what.len || c->begin.what == CALL_RUN_BEGIN)
		return;
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct call_record *r = &c->value[i].rec;
		if (r->v.before || !(r->v.stats.nan || r->v.stats.pos_inf || r->v.stats.neg_inf))
			continue;
		buf_addf(&k->what, "run %u, call %u: ", c->begin.run, c->begin.call);
		add_call_name(&k->what, c->name, watch_text(c), c->contract ? c->contract->line : 0,
			      c->contract ? c->contract->nodes : SLICE(""));
		buf_addf(&k->what, " wrote %" PRIu64 " NaN and %" PRIu64 " infinities", r->v.stats.nan,
			 r->v.stats.pos_inf + r->v.stats.neg_inf);
		return;
	}
}

static uint64_t count_bundles(int fd)
{
	uint64_t n = 0;
	int copy = dup(fd);
	DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
	if (!d && copy >= 0)
		close(copy);
	for (struct dirent *e; d && (e = readdir(d));)
		n += !strncmp(e->d_name, "bundle.", 7);
	if (d)
		closedir(d);
	return n;
}

static void end(struct session *s, struct watch *w)
{
	struct recording *k = s->user;
	uint64_t n = count_bundles(output_fd(k->out));
	(void)w;
	s->found = n;
	if (!n) {
		if (!s->o->quiet && s->seen)
			note("%s: no run went wrong: nothing is kept", diag_tool);
		return;
	}
	int r = output_commit(k->out, &s->err);
	k->out = NULL;
	if (r < 0 || s->o->quiet)
		return;
	if (k->what.len)
		note("%s: %s", diag_tool, buf_str(&k->what));
	note("%s: the inputs of %" PRIu64 " run%s that went wrong are in %s: aoti-nanassert %s", diag_tool, n, plural(n), s->o->record,
	     s->o->record);
}

static bool is_record(int fd) { return count_bundles(fd) > 0; }

int run_record(const struct printer_options *given, const struct operands *in)
{
	struct printer_options o = *given;
	struct recording k = {0};
	struct err err = {0};
	char folder[512]; /* as in calls_config */
	if (!(k.out = output_dir(o.record, o.overwrite, is_record, &err)) || output_path(k.out, folder, sizeof(folder), &err) < 0)
		die_err(&err);
	o.inputs = o.constants = false;
	o.level = LEVEL_NAMES;
	session_begin(&k.s, &o);
	k.s.take = record_call;
	k.s.end = end;
	k.s.user = &k;
	k.s.keep = true;
	k.s.folder = folder;
	k.s.called = o.record;
	int status = session_run(&k.s, in, 0, CALLS_NAMES | CALLS_BAD | CALLS_RECORD);
	err = k.s.err;
	if (k.out)
		output_abort(k.out);
	buf_release(&k.what);
	session_release(&k.s);
	if (err.text[0])
		die_err(&err);
	return status;
}
