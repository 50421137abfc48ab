/* show.c - outputs in aoti-printer's format, or as JSON; and where the time went. */
#include "base/json.h"
#include "base/text.h"
#include "base/tool/screen.h"
#include "graph/pytext.h"
#include "watch/show.h"
#include "ptrun.h"

#include <inttypes.h>

static void show_output(struct screen *s, const struct tensor_view *v, bool full)
{
	struct tensor_stats stats;
	struct buf head = {0};
	const bool none = tensor_is_none(v);
	buf_addf(&head, "[  %.*s  ]:", SL(v->name));
	put_bold(s, buf_str(&head));
	if (tensor_text(v)) {
		buf_addc(&s->b, ' ');
		pytext_quote(&s->b, slice_str(tensor_text(v)));
		buf_adds(&s->b, "\n\n");
	} else {
		buf_adds(&s->b, none ? " None\n\n" : "\n");
	}
	buf_release(&head);
	if (none)
		return;
	tensor_print(&s->b, &v->meta, v->data, (struct tensor_print){.width = s->width, .full = full, .most = shown_room() + 1});
	buf_addc(&s->b, '\n');
	tensor_stats(&v->meta, v->data, STATS_ALL, &stats);
	show_tensor_facts(s, &v->meta, false, &stats);
}

/* ---- times ---- */

struct time_row {
	const char *what, *key;
	uint64_t ns;
};

static size_t time_rows(const struct ptrun_options *o, const struct run_times *t, struct time_row *row)
{
	const uint64_t later = t->runs > 1 ? t->runs - 1 : 0;
	const struct time_row all[] = {
	    {o->how.torch ? "load libtorch" : "load libpt2shim.so", "load_runtime_ns", t->torch},
	    {"load the model", "load_model_ns", t->load},
	    {"create it and its weights", "create_ns", t->create},
	    {"first call", "first_call_ns", t->first},
	    {"later calls, median", "median_call_ns", t->median},
	    {"later calls, mean", "mean_call_ns", later ? t->rest / later : 0},
	    {"of which on the CPU", "mean_call_cpu_ns", later ? t->rest_cpu / later : 0},
	};
	const size_t n = ARRAY_LEN(all) - (later ? 0 : 3);
	memcpy(row, all, n * sizeof(*row));
	return n;
}

enum { ROWS = 8 };

static void show_times(struct screen *s, const struct ptrun_options *o, const struct run_times *t)
{
	struct time_row row[ROWS];
	struct buf b = {0};
	const size_t n = time_rows(o, t, row);
	buf_adds(&b, "us\twhat\n");
	for (size_t i = 0; i < n; i++) {
		put_us(&b, row[i].ns);
		buf_addf(&b, "\t%s\n", row[i].what);
	}
	put_table(s, buf_slice(&b));
	buf_addf(&s->b, "\n%" PRIu64 " call%s. To see the time per kernel, use aoti-printer --profile.\n", t->runs, plural(t->runs));
	buf_release(&b);
}

/* ---- JSON ---- */

static void json_output(struct json_out *o, const struct tensor_view *v)
{
	struct tensor_stats t;
	json_obj(o);
	json_member_str(o, "name", v->name);
	if (tensor_text(v))
		json_member_str(o, "text", slice_str(tensor_text(v)));
	if (!tensor_is_none(v)) {
		tensor_stats(&v->meta, v->data, STATS_ALL, &t);
		json_member_str(o, "dtype", slice_str(dtype_name(v->meta.dtype)));
		json_member_i64s(o, "size", v->meta.size, v->meta.n_dim);
		json_member_i64s(o, "stride", v->meta.stride, v->meta.n_dim);
		json_member_u64(o, "elements", t.n);
		json_fields(o, t, nan, pos_inf, neg_inf);
		json_member_u64(o, "zeros", t.zero);
		json_member_real(o, "min", t.min);
		json_member_real(o, "max", t.max);
		json_member_real(o, "mean", t.mean);
	}
	json_close(o);
}

static void show_json(struct buf *b, const struct ptrun_options *opt, const char *model, const struct runfile *out,
		      const struct guard *bounds)
{
	struct json_out o = {.b = b};
	struct time_row row[ROWS];
	const size_t n = time_rows(opt, &out->times, row);
	json_obj(&o);
	json_member(&o, "schema", SLICE("pt2utils.run/1"));
	json_member_str(&o, "model", slice_str(model));
	json_member_arr(&o, "outputs");
	for (size_t i = 0; i < out->n; i++)
		json_output(&o, &out->v[i]);
	json_close(&o);
	json_member_obj(&o, "times");
	json_member_u64(&o, "calls", out->times.runs);
	for (size_t i = 0; i < n; i++)
		json_member_u64(&o, row[i].key, row[i].ns);
	json_close(&o);
	if (bounds)
		guard_json(&o, bounds);
	json_close(&o);
	buf_addc(b, '\n');
}

int show_result(const struct ptrun_options *o, const char *model, const struct runfile *out, const struct guard *b, struct err *err)
{
	struct screen s = screen_make();
	if (o->json)
		show_json(&s.b, o, model, out, b);
	else if (o->profile)
		show_times(&s, o, &out->times);
	for (size_t i = 0; i < out->n && !o->json && !o->profile && !o->output && !screen_full(&s); i++)
		show_output(&s, &out->v[i], o->full);
	int r = screen_flush(&s, err);
	buf_release(&s.b);
	return r < 0 && err->text[0] ? -1 : 0; /* the reader is gone: not an error */
}
