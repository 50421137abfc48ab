/* linalg_lu.c - A = P L U, and operators based on it. */
#include "linalg_part.h"
#include "ops.h"

struct lu {
	struct batch b;
	int64_t m, n, k;
	struct aten_tensor *lu, *pivots, *info;
};

/* By columns; info is the first pivot that is 0, from 1. */
static struct lu lu_of(struct aten_tensor *a)
{
	struct lu x = {.b = batch_of(a, NULL), .m = rows(a), .n = cols(a), .k = min_of(rows(a), cols(a))};
	x.lu = matrices_copied(a, &x.b, true);
	x.pivots = vectors_new(DTYPE_I32, &x.b, x.k);
	x.info = numbers_new(DTYPE_I32, &x.b);
	int64_t *pivot = work_ints(x.k), ld = max_of(x.m, 1);
	for (int64_t i = 0; i < x.b.n; i++) {
		int64_t info = 0;
		if (x.k)
			LAPACK("getrf", a->dtype, &x.m, &x.n, matrix_at(x.lu, &x.b, i), &ld, pivot, &info);
		lapack_set_info(x.info, &x.b, i, info, false, "");
		for (int64_t k = 0; k < x.k; k++)
			((int32_t *)matrix_at(x.pivots, &x.b, i))[k] = (int32_t)lapack_int(pivot, k);
	}
	return x;
}

static int32_t pivot_of(const int32_t *pivots, int64_t i, int64_t n)
{
	if (pivots[i] < 1 || pivots[i] > n)
		aten_fail("invalid pivot %d for a matrix of %lld rows", pivots[i], (long long)n);
	return pivots[i];
}

/* Into b [n, k] by columns: op(A) x = b */
static void lu_solve(int dtype, const char *trans, int64_t n, int64_t k, const void *lu, const int32_t *pivots, void *b)
{
	int64_t *pivot = work_ints(n), info = 0, ld = max_of(n, 1);
	if (!n || !k)
		return;
	for (int64_t i = 0; i < n; i++)
		lapack_set_int(pivot, i, pivot_of(pivots, i, n));
	LAPACK("getrs", dtype, trans, &n, &k, lu, &ld, pivot, b, &ld, &info);
}

/* A X = B, or X A = B, with X row-major: so it is solved transposed in place. */
static struct aten_tensor *solve_lu(const struct lu *x, const struct batch *b, struct aten_tensor *rhs, bool left, bool adjoint)
{
	if ((left ? rows(rhs) : cols(rhs)) != x->n)
		aten_fail("incompatible shapes of A and B: %lldx%lld and %lldx%lld", (long long)x->m, (long long)x->n, (long long)rows(rhs),
			  (long long)cols(rhs));
	struct aten_tensor *out = matrices_copied(rhs, b, left), *lu = matrices_copied(x->lu, b, true),
			   *pivots = vectors_new(DTYPE_I32, b, x->n);
	aten_copy(pivots, x->pivots);
	int64_t k = left ? cols(rhs) : rows(rhs);
	bool conjugated = !left && adjoint;
	if (conjugated)
		numbers_conjugate(out->dtype, aten_data(out), aten_numel(out));
	for (int64_t i = 0; i < b->n; i++)
		lu_solve(out->dtype,
			 left      ? (adjoint ? "C" : "N")
			 : adjoint ? "N"
				   : "T",
			 x->n, k, matrix_at(lu, b, i), matrix_at(pivots, b, i), matrix_at(out, b, i));
	if (conjugated)
		numbers_conjugate(out->dtype, aten_data(out), aten_numel(out));
	return out;
}

static void check_infos(const struct lu *x, bool check, const char *api)
{
	for (int64_t i = 0; check && i < x->b.n; i++)
		lapack_check_one(((int32_t *)matrix_at(x->info, &x->b, i))[0], api, &x->b, i);
}

static struct lu lu_of_call(const struct aten_call *c)
{
	struct lu x = lu_of(named_tensor(c, "A"));
	if (!named_bool(c, "pivot", true))
		aten_fail("LU without pivoting is not implemented on the CPU");
	return x;
}

