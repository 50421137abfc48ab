#include "cpu.h"

bool cpu_has_avx2(void) { return false; }
bool cpu_has_avx512_core(void) { return false; }
bool cpu_has_avx512_fp16(void) { return false; }
