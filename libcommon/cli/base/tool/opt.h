/* opt.h - one option table per tool: parsing, -h, --help-all, completion and the check against the man page all come from it.
 *
 *     static struct { bool quiet; const char *out; int jobs; int mode; struct opt_list with; struct opt_pairs max; } o;
 *     static const char *const modes[] = {"fast", "exact", NULL};
 *     static const struct opt options[] = {
 *         OPT_HEADING("Output"),
 *         OPT_STRING('o', "output", "DIR", &o.out, "write into this directory"),
 *         OPT_STRING(0, "html", "[=FILE]", &o.html, "write one page"),      // --html or --html=FILE
 *         OPT_FLAG('q', "quiet", &o.quiet, "print nothing", .rare = true),  // in --help-all, not in -h
 *         OPT_HEADING("Search"),
 *         OPT_INT('j', "jobs", "N", &o.jobs, 1, 256, "run N at once", .more = "Default: one for each processor."), // --help-all adds it
 *         OPT_CHOICE('m', "mode", "MODE", &o.mode, modes, "choose how to search"), // o.mode is the index
 *         OPT_LIST(0, "with", "FILE", &o.with, "add FILE; may be given again"),
 *         OPT_PAIRS(0, "max", "NAME=N", &o.max, "fail if NAME exceeds N; may be given again"),
 *         OPT_END
 *     };
 *     static const struct opt_spec spec = {
 *         .tool = "tlparse", .about = "What did torch.compile do in this run?", .options = options,
 *         .example = {{"trace.log", "write a report"}, {"trace.log --html=page.html", "one page"}, {"--latest traces", "the last run"}},
 *         .footer = "TRACE: a log that TORCH_TRACE wrote.",
 *         .operands = "TRACE...", .min = 1, .max = -1,
 *     };
 *     int main(int argc, char **argv)
 *     {
 *         struct operands in;
 *         opt_parse_or_exit(&spec, argc, argv, &in);         // in.v[0 .. in.n-1]
 *         ...
 *         operands_release(&in); opt_list_release(&o.with);
 *     }
 *
 * The command line
 *  - -a, -abc (flags together), -oVALUE, -o VALUE, --long, --long=VALUE, --long VALUE. A long name is never abbreviated.
 *  - --no-quiet takes back the flag --quiet, --exec the flag --no-exec: an alias, or what a script has put before, may have given it.
 *  - Options and operands may be mixed; `--` ends options; `-` is an operand.
 *  - With .command, everything after `--` is a command to run (in.command, NULL-terminated) and no operand.
 *  - A separate value may start with a dash, but is never `--`: "--log -- python x.py" lacks a value.
 *  - Given twice: the last one wins, except for OPT_LIST, OPT_PAIRS, OPT_COUNT and OPT_CALL.
 *  - Subcommands (.commands): the first operand is one only when it equals a name exactly and no `--` precedes it;
 *    `./report` or `-- report` mean the file. After it, the subcommand's options are known besides the tool's own.
 *  - Every tool has -h/--help, --help-all, -V/--version, --color=WHEN (color.h) and, hidden, --help-options (one option a line:
 *    short, long, argument, help, between tabs), --help-synopsis and --completion=bash|zsh|fish.
 *  - What nearly fits is named: options, subcommands, the values of OPT_CHOICE (opt_guess for others), and the command line that was
 *    meant where `--` before a command was forgotten.
 *
 * -h is at most 50 lines of 79 columns: the question that the tool answers, three examples, the usage, what the operands are, and a line
 * for each option that is not .rare, which begins with a verb. --help-all has everything. Caught by: tests/cli/docs.t.
 *
 * Ownership: values point into argv. Lists are the caller's to release. Tables are constant and must outlive parsing.
 * Targets keep what they held (their defaults) unless the option is given.
 *
 * Failure: opt_parse returns OPT_BAD with one line in err; opt_parse_or_exit prints it with "Try 'tool -h'" and ends
 * with status 2; a broken rule is printed alone. This file belongs to the tools: opt_parse_or_exit prints and exits, the rest does not.
 */
#ifndef PT2_OPT_H
#define PT2_OPT_H
#include "base/buf.h"

struct opt_list {
	const char **v;
	size_t n, cap;
};
struct opt_pair {
	struct slice name;
	const char *value;
};
struct opt_pairs {
	struct opt_pair *v;
	size_t n, cap;
};

enum opt_type {
	OPT_T_END,
	OPT_T_HEADING, /* help: the title of what follows */
	OPT_T_FLAG,    /* bool */
	OPT_T_COUNT,   /* int, one more each time */
	OPT_T_INT,     /* int; imin..imax */
	OPT_T_U64,     /* uint64_t; umin..umax */
	OPT_T_SIZE,    /* the same, and a K, M, G or T (1024s) may follow the number */
	OPT_T_DOUBLE,  /* double; dmin..dmax, never NaN */
	OPT_T_STRING,  /* const char *; with a "[=ARG]" argument "" when given without one */
	OPT_T_CHOICE,  /* int: index into choices; -1 (your default) when not given */
	OPT_T_LIST,    /* struct opt_list */
	OPT_T_PAIRS,   /* struct opt_pairs; the name is not empty and ends at the first '=' */
	OPT_T_CALL,    /* call() below */
};

