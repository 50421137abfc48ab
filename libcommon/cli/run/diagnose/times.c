/* times.c - where the compile time went: by phase, for the run and for each compile id, slowest first, and what to do about it.
 *
 * Phases are self times of dynamo_timed blocks (phases.h), so that they add up; what no block covers is "other". A log without such
 * events has only the phases in its metrics. A finding is reported only above the thresholds below: a small program that spends most of
 * its time in the C++ compiler is as it should be.
 */
#include "run/metrics.h"
#include "run/phases.h"
#include "run/diagnose/order.h"
#include "run/diagnose/times_part.h"
#include "base/text.h"

#define DOMINATES 0.5         /* a share of the run's compile time ... */
#define DOMINATES_SECONDS 5.0 /* ... and at least this long */
#define OVERHEAD 0.1          /* garbage collection, logging, abandoned attempts */
#define OVERHEAD_SECONDS 1.0
#define RECOMPILES 0.3        /* of the run's compile time */
#define GUARDS_SLOW_US 1000.0 /* one evaluation of the guards of a compiled function */

/* ---- sums ---- */

/* Of one compilation, or the run. */
struct sums {
	double part[TIME_PART_COUNT];
	double beside[TIME_PART_COUNT]; /* what ran in parallel with something that is counted */
	uint64_t calls[TIME_PART_COUNT];
};
struct phase_list {
	uint32_t *first; /* by row of facts.compile, the last is the run: of facts.phase, or NONE */
	uint32_t *next;
};

static double whole(const double part[TIME_PART_COUNT])
{
	double sum = 0;
	for (unsigned i = 0; i < TIME_PART_COUNT; i++)
		sum += part[i];
	return sum;
}

static void list_phases(const struct facts *f, struct phase_list *l)
{
	const uint32_t n = f->n_compile + 1;
	l->first = xreallocarray(NULL, n, sizeof(*l->first));
	l->next = xreallocarray(NULL, f->n_phase, sizeof(*l->next));
	memset(l->first, 255, n * sizeof(*l->first));
	for (uint32_t i = f->n_phase; i-- > 0;) { /* so that sums are added up in the order of the rows */
		uint32_t *head = &l->first[f->phase[i].compile == NONE ? f->n_compile : f->phase[i].compile];
		l->next[i] = *head;
		*head = i;
	}
}

static void add_up(const struct facts *f, const struct phase_list *l, uint32_t row, struct sums *s)
{
	*s = (struct sums){0};
	for (uint32_t i = l->first[row]; i != NONE; i = l->next[i]) {
		const struct fact_phase *p = &f->phase[i];
		enum time_part_kind part = phase_part(facts_text(f, p->name));
		s->part[part] += p->self;
		/* The compiler runs in threads; any other block inside itself is recursion. */
		if (part == PART_COMPILER_TIME && p->each > p->seconds)
			s->beside[part] += p->each - p->seconds;
		s->calls[part] += p->calls;
	}
}

/* With the frames of one function only (--function), the run is their sum. */
static void add_up_run(const struct explanation *x, const struct phase_list *l, struct sums *run, double *run_seconds)
{
	const struct facts *f = x->facts;
	double seconds = 0;
	*run_seconds = x->sum.compile_seconds;
	add_up(f, l, f->n_compile, run);
	if (whole(run->part) > 0)
		return;
	for (uint32_t i = 0; i < f->n_compile; i++) {
		struct sums one;
		seconds += f->compile[i].seconds > 0 ? f->compile[i].seconds : 0;
		if (l->first[i] == NONE)
			continue;
		add_up(f, l, i, &one);
		for (unsigned k = 0; k < TIME_PART_COUNT; k++) {
			run->part[k] += one.part[k];
			run->beside[k] += one.beside[k];
			run->calls[k] += one.calls[k];
		}
	}
	if (whole(run->part) > 0)
		*run_seconds = seconds;
}

/* ---- views ---- */

static int slowest_part(const void *a, const void *b)
{
	const struct time_part *p = a, *q = b;
	return p->seconds < q->seconds ? 1 : p->seconds > q->seconds ? -1 : 0;
}

static void add_part(struct explanation *x, struct slice name, double seconds, double beside, uint64_t calls)
{
	if (seconds <= 0)
		return;
	PUSH(x, part) = (struct time_part){name, seconds, seconds + beside, calls};
}

