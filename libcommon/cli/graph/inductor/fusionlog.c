#include "graph/inductor/fusionlog.h"
#include "graph/inductor/words.h"
#include "base/text.h"

/* "[8/0] [__fusion] ..." -> 8/0 */
static struct slice compile_of(struct slice line)
{
	for (const char *p = line.p, *end = line.p + line.n; p < end && (p = memchr(p, '[', (size_t)(end - p))); p++) {
		const char *q = p + 1;
		while (q < end && (is_digit(*q) || *q == '/' || *q == '_' || *q == '!'))
			q++;
		if (q < end && *q == ']' && q > p + 1 && memchr(p, '/', (size_t)(q - p)))
			return slice_of(p + 1, (size_t)(q - p - 1));
	}
	return SLICE("");
}

static void add_fusion(struct fusionlog *f, struct fusion row)
{
	/* Rounds repeat: look back a little. */
	for (uint32_t i = f->n, look = 512; i > f->part && look--; i--) {
		struct fusion *had = &f->row[i - 1];
		if (had->kind == row.kind && slice_eq(had->a, row.a) && slice_eq(had->b, row.b) && slice_eq(had->reason, row.reason)) {
			had->times++;
			return;
		}
	}
	if (f->n >= FUSIONLOG_MAX)
		return;
	PUSH_TO(f->row, f->n, f->cap) = row;
}

static bool pair(struct slice s, const char *mark, struct fusion *row)
{
	struct slice rest = behind(s, mark);
	if (!rest.p)
		return false;
	row->a = take_word(&rest);
	if (!row->a.n || !slice_starts(rest, " with "))
		return false;
	rest = after(rest, 6);
	row->b = take_word(&rest);
	row->reason = slice_starts(rest, ": ") ? slice_trim(after(rest, 2)) : SLICE("");
	return row->b.n > 0;
}

/* SchedulerNode(name='op1'), Pointwise(['[4, 32]', 'origins=OrderedSet([tanh])', ... */
static bool origins(struct slice line, struct fusion *row)
{
	struct slice rest = behind(line, "SchedulerNode(name='");
	if (!rest.p || slice_find(line, "snodes: ["))
		return false;
	row->a = take_word(&rest);
	if (!slice_starts(rest, "'), ") || !(rest = behind(rest, "origins=")).p)
		return false;
	const char *open = memchr(rest.p, rest.n && *rest.p == '{' ? '{' : '[', rest.n);
	const char *close = open ? memchr(open, *open == '{' ? '}' : ']', (size_t)(rest.p + rest.n - open)) : NULL;
	if (!close)
		return false;
	row->reason = slice_of(open + 1, (size_t)(close - open - 1));
	return row->a.n > 0;
}

void fusionlog_read(struct fusionlog *f, struct slice text)
{
	struct slice rest = text, line;
	f->open = f->part = f->n;
	for (uint32_t n = 1; slice_line(&rest, &line); n++) {
		struct fusion row = {.line = n, .times = 1};
		struct slice folder = behind(line, " debug trace: ");
		if (folder.p) {
			folder = slice_base(slice_trim(folder));
			for (; f->open < f->n; f->open++)
				f->row[f->open].folder = folder;
			f->part = f->n;
			continue;
		}
		if (slice_find(line, "Output code written to:"))
			f->part = f->n;
		if (pair(line, "cannot fuse ", &row) && row.reason.n)
			row.kind = FUSION_REFUSED;
		else if (!slice_find(line, "cannot fuse ") && pair(line, "fusing ", &row))
			row.kind = FUSION_DONE;
		else if (origins(line, &row))
			row.kind = FUSION_ORIGINS;
		else
			continue;
		row.compile = compile_of(line);
		add_fusion(f, row);
	}
}

void fusionlog_release(struct fusionlog *f)
{
	free(f->row);
	*f = (struct fusionlog){0};
}
