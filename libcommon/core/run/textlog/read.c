/* Lines of a text log: removes labels and prefixes, assembles the text of each label and record. */
#include "base/io/window.h"
#include "run/patterns/patterns.h"
#include "run/textlog/textlog_part.h"
#include "run/textlog/undress.h"

enum { CHANNELS = 32, PREFIX_SEARCH = 80 };

/* The text of one label: of the record being read, or bare. */
struct channel {
	struct buf label, prefix, text;
	struct log_line *line;
	uint32_t n, cap;
	size_t scan_at;
	bool headed;
	struct log_head head; /* its slices point into prefix */
	int32_t rank;
	uint64_t used;
};

void textlog_init(struct textlog *t, struct facts *f, uint32_t input)
{
	*t = (struct textlog){.f = f,
			      .input = input,
			      .from = facts_rows(f),
			      .last_failure = NONE,
			      .last_end = NONE,
			      .fault_row = NONE,
			      .rank = -2,
			      .names_before = f->names.arena.total};
	t->reader = xcalloc(1, sizeof(*t->reader));
	t->reader->channel = xcalloc(CHANNELS, sizeof(struct channel));
	log_index_init(t->reader->first);
}

static void reader_release(struct textlog_reader *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->n; i++) {
		buf_release(&r->channel[i].label);
		buf_release(&r->channel[i].prefix);
		buf_release(&r->channel[i].text);
		free(r->channel[i].line);
	}
	free(r->channel);
	buf_release(&r->part);
	buf_release(&r->clean);
	free(r);
}

void textlog_release(struct textlog *t)
{
	reader_release(t->reader);
	intern_release(&t->processes);
	intern_release(&t->times);
	generations_release(&t->generations);
	free(t->phase);
	free(t->said);
	free(t->stack);
	free(t->process);
	*t = (struct textlog){0};
}

/* Parses a channel's text; all of it if final. Incomplete text is kept. */
static void scan(struct textlog *t, struct channel *c, bool final)
{
	if (!c->n)
		return;
	struct block b = {.t = t, .text = buf_str(&c->text), .line = c->line, .n = c->n, .final = final};
	b.record = c->headed && c->head.strict;
	b.head = c->headed ? &c->head : NULL;
	b.compile = c->headed ? c->head.compile : slice_of("", 0);
	b.pid = c->headed ? c->head.pid : 0;
	b.rank = c->headed && c->head.rank >= 0 ? c->head.rank : c->rank;
	uint32_t done = log_scan(&b);
	if (done >= c->n) {
		c->n = 0;
		buf_cut(&c->text, 0);
	} else if (done) {
		uint32_t off = c->line[done].off;
		memmove(c->text.p, c->text.p + off, c->text.len - off);
		buf_cut(&c->text, c->text.len - off);
		memmove(c->line, c->line + done, (c->n - done) * sizeof(*c->line));
		c->n -= done;
		for (uint32_t i = 0; i < c->n; i++)
			c->line[i].off -= off;
	}
	c->scan_at = c->text.len * 2 > SCAN_AT ? c->text.len * 2 : SCAN_AT;
}

/* The channel of a label; replaces the least recently used one. */
static struct channel *channel_of(struct textlog *t, struct slice label, int32_t rank)
{
	struct textlog_reader *r = t->reader;
	struct channel *c = &r->channel[r->last];
	r->clock++;
	if (r->n && slice_eq(buf_slice(&c->label), label)) {
		c->used = r->clock;
		return c;
	}
	uint32_t oldest = 0, i;
	for (i = 0; i < r->n; i++) {
		c = &r->channel[i];
		if (slice_eq(buf_slice(&c->label), label))
			break;
		if (c->used < r->channel[oldest].used)
			oldest = i;
	}
	if (i == r->n) {
		i = r->n < CHANNELS ? r->n++ : oldest;
		c = &r->channel[i];
		scan(t, c, true);
		buf_reset(&c->label);
		buf_add_slice(&c->label, label);
		c->headed = false;
		c->rank = rank;
		c->scan_at = SCAN_AT;
	}
	r->last = i;
	c->used = r->clock;
	return c;
}

