/* program.c - runs the program of a bundle under `fxexplain run` and checks whether it fails the same way. */
#include "replay/replay.h"

#include "base/process/child.h"
#include "base/text.h"
#include "run/diagnose/locate.h"
#include "run/run_part.h"
#include "base/tool/diag.h"
#include "base/tool/parts.h"

#include <sys/stat.h>
#include <unistd.h>

enum { ARGS_BEFORE = 9 };

struct again {
	const struct bundle *b;
	const char *python; /* --python */
	int timeout_ms;
	const char *folder;
	char *kept; /* its traces and standard error */
	int status; /* as in the manifest */
};

const char *replay_python(const char *given)
{
	const char *env = getenv("PT2_PYTHON");
	return given ? given : env && *env ? env : "python3";
}

static void start(struct again *a, const char *const *argv, const char *const *env)
{
	struct child_result r;
	struct err err;
	char *cwd = xasprintf("%s/program", a->folder);
	struct child_spec spec = {.argv = argv, .cwd = cwd, .env_set = env, .timeout_ms = a->timeout_ms, .die_with_parent = true};
	if (child_run(&spec, &r, &err) < 0)
		die_err(&err);
	a->status = r.sig ? -r.sig : r.status;
	child_result_release(&r);
	free(cwd);
}

/* With the recorded variables and arguments; with a fresh cache, so that it compiles. */
static void run_again(struct again *a)
{
	const struct bundle_about *about = &a->b->about;
	const struct bundle_file *program = bundle_find(a->b, BUNDLE_PROGRAM);
	OWNED(arena_release) struct arena arena = {0};
	FREED char *tool = tool_or_die("fxexplain"), *out = xasprintf("%s/explained.txt", a->folder);
	FREED char *cache = xasprintf("TORCHINDUCTOR_CACHE_DIR=%s/cache", a->folder),
		   *path = xasprintf("%s/%.*s", a->folder, SL(program->name));
	FREED const char **argv = xcalloc(ARGS_BEFORE + about->n_argument + 2, sizeof(*argv));
	FREED const char **env = xcalloc(about->n_env + 3, sizeof(*env));
	size_t n = 0, k = 0;
	const char *const before[ARGS_BEFORE] = {tool, "run", "-q", "--keep", a->kept, "-o", out, "--", replay_python(a->python)};
	for (; n < ARGS_BEFORE; n++)
		argv[n] = before[n];
	argv[n++] = path;
	for (size_t i = 0; i < about->n_argument; i++)
		argv[n++] = about->argument[i].p;
	for (; k < about->n_env; k++)
		env[k] = arena_textf(&arena, "%.*s=%.*s", SL(about->env[k].name), SL(about->env[k].value)).p;
	env[k++] = cache;
	env[k++] = "PYTHONDONTWRITEBYTECODE=1";
	start(a, argv, env);
}

static bool has_key(const struct bundle_finding *f, size_t n, struct slice key)
{
	for (size_t i = 0; i < n; i++)
		if (slice_eq(f[i].key, key))
			return true;
	return false;
}

/* The exit status decides; if the program succeeded, its first finding. */
static int judge(const struct again *a, const struct bundle_finding *now, size_t n)
{
	const struct bundle_about *was = &a->b->about;
	size_t again = 0;
	for (size_t i = 0; i < was->n_finding; i++)
		again += has_key(now, n, was->finding[i].key);
	if (!was->n_finding && !(was->has_status && was->status)) {
		note("%s: according to its logs nothing failed when the bundle was made: nothing to compare", diag_tool);
		return EXIT_PARTIAL;
	}
	const bool ended = !was->has_status || was->status == a->status, told = !was->n_finding || has_key(now, n, was->finding[0].key);
	if (was->n_finding)
		note("%s: %zu of %zu findings reproduced", diag_tool, again, was->n_finding);
	if (was->has_status && was->status != a->status)
		note("%s: the program exited with %d instead of %d (negative: killed by that signal)", diag_tool, a->status, was->status);
	if (!told) {
		note("%s: not reproduced: %.*s", diag_tool, SL(was->finding[0].title));
		for (size_t i = 0; i < n && i < 3; i++)
			note("%s: instead: %.*s", diag_tool, SL(now[i].title));
	}
	note("%s: %s", diag_tool, ended && told ? "it fails the same way" : "it does NOT fail the same way");
	return ended && told ? EXIT_FINE : EXIT_FOUND;
}

static int compare_findings(const struct again *a)
{
	struct facts f;
	struct explanation x;
	OWNED(arena_release) struct arena arena = {0};
	OWNED(run_names_release) struct run_names logs = {0};
	struct err err;
	struct bundle_finding *now;
	struct stat st;
	unsigned lost = 0;
	FREED char *text = xasprintf("%s/stderr.txt", a->kept);
	run_list(&logs, a->kept);
	if (stat(text, &st) == 0 && st.st_size)
		PUSH_TO(logs.v, logs.n, logs.cap) = xstrdup(text);
	struct explain_options o = {.quiet = true};
	facts_init(&f);
	if (logs.n && load_operands(&f, NULL, &o, (const char *const *)logs.v, (int)logs.n, &lost, &err) < 0)
		warn("%s", err.text);
	explain_located(&x, &f);
	size_t n = pack_findings(&x, &arena, &now);
	int status = judge(a, now, n);
	explanation_release(&x);
	facts_release(&f);
	return status;
}

int replay_program(const struct bundle *b, const char *folder, const char *python, int timeout_ms)
{
	struct again a = {.b = b, .folder = folder, .python = python, .timeout_ms = timeout_ms, .kept = xasprintf("%s/again", folder)};
	run_again(&a);
	int status = compare_findings(&a);
	free(a.kept);
	return status;
}
