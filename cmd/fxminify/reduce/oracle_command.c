/* oracle_command.c - --test COMMAND: any program as the oracle (oracle.h). Each test gets its own folder with the candidate in it. */
#include "base/process/child.h"
#include "reduce/childage.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"
#include "reduce/oracle_part.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE (4ull << 30) /* stops a test that fills the disk */
#define LOOK_MS 100
#define LEARNED 10 /* a hang is stopped at this multiple of the age of tests that ended */

struct command_test {
	uint64_t id;
	struct child *child;
	char *folder;
	struct child_age age;
	bool late;
};

struct command_oracle {
	struct oracle oracle;
	struct oracle_command_spec spec;
	struct childset set;
	struct command_test *test;
	size_t n, cap;
	char *scratch; /* contains the folders */
	uint64_t last_id;
	double oldest;  /* maximum age of tests that exited by themselves, in seconds, as last seen: 0 for one that exited at once */
	bool ended;     /* a test exited by itself */
	bool timed_out; /* a test used all its time */
	struct buf text, detail;
};

static unsigned command_jobs(const struct oracle *o) { return ((const struct command_oracle *)o)->spec.jobs; }

static int write_candidate(struct command_oracle *o, const char *folder, const struct test *t, struct err *err)
{
	FREED char *path = xasprintf("%s/%s", folder, o->spec.file_name);
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
	return status;
}

/* The command followed by the candidate's name: it runs in the folder. */
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
	    .argv = argv,
	    .cwd = folder,
	    .in.how = CHILD_NULL,
	    .out.how = CHILD_MERGE,
	    .err.how = CHILD_PIPE,
	    .keep_head = 512,
	    .keep_tail = 1536,
	    .max_memory = o->spec.max_memory,
	    .max_file = MAX_FILE,
	    .die_with_parent = true,
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
		err_errno(err, EXIT_ENVIRON, "cannot create a directory for a test in '%s'", o->scratch);
		temp_failed(err);
	} else if (write_candidate(o, test.folder, t, err) == 0) {
		test.child = start_child(o, test.folder, err);
		if (test.child) {
			child_age_look(&test.age, child_pid(test.child));
			PUSH_TO(o->test, o->n, o->cap) = test;
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

/* The age at which a test counts as a hang; 0: never. */
static double limit_of(const struct command_oracle *o)
{
	double all = o->spec.timeout_ms / 1000.0, learned = LEARNED * o->oldest > 1 ? LEARNED * o->oldest : 1;
	return o->timed_out && o->ended && learned < all ? learned : all;
}

static void end_late_ones(struct command_oracle *o)
{
	double limit = limit_of(o);
	for (size_t i = 0; i < o->n && limit > 0; i++) {
		struct command_test *t = &o->test[i];
		if (t->late || child_age_look(&t->age, child_pid(t->child)) < limit)
			continue;
		t->late = o->timed_out = true;
		child_stop(t->child);
	}
}

/* Libraries, interpreters and compilers have different messages for it; a shell's comes from its program. */
static bool says_no_memory(struct slice text)
{
	static const char *const words[] = {"MemoryError",           "bad_alloc",    "annot allocate memory",
					    "can't allocate memory", "ut of memory", "emory exhausted"};
	return slice_any(text, words, slice_has);
}

/* 125 to 127: the command could not tell, or could not be run (git bisect run, sh). */
static void judge_exit(struct command_oracle *o, const struct command_test *t, struct outcome *out)
{
	const struct child_result *r = child_result(t->child);
	buf_reset(&o->detail);
	child_output_text(&r->err, &o->detail);
	if (r->out.total) {
		if (o->detail.len && o->detail.p[o->detail.len - 1] != '\n')
			buf_addc(&o->detail, '\n');
		child_output_text(&r->out, &o->detail);
	}
	bool cannot_tell = r->how == CHILD_EXITED && r->status >= 125 && r->status <= 127, fails = r->how == CHILD_EXITED && r->status == 0;
	if (t->late) {
		out->kind = OUTCOME_TIMEOUT;
		out->signature.type = SLICE("timeout");
	} else if (o->spec.max_memory && !cannot_tell && !fails && says_no_memory(buf_slice(&o->detail))) {
		out->kind = OUTCOME_MEMORY;
		out->signature.type = SLICE("memory");
	} else if (r->how == CHILD_EXITED && !cannot_tell) {
		out->kind = fails ? OUTCOME_FAILED : OUTCOME_PASSES;
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
		buf_cut(&o->detail, o->detail.len - 1);
	out->detail = out->output = buf_slice(&o->detail);
	out->seconds = (double)r->wall_ns * 1e-9;
	out->signature.kind = out->kind;
}

static int command_wait(struct oracle *oracle, int timeout_ms, struct outcome *out, struct err *err)
{
	struct command_oracle *o = (struct command_oracle *)oracle;
	struct child_event ev;
	*out = (struct outcome){0};
	do {
		int step = timeout_ms < 0 || timeout_ms > LOOK_MS ? LOOK_MS : timeout_ms;
		end_late_ones(o);
		if (childset_wait(&o->set, -1, step, &ev) < 0)
			return err_errno(err, EXIT_ENVIRON, "cannot wait for a test");
		timeout_ms -= timeout_ms < 0 ? 0 : step;
	} while (ev.what == CHILD_NOTHING && timeout_ms && o->n);
	if (ev.what != CHILD_ENDED)
		return 0;
	for (size_t i = 0; i < o->n; i++)
		if (o->test[i].child == ev.child) {
			out->id = o->test[i].id;
			judge_exit(o, &o->test[i], out);
			if (!o->test[i].late) {
				o->ended = true;
				if (o->test[i].age.age > o->oldest)
					o->oldest = o->test[i].age.age;
			}
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
    .jobs = command_jobs,
    .start = command_start,
    .wait = command_wait,
    .cancel = command_cancel,
    .close = command_close,
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
