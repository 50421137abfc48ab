/* Exceptions, compiler errors, and programs that were killed. */
#include <signal.h>

#include "torchlog/torchlog_part.h"
#include "torchlog/traceback.h"
#include "trace/text.h"

/* ---- compiler errors ---- */

/* "   15 |   auto x = y;" (gcc) or the bare line (clang, older gcc), with a line of ^ below it */
static struct slice quoted_line(struct slice line, struct slice below)
{
	const char *bar = memchr(line.p, '|', line.n < 16 ? line.n : 16);
	uint64_t no;
	if (bar && slice_u64(slice_trim(slice_upto(line, bar)), &no))
		return slice_trim(slice_from(line, bar + 1));
	struct slice t = slice_trim(below);
	return t.n && (t.p[0] == '^' || t.p[0] == '~') ? slice_trim(line) : slice_of("", 0);
}

static bool is_error(struct slice severity) { return slice_is(severity, "error") || slice_is(severity, "fatal error"); }

/* One line of a compiler. Warnings are not taken. */
static bool compiler_line(struct block *b, uint32_t i, uint32_t end, uint32_t command, uint32_t source)
{
	struct slice none = slice_of("", 0), line = block_line(b, i), next = i + 1 < end ? block_line(b, i + 1) : none;
	struct slice below = i + 2 < end ? block_line(b, i + 2) : none;
	struct srcloc at;
	if (!slice_find(line, "error: ") || !srcloc_parse(line, &at) || at.form != SRCLOC_COMPILER || !is_error(at.severity))
		return false;
	struct textlog *t = b->t;
	struct trace_loc loc = log_loc(t, &at);
	uint32_t message = log_text(t, at.message);
	/* An exception that is raised again says it again. */
	for (uint32_t k = t->compiler.n; k > 0 && t->compiler.n - k < 64; k--) {
		const struct textlog_compiler *old = &t->compiler.row[k - 1];
		if (old->loc.file == loc.file && old->loc.line == loc.line && old->col == at.col && old->message == message)
			return true;
	}
	struct textlog_compiler *row = LOG_ADD(t, compiler);
	if (!row)
		return true;
	row->at = block_at(b, i);
	row->loc = loc;
	row->col = at.col;
	row->severity = log_text(t, at.severity);
	row->message = message;
	row->quoted = log_text(t, quoted_line(next, below));
	row->command = command;
	row->source = source;
	return true;
}

uint32_t parse_compiler_line(struct block *b, uint32_t i)
{
	if (!slice_find(block_line(b, i), "error: "))
		return 0;
	if (!b->final && i + 2 >= b->n)
		return BLOCK_MORE;
	return compiler_line(b, i, b->n, NONE, NONE);
}

/* The file of a compiler's command that it compiles. */
static struct slice source_of(struct slice command)
{
	static const char *const ends[] = {".cpp", ".cu", ".cc", ".c"};
	while (command.n) {
		command = slice_trim(command);
		const char *blank = slice_chr(command, ' ');
		struct slice word = slice_upto(command, blank);
		for (unsigned i = 0; i < ARRAY_LEN(ends); i++)
			if (slice_ends(word, ends[i]) && word.p[0] != '-')
				return word;
		command = slice_skip(command, word.n);
	}
	return slice_of("", 0);
}

/* Command: and Output: of a CppCompileError, lines [i, end). */
static void cpp_error(struct block *b, uint32_t i, uint32_t end)
{
	uint32_t command = NONE, source = NONE;
	struct slice rest = block_lines(b, i, end);
	const char *p = slice_find(rest, "Command:\n");
	if (p) {
		struct slice text = slice_trim(block_line(b, i + block_lines_to(b, i, p + 1)));
		command = log_text(b->t, text);
		source = log_text(b->t, source_of(text));
	}
	while ((p = slice_find(rest, "error: "))) {
		uint32_t k = i + block_lines_to(b, i, p + 1) - 1;
		compiler_line(b, k, end, command, source);
		rest = slice_from(rest, block_line(b, k).p + block_line(b, k).n);
	}
}

/* Without a traceback around it: up to the record's end, or two blank lines behind "Output:". */
uint32_t parse_cpp_error(struct block *b, uint32_t i)
{
	uint32_t end = i;
	bool output = false;
	for (; end < b->n; end++) {
		struct slice line = slice_trim(block_line(b, end));
		if (!b->record && output && !line.n)
			break;
		if (slice_starts(line, "Traceback (most recent"))
			break;
		output |= slice_is(line, "Output:");
	}
	if (end == b->n && !b->final)
		return BLOCK_MORE;
	cpp_error(b, i, end);
	return end - i;
}

/* ---- exceptions ---- */

