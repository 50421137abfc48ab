/* facts_text.c - a text log's facts: rows of struct textlog (torchlog/torchlog.h) as rows of the model.
 *
 * Not taken: breaks that only an exception tells (fullgraph=True; that is a failure), ranges that follow from guards, skipped frames.
 * A text has no self times: of compile_times() those are known whose place in the nesting is (nested[]); the others have 0.
 */
#include "diagnose/facts.h"
#include "diagnose/patterns.h"
#include "io/window.h"
/* The model and the reader name components alike, for different things. */
#include "torchlog/torchlog.h"

enum { FRAMES = 16 };

struct text_reading {
	struct facts *f;
	struct textlog t;
	uint32_t input;
	struct buf tmp;
};

static struct fact_src src_of(const struct text_reading *r, const struct textlog_at *at) { return (struct fact_src){r->input, at->line}; }

static uint32_t text_of(struct text_reading *r, uint32_t id) { return id == NONE ? NONE : facts_intern(r->f, textlog_text(&r->t, id)); }

static struct fact_loc loc_of(struct text_reading *r, const struct trace_loc *loc)
{
	if (loc->file == NONE)
		return facts_no_loc();
	return (struct fact_loc){text_of(r, loc->file), loc->line, text_of(r, loc->function), text_of(r, loc->code)};
}

/* The compile id's row; the attempt of "0/0_1" counts. */
static uint32_t compile_of(struct text_reading *r, const struct textlog_at *at)
{
	struct slice id = textlog_text(&r->t, at->compile);
	if (at->compile == NONE || !id.n)
		return NONE;
	uint32_t row = facts_compile(r->f, r->input, id, at->line);
	struct fact_compile *c = &r->f->compile[row];
	const char *attempt = slice_chr(id, '_');
	uint64_t n;
	if (attempt && slice_u64(slice_of(attempt + 1, (size_t)(id.p + id.n - attempt - 1)), &n) && n < 1000 && n + 1 > c->attempts) {
		c->attempts = (uint32_t)n + 1;
		c->restarted = (uint32_t)n;
	}
	if (!c->src.line || at->line < c->src.line)
		c->src.line = at->line;
	return row;
}

/* torch names files in messages about shapes by their last two parts ("app/m.py"): the name as the frames of this text have it, of this
 * compilation if it fits. */
static struct fact_loc full_loc(struct text_reading *r, const struct trace_loc *loc, uint32_t compile)
{
	struct fact_loc to = loc_of(r, loc);
	struct slice file = facts_text(r->f, to.file);
	if (!file.n || file.p[0] == '/' || file.p[0] == '<')
		return to;
	uint32_t first = compile == NONE ? 0 : compile;
	for (uint32_t k = 0; k < r->f->n_compile && k < 256; k++) {
		const struct fact_compile *c = &r->f->compile[(first + k) % r->f->n_compile];
		struct slice whole = facts_text(r->f, c->loc.file);
		if (c->src.input == r->input && whole.n > file.n && whole.p[whole.n - file.n - 1] == '/' &&
		    !memcmp(whole.p + whole.n - file.n, file.p, file.n)) {
			to.file = c->loc.file;
			break;
		}
	}
	return to;
}

/* ---- tables ---- */

static void take_phases(struct text_reading *r)
{
	for (uint32_t i = 0; i < r->t.phase.n; i++) {
		const struct textlog_phase *p = &r->t.phase.row[i];
		uint32_t row = compile_of(r, &p->at);
		if (row == NONE)
			continue;
		struct fact_compile *c = &r->f->compile[row];
		if (p->component == TEXTLOG_DYNAMO && p->step == STEP_BEGIN && p->loc.line) {
			struct slice function;
			uint32_t line;
			/* After torch._dynamo.reset() ids begin anew: the first frame of an id keeps it. */
			if (c->loc.line)
				continue;
			c->loc = loc_of(r, &p->loc);
			if (facts_resume_name(textlog_text(&r->t, p->name), &function, &line)) {
				c->resume_of = facts_intern(r->f, function);
				c->resume_line = line;
			}
		} else if (p->component == TEXTLOG_BACKEND) {
			c->backend = text_of(r, p->name);
			if (p->step == STEP_END)
				c->status = COMPILE_OK;
		} else if (p->step == STEP_FAIL) {
			c->status = COMPILE_FAILED;
		}
	}
}

