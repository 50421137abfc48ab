/* run/cachekey and lookups: what a key is made of, and in what two differ. */
#include "run/lookups.h"
#include "../../lib/test.h"

static struct arena arena;
static struct key_lines lines[2];
static struct slice text[2][KEY_TEXTS];

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++)
		key_release(&lines[i]);
	arena_release(&arena);
	arena = (struct arena){0};
	return 0;
}

static void add(unsigned side, const char *line) { key_add(&lines[side], slice_str(line)); }
static void both(const char *line)
{
	add(0, line);
	add(1, line);
}

static uint32_t compare(struct key_change *c, uint32_t most)
{
	for (unsigned s = 0; s < 2; s++)
		for (unsigned i = 0; i < KEY_TEXTS; i++)
			text[s][i] = buf_slice(&lines[s].text[i]);
	return key_compare(text[0], text[1], c, most, &arena);
}

#define H(x) "[" x x x x x x x x "] "
static void test_components(void **state)
{
	(void)state;
	struct key_change c[8];
	both(H("a") "gm: GraphModule()\n\n\n\ndef forward(self, x):\n    y = torch.ops.aten.relu.default(x)\n    return (y,)");
	both(H("b") "inductor_config[max_autotune]: False");
	both("no component");
	both("[short] gm: x");
	both("");
	assert_int_equal(lines[0].n, 2);
	assert_int_equal(compare(c, 8), 0);
	add(0, H("c") "example_inputs[0]: shape (8, 16)");
	add(1, H("d") "example_inputs[0]: shape (9, 16)");
	add(0, H("e") "torch_version: \xef\xbf\xbd");
	add(1, H("f") "torch_version: \xef\xbf\xbd");
	add(0, H("g") "inductor_config[old]: 1");
	assert_int_equal(compare(c, 8), 3);
	assert_true(slice_is(c[0].name, "torch_version"));
	assert_true(slice_is(c[0].before, "torch's sources eeeeeeee"));
	assert_true(slice_is(c[1].name, "inductor_config[old]"));
	assert_int_equal(c[1].after.n, 0);
	assert_true(slice_is(c[2].name, "example_inputs[0]"));
	assert_true(slice_is(c[2].before, "shape (8, 16)"));
	assert_true(slice_is(c[2].after, "shape (9, 16)"));
	/* The most telling one where there is room for one. */
	assert_int_equal(compare(c, 1), 3);
	assert_true(slice_is(c[0].name, "torch_version"));
	struct buf ops = {0};
	key_graph_ops(text[0][KEY_GRAPH], &ops);
	assert_string_equal(buf_str(&ops), "relu");
	buf_release(&ops);
}

/* Of values with lines those that differ; where the texts are the same, the hashes. */
static void test_lines(void **state)
{
	(void)state;
	struct key_change c[2];
	add(0, H("a") "gm: def forward(self, x):\n    a = x.sin()\n    return a");
	add(1, H("b") "gm: def forward(self, x):\n    a = x.cos()\n    return a");
	add(0, H("c") "fx_kwargs[f]: <function f>");
	add(1, H("d") "fx_kwargs[f]: <function f>");
	assert_int_equal(compare(c, 2), 2);
	assert_true(slice_is(c[0].before, "<function f> (cccccccc)"));
	assert_true(slice_is(c[1].before, "a = x.sin()"));
	assert_true(slice_is(c[1].after, "a = x.cos()"));
}

static struct lookup lookup(enum fact_cache_kind kind, enum fact_cache_what what, const char *key, unsigned side)
{
	struct lookup l = {.kind = kind, .what = what, .key = slice_str(key)};
	for (unsigned i = 0; i < KEY_TEXTS && side < 2; i++)
		l.text[i] = buf_slice(&lines[side].text[i]);
	return l;
}

static struct buf told;
static void tell(void *ctx, enum fact_cache_kind kind, const struct key_change *c)
{
	(void)ctx;
	buf_addf(&told, "%s %.*s;", cache_kind_name[kind], SL(c->name));
}
static void differ(const struct lookup *a, uint32_t na, const struct lookup *b, uint32_t nb, const char *want)
{
	buf_reset(&told);
	lookups_compare(a, na, b, nb, &arena, tell, NULL);
	assert_string_equal(buf_str(&told), want);
	buf_release(&told);
}

static void test_lookups(void **state)
{
	(void)state;
	add(0, H("a") "cache_key_tag: ");
	add(1, H("b") "cache_key_tag: mine");
	const struct lookup hit[2] = {lookup(FACT_CACHE_FX, FACT_HIT, "f1", 0), lookup(FACT_CACHE_AOT, FACT_HIT, "a1", 2)};
	struct lookup b[2] = {lookup(FACT_CACHE_AOT, FACT_MISS, "a2", 2), lookup(FACT_CACHE_FX, FACT_MISS, "f2", 1)};
	/* AOTAutograd's keys are told by nothing of their own where Inductor's are. */
	differ(hit, 2, b, 2, "fx_graph cache_key_tag;");
	differ(b, 2, hit, 2, "");
	differ(hit, 2, hit, 2, "");
	b[1] = hit[0];
	differ(hit, 2, b, 2, "aotautograd key;");
	b[0] = lookup(FACT_CACHE_AOT, FACT_MISS, "a1", 2);
	differ(hit, 2, b, 2, "aotautograd entry;");
	b[0].guards = SLICE("s0 < 8");
	differ(hit, 2, b, 2, "aotautograd guards;");
	b[0] = lookup(FACT_CACHE_AOT, FACT_BYPASS, "", 2);
	b[0].reason = SLICE("it cannot be");
	differ(hit, 2, b, 2, "aotautograd bypass;");
	differ(b, 1, b, 1, "");
	/* Both cold: nothing to tell. */
	b[0] = lookup(FACT_CACHE_AOT, FACT_MISS, "a1", 2);
	differ(b, 1, b, 1, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_components, NULL, teardown),
	    cmocka_unit_test_setup_teardown(test_lines, NULL, teardown),
	    cmocka_unit_test_setup_teardown(test_lookups, NULL, teardown),
	};
	return RUN(tests);
}
