/* symrange.c - ranges of symbols: "VR[2, int_oo]". */
#include "base/sym/symsize_part.h"

static bool parse_end(struct slice s, bool low, int64_t *v, bool *inf)
{
	s = slice_trim(s);
	bool neg = s.n && s.p[0] == '-';
	struct slice a = neg ? slice_of(s.p + 1, s.n - 1) : s;
	uint64_t u;
	*inf = false;
	*v = 0;
	if (slice_is(a, "int_oo") || slice_is(a, "oo") || slice_is(a, "inf")) {
		*inf = true;
		return neg == low; /* [int_oo, int_oo] is empty */
	}
	if (slice_is(s, "True") || slice_is(s, "False")) {
		*v = s.n == 4;
		return true;
	}
	if (!slice_u64(a, &u) || u > (uint64_t)INT64_MAX + neg)
		return false;
	*v = neg ? (int64_t)(0 - u) : (int64_t)u;
	return true;
}

int symrange_parse(struct slice text, struct symrange *out, struct err *err)
{
	const struct slice whole = slice_trim(text);
	struct slice s = whole;
	struct slice lo = {0}, hi = {0};
	static const char head[] = "ValueRanges(lower=", middle[] = "upper=";
	bool named_form = slice_starts(s, head) && slice_ends(s, ")");
	if (named_form) {
		s = slice_of(s.p + sizeof(head) - 1, s.n - sizeof(head));
	} else {
		if (slice_starts(s, "VR"))
			s = slice_of(s.p + 2, s.n - 2);
		if (s.n < 2 || s.p[0] != '[' || s.p[s.n - 1] != ']')
			return err_set(err, EXIT_INPUT, "invalid range: '%.*s'", SLN(whole, 200));
		s = slice_of(s.p + 1, s.n - 2);
	}
	const char *comma = slice_chr(s, ',');
	if (comma) {
		lo = slice_of(s.p, (size_t)(comma - s.p));
		hi = slice_trim(slice_of(comma + 1, s.n - lo.n - 1));
	}
	if (named_form && slice_starts(hi, middle)) {
		hi = slice_of(hi.p + sizeof(middle) - 1, hi.n - (sizeof(middle) - 1));
		const char *more = slice_chr(hi, ',');
		if (more)
			hi.n = (size_t)(more - hi.p);
	} else if (named_form) {
		comma = NULL;
	}
	struct symrange r;
	if (!comma || !parse_end(lo, true, &r.lo, &r.lo_inf) || !parse_end(hi, false, &r.hi, &r.hi_inf))
		return err_set(err, EXIT_INPUT, "not a range of integers: '%.*s'", SLN(whole, 200));
	if (!r.lo_inf && !r.hi_inf && r.lo > r.hi)
		return err_set(err, EXIT_INPUT, "empty range: '%.*s'", SLN(whole, 200));
	*out = r;
	return 0;
}

void symrange_print(struct symrange r, struct buf *b)
{
	buf_addc(b, '[');
	if (r.lo_inf)
		buf_adds(b, "-int_oo");
	else
		sym_print_i64(r.lo, b);
	buf_adds(b, ", ");
	if (r.hi_inf)
		buf_adds(b, "int_oo");
	else
		sym_print_i64(r.hi, b);
	buf_addc(b, ']');
}

bool symrange_eq(struct symrange a, struct symrange b)
{
	return a.lo_inf == b.lo_inf && a.hi_inf == b.hi_inf && (a.lo_inf || a.lo == b.lo) && (a.hi_inf || a.hi == b.hi);
}

bool symrange_intersect(struct symrange a, struct symrange b, struct symrange *out)
{
	struct symrange r = a;
	if (!b.lo_inf && (a.lo_inf || b.lo > a.lo)) {
		r.lo = b.lo;
		r.lo_inf = false;
	}
	if (!b.hi_inf && (a.hi_inf || b.hi < a.hi)) {
		r.hi = b.hi;
		r.hi_inf = false;
	}
	if (!r.lo_inf && !r.hi_inf && r.lo > r.hi)
		return false;
	*out = r;
	return true;
}
