/* jsonrow.c - the members of a row, in both directions. See jsonrow.h. */
#include "base/jsonrow.h"

#include <inttypes.h>

void row_is_bad(struct json_row *r, const char *key)
{
	if (r->strict && !r->bad)
		r->bad = key;
}

bool row_has(const struct json_row *r, const char *key) { return r->o || json_get(r->t, r->at, key) != NONE; }

uint32_t row_get(struct json_row *r, const char *key, bool null_ok)
{
	uint32_t k = json_get(r->t, r->at, key);
	bool null = json_is(r->t, k, JSON_NULL);
	if (k == NONE || (null && !null_ok))
		row_is_bad(r, key);
	return null ? NONE : k;
}

/* ---- texts ---- */

static void read_text(struct json_row *r, const char *key, struct slice *text)
{
	uint32_t k = row_get(r, key, true);
	if (k != NONE && !json_is(r->t, k, JSON_STRING))
		row_is_bad(r, key);
	*text = json_is(r->t, k, JSON_STRING) ? json_dup_at(r->t, k, r->arena) : SLICE("");
}

void row_str(struct json_row *r, const char *key, struct slice *text)
{
	r->o ? json_member_str(r->o, key, *text) : read_text(r, key, text);
}

void row_text(struct json_row *r, const char *key, struct slice *text) { r->o ? json_member(r->o, key, *text) : read_text(r, key, text); }

void row_some(struct json_row *r, const char *key, struct slice *text)
{
	if (r->o)
		json_member_some(r->o, key, *text);
	else if (row_has(r, key))
		read_text(r, key, text);
	else
		*text = SLICE("");
}

/* ---- numbers ---- */

static uint64_t read_number(struct json_row *r, const char *key, bool null_ok, uint64_t below, uint64_t none)
{
	uint64_t v;
	uint32_t k = row_get(r, key, null_ok);
	if (json_u64(r->t, k, &v) && v < below)
		return v;
	if (k != NONE)
		row_is_bad(r, key);
	return none;
}

void row_u64(struct json_row *r, const char *key, uint64_t *v)
{
	if (r->o)
		json_member_u64(r->o, key, *v);
	else
		*v = read_number(r, key, false, UINT64_MAX, 0);
}

void row_u32(struct json_row *r, const char *key, uint32_t *v)
{
	if (r->o)
		json_member_u64(r->o, key, *v);
	else
		*v = (uint32_t)read_number(r, key, false, NONE, 0);
}

void row_index(struct json_row *r, const char *key, uint32_t *v)
{
	if (r->o)
		json_member_index(r->o, key, *v);
	else
		*v = (uint32_t)read_number(r, key, true, NONE, NONE);
}

void row_positive(struct json_row *r, const char *key, uint32_t *v)
{
	if (r->o)
		json_member_positive(r->o, key, *v);
	else
		*v = (uint32_t)read_number(r, key, true, NONE, 0);
}

void row_some_u32(struct json_row *r, const char *key, uint32_t *v)
{
	if (r->o ? *v != 0 : row_has(r, key))
		row_u32(r, key, v);
	else if (!r->o)
		*v = 0;
}

void row_seconds(struct json_row *r, const char *key, double *v)
{
	if (r->o)
		json_member_double(r->o, key, *v, 3);
	else
		*v = json_number(r->t, r->at, key, 0);
}

void row_hex(struct json_row *r, const char *key, uint64_t *v)
{
	char text[17] = "";
	if (r->o) {
		snprintf(text, sizeof(text), "%016" PRIx64, *v);
		json_member_str(r->o, key, slice_str(text));
	} else {
		struct slice s = json_word(r->t, r->at, key);
		memcpy(text, s.n ? s.p : "", s.n < 16 ? s.n : 16);
		*v = strtoull(text, NULL, 16);
	}
}

void row_bool(struct json_row *r, const char *key, bool *v)
{
	if (r->o)
		json_member_bool(r->o, key, *v);
	else
		*v = json_is(r->t, row_get(r, key, false), JSON_TRUE);
}

void row_word(struct json_row *r, const char *key, int *v, const char *const *names, size_t n)
{
	if (r->o) {
		json_member_str(r->o, key, slice_str(names[*v]));
		return;
	}
	struct slice word = json_word(r->t, r->at, key);
	for (*v = 0; (size_t)*v < n; ++*v)
		if (slice_is(word, names[*v]))
			return;
	*v = 0;
	row_is_bad(r, key);
}
