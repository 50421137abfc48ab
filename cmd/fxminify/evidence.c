/* evidence.c - runs share/fxminify/evidence.py on the delivered program, and adds what it found to it, as comments (evidence.h). */
#include "evidence.h"

#include "base/html/html.h"
#include "base/io/jsonfile.h"
#include "base/io/mapfile.h"
#include "base/json.h"
#include "base/process/child.h"
#include "base/text.h"
#include "base/tool/diag.h"
#include "base/tool/knobs.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"

#include <sys/stat.h>
#include <unistd.h>

#define RUNS 3
#define HANG_SECONDS 30 /* of a run: a hang was seen to make no progress for longer */

#define KNOB(name, value, since, what) {name, value, what},
static const struct {
	const char *name, *value, *what;
} knobs[] = {NUMERIC_KNOBS(KNOB) PART_KNOBS(KNOB) MORE_KNOBS(KNOB)};

/* ---- other releases ---- */

/* A folder with bin/python, or a Python. NULL: neither. */
static char *python_in(const char *where)
{
	FREED char *inside = xasprintf("%s/bin/python", where);
	if (access(inside, X_OK) == 0)
		return xstrdup(inside); /* not resolved: an environment is found by the name of its Python */
	struct stat st;
	return stat(where, &st) == 0 && S_ISREG(st.st_mode) && access(where, X_OK) == 0 ? xstrdup(where) : NULL;
}

void evidence_check(const struct fxminify_options *o)
{
	for (size_t i = 0; i < o->with_torch.n; i++) {
		FREED char *python = python_in(o->with_torch.v[i]);
		if (!python)
			die(EXIT_USAGE, "--with-torch: no Python in '%s': name a virtual environment, or its bin/python",
			    o->with_torch.v[i]);
	}
}

/* ---- the script's argument ---- */

static void hide(struct json_out *j, const char *what, const char *place)
{
	if (!what || strlen(what) < 3)
		return;
	json_arr(j);
	json_out_str(j, slice_str(what));
	json_out_str(j, slice_str(place));
	json_close(j);
}

/* Within --max-time. */
static double seconds_for(const struct fxminify_options *o, const struct evidence_of *of)
{
	const double left = o->max_time > of->spent ? o->max_time - of->spent : 0;
	return o->max_time > 0 && left < o->evidence ? left : o->evidence;
}

static void write_config(const struct fxminify_options *o, const struct evidence_of *of, const char *folder, const char *answer,
			 struct buf *b)
{
	struct json_out j = {.b = b};
	FREED char *cwd = getcwd(NULL, 0);
	LOCAL_BUF file = {0};
	const bool more = o->evidence > 0;
	json_obj(&j);
	put_absolute(&file, slice_str(of->path));
	json_member_str(&j, "file", buf_slice(&file));
	json_member_arr(&j, "args");
	json_close(&j);
	json_member_str(&j, "files", slice_str(of->reads_files && cwd ? cwd : ""));
	json_member_str(&j, "folder", slice_str(folder));
	json_member_str(&j, "answer", slice_str(answer));
	buf_adds(&file, ".env");
	json_member_str(&j, "machine", more ? buf_slice(&file) : SLICE(""));
	json_member_i64(&j, "timeout", of->hangs && o->timeout > HANG_SECONDS ? HANG_SECONDS : o->timeout);
	json_member_u64(&j, "runs", more ? RUNS : 1);
	json_member_double(&j, "seconds", seconds_for(o, of), 3);
	json_member_arr(&j, "settings");
	for (size_t i = 0; i < ARRAY_LEN(knobs) && of->inductor; i++) {
		json_arr(&j);
		json_out_str(&j, slice_str(knobs[i].name));
		json_out_str(&j, slice_str(knobs[i].value));
		json_out_str(&j, slice_str(knobs[i].what));
		json_close(&j);
	}
	json_close(&j);
	json_member_bool(&j, "bisect", of->compiles);
	json_member_arr(&j, "releases");
	for (size_t i = 0; i < o->with_torch.n; i++) {
		FREED char *python = python_in(o->with_torch.v[i]);
		LOCAL_BUF whole = {0};
		if (python) {
			put_absolute(&whole, slice_str(python));
			json_out_str(&j, buf_slice(&whole));
		}
	}
	json_close(&j);
	json_member_arr(&j, "hidden");
	hide(&j, folder, "(temporary)");
	hide(&j, cwd, ".");
	hide(&j, getenv("HOME"), "~");
	json_close(&j);
	json_member_bool(&j, "quiet", o->quiet);
	json_close(&j);
}

