/* bisect.c - `fxexplain run --bisect`: runs the bisection of PyTorch's troubleshooting guide.
 *
 * A failing program is run with less and less of the compiler: the stages below, each of which includes all stages before it. The
 * first stage that fails is where the failure comes from. The first run's output decides which stage is tried next, so a failure in
 * Inductor takes only two more runs. share/explain/sitecustomize.py replaces the backend.
 */
#include "run/bisect.h"
#include "explain/emit.h"

#include "base/tool/diag.h"
#include "base/json.h"
#include "base/html/html.h"
#include "run/kept/kept.h"
#include "run/patterns/patterns.h"
#include "run/textlog/textlog.h"
#include "run/trace/trace.h"
#include "base/tool/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *keep(struct bisect *b, struct slice s) { return arena_strndup(&b->arena, s.p, s.n); }

/* ---- what a run reported ---- */

static bool cut_prefix(struct slice *s, const char *prefix)
{
	if (!slice_starts(*s, prefix))
		return false;
	*s = slice_trim(slice_of(s->p + strlen(prefix), s->n - strlen(prefix)));
	return true;
}

/* The line that says what went wrong, skipping lines that only name the stage it passed through: "backend='inductor' raised:\nRuntimeError:
 * ...", "LoweringException: ...". */
static struct slice inner_line(struct slice type, struct slice reason, struct buf *out)
{
	struct slice line = {0}, rest = reason;
	while (slice_line(&rest, &line) && !slice_trim(line).n)
		;
	line = slice_trim(line);
	if (slice_starts(line, "backend=") && slice_ends(line, "raised:")) {
		while (slice_line(&rest, &line) && !slice_trim(line).n)
			;
		line = slice_trim(line);
		type.n = 0;
	}
	if (cut_prefix(&line, "LoweringException:"))
		type.n = 0;
	buf_reset(out);
	if (type.n) {
		const char *dot = slice_rchr(type, '.');
		size_t from = dot ? (size_t)(dot + 1 - type.p) : 0;
		buf_add(out, type.p + from, type.n - from);
		buf_adds(out, line.n ? ": " : "");
	}
	buf_add_slice(out, line);
	return buf_slice(out);
}

static void read_failure(struct bisect *b, struct trial *t, const char *text, const char *traces)
{
	struct facts f;
	struct explanation x;
	struct err err;
	struct facts_options o = {.patterns = b->known};
	OWNED(run_names_release) struct run_names logs = {0};
	LOCAL_BUF line = {0}, key = {0};
	facts_init(&f);
	(void)facts_add_textlog(&f, text, &o, &err); /* no known message: no component */
	for (uint32_t i = f.n_failure; i-- > 0;) {
		const struct fact_failure *e = &f.failure[i];
		if (e->restart || e->caught || e->type == NONE)
			continue;
		struct slice inner = inner_line(facts_text(&f, e->type), facts_text(&f, e->reason), &line);
		t->error = keep(b, inner);
		emit_same(inner, &key);
		t->key = keep(b, buf_slice(&key));
		buf_reset(&line);
		if (e->user.line)
			buf_addf(&line, "%.*s:%u", SL(facts_text(&f, e->user.file)), e->user.line);
		t->where = keep(b, buf_slice(&line));
		break;
	}
	run_list(&logs, traces);
	for (size_t i = 0; i < logs.n; i++)
		(void)facts_add_trace(&f, logs.v[i], &o, &err);
	facts_one_run(&f);
	facts_finish(&f);
	explain(&x, &f);
	t->component = x.n_component ? x.component[0].component : COMPONENT_NONE;
	if (b->kept && x.n_component && slice_starts(x.component[0].minify, "fxminify --graph"))
		t->minify = keep(b, x.component[0].minify);
	explanation_release(&x);
	facts_release(&f);
}

static void add_name(struct buf *b, const char *name)
{
	buf_adds(b, b->len ? ", " : "");
	buf_adds(b, name);
}

/* Reads the report that sitecustomize.py wrote. */
static void read_report(struct bisect *b, struct trial *t, const char *path)
{
	char text[1 << 14];
	OWNED(json_tape_release) struct json_tape tape = {0};
	LOCAL_BUF word = {0}, asked = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	struct slice rest = slice_of(text, n > 0 ? (size_t)n : 0), line;
	while (slice_line(&rest, &line)) {
		uint32_t root;
		json_tape_text(&tape, line.p, line.n);
		if (json_parse(&tape, 0, line.n, &root) < 0)
			continue;
		struct slice torch = json_text(&tape, root, "torch", &word);
		FREED char *replaced = json_strdup(&tape, root, "replaced");
		if (torch.p)
			t->torch = keep(b, torch);
		else if (*replaced && (!asked.len || !strstr(buf_str(&asked), replaced)))
			add_name(&asked, replaced);
		else if (json_get(&tape, root, "unknown") != NONE)
			t->no_setting = true;
	}
	t->asked = keep(b, buf_slice(&asked));
}

