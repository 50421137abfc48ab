/* script.c - runs a program of share/fxminify in the user's Python; its argument is a file with a JSON document (evidence.h). */
#include "evidence.h"

#include "base/io/write.h"
#include "base/process/child.h"

#include <fcntl.h>
#include <unistd.h>

static int write_file(const char *path, const struct slice *part, size_t n, struct err *err)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path);
	int status = 0;
	for (size_t i = 0; i < n && status == 0; i++)
		status = write_all(fd, part[i].p, part[i].n, path, err);
	close(fd);
	return status;
}

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
	if (write_file(script, text, n, err) < 0 || write_file(config, &document, 1, err) < 0)
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
