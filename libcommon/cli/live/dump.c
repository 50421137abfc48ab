#include "live/dump.h"

#include "io/mapfile.h"

#include <limits.h>
#include <math.h>
#include <sys/stat.h>

static const char *const roles[] = {"in", "out", "inout", "constant", "model-input", "model-output"};
static const char *const kinds[] = {"kernel", "op", "proxy", "run", "replay"};

const char *dump_role_name(enum call_role r) { return (size_t)r < ARRAY_LEN(roles) ? roles[r] : "?"; }
const char *dump_kind_name(enum dump_kind k) { return (size_t)k < ARRAY_LEN(kinds) ? kinds[k] : "?"; }

bool dump_like(const char *path)
{
	char *index = xasprintf("%s/" DUMP_INDEX, path);
	struct stat st;
	bool yes = stat(index, &st) == 0 && S_ISREG(st.st_mode);
	free(index);
	return yes;
}

/* ---- one line ---- */

struct reading {
	struct dump *d;
	struct json_tape tape;
	struct buf text;
	uint64_t line;
	struct err *err;
};

static int bad(struct reading *r, const char *why)
{
	return err_set(r->err, EXIT_INPUT, "'%s/%s', line %llu: %s: is it an index that aoti-printer wrote?", r->d->path, DUMP_INDEX,
		       (unsigned long long)r->line, why);
}

static struct slice text_of(struct reading *r, uint32_t object, const char *key)
{
	uint32_t k = json_get(&r->tape, object, key);
	if (k == JSON_NONE || !json_is(&r->tape, k, JSON_STRING))
		return SLICE("");
	buf_reset(&r->text);
	json_unescape(&r->tape, k, &r->text);
	return arena_slice(&r->d->arena, buf_slice(&r->text));
}

static uint64_t number_of(const struct reading *r, uint32_t object, const char *key, uint64_t most)
{
	uint64_t v = 0;
	uint32_t k = json_get(&r->tape, object, key);
	return k != JSON_NONE && json_u64(&r->tape, k, &v) && v <= most ? v : 0;
}

static bool true_of(const struct reading *r, uint32_t object, const char *key)
{
	uint32_t k = json_get(&r->tape, object, key);
	return k != JSON_NONE && json_is(&r->tape, k, JSON_TRUE);
}

static int index_of(struct slice s, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_is(s, names[i]))
			return (int)i;
	return -1;
}

/* Into size or stride; how many there are, -1 when this is no list of them. */
static int dims_of(const struct reading *r, uint32_t object, const char *key, int64_t *v)
{
	uint32_t list = json_get(&r->tape, object, key);
	int n = 0;
	if (list == JSON_NONE || !json_is(&r->tape, list, JSON_ARRAY))
		return -1;
	for (uint32_t k = json_first(&r->tape, list); k < json_end(&r->tape, list); k = json_next(&r->tape, k), n++)
		if (n == TENSOR_MAX_DIMS || !json_i64(&r->tape, k, &v[n]))
			return -1;
	return n;
}

static void take_meta(struct reading *r, uint32_t v, struct tensor_meta *m)
{
	*m = (struct tensor_meta){.device_index = -1};
	m->dtype = dtype_by_name(text_of(r, v, "dtype"));
	struct slice device = text_of(r, v, "device");
	if (!device.n || device_parse(device, &m->device, &m->device_index) < 0)
		m->device = DEVICE_CPU;
	m->n_dim = dims_of(r, v, "sizes", m->size);
	int64_t numel;
	if (m->n_dim >= 0 && !tensor_numel(m, &numel))
		m->n_dim = -1;
	if (m->n_dim >= 0 && dims_of(r, v, "strides", m->stride) != m->n_dim)
		tensor_contiguous(m);
}

static double double_of(const struct reading *r, uint32_t object, const char *key)
{
	double v;
	uint32_t k = json_get(&r->tape, object, key);
	return k != JSON_NONE && json_double(&r->tape, k, &v) ? v : (double)NAN;
}