void run_linalg_lu_factor_ex(struct aten_call *c)
{
	struct lu x = lu_of_call(c);
	check_infos(&x, named_bool(c, "check_errors", false), "torch.linalg.lu_factor_ex");
	call_give(c, 0, x.lu);
	call_give(c, 1, x.pivots);
	if (c->schema->n_result > 2)
		call_give(c, 2, x.info);
}

void run_linalg_lu_solve(struct aten_call *c)
{
	struct aten_tensor *lu = named_tensor(c, "LU"), *pivots = named_tensor(c, "pivots"), *rhs = named_tensor(c, "B");
	struct batch b = batch_of(lu, rhs);
	matrices_need_square(lu);
	pivots_need_of(pivots, lu, rows(lu));
	struct lu x = {.m = rows(lu), .n = rows(lu), .k = rows(lu), .lu = lu, .pivots = pivots};
	call_give(c, 0, solve_lu(&x, &b, rhs, named_bool(c, "left", true), named_bool(c, "adjoint", false)));
}

/* LAPACK's pivots: row i was swapped with row pivot[i] (from 1), in sequence. Fills p [m, m], row-major. */
static void permutation(const int32_t *pivot, int64_t k, int64_t m, int dtype, char *p)
{
	int64_t *order = work_ints(m);
	for (int64_t i = 0; i < m; i++)
		order[i] = i;
	for (int64_t i = 0; i < k; i++) {
		int64_t t = order[i], at = pivot_of(pivot, i, m) - 1;
		order[i] = order[at];
		order[at] = t;
	}
	for (int64_t i = 0; i < m; i++)
		elem_set_f64(dtype, p + (order[i] * m + i) * elem_bytes(dtype), 1);
}

struct unpacked_lu aten_lu_unpack(struct aten_tensor *lu, struct aten_tensor *pivots, bool data, bool permuted)
{
	struct batch b = batch_of(lu, NULL);
	int64_t m = rows(lu), n = cols(lu), k = min_of(m, n);
	int dtype = lu->dtype, bytes = elem_bytes(dtype);
	pivots_need_of(pivots, lu, k);
	struct unpacked_lu r = {numbers_none(dtype), numbers_none(dtype), numbers_none(dtype)};
	pivots = aten_contiguous(pivots);
	lu = aten_contiguous(lu);
	if (permuted) {
		aten_fill_zero(r.p = matrices_new(dtype, &b, m, m, false));
		for (int64_t i = 0; i < b.n; i++)
			permutation(matrix_at(pivots, &b, i), k, m, dtype, matrix_at(r.p, &b, i));
	}
	if (!data)
		return r;
	aten_fill_zero(r.l = matrices_new(dtype, &b, m, k, false));
	aten_fill_zero(r.u = matrices_new(dtype, &b, k, n, false));
	for (int64_t i = 0; i < b.n; i++)
		for (int64_t row = 0; row < m && k; row++) {
			const char *from = (char *)matrix_at(lu, &b, i) + row * n * bytes;
			int64_t low = min_of(row, k);
			char *l = (char *)matrix_at(r.l, &b, i) + row * k * bytes;
			memcpy(l, from, (size_t)(low * bytes));
			if (row >= k)
				continue;
			elem_set_f64(dtype, l + row * bytes, 1);
			memcpy((char *)matrix_at(r.u, &b, i) + (row * n + row) * bytes, from + row * bytes, (size_t)((n - row) * bytes));
		}
	return r;
}

static void give_unpacked(struct aten_call *c, struct unpacked_lu r)
{
	call_give_two(c, (struct two){r.p, r.l});
	call_give(c, 2, r.u);
}

void run_lu_unpack(struct aten_call *c) /* LU_data, LU_pivots, unpack_data, unpack_pivots */
{
	give_unpacked(c, aten_lu_unpack(call_tensor(c, 0), call_tensor(c, 1), call_bool(c, 2), call_bool(c, 3)));
}

void run_linalg_lu(struct aten_call *c)
{
	struct lu x = lu_of_call(c);
	give_unpacked(c, aten_lu_unpack(x.lu, x.pivots, true, true));
}

/* Sign and logarithm of the determinant's absolute value, or both in one. A row-major real matrix is factored transposed: it is already
 * column-major. */
