/* A program as a person would put it into an issue (repro.h, REPRO_PLAIN): imports, settings, f, its inputs, the call. */
#include "graph/fxcode.h"
#include "graph/repro/plain.h"
#include "graph/repro/repro_plain.h"
#include "graph/slice.h"
#include "base/text.h"

#include <inttypes.h>

/* ---- what cannot be expressed ---- */

static int refuse_program(struct plain_writer *w)
{
	const struct graph *g = w->how->graph ? w->how->graph : &w->r->graph;
	if (w->r->setup.n)
		return err_set(w->err, EXIT_INPUT, "it starts process groups");
	for (size_t i = 0; i < w->r->n_lines; i++)
		if (w->r->line[i].kind == REPRO_TRITON)
			return err_set(w->err, EXIT_INPUT, "it has a user's Triton kernel");
	for (uint32_t i = 0; i < g->n_nodes; i++)
		if (slice_find(graph_text(g, g->node[i].target), "triton_kernel_wrapper"))
			return err_set(w->err, EXIT_INPUT, "it has a user's Triton kernel");
	return 0;
}

/* ---- sizes ---- */

static bool is_symbol(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] | 32) >= 'a' && (s.p[i] | 32) <= 'z') && !(i && is_digit(s.p[i])) && s.p[i] != '_')
			return false;
	return s.n > 0;
}

/* The dimension of a tensor whose size is this symbol. */
static void find_size(const struct plain_writer *w, const struct graph *g, struct slice symbol, struct plain_size *to)
{
	const struct gmodule *root = &g->module[0];
	LOCAL_BUF b = {0};
	uint32_t k = 0;
	for (uint32_t i = root->first; i < root->first + root->n && to->of == NONE; i++) {
		if (g->node[i].op != GRAPH_PLACEHOLDER)
			continue;
		const struct plan_input *in = &w->p->input[k];
		const struct graph *from = in->original == NONE ? g : &w->r->graph;
		const uint32_t meta = in->original == NONE ? g->node[i].meta : w->r->input[in->original].meta;
		for (unsigned d = 0; in->kind == REPRO_TENSOR && meta != NONE && d < from->meta[meta].n_dim && to->of == NONE; d++) {
			buf_reset(&b);
			symsize_print(&from->tab, from->dim[from->meta[meta].dim + d], &b);
			if (slice_eq(buf_slice(&b), symbol))
				*to = (struct plain_size){k, d};
		}
		k++;
	}
}

static bool is_dynamic(const struct plain_writer *w)
{
	const struct slice mode = w->r->tracing_mode;
	return w->form == REPRO_AFTER_AOT && (slice_is(mode, "symbolic") || (!mode.n && w->p->symbolic));
}

static int make_graph(struct plain_writer *w)
{
	const struct graph *g = w->how->graph ? w->how->graph : &w->r->graph;
	w->size = xcalloc(w->p->n_inputs + 1, sizeof(*w->size));
	w->name = xcalloc(w->p->n_inputs + 1, sizeof(*w->name));
	for (size_t i = 0; i < w->p->n_inputs; i++) {
		w->size[i].of = NONE;
		if (w->dynamic && w->p->input[i].kind == REPRO_SYMINT && is_symbol(w->p->input[i].expr))
			find_size(w, g, w->p->input[i].expr, &w->size[i]);
	}
	if (graph_plain(g, &(struct plain_how){.table = w->how->spellings, .size = w->size}, &w->g, w->err) < 0)
		return -1;
	const struct gmodule *root = &w->g.module[0];
	uint32_t node = root->first;
	for (size_t i = 0; i < w->p->n_inputs; i++) {
		w->name[i] = SLICE("");
		if (w->size[i].of != NONE)
			continue;
		w->name[i] = graph_name(&w->g, node++);
	}
	return 0;
}

/* ---- the function ---- */

