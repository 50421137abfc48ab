/* Any bytes as JSON: what is accepted is whole, inside the text, and reads back when it is written again. */
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* Every token of value k lies in [from, to) of the text and after the one before it. Returns the depth. */
static unsigned walk(const struct json_tape *t, uint32_t k, uint32_t end, struct json_out *o)
{
	const struct json_tok *tok = &t->tok[k];
	struct buf s = {0};
	unsigned deepest = 0, d;
	uint64_t u;
	int64_t i;
	double x;
	struct slice raw = json_raw(t, k);
	require(raw.p >= t->text && raw.p + raw.n <= t->text + t->len && raw.n > 0);
	require(tok->next > k && tok->next <= end);
	require(tok->type >= JSON_ARRAY || tok->next == k + 1);
	switch ((enum json_type)tok->type) {
	case JSON_NULL: json_out_null(o); break;
	case JSON_TRUE: json_out_bool(o, true); break;
	case JSON_FALSE: json_out_bool(o, false); break;
	case JSON_NUMBER:
		require(json_double(t, k, &x));
		if (json_u64(t, k, &u) && u <= INT64_MAX)
			require(json_i64(t, k, &i) && i == (int64_t)u);
		json_out_raw(o, json_slice(t, k));
		break;
	case JSON_STRING:
		json_unescape(t, k, &s);
		json_out_str(o, buf_slice(&s));
		break;
	case JSON_ARRAY:
		json_arr(o);
		for (uint32_t c = json_first(t, k); c < json_end(t, k); c = json_next(t, c))
			if ((d = walk(t, c, tok->next, o) + 1) > deepest)
				deepest = d;
		json_close(o);
		break;
	case JSON_OBJECT:
		json_obj(o);
		for (uint32_t c = json_first(t, k); c < json_end(t, k); c = json_next_pair(t, c)) {
			require(t->tok[c].type == JSON_STRING && t->tok[c].next == c + 1);
			buf_reset(&s);
			json_unescape(t, c, &s);
			if (!s.len || !memchr(s.p, 0, s.len))
				json_key(o, buf_str(&s));
			else
				json_key(o, "nul");
			if ((d = walk(t, c + 1, tok->next, o) + 1) > deepest)
				deepest = d;
		}
		json_close(o);
		break;
	}
	buf_release(&s);
	return deepest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_tape t = {0}, back = {0};
	struct buf out = {0};
	uint32_t root, again;
	json_tape_text(&t, (const char *)data, size);
	if (json_parse(&t, 0, size, &root) < 0) {
		require(t.error && t.error_at <= size && t.n == 0);
	} else {
		struct json_out o = {.b = &out, .html = size & 1};
		require(root == 0 && json_end(&t, root) == t.n);
		unsigned depth = walk(&t, root, t.n, &o);
		require((depth >= JSON_STRICT_DEPTH) <= !!(t.loose & JSON_LOOSE_DEPTH));
		if (depth < 63) { /* the emitter's limit */
			require(utf8_valid(buf_slice(&out)));
			require(!o.html || !memchr(out.p, '<', out.len));
			json_tape_text(&back, out.p, out.len);
			require(json_parse(&back, 0, out.len, &again) == 0);
			require(back.n == t.n && !(back.loose & JSON_LOOSE_SURROGATE));
			for (uint32_t k = 0; k < t.n; k++)
				require(back.tok[k].type == t.tok[k].type && back.tok[k].next == t.tok[k].next);
		}
		/* What stands before and after does not count. */
		if (size > 2) {
			json_tape_text(&back, (const char *)data, size);
			uint32_t n = json_parse(&back, size / 2, size - size / 2, &again) == 0 ? back.n : 0;
			require(back.n == n);
		}
	}
	json_tape_release(&t);
	json_tape_release(&back);
	buf_release(&out);
	return 0;
}
