/* runs.h - what kept runs (run/kept/kept.h) have in common: figures of each, and of each frame over the runs of one command.
 *
 *     struct runs r = {0};
 *     runs_read(&r, &err);                          // newest first
 *     r.v[0].kept->name, .compile_seconds, .breaks ...
 *     runs_frames(&r, "python app.py");             // r.frame[i].at[k]: that frame in run r.of[k], oldest first
 *     runs_release(&r);
 *
 * The figures are out of explained.json (docs/formats/EXPLAIN.md); a run that has none, or a damaged one, has -1 there.
 */
#ifndef PT2_RUNS_H
#define PT2_RUNS_H
#include "base/arena.h"
#include "base/hash.h"
#include "base/json.h"
#include "run/kept/kept.h"

enum { RUNS_TREND = 12 }; /* runs in a trend */

struct run_row {
	const struct kept_run *kept;
	int64_t compiles, breaks, recompiles, failures; /* -1: unknown */
	double compile_seconds;
};

struct frame_at {
	uint32_t compiles, breaks, recompiles; /* compiles 0: not in this run */
	double seconds;
};
struct frame_row {
	struct slice place; /* "model.py:88 in forward" */
	struct frame_at at[RUNS_TREND];
};

struct runs {
	struct kept_list list;
	struct run_row *v;
	size_t n, cap;
	const struct run_row *of[RUNS_TREND]; /* oldest first */
	size_t n_of;
	struct frame_row *frame; /* that with the most seconds in the newest run first */
	size_t n_frame, cap_frame;
	struct intern places;
	struct arena arena;
};

int runs_read(struct runs *r, struct err *err);
/* The newest RUNS_TREND runs of this command (NULL: of the newest run's) in frame[]. */
void runs_frames(struct runs *r, const char *command);
void runs_release(struct runs *r);

void runs_show(const struct runs *r, struct buf *b);     /* a table for put_table() */
void runs_show_frames(struct runs *r, struct buf *b);    /* the same */
void runs_page(const struct runs *r, struct buf *b);     /* HTML, of runs_frames() */
void runs_document(const struct runs *r, struct buf *b); /* JSON */

#endif
