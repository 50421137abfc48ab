/* base/symsize: what torch writes is read, equal things are equal, numbers stay in 64 bits, nothing runs away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/sym/symsize.h"

static struct symtab tab;
static struct buf text;
static struct err err;

static struct symsize parse(const char *s)
{
	struct symsize r;
	/* Against the end of an allocation, for the sanitizer and valgrind. */
	size_t n = strlen(s);
	char *tight = malloc(n ? n : 1);
	memcpy(tight, s, n);
	if (symsize_parse(&tab, slice_of(tight, n), &r, &err) < 0)
		fail_msg("%s: %s", s, err.text);
	free(tight);
	return r;
}

static void prints(const char *in, const char *want)
{
	struct symsize s = parse(in);
	buf_reset(&text);
	symsize_print(&tab, s, &text);
	if (strcmp(buf_str(&text), want))
		fail_msg("%s: '%s', not '%s'", in, text.p, want);
	struct symsize again;
	if (symsize_parse(&tab, buf_slice(&text), &again, &err) < 0 || !symsize_eq(s, again))
		fail_msg("%s does not read back: %s", buf_str(&text), err.text);
}

static void same(const char *a, const char *b)
{
	if (!symsize_eq(parse(a), parse(b)))
		fail_msg("%s and %s differ", a, b);
}

static void differ(const char *a, const char *b)
{
	if (symsize_eq(parse(a), parse(b)))
		fail_msg("%s and %s are the same", a, b);
}

static void fails(const char *s, const char *message)
{
	struct symsize r;
	if (symsize_parse(&tab, slice_str(s), &r, &err) == 0)
		fail_msg("'%s' was read", s);
	if (message)
		assert_string_equal(err.text, message);
	assert_int_equal(err.status, EXIT_INPUT);
}

static int eval(const char *s, int64_t *v)
{
	/* s0 = 7, s1 = 3, u0 = -5, z = 0 */
	struct symbind env = {0};
	struct symsize e = parse(s);
	symbind_set(&env, symtab_symbol(&tab, SLICE("s0")), 7);
	symbind_set(&env, symtab_symbol(&tab, SLICE("s1")), 3);
	symbind_set(&env, symtab_symbol(&tab, SLICE("u0")), -5);
	symbind_set(&env, symtab_symbol(&tab, SLICE("z")), 0);
	int rc = symsize_eval(&tab, e, &env, v, &err);
	symbind_release(&env);
	return rc;
}

static void is(const char *s, int64_t want)
{
	int64_t v;
	if (eval(s, &v) < 0)
		fail_msg("%s: %s", s, err.text);
	if (v != want)
		fail_msg("%s is %lld, not %lld", s, (long long)v, (long long)want);
}

static void no_value(const char *s, const char *message)
{
	int64_t v;
	assert_int_equal(eval(s, &v), -1);
	assert_string_equal(err.text, message);
}

static void integers(void **state)
{
	(void)state;
	prints("0", "0");
	prints(" 12L ", "12");
	prints("-5", "-5");
	prints("9223372036854775807", "9223372036854775807");
	prints("-9223372036854775808", "-9223372036854775808");
	prints("2 + 3*4 - 10//3", "11");
	prints("-7//2", "-4");
	prints("-(7//2)", "-3");
	prints("-7 % 3", "2");
	prints("7 % -3", "-2");
	prints("-2**2", "-4");
	prints("2**3**2", "512");
	prints("(-2)**3", "-8");
	prints("(-1)**1000001", "-1");
	prints("10/5", "2");
	prints("1 < 2", "1");
	prints("- - +3", "3");
	assert_true(symsize_is_int(parse("7")));
	assert_true(symsize_eq(parse("7"), symsize_int(7)));
	assert_true(!symsize_is_int(parse("s0")));
}

