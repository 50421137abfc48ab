#include "model/contract/contract.h"
#include "model/contract/contract_check.h"
#include "model/contract/pytree.h"
#include "base/text.h"

uint32_t contract_nth(const struct contract *c, const struct contract_call *call)
{
	uint32_t n = 0;
	for (const struct contract_call *k = c->call; k < call; k++)
		n += slice_eq(k->name, call->name);
	return n;
}

void contract_release(struct contract *c)
{
	symtab_release(&c->tab);
	free(c->value);
	free(c->storage);
	free(c->call);
	free(c->arg);
	free(c->note);
	arena_release(&c->arena);
	*c = (struct contract){0};
}

static void add_note(struct contract *c, const char *fmt, va_list ap)
{
	LOCAL_BUF b = {0};
	buf_addvf(&b, fmt, ap);
	if (c->n_notes < CONTRACT_MAX_NOTES)
		PUSH_TO(c->note, c->n_notes, c->cap_notes) = arena_slice(&c->arena, buf_slice(&b));
}

void contract_note(struct contract *c, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_note(c, fmt, ap);
	va_end(ap);
}

void contract_unread(struct contract *c, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_note(c, fmt, ap);
	va_end(ap);
	c->n_unread++;
}

void contract_unread_text(const struct contract *c, struct buf *b)
{
	uint32_t checks = c->n_unread_checks, others = c->n_unread - checks;
	if (checks)
		put_count(b, checks, "check");
	if (checks && others)
		buf_adds(b, " and ");
	if (others)
		put_count(b, others, "statement");
	buf_adds(b, c->n_unread == 1 ? " was not" : " were not");
}

struct symsize contract_unknown(struct contract *c) { return symsize_opaque(&c->tab, SLICE("?")); }

bool contract_streams(const struct contract *c)
{
	for (uint32_t i = 0; i < c->n_calls; i++)
		if (c->call[i].stream)
			return true;
	return false;
}

bool contract_known(const struct contract *c, struct symsize s) { return !symsize_has_opaque(&c->tab, s); }

struct contract_dim *contract_dims(struct contract *c, int n)
{
	if (n <= 0)
		return NULL;
	struct contract_dim *d = arena_alloc(&c->arena, (size_t)n * sizeof(*d));
	for (int i = 0; i < n; i++)
		d[i] = (struct contract_dim){.size = contract_unknown(c), .stride = contract_unknown(c), .range = SYMRANGE_ALL};
	return d;
}

/* ---- finish ---- */

/* N of "argN_1": the compiler names a graph's inputs by their position among all flat arguments, weights first. */
static bool arg_number(struct slice name, uint64_t *n)
{
	return slice_starts(name, "arg") && slice_ends(name, "_1") && name.n > 5 && slice_u64(slice_of(name.p + 3, name.n - 5), n);
}

/* Some values of the call are not tensors (None, numbers) and so not inputs. The inputs' numbers show which, if they span the call's first
 * value to its last. */
static bool paths_by_number(struct contract *c, const struct slice *paths, uint32_t n)
{
	uint64_t first, last, at;
	if (!c->n_inputs || n < c->n_inputs || !arg_number(c->input[0].name, &first) ||
	    !arg_number(c->input[c->n_inputs - 1].name, &last) || last - first + 1 != n)
		return false;
	for (uint32_t i = 0; i < c->n_inputs; i++)
		if (!arg_number(c->input[i].name, &at) || at < first + i || at > last)
			return false;
	for (uint32_t i = 0; i < c->n_inputs; i++) {
		arg_number(c->input[i].name, &at);
		c->input[i].path = paths[at - first];
	}
	return true;
}

static void take_paths(struct contract *c)
{
	struct slice *paths;
	uint32_t n;
	struct err err;
	if (c->in_spec.n) {
		if (pytree_paths(&c->arena, c->in_spec, true, &paths, &n, &err) < 0)
			contract_note(c, "in_spec_: %s", err.text);
		else if (n != c->n_inputs && !paths_by_number(c, paths, n))
			contract_note(c,
				      "the call has %u values, but the model has %u inputs: some are not tensors, so inputs have no paths",
				      n, c->n_inputs);
		else
			for (uint32_t i = 0; n == c->n_inputs && i < n; i++)
				c->input[i].path = paths[i];
	}
	if (c->out_spec.n) {
		if (pytree_paths(&c->arena, c->out_spec, false, &paths, &n, &err) < 0)
			contract_note(c, "out_spec_: %s", err.text);
		else if (n == c->n_outputs)
			for (uint32_t i = 0; i < n; i++)
				c->output[i].path = paths[i];
	}
}

/* The range of s where mul*s + add lies in r. */
static struct symrange solve_range(struct symrange r, int64_t mul, int64_t add)
{
	struct symrange out = SYMRANGE_ALL;
	int64_t lo, hi;
	if (mul <= 0)
		return out;
	if (!r.lo_inf && !__builtin_sub_overflow(r.lo, add, &lo))
		out.lo = sym_floor_div(lo, mul) + (lo % mul != 0), out.lo_inf = false;
	if (!r.hi_inf && !__builtin_sub_overflow(r.hi, add, &hi))
		out.hi = sym_floor_div(hi, mul), out.hi_inf = false;
	return out;
}

