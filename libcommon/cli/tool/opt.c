#include "tool/opt.h"
#include "tool/diag.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { RESERVED_H, RESERVED_V, RESERVED_OPTIONS, RESERVED_SYNOPSIS, RESERVED_COMPLETION };
#define RESERVED(s_, l_, a_, h_, id_) \
	{ \
		.type = (a_) ? OPT_T_STRING : OPT_T_FLAG, .s = (s_), .l = (l_), .arg = (a_), .help = (h_), .imin = (id_) \
	}
/* What every tool has. Their id stands in imin. */
static const struct opt reserved[] = {
    RESERVED('h', "help", NULL, "print this help", RESERVED_H),    RESERVED('V', "version", NULL, "print the version", RESERVED_V),
    RESERVED(0, "help-options", NULL, NULL, RESERVED_OPTIONS),     RESERVED(0, "help-synopsis", NULL, NULL, RESERVED_SYNOPSIS),
    RESERVED(0, "completion", "SHELL", NULL, RESERVED_COMPLETION), OPT_END,
};
static const struct opt none[] = {OPT_END};

/* One pass over the tables that are in force: the subcommand's, the tool's, the reserved one. */
struct walk {
	const struct opt *table[3];
	size_t i;
	const struct opt *at;
};

static struct walk walk_start(const struct opt_spec *spec, const struct opt_command *sub)
{
	return (struct walk){.table = {sub && sub->options ? sub->options : none, spec->options ? spec->options : none, reserved}};
}

static const struct opt *walk_next(struct walk *w)
{
	for (; w->i < ARRAY_LEN(w->table); w->i++, w->at = NULL) {
		w->at = w->at ? w->at + 1 : w->table[w->i];
		if (w->at->type != OPT_T_END)
			return w->at;
	}
	return NULL;
}

static bool is_option(const struct opt *o) { return o->type != OPT_T_END && o->type != OPT_T_HEADING; }
static bool is_optional(const struct opt *o) { return o->arg && o->arg[0] == '['; }
static bool shown(const struct opt *o) { return is_option(o) && o->help; }

static const struct opt *find_short(const struct opt_spec *spec, const struct opt_command *sub, char c)
{
	struct walk w = walk_start(spec, sub);
	for (const struct opt *o; (o = walk_next(&w));)
		if (is_option(o) && o->s && o->s == c)
			return o;
	return NULL;
}

static const struct opt *find_long(const struct opt_spec *spec, const struct opt_command *sub, struct slice name)
{
	struct walk w = walk_start(spec, sub);
	for (const struct opt *o; (o = walk_next(&w));)
		if (is_option(o) && o->l && slice_is(name, o->l))
			return o;
	return NULL;
}

