/* Any bytes as a text log, whole and in pieces: rows name only texts and rows that are there, and are the same. The same bytes as one
 * traceback: all that is taken out of them is inside. Out of their dress they have as many lines. */
#include "run/textlog/textlog.h"
#include "run/textlog/undress.h"
#include "run/traceback.h"

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

static size_t newlines(struct slice s)
{
	size_t n = 0;
	for (const char *p; (p = slice_chr(s, '\n')); n++)
		s = slice_of(p + 1, s.n - (size_t)(p + 1 - s.p));
	return n;
}

/* Without its dress, twice (what was learned from the first window is used in the second): as many lines. */
static void undressed(void)
{
	struct undress u = {0};
	for (int i = 0; i < 2; i++) {
		struct slice s = undress(&u, slice_of(text, length)), line;
		if (newlines(s) != newlines(slice_of(text, length)))
			abort();
		while (slice_line(&s, &line))
			if (line.n && !line.p)
				abort();
	}
	undress_release(&u);
}

static uint64_t check(const struct textlog *t)
{
	const struct facts *f = t->f;
	uint64_t sum = t->lines;
#define X(name, type) \
	for (uint32_t i = 0; i < f->n_##name; i++) { \
		const struct fact_src *src = &f->name[i].src; \
		if (src->line > t->lines || (f->name[i].compile != NONE && f->name[i].compile >= f->n_compile)) \
			abort(); \
		sum = sum * 31 + src->line; \
	} \
	sum = sum * 31 + f->n_##name;
	FACT_TABLES(X)
#undef X
	for (uint32_t i = 0; i < f->n_failure; i++)
		if (f->failure[i].cause != NONE && f->failure[i].cause >= f->n_failure)
			abort();
	uint32_t open = textlog_open_phase(t);
	if (open != NONE && open >= t->n_phase)
		abort();
	return sum * 31 + f->names.n;
}

static uint64_t whole(size_t piece)
{
	struct facts f;
	struct textlog t;
	facts_init(&f);
	textlog_init(&t, &f, facts_input(&f, FACT_TEXTLOG, "text"));
	for (size_t i = 0; i < length; i += piece)
		textlog_feed(&t, text + i, length - i < piece ? length - i : piece);
	textlog_finish(&t);
	uint64_t sum = check(&t);
	textlog_release(&t);
	facts_release(&f);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	text = (const char *)data;
	length = size;
	one_traceback(TRACEBACK_ALL);
	one_traceback(TRACEBACK_BARE);
	undressed();
	if (whole(size + !size) != whole(13))
		abort();
	return 0;
}
