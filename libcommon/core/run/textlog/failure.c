/* Exceptions, compiler errors, and programs that were killed. */
#include <signal.h>

#include "run/textlog/textlog_part.h"
#include "run/traceback.h"
#include "run/text.h"

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

/* Processes a line from a compiler. Warnings are skipped. */
static bool compiler_line(struct block *b, uint32_t i, uint32_t end, uint32_t command)
{
	struct slice none = slice_of("", 0), line = block_line(b, i), next = i + 1 < end ? block_line(b, i + 1) : none;
	struct slice below = i + 2 < end ? block_line(b, i + 2) : none;
	struct srcloc at;
	if (!slice_find(line, "error: ") || !srcloc_parse(line, &at) || at.form != SRCLOC_COMPILER || !is_error(at.severity))
		return false;
	struct textlog *t = b->t;
	struct fact_loc loc = log_loc(t, &at);
	uint32_t message = log_text(t, at.message), n = t->f->n_compiler_error;
	/* An exception that is raised again repeats it. */
	for (uint32_t k = n; k-- > t->from.compiler_error && n - k < 64;) {
		const struct fact_compiler_error *old = &t->f->compiler_error[k];
		if (old->at.file == loc.file && old->at.line == loc.line && old->column == at.col && old->message == message)
			return true;
	}
	struct fact_compiler_error *row = LOG_ADD(b, i, compiler_error);
	if (!row)
		return true;
	row->at = loc;
	row->at.code = log_text(t, quoted_line(next, below));
	row->column = at.col;
	row->severity = log_text(t, at.severity);
	row->message = message;
	row->command = command;
	return true;
}

uint32_t parse_compiler_line(struct block *b, uint32_t i)
{
	if (!slice_find(block_line(b, i), "error: "))
		return 0;
	if (!b->final && i + 2 >= b->n)
		return BLOCK_MORE;
	return compiler_line(b, i, b->n, NONE);
}

/* Command: and Output: of a CppCompileError, lines [i, end). */
static void cpp_error(struct block *b, uint32_t i, uint32_t end)
{
	uint32_t command = NONE;
	struct slice rest = block_lines(b, i, end);
	const char *p = slice_find(rest, "Command:\n");
	if (p)
		command = log_text(b->t, slice_trim(block_line(b, i + block_lines_to(b, i, p + 1))));
	while ((p = slice_find(rest, "error: "))) {
		uint32_t k = i + block_lines_to(b, i, p + 1) - 1;
		compiler_line(b, k, end, command);
		rest = slice_from(rest, block_line(b, k).p + block_line(b, k).n);
	}
}

/* A build's output without Python's exception: the first error in code that Inductor wrote. */
void log_lone_compiler_error(struct textlog *t)
{
	struct facts *f = t->f;
	if (f->n_failure > t->from.failure)
		return;
	for (uint32_t i = t->from.compiler_error; i < f->n_compiler_error; i++) {
		const struct fact_compiler_error e = f->compiler_error[i];
		if (srcloc_origin(log_get(t, e.at.file)) != SRCLOC_GENERATED)
			continue;
		struct fact_failure *row = facts_new_failure(f, e.src);
		row->type = log_text(t, SLICE("torch._inductor.exc.CppCompileError"));
		row->reason = e.message;
		row->compile = e.compile;
		return;
	}
}

/* Without a traceback around it: up to the record's end, or two blank lines after "Output:". */
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

/* Extracts facts from an exception's message that have their own tables. */
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
	log_break(b, i, &text, SAID_ERROR);
}

/* torch.multiprocessing.spawn, torchrun, Ray and the pools of Python raise their own exception, with the traceback of the failed process as
 * its message (Ray: without the first line of it): that is the failure. */