static void canonical_text(void **state)
{
	(void)state;
	prints("s77", "s77");
	prints("s0*2", "2*s0");
	prints("1 + s0", "s0 + 1");
	prints("1 - s0", "1 - s0");
	prints("s1 - s0", "-s0 + s1");
	prints("-s0 - 1", "-s0 - 1");
	prints("1 - s0*s1", "-s0*s1 + 1");
	prints("s1*s0", "s0*s1");
	prints("(s0 + 1)*(s0 - 1)", "s0**2 - 1");
	prints("(s0 + s1)**3", "s0**3 + 3*s0**2*s1 + 3*s0*s1**2 + s1**3");
	prints("s0 - s0", "0");
	prints("(s0 + 1)*(s1 + 1) - s0*s1 - s0 - s1", "1");
	prints("s0//2", "(s0//2)");
	prints("((s0//2))", "(s0//2)");
	prints("2*((s0 + 1)//2)", "2*((s0 + 1)//2)");
	prints("floordiv(s0, 2) - 1", "(s0//2) - 1");
	prints("c10::div_floor_integer(static_cast<int64_t>(s77), static_cast<int64_t>(2L))", "(s77//2)");
	prints("12L*s77 + 8L", "12*s77 + 8");
	prints("Max(1, s0)", "Max(1, s0)");
	prints("Max(s0, 1)", "Max(1, s0)");
	prints("torch.sym_max(s0, Max(2, s1, 3))", "Max(3, s0, s1)");
	prints("Max(s0, s0)", "s0");
	prints("Min(3, 2)", "2");
	prints("Mod(s0, 8)", "Mod(s0, 8)");
	prints("PythonMod(s0, 8) + 1", "Mod(s0, 8) + 1");
	prints("s0 % 8", "Mod(s0, 8)");
	prints("ModularIndexing(s0, 2, 8)", "Mod((s0//2), 8)");
	prints("CeilDiv(s0, 4)", "((s0 + 3)//4)");
	prints("s0/2", "(s0/2)");
	prints("PowByNatural(2, s0)", "PowByNatural(2, s0)");
	prints("2**s0", "PowByNatural(2, s0)");
	prints("Eq(s27, 16)", "Eq(s27, 16)");
	prints("Eq(16, s27)", "Eq(s27, 16)");
	prints("s1 == s0", "Eq(s0, s1)");
	prints("(u0 >= 0) & (u0 + 1 <= 3)", "(u0 + 1 <= 3) & (u0 >= 0)");
	prints("Sym(u0 >= -1)", "u0 >= -1");
	prints("Not(u0 < 3)", "Not(u0 < 3)");
	prints("LShift(s0, 3)", "8*s0");
	prints("Identity((s0))", "s0");
	prints("s0*Max(1, u0)**2", "s0*Max(1, u0)**2");
	prints("Max(1, -s0)//2", "(Max(1, -s0)//2)");
	prints("s0//(-2)", "((-s0)//2)");
	prints("s0//s1", "(s0//s1)");
}

static void equal_forms(void **state)
{
	(void)state;
	same("2*(s0 + 1)", "s0*2 + 2");
	same("s0*(s1 + u0)", "s1*s0 + u0*s0");
	same("(2*s0)//2", "s0");
	same("(4*s0 + s1)//4", "s0 + s1//4");
	same("(2*s0 + 4)//4", "(s0 + 2)//2");
	same("(4*s0 + 2*s1)//4", "s0 + s1//2");
	same("(6*s0 + 5)//6", "s0");
	same("(6*s0 - 1)//6", "s0 - 1");
	same("(s0//2)//3", "s0//6");
	same("((s0//2)//3 + s1)//5", "(s0//6 + s1)//5");
	same("(s0*s1)//s0", "s1");
	same("(s0*s1 + s0)//(s0*2)", "(s1 + 1)//2");
	same("s0//s0", "1");
	same("0//s0", "0");
	same("(s0 + 3)//1", "s0 + 3");
	same("Mod(4*s0 + s1, 4)", "Mod(s1, 4)");
	same("Mod(s0*s1, s0)", "0");
	same("Mod(s0 + s1, s1 + s0)", "0");
	same("Mod(s0, 1)", "0");
	same("Max(s0, Max(s1, u0))", "Max(Max(u0, s0), s1)");
	same("(s0/2)*2 - (s0/2)*2", "0");
	same("floor(s0/2)", "s0//2");
	same("ceiling(s0/2)", "CeilDiv(s0, 2) - CeilDiv(s0, 2) - ((-s0)//2)");
	same("TruncToInt(s0)", "s0");
	same("Ne(s0 + 1, s0)", "1");
	same("s0 + 1 > s0", "1");
	same("And(s0 > 1, True)", "s0 > 1");
	same("Or(s0 > 1, True)", "1");
	same("Piecewise((1, s0 > 2), (s0, True)) + 1", "1 + Piecewise((1, s0 > 2), (s0, True))");
	differ("Max(1, s0)", "s0");
	differ("s0//2 + s0//2", "s0");
	differ("Piecewise((1, s0 > 2))", "Piecewise((1, s0>2))");
	differ("s0", "u0");
	/* Only integers may be split. */
	differ("(4*zf0 + s1)//4", "zf0 + s1//4");
	differ("zf0//1", "zf0");
	differ("TruncToInt(zf0)", "zf0");
	differ("floor(s0/2 + s1/2)", "s0/2 + s1/2");
	differ("foo(1)//1", "foo(1)");
}

