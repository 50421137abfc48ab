/* compare_read.c - reads a log for a comparison. */
#include "base/io/inflate.h"
#include "compare/compare_part.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const compare_config_name[COMPARE_CONFIGS] = {"dynamo_config", "inductor_config", "functorch_config", "compiler_config",
							  "torch._functorch.config"};

const char *const compare_version_name[COMPARE_VERSIONS] = {"pytorch_version", "python_version", "triton_version",
							    "cuda_version",    "commit",         "hip_version"};

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
	LOCAL_BUF b = {0};
	if (!value.n || slice_is(value, "null"))
		return;
	buf_adds(&b, name);
	buf_addc(&b, 0);
	buf_add_slice(&b, value);
	if (l->versions.n < 64)
		intern_add(&l->versions, buf_slice(&b));
}

static struct compare_configs *configs_of(struct compare_log *l, uint32_t attempt)
{
	while (l->n_configs <= attempt)
		memset(&PUSH(l, configs), 0xff, sizeof(*l->configs));
	return &l->configs[attempt];
}

static void take_versions(struct compare_log *l, const struct json_tape *tape, uint32_t v)
{
	for (unsigned i = 0; i < ARRAY_LEN(compare_version_name); i++) {
		uint32_t k = json_get(tape, v, compare_version_name[i]);
		if (json_is(tape, k, JSON_STRING))
			take_version(l, compare_version_name[i], json_slice(tape, k));
	}
}

/* At most this many different configuration texts per log; a run has one or two. */
enum { COMPARE_CONFIG_TEXTS = 4096 };

static int take_record(void *ctx, struct trace_scan *s, struct trace_record *r)
{
	struct reading *x = ctx;
	struct compare_log *l = x->l;
	const struct json_tape *tape = &s->tape;
	if (r->flags & (REC_NO_PREFIX | REC_NO_JSON | REC_MALFORMED | REC_LOOSE | REC_OTHER_RANK) || r->attempt == NONE)
		return 0;
	uint32_t v = trace_value(s, r, KIND_compilation_metrics);
	if (v != NONE) {
		for (unsigned i = 0; i < COMPARE_ARTIFACT_CONFIG; i++) {
			uint32_t k = json_get(tape, v, compare_config_name[i]);
			if (json_is(tape, k, JSON_STRING) && l->texts.n < COMPARE_CONFIG_TEXTS)
				configs_of(l, r->attempt)->text[i] = intern_add(&l->texts, json_raw(tape, k));
		}
		take_versions(l, tape, v);
	}
	v = trace_value(s, r, KIND_artifact);
	if (v != NONE && r->payload_len < 1 << 20) {
		uint32_t name = json_get(tape, v, "name");
		struct slice n = name == NONE ? slice_of("", 0) : json_slice(tape, name), payload = trace_payload(s, r);
		if (slice_is(n, compare_config_name[COMPARE_ARTIFACT_CONFIG]) && l->texts.n < COMPARE_CONFIG_TEXTS) {
			configs_of(l, r->attempt)->text[COMPARE_ARTIFACT_CONFIG] = intern_add(&l->texts, payload);
		} else if (slice_is(n, "torch_version")) {
			uint32_t root;
			json_tape_text(&l->t.tape, payload.p, payload.n);
			if (json_parse(&l->t.tape, 0, payload.n, &root) == 0)
				take_versions(l, &l->t.tape, root);
		}
	}
	return 0;
}

bool compare_list_guards(struct slice payload, struct json_tape *tape, struct buf *out)
{
	uint32_t root;
	json_tape_text(tape, payload.p, payload.n);
	if (json_parse(tape, 0, payload.n, &root) < 0 || !json_is(tape, root, JSON_ARRAY))
		return false;
	json_each(tape, root, k) {
		uint32_t code = json_get(tape, k, "code");
		if (!json_is(tape, code, JSON_STRING))
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
			hash = compare_list_guards(text, &x->tape, &x->tmp) ? normal_guards(buf_slice(&x->tmp))
									    : normal_hash(&x->normal, text);
		} else {
			hash = normal_hash(&x->normal, text);
		}
		PUSH_TO(x->row, x->n, x->cap) = (struct hashed){i, hash};
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
	char head[INFLATE_MAGIC] = {0};
	size_t n = strcmp(path, "-") != 0 ? input_head(path, head, sizeof(head)) : 0, need = inflate_magic(head, n);
	if (n < 2 || (need && need <= n))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static void build_units(struct compare_log *l);

/* Attempts without a configuration have NONE for each. */
static void finish_log(struct compare_log *l)
{
	if (l->t.f->n_attempt)
		configs_of(l, l->t.f->n_attempt - 1);
	build_units(l);
}

static int read_trace(struct compare_log *l, const char *path, int (*spool)(struct err *err), const struct trace_hooks *hooks,
		      struct err *err)
{
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
	if (trace_read_facts(&l->t, &(struct facts_options){.keys = true, .no_phases = true}, &h, err) < 0)
		return -1;
	facts_frames(l->t.f);
	while (l->n_artifact < l->t.n_artifact)
		PUSH(l, artifact) = (struct compare_artifact){0, 0, 0};
	return 0;
}

int compare_read(struct compare_log *l, const char *path, int (*spool)(struct err *err), const struct trace_hooks *hooks, struct err *err)
{
	*l = (struct compare_log){.fd = -1, .inputs = 1};
	trace_init(&l->t, path, NULL);
	int status = read_trace(l, path, spool, hooks, err);
	if (status == 0)
		finish_log(l);
	else
		compare_log_release(l);
	return status;
}

/* Its rows are compared; a document has no artifacts. */
void compare_input(struct compare_log *l, const char *path, const struct facts *all, uint32_t input)
{
	*l = (struct compare_log){.fd = -1, .inputs = all->n_input, .document = true};
	trace_init(&l->t, path, NULL);
	facts_of_input(l->t.f, all, input);
	l->t.rank = l->t.f->input[0].rank;
	l->t.torch_version = l->t.f->input[0].torch_version;
	take_version(l, "pytorch_version", facts_text(l->t.f, l->t.torch_version));
	finish_log(l);
}

void compare_log_release(struct compare_log *l)
{
	if (l->fd >= 0)
		close(l->fd);
	trace_release(&l->t);
	intern_release(&l->texts);
	intern_release(&l->versions);
	free(l->artifact);
	free(l->configs);
	free(l->unit);
	free(l->frame);
	free(l->attempt);
	free(l->unit_of);
	*l = (struct compare_log){.fd = -1};
}

/* Each line of a payload follows a tab, possibly preceded by a job scheduler's label; blank lines are skipped. */
bool compare_payload(struct compare_log *l, uint32_t artifact, struct buf *out)
{
	const struct compare_artifact *a = &l->artifact[artifact];
	uint64_t at = a->offset;
	uint32_t size = l->t.artifact[artifact].size, lines = 0;
	LOCAL_BUF raw = {0};
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
			buf_wrote(&raw, (size_t)n);
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
		buf_cut(&raw, rest);
		if (end || out->len > size)
			break;
	}
	return ok && lines == a->lines && out->len == size;
}

