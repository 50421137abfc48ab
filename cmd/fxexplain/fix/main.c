/* main.c - `fxexplain fix`: prints the fixes as a diff, or makes them. */
#include "fix/fix_part.h"

#include "base/html/html.h"
#include "base/tool/diag.h"
#include "base/unified.h"

static struct {
	bool apply;
	const char *root, *only;
} own;

static const struct opt options[] = {
    OPT_FLAG(0, "apply", &own.apply, "change the files, and keep each one as FILE.orig"),
    OPT_STRING(0, "root", "DIR", &own.root, "look for the program's files below DIR",
	       .more = "The patch is relative to it. Default: the current directory."),
    OPT_STRING(0, "only", "TEXT", &own.only, "choose the fixes that contain TEXT", .more = "One of several for a finding."),
    OPT_END,
};

static void add_diff(struct buf *b, const struct fix_file *f, struct slice after)
{
	const size_t from = b->len;
	buf_add_slice(b, buf_slice(&f->said));
	unified_diff(b, f->name, f->map.bytes, after);
	FREED char *clean = xstrndup(b->p + from, b->len - from);
	clean_lines(clean, b->len - from);
	if (memcmp(clean, b->p + from, b->len - from)) {
		buf_cut(b, from);
		warn("'%s': the lines to change contain control characters: no diff", f->path);
	}
}

static void write_file(struct fix_file *f, struct slice after, struct buf *b)
{
	struct err err = {.text = ""};
	if (fix_write(f, after, &err) < 0)
		die_err(&err);
	buf_addf_clean(b, "%s: %u change%s; original kept as %s\n", f->path, f->source.n_change, f->source.n_change == 1 ? "" : "s",
		       f->kept);
}

static int fix_main(struct operands *in)
{
	const struct explain_options *opt = &explain_opt;
	struct fixing fix;
	struct err err = {.text = ""};
	struct stat st;
	unsigned lost = 0;
	explain_begin(false, "fix only writes a diff or --json");
	if (own.root && (stat(own.root, &st) < 0 || !S_ISDIR(st.st_mode)))
		die(EXIT_USAGE, "--root: '%s' is not a directory", own.root);
	if (fixing_begin(&fix, &(struct fixing){.opt = opt, .only = own.only, .files.root = own.root}, in->v, in->n, &lost, &err) < 0)
		die_err(&err);
	fixing_make(&fix);
	if (!fix.made && !fix.refused && !opt->quiet)
		note("no edit: no finding has a tested fix%s%s", own.only ? " that matches --only: " : "", own.only ? own.only : "");

	struct screen s = explain_screen(opt->output);
	LOCAL_BUF after = {0};
	for (uint32_t i = 0; i < fix.files.n; i++) {
		struct fix_file *one = fix.files.v[i];
		if (!one->path || !one->source.n_change)
			continue;
		buf_reset(&after);
		source_text(&one->source, &after);
		if (own.apply)
			write_file(one, buf_slice(&after), &s.b);
		else if (!opt->json)
			add_diff(&s.b, one, buf_slice(&after));
	}
	if (opt->json) {
		buf_reset(&s.b);
		fix_json(&s.b, &fix.x, fix.row, fix.n_row, own.apply);
	}
	explain_write(&s, opt->output);
	int status = lost ? EXIT_INPUT : fix.made || !fix.refused ? EXIT_FINE : EXIT_PARTIAL;
	fixing_end(&fix);
	return status;
}

const struct opt_command fix_command = {
    .name = "fix",
    .summary = "show one-line fixes as a patch, or apply them",
    .about = "Which lines of my program do I change, and how?",
    .example = {{"trace.log", "show the fixes as a patch"},
		{"--only capture_scalar trace.log", "choose one of them"},
		{"--apply trace.log", "change the files"}},
    .options = options,
    .operands = "INPUT...",
    .footer = "INPUT: as for fxexplain.",
    .min = 1,
    .max = -1,
    .run = fix_main,
};
