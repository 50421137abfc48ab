/* The head of the program: configuration and environment lines, user Triton kernels. */
#include "reduce/shrink.h"

/* kind 0: line a goes; 1: all that may go; 2: the b-th line of the Triton kernel in line a. */

static bool may_go(const struct repro_line *l)
{
	return l->kind == REPRO_CONFIG || l->kind == REPRO_ENV_SET;
}

static size_t text_lines(struct slice text)
{
	size_t n = 0;
	struct slice line;
	while (slice_line(&text, &line))
		n++;
	return n;
}

static void list_head(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	size_t n = 0;
	for (size_t i = 0; i < best->n_lines; i++)
		n += may_go(&best->line[i]);
	if (n > 1)
		edits_add(e, (struct edit){.kind = 1});
	for (uint32_t i = 0; i < best->n_lines; i++) {
		if (may_go(&best->line[i]))
			edits_add(e, (struct edit){.kind = 0, .a = i});
		if (best->line[i].kind == REPRO_TRITON)
			for (size_t k = text_lines(best->line[i].text); k-- > 0;)
				edits_add(e, (struct edit){.kind = 2, .a = i, .b = (uint32_t)k});
	}
}

static void remove_line(struct candidate *c, size_t at)
{
	memmove(&c->line[at], &c->line[at + 1], (c->n_lines - at - 1) * sizeof(*c->line));
	c->n_lines--;
}

/* The decorator and the def stay: without them it is no kernel. */
static bool kernel_without(struct candidate *c, struct repro_line *l, uint32_t drop)
{
	struct slice rest = l->text, line;
	struct buf b = {0};
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
	buf_release(&b);
	return dropped;
}

static bool apply_head(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)original;
	if (e->kind == 2)
		return kernel_without(c, &c->line[e->a], e->b);
	if (e->kind == 0)
		remove_line(c, e->a);
	for (size_t i = c->n_lines; e->kind == 1 && i-- > 0;)
		if (may_go(&c->line[i]))
			remove_line(c, i);
	return true;
}

const struct shrinker shrink_head = {"head", "Remove head lines", list_head, apply_head};