/* From metrics alone: coarser, and code generation includes the compilers. */
static void add_coarse(struct explanation *x, const struct fact_compile *c)
{
	add_part(x, SLICE("Dynamo tracing"), c->dynamo, 0, 0);
	add_part(x, SLICE("AOTAutograd"), c->aot, 0, 0);
	add_part(x, SLICE("Inductor"), c->inductor, 0, 0);
	add_part(x, SLICE("code generation, compile"), c->codegen, 0, 0);
	add_part(x, SLICE("backward"), c->backward, 0, 0);
}

static void add_view(struct explanation *x, const struct sums *s, uint32_t compile, double seconds)
{
	uint32_t first = x->n_part;
	double known = whole(s->part);
	if (seconds < known)
		seconds = known;
	if (seconds <= 0)
		return;
	if (known > 0) {
		for (unsigned i = 0; i < PART_OTHER_TIME; i++)
			add_part(x, slice_str(time_part_name[i]), s->part[i], s->beside[i], s->calls[i]);
	} else if (compile != NONE) {
		add_coarse(x, &x->facts->compile[compile]);
	} else {
		struct fact_compile all = {0};
		for (uint32_t i = 0; i < x->facts->n_compile; i++) {
			const struct fact_compile *c = &x->facts->compile[i];
			all.dynamo += c->dynamo > 0 ? c->dynamo : 0;
			all.aot += c->aot > 0 ? c->aot : 0;
			all.inductor += c->inductor > 0 ? c->inductor : 0;
			all.codegen += c->codegen > 0 ? c->codegen : 0;
			all.backward += c->backward > 0 ? c->backward : 0;
		}
		add_coarse(x, &all);
	}
	if (x->n_part > first)
		qsort(x->part + first, x->n_part - first, sizeof(*x->part), slowest_part);
	double explained = 0;
	for (uint32_t i = first; i < x->n_part; i++)
		explained += x->part[i].seconds;
	if (seconds - explained > 0.001)
		add_part(x, slice_str(time_part_name[PART_OTHER_TIME]), seconds - explained, 0, 0);
	PUSH(x, time) = (struct time_view){compile, seconds, first, x->n_part - first};
}

static int slowest_view(const void *a, const void *b)
{
	const struct time_view *p = a, *q = b;
	if (p->seconds != q->seconds)
		return p->seconds < q->seconds ? 1 : -1;
	return p->compile < q->compile ? -1 : p->compile > q->compile;
}

static void add_views(struct explanation *x, const struct phase_list *l, const struct sums *run, double run_seconds)
{
	const struct facts *f = x->facts;
	add_view(x, run, NONE, run_seconds);
	uint32_t from = x->n_time;
	for (uint32_t i = 0; i < f->n_compile; i++) {
		struct sums one;
		add_up(f, l, i, &one);
		add_view(x, &one, i, f->compile[i].seconds);
	}
	if (x->n_time > from)
		qsort(x->time + from, x->n_time - from, sizeof(*x->time), slowest_view);
}

/* ---- findings about time ---- */

struct run_time {
	double seconds;
	const double *part, *beside;
	const uint64_t *calls;
};

static struct finding *about_time(struct explanation *x, const char *id, double seconds)
{
	struct finding *g = explain_finding(x, FINDING_TIME, FINDING_NOTE);
	g->id = slice_str(id);
	g->seconds = seconds;
	g->count = 1;
	return g;
}

static bool dominates(const struct run_time *t, enum time_part_kind part)
{
	return t->part[part] >= DOMINATES_SECONDS && t->part[part] >= DOMINATES * t->seconds;
}

static double percent(const struct run_time *t, double seconds) { return t->seconds > 0 ? seconds / t->seconds * 100 : 0; }

/* The three longest blocks of a part, as evidence. */
static struct slice blocks_of(struct explanation *x, enum time_part_kind part)
{
	const struct facts *f = x->facts;
	LOCAL_BUF b = {0};
	uint32_t used[3], n = 0;
	while (n < ARRAY_LEN(used)) {
		uint32_t best = NONE;
		for (uint32_t i = 0; i < f->n_phase; i++) {
			const struct fact_phase *p = &f->phase[i];
			bool taken = p->compile != NONE || p->self <= 0 || phase_part(facts_text(f, p->name)) != part;
			for (uint32_t k = 0; k < n; k++)
				taken |= used[k] == i;
			if (!taken && (best == NONE || p->self > f->phase[best].self))
				best = i;
		}
		if (best == NONE)
			break;
		used[n++] = best;
		struct slice name = facts_text(f, f->phase[best].name);
		buf_addf(&b, "%s%.*s: %.3f s in %llu call%s", b.len ? "\n" : "", SL(name), f->phase[best].self,
			 (unsigned long long)f->phase[best].calls, plural(f->phase[best].calls));
	}
	return explain_keep(x, buf_slice(&b));
}

