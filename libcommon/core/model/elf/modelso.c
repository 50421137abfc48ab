#include "model/elf/modelso.h"

#include <ctype.h>

#include "model/elf/modelso_elf.h"
#include "model/elf/modelso_part.h"

enum { MAX_VERSIONS = 32768 }; /* a version index has 15 bits */

static int by_text(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	return slice_cmp(*x, *y);
}

/* ---- the dynamic section ---- */

static void read_dynamic(struct modelso *m, const struct elf_view *v)
{
	struct elf_dynamic dynamic;
	Elf64_Dyn d;
	elf_dynamic_open(&dynamic, v);
	for (size_t i = 0; elf_dynamic(&dynamic, i, &d); i++) {
		if (d.d_tag == DT_NEEDED || d.d_tag == MODELSO_DT_DROPPED) {
			PUSH_TO(m->needed, m->n_needed, m->cap_needed) = elf_str(dynamic.strings, d.d_un.d_val);
		} else if (d.d_tag == DT_RPATH || d.d_tag == DT_RUNPATH) {
			PUSH_TO(m->rpath, m->n_rpath, m->cap_rpath) = elf_str(dynamic.strings, d.d_un.d_val);
		} else if (d.d_tag == DT_SONAME) {
			m->soname = elf_str(dynamic.strings, d.d_un.d_val);
		} else if (d.d_tag == DT_BIND_NOW || (d.d_tag == DT_FLAGS && d.d_un.d_val & DF_BIND_NOW) ||
			   (d.d_tag == DT_FLAGS_1 && d.d_un.d_val & DF_1_NOW)) {
			m->bind_now = true;
		}
	}
}

static void read_segments(struct modelso *m, const struct elf_view *v)
{
	Elf64_Phdr ph;
	for (size_t i = 0; elf_segment(v, i, &ph); i++) {
		m->relro = m->relro || ph.p_type == PT_GNU_RELRO;
		m->exec_stack = m->exec_stack || (ph.p_type == PT_GNU_STACK && ph.p_flags & PF_X);
	}
}

/* ---- versions ---- */

struct version_map {
	struct modelso *m;
	struct slice versym;       /* .gnu.version: 16 bits for each symbol */
	uint16_t of[MAX_VERSIONS]; /* version index -> entry of m->version + 1 */
};

static void highest(struct slice version, const char *prefix, struct slice *max)
{
	if (!slice_starts(version, prefix))
		return;
	struct slice v = slice_of(version.p + strlen(prefix), version.n - strlen(prefix));
	if (v.n && isdigit((unsigned char)v.p[0]) && modelso_version_cmp(v, *max) > 0)
		*max = v;
}

static void add_version(void *arg, struct slice library, struct slice version, const Elf64_Vernaux *aux)
{
	struct version_map *map = arg;
	struct modelso *m = map->m;
	if (m->n_version >= MAX_VERSIONS)
		return;
	PUSH_TO(m->version, m->n_version, m->cap_version) =
	    (struct modelso_version){library, version, aux->vna_hash, (aux->vna_flags & VER_FLG_WEAK) != 0};
	map->of[aux->vna_other & 0x7fff] = (uint16_t)m->n_version;
	highest(version, "GLIBC_", &m->glibc);
	highest(version, "GLIBCXX_", &m->glibcxx);
	highest(version, "CXXABI_", &m->cxxabi);
}

int modelso_version_cmp(struct slice a, struct slice b)
{
	size_t i = 0, k = 0;
	for (;;) {
		while (i < a.n && !isdigit((unsigned char)a.p[i]))
			i++;
		while (k < b.n && !isdigit((unsigned char)b.p[k]))
			k++;
		if (i == a.n || k == b.n)
			return (i < a.n) - (k < b.n);
		uint64_t x = 0, y = 0;
		for (; i < a.n && isdigit((unsigned char)a.p[i]); i++)
			x = x > UINT32_MAX ? x : x * 10 + (unsigned)(a.p[i] - '0');
		for (; k < b.n && isdigit((unsigned char)b.p[k]); k++)
			y = y > UINT32_MAX ? y : y * 10 + (unsigned)(b.p[k] - '0');
		if (x != y)
			return x < y ? -1 : 1;
	}
}

