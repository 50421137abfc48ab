/* insn: the memory operand of instructions, as `as` encodes them. */
#include "../../lib/test.h"

#include "../../lib/guard.h"
#include "watch/insn.h"

static const struct {
	const char *text;
	uint8_t bytes[12];
	uint8_t n;
	uint64_t address;
	uint16_t width;
	bool writes, masked;
} cases[] = {
    {"vmovups %ymm0,(%rdi,%rax,4)", {0xc5, 0xfc, 0x11, 0x04, 0x87}, 5, 0x7000 + 4 * 0x10, 32, true, false},
    {"vmovups 0x20(%rdi),%ymm1", {0xc5, 0xfc, 0x10, 0x4f, 0x20}, 5, 0x7020, 32, false, false},
    {"vmovups %zmm0,0x40(%rdi)", {0x62, 0xf1, 0x7c, 0x48, 0x11, 0x47, 0x01}, 7, 0x7040, 64, true, false},
    {"vmovss (%rsi),%xmm0", {0xc5, 0xfa, 0x10, 0x06}, 4, 0x6000, 4, false, false},
    {"vpmovdb %ymm0,(%rdi)", {0x62, 0xf2, 0x7e, 0x28, 0x31, 0x07}, 6, 0x7000, 8, true, false},
    {"mov %eax,(%rdi)", {0x89, 0x07}, 2, 0x7000, 4, true, false},
    {"movzbl -1(%rsi),%eax", {0x0f, 0xb6, 0x46, 0xff}, 4, 0x5fff, 1, false, false},
    {"mov (%rdi,%r8,8),%rax", {0x4a, 0x8b, 0x04, 0xc7}, 4, 0x7000 + 8 * 0x80, 8, false, false},
    {"vmaskmovps %ymm0,%ymm1,(%rdi)", {0xc4, 0xe2, 0x75, 0x2e, 0x07}, 5, 0x7000, 32, true, true},
    {"vmovdqu8 %zmm0,(%rdi){%k1}", {0x62, 0xf1, 0x7f, 0x49, 0x7f, 0x07}, 6, 0x7000, 64, true, true},
    {"vbroadcastss (%rdi),%zmm0", {0x62, 0xf2, 0x7d, 0x48, 0x18, 0x07}, 6, 0x7000, 4, false, false},
    {"vaddps (%rdi){1to16},%zmm1,%zmm2", {0x62, 0xf1, 0x74, 0x58, 0x58, 0x17}, 6, 0x7000, 4, false, false},
    {"vpmovsxbd 8(%rdi),%ymm0", {0xc4, 0xe2, 0x7d, 0x21, 0x47, 0x08}, 6, 0x7008, 8, false, false},
    {"movsd %xmm0,(%r12)", {0xf2, 0x41, 0x0f, 0x11, 0x04, 0x24}, 6, 0xc000, 8, true, false},
    {"vmovups 0x100(%rip),%ymm3", {0xc5, 0xfc, 0x10, 0x1d, 0x00, 0x01, 0x00, 0x00}, 8, 0x1000 + 8 + 0x100, 32, false, false},
};

static const uint64_t registers[16] = {[0] = 0x10, [6] = 0x6000, [7] = 0x7000, [8] = 0x80, [12] = 0xc000};

static void test_operands(void **state)
{
	struct guard g = {0};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct insn got;
		const uint8_t *p = (const uint8_t *)guard_put(&g, cases[i].bytes, cases[i].n);
		if (!insn_decode(p, cases[i].n, 0x1000, registers, &got) || !got.memory || got.address != cases[i].address ||
		    got.width != cases[i].width || got.writes != cases[i].writes || got.masked != cases[i].masked)
			fail_msg("%s: memory %d, address %llx, %u bytes, writes %d, masked %d", cases[i].text, got.memory,
				 (unsigned long long)got.address, got.width, got.writes, got.masked);
		for (size_t n = 0; n < cases[i].n; n++) /* cut: unknown, and nothing is read behind it */
			assert_false(insn_decode((const uint8_t *)guard_put(&g, cases[i].bytes, n), n, 0x1000, registers, &got));
	}
	guard_release(&g);
}

static void test_without(void **state)
{
	(void)state;
	struct insn got;
	char text[64];
	assert_false(insn_decode((const uint8_t[]){0xc5, 0xfc, 0x28, 0xc1}, 4, 0, registers, &got));            /* between registers */
	assert_true(insn_decode((const uint8_t[]){0xc4, 0xe2, 0x75, 0x92, 0x04, 0x97}, 6, 0, registers, &got)); /* a gather */
	assert_true(got.lanes && !got.memory);
	assert_true(insn_decode((const uint8_t[]){0x64, 0x8b, 0x07}, 3, 0, registers, &got)); /* %fs:(%rdi) */
	assert_false(got.memory);
	assert_true(insn_decode((const uint8_t[]){0xc5, 0xfc, 0x11, 0x44, 0x87, 0xe0}, 6, 0, registers, &got));
	insn_operand(&got, text, sizeof(text));
	assert_string_equal(text, "rdi + rax*4 - 32");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_operands), cmocka_unit_test(test_without)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
