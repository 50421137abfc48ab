/* base/process/cowview: what a command writes in the view is gone, the rest is as it was; its network is loopback. */
#include "../../lib/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/folder.h"
#include "base/process/child.h"
#include "base/process/cowview.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"

static struct err err;

static int enter(void *arg) { return cowview_enter(arg); }

/* In the view: 0, or the number of what is not as it should be. */
static int inside(void *arg)
{
	char text[16] = "";
	struct stat st;
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, far = here;
	socklen_t n = sizeof(here);
	(void)arg;
	int fd = open("old", O_RDWR);
	if (fd < 0 || read(fd, text, 15) != 3 || memcmp(text, "old", 3))
		return 1;
	if (write(fd, " and new", 8) != 8 || close(fd) < 0)
		return 2;
	fd = open("new", O_WRONLY | O_CREAT, 0666);
	if (fd < 0 || close(fd) < 0 || stat("new", &st) < 0 || st.st_uid != geteuid())
		return 3;
	if (unlink("gone") < 0 || stat("gone", &st) == 0 || rename("dir", "moved") == 0 /* of the lower layer: EXDEV */)
		return 4;
	remove_tree("dir");
	if (stat("dir", &st) == 0)
		return 5;
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(server, (struct sockaddr *)&here, sizeof(here)) < 0 || listen(server, 1) < 0 ||
	    getsockname(server, (struct sockaddr *)&here, &n) < 0 || connect(client, (struct sockaddr *)&here, sizeof(here)) < 0)
		return 6;
	far.sin_addr.s_addr = htonl(0x01010101);
	far.sin_port = htons(80);
	if (connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&far, sizeof(far)) == 0 || errno != ENETUNREACH)
		return 7;
	fd = open("/dev/shm/pt2-cowview", O_WRONLY | O_CREAT, 0600);
	return stat("/dev/shm", &st) == 0 && fd < 0 ? 8 : 0;
}

static void make(const char *name)
{
	FILE *f = fopen(name, "w");
	assert_non_null(f);
	fputs(name, f);
	assert_int_equal(fclose(f), 0);
}

static void test_view(void **state)
{
	static const char *const name[] = {"inside", NULL};
	struct child_result r;
	struct stat st;
	(void)state;
	assert_int_equal(chdir(folder_path), 0);
	make("old");
	make("gone");
	assert_int_equal(mkdir("dir", 0700), 0);
	make("dir/file");
	char *stage = temp_folder(TEMP_RUN, &err);
	assert_non_null(stage);
	struct cowview *v = cowview_new(stage, &err);
	if (!v) {
		print_message("# skipped: %s\n", err.text);
		temp_folder_remove(stage);
		skip();
	}
	for (int i = 0; i < 2; i++) { /* a fresh one each time */
		struct child_spec spec = {.argv = name, .function = inside, .before_exec = enter, .arg = v, .in.how = CHILD_NULL};
		assert_int_equal(child_run(&spec, &r, &err), 0);
		assert_int_equal(r.how, CHILD_EXITED);
		assert_int_equal(r.status, 0);
		child_result_release(&r);
	}
	cowview_free(v);
	temp_folder_remove(stage);
	assert_int_equal(stat("old", &st), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(stat("gone", &st) | stat("dir/file", &st), 0);
	assert_true(stat("new", &st) < 0 && stat("moved", &st) < 0 && stat("/dev/shm/pt2-cowview", &st) < 0);
	assert_int_equal(chdir("/"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_view, folder_make, folder_remove)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
