/* remedies.c - what would make it faster, and by how much: measured where this run has the number, else an estimate that says how it was
 * reckoned. What a finding knows already (caches, recompiles, graph breaks) is taken from it.
 */
#include "slow/slow.h"

#include "base/text.h"

#include <stdlib.h>

#define LEAST_SHARE 0.01 /* of the run's compile time */
enum { BLOCKS_TOLD = 3, FINDINGS_TOLD = 6 };

static struct slow_remedy *remedy(struct slow *s, const char *id, double saves)
{
	struct slow_remedy *r = &PUSH(s, remedy);
	*r = (struct slow_remedy){.id = id, .saves = saves};
	return r;
}

static bool is_worth(const struct slow *s, double seconds) { return seconds > 0 && seconds >= LEAST_SHARE * s->seconds; }

/* "1.25 s" in the arena. */
static struct slice seconds_text(struct slow *s, double seconds)
{
	LOCAL_BUF b = {0};
	put_seconds(&b, seconds);
	return arena_slice(&s->arena, buf_slice(&b));
}

/* ---- what repeats ---- */

/* "h" of "h.0 ... h.5"; empty: the blocks are not in a list. */
static struct slice list_of(struct slice name)
{
	size_t n = 0;
	for (size_t i = 0; i < name.n && name.p[i] != ' '; i++)
		n = name.p[i] == '.' ? i : n;
	return n && is_digit(name.p[n + 1]) ? slice_of(name.p, n) : slice_of(NULL, 0);
}

static bool same_block(const struct slow_block *a, const struct slow_block *b)
{
	return a->nodes == b->nodes && a->copies == b->copies && a->of == b->of && slice_eq(a->name, b->name) &&
	       slice_eq(a->where, b->where);
}

/* In all compilations of the same graph. */
static void block(struct slow *s, uint32_t i)
{
	const struct slow_block *b = &s->block[i];
	const uint32_t again = b->nodes * (b->copies - 1);
	const struct slice list = list_of(b->name), place = b->name.n ? b->name : b->where;
	double grows = 0;
	uint32_t in = 0;
	for (uint32_t k = 0; k < s->n_block; k++) {
		if (!same_block(b, &s->block[k]))
			continue;
		if (k < i) /* one remedy for all */
			return;
		grows += s->grows[s->block[k].compile];
		in++;
	}
	const double saves = grows * again / b->of;
	if (!is_worth(s, saves))
		return;
	struct slow_remedy *r = remedy(s, "block", saves);
	r->what =
	    slow_textf(s, "Compile the repeated block once: %.*s (%u equal pieces of %u nodes)", SLN(place, 120), b->copies, b->nodes);
	r->how = slow_textf(s,
			    "estimate: %u of the graph's %u nodes repeat; what grows with the graph took %.*s in %u compilation%s. Equal "
			    "kernels are built once already, so their time stays.",
			    again, b->of, SL(seconds_text(s, grows)), in, plural(in));
	r->steps =
	    slow_textf(s,
		       "for block in model.%.*s: block.compile()    # instead of torch.compile(model): the first one's code serves all\n"
		       "@torch.compiler.nested_compile_region on the block's forward    # one graph, the block traced once (torch 2.8)",
		       SLN(list.n ? list : SLICE("blocks"), 80));
}

static void blocks(struct slow *s)
{
	for (uint32_t i = 0; i < s->n_block && s->n_remedy < BLOCKS_TOLD; i++)
		block(s, i);
}

/* Two of a frame whose recompile says why: it has a remedy of its own. */
static bool is_recompile(const struct slow *s, const struct slow_twins *t)
{
	const struct facts *f = s->x->facts;
	for (uint32_t i = 0; t->n == 2 && i < f->n_recompile; i++)
		if (f->recompile[i].compile == s->twin_row[t->first + 1])
			return true;
	return false;
}

static void twins(struct slow *s)
{
	for (uint32_t i = 0, told = 0; i < s->n_twins && told < BLOCKS_TOLD; i++) {
		const struct slow_twins *t = &s->twins[i];
		const double saves = t->seconds * (t->n - 1) / t->n;
		const struct fact_compile *c = &s->x->facts->compile[s->twin_row[t->first]];
		if (!is_worth(s, saves) || is_recompile(s, t))
			continue;
		told++;
		LOCAL_BUF where = {0};
		explain_add_place(&where, s->x, &c->loc);
		struct slow_remedy *r = remedy(s, "equal-graphs", saves);
		r->what =
		    slow_textf(s, "Compile one of %u equal graphs (%u node%s): %s", t->n, t->nodes, plural(t->nodes), buf_str(&where));
		r->how = slow_textf(s, "measured: all but one of these compilations; they took %.*s", SL(seconds_text(s, t->seconds)));
		const struct fact_compile *last = &s->x->facts->compile[s->twin_row[t->first + t->n - 1]];
		if (last->generation != c->generation)
			r->steps = SLICE("torch._dynamo.reset() throws away what is compiled: do not call it between calls.");
		else
			r->steps = SLICE(
			    "Remove what the guards see as different: a number on the module, its name, its index (see the recompiles).\n"
			    "Define the function once, outside of the loop, and pass what differs as an argument.");
	}
}

