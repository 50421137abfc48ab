#include "graph/fxcode_part.h"
#include "graph/pytext.h"

#include <math.h>

/* ---- numbers ---- */

/* The fewest digits that give the same double, as "d.ddde-05": Python's repr() needs the same digits in another form.
 */
static int shortest(char *out, size_t size, double v)
{
	for (int digits = fabs(v) < 0x1p-1021 ? 0 : 14; digits < 17; digits++) { /* subnormal ones have fewer */
		snprintf(out, size, "%#.*e", digits, v);
		if (digits == 16 || strtod(out, NULL) == v)
			break;
	}
	char *e = strchr(out, 'e');
	int exponent = (int)strtol(e + 1, NULL, 10);
	while (e[-1] == '0')
		e--;
	*e = 0; /* "1.5" or "1." */
	return exponent;
}

/* repr() of a float that is finite; point: ".0" if nothing else distinguishes it from an int. */
static void add_finite(struct buf *b, double v, bool point)
{
	char digits[40];
	const int exponent = shortest(digits, sizeof(digits), fabs(v));
	const char *rest = digits + 2; /* behind "d." */
	const int n = (int)strlen(rest);
	if (signbit(v))
		buf_addc(b, '-');
	if (exponent < -4 || exponent >= 16) {
		buf_addf(b, n ? "%c.%s" : "%c%s", digits[0], rest);
		buf_addf(b, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
		return;
	}
	if (exponent < 0) {
		buf_adds(b, "0.");
		for (int i = -1; i > exponent; i--)
			buf_addc(b, '0');
		buf_addf(b, "%c%s", digits[0], rest);
		return;
	}
	buf_addc(b, digits[0]);
	for (int i = 0; i < exponent; i++)
		buf_addc(b, i < n ? rest[i] : '0');
	if (n > exponent)
		buf_addf(b, ".%s", rest + exponent);
	else if (point)
		buf_adds(b, ".0");
}

/* "1e-05", "1.5e-07": of n / 10^p, which is below 1e-4. */
static void add_small(struct buf *b, uint64_t n, unsigned p)
{
	char digits[24];
	unsigned k = sizeof(digits);
	for (; n; n /= 10)
		digits[--k] = (char)('0' + n % 10);
	const unsigned len = (unsigned)sizeof(digits) - k, exponent = p + 1 - len;
	buf_addc(b, digits[k]);
	if (len > 1)
		buf_addc(b, '.');
	buf_add(b, digits + k + 1, len - 1);
	buf_adds(b, "e-");
	if (exponent < 10)
		buf_addc(b, '0');
	buf_add_u64(b, exponent);
}

/* Numbers of few digits, which are nearly all: the first power of ten that makes an int of it gives the fewest digits,
 * and dividing by it is exact enough to tell (both are doubles without error). */
static bool add_short(struct buf *b, double v)
{
	static const double power[] = {1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
				       1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
	const double size = fabs(v);
	if (!(size >= 1e-15 && size < 1e6) && size != 0)
		return false;
	for (unsigned p = 0; p < ARRAY_LEN(power) && size * power[p] < 1e15; p++) {
		const uint64_t n = (uint64_t)llrint(size * power[p]), unit = (uint64_t)power[p];
		if ((double)n / power[p] != size)
			continue;
		if (signbit(v))
			buf_addc(b, '-');
		if (n && size < 1e-4) {
			add_small(b, n, p);
			return true;
		}
		buf_add_u64(b, n / unit);
		buf_addc(b, '.');
		for (uint64_t u = unit / 10; u > 1 && n % unit < u; u /= 10)
			buf_addc(b, '0');
		buf_add_u64(b, n % unit);
		return true;
	}
	return false;
}

void fx_add_float(struct buf *b, double v)
{
	if (add_short(b, v))
		return;
	if (isnan(v))
		buf_adds(b, "nan");
	else if (isinf(v))
		buf_adds(b, v < 0 ? "-inf" : "inf");
	else
		add_finite(b, v, true);
}

static void add_part(struct buf *b, double v)
{
	if (isfinite(v))
		add_finite(b, v, false);
	else
		fx_add_float(b, v);
}

/* repr() of a complex: "1j", "(1+2j)", "(nan+nanj)". */
void fx_add_complex(struct buf *b, double re, double im)
{
	const bool both = re != 0 || signbit(re);
	if (both) {
		buf_addc(b, '(');
		add_part(b, re);
		if (!signbit(im) || isnan(im))
			buf_addc(b, '+');
	}
	add_part(b, im);
	buf_adds(b, both ? "j)" : "j");
}

bool fx_parse_float(struct slice s, double *out)
{
	char text[400], *end;
	size_t n = 0;
	s = slice_trim(s);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '_')
			continue;
		if (n + 1 == sizeof(text))
			return false;
		text[n++] = s.p[i];
	}
	text[n] = 0;
	if (!n || memchr(text, 'x', n) || memchr(text, 'X', n) || memchr(text, '(', n))
		return false;
	*out = strtod(text, &end);
	return *end == 0 && end == text + n;
}

