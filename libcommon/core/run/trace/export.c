/* export.c - phase 2 for torch.export's own records (DTRACE records; torch 2.13.0: torch/export/_draft_export.py,
 * torch/fx/experimental/sym_node.py and symbolic_shapes.py): expressions and problems. */
#include "base/srcloc.h"
#include "run/trace/reduce.h"

/* ---- expressions ---- */

/* What an id currently refers to: a row, or NONE. */
static uint32_t row_of(const struct trace *t, const struct json_tape *tape, uint32_t k)
{
	uint64_t id;
	if (!json_u64(tape, k, &id))
		return NONE;
	uint32_t i = intern_find(&t->expr_ids, slice_of((const char *)&id, sizeof(id)));
	return i == NONE ? NONE : t->expr_row[i];
}

static struct fact_loc frame_loc(const struct trace *t, uint32_t node)
{
	const struct trace_frame *f = &t->frame[t->export_stacks.node[node].frame];
	/* Without the string of its file (draft_export's log lacks those defined earlier) the line and the code are still known. */
	uint32_t file = f->file == NONE && f->line > 0 ? facts_intern(t->f, SLICE("?")) : f->file;
	return (struct fact_loc){file, f->line > 0 ? (uint32_t)f->line : 0, f->name, f->code};
}

/* The innermost frame of the user's stack; else the innermost of the whole stack outside torch. */
static struct fact_loc loc_of(const struct trace *t, uint32_t user, uint32_t stack)
{
	if (user != NONE)
		return frame_loc(t, user);
	for (; stack != NONE; stack = t->export_stacks.node[stack].parent) {
		struct fact_loc loc = frame_loc(t, stack);
		if (loc.file != NONE && srcloc_is_user(intern_get(&t->f->names, loc.file)))
			return loc;
	}
	return (struct fact_loc){NONE, 0, NONE, NONE};
}

static void add_expr(struct trace *t, const struct trace_scan *s, uint32_t v, bool unbacked)
{
	const struct json_tape *tape = &s->tape;
	struct trace_expr e = {.src = t->at};
	if (!json_u64(tape, json_get(tape, v, unbacked ? "node_id" : "result_id"), &e.id))
		return; /* nothing can refer to it */
	if (t->n_expr >= TRACE_EXPR_MAX) {
		t->expr_lost++;
		return;
	}
	e.method = unbacked ? NONE : reduce_scalar(t, tape, json_get(tape, v, "method"));
	e.result = reduce_scalar(t, tape, json_get(tape, v, unbacked ? "symbol" : "result"));
	e.args = reduce_lines(t, tape, json_get(tape, v, "arguments"));
	e.user_stack = reduce_stack(t, &t->export_stacks, tape, json_get(tape, v, "user_stack"));
	e.stack = reduce_stack(t, &t->export_stacks, tape, json_get(tape, v, "stack"));
	e.loc = loc_of(t, e.user_stack, e.stack);
	e.first_arg = t->n_expr_arg;
	json_each(tape, json_get(tape, v, "argument_ids"), k) {
		uint32_t arg = e.n_arg < TRACE_ARGS_MAX ? row_of(t, tape, k) : NONE;
		if (arg == NONE)
			continue;
		GROW(t->expr_arg, t->n_expr_arg, t->cap_expr_arg, 1);
		t->expr_arg[t->n_expr_arg++] = arg;
		e.n_arg++;
	}
	GROW(t->expr, t->n_expr, t->cap_expr, 1);
	uint32_t i = intern_add(&t->expr_ids, slice_of((const char *)&e.id, sizeof(e.id)));
	if (i == t->n_expr_row) {
		GROW(t->expr_row, t->n_expr_row, t->cap_expr_row, 1);
		t->n_expr_row++;
	}
	t->expr_row[i] = t->n_expr;
	t->expr[t->n_expr++] = e;
}

uint32_t trace_expr_history(const struct trace *t, uint32_t row, struct trace_expr_step *step, uint32_t max)
{
	OWNED(intern_release) struct intern seen = {0};
	uint32_t n = 0, depth = 0, cap = 0;
	struct {
		uint32_t row, next;
	} *up = NULL; /* the path to the current node */
	while (row != NONE && n < max) {
		uint32_t before = seen.n;
		intern_add(&seen, slice_of((const char *)&row, sizeof(row)));
		if (seen.n > before) {
			step[n++] = (struct trace_expr_step){row, depth};
			GROW(up, depth, cap, 1);
			up[depth].row = row;
			up[depth++].next = 0;
		}
		row = NONE;
		while (depth && row == NONE) {
			const struct trace_expr *e = &t->expr[up[depth - 1].row];
			if (up[depth - 1].next < e->n_arg)
				row = t->expr_arg[e->first_arg + up[depth - 1].next++];
			else
				depth--;
		}
	}
	free(up);
	return n;
}

/* ---- problems ---- */

/* {"s77": "L['x'].size()[0]"} as lines. torch 2.13 writes each local as a list of texts, older ones as one text or null. */
static uint32_t add_pairs(struct trace *t, const struct json_tape *tape, uint32_t k, const char *equals)
{
	LOCAL_BUF b = {0};
	json_each_pair(tape, k, i) {
		uint32_t v = i + 1;
		if (json_is(tape, v, JSON_NULL))
			continue;
		if (b.len)
			buf_addc(&b, '\n');
		json_unescape(tape, i, &b);
		buf_adds(&b, equals);
		if (!json_is(tape, v, JSON_ARRAY))
			json_unescape(tape, v, &b);
		else
			json_each(tape, v, j) {
				if (j > json_first(tape, v))
					buf_adds(&b, ", ");
				if (json_is(tape, j, JSON_STRING))
					json_unescape(tape, j, &b);
				else
					buf_addc(&b, '?'); /* null: nothing symbolic */
			}
	}
	return b.len ? intern_add(&t->f->names, buf_slice(&b)) : NONE;
}

