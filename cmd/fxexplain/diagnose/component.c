/* component.c - which part of the compiler failed, by what, and what would prove it.
 *
 * Three witnesses: the exception (its type says most where torch has one for the part), the frames that it came through (the
 * innermost that belongs to a part), and the records of that compile id (what is there has worked). Where there is no
 * exception - a crash, a job that was killed - the last phase that has begun and not ended.
 */
#include "diagnose/breaks.h"
#include "diagnose/chain.h"
#include "trace/text.h"

enum { CLIP = 300 }; /* bytes of a text of the input in a line of ours */

/* ---- by file ---- */

/* The first that stands in the path decides (torch 2.0 to 2.13). */
static const struct {
	const char *part;
	enum component component;
} by_path[] = {
    {"torch/_inductor/codegen/", COMPONENT_CODEGEN},
    {"torch/_inductor/codecache.py", COMPONENT_COMPILER},
    {"torch/_inductor/cpp_builder.py", COMPONENT_COMPILER},
    {"torch/_inductor/cpu_vec_isa.py", COMPONENT_COMPILER},
    {"torch/_inductor/async_compile.py", COMPONENT_COMPILER},
    {"torch/_inductor/compile_worker/", COMPONENT_COMPILER},
    {"torch/_inductor/runtime/compile_tasks.py", COMPONENT_COMPILER},
    {"torch/_inductor/runtime/triton_heuristics.py", COMPONENT_COMPILER},
    {"triton/compiler/", COMPONENT_COMPILER},
    {"triton/backends/", COMPONENT_COMPILER},
    {"torch/_inductor/package/", COMPONENT_LOAD},
    {"torch/_inductor/runtime/", COMPONENT_RUNTIME},
    {"torch/_inductor/", COMPONENT_INDUCTOR},
    {"torchinductor/", COMPONENT_INDUCTOR},
    {"torch/_functorch/", COMPONENT_AOTAUTOGRAD},
    {"functorch/", COMPONENT_AOTAUTOGRAD},
    {"torch/export/", COMPONENT_EXPORT},
    {"torch/_export/", COMPONENT_EXPORT},
    {"torch/_dynamo/repro/", COMPONENT_NONE},
    {"torch/_dynamo/backends/", COMPONENT_NONE},
    {"torch/_dynamo/eval_frame.py", COMPONENT_NONE}, /* every call goes through it */
    {"torch/_dynamo/utils.py", COMPONENT_NONE},
    {"torch/_dynamo/", COMPONENT_DYNAMO},
    {"torchdynamo/", COMPONENT_DYNAMO},
};

static enum component path_component(struct slice path)
{
	if (slice_find(path, "torchinductor_") || slice_find(path, "/fxgraph/"))
		return COMPONENT_RUNTIME; /* Inductor's own output, in its cache */
	for (size_t i = 0; i < ARRAY_LEN(by_path); i++)
		if (slice_find(path, by_path[i].part))
			return by_path[i].component;
	return COMPONENT_NONE;
}

/* The innermost frame of a part; frames are lines, outermost first. user: the innermost frame of all is the program's. */
static enum component frames_component(struct slice frames, struct slice *at, bool *user)
{
	enum component found = COMPONENT_NONE;
	struct slice line;
	*user = false;
	while (slice_line(&frames, &line)) {
		const char *colon = slice_chr(line, ':');
		struct slice path = colon ? slice_of(line.p, (size_t)(colon - line.p)) : line;
		enum component c = path_component(path);
		*user = c == COMPONENT_NONE && srcloc_is_user(path);
		if (c == COMPONENT_NONE)
			continue;
		/* Loading generated code compiles it: the generated file is on the way there, and stays only when it is the innermost. */
		found = c;
		*at = line;
	}
	return found;
}

/* ---- by exception ---- */

