/* package_part.h - what package*.c share. */
#ifndef PT2_PACKAGE_PART_H
#define PT2_PACKAGE_PART_H
#include "model/package/package.h"

#define PACKAGE_MAX_FILES (1u << 20)
#define PACKAGE_MAX_DIR 65536 /* entries of a folder that are looked at */

/* Describes a file that is no package, for the error message: "is a checkpoint (torch.save), not a model: ...". */
void package_not(const struct package *pkg, struct slice bytes, struct err *err);

/* All regular files below a folder, `depth` levels deep, as added files with paths relative to it. */
int package_list(struct package *pkg, const char *dir, unsigned depth, struct err *err);
uint32_t package_add_file(struct package *pkg, struct slice path, uint64_t size, struct zip_member *member);

#endif
