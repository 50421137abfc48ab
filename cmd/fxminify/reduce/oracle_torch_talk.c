/* oracle_torch_talk.c - writes messages to the torch process and interprets its answers. oracle_torch.h has the protocol. */
#include "base/base64.h"
#include "base/text.h"
#include "graph/fxcode.h"
#include "reduce/oracle_torch_part.h"

#include <dirent.h>

#define RECORD_LIMIT (16ull << 30)

static void begin_message(struct json_out *o, struct buf *b, const char *op)
{
	*o = (struct json_out){.b = b};
	json_obj(o);
	json_member_str(o, "op", slice_str(op));
}

static void end_message(struct json_out *o)
{
	json_close(o);
	buf_addc(o->b, '\n');
}

/* A size: an integer, or an expression that the remote side evaluates with the original's symbols. */
static void out_size(struct json_out *o, const struct symtab *tab, struct symsize s)
{
	if (symsize_is_int(s)) {
		json_out_i64(o, s.k);
		return;
	}
	LOCAL_BUF text = {0};
	symsize_print(tab, s, &text);
	json_out_str(o, buf_slice(&text));
}

static void out_meta(struct json_out *o, const struct graph *g, uint32_t meta)
{
	const struct gmeta *m = meta == NONE ? NULL : &g->meta[meta];
	if (!m || m->kind != GMETA_TENSOR || m->dtype < 0) {
		json_out_null(o);
		return;
	}
	json_obj(o);
	json_member_str(o, "dtype", slice_str(dtype_name(m->dtype)));
	json_member_arr(o, "size");
	for (uint32_t i = 0; i < m->n_dim; i++)
		out_size(o, &g->tab, g->dim[m->dim + i]);
	json_close(o);
	if (m->has_stride) {
		json_member_arr(o, "stride");
		for (uint32_t i = 0; i < m->n_dim; i++)
			out_size(o, &g->tab, g->dim[m->dim + m->n_dim + i]);
		json_close(o);
	}
	if (m->device != NONE)
		json_member_str(o, "device", graph_text(g, m->device));
	if (m->requires_grad)
		json_member_bool(o, "requires_grad", true);
	json_close(o);
}

/* ---- start ---- */

/* Lines whose removal does not require another process: the torch process sets or refuses them itself (REFUSED of oracle.py), or the result
 * will not have them. */
static bool env_has_no_say(struct slice name)
{
	static const char *const names[] = {"TORCHINDUCTOR_COMPILE_THREADS", "TORCHINDUCTOR_WORKER_START", "OMP_NUM_THREADS", "PATH",
					    "HOME"};
	static const char *const starts[] = {"TORCHINDUCTOR_FX_GRAPH",
					     "TORCHINDUCTOR_AUTOGRAD",
					     "TORCHINDUCTOR_FORCE_DISABLE_CACHES",
					     "TORCHDYNAMO_REPRO_",
					     "AOTINDUCTOR_REPRO_",
					     "TORCH_COMPILE_DEBUG",
					     "TORCH_LOGS",
					     "LD_",
					     "PYTHON"};
	return slice_any(name, names, slice_is) || slice_any(name, starts, slice_starts) || repro_env_is_private(name);
}

void talk_env(const struct repro_line *line, size_t n, struct buf *b)
{
	struct json_out o = {.b = b};
	json_arr(&o);
	for (size_t i = 0; i < n; i++) {
		if ((line[i].kind != REPRO_ENV_SET && line[i].kind != REPRO_ENV_POP) || env_has_no_say(line[i].name))
			continue;
		json_arr(&o);
		json_out_str(&o, line[i].name);
		if (line[i].kind == REPRO_ENV_SET)
			json_out_str(&o, line[i].value);
		else
			json_out_null(&o);
		json_close(&o);
	}
	json_close(&o);
}

void talk_start(const struct oracle_torch_spec *spec, enum talk_mode mode, struct slice env, struct buf *b)
{
	struct json_out o;
	begin_message(&o, b, "start");
	json_member_str(&o, "mode", mode == TALK_VERIFY ? SLICE("verify") : spec->record_only ? SLICE("record") : SLICE("oracle"));
	json_member_raw(&o, "env", env);
	json_member_u64(&o, "jobs", spec->jobs ? spec->jobs : 1);
	json_member_double(&o, "timeout", spec->timeout_ms / 1000.0, 3);
	json_member_bool(&o, "fresh", spec->fresh);
	json_member_u64(&o, "memory", spec->max_memory);
	json_member_arr(&o, "path");
	for (size_t i = 0; spec->path && spec->path[i]; i++)
		json_out_str(&o, slice_str(spec->path[i]));
	json_close(&o);
	end_message(&o);
}

/* ---- the original ---- */

