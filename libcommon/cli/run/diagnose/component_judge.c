/* component_judge.c - which component a failure is of: the exception, the frames that it came through, the records of its compile id. */
#include "run/diagnose/component_part.h"
#include "run/diagnose/evidence.h"

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

struct slice component_first_line(struct slice s)
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

bool component_triton(struct slice reason, struct triton_message *out)
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
	struct slice type = explain_text(x, r->type), reason = component_first_line(explain_text(x, r->reason));
	int stage = -1;
	if (type.n)
		buf_addf(&b, "%.*s%s%.*s\n", SLN(type, CLIP), reason.n ? ": " : "", SLN(reason, CLIP));
	else
		add_line(&b, reason);
	struct triton_message triton;
	if (component_triton(explain_text(x, r->reason), &triton)) {
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

int component_cause(struct explanation *x, const struct fact_failure *r, struct cause *out)
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

/* How to get the smallest program that still fails: from a launcher that the log names, from the trace itself, or by another run. */
static struct slice minify(const struct witnesses *w, const struct component_view *v, const struct fact_failure *r)
{
	struct explanation *x = w->x;
	const struct facts *f = x->facts;
	/* A known problem with a known fix needs no smaller program. */
	const struct fact_known *known = r ? component_known(w, r) : NULL;
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
	return component_quoted(facts_text(f, r->reason), facts_text(f, known->quote)) &&
	       (known->component == COMPONENT_ENVIRONMENT || (ours && known->component == COMPONENT_EAGER) ||
		(c == COMPONENT_EXPORT && (known->component == COMPONENT_RUNTIME || known->component == COMPONENT_LOAD)));
}

/* Ctrl-C while torch.compile was at work: nothing failed; the frames say what took so long. */
const struct compile_phase *component_interrupted(const struct explanation *x, const struct fact_failure *r)
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
	const struct compile_phase *phase = component_interrupted(x, r);
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
		if (slice_has(cause, "SIGKILL")) {
			v->title = explain_textf(x, "what killed %s: usually the kernel, when memory runs out", c->of);
			v->why = explain_textf(x, "It only reports that %s was killed by SIGKILL, which comes from outside of it.", c->of);
			v->hint =
			    explain_textf(x,
					  "dmesg | grep -i 'killed process'    # on that machine: did memory run out?\n"
					  "TORCHINDUCTOR_COMPILE_THREADS=2    # fewer compilers at a time, if it was while compiling\n%s",
					  c->hint);
		}
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
	const struct fact_known *known = component_known(w, r);
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

/* A kernel's error on a GPU: the call that reports it does not show which kernel it was. */
static bool is_noticed_later(const struct facts *f, const struct fact_known *known)
{
	static const char *const patterns[] = {"illegal-memory-access", "device-assert", "misaligned-address", "kernel-launch-failure",
					       "launch-timeout"};
	return known && slice_any(facts_text(f, known->pattern), patterns, slice_is);
}

struct component_view component_judge(const struct witnesses *w, uint32_t row)
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
	bool error = number_is_error(component_cause(x, r, &cause)) || (cause.kind == CAUSE_FAKE && is_pythons(cause.type));
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
	const struct fact_known *known = settled ? NULL : component_known(w, r);
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
	const bool own = component_triton(explain_text(x, r->reason), &triton) && own_kernel(&triton);
	if (own) {
		without = true;
		v.title = explain_textf(x, "the program's own Triton kernel %.*s", SLN(triton.kernel, CLIP));
	}
	if (own && !component_known(w, r)) {
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
	else if (r->signal && v.component == COMPONENT_NONE) /* only the shell's line: of a server in C++, or of a program in Python */
		v.next = explain_textf(x,
				       "%.*s\nfxexplain run --recheck -- python app.py    # a program in Python: does it crash without "
				       "torch.compile, too?",
				       SL(v.minify));
	if (v.component == COMPONENT_RUNTIME && is_noticed_later(f, known) && r->frames != NONE) {
		v.title = SLICE("a kernel on the GPU, of compiled code or of eager: the call that reports it came later");
		v.experiment = SLICE("CUDA_LAUNCH_BLOCKING=1 python app.py    # fails at the kernel itself");
		v.minify = SLICE("fxminify -- python app.py    # which graph fails, and the smallest that still does");
	}
	evidence_eager(x, r, &v);
	return v;
}
