/* verifier.h - shared by the files of aoti-verify. A graph (aten/interp/program.h) and a run of the package, as a dump (watch/dump.h), go
 * through aten/verify/verify.h; the result is shown as text (show.c) or JSON (document.c). */
#ifndef VERIFIER_H
#define VERIFIER_H
#include "aten/ops/customops.h"
#include "aten/verify/alone.h"
#include "aten/verify/pair.h"
#include "base/tool/opt.h"
#include "base/tool/screen.h"
#include "watch/guard.h"
#include "watch/inputs.h"
#include "watch/watch.h"

#include <pthread.h>

struct verifier_options {
	struct custom_ops_spec ops;
	struct custom_ops *custom; /* of .ops, or NULL */
	struct run_how how;
	const char *of, *html; /* of: which graph in a trace */
	int error_exitcode;
	uint64_t seed, max_bytes;
	bool json, quiet, all, partial, strict, no_more, alone;
};

/* The kinds of inputs that a model is called with. */
enum input_kind {
	INPUTS_GIVEN,   /* the user's, or those in a dump */
	INPUTS_MADE,    /* generated: none were given */
	INPUTS_SIZES,   /* other sizes, if sizes are free */
	INPUTS_VALUES,  /* ties, zeros, signs */
	INPUTS_SPECIAL, /* NaN and large numbers: what fails only there is reported, but is not a verdict. No infinities: eager's own
			 * vector code turns some into NaN (gelu(inf) is NaN in 2.13) */
	INPUTS_ALONE,   /* and the following: kernels called one by one (aten/verify/alone.h), a kind for each of its sets */
	INPUT_KINDS = INPUTS_ALONE + ALONE_SETS,
};
extern const char *const input_words[INPUT_KINDS]; /* in JSON */
extern const char *const input_text[INPUT_KINDS];  /* for people */

/* A run that was checked against the graph. */
struct trial {
	enum input_kind kind;
	uint32_t run;
	struct source *source; /* NULL: kernels alone */
	struct held h;
};

/* Opens once. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool open;
};

struct verifier {
	const struct verifier_options *o;
	struct pair pair;
	struct run_files files; /* the package's */
	/* Runs of one process, or a given dump. */
	struct source {
		enum input_kind kind;
		char *folder; /* private; NULL: given */
		struct dump dump;
		struct dump_ran ran;
		uint32_t model_id;    /* which of the models that ran in it */
		struct trial *ahead;  /* the first one, whose graph has run; or NULL */
		struct trial **trial; /* those that are not yet the verifier's */
		uint32_t n_trials, cap_trials;
	} source[INPUT_KINDS];
	uint32_t n_sources;
	struct trial **trial;
	uint32_t n_trials, cap_trials;
	struct gate gate;   /* open once the graph or the first run of the package has ended */
	struct guard guard; /* memory errors of kernels, if .guarded */
	bool guarded;
	struct buf notes; /* what could not be tried, one line each */
	struct alone alone;
	bool has_alone, alone_cut; /* cut: time or memory was not enough for all */
};

/* in: the graph, then a package and its inputs, or a dump. */
int verifier_open(struct verifier *v, const struct verifier_options *o, const struct operands *in, struct err *err);
void verifier_close(struct verifier *v);
enum exit_status verifier_status(const struct verifier *v);
/* Do its findings count? Not if they only occur with generated NaN and the like. */
static inline bool trial_is_alone(const struct trial *t) { return t->kind >= INPUTS_ALONE; }
static inline bool trial_counts(const struct trial *t) { return t->kind != INPUTS_SPECIAL; }

/* ---- rerun.c ---- */

/* The file of inputs that were generated; NULL: the user's own are taken. */
char *source_inputs(const struct source *s);
/* A run of the package with that file, which has to live as long; *made NULL: with the user's inputs. */
struct watch_options source_watch(struct verifier *v, const struct operands *in, const char *const *made);
/* The package `runs` times with its inputs and these numbers (watch/given.h). */
int verifier_run_given(struct verifier *v, const struct source *s, const struct operands *in, uint32_t runs, struct slice given,
		       struct buf *taken, struct err *err);

