/* oracle_torch.h - torch as the oracle: a Python process that has torch and Inductor imported and forks for each test.
 *
 *     struct oracle *o = oracle_torch(&(struct oracle_torch_spec){.repro = &r, .jobs = 2, .timeout_ms = 60000}, &err);
 *     const struct outcome *rec = oracle_torch_recorded(o);      // OUTCOME_PASSES: the original runs in eager, its values are kept
 *     oracle_torch_annotate(o, &r.graph, &err);                  // metadata of nodes that have none
 *     ... oracle_start, oracle_wait as in oracle.h; feeds are FEED_RECORDED values of the original's nodes ...
 *     oracle_torch_values(o, &test, &arena, values, &err);       // bytes for a repro.py
 *     oracle_close(o);
 *
 *     struct verifier *v = verifier_start(&spec, &err);          // early: it imports torch while the search runs
 *     verifier_run(v, "repro.py", &r, &outcome, &err);           // in a fresh process, caches off
 *     verifier_close(v);
 *
 * The process is share/fxminify/{candidate,where,watch,oracle}.py, sent over its standard input as one program: any prefix that runs
 * a program works: srun -n1, ssh host, kubectl exec -i. Nothing is assumed of the far side but a Python with torch; stored inputs, and
 * the program to verify, go along when there is a prefix. What is said over the two pipes, one JSON object a line:
 *
 *     > start   mode (oracle, record: no tests, verify), env [[name, value or null]], jobs, timeout (s), memory (bytes),
 *             path [folders of modules], fresh (keep processes for verify)
 *     < hello   pid, python, torch, git, cxx, cuda, session (its folder), env (what was kept of it), fixed (what was set), seconds;
 *               or error: the one line to tell
 *     > setup   form, stall (s), code, head, imports, symbols, inputs, storages, accuracy, tracing_mode, backend, seed, ...
 *     > record  < record: kind, nodes {name: {kind, dtype, size, stride, device, value, makes (a NaN or infinity that it was not given)}},
 *               random [inputs without kept values], idle [names of configuration lines that change nothing]
 *     > test    id, code (FXCODE_RUNNABLE), feeds, head (when it is not the original's), where, timeout
 *     > users   id                                                (answered as `test`)
 *     < started id, pid                                           (the process group, to be killed should the zygote die)
 *     < test    id, kind (outcome_words), type, message, frames, detail, phase, seconds, extra, output (last of what it printed)
 *     < warning text
 *     > inputs  id, feeds  < inputs: values [{kind, dtype, size, stride, offset, data (base64) or same (the value that has its data)}]
 *     < alive                                                     (every five seconds while a test runs)
 *     > cancel  id     > verify  id, path, timeout, stall, files [{name, data (base64)}]  < verify     > quit
 *
 * A feed: kind (recorded, random, int), name, meta, value; memory: the place in setup's inputs of that whose storage it lies in, with all
 * others that lie there; leaf: false.
 *
 * What does not begin with '{' or is no JSON is passed over (a launcher's own words).
 *
 * Environment: only the names in oracle.py's ALLOWED are kept; the launcher's own os.environ lines are applied before torch is
 * imported, but for what the oracle must control (its REFUSED). A test whose lines differ from a process's restarts that process.
 *
 * extra (want_where): {"suspects": ["relu_3", ...], "how": "compiler message", "kernel": "cpp_fused_0", "line": "..."}: nodes of the
 * candidate's graph, best first. Of values that differ also "through": the outputs that come to differ. Only what makes an output of the
 * original differ is a failure, but with strict_accuracy: oracle.py tries a candidate's wrong values in the original.
 *
 * Signals: a handler of the tool that runs ends oracle_torch, oracle_torch_values, verifier_start and verifier_run ("interrupted ...")
 * and makes oracle_wait return 0 early.
 *
 * Failure: no Python, no torch, or a process that dies twice in a row without an answer: EXIT_ENVIRON and one line. A process that
 * dies during tests is started again; its tests are OUTCOME_INFRA.
 */
#ifndef PT2_REDUCE_ORACLE_TORCH_H
#define PT2_REDUCE_ORACLE_TORCH_H
#include "reduce/oracle.h"

