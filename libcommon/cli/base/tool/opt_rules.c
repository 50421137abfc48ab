/* opt_rules.c - options that conflict (struct opt_rule). */
#include "base/tool/opt_part.h"

void opt_given(struct operands *in, const struct opt *o) { PUSH_TO(in->given, in->n_given, in->cap_given) = o; }

void opt_taken_back(struct operands *in, const struct opt *o)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < in->n_given; i++)
		if (in->given[i] != o)
			in->given[n++] = in->given[i];
	in->n_given = n;
}

static bool is_given(const struct operands *in, struct slice name)
{
	if (slice_is(name, OPT_COMMAND))
		return in->command;
	if (slice_is(name, OPT_OPERANDS))
		return in->n > 0;
	for (uint32_t i = 0; i < in->n_given; i++)
		if (in->given[i]->l && slice_is(name, in->given[i]->l))
			return true;
	return false;
}

/* The next of names that are separated by blanks. */
static bool next_name(struct slice *rest, struct slice *name)
{
	*name = slice_of(rest->p, rest->n ? strcspn(rest->p, " ") : 0);
	*rest = slice_of(rest->p + name->n + (rest->p[name->n] == ' '), rest->n - name->n - (rest->p[name->n] == ' '));
	return name->n > 0;
}

static int count(const struct operands *in, const char *names)
{
	int n = 0;
	struct slice rest = slice_str(names), name;
	while (next_name(&rest, &name))
		n += is_given(in, name);
	return n;
}

int opt_rules(const struct opt_spec *spec, const struct operands *in, struct err *err)
{
	for (const struct opt_rule *r = in->sub ? in->sub->rules : spec->rules; r && r->text; r++)
		if (r->one_of ? count(in, r->one_of) > 1
			      : count(in, r->of) && (!r->with || count(in, r->with)) && !(r->without && count(in, r->without)))
			return err_set(err, EXIT_USAGE, "%s", r->text);
	return 0;
}

/* The first name that is not an option; n 0: all are. */
static struct slice unknown(const struct opt_spec *spec, const struct opt_command *sub, const char *names)
{
	struct slice rest = slice_str(names ? names : ""), name;
	while (next_name(&rest, &name)) {
		bool known = slice_is(name, OPT_COMMAND) || slice_is(name, OPT_OPERANDS);
		struct opt_walk w = opt_walk_start(spec, sub);
		for (const struct opt *o; !known && (o = opt_walk_next(&w));)
			known = opt_is_option(o) && o->l && slice_is(name, o->l);
		if (!known)
			return name;
	}
	return (struct slice){0};
}

int opt_check_rules(const struct opt_spec *spec, const struct opt_command *sub, struct err *err)
{
	for (const struct opt_rule *r = sub ? sub->rules : spec->rules; r && r->text; r++) {
		const char *lists[] = {r->one_of, r->of, r->with, r->without};
		if (!r->one_of == !r->of)
			return err_set(err, EXIT_USAGE, "%s: the rule \"%s\" applies to nothing", spec->tool, r->text);
		for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
			struct slice name = unknown(spec, sub, lists[i]);
			if (name.n)
				return err_set(err, EXIT_USAGE, "%s: the rule \"%s\" names --%.*s, which is not an option", spec->tool,
					       r->text, SL(name));
		}
	}
	return 0;
}
