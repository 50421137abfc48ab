/* facts.c - versions, settings and environment of a report; tracebacks; names to redact. */
#include "report/report.h"

#include "base/html/html.h"
#include "base/io/window.h"
#include "run/diagnose/release.h"

#include <unistd.h>

enum { LINE = 240, SETTINGS = 25, MAX_ENV = 7000, MAX_SCAN = 256 << 20 };

/* ---- text ---- */

static struct slice safe(struct report_text *t, struct slice s)
{
	if (!t->redact)
		return s;
	buf_reset(&t->tmp);
	redact_add(&t->r, &t->tmp, s);
	return buf_slice(&t->tmp);
}

void report_add_text(struct report_text *t, struct slice s) { md_text(t->b, safe(t, s), LINE); }

void report_add_code(struct report_text *t, const char *before, struct slice s)
{
	buf_adds(t->b, before);
	md_code(t->b, safe(t, s), LINE);
}

void report_add_block(struct report_text *t, const char *lang, struct slice s, size_t most) { md_block(t->b, lang, safe(t, s), most); }

/* ---- names ---- */

void report_learn(struct report_text *t)
{
	char host[256] = "";
	static const char *const variable[] = {"USER", "LOGNAME", "SUDO_USER"};
	const struct intern *names = &t->x->facts->names;
	for (uint32_t i = 0; i < names->n; i++)
		redact_learn(&t->r, intern_get(names, i));
	for (size_t i = 0; i < ARRAY_LEN(variable); i++)
		if (getenv(variable[i]))
			redact_user(&t->r, slice_str(getenv(variable[i])));
	if (gethostname(host, sizeof(host) - 1) == 0)
		redact_host(&t->r, slice_str(host));
}

/* ---- tracebacks ---- */

enum { KEEP_FIRST = 1, KEEP_LAST = 3 };

static bool is_torch_frame(struct slice line)
{
	struct srcloc at;
	return slice_starts(slice_trim(line), "File \"") && srcloc_parse(line, &at) &&
	       (srcloc_origin(at.file) == SRCLOC_TORCH || srcloc_origin(at.file) == SRCLOC_STDLIB);
}

/* Where each of torch's frames in a run begins: a frame ends at a line that is not indented more than "File". */
void traceback_shorten(struct buf *b, struct slice stack)
{
	struct slice rest = stack, line, *frame = NULL;
	size_t n = 0, cap = 0;
	bool more = slice_line(&rest, &line);
	while (more) {
		/* a run of torch's frames, each with its lines */
		n = 0;
		while (more && is_torch_frame(line)) {
			const char *start = line.p, *end = line.p + line.n;
			while ((more = slice_line(&rest, &line)) && slice_starts(line, "    "))
				end = line.p + line.n;
			PUSH_TO(frame, n, cap) = slice_of(start, (size_t)(end - start));
		}
		for (size_t i = 0; i < n; i++) {
			if (n > KEEP_FIRST + KEEP_LAST + 1 && i == KEEP_FIRST) {
				buf_addf(b, "  [... %zu frames of torch ...]\n", n - KEEP_FIRST - KEEP_LAST);
				i = n - KEEP_LAST;
			}
			buf_add_slice(b, frame[i]);
			buf_addc(b, '\n');
		}
		if (!more)
			break;
		if (n)
			continue;
		buf_add_slice(b, line);
		buf_addc(b, '\n');
		more = slice_line(&rest, &line);
	}
	free(frame);
}

/* Compiler output other than errors: warnings and notes with their lines, and where they were included from. */
struct diagnostics {
	struct buf *b;
	struct slice context; /* lines that introduce the next diagnostic */
	size_t left_out;
	bool dropping;
};

static bool is_context(struct slice line)
{
	static const char *const within[] = {": In instantiation of ", "required from ", ": In function ", ": In member function ",
					     ": In lambda function"};
	return slice_any(line, within, slice_has) || slice_starts(line, "In file included from ") ||
	       slice_starts(line, "                 from ");
}

