/* Sums and maxima over dimensions, where the generated interface has them. */
#include "elem.h"

/* Sizes of t with the chosen dims 1, and without them. No dims: all. */
struct reduced {
	bool chosen[SHIM_DIMS];
	int n_dim;
	int64_t with[SHIM_DIMS], without[SHIM_DIMS];
};

static void choose(struct reduced *r, const struct shim_tensor *t, const int64_t *dim, int64_t n)
{
	memset(r, 0, sizeof(*r));
	for (int i = 0; i < t->n_dim; i++)
		r->chosen[i] = !n;
	for (int64_t k = 0; k < n; k++) {
		int d = shim_dim(t, dim[k]);
		if (r->chosen[d])
			shim_fail("dimension %d twice", d);
		r->chosen[d] = true;
	}
	for (int i = 0; i < t->n_dim; i++) {
		r->with[i] = r->chosen[i] ? 1 : t->size[i];
		if (!r->chosen[i])
			r->without[r->n_dim++] = t->size[i];
	}
}

/* A tensor of the reduced sizes seen with t's: the position of every element's result. */
static struct shim_tensor *spread(struct shim_tensor *out, const struct shim_tensor *t, const struct reduced *r)
{
	int64_t stride[SHIM_DIMS];
	shim_contiguous_strides(t->n_dim, r->with, stride);
	for (int i = 0; i < t->n_dim; i++)
		stride[i] = r->chosen[i] ? 0 : stride[i];
	return shim_view(out, t->n_dim, t->size, stride, 0);
}

/* NaN wins (aten/src/ATen/native/ReduceOps.cpp, amax). */
AOTITorchError aoti_torch_aten_amax(AtenTensorHandle self, const int64_t *dim, int64_t n_dim, int32_t keepdim, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct reduced r;
		elem_need_real(self);
		choose(&r, self, dim, n_dim);
		struct shim_tensor *out =
		    keepdim ? shim_new(self->dtype, self->n_dim, r.with, NULL) : shim_new(self->dtype, r.n_dim, r.without, NULL);
		struct shim_tensor *all = self;
		if (shim_numel(out) && !shim_numel(self))
			shim_fail("amax over a dimension of no elements");
		if (shim_numel(self)) {
			for (int i = 0; i < self->n_dim; i++) /* begin with the first along each */
				if (r.chosen[i]) {
					int64_t size[SHIM_DIMS];
					memcpy(size, all->size, sizeof(size));
					size[i] = 1;
					all = shim_view(all, all->n_dim, size, all->stride, all->offset);
				}
			struct shim_tensor *to = spread(out, self, &r);
			shim_copy(shim_view(out, self->n_dim, r.with, to->stride, 0), all);
			struct walk w;
			walk_begin(&w, self->n_dim, self->size);
			walk_add(&w, shim_data(to), to);
			walk_add(&w, shim_data(self), self);
			for (bool more = walk_first(&w); more; more = walk_next(&w))
				if (elem_key(self->dtype, w.p[1]) > elem_key(self->dtype, w.p[0]))
					elem_copy(w.p[0], w.p[1], elem_bytes(self->dtype));
		}
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}

/* i with dims of 1 put in at these places of the result. */
static struct shim_tensor *unsqueezed(struct shim_tensor *t, const int64_t *at, int64_t n)
{
	int64_t size[SHIM_DIMS], stride[SHIM_DIMS];
	int total = t->n_dim + (int)n, k = 0;
	if (n < 0 || total > SHIM_DIMS)
		shim_fail("%lld dimensions more", (long long)n);
	for (int i = 0; i < total; i++) {
		bool new = false;
		for (int64_t j = 0; j < n; j++)
			new = new || (at[j] < 0 ? at[j] + total : at[j]) == i;
		if (!new &&k == t->n_dim)
			shim_fail("dimensions to be put in do not fit");
		size[i] = new ? 1 : t->size[k];
		stride[i] = new ? 0 : t->stride[k];
		k += !new;
	}
	return shim_view(t, total, size, stride, t->offset);
}

/* The sum of i1 * i2 * i3 over sumdim (aten/src/ATen/native/Linear.cpp, _trilinear). */
AOTITorchError aoti_torch_cpu__trilinear(AtenTensorHandle i1, AtenTensorHandle i2, AtenTensorHandle i3, const int64_t *expand1, int64_t n1,
					 const int64_t *expand2, int64_t n2, const int64_t *expand3, int64_t n3, const int64_t *sumdim,
					 int64_t n_sum, int64_t unroll_dim, AtenTensorHandle *ret0)
{
	(void)unroll_dim;
	SHIM_TRY {
		struct shim_tensor *v[3] = {unsqueezed(i1, expand1, n1), unsqueezed(i2, expand2, n2), unsqueezed(i3, expand3, n3)};
		struct shim_tensor all = {.n_dim = 0, .dtype = i1->dtype};
		struct reduced r;
		for (int k = 0; k < 3; k++) {
			int64_t size[SHIM_DIMS];
			all.n_dim = shim_broadcast(&all, v[k], size);
			memcpy(all.size, size, (size_t)all.n_dim * sizeof(*size));
		}
		choose(&r, &all, sumdim, n_sum);
		for (int i = 0; !n_sum && i < all.n_dim; i++) { /* none here means none */
			r.chosen[i] = false;
			r.with[i] = r.without[i] = all.size[i];
			r.n_dim = all.n_dim;
		}
		struct shim_tensor *sum = shim_new(DTYPE_F64, r.n_dim, r.without, NULL),
				   *out = shim_new(i1->dtype, r.n_dim, r.without, NULL);
		struct shim_tensor *to = spread(sum, &all, &r);
		struct walk w;
		shim_fill_zero(sum);
		walk_begin(&w, all.n_dim, all.size);
		walk_add(&w, shim_data(to), to);
		for (int k = 0; k < 3; k++)
			walk_add(&w, shim_data(v[k]), v[k]);
		for (bool more = walk_first(&w); more; more = walk_next(&w)) {
			double s;
			memcpy(&s, w.p[0], sizeof(s));
			s += elem_f64(v[0]->dtype, w.p[1]) * elem_f64(v[1]->dtype, w.p[2]) * elem_f64(v[2]->dtype, w.p[3]);
			memcpy(w.p[0], &s, sizeof(s));
		}
		shim_copy(out, sum);
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}
