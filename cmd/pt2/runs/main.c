/* pt2 runs - the runs that are kept, and how they changed. */
#include "runs/export.h"

#include "door/visit.h"

#include "base/text.h"
#include "base/tool/diag.h"
#include "base/tool/opt.h"
#include "base/tool/screen.h"

static struct {
	bool frames, prune;
	const char *html, *dir;
	int most, tracker;
} own = {.most = KEPT_RUNS, .tracker = -1};

static const struct opt runs_options[] = {
    OPT_FLAG('f', "frames", &own.frames, "compare the runs of one command, frame by frame",
	     .more = "That of the newest run, or of RUN. 4.21 s 2b 1r: compile time, graph breaks, recompiles."),
    OPT_STRING(0, "html", "[=FILE]", &own.html, "write the trend of each frame as one page"),
    OPT_CHOICE(0, "export", "TRACKER", &own.tracker, tracker_name, "write them for an experiment tracker",
	       .more = "MLflow's file store, Weights & Biases' offline runs. Exporting again adds what is new."),
    OPT_STRING('o', "output", "DIR", &own.dir, "write to DIR (default: mlruns, wandb)", .rare = true, .more = "With --export."),
    OPT_FLAG(0, "prune", &own.prune, "remove all but the newest ones"),
    OPT_INT(0, "keep", "N", &own.most, 0, 100000, "keep N runs with --prune (default: 50)"),
    OPT_END,
};

static const struct opt_rule runs_rules[] = {
    {.one_of = "export html prune frames", .text = "--export, --html, --prune and --frames cannot be combined"},
    {.of = "output", .without = "export", .text = "--output requires --export"},
    {0},
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

/* All of them, or one. *written of them are new. */
static int write_all_runs(const struct runs *r, const struct kept_run *one, enum tracker t, const char *dir, size_t *written,
			  struct err *err)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct run_row *run = &r->v[i];
		if (run->kept->running || (one && run->kept != one))
			continue;
		const int done = t == TRACKER_MLFLOW ? export_mlflow(run, dir, err) : export_wandb(run, dir, err);
		if (done < 0)
			return -1;
		*written += (size_t)done;
	}
	return 0;
}

static void export_runs(const struct runs *r, const struct kept_run *one)
{
	struct err err;
	size_t n = 0;
	const char *dir = own.dir ? own.dir : tracker_folder[own.tracker];
	if (write_all_runs(r, one, (enum tracker)own.tracker, dir, &n, &err) < 0)
		die_err(&err);
	struct screen s = screen_make();
	buf_addf(&s.b, "wrote %zu run%s to ", n, plural(n));
	put_text(&s, slice_str(dir));
	LOCAL_BUF word = {0};
	buf_add_word(&word, dir);
	buf_addf(&s.b,
		 own.tracker == TRACKER_MLFLOW ? "\n\nnext  mlflow ui --backend-store-uri %s\n" : "\n\nnext  wandb sync %s/offline-run-*\n",
		 buf_str(&word));
	screen_end(&s);
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
	if (own.tracker >= 0) {
		export_runs(&r, one);
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
    .rules = runs_rules,
    .operands = "[RUN]",
    .footer = "RUN: last, last~1, or how its name begins. They are THINGs, too: pt2 slow last",
    .more =
	"pt2 -- COMMAND and fxexplain run keep each run: its traces, standard error and answer. They are in $XDG_STATE_HOME/pt2utils/runs.",
    .max = 1,
    .run = run_runs,
};
