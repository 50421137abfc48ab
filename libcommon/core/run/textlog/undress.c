/* Takes a text out of its dress: undress.h. */
#include "run/textlog/undress.h"

#include "run/textlog/textlog_part.h"

static const char title[] = "Traceback (most recent call last)";

enum { AHEAD = 400 };

/* ---- a text before each line ---- */

static size_t run_of_digits(struct slice s)
{
	size_t n = 0;
	while (n < s.n && is_digit(s.p[n]))
		n++;
	return n;
}

/* Words that change from line to line where the layout is the same. */
static size_t changing_word(struct slice s)
{
	static const char *const words[] = {"DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL", "stdout", "stderr"};
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (slice_starts(s, words[i]))
			return strlen(words[i]);
	return 0;
}

/* The length of the line's text that looks like the prefix; 0: none. A blank line may have lost the prefix's last spaces. */
static size_t prefix_of(struct slice line, struct slice prefix)
{
	struct slice s = line, p = prefix;
	while (p.n) {
		size_t a = run_of_digits(p), b = a ? run_of_digits(s) : 0;
		if (!a && (a = changing_word(p))) {
			b = changing_word(s);
			if (b && slice_skip(p, a).n) /* padded to one width */
				for (; a < p.n && p.p[a] == ' ' && a + 1 < p.n; a++)
					;
			while (b && b < s.n && s.p[b] == ' ' && a < p.n && p.p[a] != ' ')
				b++;
			if (b && a < p.n && p.p[a] == ' ')
				while (b + 1 < s.n && s.p[b] == ' ' && s.p[b + 1] == ' ')
					b++;
		} else if (!a) {
			a = 1;
			b = s.n && s.p[0] == p.p[0];
		}
		if (!b)
			return !s.n && slice_blank(p) ? line.n : 0;
		p = slice_skip(p, a);
		s = slice_skip(s, b);
	}
	return line.n - s.n;
}

/* What of a line before `at` neither textlog.h reads nor is a margin: its first byte and length. */
static struct slice unknown_part(struct slice line, const char *at)
{
	struct slice rest = slice_skip(line, log_labels(line));
	struct log_head h;
	if (rest.p >= at || log_head_parse(rest, &h))
		return slice_of("", 0);
	struct slice p = slice_of(rest.p, (size_t)(at - rest.p));
	for (size_t i = 1; i < p.n; i++) { /* a label or a record inside belongs to textlog.h */
		struct slice from = slice_skip(rest, i);
		if (!memchr(" :|]\t>", p.p[i - 1], 6))
			continue;
		if (log_head_parse(from, &h))
			return slice_of("", 0);
		if (from.p[0] == '[' && log_labels(from)) {
			p.n = i;
			break;
		}
	}
	for (size_t i = 0; i < p.n; i++)
		if (!strchr(" |+\t", p.p[i]) || !p.p[i])
			return p.n < UNDRESS_PREFIX_MAX ? p : slice_of("", 0);
	return slice_of("", 0);
}

static struct slice line_at(struct slice text, const char *p, struct slice *rest)
{
	const char *start = p;
	while (start > text.p && start[-1] != '\n')
		start--;
	struct slice line;
	*rest = slice_from(text, start);
	slice_line(rest, &line);
	return line;
}

static bool has_prefix(struct slice line, struct slice prefix) { return prefix_of(slice_skip(line, log_labels(line)), prefix) > 0; }

/* Do the next lines have it, too? */
static bool repeats(struct slice rest, struct slice prefix)
{
	struct slice line;
	unsigned n = 0;
	while (n < 2 && slice_line(&rest, &line) && has_prefix(line, prefix))
		n++;
	return n == 2 || (n && !rest.n);
}

static void learn(struct undress *u, struct slice prefix)
{
	for (unsigned i = 0; i < u->n_prefix; i++)
		if (prefix_of(prefix, slice_of(u->prefix[i].text, u->prefix[i].n)) == prefix.n)
			return;
	if (u->n_prefix == UNDRESS_PREFIXES || slice_is(slice_trim(prefix), "E")) /* pytest's has its own layout */
		return;
	struct undress_prefix *to = &u->prefix[u->n_prefix++];
	memcpy(to->text, prefix.p, prefix.n);
	to->n = prefix.n;
}

