/* opt_check.c - the table's own test. */
#include "base/tool/opt_part.h"

#include <ctype.h>

static int check_one(const struct opt_spec *spec, const struct opt *o, struct err *err)
{
	char name[64];
	snprintf(name, sizeof(name), "%s%.60s", o->l ? "--" : "-", o->l ? o->l : (char[]){o->s, 0});
	if (o->type == OPT_T_HEADING)
		return o->help && *o->help ? 0 : err_set(err, EXIT_USAGE, "%s: a heading without text", spec->tool);
	if (!o->s && !o->l)
		return err_set(err, EXIT_USAGE, "%s: an option without a name", spec->tool);
	if (o->l && (!*o->l || strpbrk(o->l, "= \t\n") || *o->l == '-'))
		return err_set(err, EXIT_USAGE, "%s: %s: a bad long name", spec->tool, name);
	if (o->s && !isalnum((unsigned char)o->s))
		return err_set(err, EXIT_USAGE, "%s: %s: a bad short name", spec->tool, name);
	if (o->help && (!*o->help || strpbrk(o->help, "\t\n")))
		return err_set(err, EXIT_USAGE, "%s: %s: help is empty or has a tab or newline", spec->tool, name);
	if (!o->target && o->type != OPT_T_CALL)
		return err_set(err, EXIT_USAGE, "%s: %s: no target", spec->tool, name);
	if (o->type == OPT_T_CALL && !o->call)
		return err_set(err, EXIT_USAGE, "%s: %s: no function", spec->tool, name);
	bool takes_none = o->type == OPT_T_FLAG || o->type == OPT_T_COUNT;
	if (o->type != OPT_T_CALL && takes_none != !o->arg)
		return err_set(err, EXIT_USAGE, "%s: %s: the argument does not fit the type", spec->tool, name);
	if (o->arg && (!*o->arg || strpbrk(o->arg, " \t\n")))
		return err_set(err, EXIT_USAGE, "%s: %s: a bad argument name", spec->tool, name);
	if (opt_is_optional(o)) {
		size_t n = strlen(o->arg);
		if (o->s || !o->l || n < 4 || o->arg[1] != '=' || o->arg[n - 1] != ']')
			return err_set(err, EXIT_USAGE, "%s: %s: an optional argument is written \"[=NAME]\", long only", spec->tool, name);
		if (o->type != OPT_T_STRING && o->type != OPT_T_CALL)
			return err_set(err, EXIT_USAGE, "%s: %s: this type's argument cannot be optional", spec->tool, name);
	}
	if (o->type == OPT_T_CHOICE && (!o->choices || !o->choices[0]))
		return err_set(err, EXIT_USAGE, "%s: %s: no choices", spec->tool, name);
	return 0;
}

static int check_tables(const struct opt_spec *spec, const struct opt_command *sub, struct err *err)
{
	struct opt_walk w = opt_walk_start(spec, sub);
	for (const struct opt *o; (o = opt_walk_next(&w));) {
		if (opt_is_reserved(o))
			break;
		if (check_one(spec, o, err) < 0)
			return -1;
		struct opt_walk v = w; /* what comes after o */
		for (const struct opt *q; (q = opt_walk_next(&v));)
			if (opt_is_option(o) && opt_is_option(q) && ((o->s && o->s == q->s) || (o->l && q->l && !strcmp(o->l, q->l))))
				return err_set(err, EXIT_USAGE, "%s%s%s: two options are called %s%s", spec->tool, sub ? " " : "",
					       sub ? sub->name : "", o->l && q->l && !strcmp(o->l, q->l) ? "--" : "-",
					       o->l && q->l && !strcmp(o->l, q->l) ? o->l : (char[]){o->s, 0});
	}
	return 0;
}

static int check_operands(const struct opt_spec *spec, const char *operands, int min, int max, struct err *err)
{
	bool any = operands && *operands;
	if (any != (max != 0) || min < 0 || (max >= 0 && min > max))
		return err_set(err, EXIT_USAGE, "%s: the operands \"%s\" do not fit %d to %d", spec->tool, operands ? operands : "", min,
			       max);
	return 0;
}

int opt_check(const struct opt_spec *spec, struct err *err)
{
	if (!spec->tool || !spec->about)
		return err_set(err, EXIT_USAGE, "a tool without a name or a sentence about it");
	if (check_tables(spec, NULL, err) < 0 || opt_check_rules(spec, NULL, err) < 0 ||
	    check_operands(spec, spec->operands, spec->min, spec->max, err) < 0)
		return -1;
	opt_each_command(c, spec) {
		if (!c->summary)
			return err_set(err, EXIT_USAGE, "%s: command %s has no summary", spec->tool, c->name);
		opt_each_command(d, spec)
			if (d != c && !strcmp(c->name, d->name))
				return err_set(err, EXIT_USAGE, "%s: two commands are called %s", spec->tool, c->name);
		if (check_tables(spec, c, err) < 0 || opt_check_rules(spec, c, err) < 0 ||
		    check_operands(spec, c->operands, c->min, c->max, err) < 0)
			return -1;
	}
	return 0;
}
