/* component.c - which component of the compiler failed, the evidence, and what would prove it.
 *
 * Three witnesses: the exception (its type says most where torch has one for the component), the frames that it came through (the
 * innermost that belongs to a component), and the records of that compile id (what they show has worked). Without an exception - a
 * crash, a job that was killed - it is the last phase that started and did not end.
 */
#include "run/diagnose/blame.h"
#include "run/diagnose/breaks.h"
#include "run/diagnose/carrier.h"
#include "run/diagnose/cause.h"
#include "run/diagnose/data_guard.h"
#include "run/diagnose/evidence.h"
#include "run/diagnose/phase_of.h"
#include "base/chain.h"
#include "run/text.h"

enum {
	CLIP = 300,
	LONG_TITLE = 160,
	BREAKS_LOOKED_AT = 512,
	FAILURES_LOOKED_AT = 512
}; /* CLIP: most bytes of quoted input in one of our lines */

/* ---- by records ---- */

/* What belongs to a compile id, and what else is known of a failure. */
struct witnesses {
	struct explanation *x;
	struct chain graph, known, known_at, error; /* by compile id; known_at by input and line; error by compile id */
	uint32_t *known_line;                       /* rows of known by input and line */
	bool *resolved;                             /* by compile id: a break or a limit reports it */
	const struct carrier **carrier;             /* by failure: it only reports another process's; NULL: its own */
	uint32_t root;                              /* the failure that those report: a row, NONE */
	uint32_t loose_errors[16], n_loose;         /* the first compiler errors without a compile id */
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

static bool is_torchs(const struct facts *f, const struct fact_failure *r)
{
	return slice_starts(facts_text(f, r->type), "torch.") || slice_find(facts_text(f, r->frames), "torch/");
}

/* What another process raised first is what the others report; that the program ended with their exception is said of it. */
static void follow_carriers(struct witnesses *w)
{
	struct facts *f = w->x->facts;
	w->carrier = xcalloc(f->n_failure + 1, sizeof(*w->carrier));
	w->root = NONE;
	for (uint32_t i = 0; i < f->n_failure; i++) {
		const struct fact_failure *r = &f->failure[i];
		w->carrier[i] = r->restart || r->caught || r->signal ? NULL : carrier_of(w->x, r);
		if (w->root == NONE && !w->carrier[i] && !r->restart && !r->caught)
			w->root = i;
	}
	for (uint32_t i = 0; i < f->n_failure; i++)
		if (w->carrier[i] && !w->carrier[i]->hint && (w->root == NONE || w->root > i || !is_torchs(f, &f->failure[w->root])))
			w->carrier[i] = NULL; /* the program's own words */
	for (uint32_t i = 0; i < f->n_failure && w->root != NONE; i++)
		if (w->carrier[i] && f->failure[i].ended) {
			f->failure[i].ended = false;
			f->failure[w->root].ended = true;
		}
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
	follow_carriers(w);
}

static void dismiss_witnesses(struct witnesses *w)
{
	chain_release(&w->graph);
	chain_release(&w->known);
	chain_release(&w->known_at);
	free(w->known_line);
	chain_release(&w->error);
	free(w->resolved);
	free(w->carrier);
}

static const struct {
	const char *graph;
	const char *says;
} stages[] = {
    {"dynamo_output_graph", "Dynamo's graph"},
    {"aot_joint_graph", "the joint graph"},
    {"aot_forward_graph", "AOTAutograd's forward graph"},
    {"aot_inference_graph", "AOTAutograd's graph"},
    {"aot_backward_graph", "the backward graph"},
    {"inductor_post_grad_graph", "the graph after Inductor's passes"},
    {"inductor_output_code", "the generated code"},
};

/* Lists in words the records of a compile id; *last is the last stage reached (-1: none). */
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

/* The first line with content: "backend='x' raised:" only introduces the next. */
static struct slice first_line(struct slice s)
{
	struct slice line = {0}, next;
	slice_line(&s, &line);
	if (slice_starts(line, "backend='") && slice_ends(line, "raised:") && slice_line(&s, &next) && next.n)
		return next;
	if (slice_starts(line, "=====") && slice_line(&s, &next)) /* ChildFailedError: a box around "train.py FAILED" */
		return next;
	/* torch appends the user's frames to the message, even to an empty one. */
	return slice_starts(line, "from user code") ? slice_of(NULL, 0) : line;
}

static void add_line(struct buf *b, struct slice s)
{
	if (s.n) {
		buf_add(b, s.p, s.n > 400 ? 400 : s.n);
		buf_addc(b, '\n');
	}
}

/* The first compiler error of a failure: by compile id, or by the text of its message (text logs have no ids). */
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

/* Triton's message: "at 9:11:\ndef scale_kernel(x_ptr, ...):\n ... out = y + z\n     ^\nValueError('Cannot make_shape_compatible')". */
struct triton_message {
	struct slice kernel, code, why;
	unsigned line;
};

static bool triton_message(struct slice reason, struct triton_message *out)
{
	struct slice line, before = {0};
	uint64_t no;
	*out = (struct triton_message){0};
	if (!slice_starts(reason, "at ") || !slice_line(&reason, &line))
		return false;
	const char *colon = slice_chr(line, ':');
	if (!colon || !slice_ends(line, ":") || !slice_u64(slice_of(line.p + 3, (size_t)(colon - line.p - 3)), &no))
		return false;
	out->line = (unsigned)no;
	while (slice_line(&reason, &line)) {
		struct slice t = slice_trim(line), def = slice_behind(t, "def ");
		const char *open = slice_chr(def, '(');
		if (!out->kernel.n && slice_starts(t, "def ") && open)
			out->kernel = slice_of(def.p, (size_t)(open - def.p));
		if (slice_is(t, "^"))
			out->code = slice_trim(before);
		else if (t.n)
			out->why = t;
		before = line;
	}
	return out->why.n > 0;
}

/* Not one that Inductor wrote. */
static bool own_kernel(const struct triton_message *m) { return m->kernel.n && !slice_starts(m->kernel, "triton_"); }

static void witness(const struct witnesses *w, const struct fact_failure *r, struct slice at, struct component_view *v)
{
	struct explanation *x = w->x;
	const struct facts *f = x->facts;
	LOCAL_BUF b = {0}, records = {0};
	struct slice type = explain_text(x, r->type), reason = first_line(explain_text(x, r->reason));
	int stage = -1;
	if (type.n)
		buf_addf(&b, "%.*s%s%.*s\n", SLN(type, CLIP), reason.n ? ": " : "", SLN(reason, CLIP));
	else
		add_line(&b, reason);
	struct triton_message triton;
	if (triton_message(explain_text(x, r->reason), &triton)) {
		buf_addf(&b, "kernel %.*s, line %u: %.*s\n", SLN(triton.kernel, CLIP), triton.line, SLN(triton.code, CLIP));
		add_line(&b, triton.why);
	}
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
		buf_addf(&b, "raised at %.*s\n", SLN(path, CLIP));
	}
	if (r->compile != NONE) {
		struct slice id = facts_text(f, f->compile[r->compile].label);
		records_of(w, r->compile, &records, &stage);
		if (records.len)
			buf_addf(&b, "compile id %.*s has %.*s: the components that produced them worked\n", SLN(id, CLIP),
				 SLN(buf_slice(&records), CLIP));
	}
	v->evidence = explain_keep(x, slice_of(b.p, b.len ? b.len - 1 : 0));
}