/* The prefixes before `word`, wherever it is not at the start of its line. */
static void learn_from(struct undress *u, struct slice text, const char *word)
{
	struct slice rest = text, after;
	for (const char *p; u->n_prefix < UNDRESS_PREFIXES && (p = slice_find(rest, word));) {
		struct slice line = line_at(text, p, &after);
		struct slice prefix = p > line.p ? unknown_part(line, p) : slice_of("", 0);
		/* the margin of a message's own lines belongs to it */
		while (prefix.n && !repeats(after, prefix) && prefix.p[prefix.n - 1] == ' ')
			prefix.n--;
		if (prefix.n && !slice_blank(prefix) && repeats(after, prefix))
			learn(u, prefix);
		rest = after;
	}
}

/* Before the first line of a traceback only. */
static size_t first_line_only(struct slice line, struct slice rest)
{
	const char *p = slice_find(line, title);
	struct slice next, part;
	if (!p || p == line.p || !slice_ends(slice_trim(line), ":") || !slice_line(&rest, &next))
		return 0;
	part = unknown_part(line, p);
	size_t labels = log_labels(line);
	return part.n && part.p + part.n == p && slice_starts(slice_skip(next, log_labels(next)), "  File \"") && part.p == line.p + labels
		   ? part.n
		   : 0;
}

/* ---- terminal escapes ---- */

static size_t escape(struct slice s)
{
	size_t i = 2;
	if (s.n < 2)
		return 1;
	switch (s.p[1]) {
	case '[':
		while (i < s.n && !(s.p[i] >= '@' && s.p[i] <= '~'))
			i++;
		return i < s.n ? i + 1 : i;
	case ']':
	case '_':
	case 'P':
		while (i < s.n && s.p[i] != '\a' && s.p[i] != '\x1b' && s.p[i] != '\n')
			i++;
		if (i + 1 < s.n && s.p[i] == '\x1b' && s.p[i + 1] == '\\')
			return i + 2;
		return i < s.n && s.p[i] == '\a' ? i + 1 : i;
	default: return 1;
	}
}

static struct slice without_escapes(struct undress *u, struct slice text)
{
	buf_reset(&u->clean);
	for (const char *p; (p = slice_chr(text, '\x1b'));) {
		buf_add_slice(&u->clean, slice_upto(text, p));
		text = slice_from(text, p);
		text = slice_skip(text, escape(text));
	}
	buf_add_slice(&u->clean, text);
	return buf_slice(&u->clean);
}

/* ---- docker's json-file driver: {"log":"  File \\"/app/x.py\\", line 12\\n","stream":"stderr","time":"..."} ---- */

static const char docker[] = "{\"log\":\"";

static void put_utf8(struct buf *out, unsigned v)
{
	if (v < 0x80) {
		buf_addc(out, v && v != '\n' ? (char)v : ' '); /* each entry stays one line */
		return;
	}
	if (v >= 0x800)
		buf_addc(out, (char)(0xe0 | v >> 12));
	buf_addc(out, (char)(v < 0x800 ? 0xc0 | v >> 6 : 0x80 | (v >> 6 & 0x3f)));
	buf_addc(out, (char)(0x80 | (v & 0x3f)));
}

static void put_unescaped(struct buf *out, struct slice s)
{
	for (size_t i = 0; i < s.n && s.p[i] != '"'; i++) {
		char c = s.p[i];
		if (c != '\\' || i + 1 == s.n) {
			buf_addc(out, c);
			continue;
		}
		c = s.p[++i];
		if (c == 'u' && i + 4 < s.n) {
			unsigned v = 0;
			for (size_t k = i + 1; k < i + 5; k++)
				v = v * 16 + ((unsigned)(is_digit(s.p[k]) ? s.p[k] - '0' : ((unsigned char)s.p[k] | 32) - 'a' + 10) & 15);
			put_utf8(out, v);
			i += 4;
		} else if (c == 't') {
			buf_addc(out, '\t');
		} else if (c != 'n' && c != 'r') { /* each entry is one line already */
			buf_addc(out, c);
		}
	}
}

