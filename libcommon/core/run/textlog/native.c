/* Deaths of programs in C++: what std::terminate, glibc's malloc, gdb and the signal handlers of folly and glog print; stacks of py-spy. */
#include <signal.h>

#include "run/textlog/textlog_part.h"
#include "run/text.h"

enum { MESSAGE = 200, STACK = 400 }; /* most lines */

static bool any_prefix(struct slice line, const char *const *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_starts(line, word[i]))
			return true;
	return false;
}

/* "frame #3: f() + 0x1b (0x7f12 in x.so)", "#3  0x00007f12 in f () from x.so", "    @     0x7f12 f" */
static bool native_frame(struct slice line)
{
	line = slice_unindent(line);
	if (slice_starts(line, "frame #") || slice_starts(line, "@ "))
		return true;
	return line.n > 2 && line.p[0] == '#' && is_digit(line.p[1]);
}

/* What ends an exception's message. */
static bool ends_message(struct slice line)
{
	static const char *const ends[] = {"Aborted", "Fatal Python error", "Program ",        "Thread ",         "*** ", "[1]",
					   "/bin/",   "Segmentation",       "Traceback (most", "terminate called"};
	return slice_blank(line) || any_prefix(slice_unindent(line), ends, ARRAY_LEN(ends)) || slice_find(line, ": line ") ||
	       (native_frame(line) && !slice_starts(slice_unindent(line), "frame #"));
}

/* The death that other lines report, too: a shell's "Aborted", a handler's "*** Signal 6". */
static struct fact_failure *death(struct block *b, uint32_t i, struct slice type, int number)
{
	struct textlog *t = b->t;
	struct fact_failure *row = LOG_ADD(b, i, failure);
	t->killed = true;
	t->last_end = row ? (uint32_t)(row - t->f->failure) : NONE;
	if (!row)
		return NULL;
	row->type = log_text(t, type);
	row->signal = number;
	row->native = true;
	t->fault = number;
	t->fault_row = t->last_end;
	return row;
}

/* Frames of the libraries that raise and catch signals. */
static bool of_system(struct slice line)
{
	static const char *const of[] = {
	    "raise",        "abort",     "pthread_kill",  "__restore_rt",    "signal handler", "terminate",
	    "__cxa_throw",  "__libc_",   "gsignal",       "malloc_printerr", "_int_",          "__GI_",
	    "c10::Error::", "libc.so",   "c10::detail::", "sigaction",       "__assert",       "folly::symbolizer",
	    "google::",     "(unknown)", " ?? ()",        "libstdc++"};
	return slice_any(line, of, slice_has);
}

/* Takes the stack at line k; returns the line behind it. The innermost frame that is not the system's is what the crash is in. */
static uint32_t take_stack(struct block *b, uint32_t k, struct fact_failure *row)
{
	uint32_t first = k;
	struct slice inner = slice_of("", 0);
	while (k < b->n && k - first < STACK &&
	       (native_frame(block_line(b, k)) || (k > first && slice_starts(block_line(b, k), "      ")))) {
		struct slice line = slice_trim(block_line(b, k++));
		if (!inner.n && !of_system(line))
			inner = line;
	}
	if (k > first && row) {
		row->stack = log_text(b->t, block_lines(b, first, k));
		if (inner.n && row->reason == NONE)
			row->reason = log_text(b->t, inner);
	}
	return k;
}