/* f as a function, or as a module if it has attributes, and for torch.export. */
static void add_function(struct plain_writer *w, struct buf *b)
{
	LOCAL_BUF code = {0};
	fxcode_write(&w->g, FXCODE_PLAIN, &code);
	if (!fxcode_is_function(&w->g)) {
		buf_add_slice(b, buf_slice(&code));
		buf_adds(b, "\nf = Repro()\n");
	} else if (w->form == REPRO_AOTI) {
		struct slice rest = buf_slice(&code), line;
		slice_line(&rest, &line);
		const bool any = slice_find(line, "()") == NULL;
		buf_addf(b, "class M(torch.nn.Module):\n    def forward(self%s%.*s\n", any ? ", " : "", (int)(line.n - 6), line.p + 6);
		while (slice_line(&rest, &line))
			buf_addf(b, "    %.*s\n", SL(line));
	} else {
		buf_add_slice(b, buf_slice(&code));
	}
}

/* ---- the call ---- */

/* "x, 8": f's arguments. as: a suffix for float tensors, for double precision. */
static void add_arguments(const struct plain_writer *w, const char *as, struct buf *b)
{
	bool any = false;
	for (size_t i = 0; i < w->p->n_inputs; i++) {
		const struct plan_input *in = &w->p->input[i];
		if (!w->name[i].n)
			continue;
		buf_adds(b, any ? ", " : "");
		any = true;
		if (in->kind == REPRO_SYMINT) {
			buf_addf(b, "%" PRId64, in->number);
			continue;
		}
		if (in->kind == REPRO_CONST) { /* as torch's InputReader reads it */
			buf_adds(b, "None");
			continue;
		}
		const int t = in->layout->dtype;
		buf_add_slice(b, w->name[i]);
		buf_adds(b, t == DTYPE_F32 || t == DTYPE_F16 || t == DTYPE_BF16 ? as : "");
	}
}

static size_t count_tensors(const struct plain_writer *w, bool with_gradient)
{
	size_t n = 0;
	for (size_t i = 0; i < w->p->n_inputs; i++)
		n += w->p->input[i].kind == REPRO_TENSOR && (!with_gradient || w->p->input[i].requires_grad);
	return n;
}

static bool has_backward(const struct plain_writer *w)
{
	return w->form == REPRO_AFTER_DYNAMO && count_tensors(w, true) && !slice_is(w->r->only_fwd, "True");
}

/* Does it write to its inputs? Then each call needs its own. */
static bool mutates(const struct plain_writer *w)
{
	uint32_t operand;
	for (uint32_t i = 0; i < w->g.n_nodes; i++)
		if (node_has_effect(&w->g, i, &operand) && operand != NONE)
			return true;
	return false;
}

/* ", args[0], args[2]": the inputs that it writes, to be compared like its results. Returns how many. */
static unsigned add_written(const struct plain_writer *w, struct buf *b)
{
	const struct gmodule *root = &w->g.module[0];
	uint32_t operand;
	unsigned n = 0, at = 0;
	for (uint32_t p = root->first; p < root->first + root->n; p++) {
		bool written = false;
		if (w->g.node[p].op != GRAPH_PLACEHOLDER)
			continue;
		for (uint32_t i = p + 1; i < root->first + root->n && !written; i++)
			written = node_has_effect(&w->g, i, &operand) && operand == p;
		if (written)
			buf_addf(b, ", args[%u]", at), n++;
		at++;
	}
	return n;
}

/* Double inputs are not enough for a graph that names a dtype to run in double precision. */
static bool names_dtype(const struct graph *g)
{
	for (size_t i = 0; i < g->n_values; i++)
		if (g->value[i].kind == GV_NAME) {
			const enum dtype t = dtype_by_name(graph_text(g, g->value[i].text));
			if (t == DTYPE_F16 || t == DTYPE_BF16 || t == DTYPE_F32)
				return true;
		}
	return false;
}

