/* Programs that run one graph: which form it is, its head, and its foot. */
#include "graph/repro/repro_part.h"
#include "graph/fxcode.h"
#include "graph/repro/graph_json.h"
#include "base/text.h"

static const char *const form_names[] = {"aot", "dynamo", "aot_inductor", "graph"};
const char *repro_form_name(enum repro_form f) { return (size_t)f < ARRAY_LEN(form_names) ? form_names[f] : "unknown"; }

bool has_word(struct slice text, const char *word)
{
	const size_t n = strlen(word);
	for (const char *p; (p = slice_find(text, word)); text = slice_of(p + n, (size_t)(text.p + text.n - p) - n)) {
		const char before = p > text.p ? p[-1] : ' ', after = p + n < text.p + text.n ? p[n] : ' ';
		const bool name_before = is_name_start(before);
		const bool name_after = is_name_start(after);
		if (!name_before && !name_after)
			return true;
	}
	return false;
}

/* ---- statements ---- */

static bool continues(const struct pyline *l)
{
	static const char *const words[] = {"else:", "else ", "elif ", "except:", "except ", "finally:", "finally "};
	return slice_any(l->code, words, slice_starts);
}

/* Takes the block indented under the current line into it->whole; comments in the first column only if more of the block
 * follows. */
static int take_block(struct pytext *t, struct item *it, struct err *err)
{
	struct pytext ahead = *t;
	struct pyline l;
	int r;
	while ((r = pytext_next(&ahead, &l, err)) == 1) {
		if (!l.indent && !l.code.n)
			continue;
		if (!l.indent && !continues(&l))
			break;
		*t = ahead;
		it->whole.n = (size_t)(l.whole.p + l.whole.n - it->whole.p);
	}
	return r < 0 ? -1 : 0;
}

static int next_item(struct pytext *t, struct item *it, struct err *err)
{
	struct pyline l;
	int r = pytext_next(t, &l, err);
	if (r != 1)
		return r;
	*it = (struct item){.first = l, .whole = l.whole, .line = l.line};
	while (r == 1 && slice_starts(it->first.code, "@")) {
		it->decorated = true;
		if ((r = pytext_next(t, &l, err)) == 1) {
			it->first = l;
			it->whole.n = (size_t)(l.whole.p + l.whole.n - it->whole.p);
		}
	}
	if (r < 0 || (r == 1 && pytext_opens(&it->first) && take_block(t, it, err) < 0))
		return -1;
	return 1;
}

/* ---- the head ---- */

/* os.environ['NAME'] = 'VALUE', os.environ.pop('NAME', None) */
static bool take_env(struct repro *r, const struct item *it)
{
	struct slice name, value, inside, callee;
	struct pyarg arg[2];
	bool ok, ok2;
	struct slice code = it->first.code;
	if (!slice_starts(code, "os.environ"))
		return false;
	if (pytext_assign(code, &name, &value)) {
		if (!pytext_inside(slice_of(name.p + 10, name.n - 10), '[', &inside))
			return false;
		struct slice n = take_string(r, inside, &ok), v = take_string(r, value, &ok2);
		if (!ok || !ok2)
			return false;
		struct repro_line *l = repro_add_line(r, REPRO_ENV_SET, it->whole);
		l->name = n;
		l->value = v;
		return true;
	}
	if (!pytext_call(code, &callee, &inside) || !slice_is(callee, "os.environ.pop") || pytext_args(inside, arg, 2) < 1)
		return false;
	struct slice n = take_string(r, arg[0].value, &ok);
	if (ok)
		repro_add_line(r, REPRO_ENV_POP, it->whole)->name = n;
	return ok;
}

static bool is_config(struct slice name)
{
	return slice_starts(name, "torch.") && slice_chr(name, '[') == NULL &&
	       (slice_find(name, ".config.") || slice_find(name, "._config."));
}

static bool take_assign(struct repro *r, const struct item *it)
{
	struct slice name, value;
	uint64_t v;
	if (!pytext_assign(it->first.code, &name, &value))
		return false;
	enum repro_line_kind kind = is_config(name)                                       ? REPRO_CONFIG
				    : sym_kind(name) != SYM_OTHER && slice_u64(value, &v) ? REPRO_SYMBOL
											  : REPRO_OTHER;
	struct repro_line *l = repro_add_line(r, kind, it->whole);
	l->name = name;
	l->value = value;
	return true;
}

