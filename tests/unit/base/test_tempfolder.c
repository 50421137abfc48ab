/* io/tempfolder: private folders, and what a process that was killed left. */
#include "../../lib/folder.h"
#include "../../lib/missing.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/statfs.h>
#include <sys/wait.h>

#include "base/tool/tempfolder.h"

static struct err err;

static bool there(const char *path) { return access(path, F_OK) == 0; }

static int setup(void **state) { return folder_make(state) || setenv("TMPDIR", folder_path, 1); }

/* A tool that makes a folder with a tree in it, and is killed; or lives on until fd is closed. Its path. */
static char *another(int *fd, pid_t *pid)
{
	char path[PATH_MAX];
	int up[2], down[2];
	assert_int_equal(pipe2(up, O_CLOEXEC) | pipe2(down, O_CLOEXEC), 0);
	*pid = fork();
	if (!*pid) {
		char *f = temp_folder(TEMP_RUN, &err), *in = xasprintf("%s/a", f), c;
		mkdir(in, 0700);
		close(down[1]);
		if (write(up[1], f, strlen(f) + 1) < 0 || read(down[0], &c, 1) != 0)
			_exit(1);
		_exit(0); /* as if killed: nothing is removed */
	}
	assert_true(read(up[0], path, sizeof(path)) > 0);
	close(up[0]), close(up[1]), close(down[0]);
	*fd = down[1];
	return xstrdup(path);
}

