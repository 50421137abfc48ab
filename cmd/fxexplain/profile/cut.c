/* cut.c - finds where events start and end in a text that arrives in pieces. Only quotes and brackets matter, so NaN, missing commas
 * and the like between or inside events do no harm; 64 bytes at a time inside the list of events. */
#include "profile/profile_part.h"
#include "base/bytes16.h"

enum { SHORTEST = 16 }; /* minimum bytes of an event, less one: shorter objects would cost more memory than they take */

static void opened(struct cutter *c, char what, uint32_t at)
{
	if (c->depth == c->base)
		c->from = what == '{' ? at : NONE;
	c->depth++;
}

static void closed(struct cutter *c, uint32_t at)
{
	if (--c->depth < c->base) {
		c->where = CUT_END;
		return;
	}
	if (c->depth == c->base && c->from != NONE) {
		if (at - c->from < SHORTEST) {
			c->from = NONE;
			return;
		}
		PUSH_TO(c->span, c->n, c->cap) = (struct event_span){c->from, at + 1};
		c->from = NONE;
	}
}

static void head_byte(struct cutter *c, const char *text, uint32_t at)
{
	const char b = text[at];
	if (b == '{' || b == '[') {
		static const char events[] = "traceEvents";
		const bool here = c->depth == 1 && b == '[' && c->key_end - c->key == sizeof(events) - 1 &&
				  !memcmp(text + c->key, events, sizeof(events) - 1);
		c->depth++;
		if (here) {
			c->where = CUT_EVENTS;
			c->base = 2;
			c->from = NONE;
		}
	} else if ((b == '}' || b == ']') && !--c->depth) {
		c->where = CUT_END;
	}
}

static void start_byte(struct cutter *c, char b)
{
	if (b == '{') {
		c->where = CUT_HEAD;
		c->depth = 1;
	} else if (b == '[') {
		c->where = CUT_EVENTS;
		c->depth = c->base = 1;
	} else if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
		c->where = CUT_NOT_JSON;
	}
}

static void one_byte(struct cutter *c, const char *text, uint32_t at)
{
	const char b = text[at];
	if (c->in_string) {
		if (c->escape)
			c->escape = false;
		else if (b == '\\')
			c->escape = true;
		else if (b == '"') {
			c->in_string = 0;
			c->key_end = at;
		}
	} else if (c->where == CUT_START) {
		start_byte(c, b);
	} else if (b == '"') {
		c->in_string = UINT64_MAX;
		c->key = at + 1;
	} else if (c->where == CUT_HEAD) {
		head_byte(c, text, at);
	} else if (b == '{' || b == '[') {
		opened(c, b, at);
	} else if (b == '}' || b == ']') {
		closed(c, at);
	}
}

struct masks {
	uint64_t quote, back, open, close;
};

static struct masks masks_of(const char *p)
{
	struct masks m = {0};
	for (unsigned i = 0; i < 64; i += 16) {
		const bytes16 v = bytes16_load(p + i), w = v | bytes16_of(0x20); /* maps [ and ] to { and } */
		m.quote |= (uint64_t)bytes16_mask(v == bytes16_of('"')) << i;
		m.back |= (uint64_t)bytes16_mask(v == bytes16_of('\\')) << i;
		m.open |= (uint64_t)bytes16_mask(w == bytes16_of('{')) << i;
		m.close |= (uint64_t)bytes16_mask(w == bytes16_of('}')) << i;
	}
	return m;
}

/* Bit k: the parity of the bits up to k. */
static uint64_t parity(uint64_t x)
{
	for (unsigned s = 1; s < 64; s <<= 1)
		x ^= x << s;
	return x;
}

/* 64 bytes of events; false if they contain a backslash: then byte by byte. */
static bool one_block(struct cutter *c, const char *text, size_t at)
{
	struct masks m = masks_of(text + at);
	if (m.back || c->escape)
		return false;
	const uint64_t inside = parity(m.quote) ^ c->in_string;
	c->in_string = (uint64_t)((int64_t)inside >> 63);
	uint64_t all = (m.open | m.close) & ~inside;
	for (; all && c->where == CUT_EVENTS; all &= all - 1) {
		const uint32_t k = (uint32_t)at + (uint32_t)__builtin_ctzll(all);
		if (m.open & all & -all)
			opened(c, text[k], k);
		else
			closed(c, k);
	}
	return true;
}

void cut_scan(struct cutter *c, const char *text, size_t at, size_t len)
{
	while (at < len && c->where != CUT_END && c->where != CUT_NOT_JSON) {
		if (c->where == CUT_EVENTS && len - at >= 64) {
			if (!one_block(c, text, at))
				for (size_t i = 0; i < 64 && c->where == CUT_EVENTS; i++)
					one_byte(c, text, (uint32_t)(at + i));
			at += 64;
			continue;
		}
		one_byte(c, text, (uint32_t)at++);
	}
}
