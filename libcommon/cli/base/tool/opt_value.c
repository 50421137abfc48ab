/* opt_value.c - what an option is set to: numbers, sizes, choices, lists. */
#include "base/tool/opt_part.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>

static int parse_i64(const char *s, int64_t *out)
{
	bool neg = *s == '-';
	uint64_t v;
	if (!slice_u64(slice_str(s + (neg || *s == '+')), &v) || v > (uint64_t)INT64_MAX + neg)
		return -1;
	*out = neg ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

static int parse_size(const char *s, bool unit_allowed, uint64_t *out)
{
	struct slice digits = slice_str(s);
	unsigned shift = 0;
	if (unit_allowed && digits.n) {
		static const char units[] = "KMGT";
		const char *u = strchr(units, toupper((unsigned char)digits.p[digits.n - 1]));
		if (u && *u) {
			shift = 10 * (unsigned)(u - units + 1);
			digits.n--;
		}
	}
	if (!slice_u64(digits, out) || *out > UINT64_MAX >> shift)
		return -1;
	*out <<= shift;
	return 0;
}

static int set_int(const struct opt *o, const char *value, const char *name, struct err *err)
{
	int64_t v;
	if (parse_i64(value, &v) < 0)
		return err_set(err, EXIT_USAGE, "option '%s' needs a whole number, not '%s'", name, value);
	int64_t lo = INT_MIN, hi = INT_MAX;
	if (o->imin || o->imax) {
		lo = o->imin;
		hi = o->imax;
	}
	if (v < lo || v > hi)
		return err_set(err, EXIT_USAGE, "option '%s' needs a number from %lld to %lld, not '%s'", name, (long long)lo,
			       (long long)hi, value);
	*(int *)o->target = (int)v;
	return 0;
}

static int set_u64(const struct opt *o, const char *value, const char *name, struct err *err)
{
	uint64_t v;
	bool unit = o->type == OPT_T_SIZE;
	if (parse_size(value, unit, &v) < 0)
		return err_set(err, EXIT_USAGE, "option '%s' needs a whole number%s, not '%s'", name,
			       unit ? ", optionally with K, M, G or T" : "", value);
	if ((o->umin || o->umax) && (v < o->umin || v > o->umax))
		return err_set(err, EXIT_USAGE, "option '%s' needs a number from %llu to %llu, not '%s'", name, (unsigned long long)o->umin,
			       (unsigned long long)o->umax, value);
	*(uint64_t *)o->target = v;
	return 0;
}

static int set_double(const struct opt *o, const char *value, const char *name, struct err *err)
{
	char *end;
	double v = strtod(value, &end);
	if (end == value || *end || isspace((unsigned char)*value) || !isfinite(v))
		return err_set(err, EXIT_USAGE, "option '%s' needs a number, not '%s'", name, value);
	if ((o->dmin != 0 || o->dmax != 0) && (v < o->dmin || v > o->dmax))
		return err_set(err, EXIT_USAGE, "option '%s' needs a number from %g to %g, not '%s'", name, o->dmin, o->dmax, value);
	*(double *)o->target = v;
	return 0;
}

static int set_choice(const struct opt *o, const char *value, const char *name, struct err *err)
{
	LOCAL_BUF b = {0};
	struct opt_guess g = {.word = slice_str(value)};
	for (int i = 0; o->choices[i]; i++) {
		if (!strcmp(o->choices[i], value)) {
			*(int *)o->target = i;
			return 0;
		}
		buf_addf(&b, "%s%s", i ? ", " : "", o->choices[i]);
		opt_guess(&g, o->choices[i]);
	}
	FREED char *meant = opt_guess_text(&g);
	return err_set(err, EXIT_USAGE, "option '%s' must be one of %s, not '%s'%s", name, buf_str(&b), value, meant);
}

int opt_apply(const struct opt *o, const char *name, const char *value, struct err *err)
{
	switch (o->type) {
	case OPT_T_END:
	case OPT_T_HEADING: break;
	case OPT_T_FLAG: *(bool *)o->target = true; break;
	case OPT_T_COUNT:
		if (*(int *)o->target < INT_MAX)
			++*(int *)o->target;
		break;
	case OPT_T_INT: return set_int(o, value, name, err);
	case OPT_T_U64:
	case OPT_T_SIZE: return set_u64(o, value, name, err);
	case OPT_T_DOUBLE: return set_double(o, value, name, err);
	case OPT_T_STRING: *(const char **)o->target = value ? value : ""; break;
	case OPT_T_CHOICE: return set_choice(o, value, name, err);
	case OPT_T_LIST: {
		struct opt_list *l = o->target;
		PUSH_TO(l->v, l->n, l->cap) = value;
		break;
	}
	case OPT_T_PAIRS: {
		struct opt_pairs *p = o->target;
		const char *eq = strchr(value, '=');
		if (!eq || eq == value)
			return err_set(err, EXIT_USAGE, "option '%s' needs %s, not '%s'", name, o->arg, value);
		PUSH_TO(p->v, p->n, p->cap) = (struct opt_pair){slice_of(value, (size_t)(eq - value)), eq + 1};
		break;
	}
	case OPT_T_CALL: {
		struct err inner = {.status = EXIT_USAGE};
		if (o->call(o->target, value, &inner) < 0)
			return err_set(err, EXIT_USAGE, "option '%s': %s", name, inner.text);
		break;
	}
	}
	return 0;
}

void opt_list_release(struct opt_list *l)
{
	free(l->v);
	*l = (struct opt_list){0};
}

void opt_pairs_release(struct opt_pairs *p)
{
	free(p->v);
	*p = (struct opt_pairs){0};
}
