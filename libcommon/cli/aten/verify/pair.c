#include "model/elf/modelso.h"
#include "watch/dump.h"
#include "tensor/close.h"
#include "aten/verify/pair.h"
#include "base/pool.h"
#include "watch/show.h"

#include <pthread.h>

/* ---- weights, before anything is run: kernels are judged with the weights that they have ---- */

/* The bytes of a library's constants, one after the other (torch 2.13, torch/csrc/inductor/aoti_runtime/model_base.h,
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

/* The graph's weight with that module path, or NULL. */
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

static bool same_shape(const struct tensor_meta *a, const struct tensor_meta *b) { return a->dtype == b->dtype && tensor_same_sizes(a, b); }

static void compare_weight(struct pair *p, struct slice fqn, struct tensor_view *graph, const struct tensor_view *package)
{
	struct tensor_close close;
	int64_t bytes;
	const bool same_strides =
	    !memcmp(graph->meta.stride, package->meta.stride, (size_t)graph->meta.n_dim * sizeof(*graph->meta.stride));
	p->n_weights++;
	if (same_strides && tensor_extent(&graph->meta, &bytes) && !memcmp(graph->data, package->data, (size_t)bytes))
		return;
	tensor_close(&graph->meta, graph->data, &package->meta, package->data, (struct close_options){.given = true}, &close);
	if (close.same)
		return;
	PUSH_TO(p->weight, p->n_differing, p->cap_weights) = (struct differing){fqn, close.bad, close.n, close.max_abs};
	graph->meta = package->meta;
	graph->data = package->data;
}

/* The package's own, by their module paths, as views into it. */
static void read_weights(struct pair *p, struct slice bytes)
{
	const struct contract *c = &p->package_of.contract;
	struct weights *w = &p->package_weights;
	uint64_t at = 0;
	*w = (struct weights){.path = p->package, .v = xcalloc(c->n_constants + 1, sizeof(*w->v)), .own.map.fd = -1};
	for (uint32_t i = 0; i < c->n_constants; i++) {
		struct tensor_view *to = &w->v[w->n];
		int64_t extent;
		if (c->constant[i].from_folded)
			continue;
		if (c->constant[i].bytes > bytes.n - at)
			return; /* unknown layout */
		*to = (struct tensor_view){.name = c->constant[i].fqn.n ? c->constant[i].fqn : c->constant[i].name, .data = bytes.p + at};
		at += c->constant[i].bytes;
		w->n +=
		    meta_of(&c->constant[i], &to->meta) && tensor_extent(&to->meta, &extent) && (uint64_t)extent <= c->constant[i].bytes;
	}
}

static int compare_weights(struct pair *p, const struct pair_options *o, struct err *err)
{
	struct slice bytes;
	struct err why;
	if (p->has_package && !o->weights && constants_of(&p->package_of, &bytes))
		read_weights(p, bytes);
	if (program_lacks_weights(&p->program)) {
		if (program_take_weights(&p->program, &p->package_weights, &why) == 0)
			return 0;
		return err_set(err, why.status, "%s. The compiler puts small ones into the code: pass all weights with --weights FILE",
			       why.text);
	}
	for (size_t i = 0; i < p->package_weights.n; i++) {
		const struct tensor_view *there = &p->package_weights.v[i];
		struct tensor_view *here = weight_of(&p->program, there->name);
		if (here && same_shape(&here->meta, &there->meta))
			compare_weight(p, there->name, here, there);
	}
	return 0;
}

bool pair_inlined(const struct pair *p, const struct reference *ref, uint32_t node)
{
	const struct contract *c = &p->program.contract;
	if (!p->has_package || !p->package_of.contract.n_calls || !reference_is_weight(ref, node) || !reference_is_tensor(ref, node) ||
	    aten_numel(ref->v[node].tensor) > PAIR_MOST_INLINED)
		return false;
	const struct slice name = graph_name(ref->g, ref->first + node);
	struct slice fqn = SLICE("");
	for (uint32_t i = 0; i < c->n_constants; i++)
		if (slice_eq(c->constant[i].name, name))
			fqn = c->constant[i].fqn;
	for (uint32_t i = 0; i < p->package_of.contract.n_constants; i++)
		if (slice_eq(p->package_of.contract.constant[i].fqn, fqn))
			return false;
	return fqn.n > 0;
}

/* ---- both ---- */

