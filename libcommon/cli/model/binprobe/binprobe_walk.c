/* Runs the model until it has no complaint, and then again with other sizes, to find formulas.
 *
 * First check_input: every size starts out impossible, so that there is a complaint about each. Then sizes that are
 * free get different primes, and assert_size_stride reveals what depends on them: those are derived. What remains free are
 * the sources. Runs that change one source, pairs, and all of them give the numbers for which binprobe_fit.c finds formulas. */
#include "model/binprobe/binprobe_child.h"

#define BAD_SIZE (-7)
#define BAD_STRIDE (-9)
#define HUGE_SIZE (1ll << 40)
#define MAX_PAIR_SOURCES 8
#define MAX_VALUES 5 /* of a source, one at a time */

enum settled { SETTLED, CONFLICT, STUCK };

/* ---- numbers to choose ---- */

static struct {
	int64_t v[8192];
	size_t n;
} used;

static bool is_used(int64_t v)
{
	for (size_t i = 0; i < used.n; i++)
		if (used.v[i] == v)
			return true;
	return false;
}

static void use(int64_t v)
{
	if (used.n < ARRAY_LEN(used.v) && !is_used(v))
		used.v[used.n++] = v;
}

static bool is_prime(int64_t v)
{
	for (int64_t d = 2; d * d <= v; d++)
		if (v % d == 0)
			return false;
	return v > 1;
}

enum { WANT_PRIME, WANT_EVEN, WANT_ANY };

static int64_t step_of(const struct bounds *b) { return b->step > 1 ? b->step : 1; }

int64_t bounds_index(const struct bounds *b, int64_t value)
{
	int64_t step = step_of(b), k = (value - b->rest) / step;
	return k * step > value - b->rest ? k - 1 : k;
}

static int64_t at_index(const struct bounds *b, int64_t k) { return step_of(b) * k + b->rest; }

/* A number within the bounds that occurs nowhere else, if possible. Small sizes mean special cases: from 5 on if possible.
 * -1 if all are used. For step*k + rest, k is prime or even. */
static int64_t pick(struct bounds b, int want)
{
	int64_t least = b.has_lo && b.lo > 2 ? b.lo : 2, lo = bounds_index(&b, least + step_of(&b) - 1);
	int64_t hi = b.has_hi ? bounds_index(&b, b.hi) : INT32_MAX;
	if (hi < lo)
		return b.has_hi && step_of(&b) == 1 && (!b.has_lo || b.lo <= b.hi) ? b.hi : -1;
	int64_t start = hi >= 16 && lo < 5 ? 5 : lo, end = hi - start > 20000 ? start + 20000 : hi;
	for (int pass = want; pass <= WANT_ANY; pass = WANT_ANY + (pass == WANT_ANY))
		for (int64_t k = pass == WANT_ANY ? lo : start; k <= end; k++) {
			int64_t v = at_index(&b, k);
			if ((pass == WANT_ANY || (pass == WANT_PRIME ? is_prime(k) : k % 2 == 0)) && !is_used(v)) {
				use(v);
				return v;
			}
		}
	return -1;
}

/* ---- check_input ---- */

static void start_inputs(void)
{
	for (uint32_t i = 0; i < world->n_inputs; i++) {
		struct model_input *in = &world->input[i];
		in->dtype = DTYPE_NONE;
		in->device = DEVICE_NONE;
		for (int d = 0; d < TENSOR_MAX_DIMS; d++) {
			in->shape.size[d] = BAD_SIZE;
			in->shape.stride[d] = BAD_STRIDE;
		}
	}
}