static const char *experiment(enum component c)
{
	switch (c) {
	case COMPONENT_DYNAMO:
		return "torch.compile(f, backend=\"eager\")    # if it fails as well, Dynamo is at fault\n"
		       "TORCH_LOGS=\"+dynamo\" TORCHDYNAMO_VERBOSE=1 python app.py    # shows the instruction where it stopped";
	case COMPONENT_AOTAUTOGRAD:
		return "torch.compile(f, backend=\"aot_eager\")    # if it fails as well and backend=\"eager\" does not, AOTAutograd is at "
		       "fault";
	case COMPONENT_INDUCTOR:
	case COMPONENT_CODEGEN:
	case COMPONENT_COMPILER:
	case COMPONENT_RUNTIME: return "torch.compile(f, backend=\"aot_eager\")    # if it works, Inductor is at fault";
	case COMPONENT_BACKEND: return "torch.compile(f, backend=\"eager\")    # if it works, your backend is at fault";
	case COMPONENT_EXPORT: return "torch.export.draft_export(model, args)    # keeps going and lists everything that blocks the export";
	default: return "";
	}
}

/* What Dynamo wraps: the exception inside, the operator. Returns the number of the break, -1 if it has none. */
static int cause_of(struct explanation *x, const struct fact_failure *r, struct cause *out)
{
	struct break_text text;
	struct slice reason = explain_text(x, r->reason);
	break_text_parse(reason, &text);
	cause_find(x, reason, text.explanation, text.context, out);
	return text.gb;
}

/* A type that operations raise on real tensors, too: not one of torch's own for what tracing cannot do. */
static bool is_pythons(struct slice type)
{
	static const char *const own[] = {"RuntimeError",   "TypeError",      "ValueError",          "IndexError",       "KeyError",
					  "AttributeError", "AssertionError", "NotImplementedError", "ZeroDivisionError"};
	return slice_any(type, own, slice_is);
}

static struct fact_known *known_of(const struct witnesses *w, const struct fact_failure *r);

/* How to get the smallest program that still fails: from a launcher that the log names, from the trace itself, or by another run. */
static struct slice minify(const struct witnesses *w, const struct component_view *v, const struct fact_failure *r)
{
	struct explanation *x = w->x;
	const struct facts *f = x->facts;
	/* A known problem with a known fix needs no smaller program. */
	const struct fact_known *known = r ? known_of(w, r) : NULL;
	if (known && !(r && r->signal) && !slice_find(facts_text(f, known->hint), "fxminify") &&
	    !slice_find(facts_text(f, known->pattern), "-failed"))
		return slice_of(NULL, 0);
	bool aot = v->component == COMPONENT_INDUCTOR || v->component == COMPONENT_CODEGEN || v->component == COMPONENT_COMPILER ||
		   v->component == COMPONENT_RUNTIME;
	if (r && r->signal && (v->component == COMPONENT_RUNTIME || v->component == COMPONENT_NONE))
		return SLICE("fxexplain crash CORE MODEL.pt2    # finds the kernel, its operand and the line of Python; takes a core file "
			     "or a backtrace");
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
	/* Another run that writes a trace: torch's own dump needs a failure that gets out of torch.compile. Both forms end in ";": the program
	 * fails, as before. */
	if (aot && !(r && r->signal) && v->compile != NONE && facts_text(f, f->compile[v->compile].id).n)
		return explain_textf(x, "TORCH_TRACE=traces python app.py; fxminify --graph %.*s traces/*.log",
				     SLN(facts_text(f, f->compile[v->compile].id), CLIP));
	return explain_textf(x,
			     "TORCHDYNAMO_REPRO_AFTER=%s TORCHDYNAMO_REPRO_LEVEL=%d python app.py; "
			     "fxminify torch_compile_debug/run_*/minifier/minifier_launcher.py",
			     aot ? "aot" : "dynamo", r && r->signal ? 3 : 2);
}

