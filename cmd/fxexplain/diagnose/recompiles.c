/* recompiles.c - recompiles by frame: what changed, when, and what to do about it.
 *
 * Guards are read as torch 2.13 prints them (torch/_dynamo/guards.py, get_guard_fail_reason; torch/csrc/dynamo/guards.cpp for
 * tensors): "tensor 'x' size mismatch at index 0. expected 3, actual 5", "n == 2", "not extra", "len(x) == 3",
 * "___check_type_id(mode, 943), type=<class 'app.Slow'>", "GLOBAL_STATE changed: grad_mode", "2 <= x.size()[0] <= 64";
 * names have L['x'] around them in older torch.
 */
#include "diagnose/recompiles.h"

#include "diagnose/chain.h"
#include "base/text.h"

enum { CLIP = 200 }; /* bytes of a text of the input in a line of ours */

/* ---- one guard in words ---- */

/* What stands between a and b in s, or nothing. */
static struct slice between(struct slice s, const char *a, const char *b)
{
	const char *from = slice_find(s, a);
	if (!from)
		return slice_of(NULL, 0);
	struct slice rest = slice_of(from + strlen(a), s.n - (size_t)(from - s.p) - strlen(a));
	const char *to = b ? slice_find(rest, b) : NULL;
	return to ? slice_of(rest.p, (size_t)(to - rest.p)) : b ? slice_of(NULL, 0) : slice_trim(rest);
}

/* L['x'] and G['x'] are x; a closure's cell stays as it is. */
static struct slice plain_name(struct slice s)
{
	s = slice_trim(s);
	if (s.n > 5 && (s.p[0] == 'L' || s.p[0] == 'G') && s.p[1] == '[' && s.p[2] == '\'' && s.p[s.n - 2] == '\'' && s.p[s.n - 1] == ']' &&
	    !memchr(s.p + 3, '\'', s.n - 5))
		return slice_of(s.p + 3, s.n - 5);
	return s;
}

static struct slice number_end(struct slice s)
{
	while (s.n && (s.p[s.n - 1] == '.' || s.p[s.n - 1] == ' '))
		s.n--;
	return s;
}

static bool is_int(struct slice s)
{
	if (s.n && s.p[0] == '-')
		s = slice_of(s.p + 1, s.n - 1);
	uint64_t v;
	return slice_u64(s, &v);
}

static bool is_float(struct slice s)
{
	bool digit = false, point = false;
	for (size_t i = 0; i < s.n; i++) {
		digit |= s.p[i] >= '0' && s.p[i] <= '9';
		point |= s.p[i] == '.' || s.p[i] == 'e';
		if (!strchr("0123456789.e+-", s.p[i]))
			return false;
	}
	return digit && point;
}

/* "tensor 'x' size mismatch at index 0. expected 3, actual 5" and its like. */
static bool tensor_guard(struct explanation *x, struct slice g, struct guard_words *w)
{
	struct slice name = plain_name(between(g, "tensor '", "' ")), what = between(g, "' ", " mismatch");
	struct slice old = number_end(between(g, "expected ", ", actual")), new = number_end(between(g, "actual ", NULL));
	if (!name.n || !what.n || !slice_starts(g, "tensor '"))
		return false;
	if (slice_is(what, "size") || slice_is(what, "stride")) {
		bool size = slice_is(what, "size");
		struct slice dim = between(g, "at index ", ".");
		w->kind = size ? GUARD_SIZE : GUARD_STRIDE;
		w->change = explain_textf(x, "%s of %.*s at dim %.*s: %.*s -> %.*s", size ? "size" : "stride", SLN(name, CLIP),
					  SLN(dim, CLIP), SLN(old, CLIP), SLN(new, CLIP));
		if (size)
			w->fix = explain_textf(
			    x,
			    "torch._dynamo.mark_dynamic(%.*s, %.*s)    # before the first call; or torch.compile(f, dynamic=True)\n"
			    "pad or bucket dim %.*s to a few sizes where it must stay static",
			    SLN(name, CLIP), SLN(dim, CLIP), SLN(dim, CLIP));
		else
			w->fix = explain_textf(x, "%.*s = %.*s.contiguous()    # before the call, so that its strides are always the same",
					       SLN(name, CLIP), SLN(name, CLIP));
		return true;
	}
	if (slice_is(what, "requires_grad")) {
		w->kind = GUARD_GRAD;
		w->change =
		    explain_textf(x, "%.*s %s a gradient now", SLN(name, CLIP), slice_find(g, "requires_grad=0") ? "needs" : "needs no");
		w->fix =
		    explain_textf(x, "pass %.*s.detach() where no gradient is wanted, or call it with one setting always", SLN(name, CLIP));
		return true;
	}
	w->kind = slice_is(what, "dtype") ? GUARD_DTYPE : slice_is(what, "rank") ? GUARD_RANK : GUARD_TENSOR;
	w->change = explain_textf(x, "%.*s of %.*s: %.*s -> %.*s", SLN(what, CLIP), SLN(name, CLIP), SLN(old, CLIP), SLN(new, CLIP));
	if (w->kind == GUARD_DTYPE)
		w->fix = explain_textf(x, "%.*s = %.*s.to(dtype)    # one dtype at this border", SLN(name, CLIP), SLN(name, CLIP));
	else if (w->kind == GUARD_RANK)
		w->fix =
		    explain_textf(x, "the number of dims is always a constant: %.*s.reshape(...) to one rank, or two compiled functions",
				  SLN(name, CLIP));
	return true;
}

