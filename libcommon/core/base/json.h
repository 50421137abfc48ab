/* json.h - JSON for traces, graphs and profiles: a tokenizer onto a tape (json.c), typed reads of it (jsonread.c), and an emitter
 * (jsonout.c).
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
 * serde_json 1.0, which the Rust tlparse uses, refuses all of these, so a reader that must agree with it checks loose.
 * Bytes above 0x7f pass unchecked: utf8_valid() checks them, json_out_str() repairs them.
 */
#ifndef PT2_JSON_H
#define PT2_JSON_H
#include "base/buf.h"
#include "base/hash.h"

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* off,len: the value's text; of a string, the part between the quotes. next: the token after the value and everything in it. An object's
 * tokens are key, value, key, value, ... */
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
 * else is an error: -1, and the tape is as before. t->loose is set again. */
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
/* No token: the answer "none", and also accepted as an argument. */
static inline bool json_is(const struct json_tape *t, uint32_t k, enum json_type type) { return k != NONE && t->tok[k].type == type; }

/* ---- typed reads ----
 *
 *     struct slice name = json_dup(&t, root, "name", &arena);       // unescaped, lives with the arena
 *     uint64_t calls = json_count(&t, root, "calls", 0);            // 0 if absent
 *     json_each(&t, json_get(&t, root, "kernels"), k)
 *         use(json_text_at(&t, k, &tmp));                           // unescaped, good until tmp's next use
 *
 * None of them fails: a member that is absent, null or of another type reads as "none", as does every member of NONE or of anything but an
 * object, so reads nest without checks in between. To tell these cases apart, use json_get() and json_is().
 */
/* Member `key` of object k (the last one if it is duplicated), or NONE. Keys are compared as written, escapes and all. */
uint32_t json_find(const struct json_tape *t, uint32_t k, struct slice key);
static inline uint32_t json_get(const struct json_tape *t, uint32_t k, const char *key) { return json_find(t, k, slice_str(key)); }
/* The same, NONE unless it is of that type. */
uint32_t json_get_as(const struct json_tape *t, uint32_t k, const char *key, enum json_type type);
/* Several members in one walk: token[i] is key[i]'s, or NONE. Fastest if the keys are in the object's order. */
void json_get_many(const struct json_tape *t, uint32_t object, const struct slice *key, uint32_t *token, unsigned n);

/* A string's text as written, escapes and all: for words of a closed set (kinds, dtypes) and texts that are parsed further. p is NULL if
 * there is none. The tape owns the text. */
struct slice json_word(const struct json_tape *t, uint32_t object, const char *key);
/* A string's text with escapes resolved (lone surrogates become U+FFFD); p is NULL if there is none. It points into the tape, or into *tmp
 * if the text holds escapes: valid until tmp is used again. */
struct slice json_text(const struct json_tape *t, uint32_t object, const char *key, struct buf *tmp);
struct slice json_text_at(const struct json_tape *t, uint32_t k, struct buf *tmp);
/* The same, copied: lives as long as the arena, p is a C string, "" if there is none. */
struct slice json_dup(const struct json_tape *t, uint32_t object, const char *key, struct arena *a);
struct slice json_dup_at(const struct json_tape *t, uint32_t k, struct arena *a);
/* The same for free(). */
char *json_strdup(const struct json_tape *t, uint32_t object, const char *key);
/* A list of texts, the first `most` of them, copied; anything but a string becomes "". NULL and 0 if there is no list. */
struct slice *json_dup_list(const struct json_tape *t, uint32_t list, uint32_t most, uint32_t *n, struct arena *a);
/* Any value appended to b: a string's text (an object's key is one, too), anything else as written. */
void json_unescape(const struct json_tape *t, uint32_t k, struct buf *b);
/* A member that is a string appended to b; nothing if there is none. */
void json_add_text(const struct json_tape *t, uint32_t object, const char *key, struct buf *b);

