/* crash.h - everything known about a crash: filled by the readers of texts (backtrace.h) and of core files (core.h).
 *
 *     struct crash c = {0};
 *     crash_read_text(&c, text);                       // backtrace.h; any text
 *     core_read(&c, bytes, "core.123", &err);          // core.h
 *     for (uint32_t i = 0; i < c.n_stacks; i++)
 *         for (uint32_t k = 0; k < c.stack[i].n; k++)
 *             c.frame[c.stack[i].first + k].module ...  // innermost first; Python tracebacks are reversed
 *     crash_release(&c);
 *
 * Both may be read into one struct; the first value found is kept. Slices point into the bytes that were read, which must outlive it,
 * or into the arena. Everything is bounded: entries beyond CRASH_MAX_* are counted in .left_out and dropped.
 *
 * Addresses. `address` is the one in the process. `offset` is relative to where the module was loaded: the address in the ELF file
 * (for shared libraries, whose first segment starts at 0). A caller's frame has its return address, which is past the call: look up
 * one byte before it, unless .exact.
 */
#ifndef PT2_CRASH_H
#define PT2_CRASH_H
#include "base/arena.h"

#define CRASH_MAX_FRAMES 8192
#define CRASH_MAX_STACKS 1024
#define CRASH_MAX_MAPS 65536
#define CRASH_MAX_THREADS 4096
#define CRASH_MAX_LINE 16384 /* bytes of a line that are examined */

enum crash_form {
	FORM_GLIBC,   /* /path/x.so(sym+0x22b) [0x7f12]; also "[19] sym+0x10(0x7f12) in /path" of caffe2 */
	FORM_TORCH,   /* frame #3: sym + 0x22b (0x7f12 in /path/x.so); #3 sym from file.cpp:0 */
	FORM_GDB,     /* #3  0x00007f12 in sym (args) from /path/x.so */
	FORM_LLDB,    /* frame #3: 0x00007f12 x.so`sym + 555 at file.cpp:12 */
	FORM_ASAN,    /* #3 0x7f12 in sym (/path/x.so+0x1234) (BuildId: ..) */
	FORM_JOURNAL, /* #3  0x00007f12 sym (x.so + 0x1234): coredumpctl */
	FORM_KERNEL,  /* segfault at 8 ip 00007f12 sp .. error 4 in x.so[7f1000+5000] */
	FORM_PYTHON,  /* File "app.py", line 5 in f */
	FORM_CORE,    /* unwound from a core file */
	FORM_CHECK,   /* aoti_torch_cpu_f(...) API call failed at x.wrapper.cpp, line 12 */
};

enum crash_has {
	HAS_ADDRESS = 1,
	HAS_OFFSET = 2,      /* in the module, as an ELF address */
	HAS_IN_SYMBOL = 4,   /* .in_symbol */
	HAS_FILE_OFFSET = 8, /* .offset is a file offset */
	HAS_MAP_OFFSET = 16, /* .offset counts from the start of a mapping of .map_size bytes, the one with the code */
};

struct crash_frame {
	enum crash_form form;
	uint32_t number; /* as written; NONE */
	unsigned has;
	bool exact;   /* the address is the instruction itself, not a return address */
	bool guessed; /* core: found by the frame pointer, since the library of the frame inside it is missing */
	bool handler; /* run by a signal handler, not the program: <signal handler called> is the last of these */
	uint64_t address, offset, in_symbol, map_size;
	struct slice module; /* its path or name; empty if unknown */
	struct slice symbol; /* mangled or not, without arguments' values; empty if unknown */
	struct slice file;   /* source file */
	uint32_t line;
	struct slice build_id; /* hexadecimal */
	struct slice text;     /* the line it was read from; empty for FORM_CORE */
};

struct crash_stack {
	struct slice name; /* "Thread 0x00007fa03bde5b80", "1234"; empty */
	uint32_t first, n;
	bool crashed; /* the text or core marks this one as crashed */
	bool python;
	uint64_t tid; /* core */
};

