/* facts_shapes.c - symbols and their constraints.
 *
 * torch 2.13.0 (torch/fx/experimental/symbolic_shapes.py): create_symbol and create_unbacked_symbol (rows of struct trace),
 * symbolic_shape_specialization (also), guard_added_fast and propagate_real_tensors (read here), and with TORCH_DTRACE again as guard_added
 * and propagate_real_tensors_provenance, which are not counted twice. A guard evaluated by the user's code has a user_stack; else both
 * locations are in `stack`.
 */
#include "run/trace/facts_part.h"
#include "run/symbols.h"

/* ---- places ---- */

/* Of a frame: of the log's string table, or raw in the record. */
static struct slice file_of(const struct trace *t, const struct json_tape *tape, uint32_t frame)
{
	uint64_t i;
	if (json_u64(tape, json_get(tape, frame, "filename"), &i) && json_get_as(tape, frame, "uninterned_filename", JSON_STRING) == NONE)
		return intern_get(&t->f->names, trace_string(t, i));
	return json_word(tape, frame, "uninterned_filename");
}

static struct fact_loc loc_of(struct trace_reading *r, const struct json_tape *tape, uint32_t frame)
{
	struct slice file = file_of(r->t, tape, frame);
	uint32_t code = facts_intern(r->f, slice_trim(json_text_at(tape, json_get(tape, frame, "loc"), &r->tmp)));
	return (struct fact_loc){facts_intern(r->f, file), json_index(tape, frame, "line", 0),
				 facts_intern(r->f, json_word(tape, frame, "name")), code};
}

/* The shape environment evaluates; its caller is above it. */
static bool is_shape_env(struct slice file)
{
	static const char *const files[] = {"torch/fx/experimental/symbolic_shapes.py",
					    "torch/fx/experimental/sym_node.py",
					    "torch/fx/experimental/recording.py",
					    "torch/_logging/_internal.py",
					    "torch/__init__.py",
					    "torch/_logging/structured.py"};
	for (unsigned i = 0; i < ARRAY_LEN(files); i++)
		if (slice_ends(file, files[i]))
			return true;
	return false;
}

/* The innermost frame of the user's code, and of torch, in a list of frames, outermost first. */
static void places(struct trace_reading *r, const struct json_tape *tape, uint32_t stack, struct fact_loc *user, struct fact_loc *torch)
{
	uint32_t inner = NONE, of_torch = NONE;
	struct slice file, before = {0};
	bool program = false, caller = false; /* owner of the file */
	if (!json_is(tape, stack, JSON_ARRAY))
		return;
	json_each(tape, stack, k) {
		if (!json_is(tape, k, JSON_OBJECT))
			continue;
		file = file_of(r->t, tape, k);
		if (file.p != before.p || file.n != before.n) { /* frames of one file are adjacent */
			enum srcloc_origin origin = srcloc_origin(file);
			program = file.n && origin <= SRCLOC_PACKAGE;
			caller = file.n && origin == SRCLOC_TORCH && !is_shape_env(file);
			before = file;
		}
		if (program)
			inner = k;
		else if (caller)
			of_torch = k;
	}
	if (user && inner != NONE)
		*user = loc_of(r, tape, inner);
	if (torch && of_torch != NONE)
		*torch = loc_of(r, tape, of_torch);
}

/* ---- expressions ---- */

/* Its only symbol, or none; the second of two in an Eq: *second. unbacked: one of them is unbacked. */
static struct slice only_symbol(struct slice expr, struct slice *second, bool *unbacked)
{
	struct slice first = {NULL, 0}, next;
	*second = slice_of(NULL, 0);
	*unbacked = false;
	while (symbol_next(&expr, &next)) {
		*unbacked |= symbol_unbacked(next);
		if (!first.n)
			first = next;
		else if (!slice_eq(first, next))
			*second = next;
	}
	return second->n ? slice_of(NULL, 0) : first;
}

/* "Eq(s77, s17)" and no more: one is replaced by the other. */
static bool is_replacement(struct slice expr, struct slice *from, struct slice *to)
{
	uint64_t number;
	if (!slice_starts(expr, "Eq(s") || !slice_ends(expr, ")"))
		return false;
	struct slice in = slice_of(expr.p + 3, expr.n - 4);
	const char *comma = slice_find(in, ", ");
	if (!comma)
		return false;
	*to = slice_of(in.p, (size_t)(comma - in.p));
	*from = slice_of(comma + 2, in.n - to->n - 2);
	return from->n > 1 && from->p[0] == 's' && slice_u64(slice_of(from->p + 1, from->n - 1), &number) && to->n > 1 &&
	       slice_u64(slice_of(to->p + 1, to->n - 1), &number);
}