static bool has_half(const struct plain_writer *w)
{
	for (size_t i = 0; i < w->p->n_inputs; i++)
		if (w->p->input[i].kind == REPRO_TENSOR &&
		    (w->p->input[i].layout->dtype == DTYPE_F16 || w->p->input[i].layout->dtype == DTYPE_BF16))
			return true;
	return false;
}

static uint32_t n_outputs(const struct plain_writer *w)
{
	const struct gnode *n = &w->g.node[w->g.module[0].output];
	const struct gvalue v = n->n_args ? w->g.value[n->args] : graph_none_value();
	return v.kind == GV_TUPLE || v.kind == GV_LIST ? v.n : 1;
}

/* With the inputs that it writes. */
static uint32_t n_results(const struct plain_writer *w)
{
	LOCAL_BUF ignored = {0};
	return n_outputs(w) + (has_backward(w) ? 0 : add_written(w, &ignored));
}

static const char *compiled(const struct plain_writer *w, struct buf *b)
{
	LOCAL_BUF backend = {0};
	buf_reset(b);
	buf_adds(b, "torch.compile(f");
	if (w->form == REPRO_AFTER_DYNAMO) {
		plan_add_backend(w->r, &backend);
		if (!slice_is(buf_slice(&backend), "'inductor'") && !slice_is(buf_slice(&backend), "None"))
			buf_addf(b, ", backend=%s", buf_str(&backend));
	}
	buf_adds(b, w->dynamic && w->how->dynamic ? ", dynamic=True)" : ")");
	return buf_str(b);
}

static bool is_autocast(const struct plain_writer *w) { return w->form == REPRO_AFTER_DYNAMO && slice_is(w->r->autocast, "True"); }

static const char *autocast_device(const struct plain_writer *w)
{
	for (size_t i = 0; i < w->p->n_storages; i++)
		if (slice_starts(w->p->storage[i].device, "cuda"))
			return "cuda";
	return "cpu";
}

/* "out.sum()": something to differentiate. */
static const char *loss(const struct plain_writer *w) { return n_outputs(w) == 1 ? "out.sum()" : "sum(o.sum() for o in out)"; }

/* The outputs and gradients of one call, on its own inputs. */
static void add_run(struct plain_writer *w, struct buf *b)
{
	const bool backward = has_backward(w), separate = backward || mutates(w);
	const char *in = is_autocast(w) ? "        " : "    ";
	LOCAL_BUF args = {0}, written = {0};
	add_arguments(w, "", &args);
	buf_adds(b, "\ndef run(f):\n");
	if (separate)
		buf_addf(b, "    args = copy.deepcopy((%s%s))\n", buf_str(&args), w->p->n_inputs == 1 ? "," : "");
	if (is_autocast(w))
		buf_addf(b, "    with torch.autocast('%s'):\n", autocast_device(w));
	buf_addf(b, "%sout = f(%s)\n", in, separate ? "*args" : buf_str(&args));
	if (backward)
		buf_addf(b, "%s%s.backward()\n", in, loss(w));
	if (!backward && add_written(w, &written))
		buf_addf(b, "    return [%sout%s]\n", n_outputs(w) == 1 ? "" : "*", buf_str(&written));
	else
		buf_addf(b, "    return out%s\n", backward ? ", [a.grad for a in args if getattr(a, 'requires_grad', False)]" : "");
}

/* What same() and the like are asked. wide: with f in double precision as the reference. */
static void add_check(struct plain_writer *w, bool wide, struct buf *b)
{
	LOCAL_BUF args = {0};
	add_arguments(w, ".double()", &args);
	if (w->how->check == REPRO_CHECK_SHAPE)
		buf_adds(b, "assert actual.shape == expected.shape\n");
	else if (w->how->check == REPRO_CHECK_EQUAL)
		buf_adds(b,
			 n_results(w) > 1 ? "assert all(map(torch.equal, actual, expected))\n" : "assert torch.equal(actual, expected)\n");
	else if (wide)
		buf_addf(b, "assert same(expected, actual, f(%s), tol=1e-3, equal_nan=True)\n", buf_str(&args));
	else
		buf_adds(b, "assert same(expected, actual, tol=1e-3, equal_nan=True)\n");
}

