/* opt_completion_fish.c - what the table says to fish: a line of complete(1) for each option. */
#include "base/tool/opt_part.h"

#include <ctype.h>

/* In single quotes of fish, where a backslash takes the next quote or backslash for itself. */
static void add_quoted(struct buf *b, const char *text)
{
	buf_addc(b, '\'');
	for (; *text; text++)
		buf_addf(b, "%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
	buf_addc(b, '\'');
}

static void add_value(const struct opt *o, struct buf *b)
{
	/* fish knows no option whose value may be left out: that one is completed after --name= all the same. */
	const char *need = opt_is_optional(o) ? "" : " -r";
	if (o->type == OPT_T_CHOICE) {
		LOCAL_BUF words = {0};
		for (int i = 0; o->choices[i]; i++)
			buf_addf(&words, "%s%s", i ? " " : "", o->choices[i]);
		buf_addf(b, "%s -f -a ", need);
		add_quoted(b, buf_str(&words));
	} else if (strstr(o->arg, "FILE")) {
		buf_addf(b, "%s -F", need);
	} else if (strstr(o->arg, "DIR")) {
		buf_addf(b, "%s -f -a '(__fish_complete_directories)'", need);
	} else if (strstr(o->arg, "COMMAND")) {
		buf_addf(b, "%s -f -a '(__fish_complete_command)'", need);
	} else {
		buf_addf(b, "%s -f", need);
	}
}

/* __TOOL_sub prints the first operand (a subcommand, where it is one's name); __TOOL_behind what fish offers for the command after
 * "--". */
static void add_functions(const struct opt_spec *spec, const char *fn, struct buf *b)
{
	LOCAL_BUF valued = {0};
	opt_add_valued(spec, &valued);
	for (size_t i = 0; i < valued.len; i++)
		valued.p[i] = valued.p[i] == '|' ? ' ' : valued.p[i];
	buf_addf(b,
		 "function __%s_sub\n"
		 "\tset -l skip 0\n"
		 "\tfor word in (commandline -opc)[2..-1]\n"
		 "\t\tif test $skip = 1\n\t\t\tset skip 0\n\t\t\tcontinue\n\t\tend\n"
		 "\t\tswitch $word\n"
		 "\t\tcase --\n\t\t\treturn 1\n"
		 "\t\tcase ''%s%s\n\t\t\tset skip 1\n"
		 "\t\tcase '-?*'\n"
		 "\t\tcase '*'\n\t\t\techo $word\n\t\t\treturn\n"
		 "\t\tend\n"
		 "\tend\n"
		 "\treturn 1\n"
		 "end\n",
		 fn, valued.len ? " " : "", buf_str(&valued));
	if (opt_any_command(spec))
		buf_addf(b,
			 "function __%s_behind\n"
			 "\tset -l words (commandline -opc)\n"
			 "\tset -l at (contains -i -- -- $words); or return\n"
			 "\tcomplete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-1]) (commandline -ct))\n"
			 "end\n"
			 "complete -c %s -n 'contains -- -- (commandline -opc)' -x -a '(__%s_behind)'\n",
			 fn, spec->tool, fn);
}

static void add_table(const struct opt_spec *spec, const struct opt *table, const char *fn, const char *cmd, struct buf *b)
{
	for (const struct opt *o = table; o && o->type; o++) {
		if (!opt_is_shown(o))
			continue;
		buf_addf(b, "complete -c %s", spec->tool);
		if (cmd)
			buf_addf(b, " -n 'string match -q %s (__%s_sub)'", cmd, fn);
		if (o->s)
			buf_addf(b, " -s %c", o->s);
		if (o->l)
			buf_addf(b, " -l %s", o->l);
		if (o->arg)
			add_value(o, b);
		buf_adds(b, " -d ");
		add_quoted(b, o->help);
		buf_addc(b, '\n');
	}
}

void opt_completion_fish(const struct opt_spec *spec, struct buf *b)
{
	LOCAL_BUF name = {0};
	for (const char *c = spec->tool; *c; c++)
		buf_addc(&name, isalnum((unsigned char)*c) ? *c : '_');
	const char *fn = buf_str(&name);
	buf_addf(b, "# fish completion for %s, written by: %s --completion=fish\n", spec->tool, spec->tool);
	add_functions(spec, fn, b);
	opt_each_command(c, spec) {
		buf_addf(b, "complete -c %s -n 'not __%s_sub' -a %s -d ", spec->tool, fn, c->name);
		add_quoted(b, c->summary);
		buf_addc(b, '\n');
	}
	add_table(spec, opt_reserved, fn, NULL, b);
	add_table(spec, spec->options, fn, NULL, b);
	opt_each_command(c, spec)
		add_table(spec, c->options, fn, c->name, b);
}