static bool state_guard(struct explanation *x, struct slice g, struct guard_words *w)
{
	struct slice what = between(g, "GLOBAL_STATE changed: ", NULL);
	if (!what.n)
		return false;
	w->kind = GUARD_STATE;
	w->change = explain_textf(x, "global state: %.*s", SLN(what, CLIP));
	if (slice_starts(what, "grad_mode"))
		w->fix = SLICE("call it under the same grad mode always (one torch.no_grad() or torch.inference_mode() around evaluation): "
			       "two variants are the price of using both");
	else
		w->fix = explain_textf(x, "set %.*s once, before the first call", SLN(what, CLIP));
	return true;
}

/* ___check_type_id(L['mode'], 943), type=<class 'm.Slow'>; ___check_obj_id(x, 943), type=... */
static bool identity_guard(struct explanation *x, const struct fact_recompile *r, struct slice g, struct guard_words *w)
{
	bool type = slice_find(g, "check_type_id(") != NULL, object = slice_find(g, "check_obj_id(") != NULL;
	if (!type && !object)
		return false;
	struct slice name = plain_name(between(g, type ? "check_type_id(" : "check_obj_id(", ", "));
	struct slice old = explain_text(x, r->type_old), new = explain_text(x, r->type_new);
	w->kind = type ? GUARD_TYPE : GUARD_OBJECT;
	if (type) {
		w->change = new.n &&old.n ? explain_textf(x, "type of %.*s: %.*s -> %.*s", SLN(name, CLIP), SLN(old, CLIP), SLN(new, CLIP))
			    : new.n       ? explain_textf(x, "type of %.*s is %.*s now", SLN(name, CLIP), SLN(new, CLIP))
					  : explain_textf(x, "type of %.*s", SLN(name, CLIP));
		w->fix = explain_textf(x, "one compiled function per type, or decide on %.*s outside of the compiled one", SLN(name, CLIP));
		return true;
	}
	w->change = explain_textf(x, "%.*s is another object%s%.*s", SLN(name, CLIP), new.n ? " now, of type " : "", SLN(new, CLIP));
	w->fix = explain_textf(x,
			       "make %.*s once, outside of the loop, and pass the same object: a lambda, partial or instance made anew is "
			       "a new variant",
			       SLN(name, CLIP));
	return true;
}

