#include "diagnose/finding.h"

void explain_known(struct explanation *x) { (void)x; }