static struct slice without_docker(struct undress *u, struct slice text)
{
	const char *end = text.p + text.n;
	struct slice line;
	buf_reset(&u->json);
	while (slice_line(&text, &line)) {
		if (slice_starts(line, docker))
			put_unescaped(&u->json, slice_skip(line, strlen(docker)));
		else
			buf_add_slice(&u->json, line);
		if (line.p + line.n < end)
			buf_addc(&u->json, '\n');
	}
	return buf_slice(&u->json);
}

/* ---- frames ---- */

static void put_frame(struct buf *out, struct slice file, uint64_t line, struct slice func)
{
	buf_adds(out, "  File \"");
	buf_add_slice(out, file);
	buf_addf(out, "\", line %llu, in ", (unsigned long long)line);
	if (func.n)
		buf_add_slice(out, func);
	else
		buf_adds(out, "<module>");
}

static void put_inside(struct buf *out, struct slice line)
{
	buf_adds(out, "    ");
	buf_add_slice(out, slice_trim(line));
}

/* "f(x, *args)" -> f; "<cell line: 0>()" is a cell's own code */
static struct slice function(struct slice s)
{
	s = slice_trim(s);
	if (slice_starts(s, "<cell line"))
		return slice_of("", 0);
	const char *paren = slice_chr(s, '(');
	return slice_upto(s, paren);
}

/* "app/x.py:12" at the start: a path, a line, what follows. */
static bool path_line(struct slice s, struct slice *file, uint64_t *line, struct slice *after)
{
	for (const char *p = s.p; (p = memchr(p, ':', (size_t)(s.p + s.n - p))); p++) {
		struct slice number = slice_from(s, p + 1);
		size_t n = run_of_digits(number);
		if (!n || n > 8 || p == s.p || (n < number.n && number.p[n] != ':' && number.p[n] != ',' && number.p[n] != ' '))
			continue;
		*file = slice_upto(s, p);
		*after = slice_skip(number, n);
		return slice_u64(slice_of(number.p, n), line) && (slice_find(*file, ".py") || slice_ends(*file, ">"));
	}
	return false;
}

/* "----> 7 f(x)": the line that a frame is in */
static bool arrow(struct slice line, uint64_t *no, struct slice *code)
{
	size_t i = 0;
	while (i < line.n && line.p[i] == '-')
		i++;
	if (i < 2 || i >= line.n || line.p[i] != '>')
		return false;
	struct slice rest = slice_unindent(slice_skip(line, i + 1));
	size_t n = run_of_digits(rest);
	*code = slice_trim(slice_skip(rest, n));
	return n > 0 && n < 9 && slice_u64(slice_of(rest.p, n), no);
}

static bool arrow_ahead(struct slice rest, uint64_t *no, struct slice *code)
{
	struct slice line;
	for (int i = 0; i < 16 && slice_line(&rest, &line) && !slice_blank(line); i++)
		if (arrow(line, no, code))
			return true;
	return false;
}

/* ---- Jupyter, IPython, Colab ---- */

/* "KeyError       Traceback (most recent call last)" */
static bool notebook_title(struct slice line, struct slice *name)
{
	line = slice_trim(line);
	size_t n = 0;
	while (n < line.n && (is_name_start(line.p[n]) || is_digit(line.p[n]) || line.p[n] == '.'))
		n++;
	*name = slice_of(line.p, n);
	return n > 1 && n < line.n && line.p[n] == ' ' && slice_is(slice_unindent(slice_skip(line, n)), title);
}

