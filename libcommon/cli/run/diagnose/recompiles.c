/* recompiles.c - recompiles by frame: what changed, when, and how to fix it.
 *
 * Guards are read as torch 2.13 prints them (torch/_dynamo/guards.py, get_guard_fail_reason; torch/csrc/dynamo/guards.cpp for
 * tensors): "tensor 'x' size mismatch at index 0. expected 3, actual 5", "n == 2", "not extra", "len(x) == 3",
 * "___check_type_id(mode, 943), type=<class 'app.Slow'>", "GLOBAL_STATE changed: grad_mode", "2 <= x.size()[0] <= 64";
 * older torch writes names as L['x'].
 */
#include <ctype.h>

#include "run/diagnose/order.h"
#include "run/diagnose/recompiles.h"

#include "base/chain.h"
#include "base/text.h"
#include "run/text.h"

enum { CLIP = 200, ADVICE = 5, REASONS = 64 }; /* most bytes of quoted input in one of our lines */

/* ---- one guard in words ---- */

/* The text between a and b in s, or an empty slice. */
static struct slice between(struct slice s, const char *a, const char *b)
{
	const char *from = slice_find(s, a);
	if (!from)
		return slice_of(NULL, 0);
	struct slice rest = slice_of(from + strlen(a), s.n - (size_t)(from - s.p) - strlen(a));
	const char *to = b ? slice_find(rest, b) : NULL;
	return to ? slice_of(rest.p, (size_t)(to - rest.p)) : b ? slice_of(NULL, 0) : slice_trim(rest);
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

static void size_advice(struct explanation *x, struct slice name, struct slice dim, struct guard_words *w)
{
	w->fix = explain_textf(x, "torch._dynamo.mark_dynamic(%.*s, %.*s)    # before the first call\ntorch.compile(f, dynamic=True)",
			       SLN(name, CLIP), SLN(dim, CLIP));
	w->hint = explain_textf(x, "Pad or bucket dim %.*s to a few sizes where it must stay static.", SLN(dim, CLIP));
}

/* "tensor 'x' size mismatch at index 0. expected 3, actual 5" and the like. */
static bool tensor_guard(struct explanation *x, struct slice g, struct guard_words *w)
{
	struct slice name = plain_names(x, between(g, "tensor '", "' ")), what = between(g, "' ", " mismatch");
	struct slice old = number_end(between(g, "expected ", ", actual")), after = between(g, "actual ", NULL);
	/* "actual 5. Guard failed on a parameter, consider using torch._dynamo.config.force_parameter_static_shapes = False to ..." */
	bool parameter = slice_find(after, "force_parameter_static_shapes") != NULL;
	struct slice new = number_end(slice_until(after, ". "));
	if (!name.n || !what.n || !slice_starts(g, "tensor '"))
		return false;
	if (slice_is(what, "size") || slice_is(what, "stride")) {
		bool size = slice_is(what, "size");
		struct slice dim = between(g, "at index ", ".");
		w->kind = size ? GUARD_SIZE : GUARD_STRIDE;
		w->change = explain_textf(x, "%s of %.*s at dim %.*s: %.*s -> %.*s", size ? "size" : "stride", SLN(name, CLIP),
					  SLN(dim, CLIP), SLN(old, CLIP), SLN(new, CLIP));
		if (size && parameter)
			w->fix =
			    SLICE("torch._dynamo.config.force_parameter_static_shapes = False    # sizes of a parameter may be dynamic, "
				  "too");
		else if (size)
			size_advice(x, name, dim, w);
		else
			w->fix = explain_textf(x, "%.*s = %.*s.contiguous()    # before the call, so that its strides never change",
					       SLN(name, CLIP), SLN(name, CLIP));
		return true;
	}
	if (slice_is(what, "requires_grad")) {
		w->kind = GUARD_GRAD;
		w->change = explain_textf(x, "%.*s now %s", SLN(name, CLIP),
					  slice_find(g, "requires_grad=0") ? "requires grad" : "does not require grad");
		/* Not x.detach(): what comes from a layer before would no longer be trained. */
		w->fix = explain_textf(x,
				       "Always call it with %.*s of the same requires_grad; where it is called with and without gradients, "
				       "two variants are right.",
				       SLN(name, CLIP));
		return true;
	}
	w->kind = slice_is(what, "dtype") ? GUARD_DTYPE : slice_is(what, "rank") ? GUARD_RANK : GUARD_TENSOR;
	w->change = explain_textf(x, "%.*s of %.*s: %.*s -> %.*s", SLN(what, CLIP), SLN(name, CLIP), SLN(old, CLIP), SLN(new, CLIP));
	if (w->kind == GUARD_DTYPE)
		w->fix = explain_textf(x, "%.*s = %.*s.to(dtype)    # keep one dtype at this boundary", SLN(name, CLIP), SLN(name, CLIP));
	else if (w->kind == GUARD_RANK)
		w->hint = explain_textf(
		    x, "The number of dims is always a constant: use %.*s.reshape(...) to get one rank, or compile two functions.",
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
		w->fix = SLICE("Always call it in the same grad mode (one torch.no_grad() or torch.inference_mode() around evaluation): "
			       "using both costs two variants.");
	else
		w->hint = explain_textf(x, "Set %.*s once, before the first call.", SLN(what, CLIP));
	return true;
}

/* ___check_type_id(L['mode'], 943), type=<class 'm.Slow'>; ___check_obj_id(x, 943), type=... */
static bool identity_guard(struct explanation *x, const struct fact_recompile *r, struct slice g, struct guard_words *w)
{
	bool type = slice_find(g, "check_type_id(") != NULL, object = slice_find(g, "check_obj_id(") != NULL;
	if (!type && !object)
		return false;
	struct slice name = plain_names(x, between(g, type ? "check_type_id(" : "check_obj_id(", ", "));
	struct slice old = explain_text(x, r->type_old), new = explain_text(x, r->type_new);
	w->kind = type ? GUARD_TYPE : GUARD_OBJECT;
	if (type) {
		w->change = new.n &&old.n ? explain_textf(x, "type of %.*s: %.*s -> %.*s", SLN(name, CLIP), SLN(old, CLIP), SLN(new, CLIP))
			    : new.n       ? explain_textf(x, "type of %.*s is now %.*s", SLN(name, CLIP), SLN(new, CLIP))
					  : explain_textf(x, "type of %.*s", SLN(name, CLIP));
		w->hint = explain_textf(x, "Use one compiled function per type, or decide on %.*s outside the compiled function.",
					SLN(name, CLIP));
		return true;
	}
	w->change = explain_textf(x, "%.*s is a different object%s%.*s", SLN(name, CLIP), new.n ? ", of type " : "", SLN(new, CLIP));
	w->hint = explain_textf(x,
				"Create %.*s once, outside the loop, and pass the same object: each new lambda, partial or instance is "
				"a new variant.",
				SLN(name, CLIP));
	return true;
}

/* SEEN of "len(G['SEEN']) == 2", "not G['SEEN']" */
static struct slice name_of_global(struct slice g) { return between(g, "G['", "']"); }

/* "no longer true: len(self.history) == 1" is about self.history, which is not an argument. */
static struct slice name_of_self(struct slice change)
{
	const char *at = slice_find(change, "self.");
	struct slice s = slice_of(at, at ? (size_t)(change.p + change.n - at) : 0);
	size_t n = 0;
	while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '_' || s.p[n] == '.'))
		n++;
	return slice_of(s.p, n);
}