static void opaque(void **state)
{
	(void)state;
	prints("2*Piecewise((s0//2, Eq(Mod(s0, 2), 0)), (1, True)) + 1", "2*Piecewise((s0//2, Eq(Mod(s0, 2), 0)), (1, True)) + 1");
	prints("TruncToInt(ToFloat(s0)*2.0)", "TruncToInt(2.0*ToFloat(s0))");
	prints("2.5", "2.5");
	prints("1e-5*s0", "s0*1e-5");
	prints("-int_oo", "-int_oo");
	assert_true(symsize_has_opaque(&tab, parse("s0 + Max(1, f(2))")));
	assert_false(symsize_has_opaque(&tab, parse("s0 + Max(1, u0)")));
	struct symsize s = symsize_parse_any(&tab, SLICE(" L['x'].size()[0] "));
	buf_reset(&text);
	symsize_print(&tab, s, &text);
	assert_string_equal(buf_str(&text), "L['x'].size()[0]");
	assert_true(symsize_eq(s, symsize_parse_any(&tab, SLICE("L['x'].size()[0]"))));
	assert_true(symsize_eq(symsize_parse_any(&tab, SLICE("s0*2")), parse("2*s0")));
	symsize_parse_any(&tab, (struct slice){0});
	no_value("1 + Piecewise((1, True))", "symbolic size: 'Piecewise((1, True))' has no value");
	no_value("2.5*s0", "symbolic size: '2.5' has no value");
}

static void malformed(void **state)
{
	(void)state;
	fails("", "symbolic size: nothing at offset 0 of ''");
	fails("s0 +", "symbolic size: missing operand at offset 4 of 's0 +'");
	fails("s0 s1", "symbolic size: missing operator at offset 3 of 's0 s1'");
	fails("(s0", "symbolic size: missing bracket at offset 3 of '(s0'");
	fails("s0)", "symbolic size: closing bracket without an opening one at offset 2 of 's0)'");
	fails("()", NULL);
	fails("Max()", NULL);
	fails("Max(1,)", NULL);
	fails("Mod(1)", NULL);
	fails("Mod(1, 2, 3)", "symbolic size: too many arguments at offset 8 of 'Mod(1, 2, 3)'");
	fails("(1, 2)", NULL);
	fails("1, 2", NULL);
	fails("1 < s0 < 3", "symbolic size: chained comparisons at offset 7 of '1 < s0 < 3'");
	fails("2s0", NULL);
	fails("0x10", NULL);
	fails("a.b", NULL);
	fails("a::b", NULL);
	fails("static_cast<int", NULL);
	fails("foo(", NULL);
	fails("foo(]", NULL);
	fails("L['x']", NULL);
	fails("*s0", NULL);
	fails("s0 @ 1", NULL);
	struct symsize r;
	assert_int_equal(symsize_parse(&tab, slice_of("s0\0+1", 5), &r, &err), -1);
	assert_int_equal(symsize_parse(&tab, (struct slice){0}, &r, &err), -1);
}

static void overflows(void **state)
{
	(void)state;
	static const char none[] = "symbolic size: a number does not fit 64 bits";
	fails("9223372036854775808", none);
	fails("99999999999999999999999", none);
	fails("9223372036854775807 + 1", none);
	fails("-9223372036854775808 - 1", none);
	fails("9223372036854775807*s0*2", none);
	fails("-9223372036854775808 // -1", none);
	fails("-(-9223372036854775808)", none);
	fails("-9223372036854775808*s0", none);
	fails("Abs(-9223372036854775808)", none);
	fails("2**63", none);
	fails("2**1000000000000", none);
	no_value("s0**40", none);
	no_value("4611686018427387904*s0", none);
	no_value("Abs(u0 - 9223372036854775803 + z)", none);
	no_value("PowByNatural(2, s0*s0*s0)", none);
	no_value("9223372036854775807 + s0", none);
	is("PowByNatural(2, 62 + z)", (int64_t)1 << 62);
	is("PowByNatural(z, 9223372036854775807 - z)", 0);
	same("9223372036854775807*s0 - 9223372036854775807*s0", "0");
	/* The comparison's difference does not fit; it is kept as it is. */
	prints("s0 - 9223372036854775807 < s0 + 9223372036854775807", "s0 - 9223372036854775807 < s0 + 9223372036854775807");
}

