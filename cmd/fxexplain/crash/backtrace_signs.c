/* backtrace_signs.c - lines other than frames: the signal, the address, the exception. */
#include "crash/backtrace.h"

#include "run/text.h"

#include <ctype.h>
#include <signal.h>

bool crash_hex(struct slice s, size_t *at, uint64_t *v)
{
	size_t i = *at, from;
	if (s.n - i >= 2 && i < s.n && s.p[i] == '0' && (s.p[i + 1] == 'x' || s.p[i + 1] == 'X'))
		i += 2;
	*v = 0;
	for (from = i; i < s.n && isxdigit((unsigned char)s.p[i]); i++) {
		unsigned d = (unsigned char)s.p[i];
		*v = *v << 4 | (d <= '9' ? d - '0' : (d | 32) - 'a' + 10);
	}
	if (i == from || i - from > 16)
		return false;
	*at = i;
	return true;
}

static struct slice after_word(struct slice s, const char *word)
{
	const char *p = slice_find(s, word);
	size_t n = p ? (size_t)(p - s.p) + strlen(word) : s.n;
	return n < s.n ? slice_of(s.p + n, s.n - n) : slice_of("", 0);
}

static void keep_said(struct crash *c, struct slice line)
{
	if (!c->said.n)
		c->said = line;
}

static void set_signal(struct crash *c, int signal, struct slice line)
{
	if (!c->signal && signal) {
		c->signal = signal;
		keep_said(c, line);
	}
}

static void set_fault(struct crash *c, struct slice s, const char *word)
{
	size_t at = 0;
	struct slice rest = after_word(s, word);
	if (!c->has_fault && rest.n && crash_hex(rest, &at, &c->fault))
		c->has_fault = true;
}

/* The first word in capitals, "SIGSEGV" in "Program terminated with signal SIGSEGV, ..." */
static int signal_word(struct slice s)
{
	size_t n = 0;
	s = slice_trim(s);
	while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '_'))
		n++;
	return crash_signal(slice_of(s.p, n));
}

/* Finds the signal in output of shells, Python, torch, debuggers and coredumpctl. */
static void read_signal(struct crash *c, struct slice s)
{
	static const struct {
		const char *word;
		bool number; /* a number follows, else a name */
	} before[] = {{"Program received signal ", false}, {"received signal ", false},    {"Program terminated with signal ", false},
		      {"stop reason = signal ", false},    {"Caught signal ", true},       {"Signal: ", true},
		      {"killed by signal ", true},         {"died with <Signals.", false}, {"AddressSanitizer: ", false}};
	uint64_t number;
	for (size_t i = 0; i < ARRAY_LEN(before) && !c->signal; i++) {
		struct slice rest = after_word(s, before[i].word);
		size_t n = 0;
		while (n < rest.n && isdigit((unsigned char)rest.p[n]))
			n++;
		if (before[i].number && n && slice_u64(slice_of(rest.p, n), &number) && number < 65)
			set_signal(c, (int)number, s);
		else if (rest.n)
			set_signal(c, signal_word(rest), s);
	}
	if (slice_starts(s, "Fatal Python error: "))
		set_signal(c, crash_signal(slice_trim(after_word(s, "error: "))), s);
	if (slice_starts(s, "SIG") && slice_find(s, "), PID: "))
		set_signal(c, signal_word(s), s);
	static const char *const text[] = {"Segmentation fault",       "Aborted",   "Illegal instruction",
					   "Floating point exception", "Bus error", "Killed"};
	bool said = slice_has(s, " (core dumped)") || slice_any(s, text, slice_is);
	for (size_t i = 0; said && i < ARRAY_LEN(text); i++)
		if (slice_has(s, text[i]))
			set_signal(c, crash_signal(slice_str(text[i])), s);
	if (slice_find(s, "segfault at ") || slice_find(s, "general protection"))
		set_signal(c, SIGSEGV, s);
	if (slice_find(s, "trap invalid opcode") || slice_find(s, "invalid opcode in"))
		set_signal(c, SIGILL, s);
	if (slice_find(s, "trap divide error"))
		set_signal(c, SIGFPE, s);
	if (slice_find(s, "EXC_BAD_ACCESS"))
		set_signal(c, SIGSEGV, s);
	if (slice_find(s, "exit code -11") || slice_find(s, "exit code: -11") || slice_find(s, "exited with 139"))
		set_signal(c, SIGSEGV, s);
}