static bool notebook_frame(struct buf *out, struct slice line, struct slice rest)
{
	struct slice file, after, code, s = line;
	uint64_t no;
	if (slice_starts(s, "Cell In") || slice_starts(s, "Input In")) {
		const char *end = slice_chr(s, ']'), *at = slice_find(s, ", line "), *in = slice_find(s, ", in ");
		struct slice number = at ? slice_from(s, at + strlen(", line ")) : slice_of("", 0);
		size_t n = run_of_digits(number);
		if (!end || (!n && !arrow_ahead(rest, &no, &code)) || (n && (n > 8 || !slice_u64(slice_of(number.p, n), &no))))
			return false;
		put_frame(out, slice_upto(s, end + 1), no, in ? function(slice_from(s, in + 5)) : slice_of("", 0));
		return true;
	}
	if (slice_starts(s, "File <") && slice_find(s, ">, line ")) { /* Databricks: "File <command-31415926>, line 7" */
		const char *end = slice_find(s, ">, line ");
		struct slice number = slice_from(s, end + strlen(">, line "));
		size_t n = run_of_digits(number);
		if (!n || n > 8 || !slice_u64(slice_of(number.p, n), &no))
			return false;
		put_frame(out, slice_of(s.p + strlen("File "), (size_t)(end + 1 - s.p) - strlen("File ")), no, slice_of("", 0));
		return true;
	}
	if (slice_take(&s, "File ")) {
		if (!path_line(s, &file, &no, &after))
			return false;
		put_frame(out, file, no, slice_take(&after, ", in ") ? function(after) : slice_of("", 0));
		return true;
	}
	/* older: the line is at the arrow */
	const char *in = slice_find(line, " in ");
	if (!in || line.p[0] == ' ' || line.p[0] == '-' || !arrow_ahead(rest, &no, &code))
		return false;
	file = slice_upto(line, in);
	if (slice_starts(file, "[")) {
		const char *end = slice_find(file, "](");
		file = end ? slice_of(file.p + 1, (size_t)(end - file.p - 1)) : file;
	}
	put_frame(out, file, no, function(slice_from(line, in + 4)));
	return true;
}

static void notebook_line(struct undress *u, struct slice line, struct slice rest, bool after_frame)
{
	struct slice name = slice_str(u->name), code, s = line;
	uint64_t no;
	/* its own line: "KeyError: 'a'", "torch._dynamo.exc.Unsupported: ..." */
	size_t n = 0;
	while (n < s.n && (is_name_start(s.p[n]) || is_digit(s.p[n]) || s.p[n] == '.'))
		n++;
	if (n && slice_ends(slice_of(s.p, n), u->name) && (n == s.n || s.p[n] == ':') && (n == name.n || s.p[n - name.n - 1] == '.')) {
		const char *module = log_torch_module(slice_of(s.p, n));
		u->layout = LAYOUT_PLAIN;
		buf_adds(&u->out, module ? module : ""); /* as Python writes it, and the known messages have it */
		buf_add_slice(&u->out, line);
	} else if (line.n && notebook_frame(&u->out, line, rest)) {
		return;
	} else if (after_frame && (arrow(line, &no, &code) || (line.n && arrow_ahead(slice_from(rest, line.p), &no, &code)))) {
		put_inside(&u->out, code);
	} else if (arrow(line, &no, &code)) {
		put_inside(&u->out, code);
	} else {
		put_inside(&u->out, line);
	}
}

/* ---- pytest ---- */

static bool pytest_mark(struct slice line) { return slice_starts(line, "E   ") || slice_is(line, "E"); }

/* "______ test_model ______" */
static bool pytest_title(struct slice line)
{
	line = slice_trim(line);
	return line.n > 8 && slice_starts(line, "___") && slice_ends(line, " ___") == false && slice_ends(line, "___") &&
	       slice_find(line, "_ ") && !slice_find(line, "_ _ _");
}

static bool pytest_place(struct slice line, struct slice *file, uint64_t *no, struct slice *after)
{
	return line.n && line.p[0] != ' ' && line.p[0] != '>' && !pytest_mark(line) && path_line(line, file, no, after) &&
	       slice_starts(*after, ":");
}

/* The place below a frame's source. */
static bool place_ahead(struct slice rest, struct slice *file, uint64_t *no, struct slice *after)
{
	struct slice line;
	for (int i = 0; i < AHEAD && slice_line(&rest, &line); i++) {
		if (line.n && line.p[0] == '>')
			return false;
		if (pytest_place(line, file, no, after))
			return true;
	}
	return false;
}

static bool source_line(struct slice line) { return slice_starts(line, ">   "); }

static void pytest_def(struct undress *u, struct slice line)
{
	struct slice s = slice_unindent(line);
	slice_take(&s, "async ");
	if (!slice_take(&s, "def "))
		return;
	s = function(s);
	size_t n = s.n < sizeof(u->func) ? s.n : 0;
	memcpy(u->func, s.p, n);
	u->func[n < sizeof(u->func) ? n : 0] = 0;
}

