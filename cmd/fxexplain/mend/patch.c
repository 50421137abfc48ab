/* patch.c - the accepted texts as a unified diff, or written to the files. */
#include "mend/mend_part.h"

#include "base/io/mapfile.h"
#include "base/text.h"
#include "base/tool/output.h"
#include "base/unified.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Calls fn for each file that the result changes. */
static int each_file(const struct mend_search *s,
		     int (*fn)(void *arg, const char *path, struct slice before, struct slice after, struct err *err), void *arg,
		     struct err *err)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	OWNED(arena_release) struct arena a = {0};
	struct slice texts = mend_search_best(s)->texts;
	uint32_t root;
	int status = 0;
	json_tape_text(&t, texts.p, texts.n);
	if (json_parse(&t, 0, texts.n, &root) < 0)
		return 0;
	json_each_pair(&t, root, k) {
		struct slice path = json_dup_at(&t, k, &a), after = json_dup_at(&t, k + 1, &a);
		struct mapfile m;
		if (status < 0 || (status = mapfile_open(&m, path.p, err)) < 0)
			break;
		if (!slice_eq(m.bytes, after))
			status = fn(arg, path.p, m.bytes, after, err);
		mapfile_close(&m);
	}
	return status;
}

struct diff {
	struct buf *b;
	unsigned files;
};

static int add_diff(void *arg, const char *path, struct slice before, struct slice after, struct err *err)
{
	struct diff *d = arg;
	char cwd[PATH_MAX] = "";
	(void)err;
	const char *name = getcwd(cwd, sizeof(cwd)) ? path_below(path, cwd) : NULL;
	unified_diff(d->b, name ? name : path, before, after);
	d->files++;
	return 0;
}

unsigned patch_text(struct buf *b, const struct mend_search *s)
{
	struct diff d = {.b = b};
	struct err err;
	(void)each_file(s, add_diff, &d, &err);
	return d.files;
}

static int write_one(void *arg, const char *path, struct slice before, struct slice after, struct err *err)
{
	struct buf *said = arg;
	struct stat st;
	FREED char *kept = xasprintf("%s.orig", path);
	(void)before;
	if (stat(path, &st) < 0)
		return err_errno(err, EXIT_INPUT, "cannot read '%s'", path);
	if (access(kept, F_OK) == 0)
		return err_set(err, EXIT_ENVIRON, "'%s' exists: the original of '%s' would be lost", kept, path);
	struct output *o = output_file(path, err);
	if (!o)
		return -1;
	if (fchmod(output_fd(o), st.st_mode & 07777) < 0 || write_all(output_fd(o), after.p, after.n, path, err) < 0 ||
	    link(path, kept) < 0) {
		if (!err->text[0])
			err_errno(err, EXIT_ENVIRON, "cannot keep '%s' as '%s'", path, kept);
		output_abort(o);
		return -1;
	}
	if (output_commit(o, err) < 0)
		return -1;
	buf_addf_clean(said, "%s: changed; original kept as %s\n", path, kept);
	return 0;
}

int patch_apply(struct buf *b, const struct mend_search *s, struct err *err)
{
	err->text[0] = 0;
	return each_file(s, write_one, b, err);
}