static void read_address(struct crash *c, struct slice s)
{
	set_fault(c, s, "fault address: ");                  /* lldb */
	set_fault(c, s, "not mapped to object at address "); /* libucs */
	set_fault(c, s, "EXC_BAD_ACCESS (code=1, address=");
	set_fault(c, s, "SEGV on unknown address "); /* sanitizers */
	set_fault(c, s, "-overflow on address ");
	if (slice_find(s, "Accessing address 0x")) /* gdb: si_addr printed by hand */
		set_fault(c, s, "Accessing address ");
	if (!c->has_access && slice_find(s, "caused by a WRITE memory access"))
		c->has_access = c->fault_write = true;
	if (!c->has_access && slice_find(s, "caused by a READ memory access"))
		c->has_access = true;
}

static void sign(struct crash *c, unsigned which, struct slice line)
{
	c->signs |= which;
	keep_said(c, line);
	if (!c->what.n)
		c->what = line;
}

static bool any(struct slice s, const char *const *word)
{
	for (; *word; word++)
		if (slice_find(s, *word))
			return true;
	return false;
}

/* terminate(): libstdc++'s two lines, and libc++'s one. */
static bool read_terminate(struct crash *c, struct slice s)
{
	struct slice type = after_word(s, "throwing an instance of '");
	const char *quote = slice_chr(type, '\'');
	if (quote) {
		c->signs |= SIGN_EXCEPTION;
		c->exception = slice_of(type.p, (size_t)(quote - type.p));
		c->what = (struct slice){0};
		keep_said(c, s);
		return true;
	}
	if (slice_find(s, "terminate called without an active exception") || slice_find(s, "terminating with uncaught exception") ||
	    slice_find(s, "terminating due to uncaught exception")) {
		sign(c, SIGN_EXCEPTION, s);
		return true;
	}
	if (c->signs & SIGN_EXCEPTION && slice_starts(s, "what():")) {
		c->what = slice_trim(after_word(s, "what():"));
		return true;
	}
	return false;
}

/* "RuntimeError: text" at the end of a traceback: the model's own error message. Not indented, one word and a colon. */
static void read_python_error(struct crash *c, struct slice s)
{
	size_t n = 0;
	while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '_' || s.p[n] == '.'))
		n++;
	if (n < 6 || n + 1 >= s.n || s.p[n] != ':' || s.p[n + 1] != ' ' || !slice_ends(slice_of(s.p, n), "Error"))
		return;
	if (c->signs & (SIGN_PYTHON_ERROR | SIGN_EXCEPTION) || c->signal)
		return;
	c->signs |= SIGN_PYTHON_ERROR;
	c->exception = slice_of(s.p, n);
	c->what = slice_trim(slice_of(s.p + n + 1, s.n - n - 1));
	keep_said(c, s);
}

/* The reason is on a line of its own, before the one that names the call. */
static void read_api(struct crash *c, struct slice s)
{
	struct slice reason = after_word(s, "Exception in aoti_torch: ");
	keep_said(c, s);
	if (reason.n)
		c->what = slice_trim(reason);
	else
		c->signs |= SIGN_API;
}

/* Also behind a prefix: "server[12]: free(): invalid pointer". */
static bool heap_message(struct slice s)
{
	bool found = text_heap_message(s).n > 0;
	for (const char *p = slice_find(s, " "); p && !found; p = slice_find(s, " ")) {
		s = slice_of(p + 1, (size_t)(s.p + s.n - p - 1));
		found = text_heap_message(s).n > 0;
	}
	return found;
}

void crash_read_sign(struct crash *c, struct slice s)
{
	static const char *const oom[] = {"Out of memory: Kill", "oom-kill:", "oom_reaper: ", "Memory cgroup out of memory", "OOM-killed",
					  "OOMKilled",           NULL};
	static const char *const ima[] = {"an illegal memory access was encountered", "CUDA_ERROR_ILLEGAL_ADDRESS", NULL};
	if (read_terminate(c, s))
		return;
	if (heap_message(s))
		sign(c, SIGN_HEAP, s);
	else if (any(s, oom))
		sign(c, SIGN_OOM, s);
	else if (any(s, ima))
		sign(c, SIGN_CUDA | SIGN_CUDA_IMA, s);
	else if (slice_find(s, "Exception in aoti_torch: ") || slice_find(s, " API call failed at "))
		read_api(c, s);
	else if (slice_find(s, "CUDA error: ") || slice_find(s, "CUDA driver error: "))
		sign(c, SIGN_CUDA, s);
	else if (slice_find(s, "Assertion `") && slice_find(s, "failed"))
		sign(c, SIGN_ASSERT, s);
	else if (slice_find(s, "stack smashing detected"))
		sign(c, SIGN_SMASHED, s);
	else if (slice_find(s, "AddressSanitizer: stack-overflow") || slice_find(s, "Cannot recover from stack overflow"))
		sign(c, SIGN_STACK, s);
	else if (slice_find(s, "ERROR: AddressSanitizer: "))
		sign(c, SIGN_ASAN, s);
	else
		read_python_error(c, s);
	read_signal(c, s);
	read_address(c, s);
}
