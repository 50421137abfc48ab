/* The text of a program that runs one graph: head, class, load_args, foot. */
#include "base/base64.h"
#include "base/text.h"
#include "graph/fxcode.h"
#include "graph/repro/repro_plan.h"

#include <ctype.h>

struct writer {
	const struct plan *p;
	const struct repro *r;
	const struct repro_program *how;
	struct buf *b;
	struct buf code; /* the class */
	bool alone;
	enum repro_form form; /* never REPRO_GRAPH */
};

/* ---- comments at the top ---- */

/* In a comment, characters that would end its line or confuse a terminal become spaces. */
void plan_add_clean(struct buf *b, struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		buf_addc(b, (unsigned char)text.p[i] < 0x20 || text.p[i] == 0x7f ? ' ' : text.p[i]);
}

/* Every line starts with "#:", so that when this program is read again they differ from the original's comments. */
static void note_text(struct buf *b, const char *label, struct slice text)
{
	struct slice line;
	bool first = true;
	while (slice_line(&text, &line)) {
		buf_addf(b, "#: %s", first ? label : "    ");
		plan_add_clean(b, line);
		buf_addc(b, '\n');
		first = false;
	}
}

static bool is_random(const struct plan_input *in) { return in->random; }
static bool is_guess(const struct plan_input *in) { return in->guess; }

static size_t count_inputs(const struct plan *p, bool (*which)(const struct plan_input *))
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_inputs; i++)
		n += which(&p->input[i]);
	return n;
}

enum { NAMES_SHOWN = 8 };

/* "x, y and 3 more" */
static void input_names(const struct plan *p, bool (*which)(const struct plan_input *), struct buf *b)
{
	const size_t n = count_inputs(p, which);
	size_t shown = 0;
	for (size_t i = 0; i < p->n_inputs && shown < NAMES_SHOWN; i++) {
		if (!which(&p->input[i]))
			continue;
		buf_adds(b, shown++ ? ", " : "");
		buf_add_slice(b, p->input[i].name);
	}
	if (n > shown)
		buf_addf(b, " and %zu more", n - shown);
}

static bool has_files(const struct plan *p)
{
	for (size_t i = 0; i < p->n_storages; i++)
		if (p->storage[i].how == PLAN_FILE)
			return true;
	return false;
}

static void write_note(struct writer *w)
{
	const struct repro_note *note = w->how->note;
	LOCAL_BUF names = {0};
	if (note) {
		note_text(w->b, "made by ", note->tool);
		note_text(w->b, "command: ", note->command);
		note_text(w->b, "original: ", note->original);
		note_text(w->b, "failure: ", note->signature);
		note_text(w->b, "in the original, the ", note->origin);
		note_text(w->b, "verified: ", note->verified);
		note_text(w->b, "versions: ", note->versions);
		note_text(w->b, "", note->more);
	}
	if (!w->how->no_seed)
		buf_addf(w->b, "#: seed: %llu\n", (unsigned long long)w->how->seed);
	if (count_inputs(w->p, is_random)) {
		input_names(w->p, is_random, &names);
		note_text(w->b, "WARNING: RANDOM VALUES: the original has no values for ", buf_slice(&names));
	}
	if (count_inputs(w->p, is_guess)) {
		buf_reset(&names);
		input_names(w->p, is_guess, &names);
		note_text(w->b, "WARNING: GUESSED SHAPES: the original does not give the shapes of ", buf_slice(&names));
	}
	if (has_files(w->p))
		note_text(w->b, "larger inputs are in the folder beside this file: ", w->p->folder);
}

/* ---- the head ---- */

bool repro_env_is_private(struct slice name)
{
	static const char *const names[] = {"TORCHINDUCTOR_CACHE_DIR",
					    "TRITON_CACHE_DIR",
					    "TRITON_HOME",
					    "TRITON_DUMP_DIR",
					    "TRITON_OVERRIDE_DIR",
					    "TORCH_COMPILE_DEBUG_DIR",
					    "TORCH_TRACE",
					    "TORCH_DTRACE",
					    "TORCH_LOGS_OUT",
					    "TORCH_HOME",
					    "TORCH_EXTENSIONS_DIR",
					    "_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR",
					    "DUMP_AOTI_MINIFIER",
					    "AOTINDUCTOR_REPRO_LEVEL"};
	return slice_any(name, names, slice_is);
}

