#include "graph/repro/recorded.h"

#include "watch/kept.h"
#include "watch/watch.h"
#include "base/text.h"
#include "base/tool/diag.h"

#define MAX_STORAGE (INT64_C(1) << 36)

/* ---- sizes ---- */

/* An observed size determines its symbol. */
static void learn(const struct repro *r, struct symbind *env, struct symsize s, int64_t seen)
{
	uint32_t symbol;
	int64_t mul, add, known, rest;
	if (symsize_linear(&r->graph.tab, s, &symbol, &mul, &add) && mul > 0 && !symbind_get(env, symbol, &known) &&
	    !__builtin_sub_overflow(seen, add, &rest) && rest % mul == 0)
		symbind_set(env, symbol, rest / mul);
}

/* numbers: inputs without a file are integers, with their values. */
static void learn_sizes(const struct repro *r, const struct watch_bundle *b, bool numbers, struct symbind *env)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct repro_input *in = &r->input[i];
		const struct gmeta *m = in->meta == NONE ? NULL : &r->graph.meta[in->meta];
		if (m && numbers && in->kind == REPRO_SYMINT && !b->input[i].file)
			learn(r, env, m->expr, b->input[i].number);
		for (int d = 0; m && in->kind == REPRO_TENSOR && d < m->n_dim && d < b->input[i].meta.n_dim; d++)
			learn(r, env, r->graph.dim[m->dim + (uint32_t)d], b->input[i].meta.size[d]);
	}
}

/* "s77 = 5" for "s77 = 3", its value when the graph was compiled. */
static void tell_symbols(struct repro *r, const struct symbind *env)
{
	LOCAL_BUF b = {0};
	int64_t v;
	for (size_t i = 0; i < r->n_lines; i++) {
		struct repro_line *l = &r->line[i];
		if (l->kind != REPRO_SYMBOL || intern_find(&r->graph.tab.names, l->name) == NONE ||
		    !symbind_get(env, symtab_symbol(&r->graph.tab, l->name), &v))
			continue;
		buf_reset(&b);
		buf_addf(&b, "%.*s = %lld", SL(l->name), (long long)v);
		l->text = repro_keep(r, buf_slice(&b));
		l->value = slice_of(l->text.p + l->name.n + 3, l->text.n - l->name.n - 3);
	}
}

/* Returns the program's description of it, in numbers. */
static bool meta_of(const struct repro *r, const struct gmeta *g, const struct symbind *env, struct tensor_meta *m)
{
	struct err ignored;
	*m = (struct tensor_meta){.dtype = g->dtype, .n_dim = g->n_dim};
	if (g->n_dim > TENSOR_MAX_DIMS)
		return false;
	for (int d = 0; d < g->n_dim; d++)
		if (symsize_eval(&r->graph.tab, r->graph.dim[g->dim + (uint32_t)d], env, &m->size[d], &ignored) < 0)
			return false;
	tensor_contiguous(m);
	for (int d = 0; d < g->n_dim && g->has_stride; d++)
		if (symsize_eval(&r->graph.tab, r->graph.dim[g->dim + g->n_dim + (uint32_t)d], env, &m->stride[d], &ignored) < 0 ||
		    m->stride[d] < 0)
			return false;
	return true;
}

/* ---- values ---- */

static int give_tensor(struct repro *r, const struct symbind *env, const struct repro_input *in, const struct watch_bundle_input *x,
		       struct err *err)
{
	struct repro_storage *st = &r->storage[in->storage];
	struct tensor_meta m;
	int64_t bytes, all, offset;
	if (!meta_of(r, &r->graph.meta[in->meta], env, &m) || symsize_eval(&r->graph.tab, in->offset, env, &offset, err) < 0 ||
	    symsize_eval(&r->graph.tab, st->nbytes, env, &all, err) < 0 || !dtype_info(m.dtype) || !tensor_extent(&m, &bytes) ||
	    offset < 0 || all < 0 || all > MAX_STORAGE || offset > all || bytes > all - offset * dtype_info(m.dtype)->bytes)
		return err_set(err, EXIT_INPUT, "'%s': the program's input '%.*s' does not match the stored one", x->file, SL(in->name));
	char *p = (char *)(uintptr_t)st->bytes.p;
	if (!p) {
		p = arena_alloc(&r->arena, (size_t)all + 1);
		memset(p, 0, (size_t)all);
		st->bytes = slice_of(p, (size_t)all);
		st->nbytes = symsize_int(all);
	}
	return watch_bundle_values(x, &m, p + offset * dtype_info(m.dtype)->bytes, err);
}

static int give_all(struct repro *r, const struct watch_bundle *b, struct err *err)
{
	OWNED(symbind_release) struct symbind env = {0};
	int status = 0;
	if (b->n != r->n_inputs)
		return err_set(err, EXIT_INPUT, "'%s' has %zu stored inputs, but its program has %zu", b->folder, b->n, r->n_inputs);
	learn_sizes(r, b, true, &env);
	tell_symbols(r, &env);
	repro_bind(r, &env);
	for (size_t i = 0; i < b->n && !status; i++) {
		struct repro_input *in = &r->input[i];
		if (in->kind == REPRO_SYMINT && !b->input[i].file)
			in->value = symsize_int(b->input[i].number);
		else if (in->kind == REPRO_TENSOR && b->input[i].file)
			status = give_tensor(r, &env, in, &b->input[i], err);
		else if (in->kind == REPRO_TENSOR || in->kind == REPRO_SYMINT)
			status = err_set(err, EXIT_INPUT, "'%s': input %zu is of a different kind than the program's", b->folder, i);
	}
	return status;
}

