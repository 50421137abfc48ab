#include "diagnose/finding.h"

void explain_component(struct explanation *x) { (void)x; }
