/* outdir.c - the directory report, with the layout of the Rust tlparse 0.4.3.
 *
 * While the log is read: a file per artifact (in parallel), raw.log, raw.jsonl and chromium_events.json (in order).
 * Then compile_directory.json, failures_and_restarts.html, index.html. Files that are not in the Rust tool's numbering are named
 * outside it: assets/, payloads/unlisted_LINE_*.txt.
 */
#include "outdir.h"

#include "base/tool/diag.h"
#include "base/pool.h"
#include "base/text.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct outdir {
	struct trace *t;
	const struct tlparse_options *opt;
	const struct outdir_extra *extra;
	const char *folder; /* the name in error messages */
	int fd, raw, jsonl, events;
	bool any_event;
	int year;
	struct prov_pages *prov; /* -i */
	struct intern payloads;  /* names already written under payloads/ */
	struct intern dirs;      /* folders already made */
	struct pending *pending; /* per compile id */
	uint32_t n_pending, cap_pending;
	struct err *err;
	pthread_mutex_t err_lock;
};

enum item_what { ITEM_PAYLOAD, ITEM_GUARDS, ITEM_CODE, ITEM_DUMP, ITEM_TRACES, ITEM_TEXT };

/* A file to write: path and text are offsets into the slot's buffers. */
struct item {
	enum item_what what;
	uint32_t path, record;
	size_t text, text_len;
};

struct slot {
	struct item *item;
	uint32_t n, cap;
	struct buf path, text, jsonl, events, page;
	struct buf shared;      /* events once more, for outdir_extra */
	uint32_t *payload_name; /* per record: offset into path + 1, 0 for none */
	uint32_t n_name, cap_name;
	struct json_tape tape;
};

static struct slot *slot_of(struct trace_scan *s)
{
	if (!s->emit)
		s->emit = xcalloc(1, sizeof(struct slot));
	return s->emit;
}

static void free_slot(void *ctx, struct trace_scan *s)
{
	struct slot *x = s->emit;
	(void)ctx;
	if (!x)
		return;
	buf_release(&x->path);
	buf_release(&x->text);
	buf_release(&x->jsonl);
	buf_release(&x->events);
	buf_release(&x->shared);
	buf_release(&x->page);
	json_tape_release(&x->tape);
	free(x->item);
	free(x->payload_name);
	free(x);
	s->emit = NULL;
}

/* Workers may fail in parallel: the first error is kept. */
static int failed(struct outdir *d, const struct err *e)
{
	pthread_mutex_lock(&d->err_lock);
	if (!d->err->text[0])
		*d->err = *e;
	pthread_mutex_unlock(&d->err_lock);
	return -1;
}

static int make_dirs(struct outdir *d, const char *path)
{
	char *copy = NULL;
	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		uint32_t before = d->dirs.n;
		if (intern_add(&d->dirs, slice_of(path, (size_t)(p - path))) < before)
			continue;
		free(copy);
		copy = xstrndup(path, (size_t)(p - path));
		if (mkdirat(d->fd, copy, 0777) < 0 && errno != EEXIST) {
			struct err e;
			err_errno(&e, EXIT_ENVIRON, "cannot create directory '%s'", output_inner(d->folder, copy));
			free(copy);
			return failed(d, &e);
		}
	}
	free(copy);
	return 0;
}

static int cannot_write(const struct outdir *d, const char *path, struct err *e)
{
	return err_errno(e, EXIT_ENVIRON, "cannot write '%s'", output_inner(d->folder, path));
}

