/* watch_part.h - parts of watch.c in other files. */
#ifndef PT2_LIVE_WATCH_PART_H
#define PT2_LIVE_WATCH_PART_H
#include "watch/inputs.h"
#include "watch/kept.h"
#include "watch/watch.h"

/* ---- watch_fate.c, watch_calls.c: processes ---- */

void watch_meet(struct watch *w, uint32_t pid); /* something of this process was read */
/* Checks from time to time which processes have ended; finish: watch_finish_process. */
void watch_look_around(struct watch *w, void (*finish)(struct watch *w, uint32_t pid));
void watch_finish_process(struct watch *w, uint32_t pid); /* calls that have not returned by now never will */
void watch_forget_processes(struct watch *w);

/* ---- watch_graph.c ---- */

void watch_graph_event(struct watch *w, const struct live_event *ev);
void watch_graph_launch(struct watch *w, uint32_t pid, uint32_t model, const struct call_launch *l);
void watch_graph_replay(struct watch *w, uint32_t pid, uint32_t model, const struct call_replay *r);
void watch_forget_graphs(struct watch *w);

#endif
