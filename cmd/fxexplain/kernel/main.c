/* main.c - `fxexplain kernel`: finds a name in the kernel maps of the operands. */
#include "kernel/kernel_part.h"

#include "base/text.h"

#include "base/tool/diag.h"

#include <sys/stat.h>
#include <unistd.h>

/* ---- inputs ---- */

static int load_text(struct kernelmaps *k, const char *path, struct err *err)
{
	OWNED(mapfile_close) struct mapfile f = {0};
	if (mapfile_open(&f, path, err) < 0)
		return -1;
	bool code = kernelmaps_is_code(f.bytes) && strcmp(path, "-");
	return code ? kernelmaps_add_code(k, path, err) : kernelmaps_add_text(k, path, err);
}

/* A folder of traces or packages: lists its files, one level deep. */
static int load_dir(struct kernelmaps *k, const char *path, const char *model, struct err *err)
{
	uint32_t had = k->n_input;
	if (debugdir_probe(path))
		return kernelmaps_add_debugdir(k, path, err);
	kernelmaps_add_traces(k, path);
	return k->n_input > had ? 0 : kernelmaps_add_package(k, path, model, err);
}

static int load_operand(struct kernelmaps *k, const char *path, const char *model, struct err *err)
{
	struct stat st;
	if (strcmp(path, "-") && stat(path, &st) < 0)
		return err_errno(err, EXIT_INPUT, "'%s'", path);
	switch (operand_kind(path)) {
	case OPERAND_TRACE: return kernelmaps_add_trace(k, path, err);
	case OPERAND_DEBUGDIR: return debugdir_probe(path) ? kernelmaps_add_debugdir(k, path, err) : load_dir(k, path, model, err);
	case OPERAND_DIR: return load_dir(k, path, model, err);
	case OPERAND_PACKAGE: return kernelmaps_add_package(k, path, model, err);
	case OPERAND_TEXT: return load_text(k, path, err);
	default:
		return err_set(err, EXIT_INPUT,
			       "'%s': this kind of file has no generated code: give a debug folder, a trace, a package, or "
			       "output_code.py",
			       path);
	}
}

/* The first of several operands is a name, unless a file of that name exists. */
static bool is_name(const struct operands *in) { return in->n > 1 && strcmp(in->v[0], "-") && access(in->v[0], F_OK) < 0; }

/* ---- unknown names ---- */

struct names {
	struct slice *v;
	uint32_t n, cap;
	struct slice want;
	struct arena texts;
};

static void add_name(struct names *x, struct slice name)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (slice_eq(x->v[i], name))
			return;
	if (x->n >= 4096)
		return;
	PUSH_TO(x->v, x->n, x->cap) = name;
}

/* Edit distance of two names. */
static uint32_t distance(struct slice a, struct slice b)
{
	uint32_t row[128];
	if (a.n >= ARRAY_LEN(row) || b.n >= ARRAY_LEN(row))
		return NONE;
	for (uint32_t i = 0; i <= a.n; i++)
		row[i] = i;
	for (uint32_t k = 1; k <= b.n; k++) {
		uint32_t corner = row[0];
		row[0] = k;
		for (uint32_t i = 1; i <= a.n; i++) {
			uint32_t best = corner + (a.p[i - 1] != b.p[k - 1]);
			corner = row[i];
			best = row[i] + 1 < best ? row[i] + 1 : best;
			row[i] = row[i - 1] + 1 < best ? row[i - 1] + 1 : best;
		}
	}
	return row[a.n];
}

static uint32_t rank(struct slice want, struct slice name)
{
	bool within = false;
	for (size_t i = 0; i + want.n <= name.n && want.n; i++)
		within |= !memcmp(name.p + i, want.p, want.n);
	uint32_t d = distance(want, name);
	return within ? 0 : d == NONE ? 1000 : d;
}

static int by_rank(const void *a, const void *b, void *want)
{
	uint32_t x = rank(*(struct slice *)want, *(const struct slice *)a), y = rank(*(struct slice *)want, *(const struct slice *)b);
	return (x > y) - (x < y);
}

