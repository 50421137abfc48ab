/* event.c - one event is one finding: what several records, or a trace and a text, say about one event is reported once, with the finding
 * that is closest to the cause. */
#include "base/text.h"
#include "run/diagnose/recompiles.h"
#include "run/diagnose/breaks.h"
#include "run/diagnose/finding.h"

enum { LOOKED_AT = 512, CLIP = 300, FEW = 3 }; /* a hostile log has very many findings */

static bool holds(struct slice text, struct slice what) { return what.n && text.n >= what.n && memmem(text.p, text.n, what.p, what.n); }

static bool same_line(const struct finding *a, const struct finding *b)
{
	return a->loc.file != NONE && a->loc.file == b->loc.file && a->loc.line == b->loc.line;
}

static void tell_with(struct finding *g, uint32_t into, struct explanation *x, bool sum)
{
	struct finding *to = &x->finding[into];
	g->into = into;
	if (!sum)
		return;
	to->count += g->count;
	explain_on_ranks_of(x, to, g);
	if (g->seconds >= 0)
		to->seconds = (to->seconds < 0 ? 0 : to->seconds) + g->seconds;
	if (g->compiles.n && to->compiles.n < 80)
		to->compiles = explain_textf(x, "%.*s %.*s", SLN(to->compiles, CLIP), SLN(g->compiles, CLIP));
}

/* "torch._dynamo.exc.Unsupported: Data-dependent branching" without the type */
static struct slice message(struct slice title)
{
	const char *colon = slice_find(title, ": ");
	return colon ? slice_of(colon + 2, (size_t)(title.p + title.n - colon - 2)) : title;
}

/* A known message of a failure or a break that has a finding. */
static bool known_is(const struct finding *k, const struct finding *g)
{
	static const struct {
		const char *known, *id;
	} same[] = {{"tensor-item-warning", "GB0124"},
		    {"recompile-limit", "recompile-limit"},
		    {"recompile-limit-is-error", "recompile-limit"},
		    {"cache-size-limit", "recompile-limit"}};
	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		if (slice_is(k->id, same[i].known) && slice_is(g->id, same[i].id))
			return true;
	if (slice_starts(k->id, "recompile-limit") && slice_find(g->title, "RecompileLimitHit"))
		return true;
	if (slice_is(k->id, "eager-suppressed"))
		return g->kind == FINDING_FAILURE;
	if (slice_eq(k->id, g->id))
		return true;
	bool told = g->kind == FINDING_FAILURE || g->kind == FINDING_BREAK;
	return told && (holds(k->evidence, g->title) || (g->kind == FINDING_FAILURE && holds(g->frames, slice_trim(k->evidence))) ||
			(message(g->title).n > 12 && holds(k->evidence, message(g->title))));
}

/* One failure's exception is in the chain, or in the message, of another's. */
static bool failure_is(const struct finding *a, const struct finding *b)
{
	struct slice words = message(a->title);
	if (slice_starts(a->title, "ProcessRaisedException") || slice_starts(a->title, "ChildFailedError"))
		return true; /* torch.multiprocessing.spawn and torchrun: the failure of a process that they wait for */
	if (slice_eq(a->title, b->title) && b->loc.file != NONE)
		return a->loc.file == NONE || a->rank > b->rank;
	if (a->loc.file == NONE && b->loc.file != NONE && words.n > 12 && slice_eq(words, message(b->title)))
		return true; /* torch's own type, from which it makes Python's */
	return a->src.line != b->src.line && words.n > 12 && holds(b->frames, words) && !holds(a->frames, message(b->title));
}

/* The exception with which Dynamo gives up a frame that reached its limit; in the log it has no place. */
static bool limit_is(const struct finding *g, const struct finding *limit)
{
	return slice_find(g->title, "Dynamo recompile limit exceeded") && g->src.input == limit->src.input &&
	       (g->loc.file == NONE || same_line(g, limit) || g->compile == limit->compile);
}

