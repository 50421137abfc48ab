/* shapes.c - dynamic shapes: each symbol once per compile id with everything that bounded it, and what a person should change.
 *
 * Findings: a symbol that was specialized to a constant, a size of 0 or 1, a decision on data that does not exist at compile time, a
 * violated constraint, an operator without a good fake kernel. A guard that simply holds (s77 <= 4096) is not a finding.
 */
#include "base/sym/symsize.h"
#include "run/diagnose/recompiles.h"
#include "run/diagnose/cause.h"
#include "run/symbols.h"

enum { CLIP = 200 }; /* most bytes of quoted input in one of our lines */

/* ---- views ---- */

struct pair {
	uint32_t view, bound;
};
struct join {
	struct intern keys; /* {input, compile, name} -> view, the same index */
	struct pair *pair;
	uint32_t n_pair, cap_pair;
};

static uint32_t view_of(struct explanation *x, struct join *j, uint32_t input, uint32_t compile, struct slice name, uint32_t row)
{
	struct facts *f = x->facts;
	uint32_t key[3] = {input, compile, facts_intern(f, name)};
	uint32_t k = intern_add(&j->keys, slice_of((const char *)key, sizeof(key)));
	if (k == x->n_symbol)
		PUSH(x, symbol) = (struct symbol_view){.row = row, .name = explain_text(x, key[2]), .finding = NONE};
	return k;
}

static void join_bound(struct explanation *x, struct join *j, uint32_t i)
{
	const struct fact_bound *b = &x->facts->bound[i];
	struct slice rest = explain_text(x, b->expr), symbol;
	uint32_t from = j->n_pair;
	if (b->kind == BOUND_CONSTRAINT)
		return;
	if (!rest.n)
		rest = explain_text(x, b->symbol);
	while (symbol_next(&rest, &symbol) && j->n_pair - from < 64) {
		uint32_t view = view_of(x, j, b->src.input, b->compile, symbol, NONE), k = from;
		while (k < j->n_pair && j->pair[k].view != view)
			k++;
		if (k < j->n_pair)
			continue;
		PUSH(j, pair) = (struct pair){view, i};
	}
}

static int by_view(const void *a, const void *b)
{
	const struct pair *p = a, *q = b;
	if (p->view != q->view)
		return p->view < q->view ? -1 : 1;
	return p->bound < q->bound ? -1 : p->bound > q->bound;
}

static bool integer(struct slice s, int64_t *v)
{
	uint64_t u;
	bool minus = s.n && s.p[0] == '-';
	if (minus)
		s = slice_of(s.p + 1, s.n - 1);
	if (!slice_u64(s, &u) || u > INT64_MAX - 1)
		return false;
	*v = minus ? -(int64_t)u : (int64_t)u;
	return true;
}

/* "s77 <= 4096", "2 <= s77", "Eq(s77, 6)": what it leaves of the symbol's range. Other forms are not about this symbol alone. */
static bool range_of(struct slice expr, struct slice name, struct symrange *out)
{
	static const struct {
		const char *op;
		bool less, strict;
	} ops[] = {{" <= ", true, false}, {" >= ", false, false}, {" < ", true, true}, {" > ", false, true}};
	int64_t v;
	*out = SYMRANGE_ALL;
	if (slice_starts(expr, "Eq(") && slice_ends(expr, ")")) {
		struct slice in = slice_of(expr.p + 3, expr.n - 4);
		const char *comma = slice_find(in, ", ");
		if (!comma || !slice_eq(slice_of(in.p, (size_t)(comma - in.p)), name) ||
		    !integer(slice_of(comma + 2, (size_t)(in.p + in.n - comma - 2)), &v))
			return false;
		*out = (struct symrange){v, v, false, false};
		return true;
	}
	for (unsigned i = 0; i < ARRAY_LEN(ops); i++) {
		const char *p = slice_find(expr, ops[i].op);
		if (!p)
			continue;
		size_t n = strlen(ops[i].op);
		struct slice left = slice_of(expr.p, (size_t)(p - expr.p)), right = slice_of(p + n, (size_t)(expr.p + expr.n - p - n));
		bool less = ops[i].less;
		if (!slice_eq(left, name)) {
			struct slice t = left;
			left = right;
			right = t;
			less = !less;
		}
		if (!slice_eq(left, name) || !integer(right, &v))
			return false;
		if (less)
			*out = (struct symrange){0, v - ops[i].strict, true, false};
		else
			*out = (struct symrange){v + ops[i].strict, 0, false, true};
		return true;
	}
	return false;
}