static bool is_place(const char *name)
{
	const char *colon = strrchr(name, ':');
	return colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

/* "m.py:12" of the program's lines. */
static void add_places(struct names *x, const struct kernelmap *m)
{
	char place[100];
	for (uint32_t i = 0; i < m->n_source; i++) {
		struct slice file = slice_base(m->source[i].file);
		snprintf(place, sizeof(place), "%.*s:%u", SLN(file, 80), m->source[i].line);
		if (file.n && m->source[i].line)
			add_name(x, arena_slice(&x->texts, slice_str(place)));
	}
}

_Noreturn static void unknown(const struct kernelmaps *k, const char *name)
{
	struct names x = {.want = slice_str(name)};
	struct buf b = {0};
	for (uint32_t i = 0; i < k->n; i++) {
		const struct kernelmap *m = k->map[i];
		if (is_place(name)) {
			add_places(&x, m);
			continue;
		}
		for (uint32_t u = 0; u < m->n_use; u++)
			add_name(&x, m->use[u].name);
		for (uint32_t n = 0; n < m->n_node; n++)
			if (m->node[n].compute)
				add_name(&x, m->node[n].name);
		for (uint32_t n = 0; m->ir && n < m->ir->n_node; n++)
			add_name(&x, m->ir->node[n].name);
	}
	if (x.n)
		qsort_r(x.v, x.n, sizeof(*x.v), by_rank, &x.want);
	for (uint32_t i = 0; i < x.n && i < 12; i++)
		buf_addf(&b, "%s%.*s", i ? ", " : "", SLN(x.v[i], 80));
	if (x.n > 12)
		buf_addf(&b, " and %u more (without a name, all kernels are listed)", x.n - 12);
	die(EXIT_USAGE, "no kernel, FX node, IR node or FILE:LINE named '%s'; available: %s", name, x.n ? buf_str(&b) : "none");
}

/* ---- all of it ---- */

static uint32_t find_name(const struct kernelmaps *k, const char *name, struct kernel_hit *hit)
{
	FREED struct kmhit *here = xcalloc(KERNEL_HITS, sizeof(*here));
	uint32_t n = 0;
	for (uint32_t i = 0; i < k->n; i++) {
		uint32_t found = kernelmap_find(k->map[i], slice_str(name), here, KERNEL_HITS);
		for (uint32_t j = 0; j < found && n < KERNEL_HITS; j++)
			hit[n++] = (struct kernel_hit){i, here[j]};
	}
	return n;
}

static int kernel_main(struct operands *in)
{
	const struct explain_options *opt = &explain_opt;
	OWNED(kernelmaps_release) struct kernelmaps k = {0};
	struct err err = {.text = ""}, earlier = err;
	unsigned lost = 0;
	explain_begin(true, "kernel only writes text or --json");
	operands_keep_pipes(in);
	struct screen s = explain_screen(opt->output);
	const char *name = is_name(in) ? in->v[0] : NULL;
	for (int i = name ? 1 : 0; i < in->n; i++)
		if (load_operand(&k, in->v[i], opt->model, &err) < 0) {
			if (lost++)
				warn("%s", earlier.text);
			earlier = err;
		}
	kernelmaps_build(&k);
	if (!k.n && lost)
		die_err(&err);
	if (lost)
		warn("%s", err.text);
	if (!k.n && !k.n_text)
		die(EXIT_INPUT, "no generated code in the inputs");

	struct kmlocation *error = xcalloc(k.n_text + 1, sizeof(*error));
	uint32_t n_errors = 0;
	for (uint32_t i = 0; i < k.n_text; i++)
		n_errors += kernelmap_locate(k.map, k.n, k.text[i], &error[n_errors]);
	if (!k.n && !n_errors)
		die(EXIT_INPUT, "no generated code and no compiler error in the inputs: add the debug folder, the trace or the package");
	struct kernel_hit *hit = xcalloc(KERNEL_HITS, sizeof(*hit));
	uint32_t n_hits = name ? find_name(&k, name, hit) : 0;
	if (name && !n_hits) {
		free(error);
		free(hit);
		unknown(&k, name);
	}
	if (opt->json) {
		kernel_json(&s.b, &k, name ? hit : NULL, n_hits, error, n_errors);
	} else {
		for (uint32_t i = 0; i < n_errors; i++)
			show_error(&s, &k, &error[i]);
		if (!name && k.n)
			show_table(&s, &k);
		for (uint32_t i = 0; i < n_hits; i++)
			show_hit(&s, &k, hit[i]);
		put_wraps(&s, 0, 8);
	}
	explain_write(&s, opt->output);
	free(error);
	free(hit);
	return lost ? EXIT_INPUT : EXIT_FINE;
}

const struct opt_command kernel_command = {
    .name = "kernel",
    .summary = "map a kernel to its IR, FX nodes and Python lines",
    .about = "Which FX nodes and Python lines did this kernel come from?",
    .example = {{"torch_compile_debug/", "list all kernels"},
		{"buf0 torch_compile_debug/", "explain the kernel of buf0"},
		{"model.pt2", "list the kernels of a package"}},
    .operands = "[NAME] INPUT...",
    .footer = "NAME: a kernel, an FX node, an IR node (buf3), or FILE:LINE of the program.\n"
	      "INPUT: a trace, torch_compile_debug, a package, output_code.py, or a g++ error.",
    .more = "Without NAME, all kernels are listed. The line of a compiler's error is mapped to the program.",
    .min = 1,
    .max = -1,
    .run = kernel_main,
};
