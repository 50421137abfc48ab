/* quietmodel.c - a model that calls nothing of libtorch's while it is loaded: one without a buffer of its own. */
#define QUIET
#include "fakemodel.c"