static void take_stats(const struct reading *r, uint32_t v, struct tensor_stats *s)
{
	*s = (struct tensor_stats){.first_bad = -1};
	s->known = json_get(&r->tape, v, "elements") != JSON_NONE;
	s->n = number_of(r, v, "elements", UINT64_MAX);
	s->nan = number_of(r, v, "nan", UINT64_MAX);
	s->pos_inf = number_of(r, v, "inf", UINT64_MAX);
	s->neg_inf = number_of(r, v, "neg_inf", UINT64_MAX);
	s->zero = number_of(r, v, "zeros", UINT64_MAX);
	s->min = double_of(r, v, "min");
	s->max = double_of(r, v, "max");
	s->mean = double_of(r, v, "mean");
	uint32_t k = json_get(&r->tape, v, "first_bad");
	if (k == JSON_NONE || !json_i64(&r->tape, k, &s->first_bad))
		s->first_bad = -1;
}

static int take_value(struct reading *r, uint32_t v, struct dump_value *out)
{
	out->buffer = text_of(r, v, "buffer");
	out->path = text_of(r, v, "path");
	out->file = text_of(r, v, "file");
	if (slice_chr(out->file, '/') || slice_chr(out->file, 0) || (out->file.n && out->file.p[0] == '.'))
		return bad(r, "\"file\" is a path, not a name in this folder");
	out->arg = (uint32_t)number_of(r, v, "arg", UINT32_MAX);
	int role = index_of(text_of(r, v, "role"), roles, ARRAY_LEN(roles));
	if (role < 0)
		return bad(r, "a value's \"role\" is not known");
	out->role = (enum call_role)role;
	out->before = slice_is(text_of(r, v, "when"), "before");
	take_meta(r, v, &out->meta);
	take_stats(r, v, &out->stats);
	return 0;
}

static int take_values(struct reading *r, uint32_t root, struct dump_call *c)
{
	uint32_t list = json_get(&r->tape, root, "values"), n = 0;
	if (list == JSON_NONE || !json_is(&r->tape, list, JSON_ARRAY))
		return 0;
	for (uint32_t k = json_first(&r->tape, list); k < json_end(&r->tape, list); k = json_next(&r->tape, k))
		n++;
	if (n > UINT16_MAX)
		return bad(r, "more values than a call can have");
	c->value = arena_alloc(&r->d->arena, n * sizeof(*c->value));
	for (uint32_t k = json_first(&r->tape, list); k < json_end(&r->tape, list); k = json_next(&r->tape, k)) {
		if (!json_is(&r->tape, k, JSON_OBJECT))
			return bad(r, "a value is no object");
		if (take_value(r, k, &c->value[c->n_values]) < 0)
			return -1;
		c->n_values++;
	}
	return 0;
}

static int take_call(struct reading *r, uint32_t root)
{
	struct dump *d = r->d;
	struct dump_call c = {.model = text_of(r, root, "model"), .name = text_of(r, root, "kernel")};
	int kind = index_of(text_of(r, root, "kind"), kinds, ARRAY_LEN(kinds));
	if (kind < 0 || (!c.name.n && kind != DUMP_RUN))
		return bad(r, "a call has no \"kernel\" or no known \"kind\"");
	c.kind = (enum dump_kind)kind;
	c.nodes = text_of(r, root, "nodes");
	c.aten = text_of(r, root, "aten");
	c.model_id = (uint32_t)number_of(r, root, "model_id", UINT32_MAX);
	c.run = (uint32_t)number_of(r, root, "run", UINT32_MAX);
	c.call = (uint32_t)number_of(r, root, "call", UINT32_MAX);
	c.line = (uint32_t)number_of(r, root, "line", UINT32_MAX);
	c.pid = (uint32_t)number_of(r, root, "pid", UINT32_MAX);
	c.tid = (uint32_t)number_of(r, root, "tid", UINT32_MAX);
	c.seq = number_of(r, root, "seq", UINT64_MAX);
	c.time = number_of(r, root, "time_ns", UINT64_MAX);
	c.took = number_of(r, root, "took_ns", UINT64_MAX);
	c.returned = true_of(r, root, "returned");
	int64_t result = 0;
	uint32_t k = json_get(&r->tape, root, "result");
	if (k != JSON_NONE && json_i64(&r->tape, k, &result) && result >= INT32_MIN && result <= INT32_MAX)
		c.result = (int32_t)result;
	if (take_values(r, root, &c) < 0)
		return -1;
	GROW(d->call, d->n, d->cap, 1);
	d->call[d->n++] = c;
	return 0;
}

