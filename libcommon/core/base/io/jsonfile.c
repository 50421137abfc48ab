#include "base/io/jsonfile.h"

bool jsonfile_open(struct jsonfile *d, const char *path)
{
	*d = (struct jsonfile){.root = NONE};
	if (mapfile_open(&d->map, path, NULL) < 0 || !d->map.bytes.n || d->map.bytes.n > UINT32_MAX / 2)
		return false;
	json_tape_text(&d->t, d->map.bytes.p, d->map.bytes.n);
	if (json_parse(&d->t, 0, d->map.bytes.n, &d->root) < 0)
		d->root = NONE;
	return d->root != NONE;
}

void jsonfile_close(struct jsonfile *d)
{
	json_tape_release(&d->t);
	mapfile_close(&d->map);
}
