/* pt2 runs - the runs that are kept, and how they changed. */
#include "runs/runs.h"

#include "door/visit.h"

#include "base/text.h"
#include "base/tool/diag.h"
#include "base/tool/opt.h"
#include "base/tool/screen.h"

static struct {
	bool frames, prune;
	const char *html;
	int most;
} own = {.most = KEPT_RUNS};

static const struct opt runs_options[] = {
    OPT_FLAG('f', "frames", &own.frames, "compare the runs of one command, frame by frame",
	     .more = "That of the newest run, or of RUN. 4.21 s 2b 1r: compile time, graph breaks, recompiles."),
    OPT_STRING(0, "html", "[=FILE]", &own.html, "write the trend of each frame as one page"),
    OPT_FLAG(0, "prune", &own.prune, "remove all but the newest ones"),
    OPT_INT(0, "keep", "N", &own.most, 0, 100000, "keep N runs with --prune (default: 50)"),
    OPT_END,
};

static void prune(struct runs *r)
{
	struct kept_pruned done = {0};
	LOCAL_BUF size = {0};
	kept_prune(&r->list, (size_t)own.most, own.most ? KEPT_BYTES : 0, &done);
	put_bytes(&size, done.bytes);
	struct screen s = screen_make();
	buf_addf(&s.b, "removed %zu run%s, %s, from %s\n", done.runs, plural(done.runs), buf_str(&size), r->list.place);
	screen_end(&s);
}

static void write_page(struct runs *r, const struct kept_run *one)
{
	struct screen s = {0};
	struct err err = {.text = ""};
	const bool file = *own.html && strcmp(own.html, "-") != 0;
	runs_frames(r, one ? one->command : NULL);
	runs_page(r, &s.b);
	if ((file ? screen_save(&s, own.html, &err) : screen_flush(&s, &err)) < 0 && err.text[0])
		die_err(&err);
	buf_release(&s.b);
}

static int run_runs(struct operands *in)
{
	struct runs r = {0};
	struct err err;
	if (runs_read(&r, &err) < 0)
		die_err(&err);
	const struct kept_run *one = in->n ? kept_find(&r.list, in->v[0]) : NULL;
	if (in->n && !one)
		die(EXIT_INPUT, "no kept run is called '%s', or several are ('pt2 runs' lists them)", in->v[0]);
	if (own.prune) {
		prune(&r);
		runs_release(&r);
		return EXIT_FINE;
	}
	if (own.html) {
		write_page(&r, one);
		runs_release(&r);
		return EXIT_FINE;
	}
	if (own.frames || visit_format() == FORMAT_JSON)
		runs_frames(&r, one ? one->command : NULL);
	struct screen s = screen_make();
	LOCAL_BUF cells = {0};
	if (visit_format() == FORMAT_JSON) {
		runs_document(&r, &s.b);
	} else if (!r.n) {
		buf_addf(&s.b, "no runs in %s yet: pt2 -- python app.py keeps one\n", r.list.place);
	} else if (own.frames) {
		runs_show_frames(&r, &cells);
		put_table(&s, buf_slice(&cells));
	} else {
		runs_show(&r, &cells);
		put_table(&s, buf_slice(&cells));
		buf_adds(&s.b, r.n > 1 ? "\nnext  pt2 last\n      pt2 diff last~1 last\n      pt2 runs --html=runs.html\n"
				       : "\nnext  pt2 last\n");
	}
	screen_end(&s);
	runs_release(&r);
	return EXIT_FINE;
}

extern const struct opt_command runs_command;
const struct opt_command runs_command = {
    .name = "runs",
    .summary = "list the runs that are kept",
    .about = "Which runs are kept, and what changed between them?",
    .example = {{"", "list them with their figures"},
		{"--frames", "how each frame changed, run by run"},
		{"--prune --keep=10", "remove all but ten"}},
    .options = runs_options,
    .operands = "[RUN]",
    .footer = "RUN: last, last~1, or how its name begins. They are THINGs, too: pt2 slow last",
    .more =
	"pt2 -- COMMAND and fxexplain run keep each run: its traces, standard error and answer. They are in $XDG_STATE_HOME/pt2utils/runs.",
    .max = 1,
    .run = run_runs,
};