/* Integers without fraction or exponent, and any number; `none` if it is absent or does not fit. */
uint64_t json_count(const struct json_tape *t, uint32_t object, const char *key, uint64_t none);
/* The same below 2^32. */
uint32_t json_index(const struct json_tape *t, uint32_t object, const char *key, uint32_t none);
int64_t json_int(const struct json_tape *t, uint32_t object, const char *key, int64_t none);
double json_number(const struct json_tape *t, uint32_t object, const char *key, double none);
/* Present and true. */
bool json_flag(const struct json_tape *t, uint32_t object, const char *key);
/* Reads a list of up to `most` integers into v. Returns how many, or -1 if it is absent, longer, or holds anything else. */
int json_ints(const struct json_tape *t, uint32_t object, const char *key, int64_t *v, int most);
/* The number of token k (may be NONE): false, with *out unchanged, if it is absent or does not fit. */
bool json_u64(const struct json_tape *t, uint32_t k, uint64_t *out);
bool json_i64(const struct json_tape *t, uint32_t k, int64_t *out);
bool json_double(const struct json_tape *t, uint32_t k, double *out);

/* Walks: over the elements of an array, and over the pairs of an object (k is the key's token, k + 1 the value's). No iterations if it is
 * absent. Further documents may be parsed onto the tape meanwhile. */
