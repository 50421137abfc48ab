/* oracle_torch.h - torch as the oracle: a Python process that imported torch and Inductor, and forks for each test.
 *
 *     struct oracle *o = oracle_torch(&(struct oracle_torch_spec){.repro = &r, .jobs = 2, .timeout_ms = 60000}, &err);
 *     const struct outcome *rec = oracle_torch_recorded(o);      // OUTCOME_PASSES: the original runs in eager, its values are recorded
 *     oracle_torch_annotate(o, &r.graph, &err);                  // metadata of nodes that have none
 *     ... oracle_start, oracle_wait as in oracle.h; feeds are FEED_RECORDED values of the original's nodes ...
 *     oracle_torch_values(o, &test, &arena, values, &err);       // bytes for a repro.py
 *     oracle_close(o);
 *
 *     struct verifier *v = verifier_start(&spec, &err);          // call early: it imports torch while the search runs
 *     verifier_run(v, "repro.py", &r, &outcome, &err);           // in a fresh process, caches off
 *     verifier_close(v);
 *
 * The process is share/zygote/zygote.py and share/fxminify/{candidate,where,watch,stages,oracle}.py, sent over its standard input as one
 * program: any prefix that runs a program works: srun -n1, ssh host, kubectl exec -i. The remote side only needs a Python with torch;
 * stored inputs, and the program to verify, are sent along if there is a prefix. The protocol over the two pipes, one JSON object per line:
 *
 *     > start   mode (oracle, record: no tests, verify), env [[name, value or null]], jobs, timeout (s), memory (bytes),
 *             path [folders of modules], fresh (keep processes for verify)
 *     < hello   pid, python, torch, git, cxx, cuda, session (its folder), env (the part that was kept), fixed (what was set), seconds;
 *               or error: a one-line message
 *     > setup   form, stall (s), code, head, imports, symbols, inputs, storages, accuracy, tracing_mode, backend, seed, ...
 *     > record  < record: kind, nodes {name: {kind, dtype, size, stride, device, value, makes (a NaN or infinity that was not in its
 *     inputs)}},
 *               random [inputs without kept values], idle [names of configuration lines that have no effect]
 *     > test    id, code (FXCODE_RUNNABLE), feeds, head (if it differs from the original's), where, plain, timeout
 *     > users   id                                                (answered as `test`)
 *     < started id, pid                                           (the process group, to be killed if the zygote dies)
 *     < test    id, kind (outcome_words), type, message, frames, detail, phase, seconds, extra, output (the end of its output),
 *               replayed (where: operators that are others once they are traced again)
 *     < warning text
 *     > inputs  id, feeds  < inputs: values [{kind, dtype, size, stride, offset, data (base64) or same (the value that has its data)}]
 *     < alive                                                     (every five seconds while a test runs)
 *     > cancel  id     > verify  id, path, timeout, stall, files [{name, data (base64)}]  < verify     > quit
 *
 * A feed: kind (recorded, random, int), name, meta, value; memory: the index in setup's inputs of the one whose storage it uses, together
 * with all others in that storage; leaf: false.
 *
 * Lines that do not start with '{' or are not JSON are skipped (a launcher's own output).
 *
 * Environment: only the names in oracle.py's ALLOWED are kept; the launcher's own os.environ lines are applied before torch is
 * imported, except what the oracle must control (its REFUSED). A test whose lines differ from a process's restarts that process.
 *
 * extra (want_where): {"suspects": ["relu_3", ...], "how": "compiler message", "kernel": "cpp_fused_0", "line": "..."}: nodes of the
 * candidate's graph, best first. For differing values also "through": the outputs that differ. Only what makes an output of the
 * original differ is a failure, except with strict_accuracy: oracle.py tries a candidate's wrong values in the original.
 *
 * Signals: when one of the tool's handlers runs, oracle_torch, oracle_torch_values, verifier_start and verifier_run fail ("interrupted
 * ...") and oracle_wait returns 0 early.
 *
 * Failure: no Python, no torch, or a process that dies twice in a row without an answer: EXIT_ENVIRON and one line. A process that
 * dies during tests is restarted; its tests are OUTCOME_INFRA.
 */
#ifndef PT2_REDUCE_ORACLE_TORCH_H
#define PT2_REDUCE_ORACLE_TORCH_H
#include "reduce/oracle.h"

