/* jsonfile.h - a file that is one JSON document: mapped and parsed.
 *
 *     OWNED(jsonfile_close) struct jsonfile d;
 *     if (!jsonfile_open(&d, path)) ...                // it cannot be read, is empty, larger than 2 GiB, or is not JSON
 *     json_count(&d.t, d.root, "calls", 0)
 */
#ifndef PT2_JSONFILE_H
#define PT2_JSONFILE_H
#include "base/io/mapfile.h"
#include "base/json.h"

struct jsonfile {
	struct mapfile map;
	struct json_tape t;
	uint32_t root; /* NONE: there is no document; reads of it give "none" */
};
bool jsonfile_open(struct jsonfile *d, const char *path);
int jsonfile_read(struct jsonfile *d, const char *path, struct err *err); /* the same; says why not */
void jsonfile_close(struct jsonfile *d);                                  /* after an open that failed, too */

#endif
