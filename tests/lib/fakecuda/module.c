/* Modules: cubins (ELF) and PTX text; their functions and what parameters these have. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { MAX_IMAGE = 64 << 20, EM_CUDA_ = 190 };
/* CUfunction_attribute */
enum { MAX_THREADS = 0, SHARED_BYTES = 1, NUM_REGS = 4, PTX_VERSION = 5, BINARY_VERSION = 6, MAX_DYNAMIC_SHARED = 8 };

struct module {
	struct module *next;
	struct device *d;
	char *image;
	size_t bytes;
	unsigned sm;       /* of a cubin */
	struct text *text; /* NULL: a cubin */
	struct function *functions;
};
static struct module *modules;

bool fake_is_function(const struct function *f)
{
	for (struct module *m = modules; m; m = m->next)
		for (struct function *g = m->functions; g; g = g->next)
			if (g == f)
				return true;
	return false;
}

/* ---- fake_NAME of any library ---- */

struct search {
	const char *name;
	void *found;
};

static int look_in(struct dl_phdr_info *info, size_t bytes, void *user)
{
	struct search *s = user;
	void *so = info->dlpi_name && *info->dlpi_name ? dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	(void)bytes;
	if (so) {
		s->found = dlsym(so, s->name);
		dlclose(so);
	}
	return s->found != NULL;
}

fakecuda_fn *fake_twin(const char *name)
{
	char full[512];
	struct search s = {full, NULL};
	fakecuda_fn *fn;
	snprintf(full, sizeof(full), "fake_%s", name);
	s.found = dlsym(RTLD_DEFAULT, full);
	if (!s.found)
		dl_iterate_phdr(look_in, &s);
	memcpy(&fn, &s.found, sizeof(fn));
	return fn;
}

/* ---- cubins ---- */

static bool section(const struct module *m, const char *name, const char **data, size_t *bytes)
{
	const Elf64_Ehdr *eh = (const void *)m->image;
	const Elf64_Shdr *sh = (const void *)(m->image + eh->e_shoff), *names = &sh[eh->e_shstrndx];
	for (unsigned i = 1; i < eh->e_shnum; i++)
		if (!strcmp(m->image + names->sh_offset + sh[i].sh_name, name)) {
			*data = m->image + sh[i].sh_offset;
			*bytes = sh[i].sh_size;
			return true;
		}
	return false;
}

/* EIATTR_KPARAM_INFO (0x17), format EIFMT_SVAL (4): index u32, ordinal u16, offset u16, then bits 18..31 the size. EIATTR_REQNTID (0x10): threads
 * of a block. */
static void params_of_cubin(struct function *f, const char *p, size_t n)
{
	for (size_t i = 0; i + 4 <= n;) {
		uint8_t format = (uint8_t)p[i], attribute = (uint8_t)p[i + 1];
		uint16_t size, ordinal, offset;
		uint32_t bits;
		memcpy(&size, p + i + 2, 2);
		i += 4;
		if (format != 4)
			continue;
		if (attribute == 0x17 && size >= 12 && i + size <= n) {
			memcpy(&ordinal, p + i + 4, 2);
			memcpy(&offset, p + i + 6, 2);
			memcpy(&bits, p + i + 8, 4);
			if (ordinal < MAX_PARAMS) {
				f->offset[ordinal] = offset;
				f->size[ordinal] = bits >> 18;
				f->n_params = ordinal >= f->n_params ? ordinal + 1u : f->n_params;
			}
		}
		if (attribute == 0x10 && size == 12 && i + 12 <= n)
			memcpy(f->reqntid, p + i, 12);
		i += size;
	}
}

