#include "crash/crashmap.h"

#include <ctype.h>

#include "base/tool/diag.h"
#include "model/elf/inlined.h"
#include "base/text.h"

enum { MAX_LIBRARIES = 256, MAX_STATEMENT = 64 /* lines */ };

const char *crash_known_name(enum crash_known how)
{
	static const char *const name[] = {"", "line", "name", "order"};
	return (size_t)how < ARRAY_LEN(name) ? name[how] : "";
}

const char *crash_owner_name(enum crash_owner o)
{
	static const char *const name[] = {"unknown", "kernel", "jit", "model", "torch", "cuda", "python", "system", "custom", "program"};
	return (size_t)o < ARRAY_LEN(name) ? name[o] : "?";
}

/* ---- packages ---- */

static int data_of(struct crash_library *l, uint32_t file, struct slice *name, struct slice *data, struct err *err)
{
	if (!file)
		return 0;
	*name = l->loaded.pkg.file[file].name;
	return package_data(&l->loaded.pkg, file, data, err);
}

static int open_parts(struct crash_library *l, struct err *err)
{
	const struct package_model *m = l->loaded.model;
	struct slice sources, name;
	struct err why;
	if (data_of(l, m->so, &l->so_name, &l->so_bytes, err) < 0 || data_of(l, m->wrapper_cpp, &l->wrapper_name, &l->wrapper, err) < 0 ||
	    data_of(l, m->kernel_cpp, &l->kernels_name, &l->kernels, err) < 0)
		return -1;
	sources = (struct slice){0};
	if (data_of(l, m->kernel_information, &name, &sources, err) == 0 && sources.n &&
	    nan_sources_json(&l->sources, sources, "kernel_information.json", &why) < 0)
		warn("%s", why.text);
	if (!l->so_bytes.n)
		return 0;
	if (modelso_open(&l->so, l->so_bytes, l->loaded.pkg.path, err) < 0)
		return -1;
	l->has_so = true;
	l->has_lines = modelso_has_lines(&l->so);
	struct slice id = modelso_build_id(&l->so);
	for (size_t i = 0; i < id.n && i * 2 + 2 < sizeof(l->build_id); i++)
		snprintf(l->build_id + 2 * i, 3, "%02x", (unsigned char)id.p[i]);
	return 0;
}

static void library_free(struct crash_library *l)
{
	if (l->has_so)
		modelso_close(&l->so);
	nan_sources_release(&l->sources);
	loaded_release(&l->loaded);
	free(l);
}

static int add_library(struct crashmap *map, const char *path, const char *model, struct err *err)
{
	struct crash_library *l = xcalloc(1, sizeof(*l));
	if (load_text(&l->loaded, path, (struct load_options){.model = model}, err) < 0) {
		free(l);
		return -1;
	}
	if (open_parts(l, err) < 0) {
		library_free(l);
		return -1;
	}
	PUSH_TO(map->library, map->n, map->cap) = l;
	return 0;
}

int crashmap_package(struct crashmap *map, const char *path, const char *model, struct err *err)
{
	struct package pkg;
	int r = 0;
	if (model)
		return add_library(map, path, model, err);
	if (package_open(&pkg, path, err) < 0)
		return -1;
	for (size_t i = 0; i < pkg.n && !r && map->n < MAX_LIBRARIES; i++) {
		FREED char *name = xstrndup(pkg.model[i].name.p, pkg.model[i].name.n);
		r = add_library(map, path, name, err);
	}
	package_close(&pkg);
	return r;
}

void crashmap_release(struct crashmap *map)
{
	for (size_t i = 0; i < map->n; i++)
		library_free(map->library[i]);
	free(map->library);
	free(map->place);
	*map = (struct crashmap){0};
}

struct crash_library *crashmap_library(const struct crashmap *map, struct slice module, struct slice build_id)
{
	struct slice base = slice_base(module);
	for (size_t i = 0; i < map->n && build_id.n; i++)
		if (slice_is(build_id, map->library[i]->build_id))
			return map->library[i];
	for (size_t i = 0; i < map->n && base.n; i++) {
		struct crash_library *l = map->library[i];
		/* A different build with the same name is a different library. */
		if (slice_eq(l->so_name, base) && (!build_id.n || !l->build_id[0]))
			return l;
	}
	return NULL;
}

/* ---- who owns the code ---- */

static bool starts_any(struct slice s, const char *const *prefix)
{
	for (; *prefix; prefix++)
		if (slice_starts(s, *prefix))
			return true;
	return false;
}