static bool plan_is_torch_import(struct slice t)
{
	static const char *const starts[] = {"import torch",   "from torch",       "from functorch", "import functorch",
					     "from functools", "import functools", "from math "};
	return slice_any(t, starts, slice_starts);
}

/* torch 2.13's own lines, which are not about the graph. */
bool plan_is_frame(const struct repro_line *l)
{
	return slice_starts(l->text, "if \"__compile_source__\"") || slice_is(l->name, "isolate_fails_code_str");
}

/* The original graph of the exported program, in the launcher's first lines: not the graph being written. */
static bool is_preview(const struct writer *w, const struct repro_line *l)
{
	const struct repro_line *first = w->r->line;
	if (!w->r->exported.n || l->kind != REPRO_COMMENT)
		return false;
	while (first < l && first->kind == REPRO_COMMENT && !slice_starts(first->text, "#:"))
		first++;
	return first == l || slice_is(l->value, "print(exported_program.graph)");
}

static bool is_kept(const struct writer *w, const struct repro_line *l)
{
	if (is_preview(w, l))
		return false;
	if (slice_starts(l->text, "#:") || slice_is(l->text, "import base64"))
		return !w->alone && l->kind == REPRO_COMMENT;
	if (slice_is(l->text, "from torch.nn import *")) /* written before the class, where it belongs */
		return false;
	if (w->r->old && (l->kind == REPRO_OTHER || (l->kind == REPRO_IMPORT && plan_is_torch_import(l->text))))
		return false;
	if (!w->alone)
		return true;
	return !plan_is_frame(l) && !((l->kind == REPRO_ENV_SET) && repro_env_is_private(l->name));
}

static bool has_line(const struct writer *w, const char *text)
{
	for (size_t i = 0; i < w->r->n_lines; i++)
		if (w->r->line[i].kind == REPRO_IMPORT && slice_is(w->r->line[i].text, text) && is_kept(w, &w->r->line[i]))
			return true;
	return false;
}

static bool is_env(enum repro_line_kind k) { return k == REPRO_ENV_SET || k == REPRO_ENV_POP; }

static bool needs_os(const struct writer *w)
{
	for (size_t i = 0; i < w->r->n_lines; i++)
		if (is_env(w->r->line[i].kind) && is_kept(w, &w->r->line[i]))
			return true;
	return w->alone && has_files(w->p);
}

static bool has_inline(const struct plan *p)
{
	for (size_t i = 0; i < p->n_storages; i++)
		if (p->storage[i].how == PLAN_INLINE)
			return true;
	return false;
}

static bool has_nan(const struct writer *w)
{
	for (size_t i = 0; i < w->r->n_lines; i++)
		if (w->r->line[i].kind == REPRO_IMPORT && slice_starts(w->r->line[i].text, "from math import") &&
		    has_word(w->r->line[i].text, "nan") && is_kept(w, &w->r->line[i]))
			return true;
	return false;
}

static void need(struct writer *w, const char *text)
{
	if (!has_line(w, text))
		buf_addf(w->b, "%s\n", text);
}

/* "toys:toy_compiler": its module. */
struct slice plan_backend_module(const struct repro *r)
{
	const char *colon = r->backend.n && !r->backend_text ? slice_chr(r->backend, ':') : NULL;
	return colon ? slice_of(r->backend.p, (size_t)(colon - r->backend.p)) : SLICE("");
}

/* Does the class name this module ("math.") itself? */
static bool names(const struct writer *w, const char *module)
{
	struct slice rest = buf_slice(&w->code);
	for (const char *p; (p = slice_find(rest, module)) != NULL; rest = slice_of(p + 1, rest.n - (size_t)(p + 1 - rest.p)))
		if (p == w->code.p || !(isalnum((unsigned char)p[-1]) || strchr("._'\"", p[-1])))
			return true;
	return false;
}

