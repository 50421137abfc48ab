/* --test COMMAND: any program as the oracle (oracle.h). Each test gets a folder of its own with the candidate in it. */
#include "base/child.h"
#include "io/output.h"
#include "io/tempfolder.h"
#include "reduce/oracle_part.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE (4ull << 30) /* a test that fills the disk is stopped there */

struct command_test {
	uint64_t id;
	struct child *child;
	char *folder;
};

struct command_oracle {
	struct oracle oracle;
	struct oracle_command_spec spec;
	struct childset set;
	struct command_test *test;
	size_t n, cap;
	char *scratch; /* holds the folders */
	uint64_t last_id;
	struct buf text, detail;
};

static unsigned command_jobs(const struct oracle *o)
{
	return ((const struct command_oracle *)o)->spec.jobs;
}

static int write_candidate(struct command_oracle *o, const char *folder, const struct test *t, struct err *err)
{
	char *path = xasprintf("%s/%s", folder, o->spec.file_name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), status = -1;
	if (fd < 0) {
		err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path);
	} else {
		buf_reset(&o->text);
		status = o->spec.write(o->spec.user, t, &o->text, err);
		if (status == 0)
			status = write_all(fd, o->text.p, o->text.len, path, err);
		if (close(fd) < 0 && status == 0)
			status = err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path);
	}
	if (status < 0)
		temp_failed(err);
	free(path);
	return status;
}

/* The command with the candidate's name behind it: it runs in the folder. */
static struct child *start_child(struct command_oracle *o, const char *folder, struct err *err)
{
	size_t n = 0;
	while (o->spec.argv[n])
		n++;
	const char **argv = xcalloc(n + 2, sizeof(*argv));
	memcpy(argv, o->spec.argv, n * sizeof(*argv));
	char *path = xasprintf("%s/%s", folder, o->spec.file_name);
	argv[n] = path;
	struct child_spec spec = {
		.argv = argv, .cwd = folder, .in.how = CHILD_NULL, .out.how = CHILD_MERGE, .err.how = CHILD_PIPE, .keep_head = 512, .keep_tail = 1536,
		.timeout_ms = (int)o->spec.timeout_ms, .max_memory = o->spec.max_memory, .max_file = MAX_FILE, .die_with_parent = true,
	};
	spec.out.how = CHILD_PIPE;
	struct child *c = child_start(&o->set, &spec, err);
	free(argv);
	free(path);
	return c;
}

static uint64_t command_start(struct oracle *oracle, const struct test *t, struct err *err)
{
	struct command_oracle *o = (struct command_oracle *)oracle;
	struct command_test test = {.id = ++o->last_id, .folder = xasprintf("%s/%llu", o->scratch, (unsigned long long)o->last_id)};
	if (mkdir(test.folder, 0755) < 0) {
		err_errno(err, EXIT_ENVIRON, "cannot make a folder for a test in '%s'", o->scratch);
		temp_failed(err);
	} else if (write_candidate(o, test.folder, t, err) == 0) {
		test.child = start_child(o, test.folder, err);
		if (test.child) {
			GROW(o->test, o->n, o->cap, 1);
			o->test[o->n++] = test;
			return test.id;
		}
	}
	remove_tree(test.folder);
	free(test.folder);
	return 0;
}

static void forget(struct command_oracle *o, size_t i)
{
	child_free(&o->set, o->test[i].child);
	remove_tree(o->test[i].folder);
	free(o->test[i].folder);
	o->test[i] = o->test[--o->n];
}

/* 125 to 127: the command itself could not tell, or not be run (git bisect run, sh). */
static void judge(struct command_oracle *o, const struct child_result *r, struct outcome *out)
{
	buf_reset(&o->detail);
	child_output_text(&r->err, &o->detail);
	if (r->out.total) {
		if (o->detail.len && o->detail.p[o->detail.len - 1] != '\n')
			buf_addc(&o->detail, '\n');
		child_output_text(&r->out, &o->detail);
	}
	if (r->how == CHILD_TIMED_OUT) {
		out->kind = OUTCOME_TIMEOUT;
	} else if (r->how == CHILD_EXITED && (r->status < 125 || r->status > 127)) {
		out->kind = r->status == 0 ? OUTCOME_FAILED : OUTCOME_PASSES;
	} else {
		out->kind = OUTCOME_INFRA;
		struct buf how = {0};
		buf_adds(&how, "the test command ");
		child_describe(r, &how);
		if (o->detail.len)
			buf_adds(&how, ": ");
		buf_add_slice(&how, buf_slice(&o->detail));
		buf_release(&o->detail);
		o->detail = how;
	}
	while (o->detail.len && o->detail.p[o->detail.len - 1] == '\n')
		o->detail.len--;
	out->detail = buf_slice(&o->detail);
	out->seconds = (double)r->wall_ns * 1e-9;
	out->signature.kind = out->kind;
}

static int command_wait(struct oracle *oracle, int timeout_ms, struct outcome *out, struct err *err)
{
	struct command_oracle *o = (struct command_oracle *)oracle;
	struct child_event ev;
	*out = (struct outcome){0};
	if (childset_wait(&o->set, -1, timeout_ms, &ev) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot wait for a test");
	if (ev.what != CHILD_ENDED)
		return 0;
	for (size_t i = 0; i < o->n; i++)
		if (o->test[i].child == ev.child) {
			out->id = o->test[i].id;
			judge(o, child_result(ev.child), out);
			forget(o, i);
			return 1;
		}
	return 0;
}

static void command_cancel(struct oracle *oracle, uint64_t id)
{
	struct command_oracle *o = (struct command_oracle *)oracle;
	for (size_t i = 0; i < o->n; i++)
		if (o->test[i].id == id) {
			forget(o, i);
			return;
		}
}

static void command_close(struct oracle *oracle)
{
	struct command_oracle *o = (struct command_oracle *)oracle;
	while (o->n)
		forget(o, o->n - 1);
	childset_release(&o->set);
	temp_folder_remove(o->scratch);
	free(o->test);
	buf_release(&o->text);
	buf_release(&o->detail);
	free(o);
}

static const struct oracle_ops command_ops = {
	.jobs = command_jobs, .start = command_start, .wait = command_wait, .cancel = command_cancel, .close = command_close,
};

struct oracle *oracle_command(const struct oracle_command_spec *spec, struct err *err)
{
	char *scratch = temp_folder(TEMP_MINIFY, err);
	if (!scratch)
		return NULL;
	struct command_oracle *o = xcalloc(1, sizeof(*o));
	o->oracle.ops = &command_ops;
	o->spec = *spec;
	o->scratch = scratch;
	return &o->oracle;
}
