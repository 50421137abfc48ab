/* driver.h - what the parts of the fake driver share (../fakecuda.h says what it is). One lock; all functions here want it held. */
#ifndef PT2_FAKECUDA_DRIVER_H
#define PT2_FAKECUDA_DRIVER_H
#include <setjmp.h>
#include <stdbool.h>

#include "../fakecuda.h"
#include "../ptx.h"

/* CUresult, cuda.h of CUDA 12; the runtime's numbers are the same */
#define CUDA_RESULTS(X) \
	X(0, SUCCESS, "no error") \
	X(1, ERROR_INVALID_VALUE, "invalid argument") \
	X(2, ERROR_OUT_OF_MEMORY, "out of memory") \
	X(3, ERROR_NOT_INITIALIZED, "initialization error") \
	X(100, ERROR_NO_DEVICE, "no CUDA-capable device is detected") \
	X(101, ERROR_INVALID_DEVICE, "invalid device ordinal") \
	X(200, ERROR_INVALID_IMAGE, "device kernel image is invalid") \
	X(201, ERROR_INVALID_CONTEXT, "invalid device context") \
	X(209, ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device") \
	X(218, ERROR_INVALID_PTX, "a PTX JIT compilation failed") \
	X(301, ERROR_FILE_NOT_FOUND, "file not found") \
	X(304, ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS") \
	X(400, ERROR_INVALID_HANDLE, "invalid resource handle") \
	X(500, ERROR_NOT_FOUND, "named symbol not found") \
	X(600, ERROR_NOT_READY, "device not ready") \
	X(700, ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered") \
	X(702, ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated") \
	X(710, ERROR_ASSERT, "device-side assert triggered") \
	X(716, ERROR_MISALIGNED_ADDRESS, "misaligned address") \
	X(719, ERROR_LAUNCH_FAILED, "unspecified launch failure") \
	X(801, ERROR_NOT_SUPPORTED, "operation not supported") \
	X(900, ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing") \
	X(901, ERROR_STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture") \
	X(906, ERROR_STREAM_CAPTURE_IMPLICIT, "operation would make the legacy stream depend on a capturing blocking stream")
#define X(number, name, text) CUDA_##name = number,
enum { CUDA_RESULTS(X) };
#undef X

enum { MAX_DEVICES = 8, MAX_PARAMS = 64 };

/* An allocation, or where one was. Sorted by address: addresses only grow, ranges of the same size are used again. */
struct range {
	uint64_t at, bytes, room;
	char *data; /* NULL: freed */
	uint64_t id;
	uint64_t reserved, part; /* addresses that memory is mapped to, in parts of one size: .room is what is mapped so far; else 0 */
};

struct device;
struct work {
	struct work *next;
	uint64_t seq, order;
	uint64_t after, after_order; /* of a stream that waits for an event: what must be done before */
	int (*run)(struct device *, struct work *);
	char *name;
	fakecuda_fn *fn;
	const struct ptx_kernel *text; /* in place of .fn */
	uint64_t data_at;              /* of its module's variables */
	uint32_t grid[3], block[3], shared;
	uint64_t to, from, bytes; /* copies; to: address on either side */
	int value;
	bool is_kernel, illegal;
	char *data; /* parameters, or what is copied to the device */
	uint32_t n_params, offset[MAX_PARAMS];
	size_t data_bytes;
};

struct graph {
	struct work *first, **end;
	struct device *d;
	int mode;
	bool invalid, executable;
	struct graph *next;
};

struct stream {
	struct stream *next;
	struct device *d;
	uint64_t last;
	uint64_t order; /* 0: with the default stream, in the order of issue; else its own (CU_STREAM_NON_BLOCKING) */
	struct graph *capture;
	uint64_t capture_id, thread;
};

struct event {
	struct event *next;
	struct device *d;
	uint64_t seq, order;
};

struct device { /* and its primary context */
	int index, sticky, sm;
	char *base;
	uint64_t room, used, allocated;
	struct range *range;
	size_t n_ranges, cap_ranges;
	struct work *first, **end;
	uint64_t seq;
	size_t n_works;
	struct stream legacy;
	struct stream *streams;
};

struct module;
struct function {
	struct function *next;
	struct module *module;
	char *name;
	fakecuda_fn *fn;
	const struct ptx_kernel *text; /* in place of .fn */
	uint64_t data_at;
	uint32_t n_params, offset[MAX_PARAMS], size[MAX_PARAMS];
	uint32_t reqntid[3], shared; /* as a cubin says */
	int attribute[16];
};

extern struct device devices[MAX_DEVICES];
extern int n_devices;
extern bool blocking;

/* device.c. Every call begins with one of the first two, which take the lock, and ends with fake_leave, which gives it back, writes
 * the line of the log and returns rc. */
int fake_begin(void);              /* cuInit was called */
int fake_enter(struct device **d); /* and there is a context, which is in order */
int fake_leave(int rc, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fake_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool fake_fails(const char *what, uint64_t *at); /* FAKECUDA_FAIL has WHAT or WHAT@N */
void *fake_alloc(size_t bytes);

int fake_newer(void); /* of a function that came with CUDA 12.3 or 12.4 */

/* memory.c */
struct range *fake_range(struct device *d, uint64_t address, uint64_t bytes);
char *fake_data(struct device *d, uint64_t address, uint64_t bytes); /* NULL: not all in one allocation */
struct device *fake_device_of(uint64_t address);                     /* NULL: of the host */

/* Memory of the host that was registered, around this address; NULL. */
char *fake_pinned(uint64_t address, uint64_t *at, uint64_t *bytes);

int fake_allocate(struct device *d, uint64_t *address, size_t bytes);
int fake_release(uint64_t address);

/* text.c: PTX. NULL and a line on standard error: it cannot be read. */
struct text;
struct text *fake_text(struct device *d, const char *image);
void fake_text_free(struct text *t);
unsigned fake_text_sm(const struct text *t);
int fake_text_function(struct text *t, struct function *f); /* f->text, by f->name */
int fake_text_named(struct device *d, struct function *f);  /* the same from FAKECUDA_PTX */
int fake_text_run(struct device *d, struct work *w);

/* module.c */
bool fake_is_function(const struct function *f);
int fake_load(struct device *d, const char *image, size_t bytes, struct module **out); /* bytes 0: as its headers say */
int fake_get_function(struct module *m, const char *name, struct function **out);
fakecuda_fn *fake_twin(const char *name);

/* library.c */
struct function *fake_function_of(struct device *d, void *handle); /* a CUfunction, or a CUkernel there; NULL */

/* stream.c */
int fake_issue(struct device *d, void *stream, struct work *w); /* takes it; into the queue, or the graph that is captured */
#define EVERY UINT64_MAX
int fake_wait(struct device *d, uint64_t order, uint64_t seq); /* what was issued up to seq in that order is done; EVERY: in all */
int fake_unsafe(struct device *d);                             /* calls that may not be made while a stream is being captured */
int fake_captured(struct device *d);                           /* nor these, in whatever mode (of the whole context) */

#endif
