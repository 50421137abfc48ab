/* ima.h - what went wrong on a GPU: the device-fault and device-finding events of event.h, and what they say of memory.
 *
 *     struct ima r = {0};
 *     ima_read(&r, buf_slice(&w.device));                // watch.h: lines that are no such events are passed over
 *     for (size_t i = 0; i < r.n; i++)
 *         if (r.v[i].fault) {
 *             ima_name_numbers(&r.v[i], contract);
 *             ima_judge(&r, &r.v[i]);                    // r.v[i].suspect: pointers that could leave their memory
 *         }
 *     ima_release(&r);
 *
 * IMA is what PyTorch calls an illegal memory access.
 *
 * Judged are, each from what the watched process itself knew before the launch: sizes and strides of each tensor
 * against its storage and its allocation; its device; and how many elements the kernel is told to work on (the arguments xnumel,
 * ynumel, znumel of Inductor's kernels: their product is what is written; torch/_inductor/codegen/triton.py) against the room
 * behind each pointer that it writes. Where an index was read from memory no bounds can be told from outside: then the tensors of
 * integers that the kernel reads are named.
 *
 * Events are untrusted: what is not there or of another type is left out.
 */
#ifndef PT2_LIVE_IMA_H
#define PT2_LIVE_IMA_H
#include "model/contract/contract.h"
#include "base/arena.h"
#include "watch/event.h"

#define IMA_DIMS 8
#define IMA_NONE UINT64_MAX

struct ima_param {
	bool tensor;
	uint32_t size;       /* bytes of the parameter; 0: not known */
	uint64_t value;      /* of what is no tensor */
	struct slice buffer; /* "buf3"; empty */
	struct slice role;   /* "in", "out", "inout", "constant" */
	uint32_t arg;        /* of the contract's call; NONE */
	struct slice dtype, on;
	int on_index, n_dim; /* -1: not known */
	int64_t dim[IMA_DIMS], stride[IMA_DIMS];
	uint64_t address, extent, storage; /* IMA_NONE: not known */
	uint64_t base, allocation;         /* allocation 0: not known */
	struct slice text;                 /* of a number, as it stands in the program's call; empty (ima_name_numbers) */
};

/* Why a pointer could leave its memory. */
#define IMA_WHYS(X) \
	X(ON_HOST, "on-host") \
	X(OTHER_DEVICE, "other-device") \
	X(BEYOND_STORAGE, "beyond-storage") \
	X(BEYOND_ALLOCATION, "beyond-allocation") \
	X(NO_ALLOCATION, "no-allocation") /* that the driver knows: freed? */ \
	X(TOO_MANY, "too-many")           /* elements, that the kernel is told to write */ \
	X(INDEX, "index")                 /* integers that it reads may be indices: only where nothing else is known */

/* clang-format off */
#define IMA_ENUM(id, name) IMA_##id,
enum ima_why { IMA_WHYS(IMA_ENUM) IMA_WHY_N };
#undef IMA_ENUM
/* clang-format on */
struct ima_suspect {
	uint32_t param;
	enum ima_why why;
	struct slice text; /* "buf1 reaches 64 bytes beyond its storage: ..." */
};

struct ima_event {
	bool fault; /* else a finding */
	struct slice when, error, text, kernel, what;
	uint64_t code, seq, stream, grid[3], block[3], shared;
	struct slice function; /* that the call launched; empty: the kernel itself */
	uint64_t graph, replay,
	    captured;           /* of the replay of a CUDA graph: which, how many with this one, calls in it; graph 0: it is none */
	struct slice *in_graph; /* names of the first of them */
	uint32_t n_in_graph;
	uint32_t model, run, call, contract_call, pid, tid, rank, param; /* NONE: not known */
	int device;
	bool launch;         /* grid, block and shared are known */
	struct ima_param *p; /* of a finding one */
	uint32_t n;
	struct ima_suspect *suspect; /* ima_judge(): one for a parameter */
	uint32_t n_suspects;
};

struct ima {
	struct ima_event *v;
	size_t n, cap;
	struct arena arena;
};

void ima_read(struct ima *r, struct slice lines);
void ima_release(struct ima *r);
/* Which number is which argument of the contract's call, where that is certain; c and its call may be NULL. A name that starts with the
 * kernel's loses that: "xnumel". */
void ima_name_numbers(struct ima_event *e, const struct contract *c);
/* Which pointers could leave their memory, in order; none when none is known to. ima_name_numbers() first. */
void ima_judge(struct ima *r, struct ima_event *e);
const char *ima_why_name(enum ima_why why);
/* Is it certain that this pointer is wrong? Not of IMA_INDEX. */
static inline bool ima_certain(const struct ima_suspect *s) { return s->why != IMA_INDEX; }
/* Bytes from the pointer to the end of its allocation; IMA_NONE. */
uint64_t ima_room(const struct ima_param *p);
/* "in_ptr0", "buf3", "parameter 2" */
void ima_param_name(const struct ima_event *e, uint32_t i, struct buf *b);
/* For tools that look for something else, of watch.h's .device. Control bytes become '?'. */
/* All events, a sentence in a line each. */
FOR_TESTS void ima_sentences(struct slice events, struct buf *lines);
/* Warns of each. */
void ima_warn(struct slice events);
/* The first fault as such a sentence, without a newline. False, and nothing: there is none. */
bool ima_failure(struct slice events, struct buf *b);
/* The exit status: a run that a fault has cut short does not end in 0, but in 3. */
int ima_status(struct slice events, int status);
/* "host memory", ... of a finding; "" for what is not known. */
const char *ima_what(struct slice what);

#endif