static void values(void **state)
{
	(void)state;
	is("2*s0 + s1**2 - 1", 22);
	is("s0//s1", 2);
	is("u0//s1", -2);
	is("Mod(u0, s1)", 1);
	is("Mod(s0, u0)", -3);
	is("s0//u0", -2);
	is("(s0 + s1)/2", 5);
	is("Max(1, s0, u0) + Min(1, s1, u0)", 2);
	is("Abs(u0)", 5);
	is("ModularIndexing(s0*10, s1, 5)", 3);
	is("CeilDiv(s0, s1)", 3);
	is("CeilDiv(s0, 4) - -(-s0//4)", 0);
	is("(s0 > 3) & (s1 == 3)", 1);
	is("(s0 > 3) & (s1 != 3)", 0);
	is("Or(s0 < 3, s1 <= 3)", 1);
	is("Not(s0 >= s1)", 0);
	is("LShift(s1, s1) + RShift(s0, 1) + RShift(u0, s0 + 90)", 26);
	is("PowByNatural(s1, s1)", 27);
	is("s0//(-1 + z) + Mod(s0, z - 1)", -7);
	no_value("s0//z", "symbolic size: division by zero");
	no_value("s0//0", "symbolic size: division by zero");
	no_value("0//0", "symbolic size: division by zero");
	no_value("Mod(s0, z)", "symbolic size: division by zero");
	no_value("Mod(0, 0)", "symbolic size: division by zero");
	no_value("s0/2", "symbolic size: 7/2 is not an integer");
	no_value("s5 + 1", "symbolic size: 's5' has no value");
	no_value("PowByNatural(s0, u0)", "symbolic size: negative power");
	no_value("LShift(s0, u0)", "symbolic size: invalid shift by -5");
}

static void symbols_and_lines(void **state)
{
	(void)state;
	uint32_t id[8], symbol;
	int64_t mul, add;
	struct symsize s = parse("s3*s1 + Max(u0, s1//s10) + Piecewise(s9)");
	assert_int_equal(symsize_symbols(&tab, s, id, 8), 4);
	static const char *const want[] = {"s1", "s10", "s3", "u0"};
	for (size_t i = 0; i < 4; i++)
		assert_true(slice_is(symtab_name(&tab, id[i]), want[i]));
	assert_int_equal(symsize_symbols(&tab, s, id, 1), 4);
	assert_int_equal(symsize_symbols(&tab, symsize_int(3), NULL, 0), 0);
	assert_true(symsize_linear(&tab, parse("2*s0 - 3"), &symbol, &mul, &add));
	assert_true(slice_is(symtab_name(&tab, symbol), "s0") && mul == 2 && add == -3);
	assert_true(symsize_linear(&tab, parse("s0"), &symbol, &mul, &add));
	assert_true(mul == 1 && add == 0);
	static const char *const not_linear[] = {"3", "s0*s1", "s0**2", "s0 + s1", "s0//2", "s0**2 + s0", "Max(1, s0) + 1"};
	for (size_t i = 0; i < ARRAY_LEN(not_linear); i++)
		assert_false(symsize_linear(&tab, parse(not_linear[i]), &symbol, &mul, &add));
	assert_int_equal(sym_kind(SLICE("s77")), SYM_BACKED);
	assert_int_equal(sym_kind(SLICE("u0")), SYM_UNBACKED);
	assert_int_equal(sym_kind(SLICE("zf41")), SYM_FLOAT);
	assert_int_equal(sym_kind(SLICE("zuf0")), SYM_UNBACKED_FLOAT);
	assert_int_equal(sym_kind(SLICE("s")), SYM_OTHER);
	assert_int_equal(sym_kind(SLICE("size0")), SYM_OTHER);
}

