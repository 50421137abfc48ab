/* opt_help.c - what the table says about itself to people. */
#include "base/tool/opt_part.h"

#include <ctype.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_plain_flag(const struct opt *o) { return opt_is_shown(o) && o->s && !o->arg; }

static int by_letter(const void *a, const void *b)
{
	unsigned char x = *(const unsigned char *)a, y = *(const unsigned char *)b;
	int d = tolower(x) - tolower(y);
	return d ? d : (int)y - (int)x; /* lower case first */
}

static void add_operands(const struct opt_spec *spec, const struct opt_command *sub, struct buf *b)
{
	const char *operands = sub ? sub->operands : spec->operands;
	bool command = sub ? sub->command : spec->command, need = sub ? sub->need_command : spec->need_command;
	if (operands && *operands)
		buf_addf(b, " %s", operands);
	if (command)
		buf_adds(b, need ? " -- COMMAND [ARG...]" : " [-- COMMAND [ARG...]]");
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
		if (!opt_is_shown(o) || is_plain_flag(o))
			continue;
		if (opt_is_optional(o))
			buf_addf(b, " [--%s%s]", o->l, o->arg);
		else if (o->s && o->arg)
			buf_addf(b, " [-%c %s]", o->s, o->arg);
		else
			buf_addf(b, " [--%s%s%s]", o->l, o->arg ? "=" : "", o->arg ? o->arg : "");
		if (o->type == OPT_T_LIST || o->type == OPT_T_PAIRS)
			buf_adds(b, "...");
	}
	add_operands(spec, sub, b);
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
		buf_addf(b, "%s%s", opt_is_optional(o) ? "" : "=", o->arg);
	else if (o->arg)
		buf_addf(b, " %s", o->arg);
}

enum { HELP_COLUMN = 26, HELP_COLUMN_NARROW = 16, LINE = 79 };

/* What is written, and how. */
struct help {
	const struct opt_spec *spec;
	const struct opt_command *sub;
	bool all, titled;  /* --help-all; something stands above the rows */
	size_t width, col; /* of the screen; where the texts of options begin */
	struct buf *b;
};

static void entry(struct help *h, const char *left, const char *right)
{
	size_t at = columns(left, strlen(left));
	buf_adds(h->b, left);
	if (at + 2 > h->col) {
		buf_addc(h->b, '\n');
		at = 0;
	}
	buf_addf(h->b, "%*s", (int)(h->col - at), "");
	wrap(h->b, right, h->col, h->col, h->width, false);
}

static bool has_row(const struct help *h, const struct opt *o) { return opt_is_shown(o) && (h->all || !o->rare); }

/* The texts begin where all names of -h are, so that each is one line; names of --help-all that are longer have a line for themselves. */
static size_t text_column(const struct help *h)
{
	size_t col = 0;
	struct opt_walk w = opt_walk_start(h->spec, h->sub);
	if (h->all || h->width < LINE)
		return h->width < 60 ? HELP_COLUMN_NARROW : HELP_COLUMN;
	for (const struct opt *o; (o = opt_walk_next(&w));)
		if (has_row(h, o)) {
			LOCAL_BUF left = {0};
			label(o, &left);
			col = left.len + 2 > col ? left.len + 2 : col;
		}
	return col;
}

static void option_row(struct help *h, const struct opt *o)
{
	LOCAL_BUF left = {0};
	LOCAL_BUF right = {0};
	label(o, &left);
	buf_adds(&right, o->help);
	const size_t text = right.len;
	for (int i = 0; o->type == OPT_T_CHOICE && o->choices[i]; i++)
		buf_addf(&right, "%s%s%s", i ? ", " : " (", o->choices[i], o->choices[i + 1] ? "" : ")");
	if (!h->all && h->col + right.len > LINE)
		buf_cut(&right, text); /* more of them than fit a line: --help-all names them */
	if (h->all && o->more)
		buf_addf(&right, "\n%s", o->more);
	entry(h, buf_str(&left), buf_str(&right));
}

