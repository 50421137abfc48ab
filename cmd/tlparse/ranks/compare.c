/* compare.c - reading for a comparison, matching, and what differs. See compare.h. */
#include "ranks/compare.h"
#include "base/pool.h"
#include "base/srcloc.h"
#include "trace/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NIL UINT32_MAX

const char *const compare_kind_name[COMPARE_KIND_COUNT] = {
#define X(id, name, title) name,
    COMPARE_KINDS(X)
#undef X
};
const char *const compare_kind_title[COMPARE_KIND_COUNT] = {
#define X(id, name, title) title,
    COMPARE_KINDS(X)
#undef X
};
const char *const compare_how_name[5] = {"new", "gone", "changed", "slower", "faster"};

/* Configuration: members of compilation_metrics, JSON in a string; the last is an artifact. */
static const char *const config_name[COMPARE_CONFIGS] = {"dynamo_config", "inductor_config", "functorch_config", "compiler_config",
							 "torch._functorch.config"};
static const char *const config_short[COMPARE_CONFIGS] = {"dynamo", "inductor", "functorch", "compiler", "functorch"};
enum { CONFIG_FUNCTORCH = 2, CONFIG_ARTIFACT = 4 };

/* Metrics that are the same each time, unless something else is done. */
static const char *const metric_name[COMPARE_METRICS] = {"graph_op_count",
							 "graph_node_count",
							 "graph_input_count",
							 "guard_count",
							 "shape_env_guard_count",
							 "ir_count",
							 "num_graph_breaks",
							 "param_count",
							 "param_numel",
							 "param_bytes",
							 "non_compliant_ops",
							 "compliant_custom_ops",
							 "has_guarded_code",
							 "specialize_float",
							 "config_suppress_errors",
							 "config_inline_inbuilt_nn_modules",
							 "tensorify_float_success",
							 "tensorify_float_failure",
							 "graph_node_shapes",
							 "is_forward"};

static const char *const version_name[] = {"pytorch_version", "python_version", "triton_version", "cuda_version", "commit", "hip_version"};

static uint64_t join(uint64_t a, uint64_t b)
{
	uint64_t pair[2] = {a, b};
	return hash_bytes(pair, sizeof(pair));
}
static uint64_t hash_slice(struct slice s) { return hash_bytes(s.p, s.n); }
static struct slice text_of(const struct compare_log *l, uint32_t name)
{
	return name == INTERN_NONE ? slice_of("", 0) : intern_get(&l->t.names, name);
}

/* ---- reading ---- */

struct reading {
	struct compare_log *l;
	bool spool;
	const struct trace_hooks *outer;
	struct err *err;
};

struct hashed {
	uint32_t record;
	uint64_t hash;
};
struct slot {
	struct normal normal;
	struct hashed *row;
	uint32_t n, cap;
	struct buf tmp;
	struct json_tape tape;
};

static int keep_raw(void *ctx, struct trace_scan *s)
{
	struct reading *r = ctx;
	const char *p = s->window.data;
	size_t left = s->window.len;
	uint64_t at = s->window.offset;
	while (left) {
		ssize_t n = pwrite(r->l->fd, p, left, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(r->err, EXIT_ENVIRON, "cannot write to the temporary file");
		p += n;
		at += (uint64_t)n;
		left -= (size_t)n;
	}
	return 0;
}

static void take_version(struct compare_log *l, const char *name, struct slice value)
{
	struct buf b = {0};
	if (!value.n || slice_is(value, "null"))
		return;
	buf_adds(&b, name);
	buf_addc(&b, 0);
	buf_add_slice(&b, value);
	if (l->versions.n < 64)
		intern_add(&l->versions, buf_slice(&b));
	buf_release(&b);
}

static struct compare_facts *facts_of(struct compare_log *l, uint32_t compile)
{
	GROW(l->facts, l->n_facts, l->cap_facts, compile >= l->n_facts ? compile - l->n_facts + 1 : 0);
	while (l->n_facts <= compile) {
		struct compare_facts *f = &l->facts[l->n_facts++];
		memset(f, 0xff, sizeof(*f));
		f->backward = 0;
	}
	return &l->facts[compile];
}

static void take_versions(struct compare_log *l, const struct json_tape *tape, uint32_t v)
{
	for (unsigned i = 0; i < ARRAY_LEN(version_name); i++) {
		uint32_t k = json_get(tape, v, version_name[i]);
		if (k != JSON_NONE && json_is(tape, k, JSON_STRING))
			take_version(l, version_name[i], json_slice(tape, k));
	}
}

/* At most this many different texts of configuration a log; a run has one or two. */
enum { CONFIG_TEXTS = 4096 };

static int take_record(void *ctx, struct trace_scan *s, struct trace_record *r)
{
	struct reading *x = ctx;
	struct compare_log *l = x->l;
	const struct json_tape *tape = &s->tape;
	if (r->flags & (REC_NO_PREFIX | REC_NO_JSON | REC_MALFORMED | REC_LOOSE | REC_OTHER_RANK) || r->compile == NIL)
		return 0;
	uint32_t v = trace_value(s, r, KIND_compilation_metrics);
	if (v != JSON_NONE) {
		struct compare_facts *f = facts_of(l, r->compile);
		for (unsigned i = 0; i < CONFIG_ARTIFACT; i++) {
			uint32_t k = json_get(tape, v, config_name[i]);
			if (k != JSON_NONE && json_is(tape, k, JSON_STRING) && l->texts.n < CONFIG_TEXTS)
				f->config[i] = intern_add(&l->texts, json_raw(tape, k));
		}
		for (unsigned i = 0; i < COMPARE_METRICS; i++) {
			uint32_t k = json_get(tape, v, metric_name[i]);
			if (k != JSON_NONE && tape->tok[k].len < 4096)
				f->metric[i] = intern_add(&l->texts, json_raw(tape, k));
		}
		take_versions(l, tape, v);
	}
	v = trace_value(s, r, KIND_bwd_compilation_metrics);
	if (v != JSON_NONE) {
		double d;
		if (json_double(tape, json_get(tape, v, "inductor_compile_time_s"), &d) && d > 0)
			facts_of(l, r->compile)->backward += d;
	}
	v = trace_value(s, r, KIND_artifact);
	if (v != JSON_NONE && r->payload_len < 1 << 20) {
		uint32_t name = json_get(tape, v, "name");
		struct slice n = name == JSON_NONE ? slice_of("", 0) : json_slice(tape, name), payload = trace_payload(s, r);
		if (slice_is(n, config_name[CONFIG_ARTIFACT]) && l->texts.n < CONFIG_TEXTS) {
			facts_of(l, r->compile)->config[CONFIG_ARTIFACT] = intern_add(&l->texts, payload);
		} else if (slice_is(n, "torch_version")) {
			uint32_t root;
			json_tape_text(&l->t.tape, payload.p, payload.n);
			if (json_parse(&l->t.tape, 0, payload.n, &root) == 0)
				take_versions(l, &l->t.tape, root);
		}
	}
	return 0;
}

/* dynamo_guards (before torch 2.6 the only list of guards) in the form of dynamo_cpp_guards_str. */
static bool list_guards(struct slice payload, struct json_tape *tape, struct buf *out)
{
	uint32_t root;
	json_tape_text(tape, payload.p, payload.n);
	if (json_parse(tape, 0, payload.n, &root) < 0 || !json_is(tape, root, JSON_ARRAY))
		return false;
	for (uint32_t k = json_first(tape, root); k < json_end(tape, root); k = json_next(tape, k)) {
		uint32_t code = json_get(tape, k, "code");
		if (code == JSON_NONE || !json_is(tape, code, JSON_STRING))
			continue;
		buf_adds(out, "+- GUARD: ");
		size_t at = out->len;
		json_unescape(tape, code, out);
		for (char *p = out->p + at; p < out->p + out->len; p++)
			if (*p == '\n')
				*p = ' ';
		buf_addc(out, '\n');
	}
	return true;
}

static bool is_guards(unsigned kind) { return kind == KIND_dynamo_guards || kind == KIND_dynamo_cpp_guards_str; }

static int hash_window(void *ctx, struct trace_scan *s)
{
	(void)ctx;
	if (!s->emit)
		s->emit = xcalloc(1, sizeof(struct slot));
	struct slot *x = s->emit;
	x->n = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		struct trace_record *r = &s->rec[i];
		if (!r->artifacts || !r->payload_len)
			continue;
		struct slice text = trace_payload(s, r);
		uint64_t hash;
		if (r->kinds >> KIND_dynamo_cpp_guards_str & 1) {
			hash = normal_guards(text);
		} else if (r->kinds >> KIND_dynamo_guards & 1) {
			buf_reset(&x->tmp);
			hash = list_guards(text, &x->tape, &x->tmp) ? normal_guards(buf_slice(&x->tmp)) : normal_hash(&x->normal, text);
		} else {
			hash = normal_hash(&x->normal, text);
		}
		GROW(x->row, x->n, x->cap, 1);
		x->row[x->n++] = (struct hashed){i, hash};
	}
	return 0;
}