static void set_expr(struct facts *f, struct fact_bound *b, struct slice expr)
{
	struct slice second, from, to;
	bool unbacked;
	b->expr = facts_intern(f, expr);
	struct slice symbol = only_symbol(expr, &second, &unbacked);
	b->symbol = facts_intern(f, symbol);
	if (b->kind != BOUND_GUARD)
		return;
	if (is_replacement(expr, &from, &to)) {
		b->kind = BOUND_REPLACED;
		b->symbol = facts_intern(f, from);
		b->value = facts_intern(f, to);
	} else if (unbacked) {
		b->kind = BOUND_ASSERT;
	}
}

/* ---- records ---- */

void reading_bound(struct trace_reading *r, uint32_t compile, const struct json_tape *tape, uint32_t v, enum trace_kind kind)
{
	uint32_t expr = json_get_as(tape, v, "expr", JSON_STRING), result = json_get(tape, v, "result");
	if (expr == NONE)
		return;
	struct fact_loc user = facts_no_loc(), torch = facts_no_loc();
	places(r, tape, json_get(tape, v, "stack"), &user, &torch);
	places(r, tape, json_get(tape, v, "user_stack"), &user, NULL);
	struct fact_bound *b = facts_new_bound(r->f, r->t->at);
	b->compile = compile;
	b->loc = user;
	b->torch = torch;
	b->kind = kind == KIND_propagate_real_tensors ? BOUND_DATA : BOUND_GUARD;
	set_expr(r->f, b, json_text_at(tape, expr, &r->tmp));
	if (json_is(tape, result, JSON_STRING))
		b->value = facts_intern(r->f, json_slice(tape, result));
}

/* ---- from struct trace ---- */

/* {compile, expr} of the existing bounds. */
static uint32_t add_key(struct intern *have, uint32_t compile, uint32_t expr)
{
	uint32_t key[2] = {compile, expr};
	return intern_add(have, slice_of((const char *)key, sizeof(key)));
}

static struct fact_loc torch_of(struct trace_reading *r, uint32_t node)
{
	for (; node != NONE; node = r->t->export_stacks.node[node].parent) {
		const struct trace_frame *x = &r->t->frame[r->t->export_stacks.node[node].frame];
		struct slice file = intern_get(&r->f->names, x->file);
		if (srcloc_origin(file) == SRCLOC_TORCH && !is_shape_env(file)) {
			return (struct fact_loc){x->file, x->line > 0 ? (uint32_t)x->line : 0, x->name, x->code};
		}
	}
	return facts_no_loc();
}

static void take_kernel(struct trace_reading *r, const struct trace_export *x)
{
	struct fact_fake_kernel *to = facts_new_fake_kernel(r->f, x->src);
	to->compile = x->compile;
	to->loc = x->loc;
	to->op = x->expr;
	to->reason = x->reason;
	to->missing = x->kind == EXPORT_MISSING;
}

static void take_exports(struct trace_reading *r, uint32_t from)
{
	OWNED(intern_release) struct intern have = {0};
	for (uint32_t i = from; i < r->f->n_bound && r->t->n_export; i++)
		add_key(&have, r->f->bound[i].compile, r->f->bound[i].expr);
	uint32_t fast = have.n;
	for (uint32_t i = 0; i < r->t->n_export; i++) {
		const struct trace_export *x = &r->t->export[i];
		struct slice expr = facts_text(r->f, x->expr);
		if (x->kind == EXPORT_MISSING || x->kind == EXPORT_MISMATCHED) {
			take_kernel(r, x);
			continue;
		}
		if (x->kind != EXPORT_DATA_DEPENDENT && fast && add_key(&have, x->compile, x->expr) < fast)
			continue;
		struct fact_bound *to = facts_new_bound(r->f, x->src);
		to->compile = x->compile;
		to->loc = x->loc;
		to->torch = torch_of(r, x->stack);
		to->kind = x->kind == EXPORT_GUARD ? BOUND_GUARD : BOUND_DATA;
		set_expr(r->f, to, expr);
		if (x->kind == EXPORT_SPECIALIZED)
			to->value = x->result;
		to->sources = x->sources;
		to->reason = x->reason;
	}
}

static int by_line(const void *a, const void *b)
{
	const struct fact_bound *p = a, *q = b;
	return p->src.line < q->src.line ? -1 : p->src.line > q->src.line;
}

/* propagate_real_tensors has no user_stack; the assertion that torch creates from the same expression right after it does. */
static void place_data(struct facts *f, uint32_t from)
{
	for (uint32_t i = from; i < f->n_bound; i++) {
		struct fact_bound *b = &f->bound[i];
		for (uint32_t k = i + 1; b->kind == BOUND_DATA && k < f->n_bound && k < i + 16; k++)
			if (f->bound[k].kind == BOUND_ASSERT && f->bound[k].compile == b->compile && f->bound[k].expr == b->expr) {
				b->loc = f->bound[k].loc;
				break;
			}
	}
}

void reading_shapes(struct trace_reading *r)
{
	struct facts *f = r->f;
	uint32_t from = r->t->from.bound;
	take_exports(r, from);
	if (f->n_bound > from)
		qsort(f->bound + from, f->n_bound - from, sizeof(*f->bound), by_line);
	place_data(f, from);
}
