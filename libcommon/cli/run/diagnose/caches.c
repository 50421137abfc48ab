/* caches.c - compile caches that were bypassed, cold or off, and skipped CUDA graphs: why, what it costs, what to do.
 *
 * The reasons are those of torch 2.13.0: torch/_inductor/codecache.py (BypassFxGraphCache),
 * torch/_functorch/_aot_autograd/autograd_cache.py (BypassAOTAutogradCache), torch/_inductor/cudagraph_utils.py. Only part of each text is
 * matched, so that other versions match, too.
 */
#include "run/diagnose/times_part.h"
#include "base/chain.h"
#include "base/text.h"

#define BYPASS_WARNS 5.0  /* seconds: a cheaper bypass is only a note */
#define COLD_SECONDS 10.0 /* seconds of compiling that a warm cache would have saved */
#define OFF_SECONDS 5.0
enum { FINDINGS_MAX = 500 }; /* a hostile log has a million reasons */

static const char *const cache_title[] = {"FX graph cache", "AOTAutograd cache", "FX graph cache (bundled)", "cache"};

struct advice {
	const char *text, *hint;
};

static const struct advice bypass_advice[] = {
    {"autograd_function_apply", "torch._functorch.config.autograd_cache_allow_custom_autograd_functions = True    # if it "
				"only reads its arguments\n"
				"Or make it a torch.library.custom_op with register_autograd."},
    {"HigherOrderOperator", "No setting makes this operator cacheable: compile the part that uses it as a separate function, so that the "
			    "rest is cached."},
    {"higher_order", "No setting makes this operator cacheable: compile the part that uses it as a separate function, so that the rest is "
		     "cached."},
    {"reezing", "torch._inductor.config.freezing = False    # frozen weights are part of the code, or accept the cost"},
    {"custom pass", "Make it a torch._inductor.custom_graph_pass.CustomGraphPass whose uuid() identifies its version."},
    {"uuid()", "Give it a uuid() that identifies its version, as torch's message says."},
    {"raw callable", "Wrap it in the class that torch's message names, with a uuid()."},
    {"cache_hash", "Give context_fn a cache_hash attribute that identifies its version."},
    {"mkldnn", "torch._inductor.config.freezing = False    # opaque mkldnn tensors cannot be stored"},
    {"pickle", "A value in the graph cannot be pickled: make it a tensor, a number or a module attribute of a plain type."},
    {"FX graph cache is not enabled", "export TORCHINDUCTOR_FX_GRAPH_CACHE=1    # the AOTAutograd cache needs it"},
    {"Unsupported call_function target", "Make it a torch.library.custom_op: only torch's own functions are known to be safe to cache."},
    {"Unsupported call_method", "Call the torch function instead of the method."},
    {"requires triton", "Update Triton."},
};

static const struct advice skip_advice[] = {
    {"mutated inputs", "Return the new value instead of changing the argument in place.\n"
		       "torch._dynamo.mark_static_address(x)    # for a buffer that is always the same tensor (a KV cache)\n"
		       "torch._inductor.config.triton.cudagraph_support_input_mutation = True"},
    {"cpu device", "Move the tensor to the GPU: x = x.to(\"cuda\"). Create scalars there, too: torch.full((), v, device=\"cuda\").\n"
		   "torch._inductor.config.graph_partition = True    # leaves out only the part on the CPU"},
    {"multiple devices", "Keep each compiled function on one GPU, and move its inputs there before the call."},
    {"dynamic shapes", "Pad or bucket the input to a few sizes, or mark the dim static.\n"
		       "torch._inductor.config.triton.cudagraph_skip_dynamic_graphs = False    # records a graph for each size"},
    {"incompatible op", "torch._inductor.config.graph_partition = True    # leaves out only this operator\nReplace the "
			"operator, or move it out of the compiled function."},
    {"complex memory overlap", "Pass x.contiguous(): an input that overlaps itself (expand, as_strided) cannot be copied back."},
    {"deterministic", "torch.use_deterministic_algorithms(False)    # if you do not need determinism here"},
    {"caching allocator", "unset PYTORCH_NO_CUDA_MEMORY_CACHING"},
    {"partition", "torch._inductor.config.cpp_wrapper = False    # cpp_wrapper has no graph partition"},
};

