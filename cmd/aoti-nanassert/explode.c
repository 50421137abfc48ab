/* explode.c - --explode: which tensor of a training run left its usual range first, and in which run. */
#include "nanassert.h"

#include "base/text.h"

#include <math.h>

/* A tensor's usual range is that of the first two thirds of its runs so far, at least of five, at most of all but the last CURVE; it has
 * left it if its largest magnitude is TIMES larger. So what grows as training goes, a bias from 0, logits, a weight under Adam, is not
 * reported, and what multiplies from run to run is. */
enum { USUAL_RUNS = 5, TIMES = 10, ZERO_RUNS = 3, CURVE = 32 };
/* Shares of zeros: units are dead if nearly all of what they give is 0 although it was not. */
#define MANY_ZEROS 0.95
#define USUAL_ZEROS 0.7
#define MAX_SERIES (1u << 16)

/* What a tensor of a graph was, run by run. */
struct series {
	uint32_t seen;       /* runs with a number other than 0 */
	uint32_t zeros;      /* runs in a row in which it was entirely 0, after that */
	uint32_t many;       /* ... nearly entirely */
	uint32_t infinite;   /* runs in a row with infinities: a GradScaler's are single */
	uint32_t first_bad;  /* run; NONE */
	uint32_t n, n_usual; /* finite runs; those of them in the usual range */
	double usual;
	double usual_zeros;  /* the largest share of zeros in the first USUAL_RUNS */
	double curve[CURVE]; /* largest magnitudes of the last runs */
	uint32_t n_curve;
};

struct exploded {
	struct intern names; /* model, call, buffer */
	struct series *series;
	size_t cap;
	struct explosion {
		bool zero;
		uint32_t series, run, call, model, pid;
		uint64_t order; /* in time: a run's own number precedes those of its calls */
		struct slice graph, kernel, tensor, kind, line;
		uint32_t runs; /* in the usual range */
		double value, zeros, usual;
	} * found;
	size_t n, cap_found;
	struct arena arena;
	uint64_t runs;
};

struct exploded *exploded_new(void) { return xcalloc(1, sizeof(struct exploded)); }

void exploded_free(struct exploded *e)
{
	if (!e)
		return;
	intern_release(&e->names);
	free(e->series);
	free(e->found);
	arena_release(&e->arena);
	free(e);
}

size_t exploded_n(const struct exploded *e) { return e ? e->n : 0; }

static struct series *series_of(struct exploded *e, const struct watch_call *c, const struct watch_value *v, uint32_t *at)
{
	struct buf key = {0};
	const bool run = c->begin.what == CALL_RUN_BEGIN;
	buf_addf(&key, "%u %u %u %u %s", c->begin.model, run ? NONE : c->begin.call, v->rec.v.arg, v->rec.v.before, v->name);
	const uint32_t had = e->names.n;
	const uint32_t i = had < MAX_SERIES ? intern_add(&e->names, buf_slice(&key)) : intern_find(&e->names, buf_slice(&key));
	buf_release(&key);
	if (i == NONE)
		return NULL;
	GROW(e->series, had, e->cap, 1);
	if (i == had)
		e->series[i] = (struct series){.first_bad = NONE};
	*at = i;
	return &e->series[i];
}

/* "the weight fc.weight", "the gradient ...": what a person calls it. */
static const char *kind_of(const struct watch_call *c, const struct watch_value *v)
{
	const bool backward = c->model && slice_ends(slice_str(c->model->path), "_backward");
	if (v->value && v->value->kind == VALUE_CONSTANT)
		return "weight";
	if (v->rec.v.role == CALL_ROLE_MODEL_INPUT)
		return "input";
	return backward ? "gradient" : "activation";
}

/* The innermost line of the user's program that the call computes something of. */
static struct slice line_of(const struct watch_call *c)
{
	const struct contract *k = c->model ? &c->model->contract : NULL;
	const struct nan_kernel *from = c->contract ? nan_sources_of(watch_sources(c->model), k, (uint32_t)(c->contract - k->call)) : NULL;
	return from && from->n_lines ? from->line[from->n_lines - 1] : (struct slice){0};
}