static void arithmetic(void **state)
{
	(void)state;
	struct symsize a = parse("s0 + 1"), b = parse("s1"), r;
	assert_int_equal(symsize_add(&tab, a, b, &r, &err), 0);
	assert_true(symsize_eq(r, parse("s0 + s1 + 1")));
	assert_int_equal(symsize_sub(&tab, r, b, &r, &err), 0);
	assert_true(symsize_eq(r, a));
	assert_int_equal(symsize_mul(&tab, a, a, &r, &err), 0);
	assert_true(symsize_eq(r, parse("s0**2 + 2*s0 + 1")));
	assert_int_equal(symsize_floordiv(&tab, r, a, &r, &err), 0);
	assert_true(symsize_eq(r, parse("(s0**2 + 2*s0 + 1)//(s0 + 1)")));
	assert_true(symsize_eq(parse("Min(Max(s0 + 1, 2), Max(2, s0 + 1))"), parse("Max(2, s0 + 1)")));
	assert_int_equal(symsize_add(&tab, symsize_int(INT64_MAX), symsize_int(1), &r, &err), -1);
}

static void order_does_not_depend_on_history(void **state)
{
	(void)state;
	static const char *const exprs[] = {"s0", "s10*u0", "Max(2, s3)", "s1//3", "f(x)", "s2**2", "4"};
	struct symsize s;
	char *first = NULL;
	for (size_t turn = 0; turn < ARRAY_LEN(exprs); turn++) {
		struct symtab t = {0};
		struct buf sum = {0};
		for (size_t i = 0; i < ARRAY_LEN(exprs); i++)
			buf_addf(&sum, "%s%s", i ? " + " : "", exprs[(i + turn) % ARRAY_LEN(exprs)]);
		assert_int_equal(symsize_parse(&t, buf_slice(&sum), &s, &err), 0);
		buf_reset(&sum);
		symsize_print(&t, s, &sum);
		if (!first)
			first = xstrdup(buf_str(&sum));
		assert_string_equal(buf_str(&sum), first);
		buf_release(&sum);
		symtab_release(&t);
	}
	free(first);
	struct symsize v[] = {parse("s1"), parse("3"), parse("s0 + 1"), parse("s0"), parse("-1"), parse("Max(1, s0)")};
	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		for (size_t k = 0; k < ARRAY_LEN(v); k++) {
			int d = symsize_cmp(&tab, v[i], v[k]), e = symsize_cmp(&tab, v[k], v[i]);
			assert_true((d < 0) == (e > 0) && (d == 0) == (i == k));
		}
	assert_true(symsize_cmp(&tab, v[4], v[1]) < 0 && symsize_cmp(&tab, v[1], v[0]) < 0);
}

static void repeat(struct buf *b, const char *s, size_t n)
{
	while (n--)
		buf_adds(b, s);
}

static void bounds(void **state)
{
	(void)state;
	static const char large[] = "symbolic size: the expression is too large";
	struct buf b = {0};
	repeat(&b, "(", 100000);
	fails(buf_str(&b), large);
	buf_reset(&b);
	repeat(&b, "(", 60000);
	fails(buf_str(&b), large);
	buf_reset(&b);
	repeat(&b, "-", 60001);
	buf_adds(&b, "s0");
	same(buf_str(&b), "-s0");
	buf_reset(&b);
	repeat(&b, "f(", 60);
	buf_adds(&b, "1");
	repeat(&b, ")", 60);
	parse(buf_str(&b));
	buf_reset(&b);
	repeat(&b, "(f[{", 10000);
	fails(buf_str(&b), NULL);
	buf_reset(&b);
	buf_adds(&b, "s0");
	repeat(&b, "**s0", 1000);
	fails(buf_str(&b), large);
	buf_reset(&b);
	repeat(&b, "Max(1 + ", 50);
	buf_adds(&b, "s0");
	repeat(&b, ")", 50);
	parse(buf_str(&b));
	buf_reset(&b);
	for (int i = 0; i < 512; i++)
		buf_addf(&b, "%ss%d", i ? " + " : "", i);
	parse(buf_str(&b));
	buf_adds(&b, " + s600");
	fails(buf_str(&b), large);
	buf_reset(&b);
	for (int i = 0; i < 13; i++)
		buf_addf(&b, "%ss%d", i ? "*" : "", i);
	fails(buf_str(&b), large);
	fails("s0**65", large);
	fails("(s0 + s1 + u0 + 1)**30", large);
	/* Written once, printed twice at every level: the text would double 40 times. */
	buf_reset(&b);
	repeat(&b, "((", 32);
	buf_adds(&b, "s0");
	repeat(&b, " + s1)//3 + 1)**2", 32);
	fails(buf_str(&b), large);
	buf_reset(&b);
	buf_adds(&b, "Max(0");
	for (int i = 0; i < 70; i++)
		buf_addf(&b, ", s%d", i);
	buf_adds(&b, ")");
	fails(buf_str(&b), NULL);
	buf_release(&b);
	/* Made by calls, not by text. */
	struct symsize s = parse("s0"), two;
	int n = 0;
	while (n < 1000 && symsize_add(&tab, s, symsize_int(1), &two, &err) == 0 && symsize_floordiv(&tab, two, parse("u0"), &s, &err) == 0)
		n++;
	assert_true(n > 10 && n < 1000);
	assert_string_equal(err.text, large);
}

