/* verdict.h - the verdict on a crash: its kind, whose code, why, and what to try next.
 *
 *     struct crash_verdict v;
 *     crash_judge(&v, &c, &map);                   // after crashmap_join()
 *     v.title      "SIGSEGV: an access just past the end of mapped memory, in the kernel cpp_fused_relu_0"
 *     v.why[0 .. v.n_why - 1], v.step[0 .. v.n_steps - 1] ...
 *     crash_verdict_release(&v);
 *
 * The kind comes from signs in the text (messages of malloc, terminate, the kernel), then from the signal with the address, the mappings
 * and the stack pointer. Whose code: the innermost frame that belongs neither to the signal handler nor to the system (memcpy was called
 * by someone). Steps name the user's package and, from a core, the command; device and shape come first, as in torch's own AOTInductor
 * debugging guide.
 *
 * For tools (a doctor looks at the package after SIGILL).
 */
#ifndef PT2_CRASH_VERDICT_H
#define PT2_CRASH_VERDICT_H
#include "crash/crashmap.h"

enum crash_kind {
	KIND_NONE,         /* nothing about a crash */
	KIND_NULL,         /* an address in the first page */
	KIND_SMALL,        /* in the first 64 KiB: an offset from a null pointer */
	KIND_BEHIND,       /* within a page past the end of mapped memory */
	KIND_WILD,         /* not mapped */
	KIND_DENIED,       /* mapped, but the access is not permitted */
	KIND_NONCANONICAL, /* not a valid address (x86-64 reports no fault address then) */
	KIND_SEGV,         /* SIGSEGV, address unknown */
	KIND_STACK,        /* stack overflow */
	KIND_ILL,
	KIND_FPE,
	KIND_BUS,
	KIND_HEAP, /* malloc found its data corrupted */
	KIND_ASAN,
	KIND_ASSERT,
	KIND_EXCEPTION,
	KIND_ABORT,
	KIND_OOM,
	KIND_KILLED,
	KIND_CUDA,
	KIND_CUDA_IMA,
	KIND_REFUSED,  /* a Python exception with the model's message: a failed check, not a crash */
	KIND_OPERATOR, /* an operator called by the model failed */
	KIND_ERROR,    /* another Python exception */
	KIND_OTHER,    /* another signal, or frames without a reason */
};
const char *crash_kind_name(enum crash_kind k); /* "null", ...: for JSON */

#define VERDICT_LINES 8
struct crash_verdict {
	enum crash_kind kind;
	enum crash_owner owner; /* whose code */
	uint32_t frame;         /* the culprit's, NONE */
	uint32_t call_frame;    /* innermost frame with a place in the program of a model, NONE */
	bool loading;           /* the model was being loaded, not run */
	struct slice title;
	struct slice why[VERDICT_LINES], step[VERDICT_LINES];
	unsigned n_why, n_steps;
	struct arena arena;
};

void crash_judge(struct crash_verdict *v, struct crash *c, const struct crashmap *map);
void crash_verdict_release(struct crash_verdict *v);

#endif