/* What had begun and not ended. Step 2 of Inductor is AOTAutograd's until step 3 begins. */
static void take_open(struct text_reading *r)
{
	uint32_t row = textlog_open_phase(&r->t, 0);
	if (row == NONE)
		return;
	const struct textlog_phase *p = &r->t.phase.row[row];
	struct slice name = textlog_text(&r->t, p->name);
	bool aot = slice_is(name, "inductor") || slice_starts(name, "aot_");
	uint32_t compile = compile_of(r, &p->at);
	struct fact_marker *m = facts_new_marker(r->f, src_of(r, &p->at));
	m->component = p->component == TEXTLOG_DYNAMO     ? COMPONENT_DYNAMO
		       : p->component == TEXTLOG_INDUCTOR ? COMPONENT_INDUCTOR
		       : aot                              ? COMPONENT_AOTAUTOGRAD
							  : COMPONENT_BACKEND;
	m->compile = compile;
	static const char *const words[] = {
	    [TEXTLOG_DYNAMO] = "torchdynamo tracing ",
	    [TEXTLOG_BACKEND] = "compiler function ",
	    [TEXTLOG_INDUCTOR] = "torchinductor compiling ",
	};
	buf_reset(&r->tmp);
	buf_adds(&r->tmp, words[p->component]);
	buf_add_slice(&r->tmp, name);
	m->what = facts_intern(r->f, buf_slice(&r->tmp));
}

static void take_breaks(struct text_reading *r)
{
	static const enum fact_break_kind kind[] = {
	    [TEXTLOG_BREAK_CALL] = BREAK_CALL,  [TEXTLOG_BREAK_JUMP] = BREAK_JUMP,    [TEXTLOG_BREAK_GRAPH_BREAK] = BREAK_ASKED,
	    [TEXTLOG_BREAK_STORE] = BREAK_CALL, [TEXTLOG_BREAK_SKIP] = BREAK_SKIPPED, [TEXTLOG_BREAK_OTHER] = BREAK_CALL,
	};
	for (uint32_t i = 0; i < r->t.brk.n; i++) {
		const struct textlog_break *b = &r->t.brk.row[i];
		if (b->said == SAID_ERROR)
			continue;
		uint32_t compile = compile_of(r, &b->at);
		struct fact_break *to = facts_new_brk(r->f, src_of(r, &b->at));
		to->compile = compile;
		to->loc = loc_of(r, &b->loc);
		to->kind = kind[b->kind];
		to->explained = b->said == SAID_EXPLAIN;
		to->reason = text_of(r, b->reason);
		to->explanation = text_of(r, b->explanation);
		to->hints = text_of(r, b->hints);
		to->context = text_of(r, b->context);
		to->url = text_of(r, b->url);
		to->gb = b->gb;
		if (compile == NONE)
			continue;
		r->f->compile[compile].breaks++;
		if (r->f->compile[compile].status != COMPILE_FAILED)
			r->f->compile[compile].status = b->kind == TEXTLOG_BREAK_SKIP ? COMPILE_SKIPPED : COMPILE_BREAK;
	}
}