/* Handles a complaint of check_input; false if it is a different one, or nothing new. */
static bool take_check(const struct complaint *c)
{
	if (c->kind < SAID_DTYPE || c->kind > SAID_DEVICE)
		return false;
	struct model_input *in = &world->input[c->input];
	struct bounds *b = &in->bounds[c->dim];
	if (c->kind == SAID_DTYPE || c->kind == SAID_DEVICE) {
		bool *checked = c->kind == SAID_DTYPE ? &in->dtype_checked : &in->device_checked, was = *checked;
		*(c->kind == SAID_DTYPE ? &in->dtype : &in->device) = (int)c->expected;
		*checked = true;
		return !was;
	}
	if (c->dim >= in->n_mentioned)
		in->n_mentioned = c->dim + 1;
	uint8_t *state = c->kind == SAID_STRIDE ? &in->shape.stride_state[c->dim] : &in->shape.size_state[c->dim];
	int64_t *value = c->kind == SAID_STRIDE ? &in->shape.stride[c->dim] : &in->shape.size[c->dim];
	if (c->kind == SAID_SMALL) {
		if (b->has_lo)
			return false;
		*b = (struct bounds){.lo = c->expected, .has_lo = true};
		*value = HUGE_SIZE;
	} else if (c->kind == SAID_LARGE) {
		if (b->has_hi)
			return false;
		b->hi = *value = c->expected;
		b->has_hi = true;
	} else {
		if (*state == DIM_EXACT)
			return false;
		*state = DIM_EXACT;
		*value = c->expected;
		use(c->expected);
	}
	return true;
}

static void learn_checks(void)
{
	struct complaint c;
	do
		model_run(&c);
	while (take_check(&c));
	/* Sizes that were never compared, or only with an upper bound. */
	for (uint32_t i = 0; i < world->n_inputs; i++)
		for (int d = 0; d < TENSOR_MAX_DIMS; d++)
			if (world->input[i].shape.size[d] == BAD_SIZE)
				world->input[i].shape.size[d] = HUGE_SIZE;
	do
		model_run(&c);
	while (take_check(&c));
}

/* ---- free sizes ---- */

static int64_t halved(struct bounds b, int times)
{
	int64_t lo = b.has_lo ? b.lo : 2;
	return b.has_hi && b.hi > lo ? lo + ((b.hi - lo) >> times) : b.hi;
}

/* Smaller ones in later attempts: a size derived from a large one may be out of its bounds. */
static void choose_sizes(int attempt)
{
	int64_t odd = 100003;
	for (uint32_t i = 0; i < world->n_inputs; i++) {
		struct model_input *in = &world->input[i];
		if (!in->device_checked)
			in->device = world->device;
		for (int d = 0; d < TENSOR_MAX_DIMS; d++) {
			struct bounds b = in->bounds[d];
			if (in->shape.size_state[d] == DIM_EXACT)
				continue;
			in->shape.size_state[d] = DIM_FREE;
			b.hi = halved(b, attempt);
			int64_t v = d < in->n_mentioned ? pick(b, WANT_PRIME) : -1;
			in->shape.size[d] = v > 0 ? v : b.has_lo ? b.lo : b.has_hi ? b.hi : odd;
			odd += 2;
		}
	}
}

static int64_t *source_value(const struct source *s)
{
	switch (s->kind) {
	case SOURCE_INPUT: return &world->input[s->index].shape.size[s->dim];
	case SOURCE_MADE: return &world->made[s->index]->shape.size[s->dim];
	default: return &world->item[s->index].value;
	}
}

struct bounds *source_bounds(const struct source *s)
{
	switch (s->kind) {
	case SOURCE_INPUT: return &world->input[s->index].bounds[s->dim];
	case SOURCE_MADE: return &world->made[s->index]->bounds[s->dim];
	default: return &world->item[s->index].bounds;
	}
}

char *source_data_name(const struct source *s)
{
	if (s->kind == SOURCE_ITEM)
		return world->item[s->index].symbol;
	return s->dim < (int)ARRAY_LEN(world->made[0]->symbol) ? world->made[s->index]->symbol[s->dim] : NULL;
}