static bool shape_is(const struct finding *s, const struct finding *g)
{
	bool zero_one = slice_is(s->id, "shape-zero-one");
	if (zero_one) /* it is at the frame; the recompile may be at the line of a guard */
		return (g->kind == FINDING_RECOMPILE || g->kind == FINDING_LIMIT) &&
		       (same_line(s, g) || (s->loc.file != NONE && s->loc.file == g->call.file && s->loc.line == g->call.line));
	if (g->kind != FINDING_FAILURE)
		return false;
	bool constraint = slice_find(g->evidence, "onstraints violated") || slice_find(g->evidence, "onstraintViolation");
	if (slice_is(s->id, "shape-constraint")) {
		struct slice sentence = slice_first_line(s->evidence);
		return constraint && (holds(g->frames, sentence) || (s->compile != NONE && s->compile == g->compile) ||
				      (s->src.input == g->src.input && s->src.line == g->src.line));
	}
	if (slice_is(s->id, "shape-specialized"))
		return constraint && (s->compile == g->compile || s->compile == NONE || g->compile == NONE);
	return slice_is(s->id, "shape-data-dependent") && slice_find(g->evidence, "data-dependent");
}

/* The line of the program that caused the guards on sizes, if it is one line for all of them. */
static struct fact_loc guard_line(const struct explanation *x)
{
	struct fact_loc at = facts_no_loc();
	for (uint32_t i = 0; i < x->facts->n_bound; i++) {
		const struct fact_bound *b = &x->facts->bound[i];
		if (b->kind != BOUND_GUARD || b->loc.file == NONE || srcloc_origin(explain_text(x, b->loc.file)) != SRCLOC_USER)
			continue;
		if (at.file != NONE && (at.file != b->loc.file || at.line != b->loc.line))
			return facts_no_loc();
		at = b->loc;
	}
	return at;
}

/* A failure because of a size: it is shown at the line that broke the rule, with the rule's own words as evidence. */
static void take_shape(struct explanation *x, const struct finding *s, struct finding *g)
{
	struct fact_loc guard = guard_line(x);
	if (slice_is(s->id, "shape-constraint") && slice_find(s->evidence, "generated guard") && guard.file != NONE)
		g->loc = guard;
	if (slice_is(s->id, "shape-specialized") && s->loc.file != NONE && srcloc_is_user(explain_text(x, s->loc.file))) {
		g->call = g->loc;
		g->loc = s->loc;
	}
	if (slice_is(s->id, "shape-constraint") && s->evidence.n)
		g->evidence = explain_textf(x, "%.*s\n%.*s", SL(g->evidence), SLN(s->evidence, 4 * CLIP));
	if (!g->torch_hint.n)
		g->torch_hint = s->torch_hint;
}

/* A text log says more about a failure than a trace, which may have only its first line. */
static void take_known(const struct explanation *x, const struct finding *k, struct finding *g)
{
	/* What Dynamo rejects in a line of torch or of a package cannot be fixed there. */
	bool foreign = slice_is(g->id, "failure-dynamo") && break_is_foreign(explain_text(x, g->loc.file));
	if (limit_raises(g->title) && g->hint.n && !g->fix.n) { /* the limit's own advice */
		g->why = k->why.n ? k->why : g->why;
		return;
	}
	if (g->fix.n || !slice_starts(g->id, "failure") || g->kind != FINDING_FAILURE || slice_is(k->id, "dynamo-unsupported") || foreign)
		return;
	g->fix = k->fix;
	g->hint = k->hint;
	g->why = k->why.n ? k->why : g->why;
	g->url = g->url.n ? g->url : k->url;
}

