#include "edit_part.h"
#include "base/rows.h"

/* ---- places ---- */

/* Fills the template with what is bound, and makes a change of it. */
static void filled(struct buf *b, const struct edit_step *st, const struct captures *c)
{
	buf_reset(b);
	template_put(b, st->to, c);
}

static size_t indentation(struct slice line)
{
	size_t n = 0;
	while (n < line.n && line.p[n] == ' ')
		n++;
	return n;
}

/* Do the statements from i on match the lines of `from`, with nothing more in their blocks and no else after them? *last: the last one. */
static bool statements_match(const struct source *s, uint32_t i, struct slice from, struct captures *c, uint32_t *last)
{
	const uint32_t base = s->v[i].l.indent, known = c->n;
	struct slice line;
	bool deeper = false, fits = true;
	uint32_t at = i;
	for (; fits && slice_line(&from, &line); at++) {
		deeper = indentation(line) > 0;
		fits = at < s->n && (deeper ? s->v[at].l.indent > base : s->v[at].l.indent == base) &&
		       template_match(slice_trim(line), s->v[at].l.code, c);
	}
	if (fits && at < s->n)
		fits = !(deeper && s->v[at].l.indent > base) && !source_starts(&s->v[at], "else") && !source_starts(&s->v[at], "elif");
	if (!fits)
		c->n = known;
	*last = at - 1;
	return fits;
}

/* Is this name a function being called, or the object of a method call? torch.sin(x): not x. */
static bool is_called(const struct tokens *t, uint32_t i)
{
	while (i + 2 < t->n && slice_is(t->v[i], "torch") && slice_is(t->v[i + 1], "."))
		i += 2;
	return i + 1 < t->n && slice_is(t->v[i + 1], "(");
}

/* Returns as many elements as it gets, of the same dtype: no / (of integers), no comparison, no constant of another kind. */
static bool is_elementwise(const struct tokens *t)
{
	static const char *const functions[] = {"sin",  "cos", "tan",  "tanh",    "exp", "log",
						"sqrt", "abs", "relu", "sigmoid", "neg", "clone"};
	static const char *const signs[] = {"+", "-", "*", ".", "(", ")"};
	for (uint32_t i = 0; i < t->n; i++) {
		bool called = is_called(t, i);
		bool known = slice_any(t->v[i], signs, slice_is) ||
			     (called && (slice_any(t->v[i], functions, slice_is) || slice_is(t->v[i], "torch")));
		if (!known && !(token_is_name(t->v[i]) && !called) && !is_digit(t->v[i].p[0]))
			return false;
	}
	return true;
}

/* Every name in a that is not a function's is in b. */
static bool names_in(const struct tokens *a, const struct tokens *b)
{
	for (uint32_t i = 0; i < a->n; i++) {
		bool found = !token_is_name(a->v[i]) || is_called(a, i);
		for (uint32_t k = 0; k < b->n && !found; k++)
			found = slice_eq(a->v[i], b->v[k]) && !is_called(b, k);
		if (!found)
			return false;
	}
	return true;
}

/* "{a}, {b}" of a rule: torch.where would silently broadcast and promote different sizes and dtypes. */
static bool are_alike(struct slice alike, const struct captures *c)
{
	LOCAL_BUF all = {0};
	struct tokens t[2] = {0};
	struct pyarg arg[2];
	template_put(&all, alike, c);
	bool yes = pytext_args(buf_slice(&all), arg, 2) == 2;
	for (unsigned i = 0; yes && i < 2; i++)
		tokens_read(&t[i], arg[i].value);
	yes = yes && is_elementwise(&t[0]) && is_elementwise(&t[1]) && names_in(&t[0], &t[1]) && names_in(&t[1], &t[0]);
	tokens_release(&t[0]);
	tokens_release(&t[1]);
	return yes;
}

static int replace_at(struct editing *e, uint32_t i, const struct edit_step *st, struct err *err)
{
	struct captures c = e->c;
	LOCAL_BUF b = {0};
	uint32_t last;
	if (!statements_match(e->s, i, st->from, &c, &last))
		return 0;
	if (e->alike.n && !are_alike(e->alike, &c))
		return err_set(err, EXIT_FOUND, "the two may differ in size or dtype");
	filled(&b, st, &c);
	int r = b.len ? source_replace(e->s, i, last, buf_slice(&b), err) : source_delete(e->s, i, err);
	return r < 0 ? -1 : 1;
}

static int parts_of(struct editing *e, uint32_t i, const struct edit_step *st, struct err *err)
{
	OWNED(tokens_release) struct tokens t = {0};
	LOCAL_BUF b = {0};
	struct slice part;
	uint32_t from = 0;
	int made = 0, r = 0;
	tokens_read(&t, e->s->v[i].l.code);
	for (struct captures c = e->c; r == 0 && template_find(st->from, &t, &from, &c, &part); c = e->c) {
		filled(&b, st, &c);
		r = source_replace_part(e->s, part, buf_slice(&b), err);
		made++;
	}
	return r < 0 ? -1 : made;
}

