/* packsource.c - the program of a bundle: its file, and the files beside and below it that it needs. */
#include "report/bundle.h"

#include "base/srcloc.h"
#include "base/text.h"

#include <sys/stat.h>
#include <unistd.h>

enum { SOURCES = 400, SOURCE_BYTES = 4 << 20 };

struct gather {
	struct pack *p;
	struct intern paths; /* in the order they were found */
	struct slice root;   /* the program's folder, with a slash */
};

_Noreturn void pack_fail(struct pack *p, const struct err *err)
{
	bundle_abort(p->w);
	die_err(err);
}

struct slice pack_safe(struct pack *p, struct slice text)
{
	if (!p->how->redact)
		return text;
	buf_reset(&p->tmp);
	redact_add(&p->r, &p->tmp, text);
	return buf_slice(&p->tmp);
}

void pack_text(struct pack *p, enum bundle_kind kind, const char *name, struct slice text, struct slice about)
{
	struct err err;
	if (bundle_add(p->w, kind, name, pack_safe(p, text), about, &err) < 0)
		pack_fail(p, &err);
}

static bool is_source(struct slice path)
{
	struct stat st;
	if (!slice_ends(path, ".py") || path.n > 4000 || slice_chr(path, 0) || srcloc_origin(path) != SRCLOC_USER)
		return false;
	FREED char *name = xstrndup(path.p, path.n);
	return stat(name, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SOURCE_BYTES;
}

static void add_path(struct gather *g, struct slice path)
{
	if (g->paths.n < SOURCES && slice_starts(path, "/") && path.n > g->root.n && !memcmp(path.p, g->root.p, g->root.n) &&
	    !slice_find(path, "/../") && is_source(path))
		intern_add(&g->paths, path);
}

/* "a.b" below a folder (with its slash): a/b.py, a/b/__init__.py, and those of the packages above it. ".a" in a file is relative to the
 * file's folder, "..a" to the one above. */
static void add_module(struct gather *g, struct slice name, struct slice file)
{
	LOCAL_BUF path = {0};
	struct slice folder = g->root;
	if (name.n && *name.p == '.')
		folder = slice_of(file.p, file.n - slice_base(file).n);
	for (; name.n && *name.p == '.'; name = slice_of(name.p + 1, name.n - 1))
		if (name.n > 1 && name.p[1] == '.')
			folder.n -= folder.n ? slice_base(slice_of(folder.p, folder.n - 1)).n + 1 : 0;
	buf_add_slice(&path, folder);
	for (size_t i = 0; i <= name.n; i++) {
		if (i < name.n && name.p[i] != '.') {
			buf_addc(&path, name.p[i]);
			continue;
		}
		size_t at = path.len;
		const bool whole = at && path.p[at - 1] != '/'; /* "." alone is the package itself */
		buf_adds(&path, ".py");
		add_path(g, whole ? buf_slice(&path) : SLICE(""));
		buf_cut(&path, at);
		buf_adds(&path, whole ? "/__init__.py" : "__init__.py");
		add_path(g, buf_slice(&path));
		buf_cut(&path, at);
		buf_addc(&path, '/');
	}
}

static size_t name_length(struct slice s)
{
	size_t n = 0;
	while (n < s.n && (is_name_char(s.p[n]) || s.p[n] == '.'))
		n++;
	return n;
}

/* "import a.b, c" and "from a.b import c": recognised by their first words. */
static void add_imports(struct gather *g, struct slice text, struct slice file)
{
	struct slice line;
	while (slice_line(&text, &line)) {
		struct slice s = slice_trim(line);
		bool from = slice_starts(s, "from ");
		if (!from && !slice_starts(s, "import "))
			continue;
		s = slice_trim(slice_behind(s, " "));
		size_t n = name_length(s);
		struct slice module = slice_of(s.p, n), names = from ? slice_behind(s, " import ") : slice_of(NULL, 0);
		add_module(g, module, file);
		while (from && names.p) { /* "from a import b": b may be a file of a's */
			names = slice_trim(names);
			n = name_length(names);
			LOCAL_BUF both = {0};
			const char *dot = module.n && module.p[module.n - 1] == '.' ? "" : ".";
			buf_addf(&both, "%.*s%s%.*s", SL(module), dot, (int)n, names.p);
			add_module(g, buf_slice(&both), file);
			names = slice_behind(names, ",");
		}
		while (!from && (s = slice_behind(s, ",")).p) {
			s = slice_trim(s);
			add_module(g, slice_of(s.p, name_length(s)), file);
		}
	}
}

/* ---- which program ---- */

/* The frames after the last one that executes code from a string: those above are a launcher (runpy, cProfile). */
static struct slice behind_launcher(struct slice stack)
{
	struct slice rest = stack;
	struct srcloc at;
	while (explain_frame(&rest, &at))
		if (slice_find(at.code, "exec("))
			stack = rest;
	return stack;
}

/* The user's innermost module frame; in a text with tracebacks, the first. */
static struct slice module_of(struct slice stack, bool innermost)
{
	struct srcloc at;
	struct slice found = {0};
	while ((innermost || !found.p) && srcloc_next(&stack, &at))
		if (slice_is(at.func, "<module>") && slice_starts(at.file, "/") && is_source(at.file))
			found = at.file;
	return found;
}

/* From the traceback at the end of the run's output; else from where compilations started. A failed compilation has no module frame. */
static char *program_of_log(const struct explanation *x)
{
	struct slice found = {0};
	const struct facts *f = x->facts;
	for (uint32_t i = 0; i < f->n_input; i++) {
		struct slice path = facts_text(f, f->input[i].file);
		OWNED(mapfile_close) struct mapfile m = {0};
		if (f->input[i].kind != FACT_TEXTLOG || !path.n)
			continue;
		char *name = xstrndup(path.p, path.n), *program = NULL;
		if (mapfile_open(&m, name, NULL) == 0) {
			found = module_of(m.bytes, false);
			program = found.p ? xstrndup(found.p, found.n) : NULL;
		}
		free(name);
		if (program)
			return program;
	}
	for (uint32_t i = 0; i < f->n_compile && !found.p; i++)
		found = module_of(behind_launcher(facts_text(f, f->compile[i].stack)), true);
	for (uint32_t i = 0; i < f->n_compile && !found.p; i++) {
		struct slice stack = behind_launcher(facts_text(f, f->compile[i].stack));
		struct srcloc at;
		if (srcloc_next(&stack, &at) && slice_starts(at.file, "/") && is_source(at.file))
			found = at.file;
	}
	return found.p ? xstrndup(found.p, found.n) : NULL;
}

/* The first argument that is a Python file; *rest: how many come before the program's arguments. */
static const char *program_of_command(const char *const *command, size_t *rest)
{
	for (size_t i = 0; command && command[i]; i++)
		if (slice_ends(slice_str(command[i]), ".py") && access(command[i], R_OK) == 0) {
			*rest = i + 1;
			return command[i];
		}
	return NULL;
}

static void take_arguments(struct pack *p, const char *const *argument)
{
	size_t n = 0;
	while (argument[n])
		n++;
	struct slice *v = xcalloc(n + 1, sizeof(*v));
	for (size_t i = 0; i < n; i++)
		v[i] = slice_str(argument[i]);
	p->argument = v;
	p->n_argument = n;
}

static char *find_program(struct pack *p)
{
	size_t rest = 0;
	const char *named = p->how->repro ? p->how->repro : program_of_command(p->o->command, &rest);
	char *path = named ? realpath(named, NULL) : NULL;
	if (named && !p->how->repro)
		take_arguments(p, p->o->command + rest);
	return path || p->o->command ? path : program_of_log(p->x);
}

/* ---- into the bundle ---- */

static void add_source(struct gather *g, uint32_t i)
{
	OWNED(mapfile_close) struct mapfile m = {0};
	struct err err;
	struct slice path = intern_get(&g->paths, i);
	FREED char *from = xstrndup(path.p, path.n);
	FREED char *name = xasprintf("program/%s", from + g->root.n);
	if (mapfile_open(&m, from, &err) < 0) {
		bundle_leave_out(g->p->w, slice_str(name), slice_str(err.text));
	} else {
		pack_text(g->p, i ? BUNDLE_SOURCE : BUNDLE_PROGRAM, name, m.bytes, SLICE(""));
	}
}

static void read_imports(struct gather *g, uint32_t i)
{
	OWNED(mapfile_close) struct mapfile m = {0};
	struct slice path = intern_get(&g->paths, i);
	FREED char *from = xstrndup(path.p, path.n);
	if (mapfile_open(&m, from, NULL) == 0)
		add_imports(g, m.bytes, path);
}

void pack_sources(struct pack *p)
{
	FREED char *program = find_program(p);
	if (p->how->redact && !p->how->repro) {
		if (program)
			bundle_leave_out(p->w, SLICE("program"), SLICE("left out when redacting: --repro=FILE adds one"));
		return;
	}
	if (!program)
		return;
	struct gather g = {.p = p, .root = slice_of(program, (size_t)(path_base(program) - program))};
	add_path(&g, slice_str(program));
	if (g.paths.n && !p->how->repro) {
		const struct intern *names = &p->x->facts->names;
		for (uint32_t i = 0; i < names->n; i++) {
			struct slice text = intern_get(names, i);
			struct srcloc at;
			add_path(&g, text);
			while (text.n > 8 && slice_find(text, ".py") && srcloc_next(&text, &at))
				add_path(&g, at.file);
		}
	}
	for (uint32_t i = 0; i < g.paths.n; i++)
		read_imports(&g, i);
	for (uint32_t i = 0; i < g.paths.n; i++)
		add_source(&g, i);
	p->program = g.paths.n > 0;
	if (!p->program)
		bundle_leave_out(p->w, slice_str(path_base(program)), SLICE("not a readable Python file of the user"));
	intern_release(&g.paths);
}