static bool exports(struct slice stack)
{
	struct slice line;
	while (slice_line(&stack, &line)) /* pt2_archive loads and calls packages */
		if ((slice_find(line, "torch/export/") || slice_find(line, "torch/_export/")) && !slice_find(line, "pt2_archive"))
			return true;
	return false;
}

/* Inside the call of a loaded package (torch/_inductor/package, torch/export/pt2_archive: AOTICompiledModel.__call__). */
static bool calls_model(struct slice frames)
{
	struct slice line = {0}, last = {0};
	while (slice_line(&frames, &line))
		last = slice_find(line, "torch/") ? line : last;
	return slice_find(last, "ackage.py:") && slice_find(last, " in __call__");
}

/* The known message is part of the failure's, or the failure's first line is part of it. */
static bool quoted_in(struct slice reason, struct slice quote)
{
	struct slice first = slice_first_line(reason);
	first.n = first.n > CLIP / 2 ? CLIP / 2 : first.n; /* a quote holds only the start of a long line */
	return quote.n && first.n && (memmem(reason.p, reason.n, quote.p, quote.n) || memmem(quote.p, quote.n, first.p, first.n));
}

/* A known message inside the failure's own also knows what frames cannot: that the program is at fault in what a backend or torch.export
 * ran of it, an exported model when it is called, the environment wherever it is hit. */
static bool knows_better(const struct facts *f, const struct fact_failure *r, const struct fact_known *known, enum component c)
{
	/* It only says that tracing failed, not whether eager would. */
	if (known->component == COMPONENT_NONE || slice_is(facts_text(f, known->pattern), "fake-call-failed"))
		return false;
	if (known->component != COMPONENT_ENVIRONMENT && (c == COMPONENT_EAGER || c == COMPONENT_AOTAUTOGRAD || c == COMPONENT_NONE))
		return true;
	bool ours = c == COMPONENT_BACKEND || c == COMPONENT_EXPORT;
	return quoted_in(facts_text(f, r->reason), facts_text(f, known->quote)) &&
	       (known->component == COMPONENT_ENVIRONMENT || (ours && known->component == COMPONENT_EAGER) ||
		(c == COMPONENT_EXPORT && (known->component == COMPONENT_RUNTIME || known->component == COMPONENT_LOAD)));
}

/* Ctrl-C while torch.compile was at work: nothing failed; the frames say what took so long. */
static const struct compile_phase *interrupted_in(const struct explanation *x, const struct fact_failure *r)
{
	if (!slice_is(explain_text(x, r->type), "KeyboardInterrupt"))
		return NULL;
	const struct compile_phase *p = phase_of(explain_text(x, r->stack));
	return p ? p : phase_of(explain_text(x, r->frames));
}

/* What no component is at fault for: the user's Ctrl-C, and what another process failed with, which is not in the text. */
static bool judge_others(const struct witnesses *w, const struct fact_failure *r, struct component_view *v)
{
	struct explanation *x = w->x;
	const struct carrier *c = w->carrier[v->failure];
	const struct compile_phase *phase = interrupted_in(x, r);
	if (slice_is(explain_text(x, r->type), "KeyboardInterrupt")) {
		v->interrupted = true;
		v->title = phase ? slice_str(phase->doing) : SLICE("torch was not compiling");
	} else if (c) {
		struct slice cause = carrier_root_cause(x, explain_text(x, r->reason));
		v->basis = BASIS_NONE;
		v->title = explain_textf(x, "why %s failed: its own traceback is not in this log", c->of);
		v->why = explain_textf(x, "It only reports that %s failed.", c->of);
		v->hint = slice_str(c->hint);
		witness(w, r, slice_of(NULL, 0), v);
		if (cause.n)
			v->evidence = explain_textf(x, "%.*s\n%.*s", SL(v->evidence), SL(cause));
		return true;
	} else {
		return false;
	}
	witness(w, r, slice_of(NULL, 0), v);
	return true;
}

/* What only tracing raises: why, and what to do. */
static void only_tracing(struct explanation *x, struct slice reason, struct slice stack, struct component_view *v)
{
	struct slice node = cause_node(reason);
	if (slice_find(reason, "distributed/fsdp/") || slice_find(stack, "distributed/fsdp/_") ||
	    slice_find(stack, "distributed/fsdp/fully_sharded")) {
		v->why =
		    SLICE("FSDP1 keeps each rank's share of the weights in flat, sharded tensors and restores them in hooks, which tracing "
			  "does not run: inside the graph a weight is still its 1-D shard.");
		v->hint =
		    SLICE("Use FSDP2: torch.distributed.fsdp.fully_shard(model), then compile each block.\n"
			  "With FSDP1: FullyShardedDataParallel(model, use_orig_params=True), and compile the modules inside it, before "
			  "they are wrapped.");
		return;
	}
	v->why = node.n ? explain_textf(x, "Only tracing raises it, here for %.*s: eager mode has neither symbolic sizes nor fake tensors.",
					SLN(node, CLIP))
			: SLICE("Only tracing raises it: eager mode has neither symbolic sizes nor fake tensors.");
	v->hint = SLICE("Keep the operation out of the graph: torch.compiler.disable on a function that holds it.\n"
			"If it is about symbolic sizes: torch.compile(f, dynamic=False)");
}

