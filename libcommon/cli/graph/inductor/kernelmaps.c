#include "graph/inductor/kernelmaps.h"

#include "model/package/package.h"
#include "run/trace/trace.h"

#include <dirent.h>
#include <sys/stat.h>

static struct slice keep_file(struct kernelmaps *k, struct mapfile *f)
{
	struct mapfile *own = xmalloc(sizeof(*own));
	*own = *f;
	PUSH(k, file) = own;
	return own->bytes;
}

static void add_log(struct kernelmaps *k, struct slice text)
{
	PUSH(k, text) = text;
	fusionlog_read(&k->fusion, text);
	kernelmaps_from_log(k, text);
}

bool kernelmaps_is_code(struct slice text)
{
	/* At the start of a line: in a log each line has a prefix, in a traceback it is indented. */
	return slice_find(text, "\nasync_compile = AsyncCompile()") || slice_find(text, "\nasync_compile.wait(globals())");
}

/* ---- debug folders ---- */

static struct slice read_file(struct kernelmaps *k, const struct debugdir *d, uint32_t comp, enum debug_file which)
{
	struct mapfile f;
	if (!d->comp[comp].has[which] || debugdir_file(d, comp, which, &f, NULL) < 0)
		return SLICE("");
	return keep_file(k, &f);
}

int kernelmaps_add_debugdir(struct kernelmaps *k, const char *path, struct err *err)
{
	struct debugdir d;
	uint32_t had = k->n_input;
	if (debugdir_open(&d, path, err) < 0)
		return -1;
	for (uint32_t i = 0; i < d.n_comp; i++) {
		struct kernelmap_input in = {.name = arena_slice(&k->arena, d.comp[i].name)};
		in.folder = in.name;
		in.code = read_file(k, &d, i, DEBUG_OUTPUT_CODE);
		if (!in.code.n) /* AOTInductor's: the wrapper, followed by the CPU kernels */
			in.wrapper = in.kernels = read_file(k, &d, i, DEBUG_OUTPUT_CPP);
		in.ir_pre = read_file(k, &d, i, DEBUG_IR_PRE);
		in.ir_post = read_file(k, &d, i, DEBUG_IR_POST);
		in.graph = read_file(k, &d, i, DEBUG_TRANSFORMED);
		if (!in.graph.n)
			in.graph = read_file(k, &d, i, DEBUG_READABLE);
		in.mappings = read_file(k, &d, i, DEBUG_MAPPINGS);
		in.stacks = read_file(k, &d, i, DEBUG_STACKS);
		struct slice log = read_file(k, &d, i, DEBUG_LOG);
		if (log.n)
			add_log(k, log);
		if (in.code.n || in.wrapper.n || in.ir_pre.n || in.ir_post.n)
			kernelmaps_add(k, &in);
	}
	for (uint32_t i = 0; i < d.n_log; i++) {
		struct mapfile f;
		FREED char *name = xstrndup(d.log[i].p, d.log[i].n);
		if (mapfile_open(&f, name, NULL) == 0)
			add_log(k, keep_file(k, &f));
	}
	debugdir_close(&d);
	if (k->n_input == had)
		return err_set(err, EXIT_INPUT, "'%s': no compilation in this debug folder reached code or IR", path);
	return 0;
}

/* ---- traces ---- */

struct reading {
	struct kernelmaps *k;
	const struct trace *t;
	struct pending {
		uint32_t compile;
		struct slice graph, kernels;
		uint32_t last; /* input of this compile id that still lacks its mappings; or NONE */
	} * pending;
	uint32_t n, cap;
	struct intern ids; /* compile -> row of pending, the same index */
};

static struct pending *pending_of(struct reading *r, uint32_t compile)
{
	uint32_t row = intern_add(&r->ids, slice_of((const char *)&compile, sizeof(compile)));
	if (row < r->n)
		return &r->pending[row];
	GROW(r->pending, r->n, r->cap, 1);
	r->pending[r->n] = (struct pending){.compile = compile, .last = NONE};
	return &r->pending[r->n++];
}

static void add_code(struct reading *r, struct pending *p, struct slice text, bool cpp)
{
	char id[COMPILE_ID_TEXT];
	struct kernelmap_input in = {.graph = p->graph};
	compile_id_text(&r->t->f->attempt[p->compile].id, id);
	uint32_t before = 0;
	for (uint32_t i = 0; i < r->k->n_input; i++)
		before += slice_is(r->k->input[i].folder, id);
	in.folder = arena_slice(&r->k->arena, slice_str(id));
	in.name = before ? arena_textf(&r->k->arena, "%s (%u)", id, before + 1) : in.folder;
	if (cpp) {
		in.wrapper = kernelmaps_keep(r->k, text);
		in.kernels = p->kernels;
	} else {
		in.code = kernelmaps_keep(r->k, text);
	}
	if (kernelmaps_add(r->k, &in))
		p->last = r->k->n_input - 1;
	p->graph = p->kernels = SLICE("");
}