/* What torch says about the guard, with its hint: "G['c'].n == 3  # return x + c.n  # m.py:7 in f (HINT: ...)". */
static struct slice reason_of(struct explanation *x, const struct fact_recompile *r)
{
	struct slice s = explain_text(x, r->reason);
	return s.n ? s : slice_first_line(explain_text(x, r->all));
}

static bool zero_or_one(struct slice s) { return slice_is(s, "0") || slice_is(s, "1"); }

/* A constant of the graph that should be an input: a float or an int of a module or an optimizer, a global or an argument. */
static void number_advice(struct explanation *x, const struct fact_recompile *r, struct slice g, struct slice left, struct slice right,
			  struct guard_words *w)
{
	bool global = slice_starts(g, "G['");
	/* Only with torch's hint is it a module's (torch 2.13: _dynamo/variables/builder.py, wrap_literal); the setting changes no other. */
	bool module = slice_find(reason_of(x, r), "integer attributes of the nn.Module") != NULL;
	if (slice_find(left, "param_groups[")) {
		struct slice key = between(slice_of(left.p + 1, left.n - 1), "['", "']");
		w->fix =
		    explain_textf(x,
				  "%.*s=torch.tensor(%.*s) where the optimizer is created, and fill_() for a new value    # a number is "
				  "a constant of the graph",
				  SLN(key, CLIP), SLN(right, CLIP));
	} else if (is_float(right)) {
		w->fix = explain_textf(x, "%.*s = torch.tensor(%.*s)    # a float starts as a constant of the graph; a tensor is an input",
				       SLN(left, CLIP), SLN(right, CLIP));
	} else if (module) {
		w->fix = explain_textf(
		    x,
		    "%.*s counts or changes in the module: keep it in a tensor (register_buffer), or change it outside forward.\n"
		    "torch._dynamo.config.allow_unspec_int_on_nn_module = True    # then an int of a module is not a constant",
		    SLN(left, CLIP));
	} else if (global) { /* neither dynamic=True nor a change makes it a symbol */
		w->fix =
		    explain_textf(x, "%.*s = torch.tensor(%.*s)    # an int is a constant of the graph", SLN(left, CLIP), SLN(right, CLIP));
		w->hint = explain_textf(x, "Or pass %.*s as an argument: an int argument becomes dynamic after its first change.",
					SLN(left, CLIP));
	} else if (zero_or_one(right)) { /* with dynamic=True as well */
		w->fix = explain_textf(x, "%.*s = torch.tensor(%.*s)    # a tensor is an input: if it is only used in arithmetic",
				       SLN(left, CLIP), SLN(right, CLIP));
		w->hint = explain_textf(x,
					"0 and 1 always get their own graphs, all other values of %.*s share one: two or three graphs "
					"are by design.",
					SLN(left, CLIP));
	} else {
		w->fix = explain_textf(x,
				       "torch.compile(f, dynamic=True)    # an int starts as a constant of the graph\n"
				       "%.*s = torch.tensor(%.*s)    # a tensor is an input",
				       SLN(left, CLIP), SLN(right, CLIP));
	}
}

