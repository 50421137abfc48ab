/* opt.c - the command line by one table. */
#include "base/tool/opt_part.h"
#include "base/tool/color.h"
#include "base/tool/diag.h"
#include "base/text.h"

#include <errno.h>
#include <unistd.h>

static const struct opt *find_short(const struct opt_spec *spec, const struct opt_command *sub, char c)
{
	struct opt_walk w = opt_walk_start(spec, sub);
	for (const struct opt *o; (o = opt_walk_next(&w));)
		if (opt_is_option(o) && o->s && o->s == c)
			return o;
	return NULL;
}

static const struct opt *find_long(const struct opt_spec *spec, const struct opt_command *sub, struct slice name)
{
	struct opt_walk w = opt_walk_start(spec, sub);
	for (const struct opt *o; (o = opt_walk_next(&w));)
		if (opt_is_option(o) && o->l && slice_is(name, o->l))
			return o;
	return NULL;
}

/* The flag that the name takes back: "no-quiet" of "quiet", "exec" of "no-exec". NULL. */
static const struct opt *find_taken_back(const struct opt_spec *spec, const struct opt_command *sub, struct slice name)
{
	char other[64];
	snprintf(other, sizeof(other), "%s%.*s", slice_starts(name, "no-") ? "" : "no-", SLN(name, 50));
	const struct opt *o = find_long(spec, sub, slice_str(other + (slice_starts(name, "no-") ? 3 : 0)));
	return o && o->type == OPT_T_FLAG && !opt_is_reserved(o) ? o : NULL;
}

static struct opt_guess nearest(const struct opt_spec *spec, const struct opt_command *sub, struct slice name)
{
	struct opt_guess g = {.word = name};
	struct opt_walk w = opt_walk_start(spec, sub);
	for (const struct opt *o; (o = opt_walk_next(&w));)
		if (opt_is_shown(o) && o->l)
			opt_guess(&g, o->l);
	return g;
}

/* The subcommand that has this option, though it is not in force. */
static const struct opt_command *owner(const struct opt_spec *spec, struct slice name)
{
	opt_each_command(c, spec)
		for (const struct opt *o = c->options; o && o->type; o++)
			if (opt_is_shown(o) && o->l && slice_is(name, o->l))
				return c;
	return NULL;
}

static enum opt_result unknown_long(const struct opt_spec *spec, const struct opt_command *sub, struct slice name, struct err *err)
{
	const struct opt_command *of = owner(spec, name);
	const struct opt_guess g = nearest(spec, sub, name);
	if (of)
		err_set(err, EXIT_USAGE, "option '--%.*s' belongs after '%s %s'", SLN(name, 200), spec->tool, of->name);
	else if (g.best)
		err_set(err, EXIT_USAGE, "unknown option '--%.*s' (did you mean '--%s'?)", SLN(name, 200), g.best);
	else
		err_set(err, EXIT_USAGE, "unknown option '--%.*s'", SLN(name, 200));
	return OPT_BAD;
}

static int show_reserved(const struct opt_spec *spec, const struct opt_command *sub, const struct opt *o, const char *value, int width,
			 struct buf *text, struct err *err)
{
	const char *known;
	switch (o - opt_reserved) {
	case RESERVED_H:
	case RESERVED_ALL: opt_help(spec, sub, o == &opt_reserved[RESERVED_ALL], width, text); break;
	case RESERVED_V: buf_addf(text, "%s (pt2utils) %s\n", spec->tool, PT2_VERSION); break;
	case RESERVED_OPTIONS: opt_help_options(spec, sub, text); break;
	case RESERVED_SYNOPSIS:
		opt_synopsis(spec, sub, text);
		buf_addc(text, '\n');
		opt_each_command(c, spec) {
			if (sub)
				break;
			opt_synopsis(spec, c, text);
			buf_addc(text, '\n');
		}
		break;
	default:
		if ((known = opt_completion(spec, value, text))) {
			err_set(err, EXIT_USAGE, "option '--completion' must be one of %s, not '%s'", known, value);
			return OPT_BAD;
		}
	}
	return OPT_SHOW;
}