static void take_recompiles(struct text_reading *r)
{
	for (uint32_t i = 0; i < r->t.recompile.n; i++) {
		const struct textlog_recompile *x = &r->t.recompile.row[i];
		uint32_t compile = compile_of(r, &x->at);
		struct fact_recompile *to = facts_new_recompile(r->f, src_of(r, &x->at));
		to->compile = compile;
		to->against = text_of(r, x->rejected_by);
		to->loc = full_loc(r, x->guard_loc.line ? &x->guard_loc : &x->loc, compile);
		to->guard = text_of(r, x->guard);
		to->old = text_of(r, x->old);
		to->new = text_of(r, x->new);
		to->all = text_of(r, x->all);
		if (compile != NONE && !r->f->compile[compile].loc.line)
			r->f->compile[compile].loc = loc_of(r, &x->loc);
	}
	for (uint32_t i = 0; i < r->t.limit.n; i++) {
		const struct textlog_limit *x = &r->t.limit.row[i];
		uint32_t compile = compile_of(r, &x->at);
		struct fact_limit *to = facts_new_limit(r->f, src_of(r, &x->at));
		to->compile = compile;
		to->loc = loc_of(r, &x->loc);
		to->limit = x->limit < 0 ? 0 : (uint64_t)x->limit;
		to->accumulated = slice_starts(textlog_text(&r->t, x->config), "accumulated");
		to->reason = text_of(r, x->reason);
		if (compile != NONE && !r->f->compile[compile].loc.line)
			r->f->compile[compile].loc = to->loc;
	}
}

/* ---- failures ---- */

/* The innermost frames of a traceback, outermost first: "FILE:LINE in f: code". */
static uint32_t frames_of(struct text_reading *r, const struct textlog_traceback *x)
{
	struct srcloc last[FRAMES], at;
	uint32_t n = 0;
	struct slice rest = textlog_text(&r->t, x->stack);
	while (n < x->frames && srcloc_next(&rest, &at))
		if (at.form == SRCLOC_PYTHON)
			last[n++ % FRAMES] = at;
	buf_reset(&r->tmp);
	for (uint32_t i = n > FRAMES ? n - FRAMES : 0; i < n; i++) {
		if (r->tmp.len)
			buf_addc(&r->tmp, '\n');
		srcloc_format(&r->tmp, &last[i % FRAMES], SRCLOC_AT, false);
		if (last[i % FRAMES].code.n) {
			buf_adds(&r->tmp, ": ");
			buf_add_slice(&r->tmp, last[i % FRAMES].code);
		}
	}
	return facts_intern(r->f, buf_slice(&r->tmp));
}

static void damage(struct text_reading *r, uint64_t count, uint64_t line, const char *what)
{
	struct facts *f = r->f;
	if (!count)
		return;
	GROW(f->damage, f->n_damage, f->cap_damage, 1);
	f->damage[f->n_damage++] = (struct fact_damage){r->input, facts_intern(f, slice_str(what)), count, line};
}

static void take_tracebacks(struct text_reading *r)
{
	struct textlog *t = &r->t;
	uint32_t *row = xreallocarray(NULL, t->traceback.n + 1u, sizeof(*row)), cut = 0;
	struct {
		uint32_t stack, frames;
	} seen[64]; /* the same exception comes again and again */
	uint64_t cut_line = 0;
	memset(seen, 255, sizeof(seen));
	for (uint32_t i = 0; i < t->traceback.n; i++) {
		const struct textlog_traceback *x = &t->traceback.row[i];
		row[i] = NONE;
		if (x->type == NONE) { /* the text ends, or was cut, before the exception */
			cut_line = cut++ ? cut_line : x->at.line;
			continue;
		}
		uint32_t compile = compile_of(r, &x->at), slot = x->stack % ARRAY_LEN(seen);
		if (seen[slot].stack != x->stack || x->stack == NONE) {
			seen[slot].stack = x->stack;
			seen[slot].frames = frames_of(r, x);
		}
		struct fact_failure *to = facts_new_failure(r->f, src_of(r, &x->at));
		row[i] = (uint32_t)(to - r->f->failure);
		to->compile = compile;
		to->type = text_of(r, x->type);
		to->reason = text_of(r, x->message);
		to->user = loc_of(r, &x->user);
		to->torch = loc_of(r, &x->torch);
		to->frames = seen[slot].frames;
		to->stack = text_of(r, x->stack);
		to->cause = x->cause == NONE ? NONE : row[x->cause];
		to->caught = x->logged;
	}
	damage(r, cut, cut_line, "a traceback without its exception: the text ends or was cut inside it");
	free(row);
}