/* ---- symbols ---- */

static bool after(struct slice s, const char *prefix, bool (*test)(char))
{
	size_t n = strlen(prefix);
	return s.n > n && slice_starts(s, prefix) && test(s.p[n]);
}

static bool upper(char c) { return c >= 'A' && c <= 'Z'; }

/* A C++ name in torch's namespaces, whatever precedes it (_ZN, _ZNK, _ZTVN, _ZSt4moveIRN2at6TensorE...). */
static bool torch_cxx(struct slice s)
{
	return slice_starts(s, "_Z") && (slice_find(s, "N2at") || slice_find(s, "N3c10") || slice_find(s, "N5torch") ||
					 slice_find(s, "K2at") || slice_find(s, "K3c10") || slice_find(s, "K5torch"));
}

static enum modelso_origin origin(struct slice s, bool versioned)
{
	if (slice_starts(s, "aoti_torch_"))
		return FROM_AOTI;
	if (slice_starts(s, "GOMP_") || slice_starts(s, "omp_") || slice_starts(s, "__kmpc_"))
		return FROM_OPENMP;
	if (slice_starts(s, "Sleef_"))
		return FROM_SLEEF;
	if (after(s, "cu", upper) || after(s, "cuda", upper) || after(s, "hip", upper) || slice_starts(s, "__cuda") ||
	    slice_starts(s, "__hip") || slice_starts(s, "nvrtc"))
		return FROM_CUDA;
	if (versioned)
		return FROM_SYSTEM;
	return torch_cxx(s) || slice_starts(s, "torch_") ? FROM_TORCH : FROM_OTHER;
}

/* std::string before and after gcc 5: two incompatible layouts, with different names. */
static void string_abi(struct slice s, bool *cxx11, bool *old)
{
	if (!slice_starts(s, "_Z"))
		return;
	if (slice_find(s, "7__cxx1112basic_string") || slice_find(s, "B5cxx11"))
		*cxx11 = true;
	else if (slice_starts(s, "_ZNSs") || slice_starts(s, "_ZNKSs") || slice_find(s, "RKSs") || slice_find(s, "ESs"))
		*old = true;
}

static void add_import(struct modelso *m, const struct version_map *map, struct slice name, size_t i, bool weak)
{
	struct modelso_import im = {.name = name, .weak = weak};
	uint16_t index = 0;
	if (i < map->versym.n / sizeof(index))
		memcpy(&index, map->versym.p + i * sizeof(index), sizeof(index));
	uint16_t k = map->of[index & 0x7fff];
	if (k)
		im.library = m->version[k - 1].library, im.version = m->version[k - 1].version;
	im.origin = origin(name, im.version.n > 0);
	string_abi(name, &m->cxx11_abi, &m->old_abi);
	PUSH_TO(m->import, m->n_import, m->cap_import) = im;
	m->n_from[im.origin]++;
}

/* intern: so that a name found in .dynsym, .symtab and the strings counts once. */
static void add_kernel(struct modelso *m, struct slice name, enum modelso_kernel_kind kind, const Elf64_Sym *sym)
{
	uint32_t before = m->names.n;
	if (m->names.arena.total <= MODELSO_MAX_NAMES)
		intern_add(&m->names, name);
	if (m->names.n == before)
		return;
	PUSH_TO(m->kernel, m->n_kernel, m->cap_kernel) =
	    (struct modelso_kernel){name, kind, sym ? sym->st_value : 0, sym ? sym->st_size : 0};
}

static bool word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* triton_poi_fused_0 in "__triton_poi_fused_0_start" (an embedded cubin), "call_triton_poi_fused_0", or with its length
 * before it in a mangled name. */