/* Does anything in the input show Python or torch.compile? Else it may be a server in C++. */
static bool python_seen(const struct facts *f, const struct fact_failure *r)
{
	bool seen = f->n_compile > 0 || (r->frames != NONE && !r->native) || f->input[r->src.input].torch_version != NONE;
	for (uint32_t i = 0; i < f->n_failure && i < FAILURES_LOOKED_AT && !seen; i++)
		seen = f->failure[i].src.input == r->src.input && !f->failure[i].native && !f->failure[i].signal;
	return seen;
}

/* A death in C++'s own words: no experiment with torch.compile, whose code may not be there at all. */
static struct component_view judge_native(const struct witnesses *w, uint32_t row)
{
	struct explanation *x = w->x;
	const struct facts *f = x->facts;
	const struct fact_failure *r = &f->failure[row];
	const struct fact_known *known = known_of(w, r);
	struct component_view v = {.failure = row, .compile = r->compile, .basis = BASIS_LIKELY, .sure = SURE_LIKELY};
	const bool heap = text_heap_message(explain_text(x, r->reason)).n > 0;
	v.component = known && !heap ? known->component : COMPONENT_NONE;
	if (v.component == COMPONENT_NONE && !heap)
		v.component = native_component(explain_text(x, r->reason), explain_text(x, r->stack));
	if (v.component == COMPONENT_EAGER)
		v.title = SLICE("what the program asked of torch (a known message)");
	if (v.component == COMPONENT_NONE) {
		v.sure = SURE_NOT;
		v.basis = BASIS_NONE;
		v.title = heap                                         ? SLICE("what damaged the heap: malloc noticed it later")
			  : slice_find(explain_text(x, r->type), "::") ? SLICE("which part threw this C++ exception")
								       : SLICE("which part crashed");
	}
	witness(w, r, slice_of(NULL, 0), &v);
	v.minify = minify(w, &v, r);
	if (!known || heap)
		v.next = SLICE("fxexplain crash CORE MODEL.pt2    # which kernel and line; takes a core file or this text, too");
	return v;
}