static struct slice advice_of(const struct advice *a, unsigned n, struct slice reason)
{
	for (unsigned i = 0; i < n; i++)
		if (slice_find(reason, a[i].text))
			return slice_str(a[i].hint);
	return slice_of(NULL, 0);
}

static double positive(double v) { return v > 0 ? v : 0; }

/* ---- bypasses ---- */

/* A hit in the FX graph cache would have saved all of Inductor's time; one in the AOTAutograd cache only its tracing. */
static double saved_by(const struct fact_compile *c, enum fact_cache_kind kind)
{
	return kind == FACT_CACHE_AOT ? positive(c->aot) : positive(c->inductor) + positive(c->codegen) + positive(c->backward);
}

/* The AOTAutograd cache is looked up first; where the FX graph cache then refuses the same graph, one finding is enough. fx: by row of
 * facts.compile, whether the FX graph cache was bypassed. */
static bool told_by_fx(const bool *fx, const struct fact_cache *c)
{
	return c->kind == FACT_CACHE_AOT && c->compile != NONE && fx[c->compile];
}

static void bypass(struct explanation *x, uint32_t first, const bool *fx, bool *done)
{
	const struct facts *f = x->facts;
	const struct fact_cache *c = &f->cache[first];
	struct slice reason = facts_text(f, c->reason);
	struct id_list ids = {.last = NONE};
	double seconds = 0;
	uint64_t n = 0;
	for (uint32_t i = first; i < f->n_cache; i++) {
		const struct fact_cache *o = &f->cache[i];
		if (done[i] || o->what != FACT_BYPASS || o->kind != c->kind || o->reason != c->reason || told_by_fx(fx, o))
			continue;
		done[i] = true;
		n++;
		if (o->compile != NONE && o->compile != ids.last)
			seconds += saved_by(&f->compile[o->compile], o->kind);
		times_ids(&ids, f, o->compile);
	}
	struct finding *g = explain_finding(x, FINDING_CACHE, seconds >= BYPASS_WARNS ? FINDING_WARNING : FINDING_NOTE);
	g->id = c->kind == FACT_CACHE_AOT ? SLICE("cache-bypass-aotautograd") : SLICE("cache-bypass");
	struct slice why = reason.n ? reason : SLICE("no reason logged");
	g->title = explain_textf(x, "%s bypassed: %.*s", cache_title[c->kind], SLN(why, 160));
	g->src = c->src;
	if (c->compile != NONE)
		g->loc = f->compile[c->compile].loc;
	g->count = n;
	g->seconds = seconds > 0 ? seconds : -1;
	g->cost = seconds > 0 ? explain_textf(x, "%.2f s of compile time in every process", seconds) : slice_of(NULL, 0);
	g->why = SLICE("Every process compiles this graph again.");
	g->evidence = reason;
	g->hint = advice_of(bypass_advice, ARRAY_LEN(bypass_advice), reason);
	g->compiles = times_ids_end(x, &ids);
}

/* ---- cold, off ---- */

static void cold(struct explanation *x)
{
	const struct facts *f = x->facts;
	struct id_list ids = {.last = NONE};
	double seconds = 0;
	uint64_t n = 0;
	uint32_t first = NONE;
	bool hit = false;
	for (uint32_t i = 0; i < f->n_cache; i++) {
		const struct fact_cache *c = &f->cache[i];
		if (c->kind == FACT_CACHE_FX && c->what == FACT_HIT)
			hit = true;
		if (c->kind != FACT_CACHE_FX || c->what != FACT_MISS)
			continue;
		if (hit) { /* the cache was not empty: this graph is new */
			times_ids_end(x, &ids);
			return;
		}
		if (first == NONE)
			first = i;
		n++;
		if (c->compile != NONE && c->compile != ids.last)
			seconds += saved_by(&f->compile[c->compile], c->kind);
		times_ids(&ids, f, c->compile);
	}
	struct slice list = times_ids_end(x, &ids);
	if (seconds < COLD_SECONDS)
		return;
	struct finding *g = explain_finding(x, FINDING_CACHE, FINDING_NOTE);
	g->id = SLICE("cache-cold");
	g->title = explain_textf(x, "The FX graph cache was cold: %llu graph%s compiled", (unsigned long long)n, plural(n));
	g->src = f->cache[first].src;
	g->count = n;
	g->seconds = seconds;
	g->cost = explain_textf(x, "%.1f s that a warm cache saves", seconds);
	g->compiles = list;
	g->why = SLICE("No lookup hit: the first run on this machine, a different torch or different settings, or a cache directory "
		       "that does not persist.");
	g->hint = SLICE(
	    "export TORCHINDUCTOR_CACHE_DIR=/a/persistent/disk    # default: /tmp/torchinductor_USER, lost with a container\n"
	    "torch.compiler.save_cache_artifacts() at the end, torch.compiler.load_cache_artifacts(bytes) at the start of the next job");
}

