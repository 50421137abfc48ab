/* program.c - runs a program that fails, keeps the graph that failed, and reduces it (program.h). */
#include "program.h"

#include "base/html/html.h"
#include "base/io/jsonfile.h"
#include "base/io/mapfile.h"
#include "base/json.h"
#include "base/process/child.h"
#include "base/process/fairtime.h"
#include "base/text.h"
#include "base/tool/diag.h"
#include "base/tool/output.h"
#include "run/kept/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 1000
#define TELL_SECONDS 30

struct program {
	const struct fxminify_options *o;
	char *const *command;
	const char *folder;
	char *site;          /* "PYTHONPATH=..." */
	char *file, *beside; /* the program, and its folder; NULL */
	struct arena arena;
	struct child_result r;
	bool hung, compiled;    /* compiled: there was a graph */
	bool told;              /* that what is being done now takes long */
	double since;           /* of what is being done now: look_for_hang() */
	struct fair_time spent; /* on it */
	struct caught caught;
};

/* ---- the hook ---- */

static char *make_site(const char *folder, struct err *err)
{
	static const char *const part[] = {"jit/after_import.py",  "fxminify/compare.py", "fxminify/changes.py",
					   "fxminify/packages.py", "fxminify/eager.py",   "fxminify/catch.py"};
	FREED char *dir = xasprintf("%s/site", folder), *path = xasprintf("%s/sitecustomize.py", dir);
	const char *old = getenv("PYTHONPATH");
	struct slice text[ARRAY_LEN(part)];
	for (size_t i = 0; i < ARRAY_LEN(part); i++)
		text[i] = share_file(part[i]);
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		err_errno(err, EXIT_ENVIRON, "cannot create '%s'", dir);
	else if (output_write(path, text, ARRAY_LEN(text), err) == 0)
		return xasprintf("PYTHONPATH=%s%s%s", dir, old && *old ? ":" : "", old && *old ? old : "");
	return NULL;
}

/* ---- what it left ---- */

static char **list_files(const char *folder, const char *start, size_t *n)
{
	DIR *dir = opendir(folder);
	char **v = NULL;
	size_t cap = 0;
	*n = 0;
	for (struct dirent *e; dir && (e = readdir(dir));)
		if (slice_starts(slice_str(e->d_name), start) && !slice_ends(slice_str(e->d_name), ".new"))
			PUSH_TO(v, *n, cap) = xasprintf("%s/%s", folder, e->d_name);
	if (dir)
		closedir(dir);
	return v;
}

static void free_files(char **v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i]);
	free(v);
}

static void take_failure(struct program *p, const char *path)
{
	OWNED(jsonfile_close) struct jsonfile d;
	if (!jsonfile_open(&d, path))
		return;
	const double at = json_number(&d.t, d.root, "at", 0);
	const bool graph = json_get(&d.t, d.root, "graph") != NONE && !slice_is(json_word(&d.t, d.root, "stage"), "program");
	const bool had = p->caught.graph.n > 0;
	/* The first graph; else the first of anything. */
	if (p->caught.stage.n && (had == graph ? at >= p->caught.at : had))
		return;
	p->caught = (struct caught){.stage = json_dup(&d.t, d.root, "stage", &p->arena),
				    .kind = json_dup(&d.t, d.root, "kind", &p->arena),
				    .type = json_dup(&d.t, d.root, "type", &p->arena),
				    .message = json_dup(&d.t, d.root, "message", &p->arena),
				    .graph = json_dup(&d.t, d.root, "graph", &p->arena),
				    .by = json_dup(&d.t, d.root, "by", &p->arena),
				    .after_dynamo = json_dup(&d.t, d.root, "after_dynamo", &p->arena),
				    .unknown = json_count(&d.t, d.root, "unknown", 0),
				    .at = at};
}

/* Of any of its processes. */
static void take_changes(struct program *p)
{
	size_t n;
	LOCAL_BUF b = {0};
	char **v = list_files(p->folder, "changes-", &n);
	for (size_t i = 0; i < n && !b.len; i++) {
		OWNED(mapfile_close) struct mapfile f = {0};
		struct err ignored;
		struct slice rest, line;
		if (mapfile_open(&f, v[i], &ignored) < 0)
			continue;
		rest = f.bytes;
		while (slice_line(&rest, &line))
			buf_addf(&b, "%s%.*s", b.len ? "; " : "", SL(line));
	}
	free_files(v, n);
	p->caught.changes = arena_slice(&p->arena, buf_slice(&b));
}