static void take_comment(struct repro *r, const struct item *it)
{
	struct slice c = it->first.comment;
	struct repro_line *l = repro_add_line(r, REPRO_COMMENT, it->whole);
	l->value = c;
	if (slice_starts(c, "torch version: ") && !r->torch_version.n)
		r->torch_version = slice_trim(slice_of(c.p + 15, c.n - 15));
}

/* "def kernel_0(x):" of "@triton.jit" */
static struct slice def_name(struct slice code)
{
	code = slice_trim(slice_of(code.p + 4, code.n - 4));
	size_t n = 0;
	while (n < code.n && code.p[n] != '(' && code.p[n] != ' ')
		n++;
	return slice_of(code.p, n);
}

static void take_other(struct repro *r, const struct item *it)
{
	struct slice code = it->first.code, callee, inside;
	const bool def = slice_starts(code, "def ");
	const bool kernel = def && it->decorated && slice_find(it->whole, "@triton.");
	struct repro_line *l = repro_add_line(r, kernel ? REPRO_TRITON : REPRO_OTHER, it->whole);
	if (def)
		l->name = def_name(code);
	else if (pytext_call(code, &callee, &inside))
		l->name = callee;
}

static bool is_import(struct slice code) { return slice_starts(code, "import ") || slice_starts(code, "from "); }

static void take_head(struct repro *r, const struct item *it)
{
	const size_t n = r->n_lines;
	if (!it->first.code.n)
		take_comment(r, it);
	else if (is_import(it->first.code))
		repro_add_line(r, REPRO_IMPORT, it->whole);
	else if (!take_env(r, it) && !take_assign(r, it))
		take_other(r, it);
	if (r->n_lines > n)
		r->line[n].line = it->line;
}

/* ---- the foot ---- */

/* "my_backend" imported by name in the head: "module:my_backend". */
static struct slice imported(struct repro *r, struct slice name)
{
	LOCAL_BUF b = {0};
	struct slice found = name;
	for (size_t i = 0; i < r->n_lines && found.p == name.p; i++) {
		struct slice t = r->line[i].text;
		const char *at = r->line[i].kind == REPRO_IMPORT && slice_starts(t, "from ") ? slice_find(t, " import ") : NULL;
		struct slice what = at ? slice_trim(slice_of(at + 8, (size_t)(t.p + t.n - at) - 8)) : SLICE("");
		if (!at || !slice_eq(what, name))
			continue;
		buf_add_slice(&b, slice_trim(slice_of(t.p + 5, (size_t)(at - t.p) - 5)));
		buf_addc(&b, ':');
		buf_add_slice(&b, name);
		found = repro_keep(r, buf_slice(&b));
	}
	return found;
}

static void take_backend(struct repro *r, struct slice value)
{
	bool ok;
	struct slice s = take_string(r, value, &ok);
	if (ok || slice_is(value, "None")) {
		r->backend = s;
		return;
	}
	const char *dot = NULL;
	for (size_t i = 0; i < value.n; i++)
		dot = value.p[i] == '.' ? value.p + i : dot;
	r->backend = imported(r, value);
	if (pytext_dotted(value) && dot && r->backend.p == value.p) {
		r->backend = arena_slice(&r->arena, value);
		((char *)r->backend.p)[dot - value.p] = ':';
	}
	r->backend_text = !slice_chr(r->backend, ':');
}

/* A string; or repro_text's form for a folder beside the program: os.path.join(os.path.dirname(...), 'repro.data'). */
static struct slice take_save_dir(struct repro *r, struct slice value)
{
	struct slice callee, inside;
	struct pyarg arg[2];
	if (pytext_call(value, &callee, &inside) && slice_is(callee, "os.path.join") && slice_find(inside, "__file__") &&
	    pytext_args(inside, arg, 2) == 2)
		value = arg[1].value;
	return take_string(r, value, NULL);
}