static void take_signals(struct text_reading *r)
{
	int told = 0; /* faulthandler's word and the shell's are of one death */
	for (uint32_t i = 0; i < r->t.signal.n; i++) {
		const struct textlog_signal *x = &r->t.signal.row[i];
		if (!x->faulthandler && x->number && x->number == told) {
			told = 0;
			continue;
		}
		told = x->faulthandler ? x->number : told;
		uint32_t compile = compile_of(r, &x->at);
		struct fact_failure *to = facts_new_failure(r->f, src_of(r, &x->at));
		to->compile = compile;
		to->type = text_of(r, x->name);
		to->reason = x->core_dumped ? facts_intern(r->f, SLICE("core dumped")) : NONE;
		to->frames = text_of(r, x->frames);
		to->user = loc_of(r, &x->user);
		to->signal = x->number;
		if (x->inner.line) {
			struct srcloc at = {.file = textlog_text(&r->t, x->inner.file),
					    .line = x->inner.line,
					    .func = textlog_text(&r->t, x->inner.function)};
			buf_reset(&r->tmp);
			buf_adds(&r->tmp, "in ");
			srcloc_format(&r->tmp, &at, SRCLOC_AT, true);
			to->reason = facts_intern(r->f, buf_slice(&r->tmp));
		}
		if (x->inner.file != NONE && srcloc_is_framework(textlog_text(&r->t, x->inner.file)))
			to->torch = loc_of(r, &x->inner);
	}
}

/* ---- shapes ---- */

/* The guard from which a replacement follows stands before it, in the same compilation. */
static struct fact_loc guard_before(struct text_reading *r, uint32_t i, uint32_t compile)
{
	const struct textlog_guard *x = &r->t.guard.row[i];
	for (uint32_t k = i; k-- > 0 && i - k < 4 && r->t.guard.row[k].at.compile == x->at.compile;)
		if (r->t.guard.row[k].loc.line)
			return full_loc(r, &r->t.guard.row[k].loc, compile);
	return facts_no_loc();
}

static bool is_number(struct slice s)
{
	uint64_t v;
	return slice_u64(slice_starts(s, "-") ? slice_of(s.p + 1, s.n - 1) : s, &v);
}

static void take_guard(struct text_reading *r, uint32_t i)
{
	const struct textlog_guard *x = &r->t.guard.row[i], *next = i + 1 < r->t.guard.n ? x + 1 : NULL;
	bool replaced = x->kind == GUARD_REPLACEMENT;
	if (x->kind == GUARD_RANGE)
		return;
	/* "Specializing L['x'].size()[0] to 6" comes before "set_replacement s77 = 6". */
	if (x->kind == GUARD_SPECIALIZED && next && next->kind == GUARD_REPLACEMENT && next->value == x->value)
		return;
	const struct textlog_guard *prev = replaced && i && x[-1].kind == GUARD_SPECIALIZED && x[-1].value == x->value ? x - 1 : NULL;
	uint32_t compile = compile_of(r, &x->at);
	struct fact_bound *to = facts_new_bound(r->f, src_of(r, &x->at));
	to->compile = compile;
	to->loc = replaced ? guard_before(r, i, compile) : full_loc(r, &x->loc, compile);
	to->expr = text_of(r, x->expr);
	to->value = text_of(r, x->value);
	to->reason = text_of(r, x->reason);
	if (x->kind == GUARD_SPECIALIZED)
		to->sources = text_of(r, x->symbol);
	else
		to->symbol = text_of(r, x->symbol);
	if (prev)
		to->sources = text_of(r, prev->symbol);
	for (uint32_t k = r->t.symbol.n; replaced && !prev && k-- > 0 && r->t.symbol.n - k < 4096;)
		if (r->t.symbol.row[k].symbol == x->symbol && r->t.symbol.row[k].at.compile == x->at.compile &&
		    r->t.symbol.row[k].at.line < x->at.line) {
			to->sources = text_of(r, r->t.symbol.row[k].source);
			break;
		}
	bool constant = replaced && is_number(textlog_text(&r->t, x->value));
	to->kind = x->kind == GUARD_EVAL             ? BOUND_GUARD
		   : x->kind == GUARD_RUNTIME_ASSERT ? BOUND_ASSERT
		   : replaced && !constant           ? BOUND_REPLACED
						     : BOUND_SPECIALIZED;
}

