/* event.h - what a watched process tells: the event log, the counters, and the names both sides agree on.
 *
 * A tool runs a command under libpt2probe.so (live.h). Between the two there is one private folder (mode 0700), named by
 * PT2_PROBE_DIR in the command's environment:
 *
 *     events      JSON lines, appended by every process of the command, one write(2) each (O_APPEND); a killed process
 *                 leaves whole lines. The file is opened for each event: no descriptor is kept in a process that is
 *                 not ours, so closing all descriptors, daemons, fork and exec change nothing.
 *     socket      a process that loads a model asks here for its contract (below)
 *     contract.DEV.INO  of a model that the tool itself starts: the answer lies there already (numbers of the library in
 *                 hexadecimal). Such a process may use no socket
 *     counters    struct live_counters, mapped shared by all processes: how often each model was called. It is right
 *                 whatever happens to the process (SIGKILL, _exit, exec).
 *     graph.PID.MODEL  of a graph of torch.compile: its contract, which the process makes of the generated text, as JSON (contract.h)
 *                 with one member more, "kernels", as in kernel_information.json
 *     calls, names  only when kernels and ops are watched: the call log (calls.h)
 *
 * Every event is an object with: "ev" (its kind), "t" (seconds since 1970), "pid", "tid", where its environment has RANK "rank", and, but
 * for those of the process itself, "model": the number of the loaded model in the whole process tree, which is also its slot of the
 * counters. A process that is forked goes on with its parent's numbers. Kinds and their other members:
 *
 *     model-seen     path (as the process knows it), package (if torch unpacked it: what the program loaded), dev, ino, entries: the
 *                    entry points that are watched
 *                    Of a graph of torch.compile: path (the generated text), graph ("3_backward"), table (the file graph.PID.MODEL);
 *                    where calls are not watched without a model, once a process
 *     contract       inputs: how many it has; unknown: inputs whose checks are not complete
 *     no-contract    text: why. Calls of this model are counted, not checked
 *     call-mismatch  call (how many calls there had been), entry, failed (--fail: the model did not run), repeat: the
 *                    N-th time of the same mismatch, last: from now on it is only counted; inputs: what was
 *                    given (specs as in tensor.h), findings: what is wrong, each {what, input, name, path, dim,
 *                    expected, given, fix, aoti, advice} (check.h)
 *     calls-summary  calls, mismatched, unchecked, failed, past (Runs that were entered unseen, not in calls): written by the tool, at
 *                    the end
 *     device-fault   when: "before" the call (by what was there before), at its "launch", "after" it (CALLS_SYNC), or when its
 *                    "values" were copied (it, or what ran unseen before it), or "later" (CALLS_SCAN: the
 *                    call is unknown, and nothing but the error follows); code, error, text: the driver's; run, call, seq,
 *                    contract_call (calls.h), kernel, stream, device, grid, block, shared, params: in order, {size: bytes, and of a number:
 *                    value, and name if a launch from Python gave one; of a tensor: buffer, role, arg, dtype, on, on_index, sizes,
 *                    strides, address, extent: bytes that these reach over, storage: bytes from there to the end of its storage;
 *                    base, allocation: where the driver has it}.
 *                    Addresses and values are texts (0x...). Once for a process: such errors stay. Of a function of the model that has
 *                    launched kernels itself: function, and grid to shared of the last. Of the replay of a CUDA graph: graph, replay (how
 *                    many with this one), captured and kernels as below, and neither run nor params
 *     device-finding what: host-pointer, other-device or walks-outside (of its storage); run, call, seq, contract_call, kernel, stream,
 *                    device, param, and the tensor as above. Written before the launch, once for each parameter of a kernel
 *     graph          graph: a number, from 1, of this process; captured: how many calls are in it; kernels: the names of the first of
 *                    them, in order. Written when its capture ends, and again when there is more in it
 *     bounds         a kernel has touched what it was not given (CALLS_BOUNDS). what: write-after, write-before, read-after, read-before
 *                    (its tensor), write-neighbour, read-neighbour (memory of others between its elements), write-input, write-weight,
 *                    uninitialised (what was never written decides over its results), race (the same call twice, with two results;
 *                    when: "order" if the chunks of its parallel loops ran in another order, "one-thread"),
 *                    unsteady (its results depend on memory outside its tensors), freed (memory of a tensor that is no more), wild
 *                    (a fault far away: the process dies). run, call, contract_call, kernel; the tensor: arg, buffer, role, dtype,
 *                    item (bytes of an element), sizes, strides, extent (bytes), aligned (its address modulo 64); first, last: bytes
 *                    from its first element; writes; of a fault ip (in the model's file), thread, times (of reads: how
 *                    many faulted, up to 64), and what the instruction was: width
 *                    (bytes), bits (of a vector register), operand. Once for each kernel, argument and what.
 *                    With CALLS_BOUNDS_ALLOC also in memory other than the call's tensors, or outside of a call: memory (its bytes),
 *                    code ("libfoo.so symbol" of a fault), asked: the code that allocated it, the innermost first
 *     bounds-summary run; guarded: arguments of kernels in it; unguarded, unguarded_bytes: those for which there was no memory, or
 *                    that could not be examined; unordered: why chunks of its parallel loops could not be
 *                    reordered. At the end of a model's first run, and of each with some unguarded
 *     scaler         a torch.amp.GradScaler was made (made: true), or has updated its scale: seq, of the last call before (calls.h);
 *                    scaled, of the first call after it had scaled a loss in this step, or 0; scale, before it; skipped: it had found
 *                    infinities, and there was no step of an optimizer
 *     stepped-aside  text: what this process does that is not understood, and is therefore left alone
 *
 * Asking for a contract: the process sends {"path":..., "dev":..., "ino":...} and shuts down its writing side; the answer
 * is '+' and the contract as JSON (contract.h), or '-' and the reason, then the end of the stream.
 */