void talk_head(const struct repro *r, struct buf *b)
{
	for (size_t i = 0; i < r->n_lines; i++) {
		const struct repro_line *l = &r->line[i];
		if (l->kind == REPRO_IMPORT || l->kind == REPRO_CONFIG || l->kind == REPRO_TRITON || l->kind == REPRO_OTHER) {
			buf_add_slice(b, l->text);
			buf_addc(b, '\n');
		}
	}
}

static void out_symbols(struct json_out *o, const struct repro *r)
{
	OWNED(symbind_release) struct symbind env = {0};
	repro_bind(r, &env);
	json_member_obj(o, "symbols");
	for (uint32_t i = 0; i < env.n; i++) {
		int64_t v;
		if (!symbind_get(&env, i, &v))
			continue;
		json_key_slice(o, symtab_name(&r->graph.tab, i));
		json_out_i64(o, v);
	}
	json_close(o);
}

static void out_input(struct json_out *o, const struct repro *r, const struct repro_input *in)
{
	json_obj(o);
	json_member_str(o, "kind", slice_str(repro_input_word[in->kind]));
	json_member_str(o, "name", in->name);
	if (in->kind == REPRO_TENSOR) {
		json_key(o, "meta");
		out_meta(o, &r->graph, in->meta);
		json_member_index(o, "storage", in->storage);
		json_key(o, "offset");
		out_size(o, &r->graph.tab, in->offset);
		json_fields(o, *in, is_leaf, requires_grad);
		json_member_str(o, "extra", in->extra);
	} else if (in->kind == REPRO_SYMINT) {
		json_key(o, "value");
		out_size(o, &r->graph.tab, in->value);
	}
	json_close(o);
}

static void out_base64(struct json_out *o, const char *key, struct slice bytes)
{
	LOCAL_BUF b = {0};
	buf_addc(&b, '"');
	base64_add(&b, bytes.p, bytes.n);
	buf_addc(&b, '"');
	json_member_raw(o, key, buf_slice(&b));
}

/* Refers to a file here; sends the bytes themselves if it cannot be read there. */
static int out_storage(struct json_out *o, const struct repro *r, uint32_t i, bool remote, struct err *err)
{
	const struct repro_storage *s = &r->storage[i];
	LOCAL_BUF path = {0};
	int status = 0;
	json_obj(o);
	json_member_str(o, "hash", s->hash);
	json_key(o, "nbytes");
	out_size(o, &r->graph.tab, s->nbytes);
	json_member_some(o, "device", s->device);
	json_member_some(o, "dtype_hint", s->dtype_hint);
	if (s->bytes.p) {
		out_base64(o, "data", s->bytes);
	} else if (s->hash.n && repro_storage_path(r, i, &path) == 0) {
		FREED char *absolute = realpath(buf_str(&path), NULL);
		struct repro_bytes bytes = {0};
		if (!remote && absolute) {
			json_member_str(o, "path", slice_str(absolute));
		} else if (repro_bytes_open(&bytes, buf_str(&path), err) < 0) {
			status = -1;
		} else {
			out_base64(o, "data", bytes.bytes);
			repro_bytes_close(&bytes);
		}
	}
	json_close(o);
	return status;
}

static int out_exported(struct json_out *o, const struct repro *r, bool remote, struct err *err)
{
	LOCAL_BUF path = {0};
	FREED char *absolute = repro_exported_path(r, &path) ? realpath(buf_str(&path), NULL) : NULL;
	OWNED(mapfile_close) struct mapfile file = {0};
	int status = 0;
	json_member_obj(o, "exported");
	if (!absolute) {
		status = err_errno(err, EXIT_INPUT, "cannot read '%.*s', the exported program", SL(r->exported));
	} else if (!remote) {
		json_member_str(o, "path", slice_str(absolute));
	} else if (mapfile_open(&file, absolute, err) < 0) {
		status = -1;
	} else {
		out_base64(o, "data", file.bytes);
	}
	json_close(o);
	return status;
}

/* torch's own values: True and 'accuracy' are the same. */
static struct slice accuracy_mode(struct slice text)
{
	if (memmem(text.p, text.n, "strict", 6))
		return SLICE("strict_accuracy");
	return !text.n || slice_is(text, "False") || slice_is(text, "''") || slice_is(text, "\"\"") || slice_is(text, "None")
		   ? SLICE("")
		   : SLICE("accuracy");
}

/* Statements from a block, indented by 4 columns. */
static void out_statements(struct json_out *o, const char *key, struct slice block)
{
	LOCAL_BUF b = {0};
	struct slice line;
	while (slice_line(&block, &line)) {
		size_t cut = slice_starts(line, "    ") ? 4 : 0;
		buf_add(&b, line.p + cut, line.n - cut);
		buf_addc(&b, '\n');
	}
	json_member_str(o, key, buf_slice(&b));
}

