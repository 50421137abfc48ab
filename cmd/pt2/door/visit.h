/* visit.h - goes through a door (door.h): runs its commands on these things, and says what was done and what comes next.
 *
 *     struct visit v = {.thing = things, .n = n, .format = FORMAT_TEXT};
 *     return visit_door(&v, d);                     // the status of the last tool that ran
 *
 * Each command is a process of its own with the streams of this one, found beside this program. Which tool runs is said on standard error,
 * the next commands follow the answer on standard output, in text only. Where the tool died, this dies of the same signal.
 */
#ifndef PT2_VISIT_H
#define PT2_VISIT_H
#include "base/buf.h"
#include "door/door.h"
#include "door/specs.h"
#include "door/thing.h"

#define VISIT_FORMATS(X) \
	X(TEXT, "text", "") \
	X(JSON, "json", "--json") \
	X(SARIF, "sarif", "--format=sarif") \
	X(GITHUB, "github", "--format=github") \
	X(MD, "md", "--format=md")
enum visit_format {
#define X(id, name, option) FORMAT_##id,
	VISIT_FORMATS(X)
#undef X
	    FORMAT_COUNT
};
extern const char *const visit_format_name[FORMAT_COUNT + 1]; /* NULL-terminated */

/* The options of pt2 itself, which its commands have, too. */
extern struct pt2_options {
	int format; /* enum visit_format */
	const char *model;
	bool quiet, json, no_exec;
} pt2_opt;
extern const char *pt2_python_set; /* PT2_PYTHON as it was set before the settings file was read; NULL */
static inline enum visit_format visit_format(void) { return pt2_opt.json ? FORMAT_JSON : (enum visit_format)pt2_opt.format; }

struct visit {
	struct thing *thing;
	size_t n, cap;
	char *const *command; /* NULL: none */
	enum visit_format format;
	const char *model;  /* --model for the tools that run or read models; NULL */
	struct specs specs; /* inputs generated for a model that was given none, once they are needed */
	bool specs_asked;
	bool quiet;         /* only the answers */
	bool no_exec;       /* neither a program nor a model's code may be run */
	const char *folder; /* what was read from a pipe lies in it; NULL: nothing was */
};

/* The letters of the things, sorted as thing.h has them, and 'c' for a command. */
char *visit_letters(const struct visit *v);
int visit_door(struct visit *v, const struct door *d);
/* A door's text with the names of the things in it. */
void visit_text(struct visit *v, const char *text, struct buf *b);
/* Becomes this tool, with these arguments behind its name; only returns, with -1 and err, where it cannot. first: a word before them, or
 * NULL. */
int visit_become(const char *tool, const char *first, char *const *args, struct err *err);

#endif
