/* main.c - `fxexplain cache`: what a compile cache holds, what a run would find in it, and what can be deleted. */
#include "cache/cache_view.h"

#include "base/tool/diag.h"

static struct {
	struct opt_list trace; /* --trace LOG */
	bool prune, apply;
	int older; /* --older-than DAYS; 0: any age */
} own;

static const struct opt options[] = {
    OPT_LIST(0, "trace", "LOG", &own.trace, "explain what a new run would find in DIR",
	     .more = "And why not the rest. LOG is a trace of the program; may be given again."),
    OPT_FLAG(0, "prune", &own.prune, "list what can be removed", .more = "What is broken, or left by writes that were interrupted."),
    OPT_INT(0, "older-than", "DAYS", &own.older, 1, 36500, "list entries and code of that age, too (--prune)"),
    OPT_FLAG(0, "apply", &own.apply, "remove what --prune lists"),
    OPT_END,
};

static bool has_bad(const struct cachedir *d)
{
	for (unsigned k = 0; k < CACHE_KIND_COUNT; k++)
		if (d->sum[k].bad)
			return true;
	return false;
}

static void check(const struct operands *in)
{
	if (own.trace.n && in->n > 1)
		die(EXIT_USAGE, "give a second folder or --trace, not both");
	if ((own.apply || own.older) && !own.prune)
		die(EXIT_USAGE, "%s needs --prune\nTry 'fxexplain cache -h'", own.apply ? "--apply" : "--older-than");
	if (own.prune && in->n > 1)
		die(EXIT_USAGE, "--prune takes a single folder");
}

static int cache_main(struct operands *in)
{
	struct explain_options *opt = &explain_opt;
	struct cache_view v = {.n = 0};
	struct err err;
	unsigned lost = 0;
	explain_begin(false, "cache only writes text or --json: --html, --sarif and --github do not apply");
	check(in);
	opt->keys = own.trace.n > 0;
	for (int i = 0; i < in->n; i++, v.n++)
		if (cachedir_read(&v.dir[i], in->v[i], &err) < 0)
			die_err(&err);
	if (own.trace.n) {
		facts_init(&v.facts);
		if (load_operands(&v.facts, NULL, opt, own.trace.v, (int)own.trace.n, &lost, &err) < 0)
			die_err(&err);
		v.has_facts = true;
		asked_of_trace(&v.asked, &v.dir[0], &v.facts);
	} else if (v.n > 1) {
		asked_of_dir(&v.asked, &v.dir[0], &v.dir[1]);
	}
	if (own.prune) {
		v.pruned = true;
		prune_plan(&v.prune, &v.dir[0], own.older);
		if (own.apply) {
			v.applied = true;
			prune_apply(&v.prune, &v.dir[0]);
		}
	}
	struct screen s = explain_screen(opt->output);
	if (opt->json)
		cache_json(&s.b, &v);
	else
		cache_terminal(&s, &v, opt);
	explain_write(&s, opt->output);
	if (v.prune.failed)
		warn("%s", v.prune.err.text);
	bool unread = v.dir[0].unread || v.dir[0].closed || v.dir[0].more, found = has_bad(&v.dir[0]) && !v.applied;
	for (unsigned k = 0; k < ASKED_VERDICTS; k++)
		found |= k != ASKED_HIT && k != ASKED_UNREAD && v.asked.count[k];
	int status = v.prune.failed ? EXIT_ENVIRON : lost ? EXIT_INPUT : found ? EXIT_FOUND : unread ? EXIT_PARTIAL : EXIT_FINE;
	asked_release(&v.asked);
	prune_release(&v.prune);
	if (v.has_facts)
		facts_release(&v.facts);
	for (unsigned i = 0; i < v.n; i++)
		cachedir_release(&v.dir[i]);
	opt_list_release(&own.trace);
	return status;
}

const struct opt_command cache_command = {
    .name = "cache",
    .summary = "inspect compile caches: what is in them, what a run would hit",
    .about = "What is in this compile cache, and what will the next run find there?",
    .example = {{"cache", "show what is in it"},
		{"cache --trace cold.log", "explain what a new run would find"},
		{"cache --prune", "list what can be removed"}},
    .options = options,
    .operands = "DIR [DIR]",
    .footer = "DIR: TORCHINDUCTOR_CACHE_DIR (/tmp/torchinductor_USER), or a vLLM cache.",
    .more =
	"A second directory is compared with the first: what the first lacks, and which keys differ. Nothing is executed, and nothing is "
	"removed without --apply.",
    .min = 1,
    .max = 2,
    .run = cache_main,
};
