/* page.c - the single HTML file (docs/formats/REPORT.md).
 *
 * While the logs are read, payloads and records are packed into blocks, deflated in parallel and written in order to an
 * unlinked temporary file. The document, which is complete only at the end, precedes them in the page, so that the
 * page works while its blocks are still arriving.
 */
#include "run/page/page.h"

#include "base/base64.h"
#include "base/html/html.h"
#include "base/tool/json_stream.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"
#include "run/ranks/rankspage.h"

#include <libdeflate.h>
#include <unistd.h>

enum {
	BLOCK = 256 << 10,     /* payloads are packed until a block has this many bytes */
	LINES_BLOCK = 1 << 20, /* streams of lines */
	LONG_VALUE = 1000,     /* longer values of metrics are stored once */
	LEVEL = 1,             /* deflate: a third of the time of level 2, and the page is 5 % larger */
};

struct where {
	uint32_t block, offset;
};

/* A long value of metrics (settings: 34 KB in each record, mostly the same), and the first line that has it. */
struct long_value {
	uint64_t hash, line;
	uint32_t n, log, key; /* n: its bytes; key: hash of its name */
};

struct page {
	struct report *r;
	struct output *out; /* NULL: standard output */
	const char *what;   /* its name in errors */
	struct trace *t;    /* being read */
	unsigned log;       /* its number */
	bool compare;
	int spool;
	uint32_t next_block;     /* of stream p */
	uint32_t lines_block[3]; /* of streams m, e, r */
	struct intern seen;      /* MD5 of payloads stored */
	struct where *where;     /* and where: by the same index */
	uint32_t n_where, cap_where;
	struct row_index longs;
	ROWS(struct long_value, long_value);
	struct ranks all;
	struct err *err;
};

enum stream { STREAM_M, STREAM_E, STREAM_R, STREAMS };
static const char stream_name[STREAMS] = {'m', 'e', 'r'};

struct piece {
	uint32_t record, block;
};

struct same_value {
	uint32_t record, token; /* its name */
	uint64_t line;          /* that has the same value */
};

struct slot {
	struct piece *piece; /* payloads to store, in order */
	uint32_t n, cap;
	ROWS(struct same_value, same); /* in the order of records and tokens */
	struct buf raw, packed, out, lines[STREAMS], done[STREAMS];
	/* done[s]: base64 texts of finished blocks, one after the other; ends: where each ends */
	size_t *end[STREAMS];
	uint32_t n_end[STREAMS], cap_end[STREAMS];
	struct libdeflate_compressor *z;
};

static struct slot *slot_of(struct trace_scan *s)
{
	if (!s->emit) {
		struct slot *x = s->emit = xcalloc(1, sizeof(struct slot));
		x->z = libdeflate_alloc_compressor(LEVEL);
	}
	return s->emit;
}

static void free_slot(void *ctx, struct trace_scan *s)
{
	struct slot *x = s->emit;
	(void)ctx;
	if (!x)
		return;
	if (x->z)
		libdeflate_free_compressor(x->z);
	buf_release(&x->raw);
	buf_release(&x->packed);
	buf_release(&x->out);
	for (unsigned i = 0; i < STREAMS; i++) {
		buf_release(&x->lines[i]);
		buf_release(&x->done[i]);
		free(x->end[i]);
	}
	free(x->piece);
	free(x->same);
	free(x);
	s->emit = NULL;
}

/* ---- sequential: where each payload goes ---- */

static const enum trace_kind metrics_kind[] = {KIND_compilation_metrics, KIND_bwd_compilation_metrics,
					       KIND_aot_autograd_backward_compilation_metrics, KIND_compilation_metrics_runtime,
					       KIND_bwd_compilation_metrics_runtime};
static const uint64_t metrics_kinds = 1ull << KIND_compilation_metrics | 1ull << KIND_bwd_compilation_metrics |
				      1ull << KIND_aot_autograd_backward_compilation_metrics | 1ull << KIND_compilation_metrics_runtime |
				      1ull << KIND_bwd_compilation_metrics_runtime;

/* Kinds of its own can be trusted. */
static bool taken(const struct trace_record *r)
{
	return !(r->flags & (REC_NO_PREFIX | REC_NO_JSON | REC_MALFORMED | REC_LOOSE | REC_OTHER_RANK));
}

