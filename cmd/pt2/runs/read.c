#include "runs/runs.h"

#include "base/io/jsonfile.h"
#include "base/text.h"

/* The document of a run; root NONE: there is none. */
static void document_open(struct jsonfile *d, const struct kept_run *run)
{
	FREED char *path = xasprintf("%s/" KEPT_DOCUMENT, run->folder);
	jsonfile_open(d, path);
}

static void read_figures(struct run_row *row)
{
	OWNED(jsonfile_close) struct jsonfile d;
	document_open(&d, row->kept);
	const uint32_t sums = json_get(&d.t, d.root, "summary");
	row->compiles = json_int(&d.t, sums, "compiles", -1);
	row->breaks = json_int(&d.t, sums, "graph_breaks", -1);
	row->recompiles = json_int(&d.t, sums, "recompiles", -1);
	row->failures = json_int(&d.t, sums, "failures", -1);
	row->compile_seconds = d.root == NONE ? -1 : 0;
	json_each(&d.t, json_get(&d.t, d.root, "inputs"), k) {
		const double s = json_number(&d.t, k, "compile_seconds", 0);
		row->compile_seconds += s > 0 ? s : 0;
	}
}

int runs_read(struct runs *r, struct err *err)
{
	if (kept_list(&r->list, err) < 0)
		return -1;
	for (size_t i = 0; i < r->list.n; i++) {
		struct run_row row = {.kept = &r->list.v[i]};
		read_figures(&row);
		PUSH_TO(r->v, r->n, r->cap) = row;
	}
	return 0;
}

/* ---- frames ---- */

static struct frame_row *frame_named(struct runs *r, struct slice place)
{
	const uint32_t id = intern_add(&r->places, place);
	if (id == r->n_frame)
		PUSH_TO(r->frame, r->n_frame, r->cap_frame) = (struct frame_row){.place = arena_slice(&r->arena, place)};
	return &r->frame[id];
}

/* "model.py:88 in forward": the line is left out, since an edit above moves it. */
static bool place_of(const struct jsonfile *d, uint32_t compile, struct buf *b)
{
	LOCAL_BUF tmp = {0};
	const uint32_t loc = json_get(&d->t, compile, "location");
	buf_reset(b);
	const struct slice file = json_text(&d->t, loc, "file", &tmp);
	if (!file.n)
		return false;
	buf_add_slice(b, slice_base(file));
	const struct slice function = json_text(&d->t, loc, "function", &tmp);
	buf_addf(b, " in %.*s", SL(function));
	return true;
}

static void add_frames(struct runs *r, size_t at)
{
	OWNED(jsonfile_close) struct jsonfile d;
	LOCAL_BUF place = {0};
	document_open(&d, r->of[at]->kept);
	const uint32_t compiles = json_get(&d.t, d.root, "compiles");
	uint32_t n = 0;
	FREED uint32_t *frame_of = xcalloc(json_length(&d.t, compiles) + 1, sizeof(*frame_of));
	json_each(&d.t, compiles, k) {
		frame_of[n] = NONE;
		if (place_of(&d, k, &place)) {
			struct frame_row *f = frame_named(r, buf_slice(&place));
			const double seconds = json_number(&d.t, k, "seconds", 0);
			frame_of[n] = (uint32_t)(f - r->frame);
			f->at[at].compiles++;
			f->at[at].seconds += seconds > 0 ? seconds : 0;
		}
		n++;
	}
	json_each(&d.t, json_get(&d.t, d.root, "graph_breaks"), b) {
		const uint32_t i = json_index(&d.t, b, "compile", NONE);
		if (i < n && frame_of[i] != NONE && !json_flag(&d.t, b, "inferred"))
			r->frame[frame_of[i]].at[at].breaks++;
	}
	json_each(&d.t, json_get(&d.t, d.root, "recompiles"), b) {
		const uint32_t i = json_index(&d.t, b, "compile", NONE);
		if (i < n && frame_of[i] != NONE)
			r->frame[frame_of[i]].at[at].recompiles++;
	}
}

static int slowest_first(const void *a, const void *b, void *last)
{
	const struct frame_row *x = a, *y = b;
	const double p = x->at[*(size_t *)last].seconds, q = y->at[*(size_t *)last].seconds;
	return p != q ? (p < q) - (p > q) : slice_cmp(x->place, y->place);
}

void runs_frames(struct runs *r, const char *command)
{
	if (!command && r->n)
		command = r->v[0].kept->command;
	for (size_t i = 0; i < r->n && r->n_of < RUNS_TREND; i++)
		if (command && r->v[i].kept->command && !strcmp(r->v[i].kept->command, command) && r->v[i].compiles >= 0)
			r->of[r->n_of++] = &r->v[i];
	for (size_t i = 0; i < r->n_of / 2; i++) { /* oldest first */
		const struct run_row *other = r->of[i];
		r->of[i] = r->of[r->n_of - 1 - i];
		r->of[r->n_of - 1 - i] = other;
	}
	for (size_t i = 0; i < r->n_of; i++)
		add_frames(r, i);
	size_t last = r->n_of - 1;
	if (r->n_frame)
		qsort_r(r->frame, r->n_frame, sizeof(*r->frame), slowest_first, &last);
}

void runs_release(struct runs *r)
{
	kept_list_release(&r->list);
	free(r->v);
	free(r->frame);
	intern_release(&r->places);
	arena_release(&r->arena);
	*r = (struct runs){0};
}
