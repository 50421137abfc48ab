/* kernels.c - what was compiled outside of Python: kernels, and the runs of the C++ compiler. */
#include "slow/slow.h"

#include "base/text.h"
#include "run/metrics.h"

#include <stdlib.h>

enum { PLACES = 3 };
#define PRECOMPILES 3.0 /* times the time that preprocessing takes */

/* ---- runs of the C++ compiler ---- */

enum build_kind { BUILD_KERNEL, BUILD_HEADER, BUILD_PROBE, BUILD_PACKAGE };

static bool is_load(struct slice within) { return slice_starts(within, "PyCodeCache.") || slice_starts(within, "async_compile"); }
/* AOTInductor's own: wrapper, kernels, weights, and linking them. */
static bool is_package(struct slice within)
{
	return slice_starts(within, "AotCodeCompiler") || slice_starts(within, "GraphLowering.compile_to_fn");
}

/* Without threads, kernels are built where the code is loaded, after the header: it is preprocessed in each process (for its hash), and
 * then precompiled unless it is there (torch/_inductor/codecache.py, _precompile_header). What runs while code is generated asks the
 * compiler which vector instructions work here (torch/_inductor/cpu_vec_isa.py). kernels: how many were built for this input, if all
 * were. */
static void classify(const struct facts *f, uint32_t input, uint32_t kernels, enum build_kind *kind)
{
	const bool threads = f->input[input].config.compile_threads > 1;
	uint32_t loads = 0, seen = 0;
	for (uint32_t i = 0; i < f->n_build; i++)
		loads += f->build[i].src.input == input && !f->build[i].threaded && is_load(facts_text(f, f->build[i].within));
	const uint32_t headers = threads ? loads : loads > kernels + 1 ? 2 : loads > kernels;
	for (uint32_t i = 0; i < f->n_build; i++) {
		const struct fact_build *b = &f->build[i];
		if (b->src.input != input)
			continue;
		if (b->threaded)
			kind[i] = BUILD_KERNEL;
		else if (slice_is(facts_text(f, b->within), "aoti_precompile_header"))
			kind[i] = BUILD_HEADER;
		else if (is_package(facts_text(f, b->within)))
			kind[i] = BUILD_PACKAGE;
		else if (!is_load(facts_text(f, b->within)))
			kind[i] = BUILD_PROBE;
		else
			kind[i] = seen++ < headers ? BUILD_HEADER : BUILD_KERNEL;
	}
}

struct edge {
	double at;
	int by;
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : x->by - y->by;
}

/* How long at least one runs, and how many at once, of one input. */
static void add_overlap(struct slow_builds *to, struct edge *e, uint32_t n)
{
	int open = 0;
	double since = 0;
	if (n)
		qsort(e, n, sizeof(*e), by_time);
	for (uint32_t i = 0; i < n; i++) {
		since = open ? since : e[i].at;
		open += e[i].by;
		to->most = open > 0 && (uint32_t)open > to->most ? (uint32_t)open : to->most;
		to->wall += open ? 0 : e[i].at - since;
	}
}

static void add_builds(struct slow *s, enum build_kind *kind)
{
	const struct facts *f = s->x->facts;
	struct slow_builds *to = &s->build;
	FREED struct edge *e = xcalloc(2 * (size_t)f->n_build + 1, sizeof(*e));
	to->threads = -1;
	for (uint32_t in = 0; in < f->n_input; in++) {
		uint32_t n = 0;
		to->threads = to->threads < 0 ? f->input[in].config.compile_threads : to->threads;
		for (uint32_t i = 0; i < f->n_build; i++) {
			const struct fact_build *b = &f->build[i];
			if (b->src.input != in || kind[i] != BUILD_KERNEL)
				continue;
			e[n++] = (struct edge){b->start, 1};
			e[n++] = (struct edge){b->start + b->seconds, -1};
		}
		add_overlap(to, e, n);
	}
	to->n = f->n_build;
	double shortest = 1e9; /* preprocessing takes a fraction of precompiling */
	for (uint32_t i = 0; i < f->n_build; i++)
		shortest = kind[i] == BUILD_HEADER && f->build[i].seconds < shortest ? f->build[i].seconds : shortest;
	for (uint32_t i = 0; i < f->n_build; i++) {
		const double seconds = f->build[i].seconds;
		to->kernels += kind[i] == BUILD_KERNEL;
		if (kind[i] == BUILD_HEADER)
			*(seconds > PRECOMPILES * shortest ? &to->header : &to->preprocess) += seconds;
		else
			*(kind[i] == BUILD_PROBE ? &to->probe : kind[i] == BUILD_PACKAGE ? &to->package : &to->kernel) += seconds;
	}
}

/* ---- kernels in the code ---- */

static const char *const languages[] = {
#define X(id, method, word) word,
    OUTLANGS(X)
#undef X
};

static uint32_t lines_of(struct slice text)
{
	uint32_t n = 0;
	for (struct slice line; slice_line(&text, &line);)
		n++;
	return n;
}

/* The lines of the program that its first call computes. */
static struct slice places_of(struct slow *s, const struct kernelmap *m, uint32_t kernel)
{
	LOCAL_BUF b = {0};
	for (uint32_t u = 0; u < m->n_use; u++) {
		const struct kmuse *use = &m->use[u];
		if (use->kernel != kernel || use->nth)
			continue;
		for (uint32_t i = 0; i < use->source.n && i < PLACES; i++) {
			const struct srcloc *at = &m->source[m->item[use->source.first + i]];
			buf_addf(&b, "%s%.*s:%u", i ? ", " : "", SLN(slice_base(at->file), 60), at->line);
		}
		if (use->source.n > PLACES)
			buf_adds(&b, ", ...");
	}
	return arena_slice(&s->arena, buf_slice(&b));
}