static void take_shapes(struct text_reading *r)
{
	for (uint32_t i = 0; i < r->t.symbol.n; i++) {
		const struct textlog_symbol *x = &r->t.symbol.row[i];
		uint32_t compile = compile_of(r, &x->at);
		struct fact_symbol *to = facts_new_symbol(r->f, src_of(r, &x->at));
		to->compile = compile;
		to->loc = full_loc(r, &x->loc, compile);
		to->symbol = text_of(r, x->symbol);
		to->value = text_of(r, x->value);
		to->range = text_of(r, x->range);
		to->source = text_of(r, x->source);
		to->unbacked = x->unbacked;
	}
	for (uint32_t i = 0; i < r->t.guard.n; i++)
		take_guard(r, i);
	for (uint32_t i = 0; i < r->t.violation.n; i++) {
		const struct textlog_violation *x = &r->t.violation.row[i];
		uint32_t compile = compile_of(r, &x->at);
		struct fact_bound *to = facts_new_bound(r->f, src_of(r, &x->at));
		to->compile = compile;
		to->kind = BOUND_CONSTRAINT;
		to->expr = text_of(r, x->what);
		to->symbol = text_of(r, x->dim);
		to->sources = text_of(r, x->source);
		to->reason = text_of(r, x->fixes);
	}
}

/* ---- times ---- */

/* What a block of dynamo_timed is nested in (torch 2.13.0), outermost first; where one is not there, the next around it is. */
static const struct {
	const char *name, *in;
} nested[] = {
    {"_compile.compile_inner", NULL},
    {"bytecode_tracing", "_compile.compile_inner"},
    {"build_guards", "_compile.compile_inner"},
    {"gc", "_compile.compile_inner"},
    {"OutputGraph.call_user_compiler", "_compile.compile_inner"},
    {"_recursive_pre_grad_passes", "OutputGraph.call_user_compiler"},
    {"create_aot_dispatcher_function", "OutputGraph.call_user_compiler"},
    {"aot_collect_metadata", "create_aot_dispatcher_function"},
    {"compile_fx.<locals>.fw_compiler_base", "create_aot_dispatcher_function"},
    {"compile_fx.<locals>.bw_compiler", "create_aot_dispatcher_function"},
    {"_recursive_joint_graph_passes", "compile_fx.<locals>.fw_compiler_base"},
    {"compile_fx_inner", "compile_fx.<locals>.fw_compiler_base"},
    {"fx_codegen_and_compile", "compile_fx_inner"},
    {"additional_fake_tensor_prop", "fx_codegen_and_compile"},
    {"_recursive_post_grad_passes", "fx_codegen_and_compile"},
    {"GraphLowering.run", "fx_codegen_and_compile"},
    {"GraphLowering.compile_to_fn", "fx_codegen_and_compile"},
    {"GraphLowering.compile_to_module", "GraphLowering.compile_to_fn"},
    {"GraphLowering.codegen", "GraphLowering.compile_to_module"},
    {"Scheduler.__init__", "GraphLowering.codegen"},
    {"Scheduler.codegen", "GraphLowering.codegen"},
    {"PythonWrapperCodegen.generate", "GraphLowering.codegen"},
    {"PyCodeCache.load_by_key_path", "GraphLowering.compile_to_module"},
};

static int32_t place_of(struct slice name)
{
	for (unsigned i = 0; i < ARRAY_LEN(nested); i++)
		if (slice_is(name, nested[i].name))
			return (int32_t)i;
	return -1;
}

static void self_times(struct facts *f, uint32_t first)
{
	uint32_t row[ARRAY_LEN(nested)];
	for (unsigned i = 0; i < ARRAY_LEN(nested); i++)
		row[i] = NONE;
	for (uint32_t i = first; i < f->n_phase; i++) {
		int32_t k = place_of(facts_text(f, f->phase[i].name));
		if (k >= 0) {
			row[k] = i;
			f->phase[i].self = f->phase[i].seconds;
		}
	}
	for (unsigned i = 0; i < ARRAY_LEN(nested); i++) {
		if (row[i] == NONE || !nested[i].in)
			continue;
		/* The nearest one around it that is there. */
		int32_t up = place_of(slice_str(nested[i].in));
		while (up >= 0 && row[up] == NONE)
			up = nested[up].in ? place_of(slice_str(nested[up].in)) : -1;
		if (up >= 0)
			f->phase[row[up]].self -= f->phase[row[i]].seconds;
	}
	for (uint32_t i = first; i < f->n_phase; i++)
		if (f->phase[i].self < 0)
			f->phase[i].self = 0; /* workers run beside the block that waits for them */
}

