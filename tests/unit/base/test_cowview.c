/* base/process/cowview: what a command writes in the view is gone, the rest is as it was; its network is loopback. */
#include "../../lib/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
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

/* Enters a view that the keeper makes: 0, or the number of what is not as it should be. */
static int from_keeper(void *arg)
{
	char text[128], room[CMSG_SPACE(sizeof(int))];
	struct iovec part = {text, sizeof(text)};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
	const int sock = STDIN_FILENO;
	(void)arg;
	int fd;
	struct stat st;
	if (send(sock, "v", 1, 0) != 1 || recvmsg(sock, &m, 0) <= 0)
		return 1;
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return 2;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (setns(fd, CLONE_NEWNS) < 0 || chdir(folder_path) < 0 || chdir("work") < 0)
		return 3;
	fd = open("old", O_WRONLY | O_TRUNC);
	if (fd < 0 || write(fd, "other", 5) != 5 || close(fd) < 0)
		return 4;
	if (stat("new", &st) == 0)
		return 7;
	fd = open("new", O_WRONLY | O_CREAT, 0666);
	if (fd < 0 || close(fd) < 0)
		return 5;
	fd = open("../shown/report", O_WRONLY | O_CREAT, 0666);
	return fd < 0 || close(fd) < 0 ? 6 : 0;
}

static void test_keeper(void **state)
{
	static const char *const name[] = {"from_keeper", NULL};
	struct child_result r;
	struct stat st;
	LOCAL_BUF rows = {0};
	int ends[2];
	(void)state;
	if (geteuid())
		skip(); /* who enters has to be in the keeper's user namespace */
	assert_int_equal(chdir(folder_path), 0);
	assert_int_equal(mkdir("shown", 0700) | mkdir("shown/view", 0700) | mkdir("gone", 0700) | mkdir("work", 0700) | chdir("work"), 0);
	make("old");
	FREED char *shown = xasprintf("%s/shown", folder_path), *stage = xasprintf("%s/view", shown);
	struct cowview *v = cowview_plan(&(struct cowview_spec){.folder = stage, .on_disk = true, .shown = shown}, &err);
	assert_non_null(v);
	assert_int_equal(rmdir("../gone"), 0); /* what goes after the plan is made is left out */
	cowview_overlays(v, &rows);
	assert_non_null(strstr(buf_str(&rows), "shown/view/u"));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(cowview_keeper(v, ends[1]), 0);
	for (int i = 0; i < 2; i++) { /* each with what the folder had, once the caller has removed what the last one wrote */
		struct child_spec spec = {.argv = name, .function = from_keeper, .in = {CHILD_FD, ends[0]}};
		if (child_run(&spec, &r, &err) < 0) {
			print_message("# skipped: %s\n", err.text);
			break;
		}
		assert_int_equal(r.status, 0);
		child_result_release(&r);
		assert_int_equal(stat("old", &st), 0);
		assert_int_equal(st.st_size, 3);
		assert_true(stat("new", &st) < 0);
		assert_int_equal(stat("../shown/report", &st), 0);
		remove_tree(stage);
		assert_int_equal(mkdir(stage, 0700), 0);
	}
	close(ends[0]);
	cowview_free(v);
	assert_int_equal(chdir("/"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_view, folder_make, folder_remove),
					   cmocka_unit_test_setup_teardown(test_keeper, folder_make, folder_remove)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