/* The range after all bounds: the initial one minus what guards exclude; "= s77" when another symbol replaced it. */
static void learn(struct explanation *x, struct symbol_view *v)
{
	struct symrange r = SYMRANGE_ALL, only, both;
	struct slice first = v->row == NONE ? slice_of(NULL, 0) : explain_text(x, x->facts->symbol[v->row].range);
	struct slice other = slice_of(NULL, 0);
	bool known = first.n && symrange_parse(first, &r, NULL) == 0, changed = false;
	if (!known)
		r = SYMRANGE_ALL;
	for (uint32_t i = 0; i < v->n_bound; i++) {
		const struct fact_bound *b = &x->facts->bound[x->bound_row[v->first_bound + i]];
		struct slice value = explain_text(x, b->value);
		int64_t constant;
		bool mine = slice_eq(explain_text(x, b->symbol), v->name);
		if (b->kind == BOUND_SPECIALIZED && mine) {
			v->specialized = true;
			if (!integer(value, &constant))
				continue;
			r = (struct symrange){constant, constant, false, false};
			changed = true;
		} else if (b->kind == BOUND_REPLACED && mine) {
			other = value;
		} else if ((b->kind == BOUND_GUARD || b->kind == BOUND_ASSERT) && range_of(explain_text(x, b->expr), v->name, &only) &&
			   symrange_intersect(r, only, &both)) {
			changed |= !symrange_eq(r, both);
			r = both;
		}
	}
	if (other.n) {
		v->range = explain_textf(x, "= %.*s", SLN(other, CLIP));
	} else if (changed) {
		LOCAL_BUF b = {0};
		symrange_print(r, &b);
		v->range = explain_keep(x, buf_slice(&b));
	} else {
		v->range = first;
	}
}

static void add_views(struct explanation *x)
{
	const struct facts *f = x->facts;
	struct join j = {0};
	for (uint32_t i = 0; i < f->n_symbol; i++)
		if (f->symbol[i].symbol != NONE)
			view_of(x, &j, f->symbol[i].src.input, f->symbol[i].compile, explain_text(x, f->symbol[i].symbol), i);
	for (uint32_t i = 0; i < f->n_bound; i++)
		join_bound(x, &j, i);
	if (j.n_pair)
		qsort(j.pair, j.n_pair, sizeof(*j.pair), by_view);
	for (uint32_t i = 0; i < j.n_pair; i++) {
		struct symbol_view *v = &x->symbol[j.pair[i].view];
		GROW(x->bound_row, x->n_bound_row, x->cap_bound_row, 1);
		if (!v->n_bound++)
			v->first_bound = x->n_bound_row;
		x->bound_row[x->n_bound_row++] = j.pair[i].bound;
	}
	for (uint32_t i = 0; i < x->n_symbol; i++)
		learn(x, &x->symbol[i]);
	intern_release(&j.keys);
	free(j.pair);
}

/* ---- names of sources in the program ---- */

/* "L['x'].size()[0]": x and 0. False: it is not a size of a named tensor. */
static bool size_source(struct slice source, struct slice *name, struct slice *dim)
{
	const char *size = slice_find(source, ".size()[");
	if (!size || !slice_ends(source, "]"))
		return false;
	struct slice base = slice_of(source.p, (size_t)(size - source.p));
	*dim = slice_of(size + 8, (size_t)(source.p + source.n - size - 9));
	if (slice_starts(base, "L['") && slice_ends(base, "']") && !memchr(base.p + 3, '\'', base.n - 5))
		base = slice_of(base.p + 3, base.n - 5);
	*name = base;
	return slice_chr(*dim, ']') == NULL;
}

enum { FINDINGS_MAX = 500 }; /* a hostile log may break a rule at a million lines */

/* A finding of the same rule at the same place is reused, so that compilations of one line are reported together. */
static struct finding *same_finding(struct explanation *x, uint32_t from, const char *id, const struct fact_loc *loc, struct slice title)
{
	for (uint32_t i = from; i < x->n_finding; i++) {
		struct finding *g = &x->finding[i];
		if (slice_is(g->id, id) && g->loc.file == loc->file && g->loc.line == loc->line && slice_eq(g->title, title))
			return g;
	}
	return NULL;
}

static void add_compile(struct explanation *x, struct finding *g, uint32_t compile)
{
	struct slice id = facts_label(x->facts, compile);
	g->count++;
	if (id.n && g->compiles.n < 200 && !slice_find(g->compiles, (const char *)arena_strndup(&x->arena, id.p, id.n)))
		g->compiles = explain_textf(x, "%.*s%s%.*s", SLN(g->compiles, CLIP), g->compiles.n ? " " : "", SLN(id, CLIP));
}

