/* compiled.c - finds what was compiled, by which torch.compile, and where it is called, as far as the file shows. */
#include "edit_part.h"

enum { ARGS = 32 };

bool edit_names(struct slice code, const char *name)
{
	OWNED(tokens_release) struct tokens t = {0};
	bool found = false;
	tokens_read(&t, code);
	for (uint32_t i = 0; i < t.n && !found; i++)
		found = slice_is(t.v[i], name);
	return found;
}

/* What follows the last dot of a name: "f" of self.f */
static struct slice last_name(struct slice s)
{
	const char *dot = slice_rchr(s, '.');
	return dot ? slice_of(dot + 1, (size_t)(s.p + s.n - dot - 1)) : s;
}

static struct slice class_of(const struct editing *e)
{
	uint32_t i = source_around(e->s, e->at, "class");
	return i == NONE ? slice_of(NULL, 0) : source_name(&e->s->v[i]);
}

/* Counts the torch.compile( in a file: if there is only one, it is the function's. */
static uint32_t count_compiles(const struct source *s)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		OWNED(tokens_release) struct tokens t = {0};
		struct captures c = {0};
		struct slice part;
		uint32_t from = 0;
		tokens_read(&t, s->v[i].l.code);
		while (template_find(SLICE("torch.compile"), &t, &from, &c, &part))
			n++;
	}
	return n;
}

/* Does this torch.compile argument list belong to the function? Its name, or its class's, comes first. */
static bool is_of(const struct editing *e, struct slice args)
{
	struct pyarg arg;
	struct slice class = class_of(e);
	if (count_compiles(e->s) == 1)
		return true;
	if (pytext_arg(&args, &arg) != 1 || arg.name.n)
		return false;
	return slice_eq(last_name(arg.value), e->function) ||
	       (class.n && arg.value.n > class.n && !memcmp(arg.value.p, class.p, class.n) && arg.value.p[class.n] == '(');
}

/* The decorator of the function that compiles it; NONE. */
static uint32_t decorator(const struct editing *e)
{
	const struct source *s = e->s;
	for (uint32_t i = 0; i < s->n; i++) {
		bool compiles = s->v[i].l.code.p[0] == '@' && slice_find(s->v[i].l.code, "torch.compile");
		uint32_t def = i;
		while (def < s->n && s->v[def].l.code.p[0] == '@')
			def++;
		if (compiles && def < s->n && slice_eq(source_name(&s->v[def]), e->function))
			return i;
	}
	return NONE;
}

static struct slice without_comma(struct slice args)
{
	args = slice_trim(args);
	return slice_ends(args, ",") ? slice_trim(slice_of(args.p, args.n - 1)) : args;
}

/* ---- torch.compile ---- */

static int add_argument(struct source *s, struct slice part, struct slice args, struct slice more, struct err *err)
{
	LOCAL_BUF b = {0};
	struct slice name = more;
	const char *is = slice_chr(more, '=');
	FREED char *key = xstrndup(name.p, is ? (size_t)(is - name.p) : name.n);
	int r = -1;
	args = without_comma(args);
	if (edit_names(args, key)) {
		err_set(err, EXIT_FOUND, "torch.compile already has %s", key);
	} else {
		buf_addf(&b, "torch.compile(%.*s%s%.*s)", SL(args), args.n ? ", " : "", SL(more));
		r = source_replace_part(s, part, buf_slice(&b), err) < 0 ? -1 : 1;
	}
	return r;
}

int edit_compile(struct editing *e, const struct edit_step *st, struct err *err)
{
	struct source *s = e->s;
	const uint32_t own = decorator(e);
	for (uint32_t i = own == NONE ? 0 : own; i < (own == NONE ? s->n : own + 1); i++) {
		OWNED(tokens_release) struct tokens t = {0};
		struct captures c = {0};
		struct slice part;
		uint32_t from = 0;
		int r = 0;
		tokens_read(&t, s->v[i].l.code);
		bool call = template_find(SLICE("torch.compile({a*})"), &t, &from, &c, &part);
		if (call && (own == i || is_of(e, captures_get(&c, "a"))))
			r = add_argument(s, part, captures_get(&c, "a"), st->to, err);
		else if (!call && own == i && template_find(SLICE("torch.compile"), &t, &from, &c, &part))
			r = add_argument(s, part, slice_of(NULL, 0), st->to, err);
		if (r)
			return r;
	}
	return err_set(err, EXIT_FOUND, "no torch.compile of %.*s in this file", SL(e->function));
}

/* ---- calls ---- */

/* The names under which the compiled function is called, "" if there is none. */
static struct slice called_as(const struct editing *e, uint32_t *i)
{
	const struct source *s = e->s;
	for (; *i < s->n; ++*i) {
		struct captures c = {0};
		if (template_match(SLICE("{n.} = torch.compile({a*})"), s->v[*i].l.code, &c) && is_of(e, captures_get(&c, "a")))
			return captures_get(&c, "n");
	}
	return slice_of(NULL, 0);
}