static void add_explosion(struct exploded *e, const struct watch_call *c, const struct watch_value *v, uint32_t series, bool zero,
			  double value, double zeros)
{
	struct explosion *x = &PUSH_TO(e->found, e->n, e->cap_found);
	struct slice path = watch_path(c, v);
	if (!path.n && c->begin.what == CALL_RUN_BEGIN && v->rec.v.role == CALL_ROLE_MODEL_INPUT && c->model &&
	    v->rec.v.arg < c->model->contract.n_inputs)
		path = c->model->contract.input[v->rec.v.arg].path;
	*x = (struct explosion){
	    .zero = zero,
	    .series = series,
	    .run = c->begin.run,
	    .order = c->begin.seq,
	    .call = c->begin.call,
	    .model = c->begin.model,
	    .pid = c->begin.pid,
	    .graph = arena_slice(&e->arena, slice_str(c->model ? c->model->path : "")),
	    .kernel = arena_slice(&e->arena, slice_str(c->begin.what == CALL_RUN_BEGIN ? "" : c->name)),
	    .tensor = arena_slice(&e->arena, path.n ? path : slice_str(v->name)),
	    .kind = slice_str(kind_of(c, v)),
	    .line = arena_slice(&e->arena, line_of(c)),
	    .value = value,
	    .zeros = zeros,
	    .usual = e->series[series].usual,
	    .runs = e->series[series].n_usual,
	};
}

/* Another finite run. */
static void take_magnitude(struct series *s, double most)
{
	if (s->n_curve == CURVE)
		memmove(s->curve, s->curve + 1, (CURVE - 1) * sizeof(*s->curve));
	s->curve[s->n_curve < CURVE ? s->n_curve++ : CURVE - 1] = most;
	s->n++;
	/* Whatever leaves the curve with the next run has been taken. */
	while (s->n_usual < s->n && (s->seen < USUAL_RUNS || s->n_usual < s->n - s->n / 3 || s->n_usual + CURVE <= s->n))
		s->usual = fmax(s->usual, s->curve[s->n_usual++ - (s->n - s->n_curve)]);
}

static void take_value(struct exploded *e, const struct watch_call *c, const struct watch_value *v)
{
	const struct tensor_stats *t = &v->rec.v.stats;
	const struct dtype_info *d = dtype_info(v->rec.v.dtype);
	const bool real = d && (strstr(d->name, "float") || strstr(d->name, "complex"));
	uint32_t at;
	struct series *s = t->known && t->n && real ? series_of(e, c, v, &at) : NULL;
	if (!s || s->first_bad != NONE)
		return;
	const bool inf = t->nan || t->pos_inf || t->neg_inf;
	const double most = fmax(fabs(t->min), fabs(t->max)), zeros = (double)t->zero / (double)t->n;
	s->infinite = inf ? s->infinite + 1 : 0;
	s->zeros = s->seen && t->zero == t->n ? s->zeros + 1 : 0;
	s->many = s->seen && zeros >= MANY_ZEROS && s->usual_zeros <= USUAL_ZEROS ? s->many + 1 : 0;
	const bool gone = s->seen >= USUAL_RUNS && (s->infinite >= 2 || (!inf && most > TIMES * s->usual));
	const bool dead = s->seen >= USUAL_RUNS && (s->zeros >= ZERO_RUNS || s->many >= ZERO_RUNS) && t->n > 1;
	if (gone || dead) {
		s->first_bad = c->begin.run;
		add_explosion(e, c, v, at, dead, inf ? INFINITY : most, zeros);
	}
	if (!inf)
		take_magnitude(s, most);
	if (!inf && most > 0 && s->seen < USUAL_RUNS) {
		s->seen++;
		s->usual_zeros = fmax(s->usual_zeros, zeros);
	}
}

void exploded_take(struct exploded *e, const struct watch_call *c)
{
	/* What an optimizer keeps grows from 0 by design. */
	const bool step = c->model && c->model->text && slice_ends(slice_str(c->model->path), "_inference");
	e->runs += c->begin.what == CALL_RUN_BEGIN;
	for (uint32_t i = 0; i < c->n_values && !step; i++) {
		const struct call_value *v = &c->value[i].rec.v;
		const bool written = !v->before && (v->role == CALL_ROLE_OUT || v->role == CALL_ROLE_INOUT);
		if (c->begin.what == CALL_RUN_BEGIN ? v->role == CALL_ROLE_MODEL_INPUT : written)
			take_value(e, c, &c->value[i]);
	}
}

/* In order of time; what is all zeros comes last. */
static int by_time(const void *a, const void *b)
{
	const struct explosion *x = a, *y = b;
	if (x->zero != y->zero)
		return x->zero - y->zero;
	return x->order != y->order ? (x->order < y->order ? -1 : 1) : x->series < y->series ? -1 : x->series > y->series;
}

static void add_number(struct buf *b, double v) { buf_addf(b, isinf(v) ? "inf" : "%.3g", v); }