enum crash_owner crash_owner_of(struct slice module)
{
	static const char *const torch[] = {"libpt2shim", "_C.", NULL};
	static const char *const cuda[] = {"libcuda", "libcudart", "libcublas", "libcudnn", "libnv",
					   "libnccl", "libamdhip", "libhsa",    NULL};
	static const char *const python[] = {"python", "libpython", NULL};
	static const char *const system[] = {"libc.so",  "libc-",   "libm.so",    "libm-",   "libstdc++",   "libgcc_s",
					     "ld-linux", "ld-",     "libpthread", "libgomp", "libomp",      "libiomp",
					     "libdl",    "librt",   "linux-vdso", "[vdso]",  "libopenblas", "libmkl",
					     "libsleef", "libasan", "libubsan",   "libc++",  "libucs",      NULL};
	struct slice base = slice_base(module);
	if (!base.n)
		return OWNER_UNKNOWN;
	if (slice_find(base, ".wrapper.so") || slice_is(base, "model.so"))
		return OWNER_MODEL;
	if (slice_find(module, "/torchinductor_") && slice_ends(base, ".so"))
		return OWNER_JIT;
	if (modelso_of_torch(base) || starts_any(base, torch))
		return OWNER_TORCH;
	if (starts_any(base, cuda))
		return OWNER_CUDA;
	if (starts_any(base, python))
		return OWNER_PYTHON;
	if (starts_any(base, system))
		return OWNER_SYSTEM;
	return slice_find(base, ".so") ? OWNER_CUSTOM : OWNER_PROGRAM;
}

/* "cpp_fused_relu_0" in "cpp_fused_relu_0 ()", "cpp_fused_relu_0._omp_fn.0", "cpp_fused_relu_0.cold"; empty */
static struct slice kernel_in(struct slice symbol)
{
	size_t n = 0;
	if (!slice_starts(symbol, "cpp_") && !slice_starts(symbol, "triton_"))
		return (struct slice){0};
	while (n < symbol.n && (isalnum((unsigned char)symbol.p[n]) || symbol.p[n] == '_'))
		n++;
	return slice_of(symbol.p, n);
}

/* "aoti_torch_cpu_addmm_out" in "aoti_torch_cpu_addmm_out(AtenTensorOpaque*, ...)" */
static struct slice plain_name(struct slice symbol)
{
	size_t n = 0;
	while (n < symbol.n && (isalnum((unsigned char)symbol.p[n]) || symbol.p[n] == '_'))
		n++;
	return slice_of(symbol.p, n);
}

/* ---- addresses and lines ---- */

struct slice crash_text_line(struct slice text, uint32_t line)
{
	struct slice rest = text, s;
	for (uint32_t i = 1; line && slice_line(&rest, &s); i++)
		if (i == line)
			return s;
	return (struct slice){0};
}

static bool find_address(const struct crash_library *l, const struct crash_frame *f, uint64_t *address)
{
	struct modelso_symbol s;
	if (!l->has_so)
		return false;
	if (f->has & HAS_OFFSET) {
		*address = f->offset;
		return true;
	}
	if (f->has & HAS_FILE_OFFSET)
		return modelso_of_file(&l->so, f->offset, address);
	if (f->has & HAS_MAP_OFFSET && modelso_of_mapping(&l->so, f->offset, f->map_size, address))
		return true;
	if (f->has & HAS_IN_SYMBOL && modelso_symbol_named(&l->so, f->symbol, &s) && f->in_symbol <= s.size) {
		*address = s.address + f->in_symbol;
		return true;
	}
	return false;
}

static void set_line(struct crash_place *p, struct slice file, uint32_t line)
{
	const struct crash_library *l = p->library;
	p->file = slice_base(file);
	p->line = line;
	if (slice_eq(p->file, l->wrapper_name))
		p->text = slice_trim(crash_text_line(l->wrapper, line));
	else if (slice_eq(p->file, l->kernels_name))
		p->text = slice_trim(crash_text_line(l->kernels, line));
}

static bool generated(const struct crash_library *l, struct slice file)
{
	return file.n && (slice_eq(file, l->wrapper_name) || slice_eq(file, l->kernels_name));
}

