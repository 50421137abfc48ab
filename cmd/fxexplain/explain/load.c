/* load.c - recognises operands and reads them into the facts. */
#include "explain/explain.h"

#include "explain/alive.h"

#include "base/tool/diag.h"
#include "run/diagnose/locate.h"
#include "run/patterns/patterns.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"
#include "run/trace/trace.h"
#include "run/debugdir/debugdir.h"
#include "run/textlog/textlog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_dir(const char *path)
{
	struct stat st;
	return strcmp(path, "-") && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A folder made by TORCH_COMPILE_DEBUG, or one inside it: debugdir.c finds the rest. */
static bool has_debug_files(const char *path)
{
	static const char *const sign[] = {"torch_compile_debug",  "torchinductor",     "torchdynamo",        "fx_graph_readable.py",
					   "fx_graph_runnable.py", "ir_pre_fusion.txt", "ir_post_fusion.txt", "output_code.py"};
	DIR *d = opendir(path);
	bool found = false;
	if (!d)
		return false;
	for (struct dirent *e; !found && (e = readdir(d));) {
		struct slice name = slice_str(e->d_name);
		found = slice_starts(name, "run_") || slice_any(name, sign, slice_is);
	}
	closedir(d);
	return found;
}

enum operand_kind operand_kind(const char *path)
{
	char head[4096];
	if (is_dir(path))
		return has_debug_files(path) ? OPERAND_DEBUGDIR : OPERAND_DIR;
	if (!strcmp(path, "-"))
		return OPERAND_TEXT;
	size_t n = input_head(path, head, sizeof(head));
	if (!n && input_failed_here())
		die_errno(EXIT_INPUT, "cannot read '%s'", path);
	struct slice s = slice_of(head, n);
	if (n >= 18 && !memcmp(head, "\177ELF", 4))
		return head[16] == 4 ? OPERAND_CORE : OPERAND_PACKAGE;
	if (slice_starts(s, "PK\3\4"))
		return OPERAND_PACKAGE;
	if (trace_is_log(path)) {
		if (input_failed_here())
			die_errno(EXIT_INPUT, "cannot read '%s'", path);
		return OPERAND_TRACE;
	}
	s = slice_trim(s);
	if (slice_starts(s, "{") && slice_find(s, "\"traceEvents\""))
		return OPERAND_PROFILE;
	if (slice_starts(s, "{") && (slice_find(s, "\"schemaVersion\"") || slice_find(s, "\"deviceProperties\"")))
		return OPERAND_PROFILE;
	if (slice_starts(s, "[") && slice_find(s, "\"ph\""))
		return OPERAND_PROFILE;
	return slice_starts(s, "{") ? OPERAND_JSON : OPERAND_TEXT;
}

/* ---- into the facts ---- */

/* Where operands go. */
struct load {
	struct facts *f;
	struct page *page; /* --html; NULL */
	struct facts_options o;
	bool quiet;
	unsigned *lost;
};

static int add_file(const struct load *l, const char *path, enum operand_kind kind, struct err *err)
{
	struct facts *f = l->f;
	const struct facts_options *o = &l->o;
	switch (kind) {
	case OPERAND_TRACE: return l->page ? page_add(l->page, path, o, NULL, err) : facts_add_trace(f, path, o, err);
	case OPERAND_DEBUGDIR: return facts_add_debugdir(f, path, o, err);
	case OPERAND_PROFILE: return err_set(err, EXIT_USAGE, "'%s' is a profile: fxexplain profile %s", path, path);
	case OPERAND_PACKAGE:
		return err_set(err, EXIT_USAGE,
			       "'%s' is a compiled model, without a log of its compilation: fxexplain kernel %s lists its "
			       "kernels, aoti-checkinputs %s what it expects",
			       path, path, path);
	case OPERAND_CORE: return err_set(err, EXIT_USAGE, "'%s' is a core file: fxexplain crash %s MODEL", path, path);
	default: return facts_add_textlog(f, path, o, err);
	}
}

/* Input that cannot be read twice (a pipe) is copied to an unnamed file, so that its kind can be recognised. -1: error. */
static int pipe_file(const char *path, struct err *err)
{
	static char chunk[1 << 16];
	int from = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO, to;
	ssize_t n = 0;
	if (from < 0)
		return err_errno(err, EXIT_INPUT, "cannot open '%s'", path);
	int status = 0;
	if ((to = temp_file(err)) < 0)
		status = -1;
	while (status == 0 && ((n = read(from, chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			status = write_all(to, chunk, (size_t)n, "a temporary file", err);
	if (status == 0 && n < 0)
		status = err_errno(err, EXIT_INPUT, "cannot read '%s'", path);
	if (from != STDIN_FILENO)
		close(from);
	if (status < 0 && to >= 0)
		close(to);
	return status < 0 ? -1 : to;
}

static int add_pipe(const struct load *l, const char *path, struct err *err)
{
	struct facts *f = l->f;
	int fd = pipe_file(path, err);
	if (fd < 0)
		return -1;
	FREED char *name = xasprintf("/proc/self/fd/%d", fd);
	uint32_t first = f->n_input;
	int status = add_file(l, name, operand_kind(name), err);
	for (uint32_t i = first; i < f->n_input; i++) {
		f->input[i].file = NONE;
		f->input[i].path = facts_intern(f, strcmp(path, "-") ? slice_str(path) : SLICE("(standard input)"));
	}
	close(fd);
	return status;
}

void operands_keep_pipes(struct operands *in)
{
	static struct arena names; /* never released, like the files */
	struct err err;
	struct stat st;
	for (int i = 0; i < in->n; i++) {
		if (!strcmp(in->v[i], "-") || stat(in->v[i], &st) < 0 || !S_ISFIFO(st.st_mode))
			continue;
		int fd = pipe_file(in->v[i], &err); /* open until the end */
		if (fd < 0)
			die_err(&err);
		char name[64];
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		in->v[i] = arena_strndup(&names, name, strlen(name));
	}
}

static int by_version(const void *a, const void *b) { return strverscmp(*(char *const *)a, *(char *const *)b); }

struct names {
	char **v;
	size_t n, cap;
};

static int list_dir(const char *dir, struct names *names, struct err *err)
{
	DIR *d = opendir(dir);
	if (!d)
		return err_errno(err, EXIT_INPUT, "cannot read directory '%s'", dir);
	for (struct dirent *e; (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		PUSH_TO(names->v, names->n, names->cap) = xasprintf("%s/%s", dir, e->d_name);
	}
	closedir(d);
	if (names->n)
		qsort(names->v, names->n, sizeof(*names->v), by_version);
	return 0;
}

/* Adds the traces and debug folders in a folder; if there are none, its texts. */
static int add_dir(const struct load *l, const char *dir, struct err *err)
{
	struct names names = {0};
	unsigned found = 0;
	int status = list_dir(dir, &names, err);
	FREED enum operand_kind *kind = xcalloc(names.n + 1, sizeof(*kind));
	for (size_t i = 0; i < names.n; i++) {
		struct stat st;
		bool known = stat(names.v[i], &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
		kind[i] = known ? operand_kind(names.v[i]) : OPERAND_DIR;
	}
	for (int texts = 0; status == 0 && texts < 2 && !found; texts++)
		for (size_t i = 0; i < names.n; i++) {
			if (texts ? kind[i] != OPERAND_TEXT : kind[i] != OPERAND_TRACE && kind[i] != OPERAND_DEBUGDIR)
				continue;
			if (add_file(l, names.v[i], kind[i], err) < 0) {
				if (!l->quiet)
					warn("%s", err->text);
				++*l->lost;
			} else {
				found++;
			}
		}
	if (status == 0 && !found)
		status = err_set(err, EXIT_INPUT,
				 "nothing to explain in '%s': no trace (TORCH_TRACE=DIR), debug folder "
				 "(TORCH_COMPILE_DEBUG=1) or text",
				 dir);
	for (size_t i = 0; i < names.n; i++)
		free(names.v[i]);
	free(names.v);
	return status;
}

static int add_operand(const struct load *l, const char *path, struct err *err)
{
	struct stat st;
	if (!strcmp(path, "-") || (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return add_pipe(l, path, err);
	enum operand_kind kind = operand_kind(path);
	return kind == OPERAND_DIR ? add_dir(l, path, err) : add_file(l, path, kind, err);
}

/* Reading the same file twice would count everything twice. */
static bool given_before(struct intern *given, const char *path)
{
	struct stat st;
	if (!strcmp(path, "-") || stat(path, &st) < 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return false;
	uint64_t key[] = {st.st_dev, st.st_ino};
	uint32_t before = given->n;
	return intern_add(given, slice_of((const char *)key, sizeof(key))) < before;
}

int load_operands(struct facts *f, struct page *page, const struct explain_options *opt, const char *const *path, int n, unsigned *lost,
		  struct err *err)
{
	struct patterns *known = patterns_load(opt->patterns, err);
	if (!known)
		return -1;
	const struct load l = {
	    .f = f,
	    .page = page,
	    .o = {.keep_graphs = (opt->show >> PART_GRAPHS & 1) || opt->keep_graphs,
		  .keep_guards = opt->show >> PART_GUARDS & 1,
		  .keys = opt->keys,
		  .patterns = known},
	    .quiet = opt->quiet,
	    .lost = lost,
	};
	OWNED(intern_release) struct intern given = {0};
	int status = 0;
	for (int i = 0; status == 0 && i < n; i++) {
		if (given_before(&given, path[i])) {
			if (!opt->quiet)
				warn("'%s' is given twice: read once", path[i]);
			continue;
		}
		if (add_operand(&l, path[i], err) == 0)
			continue;
		if (n == 1 || err->status == EXIT_USAGE) {
			status = -1;
		} else {
			warn("%s", err->text);
			++*lost;
		}
	}
	for (uint32_t i = 0; i < f->n_input; i++)
		alive_tell(f, i);
	for (uint32_t i = 0; status == 0 && i < f->n_input; i++)
		if (f->input[i].unread) {
			struct slice name = facts_text(f, f->input[i].path);
			warn("cannot read '%.*s' to the end: %s: only the part before that is explained", SL(name), f->input[i].unread);
			++*lost;
		}
	patterns_free(known);
	if (status == 0 && !f->n_input)
		status = err_set(err, EXIT_INPUT, "nothing could be read");
	if (status == 0) {
		facts_one_run(f);
		facts_finish(f);
		locate_nodes(f);
	}
	return status;
}
