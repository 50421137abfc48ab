/* tensor/pickle where char has no sign, as on ARM: compiled with -funsigned-char (Makefile). */
#define run pickle_run
#define is_kind call_is_kind
#include "../../../libcommon/core/tensor/pickle.c"
#include "../../../libcommon/core/tensor/pickle_call.c"
#undef run
#undef is_kind
#include "test_pickle.c"
