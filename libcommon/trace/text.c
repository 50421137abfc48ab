#include "trace/text.h"

/* `  File "app/m.py", line 5, in f` */
static bool traceback_line(struct slice line, struct slice *file, uint32_t *number, struct slice *function)
{
	line = slice_trim(line);
	if (!slice_starts(line, "File \""))
		return false;
	const char *p = line.p + 6, *end = line.p + line.n, *quote = memchr(p, '"', (size_t)(end - p));
	if (!quote)
		return false;
	struct slice rest = slice_of(quote, (size_t)(end - quote));
	const char *at = slice_find(rest, "line "), *in = slice_find(rest, ", in ");
	if (!at)
		return false;
	const char *digits = at + 5, *stop = digits;
	while (stop < end && *stop >= '0' && *stop <= '9')
		stop++;
	uint64_t v;
	if (!slice_u64(slice_of(digits, (size_t)(stop - digits)), &v) || v > UINT32_MAX)
		return false;
	*file = slice_of(p, (size_t)(quote - p));
	*number = (uint32_t)v;
	*function = in ? slice_trim(slice_of(in + 5, (size_t)(end - in - 5))) : slice_of("", 0);
	return true;
}

/* `app/m.py:21 in step (note)`, at the start of s */
static bool place(struct slice s, struct slice *file, uint32_t *number, struct slice *function)
{
	s = slice_trim(s);
	const char *nl = memchr(s.p, '\n', s.n);
	if (nl)
		s.n = (size_t)(nl - s.p);
	for (size_t i = 0; i + 1 < s.n; i++) {
		if (s.p[i] != ':' || s.p[i + 1] < '0' || s.p[i + 1] > '9')
			continue;
		size_t j = i + 1;
		while (j < s.n && s.p[j] >= '0' && s.p[j] <= '9')
			j++;
		uint64_t v;
		if (!slice_u64(slice_of(s.p + i + 1, j - i - 1), &v) || v > UINT32_MAX || memchr(s.p, ' ', i))
			return false;
		*file = slice_of(s.p, i);
		*number = (uint32_t)v;
		*function = slice_of("", 0);
		struct slice rest = slice_of(s.p + j, s.n - j);
		if (slice_starts(rest, " in ")) {
			rest = slice_of(rest.p + 4, rest.n - 4);
			const char *stop = memchr(rest.p, ' ', rest.n);
			*function = slice_of(rest.p, stop ? (size_t)(stop - rest.p) : rest.n);
		}
		return true;
	}
	return false;
}

static struct slice upto(const char *from, const char *to)
{
	return slice_trim(slice_of(from, to > from ? (size_t)(to - from) : 0));
}

/* Text after a label at a line's start, to where the next label starts. */
static const char *next_label(const char *p, const char *end)
{
	static const char *const labels[] = {"  Hint: ", "  Explanation: ", "  Developer debug context: ", " For more details about",
					     "User code traceback:", "Traceback (most recent", "Stack variable source"};
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

void break_text_parse(struct slice text, struct break_text *b)
{
	*b = (struct break_text){.gb = -1};
	struct slice rest = text, line;
	const char *end = text.p + text.n;
	bool in_traceback = false;
	while (slice_line(&rest, &line)) {
		struct slice t = slice_trim(line);
		if (slice_starts(t, "Graph break in user code at ")) {
			place(slice_of(t.p + 28, t.n - 28), &b->file, &b->line, &b->function);
			b->function = slice_of("", 0);
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
			while (gb && gb + 6 + n < b->url.p + b->url.n && gb[6 + n] >= '0' && gb[6 + n] <= '9')
				n++;
			if (gb && slice_u64(slice_of(gb + 6, n), &v) && v < 100000)
				b->gb = (int)v;
		} else if (slice_starts(line, "User code traceback:")) {
			in_traceback = true;
		} else if (slice_starts(line, "Traceback (most recent")) {
			break;
		} else if (in_traceback) {
			struct slice file, function;
			uint32_t n;
			if (traceback_line(line, &file, &n, &function)) {
				/* The place named on top has no function; the traceback has it, with the code below. */
				if (!b->file.n || (n == b->line && slice_eq(file, b->file))) {
					b->file = file;
					b->line = n;
					b->function = function;
					struct slice code, peek = rest;
					if (slice_line(&peek, &code) && !slice_find(code, "File \""))
						b->code = slice_trim(code);
				}
			}
		} else if (!b->reason.n && t.n) {
			b->reason = t;
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
}

void recompile_text_parse(struct slice text, struct recompile_text *r)
{
	*r = (struct recompile_text){0};
	struct slice rest = text, first, line;
	if (!slice_line(&rest, &first))
		return;
	first = slice_trim(first);
	size_t i = 0;
	while (i < first.n && ((first.p[i] >= '0' && first.p[i] <= '9') || first.p[i] == '/' || first.p[i] == '!'))
		i++;
	if (i && i + 1 < first.n && first.p[i] == ':' && memchr(first.p, '/', i)) {
		r->rejected_by = slice_of(first.p, i);
		first = slice_trim(slice_of(first.p + i + 1, first.n - i - 1));
	}
	const char *hash = slice_find(first, "  # ");
	r->guard = slice_trim(slice_of(first.p, hash ? (size_t)(hash - first.p) : first.n));
	/* "# code  # file:line in function" */
	while (hash) {
		struct slice note = slice_of(hash + 4, (size_t)(first.p + first.n - hash - 4));
		const char *more = slice_find(note, "  # ");
		struct slice part = slice_trim(slice_of(note.p, more ? (size_t)(more - note.p) : note.n));
		if (!place(part, &r->file, &r->line, &r->function) && !r->code.n)
			r->code = part;
		hash = more;
	}
	/* The user stack names the file as the program knows it: the innermost frame is the place. */
	while (slice_line(&rest, &line)) {
		struct slice file, function;
		uint32_t n;
		if (!traceback_line(line, &file, &n, &function))
			continue;
		r->file = file;
		r->line = n;
		r->function = function;
		struct slice code, peek = rest;
		if (slice_line(&peek, &code) && !slice_find(code, "File \""))
			r->code = slice_trim(code);
	}
	old_new(r);
}
