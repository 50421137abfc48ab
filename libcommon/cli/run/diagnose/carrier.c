/* carrier.c - the texts are those of vLLM 0.6 to 0.11 (vllm/v1/engine/utils.py, core_client.py, executor/multiproc_executor.py), Ray 2.x
 * (python/ray/exceptions.py), torch 2.13 (torch/distributed/elastic/multiprocessing/errors, torch/multiprocessing/spawn.py,
 * torch/utils/data/dataloader.py, torch/_utils.py) and CPython (concurrent/futures/process.py, subprocess.py). */
#include "run/diagnose/carrier.h"

#define VLLM \
	"Look further up for the first ERROR line of EngineCore or of a worker: its traceback is the failure.\n" \
	"VLLM_ENABLE_V1_MULTIPROCESSING=0 python app.py    # one process (offline inference): its own traceback\n" \
	"With --enforce-eager vLLM does not use torch.compile: does it start then?"
#define TORCHRUN \
	"torchrun --log-dir=logs --redirects=3 --tee=3 ...    # each rank's output in a file of its own\n" \
	"Put @torch.distributed.elastic.multiprocessing.errors.record on main(): torchrun then shows the rank's traceback."
#define SPAWN "Look further up for the traceback of that process; faulthandler shows where a signal hit: PYTHONFAULTHANDLER=1 python app.py"

static const struct carrier carriers[] = {
    {NULL, "Engine core initialization failed", NULL, "vLLM's engine core", VLLM},
    {NULL, "WorkerProc initialization failed", NULL, "a worker of vLLM", VLLM},
    {NULL, "Engine process failed to start", NULL, "vLLM's engine process", VLLM},
    {NULL, "EngineCore encountered an issue", NULL, "vLLM's engine core", VLLM},
    {NULL, NULL, "ngine loop is not running", "vLLM's engine loop", VLLM},
    {"EngineDeadError", NULL, NULL, "vLLM's engine core", VLLM},
    {"MQEngineDeadError", NULL, NULL, "vLLM's engine process", VLLM},
    {NULL, "Worker failed with error", NULL, "a worker of vLLM", VLLM},
    {"ChildFailedError", NULL, NULL, "a rank of torchrun", TORCHRUN},
    {"ProcessExitedException", NULL, NULL, "a process of torch.multiprocessing.spawn", SPAWN},
    {"ProcessRaisedException", NULL, NULL, "a process of torch.multiprocessing.spawn", SPAWN},
    {"BrokenProcessPool", NULL, NULL, "a process of the pool", SPAWN},
    {"RayActorError", NULL, NULL, "a Ray actor", "ray logs    # lists the logs of the actors: worker-*.err has the traceback"},
    {"ActorDiedError", NULL, NULL, "a Ray actor", "ray logs    # lists the logs of the actors: worker-*.err has the traceback"},
    {"WorkerCrashedError", NULL, NULL, "a Ray worker", "ray logs    # lists the logs of the workers: worker-*.err has the traceback"},
    {NULL, NULL, "ray::", "a Ray task", "ray logs    # lists the logs of the workers: worker-*.err has the traceback"},
    {"RuntimeError", "Caught ", " in DataLoader worker process ", "a DataLoader worker",
     "DataLoader(..., num_workers=0)    # the failure is then in this process"},
    {"RuntimeError", "DataLoader worker (pid", NULL, "a DataLoader worker",
     "DataLoader(..., num_workers=0)    # the failure is then in this process"},
    {"RuntimeError", "Caught ", " in replica ", "a replica of DataParallel", SPAWN},
    {"CalledProcessError", "Command '", "python", "a command that this program started",
     "Look further up for the traceback of that command, or run it by itself: the message has it."},
    {"Error", NULL, "exit code ", "another process", NULL},
    {"Error", NULL, "exitcode", "another process", NULL},
    {"Error", NULL, "exited with ", "another process", NULL},
};

const struct carrier *carrier_of(const struct explanation *x, const struct fact_failure *r)
{
	struct slice type = explain_text(x, r->type), reason = slice_trim(explain_text(x, r->reason));
	for (size_t i = 0; i < ARRAY_LEN(carriers); i++) {
		const struct carrier *c = &carriers[i];
		/* Of a long message only what it begins with: a compiler's output may say anything. */
		struct slice first = slice_first_line(reason);
		if (slice_ends(type, "CalledProcessError")) /* the program, not an include path among a compiler's arguments */
			first = slice_until(first, "',");
		if ((!c->type || slice_ends(type, c->type)) && (!c->starts || slice_starts(reason, c->starts)) &&
		    (!c->has || slice_find(first, c->has)))
			return c;
	}
	return NULL;
}

static struct slice field(struct slice block, const char *name)
{
	struct slice s = slice_behind(block, name);
	return s.n ? slice_trim(slice_first_line(slice_trim(slice_until(s, "\n")))) : s;
}

struct slice carrier_root_cause(struct explanation *x, struct slice reason)
{
	struct slice block = slice_behind(reason, "Root Cause (first observed failure):");
	if (!block.n)
		return block;
	struct slice rank = field(block, "rank      : "), exitcode = field(block, "exitcode  : "), host = field(block, "host      : ");
	struct slice trace = field(block, "traceback : "), file = field(block, "error_file: ");
	if (!rank.n)
		return slice_of(NULL, 0);
	const bool has_signal = slice_starts(trace, "Signal "), has_file = file.n && !slice_is(file, "<N/A>");
	return explain_textf(x, "first to fail: rank %.*s%s%.*s, exitcode %.*s%s%.*s%s%.*s", SLN(rank, 80), host.n ? " on " : "",
			     SLN(host, 80), SLN(exitcode, 80), has_signal ? ": " : "", SLN(has_signal ? trace : slice_of("", 0), 120),
			     has_file ? "; its error file: " : "", SLN(has_file ? file : slice_of("", 0), 200));
}