/* Inductor alone, on this graph: Dynamo and AOTAutograd do not see it. */
static int add_inner(struct plain_writer *w, struct buf *b)
{
	LOCAL_BUF written = {0};
	const bool writes = add_written(w, &written) > 0, one = n_outputs(w) == 1, many = !one || writes;
	const bool symbolic = w->dynamic, check = w->how->check != REPRO_CHECK_RUNS;
	const bool wide = check && !mutates(w) && !names_dtype(&w->g) && !slice_is(w->r->accuracy, "'strict_accuracy'");
	LOCAL_BUF args = {0};
	if (!wide && has_half(w) && w->how->check == REPRO_CHECK_SAME)
		return err_set(w->err, EXIT_INPUT, "half precision must be compared with a run in double precision");
	if (many && w->how->check == REPRO_CHECK_SHAPE)
		return err_set(w->err, EXIT_INPUT, "several outputs, one of them with a different shape");
	add_arguments(w, "", &args);
	buf_addf(b, "\ndef copies():\n    return copy.deepcopy([%s])\n\nwith torch.no_grad():\n", buf_str(&args));
	buf_addf(b, "    gm = make_fx(%s%s)(*copies())\n", one ? "lambda *args: (f(*args),)" : "f",
		 symbolic ? ", tracing_mode='symbolic'" : "");
	if (symbolic)
		buf_adds(b, "    compiled = compile_fx_inner(gm, [n.meta['val'] for n in gm.graph.nodes if n.op == 'placeholder'])\n");
	else
		buf_adds(b, "    compiled = compile_fx_inner(gm, copies())\n");
	if (!check) {
		buf_adds(b, "    compiled(copies())\n");
		return 0;
	}
	if (writes)
		buf_addf(b,
			 "    def run(call):\n        args = copies()\n        return [*call(list(args))%s]\n"
			 "    expected, actual = run(lambda args: %s), run(compiled)\n",
			 buf_str(&written), one ? "[f(*args)]" : "f(*args)");
	else
		buf_addf(b, "    expected, actual = f(*copies()), compiled(copies())%s\n", one ? "[0]" : "");
	buf_adds(b, "print(expected, actual, sep='\\n')\n");
	add_check(w, wide, b);
	return 0;
}

/* Two calls, compared. */
static int add_comparison(struct plain_writer *w, struct buf *b)
{
	const bool plain = !has_backward(w) && !mutates(w) && !is_autocast(w), many = n_results(w) > 1;
	const bool wide =
	    plain && !names_dtype(&w->g) && w->how->check == REPRO_CHECK_SAME && !slice_is(w->r->accuracy, "'strict_accuracy'");
	struct buf args = {0}, way = {0};
	const char *compile = compiled(w, &way);
	if (!wide && has_half(w) && w->how->check == REPRO_CHECK_SAME)
		return buf_release(&way), err_set(w->err, EXIT_INPUT,
						  "half precision must be compared with a run in double "
						  "precision, which this graph supports only after torch.fx changes it");
	if (many && w->how->check == REPRO_CHECK_SHAPE)
		return buf_release(&way), err_set(w->err, EXIT_INPUT, "several outputs, one of them with a different shape");
	add_arguments(w, "", &args);
	if (plain) {
		buf_addf(b, "expected, actual = f(%s), %s(%s)\n", buf_str(&args), compile, buf_str(&args));
	} else {
		add_run(w, b);
		buf_addf(b, "\nexpected, actual = run(f), run(%s)\n", compile);
	}
	buf_adds(b, "print(expected, actual, sep='\\n')\n");
	add_check(w, wide, b);
	buf_release(&args);
	buf_release(&way);
	return 0;
}

