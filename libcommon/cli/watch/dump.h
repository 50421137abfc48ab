/* dump.h - a folder of saved tensors: aoti-printer -o writes it, both tools read it.
 *
 *     struct dump d;
 *     if (dump_open(&d, "dump", &err) < 0) ...
 *     for (size_t i = 0; i < d.n; i++)                                 // calls, in the order they ended
 *         for (uint32_t k = 0; k < d.call[i].n_values; k++)
 *             d.call[i].value[k].buffer, .before, .meta, .stats
 *     struct dump_tensor t;
 *     if (dump_tensor_open(&t, &d, &d.call[i].value[k], &err) < 0) ... // t.meta, t.data: the first element
 *     dump_tensor_close(&t);
 *     dump_close(&d);
 *
 * The folder holds a file for each tensor (.npy, .safetensors or .pt) and the index calls.jsonl, JSON lines. The first line is
 *     {"dump": 1, "writer": "aoti-printer 0.1.0"}
 * (1: the version of the format), the last {"ended": true, "calls": N, "lost": 0} (without it the writer was killed: d.cut; with
 * "failed": a text, the run itself failed, because of a GPU error),
 * and every other line is a call, with these members (unknown ones are left out):
 *     model, model_id   its name, and its number in that process tree
 *     pid, tid, seq     the process and thread; the number of the call among all
 *     rank              of the process, if torchrun (or another launcher) set RANK
 *     run, call         which Run of the model, which call of that Run, from 0
 *     kernel, kind      "cpp_fused_relu_0", "kernel"; "aoti_torch_cpu_addmm_out", "op"; "pt2fix::add_", "proxy"; "run": not a call,
 *                       but the Run itself with the model's inputs and outputs; "cuda_graph[1]", "replay"
 *     source            of a torch.compile graph: its generated Python, which replaces wrapper.cpp
 *     precision         of a run of a torch.compile graph: torch's settings, "float32_matmul=high cudnn.allow_tf32=1 ..."
 *     line, nodes, aten its line in wrapper.cpp, and what it came from (contract.h)
 *     time_ns, took_ns  when it started (CLOCK_MONOTONIC), and how long it took
 *     returned, result  false: it never returned, it crashed; what it returned
 *     values            its tensors: buffer, path (a constant's module path), arg, role ("in", "out", "inout", "constant",
 *                       "model-input", "model-output"), when ("before", "after"), dtype, device, sizes, strides, address (of the first
 *                       element, in that process: tensors that share memory have overlapping ranges), file, place (private
 *                       folders of a tool only, dump_run(): where it begins in a file of all tensors); and the
 *                       statistics: elements, nan, inf, neg_inf, zeros, min, max, mean, first_bad
 *
 * .npy has no strides, and no bfloat16: sizes, strides and dtype in the index are those in the process, t.meta those of
 * the bytes in t.data (including bfloat16).
 *
 * Untrusted: bounded by the index's length; file names are names in the folder, never paths. Failure: -1 and err
 * (EXIT_INPUT) with the file and the line.
 */
#ifndef PT2_LIVE_DUMP_H
#define PT2_LIVE_DUMP_H
#include "base/arena.h"
#include "base/io/mapfile.h"
#include "base/json.h"
#include "watch/calls.h"

#define DUMP_INDEX "calls.jsonl"
#define DUMP_VERSION 1
#define DUMP_MAX_INDEX (1u << 30)

struct dump_value {
	struct slice buffer, path, file; /* "" if there is none */
	bool together;                   /* the file is of many tensors; it is at .place (CALL_SAVED_ARENA) */
	uint64_t place;
	uint32_t arg;
	enum call_role role;
	bool before;
	struct tensor_meta meta; /* n_dim -1: unknown */
	struct tensor_stats stats;
};

/* Did the call write it? */
static inline bool dump_written(const struct dump_value *v)
{
	return !v->before && (v->role == CALL_ROLE_OUT || v->role == CALL_ROLE_INOUT);
}

enum dump_kind { DUMP_KERNEL, DUMP_OP, DUMP_PROXY, DUMP_RUN, DUMP_REPLAY };
struct dump_call {
	struct slice model, name, nodes, aten;
	struct slice precision; /* of a Run: torch's settings, "NAME=VALUE ..." */
	struct slice text;      /* the file that .line belongs to: the generated Python of a torch.compile graph; empty: wrapper.cpp */
	enum dump_kind kind;
	uint32_t model_id, run, call, line, pid, tid;
	uint32_t rank; /* of the process; NONE: it has none */
	uint64_t seq, time, took;
	int32_t result;
	bool returned;
	struct dump_value *value;
	uint32_t n_values;
};

struct dump {
	const char *path;
	bool written_to; /* by a process that runs: tensors are copied before they are read */
	struct dump_call *call;
	size_t n, cap;
	uint64_t lost;
	bool cut;            /* its writer did not finish */
	struct slice failed; /* why the run failed; or empty */
	struct dump_file {
		struct slice name;
		struct mapfile map;
	} * file; /* of many tensors */
	size_t n_files, cap_files;
	struct arena arena;
};

/* Is this a folder with an index? */
bool dump_like(const char *path);
int dump_open(struct dump *d, const char *path, struct err *err);
/* The same from an index in memory; path only for messages and for dump_tensor_open. */
FOR_TESTS int dump_read(struct dump *d, struct slice index, const char *path, struct err *err);
void dump_close(struct dump *d);

struct tensor_file;
struct dump_tensor {
	struct tensor_meta meta;
	const void *data;
	struct tensor_file *file;
};
int dump_tensor_open(struct dump_tensor *t, const struct dump *d, const struct dump_value *v, struct err *err);
void dump_tensor_close(struct dump_tensor *t);

/* ---- writing ---- */

/* Runs a model and saves everything but constants into an existing (private) folder, as a dump. o->calls is filled in here.
 * 0 even if the model failed: .failed has the error then. writer: "aoti-verify 0.1.0". */
struct watch_options;
struct dump_ran {
	struct err failed;
	struct buf notes; /* what was not understood, one per line */
	uint64_t lost;
};
int dump_run(struct watch_options *o, const char *folder, const char *writer, struct dump_ran *ran, struct err *err);

/* Runs a model with o->given (given.h); taken: that file afterwards, as far as the model came. o->calls is filled in here. */
int given_run(struct watch_options *o, struct buf *taken, struct err *err);

struct watch_call;
void dump_head(struct buf *b, const char *tool);
/* A line; `value` (may be NULL) selects the values in it and, by changing *file, names their files. */
void dump_line(struct buf *b, const struct watch_call *c, bool (*value)(void *user, uint32_t i, const char **file), void *user);
void dump_end(struct buf *b, uint64_t calls, uint64_t lost, struct slice failed);
/* Writes the members of such a line into the open object. */
void dump_members(struct json_out *o, const struct watch_call *c, bool (*value)(void *user, uint32_t i, const char **file), void *user);
/* Writes the statistics; min, max and mean are null if everything was NaN. */
void dump_stats(struct json_out *o, const struct tensor_stats *s);
const char *dump_kind_name(enum dump_kind k);
enum dump_kind dump_kind_of(const struct watch_call *c);
/* Copies the tensor's metadata from a record. Dims beyond CALL_DIMS are left out. */
void dump_meta(const struct call_record *r, struct tensor_meta *m);

#endif