/* ---- its answer ---- */

static void add_runs(const struct json_tape *t, uint32_t root, struct buf *b)
{
	const uint64_t runs = json_count(t, root, "runs", 0), failed = json_count(t, root, "failed", 0);
	LOCAL_BUF text = {0};
	if (!runs)
		return;
	buf_addf(b, "fails in %llu of %llu runs, each in a fresh process\n", (unsigned long long)failed, (unsigned long long)runs);
	json_each(t, json_get(t, root, "others"), k) {
		buf_reset(&text);
		json_unescape(t, k, &text);
		buf_addf(b, "in other runs: %s\n", buf_str(&text));
	}
}

static void add_eager(const struct json_tape *t, uint32_t root, struct evidence *e)
{
	const struct slice how = json_word(t, root, "eager");
	FREED char *says = json_strdup(t, root, "eager_says");
	if (!how.n)
		return;
	if (slice_is(how, "passes"))
		buf_adds(&e->eager, "passes");
	else
		buf_addf(&e->eager, "fails%s: %s", slice_is(how, "same") ? " the same way" : "", says);
	buf_addf(&e->lines, "eager %s\n", buf_str(&e->eager));
}

static void add_settings(const struct json_tape *t, uint32_t root, struct buf *b)
{
	LOCAL_BUF helpless = {0};
	json_each(t, json_get(t, root, "settings"), k) {
		const struct slice how = json_word(t, k, "how");
		FREED char *name = json_strdup(t, k, "name"), *value = json_strdup(t, k, "value");
		FREED char *what = json_strdup(t, k, slice_is(how, "other") ? "failure" : "what");
		if (slice_is(how, "same"))
			buf_addf(&helpless, "%s%s = %s", helpless.len ? ", " : "", name, value);
		else
			buf_addf(b, "%s with torch._inductor.config.%s = %s (%s)\n",
				 slice_is(how, "passes") ? "does not fail" : "fails in another way", name, value, what);
	}
	if (helpless.len)
		buf_addf(b, "also fails with torch._inductor.config: %s\n", buf_str(&helpless));
}

static void add_bisector(const struct json_tape *t, uint32_t root, struct buf *b)
{
	const uint32_t found = json_get(t, root, "bisector");
	if (found == NONE)
		return;
	FREED char *backend = json_strdup(t, found, "backend"), *part = json_strdup(t, found, "part");
	FREED char *info = json_strdup(t, found, "info"), *why = json_strdup(t, found, "why");
	buf_adds(b, "torch's bisector (torch._inductor.compiler_bisector): ");
	if (*why)
		buf_addf(b, "%s\n", why);
	else if (!*part)
		buf_addf(b, "fails from backend='%s' on\n", backend);
	else if (*info && strcmp(info, part))
		buf_addf(b, "does not fail without %s of backend='%s': number %llu of them, %s\n", part, backend,
			 (unsigned long long)json_count(t, found, "number", 0), info);
	else
		buf_addf(b, "does not fail without %s of backend='%s'\n", part, backend);
}

/* "fails in 2.13.0, passes in 2.15.0" */
static void add_releases(const struct json_tape *t, uint32_t root, struct buf *b)
{
	const uint32_t list = json_get(t, root, "releases");
	FREED char *own = json_strdup(t, root, "torch");
	LOCAL_BUF line = {0};
	if (list == NONE)
		return;
	buf_addf(&line, "fails in %s", own);
	json_each(t, list, k) {
		const struct slice how = json_word(t, k, "how");
		FREED char *torch = json_strdup(t, k, "torch"), *failure = json_strdup(t, k, "failure"),
			   *python = json_strdup(t, k, "python");
		const char *which = *torch ? torch : python;
		if (slice_is(how, "passes") || slice_is(how, "same"))
			buf_addf(&line, ", %s in %s", slice_is(how, "passes") ? "passes" : "fails", which);
		else if (slice_is(how, "other"))
			buf_addf(&line, ", fails in another way in %s (%s)", which, failure);
		else
			buf_addf(&line, ", not run with %s (%s)", which, failure);
	}
	buf_addf(b, "releases of torch: %s\n", buf_str(&line));
}

