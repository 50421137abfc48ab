/* modelso_part.h - what modelso*.c share. */
#ifndef PT2_MODELSO_PART_H
#define PT2_MODELSO_PART_H
#include "aoti/modelso.h"
#include "aoti/modelso_elf.h"

#define MODELSO_MAX_SCAN (64u << 20) /* bytes of a section that are searched for strings or images */

void modelso_find_constants(struct modelso *m, const struct elf_view *v);
void modelso_dwarf_free(struct modelso *m);

#endif