static void take_run(struct repro *r, struct slice inside)
{
	const struct {
		const char *name;
		struct slice *to;
		bool string;
	} fields[] = {{"accuracy", &r->accuracy, false},        {"command", &r->command, true},    {"tracing_mode", &r->tracing_mode, true},
		      {"check_str", &r->check_str, true},       {"autocast", &r->autocast, false}, {"only_fwd", &r->only_fwd, false},
		      {"is_inference", &r->is_inference, false}};
	struct pyarg a;
	while (pytext_arg(&inside, &a) == 1) {
		for (size_t i = 0; i < ARRAY_LEN(fields); i++)
			if (slice_is(a.name, fields[i].name))
				*fields[i].to = fields[i].string ? take_string(r, a.value, NULL) : a.value;
		if (slice_is(a.name, "save_dir"))
			r->save_dir = take_save_dir(r, a.value);
		if (slice_is(a.name, "backend"))
			take_backend(r, a.value);
	}
}

static void extend(struct slice *to, const struct pyline *l)
{
	if (!to->n)
		to->p = l->whole.p;
	to->n = (size_t)(l->whole.p + l->whole.n - to->p);
}

static void foot_form(struct reading *s, struct slice text)
{
	if (slice_find(text, "repro.after_dynamo"))
		s->r->form = REPRO_AFTER_DYNAMO;
	else if (slice_find(text, "repro.aoti"))
		s->r->form = REPRO_AOTI;
	else
		s->r->form = REPRO_AFTER_AOT;
}

static bool is_run(struct slice code, struct slice *inside)
{
	struct slice name, callee;
	pytext_assign(code, &name, &code);
	return pytext_call(code, &callee, inside) && (slice_is(callee, "run_repro") || slice_ends(callee, ".run_repro"));
}

/* Our own lines in the foot, which repro_text writes again. */
static bool is_frame(const struct pyline *l)
{
	static const char *const starts[] = {"with torch.no_grad()", "if __name__",           "print(", "import os",
					     "import sys",           "if not os.path.isdir(", "_repro", "exported_program = "};
	return slice_any(l->code, starts, slice_starts) || !l->code.n || (is_import(l->code) && slice_find(l->code, "_repro"));
}

static int read_main(struct reading *s, const struct item *it)
{
	struct pytext t = part_text(s, it->whole, it->line);
	struct pyline l;
	struct slice inside;
	bool run = false;
	int r;
	foot_form(s, it->whole);
	while ((r = pytext_next(&t, &l, s->err)) == 1) {
		if (is_run(l.code, &inside)) {
			take_run(s->r, inside);
			run = true;
		} else if (!is_frame(&l) && l.indent <= 4) {
			extend(run ? &s->r->teardown : &s->r->setup, &l);
		}
	}
	if (r == 0 && !run)
		return bad_line(s, it->line, "no call of run_repro: not a program written by torch's minifier");
	s->has_repro = true;
	return r;
}

static int take_version(struct reading *s, const struct item *it, struct slice value)
{
	if (slice_is(value, "0"))
		return 0;
	return bad_line(s, it->line, "load_args has version %.*s; only version 0 is supported", SLN(value, 40));
}

static int take_exported(struct reading *s, struct slice value)
{
	struct slice callee, inside;
	struct pyarg a;
	if (pytext_call(value, &callee, &inside) && slice_is(callee, "torch.export.load") && pytext_args(inside, &a, 1) >= 1)
		s->r->exported = take_string(s->r, a.value, NULL);
	return 0;
}

/* Reads a statement of the foot outside the main block; 1: consumed. */
static int take_foot(struct reading *s, const struct item *it)
{
	struct slice code = it->first.code, name, value, inside;
	if (slice_starts(code, "if __name__"))
		return s->has_main = true, read_main(s, it) < 0 ? -1 : 1;
	if (slice_starts(code, "def load_args("))
		return s->args_item = *it, 1;
	if (is_run(code, &inside))
		return read_main(s, it) < 0 ? -1 : 1;
	if (!pytext_assign(code, &name, &value)) /* load_args sets its own seed */
		return slice_starts(code, "args.append(") || slice_starts(code, "torch.manual_seed(") ? 1 : 0;
	if (slice_is(name, "load_args._version"))
		return take_version(s, it, value) < 0 ? -1 : 1;
	if (slice_is(name, "exported_program"))
		return take_exported(s, value) < 0 ? -1 : 1;
	if (slice_is(name, "config_patches"))
		return s->r->config_patches = value, 1;
	if (slice_is(name, "args") && !s->first_args)
		s->first_args = it->line;
	return 0;
}

