/* The CPU: which instruction sets the code was compiled for, and which this machine has. */
#include <sys/utsname.h>

#include "model/doctor/doctor_march.h"
#include "model/doctor/doctor_part.h"

#include <elf.h>

static const char *const isa_name[] = {
#define ISA_NAME(id, name, ...) name,
    ISAS(ISA_NAME)
#undef ISA_NAME
};

/* ---- this machine ---- */

void doctor_host_here(struct doctor_host *h)
{
	static _Thread_local struct utsname u;
	*h = (struct doctor_host){.isa = doctor_cpu_isa(), .cpu = doctor_cpu_brand(), .machine = "unknown"};
	if (uname(&u) == 0)
		h->machine = u.machine;
}

/* ---- meaning of compiler flags ---- */

static uint64_t isa_by_name(struct slice name)
{
	for (size_t i = 0; i < N_ISAS; i++)
		if (slice_is(name, isa_name[i]))
			return 1ull << i;
	return slice_is(name, "abm") ? ISA(LZCNT) | ISA(POPCNT) : slice_is(name, "sse4") ? ISA(SSE41) | ISA(SSE42) : 0;
}

static bool next_word(struct slice *rest, struct slice *w)
{
	while (rest->n && (*rest->p == ' ' || *rest->p == '\t' || *rest->p == '\n' || *rest->p == '\r'))
		rest->p++, rest->n--;
	size_t n = 0;
	while (n < rest->n && rest->p[n] != ' ' && rest->p[n] != '\t' && rest->p[n] != '\n' && rest->p[n] != '\r')
		n++;
	*w = slice_of(rest->p, n);
	*rest = slice_of(rest->p + n, rest->n - n);
	return n > 0;
}

/* Sets of an -march=; false: unknown. */
static bool isa_of_march(struct slice name, uint64_t *isa)
{
	struct slice w;
	for (size_t i = 0; i < ARRAY_LEN(marches); i++)
		for (struct slice names = slice_str(marches[i].names); next_word(&names, &w);)
			if (slice_eq(w, name)) {
				for (struct slice sets = slice_str(marches[i].sets); next_word(&sets, &w);)
					*isa |= isa_by_name(w);
				return true;
			}
	return false;
}

static struct slice cut(struct slice s, const char *prefix) { return slice_of(s.p + strlen(prefix), s.n - strlen(prefix)); }

/* -m options count after any -march, wherever they are, as in gcc. */
uint64_t doctor_isa_of_flags(struct slice flags, bool *native, struct slice *unknown)
{
	uint64_t base = 0, on = 0, off = 0, bit;
	struct slice w;
	while (next_word(&flags, &w)) {
		if (slice_starts(w, "-march=")) {
			struct slice name = cut(w, "-march=");
			base = 0;
			*native = slice_is(name, "native");
			if (!isa_of_march(name, &base) && !*native)
				*unknown = name;
		} else if (slice_starts(w, "-mno-") && (bit = isa_by_name(cut(w, "-mno-")))) {
			off |= bit, on &= ~bit;
		} else if (slice_starts(w, "-m") && (bit = isa_by_name(cut(w, "-m")))) {
			on |= bit, off &= ~bit;
		}
	}
	return (base | on) & ~off;
}

/* str(pick_vec_isa()).upper(), torch/_inductor/cpu_vec_isa.py: the flags of VecAVX2, VecAVX512, VecAVX512VNNI, VecAMX.
 */
uint64_t doctor_isa_of_metadata(struct slice cpu_isa_text, struct slice *unknown)
{
	static const struct {
		const char *name;
		uint64_t isa;
	} names[] = {
	    {"AVX2", ISA(AVX) | ISA(AVX2) | ISA(FMA) | ISA(F16C)},
	    {"AVX512", ISA(AVX) | ISA(AVX2) | ISA(AVX512F) | ISA(AVX512DQ) | ISA(AVX512VL) | ISA(AVX512BW) | ISA(FMA)},
	    {"AVX512_VNNI", ISA(AVX512VNNI)},
	    {"AMX_TILE", ISA(AMX_TILE) | ISA(AMX_BF16) | ISA(AMX_INT8)},
	    {"AVX512_BF16", ISA(AVX512BF16)},
	    {"INVALID_VEC_ISA", 0},
	};
	uint64_t isa = 0;
	struct slice w;
	while (next_word(&cpu_isa_text, &w)) {
		size_t i = 0;
		while (i < ARRAY_LEN(names) && !slice_is(w, names[i].name))
			i++;
		if (i < ARRAY_LEN(names))
			isa |= names[i].isa;
		else
			*unknown = w;
	}
	return isa;
}

/* ---- the check ---- */

struct isa_need {
	uint64_t isa;
	bool native, told; /* told: some source had flags */
	struct slice unknown;
};

/* The line after "// Compile cmd", at the end of Inductor's text. */
static void from_text(struct package *pkg, uint32_t file, struct isa_need *need)
{
	static const char mark[] = "\n// Compile cmd\n";
	struct slice text, line;
	if (!file || package_data(pkg, file, &text, NULL) < 0)
		return;
	size_t tail = text.n < 65536 ? text.n : 65536;
	struct slice end = slice_of(text.p + text.n - tail, tail);
	const char *p = slice_find(end, mark);
	if (!p)
		return;
	struct slice rest = slice_of(p + sizeof(mark) - 1, (size_t)(end.p + end.n - p) - (sizeof(mark) - 1));
	if (slice_line(&rest, &line)) {
		bool native = false;
		need->isa |= doctor_isa_of_flags(line, &native, &need->unknown);
		need->native = need->native || native;
		need->told = true;
	}
}

