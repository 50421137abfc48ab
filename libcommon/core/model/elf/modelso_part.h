/* modelso_part.h - what modelso*.c share. */
#ifndef PT2_MODELSO_PART_H
#define PT2_MODELSO_PART_H
#include "model/elf/modelso.h"
#include "model/elf/modelso_elf.h"

/* A DT_NEEDED of torch's that modelso_make_loadable() took out: a tag between DT_LOOS and DT_HIOS, which a dynamic linker passes over. */
#define MODELSO_DT_DROPPED 0x60707432

#define MODELSO_MAX_NAMES (16u << 20) /* bytes of the names of kernels */
#define MODELSO_MAX_SCAN (64u << 20)  /* bytes of a section that are searched for strings or images */

void modelso_find_constants(struct modelso *m, const struct elf_view *v);
void modelso_dwarf_free(struct modelso *m);

#endif
