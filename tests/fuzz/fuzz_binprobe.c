/* Any bytes as what a model complains of, and as numbers to find a formula for: bounded, no crash, and a formula that is
 * found gives the numbers it was found for. (The loader and all else of the prober works behind its sandbox only.) */
#include "model/binprobe/binprobe_child.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void complaints(struct slice text)
{
	struct world w = {.n_inputs = 4};
	struct complaint c;
	int dim, n = 0;
	int64_t s, stride;
	world = &w;
	complaint_parse(text, &c);
	require(c.input < 4 && c.dim >= 0 && c.dim < TENSOR_MAX_DIMS && strlen(c.text) < sizeof(c.text));
	struct slice rest = slice_str(c.text);
	while (complaint_next_dim(&rest, &dim, &s, &stride))
		require(dim >= 0 && dim < TENSOR_MAX_DIMS && n++ < 100);
	world = NULL;
}

/* Numbers of 16 bits, some of them scaled up: symbols and what was seen, point by point. */
static void formulas(const uint8_t *data, size_t size)
{
	enum { MAX_POINTS = 24, MAX_SYMBOLS = 4 };
	int64_t at_value[MAX_POINTS][MAX_SYMBOLS], v[MAX_POINTS];
	const int64_t *at[MAX_POINTS];
	bool whole[MAX_SYMBOLS] = {size > 1 && data[1] & 1, false};
	struct symsize symbol[MAX_SYMBOLS], got;
	struct symtab tab = {0};
	uint32_t n_symbols = 1 + (size ? data[0] % MAX_SYMBOLS : 0), n = 0;
	const char *const names[] = {"s0", "s1", "s2", "u0"};
	for (uint32_t j = 0; j < n_symbols; j++)
		symbol[j] = symsize_symbol(&tab, slice_str(names[j]));
	size_t k = 2, row = 2 * ((size_t)n_symbols + 1);
	for (; n < MAX_POINTS && k + row <= size; n++) {
		for (uint32_t j = 0; j <= n_symbols; j++, k += 2) {
			int64_t x = (int16_t)(data[k] | data[k + 1] << 8);
			if (j < n_symbols)
				at_value[n][j] = x;
			else
				v[n] = x & 1 ? x * 1234567890123ll : x;
		}
		at[n] = at_value[n];
	}
	struct fit_points p = {n, n_symbols, at, symbol, whole};
	if (n && fit_formula(&tab, &p, v, &got))
		for (uint32_t i = 0; i < n; i++) {
			struct symbind env = {0};
			int64_t value;
			for (uint32_t j = 0; j < n_symbols; j++)
				symbind_set(&env, symtab_symbol(&tab, slice_str(names[j])), at_value[i][j]);
			/* What the evaluation overflows at is no contradiction. */
			if (symsize_eval(&tab, got, &env, &value, NULL) == 0)
				require(value == v[i]);
			symbind_release(&env);
		}
	symtab_release(&tab);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	complaints(slice_of((const char *)data, size));
	formulas(data, size);
	return 0;
}
