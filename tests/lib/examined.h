/* examined.h - libraries made to order, and a machine that is described, for the doctor's tests: examine() asks, expect() and none() look. */
#ifndef PT2_TEST_EXAMINED_H
#define PT2_TEST_EXAMINED_H
#include "elf.h"
#include "folder.h"

#include "model/doctor/doctor.h"
#include "model/doctor/shimversions.h"
#include "model/elf/modelso.h"

static inline void put_elf(const char *name, const struct elf_order *o)
{
	struct buf b = {0};
	elf_make(&b, o);
	folder_put(name, buf_slice(&b));
	buf_release(&b);
}

/* ---- a machine ---- */

static const char *const glibc[] = {"GLIBC_2.36", NULL}, *const old_glibc[] = {"GLIBC_2.17", NULL};
static const char *const stdcxx[] = {"GLIBCXX_3.4.30", "CXXABI_1.3.13", NULL}, *const old_stdcxx[] = {"GLIBCXX_3.4.19", "CXXABI_1.3.7",
												      NULL};
static const char *const gcc[] = {"GCC_3.0", NULL};
static const struct doctor_library good_libraries[] = {
    {"libc.so.6", glibc},   {"libm.so.6", glibc},   {"ld-linux-x86-64.so.2", glibc}, {"libstdc++.so.6", stdcxx},
    {"libgcc_s.so.1", gcc}, {"libgomp.so.1", NULL}, {"libcuda.so.1", NULL},
};
static const struct doctor_library old_libraries[] = {
    {"libc.so.6", old_glibc},
    {"libm.so.6", old_glibc},
    {"ld-linux-x86-64.so.2", old_glibc},
    {"libstdc++.so.6", old_stdcxx},
};
#define AVX2_CPU (doctor_isa_of_flags(SLICE("-march=x86-64-v3"), &(bool){false}, &(struct slice){0}))

static inline struct doctor_host host(void)
{
	return (struct doctor_host){.machine = "x86_64",
				    .cpu = "a Haswell",
				    .isa = AVX2_CPU,
				    .described = true,
				    .library = good_libraries,
				    .n_library = ARRAY_LEN(good_libraries),
				    .gpu_asked = true};
}

struct visit {
	struct package pkg;
	struct doctor d;
};

static inline void examine(struct visit *v, const char *name, const struct doctor_options *o)
{
	struct err err;
	char *path = xasprintf("%s/%s", folder_path, name);
	*v = (struct visit){0};
	if (package_open(&v->pkg, path, &err) < 0 || doctor_examine(&v->d, &v->pkg, &v->pkg.model[0], o, &err) < 0)
		fail_msg("%s", err.text);
	free(path);
	size_t bad = 0;
	for (size_t i = 0; i < v->d.n; i++) {
		const struct doctor_finding *f = &v->d.v[i];
		bad += f->level >= DOCTOR_WARNING;
		assert_true(f->what.n > 0);
		assert_true(f->level == DOCTOR_OK ? !f->why.n && !f->fix.n : f->why.n > 0);
		assert_true(f->level < DOCTOR_WARNING || f->fix.n > 0);
	}
	assert_int_equal(v->d.n_bad, bad);
}

static inline void leave(struct visit *v)
{
	doctor_release(&v->d);
	package_close(&v->pkg);
}

/* The finding with this id, of this level, that says this; the last one with the id counts. */
static const struct doctor_finding *expect(const struct visit *v, const char *id, enum doctor_level level, const char *text)
{
	const struct doctor_finding *f = NULL;
	for (size_t i = 0; i < v->d.n; i++)
		if (!strcmp(v->d.v[i].id, id) && (!f || f->level != level || !slice_find(f->what, text)))
			f = &v->d.v[i];
	if (!f)
		fail_msg("no finding '%s'", id);
	if (f->level != level || !slice_find(f->what, text))
		fail_msg("%s: %s: %.*s", id, doctor_level_name(f->level), SL(f->what));
	return f;
}

static inline void none(const struct visit *v, const char *id)
{
	for (size_t i = 0; i < v->d.n; i++)
		if (!strcmp(v->d.v[i].id, id))
			fail_msg("%s: %.*s", id, SL(v->d.v[i].what));
}

static inline void put_fixture(const char *fixture, const char *name)
{
	struct buf b = {0};
	char *xz = xasprintf("aoti/%s.pt2.xz", fixture);
	if (!data_load(xz, &b))
		fail_msg("cannot unpack %s", xz);
	folder_put(name, buf_slice(&b));
	buf_release(&b);
	free(xz);
}

#endif
