/* show.c - levels 0, 2 and 3: calls as text or as one JSON document (docs/formats/DUMP.md), while the model runs. */
#include "base/tool/diag.h"
#include "base/tool/tempfolder.h"
#include "printer.h"

#include <fcntl.h>

struct showing {
	struct session s;
	struct json_out json;
	const struct watch_call *c;
	bool cut; /* not all calls are in the document: --max-text */
};

static void nothing(struct session *s, const struct watch_call *c) { (void)s, (void)c; }

static bool json_value(void *user, uint32_t i, const char **file)
{
	struct showing *h = user;
	*file = ""; /* it no longer exists when the document is read */
	return h->s.o->level == LEVEL_PRINT && filter_value(&h->s.filter, h->c, i);
}

static void json_call(struct session *s, const struct watch_call *c)
{
	struct showing *h = s->user;
	h->c = c;
	if (!h->cut && screen_full(&s->screen)) {
		h->cut = true;
		shown_take(SIZE_MAX); /* which is said */
	}
	if (h->cut)
		return;
	json_obj(&h->json);
	dump_members(&h->json, c, json_value, h);
	json_close(&h->json);
	buf_addc(&s->screen.b, '\n');
}

static void out_graph(struct json_out *o, const struct watch_graph *g)
{
	json_member_u64(o, "pid", g->pid);
	json_member_u64(o, "graph", g->number);
	json_member_u64(o, "launches", g->launches);
	if (g->captured) { /* else its end was not seen */
		json_member_u64(o, "captured", g->captured);
		json_member_texts(o, "kernels", g->kernel, g->n);
		json_member_u64(o, "replays", g->replays);
	}
}

static void document_end(struct session *s, struct watch *w)
{
	struct showing *h = s->user;
	json_close(&h->json);
	json_member_u64(&h->json, "lost", w->calls.lost);
	json_rows(&h->json, "models", i, screen_full(&s->screen) ? 0 : w->n_models) {
		json_member_u64(&h->json, "id", w->model[i].id);
		json_member_str(&h->json, "path", slice_str(w->model[i].path ? w->model[i].path : ""));
	}
	if (w->n_graphs) {
		json_rows(&h->json, "graphs", i, w->n_graphs)
			out_graph(&h->json, &w->graph[i]);
	}
	if (h->cut)
		json_member_bool(&h->json, "cut", true);
	json_close(&h->json);
	buf_addc(&s->screen.b, '\n');
}

int run_print(const struct printer_options *o, const struct operands *in)
{
	static const uint32_t wants[] = {[LEVEL_OFF] = CALLS_NAMES,
					 [LEVEL_SAVE] = CALLS_NAMES | CALLS_STATS,
					 [LEVEL_PRINT] = CALLS_NAMES | CALLS_STATS,
					 [LEVEL_NAMES] = CALLS_NAMES};
	struct showing h = {0};
	struct err err = {0};
	char *folder = NULL;
	uint32_t want = wants[o->level];
	session_take *take = o->level == LEVEL_OFF ? nothing : o->json ? json_call : o->level == LEVEL_NAMES ? print_names : print_call;
	session_begin(&h.s, o, take, o->json ? document_end : NULL, &h);
	h.json.b = &h.s.screen.b;
	if (o->level == LEVEL_PRINT && !o->json) { /* values are passed in files */
		if (!(folder = temp_folder(TEMP_PRINTER, &err)))
			die_err(&err);
		want |= CALLS_SAVE;
		h.s.folder = folder;
	}
	if (o->json) {
		h.s.screen.whole = true;
		json_obj(&h.json);
		json_member(&h.json, "schema", SLICE("pt2utils.printer/1"));
		json_member_arr(&h.json, "calls");
	}
	h.s.cleanup = folder;
	int status = session_run(&h.s, in, 0, want);
	session_end(&h.s);
	return status;
}