static bool is_class(const struct item *it)
{
	struct slice code = it->first.code;
	return (slice_starts(code, "class ") && slice_find(it->whole, "def forward(")) || slice_starts(code, "def forward(");
}

static int take_item(struct reading *s, const struct item *it)
{
	struct repro *r = s->r;
	/* The last one is run: torch 2.14 writes classes of subgraphs before it. */
	if ((!s->class_item.whole.p || (!s->args_item.whole.p && !s->first_args)) && is_class(it)) {
		const char *after = it->whole.p + it->whole.n;
		s->class_item = *it;
		r->foot = slice_of(after, (size_t)(s->text.p + s->text.n - after));
		return 0;
	}
	const int taken = take_foot(s, it);
	if (taken)
		return taken < 0 ? -1 : 0;
	/* A line of the foot matters to the head only if it sets something. */
	if (!s->class_item.whole.p || slice_starts(it->first.code, "torch.") || slice_starts(it->first.code, "os.environ"))
		take_head(r, it);
	return 0;
}

/* ---- the graph ---- */

static int read_graph(struct reading *s)
{
	if (s->class_item.whole.p)
		return fxcode_read(&s->r->graph, s->text, s->path, s->err);
	if (s->r->form == REPRO_AOTI) /* the class is a comment, without shapes and values: the package has all of it */
		return 0;
	return err_set(s->err, EXIT_INPUT, "'%s' has no class with a forward() and is not a graph.json: nothing to run", s->path);
}

static int read_inputs(struct reading *s)
{
	struct repro *r = s->r;
	if (!s->class_item.whole.p) /* an AOTI launcher */
		return 0;
	if (s->args_item.whole.p)
		return read_load_args(s) < 0 ? -1 : repro_join(r, s->err);
	if (s->first_args && !s->has_repro)
		return read_old(s) < 0 ? -1 : repro_join(r, s->err);
	if (r->form == REPRO_AOTI)
		return 0;
	if (s->has_repro)
		return err_set(s->err, EXIT_INPUT, "'%s' has no load_args: the file is truncated or was edited", s->path);
	r->form = REPRO_GRAPH;
	return repro_inputs_from_graph(r, s->err);
}

static int read_program(struct reading *s)
{
	struct item it;
	int r;
	s->at = (struct pytext){.text = s->text, .name = s->path};
	while ((r = next_item(&s->at, &it, s->err)) == 1)
		if (take_item(s, &it) < 0)
			return -1;
	return r < 0 || read_graph(s) < 0 ? -1 : read_inputs(s);
}

/* A bare package: the same as its launcher. */
static int read_package_file(struct repro *r, const char *path, struct err *err)
{
	r->form = REPRO_AOTI;
	r->exported = r->path;
	r->command = SLICE("run");
	r->accuracy = SLICE("False");
	r->config_patches = SLICE("{'aot_inductor.package': True}"); /* set by aoti_compile_and_package, but not by run_repro */
	return repro_read_package(r, path, err);
}

int repro_read(struct repro *r, struct slice text, const char *path, struct err *err)
{
	struct reading s = {.r = r, .text = text, .path = path, .err = err};
	struct slice start = slice_trim(text);
	r->path = repro_keep(r, slice_str(path));
	r->dir = repro_keep(r, strchr(path, '/') ? path_folder(path) : SLICE(""));
	int rc;
	if (slice_starts(text, "PK\3\4")) {
		r->package.bytes = text;
		rc = read_package_file(r, path, err);
	} else if (start.n && start.p[0] == '{') {
		rc = graph_json_read(r, text, path, err);
	} else if (text.n && slice_chr(text, '\0')) {
		rc = err_set(err, EXIT_INPUT, "'%s' is not a Python program: it contains NUL bytes", path);
	} else {
		rc = read_program(&s);
	}
	if (rc < 0)
		repro_release(r);
	return rc;
}

int repro_open(struct repro *r, const char *path, struct err *err)
{
	struct mapfile f;
	if (mapfile_open(&f, path, err) < 0)
		return -1;
	if (slice_starts(f.bytes, "PK\3\4"))
		r->package = f;
	else
		r->file = f;
	int rc = repro_read(r, f.bytes, f.path, err);
	if (rc == 0 && r->form == REPRO_AOTI && !r->graph.n_modules && (rc = repro_open_exported(r, err)) < 0)
		repro_release(r);
	return rc;
}
