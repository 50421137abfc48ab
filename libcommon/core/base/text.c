#include "base/text.h"

#include <signal.h>
#include <unistd.h>

const char *ordinal(uint64_t n)
{
	static const char *const end[] = {"th", "st", "nd", "rd"};
	return n % 10 < 4 && (n % 100 < 11 || n % 100 > 13) ? end[n % 10] : "th";
}

void put_count(struct buf *b, uint64_t n, const char *what) { buf_addf(b, "%llu %s%s", (unsigned long long)n, what, plural(n)); }

void put_seconds(struct buf *b, double s)
{
	if (s < 0.001)
		buf_addf(b, "%.0f us", s * 1e6);
	else if (s < 1)
		buf_addf(b, "%.0f ms", s * 1e3);
	else if (s < 120 || s > 1e12) /* the latter is invalid */
		buf_addf(b, "%.2f s", s);
	else
		buf_addf(b, "%llu min %llu s", (unsigned long long)(s + 0.5) / 60, (unsigned long long)(s + 0.5) % 60);
}

void put_us(struct buf *b, uint64_t ns) { buf_addf(b, "%.*f", ns < 10000 ? 2 : 1, (double)ns / 1e3); }

void put_duration(struct buf *b, uint64_t ns)
{
	if (ns >= 1000000) {
		buf_addf(b, ns >= 1000000000 ? "%.2f s" : "%.2f ms", (double)ns / (ns >= 1000000000 ? 1e9 : 1e6));
		return;
	}
	put_us(b, ns);
	buf_adds(b, " us");
}

void put_bytes(struct buf *b, uint64_t bytes)
{
	static const char *const unit[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
	double v = (double)bytes;
	int u = -1;
	while (v >= 1000 && u < 5) {
		v /= 1000;
		u++;
	}
	if (u < 0)
		buf_addf(b, "%llu bytes", (unsigned long long)bytes);
	else
		buf_addf(b, "%.*f %s", v < 10 ? 2 : v < 100 ? 1 : 0, v, unit[u]);
}

struct slice path_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	return !slash ? SLICE(".") : slice_of(path, slash == path ? 1 : (size_t)(slash - path));
}

void put_absolute(struct buf *b, struct slice path)
{
	FREED char *cwd = slice_starts(path, "/") ? NULL : getcwd(NULL, 0);
	buf_addf(b, "%s%s%.*s", cwd ? cwd : "", cwd && path.n ? "/" : "", SL(path));
}

/* sigabbrev_np() of glibc 2.32. */
const char *signal_name(int signal)
{
	static const char *const name[] = {
	    [SIGHUP] = "SIGHUP",       [SIGINT] = "SIGINT",   [SIGQUIT] = "SIGQUIT",   [SIGILL] = "SIGILL",   [SIGTRAP] = "SIGTRAP",
	    [SIGABRT] = "SIGABRT",     [SIGBUS] = "SIGBUS",   [SIGFPE] = "SIGFPE",     [SIGKILL] = "SIGKILL", [SIGUSR1] = "SIGUSR1",
	    [SIGSEGV] = "SIGSEGV",     [SIGUSR2] = "SIGUSR2", [SIGPIPE] = "SIGPIPE",   [SIGALRM] = "SIGALRM", [SIGTERM] = "SIGTERM",
	    [SIGSTKFLT] = "SIGSTKFLT", [SIGCHLD] = "SIGCHLD", [SIGCONT] = "SIGCONT",   [SIGSTOP] = "SIGSTOP", [SIGTSTP] = "SIGTSTP",
	    [SIGTTIN] = "SIGTTIN",     [SIGTTOU] = "SIGTTOU", [SIGURG] = "SIGURG",     [SIGXCPU] = "SIGXCPU", [SIGXFSZ] = "SIGXFSZ",
	    [SIGVTALRM] = "SIGVTALRM", [SIGPROF] = "SIGPROF", [SIGWINCH] = "SIGWINCH", [SIGIO] = "SIGIO",     [SIGPWR] = "SIGPWR",
	    [SIGSYS] = "SIGSYS",
	};
	return signal > 0 && (size_t)signal < ARRAY_LEN(name) ? name[signal] : NULL;
}

void put_flat(struct buf *b, struct slice s, size_t most)
{
	size_t n = s.n;
	if (n > most)
		for (n = most; n && ((unsigned char)s.p[n] & 0xc0) == 0x80; n--)
			;
	for (size_t i = 0; i < n; i++)
		buf_addc(b, (unsigned char)s.p[i] < 32 ? ' ' : s.p[i]);
	if (n < s.n)
		buf_adds(b, " …");
}

uint64_t text_line(struct slice text, size_t at, size_t *start)
{
	uint64_t line = 0;
	*start = 0;
	for (const char *p; *start < at && (p = memchr(text.p + *start, '\n', at - *start)); line++)
		*start = (size_t)(p - text.p) + 1;
	return line;
}
