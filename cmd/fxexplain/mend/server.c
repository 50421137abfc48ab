/* server.c - starts share/mend as one program, asks, and waits for the answer. */
#include "mend/server.h"

#include "base/html/html.h"
#include "base/io/write.h"
#include "base/process/child.h"
#include "base/process/cowview.h"
#include "base/tool/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

struct mend_server {
	struct childset set;
	struct child *child;
	struct buf in, hello, line;
	bool ended;
};

static int write_program(const char *path, struct err *err)
{
	static const char *const part[] = {"zygote/zygote.py", "mend/values.py", "mend/edits.py",  "mend/regions.py",
					   "mend/parts.py",    "mend/goals.py",  "mend/guards.py", "mend/candidates.py",
					   "mend/sandbox.py",  "mend/runner.py", "mend/server.py"};
	LOCAL_BUF b = {0};
	for (size_t i = 0; i < ARRAY_LEN(part); i++) {
		buf_add_slice(&b, share_file(part[i]));
		buf_addc(&b, '\n');
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot create '%s'", path);
	int status = write_all(fd, b.p, b.len, path, err);
	close(fd);
	return status;
}

static void start_line(const struct mend_server_spec *spec, const struct cowview *view, struct buf *b)
{
	char cwd[PATH_MAX];
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member_str(&o, "folder", slice_str(spec->folder));
	json_member_str(&o, "main", slice_str(spec->program->main ? spec->program->main : ""));
	json_member_str(&o, "module", slice_str(spec->program->module ? spec->program->module : ""));
	json_member_arr(&o, "args");
	for (char *const *a = spec->program->args; *a; a++)
		json_out_str(&o, slice_str(*a));
	json_close(&o);
	json_member_str(&o, "cwd", slice_str(getcwd(cwd, sizeof(cwd)) ? cwd : "/"));
	json_member_u64(&o, "steps", (uint64_t)spec->steps);
	json_member_u64(&o, "memory", spec->memory);
	if (view) {
		LOCAL_BUF overlays = {0};
		cowview_overlays(view, &overlays);
		json_member_obj(&o, "view");
		json_member_u64(&o, "fd", MEND_VIEW_FD);
		json_member_raw(&o, "overlays", buf_slice(&overlays));
		json_close(&o);
	}
	json_close(&o);
	buf_addc(b, '\n');
}

/* A line of the answer's kind, or of hello; others (started, warning) are taken on the way. -1: it ended, or said something else. */
static int next_line(struct mend_server *s, struct slice kind, struct json_tape *t, uint32_t *root, struct err *err)
{
	struct child_event ev;
	for (;;) {
		struct slice rest = buf_slice(&s->in), line;
		const char *end = slice_chr(rest, '\n');
		if (end) {
			line = slice_of(rest.p, (size_t)(end - rest.p));
			buf_reset(&s->line);
			buf_add_slice(&s->line, line);
			memmove(s->in.p, end + 1, rest.n - line.n - 1);
			buf_cut(&s->in, rest.n - line.n - 1);
			json_tape_text(t, buf_str(&s->line), s->line.len);
			if (json_parse(t, 0, s->line.len, root) < 0)
				continue;
			struct slice re = json_word(t, *root, "re");
			if (slice_is(re, "warning")) {
				LOCAL_BUF text = {0};
				json_add_text(t, *root, "text", &text);
				warn("%s", buf_str(&text));
			} else if (slice_eq(re, kind)) {
				return 0;
			}
			continue;
		}
		if (s->ended)
			return err_set(err, EXIT_ENVIRON, "the Python process ended without an answer");
		if (childset_wait(&s->set, -1, -1, &ev) < 0)
			return err_errno(err, EXIT_ENVIRON, "cannot wait for the Python process");
		if (ev.what == CHILD_READABLE) {
			char *room = buf_room(&s->in, 1 << 16);
			ssize_t n = read(child_fd(s->child, 1), room, 1 << 16);
			if (n > 0)
				buf_wrote(&s->in, (size_t)n);
			else if (n == 0)
				child_close_stream(s->child, 1), s->ended = true;
		} else if (ev.what == CHILD_ENDED || ev.what == CHILD_NOTHING) {
			s->ended = true;
		} else if (ev.what == CHILD_INTERRUPTED) {
			return err_set(err, EXIT_ENVIRON, "interrupted");
		}
	}
}

static void release_view(struct cowview **v) { cowview_free(*v); }

struct mend_server *mend_server_start(const struct mend_server_spec *spec, struct err *err)
{
	FREED char *path = xasprintf("%s/server.py", spec->folder);
	if (write_program(path, err) < 0)
		return NULL;
	OWNED(release_view) struct cowview *view = spec->confined ? mend_confine_prepare(spec->folder, spec->program, err) : NULL;
	if (spec->confined && !view)
		return NULL;
	struct mend_server *s = xcalloc(1, sizeof(*s));
	LOCAL_BUF first = {0};
	start_line(spec, view, &first);
	size_t n = 0, at = 0;
	while (spec->program->python_option[n])
		n++;
	const char **argv = xcalloc(n + 3, sizeof(*argv));
	argv[at++] = spec->program->python;
	for (size_t i = 0; i < n; i++)
		argv[at++] = spec->program->python_option[i];
	argv[at] = path;
	struct child_spec cs = {
	    .argv = argv,
	    .in.how = CHILD_PIPE,
	    .input = buf_slice(&first),
	    .keep_stdin = true,
	    .out.how = CHILD_RAW,
	    .err.how = CHILD_PIPE,
	    .keep_head = 2048,
	    .keep_tail = 4096,
	    .die_with_parent = true,
	    .env_set = (const char *[]){"OMP_NUM_THREADS=1", "PYTHONHASHSEED=0", NULL},
	    .env_unset = (const char *[]){"PYTHONINSPECT", "TORCH_TRACE", "TORCH_LOGS", "TORCH_COMPILE_DEBUG", NULL},
	    .before_exec = view ? mend_confine : NULL,
	    .arg = view,
	};
	s->child = child_start(&s->set, &cs, err);
	free(argv);
	if (s->child) {
		OWNED(json_tape_release) struct json_tape t = {0};
		uint32_t root;
		if (next_line(s, SLICE("hello"), &t, &root, err) == 0) {
			buf_add_slice(&s->hello, buf_slice(&s->line));
			LOCAL_BUF why = {0};
			json_add_text(&t, root, "error", &why);
			if (!why.len)
				return s;
			err_set(err, EXIT_ENVIRON, "%s", buf_str(&why));
		} else {
			LOCAL_BUF said = {0};
			struct child_event ev = {0};
			child_close_stream(s->child, 1); /* else its end is reported again and again */
			for (int i = 0; i < 20 && ev.what != CHILD_ENDED; i++)
				if (childset_wait(&s->set, -1, 500, &ev) < 0 || ev.what == CHILD_NOTHING || ev.what == CHILD_INTERRUPTED)
					break;
			child_output_text(&child_result(s->child)->err, &said);
			if (said.len)
				err_set(err, EXIT_ENVIRON, "'%s' did not start: %.*s", spec->program->python,
					SLN(slice_trim(buf_slice(&said)), 800));
		}
	}
	mend_server_stop(s);
	return NULL;
}

struct slice mend_server_hello(const struct mend_server *s) { return buf_slice(&s->hello); }

int mend_server_ask(struct mend_server *s, struct slice request, struct json_tape *t, uint32_t *root, struct err *err)
{
	OWNED(json_tape_release) struct json_tape q = {0};
	LOCAL_BUF kind = {0}, why = {0};
	uint32_t at;
	json_tape_text(&q, request.p, request.n);
	if (json_parse(&q, 0, request.n, &at) == 0)
		json_add_text(&q, at, "op", &kind);
	child_send(s->child, request);
	child_send(s->child, SLICE("\n"));
	if (next_line(s, buf_slice(&kind), t, root, err) < 0)
		return -1;
	if (slice_is(buf_slice(&kind), "run") || slice_is(buf_slice(&kind), "eager"))
		return 0; /* its "error" is the program's */
	json_add_text(t, *root, "error", &why);
	return why.len ? err_set(err, EXIT_PARTIAL, "%s", buf_str(&why)) : 0;
}

void mend_server_stop(struct mend_server *s)
{
	if (!s)
		return;
	if (s->child)
		child_free(&s->set, s->child);
	childset_release(&s->set);
	buf_release(&s->in);
	buf_release(&s->hello);
	buf_release(&s->line);
	free(s);
}