/* The source from data that currently has this value. */
static bool find_data(int64_t value, struct source *s)
{
	for (uint32_t k = 0; k < world->run.n_made; k++)
		for (int d = 0; d < TENSOR_MAX_DIMS; d++)
			if (world->made[k]->shape.read[d] && world->made[k]->shape.size_state[d] == DIM_FREE &&
			    world->made[k]->shape.size[d] == value) {
				*s = (struct source){.kind = SOURCE_MADE, .index = k, .dim = d};
				return true;
			}
	for (uint32_t k = 0; k < world->run.n_items; k++)
		if (world->item[k].value == value) {
			*s = (struct source){.kind = SOURCE_ITEM, .index = k};
			return true;
		}
	return false;
}

static bool is_symbol(const char *s) { return s[0] == 'u' && s[1] && strspn(s + 1, "0123456789") == strlen(s + 1); }

/* Records a bound of a number from data and its name; false if nothing is new. */
static bool take_bound(const struct complaint *c, const struct source *s)
{
	struct bounds *b = source_bounds(s);
	char *name = source_data_name(s);
	if (name && is_symbol(c->symbol))
		memcpy(name, c->symbol, sizeof(c->symbol));
	bool news = c->upper ? !b->has_hi || c->expected < b->hi : !b->has_lo || c->expected > b->lo;
	if (c->upper && news)
		b->hi = c->expected, b->has_hi = true;
	else if (news)
		b->lo = c->expected, b->has_lo = true;
	return news;
}

/* ---- until there is no complaint ---- */

/* An assertion disagrees with the rule about an operator's result: the program knows better. */
static void overrule(struct shape *s)
{
	if (!s->ruled || s->overruled)
		return;
	s->overruled = true;
	world_note("the program asserts a different shape for an operator's result than the operator's rule gives");
}

static bool adapt_shape(const struct complaint *c)
{
	struct shape *s = world->asked ? world->asked->shape : NULL;
	struct slice rest = slice_str(c->text);
	bool changed = false;
	int d;
	int64_t size, stride;
	while (s && complaint_next_dim(&rest, &d, &size, &stride)) {
		if (s->size[d] != size) {
			if (s->size_state[d] == DIM_EXACT)
				return false;
			overrule(s);
			s->size[d] = size;
			s->size_state[d] = DIM_DERIVED;
			changed = true;
		}
		if (s->stride[d] != stride) {
			if (s->stride_state[d] == DIM_EXACT)
				return false;
			if (s->stride_state[d] == DIM_DERIVED)
				overrule(s);
			s->stride[d] = stride;
			s->stride_state[d] = DIM_DERIVED;
			changed = true;
		}
	}
	return changed;
}

static enum settled adapt_type(const struct complaint *c)
{
	struct shape *s = world->asked ? fake_made_shape(world->asked) : NULL;
	if (!s || s->dtype == c->expected)
		return STUCK;
	s->dtype = (int)c->expected;
	return SETTLED;
}

static enum settled adapt(const struct complaint *c)
{
	struct source data;
	switch (c->kind) {
	case SAID_NOTHING: return SETTLED;
	case SAID_SIZE:
	case SAID_SMALL:
	case SAID_LARGE: return CONFLICT;
	case SAID_RANK:
		if (!world->asked || !world->asked->shape || world->asked->shape->n_dim == c->expected)
			return STUCK;
		overrule(world->asked->shape);
		world->asked->shape->n_dim = (int)c->expected;
		return SETTLED;
	case SAID_TYPE: return adapt_type(c);
	case SAID_SHAPE: return adapt_shape(c) ? SETTLED : STUCK;
	case SAID_BOUND:
		if (!find_data(c->received, &data) || !take_bound(c, &data))
			return STUCK;
		*source_value(&data) = pick(*source_bounds(&data), WANT_PRIME);
		if (*source_value(&data) < 0)
			*source_value(&data) = c->expected;
		return SETTLED;
	default: return STUCK;
	}
}