static int open_file(struct outdir *d, const char *path, struct err *e)
{
	int fd = openat(d->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	return fd < 0 ? cannot_write(d, path, e) : fd;
}

/* r: the status so far. */
static int close_file(const struct outdir *d, int fd, const char *path, int r, struct err *e)
{
	return fd >= 0 && close(fd) < 0 && !r ? cannot_write(d, path, e) : r;
}

static int write_file(struct outdir *d, const char *path, struct slice text)
{
	struct err e;
	int fd = open_file(d, path, &e);
	if (fd < 0)
		return failed(d, &e);
	int r = write_all(fd, text.p, text.n, output_inner(d->folder, path), &e);
	return close_file(d, fd, path, r, &e) < 0 ? failed(d, &e) : 0;
}

/* ---- in order: what to write ---- */

static struct item *add_item(struct slot *x, enum item_what what, uint32_t record)
{
	struct item *it = &PUSH_TO(x->item, x->n, x->cap);
	*it = (struct item){.what = what, .record = record, .path = (uint32_t)x->path.len};
	return it;
}

static struct pending *pending_of(struct outdir *d, uint32_t compile)
{
	if (compile >= d->n_pending) {
		GROW(d->pending, d->n_pending, d->cap_pending, compile - d->n_pending + 1);
		memset(d->pending + d->n_pending, 0, (compile - d->n_pending + 1) * sizeof(*d->pending));
		d->n_pending = compile + 1;
	}
	return &d->pending[compile];
}

static int plan_artifact(struct outdir *d, struct trace_scan *s, struct trace_record *r, uint32_t index, bool *payload_written)
{
	struct slot *x = s->emit;
	struct trace *t = d->t;
	const struct trace_artifact *a = &t->artifact[index];
	uint32_t record = (uint32_t)(r - s->rec), path = (uint32_t)x->path.len;
	struct err e;
	if (a->flags & ART_LINK)
		return 0;
	if (d->prov && prov_pages_take(d->prov, t, index, trace_payload(s, r), &e) < 0)
		return failed(d, &e);
	enum item_what what = a->kind == KIND_dynamo_guards ? ITEM_GUARDS
			      : a->kind == KIND_dump_file   ? ITEM_DUMP
			      : a->flags & ART_NO_PAYLOAD   ? ITEM_TEXT
			      : a->flags & ART_HTML         ? ITEM_CODE
							    : ITEM_PAYLOAD;
	struct item *it = add_item(x, what, record);
	trace_artifact_path(t, a, false, &x->path);
	buf_addc(&x->path, 0);
	if (make_dirs(d, x->path.p + path) < 0)
		return -1;
	if (what == ITEM_PAYLOAD) {
		x->payload_name[record] = path + 1;
		*payload_written = true;
	}
	if (what == ITEM_TEXT) {
		it->text = x->text.len;
		if (a->kind == KIND_compilation_metrics) {
			struct pending *p = pending_of(d, r->attempt);
			page_metrics(&x->text, t, s, r, a, p);
			buf_release(&p->rows);
			buf_release(&p->guards);
		} else if (d->opt->export) {
			uint32_t k = t->n_export - 1;
			while (t->export[k].page != index)
				k--;
			page_guard(&x->text, t, &t->export[k]);
		} else {
			page_bwd_metrics(&x->text, t, s, r, a);
		}
		it->text_len = x->text.len - it->text;
	}
	if (a->flags & ART_READABLE) {
		it = add_item(x, ITEM_TRACES, record);
		trace_artifact_path(t, a, true, &x->path);
		buf_addc(&x->path, 0);
	}
	return 0;
}

static int plan_record(void *ctx, struct trace_scan *s, struct trace_record *r)
{
	struct outdir *d = ctx;
	struct slot *x = slot_of(s);
	uint32_t record = (uint32_t)(r - s->rec);
	bool written = false;
	if (record == 0) {
		x->n = 0;
		x->n_name = 0;
		buf_reset(&x->path);
		buf_reset(&x->text);
		GROW(x->payload_name, x->n_name, x->cap_name, s->n);
	}
	x->payload_name[record] = 0;
	x->n_name = record + 1;
	if (r->flags & REC_NO_PREFIX)
		return 0;
	for (uint32_t i = 0; i < r->artifacts; i++)
		if (plan_artifact(d, s, r, r->first_artifact + i, &written) < 0)
			return -1;
	bool taken = !(r->flags & (REC_NO_JSON | REC_MALFORMED | REC_LOOSE | REC_OTHER_RANK)) && !(r->kinds >> KIND_str & 1);
	bool metrics = taken && !d->opt->export; /* are there pages for pending rows? */
	if (metrics && r->kinds >> KIND_symbolic_shape_specialization & 1)
		page_pending_row(&pending_of(d, r->attempt)->rows, d->t, s, r, false);
	if (metrics && r->kinds >> KIND_guard_added_fast & 1)
		page_pending_row(&pending_of(d, r->attempt)->guards, d->t, s, r, true);
	if (written || !r->payload_len || r->kinds >> KIND_chromium_event & 1)
		return 0;
	/* No file has this payload yet: payloads/MD5.txt, named by the record. */
	uint32_t path = (uint32_t)x->path.len;
	struct slice md5 = r->has_payload == NONE ? SLICE("") : json_slice(&s->tape, r->has_payload);
	buf_adds(&x->path, "payloads/");
	if (!taken)
		buf_addf(&x->path, "unlisted_%llu_", (unsigned long long)(s->first_line + r->line));
	trace_safe_path(md5, &x->path); /* a name that is not an MD5 is damage anyway */
	uint32_t before = d->payloads.n;
	if (intern_add(&d->payloads, slice_of(x->path.p + path, x->path.len - path)) < before && r->flags & REC_MD5_BAD)
		buf_addf(&x->path, "_line_%llu", (unsigned long long)(s->first_line + r->line));
	else if (d->payloads.n == before) {
		buf_adds(&x->path, ".txt");
		buf_addc(&x->path, 0);
		x->payload_name[record] = taken ? path + 1 : 0;
		return 0; /* the same payload exists already */
	}
	buf_adds(&x->path, ".txt");
	buf_addc(&x->path, 0);
	if (make_dirs(d, x->path.p + path) < 0)
		return -1;
	x->payload_name[record] = taken ? path + 1 : 0;
	PUSH_TO(x->item, x->n, x->cap) = (struct item){.what = ITEM_PAYLOAD, .record = record, .path = path};
	return 0;
}

/* ---- in parallel: write ---- */

static int copy_raw(void *ctx, struct trace_scan *s)
{
	struct outdir *d = ctx;
	struct err e;
	if (pwrite_all(d->raw, s->window.data, s->window.len, s->window.offset, output_inner(d->folder, "raw.log"), &e) < 0)
		return failed(d, &e);
	return 0;
}

/* n digits, like %0*u for a number that fits, and what follows; formatting these took 2% of a report's time. */
static void add_digits(struct buf *b, unsigned v, unsigned n, char behind)
{
	char *to = buf_room(b, n + 1);
	to[n] = behind;
	for (unsigned i = n; i-- > 0; v /= 10)
		to[i] = (char)('0' + v % 10);
	buf_wrote(b, n + 1);
}

static void add_jsonl(struct outdir *d, struct trace_scan *s, struct trace_record *r, struct slot *x, const char *payload)
{
	struct buf *b = &x->jsonl;
	struct slice root = json_raw(&s->tape, r->root);
	bool empty = json_end(&s->tape, r->root) == r->root + 1;
	if (r->flags & REC_NOT_UTF8 && !utf8_valid(root)) {
		/* Such bytes can only be in strings. */
		buf_reset(&x->page);
		for (size_t i = 0; i < root.n; i++)
			buf_addc(&x->page, (unsigned char)root.p[i] < 128 ? root.p[i] : '?');
		root = buf_slice(&x->page);
	}
	json_add_raw(b, slice_of(root.p, root.n - 1));
	unsigned sec = (unsigned)(r->usec / 1000000 % 86400);
	buf_adds(b, empty ? "\"timestamp\":\"" : ",\"timestamp\":\"");
	add_digits(b, r->year ? r->year : (unsigned)d->year, 4, '-');
	add_digits(b, r->month_day / 100u, 2, '-');
	add_digits(b, r->month_day % 100u, 2, 'T');
	add_digits(b, sec / 3600, 2, ':');
	add_digits(b, sec / 60 % 60, 2, ':');
	add_digits(b, sec % 60, 2, '.');
	add_digits(b, (unsigned)(r->usec % 1000000), 6, 'Z');
	buf_adds(b, "\",\"thread\":");
	buf_add_u64(b, r->thread);
	buf_adds(b, ",\"pathname\":\"");
	json_escape(b, slice_of(s->window.data + r->source, r->source_len), false);
	buf_adds(b, "\",\"lineno\":");
	buf_add_u64(b, r->source_line);
	if (payload) {
		buf_adds(b, ",\"payload_filename\":\"");
		json_escape(b, slice_str(payload), false);
		buf_addc(b, '"');
	}
	buf_adds(b, "}\n");
}

/* The event with a NUL instead of its pid, which cannot occur in JSON text: the process name is only known later. */
static void share_event(struct slot *x, uint32_t root)
{
	const struct json_tape *t = &x->tape;
	struct slice raw = json_raw(t, root);
	const char *at = raw.p, *end = raw.p + raw.n;
	bool any = false;
	buf_add(&x->shared, ",\n", 2);
	if (json_is(t, root, JSON_OBJECT)) {
		json_each_pair(t, root, k) {
			if (!slice_is(json_slice(t, k), "pid"))
				continue;
			struct slice v = json_raw(t, k + 1);
			json_add_raw(&x->shared, slice_of(at, (size_t)(v.p - at)));
			buf_addc(&x->shared, 0);
			at = v.p + v.n;
			any = true;
		}
		if (!any) {
			json_add_raw(&x->shared, slice_of(at, (size_t)(end - 1 - at)));
			buf_adds(&x->shared, json_end(t, root) > root + 1 ? ",\"pid\":" : "\"pid\":");
			buf_addc(&x->shared, 0);
			at = end - 1;
		}
	}
	json_add_raw(&x->shared, slice_of(at, (size_t)(end - at)));
}

static void add_event(struct outdir *d, struct trace_scan *s, struct trace_record *r, struct slot *x)
{
	struct slice p = trace_payload(s, r);
	uint32_t root;
	json_tape_text(&x->tape, p.p, p.n);
	if (json_parse(&x->tape, 0, p.n, &root) < 0 || x->tape.loose || (r->flags & REC_NOT_UTF8 && !utf8_valid(p)))
		return;
	buf_add(&x->events, ",\n", 2);
	json_add_raw(&x->events, json_raw(&x->tape, root));
	if (d->extra)
		share_event(x, root);
}

static int write_item(struct outdir *d, struct trace_scan *s, struct slot *x, const struct item *it)
{
	struct trace_record *r = &s->rec[it->record];
	struct slice payload = trace_payload(s, r), title = slice_str(x->path.p + it->path);
	char id[COMPILE_ID_TEXT];
	buf_reset(&x->page);
	switch (it->what) {
	case ITEM_PAYLOAD: return write_file(d, title.p, payload);
	case ITEM_TEXT: return write_file(d, title.p, slice_of(x->text.p + it->text, it->text_len));
	case ITEM_GUARDS: page_guards(&x->page, compile_id_text(&r->id, id), payload, &x->tape); break;
	case ITEM_CODE: page_code(&x->page, title, payload); break;
	case ITEM_DUMP: return 0; /* written by name, so in order: see commit */
	case ITEM_TRACES: page_stack_traces(&x->page, payload, &x->tape); break;
	}
	return write_file(d, title.p, buf_slice(&x->page));
}

static int emit_record(void *ctx, struct trace_scan *s)
{
	struct outdir *d = ctx;
	struct slot *x = slot_of(s);
	buf_reset(&x->jsonl);
	buf_reset(&x->events);
	buf_reset(&x->shared);
	if (!s->n)
		x->n = 0;
	for (uint32_t i = 0; !d->opt->export && i < s->n; i++) {
		struct trace_record *r = &s->rec[i];
		if (r->flags & (REC_NO_PREFIX | REC_NO_JSON | REC_LOOSE))
			continue;
		bool taken = !(r->flags & (REC_MALFORMED | REC_OTHER_RANK));
		if (taken && r->kinds >> KIND_str & 1)
			continue;
		if (taken && r->kinds >> KIND_chromium_event & 1) {
			add_event(d, s, r, x);
			continue;
		}
		if (!(r->flags & REC_RESERVED))
			add_jsonl(d, s, r, x, x->payload_name[i] ? x->path.p + x->payload_name[i] - 1 : NULL);
	}
	for (uint32_t i = 0; i < x->n; i++)
		if (write_item(d, s, x, &x->item[i]) < 0)
			return -1;
	return 0;
}

static int commit(void *ctx, struct trace_scan *s)
{
	struct outdir *d = ctx;
	struct slot *x = slot_of(s);
	struct err e;
	for (uint32_t i = 0; i < x->n; i++) {
		const struct item *it = &x->item[i];
		if (it->what != ITEM_DUMP)
			continue;
		buf_reset(&x->page);
		page_dump_file(&x->page, slice_str(x->path.p + it->path), trace_payload(s, &s->rec[it->record]));
		if (write_file(d, x->path.p + it->path, buf_slice(&x->page)) < 0)
			return -1;
	}
	if (d->opt->export)
		return 0;
	char name[TEMP_NAME];
	if (write_all(d->jsonl, x->jsonl.p, x->jsonl.len, temp_file_name(name), &e) < 0) {
		temp_failed(&e);
		return failed(d, &e);
	}
	struct slice ev = buf_slice(&x->events);
	if (ev.n && !d->any_event) {
		d->any_event = true;
		x->events.p[0] = '['; /* for the comma before the first */
	}
	if (write_all(d->events, ev.p, ev.n, output_inner(d->folder, "chromium_events.json"), &e) < 0)
		return failed(d, &e);
	if (x->shared.len &&
	    write_all(d->extra->events, x->shared.p, x->shared.len, output_inner(d->folder, "chromium_events.json"), &e) < 0)
		return failed(d, &e);
	return 0;
}

/* ---- at the end ---- */

static void compile_directory(struct json_out *o, const struct trace *t)
{
	static const char *const mark[] = {"", "\xe2\x9c\x85", "\xe2\x9d\x8c", "\xe2\x9d\x93"};
	LOCAL_BUF path = {0};
	char id[COMPILE_ID_TEXT], key[COMPILE_ID_TEXT + 2];
	json_obj(o);
	for (uint32_t i = 0; i < t->n_folder; i++) {
		const struct compile_id *c = &t->f->attempt[t->folder[i].last].id;
		snprintf(key, sizeof(key), c->bad_line ? "%s" : "[%s]", compile_id_text(c, id));
		json_member_obj(o, key);
		json_member_arr(o, "artifacts");
		for (uint32_t k = t->folder[i].first_artifact; k != NONE; k = t->artifact[k].folder_next) {
			const struct trace_artifact *a = &t->artifact[k];
			unsigned m = a->flags & ART_HIT ? 1 : a->flags & ART_MISS ? 2 : a->flags & ART_BYPASS ? 3 : 0;
			struct slice name, url;
			buf_reset(&path);
			if (a->flags & ART_LINK) {
				name = intern_get(&t->f->names, a->name);
				url = intern_get(&t->f->names, a->extra);
			} else {
				trace_artifact_path(t, a, false, &path);
				name = url = buf_slice(&path);
			}
			name = slice_base(name);
			json_obj(o);
			json_member_str(o, "url", url);
			json_member_str(o, "name", name);
			json_member_u64(o, "number", a->number + (a->flags & ART_READABLE ? 1 : 0));
			json_member_str(o, "suffix", slice_str(mark[m]));
			json_key(o, "readable_url");
			if (a->flags & ART_READABLE) {
				buf_reset(&path);
				trace_artifact_path(t, a, true, &path);
				json_out_str(o, buf_slice(&path));
			} else if (a->flags & ART_JSON && slice_starts(name, "inductor_provenance_tracking_kernel_stack_traces")) {
				json_out_str(o, SLICE(""));
			} else {
				json_out_null(o);
			}
			json_close(o);
		}
		json_close(o);
		json_close(o);
	}
	json_close(o);
}

/* raw.jsonl starts with the string table, which is known only at the end. */
static int finish_jsonl(struct outdir *d, struct err *err)
{
	struct trace *t = d->t;
	LOCAL_BUF b = {0};
	struct json_out o = {.b = &b};
	json_obj(&o);
	json_member_arr(&o, "string_table");
	uint64_t n = trace_strings(t);
	if (!n)
		json_out_null(&o);
	for (uint64_t i = 0; i < n; i++) {
		uint32_t s = trace_string_of_any(t, i);
		if (s == NONE)
			json_out_null(&o);
		else
			json_out_str(&o, intern_get(&t->f->names, s));
	}
	json_close(&o);
	json_close(&o);
	buf_addc(&b, '\n');
	int fd = open_file(d, "raw.jsonl", err), r = fd < 0 ? -1 : 0;
	if (!r)
		r = write_all(fd, b.p, b.len, output_inner(d->folder, "raw.jsonl"), err);
	if (!r)
		r = copy_all(d->jsonl, fd, output_inner(d->folder, "raw.jsonl"), err);
	return close_file(d, fd, "raw.jsonl", r, err);
}

static int write_page(struct outdir *d, const char *path, void (*page)(struct buf *b, const struct trace *t))
{
	LOCAL_BUF b = {0};
	page(&b, d->t);
	return write_file(d, path, buf_slice(&b));
}

/* A file that grows with the log is written while it is generated. */
static int write_stream(struct outdir *d, const char *path, void (*make)(struct outdir *d, struct json_stream *x))
{
	struct err e;
	struct json_stream x;
	int fd = open_file(d, path, &e);
	if (fd < 0)
		return failed(d, &e);
	json_stream(&x, fd, output_inner(d->folder, path), &e);
	make(d, &x);
	int r = json_stream_end(&x);
	return close_file(d, fd, path, r, &e) < 0 ? failed(d, &e) : 0;
}

static void make_directory(struct outdir *d, struct json_stream *x) { compile_directory(&x->o, d->t); }
static void make_index(struct outdir *d, struct json_stream *x) { page_index(x, d->t, d->opt); }

static int current_year(void)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	uint64_t v;
	time_t now = epoch && slice_u64(slice_str(epoch), &v) ? (time_t)v : time(NULL);
	struct tm tm;
	return gmtime_r(&now, &tm) ? tm.tm_year + 1900 : 1970;
}