static int keep_hashes(void *ctx, struct trace_scan *s)
{
	struct reading *rd = ctx;
	struct compare_log *l = rd->l;
	struct slot *x = s->emit;
	for (uint32_t i = 0; x && i < x->n; i++) {
		const struct trace_record *r = &s->rec[x->row[i].record];
		uint32_t end = r->first_artifact + r->artifacts;
		GROW(l->artifact, l->n_artifact, l->cap_artifact, end > l->n_artifact ? end - l->n_artifact : 0);
		while (l->n_artifact < end)
			l->artifact[l->n_artifact++] = (struct compare_artifact){0, 0, 0};
		for (uint32_t k = r->first_artifact; k < end; k++)
			l->artifact[k] = (struct compare_artifact){x->row[i].hash, s->window.offset + r->payload, r->payload_lines};
	}
	return 0;
}

static void free_slot(void *ctx, struct trace_scan *s)
{
	struct slot *x = s->emit;
	(void)ctx;
	if (!x)
		return;
	normal_release(&x->normal);
	free(x->row);
	buf_release(&x->tmp);
	json_tape_release(&x->tape);
	free(x);
	s->emit = NULL;
}

static void progress(void *ctx, uint64_t consumed, uint64_t size)
{
	struct reading *r = ctx;
	if (r->outer && r->outer->progress)
		r->outer->progress(r->outer->ctx, consumed, size);
}