/* triton_compile_time_us is the time waited for any compiler; a name of Triton's tells which. */
static bool triton_used(const struct facts *f)
{
	bool metric = false, cpp = false, triton = false;
	for (uint32_t i = 0; i < f->n_metric; i++)
		metric |= f->metric[i].known == METRIC_triton_compile_time_us;
	for (uint32_t i = 0; i < f->n_phase; i++) {
		struct slice name = facts_text(f, f->phase[i].name);
		cpp |= slice_is(name, "compile_file");
		triton |= slice_find(name, "Autotuner") || slice_is(name, "reload_kernel_in_parent");
	}
	return metric && (triton || !cpp);
}

static int64_t config_of(const struct facts *f, size_t at)
{
	for (uint32_t i = 0; i < f->n_input; i++) {
		int64_t v = *(const int64_t *)(const void *)((const char *)&f->input[i].config + at);
		if (v >= 0)
			return v;
	}
	return -1;
}
#define CONFIG(f, field) config_of(f, offsetof(struct fact_config, field))

bool explain_aot_compiled(const struct facts *f)
{
	for (uint32_t i = 0; i < f->n_phase; i++)
		if (slice_is(facts_text(f, f->phase[i].name), "compile_fx_aot"))
			return true;
	return false;
}

static void compiler_time(struct explanation *x, const struct run_time *t)
{
	if (!dominates(t, PART_COMPILER_TIME))
		return;
	bool triton = triton_used(x->facts), alone = CONFIG(x->facts, compile_threads) == 1;
	struct finding *g = about_time(x, "time-compiler", t->part[PART_COMPILER_TIME]);
	g->title = explain_textf(x, "%s: %.1f s of %.1f s of compile time (%.0f %%)",
				 triton ? "Compiling Triton and C++ kernels" : "The C++ compiler", t->part[PART_COMPILER_TIME], t->seconds,
				 percent(t, t->part[PART_COMPILER_TIME]));
	g->why = SLICE("The kernels of each new graph are compiled by a separate compiler; the first C++ kernel also builds the "
		       "precompiled header.");
	g->evidence = blocks_of(x, PART_COMPILER_TIME);
	double threads = t->part[PART_COMPILER_TIME] + t->beside[PART_COMPILER_TIME];
	if (threads > t->part[PART_COMPILER_TIME] * 1.01)
		g->cost = explain_textf(x, "%.1f s of all threads together: kernels compile in parallel", threads);
	if (!x->sum.graphs && explain_aot_compiled(x->facts)) { /* no graph breaks, and the text of one program */
		g->why = SLICE(
		    "AOTInductor compiles and links a model's wrapper and kernels into a library; the first C++ kernel also builds the "
		    "precompiled header.");
		g->hint =
		    SLICE("Keep TORCHINDUCTOR_CACHE_DIR (default: /tmp/torchinductor_USER) on a persistent disk: it holds what is already "
			  "compiled.");
		return;
	}
	g->hint = explain_textf(
	    x,
	    "%sKeep TORCHINDUCTOR_CACHE_DIR (default: /tmp/torchinductor_USER) on a persistent disk: it holds what is "
	    "already compiled.\nAim for fewer and larger graphs: each graph break and each recompile calls the compiler again.",
	    alone ? "unset TORCHINDUCTOR_COMPILE_THREADS    # it is 1; without it kernels compile in parallel\n" : "");
}

static struct finding *takes_time(struct explanation *x, const struct run_time *t, const char *id, const char *what, double seconds,
				  const char *why, const char *hint)
{
	struct finding *g = about_time(x, id, seconds);
	g->title = explain_textf(x, "%s: %.1f s of %.1f s of compile time (%.0f %%)", what, seconds, t->seconds, percent(t, seconds));
	g->why = slice_str(why);
	g->hint = slice_str(hint);
	return g;
}

