#include "diagnose/finding.h"

void explain_recompiles(struct explanation *x) { (void)x; }
