/* cli/run/kept: runs are kept, listed newest first, found by a word; what is running, foreign or the newest is never removed. */
#include "../../lib/test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/folder.h"
#include "base/text.h"
#include "run/kept/kept.h"

static struct err err;
static const char *const command[] = {"python", "-u", "my app.py", "--lr=1", NULL};

static int setup(void **state) { return folder_make(state) || setenv("XDG_STATE_HOME", folder_path, 1); }

static bool there(const char *path) { return access(path, F_OK) == 0; }

static void fill(const char *folder, const char *name, size_t bytes)
{
	char *path = xasprintf("%s/%s", folder, name), *text = xcalloc(1, bytes + 1);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, bytes, f), bytes);
	assert_int_equal(fclose(f), 0);
	free(path);
	free(text);
}

static char *one_run(const char *name, size_t bytes)
{
	struct kept *k = kept_begin("fxexplain run", command, &err);
	assert_non_null(k);
	char *path = xstrdup(kept_folder(k));
	fill(path, name, bytes);
	char *trace = xasprintf("%s/%s", path, name);
	kept_end(k, &(struct kept_result){.seconds = 1.5, .status = 3, .traces = (const char *const *)&trace, .n_traces = 1});
	free(trace);
	return path;
}

static void test_one(void **state)
{
	struct kept_list l;
	struct stat st;
	(void)state;
	char *path = one_run("a.log", 10);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(kept_list(&l, &err), 0);
	assert_int_equal(l.n, 1);
	assert_string_equal(l.v[0].folder, path);
	assert_string_equal(l.v[0].name + 15, "-my_app.py");
	assert_string_equal(l.v[0].command, "python -u 'my app.py' --lr=1");
	assert_string_equal(l.v[0].tool, "fxexplain run");
	assert_int_equal(l.v[0].status, 3);
	assert_int_equal(l.v[0].sig, -1);
	assert_true(l.v[0].seconds == 1.5 && l.v[0].bytes > 0 && !l.v[0].running);
	assert_int_equal(l.v[0].n_trace, 1);
	assert_string_equal(path_base(l.v[0].trace[0]), "a.log");
	kept_list_release(&l);
	free(path);
}

static void test_running(void **state)
{
	struct kept_list l;
	struct kept_pruned p;
	(void)state;
	struct kept *k = kept_begin("fxexplain run", command, &err);
	assert_non_null(k);
	char *running = xstrdup(kept_folder(k)), *later = one_run("a.log", 10);
	assert_int_equal(kept_list(&l, &err), 0);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.v[0].folder, later);
	assert_true(l.v[1].running && l.v[1].seconds < 0 && l.v[1].status < 0);
	kept_prune(&l, 0, 0, &p);
	assert_int_equal(p.runs, 0);
	assert_true(there(running) && there(later));
	kept_list_release(&l);
	kept_end(k, NULL); /* not worth it */
	assert_false(there(running));
	free(running);
	free(later);
}

static void test_prune(void **state)
{
	struct kept_list l;
	struct kept_pruned p;
	char *path[5];
	(void)state;
	for (int i = 0; i < 5; i++)
		path[i] = one_run("a.log", i == 1 ? 3 << 20 : 1 << 20);
	char *mine = xasprintf("%s/pt2utils/runs/notes", folder_path),
	     *no_run = xasprintf("%s/pt2utils/runs/20200101-000000-x", folder_path);
	assert_int_equal(mkdir(mine, 0700) | mkdir(no_run, 0700), 0);
	assert_int_equal(kept_list(&l, &err), 0);
	assert_int_equal(l.n, 5);
	assert_string_equal(kept_find(&l, "last")->folder, path[4]);
	assert_string_equal(kept_find(&l, "last~4")->folder, path[0]);
	assert_string_equal(kept_find(&l, l.v[2].name)->folder, path[2]);
	assert_null(kept_find(&l, "last~5"));
	assert_null(kept_find(&l, "last~x"));
	assert_null(kept_find(&l, "2"));
	assert_null(kept_find(&l, ""));
	kept_prune(&l, 4, 4 << 20, &p); /* the oldest by number, the second by size */
	assert_int_equal(p.runs, 2);
	assert_true(p.bytes >= 4 << 20);
	assert_false(there(path[0]) || there(path[1]));
	assert_true(there(path[2]) && there(path[4]) && there(mine) && there(no_run));
	kept_list_release(&l);
	assert_int_equal(kept_list(&l, &err), 0);
	kept_prune(&l, 0, 0, &p);
	assert_true(there(path[4]) && !there(path[3])); /* the newest stays */
	kept_list_release(&l);
	for (int i = 0; i < 5; i++)
		free(path[i]);
	free(mine);
	free(no_run);
}

static void test_damaged(void **state)
{
	struct kept_list l;
	(void)state;
	char *path = one_run("a.log", 10), *about = xasprintf("%s/run.json", path);
	FILE *f = fopen(about, "w");
	fputs("{\"command\": 3, \"started\": \"x\", \"traces\": {}", f);
	fclose(f);
	assert_int_equal(kept_list(&l, &err), 0);
	assert_int_equal(l.n, 1);
	assert_null(l.v[0].command);
	kept_list_release(&l);
	free(path);
	free(about);
}

static void test_no_place(void **state)
{
	(void)state;
	assert_int_equal(setenv("XDG_STATE_HOME", "relative", 1) | unsetenv("HOME"), 0);
	assert_null(kept_begin("fxexplain run", command, &err));
	assert_non_null(strstr(err.text, "HOME"));
	assert_int_equal(setenv("XDG_STATE_HOME", "/proc/1/x", 1), 0);
	assert_null(kept_begin("fxexplain run", command, &err));
	assert_non_null(strstr(err.text, "/proc/1/x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_one, setup, folder_remove),
	    cmocka_unit_test_setup_teardown(test_running, setup, folder_remove),
	    cmocka_unit_test_setup_teardown(test_prune, setup, folder_remove),
	    cmocka_unit_test_setup_teardown(test_damaged, setup, folder_remove),
	    cmocka_unit_test_setup_teardown(test_no_place, setup, folder_remove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
