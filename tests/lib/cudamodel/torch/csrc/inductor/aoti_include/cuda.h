/* Stands for torch's header of this name: declarations that generated code for CUDA uses. See ../../../../runtime.h. */
#include "runtime.h"