/* Only "2 <= n": the program did not ask for it. */
static bool zero_one_guard(struct slice g)
{
	struct slice rest = slice_behind(g, "2 <= ");
	return slice_starts(g, "2 <= ") && !slice_chr(rest, '<') && !slice_chr(rest, '>');
}

/* The program's comparison, which gave a symbol a range. */
static struct slice branch_hint(struct explanation *x, const struct fact_recompile *r, const char *what)
{
	struct slice code = slice_trim(slice_first_line(explain_text(x, r->loc.code)));
	LOCAL_BUF b = {0};
	if (!code.n || r->loc.file == NONE)
		return explain_textf(x, "A branch or an operation on this %s split its range: `--show shapes` names the line.", what);
	explain_add_place(&b, x, &(struct fact_loc){r->loc.file, r->loc.line, NONE, NONE});
	return explain_textf(x,
			     "`%.*s` at %.*s splits the range of this %s: each side gets its own graph. To have "
			     "one graph, compare outside the compiled function.",
			     SLN(code, CLIP), SLN(buf_slice(&b), CLIP), what);
}

static const char zero_one_sizes[] =
    "Sizes 0 and 1 always get their own variants: torch._dynamo.decorators.mark_unbacked(x, dim) avoids that, or avoid those sizes.";

/* "n == 2", "x.size()[0] != 6", "len(extra) == 2", "not extra", "2 <= x.size()[0] <= 64", "'a' in d". */
static void value_guard(struct explanation *x, const struct fact_recompile *r, struct slice g, struct guard_words *w)
{
	struct slice new = explain_text(x, r->new), left, right;
	const char *is = slice_find(g, " == ");
	w->kind = GUARD_VALUE;
	if (slice_find(g, ".size()[") || slice_find(g, ".stride()[") || slice_find(g, ".storage_offset()")) {
		w->kind = GUARD_SHAPE;
		w->change = explain_textf(x, "no longer true: %.*s", SLN(plain_names(x, g), CLIP));
		w->zero_one = zero_one_guard(g);
		w->hint = w->zero_one ? slice_str(zero_one_sizes) : branch_hint(x, r, "size");
		return;
	}
	if (slice_starts(g, "not ") || slice_starts(g, "len(") || slice_find(g, " in ") || slice_find(g, "dict_keys") ||
	    slice_find(g, "dict.keys")) {
		w->kind = GUARD_CONTAINER;
		w->change = explain_textf(x, "no longer true: %.*s", SLN(plain_names(x, g), CLIP));
		struct slice own = name_of_global(g).n ? name_of_global(g) : name_of_self(w->change);
		if (slice_find(explain_text(x, r->loc.file), "torch/optim/") && slice_find(w->change, "self.state"))
			w->hint = SLICE("Nothing to do: the optimizer creates its state in its first step, which recompiles once.");
		else if (slice_find(w->change, "_flat_weights"))
			w->hint =
			    SLICE("self._flat_weights is a list of torch's own (nn.LSTM, GRU, RNN), made again when the module is moved or "
				  "gets another parameter: do that before the first compiled call.");
		else if (own.n)
			w->fix = explain_textf(x, "If the compiled function itself changes %.*s (append, update), move that out of it.",
					       SLN(own, CLIP));
		else
			w->fix = SLICE("Always pass a container of the same length and keys, or one tensor instead of a list of tensors.");
		return;
	}
	if (slice_starts(g, "Cache line invalidated because ")) { /* torch/_dynamo/guards.py: "... L['x'] got deallocated" */
		w->kind = GUARD_OTHER;
		struct slice what = slice_until(slice_behind(g, "Cache line invalidated because "), " got deallocated");
		w->change = explain_textf(x, "%.*s was freed", SLN(plain_names(x, slice_trim(what)), CLIP));
		return;
	}
	if (!is) {
		w->kind = GUARD_OTHER;
		w->change = explain_textf(x, "no longer true: %.*s", SLN(plain_names(x, g), CLIP));
		w->zero_one = zero_one_guard(g);
		if (w->zero_one)
			w->hint = SLICE("0 and 1 always get their own graphs, all other values share one: that is by design.");
		else if (slice_find(g, " <= ") || slice_find(g, " < ") || slice_find(g, " != "))
			w->hint = branch_hint(x, r, "number");
		return;
	}
	left = plain_names(x, slice_trim(slice_of(g.p, (size_t)(is - g.p))));
	right = slice_trim(slice_of(is + 4, g.n - (size_t)(is - g.p) - 4));
	w->change = new.n ? explain_textf(x, "%.*s: %.*s -> %.*s", SLN(left, CLIP), SLN(right, CLIP), SLN(new, CLIP))
			  : explain_textf(x, "%.*s is no longer %.*s", SLN(left, CLIP), SLN(right, CLIP));
	if (is_float(right) || is_int(right)) {
		number_advice(x, r, g, left, right, w);
	} else {
		w->hint = explain_textf(
		    x, "%.*s is a constant of the graph: a few values are fine, otherwise decide outside the compiled function.",
		    SLN(left, CLIP));
	}
}