static void add_model_call(struct plain_writer *w, struct buf *b)
{
	LOCAL_BUF args = {0}, way = {0};
	const char *compile = compiled(w, &way), *in = is_autocast(w) ? "    " : "";
	add_arguments(w, "", &args);
	if (is_autocast(w))
		buf_addf(b, "with torch.autocast('%s'):\n", autocast_device(w));
	if (has_backward(w) && n_outputs(w) > 1)
		buf_addf(b, "%sout = %s(%s)\n%s%s.backward()\n", in, compile, buf_str(&args), in, loss(w));
	else
		buf_addf(b, "%s%s(%s)%s\n", in, compile, buf_str(&args), has_backward(w) ? ".sum().backward()" : "");
}

static bool has_configs(const struct plain_writer *w)
{
	const struct slice c = w->r->config_patches;
	return c.n && !slice_is(c, "None") && !slice_is(c, "{}") && !slice_is(c, "{'aot_inductor.package': True}");
}

static void add_package(struct plain_writer *w, struct buf *b)
{
	const char *module = fxcode_is_function(&w->g) ? "M()" : "f";
	LOCAL_BUF args = {0};
	size_t n = 0;
	for (size_t i = 0; i < w->p->n_inputs; i++)
		n += w->name[i].n > 0;
	add_arguments(w, "", &args);
	buf_addf(b, "program = torch.export.export(%s, (%s%s))\n", module, buf_str(&args), n == 1 ? "," : "");
	buf_adds(b, "package = torch._inductor.aoti_compile_and_package(program");
	if (has_configs(w))
		buf_addf(b, ", inductor_configs=%.*s", SL(w->r->config_patches));
	buf_addf(b, ")\n");
	if (w->how->check == REPRO_CHECK_RUNS)
		buf_addf(b, "torch._inductor.aoti_load_package(package)(%s)\n", buf_str(&args));
	else
		buf_addf(b,
			 "expected, actual = %s(%s), torch._inductor.aoti_load_package(package)(%s)\nprint(expected, actual, sep='\\n')\n",
			 module, buf_str(&args), buf_str(&args));
	if (w->how->check != REPRO_CHECK_RUNS)
		add_check(w, false, b);
}

/* Marks the sizes that may change. */
static void add_dynamic(struct plain_writer *w, struct buf *b)
{
	for (size_t i = 0; w->dynamic && i < w->p->n_inputs; i++) {
		const struct plan_input *in = &w->p->input[i];
		for (int d = 0; in->kind == REPRO_TENSOR && d < in->layout->n_dim; d++)
			if (in->dynamic >> d & 1 && in->layout->size[d] > 1)
				buf_addf(b, "torch._dynamo.mark_dynamic(%.*s, %d)\n", SL(w->name[i]), d);
	}
}

/* ---- the head ---- */

/* "import torch, os", "from torch.nn import *": lines that the program writes itself if it needs them. */
static bool is_torchs(struct slice t)
{
	static const char *const words[] = {"import torch",     "from torch",     "import os",        "import base64",
					    "from math",        "import math",    "import functools", "from functools",
					    "import _operator", "from functorch", "import functorch"};
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const size_t n = strlen(words[i]);
		if (slice_starts(t, words[i]) && (t.n == n || strchr(". ,", t.p[n])))
			return true;
	}
	return false;
}

/* Settings that make torch write launchers, or set where. */
static bool is_about_repros(struct slice name)
{
	static const char *const names[] = {"debug_dir_root", "repro_after", "repro_level", "dump_aoti_minifier"};
	return slice_any(name, names, slice_ends);
}

/* "torch._inductor.config" of "torch._inductor.config.cpp.x". */
static struct slice config_module(struct slice name)
{
	const char *at = slice_find(name, "config.");
	return at ? slice_of(name.p, (size_t)(at - name.p) + 6) : name;
}

