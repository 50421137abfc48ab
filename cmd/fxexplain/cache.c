/* cache.c - `fxexplain cache`: what a compile cache holds, what a run would find in it, and what can be deleted. */
#include "cache_view.h"

#include "base/tool/diag.h"

static bool has_bad(const struct cachedir *d)
{
	for (unsigned k = 0; k < CACHE_KIND_COUNT; k++)
		if (d->sum[k].bad)
			return true;
	return false;
}

static void check(const struct explain_options *opt, const struct operands *in)
{
	if (opt->html || opt->sarif || opt->github)
		die(EXIT_USAGE, "cache only writes text or --json: --html, --sarif and --github do not apply");
	if (opt->trace.n && in->n > 1)
		die(EXIT_USAGE, "give a second folder or --trace, not both");
	if ((opt->apply || opt->older) && !opt->prune)
		die(EXIT_USAGE, "%s needs --prune\nTry 'fxexplain cache -h'", opt->apply ? "--apply" : "--older-than");
	if (opt->prune && in->n > 1)
		die(EXIT_USAGE, "--prune takes a single folder");
}

int cache_main(const struct explain_options *opt, const struct operands *in)
{
	struct cache_view v = {.n = 0};
	struct err err;
	unsigned lost = 0;
	check(opt, in);
	for (int i = 0; i < in->n; i++, v.n++)
		if (cachedir_read(&v.dir[i], in->v[i], &err) < 0)
			die_err(&err);
	if (opt->trace.n) {
		facts_init(&v.facts);
		if (load_operands(&v.facts, NULL, opt, opt->trace.v, (int)opt->trace.n, &lost, &err) < 0)
			die_err(&err);
		v.has_facts = true;
		asked_of_trace(&v.asked, &v.dir[0], &v.facts);
	} else if (v.n > 1) {
		asked_of_dir(&v.asked, &v.dir[0], &v.dir[1]);
	}
	if (opt->prune) {
		v.pruned = true;
		prune_plan(&v.prune, &v.dir[0], opt->older);
		if (opt->apply) {
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
	return status;
}