/* "  236 |       0xff,", "      |       ^~~~" */
static bool is_excerpt(struct slice line)
{
	struct slice s = slice_trim(line);
	while (s.n && s.p[0] >= '0' && s.p[0] <= '9')
		s = slice_of(s.p + 1, s.n - 1);
	return slice_starts(slice_trim(s), "|");
}

static void put_diagnostic_line(struct diagnostics *d, struct slice line)
{
	struct srcloc at;
	bool said = slice_find(line, ": warning: ") || slice_find(line, ": note: ") || slice_find(line, ": remark: ");
	if (said && srcloc_parse(line, &at) && at.form == SRCLOC_COMPILER) {
		d->left_out++;
		d->dropping = true;
		d->context.n = 0;
		return;
	}
	if (d->dropping && is_excerpt(line))
		return;
	d->dropping = false;
	if (is_context(line)) {
		d->context = d->context.n ? slice_of(d->context.p, (size_t)(line.p + line.n - d->context.p)) : line;
		return;
	}
	if (d->context.n) {
		buf_add_slice(d->b, d->context);
		buf_addc(d->b, '\n');
	}
	d->context.n = 0;
	buf_add_slice(d->b, line);
	buf_addc(d->b, '\n');
}

void compiler_shorten(struct buf *b, struct slice text)
{
	struct diagnostics d = {.b = b};
	struct slice line;
	while (slice_line(&text, &line))
		put_diagnostic_line(&d, line);
	if (d.context.n) {
		buf_add_slice(b, d.context);
		buf_addc(b, '\n');
	}
	if (d.left_out)
		buf_addf(b, "[... %zu warnings and notes of the compiler ...]\n", d.left_out);
}

/* ---- settings ---- */

struct settings {
	struct intern name; /* of the defaults; value[] beside it */
	struct slice *value;
	size_t cap;
	struct intern shown;
	unsigned release; /* torch 2.N, whose defaults these are */
};

static void read_defaults(struct settings *s, unsigned minor)
{
	struct slice rest = share_file("explain/defaults.txt"), line = {"", 0};
	slice_line(&rest, &line);
	s->release = release_known(line, minor);
	while (slice_line(&rest, &line)) {
		if (!release_has(&line, s->release))
			continue;
		const char *eq = slice_find(line, " = ");
		if (!eq)
			continue;
		uint32_t i = intern_add(&s->name, slice_of(line.p, (size_t)(eq - line.p)));
		GROW(s->value, i, s->cap, 1);
		s->value[i] = slice_of(eq + 3, (size_t)(line.p + line.n - eq) - 3);
	}
}

static void put_setting(struct report_text *t, struct settings *s, struct slice text)
{
	uint32_t before = s->shown.n;
	if (intern_add(&s->shown, text) < before || s->shown.n > SETTINGS)
		return;
	if (s->shown.n == 1)
		buf_addf(t->b, "\nSettings that are not the defaults of torch 2.%u:\n\n", s->release);
	report_add_code(t, "- ", text);
	buf_addc(t->b, '\n');
}

static void put_settings_of(struct report_text *t, struct settings *s, const char *module, struct slice text)
{
	OWNED(json_tape_release) struct json_tape tape = {0};
	LOCAL_BUF name = {0};
	uint32_t root;
	json_tape_text(&tape, text.p, text.n);
	if (text.n && json_parse(&tape, 0, text.n, &root) == 0 && json_is(&tape, root, JSON_OBJECT))
		json_each_pair(&tape, root, k) {
			buf_reset(&name);
			buf_addf(&name, "%s.", module);
			buf_add_slice(&name, json_slice(&tape, k));
			uint32_t i = intern_find(&s->name, buf_slice(&name));
			if (i == NONE || slice_eq(s->value[i], json_raw(&tape, k + 1)))
				continue;
			buf_adds(&name, " = ");
			buf_add_slice(&name, json_raw(&tape, k + 1));
			put_setting(t, s, buf_slice(&name));
		}
}