static void determinant(struct aten_call *c, bool logarithm)
{
	struct aten_tensor *a = named_tensor(c, "A");
	matrices_need_square(a);
	struct lu x = lu_of(aten_is_contiguous(a) && !elem_complex(a->dtype) ? matrices_transposed(a, false) : a);
	struct aten_tensor *sign = numbers_new(a->dtype, &x.b), *rest = numbers_new(aten_real_of(a->dtype), &x.b);
	int bytes = elem_bytes(a->dtype);
	for (int64_t i = 0; i < x.b.n; i++) {
		double complex s = 1, product = 1;
		double sum = 0;
		for (int64_t k = 0; k < x.n; k++) {
			double complex d = elem_c128(a->dtype, (char *)matrix_at(x.lu, &x.b, i) + k * (x.n + 1) * bytes);
			double size = cabs(d);
			if (((int32_t *)matrix_at(x.pivots, &x.b, i))[k] != k + 1)
				s = -s;
			product *= d;
			sum += log(size);
			if (logarithm)
				s *= size == 0 ? 0 : d / size;
		}
		elem_set_c128(a->dtype, matrix_at(sign, &x.b, i), logarithm ? s : s * product);
		elem_set_f64(rest->dtype, matrix_at(rest, &x.b, i), sum);
	}
	int n = 0;
	call_give(c, n++, sign);
	if (logarithm)
		call_give(c, n++, rest);
	call_give(c, n++, x.lu);
	call_give(c, n, x.pivots);
}

void run_linalg_det(struct aten_call *c) { determinant(c, false); }
void run_linalg_slogdet(struct aten_call *c) { determinant(c, true); }

void run_linalg_inv_ex(struct aten_call *c)
{
	struct aten_tensor *a = named_tensor(c, "A");
	matrices_need_square(a);
	struct lu x = lu_of(a);
	check_infos(&x, named_bool(c, "check_errors", false), "linalg.inv");
	struct aten_tensor *out = matrices_new(a->dtype, &x.b, x.n, x.n, true);
	matrices_set_identity(out);
	for (int64_t i = 0; i < x.b.n; i++)
		lu_solve(a->dtype, "N", x.n, x.n, matrix_at(x.lu, &x.b, i), matrix_at(x.pivots, &x.b, i), matrix_at(out, &x.b, i));
	call_give(c, 0, out);
	call_give(c, 1, x.info);
}

/* torch treats the vectors' dims as those of matrices when choosing strides. */
static struct aten_tensor *vectors_of(struct aten_tensor *x)
{
	int n = x->n_dim - 1;
	struct batch b = {.n_dim = n - 2};
	memcpy(b.size, x->size, sizeof(b.size));
	struct aten_tensor *v = aten_view(x, n, x->size, x->stride, x->offset), *out = v;
	if (n > 1) {
		out = matrices_new(x->dtype, &b, x->size[n - 2], x->size[n - 1], true);
		aten_copy(out, v);
	}
	return out;
}

static bool is_vector_of(const struct aten_tensor *rhs, const struct aten_tensor *a)
{
	return rhs->n_dim == 1 || (rhs->n_dim == a->n_dim - 1 && !memcmp(rhs->size, a->size, (size_t)rhs->n_dim * sizeof(*a->size)));
}

/* A x = b for matrices b, or a vector for each matrix. */
void run_linalg_solve_ex(struct aten_call *c)
{
	struct aten_tensor *a = named_tensor(c, "A"), *rhs = named_tensor(c, "B");
	bool vector = is_vector_of(rhs, a), left = named_bool(c, "left", true);
	matrices_need_square(a);
	if (vector && !left)
		aten_fail("linalg.solve: vectors on the right are not supported for left=False");
	if (vector)
		rhs = matrix_of_vector(rhs);
	struct batch b = batch_of(a, rhs);
	struct lu x = lu_of(a);
	check_infos(&x, named_bool(c, "check_errors", false), "torch.linalg.solve");
	struct aten_tensor *out = solve_lu(&x, &b, rhs, left, false);
	call_give(c, 0, vector ? vectors_of(out) : out);
	call_give(c, 1, x.lu);
	call_give(c, 2, x.pivots);
	call_give(c, 3, x.info);
}