/* What an exception's message holds that has tables of its own. */
static void log_message(struct block *b, uint32_t i, uint32_t n)
{
	uint32_t end = i + n < b->n ? i + n : b->n;
	struct slice text = block_lines(b, i, end);
	const char *what = slice_find(text, "Constraints violated (");
	if (!what)
		what = slice_find(text, "Specializations unexpectedly required");
	if (what) {
		struct block part = *b;
		part.n = end;
		part.final = true;
		parse_violations(&part, i + block_lines_to(b, i, what + 1) - 1);
	}
	if (slice_find(text, "C++ compile error"))
		cpp_error(b, i, end);
}

/* fullgraph=True: the break is the exception. */
static void unsupported(struct block *b, uint32_t i, const struct traceback *tb)
{
	struct break_text text;
	if (!slice_ends(tb->type, "Unsupported") && !slice_ends(tb->type, "UserError") && !slice_ends(tb->type, "TorchRuntimeError"))
		return;
	break_text_parse(tb->message, &text);
	if (!break_text_is_break(&text))
		return;
	if (tb->from_user.line)
		text.at = tb->from_user;
	log_break(b->t, block_at(b, i), &text, SAID_ERROR, false);
}

static uint32_t traceback_row(struct block *b, uint32_t i, const struct traceback *tb)
{
	struct textlog *t = b->t;
	uint32_t stack = log_text(t, tb->whole);
	/* convert_frame.py puts the exception into its message and lets the logger print it, too. */
	for (uint32_t k = t->traceback.n; b->record && k > 0 && t->traceback.n - k < 4; k--) {
		const struct textlog_traceback *old = &t->traceback.row[k - 1];
		if (old->logged && old->stack == stack && old->at.line >= b->line[0].no && old->at.pid == b->at.pid)
			return k - 1;
	}
	struct textlog_traceback *row = LOG_ADD(t, traceback);
	if (!row)
		return NONE;
	uint32_t at = t->traceback.n - 1;
	row->at = block_at(b, i);
	row->type = log_text(t, tb->type);
	row->message = log_text(t, tb->message);
	row->stack = stack;
	row->user = log_loc(t, tb->from_user.line ? &tb->from_user : &tb->user);
	row->torch = log_loc(t, &tb->torch);
	row->inner = log_loc(t, &tb->inner);
	row->cpp = log_loc(t, &tb->cpp_at);
	row->frames = tb->frames;
	row->cause = row->parent = NONE;
	row->group = tb->group;
	row->logged = b->head != NULL;
	row->last = true;
	return at;
}

/* Tracebacks that belong together: a chain, a group and its members. */
uint32_t parse_traceback(struct block *b, uint32_t i)
{
	struct textlog *t = b->t;
	uint32_t from = i, before = t->traceback.n;
	struct {
		uint32_t row, depth;
	} group[16];
	unsigned groups = 0;
	struct traceback tb, first;
	size_t first_used = 0;
	/* First see whether all of it is here. */
	for (enum traceback_next next = TRACEBACK_CAUSE; next != TRACEBACK_LAST;) {
		size_t used = traceback_parse(block_lines(b, i, b->n), b->record ? TRACEBACK_ALL : TRACEBACK_BARE, &tb);
		if (!used)
			break;
		if (i == from) {
			first = tb;
			first_used = used;
		}
		i += block_lines_to(b, i, b->text + b->line[i].off + used);
		if (!b->final && (i >= b->n || !tb.ended))
			return BLOCK_MORE;
		if (i >= b->n)
			break;
		next = tb.next;
	}
	i = from;
	uint32_t cause = NONE;
	bool direct = false;
	for (enum traceback_next next = TRACEBACK_CAUSE; next != TRACEBACK_LAST && i < b->n; next = tb.next) {
		size_t used = first_used;
		if (i > from)
			used = traceback_parse(block_lines(b, i, b->n), b->record ? TRACEBACK_ALL : TRACEBACK_BARE, &tb);
		else
			tb = first;
		if (!used)
			break;
		uint32_t n = block_lines_to(b, i, b->text + b->line[i].off + used), row = traceback_row(b, i, &tb);
		while (groups && group[groups - 1].depth >= tb.depth && !(cause != NONE))
			groups--;
		if (row != NONE) {
			struct textlog_traceback *r = &t->traceback.row[row];
			r->cause = cause;
			r->direct = direct;
			if (cause != NONE)
				t->traceback.row[cause].last = false;
			if (groups) {
				r->member = true;
				r->parent = group[groups - 1].row;
			}
			if (tb.group && groups < ARRAY_LEN(group)) {
				group[groups].row = row;
				group[groups++].depth = tb.depth;
			}
		}
		unsupported(b, i, &tb);
		if (tb.message.n)
			log_message(b, i, n);
		cause = tb.next == TRACEBACK_CAUSE || tb.next == TRACEBACK_CONTEXT ? row : NONE;
		direct = tb.next == TRACEBACK_CAUSE;
		i += n;
	}
	return t->traceback.n > before || i > from ? i - from : 0;
}

