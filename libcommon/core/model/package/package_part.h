/* package_part.h - shared by package*.c. */
#ifndef PT2_PACKAGE_PART_H
#define PT2_PACKAGE_PART_H
#include "model/package/package.h"

#define PACKAGE_MAX_FILES (1u << 20)
#define PACKAGE_MAX_DIR 65536 /* directory entries that are examined */

/* Describes a file that is not a package, for the error message: "is a checkpoint (torch.save), not a model: ...". */
void package_not(const struct package *pkg, struct slice bytes, struct err *err);

/* Adds all regular files below a directory, `depth` levels deep, with paths relative to it. */
int package_list(struct package *pkg, const char *dir, unsigned depth, struct err *err);
uint32_t package_add_file(struct package *pkg, struct slice path, uint64_t size, struct zip_member *member);

#endif
