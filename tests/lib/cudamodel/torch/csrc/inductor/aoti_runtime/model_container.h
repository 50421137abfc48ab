/* Stands for torch's header of this name: the container, and the functions of the interface. See ../../../../container.h. */
#include "container.h"