struct wanted_value {
	const struct page *p;
	struct long_value v;
};
static bool is_wanted_value(const void *ctx, uint32_t row)
{
	const struct wanted_value *w = ctx;
	const struct long_value *v = &w->p->long_value[row];
	return v->hash == w->v.hash && v->n == w->v.n && v->log == w->v.log && v->key == w->v.key;
}

/* Which long values of this record an earlier line has. */
static void plan_values(struct page *p, const struct trace_scan *s, const struct trace_record *r, struct slot *x)
{
	for (unsigned i = 0; i < ARRAY_LEN(metrics_kind); i++) {
		const uint32_t of = trace_value(s, r, metrics_kind[i]);
		if (!json_is(&s->tape, of, JSON_OBJECT))
			continue;
		json_each_pair(&s->tape, of, k) {
			const struct slice value = json_raw(&s->tape, k + 1), name = json_slice(&s->tape, k);
			if (value.n < LONG_VALUE)
				continue;
			struct wanted_value w = {p,
						 {.hash = hash_bytes(value.p, value.n),
						  .line = s->first_line + r->line,
						  .n = (uint32_t)value.n,
						  .log = p->log,
						  .key = row_hash(name.p, name.n)}};
			const uint32_t hash = (uint32_t)w.v.hash ^ w.v.key, row = row_index_find(&p->longs, hash, is_wanted_value, &w);
			if (row != NONE) {
				PUSH(x, same) = (struct same_value){(uint32_t)(r - s->rec), k, p->long_value[row].line};
				continue;
			}
			row_index_add(&p->longs, hash, p->n_long_value);
			PUSH(p, long_value) = w.v;
		}
	}
}

static int plan_record(void *ctx, struct trace_scan *s, struct trace_record *r)
{
	struct page *p = ctx;
	struct slot *x = slot_of(s);
	if (r == s->rec)
		x->n = x->n_same = 0;
	if (r->kinds & metrics_kinds && !(r->kinds & (r->kinds - 1)) && taken(r)) /* of one kind: a reader finds the value by the line */
		plan_values(p, s, r, x);
	bool any = false;
	for (uint32_t i = 0; i < r->artifacts; i++)
		any |= !(p->t->artifact[r->first_artifact + i].flags & (ART_LINK | ART_NO_PAYLOAD));
	if (!any || !r->payload_len)
		return 0;
	uint32_t before = p->seen.n, k = intern_add(&p->seen, slice_of((const char *)r->md5, sizeof(r->md5)));
	if (p->seen.n > before) {
		/* A window's payloads share blocks; a block never spans windows, so that they stay independent. */
		struct piece *last = x->n ? &x->piece[x->n - 1] : NULL;
		struct where w = {p->next_block, 0};
		if (last) {
			const struct where *lw = &p->where[p->n_where - 1];
			uint32_t end = lw->offset + s->rec[last->record].payload_len;
			if ((uint64_t)end + r->payload_len <= BLOCK)
				w = (struct where){lw->block, end};
		}
		if (!w.offset)
			p->next_block++;
		PUSH(p, where) = w;
		GROW(x->piece, x->n, x->cap, 1);
		x->piece[x->n++] = (struct piece){(uint32_t)(r - s->rec), w.block};
	}
	for (uint32_t i = 0; i < r->artifacts; i++) {
		struct trace_artifact *a = &p->t->artifact[r->first_artifact + i];
		if (!(a->flags & (ART_LINK | ART_NO_PAYLOAD))) {
			a->block = p->where[k].block;
			a->offset = p->where[k].offset;
		}
	}
	return 0;
}

/* ---- parallel: pack ---- */

static void deflate64(struct slot *x, struct slice raw, struct buf *to)
{
	size_t bound = libdeflate_deflate_compress_bound(x->z, raw.n);
	buf_reset(&x->packed);
	buf_room(&x->packed, bound);
	size_t n = libdeflate_deflate_compress(x->z, raw.p, raw.n, x->packed.p, bound);
	base64_add(to, x->packed.p, n);
}

static void pack_payloads(struct slot *x, struct trace_scan *s)
{
	for (uint32_t i = 0; i < x->n;) {
		uint32_t block = x->piece[i].block;
		buf_reset(&x->raw);
		for (; i < x->n && x->piece[i].block == block; i++)
			buf_add_slice(&x->raw, trace_payload(s, &s->rec[x->piece[i].record]));
		buf_addf(&x->out, "<script type=\"text/plain\" id=\"p%u\">", block);
		deflate64(x, buf_slice(&x->raw), &x->out);
		buf_adds(&x->out, "</script>\n");
	}
}