/* ---- signals ---- */

static const struct {
	const char *name;
	int number;
} signals[] = {{"Segmentation fault", SIGSEGV},
	       {"Illegal instruction", SIGILL},
	       {"Floating point exception", SIGFPE},
	       {"Trace/breakpoint trap", SIGTRAP},
	       {"Bus error", SIGBUS},
	       {"Aborted", SIGABRT},
	       {"Killed", SIGKILL}};

static struct textlog_signal *signal_row(struct block *b, uint32_t i, struct slice name)
{
	struct textlog_signal *row = LOG_ADD(b->t, signal);
	if (!row)
		return NULL;
	row->at = block_at(b, i);
	row->name = log_text(b->t, name);
	row->inner = row->user = LOG_NO_LOC;
	row->frames = NONE;
	for (unsigned k = 0; k < ARRAY_LEN(signals); k++)
		if (slice_is(name, signals[k].name))
			row->number = signals[k].number;
	return row;
}

/* "Segmentation fault (core dumped)", "run.sh: line 3:  4711 Killed                  python app.py": as shells write them */
uint32_t parse_signal(struct block *b, uint32_t i)
{
	struct slice line = slice_unindent(block_line(b, i));
	const char *shell = slice_find(line, ": line ");
	if (b->record)
		return 0;
	if (shell) {
		const char *colon = slice_find(slice_from(line, shell + 7), ":");
		if (!colon)
			return 0;
		line = slice_unindent(slice_from(line, colon + 1));
		while (line.n && line.p[0] >= '0' && line.p[0] <= '9')
			line = slice_skip(line, 1);
		line = slice_unindent(line);
	}
	for (unsigned k = 0; k < ARRAY_LEN(signals); k++) {
		struct slice rest = line;
		if (!slice_take(&rest, signals[k].name))
			continue;
		rest = slice_trim(rest);
		bool dumped = slice_starts(rest, "(core dumped)");
		if (!shell && rest.n && !dumped)
			return 0; /* a sentence that begins so */
		struct textlog_signal *row = signal_row(b, i, slice_str(signals[k].name));
		if (row)
			row->core_dumped = dumped;
		return 1;
	}
	return 0;
}

/* faulthandler: "  File "x.py", line 519 in f", innermost first */
static bool fault_frame(struct slice line, struct srcloc *at)
{
	line = slice_unindent(line);
	const char *in = slice_find(line, " in ");
	if (!slice_starts(line, "File \"") || !in || !srcloc_parse(line, at))
		return false;
	at->func = slice_trim(slice_from(line, in + 4));
	return true;
}

static uint32_t frames_text(struct textlog *t, const struct srcloc *frame, uint32_t n)
{
	struct buf b = {0};
	while (n-- > 0) {
		srcloc_format(&b, &frame[n], SRCLOC_AT, false);
		if (n)
			buf_addc(&b, '\n');
	}
	uint32_t text = log_text(t, buf_slice(&b));
	buf_release(&b);
	return text;
}

uint32_t parse_faulthandler(struct block *b, uint32_t i)
{
	struct slice line = slice_unindent(block_line(b, i));
	line = slice_trim(slice_skip(line, strlen("Fatal Python error: ")));
	uint32_t k = i + 1, frames = 0;
	struct srcloc at, user = {0}, frame[16];
	bool current = false, done = false;
	for (; k < b->n && !done; k++) {
		struct slice s = slice_unindent(block_line(b, k));
		if (slice_starts(s, "Current thread")) {
			current = true;
		} else if (slice_starts(s, "Thread 0x") || slice_starts(s, "Extension modules:")) {
			done = frames > 0 || slice_starts(s, "Ext");
		} else if (current && fault_frame(s, &at)) {
			if (frames < ARRAY_LEN(frame))
				frame[frames] = at;
			frames++;
			if (!user.line && srcloc_is_user(at.file))
				user = at;
		} else if (slice_blank(s)) {
			done = frames > 0;
		} else {
			done = !slice_starts(s, "Python runtime state") && !slice_starts(s, "File \"") && !slice_starts(s, "<no Python");
		}
	}
	if (!done && !b->final)
		return BLOCK_MORE;
	const char *colon = slice_find(line, ": "); /* "Aborted: detail" */
	struct textlog_signal *row = signal_row(b, i, slice_upto(line, colon));
	if (row) {
		row->faulthandler = true;
		row->inner = frames ? log_loc(b->t, &frame[0]) : LOG_NO_LOC;
		row->frames = frames_text(b->t, frame, frames < ARRAY_LEN(frame) ? frames : ARRAY_LEN(frame));
		row->user = user.line ? log_loc(b->t, &user) : LOG_NO_LOC;
	}
	return done ? k - 1 - i : k - i;
}
