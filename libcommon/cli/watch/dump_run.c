/* Runs a model into a dump. */
#include "base/io/mapfile.h"
#include "base/process/elsewhere.h"
#include "base/tool/output.h"
#include "watch/dump.h"
#include "watch/given.h"
#include "watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

struct running {
	struct buf index;
	uint64_t calls;
};

static void drain_calls(void *user, struct watch *w)
{
	struct running *r = user;
	struct watch_call c;
	while (watch_next(w, &c)) {
		r->calls++;
		dump_line(&r->index, &c, NULL, NULL);
	}
}

static int write_index(const char *folder, const struct buf *b, struct err *err)
{
	char *path = xasprintf("%s/" DUMP_INDEX, folder);
	const int fd = make_file(path, O_WRONLY | O_EXCL, 0666);
	int r = fd < 0 ? err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path) : write_all(fd, b->p, b->len, path, err);
	if (fd >= 0 && close(fd) < 0 && !r)
		r = err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path);
	free(path);
	return r;
}

static void take_notes(const struct watch *w, struct dump_ran *ran)
{
	buf_add_slice(&ran->notes, buf_slice(&w->asides));
	for (size_t i = 0; i < w->n_models; i++)
		if (w->model[i].why)
			buf_addf(&ran->notes, "'%s': %s\n", w->model[i].path, w->model[i].why);
	ran->failed = w->failed;
	ran->lost = w->calls.lost;
}

int dump_run(struct watch_options *o, const char *folder, const char *writer, struct dump_ran *ran, struct err *err)
{
	struct running r = {0};
	struct watch w;
	*ran = (struct dump_ran){0};
	o->calls.want = CALLS_NAMES | CALLS_SAVE | CALLS_INPUTS | CALLS_ARENA;
	o->calls.last_run = UINT32_MAX;
	o->calls.lo = (double)-INFINITY;
	o->calls.hi = (double)INFINITY;
	o->calls.save_format = TENSOR_NPY;
	o->calls.save_max = UINT64_MAX;
	if ((size_t)snprintf(o->calls.save_dir, sizeof(o->calls.save_dir), "%s", folder) >= sizeof(o->calls.save_dir))
		return err_set(err, EXIT_ENVIRON, "'%s': the path of the temporary directory is too long", folder);
	o->tick = drain_calls;
	o->user = &r;
	dump_head(&r.index, writer);
	if (watch_run(&w, o, err) < 0) {
		buf_release(&r.index);
		return -1;
	}
	drain_calls(&r, &w);
	take_notes(&w, ran);
	dump_end(&r.index, r.calls, ran->lost, slice_str(ran->failed.text));
	int rc = 0;
	if (calls_unsaved(&w.calls)) {
		errno = calls_unsaved(&w.calls);
		rc = err_errno(err, EXIT_ENVIRON, "cannot write tensors into '%s'", folder);
	}
	rc = rc ? rc : write_index(folder, &r.index, err);
	watch_release(&w);
	buf_release(&r.index);
	if (rc < 0)
		buf_release(&ran->notes);
	return rc;
}

static int read_taken(const char *folder, size_t size, struct buf *taken, struct err *err)
{
	struct mapfile f;
	char *path = xasprintf("%s/" GIVEN_FILE, folder);
	int r = mapfile_open(&f, path, err);
	free(path);
	if (r < 0)
		return r;
	if (f.bytes.n == size)
		buf_add_slice(taken, f.bytes);
	else
		r = err_set(err, EXIT_ENVIRON, "the model changed the size of a private file");
	mapfile_close(&f);
	return r;
}

enum { GIVEN_RECORDS = 4096 }; /* of the log, which nobody reads */

int given_run(struct watch_options *o, struct buf *taken, struct err *err)
{
	struct watch w;
	o->calls.want = CALLS_NAMES | CALLS_GIVE;
	o->calls.last_run = UINT32_MAX;
	o->calls.lo = (double)-INFINITY;
	o->calls.hi = (double)INFINITY;
	o->calls.records = GIVEN_RECORDS;
	if (watch_run(&w, o, err) < 0)
		return -1;
	const int r = read_taken(w.live.folder, o->given.n, taken, err);
	watch_release(&w);
	return r;
}