static void need_line(struct buf *b, struct intern *seen, const char *before, struct slice text)
{
	LOCAL_BUF line = {0};
	const uint32_t known = seen->n;
	buf_addf(&line, "%s%.*s\n", before, SL(text));
	if (intern_add(seen, buf_slice(&line)) == known)
		buf_add_slice(b, buf_slice(&line));
}

static void add_imports(struct plain_writer *w, struct slice body, struct buf *b)
{
	OWNED(intern_release) struct intern seen = {0};
	const struct slice backend = w->form == REPRO_AFTER_DYNAMO ? plan_backend_module(w->r) : SLICE("");
	bool os = w->files;
	for (size_t i = 0; i < w->r->n_lines; i++)
		os |= w->r->line[i].kind == REPRO_ENV_SET && !repro_env_is_private(w->r->line[i].name);
	if (slice_find(body, "copy.deepcopy"))
		need_line(b, &seen, "import ", SLICE("copy"));
	if (os)
		need_line(b, &seen, "import ", SLICE("os"));
	for (size_t i = 0; i < w->r->n_lines; i++)
		if (w->r->line[i].kind == REPRO_ENV_SET && !repro_env_is_private(w->r->line[i].name))
			need_line(b, &seen, "", w->r->line[i].text);
	if (w->base64)
		need_line(b, &seen, "import ", SLICE("base64"));
	if (slice_find(body, "math."))
		need_line(b, &seen, "import ", SLICE("math"));
	if (slice_find(body, "_operator."))
		need_line(b, &seen, "import ", SLICE("_operator"));
	if (has_word(body, "inf") || has_word(body, "nan"))
		need_line(b, &seen, "from math import ", SLICE("inf, nan"));
	need_line(b, &seen, "import ", SLICE("torch"));
	if (has_word(body, "device(type"))
		need_line(b, &seen, "from torch import ", SLICE("device"));
	if (slice_find(body, "tensor(") && !fxcode_is_function(&w->g))
		need_line(b, &seen, "from torch import ", SLICE("tensor"));
	if (slice_find(body, "torch.ops.prims.") || slice_find(body, "torch.ops.inductor"))
		need_line(b, &seen, "import ", SLICE("torch._inductor.inductor_prims"));
	if (slice_find(body, "torch._inductor."))
		need_line(b, &seen, "import ", SLICE("torch._inductor"));
	if (slice_find(body, "compile_fx_inner("))
		need_line(b, &seen, "from torch._inductor.compile_fx import ", SLICE("compile_fx_inner"));
	if (slice_find(body, "make_fx("))
		need_line(b, &seen, "from torch.fx.experimental.proxy_tensor import ", SLICE("make_fx"));
	if (slice_find(body, " same("))
		need_line(b, &seen, "from torch._dynamo.utils import ", SLICE("same"));
	for (size_t i = 0; i < w->r->n_lines; i++) {
		const struct repro_line *l = &w->r->line[i];
		if (l->kind == REPRO_CONFIG && !l->idle && !is_about_repros(l->name))
			need_line(b, &seen, "import ", config_module(l->name));
		else if (l->kind == REPRO_IMPORT && !is_torchs(l->text))
			need_line(b, &seen, "", l->text);
	}
	if (backend.n)
		need_line(b, &seen, "import ", backend);
}

static bool is_statement(const struct repro_line *l)
{
	if (l->kind == REPRO_CONFIG)
		return !l->idle && !is_about_repros(l->name);
	return l->kind == REPRO_OTHER && !plan_is_frame(l) && !slice_find(l->text, "kernel_side_table.reset_table()") &&
	       !slice_starts(l->text, "exported_program") && !slice_starts(l->text, "config_patches");
}