#define json_each(t, list, k) for (uint32_t k = (list) + 1, k##_end = json_walk_end(t, k - 1, JSON_ARRAY); k < k##_end; k = json_next(t, k))
#define json_each_pair(t, object, k) \
	for (uint32_t k = (object) + 1, k##_end = json_walk_end(t, k - 1, JSON_OBJECT); k < k##_end; k = json_next_pair(t, k))
static inline uint32_t json_walk_end(const struct json_tape *t, uint32_t k, enum json_type type)
{
	return json_is(t, k, type) ? json_end(t, k) : 0;
}
/* How many elements an array has; 0 if it is absent. */
uint32_t json_length(const struct json_tape *t, uint32_t list);

bool utf8_valid(struct slice s);

/* ---- the emitter: commas and nesting are kept for you, text is escaped, invalid UTF-8 becomes U+FFFD ----
 *
 *     struct json_out o = {.b = &buf};
 *     json_obj(&o);
 *     json_member_str(&o, "name", s);
 *     json_member_arr(&o, "dims");          // and json_member_obj(): closed like any other
 *     json_out_u64(&o, 3);
 *     json_close(&o);
 *     json_close(&o);
 *
 * json_out_x() is a value (of an array, or after json_key()), json_member_x() a key with its value.
 * At most 63 levels. The buffer may be written out and emptied between any two calls; `full`, if set, is called for that when a container
 * has been closed and the buffer holds more than JSON_OUT_FULL bytes.
 */
enum { JSON_OUT_FULL = 1 << 16 };
struct json_out {
	struct buf *b;
	void (*full)(struct json_out *o);
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
void json_key_slice(struct json_out *o, struct slice key);
void json_out_str(struct json_out *o, struct slice s);
void json_out_u64(struct json_out *o, uint64_t v);
void json_out_i64(struct json_out *o, int64_t v);
void json_out_double(struct json_out *o, double v, int decimals);
void json_out_bool(struct json_out *o, bool v);
void json_out_null(struct json_out *o);
/* JSON text from elsewhere, unchanged except for what json_escape() always escapes. */
void json_out_raw(struct json_out *o, struct slice json);
void json_add_raw(struct buf *b, struct slice json);
void json_member_obj(struct json_out *o, const char *key);
/* The same if there is one; else null, and false: nothing to close. */
bool json_member_obj_if(struct json_out *o, const char *key, bool there);
void json_member_arr(struct json_out *o, const char *key);
void json_member_str(struct json_out *o, const char *key, struct slice text);
void json_member_u64(struct json_out *o, const char *key, uint64_t v);
void json_member_i64(struct json_out *o, const char *key, int64_t v);
void json_member_double(struct json_out *o, const char *key, double v, int decimals);
/* A number of any size, in the fewest digits that read back the same. JSON has no NaN: _real writes null, _float the text "nan", "inf"
 * or "-inf". */
void json_member_real(struct json_out *o, const char *key, double v);
void json_member_float(struct json_out *o, const char *key, double v);
void json_member_bool(struct json_out *o, const char *key, bool v);
void json_member_null(struct json_out *o, const char *key);
void json_member_raw(struct json_out *o, const char *key, struct slice json);
/* Members of values that may be missing. An empty text is null, or with _some omitted. A name from a table: null for NONE. A count, and
 * seconds with 6 decimals: null below 0. An index: null for NONE. A positive number: null for 0. */
void json_member(struct json_out *o, const char *key, struct slice text);
void json_member_some(struct json_out *o, const char *key, struct slice text);
void json_member_name(struct json_out *o, const char *key, const struct intern *names, uint32_t name);
void json_member_count(struct json_out *o, const char *key, int64_t v);
void json_member_seconds(struct json_out *o, const char *key, double v);
void json_member_index(struct json_out *o, const char *key, uint32_t v);
void json_member_positive(struct json_out *o, const char *key, uint64_t v);
/* Lists: numbers, texts, the lines of a text (empty if there is none). */
void json_member_i64s(struct json_out *o, const char *key, const int64_t *v, int64_t n);
void json_member_texts(struct json_out *o, const char *key, const struct slice *v, size_t n);
void json_member_lines(struct json_out *o, const char *key, struct slice text);
/* Members of a struct under their own names, in this order: numbers, texts (empty: null), bools.
 *
 *     json_fields(&o, *row, count, total, self);        // "count":1,"total":20,"self":15
 */
#define json_fields(o, row, ...) JSON_FIELDS(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)(o, row, __VA_ARGS__)
/* clang-format off */
#define JSON_FIELDS(a, b, c, d, e, f, g, h, i, j, k, l, n, ...) JSON_FIELDS##n
#define JSON_FIELDS1(o, r, m) json_field(o, #m, (r).m)
#define JSON_FIELDS2(o, r, m, ...) JSON_FIELDS1(o, r, m), JSON_FIELDS1(o, r, __VA_ARGS__)
#define JSON_FIELDS3(o, r, m, ...) JSON_FIELDS1(o, r, m), JSON_FIELDS2(o, r, __VA_ARGS__)
#define JSON_FIELDS4(o, r, m, ...) JSON_FIELDS1(o, r, m), JSON_FIELDS3(o, r, __VA_ARGS__)
#define JSON_FIELDS5(o, r, m, ...) JSON_FIELDS1(o, r, m), JSON_FIELDS4(o, r, __VA_ARGS__)
#define JSON_FIELDS6(o, r, m, ...) JSON_FIELDS1(o, r, m), JSON_FIELDS5(o, r, __VA_ARGS__)
#define JSON_FIELDS7(o, r, m, ...) JSON_FIELDS1(o, r, m), JSON_FIELDS6(o, r, __VA_ARGS__)
#define JSON_FIELDS8(o, r, m, ...) JSON_FIELDS1(o, r, m), JSON_FIELDS7(o, r, __VA_ARGS__)
#define JSON_FIELDS9(o, r, m, ...) JSON_FIELDS1(o, r, m), JSON_FIELDS8(o, r, __VA_ARGS__)
#define JSON_FIELDS10(o, r, m, ...) JSON_FIELDS1(o, r, m), JSON_FIELDS9(o, r, __VA_ARGS__)
#define JSON_FIELDS11(o, r, m, ...) JSON_FIELDS1(o, r, m), JSON_FIELDS10(o, r, __VA_ARGS__)
#define JSON_FIELDS12(o, r, m, ...) JSON_FIELDS1(o, r, m), JSON_FIELDS11(o, r, __VA_ARGS__)
#define json_field(o, key, v) _Generic((v), bool: json_member_bool, struct slice: json_member, char *: json_member_text, \
	const char *: json_member_text, int: json_member_i64, long: json_member_i64, default: json_member_u64)(o, key, v)
/* clang-format on */
static inline void json_member_text(struct json_out *o, const char *key, const char *text) { json_member(o, key, slice_str(text)); }
/* A list of n objects, each with the members that the body writes; a body that ends early writes fewer:
 *
 *     json_rows(&o, "kernels", i, p->n_kernel) {
 *             json_member_str(&o, "name", p->kernel[i].name);
 *             json_member_u64(&o, "calls", p->kernel[i].calls);
 *     }
 */
#define json_rows(o, key, i, n) for (uint32_t i = (json_member_arr(o, key), 0); json_next_row(o, i, n); i++)
static inline bool json_next_row(struct json_out *o, uint32_t i, uint32_t n)
{
	if (i) /* the previous one */
		json_close(o);
	if (i < n)
		json_obj(o);
	else
		json_close(o);
	return i < n;
}
/* A string's body without quotes. Characters that control a terminal or reorder text (text_drives()) are written as \uXXXX, so that a
 * document can be shown unchanged. */
void json_escape(struct buf *b, struct slice s, bool html);

#endif