/* Can payloads be read again from the file itself? */
static int open_plain(const char *path)
{
	char head[2];
	if (!strcmp(path, "-") || input_head(path, head, 2) < 2 || !memcmp(head, "\x1f\x8b", 2))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static void build_units(struct compare_log *l);

int compare_read(struct compare_log *l, const char *path, int (*spool)(struct err *err), const struct trace_hooks *hooks, struct err *err)
{
	*l = (struct compare_log){.fd = -1};
	trace_init(&l->t, path);
	struct reading r = {.l = l, .outer = hooks, .err = err};
	l->fd = open_plain(path);
	if (l->fd < 0) {
		struct stat st;
		if (strcmp(path, "-") && stat(path, &st) < 0)
			return err_errno(err, EXIT_INPUT, "cannot open '%s'", path);
		l->fd = spool(err);
		if (l->fd < 0)
			return -1;
		r.spool = true;
	}
	struct trace_hooks h = {.ctx = &r,
				.record = take_record,
				.emit = hash_window,
				.commit = keep_hashes,
				.free_slot = free_slot,
				.progress = progress,
				.raw = r.spool ? keep_raw : NULL,
				.threads = hooks ? hooks->threads : 0};
	int status = trace_read(&l->t, &h, err);
	if (status < 0) {
		compare_log_release(l);
		return -1;
	}
	while (l->n_artifact < l->t.n_artifact) {
		GROW(l->artifact, l->n_artifact, l->cap_artifact, 1);
		l->artifact[l->n_artifact++] = (struct compare_artifact){0, 0, 0};
	}
	if (l->t.n_compile)
		facts_of(l, l->t.n_compile - 1);
	build_units(l);
	return 0;
}

void compare_log_release(struct compare_log *l)
{
	if (l->fd >= 0)
		close(l->fd);
	trace_release(&l->t);
	intern_release(&l->texts);
	intern_release(&l->versions);
	free(l->artifact);
	free(l->facts);
	free(l->unit);
	free(l->frame);
	free(l->attempt);
	free(l->unit_of);
	*l = (struct compare_log){.fd = -1};
}

/* The lines of a payload lie behind a tab each, which may have a scheduler's label before it; blank lines are none. */
bool compare_payload(struct compare_log *l, uint32_t artifact, struct buf *out)
{
	const struct compare_artifact *a = &l->artifact[artifact];
	uint64_t at = a->offset;
	uint32_t size = l->t.artifact[artifact].size, lines = 0;
	struct buf raw = {0};
	size_t want = size + 2ull * a->lines + 4096, label = SIZE_MAX;
	bool ok = a->lines && l->fd >= 0;
	buf_reset(out);
	while (ok && lines < a->lines) {
		char *room = buf_room(&raw, want);
		ssize_t n = pread(l->fd, room, want, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		ok = n >= 0;
		bool end = n <= 0;
		if (n > 0) {
			raw.len += (size_t)n;
			at += (uint64_t)n;
		}
		const char *p = raw.p, *stop = raw.p + raw.len;
		while (lines < a->lines && p < stop) {
			const char *nl = memchr(p, '\n', (size_t)(stop - p)), *e = nl ? nl : stop;
			if (!nl && !end)
				break;
			if (nl && e > p && e[-1] == '\r')
				e--;
			if (e > p) {
				if (label == SIZE_MAX) {
					const char *tab = memchr(p, '\t', (size_t)(e - p));
					label = tab ? (size_t)(tab - p) : 0;
				}
				const char *text = *p == '\t' ? p + 1 : (size_t)(e - p) > label ? p + label + 1 : e;
				if (lines++)
					buf_addc(out, '\n');
				buf_add(out, text, (size_t)(e - text));
			}
			p = nl ? nl + 1 : stop;
		}
		size_t rest = (size_t)(stop - p);
		if (rest && p > raw.p)
			memmove(raw.p, p, rest);
		raw.len = rest;
		if (end || out->len > size)
			break;
	}
	buf_release(&raw);
	return ok && lines == a->lines && out->len == size;
}

/* ---- units and frames ---- */

const struct trace_compile *compare_last(const struct compare_log *l, uint32_t unit)
{
	return &l->t.compile[l->attempt[l->unit[unit].last - 1]];
}

static struct slice basename_of(struct slice file)
{
	const char *slash = file.n ? memrchr(file.p, '/', file.n) : NULL;
	return slash ? slice_of(slash + 1, (size_t)(file.p + file.n - slash - 1)) : file;
}

/* torch_dynamo_resume_in_f_at_9: the line moves when the program is edited. */
static struct slice without_line(struct slice function)
{
	size_t n = function.n;
	while (n && function.p[n - 1] >= '0' && function.p[n - 1] <= '9')
		n--;
	return n < function.n && slice_ends(slice_of(function.p, n), "_at_") ? slice_of(function.p, n) : function;
}

static struct trace_loc place_of(const struct compare_log *l, const struct trace_compile *c)
{
	if (c->loc.file != INTERN_NONE || c->stack == NIL)
		return c->loc;
	const struct trace_frame *f = &l->t.frame[l->t.starts.node[c->stack].frame];
	return (struct trace_loc){f->file, f->line > 0 ? (uint32_t)f->line : 0, f->name, f->code};
}

struct sort_row {
	const struct compile_id *id;
	uint32_t row;
};

static int by_id(const void *a, const void *b)
{
	const struct sort_row *x = a, *y = b;
	int64_t p[4] = {x->id->autograd, x->id->frame, x->id->compile, x->id->attempt};
	int64_t q[4] = {y->id->autograd, y->id->frame, y->id->compile, y->id->attempt};
	for (unsigned i = 0; i < 4; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return x->row < y->row ? -1 : 1;
}

static void build_units(struct compare_log *l)
{
	const struct trace *t = &l->t;
	struct sort_row *row = xcalloc(t->n_compile + 1u, sizeof(*row));
	l->attempt = xcalloc(t->n_compile + 1u, sizeof(*l->attempt));
	l->unit_of = xcalloc(t->n_compile + 1u, sizeof(*l->unit_of));
	for (uint32_t i = 0; i < t->n_compile; i++)
		row[i] = (struct sort_row){&t->compile[i].id, i};
	if (t->n_compile)
		qsort(row, t->n_compile, sizeof(*row), by_id);
	const struct compile_id *last = NULL;
	for (uint32_t i = 0; i < t->n_compile; i++) {
		const struct trace_compile *c = &t->compile[row[i].row];
		const struct compile_id *id = &c->id;
		bool same_frame = last && last->autograd == id->autograd && last->frame == id->frame;
		if (!same_frame) {
			GROW(l->frame, l->n_frame, l->cap_frame, 1);
			l->frame[l->n_frame++] =
			    (struct compare_frame){{INTERN_NONE, 0, INTERN_NONE, INTERN_NONE}, l->n_unit, l->n_unit, NIL, 0, id->frame < 0};
		}
		struct compare_frame *f = &l->frame[l->n_frame - 1];
		if (!same_frame || last->compile != id->compile) {
			GROW(l->unit, l->n_unit, l->cap_unit, 1);
			l->unit[l->n_unit++] = (struct compare_unit){l->n_frame - 1, l->n_unit, i, i, id->compile, NIL, NIL, -1};
			f->last = l->n_unit;
		}
		struct compare_unit *u = &l->unit[l->n_unit - 1];
		l->attempt[i] = row[i].row;
		l->unit_of[row[i].row] = l->n_unit - 1;
		u->last = i + 1;
		if (c->seconds >= 0 || l->facts[row[i].row].backward > 0)
			u->seconds = (u->seconds < 0 ? 0 : u->seconds) + (c->seconds > 0 ? c->seconds : 0) + l->facts[row[i].row].backward;
		if (f->loc.file == INTERN_NONE)
			f->loc = place_of(l, c);
		for (uint32_t a = c->first_artifact; a != NIL && !f->signature; a = t->artifact[a].next)
			if (t->artifact[a].kind == KIND_dynamo_output_graph)
				f->signature = l->artifact[a].hash;
		last = id;
	}
	free(row);
	for (uint32_t i = 0; i < t->n_recompile; i++)
		if (t->recompile[i].compile < t->n_compile) {
			struct compare_unit *u = &l->unit[l->unit_of[t->recompile[i].compile]];
			if (u->recompile == NIL)
				u->recompile = i;
		}
}

/* ---- what is found ---- */

static struct compare_change *add_change(struct compare *c, enum compare_kind kind, enum compare_how how, uint32_t pair,
					 struct slice subject)
{
	if (pair != NIL)
		c->pair[pair].changes++;
	if (c->rows[kind] >= COMPARE_ROWS) {
		c->more[kind]++;
		return &c->beyond;
	}
	c->rows[kind]++;
	GROW(c->change, c->n_change, c->cap_change, 1);
	struct compare_change *x = &c->change[c->n_change++];
	*x = (struct compare_change){.kind = kind, .how = how, .pair = pair, .count = 1, .subject = subject};
	if (pair != NIL)
		x->at = c->pair[pair].at;
	return x;
}

static struct compare_loc loc_text(const struct compare_log *l, const struct trace_loc *loc)
{
	return (struct compare_loc){text_of(l, loc->file), text_of(l, loc->function), text_of(l, loc->code), loc->line};
}

/* ---- two bags of things ---- */

/* Things of both logs with two keys: equal in key, they are the same; in alt, one became the other. */
struct thing {
	uint64_t key, alt;
	uint32_t row;
	bool done;
};
struct bag {
	struct thing *v;
	uint32_t n, cap;
};

static void bag_add(struct bag *b, uint64_t key, uint64_t alt, uint32_t row)
{
	GROW(b->v, b->n, b->cap, 1);
	b->v[b->n++] = (struct thing){key, alt, row, false};
}

static int by_key(const void *a, const void *b)
{
	const struct thing *x = a, *y = b;
	return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->row < y->row ? -1 : x->row > y->row;
}
static int by_alt(const void *a, const void *b)
{
	const struct thing *x = a, *y = b;
	return x->alt != y->alt ? (x->alt < y->alt ? -1 : 1) : x->row < y->row ? -1 : x->row > y->row;
}
static int by_row(const void *a, const void *b)
{
	const struct thing *x = a, *y = b;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void drop_done(struct bag *b)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < b->n; i++)
		if (!b->v[i].done)
			b->v[n++] = b->v[i];
	b->n = n;
}

typedef void bag_changed(struct compare *c, void *ctx, uint32_t a, uint32_t b);
/* What stays in the bags is gone and new, in order of rows; changed may be NULL. */
static void bag_match(struct compare *c, struct bag *a, struct bag *b, bag_changed *changed, void *ctx)
{
	for (unsigned round = 0; round < 2; round++) {
		int (*order)(const void *, const void *) = round ? by_alt : by_key;
		if (a->n)
			qsort(a->v, a->n, sizeof(*a->v), order);
		if (b->n)
			qsort(b->v, b->n, sizeof(*b->v), order);
		for (uint32_t i = 0, j = 0; i < a->n && j < b->n;) {
			uint64_t x = round ? a->v[i].alt : a->v[i].key, y = round ? b->v[j].alt : b->v[j].key;
			if (x != y || (round && !x)) {
				*(x < y ? &i : &j) += 1;
				if (x == y)
					i++;
				continue;
			}
			a->v[i].done = b->v[j].done = true;
			if (round && changed)
				changed(c, ctx, a->v[i].row, b->v[j].row);
			i++;
			j++;
		}
		drop_done(a);
		drop_done(b);
	}
	if (a->n)
		qsort(a->v, a->n, sizeof(*a->v), by_row);
	if (b->n)
		qsort(b->v, b->n, sizeof(*b->v), by_row);
}

static void bag_free(struct bag b[2])
{
	free(b[0].v);
	free(b[1].v);
	b[0] = b[1] = (struct bag){0};
}

static uint32_t pair_of(const struct compare_log *l, uint32_t compile)
{
	return compile < l->t.n_compile ? l->unit[l->unit_of[compile]].pair : NIL;
}

static struct compare_log *side_of(struct compare *c, unsigned side) { return side ? c->b : c->a; }
static enum compare_how how_of(unsigned side) { return side ? HOW_NEW : HOW_GONE; }

/* ---- matching ---- */

static uint64_t frame_key(const struct compare_log *l, const struct compare_frame *f, unsigned tier)
{
	struct slice file = text_of(l, f->loc.file), function = text_of(l, f->loc.function);
	uint64_t key = f->none ? 1 : 2;
	if (!file.n)
		return key + (tier ? 0 : 2);
	if (tier == 0)
		return join(join(key, hash_slice(file)), join(hash_slice(function), f->loc.line));
	return join(join(key, hash_slice(tier == 1 ? file : basename_of(file))), hash_slice(without_line(function)));
}

/* Frames of one code, in order: those that captured the same graph stand for each other, between them by order. */
static void align_frames(struct compare *c, const struct thing *a, uint32_t na, const struct thing *b, uint32_t nb)
{
	uint64_t *key[2] = {xcalloc(na + 1u, sizeof(uint64_t)), xcalloc(nb + 1u, sizeof(uint64_t))};
	for (uint32_t i = 0; i < na; i++)
		key[0][i] = c->a->frame[a[i].row].signature;
	for (uint32_t i = 0; i < nb; i++)
		key[1][i] = c->b->frame[b[i].row].signature;
	linediff_keys(&c->normal.diff, key[0], na, key[1], nb);
	for (uint32_t i = 0; i < c->normal.diff.n; i++) {
		const struct linediff_row *r = &c->normal.diff.row[i];
		if (r->a == LINEDIFF_NONE || r->b == LINEDIFF_NONE)
			continue;
		c->a->frame[a[r->a].row].match = b[r->b].row;
		c->b->frame[b[r->b].row].match = a[r->a].row;
	}
	free(key[0]);
	free(key[1]);
}

static void match_frames(struct compare *c)
{
	for (unsigned tier = 0; tier < 3; tier++) {
		struct bag bag[2] = {{0}};
		for (unsigned s = 0; s < 2; s++) {
			const struct compare_log *l = side_of(c, s);
			for (uint32_t i = 0; i < l->n_frame; i++)
				if (l->frame[i].match == NIL)
					bag_add(&bag[s], frame_key(l, &l->frame[i], tier), 0, i);
			if (bag[s].n)
				qsort(bag[s].v, bag[s].n, sizeof(*bag[s].v), by_key);
		}
		for (uint32_t i = 0, j = 0; i < bag[0].n && j < bag[1].n;) {
			uint64_t x = bag[0].v[i].key, y = bag[1].v[j].key;
			if (x != y) {
				*(x < y ? &i : &j) += 1;
				continue;
			}
			uint32_t ei = i, ej = j;
			while (ei < bag[0].n && bag[0].v[ei].key == x)
				ei++;
			while (ej < bag[1].n && bag[1].v[ej].key == x)
				ej++;
			align_frames(c, &bag[0].v[i], ei - i, &bag[1].v[j], ej - j);
			i = ei;
			j = ej;
		}
		bag_free(bag);
	}
}

/* "0/1: tensor 'x' size mismatch ...": the guard, without the number of the code that it guards. */
static struct slice reason_of(const struct compare_log *l, const struct compare_unit *u)
{
	return u->recompile == NIL ? slice_of("", 0) : text_of(l, l->t.recompile[u->recompile].guard);
}

static uint64_t unit_key(const struct compare_log *l, const struct compare_unit *u)
{
	struct slice reason = reason_of(l, u);
	return reason.n ? normal_guard_hash(reason) : u->compile <= 0 ? 1 : 2;
}

static void add_pair(struct compare *c, uint32_t a, uint32_t b)
{
	GROW(c->pair, c->n_pair, c->cap_pair, 1);
	struct compare_pair *p = &c->pair[c->n_pair];
	*p = (struct compare_pair){.a = a, .b = b, .seconds = {-1, -1}};
	for (unsigned s = 0; s < 2; s++) {
		struct compare_log *l = side_of(c, s);
		uint32_t u = s ? b : a;
		if (u == NIL)
			continue;
		l->unit[u].pair = c->n_pair;
		p->seconds[s] = l->unit[u].seconds;
		const struct trace_loc *loc = &l->frame[l->unit[u].frame].loc;
		p->at = loc_text(l, loc);
	}
	c->n_pair++;
}

static void match_units(struct compare *c)
{
	for (uint32_t fb = 0; fb < c->b->n_frame; fb++) {
		const struct compare_frame *b = &c->b->frame[fb], *a = b->match == NIL ? NULL : &c->a->frame[b->match];
		c->frames[a ? 0 : 2] += !b->none;
		uint32_t na = a ? a->last - a->first : 0, nb = b->last - b->first;
		uint64_t *key[2] = {xcalloc(na + 1u, sizeof(uint64_t)), xcalloc(nb + 1u, sizeof(uint64_t))};
		for (uint32_t i = 0; i < na; i++)
			key[0][i] = unit_key(c->a, &c->a->unit[a->first + i]);
		for (uint32_t i = 0; i < nb; i++)
			key[1][i] = unit_key(c->b, &c->b->unit[b->first + i]);
		linediff_keys(&c->normal.diff, key[0], na, key[1], nb);
		for (uint32_t i = 0; i < c->normal.diff.n; i++) {
			const struct linediff_row *r = &c->normal.diff.row[i];
			add_pair(c, r->a == LINEDIFF_NONE ? NIL : a->first + r->a, r->b == LINEDIFF_NONE ? NIL : b->first + r->b);
		}
		free(key[0]);
		free(key[1]);
	}
	for (uint32_t fa = 0; fa < c->a->n_frame; fa++) {
		if (c->a->frame[fa].match != NIL)
			continue;
		c->frames[1] += !c->a->frame[fa].none;
		for (uint32_t u = c->a->frame[fa].first; u < c->a->frame[fa].last; u++)
			add_pair(c, u, NIL);
	}
}

/* ---- versions and configuration ---- */

static void compare_versions(struct compare *c)
{
	for (unsigned i = 0; i < ARRAY_LEN(version_name); i++) {
		struct buf text[2] = {{0}};
		for (unsigned s = 0; s < 2; s++) {
			const struct compare_log *l = side_of(c, s);
			for (uint32_t k = 0; k < l->versions.n; k++) {
				struct slice row = intern_get(&l->versions, k);
				size_t n = strlen(version_name[i]);
				if (row.n <= n || memcmp(row.p, version_name[i], n + 1))
					continue;
				if (text[s].len)
					buf_adds(&text[s], ", ");
				buf_add(&text[s], row.p + n + 1, row.n - n - 1);
			}
		}
		/* Known on one side only: said by one version of torch and not by the other, or a cut log. */
		if (text[0].len && text[1].len && !slice_eq(buf_slice(&text[0]), buf_slice(&text[1]))) {
			struct compare_change *x = add_change(c, COMPARE_VERSION, HOW_CHANGED, NIL, slice_str(version_name[i]));
			x->before = arena_slice(&c->arena, buf_slice(&text[0]));
			x->after = arena_slice(&c->arena, buf_slice(&text[1]));
		}
		buf_release(&text[0]);
		buf_release(&text[1]);
	}
}

enum { VALUE_MAX = 500 };
static struct slice cut(struct slice s)
{
	if (s.n > VALUE_MAX)
		for (s.n = VALUE_MAX; s.n > 1 && ((unsigned char)s.p[s.n] & 0xc0) == 0x80; s.n--)
			;
	return s;
}

static bool parse_config(unsigned kind, struct slice text, struct buf *b, struct json_tape *tape, uint32_t *root)
{
	buf_reset(b);
	if (kind != CONFIG_ARTIFACT) { /* a JSON string that holds JSON */
		json_tape_text(tape, text.p, text.n);
		if (json_parse(tape, 0, text.n, root) < 0)
			return false;
		json_unescape(tape, *root, b);
	} else {
		buf_add_slice(b, text);
	}
	json_tape_text(tape, b->p, b->len);
	return json_parse(tape, 0, b->len, root) == 0 && json_is(tape, *root, JSON_OBJECT);
}

static void config_row(struct compare *c, unsigned kind, struct slice key, struct slice before, struct slice after, uint32_t count)
{
	struct buf b = {0};
	buf_adds(&b, config_short[kind]);
	buf_addc(&b, '.');
	buf_add_slice(&b, key);
	for (uint32_t i = 0; i < c->n_change; i++) {
		struct compare_change *x = &c->change[i];
		if (x->kind == COMPARE_CONFIG && slice_eq(x->subject, buf_slice(&b)) && slice_eq(x->before, cut(before)) &&
		    slice_eq(x->after, cut(after))) {
			x->count += count;
			buf_release(&b);
			return;
		}
	}
	struct compare_change *x = add_change(c, COMPARE_CONFIG,
					      !before.n  ? HOW_NEW
					      : !after.n ? HOW_GONE
							 : HOW_CHANGED,
					      NIL, arena_slice(&c->arena, buf_slice(&b)));
	x->before = arena_slice(&c->arena, cut(before));
	x->after = arena_slice(&c->arena, cut(after));
	x->count = count;
	buf_release(&b);
}

static void compare_config(struct compare *c, unsigned kind, struct slice a, struct slice b, uint32_t count)
{
	struct slice text[2] = {a, b};
	struct buf buf[2] = {{0}};
	struct json_tape tape[2] = {{0}};
	struct intern keys = {0};
	uint32_t root[2], *at = NULL, n_at = 0, cap = 0;
	bool ok = true;
	for (unsigned s = 0; s < 2; s++)
		ok = ok && parse_config(kind, text[s], &buf[s], &tape[s], &root[s]);
	if (ok) {
		for (uint32_t k = json_first(&tape[1], root[1]); k < json_end(&tape[1], root[1]); k = json_next_pair(&tape[1], k)) {
			uint32_t i = intern_add(&keys, json_slice(&tape[1], k));
			GROW(at, n_at, cap, i >= n_at ? 1 : 0);
			n_at = i >= n_at ? i + 1 : n_at;
			at[i] = k + 1;
		}
		for (uint32_t k = json_first(&tape[0], root[0]); k < json_end(&tape[0], root[0]); k = json_next_pair(&tape[0], k)) {
			uint32_t i = intern_find(&keys, json_slice(&tape[0], k));
			struct slice before = json_raw(&tape[0], k + 1),
				     after = i == INTERN_NONE || at[i] == NIL ? slice_of("", 0) : json_raw(&tape[1], at[i]);
			if (!slice_eq(before, after) && normal_plain(before) != normal_plain(after))
				config_row(c, kind, json_slice(&tape[0], k), before, after, count);
			if (i != INTERN_NONE)
				at[i] = NIL;
		}
		for (uint32_t i = 0; i < n_at; i++)
			if (at[i] != NIL)
				config_row(c, kind, intern_get(&keys, i), slice_of("", 0), json_raw(&tape[1], at[i]), count);
	}
	for (unsigned s = 0; s < 2; s++) {
		buf_release(&buf[s]);
		json_tape_release(&tape[s]);
	}
	intern_release(&keys);
	free(at);
}

enum { CONFIG_PAIRS = 64 };

static void compare_configs(struct compare *c)
{
	struct {
		uint32_t a, b, count;
		unsigned kind;
	} seen[CONFIG_PAIRS];
	unsigned n = 0;
	for (uint32_t i = 0; i < c->n_pair; i++) {
		const struct compare_pair *p = &c->pair[i];
		if (p->a == NIL || p->b == NIL)
			continue;
		const struct compare_facts *a = &c->a->facts[compare_last(c->a, p->a) - c->a->t.compile];
		const struct compare_facts *b = &c->b->facts[compare_last(c->b, p->b) - c->b->t.compile];
		for (unsigned kind = 0; kind < COMPARE_CONFIGS; kind++) {
			if (a->config[kind] == INTERN_NONE || b->config[kind] == INTERN_NONE)
				continue;
			if (kind == CONFIG_ARTIFACT && a->config[CONFIG_FUNCTORCH] != INTERN_NONE &&
			    b->config[CONFIG_FUNCTORCH] != INTERN_NONE)
				continue;
			unsigned k = 0;
			while (k < n && (seen[k].kind != kind || seen[k].a != a->config[kind] || seen[k].b != b->config[kind]))
				k++;
			if (k == n && n < CONFIG_PAIRS) {
				seen[n].kind = kind;
				seen[n].a = a->config[kind];
				seen[n].b = b->config[kind];
				seen[n++].count = 0;
			}
			if (k < n)
				seen[k].count++;
		}
	}
	for (unsigned k = 0; k < n; k++) {
		struct slice a = intern_get(&c->a->texts, seen[k].a), b = intern_get(&c->b->texts, seen[k].b);
		if (!slice_eq(a, b))
			compare_config(c, seen[k].kind, a, b, seen[k].count);
	}
}

/* ---- failures, graph breaks, skips ---- */

static uint64_t loc_key(const struct compare_log *l, const struct trace_loc *loc, bool line)
{
	uint64_t key = hash_slice(basename_of(text_of(l, loc->file)));
	return line ? join(key, loc->line) : join(key, hash_slice(without_line(text_of(l, loc->function))));
}

static void compare_breaks(struct compare *c)
{
	struct bag bag[2] = {{0}};
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = side_of(c, s);
		for (uint32_t i = 0; i < l->t.n_brk; i++) {
			const struct trace_break *x = &l->t.brk[i];
			uint64_t reason = normal_plain(text_of(l, x->reason));
			struct slice code = text_of(l, x->loc.code);
			/* Moved to another line, but the same code for the same reason: no difference. */
			bag_add(&bag[s], join(loc_key(l, &x->loc, true), reason),
				join(join(loc_key(l, &x->loc, false), reason), hash_slice(code)), i);
		}
	}
	bag_match(c, &bag[0], &bag[1], NULL, NULL);
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = side_of(c, s);
		for (uint32_t i = 0; i < bag[s].n; i++) {
			if (bag[s].v[i].done)
				continue;
			const struct trace_break *x = &l->t.brk[bag[s].v[i].row];
			struct compare_change *y = add_change(c, COMPARE_BREAK, how_of(s), pair_of(l, x->compile), text_of(l, x->reason));
			y->at = loc_text(l, &x->loc);
			*(s ? &y->after : &y->before) = cut(text_of(l, x->explanation));
			for (uint32_t k = i + 1; k < bag[s].n; k++)
				if (!bag[s].v[k].done && bag[s].v[k].key == bag[s].v[i].key) {
					bag[s].v[k].done = true;
					y->count++;
				}
		}
	}
	bag_free(bag);
}

