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
		buf_addf(b, "%s%s", opt_is_optional(o) ? "" : "=", o->arg);
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
		if (!opt_is_shown(o))
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
			any |= opt_is_shown(o);
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
	option_rows(opt_reserved, b, w, &titled);
	const struct opt_rule *r = sub ? sub->rules : spec->rules;
	buf_adds(b, r && r->text ? "\nWhat does not go together:\n" : "");
	for (; r && r->text; r++) {
		buf_adds(b, "  ");
		wrap(b, r->text, 2, 4, w, false);
	}
	if (!sub && spec->commands)
		buf_addf(b, "\nTry '%s COMMAND -h' for a command's own options.\n", spec->tool);
	const char *footer = sub ? sub->footer : spec->footer;
	if (footer) {
		buf_addc(b, '\n');
		wrap(b, footer, 0, 0, w, false);
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