static struct component_view judge(const struct witnesses *w, uint32_t row)
{
	if (w->x->facts->failure[row].native)
		return judge_native(w, row);
	struct explanation *x = w->x;
	const struct facts *f = x->facts;
	const struct fact_failure *r = &f->failure[row];
	struct component_view v = {.failure = row, .compile = r->compile, .basis = BASIS_FOLLOWS};
	if (judge_others(w, r, &v))
		return v;
	struct slice at = {0}, frames = explain_text(x, r->frames);
	bool proof, user;
	enum component type = type_component(explain_text(x, r->type), explain_text(x, r->reason), &proof);
	enum component path = frames_component(frames, &at, &user);
	struct cause cause;
	bool error = number_is_error(cause_of(x, r, &cause)) || (cause.kind == CAUSE_FAKE && is_pythons(cause.type));
	if (r->inferred && slice_starts(explain_text(x, r->reason), FACT_EXPORT_STOPPED))
		type = COMPONENT_EXPORT;
	bool export = exports(explain_text(x, r->stack)) || exports(frames);
	if (type == COMPONENT_EXPORT && r->stack != NONE && !export)
		type = COMPONENT_DYNAMO; /* mark_dynamic under torch.compile */
	else if (type == COMPONENT_DYNAMO && !proof && export)
		type = COMPONENT_EXPORT; /* UserError: a wrong request to torch.export */
	else if (type == COMPONENT_NONE && (path == COMPONENT_AOTAUTOGRAD || path == COMPONENT_DYNAMO) && export && !user)
		path = COMPONENT_EXPORT;
	if (calls_model(frames))
		path = COMPONENT_RUNTIME;
	bool operates = type == COMPONENT_NONE && frames_operate(frames);
	/* Inductor wraps everything below it in an InductorError: the frames know better. */
	bool wraps = type == COMPONENT_INDUCTOR && !proof && (path == COMPONENT_CODEGEN || path == COMPONENT_COMPILER);
	const enum own_check check = evidence_own_check(x, r);
	struct slice fake = cause.kind != CAUSE_NO_FAKE && (type == COMPONENT_EAGER || cause.kind == CAUSE_FAKE)
				? evidence_fake_kernel(x, explain_text(x, r->reason))
				: slice_of(NULL, 0);
	bool tracing = (type == COMPONENT_EAGER || cause.kind == CAUSE_FAKE) &&
		       evidence_only_tracing(explain_text(x, r->reason), explain_text(x, r->stack == NONE ? r->frames : r->stack));
	if (check != CHECK_NONE) {
		v.component = COMPONENT_NONE;
		v.sure = SURE_NOT;
	} else if (fake.n) {
		v.component = COMPONENT_NONE;
		v.sure = SURE_LIKELY;
		v.title = explain_textf(x, "the fake kernel of %.*s (its register_fake)", SLN(fake, CLIP));
		v.why = explain_textf(x, "The fake kernel of %.*s raised it. Only tracing calls the fake kernel, eager mode does not.",
				      SLN(fake, CLIP));
		v.hint = SLICE("Fix the function under @register_fake.\n"
			       "torch.library.opcheck(op, args)    # runs the fake kernel beside the real one");
	} else if (tracing) {
		v.component = export ? COMPONENT_EXPORT : path == COMPONENT_AOTAUTOGRAD ? path : COMPONENT_DYNAMO;
		only_tracing(x, explain_text(x, r->reason), explain_text(x, r->stack == NONE ? r->frames : r->stack), &v);
		v.sure = SURE_LIKELY;
	} else if (cause.kind == CAUSE_NO_FAKE) {
		v.component = export ? COMPONENT_EXPORT : path == COMPONENT_AOTAUTOGRAD ? path : COMPONENT_DYNAMO;
		v.sure = SURE_PROVEN;
	} else if (cause.kind == CAUSE_RAISED || error) {
		v.component = COMPONENT_EAGER; /* the traced code raises it */
		v.sure = SURE_LIKELY;
	} else if (type != COMPONENT_NONE && !wraps) {
		v.component = type;
		v.sure = proof || type == path ? SURE_PROVEN : SURE_LIKELY;
	} else if (path != COMPONENT_NONE) {
		v.component = path;
		v.sure = wraps ? SURE_PROVEN : SURE_LIKELY;
		if (operates || ((path == COMPONENT_DYNAMO || path == COMPONENT_AOTAUTOGRAD) && user))
			v.component = COMPONENT_EAGER;
	} else if (r->compile != NONE && !user && r->user.file == NONE) {
		LOCAL_BUF records = {0};
		int stage;
		records_of(w, r->compile, &records, &stage);
		v.component = after_stage(stage);
		v.sure = SURE_LIKELY;
	} else if (r->signal) {
		v.component = python_seen(f, r) ? COMPONENT_RUNTIME : COMPONENT_NONE;
		v.sure = v.component == COMPONENT_NONE ? SURE_NOT : SURE_LIKELY;
		v.title = v.component == COMPONENT_NONE ? SLICE("which part crashed") : slice_of(NULL, 0);
	} else {
		v.component = user || r->user.file != NONE ? COMPONENT_EAGER : COMPONENT_NONE;
		v.sure = v.component == COMPONENT_NONE ? SURE_NOT : SURE_LIKELY;
	}
	/* Where nothing is proven, the knowledge base says which component a message is from. */
	const bool unknown = v.component == COMPONENT_EAGER;
	const bool settled = v.sure == SURE_PROVEN || check != CHECK_NONE || fake.n || tracing;
	const struct fact_known *known = settled ? NULL : known_of(w, r);
	if (unknown) { /* by its type or its place only: whether eager fails, too, was not seen */
		v.component = COMPONENT_NONE;
		v.sure = SURE_NOT;
	}
	if (known && (r->signal || knows_better(f, r, known, v.component))) {
		v.basis = BASIS_LIKELY;
		v.sure = SURE_LIKELY;
		v.title = slice_of(NULL, 0);
		v.component = known->component == COMPONENT_DYNAMO && export ? COMPONENT_EXPORT
			      : known->component == COMPONENT_BACKEND && path != COMPONENT_NONE
				  ? path /* torch's own backend: which component */
				  : known->component;
	}
	/* Neither a loaded package nor the build of an extension runs under torch.compile. */
	bool without =
	    calls_model(frames) || (r->signal && !python_seen(f, r)) ||
	    (known && (slice_is(facts_text(f, known->pattern), "extension-source") ||
		       slice_is(facts_text(f, known->pattern), "ddp-first-bucket"))); /* a wrong setting fails with any backend */
	struct triton_message triton;
	const bool own = triton_message(explain_text(x, r->reason), &triton) && own_kernel(&triton);
	if (own) {
		without = true;
		v.title = explain_textf(x, "the program's own Triton kernel %.*s", SLN(triton.kernel, CLIP));
	}
	if (own && !known_of(w, r)) {
		v.why =
		    explain_textf(x, "Triton rejects line %u of %.*s: %.*s", triton.line, SLN(triton.kernel, CLIP), SLN(triton.why, CLIP));
		v.hint = SLICE("Fix that line of the kernel: Triton fails the same way without torch.compile.\n"
			       "TRITON_INTERPRET=1 python app.py    # runs the kernel in Python, where shapes can be printed");
	}
	witness(w, r, at, &v);
	/* Recomputation differs with any backend: only eager tells the block from its compiled variants. */
	bool recomputed = known && slice_is(facts_text(f, known->pattern), "checkpoint-recompute");
	v.experiment = without      ? slice_of(NULL, 0)
		       : recomputed ? SLICE("TORCH_COMPILE_DISABLE=1 python app.py    # if it passes, two compiled variants of the block "
					    "were used; if it fails the same way, the block itself differs")
				    : slice_str(experiment(v.component));
	v.minify = own ? slice_of(NULL, 0) : minify(w, &v, r);
	if (v.sure == SURE_NOT)
		v.basis = BASIS_NONE;
	if (check != CHECK_NONE)
		v.title = SLICE("compiled code gave other numbers, or the program's check is wrong");
	else if (v.component == COMPONENT_EAGER)
		v.title = SLICE("what this line asks of torch (a known message; eager was not run)");
	else if (unknown && v.component == COMPONENT_NONE)
		v.title = SLICE("which part failed: eager was not run");
	if (check != CHECK_NONE || (!without && (v.component == COMPONENT_EAGER || (unknown && v.component == COMPONENT_NONE))))
		v.next = evidence_next(check, export && check == CHECK_NONE);
	evidence_eager(x, r, &v);
	return v;
}

/* The last phase that started and did not end: where a crash or a kill hit. */
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

static void add_view(struct explanation *x, const struct component_view *v) { PUSH(x, component) = *v; }

/* The knowledge base gives the cause and the fix of this failure. */
static void better(struct fact_known **best, struct fact_known *k)
{
	if (!k->told && k->level >= FINDING_WARNING && (!*best || k->level > (*best)->level))
		*best = k;
}

