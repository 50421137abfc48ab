#include "base/tool/diag.h"
#include "base/tool/color.h"

#include <errno.h>
#include <unistd.h>

#include "base/oom.h"

const char *diag_tool = "pt2utils";
static void (*at_die[8])(void);
static size_t n_at_die;

static void clean_up(void);

void diag_at_die(void (*fn)(void))
{
	out_of_memory = clean_up;
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

/* The name of the tool has the colour. */
static void put_message(const char *tool, enum style style, int errnum, const char *fmt, va_list ap)
{
	char line[2048], styled[2048 + 16];
	int n = snprintf(line, sizeof(line), *tool ? "%s: " : "%s", tool);
	const size_t name = strlen(tool) + (*tool != 0);
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
	const char *text = line;
	if (*tool && name < len && color_on(STDERR_FILENO)) {
		n = snprintf(styled, sizeof(styled), "\033[%sm%.*s\033[m%.*s", style_code[style], (int)name, line, (int)(len - name),
			     line + name);
		text = styled;
		len = (size_t)n;
	}
	/* Warnings count apart from screens: problems are not lost behind what was shown. An error always comes. */
	static uint64_t warned;
	warned += style == STYLE_WARNING ? len : 0;
	if (style != STYLE_WARNING || !shown_most || warned <= shown_most)
		say(text, len);
}

/* Before the message: if a signal is already removing the outputs, this thread waits there silently. */
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
	put_message(diag_tool, STYLE_ERROR, 0, fmt, ap);
	va_end(ap);
	exit(status);
}

void die_errno(enum exit_status status, const char *fmt, ...)
{
	int errnum = errno;
	va_list ap;
	clean_up();
	va_start(ap, fmt);
	put_message(diag_tool, STYLE_ERROR, errnum, fmt, ap);
	va_end(ap);
	exit(status);
}

void die_err(const struct err *e) { die(e->status, "%s", e->text); }

void warn(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	put_message(diag_tool, STYLE_WARNING, 0, fmt, ap);
	va_end(ap);
}

void warn_lines(struct slice lines)
{
	for (struct slice line; slice_line(&lines, &line);) {
		FREED char *text = xstrndup(line.p, line.n);
		warn("%s", text);
	}
}

void note(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	put_message("", STYLE_WARNING, 0, fmt, ap);
	va_end(ap);
}
