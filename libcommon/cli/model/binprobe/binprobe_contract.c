/* Builds a contract from what the runs revealed. */
#include "model/binprobe/binprobe_child.h"

struct filler {
	struct contract *c;
	struct walks *w;
	struct fit_points points;
	const int64_t **at;
	struct symsize *symbol;
	bool *whole, *varied;
	uint32_t *value_of; /* run value -> contract value */
	uint32_t n_unknown; /* formulas that were not found */
};

static struct slice text(struct contract *c, const char *s) { return arena_slice(&c->arena, slice_str(s)); }

/* ---- symbols ---- */

static bool range_is_whole(const struct filler *f, uint32_t j)
{
	struct bounds b = *source_bounds(&f->w->source[j]);
	if (!b.has_lo || !b.has_hi || b.hi - b.lo > 4096)
		return false;
	for (int64_t v = bounds_index(&b, b.lo + (b.step > 1 ? b.step - 1 : 0)); v <= bounds_index(&b, b.hi); v++) {
		bool seen = false;
		for (uint32_t i = 0; i < f->w->n && !seen; i++)
			seen = f->w->v[i].chosen[j] == v;
		if (!seen)
			return false;
	}
	return true;
}

/* Does any number other than its own size depend on source j? */
static bool source_matters(const struct filler *f, uint32_t j)
{
	const struct walks *w = f->w;
	for (uint32_t i = 1; i < w->n; i++) {
		bool alone = true;
		for (uint32_t k = 0; k < w->n_sources && alone; k++)
			alone = k == j || w->v[i].chosen[k] == w->v[0].chosen[k];
		uint32_t changed = 0;
		for (uint32_t q = 0; alone && q < w->n_numbers; q++)
			changed += w->v[i].number[q] != w->v[0].number[q];
		if (changed > 1)
			return true;
	}
	return false;
}

static bool name_taken(const struct filler *f, const char *name)
{
	const char *taken;
	for (uint32_t j = 0; j < f->w->n_sources; j++)
		if (f->w->source[j].kind != SOURCE_INPUT && (taken = source_data_name(&f->w->source[j])) && !strcmp(taken, name))
			return true;
	return false;
}

static void name_symbols(struct filler *f)
{
	uint32_t n_sizes = 0, n_data = 0;
	for (uint32_t j = 0; j < f->w->n_sources; j++) {
		struct source *s = &f->w->source[j];
		char name[32];
		f->symbol[j] = contract_unknown(f->c);
		/* The size of an input that nothing reads has bounds, but means nothing. */
		if (s->kind == SOURCE_INPUT && !world->input[s->index].shape.judged && !source_matters(f, j))
			continue;
		if (s->kind == SOURCE_INPUT) {
			snprintf(name, sizeof(name), "s%u", n_sizes++);
		} else if (source_data_name(s) && *source_data_name(s)) {
			snprintf(name, sizeof(name), "%s", source_data_name(s));
		} else {
			do
				snprintf(name, sizeof(name), "u%u", n_data++);
			while (name_taken(f, name));
		}
		s->named = true;
		f->symbol[j] = symsize_symbol(&f->c->tab, slice_str(name));
	}
}

static struct symrange range_of(struct bounds b) { return (struct symrange){b.lo, b.hi, !b.has_lo, !b.has_hi}; }

static void data_symbols(struct filler *f)
{
	struct contract *c = f->c;
	c->symbol = arena_alloc(&c->arena, ((size_t)f->w->n_sources + 1) * sizeof(*c->symbol));
	for (uint32_t j = 0; j < f->w->n_sources; j++) {
		const struct source *s = &f->w->source[j];
		if (s->kind == SOURCE_INPUT || !s->named)
			continue;
		struct buf name = {0};
		symsize_print(&c->tab, f->symbol[j], &name);
		c->symbol[c->n_symbols++] = (struct contract_symbol){
		    .symbol = symtab_symbol(&c->tab, buf_slice(&name)), .range = range_of(*source_bounds(s)), .input = NONE, .dim = NONE};
		buf_release(&name);
	}
}

/* ---- formulas ---- */

