/* verifier.h - the parts of aoti-verify. A graph (interp/program.h) and a run of the package, as a dump (live/dump.h), go through
 * verify/verify.h; what that finds is shown as text (show.c) or JSON (document.c). */
#ifndef VERIFIER_H
#define VERIFIER_H
#include "live/inputs.h"
#include "live/watch.h"
#include "tool/opt.h"
#include "tool/screen.h"
#include "verify/pair.h"

struct verifier_options {
	const char *of, *model, *torch, *weights, *html; /* of: which graph of a trace */
	struct opt_list load;
	int runs, timeout, error_exitcode;
	uint64_t seed, max_bytes;
	bool json, quiet, all, partial, no_more;
};

/* The kinds of inputs that a model is called with. */
enum input_kind {
	INPUTS_GIVEN,   /* as given, or of a dump */
	INPUTS_MADE,    /* none were given */
	INPUTS_SIZES,   /* of other sizes, where sizes are free */
	INPUTS_VALUES,  /* ties, zeros, signs */
	INPUTS_SPECIAL, /* NaN and large numbers: what shows only there is told, and is no verdict. No infinities: eager's own
			  * vector code makes NaN of some (gelu(inf) is NaN in 2.13) */
	INPUT_KINDS,
};
extern const char *const input_words[INPUT_KINDS];

/* A Run that was held against the graph. */
struct trial {
	enum input_kind kind;
	uint32_t run;
	struct source *source;
	struct held h;
};

struct verifier {
	const struct verifier_options *o;
	struct pair pair;
	/* Runs of one process, or a dump that was given. */
	struct source {
		enum input_kind kind;
		char *folder; /* private; NULL: given */
		struct dump dump;
		struct dump_ran ran;
		uint32_t model_id; /* which of those that ran in it */
	} source[INPUT_KINDS];
	uint32_t n_sources;
	struct trial **trial;
	uint32_t n_trials, cap_trials;
	struct buf notes; /* what could not be tried, a line each */
};

/* in: the graph, then a package and its inputs, or a dump. */
int verifier_open(struct verifier *v, const struct verifier_options *o, const struct operands *in, struct err *err);
void verifier_close(struct verifier *v);
enum exit_status verifier_status(const struct verifier *v);
/* Does what it shows count? Not what shows with NaN and the like alone, which were made up. */
static inline bool trial_counts(const struct trial *t) { return t->kind != INPUTS_SPECIAL; }

/* ---- inputs.c: what else to call it with ---- */

/* A file of inputs of that kind after those of the first trial (NULL: from nothing), for both graph and package. 1: written; 0: there is no
 * other of that kind. EXIT_USAGE: it cannot be told what an input may hold. */
int inputs_make(const struct program *p, const struct trial *first, enum input_kind kind, uint64_t seed, const char *path, struct err *err);

/* Calls of one trial by what is known of them. */
struct tally {
	uint32_t equal, rounding, effect, wrong, open, operators;
	double compiled_ulp, eager_ulp;
};
struct tally tally(const struct trial *t);
/* Gives the value that the call of a finding read at the place of its worst element, if that tensor has the node's sizes. */
bool read_there(const struct trial *t, const struct verify_finding *f, uint32_t read, double *value);

void verifier_show(struct screen *s, const struct verifier *v);
void verifier_document(struct json_out *o, const struct verifier *v);
int verifier_page(const struct verifier *v, const char *path, struct err *err);

#endif
