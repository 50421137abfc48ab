/* exportdiff_model.c - compares everything except inputs: outputs, weights, and whether the two are the same model at all. */
#include <ctype.h>

#include "exportdiff/exportdiff_part.h"

enum { NAMES = 8 }; /* of weights in one finding */

/* ---- outputs ---- */

static void output_shape(struct compare *k, uint32_t i, const struct contract_output *e, const struct contract_output *c)
{
	bool other = false, strides = false;
	for (int d = 0; d < e->n_dim; d++) {
		other |= contract_known(k->e, e->dim[d].size) && contract_known(k->c, c->dim[d].size) &&
			 exportdiff_differs(k, e->dim[d].size, c->dim[d].size);
		if (!symsize_is_int(e->dim[d].size) || e->dim[d].size.k > 1)
			strides |= contract_known(k->e, e->dim[d].stride) && contract_known(k->c, c->dim[d].stride) &&
				   exportdiff_differs(k, e->dim[d].stride, c->dim[d].stride);
	}
	if (!other && !strides)
		return;
	struct exportdiff_finding *f = exportdiff_found(k, other ? EXPORTDIFF_SIZE : EXPORTDIFF_STRIDE, EXPORTDIFF_OUTPUT, i, -1, !other);
	f->exported = exportdiff_sizes(k, k->e, e->dim, e->n_dim, !other);
	f->compiled = exportdiff_sizes(k, k->c, c->dim, c->n_dim, !other);
	f->why = other ? SLICE("consumers of the result get a different size")
		       : SLICE("the values are the same in a different memory layout: .view() on the result may fail where it did "
			       "not in eager mode");
	if (!other)
		f->fix = SLICE("use .reshape(), or call .contiguous() first if the layout matters");
}

static void compare_output(struct compare *k, uint32_t i, const struct contract_output *e, const struct contract_output *c)
{
	if (e->dtype != DTYPE_NONE && c->dtype != DTYPE_NONE && e->dtype != c->dtype) {
		struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_DTYPE, EXPORTDIFF_OUTPUT, i, -1, false);
		f->exported = exportdiff_text(k, "%s", dtype_name(e->dtype));
		f->compiled = exportdiff_text(k, "%s", dtype_name(c->dtype));
		f->why = SLICE("consumers of the result get a different dtype");
	}
	if (e->device != DEVICE_NONE && c->device != DEVICE_NONE && e->device != c->device) {
		struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_DEVICE, EXPORTDIFF_OUTPUT, i, -1, false);
		f->exported = exportdiff_text(k, "%s", device_name(e->device));
		f->compiled = exportdiff_text(k, "%s", device_name(c->device));
		f->why = SLICE("consumers of the result get it on a different device");
	}
	if (e->n_dim >= 0 && c->n_dim >= 0 && e->n_dim != c->n_dim) {
		struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_RANK, EXPORTDIFF_OUTPUT, i, -1, false);
		f->exported = exportdiff_text(k, "%d dims", e->n_dim);
		f->compiled = exportdiff_text(k, "%d dims", c->n_dim);
		f->why = SLICE("consumers of the result get a different rank");
	} else if (e->n_dim >= 0 && c->n_dim >= 0) {
		output_shape(k, i, e, c);
	}
}

/* Not a tensor: None, or a number that the graph returns. */
static bool plain(const struct contract_output *o) { return o->n_dim < 0 && o->dtype == DTYPE_NONE; }

void exportdiff_outputs(struct compare *k)
{
	const struct contract *e = k->e, *c = k->c;
	uint32_t tensors = 0;
	for (uint32_t i = 0; i < e->n_outputs; i++)
		tensors += !plain(&e->output[i]);
	if (c->n_outputs != e->n_outputs && c->n_outputs != tensors) {
		struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_COUNT, EXPORTDIFF_WHOLE, NONE, -1, false);
		f->exported = exportdiff_text(k, "%u output%s", e->n_outputs, plural(e->n_outputs));
		f->compiled = exportdiff_text(k, "%u output%s", c->n_outputs, plural(c->n_outputs));
		f->why = SLICE("results are at different positions than in the export");
		f->fix = SLICE("recompile this exported program");
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

static void add_missing_name(struct names *l, struct slice name)
{
	if (l->n < NAMES)
		buf_addf(&l->b, "%s%.*s", l->n ? ", " : "", SLN(name, 200));
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
		if (symsize_is_int(e->dim[d].size) && symsize_is_int(c->dim[d].size) && e->dim[d].size.k != c->dim[d].size.k)
			return false;
	return true;
}

static void compare_constant(struct compare *k, const struct contract_constant *e, uint32_t index)
{
	const struct contract_constant *c = &k->c->constant[index];
	bool dtypes = e->dtype != DTYPE_NONE && c->dtype != DTYPE_NONE && e->dtype != c->dtype;
	if (!dtypes && same_shape(e, c))
		return;
	struct slice es = exportdiff_sizes(k, k->e, e->dim, e->n_dim, false), cs = exportdiff_sizes(k, k->c, c->dim, c->n_dim, false);
	struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_CONSTANT, EXPORTDIFF_WEIGHT, index, -1, false);
	f->exported = exportdiff_text(k, "%s %.*s", dtype_name(e->dtype), SL(es));
	f->compiled = exportdiff_text(k, "%s %.*s", dtype_name(c->dtype), SL(cs));
	f->why = SLICE("the weights of this export cannot be loaded into this binary: it uses different ones");
	f->fix = SLICE("recompile this exported program");
}