/* "with open(path) as f:": what open() returned, after the break for open() itself; the parts of vmap where vmap itself runs in Python. */
static bool follows(const struct finding *g, const struct finding *from)
{
	if (from->kind != FINDING_BREAK && from->kind != FINDING_FAILURE)
		return false;
	if (slice_starts(g->title, "Unsupported context manager"))
		return same_line(g, from) && g->src.input == from->src.input && from->rank < g->rank &&
		       !slice_starts(from->title, "Unsupported context manager");
	if (slice_starts(g->title, "Attempted to wrap sparse Tensor")) /* once where it is made, once where it is read back */
		return same_line(g, from) && from->rank < g->rank && slice_starts(from->title, "Attempted to wrap sparse Tensor");
	return slice_find(g->title, "Unsupported functorch tracing attempt") && g->src.input == from->src.input &&
	       from->compile < g->compile;
}

/* Of a failure reported twice, the advice was found for the first report. */
static void take_advice(const struct explanation *x, const struct finding *g, struct finding *to)
{
	bool known = !to->fix.n && g->fix.n + g->hint.n && !slice_starts(g->id, "failure");
	take_known(x, g, to);
	if (known && slice_eq(to->fix, g->fix) && slice_eq(to->hint, g->hint))
		to->id = g->id;
}

static void breaks_of_failures(struct explanation *x)
{
	for (uint32_t i = 0; i < x->n_finding && i < LOOKED_AT; i++) {
		struct finding *g = &x->finding[i];
		for (uint32_t k = 0; g->kind == FINDING_BREAK && g->into == NONE && k < x->n_finding && k < LOOKED_AT; k++) {
			const struct finding *to = &x->finding[k];
			if (k != i && to->kind == FINDING_BREAK && to->into == NONE && g->compile != NONE && g->compile == to->compile &&
			    slice_starts(g->title, "WON'T CONVERT ") && !slice_starts(to->title, "WON'T CONVERT "))
				tell_with(g, k, x, false); /* the same frame, given up because of it */
			else if (k != i && explain_told_by(x, k) != i && follows(g, to))
				tell_with(g, k, x, false);
			else if (to->kind == FINDING_FAILURE && same_line(g, to) &&
				 (to->ended || slice_eq(g->title, to->title) || holds(g->title, message(to->title))))
				tell_with(g, k, x, false);
			else if (to->kind == FINDING_BREAK && k < i && to->into == NONE && same_line(g, to) &&
				 slice_eq(g->title, to->title))
				tell_with(g, k, x, true);
		}
	}
}

static void others(struct explanation *x, uint32_t i)
{
	struct finding *g = &x->finding[i];
	for (uint32_t k = 0; g->into == NONE && k < x->n_finding && k < LOOKED_AT; k++) {
		struct finding *to = &x->finding[k];
		if (k == i || explain_told_by(x, k) == i)
			continue;
		if (g->kind == FINDING_KNOWN && to->kind != FINDING_KNOWN && known_is(g, to)) {
			take_known(x, g, to);
			tell_with(g, k, x, false);
		} else if (g->kind == FINDING_FAILURE && to->kind == FINDING_FAILURE && to->into == NONE && failure_is(g, to)) {
			if (slice_eq(g->title, to->title))
				take_advice(x, g, to);
			tell_with(g, k, x, false);
		} else if (g->kind == FINDING_FAILURE && !g->ended && follows(g, to)) {
			tell_with(g, k, x, false);
		} else if (g->kind == FINDING_FAILURE && to->kind == FINDING_LIMIT && !g->ended && limit_is(g, to)) {
			tell_with(g, k, x, false);
		} else if (g->kind == FINDING_SHAPE && shape_is(g, to)) {
			take_shape(x, g, to);
			tell_with(g, k, x, false);
		}
	}
}

/* "L['step'] was dynamic but got specialized to 1" explains "step is no longer 0": each value gets its own graph, with dynamic=True as
 * well as without. */
