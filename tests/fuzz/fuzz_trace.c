/* Any bytes as a log: scanned and reduced whole and in two windows, which must come to the same; the names of its files
 * are safe, and the document made of it is JSON. */
#include "../lib/model.h"

/* The document is no library: it is taken as it is. */
#include "run/page/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void safe(struct slice path)
{
	require(path.n > 0 && path.p[0] != '/' && !slice_chr(path, 0) && path.n < 2000);
	while (path.n) {
		const char *slash = slice_chr(path, '/');
		struct slice part = slice_of(path.p, slash ? (size_t)(slash - path.p) : path.n);
		require(part.n > 0 && part.n <= 255 && !slice_is(part, ".") && !slice_is(part, ".."));
		path = slice_of(path.p + part.n + (slash != NULL), path.n - part.n - (slash != NULL));
	}
}

static void window(struct trace *t, const uint8_t *data, size_t size, bool last)
{
	struct trace_scan s = {.window = {.len = size, .cap = size, .last = last}};
	s.window.data = xmalloc(size);
	if (size)
		memcpy(s.window.data, data, size);
	trace_scan_window(&s);
	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_record *r = &s.rec[i];
		require(r->line < s.lines + 1 && (uint64_t)r->envelope + r->envelope_len <= size);
		require((uint64_t)r->payload + r->payload_len <= size && (uint64_t)r->source + r->source_len <= size);
		require(!i || r->line > s.rec[i - 1].line);
	}
	require(trace_reduce_window(t, &s, NULL) == 0);
	trace_scan_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace one, two;
	struct report r = {.log = &one, .n = 1};
	struct buf a = {0}, b = {0};
	facts_init(&r.facts);
	trace_init(&one, "fuzz.log", &r.facts);
	one.input = facts_input(&r.facts, FACT_TRACE, one.path); /* as trace_read does */
	window(&one, data, size, true);
	model_text(&one, &a);
	for (size_t i = 1; i <= 3; i++) {
		size_t n = size * i / 4 + (i == 3), cut = n > size ? 0 : trace_cut((const char *)data, n);
		require(cut <= n);
		if (!cut || cut == size)
			continue;
		trace_init(&two, "fuzz.log", NULL);
		window(&two, data, cut, false);
		window(&two, data + cut, size - cut, true);
		buf_reset(&b);
		model_text(&two, &b);
		require(slice_eq(buf_slice(&a), buf_slice(&b)));
		trace_release(&two);
	}
	for (uint32_t i = 0; i < one.n_artifact; i++)
		for (int readable = 0; readable < 2; readable++) {
			if (one.artifact[i].flags & ART_LINK)
				continue;
			buf_reset(&b);
			trace_artifact_path(&one, &one.artifact[i], readable, &b);
			safe(buf_slice(&b));
		}
	trace_find_compile(&one, "0/0");
	report_finish(&r);
	struct json_tape t = {0};
	uint32_t root;
	for (int page = 0; page < 2; page++) {
		buf_reset(&b);
		struct json_out o = {.b = &b, .html = page};
		report_document(&o, &r, page);
		require(utf8_valid(buf_slice(&b)));
		json_tape_text(&t, b.p, b.len);
		require(json_parse(&t, 0, b.len, &root) == 0 && !t.loose);
	}
	json_tape_release(&t);
	trace_release(&one);
	facts_release(&r.facts);
	buf_release(&a);
	buf_release(&b);
	return 0;
}
