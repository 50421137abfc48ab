#include "watch/dump.h"

#include "base/io/mapfile.h"

#include <limits.h>
#include <math.h>
#include <sys/stat.h>

static const char *const kinds[] = {"kernel", "op", "proxy", "run", "replay"};

const char *dump_kind_name(enum dump_kind k) { return (size_t)k < ARRAY_LEN(kinds) ? kinds[k] : "?"; }

bool dump_like(const char *path)
{
	char *index = xasprintf("%s/" DUMP_INDEX, path);
	struct stat st;
	bool yes = stat(index, &st) == 0 && S_ISREG(st.st_mode);
	free(index);
	return yes;
}

static const struct dump_file *file_of(const struct dump *d, struct slice name)
{
	for (size_t i = 0; i < d->n_files; i++)
		if (slice_eq(d->file[i].name, name))
			return &d->file[i];
	return NULL;
}

/* ---- one line ---- */

struct reading {
	struct dump *d;
	struct json_tape tape;
	uint64_t line;
	struct err *err;
};

static int bad_index(struct reading *r, const char *why)
{
	return err_set(r->err, EXIT_INPUT, "'%s/%s', line %llu: %s: was this index written by aoti-printer?", r->d->path, DUMP_INDEX,
		       (unsigned long long)r->line, why);
}

static int index_of(struct slice s, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_is(s, names[i]))
			return (int)i;
	return -1;
}

static void take_meta(struct reading *r, uint32_t v, struct tensor_meta *m)
{
	const struct json_tape *t = &r->tape;
	*m = (struct tensor_meta){.device_index = -1};
	m->dtype = dtype_by_name(json_word(t, v, "dtype"));
	struct slice device = json_word(t, v, "device");
	if (!device.n || device_parse(device, &m->device, &m->device_index) < 0)
		m->device = DEVICE_CPU;
	m->n_dim = json_ints(t, v, "sizes", m->size, TENSOR_MAX_DIMS);
	m->has_address = json_u64(t, json_get(t, v, "address"), &m->address);
	int64_t numel;
	if (m->n_dim >= 0 && !tensor_numel(m, &numel))
		m->n_dim = -1;
	if (m->n_dim >= 0 && json_ints(t, v, "strides", m->stride, TENSOR_MAX_DIMS) != m->n_dim)
		tensor_contiguous(m);
}

static void take_stats(const struct json_tape *t, uint32_t v, struct tensor_stats *s)
{
	*s = (struct tensor_stats){.first_bad = json_int(t, v, "first_bad", -1)};
	s->known = json_get(t, v, "elements") != NONE;
	s->n = json_count(t, v, "elements", 0);
	s->nan = json_count(t, v, "nan", 0);
	s->pos_inf = json_count(t, v, "inf", 0);
	s->neg_inf = json_count(t, v, "neg_inf", 0);
	s->zero = json_count(t, v, "zeros", 0);
	s->min = json_number(t, v, "min", (double)NAN);
	s->max = json_number(t, v, "max", (double)NAN);
	s->mean = json_number(t, v, "mean", (double)NAN);
}

static int take_value(struct reading *r, uint32_t v, struct dump_value *out)
{
	const struct json_tape *t = &r->tape;
	out->buffer = json_dup(t, v, "buffer", &r->d->arena);
	out->path = json_dup(t, v, "path", &r->d->arena);
	out->file = json_dup(t, v, "file", &r->d->arena);
	if (slice_chr(out->file, '/') || slice_chr(out->file, 0) || (out->file.n && out->file.p[0] == '.'))
		return bad_index(r, "\"file\" is a path, not a file name in this directory");
	out->together = json_u64(t, json_get(t, v, "place"), &out->place);
	out->arg = json_index(t, v, "arg", 0);
	int role = index_of(json_word(t, v, "role"), call_role_word, CALL_ROLES);
	if (role < 0)
		return bad_index(r, "a value has an unknown \"role\"");
	out->role = (enum call_role)role;
	out->before = slice_is(json_word(t, v, "when"), "before");
	take_meta(r, v, &out->meta);
	take_stats(t, v, &out->stats);
	return 0;
}

static int take_values(struct reading *r, uint32_t root, struct dump_call *c)
{
	uint32_t list = json_get(&r->tape, root, "values"), n = json_length(&r->tape, list);
	if (n > UINT16_MAX)
		return bad_index(r, "more values than a call can have");
	c->value = arena_alloc(&r->d->arena, n * sizeof(*c->value));
	json_each(&r->tape, list, k) {
		if (!json_is(&r->tape, k, JSON_OBJECT))
			return bad_index(r, "a value is not an object");
		if (take_value(r, k, &c->value[c->n_values]) < 0)
			return -1;
		c->n_values++;
	}
	return 0;
}

