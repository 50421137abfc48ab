#include "model/doctor/doctor_part.h"

uint64_t doctor_cpu_isa(void) { return 0; }
const char *doctor_cpu_brand(void) { return NULL; }