struct oracle_torch_spec {
	const char *python;                 /* NULL: $PT2_PYTHON, python3 */
	const char *const *const *launcher; /* a process each: {{"srun", "-n1", NULL}, ..., NULL}; NULL: one process here */
	const struct repro *repro;          /* the original; outlives the oracle */
	const char *const *path;            /* folders in which modules of the launcher's are looked for, NULL-terminated; NULL: none */
	unsigned jobs;                      /* tests at once in each process; 0: 1 */
	unsigned timeout_ms;                /* of a test, by its age (reduce/childage.h); 0: none */
	unsigned stall_ms;         /* a test hangs that does not get on for so long, by its age; 0: only timeout_ms. A test that waits
					      * for a compiler has four times as much; at a place that is known to hang, where others do not
					      * stay, two seconds are enough (watch.py) */
	unsigned start_timeout_ms; /* of starting and recording; 0: 10 minutes */
	uint64_t max_memory;       /* a test's private memory beyond the process it is forked from; 0: four fifths of what is there */
	uint64_t record_limit;     /* bytes of recorded values that are kept; 0: 16 GiB. Others are random */
	uint64_t seed;
	struct oracle *begun; /* of the same spec; NULL: started now */
	bool fresh;           /* keep processes for oracle_torch_verify */
	bool record_only;     /* no tests will come: only what recording needs is imported, and nothing is warmed up */
};
/* Starts the processes while the original is not read yet (spec->repro is NULL): they import torch meanwhile. It is an oracle when
 * oracle_torch was given it; those whose environment lines turn out to be others are started again. */
struct oracle *oracle_torch_begin(const struct oracle_torch_spec *spec, struct err *err);
/* Returns when the first process has recorded; others of several come when they come. NULL: spec->begun is closed, too. */
struct oracle *oracle_torch(const struct oracle_torch_spec *spec, struct err *err);
/* Is there a call of the user's that the original was taken from? An exported program is compiled by aoti_compile_and_package, plainly; a
 * test of it (test.users) says whether that fails: what only our way of compiling it does is no failure of the original. It is answered
 * even where the original could not be recorded. Of launchers the way of torch's own run_repro is the only one there is. */
bool oracle_torch_has_users_call(const struct repro *r);
/* How the original did in eager: OUTCOME_PASSES, or why not. Lives as long as the oracle. */
const struct outcome *oracle_torch_recorded(const struct oracle *o);
/* The answers hello and record as JSON text; "" when there was none. */
struct slice oracle_torch_hello(const struct oracle *o);
struct slice oracle_torch_record(const struct oracle *o);
/* Why process i (of the launchers, in their order) is gone for good; NULL: it is there, or will be. Until the next wait. */
const char *oracle_torch_gone(const struct oracle *o, size_t i);
/* Puts what was recorded where a node of the root has no metadata: sizes of that run (integers). graph_finish is not undone. */
int oracle_torch_annotate(const struct oracle *o, struct graph *g, struct err *err);
/* Marks the configuration lines of r that set what that torch has set anyway (repro_line.idle). */
void oracle_torch_mark_idle(const struct oracle *o, struct repro *r);
/* Nodes that made a NaN or infinity out of finite values, in the order of the graph, at most n. Returns how many there are. */
size_t oracle_torch_nan_makers(const struct oracle *o, const struct graph *g, uint32_t *node, size_t n);

/* The kinds of inputs that a test can run with. */
struct oracle_value {
	enum { ORACLE_TENSOR, ORACLE_INT, ORACLE_OTHER } kind;
	int64_t i;
	struct slice bytes; /* ORACLE_TENSOR: of its storage, as far as its strides reach, offset 0; of a feed with memory the whole
			     * storage, the same p for all that lie in it. The far machine's byte order */
	int64_t offset;     /* in elements */
	bool requires_grad;
};
/* Puts a value for each feed into v; bytes in arena. Blocks. Not while tests run. */
int oracle_torch_values(struct oracle *o, const struct test *t, struct arena *arena, struct oracle_value *v, struct err *err);

/* Runs a program, once, in one of the few processes that this one forked when it had imported torch and compiled nothing (spec's fresh):
 * 1, and its outcome, as verifier_run; 0: none is left, or its environment lines are others: a verifier has to be started. */
int oracle_torch_verify(struct oracle *o, const char *path, const struct repro *r, bool hang, struct outcome *out, struct err *err);
/* A warning that came up since it was last asked, and is no reason to stop; "": none. Valid until the next wait. */
struct slice oracle_torch_warning(struct oracle *o);

struct verifier;
/* With the environment lines of spec->repro. */
struct verifier *verifier_start(const struct oracle_torch_spec *spec, struct err *err);
/* Runs a program in it, once: a second run starts a new process, as do environment lines of r that differ from spec's. The outcome's
 * texts live until the next call. What the program leaves running is killed. -1: it could not be run.
 * hang: it is one that is looked for (spec's stall_ms counts): the program's own eager run may be silent for long otherwise. */
int verifier_run(struct verifier *v, const char *path, const struct repro *r, bool hang, struct outcome *out, struct err *err);
void verifier_close(struct verifier *v);

#endif
