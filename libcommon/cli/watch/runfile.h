/* runfile.h - tensors between a tool and pt2-runner: as they are in memory, with strides and all dtypes.
 *
 *     runfile_write(fd, views, n, (struct run_times){0}, "inputs", &err);
 *     struct runfile f;
 *     if (runfile_open(&f, path, &err) < 0) ...        // f.v[0].meta, f.v[0].data; or f.error, if the run failed
 *     runfile_close(&f);
 *
 * Layout, little-endian: struct runfile_head; n times struct runfile_entry; then data, each at a multiple of 64, tensor_extent()
 * bytes of it; names and the error's text are stored among the data. A None (tensor_is_none) keeps its position and its name: dtype
 * DTYPE_NONE, no dimensions, no data; v[i].data is NULL then, and only then. Written and read by programs of the same version: not a format
 * for storage. The reader trusts nothing in it, since a model's process wrote it.
 */
#ifndef PT2_LIVE_RUNFILE_H
#define PT2_LIVE_RUNFILE_H
#include "base/arena.h"
#include "base/io/mapfile.h"
#include "tensor/write.h"

/* Nanoseconds. */
struct run_times {
	uint64_t torch;  /* loading libpt2shim.so or libtorch_cpu.so */
	uint64_t load;   /* loading the model's library */
	uint64_t create; /* its container, with the weights */
	uint64_t first;  /* the first call */
	uint64_t rest;   /* all others together, each including the release of the previous outputs */
	uint64_t runs;
	uint64_t rest_cpu; /* CPU time of this thread within .rest */
	uint64_t median;   /* of the calls after the first; for short ones, timed in groups of 16, of the groups' means */
};

#define RUNFILE_MAGIC "PT2RUN1"
#define RUNFILE_MAX 65536 /* tensors */
struct runfile_head {
	char magic[8];
	uint32_t n, status; /* status: enum exit_status; not 0: error has the reason, n is 0 */
	uint64_t error_at, error_len;
	struct run_times times;
};
_Static_assert(sizeof(struct runfile_head) % 32 == 0, "entries are aligned");
struct runfile_entry {
	int32_t dtype, device, device_index, n_dim;
	uint64_t name_at, name_len, data_at, data_len;
	int64_t size[TENSOR_MAX_DIMS], stride[TENSOR_MAX_DIMS];
};

struct runfile {
	struct tensor_view *v;
	size_t n;
	struct run_times times;
	struct err error; /* status EXIT_FINE: the run succeeded */
	struct mapfile map;
	struct arena arena;
};

int runfile_write(int fd, const struct tensor_view *v, size_t n, const struct run_times *times, const char *what, struct err *err);
int runfile_write_error(int fd, const struct err *error, struct err *err);
/* -1 and EXIT_INPUT if it is not one (then there is nothing to close). Bytes must outlive it. */
FOR_TESTS int runfile_read(struct runfile *f, struct slice bytes, const char *what, struct err *err);
int runfile_open(struct runfile *f, const char *path, struct err *err);
void runfile_close(struct runfile *f);

#endif