/* ---- a run ---- */

static void put_site(struct bisect *b)
{
	const struct slice before = share_file("jit/after_import.py"), text = share_file("explain/sitecustomize.py");
	struct err err;
	FREED char *dir = xasprintf("%s/site", b->folder), *path = xasprintf("%s/sitecustomize.py", dir);
	const char *old = getenv("PYTHONPATH");
	int fd = mkdir(dir, 0700) < 0 ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		die_errno(EXIT_ENVIRON, "cannot write '%s'", path);
	if (write_all(fd, before.p, before.n, path, &err) < 0 || write_all(fd, text.p, text.n, path, &err) < 0)
		die_err(&err);
	close(fd);
	b->site = xasprintf("PYTHONPATH=%s%s%s", dir, old && *old ? ":" : "", old && *old ? old : "");
}

static int make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		die_errno(EXIT_ENVIRON, "cannot write '%s'", path);
	return fd;
}

/* Interrupted during a run: report what the earlier runs showed. */
static _Noreturn void interrupted(struct bisect *b)
{
	struct child_result r = {.how = CHILD_SIGNALED, .sig = child_signalled()};
	b->ended_by = r.sig;
	run_remove_folder();
	if (b->n && child_signal_count() < 2) /* second signal: exit at once */
		b->tell(b);
	child_exit_like(&r);
}

void bisect_start(struct bisect *b, const char *const *argv, const char *const *env, const char *dir, struct child_result *r)
{
	struct err err;
	OWNED(childset_release) struct childset set = {0};
	struct child_event ev = {0};
	FREED char *out = xasprintf("%s/stdout.txt", dir), *text = xasprintf("%s/stderr.txt", dir);
	if (mkdir(dir, 0700) < 0)
		die_errno(EXIT_ENVIRON, "cannot create '%s'", dir);
	int fd_out = make_file(out), fd_err = make_file(text);
	struct child_spec spec = {
	    .argv = argv,
	    .env_set = env,
	    .in.how = CHILD_NULL,
	    .out = {CHILD_FD, fd_out},
	    .err = {CHILD_FD, fd_err},
	    .before_exec = run_as_before,
	    .timeout_ms = b->timeout_ms,
	    .die_with_parent = true,
	};
	struct child *c = child_start(&set, &spec, &err);
	if (!c)
		die_err(&err);
	while (ev.what != CHILD_ENDED) {
		if (childset_wait(&set, -1, -1, &ev) < 0)
			die_errno(EXIT_ENVIRON, "cannot wait for '%s'", argv[0]);
		if (ev.what == CHILD_INTERRUPTED && child_signalled())
			child_stop(c);
	}
	*r = *child_result(c);
	close(fd_out);
	close(fd_err);
	if (child_signalled())
		interrupted(b);
}

static void start_trial(struct bisect *b, struct trial *t, const char *dir)
{
	FREED char *trace = xasprintf("TORCH_TRACE=%s", dir), *report = xasprintf("PT2_BISECT_REPORT=%s/report", dir);
	FREED char *backend = xasprintf("PT2_BISECT_BACKEND=%s", t->backend ? t->backend : "");
	FREED char *setting = xasprintf("PT2_BISECT_SETTINGS=%s", t->setting ? t->setting : "");
	const char *env[8] = {trace};
	unsigned n = 1;
	if (t->backend && (*t->backend || t->setting)) {
		env[n++] = b->site;
		env[n++] = report;
		env[n++] = backend;
		env[n++] = setting;
	}
	if (!t->backend) {
		env[n++] = "TORCH_COMPILE_DISABLE=1"; /* torch/_dynamo/config.py */
		env[n++] = "TORCHDYNAMO_DISABLE=1";   /* torch/_dynamo/eval_frame.py, since 2.0 */
	}
	if (t->backend && !*t->backend && !t->setting && b->n > 0)
		env[n++] = "TORCHINDUCTOR_FORCE_DISABLE_CACHES=1";
	bisect_start(b, (const char *const *)b->command, env, dir, &t->r);
}

static void tell(const struct bisect *b)
{
	struct screen s = explain_screen(b->o->output);
	if (b->o->json)
		bisect_document(&s.b, b);
	else
		bisect_show(&s, b);
	explain_write(&s, b->o->output);
}

static void progress(const struct bisect *b, const struct trial *t)
{
	if (b->o->quiet)
		return;
	LOCAL_BUF text = {0};
	child_describe(&t->r, &text);
	note("%s: %s%s%s: %s, %.1f s", diag_tool, t->name, t->setting ? ", " : "", t->setting ? t->setting : "", buf_str(&text),
	     (double)t->r.wall_ns / 1e9);
}

