/* bundle.h - shared by `report --bundle`, `run --bundle` and `replay` (run/bundle/bundle.h describes the format).
 *
 *     pack.c          makes a bundle from an explanation
 *     packsource.c    adds the program and the files it imports
 *     packtrace.c     prepares logs: decompressed, cut to what matters, redacted
 */
#ifndef FXEXPLAIN_BUNDLE_H
#define FXEXPLAIN_BUNDLE_H
#include "run/bundle/bundle.h"
#include "explain/emit.h"
#include "report/report.h"

#define DEBUG_FOLDER "text/torch_compile_debug" /* in a bundle */

/* Exits if it cannot be written. */
void pack_bundle(const struct explanation *x, const struct explain_options *opt, const struct report_options *how);

struct pack {
	struct bundle_writer *w;
	const struct explanation *x;
	const struct explain_options *o;
	const struct report_options *how;
	struct redact r;
	struct buf tmp;
	const struct slice *argument; /* of the program */
	size_t n_argument;
	bool program; /* the bundle has it */
};
/* packsource.c, what both need: exits, without a bundle. */
_Noreturn void pack_fail(struct pack *p, const struct err *err);
/* Adds a text, redacted if requested. Exits if it cannot be written. */
void pack_text(struct pack *p, enum bundle_kind kind, const char *name, struct slice text, struct slice about);
/* The text, redacted into p->tmp if requested: valid until the next call. */
struct slice pack_safe(struct pack *p, struct slice text);
/* For JSON and text that may contain it: a path does not begin inside an escape ("\n/home"), and no quote is removed with it. */
void pack_redact_json(struct redact *r, struct buf *b, struct slice text);

/* packsource.c: the program of --repro, or of the command, or the one in which the log's stacks begin; and the .py files beside it that
 * these name or that it imports. */
void pack_sources(struct pack *p);

/* packtrace.c: appends the log at path to b as it goes into a bundle. ids: "frame/compile" of the compilations that matter; used if the
 * log is larger than PACK_WHOLE: then records with long payloads of other compilations are left out, and *cut counts them. */
enum { PACK_WHOLE = 64 << 20, PACK_LONG = 2048 };
int pack_trace(struct buf *b, const char *path, const struct intern *ids, struct redact *r, uint64_t *cut, struct err *err);

/* pack.c: findings in the form in which a recorded run and a new one are compared, worst first; in the arena. Returns the count. */
size_t pack_findings(const struct explanation *x, struct arena *a, struct bundle_finding **out);

#endif
