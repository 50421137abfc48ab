/* shrink_head.c - the head of the program: configuration and environment lines, user Triton kernels. */
#include "reduce/shrink.h"

/* kind HEAD_IDLE, HEAD_CONFIG, HEAD_ENV: drops the a-th to (b-1)-th line of that kind; HEAD_TRITON: the b-th line of the Triton kernel in
 * line a. Private environment lines are not asked about: the result does not have them. */
enum { HEAD_IDLE, HEAD_CONFIG, HEAD_ENV, HEAD_TRITON };

static bool may_go(const struct repro_line *l, uint32_t kind)
{
	if (kind == HEAD_IDLE)
		return l->kind == REPRO_CONFIG && l->idle;
	return kind == HEAD_CONFIG ? l->kind == REPRO_CONFIG : l->kind == REPRO_ENV_SET && !repro_env_is_private(l->name);
}

static size_t text_lines(struct slice text)
{
	size_t n = 0;
	struct slice line;
	while (slice_line(&text, &line))
		n++;
	return n;
}

/* Usually all but one can be dropped. */
static void list_blocks(const struct candidate *best, uint32_t kind, struct edits *e)
{
	uint32_t n = 0;
	for (size_t i = 0; i < best->n_lines; i++)
		n += may_go(&best->line[i], kind);
	edits_add_blocks(e, kind, n);
}

/* Environment lines last: a different environment needs a different process. */
static void list_head(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	uint32_t idle = 0;
	for (size_t i = 0; i < best->n_lines; i++)
		idle += may_go(&best->line[i], HEAD_IDLE);
	if (idle)
		edits_add(e, (struct edit){.kind = HEAD_IDLE, .a = 0, .b = idle});
	list_blocks(best, HEAD_CONFIG, e);
	for (uint32_t i = 0; i < best->n_lines; i++)
		for (size_t k = best->line[i].kind == REPRO_TRITON ? text_lines(best->line[i].text) : 0; k-- > 0;)
			edits_add(e, (struct edit){.kind = HEAD_TRITON, .a = i, .b = (uint32_t)k});
	list_blocks(best, HEAD_ENV, e);
}

static void remove_line(struct candidate *c, size_t at)
{
	memmove(&c->line[at], &c->line[at + 1], (c->n_lines - at - 1) * sizeof(*c->line));
	c->n_lines--;
}

/* The decorator and the def stay: without them it is not a kernel. */
static bool kernel_without(struct candidate *c, struct repro_line *l, uint32_t drop)
{
	struct slice rest = l->text, line;
	LOCAL_BUF b = {0};
	bool body = false, dropped = false;
	for (uint32_t k = 0; slice_line(&rest, &line); k++) {
		if (k == drop && body) {
			dropped = true;
			continue;
		}
		body |= slice_starts(line, "def ") || (line.n && line.p[line.n - 1] == ':');
		if (b.len)
			buf_addc(&b, '\n');
		buf_add_slice(&b, line);
	}
	l->text = arena_slice(&c->arena, buf_slice(&b));
	return dropped;
}

static bool apply_head(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)original;
	if (e->kind == HEAD_TRITON)
		return kernel_without(c, &c->line[e->a], e->b);
	uint32_t k = 0;
	for (size_t i = 0; i < c->n_lines;) {
		bool goes = may_go(&c->line[i], e->kind) && k++ >= e->a && k <= e->b;
		if (goes)
			remove_line(c, i);
		else
			i++;
	}
	return true;
}

static size_t count_lines(const struct candidate *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->n_lines; i++)
		n += c->line[i].kind == REPRO_TRITON ? text_lines(c->line[i].text) : 1;
	return n;
}

const struct shrinker shrink_head = {"head", "Remove head lines", list_head, apply_head, "lines dropped", count_lines};
