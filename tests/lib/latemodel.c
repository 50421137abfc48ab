/* latemodel.c - such a model, linked without crti.o: it cannot be known before its container is made. */
#define QUIET
#include "fakemodel.c"
