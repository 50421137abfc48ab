/* binprobe.h - the contract of a compiled model from its binary alone, by running it on fake tensors.
 *
 *     struct binprobe_options po = {.timeout_ms = 5000};
 *     struct contract c = {0};
 *     if (binprobe_contract(&c, so_bytes, weights_blob_size, &po, &err) < 0) ...   // err says why; nothing ran unconfined
 *
 * How (docs/user/PROBE.md): in a child process, our own loader maps and relocates the library. Its imports from
 * torch, CUDA and OpenMP are bound to fakes, its kernels become empty stubs; then its initializers run, a
 * container is created and Run is called with fake tensors under AOTI_RUNTIME_CHECK_INPUTS. What the model complains about is
 * what it expects.
 *
 * Sandbox: no_new_privs, resource limits (memory, CPU time, file size 0, no processes), and two seccomp filters: one
 * while libstdc++ is loaded (files may be opened for reading, nothing else), a tighter one before the first byte of the
 * file is read (memory, a pipe to the parent, exit). If any of it cannot be set up: -1, EXIT_ENVIRON.
 * The parent only reads JSON from a pipe, bounded and checked (contract_from_json).
 *
 * Failure: -1 and err: EXIT_ENVIRON if it cannot be done here (no seccomp, no libstdc++), EXIT_INPUT if the model is
 * for another machine, crashed, hung or gave an invalid result ("cannot probe: killed by SIGSEGV ... in the initializers of the model").
 * Linux on x86-64 and AArch64; elsewhere always EXIT_ENVIRON.
 */
#ifndef PT2_BINPROBE_H
#define PT2_BINPROBE_H
#include "model/contract/contract.h"

struct binprobe_options {
	int timeout_ms;      /* 0: 10000 */
	uint64_t max_memory; /* 0: 4 GiB of address space beyond the library's own size */
	uint64_t blob_size;  /* size of a weights blob outside the library; zeros of this size replace it */
	bool verbose;        /* the child's own messages go to stderr */
	const char *device;  /* the model's device: "cpu", "cuda" (from a package's metadata); NULL: cpu */
};

int binprobe_contract(struct contract *c, struct slice so, const struct binprobe_options *o, struct err *err);

#endif