static bool unwrap_one(struct traceback *tb)
{
	static const char *const wraps[] = {"ProcessRaisedException", "ChildFailedError", "RemoteTraceback"};
	struct traceback of;
	struct slice rest = tb->message, line;
	bool ray = slice_find(tb->type, "RayTaskError") || slice_ends(tb->type, "ActorDiedError") || slice_ends(tb->type, "RayActorError");
	bool found = (ray || slice_any(tb->type, wraps, slice_ends)) && traceback_last(tb->message, &of) && of.type.n;
	while (ray && !found && slice_line(&rest, &line))
		if (slice_starts(slice_unindent(line), "File \""))
			found = traceback_parse_cut(slice_from(tb->message, line.p), TRACEBACK_ALL, &of) && of.type.n;
	if (!found)
		return false;
	if (!of.from_user.line && !of.user.line)
		of.user = tb->from_user.line ? tb->from_user : tb->user;
	*tb = of;
	return true;
}

/* A task may wait for another: each message is shorter than the one around it. */
static void unwrap_process(struct traceback *tb)
{
	for (int i = 0; i < 8 && unwrap_one(tb); i++)
		;
}

/* torch's exceptions: the module, where a notebook prints only the name. They are unmistakable where a line starts with them. */
static const struct {
	const char *module, *names;
} torch_types[] = {
    {"torch._dynamo.exc.",
     " Unsupported BackendCompilerFailed TorchRuntimeError InternalTorchDynamoError FailOnRecompileLimitHit UserError "
     "UncapturedHigherOrderOpError InvalidBackend RecompileError ResetRequired "},
    {"torch._inductor.exc.", " InductorError LoweringException CppCompileError CUDACompileError InvalidCxxCompiler "},
    {"torch.fx.experimental.symbolic_shapes.", " GuardOnDataDependentSymNode ConstraintViolationError "},
    {"torch._subclasses.fake_tensor.", " DataDependentOutputException DynamicOutputShapeException UnsupportedOperatorException "},
    {"torch.utils.checkpoint.", " CheckpointError "},
    {"torch._export.", ""},
    {"torch._functorch.", ""},
};

const char *log_torch_module(struct slice type)
{
	LOCAL_BUF word = {0};
	buf_addf(&word, " %.*s ", (int)(type.n < 80 ? type.n : 0), type.p);
	for (unsigned i = 0; i < ARRAY_LEN(torch_types); i++)
		if (slice_starts(type, torch_types[i].module))
			return "";
		else if (type.n && strstr(torch_types[i].names, buf_str(&word)))
			return torch_types[i].module;
	return NULL;
}

/* An error that another program's logger prints with every line, like vLLM's "ERROR 06-18 08:08:25 [core.py:520] ", or a launcher's. Only
 * from what torch's compiler logs did the program go on. */
static bool own_error(const struct block *b)
{
	static const char *const launcher[] = {"torch.distributed", "torch/distributed"};
	return b->head && (b->head->level == 'E' || b->head->level == 'C') &&
	       (slice_any(b->head->source, launcher, slice_has) || (b->record && !slice_find(b->head->source, "torch/")));
}

/* The row of an exception; NONE if the text ends or was cut before its name. */
static uint32_t traceback_row(struct block *b, uint32_t i, struct traceback tb)
{
	struct textlog *t = b->t;
	struct facts *f = t->f;
	if (!tb.type.n) {
		t->cut_line = t->cut++ ? t->cut_line : b->line[i].no;
		return NONE;
	}
	unwrap_process(&tb);
	uint32_t stack = log_text(t, tb.whole);
	/* convert_frame.py puts the exception into its message and lets the logger print it, too. */
	for (uint32_t k = f->n_failure; b->record && k-- > t->from.failure && f->n_failure - k < 4;)
		if (f->failure[k].caught && f->failure[k].stack == stack && f->failure[k].src.line >= b->line[0].no)
			return k;
	struct fact_failure *row = LOG_ADD(b, i, failure);
	if (!row)
		return NONE;
	LOCAL_BUF frames = {0};
	traceback_frames(traceback_head(&tb), FAILURE_FRAMES, &frames);
	row->frames = log_text(t, buf_slice(&frames));
	LOCAL_BUF type = {0};
	const char *module = log_torch_module(tb.type);
	buf_adds(&type, module ? module : "");
	buf_add_slice(&type, tb.type);
	row->type = log_text(t, buf_slice(&type));
	row->reason = log_text(t, tb.message);
	row->stack = stack;
	row->user = log_loc(t, tb.from_user.line ? &tb.from_user : &tb.user);
	row->torch = log_loc(t, &tb.torch);
	for (uint32_t k = (uint32_t)(row - f->failure), n = 0; row->user.line && row->user.code == NONE && k-- > t->from.failure && n < 8;
	     n++)
		if (f->failure[k].user.line == row->user.line &&
		    srcloc_file_ends(log_get(t, f->failure[k].user.file), log_get(t, row->user.file)))
			row->user = f->failure[k].user; /* that of its cause has the whole path and the code */
	row->caught = b->head && !own_error(b);         /* in a log record: it may have been */
	return (uint32_t)(row - f->failure);
}

