/* Tensors of a bundle: as they are, or generated from their statistics. */
#include "aten/aten.h"
#include "base/io/tempfile.h"
#include "run/bundle/bundle_part.h"
#include "tensor/stats.h"
#include "tensor/write.h"

#include <math.h>
#include <unistd.h>

/* ---- statistics ---- */

static void put_tensor(struct json_out *o, struct slice file, const struct tensor *t, const struct tensor_stats *s)
{
	LOCAL_BUF spec = {0};
	tensor_spec_print(&t->meta, &spec);
	json_obj(o);
	json_member_str(o, "file", file);
	json_member(o, "name", t->name);
	json_member_str(o, "spec", buf_slice(&spec));
	json_member_u64(o, "elements", s->n);
	json_member_u64(o, "nan", s->nan);
	json_member_u64(o, "inf", s->pos_inf);
	json_member_u64(o, "neg_inf", s->neg_inf);
	json_member_u64(o, "zeros", s->zero);
	json_member_float(o, "min", s->min);
	json_member_float(o, "max", s->max);
	json_member_float(o, "mean", s->mean);
	json_close(o);
}

/* ---- values of the same kind ---- */

static double next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) * 0x1p-53;
}

/* Between min and max, on both sides of the mean so that the mean stays; as many zeros, NaN and infinities as before. */
static double make_one(const struct tensor_stats *s, uint64_t *state)
{
	double at = next(state) * (double)s->n;
	if ((at -= (double)s->nan) < 0)
		return NAN;
	if ((at -= (double)s->pos_inf) < 0)
		return INFINITY;
	if ((at -= (double)s->neg_inf) < 0)
		return -INFINITY;
	if ((at -= (double)s->zero) < 0)
		return 0;
	if (!isfinite(s->min) || !isfinite(s->max) || !isfinite(s->mean))
		return 1;
	const double low = s->mean - s->min, high = s->max - s->mean, span = low + high;
	return span <= 0 ? s->mean : next(state) * span < high ? s->mean - next(state) * low : s->mean + next(state) * high;
}

static void make_values(const struct tensor_meta *m, const struct tensor_stats *s, char *p, int64_t n, uint64_t *state)
{
	double v[512];
	const int64_t each = dtype_info(m->dtype)->bytes;
	for (int64_t done = 0; done < n;) {
		const int64_t part = n - done < (int64_t)ARRAY_LEN(v) ? n - done : (int64_t)ARRAY_LEN(v);
		for (int64_t i = 0; i < part; i++) {
			v[i] = make_one(s, state);
			v[i] = dtype_is_integer(m->dtype) ? fmin(fmax(round(v[i]), s->min), s->max) : v[i];
		}
		aten_convert(m->dtype, p + done * each, each, DTYPE_F64, v, sizeof(v[0]), part);
		done += part;
	}
}

static bool can_be_made(int dtype) { return dtype_is_integer(dtype) || (dtype >= DTYPE_F16 && dtype <= DTYPE_F64) || dtype == DTYPE_BF16; }

/* As a file of tensors in f's order, under f's names. */
static int make_up(struct tensor_file *f, const struct tensor_stats *stats, enum tensor_format format, struct buf *bytes, struct err *err)
{
	FREED struct tensor_view *v = xcalloc(f->n + 1, sizeof(*v));
	OWNED(arena_release) struct arena arena = {0};
	OWNED(mapfile_close) struct mapfile m = {0};
	uint64_t state = 20260101;
	int fd = -1, r = 0;
	for (size_t i = 0; i < f->n && !r; i++) {
		int64_t extent, n;
		const struct tensor_meta *meta = &f->v[i].meta;
		if (!can_be_made(meta->dtype) || !tensor_extent(meta, &extent) || !tensor_numel(meta, &n)) {
			r = err_set(err, EXIT_INPUT, "'%s': tensor '%.*s': cannot generate values of type %s", f->path, SL(f->v[i].name),
				    dtype_name(meta->dtype));
			continue;
		}
		v[i] = (struct tensor_view){.name = f->v[i].name, .meta = *meta};
		char *p = arena_alloc(&arena, (size_t)extent + 64);
		make_values(meta, &stats[i], p, extent / dtype_info(meta->dtype)->bytes, &state);
		v[i].data = p;
	}
	if (!r && (fd = temp_file(err)) < 0)
		r = -1;
	if (!r)
		r = tensor_write(fd, format, v, f->n, f->path, err);
	FREED char *name = xasprintf("/proc/self/fd/%d", fd);
	if (!r && (r = mapfile_open(&m, name, err)) == 0)
		buf_add_slice(bytes, m.bytes);
	if (fd >= 0)
		close(fd);
	return r;
}

static int count_tensors(struct tensor_file *f, struct tensor_stats *s, struct err *err)
{
	for (size_t i = 0; i < f->n; i++) {
		struct slice data;
		if (tensor_data(f, i, &data, err) < 0)
			return -1;
		tensor_stats(&f->v[i].meta, data.p, STATS_ALL, &s[i]);
	}
	return 0;
}

int bundle_add_tensors(struct bundle_writer *w, const char *name, const char *path, bool made_up, struct err *err)
{
	struct tensor_file *f = tensor_file_open(path, err);
	struct mapfile m = {.fd = -1};
	LOCAL_BUF bytes = {0};
	struct bundle_file *row = NULL;
	if (!f)
		return -1;
	FREED struct tensor_stats *s = xcalloc(f->n + 1, sizeof(*s));
	int r = count_tensors(f, s, err);
	if (!r && made_up)
		r = make_up(f, s, f->format, &bytes, err);
	else if (!r)
		r = mapfile_open(&m, path, err);
	if (!r && (row = bundle_put(w, BUNDLE_INPUTS, name, made_up ? buf_slice(&bytes) : m.bytes, err))) {
		row->made_up = made_up;
		for (size_t i = 0; i < f->n; i++)
			put_tensor(bundle_tensor_out(w), row->name, &f->v[i], &s[i]);
	}
	if (!made_up && !r)
		mapfile_close(&m);
	tensor_file_close(f);
	return row ? 0 : -1;
}