/* "run 3:17 PATH": what a process was doing when it died, or hangs. */
struct doing {
	char what[16], number[40], path[300];
	double since;
};

static bool read_state(const char *path, struct doing *d)
{
	char text[320] = "";
	struct stat st;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const bool ok = n > 0 && fstat(fd, &st) == 0;
	if (fd >= 0)
		close(fd);
	*d = (struct doing){.since = ok ? (double)st.st_mtim.tv_sec + 1e-9 * (double)st.st_mtim.tv_nsec : 0};
	return ok && sscanf(text, "%15s %39s %299s", d->what, d->number, d->path) >= 2;
}

/* The oldest thing that is not finished. */
static bool find_doing(const char *folder, struct doing *found)
{
	size_t n = 0;
	bool any = false;
	char **v = list_files(folder, "state-", &n);
	for (size_t i = 0; i < n; i++) {
		struct doing d;
		if (read_state(v[i], &d) && (!any || d.since < found->since)) {
			*found = d;
			any = true;
		}
	}
	free_files(v, n);
	return any;
}

static void forget_files(const char *folder)
{
	static const char *const starts[] = {"state-", "failure-", "changes-"};
	for (size_t k = 0; k < ARRAY_LEN(starts); k++) {
		size_t n;
		char **v = list_files(folder, starts[k], &n);
		for (size_t i = 0; i < n; i++)
			unlink(v[i]);
		free_files(v, n);
	}
}

static void find_failure(struct program *p)
{
	size_t n;
	struct doing d;
	char **v = list_files(p->folder, "failure-", &n);
	p->caught = (struct caught){.stage = SLICE("")};
	for (size_t i = 0; i < n; i++)
		take_failure(p, v[i]);
	free_files(v, n);
	v = list_files(p->folder, "state-", &n);
	free_files(v, n);
	p->compiled = n > 0;
	const bool died = p->hung || (p->r.sig && !child_asks_to_end(p->r.sig));
	if ((died || p->r.status) && (!p->caught.stage.n || !p->caught.graph.n) && find_doing(p->folder, &d)) {
		LOCAL_BUF type = {0};
		if (p->hung)
			buf_adds(&type, "timeout");
		else if (p->r.sig)
			buf_addf(&type, "%s", signal_name(p->r.sig) ? signal_name(p->r.sig) : "signal");
		else
			buf_addf(&type, "exit status %d", p->r.status);
		const bool traces = !strcmp(d.what, "trace");
		p->caught = (struct caught){.stage = traces ? SLICE("capture") : SLICE("inductor"),
					    .kind = p->hung ? SLICE("timeout") : SLICE("crashed"),
					    .type = arena_slice(&p->arena, buf_slice(&type)),
					    .message = arena_textf(&p->arena, "while it was in %s %s", d.what, d.number),
					    .graph = arena_slice(&p->arena, slice_str(d.path))};
		p->caught.by = SLICE("Dynamo");
		if (traces)
			p->caught.message = arena_textf(&p->arena, "while Dynamo captured %s (%s)", d.path, d.number);
		else if (!d.path[0])
			p->caught.message = arena_slice(&p->arena, slice_str(d.number)); /* which to keep in the next run */
	}
	take_changes(p);
}

/* ---- the run ---- */

/* A compile or a run of a graph that takes longer than --timeout hangs, where a machine with more to do than it can gives it more time; the
 * program itself may take as long as it likes. */
static void look_for_hang(struct program *p, struct child *c)
{
	struct doing d;
	if (p->hung || !find_doing(p->folder, &d) || d.since <= 0)
		return;
	if (d.since != p->since) {
		p->since = d.since;
		p->told = p->o->quiet;
		fair_time_start(&p->spent);
	}
	const double spent = fair_time(&p->spent);
	LOCAL_BUF what = {0};
	if (!strcmp(d.what, "trace"))
		buf_addf(&what, "the capture of %s (%s)", d.path, d.number);
	else
		buf_addf(&what, "the graph in %s %s", d.what, d.number);
	if ((spent > TELL_SECONDS || 2 * spent > p->o->timeout) && !p->told) {
		p->told = true;
		note("%s: %s takes long; after %d s it hangs (--timeout)", diag_tool, buf_str(&what), p->o->timeout);
	}
	if (spent > p->o->timeout) {
		p->hung = true;
		note("%s: %s has taken more than %d s: it hangs", diag_tool, buf_str(&what), p->o->timeout);
		child_stop(c);
	}
}

