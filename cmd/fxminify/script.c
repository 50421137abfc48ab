/* script.c - runs a program of share/fxminify in the user's Python; its argument is a file with a JSON document (evidence.h). */
#include "evidence.h"

#include "base/process/child.h"
#include "base/tool/output.h"

const char *script_python(const struct fxminify_options *o)
{
	const char *env = getenv("PT2_PYTHON");
	return o->python ? o->python : env && *env ? env : "python3";
}

int script_run(const char *python, const char *folder, const struct slice *text, size_t n, struct slice document, const char *const *env,
	       int *status, struct err *err)
{
	FREED char *script = xasprintf("%s/script.py", folder), *config = xasprintf("%s/script.json", folder);
	struct child_result r;
	if (output_write(script, text, n, err) < 0 || output_write(config, &document, 1, err) < 0)
		return -1;
	const char *const argv[] = {python, script, config, NULL};
	const struct child_spec spec = {.argv = argv,
					.env_set = env,
					.same_group = true,
					.die_with_parent = true,
					.in.how = CHILD_NULL,
					.out.how = CHILD_NULL, /* torch's bisector prints, also at its end */
					.grace_ms = 5000};
	if (child_run(&spec, &r, err) < 0)
		return -1;
	*status = child_signalled() ? 128 + child_signalled() : r.sig ? 128 + r.sig : r.status;
	child_result_release(&r);
	return 0;
}