static bool made_constant(struct explanation *x, const struct finding *s, const struct finding *g)
{
	struct slice name = slice_find(s->title, " was dynamic")
				? slice_of(s->title.p, (size_t)(slice_find(s->title, " was dynamic") - s->title.p))
				: slice_of(NULL, 0);
	struct slice rest = g->evidence, line;
	if (!slice_starts(name, "L['") || s->src.input != g->src.input)
		return false;
	name = plain_names(x, name);
	bool changed = false;
	while (!changed && slice_line(&rest, &line)) {
		const char *two = slice_find(line, "  ");
		struct slice what = two ? slice_of(two + 2, (size_t)(line.p + line.n - two - 2)) : line;
		changed = what.n > name.n && !memcmp(what.p, name.p, name.n) && (what.p[name.n] == ' ' || what.p[name.n] == ':');
	}
	return changed && s->compile != NONE && g->compile != NONE &&
	       x->facts->compile[s->compile].frame == x->facts->compile[g->compile].frame;
}

static void constants(struct explanation *x)
{
	for (uint32_t i = 0; i < x->n_finding && i < LOOKED_AT; i++) {
		struct finding *s = &x->finding[i];
		for (uint32_t k = 0; slice_is(s->id, "shape-specialized") && s->into == NONE && k < x->n_finding && k < LOOKED_AT; k++) {
			struct finding *g = &x->finding[k];
			if ((g->kind != FINDING_RECOMPILE && g->kind != FINDING_LIMIT) || g->into != NONE || !made_constant(x, s, g))
				continue;
			g->why = explain_textf(x, "Line %u needs the value itself, so each value gets its own graph: %.*s", s->loc.line,
					       SL(slice_first_line(s->evidence)));
			if (!slice_find(s->title, "'].")) { /* an argument: an attribute of an object cannot be passed as a tensor */
				g->fix = slice_of(NULL, 0);
				g->hint = s->hint;
			}
			tell_with(s, k, x, false);
		}
	}
}

/* A break in the code of torch or of a package that no setting avoids: one more reason to move that call. */
static bool is_foreign(const struct finding *g)
{
	return g->kind == FINDING_BREAK && g->into == NONE && g->through.file != NONE && !g->fix.n && !slice_starts(g->id, "wrapper-");
}

/* args[0] is not a name in the user's code, so it has to be marked where it is passed. Repeated lines are dropped. */
static void foreign_names(struct explanation *x, struct finding *g)
{
	OWNED(intern_release) struct intern said = {0};
	LOCAL_BUF fix = {0}, hint = {0};
	struct slice rest = g->fix, line;
	while (slice_line(&rest, &line)) {
		uint32_t before = said.n;
		bool name = slice_starts(line, "torch._dynamo.mark_dynamic(");
		if (intern_add(&said, line) < before)
			continue;
		struct buf *to = name ? &hint : &fix;
		buf_addf(to, "%s%.*s", to->len ? "\n" : "", SL(line));
		if (name)
			buf_addf(to, ", on what your call passes for it");
	}
	g->fix = explain_keep(x, buf_slice(&fix));
	if (hint.len)
		g->hint = explain_textf(x, "%.*s%s%.*s", SLN(buf_slice(&hint), 2 * CLIP), g->hint.n ? "\n" : "", SLN(g->hint, 2 * CLIP));
}

/* Dynamo does not trace the call at the user's line. */
static bool is_call(const struct finding *g)
{
	return g->through.file == NONE && (slice_is(g->id, "GB0007") || slice_is(g->id, "GB0008") || slice_is(g->id, "GB0009"));
}