static int run_program(struct program *p, const char *how, const char *call, struct err *err)
{
	FREED char *dir = xasprintf("PT2_CATCH_DIR=%s", p->folder), *which = xasprintf("PT2_CATCH_CALL=%s", call ? call : "");
	FREED char *compare = xasprintf("PT2_CATCH_COMPARE=%s", !strcmp(how, "compare") ? "1" : "");
	const char *const env[] = {p->site, dir, which, compare, "TORCHINDUCTOR_FORCE_DISABLE_CACHES=1", NULL};
	struct childset set = {0};
	struct child_event ev = {0};
	const struct child_spec spec = {
	    .argv = (const char *const *)p->command, .env_set = env, .same_group = true, .die_with_parent = true, .grace_ms = 5000};
	forget_files(p->folder);
	p->hung = false;
	struct child *c = child_start(&set, &spec, err);
	if (!c)
		return -1;
	while (ev.what != CHILD_ENDED) {
		if (childset_wait(&set, -1, LOOK_MS, &ev) < 0) {
			childset_release(&set);
			return err_errno(err, EXIT_ENVIRON, "cannot wait for '%s'", p->command[0]);
		}
		look_for_hang(p, c);
	}
	p->r = *child_result(c);
	LOCAL_BUF text = {0};
	child_describe(&p->r, &text);
	if (!p->o->quiet)
		note("%s: '%s' %s after %.1f s", diag_tool, p->command[0], buf_str(&text), (double)p->r.wall_ns / 1e9);
	childset_release(&set);
	if (child_signalled())
		return err_set(err, EXIT_ENVIRON, "interrupted");
	find_failure(p);
	return 0;
}

/* Of a GPU: which call reports it depends on when. */
static bool is_kernel_error(const struct program *p)
{
	struct signature of;
	return signature_of_kernel_error(p->caught.message, &of);
}

static bool has_graph(const struct program *p)
{
	return p->caught.graph.n && !slice_is(p->caught.stage, "capture") && !slice_is(p->caught.stage, "program");
}

/* Runs it until it is known which graph fails: once; again if what killed it was not the first call of its graph, or if it failed with no
 * graph that does: then each call is compared with eager. */
static int find_graph(struct program *p, struct err *err)
{
	const struct fxminify_options *o = p->o;
	const bool numbers = o->level == 4 || o->want_accuracy || o->strict_accuracy;
	if (run_program(p, numbers ? "compare" : "watch", NULL, err) < 0)
		return -1;
	if (slice_is(p->caught.stage, "inductor") && !p->caught.graph.n) {
		FREED char *call = xstrndup(p->caught.message.p, p->caught.message.n);
		note("%s: it was in a later call of a graph: running it again to keep the inputs of call %s", diag_tool, call);
		if (run_program(p, "watch", call, err) < 0)
			return -1;
	}
	const bool failed = p->r.status || p->r.sig;
	const bool again = !numbers && !has_graph(p) && failed && p->compiled && !slice_is(p->caught.stage, "capture") &&
			   !is_kernel_error(p) && !o->no_accuracy;
	if (again) {
		const struct caught own = p->caught;
		note("%s: no graph failed: running it again, comparing each graph with eager", diag_tool);
		if (run_program(p, "compare", NULL, err) < 0)
			return -1;
		if (!has_graph(p))
			p->caught = own;
	}
	return 0;
}

/* ---- what follows ---- */

/* Options, the graph, then the command, whose modules and changes of torch it needs: what a journal can repeat. */
static const char **journal_words(const struct program *p, int argc, char *const *argv, const char *path)
{
	const size_t at = program_word(p->command);
	const char **v = xcalloc((size_t)argc + 9, sizeof(*v));
	size_t n = 0;
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		v[n++] = argv[i];
	if (p->o->expect) {
		v[n++] = "--expect";
		v[n++] = p->o->expect;
	}
	if (p->o->want_accuracy)
		v[n++] = "--accuracy";
	if (p->o->python) {
		v[n++] = "--python";
		v[n++] = p->o->python;
	}
	if (p->o->prelude) {
		v[n++] = "--import";
		v[n++] = p->o->prelude->module;
	}
	v[n++] = path;
	v[n++] = "--";
	for (size_t i = 0; p->command[i]; i++)
		v[n++] = i == at && p->file ? p->file : p->command[i];
	return v;
}