static void test_made_and_removed(void **state)
{
	(void)state;
	struct stat st;
	char *f = temp_folder(TEMP_PRINTER, &err), *copy;
	assert_non_null(f);
	assert_true(!strncmp(f, folder_path, strlen(folder_path)));
	assert_int_equal(stat(f, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	temp_folder_remove(NULL);
	copy = xstrdup(f);
	temp_folder_remove(f);
	assert_false(there(copy));
	free(copy);
}

/* Whoever lives keeps its folder, whatever its age; of whoever is gone it is swept by the next, of any kind. */
static void test_swept_by_the_lock(void **state)
{
	(void)state;
	int fd[2];
	pid_t pid[2];
	char *lives = another(&fd[0], &pid[0]), *dies = another(&fd[1], &pid[1]);
	kill(pid[1], SIGKILL);
	assert_int_equal(waitpid(pid[1], NULL, 0), pid[1]);
	assert_true(there(dies));
	char *f = temp_folder(TEMP_MINIFY, &err);
	assert_false(there(dies));
	assert_true(there(lives));
	temp_folder_remove(f);
	close(fd[0]);
	close(fd[1]);
	assert_int_equal(waitpid(pid[0], NULL, 0), pid[0]);
	temp_folder_remove(temp_folder(TEMP_LIVE, &err));
	assert_false(there(lives));
	free(lives);
	free(dies);
}

/* Killed at any moment of making, filling and removing folders: the next removes all that is left. */
static void test_killed_at_any_moment(void **state)
{
	(void)state;
	for (int i = 0; i < 150; i++) {
		pid_t pid = fork();
		if (!pid)
			for (;;) {
				char *f = temp_folder((enum temp_kind)(i % TEMP_LIVE), &err), *in = xasprintf("%s/a", f);
				mkdir(in, 0700);
				free(in);
				temp_folder_remove(f);
			}
		usleep(1000 + (unsigned)(i * 37) % 3000);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		temp_folder_remove(temp_folder(TEMP_RUN, &err));
		assert_int_equal(rmdir(folder_path), 0); /* empty */
		assert_int_equal(mkdir(folder_path, 0700), 0);
	}
}

static char *left_by(const char *name, const char *mark)
{
	char *path = xasprintf("%s/%s", folder_path, name), *in = xasprintf("%s/" TEMP_MARK, name);
	mkdir(path, 0700);
	if (mark)
		folder_put(in, slice_str(mark));
	free(in);
	return path;
}

/* Other names, folders without the mark, those of another boot (or machine), links: nobody's business. Those that were killed before
 * they had their mark go. */
static void test_others_are_left_alone(void **state)
{
	(void)state;
	char boot[64] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY);
	assert_true(read(fd, boot, sizeof(boot) - 1) > 0);
	close(fd);
	char *gone[] = {left_by("pt2run.abcdef", boot), left_by(".pt2utils-new.abcdef", NULL), left_by(".pt2utils-new.bcdefg", "")};
	char *kept[] = {left_by("fxminify.backup", NULL),     left_by("pt2run.abcdefg", boot),
			left_by("elsewhere.abcdef", boot),    left_by("pt2live.abcdef", "another boot\n"),
			left_by(".pt2utils-new.backups", ""), left_by("real", boot)};
	char *link = xasprintf("%s/pt2run.linked", folder_path);
	assert_int_equal(symlink(kept[ARRAY_LEN(kept) - 1], link), 0);
	temp_folder_remove(temp_folder(TEMP_RUN, &err));
	for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
		if (there(gone[i]))
			fail_msg("%s was left", gone[i]);
		free(gone[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		if (!there(kept[i]))
			fail_msg("%s was removed", kept[i]);
		free(kept[i]);
	}
	assert_true(there(link));
	unlink(link);
	free(link);
}

static void test_a_fork_removes_nothing(void **state)
{
	(void)state;
	char *f = temp_folder(TEMP_RUN, &err);
	pid_t pid = fork();
	if (!pid) {
		temp_folder_remove(f);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(there(f));
	temp_folder_remove(f);
}

static void test_relative(void **state)
{
	(void)state;
	char *in = xasprintf("%s/rel", folder_path), here[PATH_MAX];
	mkdir(in, 0700);
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(folder_path), 0);
	setenv("TMPDIR", "rel", 1);
	char *f = temp_folder(TEMP_MINIFY, &err);
	assert_non_null(f);
	assert_true(!strncmp(f, in, strlen(in)));
	temp_folder_remove(f);
	int fd = temp_file(&err);
	assert_true(fd >= 0);
	close(fd);
	setenv("TMPDIR", folder_path, 1);
	assert_int_equal(chdir(here), 0);
	free(in);
}

static void cannot(const char *tmp, const char *why)
{
	setenv("TMPDIR", tmp, 1);
	assert_null(temp_folder(TEMP_RUN, &err));
	assert_int_equal(err.status, EXIT_ENVIRON);
	if (!strstr(err.text, why) || !strstr(err.text, "TMPDIR"))
		fail_msg("'%s' does not say '%s' and TMPDIR", err.text, why);
	assert_int_equal(temp_file(&err), -1);
	assert_non_null(strstr(err.text, "TMPDIR"));
	setenv("TMPDIR", folder_path, 1);
}

static void test_none_can_be(void **state)
{
	(void)state;
	char longest[2000];
	memset(longest, 'a', sizeof(longest) - 1);
	longest[0] = '/';
	longest[sizeof(longest) - 1] = 0;
	cannot(missing_path("folder"), missing_path("folder"));
	cannot("no/such/folder", "'no/such/folder'");
	cannot("/dev/null", "'/dev/null'");
	cannot(longest, "exceeds");
}

static void made_in(const char *folder)
{
	char *f = temp_folder(TEMP_VERIFY, &err);
	assert_non_null(f);
	assert_true(!strncmp(f, folder, strlen(folder)) && f[strlen(folder)] == '/');
	temp_folder_remove(f);
}

static void test_in_memory(void **state)
{
	struct statfs fs;
	(void)state;
	if (statfs("/dev/shm", &fs) < 0 || (unsigned long)fs.f_type != TMPFS_MAGIC || access("/dev/shm", W_OK | X_OK) < 0)
		skip();
	temp_folder_in_memory(TEMP_VERIFY, 1);
	made_in(folder_path); /* TMPDIR */
	unsetenv("TMPDIR");
	temp_folder_in_memory(TEMP_VERIFY, 1);
	made_in("/dev/shm");
	temp_folder_in_memory(TEMP_VERIFY, UINT64_MAX); /* no room */
	made_in("/tmp");
	setenv("TMPDIR", folder_path, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_made_and_removed),
	    cmocka_unit_test(test_swept_by_the_lock),
	    cmocka_unit_test(test_killed_at_any_moment),
	    cmocka_unit_test(test_others_are_left_alone),
	    cmocka_unit_test(test_a_fork_removes_nothing),
	    cmocka_unit_test(test_relative),
	    cmocka_unit_test(test_none_can_be),
	    cmocka_unit_test(test_in_memory),
	};
	return cmocka_run_group_tests_name(__FILE__, tests, setup, folder_remove);
}