static int at_line(struct editing *e, const struct edit_step *st, struct err *err) { return replace_at(e, e->at, st, err); }

static int at_part(struct editing *e, const struct edit_step *st, struct err *err) { return parts_of(e, e->at, st, err); }

/* Matching `from` against the line binds the names for `to`. */
static bool bind(struct editing *e, const struct edit_step *st, struct buf *b)
{
	struct captures c = e->c;
	if (st->from.n && !template_match(st->from, e->s->v[e->at].l.code, &c))
		return false;
	filled(b, st, &c);
	return true;
}

static int at_before(struct editing *e, const struct edit_step *st, struct err *err)
{
	LOCAL_BUF b = {0};
	return !bind(e, st, &b) ? 0 : source_insert_before(e->s, e->at, buf_slice(&b), err) < 0 ? -1 : 1;
}

static int at_top(struct editing *e, const struct edit_step *st, struct err *err)
{
	LOCAL_BUF b = {0};
	return !bind(e, st, &b) ? 0 : source_insert_on_top(e->s, buf_slice(&b), err) < 0 ? -1 : 1;
}

/* Applies `change` to statements [from, to) where it can: the number of changes. */
typedef bool may_fn(const struct editing *e, uint32_t i);
static int in_each(struct editing *e, uint32_t from, uint32_t to, const struct edit_step *st, may_fn *may, bool parts, struct err *err)
{
	int made = 0;
	for (uint32_t i = from; i < to; i++) {
		int r = may && !may(e, i) ? 0 : parts ? parts_of(e, i, st, err) : replace_at(e, i, st, err);
		if (r < 0)
			return -1;
		made += r;
	}
	return made;
}

static int in_file(struct editing *e, const struct edit_step *st, struct err *err) { return in_each(e, 0, e->s->n, st, NULL, false, err); }

static int in_one(struct editing *e, const struct edit_step *st, struct err *err)
{
	int made = in_file(e, st, err);
	return made > 1 ? err_set(err, EXIT_FOUND, "%d statements match", made) : made;
}

static int in_file_parts(struct editing *e, const struct edit_step *st, struct err *err)
{
	return in_each(e, 0, e->s->n, st, NULL, true, err);
}

/* Is {x} declared global there? */
static bool is_global(const struct editing *e, uint32_t i)
{
	const struct source *s = e->s;
	uint32_t def = source_around(s, i, "def");
	FREED char *name = xstrndup(captures_get(&e->c, "x").p, captures_get(&e->c, "x").n);
	bool said = s->v[i].l.indent == 0;
	for (uint32_t k = def; !said && def != NONE && k < source_block_end(s, def); k++)
		said = source_starts(&s->v[k], "global") && edit_names(s->v[k].l.code, name);
	return said;
}

static int in_global(struct editing *e, const struct edit_step *st, struct err *err)
{
	return in_each(e, 0, e->s->n, st, is_global, false, err);
}

static int in_init(struct editing *e, const struct edit_step *st, struct err *err)
{
	const struct source *s = e->s;
	uint32_t class = source_around(s, e->at, "class");
	if (class == NONE)
		return err_set(err, EXIT_FOUND, "the line is not in a class");
	for (uint32_t i = class; i < source_block_end(s, class); i++)
		if (slice_is(source_name(&s->v[i]), "__init__"))
			return in_each(e, i, source_block_end(s, i), st, NULL, false, err);
	return 0;
}

/* Does the line call the function that this statement defines? */
static bool is_called_def(const struct editing *e, uint32_t i)
{
	const struct source *s = e->s;
	if (i >= s->n || !source_name(&s->v[i]).n)
		return false;
	FREED char *name = xstrndup(source_name(&s->v[i]).p, source_name(&s->v[i]).n);
	return edit_names(s->v[e->at].l.code, name);
}

/* Is this a decorator of a function that the line calls? */
static bool of_called(const struct editing *e, uint32_t i)
{
	while (i < e->s->n && e->s->v[i].l.code.p[0] == '@')
		i++;
	return is_called_def(e, i);
}

/* Is this in the body of such a function? */
static bool inside_called(const struct editing *e, uint32_t i)
{
	uint32_t def = source_around(e->s, i, "def");
	return def != NONE && is_called_def(e, def);
}

static int at_called(struct editing *e, const struct edit_step *st, struct err *err)
{
	return in_each(e, 0, e->s->n, st, of_called, false, err);
}