static void read_answer(struct evidence *e, const char *path, const struct evidence_of *of)
{
	OWNED(jsonfile_close) struct jsonfile d;
	if (!jsonfile_open(&d, path))
		return;
	e->fails = json_count(&d.t, d.root, "failed", 0) > 0;
	add_runs(&d.t, d.root, &e->lines);
	add_eager(&d.t, d.root, e);
	add_settings(&d.t, d.root, &e->lines);
	add_bisector(&d.t, d.root, &e->lines);
	add_releases(&d.t, d.root, &e->lines);
	const uint32_t failure = json_get(&d.t, d.root, "failure");
	if (failure != NONE) {
		FREED char *type = json_strdup(&d.t, failure, "type"), *message = json_strdup(&d.t, failure, "message");
		buf_addf(&e->failure, "%s%s%s", type, *message ? ": " : "", message);
	}
	if (json_flag(&d.t, d.root, "machine"))
		buf_addf(&e->machine, "%s.env", of->path);
	if (e->machine.len)
		buf_addf(&e->lines, "torch.utils.collect_env: %s\n", path_base(buf_str(&e->machine)));
}

/* ---- the program ---- */

/* Comments at its end. */
static int append(const char *path, struct slice lines, struct err *err)
{
	OWNED(mapfile_close) struct mapfile file = {0};
	LOCAL_BUF text = {0};
	struct slice line;
	if (mapfile_open(&file, path, err) < 0)
		return -1;
	buf_add_slice(&text, file.bytes);
	while (slice_line(&lines, &line)) {
		const size_t at = text.len;
		buf_addf(&text, "# %.*s", SL(line));
		clean_text(text.p + at, text.len - at);
		buf_addc(&text, '\n');
	}
	return output_write(path, &(struct slice){text.p, text.len}, 1, err);
}

static void gather(const struct fxminify_options *o, const struct evidence_of *of, const char *folder, struct evidence *e, struct err *err)
{
	const struct slice text[] = {share_file("zygote/zygote.py"),    SLICE("\n\n"), share_file("fxminify/warm.py"),  SLICE("\n\n"),
				     share_file("fxminify/files.py"),   SLICE("\n\n"), share_file("fxminify/trial.py"), SLICE("\n\n"),
				     share_file("fxminify/evidence.py")};
	FREED char *answer = xasprintf("%s/answer.json", folder), *modules = xasprintf("PYTHONPATH=%s", of->modules ? of->modules : "");
	const char *const env[] = {modules, NULL};
	LOCAL_BUF json = {0};
	int status = 0;
	write_config(o, of, folder, answer, &json);
	if (script_run(of->python ? of->python : script_python(o), folder, text, ARRAY_LEN(text), buf_slice(&json), env, &status, err) < 0)
		warn("no evidence: %s", err->text);
	read_answer(e, answer, of);
	if (status && !child_signalled() && !e->lines.len)
		warn("no evidence: its program ended with status %d", status);
}

void evidence_add(const struct fxminify_options *o, const struct evidence_of *of)
{
	struct evidence e = {0};
	struct err err;
	if (o->evidence <= 0 && !o->with_torch.n && !o->issue)
		return;
	char *folder = temp_folder(TEMP_MINIFY, &err);
	if (folder)
		gather(o, of, folder, &e, &err);
	else
		warn("no evidence: %s", err.text);
	if (e.lines.len && append(of->path, buf_slice(&e.lines), &err) < 0)
		warn("%s", err.text);
	if (o->issue && issue_write(o, of, &e, &err) < 0)
		warn("%s", err.text);
	temp_folder_remove(folder);
	buf_release(&e.lines);
	buf_release(&e.failure);
	buf_release(&e.eager);
	buf_release(&e.machine);
}