static struct finding *shape_finding(struct explanation *x, uint32_t from, const char *id, enum finding_level level,
				     const struct fact_loc *loc, struct fact_src src, uint32_t compile, struct slice title)
{
	struct finding *g = same_finding(x, from, id, loc, title);
	if (!g && x->n_finding - from >= FINDINGS_MAX)
		return NULL;
	if (!g) {
		g = explain_finding(x, FINDING_SHAPE, level);
		g->id = slice_str(id);
		g->loc = *loc;
		g->src = src;
		g->title = title;
		g->compile = compile;
	}
	add_compile(x, g, compile);
	return g;
}

/* ---- specialised ---- */

/* The guard of the same line that fixed it: "Eq(s77, 6)". */
static const struct fact_bound *guard_of(const struct facts *f, const struct fact_bound *special)
{
	for (uint32_t i = 0; i < f->n_bound; i++) {
		const struct fact_bound *b = &f->bound[i];
		if (b->kind == BOUND_GUARD && b->src.input == special->src.input && b->compile == special->compile &&
		    b->symbol == special->symbol && slice_starts(facts_text(f, b->expr), "Eq("))
			return b;
	}
	return NULL;
}

static struct slice special_hint(struct explanation *x, struct slice source, struct slice code)
{
	struct slice name, dim;
	bool branch =
	    slice_starts(code, "if ") || slice_starts(code, "elif ") || slice_starts(code, "while ") || slice_starts(code, "assert ");
	if (!size_source(source, &name, &dim)) {
		source = plain_names(x, source);
		return explain_textf(
		    x,
		    "If %.*s has few values, leave it: each gets its own graph.\n"
		    "Pass it as a tensor (torch.tensor(%.*s)) if it is only used in arithmetic: an int that decides a shape, a loop or a "
		    "branch stays a constant.",
		    SLN(source, CLIP), SLN(source, CLIP));
	}
	return explain_textf(
	    x,
	    "%s\ntorch._dynamo.mark_static(%.*s, %.*s)    # if it may be constant: creates no symbol\n"
	    "torch._dynamo.mark_dynamic(%.*s, %.*s)    # if it may not: specializing it becomes an error, not a silent recompile",
	    branch ? "Move the branch on the size out of the compiled function, or write it without an equality comparison."
		   : "Write the line without a constant size (-1 in reshape, sizes from x.shape, no int() on it).",
	    SLN(name, CLIP), SLN(dim, CLIP), SLN(name, CLIP), SLN(dim, CLIP));
}

static void specialized(struct explanation *x, uint32_t from, uint32_t row)
{
	const struct facts *f = x->facts;
	const struct fact_bound *b = &f->bound[row];
	struct slice source = slice_first_line(explain_text(x, b->sources)), value = explain_text(x, b->value), name, dim;
	/* Without strict, torch.export names the line only with the guard. */
	const struct fact_bound *guard = guard_of(f, b);
	const struct fact_loc *loc = b->loc.file == NONE && guard ? &guard->loc : &b->loc;
	struct slice code = explain_text(x, loc->code);
	struct slice symbol = explain_text(x, b->symbol);
	struct slice title = !source.n ? explain_textf(x, "%.*s, a number that the data decides, got specialized to %.*s",
						       SLN(symbol, CLIP), SLN(value, CLIP))
			     : size_source(source, &name, &dim)
				 ? explain_textf(x, "Size of %.*s at dim %.*s was dynamic but got specialized to %.*s", SLN(name, CLIP),
						 SLN(dim, CLIP), SLN(value, CLIP))
				 : explain_textf(x, "%.*s was dynamic but got specialized to %.*s", SLN(source, CLIP), SLN(value, CLIP));
	struct finding *g = shape_finding(x, from, "shape-specialized", FINDING_WARNING, loc, b->src, b->compile, title);
	if (!g || g->count > 1)
		return;
	struct slice expr = guard ? explain_text(x, guard->expr) : slice_of(NULL, 0);
	g->why = SLICE("This line needs the value itself: each new value is a new compilation.");
	g->evidence = explain_textf(x, "%.*s%s%.*s%s%.*s", SLN(code, CLIP), code.n ? "\n" : "", SLN(expr, CLIP), expr.n ? "\n" : "",
				    SLN(source, CLIP));
	if (source.n)
		g->hint = special_hint(x, source, code);
}

/* ---- 0 and 1 ---- */

/* A size that was or is 0 or 1 (torch/csrc/dynamo/guards.cpp). Where the dim is dynamic already, the guard is "2 <= x.size()[0]" and
 * recompiles.c says the same. */
