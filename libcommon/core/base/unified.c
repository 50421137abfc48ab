#include "base/unified.h"

#include "base/hash.h"
#include "base/linediff.h"

enum { CONTEXT = 3 };

struct sides {
	const struct linediff *d;
	struct slice text[2];
};

static void put_line(struct buf *b, const struct sides *s, unsigned side, uint32_t line, char sign)
{
	buf_addc(b, sign);
	buf_add_slice(b, linediff_line(s->d, side, line));
	buf_addc(b, '\n');
	if (line + 1 == s->d->lines[side] && !slice_ends(s->text[side], "\n"))
		buf_adds(b, "\\ No newline at end of file\n");
}

/* Rows [from, to): removed lines before added ones. */
static void put_rows(struct buf *b, const struct sides *s, uint32_t from, uint32_t to)
{
	const struct linediff_row *row = s->d->row;
	for (uint32_t i = from, end; i < to; i = end) {
		end = i + 1;
		if (row[i].same) {
			put_line(b, s, 0, row[i].a, ' ');
			continue;
		}
		while (end < to && !row[end].same)
			end++;
		for (uint32_t k = i; k < end; k++)
			if (row[k].a != NONE)
				put_line(b, s, 0, row[k].a, '-');
		for (uint32_t k = i; k < end; k++)
			if (row[k].b != NONE)
				put_line(b, s, 1, row[k].b, '+');
	}
}

/* "12,3"; for no lines, the line before them. */
static void put_range(struct buf *b, uint32_t first, uint32_t n)
{
	buf_addf(b, "%u", n ? first + 1 : first);
	if (n != 1)
		buf_addf(b, ",%u", n);
}

static void put_hunk(struct buf *b, const struct sides *s, uint32_t from, uint32_t to)
{
	uint32_t first[2] = {0, 0}, n[2] = {0, 0};
	for (uint32_t i = 0; i < to; i++) {
		uint32_t *count = i < from ? first : n;
		count[0] += s->d->row[i].a != NONE;
		count[1] += s->d->row[i].b != NONE;
	}
	buf_adds(b, "@@ -");
	put_range(b, first[0], n[0]);
	buf_adds(b, " +");
	put_range(b, first[1], n[1]);
	buf_adds(b, " @@\n");
	put_rows(b, s, from, to);
}

/* A last line with a newline on only one side is not a common line. */
static uint64_t key_of(void *ctx, struct slice line)
{
	const struct sides *s = ctx;
	uint64_t h = hash_bytes(line.p, line.n);
	for (unsigned side = 0; side < 2; side++) {
		const struct slice t = s->text[side];
		if (t.n && t.p[t.n - 1] != '\n' && line.n && line.p + line.n == t.p + t.n)
			h ^= 1;
	}
	return h;
}

void unified_diff(struct buf *b, const char *name, struct slice before, struct slice after)
{
	const char *tab = strchr(name, ' ') ? "\t" : "";
	buf_addf(b, "--- a/%s%s\n+++ b/%s%s\n", name, tab, name, tab);
	unified_hunks(b, before, after);
}

void unified_hunks(struct buf *b, struct slice before, struct slice after)
{
	struct linediff d = {0};
	struct sides s = {.d = &d, .text = {before, after}};
	linediff_run(&d, before, after, key_of, &s);
	for (uint32_t i = 0; i < d.n; i++) {
		if (d.row[i].same)
			continue;
		uint32_t from = i < CONTEXT ? 0 : i - CONTEXT, last = i;
		for (uint32_t k = i; k < d.n && k - last <= 2 * CONTEXT; k++)
			last = d.row[k].same ? last : k;
		uint32_t to = last + 1 + CONTEXT < d.n ? last + 1 + CONTEXT : d.n;
		put_hunk(b, &s, from, to);
		i = to - 1;
	}
	linediff_release(&d);
}
