/* facts_text.c - facts that need the whole text.
 *
 * Not included: breaks known only from an exception (fullgraph=True; that is a failure). A text has no self times: of compile_times(), they
 * are known for blocks whose nesting is known (nested[]); the others have 0.
 */
#include "run/textlog/textlog_part.h"

/* In messages about shapes, torch names files by their last two components ("app/m.py") or about their last 40 bytes: finds the name in the
 * frames of this text, of this compilation if it matches. */
static void full_file(const struct textlog *t, struct fact_loc *loc, uint32_t compile)
{
	const struct facts *f = t->f;
	struct slice file = facts_text(f, loc->file);
	if (!slice_chr(file, '/') || file.p[0] == '/' || file.p[0] == '<')
		return;
	uint32_t first = compile == NONE ? 0 : compile;
	for (uint32_t k = 0; k < f->n_compile && k < 256; k++) {
		const struct fact_compile *c = &f->compile[(first + k) % f->n_compile];
		struct slice whole = facts_text(f, c->loc.file);
		if (c->src.input == t->input && whole.n > file.n && slice_eq(slice_of(whole.p + whole.n - file.n, file.n), file)) {
			loc->file = c->loc.file;
			return;
		}
	}
}

static void full_files(struct textlog *t)
{
	struct facts *f = t->f;
	for (uint32_t i = t->from.recompile; i < f->n_recompile; i++)
		full_file(t, &f->recompile[i].loc, f->recompile[i].compile);
	for (uint32_t i = t->from.symbol; i < f->n_symbol; i++)
		full_file(t, &f->symbol[i].loc, f->symbol[i].compile);
	for (uint32_t i = t->from.bound; i < f->n_bound; i++)
		full_file(t, &f->bound[i].loc, f->bound[i].compile);
}

/* The phases that started and did not end. Step 2 of Inductor is AOTAutograd's until step 3 begins. */
static void mark_open(struct textlog *t)
{
	static const char *const words[] = {
	    [TEXTLOG_DYNAMO] = "torchdynamo tracing ",
	    [TEXTLOG_BACKEND] = "compiler function ",
	    [TEXTLOG_INDUCTOR] = "torchinductor compiling ",
	};
	uint32_t row = textlog_open_phase(t);
	if (row == NONE)
		return;
	const struct textlog_phase *p = &t->phase[row];
	struct slice name = log_get(t, p->name);
	bool aot = slice_is(name, "inductor") || slice_starts(name, "aot_");
	struct fact_marker *m = facts_new_marker(t->f, fact_src(t->input, p->line));
	m->component = p->component == TEXTLOG_DYNAMO     ? COMPONENT_DYNAMO
		       : p->component == TEXTLOG_INDUCTOR ? COMPONENT_INDUCTOR
		       : aot                              ? COMPONENT_AOTAUTOGRAD
							  : COMPONENT_BACKEND;
	m->compile = p->compile;
	LOCAL_BUF what = {0};
	buf_adds(&what, words[p->component]);
	buf_add_slice(&what, name);
	m->what = facts_intern(t->f, buf_slice(&what));
}

static void finish_breaks(struct textlog *t)
{
	struct facts *f = t->f;
	uint32_t n = t->from.brk;
	for (uint32_t i = 0; i < t->n_said; i++) {
		struct fact_break *b = &f->brk[t->from.brk + i];
		if (t->said[i].said == SAID_ERROR)
			continue;
		b->explained = t->said[i].said == SAID_EXPLAIN;
		struct fact_compile *c = b->compile == NONE ? NULL : &f->compile[b->compile];
		if (c) {
			c->breaks++;
			if (c->status != COMPILE_FAILED)
				c->status = b->kind == BREAK_SKIPPED ? COMPILE_SKIPPED : COMPILE_BREAK;
		}
		f->brk[n++] = *b;
	}
	f->n_brk = n;
}

enum { LOOK_BACK = 4096 };

/* TORCH_LOGS=+dynamo has the compilations but not the guards that failed: 0/1 after a 0/0 that worked is a recompile, whatever the
 * reason. */