static int on_record(void *ctx, struct trace_scan *scan, struct trace_record *rec)
{
	struct reading *r = ctx;
	const struct trace *t = r->t;
	for (uint32_t i = 0; i < rec->artifacts; i++) {
		const struct trace_artifact *a = &t->artifact[rec->first_artifact + i];
		struct slice name = intern_get(&t->f->names, a->name), text = trace_payload(scan, rec);
		if (!text.n)
			continue;
		struct pending *p = pending_of(r, rec->attempt);
		struct kernelmap_input *last = p->last == NONE ? NULL : &r->k->input[p->last];
		enum prov_text part = trace_provenance_part(t, a);
		/* After the code (torch/_inductor/codecache.py, torch/_inductor/compile_fx.py: 2.13, 2.15). */
		if (last && (slice_is(name, "fx_graph_cache_hit") || slice_is(name, "aotautograd_cache_hit")))
			last->cached = true;
		if (part == PROV_POST)
			p->graph = kernelmaps_keep(r->k, text);
		else if (part == PROV_CODE || part == PROV_AOT)
			add_code(r, p, text, part == PROV_AOT);
		else if (a->kind == KIND_graph_dump && slice_is(name, "inductor_aot_kernel_code")) {
			if (last && last->wrapper.n && !last->kernels.n)
				last->kernels = kernelmaps_keep(r->k, text);
			else
				p->kernels = kernelmaps_keep(r->k, text);
		} else if (last && !last->mappings.n && part == PROV_MAP)
			last->mappings = kernelmaps_keep(r->k, text);
		else if (last && !last->stacks.n && part == PROV_STACKS)
			last->stacks = kernelmaps_keep(r->k, text);
	}
	return 0;
}

int kernelmaps_add_trace(struct kernelmaps *k, const char *path, struct err *err)
{
	struct trace t;
	struct reading r = {.k = k, .t = &t};
	struct trace_hooks hooks = {.ctx = &r, .record = on_record, .threads = 1};
	uint32_t had = k->n_input;
	trace_init(&t, path, NULL);
	int rc = trace_read(&t, &hooks, err);
	trace_release(&t);
	free(r.pending);
	intern_release(&r.ids);
	if (!rc && k->n_input == had)
		rc = err_set(err, EXIT_INPUT,
			     "'%s': no generated code in this trace: no compilation by Inductor got that far, or all came from "
			     "caches (set TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 to compile again)",
			     path);
	return rc;
}

void kernelmaps_add_traces(struct kernelmaps *k, const char *folder)
{
	FREED struct dirent **list = NULL;
	int n = scandir(folder, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		FREED char *file = xasprintf("%s/%s", folder, list[i]->d_name);
		struct err unread;
		struct stat st;
		if (list[i]->d_name[0] != '.' && lstat(file, &st) == 0 && S_ISREG(st.st_mode) && trace_is_log(file))
			kernelmaps_add_trace(k, file, &unread);
		free(list[i]);
	}
}

/* ---- packages ---- */

int kernelmaps_add_package(struct kernelmaps *k, const char *path, const char *model, struct err *err)
{
	struct package pkg;
	uint32_t had = k->n_input;
	struct err unread = {0};
	if (package_open(&pkg, path, err) < 0)
		return -1;
	if (model && !package_model(&pkg, model, err)) {
		package_close(&pkg);
		return -1;
	}
	for (size_t i = 0; i < pkg.n; i++) {
		const struct package_model *m = &pkg.model[i];
		struct kernelmap_input in = {.name = arena_slice(&k->arena, m->name)};
		struct slice text;
		if ((model && !slice_is(m->name, model)) || !m->wrapper_cpp || package_data(&pkg, m->wrapper_cpp, &text, &unread) < 0)
			continue;
		in.wrapper = kernelmaps_keep(k, text);
		if (m->kernel_cpp && package_data(&pkg, m->kernel_cpp, &text, NULL) == 0)
			in.kernels = kernelmaps_keep(k, text);
		if (m->kernel_information && package_data(&pkg, m->kernel_information, &text, NULL) == 0)
			in.stacks = kernelmaps_keep(k, text);
		kernelmaps_add(k, &in);
	}
	package_close(&pkg);
	if (k->n_input == had && unread.text[0])
		return err_set(err, unread.status, "%s", unread.text);
	if (k->n_input == had)
		return err_set(err, EXIT_INPUT, "'%s': the package has no wrapper.cpp, so its kernels are unknown", path);
	return 0;
}

/* ---- files ---- */

int kernelmaps_add_code(struct kernelmaps *k, const char *path, struct err *err)
{
	struct mapfile f;
	struct kernelmap_input in = {.name = arena_slice(&k->arena, slice_str(path))};
	if (mapfile_open(&f, path, err) < 0)
		return -1;
	in.code = keep_file(k, &f);
	kernelmaps_add(k, &in);
	return 0;
}

int kernelmaps_add_text(struct kernelmaps *k, const char *path, struct err *err)
{
	struct mapfile f;
	if (mapfile_open(&f, path, err) < 0)
		return -1;
	add_log(k, keep_file(k, &f));
	return 0;
}

void kernelmaps_build(struct kernelmaps *k)
{
	k->map = xcalloc(k->n_input + 1, sizeof(*k->map));
	for (k->n = 0; k->n < k->n_input; k->n++) {
		k->map[k->n] = xcalloc(1, sizeof(**k->map));
		if (k->fusion.n)
			k->input[k->n].fusion = &k->fusion;
		kernelmap_build(k->map[k->n], &k->input[k->n]);
	}
}

void kernelmaps_release(struct kernelmaps *k)
{
	for (uint32_t i = 0; i < k->n; i++) {
		kernelmap_release(k->map[i]);
		free(k->map[i]);
	}
	for (uint32_t i = 0; i < k->n_file; i++) {
		mapfile_close(k->file[i]);
		free(k->file[i]);
	}
	for (uint32_t i = 0; i < k->n_buf; i++) {
		buf_release(k->buf[i]);
		free(k->buf[i]);
	}
	free(k->map);
	free(k->input);
	free(k->text);
	free(k->file);
	free(k->buf);
	fusionlog_release(&k->fusion);
	arena_release(&k->arena);
	*k = (struct kernelmaps){0};
}
