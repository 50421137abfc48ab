/* opt_tables.c - the tables in force, and the questions that several files ask of them. */
#include "base/tool/opt_part.h"
#include "base/tool/color.h"

/* The options that every tool has. */
const struct opt opt_reserved[RESERVED_COUNT + 1] = {
    [RESERVED_H] = {.type = OPT_T_FLAG, .s = 'h', .l = "help", .help = "show this help"},
    [RESERVED_ALL] = {.type = OPT_T_FLAG, .l = "help-all", .help = "show all options and which of them conflict"},
    [RESERVED_V] = {.type = OPT_T_FLAG, .s = 'V', .l = "version", .help = "show the version"},
    [RESERVED_COLOR] = OPT_CHOICE(0, "color", "WHEN", &color_when, color_names, "colour the output", .rare = true),
    [RESERVED_OPTIONS] = {.type = OPT_T_FLAG, .l = "help-options"},
    [RESERVED_SYNOPSIS] = {.type = OPT_T_FLAG, .l = "help-synopsis"},
    [RESERVED_COMPLETION] = {.type = OPT_T_STRING, .l = "completion", .arg = "SHELL"},
    [RESERVED_COUNT] = OPT_END,
};

const struct opt opt_none[] = {OPT_END};

struct opt_walk opt_walk_start(const struct opt_spec *spec, const struct opt_command *sub)
{
	return (struct opt_walk){
	    .table = {sub && sub->options ? sub->options : opt_none, spec->options ? spec->options : opt_none, opt_reserved}};
}

const struct opt *opt_walk_next(struct opt_walk *w)
{
	for (; w->i < ARRAY_LEN(w->table); w->i++, w->at = NULL) {
		w->at = w->at ? w->at + 1 : w->table[w->i];
		if (w->at->type != OPT_T_END)
			return w->at;
	}
	return NULL;
}

static void add_valued(const struct opt *table, struct buf *b)
{
	for (const struct opt *o = table; o && o->type; o++)
		if (opt_is_option(o) && o->arg && !opt_is_optional(o)) {
			if (o->s)
				buf_addf(b, "%s-%c", b->len ? "|" : "", o->s);
			if (o->l)
				buf_addf(b, "%s--%s", b->len ? "|" : "", o->l);
		}
}

void opt_add_valued(const struct opt_spec *spec, struct buf *b)
{
	add_valued(spec->options, b);
	add_valued(opt_reserved, b);
	opt_each_command(c, spec)
		add_valued(c->options, b);
}

bool opt_any_command(const struct opt_spec *spec)
{
	bool any = spec->command;
	opt_each_command(c, spec)
		any |= c->command;
	return any;
}