static void pytest_message(struct undress *u, struct slice line, bool first)
{
	struct slice s = slice_skip(line, 4);
	if (first)
		u->margin = s.n - slice_unindent(s).n;
	size_t n = 0;
	while (n < u->margin && n < s.n && s.p[n] == ' ')
		n++;
	u->layout = LAYOUT_PYTEST_MESSAGE;
	buf_add_slice(&u->out, slice_skip(s, n));
}

static void pytest_line(struct undress *u, struct slice line, struct slice rest, struct slice *code)
{
	struct slice file, after;
	uint64_t no;
	pytest_def(u, line);
	if (pytest_mark(line)) {
		pytest_message(u, line, true);
	} else if (source_line(line) && place_ahead(rest, &file, &no, &after)) {
		put_frame(&u->out, file, no, slice_str(u->func));
		*code = slice_trim(slice_skip(line, 1));
		u->func[0] = 0;
	} else if (pytest_place(line, &file, &no, &after) && slice_take(&after, ": in ") && slice_starts(rest, "    ")) {
		put_frame(&u->out, file, no, slice_trim(after)); /* --tb=short: the source is below it */
	} else {
		buf_adds(&u->out, "  ");
		if (code->n && slice_blank(line))
			put_inside(&u->out, *code);
		else if (!slice_blank(line) && slice_starts(line, "    "))
			put_inside(&u->out, line);
		*code = slice_of("", 0);
	}
}

/* ---- rich ---- */

#define RICH_TOP "\xe2\x95\xad"    /* ╭ */
#define RICH_BOTTOM "\xe2\x95\xb0" /* ╰ */
#define RICH_SIDE "\xe2\x94\x82"   /* │ */
#define RICH_ARROW "\xe2\x9d\xb1"  /* ❱ */

/* What is between the sides. */
static bool boxed(struct slice line, struct slice *in)
{
	line = slice_trim(line);
	if (!slice_take(&line, RICH_SIDE))
		return false;
	if (slice_ends(line, RICH_SIDE))
		line.n -= strlen(RICH_SIDE);
	*in = slice_trim(line);
	return true;
}

/* "❱  88 │   │   loss = model(batch)": the code. */
static bool rich_arrow(struct slice in, struct slice *code)
{
	if (!slice_take(&in, RICH_ARROW))
		return false;
	in = slice_unindent(in);
	in = slice_unindent(slice_skip(in, run_of_digits(in)));
	while (slice_take(&in, RICH_SIDE)) /* the guides of its indentation */
		in = slice_unindent(in);
	*code = in;
	return true;
}

/* "/x.py:4902 in codegen", which a narrow box wraps anywhere. Returns whether the next line is a part of it. */
static bool rich_frame(struct undress *u, struct slice in, struct slice rest, bool *joined)
{
	struct slice file, after, next, more;
	uint64_t no;
	LOCAL_BUF whole = {0};
	bool path = in.n > 2 && (in.p[0] == '/' || in.p[0] == '~' || in.p[1] == ':');
	*joined = false;
	buf_add_slice(&whole, in);
	if (path && !slice_find(in, " in ") && slice_line(&rest, &next) && boxed(next, &more) && more.n &&
	    !slice_starts(more, RICH_ARROW) && !slice_find(more, RICH_SIDE)) {
		if (slice_starts(more, "in "))
			buf_addc(&whole, ' ');
		buf_add_slice(&whole, more);
		*joined = true;
	}
	if (!path || !path_line(buf_slice(&whole), &file, &no, &after)) {
		*joined = false;
		return false;
	}
	after = slice_unindent(after);
	put_frame(&u->out, file, no, slice_take(&after, "in ") ? function(after) : slice_of("", 0));
	return true;
}

static void rich_line(struct undress *u, struct slice line, struct slice rest, struct slice *code)
{
	struct slice in, next;
	if (slice_starts(slice_trim(line), RICH_BOTTOM)) {
		u->layout = LAYOUT_RICH_END;
		put_inside(&u->out, slice_of("", 0));
	} else if (!boxed(line, &in)) {
		u->layout = LAYOUT_PLAIN;
		buf_add_slice(&u->out, line);
	} else if (u->joined) {
		u->joined = false;
		put_inside(&u->out, *code);
	} else if (rich_frame(u, in, rest, &u->joined)) {
		*code = slice_of("", 0);
		for (int i = 0; i < 16 && slice_line(&rest, &next) && boxed(next, &in) && !rich_arrow(in, code); i++)
			;
	} else {
		put_inside(&u->out, *code);
		*code = slice_of("", 0);
	}
}

