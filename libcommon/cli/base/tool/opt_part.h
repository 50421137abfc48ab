/* opt_part.h - what the files of opt.h share; nobody else includes it.
 *
 *     opt.c              the command line: words -> options by name -> targets
 *     opt_tables.c       the tables in force
 *     opt_value.c        one option's value into its target
 *     opt_guess.c        what was meant by a name that there is not, or by a command without "--"
 *     opt_help.c         -h, --help-all, the synopsis, the list that the manual is compared with
 *     opt_completion.c   --completion=bash, and opt_completion_zsh.c, opt_completion_fish.c
 *     opt_rules.c        options that conflict
 *     opt_check.c        is the table itself in order
 *
 * In force are up to three tables: the subcommand's, the tool's, and opt_reserved, what every tool has; a name is looked for in this
 * order. A walk goes over all of them:
 *
 *     struct opt_walk w = opt_walk_start(spec, sub);
 *     for (const struct opt *o; (o = opt_walk_next(&w));) ...    // headings too
 */
#ifndef PT2_OPT_PART_H
#define PT2_OPT_PART_H
#include "base/tool/opt.h"

/* Their places in opt_reserved. */
enum { RESERVED_H, RESERVED_ALL, RESERVED_V, RESERVED_COLOR, RESERVED_OPTIONS, RESERVED_SYNOPSIS, RESERVED_COMPLETION, RESERVED_COUNT };
extern const struct opt opt_reserved[RESERVED_COUNT + 1];
extern const struct opt opt_none[1]; /* a table without an option */

struct opt_walk {
	const struct opt *table[3];
	size_t i;
	const struct opt *at;
};
struct opt_walk opt_walk_start(const struct opt_spec *spec, const struct opt_command *sub);
const struct opt *opt_walk_next(struct opt_walk *w);

static inline bool opt_is_option(const struct opt *o) { return o->type != OPT_T_END && o->type != OPT_T_HEADING; }
static inline bool opt_is_optional(const struct opt *o) { return o->arg && o->arg[0] == '['; } /* its argument is */
static inline bool opt_is_shown(const struct opt *o) { return opt_is_option(o) && o->help; }
static inline bool opt_is_reserved(const struct opt *o) { return o >= opt_reserved && o <= opt_reserved + RESERVED_COUNT; }

/* name: the option as the user wrote it. value: NULL when it has none. */
int opt_apply(const struct opt *o, const char *name, const char *value, struct err *err);

/* Patterns "-o|--output" of the options that take the next word; may a command follow "--", of the tool or of any subcommand. */
void opt_add_valued(const struct opt_spec *spec, struct buf *b);
bool opt_any_command(const struct opt_spec *spec);
void opt_completion_zsh(const struct opt_spec *spec, struct buf *b);
void opt_completion_fish(const struct opt_spec *spec, struct buf *b);

/* The command line with the forgotten "--": argv[at] is the first operand, and the first word of the command that was meant. sub: the
 * subcommand in force. -1: err says what to type. 0: it may well be an operand. */
int opt_forgotten_dashes(const struct opt_spec *spec, const struct opt_command *sub, int argc, char **argv, int at, struct err *err);
/* -1: the operand is not a file, but close to the name of a subcommand. */
int opt_misspelt_command(const struct opt_spec *spec, const char *word, struct err *err);

void opt_given(struct operands *in, const struct opt *o);
void opt_taken_back(struct operands *in, const struct opt *o);
int opt_check_rules(const struct opt_spec *spec, const struct opt_command *sub, struct err *err);

#endif