/* "BACKEND_MATCH failure: torch.compile detected different backend callables. Cached backend: _TorchCompileWrapper(compiler='one',
 * dynamic=None) (id=0x7f01). New backend: ... (id=0x7f02). ..." (torch 2.13, 2.15: _dynamo/guards.py; before 2.10 the reason is empty) */
static bool backend_guard(struct explanation *x, struct slice g, struct guard_words *w)
{
	if (!slice_starts(g, "BACKEND_MATCH failure"))
		return false;
	struct slice old = between(g, "Cached backend: ", " (id="), new = between(g, "New backend: ", " (id=");
	struct slice was = between(old, "compiler='", "'"), is = between(new, "compiler='", "'");
	w->kind = GUARD_STATE;
	if (slice_eq(old, new))
		w->change = explain_textf(x, "backend of torch.compile: a new %.*s object", SLN(was.n ? was : old, CLIP));
	else if (was.n && is.n && !slice_eq(was, is))
		w->change = explain_textf(x, "backend of torch.compile: %.*s -> %.*s", SLN(was, CLIP), SLN(is, CLIP));
	else
		w->change = explain_textf(x, "backend of torch.compile: %.*s -> %.*s", SLN(old, CLIP), SLN(new, CLIP));
	w->hint = SLICE("Call torch.compile once, with one backend object, and keep what it returns: "
			"a lambda or partial is a new object each time.");
	return true;
}

struct guard_words guard_words(struct explanation *x, const struct fact_recompile *r)
{
	struct guard_words w = {.kind = GUARD_OTHER};
	struct slice g = slice_trim(explain_text(x, r->guard));
	/* torch 2.13: _dynamo/guards.py, get_guard_fail_reason_helper; the reason is empty before that */
	if (!g.n || slice_starts(g, "Unexpected recompilation: ")) {
		w.change = g.n ? SLICE("torch does not know which guard failed: all passed when it checked again")
			       : SLICE("the log does not say which guard failed");
		w.hint = SLICE("Known causes of an empty reason: torch.compile was called again with another backend= (pytorch#154707), or "
			       "the call is "
			       "inside a TorchDispatchMode (pytorch#144787).");
		return w;
	}
	if (!backend_guard(x, g, &w) && !tensor_guard(x, g, &w) && !state_guard(x, g, &w) && !identity_guard(x, r, g, &w))
		value_guard(x, r, g, &w);
	return w;
}

