/* diffrun.c - --diff: two folders, or a folder and a run of the model. */
#include "base/process/child.h"
#include "base/tool/diag.h"
#include "base/broker/broker.h"
#include "diff.h"
#include "base/tool/tempfolder.h"

#include <sys/stat.h>

static int read_both(struct diff *d, const char *first, const char *second, struct err *err)
{
	if (dump_open(&d->a, first, err) < 0 || dump_open(&d->b, second, err) < 0)
		return -1;
	for (int side = 0; side < 2; side++) {
		const struct dump *x = side ? &d->b : &d->a;
		if (x->cut)
			warn("'%s' is incomplete: only the calls before that are compared", d->name[side]);
		d->cut |= x->failed.n != 0;
		if (x->failed.n && !(side && d->live)) /* for the live run it was reported already */
			warn("'%s': %.*s", d->name[side], SL(x->failed));
		if (x->lost)
			warn("'%s' lost %llu log records", d->name[side], (unsigned long long)x->lost);
	}
	return 0;
}

static void set_tolerance(struct diff *d, const struct printer_options *o)
{
	d->how.given = o->rtol >= 0;
	d->how.rtol = o->rtol;
	d->how.atol = o->atol;
}

static void show_diff(const struct diff *d, struct session *s)
{
	if (s->o->json) {
		struct json_out o = {.b = &s->screen.b};
		diff_document(&o, d);
		buf_addc(&s->screen.b, '\n');
	} else if (!s->o->quiet) {
		diff_show(&s->screen, d, s->o->all);
	}
	session_flush(s);
}

/* A file: an exported program, or a text with a graph. */
static bool is_graph(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int run_diff_graph(const struct printer_options *o, const struct operands *in)
{
	struct session s;
	struct err err = {0};
	if (in->command)
		die(EXIT_USAGE, "--diff with a graph ('%s') needs a model or a dump, not a command", o->diff);
	if (o->html || o->how.runs)
		die(EXIT_USAGE, "--diff with a graph ('%s') compares one run, as text or JSON: no --repeat; for --html use aoti-verify",
		    o->diff);
	if (dump_like(in->v[0]) && in->n > 1)
		die(EXIT_USAGE, "'%s' is a directory of saved tensors with its own inputs: give no other inputs", in->v[0]);
	session_begin(&s, o, NULL, NULL, NULL);
	broker_seal(0);
	const int status = diff_graph(&s, in, &err);
	if (status < 0)
		die_err(&err);
	session_end(&s);
	return status == EXIT_FOUND && o->error_exitcode >= 0 ? o->error_exitcode : status;
}

int run_diff(const struct printer_options *given, const struct operands *in)
{
	struct printer_options o = *given;
	struct diff d = {0};
	struct session s;
	struct err err = {0};
	char *now = NULL;
	int status = EXIT_FINE; /* of the run */
	bool two = !in->command && in->n == 1 && dump_like(in->v[0]);
	if ((o.rtol >= 0) != (o.atol >= 0)) /* as assert_close: half a tolerance would surprise */
		die(EXIT_USAGE, "give both --rtol and --atol, or neither (the types then determine them)");
	if (is_graph(o.diff))
		return run_diff_graph(&o, in);
	if (!dump_like(o.diff))
		die(EXIT_INPUT, "'%s' is not a dump: it has no %s (make one with aoti-printer -o DIR)", o.diff, DUMP_INDEX);
	if (two && (o.how.model || o.how.torch || o.how.load.n || o.how.runs || o.how.timeout_s || o.how.weights))
		die(EXIT_USAGE, "--model, --weights, --torch, --repeat and --timeout apply to running a model, not to two dumps");
	o.inputs = o.constants = true; /* everything in a dump counts */
	o.level = LEVEL_SAVE;
	set_tolerance(&d, &o);
	session_begin(&s, &o, NULL, NULL, NULL);
	if (!in->command)
		broker_seal(0);
	d.name[0] = o.diff;
	d.name[1] = two ? in->v[0] : in->command ? in->command[0] : in->v[0];
	d.live = !two;
	if (!two && !(now = diff_run_now(&o, in, &status, &err)))
		die_err(&err);
	if (read_both(&d, o.diff, now ? now : in->v[0], &err) < 0 || diff_run(&d, &s.filter, &err) < 0 ||
	    (o.html && diff_page(&d, o.html, &err) < 0)) {
		temp_folder_remove(now);
		die_err(&err);
	}
	show_diff(&d, &s);
	bool different = d.different;
	if (d.cut && (!status || status == EXIT_INPUT)) /* cannot claim that they agree */
		status = different ? EXIT_FOUND : EXIT_INPUT;
	diff_release(&d);
	temp_folder_remove(now);
	session_end(&s);
	if (different && o.error_exitcode >= 0)
		return o.error_exitcode;
	return status ? status : different ? EXIT_FOUND : EXIT_FINE;
}