/* In a text log a known message is part of the failure's message, below its traceback or that of its cause. With `same`, all matches of
 * that pattern there are marked as reported. */
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
	best = best ? best : known_in(w, r, NULL);
	/* A shell's "Aborted" has no words of its own: those of the error before it. */
	for (i = 0; !best && r->signal && r->frames == NONE && !r->native && i < f->n_known; i++) {
		struct fact_known *k = &f->known[w->known_line[i]];
		if (k->src.input == r->src.input && k->src.line <= r->src.line && !k->told && k->level >= FINDING_ERROR)
			best = k;
	}
	return best;
}

/* What is known of the message. */
static void take_known(const struct witnesses *w, const struct fact_failure *r, struct fact_known *k, struct finding *g)
{
	struct facts *f = w->x->facts;
	k->told = true;
	known_in(w, r, k);
	g->id = facts_text(f, k->pattern);
	g->why = facts_text(f, k->cause);
	g->fix = facts_text(f, k->fix);
	g->hint = facts_text(f, k->hint);
	g->url = first_line(facts_text(f, k->see));
}

/* "Could not guard on data-dependent expression Eq(u0, 4) (unhinted: ...": of one expression. */
static bool same_guard(struct slice reason, struct slice quote)
{
	struct slice p = slice_until(slice_behind(reason, "data-dependent expression "), ").  ("),
		     q = slice_until(slice_behind(quote, "data-dependent expression "), ").  (");
	return p.n && slice_eq(p, q);
}

/* Title, cause and fix, best source first: the wrapped exception, the knowledge base, torch's own explanation. */
static void advise(const struct witnesses *w, const struct component_view *v, const struct fact_failure *r, struct finding *g)
{
	struct explanation *x = w->x;
	struct break_text text;
	struct cause cause;
	struct fact_known *k = known_of(w, r);
	break_text_parse(explain_text(x, r->reason), &text);
	/* Known refusals are fixed by changing the line: not possible where it is torch's or a package's. */
	bool foreign = break_is_foreign(explain_text(x, g->loc.file));
	bool generic =
	    k && (slice_is(facts_text(x->facts, k->pattern), "dynamo-unsupported") ||
		  (foreign && k->component == COMPONENT_DYNAMO && !slice_is(facts_text(x->facts, k->pattern), "symfloat-captured")));
	const struct compile_phase *phase = interrupted_in(x, r);
	if (phase) {
		g->title = explain_textf(x, "Interrupted while %s", phase->doing);
		g->why = slice_str(phase->why);
		g->hint = slice_str(phase->hint);
		return;
	}
	cause_of(x, r, &cause);
	if (cause.kind)
		g->title = cause.title;
	struct triton_message triton;
	if (!k && triton_message(explain_text(x, r->reason), &triton))
		g->title =
		    explain_textf(x, "Triton kernel %.*s, line %u: %.*s", SLN(triton.kernel, CLIP), triton.line, SLN(triton.why, CLIP));
	if (cause.kind == CAUSE_NO_FAKE) {
		g->id = SLICE("operator-no-fake");
		g->why = SLICE("torch traces with fake tensors, which have a shape and a dtype but no values: this operator does not say "
			       "what it returns for "
			       "them. Eager mode needs no fake kernel.");
		g->fix = cause_fake_kernel(x, cause.op);
		if (k)
			k->told = true;
	} else if (k && (!generic || text.gb < 0) && cause.kind != CAUSE_RAISED) {
		struct data_guard guard = {0};
		take_known(w, r, k, g);
		/* A command line, a long explanation: the evidence quotes it. "CompilationError: at 3:28:" is no help. */
		if (!cause.kind && (g->title.n > LONG_TITLE || slice_ends(g->title, ":") || r->native || (r->signal && r->frames == NONE)))
			g->title = facts_text(x->facts, k->title);
		bool onnx = slice_is(facts_text(x->facts, k->pattern), "onnx-export-trace");
		if ((onnx || slice_is(facts_text(x->facts, k->pattern), "guard-on-data")) &&
		    data_guard_find(x, explain_text(x, r->reason), g->loc.code == NONE ? (struct slice){0} : explain_text(x, g->loc.code),
				    &guard)) {
			g->why = onnx ? explain_textf(x, "%.*s\n%.*s", SL(g->why), SL(guard.why)) : guard.why;
			g->hint = onnx ? g->hint : guard.hint;
			g->fix = guard.fix;
			for (uint32_t i = 0; onnx && i < x->facts->n_known && i < FAILURES_LOOKED_AT; i++) {
				struct fact_known *of = &x->facts->known[i];
				of->told |= slice_is(facts_text(x->facts, of->pattern), "guard-on-data") && of->src.input == r->src.input &&
					    same_guard(explain_text(x, r->reason), facts_text(x->facts, of->quote));
			}
		}
	} else if (text.gb >= 0) { /* torch explains its own refusals best */
		const struct slice where[] = {text.reason, text.context};
		g->why = text.explanation;
		break_fix(x, text.gb, where, ARRAY_LEN(where), explain_text(x, g->loc.file), &g->fix, &g->hint);
		if (cause.kind == CAUSE_RAISED) { /* if eager raises it, too, moving the line does not help */
			g->hint = SLICE("If eager mode raises it, too, fix what is passed to this line, or check for it first.\n"
					"If eager mode does not: move the line out of the compiled function.");
			g->fix = slice_of(NULL, 0);
		}
		g->url = text.url;
		if (k)
			k->told = true;
	} else if (v->component != COMPONENT_NONE) {
		g->why = explain_textf(x, "it failed in %.*s", SLN(explain_verdict_title(v), CLIP));
	}
	if (v->why.n) {
		g->why = v->why;
		g->hint = v->hint;
		g->fix = slice_of(NULL, 0);
	}
	g->torch_hint = break_hints(x, &text);
}