/* Headers and sections inside, whatever the file is; bytes 0: its length is what the headers say. */
static int check_cubin(struct module *m, const char *image, size_t bytes)
{
	Elf64_Ehdr eh;
	memcpy(&eh, image, sizeof(eh));
	unsigned sm = eh.e_ident[EI_ABIVERSION] >= 8 ? eh.e_flags >> 8 & 0xff : eh.e_flags & 0xff;
	uint64_t end = eh.e_shoff + (uint64_t)eh.e_shnum * sizeof(Elf64_Shdr);
	if (eh.e_machine != EM_CUDA_ || eh.e_shentsize != sizeof(Elf64_Shdr) || eh.e_shstrndx >= eh.e_shnum || eh.e_shoff % 8 ||
	    end > MAX_IMAGE || (bytes && end > bytes))
		return CUDA_ERROR_INVALID_IMAGE;
	for (unsigned i = 1; i < eh.e_shnum; i++) {
		Elf64_Shdr sh;
		memcpy(&sh, image + eh.e_shoff + i * sizeof(sh), sizeof(sh));
		uint64_t last = sh.sh_type == SHT_NOBITS ? 0 : sh.sh_offset + sh.sh_size;
		if (last > MAX_IMAGE || (bytes && last > bytes))
			return CUDA_ERROR_INVALID_IMAGE;
		end = last > end ? last : end;
	}
	if (sm / 10 != (unsigned)m->d->sm / 10 || sm > (unsigned)m->d->sm)
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	m->bytes = end;
	m->sm = sm;
	return CUDA_SUCCESS;
}

/* From sm_90 on ptxas counts 1 KB that is the system's in the section of a kernel that uses shared memory. */
enum { RESERVED = 1024 };

static int function_of_cubin(struct module *m, struct function *f)
{
	char name[512];
	const char *data;
	size_t bytes;
	snprintf(name, sizeof(name), ".text.%s", f->name);
	if (!section(m, name, &data, &bytes))
		return CUDA_ERROR_NOT_FOUND;
	snprintf(name, sizeof(name), ".nv.info.%s", f->name);
	if (section(m, name, &data, &bytes))
		params_of_cubin(f, data, bytes);
	snprintf(name, sizeof(name), ".nv.shared.%s", f->name);
	if (section(m, name, &data, &bytes))
		f->shared = (uint32_t)bytes - (m->sm >= 90 && bytes >= RESERVED ? RESERVED : 0);
	return CUDA_SUCCESS;
}

/* ---- PTX ---- */

static void params_of_text(struct function *f)
{
	const struct ptx_kernel *k = f->text;
	f->n_params = k->n_params;
	memcpy(f->offset, k->offset, sizeof(f->offset));
	memcpy(f->size, k->size, sizeof(f->size));
	f->attribute[SHARED_BYTES] = (int)k->shared;
	f->attribute[MAX_THREADS] = k->reqntid[0] ? (int)(k->reqntid[0] * k->reqntid[1] * k->reqntid[2])
				    : k->maxntid  ? (int)k->maxntid
						  : 1024;
}

/* A cubin and its text are of the same kernel: parameters, threads, shared memory. */
static int hold_against(const struct function *f)
{
	const struct ptx_kernel *k = f->text;
	const char *what = f->n_params != k->n_params || memcmp(f->offset, k->offset, k->n_params * sizeof(*k->offset)) ||
				   memcmp(f->size, k->size, k->n_params * sizeof(*k->size))
			       ? "parameters"
			   : f->reqntid[0] != k->reqntid[0] || f->reqntid[1] != k->reqntid[1] || f->reqntid[2] != k->reqntid[2]
			       ? "threads of a block"
			   : f->shared != k->shared ? "shared memory"
						    : NULL;
	if (what)
		fprintf(stderr, "fakecuda: %s: cubin and PTX have different %s\n", f->name, what);
	return what ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS;
}

static int check_ptx(struct module *m, const char *image)
{
	m->bytes = strlen(image) + 1;
	m->text = fake_text(m->d, image);
	if (!m->text)
		return CUDA_ERROR_INVALID_PTX;
	if (fake_text_sm(m->text) <= (unsigned)m->d->sm)
		return CUDA_SUCCESS;
	fake_text_free(m->text);
	return CUDA_ERROR_INVALID_PTX;
}

/* ---- fat binaries: the cubin for this device, when it is not packed ---- */