/* ---- frames ---- */

/* A bound of 2 and one of the program's in one guard, "2 <= x.size()[0] <= 16": the new compilation has a symbol for a size that broke the
 * program's, and a constant for 0 and 1. */
static void which_bound(struct explanation *x, const struct fact_recompile *r, const struct chain *symbols, struct guard_words *w)
{
	struct slice g = slice_trim(explain_text(x, r->guard));
	if (w->kind != GUARD_SHAPE || w->zero_one || r->compile == NONE || !slice_starts(g, "2 <= "))
		return;
	const struct facts *f = x->facts;
	struct slice name = slice_trim(slice_until(slice_behind(g, "2 <= "), " <"));
	uint32_t i = chain_first(symbols, CHAIN_KEY(r->compile));
	bool any = i != NONE, dynamic = false;
	for (unsigned n = 0; i != NONE && !dynamic && n < 256; i = symbols->next[i], n++)
		dynamic = slice_eq(plain_names(x, facts_text(f, f->symbol[i].source)), plain_names(x, name));
	if (any && !dynamic) {
		w->zero_one = true;
		w->hint = slice_str(zero_one_sizes);
	}
}

/* The value before a change, with what changed: "dtype of x: Float" of "dtype of x: Float -> Double". */
static void value_before(struct buf *b, struct slice what, struct slice value)
{
	buf_reset(b);
	buf_add_slice(b, what);
	buf_adds(b, ": ");
	buf_add_slice(b, value);
}

/* "dtype of x: Double -> Float" where an earlier step was "dtype of x: Float -> Double": a variant with Float exists. before: the values
 * before each earlier step of the frame. */
static bool goes_back(const struct intern *before, struct slice change)
{
	struct slice new = slice_behind(change, " -> ");
	LOCAL_BUF b = {0};
	if (!new.n)
		return false;
	value_before(&b, what_changed(change), new);
	return intern_find(before, buf_slice(&b)) != NONE;
}

static void remember(struct intern *before, struct slice change)
{
	LOCAL_BUF b = {0};
	value_before(&b, what_changed(change), slice_until(slice_behind(change, ": "), " -> "));
	intern_add(before, buf_slice(&b));
}

/* Each line of `all` has the guard that rejected one variant, the newest first. Where the first only goes back to what an older variant
 * was made for, that variant's own guard says what is new. */
static struct guard_words rejected_by_older(struct explanation *x, const struct intern *before, const struct fact_recompile *r,
					    struct guard_words first)
{
	struct slice rest = explain_text(x, r->all), line;
	for (int n = 0; n < REASONS && slice_line(&rest, &line); n++) {
		struct recompile_text text;
		recompile_text_parse(line, &text);
		if (!n || !text.guard.n)
			continue;
		struct fact_recompile one = *r;
		one.guard = facts_intern(x->facts, text.guard);
		one.old = text.old.n ? facts_intern(x->facts, text.old) : NONE;
		one.new = text.new.n ? facts_intern(x->facts, text.new) : NONE;
		struct guard_words w = guard_words(x, &one);
		if (w.change.n && !slice_eq(what_changed(w.change), what_changed(first.change)) && !goes_back(before, w.change))
			return w;
	}
	return first;
}

/* "___stack0" is what the line of the break left on Python's stack: no name that the program has, and gone with the break. */
static void value_that_crosses(struct explanation *x, const struct frame_view *v, struct frame_step *s)
{
	static const char own[] = "___stack";
	LOCAL_BUF b = {0};
	struct slice rest = s->change, of;
	uint32_t line = 0;
	if (!slice_find(rest, own))
		return;
	(void)facts_resume_name(explain_text(x, x->facts->frame[v->row].loc.function), &of, &line);
	for (const char *p; (p = slice_find(rest, own));) {
		buf_add(&b, rest.p, (size_t)(p - rest.p));
		rest = slice_of(p + sizeof(own) - 1, (size_t)(rest.p + rest.n - p) - sizeof(own) + 1);
		while (rest.n && is_digit(rest.p[0]))
			rest = slice_of(rest.p + 1, rest.n - 1);
		buf_adds(&b, "the value of ");
		line ? buf_addf(&b, "line %u", line) : buf_adds(&b, "the line that breaks");
	}
	buf_add_slice(&b, rest);
	s->change = explain_keep(x, buf_slice(&b));
	s->crosses = true;
	s->fix = slice_of(NULL, 0);
	s->hint = SLICE("What changes is a value of the line that breaks: it goes with the break.");
}

