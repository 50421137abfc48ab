#include "base/io/jsonfile.h"

int jsonfile_read(struct jsonfile *d, const char *path, struct err *err)
{
	*d = (struct jsonfile){.root = NONE};
	if (mapfile_open(&d->map, path, err) < 0)
		return -1;
	if (d->map.bytes.n > UINT32_MAX / 2)
		return err_set(err, EXIT_INPUT, "'%s': invalid JSON: larger than 2 GiB", path);
	json_tape_text(&d->t, d->map.bytes.p, d->map.bytes.n);
	if (json_parse(&d->t, 0, d->map.bytes.n, &d->root) == 0)
		return 0;
	d->root = NONE;
	return err_set(err, EXIT_INPUT, "'%s': invalid JSON at byte %zu: %s", path, d->t.error_at, d->t.error);
}

bool jsonfile_open(struct jsonfile *d, const char *path) { return jsonfile_read(d, path, NULL) == 0; }

void jsonfile_close(struct jsonfile *d)
{
	json_tape_release(&d->t);
	mapfile_close(&d->map);
}