static int open_graph(struct pair *p, const struct pair_options *o, struct err *err)
{
	if (!o->of && !graph_file_is(p->graph))
		return program_open(&p->program, p->graph, o->weights, err);
	if (graph_file_open(&p->alone, &p->program, p->graph, o->of, err) < 0)
		return -1;
	if (o->weights)
		return program_weights(&p->program, o->weights, err);
	return program_lacks_weights(&p->program) && p->is_dump
		   ? err_set(err, EXIT_USAGE, "'%s': neither it nor '%s' has the values of its parameters: pass them with --weights FILE",
			     p->graph, p->package)
		   : 0;
}

/* The package is read while the graph is. */
struct reading {
	struct pair *p;
	const char *model;
};

static void *read_package(void *of)
{
	const struct reading *r = of;
	struct err ignored;
	r->p->has_package = load_text(&r->p->package_of, r->p->package, (struct load_options){.model = r->model}, &ignored) == 0;
	return NULL;
}

static int open_both(struct pair *p, const struct pair_options *o, struct err *err)
{
	struct reading reading = {p, o->model};
	pthread_t thread;
	if (p->is_dump)
		return open_graph(p, o, err);
	const bool beside = cpu_count() > 1 && pthread_create(&thread, NULL, read_package, &reading) == 0;
	const int r = open_graph(p, o, err);
	if (beside)
		pthread_join(thread, NULL);
	else
		read_package(&reading);
	return r < 0 ? r : compare_weights(p, o, err);
}

int pair_open(struct pair *p, const char *graph, const char *package, struct pair_options o, struct err *err)
{
	*p = (struct pair){.graph = graph, .package = package, .is_dump = dump_like(package)};
	if (open_both(p, &o, err) < 0)
		return -1;
	p->program.more = o.more;
	return program_functionalize(&p->program, err);
}

void pair_close(struct pair *p)
{
	free(p->weight);
	program_close(&p->program);
	graph_file_close(&p->alone);
	weights_close(&p->package_weights);
	if (p->has_package)
		loaded_release(&p->package_of);
}

/* ---- one Run ---- */

/* Was that Run called with inputs that the graph accepts? */
static bool takes(const struct pair *p, const struct dump *d, const struct dump_call *run)
{
	const size_t n = p->program.contract.n_inputs;
	struct tensor_meta *meta = xcalloc(n + 1, sizeof(*meta));
	struct err ignored;
	const bool fit =
	    observed_inputs(d, run->model_id, run->run, meta, n) == n && inputs_check(&p->program.contract, meta, n, &ignored) == 0;
	free(meta);
	return fit;
}

int pair_choose(const struct pair *p, const struct dump *d, const char *model, uint32_t *model_id, struct err *err)
{
	const struct dump_call *first = NULL;
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_call *c = &d->call[i];
		if (c->kind != DUMP_RUN || (model && !slice_is(c->model, model)))
			continue;
		first = first ? first : c;
		if (takes(p, d, c)) {
			first = c;
			break;
		}
	}
	if (model && !first)
		return err_set(err, EXIT_USAGE, "'%s': model '%s' did not run in it", p->package, model);
	*model_id = first ? first->model_id : d->n ? d->call[0].model_id : 0;
	return 0;
}

static int inputs_fit(const struct pair *p, const struct tensor_view *in, size_t n, struct err *err)
{
	struct tensor_meta *meta = xcalloc(n + 1, sizeof(*meta));
	struct err why;
	for (size_t i = 0; i < n; i++)
		meta[i] = in[i].meta;
	const int r = inputs_check(&p->program.contract, meta, n, &why);
	free(meta);
	return r < 0
		   ? err_set(err, EXIT_INPUT, "'%s' does not accept these inputs; is it the graph of this package? %s", p->graph, why.text)
		   : 0;
}

/* The graph's inputs are those with which the package was called. */
static int take_inputs(const struct pair *p, const struct dump *d, struct held *h, struct err *err)
{
	const struct observed *o = &h->observed;
	h->in = xcalloc(o->n_inputs + 1, sizeof(*h->in));
	h->file = xcalloc(o->n_inputs + 1, sizeof(*h->file));
	if (o->n_inputs != p->program.contract.n_inputs)
		return err_set(err, EXIT_INPUT, "'%s' takes %u inputs, but the run saved %u: is it the graph of this package?%s", p->graph,
			       p->program.contract.n_inputs, o->n_inputs,
			       p->is_dump ? " (aoti-printer -o saves inputs only with --inputs)" : "");
	for (uint32_t i = 0; i < o->n_inputs; i++) {
		if (dump_tensor_open(&h->file[i], d, o->write[i].v, err) < 0)
			return -1;
		h->in[i] =
		    (struct tensor_view){.name = p->program.contract.input[i].name, .meta = h->file[i].meta, .data = h->file[i].data};
		h->n_in++;
	}
	return inputs_fit(p, h->in, h->n_in, err);
}