/* A mapping: of /proc/PID/maps, or of a core's NT_FILE and segments. */
struct crash_map {
	uint64_t start, end, offset;
	bool read, write, exec, has_flags;
	struct slice path;     /* empty: not a file */
	struct slice build_id; /* if the core has the file's first page */
};

/* Signs in a text that narrow down the kind of crash beyond the signal. */
enum crash_sign {
	SIGN_OOM = 1,            /* the kernel's out-of-memory killer */
	SIGN_HEAP = 2,           /* malloc found its own data damaged */
	SIGN_ASSERT = 4,         /* assert() */
	SIGN_EXCEPTION = 8,      /* an uncaught exception: terminate called ... */
	SIGN_CUDA = 16,          /* a CUDA runtime error */
	SIGN_CUDA_IMA = 32,      /* illegal memory access */
	SIGN_STACK = 64,         /* a reported stack overflow */
	SIGN_SMASHED = 128,      /* stack smashing detected */
	SIGN_ASAN = 256,         /* AddressSanitizer's report */
	SIGN_API = 1024,         /* an operator called by a model failed (AOTI_TORCH_ERROR_CODE_CHECK) */
	SIGN_PYTHON_ERROR = 512, /* a Python exception: not a crash, but its message may come from the model */
};

/* General registers at the crash. */
struct crash_registers {
	const char *const *name; /* for the machine: "rip", ...; NULL if unknown */
	uint64_t value[34];
	unsigned n, pc, sp; /* pc, sp: indices */
};

/* A thread of a core file. The first is the one that got the signal. */
struct crash_thread {
	uint64_t tid, pc, sp;
};

struct crash {
	int signal; /* 0 if unknown */
	int code;   /* si_code, when has_code */
	bool has_code, has_fault, has_ip;
	bool fault_write, has_access; /* the failed access was a write (kernel log) */
	uint64_t fault;               /* the faulting address */
	uint64_t ip;
	uint64_t pid;
	uint16_t machine;       /* of a core, EM_X86_64; 0 */
	unsigned signs;         /* enum crash_sign */
	struct slice said;      /* the first line that shows the signal or error */
	struct slice exception; /* "std::runtime_error" */
	struct slice what;      /* its message, an assertion, a CUDA or malloc error */
	struct slice command;   /* core: the command line */
	struct crash_registers reg;
	struct crash_frame *frame;
	struct crash_stack *stack;
	struct crash_map *map;
	struct crash_thread *thread;
	uint32_t n_frames, cap_frames, n_stacks, cap_stacks, n_maps, cap_maps, n_threads, cap_threads;
	uint64_t left_out;
	bool from_text, from_core;
	struct arena arena;
};

void crash_release(struct crash *c);

/* For readers. NULL if there are too many. */
struct crash_frame *crash_add_frame(struct crash *c); /* to the last stack; creates one if needed */
struct crash_stack *crash_add_stack(struct crash *c, struct slice name);
struct crash_map *crash_add_map(struct crash *c);

/* The stack to explain, among those with native frames: the one marked as crashed, else the first with a model in it, else the first.
 * NULL: none. */
const struct crash_stack *crash_main_stack(const struct crash *c);
/* The Python frames of the crashed thread, innermost first; NULL. */
const struct crash_stack *crash_python_stack(const struct crash *c);
/* The first mapping that contains an address, or NULL. */
const struct crash_map *crash_map_of(const struct crash *c, uint64_t address);
/* Uses the mappings to give frames with only an address their module and offset. */
void crash_place_frames(struct crash *c);

const char *crash_form_name(enum crash_form form); /* "glibc", ...: for JSON */
/* "SIGSEGV" and its number by any of its names: "SIGSEGV", "SEGV", "Segmentation fault"; 0. */
int crash_signal(struct slice name);
/* "SIGSEGV"; "signal 77". Static or in the arena. */
const char *crash_signal_name(struct crash *c, int signal);

#endif
