/* CUDA graphs: what was captured, and how many times it was replayed. */
#include "base/json.h"
#include "base/text.h"
#include "watch/watch_part.h"

#define MAX_GRAPHS 4096 /* of all processes; more are not reported */
#define MAX_NAMES 4096  /* of a graph */
#define SHOWN 8

static struct watch_graph *graph_of(struct watch *w, uint32_t pid, uint64_t number, uint32_t model)
{
	if (!number || number >= UINT32_MAX)
		return NULL;
	for (size_t i = w->n_graphs; i-- > 0;)
		if (w->graph[i].pid == pid && w->graph[i].number == number)
			return &w->graph[i];
	if (w->n_graphs == MAX_GRAPHS)
		return NULL;
	struct watch_graph *g = &PUSH_TO(w->graph, w->n_graphs, w->cap_graphs);
	*g = (struct watch_graph){.pid = pid, .number = (uint32_t)number, .model = model};
	return g;
}

/* A later event says more about the graph. */
void watch_graph_event(struct watch *w, const struct live_event *ev)
{
	struct watch_graph *g = graph_of(w, (uint32_t)ev->pid, live_event_number(ev, "graph"), ev->model);
	if (!g)
		return;
	arena_release(&g->arena);
	g->captured = live_event_number(ev, "captured");
	g->kernel = json_dup_list(ev->tape, json_get(ev->tape, ev->root, "kernels"), MAX_NAMES, &g->n, &g->arena);
}

void watch_graph_launch(struct watch *w, uint32_t pid, uint32_t model, const struct call_launch *l)
{
	struct watch_graph *g = l->captured ? graph_of(w, pid, l->graph, model) : NULL;
	if (g)
		g->launches++;
}

void watch_graph_replay(struct watch *w, uint32_t pid, uint32_t model, const struct call_replay *r)
{
	struct watch_graph *g = graph_of(w, pid, r->graph, model);
	if (g && r->times > g->replays)
		g->replays = r->times;
}

void watch_forget_graphs(struct watch *w)
{
	for (size_t i = 0; i < w->n_graphs; i++)
		arena_release(&w->graph[i].arena);
	free(w->graph);
	w->graph = NULL;
	w->n_graphs = w->cap_graphs = 0;
}

void watch_graph_text(const struct watch *w, const struct watch_graph *g, struct buf *b)
{
	size_t from, several = 0;
	for (size_t i = 0; i < w->n_graphs; i++)
		several += w->graph[i].pid != g->pid;
	buf_addf(b, "CUDA graph %u", g->number);
	if (several)
		buf_addf(b, " of process %u", g->pid);
	buf_adds(b, ": ");
	from = b->len;
	if (!g->captured) {
		put_count(b, g->launches, "kernel");
		buf_adds(b, " captured; replays were not seen (ON A GPU in aoti-printer(1))");
		return;
	}
	put_count(b, g->captured, "call");
	buf_adds(b, " captured");
	for (uint32_t i = 0; i < g->n && i < SHOWN; i++) {
		buf_adds(b, i ? ", " : " (");
		buf_add_slice(b, g->kernel[i]);
	}
	buf_adds(b, !g->n ? ", " : g->captured > SHOWN ? ", ...), " : "), ");
	clean_text(b->p + from, b->len - from);
	if (!g->replays)
		buf_adds(b, "never replayed");
	else if (g->replays == 1)
		buf_adds(b, "replayed once");
	else
		buf_addf(b, "replayed %llu times", (unsigned long long)g->replays);
}