/* "terminate called after throwing an instance of 'c10::Error'", "  what():  ..." and libc++'s one line */
uint32_t parse_terminate(struct block *b, uint32_t i)
{
	struct slice line = slice_trim(block_line(b, i)), type = SLICE("std::terminate"), reason = slice_of("", 0);
	const char *of = slice_find(line, " instance of '"), *libcxx = slice_find(line, "uncaught exception of type ");
	uint32_t k = i + 1;
	if (of) {
		type = slice_from(line, of + strlen(" instance of '"));
		type = slice_upto(type, slice_rchr(type, '\''));
	} else if (libcxx) {
		type = slice_from(line, libcxx + strlen("uncaught exception of type "));
		const char *colon = slice_find(type, ": ");
		reason = colon ? slice_from(type, colon + 2) : reason;
		type = slice_upto(type, colon);
	} else {
		reason = slice_behind(line, slice_starts(line, "libc++abi") ? "libc++abi: " : "terminate called ");
	}
	struct slice what = slice_unindent(block_line(b, k));
	if (of && slice_take(&what, "what():")) {
		reason = slice_trim(what);
		k++;
	}
	uint32_t more = k;
	while ((of || libcxx) && k < b->n && k - i < MESSAGE && !ends_message(block_line(b, k)))
		k++;
	if (k == b->n && !b->final)
		return BLOCK_MORE;
	struct fact_failure *row = death(b, i, type, SIGABRT);
	if (!row)
		return k - i;
	struct slice rest = block_lines(b, more, k);
	const char *raised = slice_find(rest, "Exception raised from ");
	LOCAL_BUF message = {0};
	buf_add_slice(&message, reason);
	buf_addf(&message, "\n%.*s", SL(slice_trim(slice_upto(rest, raised))));
	row->reason = log_text(b->t, slice_trim(buf_slice(&message)));
	if (raised)
		row->stack = log_text(b->t, slice_from(rest, raised));
	return k - i;
}

/* "==90210==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6190 at pc ...", the access, and its stack */
uint32_t parse_sanitizer(struct block *b, uint32_t i)
{
	struct slice what = slice_behind(block_line(b, i), "ERROR: AddressSanitizer: ");
	const char *on = slice_find(what, " on ");
	if (!what.n || b->record)
		return 0;
	uint32_t k = i + 1;
	while (k < b->n && k - i < 4 && !native_frame(block_line(b, k)))
		k++;
	uint32_t end = k;
	while (end < b->n && end - k < STACK && native_frame(block_line(b, end)))
		end++;
	if (end == b->n && !b->final)
		return BLOCK_MORE;
	LOCAL_BUF type = {0};
	buf_addf(&type, "AddressSanitizer: %.*s", SL(slice_upto(what, on)));
	struct fact_failure *row = death(b, i, buf_slice(&type), SIGABRT);
	struct fact_failure with = FACT_NEW(fact_failure);
	end = take_stack(b, k, &with);
	if (row) {
		row->reason = with.reason;
		row->stack = with.stack;
	}
	return end > i ? end - i : 1;
}

/* glibc's malloc found its own data damaged, and aborts. */
uint32_t parse_heap(struct block *b, uint32_t i)
{
	struct slice what = text_heap_message(block_line(b, i));
	if (!what.n || b->record)
		return 0;
	struct fact_failure *row = death(b, i, SLICE("Aborted"), SIGABRT);
	if (row)
		row->reason = log_text(b->t, what);
	return 1;
}

/* "SIGSEGV, Segmentation fault." */
static int signal_of(struct slice s, struct slice *name)
{
	static const struct {
		const char *sig, *name;
		int number;
	} of[] = {
	    {"SIGSEGV", "Segmentation fault", SIGSEGV},     {"SIGABRT", "Aborted", SIGABRT}, {"SIGILL", "Illegal instruction", SIGILL},
	    {"SIGFPE", "Floating point exception", SIGFPE}, {"SIGBUS", "Bus error", SIGBUS}, {"SIGTRAP", "Trace/breakpoint trap", SIGTRAP}};
	for (size_t i = 0; i < ARRAY_LEN(of); i++)
		if (slice_find(s, of[i].sig)) {
			*name = slice_str(of[i].name);
			return of[i].number;
		}
	return 0;
}

/* gdb: "Program received signal SIGSEGV, Segmentation fault.", "Thread 5 "server" received signal SIGABRT, Aborted.", "Program terminated
 * with signal SIGSEGV, Segmentation fault."; folly and glog: "*** Signal 11 (SIGSEGV) (0x8) received by PID 6959", "*** SIGSEGV (@0x0)
 * received by PID 12". The stack is below it. */