/* compile_times() may stand there twice, as text and CSV: the last word counts. */
static void take_times(struct text_reading *r)
{
	struct facts *f = r->f;
	uint32_t first = f->n_phase;
	struct intern names = {0};
	double seconds = -1;
	for (uint32_t i = 0; i < r->t.time.n; i++) {
		const struct textlog_time *x = &r->t.time.row[i];
		if (x->kind != TIME_COMPILE)
			continue;
		uint32_t name = text_of(r, x->name), k = first + intern_add(&names, slice_of((char *)&x->name, sizeof(x->name)));
		struct fact_phase *to = k < f->n_phase ? &f->phase[k] : facts_new_phase(f, src_of(r, &x->at));
		to->name = name;
		to->seconds = x->seconds;
		to->calls = x->calls;
		if (slice_is(textlog_text(&r->t, x->name), "_compile.compile_inner"))
			seconds = x->seconds;
	}
	intern_release(&names);
	self_times(f, first);
	f->input[r->input].seconds = seconds;
}

/* ---- the rest ---- */

static void take_caches(struct text_reading *r)
{
	for (uint32_t i = 0; i < r->t.cache.n; i++) {
		const struct textlog_cache *x = &r->t.cache.row[i];
		uint32_t compile = compile_of(r, &x->at);
		struct fact_cache *to = facts_new_cache(r->f, src_of(r, &x->at));
		to->compile = compile;
		to->kind = slice_is(textlog_text(&r->t, x->cache), "AOTAutograd") ? FACT_CACHE_AOT : FACT_CACHE_FX;
		to->what = x->kind == TEXTLOG_CACHE_HIT ? FACT_HIT : x->kind == TEXTLOG_CACHE_MISS ? FACT_MISS : FACT_BYPASS;
		to->name = text_of(r, x->cache);
		to->reason = x->kind == TEXTLOG_CACHE_BYPASS ? text_of(r, x->reason) : NONE;
	}
	for (uint32_t i = 0; i < r->t.skip.n; i++) {
		const struct textlog_skip *x = &r->t.skip.row[i];
		uint32_t compile = compile_of(r, &x->at);
		struct fact_cudagraph *to = facts_new_cudagraph(r->f, src_of(r, &x->at));
		to->compile = compile;
		to->loc = loc_of(r, &x->loc);
		to->reason = text_of(r, x->reason);
	}
}

static void take_paths(struct text_reading *r)
{
	static const char *const what[] = {
	    [PATH_DEBUG_TRACE] = "debug trace", [PATH_OUTPUT_CODE] = "output code", [PATH_REPRO] = "minifier launcher",
	    [PATH_CHECKPOINT] = "checkpoint",   [PATH_TRACE_LOG] = "trace log",     [PATH_OTHER] = "file",
	};
	for (uint32_t i = 0; i < r->t.path.n; i++) {
		const struct textlog_path *x = &r->t.path.row[i];
		uint32_t compile = compile_of(r, &x->at);
		struct fact_path *to = facts_new_path(r->f, src_of(r, &x->at));
		to->compile = compile;
		to->what = facts_intern(r->f, slice_str(what[x->kind]));
		to->path = text_of(r, x->path);
	}
	for (uint32_t i = 0; i < r->t.compiler.n; i++) {
		const struct textlog_compiler *x = &r->t.compiler.row[i];
		uint32_t compile = compile_of(r, &x->at);
		struct fact_compiler_error *to = facts_new_compiler_error(r->f, src_of(r, &x->at));
		to->compile = compile;
		to->at = loc_of(r, &x->loc);
		to->at.code = text_of(r, x->quoted);
		to->column = x->col;
		to->severity = text_of(r, x->severity);
		to->message = text_of(r, x->message);
		to->command = text_of(r, x->command);
	}
}

