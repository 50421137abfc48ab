/* recheck.c - runs the command again without torch.compile, and compares the failures (recheck.h). */
#include "run/recheck.h"

#include "base/text.h"
#include "base/tool/diag.h"
#include "explain/emit.h"
#include "run/diagnose/cause.h"
#include "run/run_part.h"
#include "run/text.h"
#include "run/textlog/textlog.h"

#include "base/io/write.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CLIP = 400, QUICK_S = 60, ANSWER_MS = 60 * 1000 };

/* ---- whether ---- */

static bool is_rank(const struct run_names *traces)
{
	static const char *const name[] = {"RANK", "LOCAL_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
	for (size_t i = 0; i < ARRAY_LEN(name); i++)
		if (getenv(name[i]))
			return true;
	for (size_t i = 0; i < traces->n; i++) /* torch/_logging/_internal.py */
		if (strstr(path_base(traces->v[i]), "_rank_"))
			return true;
	return false;
}

static bool has_gpu(void)
{
	static const char *const device[] = {"/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dxg", "/dev/accel/accel0"};
	for (size_t i = 0; i < ARRAY_LEN(device); i++)
		if (access(device[i], F_OK) == 0)
			return true;
	return false;
}

bool recheck_may(const struct child_result *first, const struct run_names *traces)
{
	return first->wall_ns < QUICK_S * 1000000000ull && !is_rank(traces) && !has_gpu();
}

bool recheck_wanted(const struct explain_options *o, const char *const *path, int n)
{
	struct facts f;
	struct explanation x;
	struct err err;
	unsigned lost = 0;
	struct explain_options quiet = *o;
	bool open = false;
	quiet.quiet = true;
	facts_init(&f);
	if (n && load_operands(&f, NULL, &quiet, path, n, &lost, &err) == 0) {
		explain(&x, &f);
		const struct component_view *v = x.n_component ? &x.component[0] : NULL;
		open = v && !v->unfinished && !v->interrupted && v->failure != NONE && f.failure[v->failure].ended &&
		       v->sure != SURE_PROVEN && (v->component == COMPONENT_NONE || v->component == COMPONENT_EAGER);
		explanation_release(&x);
	}
	facts_release(&f);
	return open;
}

/* In the background, reading would stop the tool. */
bool recheck_asks(const struct explain_options *o)
{
	return !o->quiet && isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

bool recheck_ask(const char *command, const struct child_result *first)
{
	LOCAL_BUF question = {0};
	char answer[16] = "", c;
	size_t n = 0;
	struct err err;
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	buf_addf(&question, "%s: does eager fail, too? Run '%s' again with TORCH_COMPILE_DISABLE=1 (it took %.1f s)? [y/N] ", diag_tool,
		 command, (double)first->wall_ns / 1e9);
	(void)write_all(STDERR_FILENO, question.p, question.len, "the terminal", &err);
	if (poll(&in, 1, ANSWER_MS) <= 0) {
		(void)write_all(STDERR_FILENO, "no answer\n", strlen("no answer\n"), "the terminal", &err);
		return false;
	}
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		if (n < sizeof(answer) - 1)
			answer[n++] = c;
	return !strcmp(answer, "y") || !strcmp(answer, "Y") || !strcmp(answer, "yes");
}

bool recheck_unread(off_t before)
{
	struct stat st, null;
	if (fstat(STDIN_FILENO, &st) < 0)
		return errno == EBADF;
	if (S_ISCHR(st.st_mode))
		return stat("/dev/null", &null) == 0 && st.st_rdev == null.st_rdev;
	return S_ISREG(st.st_mode) && before >= 0 && lseek(STDIN_FILENO, 0, SEEK_CUR) == before;
}

/* ---- the run ---- */

static int before_again(void *arg)
{
	int why = arg ? cowview_enter(arg) : 0;
	return why ? why : run_as_before(NULL);
}

void recheck_run(struct recheck *c, char *const *command, const char *text, int timeout_ms, const struct cowview *view)
{
	static const char *const env[] = {"TORCH_COMPILE_DISABLE=1", /* torch/_dynamo/config.py */
					  "TORCHDYNAMO_DISABLE=1",   /* torch/_dynamo/eval_frame.py, since 2.0 */
					  NULL};
	static const char *const env_confined[] = {"TORCH_COMPILE_DISABLE=1", "TORCHDYNAMO_DISABLE=1", "HF_HUB_OFFLINE=1",
						   "WANDB_MODE=disabled", NULL}; /* what cannot be had, at once */
	struct err err;
	*c = (struct recheck){.text = text};
	int fd = open(text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		die_errno(EXIT_ENVIRON, "cannot write '%s'", text);
	struct child_spec spec = {
	    .argv = (const char *const *)command,
	    .env_set = view ? env_confined : env,
	    .in.how = CHILD_NULL,
	    .out.how = CHILD_NULL,
	    .err = {CHILD_FD, fd},
	    .before_exec = before_again,
	    .arg = (void *)(uintptr_t)view,
	    .timeout_ms = timeout_ms,
	    .die_with_parent = true,
	};
	if (child_run(&spec, &c->r, &err) < 0)
		die_err(&err);
	close(fd);
	c->ran = !child_signalled() && !(view && c->r.how == CHILD_TIMED_OUT);
}

/* ---- the comparison ---- */

/* The exception that ended a run: the last one that nothing caught. NULL: none. */
static const struct fact_failure *last_of(const struct facts *f)
{
	for (uint32_t i = f->n_failure; i-- > 0;) {
		const struct fact_failure *r = &f->failure[i];
		if (!r->restart && !r->caught && r->type != NONE) /* a trace's, too: what both have is in the trace only */
			return r;
	}
	return NULL;
}

/* "RuntimeError: shape '[7]' is invalid": what was raised, in one line. */
static void words_of(const struct facts *f, const struct fact_failure *r, struct buf *b)
{
	struct slice type = facts_text(f, r->type), line = slice_first_line(slice_trim(facts_text(f, r->reason)));
	const char *dot = slice_rchr(type, '.');
	buf_reset(b);
	buf_add_slice(b, dot ? slice_of(dot + 1, type.n - (size_t)(dot + 1 - type.p)) : type);
	buf_addf(b, "%s%.*s", line.n ? ": " : "", SLN(line, CLIP));
}

/* The same for what the traced code raised, where Dynamo wraps it. */
static void inner_words(struct facts *f, const struct fact_failure *r, struct buf *b)
{
	struct explanation x = {.facts = f};
	struct break_text text;
	struct cause cause;
	struct slice reason = facts_text(f, r->reason);
	break_text_parse(reason, &text);
	cause_find(&x, reason, text.explanation, text.context, &cause);
	buf_reset(b);
	if (cause.kind == CAUSE_RAISED || cause.kind == CAUSE_FAKE)
		buf_add_slice(b, cause.title);
	explanation_release(&x);
}

static bool same_words(const struct buf *a, const struct buf *b)
{
	LOCAL_BUF p = {0}, q = {0};
	emit_same(buf_slice(a), &p);
	emit_same(buf_slice(b), &q);
	return a->len && slice_eq(buf_slice(&p), buf_slice(&q));
}

/* Does a number begin at i? Not that of a name (mat1), but both of 3x4. */
static bool begins_number(struct slice s, size_t i)
{
	if (!is_digit(s.p[i]) || (i && is_digit(s.p[i - 1])))
		return false;
	return !i || !is_letter(s.p[i - 1]) || (i > 1 && is_digit(s.p[i - 2]));
}

/* The next number from *at on; false: there is none. */
static bool next_number(struct slice s, size_t *at, uint64_t *out)
{
	size_t i = *at, n = 0;
	while (i < s.n && !begins_number(s, i))
		i++;
	while (i + n < s.n && is_digit(s.p[i + n]))
		n++;
	*at = i + n;
	return n && slice_u64(slice_of(s.p + i, n), out);
}

/* An operator rejects fake tensors, too, often in other words: "a and b must have same reduction dim, but got [3, 4] X [5, 2]" for
 * "mat1 and mat2 shapes cannot be multiplied (3x4 and 5x2)". The same type and the same numbers, in that order, are the same. */
static bool same_operands(const struct buf *a, const struct buf *b)
{
	struct slice p = buf_slice(a), q = buf_slice(b);
	size_t i = slice_until(p, ": ").n, k = slice_until(q, ": ").n;
	uint64_t m = 0, n = 0;
	unsigned both = 0;
	if (!p.n || !slice_eq(slice_until(p, ": "), slice_until(q, ": ")))
		return false;
	for (;;) {
		const bool more = next_number(p, &i, &m);
		if (more != next_number(q, &k, &n) || (more && m != n))
			return false;
		if (!more)
			return both >= 2;
		both++;
	}
}

static bool same_place(const struct facts *f, const struct fact_failure *a, const struct facts *g, const struct fact_failure *b)
{
	return a->user.line == b->user.line && slice_eq(slice_base(facts_text(f, a->user.file)), slice_base(facts_text(g, b->user.file)));
}

void recheck_tell(const struct recheck *c, const struct child_result *first, struct facts *f)
{
	struct facts g;
	struct err err;
	LOCAL_BUF error = {0}, before = {0}, inner = {0};
	static const struct facts_options o;
	if (!c->ran)
		return;
	if (c->r.how == CHILD_EXITED && c->r.status == 0) {
		f->eager = EAGER_PASSES;
		return;
	}
	facts_init(&g);
	(void)facts_add_textlog(&g, c->text, &o, &err); /* unreadable: no exception to compare */
	const struct fact_failure *now = last_of(&g), *then = last_of(f);
	bool same = first->how == c->r.how && first->sig == c->r.sig && first->status == c->r.status;
	if (now && then) {
		words_of(&g, now, &error);
		words_of(f, then, &before);
		inner_words(f, then, &inner);
		same = same && same_place(f, then, &g, now) &&
		       (same_words(&before, &error) || same_words(&inner, &error) || same_operands(&inner, &error));
	} else {
		same = same && !now && !then && first->sig;
		child_describe(&c->r, &error);
	}
	f->eager = same ? EAGER_SAME : EAGER_OTHER;
	f->eager_error = facts_intern(f, buf_slice(&error));
	facts_release(&g);
}