static void append(struct textlog *t, struct channel *c, struct slice text, uint64_t no)
{
	PUSH_TO(c->line, c->n, c->cap) = (struct log_line){no, (uint32_t)c->text.len, (uint32_t)text.n};
	char *to = buf_room(&c->text, text.n + 1);
	if (text.n)
		memcpy(to, text.p, text.n);
	to[text.n] = '\n';
	buf_wrote(&c->text, text.n + 1);
	if (UNLIKELY(c->text.len >= c->scan_at))
		scan(t, c, false);
}

static void new_record(struct textlog *t, struct channel *c, struct slice line, const struct log_head *h)
{
	scan(t, c, true);
	buf_reset(&c->prefix);
	buf_add(&c->prefix, line.p, h->len);
	struct log_head *own = &c->head;
	*own = *h;
	const char *base = line.p;
	if (own->source.n)
		own->source.p = c->prefix.p + (own->source.p - base);
	if (own->compile.n)
		own->compile.p = c->prefix.p + (own->compile.p - base);
	if (own->artifact.n)
		own->artifact.p = c->prefix.p + (own->artifact.p - base);
	c->headed = true;
	t->records++;
	if (h->level != 'V' && h->level != 'I')
		log_rank(t, h->rank >= 0 ? h->rank : c->rank);
}

/* ESC [ ... letter, ESC ] ... BEL; NULs of UTF-16 */
static struct slice clean(struct textlog_reader *r, struct slice line)
{
	buf_reset(&r->clean);
	for (size_t i = 0; i < line.n;) {
		char c = line.p[i];
		if (c == '\x1b' && i + 1 < line.n && line.p[i + 1] == '[') {
			i += 2;
			while (i < line.n && !(line.p[i] >= '@' && line.p[i] <= '~'))
				i++;
			i++;
		} else if (c == '\x1b' && i + 1 < line.n && line.p[i + 1] == ']') {
			i += 2;
			while (i < line.n && line.p[i] != '\a' && line.p[i] != '\x1b')
				i++;
			i++;
		} else {
			if (c != '\x1b' && !(r->utf16 && !c))
				buf_addc(&r->clean, c);
			i++;
		}
	}
	return buf_slice(&r->clean);
}

/* A prefix after an unknown label: somewhere in the first columns, after a space or colon. */
static size_t find_head(struct slice line, struct log_head *h)
{
	size_t max = line.n < PREFIX_SEARCH ? line.n : PREFIX_SEARCH;
	for (size_t i = 1; i + 1 < max; i++)
		if (is_digit(line.p[i + 1]) && memchr("VIWEC", line.p[i], 5) && memchr(" :|]\t", line.p[i - 1], 5) &&
		    log_head_parse(slice_skip(line, i), h))
			return i;
	return 0;
}

static bool same_record(const struct channel *c, struct slice line)
{
	size_t n = c->prefix.len;
	return c->headed && line.n >= n && !memcmp(line.p, c->prefix.p, n) && (line.n == n || line.p[n] == ' ');
}

