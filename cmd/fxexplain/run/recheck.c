/* recheck.c - runs the command again without torch.compile, and compares the failures (recheck.h). */
#include "run/recheck.h"

#include "base/text.h"
#include "base/tool/diag.h"
#include "explain/emit.h"
#include "run/diagnose/cause.h"
#include "run/run_part.h"
#include "run/text.h"
#include "run/textlog/textlog.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { CLIP = 400 };

void recheck_run(struct recheck *c, char *const *command, const char *text, int timeout_ms)
{
	static const char *const env[] = {"TORCH_COMPILE_DISABLE=1", /* torch/_dynamo/config.py */
					  "TORCHDYNAMO_DISABLE=1",   /* torch/_dynamo/eval_frame.py, since 2.0 */
					  NULL};
	struct err err;
	*c = (struct recheck){.text = text};
	int fd = open(text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		die_errno(EXIT_ENVIRON, "cannot write '%s'", text);
	struct child_spec spec = {
	    .argv = (const char *const *)command,
	    .env_set = env,
	    .in.how = CHILD_NULL,
	    .out.how = CHILD_NULL,
	    .err = {CHILD_FD, fd},
	    .before_exec = run_as_before,
	    .timeout_ms = timeout_ms,
	    .die_with_parent = true,
	};
	if (child_run(&spec, &c->r, &err) < 0)
		die_err(&err);
	close(fd);
	c->ran = !child_signalled();
}

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
		same = same && same_place(f, then, &g, now) && (same_words(&before, &error) || same_words(&inner, &error));
	} else {
		same = same && !now && !then && first->sig;
		child_describe(&c->r, &error);
	}
	f->eager = same ? EAGER_SAME : EAGER_OTHER;
	f->eager_error = facts_intern(f, buf_slice(&error));
	facts_release(&g);
}