/* Below the box: "InductorError: ..." */
static void rich_end(struct undress *u, struct slice line)
{
	size_t n = 0;
	while (n < line.n && (is_name_start(line.p[n]) || is_digit(line.p[n]) || line.p[n] == '.'))
		n++;
	const char *module = n && n < line.n && line.p[n] == ':' ? log_torch_module(slice_of(line.p, n)) : NULL;
	buf_adds(&u->out, module ? module : "");
	buf_add_slice(&u->out, line);
	u->layout = LAYOUT_PLAIN;
}

/* ---- faulthandler.dump_traceback_later ---- */

static void timeout_line(struct undress *u, struct slice line)
{
	struct srcloc at;
	struct slice s = slice_unindent(line);
	if (slice_starts(s, "Thread 0x") || slice_starts(s, "Current thread 0x")) {
		const char *end = slice_find(s, " (most recent call first)");
		buf_addf(&u->out, "Thread %.*s (active): \"\"", SL(slice_behind(slice_upto(s, end), "hread ")));
	} else if (slice_starts(s, "File \"") && srcloc_parse(s, &at)) {
		const char *in = slice_find(s, " in ");
		struct slice func = in ? slice_from(s, in + 4) : SLICE("?"), file = srcloc_short_file(at.file);
		buf_addf(&u->out, "    %.*s (%.*s:%u)", SL(func), SL(file), at.line);
	} else {
		if (s.n)
			u->layout = LAYOUT_PLAIN;
		buf_add_slice(&u->out, line);
	}
}

static bool chain(struct slice line)
{
	return slice_starts(line, "The above exception was the direct cause") ||
	       slice_starts(line, "During handling of the above exception");
}

/* ---- lines ---- */

static void put_title(struct undress *u)
{
	buf_adds(&u->out, title);
	buf_addc(&u->out, ':');
}

/* A line whose labels were already put. */
static void put_line(struct undress *u, struct slice line, struct slice rest, bool after_frame, struct slice *code)
{
	struct slice name, file, after;
	uint64_t no;
	if (notebook_title(line, &name)) {
		const char *dot = slice_rchr(name, '.');
		name = dot ? slice_from(name, dot + 1) : name;
		size_t n = name.n < sizeof(u->name) ? name.n : sizeof(u->name) - 1;
		memcpy(u->name, name.p, n);
		u->name[n] = 0;
		u->layout = LAYOUT_NOTEBOOK;
		put_title(u);
		return;
	}
	if (slice_starts(slice_trim(line), RICH_TOP) && slice_find(line, title)) {
		u->layout = LAYOUT_RICH;
		u->joined = false;
		put_title(u);
		return;
	}
	if (slice_starts(line, "Timeout (") && slice_ends(slice_trim(line), ")!")) {
		u->layout = LAYOUT_TIMEOUT;
		buf_add_slice(&u->out, line);
		return;
	}
	if (pytest_title(line)) {
		u->layout = LAYOUT_PYTEST;
		u->func[0] = 0;
		put_title(u);
		return;
	}
	switch (u->layout) {
	case LAYOUT_NOTEBOOK: notebook_line(u, line, rest, after_frame); return;
	case LAYOUT_RICH: rich_line(u, line, rest, code); return;
	case LAYOUT_RICH_END: rich_end(u, line); return;
	case LAYOUT_TIMEOUT: timeout_line(u, line); return;
	case LAYOUT_PYTEST:
		if (slice_starts(line, "=====")) {
			u->layout = LAYOUT_PLAIN;
			break;
		}
		pytest_line(u, line, rest, code);
		return;
	case LAYOUT_PYTEST_MESSAGE:
		if (pytest_mark(line)) {
			pytest_message(u, line, false);
			return;
		}
		if (chain(line))
			u->layout = LAYOUT_PYTEST_CHAIN;
		else if (pytest_place(line, &file, &no, &after))
			return; /* its last frame, which was put before the message */
		else if (!slice_blank(line))
			u->layout = LAYOUT_PLAIN;
		break;
	case LAYOUT_PYTEST_CHAIN:
		if (slice_blank(line))
			break;
		u->layout = LAYOUT_PYTEST;
		pytest_def(u, line);
		put_title(u);
		return;
	case LAYOUT_PLAIN:
		if (slice_starts(line, "E   ") && !slice_starts(line, "E    ")) {
			pytest_message(u, line, true);
			return;
		}
		if (source_line(line) && place_ahead(rest, &file, &no, &after)) { /* a failure's end, without its title */
			struct slice next;
			for (int i = 0; i < 4 && slice_line(&rest, &next); i++)
				if (pytest_mark(next) || pytest_place(next, &file, &no, &after)) {
					u->layout = LAYOUT_PYTEST;
					put_title(u);
					return;
				}
		}
		break;
	}
	buf_add_slice(&u->out, line);
}