static void take_input(struct text_reading *r)
{
	struct fact_input *in = &r->f->input[r->input];
	const struct textlog *t = &r->t;
	in->bytes = t->bytes;
	in->lines = t->lines;
	in->records = t->records;
	for (uint32_t i = 0; i < t->version.n; i++) {
		struct slice what = textlog_text(t, t->version.row[i].what);
		uint32_t *to = slice_is(what, "torch")    ? &in->torch_version
			       : slice_is(what, "python") ? &in->python_version
			       : slice_is(what, "cuda")   ? &in->cuda_version
							  : NULL;
		if (to && *to == NONE)
			*to = text_of(r, t->version.row[i].version);
	}
	uint64_t left = 0;
#define X(name, type) left += t->name.left;
	TEXTLOG_TABLES(X)
#undef X
	buf_reset(&r->tmp);
	if (t->lost) {
		buf_addf(&r->tmp, "the text could be read only up to here: %s", t->lost);
		damage(r, 1, t->lines, buf_str(&r->tmp));
	}
	damage(r, left, 0, "facts left out: there are more of one kind than are kept");
	damage(r, t->long_lines, 0, "very long lines, of which only the beginning was read");
	damage(r, t->texts_left, 0, "texts left out: there are more than are kept");
}

/* A table's rows are all of one rank: then the text is. */
static void take_rank(struct text_reading *r)
{
	int64_t rank = -2;
#define X(name, type) \
	for (uint32_t i = 0; i < r->t.name.n; i++) \
		rank = rank == -2 || rank == r->t.name.row[i].at.rank ? r->t.name.row[i].at.rank : -1;
	TEXTLOG_TABLES(X)
#undef X
	r->f->input[r->input].rank = rank < 0 ? -1 : rank;
}

/* ---- reading ---- */

static void on_match(void *ctx, const struct pattern_match *m)
{
	struct text_reading *r = ctx;
	facts_take_known(r->f, (struct fact_src){r->input, m->line}, NONE, m);
}

/* Whole lines where there are any: what ends at a line's end is not copied. */
static size_t line_end(const char *data, size_t len)
{
	const char *nl = memrchr(data, '\n', len);
	return nl ? (size_t)(nl + 1 - data) : len;
}

static void read_all(struct text_reading *r, struct input *in, const struct facts_options *o)
{
	struct window w = {0};
	struct pattern_scan scan;
	bool known = o && o->patterns, last = false;
	if (known)
		pattern_scan_init(&scan, o->patterns, on_match, r);
	while (input_next(in, &w, 1 << 20, line_end) > 0) {
		last = w.last;
		textlog_feed(&r->t, w.data, w.len);
		if (known)
			pattern_scan_feed(&scan, slice_of(w.data, w.len), last);
	}
	if (known) {
		if (!last)
			pattern_scan_feed(&scan, slice_of("", 0), true);
		pattern_scan_release(&scan);
	}
	r->t.lost = in->lost;
	r->f->input[r->input].unread = in->unread ? in->lost : NULL;
	window_release(&w);
	textlog_finish(&r->t);
}

int facts_add_textlog(struct facts *f, const char *path, const struct facts_options *o, struct err *err)
{
	struct text_reading r = {.f = f};
	struct input in;
	if (input_open(&in, path, err) < 0)
		return -1;
	r.input = facts_input(f, FACT_TEXTLOG, path);
	textlog_init(&r.t);
	read_all(&r, &in, o);
	input_close(&in);
	take_phases(&r);
	take_breaks(&r);
	take_recompiles(&r);
	take_tracebacks(&r);
	take_signals(&r);
	take_open(&r);
	take_shapes(&r);
	take_times(&r);
	take_caches(&r);
	take_paths(&r);
	take_input(&r);
	take_rank(&r);
	textlog_release(&r.t);
	buf_release(&r.tmp);
	return 0;
}