static void option_rows(struct help *h, const struct opt *table, bool headings)
{
	const struct opt *heading = NULL; /* one under which there is a row */
	for (const struct opt *o = table; o && o->type; o++) {
		if (o->type == OPT_T_HEADING)
			heading = headings ? o : NULL;
		if (!has_row(h, o))
			continue;
		if (heading || !h->titled)
			buf_addf(h->b, "\n%s:\n", heading ? heading->help : "Options");
		h->titled = true;
		heading = NULL;
		option_row(h, o);
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

/* "fxexplain run" */
static void add_name(const struct help *h, struct buf *b)
{
	buf_addf(b, "%s%s%s", h->spec->tool, h->sub ? " " : "", h->sub ? h->sub->name : "");
}

static void question(struct help *h)
{
	const char *about = h->sub ? h->sub->about ? h->sub->about : h->sub->summary : h->spec->about;
	wrap(h->b, about, 0, 0, h->width, false);
}

static void examples(struct help *h)
{
	const struct opt_example *e = h->sub ? h->sub->example : h->spec->example;
	size_t widest = 0;
	for (size_t i = 0; i < 3 && e[i].args; i++)
		widest = strlen(e[i].args) > widest ? strlen(e[i].args) : widest;
	for (size_t i = 0; i < 3 && e[i].args; i++) {
		buf_adds(h->b, i ? "  " : "\nExamples:\n  ");
		add_name(h, h->b);
		buf_addf(h->b, " %-*s  # %s\n", (int)widest, e[i].args, e[i].what);
	}
}

static void usage(struct help *h)
{
	LOCAL_BUF line = {0};
	const struct opt_spec *spec = h->spec;
	const struct opt_command *sub = h->sub;
	size_t indent = strlen("Usage: ") + strlen(spec->tool) + 1 + (sub ? strlen(sub->name) + 1 : 0);
	if (h->all) {
		opt_synopsis(spec, sub, &line);
	} else {
		add_name(h, &line);
		buf_adds(&line, " [OPTION]...");
		add_operands(spec, sub, &line);
	}
	buf_adds(h->b, "\nUsage: ");
	wrap(h->b, buf_str(&line), strlen("Usage: "), indent < h->width / 2 ? indent : 8, h->width, true);
	if (!sub && spec->commands)
		buf_addf(h->b, "       %s COMMAND [OPTION]... [ARG]...\n", spec->tool);
	const char *footer = sub ? sub->footer : spec->footer;
	if (footer)
		wrap(h->b, footer, 0, 0, h->width, false);
}

static void commands(struct help *h)
{
	const size_t col = h->col;
	if (h->sub || !h->spec->commands)
		return;
	buf_addf(h->b, "\nCommands ('%s COMMAND -h' shows the options of one):\n", h->spec->tool);
	h->col = col < HELP_COLUMN_NARROW ? col : HELP_COLUMN_NARROW;
	opt_each_command(c, h->spec) {
		FREED char *left = xasprintf("  %s", c->name);
		entry(h, left, c->summary);
	}
	h->col = col;
}

static void options(struct help *h)
{
	if (h->sub)
		option_rows(h, h->sub->options, true);
	bool any = false;
	for (const struct opt *o = h->spec->options; o && o->type; o++)
		any |= has_row(h, o);
	if (h->sub && any) {
		buf_addf(h->b, "\nOptions of %s itself:\n", h->spec->tool);
		h->titled = true;
	}
	option_rows(h, h->spec->options, !h->sub); /* its sections are of use in the tool's own help only */
	buf_adds(h->b, h->titled ? "\n" : "\nOptions:\n");
	h->titled = true;
	option_rows(h, opt_reserved, false);
}

static void conflicts(struct help *h)
{
	const struct opt_rule *r = h->sub ? h->sub->rules : h->spec->rules;
	buf_adds(h->b, r && r->text ? "\nConflicting options:\n" : "");
	for (; r && r->text; r++) {
		buf_adds(h->b, "  ");
		wrap(h->b, r->text, 2, 4, h->width, false);
	}
}

void opt_help(const struct opt_spec *spec, const struct opt_command *sub, bool all, int width, struct buf *b)
{
	struct help h = {.spec = spec, .sub = sub, .all = all, .b = b};
	if (width <= 0)
		width = terminal_width();
	h.width = width < 40 ? 40 : (size_t)width;
	h.col = text_column(&h);
	question(&h);
	examples(&h);
	usage(&h);
	commands(&h);
	options(&h);
	if (!all)
		return;
	conflicts(&h);
	const char *more = sub ? sub->more : spec->more;
	if (more) {
		buf_addc(b, '\n');
		wrap(b, more, 0, 0, h.width, false);
	}
}

void opt_help_options(const struct opt_spec *spec, const struct opt_command *sub, struct buf *b)
{
	struct opt_walk w = opt_walk_start(spec, sub);
	if (!sub)
		w.table[0] = opt_none;
	for (const struct opt *o; (o = opt_walk_next(&w));)
		if (opt_is_shown(o)) {
			char s[2] = {o->s, 0};
			buf_addf(b, "%s\t%s\t%s\t%s\n", s, o->l ? o->l : "", o->arg ? o->arg : "", o->help);
		}
}
