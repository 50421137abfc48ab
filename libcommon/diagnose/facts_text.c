#include "diagnose/facts.h"

int facts_add_textlog(struct facts *f, const char *path, const struct facts_options *o, struct err *err)
{
	(void)f, (void)o;
	return err_set(err, EXIT_INPUT, "cannot read %s", path);
}
