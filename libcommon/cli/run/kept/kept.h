/* kept.h - runs that were watched, kept on disk: the second question about a run never costs another compile.
 *
 *     struct kept *k = kept_begin("fxexplain run", command, &err);      // NULL: no place for it (err says why)
 *     ... TORCH_TRACE=kept_folder(k); stderr.txt, explained.json in it ...
 *     kept_end(k, &(struct kept_result){.seconds = 12.3, .status = 1, .traces = paths, .n_traces = n});
 *
 *     struct kept_list l;
 *     kept_list(&l, &err);                                              // newest first; none: an empty list
 *     const struct kept_run *run = kept_find(&l, "last~1");             // "last", "last~N", a name or how it begins
 *     kept_prune(&l, KEPT_RUNS, KEPT_BYTES, &pruned);
 *     kept_list_release(&l);
 *
 * They are in $XDG_STATE_HOME/pt2utils/runs (~/.local/state by default), a folder for each, mode 0700, named by date, time and program. Its
 * run.json says what was run (docs/formats/EXPLAIN.md, "Kept runs"). kept_end() removes all but the newest 50, and the oldest of those
 * until they need at most 2 GB; the newest stays, whatever its size.
 *
 * While a run is watched its folder is locked: it is never pruned, and `running` in a list. Who is killed leaves an unlocked folder without
 * an end: a run like any other. Only folders that have a run.json and a name of our form are listed, and only these are ever removed.
 *
 * For tools. Not thread-safe.
 */
#ifndef PT2_KEPT_H
#define PT2_KEPT_H
#include "base/base.h"

enum { KEPT_RUNS = 50 };
#define KEPT_BYTES (2ull << 30)
#define KEPT_ABOUT "run.json"
#define KEPT_STDERR "stderr.txt"
#define KEPT_DOCUMENT "explained.json"

struct kept;
struct kept_result {
	double seconds;
	int status, sig;           /* how the command ended */
	const char *const *traces; /* absolute paths */
	size_t n_traces;
};

struct kept *kept_begin(const char *tool, const char *const *command, struct err *err);
const char *kept_folder(const struct kept *k);
/* How it ended, then room is made. Frees k; NULL is allowed. r: NULL: the run is not worth keeping, the folder is removed. */
void kept_end(struct kept *k, const struct kept_result *r);

struct kept_run {
	char *name, *folder;
	uint64_t bytes;
	bool running;
	/* from run.json; NULL and -1 if unknown */
	char *tool, *command, *cwd; /* command: as a shell takes it */
	double started, seconds;
	int64_t status, sig;
	char **trace;
	size_t n_trace;
};
struct kept_list {
	struct kept_run *v; /* newest first */
	size_t n, cap;
	char *place; /* the folder of all */
};
int kept_list(struct kept_list *l, struct err *err);
void kept_list_release(struct kept_list *l);
/* NULL: no such run, or the beginning of a name that several have. */
const struct kept_run *kept_find(const struct kept_list *l, const char *word);

struct kept_pruned {
	size_t runs;
	uint64_t bytes;
};
/* Removes the oldest runs beyond these limits, never a running one or the newest. The list is as before. */
void kept_prune(const struct kept_list *l, size_t most, uint64_t most_bytes, struct kept_pruned *out);

#endif