static void part_time(struct explanation *x, const struct run_time *t)
{
	static const struct {
		enum time_part_kind part;
		const char *id, *what, *why, *hint;
	} about[] = {
	    {PART_DYNAMO_TIME, "time-dynamo", "Tracing Python code",
	     "Dynamo interprets every line of the compiled code, with loops and modules unrolled.",
	     "Compile the repeated block instead of the whole model: model.layers[i].compile()\n"
	     "Put @torch.compiler.nested_compile_region on a repeated block: it is traced once.\n"
	     "Put @torch.compiler.disable on functions that need no compilation (logging, data loading)."},
	    {PART_GUARDS_TIME, "time-guards", "Building guards", "Every attribute and global that was read is guarded.",
	     "Read fewer attributes and globals in compiled code: each one is a guard."},
	    {PART_AOT_TIME, "time-aotautograd", "AOTAutograd", "The graph is traced again, operator by operator, with its backward.",
	     "Compile the repeated block instead of the whole model.\n"
	     "Use torch.no_grad() around what needs no gradient: then no backward is traced."},
	    {PART_PASSES_TIME, "time-passes", "Inductor's passes", "Every pass looks at the whole graph.",
	     "Compile the repeated block instead of the whole model.\nTORCH_LOGS=+inductor shows which pass is slow."},
	    {PART_LOWERING_TIME, "time-lowering", "Lowering", "Every operator is translated to Inductor's IR.",
	     "Compile the repeated block instead of the whole model."},
	    {PART_SCHEDULING_TIME, "time-scheduling", "Scheduling and fusion",
	     "Fusion looks at pairs of IR nodes: its time grows faster than the graph.",
	     "Compile the repeated block instead of the whole model.\n"
	     "torch._inductor.config.max_fusion_size = 16    # tries fewer pairs (default 64)"},
	    {PART_CODEGEN_TIME, "time-codegen", "Generating kernel code", "Inductor writes every kernel as text.",
	     "Compile the repeated block instead of the whole model."},
	    {PART_AUTOTUNE_TIME, "time-autotune", "Autotuning", "Candidate kernels are compiled and measured.",
	     "Keep TORCHINDUCTOR_CACHE_DIR on a persistent disk: it holds the choices.\n"
	     "Use mode=\"default\" instead of \"max-autotune\".\n"
	     "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS=ATEN,TRITON    # fewer candidates"},
	    {PART_CACHE_TIME, "time-cache", "Cache lookups", "Keys are hashes of the graph and of torch's own files.",
	     "Put TORCHINDUCTOR_CACHE_DIR on a local disk."},
	    {PART_CUDAGRAPH_TIME, "time-cudagraph", "Recording CUDA graphs", "Every input shape is recorded separately.",
	     "Use mode=\"max-autotune-no-cudagraphs\", or fewer input shapes."},
	};
	for (unsigned i = 0; i < ARRAY_LEN(about); i++) {
		if (!dominates(t, about[i].part))
			continue;
		struct finding *g = takes_time(x, t, about[i].id, about[i].what, t->part[about[i].part], about[i].why, about[i].hint);
		g->evidence = blocks_of(x, about[i].part);
	}
}

/* Sum of a metric over all records, 0 if there are none. */
static double metric_sum(const struct facts *f, enum metric_id id)
{
	double sum = 0;
	for (uint32_t i = 0; i < f->n_metric; i++) {
		char text[40];
		struct slice v = facts_text(f, f->metric[i].value);
		if (f->metric[i].known != id || v.n >= sizeof(text))
			continue;
		memcpy(text, v.p, v.n);
		text[v.n] = 0;
		double d = strtod(text, NULL);
		sum += d > 0 && d < 1e15 ? d : 0;
	}
	return sum;
}

static void overhead(struct explanation *x, const struct run_time *t, const char *id, const char *what, double seconds, const char *why,
		     const char *hint)
{
	if (seconds >= OVERHEAD_SECONDS && seconds >= OVERHEAD * t->seconds)
		takes_time(x, t, id, what, seconds, why, hint);
}