static int write_assets(struct outdir *d)
{
	if (make_dirs(d, "assets/") < 0)
		return -1;
	const int r = write_file(d, "assets/tlparse.css", share_file("dir/tlparse.css"));
	return r < 0 ? r : write_file(d, "assets/tlparse.js", share_file("dir/tlparse.js"));
}

/* A page per compile id, even with little to show: the Rust tool has one for each. */
static int write_provenance(struct outdir *d, struct err *err)
{
	struct buf name = {0}, page = {0};
	bool unknown = false;
	int r = 0;
	for (uint32_t k = 0; !r && k < d->t->n_folder; k++) {
		uint32_t i = d->t->folder[k].last;
		if (d->t->f->attempt[i].id.bad_line && unknown)
			continue;
		unknown |= d->t->f->attempt[i].id.bad_line != 0;
		buf_reset(&name);
		buf_reset(&page);
		prov_page_name(d->t, i, &name);
		r = prov_page(d->prov, &page, d->t, i, err) < 0 || write_file(d, buf_str(&name), buf_slice(&page)) < 0 ? -1 : 0;
	}
	buf_release(&name);
	buf_release(&page);
	return r;
}

int outdir_log(struct trace *t, const struct tlparse_options *opt, int dir, const char *folder, const struct outdir_extra *extra,
	       struct err *err)
{
	struct outdir d = {
	    .t = t,
	    .opt = opt,
	    .extra = extra,
	    .folder = folder,
	    .fd = dir,
	    .raw = -1,
	    .jsonl = -1,
	    .events = -1,
	    .year = current_year(),
	    .err = err,
	};
	struct trace_hooks h = {
	    .ctx = &d,
	    .raw = copy_raw,
	    .record = plan_record,
	    .emit = emit_record,
	    .commit = commit,
	    .free_slot = free_slot,
	    .progress = PROGRESS(opt),
	    .in_part = true,
	};
	const struct facts_options rows = {
	    .ranks = extra != NULL, .keys = extra != NULL, .few_metrics = true, .no_graphs = !opt->max.n, .no_phases = !opt->max.n};
	struct buf b = {0};
	int r = -1;
	pthread_mutex_init(&d.err_lock, NULL);
	err->text[0] = 0;
	t->plain_text = opt->plain_text;
	t->export_only = opt->export;
	if (extra) {
		h.progress = NULL;
		h.threads = extra->threads;
		h.share = extra->share;
	}
	if (opt->export) {
		h.raw = NULL;
		if (trace_read_facts(t, &rows, &h, err) == 0) {
			page_export(&b, t, opt);
			r = write_assets(&d) < 0 || write_file(&d, "index.html", buf_slice(&b)) < 0 ? -1 : 0;
		}
		goto out;
	}
	if (opt->provenance && !(d.prov = prov_pages_new(err)))
		goto out;
	if ((d.raw = open_file(&d, "raw.log", err)) < 0 || (d.events = open_file(&d, "chromium_events.json", err)) < 0 ||
	    (d.jsonl = temp_file(err)) < 0)
		goto out;
	if (trace_read_facts(t, &rows, &h, err) < 0)
		goto out;
	if (write_all(d.events, d.any_event ? "\n]" : "[]", 2, output_inner(folder, "chromium_events.json"), err) < 0 ||
	    finish_jsonl(&d, err) < 0)
		goto out;
	if (write_stream(&d, "compile_directory.json", make_directory) < 0 ||
	    write_page(&d, "failures_and_restarts.html", page_failures) < 0 ||
	    (page_has_vllm(t) && write_page(&d, "vllm.html", page_vllm) < 0) || (d.prov && write_provenance(&d, err) < 0) ||
	    write_assets(&d) < 0)
		goto out;
	r = write_stream(&d, "index.html", make_index);
out:
	r = close_file(&d, d.raw, "raw.log", r, err);
	r = close_file(&d, d.events, "chromium_events.json", r, err);
	if (d.jsonl >= 0)
		close(d.jsonl);
	for (uint32_t i = 0; i < d.n_pending; i++) {
		buf_release(&d.pending[i].rows);
		buf_release(&d.pending[i].guards);
	}
	free(d.pending);
	prov_pages_free(d.prov);
	intern_release(&d.payloads);
	intern_release(&d.dirs);
	buf_release(&b);
	pthread_mutex_destroy(&d.err_lock);
	return r;
}