static void say_caught(const struct program *p)
{
	const struct caught *c = &p->caught;
	const struct slice line = slice_first_line(c->message);
	note("%s: the failure: %.*s%s%.*s", diag_tool, SL(c->type), line.n ? ": " : "", SLN(line, 300));
	note("%s: its graph is kept in %.*s%s", diag_tool, SL(c->graph),
	     c->unknown ? ", with generated values for inputs that were not seen" : "");
}

static bool written_since(const char *path, time_t since)
{
	struct stat st;
	return stat(path, &st) == 0 && st.st_mtime >= since;
}

static int reduce_one(const struct program *p, struct fxminify_options *o, struct slice graph, int argc, char *const *argv)
{
	FREED char *path = xstrndup(graph.p, graph.n);
	FREED const char **words = journal_words(p, argc, argv, path);
	return session_run(o, path, words, NULL);
}

static bool gave_result(const struct fxminify_options *o, int status, time_t since)
{
	return status != EXIT_FOUND && (status != EXIT_PARTIAL || written_since(o->output ? o->output : "repro.py", since));
}

/* A graph of a program that changes torch fails where torch is changed, too. */
static int reduce_changed(const struct program *p, struct fxminify_options *o, int argc, char *const *argv)
{
	struct err err = {.text = ""};
	struct prelude prelude;
	note("%s: the program changes torch: %.*s", diag_tool, SL(p->caught.changes));
	if (!prelude_make(&prelude, o, p->command, p->folder, &err)) {
		note("%s: its graph is tested without that%s%s; --import MODULE imports what makes the changes", diag_tool,
		     err.text[0] ? ": " : "", err.text);
		return EXIT_FOUND;
	}
	const time_t since = time(NULL);
	const size_t had = o->import.n;
	PUSH_TO(o->import.v, o->import.n, o->import.cap) = prelude.module;
	o->prelude = &prelude;
	note("%s: so the graph is tested after the program, up to its first compile", diag_tool);
	int status = reduce_one(p, o, p->caught.graph, argc, argv);
	if (!gave_result(o, status, since) && p->caught.after_dynamo.n && !child_signalled())
		status = reduce_one(p, o, p->caught.after_dynamo, argc, argv);
	o->import.n = had;
	o->prelude = NULL;
	prelude_release(&prelude);
	return status;
}

/* Some failures need what comes before Inductor: the names of a graph's inputs, or that it is a backward graph. */
static int reduce_graph(struct program *p, struct fxminify_options *o, int argc, char *const *argv)
{
	const struct slice kind = p->caught.kind, message = slice_first_line(p->caught.message);
	const time_t since = time(NULL);
	say_caught(p);
	if (slice_is(kind, "raised"))
		o->seen = arena_strndup(&p->arena, message.p, message.n);
	if (slice_is(kind, "accuracy") && slice_ends(p->caught.graph, ".pt2"))
		o->want_accuracy = true; /* a launcher says so itself */
	if (!o->expect)
		o->expect = is_kernel_error(p)           ? "kernel error"
			    : slice_is(kind, "accuracy") ? "accuracy"
			    : slice_is(kind, "timeout")  ? "hang"
							 : arena_strndup(&p->arena, p->caught.type.p, p->caught.type.n);
	FREED const char **shown = xcalloc((size_t)argc + 1, sizeof(*shown));
	for (int i = 1; i < argc; i++)
		shown[i - 1] = argv[i];
	o->shown = shown;
	int status = p->caught.changes.n ? reduce_changed(p, o, argc, argv) : EXIT_FOUND;
	if (!gave_result(o, status, since) && !child_signalled())
		status = reduce_one(p, o, p->caught.graph, argc, argv);
	if (!gave_result(o, status, since) && p->caught.after_dynamo.n && !child_signalled()) {
		note("%s: the graph that Inductor gets does not fail alone as the program did: trying the graph after Dynamo, %.*s",
		     diag_tool, SL(p->caught.after_dynamo));
		status = reduce_one(p, o, p->caught.after_dynamo, argc, argv);
	}
	o->shown = NULL;
	return status;
}