static enum settled settle_walk(struct walks *w)
{
	struct complaint c;
	uint32_t limit = 64 + 16 * world->n_inputs;
	for (uint32_t n = 0; n < limit + 8 * world->n_made; n++) {
		model_run(&c);
		enum settled s = adapt(&c);
		if (s == SETTLED && c.kind != SAID_NOTHING)
			continue;
		if (s != SETTLED)
			snprintf(w->stopped, sizeof(w->stopped), "%s",
				 world->weightless ? "it has no weights, and models of torch before 2.10 accept them from C++ only"
				 : c.text[0]       ? c.text
						   : "it failed without a message");
		if (world->run.overflow)
			s = STUCK;
		return s;
	}
	snprintf(w->stopped, sizeof(w->stopped), "its sizes contradict each other: %.900s", c.text);
	return STUCK;
}

bool walk_settles(struct walks *w) { return settle_walk(w) == SETTLED; }

/* ---- what was observed in a run ---- */

static uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9e3779b97f4a7c15ull ^ (h >> 29); }

uint64_t walk_hash_calls(void)
{
	const struct run *r = &world->run;
	uint64_t h = r->n_calls;
	for (uint32_t i = 0; i < r->n_calls; i++)
		for (const char *p = r->call[i].name; *p; p++)
			h = mix(h, (uint8_t)*p);
	return h;
}

static int dims_of(const struct fake *f) { return f->shape ? f->shape->n_dim : f->n_dim; }

static uint64_t hash_run(void)
{
	const struct run *r = &world->run;
	uint64_t h = mix(r->n_values, mix(r->n_calls, mix(r->n_storages, r->n_args)));
	for (uint32_t i = world->n_inputs + world->n_constants; i < r->n_values; i++) {
		const struct run_value *v = &r->value[i];
		h = mix(h, v->kind * 64u + v->storage + ((uint64_t)v->base << 32));
		h = mix(h, (uint64_t)dims_of(v->fake) * 128 + (uint64_t)v->fake->dtype);
	}
	h = mix(h, walk_hash_calls());
	for (uint32_t i = 0; i < r->n_args; i++)
		h = mix(h, r->arg[i].role + 8ull * r->arg[i].value);
	for (uint32_t i = 0; i < r->n_storages; i++)
		h = mix(h, r->storage[i].born + ((uint64_t)r->storage[i].dies << 32));
	return h;
}

struct numbers {
	int64_t *v;
	size_t n, cap;
};

static void add_number(struct numbers *a, int64_t v) { PUSH_TO(a->v, a->n, a->cap) = v; }

static void add_shape(struct numbers *a, const struct shape *s, int n_dim)
{
	for (int d = 0; d < n_dim; d++) {
		add_number(a, s->size[d]);
		add_number(a, s->stride_state[d] == DIM_FREE ? UNKNOWN : s->stride[d]);
	}
}

int input_dims(uint32_t i)
{
	const struct model_input *in = &world->input[i];
	return in->shape.n_dim >= 0 ? in->shape.n_dim : in->n_mentioned;
}

/* In the order that binprobe_contract.c expects: inputs, then values. */
int64_t *walk_numbers(uint32_t *n)
{
	const struct run *r = &world->run;
	struct numbers a = {0};
	for (uint32_t i = 0; i < world->n_inputs; i++)
		add_shape(&a, &world->input[i].shape, input_dims(i));
	for (uint32_t i = world->n_inputs + world->n_constants; i < r->n_values; i++) {
		const struct fake *f = r->value[i].fake;
		if (f->shape)
			add_shape(&a, f->shape, f->shape->n_dim);
		for (int d = 0; !f->shape && d < f->n_dim; d++) {
			add_number(&a, f->size[d]);
			add_number(&a, f->stride[d]);
		}
	}
	*n = (uint32_t)a.n;
	return a.v;
}

static void record(struct walks *w)
{
	uint32_t n;
	uint64_t shape = hash_run();
	int64_t *numbers = walk_numbers(&n);
	if (w->n && (shape != w->shape || n != w->n_numbers)) {
		world_note("the program takes different paths for different sizes; one of them is shown");
		free(numbers);
		return;
	}
	w->shape = shape;
	w->n_numbers = n;
	struct walk *k = &PUSH_TO(w->v, w->n, w->cap);
	k->number = numbers;
	k->chosen = xcalloc((size_t)w->n_sources + 1, sizeof(*k->chosen));
	for (uint32_t j = 0; j < w->n_sources; j++)
		k->chosen[j] = bounds_index(source_bounds(&w->source[j]), *source_value(&w->source[j]));
}

