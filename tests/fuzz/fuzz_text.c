/* Any bytes as a graph break or a recompile reason: all that is taken out of the text is inside it. */
#include "run/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *text;
static size_t length;

static void inside(struct slice s)
{
	if (s.n && (s.p < text || s.n > length || s.p + s.n > text + length))
		abort();
}

static void place(const struct srcloc *at)
{
	inside(at->file);
	inside(at->func);
	inside(at->code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct break_text b;
	struct recompile_text r;
	text = (const char *)data;
	length = size;
	break_text_parse(slice_of(text, size), &b);
	place(&b.at);
	inside(b.reason);
	inside(b.explanation);
	inside(b.context);
	inside(b.url);
	if (b.hints > ARRAY_LEN(b.hint) || b.gb < -1)
		abort();
	for (unsigned i = 0; i < b.hints; i++)
		inside(b.hint[i]);
	break_text_is_break(&b);
	recompile_text_parse(slice_of(text, size), &r);
	place(&r.at);
	inside(r.rejected_by);
	inside(r.guard);
	inside(r.old);
	inside(r.new);
	return 0;
}