static const struct {
	const char *type;
	enum component component;
	bool proof; /* raised by no other part */
} by_type[] = {
    {"CppCompileError", COMPONENT_COMPILER, true},
    {"CUDACompileError", COMPONENT_COMPILER, true},
    {"InvalidCxxCompiler", COMPONENT_ENVIRONMENT, true},
    {"CompilationError", COMPONENT_COMPILER, true},
    {"OutOfResources", COMPONENT_COMPILER, true},
    {"CppWrapperCodegenError", COMPONENT_CODEGEN, true},
    {"SubgraphLoweringException", COMPONENT_INDUCTOR, true},
    {"LoweringException", COMPONENT_INDUCTOR, false},
    {"MissingOperatorWithDecomp", COMPONENT_INDUCTOR, true},
    {"MissingOperatorWithoutDecomp", COMPONENT_INDUCTOR, true},
    {"InductorError", COMPONENT_INDUCTOR, false},
    {"ConstraintViolationError", COMPONENT_EXPORT, true},
    {"InternalTorchDynamoError", COMPONENT_DYNAMO, true},
    {"Unsupported", COMPONENT_DYNAMO, true},
    {"UserError", COMPONENT_DYNAMO, false},
    {"RecompileError", COMPONENT_DYNAMO, true},
    {"FailOnRecompileLimitHit", COMPONENT_DYNAMO, true},
    {"ResetRequired", COMPONENT_DYNAMO, true},
    {"InvalidBackend", COMPONENT_BACKEND, true},
    {"TorchRuntimeError", COMPONENT_EAGER, false}, /* an operation failed on fake tensors: mostly it does on real ones, too */
};

/* "torch._inductor.exc.InductorError" is InductorError; an inner type may lead the message: "CppCompileError: C++ compile error". */
static const char *type_is(struct slice type, const char *name)
{
	size_t n = strlen(name);
	return type.n >= n && !memcmp(type.p + type.n - n, name, n) && (type.n == n || type.p[type.n - n - 1] == '.') ? name : NULL;
}

static enum component type_component(struct slice type, struct slice reason, bool *proof)
{
	struct slice first = reason, word;
	struct slice line;
	*proof = false;
	/* backend='inductor' raised:\nCppCompileError: ... */
	for (unsigned i = 0; i < 3 && slice_line(&first, &line); i++) {
		const char *colon = slice_chr(line, ':');
		word = slice_trim(slice_of(line.p, colon ? (size_t)(colon - line.p) : 0));
		for (size_t k = 0; word.n && k < ARRAY_LEN(by_type); k++)
			if (type_is(word, by_type[k].type)) {
				*proof = by_type[k].proof;
				return by_type[k].component;
			}
	}
	if (slice_starts(reason, "Constraints violated"))
		return COMPONENT_EXPORT; /* the program's Dims do not hold */
	if (slice_starts(reason, "Observed exception"))
		return COMPONENT_EAGER; /* the program raises it, and catches it nowhere in the compiled function */
	if (type_is(type, "BackendCompilerFailed") && slice_starts(reason, "backend='") && !slice_starts(reason, "backend='inductor'"))
		return COMPONENT_BACKEND;
	for (size_t k = 0; k < ARRAY_LEN(by_type); k++)
		if (type_is(type, by_type[k].type)) {
			*proof = by_type[k].proof;
			return by_type[k].component;
		}
	return COMPONENT_NONE;
}

/* ---- by records ---- */

/* What belongs to a compile id, and what says more of a failure. */
struct witnesses {
	struct explanation *x;
	struct chain graph, known, known_at, error; /* by compile id; known_at by input and line; error by compile id */
	uint32_t *known_line;                       /* rows of known by input and line */
	bool *resolved;                             /* by compile id: a break or a limit tells of it */
	uint32_t loose_errors[16], n_loose;         /* compilers' errors without a compile id, the first */
	uint32_t launcher;                          /* row of path, NONE */
};