static void failure_changed(struct compare *c, void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	const struct trace_failure *x = &c->a->t.failure[a], *y = &c->b->t.failure[b];
	struct compare_change *z = add_change(c, COMPARE_FAILURE, HOW_CHANGED, pair_of(c->b, y->compile), text_of(c->b, y->type));
	if (x->type != y->type && !slice_eq(text_of(c->a, x->type), text_of(c->b, y->type))) {
		z->before = arena_slice(&c->arena, text_of(c->a, x->type));
		z->after = arena_slice(&c->arena, text_of(c->b, y->type));
	} else {
		z->before = cut(text_of(c->a, x->reason));
		z->after = cut(text_of(c->b, y->reason));
	}
	z->at = loc_text(c->b, &y->loc);
}

static void compare_failures(struct compare *c)
{
	struct bag bag[2] = {{0}};
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = side_of(c, s);
		for (uint32_t i = 0; i < l->t.n_failure; i++) {
			const struct trace_failure *x = &l->t.failure[i];
			if (x->type == INTERN_NONE)
				continue;
			/* The reason counts, the line does not: it moves with the program. */
			uint64_t frame = loc_key(l, &l->frame[l->unit[l->unit_of[x->compile]].frame].loc, false);
			bag_add(&bag[s], join(join(frame, hash_slice(text_of(l, x->type))), normal_plain(text_of(l, x->reason))), frame, i);
		}
	}
	bag_match(c, &bag[0], &bag[1], failure_changed, NULL);
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = side_of(c, s);
		for (uint32_t i = 0; i < bag[s].n; i++) {
			const struct trace_failure *x = &l->t.failure[bag[s].v[i].row];
			struct compare_change *y = add_change(c, COMPARE_FAILURE, how_of(s), pair_of(l, x->compile), text_of(l, x->type));
			*(s ? &y->after : &y->before) = cut(text_of(l, x->reason));
			if (x->loc.file != INTERN_NONE)
				y->at = loc_text(l, &x->loc);
		}
	}
	bag_free(bag);
}