static void end_block(struct slot *x, enum stream st)
{
	if (!x->lines[st].len)
		return;
	deflate64(x, buf_slice(&x->lines[st]), &x->done[st]);
	GROW(x->end[st], x->n_end[st], x->cap_end[st], 1);
	x->end[st][x->n_end[st]++] = x->done[st].len;
	buf_reset(&x->lines[st]);
}

static void add_compile(struct buf *b, unsigned log, uint32_t compile)
{
	buf_add_u64(b, log);
	buf_addc(b, ',');
	if (compile == NONE)
		buf_adds(b, "-1");
	else
		buf_add_u64(b, compile);
}

/* A line of a stream must not hold newlines; in JSON they are white space. */
static void add_flat(struct buf *b, struct slice s)
{
	size_t at = b->len;
	buf_add_slice(b, s);
	for (char *p = b->p + at; (p = memchr(p, '\n', (size_t)(b->p + b->len - p)));)
		*p = ' ';
}

static const char *main_key(const struct trace_scan *s, const struct trace_record *r, size_t *n)
{
	if (r->kinds) {
		const struct trace_kind_info *k = &trace_kind[__builtin_ctzll(r->kinds)];
		*n = k->name_len;
		return k->name;
	}
	/* An unknown key: the first one that is not context. */
	json_each_pair(&s->tape, r->root, k) {
		struct slice key = json_slice(&s->tape, k);
		if (!trace_is_context(key)) {
			*n = key.n;
			return key.p;
		}
	}
	*n = 1;
	return "?";
}

/* The value with null for what an earlier line has. */
static void add_without(struct buf *b, const struct trace_scan *s, uint32_t v, const struct same_value *same, uint32_t n)
{
	const struct slice all = json_raw(&s->tape, v);
	const char *from = all.p;
	for (uint32_t i = 0; i < n; i++) {
		const struct slice value = json_raw(&s->tape, same[i].token + 1);
		add_flat(b, slice_of(from, (size_t)(value.p - from)));
		buf_adds(b, "null");
		from = value.p + value.n;
	}
	add_flat(b, slice_of(from, (size_t)(all.p + all.n - from)));
}

static void add_metrics(struct page *p, struct trace_scan *s, struct trace_record *r, struct slot *x, uint32_t *at)
{
	struct buf *b = &x->lines[STREAM_M];
	for (unsigned i = 0; i < ARRAY_LEN(metrics_kind); i++) {
		uint32_t v = trace_value(s, r, metrics_kind[i]), n = 0;
		if (v == NONE)
			continue;
		buf_addf(b, "{\"log\":%u,\"attempt\":%lld,\"line\":%llu,\"key\":\"%s\",", p->log,
			 r->attempt == NONE ? -1ll : (long long)r->attempt, (unsigned long long)(s->first_line + r->line),
			 trace_kind[metrics_kind[i]].name);
		const struct same_value *same = x->same + *at;
		for (; *at < x->n_same && same[n].record == (uint32_t)(r - s->rec) && same[n].token > v &&
		       same[n].token < json_end(&s->tape, v);
		     n++, ++*at) {
			buf_adds(b, n ? "," : "\"same\":{");
			buf_addc(b, '"');
			buf_add_slice(b, json_slice(&s->tape, same[n].token));
			buf_addf(b, "\":%llu", (unsigned long long)same[n].line);
		}
		buf_adds(b, n ? "},\"m\":" : "\"m\":");
		add_without(b, s, v, same, n);
		buf_adds(b, "}\n");
	}
}