static void take_symbols(struct contract *c)
{
	uint32_t cap = c->n_symbols, kept = c->n_symbols;
	struct contract_symbol *v = xcalloc(cap + 1, sizeof(*v));
	if (cap)
		memcpy(v, c->symbol, cap * sizeof(*v));
	c->symbol = v;
	struct symbind at = {0}; /* symbol -> index into c->symbol */
	for (uint32_t i = 0; i < kept; i++)
		symbind_set(&at, v[i].symbol, i);
	/* A plain symbol is bound by the generator to that size; 2*s0 determines s0 only if nothing better does. */
	for (int alone = 1; alone >= 0; alone--)
		for (uint32_t i = 0; i < c->n_inputs; i++)
			for (int d = 0; d < c->input[i].n_dim; d++) {
				const struct contract_dim *dim = &c->input[i].dim[d];
				uint32_t id;
				int64_t mul, add;
				if (symsize_is_int(dim->size) || !symsize_linear(&c->tab, dim->size, &id, &mul, &add) || mul <= 0 ||
				    alone != (mul == 1 && add == 0))
					continue;
				int64_t k;
				if (!symbind_get(&at, id, &k)) {
					symbind_set(&at, id, k = c->n_symbols);
					PUSH_TO(c->symbol, c->n_symbols, cap) = (struct contract_symbol){id, SYMRANGE_ALL, i, (uint32_t)d};
				}
				struct contract_symbol *s = &c->symbol[k];
				if (s->input == NONE) {
					s->input = i;
					s->dim = (uint32_t)d;
				}
				struct symrange both;
				if (symrange_intersect(s->range, solve_range(dim->range, mul, add), &both))
					s->range = both;
			}
	/* Those from the reader come last: they depend on data. */
	struct contract_symbol *sorted = arena_alloc(&c->arena, (c->n_symbols + 1) * sizeof(*sorted));
	uint32_t n = 0;
	for (uint32_t i = kept; i < c->n_symbols; i++)
		sorted[n++] = c->symbol[i];
	for (uint32_t i = 0; i < kept; i++)
		sorted[n++] = c->symbol[i];
	free(c->symbol);
	symbind_release(&at);
	c->symbol = sorted;
}

static void take_uses(struct contract *c)
{
	for (uint32_t i = 0; i < c->n_inputs; i++)
		c->input[i].used = c->input[i].asserted > 0;
	for (uint32_t i = 0; i < c->n_args; i++) {
		uint32_t v = c->arg[i].value;
		if (v != NONE && c->value[v].kind == VALUE_INPUT)
			c->input[c->value[v].index].used = true;
	}
	for (uint32_t i = 0; i < c->n_outputs; i++) {
		uint32_t v = c->output[i].value;
		if (v != NONE && c->value[v].kind == VALUE_INPUT)
			c->input[c->value[v].index].used = true;
	}
}

int contract_finish(struct contract *c, struct err *err)
{
	if (contract_validate(c, err) < 0)
		return -1;
	take_paths(c);
	take_symbols(c);
	take_uses(c);
	c->weight_bytes = 0;
	for (uint32_t i = 0; i < c->n_constants; i++)
		c->weight_bytes += c->constant[i].bytes;
	return 0;
}

static bool rank_fine(int n_dim, const struct contract_dim *dim) { return n_dim >= -1 && n_dim <= TENSOR_MAX_DIMS && (n_dim <= 0 || dim); }

int contract_validate(const struct contract *c, struct err *err)
{
#define MUST(cond, ...) \
	do { \
		if (!(cond)) \
			return err_set(err, EXIT_INPUT, __VA_ARGS__); \
	} while (0)
	for (uint32_t i = 0; i < c->n_inputs; i++)
		MUST(c->input[i].n_dim >= 0 && rank_fine(c->input[i].n_dim, c->input[i].dim), "input %u has %d dims", i, c->input[i].n_dim);
	for (uint32_t i = 0; i < c->n_outputs; i++) {
		const struct contract_output *o = &c->output[i];
		MUST(rank_fine(o->n_dim, o->dim), "output %u has %d dims", i, o->n_dim);
		MUST(o->value == NONE || o->value < c->n_values, "output %u refers to value %u of %u", i, o->value, c->n_values);
	}
	for (uint32_t i = 0; i < c->n_constants; i++)
		MUST(rank_fine(c->constant[i].n_dim, c->constant[i].dim), "constant %u has %d dims", i, c->constant[i].n_dim);
	for (uint32_t i = 0; i < c->n_symbols; i++) {
		const struct contract_symbol *s = &c->symbol[i];
		MUST(s->input == NONE || (s->input < c->n_inputs && (int64_t)s->dim < c->input[s->input].n_dim),
		     "symbol %u refers to a dim that no input has", i);
	}
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct contract_value *v = &c->value[i];
		MUST(rank_fine(v->n_dim, v->dim), "value %u has %d dims", i, v->n_dim);
		MUST(v->kind == VALUE_INPUT      ? v->index < c->n_inputs
		     : v->kind == VALUE_CONSTANT ? v->index < c->n_constants
						 : v->kind == VALUE_BUFFER,
		     "value %u is neither an input nor a constant", i);
		MUST(v->storage == NONE || v->storage < c->n_storages, "value %u refers to storage %u of %u", i, v->storage, c->n_storages);
	}
	for (uint32_t i = 0; i < c->n_storages; i++)
		MUST(c->storage[i].born <= c->n_calls && c->storage[i].dies <= c->n_calls, "storage %u lives at call %u of %u", i,
		     c->storage[i].dies, c->n_calls);
	for (uint32_t i = 0; i < c->n_calls; i++)
		MUST(c->call[i].arg <= c->n_args && c->call[i].n_args <= c->n_args - c->call[i].arg, "call %u has missing arguments", i);
	for (uint32_t i = 0; i < c->n_args; i++)
		MUST(c->arg[i].value == NONE || c->arg[i].value < c->n_values, "argument %u refers to value %u of %u", i, c->arg[i].value,
		     c->n_values);