/* gcc writes the flags into the debug information, -march=native already resolved. */
static void from_producers(struct modelso *so, struct isa_need *need)
{
	const struct slice *v;
	size_t n;
	if (modelso_producers(so, &v, &n, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		bool native = false;
		need->isa |= doctor_isa_of_flags(v[i], &native, &need->unknown);
		if (slice_find(v[i], " -m")) {
			need->told = true;
			need->native = native;
		}
	}
}

static void add_names(struct buf *b, uint64_t isa)
{
	const size_t from = b->len;
	for (size_t i = 0; i < N_ISAS; i++)
		if (isa >> i & 1)
			buf_addf(b, "%s%s", b->len > from ? ", " : "", isa_name[i]);
}

static struct slice isa_list(struct exam *x, uint64_t isa)
{
	struct buf b = {0};
	add_names(&b, isa);
	return arena_take(&x->d->arena, &b);
}

void doctor_isa_of_model(struct package *pkg, const struct package_model *m, struct doctor_isa *isa)
{
	struct isa_need asked = {0}, allowed = {0};
	struct package_metadata md;
	struct slice bytes, odd;
	struct modelso so;
	*isa = (struct doctor_isa){0};
	if (package_data(pkg, m->so, &bytes, NULL) < 0 || modelso_open(&so, bytes, pkg->path, NULL) < 0)
		return;
	if (so.machine == EM_X86_64) {
		if (package_metadata(pkg, m, &md, NULL) == 0)
			isa->named = doctor_isa_of_metadata(md.cpu_isa, &odd);
		from_text(pkg, m->kernel_cpp, &asked);
		from_text(pkg, m->wrapper_cpp, &asked);
		from_producers(&so, &allowed);
		isa->asked = isa->named | asked.isa;
		isa->allowed = isa->asked | allowed.isa;
	}
	modelso_close(&so);
}

/* Those that a compiler uses wherever it can; the others are for special code (AMX, GFNI, FP16), which few models have. */
static const uint64_t general = ISA(SSE3) | ISA(SSSE3) | ISA(SSE41) | ISA(SSE42) | ISA(POPCNT) | ISA(LZCNT) | ISA(MOVBE) | ISA(BMI) |
				ISA(BMI2) | ISA(AVX) | ISA(F16C) | ISA(FMA) | ISA(AVX2) | ISA(AVX512F) | ISA(AVX512DQ) | ISA(AVX512CD) |
				ISA(AVX512BW) | ISA(AVX512VL);

int doctor_can_execute(struct package *pkg, const struct package_model *m, struct err *err)
{
	struct doctor_isa isa;
	struct doctor_host host;
	struct buf names = {0};
	doctor_host_here(&host);
	doctor_isa_of_model(pkg, m, &isa);
	if (!strcmp(host.machine, "x86_64"))
		add_names(&names, (isa.asked | (isa.allowed & general)) & ~host.isa);
	const int r = names.len ? err_set(err, EXIT_INPUT, "'%s' is compiled for processors with %s, which this one lacks", pkg->path,
					  buf_str(&names))
				: 0;
	buf_release(&names);
	return r;
}

void doctor_cpu(struct exam *x)
{
	struct isa_need need = {0};
	struct slice odd = {0};
	if (x->so.machine != EM_X86_64 || strcmp(x->host.machine, "x86_64"))
		return;
	need.isa = doctor_isa_of_metadata(x->md.cpu_isa, &odd);
	from_text(x->pkg, x->m->kernel_cpp, &need);
	from_text(x->pkg, x->m->wrapper_cpp, &need);
	from_producers(&x->so, &need);
	uint64_t missing = need.isa & ~x->host.isa;
	const char *cpu = x->host.cpu ? x->host.cpu : "this CPU";
	if (missing) {
		struct slice list = isa_list(x, missing);
		doctor_add(x, DOCTOR_FATAL, "cpu-isa", doctor_text(x, "compiled for a CPU with %.*s, which %s lacks", SLN(list, 300), cpu),
			   SLICE("the first kernel that uses it crashes with SIGILL (illegal instruction)"),
			   SLICE("compile on this machine, or for any x86-64-v3 machine: torch._inductor.config.cpp.march = "
				 "\"x86-64-v3\" and cpp.simdlen = 256"));
	} else if (need.told || x->md.cpu_isa.n) {
		struct slice list = need.isa ? isa_list(x, need.isa) : SLICE("baseline x86-64");
		doctor_add(x, DOCTOR_OK, "cpu-isa", doctor_text(x, "instruction sets: %.*s; supported by %s", SLN(list, 300), cpu),
			   SLICE(""), SLICE(""));
	} else {
		doctor_add(x, DOCTOR_NOTE, "cpu-isa", SLICE("unknown which instruction sets it was compiled for"),
			   SLICE("torch compiles for the machine it runs on (-march=native); elsewhere the code may crash with "
				 "SIGILL"),
			   SLICE("keep *_metadata.json and the C++ text next to the library"));
	}
	if (need.native)
		doctor_add(x, DOCTOR_NOTE, "march-native",
			   SLICE("compiled with -march=native: it may use any instruction of the machine "
				 "that compiled it"),
			   SLICE("AOTI_CPU_ISA has only the vector extension, so SIGILL is possible on an older CPU"),
			   SLICE("to ship to other machines, compile with torch._inductor.config.cpp.march = \"x86-64-v3\""));
	if (need.unknown.n || odd.n)
		doctor_add(
		    x, DOCTOR_NOTE, "march-unknown",
		    doctor_text(x, "compiled for '%.*s', which is unknown to this version", SLN(need.unknown.n ? need.unknown : odd, 300)),
		    SLICE("not checked whether this CPU can run it"), SLICE("compare the two machines' CPUs"));
}