/* ---- sizes of the form step*k + rest ---- */

/* The program computes k from such a size, rounding down, and then requires step*k + rest: so there is a complaint about a freely chosen
 * size, which looks as if it depended on another. What does this dim have to be for v? v itself, if there is no complaint.
 * UNKNOWN: undetermined. */
static int64_t wanted_for(uint32_t input, int dim, int64_t v)
{
	struct shape *s = &world->input[input].shape;
	struct complaint c;
	s->size[dim] = v;
	for (uint32_t n = 0; n < 64 + world->n_made; n++) {
		model_run(&c);
		struct slice rest = slice_str(c.text);
		int d;
		int64_t size, stride;
		while (c.kind == SAID_SHAPE && world->asked && world->asked->shape == s && complaint_next_dim(&rest, &d, &size, &stride))
			if (d == dim && size != v)
				return size;
		if (c.kind == SAID_NOTHING)
			return v;
		if (adapt(&c) != SETTLED || s->size[dim] != v)
			return UNKNOWN;
	}
	return UNKNOWN;
}

/* The step between sizes that the program accepts, one of which is `at`; 0: it accepts no other. */
static int64_t step_between(uint32_t input, int dim, int64_t at)
{
	enum { FAR = 3000, TRIES = 6, SURE = 64 };
	struct bounds b = world->input[input].bounds[dim];
	int64_t lo = b.has_lo && b.lo > at - FAR ? b.lo : at - FAR, hi = b.has_hi && b.hi < at + FAR ? b.hi : at + FAR, step = 0;
	lo = lo < 2 ? 2 : lo;
	for (int k = 0; k < TRIES && lo <= hi; k++) {
		/* From both ends, so that one of the first two is far off; the odd numbers cover every remainder of a small step. */
		int64_t v = k % 2 ? lo + (hi - lo) / TRIES * (k / 2) : hi - (hi - lo) / TRIES * (k / 2) - k / 2;
		int64_t want = v == at ? at : wanted_for(input, dim, v);
		if (want == UNKNOWN)
			return 0;
		step = (int64_t)gcd((uint64_t)llabs(want - at), (uint64_t)step);
		if (!step && (k || v > at + SURE))
			return 0;
	}
	/* The program must round everything within one step down to the same size: then it is the step and not a multiple. */
	for (int tries = 0; step > 1 && tries < 64; tries++) {
		bool up = !b.has_hi || at + step <= b.hi;
		int64_t v = up ? at + step - 1 : at - 1, want = v >= lo || up ? wanted_for(input, dim, v) : UNKNOWN;
		if (want == UNKNOWN)
			return 0;
		if (want == (up ? at : at - step))
			return step;
		step = (int64_t)gcd((uint64_t)llabs(want - at), (uint64_t)step);
	}
	return 0;
}

/* Sizes of inputs whose complaint was only about their own step become free again, in steps. */
static void find_steps(struct walks *w)
{
	for (uint32_t i = 0; i < world->n_inputs; i++)
		for (int d = 0; d < input_dims(i); d++) {
			struct model_input *in = &world->input[i];
			struct bounds *b = &in->bounds[d];
			int64_t at = in->shape.size[d];
			if (in->shape.size_state[d] != DIM_DERIVED || (!b->has_lo && !b->has_hi) ||
			    (b->has_lo && b->has_hi && b->lo == b->hi))
				continue;
			int64_t step = step_between(i, d, at);
			in->shape.size[d] = at;
			if (step <= 1)
				continue;
			b->step = step;
			b->rest = at % step;
			in->shape.size_state[d] = DIM_FREE;
			int64_t v = pick(*b, WANT_PRIME);
			in->shape.size[d] = v > 0 ? v : at;
			if (settle_walk(w) != SETTLED)
				in->shape.size[d] = at;
		}
}

