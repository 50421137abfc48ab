#include "runs/runs.h"

#include "base/text.h"

#include <time.h>

enum { CLIP = 60 };

static void put_number(struct buf *b, int64_t n)
{
	if (n >= 0)
		buf_addf(b, "\t%lld", (long long)n);
	else
		buf_adds(b, "\t");
}

static void put_time(struct buf *b, double seconds)
{
	buf_addc(b, '\t');
	if (seconds >= 0)
		put_seconds(b, seconds);
}

static void put_end(struct buf *b, const struct kept_run *k)
{
	const char *signal = k->sig > 0 ? signal_name((int)k->sig) : NULL;
	if (k->running)
		buf_adds(b, "running");
	else if (signal)
		buf_adds(b, signal);
	else if (k->status >= 0)
		buf_addf(b, "%lld", (long long)k->status);
	else
		buf_adds(b, "no end");
}

static void put_name(struct buf *b, size_t i, const struct kept_run *k)
{
	buf_addf(b, i ? "last~%zu\t" : "last\t", i);
	buf_addf_clean(b, "%s", k->name);
}

void runs_show(const struct runs *r, struct buf *b)
{
	buf_adds(b, "run\tname\tstatus\ttook\tcompiling\tbreaks\trecompiles\tcommand\n");
	for (size_t i = 0; i < r->n; i++) {
		const struct run_row *row = &r->v[i];
		put_name(b, i, row->kept);
		buf_addc(b, '\t');
		put_end(b, row->kept);
		put_time(b, row->kept->seconds);
		put_time(b, row->compile_seconds);
		put_number(b, row->breaks);
		put_number(b, row->recompiles);
		buf_addc(b, '\t');
		put_flat(b, slice_str(row->kept->command ? row->kept->command : ""), CLIP);
		buf_addc(b, '\n');
	}
}

/* "4.21 s 2b 1r": compile time, graph breaks, recompiles. */
static void put_at(struct buf *b, const struct frame_at *f)
{
	buf_addc(b, '\t');
	if (!f->compiles) {
		buf_addc(b, '-');
		return;
	}
	put_seconds(b, f->seconds);
	if (f->breaks)
		buf_addf(b, " %ub", f->breaks);
	if (f->recompiles)
		buf_addf(b, " %ur", f->recompiles);
}

/* Of the frames of the newest run, and of those that it no longer has. As many runs as a table holds, the newest last. */
void runs_show_frames(struct runs *r, struct buf *b)
{
	enum { COLUMNS = 6 };
	const size_t first = r->n_of > COLUMNS ? r->n_of - COLUMNS : 0;
	buf_adds(b, "frame");
	for (size_t i = first; i < r->n_of; i++) {
		const size_t back = (size_t)(r->of[i] - r->v);
		buf_addf(b, back ? "\tlast~%zu" : "\tlast", back);
	}
	buf_addc(b, '\n');
	for (size_t i = 0; i < r->n_frame; i++) {
		put_flat(b, r->frame[i].place, CLIP);
		for (size_t k = first; k < r->n_of; k++)
			put_at(b, &r->frame[i].at[k]);
		buf_addc(b, '\n');
	}
}

/* ---- JSON: docs/formats/EXPLAIN.md, "pt2 runs --json" ---- */

static void text_or_null(struct json_out *o, const char *key, const char *text) { json_member(o, key, slice_str(text ? text : "")); }

static void put_run(struct json_out *o, const struct run_row *row)
{
	const struct kept_run *k = row->kept;
	json_obj(o);
	json_member_str(o, "name", slice_str(k->name));
	json_member_str(o, "folder", slice_str(k->folder));
	json_member_u64(o, "bytes", k->bytes);
	json_member_bool(o, "running", k->running);
	text_or_null(o, "tool", k->tool);
	text_or_null(o, "command", k->command);
	text_or_null(o, "cwd", k->cwd);
	json_member_seconds(o, "started", k->started);
	json_member_seconds(o, "seconds", k->seconds);
	json_member_count(o, "status", k->status);
	text_or_null(o, "signal", k->sig > 0 ? signal_name((int)k->sig) : NULL);
	json_member_arr(o, "traces");
	for (size_t i = 0; i < k->n_trace; i++)
		json_out_str(o, slice_str(k->trace[i]));
	json_close(o);
	json_member_count(o, "compiles", row->compiles);
	json_member_count(o, "graph_breaks", row->breaks);
	json_member_count(o, "recompiles", row->recompiles);
	json_member_count(o, "failures", row->failures);
	json_member_seconds(o, "compile_seconds", row->compile_seconds);
	json_close(o);
}

static void put_frame(struct json_out *o, const struct runs *r, const struct frame_row *f)
{
	json_obj(o);
	json_member_str(o, "frame", f->place);
	json_member_arr(o, "runs");
	for (size_t i = 0; i < r->n_of; i++) {
		json_obj(o);
		json_member_str(o, "name", slice_str(r->of[i]->kept->name));
		json_member_u64(o, "compiles", f->at[i].compiles);
		json_member_double(o, "seconds", f->at[i].seconds, 6);
		json_member_u64(o, "graph_breaks", f->at[i].breaks);
		json_member_u64(o, "recompiles", f->at[i].recompiles);
		json_close(o);
	}
	json_close(o);
	json_close(o);
}

void runs_document(const struct runs *r, struct buf *b)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member_str(&o, "schema", SLICE("pt2utils.runs/1"));
	json_member_str(&o, "tool", SLICE("pt2"));
	json_member_str(&o, "version", SLICE(PT2_VERSION));
	json_member_str(&o, "folder", slice_str(r->list.place ? r->list.place : ""));
	json_member_arr(&o, "runs");
	for (size_t i = 0; i < r->n; i++)
		put_run(&o, &r->v[i]);
	json_close(&o);
	json_member_arr(&o, "frames");
	for (size_t i = 0; i < r->n_frame; i++)
		put_frame(&o, r, &r->frame[i]);
	json_close(&o);
	json_close(&o);
	buf_addc(b, '\n');
}
