/* Writes a program to a file, with the folder of its larger inputs. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/tool/screen.h"
#include "graph/repro/repro_plan.h"
#include "base/tool/output.h"
#include "tensor/write.h"
#include "base/text.h"

static int make_folder(const char *path, struct err *err)
{
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return err_errno(err, EXIT_ENVIRON, "cannot create directory '%s'", path);
	return 0;
}

static int write_bytes(int fd, const struct plan_storage *s, const char *path, struct err *err)
{
	if (!s->path.n)
		return tensor_write_storage(fd, s->bytes, s->device, path, err);
	FREED char *from = xstrndup(s->path.p, s->path.n);
	const int in = open(from, O_RDONLY | O_CLOEXEC);
	int rc = in < 0 ? err_errno(err, EXIT_INPUT, "cannot read '%s'", from) : copy_all(in, fd, path, err);
	if (in >= 0)
		close(in);
	return rc;
}

static int put_storage(const struct plan_storage *s, const char *folder, struct err *err)
{
	FREED char *path = xasprintf("%s/%.*s", folder, SL(s->hash));
	struct output *o = output_file(path, err);
	int rc = o ? write_bytes(output_fd(o), s, path, err) : -1;
	if (o && rc < 0)
		output_abort(o);
	else if (o)
		rc = output_commit(o, err);
	return rc;
}

static int put_folder(const struct plan *p, const char *path, struct err *err)
{
	FREED char *folder = xasprintf("%.*s%.*s", (int)(path_base(path) - path), path, SL(p->folder));
	FREED char *inner = xasprintf("%s/storages", folder);
	bool made = false;
	int rc = 0;
	for (size_t i = 0; i < p->n_storages && !rc; i++) {
		if (p->storage[i].how != PLAN_FILE)
			continue;
		if (!made)
			rc = make_folder(folder, err) < 0 || make_folder(inner, err) < 0 ? -1 : 0;
		made = true;
		if (!rc)
			rc = put_storage(&p->storage[i], inner, err);
	}
	return rc;
}

int repro_save(const struct repro *r, const struct repro_program *how, const char *path, struct err *err)
{
	struct screen text = {0};
	struct plan p;
	if (plan_make(&p, r, how, path_base(path), err) < 0)
		return -1;
	int rc = plan_text(&p, r, how, &text.b, err);
	if (!rc)
		rc = put_folder(&p, path, err);
	if (!rc)
		rc = screen_save(&text, path, err);
	plan_release(&p);
	buf_release(&text.b);
	return rc;
}
