#include "run/text.h"
#include "base/bytes16.h"
#include "base/hash.h"
#include "base/text.h"

static struct slice upto(const char *from, const char *to) { return slice_trim(slice_of(from, to > from ? (size_t)(to - from) : 0)); }

/* Text after a label at a line's start, to where the next label starts. */
static const char *next_label(const char *p, const char *end)
{
	static const char *const labels[] = {"  Hint: ",
					     "  Explanation: ",
					     "  Developer debug context: ",
					     " For more details about",
					     "User code traceback:",
					     "Traceback (most recent",
					     "Stack variable source"};
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl)
			return end;
		p = nl + 1;
		for (unsigned i = 0; i < ARRAY_LEN(labels); i++)
			if (slice_starts(slice_of(p, (size_t)(end - p)), labels[i]))
				return p;
	}
	return end;
}

/* "app/m.py:5": the file is everything up to the last colon, including spaces. */
static void top_place(struct slice s, struct srcloc *at)
{
	const char *colon = slice_rchr(s, ':');
	uint64_t line;
	if (colon && slice_u64(slice_of(colon + 1, (size_t)(s.p + s.n - colon - 1)), &line) && line <= UINT32_MAX)
		*at = (struct srcloc){.file = slice_of(s.p, (size_t)(colon - s.p)), .line = (uint32_t)line};
}

/* The backend's failure is logged at the end of the frame; its own words name the line: "Original traceback:\n  File ...". */
static void backend_place(struct break_text *b)
{
	static const char original[] = "Original traceback:";
	struct slice rest = slice_behind(b->explanation, original);
	struct srcloc at;
	if (!slice_starts(b->reason, "Backend compiler exception") || !slice_find(b->explanation, original))
		return;
	while (srcloc_next(&rest, &at))
		if (at.form == SRCLOC_PYTHON && srcloc_origin(at.file) == SRCLOC_USER)
			b->at = at;
}

void break_text_parse(struct slice text, struct break_text *b)
{
	*b = (struct break_text){.gb = -1};
	if (!text.n)
		return;
	struct slice rest = text, line;
	const char *end = text.p + text.n;
	bool in_traceback = false;
	while (slice_line(&rest, &line)) {
		struct slice t = slice_trim(line);
		if (slice_starts(t, "Graph break in user code at ")) {
			top_place(slice_of(t.p + 28, t.n - 28), &b->at);
		} else if (slice_starts(t, "Graph Break Reason: ") || slice_starts(t, "Reason: ")) {
			const char *colon = slice_find(t, "Reason: ") + 8;
			b->reason = slice_of(colon, (size_t)(t.p + t.n - colon));
			if (slice_ends(b->reason, ":")) /* a heading; the reason follows */
				b->reason.n = 0;
		} else if (slice_starts(line, "  Explanation: ")) {
			b->explanation = upto(line.p + 15, next_label(line.p, end));
		} else if (slice_starts(line, "  Hint: ")) {
			if (b->hints < ARRAY_LEN(b->hint))
				b->hint[b->hints++] = upto(line.p + 8, next_label(line.p, end));
		} else if (slice_starts(line, "  Developer debug context: ")) {
			b->context = upto(line.p + 27, next_label(line.p, end));
		} else if (slice_find(t, "please visit: ")) {
			const char *u = slice_find(t, "please visit: ") + 14;
			b->url = upto(u, t.p + t.n);
			const char *gb = slice_find(b->url, "/gb/gb");
			uint64_t v;
			size_t n = 0;
			while (gb && gb + 6 + n < b->url.p + b->url.n && is_digit(gb[6 + n]))
				n++;
			if (gb && slice_u64(slice_of(gb + 6, n), &v) && v < 100000)
				b->gb = (int)v;
		} else if (slice_starts(line, "User code traceback:")) {
			in_traceback = true;
			b->stack = slice_of(rest.p, (size_t)(end - rest.p));
		} else if (slice_starts(line, "Traceback (most recent")) {
			b->stack.n = b->stack.n ? (size_t)(line.p - b->stack.p) : 0;
			break;
		} else if (in_traceback) {
			struct slice from = slice_of(line.p, (size_t)(end - line.p));
			struct srcloc at;
			/* The location at the top has no function; the traceback has it, with the code below. */
			if (slice_starts(t, "File \"") && srcloc_next(&from, &at) &&
			    (!b->at.file.n || (at.line == b->at.line && slice_eq(at.file, b->at.file))))
				b->at = at;
		} else if (!b->reason.n && t.n) {
			b->reason = t;
		}
	}
	backend_place(b);
}

