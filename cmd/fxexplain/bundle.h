/* bundle.h - what the files of `report --bundle`, `run --bundle` and `replay` share (run/bundle/bundle.h is the format).
 *
 *     pack.c          a bundle of an explanation
 *     packsource.c    the program and the files that it imports
 *     packtrace.c     logs as they go into it: unpacked, cut to what matters, redacted
 *     replay.c        what is in it, what can be run of it; asked, then run
 *     replayrun.c     the program again, and whether it fails alike
 */
#ifndef FXEXPLAIN_BUNDLE_H
#define FXEXPLAIN_BUNDLE_H
#include "run/bundle/bundle.h"
#include "emit.h"
#include "redact.h"

#define DEBUG_FOLDER "text/torch_compile_debug" /* in a bundle */

/* Ends the tool where it cannot be written. */
void pack_bundle(const struct explanation *x, const struct explain_options *opt);

struct pack {
	struct bundle_writer *w;
	const struct explanation *x;
	const struct explain_options *o;
	struct redact r;
	struct buf tmp;
	const struct slice *argument; /* of the program */
	size_t n_argument;
	bool program; /* it is in it */
};
/* A text, redacted if that is asked for. Dies where it cannot be written. */
void pack_text(struct pack *p, enum bundle_kind kind, const char *name, struct slice text, struct slice about);
/* Redacted if asked for, in p->tmp or as it is: good until the next. */
struct slice pack_safe(struct pack *p, struct slice text);
/* Of JSON and what may hold it: no path begins behind a backslash's letter ("\n/home"), and no quote is taken out with one. */
void pack_redact_json(struct redact *r, struct buf *b, struct slice text);

/* packsource.c: --repro's program, or that of the command, or that which the log's stacks begin in; and the .py files beside it that these
 * name or that it imports. */
void pack_sources(struct pack *p);

/* packtrace.c: the log at path as it goes into a bundle, appended to b. ids: "frame/compile" of what matters; used where the log is larger
 * than PACK_WHOLE: then records with long payloads of other compilations are left out, *cut counts them. */
enum { PACK_WHOLE = 64 << 20, PACK_LONG = 2048 };
int pack_trace(struct buf *b, const char *path, const struct intern *ids, struct redact *r, uint64_t *cut, struct err *err);

/* pack.c: findings as they are compared between a recorded run and a new one, worst first; into the arena. How many. */
size_t pack_findings(const struct explanation *x, struct arena *a, struct bundle_finding **out);

/* replayrun.c: 0 alike, EXIT_FOUND not, EXIT_PARTIAL nothing to compare. folder: where the bundle was unpacked. */
int replay_program(const struct explain_options *o, const struct bundle *b, const char *folder);
/* What --tool names. */
extern const char *const replay_tools[];
/* The tool of this name: beside this one, or in PATH. */
char *replay_tool(const char *name);
const char *replay_python(const struct explain_options *o);

#endif