/* {u32 magic, u16 version, u16 length of this, u64 length of what follows}, then entries {u16 kind (2: a cubin), u16 version, u32 length of this,
 * u64 length of what follows, ...} (libcommon/core/model/elf/modelso_data.c). NULL: there is none. */
static const char *in_fatbin(struct module *m, const char *image, size_t bytes, size_t *n)
{
	uint16_t head, kind;
	uint32_t entry;
	uint64_t size, part;
	memcpy(&head, image + 6, 2);
	memcpy(&size, image + 8, 8);
	if (size > MAX_IMAGE || (bytes && (bytes < head || size > bytes - head)))
		return NULL;
	for (uint64_t at = 0; at + 64 <= size; at += entry + part) {
		const char *p = image + head + at;
		memcpy(&kind, p, 2);
		memcpy(&entry, p + 4, 4);
		memcpy(&part, p + 8, 8);
		if (entry < 16 || entry > size - at || part > size - at - entry)
			return NULL;
		*n = part;
		if (kind == 2 && part >= sizeof(Elf64_Ehdr) && !memcmp(p + entry, ELFMAG, SELFMAG) &&
		    check_cubin(m, p + entry, part) == CUDA_SUCCESS)
			return p + entry;
	}
	return NULL;
}

/* ---- calls ---- */

int fake_load(struct device *d, const char *image, size_t bytes, struct module **out)
{
	uint64_t at;
	struct module m = {.d = d};
	if (fake_fails("module", &at))
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	if (bytes == 1)
		return CUDA_ERROR_INVALID_IMAGE;
	static const char fatbin[4] = {0x50, (char)0xed, 0x55, (char)0xba};
	if ((!bytes || bytes >= 16) && !memcmp(image, fatbin, sizeof(fatbin))) {
		image = in_fatbin(&m, image, bytes, &bytes);
		if (!image)
			return CUDA_ERROR_NO_BINARY_FOR_GPU;
	}
	bool elf = (!bytes || bytes >= sizeof(Elf64_Ehdr)) && !memcmp(image, ELFMAG, SELFMAG);
	int rc = elf                                     ? check_cubin(&m, image, bytes)
		 : strchr("./ \t\r\n", *image) && *image ? check_ptx(&m, image)
							 : CUDA_ERROR_INVALID_IMAGE;
	if (rc)
		return rc;
	m.image = memcpy(fake_alloc(m.bytes), image, m.bytes);
	m.next = modules;
	modules = fake_alloc(sizeof(m));
	*modules = m;
	*out = modules;
	return CUDA_SUCCESS;
}

int cuModuleLoad(struct module **out, const char *path)
{
	struct device *d;
	int rc = fake_enter(&d);
	FILE *f = rc ? NULL : fopen(path, "re");
	if (!rc && !f)
		rc = CUDA_ERROR_FILE_NOT_FOUND;
	if (f) {
		char *image = NULL;
		size_t n = 0, got;
		do {
			image = realloc(image, n + 65536 + 1);
			got = fread(image + n, 1, 65536, f);
			n += got;
		} while (got && n < MAX_IMAGE);
		image[n] = 0;
		fclose(f);
		rc = fake_load(d, image, n + 1, out);
		free(image);
	}
	return fake_leave(rc, "cuModuleLoad %s", path);
}

static int load_data(const char *name, struct module **out, const void *image)
{
	struct device *d;
	int rc = fake_enter(&d);
	rc = rc ? rc : image ? fake_load(d, image, 0, out) : CUDA_ERROR_INVALID_VALUE;
	return fake_leave(rc, "%s", name);
}

int cuModuleLoadData(struct module **out, const void *image) { return load_data("cuModuleLoadData", out, image); }
int cuModuleLoadFatBinary(struct module **out, const void *image) { return load_data("cuModuleLoadFatBinary", out, image); }

int cuModuleLoadDataEx(struct module **out, const void *image, unsigned n, int *option, void **value)
{
	(void)n, (void)option, (void)value;
	return load_data("cuModuleLoadDataEx", out, image);
}

