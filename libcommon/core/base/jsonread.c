#include "base/json.h"

uint32_t json_find(const struct json_tape *t, uint32_t k, struct slice key)
{
	uint32_t found = NONE;
	if (!json_is(t, k, JSON_OBJECT))
		return NONE;
	for (uint32_t i = json_first(t, k); i < json_end(t, k); i = json_next_pair(t, i))
		if (slice_eq(json_slice(t, i), key))
			found = i + 1;
	return found;
}

void json_get_many(const struct json_tape *t, uint32_t object, const struct slice *key, uint32_t *token, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		token[i] = NONE;
	unsigned next = 0; /* if they are in this order, the first one checked matches */
	json_each_pair(t, object, k) {
		struct slice name = json_slice(t, k);
		for (unsigned i = 0; i < n; i++) {
			unsigned at = next + i < n ? next + i : next + i - n;
			if (!slice_eq(key[at], name))
				continue;
			token[at] = k + 1;
			next = at + 1 < n ? at + 1 : 0;
			break;
		}
	}
}

uint32_t json_get_as(const struct json_tape *t, uint32_t k, const char *key, enum json_type type)
{
	uint32_t v = json_get(t, k, key);
	return json_is(t, v, type) ? v : NONE;
}

struct slice json_word(const struct json_tape *t, uint32_t object, const char *key)
{
	uint32_t k = json_get_as(t, object, key, JSON_STRING);
	return k == NONE ? (struct slice){0} : json_slice(t, k);
}

struct slice json_text_at(const struct json_tape *t, uint32_t k, struct buf *tmp)
{
	if (!json_is(t, k, JSON_STRING))
		return (struct slice){0};
	if (!t->tok[k].escaped)
		return json_slice(t, k);
	buf_reset(tmp);
	json_unescape(t, k, tmp);
	return buf_slice(tmp);
}

struct slice json_text(const struct json_tape *t, uint32_t object, const char *key, struct buf *tmp)
{
	return json_text_at(t, json_get(t, object, key), tmp);
}

void json_add_text(const struct json_tape *t, uint32_t object, const char *key, struct buf *b)
{
	uint32_t k = json_get_as(t, object, key, JSON_STRING);
	if (k != NONE)
		json_unescape(t, k, b);
}

struct slice json_dup_at(const struct json_tape *t, uint32_t k, struct arena *a)
{
	LOCAL_BUF tmp = {0};
	return arena_slice(a, json_text_at(t, k, &tmp));
}

struct slice json_dup(const struct json_tape *t, uint32_t object, const char *key, struct arena *a)
{
	return json_dup_at(t, json_get(t, object, key), a);
}

char *json_strdup(const struct json_tape *t, uint32_t object, const char *key)
{
	LOCAL_BUF tmp = {0};
	struct slice s = json_text(t, object, key, &tmp);
	return xstrndup(s.n ? s.p : "", s.n);
}

uint32_t json_length(const struct json_tape *t, uint32_t list)
{
	uint32_t n = 0;
	json_each(t, list, k)
		n++;
	return n;
}

struct slice *json_dup_list(const struct json_tape *t, uint32_t list, uint32_t most, uint32_t *n, struct arena *a)
{
	uint32_t length = json_length(t, list);
	*n = 0;
	if (!json_is(t, list, JSON_ARRAY))
		return NULL;
	length = length < most ? length : most;
	struct slice *v = arena_alloc(a, (length + 1) * sizeof(*v));
	for (uint32_t k = json_first(t, list); *n < length; k = json_next(t, k))
		v[(*n)++] = json_dup_at(t, k, a);
	return v;
}

bool json_i64(const struct json_tape *t, uint32_t k, int64_t *out)
{
	if (!json_is(t, k, JSON_NUMBER))
		return false;
	struct slice s = json_slice(t, k);
	bool neg = s.p[0] == '-';
	uint64_t v;
	if (!slice_u64(slice_of(s.p + neg, s.n - neg), &v) || v > (uint64_t)INT64_MAX + neg)
		return false;
	*out = neg ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

bool json_u64(const struct json_tape *t, uint32_t k, uint64_t *out)
{
	return json_is(t, k, JSON_NUMBER) && slice_u64(json_slice(t, k), out);
}

bool json_double(const struct json_tape *t, uint32_t k, double *out)
{
	if (!json_is(t, k, JSON_NUMBER))
		return false;
	struct slice s = json_slice(t, k);
	char tmp[64], *copy = s.n < sizeof(tmp) ? tmp : xmalloc(s.n + 1);
	memcpy(copy, s.p, s.n);
	copy[s.n] = 0;
	*out = strtod(copy, NULL);
	if (copy != tmp)
		free(copy);
	return true;
}

uint64_t json_count(const struct json_tape *t, uint32_t object, const char *key, uint64_t none)
{
	json_u64(t, json_get(t, object, key), &none);
	return none;
}

uint32_t json_index(const struct json_tape *t, uint32_t object, const char *key, uint32_t none)
{
	uint64_t v = json_count(t, object, key, none);
	return v <= UINT32_MAX ? (uint32_t)v : none;
}

int64_t json_int(const struct json_tape *t, uint32_t object, const char *key, int64_t none)
{
	json_i64(t, json_get(t, object, key), &none);
	return none;
}

double json_number(const struct json_tape *t, uint32_t object, const char *key, double none)
{
	json_double(t, json_get(t, object, key), &none);
	return none;
}

bool json_flag(const struct json_tape *t, uint32_t object, const char *key) { return json_is(t, json_get(t, object, key), JSON_TRUE); }

int json_ints(const struct json_tape *t, uint32_t object, const char *key, int64_t *v, int most)
{
	uint32_t list = json_get(t, object, key);
	int n = 0;
	json_each(t, list, k)
		if (n == most || !json_i64(t, k, &v[n++]))
			return -1;
	return json_is(t, list, JSON_ARRAY) ? n : -1;
}