/* ---- caches ---- */

/* What a hit leaves: tracing and guards. */
static double cached_saves(const struct slow *s)
{
	double saves = s->seconds - s->part[PART_DYNAMO_TIME] - s->part[PART_GUARDS_TIME] - s->part[PART_CACHE_TIME] -
		       s->part[PART_IMPORT_TIME] - s->part[PART_GC_TIME] - s->part[PART_OTHER_TIME];
	return saves > 0 ? saves : 0;
}

static void cache(struct slow *s)
{
	const struct facts *f = s->x->facts;
	uint32_t hits = 0, misses = 0, first = NONE;
	double missed = 0;
	for (uint32_t i = 0, last = NONE; i < f->n_cache; i++) {
		const struct fact_cache *c = &f->cache[i];
		hits += c->what == FACT_HIT;
		if (c->what != FACT_MISS || c->kind != FACT_CACHE_FX)
			continue;
		misses++;
		first = first == NONE ? i : first;
		missed +=
		    c->compile != NONE && c->compile != last && f->compile[c->compile].seconds > 0 ? f->compile[c->compile].seconds : 0;
		last = c->compile;
	}
	const double all = cached_saves(s), saves = hits && missed < all ? missed : all;
	if (!misses || !is_worth(s, saves))
		return;
	struct slow_remedy *r = remedy(s, "cache", saves);
	const uint32_t file = f->input[f->cache[first].src.input].file;
	r->what = hits ? slow_textf(s, "Keep the compile cache: %u graph%s not found in it", misses, misses == 1 ? " was" : "s were")
		       : slow_textf(s, "Keep the compile cache: it was empty, or for another torch or other settings (%u miss%s)", misses,
				    misses == 1 ? "" : "es");
	r->how = SLICE("estimate, in the next process: everything but tracing and guards");
	r->steps = SLICE("export TORCHINDUCTOR_CACHE_DIR=/a/persistent/disk    # default: /tmp/torchinductor_USER, lost with a container\n"
			 "torch.compiler.save_cache_artifacts() at the end, load_cache_artifacts(bytes) at the start of the next job");
	if (file != NONE) {
		LOCAL_BUF word = {0};
		FREED char *path = xstrndup(facts_text(f, file).p, facts_text(f, file).n);
		buf_add_word(&word, path);
		r->next = slow_textf(s, "pt2 cache \"${TORCHINDUCTOR_CACHE_DIR:-/tmp/torchinductor_$USER}\" --trace=%s", buf_str(&word));
	}
}

/* ---- the compilers ---- */

static void compiler(struct slow *s)
{
	const struct slow_builds *b = &s->build;
	const double setup = b->header + b->probe;
	if (b->threads == 1 && b->kernels > 1) {
		const uint32_t n = b->kernels < 4 ? b->kernels : 4;
		struct slow_remedy *r = remedy(s, "threads", b->wall * (n - 1) / n);
		r->what = slow_textf(s, "Build kernels in parallel: %u were built one after the other", b->kernels);
		r->how = slow_textf(s, "estimate for %u CPUs: they took %.*s", n, SL(seconds_text(s, b->kernel)));
		r->steps = SLICE("unset TORCHINDUCTOR_COMPILE_THREADS    # it is 1; by default there is one for each CPU, up to 32");
	}
	if (is_worth(s, setup)) {
		LOCAL_BUF of = {0};
		if (b->header > 0)
			buf_addf(&of, "the header %.*s", SL(seconds_text(s, b->header)));
		if (b->probe > 0)
			buf_addf(&of, "%swhich vector instructions work %.*s", of.len ? ", " : "", SL(seconds_text(s, b->probe)));
		struct slow_remedy *r = remedy(s, "compiler-setup", setup);
		r->what = slow_textf(s, "Keep what the C++ compiler finds out once for a machine: %s", buf_str(&of));
		r->how = SLICE("measured, in the next process");
		r->steps =
		    SLICE("Keep /tmp/torchinductor_USER/precompiled_headers (the header is there, wherever the cache is) and the cache.");
	}
}

