/* json.h - JSON for traces, graphs and profiles: a tokenizer onto a tape, and an emitter.
 *
 * The tokenizer turns a text into a flat array of tokens (the tape). Tokens are slices of the input: numbers keep their
 * text (9007199254740993 stays that, 0.1 stays 0.1), strings keep their escapes until asked for. No recursion, no
 * allocation per value, about 1 GB/s. One tape can hold many documents of one text (all envelopes of a window):
 *
 *     struct json_tape t = {0};
 *     json_tape_text(&t, text, len);
 *     uint32_t root;
 *     if (json_parse(&t, 0, len, &root) < 0)
 *         … t.error, t.error_at (byte offset) say what and where
 *     for (uint32_t k = json_first(&t, root); k < json_end(&t, root); k = json_next_pair(&t, k))
 *         … json_slice(&t, k) is the key's text, k + 1 the value's token
 *     json_tape_release(&t);
 *
 * Accepted: RFC 8259. Also accepted, because Python's json writes them, and flagged in t.loose: NaN, Infinity,
 * lone surrogates, numbers beyond double, nesting of 128 levels and more (JSON_MAX_DEPTH is refused).
 * serde_json 1.0, which the Rust tlparse uses, refuses all of these, so a reader that must agree with it looks at loose.
 * Bytes above 0x7f pass unchecked: utf8_valid() tells, json_out_str() repairs.
 */
#ifndef PT2_JSON_H
#define PT2_JSON_H
#include "base/buf.h"

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* off,len: the value's text; of a string, what stands between the quotes. next: the token after the value and all that
 * is in it. An object's tokens are key, value, key, value, ... */
struct json_tok {
	uint32_t off, len, next;
	uint8_t type;
	uint8_t escaped; /* string: holds backslashes */
};

enum json_loose {
	JSON_LOOSE_NAN = 1,
	JSON_LOOSE_SURROGATE = 2,
	JSON_LOOSE_RANGE = 4,
	JSON_LOOSE_DEPTH = 8,
};
enum { JSON_STRICT_DEPTH = 128, JSON_MAX_DEPTH = 4096 };

struct json_tape {
	const char *text;
	size_t len;
	struct json_tok *tok;
	uint32_t n, cap;
	unsigned loose;
	const char *error;
	size_t error_at;
};

/* Start over with another text (below 4 GiB); keeps the memory. */
void json_tape_text(struct json_tape *t, const char *text, size_t len);
void json_tape_release(struct json_tape *t);
/* Parse the one document in text[off, off+len), append its tokens, set *root. White space around it is fine, anything
 * else is an error: -1, and the tape is as before. t->loose is set afresh. */
int json_parse(struct json_tape *t, size_t off, size_t len, uint32_t *root);

static inline struct slice json_slice(const struct json_tape *t, uint32_t k) { return slice_of(t->text + t->tok[k].off, t->tok[k].len); }
/* The value's whole text, a string with its quotes. */
static inline struct slice json_raw(const struct json_tape *t, uint32_t k)
{
	bool s = t->tok[k].type == JSON_STRING;
	return slice_of(t->text + t->tok[k].off - s, t->tok[k].len + 2u * s);
}
static inline uint32_t json_first(const struct json_tape *t, uint32_t k)
{
	(void)t;
	return k + 1;
}
static inline uint32_t json_end(const struct json_tape *t, uint32_t k) { return t->tok[k].next; }
static inline uint32_t json_next(const struct json_tape *t, uint32_t k) { return t->tok[k].next; }
static inline uint32_t json_next_pair(const struct json_tape *t, uint32_t key) { return t->tok[key + 1].next; }
static inline bool json_is(const struct json_tape *t, uint32_t k, enum json_type type) { return t->tok[k].type == type; }

#define JSON_NONE UINT32_MAX
/* Member `key` of object k (the last one where it stands twice), or JSON_NONE - also when k is JSON_NONE or no object. */
uint32_t json_get(const struct json_tape *t, uint32_t k, const char *key);
/* A string's text with escapes resolved, appended to b (lone surrogates become U+FFFD). */
void json_unescape(const struct json_tape *t, uint32_t k, struct buf *b);
/* Integers without fraction or exponent only. */
bool json_u64(const struct json_tape *t, uint32_t k, uint64_t *out);
bool json_i64(const struct json_tape *t, uint32_t k, int64_t *out);
bool json_double(const struct json_tape *t, uint32_t k, double *out);

bool utf8_valid(struct slice s);

/* The emitter: commas and nesting are kept for you, text is escaped, invalid UTF-8 becomes U+FFFD.
 *
 *     struct json_out o = {.b = &buf};
 *     json_obj(&o);
 *     json_key(&o, "name"); json_out_str(&o, s);
 *     json_key(&o, "n");    json_out_u64(&o, 3);
 *     json_close(&o);
 *
 * At most 63 levels. The buffer may be written out and emptied between any two calls.
 */
struct json_out {
	struct buf *b;
	bool html; /* write < as \u003c: safe inside a <script> element */
	bool after_key;
	unsigned depth;
	uint64_t has_item; /* bit per level */
	uint64_t is_array;
};
void json_obj(struct json_out *o);
void json_arr(struct json_out *o);
void json_close(struct json_out *o);
void json_key(struct json_out *o, const char *key);
void json_out_str(struct json_out *o, struct slice s);
void json_out_u64(struct json_out *o, uint64_t v);
void json_out_i64(struct json_out *o, int64_t v);
void json_out_double(struct json_out *o, double v, int decimals);
void json_out_bool(struct json_out *o, bool v);
void json_out_null(struct json_out *o);
/* JSON text from elsewhere, taken as it is, but for json_escape()'s last word. */
void json_out_raw(struct json_out *o, struct slice json);
void json_add_raw(struct buf *b, struct slice json);
/* A member whose text may be missing: null when it is empty. */
void json_member(struct json_out *o, const char *key, struct slice text);
void json_member_u64(struct json_out *o, const char *key, uint64_t v);
void json_member_i64s(struct json_out *o, const char *key, const int64_t *v, int n);
/* Numbers that may not be known: null below 0. Seconds with 6 decimals. */
void json_member_count(struct json_out *o, const char *key, int64_t v);
void json_member_seconds(struct json_out *o, const char *key, double v);
/* A text of several lines as a list; empty where there is none. */
void json_member_lines(struct json_out *o, const char *key, struct slice text);
void json_member_texts(struct json_out *o, const char *key, const struct slice *v, size_t n);
/* An index, or null for UINT32_MAX: there is none. */
void json_member_index(struct json_out *o, const char *key, uint32_t v);
/* A string's body without quotes. What drives a terminal or turns text around (text_drives()) is written as \uXXXX, so that a document
 * can be shown as it is. */
void json_escape(struct buf *b, struct slice s, bool html);

#endif