static int by_line(const void *a, const void *b, void *facts)
{
	const struct facts *f = facts;
	const struct fact_src *p = &f->known[*(const uint32_t *)a].src, *q = &f->known[*(const uint32_t *)b].src;
	if (p->input != q->input)
		return p->input < q->input ? -1 : 1;
	if (p->line != q->line)
		return p->line < q->line ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static void call_witnesses(struct explanation *x, struct witnesses *w)
{
	const struct facts *f = x->facts;
	*w = (struct witnesses){.x = x, .resolved = xcalloc(f->n_compile + 1, sizeof(bool)), .launcher = NONE};
	for (uint32_t i = 0; i < f->n_graph; i++)
		if (f->graph[i].compile != NONE)
			chain_add(&w->graph, i, CHAIN_KEY(f->graph[i].compile));
	for (uint32_t i = 0; i < f->n_known; i++) {
		chain_add(&w->known_at, i,
			  CHAIN_KEY(f->known[i].src.input, (uint32_t)f->known[i].src.line, (uint32_t)(f->known[i].src.line >> 32)));
		if (f->known[i].compile != NONE)
			chain_add(&w->known, i, CHAIN_KEY(f->known[i].compile));
	}
	w->known_line = xreallocarray(NULL, f->n_known + 1, sizeof(*w->known_line));
	for (uint32_t i = 0; i < f->n_known; i++)
		w->known_line[i] = i;
	if (f->n_known)
		qsort_r(w->known_line, f->n_known, sizeof(*w->known_line), by_line, x->facts);
	for (uint32_t i = 0; i < f->n_compiler_error; i++) {
		if (!slice_find(facts_text(f, f->compiler_error[i].severity), "error"))
			continue;
		if (f->compiler_error[i].compile != NONE)
			chain_add(&w->error, i, CHAIN_KEY(f->compiler_error[i].compile));
		else if (w->n_loose < ARRAY_LEN(w->loose_errors))
			w->loose_errors[w->n_loose++] = i;
	}
	for (uint32_t i = 0; i < f->n_brk; i++)
		if (f->brk[i].compile != NONE)
			w->resolved[f->brk[i].compile] = true;
	for (uint32_t i = 0; i < f->n_limit; i++)
		if (f->limit[i].compile != NONE)
			w->resolved[f->limit[i].compile] = true;
	for (uint32_t i = 0; i < f->n_path && w->launcher == NONE; i++)
		if (slice_find(facts_text(f, f->path[i].path), "minifier_launcher.py"))
			w->launcher = i;
}

static void dismiss_witnesses(struct witnesses *w)
{
	chain_release(&w->graph);
	chain_release(&w->known);
	chain_release(&w->known_at);
	free(w->known_line);
	chain_release(&w->error);
	free(w->resolved);
}

static const struct {
	const char *graph;
	const char *says;
} stages[] = {
    {"dynamo_output_graph", "the graph of Dynamo"},
    {"aot_joint_graph", "the joint graph"},
    {"aot_forward_graph", "the forward graph of AOTAutograd"},
    {"aot_inference_graph", "the graph of AOTAutograd"},
    {"aot_backward_graph", "the backward graph"},
    {"inductor_post_grad_graph", "the graph after Inductor's passes"},
    {"inductor_output_code", "the generated code"},
};

/* What there is of a compile id, in words; the last stage reached in *last (-1: none). */
static void records_of(const struct witnesses *w, uint32_t compile, struct buf *b, int *last)
{
	const struct facts *f = w->x->facts;
	*last = -1;
	for (size_t s = 0; s < ARRAY_LEN(stages); s++)
		for (uint32_t i = chain_first(&w->graph, CHAIN_KEY(compile)); i != NONE; i = w->graph.next[i])
			if (slice_is(facts_text(f, f->graph[i].name), stages[s].graph)) {
				buf_addf(b, "%s%s", b->len ? ", " : "", stages[s].says);
				*last = (int)s;
				break;
			}
}

static enum component after_stage(int stage)
{
	return stage < 0 ? COMPONENT_DYNAMO : stage < 2 ? COMPONENT_AOTAUTOGRAD : stage < 6 ? COMPONENT_INDUCTOR : COMPONENT_COMPILER;
}

/* ---- verdicts ---- */

/* The first line that says something: "backend='x' raised:" only leads to the next. */
static struct slice first_line(struct slice s)
{
	struct slice line = {0}, next;
	slice_line(&s, &line);
	if (slice_starts(line, "backend='") && slice_ends(line, "raised:") && slice_line(&s, &next) && next.n)
		return next;
	/* torch puts the user's frames behind the message, also where there is none. */
	return slice_starts(line, "from user code") ? slice_of(NULL, 0) : line;
}

static void add_line(struct buf *b, struct slice s)
{
	if (s.n) {
		buf_add(b, s.p, s.n > 400 ? 400 : s.n);
		buf_addc(b, '\n');
	}
}

/* The compiler's first error that belongs to a failure: by compile id, or by what stands in its message (texts have no ids). */
static const struct fact_compiler_error *compiler_error_of(const struct witnesses *w, const struct fact_failure *r)
{
	const struct facts *f = w->x->facts;
	uint32_t i = r->compile == NONE ? NONE : chain_first(&w->error, CHAIN_KEY(r->compile));
	if (i != NONE)
		return &f->compiler_error[i];
	struct slice reason = facts_text(f, r->reason);
	for (i = 0; i < w->n_loose; i++) {
		const struct fact_compiler_error *e = &f->compiler_error[w->loose_errors[i]];
		struct slice message = facts_text(f, e->message);
		if (e->src.input == r->src.input && message.n && reason.n && memmem(reason.p, reason.n, message.p, message.n))
			return e;
	}
	return NULL;
}

static void witness(const struct witnesses *w, const struct fact_failure *r, struct slice at, struct component_view *v)
{
	struct explanation *x = w->x;
	const struct facts *f = x->facts;
	struct buf b = {0}, records = {0};
	struct slice type = explain_text(x, r->type), reason = first_line(explain_text(x, r->reason));
	int stage = -1;
	if (type.n)
		buf_addf(&b, "%.*s%s%.*s\n", SLN(type, CLIP), reason.n ? ": " : "", SLN(reason, CLIP));
	else
		add_line(&b, reason);
	const struct fact_compiler_error *e = compiler_error_of(w, r);
	if (e) {
		struct slice file = srcloc_short_file(facts_text(f, e->at.file)), message = facts_text(f, e->message),
			     code = facts_text(f, e->at.code);
		buf_addf(&b, "%.*s:%u: %.*s\n", SLN(file, CLIP), e->at.line, SLN(message, CLIP));
		if (code.n)
			buf_addf(&b, "    %.*s\n", SLN(slice_trim(code), CLIP));
	}
	if (at.n) {
		struct slice path = srcloc_short_file(at);
		buf_addf(&b, "raised below %.*s\n", SLN(path, CLIP));
	}
	if (r->compile != NONE) {
		struct slice id = facts_text(f, f->compile[r->compile].id);
		records_of(w, r->compile, &records, &stage);
		if (records.len)
			buf_addf(&b, "compile id %.*s has %.*s: the parts that made them have worked\n", SLN(id, CLIP),
				 SLN(buf_slice(&records), CLIP));
	}
	v->evidence = explain_keep(x, slice_of(b.p, b.len ? b.len - 1 : 0));
	buf_release(&b);
	buf_release(&records);
}

static const char *experiment(enum component c)
{
	switch (c) {
	case COMPONENT_DYNAMO:
		return "torch.compile(f, backend=\"eager\")    # fails as well: the capture is at fault\n"
		       "TORCH_LOGS=\"+dynamo\" TORCHDYNAMO_VERBOSE=1 python app.py    # the instruction that it stopped at";
	case COMPONENT_AOTAUTOGRAD: return "torch.compile(f, backend=\"aot_eager\")    # fails as well, backend=\"eager\" does not";
	case COMPONENT_INDUCTOR:
	case COMPONENT_CODEGEN:
	case COMPONENT_COMPILER:
	case COMPONENT_RUNTIME: return "torch.compile(f, backend=\"aot_eager\")    # does not fail, backend=\"inductor\" does";
	case COMPONENT_BACKEND: return "torch.compile(f, backend=\"eager\")    # does not fail: the backend is at fault";
	case COMPONENT_EAGER: return "TORCH_COMPILE_DISABLE=1 python app.py    # fails as well: the program is at fault";
	default: return "";
	}
}

/* The smallest program that still fails: from a launcher that the log names, from the trace itself, or by running it again. */
static struct slice minify(const struct witnesses *w, const struct component_view *v, const struct fact_failure *r)
{
	struct explanation *x = w->x;
	const struct facts *f = x->facts;
	bool aot = v->component == COMPONENT_INDUCTOR || v->component == COMPONENT_CODEGEN || v->component == COMPONENT_COMPILER ||
		   v->component == COMPONENT_RUNTIME;
	if (!aot && v->component != COMPONENT_AOTAUTOGRAD && v->component != COMPONENT_BACKEND)
		return slice_of(NULL, 0);
	if (w->launcher != NONE)
		return explain_textf(x, "fxminify %.*s", SLN(facts_text(f, f->path[w->launcher].path), CLIP));
	if (aot && v->compile != NONE && f->input[f->compile[v->compile].src.input].kind == FACT_TRACE)
		for (uint32_t i = chain_first(&w->graph, CHAIN_KEY(v->compile)); i != NONE; i = w->graph.next[i]) {
			struct slice name = facts_text(f, f->graph[i].name);
			if (slice_starts(name, "aot_") || slice_is(name, "fx_graph_runnable"))
				return explain_textf(x, "fxminify --graph %.*s %.*s", SLN(facts_text(f, f->compile[v->compile].id), CLIP),
						     SLN(facts_text(f, f->input[f->compile[v->compile].src.input].path), CLIP));
		}
	return explain_textf(x,
			     "TORCHDYNAMO_REPRO_AFTER=%s TORCHDYNAMO_REPRO_LEVEL=%d python app.py && "
			     "fxminify torch_compile_debug/run_*/minifier/minifier_launcher.py",
			     aot ? "aot" : "dynamo", r && r->signal ? 3 : 2);
}

static struct component_view judge(const struct witnesses *w, uint32_t row)
{
	struct explanation *x = w->x;
	const struct facts *f = x->facts;
	const struct fact_failure *r = &f->failure[row];
	struct component_view v = {.failure = row, .compile = r->compile};
	struct slice at = {0}, frames = explain_text(x, r->frames);
	bool proof, user;
	enum component type = type_component(explain_text(x, r->type), explain_text(x, r->reason), &proof);
	enum component path = frames_component(frames, &at, &user);
	/* InductorError is what Inductor puts around everything below it: the frames know better. */
	bool wraps = type == COMPONENT_INDUCTOR && !proof && (path == COMPONENT_CODEGEN || path == COMPONENT_COMPILER);
	if (type != COMPONENT_NONE && !wraps) {
		v.component = type;
		v.sure = proof || type == path ? SURE_PROVEN : SURE_LIKELY;
	} else if (path != COMPONENT_NONE) {
		v.component = path;
		v.sure = wraps ? SURE_PROVEN : SURE_LIKELY;
		if (path == COMPONENT_DYNAMO && user)
			v.component = COMPONENT_EAGER;
	} else if (r->compile != NONE && !user && r->user.file == NONE) {
		struct buf records = {0};
		int stage;
		records_of(w, r->compile, &records, &stage);
		buf_release(&records);
		v.component = after_stage(stage);
		v.sure = SURE_LIKELY;
	} else if (r->signal) {
		v.component = COMPONENT_RUNTIME;
		v.sure = SURE_LIKELY;
	} else {
		v.component = user || r->user.file != NONE ? COMPONENT_EAGER : COMPONENT_NONE;
		v.sure = v.component == COMPONENT_NONE ? SURE_NOT : SURE_LIKELY;
	}
	witness(w, r, at, &v);
	v.experiment = slice_str(experiment(v.component));
	v.minify = minify(w, &v, r);
	return v;
}

/* A phase that has begun and not ended, the last of them: where a crash or a kill has hit. */
static const struct fact_marker *open_marker(const struct facts *f, uint32_t input)
{
	uint32_t depth[COMPONENTS] = {0};
	for (uint32_t i = f->n_marker; i-- > 0;) {
		const struct fact_marker *m = &f->marker[i];
		if (m->src.input != input || m->component == COMPONENT_NONE)
			continue;
		if (m->end)
			depth[m->component]++;
		else if (depth[m->component])
			depth[m->component]--;
		else
			return m;
	}
	return NULL;
}

static void add_view(struct explanation *x, const struct component_view *v)
{
	GROW(x->component, x->n_component, x->cap_component, 1);
	x->component[x->n_component++] = *v;
}

/* What the knowledge base says of this failure is its cause and its fix. */
static void better(struct fact_known **best, struct fact_known *k)
{
	if (!k->told && k->level >= FINDING_WARNING && (!*best || k->level > (*best)->level))
		*best = k;
}

/* The line of a known message is in the failure's, or begins with its type and has the rest of the failure's first line. */
static bool quoted_in(struct slice reason, struct slice quote)
{
	struct slice first = {0}, rest = reason;
	slice_line(&rest, &first);
	return quote.n && first.n && (memmem(reason.p, reason.n, quote.p, quote.n) || memmem(quote.p, quote.n, first.p, first.n));
}

/* A text: what is known stands in the failure's message, which is below its traceback, or below that of its cause. With `same`, all of
 * its pattern there are told. */
static struct fact_known *known_in(const struct witnesses *w, const struct fact_failure *r, const struct fact_known *same)
{
	struct facts *f = w->x->facts;
	struct fact_known *best = NULL;
	struct slice reason = facts_text(f, r->reason);
	uint64_t from = r->src.line;
	uint32_t cause = r->cause, low = 0, high = f->n_known;
	for (int n = 0; cause != NONE && n < 8; n++, cause = f->failure[cause].cause)
		if (f->failure[cause].src.input == r->src.input && f->failure[cause].src.line < from)
			from = f->failure[cause].src.line;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct fact_src *at = &f->known[w->known_line[mid]].src;
		if (at->input < r->src.input || (at->input == r->src.input && at->line < from))
			low = mid + 1;
		else
			high = mid;
	}
	for (uint32_t n = 0; low < f->n_known && n < 16; low++, n++) {
		struct fact_known *k = &f->known[w->known_line[low]];
		if (k->src.input != r->src.input)
			break;
		if (!quoted_in(reason, facts_text(f, k->quote)))
			continue;
		if (same)
			k->told |= k->pattern == same->pattern;
		else
			better(&best, k);
	}
	return best;
}

