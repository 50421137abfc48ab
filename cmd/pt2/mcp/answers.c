#include "mcp/answers.h"

#include "base/text.h"

static void drop(struct answer *a)
{
	free(a->title);
	buf_release(&a->text);
}

const struct answer *answers_keep(struct answers *a, const char *title, struct buf *text)
{
	size_t all = text->len, old = 0;
	for (size_t i = a->n; i-- && all <= ANSWERS_MOST;) {
		all += a->v[i].text.len;
		old = all > ANSWERS_MOST ? i + 1 : 0;
	}
	for (size_t i = 0; i < old; i++)
		drop(&a->v[i]);
	if (old)
		memmove(a->v, a->v + old, (a->n - old) * sizeof(*a->v));
	a->n -= old;
	PUSH_TO(a->v, a->n, a->cap) = (struct answer){.id = ++a->last, .title = xstrdup(title), .text = *text};
	*text = (struct buf){0};
	return &a->v[a->n - 1];
}

const struct answer *answers_find(const struct answers *a, uint64_t id)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].id == id)
			return &a->v[i];
	return NULL;
}

void answers_release(struct answers *a)
{
	for (size_t i = 0; i < a->n; i++)
		drop(&a->v[i]);
	free(a->v);
}

/* Where a piece ends: after a line if there is one in its second half, else between two characters. */
static size_t piece_end(struct slice text, size_t from, size_t most)
{
	size_t end = text.n - from > most ? from + most : text.n;
	if (end == text.n)
		return end;
	for (size_t at = end; at > from + most / 2; at--)
		if (text.p[at - 1] == '\n')
			return at;
	while (end > from + 1 && ((unsigned char)text.p[end] & 0xc0) == 0x80)
		end--;
	return end;
}

void answer_piece(const struct answer *a, size_t from, size_t most, struct buf *b)
{
	const struct slice text = buf_slice(&a->text);
	from = from < text.n ? from : text.n;
	const size_t end = piece_end(text, from, most ? most : 1);
	buf_add(b, text.p + from, end - from);
	if (end == text.n)
		return;
	if (end > from && text.p[end - 1] != '\n')
		buf_addc(b, '\n');
	buf_addf(b, "[%zu of %zu bytes; the rest: call the tool 'more' with id %u and from %zu]\n", end - from, text.n, a->id, end);
}
