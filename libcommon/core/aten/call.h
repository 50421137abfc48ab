/* call.h - the arguments of an operator called by its overload: one for each parameter of its schema, with defaults filled in.
 *
 *     static void run_cumsum(struct aten_call *c)
 *     {
 *         call_give(c, 0, aten_cumsum(call_tensor(c, 0), call_int(c, 1), call_dtype_or(c, 2, DTYPE_NONE)));
 *     }
 *     const struct aten_entry aten_scan_entries[] = {{"cumsum", run_cumsum}, {0}};      // and its line in call.c
 *
 * An operator fails with aten_fail(). If only shapes are needed (aten_computes() is false), the computing functions of aten.h and elem.h do
 * nothing (aten_copy, walk_first); an operator's own loops must check it.
 */
#ifndef PT2_ATEN_CALL_H
#define PT2_ATEN_CALL_H
#include "aten.h"

struct aten_call {
	const struct aten_entry *entry;
	const struct op_schema *schema;
	const struct aten_value *arg; /* n of them: one for each parameter */
	uint32_t n;
	struct aten_value *ret;
};

struct aten_entry {
	const char *name; /* name of the overload: "add.Tensor" */
	void (*run)(struct aten_call *c);
	const void *data; /* data for run */
};

struct aten_tensor *call_tensor(const struct aten_call *c, uint32_t i);
struct aten_tensor *call_tensor_or_none(const struct aten_call *c, uint32_t i); /* NULL */
bool call_is_none(const struct aten_call *c, uint32_t i);
int64_t call_int(const struct aten_call *c, uint32_t i);
int64_t call_int_or(const struct aten_call *c, uint32_t i, int64_t otherwise); /* if it is None */
double call_float(const struct aten_call *c, uint32_t i);                      /* a real number of any kind */
double call_float_or(const struct aten_call *c, uint32_t i, double otherwise);
bool call_bool(const struct aten_call *c, uint32_t i);
int call_dtype_or(const struct aten_call *c, uint32_t i, int otherwise);
const char *call_string_or(const struct aten_call *c, uint32_t i, const char *otherwise); /* in scratch memory */
/* A tensor, or a number as a wrapped tensor without dims. */
struct aten_tensor *call_operand(const struct aten_call *c, uint32_t i);
/* A list; one number is a list of one, None has n 0 and is NULL. In scratch memory. */
struct ints call_ints(const struct aten_call *c, uint32_t i);
struct doubles call_floats(const struct aten_call *c, uint32_t i);
struct tensors call_tensors(const struct aten_call *c, uint32_t i);
struct tensors call_tensors_or_none(const struct aten_call *c, uint32_t i); /* items that are None are NULL */

/* Calls other operators by name, for operators composed of them: arguments in the schema's order, the rest get their defaults.
 *     struct aten_tensor *s = APPLIED("linalg_svdvals", aten_of(a));
 *     const struct aten_value *r = APPLY("sort.stable", aten_of(a), aten_bool(true));     // r[0].tensor, r[1].tensor */
#define APPLY(overload, ...) \
	aten_apply(overload, (const struct aten_value[]){__VA_ARGS__}, \
		   sizeof((const struct aten_value[]){__VA_ARGS__}) / sizeof(struct aten_value))
#define APPLIED(overload, ...) (APPLY(overload, __VA_ARGS__)[0].tensor)
/* An argument unchanged; None. */
#define GIVEN(c, i) ((c)->arg[i])
#define ATEN_NOTHING ((struct aten_value){.kind = ATEN_NONE})
/* Returns all of another operator's results as this one's. */
void call_give_all(const struct aten_call *c, const struct aten_value *ret, uint32_t n);

void call_give(const struct aten_call *c, uint32_t k, struct aten_tensor *t);
void call_give_two(const struct aten_call *c, struct two two);
void call_give_int(const struct aten_call *c, uint32_t k, int64_t i);
void call_give_list(const struct aten_call *c, uint32_t k, struct tensors t);

#endif