static void out_foot(struct json_out *o, const struct repro *r)
{
	json_member_str(o, "form", slice_str(repro_form_name(r->form)));
	json_member_str(o, "accuracy", accuracy_mode(r->accuracy));
	json_member_str(o, "tracing_mode", r->tracing_mode);
	json_member_str(o, "backend", r->backend);
	json_member_bool(o, "backend_text", r->backend_text);
	json_member_bool(o, "autocast", slice_is(r->autocast, "True"));
	json_member_bool(o, "only_fwd", slice_is(r->only_fwd, "True"));
	json_member_bool(o, "is_inference", slice_is(r->is_inference, "True"));
	json_member_str(o, "config_patches", r->config_patches);
	out_statements(o, "before", r->setup);
}

static int out_inputs(struct json_out *o, const struct repro *r, bool remote, struct err *err)
{
	int status = 0;
	json_member_arr(o, "inputs");
	for (size_t i = 0; i < r->n_inputs; i++)
		out_input(o, r, &r->input[i]);
	json_close(o);
	json_member_arr(o, "storages");
	for (uint32_t i = 0; i < r->n_storages && status == 0; i++)
		status = out_storage(o, r, i, remote, err);
	json_close(o);
	json_member_arr(o, "fixups");
	for (size_t i = 0; i < r->n_fixups; i++) {
		json_arr(o);
		json_out_u64(o, r->fixup[i].repeats);
		json_out_u64(o, r->fixup[i].output_size);
		json_close(o);
	}
	json_close(o);
	if (status == 0 && r->exported.n)
		status = out_exported(o, r, remote, err);
	return status;
}

int talk_setup(const struct oracle_torch_spec *spec, bool remote, struct buf *b, struct err *err)
{
	const struct repro *r = spec->repro;
	struct json_out o;
	struct buf text = {0};
	begin_message(&o, b, "setup");
	fxcode_write(&r->graph, FXCODE_RUNNABLE, &text);
	json_member_str(&o, "code", buf_slice(&text));
	buf_reset(&text);
	talk_head(r, &text);
	json_member_str(&o, "head", buf_slice(&text));
	buf_release(&text);
	json_member_arr(&o, "imports");
	for (size_t i = 0; i < r->n_lines; i++)
		if (r->line[i].kind == REPRO_IMPORT)
			json_out_str(&o, r->line[i].text);
	json_close(&o);
	out_symbols(&o, r);
	out_foot(&o, r);
	json_member_u64(&o, "seed", spec->seed);
	json_member_double(&o, "stall", spec->stall_ms / 1000.0, 3);
	json_member_u64(&o, "record_limit", spec->record_limit ? spec->record_limit : RECORD_LIMIT);
	if (spec->whole)
		json_member_bool(&o, "whole", true);
	int status = out_inputs(&o, r, remote, err);
	end_message(&o);
	begin_message(&o, b, "record");
	json_member_u64(&o, "timeout", (spec->start_timeout_ms ? spec->start_timeout_ms : 600000) / 1000);
	end_message(&o);
	return status;
}

/* ---- tests ---- */

static void out_feeds(struct json_out *o, const struct repro *original, const struct test *t)
{
	static const char *const kind[] = {[FEED_RECORDED] = "recorded", [FEED_RANDOM] = "random", [FEED_INT] = "int"};
	json_rows(o, "feeds", i, t->n_feeds) {
		const struct feed *f = &t->feed[i];
		json_member_str(o, "kind", slice_str(kind[f->kind]));
		if (f->kind == FEED_INT)
			json_member_i64(o, "value", f->value);
		else
			json_member_str(o, "name", f->name);
		if (f->kind == FEED_RANDOM) {
			json_key(o, "meta");
			out_meta(o, t->graph, f->meta);
		}
		if (f->memory)
			json_member_index(o, "memory", (uint32_t)(f->memory - original->input));
		if (f->non_leaf)
			json_member_bool(o, "leaf", false);
	}
}

void talk_test(const struct repro *original, const struct test *t, uint64_t id, struct slice head, struct buf *b)
{
	struct json_out o;
	LOCAL_BUF text = {0};
	begin_message(&o, b, "test");
	json_member_u64(&o, "id", id);
	fxcode_write(t->graph, FXCODE_RUNNABLE, &text);
	json_member_str(&o, "code", buf_slice(&text));
	if (t->repro) {
		buf_reset(&text);
		talk_head(t->repro, &text);
		if (!slice_eq(buf_slice(&text), head))
			json_member_str(&o, "head", buf_slice(&text));
	}
	out_feeds(&o, original, t);
	json_member_bool(&o, "where", t->want_where);
	if (t->plain)
		json_member_bool(&o, "plain", true);
	end_message(&o);
}