struct opt {
	enum opt_type type;
	char s;           /* short, 0 for none */
	const char *l;    /* long, NULL for none */
	const char *arg;  /* argument's name, NULL for none; "[=NAME]": optional, only as --long=VALUE.
			   * A name that holds FILE, DIR or COMMAND completes as such. */
	const char *help; /* NULL: the option is accepted, and shown nowhere */
	const char *more; /* a sentence that --help-all adds, NULL for none */
	bool rare;        /* it is in --help-all, not in -h */
	void *target;
	union {
		struct { /* lowest and highest; both 0: no range */
			int64_t imin, imax;
		};
		struct {
			uint64_t umin, umax;
		};
		struct {
			double dmin, dmax;
		};
		const char *const *choices; /* NULL-terminated */
		/* value is NULL when the option takes none. 0, or -1 with err filled (say what is wrong with the
		 * value; the option's name is put before it). */
		int (*call)(void *target, const char *value, struct err *err);
	};
};

/* Behind the help may follow .rare = true and .more = "...". */
/* clang-format off */
#define OPT_END {.type = OPT_T_END}
#define OPT_HEADING(title) {.type = OPT_T_HEADING, .help = (title)}
#define OPT_FLAG(s_, l_, t_, ...) {.type = OPT_T_FLAG, .s = (s_), .l = (l_), .help = __VA_ARGS__, \
	.target = OPT_TARGET(bool, t_)}
#define OPT_COUNT(s_, l_, t_, ...) {.type = OPT_T_COUNT, .s = (s_), .l = (l_), .help = __VA_ARGS__, \
	.target = OPT_TARGET(int, t_)}
#define OPT_INT(s_, l_, a_, t_, lo_, hi_, ...) {.type = OPT_T_INT, .s = (s_), .l = (l_), .arg = (a_), .help = __VA_ARGS__, \
	.target = OPT_TARGET(int, t_), .imin = (lo_), .imax = (hi_)}
#define OPT_U64(s_, l_, a_, t_, lo_, hi_, ...) {.type = OPT_T_U64, .s = (s_), .l = (l_), .arg = (a_), .help = __VA_ARGS__, \
	.target = OPT_TARGET(uint64_t, t_), .umin = (lo_), .umax = (hi_)}
#define OPT_SIZE(s_, l_, a_, t_, lo_, hi_, ...) {.type = OPT_T_SIZE, .s = (s_), .l = (l_), .arg = (a_), .help = __VA_ARGS__, \
	.target = OPT_TARGET(uint64_t, t_), .umin = (lo_), .umax = (hi_)}
#define OPT_DOUBLE(s_, l_, a_, t_, lo_, hi_, ...) {.type = OPT_T_DOUBLE, .s = (s_), .l = (l_), .arg = (a_), \
	.help = __VA_ARGS__, .target = OPT_TARGET(double, t_), .dmin = (lo_), .dmax = (hi_)}
#define OPT_STRING(s_, l_, a_, t_, ...) {.type = OPT_T_STRING, .s = (s_), .l = (l_), .arg = (a_), .help = __VA_ARGS__, \
	.target = OPT_TARGET(const char *, t_)}
#define OPT_CHOICE(s_, l_, a_, t_, c_, ...) {.type = OPT_T_CHOICE, .s = (s_), .l = (l_), .arg = (a_), .help = __VA_ARGS__, \
	.target = OPT_TARGET(int, t_), .choices = (c_)}
#define OPT_LIST(s_, l_, a_, t_, ...) {.type = OPT_T_LIST, .s = (s_), .l = (l_), .arg = (a_), .help = __VA_ARGS__, \
	.target = OPT_TARGET(struct opt_list, t_)}
#define OPT_PAIRS(s_, l_, a_, t_, ...) {.type = OPT_T_PAIRS, .s = (s_), .l = (l_), .arg = (a_), .help = __VA_ARGS__, \
	.target = OPT_TARGET(struct opt_pairs, t_)}
#define OPT_CALL(s_, l_, a_, fn_, t_, ...) {.type = OPT_T_CALL, .s = (s_), .l = (l_), .arg = (a_), .help = __VA_ARGS__, \
	.target = (t_), .call = (fn_)}
/* A target of the wrong type does not compile. */
#define OPT_TARGET(type, t) ((void *)(1 ? (t) : (type *)(t)))
/* clang-format on */

/* Rules of options that exclude or need each other, checked in this order when all is parsed; -h lists the texts. Names are long names
 * without dashes, separated by blanks.
 *     static const struct opt_rule rules[] = {
 *         {.one_of = "json html", .text = "--json and --html are two forms: give one"},
 *         {.of = "fail", .without = OPT_COMMAND, .text = "--fail is for a command"},
 *         {.of = OPT_COMMAND, .with = "probe " OPT_OPERANDS, .text = "a command is watched alone: no model and no --probe"},
 *         {0},
 *     };
 */