/* The next of a chain at line i, and how many lines it has; 0: none. */
static uint32_t next_traceback(const struct block *b, uint32_t i, bool cut, struct traceback *tb)
{
	enum traceback_end end = b->record ? TRACEBACK_ALL : TRACEBACK_BARE;
	struct slice text = block_lines(b, i, b->n);
	size_t used = i >= b->n ? 0 : cut ? traceback_parse_cut(text, end, tb) : traceback_parse(text, end, tb);
	return used ? block_lines_to(b, i, b->text + b->line[i].off + used) : 0;
}

/* The end of the part of a chain that is not a failure: Dynamo refuses generators before any compilation begins, and logs it at length
 * (TORCH_LOGS=+dynamo; convert_frame.py of 2.13), with the exception being handled at that time. BLOCK_MORE: the chain is incomplete. */
static uint32_t refused_to(const struct block *b, uint32_t i)
{
	uint32_t n, refused = i;
	struct traceback tb;
	for (tb.next = TRACEBACK_CAUSE; tb.next != TRACEBACK_LAST && (n = next_traceback(b, i, false, &tb)) > 0;) {
		i += n;
		if (!b->final && (i >= b->n || !tb.ended))
			return BLOCK_MORE;
		if (b->head && slice_starts(tb.message, "Attempt to trace generator"))
			refused = i;
	}
	return refused;
}

/* "\"\"\"", and then the line that joins a chain: the traceback of a pool's process, in quotes, came before line i. */
static bool after_quoted(const struct block *b, uint32_t i)
{
	while (i && slice_blank(block_line(b, i - 1)))
		i--;
	if (!i || !slice_starts(block_line(b, --i), "The above exception was the direct cause"))
		return false;
	while (i && slice_blank(block_line(b, i - 1)))
		i--;
	return i && slice_is(slice_trim(block_line(b, i - 1)), "\"\"\"");
}

/* A pool raises the exception once more in the parent, with the frames of the pool. */
static bool raised_again(const struct textlog *t, uint32_t row, const struct traceback *tb)
{
	const struct fact_failure *before = row == NONE ? NULL : &t->f->failure[row];
	return before && slice_eq(log_get(t, before->type), tb->type) &&
	       slice_eq(slice_first_line(log_get(t, before->reason)), slice_first_line(tb->message));
}

/* Tracebacks that belong together: a chain, a group and its members. */
static uint32_t one_chain(struct block *b, uint32_t i, bool cut)
{
	struct textlog *t = b->t;
	uint32_t from = i, refused = cut ? i : refused_to(b, i), cause = NONE, groups = 0, group[16], n;
	bool remote = after_quoted(b, i);
	struct traceback tb;
	if (refused == BLOCK_MORE)
		return BLOCK_MORE;
	cause = remote ? t->last_failure : NONE;
	for (tb.next = TRACEBACK_CAUSE; tb.next != TRACEBACK_LAST && (n = next_traceback(b, i, cut && i == from, &tb)) > 0; i += n) {
		uint32_t row = i < refused ? NONE : remote && raised_again(t, cause, &tb) ? cause : traceback_row(b, i, tb);
		while (groups && group[groups - 1] >= tb.depth && cause == NONE)
			groups--;
		if (row != NONE) {
			if (row != cause)
				t->f->failure[row].cause = cause;
			if ((!b->head || own_error(b)) && !groups)
				t->last_failure = row;
			if (tb.group && groups < ARRAY_LEN(group))
				group[groups++] = tb.depth;
		}
		unsupported(b, i, &tb);
		if (tb.message.n)
			log_message(b, i, n);
		cause = tb.next == TRACEBACK_CAUSE || tb.next == TRACEBACK_CONTEXT ? row : NONE;
		remote = slice_ends(tb.type, "RemoteTraceback") || slice_ends(slice_trim(tb.message), "\"\"\"");
	}
	return i - from;
}

