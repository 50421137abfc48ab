#include "door/words.h"

void words_release(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
}

void words_add_new(struct words *w, char *text) { PUSH_TO(w->v, w->n, w->cap) = text; }

void words_add(struct words *w, const char *text) { words_add_new(w, xstrdup(text)); }

void words_insert(struct words *w, size_t at, char *text)
{
	words_add_new(w, NULL);
	memmove(w->v + at + 1, w->v + at, (w->n - 1 - at) * sizeof(*w->v));
	w->v[at] = text;
}

const char *const *words_argv(struct words *w)
{
	words_add_new(w, NULL);
	w->n--;
	return (const char *const *)w->v;
}
