/* Parameters and buffers of graph and package, before anything is run: kernels are judged by the weights that they have. */
#include "elf/modelso.h"
#include "tensor/close.h"
#include "verifier.h"

/* The bytes that a library's constants are in, one after the other (torch 2.13, torch/csrc/inductor/aoti_runtime/model_base.h,
 * load_constants). False: it has none, or they are elsewhere. */
static bool constants_in(struct loaded *l, struct modelso *so, struct slice *bytes)
{
	struct slice text, blob;
	struct err ignored;
	if (package_data(&l->pkg, l->model->so, &text, &ignored) < 0 || modelso_open(so, text, "model.so", &ignored) < 0)
		return false;
	const struct modelso_constants *c = &so->constants;
	if (c->damage[0] || c->form == CONSTANTS_NONE)
		return false;
	if (c->form == CONSTANTS_BLOB) {
		if (!l->model->weights_blob || package_data(&l->pkg, l->model->weights_blob, &blob, &ignored) < 0 || blob.n < c->size)
			return false;
		*bytes = slice_of(blob.p, c->size);
		return true;
	}
	*bytes = slice_of(text.p + c->offset, c->size);
	return c->offset <= text.n && c->size <= text.n - c->offset;
}

static bool constants_of(struct loaded *l, struct slice *bytes)
{
	struct modelso so = {0};
	const bool there = constants_in(l, &so, bytes);
	modelso_close(&so);
	return there;
}

static bool meta_of(const struct contract_constant *c, struct tensor_meta *m)
{
	for (int d = 0; d < c->n_dim; d++)
		if (!symsize_is_int(c->dim[d].size) || !symsize_is_int(c->dim[d].stride))
			return false;
	constant_meta(c, m);
	return true;
}

/* The graph's weight of that module path; NULL. */
static struct tensor_view *weight_of(struct program *p, struct slice fqn)
{
	for (uint32_t i = 0; i < p->contract.n_constants; i++) {
		if (!fqn.n || !slice_eq(p->contract.constant[i].fqn, fqn))
			continue;
		for (size_t k = 0; k < p->fit.n; k++)
			if (slice_eq(p->fit.v[k].name, p->contract.constant[i].name))
				return &p->fit.v[k];
	}
	return NULL;
}

static bool same_shape(const struct tensor_meta *a, const struct tensor_meta *b)
{
	return a->dtype == b->dtype && a->n_dim == b->n_dim && !memcmp(a->size, b->size, (size_t)a->n_dim * sizeof(*a->size));
}

static void compare(struct verifier *v, struct slice fqn, struct tensor_view *graph, const struct tensor_view *package)
{
	struct tensor_close close;
	int64_t bytes;
	const bool same_strides =
	    !memcmp(graph->meta.stride, package->meta.stride, (size_t)graph->meta.n_dim * sizeof(*graph->meta.stride));
	v->n_weights++;
	if (same_strides && tensor_extent(&graph->meta, &bytes) && !memcmp(graph->data, package->data, (size_t)bytes))
		return;
	tensor_close(&graph->meta, graph->data, &package->meta, package->data, (struct close_options){.given = true}, &close);
	if (close.same)
		return;
	GROW(v->weight, v->n_differing, v->cap_weights, 1);
	v->weight[v->n_differing++] = (struct differing){fqn, close.bad, close.n, close.max_abs};
	graph->meta = package->meta;
	graph->data = package->data;
}

/* The package's own, by their module paths, as views into it. */
static void read_weights(struct verifier *v, struct slice bytes)
{
	const struct contract *c = &v->package_of.contract;
	struct weights *w = &v->package_weights;
	uint64_t at = 0;
	*w = (struct weights){.path = v->package, .v = xcalloc(c->n_constants + 1, sizeof(*w->v)), .own.map.fd = -1};
	for (uint32_t i = 0; i < c->n_constants; i++) {
		struct tensor_view *to = &w->v[w->n];
		int64_t extent;
		if (c->constant[i].from_folded)
			continue;
		if (c->constant[i].bytes > bytes.n - at)
			return; /* it is another layout than the one that is known */
		*to = (struct tensor_view){.name = c->constant[i].fqn.n ? c->constant[i].fqn : c->constant[i].name, .data = bytes.p + at};
		at += c->constant[i].bytes;
		w->n +=
		    meta_of(&c->constant[i], &to->meta) && tensor_extent(&to->meta, &extent) && (uint64_t)extent <= c->constant[i].bytes;
	}
}

int weights_compare(struct verifier *v, struct err *err)
{
	struct slice bytes;
	struct err ignored;
	v->has_package = load_text(&v->package_of, v->package, (struct load_options){.model = v->o->model}, &ignored) == 0;
	if (v->has_package && !v->o->weights && constants_of(&v->package_of, &bytes))
		read_weights(v, bytes);
	if (program_lacks_weights(&v->program)) {
		struct err why;
		if (program_take_weights(&v->program, &v->package_weights, &why) == 0)
			return 0;
		return err_set(err, why.status, "%s. The compiler puts small ones into the code: give them all (--weights FILE)", why.text);
	}
	for (size_t i = 0; i < v->package_weights.n; i++) {
		const struct tensor_view *there = &v->package_weights.v[i];
		struct tensor_view *here = weight_of(&v->program, there->name);
		if (here && same_shape(&here->meta, &there->meta))
			compare(v, there->name, here, there);
	}
	return 0;
}
