/* pt2 top - what compiles now. */
#include "top/top.h"

#include "base/process/child.h"
#include "base/text.h"
#include "base/tool/diag.h"
#include "base/tool/opt.h"
#include "base/tool/parts.h"
#include "base/tool/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static struct {
	bool once;
	double interval;
} own = {.interval = 1};

static const struct opt top_options[] = {
    OPT_FLAG('1', "once", &own.once, "print one look and end"),
    {.type = OPT_T_DOUBLE,
     .s = 'n',
     .l = "interval",
     .arg = "SECONDS",
     .help = "look again after SECONDS (default: 1)",
     .target = &own.interval,
     .dmin = 0.05,
     .dmax = 3600},
    OPT_END,
};

/* ---- whose traces ---- */

/* Without a trace, where its Python stands now: py-spy reads the stack, fxexplain tells the phase. Its status. */
static int ask_py_spy(pid_t pid)
{
	char number[24];
	struct err err;
	struct child_result r, e;
	FREED char *fxexplain = tool_or_die("fxexplain");
	snprintf(number, sizeof(number), "%lld", (long long)pid);
	note("pt2: process %s was started without TORCH_TRACE: py-spy dump --pid %s | fxexplain -", number, number);
	const struct child_spec dump = {
	    .argv = (const char *[]){"py-spy", "dump", "--pid", number, NULL},
	    .out.how = CHILD_PIPE,
	    .timeout_ms = 60000,
	    .keep_head = 1 << 20,
	    .keep_tail = 1,
	};
	if (child_run(&dump, &r, &err) < 0)
		die_err(&err);
	if (r.how != CHILD_EXITED || r.status)
		die(EXIT_PARTIAL, "py-spy cannot read process %s (it says why above)", number);
	const struct child_spec explain = {
	    .argv = (const char *[]){fxexplain, "-", NULL}, .in.how = CHILD_PIPE, .input = buf_slice(&r.out.head)};
	if (child_run(&explain, &e, &err) < 0)
		die_err(&err);
	const int status = e.how == CHILD_EXITED ? e.status : EXIT_ENVIRON;
	child_result_release(&r);
	child_result_release(&e);
	return status;
}

/* The folder that a process traces into; false: none, and py-spy can be asked. */
static bool trace_folder(struct top *t, pid_t pid)
{
	if (!proc_alive(pid))
		die(EXIT_INPUT, "no process %lld", (long long)pid);
	t->dir = t->environ_dir = proc_environ(pid, "TORCH_TRACE");
	if (t->dir && *t->dir)
		return true;
	FREED char *py_spy = child_which("py-spy");
	if (!py_spy)
		die(EXIT_PARTIAL,
		    "process %lld was started without TORCH_TRACE: what it compiles cannot be seen (start it under pt2 run, or with "
		    "TORCH_TRACE=DIR; where py-spy is installed, its stack is read instead)",
		    (long long)pid);
	return false;
}

/* False: ask py-spy about only_pid. */
static bool choose(struct top *t, const struct operands *in)
{
	struct stat st;
	uint64_t pid;
	if (!in->n) {
		if (!(t->only_pid = proc_newest_with("TORCH_TRACE")))
			die(EXIT_PARTIAL, "no process with TORCH_TRACE is running: start one under pt2 run, or name a folder of traces");
		const bool traces = trace_folder(t, (pid_t)t->only_pid);
		t->only_pid = traces ? 0 : t->only_pid; /* its parents and sisters too: ranks */
		return traces;
	}
	const char *what = in->v[0];
	if (stat(what, &st) < 0 && slice_u64(slice_str(what), &pid) && pid <= INT_MAX) {
		t->only_pid = (int64_t)pid;
		return trace_folder(t, (pid_t)pid);
	}
	if (stat(what, &st) < 0)
		die_errno(EXIT_INPUT, "cannot read '%s'", what);
	if (!S_ISDIR(st.st_mode))
		die(EXIT_USAGE, "'%s' is a file: pt2 top takes a folder of traces, or a process", what);
	t->dir = what;
	return true;
}

/* ---- a terminal ---- */

static struct termios before;
static bool is_raw;
static volatile sig_atomic_t ended_by;

static void say(const char *bytes)
{
	if (write(STDOUT_FILENO, bytes, strlen(bytes)) < 0)
		ended_by = SIGPIPE;
}

/* The other screen, no cursor, keys at once. */
static void terminal_take(void)
{
	if (tcgetattr(STDIN_FILENO, &before) < 0)
		return;
	struct termios raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	is_raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
	say("\033[?1049h\033[?25l");
}

