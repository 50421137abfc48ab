/* jsonrow.h - a row's members, described once for both directions: writing JSON and reading it back (as XDR filters do, RFC 1014).
 *
 *     static void finding_row(struct json_row *r, struct bundle_finding *f)
 *     {
 *         row_str(r, "kind", &f->kind);
 *         row_index(r, "line", &f->line);
 *     }
 *     struct json_row out = {.o = &o};                            // writes members of the open object; *f is unchanged
 *     finding_row(&out, &f);
 *     struct json_row in = {.t = &tape, .at = k, .arena = &a};    // reads object k; texts are copied into the arena
 *     finding_row(&in, &f);
 *
 * Without .strict a member that is absent or of another type reads as "none", as in json.h. With it, the first such member is named in
 * .bad, as is a number that does not fit; null is "none" where the writer writes null.
 */
#ifndef PT2_JSONROW_H
#define PT2_JSONROW_H
#include "base/json.h"

struct json_row {
	struct json_out *o; /* NULL: the row is read */
	const struct json_tape *t;
	uint32_t at;
	struct arena *arena;
	bool strict;
	const char *bad;
};

/* Texts. If empty: ""; null; omitted. */
void row_str(struct json_row *r, const char *key, struct slice *text);
void row_text(struct json_row *r, const char *key, struct slice *text);
void row_some(struct json_row *r, const char *key, struct slice *text);
/* Numbers: 0 for none; null for NONE; null for 0; omitted if 0. */
void row_u64(struct json_row *r, const char *key, uint64_t *v);
void row_u32(struct json_row *r, const char *key, uint32_t *v);
void row_index(struct json_row *r, const char *key, uint32_t *v);
void row_positive(struct json_row *r, const char *key, uint32_t *v);
void row_some_u32(struct json_row *r, const char *key, uint32_t *v);
/* Seconds to three decimals; 16 hexadecimal digits. */
void row_seconds(struct json_row *r, const char *key, double *v);
void row_hex(struct json_row *r, const char *key, uint64_t *v);
void row_bool(struct json_row *r, const char *key, bool *v);
/* A word of a closed set; *v is its index in names. Anything else is read as 0. */
void row_word(struct json_row *r, const char *key, int *v, const char *const *names, size_t n);

/* Is the member present, or about to be written? For members that older documents lack. */
bool row_has(const struct json_row *r, const char *key);
/* Its token; NONE if absent or null, which is bad unless null_ok. */
uint32_t row_get(struct json_row *r, const char *key, bool null_ok);
void row_is_bad(struct json_row *r, const char *key);

#endif