static int in_called(struct editing *e, const struct edit_step *st, struct err *err)
{
	return in_each(e, 0, e->s->n, st, inside_called, false, err);
}

static const struct {
	const char *name;
	int (*make)(struct editing *e, const struct edit_step *st, struct err *err);
	bool wants_from;
} places[] = {
    {"line", at_line, true},     {"part", at_part, true},     {"before", at_before, false},   {"top", at_top, false},
    {"file", in_file, true},     {"one", in_one, true},       {"parts", in_file_parts, true}, {"global", in_global, true},
    {"init", in_init, true},     {"call", edit_call, false},  {"calls", edit_calls, false},   {"compile", edit_compile, false},
    {"called", at_called, true}, {"within", in_called, true},
};

/* ---- rules ---- */

/* The value of a key, with the indented lines that follow. */
static struct slice value_of(struct edit_rules *r, struct slice first, struct slice *rest, uint32_t *n_line)
{
	struct buf b = {0};
	buf_add_slice(&b, first);
	while (rest->n >= 4 && !memcmp(rest->p, "    ", 4)) {
		struct slice line;
		slice_line(rest, &line);
		++*n_line;
		if (b.len)
			buf_addc(&b, '\n');
		buf_add(&b, line.p + 4, line.n - 4);
	}
	return arena_take(&r->arena, &b);
}

static int add_place(struct edit_rules *r, struct slice name, bool optional, uint32_t line, struct err *err)
{
	uint32_t i = 0;
	while (i < ARRAY_LEN(places) && !slice_is(name, places[i].name))
		i++;
	if (i == ARRAY_LEN(places) || !r->n)
		return err_set(err, EXIT_INPUT, "line %u: '%.*s' is not a place, or comes before any fix", line, SLN(name, 80));
	PUSH(r, step) = (struct edit_step){.place = i, .optional = optional};
	r->rule[r->n - 1].n++;
	return 0;
}

static int add_key(struct edit_rules *r, struct slice key, struct slice value, uint32_t line, struct err *err)
{
	bool has_step = r->n && r->rule[r->n - 1].n;
	if (slice_is(key, "fix")) {
		PUSH_TO(r->rule, r->n, r->cap) = (struct edit_rule){.fix = value, .first = r->n_step};
		return value.n ? 0 : err_set(err, EXIT_INPUT, "line %u: an empty fix", line);
	}
	if (slice_is(key, "computed") && r->n)
		return r->rule[r->n - 1].computed = value, 0;
	if (slice_is(key, "alike") && r->n)
		return r->rule[r->n - 1].alike = value, 0;
	if (slice_is(key, "at") || slice_is(key, "also"))
		return add_place(r, value, slice_is(key, "also"), line, err);
	if (!has_step || (!slice_is(key, "from") && !slice_is(key, "to")))
		return err_set(err, EXIT_INPUT, "line %u: key '%.*s' is not allowed here", line, SLN(key, 80));
	struct edit_step *st = &r->step[r->n_step - 1];
	if (slice_is(key, "from"))
		st->from = value;
	else
		st->to = value;
	return 0;
}

int edit_rules_read(struct edit_rules *r, struct slice table, struct err *err)
{
	struct slice line;
	int status = 0;
	*r = (struct edit_rules){0};
	for (uint32_t n = 1; status == 0 && slice_line(&table, &line); n++) {
		const char *colon = slice_chr(line, ':');
		if (!slice_trim(line).n || line.p[0] == '#')
			continue;
		uint32_t at = n;
		struct slice key = slice_of(line.p, colon ? (size_t)(colon - line.p) : line.n);
		struct slice first = colon ? slice_trim(slice_of(colon + 1, line.n - key.n - 1)) : slice_of(NULL, 0);
		status = add_key(r, key, value_of(r, first, &table, &n), at, err);
	}
	for (uint32_t i = 0; status == 0 && i < r->n; i++)
		if (!r->rule[i].n)
			status = err_set(err, EXIT_INPUT, "the fix '%.*s' has no place", SLN(r->rule[i].fix, 80));
	for (uint32_t i = 0; status == 0 && i < r->n_step; i++)
		if (places[r->step[i].place].wants_from && !r->step[i].from.n)
			status = err_set(err, EXIT_INPUT, "a change at '%s' lacks 'from'", places[r->step[i].place].name);
	if (status < 0)
		edit_rules_release(r);
	return status;
}

void edit_rules_release(struct edit_rules *r)
{
	arena_release(&r->arena);
	free(r->rule);
	free(r->step);
	*r = (struct edit_rules){0};
}

/* ---- a fix ---- */