static void infer_recompiles(struct textlog *t)
{
	struct facts *f = t->f;
	if (f->n_recompile > t->from.recompile)
		return;
	for (uint32_t i = t->from.compile; i < f->n_compile; i++) {
		const struct fact_compile *c = &f->compile[i];
		bool variant = false;
		for (uint32_t k = i; c->compile > 0 && !variant && k-- > t->from.compile && i - k < LOOK_BACK;) {
			const struct fact_compile *o = &f->compile[k];
			variant = o->process == c->process && o->frame == c->frame && o->status != COMPILE_FAILED &&
				  o->status != COMPILE_SKIPPED && o->compile >= 0 && o->compile < c->compile;
		}
		if (!variant)
			continue;
		struct fact_recompile *to = facts_new_recompile(f, c->src);
		to->compile = i;
		to->loc = c->loc;
	}
}

/* ---- how the program ended ---- */

enum { BEHIND = 20 }; /* lines that threads and child processes write after a program's last exception */

static bool at_the_end(const struct textlog *t, const struct fact_failure *e)
{
	struct slice stack = log_get(t, e->stack), line;
	uint64_t end = e->src.line;
	while (slice_line(&stack, &line))
		end++;
	return end + BEHIND >= t->lines;
}

static void mark_end(struct textlog *t)
{
	struct fact_failure *failure = t->f->failure;
	if (t->last_end != NONE)
		failure[t->last_end].ended = true;
	if (t->last_failure != NONE && !t->killed && at_the_end(t, &failure[t->last_failure]))
		failure[t->last_failure].ended = true;
}

/* ---- times ---- */

/* The blocks that a block of dynamo_timed is nested in (torch 2.13.0), outermost first; if one is missing, the next one around it is
 * used. */
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

static int32_t nested_place(struct slice name)
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
		int32_t k = nested_place(facts_text(f, f->phase[i].name));
		if (k >= 0) {
			row[k] = i;
			f->phase[i].self = f->phase[i].seconds;
		}
	}
	for (unsigned i = 0; i < ARRAY_LEN(nested); i++) {
		if (row[i] == NONE || !nested[i].in)
			continue;
		/* The nearest existing one around it. */
		int32_t up = nested_place(slice_str(nested[i].in));
		while (up >= 0 && row[up] == NONE)
			up = nested[up].in ? nested_place(slice_str(nested[up].in)) : -1;
		if (up >= 0)
			f->phase[row[up]].self -= f->phase[row[i]].seconds;
	}
	for (uint32_t i = first; i < f->n_phase; i++)
		if (f->phase[i].self < 0)
			f->phase[i].self = 0; /* workers run in parallel to the block that waits for them */
}

/* ---- the input ---- */

static void damage(struct textlog *t, uint64_t count, uint64_t line, const char *what)
{
	struct facts *f = t->f;
	if (!count)
		return;
	PUSH(f, damage) = (struct fact_damage){.input = t->input,
					       .kind = facts_intern(f, SLICE("left_out")),
					       .what = facts_intern(f, slice_str(what)),
					       .count = count,
					       .line = line};
}

static void finish_input(struct textlog *t)
{
	struct fact_input *in = &t->f->input[t->input];
	in->bytes = t->bytes;
	in->lines = t->lines;
	in->records = t->records;
	in->rank = t->rank < 0 ? -1 : t->rank;
	in->processes = t->n_process;
	for (uint32_t i = 0; i < t->n_process; i++)
		in->resets += t->process[i].generation.number;
	for (uint32_t i = t->from.phase; i < t->f->n_phase; i++)
		if (slice_is(log_get(t, t->f->phase[i].name), "_compile.compile_inner"))
			in->seconds = t->f->phase[i].seconds;
	damage(t, t->cut, t->cut_line, "a traceback without its exception: the text ends or was cut inside it");
	if (t->lost) {
		LOCAL_BUF lost = {0};
		buf_addf(&lost, "the text could be read only up to here: %s", t->lost);
		damage(t, 1, t->lines, buf_str(&lost));
	}
	damage(t, t->rows_left, 0, "facts left out: there are more of one kind than are kept");
	damage(t, t->long_lines, 0, "very long lines, of which only the beginning was read");
	damage(t, t->texts_left, 0, "texts left out: there are more than are kept");
}

void log_finish(struct textlog *t)
{
	mark_open(t);
	finish_breaks(t);
	infer_recompiles(t);
	full_files(t);
	mark_end(t);
	self_times(t->f, t->from.phase);
	log_place_stacks(t);
	log_lone_compiler_error(t);
	finish_input(t);
}

/* ---- reading ---- */