static struct fact_known *known_of(const struct witnesses *w, const struct fact_failure *r)
{
	struct facts *f = w->x->facts;
	struct fact_known *best = NULL;
	uint32_t i = chain_first(&w->known_at, CHAIN_KEY(r->src.input, (uint32_t)r->src.line, (uint32_t)(r->src.line >> 32)));
	for (; i != NONE; i = w->known_at.next[i])
		better(&best, &f->known[i]);
	for (i = r->compile == NONE ? NONE : chain_first(&w->known, CHAIN_KEY(r->compile)); i != NONE; i = w->known.next[i])
		better(&best, &f->known[i]);
	return best ? best : known_in(w, r, NULL);
}

static void tell_failure(const struct witnesses *w, const struct component_view *v, uint64_t count)
{
	struct explanation *x = w->x;
	struct facts *f = x->facts;
	const struct fact_failure *r = &f->failure[v->failure];
	struct finding *g = explain_finding(x, FINDING_FAILURE, r->caught ? FINDING_WARNING : FINDING_ERROR);
	struct slice type = explain_text(x, r->type), reason = first_line(explain_text(x, r->reason));
	const char *dot = slice_rchr(type, '.');
	struct slice word = dot ? slice_of(dot + 1, type.n - (size_t)(dot + 1 - type.p)) : type;
	g->id = v->component == COMPONENT_NONE ? SLICE("failure") : explain_textf(x, "failure-%s", component_name[v->component]);
	g->loc = r->user.file != NONE || r->compile == NONE ? r->user : f->compile[r->compile].loc;
	g->src = r->src;
	g->count = count;
	if (r->compile != NONE)
		g->compiles = facts_text(f, f->compile[r->compile].id);
	g->title =
	    word.n ? explain_textf(x, "%.*s%s%.*s", SLN(word, CLIP), reason.n ? ": " : "", SLN(reason, CLIP)) : explain_keep(x, reason);
	g->evidence = v->evidence;
	g->next = v->minify;
	struct break_text text;
	break_text_parse(explain_text(x, r->reason), &text);
	struct fact_known *k = known_of(w, r);
	if (text.gb >= 0) { /* torch explains its own refusals best */
		const struct slice where[] = {text.reason, text.context};
		g->why = text.explanation;
		g->fix = break_fix(x, text.gb, where, ARRAY_LEN(where));
		g->url = text.url;
		for (unsigned i = 0; !g->fix.n && i < text.hints; i++)
			g->fix = text.hint[i];
		if (k)
			k->told = true;
	} else if (k) {
		k->told = true;
		known_in(w, r, k);
		g->id = facts_text(f, k->pattern);
		g->why = facts_text(f, k->cause);
		g->fix = facts_text(f, k->fix);
		g->url = first_line(facts_text(f, k->see));
	} else if (v->component != COMPONENT_NONE) {
		g->why = explain_textf(x, "it failed in %s", component_title[v->component]);
	}
}