static void add_other(struct page *p, struct trace_scan *s, struct trace_record *r, struct slot *x)
{
	struct buf *b = &x->lines[STREAM_R];
	size_t n;
	const char *key = r->flags & REC_NO_PREFIX ? (n = 12, "not a record")
			  : r->flags & REC_NO_JSON ? (n = 8, "bad JSON")
						   : main_key(s, r, &n);
	add_compile(b, p->log, r->flags & REC_NO_PREFIX ? NONE : r->attempt);
	buf_addc(b, ',');
	buf_add_u64(b, s->first_line + r->line);
	buf_addc(b, ',');
	json_escape(b, slice_of(key, n), false);
	buf_addc(b, '\t');
	if (r->flags & (REC_NO_PREFIX | REC_NO_JSON | REC_LOOSE | REC_NOT_UTF8)) {
		struct slice e = trace_envelope(s, r);
		if (e.n > 4096 && r->flags & REC_NO_PREFIX)
			e.n = 4096; /* lines that are not records: their start is enough, raw.log has the rest */
		buf_addc(b, '"');
		json_escape(b, e, false);
		buf_addc(b, '"');
	} else {
		add_flat(b, json_raw(&s->tape, r->root));
	}
	if (r->payload_len && !(r->flags & REC_NO_PREFIX) && !r->artifacts) {
		buf_adds(b, "\t\"");
		json_escape(b, trace_payload(s, r), false);
		buf_addc(b, '"');
	}
	buf_addc(b, '\n');
}

static int emit(void *ctx, struct trace_scan *s)
{
	struct page *p = ctx;
	struct slot *x = slot_of(s);
	if (!x->z)
		return err_set(p->err, EXIT_ENVIRON, "cannot start the compressor");
	buf_reset(&x->out);
	for (unsigned i = 0; i < STREAMS; i++) {
		buf_reset(&x->done[i]);
		x->n_end[i] = 0;
	}
	if (!s->n)
		x->n = x->n_same = 0;
	uint32_t same = 0;
	pack_payloads(x, s);
	for (uint32_t i = 0; i < s->n; i++) {
		struct trace_record *r = &s->rec[i];
		const bool good = taken(r);
		if (good && r->kinds & metrics_kinds) {
			add_metrics(p, s, r, x, &same);
		} else if (good && r->kinds >> KIND_chromium_event & 1) {
			struct slice pay = trace_payload(s, r);
			if (pay.n) {
				add_compile(&x->lines[STREAM_E], p->log, r->attempt);
				buf_addc(&x->lines[STREAM_E], '\t');
				add_flat(&x->lines[STREAM_E], pay);
				buf_addc(&x->lines[STREAM_E], '\n');
			}
		} else if (!(good && r->artifacts) && !(good && r->kinds >> KIND_str & 1)) {
			add_other(p, s, r, x);
		}
		for (unsigned k = 0; k < STREAMS; k++)
			if (x->lines[k].len >= LINES_BLOCK)
				end_block(x, k);
	}
	for (unsigned k = 0; k < STREAMS; k++)
		end_block(x, k);
	return 0;
}

static int commit(void *ctx, struct trace_scan *s)
{
	struct page *p = ctx;
	struct slot *x = slot_of(s);
	for (unsigned k = 0; k < STREAMS; k++) {
		size_t at = 0;
		for (uint32_t i = 0; i < x->n_end[k]; i++) {
			buf_addf(&x->out, "<script type=\"text/plain\" id=\"%c%u\">", stream_name[k], p->lines_block[k]++);
			buf_add(&x->out, x->done[k].p + at, x->end[k][i] - at);
			buf_adds(&x->out, "</script>\n");
			at = x->end[k][i];
		}
	}
	char name[TEMP_NAME];
	return write_all(p->spool, x->out.p, x->out.len, temp_file_name(name), p->err) < 0 ? temp_failed(p->err) : 0;
}

/* ---- the page ---- */

static const char *const css[] = {"report/report.css", NULL}, *const graph_css[] = {"report/report.css", "page/graph.css", NULL};
/* One script, in this order; the last with what draws graphs, for logs that have any. */
#define SCRIPTS \
	"report/store.js", "report/highlight.js", "report/widgets.js", "report/timeline.js", "report/views.js", "report/browse.js", \
	    "report/provenance.js", "report/export.js", "report/vllm.js", "ranks/ranks.js"
static const char *const js[] = {SCRIPTS, "report/page.js", NULL};
static const char *const graph_js[] = {SCRIPTS, "page/graph.js", "report/drawing.js", "report/page.js", NULL};
static const struct html_page frame = {
    .title = "torch.compile report", .body = "report/report.html", .css = css, .js = js, .more_css = "ranks/ranks.css", .themed = true};

struct writing {
	struct page *p;
	struct json_stream x;
};

