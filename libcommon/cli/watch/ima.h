/* ima.h - what went wrong on a GPU: the device-fault and device-finding events of event.h, and what they say about memory.
 *
 *     struct ima r = {0};
 *     ima_read(&r, buf_slice(&w.device));                // watch.h: other events are skipped
 *     for (size_t i = 0; i < r.n; i++)
 *         if (r.v[i].fault) {
 *             ima_name_numbers(&r.v[i], contract);
 *             ima_judge(&r, &r.v[i]);                    // r.v[i].suspect: pointers that could leave their memory
 *         }
 *     ima_release(&r);
 *
 * IMA is PyTorch's abbreviation of illegal memory access.
 *
 * Checked, all from what the watched process itself knew before the launch: sizes and strides of each tensor
 * against its storage and its allocation; its device; and how many elements the kernel has to process (the arguments xnumel,
 * ynumel, znumel of Inductor's kernels: it writes their product; torch/_inductor/codegen/triton.py) against the room
 * after each pointer that it writes. The storage decides, as libtorch knows it. What the driver calls an allocation (cuMemGetAddressRange)
 * is only one of several mappings where torch grows its segments (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True): 2 or 20 MiB each, and
 * a tensor may be in many. So without a known storage it is a possible suspect at most. If the kernel reads indices from memory, bounds
 * cannot be checked from outside: then the integer tensors that the kernel reads are named.
 *
 * Events are untrusted: members that are missing or of the wrong type are ignored.
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
	uint32_t size;       /* bytes of the parameter; 0: unknown */
	uint64_t value;      /* if it is not a tensor */
	struct slice buffer; /* "buf3"; empty */
	struct slice role;   /* "in", "out", "inout", "constant" */
	uint32_t arg;        /* of the contract's call; NONE */
	struct slice dtype, on;
	int on_index, n_dim; /* -1: unknown */
	int64_t dim[IMA_DIMS], stride[IMA_DIMS];
	uint64_t address, extent, storage; /* IMA_NONE: unknown */
	uint64_t base, allocation;         /* allocation 0: unknown */
	struct slice text;                 /* a number's text in the program's call; or empty (ima_name_numbers) */
};

/* Why a pointer could leave its memory. */
#define IMA_WHYS(X) \
	X(ON_HOST, "on-host") \
	X(OTHER_DEVICE, "other-device") \
	X(BEYOND_STORAGE, "beyond-storage") \
	X(BEYOND_ALLOCATION, "beyond-allocation") \
	X(NO_ALLOCATION, "no-allocation") /* known to the driver: freed? */ \
	X(TOO_MANY, "too-many")           /* elements that the kernel has to write */ \
	X(INDEX, "index")                 /* integers that it reads may be indices: only if nothing else is certain */

/* clang-format off */
#define IMA_ENUM(id, name) IMA_##id,
enum ima_why { IMA_WHYS(IMA_ENUM) IMA_WHY_N };
#undef IMA_ENUM
/* clang-format on */
struct ima_suspect {
	uint32_t param;
	enum ima_why why;
	bool certain;
	struct slice text; /* "buf1 reaches 64 bytes beyond its storage: ..." */
};

struct ima_event {
	bool fault; /* else a finding */
	struct slice when, error, text, kernel, what;
	uint64_t code, seq, stream, grid[3], block[3], shared;
	struct slice function; /* launched by the call; empty: the kernel itself */
	uint64_t graph, replay,
	    captured;           /* of a CUDA graph replay: which graph, how many replays so far, calls in it; graph 0: not a replay */
	struct slice *in_graph; /* names of the first calls in it */
	uint32_t n_in_graph;
	uint32_t model, run, call, contract_call, pid, tid, rank, param; /* NONE: unknown */
	int device;
	bool launch;         /* grid, block and shared are known */
	struct ima_param *p; /* a finding has one */
	uint32_t n;
	struct ima_suspect *suspect; /* ima_judge(): one per parameter */
	uint32_t n_suspects;
};

struct ima {
	struct ima_event *v;
	size_t n, cap;
	struct arena arena;
};

void ima_read(struct ima *r, struct slice lines);
void ima_release(struct ima *r);
/* Matches numbers with arguments of the contract's call, where that is certain; c and its call may be NULL. Names that start with the
 * kernel's lose that prefix: "xnumel". */
void ima_name_numbers(struct ima_event *e, const struct contract *c);
/* Which pointers could leave their memory, in order; possibly none. Call ima_name_numbers() first. */
void ima_judge(struct ima *r, struct ima_event *e);
const char *ima_why_name(enum ima_why why);
/* Is this pointer certainly wrong? A tensor is only if it leaves its storage, or is in memory of another device. */
static inline bool ima_certain(const struct ima_suspect *s) { return s->certain; }
/* Bytes from the pointer to the end of its allocation, or IMA_NONE: also if the driver's answer ends before the tensor's storage does. */
uint64_t ima_room(const struct ima_param *p);
/* "in_ptr0", "buf3", "parameter 2" */
void ima_param_name(const struct ima_event *e, uint32_t i, struct buf *b);
/* For tools that look for something else, from watch.h's .device. Control bytes become '?'. */
/* All events, one sentence per line. */
FOR_TESTS void ima_sentences(struct slice events, struct buf *lines);
/* Warns about each. */
void ima_warn(struct slice events);
/* The first fault as such a sentence, without a newline. False and empty if there is none. */
bool ima_failure(struct slice events, struct buf *b);
/* The exit status: 3 instead of 0 for a run stopped by a fault. */
int ima_status(struct slice events, int status);
/* "is in host memory ..." for a finding; "" if unknown. */
const char *ima_what(struct slice what);

#endif
