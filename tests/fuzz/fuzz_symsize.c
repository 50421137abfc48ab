/* Any bytes as a symbolic size and as a range: bounded, no crash, what is printed reads back, and simplification keeps
 * the value. The first byte splits the rest into two texts. */
#include "base/sym/symsize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void bind_all(const struct symtab *t, struct symsize s, struct symbind *env)
{
	uint32_t ids[64];
	size_t n = symsize_symbols(t, s, ids, ARRAY_LEN(ids));
	for (size_t i = 0; i < n && i < ARRAY_LEN(ids); i++)
		symbind_set(env, ids[i], (int64_t)((ids[i] * 7 + 3) % 11) - 2);
}

static void one_size(struct symtab *t, struct slice text, struct symsize *out)
{
	struct err err;
	struct buf b = {0};
	if (symsize_parse(t, text, out, &err) < 0) {
		*out = symsize_parse_any(t, text);
		symsize_print(t, *out, &b);
	} else {
		struct symsize again;
		symsize_print(t, *out, &b);
		/* Written in full it may be longer than what may be read. */
		if (b.len <= SYMSIZE_MAX_TEXT)
			require(symsize_parse(t, buf_slice(&b), &again, &err) == 0 && symsize_eq(*out, again));
	}
	buf_release(&b);
}

/* "Max(a, b)" */
static bool call(struct symtab *t, const char *function, struct symsize a, struct symsize b, struct symsize *out)
{
	struct err err;
	struct buf text = {0};
	buf_addf(&text, "%s(", function);
	symsize_print(t, a, &text);
	buf_adds(&text, ", ");
	symsize_print(t, b, &text);
	buf_addc(&text, ')');
	const bool ok = symsize_parse(t, buf_slice(&text), out, &err) == 0;
	buf_release(&text);
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	size_t cut = 1 + data[0] * (size - 1) / 255;
	struct slice first = slice_of((const char *)data + 1, cut - 1), second = slice_of((const char *)data + cut, size - cut);
	struct symtab t = {0};
	struct symsize a, b, sum, back, q, m;
	struct symbind env = {0};
	struct err err;
	one_size(&t, first, &a);
	one_size(&t, second, &b);
	int order = symsize_cmp(&t, a, b), reverse = symsize_cmp(&t, b, a);
	require((order == 0) == symsize_eq(a, b) && (order < 0) == (reverse > 0));
	if (symsize_add(&t, a, b, &sum, &err) == 0 && symsize_sub(&t, sum, b, &back, &err) == 0)
		require(symsize_eq(back, a));
	bind_all(&t, a, &env);
	bind_all(&t, b, &env);
	int64_t x, y, vq, vm;
	if (symsize_eval(&t, a, &env, &x, &err) == 0 && symsize_eval(&t, b, &env, &y, &err) == 0 && y && x > INT64_MIN) {
		int64_t want = x / y - (x % y && (x < 0) != (y < 0)), rest;
		if (symsize_floordiv(&t, a, b, &q, &err) == 0 && symsize_eval(&t, q, &env, &vq, &err) == 0)
			require(vq == want);
		if (call(&t, "Mod", a, b, &m) && symsize_eval(&t, m, &env, &vm, &err) == 0 && !__builtin_mul_overflow(want, y, &rest))
			require(vm == x - rest);
		if (call(&t, "Max", a, b, &m) && symsize_eval(&t, m, &env, &vm, &err) == 0)
			require(vm == (x > y ? x : y));
	}
	struct symrange r, again;
	if (symrange_parse(first, &r, &err) == 0) {
		struct buf text = {0};
		symrange_print(r, &text);
		require(symrange_parse(buf_slice(&text), &again, &err) == 0 && symrange_eq(r, again));
		buf_release(&text);
	}
	symbind_release(&env);
	symtab_release(&t);
	return 0;
}
