/* row.c - what the parsers share: texts, places and numbers of a row. */
#include "run/textlog/textlog_part.h"

uint32_t log_text(struct textlog *t, struct slice s)
{
	if (!s.n)
		return NONE;
	if (s.n > TEXTLOG_TEXT_MAX) {
		s.n = TEXTLOG_TEXT_MAX;
		while (s.n > TEXTLOG_TEXT_MAX - 3 && ((unsigned char)s.p[s.n] & 0xc0) == 0x80)
			s.n--; /* not inside a character */
		t->texts_cut++;
	}
	if (t->f->names.arena.total - t->names_before > TEXTLOG_NAMES_MAX) {
		uint32_t i = intern_find(&t->f->names, s);
		t->texts_left += i == NONE;
		return i;
	}
	return facts_intern(t->f, s);
}

struct fact_loc log_loc(struct textlog *t, const struct srcloc *at)
{
	if (!at->file.n)
		return facts_no_loc();
	return (struct fact_loc){log_text(t, at->file), at->line, log_text(t, at->func), log_text(t, at->code)};
}

void log_rank(struct textlog *t, int32_t rank) { t->rank = t->rank == -2 || t->rank == rank ? rank : -1; }

struct slice slice_unindent(struct slice s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = slice_of(s.p + 1, s.n - 1);
	return s;
}

uint32_t block_lines_to(const struct block *b, uint32_t i, const char *end)
{
	uint32_t lo = i, hi = b->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (b->text + b->line[mid].off < end)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - i;
}

bool place_parse(struct slice s, struct srcloc *out)
{
	uint64_t line;
	if (!s.p || !s.n)
		return false;
	const char *colon = slice_rchr(s, ':');
	if (!colon || colon == s.p || !slice_u64(slice_from(s, colon + 1), &line) || line > UINT32_MAX)
		return false;
	*out = (struct srcloc){.file = slice_upto(s, colon), .line = (uint32_t)line};
	return true;
}

bool slice_double(struct slice s, double *out)
{
	char text[64], *end;
	if (!s.n || s.n >= sizeof(text) || !memchr("0123456789.-", s.p[0], 12))
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = 0;
	*out = strtod(text, &end);
	return end == text + s.n && *out - *out == 0;
}

int64_t slice_int(struct slice s)
{
	uint64_t v;
	return slice_u64(s, &v) && v <= INT64_MAX ? (int64_t)v : -1;
}