/* AOTInductor never looks in the cache (torch/_inductor/compile_fx.py: use_cache ... and not aot_mode), and logs that it is disabled. */
static bool cache_is_on(const struct facts *f, uint32_t input)
{
	const struct fact_config *c = &f->input[input].config;
	return c->fx_graph_cache == 1 && c->force_disable_caches == 0;
}

static void off(struct explanation *x)
{
	const struct facts *f = x->facts;
	uint64_t n = 0;
	double seconds = 0;
	struct fact_src src = {0};
	for (uint32_t i = 0; i < f->n_phase; i++)
		if (f->phase[i].compile == NONE && slice_is(facts_text(f, f->phase[i].name), "fx_graph_cache_disabled") &&
		    !cache_is_on(f, f->phase[i].src.input)) {
			if (!n)
				src = f->phase[i].src;
			n += f->phase[i].calls;
		}
	for (uint32_t i = 0; i < f->n_compile; i++)
		seconds += saved_by(&f->compile[i], FACT_CACHE_FX);
	if (!n || seconds < OFF_SECONDS)
		return;
	struct finding *g = explain_finding(x, FINDING_CACHE, FINDING_NOTE);
	g->id = SLICE("cache-off");
	g->title = explain_textf(x, "The FX graph cache is off: %llu graph%s compiled without it", (unsigned long long)n, plural(n));
	g->src = src;
	g->count = n;
	g->seconds = seconds;
	g->cost = explain_textf(x, "%.1f s, part of which a cache would save in the next process", seconds);
	g->why = SLICE("force_disable_caches is set, or fx_graph_cache = False.");
	g->hint = SLICE("unset TORCHINDUCTOR_FORCE_DISABLE_CACHES TORCHINDUCTOR_FX_GRAPH_CACHE\n"
			"torch.compiler.config.force_disable_caches = False; torch._inductor.config.fx_graph_cache = True");
}

/* ---- kernels of torch's own operators ---- */

struct native_sum {
	uint32_t first; /* row of facts.native */
	uint64_t n, keys;
	double seconds;
};

/* The kernels of one key, or all of them: with a working cache each is compiled once per process. */
static void native_again(struct explanation *x, const struct native_sum *sum, bool key)
{
	const struct fact_native *k = &x->facts->native[sum->first];
	struct slice op = explain_text(x, k->op), dsl = explain_text(x, k->dsl);
	struct finding *g = explain_finding(x, FINDING_CACHE, key && sum->seconds >= BYPASS_WARNS ? FINDING_WARNING : FINDING_NOTE);
	g->id = key ? SLICE("native-kernel-again") : SLICE("native-kernels");
	g->title =
	    key ? explain_textf(x, "Kernel of %.*s (%.*s) compiled again for the same key", SLN(op, 80), SLN(dsl, 20))
		: explain_textf(x, "torch's own operators compiled %llu different kernels with their DSL", (unsigned long long)sum->keys);
	g->src = k->src;
	g->compile = k->compile;
	g->count = sum->n;
	g->cost = explain_textf(x, "%.2f s of compile time", sum->seconds); /* on top of what torch.compile takes */
	g->why =
	    key ? explain_textf(x, "Its cache was cleared, or does not find what it stored for %.*s.", SLN(explain_text(x, k->key), 160))
		: SLICE("Each key needs its own kernel.");
}

