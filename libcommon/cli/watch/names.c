#include "watch/names.h"

#include "base/text.h"
#include "base/tool/diag.h"
#include "model/contract/exported.h"

#include <dirent.h>
#include <sys/stat.h>

enum { BESIDE_FILES = 64 };

static bool same_input(const struct contract_input *a, const struct contract_input *b)
{
	if (a->dtype != DTYPE_NONE && b->dtype != DTYPE_NONE && a->dtype != b->dtype)
		return false;
	if (a->rank_known && b->rank_known && a->n_dim != b->n_dim)
		return false;
	for (int d = 0; d < a->n_dim && d < b->n_dim; d++)
		if (symsize_is_int(a->dim[d].size) && symsize_is_int(b->dim[d].size) && !symsize_eq(a->dim[d].size, b->dim[d].size))
			return false;
	return true;
}

static bool same_inputs(const struct contract *a, const struct contract *b)
{
	if (a->n_inputs != b->n_inputs)
		return false;
	for (uint32_t i = 0; i < a->n_inputs; i++)
		if (!same_input(&a->input[i], &b->input[i]))
			return false;
	return true;
}

static struct slice name_of(const struct contract_input *in) { return in->path.n ? in->path : in->name; }

static void lend(struct contract *c, const struct contract *from)
{
	for (uint32_t i = 0; i < c->n_inputs; i++)
		c->input[i].alias = arena_slice(&c->arena, name_of(&from->input[i]));
}

static bool same_names(const struct contract *a, const struct contract *b)
{
	for (uint32_t i = 0; i < a->n_inputs; i++)
		if (!slice_eq(name_of(&a->input[i]), name_of(&b->input[i])))
			return false;
	return true;
}

/* The first exported program of an open package. */
static int read_program(struct package *pkg, struct contract *c, struct err *err)
{
	struct slice json;
	*c = (struct contract){0};
	if (package_data(pkg, pkg->exported[0], &json, err) < 0)
		return -1;
	if (exported_read(c, json, err) == 0)
		return 0;
	contract_release(c);
	*c = (struct contract){0};
	return -1;
}

static int open_program(const char *path, struct contract *c, struct err *err)
{
	struct package pkg;
	*c = (struct contract){0};
	if (package_open_exported(&pkg, path, err) < 0)
		return -1;
	const int r = read_program(&pkg, c, err);
	package_close(&pkg);
	return r;
}

static int lend_named(struct contract *c, const char *path, struct err *err)
{
	OWNED(contract_release) struct contract from;
	if (open_program(path, &from, err) < 0)
		return -1;
	if (!same_inputs(c, &from))
		return err_set(err, EXIT_INPUT, "'%s' has other inputs than the model: is it the program that was compiled?", path);
	lend(c, &from);
	return 1;
}

static bool lend_own(const struct loaded *l, struct contract *c)
{
	struct err ignored;
	return l->pkg.n_exported && lend_named(c, l->pkg.path, &ignored) > 0;
}

/* The folder that holds the model: that of a file, a folder itself and what it lies in are too much of a guess. */
static char *folder_of(const char *path)
{
	struct stat st;
	if (!path || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	const struct slice folder = path_folder(path);
	return folder.n ? xstrndup(folder.p, folder.n) : xstrdup(".");
}

static bool lend_beside(const struct loaded *l, struct contract *c)
{
	FREED char *folder = folder_of(l->pkg.path);
	FREED char *which = NULL;
	OWNED(contract_release) struct contract found = {0};
	DIR *d = folder ? opendir(folder) : NULL;
	int left = BESIDE_FILES;
	bool agree = true;
	for (struct dirent *e; d && agree && left && (e = readdir(d));) {
		if (!slice_ends(slice_str(e->d_name), ".pt2"))
			continue;
		FREED char *path = strcmp(folder, ".") ? xasprintf("%s/%s", folder, e->d_name) : xstrdup(e->d_name);
		struct contract from;
		struct err ignored;
		left--;
		if (open_program(path, &from, &ignored) < 0)
			continue;
		if (!same_inputs(c, &from)) {
			contract_release(&from);
		} else if (which) {
			agree = same_names(&found, &from);
			contract_release(&from);
		} else {
			found = from;
			which = xstrdup(path);
		}
	}
	if (d)
		closedir(d);
	if (!which || !agree)
		return false;
	lend(c, &found);
	note("the inputs' names are those of '%s', beside the model", which);
	return true;
}

int names_lend(const struct loaded *l, struct contract *c, const char *exported, struct err *err)
{
	if (exported)
		return lend_named(c, exported, err);
	return lend_own(l, c) || lend_beside(l, c);
}

int names_given(struct given *g, const struct loaded *l, struct contract *c, const char *exported, const char *const *operands, int n,
		bool all, struct err *err)
{
	struct err ignored;
	int (*const read)(struct given *, const struct contract *, const char *const *, int, struct err *) =
	    all ? given_read_all : given_read;
	const int r = read(g, c, operands, n, err);
	if (!r || !g->unknown)
		return r;
	if ((!exported || names_lend(l, c, exported, &ignored) <= 0) && names_lend(l, c, NULL, &ignored) <= 0)
		return r;
	return read(g, c, operands, n, err);
}
