#include "run/traceback.h"

static const char title[] = "Traceback (most recent call last):";
static const char cause[] = "The above exception was the direct cause of the following exception:";
static const char context[] = "During handling of the above exception, another exception occurred:";

static struct slice behind(struct slice s, size_t n) { return n < s.n ? slice_of(s.p + n, s.n - n) : slice_of(s.p + s.n, 0); }

/* The margin common to all lines of a traceback: spaces, or those of an exception group with its bar. */
struct margin {
	size_t columns;
	bool bar;
};

static bool blank(struct slice s) { return slice_trim(s).n == 0; }

/* The margin of a traceback's first line, before "Traceback" or "Exception Group Traceback". */
static bool starts(struct slice line, struct margin *m, bool *group)
{
	size_t n = 0;
	while (n < line.n && line.p[n] == ' ' && n < 200)
		n++;
	*m = (struct margin){n, false};
	if (n + 1 < line.n && (line.p[n] == '|' || line.p[n] == '+') && line.p[n + 1] == ' ')
		*m = (struct margin){n + 2, true};
	struct slice rest = behind(line, m->columns);
	*group = slice_starts(rest, "Exception Group ");
	if (*group)
		rest = behind(rest, strlen("Exception Group "));
	return slice_starts(rest, title);
}

/* Is this line the start of one, bars or not? */
static bool traceback_starts(struct slice line)
{
	struct margin m;
	bool group;
	return starts(line, &m, &group);
}

/* The line without the margin; false if it lacks it, which ends the traceback. */
static bool inside(struct slice line, struct margin m, struct slice *out)
{
	if (!m.bar && blank(line)) { /* its spaces stay: an editor's blank line of source */
		*out = line;
		return true;
	}
	size_t n = 0;
	for (; n < m.columns && n < line.n; n++)
		if (line.p[n] != ' ' && !(m.bar && n + 2 == m.columns && (line.p[n] == '|' || line.p[n] == '+')))
			return false;
	if (n < m.columns && !(m.bar && n + 1 == m.columns)) /* a bar with nothing after it */
		return false;
	*out = behind(line, n);
	return true;
}

/* "  +-+---------------- 1 ----------------", "    +----": between the members of a group. */
static bool separator(struct slice line)
{
	struct slice t = slice_trim(line);
	if (!slice_starts(t, "+-"))
		return false;
	for (size_t i = 0; i < t.n; i++)
		if (!strchr("+- 0123456789.", t.p[i]) || !t.p[i])
			return i > 8 && slice_find(t, " sub-exception"); /* "+---- ... ----", if there are too many */
	return true;
}

static void take_frame(struct slice line, struct slice next, struct traceback *tb)
{
	struct srcloc at;
	if (!srcloc_parse(line, &at) || at.form != SRCLOC_PYTHON)
		return;
	if (slice_starts(next, "    "))
		at.code = slice_trim(next);
	tb->frames++;
	tb->inner = at;
	if (srcloc_is_user(at.file))
		tb->user = at;
	else if (srcloc_is_framework(at.file))
		tb->torch = at;
}

/* "torch._dynamo.exc.Unsupported: text", "KeyboardInterrupt", "ray.exceptions.RayTaskError(InductorError): text" */
static bool take_type(struct slice line, struct traceback *tb)
{
	size_t n = 0;
	while (n < line.n && (is_name_start(line.p[n]) || line.p[n] == '.' || line.p[n] == '<' || line.p[n] == '>' ||
			      (n && is_digit(line.p[n])) || (unsigned char)line.p[n] >= 0x80))
		n++;
	if (n < line.n && line.p[n] == '(' && slice_ends(slice_of(line.p, n), "TaskError"))
		n = (size_t)(slice_until(behind(line, n), ")").n + n + 1);
	if (!n || n > line.n || (n < line.n && line.p[n] != ':' && !blank(behind(line, n))))
		return false;
	tb->type = slice_of(line.p, n);
	tb->message = behind(line, n);
	if (slice_starts(tb->message, ":"))
		tb->message = behind(tb->message, tb->message.n > 1 && tb->message.p[1] == ' ' ? 2 : 1);
	return true;
}