/* Those at one line of the user's are reported once: with the break of the call itself, if there is one. */
void explain_foreign_breaks(struct explanation *x)
{
	breaks_of_failures(x); /* those that now share a line */
	for (uint32_t i = 0; i < x->n_finding && i < LOOKED_AT; i++)
		if ((x->finding[i].kind == FINDING_RECOMPILE || x->finding[i].kind == FINDING_LIMIT) && x->finding[i].through.file != NONE)
			foreign_names(x, &x->finding[i]);
	for (uint32_t i = 0; i < x->n_finding && i < LOOKED_AT; i++) {
		struct finding *g = &x->finding[i];
		for (uint32_t k = 0; is_foreign(g) && k < x->n_finding && k < LOOKED_AT; k++) {
			const struct finding *to = &x->finding[k];
			if (k != i && to->kind == FINDING_BREAK && to->into == NONE && same_line(g, to) &&
			    (is_call(to) || (k < i && is_foreign(to))))
				tell_with(g, k, x, true);
		}
	}
}

/* The frame and what changed there, as evidence of the finding that covers it. */
static void add_frame(struct explanation *x, struct finding *to, const struct finding *other)
{
	struct slice place = explain_place(x, &other->through);
	if (to->evidence.n < 16 * CLIP)
		to->evidence = explain_textf(x, "%.*s\n%.*s: %.*s", SL(to->evidence), SLN(place, CLIP), SLN(other->cause, CLIP));
}

/* Functions of a package called from one line of the user's were recompiled for one reason: only the outermost is reported. */
void explain_same_call(struct explanation *x)
{
	for (uint32_t i = 0; i < x->n_finding && i < LOOKED_AT; i++) {
		struct finding *g = &x->finding[i], *to = NULL;
		if (g->kind != FINDING_RECOMPILE || g->into != NONE || g->through.file == NONE)
			continue;
		uint32_t first = i, n = 0;
		for (uint32_t k = i; k < x->n_finding && k < LOOKED_AT; k++) {
			to = &x->finding[k];
			if (to->kind != FINDING_RECOMPILE || to->into != NONE || to->through.file == NONE || !same_line(to, g))
				continue;
			n++;
			first = to->compile < x->finding[first].compile ? k : first;
		}
		to = &x->finding[first];
		for (uint32_t k = i; k < x->n_finding && k < LOOKED_AT && n > 1; k++) {
			struct finding *other = &x->finding[k];
			if (k == first || other->kind != FINDING_RECOMPILE || other->into != NONE || other->through.file == NONE ||
			    !same_line(other, to))
				continue;
			to->level = other->level > to->level ? other->level : to->level;
			add_frame(x, to, other);
			tell_with(other, first, x, true);
		}
		if (n > 1 && to->seconds >= 0)
			to->cost = explain_textf(x, "%llu recompiles, %.2f s", (unsigned long long)to->count, to->seconds);
		if (n > 1)
			to->title = explain_textf(x, "%.*s and %u function%s below it", SL(to->title), n - 1, plural(n - 1));
	}
}

/* Ranks of one program recompile at the same line for the same reason, each in its own frame. */
static void same_on_ranks(struct explanation *x)
{
	for (uint32_t i = 0; x->n_ranks > 1 && i < x->n_finding && i < LOOKED_AT; i++) {
		struct finding *g = &x->finding[i];
		struct slice cost = g->cost;
		bool frame = g->kind == FINDING_RECOMPILE || g->kind == FINDING_LIMIT;
		for (uint32_t k = i + 1; frame && g->into == NONE && k < x->n_finding && k < LOOKED_AT; k++) {
			struct finding *other = &x->finding[k];
			if (other->kind == g->kind && other->into == NONE && other->src.input != g->src.input && same_line(g, other) &&
			    slice_eq(g->title, other->title) && slice_eq(g->cause, other->cause))
				tell_with(other, i, x, true);
		}
		if (frame && g->n_ranks > 1)
			g->cost = explain_textf(x, "%.*s on one of %u ranks", SL(cost), g->n_ranks);
	}
}