/* Levenshtein; names longer than the row are never near. */
static size_t distance(struct slice a, const char *b)
{
	size_t row[48], n = strlen(b);
	if (n >= ARRAY_LEN(row) || a.n >= ARRAY_LEN(row))
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diagonal + (a.p[i - 1] != b[j - 1]);
			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

static const struct opt *nearest(const struct opt_spec *spec, const struct opt_command *sub, struct slice name)
{
	const struct opt *best = NULL;
	size_t best_d = 3;
	struct walk w = walk_start(spec, sub);
	for (const struct opt *o; (o = walk_next(&w));) {
		if (!shown(o) || !o->l)
			continue;
		size_t d = distance(name, o->l);
		if (name.n >= 2 && strlen(o->l) > name.n && !memcmp(o->l, name.p, name.n))
			d = d < 2 ? d : 2; /* an abbreviation: not accepted, but what was meant is known */
		if (d < best_d && d < name.n) {
			best = o;
			best_d = d;
		}
	}
	return best;
}

/* Values */

static int parse_i64(const char *s, int64_t *out)
{
	bool neg = *s == '-';
	uint64_t v;
	if (!slice_u64(slice_str(s + (neg || *s == '+')), &v) || v > (uint64_t)INT64_MAX + neg)
		return -1;
	*out = neg ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

static int parse_size(const char *s, bool unit_allowed, uint64_t *out)
{
	struct slice digits = slice_str(s);
	unsigned shift = 0;
	if (unit_allowed && digits.n) {
		static const char units[] = "KMGT";
		const char *u = strchr(units, toupper((unsigned char)digits.p[digits.n - 1]));
		if (u && *u) {
			shift = 10 * (unsigned)(u - units + 1);
			digits.n--;
		}
	}
	if (!slice_u64(digits, out) || *out > UINT64_MAX >> shift)
		return -1;
	*out <<= shift;
	return 0;
}

static int set_int(const struct opt *o, const char *value, const char *name, struct err *err)
{
	int64_t v;
	if (parse_i64(value, &v) < 0)
		return err_set(err, EXIT_USAGE, "option '%s' needs a whole number, not '%s'", name, value);
	int64_t lo = INT_MIN, hi = INT_MAX;
	if (o->imin || o->imax) {
		lo = o->imin;
		hi = o->imax;
	}
	if (v < lo || v > hi)
		return err_set(err, EXIT_USAGE, "option '%s' needs a number from %lld to %lld, not '%s'", name, (long long)lo,
			       (long long)hi, value);
	*(int *)o->target = (int)v;
	return 0;
}

static int set_u64(const struct opt *o, const char *value, const char *name, struct err *err)
{
	uint64_t v;
	bool unit = o->type == OPT_T_SIZE;
	if (parse_size(value, unit, &v) < 0)
		return err_set(err, EXIT_USAGE, "option '%s' needs a whole number%s, not '%s'", name,
			       unit ? " that K, M, G or T may follow" : "", value);
	if ((o->umin || o->umax) && (v < o->umin || v > o->umax))
		return err_set(err, EXIT_USAGE, "option '%s' needs a number from %llu to %llu, not '%s'", name, (unsigned long long)o->umin,
			       (unsigned long long)o->umax, value);
	*(uint64_t *)o->target = v;
	return 0;
}

static int set_double(const struct opt *o, const char *value, const char *name, struct err *err)
{
	char *end;
	double v = strtod(value, &end);
	if (end == value || *end || isspace((unsigned char)*value) || !isfinite(v))
		return err_set(err, EXIT_USAGE, "option '%s' needs a number, not '%s'", name, value);
	if ((o->dmin != 0 || o->dmax != 0) && (v < o->dmin || v > o->dmax))
		return err_set(err, EXIT_USAGE, "option '%s' needs a number from %g to %g, not '%s'", name, o->dmin, o->dmax, value);
	*(double *)o->target = v;
	return 0;
}

static int set_choice(const struct opt *o, const char *value, const char *name, struct err *err)
{
	struct buf b = {0};
	for (int i = 0; o->choices[i]; i++) {
		if (!strcmp(o->choices[i], value)) {
			*(int *)o->target = i;
			buf_release(&b);
			return 0;
		}
		buf_addf(&b, "%s%s", i ? ", " : "", o->choices[i]);
	}
	err_set(err, EXIT_USAGE, "option '%s' is one of %s, not '%s'", name, buf_str(&b), value);
	buf_release(&b);
	return -1;
}

/* name: the option as the user wrote it. value: NULL when it has none. */
static int apply(const struct opt *o, const char *name, const char *value, struct err *err)
{
	switch (o->type) {
	case OPT_T_END:
	case OPT_T_HEADING: break;
	case OPT_T_FLAG: *(bool *)o->target = true; break;
	case OPT_T_COUNT:
		if (*(int *)o->target < INT_MAX)
			++*(int *)o->target;
		break;
	case OPT_T_INT: return set_int(o, value, name, err);
	case OPT_T_U64:
	case OPT_T_SIZE: return set_u64(o, value, name, err);
	case OPT_T_DOUBLE: return set_double(o, value, name, err);
	case OPT_T_STRING: *(const char **)o->target = value ? value : ""; break;
	case OPT_T_CHOICE: return set_choice(o, value, name, err);
	case OPT_T_LIST: {
		struct opt_list *l = o->target;
		GROW(l->v, l->n, l->cap, 1);
		l->v[l->n++] = value;
		break;
	}
	case OPT_T_PAIRS: {
		struct opt_pairs *p = o->target;
		const char *eq = strchr(value, '=');
		if (!eq || eq == value)
			return err_set(err, EXIT_USAGE, "option '%s' needs %s, not '%s'", name, o->arg, value);
		GROW(p->v, p->n, p->cap, 1);
		p->v[p->n++] = (struct opt_pair){slice_of(value, (size_t)(eq - value)), eq + 1};
		break;
	}
	case OPT_T_CALL: {
		struct err inner = {.status = EXIT_USAGE};
		if (o->call(o->target, value, &inner) < 0)
			return err_set(err, EXIT_USAGE, "option '%s': %s", name, inner.text);
		break;
	}
	}
	return 0;
}

void opt_list_release(struct opt_list *l)
{
	free(l->v);
	*l = (struct opt_list){0};
}

void opt_pairs_release(struct opt_pairs *p)
{
	free(p->v);
	*p = (struct opt_pairs){0};
}

const char *opt_pairs_get(const struct opt_pairs *p, const char *name)
{
	for (size_t i = p->n; i--;)
		if (slice_is(p->v[i].name, name))
			return p->v[i].value;
	return NULL;
}

void operands_release(struct operands *in)
{
	free(in->v);
	*in = (struct operands){0};
}

/* The command line */

static int show_reserved(const struct opt_spec *spec, const struct opt_command *sub, const struct opt *o, const char *value, int width,
			 struct buf *text, struct err *err)
{
	switch (o->imin) {
	case RESERVED_H: opt_help(spec, sub, width, text); break;
	case RESERVED_V: buf_addf(text, "%s (pt2utils) %s\n", spec->tool, PT2_VERSION); break;
	case RESERVED_OPTIONS: opt_help_options(spec, sub, text); break;
	case RESERVED_SYNOPSIS:
		opt_synopsis(spec, sub, text);
		buf_addc(text, '\n');
		for (const struct opt_command *c = spec->commands; !sub && c && c->name; c++) {
			opt_synopsis(spec, c, text);
			buf_addc(text, '\n');
		}
		break;
	default:
		if (strcmp(value, "bash")) {
			err_set(err, EXIT_USAGE, "option '--completion' is one of bash, not '%s'", value);
			return OPT_BAD;
		}
		opt_completion_bash(spec, text);
	}
	return OPT_SHOW;
}

static const struct opt_command *find_command(const struct opt_spec *spec, const char *name)
{
	for (const struct opt_command *c = spec->commands; c && c->name; c++)
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

static bool is_reserved(const struct opt *o) { return o >= reserved && o < reserved + ARRAY_LEN(reserved); }

static enum opt_result take(struct parser *p, const struct opt *o, const char *name, const char *value)
{
	if (is_reserved(o))
		return (enum opt_result)show_reserved(p->spec, p->in->sub, o, value, p->width, p->text, p->err);
	return apply(o, name, value, p->err) < 0 ? OPT_BAD : OPT_OK;
}

/* The separate word that is the option's value. */
static const char *next_value(struct parser *p, const struct opt *o, const char *name)
{
	if (p->i < p->argc && strcmp(p->argv[p->i], "--"))
		return p->argv[p->i++];
	err_set(p->err, EXIT_USAGE, "option '%s' needs %s", name, o->arg);
	return NULL;
}

static enum opt_result long_option(struct parser *p, const char *word)
{
	const char *eq = strchr(word, '='), *value = NULL;
	struct slice name = eq ? slice_of(word + 2, (size_t)(eq - word - 2)) : slice_str(word + 2);
	const struct opt *o = find_long(p->spec, p->in->sub, name);
	int shown_len = (int)(name.n > 200 ? 200 : name.n);
	if (!o) {
		const struct opt *like = nearest(p->spec, p->in->sub, name);
		if (like)
			err_set(p->err, EXIT_USAGE, "unknown option '--%.*s' (did you mean '--%s'?)", shown_len, name.p, like->l);
		else
			err_set(p->err, EXIT_USAGE, "unknown option '--%.*s'", shown_len, name.p);
		return OPT_BAD;
	}
	if (eq && !o->arg) {
		err_set(p->err, EXIT_USAGE, "option '--%s' takes no value", o->l);
		return OPT_BAD;
	}
	char *full = xasprintf("--%s", o->l);
	enum opt_result r = OPT_BAD;
	if (eq)
		value = eq + 1;
	else if (o->arg && !is_optional(o))
		value = next_value(p, o, full);
	if (value || !o->arg || is_optional(o))
		r = take(p, o, full, value);
	free(full);
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
		bool wants = o->arg && !is_optional(o);
		if (wants && c[1])
			value = c + 1;
		else if (wants && !(value = next_value(p, o, name)))
			return OPT_BAD;
		enum opt_result r = take(p, o, name, value);
		if (r != OPT_OK || wants)
			return r;
	}
	return OPT_OK;
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
					err_set(err, EXIT_USAGE, "no command after '--'");
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
		} else {
			add_operand(in, &cap, word);
		}
		if (r != OPT_OK)
			return r;
	}
	int min = in->sub ? in->sub->min : spec->min, max = in->sub ? in->sub->max : spec->max;
	const char *wanted = in->sub ? in->sub->operands : spec->operands;
	if ((in->sub ? in->sub->need_command : spec->need_command) && !in->command) {
		err_set(err, EXIT_USAGE, "no command: put it after '--'");
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
	diag_tool = spec->tool;
	enum opt_result r = opt_parse(spec, argc, argv, 0, in, &b, &err);
	if (r == OPT_OK) {
		buf_release(&b);
		return;
	}
	if (r == OPT_SHOW) {
		write_all(STDOUT_FILENO, b.p, b.len);
	} else {
		buf_addf(&b, "%s: %s", spec->tool, err.text);
		clean_text(b.p, b.len);
		buf_addf(&b, "\nTry '%s%s%s -h'\n", spec->tool, in->sub ? " " : "", in->sub ? in->sub->name : "");
		write_all(STDERR_FILENO, b.p, b.len);
	}
	buf_release(&b);
	operands_release(in);
	exit(r == OPT_SHOW ? EXIT_FINE : EXIT_USAGE);
}

/* What the table says about itself */

static bool is_plain_flag(const struct opt *o) { return shown(o) && o->s && !o->arg; }

static int by_letter(const void *a, const void *b)
{
	unsigned char x = *(const unsigned char *)a, y = *(const unsigned char *)b;
	int d = tolower(x) - tolower(y);
	return d ? d : (int)y - (int)x; /* lower case first */
}

void opt_synopsis(const struct opt_spec *spec, const struct opt_command *sub, struct buf *b)
{
	const struct opt *table = sub ? sub->options : spec->options;
	char flags[260];
	size_t n = 0;
	buf_adds(b, spec->tool);
	if (sub)
		buf_addf(b, " %s", sub->name);
	flags[n++] = 'h';
	if (!sub)
		flags[n++] = 'V';
	for (const struct opt *o = table; o && o->type; o++)
		if (is_plain_flag(o) && n < sizeof(flags))
			flags[n++] = o->s;
	qsort(flags, n, 1, by_letter);
	buf_addf(b, " [-%.*s]", (int)n, flags);
	for (const struct opt *o = table; o && o->type; o++) {
		if (!shown(o) || is_plain_flag(o))
			continue;
		if (is_optional(o))
			buf_addf(b, " [--%s%s]", o->l, o->arg);
		else if (o->s && o->arg)
			buf_addf(b, " [-%c %s]", o->s, o->arg);
		else
			buf_addf(b, " [--%s%s%s]", o->l, o->arg ? "=" : "", o->arg ? o->arg : "");
		if (o->type == OPT_T_LIST || o->type == OPT_T_PAIRS)
			buf_adds(b, "...");
	}
	const char *operands = sub ? sub->operands : spec->operands;
	if (operands && *operands)
		buf_addf(b, " %s", operands);
	bool command = sub ? sub->command : spec->command, need = sub ? sub->need_command : spec->need_command;
	if (command)
		buf_adds(b, need ? " -- COMMAND [ARG...]" : " [-- COMMAND [ARG...]]");
}

static size_t columns(const char *s, size_t n)
{
	size_t c = 0;
	for (size_t i = 0; i < n; i++)
		c += ((unsigned char)s[i] & 0xc0) != 0x80;
	return c;
}

/* Words of s from column `at` on, broken before `width`, later lines indented. "[-- X]" and "[-o X]" stay whole when
 * `brackets` is set. Newlines in s are kept. */
static void wrap(struct buf *b, const char *s, size_t at, size_t indent, size_t width, bool brackets)
{
	bool first = true;
	while (*s) {
		if (*s == '\n') {
			buf_addf(b, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
			s++;
			continue;
		}
		if (*s == ' ') {
			s++;
			continue;
		}
		size_t n = 0;
		int depth = 0;
		while (s[n] && s[n] != '\n' && (s[n] != ' ' || depth)) {
			depth += brackets ? (s[n] == '[') - (s[n] == ']') : 0;
			n++;
		}
		size_t c = columns(s, n);
		if (!first && at + 1 + c > width) {
			buf_addf(b, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!first) {
			buf_addc(b, ' ');
			at++;
		}
		buf_add(b, s, n);
		at += c;
		s += n;
		first = false;
	}
	buf_addc(b, '\n');
}

static void label(const struct opt *o, struct buf *b)
{
	if (o->s)
		buf_addf(b, "  -%c%s", o->s, o->l ? ", " : "");
	else
		buf_adds(b, "      ");
	if (o->l)
		buf_addf(b, "--%s", o->l);
	if (o->arg && o->l)
		buf_addf(b, "%s%s", is_optional(o) ? "" : "=", o->arg);
	else if (o->arg)
		buf_addf(b, " %s", o->arg);
}

enum { HELP_COLUMN = 26, HELP_COLUMN_NARROW = 16 };

static void entry(struct buf *b, const char *left, const char *right, size_t width)
{
	size_t col = width < 60 ? HELP_COLUMN_NARROW : HELP_COLUMN;
	size_t at = columns(left, strlen(left));
	buf_adds(b, left);
	if (at + 2 > col) {
		buf_addc(b, '\n');
		at = 0;
	}
	buf_addf(b, "%*s", (int)(col - at), "");
	wrap(b, right, col, col, width, false);
}

static void option_rows(const struct opt *table, struct buf *b, size_t width, bool *titled)
{
	for (const struct opt *o = table; o && o->type; o++) {
		if (o->type == OPT_T_HEADING) {
			buf_addf(b, "\n%s:\n", o->help);
			*titled = true;
			continue;
		}
		if (!shown(o))
			continue;
		if (!*titled)
			buf_adds(b, "\nOptions:\n");
		*titled = true;
		struct buf left = {0}, right = {0};
		label(o, &left);
		buf_adds(&right, o->help);
		if (o->type == OPT_T_CHOICE) {
			for (int i = 0; o->choices[i]; i++)
				buf_addf(&right, "%s%s", i ? ", " : " (", o->choices[i]);
			buf_addc(&right, ')');
		}
		entry(b, buf_str(&left), buf_str(&right), width);
		buf_release(&left);
		buf_release(&right);
	}
}

static int terminal_width(void)
{
	uint64_t v;
	struct winsize ws;
	const char *env = getenv("COLUMNS");
	if (env && slice_u64(slice_str(env), &v) && v && v <= 10000)
		return (int)v;
	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_col)
		return ws.ws_col;
	return 80;
}

void opt_help(const struct opt_spec *spec, const struct opt_command *sub, int width, struct buf *b)
{
	if (width <= 0)
		width = terminal_width();
	size_t w = width < 40 ? 40 : (size_t)width;
	struct buf line = {0};
	opt_synopsis(spec, sub, &line);
	buf_adds(b, "Usage: ");
	size_t indent = strlen("Usage: ") + strlen(spec->tool) + 1 + (sub ? strlen(sub->name) + 1 : 0);
	wrap(b, buf_str(&line), strlen("Usage: "), indent < w / 2 ? indent : 8, w, true);
	buf_release(&line);
	const char *about = sub ? sub->summary : spec->about;
	if (about)
		wrap(b, about, 0, 0, w, false);
	if (!sub && spec->commands) {
		buf_adds(b, "\nCommands:\n");
		for (const struct opt_command *c = spec->commands; c->name; c++) {
			char *left = xasprintf("  %s", c->name);
			entry(b, left, c->summary, w);
			free(left);
		}
	}
	bool titled = false;
	if (sub) {
		option_rows(sub->options, b, w, &titled);
		bool any = false;
		for (const struct opt *o = spec->options; o && o->type; o++)
			any |= shown(o);
		if (any)
			buf_addf(b, "\nOptions of %s itself:\n", spec->tool);
		titled = any || titled;
		for (const struct opt *o = spec->options; o && o->type; o++) {
			struct opt one[2] = {*o, OPT_END};
			if (o->type != OPT_T_HEADING) /* its sections are of use in the tool's own help only */
				option_rows(one, b, w, &titled);
		}
	} else {
		option_rows(spec->options, b, w, &titled);
	}
	buf_adds(b, titled ? "\n" : "\nOptions:\n");
	titled = true;
	option_rows(reserved, b, w, &titled);
	if (!sub && spec->commands)
		buf_addf(b, "\nTry '%s COMMAND -h' for a command's own options.\n", spec->tool);
	if (!sub && spec->footer) {
		buf_addc(b, '\n');
		wrap(b, spec->footer, 0, 0, w, false);
	}
}

void opt_help_options(const struct opt_spec *spec, const struct opt_command *sub, struct buf *b)
{
	struct walk w = walk_start(spec, sub);
	if (!sub)
		w.table[0] = none;
	for (const struct opt *o; (o = walk_next(&w));)
		if (shown(o)) {
			char s[2] = {o->s, 0};
			buf_addf(b, "%s\t%s\t%s\t%s\n", s, o->l ? o->l : "", o->arg ? o->arg : "", o->help);
		}
}

/* Completion */

static void add_names(const struct opt *table, struct buf *b)
{
	for (const struct opt *o = table; o && o->type; o++) {
		if (!shown(o))
			continue;
		if (o->l)
			buf_addf(b, " --%s%s", o->l, o->arg && !is_optional(o) ? "=" : "");
		else
			buf_addf(b, " -%c", o->s);
	}
}

/* Patterns of the options that take the next word. */
static void add_valued(const struct opt *table, struct buf *b, size_t *n)
{
	for (const struct opt *o = table; o && o->type; o++)
		if (is_option(o) && o->arg && !is_optional(o)) {
			if (o->s)
				buf_addf(b, "%s-%c", (*n)++ ? "|" : "", o->s);
			if (o->l)
				buf_addf(b, "%s--%s", (*n)++ ? "|" : "", o->l);
		}
}

static void add_value_cases(const struct opt *table, const char *cmd, struct buf *b)
{
	for (const struct opt *o = table; o && o->type; o++) {
		if (!is_option(o) || !o->arg)
			continue;
		const char *scope = cmd ? cmd : "*";
		/* Written by hand: "cmd:=:--name" after an equals sign, "cmd::--name" for the next word. */
		buf_adds(b, "\t");
		size_t n = 0;
		if (o->l)
			buf_addf(b, "%s%s:=:--%s", n++ ? "|" : "", scope, o->l);
		if (!is_optional(o) && o->l)
			buf_addf(b, "%s%s::--%s", n++ ? "|" : "", scope, o->l);
		if (!is_optional(o) && o->s)
			buf_addf(b, "%s%s::-%c", n++ ? "|" : "", scope, o->s);
		buf_adds(b, ")\n\t\t");
		if (o->type == OPT_T_CHOICE) {
			struct buf words = {0};
			for (int i = 0; o->choices[i]; i++)
				buf_addf(&words, "%s%s", i ? " " : "", o->choices[i]);
			buf_adds(b, "mapfile -t COMPREPLY < <(compgen -W ");
			buf_add_word(b, buf_str(&words));
			buf_adds(b, " -- \"$cur\")\n");
			buf_release(&words);
		} else if (strstr(o->arg, "DIR") || strstr(o->arg, "FILE")) {
			buf_addf(b, "compopt -o filenames\n\t\tmapfile -t COMPREPLY < <(compgen -%c -- \"$cur\")\n",
				 strstr(o->arg, "FILE") ? 'f' : 'd');
		} else if (strstr(o->arg, "COMMAND")) {
			buf_adds(b, "mapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n");
		} else {
			buf_adds(b, ":\n");
		}
		buf_adds(b, "\t\treturn\n\t\t;;\n");
	}
}

void opt_completion_bash(const struct opt_spec *spec, struct buf *b)
{
	struct buf fn = {0}, valued = {0};
	size_t n = 0;
	for (const char *c = spec->tool; *c; c++)
		buf_addc(&fn, isalnum((unsigned char)*c) ? *c : '_');
	add_valued(spec->options, &valued, &n);
	for (const struct opt_command *c = spec->commands; c && c->name; c++)
		add_valued(c->options, &valued, &n);

	buf_addf(b, "# bash completion for %s, written by: %s --completion=bash\n", spec->tool, spec->tool);
	buf_addf(b, "_%s()\n{\n", buf_str(&fn));
	buf_adds(b, "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		    "\tlocal cmd='' eq='' operands=0 i word\n"
		    "\tCOMPREPLY=()\n"
		    "\t# bash makes three words of --name=value\n"
		    "\tif [[ $cur == = ]]; then\n"
		    "\t\tcur='' eq='='\n"
		    "\telif [[ $prev == = ]] && ((COMP_CWORD > 1)); then\n"
		    "\t\tprev=${COMP_WORDS[COMP_CWORD-2]} eq='='\n"
		    "\tfi\n"
		    "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		    "\t\tword=${COMP_WORDS[i]}\n"
		    "\t\tcase $word in\n"
		    "\t\t--)\n");
	bool any_command = spec->command;
	for (const struct opt_command *c = spec->commands; c && c->name; c++)
		any_command |= c->command;
	if (any_command)
		buf_adds(b, "\t\t\tif ((i == COMP_CWORD - 1)); then\n"
			    "\t\t\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
			    "\t\t\t\treturn\n"
			    "\t\t\tfi\n");
	buf_adds(b, "\t\t\tcompopt -o filenames\n"
		    "\t\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
		    "\t\t\treturn\n"
		    "\t\t\t;;\n"
		    "\t\t=)\n"
		    "\t\t\t((i++))\n"
		    "\t\t\t;;\n");
	if (n)
		buf_addf(b, "\t\t%s)\n\t\t\t[[ ${COMP_WORDS[i+1]} == = ]] || ((i++))\n\t\t\t;;\n", buf_str(&valued));
	buf_adds(b, "\t\t-?*)\n\t\t\t;;\n");
	if (spec->commands) {
		buf_adds(b, "\t\t");
		for (const struct opt_command *c = spec->commands; c->name; c++)
			buf_addf(b, "%s%s", c == spec->commands ? "" : "|", c->name);
		buf_adds(b, ")\n\t\t\t((operands++ == 0)) && cmd=$word\n\t\t\t;;\n");
	}
	buf_adds(b, "\t\t*)\n\t\t\t((operands++))\n\t\t\t;;\n\t\tesac\n\tdone\n");

	buf_adds(b, "\tcase $cmd:$eq:$prev in\n");
	for (const struct opt_command *c = spec->commands; c && c->name; c++)
		add_value_cases(c->options, c->name, b);
	add_value_cases(spec->options, NULL, b);
	buf_adds(b, "\tesac\n");

	buf_adds(b, "\tif [[ $cur == -* ]]; then\n\t\tlocal names='");
	buf_adds(b, "--help --version");
	add_names(spec->options, b);
	buf_adds(b, "'\n");
	if (spec->commands) {
		buf_adds(b, "\t\tcase $cmd in\n");
		for (const struct opt_command *c = spec->commands; c->name; c++) {
			buf_addf(b, "\t\t%s) names+='", c->name);
			add_names(c->options, b);
			buf_adds(b, "' ;;\n");
		}
		buf_adds(b, "\t\tesac\n");
	}
	buf_adds(b, "\t\tmapfile -t COMPREPLY < <(compgen -W \"$names\" -- \"$cur\")\n"
		    "\t\t[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
		    "\t\treturn\n\tfi\n"
		    "\tcompopt -o filenames\n"
		    "\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n");
	if (spec->commands) {
		buf_adds(b, "\tif ((operands == 0)); then\n"
			    "\t\tmapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -W '");
		for (const struct opt_command *c = spec->commands; c->name; c++)
			buf_addf(b, "%s%s", c == spec->commands ? "" : " ", c->name);
		buf_adds(b, "' -- \"$cur\")\n\tfi\n");
	}
	buf_addf(b, "}\ncomplete -F _%s %s\n", buf_str(&fn), spec->tool);
	buf_release(&fn);
	buf_release(&valued);
}

/* The table's own test */

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
	if (is_optional(o)) {
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
	struct walk w = walk_start(spec, sub);
	for (const struct opt *o; (o = walk_next(&w));) {
		if (is_reserved(o))
			break;
		if (check_one(spec, o, err) < 0)
			return -1;
		struct walk v = w; /* what comes after o */
		for (const struct opt *q; (q = walk_next(&v));)
			if (is_option(o) && is_option(q) && ((o->s && o->s == q->s) || (o->l && q->l && !strcmp(o->l, q->l))))
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
	if (check_tables(spec, NULL, err) < 0 || check_operands(spec, spec->operands, spec->min, spec->max, err) < 0)
		return -1;
	for (const struct opt_command *c = spec->commands; c && c->name; c++) {
		if (!c->summary)
			return err_set(err, EXIT_USAGE, "%s: command %s has no summary", spec->tool, c->name);
		for (const struct opt_command *d = spec->commands; d != c; d++)
			if (!strcmp(c->name, d->name))
				return err_set(err, EXIT_USAGE, "%s: two commands are called %s", spec->tool, c->name);
		if (check_tables(spec, c, err) < 0 || check_operands(spec, c->operands, c->min, c->max, err) < 0)
			return -1;
	}
	return 0;
}