/* Blocks come from the spool. */
static int put_mark(void *user, struct slice mark)
{
	struct writing *w = user;
	struct page *p = w->p;
	if (slice_is(mark, "RANKS") && p->r->n > 1 && p->compare) {
		buf_adds(&w->x.b, "<template id=\"ranks\">\n");
		ranks_fragment(&w->x.b, &p->all);
		buf_adds(&w->x.b, "</template>\n");
	} else if (slice_is(mark, "MODEL")) {
		report_document(&w->x.o, p->r, true);
	} else if (slice_is(mark, "BLOCKS")) {
		return json_stream_write(&w->x) < 0 ? -1 : copy_all(p->spool, w->x.fd, w->x.what, p->err);
	}
	return 0;
}

static bool has_graphs(const struct report *r)
{
	for (unsigned i = 0; i < r->n; i++)
		for (uint32_t k = 0; k < r->log[i].n_artifact; k++)
			if (r->log[i].artifact[k].nodes > 1)
				return true;
	return false;
}

static int put_page(struct page *p, int fd, const char *what)
{
	struct writing w = {.p = p};
	json_stream(&w.x, fd, what, p->err);
	w.x.o.html = true;
	struct html_page own = frame;
	if (has_graphs(p->r)) {
		own.css = graph_css;
		own.js = graph_js;
	}
	const int r = html_page(&w.x.b, &own, put_mark, &w);
	return json_stream_end(&w.x) < 0 ? -1 : r;
}

struct page *page_new(struct report *r, const char *path, bool compare, struct err *err)
{
	bool file = path && strcmp(path, "-");
	struct output *out = file ? output_file(path, err) : NULL;
	if (file && !out)
		return NULL;
	int spool = temp_file(err);
	if (spool < 0) {
		output_abort(out);
		return NULL;
	}
	struct page *p = xcalloc(1, sizeof(*p));
	*p = (struct page){.r = r, .out = out, .what = file ? path : "standard output", .compare = compare, .spool = spool};
	return p;
}

/* Like page_add(), for a log that is in r->log. */
static int add_log(struct page *p, struct trace *t, const struct facts_options *o, page_progress_fn *progress, struct err *err)
{
	const struct trace_hooks h = {
	    .ctx = p,
	    .record = plan_record,
	    .emit = emit,
	    .commit = commit,
	    .free_slot = free_slot,
	    .progress = progress,
	    .in_part = true,
	};
	struct facts_options rows = o ? *o : (struct facts_options){0};
	rows.ranks = rows.keys = p->compare;
	int status = trace_read_facts(t, &rows, &h, err);
	if (p->compare && status == 0) {
		ranks_add(&p->all, t->f, t->input, p->log);
	} else if (p->compare) {
		const char *why = strstr(err->text, "': ");
		ranks_lost(&p->all, t->path, why ? why + 3 : err->text);
	}
	return status;
}

int page_add(struct page *p, const char *path, const struct facts_options *o, page_progress_fn *progress, struct err *err)
{
	struct report *r = p->r;
	r->log = xreallocarray(r->log, r->n + 1, sizeof(*r->log));
	struct trace *t = p->t = &r->log[r->n];
	trace_init(t, path, &r->facts);
	t->unlisted = true;
	p->err = err;
	p->log = r->n;
	int status = add_log(p, t, o, progress, err);
	if (status == 0) {
		r->n++;
	} else {
		r->unread |= t->unread != NULL;
		trace_release(t);
	}
	return status;
}

struct ranks *page_ranks(struct page *p) { return p->compare ? &p->all : NULL; }

int page_write(struct page *p, const struct explanation *told, struct err *err)
{
	struct report *r = p->r;
	p->err = err;
	r->blocks.p = p->next_block;
	r->blocks.m = p->lines_block[STREAM_M];
	r->blocks.e = p->lines_block[STREAM_E];
	r->blocks.r = p->lines_block[STREAM_R];
	if (p->compare)
		ranks_finish(&p->all);
	r->told = told;
	int status = put_page(p, p->out ? output_fd(p->out) : STDOUT_FILENO, p->what);
	r->told = NULL;
	if (status == 0 && p->out) {
		status = output_commit(p->out, err);
		p->out = NULL;
	}
	return status;
}

void page_free(struct page *p)
{
	output_abort(p->out);
	close(p->spool);
	ranks_release(&p->all);
	intern_release(&p->seen);
	free(p->where);
	row_index_release(&p->longs);
	free(p->long_value);
	free(p);
}