/* "n == 2", "x.size()[0] != 6", "len(extra) == 2", "not extra", "2 <= x.size()[0] <= 64", "'a' in d". */
static void value_guard(struct explanation *x, const struct fact_recompile *r, struct slice g, struct guard_words *w)
{
	struct slice new = explain_text(x, r->new), left, right;
	const char *is = slice_find(g, " == ");
	w->kind = GUARD_VALUE;
	if (slice_find(g, ".size()[") || slice_find(g, ".stride()[") || slice_find(g, ".storage_offset()")) {
		w->kind = GUARD_SHAPE;
		w->change = explain_textf(x, "no longer true: %.*s", SLN(g, CLIP));
		w->fix =
		    is || slice_find(g, " != ") || slice_find(g, "Eq(") || slice_find(g, "Ne(")
			? SLICE("a branch or an operation on this size has split the range: see `--show shapes` for the line that did")
			: SLICE("sizes 0 and 1 are always variants of their own: torch._dynamo.mark_unbacked(x, dim) avoids that, or keep "
				"the size out of it");
		return;
	}
	if (slice_starts(g, "not ") || slice_starts(g, "len(") || slice_find(g, " in ") || slice_find(g, "dict_keys") ||
	    slice_find(g, "dict.keys")) {
		w->kind = GUARD_CONTAINER;
		w->change = explain_textf(x, "no longer true: %.*s", SLN(g, CLIP));
		w->fix = SLICE("pass a container of the same length and keys always, or a tensor instead of a list of them");
		return;
	}
	if (!is) {
		w->kind = GUARD_OTHER;
		w->change = explain_textf(x, "no longer true: %.*s", SLN(g, CLIP));
		return;
	}
	left = plain_name(slice_of(g.p, (size_t)(is - g.p)));
	right = slice_trim(slice_of(is + 4, g.n - (size_t)(is - g.p) - 4));
	w->change = new.n ? explain_textf(x, "%.*s: %.*s -> %.*s", SLN(left, CLIP), SLN(right, CLIP), SLN(new, CLIP))
			  : explain_textf(x, "%.*s is no longer %.*s", SLN(left, CLIP), SLN(right, CLIP));
	bool attribute = slice_chr(left, '.') != NULL;
	if (is_float(right)) {
		w->fix = explain_textf(
		    x, "%.*s = torch.tensor(%.*s)    # a float is a constant of the graph at first; as a tensor it is an input",
		    SLN(left, CLIP), SLN(right, CLIP));
	} else if (is_int(right) && attribute) {
		w->fix =
		    explain_textf(x,
				  "%.*s counts or changes in the module: keep it in a tensor (register_buffer), or out of forward\n"
				  "torch._dynamo.config.allow_unspec_int_on_nn_module = True    # an int of a module is no constant then",
				  SLN(left, CLIP));
	} else if (is_int(right)) {
		w->fix = explain_textf(
		    x, "%.*s = torch.tensor(%.*s), or torch.compile(f, dynamic=True): an int is a constant of the graph at first",
		    SLN(left, CLIP), SLN(right, CLIP));
	} else {
		w->fix =
		    explain_textf(x, "%.*s is a constant of the graph: few values are fine, else decide outside of the compiled function",
				  SLN(left, CLIP));
	}
}

struct guard_words guard_words(struct explanation *x, const struct fact_recompile *r)
{
	struct guard_words w = {.kind = GUARD_OTHER};
	struct slice g = slice_trim(explain_text(x, r->guard));
	if (!g.n) {
		w.change = SLICE("the log does not say which guard failed");
		return w;
	}
	if (!tensor_guard(x, g, &w) && !state_guard(x, g, &w) && !identity_guard(x, r, g, &w))
		value_guard(x, r, g, &w);
	return w;
}

/* ---- frames ---- */

