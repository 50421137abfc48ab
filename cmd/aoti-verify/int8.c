/* int8.c - of a quantized model: which matrix products and convolutions ran in int8, and why others did not.
 *
 * A quantized product has an operand that is the result of a dequantize operator. torch.compile replaces it by an operator of oneDNN
 * that takes int8 only while freezing, and only where its pattern matches (torch 2.13 and 2.15, torch/_inductor/fx_passes/quantization.py:
 * _is_valid_dequant_linear_pattern, _is_valid_dequant_conv_pattern); nothing says so when it does not. */
#include "model/doctor/doctor.h"
#include "verifier.h"

/* ---- products of the graph ---- */

static struct slice op_of(const struct reference *ref, uint32_t node)
{
	return slice_until(slice_behind(graph_op_text(ref->g, ref->first + node), "."), "."); /* of "aten.linear.default" */
}

static bool is_one_of(struct slice op, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_is(op, names[i]))
			return true;
	return false;
}

static bool is_product(const struct reference *ref, uint32_t node)
{
	static const char *const names[] = {"linear", "matmul",           "mm",          "addmm",  "bmm",    "baddbmm",
					    "conv1d", "conv_transpose1d", "convolution", "conv2d", "conv3d", "conv_transpose2d",
					    "einsum", "conv_transpose3d", "_int_mm"};
	return is_one_of(op_of(ref, node), names, ARRAY_LEN(names));
}

static bool is_conv(struct slice op) { return slice_starts(op, "conv"); }

/* What changes neither numbers nor how they are quantized. */
static bool is_layout(struct slice op)
{
	static const char *const names[] = {"view",       "reshape", "permute",   "transpose", "t",      "expand",
					    "contiguous", "clone",   "unsqueeze", "squeeze",   "to",     "_to_copy",
					    "flatten",    "slice",   "unflatten", "alias",     "detach", "convert_element_type"};
	return is_one_of(op, names, ARRAY_LEN(names));
}

/* Or an int8 weight, which torchao converts and multiplies by its scale after the product. */
static bool is_dequantize(const struct reference *ref, uint32_t node)
{
	return ref->v[node].tensor->dtype == DTYPE_I8 || slice_find(graph_op_text(ref->g, ref->first + node), "dequantize") != NULL;
}

struct product_operands {
	const struct reference *ref;
	uint32_t node[4], n;
};

static bool add_operand(void *user, uint32_t operand)
{
	struct product_operands *o = user;
	const uint32_t node = operand - o->ref->first;
	if (reference_is_tensor(o->ref, node) && o->n < ARRAY_LEN(o->node))
		o->node[o->n++] = node;
	return true;
}

static struct product_operands operands_of(const struct reference *ref, uint32_t node)
{
	struct product_operands o = {.ref = ref};
	graph_operands(ref->g, ref->first + node, add_operand, &o);
	return o;
}

/* The node that dequantizes what becomes this one; NONE. */
static uint32_t dequantized(const struct reference *ref, uint32_t node)
{
	while (!is_dequantize(ref, node)) {
		const struct product_operands o = operands_of(ref, node);
		if (!is_layout(op_of(ref, node)) || !o.n)
			return NONE;
		node = o.node[0];
	}
	return node;
}

/* The products from which a value comes, with none in between, are marked. */
static void mark_products(const struct reference *ref, uint32_t node, bool *seen, bool *product)
{
	uint32_t *todo = NULL, n = 0, cap = 0;
	PUSH_TO(todo, n, cap) = node;
	while (n) {
		const uint32_t at = todo[--n];
		if (seen[at])
			continue;
		seen[at] = true;
		if (is_product(ref, at)) {
			product[at] = true;
			continue;
		}
		const struct product_operands o = operands_of(ref, at);
		for (uint32_t i = 0; i < o.n; i++)
			PUSH_TO(todo, n, cap) = o.node[i];
	}
	free(todo);
}

/* ---- calls of the package ---- */

static bool in_int8(struct slice kernel)
{
	static const char *const parts[] = {"qlinear", "qconv", "int_mm", "int8pack_mm"};
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (slice_find(kernel, parts[i]))
			return true;
	return false;
}

/* Which call computed each product: an operator of oneDNN that also applies what follows writes a later node. Of several products the last
 * one that no call has is it. */
static void find_call(const struct trial *t, uint32_t c, struct int8_report *r)
{
	const struct observed *o = &t->h.observed;
	const struct reference *ref = &t->h.ref;
	bool *seen = xcalloc(ref->n + 1, sizeof(*seen)), *product = xcalloc(ref->n + 1, sizeof(*product));
	for (uint32_t w = o->call[c].write; w < o->call[c].write + o->call[c].n_writes; w++) {
		const struct verify_match *m = verify_written_as(&t->h.verify, w);
		if (m && m->node >= ref->program->n_inputs && !verify_reads(&t->h.verify, c, m->node))
			mark_products(ref, m->node, seen, product);
	}
	const bool int8 = !o->call[c].compiled && in_int8(o->call[c].d->name);
	for (uint32_t i = r->n; i-- > 0;) {
		if (!product[r->v[i].node] || r->v[i].call != NONE)
			continue;
		r->v[i].call = c;
		r->v[i].int8 = int8;
		break;
	}
	free(seen);
	free(product);
}