/* Imports and names needed by the class, load_args and the foot that the head lacks. */
static void write_imports(struct writer *w)
{
	const struct slice module = w->form == REPRO_AFTER_DYNAMO ? plan_backend_module(w->r) : SLICE("");
	need(w, "import torch");
	need(w, "from torch import tensor, device");
	need(w, "import torch.fx as fx");
	need(w, "from torch._dynamo.testing import rand_strided");
	if (!has_line(w, "from math import inf") && !has_nan(w))
		buf_adds(w->b, "from math import inf, nan\n");
	need(w, w->form == REPRO_AFTER_DYNAMO ? "import torch._dynamo" : "import torch._inductor.inductor_prims");
	if (has_inline(w->p))
		need(w, "import base64");
	if (names(w, "_operator."))
		need(w, "import _operator");
	if (names(w, "math."))
		need(w, "import math");
	need(w, "import torch._dynamo.config");
	need(w, "import torch._inductor.config");
	need(w, "import torch._functorch.config");
	need(w, "import torch.fx.experimental._config");
	if (module.n) {
		LOCAL_BUF b = {0};
		buf_addf(&b, "import %.*s", SL(module));
		need(w, buf_str(&b));
	}
}

static bool is_before_imports(const struct repro_line *l)
{
	return l->kind == REPRO_SYMBOL || l->kind == REPRO_COMMENT || l->kind == REPRO_ENV_SET || l->kind == REPRO_ENV_POP ||
	       slice_is(l->text, "import os");
}

static void write_line(struct writer *w, const struct repro_line *l)
{
	if (l->kind == REPRO_IMPORT && slice_is(l->text, "from math import inf") && !has_nan(w))
		buf_adds(w->b, "from math import inf, nan");
	else
		buf_add_slice(w->b, l->text);
	buf_addc(w->b, '\n');
}

static void write_head(struct writer *w)
{
	const struct repro *r = w->r;
	bool imports = false;
	size_t left_out = 0;
	const struct repro_line *before = NULL;
	for (size_t i = 0; i < w->p->n_symbols; i++)
		buf_addf(w->b, "%.*s = %lld\n", SL(w->p->symbol[i].name), (long long)w->p->symbol[i].value);
	if (needs_os(w))
		need(w, "import os");
	for (size_t i = 0; i < r->n_lines; i++) {
		const struct repro_line *l = &r->line[i];
		left_out += r->old && l->kind == REPRO_OTHER;
		if (!is_kept(w, l))
			continue;
		if (before && before->kind != l->kind && !(is_env(before->kind) && is_env(l->kind)))
			buf_addc(w->b, '\n');
		if (!imports && !is_before_imports(l)) {
			write_imports(w);
			imports = true;
		}
		write_line(w, l);
		before = l;
	}
	if (!imports)
		write_imports(w);
	if (left_out)
		buf_addf(w->b, "#: left out: %zu statement%s of the original's head that torch 2.13 cannot use (pickled config)\n",
			 left_out, plural(left_out));
}

/* ---- load_args ---- */

static const char bytes_helper[] = "def _repro_bytes(reader, data, nbytes, device=None, dtype_hint=None):\n"
				   "    if not hasattr(reader, 'args'):  # it only counts\n"
				   "        return reader.storage(None, nbytes)\n"
				   "    if getattr(reader, 'pbar', None) is not None:\n"
				   "        reader.pbar.update(1)\n"
				   "    data = bytearray(base64.b64decode(data))\n"
				   "    if not data:\n"
				   "        return torch.UntypedStorage(0, device=device or 'cpu')\n"
				   "    storage = torch.frombuffer(data, dtype=torch.uint8).clone().untyped_storage()\n"
				   "    return storage if device is None else storage.to(device=device)\n";

enum { BASE64_LINE = 96 };

void plan_add_base64(struct buf *b, struct slice bytes)
{
	LOCAL_BUF text = {0};
	base64_add(&text, bytes.p, bytes.n);
	if (!text.len)
		buf_adds(b, "''");
	for (size_t at = 0; at < text.len; at += BASE64_LINE) {
		const size_t n = text.len - at < BASE64_LINE ? text.len - at : BASE64_LINE;
		buf_addf(b, "%s'%.*s'", at ? "\n        " : "", (int)n, text.p + at);
	}
}

