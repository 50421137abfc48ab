/* opt_completion.c - what the table says to shells, and to bash. */
#include "base/tool/opt_part.h"

#include <ctype.h>

static void add_names(const struct opt *table, struct buf *b)
{
	for (const struct opt *o = table; o && o->type; o++) {
		if (!opt_is_shown(o))
			continue;
		if (o->l)
			buf_addf(b, " --%s%s", o->l, o->arg && !opt_is_optional(o) ? "=" : "");
		else
			buf_addf(b, " -%c", o->s);
	}
}

static void add_value_cases(const struct opt *table, const char *cmd, struct buf *b)
{
	for (const struct opt *o = table; o && o->type; o++) {
		if (!opt_is_option(o) || !o->arg)
			continue;
		const char *scope = cmd ? cmd : "*";
		/* Written by hand: "cmd:=:--name" after an equals sign, "cmd::--name" for the next word. */
		buf_adds(b, "\t");
		size_t n = 0;
		if (o->l)
			buf_addf(b, "%s%s:=:--%s", n++ ? "|" : "", scope, o->l);
		if (!opt_is_optional(o) && o->l)
			buf_addf(b, "%s%s::--%s", n++ ? "|" : "", scope, o->l);
		if (!opt_is_optional(o) && o->s)
			buf_addf(b, "%s%s::-%c", n++ ? "|" : "", scope, o->s);
		buf_adds(b, ")\n\t\t");
		if (o->type == OPT_T_CHOICE) {
			LOCAL_BUF words = {0};
			for (int i = 0; o->choices[i]; i++)
				buf_addf(&words, "%s%s", i ? " " : "", o->choices[i]);
			buf_adds(b, "mapfile -t COMPREPLY < <(compgen -W ");
			buf_add_word(b, buf_str(&words));
			buf_adds(b, " -- \"$cur\")\n");
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

/* Finds what the words before the cursor come to: $cmd and $operands; after "--" they are files or a command, and that is all. */
static void add_loop(const struct opt_spec *spec, struct buf *b)
{
	LOCAL_BUF valued = {0};
	opt_add_valued(spec, &valued);
	buf_adds(b, "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		    "\t\tword=${COMP_WORDS[i]}\n"
		    "\t\tcase $word in\n"
		    "\t\t--)\n");
	if (opt_any_command(spec))
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
	if (valued.len)
		buf_addf(b, "\t\t%s)\n\t\t\t[[ ${COMP_WORDS[i+1]} == = ]] || ((i++))\n\t\t\t;;\n", buf_str(&valued));
	buf_adds(b, "\t\t-?*)\n\t\t\t;;\n");
	if (spec->commands) {
		buf_adds(b, "\t\t");
		opt_each_command(c, spec)
			buf_addf(b, "%s%s", c == spec->commands[0] ? "" : "|", c->name);
		buf_adds(b, ")\n\t\t\t((operands++ == 0)) && cmd=$word\n\t\t\t;;\n");
	}
	buf_adds(b, "\t\t*)\n\t\t\t((operands++))\n\t\t\t;;\n\t\tesac\n\tdone\n");
}

/* A word with a dash: all names. */
static void add_all_names(const struct opt_spec *spec, struct buf *b)
{
	buf_adds(b, "\tif [[ $cur == -* ]]; then\n\t\tlocal names='");
	add_names(opt_reserved, b);
	add_names(spec->options, b);
	buf_adds(b, "'\n");
	if (spec->commands) {
		buf_adds(b, "\t\tcase $cmd in\n");
		opt_each_command(c, spec) {
			buf_addf(b, "\t\t%s) names+='", c->name);
			add_names(c->options, b);
			buf_adds(b, "' ;;\n");
		}
		buf_adds(b, "\t\tesac\n");
	}
	buf_adds(b, "\t\tmapfile -t COMPREPLY < <(compgen -W \"$names\" -- \"$cur\")\n"
		    "\t\t[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
		    "\t\treturn\n\tfi\n");
}

/* Any other: files, and commands where one may stand. */
static void add_operands(const struct opt_spec *spec, struct buf *b)
{
	buf_adds(b, "\tcompopt -o filenames\n"
		    "\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n");
	if (spec->commands) {
		buf_adds(b, "\tif ((operands == 0)); then\n"
			    "\t\tmapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -W '");
		opt_each_command(c, spec)
			buf_addf(b, "%s%s", c == spec->commands[0] ? "" : " ", c->name);
		buf_adds(b, "' -- \"$cur\")\n\tfi\n");
	}
}

static void completion_bash(const struct opt_spec *spec, struct buf *b)
{
	LOCAL_BUF fn = {0};
	for (const char *c = spec->tool; *c; c++)
		buf_addc(&fn, isalnum((unsigned char)*c) ? *c : '_');
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
		    "\tfi\n");
	add_loop(spec, b);
	buf_adds(b, "\tcase $cmd:$eq:$prev in\n");
	opt_each_command(c, spec)
		add_value_cases(c->options, c->name, b);
	add_value_cases(spec->options, NULL, b);
	add_value_cases(opt_reserved, NULL, b);
	buf_adds(b, "\tesac\n");
	add_all_names(spec, b);
	add_operands(spec, b);
	buf_addf(b, "}\ncomplete -F _%s %s\n", buf_str(&fn), spec->tool);
}

const char *opt_completion(const struct opt_spec *spec, const char *shell, struct buf *b)
{
	static const struct {
		const char *shell;
		void (*write)(const struct opt_spec *spec, struct buf *b);
	} shells[] = {{"bash", completion_bash}, {"zsh", opt_completion_zsh}, {"fish", opt_completion_fish}};
	for (size_t i = 0; i < ARRAY_LEN(shells); i++)
		if (!strcmp(shell, shells[i].shell)) {
			shells[i].write(spec, b);
			return NULL;
		}
	return "bash, zsh, fish";
}
