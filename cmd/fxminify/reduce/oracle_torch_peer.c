/* oracle_torch_peer.c - the Python process behind the torch oracle: finds, starts and feeds it, and cleans up after it. */
#include "base/html/html.h"
#include "base/clock.h"
#include "base/tool/output.h"
#include "reduce/oracle_torch_part.h"

#include <errno.h>
#include <unistd.h>

#define LINE_MAX_BYTES (1u << 30)
#define LISTENS "@pt2-oracle"

int64_t peer_clock(void) { return clock_ns() / 1000000; }

static const char *python_of(const struct oracle_torch_spec *spec)
{
	const char *env = getenv("PT2_PYTHON");
	return spec->python && *spec->python ? spec->python : env && *env ? env : "python3";
}

static void add_program(struct buf *b)
{
	static const char *const part[] = {"zygote/zygote.py",  "fxminify/warm.py",  "fxminify/compare.py", "fxminify/candidate.py",
					   "fxminify/where.py", "fxminify/watch.py", "fxminify/stages.py",  "fxminify/oracle.py"};
	for (size_t i = 0; i < ARRAY_LEN(part); i++)
		buf_add_slice(b, share_file(part[i]));
}

/* An interpreter that reads lines (python -m code) needs no argument with a space or bracket in it, which ssh's remote shell would split.
 * Its first line announces that it listens, and reads the program from the descriptor: nothing may be sent before that, since Python reads
 * ahead. */
static void boot_line(size_t program, struct buf *b)
{
	buf_addf(b,
		 "import os;_=os.write(1,b'\\n" LISTENS "\\n');"
		 "exec(compile((lambda f:f(f,b''))(lambda f,b:b if len(b)>=%zu else f(f,b+(os.read(0,%zu-len(b)) or os._exit(0)))),"
		 "'fxminify-oracle','exec'))\n",
		 program, program);
}

static const char **command_line(const struct oracle_torch_spec *spec, const char *const *launcher)
{
	size_t n = 0;
	while (launcher && launcher[n])
		n++;
	const char **argv = xcalloc(n + 6, sizeof(*argv));
	for (size_t i = 0; i < n; i++)
		argv[i] = launcher[i];
	argv[n] = python_of(spec);
	argv[n + 1] = "-m";
	argv[n + 2] = "code";
	argv[n + 3] = "-q"; /* no banner in its output */
	return argv;
}

int peer_start(struct peer *p, struct childset *set, const struct oracle_torch_spec *spec, const char *const *launcher, enum talk_mode mode,
	       struct slice env, struct slice then, struct err *err)
{
	p->set = set;
	p->launcher = launcher;
	p->refused = false;
	buf_reset(&p->in);
	buf_reset(&p->session);
	buf_reset(&p->first);
	if (env.p != p->env.p) {
		buf_reset(&p->env);
		buf_add_slice(&p->env, env);
	}
	if (!launcher) {
		char *found = child_which(python_of(spec));
		if (!found)
			return err_set(err, EXIT_ENVIRON,
				       "Python not found ('%s'): pass --python=PATH or set PT2_PYTHON to a Python that has torch",
				       python_of(spec));
		free(found);
	}
	add_program(&p->first);
	LOCAL_BUF boot = {0};
	boot_line(p->first.len, &boot);
	talk_start(spec, mode, buf_slice(&p->env), &p->first);
	buf_add_slice(&p->first, then);
	const char **argv = command_line(spec, launcher);
	struct child_spec cs = {
	    .argv = argv,
	    .cwd = "/", /* a directory without code.py or torch.py */
	    .in.how = CHILD_PIPE,
	    .input = buf_slice(&boot),
	    .keep_stdin = true,
	    .out.how = CHILD_RAW,
	    .err.how = CHILD_PIPE,
	    .keep_head = 1024,
	    .keep_tail = 2048,
	    .env_set = (const char *[]){"PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1", NULL},
	    .env_unset = (const char *[]){"PYTHONINSPECT", "PYTHONSTARTUP", NULL},
	};
	p->child = child_start(set, &cs, err);
	free(argv);
	if (!p->child)
		return -1;
	p->state = PEER_BOOT;
	p->deadline = peer_clock() + (spec->start_timeout_ms ? spec->start_timeout_ms : 600000);
	return 0;
}

void peer_send(struct peer *p, struct slice line)
{
	if (p->state == PEER_BOOT)
		buf_add_slice(&p->first, line);
	else if (p->state != PEER_DEAD)
		child_send(p->child, line);
}

static void said_hello(struct peer *p, struct json_tape *t, uint32_t root)
{
	buf_reset(&p->why);
	json_add_text(t, root, "error", &p->why);
	if (p->why.len) {
		p->refused = true;
		return;
	}
	buf_reset(&p->session);
	json_add_text(t, root, "session", &p->session);
	buf_reset(&p->hello);
	buf_add_slice(&p->hello, json_raw(t, root));
	p->state = PEER_UP;
	p->deadline = 0;
}

