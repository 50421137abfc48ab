/* io/output: what appears under its name is whole, and nothing else is ever taken away. */
#include "../../lib/test.h"
#include "../../lib/missing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tool/output.h"
#include "base/tool/tempfolder.h"

static char dir[64];
static struct err err;

static bool ours(int fd) { return faccessat(fd, "mark", F_OK, 0) == 0; }

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_output.XXXXXX");
	return mkdtemp(dir) && !chdir(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	char *cmd = xasprintf("rm -rf '%s'", dir);
	int r = chdir("/") || system(cmd);
	free(cmd);
	return r;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void put_in(const struct output *o, const char *name, const char *text)
{
	int fd = openat(output_fd(o), name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void has(const char *path, const char *want)
{
	char got[100] = "";
	int fd = open(path, O_RDONLY);
	if (fd < 0)
		fail_msg("%s is not there", path);
	assert_true(read(fd, got, sizeof(got) - 1) >= 0);
	close(fd);
	assert_string_equal(got, want);
}

static bool there(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0;
}

/* Names in the current folder, but for . and .. */
static int entries(void)
{
	int n = 0;
	DIR *d = opendir(".");
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void refused(const struct output *o, const char *why)
{
	assert_null(o);
	assert_int_equal(err.status, EXIT_USAGE);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

static void file_appears_whole(void **state)
{
	(void)state;
	struct output *o = output_file("a.txt", &err);
	assert_non_null(o);
	assert_int_equal(write_all(output_fd(o), "new", 3, "a.txt", &err), 0);
	assert_false(there("a.txt"));
	assert_int_equal(output_commit(o, &err), 0);
	has("a.txt", "new");
	assert_int_equal(entries(), 1);
}

static void file_is_replaced(void **state)
{
	(void)state;
	put("a.txt", "old");
	struct output *o = output_file("a.txt", &err);
	assert_int_equal(write_all(output_fd(o), "new", 3, "a.txt", &err), 0);
	has("a.txt", "old");
	assert_int_equal(output_commit(o, &err), 0);
	has("a.txt", "new");
	assert_int_equal(entries(), 1);
}

static void file_aborted(void **state)
{
	(void)state;
	put("a.txt", "old");
	struct output *o = output_file("a.txt", &err);
	assert_int_equal(write_all(output_fd(o), "new", 3, "a.txt", &err), 0);
	output_abort(o);
	has("a.txt", "old");
	assert_int_equal(entries(), 1);
	output_abort(NULL);
}

static void parts_make_one_file(void **state)
{
	(void)state;
	const struct slice part[] = {SLICE("one"), SLICE(""), SLICE("two")};
	put("a.txt", "old");
	assert_int_equal(link("a.txt", "also"), 0);
	assert_int_equal(output_write("a.txt", part, ARRAY_LEN(part), &err), 0);
	has("a.txt", "onetwo");
	has("also", "old"); /* not written in place */
	assert_int_equal(entries(), 2);
	assert_int_equal(output_write("missing/a.txt", part, ARRAY_LEN(part), &err), -1);
	assert_int_equal(err.status, EXIT_ENVIRON);
}

static void file_where_none_can_be(void **state)
{
	(void)state;
	mkdir("d", 0700);
	refused(output_file("d", &err), "is a directory");
	assert_null(output_file("no/such/a.txt", &err));
	assert_int_equal(err.status, EXIT_ENVIRON);
	assert_non_null(strstr(err.text, "no/such/a.txt"));
	assert_int_equal(entries(), 1);
}

static void file_behind_a_link(void **state)
{
	(void)state;
	put("a.txt", "old");
	assert_int_equal(symlink("a.txt", "link"), 0);
	struct output *o = output_file("link", &err);
	assert_int_equal(write_all(output_fd(o), "new", 3, "link", &err), 0);
	assert_int_equal(output_commit(o, &err), 0);
	has("a.txt", "new");
	char to[20] = "";
	assert_int_equal(readlink("link", to, sizeof(to)), 5);
	assert_int_equal(entries(), 2);
}

static void pipe_is_written_in_place(void **state)
{
	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	int fd = open("fifo", O_RDWR);
	for (int i = 0; i < 2; i++) { /* commit, abort */
		char got[4] = "";
		struct output *o = output_file("fifo", &err);
		assert_int_equal(write_all(output_fd(o), "new", 3, "fifo", &err), 0);
		assert_int_equal(read(fd, got, 3), 3);
		assert_string_equal(got, "new");
		if (i)
			output_abort(o);
		else
			assert_int_equal(output_commit(o, &err), 0);
		struct stat st;
		assert_true(stat("fifo", &st) == 0 && S_ISFIFO(st.st_mode));
	}
	close(fd);
	assert_int_equal(entries(), 1);
}

/* /dev/stdout, where standard output is a file that was renamed over: there is no name to replace, and the link is not it. */
static void file_without_a_name(void **state)
{
	(void)state;
	char link[64], got[8] = "";
	struct stat st;
	int fd = open("gone", O_RDWR | O_CREAT, 0600);
	assert_int_equal(write(fd, "longer", 6), 6);
	unlink("gone");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	assert_int_equal(symlink(link, "link"), 0);
	struct output *o = output_file("link", &err);
	assert_int_equal(write_all(output_fd(o), "new", 3, "link", &err), 0);
	assert_int_equal(output_commit(o, &err), 0);
	assert_true(lstat("link", &st) == 0 && S_ISLNK(st.st_mode));
	assert_int_equal(pread(fd, got, sizeof(got), 0), 3);
	assert_string_equal(got, "new");
	close(fd);
	assert_int_equal(entries(), 1);
}

static void dir_appears_whole(void **state)
{
	(void)state;
	struct output *o = output_dir("out", false, ours, &err);
	put_in(o, "mark", "1");
	assert_false(there("out"));
	assert_int_equal(output_commit(o, &err), 0);
	has("out/mark", "1");
	assert_int_equal(entries(), 1);
}

static void dir_in_new_folders(void **state)
{
	(void)state;
	struct output *o = output_dir("a/b//c/", false, ours, &err);
	assert_non_null(o);
	put_in(o, "mark", "1");
	assert_int_equal(output_commit(o, &err), 0);
	has("a/b/c/mark", "1");
}

static void dir_aborted(void **state)
{
	(void)state;
	struct output *o = output_dir("out", false, ours, &err);
	put_in(o, "mark", "1");
	assert_int_equal(mkdirat(output_fd(o), "sub", 0700), 0);
	put_in(o, "sub/x", "1");
	output_abort(o);
	assert_int_equal(entries(), 0);
}

static void dir_exists(void **state)
{
	(void)state;
	mkdir("out", 0700);
	put("out/mark", "old");
	refused(output_dir("out", false, ours, &err), "exists");
	has("out/mark", "old");
	assert_int_equal(entries(), 1);
}

static void dir_is_replaced(void **state)
{
	(void)state;
	mkdir("out", 0700);
	put("out/mark", "old");
	put("out/more", "old");
	struct output *o = output_dir("out", true, ours, &err);
	assert_non_null(o);
	put_in(o, "mark", "new");
	has("out/mark", "old");
	assert_int_equal(output_commit(o, &err), 0);
	has("out/mark", "new");
	assert_false(there("out/more"));
	assert_int_equal(entries(), 1);
}

static void dir_not_replaced_on_abort(void **state)
{
	(void)state;
	mkdir("out", 0700);
	put("out/mark", "old");
	struct output *o = output_dir("out", true, ours, &err);
	put_in(o, "mark", "new");
	output_abort(o);
	has("out/mark", "old");
	assert_int_equal(entries(), 1);
}

static void dir_of_somebody_else(void **state)
{
	(void)state;
	mkdir("out", 0700);
	put("out/thesis", "years of work");
	refused(output_dir("out", true, ours, &err), "not a report");
	refused(output_dir("out/", true, ours, &err), "not a report");
	has("out/thesis", "years of work");
	assert_int_equal(entries(), 1);
}

static void dir_is_a_file(void **state)
{
	(void)state;
	put("out", "text");
	refused(output_dir("out", true, ours, &err), "is a file");
	has("out", "text");
	refused(output_dir("", true, ours, &err), "no name");
	assert_int_equal(entries(), 1);
}

static void empty_dir_may_be_used(void **state)
{
	(void)state;
	mkdir("out", 0700);
	struct output *o = output_dir("out", false, ours, &err);
	put_in(o, "mark", "new");
	assert_int_equal(output_commit(o, &err), 0);
	has("out/mark", "new");
	assert_int_equal(entries(), 1);
}

/* What somebody puts into the empty folder in the meantime stays. */
static void empty_dir_filled_meanwhile(void **state)
{
	(void)state;
	mkdir("out", 0700);
	struct output *o = output_dir("out", false, ours, &err);
	put_in(o, "mark", "new");
	put("out/thesis", "years of work");
	assert_int_equal(output_commit(o, &err), -1);
	assert_int_equal(err.status, EXIT_ENVIRON);
	has("out/thesis", "years of work");
	assert_int_equal(entries(), 1);
}

/* Two into one new name: the first has it, the second says why it has not. */
static void dir_made_meanwhile(void **state)
{
	(void)state;
	struct output *o = output_dir("out", false, ours, &err);
	assert_int_equal(mkdir("out", 0700), 0);
	put("out/mark", "theirs");
	put_in(o, "mark", "ours");
	assert_int_equal(output_commit(o, &err), -1);
	assert_string_equal(err.text, "cannot write 'out': created by another process in the meantime");
	has("out/mark", "theirs");
	assert_int_equal(entries(), 1);
}

static void dir_behind_a_link(void **state)
{
	(void)state;
	mkdir("real", 0700);
	put("real/mark", "old");
	assert_int_equal(symlink("real", "link"), 0);
	struct output *o = output_dir("link/", true, ours, &err);
	assert_non_null(o);
	put_in(o, "mark", "new");
	assert_int_equal(output_commit(o, &err), 0);
	has("real/mark", "new");
	has("link/mark", "new");
	assert_int_equal(entries(), 2);
}

/* A link inside a report that is replaced goes, what it names stays. */
static void links_are_not_followed(void **state)
{
	(void)state;
	mkdir("out", 0700);
	mkdir("other", 0700);
	put("out/mark", "old");
	put("other/thesis", "years of work");
	assert_int_equal(symlink("../other", "out/link"), 0);
	struct output *o = output_dir("out", true, ours, &err);
	assert_int_equal(output_commit(o, &err), 0);
	has("other/thesis", "years of work");
	assert_int_equal(entries(), 2);
}

static void not_the_working_directory(void **state)
{
	(void)state;
	mkdir("out", 0700);
	put("out/mark", "old");
	mkdir("out/sub", 0700);
	assert_int_equal(chdir("out/sub"), 0);
	refused(output_dir("..", true, ours, &err), "working directory");
	assert_int_equal(chdir(".."), 0);
	refused(output_dir(".", true, ours, &err), "working directory");
	refused(output_dir("../out", true, ours, &err), "working directory");
	has("mark", "old");
}

/* "out" is not above "outer". */
static void a_name_that_begins_alike(void **state)
{
	(void)state;
	mkdir("out", 0700);
	put("out/mark", "old");
	mkdir("outer", 0700);
	assert_int_equal(chdir("outer"), 0);
	struct output *o = output_dir("../out", true, ours, &err);
	assert_non_null(o);
	output_abort(o);
}

static void abort_all(void **state)
{
	(void)state;
	int status;
	put("b", "old");
	pid_t pid = fork(); /* what die() does on its way out */
	if (!pid) {
		struct output *o = output_dir("c", false, ours, NULL);
		if (!o || !output_file("a", NULL) || !output_file("b", NULL) || mkdirat(output_fd(o), "sub", 0700))
			_exit(1);
		output_abort_all();
		_exit(7);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	has("b", "old");
	assert_int_equal(entries(), 1);
}

static void signals_clean_up(void **state)
{
	(void)state;
	static const int sigs[] = {SIGTERM, SIGINT, SIGHUP};
	for (size_t i = 0; i < ARRAY_LEN(sigs); i++) {
		int ready[2], status;
		assert_int_equal(pipe(ready), 0);
		pid_t pid = fork();
		if (!pid) {
			signal(sigs[i], SIG_DFL); /* the tests may run where it is ignored (nohup, a background job) */
			output_watch_signals();
			struct output *o = output_dir("out", false, ours, NULL);
			if (!o || !output_file("a", NULL) || mkdirat(output_fd(o), "sub", 0700) || write(ready[1], "x", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		char c;
		assert_int_equal(read(ready[0], &c, 1), 1);
		kill(pid, sigs[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == sigs[i]);
		assert_int_equal(entries(), 0);
		close(ready[0]);
		close(ready[1]);
	}
}

/* Who was killed leaves a name with its number; whoever writes there next removes it, and nothing that is somebody's. */
static void killed_ones_are_swept(void **state)
{
	(void)state;
	int ready[2];
	char c, lives[64], dead[64], other[64], link[64];
	pid_t pid[2];
	assert_int_equal(pipe(ready), 0);
	for (int i = 0; i < 2; i++)
		if (!(pid[i] = fork())) {
			struct output *o = output_dir("out", false, ours, NULL);
			if (!o || !output_file("a", NULL) || mkdirat(output_fd(o), "sub", 0700) || write(ready[1], "x", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		} else {
			assert_int_equal(read(ready[0], &c, 1), 1);
		}
	assert_int_equal(entries(), 4);
	kill(pid[0], SIGKILL);
	assert_int_equal(waitpid(pid[0], NULL, 0), pid[0]);
	snprintf(dead, sizeof(dead), "a.tmp.%d", (int)pid[0]);
	snprintf(lives, sizeof(lives), "a.tmp.%d", (int)pid[1]);
	snprintf(other, sizeof(other), "b.tmp.%d", (int)pid[0]);
	snprintf(link, sizeof(link), "out.tmp.%d", (int)pid[0]);
	put(other, "of another name");
	assert_true(there(dead) && there(lives));
	output_abort(output_file("a", &err));
	assert_false(there(dead));
	assert_true(there(lives) && there(other) && there(link));
	output_abort(output_dir("out", false, ours, &err));
	assert_false(there(link));
	put("thesis", "years of work");
	assert_int_equal(symlink("thesis", dead), 0);
	put("a.tmp.x", "no number");
	output_abort(output_file("./a", &err));
	assert_true(there(dead) && there("a.tmp.x"));
	has("thesis", "years of work");
	/* A lock: a process that this system does not know of. */
	unlink(dead);
	put(dead, "theirs");
	int fd = open(dead, O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	output_abort(output_file("a", &err));
	assert_true(there(dead));
	close(fd);
	output_abort(output_file("../a", &err));
	output_abort(output_file("a", &err));
	assert_false(there(dead));
	kill(pid[1], SIGKILL);
	assert_int_equal(waitpid(pid[1], NULL, 0), pid[1]);
	close(ready[0]);
	close(ready[1]);
}

static void full_disk(void **state)
{
	(void)state;
	int fd = open("/dev/full", O_WRONLY);
	if (fd < 0) {
		print_message("# no /dev/full\n");
		skip();
	}
	assert_int_equal(write_all(fd, "x", 1, "report.html", &err), -1);
	assert_int_equal(err.status, EXIT_ENVIRON);
	assert_non_null(strstr(err.text, "report.html"));
	assert_non_null(strstr(err.text, strerror(ENOSPC)));
	close(fd);
}

static void reader_had_enough(void **state)
{
	(void)state;
	int p[2];
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(p), 0);
	close(p[0]);
	put("from", "text");
	int from = open("from", O_RDONLY);
	for (int i = 0; i < 2; i++) {
		err = (struct err){EXIT_ENVIRON, "as before"};
		assert_int_equal(i ? copy_all(from, p[1], "pipe", &err) : write_all(p[1], "x", 1, "pipe", &err), -1);
		assert_int_equal(err.status, EXIT_FINE);
		assert_string_equal(err.text, "");
	}
	assert_int_equal(write_all(p[1], "x", 1, "pipe", NULL), -1);
	close(p[1]);
	close(from);
	signal(SIGPIPE, SIG_DFL);
}

static void copies(void **state)
{
	(void)state;
	int from = temp_file(&err);
	assert_true(from >= 0);
	assert_int_equal(pwrite_all(from, "def", 3, 3, "tmp", &err), 0);
	assert_int_equal(pwrite_all(from, "abc", 3, 0, "tmp", &err), 0);
	assert_int_equal(lseek(from, 5, SEEK_SET), 5); /* copied from its start all the same */
	static const int flags[] = {O_WRONLY | O_CREAT, O_WRONLY | O_APPEND};
	for (int i = 0; i < 2; i++) {
		int to = open("to", flags[i], 0600);
		assert_int_equal(copy_all(from, to, "to", &err), 0);
		close(to);
	}
	has("to", "abcdefabcdef");
	close(from);
	assert_int_equal(entries(), 1);
}

static void temp_file_in_another_place(void **state)
{
	(void)state;
	char *old = getenv("TMPDIR") ? xstrdup(getenv("TMPDIR")) : NULL;
	setenv("TMPDIR", missing_path("folder"), 1);
	assert_int_equal(temp_file(&err), -1);
	assert_int_equal(err.status, EXIT_ENVIRON);
	assert_non_null(strstr(err.text, missing_path("folder")));
	setenv("TMPDIR", dir, 1);
	int fd = temp_file(&err);
	assert_true(fd >= 0);
	assert_int_equal(entries(), 0); /* it has no name */
	close(fd);
	if (old)
		setenv("TMPDIR", old, 1);
	else
		unsetenv("TMPDIR");
	free(old);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(file_appears_whole),
	    TEST(file_is_replaced),
	    TEST(file_aborted),
	    TEST(parts_make_one_file),
	    TEST(file_where_none_can_be),
	    TEST(file_behind_a_link),
	    TEST(pipe_is_written_in_place),
	    TEST(file_without_a_name),
	    TEST(dir_appears_whole),
	    TEST(dir_in_new_folders),
	    TEST(dir_aborted),
	    TEST(dir_exists),
	    TEST(dir_is_replaced),
	    TEST(dir_not_replaced_on_abort),
	    TEST(dir_of_somebody_else),
	    TEST(dir_is_a_file),
	    TEST(empty_dir_may_be_used),
	    TEST(empty_dir_filled_meanwhile),
	    TEST(dir_made_meanwhile),
	    TEST(dir_behind_a_link),
	    TEST(links_are_not_followed),
	    TEST(not_the_working_directory),
	    TEST(a_name_that_begins_alike),
	    TEST(abort_all),
	    TEST(signals_clean_up),
	    TEST(killed_ones_are_swept),
	    TEST(full_disk),
	    TEST(reader_had_enough),
	    TEST(copies),
	    TEST(temp_file_in_another_place),
	};
	return RUN(tests);
}