static int take_line(struct reading *r, struct slice line)
{
	uint32_t root;
	json_tape_text(&r->tape, line.p, line.n);
	if (json_parse(&r->tape, 0, line.n, &root) < 0 || !json_is(&r->tape, root, JSON_OBJECT))
		return bad(r, "is no JSON object");
	if (r->line == 1) {
		uint64_t version;
		uint32_t k = json_get(&r->tape, root, "dump");
		if (k == JSON_NONE || !json_u64(&r->tape, k, &version))
			return bad(r, "has no \"dump\"");
		return version == DUMP_VERSION ? 0 : bad(r, "a version of the format that is not known");
	}
	if (true_of(r, root, "ended")) {
		r->d->cut = false;
		r->d->lost = number_of(r, root, "lost", UINT64_MAX);
		r->d->failed = text_of(r, root, "failed");
		return 0;
	}
	return take_call(r, root);
}

int dump_read(struct dump *d, struct slice index, const char *path, struct err *err)
{
	*d = (struct dump){.path = path, .cut = true};
	struct reading r = {.d = d, .err = err};
	struct slice rest = index, line;
	int status = 0;
	while (status == 0 && slice_line(&rest, &line)) {
		r.line++;
		/* A writer that was killed leaves half a line. */
		if (!rest.n && index.n && index.p[index.n - 1] != '\n' && r.line > 1)
			break;
		status = take_line(&r, line);
	}
	if (status == 0 && !r.line) {
		r.line = 1;
		status = bad(&r, "is empty");
	}
	json_tape_release(&r.tape);
	buf_release(&r.text);
	if (status < 0)
		dump_close(d);
	return status;
}

int dump_open(struct dump *d, const char *path, struct err *err)
{
	char *index = xasprintf("%s/" DUMP_INDEX, path);
	struct mapfile f;
	int r = mapfile_open(&f, index, err);
	*d = (struct dump){.path = path};
	if (r == 0) {
		if (f.bytes.n > DUMP_MAX_INDEX)
			r = err_set(err, EXIT_INPUT, "'%s' is larger than %u bytes", index, DUMP_MAX_INDEX);
		else
			r = dump_read(d, f.bytes, path, err);
		mapfile_close(&f);
	}
	free(index);
	return r;
}

void dump_close(struct dump *d)
{
	free(d->call);
	arena_release(&d->arena);
	*d = (struct dump){0};
}

/* ---- tensors ---- */

/* .npy knows no bfloat16 and no float8: their bits lie there as integers. */
static bool bits_of(int file, int process)
{
	const struct dtype_info *a = dtype_info(file), *b = dtype_info(process);
	return a && b && a->bytes == b->bytes && !*b->npy &&
	       (file == DTYPE_U16 || file == DTYPE_U8 || file == DTYPE_I16 || file == DTYPE_I8);
}

int dump_tensor_open(struct dump_tensor *t, const struct dump *d, const struct dump_value *v, struct err *err)
{
	*t = (struct dump_tensor){0};
	if (!v->file.n)
		return err_set(err, EXIT_INPUT, "'%s': %.*s was not saved", d->path, SL(v->buffer));
	char *path = xasprintf("%s/%.*s", d->path, SL(v->file));
	struct slice data;
	int r = -1;
	t->file = tensor_file_open(path, err);
	if (t->file && t->file->n != 1)
		err_set(err, EXIT_INPUT, "'%s' holds %zu tensors, not one", path, t->file->n);
	else if (t->file)
		r = tensor_data(t->file, 0, &data, err);
	free(path);
	if (r < 0) {
		dump_tensor_close(t);
		return -1;
	}
	t->meta = t->file->v[0].meta;
	t->data = data.p;
	if (bits_of(t->meta.dtype, v->meta.dtype))
		t->meta.dtype = v->meta.dtype;
	return 0;
}

void dump_tensor_close(struct dump_tensor *t)
{
	if (t->file)
		tensor_file_close(t->file);
	*t = (struct dump_tensor){0};
}