static void take_line(struct textlog *t, struct slice line)
{
	struct textlog_reader *r = t->reader;
	uint64_t no = ++t->lines;
	if (UNLIKELY(no == 1) && line.n >= 2) {
		r->utf16 = !memcmp(line.p, "\xff\xfe", 2) || !memcmp(line.p, "\xfe\xff", 2);
		line = slice_skip(line, r->utf16 ? 2 : slice_starts(line, "\xef\xbb\xbf") ? 3 : 0);
	}
	if (UNLIKELY(r->utf16) || UNLIKELY(line.n && slice_chr(line, '\x1b')))
		line = clean(r, line);
	while (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	struct slice label = slice_of("", 0);
	int32_t rank = -1;
	size_t n;
	bool own;
	for (int i = 0; i < LABELS_MAX && (n = log_label(line, &rank, &own)); i++) {
		if (own)
			label = slice_of(line.p, n);
		line = slice_skip(line, n);
	}
	while (label.n && label.p[label.n - 1] == ' ')
		label.n--; /* a line that ends after the label may have lost it */
	struct channel *c = channel_of(t, label, rank);
	struct log_head h;
	bool same = same_record(c, line), head = false;
	if (!same) {
		size_t at = 0;
		head = log_head_parse(line, &h) || (at = find_head(line, &h)) > 0;
		line = slice_skip(line, at);
		same = at && same_record(c, line);
	}
	if (same) {
		line = slice_skip(line, c->prefix.len + 1);
	} else if (head) {
		new_record(t, c, line, &h);
		line = slice_skip(line, h.len + (line.n > h.len && line.p[h.len] == ' '));
	} else if (c->headed && c->head.strict) {
		scan(t, c, true);
		c->headed = false;
	}
	append(t, c, line, no);
}

static void cut_line(struct textlog *t, struct slice line)
{
	if (line.n > TEXTLOG_LINE_MAX) {
		line.n = TEXTLOG_LINE_MAX;
		t->long_lines++;
	}
	take_line(t, line);
}

void textlog_feed(struct textlog *t, const char *data, size_t n)
{
	struct textlog_reader *r = t->reader;
	struct slice rest = slice_of(data, n);
	t->bytes += n;
	while (rest.n) {
		const char *nl = slice_chr(rest, '\n');
		size_t len = nl ? (size_t)(nl - rest.p) : rest.n;
		if (nl && !r->part.len) {
			cut_line(t, slice_of(rest.p, len));
		} else {
			/* Reads one byte more than a line may have, to detect that a line is cut. */
			size_t room = TEXTLOG_LINE_MAX + 1 - r->part.len;
			buf_add(&r->part, rest.p, len < room ? len : room);
			if (nl) {
				cut_line(t, buf_slice(&r->part));
				buf_reset(&r->part);
			}
		}
		rest = slice_skip(rest, nl ? len + 1 : len);
	}
}

void textlog_finish(struct textlog *t)
{
	struct textlog_reader *r = t->reader;
	if (r->part.len)
		cut_line(t, buf_slice(&r->part));
	buf_reset(&r->part);
	for (uint32_t i = 0; i < r->n; i++)
		scan(t, &r->channel[i], true);
	reader_release(r);
	t->reader = NULL;
	log_finish(t);
}

static void on_match(void *ctx, const struct pattern_match *m)
{
	struct textlog *t = ctx;
	struct pattern_match bare = *m; /* a quote is compared with messages, which have no labels */
	struct log_head h;
	bare.quote = slice_skip(m->quote, log_labels(m->quote));
	if (log_head_parse(bare.quote, &h) && h.strict && !slice_find(h.source, "torch")) /* torch's own says how grave it is */
		bare.quote = slice_skip(bare.quote, h.len);
	facts_take_known(t->f, fact_src(t->input, m->line), NONE, &bare);
}

/* Whole lines if there are any: pieces that end at a line end are not copied. */
static size_t line_end(const char *data, size_t len)
{
	const char *nl = memrchr(data, '\n', len);
	return nl ? (size_t)(nl + 1 - data) : len;
}

static void read_all(struct textlog *t, struct input *in, const struct facts_options *o)
{
	OWNED(window_release) struct window w = {0};
	OWNED(undress_release) struct undress u = {0};
	struct pattern_scan scan;
	uint64_t bytes = 0;
	bool known = o && o->patterns, last = false;
	if (known)
		pattern_scan_init(&scan, o->patterns, on_match, t);
	while (input_next(in, &w, 1 << 20, line_end) > 0) {
		last = w.last;
		bytes += w.len;
		struct slice plain = undress(&u, slice_of(w.data, w.len));
		textlog_feed(t, plain.p, plain.n);
		if (known)
			pattern_scan_feed(&scan, plain, last);
	}
	t->bytes = bytes; /* of the text as it is */
	if (known) {
		if (!last)
			pattern_scan_feed(&scan, slice_of("", 0), true);
		pattern_scan_release(&scan);
	}
	t->lost = in->lost;
	t->f->input[t->input].unread = in->unread ? in->lost : NULL;
	textlog_finish(t);
}

int facts_add_textlog(struct facts *f, const char *path, const struct facts_options *o, struct err *err)
{
	struct textlog t;
	struct input in;
	if (input_open(&in, path, err) < 0)
		return -1;
	textlog_init(&t, f, facts_input(f, FACT_TEXTLOG, path));
	read_all(&t, &in, o);
	input_close(&in);
	textlog_release(&t);
	return 0;
}
