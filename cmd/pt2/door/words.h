/* words.h - the words of a command line, each of its own.
 *
 *     OWNED(words_release) struct words w = {0};
 *     words_add(&w, "pt2");
 *     words_add_new(&w, xasprintf("--model=%s", name));   // takes it
 *     words_argv(&w)                                      // NULL-terminated, as execv() takes it
 */
#ifndef PT2_WORDS_H
#define PT2_WORDS_H
#include "base/buf.h"

struct words {
	char **v;
	size_t n, cap;
};
void words_release(struct words *w);
void words_add(struct words *w, const char *text);
void words_add_new(struct words *w, char *text);
/* Before the word of that index. Takes it. */
void words_insert(struct words *w, size_t at, char *text);
/* Good until a word is added. */
const char *const *words_argv(struct words *w);

#endif