static int by_frame(const void *a, const void *b, void *facts)
{
	const struct facts *f = facts;
	const struct fact_compile *p = &f->compile[*(const uint32_t *)a], *q = &f->compile[*(const uint32_t *)b];
	if (p->src.input != q->src.input)
		return p->src.input < q->src.input ? -1 : 1;
	if (p->frame != q->frame)
		return p->frame < q->frame ? -1 : 1;
	if (p->compile != q->compile)
		return p->compile < q->compile ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static void add_step(struct explanation *x, struct frame_view *v, uint32_t compile, uint32_t recompile)
{
	struct frame_step s = {.compile = compile, .recompile = recompile};
	if (recompile != NONE) {
		struct guard_words w = guard_words(x, &x->facts->recompile[recompile]);
		s.change = w.change;
		s.fix = w.fix;
		v->recompiles++;
	}
	GROW(x->step, x->n_step, x->cap_step, 1);
	x->step[x->n_step++] = s;
	v->n++;
}

/* The reason that holds against most of the earlier steps comes first in advice: count each change's fix. */
static struct slice frame_fixes(struct explanation *x, const struct frame_view *v)
{
	struct intern fixes = {0};
	struct buf b = {0};
	for (uint32_t i = v->first; i < v->first + v->n; i++)
		if (x->step[i].fix.n) {
			uint32_t n = fixes.n;
			if (intern_add(&fixes, x->step[i].fix) == n && n < 5) {
				buf_add_slice(&b, x->step[i].fix);
				buf_addc(&b, '\n');
			}
		}
	struct slice s = explain_keep(x, slice_of(b.p, b.len ? b.len - 1 : 0));
	intern_release(&fixes);
	buf_release(&b);
	return s;
}

static struct slice frame_changes(struct explanation *x, const struct frame_view *v)
{
	struct buf b = {0};
	unsigned n = 0;
	for (uint32_t i = v->first; i < v->first + v->n && n < 6; i++)
		if (x->step[i].change.n) {
			if (x->step[i].compile != NONE) {
				buf_add_slice(&b, facts_text(x->facts, x->facts->compile[x->step[i].compile].id));
				buf_adds(&b, "  ");
			}
			buf_add_slice(&b, x->step[i].change);
			buf_addc(&b, '\n');
			n++;
		}
	struct slice s = explain_keep(x, slice_of(b.p, b.len ? b.len - 1 : 0));
	buf_release(&b);
	return s;
}

static struct slice function_name(struct explanation *x, const struct fact_loc *loc)
{
	struct slice s = explain_text(x, loc->function), of;
	uint32_t line;
	if (facts_resume_name(s, &of, &line))
		return explain_textf(x, "the rest of %.*s behind line %u", SLN(of, CLIP), line);
	return s.n ? s : SLICE("a function");
}

static void describe(struct explanation *x, struct frame_view *v, const struct fact_limit *limit)
{
	struct finding *r;
	if (!v->recompiles && !limit)
		return;
	struct slice fixes = frame_fixes(x, v), changes = frame_changes(x, v), name = function_name(x, &v->loc);
	r = explain_finding(x, limit ? FINDING_LIMIT : FINDING_RECOMPILE, FINDING_WARNING);
	v->finding = x->n_finding - 1;
	r->loc = v->loc;
	r->count = v->recompiles;
	r->seconds = v->seconds;
	r->id = limit ? SLICE("recompile-limit") : SLICE("recompile");
	r->evidence = changes;
	r->fix = fixes;
	for (uint32_t i = v->first; i < v->first + v->n && !r->src.line; i++)
		if (x->step[i].recompile != NONE)
			r->src = x->facts->recompile[x->step[i].recompile].src;
	if (limit) {
		r->level = FINDING_ERROR;
		r->src = limit->src;
		r->title = explain_textf(x, "%.*s has reached the %srecompile limit of %llu: it runs in eager from then on",
					 SLN(name, CLIP), limit->accumulated ? "accumulated " : "", (unsigned long long)limit->limit);
		r->cost = explain_textf(x, "%u recompiles, then no compiled code for new cases", v->recompiles);
		r->why = explain_text(x, limit->reason);
	} else {
		r->title = explain_textf(x, "%.*s was compiled %u times", SLN(name, CLIP), v->compiles);
	}
	if (!limit && v->seconds >= 0)
		r->cost = explain_textf(x, "%u recompile%s, %.2f s", v->recompiles, plural(v->recompiles), v->seconds);
	else if (!limit)
		r->cost = explain_textf(x, "%u recompile%s", v->recompiles, plural(v->recompiles));
}

/* Limits by compile id, and those without one (texts) by the function that they name. */
struct limits {
	struct chain compile, function;
};

static void limits_find(const struct facts *f, struct limits *l)
{
	for (uint32_t i = 0; i < f->n_limit; i++) {
		const struct fact_limit *r = &f->limit[i];
		if (r->compile != NONE)
			chain_add(&l->compile, i, CHAIN_KEY(r->compile));
		else if (r->loc.function != NONE)
			chain_add(&l->function, i, CHAIN_KEY(r->src.input, r->loc.function));
	}
}

static const struct fact_limit *limit_of(const struct facts *f, const struct limits *l, const struct frame_view *v, const uint32_t *row,
					 uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = chain_first(&l->compile, CHAIN_KEY(row[k]));
		if (i != NONE)
			return &f->limit[i];
	}
	uint32_t i = v->loc.function == NONE ? NONE : chain_first(&l->function, CHAIN_KEY(v->input, v->loc.function));
	return i == NONE ? NULL : &f->limit[i];
}

