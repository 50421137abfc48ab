/* profile.h - reads torch.profiler's Chrome trace (export_chrome_trace()) as a stream, into rows with exact times.
 *
 * The format (torch 2.13.0, kineto's output_json; recorded in tests/data/profiles):
 *
 *     { "schemaVersion": 1, "deviceProperties": [], "record_shapes": 1, ..., "traceEvents": [
 *       { "ph": "X", "cat": "cpu_op", "name": "aten::add_", "pid": 4304, "tid": 4304, "ts": 4432190440254.764, "dur": 1.732,
 *         "args": {"External id": 1211, "Record function id": 0, "Input Dims": [[64], [64], []], "Ev Idx": 1210} }, ... ],
 *       "traceName": "eager.json" }
 *
 * ts and dur are microseconds with three decimals; older versions wrote integers. They are kept as nanoseconds, exactly. Also supported,
 * and tested with handmade input, not recorded: a bare array of events (the old autograd profiler, torch/autograd/profiler_util.py, and
 * other tools), B and E pairs, ts as a string or with an exponent, older category names ("Operator", "Kernel"), and everything that a
 * device writes.
 *
 *     struct profile p;
 *     if (profile_read(&p, "compiled.json", &err) < 0)        // plain, .gz, "-"
 *         die_err(&err);
 *     for (uint32_t i = 0; i < p.n_row; i++) ... profile_name(&p, i), p.row[i].self, p.row[i].count
 *     profile_release(&p);
 *
 * The events of compiled code (torch 2.13.0; with the source of each name):
 *     TorchDynamo Cache Lookup              guards are checked (libtorch_python, torch/csrc/dynamo)
 *     Torch-Compiled Region: 0/1            a compiled frame runs; 0/1 is its compile id (_dynamo/convert_frame.py)
 *     Pregraph bytecode, AOTDispatcher Runtime Wrapper Prologue, CompiledFunction, CompiledFunctionBackward: around the graph
 *     ## Call CompiledFxGraph fHASH ##      the generated wrapper runs (_inductor/output_code.py)
 *     graph_0_cpp_fused_gelu_1              a C++ kernel, only with cpp.enable_kernel_profile (_inductor/codegen/cpp.py)
 *     triton_poi_fused_add_0                a Triton kernel: cat "kernel" on the device, its launch as cat "cpu_op"
 *     dynamo, entire_frame_compile, entire_backward_compile, ... (dynamo_timed): compiling; entire_frame_compile_data:
 *     fn_name=..., compile_id=0/1 inside it shows which (_dynamo/utils.py)
 *     "stack": ["File \"/app/m.py\", line 7, in forward\n    y = x.log()", ...] in a kernel's args: its program's lines, where
 *     torch 2.15's inductor_trace_handler wrote the file and TORCH_COMPILE_DEBUG_EXTEND=1 was set (_inductor/profiler.py)
 * A frame resumed after a graph break is a region inside the first one's region: Dynamo's code calls the resume function.
 *
 * Self time is a call's time without its direct children's, by nesting within one thread, as torch's key_averages() counts it:
 * a call that only forwards to one of the same name (aten::sum to an overload) counts once. Python functions nest among
 * themselves. Events of a thread may be in any order in the file.
 *
 * Memory: 16 bytes an event, up to PROFILE_EVENTS_MAX of them, and names, up to PROFILE_ROWS_MAX; the rest is counted in a
 * row "(other names)" and as damage. A window of 2 MB for each CPU, at most 8.
 *
 * Failure: -1 if the file cannot be opened, or has no event. A truncated file (the profiler was killed) gives what
 * came before, and p.damage says so.
 */
#ifndef PT2_PROFILE_H
#define PT2_PROFILE_H
#include "base/buf.h"
#include "base/hash.h"

enum {
	PROFILE_ROWS_MAX = 1 << 16,
	PROFILE_EVENTS_MAX = 1 << 27,
	PROFILE_EVENT_BYTES = 16 << 20, /* of one event, or of what comes before the list of events */
	PROFILE_GAPS = 32,
	PROFILE_LIST_MAX = 1 << 16,
	PROFILE_SHAPE_MAX = 160,
	PROFILE_STACK_MAX = 1 << 16,
};

/* From an event's category. */
enum profile_class {
	CLASS_OP,         /* cpu_op, and events without a category */
	CLASS_ANNOTATION, /* user_annotation */
	CLASS_RUNTIME,    /* cuda_runtime, cuda_driver, ...: on the CPU */
	CLASS_PYTHON,     /* python_function */
	CLASS_KERNEL,     /* kernel: on a device */
	CLASS_COPY,       /* gpu_memcpy, gpu_memset: on a device */
	CLASS_DEVICE_ANNOTATION,
	CLASS_OTHER, /* Trace, overhead: not something that ran */
	PROFILE_CLASSES,
};
/* From the name of an op or annotation. */
enum profile_kind {
	KIND_OP,
	KIND_KERNEL, /* fused by Inductor: cpp_fused, triton_ */
	KIND_REGION, /* Torch-Compiled Region */
	KIND_LOOKUP,
	KIND_GRAPH,   /* CompiledFunction, CompiledFunctionBackward, ## Call CompiledFxGraph: a graph runs */
	KIND_WRAPPER, /* around a graph: prologue, pregraph bytecode */
	KIND_COMPILE,
	KIND_COMPILE_DATA,
	KIND_STEP,     /* ProfilerStep#N */
	KIND_USER,     /* other annotations */
	KIND_AUTOGRAD, /* autograd::engine::evaluate_function: ... */
	PROFILE_KINDS,
};