static uint32_t definition(const struct editing *e)
{
	uint32_t i = e->at;
	while (i < e->s->n && e->s->v[i].l.code.p[0] == '@')
		i++;
	if (i < e->s->n && slice_eq(source_name(&e->s->v[i]), e->function))
		return i;
	return source_around(e->s, e->at, "def");
}

/* Index of this parameter among the arguments, not counting self; -1: none. */
static int parameter(const struct editing *e, struct slice name)
{
	uint32_t def = definition(e);
	struct captures c = {0};
	struct pyarg arg[ARGS];
	if (def == NONE || !template_match(SLICE("def {f}({a*}){r*}:"), e->s->v[def].l.code, &c))
		return -1;
	int n = pytext_args(captures_get(&c, "a"), arg, ARGS), self = 0;
	for (int i = 0; i < n && i < ARGS; i++) {
		struct slice s = arg[i].name.n ? arg[i].name : arg[i].value;
		const char *colon = slice_chr(s, ':');
		s = slice_trim(slice_of(s.p, colon ? (size_t)(colon - s.p) : s.n));
		self += i == 0 && slice_is(s, "self");
		if (slice_eq(s, name))
			return i - self;
		if (s.n && s.p[0] == '*')
			return -1;
	}
	return -1;
}

/* Returns that argument of a call; empty: not given, or not known. */
static struct slice argument(struct slice args, int index, struct slice name)
{
	struct pyarg arg[ARGS];
	int n = pytext_args(without_comma(args), arg, ARGS);
	for (int i = 0; i < n && i < ARGS; i++) {
		if (arg[i].name.n ? slice_eq(arg[i].name, name) : i == index)
			return arg[i].value.p[0] == '*' ? slice_of(NULL, 0) : arg[i].value;
		if (!arg[i].name.n && arg[i].value.p[0] == '*')
			break;
	}
	return slice_of(NULL, 0);
}

static int change_argument(struct editing *e, uint32_t i, const struct edit_step *st, struct slice value, bool before, struct err *err)
{
	struct captures c = e->c;
	LOCAL_BUF b = {0};
	int r = 0;
	captures_set(&c, SLICE("a"), value);
	template_put(&b, st->to, &c);
	bool bound = edit_names(e->s->v[i].l.code, "lambda") || edit_names(e->s->v[i].l.code, "for");
	if (before && (!pytext_dotted(value) || bound))
		err_set(err, EXIT_FOUND, "line %u calls it with an expression instead of a name", e->s->v[i].l.line);
	else if (before)
		r = source_insert_before(e->s, i, buf_slice(&b), err) < 0 ? -1 : 1;
	else
		r = source_replace_part(e->s, value, buf_slice(&b), err) < 0 ? -1 : 1;
	return r;
}

/* All calls of `callee` in the file. */
static int each_call(struct editing *e, struct slice callee, const struct edit_step *st, bool before, struct err *err)
{
	const struct slice name = captures_get(&e->c, "x");
	const int index = parameter(e, name);
	int made = 0;
	if (index < 0)
		return err_set(err, EXIT_FOUND, "%.*s is not an argument of %.*s", SLN(name, 80), SLN(e->function, 80));
	for (uint32_t i = 0; i < e->s->n; i++) {
		const struct statement *at = &e->s->v[i];
		OWNED(tokens_release) struct tokens t = {0};
		struct slice part;
		uint32_t from = 0;
		struct captures c = {0};
		captures_set(&c, SLICE("callee"), callee);
		tokens_read(&t, at->l.code);
		int r = 0;
		while (r >= 0 && !source_name(at).n && template_find(SLICE("{callee}({args*})"), &t, &from, &c, &part)) {
			struct slice value = argument(captures_get(&c, "args"), index, name);
			r = value.n ? change_argument(e, i, st, value, before, err) : 0;
			made += r > 0;
			c.n = 1;
		}
		if (r < 0)
			return -1;
	}
	return made;
}

static int all_calls(struct editing *e, const struct edit_step *st, bool before, struct err *err)
{
	int made = 0, r;
	err->text[0] = 0;
	if (decorator(e) != NONE) {
		made = each_call(e, e->function, st, before, err);
	} else {
		struct slice name;
		for (uint32_t i = 0; made >= 0 && (name = called_as(e, &i)).n; i++)
			made = (r = each_call(e, name, st, before, err)) < 0 ? -1 : made + r;
	}
	if (made == 0 && !err->text[0])
		err_set(err, EXIT_FOUND, "no call of the compiled %.*s in this file", SLN(e->function, 80));
	return made > 0 ? made : -1;
}

int edit_call(struct editing *e, const struct edit_step *st, struct err *err) { return all_calls(e, st, false, err); }

int edit_calls(struct editing *e, const struct edit_step *st, struct err *err) { return all_calls(e, st, true, err); }