static void set_points(struct filler *f)
{
	struct walks *w = f->w;
	f->at = xreallocarray(f->at, (size_t)w->n + 1, sizeof(*f->at));
	for (uint32_t i = 0; i < w->n; i++)
		f->at[i] = w->v[i].chosen;
	for (uint32_t j = 0; j < w->n_sources; j++) {
		f->varied[j] = false;
		for (uint32_t i = 1; i < w->n; i++)
			f->varied[j] |= w->v[i].chosen[j] != w->v[0].chosen[j];
		f->whole[j] = range_is_whole(f, j);
	}
	f->points = (struct fit_points){w->n, w->n_sources, f->at, f->symbol, f->whole};
}

static bool fit_number(struct filler *f, uint32_t q, int64_t *v, struct symsize *out)
{
	for (uint32_t i = 0; i < f->w->n; i++)
		v[i] = f->w->v[i].number[q];
	return fit_formula(&f->c->tab, &f->points, v, out);
}

/* All numbers; if one has no formula, consecutive values are tried, too, because it may round. */
static struct symsize *fit_all(struct filler *f)
{
	struct walks *w = f->w;
	struct symsize *out = xcalloc((size_t)w->n_numbers + 1, sizeof(*out));
	/* Consecutive values after the first pass and the second; the longer row only if few sizes may vary. */
	static const int row[] = {40, 280};
	for (int pass = 0; pass < 3; pass++) {
		int64_t *v = xcalloc((size_t)w->n + 1, sizeof(*v));
		f->n_unknown = 0;
		for (uint32_t q = 0; q < w->n_numbers; q++)
			if (!fit_number(f, q, v, &out[q])) {
				f->n_unknown += w->n && w->v[0].number[q] != UNKNOWN;
				out[q] = contract_unknown(f->c);
			}
		free(v);
		if (!f->n_unknown || pass == 2 || w->n_sources > (pass ? 2 : 8))
			break;
		for (uint32_t j = 0; j < w->n_sources; j++)
			walk_row(w, j, row[pass]);
		set_points(f);
	}
	if (f->n_unknown)
		contract_note(f->c, "%u sizes or strides follow none of the formulas tried", f->n_unknown);
	return out;
}

/* ---- inputs, outputs, constants ---- */

/* The size of source j: its symbol, or step*symbol + rest. */
static struct symsize source_size(struct filler *f, uint32_t j)
{
	const struct bounds *b = source_bounds(&f->w->source[j]);
	struct symsize s = f->symbol[j];
	if (b->step <= 1)
		return s;
	bool ok =
	    !symsize_mul(&f->c->tab, s, symsize_int(b->step), &s, NULL) && !symsize_add(&f->c->tab, s, symsize_int(b->rest), &s, NULL);
	return ok ? s : contract_unknown(f->c);
}

static void fill_inputs(struct filler *f, const struct symsize *formula, uint32_t *q)
{
	struct contract *c = f->c;
	c->n_inputs = world->n_inputs;
	c->input = arena_alloc(&c->arena, ((size_t)c->n_inputs + 1) * sizeof(*c->input));
	for (uint32_t i = 0; i < c->n_inputs; i++) {
		const struct model_input *in = &world->input[i];
		struct contract_input *o = &c->input[i];
		*o = (struct contract_input){.name = text(c, model_input_name(i)),
					     .dtype = in->dtype_checked ? in->dtype : DTYPE_NONE,
					     .device = in->device_checked ? in->device : DEVICE_NONE,
					     .rank_known = in->shape.n_dim >= 0,
					     .n_dim = input_dims(i),
					     .asserted = in->asserted};
		o->dim = contract_dims(c, o->n_dim);
		for (int d = 0; d < o->n_dim; d++, *q += 2) {
			struct contract_dim *dim = &o->dim[d];
			bool exact = in->shape.size_state[d] == DIM_EXACT;
			dim->size_checked = exact;
			dim->stride_checked = in->shape.stride_state[d] == DIM_EXACT;
			if (!exact)
				dim->range = range_of(in->bounds[d]);
			/* Without a complete run only what check_input compares is known. */
			if (exact || f->w->complete)
				dim->size = formula[*q];
			if (dim->stride_checked || f->w->complete)
				dim->stride = formula[*q + 1];
		}
	}
	/* Sizes that nothing depends on and nothing asserts: the chosen value is not an expected value. */
	for (uint32_t j = 0; j < f->w->n_sources; j++) {
		const struct source *s = &f->w->source[j];
		if (s->kind == SOURCE_INPUT && s->dim < c->input[s->index].n_dim)
			c->input[s->index].dim[s->dim].size = s->named && f->w->complete ? source_size(f, j) : contract_unknown(c);
	}
}