static void overheads(struct explanation *x, const struct run_time *t)
{
	double restarts = 0;
	for (uint32_t i = 0; i < x->facts->n_compile; i++) /* failed compilations took time, too */
		if (x->facts->compile[i].status != COMPILE_FAILED)
			restarts += x->facts->compile[i].restarts > 0 ? x->facts->compile[i].restarts : 0;
	overhead(x, t, "time-gc", "Garbage collection", t->part[PART_GC_TIME],
		 "Python's garbage collector runs after every compilation, over all objects.",
		 "torch._dynamo.config.run_gc_after_compile = False");
	overhead(x, t, "time-logging", "Writing this log", metric_sum(x->facts, METRIC_structured_logging_overhead_us) / 1e6,
		 "TORCH_TRACE writes every graph and event; compilation is that much faster without it.", "");
	/* Restarts for breaks are part of what each break costs. */
	if (!x->sum.graph_breaks)
		overhead(x, t, "time-restarts", "Restarted tracing", restarts,
			 "When a size turns out to be dynamic, Dynamo traces the frame again from the start.",
			 "torch._dynamo.mark_dynamic(x, 0)    # before the first call, for what is dynamic");
}

static void recompile_time(struct explanation *x, const struct run_time *t)
{
	const struct facts *f = x->facts;
	struct id_list ids = {.last = NONE};
	double seconds = 0;
	uint64_t n = 0;
	for (uint32_t i = 0; i < f->n_compile; i++)
		if (f->compile[i].compile > 0 && f->compile[i].seconds > 0) {
			seconds += f->compile[i].seconds;
			times_ids(&ids, f, i);
			n++;
		}
	struct slice list = times_ids_end(x, &ids);
	if (seconds < DOMINATES_SECONDS || seconds < RECOMPILES * t->seconds)
		return;
	struct finding *g = about_time(x, "time-recompiles", seconds);
	g->count = n;
	g->compiles = list;
	g->title = explain_textf(x, "%llu recompile%s: %.1f s of %.1f s of compile time (%.0f %%)", (unsigned long long)n, plural(n),
				 seconds, t->seconds, percent(t, seconds));
	g->why = SLICE("The same function was compiled again because a guard failed.");
	g->hint = SLICE("See the recompiles: what changed, and how to make it dynamic or constant.");
}

/* ---- guards at run time ---- */

static void guard_latency(struct explanation *x)
{
	const struct facts *f = x->facts;
	struct id_list ids = {.last = NONE};
	uint32_t worst = NONE, n = 0;
	double most = 0;
	for (uint32_t i = 0; i < f->n_compile; i++) {
		double us = guards_call_us(x, i);
		if (us < GUARDS_SLOW_US)
			continue;
		n++;
		times_ids(&ids, f, i);
		worst = us > most ? i : worst;
		most = us > most ? us : most;
	}
	struct slice list = times_ids_end(x, &ids);
	if (!n)
		return;
	const struct fact_compile *c = &f->compile[worst];
	struct slice name = c->loc.function != NONE ? facts_text(f, c->loc.function) : SLICE("a compiled frame");
	struct finding *g = explain_finding(x, FINDING_TIME, FINDING_NOTE); /* no log says how often it is called */
	g->id = SLICE("guard-latency");
	g->title = explain_textf(x, "Guards of %.*s take %.1f ms on every call", SL(name), most / 1000);
	g->loc = c->loc;
	g->compile = worst;
	g->src = c->src;
	g->count = n;
	g->compiles = list;
	g->cost = explain_textf(x, "%.1f ms per call, %lld guards", most / 1000, (long long)(c->guards > 0 ? c->guards : 0));
	g->why =
	    SLICE("From guard_latency_us in the metrics, measured right after compilation: the fastest guard in this log, times the number "
		  "of guards.");
	g->hint = SLICE("Read fewer attributes and globals in compiled code: each one is a guard.\n"
			"torch.compile(f, options={\"guard_filter_fn\": torch.compiler.skip_guard_on_inbuilt_nn_modules_unsafe})    # "
			"gives wrong results if modules do change");
}

void explain_times(struct explanation *x)
{
	struct phase_list l;
	struct sums run;
	double seconds;
	list_phases(x->facts, &l);
	add_up_run(x, &l, &run, &seconds);
	add_views(x, &l, &run, seconds);
	if (x->n_time && x->time[0].compile == NONE) {
		const struct run_time t = {x->time[0].seconds, run.part, run.beside, run.calls};
		compiler_time(x, &t);
		part_time(x, &t);
		overheads(x, &t);
		recompile_time(x, &t);
	}
	guard_latency(x);
	explain_caches(x);
	explain_cudagraphs(x);
	free(l.first);
	free(l.next);
}
