/* check_part.h - for the files of check.h only: creates findings. */
#ifndef PT2_CHECK_PART_H
#define PT2_CHECK_PART_H
#include "model/check/check.h"

/* The returned finding is valid until the next one. */
struct check_finding *check_found(struct check *k, enum check_what what, uint32_t input, int dim);
#define check_keep(k, ...) arena_textf(&(k)->arena, __VA_ARGS__)

#endif