void talk_users(uint64_t id, struct buf *b)
{
	struct json_out o;
	begin_message(&o, b, "users");
	json_member_u64(&o, "id", id);
	end_message(&o);
}

void talk_inputs(const struct repro *original, const struct test *t, uint64_t id, struct buf *b)
{
	struct json_out o;
	begin_message(&o, b, "inputs");
	json_member_u64(&o, "id", id);
	out_feeds(&o, original, t);
	end_message(&o);
}

/* shown: its path relative to the program's folder. */
static int out_file(struct json_out *o, const char *path, const char *shown, struct err *err)
{
	OWNED(mapfile_close) struct mapfile file = {0};
	if (mapfile_open(&file, path, err) < 0)
		return -1;
	json_obj(o);
	json_member_str(o, "name", slice_str(shown));
	out_base64(o, "data", file.bytes);
	json_close(o);
	return 0;
}

/* The program, and the folder of its larger inputs (repro_save): BASE.data/storages. */
static int out_program(struct json_out *o, const char *path, struct err *err)
{
	const char *base = path_base(path);
	size_t n = strlen(base);
	FREED char *inner = xasprintf("%.*s.data/storages", (int)(slice_ends(slice_str(base), ".py") ? n - 3 : n), base);
	FREED char *folder = xasprintf("%.*s%s", (int)(base - path), path, inner);
	DIR *d = opendir(folder);
	struct dirent *e;
	json_member_arr(o, "files");
	int status = out_file(o, path, base, err);
	while (status == 0 && d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		FREED char *from = xasprintf("%s/%s", folder, e->d_name), *shown = xasprintf("%s/%s", inner, e->d_name);
		status = out_file(o, from, shown, err);
	}
	json_close(o);
	if (d)
		closedir(d);
	return status;
}

int talk_verify(const char *path, uint64_t id, unsigned timeout_ms, unsigned stall_ms, bool remote, struct buf *b, struct err *err)
{
	struct json_out o;
	FREED char *absolute = realpath(path, NULL);
	int status = 0;
	begin_message(&o, b, "verify");
	json_member_u64(&o, "id", id);
	json_member_str(&o, "path", slice_str(absolute ? absolute : path));
	json_member_double(&o, "timeout", timeout_ms / 1000.0, 3);
	json_member_double(&o, "stall", stall_ms / 1000.0, 3);
	if (remote)
		status = out_program(&o, path, err);
	end_message(&o);
	return status;
}

/* ---- answers ---- */

static enum outcome_kind outcome_named(struct slice name)
{
	for (int k = 0; k < OUTCOME_FAILED; k++)
		if (slice_is(name, outcome_words[k]))
			return (enum outcome_kind)k;
	return OUTCOME_INFRA;
}

/* glibc and others print why they abort. */
static void add_last_words(struct slice output, struct buf *b)
{
	struct slice line, last = {"", 0};
	while (slice_line(&output, &line))
		if (slice_trim(line).n)
			last = slice_trim(line);
	if (last.n)
		buf_addf(b, ": %.*s", SLN(last, 300));
}

void talk_outcome(const struct json_tape *t, uint32_t k, struct arena *arena, struct outcome *out)
{
	*out = (struct outcome){.extra = {"", 0}, .output = json_dup(t, k, "output", arena), .replayed = json_dup(t, k, "replayed", arena)};
	uint32_t extra = json_get_as(t, k, "extra", JSON_OBJECT);
	out->id = json_count(t, k, "id", 0);
	out->seconds = json_number(t, k, "seconds", 0);
	if (extra != NONE && json_first(t, extra) != json_end(t, extra))
		out->extra = arena_slice(arena, json_raw(t, extra));
	out->kind = out->signature.kind = outcome_named(json_word(t, k, "kind"));
	out->signature.type = json_dup(t, k, "type", arena);
	out->signature.frames = json_dup(t, k, "frames", arena);
	LOCAL_BUF b = {0};
	signature_normalise(json_dup(t, k, "message", arena), &b);
	out->signature.message = arena_slice(arena, buf_slice(&b));
	buf_reset(&b);
	buf_add_slice(&b, json_dup(t, k, "detail", arena));
	if (out->kind == OUTCOME_CRASHED)
		add_last_words(out->output, &b);
	out->detail = arena_slice(arena, buf_slice(&b));
	/* A process may also abort because of it: destructors throw. */
	bool died = out->kind == OUTCOME_CRASHED;
	struct slice said = died ? out->output : json_dup(t, k, "message", arena);
	if ((died || out->kind == OUTCOME_RAISED) && signature_of_kernel_error(said, &out->signature))
		out->kind = out->signature.kind = OUTCOME_RAISED;
}