struct oracle_torch_spec {
	const char *python;                 /* NULL: $PT2_PYTHON, python3 */
	const char *const *const *launcher; /* a process each: {{"srun", "-n1", NULL}, ..., NULL}; NULL: one process here */
	const struct repro *repro;          /* the original; outlives the oracle */
	const char *const *path;            /* folders to search for the launcher's modules, NULL-terminated; NULL: none */
	unsigned jobs;                      /* tests at once in each process; 0: 1 */
	unsigned timeout_ms;                /* of a test, by its age (reduce/childage.h); 0: none */
	unsigned stall_ms;         /* a test without progress for this long hangs, by its age; 0: only timeout_ms. A test that waits
					    * for a compiler gets four times as much; at a place known to hang, which others leave,
					    * two seconds are enough (watch.py) */
	unsigned start_timeout_ms; /* of starting and recording; 0: 10 minutes */
	uint64_t max_memory;   /* a test's private memory beyond the process it is forked from; 0: four fifths of the available memory */
	uint64_t record_limit; /* bytes of recorded values to keep; 0: 16 GiB. Others become random */
	uint64_t seed;
	struct oracle *begun; /* started earlier with the same spec; NULL: start now */
	bool fresh;           /* keep processes for oracle_torch_verify */
	bool whole;           /* tests run to the end, also when they got past the place where the original failed (stages.py) */
	bool record_only;     /* no tests will follow: only imports what recording needs, without warm-up */
};
/* Starts the processes before the original is read (spec->repro is NULL): they import torch meanwhile. The result becomes an oracle once
 * given to oracle_torch; processes whose environment lines turn out to differ are restarted. */
struct oracle *oracle_torch_begin(const struct oracle_torch_spec *spec, struct err *err);
/* Returns when the first process has recorded; others join later. NULL: spec->begun is closed, too. */
struct oracle *oracle_torch(const struct oracle_torch_spec *spec, struct err *err);
/* Is the user's own call known, that the original was taken from? An exported program is compiled by aoti_compile_and_package, plainly; a
 * test of that (test.users) shows whether it fails: a failure only in our way of compiling is not a failure of the original. It is answered
 * even if the original could not be recorded. For launchers, torch's own run_repro is the only way there is. */
bool oracle_torch_has_users_call(const struct repro *r);
/* The result of the original in eager: OUTCOME_PASSES, or why not. Valid as long as the oracle. */
const struct outcome *oracle_torch_recorded(const struct oracle *o);
/* The answers hello and record as JSON text; "" if there was none. */
struct slice oracle_torch_hello(const struct oracle *o);
struct slice oracle_torch_record(const struct oracle *o);
/* Why process i (in the order of the launchers) is gone for good; NULL: it is running, or will be. Valid until the next wait. */
const char *oracle_torch_gone(const struct oracle *o, size_t i);
/* How many inputs had no values, and got generated ones. */
size_t oracle_torch_generated(const struct oracle *o);
/* Fills in recorded metadata for nodes of the root that have none: sizes of that run (integers). Keeps graph_finish valid. */
int oracle_torch_annotate(const struct oracle *o, struct graph *g, struct err *err);
/* Marks the configuration lines of r that set a value that torch has already (repro_line.idle). */
void oracle_torch_mark_idle(const struct oracle *o, struct repro *r);
/* Nodes that produced a NaN or infinity from finite values, in graph order, at most n. Returns their number. */
size_t oracle_torch_nan_makers(const struct oracle *o, const struct graph *g, uint32_t *node, size_t n);

/* The kinds of inputs that a test can run with. */
struct oracle_value {
	enum { ORACLE_TENSOR, ORACLE_INT, ORACLE_OTHER } kind;
	int64_t i;
	struct slice bytes; /* ORACLE_TENSOR: its storage, as far as its strides reach, offset 0; for a feed with memory the whole
				     * storage, the same p for all that share it. In the remote machine's byte order */
	int64_t offset;     /* in elements */
	bool requires_grad;
};
/* Puts a value for each feed into v; bytes in arena. Blocks. Not while tests run. */
int oracle_torch_values(struct oracle *o, const struct test *t, struct arena *arena, struct oracle_value *v, struct err *err);

/* Runs a program, once, in one of the few processes that this one forked after importing torch and before compiling anything (spec's
 * fresh): 1, and its outcome, as verifier_run; 0: none is left, or its environment lines differ: a verifier must be started. */
int oracle_torch_verify(struct oracle *o, const char *path, const struct repro *r, bool hang, struct outcome *out, struct err *err);
/* A warning since the last call that is not a reason to stop; "": none. Valid until the next wait. */
struct slice oracle_torch_warning(struct oracle *o);

struct verifier;
/* With the environment lines of spec->repro. */
struct verifier *verifier_start(const struct oracle_torch_spec *spec, struct err *err);
/* Runs a program in it, once: a second run starts a new process, and so do environment lines of r that differ from spec's. The outcome's
 * texts are valid until the next call. What the program leaves running is killed. -1: it could not be run.
 * hang: a hang is being looked for (spec's stall_ms applies): otherwise the program's own eager run may be silent for long. */
int verifier_run(struct verifier *v, const char *path, const struct repro *r, bool hang, struct outcome *out, struct err *err);
void verifier_close(struct verifier *v);

#endif