static bool zero_one(struct explanation *x, const struct fact_recompile *r, struct slice *name, struct slice *dim)
{
	struct slice guard = explain_text(x, r->guard), old = explain_text(x, r->old), new = explain_text(x, r->new);
	const char *at = slice_find(guard, "' size mismatch at index ");
	if (!slice_starts(guard, "tensor '") || !at ||
	    !(slice_is(old, "0") || slice_is(old, "1") || slice_is(new, "0") || slice_is(new, "1")))
		return false;
	*name = slice_of(guard.p + 8, (size_t)(at - guard.p - 8));
	*dim = slice_of(at + 25, 0);
	while (dim->p + dim->n < guard.p + guard.n && dim->p[dim->n] >= '0' && dim->p[dim->n] <= '9')
		dim->n++;
	return dim->n > 0;
}

static void zero_ones(struct explanation *x, uint32_t from)
{
	for (uint32_t i = 0; i < x->facts->n_recompile; i++) {
		const struct fact_recompile *r = &x->facts->recompile[i];
		struct slice name, dim;
		if (!zero_one(x, r, &name, &dim))
			continue;
		struct fact_loc at = r->compile != NONE ? x->facts->compile[r->compile].loc : r->loc;
		struct finding *g =
		    shape_finding(x, from, "shape-zero-one", FINDING_NOTE, &at, r->src, r->compile,
				  explain_textf(x, "Size of %.*s at dim %.*s is 0 or 1 in some calls", SLN(name, CLIP), SLN(dim, CLIP)));
		if (!g || g->count > 1)
			continue;
		g->why =
		    SLICE("A symbol is never 0 or 1: these sizes broadcast, so each is compiled separately, even if the dim is dynamic.");
		g->evidence = explain_text(x, r->guard);
		g->hint =
		    explain_textf(x,
				  "If it is only one more graph, leave it.\nPad to 2, or skip calls with 0 or 1 rows.\n"
				  "torch._dynamo.decorators.mark_unbacked(%.*s, %.*s)    # before the first call: no such specialization",
				  SLN(name, CLIP), SLN(dim, CLIP));
	}
}

/* ---- data ---- */

static const struct fact_symbol *symbol_row(const struct facts *f, const struct fact_bound *b)
{
	for (uint32_t i = 0; i < f->n_symbol; i++)
		if (f->symbol[i].src.input == b->src.input && f->symbol[i].compile == b->compile && f->symbol[i].symbol == b->symbol)
			return &f->symbol[i];
	return NULL;
}

static void data_dependent(struct explanation *x, uint32_t from, const struct fact_bound *b)
{
	struct slice expr = explain_text(x, b->expr), value = explain_text(x, b->value), code = explain_text(x, b->loc.code);
	struct slice title =
	    value.n ? explain_textf(x, "Branch on data (%.*s) exported as in the example: %.*s", SLN(expr, CLIP), SLN(value, CLIP))
		    : explain_textf(x, "Branch on data unknown at compile time: %.*s", SLN(expr, CLIP));
	struct finding *g = shape_finding(x, from, value.n ? "shape-real-tensors" : "shape-data-dependent",
					  value.n ? FINDING_WARNING : FINDING_ERROR, &b->loc, b->src, b->compile, title);
	if (!g || g->count > 1)
		return;
	const struct fact_symbol *s = symbol_row(x->facts, b);
	bool yes_no = s && slice_is(explain_text(x, s->range), "[0, 1]");
	bool in_program = s && s->loc.file != NONE && srcloc_is_user(explain_text(x, s->loc.file));
	struct slice made = in_program ? explain_place(x, &s->loc) : slice_of(NULL, 0);
	g->why = value.n ? SLICE("The exported program always takes this branch, whatever the data is.")
			 : SLICE("An unbacked symbol (from .item(), nonzero, a mask) has no value during tracing.");
	g->evidence = explain_textf(x, "%.*s%s%s%.*s", SLN(code, CLIP), code.n && made.n ? "\n" : "",
				    made.n ? "the symbol is created at " : "", SLN(made, CLIP));
	struct slice check =
	    explain_textf(x, "torch._check(%.*s)    # before this line, in your own names, if it always holds", SLN(expr, CLIP));
	g->hint =
	    explain_textf(x, "guard_or_false(%.*s)    # from torch.fx.experimental.symbolic_shapes: if the general path is right for both",
			  SLN(expr, CLIP));
	static const char cond[] = "torch.cond(pred, if_true, if_false, (x,))    # both branches become part of the graph";
	g->fix = yes_no ? explain_textf(x, "%s\n%.*s", cond, SL(check)) : explain_textf(x, "%.*s\n%s", SL(check), cond);
}