/* Useless notes: where compile time went in a program that died, the sum of a few recompiles that are reported one by one. */
static void beside(struct explanation *x)
{
	uint32_t died = NONE, recompile = NONE, n = 0;
	for (uint32_t i = 0; i < x->n_finding && i < LOOKED_AT; i++) {
		const struct finding *g = &x->finding[i];
		if (g->into != NONE)
			continue;
		if (g->kind == FINDING_FAILURE && g->ended && died == NONE)
			died = i;
		if (g->kind == FINDING_RECOMPILE || g->kind == FINDING_LIMIT) {
			recompile = recompile == NONE ? i : recompile;
			n++;
		}
	}
	for (uint32_t i = 0; i < x->n_finding && i < LOOKED_AT; i++) {
		struct finding *g = &x->finding[i];
		if (g->into != NONE || g->level != FINDING_NOTE)
			continue;
		if (died != NONE && (g->kind == FINDING_TIME || g->kind == FINDING_CACHE))
			g->into = died;
		else if (slice_is(g->id, "time-recompiles") && n && n <= FEW)
			g->into = recompile;
	}
}

/* The frame whose limit a failure is about. */
static bool limit_of_failure(const struct explanation *x, const struct finding *g, const struct finding *limit)
{
	const struct facts *f = x->facts;
	if (limit->into != NONE || limit->src.input != g->src.input)
		return false;
	if (limit->kind == FINDING_LIMIT)
		return true;
	return limit->kind == FINDING_RECOMPILE && g->compile != NONE && limit->compile != NONE && f->compile[g->compile].frame >= 0 &&
	       f->compile[g->compile].frame == f->compile[limit->compile].frame &&
	       f->compile[g->compile].generation == f->compile[limit->compile].generation;
}

/* The exception of a limit with fullgraph=True does not name what changed: what the limit's own finding says is its cause and its fix.
 * Where that has only advice, a higher limit is what keeps the program running. */
static void limits_that_raise(struct explanation *x)
{
	for (uint32_t i = 0; i < x->n_finding && i < LOOKED_AT; i++) {
		struct finding *g = &x->finding[i];
		if (g->kind != FINDING_FAILURE || g->into != NONE || !limit_raises(g->title))
			continue;
		for (uint32_t k = 0; k < x->n_finding && k < LOOKED_AT; k++) {
			struct finding *limit = &x->finding[k];
			if (!limit_of_failure(x, g, limit))
				continue;
			if (!limit->fix.n && !slice_starts(limit->title, "Accumulated"))
				limit->fix =
				    SLICE("torch._dynamo.config.recompile_limit = 16    # if the number of variants is small and known");
			g->fix = limit->fix;
			g->hint = limit->hint;
			g->cause = g->cause.n ? g->cause : limit->cause;
			break;
		}
	}
}

/* x @ y, torch.matmul(x, y): there is no layer with in_features. */
static void operands(struct explanation *x)
{
	static const char *const layer[] = {"built-in function linear", "torch/nn/modules/linear.py", "F.linear("};
	static const char *const product[] = {" @ ", "matmul", ".mm(", "bmm("};
	for (uint32_t i = 0; i < x->n_finding && i < LOOKED_AT; i++) {
		struct finding *g = &x->finding[i];
		struct slice code = g->loc.code == NONE ? slice_of(NULL, 0) : explain_text(x, g->loc.code);
		if (!slice_starts(g->id, "matmul-") || slice_any(g->frames, layer, slice_has) || slice_any(g->evidence, layer, slice_has))
			continue;
		if (!slice_any(code, product, slice_has) && !slice_has(g->frames, "function matmul>") &&
		    !slice_has(g->evidence, "function matmul>"))
			continue;
		g->fix = slice_of(NULL, 0);
		g->hint = SLICE("x @ y multiplies the rows of x with the columns of y: transpose one of them (y.mT), or fix the reshape "
				"before it.");
	}
}

void explain_events(struct explanation *x)
{
	limits_that_raise(x);
	same_on_ranks(x);
	breaks_of_failures(x);
	for (uint32_t i = 0; i < x->n_finding && i < LOOKED_AT; i++)
		others(x, i);
	constants(x);
	operands(x);
	beside(x);
}