static int open_program(struct repro *r, const struct watch_bundle *b, struct err *err)
{
	if (repro_open(r, b->program, err) < 0)
		return -1;
	if (give_all(r, b, err) < 0) {
		repro_release(r);
		return -1;
	}
	r->accuracy = SLICE("True"); /* what is wrong are its numbers */
	return 0;
}

int recorded_open(struct repro *r, const char *path, struct err *err)
{
	struct watch_bundle b;
	*r = (struct repro){0};
	if (watch_bundle_open(&b, path, err) < 0)
		return -1;
	int status =
	    b.program ? open_program(r, &b, err)
		      : err_set(err, EXIT_INPUT,
				"'%s' is a run of a compiled model, which has no graph: only runs of torch.compile graphs have one", path);
	watch_bundle_close(&b);
	return status;
}

/* ---- files by name ---- */

static const char *file_of(const struct recorded_value *value, size_t n, struct slice name)
{
	for (size_t i = 0; i < n; i++)
		if (slice_eq(value[i].name, name))
			return value[i].file;
	return NULL;
}

static int take_meta(struct watch_bundle_input *x, const char *file, struct err *err)
{
	struct tensor_file *f = tensor_file_open(file, err);
	if (!f)
		return -1;
	const bool one = f->n == 1;
	if (one)
		*x = (struct watch_bundle_input){.file = xstrdup(file), .meta = f->v[0].meta};
	tensor_file_close(f);
	return one ? 0 : err_set(err, EXIT_INPUT, "'%s': not a file of one tensor", file);
}

static int give_named(struct repro *r, const struct watch_bundle *b, struct err *err)
{
	OWNED(symbind_release) struct symbind env = {0};
	struct err ignored;
	int status = 0;
	learn_sizes(r, b, false, &env);
	tell_symbols(r, &env);
	repro_bind(r, &env);
	for (size_t i = 0; i < b->n && !status; i++) {
		struct repro_input *in = &r->input[i];
		int64_t v;
		if (in->kind == REPRO_TENSOR && b->input[i].file)
			status = give_tensor(r, &env, in, &b->input[i], err);
		else if (in->kind == REPRO_SYMINT && in->meta != NONE &&
			 symsize_eval(&r->graph.tab, r->graph.meta[in->meta].expr, &env, &v, &ignored) == 0)
			in->value = symsize_int(v);
	}
	return status;
}

int recorded_give(struct repro *r, const struct recorded_value *value, size_t n, struct err *err)
{
	struct watch_bundle b = {.input = xcalloc(r->n_inputs + 1, sizeof(*b.input)), .n = r->n_inputs};
	int status = 0;
	for (size_t i = 0; i < b.n && !status; i++) {
		const char *file = r->input[i].kind == REPRO_TENSOR ? file_of(value, n, r->input[i].name) : NULL;
		status = file ? take_meta(&b.input[i], file, err) : 0;
	}
	if (!status)
		status = give_named(r, &b, err);
	watch_bundle_close(&b);
	return status;
}

/* ---- run again ---- */

static int write_program(struct recorded_run *x, const struct watch_bundle *b, const char *path, enum temp_kind kind, struct err *err)
{
	OWNED(repro_release) struct repro r = {0};
	const char *python = getenv("PT2_PYTHON");
	const struct repro_note note = {.original = slice_str(path)};
	if (open_program(&r, b, err) < 0)
		return -1;
	int status = (x->folder = temp_folder(kind, err)) ? 0 : -1;
	if (!status) {
		x->command[0] = xstrdup(python && *python ? python : "python3");
		x->command[1] = xasprintf("%s/repro.py", x->folder);
		status = repro_save(&r, &(struct repro_program){.style = REPRO_ALONE, .note = &note}, x->command[1], err);
	}
	return status;
}

int recorded_again(struct recorded_run *x, struct operands *in, enum temp_kind kind, bool no_exec, struct err *err)
{
	struct watch_bundle b;
	*x = (struct recorded_run){0};
	if (in->command || in->n < 1 || !watch_bundle_like(in->v[0]))
		return 0;
	if (watch_bundle_open(&b, in->v[0], err) < 0)
		return -1;
	int status = 0;
	if (b.program && in->n > 1)
		status = err_set(err, EXIT_USAGE, "'%s' is a bundle, which has its own inputs: pass no others", in->v[0]);
	else if (b.program && no_exec)
		status =
		    err_set(err, EXIT_USAGE,
			    "'%s' holds a graph, which can only be examined by running its program: --no-exec prevents that", in->v[0]);
	else if (b.program)
		status = write_program(x, &b, in->v[0], kind, err);
	const bool graph = b.program;
	if (graph)
		x->as = (struct watch_recorded){.bundle = in->v[0], .graph = xstrdup(b.graph)};
	if (graph && b.table)
		x->as.table = xstrdup(b.table);
	if (graph && b.text)
		x->as.text = xstrdup(b.text);
	const uint64_t run = b.run;
	watch_bundle_close(&b);
	if (status < 0)
		recorded_release(x);
	if (status < 0 || !graph)
		return status;
	note("%s: %s runs the program of the graph in '%s', unconfined: run %llu of %s as run 0", diag_tool, x->command[0], in->v[0],
	     (unsigned long long)run, *x->as.graph ? x->as.graph : "it");
	in->command = x->command;
	in->n_command = 2;
	in->n = 0;
	return 0;
}

void recorded_release(struct recorded_run *x)
{
	temp_folder_remove(x->folder);
	free(x->command[0]);
	free(x->command[1]);
	free(x->as.graph);
	free(x->as.table);
	free(x->as.text);
	*x = (struct recorded_run){0};
}