/* ---- constraints, fake kernels ---- */

static void constraint(struct explanation *x, uint32_t row)
{
	const struct facts *f = x->facts;
	const struct fact_bound *b = &f->bound[row];
	struct slice torch = explain_text(x, b->reason);
	const struct fact_bound *before = row ? &f->bound[row - 1] : NULL;
	if (before && before->kind == BOUND_CONSTRAINT && before->src.input == b->src.input && before->src.line == b->src.line)
		return; /* reported with the first one of its message */
	struct finding *g = explain_finding(x, FINDING_SHAPE, FINDING_ERROR);
	LOCAL_BUF all = {0};
	for (uint32_t i = row; i < f->n_bound && f->bound[i].kind == BOUND_CONSTRAINT && f->bound[i].src.input == b->src.input &&
			       f->bound[i].src.line == b->src.line && i - row < 6;
	     i++) {
		if (all.len)
			buf_addc(&all, '\n');
		buf_add_slice(&all, explain_text(x, f->bound[i].expr));
	}
	g->id = SLICE("shape-constraint");
	g->title = explain_textf(x, "Constraints on dynamic sizes violated: %.*s", SLN(explain_text(x, b->symbol), CLIP));
	g->loc = b->loc;
	g->src = b->src;
	g->count = 1;
	g->compiles = facts_label(x->facts, b->compile);
	g->compile = b->compile;
	g->why = SLICE("A size declared dynamic is a constant, or bounded, in the program.");
	g->evidence = explain_keep(x, buf_slice(&all));
	g->torch_hint = torch; /* "n = 8*_n" */
	g->fix = torch.n ? slice_of(NULL, 0)
			 : SLICE("Use Dim.AUTO instead of Dim(...), or torch._dynamo.maybe_mark_dynamic instead of mark_dynamic: "
				 "both allow specialization.");
}

static void fake_kernel(struct explanation *x, const struct fact_fake_kernel *k)
{
	struct slice op = cause_op_name(x, explain_text(x, k->op));
	struct finding *g = explain_finding(x, FINDING_SHAPE, FINDING_ERROR);
	g->id = k->missing ? SLICE("fake-kernel-missing") : SLICE("fake-kernel-mismatched");
	g->title = k->missing ? explain_textf(x, "%.*s has no fake kernel", SLN(op, CLIP))
			      : explain_textf(x, "The fake kernel of %.*s disagrees with the operator", SLN(op, CLIP));
	g->loc = k->loc;
	g->src = k->src;
	g->count = 1;
	g->compiles = facts_label(x->facts, k->compile);
	g->why = SLICE("Tracing only has sizes and dtypes: the fake kernel says what the operator would return.");
	g->evidence = explain_text(x, k->reason);
	g->fix = explain_textf(x, "@torch.library.register_fake(\"%.*s\")", SLN(op, CLIP));
	g->hint = explain_textf(x, "torch.library.opcheck(torch.ops.%.*s, args)    # shows what is wrong with it",
				SLN(explain_text(x, k->op), CLIP));
}

static uint32_t finding_of(const struct explanation *x, uint32_t from, const struct fact_bound *b)
{
	if (b->kind != BOUND_SPECIALIZED && b->kind != BOUND_DATA)
		return NONE;
	for (uint32_t g = from; g < x->n_finding; g++)
		if (x->finding[g].src.input == b->src.input && x->finding[g].src.line == b->src.line)
			return g;
	return NONE;
}

void explain_shapes(struct explanation *x)
{
	const struct facts *f = x->facts;
	uint32_t from = x->n_finding;
	add_views(x);
	for (uint32_t i = 0; i < f->n_bound; i++)
		if (f->bound[i].kind == BOUND_SPECIALIZED)
			specialized(x, from, i);
		else if (f->bound[i].kind == BOUND_DATA)
			data_dependent(x, from, &f->bound[i]);
		else if (f->bound[i].kind == BOUND_CONSTRAINT && x->n_finding - from < FINDINGS_MAX)
			constraint(x, i);
	zero_ones(x, from);
	for (uint32_t i = 0; i < f->n_fake_kernel && x->n_finding - from < FINDINGS_MAX; i++)
		fake_kernel(x, &f->fake_kernel[i]);
	for (uint32_t i = 0; i < x->n_symbol; i++)
		for (uint32_t k = 0; k < x->symbol[i].n_bound && x->symbol[i].finding == NONE; k++)
			x->symbol[i].finding = finding_of(x, from, &f->bound[x->bound_row[x->symbol[i].first_bound + k]]);
}