static struct slice triton_in(struct slice s)
{
	const char *p = slice_find(s, "triton_"), *end = s.p + s.n, *q;
	if (!p)
		return (struct slice){"", 0};
	for (q = p; q < end && word(*q); q++)
		;
	struct slice name = slice_of(p, (size_t)(q - p));
	const char *digits = p;
	if (digits - s.p >= 5 && !memcmp(digits - 5, "call_", 5))
		digits -= 5;
	const char *start = digits;
	size_t skip = (size_t)(p - digits);
	uint64_t n = 0;
	while (start > s.p && isdigit((unsigned char)start[-1]))
		start--;
	/* A digit of the previous name may precede the length: _GLOBAL__N_1 28call_triton_... */
	while (start < digits && (!slice_u64(slice_of(start, (size_t)(digits - start)), &n) || n <= skip || n - skip > name.n))
		start++;
	if (start < digits)
		name.n = (size_t)n - skip;
	else if (slice_starts(s, "__"))
		for (const char *const *e = (const char *const[]){"_start", "_end", "_size", "_smem", NULL}; *e; e++)
			if (slice_ends(name, *e))
				name.n -= strlen(*e);
	return name;
}

static void take_kernel(struct modelso *m, struct slice name, const Elf64_Sym *sym)
{
	if (slice_starts(name, "cpp_")) {
		if (ELF64_ST_TYPE(sym->st_info) == STT_FUNC && !slice_chr(name, '.'))
			add_kernel(m, name, KERNEL_CPP, sym);
		return;
	}
	struct slice t = triton_in(name);
	if (t.n > 7)
		add_kernel(m, t, KERNEL_TRITON, NULL);
}

static void take_definition(struct modelso *m, struct slice name, const Elf64_Sym *sym)
{
	/* std::numpunct<char>::id, and those of other facets */
	if (ELF64_ST_BIND(sym->st_info) == STB_GNU_UNIQUE && slice_starts(name, "_ZNSt") && slice_ends(name, "2idE"))
		m->own_locale = true;
	if (slice_starts(name, "AOTInductor")) {
		PUSH_TO(m->entry, m->n_entry, m->cap_entry) = name;
	} else if (slice_find(name, "16AOTInductorModel8run_implE")) {
		m->run_impl = sym->st_value;
		m->run_impl_size = sym->st_size;
	}
}

static int read_symbols(struct modelso *m, const struct elf_view *v, struct err *err)
{
	struct version_map *map = xcalloc(1, sizeof(*map));
	struct elf_symbols s;
	map->m = m;
	elf_version_needs(v, add_version, map);
	Elf64_Shdr sh;
	uint32_t k = elf_find(v, NULL, SHT_GNU_versym);
	if (k && elf_section(v, k, &sh))
		map->versym = elf_data(v, &sh);
	if (!elf_symbols(v, SHT_DYNSYM, &s)) {
		free(map);
		return err_set(err, EXIT_INPUT, "'%s' has no dynamic symbols: not a shared library, or damaged", m->name);
	}
	for (size_t i = 1; i < s.n; i++) {
		Elf64_Sym sym = elf_symbol(&s, i);
		struct slice name = elf_symbol_name(&s, &sym);
		if (!name.n)
			continue;
		if (sym.st_shndx == SHN_UNDEF) {
			add_import(m, map, name, i, ELF64_ST_BIND(sym.st_info) == STB_WEAK);
		} else {
			take_definition(m, name, &sym);
			take_kernel(m, name, &sym);
		}
	}
	free(map);
	m->stripped = !elf_symbols(v, SHT_SYMTAB, &s);
	for (size_t i = 1; !m->stripped && i < s.n; i++) {
		Elf64_Sym sym = elf_symbol(&s, i);
		struct slice name = elf_symbol_name(&s, &sym);
		if (name.n && sym.st_shndx != SHN_UNDEF)
			take_kernel(m, name, &sym);
	}
	if (m->n_entry)
		qsort(m->entry, m->n_entry, sizeof(*m->entry), by_text);
	return 0;
}

/* Names of kernels loaded from files are only in the strings: loadKernel("....cubin", "triton_poi_0", ...).
 */
