#include "base/io/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int temp_failed(struct err *err)
{
	static const char hint[] = " (set TMPDIR to use another directory)";
	/* A file size limit belongs to the process (ulimit -f), wherever the file is. */
	if (err && err->status == EXIT_ENVIRON && !strstr(err->text, "TMPDIR") && !strstr(err->text, strerror(EFBIG))) {
		size_t n = strnlen(err->text, sizeof(err->text) - sizeof(hint));
		memcpy(err->text + n, hint, sizeof(hint));
	}
	return -1;
}

int temp_place(size_t longest, char path[PATH_MAX], struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	if (!tmp || !*tmp)
		tmp = "/tmp";
	if (*tmp == '/' && strlen(tmp) < PATH_MAX) {
		memcpy(path, tmp, strlen(tmp) + 1);
	} else if (!realpath(tmp, path)) {
		err_errno(err, EXIT_ENVIRON, "cannot create a directory in '%.300s'", tmp);
		return temp_failed(err);
	}
	if (longest && strlen(path) > longest)
		memcpy(path, "/tmp", sizeof("/tmp"));
	if (strlen(path) > TEMP_LONGEST - 32) {
		err_set(err, EXIT_ENVIRON, "cannot create a directory in '%.80s...': the path exceeds %d bytes", path, TEMP_LONGEST - 32);
		return temp_failed(err);
	}
	return 0;
}

const char *temp_file_name(char name[TEMP_NAME])
{
	char in[PATH_MAX];
	if (temp_place(0, in, NULL) < 0)
		in[0] = 0;
	snprintf(name, TEMP_NAME, "%.*s/(temporary file)", TEMP_LONGEST, in);
	return name;
}

int (*temp_file_elsewhere)(struct err *err);

int temp_file(struct err *err)
{
	char in[PATH_MAX];
	if (temp_file_elsewhere)
		return temp_file_elsewhere(err);
	if (temp_place(0, in, err) < 0)
		return -1;
	int fd = open(in, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	FREED char *name = xasprintf("%s/pt2utils." TEMP_RANDOM, in);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	else
		temp_failed((err_errno(err, EXIT_ENVIRON, "cannot create a temporary file in '%s'", in), err));
	return fd;
}