static int nothing_found(const struct program *p)
{
	const bool failed = p->r.status || p->r.sig;
	LOCAL_BUF command = {0};
	for (size_t i = 0; p->command[i]; i++)
		buf_addf(&command, "%s%s", i ? " " : "", p->command[i]);
	if (failed && is_kernel_error(p)) {
		warn("no graph of torch.compile fails: a kernel that ran outside of them did (%.*s); to see the line that started it: "
		     "CUDA_LAUNCH_BLOCKING=1 %s",
		     SLN(slice_first_line(p->caught.message), 200), buf_str(&command));
		return EXIT_PARTIAL;
	}
	if (failed) {
		const struct slice line = slice_first_line(p->caught.message);
		warn("the program fails%s%.*s%s%.*s, but no graph of torch.compile does, and none differs from eager; try: "
		     "fxexplain run --wrong -- %s",
		     p->caught.type.n ? " with " : "", SL(p->caught.type), line.n ? ": " : "", SLN(line, 200), buf_str(&command));
		return EXIT_PARTIAL;
	}
	warn("the program does not fail: it ended with status 0%s", p->o->level == 4 || p->o->want_accuracy
									? ", and no graph differs from eager"
									: " (--accuracy: look for results that differ from eager)");
	return EXIT_FOUND;
}

/* The program's Python is the one that has its torch. */
static const char *python_of(const struct fxminify_options *o, char *const *command)
{
	const char *env = getenv("PT2_PYTHON");
	if (o->python || (env && *env))
		return o->python;
	return slice_starts(slice_str(path_base(command[0])), "python") ? command[0] : NULL;
}

static void find_file(struct program *p)
{
	const size_t at = program_word(p->command);
	p->file = at ? realpath(p->command[at], NULL) : NULL;
	p->beside = p->file ? xasprintf("%.*s", SL(path_folder(p->file))) : NULL;
}

static void release_file(struct program *p)
{
	free(p->file);
	free(p->beside);
}

static bool imports(const struct fxminify_options *o, const char *module)
{
	for (size_t i = 0; i < o->import.n; i++)
		if (!strcmp(o->import.v[i], module))
			return true;
	return false;
}

int program_resume(struct fxminify_options *o, char *const *command, const char *graph, const char *const *argv, const char *journal)
{
	struct program p = {.o = o, .command = command};
	struct prelude prelude;
	struct err err;
	size_t n = 0;
	FREED char *folder = xasprintf("%.*s", SL(path_folder(graph)));
	while (command[n])
		n++;
	FREED const char **shown = xcalloc(n + 2, sizeof(*shown));
	shown[0] = "--";
	for (size_t i = 0; i < n; i++)
		shown[i + 1] = command[i];
	find_file(&p);
	o->beside = p.beside;
	o->shown = shown;
	if (prelude_make(&prelude, o, command, folder, &err) && imports(o, prelude.module))
		o->prelude = &prelude;
	const int status = session_run(o, graph, argv, journal);
	o->beside = NULL;
	o->prelude = NULL;
	o->shown = NULL;
	prelude_release(&prelude);
	release_file(&p);
	return status;
}

int program_run(struct fxminify_options *o, char *const *command, int argc, char *const *argv)
{
	struct program p = {.o = o, .command = command};
	struct err err;
	struct kept *kept = kept_begin("fxminify", (const char *const *)command, &err);
	if (!kept)
		die_err(&err);
	p.folder = kept_folder(kept);
	p.site = make_site(p.folder, &err);
	o->python = python_of(o, command);
	find_file(&p);
	o->beside = p.beside;
	int status = p.site ? find_graph(&p, &err) : -1;
	if (status < 0) {
		warn("%s", err.text);
		status = child_signalled() ? 128 + child_signalled() : (int)err.status;
	} else if (has_graph(&p)) {
		status = reduce_graph(&p, o, argc, argv);
	} else if (slice_is(p.caught.stage, "capture")) {
		status = source_run(o, command, p.folder, &p.caught);
	} else {
		status = nothing_found(&p);
	}
	o->beside = NULL;
	kept_end(kept, &(struct kept_result){.seconds = (double)p.r.wall_ns / 1e9, .status = p.r.status, .sig = p.r.sig});
	free(p.site);
	release_file(&p);
	arena_release(&p.arena);
	return status;
}