static void add_step(struct explanation *x, struct frame_view *v, struct intern *before, uint32_t compile, uint32_t recompile,
		     const struct chain *symbols)
{
	struct frame_step s = {.compile = compile, .recompile = recompile};
	const struct fact_recompile *r = recompile == NONE ? NULL : &x->facts->recompile[recompile];
	if (r && (r->guard != NONE || explain_text(x, r->against).n)) { /* "0/0: " is a reason, an empty one */
		struct guard_words w = guard_words(x, r);
		if (goes_back(before, w.change))
			w = rejected_by_older(x, before, r, w);
		which_bound(x, r, symbols, &w);
		s.change = w.change;
		s.placed = !w.zero_one;
		s.fix = w.fix;
		s.hint = w.hint;
		s.grad = w.kind == GUARD_GRAD;
		value_that_crosses(x, v, &s);
	}
	if (s.change.n)
		remember(before, s.change);
	PUSH(x, step) = s;
	v->n++;
}

/* The fixes (or hints) of a frame's steps, each line once, those of what changed most often first; for a value that changed at every step,
 * the first one's. */
static struct slice frame_advice(struct explanation *x, const struct frame_view *v, bool hints)
{
	OWNED(intern_release) struct intern said = {0};
	LOCAL_BUF b = {0};
	FREED uint32_t *step = NULL;
	uint32_t steps = frame_by_often(x, v, &step);
	for (uint32_t i = 0; i < steps; i++) {
		const struct frame_step *s = &x->step[step[i]];
		struct slice advice = hints ? s->hint : s->fix, line;
		uint32_t n = said.n;
		if (!advice.n || n > 4 * ADVICE || intern_add(&said, what_changed(s->change)) < n)
			continue;
		while (slice_line(&advice, &line)) {
			n = said.n;
			if (intern_add(&said, line) < n)
				continue;
			buf_add_slice(&b, line);
			buf_addc(&b, '\n');
		}
	}
	return explain_keep(x, slice_of(b.p, b.len ? b.len - 1 : 0));
}

static struct slice frame_changes(struct explanation *x, const struct frame_view *v)
{
	LOCAL_BUF b = {0};
	unsigned n = 0;
	for (uint32_t i = v->first; i < v->first + v->n && n < 6; i++)
		if (x->step[i].change.n) {
			if (x->step[i].compile != NONE) {
				buf_add_slice(&b, facts_text(x->facts, x->facts->compile[x->step[i].compile].label));
				buf_adds(&b, "  ");
			}
			buf_add_slice(&b, x->step[i].change);
			buf_addc(&b, '\n');
			n++;
		}
	return explain_keep(x, slice_of(b.p, b.len ? b.len - 1 : 0));
}

static struct slice function_name(struct explanation *x, const struct fact_loc *loc)
{
	struct slice s = explain_text(x, loc->function), of;
	uint32_t line;
	if (facts_resume_name(s, &of, &line))
		return explain_textf(x, "the rest of %.*s after line %u", SLN(of, CLIP), line);
	return s.n ? s : SLICE("a function");
}

/* ---- findings ---- */

/* A recompile is reported at the line that made the guard, if that is the user's, or in the frame's own file; the frame is its call. */
static void at_guard(const struct explanation *x, struct finding *r, const struct fact_loc *loc)
{
	if (loc->file == NONE || !loc->line || (loc->file == r->loc.file && loc->line == r->loc.line) ||
	    (loc->file != r->loc.file && (r->loc.file == NONE || srcloc_origin(facts_text(x->facts, loc->file)) != SRCLOC_USER)))
		return;
	r->call = r->loc;
	r->loc = *loc;
}

/* That of what changed most often. */
static void place(struct explanation *x, struct finding *r, const struct frame_view *v)
{
	FREED uint32_t *step = NULL;
	uint32_t n = frame_by_often(x, v, &step);
	const struct frame_step *s = n ? &x->step[step[0]] : NULL;
	if (s && s->placed && s->recompile != NONE)
		at_guard(x, r, &x->facts->recompile[s->recompile].loc);
}

/* Numbers that torch made dynamic after their first change: there is nothing to do. */
static void nothing_to_do(struct explanation *x, const struct frame_view *v)
{
	for (uint32_t i = v->first; i < v->first + v->n; i++) {
		struct frame_step *s = &x->step[i];
		if (!s->change.n || slice_starts(s->change, "size of ") || is_float(slice_behind(s->change, " is no longer ")))
			continue;
		struct slice what = what_changed(s->change);
		s->fix = slice_of(NULL, 0);
		if (!slice_starts(s->hint, "0 and 1 "))
			s->hint = explain_textf(x,
						"Nothing to do: %.*s is dynamic after its first change. As a tensor it would not recompile "
						"even once.",
						SLN(what, CLIP));
	}
}

