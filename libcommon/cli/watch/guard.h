/* guard.h - --bounds: which kernel touched memory that it was not given; the findings of libprobe/guard.h, with names and lines.
 *
 *     struct watch_options o = {.calls = {.want = CALLS_NAMES}, .model = "model.pt2", ...};
 *     guard_want(&o.calls, &o.how, o.command != NULL);
 *     ... watch_run(&w, &o, &err)
 *     w.guard->v[i].what, .kernel, .buffer, ...
 *     guard_show(&screen, w.guard, "aoti-verify: ");
 *
 * or, for a tool that runs the model only to answer this:
 *
 *     struct guard b;
 *     if (guard_run(&o, &b, NULL, &err) < 0) ...
 *     guard_release(&b);
 *
 * watch.c reads each event when it arrives, while the model's library can still be opened: the line of the kernel's text comes from its
 * DWARF (model/elf/inlined.h). Events are untrusted: members that are missing or of the wrong type are ignored.
 */
#ifndef PT2_LIVE_BOUNDS_H
#define PT2_LIVE_BOUNDS_H
#include "base/tool/screen.h"
#include "watch/watch.h"

enum { GUARD_STEPS = 64 };    /* as in libprobe/guard.h */
enum { GUARD_FULL_RUNS = 2 }; /* of a model (libprobe/guard_call.h, guard_runs_twice) */

#define GUARD_KINDS(X) \
	X(WRITE_AFTER, "write-after") \
	X(WRITE_BEFORE, "write-before") \
	X(READ_AFTER, "read-after") \
	X(READ_BEFORE, "read-before") \
	X(WRITE_NEIGHBOUR, "write-neighbour") \
	X(READ_NEIGHBOUR, "read-neighbour") \
	X(WRITE_INPUT, "write-input") \
	X(WRITE_WEIGHT, "write-weight") \
	X(UNINITIALISED, "uninitialised") \
	X(RACE, "race") \
	X(UNSTEADY, "unsteady") \
	X(FREED, "freed") \
	X(WILD, "wild")

/* clang-format off */
#define GUARD_ENUM(id, name) GUARD_##id,
enum guard_kind { GUARD_KINDS(GUARD_ENUM) GUARD_KIND_N };
#undef GUARD_ENUM
/* clang-format on */

struct guard_finding {
	enum guard_kind kind;
	bool writes, in_padding;                                 /* in_padding: no allocator gives that memory to anybody else */
	struct slice kernel, buffer, path, role, dtype, operand; /* path: of a weight in its module */
	struct slice nodes, line;                                /* of the graph; of the user's Python, innermost */
	struct slice text;                                       /* the file of the call: "wrapper.cpp" */
	struct slice when;                                       /* a race: "order", "one-thread" or empty (the same call twice) */
	struct slice source;                                     /* of the kernel; empty: unknown */
	uint32_t model, pid, run, call, contract_call, arg, text_line, source_line; /* NONE, 0: unknown */
	uint64_t elements, extent, ip, width, bits, thread;                         /* width 0: unknown */
	uint64_t steps;      /* reads that faulted; GUARD_STEPS: maybe more, which may reach further */
	int64_t first, last; /* bytes from its first element */
	int item;
	bool memory;              /* no tensor of the kernel's, but memory of .extent bytes (--bounds=alloc); .kernel may be empty */
	struct slice code, asked; /* of .memory: where the access was made; who asked for it, the innermost first: "a < b < c" */
};

struct guard {
	struct guard_finding *v;
	size_t n, cap;
	uint64_t guarded, unguarded, unguarded_bytes; /* arguments of calls, in the runs reported */
	uint64_t runs;                                /* of all models */
	struct slice unordered; /* what a model uses of OpenMP whose chunks could not be reordered: "GOMP_loop_runtime_start"; empty */
	bool alloc;             /* --bounds=alloc */
	bool twice;             /* the first GUARD_FULL_RUNS of them were checked in full: else kernels ran once for each call */
	struct arena arena;
};

/* Sets .want, if asked. */
static inline void guard_want(struct calls_config *c, const struct run_how *how, bool live)
{
	c->want |= !how->bounds        ? 0u
		   : how->bounds_alloc ? (unsigned)(CALLS_BOUNDS | CALLS_BOUNDS_ALLOC)
		   : live              ? (unsigned)CALLS_BOUNDS
				       : (unsigned)(CALLS_BOUNDS | CALLS_BOUNDS_TWICE);
}
/* Runs a model guarded, and nothing else. out: its outputs; may be NULL. */
int guard_run(const struct watch_options *o, struct guard *b, struct run_result *out, struct err *err);
void guard_take(struct guard *b, const struct watch *w, const struct live_event *ev);
void guard_release(struct guard *b);

/* Does it count as found? Not a read that stays in padding. */
static inline bool guard_counts(const struct guard_finding *f) { return !f->in_padding; }
size_t guard_found(const struct guard *b);
/* Each finding, then how much was guarded; before: in front of each line. */
void guard_show(struct screen *s, const struct guard *b, const char *before);
void guard_json(struct json_out *o, const struct guard *b);

#endif