/* Where the time of the steps went, by the threads' events; sums to the steps' time. */
enum profile_spent {
	SPENT_KERNEL,    /* fused kernels, as CPU events */
	SPENT_EXTERN,    /* ops that compiled code calls: aten::addmm */
	SPENT_GENERATED, /* inside a graph, but not in an op: the generated wrapper, and C++ kernels without events */
	SPENT_EAGER,     /* ops outside compiled code */
	SPENT_AUTOGRAD,  /* the autograd engine between ops */
	SPENT_DEVICE,    /* cudaLaunchKernel, cudaStreamSynchronize, ... */
	SPENT_GUARDS,    /* cache lookups */
	SPENT_DYNAMO,    /* compiled regions outside graphs: prologues, bytecode between graphs */
	SPENT_COMPILE,
	SPENT_PYTHON, /* not in any event on any thread: Python, input, output */
	SPENT_WAIT,   /* the main thread is not in an event, but another one is: backward on a device */
	SPENT_PARTS,
};
extern const char *const profile_spent_name[SPENT_PARTS];

struct profile_row {
	uint32_t name;                         /* of p.names */
	uint8_t class, kind;                   /* enum profile_class, profile_kind */
	uint64_t count, total, self, min, max; /* ns, as torch counts */
	uint64_t folded;                       /* calls that forward to their own name, not in count and total */
	uint64_t overlap; /* ns that callees took more than their caller, since they overlap: self is 0 then, torch's is negative */
	uint64_t step_count, step_self;       /* inside steps (everywhere, if there are none), without what runs while compiling */
	uint64_t compile_count, compile_self; /* while compiling: fake tensors */
	uint64_t graph_self;                  /* of step_self: inside compiled graphs */
	char *shape;                          /* Input Dims of the slowest; NULL */
	char *stack;                          /* of a device's kernel: where it comes from, as the file has it (JSON); NULL */
};
struct profile_step {
	uint64_t ts, dur;
	uint32_t thread;
	uint64_t number, compile; /* compile: ns of it spent compiling */
};
/* A compiled frame by compile id. */
struct profile_region {
	uint32_t id;                   /* of p.names: "0/1" */
	uint64_t calls, total, nested; /* nested: calls from another region, after a graph break */
	uint64_t lookup;               /* ns of the preceding lookups */
	uint64_t wait;                 /* nested calls: ns since the previous graph ended, without compiling */
	uint32_t after;                /* the region they come from; NONE */
};
struct profile_compile {
	uint64_t ts, dur;
	uint32_t id;          /* NONE if unknown */
	uint32_t what;        /* name of the outermost event */
	uint32_t step;        /* NONE: outside */
	bool backward, again; /* again: not the frame's first compilation */
};
/* Nothing ran on any thread. */
struct profile_gap {
	uint64_t ts, dur;
	uint32_t before, after; /* rows that ran before and after; NONE */
	uint32_t step, python;  /* the Python function (a row) in the middle of it, if recorded */
};
struct profile_thread {
	uint32_t pid, tid, name; /* of p.names; name NONE */
	bool device;
	uint64_t events, busy; /* of ops or kernels; busy: ns in which at least one of them ran */
};

struct profile {
	struct intern names;
	struct profile_row *row;
	uint32_t n_row, cap_row;
	struct profile_step *step;
	uint32_t n_step, cap_step;
	struct profile_region *region;
	uint32_t n_region, cap_region;
	struct profile_compile *compile; /* in order of time */
	uint32_t n_compile, cap_compile;
	struct profile_gap gap[PROFILE_GAPS]; /* the longest */
	uint32_t n_gap;
	struct profile_thread *thread;
	uint32_t n_thread, cap_thread, n_busy_thread; /* busy: with ops, on the CPU */
	uint32_t main_thread;                         /* the one with steps, or with most ops; NONE */

	uint64_t events; /* X, or B with E */
	uint64_t class_events[PROFILE_CLASSES], memory_events, flows;
	uint64_t first, last;              /* ns, of everything that ran */
	uint64_t wall;                     /* the steps' time, or last - first if there are none */
	uint64_t spent[SPENT_PARTS];       /* of wall, by the main thread's events */
	uint64_t gaps, n_gaps;             /* ns and number */
	uint64_t breaks, break_wait;       /* graph breaks executed inside steps, ns between the graphs */
	uint64_t device_busy, device_span; /* ns in which a device ran something, and from first to last */
	uint32_t devices;
	uint64_t small_eager, small_eager_ns; /* eager ops of less than 5 us in steps */
	bool compiled;                        /* something in it was compiled */
	bool has_shapes, has_stacks;
	uint64_t bytes; /* read, uncompressed */

	uint64_t bad_events, other_names, left_out; /* without usable time; folded; beyond PROFILE_EVENTS_MAX */
	struct buf damage;                          /* one per line; empty: none */
};

int profile_read(struct profile *p, const char *path, struct err *err);
void profile_release(struct profile *p);
static inline struct slice profile_name(const struct profile *p, uint32_t row)
{
	return row < p->n_row ? intern_get(&p->names, p->row[row].name) : (struct slice){"", 0};
}
/* "Torch-Compiled Region: 0/1" -> "0/1"; empty in versions that do not log it. */
struct slice profile_region_id(struct slice name);
/* "graph_0_cpp_fused_gelu_1" -> "cpp_fused_gelu_1": the name in the generated code. */
struct slice profile_kernel_name(struct slice name);

#endif