uint32_t parse_traceback(struct block *b, uint32_t i) { return one_chain(b, i, false); }

static bool error_type(struct slice type)
{
	return slice_ends(type, "Error") || slice_ends(type, "Exception") || slice_ends(type, "Interrupt") ||
	       slice_ends(type, "StopIteration");
}

static bool first_text(const struct block *b, uint32_t i)
{
	if (!i || b->line[i].no > 64)
		return i == 0 && b->line[i].no <= 1;
	for (uint32_t k = 0; k < i; k++)
		if (!slice_blank(block_line(b, k)) && !slice_starts(slice_trim(block_line(b, k)), "```"))
			return false;
	return b->line[0].no == 1;
}

/* A traceback whose head was cut: it starts with a frame, "  File "app/m.py", line 5, in f", or with the exception's own line,
 * "torch._dynamo.exc.Unsupported: ...". Only in a bare text. An exception of Python's own counts after its frames or as the text's
 * first line: programs print such lines, too. */
uint32_t parse_cut_traceback(struct block *b, uint32_t i)
{
	struct slice line = block_line(b, i);
	struct traceback tb;
	if (b->head || !line.n || (line.p[0] == ' ' && !slice_starts(line, "  File \"")))
		return 0;
	bool frames = line.p[0] == ' ';
	if (!frames && !slice_chr(line, ':'))
		return 0;
	size_t used = traceback_parse_cut(block_lines(b, i, b->n), TRACEBACK_BARE, &tb);
	if (!b->final && (!used || !tb.ended) && frames)
		return BLOCK_MORE;
	if (frames && !used) { /* frames of something else: skip them, instead of trying each */
		uint32_t n = block_lines_to(b, i, tb.whole.p + tb.whole.n);
		return n ? n : 1;
	}
	if (!used || !(log_torch_module(tb.type) || (error_type(tb.type) && (tb.frames || first_text(b, i)))))
		return 0;
	if (!b->final && !tb.ended)
		return BLOCK_MORE;
	return one_chain(b, i, true);
}

/* "A message without its class:  Explanation: ...  Hint: ...  Developer debug context: ...": an Unsupported, by its form. The message may
 * be cut off, too. */