/* One frame: its compilations in order, each with the recompile that led to it. Recompiles are sorted by compile id. */
static void add_frame(struct explanation *x, const struct limits *l, const uint32_t *row, uint32_t n, const uint32_t *of)
{
	const struct facts *f = x->facts;
	const struct fact_compile *c = &f->compile[row[0]];
	struct frame_view v = {
	    .loc = c->loc, .input = c->src.input, .frame = c->frame, .compiles = n, .first = x->n_step, .seconds = -1, .finding = NONE};
	for (uint32_t i = 0; i < n; i++) {
		const struct fact_compile *r = &f->compile[row[i]];
		if (v.loc.file == NONE && r->loc.file != NONE)
			v.loc = r->loc;
		if (r->seconds >= 0 && of[row[i]] != NONE)
			v.seconds = (v.seconds < 0 ? 0 : v.seconds) + r->seconds;
		add_step(x, &v, row[i], of[row[i]]);
	}
	const struct fact_limit *limit = limit_of(f, l, &v, row, n);
	v.limited = limit != NULL;
	describe(x, &v, limit);
	GROW(x->frame, x->n_frame, x->cap_frame, 1);
	x->frame[x->n_frame++] = v;
}

/* Recompiles whose compile id is not known (older text logs): by the place that they name. */
static void add_loose(struct explanation *x, const struct limits *l)
{
	const struct facts *f = x->facts;
	struct chain place = {0};
	for (uint32_t i = 0; i < f->n_recompile; i++)
		if (f->recompile[i].compile == NONE)
			chain_add(&place, i, CHAIN_KEY(f->recompile[i].src.input, f->recompile[i].loc.file, f->recompile[i].loc.function));
	for (uint32_t k = 0; k < place.keys.n; k++) {
		const struct fact_recompile *r = &f->recompile[place.first[k]];
		struct frame_view v = {
		    .loc = r->loc, .input = r->src.input, .frame = -1, .first = x->n_step, .seconds = -1, .finding = NONE};
		for (uint32_t i = place.first[k]; i != NONE; i = place.next[i])
			add_step(x, &v, NONE, i);
		v.compiles = v.recompiles + 1;
		const struct fact_limit *limit = limit_of(f, l, &v, NULL, 0);
		v.limited = limit != NULL;
		describe(x, &v, limit);
		GROW(x->frame, x->n_frame, x->cap_frame, 1);
		x->frame[x->n_frame++] = v;
	}
	chain_release(&place);
}

void explain_recompiles(struct explanation *x)
{
	const struct facts *f = x->facts;
	struct limits l = {0};
	limits_find(f, &l);
	uint32_t *row = xreallocarray(NULL, f->n_compile + 1, sizeof(*row)), *of = xreallocarray(NULL, f->n_compile + 1, sizeof(*of)),
		 n = 0;
	for (uint32_t i = 0; i < f->n_compile; i++) {
		of[i] = NONE;
		if (f->compile[i].frame >= 0)
			row[n++] = i;
	}
	for (uint32_t i = f->n_recompile; i-- > 0;)
		if (f->recompile[i].compile != NONE)
			of[f->recompile[i].compile] = i;
	qsort_r(row, n, sizeof(*row), by_frame, x->facts);
	for (uint32_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && f->compile[row[k]].src.input == f->compile[row[i]].src.input &&
				f->compile[row[k]].frame == f->compile[row[i]].frame;
		     k++)
			;
		add_frame(x, &l, row + i, k - i, of);
	}
	add_loose(x, &l);
	chain_release(&l.compile);
	chain_release(&l.function);
	free(row);
	free(of);
}
