/* Any bytes as a text log, whole and in pieces: rows name only texts and rows that are there, and are the same. The same bytes as one
 * traceback: all that is taken out of them is inside. */
#include "torchlog/torchlog.h"
#include "torchlog/traceback.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *text;
static size_t length;

static void inside(struct slice s)
{
	if (s.n && (s.p < text || s.n > length || s.p + s.n > text + length))
		abort();
}

static void one_traceback(enum traceback_end end)
{
	struct traceback tb;
	size_t used = traceback_parse(slice_of(text, length), end, &tb);
	if (used > length)
		abort();
	inside(tb.whole);
	inside(tb.type);
	inside(tb.message);
	inside(tb.cpp);
	inside(tb.cpp_at.file);
	inside(tb.user.file);
	inside(tb.user.code);
	inside(tb.torch.func);
	inside(tb.inner.code);
	inside(tb.from_user.code);
	if (traceback_last(slice_of(text, length), &tb))
		inside(tb.whole);
}

static uint64_t check(const struct textlog *t)
{
	uint64_t sum = t->lines;
#define X(name, type) \
	for (uint32_t i = 0; i < t->name.n; i++) { \
		const struct textlog_at *at = &t->name.row[i].at; \
		if (!at->line || at->line > t->lines || (at->compile != NONE && at->compile >= t->names.n)) \
			abort(); \
		sum = sum * 31 + at->line; \
	} \
	sum = sum * 31 + t->name.n;
	TEXTLOG_TABLES(X)
#undef X
	for (uint32_t i = 0; i < t->traceback.n; i++) {
		const struct textlog_traceback *r = &t->traceback.row[i];
		if ((r->cause != UINT32_MAX && r->cause >= t->traceback.n) || (r->parent != UINT32_MAX && r->parent >= i))
			abort();
	}
	for (uint32_t i = 0; i < t->brk.n; i++)
		if (t->brk.row[i].explain != UINT32_MAX && t->brk.row[i].explain >= t->explain.n)
			abort();
	uint32_t open = textlog_open_phase(t, 0);
	if (open != UINT32_MAX && open >= t->phase.n)
		abort();
	return sum * 31 + t->names.n;
}

static uint64_t whole(size_t piece)
{
	struct textlog t;
	textlog_init(&t);
	for (size_t i = 0; i < length; i += piece)
		textlog_feed(&t, text + i, length - i < piece ? length - i : piece);
	textlog_finish(&t);
	uint64_t sum = check(&t);
	textlog_release(&t);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	text = (const char *)data;
	length = size;
	one_traceback(TRACEBACK_ALL);
	one_traceback(TRACEBACK_BARE);
	if (whole(size + !size) != whole(13))
		abort();
	return 0;
}
