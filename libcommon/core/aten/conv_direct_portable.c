#include "conv_part.h"

bool conv_direct(const struct conv *c, struct aten_tensor *x, struct aten_tensor *w, struct aten_tensor *bias, struct aten_tensor *y)
{
	(void)c, (void)x, (void)w, (void)bias, (void)y;
	return false;
}