bool fx_parse_complex(struct slice s, double *re, double *im)
{
	*re = 0;
	if (s.n > 2 && *s.p == '(' && s.p[s.n - 1] == ')')
		s = slice_of(s.p + 1, s.n - 2);
	if (s.n < 2 || s.p[s.n - 1] != 'j')
		return false;
	s.n--;
	size_t cut = s.n; /* the sign between both parts: not the first, not an exponent's */
	while (--cut > 0 && !((s.p[cut] == '+' || s.p[cut] == '-') && (s.p[cut - 1] | 32) != 'e'))
		;
	return (!cut || fx_parse_float(slice_of(s.p, cut), re)) && fx_parse_float(slice_of(s.p + cut, s.n - cut), im);
}

/* ---- values ---- */

static void add_int(struct buf *b, int64_t v)
{
	if (v < 0)
		buf_addc(b, '-');
	buf_add_u64(b, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

static void add_device(struct buf *b, struct slice s)
{
	if (slice_is(s, "cpu")) {
		buf_adds(b, "device(type='cpu')");
		return;
	}
	const char *colon = slice_chr(s, ':');
	buf_adds(b, "device(type=");
	pytext_quote(b, slice_of(s.p, colon ? (size_t)(colon - s.p) : s.n));
	if (colon) {
		buf_adds(b, ", index=");
		buf_add(b, colon + 1, (size_t)(s.p + s.n - colon - 1));
	}
	buf_addc(b, ')');
}

/* Like repr() if Python parses that as the same number: "(nan+nanj)" is not one, and -1j is -0.0-1j. */
static void add_complex(struct buf *b, struct slice s)
{
	double re, im;
	if (fx_parse_complex(s, &re, &im) && (!isfinite(re) || !isfinite(im) || (re == 0 && (signbit(re) || signbit(im))))) {
		buf_adds(b, "complex(");
		fx_add_float(b, re);
		buf_adds(b, ", ");
		fx_add_float(b, im);
		buf_addc(b, ')');
	} else {
		buf_add_slice(b, s);
	}
}

static void add_leaf(const struct graph *g, struct gvalue v, struct buf *b)
{
	switch ((enum gvalue_kind)v.kind) {
	case GV_NONE: buf_add(b, "None", 4); break;
	case GV_BOOL: v.i ? buf_adds(b, "True") : buf_adds(b, "False"); break;
	case GV_INT: add_int(b, v.i); break;
	case GV_FLOAT: fx_add_float(b, v.f); break;
	case GV_COMPLEX: add_complex(b, graph_text(g, v.text)); break;
	case GV_STR: pytext_quote(b, graph_text(g, v.text)); break;
	case GV_NODE: buf_add_slice(b, graph_name(g, v.node)); break;
	case GV_ELLIPSIS: buf_add(b, "Ellipsis", 8); break;
	case GV_DEVICE: add_device(b, graph_text(g, v.text)); break;
	default: buf_add_slice(b, graph_text(g, v.text)); break;
	}
}

static void open_sequence(struct buf *b, uint8_t kind)
{
	if (kind == GV_SLICE)
		buf_adds(b, "slice(");
	else
		buf_addc(b, kind == GV_LIST ? '[' : kind == GV_TUPLE ? '(' : '{');
}

static void close_sequence(struct buf *b, const struct gvalue *s)
{
	if (s->kind == GV_TUPLE && s->n == 1)
		buf_addc(b, ',');
	buf_addc(b, s->kind == GV_LIST ? ']' : s->kind == GV_DICT ? '}' : ')');
}

static bool is_sequence(uint8_t kind) { return kind == GV_LIST || kind == GV_TUPLE || kind == GV_DICT || kind == GV_SLICE; }

void fx_add_value(const struct graph *g, const struct slice *names, struct gvalue v, struct buf *b)
{
	struct {
		struct gvalue v;
		uint32_t at;
	} stack[GRAPH_MAX_DEPTH];
	unsigned depth = 0;
	for (;;) {
		if (v.kind == GV_NODE && names) {
			buf_add_slice(b, names[v.node]);
		} else if (!is_sequence(v.kind)) {
			add_leaf(g, v, b);
		} else if (depth < GRAPH_MAX_DEPTH) {
			open_sequence(b, v.kind);
			stack[depth].v = v;
			stack[depth++].at = 0;
		}
		while (depth && stack[depth - 1].at == stack[depth - 1].v.n)
			close_sequence(b, &stack[--depth].v);
		if (!depth)
			return;
		const struct gvalue *s = &stack[depth - 1].v;
		const uint32_t at = stack[depth - 1].at++;
		if (at)
			buf_add(b, s->kind == GV_DICT && at % 2 ? ": " : ", ", 2);
		v = g->value[s->first + at];
	}
}

void fxcode_value(const struct graph *g, struct gvalue v, struct buf *b) { fx_add_value(g, NULL, v, b); }