uint32_t parse_classless(struct block *b, uint32_t i)
{
	uint32_t k = i, end = i;
	bool context = false;
	struct slice before = i ? block_line(b, i - 1) : slice_of("", 0), first = slice_unindent(block_line(b, i));
	if (b->head || before.n > slice_unindent(before).n)
		return 0;
	for (; k < b->n && k - i < 60; k++) {
		struct slice line = block_line(b, k);
		if (!slice_blank(line) && line.p[0] != ' ' && k > i && !slice_starts(line, "from user code"))
			break;
		context |= slice_find(line, "Developer debug context:") != NULL;
		if (slice_starts(line, "from user code"))
			while (k + 1 < b->n && !slice_blank(block_line(b, k + 1)))
				k++;
		end = k + 1;
	}
	if (k == b->n && !b->final)
		return BLOCK_MORE;
	if (!context)
		return 0;
	LOCAL_BUF text = {0};
	buf_adds(&text, "torch._dynamo.exc.Unsupported: ");
	buf_add_slice(&text, slice_blank(before) ? slice_unindent(slice_skip(first, strlen("Explanation:"))) : before);
	buf_addc(&text, '\n');
	buf_add_slice(&text, block_lines(b, i, end));
	struct traceback tb;
	if (!traceback_parse_cut(buf_slice(&text), TRACEBACK_ALL, &tb))
		return 0;
	uint32_t at = slice_blank(before) ? i : i - 1, row = traceback_row(b, at, tb);
	if (row != NONE)
		b->t->last_failure = row;
	unsupported(b, at, &tb);
	return end - i;
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

static int signal_number(struct slice name)
{
	for (unsigned k = 0; k < ARRAY_LEN(signals); k++)
		if (slice_is(name, signals[k].name))
			return signals[k].number;
	return 0;
}

/* The death of this kind that native.c read just before; NULL. */
static struct fact_failure *fault_row_of(struct textlog *t, struct slice name)
{
	return t->fault && t->fault == signal_number(name) && t->fault_row < t->f->n_failure ? &t->f->failure[t->fault_row] : NULL;
}

static struct fact_failure *signal_row(struct block *b, uint32_t i, struct slice name)
{
	struct textlog *t = b->t;
	const int number = signal_number(name);
	t->killed = true;
	struct fact_failure *row = LOG_ADD(b, i, failure);
	t->last_end = row ? (uint32_t)(row - t->f->failure) : NONE;
	if (row) {
		row->type = log_text(t, name);
		row->signal = number;
	}
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
		while (line.n && is_digit(line.p[0]))
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
			return 0;                       /* a sentence that begins this way */
		if (signals[k].number == b->t->fault) { /* of one death */
			if (b->t->fault_row == NONE)
				b->t->last_end = NONE;
			b->t->fault = 0;
			return 1;
		}
		struct fact_failure *row = signal_row(b, i, slice_str(signals[k].name));
		if (row && dumped)
			row->reason = log_text(b->t, SLICE("core dumped"));
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
	LOCAL_BUF b = {0};
	while (n-- > 0) {
		srcloc_format(&b, &frame[n], SRCLOC_AT, false);
		if (n)
			buf_addc(&b, '\n');
	}
	return log_text(t, buf_slice(&b));
}

static uint32_t in_frame(struct textlog *t, const struct srcloc *at)
{
	LOCAL_BUF b = {0};
	buf_adds(&b, "in ");
	srcloc_format(&b, at, SRCLOC_AT, true);
	return log_text(t, buf_slice(&b));
}

uint32_t parse_faulthandler(struct block *b, uint32_t i)
{
	struct slice line = slice_unindent(block_line(b, i));
	line = slice_trim(slice_skip(line, strlen("Fatal Python error: ")));
	uint32_t k = i + 1, frames = 0;
	struct srcloc at, user = {0}, frame[16];
	bool current = false, known = false,
	     done = false; /* known: the thread is known; else the last one, the main thread, has the signal */
	for (; k < b->n && !done; k++) {
		struct slice s = slice_unindent(block_line(b, k));
		if (slice_starts(s, "Current thread") || (!known && slice_starts(s, "Thread 0x"))) {
			known = slice_starts(s, "Current thread");
			current = true;
			frames = 0;
			user = (struct srcloc){0};
		} else if (slice_starts(s, "Thread 0x") || slice_starts(s, "Extension modules:")) {
			done = frames > 0 || slice_starts(s, "Ext");
		} else if (current && fault_frame(s, &at)) {
			if (frames < ARRAY_LEN(frame))
				frame[frames] = at;
			frames++;
			if (!user.line && srcloc_is_user(at.file))
				user = at;
		} else if (slice_blank(s)) {
			done = known && frames > 0;
		} else {
			done = !slice_starts(s, "Python runtime state") && !slice_starts(s, "File \"") && !slice_starts(s, "<no Python");
		}
	}
	if (!done && !b->final)
		return BLOCK_MORE;
	const char *colon = slice_find(line, ": "); /* "Aborted: detail" */
	struct slice name = slice_upto(line, colon);
	struct fact_failure *row = fault_row_of(b->t, name);
	bool again = row != NULL; /* malloc's or std::terminate's reason is before it */
	if (!row)
		row = signal_row(b, i, name);
	if (row) {
		row->native = again && !frames;
		b->t->fault = row->signal;
		row->frames = frames_text(b->t, frame, frames < ARRAY_LEN(frame) ? frames : ARRAY_LEN(frame));
		row->user = user.line ? log_loc(b->t, &user) : facts_no_loc();
		if (frames && !again)
			row->reason = in_frame(b->t, &frame[0]);
		if (frames && srcloc_is_framework(frame[0].file))
			row->torch = log_loc(b->t, &frame[0]);
	}
	return done ? k - 1 - i : k - i;
}