static int take_call(struct reading *r, uint32_t root)
{
	const struct json_tape *t = &r->tape;
	struct dump *d = r->d;
	struct dump_call c = {.model = json_dup(t, root, "model", &r->d->arena), .name = json_dup(t, root, "kernel", &r->d->arena)};
	int kind = index_of(json_word(t, root, "kind"), kinds, ARRAY_LEN(kinds));
	if (kind < 0 || (!c.name.n && kind != DUMP_RUN))
		return bad_index(r, "a call has no \"kernel\", or an unknown \"kind\"");
	c.kind = (enum dump_kind)kind;
	c.precision = json_dup(t, root, "precision", &r->d->arena);
	c.nodes = json_dup(t, root, "nodes", &r->d->arena);
	c.aten = json_dup(t, root, "aten", &r->d->arena);
	c.text = json_dup(t, root, "source", &r->d->arena);
	c.model_id = json_index(t, root, "model_id", 0);
	c.run = json_index(t, root, "run", 0);
	c.call = json_index(t, root, "call", 0);
	c.line = json_index(t, root, "line", 0);
	c.pid = json_index(t, root, "pid", 0);
	c.tid = json_index(t, root, "tid", 0);
	c.rank = json_index(t, root, "rank", NONE);
	c.seq = json_count(t, root, "seq", 0);
	c.time = json_count(t, root, "time_ns", 0);
	c.took = json_count(t, root, "took_ns", 0);
	c.returned = json_flag(t, root, "returned");
	int64_t result = json_int(t, root, "result", 0);
	c.result = result >= INT32_MIN && result <= INT32_MAX ? (int32_t)result : 0;
	if (take_values(r, root, &c) < 0)
		return -1;
	PUSH_TO(d->call, d->n, d->cap) = c;
	return 0;
}

static int take_index_line(struct reading *r, struct slice line)
{
	const struct json_tape *t = &r->tape;
	uint32_t root;
	json_tape_text(&r->tape, line.p, line.n);
	if (json_parse(&r->tape, 0, line.n, &root) < 0 || !json_is(&r->tape, root, JSON_OBJECT))
		return bad_index(r, "not a JSON object");
	if (r->line == 1) {
		uint64_t version;
		if (!json_u64(t, json_get(t, root, "dump"), &version))
			return bad_index(r, "no \"dump\"");
		return version == DUMP_VERSION ? 0 : bad_index(r, "unknown format version");
	}
	if (json_flag(t, root, "ended")) {
		r->d->cut = false;
		r->d->lost = json_count(t, root, "lost", 0);
		r->d->failed = json_dup(t, root, "failed", &r->d->arena);
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
		/* A killed writer leaves half a line. */
		if (!rest.n && index.n && index.p[index.n - 1] != '\n' && r.line > 1)
			break;
		status = take_index_line(&r, line);
	}
	if (status == 0 && !r.line) {
		r.line = 1;
		status = bad_index(&r, "empty");
	}
	json_tape_release(&r.tape);
	if (status < 0)
		dump_close(d);
	return status;
}

/* Those of many tensors. */
static int map_files(struct dump *d, struct err *err)
{
	for (size_t i = 0; i < d->n; i++)
		for (uint32_t k = 0; k < d->call[i].n_values; k++) {
			const struct dump_value *v = &d->call[i].value[k];
			if (!v->together || !v->file.n || file_of(d, v->file))
				continue;
			struct dump_file f = {.name = v->file};
			char *path = xasprintf("%s/%.*s", d->path, SL(v->file));
			const int r = mapfile_open(&f.map, path, err);
			free(path);
			if (r < 0) {
				dump_close(d);
				return -1;
			}
			PUSH_TO(d->file, d->n_files, d->cap_files) = f;
		}
	return 0;
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
	return r < 0 ? r : map_files(d, err);
}

void dump_close(struct dump *d)
{
	for (size_t i = 0; i < d->n_files; i++)
		mapfile_close(&d->file[i].map);
	free(d->file);
	free(d->call);
	arena_release(&d->arena);
	*d = (struct dump){0};
}

/* ---- tensors ---- */

/* .npy has no bfloat16 and no float8: their bits are stored as integers. */
static bool bits_of(int file, int process)
{
	const struct dtype_info *a = dtype_info(file), *b = dtype_info(process);
	return a && b && a->bytes == b->bytes && !*b->npy &&
	       (file == DTYPE_U16 || file == DTYPE_U8 || file == DTYPE_I16 || file == DTYPE_I8);
}

static int open_in_file(struct dump_tensor *t, const struct dump *d, const struct dump_value *v, struct err *err)
{
	const struct dump_file *f = file_of(d, v->file);
	int64_t bytes;
	t->meta = v->meta;
	if (!tensor_is_compact(&t->meta))
		tensor_contiguous(&t->meta);
	if (!f || v->meta.n_dim < 0 || !tensor_extent(&t->meta, &bytes) ||
	    (bytes && (v->place > f->map.bytes.n || (uint64_t)bytes > f->map.bytes.n - v->place)))
		return err_set(err, EXIT_INPUT, "'%s/%.*s' does not hold %.*s", d->path, SL(v->file), SL(v->buffer));
	t->data = f->map.bytes.p + (bytes ? v->place : 0); /* an empty tensor behind the others: at the file's end, or past it */
	return 0;
}

int dump_tensor_open(struct dump_tensor *t, const struct dump *d, const struct dump_value *v, struct err *err)
{
	*t = (struct dump_tensor){0};
	if (!v->file.n)
		return err_set(err, EXIT_INPUT, "'%s': %.*s was not saved", d->path, SL(v->buffer));
	if (v->together)
		return open_in_file(t, d, v, err);
	char *path = xasprintf("%s/%.*s", d->path, SL(v->file));
	struct slice data;
	int r = -1;
	t->file = d->written_to ? tensor_file_copy(path, err) : tensor_file_open(path, err);
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