/* ---- why not ---- */

static bool is_written(const struct trial *t, uint32_t node)
{
	for (uint32_t w = t->h.observed.n_inputs; w < t->h.observed.n_writes; w++)
		if (t->h.observed.call[t->h.observed.write[w].call].compiled && verify_holds(&t->h.verify.write[w], node))
			return true;
	return false;
}

/* torch 2.13 and 2.15, torch/_inductor/decomposition.py, addmm (with a bias) and mm. */
static bool becomes_sum(const struct aten_tensor *x, const struct aten_tensor *result, bool bias)
{
	const int64_t k = x->n_dim ? x->size[x->n_dim - 1] : 0, columns = result->n_dim ? result->size[result->n_dim - 1] : 0;
	return k && aten_numel(x) == k && (columns == 1 || (bias && k <= 16 && columns <= 16));
}

static const char *operand_why(const struct reference *ref, struct slice op, uint32_t x, uint32_t w)
{
	if (w == NONE)
		return x == NONE ? NULL : "only one operand is quantized: int8 needs a quantized weight, too";
	if (x == NONE)
		return "only its weight is quantized, which is converted to floating point before the product";
	if (!slice_find(graph_op_text(ref->g, ref->first + w), "per_channel"))
		return "its weight is not quantized per channel, as Inductor's int8 products need it";
	if (!slice_find(graph_op_text(ref->g, ref->first + x), "per_tensor"))
		return "its input is not quantized per tensor, as Inductor's int8 products need it";
	if (slice_find(op, "transpose"))
		return "Inductor has no int8 form of a transposed convolution";
	return NULL;
}

static const char *why_not(const struct trial *t, const struct int8_report *r, const struct int8_product *p)
{
	const struct reference *ref = &t->h.ref;
	const struct slice op = op_of(ref, p->node);
	const struct product_operands o = operands_of(ref, p->node);
	const uint32_t at = slice_is(op, "addmm") || slice_is(op, "baddbmm") ? 1 : 0;
	if (o.n < at + 2)
		return "not known";
	const uint32_t x = dequantized(ref, o.node[at]), w = dequantized(ref, o.node[at + 1]);
	const struct aten_tensor *input = ref->v[o.node[at]].tensor;
	if (p->call != NONE && slice_find(t->h.observed.call[p->call].d->name, "gemm"))
		return "it is a GEMM that was generated for it, which may use int8: its text tells";
	const char *why = operand_why(ref, op, x, w);
	if (why)
		return why;
	if (!r->n_int8 && is_written(t, w))
		return "compiled without freezing: the weight is converted to floating point in each run. Compile with "
		       "inductor_configs={\"freezing\": True}";
	if (is_conv(op) && input->n_dim != 3 && input->n_dim != 4)
		return "Inductor has int8 convolutions of 1 and 2 dimensions only, with a batch";
	if (!is_conv(op) && becomes_sum(input, ref->v[p->node].tensor, o.n > 2))
		return "one row, and a small weight or one column: Inductor writes such a product as a sum";
	return r->n_int8 ? "Inductor's pattern for int8 did not match; why is not known"
			 : "not known: no product of this package is in int8. Compile with inductor_configs={\"freezing\": True}";
}

/* ---- all ---- */

static bool is_quantized(const struct reference *ref, uint32_t node)
{
	const struct product_operands o = operands_of(ref, node);
	bool yes = false;
	for (uint32_t i = 0; i < o.n; i++)
		yes |= dequantized(ref, o.node[i]) != NONE;
	return yes;
}

void int8_report(struct int8_report *r, const struct verifier *v)
{
	*r = (struct int8_report){0};
	if (!v->n_trials || v->trial[0]->kind > INPUTS_MADE)
		return;
	const struct trial *t = v->trial[0];
	const struct reference *ref = &t->h.ref;
	for (uint32_t i = ref->program->n_inputs; i < ref->n; i++)
		if (reference_is_tensor(ref, i) && is_product(ref, i)) {
			if (is_quantized(ref, i))
				PUSH_TO(r->v, r->n, r->cap) = (struct int8_product){.node = i, .call = NONE};
			else
				r->n_others++;
		}
	for (uint32_t c = 0; r->n && c < t->h.observed.n_calls; c++)
		find_call(t, c, r);
	for (uint32_t i = 0; i < r->n; i++)
		r->n_int8 += r->v[i].int8;
	for (uint32_t i = 0; i < r->n; i++)
		r->v[i].why = r->v[i].int8 ? NULL : why_not(t, r, &r->v[i]);
	struct doctor_host host;
	doctor_host_here(&host);
	r->no_vnni = r->n_int8 && !strcmp(host.machine, "x86_64") && !(host.isa & (ISA(AVX512VNNI) | ISA(AVXVNNI)));
}

void int8_release(struct int8_report *r)
{
	free(r->v);
	*r = (struct int8_report){0};
}