static void compare_skips(struct compare *c)
{
	struct bag bag[2] = {{0}};
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = side_of(c, s);
		for (uint32_t i = 0; i < l->t.n_skip; i++) {
			uint64_t frame = loc_key(l, &l->frame[l->unit[l->unit_of[l->t.skip[i].compile]].frame].loc, false);
			bag_add(&bag[s], join(frame, normal_plain(text_of(l, l->t.skip[i].reason))), 0, i);
		}
	}
	bag_match(c, &bag[0], &bag[1], NULL, NULL);
	for (unsigned s = 0; s < 2; s++)
		for (uint32_t i = 0; i < bag[s].n; i++) {
			const struct trace_skip *x = &side_of(c, s)->t.skip[bag[s].v[i].row];
			add_change(c, COMPARE_SKIP, how_of(s), pair_of(side_of(c, s), x->compile), cut(text_of(side_of(c, s), x->reason)));
		}
	bag_free(bag);
}

/* ---- symbols ---- */

static struct slice symbol_text(struct compare *c, const struct compare_log *l, const struct trace_symbol *x)
{
	struct buf b = {0};
	buf_add_slice(&b, text_of(l, x->symbol));
	if (x->value != INTERN_NONE)
		buf_addf(&b, " = %.*s", (int)cut(text_of(l, x->value)).n, text_of(l, x->value).p);
	if (x->range != INTERN_NONE)
		buf_addf(&b, " in %.*s", (int)cut(text_of(l, x->range)).n, text_of(l, x->range).p);
	struct slice s = arena_slice(&c->arena, buf_slice(&b));
	buf_release(&b);
	return s;
}

static void symbol_changed(struct compare *c, void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	const struct trace_symbol *x = &c->a->t.symbol[a], *y = &c->b->t.symbol[b];
	struct compare_change *z = add_change(c, COMPARE_SYMBOL, HOW_CHANGED, pair_of(c->b, y->compile),
					      text_of(c->b, y->source != INTERN_NONE ? y->source : y->symbol));
	z->before = symbol_text(c, c->a, x);
	z->after = symbol_text(c, c->b, y);
	if (y->loc.file != INTERN_NONE)
		z->at = loc_text(c->b, &y->loc);
}

static void special_changed(struct compare *c, void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	const struct trace_special *x = &c->a->t.special[a], *y = &c->b->t.special[b];
	struct compare_change *z = add_change(c, COMPARE_SPECIAL, HOW_CHANGED, pair_of(c->b, y->compile), cut(text_of(c->b, y->sources)));
	z->before = text_of(c->a, x->value);
	z->after = text_of(c->b, y->value);
	if (y->loc.file != INTERN_NONE)
		z->at = loc_text(c->b, &y->loc);
}

static bool matched(const struct compare *c, uint32_t pair) { return pair != NIL && c->pair[pair].a != NIL && c->pair[pair].b != NIL; }

static void compare_symbols(struct compare *c)
{
	struct bag sym[2] = {{0}}, spec[2] = {{0}};
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = side_of(c, s);
		for (uint32_t i = 0; i < l->t.n_symbol; i++) {
			const struct trace_symbol *x = &l->t.symbol[i];
			uint32_t pair = pair_of(l, x->compile);
			if (!matched(c, pair)) /* a compilation of its own tells that already */
				continue;
			uint64_t source =
			    x->source != INTERN_NONE ? hash_slice(text_of(l, x->source)) : join(loc_key(l, &x->loc, false), x->unbacked);
			uint64_t alt = join(join(pair, source), 1);
			bag_add(&sym[s], join(alt, join(normal_plain(text_of(l, x->value)), hash_slice(text_of(l, x->range)))), alt, i);
		}
		for (uint32_t i = 0; i < l->t.n_special; i++) {
			const struct trace_special *x = &l->t.special[i];
			uint32_t pair = pair_of(l, x->compile);
			if (!matched(c, pair))
				continue;
			uint64_t alt = join(join(pair, hash_slice(text_of(l, x->sources))), 2);
			bag_add(&spec[s], join(alt, hash_slice(text_of(l, x->value))), alt, i);
		}
	}
	bag_match(c, &sym[0], &sym[1], symbol_changed, NULL);
	for (unsigned s = 0; s < 2; s++)
		for (uint32_t i = 0; i < sym[s].n; i++) {
			const struct compare_log *l = side_of(c, s);
			const struct trace_symbol *x = &l->t.symbol[sym[s].v[i].row];
			struct compare_change *y = add_change(c, COMPARE_SYMBOL, how_of(s), pair_of(l, x->compile),
							      text_of(l, x->source != INTERN_NONE ? x->source : x->symbol));
			*(s ? &y->after : &y->before) = symbol_text(c, l, x);
			if (x->loc.file != INTERN_NONE)
				y->at = loc_text(l, &x->loc);
		}
	bag_match(c, &spec[0], &spec[1], special_changed, NULL);
	for (unsigned s = 0; s < 2; s++)
		for (uint32_t i = 0; i < spec[s].n; i++) {
			const struct compare_log *l = side_of(c, s);
			const struct trace_special *x = &l->t.special[spec[s].v[i].row];
			struct compare_change *y =
			    add_change(c, COMPARE_SPECIAL, how_of(s), pair_of(l, x->compile), cut(text_of(l, x->sources)));
			*(s ? &y->after : &y->before) = text_of(l, x->value);
			if (x->loc.file != INTERN_NONE)
				y->at = loc_text(l, &x->loc);
		}
	bag_free(sym);
	bag_free(spec);
}

