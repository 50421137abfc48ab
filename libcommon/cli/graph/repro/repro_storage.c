/* SAVE_DIR/storages/HASH: torch.save of an untyped storage (torch 2.13, torch/utils/_content_store.py, write_storage): a zip archive
 * with ROOT/data.pkl, which is only a persistent id ("storage", UntypedStorage, "0", device, bytes), and ROOT/data/0. */
#include <errno.h>
#include <unistd.h>
#include "graph/repro/repro_part.h"
#include "base/io/zip.h"

static bool try_folder(struct slice dir, const char *sub, struct slice hash, struct buf *b)
{
	const size_t was = b->len;
	buf_add_slice(b, dir);
	if (dir.n && dir.p[dir.n - 1] != '/')
		buf_addc(b, '/');
	buf_addf(b, "%sstorages/", sub);
	buf_add_slice(b, hash);
	if (access(buf_str(b), R_OK) == 0)
		return true;
	buf_cut(b, was);
	return false;
}

int repro_storage_path(const struct repro *r, uint32_t storage, struct buf *b)
{
	const struct slice hash = r->storage[storage].hash;
	LOCAL_BUF dir = {0};
	bool found = false;
	if (!hash.n || slice_chr(hash, '/') || slice_chr(hash, '\0') || hash.p[0] == '.')
		return -1; /* not a file name: load_args is checked, other forms are not */
	if (r->save_dir.n && r->save_dir.p[0] != '/' && r->dir.n) {
		buf_add_slice(&dir, r->dir);
		buf_addc(&dir, '/');
	}
	buf_add_slice(&dir, r->save_dir);
	if (dir.len)
		found = try_folder(buf_slice(&dir), "", hash, b);
	/* Beside the program, for a launcher that was moved with its folder. */
	return found || try_folder(r->dir, "checkpoints/", hash, b) || try_folder(r->dir, "", hash, b) ? 0 : -1;
}

static struct zip_member *find_data(struct zip *z)
{
	for (size_t i = 0; i < z->n; i++)
		if (slice_ends(z->v[i].name, "/data/0"))
			return &z->v[i];
	return NULL;
}

int repro_bytes_read(struct repro_bytes *s, struct slice zip, const char *path, struct err *err)
{
	if (zip_open(&s->zip, zip, path, err) < 0)
		return -1;
	struct zip_member *m = find_data(&s->zip);
	if (!m)
		err_set(err, EXIT_INPUT, "'%s' is not a stored input of torch: it has no data/0", path);
	else if (zip_data(&s->zip, m, &s->bytes, err) == 0)
		return 0;
	zip_close(&s->zip);
	return -1;
}

int repro_bytes_open(struct repro_bytes *s, const char *path, struct err *err)
{
	*s = (struct repro_bytes){0};
	if (mapfile_open(&s->file, path, err) < 0)
		return -1;
	int rc = repro_bytes_read(s, s->file.bytes, s->file.path, err);
	if (rc < 0)
		repro_bytes_close(s);
	return rc;
}

void repro_bytes_close(struct repro_bytes *s)
{
	zip_close(&s->zip);
	if (s->file.path)
		mapfile_close(&s->file);
	*s = (struct repro_bytes){0};
}