/* A constant made by the compiler has no path in the module, and no export has its name. All but the first may be followed by a suffix
 * ("constant4_0", "_frozen_param3_BMatrixCompens"). torch 2.13 and 2.15, torch/_inductor: constant_folding.py
 * (replace_node_with_constant: freezing, which folds and packs), graph.py (allocate_non_dup_const_name: packed for a template, a
 * number), compile_fx.py (_resolve_name_collision: torch.tensor([...]) in forward; split_const_gm), mkldnn_lowerings.py. */
static bool made_by_compiler(struct slice fqn)
{
	static const char *const whole[] = {"x_scale", "x_zp", "w_zp"},
				 *const numbered[] = {"_frozen_param", "constant", "_tensor_constant"},
				 *const last[] = {"_x_w_compens", "_BMatrixCompens"};
	for (size_t i = 0; i < ARRAY_LEN(whole); i++)
		if (slice_is(fqn, whole[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(last); i++)
		if (slice_ends(fqn, last[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(numbered); i++) {
		size_t n = strlen(numbered[i]), digits = n;
		while (slice_starts(fqn, numbered[i]) && digits < fqn.n && is_digit(fqn.p[digits]))
			digits++;
		if (digits > n && (digits == fqn.n || fqn.p[digits] == '_'))
			return true;
	}
	return slice_starts(fqn, "_FOLDED_CONST_");
}

/* A constant that is needed on another device is copied when compiling: "up_weight_cuda0" of "up.weight" (graph.py, constant_name;
 * names in the code: normalize_name, and "constant_" before a digit). */
static uint32_t copy_of(const struct intern *known, struct slice fqn)
{
	static const char *const device[] = {"_cpu", "_cuda", "_xpu", "_mps"};
	size_t n = fqn.n;
	while (n && is_digit(fqn.p[n - 1]))
		n--;
	bool copied = false;
	for (size_t i = 0; i < ARRAY_LEN(device) && n < fqn.n && !copied; i++)
		if (slice_ends(slice_of(fqn.p, n), device[i])) {
			n -= strlen(device[i]);
			copied = true;
		}
	for (uint32_t i = 0; copied && i < known->n; i++) {
		struct slice name = intern_get(known, i), of = slice_of(fqn.p, n);
		if (name.n && is_digit(name.p[0]) && slice_starts(of, "constant_"))
			of = slice_of(of.p + strlen("constant_"), of.n - strlen("constant_"));
		size_t c = 0;
		while (c < name.n && c < of.n && (name.p[c] == of.p[c] || (of.p[c] == '_' && !isalnum((unsigned char)name.p[c]))))
			c++;
		if (c == name.n && c == of.n)
			return i;
	}
	return NONE;
}

/* How many numbers; -1 if unknown. */
static int64_t constant_numel(const struct contract_constant *c)
{
	int64_t n = c->n_dim < 0 ? -1 : 1;
	for (int d = 0; d < c->n_dim; d++)
		if (!symsize_is_int(c->dim[d].size) || __builtin_mul_overflow(n, c->dim[d].size.k, &n))
			return -1;
	return n;
}

/* Folding and packing usually keep the number of values. */
static bool as_many(const struct compare *k, const struct contract_constant *c)
{
	int64_t n = constant_numel(c);
	for (uint32_t i = 0; n >= 0 && i < k->e->n_constants; i++)
		if (constant_numel(&k->e->constant[i]) == n)
			return true;
	return false;
}

/* Sorts the compiled constants: those with a module path in the export, those with another path, and those without a path. */
static void match_constants(struct compare *k, const struct intern *known, uint32_t *which, bool *taken, struct names *extra,
			    struct names *made)
{
	for (uint32_t i = 0; i < k->c->n_constants; i++) {
		const struct contract_constant *c = &k->c->constant[i];
		if (!c->fqn.n || c->from_folded || c->type == CONSTANT_FOLDED)
			continue;
		uint32_t at = intern_find(known, c->fqn);
		if (at == NONE)
			at = copy_of(known, c->fqn);
		if (at != NONE) {
			k->shared_weights++;
			taken[at] = true;
			compare_constant(k, &k->e->constant[which[at]], i);
		} else if (made_by_compiler(c->fqn)) {
			k->made_alike += as_many(k, c);
			add_missing_name(made, c->name.n ? c->name : c->fqn);
		} else {
			add_missing_name(extra, c->fqn);
		}
	}
	k->compiled_weights = k->shared_weights + extra->n;
	k->made = made->n;
}

static void weights_found(struct compare *k, struct slice exported, struct slice compiled, bool advice, const char *why, const char *fix)
{
	struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_CONSTANT, EXPORTDIFF_WEIGHT, NONE, -1, advice);
	f->exported = exported;
	f->compiled = compiled;
	f->why = slice_str(why);
	f->fix = slice_str(fix);
}

void exportdiff_constants(struct compare *k)
{
	struct intern known = {0};
	struct names extra = {0}, made = {0}, lost = {0};
	uint32_t *which = xcalloc((size_t)k->e->n_constants + 1, sizeof(*which));
	bool *taken = xcalloc((size_t)k->e->n_constants + 1, sizeof(*taken));
	for (uint32_t i = 0; i < k->e->n_constants; i++)
		if (k->e->constant[i].fqn.n)
			which[intern_add(&known, k->e->constant[i].fqn)] = i;
	match_constants(k, &known, which, taken, &extra, &made);
	for (uint32_t i = 0; i < known.n; i++)
		if (!taken[i])
			add_missing_name(&lost, intern_get(&known, i));
	uint32_t n_extra = extra.n, n_lost = lost.n;
	struct slice extra_text = names_text(k, &extra), made_text = names_text(k, &made), lost_text = names_text(k, &lost);
	if (n_extra)
		weights_found(k, SLICE("missing"), extra_text, false,
			      "the binary has weights that this export does not: they cannot be updated from it",
			      "recompile this exported program");
	if (k->made)
		weights_found(k, SLICE("missing"), made_text, true,
			      "made by the compiler: weights folded or packed by freezing, and tensors that the program "
			      "spells out; they cannot be updated from an export, and their values are not compared",
			      "");
	/* torch 2.13, torch/_inductor/graph.py, can_inline_constant. */
	if (n_lost && (k->compiled_weights || k->made))
		weights_found(k, lost_text, SLICE("missing"), true,
			      k->made ? "the compiled code folded or packed them into constants of its own, has their values in its "
					"instructions (up to 8 numbers), or does not use them; updating them changes nothing"
				      : "the compiled code does not use them, or has their values in its instructions (up to 8 numbers); "
					"updating them changes nothing",
			      "");
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
			add_missing_name(&l, c->constant[i].fqn);
		}
	struct slice names = names_text(k, &l);
	return exportdiff_text(k, "%u input%s, %u output%s, %u weight%s%s%.*s", c->n_inputs, plural(c->n_inputs), c->n_outputs,
			       plural(c->n_outputs), n, plural(n), n ? ": " : "", SL(names));
}

/* As many numbers as become instructions: torch 2.13, torch/_inductor/graph.py, can_inline_constant. */
static bool all_small(const struct contract *e)
{
	for (uint32_t i = 0; i < e->n_constants; i++)
		if (constant_numel(&e->constant[i]) > 8)
			return false;
	return true;
}

/* The binary has no weights with usable names: what else shows that it is this model? */
static void unnamed(struct compare *k)
{
	struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_MODEL, EXPORTDIFF_WHOLE, NONE, -1, true);
	f->exported = outline(k, k->e);
	f->compiled = outline(k, k->c);
	k->out->unproved = !k->made_alike;
	struct slice sizes = SLICE("");
	if (k->made)
		sizes =
		    exportdiff_text(k, " and sizes (%u of %u weights have as many elements as one of this export)", k->made_alike, k->made);
	f->why = exportdiff_text(k, "no weight kept its name: only inputs, outputs%.*s suggest that they are the same model%s", SL(sizes),
				 k->made_alike ? "" : ", which is not enough");
}

/* Weights in common: the same model, possibly another export of it. Otherwise the weights or the inputs decide. */
void exportdiff_model(struct compare *k)
{
	const struct contract *e = k->e, *c = k->c;
	uint32_t n = e->n_inputs < c->n_inputs ? e->n_inputs : c->n_inputs, alike = 0;
	for (uint32_t i = 0; i < n; i++)
		alike += resembles(&e->input[i], &c->input[i]);
	bool weights = e->n_constants && k->compiled_weights;
	bool inputs = n ? alike > 0 && e->n_inputs == c->n_inputs : e->n_inputs == c->n_inputs;
	if (k->shared_weights)
		return;
	if (!weights && inputs) {
		if (e->n_constants && (k->made || (!c->n_constants && !all_small(e))))
			unnamed(k);
		return;
	}
	k->out->same_model = false;
	struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_MODEL, EXPORTDIFF_WHOLE, NONE, -1, false);
	f->exported = outline(k, e);
	f->compiled = outline(k, c);
	f->why = SLICE("these look like two different models: the rest may mean little");
	f->fix = SLICE("give the exported program that the package was compiled from");
}