static bool anything(struct undress *u, struct slice text)
{
	static const char *const words[] = {
	    title,      "  File \"",      "from user code:",   "torch._dynamo.exc.",    "torch._inductor.exc.",
	    "\nE   ",   ": Explanation:", "terminate called ", "Recompiling function ", "torch._dynamo hit config.",
	    "Timeout ("};
	if (u->n_prefix || u->layout != LAYOUT_PLAIN)
		return true;
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (slice_find(text, words[i]))
			return true;
	return slice_starts(text, "E   ");
}

struct slice undress(struct undress *u, struct slice text)
{
	struct slice rest, line, code = slice_of("", 0);
	if (!u->started && text.n) {
		u->started = true;
		u->utf16 = slice_starts(text, "\xff\xfe") || slice_starts(text, "\xfe\xff");
	}
	if (u->utf16)
		return text;
	if (slice_starts(text, docker))
		u->docker = true;
	if (u->docker)
		text = without_docker(u, text);
	if (slice_chr(text, '\x1b'))
		text = without_escapes(u, text);
	if (!anything(u, text))
		return text;
	learn_from(u, text, title);
	learn_from(u, text, "  File \"");
	learn_from(u, text, "from user code:");
	learn_from(u, text, "torch._dynamo.exc.");
	learn_from(u, text, "torch._inductor.exc.");
	learn_from(u, text, "terminate called ");
	learn_from(u, text, "Recompiling function ");
	learn_from(u, text, "torch._dynamo hit config.");
	buf_reset(&u->out);
	bool after_frame = false;
	/* Prefixes first, in all lines: the layouts look ahead. */
	for (rest = text; slice_line(&rest, &line);) {
		bool ended = line.p + line.n < text.p + text.n;
		size_t labels = u->n_prefix || slice_find(line, title) ? log_labels(line) : 0, n = 0;
		for (unsigned i = 0; i < u->n_prefix && !n; i++)
			n = prefix_of(slice_skip(line, labels), slice_of(u->prefix[i].text, u->prefix[i].n));
		if (!n)
			n = first_line_only(line, rest);
		buf_add_slice(&u->out, slice_of(line.p, labels));
		buf_add_slice(&u->out, slice_skip(line, labels + n));
		if (ended)
			buf_addc(&u->out, '\n');
	}
	if (u->layout == LAYOUT_PLAIN && !slice_find(buf_slice(&u->out), "E   ") && !slice_find(buf_slice(&u->out), title) &&
	    !slice_find(buf_slice(&u->out), "Timeout ("))
		return buf_slice(&u->out);
	struct buf plain = u->clean;
	u->clean = u->out;
	u->out = plain;
	buf_reset(&u->out);
	text = buf_slice(&u->clean);
	for (rest = text; slice_line(&rest, &line);) {
		bool ended = line.p + line.n < text.p + text.n;
		size_t labels = log_labels(line), from = u->out.len;
		struct slice own = slice_skip(line, labels);
		while (own.n && own.p[own.n - 1] == '\r')
			own.n--;
		buf_add_slice(&u->out, slice_of(line.p, labels));
		put_line(u, own, rest, after_frame, &code);
		after_frame = u->layout == LAYOUT_NOTEBOOK && slice_starts(slice_skip(buf_slice(&u->out), from + labels), "  File \"");
		if (ended)
			buf_addc(&u->out, '\n');
	}
	return buf_slice(&u->out);
}

void undress_release(struct undress *u)
{
	buf_release(&u->clean);
	buf_release(&u->json);
	buf_release(&u->out);
	*u = (struct undress){0};
}
