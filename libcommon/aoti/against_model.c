/* What is not about inputs: outputs, weights, and whether the two are the same model at all. */
#include "aoti/against_part.h"

enum { NAMES = 8 }; /* of weights in one finding */

/* ---- outputs ---- */

static void output_shape(struct compare *k, uint32_t i, const struct contract_output *e,
			 const struct contract_output *c)
{
	bool other = false, strides = false;
	for (int d = 0; d < e->n_dim; d++) {
		other |= contract_known(k->e, e->dim[d].size) && contract_known(k->c, c->dim[d].size) &&
			 against_differs(k, e->dim[d].size, c->dim[d].size);
		if (!symsize_is_int(e->dim[d].size) || e->dim[d].size.k > 1)
			strides |= contract_known(k->e, e->dim[d].stride) && contract_known(k->c, c->dim[d].stride) &&
				   against_differs(k, e->dim[d].stride, c->dim[d].stride);
	}
	if (!other && !strides)
		return;
	struct against_finding *f =
	    against_found(k, other ? AGAINST_SIZE : AGAINST_STRIDE, AGAINST_OUTPUT, i, -1, !other);
	f->exported = against_sizes(k, k->e, e->dim, e->n_dim, !other);
	f->compiled = against_sizes(k, k->c, c->dim, c->n_dim, !other);
	f->why =
	    other
		? SLICE("what takes the result gets another size")
		: SLICE(
		      "the values are the same in another order in memory: .view() on the result may fail where it did "
		      "not in eager mode");
	if (!other)
		f->fix = SLICE("use .reshape(), or .contiguous() first, where the layout matters");
}

static void compare_output(struct compare *k, uint32_t i, const struct contract_output *e,
			   const struct contract_output *c)
{
	if (e->dtype != DTYPE_NONE && c->dtype != DTYPE_NONE && e->dtype != c->dtype) {
		struct against_finding *f = against_found(k, AGAINST_DTYPE, AGAINST_OUTPUT, i, -1, false);
		f->exported = against_text(k, "%s", dtype_name(e->dtype));
		f->compiled = against_text(k, "%s", dtype_name(c->dtype));
		f->why = SLICE("what takes the result gets another dtype");
	}
	if (e->device != DEVICE_NONE && c->device != DEVICE_NONE && e->device != c->device) {
		struct against_finding *f = against_found(k, AGAINST_DEVICE, AGAINST_OUTPUT, i, -1, false);
		f->exported = against_text(k, "%s", device_name(e->device));
		f->compiled = against_text(k, "%s", device_name(c->device));
		f->why = SLICE("what takes the result gets it on another device");
	}
	if (e->n_dim >= 0 && c->n_dim >= 0 && e->n_dim != c->n_dim) {
		struct against_finding *f = against_found(k, AGAINST_RANK, AGAINST_OUTPUT, i, -1, false);
		f->exported = against_text(k, "%d dims", e->n_dim);
		f->compiled = against_text(k, "%d dims", c->n_dim);
		f->why = SLICE("what takes the result gets another rank");
	} else if (e->n_dim >= 0 && c->n_dim >= 0) {
		output_shape(k, i, e, c);
	}
}

/* Not a tensor: None, or a number that the graph returns. */
static bool plain(const struct contract_output *o) { return o->n_dim < 0 && o->dtype == DTYPE_NONE; }

void against_outputs(struct compare *k)
{
	const struct contract *e = k->e, *c = k->c;
	uint32_t tensors = 0;
	for (uint32_t i = 0; i < e->n_outputs; i++)
		tensors += !plain(&e->output[i]);
	if (c->n_outputs != e->n_outputs && c->n_outputs != tensors) {
		struct against_finding *f = against_found(k, AGAINST_COUNT, AGAINST_WHOLE, CONTRACT_NONE, -1, false);
		f->exported = against_text(k, "%u outputs", e->n_outputs);
		f->compiled = against_text(k, "%u outputs", c->n_outputs);
		f->why = SLICE("results stand in other places than the export says");
		f->fix = SLICE("compile this exported program again");
		return;
	}
	for (uint32_t i = 0, j = 0; i < e->n_outputs && j < c->n_outputs; i++) {
		if (c->n_outputs != e->n_outputs && plain(&e->output[i]))
			continue;
		compare_output(k, i, &e->output[i], &c->output[j++]);
	}
}

/* ---- weights ---- */

struct names {
	struct buf b;
	uint32_t n;
};

static void add_name(struct names *l, struct slice name)
{
	if (l->n < NAMES)
		buf_addf(&l->b, "%s%.*s", l->n ? ", " : "", (int)(name.n < 200 ? name.n : 200), name.p);
	l->n++;
}

static struct slice names_text(struct compare *k, struct names *l)
{
	if (l->n > NAMES)
		buf_addf(&l->b, " and %u more", l->n - NAMES);
	struct slice s = arena_slice(&k->out->arena, buf_slice(&l->b));
	buf_release(&l->b);
	return s;
}

static bool same_shape(const struct contract_constant *e, const struct contract_constant *c)
{
	if (e->n_dim < 0 || c->n_dim < 0)
		return true;
	if (e->n_dim != c->n_dim)
		return false;
	for (int d = 0; d < e->n_dim; d++)
		if (symsize_is_int(e->dim[d].size) && symsize_is_int(c->dim[d].size) &&
		    e->dim[d].size.k != c->dim[d].size.k)
			return false;
	return true;
}