static void autotune(struct slow *s)
{
	const double t = s->part[PART_AUTOTUNE_TIME];
	if (!is_worth(s, t))
		return;
	struct slow_remedy *r = remedy(s, "autotune", t);
	r->what = SLICE("Tune less: candidate kernels are compiled and measured");
	r->how = SLICE("measured: all of it, with mode=\"default\"");
	r->steps = SLICE("Use mode=\"default\" instead of \"max-autotune\" while you develop.\n"
			 "Keep TORCHINDUCTOR_CACHE_DIR on a persistent disk: it holds the choices.\n"
			 "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS=ATEN,TRITON    # fewer candidates");
}

/* ---- a backward that nobody asked for ---- */

static double phase_of_compile(const struct facts *f, uint32_t compile, const char *name)
{
	for (uint32_t i = 0; i < f->n_phase; i++)
		if (f->phase[i].compile == compile && slice_is(facts_text(f, f->phase[i].name), name))
			return f->phase[i].seconds;
	return 0;
}

static void backward(struct slow *s)
{
	const struct facts *f = s->x->facts;
	double joint = 0, partition = 0;
	for (uint32_t i = 0; i < f->n_compile; i++)
		if (f->compile[i].backward > 0 || f->compile[i].autograd >= 0) /* there is one, perhaps of compiled autograd */
			return;
	for (uint32_t i = 0; i < f->n_graph; i++) {
		const uint32_t c = f->graph[i].compile;
		if (c == NONE || !slice_is(facts_text(f, f->graph[i].name), "aot_joint_graph"))
			continue;
		if (f->compile[c].inductor <= 0) /* other backends do not tell of a backward */
			continue;
		joint += phase_of_compile(f, c, "aot_trace_joint_graph");
		partition += phase_of_compile(f, c, "min_cut_rematerialization_partition");
	}
	if (!is_worth(s, joint / 2 + partition))
		return;
	struct slow_remedy *r = remedy(s, "no-grad", joint / 2 + partition);
	r->what = SLICE("Call it under torch.no_grad(): a backward was traced, and none was compiled in this run");
	r->how = slow_textf(s, "estimate: half of tracing forward and backward together (%.*s), and all of parting them (%.*s)",
			    SL(seconds_text(s, joint)), SL(seconds_text(s, partition)));
	r->steps = SLICE("with torch.no_grad(): model(x)    # or torch.inference_mode(); for inference only");
}

/* ---- what findings know ---- */

static const char *id_of(const struct finding *g)
{
	return g->kind == FINDING_CACHE ? "cache-bypass" : g->kind == FINDING_BREAK ? "graph-break" : "recompile";
}

static bool is_told(const struct finding *g)
{
	if (g->into != NONE || g->seconds <= 0)
		return false;
	return g->kind == FINDING_RECOMPILE || g->kind == FINDING_LIMIT || g->kind == FINDING_BREAK ||
	       (g->kind == FINDING_CACHE && slice_starts(g->id, "cache-bypass"));
}

static void findings(struct slow *s)
{
	const struct explanation *x = s->x;
	unsigned n = 0;
	for (uint32_t i = 0; i < x->n_finding && n < FINDINGS_TOLD; i++) {
		const struct finding *g = &x->finding[i];
		if (!is_told(g) || !is_worth(s, g->seconds))
			continue;
		LOCAL_BUF title = {0};
		explain_add_title(&title, g, 120);
		n++;
		struct slow_remedy *r = remedy(s, id_of(g), g->seconds);
		r->what = arena_slice(&s->arena, buf_slice(&title));
		r->how =
		    g->kind == FINDING_CACHE ? SLICE("estimate, in the next process: all of Inductor's time in these compilations")
		    : g->kind == FINDING_BREAK
			? SLICE("measured: compiling what comes behind the break; without it, that is part of the larger graph, so this "
				"is the most")
			: SLICE("measured: the time of the recompiles; a dynamic size needs one of them");
		r->steps = g->fix.n ? g->fix : g->hint;
	}
}

static int saves_most(const void *a, const void *b)
{
	const struct slow_remedy *x = a, *y = b;
	return x->saves != y->saves ? (x->saves < y->saves) - (x->saves > y->saves) : strcmp(x->id, y->id);
}

void slow_remedies(struct slow *s)
{
	blocks(s);
	twins(s);
	cache(s);
	compiler(s);
	autotune(s);
	backward(s);
	findings(s);
	if (s->n_remedy)
		qsort(s->remedy, s->n_remedy, sizeof(*s->remedy), saves_most);
}