static void terminal_give_back(void)
{
	say("\033[?25h\033[?1049l");
	if (is_raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static void on_signal(int sig) { ended_by = sig; }

enum key { KEY_NONE, KEY_QUIT, KEY_UP, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME };

static enum key key_within(int ms)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	char c[8] = {0};
	if (poll(&p, 1, ms) <= 0)
		return KEY_NONE;
	const ssize_t n = read(STDIN_FILENO, c, sizeof(c) - 1);
	if (n <= 0 || *c == 'q' || *c == 'Q' || *c == 4 || (n == 1 && *c == 27))
		return KEY_QUIT;
	if (!strcmp(c, "\033[A") || *c == 'k')
		return KEY_UP;
	if (!strcmp(c, "\033[B") || *c == 'j')
		return KEY_DOWN;
	if (!strcmp(c, "\033[5~"))
		return KEY_PAGE_UP;
	if (!strcmp(c, "\033[6~") || *c == ' ')
		return KEY_PAGE_DOWN;
	return !strcmp(c, "\033[H") || *c == 'g' ? KEY_HOME : KEY_NONE;
}

static int moved(int from, enum key k, int page)
{
	const int by = k == KEY_UP ? -1 : k == KEY_DOWN ? 1 : k == KEY_PAGE_UP ? -page : k == KEY_PAGE_DOWN ? page : 0;
	return k == KEY_HOME || from + by < 0 ? 0 : from + by;
}

static void size_of(int *width, int *height)
{
	struct winsize w;
	const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col && w.ws_row;
	*width = known ? w.ws_col : 80;
	*height = known ? w.ws_row : 24;
}

static void draw(const struct top *t, int from, int *page)
{
	int width, height;
	LOCAL_BUF text = {0};
	LOCAL_BUF out = {0};
	size_of(&width, &height);
	*page = height > 8 ? height - 8 : 1;
	buf_addf(&text, "pt2 top  %s  q ends, arrows scroll\n", t->dir);
	top_draw(t, &text, width, height - 2, from);
	clean_lines(text.p, text.len); /* names come from the program */
	buf_adds(&out, "\033[H");
	for (struct slice rest = buf_slice(&text), one; slice_line(&rest, &one);)
		buf_addf(&out, "%.*s\033[K\r\n", SLN(one, (size_t)width * 4));
	buf_adds(&out, "\033[J");
	say(buf_str(&out));
}

static int wait_ms(const struct top *t)
{
	const double seconds = t->cost * 10 > own.interval ? t->cost * 10 : own.interval;
	return (int)(seconds * 1000);
}

static int on_terminal(struct top *t)
{
	struct err err = {0};
	int from = 0, page = 1, status = 0;
	struct sigaction end = {.sa_handler = on_signal};
	for (int i = 0; i < 3; i++)
		sigaction((const int[]){SIGINT, SIGTERM, SIGHUP}[i], &end, NULL);
	terminal_take();
	for (enum key k = KEY_NONE; k != KEY_QUIT && !ended_by && !status;) {
		if (k == KEY_NONE)
			status = top_read(t, &err) < 0;
		draw(t, from, &page);
		k = key_within(wait_ms(t));
		from = moved(from, k, page);
	}
	terminal_give_back();
	if (status)
		die_err(&err);
	return EXIT_FINE;
}

/* ---- lines for a pipe: whenever something is new, until nothing lives ---- */

static int as_lines(struct top *t)
{
	struct err err;
	LOCAL_BUF last = {0};
	for (;;) {
		LOCAL_BUF now = {0};
		if (top_read(t, &err) < 0)
			die_err(&err);
		if (own.once)
			top_draw(t, &now, 0, 0, 0);
		else
			top_line(t, &now);
		if (now.len != last.len || memcmp(buf_str(&now), buf_str(&last), now.len)) {
			struct screen s = screen_make();
			buf_add_slice(&s.b, buf_slice(&now));
			screen_end(&s);
			buf_reset(&last);
			buf_add_slice(&last, buf_slice(&now));
		}
		if (own.once || (t->n && !top_alive(t)))
			return EXIT_FINE;
		poll(NULL, 0, wait_ms(t));
	}
}

static int run_top(struct operands *in)
{
	struct top t = {0};
	const bool screen = !own.once && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	const int status = !choose(&t, in) ? ask_py_spy((pid_t)t.only_pid) : screen ? on_terminal(&t) : as_lines(&t);
	top_release(&t);
	return status;
}

extern const struct opt_command top_command;
const struct opt_command top_command = {
    .name = "top",
    .summary = "watch what compiles now",
    .about = "What compiles now, for how long, and what happened?",
    .example = {{"traces --once", "one look at a folder of traces"},
		{"traces", "watch them until they end"},
		{"--once --interval=0.1 traces", "the same as a screen"}},
    .options = top_options,
    .operands = "[DIR|PID]",
    .footer = "DIR: where TORCH_TRACE points. PID: a process of its own; default: the newest",
    .more = "On a terminal: a screen, redrawn; q ends it, arrows scroll what happened. All processes that trace into the folder are shown, "
	    "ranks too. "
	    "Of a process without a trace py-spy reads the stack, where that is installed, and the phase follows from it.",
    .max = 1,
    .run = run_top,
};
