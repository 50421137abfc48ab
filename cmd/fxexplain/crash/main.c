/* main.c - `fxexplain crash`: takes texts, core files and packages in any order; says what crashed, in terms of the model. */
#include "crash/machine.h"
#include "crash/crash_part.h"

#include "base/tool/diag.h"
#include "crash/backtrace.h"
#include "crash/core.h"
#include "crash/operand.h"
#include "crash/unwind.h"
#include "base/io/mapfile.h"

#include <unistd.h>

struct given {
	struct mapfile *text, *core;
	size_t n_texts, n_cores, n_packages;
	const char *core_name;
};

static void open_all(struct given *g, struct crash_answer *a, const struct explain_options *opt, const struct operands *in)
{
	struct err err;
	g->text = xcalloc((size_t)in->n + 1, sizeof(*g->text));
	g->core = xcalloc((size_t)in->n + 1, sizeof(*g->core));
	for (int i = 0; i < in->n; i++) {
		const char *path = in->v[i];
		enum operand_kind kind = operand_kind(path);
		if (kind == OPERAND_PACKAGE || kind == OPERAND_DIR || kind == OPERAND_DEBUGDIR) {
			if (crashmap_package(&a->map, path, opt->model, &err) < 0)
				die_err(&err);
			g->n_packages++;
		} else if (kind == OPERAND_CORE) {
			if (g->n_cores)
				die(EXIT_USAGE, "give only one core file");
			g->core_name = path;
			if (mapfile_open(&g->core[g->n_cores++], path, &err) < 0)
				die_err(&err);
		} else if (kind == OPERAND_PROFILE) {
			die(EXIT_USAGE, "'%s' is a profile, which has nothing about a crash", path);
		} else if (mapfile_open(&g->text[g->n_texts++], path, &err) < 0) {
			die_err(&err);
		}
	}
	if (!g->n_texts && !g->n_cores)
		die(EXIT_USAGE, "crash needs a text with a backtrace (or - for standard input) or a core file, and the model's package");
}

/* Libraries in the core that belong to one of the packages: their paths may no longer exist. */
static void unwind(struct crash_answer *a, struct slice core)
{
	FREED struct unwind_module *m = xcalloc(a->map.n + 1, sizeof(*m));
	struct err err;
	size_t n = 0;
	for (uint32_t i = 0; i < a->crash.n_maps && n < a->map.n; i++) {
		const struct crash_map *map = &a->crash.map[i];
		struct crash_library *l = map->path.n && !map->offset ? crashmap_library(&a->map, map->path, map->build_id) : NULL;
		if (l && l->so_bytes.n)
			m[n++] = (struct unwind_module){map->path, l->so_bytes};
	}
	if (unwind_core(&a->crash, core, m, n, &a->missing, &err) < 0)
		a->unwinding = arena_slice(&a->crash.arena, slice_str(err.text));
}

static void write_answer(const struct crash_answer *a, const struct explain_options *opt)
{
	struct screen s = explain_screen(opt->output);
	if (opt->json)
		crash_json(&s.b, a);
	else
		crash_show(&s, a, opt->all);
	explain_write(&s, opt->output);
}

static int crash_main(struct operands *in)
{
	const struct explain_options *opt = &explain_opt;
	struct crash_answer a = {0};
	struct given g = {0};
	struct err err;
	explain_begin(true, "crash only writes text or --json");
	operands_keep_pipes(in);
	open_all(&g, &a, opt, in);
	if (g.n_cores && core_read(&a.crash, g.core[0].bytes, g.core_name, &err) < 0)
		die_err(&err);
	if (g.n_cores)
		unwind(&a, g.core[0].bytes);
	for (size_t i = 0; i < g.n_texts; i++)
		crash_read_text(&a.crash, g.text[i].bytes);
	if (g.n_cores)
		machine_abort_message(&a.crash, g.core[0].bytes);
	crashmap_join(&a.map, &a.crash);
	crash_judge(&a.verdict, &a.crash, &a.map);
	crash_operand(&a.crash, &a.map, &a.operand);
	write_answer(&a, opt);
	int status = a.verdict.kind == KIND_NONE ? EXIT_FINE : EXIT_FOUND;
	crash_verdict_release(&a.verdict);
	crashmap_release(&a.map);
	crash_release(&a.crash);
	for (size_t i = 0; i < g.n_texts; i++)
		mapfile_close(&g.text[i]);
	for (size_t i = 0; i < g.n_cores; i++)
		mapfile_close(&g.core[i]);
	free(g.text);
	free(g.core);
	return status;
}

const struct opt_command crash_command = {
    .name = "crash",
    .summary = "map a backtrace or core file to lines, kernels and nodes",
    .about = "Which line, kernel and node of the model crashed?",
    .example = {{"crash.txt crash.pt2", "explain a backtrace"},
		{"--json crash.txt crash.pt2", "write one JSON document"},
		{"-o where.txt crash.txt crash.pt2", "write to a file"}},
    .operands = "INPUT...",
    .footer = "INPUT: a backtrace (text) or a core file, and the packages of the models.",
    .min = 1,
    .max = -1,
    .run = crash_main,
};
