#include "diagnose/finding.h"

void explain_breaks(struct explanation *x) { (void)x; }