/* A line in a header is replaced by the line of generated code that it was inlined into. */
static void find_line(struct crash_place *p, uint64_t at, struct arena *a)
{
	struct inlined_place v[INLINED_MAX];
	struct modelso_row row;
	struct err err;
	if (modelso_line(&p->library->so, at, &row, &err) != 1)
		return;
	set_line(p, slice_str(row.file), row.line);
	if (generated(p->library, p->file))
		return;
	size_t n = inlined_at(p->library->so_bytes, at, v, a);
	for (size_t i = 0; i < n; i++)
		if (generated(p->library, v[i].file)) {
			p->inlined = p->file;
			p->inlined_line = p->line;
			set_line(p, v[i].file, v[i].line);
			return;
		}
}

static struct crash_library *by_source(const struct crashmap *map, struct slice file)
{
	struct slice base = slice_base(file);
	for (size_t i = 0; i < map->n && base.n; i++)
		if (slice_eq(map->library[i]->wrapper_name, base) || slice_eq(map->library[i]->kernels_name, base))
			return map->library[i];
	return NULL;
}

/* A frame without a module: the only library that has its symbol. */
static struct crash_library *by_symbol(const struct crashmap *map, const struct crash_frame *f)
{
	struct crash_library *found = NULL;
	struct modelso_symbol s;
	struct slice kernel = kernel_in(f->symbol);
	if (f->module.n || !f->symbol.n)
		return NULL;
	for (size_t i = 0; i < map->n; i++) {
		struct crash_library *l = map->library[i];
		if (!l->has_so || !modelso_symbol_named(&l->so, kernel.n ? kernel : f->symbol, &s))
			continue;
		if (found)
			return NULL;
		found = l;
	}
	return found;
}

static void place_frame(const struct crashmap *map, const struct crash_frame *f, struct crash_place *p, struct arena *a)
{
	struct modelso_symbol s;
	if (f->form == FORM_PYTHON) {
		p->owner = OWNER_PYTHON;
		return;
	}
	p->owner = crash_owner_of(f->module);
	p->kernel = kernel_in(f->symbol);
	p->library = crashmap_library(map, f->module, f->build_id);
	if (!p->library && !f->module.n) {
		p->library = by_source(map, f->file);
		p->library = p->library ? p->library : by_symbol(map, f);
	}
	if (p->kernel.n && p->owner != OWNER_JIT)
		p->owner = OWNER_KERNEL;
	if (!p->library) {
		if (p->owner == OWNER_UNKNOWN &&
		    (slice_find(f->symbol, "aot_inductor::AOTInductorModel") || slice_find(f->symbol, "12aot_inductor16AOTInductorModel") ||
		     slice_starts(f->symbol, "AOTInductorModelContainer")))
			p->owner = OWNER_MODEL;
		p->file = slice_base(f->file);
		p->line = f->line;
		return;
	}
	p->owner = p->kernel.n ? OWNER_KERNEL : OWNER_MODEL;
	if (f->line)
		set_line(p, f->file, f->line);
	p->has_address = find_address(p->library, f, &p->address);
	if (!p->has_address)
		return;
	uint64_t at = f->exact || !p->address ? p->address : p->address - 1;
	if (modelso_symbol_at(&p->library->so, at, &s)) {
		p->symbol = s.name;
		p->kernel = kernel_in(s.name);
		p->owner = p->kernel.n ? OWNER_KERNEL : OWNER_MODEL;
	}
	if (!f->line)
		find_line(p, at, a);
	if (!f->exact)
		p->called = modelso_called(&p->library->so, p->address);
}

/* ---- calls ---- */

static bool is_run(const struct crash_place *p, const struct crash_frame *f)
{
	struct slice s = p->symbol.n ? p->symbol : f->symbol;
	return p->owner == OWNER_MODEL && (slice_find(s, "16AOTInductorModel8run_implE") || slice_find(s, "AOTInductorModel::run_impl"));
}

/* The last line of a statement in wrapper.cpp. */
static uint32_t statement_end(struct slice text, uint32_t line)
{
	for (uint32_t i = line; i < line + MAX_STATEMENT; i++) {
		struct slice s = slice_trim(crash_text_line(text, i));
		if (s.n && (s.p[s.n - 1] == ';' || s.p[s.n - 1] == '}'))
			return i;
	}
	return line;
}

static bool by_line(struct crash_place *p)
{
	const struct contract *c = &p->library->loaded.contract;
	if (!p->line || !slice_eq(p->file, p->library->wrapper_name))
		return false;
	for (uint32_t i = 0; i < c->n_calls; i++)
		if (c->call[i].line && c->call[i].line <= p->line && p->line <= statement_end(p->library->wrapper, c->call[i].line)) {
			p->call = &c->call[i];
			p->known = BY_LINE;
		}
	return p->call != NULL;
}

