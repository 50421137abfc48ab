/* watch_part.h - parts of watch.c that other files hold. */
#ifndef PT2_LIVE_WATCH_PART_H
#define PT2_LIVE_WATCH_PART_H
#include "live/inputs.h"
#include "live/watch.h"

/* ---- watch_fate.c, watch_calls.c: processes ---- */

void watch_meet(struct watch *w, uint32_t pid);           /* something of this process was read */
void watch_look_around(struct watch *w);                  /* now and then: who has ended? */
void watch_finish_process(struct watch *w, uint32_t pid); /* its calls that have not returned never will */
void watch_forget_processes(struct watch *w);

/* ---- watch_graph.c ---- */

void watch_graph_event(struct watch *w, const struct live_event *ev);
void watch_graph_launch(struct watch *w, uint32_t pid, uint32_t model, const struct call_launch *l);
void watch_graph_replay(struct watch *w, uint32_t pid, uint32_t model, const struct call_replay *r);
void watch_forget_graphs(struct watch *w);

/* ---- watch_bundle.c: what CALLS_RECORD kept (bundle.h) ---- */

struct watch_bundle {
	char *folder, *library; /* library: the path of the model */
	struct watch_bundle_input {
		char *file;
		struct tensor_meta meta;
	} * input;
	size_t n;
};
int watch_bundle_open(struct watch_bundle *b, const char *path, struct err *err);
/* The text of an index (bundle.h), of a bundle in this folder; what: for messages. */
FOR_TESTS int watch_bundle_read(struct watch_bundle *b, struct slice text, const char *folder, const char *what, struct err *err);
int watch_bundle_inputs(const struct watch_bundle *b, struct inputs *in, const struct contract *c, struct err *err);
void watch_bundle_close(struct watch_bundle *b);

#endif