uint32_t parse_native_signal(struct block *b, uint32_t i)
{
	struct slice line = slice_trim(block_line(b, i)), name;
	struct textlog *t = b->t;
	if (text_heap_message(line).n) /* "*** Error in `server': free(): invalid pointer: 0x01 ***" */
		return parse_heap(b, i);
	if (b->record || !(slice_find(line, "received signal SIG") || slice_find(line, "terminated with signal SIG") ||
			   (slice_starts(line, "*** ") && slice_find(line, "SIG") && slice_find(line, "received by PID"))))
		return 0;
	int number = signal_of(line, &name);
	uint32_t k = i + 1;
	if (!number)
		return 0;
	while (k < b->n && k - i < MESSAGE && !native_frame(block_line(b, k)) &&
	       !slice_starts(slice_unindent(block_line(b, k)), "Traceback"))
		k++;
	if (k < b->n && k - i < MESSAGE && native_frame(block_line(b, k))) {
		uint32_t end = k;
		while (end < b->n && end - k < STACK && native_frame(block_line(b, end)))
			end++;
		if (end == b->n && !b->final)
			return BLOCK_MORE;
	} else {
		k = i + 1;
	}
	bool known = t->fault == number && t->fault_row != NONE && t->fault_row < t->f->n_failure;
	struct fact_failure *row = known ? &t->f->failure[t->fault_row] : death(b, i, name, number);
	struct fact_failure with = FACT_NEW(fact_failure);
	if (row)
		with.reason = row->reason;
	uint32_t end = take_stack(b, k, &with);
	if (row) {
		row->reason = row->reason == NONE ? with.reason : row->reason;
		row->stack = row->stack == NONE ? with.stack : row->stack;
	}
	return end > i ? end - i : 1;
}

/* ---- py-spy dump ---- */

/* "    train_step (train.py:61)" */
static bool spied(struct slice line, struct srcloc *at)
{
	line = slice_unindent(line);
	const char *open = slice_find(line, " (");
	if (!open || !slice_ends(line, ")") || !place_parse(slice_of(open + 2, (size_t)(line.p + line.n - open - 3)), at))
		return false;
	at->func = slice_upto(line, open);
	return true;
}

/* py-spy writes paths as they are imported: those of packages and of Python's library start like the user's. */
static bool spied_user(struct slice file)
{
	static const char *const other[] = {"sympy/",       "triton/",          "mpmath/",      "networkx/",     "numpy/",
					    "concurrent/",  "multiprocessing/", "importlib/",   "asyncio/",      "logging/",
					    "threading.py", "subprocess.py",    "selectors.py", "contextlib.py", "functools.py",
					    "runpy.py",     "queue.py",         "socket.py"};
	return srcloc_is_user(file) && !slice_any(file, other, slice_starts);
}

/* "Thread 4182 (idle): "MainThread"", and its frames, innermost first. */
uint32_t parse_thread(struct block *b, uint32_t i)
{
	struct slice line = slice_trim(block_line(b, i));
	struct textlog *t = b->t;
	struct srcloc at, user = {0};
	bool torch = false;
	if (!slice_find(line, "(active") && !slice_find(line, "(idle"))
		return parse_native_signal(b, i);
	uint32_t k = i + 1;
	for (; k < b->n && spied(block_line(b, k), &at); k++) {
		torch |= srcloc_is_framework(at.file);
		if (torch && !user.line && spied_user(at.file))
			user = at;
	}
	if (k == b->n && !b->final)
		return BLOCK_MORE;
	if (user.line && t->n_stack < TEXTLOG_STACKS)
		PUSH(t, stack) = (struct textlog_stack){b->line[i].no, b->line[k - 1].no, log_loc(t, &user)};
	return k - i;
}

void log_place_stacks(struct textlog *t)
{
	for (uint32_t i = 0; t->n_stack && i < t->f->n_known; i++) {
		struct fact_known *k = &t->f->known[i];
		for (uint32_t n = 0; k->src.input == t->input && n < t->n_stack; n++)
			if (t->stack[n].from <= k->src.line && k->src.line <= t->stack[n].to)
				k->loc = t->stack[n].loc;
	}
}