/* Files at the top of a report, this tool's or the Rust tlparse's. Does not look into folders. */
static bool of_report(struct slice name)
{
	static const char *const files[] = {"index.html",
					    "failures_and_restarts.html",
					    "raw.log",
					    "raw.jsonl",
					    "chromium_events.json",
					    "compile_directory.json",
					    "collectives_parity.json",
					    "collectives.json",
					    "vllm.html",
					    "collective_schedules.json",
					    "runtime_estimations.json",
					    "chromium_trace_with_runtime.json",
					    "combined_trace.json.gz"};
	for (unsigned i = 0; i < ARRAY_LEN(files); i++)
		if (slice_is(name, files[i]))
			return true;
	return slice_starts(name, "provenance_tracking_") && slice_ends(name, ".html");
}

/* May this folder be replaced? Only if it has a report's index, and no foreign file. */
static bool is_report(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	bool index = false, foreign = !d, part = false;
	for (struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		struct slice name = slice_str(e->d_name);
		if (slice_is(name, ".") || slice_is(name, ".."))
			continue;
		bool dir = fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
		index |= slice_is(name, "index.html");
		part |= !slice_is(name, "index.html");
		foreign |= !dir && !of_report(name);
	}
	if (d)
		closedir(d);
	return index && part && !foreign;
}