/* The Rust tlparse refuses the records of torch 2.13, whose locals are lists: it does not number their pages. */
static bool rust_reads(const struct json_tape *tape, uint32_t frame)
{
	static const char *const maps[] = {"locals", "symbols"};
	for (unsigned m = 0; m < 2; m++)
		json_each_pair(tape, json_get(tape, frame, maps[m]), i)
			if (!json_is(tape, i + 1, JSON_STRING) && !json_is(tape, i + 1, JSON_NULL))
				return false;
	return true;
}

static struct trace_export *add_failure(struct trace *t, enum trace_export_kind kind)
{
	GROW(t->export, t->n_export, t->cap_export, 1);
	struct trace_export *x = &t->export[t->n_export++];
	*x = (struct trace_export){
	    .src = t->at,
	    .page = NONE,
	    .compile = t->f->attempt[t->at.attempt].compile,
	    .kind = kind,
	    .loc = {NONE, 0, NONE, NONE},
	    .expr = NONE,
	    .result = NONE,
	    .reason = NONE,
	    .sources = NONE,
	    .locals = NONE,
	    .node = NONE,
	    .user_stack = NONE,
	    .stack = NONE,
	};
	return x;
}

static void add_guard(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind, uint32_t v)
{
	const struct json_tape *tape = &s->tape;
	uint64_t line = s->first_line + r->line;
	bool failed = kind == KIND_guard_on_data_dependent_error;
	uint32_t locals = json_get(tape, v, "frame_locals");
	struct trace_export *x = add_failure(t, failed                     ? EXPORT_DATA_DEPENDENT
						: kind == KIND_guard_added ? EXPORT_GUARD
									   : EXPORT_SPECIALIZED);
	x->expr = reduce_scalar(t, tape, json_get(tape, v, "expr"));
	x->result = reduce_scalar(t, tape, json_get(tape, v, "result"));
	x->sources = add_pairs(t, tape, json_get(tape, v, "symbol_to_sources"), " = ");
	x->locals = add_pairs(t, tape, json_get(tape, locals, "locals"), ": ");
	x->node = row_of(t, tape, json_get(tape, v, failed ? "expr_id" : "expr_node_id"));
	x->user_stack = reduce_stack(t, &t->export_stacks, tape, json_get(tape, v, "user_stack"));
	x->stack = reduce_stack(t, &t->export_stacks, tape, json_get(tape, v, "stack"));
	x->loc = loc_of(t, x->user_stack, x->stack);
	if (!t->export_only)
		return;
	LOCAL_BUF name = {0};
	bool listed = !failed && rust_reads(tape, locals);
	buf_adds(&name, "symbolic_guard_information");
	if (!listed)
		buf_addf(&name, "_line_%llu", (unsigned long long)line);
	unsigned flags = ART_HTML | ART_NO_PAYLOAD | (listed ? 0 : ART_UNLISTED);
	x->page = (uint32_t)(reduce_artifact(t, s, r, kind, buf_slice(&name), LANG_TEXT, flags) - t->artifact);
}

static void add_kernel(struct trace *t, const struct trace_scan *s, uint32_t v, bool missing)
{
	const struct json_tape *tape = &s->tape;
	struct trace_export *x = add_failure(t, missing ? EXPORT_MISSING : EXPORT_MISMATCHED);
	x->expr = reduce_scalar(t, tape, json_get(tape, v, "op"));
	x->reason = reduce_scalar(t, tape, json_get(tape, v, "reason"));
}

static void add_program(struct trace *t, struct trace_scan *s, struct trace_record *r)
{
	uint64_t line = s->first_line + r->line;
	uint32_t a = NONE;
	if (t->export_only || t->unlisted)
		a = (uint32_t)(reduce_artifact(t, s, r, KIND_exported_program, SLICE("exported_program"), LANG_PY,
					       t->export_only ? 0 : ART_UNLISTED) -
			       t->artifact);
	if (!t->exported_line) {
		t->exported = a;
		t->exported_line = line;
	}
}

void export_record(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind)
{
	uint32_t v = trace_value(s, r, kind);
	if (kind == KIND_exported_program) {
		add_program(t, s, r);
		return;
	}
	if (!json_is(&s->tape, v, JSON_OBJECT))
		return;
	switch (kind) {
	case KIND_create_unbacked_symbol:
	case KIND_expression_created: add_expr(t, s, v, kind == KIND_create_unbacked_symbol); return;
	case KIND_guard_added:
		/* Others (prefixes "runtime_assert", "deferred") follow from evaluated guards. */
		if (!slice_is(json_word(&s->tape, v, "prefix"), "eval"))
			return;
		/* fall through */
	case KIND_propagate_real_tensors_provenance:
	case KIND_guard_on_data_dependent_error: add_guard(t, s, r, kind, v); return;
	default: add_kernel(t, s, v, kind == KIND_missing_fake_kernel); return;
	}
}