static void write_storage(struct writer *w, size_t i)
{
	const struct plan_storage *s = &w->p->storage[i];
	buf_addf(w->b, "    buf%zu = ", i);
	if (s->how == PLAN_INLINE) {
		buf_adds(w->b, "_repro_bytes(reader, ");
		plan_add_base64(w->b, s->bytes);
	} else if (s->how == PLAN_RANDOM) {
		buf_adds(w->b, "reader.storage(None");
	} else {
		buf_adds(w->b, "reader.storage(");
		pytext_quote(w->b, s->hash);
	}
	buf_addf(w->b, ", %.*s", SL(s->nbytes));
	const char *colon = slice_chr(s->device, ':');
	if (colon)
		buf_addf(w->b, ", device=device(type='%.*s', index=%.*s)", (int)(colon - s->device.p), s->device.p,
			 (int)(s->device.p + s->device.n - colon - 1), colon + 1);
	else if (s->device.n)
		buf_addf(w->b, ", device=device(type='%.*s')", SL(s->device));
	if (s->dtype_hint.n)
		buf_addf(w->b, ", dtype_hint=torch.%.*s", SL(s->dtype_hint));
	buf_adds(w->b, ")\n");
}

static void write_input(struct writer *w, const struct plan_input *in)
{
	struct buf *b = w->b;
	buf_addf(b, "    reader.%s(", repro_input_word[in->kind]);
	if (in->kind == REPRO_TENSOR)
		buf_addf(b, "buf%u, ", in->storage);
	buf_add_slice(b, in->value);
	buf_adds(b, ")  # ");
	plan_add_clean(b, in->name);
	buf_adds(b, in->guess ? " (shape unknown, guessed)\n" : in->random && w->alone ? " (random values)\n" : "\n");
	if (in->block.n)
		buf_addf(b, "    %.*s\n", SL(in->block));
}

static uint32_t find_input(const struct plan *p, uint32_t original)
{
	for (uint32_t i = 0; i < p->n_inputs; i++)
		if (p->input[i].original == original)
			return i;
	return NONE;
}

static void write_fixup(struct writer *w, const struct repro_fixup *f)
{
	const uint32_t repeats = find_input(w->p, f->repeats), size = find_input(w->p, f->output_size);
	if (repeats == NONE || size == NONE)
		return;
	buf_addf(w->b,
		 "    # Fixup: ensure sum(repeats) == output_size for repeat_interleave\n"
		 "    if hasattr(reader, 'args'):\n"
		 "        _repeats = reader.args[%u]\n"
		 "        _output_size = reader.args[%u]\n"
		 "        if isinstance(_repeats, torch.Tensor) and _repeats.dtype == torch.int64:\n"
		 "            _n = _repeats.numel()\n"
		 "            _repeats.fill_(_output_size // _n)\n"
		 "            _repeats[:_output_size %% _n] += 1\n",
		 repeats, size);
}

static void write_load_args(struct writer *w)
{
	const struct plan *p = w->p;
	FREED bool *done = xcalloc(p->n_storages + 1, sizeof(*done));
	if (has_inline(p))
		buf_addf(w->b, "%s\n", bytes_helper);
	buf_adds(w->b, "def load_args(reader):\n");
	if (!w->how->no_seed)
		buf_addf(w->b, "    torch.manual_seed(%llu)\n", (unsigned long long)w->how->seed);
	else if (!p->n_inputs)
		buf_adds(w->b, "    pass\n");
	for (size_t i = 0; i < p->n_inputs; i++) {
		if (p->input[i].kind == REPRO_TENSOR && !done[p->input[i].storage]) {
			done[p->input[i].storage] = true;
			write_storage(w, p->input[i].storage);
		}
		write_input(w, &p->input[i]);
	}
	for (size_t i = 0; i < w->r->n_fixups; i++)
		write_fixup(w, &w->r->fixup[i]);
	buf_adds(w->b, "load_args._version = 0\n");
}

/* ---- the foot ---- */

static void write_save_dir(struct writer *w)
{
	const struct slice dir = w->p->save_dir;
	if (w->alone && has_files(w->p)) {
		buf_adds(w->b, "os.path.join(os.path.dirname(os.path.abspath(__file__)), ");
		pytext_quote(w->b, w->p->folder);
		buf_addc(w->b, ')');
	} else if (!w->alone && dir.n) {
		pytext_quote(w->b, dir);
	} else {
		buf_adds(w->b, "None");
	}
}