/* Would replacing this folder delete an input? */
static int holds_input(const char *out, const struct report *r, struct err *err)
{
	struct stat dir, up;
	if (stat(out, &dir) < 0)
		return 0;
	for (unsigned i = 0; i < r->n; i++) {
		char *real = strcmp(r->log[i].path, "-") ? realpath(r->log[i].path, NULL) : NULL;
		for (char *slash; real && (slash = strrchr(real, '/'));) {
			*slash = 0;
			if (stat(*real ? real : "/", &up) == 0 && up.st_dev == dir.st_dev && up.st_ino == dir.st_ino) {
				free(real);
				return err_set(err, EXIT_USAGE, "will not overwrite '%s': it contains the input '%s'", out, r->log[i].path);
			}
		}
		free(real);
	}
	return 0;
}

/* A folder per log, named after the log. */
static char **folder_names(const struct report *r)
{
	char **name = xcalloc(r->n, sizeof(*name));
	for (unsigned i = 0; i < r->n; i++) {
		struct slice base = slice_str(path_base(r->log[i].path));
		static const char *const ext[] = {".gz", ".xz", ".zst", ".log"};
		for (unsigned k = 0; k < ARRAY_LEN(ext); k++)
			if (base.n > strlen(ext[k]) && slice_ends(base, ext[k]))
				base.n -= strlen(ext[k]);
		LOCAL_BUF b = {0};
		trace_safe_path(slice_is(base, "-") ? SLICE("stdin") : base, &b);
		if (slice_is(buf_slice(&b), "index.html") || slice_is(buf_slice(&b), "assets"))
			buf_addc(&b, '_');
		for (unsigned k = 0; k < i; k++)
			if (slice_is(buf_slice(&b), name[k])) {
				buf_addf(&b, "_%u", i);
				k = (unsigned)-1; /* look again */
			}
		name[i] = xstrndup(b.p, b.len);
	}
	return name;
}

