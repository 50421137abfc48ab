#include "named.h"

/* Its index, or NONE: no such parameter, or it is None. */
static uint32_t find_argument(const struct aten_call *c, const char *name)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (slice_is(c->schema->param[i].name, name))
			return c->arg[i].kind == ATEN_NONE ? NONE : i;
	return NONE;
}

bool named_is_none(const struct aten_call *c, const char *name) { return find_argument(c, name) == NONE; }

struct aten_tensor *named_tensor_or_none(const struct aten_call *c, const char *name)
{
	uint32_t i = find_argument(c, name);
	return i == NONE ? NULL : call_tensor(c, i);
}

struct aten_tensor *named_tensor(const struct aten_call *c, const char *name)
{
	struct aten_tensor *t = named_tensor_or_none(c, name);
	if (!t)
		aten_fail("%s must be a tensor", name);
	return t;
}

int64_t named_int(const struct aten_call *c, const char *name, int64_t otherwise)
{
	uint32_t i = find_argument(c, name);
	return i == NONE ? otherwise : call_int(c, i);
}

bool named_bool(const struct aten_call *c, const char *name, bool otherwise) { return named_int(c, name, otherwise) != 0; }

double named_float(const struct aten_call *c, const char *name, double otherwise)
{
	uint32_t i = find_argument(c, name);
	return i == NONE ? otherwise : call_float(c, i);
}

struct slice named_string(const struct aten_call *c, const char *name, const char *otherwise)
{
	uint32_t i = find_argument(c, name);
	return slice_str(i == NONE ? otherwise : call_string_or(c, i, otherwise));
}

const struct aten_entry aten_named_entries[] = {
    {"_linalg_check_errors", run_linalg_check_errors},
    {"_linalg_det", run_linalg_det},
    {"_linalg_eigh", run_linalg_eigh},
    {"_linalg_eigvals", run_linalg_eigvals},
    {"_linalg_slogdet", run_linalg_slogdet},
    {"_linalg_solve_ex", run_linalg_solve_ex},
    {"_linalg_svd", run_linalg_svd},
    {"_unique2", run_unique2},
    {"bincount", run_bincount},
    {"cholesky", run_cholesky},
    {"linalg_cholesky_ex", run_linalg_cholesky_ex},
    {"linalg_eig", run_linalg_eig},
    {"linalg_eigvals", run_linalg_eigvals},
    {"linalg_householder_product", run_linalg_householder_product},
    {"linalg_inv_ex", run_linalg_inv_ex},
    {"linalg_ldl_factor_ex", run_linalg_ldl_factor_ex},
    {"linalg_ldl_solve", run_linalg_ldl_solve},
    {"linalg_lstsq", run_linalg_lstsq},
    {"linalg_lu", run_linalg_lu},
    {"linalg_lu_factor", run_linalg_lu_factor_ex},
    {"linalg_lu_factor_ex", run_linalg_lu_factor_ex},
    {"linalg_lu_solve", run_linalg_lu_solve},
    {"linalg_matrix_exp", run_linalg_matrix_exp},
    {"linalg_pinv.atol_rtol_tensor", run_linalg_pinv},
    {"linalg_qr", run_linalg_qr},
    {"linalg_solve_triangular", run_linalg_solve_triangular},
    {"lu_unpack", run_lu_unpack},
    {"unique_consecutive", run_unique_consecutive},
    {"unique_dim", run_unique_dim},
    {"unique_dim_consecutive", run_unique_dim_consecutive},
    {0},
};