static void fixed_dims(struct contract *c, const struct fake *fake, struct contract_dim **dim)
{
	*dim = contract_dims(c, fake->n_dim);
	for (int d = 0; d < fake->n_dim; d++) {
		(*dim)[d].size = symsize_int(fake->size[d]);
		(*dim)[d].stride = symsize_int(fake->stride[d]);
	}
}

static void fill_constants(struct contract *c)
{
	c->n_constants = world->n_constants;
	c->constant = arena_alloc(&c->arena, ((size_t)c->n_constants + 1) * sizeof(*c->constant));
	for (uint32_t i = 0; i < c->n_constants; i++) {
		const struct constant *k = &world->constant[i];
		struct contract_constant *o = &c->constant[i];
		*o = (struct contract_constant){.name = text(c, k->name),
						.fqn = text(c, k->fqn),
						.dtype = k->dtype,
						.device = k->fake && !k->given ? k->fake->device : DEVICE_NONE,
						.n_dim = k->fake && !k->given ? k->fake->n_dim : -1,
						.bytes = k->bytes,
						.offset = k->fake ? (uint64_t)k->fake->offset : 0,
						.type = k->type >= 0 && k->type <= CONSTANT_FOLDED ? (enum constant_type)k->type
												   : CONSTANT_UNKNOWN,
						.from_folded = k->from_folded};
		if (o->n_dim >= 0)
			fixed_dims(c, k->fake, &o->dim);
	}
}

static struct fake *output_fake(uint32_t i) { return fake_of(world->run.output[i]); }

static void fill_outputs(struct filler *f)
{
	struct contract *c = f->c;
	c->n_outputs = world->n_outputs;
	c->output = arena_alloc(&c->arena, ((size_t)c->n_outputs + 1) * sizeof(*c->output));
	for (uint32_t i = 0; i < c->n_outputs; i++) {
		struct contract_output *o = &c->output[i];
		const struct fake *fake = f->w->complete ? output_fake(i) : NULL;
		*o = (struct contract_output){.name = text(c, model_output_name(i)),
					      .dtype = DTYPE_NONE,
					      .device = DEVICE_NONE,
					      .n_dim = -1,
					      .value = NONE,
					      .none = f->w->complete && !world->run.output[i]};
		if (!fake || fake->value >= world->run.n_values)
			continue;
		const struct contract_value *v = &c->value[f->value_of[fake->value]];
		o->dtype = v->dtype;
		o->device = v->device;
		o->n_dim = v->n_dim;
		o->dim = v->dim;
		o->value = f->value_of[fake->value];
	}
}

/* ---- the program ---- */

static void add_value(struct filler *f, uint32_t i, struct contract_value v)
{
	struct contract *c = f->c;
	f->value_of[i] = c->n_values;
	PUSH_TO(c->value, c->n_values, c->cap_values) = v;
}

static void fill_fixed_values(struct filler *f)
{
	struct contract *c = f->c;
	for (uint32_t i = 0; i < c->n_inputs; i++)
		add_value(f, i,
			  (struct contract_value){.name = c->input[i].name,
						  .kind = VALUE_INPUT,
						  .index = i,
						  .storage = NONE,
						  .dtype = c->input[i].dtype,
						  .device = c->input[i].device,
						  .n_dim = c->input[i].rank_known ? c->input[i].n_dim : -1,
						  .dim = c->input[i].rank_known ? c->input[i].dim : NULL});
	for (uint32_t i = 0; i < c->n_constants; i++)
		add_value(f, c->n_inputs + i,
			  (struct contract_value){.name = c->constant[i].name,
						  .kind = VALUE_CONSTANT,
						  .index = i,
						  .storage = NONE,
						  .dtype = c->constant[i].dtype,
						  .device = c->constant[i].device,
						  .n_dim = c->constant[i].n_dim,
						  .dim = c->constant[i].dim});
}