bool held_expect(struct held *h, const struct pair *p, const struct tensor_view *in, size_t n)
{
	int64_t bytes;
	if (n != p->program.contract.n_inputs)
		return false;
	h->expect = xcalloc(n + 1, sizeof(*h->expect));
	for (size_t i = 0; i < n; i++) {
		if (!tensor_extent(&in[i].meta, &bytes))
			return false;
		void *data = xmalloc((size_t)bytes);
		if (bytes)
			memcpy(data, in[i].data, (size_t)bytes);
		h->expect[h->n_expect++] =
		    (struct tensor_view){.name = p->program.contract.input[i].name, .meta = in[i].meta, .data = data};
	}
	return true;
}

void held_ahead(struct held *h, const struct pair *p, uint64_t max_bytes)
{
	struct err ignored; /* held_observe() says it */
	h->ahead = inputs_fit(p, h->expect, h->n_expect, &ignored) == 0 &&
		   reference_open(&h->ref, &p->program, h->expect, h->n_expect, NULL, max_bytes, &ignored) == 0;
}

static bool is_expected(const struct held *h)
{
	int64_t bytes;
	for (size_t i = 0; i < h->n_in; i++) {
		const struct tensor_meta *a = &h->in[i].meta, *b = &h->expect[i].meta;
		if (!same_shape(a, b) || memcmp(a->stride, b->stride, (size_t)a->n_dim * sizeof(*a->stride)) || !tensor_extent(a, &bytes) ||
		    (bytes && memcmp(h->in[i].data, h->expect[i].data, (size_t)bytes)))
			return false;
	}
	return true;
}

static int take_reference(struct held *h, const struct pair *p, const struct held *before, uint64_t max_bytes, struct err *err)
{
	if (h->ahead && is_expected(h))
		return 0;
	if (h->ahead)
		reference_close(&h->ref);
	h->ahead = false;
	return reference_open(&h->ref, &p->program, h->in, h->n_in, before ? &before->ref : NULL, max_bytes, err);
}

int held_observe(struct held *h, const struct pair *p, const struct dump *d, uint32_t model_id, uint32_t run, const struct held *before,
		 uint64_t max_bytes, struct err *err)
{
	if (observed_read(&h->observed, d, model_id, run, err) < 0 || take_inputs(p, d, h, err) < 0 ||
	    take_reference(h, p, before, max_bytes, err) < 0) {
		held_close(h);
		return -1;
	}
	verify_run(&h->verify, &h->observed, &h->ref);
	return 0;
}

int held_open(struct held *h, const struct pair *p, const struct dump *d, uint32_t model_id, uint32_t run, const struct held *before,
	      uint64_t max_bytes, struct err *err)
{
	*h = (struct held){0};
	return held_observe(h, p, d, model_id, run, before, max_bytes, err);
}

void held_close(struct held *h)
{
	if (h->verify.o)
		verify_release(&h->verify);
	if (!h->borrows)
		reference_close(&h->ref);
	for (size_t k = 0; k < h->n_in; k++)
		dump_tensor_close(&h->file[k]);
	for (size_t k = 0; k < h->n_expect; k++)
		free((void *)(uintptr_t)h->expect[k].data);
	free(h->expect);
	free(h->in);
	free(h->file);
	observed_release(&h->observed);
	*h = (struct held){0};
}

struct slice held_line(const struct held *h, uint32_t node)
{
	const uint32_t stack = h->ref.g->node[h->ref.first + node].stack;
	return stack == NONE ? SLICE("") : graph_text(h->ref.g, stack);
}

void held_add_place(struct buf *b, const struct held *h, uint32_t node, int64_t at)
{
	const struct aten_tensor *x = h->ref.v[node].tensor;
	int64_t index[ATEN_DIMS];
	for (int d = x->n_dim; d-- > 0;) {
		index[d] = x->size[d] ? at % x->size[d] : 0;
		at = x->size[d] ? at / x->size[d] : 0;
	}
	buf_addc(b, '[');
	show_numbers(b, index, x->n_dim);
	buf_addc(b, ']');
}