#ifndef PT2_LIVE_EVENT_H
#define PT2_LIVE_EVENT_H
#include <stdatomic.h>
#include <stdint.h>

/* Environment variables that the tool sets for the command. */
#define LIVE_ENV(X) \
	X(DIR, "PT2_PROBE_DIR")           /* the folder above; without it the library does nothing */ \
	X(FAIL, "PT2_PROBE_FAIL")         /* 1: a call whose inputs do not fit returns an error and does not run */ \
	X(NO_CHECK, "PT2_PROBE_NO_CHECK") /* 1: inputs are not checked */

#define LIVE_EVENTS(X) \
	X(MODEL_SEEN, "model-seen") \
	X(CONTRACT, "contract") \
	X(NO_CONTRACT, "no-contract") \
	X(CALL_MISMATCH, "call-mismatch") \
	X(CALLS_SUMMARY, "calls-summary") \
	X(DEVICE_FAULT, "device-fault") \
	X(DEVICE_FINDING, "device-finding") \
	X(GRAPH, "graph") \
	X(BOUNDS, "bounds") \
	X(BOUNDS_SUMMARY, "bounds-summary") \
	X(SCALER, "scaler") \
	X(STEPPED_ASIDE, "stepped-aside")

/* clang-format off */
#define LIVE_ENUM(id, name) LIVE_##id,
enum live_kind { LIVE_EVENTS(LIVE_ENUM) LIVE_KINDS };
#undef LIVE_ENUM
#define LIVE_ENUM(id, name) LIVE_ENV_##id,
enum live_env { LIVE_ENV(LIVE_ENUM) LIVE_ENVS };
#undef LIVE_ENUM
#define LIVE_NAME(id, name) name,
static inline const char *live_env_name(enum live_env e) { return ((const char *const[]){ LIVE_ENV(LIVE_NAME) })[e]; }
#undef LIVE_NAME
/* clang-format on */

/* Names in the folder. */
#define LIVE_FILE_EVENTS "events"
#define LIVE_FILE_SOCKET "socket"
#define LIVE_FILE_COUNTERS "counters"
#define LIVE_FILE_CONTRACT "contract.%llx.%llx"
#define LIVE_FILE_TABLE "graph.%u.%u" /* process, model */
#define LIVE_FOLDER_JIT "jit"         /* what is put in front of Python programs: share/jit */

#define LIVE_MAX_LINE (256u << 10)    /* bytes of one event; longer ones lose their findings */
#define LIVE_MAX_CONTRACT (64u << 20) /* bytes of an answer */
#define LIVE_ASK_MS 5000              /* how long a process waits for a contract */
#define LIVE_FULL_REPEATS 3           /* the same mismatch is reported this many times, then only counted */
#define LIVE_MODELS 1023              /* in one run of a command, over all its processes */
#define LIVE_NO_MODEL UINT32_MAX

/* A loaded model; members are only ever added. */
struct live_count {
	_Atomic uint64_t calls, mismatched, unchecked, failed;
	_Atomic uint64_t past; /* Runs that were entered past the functions that are watched, and are not in calls */
	_Atomic uint32_t pid;  /* that loaded it */
	uint32_t zero[5];
};
_Static_assert(sizeof(struct live_count) == 64, "a cache line each: models in different threads do not disturb another");

#define LIVE_MAGIC "PT2LIVE1"
struct live_counters {
	char magic[8];
	_Atomic uint32_t used; /* slots given out; may run beyond LIVE_MODELS */
	uint32_t zero[13];
	struct live_count model[LIVE_MODELS];
};
_Static_assert(sizeof(struct live_counters) == 64u << 10, "one size for both sides");

#endif