static void compare_constant(struct compare *k, const struct contract_constant *e, uint32_t index)
{
	const struct contract_constant *c = &k->c->constant[index];
	bool dtypes = e->dtype != DTYPE_NONE && c->dtype != DTYPE_NONE && e->dtype != c->dtype;
	if (!dtypes && same_shape(e, c))
		return;
	struct slice es = against_sizes(k, k->e, e->dim, e->n_dim, false),
		     cs = against_sizes(k, k->c, c->dim, c->n_dim, false);
	struct against_finding *f = against_found(k, AGAINST_CONSTANT, AGAINST_WEIGHT, index, -1, false);
	f->exported = against_text(k, "%s %.*s", dtype_name(e->dtype), (int)es.n, es.p);
	f->compiled = against_text(k, "%s %.*s", dtype_name(c->dtype), (int)cs.n, cs.p);
	f->why = SLICE("the weights of this export cannot be loaded into this binary: it computes with others");
	f->fix = SLICE("compile this exported program again");
}

/* Of the compiled constants with a module path: which the export has, which not. */
static uint32_t match(struct compare *k, const struct intern *known, uint32_t *which, bool *taken, struct names *extra,
		      uint32_t *paths)
{
	uint32_t shared = 0;
	for (uint32_t i = 0; i < k->c->n_constants; i++) {
		const struct contract_constant *c = &k->c->constant[i];
		if (!c->fqn.n || c->from_folded || c->type == CONSTANT_FOLDED)
			continue;
		(*paths)++;
		uint32_t at = intern_find(known, c->fqn);
		if (at == INTERN_NONE) {
			add_name(extra, c->fqn);
			continue;
		}
		shared++;
		taken[at] = true;
		compare_constant(k, &k->e->constant[which[at]], i);
	}
	return shared;
}

void against_constants(struct compare *k)
{
	struct intern known = {0};
	struct names extra = {0}, lost = {0};
	uint32_t paths = 0;
	uint32_t *which = xcalloc((size_t)k->e->n_constants + 1, sizeof(*which));
	bool *taken = xcalloc((size_t)k->e->n_constants + 1, sizeof(*taken));
	for (uint32_t i = 0; i < k->e->n_constants; i++)
		if (k->e->constant[i].fqn.n)
			which[intern_add(&known, k->e->constant[i].fqn)] = i;
	k->shared_weights = match(k, &known, which, taken, &extra, &paths);
	k->compiled_weights = paths;
	for (uint32_t i = 0; i < known.n; i++)
		if (!taken[i])
			add_name(&lost, intern_get(&known, i));
	uint32_t n_extra = extra.n, n_lost = lost.n;
	struct slice extra_text = names_text(k, &extra), lost_text = names_text(k, &lost);
	if (n_extra) {
		struct against_finding *f =
		    against_found(k, AGAINST_CONSTANT, AGAINST_WEIGHT, CONTRACT_NONE, -1, false);
		f->exported = SLICE("not there");
		f->compiled = extra_text;
		f->why = SLICE("the binary has weights that this export does not: they cannot be updated from it");
		f->fix = SLICE("compile this exported program again");
	}
	/* torch 2.13, torch/_inductor/graph.py, can_inline_constant. */
	if (n_lost && paths) {
		struct against_finding *f = against_found(k, AGAINST_CONSTANT, AGAINST_WEIGHT, CONTRACT_NONE, -1, true);
		f->exported = lost_text;
		f->compiled = SLICE("not there");
		f->why = SLICE(
		    "the compiled code does not use them, or has their values in its instructions (up to 8 numbers); "
		    "updating them changes nothing");
	}
	free(taken);
	free(which);
	intern_release(&known);
}

/* ---- the model ---- */

static bool resembles(const struct contract_input *e, const struct contract_input *c)
{
	if (e->dtype != DTYPE_NONE && c->dtype != DTYPE_NONE && e->dtype != c->dtype)
		return false;
	return c->rank_known ? c->n_dim == e->n_dim : c->n_dim <= e->n_dim;
}

static struct slice outline(struct compare *k, const struct contract *c)
{
	struct names l = {0};
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->n_constants; i++)
		if (c->constant[i].fqn.n) {
			n++;
			add_name(&l, c->constant[i].fqn);
		}
	struct slice names = names_text(k, &l);
	return against_text(k, "%u inputs, %u outputs, %u weights%s%.*s", c->n_inputs, c->n_outputs, n, n ? ": " : "",
			    (int)names.n, names.p);
}

/* Weights in common: at most another export of the same model. Else those that there are, or the inputs, tell. */
void against_model(struct compare *k)
{
	const struct contract *e = k->e, *c = k->c;
	uint32_t n = e->n_inputs < c->n_inputs ? e->n_inputs : c->n_inputs, alike = 0;
	for (uint32_t i = 0; i < n; i++)
		alike += resembles(&e->input[i], &c->input[i]);
	bool weights = e->n_constants && k->compiled_weights;
	bool inputs = n ? alike > 0 && e->n_inputs == c->n_inputs : e->n_inputs == c->n_inputs;
	if (k->shared_weights || (!weights && inputs))
		return;
	k->out->same_model = false;
	struct against_finding *f = against_found(k, AGAINST_MODEL, AGAINST_WHOLE, CONTRACT_NONE, -1, false);
	f->exported = outline(k, e);
	f->compiled = outline(k, c);
	f->why = SLICE("these look like two different models, and what follows may mean little");
	f->fix = SLICE("give the exported program that the package was compiled from");
}
