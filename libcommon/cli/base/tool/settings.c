#include "base/tool/settings.h"

#include "base/io/mapfile.h"
#include "base/text.h"
#include "base/toml.h"
#include "base/tool/diag.h"
#include "base/tool/opt.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEVELS = 64, FILE_MOST = 1 << 20 };

static struct settings settings;

struct reading {
	unsigned skip; /* parts of a key before ours: 2 in pyproject.toml */
	bool any;
};

/* ---- one value ---- */

static const char *const names[] = {"python", "patterns", "ignore", "max", "per-file-ignores", NULL};

static int unknown_name(struct slice name, struct err *err)
{
	struct opt_guess g = {.word = name};
	for (size_t i = 0; names[i]; i++)
		opt_guess(&g, names[i]);
	FREED char *meant = opt_guess_text(&g);
	return err_set(err, EXIT_USAGE, "unknown setting '%.*s'%s: use python, patterns, ignore, max, per-file-ignores", SL(name), meant);
}

/* A path of the file's own folder; a word without a slash is looked for in PATH. */
static char *path_of(struct slice text, bool word)
{
	const struct slice folder = path_folder(settings.file);
	char *path = xstrndup(text.p, text.n);
	if (*path == '/' || (word && !strchr(path, '/')))
		return path;
	/* The file's own name of it stays: a virtual environment's python is a link, and finds its packages by where it is. */
	FREED char *named = xstrndup(folder.p, folder.n);
	FREED char *at = realpath(named, NULL);
	char *whole = at ? xasprintf("%s/%s", at, path) : xstrdup(path);
	free(path);
	return whole;
}

static void add(enum setting_kind kind, struct slice name, char *value, uint32_t line)
{
	PUSH_TO(settings.v, settings.n, settings.cap) =
	    (struct setting){kind, xstrndup(name.p, name.n), value, xasprintf("%s:%u", settings.file, line)};
}

static int add_id(enum setting_kind kind, struct slice name, const struct toml_value *v, struct err *err)
{
	if (v->type == TOML_EMPTY)
		return 0;
	if (v->type != TOML_STRING || !v->in_array || !v->text.n)
		return err_set(err, EXIT_USAGE, "'%.*s' must be a list of ids of findings, as in [\"GB0124\", \"recompile\"]", SL(name));
	add(kind, name, xstrndup(v->text.p, v->text.n), v->line);
	return 0;
}

static int take(void *ctx, const struct toml_value *v, struct err *err)
{
	struct reading *r = ctx;
	if (r->skip && (v->n_key <= r->skip || !slice_is(v->key[0], "tool") || !slice_is(v->key[1], "pt2utils")))
		return 0;
	const struct slice name = v->key[r->skip];
	const unsigned n = v->n_key - r->skip;
	r->any = true;
	if (n == 1 && (slice_is(name, "python") || slice_is(name, "patterns"))) {
		const bool python = slice_is(name, "python");
		if (v->type != TOML_STRING || v->in_array || !v->text.n || memchr(v->text.p, 0, v->text.n))
			return err_set(err, EXIT_USAGE, "'%.*s' must be a path", SL(name));
		add(python ? SETTING_PYTHON : SETTING_PATTERNS, name, path_of(v->text, python), v->line);
		return 0;
	}
	if (n == 1 && slice_is(name, "ignore"))
		return add_id(SETTING_IGNORE, name, v, err);
	if (n == 2 && slice_is(name, "per-file-ignores"))
		return add_id(SETTING_FILE_IGNORE, v->key[r->skip + 1], v, err);
	if (n == 2 && slice_is(name, "max")) {
		if ((v->type != TOML_INTEGER && v->type != TOML_FLOAT) || v->in_array)
			return err_set(err, EXIT_USAGE, "'%.*s' must be a number", SL(v->key[r->skip + 1]));
		add(SETTING_MAX, v->key[r->skip + 1], xstrndup(v->text.p, v->text.n), v->line);
		return 0;
	}
	if (slice_is(name, "max") || slice_is(name, "per-file-ignores"))
		return err_set(err, EXIT_USAGE, "'%.*s' must be a table", SL(name));
	return unknown_name(name, err);
}

/* ---- the file ---- */

/* True: it has settings. An own file has them, even if it is empty. */
static bool read_file(const char *path, bool own)
{
	struct stat st;
	struct mapfile map;
	struct err err = {0};
	struct reading r = {.skip = own ? 0 : 2};
	uint32_t line = 0;
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MOST)
		return false;
	if (mapfile_open(&map, path, &err) < 0)
		die_err(&err);
	settings.file = xstrdup(path);
	const int status = toml_read(map.bytes, take, &r, &line, &err);
	mapfile_close(&map);
	if (status < 0)
		die(EXIT_USAGE, "%s:%u: %s", path, line, err.text);
	if (own || r.any)
		return true;
	free((char *)settings.file);
	settings.file = NULL;
	return false;
}

static bool has(const char *folder, const char *name)
{
	FREED char *path = xasprintf("%s%s", folder, name);
	return access(path, F_OK) == 0;
}

static bool same_folder(const char *a, const char *b)
{
	struct stat x, y;
	return b && *b && stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void find_file(void)
{
	LOCAL_BUF folder = {0}; /* "", "../", "../../" */
	for (unsigned i = 0; i < LEVELS; i++) {
		const char *at = folder.len ? buf_str(&folder) : "./";
		FREED char *own = xasprintf("%s.pt2utils.toml", folder.len ? at : ""),
			   *project = xasprintf("%spyproject.toml", folder.len ? at : "");
		if (read_file(own, true) || read_file(project, false) || has(at, ".git") || same_folder(at, getenv("HOME")) ||
		    same_folder(at, "/"))
			return;
		buf_adds(&folder, "../");
	}
}

/* ---- python ---- */

static bool is_trusted(const char *path)
{
	const char *sudo = getenv("SUDO_UID");
	struct stat st;
	if (stat(path, &st) < 0 || (st.st_mode & S_IWOTH))
		return false;
	return st.st_uid == geteuid() || st.st_uid == 0 || (geteuid() == 0 && sudo && (uid_t)strtoul(sudo, NULL, 10) == st.st_uid);
}

static void use_python(void)
{
	const char *set = getenv("PT2_PYTHON");
	for (size_t i = 0; i < settings.n; i++) {
		struct setting *s = &settings.v[i];
		if (s->kind != SETTING_PYTHON)
			continue;
		if (!is_trusted(settings.file)) {
			warn("%s: python is not taken from a file that another user owns or may write to", s->from);
			memmove(s, s + 1, (settings.n - i - 1) * sizeof(*s));
			settings.n--;
			return;
		}
		if (!set || !*set)
			setenv("PT2_PYTHON", s->value, 1);
		return;
	}
}

const struct settings *settings_load(void)
{
	static bool loaded;
	const char *named = getenv("PT2_SETTINGS");
	if (loaded)
		return &settings;
	loaded = true;
	if (!named)
		find_file();
	else if (*named && !read_file(named, !slice_is(slice_str(path_base(named)), "pyproject.toml")))
		die(EXIT_USAGE, "PT2_SETTINGS: '%s' has no settings for pt2utils", named);
	use_python();
	return &settings;
}