static void tell_failure(const struct witnesses *w, const struct component_view *v, uint64_t count, bool survived)
{
	struct explanation *x = w->x;
	struct facts *f = x->facts;
	const struct fact_failure *r = &f->failure[v->failure];
	struct finding *g =
	    explain_finding(x, survived ? FINDING_BREAK : FINDING_FAILURE, r->caught || survived ? FINDING_WARNING : FINDING_ERROR);
	struct slice type = explain_text(x, r->type), reason = first_line(explain_text(x, r->reason));
	const char *dot = slice_rchr(type, '.');
	struct slice word = dot ? slice_of(dot + 1, type.n - (size_t)(dot + 1 - type.p)) : type;
	g->id = v->component == COMPONENT_NONE ? SLICE("failure") : explain_textf(x, "failure-%s", component_name[v->component]);
	g->loc = r->user.file != NONE || r->compile == NONE ? r->user : f->compile[r->compile].loc;
	g->src = r->src;
	g->count = count;
	if (r->compile != NONE)
		g->compiles = facts_text(f, f->compile[r->compile].label);
	g->title =
	    word.n ? explain_textf(x, "%.*s%s%.*s", SLN(word, CLIP), reason.n ? ": " : "", SLN(reason, CLIP)) : explain_keep(x, reason);
	g->evidence = v->evidence;
	g->next = v->next.n ? v->next : v->minify;
	g->frames = explain_text(x, r->stack == NONE ? r->frames : r->stack);
	g->compile = r->compile;
	g->ended = r->ended;
	advise(w, v, r, g);
	if (survived) {
		g->next = slice_of(NULL, 0);
		g->in_python = true;
		g->cost = SLICE("the whole function runs in eager mode");
	}
	if (v->component == COMPONENT_EXPORT && r->inferred) {
		g->why = SLICE("This trace has the graph up to the failure but not the exception: that is on standard error.");
		g->next = SLICE("python app.py 2>err; fxexplain TRACE err");
	}
}

/* The same exception in many compile ids is reported once: the key they must share. */
static struct slice sameness(struct explanation *x, const struct fact_failure *r, struct buf *b)
{
	uint32_t key[] = {r->type, r->user.file, r->user.line};
	buf_reset(b);
	buf_add(b, key, sizeof(key));
	buf_add_slice(b, first_line(explain_text(x, r->reason)));
	return buf_slice(b);
}

/* How long the outermost phase had been open: the innermost may have started just now. */
static double open_seconds(const struct facts *f, uint32_t input)
{
	double most = -1;
	for (uint32_t i = 0; i < f->n_marker; i++)
		if (f->marker[i].src.input == input && !f->marker[i].end && f->marker[i].open > most)
			most = f->marker[i].open;
	return most;
}

static void put_duration(struct buf *b, double seconds)
{
	if (seconds >= 60)
		buf_addf(b, "%.0f min", seconds / 60);
	else
		buf_addf(b, "%.0f s", seconds);
}

static bool is_cut(const struct facts *f, uint32_t input)
{
	for (uint32_t i = 0; i < f->n_damage; i++)
		if (f->damage[i].input == input && slice_find(facts_text(f, f->damage[i].what), "ends inside a record"))
			return true;
	return false;
}

enum { JUST_NOW_S = 60, HARDLY_S = 15 }; /* of the last write: it may still be running; some seconds are not worth a word */

/* Is the program that wrote it still running? What was seen of it; "" if nothing was. */
static void put_life(struct buf *b, const struct fact_input *in)
{
	if (in->writer) {
		buf_addf(b, "; still running: process %u has it open", in->writer);
		if (in->age >= HARDLY_S) {
			buf_adds(b, ", and has written nothing for ");
			put_duration(b, in->age);
		}
	} else if (in->age >= 0 && in->age < JUST_NOW_S) {
		buf_adds(b, "; written within the last minute: perhaps still running");
	}
}

/* "in async_compile.wait for 4 min when the log ends, 9 min into the compilation" */
static void put_open_phase(struct buf *b, const struct facts *f, const struct fact_marker *m, uint32_t input)
{
	struct slice what = facts_text(f, m->what);
	const double whole = open_seconds(f, input);
	buf_addf(b, "in %.*s", SLN(what, CLIP));
	if (m->open >= 1) {
		buf_adds(b, " for ");
		put_duration(b, m->open);
	}
	buf_adds(b, " when the log ends");
	if (whole >= 1 && whole > m->open) {
		buf_adds(b, ", ");
		put_duration(b, whole);
		buf_adds(b, " into the compilation");
	}
}