/* The same exception of many compile ids is told once: what it has to have in common. */
static struct slice sameness(struct explanation *x, const struct fact_failure *r, struct buf *b)
{
	uint32_t key[] = {r->type, r->user.file, r->user.line};
	buf_reset(b);
	buf_add(b, key, sizeof(key));
	buf_add_slice(b, first_line(explain_text(x, r->reason)));
	return buf_slice(b);
}

/* No exception, but something has begun and not ended. */
static void tell_unfinished(const struct witnesses *w, uint32_t input)
{
	struct explanation *x = w->x;
	const struct facts *f = x->facts;
	const struct fact_marker *m = open_marker(f, input);
	if (!m)
		return;
	struct slice what = facts_text(f, m->what);
	struct component_view v = {.component = m->component, .sure = SURE_LIKELY, .failure = NONE, .compile = m->compile};
	v.evidence = m->src.line ? explain_textf(x, "'%.*s' has begun in line %llu and has not ended: the log ends inside of it",
						 SLN(what, CLIP), (unsigned long long)m->src.line)
				 : explain_textf(x, "'%.*s' has begun and left nothing of what comes behind it", SLN(what, CLIP));
	v.experiment = slice_str(experiment(v.component));
	v.minify = minify(w, &v, NULL);
	struct finding *g = explain_finding(x, FINDING_FAILURE, FINDING_WARNING);
	g->id = SLICE("unfinished");
	g->src = m->src;
	g->count = 1;
	g->title = explain_textf(x, "it ends inside %s: an error, killed, crashed, or still running", component_title[v.component]);
	g->evidence = v.evidence;
	g->next = v.minify;
	if (m->compile != NONE) {
		g->loc = f->compile[m->compile].loc;
		g->compiles = facts_text(f, f->compile[m->compile].id);
	}
	add_view(x, &v);
}

