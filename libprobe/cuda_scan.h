/* cuda_scan.h - what the host (cuda_scan.c) and its kernels (scan.cu) share: C, and CUDA C++ without CUDA's headers.
 *
 * After a call, one launch on its stream examines what the call wrote (pt2_scan_few, pt2_scan_many). The first launch in the process
 * that finds a bad element takes the word on the device (compare and swap; -1: nobody has), and the block of threads that took it
 * examines everything that the call read and wrote, at that moment: the statistics of tensor/stats.h and the elements at the place of
 * the first bad one. It writes them into the mail, which is host memory that the GPU can write to. So the host waits for nothing and
 * copies nothing: it looks at mail.done when a run begins or ends. After that, every scan ends at once.
 *
 * A captured launch is replayed with the same parameters. So its run has a counter on the device, which a captured launch of
 * pt2_scan_tick increments first; the mail then has the counter's value, the number of the replay, from 1.
 *
 * What a call changes in place is lost afterwards. If it is an input of the graph, so that no scan has seen it, another launch counts
 * its bad elements before the call (head.before), into a mark: the call's and run's tag, and the count from bit SCAN_TAG on.
 */
#ifndef PT2_PROBE_CUDA_SCAN_H
#define PT2_PROBE_CUDA_SCAN_H
#include <stdint.h>

#define SCAN_THREADS 256
#define SCAN_DIMS 5
#define SCAN_FEW 6   /* tensors of a launch; parameters take time */
#define SCAN_MANY 30 /* CUDA allows 4096 bytes of parameters */
#define SCAN_TAG 24

enum scan_kind { SCAN_E4M3, SCAN_E5M2, SCAN_F16, SCAN_BF16, SCAN_F32, SCAN_F64, SCAN_KINDS };

/* A complex tensor is one of its parts, with one more dimension. An element is bad if (bits without the sign) + add reaches the sign's bit;
 * high and add hold that for all elements in 8 bytes. */
struct scan_tensor {
	uint64_t at, n; /* n elements */
	uint64_t high, add;
	uint8_t kind, shift; /* log2 of an element's bytes */
	uint8_t dense;       /* its elements fill n << shift bytes, in any order */
	uint8_t first_dim;   /* dimensions before it have size 1 */
	uint8_t role, arg, parts, zero;
	uint32_t name;
	int16_t dtype;
	int8_t device, device_index;
	uint64_t size[SCAN_DIMS], stride[SCAN_DIMS]; /* the last dimension is the last */
};

struct scan_head {
	uint64_t word, mail, mark, counter; /* addresses; counter 0: not captured; mark 0: none */
	uint32_t run, call, contract_call, model, name, tid;
	uint32_t graph;            /* of a captured call */
	uint32_t n_written, n_all; /* tensors: those written come first */
	uint32_t before, inf;      /* inf: infinities are bad, too */
	uint32_t replay;           /* filled in by the device: the counter */
};

struct scan_part {
	uint64_t nan, pos_inf, neg_inf, zero, first_bad, first_nan;
	double min, max, sum;
	double bad_value, element; /* the first bad one; the one at the place of the output's */
	uint64_t at;               /* where that is, plus 1; 0: nowhere */
};

struct scan_mail {
	uint64_t done;
	uint64_t marked; /* bad elements before the call */
	struct scan_head head;
	struct scan_part part[SCAN_MANY];
	struct scan_tensor tensor[SCAN_MANY];
};

#endif