/* No block may be left empty. */
static int still_a_program(const struct source *s, struct err *err)
{
	LOCAL_BUF b = {0};
	struct source after;
	source_text(s, &b);
	int status = source_read(&after, buf_slice(&b), "the file", err);
	for (uint32_t i = 0; status == 0 && i < after.n; i++)
		if (pytext_opens(&after.v[i].l) && (i + 1 == after.n || after.v[i + 1].l.indent <= after.v[i].l.indent))
			status = err_set(err, EXIT_FOUND, "the block of line %u would be left empty", after.v[i].l.line);
	source_release(&after);
	return status;
}

static bool is_arithmetic(const struct tokens *t, uint32_t i)
{
	static const char *const ops[] = {"+", "-", "*", "/", "**", "+=", "-=", "*=", "/="};
	for (size_t k = 0; i < t->n && k < ARRAY_LEN(ops); k++)
		if (slice_is(t->v[i], ops[k]))
			return true;
	return false;
}

/* Everywhere in this statement `what` is an operand of + - * /, and not a condition. */
static bool only_computed(const struct statement *st, struct slice what)
{
	static const char *const asks[] = {"if", "elif", "while", "for", "assert"};
	OWNED(tokens_release) struct tokens t = {0};
	struct captures c = {0};
	struct slice part;
	uint32_t from = 0;
	bool asked = false, good = true;
	for (size_t i = 0; i < ARRAY_LEN(asks); i++)
		asked |= source_starts(st, asks[i]);
	tokens_read(&t, st->l.code);
	while (good && template_find(what, &t, &from, &c, &part)) {
		uint32_t first = from;
		while (first && t.v[first - 1].p >= part.p)
			first--;
		good = !asked && (is_arithmetic(&t, from) || (first && is_arithmetic(&t, first - 1)));
	}
	return good;
}

/* A tensor can replace a number that is only used in arithmetic: within the function; for an attribute, within the class except
 * __init__. */
static int is_computed(const struct edit_rule *rule, const struct editing *e, struct err *err)
{
	const struct source *s = e->s;
	LOCAL_BUF what = {0};
	int status = 0;
	template_put(&what, rule->computed, &e->c);
	bool attribute = slice_starts(buf_slice(&what), "self.");
	uint32_t def = e->at;
	while (def < s->n && s->v[def].l.code.p[0] == '@')
		def++;
	if (def == s->n || !source_name(&s->v[def]).n || attribute)
		def = source_around(s, e->at, attribute ? "class" : "def");
	if (def == NONE)
		status = err_set(err, EXIT_FOUND, "the number is not used in this file");
	for (uint32_t i = def + 1, end = def == NONE ? 0 : source_block_end(s, def); status == 0 && i < end; i++) {
		if (attribute && slice_is(source_name(&s->v[i]), "__init__"))
			i = source_block_end(s, i);
		if (i < end && !only_computed(&s->v[i], buf_slice(&what)))
			status = err_set(err, EXIT_FOUND, "line %u needs a number, not a tensor", s->v[i].l.line);
	}
	return status;
}

static int make_steps(const struct edit_rules *r, const struct edit_rule *rule, struct editing *e, struct err *err)
{
	if (rule->computed.n && is_computed(rule, e, err) < 0)
		return -1;
	for (uint32_t i = rule->first; i < rule->first + rule->n; i++) {
		const struct edit_step *st = &r->step[i];
		int made = places[st->place].make(e, st, err);
		if (made < 0)
			return -1;
		if (!made && !st->optional)
			return err_set(err, EXIT_PARTIAL, "the line does not have the form that this fix handles");
	}
	return still_a_program(e->s, err);
}

enum edit_result edit_make(const struct edit_rules *r, struct source *s, uint32_t line, struct slice function, struct slice fix,
			   struct err *why)
{
	OWNED(tokens_release) struct tokens t = {0};
	enum edit_result result = EDIT_NO_RULE;
	struct editing e = {.s = s, .at = source_at(s, line), .function = function};
	tokens_read(&t, fix);
	for (uint32_t i = 0; result != EDIT_MADE && i < r->n && e.at != NONE; i++) {
		struct slice part;
		struct err err;
		uint32_t from = 0, had = s->n_change;
		FREED struct change *before = xreallocarray(NULL, had + 1, sizeof(*before));
		if (had)
			memcpy(before, s->change, had * sizeof(*before));
		e.c.n = 0;
		e.alike = r->rule[i].alike;
		if (template_find(r->rule[i].fix, &t, &from, &e.c, &part)) {
			bool first = result == EDIT_NO_RULE || why->status == EXIT_PARTIAL; /* which says more than that the form differs */
			result = make_steps(r, &r->rule[i], &e, &err) == 0 ? EDIT_MADE : EDIT_REFUSED;
			if (result == EDIT_REFUSED) {
				*why = first ? err : *why;
				if (had)
					memcpy(s->change, before, had * sizeof(*before));
				s->n_change = had;
			}
		}
	}
	return result;
}