/* ---- sources, and runs with other values ---- */

static void add_source(struct walks *w, enum source_kind kind, uint32_t index, int dim)
{
	struct source s = {.kind = kind, .index = index, .dim = dim};
	struct bounds b = *source_bounds(&s);
	if ((b.has_lo && b.has_hi && b.lo == b.hi) || w->n_sources == FIT_MAX_SYMBOLS)
		return;
	s.base = *source_value(&s);
	PUSH_TO(w->source, w->n_sources, w->cap_sources) = s;
}

static void find_sources(struct walks *w)
{
	for (uint32_t i = 0; i < world->n_inputs; i++)
		for (int d = 0; d < input_dims(i); d++)
			if (world->input[i].shape.size_state[d] == DIM_FREE)
				add_source(w, SOURCE_INPUT, i, d);
	for (uint32_t k = 0; k < world->run.n_made; k++)
		for (int d = 0; d < TENSOR_MAX_DIMS; d++)
			if (world->made[k]->shape.read[d] && world->made[k]->shape.size_state[d] == DIM_FREE)
				add_source(w, SOURCE_MADE, k, d);
	for (uint32_t k = 0; k < world->run.n_items; k++)
		if (!decided(world->item[k].place))
			add_source(w, SOURCE_ITEM, k, 0);
}

/* Bounds of numbers from data: try extreme values and see what the model reports. */
static void learn_data_bounds(struct walks *w)
{
	static const int64_t far[] = {HUGE_SIZE, BAD_SIZE};
	for (uint32_t j = 0; j < w->n_sources; j++) {
		struct source *s = &w->source[j], found;
		if (s->kind == SOURCE_INPUT)
			continue;
		for (size_t k = 0; k < ARRAY_LEN(far); k++) {
			struct complaint c;
			*source_value(s) = far[k];
			for (int tries = 0; tries < 64; tries++) {
				model_run(&c);
				if (c.kind == SAID_BOUND && c.received == far[k] && find_data(far[k], &found)) {
					take_bound(&c, s);
					break;
				}
				if (c.kind == SAID_NOTHING || c.kind == SAID_BOUND || adapt(&c) != SETTLED)
					break;
			}
			*source_value(s) = s->base;
		}
		if (settle_walk(w) != SETTLED)
			return;
	}
}

static bool try_values(struct walks *w)
{
	if (settle_walk(w) != SETTLED)
		return false;
	record(w);
	return true;
}

static void back_to_base(struct walks *w)
{
	for (uint32_t j = 0; j < w->n_sources; j++)
		*source_value(&w->source[j]) = w->source[j].base;
}

static int64_t range_size(struct bounds b)
{
	int64_t n = b.has_lo && b.has_hi ? (b.hi - b.lo) / step_of(&b) + 1 : 1 << 20;
	return n < 1 << 20 ? n : 1 << 20;
}

/* The last but one is in the middle of its range, the last at its end: a rounding formula (s//100) is the same for all close values. */
static int64_t pick_far(struct bounds b, int64_t base, bool end)
{
	enum { FAR = 100000 };
	int64_t top = b.has_hi && b.hi < base + FAR ? b.hi : base + FAR;
	b.lo = end ? top - (top - base) / 8 : base + (top - base) / 2;
	b.has_lo = true;
	return pick(b, WANT_PRIME);
}

