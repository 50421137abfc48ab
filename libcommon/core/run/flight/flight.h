/* flight.h - a dump of c10d's Flight Recorder: the collectives that one rank issued, oldest first, and how far each got.
 *
 *     struct flight f;
 *     if (flight_read(&f, bytes, "nccl_trace_rank_3", &err) < 0) ...      // "refuses global 'os.system'": nothing is executed
 *     f.rank                                                              // 3, from the file's name: a dump does not record its rank
 *     for (uint32_t i = 0; i < f.n_op; i++)
 *         flight_text(&f, f.op[i].name) "nccl:all_reduce", f.op[i].seq 183, f.op[i].bytes 4194304
 *     flight_release(&f);
 *
 * Written by TORCH_NCCL_DUMP_ON_TIMEOUT into <TORCH_FR_DUMP_TEMP_FILE><rank> (before 2.9 TORCH_NCCL_DEBUG_INFO_TEMP_FILE), and by
 * torch._C._distributed_c10d._dump_nccl_trace(), _dump_fr_trace() (gloo) as a pickle, _dump_..._json() as JSON, which has no stacks.
 * Source of all facts here: torch/csrc/distributed/c10d/FlightRecorder.hpp and FlightRecorderDetail.hpp of torch 2.13 and
 * 2.15 (version "2.10" of the format in both), torch/distributed/flight_recorder/components. Keys:
 *
 *     version "2.10", comm_lib_version (nccl_version before)
 *     pg_config  {name: {name, desc, ranks: "[0, 1]"}}   global ranks; gloo writes all groups under "", so its are ignored
 *     pg_status  {pg_id: {last_enqueued_collective, last_started_collective, last_completed_collective}}
 *     entries    [{record_id, pg_id, process_group (name, desc), collective_seq_id, p2p_seq_id, op_id, profiling_name, time_created_ns,
 *                 input_sizes, input_dtypes, output_sizes, output_dtypes (c10's names: Float), state (scheduled, started, completed),
 *                 time_discovered_started_ns, time_discovered_completed_ns, retired, timeout_ms, is_p2p, frames [{name, filename, line}]}]
 *
 * The recorder is a ring of TORCH_FR_BUFFER_SIZE (2000) entries: entries before the first may have been lost. All members of a group number
 * its collectives the same way: (group, seq) is the same collective on all of them. gloo leaves state at "scheduled"; pg_status shows what
 * completed.
 *
 * Untrusted; reading is bounded: FLIGHT_OPS entries, PICKLE_MAX bytes. Texts are the dump's own.
 */
#ifndef PT2_FLIGHT_H
#define PT2_FLIGHT_H
#include "base/hash.h"

enum { FLIGHT_OPS = 1 << 17, FLIGHT_RANK_MAX = 1 << 24 };

enum flight_state { FLIGHT_SCHEDULED, FLIGHT_STARTED, FLIGHT_COMPLETED, FLIGHT_STATES };

struct flight_group {
	uint32_t name, desc;     /* "0", "default_pg" */
	uint32_t ranks;          /* text, "[0, 1]": global ranks; NONE: not in the dump */
	uint32_t first, n_ranks; /* of flight.member */
};

struct flight_op {
	uint64_t seq, fp;       /* within the group; fp: hash of what must be the same for all members (operator, sizes, dtypes) */
	int64_t created;        /* ns since 1970; 0: unknown */
	uint64_t bytes;         /* of all inputs; UINT64_MAX: unknown dtype */
	uint32_t group, name;   /* row of flight.group; "nccl:all_reduce" */
	uint32_t sizes, dtypes; /* texts of inputs, then of outputs after " -> " if they differ: "[1024, 16]"; "Float" */
	uint32_t place;         /* "train.py:12 in step": the innermost frame outside torch; or NONE */
	uint8_t state;          /* enum flight_state */
	bool p2p;               /* seq is p2p_seq_id */
};

struct flight {
	int64_t rank; /* -1: not in the file's name */
	char *path;
	uint32_t version; /* text, or NONE */
	struct intern names;
	struct flight_group *group;
	struct flight_op *op;
	uint32_t *member; /* of groups: ranks, ascending */
	uint32_t n_group, cap_group, n_op, cap_op, n_member, cap_member;
	bool unread;       /* flight_load failed with a system error */
	bool wrapped;      /* the ring has lost entries before the first */
	uint64_t left_out; /* entries that could not be read, or beyond FLIGHT_OPS */
};

/* Does the file's beginning look like a pickle (with a rank in its name) or a JSON dump? */
bool flight_is_there(const char *path);
/* The number at the end of a file's name, before any extension: nccl_trace_rank_3, fr_trace_3.json; or -1. */
FOR_TESTS int64_t flight_rank_of(const char *path);
FOR_TESTS int flight_read(struct flight *f, struct slice bytes, const char *path, struct err *err);
int flight_load(struct flight *f, const char *path, struct err *err);
void flight_release(struct flight *f);
static inline struct slice flight_text(const struct flight *f, uint32_t name) { return intern_get(&f->names, name); }
/* "all_reduce" of "nccl:all_reduce". */
struct slice flight_operator(const struct flight *f, const struct flight_op *op);

#endif