static void natives(struct explanation *x)
{
	const struct facts *f = x->facts;
	OWNED(intern_release) struct intern keys = {0};
	struct native_sum all = {0}, *sum = xcalloc(f->n_native + 1u, sizeof(*sum));
	for (uint32_t i = 0; i < f->n_native; i++) {
		const struct fact_native *k = &f->native[i];
		if (!slice_is(facts_text(f, k->outcome), "compiled"))
			continue;
		uint32_t at = intern_add(&keys, CHAIN_KEY(k->src.input, k->op, k->dsl, k->key));
		sum[at].first = sum[at].n++ ? sum[at].first : i;
		sum[at].seconds += positive(k->seconds);
		all.first = all.n++ ? all.first : i;
		all.seconds += positive(k->seconds);
	}
	all.keys = keys.n;
	for (uint32_t i = 0, told = 0; i < keys.n && told < FINDINGS_MAX; i++)
		if (sum[i].n > 1 && ++told)
			native_again(x, &sum[i], true);
	if (all.seconds >= COLD_SECONDS)
		native_again(x, &all, false);
	free(sum);
}

void explain_caches(struct explanation *x)
{
	const struct facts *f = x->facts;
	FREED bool *done = xcalloc(f->n_cache + 1u, sizeof(*done)), *fx = xcalloc(f->n_compile + 1u, sizeof(*fx));
	uint32_t from = x->n_finding;
	for (uint32_t i = 0; i < f->n_cache; i++)
		if (f->cache[i].kind == FACT_CACHE_FX && f->cache[i].what == FACT_BYPASS && f->cache[i].compile != NONE)
			fx[f->cache[i].compile] = true;
	for (uint32_t i = 0; i < f->n_cache && x->n_finding - from < FINDINGS_MAX; i++)
		if (f->cache[i].what == FACT_BYPASS && !done[i] && !told_by_fx(fx, &f->cache[i]))
			bypass(x, i, fx, done);
	cold(x);
	off(x);
	natives(x);
}

/* ---- CUDA graphs ---- */

static void skip(struct explanation *x, uint32_t first, bool *done)
{
	const struct facts *f = x->facts;
	const struct fact_cudagraph *c = &f->cudagraph[first];
	static const char prefix[] = "skipping cudagraphs due to ";
	struct slice reason = facts_text(f, c->reason), line = slice_first_line(reason), what;
	struct id_list ids = {.last = NONE};
	uint64_t n = 0;
	for (uint32_t i = first; i < f->n_cudagraph; i++) {
		const struct fact_cudagraph *o = &f->cudagraph[i];
		if (done[i] || o->reason != c->reason)
			continue;
		done[i] = true;
		n++;
		times_ids(&ids, f, o->compile);
	}
	what = slice_starts(line, prefix) ? slice_of(line.p + sizeof(prefix) - 1, line.n - sizeof(prefix) + 1) : line;
	const char *found = slice_find(what, ". Found from");
	what.n = found ? (size_t)(found - what.p) : what.n;
	struct finding *g = explain_finding(x, FINDING_CUDAGRAPH, FINDING_WARNING);
	g->id = SLICE("cudagraph-skip");
	g->title = explain_textf(x, "No CUDA graph: %.*s", SLN(what, 160));
	g->src = c->src;
	g->loc = c->loc;
	g->count = n;
	g->why = SLICE("Every kernel of this graph is launched separately, which is slow when kernels are short.");
	g->evidence = reason;
	g->hint = advice_of(skip_advice, ARRAY_LEN(skip_advice), reason);
	g->compiles = times_ids_end(x, &ids);
}

void explain_cudagraphs(struct explanation *x)
{
	const struct facts *f = x->facts;
	FREED bool *done = xcalloc(f->n_cudagraph + 1u, sizeof(*done));
	uint32_t from = x->n_finding;
	for (uint32_t i = 0; i < f->n_cudagraph && x->n_finding - from < FINDINGS_MAX; i++)
		if (!done[i])
			skip(x, i, done);
}

enum { IDS_SHOWN = 20 };

void times_ids(struct id_list *l, const struct facts *f, uint32_t compile)
{
	if (compile == NONE || compile == l->last)
		return;
	l->last = compile;
	if (l->n++ < IDS_SHOWN) {
		if (l->text.len)
			buf_addc(&l->text, ' ');
		buf_add_slice(&l->text, facts_text(f, f->compile[compile].label));
	}
}

struct slice times_ids_end(struct explanation *x, struct id_list *l)
{
	struct slice s = explain_keep(x, buf_slice(&l->text));
	buf_release(&l->text);
	return s;
}