/* ---- units and frames ---- */

const struct fact_attempt *compare_last(const struct compare_log *l, uint32_t unit)
{
	return &l->t.f->attempt[l->attempt[l->unit[unit].last - 1]];
}

static struct fact_loc attempt_place(const struct compare_log *l, const struct fact_attempt *c)
{
	if (c->loc.file != NONE || c->stack == NONE)
		return c->loc;
	const struct trace_frame *f = &l->t.frame[l->t.starts.node[c->stack].frame];
	return (struct fact_loc){f->file, f->line > 0 ? (uint32_t)f->line : 0, f->name, f->code};
}

struct sort_row {
	const struct fact_attempt *of;
	const struct compile_id *id;
	uint32_t row;
};

static int by_id(const void *a, const void *b)
{
	const struct sort_row *x = a, *y = b;
	int64_t p[6] = {x->of->process, x->of->generation, x->id->autograd, x->id->frame, x->id->compile, x->id->attempt};
	int64_t q[6] = {y->of->process, y->of->generation, y->id->autograd, y->id->frame, y->id->compile, y->id->attempt};
	for (unsigned i = 0; i < 6; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return x->row < y->row ? -1 : 1;
}

static void build_units(struct compare_log *l)
{
	const struct trace *t = &l->t;
	FREED struct sort_row *row = xcalloc(t->f->n_attempt + 1u, sizeof(*row));
	l->attempt = xcalloc(t->f->n_attempt + 1u, sizeof(*l->attempt));
	l->unit_of = xcalloc(t->f->n_attempt + 1u, sizeof(*l->unit_of));
	for (uint32_t i = 0; i < t->f->n_attempt; i++)
		row[i] = (struct sort_row){&t->f->attempt[i], &t->f->attempt[i].id, i};
	if (t->f->n_attempt)
		qsort(row, t->f->n_attempt, sizeof(*row), by_id);
	const struct fact_attempt *last = NULL;
	for (uint32_t i = 0; i < t->f->n_attempt; i++) {
		const struct fact_attempt *c = &t->f->attempt[row[i].row];
		const struct compile_id *id = &c->id;
		bool same_frame = last && last->process == c->process && last->generation == c->generation &&
				  last->id.autograd == id->autograd && last->id.frame == id->frame;
		if (!same_frame) {
			PUSH(l, frame) = (struct compare_frame){{NONE, 0, NONE, NONE}, l->n_unit, l->n_unit, NONE, 0, id->frame < 0};
		}
		struct compare_frame *f = &l->frame[l->n_frame - 1];
		if (!same_frame || last->id.compile != id->compile) {
			PUSH(l, unit) = (struct compare_unit){l->n_frame - 1, i, i, id->compile, NONE, NONE, -1};
			f->last = l->n_unit;
		}
		struct compare_unit *u = &l->unit[l->n_unit - 1];
		l->attempt[i] = row[i].row;
		l->unit_of[row[i].row] = l->n_unit - 1;
		u->last = i + 1;
		if (c->compile != NONE)
			u->seconds = t->f->compile[c->compile].seconds;
		else if (c->seconds >= 0) /* without a compile id */
			u->seconds = (u->seconds < 0 ? 0 : u->seconds) + c->seconds;
		if (f->loc.file == NONE)
			f->loc = attempt_place(l, c);
		for (uint32_t a = c->first_artifact; a != NONE && !f->signature; a = t->artifact[a].next)
			if (t->artifact[a].kind == KIND_dynamo_output_graph)
				f->signature = l->artifact[a].hash;
		last = c;
	}
	for (uint32_t i = 0; i < t->f->n_recompile; i++)
		if (t->f->recompile[i].src.attempt < t->f->n_attempt) {
			struct compare_unit *u = &l->unit[l->unit_of[t->f->recompile[i].src.attempt]];
			if (u->recompile == NONE)
				u->recompile = i;
		}
}