static struct trial *run_trial(struct bisect *b, const char *name, const char *backend, const char *setting)
{
	struct trial *t = &b->trial[b->n]; /* it counts once it has ended */
	FREED char *dir = xasprintf("%s/%u", b->folder, b->n + 1), *text = xasprintf("%s/stderr.txt", dir),
		   *report = xasprintf("%s/report", dir);
	*t = (struct trial){.name = name,
			    .backend = backend,
			    .setting = setting,
			    .error = "",
			    .key = "",
			    .where = "",
			    .minify = "",
			    .torch = "",
			    .asked = ""};
	start_trial(b, t, dir);
	b->n++;
	t->failed = t->r.how != CHILD_EXITED || t->r.status != 0;
	t->stopped = t->r.how == CHILD_TIMED_OUT;
	if (t->failed)
		read_failure(b, t, text, dir);
	read_report(b, t, report);
	progress(b, t);
	return t;
}

/* ---- the search ---- */

static int next_place(int passes, int fails, int guess)
{
	if (guess - 1 > passes && guess - 1 < fails)
		return guess - 1;
	if (guess > passes && guess < fails)
		return guess;
	return (passes + fails) / 2;
}

static bool counts_as_failure(const struct bisect *b, const struct trial *t)
{
	return t->failed && !(b->own_too && bisect_same(t, b->at[DISABLED]));
}

static void search(struct bisect *b)
{
	int guess = bisect_expected(b->first);
	b->passes = b->own_too ? DISABLED : -1;
	b->fails = AS_IS;
	while (b->fails - b->passes > 1) {
		int p = next_place(b->passes, b->fails, guess);
		if (!b->at[p])
			b->at[p] = run_trial(b, places[p].name, places[p].backend, NULL);
		if (counts_as_failure(b, b->at[p]))
			b->fails = p;
		else
			b->passes = p;
	}
	b->found = (enum place)b->fails;
}

/* A backend should have been replaced, but none was. */
static bool unreached(const struct bisect *b)
{
	bool tried = false;
	for (int p = EAGER; p < AS_IS; p++)
		tried |= b->at[p] != NULL;
	return tried && !*bisect_asked(b);
}

void bisect_parts(struct bisect *b, const char *only)
{
	if (bisect_while_compiling(b->first) || !bisect_inductor(b))
		return;
	for (size_t i = 0; i < ARRAY_LEN(parts) && !b->part; i++) {
		if ((*bisect_torch(b) && strverscmp(bisect_torch(b), parts[i].since) < 0) || (only && strcmp(parts[i].setting, only)))
			continue; /* a run that would tell nothing */
		struct trial *t = run_trial(b, "as it is", "", parts[i].setting);
		if (!counts_as_failure(b, t) && !t->no_setting)
			b->part = t;
	}
}

/* Does it fail again? Run without caches, which also tells whether they matter. Then, if Inductor's code fails when it runs: which part of
 * Inductor can be switched off to avoid it. */
static void look_closer(struct bisect *b)
{
	b->again = run_trial(b, "as it is, without caches", "", NULL);
	if (!counts_as_failure(b, b->again)) {
		struct trial *third = run_trial(b, "as it is", "", "");
		b->cached = counts_as_failure(b, third);
		b->flaky = !b->cached;
		return;
	}
	if (!b->no_parts)
		bisect_parts(b, NULL);
}

void bisect_search(struct bisect *b)
{
	b->passes = -1;
	b->fails = AS_IS;
	b->first = b->at[AS_IS] = run_trial(b, places[AS_IS].name, "", NULL);
	if (!b->first->failed)
		return;
	search(b);
	if (b->found == DISABLED && !bisect_same(b->first, b->at[DISABLED])) {
		b->own_too = true; /* two failures: which one does the compiler cause? */
		search(b);
	}
	b->unreached = b->found != DISABLED && unreached(b);
	if (b->found == AS_IS && !b->unreached)
		look_closer(b);
}

void bisect_open(struct bisect *b)
{
	put_site(b);
	b->known = patterns_load(explain_opt.patterns, &(struct err){0});
	b->first = &b->trial[0];
}

void bisect_close(struct bisect *b)
{
	arena_release(&b->arena);
	patterns_free(b->known);
	free(b->site);
}

int bisect_run(char *const *command, const char *keep, bool kept, int timeout_ms)
{
	struct bisect b = {.o = &explain_opt, .command = command, .timeout_ms = timeout_ms, .tell = tell};
	struct err err;
	explain_only("--bisect only writes text or --json");
	char *own = keep ? run_kept_folder(keep) : NULL;
	struct kept *run = kept && !own ? kept_begin("fxexplain run --bisect", (const char *const *)command, &err) : NULL;
	b.folder = own ? own : run ? kept_folder(run) : run_private_folder();
	b.kept = own || run;
	bisect_open(&b);
	bisect_search(&b);
	run_remove_folder();
	tell(&b);
	int status = !b.first->failed ? EXIT_FINE : b.unreached ? EXIT_ENVIRON : EXIT_FOUND;
	kept_end(run, b.first->failed ? &(struct kept_result){.seconds = (double)b.first->r.wall_ns / 1e9,
							      .status = b.first->r.status,
							      .sig = b.first->r.sig}
				      : NULL);
	bisect_close(&b);
	free(own);
	return status;
}
