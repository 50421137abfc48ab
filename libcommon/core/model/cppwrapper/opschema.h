/* opschema.h - an operator's schema, in the form printed by torch's dispatcher (torch 2.13, aten/src/ATen/core/function_schema.h).
 *
 *     aten::unique_consecutive(Tensor self, bool return_inverse=False, int? dim=None) -> (Tensor, Tensor, Tensor)
 *     aten::addcmul.out(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor(a!) out) -> Tensor(a!)
 *
 *     struct op_schema s;
 *     if (op_schema_read(&s, text, &err) < 0) ...
 *     s.param[2].type ("int"), .optional, .has_default, .value ("None")
 *     op_schema_release(&s);
 *
 * Slices point into the text. A list's size (int[2]) is ignored, and of an alias annotation only its presence is kept.
 */
#ifndef PT2_OPSCHEMA_H
#define PT2_OPSCHEMA_H
#include "base/base.h"

struct op_param {
	struct slice type;  /* "Tensor", "SymInt", "Scalar", "__torch__.torch.classes.a.B" */
	struct slice name;  /* may be empty for results */
	struct slice value; /* the default's text */
	bool list, optional, items_optional, has_default;
	bool aliased; /* (a), (a!), (a -> *): for a result: it may share memory with an operand */
};

struct op_schema {
	struct slice name, overload; /* "aten::addcmul", "out" */
	struct op_param *param, *result;
	uint32_t n, cap, n_result, cap_result;
};

/* On failure there is nothing to release. */
int op_schema_read(struct op_schema *s, struct slice text, struct err *err);
void op_schema_release(struct op_schema *s);

#endif
