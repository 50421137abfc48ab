/* main.c - `fxexplain profile`: one torch.profiler trace, or two of one program, optionally with the trace log of the compiled
 * run. */
#include "profile/profile_view.h"

#include "base/tool/diag.h"

/* Inputs without generated code add nothing. */
static void add_maps(struct profile_view *v, const char *path, enum operand_kind kind)
{
	struct err err;
	if (kind == OPERAND_TRACE) {
		kernelmaps_add_trace(&v->maps, path, &err);
	} else if (kind == OPERAND_DEBUGDIR) {
		kernelmaps_add_debugdir(&v->maps, path, &err);
	} else if (kind == OPERAND_PACKAGE) {
		if (kernelmaps_add_package(&v->maps, path, NULL, &err) < 0)
			die_err(&err);
	} else {
		kernelmaps_add_traces(&v->maps, path);
	}
}

/* At most two profiles; other inputs describe the compilation. */
static void sort_operands(const struct operands *in, struct profile_view *v, const char **logs, int *n_logs)
{
	for (int i = 0; i < in->n; i++) {
		const enum operand_kind k = strcmp(in->v[i], "-") ? operand_kind(in->v[i]) : OPERAND_PROFILE;
		const bool log = k == OPERAND_TRACE || k == OPERAND_DIR || k == OPERAND_DEBUGDIR;
		if (log)
			logs[(*n_logs)++] = in->v[i];
		if (log || k == OPERAND_PACKAGE)
			add_maps(v, in->v[i], k);
		else if (v->n < 2)
			v->path[v->n++] = in->v[i];
		else
			die(EXIT_USAGE, "'%s' is a third profile: give at most two, eager and compiled", in->v[i]);
	}
	if (!v->n)
		die(EXIT_USAGE, "no profile given: profile needs a file written by prof.export_chrome_trace()");
}

static bool read_profiles(struct profile_view *v, bool quiet)
{
	struct err err;
	bool whole = true;
	for (unsigned i = 0; i < v->n; i++) {
		if (profile_read(&v->profile[i], v->path[i], &err) < 0)
			die_err(&err);
		struct slice rest = buf_slice(&v->profile[i].damage), line;
		for (; slice_line(&rest, &line); whole = false)
			if (!quiet)
				warn("'%s': %.*s", v->path[i], SL(line));
	}
	return whole;
}

static void make_view(struct profile_view *v)
{
	profile_compare(&v->c, &v->profile[0], v->n > 1 ? &v->profile[1] : NULL);
	v->shown = v->c.side[1];
	for (unsigned k = 0; k < 2; k++)
		v->side_path[k] = v->path[v->c.side[k] == &v->profile[0] ? 0 : 1];
	profile_advise(&v->advice, v->shown);
}

static int profile_main(struct operands *in)
{
	const struct explain_options *opt = &explain_opt;
	struct profile_view v = {0};
	struct err err;
	unsigned lost = 0;
	int n_logs = 0;
	explain_begin(true, "profile only writes text or --json: --html, --sarif and --github do not apply");
	operands_keep_pipes(in);
	FREED const char **logs = xcalloc((size_t)in->n + 1, sizeof(*logs));
	sort_operands(in, &v, logs, &n_logs);
	bool whole = read_profiles(&v, opt->quiet);
	make_view(&v);
	if (n_logs) {
		facts_init(&v.facts);
		if (load_operands(&v.facts, NULL, opt, logs, n_logs, &lost, &err) < 0)
			die_err(&err);
		v.has_facts = true;
	}
	kernelmaps_build(&v.maps);
	struct screen s = explain_screen(opt->output);
	if (opt->json)
		profile_json(&s.b, &v);
	else
		profile_terminal(&s, &v, opt);
	explain_write(&s, opt->output);
	if (v.has_facts)
		facts_release(&v.facts);
	kernelmaps_release(&v.maps);
	profile_advices_release(&v.advice);
	profile_compare_release(&v.c);
	for (unsigned i = 0; i < v.n; i++)
		profile_release(&v.profile[i]);
	return whole && !lost ? EXIT_FINE : EXIT_INPUT;
}

const struct opt_command profile_command = {
    .name = "profile",
    .summary = "compare torch.profiler traces, eager against compiled",
    .about = "Where did the time go, eager against compiled?",
    .example = {{"compiled.json", "show where the time went"},
		{"eager.json compiled.json", "compare the two"},
		{"--json eager.json compiled.json", "write one JSON document"}},
    .operands = "PROFILE...",
    .footer = "PROFILE: what prof.export_chrome_trace() wrote; eager and compiled, any order.",
    .more = "With a trace, a debug directory or a package besides, kernels are shown with their nodes and lines.",
    .min = 1,
    .max = -1,
    .run = profile_main,
};