void traceback_frames(struct slice traceback, uint32_t most, struct buf *out)
{
	struct srcloc last[BREAK_FRAMES], at;
	uint32_t n = 0;
	while (srcloc_next(&traceback, &at))
		if (at.form == SRCLOC_PYTHON)
			last[n++ % most] = at;
	buf_reset(out);
	for (uint32_t i = n > most ? n - most : 0; i < n; i++) {
		const struct srcloc *x = &last[i % most];
		if (out->len)
			buf_addc(out, '\n');
		srcloc_format(out, x, SRCLOC_AT, false);
		if (x->code.n) {
			buf_adds(out, ": ");
			buf_add_slice(out, x->code);
		}
	}
}

bool break_text_is_break(const struct break_text *b) { return b->gb >= 0 || b->explanation.n > 0; }

/* "expected 3, actual 5" and its kin */
static void old_new(struct recompile_text *r)
{
	const char *e = slice_find(r->guard, "expected "), *a = slice_find(r->guard, ", actual ");
	const char *end = r->guard.p + r->guard.n;
	if (e) {
		e += 9;
		const char *stop = a ? a : end;
		if (stop < e)
			return;
		r->old = upto(e, stop);
		if (a)
			r->new = upto(a + 9, end);
		while (r->old.n && r->old.p[r->old.n - 1] == '.')
			r->old.n--;
		while (r->new.n && r->new.p[r->new.n - 1] == '.')
			r->new.n--;
		return;
	}
	const char *type = slice_find(r->guard, "type=<class '");
	if (type) {
		type += 13;
		const char *q = memchr(type, '\'', (size_t)(end - type));
		if (q)
			r->old = slice_of(type, (size_t)(q - type));
		return;
	}
	const char *eq = slice_find(r->guard, " == ");
	if (eq && !slice_find(slice_of(eq + 4, (size_t)(end - eq - 4)), " == "))
		r->old = upto(eq + 4, end);
	/* A value, not another expression. */
	if (r->old.n && !strchr("0123456789-'\"TFN[(", r->old.p[0]))
		r->old.n = 0;
}

void recompile_text_parse(struct slice text, struct recompile_text *r)
{
	*r = (struct recompile_text){0};
	struct slice rest = text, first;
	if (!slice_line(&rest, &first))
		return;
	first = slice_trim(first);
	size_t i = 0;
	while (i < first.n && (is_digit(first.p[i]) || first.p[i] == '/' || first.p[i] == '!'))
		i++;
	if (i && i < first.n && first.p[i] == ':' && memchr(first.p, '/', i)) { /* "0/0: ": torch does not know why */
		r->rejected_by = slice_of(first.p, i);
		first = slice_trim(slice_of(first.p + i + 1, first.n - i - 1));
	}
	const char *hash = slice_find(first, "  # ");
	r->guard = slice_trim(slice_of(first.p, hash ? (size_t)(hash - first.p) : first.n));
	/* "# code  # file:line in function" */
	struct slice code = {"", 0};
	while (hash) {
		struct slice note = slice_of(hash + 4, (size_t)(first.p + first.n - hash - 4));
		const char *more = slice_find(note, "  # ");
		struct slice part = slice_trim(slice_of(note.p, more ? (size_t)(more - note.p) : note.n));
		struct srcloc at;
		/* Two guards joined: "# x * 2  # m.py:3 in f (... due to 0/1 specialization ...) and if x.shape[0] > 16:  # m.py:2 in f" */
		const char *and = more ? slice_find(part, ") and ") : NULL;
		if (and)
			code = slice_trim(slice_of(and+6, (size_t)(part.p + part.n - and) - 6));
		else if (more && !code.n)
			code = part;
		else if (srcloc_parse(part, &at))
			r->at = at;
		hash = more;
	}
	/* The user stack has the file name as used in the program: its innermost frame is the location. */
	struct srcloc at;
	while (srcloc_next(&rest, &at))
		if (at.form == SRCLOC_PYTHON)
			r->at = at;
	if (!r->at.code.n)
		r->at.code = code;
	old_new(r);
}

