#include "watch/ticks.h"

bool calls_ticking(void) { return false; }