/* ---- compilations ---- */

static void compare_compiles(struct compare *c, bool recompiles)
{
	for (uint32_t i = 0; i < c->n_pair; i++) {
		const struct compare_pair p = c->pair[i];
		const struct compare_unit *a = p.a == NIL ? NULL : &c->a->unit[p.a], *b = p.b == NIL ? NULL : &c->b->unit[p.b];
		struct slice ra = a ? reason_of(c->a, a) : slice_of("", 0), rb = b ? reason_of(c->b, b) : slice_of("", 0);
		if (a && b) {
			if (recompiles && unit_key(c->a, a) != unit_key(c->b, b)) {
				struct compare_change *x = add_change(c, COMPARE_RECOMPILE, HOW_CHANGED, i, slice_of("", 0));
				x->before = cut(ra);
				x->after = cut(rb);
			}
			continue;
		}
		const struct compare_log *l = b ? c->b : c->a;
		const struct compare_unit *u = b ? b : a;
		const struct trace_compile *last = compare_last(l, (uint32_t)(u - l->unit));
		if (l->frame[u->frame].none && u->compile < 0 && !last->artifacts)
			continue; /* a few events outside of any compilation */
		if (recompiles != (u->compile > 0))
			continue;
		struct compare_change *x = add_change(c, recompiles ? COMPARE_RECOMPILE : COMPARE_COMPILE, how_of(b != NULL), i,
						      recompiles ? slice_of("", 0) : text_of(l, l->frame[u->frame].loc.function));
		*(b ? &x->after : &x->before) = cut(b ? rb : ra);
		if (u->seconds > 0)
			x->seconds = b ? u->seconds : -u->seconds;
	}
}

static void compare_times(struct compare *c)
{
	for (uint32_t i = 0; i < c->n_pair; i++) {
		struct compare_pair *p = &c->pair[i];
		double a = p->seconds[0], b = p->seconds[1], d = b - a;
		if (p->a == NIL || p->b == NIL || a < 0 || b < 0 || (d < 0 ? -d : d) < COMPARE_SECONDS ||
		    (b > a ? b < a * COMPARE_RATIO : a < b * COMPARE_RATIO))
			continue;
		p->timed = true;
		struct buf t[2] = {{0}};
		buf_addf(&t[0], "%.3f", a);
		buf_addf(&t[1], "%.3f", b);
		struct compare_change *x = add_change(c, COMPARE_TIME, d > 0 ? HOW_SLOWER : HOW_FASTER, i, slice_of("", 0));
		x->before = arena_slice(&c->arena, buf_slice(&t[0]));
		x->after = arena_slice(&c->arena, buf_slice(&t[1]));
		x->seconds = d;
		buf_release(&t[0]);
		buf_release(&t[1]);
	}
}

/* "fx_graph miss, aotautograd hit": the results of a unit's caches, in order. */
static void cache_results(const struct compare_log *l, uint32_t unit, struct buf *b)
{
	const struct compare_unit *u = &l->unit[unit];
	for (uint32_t i = u->first; i < u->last; i++)
		for (uint32_t k = l->t.compile[l->attempt[i]].first_artifact; k != NIL; k = l->t.artifact[k].next) {
			const struct trace_artifact *a = &l->t.artifact[k];
			struct slice name = text_of(l, a->name);
			const char *cache = slice_find(name, "_cache_");
			if (!(a->flags & (ART_HIT | ART_MISS | ART_BYPASS)) || !cache || b->len > 400)
				continue;
			if (b->len)
				buf_adds(b, ", ");
			buf_add(b, name.p, (size_t)(cache - name.p));
			buf_adds(b, a->flags & ART_HIT ? " hit" : a->flags & ART_MISS ? " miss" : " bypass");
		}
}

static void compare_caches(struct compare *c)
{
	for (uint32_t i = 0; i < c->n_pair; i++) {
		struct buf t[2] = {{0}};
		if (!matched(c, i))
			continue;
		cache_results(c->a, c->pair[i].a, &t[0]);
		cache_results(c->b, c->pair[i].b, &t[1]);
		if (!slice_eq(buf_slice(&t[0]), buf_slice(&t[1]))) {
			struct compare_change *x = add_change(c, COMPARE_CACHE, HOW_CHANGED, i, slice_of("", 0));
			x->before = arena_slice(&c->arena, buf_slice(&t[0]));
			x->after = arena_slice(&c->arena, buf_slice(&t[1]));
		}
		buf_release(&t[0]);
		buf_release(&t[1]);
	}
}

static void metric_row(struct compare *c, uint32_t pair, struct slice name, struct slice before, struct slice after)
{
	struct compare_change *x = add_change(c, COMPARE_METRIC, HOW_CHANGED, pair, name);
	x->before = cut(before);
	x->after = cut(after);
}

static struct slice attempts_text(struct compare *c, const struct compare_unit *u)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", u->last - u->first);
	return arena_slice(&c->arena, slice_of(text, (size_t)n));
}

/* The elements of a list, in any order: sets of Python. */
static uint64_t list_hash(struct slice s)
{
	uint64_t sum = 0;
	for (size_t i = 0, from = 0; i <= s.n; i++)
		if (i == s.n || s.p[i] == ',' || s.p[i] == '[' || s.p[i] == ']') {
			struct slice item = slice_trim(slice_of(s.p + from, i - from));
			sum += item.n ? hash_slice(item) | 1 : 0;
			from = i + 1;
		}
	return sum;
}

static bool same_metric(struct compare *c, const char *name, struct slice a, struct slice b)
{
	if (slice_eq(a, b) || (slice_ends(slice_str(name), "_ops") && list_hash(a) == list_hash(b)))
		return true;
	return normal_hash(&c->normal, a) == normal_hash(&c->normal, b);
}

static void compare_metrics(struct compare *c)
{
	static const char *const status[] = {"missing", "ok", "empty", "break", "error"};
	for (uint32_t i = 0; i < c->n_pair; i++) {
		if (!matched(c, i))
			continue;
		const struct compare_unit *a = &c->a->unit[c->pair[i].a], *b = &c->b->unit[c->pair[i].b];
		const struct trace_compile *x = compare_last(c->a, c->pair[i].a), *y = compare_last(c->b, c->pair[i].b);
		const struct compare_facts *fa = &c->a->facts[x - c->a->t.compile], *fb = &c->b->facts[y - c->b->t.compile];
		if (x->status != y->status)
			metric_row(c, i, SLICE("status"), slice_str(status[x->status]), slice_str(status[y->status]));
		if (a->last - a->first != b->last - b->first)
			metric_row(c, i, SLICE("attempts"), attempts_text(c, a), attempts_text(c, b));
		for (unsigned k = 0; k < COMPARE_METRICS; k++) {
			struct slice before = intern_get(&c->a->texts, fa->metric[k]), after = intern_get(&c->b->texts, fb->metric[k]);
			if (before.n && after.n && !same_metric(c, metric_name[k], before, after))
				metric_row(c, i, slice_str(metric_name[k]), before, after);
		}
	}
}

/* ---- artifacts ---- */

struct item {
	uint64_t key; /* attempt from the last back, name without its numbers */
	uint64_t hash;
	uint32_t artifact;
};

static int by_item(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->artifact < y->artifact ? -1 : x->artifact > y->artifact;
}

static uint64_t name_key(struct slice name)
{
	uint64_t key = 5;
	size_t from = 0;
	if (slice_starts(name, "inductor_output_code_"))
		return 1;
	for (size_t i = 0; i <= name.n; i++)
		if (i == name.n || (name.p[i] >= '0' && name.p[i] <= '9')) {
			if (i > from)
				key = join(key, hash_bytes(name.p + from, i - from));
			from = i + 1;
		}
	return key;
}

static bool told_elsewhere(struct slice name)
{
	return slice_is(name, "recompile_reasons") || slice_is(name, "dynamo_graph_break_reason") || slice_is(name, "torch_version") ||
	       slice_is(name, config_name[CONFIG_ARTIFACT]);
}

static uint32_t list_items(const struct compare_log *l, uint32_t unit, bool guards, struct item **item, uint32_t *cap)
{
	const struct compare_unit *u = &l->unit[unit];
	uint32_t n = 0;
	for (uint32_t i = u->first; i < u->last; i++)
		for (uint32_t k = l->t.compile[l->attempt[i]].first_artifact; k != NIL; k = l->t.artifact[k].next) {
			const struct trace_artifact *a = &l->t.artifact[k];
			struct slice name = text_of(l, a->name);
			if (a->flags & (ART_LINK | ART_NO_PAYLOAD) || !l->artifact[k].lines || is_guards(a->kind) != guards ||
			    told_elsewhere(name))
				continue;
			GROW(*item, n, *cap, 1);
			(*item)[n++] = (struct item){join(u->last - i, name_key(name)), l->artifact[k].hash, k};
		}
	if (n)
		qsort(*item, n, sizeof(**item), by_item);
	return n;
}

