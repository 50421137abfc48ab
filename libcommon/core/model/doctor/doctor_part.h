/* doctor_part.h - shared by doctor*.c. */
#ifndef PT2_DOCTOR_PART_H
#define PT2_DOCTOR_PART_H
#include "model/doctor/doctor.h"
#include "model/elf/modelso.h"

struct exam {
	struct doctor *d;
	struct package *pkg;
	struct package_model *m;
	const struct doctor_options *o;
	struct doctor_host host;
	struct modelso so;
	struct package_metadata md;
	struct slice torch; /* directory of its libraries; empty: none */
};

/* The GPUs that some of the kernels can run on: one of these must match. */
struct sm_need {
	struct modelso_code code[8];
	size_t n;
	struct slice from;
};

/* Texts are formatted into the doctor's arena; what: one line without a full stop. */
static inline void doctor_add(struct exam *x, enum doctor_level level, const char *id, struct slice what, struct slice why,
			      struct slice fix)
{
	struct doctor *d = x->d;
	PUSH_TO(d->v, d->n, d->cap) = (struct doctor_finding){level, id, what, why, fix};
	d->n_bad += level >= DOCTOR_WARNING;
}

static inline void doctor_ok(struct exam *x, const char *id, struct slice what)
{
	doctor_add(x, DOCTOR_OK, id, what, SLICE(""), SLICE(""));
}
#define doctor_text(x, ...) arena_textf(&(x)->d->arena, __VA_ARGS__)

void doctor_cpu(struct exam *x);
/* The instruction sets (ISAS) of this processor whose registers the system saves, and its name; NULL: unknown.
 * doctor_cpu_x86_64.c, doctor_cpu_portable.c. */
uint64_t doctor_cpu_isa(void);
const char *doctor_cpu_brand(void);
void doctor_system(struct exam *x);
void doctor_torch(struct exam *x);
void doctor_gpu(struct exam *x);
/* Checks the driver against the CUDA versions of the model, its torch and its kernels. */
void doctor_driver(struct exam *x, const struct sm_need *v, size_t n);
/* Queries the NVIDIA driver, once. */
void doctor_ask_driver(struct exam *x);
bool doctor_code_runs(const struct modelso_code *c, unsigned sm);
/* A torch was found, but without CUDA: it has no libtorch_cuda.so. */
bool doctor_torch_without_cuda(const struct exam *x);

#endif