static void kernels_in_strings(struct modelso *m)
{
	struct slice ro;
	if (!m->n_from[FROM_CUDA] || !modelso_section(m, ".rodata", &ro, NULL))
		return;
	if (ro.n > MODELSO_MAX_SCAN)
		ro.n = MODELSO_MAX_SCAN;
	const char *at = ro.p, *end = ro.p + ro.n, *p, *q;
	while ((p = memmem(at, (size_t)(end - at), "triton_", 7))) {
		for (q = p; q < end && word(*q); q++)
			;
		if ((p == ro.p || !p[-1]) && q < end && !*q && q - p > 7)
			add_kernel(m, slice_of(p, (size_t)(q - p)), KERNEL_TRITON, NULL);
		at = q;
	}
}

/* ---- what kind of model ---- */

bool modelso_exports(const struct modelso *m, const char *entry)
{
	struct slice key = slice_str(entry);
	return m->n_entry && bsearch(&key, m->entry, m->n_entry, sizeof(*m->entry), by_text);
}

bool modelso_imports(const struct modelso *m, const char *symbol)
{
	for (uint32_t i = 0; i < m->n_import; i++)
		if (slice_is(m->import[i].name, symbol))
			return true;
	return false;
}

static const struct {
	const char *entry, *name; /* the function that shows it */
} apis[] = {
    [API_NONE] = {NULL, "no AOTInductor functions"},
    [API_MODEL] = {"AOTInductorModelCreate", "a model without a container"},
    [API_CONTAINER] = {"AOTInductorModelContainerCreate", "containers (torch 2.2)"},
    [API_WITH_DEVICE] = {"AOTInductorModelContainerCreateWithDevice", "containers with a device (torch 2.3)"},
    [API_BLOB] = {"AOTInductorModelUpdateConstantsFromBlob", "weights from a blob (torch 2.10)"},
    [API_LAST_ERROR] = {"AOTInductorGetLastError", "error texts (torch 2.13)"},
    [API_EXTERNAL_CONSTANTS] = {"AOTInductorModelContainerCreateWithExternalConstants",
				"weights kept by the caller, from the start (torch 2.14)"},
    [API_STREAM_AFFINITY] = {"AOTInductorModelContainerSetUseStreamAffinity", "one instance per stream (torch 2.15)"},
};

static enum modelso_api find_api(const struct modelso *m)
{
	size_t api = ARRAY_LEN(apis) - 1;
	while (api > API_NONE && !modelso_exports(m, apis[api].entry))
		api--;
	return (enum modelso_api)api;
}

static enum modelso_runtime find_runtime(struct modelso *m)
{
	if (!m->n_entry)
		return RUNTIME_NONE;
	for (uint32_t i = 0; i < m->n_needed; i++)
		if (slice_starts(m->needed[i], "libexecutorch"))
			return RUNTIME_EXECUTORCH;
		else if (modelso_of_torch(m->needed[i]))
			return RUNTIME_TORCH;
	for (uint32_t i = 0; i < m->n_import; i++)
		if (slice_find(m->import[i].name, "10executorch"))
			return RUNTIME_EXECUTORCH;
	if (m->n_from[FROM_AOTI])
		return RUNTIME_SHIM;
	for (uint32_t i = 0; i < m->n_import; i++) {
		struct slice s = m->import[i].name;
		const char *p = slice_starts(s, "_Z") ? NULL : slice_find(s, "aoti_torch_");
		if (p) {
			m->shim_prefix = slice_of(s.p, (size_t)(p - s.p));
			return RUNTIME_PREFIXED;
		}
	}
	return RUNTIME_STANDALONE;
}

static enum modelso_device find_device(const struct modelso *m)
{
	bool cuda = m->n_from[FROM_CUDA] > 0;
	for (uint32_t i = 0; i < m->n_import; i++) {
		struct slice s = m->import[i].name;
		if (after(s, "hip", upper) || slice_starts(s, "__hip"))
			return DEVICE_CODE_ROCM;
		if (slice_starts(s, "aoti_torch_xpu_") || slice_is(s, "aoti_torch_create_xpu_guard"))
			return DEVICE_CODE_XPU;
		if (slice_starts(s, "aoti_torch_mps_"))
			return DEVICE_CODE_MPS;
		cuda = cuda || slice_starts(s, "aoti_torch_cuda_") || slice_is(s, "aoti_torch_create_cuda_guard");
	}
	return cuda ? DEVICE_CODE_CUDA : DEVICE_CODE_CPU;
}

