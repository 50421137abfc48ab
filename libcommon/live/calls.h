/* calls.h - what kernels and ops of a watched model did: the call log that libpt2probe.so writes and the tools read.
 *
 *     struct calls_reader r;
 *     if (calls_open(&r, folder, &err) < 0) ...
 *     struct call_record rec;
 *     while (calls_next(&r, &rec)) ...                  // in order of time; also while the process still runs
 *     calls_name(&r, rec.name)                          // "cpp_fused_relu_0"
 *     calls_close(&r);
 *
 * A file `calls` in the private folder of event.h, mapped shared by all processes of the command: a record is in it as
 * soon as its last store is done, whatever then happens to the process. So the last CALL_BEGIN without a CALL_END names the
 * kernel that was running when it crashed. The tool makes the file (sparse) with the configuration in its head; the
 * library only appends. When it is full, the oldest records are overwritten (`lost` counts them), but never configuration or names.
 *
 * Names and texts are interned in a second file, `names`: appended bytes; an id is the offset of a NUL-terminated text.
 */
#ifndef PT2_LIVE_CALLS_H
#define PT2_LIVE_CALLS_H
#include "base/buf.h"
#include "tensor/stats.h"

#include <stdatomic.h>

/* What the library is to do for each call, in the head of the log. Numbers as PyTorch's debug printer levels where they
 * have one (torch/_inductor/config.py, aot_inductor.debug_intermediate_value_printer). */
enum calls_want {
	CALLS_NAMES = 1,    /* begin and end of every call */
	CALLS_BAD = 2,      /* NaN and infinities of what a call wrote (and of its inputs when it wrote any) */
	CALLS_STATS = 4,    /* all statistics of inputs (before) and outputs (after) */
	CALLS_SAVE = 8,     /* outputs (and inputs before) as .npy files into the folder */
	CALLS_INPUTS = 16,  /* the model's inputs and outputs too, and constants once */
	CALLS_FAIL = 32,    /* a call that made a NaN makes the model's Run return an error */
	CALLS_RECORD = 64,  /* keep the inputs of a Run that was found bad, as a bundle */
};

#define CALLS_FILTERS 64
struct calls_config {
	char magic[8]; /* "PT2CALL1" */
	uint32_t size; /* of this head */
	uint32_t record_size;
	uint64_t records; /* room */
	uint32_t want;
	uint32_t first_run, last_run; /* of a model, counting from 0; 0..UINT32_MAX for all */
	double lo, hi;                /* values outside are bad, too; -inf..inf */
	uint32_t n_filters;           /* globs on kernel and buffer names; none: everything */
	uint32_t save_format;         /* enum tensor_format */
	uint64_t save_max;            /* bytes of saved tensors in all; then it stops and says so */
	char save_dir[512];
	char filter[CALLS_FILTERS][128];
};

/* The beginning of the file `calls`: the configuration, and what all processes count together. */
struct calls_head {
	struct calls_config config;
	_Alignas(64) _Atomic uint64_t next;  /* records given out so far; the n-th lies at place n % config.records */
	_Alignas(64) _Atomic uint64_t seq;   /* numbers of calls given out */
	_Alignas(64) _Atomic uint64_t names; /* bytes of `names` given out; from 1 on, for 0 is no name */
	_Atomic uint64_t saved;              /* bytes of tensors that were saved */
};
#define CALLS_FILE "calls"
#define CALLS_FILE_NAMES "names"
#define CALLS_MAGIC "PT2CALL1"
#define CALLS_RECORDS_AT 16384            /* where the first record begins in the file */
#define CALLS_MAX_NAMES (64u << 20)       /* bytes; what is beyond has no name */
#define CALLS_NO_RUN UINT32_MAX           /* `run` of what is called outside of any: constants are folded */
#define CALLS_NO_CALL UINT32_MAX          /* `contract_call` that could not be matched */
#define CALLS_NOT_RETURNED INT32_MIN      /* `result` of a call or Run that was left by a C++ exception */
_Static_assert(sizeof(struct calls_head) <= CALLS_RECORDS_AT, "the head has its own pages");

enum call_what {
	CALL_NONE,       /* not written yet */
	CALL_RUN_BEGIN,  /* the model's Run was entered */
	CALL_RUN_END,    /* result: what it returned */
	CALL_BEGIN,      /* a kernel or op is about to run */
	CALL_END,        /* it returned; result of an op; took: nanoseconds */
	CALL_VALUE,      /* one of its tensors; follows CALL_BEGIN (before) or CALL_END (after) of the same `seq` */
};
enum call_role { CALL_ROLE_IN, CALL_ROLE_OUT, CALL_ROLE_INOUT, CALL_ROLE_CONSTANT, CALL_ROLE_MODEL_INPUT, CALL_ROLE_MODEL_OUTPUT };

#define CALL_DIMS 8
struct call_record {
	_Atomic uint32_t what; /* enum call_what; stored last */
	uint32_t model;        /* as in event.h */
	uint64_t place;        /* how many records were before it: a record of an older round is told by it */
	uint64_t seq;          /* number of the call (or Run) among all of this command: joins BEGIN, END and VALUEs */
	uint64_t time;         /* nanoseconds, CLOCK_MONOTONIC */
	uint32_t run;          /* which Run of this model, from 0 */
	uint32_t call;         /* which call of that Run, from 0 */
	uint32_t contract_call; /* index into the contract's calls, UINT32_MAX when it could not be matched */
	uint32_t pid, tid;
	uint32_t name;         /* of the kernel or op; of VALUE: the buffer's ("buf3"), from the contract or 0 */
	int32_t result;
	union {
		uint64_t took;
		struct {
			uint8_t arg, role, before, n_dim;
			int8_t device, device_index;
			int16_t dtype;
			uint64_t address;
			int64_t size[CALL_DIMS], stride[CALL_DIMS]; /* of more dims the first */
			struct tensor_stats stats;  /* known false: not computed */
			uint32_t saved;             /* name of the file, 0 */
			double bad_value;           /* the first bad element */
		} v;
	};
};
_Static_assert(sizeof(struct call_record) <= 320, "five cache lines");

/* The writer's side: any number of processes and threads. A record is whole once `what` is; one that was claimed by a process
 * that was killed right then stays CALL_NONE.
 *
 *     struct call_record *r = calls_claim(head);
 *     r->model = ...
 *     calls_publish(r, CALL_BEGIN);
 */
static inline struct call_record *calls_claim(struct calls_head *h)
{
	uint64_t n = atomic_fetch_add_explicit(&h->next, 1, memory_order_relaxed);
	struct call_record *r = (struct call_record *)((char *)h + CALLS_RECORDS_AT) + n % h->config.records;
	atomic_store_explicit(&r->what, CALL_NONE, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	r->place = n;
	return r;
}
static inline void calls_publish(struct call_record *r, enum call_what what)
{
	atomic_store_explicit(&r->what, what, memory_order_release);
}

struct calls_reader {
	struct calls_config *config;
	const char *names;
	uint64_t at, lost;
	size_t size, names_size;
	int fd, names_fd;
};

/* The tool's side. */
int calls_create(const char *folder, const struct calls_config *config, struct err *err);
int calls_open(struct calls_reader *r, const char *folder, struct err *err);
bool calls_next(struct calls_reader *r, struct call_record *rec);
const char *calls_name(const struct calls_reader *r, uint32_t name); /* "" when it is none */
void calls_close(struct calls_reader *r);

#endif