static bool is_output(uint32_t value)
{
	for (uint32_t i = 0; i < world->n_outputs; i++) {
		const struct fake *f = output_fake(i);
		if (f && f->value == value)
			return true;
	}
	return false;
}

/* If the program stopped, its buffers' sizes are those of one run, so they are unknown. */
static void fill_buffers(struct filler *f, const struct symsize *formula, uint32_t *q)
{
	struct contract *c = f->c;
	const struct run *r = &world->run;
	uint32_t n_named = 0;
	for (uint32_t i = c->n_inputs + c->n_constants; i < r->n_values; i++) {
		const struct run_value *rv = &r->value[i];
		const struct fake *fake = rv->fake;
		int n = fake->shape ? fake->shape->n_dim : fake->n_dim;
		uint32_t first = *q;
		*q += n > 0 ? 2 * (uint32_t)n : 0;
		/* Views that occur only as arguments were recorded as their base. */
		if (rv->base != NONE && !rv->referenced && !is_output(i)) {
			f->value_of[i] = f->value_of[rv->base];
			continue;
		}
		char name[32];
		snprintf(name, sizeof(name), "buf%u", n_named++);
		struct contract_value v = {.name = text(c, name),
					   .kind = rv->kind,
					   .index = rv->index,
					   .storage = rv->storage,
					   .dtype = rv->dtype_sure ? fake->dtype : DTYPE_NONE,
					   .device = fake->device,
					   .n_dim = f->w->complete ? n : -1};
		v.dim = contract_dims(c, v.n_dim);
		for (int d = 0; d < v.n_dim; d++) {
			v.dim[d].size = formula[first + 2 * (uint32_t)d];
			v.dim[d].stride = formula[first + 2 * (uint32_t)d + 1];
		}
		add_value(f, i, v);
	}
}

static void fill_calls(struct filler *f)
{
	struct contract *c = f->c;
	const struct run *r = &world->run;
	c->call = xcalloc((size_t)r->n_calls + 1, sizeof(*c->call));
	c->arg = xcalloc((size_t)r->n_args + 1, sizeof(*c->arg));
	for (uint32_t i = 0; i < r->n_calls; i++)
		c->call[i] = (struct contract_call){.kind = r->call[i].kind,
						    .name = text(c, r->call[i].name),
						    .stream = r->call[i].stream,
						    .arg = r->call[i].arg,
						    .n_args = r->call[i].n_args};
	for (uint32_t i = 0; i < r->n_args; i++) {
		uint32_t v = f->value_of[r->arg[i].value];
		c->arg[i] = (struct contract_arg){.role = r->arg[i].role, .value = v, .text = c->value[v].name};
	}
	c->n_calls = c->cap_calls = r->n_calls;
	c->n_args = c->cap_args = r->n_args;
}

/* (1 + sum of (size - 1) * stride) elements, as torch allocates (c10/core/TensorImpl.h, computeStorageNbytes). */
static struct symsize bytes_of(struct contract *c, const struct contract_value *v, int item)
{
	struct symsize sum = symsize_int(1), part;
	bool ok = v->n_dim >= 0 && item > 0;
	for (int d = 0; ok && d < v->n_dim; d++) {
		bool empty = symsize_is_int(v->dim[d].size) && v->dim[d].size.k <= 0;
		bool one = symsize_is_int(v->dim[d].size) && v->dim[d].size.k == 1; /* its stride may be unknown */
		if (empty)
			return symsize_int(0);
		ok = one || (contract_known(c, v->dim[d].size) && contract_known(c, v->dim[d].stride) &&
			     !symsize_sub(&c->tab, v->dim[d].size, symsize_int(1), &part, NULL) &&
			     !symsize_mul(&c->tab, part, v->dim[d].stride, &part, NULL) && !symsize_add(&c->tab, sum, part, &sum, NULL));
	}
	return ok && !symsize_mul(&c->tab, sum, symsize_int(item), &sum, NULL) ? sum : contract_unknown(c);
}

