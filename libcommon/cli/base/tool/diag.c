#include "base/tool/diag.h"
#include "base/tool/color.h"

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
	fflush(stdout);
	/* A message is one write, so that those of two processes do not mix. Nothing can be done when stderr is gone. */
	if (write(STDERR_FILENO, text, len) < 0)
		return;
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
		char *text = xstrndup(line.p, line.n);
		warn("%s", text);
		free(text);
	}
}

void note(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	put_message("", STYLE_WARNING, 0, fmt, ap);
	va_end(ap);
}