void put_function(struct buf *b, struct slice file, int64_t line, struct slice function)
{
	put_flat(b, function.n ? function : SLICE("?"), 200);
	if (file.n) {
		buf_adds(b, " (");
		put_flat(b, srcloc_short_file(file), 300);
		if (line > 0)
			buf_addf(b, ":%lld", (long long)line);
		buf_addc(b, ')');
	}
}

/* cuda:3 and index=3 are cuda:* and index=*: every rank has a device of its own. */
static void without_devices(struct buf *b, struct slice s)
{
	static const char *const mark[] = {"cuda:", "xpu:", "hpu:", "npu:", "privateuseone:", "index="};
	for (size_t i = 0; i < s.n;) {
		char c = s.p[i];
		if (c == 'c' || c == 'x' || c == 'h' || c == 'n' || c == 'p' || c == 'i') {
			size_t n = 0;
			for (unsigned k = 0; k < ARRAY_LEN(mark) && !n; k++)
				if (slice_starts(slice_of(s.p + i, s.n - i), mark[k]))
					n = strlen(mark[k]);
			if (n && i + n < s.n && is_digit(s.p[i + n])) {
				buf_add(b, s.p + i, n);
				buf_addc(b, '*');
				for (i += n; i < s.n && is_digit(s.p[i]); i++)
					;
				continue;
			}
		}
		buf_addc(b, c);
		i++;
	}
}

/* Its messages, by their starts. */
struct slice text_heap_message(struct slice line)
{
	static const char *const starts[] = {"malloc(): ",
					     "free(): ",
					     "realloc(): ",
					     "munmap_chunk(): ",
					     "mremap_chunk(): ",
					     "malloc_consolidate(): ",
					     "malloc_check_get_size: memory corruption",
					     "malloc: top chunk is corrupt",
					     "tcache_thread_shutdown(): ",
					     "double free or corruption (",
					     "corrupted size vs. prev_size",
					     "corrupted double-linked list",
					     "invalid fastbin entry (free)",
					     "Fatal glibc error: malloc"};
	line = slice_trim(line);
	if (slice_starts(line, "*** Error in `")) { /* before 2.26 */
		const char *quote = slice_find(line, "': ");
		line = quote ? slice_of(quote + 3, (size_t)(line.p + line.n - quote - 3)) : line;
	}
	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (slice_starts(line, starts[i])) {
			const char *stars = slice_find(line, " ***");
			return stars ? slice_of(line.p, (size_t)(stars - line.p)) : line;
		}
	/* "server: malloc.c:2617: sysmalloc: Assertion `...' failed." */
	const char *file = slice_find(line, ": malloc.c:");
	line = file ? slice_of(file + 2, (size_t)(line.p + line.n - file - 2)) : line;
	return slice_starts(line, "malloc.c:") && slice_find(line, "Assertion `") ? line : slice_of("", 0);
}

/* Most graphs name no numbered device: search for something like "cuda:3" or "index=3" instead of copying. */
static bool may_name_device(struct slice s)
{
	for (const char *p = s.p, *end = s.p + s.n; p < end; p++) {
		BYTES16_SKIP(p, end, c, (c == ':') | (c == '='))
		if (end - p < 2 || !is_digit(p[1]) || p - s.p < 2)
			continue;
		if (*p == ':' ? strchr("aue", p[-1]) != NULL : p[-1] == 'x' && p[-2] == 'e') /* cuda: xpu: privateuseone: index= */
			return true;
	}
	return false;
}

uint64_t graph_fingerprint(struct slice s, struct buf *tmp)
{
	if (may_name_device(s)) {
		buf_reset(tmp);
		without_devices(tmp, s);
		s = buf_slice(tmp);
	}
	uint64_t h = hash_bytes(s.p, s.n);
	return h ? h : 1;
}
