/* compare_compiles.c - compilations: which exist, how long they take, their metrics. */
#include "compare/compare_part.h"
#include "run/metrics.h"

#define LONG_ENOUGH 0.02   /* seconds: less is noise */
enum { PAIRS_ENOUGH = 4 }; /* compilations needed to judge the machine */

void compare_compiles(struct compare *c, bool recompiles)
{
	for (uint32_t i = 0; i < c->n_pair; i++) {
		const struct compare_pair p = c->pair[i];
		const struct compare_unit *a = p.a == NONE ? NULL : &c->a->unit[p.a], *b = p.b == NONE ? NULL : &c->b->unit[p.b];
		struct slice ra = a ? compare_reason(c->a, a) : slice_of("", 0), rb = b ? compare_reason(c->b, b) : slice_of("", 0);
		if (a && b) {
			if (recompiles && compare_unit_key(c->a, a) != compare_unit_key(c->b, b))
				compare_row(c, COMPARE_RECOMPILE, HOW_CHANGED, i, slice_of("", 0), ra, rb);
			continue;
		}
		const struct compare_log *l = b ? c->b : c->a;
		const struct compare_unit *u = b ? b : a;
		const struct fact_attempt *last = compare_last(l, (uint32_t)(u - l->unit));
		if (l->frame[u->frame].none && u->compile < 0 && !last->artifacts)
			continue; /* a few events outside any compilation */
		if (recompiles != (u->compile > 0))
			continue;
		struct compare_change *x =
		    compare_row(c, recompiles ? COMPARE_RECOMPILE : COMPARE_COMPILE, compare_side_how(b != NULL), i,
				recompiles ? slice_of("", 0) : compare_name(l, l->frame[u->frame].loc.function), ra, rb);
		if (u->seconds > 0)
			x->seconds = b ? u->seconds : -u->seconds;
	}
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* Adds how long something took before and after. */
static void time_row(struct compare *c, bool slower, uint32_t pair, struct slice subject, double a, double b)
{
	char before[32], after[32];
	snprintf(before, sizeof(before), "%.3f", a);
	snprintf(after, sizeof(after), "%.3f", b);
	struct compare_change *x =
	    compare_row(c, COMPARE_TIME, slower ? HOW_SLOWER : HOW_FASTER, pair, subject, slice_str(before), slice_str(after));
	x->seconds = b - a;
}

static double times_of(const struct compare_pair *p) { return p->seconds[1] / p->seconds[0]; }

/* Another machine is slower at everything: reports the ratio once, and compares the rest with it. 1: same machine. */
static double whole_ratio(struct compare *c)
{
	double *ratio = xcalloc(c->n_pair + 1u, sizeof(*ratio)), sum[2] = {0}, is = 1;
	uint32_t n = 0, alike = 0;
	for (uint32_t i = 0; i < c->n_pair; i++) {
		const struct compare_pair *p = &c->pair[i];
		if (p->a == NONE || p->b == NONE || p->seconds[0] < LONG_ENOUGH || p->seconds[1] < LONG_ENOUGH)
			continue;
		ratio[n++] = times_of(p);
		sum[0] += p->seconds[0];
		sum[1] += p->seconds[1];
	}
	if (n >= PAIRS_ENOUGH) {
		qsort(ratio, n, sizeof(*ratio), by_number);
		is = ratio[n / 2];
		for (uint32_t i = 0; i < n; i++)
			alike += ratio[i] > is / 2 && ratio[i] < is * 2;
	}
	free(ratio);
	if (4 * alike < 3 * n || (is < COMPARE_RATIO && is > 1 / COMPARE_RATIO))
		return 1;
	LOCAL_BUF b = {0};
	buf_addf(&b, "everything %.1f times %s", is > 1 ? is : 1 / is, is > 1 ? "slower" : "faster");
	time_row(c, is > 1, NONE, buf_slice(&b), sum[0], sum[1]);
	return is;
}

void compare_times(struct compare *c)
{
	double whole = whole_ratio(c), factor = whole != 1 ? 2 : COMPARE_RATIO; /* if similar: whole_ratio */
	for (uint32_t i = 0; i < c->n_pair; i++) {
		struct compare_pair *p = &c->pair[i];
		double a = p->seconds[0], b = p->seconds[1], as = a * whole, d = b - as;
		if (p->a == NONE || p->b == NONE || a < 0 || b < 0 || (d < 0 ? -d : d) < COMPARE_SECONDS ||
		    (b > as ? b < as * factor : as < b * factor))
			continue;
		p->timed = true;
		time_row(c, d > 0, i, slice_of("", 0), a, b);
	}
}

/* "fx_graph miss, aotautograd hit": the results of a unit's caches, in order. */
static void cache_results(const struct compare_log *l, uint32_t unit, struct buf *b)
{
	const struct compare_unit *u = &l->unit[unit];
	for (uint32_t i = u->first; i < u->last; i++)
		for (uint32_t k = l->t.f->attempt[l->attempt[i]].first_artifact; k != NONE; k = l->t.artifact[k].next) {
			const struct trace_artifact *a = &l->t.artifact[k];
			struct slice name = compare_name(l, a->name);
			const char *cache = slice_find(name, "_cache_");
			if (!(a->flags & (ART_HIT | ART_MISS | ART_BYPASS)) || !cache || b->len > 400)
				continue;
			if (b->len)
				buf_adds(b, ", ");
			buf_add(b, name.p, (size_t)(cache - name.p));
			buf_adds(b, a->flags & ART_HIT ? " hit" : a->flags & ART_MISS ? " miss" : " bypass");
		}
}

void compare_caches(struct compare *c)
{
	for (uint32_t i = 0; i < c->n_pair; i++) {
		struct buf t[2] = {{0}};
		if (!compare_is_matched(c, i))
			continue;
		cache_results(c->a, c->pair[i].a, &t[0]);
		cache_results(c->b, c->pair[i].b, &t[1]);
		if (!slice_eq(buf_slice(&t[0]), buf_slice(&t[1])))
			compare_row(c, COMPARE_CACHE, HOW_CHANGED, i, slice_of("", 0), buf_slice(&t[0]), buf_slice(&t[1]));
		buf_release(&t[0]);
		buf_release(&t[1]);
	}
}

static void metric_row(struct compare *c, uint32_t pair, struct slice name, struct slice before, struct slice after)
{
	compare_row(c, COMPARE_METRIC, HOW_CHANGED, pair, name, before, after);
}

static struct slice attempts_text(struct compare *c, const struct compare_unit *u)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", u->last - u->first);
	return arena_slice(&c->arena, slice_of(text, (size_t)n));
}