static int worst_verdict(const void *a, const void *b, void *facts)
{
	const struct component_view *p = a, *q = b;
	const struct facts *f = facts;
	bool p_caught = p->failure == NONE || f->failure[p->failure].caught;
	bool q_caught = q->failure == NONE || f->failure[q->failure].caught;
	if (p_caught != q_caught)
		return p_caught ? 1 : -1;
	if (p->sure != q->sure)
		return p->sure > q->sure ? -1 : 1;
	return p->failure < q->failure ? -1 : p->failure > q->failure;
}

void explain_component(struct explanation *x)
{
	struct facts *f = x->facts;
	struct witnesses w;
	struct chain same = {0};
	struct buf key = {0};
	bool *cause = xcalloc(f->n_failure + 1, sizeof(*cause)), *failed = xcalloc(f->n_input + 1, sizeof(*failed));
	call_witnesses(x, &w);
	for (uint32_t i = 0; i < f->n_failure; i++)
		if (f->failure[i].cause != NONE)
			cause[f->failure[i].cause] = true;
	for (uint32_t i = 0; i < f->n_failure; i++) {
		const struct fact_failure *r = &f->failure[i];
		failed[r->src.input] = true;
		/* An attempt that was given up for a break or for the recompile limit is told with those. */
		if (!r->restart && !cause[i] && !(r->caught && r->compile != NONE && w.resolved[r->compile]))
			chain_add(&same, i, sameness(x, r, &key));
	}
	for (uint32_t k = 0; k < same.keys.n; k++) {
		uint64_t count = 0;
		for (uint32_t i = same.first[k]; i != NONE; i = same.next[i])
			count++;
		struct component_view v = judge(&w, same.first[k]);
		tell_failure(&w, &v, count);
		add_view(x, &v);
	}
	for (uint32_t i = 0; i < f->n_input; i++)
		if (!failed[i])
			tell_unfinished(&w, i);
	if (x->n_component)
		qsort_r(x->component, x->n_component, sizeof(*x->component), worst_verdict, f);
	dismiss_witnesses(&w);
	chain_release(&same);
	buf_release(&key);
	free(cause);
	free(failed);
}