static void quoted_or_none(struct buf *b, struct slice s)
{
	if (s.n)
		pytext_quote(b, s);
	else
		buf_adds(b, "None");
}

/* accuracy=..., command=..., save_dir=... */
static void write_common(struct writer *w, const char *command, const char *between)
{
	const struct repro *r = w->r;
	buf_addf(w->b, "accuracy=%.*s, command=", SL(r->accuracy.n ? r->accuracy : SLICE("False")));
	pytext_quote(w->b, command ? slice_str(command) : w->alone || !r->command.n ? SLICE("run") : r->command);
	buf_addf(w->b, ",%ssave_dir=", between);
	write_save_dir(w);
}

static void write_warnings(struct writer *w)
{
	LOCAL_BUF names = {0}, text = {0};
	if (!w->alone || (!count_inputs(w->p, is_random) && !has_files(w->p)))
		return;
	buf_adds(w->b, "    import sys\n");
	if (count_inputs(w->p, is_random)) {
		input_names(w->p, is_random, &names);
		buf_addf(&text, "repro: WARNING: the values of %s are RANDOM: the original has none", buf_str(&names));
		buf_adds(w->b, "    print(");
		pytext_quote(w->b, buf_slice(&text));
		buf_adds(w->b, ", file=sys.stderr)\n");
	}
	if (has_files(w->p)) {
		buf_adds(w->b, "    if not os.path.isdir(");
		write_save_dir(w);
		buf_adds(w->b,
			 "):\n        print('repro: WARNING: the folder with the inputs is missing, so their values are RANDOM: ' + ");
		write_save_dir(w);
		buf_adds(w->b, ", file=sys.stderr)\n");
	}
}

static void write_tracing(struct writer *w, const char *command)
{
	const struct repro *r = w->r;
	write_common(w, command, " ");
	buf_adds(w->b, ", tracing_mode=");
	pytext_quote(w->b, r->tracing_mode.n ? r->tracing_mode : w->p->symbolic ? SLICE("symbolic") : SLICE("real"));
	buf_adds(w->b, ", check_str=");
	quoted_or_none(w->b, r->check_str);
	if (r->is_inference.n)
		buf_addf(w->b, ", is_inference=%.*s", SL(r->is_inference));
	buf_adds(w->b, ")\n");
}

static void write_statements(struct writer *w, struct slice text)
{
	if (text.n) {
		buf_add_slice(w->b, text);
		buf_addc(w->b, '\n');
	}
}

/* torch's run_repro traces the graph again, and make_fx unpacks all results of flex_attention from its tuple: Inductor's lowering for the
 * CPU has fewer (torch 2.15: IndexError instead of the original failure). */
static const char make_fx_helper[] = "\n\ndef _repro_make_fx(mod, **how):\n"
				     "    \"\"\"Drops unused results of flex_attention, which Inductor may not have.\"\"\"\n"
				     "    import operator\n"
				     "    from torch.fx.experimental.proxy_tensor import make_fx\n"
				     "    def traced(*args):\n"
				     "        gm = make_fx(mod, **how)(*args)\n"
				     "        for node in reversed(gm.graph.nodes):\n"
				     "            if node.target is operator.getitem and not node.users:\n"
				     "                gm.graph.erase_node(node)\n"
				     "        gm.recompile()\n"
				     "        return gm\n"
				     "    return traced\n\n\n";

static void write_aot_foot(struct writer *w)
{
	const bool flex = slice_find(buf_slice(&w->code), "torch.ops.higher_order.flex_attention");
	buf_adds(w->b, flex ? make_fx_helper : "");
	buf_adds(w->b, "if __name__ == '__main__':\n    from torch._dynamo.repro.after_aot import run_repro\n");
	if (flex)
		buf_adds(w->b, "    import torch._dynamo.repro.after_aot as _repro_aot\n    _repro_aot.make_fx = _repro_make_fx\n");
	write_statements(w, w->r->setup);
	write_warnings(w);
	buf_adds(w->b, "    with torch.no_grad():\n        run_repro(mod, load_args, ");
	write_tracing(w, NULL);
	buf_adds(w->b, "        # To run it separately, do \n        # mod, args = run_repro(mod, load_args, ");
	write_tracing(w, "get_args");
	buf_adds(w->b, "        # mod(*args)\n");
	write_statements(w, w->r->teardown);
}