#undef MUST
	return 0;
}

/* ---- values of symbols ---- */

bool contract_bind(const struct contract *c, const struct tensor_meta *in, size_t n, struct symbind *env)
{
	bool all = true;
	for (uint32_t i = 0; i < c->n_symbols; i++) {
		const struct contract_symbol *s = &c->symbol[i];
		if (s->input == NONE)
			continue;
		uint32_t id;
		int64_t mul, add, rest;
		const struct contract_dim *dim = &c->input[s->input].dim[s->dim];
		if (s->input >= n || (int64_t)s->dim >= in[s->input].n_dim || !symsize_linear(&c->tab, dim->size, &id, &mul, &add) ||
		    mul <= 0 || __builtin_sub_overflow(in[s->input].size[s->dim], add, &rest)) {
			all = false;
			continue;
		}
		/* Solves for the symbol like the generated code: rounding down; the size itself then fails its check. */
		symbind_set(env, s->symbol, sym_floor_div(rest, mul));
		all &= rest % mul == 0;
	}
	return all;
}

/* The generator writes 2^63 - 1, or something close, if there is no bound. */
static bool has_largest(struct symrange r) { return !r.hi_inf && r.hi < INT64_MAX / 2; }

bool contract_bind_max(const struct contract *c, struct symbind *env)
{
	bool all = true;
	for (uint32_t i = 0; i < c->n_symbols; i++) {
		const struct symrange *r = &c->symbol[i].range;
		if (!has_largest(*r))
			all = false;
		else
			symbind_set(env, c->symbol[i].symbol, r->hi);
	}
	return all;
}

static void bind_data(const struct contract *c, const struct symbind *env, struct symbind *full)
{
	for (uint32_t i = 0; i < env->n; i++)
		if (env->bound[i])
			symbind_set(full, i, env->value[i]);
	for (uint32_t i = 0; i < c->n_symbols; i++) {
		const struct contract_symbol *s = &c->symbol[i];
		int64_t v;
		if (s->input == NONE && !symbind_get(full, s->symbol, &v) && has_largest(s->range))
			symbind_set(full, s->symbol, s->range.hi);
	}
	/* The bound of a data-dependent size may be an expression represented by its own symbol; it stays unknown. */
}

uint64_t *contract_alive_bytes(const struct contract *c, const uint64_t *bytes)
{
	uint64_t *change = xcalloc((size_t)c->n_calls + 2, sizeof(*change));
	for (uint32_t i = 0; i < c->n_storages; i++) {
		const struct contract_storage *s = &c->storage[i];
		if (s->born > s->dies)
			continue;
		change[s->born] += bytes[i];
		change[s->dies + 1] -= bytes[i];
	}
	for (uint32_t k = 1; k <= c->n_calls; k++)
		change[k] += change[k - 1];
	return change;
}

bool contract_peak(const struct contract *c, const struct symbind *env, uint64_t *bytes, uint32_t *unknown)
{
	OWNED(symbind_release) struct symbind full = {0};
	bind_data(c, env, &full);
	uint64_t *size = xcalloc((size_t)c->n_storages + 1, sizeof(*size)), most = 0;
	uint32_t lost = 0;
	for (uint32_t i = 0; i < c->n_storages; i++) {
		const struct contract_storage *s = &c->storage[i];
		int64_t v;
		if (!contract_known(c, s->bytes) || symsize_eval(&c->tab, s->bytes, &full, &v, NULL) < 0 || v < 0 ||
		    v > INT64_MAX / 2 / (int64_t)c->n_storages) {
			lost++;
			continue;
		}
		size[i] = (uint64_t)v;
	}
	uint64_t *alive = contract_alive_bytes(c, size);
	for (uint32_t k = 0; k <= c->n_calls; k++)
		most = alive[k] > most ? alive[k] : most;
	free(alive);
	free(size);
	*bytes = most;
	if (unknown)
		*unknown = lost;
	return !lost && !c->stopped.n;
}
