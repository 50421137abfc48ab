/* around.h - what a tool puts into a kernel's tensors before a call, takes from them, and puts back behind it (watch/given.h), as entries
 * of the tensors of a given run.
 *
 *     around_add_recorded(&file, (struct given_entry){run, number, arg, GIVEN_BEFORE, 0, 0, 0}, &dump, value, &err);
 *     around_take_and_restore(&file, run, &observed, call, &dump, &err);    // then the model goes on as in the given run
 *     given_run(..., &taken, &err);
 *     around_taken(&o->write[w], run, number, GIVEN_TAKE, given, taken)       // its elements, row-major; NULL: missing
 */
#ifndef PT2_VERIFY_AROUND_H
#define PT2_VERIFY_AROUND_H
#include "aten/verify/observed.h"
#include "watch/given.h"

/* Of its elements. */
uint64_t around_bytes(const struct observed_tensor *t);
bool around_overlap(const struct observed_tensor *x, const struct observed_tensor *y);
/* The same elements of the same memory. */
bool around_same(const struct observed_tensor *x, const struct observed_tensor *y);
/* These numbers, in the tensor's order and type. */
int around_add(struct buf *file, struct given_entry e, const struct observed_tensor *t, const double *v, struct err *err);
/* What the given run recorded; nothing if it did not. */
int around_add_recorded(struct buf *file, struct given_entry e, const struct dump *d, const struct dump_value *v, struct err *err);
int around_take_and_restore(struct buf *file, uint32_t run, const struct observed *o, uint32_t call, const struct dump *d, struct err *err);
const char *around_taken(const struct observed_tensor *base, uint32_t run, uint32_t number, enum given_when when, struct slice given,
			 struct slice taken);
/* As a tensor of the given run with other numbers, of `call`. False: missing. */
bool around_take(struct observed_tensor *to, const struct observed_tensor *base, uint32_t call, uint32_t run, uint32_t number,
		 enum given_when when, struct slice given, struct slice taken);

#endif