const char *modelso_api_name(enum modelso_api api) { return (size_t)api < ARRAY_LEN(apis) ? apis[api].name : "?"; }

const char *modelso_runtime_name(enum modelso_runtime runtime)
{
	static const char *const name[] = {"none",
					   "libtorch",
					   "a runtime with torch's C interface, but not libtorch",
					   "ExecuTorch",
					   "a runtime with a renamed C interface",
					   "none (standalone)"};
	return (size_t)runtime < ARRAY_LEN(name) ? name[runtime] : "?";
}

const char *modelso_form_name(enum modelso_form form)
{
	static const char *const name[] = {"none", "embedded", "appended", "blob"};
	return (size_t)form < ARRAY_LEN(name) ? name[form] : "?";
}

/* ---- opening ---- */

static int check_kind(struct modelso *m, struct err *err)
{
	bool elf;
	const char *what = modelso_what(m->bytes, &elf);
	if (!what)
		return err_set(err, EXIT_INPUT, "'%s' is not a shared library (no ELF header)", m->name);
	if (!elf)
		return err_set(err, EXIT_INPUT, "'%s' is %s: only Linux libraries (ELF) can be read", m->name, what);
	if (m->bytes.n < EI_NIDENT + 4)
		return err_set(err, EXIT_INPUT, "'%s' ends within its ELF header: it was truncated", m->name);
	const unsigned char *b = (const unsigned char *)m->bytes.p;
	m->bits = b[EI_CLASS] == ELFCLASS32 ? 32 : 64;
	m->big_endian = b[EI_DATA] == ELFDATA2MSB;
	unsigned lo = m->big_endian, hi = !m->big_endian;
	m->type = (uint16_t)(b[16 + lo] | b[16 + hi] << 8);
	m->machine = (uint16_t)(b[18 + lo] | b[18 + hi] << 8);
	m->header_only = m->bits == 32 || m->big_endian;
	if (m->type != ET_DYN)
		return err_set(err, EXIT_INPUT, "'%s' is %s, not a shared library", m->name, what);
	return 0;
}

const char *modelso_device_key(enum modelso_device device)
{
	static const char *const key[] = {"cpu", "cuda", "cuda", "xpu", "mps"};
	return key[device];
}

int modelso_open(struct modelso *m, struct slice bytes, const char *name, struct err *err)
{
	*m = (struct modelso){.bytes = bytes, .name = name, .constants.damage = ""};
	struct elf_view v;
	if (check_kind(m, err) < 0)
		goto fail;
	if (m->header_only)
		return 0;
	if (elf_view_open(&v, bytes, name, err) < 0)
		goto fail;
	read_dynamic(m, &v);
	read_segments(m, &v);
	if (read_symbols(m, &v, err) < 0)
		goto fail;
	kernels_in_strings(m);
	if (m->names.arena.total > MODELSO_MAX_NAMES) {
		err_set(err, EXIT_INPUT, "'%s': the names of its kernels take more than %u MiB: it is damaged, or made to exhaust memory",
			name, MODELSO_MAX_NAMES >> 20);
		goto fail;
	}
	m->api = find_api(m);
	m->runtime = find_runtime(m);
	m->device_code = find_device(m);
	modelso_find_constants(m, &v);
	return 0;
fail:
	modelso_close(m);
	return -1;
}

void modelso_close(struct modelso *m)
{
	modelso_dwarf_free(m);
	intern_release(&m->names);
	arena_release(&m->arena);
	free(m->needed);
	free(m->rpath);
	free(m->version);
	free(m->entry);
	free(m->import);
	free(m->kernel);
	*m = (struct modelso){0};
}
