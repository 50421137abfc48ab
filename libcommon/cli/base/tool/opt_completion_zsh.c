/* opt_completion_zsh.c - what the table says to zsh: specifications for _arguments (zshcompsys(1)), one an option's name. */
#include "base/tool/opt_part.h"

#include <ctype.h>

/* Within a specification: ":" and brackets end its parts. */
static void add_part(struct buf *b, const char *text)
{
	for (; *text; text++)
		buf_addf(b, "%s%c", strchr(":[]\\", *text) ? "\\" : "", *text);
}

static void add_value(const struct opt *o, struct buf *b)
{
	buf_adds(b, opt_is_optional(o) ? "::" : ":");
	char name[128];
	snprintf(name, sizeof(name), "%s", o->arg + (opt_is_optional(o) ? strlen("[=") : 0));
	name[strcspn(name, "]:")] = 0; /* [=NAME], ID[:NAME] */
	buf_adds(b, name);
	buf_addc(b, ':');
	if (o->type == OPT_T_CHOICE) {
		for (int i = 0; o->choices[i]; i++)
			buf_addf(b, "%s%s", i ? " " : "(", o->choices[i]);
		buf_addc(b, ')');
	} else if (strstr(o->arg, "FILE")) {
		buf_adds(b, "_files");
	} else if (strstr(o->arg, "DIR")) {
		buf_adds(b, "_files -/");
	} else if (strstr(o->arg, "COMMAND")) {
		buf_adds(b, "_command_names -e");
	}
}

static void add_option_name(const struct opt *o, const char *name, struct buf *b)
{
	bool again = o->type == OPT_T_LIST || o->type == OPT_T_PAIRS || o->type == OPT_T_COUNT || o->type == OPT_T_CALL;
	LOCAL_BUF spec = {0};
	if (again)
		buf_addc(&spec, '*');
	else if (o->s && o->l)
		buf_addf(&spec, "(-%c --%s)", o->s, o->l);
	buf_adds(&spec, name);
	if (o->arg) /* -oVALUE and -o VALUE; --long=VALUE and --long VALUE; --long=VALUE alone */
		buf_adds(&spec, name[1] != '-' ? "+" : opt_is_optional(o) ? "=-" : "=");
	buf_addc(&spec, '[');
	add_part(&spec, o->help);
	buf_addc(&spec, ']');
	if (o->arg)
		add_value(o, &spec);
	buf_adds(b, "\t\t");
	buf_add_word(b, buf_str(&spec));
	buf_addc(b, '\n');
}

static void add_table(const struct opt *table, struct buf *b)
{
	for (const struct opt *o = table; o && o->type; o++) {
		char name[128];
		if (!opt_is_shown(o))
			continue;
		if (o->s) {
			snprintf(name, sizeof(name), "-%c", o->s);
			add_option_name(o, name, b);
		}
		if (o->l) {
			snprintf(name, sizeof(name), "--%s", o->l);
			add_option_name(o, name, b);
		}
	}
}

/* The words before the cursor: which subcommand, and where a command of the user's begins. */
static void add_loop(const struct opt_spec *spec, struct buf *b)
{
	buf_adds(b, "\tfor ((i = 2; i < CURRENT; i++)); do\n"
		    "\t\tcase $words[i] in\n"
		    "\t\t(--) dashes=$i; break ;;\n");
	LOCAL_BUF valued = {0};
	opt_add_valued(spec, &valued);
	if (valued.len)
		buf_addf(b, "\t\t(%s) ((i++)) ;;\n", buf_str(&valued));
	buf_adds(b, "\t\t(-?*) ;;\n");
	opt_each_command(c, spec)
		buf_addf(b, "\t\t(%s) ((operands++ == 0)) && cmd=$words[i] ;;\n", c->name);
	buf_adds(b, "\t\t(*) ((operands++)) ;;\n"
		    "\t\tesac\n"
		    "\tdone\n");
	buf_adds(b, "\tif ((dashes)); then\n");
	buf_adds(b, opt_any_command(spec) ? "\t\tshift dashes words\n\t\t((CURRENT -= dashes))\n\t\t_normal\n" : "\t\t_files\n");
	buf_adds(b, "\t\treturn\n"
		    "\tfi\n");
}

void opt_completion_zsh(const struct opt_spec *spec, struct buf *b)
{
	LOCAL_BUF fn = {0};
	for (const char *c = spec->tool; *c; c++)
		buf_addc(&fn, isalnum((unsigned char)*c) ? *c : '_');
	buf_addf(b, "#compdef %s\n# zsh completion for %s, written by: %s --completion=zsh\n", spec->tool, spec->tool, spec->tool);
	buf_addf(b, "_%s()\n{\n", buf_str(&fn));
	buf_adds(b, "\tlocal context state state_descr line cmd i dashes=0 operands=0\n"
		    "\ttypeset -A opt_args\n");
	add_loop(spec, b);
	buf_adds(b, "\tlocal -a specs=(\n");
	add_table(opt_reserved, b);
	add_table(spec->options, b);
	buf_adds(b, "\t)\n");
	if (spec->commands) {
		buf_adds(b, "\tcase $cmd in\n");
		opt_each_command(c, spec) {
			buf_addf(b, "\t(%s) specs+=(\n", c->name);
			add_table(c->options, b);
			buf_adds(b, "\t) ;;\n");
		}
		buf_adds(b, "\tesac\n");
	}
	buf_addf(b, "\t_arguments -s -S : $specs %s'*:file:_files'\n", spec->commands ? "'1:file:->first' " : "");
	if (spec->commands) {
		buf_adds(b, "\tif [[ $state == first ]]; then\n\t\tlocal -a commands=(\n");
		opt_each_command(c, spec) {
			LOCAL_BUF one = {0};
			buf_addf(&one, "%s:", c->name);
			add_part(&one, c->summary);
			buf_adds(b, "\t\t\t");
			buf_add_word(b, buf_str(&one));
			buf_addc(b, '\n');
		}
		buf_adds(b, "\t\t)\n\t\t_describe -t commands command commands\n\t\t_files\n\tfi\n");
	}
	buf_addf(b, "}\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n\t_%s \"$@\"\nelse\n\tcompdef _%s %s\nfi\n", buf_str(&fn),
		 buf_str(&fn), spec->tool);
}