/* No exception, but something started and did not end, or the log ends inside a record. */
static void tell_unfinished(const struct witnesses *w, uint32_t input)
{
	struct explanation *x = w->x;
	const struct facts *f = x->facts;
	const struct fact_marker *m = open_marker(f, input);
	const struct fact_input *in = &f->input[input];
	const bool cut = is_cut(f, input);
	LOCAL_BUF where = {0};
	if (!m && !cut)
		return;
	struct component_view v = {.component = m ? m->component : COMPONENT_NONE,
				   .sure = SURE_NOT,
				   .failure = NONE,
				   .compile = m ? m->compile : NONE,
				   .unfinished = true};
	if (m) {
		struct slice what = facts_text(f, m->what);
		put_open_phase(&where, f, m, input);
		v.evidence = m->src.line ? explain_textf(x, "'%.*s' started in line %llu and did not end: the log ends inside it",
							 SLN(what, CLIP), (unsigned long long)m->src.line)
					 : explain_textf(x, "'%.*s' started, and nothing after it is in the log", SLN(what, CLIP));
	} else {
		buf_adds(&where, "the log ends inside a record");
	}
	put_life(&where, in);
	v.title = explain_keep(x, buf_slice(&where));
	if (cut)
		v.evidence =
		    explain_textf(x, "%.*s%sthe log ends inside a record: it is being written, the disk is full, or the copy is incomplete",
				  SL(v.evidence), v.evidence.n ? "\n" : "");
	struct finding *g = explain_finding(x, FINDING_FAILURE, FINDING_WARNING);
	g->id = SLICE("unfinished");
	g->src = m ? m->src : fact_src(input, in->lines);
	g->count = 1;
	if (!m)
		g->title = SLICE("The log ends inside a record");
	else if (in->writer)
		g->title = explain_textf(x, "The log ends inside %s: still running", component_title[v.component]);
	else
		g->title = explain_textf(x, "The log ends inside %s: error, kill, crash, %sor still running", component_title[v.component],
					 cut ? "cut copy, " : "");
	g->evidence = v.evidence;
	if (v.compile != NONE) {
		g->loc = f->compile[v.compile].loc;
		g->compiles = facts_text(f, f->compile[v.compile].label);
	}
	add_view(x, &v);
}

static int worst_verdict(const void *a, const void *b, void *facts)
{
	const struct component_view *p = a, *q = b;
	const struct facts *f = facts;
	bool p_caught = p->failure == NONE || f->failure[p->failure].caught;
	bool q_caught = q->failure == NONE || f->failure[q->failure].caught;
	bool p_ended = p->failure != NONE && f->failure[p->failure].ended, q_ended = q->failure != NONE && f->failure[q->failure].ended;
	if (p_ended != q_ended)
		return p_ended ? -1 : 1;
	if (p_caught != q_caught)
		return p_caught ? 1 : -1;
	if (p->sure != q->sure)
		return p->sure > q->sure ? -1 : 1;
	return p->failure < q->failure ? -1 : p->failure > q->failure;
}

/* Is it the reason of a graph break or a recompile limit? In a text log the exception may lack a compile id: then by its place. */
static bool told_elsewhere(const struct witnesses *w, const struct fact_failure *r)
{
	const struct facts *f = w->x->facts;
	if (r->compile != NONE)
		return w->resolved[r->compile];
	if (f->n_limit && slice_starts(facts_text(f, r->reason), "Dynamo recompile limit exceeded"))
		return true;
	for (uint32_t i = 0; i < f->n_brk && i < BREAKS_LOOKED_AT; i++)
		if (f->brk[i].src.input == r->src.input && r->user.line && f->brk[i].loc.line == r->user.line &&
		    f->brk[i].loc.file == r->user.file &&
		    slice_eq(slice_first_line(facts_text(f, f->brk[i].reason)), slice_first_line(facts_text(f, r->reason))))
			return true;
	return false;
}

/* Nor is a known message of a carrier a finding: a pool of the program is not torch's pool of compile workers. */
static void dismiss_carriers(const struct witnesses *w)
{
	for (uint32_t i = 0; i < w->x->facts->n_failure && w->root != NONE; i++) {
		const struct fact_failure *r = &w->x->facts->failure[i];
		struct fact_known *k = w->carrier[i] ? known_of(w, r) : NULL;
		if (!k)
			continue;
		k->told = true;
		known_in(w, r, k);
	}
}

void explain_component(struct explanation *x)
{
	struct facts *f = x->facts;
	OWNED(dismiss_witnesses) struct witnesses w;
	OWNED(chain_release) struct chain same = {0};
	LOCAL_BUF key = {0};
	FREED bool *cause = xcalloc(f->n_failure + 1, sizeof(*cause)), *failed = xcalloc(f->n_input + 1, sizeof(*failed));
	call_witnesses(x, &w);
	dismiss_carriers(&w);
	for (uint32_t i = 0; i < f->n_failure; i++)
		if (f->failure[i].cause != NONE && !w.carrier[i])
			cause[f->failure[i].cause] = true;
	for (uint32_t i = 0; i < f->n_failure; i++) {
		const struct fact_failure *r = &f->failure[i];
		failed[r->src.input] = true;
		/* An attempt abandoned because of a break or the recompile limit is reported with that. */
		if (!r->restart && !cause[i] && !(w.carrier[i] && w.root != NONE) && !(r->caught && told_elsewhere(&w, r)))
			chain_add(&same, i, sameness(x, r, &key));
	}
	for (uint32_t k = 0; k < same.keys.n; k++) {
		uint64_t count = 0;
		uint32_t row = same.first[k];
		for (uint32_t i = row; i != NONE; i = same.next[i], count++)
			row = f->failure[i].ended ? i : row;
		struct component_view v = judge(&w, row);
		const bool survived = evidence_survived(x, &f->failure[row]);
		tell_failure(&w, &v, count, survived);
		if (!survived)
			add_view(x, &v);
	}
	for (uint32_t i = 0; i < f->n_input; i++)
		if (!failed[i])
			tell_unfinished(&w, i);
	if (x->n_component)
		qsort_r(x->component, x->n_component, sizeof(*x->component), worst_verdict, f);
}