bool limit_raises(struct slice text) { return slice_find(text, "FailOnRecompileLimitHit") || slice_find(text, "FailOnCacheLimitHit"); }

/* fullgraph=True, or fail_on_recompile_limit_hit: the exception is in the same log, after the limit. */
static bool raised(const struct explanation *x, const struct fact_limit *limit)
{
	const uint64_t last = x->raised[limit->src.input];
	return x->facts->input[limit->src.input].config.fail_on_recompile_limit_hit == 1 || (last && last > limit->src.line);
}

/* By input: the line after that of the last such exception; 0: none. */
static uint64_t *find_raised(const struct facts *f)
{
	uint64_t *last = xcalloc(f->n_input + 1u, sizeof(*last));
	for (uint32_t i = 0; i < f->n_failure && f->n_limit; i++) {
		const struct fact_failure *x = &f->failure[i];
		if (x->src.line >= last[x->src.input] && (limit_raises(facts_text(f, x->type)) || limit_raises(facts_text(f, x->reason))))
			last[x->src.input] = x->src.line + 1;
	}
	return last;
}

/* Without records of the recompiles themselves, torch's warning has the last one's reason. */
static void last_reason(struct explanation *x, struct finding *r, const struct fact_limit *limit)
{
	struct recompile_text text;
	struct slice reason = limit->reason == NONE ? slice_of(NULL, 0) : explain_text(x, limit->reason);
	recompile_text_parse(reason, &text);
	if (!text.guard.n)
		return;
	struct fact_recompile one = FACT_NEW(fact_recompile);
	one.src = limit->src;
	one.guard = facts_intern(x->facts, text.guard);
	one.old = text.old.n ? facts_intern(x->facts, text.old) : NONE;
	one.new = text.new.n ? facts_intern(x->facts, text.new) : NONE;
	one.reason = limit->reason;
	one.loc = text.at.line ? facts_loc(x->facts, &text.at) : facts_no_loc();
	facts_whole_file(x->facts, &one.loc, &r->loc);
	struct guard_words w = guard_words(x, &one);
	r->cause = w.change;
	r->fix = w.fix;
	r->hint = w.hint;
	if (one.loc.line && !w.zero_one)
		at_guard(x, r, &one.loc);
}

static void describe_limit(struct explanation *x, struct finding *r, const struct fact_frame *row, const struct fact_limit *limit)
{
	struct slice function = function_name(x, &row->loc);
	bool raises = raised(x, limit);
	const char *which = limit->accumulated ? "Accumulated recompile" : "Recompile";
	r->level = FINDING_ERROR;
	r->in_python = !raises;
	r->src = limit->src;
	if (raises)
		r->title =
		    explain_textf(x, "%s limit of %llu reached: %.*s raises", which, (unsigned long long)limit->limit, SLN(function, CLIP));
	else
		r->title = explain_textf(x, "%s limit of %llu reached: %.*s now runs in eager", which, (unsigned long long)limit->limit,
					 SLN(function, CLIP));
	/* The compilation that hit the limit made no variant. */
	uint32_t made = limit->limit && !limit->accumulated && row->compiles > limit->limit ? (uint32_t)limit->limit : row->compiles;
	r->cost = explain_textf(x, "%u compiled variant%s, then %s", made, plural(made),
				raises ? "an exception, because of fullgraph=True or fail_on_recompile_limit_hit" : "eager for new cases");
	r->why = limit->reason != NONE ? explain_text(x, limit->reason) : r->why;
	if (!r->cause.n)
		last_reason(x, r, limit);
}

/* Training and evaluation are two graphs of one function, each compiled once. */
static bool frame_train_and_eval(const struct explanation *x, const struct frame_view *v)
{
	unsigned n = 0, other = 0;
	for (uint32_t i = v->first; i < v->first + v->n; i++) {
		struct slice change = x->step[i].change;
		bool mode = slice_find(change, ".training is no longer ") || slice_find(change, ".training: ") ||
			    slice_starts(change, "global state: grad_mode");
		n += mode;
		other += change.n && !mode;
	}
	return n == 1 && !other;
}

