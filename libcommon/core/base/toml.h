/* toml.h - reads a TOML 1.0 text (toml.io/en/v1.0.0), as settings files have it: one call for each value, with its key and its line.
 *
 *     static int take(void *ctx, const struct toml_value *v, struct err *err)
 *     {
 *         if (v->n_key == 3 && slice_is(v->key[2], "python") && v->type == TOML_STRING)
 *             ... v->text
 *         return 0;                                    // -1 with err: reading stops there
 *     }
 *     if (toml_read(text, take, ctx, &line, &err) < 0) ...        // line: where
 *
 * Tables, arrays of tables and inline tables are seen as the keys of their values: [a.b] c = 1, a.b.c = 1 and a = {b = {c = 1}} are
 * one. Elements of an array come one by one, with the array's key; an empty array comes once, as TOML_EMPTY. Dates and times are their
 * text. That a key is given twice is the caller's to find.
 *
 * Pure, linear; depth at most TOML_DEPTH, keys at most TOML_KEYS parts. Any bytes are accepted, and refused with EXIT_INPUT where they are
 * not TOML; strings must be UTF-8. Texts live during the call only.
 */
#ifndef PT2_TOML_H
#define PT2_TOML_H
#include "base/arena.h"

enum { TOML_KEYS = 32, TOML_DEPTH = 32 };
enum toml_type { TOML_STRING, TOML_INTEGER, TOML_FLOAT, TOML_BOOL, TOML_DATE, TOML_EMPTY };

struct toml_value {
	const struct slice *key; /* from the root */
	unsigned n_key;
	enum toml_type type;
	bool in_array;
	struct slice text; /* a string without its quotes and escapes; else as written */
	uint32_t line;
};

int toml_read(struct slice text, int (*take)(void *ctx, const struct toml_value *v, struct err *err), void *ctx, uint32_t *line,
	      struct err *err);

#endif