/* Varies one source at a time: all values of a small range, else a few, odd and even, close and far. */
static void vary_one(struct walks *w, uint32_t j, int64_t *other)
{
	struct source *s = &w->source[j];
	struct bounds b = *source_bounds(s);
	int64_t n_range = range_size(b);
	int done = 0;
	*other = s->base;
	for (int tries = 0; tries < 12 && done < MAX_VALUES - 1; tries++) {
		int64_t v = n_range <= MAX_VALUES ? at_index(&b, bounds_index(&b, b.lo + step_of(&b) - 1) + tries)
			    : done < 2            ? pick(b, done == 1 ? WANT_EVEN : WANT_PRIME)
						  : pick_far(b, s->base, done == 3);
		if (n_range <= MAX_VALUES && v > b.hi)
			break;
		if (v < 2 || v == s->base)
			continue;
		*source_value(s) = v;
		if (try_values(w)) {
			done++;
			*other = *other == s->base ? v : *other;
		}
	}
	back_to_base(w);
}

void walk_row(struct walks *w, uint32_t j, int n)
{
	struct source *s = &w->source[j];
	struct bounds b = *source_bounds(s);
	for (int64_t k = 1; k <= n; k++) {
		int64_t top = b.has_hi ? bounds_index(&b, b.hi) : INT32_MAX, base = bounds_index(&b, s->base);
		int64_t v = at_index(&b, base + k <= top ? base + k : base - (base + k - top));
		if (v < 2 || (b.has_lo && v < b.lo))
			break;
		*source_value(s) = v;
		try_values(w);
	}
	back_to_base(w);
	settle_walk(w);
}

static void vary(struct walks *w)
{
	int64_t *other = xcalloc((size_t)w->n_sources + 1, sizeof(*other));
	for (uint32_t j = 0; j < w->n_sources; j++)
		vary_one(w, j, &other[j]);
	for (uint32_t j = 0; j < w->n_sources && w->n_sources <= MAX_PAIR_SOURCES; j++)
		for (uint32_t k = j + 1; k < w->n_sources; k++) {
			*source_value(&w->source[j]) = other[j];
			*source_value(&w->source[k]) = other[k];
			try_values(w);
			back_to_base(w);
		}
	for (uint32_t j = 0; j < w->n_sources; j++)
		*source_value(&w->source[j]) = other[j];
	if (w->n_sources > 1)
		try_values(w);
	for (uint32_t j = 0; j < w->n_sources; j++) {
		int64_t v = pick(*source_bounds(&w->source[j]), WANT_ANY);
		if (v > 1)
			*source_value(&w->source[j]) = v;
	}
	if (w->n_sources)
		try_values(w);
	back_to_base(w);
	free(other);
}

/* The first run of a model folds constants before it reads its inputs. What it makes then is kept and is not part of the
 * program; the inputs are impossible, so that the run ends there. */
static void fold_constants(void)
{
	struct complaint c;
	int n = 0;
	world->folding = true;
	do
		model_run(&c);
	while (n++ < 4096 && c.kind > SAID_DEVICE && world->asked && world->asked->value >= world->n_inputs && adapt(&c) == SETTLED);
	world->folding = false;
	fake_settle_kept();
}

bool walk_sizes(struct walks *w)
{
	start_inputs();
	fold_constants();
	learn_checks();
	enum settled s = CONFLICT;
	for (int attempt = 0; attempt < 6 && s == CONFLICT; attempt++) {
		used.n = attempt ? 0 : used.n;
		choose_sizes(attempt);
		s = settle_walk(w);
	}
	return w->complete = s == SETTLED;
}

int walk_formulas(struct walks *w, struct err *err)
{
	if (w->complete) {
		find_steps(w);
		w->complete = settle_walk(w) == SETTLED;
	}
	if (w->complete)
		w->stopped[0] = 0;
	find_sources(w);
	if (w->complete) {
		learn_data_bounds(w);
		if (settle_walk(w) == SETTLED) {
			record(w);
			vary(w);
			if (settle_walk(w) == SETTLED)
				return 0;
		}
		return err_set(err, EXIT_INPUT, "the model behaves differently in a second run: %.500s", w->stopped);
	}
	record(w);
	return 0;
}

void walks_release(struct walks *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		free(w->v[i].chosen);
		free(w->v[i].number);
	}
	free(w->v);
	free(w->way);
	free(w->source);
	*w = (struct walks){0};
}