static const struct opt_command *find_command(const struct opt_spec *spec, const char *name)
{
	opt_each_command(c, spec)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

struct parser {
	const struct opt_spec *spec;
	int argc, i; /* argv[i] is the next word */
	char **argv;
	int width;
	struct operands *in;
	struct buf *text;
	struct err *err;
};

static enum opt_result take_option(struct parser *p, const struct opt *o, const char *name, const char *value)
{
	if (opt_is_reserved(o) && o != &opt_reserved[RESERVED_COLOR])
		return (enum opt_result)show_reserved(p->spec, p->in->sub, o, value, p->width, p->text, p->err);
	opt_given(p->in, o);
	return opt_apply(o, name, value, p->err) < 0 ? OPT_BAD : OPT_OK;
}

/* The separate word that is the option's value. */
static const char *next_value(struct parser *p, const struct opt *o, const char *name)
{
	if (p->i < p->argc && strcmp(p->argv[p->i], "--"))
		return p->argv[p->i++];
	err_set(p->err, EXIT_USAGE, "option '%s' needs a value: %s", name, o->arg);
	return NULL;
}

static enum opt_result long_option(struct parser *p, const char *word)
{
	const char *eq = strchr(word, '='), *value = NULL;
	struct slice name = eq ? slice_of(word + 2, (size_t)(eq - word - 2)) : slice_str(word + 2);
	const struct opt *o = find_long(p->spec, p->in->sub, name), *back = o ? NULL : find_taken_back(p->spec, p->in->sub, name);
	if (back && !eq) {
		*(bool *)back->target = false;
		opt_taken_back(p->in, back);
		return OPT_OK;
	}
	if (back) {
		err_set(p->err, EXIT_USAGE, "option '--%.*s' takes no value", SL(name));
		return OPT_BAD;
	}
	if (!o)
		return unknown_long(p->spec, p->in->sub, name, p->err);
	if (eq && !o->arg) {
		err_set(p->err, EXIT_USAGE, "option '--%s' takes no value", o->l);
		return OPT_BAD;
	}
	FREED char *full = xasprintf("--%s", o->l);
	enum opt_result r = OPT_BAD;
	if (eq)
		value = eq + 1;
	else if (o->arg && !opt_is_optional(o))
		value = next_value(p, o, full);
	if (value || !o->arg || opt_is_optional(o))
		r = take_option(p, o, full, value);
	return r;
}

static enum opt_result short_options(struct parser *p, const char *word)
{
	for (const char *c = word + 1; *c; c++) {
		const struct opt *o = find_short(p->spec, p->in->sub, *c);
		char name[3] = {'-', *c, 0};
		const char *value = NULL;
		if (!o) {
			err_set(p->err, EXIT_USAGE, "unknown option '%s'%s%s%s", name, word[2] ? " in '" : "", word[2] ? word : "",
				word[2] ? "'" : "");
			return OPT_BAD;
		}
		bool wants = o->arg && !opt_is_optional(o);
		if (wants && c[1])
			value = c + 1;
		else if (wants && !(value = next_value(p, o, name)))
			return OPT_BAD;
		enum opt_result r = take_option(p, o, name, value);
		if (r != OPT_OK || wants)
			return r;
	}
	return OPT_OK;
}

/* -1: the first operand is none, and what was meant is known. */
static int first_operand(const struct parser *p)
{
	if (!p->in->sub && opt_misspelt_command(p->spec, p->argv[p->i - 1], p->err) < 0)
		return -1;
	return opt_forgotten_dashes(p->spec, p->in->sub, p->argc, p->argv, p->i - 1, p->err);
}

static void add_operand(struct operands *in, size_t *cap, const char *word)
{
	GROW(in->v, in->n, *cap, 2);
	in->v[in->n++] = word;
	in->v[in->n] = NULL;
}

enum opt_result opt_parse(const struct opt_spec *spec, int argc, char **argv, int width, struct operands *in, struct buf *text,
			  struct err *err)
{
	struct parser p = {spec, argc, 1, argv, width, in, text, err};
	size_t cap = 0;
	*in = (struct operands){0};
	GROW(in->v, in->n, cap, 1);
	in->v[0] = NULL;
	while (p.i < argc) {
		char *word = argv[p.i++];
		enum opt_result r = OPT_OK;
		if (!strcmp(word, "--")) {
			if (in->sub ? in->sub->command : spec->command) {
				in->command = argv + p.i;
				in->n_command = argc - p.i;
				p.i = argc;
				if (!in->n_command) {
					err_set(err, EXIT_USAGE, "missing command after '--'");
					return OPT_BAD;
				}
			}
			while (p.i < argc)
				add_operand(in, &cap, argv[p.i++]);
		} else if (word[0] == '-' && word[1] == '-') {
			r = long_option(&p, word);
		} else if (word[0] == '-' && word[1]) {
			r = short_options(&p, word);
		} else if (!in->sub && !in->n && (in->sub = find_command(spec, word))) {
			continue;
		} else if (!in->n && first_operand(&p) < 0) {
			return OPT_BAD;
		} else {
			add_operand(in, &cap, word);
		}
		if (r != OPT_OK)
			return r;
	}
	int min = in->sub ? in->sub->min : spec->min, max = in->sub ? in->sub->max : spec->max;
	const char *wanted = in->sub ? in->sub->operands : spec->operands;
	if ((in->sub ? in->sub->need_command : spec->need_command) && !in->command) {
		err_set(err, EXIT_USAGE, "missing command: put it after '--'");
		return OPT_BAD;
	}
	if (in->n < min && !in->command) {
		err_set(err, EXIT_USAGE, "missing operand: %s", wanted ? wanted : "");
		return OPT_BAD;
	}
	if (max >= 0 && in->n > max) {
		err_set(err, EXIT_USAGE, "unexpected operand '%s'", in->v[max]);
		return OPT_BAD;
	}
	return OPT_OK;
}

void operands_release(struct operands *in)
{
	free(in->v);
	free(in->given);
	*in = (struct operands){0};
}

static void write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t w = write(fd, p, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0 && fd == STDOUT_FILENO && errno != EPIPE)
			die_errno(EXIT_ENVIRON, "cannot write to standard output");
		if (w <= 0)
			return;
		p += w;
		n -= (size_t)w;
	}
}