/* Paragraphs that torch adds to a message after a blank line. */
static bool belongs(struct slice line)
{
	static const char *const known[] = {"from user code",
					    "Set TORCH",
					    "You can suppress",
					    "Suggested fixes",
					    "Specializations ",
					    "Command:",
					    "Output:",
					    "Exception raised from",
					    "frame #",
					    "C++ CapturedTraceback",
					    "To fix the error",
					    "The error above",
					    "Caused by",
					    "User Stack",
					    "User stack",
					    "Potential framework",
					    "Stack variable source",
					    "For C++ stack trace",
					    "For more",
					    "Minifier script",
					    "While executing",
					    "Original traceback",
					    "Hint:",
					    "NOTE",
					    "Note:",
					    "target:",
					    "args",
					    "kwargs",
					    "CUDA kernel errors",
					    "For debugging consider",
					    "Compile with",
					    "Device-side assert",
					    "Please ",
					    "Developer debug context",
					    "Explanation:",
					    "This may mean",
					    "The following call",
					    "(Size-like symbols",
					    "Consider ",
					    "========== The above exception",
					    "Supported ",
					    "It appears",
					    "## ",
					    "<class 'torch",
					    "If you "};
	if (!line.n || line.p[0] == ' ' || line.p[0] == '\t')
		return true;
	for (unsigned i = 0; i < ARRAY_LEN(known); i++)
		if (line.p[0] == known[i][0] && slice_starts(line, known[i]))
			return true;
	return line.p[0] == '#' && line.n > 1 && is_digit(line.p[1]); /* a C++ frame */
}

struct message {
	bool user, user_frames; /* below "from user code:" */
	bool other;             /* below other words for the user's frames, which count if there is no "from user code" */
	struct srcloc other_at;
	bool colon;      /* the last line that is not blank ended in one: the following text belongs to it */
	const char *end; /* after the last nonblank line */
	const char *cpp_end;
};

static void take_cpp(struct slice line, struct traceback *tb)
{
	tb->cpp = line;
	const char *at = slice_find(line, " at ");
	if (!at)
		return;
	struct slice place = behind(line, (size_t)(at - line.p) + 4);
	const char *end = slice_find(place, " (most recent");
	if (end)
		place.n = (size_t)(end - place.p);
	const char *colon = slice_rchr(place, ':');
	uint64_t n;
	if (colon && slice_u64(slice_of(colon + 1, (size_t)(place.p + place.n - colon - 1)), &n) && n <= UINT32_MAX)
		tb->cpp_at = (struct srcloc){.file = slice_of(place.p, (size_t)(colon - place.p)), .line = (uint32_t)n};
}

/* Other words of torch's before the user's frames: fx.Interpreter, torch.export, symbolic_shapes.py. */
static bool names_user(struct slice line)
{
	static const char *const words[] = {"Original traceback:", "The following call raised this error", "User Stack", "User stack",
					    "User code traceback"};
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (slice_starts(line, words[i]))
			return true;
	return false;
}

/* "Caused by: (app/m.py:12 in f)", "Caused by: y = x[:n]  # app/m.py:12 in f (utils/_stats.py:28 in wrapper)" */
static void take_caused(struct slice line, struct message *m)
{
	struct srcloc at;
	while (line.n && srcloc_next(&line, &at))
		if (at.form == SRCLOC_AT && srcloc_is_user(at.file)) {
			m->other_at = at;
			return;
		}
}