int cuModuleUnload(struct module *m)
{
	struct device *d;
	int rc = fake_enter(&d);
	struct module **at = &modules;
	while (*at && *at != m)
		at = &(*at)->next;
	rc = rc ? rc : *at ? fake_wait(m->d, EVERY, m->d->seq) : CUDA_ERROR_INVALID_HANDLE;
	if (!rc) {
		*at = m->next;
		for (struct function *f = m->functions, *next; f; f = next) {
			next = f->next;
			free(f->name);
			free(f);
		}
		fake_text_free(m->text);
		free(m->image);
		free(m);
	}
	return fake_leave(rc, "cuModuleUnload %p", (void *)m);
}

int fake_get_function(struct module *m, const char *name, struct function **out)
{
	struct module *k = modules;
	while (k && k != m)
		k = k->next;
	if (!k)
		return CUDA_ERROR_INVALID_HANDLE;
	for (struct function *f = m->functions; f; f = f->next)
		if (!strcmp(f->name, name))
			return *out = f, CUDA_SUCCESS;
	struct function *f = fake_alloc(sizeof(*f));
	f->name = strdup(name);
	f->module = m;
	f->attribute[MAX_THREADS] = 1024;
	int rc = m->text ? fake_text_function(m->text, f) : function_of_cubin(m, f);
	f->fn = rc || m->text ? NULL : fake_twin(name);
	if (!rc && !m->text && !f->fn) {
		rc = fake_text_named(m->d, f);
		rc = rc ? rc : hold_against(f);
	}
	if (!rc && f->text)
		params_of_text(f);
	f->attribute[NUM_REGS] = 32;
	f->attribute[BINARY_VERSION] = f->attribute[PTX_VERSION] = m->d->sm;
	f->attribute[MAX_DYNAMIC_SHARED] = 49152;
	if (rc) {
		free(f->name);
		free(f);
		return rc;
	}
	f->next = m->functions;
	m->functions = f;
	*out = f;
	return CUDA_SUCCESS;
}

int cuModuleGetFunction(struct function **out, struct module *m, const char *name)
{
	struct device *d;
	int rc = fake_enter(&d);
	rc = rc ? rc : fake_get_function(m, name, out);
	return fake_leave(rc, "cuModuleGetFunction %s", name);
}

static int function_call(const struct function *f)
{
	struct device *d;
	int rc = fake_enter(&d);
	return rc ? rc : fake_is_function(f) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

int cuFuncGetAttribute(int *value, int attribute, struct function *f)
{
	int rc = function_call(f);
	rc = rc || (attribute >= 0 && attribute < 16) ? rc : CUDA_ERROR_INVALID_VALUE;
	if (!rc)
		*value = f->attribute[attribute];
	return fake_leave(rc, "cuFuncGetAttribute %d", attribute);
}

int cuFuncSetAttribute(struct function *f, int attribute, int value)
{
	int rc = function_call(f);
	rc = rc || (attribute == MAX_DYNAMIC_SHARED && value <= 232448) ? rc : CUDA_ERROR_INVALID_VALUE;
	if (!rc)
		f->attribute[attribute] = value;
	return fake_leave(rc, "cuFuncSetAttribute %d %d", attribute, value);
}

int cuFuncGetName(const char **name, struct function *f)
{
	int rc = function_call(f);
	rc = rc ? rc : fake_newer();
	if (!rc)
		*name = f->name;
	return fake_leave(rc, "cuFuncGetName");
}

int cuFuncGetModule(struct module **m, struct function *f)
{
	int rc = function_call(f);
	if (!rc)
		*m = f->module;
	return fake_leave(rc, "cuFuncGetModule");
}

int cuFuncGetParamInfo(struct function *f, size_t i, size_t *offset, size_t *size)
{
	int rc = function_call(f);
	rc = rc ? rc : fake_newer();
	rc = rc || i < f->n_params ? rc : CUDA_ERROR_INVALID_VALUE;
	if (!rc) {
		*offset = f->offset[i];
		if (size)
			*size = f->size[i];
	}
	return fake_leave(rc, "cuFuncGetParamInfo %zu", i);
}