void opt_parse_or_exit(const struct opt_spec *spec, int argc, char **argv, struct operands *in)
{
	struct buf b = {0};
	struct err err = {0};
	struct opt_spec named = *spec;
	const char *called = argc > 0 ? path_base(argv[0]) : "";
	if (!strncmp(called, "pt2-", 4) && !strcmp(called + 4, spec->tool)) {
		named.tool = called;
		spec = &named;
	}
	diag_tool = spec->tool;
	enum opt_result r = opt_parse(spec, argc, argv, 0, in, &b, &err);
	if (r == OPT_OK) {
		buf_release(&b);
		if (opt_rules(spec, in, &err) < 0)
			die_err(&err);
		return;
	}
	if (r == OPT_SHOW) {
		write_all(STDOUT_FILENO, b.p, b.len);
	} else {
		clean_text(err.text, strlen(err.text));
		if (color_on(STDERR_FILENO))
			buf_addf(&b, "\033[%sm%s:\033[m %s", style_code[STYLE_ERROR], spec->tool, err.text);
		else
			buf_addf(&b, "%s: %s", spec->tool, err.text);
		buf_addf(&b, "\nTry '%s%s%s -h'\n", spec->tool, in->sub ? " " : "", in->sub ? in->sub->name : "");
		write_all(STDERR_FILENO, b.p, b.len);
	}
	buf_release(&b);
	operands_release(in);
	exit(r == OPT_SHOW ? EXIT_FINE : EXIT_USAGE);
}