static void take_answer(struct peer *p, struct slice line, void (*fn)(void *, struct peer *, const struct json_tape *, uint32_t),
			void *user)
{
	if (p->state == PEER_BOOT) {
		if (slice_is(line, LISTENS)) {
			p->state = PEER_HELLO;
			child_send(p->child, buf_slice(&p->first));
			buf_release(&p->first);
		}
		return;
	}
	OWNED(json_tape_release) struct json_tape t = {0};
	uint32_t root;
	json_tape_text(&t, line.p, line.n);
	if (line.n && line.p[0] == '{' && json_parse(&t, 0, line.n, &root) == 0) {
		struct slice re = json_word(&t, root, "re");
		if (slice_is(re, "hello"))
			said_hello(p, &t, root);
		else if (re.p)
			fn(user, p, &t, root);
	}
}

void peer_read(struct peer *p, void (*fn)(void *user, struct peer *p, const struct json_tape *t, uint32_t root), void *user)
{
	for (;;) {
		ssize_t n = read(child_fd(p->child, 1), buf_room(&p->in, 1 << 16), 1 << 16);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			child_close_stream(p->child, 1);
		if (n <= 0)
			break;
		buf_wrote(&p->in, (size_t)n);
		if (p->in.len > LINE_MAX_BYTES) {
			peer_died(p, "it sent too long a line");
			return;
		}
		if (n < 1 << 16)
			break;
	}
	size_t from = 0;
	const char *end;
	/* fn may end this process: its state must not be used after that. */
	while (p->state != PEER_DEAD && p->in.len > from && (end = memchr(p->in.p + from, '\n', p->in.len - from))) {
		size_t next = (size_t)(end - p->in.p) + 1;
		take_answer(p, slice_of(p->in.p + from, next - 1 - from), fn, user);
		from = next;
	}
	if (p->state == PEER_DEAD)
		return;
	memmove(p->in.p, p->in.p + from, p->in.len - from);
	buf_cut(&p->in, p->in.len - from);
}

/* The last meaningful line: a Python exception, a launcher's error. */
static struct slice last_line(struct slice text)
{
	struct slice line, last = {"", 0};
	while (slice_line(&text, &line)) {
		line = slice_trim(line);
		if (line.n && !slice_is(line, ">>>") && !slice_starts(line, "now exiting") && !slice_starts(line, "(InteractiveConsole)"))
			last = line;
	}
	return last;
}

static void clear_up(struct peer *p)
{
	/* Only its own path, and only what it creates. */
	if (!p->launcher && p->session.len && memmem(p->session.p, p->session.len, "/fxminify-oracle-", 17))
		remove_tree(buf_str(&p->session));
	buf_reset(&p->session);
}

void peer_died(struct peer *p, const char *reason)
{
	if (p->state == PEER_DEAD)
		return;
	const struct child_result *r = child_result(p->child);
	if (!p->refused) {
		LOCAL_BUF text = {0};
		child_output_text(&r->err, &text);
		struct slice last = last_line(buf_slice(&text));
		buf_reset(&p->why);
		buf_adds(&p->why, "the torch process ");
		if (reason)
			buf_adds(&p->why, reason);
		else
			child_describe(r, &p->why);
		if (last.n && p->why.len + last.n < 600)
			buf_addf(&p->why, ": %.*s", SL(last));
	}
	child_free(p->set, p->child);
	p->child = NULL;
	p->state = PEER_DEAD;
	p->deadline = 0;
	clear_up(p);
}

static bool wait_end(struct peer *p, int ms)
{
	int64_t until = peer_clock() + ms;
	struct child_event ev = {0};
	while (peer_clock() < until && childset_wait(p->set, -1, 100, &ev) == 0) {
		char drop[4096];
		if (ev.what == CHILD_ENDED && ev.child == p->child)
			return true;
		if (ev.what == CHILD_READABLE && read(child_fd(ev.child, ev.stream), drop, sizeof(drop)) <= 0)
			child_close_stream(ev.child, ev.stream);
	}
	return false;
}

void peer_close(struct peer *p)
{
	if (p->state != PEER_DEAD && p->child) {
		/* Once it is up, closing its input is enough: it kills its tests and removes their folders. Before that it does not
		 * read. */
		child_send_end(p->child);
		if (p->state != PEER_UP)
			child_stop(p->child);
		/* A launcher is also asked to exit: srun then releases its job, which it cannot if killed. */
		if (!wait_end(p, 5000) && p->launcher) {
			child_stop(p->child);
			wait_end(p, 3000);
		}
		child_free(p->set, p->child);
		p->child = NULL;
		p->state = PEER_DEAD;
		clear_up(p);
	}
	buf_release(&p->in);
	buf_release(&p->first);
	buf_release(&p->env);
	buf_release(&p->session);
	buf_release(&p->hello);
	buf_release(&p->why);
}