static void artifact_row(struct compare *c, unsigned side, uint32_t pair, uint32_t artifact)
{
	const struct compare_log *l = side_of(c, side);
	const struct trace_artifact *a = &l->t.artifact[artifact];
	if (a->flags & (ART_HIT | ART_MISS | ART_BYPASS))
		return; /* the caches' own rows say so */
	add_change(c, COMPARE_ARTIFACT, how_of(side), pair, text_of(l, a->name));
}

/* Artifacts of one name: those with equal texts first, the rest by order. */
static void match_items(struct compare *c, uint32_t pair, const struct item *a, uint32_t na, const struct item *b, uint32_t nb)
{
	if (na == 1 && nb == 1 && a->hash == b->hash)
		return;
	uint64_t *key[2] = {xcalloc(na + 1u, sizeof(uint64_t)), xcalloc(nb + 1u, sizeof(uint64_t))};
	for (uint32_t i = 0; i < na; i++)
		key[0][i] = a[i].hash;
	for (uint32_t i = 0; i < nb; i++)
		key[1][i] = b[i].hash;
	linediff_keys(&c->normal.diff, key[0], na, key[1], nb);
	for (uint32_t i = 0; i < c->normal.diff.n; i++) {
		const struct linediff_row *r = &c->normal.diff.row[i];
		if (r->same)
			continue;
		if (r->a == LINEDIFF_NONE || r->b == LINEDIFF_NONE) {
			artifact_row(c, r->a == LINEDIFF_NONE, pair, r->a == LINEDIFF_NONE ? b[r->b].artifact : a[r->a].artifact);
			continue;
		}
		GROW(c->text, c->n_text, c->cap_text, 1);
		c->text[c->n_text++] = (struct compare_text){.pair = pair, .a = a[r->a].artifact, .b = b[r->b].artifact, .same_as = NIL};
	}
	free(key[0]);
	free(key[1]);
}

static int by_artifact(const void *a, const void *b)
{
	const struct compare_text *x = a, *y = b;
	return x->pair != y->pair ? (x->pair < y->pair ? -1 : 1) : x->b < y->b ? -1 : x->b > y->b;
}

static void compare_artifacts(struct compare *c)
{
	uint32_t cap[2] = {64, 64}, n[2];
	struct item *item[2] = {xcalloc(cap[0], sizeof(**item)), xcalloc(cap[1], sizeof(**item))}; /* never NULL: NULL + 0 is undefined */
	for (uint32_t p = 0; p < c->n_pair; p++) {
		if (!matched(c, p))
			continue;
		n[0] = list_items(c->a, c->pair[p].a, false, &item[0], &cap[0]);
		n[1] = list_items(c->b, c->pair[p].b, false, &item[1], &cap[1]);
		for (uint32_t i = 0, j = 0; i < n[0] || j < n[1];) {
			uint64_t key = i < n[0] && (j == n[1] || item[0][i].key <= item[1][j].key) ? item[0][i].key : item[1][j].key;
			uint32_t ei = i, ej = j;
			while (ei < n[0] && item[0][ei].key == key)
				ei++;
			while (ej < n[1] && item[1][ej].key == key)
				ej++;
			match_items(c, p, item[0] + i, ei - i, item[1] + j, ej - j);
			i = ei;
			j = ej;
		}
	}
	free(item[0]);
	free(item[1]);
	if (c->n_text)
		qsort(c->text, c->n_text, sizeof(*c->text), by_artifact);
}

/* ---- guards ---- */

struct guard {
	struct slice text, note;
};

static void list_of_guards(struct slice text, struct guard **v, uint32_t *n, uint32_t *cap)
{
	struct slice line, guard, note;
	*n = 0;
	while (slice_line(&text, &line))
		if (normal_guard(line, &guard, &note)) {
			GROW(*v, *n, *cap, 1);
			(*v)[(*n)++] = (struct guard){guard, note};
		}
}

struct guards {
	struct guard *v[2];
	uint32_t n[2], cap[2], pair;
};

static void guard_row(struct compare *c, const struct guards *g, enum compare_how how, const struct guard *a, const struct guard *b)
{
	struct compare_change *x = add_change(c, COMPARE_GUARD, how, g->pair, slice_of("", 0));
	if (a)
		x->before = arena_slice(&c->arena, cut(a->text));
	if (b)
		x->after = arena_slice(&c->arena, cut(b->text));
	struct srcloc at;
	struct slice note = b ? b->note : a->note;
	const char *last = note.n ? slice_find(note, "# ") : NULL;
	for (const char *next = last; next;
	     last = next, next = slice_find(slice_of(last + 2, (size_t)(note.p + note.n - last - 2)), "  # "))
		if (next == last && next != note.p)
			break;
	if (last && srcloc_parse(slice_of(last, (size_t)(note.p + note.n - last)), &at) && at.file.n) {
		struct slice code = slice_trim(slice_of(note.p + 1, note.n > 1 ? (size_t)(last - note.p > 1 ? last - note.p - 1 : 0) : 0));
		x->at = (struct compare_loc){arena_slice(&c->arena, at.file), arena_slice(&c->arena, at.func), arena_slice(&c->arena, code),
					     at.line};
	}
}

static void guard_changed(struct compare *c, void *ctx, uint32_t a, uint32_t b)
{
	struct guards *g = ctx;
	guard_row(c, g, HOW_CHANGED, &g->v[0][a], &g->v[1][b]);
}

/* "TENSOR_MATCH: check_tensor(L['x']": what the guard is about. */
static uint64_t guard_about(struct slice guard)
{
	const char *comma = memchr(guard.p, ',', guard.n), *eq = slice_find(guard, " == ");
	const char *end = guard.p + guard.n;
	if (comma)
		end = comma;
	if (eq && eq < end)
		end = eq;
	return hash_bytes(guard.p, (size_t)(end - guard.p));
}

static bool read_guards(struct compare *c, struct compare_log *l, uint32_t artifact, struct buf *out)
{
	struct buf raw = {0};
	bool ok = compare_payload(l, artifact, &raw);
	c->read += raw.len;
	buf_reset(out);
	if (ok && l->t.artifact[artifact].kind == KIND_dynamo_guards)
		ok = list_guards(buf_slice(&raw), &l->t.tape, out);
	else if (ok)
		buf_add_slice(out, buf_slice(&raw));
	buf_release(&raw);
	return ok;
}

struct seen_pair {
	uint64_t a, b;
};

static void compare_guards(struct compare *c)
{
	uint32_t cap[2] = {64, 64}, n[2];
	struct item *item[2] = {xcalloc(cap[0], sizeof(**item)), xcalloc(cap[1], sizeof(**item))}; /* never NULL: NULL + 0 is undefined */
	struct intern seen = {0};
	struct guards g = {0};
	struct buf text[2] = {{0}};
	for (uint32_t p = 0; p < c->n_pair; p++) {
		if (!matched(c, p))
			continue;
		n[0] = list_items(c->a, c->pair[p].a, true, &item[0], &cap[0]);
		n[1] = list_items(c->b, c->pair[p].b, true, &item[1], &cap[1]);
		for (uint32_t i = 0, j = 0; i < n[0] && j < n[1];) {
			if (item[0][i].key != item[1][j].key) {
				*(item[0][i].key < item[1][j].key ? &i : &j) += 1;
				continue;
			}
			const struct item *a = &item[0][i++], *b = &item[1][j++];
			if (a->hash == b->hash)
				continue;
			struct seen_pair pair = {a->hash, b->hash};
			uint32_t before = seen.n, k = intern_add(&seen, slice_of((const char *)&pair, sizeof(pair)));
			if (k < before || c->read > COMPARE_READ) {
				struct compare_change *x = add_change(c, COMPARE_GUARD, HOW_CHANGED, p,
								      k < before ? SLICE("the same guards as in a compilation above")
										 : SLICE("guards differ; not listed"));
				x->count = 0;
				continue;
			}
			if (!read_guards(c, c->a, a->artifact, &text[0]) || !read_guards(c, c->b, b->artifact, &text[1])) {
				c->unread++;
				add_change(c, COMPARE_GUARD, HOW_CHANGED, p, SLICE("guards differ; they could not be read again"));
				continue;
			}
			struct bag bag[2] = {{0}};
			for (unsigned s = 0; s < 2; s++) {
				list_of_guards(buf_slice(&text[s]), &g.v[s], &g.n[s], &g.cap[s]);
				for (uint32_t q = 0; q < g.n[s]; q++)
					bag_add(&bag[s], normal_guard_hash(g.v[s][q].text), guard_about(g.v[s][q].text), q);
			}
			g.pair = p;
			bag_match(c, &bag[0], &bag[1], guard_changed, &g);
			for (unsigned s = 0; s < 2; s++)
				for (uint32_t q = 0; q < bag[s].n; q++) {
					const struct guard *x = &g.v[s][bag[s].v[q].row];
					guard_row(c, &g, how_of(s), s ? NULL : x, s ? x : NULL);
				}
			bag_free(bag);
		}
	}
	for (unsigned s = 0; s < 2; s++) {
		free(item[s]);
		free(g.v[s]);
		buf_release(&text[s]);
	}
	intern_release(&seen);
}