/* The largest magnitudes of the last runs, by their logarithms. */
static void show_curve(struct screen *s, const struct series *of)
{
	static const char *const bar[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	double least = INFINITY, most = 0;
	for (uint32_t i = 0; i < of->n_curve; i++)
		if (of->curve[i] > 0) {
			least = fmin(least, of->curve[i]);
			most = fmax(most, of->curve[i]);
		}
	if (!s->utf8 || of->n_curve < 3 || !(least < most))
		return;
	buf_adds(&s->b, "  curve    ");
	for (uint32_t i = 0; i < of->n_curve; i++) {
		const double at = of->curve[i] > 0 ? log(of->curve[i] / least) / log(most / least) : 0;
		buf_adds(&s->b, bar[(int)(at * (ARRAY_LEN(bar) - 1) + 0.5)]);
	}
	buf_adds(&s->b, "  from ");
	add_number(&s->b, least);
	buf_adds(&s->b, " to ");
	add_number(&s->b, most);
	buf_adds(&s->b, ", logarithmic\n");
}

static void show_one(struct screen *s, const struct exploded *e, const struct explosion *x)
{
	const struct series *of = &e->series[x->series];
	struct buf title = {0};
	const uint32_t since = x->zero ? x->run - (ZERO_RUNS - 1) : x->run;
	buf_addf(&title, "%.*s %.*s ", SL(x->kind), SL(x->tensor));
	if (x->zero && x->zeros < 1)
		buf_addf(&title, "is 0 in %.3g %% of its elements from", 100 * x->zeros);
	else
		buf_adds(&title, x->zero ? "is all zeros from" : "left its usual range in");
	buf_addf(&title, " run %u of %.*s", since, SL(x->graph));
	put_error(s, buf_str(&title));
	buf_addf(&s->b, "\n  range    up to ");
	add_number(&s->b, x->usual);
	buf_addf(&s->b, " in its first %u runs, ", x->runs);
	add_number(&s->b, x->value);
	buf_adds(&s->b, " now\n");
	if (x->kernel.n)
		buf_addf(&s->b, "  kernel   %.*s (call %u)\n", SL(x->kernel), x->call);
	if (x->line.n) {
		buf_adds(&s->b, "  Python   ");
		put_style_text(s, STYLE_LINE, x->line);
		buf_addc(&s->b, '\n');
	}
	show_curve(s, of);
	if (of->n_curve > 1) {
		buf_adds(&s->b, "  before  ");
		for (uint32_t i = of->n_curve > 8 ? of->n_curve - 8 : 0; i < of->n_curve; i++)
			buf_addc(&s->b, ' '), add_number(&s->b, of->curve[i]);
		buf_addc(&s->b, '\n');
	}
	buf_release(&title);
}

void exploded_show(struct screen *s, struct exploded *e, bool all)
{
	if (e->n)
		qsort(e->found, e->n, sizeof(*e->found), by_time);
	for (size_t i = 0; i < e->n && (all || !i); i++)
		show_one(s, e, &e->found[i]);
	if (!e->n)
		buf_addf(&s->b, "no tensor left its usual range in %llu runs of graphs\n", (unsigned long long)e->runs);
	else if (!all && e->n > 1)
		buf_addf(&s->b, "%zu more tensor%s later (--all shows them)\n", e->n - 1, plural(e->n - 1));
}

void exploded_document(struct json_out *o, struct exploded *e)
{
	if (e->n)
		qsort(e->found, e->n, sizeof(*e->found), by_time);
	json_member_arr(o, "explosions");
	for (size_t i = 0; i < e->n; i++) {
		const struct explosion *x = &e->found[i];
		json_obj(o);
		json_member(o, "kind", x->kind);
		json_member(o, "tensor", x->tensor);
		json_member(o, "model", x->graph);
		json_member_u64(o, "pid", x->pid);
		json_member(o, "kernel", x->kernel);
		json_member_u64(o, "run", x->run);
		json_member_bool(o, "zero", x->zero);
		json_member_real(o, "usual", x->usual);
		json_member_float(o, "value", x->value);
		json_member_real(o, "zeros", x->zeros);
		json_member_some(o, "python", x->line);
		json_member_arr(o, "curve");
		for (uint32_t k = 0; k < e->series[x->series].n_curve; k++) {
			char number[32];
			snprintf(number, sizeof(number), "%.9g", e->series[x->series].curve[k]); /* finite */
			json_out_raw(o, slice_str(number));
		}
		json_close(o);
		json_close(o);
	}
	json_close(o);
}