struct opt_rule {
	const char *one_of;  /* at most one of these is given; else */
	const char *of;      /* any of these is given */
	const char *with;    /* and any of these (NULL: whatever is) */
	const char *without; /* and none of these (NULL: the same): then the rule is broken, and text is the error */
	const char *text;    /* NULL ends */
};
#define OPT_COMMAND "--"   /* a command behind -- */
#define OPT_OPERANDS "..." /* any operand */

/* What is typed behind the tool's name (and the subcommand's), and what it does. */
struct opt_example {
	const char *args, *what;
};

struct operands;
struct opt_command {
	const char *name, *summary;
	const char *about;             /* the question it answers; NULL: the summary */
	struct opt_example example[3]; /* each is run by tests/cli/docs.t */
	const struct opt *options;     /* NULL for none */
	const char *operands;          /* as in the synopsis: "KERNEL DIR"; NULL for none */
	const char *footer;            /* what they are: lines under the usage; NULL */
	const char *more;              /* text at the end of --help-all; NULL */
	int min, max;                  /* number of operands (min counts only without a command); max -1: any */
	bool command;                  /* "-- COMMAND [ARG...]" is taken */
	bool need_command;             /* and must be given */
	const struct opt_rule *rules;
	int (*run)(struct operands *in); /* for the tool's main(): the status */
};

struct opt_spec {
	const char *tool;
	const char *about; /* the question it answers */
	struct opt_example example[3];
	const char *footer, *more; /* as in struct opt_command */
	const struct opt *options;
	const char *operands; /* these five, too */
	int min, max;
	bool command, need_command;
	const struct opt_rule *rules;              /* without a subcommand; NULL for none */
	const struct opt_command *const *commands; /* NULL-terminated; NULL for none */
};
#define opt_each_command(c, spec) for (const struct opt_command *const *c##_at = (spec)->commands, *c; c##_at && (c = *c##_at); c##_at++)

struct operands {
	const char **v; /* NULL-terminated */
	int n;
	char **command; /* after `--`, NULL-terminated; NULL when there was no `--` */
	int n_command;
	const struct opt_command *sub; /* the subcommand, or NULL */
	const struct opt **given;      /* each time an option was given: for the rules */
	uint32_t n_given, cap_given;
};

/* What was meant: of names that are offered one by one, the one that `word` abbreviates or is at most two letters from, case aside, '-'
 * being '_'.
 *     struct opt_guess g = {.word = word};
 *     for (...) opt_guess(&g, name[i]);
 *     FREED char *meant = opt_guess_text(&g);         // " (did you mean 'graph-breaks'?)", or ""
 */
struct opt_guess {
	struct slice word;
	const char *best; /* NULL: none is near */
	size_t distance;
};
void opt_guess(struct opt_guess *g, const char *name);
char *opt_guess_text(const struct opt_guess *g);

enum opt_result {
	OPT_OK,
	OPT_SHOW, /* print `text` on stdout and exit with 0 */
	OPT_BAD,  /* err.text; status 2 */
};

/* The whole of it for a main: sets diag_tool, then returns, or prints and exits. A tool that is installed as pt2-TOOL, because
 * another package has a TOOL, is called so in all that it says. */
void opt_parse_or_exit(const struct opt_spec *spec, int argc, char **argv, struct operands *in);
/* The same without printing or exiting. width: columns for -h, 0 for COLUMNS or the terminal or 80. */
FOR_TESTS enum opt_result opt_parse(const struct opt_spec *spec, int argc, char **argv, int width, struct operands *in, struct buf *text,
				    struct err *err);
/* -1: what was given breaks a rule, whose text is in err. opt_parse_or_exit asks it. */
int opt_rules(const struct opt_spec *spec, const struct operands *in, struct err *err);
void operands_release(struct operands *in);
void opt_list_release(struct opt_list *l);
void opt_pairs_release(struct opt_pairs *p);

/* "tlparse [-hqV] [-o DIR] [--html[=FILE]] TRACE...": one line without a newline. sub NULL: the tool itself. Flags with
 * a short name come first in one bracket (sorted, case aside), then the others in the table's order. */
void opt_synopsis(const struct opt_spec *spec, const struct opt_command *sub, struct buf *b);
/* -h, or with `all` --help-all */
void opt_help(const struct opt_spec *spec, const struct opt_command *sub, bool all, int width, struct buf *b);
void opt_help_options(const struct opt_spec *spec, const struct opt_command *sub, struct buf *b);
/* The text for bash, zsh or fish, and NULL; of another shell, the names of those. */
const char *opt_completion(const struct opt_spec *spec, const char *shell, struct buf *b);
/* Is the table itself in order: no name twice (subcommands included), none of the reserved ones, help everywhere, tabs
 * and newlines nowhere, arguments where the type requires them, rules only of existing options. Every tool's test calls it. */
FOR_TESTS int opt_check(const struct opt_spec *spec, struct err *err);

#endif
