/* record.c - --record: keeps the model or graph and the inputs of a bad run in a folder that can be run again (watch/bundle.h), or, if the
 * name ends in .pt2b, in one file (run/bundle/bundle.h) that contains this folder. With --graph, of any run of that graph: numbers can be
 * wrong without a NaN. */
#include "base/tool/diag.h"
#include "base/tool/tempfolder.h"
#include "run/bundle/bundle.h"
#include "watch/bundle.h"
#include "printer.h"
#include "base/text.h"

#include <dirent.h>
#include <inttypes.h>
#include <unistd.h>

struct recording {
	struct session s;
	struct output *out;      /* a folder; NULL: */
	struct bundle_writer *w; /* a file, */
	char *folder;            /* with the contents of this folder */
	struct buf what;         /* the first that was bad */
	bool model, graph;       /* which kinds were seen */
};

static void record_call(struct session *s, const struct watch_call *c)
{
	struct recording *k = s->user;
	*(c->model && c->model->text ? &k->graph : &k->model) = true;
	if (k->what.len || c->begin.what == CALL_RUN_BEGIN)
		return;
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct call_record *r = &c->value[i].rec;
		if (r->v.before || !(r->v.stats.nan || r->v.stats.pos_inf || r->v.stats.neg_inf))
			continue;
		buf_addf(&k->what, "run %u, call %u: ", c->begin.run, c->begin.call);
		add_watched_name(&k->what, c);
		buf_addf(&k->what, " wrote %" PRIu64 " NaN and %" PRIu64 " infinities", r->v.stats.nan,
			 r->v.stats.pos_inf + r->v.stats.neg_inf);
		return;
	}
}

static uint64_t count_in(DIR *d)
{
	uint64_t n = 0;
	for (struct dirent *e; d && (e = readdir(d));)
		n += !strncmp(e->d_name, "bundle.", 7);
	if (d)
		closedir(d);
	return n;
}

static uint64_t count_bundles(int fd)
{
	int copy = dup(fd);
	DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
	if (!d && copy >= 0)
		close(copy);
	return count_in(d);
}

/* The file: the folder, and the first finding. */
static int write_file(struct recording *k, struct err *err)
{
	const struct slice title = buf_slice(&k->what);
	const struct bundle_finding finding = {SLICE("numbers"), SLICE("nan"), SLICE("error"), title, title};
	const struct bundle_about about = {
	    .generator = SLICE("aoti-printer " PT2_VERSION), .title = title, .finding = &finding, .n_finding = title.n > 0};
	struct bundle_writer *w = k->w;
	k->w = NULL;
	if (bundle_add_folder(w, BUNDLE_RUN, "run/kept", k->folder, err) < 0) {
		bundle_abort(w);
		return -1;
	}
	return bundle_end(w, &about, err);
}

static void end_record(struct session *s, struct watch *w)
{
	struct recording *k = s->user;
	uint64_t n = k->out ? count_bundles(output_fd(k->out)) : count_in(opendir(k->folder));
	const char *to = s->o->record;
	(void)w;
	s->found = s->o->graph && !k->what.len ? 0 : n;
	if (!n) {
		if (!s->o->quiet && s->seen)
			note("%s: no %s: nothing was kept", diag_tool, s->o->graph ? "such run" : "bad run");
		return;
	}
	int r = k->out ? output_commit(k->out, &s->err) : write_file(k, &s->err);
	k->out = NULL;
	if (r < 0 || s->o->quiet)
		return;
	if (k->what.len)
		note("%s: %s", diag_tool, buf_str(&k->what));
	note("%s: kept the inputs of %" PRIu64 " %srun%s in %s: %s %s%s%s", diag_tool, n, s->o->graph ? "" : "bad ", plural(n), to,
	     k->folder ? "fxexplain replay" : "aoti-nanassert", to, k->graph && !k->folder ? "; for a graph: fxminify " : "",
	     k->graph && !k->folder ? to : "");
}

static bool is_record(int fd) { return count_bundles(fd) > 0; }

int run_record(const struct printer_options *given, const struct operands *in)
{
	struct printer_options o = *given;
	struct recording k = {0};
	struct err err = {0};
	char folder[512]; /* as in calls_config */
	if (slice_ends(slice_str(o.record), BUNDLE_SUFFIX)) {
		if (!(k.w = bundle_new(o.record, &err)) || !(k.folder = temp_folder(TEMP_PRINTER, &err)))
			die_err(&err);
		snprintf(folder, sizeof(folder), "%s", k.folder);
	} else if (!(k.out = output_dir(o.record, o.overwrite, is_record, &err)) || output_path(k.out, folder, sizeof(folder), &err) < 0) {
		die_err(&err);
	}
	o.inputs = o.constants = false;
	o.level = LEVEL_NAMES;
	if (o.graph && !o.step)
		o.step = "0"; /* of many equal ones the first */
	session_begin(&k.s, &o, record_call, end_record, &k);
	k.s.keep = true;
	k.s.folder = folder;
	k.s.called = o.record;
	int status = session_run(&k.s, in, 0, CALLS_NAMES | CALLS_BAD | CALLS_RECORD | (o.graph ? CALLS_ANY_RUN : 0));
	if (k.out)
		output_abort(k.out);
	bundle_abort(k.w);
	temp_folder_remove(k.folder);
	buf_release(&k.what);
	session_end(&k.s);
	return status;
}
