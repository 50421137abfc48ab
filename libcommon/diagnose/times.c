#include "diagnose/finding.h"

void explain_times(struct explanation *x) { (void)x; }