/* ---- narrow.c ---- */

/* Where a finding leaves a choice of calls: runs the package again (aten/verify/narrow.h). */
void verifier_narrow(struct verifier *v, const struct operands *in);

/* ---- memory.c ---- */

/* One more run, with the first inputs: .guard. */
int verifier_guard(struct verifier *v, const struct operands *in, struct err *err);
/* What it found tells of the rows of the trials. */
void verifier_guarded(struct verifier *v);
/* The same after a run that failed. True: it found memory errors. */
bool verifier_crashed(struct verifier *v, const struct operands *in);
void verifier_guard_show(struct screen *s, const struct verifier *v);

/* ---- inputs.c: further inputs ---- */

/* Writes a file of inputs of that kind, derived from those of the first trial (NULL: from nothing), for both graph and package. 1: written;
 * 0: there are no others of that kind. EXIT_USAGE: cannot tell which values an input may hold. */
int inputs_make(const struct program *p, const struct trial *first, enum input_kind kind, uint64_t seed, const char *path, struct err *err);

/* Counts the calls of one trial by verdict; findings that are wrong and those that are only less exact; outputs. */
struct tally {
	uint32_t equal, rounding, effect, wrong, open, operators;
	uint32_t findings, less_exact, outputs, outputs_differ, outputs_open;
	uint32_t tf32, bf16, fp16; /* products and convolutions */
	double compiled_ulp, eager_ulp;
};
struct tally tally(const struct trial *t);
static inline bool trial_found(const struct trial *t) { return tally(t).findings || tally(t).outputs_differ; }
/* Weights that the code holds, and that the finding's node is or is computed from: one that has changed since explains the finding. The
 * k-th one; NONE: there are no more. */
uint32_t finding_inlined(const struct verifier *v, const struct trial *t, const struct verify_finding *f, uint32_t k);
/* Buffers that an earlier call changed, and with whose first value the graph gives what the finding's call wrote: the code holds that
 * value. The k-th one; NONE: there are no more. */
uint32_t finding_frozen(const struct verifier *v, const struct trial *t, const struct verify_finding *f, uint32_t k);
/* "out3"; the path of a buffer, the name of an input. */
struct slice output_name(const struct trial *t, const struct verify_output *x, char room[32]);
static inline bool output_has_place(const struct trial *t, const struct verify_output *x)
{
	return x->at.at >= 0 && x->node != NONE && t->h.ref.v[x->node].kind == ATEN_TENSOR;
}
/* The value that the finding's call read at the position of its worst element, if that tensor has the node's sizes. */
bool read_there(const struct trial *t, const struct verify_finding *f, uint32_t read, double *value);

/* ---- int8.c: products and convolutions of a quantized model ---- */

struct int8_product {
	uint32_t node, call; /* call: which computed it; NONE: not known */
	bool int8;
	const char *why; /* not in int8 */
};
struct int8_report {
	struct int8_product *v;            /* with a quantized operand, in order */
	uint32_t n, cap, n_int8, n_others; /* n_others: without one */
	bool no_vnni;                      /* some ran in int8, and this processor has no instructions for it */
};
/* With the inputs of the first trial. */
void int8_report(struct int8_report *r, const struct verifier *v);
void int8_release(struct int8_report *r);

void verifier_show(struct screen *s, const struct verifier *v);
void verifier_document(struct json_out *o, const struct verifier *v);
int verifier_page(const struct verifier *v, const char *path, struct err *err);

/* ---- ahead.c ---- */

/* The graph's run of a first trial, beside the package's. */
struct ahead {
	struct verifier *v;
	struct trial *trial; /* NULL: not started */
	pthread_t thread;
	bool runs;
};
/* watch_options.starts; what it gets is a struct ahead with a .v. */
void ahead_start(void *a, const struct tensor_view *in, size_t n);
void ahead_end(struct ahead *a);
bool verifier_one_thread(const struct verifier *v);
void gate_open(struct gate *g);
void gate_pass(struct gate *g); /* waits until it is open */

/* heap.c. First of all. */
void heap_prepare(void);

#endif