/* Settings and operator libraries: the original's setup. */
static void add_settings(struct plain_writer *w, struct buf *b)
{
	bool any = false;
	for (size_t i = 0; i < w->r->n_lines && !w->r->old; i++) {
		if (!is_statement(&w->r->line[i]))
			continue;
		buf_adds(b, any ? "" : "\n");
		any = true;
		buf_add_slice(b, w->r->line[i].text);
		buf_addc(b, '\n');
	}
}

/* ---- comments about itself ---- */

static void add_comment(struct buf *b, const char *before, struct slice text)
{
	struct slice line;
	while (slice_line(&text, &line)) {
		if (!slice_trim(line).n)
			continue;
		buf_addf(b, "# %s", before);
		plan_add_clean(b, line);
		buf_addc(b, '\n');
	}
}

static void add_note(struct plain_writer *w, struct buf *b)
{
	const struct repro_note *n = w->how->note;
	LOCAL_BUF made = {0};
	if (!n)
		return;
	buf_addc(b, '\n');
	add_comment(b, "", n->error);
	buf_adds(b, n->error.n ? "#\n" : "");
	add_comment(b, "failure: ", n->signature);
	add_comment(b, "in the original, the ", n->origin);
	add_comment(b, "versions: ", n->versions);
	buf_add_slice(&made, n->tool);
	buf_addf(&made, ": %.*s", SL(n->command));
	add_comment(b, "made by ", buf_slice(&made));
	add_comment(b, "verified: ", n->verified);
	add_comment(b, "", n->more);
}

/* ---- the whole program ---- */

static int add_body(struct plain_writer *w, struct buf *b)
{
	LOCAL_BUF inputs = {0};
	int status = plain_add_inputs(w, &inputs);
	if (status < 0)
		return -1;
	buf_addc(b, '\n');
	if (!fxcode_is_function(&w->g))
		buf_addf(b, "torch.manual_seed(%" PRIu64 ")\n", w->how->seed); /* also for random numbers in __init__ */
	add_function(w, b);
	buf_addc(b, '\n');
	if (w->files)
		buf_adds(b, "here = os.path.dirname(os.path.abspath(__file__))\n");
	if (w->random && fxcode_is_function(&w->g))
		buf_addf(b, "torch.manual_seed(%" PRIu64 ")\n", w->how->seed);
	buf_add_slice(b, buf_slice(&inputs));
	if (w->how->inner && w->form == REPRO_AFTER_AOT)
		return add_inner(w, b);
	add_dynamic(w, b);
	if (w->form == REPRO_AOTI)
		add_package(w, b);
	else if (w->how->check != REPRO_CHECK_RUNS)
		status = add_comparison(w, b);
	else
		add_model_call(w, b);
	return status;
}

int plan_text(const struct plan *p, const struct repro *r, const struct repro_program *how, struct buf *b, struct err *err)
{
	if (how->style != REPRO_PLAIN) {
		launcher_text(p, r, how, b);
		return 0;
	}
	struct plain_writer w = {.p = p, .r = r, .how = how, .err = err, .form = r->form == REPRO_GRAPH ? REPRO_AFTER_AOT : r->form};
	LOCAL_BUF body = {0};
	w.dynamic = is_dynamic(&w);
	int status = refuse_program(&w);
	if (status == 0)
		status = make_graph(&w);
	if (status == 0)
		status = add_body(&w, &body);
	if (status == 0) {
		add_imports(&w, buf_slice(&body), b);
		add_settings(&w, b);
		buf_add_slice(b, buf_slice(&body));
		add_note(&w, b);
	}
	graph_release(&w.g);
	free(w.size);
	free(w.name);
	return status;
}

int repro_text(const struct repro *r, const struct repro_program *how, struct buf *b, struct err *err)
{
	struct plan p;
	LOCAL_BUF path = {0};
	buf_add_slice(&path, r->path);
	const int rc = plan_make(&p, r, how, path_base(buf_str(&path)), err);
	if (rc < 0)
		return -1;
	const int status = plan_text(&p, r, how, b, err);
	plan_release(&p);
	return status;
}