void plan_add_backend(const struct repro *r, struct buf *b)
{
	const struct slice module = plan_backend_module(r);
	if (r->backend_text)
		buf_add_slice(b, r->backend);
	else if (module.n)
		buf_addf(b, "%.*s.%.*s", SL(module), (int)(r->backend.n - module.n - 1), module.p + module.n + 1);
	else if (r->backend.n || r->form == REPRO_AFTER_DYNAMO)
		quoted_or_none(b, r->backend);
	else
		buf_adds(b, "'inductor'");
}

static void write_dynamo_foot(struct writer *w)
{
	buf_adds(w->b, "if __name__ == '__main__':\n    from torch._dynamo.repro.after_dynamo import run_repro\n");
	write_statements(w, w->r->setup);
	write_warnings(w);
	buf_adds(w->b, "    run_repro(mod, load_args, ");
	write_common(w, NULL, "\n        ");
	buf_addf(w->b, ", autocast=%.*s, backend=", SL(w->r->autocast.n ? w->r->autocast : SLICE("False")));
	plan_add_backend(w->r, w->b);
	buf_adds(w->b, ")\n");
	write_statements(w, w->r->teardown);
}

static void write_aoti_foot(struct writer *w)
{
	buf_addf(w->b, "config_patches=%.*s\n", SL(w->r->config_patches.n ? w->r->config_patches : SLICE("None")));
	buf_adds(w->b, "if __name__ == '__main__':\n    from torch._dynamo.repro.aoti import run_repro\n");
	write_statements(w, w->r->setup);
	write_warnings(w);
	buf_adds(w->b,
		 "    from torch._dynamo.debug_utils import InputReader as _repro_reader\n    _repro_inputs = _repro_reader(save_dir=");
	write_save_dir(w);
	buf_adds(w->b, ")\n    _repro_load = load_args(_repro_inputs)\n"
		       "    exported_program = torch.export.export(mod, tuple(_repro_inputs.args), strict=False)\n"
		       "    with torch.no_grad():\n        run_repro(exported_program, config_patches=config_patches, ");
	write_common(w, NULL, " ");
	buf_adds(w->b, ", check_str=");
	quoted_or_none(w->b, w->r->check_str);
	buf_adds(w->b, ")\n");
	write_statements(w, w->r->teardown);
}

/* ---- the whole program ---- */

/* Then fxcode_write itself imports torch.nn's names. */
static bool has_constructors(const struct graph *g)
{
	for (size_t i = 0; i < g->n_attrs; i++)
		if (g->attr[i].kind == GATTR_MODULE)
			return true;
	return false;
}

/* Seeds before __init__, so that its random numbers are the same each time, too. */
static void write_mod(struct writer *w)
{
	if (!w->how->no_seed)
		buf_addf(w->b, "torch.manual_seed(%llu)\n", (unsigned long long)w->how->seed);
	buf_adds(w->b, "mod = Repro()\n");
}

void launcher_text(const struct plan *p, const struct repro *r, const struct repro_program *how, struct buf *b)
{
	struct writer w = {.p = p, .r = r, .how = how, .b = b, .alone = how->style == REPRO_ALONE};
	w.form = r->form == REPRO_GRAPH ? REPRO_AFTER_AOT : r->form;
	fxcode_write(how->graph ? how->graph : &r->graph, FXCODE_RUNNABLE, &w.code);
	if (w.alone)
		write_note(&w);
	write_head(&w);
	buf_adds(b, has_constructors(how->graph ? how->graph : &r->graph) ? "\n" : "\nfrom torch.nn import *\n");
	buf_add_slice(b, buf_slice(&w.code));
	if (w.form == REPRO_AFTER_DYNAMO)
		write_mod(&w);
	buf_addc(b, '\n');
	write_load_args(&w);
	if (w.form == REPRO_AFTER_DYNAMO)
		buf_addc(b, '\n');
	else
		write_mod(&w);
	(w.form == REPRO_AFTER_DYNAMO ? write_dynamo_foot : w.form == REPRO_AOTI ? write_aoti_foot : write_aot_foot)(&w);
	buf_release(&w.code);
}