/* All that changed is the state that an optimizer creates in its first step. */
static bool optimizer_state(const struct explanation *x, const struct frame_view *v)
{
	unsigned n = 0;
	for (uint32_t i = v->first; i < v->first + v->n; i++) {
		const struct frame_step *s = &x->step[i];
		if (s->change.n && !slice_starts(s->hint, "Nothing to do: the optimizer"))
			return false;
		n += s->change.n > 0;
	}
	return n > 0;
}

static void describe(struct explanation *x, struct frame_view *v, const struct fact_frame *row, const struct fact_limit *limit,
		     const struct chain *symbols)
{
	struct finding *r;
	if (!row->recompiles && !limit)
		return;
	bool first = frame_first_dynamic(x, v, symbols);
	if (first)
		nothing_to_do(x, v);
	struct slice changes = frame_changes(x, v), cause = frame_cause(x, v);
	r = explain_finding(x, limit ? FINDING_LIMIT : FINDING_RECOMPILE, FINDING_WARNING);
	v->finding = x->n_finding - 1;
	r->loc = row->loc;
	r->compile = x->step[v->first].compile;
	r->count = row->recompiles;
	r->seconds = row->seconds;
	r->call_us = r->compile == NONE ? -1 : guards_call_us(x, r->compile); /* another variant's guards are checked first */
	r->id = limit ? SLICE("recompile-limit") : SLICE("recompile");
	r->evidence = changes;
	r->cause = cause;
	if (!changes.n) {
		r->why = SLICE("The log does not say which guards failed.");
		r->next = SLICE("TORCH_LOGS=recompiles python app.py");
	}
	r->fix = frame_advice(x, v, false);
	r->hint = frame_advice(x, v, true);
	for (uint32_t i = v->first; i < v->first + v->n && !r->src.line; i++)
		if (x->step[i].recompile != NONE)
			r->src = x->facts->recompile[x->step[i].recompile].src;
	place(x, r, v);
	if (limit) {
		describe_limit(x, r, row, limit);
		return;
	}
	r->title =
	    explain_textf(x, "%u recompile%s of %.*s", row->recompiles, plural(row->recompiles), SLN(function_name(x, &row->loc), CLIP));
	if (first || frame_train_and_eval(x, v) || optimizer_state(x, v))
		r->level = FINDING_NOTE;
	if (row->seconds >= 0)
		r->cost = explain_textf(x, "%u recompile%s, %.2f s", row->recompiles, plural(row->recompiles), row->seconds);
	else
		r->cost = explain_textf(x, "%u recompile%s", row->recompiles, plural(row->recompiles));
}

/* One frame: its compilations in order, each with the recompile that caused it. of: the first recompile of each compilation. */
static void add_frame(struct explanation *x, const struct fact_frame *row, const uint32_t *of, const struct chain *symbols)
{
	const struct facts *f = x->facts;
	struct frame_view v = {.row = (uint32_t)(row - f->frame), .first = x->n_step, .finding = NONE};
	OWNED(intern_release) struct intern before = {0};
	for (uint32_t k = row->first; k < row->first + row->n; k++)
		add_step(x, &v, &before, f->frame_compile[k], of[f->frame_compile[k]], symbols);
	for (uint32_t i = 0; row->frame < 0 && i < f->n_recompile; i++) {
		const struct fact_recompile *r = &f->recompile[i];
		if (r->compile == NONE && r->src.input == row->input && r->loc.file == row->loc.file &&
		    r->loc.function == row->loc.function)
			add_step(x, &v, &before, NONE, i, symbols);
	}
	describe(x, &v, row, row->limit == NONE ? NULL : &f->limit[row->limit], symbols);
	PUSH(x, frame) = v;
}

void explain_recompiles(struct explanation *x)
{
	const struct facts *f = x->facts;
	FREED uint32_t *of = xreallocarray(NULL, f->n_compile + 1, sizeof(*of));
	memset(of, 255, (f->n_compile + 1) * sizeof(*of));
	for (uint32_t i = f->n_recompile; i-- > 0;)
		if (f->recompile[i].compile != NONE)
			of[f->recompile[i].compile] = i;
	x->raised = find_raised(f);
	struct chain symbols = {0}; /* by compilation */
	for (uint32_t i = 0; i < f->n_symbol && f->n_recompile; i++)
		chain_add(&symbols, i, CHAIN_KEY(f->symbol[i].compile));
	for (uint32_t i = 0; i < f->n_frame; i++)
		add_frame(x, &f->frame[i], of, &symbols);
	chain_release(&symbols);
	free(x->raised);
	x->raised = NULL;
}