static void take_line(struct slice line, struct slice next, struct message *m, struct traceback *tb)
{
	struct srcloc other;
	if (names_user(line))
		m->other = true;
	else if (slice_starts(line, "Caused by: ") && !m->other_at.line)
		take_caused(line, m);
	else if (m->other && srcloc_parse(line, &other) && other.form == SRCLOC_PYTHON && srcloc_is_user(other.file)) {
		if (slice_starts(next, "    "))
			other.code = slice_trim(next);
		m->other_at = other;
	} else if (m->other && blank(line)) {
		m->other = false;
	}
	if (slice_starts(line, "from user code")) {
		m->user = true;
		m->user_frames = false;
	} else if (m->user && slice_find(line, "File \"")) {
		struct srcloc at;
		if (srcloc_parse(line, &at) && at.form == SRCLOC_PYTHON) {
			if (slice_starts(next, "    "))
				at.code = slice_trim(next);
			tb->from_user = at;
			m->user_frames = true;
		}
	} else if (m->user && m->user_frames && blank(line)) {
		m->user = false;
	} else if (!tb->cpp.p && slice_starts(line, "Exception raised from ")) {
		take_cpp(line, tb);
	}
	if (blank(line))
		return;
	m->end = line.p + line.n;
	m->colon = line.p[line.n - 1] == ':';
	if (tb->cpp.p && (slice_starts(line, "frame #") || line.p[0] == '#' || slice_starts(line, "C++ Captured")))
		m->cpp_end = m->end;
}

/* The next line, if it belongs to the traceback. */
static struct slice peek(struct slice rest, struct margin m)
{
	struct slice line, in;
	return slice_line(&rest, &line) && inside(line, m, &in) ? in : slice_of("", 0);
}

/* State at the end of a traceback, when a line no longer belongs to it. */
static bool ends_here(struct slice line, struct slice in, struct margin m, struct traceback *tb)
{
	struct slice t = slice_trim(in);
	if (slice_is(t, cause))
		tb->next = TRACEBACK_CAUSE;
	else if (slice_is(t, context))
		tb->next = TRACEBACK_CONTEXT;
	else
		return traceback_starts(line) || (m.bar && separator(line));
	return true;
}

/* A paragraph of the message that none of the known words starts, above the user's frames: torch writes them last. */
static bool above_user_code(struct slice rest, struct margin m)
{
	struct slice line, in;
	for (int i = 0; i < 40 && slice_line(&rest, &line); i++) {
		if (!inside(line, m, &in) || traceback_starts(line) || slice_starts(in, "torch._") || slice_is(in, cause) ||
		    slice_is(in, context))
			return false;
		if (slice_starts(in, "from user code") || slice_starts(in, "Caused by: ") || names_user(in))
			return true;
	}
	return false;
}

/* The message's lines; *rest is left before the first other line. */
static void take_message(struct slice *rest, struct margin margin, enum traceback_end end, struct message *m, struct traceback *tb)
{
	struct slice before = *rest, line, in;
	unsigned blanks = 0;
	while (slice_line(rest, &line)) {
		bool own = inside(line, margin, &in);
		if (!own || ends_here(line, in, margin, tb)) {
			tb->ended = true;
			*rest = before;
			return;
		}
		blanks = blank(in) ? blanks + 1 : 0;
		/* a blank line depends on the paragraph after it, which must be a known one */
		bool new_paragraph = !blank(in) && m->end && before.p > m->end + 1;
		if (end == TRACEBACK_BARE && (blanks > 3 || (new_paragraph && !m->colon && !m->user && !belongs(in) &&
							     (tb->from_user.line || !above_user_code(*rest, margin))))) {
			tb->ended = true;
			*rest = before;
			return;
		}
		take_line(in, peek(*rest, margin), m, tb);
		before = *rest;
	}
}

/* Blank lines and the chain line, or a group's separator, between this traceback and the next. */
static void take_chain(struct slice *rest, struct margin margin, struct traceback *tb)
{
	struct slice before = *rest, line, in;
	bool said = tb->next == TRACEBACK_LAST, bars = false;
	while (slice_line(rest, &line)) {
		if (separator(line) && margin.bar) {
			bars = true;
		} else if (traceback_starts(line)) {
			if (said && bars)
				tb->next = TRACEBACK_MEMBER;
			*rest = before;
			return;
		} else if (!inside(line, margin, &in) || (!blank(in) && (said || !ends_here(line, in, margin, tb)))) {
			*rest = before;
			return;
		} else if (!blank(in)) {
			said = true; /* the chain line; a second one belongs to another traceback */
		}
		before = *rest;
	}
}