static void range_is(const char *in, const char *want)
{
	struct symrange r;
	if (symrange_parse(slice_str(in), &r, &err) < 0)
		fail_msg("%s: %s", in, err.text);
	buf_reset(&text);
	symrange_print(r, &text);
	assert_string_equal(buf_str(&text), want);
	struct symrange again;
	assert_int_equal(symrange_parse(buf_slice(&text), &again, &err), 0);
	assert_true(symrange_eq(r, again));
}

static void no_range(const char *in)
{
	struct symrange r;
	if (symrange_parse(slice_str(in), &r, &err) == 0)
		fail_msg("'%s' was read", in);
}

static void ranges(void **state)
{
	(void)state;
	range_is("VR[2, int_oo]", "[2, int_oo]");
	range_is("[2, int_oo]", "[2, int_oo]");
	range_is("[-int_oo, int_oo]", "[-int_oo, int_oo]");
	range_is("[-oo, oo]", "[-int_oo, int_oo]");
	range_is(" VR[-3,inf] ", "[-3, int_oo]");
	range_is("VR[0, 9223372036854775806]", "[0, 9223372036854775806]");
	range_is("VR[-9223372036854775808, 9223372036854775807]", "[-9223372036854775808, 9223372036854775807]");
	range_is("VR[False, True]", "[0, 1]");
	range_is("ValueRanges(lower=2, upper=64, is_bool=False)", "[2, 64]");
	range_is("ValueRanges(lower=-oo, upper=oo)", "[-int_oo, int_oo]");
	static const char *const wrong[] = {"",
					    "VR",
					    "VR[",
					    "[]",
					    "[1]",
					    "[1, 2",
					    "[1, 2, 3]",
					    "[2, 1]",
					    "[int_oo, int_oo]",
					    "[-int_oo, -int_oo]",
					    "VR[0.5, 1]",
					    "[1, x]",
					    "[9223372036854775808, int_oo]",
					    "ValueRanges(lower=2)",
					    "ValueRanges(lower=2, 3)",
					    "ValueRanges()",
					    "[--1, 2]",
					    "[,]"};
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		no_range(wrong[i]);
	assert_int_equal(symrange_parse((struct slice){0}, &(struct symrange){0}, &err), -1);
	struct symrange a, b, r = SYMRANGE_ALL;
	symrange_parse(SLICE("[2, 64]"), &a, &err);
	symrange_parse(SLICE("[32, int_oo]"), &b, &err);
	assert_true(symrange_contains(a, 2) && symrange_contains(a, 64) && !symrange_contains(a, 65) && !symrange_contains(a, 1));
	assert_true(symrange_contains(b, INT64_MAX) && !symrange_contains(b, INT64_MIN));
	assert_true(symrange_contains(r, INT64_MIN));
	assert_true(symrange_intersect(a, b, &r));
	assert_true(r.lo == 32 && r.hi == 64 && !r.lo_inf && !r.hi_inf);
	assert_true(symrange_intersect(SYMRANGE_ALL, b, &r) && symrange_eq(r, b));
	assert_true(symrange_intersect(b, SYMRANGE_ALL, &r) && symrange_eq(r, b));
	symrange_parse(SLICE("[65, 66]"), &b, &err);
	assert_false(symrange_intersect(a, b, &r));
}

static int finish(void **state)
{
	(void)state;
	symtab_release(&tab);
	buf_release(&text);
	return 0;
}

int main(void)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(integers),    cmocka_unit_test(canonical_text),
	    cmocka_unit_test(equal_forms), cmocka_unit_test(opaque),
	    cmocka_unit_test(malformed),   cmocka_unit_test(overflows),
	    cmocka_unit_test(values),      cmocka_unit_test(symbols_and_lines),
	    cmocka_unit_test(arithmetic),  cmocka_unit_test(order_does_not_depend_on_history),
	    cmocka_unit_test(bounds),      cmocka_unit_test(ranges),
	};
	return cmocka_run_group_tests(tests, NULL, finish);
}
