#include "tool/diag.h"

#include <errno.h>
#include <unistd.h>

const char *diag_tool = "pt2utils";
static void (*at_die[8])(void);
static size_t n_at_die;

void diag_at_die(void (*fn)(void))
{
	if (n_at_die < ARRAY_LEN(at_die))
		at_die[n_at_die++] = fn;
}

uint64_t shown_most;
static uint64_t taken;

static void say(const char *text, size_t len)
{
	fflush(stdout);
	/* A message is one write, so that those of two processes do not mix. Nothing can be done when stderr is gone. */
	if (write(STDERR_FILENO, text, len) < 0)
		return;
}

size_t shown_room(void)
{
	const uint64_t room = shown_most ? shown_most - taken : SIZE_MAX;
	return room < SIZE_MAX ? (size_t)room : SIZE_MAX;
}

static void shown_limit(char size[32])
{
	if (shown_most % (1 << 20))
		snprintf(size, 32, "%llu bytes", (unsigned long long)shown_most);
	else
		snprintf(size, 32, "%llu MiB", (unsigned long long)shown_most >> 20);
}

void shown_cut(char text[128])
{
	char size[32];
	shown_limit(size);
	snprintf(text, 128, "[cut: more than %s of text; --max-text=SIZE shows more]", size);
}

size_t shown_take(size_t n)
{
	static bool told;
	const size_t room = shown_room();
	if (n <= room) {
		taken += n;
		return n;
	}
	taken = shown_most;
	if (!told) {
		char line[256], size[32];
		shown_limit(size);
		told = true;
		int len = snprintf(line, sizeof(line), "%s: more than %s of text: the rest is cut (--max-text=SIZE shows more)\n",
				   diag_tool, size);
		say(line, len > 0 ? (size_t)len : 0);
	}
	return room;
}

static void put_message(const char *tool, bool counts, int errnum, const char *fmt, va_list ap)
{
	char line[2048];
	int n = snprintf(line, sizeof(line), *tool ? "%s: " : "%s", tool);
	size_t len = n < 0 ? 0 : (size_t)n;
	n = vsnprintf(line + len, sizeof(line) - len - 1, fmt, ap);
	len += n < 0 ? 0 : (size_t)n;
	if (len > sizeof(line) - 2)
		len = sizeof(line) - 2;
	if (errnum) {
		n = snprintf(line + len, sizeof(line) - len - 1, ": %s", strerror(errnum));
		len += n < 0 ? 0 : (size_t)n;
		if (len > sizeof(line) - 2)
			len = sizeof(line) - 2;
	}
	clean_text(line, len);
	line[len++] = '\n';
	static uint64_t said; /* apart from screens: what went wrong is not lost in what was shown */
	said += counts ? len : 0;
	if (!counts || !shown_most || said <= shown_most)
		say(line, len);
}

/* Before the message: a thread that a signal is taking the outputs from waits there, and says nothing. */
static void clean_up(void)
{
	for (size_t i = 0; i < n_at_die; i++)
		at_die[i]();
}

void die(enum exit_status status, const char *fmt, ...)
{
	va_list ap;
	clean_up();
	va_start(ap, fmt);
	put_message(diag_tool, false, 0, fmt, ap);
	va_end(ap);
	exit(status);
}

void die_errno(enum exit_status status, const char *fmt, ...)
{
	int errnum = errno;
	va_list ap;
	clean_up();
	va_start(ap, fmt);
	put_message(diag_tool, false, errnum, fmt, ap);
	va_end(ap);
	exit(status);
}

void die_err(const struct err *e) { die(e->status, "%s", e->text); }

void warn(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	put_message(diag_tool, true, 0, fmt, ap);
	va_end(ap);
}

void warn_lines(struct slice lines)
{
	for (struct slice line; slice_line(&lines, &line);) {
		char *text = xstrndup(line.p, line.n);
		warn("%s", text);
		free(text);
	}
}

void note(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	put_message("", true, 0, fmt, ap);
	va_end(ap);
}