/* The part of a text whose first lines are gone: frames, or the exception's own line. */
static bool starts_cut(struct slice line, struct margin *m)
{
	struct srcloc at;
	struct traceback none = {.frames = 0};
	*m = (struct margin){0, false};
	if (slice_starts(line, "  File \""))
		return srcloc_parse(line, &at) && at.form == SRCLOC_PYTHON;
	return line.n && line.p[0] != ' ' && take_type(line, &none);
}

static size_t parse(struct slice text, enum traceback_end end, bool cut, struct traceback *tb)
{
	*tb = (struct traceback){.next = TRACEBACK_LAST};
	struct slice rest = text, line, in;
	struct margin margin;
	if (!slice_line(&rest, &line) || !(cut ? starts_cut(line, &margin) : starts(line, &margin, &tb->group)))
		return 0;
	if (cut)
		rest = text;
	tb->depth = margin.bar ? (uint32_t)margin.columns : 0;
	const char *stop = line.p + line.n;
	struct slice before = rest;
	struct message m = {0};
	if (tb->group && margin.bar) /* its first line has a plus; the rest a bar */
		tb->depth = (uint32_t)margin.columns;
	while (slice_line(&rest, &line)) {
		if (!inside(line, margin, &in) || (!slice_starts(in, "  ") && !take_type(in, tb))) {
			rest = before;
			tb->ended = true;
			break;
		}
		stop = line.p + line.n;
		if (tb->type.n) {
			m.end = in.p + in.n;
			m.colon = in.n && in.p[in.n - 1] == ':';
			take_message(&rest, margin, end, &m, tb);
			break;
		}
		if (slice_starts(in, "  File \""))
			take_frame(in, peek(rest, margin), tb);
		before = rest;
	}
	if (m.end) {
		stop = m.end;
		tb->message = slice_trim(slice_of(tb->message.p, (size_t)(m.end - tb->message.p)));
		if (!tb->from_user.line) {
			tb->from_user = m.other_at;
			/* "Caused by: (app/m.py:12 in f)" is a frame of the traceback, which has the whole path and the code. */
			if (!m.other_at.code.n && tb->user.line == m.other_at.line && srcloc_file_ends(tb->user.file, m.other_at.file))
				tb->from_user = tb->user;
		}
		if (tb->cpp.p && m.cpp_end)
			tb->cpp.n = (size_t)(m.cpp_end - tb->cpp.p);
	}
	tb->whole = slice_of(text.p, (size_t)(stop - text.p));
	if (m.end && (tb->ended || end == TRACEBACK_ALL))
		take_chain(&rest, margin, tb);
	return (size_t)(text.n - rest.n);
}

size_t traceback_parse(struct slice text, enum traceback_end end, struct traceback *out) { return parse(text, end, false, out); }

size_t traceback_parse_cut(struct slice text, enum traceback_end end, struct traceback *out)
{
	size_t used = parse(text, end, true, out);
	return out->type.n ? used : 0;
}

bool traceback_user(struct slice message, struct srcloc *out)
{
	struct traceback tb = {.next = TRACEBACK_LAST};
	struct message m = {0};
	struct slice line;
	while (slice_line(&message, &line))
		take_line(line, peek(message, (struct margin){0}), &m, &tb);
	*out = tb.from_user.line ? tb.from_user : m.other_at;
	return out->line > 0;
}

bool traceback_last(struct slice text, struct traceback *out)
{
	struct slice rest = text, from = text, line;
	bool found = false;
	while (slice_line(&rest, &line)) {
		struct traceback tb;
		size_t used = traceback_starts(line) ? traceback_parse(from, TRACEBACK_ALL, &tb) : 0;
		if (used) {
			*out = tb;
			found = true;
			rest = behind(from, used);
		}
		from = rest;
	}
	return found;
}