/* The settings of the first compilation of each input. */
static void put_settings(struct report_text *t)
{
	const struct facts *f = t->x->facts;
	struct settings s = {0};
	read_defaults(&s, release_of(f));
	for (uint32_t i = 0; i < f->n_input; i++)
		for (unsigned k = 0; k < CONFIG_TEXTS; k++)
			put_settings_of(t, &s, release_module[k], facts_text(f, f->input[i].config.text[k]));
	if (s.shown.n > SETTINGS)
		buf_addf(t->b, "- and %u more\n", s.shown.n - SETTINGS);
	intern_release(&s.name);
	intern_release(&s.shown);
	free(s.value);
}

/* ---- the environment: what python -m torch.utils.collect_env prints ---- */

static size_t whole_lines(const char *data, size_t len)
{
	while (len && data[len - 1] != '\n')
		len--;
	return len;
}

static bool is_env_line(struct slice line)
{
	return !line.n || slice_starts(line, "[pip3]") || slice_starts(line, "[conda]") || memchr(line.p, ':', line.n < 64 ? line.n : 64);
}

/* Appends its lines to env, up to the first other line. True once it has started. */
static bool take_env(struct buf *env, struct slice text, bool inside)
{
	struct slice line;
	while (slice_line(&text, &line)) {
		if (!inside && !slice_starts(line, "PyTorch version: "))
			continue;
		if (!is_env_line(line) || env->len + line.n > MAX_ENV)
			return true;
		inside = true;
		buf_add_slice(env, line);
		buf_addc(env, '\n');
	}
	return inside;
}

static void find_env(struct buf *env, const char *path)
{
	struct input in;
	OWNED(window_release) struct window w = {0};
	struct err err;
	bool inside = false;
	if (access(path, R_OK) < 0 || input_open(&in, path, &err) < 0)
		return;
	while (!inside && in.offset < MAX_SCAN && input_next(&in, &w, 1 << 20, whole_lines) > 0) {
		inside = take_env(env, slice_of(w.data, w.len), false);
		if (inside && input_next(&in, &w, 1 << 20, whole_lines) > 0 && env->len < MAX_ENV / 2)
			take_env(env, slice_of(w.data, w.len), true);
	}
	input_close(&in);
}

static void put_environment(struct report_text *t)
{
	const struct facts *f = t->x->facts;
	LOCAL_BUF env = {0};
	for (uint32_t i = 0; i < f->n_input && !env.len; i++) {
		struct slice path = facts_text(f, f->input[i].path);
		FREED char *name = xstrndup(path.n ? path.p : "", path.n);
		if (f->input[i].kind == FACT_TEXTLOG)
			find_env(&env, name);
	}
	if (env.len) {
		redact_learn(&t->r, buf_slice(&env));
		buf_adds(t->b, "\n<details><summary>collect_env</summary>\n\n");
		report_add_block(t, "", buf_slice(&env), MAX_ENV);
		buf_adds(t->b, "\n</details>\n");
	} else {
		buf_adds(
		    t->b,
		    "\nFor the rest, run `python -m torch.utils.collect_env`; `fxexplain report` accepts its output as another input.\n");
	}
}

static void put_version(struct report_text *t, const char *what, uint32_t id, struct intern *shown)
{
	struct slice text = facts_text(t->x->facts, id);
	uint32_t before = shown->n;
	if (!text.n || intern_add(shown, text) < before)
		return;
	buf_addf(t->b, "- %s ", what);
	report_add_code(t, "", text);
	buf_addc(t->b, '\n');
}

void report_versions(struct report_text *t)
{
	const struct facts *f = t->x->facts;
	OWNED(intern_release) struct intern torch = {0}, python = {0}, cuda = {0};
	for (uint32_t i = 0; i < f->n_input; i++) {
		put_version(t, "torch", f->input[i].torch_version, &torch);
		put_version(t, "Python", f->input[i].python_version, &python);
		put_version(t, "CUDA", f->input[i].cuda_version, &cuda);
	}
	if (!torch.n && t->repro.versions.n) {
		buf_adds(t->b, "- ");
		report_add_text(t, t->repro.versions);
		buf_addc(t->b, '\n');
	} else if (!torch.n) {
		buf_adds(t->b, "- torch: unknown\n");
	}
	put_settings(t);
	put_environment(t);
}