struct output *outdir_open(const struct report *r, const struct tlparse_options *opt, struct err *err)
{
	return holds_input(opt->out, r, err) < 0 ? NULL : output_dir(opt->out, opt->overwrite, is_report, err);
}

int outdir_write(struct report *r, const struct tlparse_options *opt, struct err *err)
{
	struct output *o = outdir_open(r, opt, err);
	if (!o)
		return -1;
	int status = 0;
	if (r->n == 1) {
		status = outdir_log(&r->log[0], opt, output_fd(o), opt->out, NULL, err);
	} else {
		char **folder = folder_names(r);
		const unsigned n = r->n;
		unsigned good = 0;
		struct outdir top = {.folder = opt->out, .fd = output_fd(o), .err = err};
		pthread_mutex_init(&top.err_lock, NULL);
		for (unsigned i = 0; i < r->n && !status; i++) {
			int fd = mkdirat(output_fd(o), folder[i], 0777) < 0
				     ? -1
				     : openat(output_fd(o), folder[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			if (fd < 0) {
				status = err_errno(err, EXIT_ENVIRON, "cannot create directory '%s'", output_inner(opt->out, folder[i]));
				break;
			}
			FREED char *shown = xstrdup(output_inner(opt->out, folder[i]));
			int written = outdir_log(&r->log[i], opt, fd, shown, NULL, err);
			if (written == 0) {
				char *name = folder[i];
				folder[i] = folder[good];
				folder[good] = name;
				r->log[good++] = r->log[i];
			} else if (err->status == EXIT_INPUT) {
				warn("%s", err->text);
				r->unread |= r->log[i].unread != NULL;
				trace_release(&r->log[i]);
				output_discard(o, folder[i]);
				r->lost++;
			} else {
				status = -1;
			}
			close(fd);
		}
		if (!status && !good)
			status = err_set(err, EXIT_INPUT, "no input could be read");
		if (!status) {
			r->n = good;
			LOCAL_BUF b = {0};
			page_logs(&b, r, folder, opt);
			err->text[0] = 0;
			status = write_assets(&top) < 0 || write_file(&top, "index.html", buf_slice(&b)) < 0 ? -1 : 0;
		}
		for (unsigned i = 0; i < n; i++)
			free(folder[i]);
		free(folder);
		intern_release(&top.dirs);
		pthread_mutex_destroy(&top.err_lock);
	}
	if (status < 0) {
		output_abort(o);
		return -1;
	}
	return output_commit(o, err);
}

void show_progress(void *ctx, uint64_t consumed, uint64_t size)
{
	static struct timespec last;
	struct timespec now;
	(void)ctx;
	if (size < 32 << 20)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec == last.tv_sec && now.tv_nsec - last.tv_nsec < 100000000)
		return;
	last = now;
	fprintf(stderr, "\r\033[K%3u%% of %llu MB", (unsigned)(consumed * 100 / size), (unsigned long long)(size >> 20));
	if (consumed >= size)
		fputs("\r\033[K", stderr);
}

void tlparse_refuse_input(const char *out, char *const *path, size_t n)
{
	struct stat a, b;
	if (stat(out, &a) < 0 || !S_ISREG(a.st_mode))
		return;
	for (size_t i = 0; i < n; i++)
		if (stat(path[i], &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
			die(EXIT_USAGE, "will not overwrite '%s': it is the input", out);
}