/* A text that was compiled before in this process is not compiled again: its first line has the name. */
static bool is_new_text(struct intern *texts, struct slice text)
{
	struct slice line;
	slice_line(&text, &line);
	const uint32_t had = texts->n;
	return intern_add(texts, text) == had;
}

/* The C++ kernels among them, in the order in which they are built. */
static uint32_t *add_kernels(struct slow *s, const struct kernelmaps *maps, struct intern *texts, uint32_t *n_built)
{
	uint32_t *built = NULL, n = 0, cap = 0; /* rows of kernel */
	for (uint32_t i = 0; i < maps->n; i++) {
		const struct kernelmap *m = maps->map[i];
		for (uint32_t k = 0; k < m->code.n_kernel; k++) {
			const struct outkernel *o = &m->code.kernel[k];
			if (o->lang == OUT_CPP && !m->in.cached && is_new_text(texts, o->text))
				PUSH_TO(built, n, cap) = s->n_kernel;
			PUSH(s, kernel) = (struct slow_kernel){.name = o->name,
							       .where = places_of(s, m, k),
							       .compile = m->in.folder,
							       .lang = languages[o->lang],
							       .lines = lines_of(o->text),
							       .seconds = -1};
		}
	}
	*n_built = n;
	return built;
}

struct build_at {
	double start, seconds;
};

static int by_start(const void *a, const void *b)
{
	const struct build_at *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

/* The k-th run of the compiler for kernels belongs to the k-th kernel; only where there are as many. */
static void give_times(struct slow *s, uint32_t input, const enum build_kind *kind, const uint32_t *row, uint32_t n)
{
	const struct facts *f = s->x->facts;
	FREED struct build_at *at = xcalloc(f->n_build + 1u, sizeof(*at));
	uint32_t builds = 0;
	for (uint32_t i = 0; i < f->n_build; i++)
		if (kind[i] == BUILD_KERNEL && f->build[i].src.input == input)
			at[builds++] = (struct build_at){f->build[i].start, f->build[i].seconds};
	if (!n || builds != n)
		return;
	qsort(at, builds, sizeof(*at), by_start);
	for (uint32_t i = 0; i < n; i++)
		s->kernel[row[i]].seconds = at[i].seconds;
}

/* ---- Triton kernels, by name: measured ---- */

static struct slow_kernel *kernel_named(struct slow *s, struct slice name)
{
	for (uint32_t i = 0; i < s->n_kernel; i++)
		if (slice_eq(s->kernel[i].name, name))
			return &s->kernel[i];
	struct slow_kernel *k = &PUSH(s, kernel);
	*k = (struct slow_kernel){.name = name, .lang = "Triton", .seconds = -1};
	return k;
}

/* "[[\"triton_poi_fused_add_0\", 84723], ...]", a text within a text. */
static void add_triton(struct slow *s, struct slice v)
{
	for (size_t i = 0; i < v.n;) {
		size_t end = i;
		while (end < v.n && is_name_char(v.p[end]))
			end++;
		if (end == i || !is_name_start(v.p[i])) {
			i = end + (end == i);
			continue;
		}
		const struct slice name = slice_of(v.p + i, end - i);
		while (end < v.n && !is_digit(v.p[end]) && v.p[end] != ']')
			end++;
		uint64_t us = 0;
		const size_t number = end;
		while (end < v.n && is_digit(v.p[end]) && us < UINT64_MAX / 20)
			us = us * 10 + (uint64_t)(v.p[end++] - '0');
		if (end > number) {
			struct slow_kernel *k = kernel_named(s, name);
			k->seconds = (k->seconds > 0 ? k->seconds : 0) + (double)us / 1e6;
			k->measured = true;
		}
		i = end;
	}
}

static int longest_kernel(const void *a, const void *b)
{
	const struct slow_kernel *x = a, *y = b;
	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? 1 : -1;
	return x->lines != y->lines ? (x->lines < y->lines) - (x->lines > y->lines) : slice_cmp(x->name, y->name);
}

static void of_input(struct slow *s, uint32_t input, enum build_kind *kind)
{
	const struct facts *f = s->x->facts;
	OWNED(intern_release) struct intern texts = {0};
	FREED uint32_t *row = NULL;
	struct err err;
	uint32_t n = 0;
	if (f->input[input].kind == FACT_TRACE && f->input[input].file != NONE) {
		const struct slice file = facts_text(f, f->input[input].file);
		FREED char *path = xstrndup(file.p, file.n);
		if (kernelmaps_add_trace(&s->maps[input], path, &err) == 0) { /* else there is no code in it */
			kernelmaps_build(&s->maps[input]);
			row = add_kernels(s, &s->maps[input], &texts, &n);
		}
	}
	classify(f, input, n, kind);
	uint32_t built = 0;
	for (uint32_t i = 0; i < f->n_build; i++)
		built += f->build[i].src.input == input && kind[i] == BUILD_KERNEL;
	s->build.elsewhere += built < n ? n - built : 0;
	give_times(s, input, kind, row, n);
}

void slow_kernels(struct slow *s)
{
	const struct facts *f = s->x->facts;
	FREED enum build_kind *kind = xcalloc(f->n_build + 1u, sizeof(*kind));
	for (uint32_t i = 0; i < f->n_input; i++)
		of_input(s, i, kind);
	add_builds(s, kind);
	for (uint32_t i = 0; i < f->n_metric; i++)
		if (f->metric[i].known == METRIC_triton_kernel_compile_times_us)
			add_triton(s, facts_text(f, f->metric[i].value));
	if (s->n_kernel)
		qsort(s->kernel, s->n_kernel, sizeof(*s->kernel), longest_kernel);
}