static void fill_storages(struct filler *f)
{
	struct contract *c = f->c;
	const struct run *r = &world->run;
	c->storage = xcalloc((size_t)r->n_storages + 1, sizeof(*c->storage));
	for (uint32_t i = 0; i < r->n_storages; i++) {
		uint32_t owner = r->storage[i].owner, born = r->storage[i].born, dies = r->storage[i].dies;
		/* The type of an operator's result may be unknown; then its size in bytes is unknown, too. */
		const struct run_value *v = &r->value[owner];
		const struct dtype_info *type = v->dtype_sure ? dtype_info(v->fake->dtype) : NULL;
		c->storage[i] = (struct contract_storage){bytes_of(c, &c->value[f->value_of[owner]], type ? type->bytes : 0),
							  born < r->n_calls ? born : r->n_calls, dies < r->n_calls ? dies : r->n_calls};
	}
	c->n_storages = c->cap_storages = r->n_storages;
}

static void fill_followed(struct filler *f)
{
	struct contract *c = f->c;
	const struct walks *w = f->w;
	struct slice all = slice_str(w->stopped), first = all;
	slice_line(&all, &first); /* the rest explains how to debug custom operators */
	c->stopped = w->complete ? (struct slice){0} : arena_slice(&c->arena, first.n ? first : SLICE("it failed without a message"));
	for (uint32_t j = 0; j < w->n_sources; j++)
		c->rigid |= w->complete && !f->varied[j];
	if (c->rigid)
		contract_note(c, "a free size could be tried with one value only; sizes that depend on it look fixed");
	c->n_lost_ways = w->n_lost_ways;
	c->way = arena_alloc(&c->arena, ((size_t)w->n_ways + 1) * sizeof(*c->way));
	c->n_ways = w->n_ways;
	for (uint32_t i = 0; i < w->n_ways; i++) {
		const struct walk_way *from = &w->way[i];
		c->way[i] = (struct contract_way){arena_alloc(&c->arena, ((size_t)from->n + 1) * sizeof(struct slice)), from->n};
		for (uint32_t k = 0; k < from->n; k++)
			c->way[i].call[k] = text(c, from->call[k]);
	}
}

static void fill_notes(struct filler *f)
{
	struct slice rest = buf_slice(&world->notes), line;
	while (slice_line(&rest, &line))
		contract_note(f->c, "%.*s", SL(line));
	if (f->c->stopped.n)
		contract_note(f->c, "the program could not be run to its end: %.*s", SL(f->c->stopped));
	for (uint32_t i = 0; i < f->c->n_inputs; i++)
		if (!f->c->input[i].rank_known)
			contract_note(f->c, "input %u (%s): the program never reads its rank; only the checked dims are listed", i,
				      model_input_name(i));
}

int binprobe_fill(struct contract *c, struct walks *w, struct err *err)
{
	struct filler f = {.c = c, .w = w};
	const char *in, *out;
	uint32_t q = 0;
	c->source = CONTRACT_FROM_PROBE;
	c->device = world->device;
	if (model_specs(&in, &out)) {
		c->in_spec = text(c, in);
		c->out_spec = text(c, out);
	}
	f.symbol = xcalloc((size_t)w->n_sources + 1, sizeof(*f.symbol));
	f.whole = xcalloc((size_t)w->n_sources + 1, sizeof(*f.whole));
	f.varied = xcalloc((size_t)w->n_sources + 1, sizeof(*f.varied));
	name_symbols(&f);
	set_points(&f);
	struct symsize *formula = fit_all(&f);
	f.value_of = xcalloc((size_t)world->run.n_values + 1, sizeof(*f.value_of));
	data_symbols(&f);
	fill_inputs(&f, formula, &q);
	fill_constants(c);
	fill_fixed_values(&f);
	fill_buffers(&f, formula, &q);
	fill_storages(&f);
	fill_calls(&f);
	fill_outputs(&f);
	fill_followed(&f);
	roles_settle(c, !world->notes.len && w->complete);
	fill_notes(&f);
	free(formula);
	free(f.value_of);
	free(f.symbol);
	free(f.whole);
	free(f.varied);
	free(f.at);
	walks_release(w);
	return contract_finish(c, err);
}