/* The elements of a list, in any order: sets of Python. */
static uint64_t list_hash(struct slice s)
{
	uint64_t sum = 0;
	for (size_t i = 0, from = 0; i <= s.n; i++)
		if (i == s.n || s.p[i] == ',' || s.p[i] == '[' || s.p[i] == ']') {
			struct slice item = slice_trim(slice_of(s.p + from, i - from));
			sum += item.n ? hash_slice(item) | 1 : 0;
			from = i + 1;
		}
	return sum;
}

static bool same_metric(struct compare *c, enum metric_id id, struct slice a, struct slice b)
{
	if (slice_eq(a, b) || (slice_ends(metric_info[id].name, "_ops") && list_hash(a) == list_hash(b)))
		return true;
	return normal_hash(&c->normal, a) == normal_hash(&c->normal, b);
}

/* Metrics that are the same on every run, unless the work differs. */
static const enum metric_id metric_compared[] = {METRIC_graph_op_count,
						 METRIC_graph_node_count,
						 METRIC_graph_input_count,
						 METRIC_guard_count,
						 METRIC_shape_env_guard_count,
						 METRIC_ir_count,
						 METRIC_num_graph_breaks,
						 METRIC_param_count,
						 METRIC_param_numel,
						 METRIC_param_bytes,
						 METRIC_non_compliant_ops,
						 METRIC_compliant_custom_ops,
						 METRIC_has_guarded_code,
						 METRIC_specialize_float,
						 METRIC_config_suppress_errors,
						 METRIC_config_inline_inbuilt_nn_modules,
						 METRIC_tensorify_float_success,
						 METRIC_tensorify_float_failure,
						 METRIC_graph_node_shapes,
						 METRIC_is_forward};

/* A metric of a compilation's last attempt: its own last record, not one of a backward. */
static struct slice metric_of(const struct facts *f, const struct fact_attempt *last, enum metric_id id)
{
	const struct fact_compile *c = last->compile == NONE ? NULL : &f->compile[last->compile];
	for (uint32_t i = c ? c->first_metric + c->n_metric : 0; c && i-- > c->first_metric;)
		if (f->metric[i].known == id && !f->metric[i].backward && !f->metric[i].runtime)
			return facts_text(f, f->metric[i].value);
	return slice_of("", 0);
}

void compare_metrics(struct compare *c)
{
	static const char *const status[] = {"missing", "ok", "empty", "break", "error"};
	for (uint32_t i = 0; i < c->n_pair; i++) {
		if (!compare_is_matched(c, i))
			continue;
		const struct compare_unit *a = &c->a->unit[c->pair[i].a], *b = &c->b->unit[c->pair[i].b];
		const struct fact_attempt *x = compare_last(c->a, c->pair[i].a), *y = compare_last(c->b, c->pair[i].b);
		if (x->status != y->status)
			metric_row(c, i, SLICE("status"), slice_str(status[x->status]), slice_str(status[y->status]));
		if (a->last - a->first != b->last - b->first)
			metric_row(c, i, SLICE("attempts"), attempts_text(c, a), attempts_text(c, b));
		for (unsigned k = 0; k < ARRAY_LEN(metric_compared); k++) {
			enum metric_id id = metric_compared[k];
			struct slice before = metric_of(c->a->t.f, x, id), after = metric_of(c->b->t.f, y, id);
			if (before.n && after.n && !same_metric(c, id, before, after))
				metric_row(c, i, metric_info[id].name, before, after);
		}
	}
}