static const struct contract_call *nth_call(const struct contract *c, struct slice name, uint32_t nth, uint32_t *count)
{
	const struct contract_call *found = NULL;
	*count = 0;
	for (uint32_t i = 0; i < c->n_calls && name.n; i++)
		if (slice_eq(c->call[i].name, name) && (*count)++ == nth)
			found = &c->call[i];
	return found;
}

static void place_by_name(struct crash_place *p, struct slice name)
{
	const struct contract *c = &p->library->loaded.contract;
	uint32_t count, nth, calls;
	const struct contract_call *first = nth_call(c, name, 0, &count);
	p->candidates = count;
	if (count == 1) {
		p->call = first;
		p->known = BY_NAME;
	} else if (count && p->has_address && p->library->so.run_impl && slice_eq(p->called, name) &&
		   modelso_call_order(&p->library->so, p->library->so.run_impl, p->library->so.run_impl + p->library->so.run_impl_size,
				      p->address, &nth, &calls) &&
		   calls == count) {
		p->call = nth_call(c, name, nth, &count);
		p->known = BY_ORDER;
	}
}

static void add_sources(struct crash_place *p)
{
	const struct contract *c = &p->library->loaded.contract;
	struct nan_finding *f = &p->source;
	f->call.nth = 0;
	f->call.c.name = p->call->name;
	for (const struct contract_call *k = c->call; k < p->call; k++)
		f->call.nth += slice_eq(k->name, p->call->name);
	nan_sources_apply(&p->library->sources, f);
}

/* Walks a stack from the outermost frame in: the call in run_impl is also that of the kernel frame inside it. */
static void join_stack(struct crashmap *map, const struct crash *c, const struct crash_stack *s)
{
	const struct crash_place *run = NULL;
	for (uint32_t i = s->n; i-- > 0;) {
		struct crash_place *p = &map->place[s->first + i];
		const struct crash_frame *f = &c->frame[s->first + i];
		if (!p->library || f->handler)
			continue;
		if (is_run(p, f)) {
			const struct crash_frame *in = i ? &c->frame[s->first + i - 1] : NULL;
			if (!p->called.n && in && !in->handler)
				p->called = kernel_in(in->symbol).n ? kernel_in(in->symbol) : plain_name(in->symbol);
			if (!by_line(p))
				place_by_name(p, p->called);
			run = p;
		} else if (p->kernel.n) {
			if (run && run->library == p->library && run->call && slice_eq(run->call->name, p->kernel))
				p->call = run->call, p->known = run->known;
			else
				place_by_name(p, p->kernel);
		} else {
			by_line(p);
		}
		if (p->call)
			add_sources(p);
	}
}

static bool models_symbol(struct slice symbol)
{
	return kernel_in(symbol).n || slice_find(symbol, "aot_inductor::AOTInductorModel") ||
	       slice_find(symbol, "12aot_inductor16AOTInductorModel") || slice_find(symbol, "12aot_inductor25AOTInductorModelContainer") ||
	       slice_starts(symbol, "AOTInductorModel");
}

/* A model's library may have any name (aot_inductor.output_path, a deployer's own): it is known by a symbol of one of its frames. */
static void name_models(struct crashmap *map, const struct crash *c)
{
	for (uint32_t i = 0; i < c->n_frames; i++) {
		const struct slice module = c->frame[i].module;
		if (!module.n || !models_symbol(c->frame[i].symbol) || map->place[i].owner == OWNER_JIT)
			continue;
		for (uint32_t k = 0; k < c->n_frames; k++) {
			struct crash_place *p = &map->place[k];
			if (slice_eq(c->frame[k].module, module) && (p->owner == OWNER_CUSTOM || p->owner == OWNER_PROGRAM))
				p->owner = OWNER_MODEL;
		}
	}
}

void crashmap_join(struct crashmap *map, struct crash *c)
{
	free(map->place);
	map->place = xcalloc(c->n_frames + 1, sizeof(*map->place));
	map->n_places = c->n_frames;
	for (uint32_t i = 0; i < c->n_frames; i++)
		place_frame(map, &c->frame[i], &map->place[i], &c->arena);
	name_models(map, c);
	for (uint32_t i = 0; i < c->n_stacks; i++)
		if (!c->stack[i].python)
			join_stack(map, c, &c->stack[i]);
}