/* ---- texts, side by side ---- */

struct diffing {
	struct compare *c;
	uint32_t next;
};
struct diff_slot {
	struct normal normal;
	struct buf text[2], unfolded[2], out;
	uint32_t row;
	bool failed, same;
};

static int diff_next(void *ctx, void *slot)
{
	struct diffing *d = ctx;
	struct diff_slot *x = slot;
	struct compare *c = d->c;
	while (d->next < c->n_text && (c->text[d->next].same_as != NIL || !c->text[d->next].shown))
		d->next++;
	if (d->next == c->n_text)
		return 0;
	x->row = d->next++;
	return 1;
}

static void put_hunks(const struct normal *n, struct buf *out, struct compare_text *t)
{
	enum { CONTEXT = 3 };
	const struct linediff *d = &n->diff;
	const struct slice *line[2] = {n->side[0].line, n->side[1].line};
	uint32_t at[2] = {0, 0}; /* lines before row i */
	for (uint32_t i = 0; i < d->n;) {
		uint32_t from = i;
		while (i < d->n && d->row[i].same)
			i++;
		if (i == d->n)
			break;
		uint32_t first = i - from > CONTEXT ? i - CONTEXT : from, end = i;
		/* On to where more than two contexts are the same. */
		for (uint32_t k = i, same = 0; k < d->n && same <= 2 * CONTEXT; k++) {
			same = d->row[k].same ? same + 1 : 0;
			if (!same)
				end = k + 1;
		}
		uint32_t stop = d->n - end > CONTEXT ? end + CONTEXT : d->n;
		at[0] += first - from;
		at[1] += first - from;
		uint32_t na = 0, nb = 0;
		for (uint32_t k = first; k < stop; k++) {
			na += d->row[k].a != LINEDIFF_NONE;
			nb += d->row[k].b != LINEDIFF_NONE;
		}
		bool room = out->len < COMPARE_TEXT_BYTES;
		if (room)
			buf_addf(out, "@@ -%u,%u +%u,%u @@\n", at[0] + 1, na, at[1] + 1, nb);
		else
			t->left_out += na + nb;
		for (uint32_t k = first; k < stop && room;) {
			const struct linediff_row *r = &d->row[k];
			if (r->same) {
				struct slice x = line[0][r->a], y = line[1][r->b];
				buf_addc(out, slice_eq(x, y) ? ' ' : '~');
				buf_add_slice(out, y);
				buf_addc(out, '\n');
				k++;
				continue;
			}
			uint32_t e = k;
			while (e < stop && !d->row[e].same)
				e++;
			for (unsigned s = 0; s < 2; s++)
				for (uint32_t q = k; q < e; q++) {
					uint32_t l = s ? d->row[q].b : d->row[q].a;
					if (l == LINEDIFF_NONE)
						continue;
					if (out->len > 2 * COMPARE_TEXT_BYTES) {
						t->left_out++;
						continue;
					}
					struct slice text = line[s][l];
					if (text.n > 20000)
						text.n = 20000;
					buf_addc(out, s ? '+' : '-');
					buf_add_slice(out, text);
					buf_addc(out, '\n');
				}
			k = e;
		}
		at[0] += na;
		at[1] += nb;
		i = stop;
	}
	for (uint32_t i = 0; i < d->n; i++)
		if (!d->row[i].same) {
			t->removed += d->row[i].a != LINEDIFF_NONE;
			t->added += d->row[i].b != LINEDIFF_NONE;
		}
	t->coarse = d->coarse;
}

static int diff_work(void *ctx, void *slot)
{
	struct diffing *d = ctx;
	struct diff_slot *x = slot;
	struct compare *c = d->c;
	struct compare_text *t = &c->text[x->row];
	buf_reset(&x->out);
	x->same = false;
	x->failed = !compare_payload(c->a, t->a, &x->text[0]) || !compare_payload(c->b, t->b, &x->text[1]);
	if (x->failed)
		return 0;
	struct slice text[2] = {buf_slice(&x->text[0]), buf_slice(&x->text[1])};
	bool unfolded = true;
	for (unsigned s = 0; s < 2; s++) {
		buf_reset(&x->unfolded[s]);
		unfolded = unfolded && normal_unfold(text[s], &x->unfolded[s]);
	}
	if (unfolded)
		for (unsigned s = 0; s < 2; s++)
			text[s] = buf_slice(&x->unfolded[s]);
	if (normal_diff(&x->normal, text[0], text[1]))
		put_hunks(&x->normal, &x->out, t);
	else
		x->same = true;
	return 0;
}

static int diff_keep(void *ctx, void *slot)
{
	struct diffing *d = ctx;
	struct diff_slot *x = slot;
	struct compare *c = d->c;
	struct compare_text *t = &c->text[x->row];
	if (x->failed)
		c->unread++;
	else if (c->shown + x->out.len <= COMPARE_BYTES)
		t->diff = arena_slice(&c->arena, buf_slice(&x->out));
	c->shown += x->out.len;
	t->shown = t->diff.n > 0;
	if (x->same)
		t->pair = NIL; /* dropped below */
	return 0;
}

static void compare_texts(struct compare *c)
{
	struct intern seen = {0};
	uint32_t *first = NULL, cap = 0, shown = 0;
	/* The same change in twenty compilations is shown once. */
	for (uint32_t i = 0; i < c->n_text; i++) {
		struct compare_text *t = &c->text[i];
		struct seen_pair pair = {c->a->artifact[t->a].hash, c->b->artifact[t->b].hash};
		uint32_t n = seen.n, k = intern_add(&seen, slice_of((const char *)&pair, sizeof(pair)));
		if (k < n) {
			t->same_as = first[k];
			continue;
		}
		GROW(first, k, cap, 1);
		first[k] = i;
		uint64_t size = (uint64_t)c->a->t.artifact[t->a].size + c->b->t.artifact[t->b].size;
		if (shown < COMPARE_TEXTS && c->read + size <= COMPARE_READ) {
			t->shown = true;
			c->read += size;
			shown++;
		}
	}
	free(first);
	intern_release(&seen);
	struct diffing d = {c, 0};
	unsigned threads = cpu_count();
	void *slots[16];
	threads = threads > ARRAY_LEN(slots) ? ARRAY_LEN(slots) : threads > shown ? shown + !shown : threads;
	for (unsigned i = 0; i < threads; i++)
		slots[i] = xcalloc(1, sizeof(struct diff_slot));
	const struct pipeline p = {&d, diff_next, diff_work, NULL, NULL, diff_keep};
	pipeline_run(&p, slots, threads);
	for (unsigned i = 0; i < threads; i++) {
		struct diff_slot *x = slots[i];
		normal_release(&x->normal);
		for (unsigned s = 0; s < 2; s++) {
			buf_release(&x->text[s]);
			buf_release(&x->unfolded[s]);
		}
		buf_release(&x->out);
		free(x);
	}
	/* Rows that turned out to be the same, and what refers to them. */
	uint32_t *to = xcalloc(c->n_text + 1u, sizeof(*to)), n = 0;
	for (uint32_t i = 0; i < c->n_text; i++) {
		struct compare_text t = c->text[i];
		to[i] = NIL;
		if (t.same_as != NIL) {
			t.same_as = to[t.same_as];
			if (t.same_as == NIL)
				continue;
			t.added = c->text[t.same_as].added;
			t.removed = c->text[t.same_as].removed;
			t.shown = c->text[t.same_as].shown;
		} else if (t.pair == NIL) {
			continue;
		}
		to[i] = n;
		c->text[n++] = t;
		c->pair[t.pair].texts++;
		c->texts_left += !t.shown;
	}
	c->n_text = n;
	free(to);
}

/* ---- all of it ---- */

void compare_run(struct compare *c, struct compare_log *a, struct compare_log *b)
{
	*c = (struct compare){.a = a ? a : &c->none, .b = b ? b : &c->none, .none = {.fd = -1}};
	match_frames(c);
	match_units(c);
	compare_versions(c);
	compare_configs(c);
	compare_failures(c);
	compare_breaks(c);
	compare_compiles(c, true);
	compare_compiles(c, false);
	compare_times(c);
	compare_caches(c);
	compare_guards(c);
	compare_symbols(c);
	compare_skips(c);
	compare_metrics(c);
	compare_artifacts(c);
	compare_texts(c);
}

void compare_release(struct compare *c)
{
	arena_release(&c->arena);
	free(c->pair);
	free(c->change);
	free(c->text);
	normal_release(&c->normal);
	*c = (struct compare){0};
}
