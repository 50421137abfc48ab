#include "mcp/roots.h"

#include "base/text.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

int roots_add(struct roots *r, const char *folder, struct err *err)
{
	struct stat st;
	char *real = realpath(folder, NULL);
	if (!real)
		return err_errno(err, EXIT_INPUT, "cannot use '%s'", folder);
	PUSH_TO(r->v, r->n, r->cap) = real;
	if (stat(real, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(err, EXIT_INPUT, "cannot use '%s': it is not a folder", folder);
	return 0;
}

void roots_release(struct roots *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->v[i]);
	free(r->v);
}

static char *resolved(const struct roots *r, const char *path)
{
	FREED char *whole = *path == '/' ? xstrdup(path) : xasprintf("%s/%s", r->v[0], path);
	return realpath(whole, NULL);
}

static bool is_below(const struct roots *r, const char *real)
{
	for (size_t i = 0; i < r->n; i++)
		if (path_below(real, r->v[i]) || !strcmp(r->v[i], "/"))
			return true;
	return false;
}

static char *outside(const char *path, struct err *err)
{
	err_set(err, EXIT_USAGE, "'%s' is outside of the folders that pt2 mcp was started for", path);
	return NULL;
}

char *roots_path(const struct roots *r, const char *path, struct err *err)
{
	char *real = resolved(r, path);
	if (!real) {
		err_errno(err, EXIT_INPUT, "cannot read '%s'", path);
		return NULL;
	}
	if (is_below(r, real))
		return real;
	free(real);
	return outside(path, err);
}

/* `word` with what is a path in it resolved: all of it but `before` bytes and what follows `end`. NULL without an error: it is none. */
static char *in_word(const struct roots *r, const char *word, size_t before, const char *end, struct err *err)
{
	FREED char *path = xstrndup(word + before, (size_t)(end - word) - before);
	FREED char *real = *path ? resolved(r, path) : NULL;
	if (!real)
		return NULL;
	return is_below(r, real) ? xasprintf("%.*s%s%s", (int)before, word, real, end) : outside(path, err);
}

char *roots_word(const struct roots *r, const char *word, struct err *err)
{
	const char *end = word + strlen(word), *equals = strchr(word, '='), *colon = strrchr(word, ':');
	const size_t named = equals ? (size_t)(equals + 1 - word) : 0;
	char *found = NULL;
	*err = (struct err){0};
	if (!*word || *word == '-') {
		err_set(err, EXIT_USAGE, "'%s' is not a file, a folder or a spec such as f32[8,10]", word);
		return NULL;
	}
	for (unsigned i = 0; i < 4 && !found && !err->text[0]; i++)
		if ((!(i & 1) || named) && (!(i & 2) || (colon && colon > word + named)))
			found = in_word(r, word, i & 1 ? named : 0, i & 2 ? colon : end, err);
	if (!found && !err->text[0] && strchr(word, '/'))
		err_set(err, EXIT_INPUT, "cannot read '%s': No such file or directory", word);
	return found || err->text[0] ? found : xstrdup(word);
}
