/* log.h - structured traces made for a test: records put together, windows scanned and reduced. */
#ifndef PT2_TEST_LOG_H
#define PT2_TEST_LOG_H
#include <md5.h>

#include "model.h"
#include "test.h"

#define PREFIX "V1121 07:59:23.043000 1234 torch/x.py:915] "

static inline void md5_text(const char *p, size_t n, char out[33])
{
	MD5_CTX c;
	uint8_t sum[16];
	MD5Init(&c);
	MD5Update(&c, (const uint8_t *)p, n);
	MD5Final(sum, &c);
	for (int i = 0; i < 16; i++)
		snprintf(out + 2 * i, 3, "%02x", sum[i]);
}

/* A record: the members of its envelope, and its payload or NULL. before stands at the start of each line. */
static inline void add_record(struct buf *b, const char *before, const char *members, const char *payload)
{
	buf_addf(b, "%s" PREFIX "{%s", before, members);
	if (payload) {
		char md5[33];
		md5_text(payload, strlen(payload), md5);
		buf_addf(b, ", \"has_payload\": \"%s\"", md5);
	}
	buf_adds(b, "}\n");
	struct slice rest = slice_str(payload ? payload : ""), line;
	while (slice_line(&rest, &line))
		buf_addf(b, "%s\t%.*s\n", before, SL(line));
}

/* Scan and reduce one window, its end against memory that cannot be read. The records live until the next call. */
struct reader {
	struct trace t;
	struct trace_scan s;
	struct guard g;
};
static inline void reader_init(struct reader *r)
{
	*r = (struct reader){0};
	trace_init(&r->t, "test.log", NULL);
}
static inline void reader_window(struct reader *r, struct slice text, bool last)
{
	r->s.window = (struct window){.data = guard_put(&r->g, text.p, text.n), .len = text.n, .last = last};
	trace_scan_window(&r->s);
	if (trace_reduce_window(&r->t, &r->s, NULL) < 0)
		abort();
}
static inline void reader_release(struct reader *r)
{
	r->s.window.data = NULL;
	trace_scan_release(&r->s);
	trace_release(&r->t);
	guard_release(&r->g);
}

#endif
