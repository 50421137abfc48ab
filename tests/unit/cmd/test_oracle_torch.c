/* The C side of the torch oracle against a process that only pretends: a shell script in the place of Python. What torch does with the
 * messages is in tests/live/oracle.t. */
#include "graph/fxcode.h"
#include "reduce/candidate.h"
#include "reduce/oracle_torch.h"
#include "../../lib/test.h"
#include "../../lib/missing.h"

#include <sys/stat.h>
#include <unistd.h>

static const char original[] =
    "import os\nos.environ['TORCH_X'] = '1'\nimport torch\ntorch._inductor.config.cpp.threads = 1\n"
    "class Repro(torch.nn.Module):\n    def forward(self, x):\n"
    "        relu = torch.ops.aten.relu.default(x);  x = None\n        cos = torch.ops.aten.cos.default(relu);  relu = None\n"
    "        return (cos,)\n"
    "def load_args(reader):\n    buf0 = reader.storage(None, 48)\n    reader.tensor(buf0, (3, 4), is_leaf=True)  # x\n"
    "load_args._version = 0\nmod = Repro()\n"
    "if __name__ == '__main__':\n    from torch._dynamo.repro.after_aot import run_repro\n    with torch.no_grad():\n"
    "        run_repro(mod, load_args, accuracy=False, command='minify', save_dir=None, tracing_mode='real', check_str=None)\n";

static char folder[] = "/tmp/pt2-oracle-XXXXXX";
static char *script;

#define RECORD \
	"{\"re\": \"record\", \"kind\": \"passes\", \"random\": [\"\"], \"nodes\": {" \
	"\"x\": {\"kind\": \"tensor\", \"dtype\": \"float32\", \"size\": [3, 4], \"stride\": [4, 1], \"device\": \"cpu\"}, " \
	"\"relu\": {\"kind\": \"tensor\", \"dtype\": \"float32\", \"size\": [3, 4], \"stride\": [4, 1], \"device\": \"cpu\", \"makes\": " \
	"true}, " \
	"\"cos\": {\"kind\": \"tuple\", \"parts\": [{\"kind\": \"int\", \"value\": 7}, {\"kind\": \"other\"}]}}}"

/* Says hello and record, then runs `test` (shell, $id and $line are set) for each test. */
static void pretend(const char *hello, const char *record, const char *test)
{
	FILE *f = fopen(script, "w");
	fprintf(f, "#!/bin/sh\n[ \"$1 $2\" = '-m code' ] || exit 9\necho $$ >>%s/pids\nprintf '>>> \\n@pt2-oracle\\n'\n", folder);
	fprintf(f, "while read -r line; do\n id=${line#*'\"id\": '}; id=${id%%%%,*}\n case $line in\n");
	fprintf(f, " '{\"op\": \"start\"'*|'{\"op\":\"start\"'*) %s ;;\n", hello);
	fprintf(f, " '{\"op\": \"record\"'*|'{\"op\":\"record\"'*) echo 'a word of the launcher'; %s ;;\n", record);
	fprintf(f,
		" '{\"op\": \"test\"'*|'{\"op\":\"test\"'*) id=${line#*'\"id\":'}; id=$(printf %%s \"${id%%%%,*}\" | tr -d ' '); %s ;;\n",
		test);
	fprintf(f,
		" '{\"op\": \"verify\"'*|'{\"op\":\"verify\"'*) printf '%%s\\n' \"$line\" >%s/asked;"
		" echo '{\"re\": \"verify\", \"kind\": \"raised\", \"type\": \"KeyError\"}' ;;\n",
		folder);
	fprintf(f, " '{\"op\": \"inputs\"'*|'{\"op\":\"inputs\"'*) echo '{\"re\": \"inputs\", \"kind\": \"passes\", \"values\": ["
		   "{\"kind\": \"tensor\", \"data\": \"AAECAw==\"}]}' ;;\n esac\ndone\n");
	fclose(f);
	chmod(script, 0755);
}

static const char hello[] = "echo '{\"re\": \"hello\", \"torch\": \"2.13.0\", \"session\": \"\"}'";
static const char record[] = "echo '" RECORD "'";

static struct repro repro;
static struct oracle *start_with(const struct repro *r, const char *const *const *launcher, struct err *err)
{
	return oracle_torch(
	    &(struct oracle_torch_spec){.python = script, .repro = r, .jobs = 2, .start_timeout_ms = 5000, .launcher = launcher}, err);
}
static struct oracle *start(struct err *err) { return start_with(&repro, NULL, err); }

static uint64_t ask(struct oracle *o, const struct repro *r)
{
	struct candidate c;
	struct err err;
	candidate_whole(&c, r);
	struct test t = candidate_test(&c, r);
	uint64_t id = oracle_start(o, &t, &err);
	candidate_release(&c);
	return id;
}

static void answers_come_in_any_order(void **state)
{
	(void)state;
	struct err err = {0};
	pretend(hello, record,
		"if [ $id = 2 ]; then echo 'noise {'; echo '{\"re\": \"test\", \"id\": 2, \"kind\": \"passes\"}';"
		" echo '{\"re\": \"test\", \"id\": 99, \"kind\": \"passes\"}';"
		" echo '{\"re\": \"test\", \"id\": 1, \"kind\": \"raised\", \"type\": \"KeyError\", \"message\": \"buf12 of /a/b.c:1\", "
		"\"detail\": \"all\","
		" \"output\": \"its last words\", \"frames\": \"a:b\", \"seconds\": 1.5, \"extra\": {\"suspects\": [\"relu\"]}}'; fi");
	struct oracle *o = start(&err);
	if (!o)
		fail_msg("%s", err.text);
	assert_int_equal(oracle_torch_recorded(o)->kind, OUTCOME_PASSES);
	assert_int_equal(oracle_jobs(o), 2);
	struct outcome out;
	assert_int_equal(oracle_wait(o, 0, &out, &err), 0); /* nothing runs */
	assert_int_equal(ask(o, &repro), 1);
	assert_int_equal(ask(o, &repro), 2);
	assert_int_equal(oracle_wait(o, 5000, &out, &err), 1);
	assert_int_equal(out.id, 2);
	assert_int_equal(out.kind, OUTCOME_PASSES);
	assert_int_equal(oracle_wait(o, 5000, &out, &err), 1);
	assert_int_equal(out.id, 1);
	assert_int_equal(out.kind, OUTCOME_RAISED);
	assert_true(slice_is(out.signature.type, "KeyError") && slice_is(out.signature.message, "bufN of PATH"));
	assert_true(slice_is(out.signature.frames, "a:b") && slice_is(out.detail, "all") && out.seconds > 1.4);
	assert_true(slice_is(out.extra, "{\"suspects\": [\"relu\"]}") && slice_is(out.output, "its last words"));
	/* One that is cancelled says nothing. */
	uint64_t id = ask(o, &repro);
	oracle_cancel(o, id);
	assert_int_equal(oracle_wait(o, 100, &out, &err), 0);
	oracle_close(o);
}

static void what_was_recorded(void **state)
{
	(void)state;
	struct err err = {0};
	struct repro r = {0};
	struct buf b = {0};
	assert_int_equal(repro_read(&r, SLICE(original), "original.py", &err), 0);
	pretend(hello, record, ":");
	struct oracle *o = start_with(&r, NULL, &err);
	assert_non_null(o);
	assert_int_equal(oracle_torch_annotate(o, &r.graph, &err), 0);
	uint32_t relu = graph_find(&r.graph, 0, SLICE("relu")), cos = graph_find(&r.graph, 0, SLICE("cos"));
	fxcode_meta(&r.graph, r.graph.node[relu].meta, &b);
	assert_string_equal(buf_str(&b), "f32[3, 4][4, 1]cpu");
	const struct gmeta *m = &r.graph.meta[r.graph.node[cos].meta];
	assert_int_equal(m->kind, GMETA_TUPLE);
	assert_int_equal(m->n_parts, 2);
	assert_int_equal(r.graph.meta[m->first].kind, GMETA_SYM);
	uint32_t maker[2];
	assert_int_equal(oracle_torch_nan_makers(o, &r.graph, maker, 2), 1);
	assert_int_equal(maker[0], relu);
	struct candidate c;
	candidate_whole(&c, &r);
	struct test t = candidate_test(&c, &r);
	struct oracle_value v;
	struct arena a = {0};
	assert_int_equal(oracle_torch_values(o, &t, &a, &v, &err), 0);
	assert_int_equal(v.kind, ORACLE_TENSOR);
	assert_true(slice_eq(v.bytes, slice_of("\0\1\2\3", 4)));
	arena_release(&a);
	candidate_release(&c);
	buf_release(&b);
	oracle_close(o);
	repro_release(&r);
}

static void an_original_that_fails_in_eager(void **state)
{
	(void)state;
	struct err err = {0};
	struct outcome out;
	pretend(hello, "echo '{\"re\": \"record\", \"kind\": \"invalid\", \"detail\": \"eager fails: no\"}'",
		"echo '{\"re\": \"test\", \"id\": 1, \"kind\": \"passes\"}'");
	struct oracle *o = start(&err);
	assert_non_null(o);
	assert_int_equal(oracle_torch_recorded(o)->kind, OUTCOME_INVALID);
	ask(o, &repro);
	assert_int_equal(oracle_wait(o, 5000, &out, &err), 1);
	assert_int_equal(out.kind, OUTCOME_INVALID);
	assert_true(slice_is(out.detail, "eager fails: no"));
	assert_int_equal(oracle_torch_annotate(o, &repro.graph, &err), -1);
	oracle_close(o);
}

static void a_process_that_dies_is_started_again(void **state)
{
	(void)state;
	struct err err = {0};
	struct outcome out;
	pretend(hello, record,
		"case $id in 1) echo 'out of luck' >&2; kill -9 $$ ;; *) echo \"{\\\"re\\\": \\\"test\\\", \\\"id\\\": $id, \\\"kind\\\": "
		"\\\"passes\\\"}\" ;; esac");
	struct oracle *o = start(&err);
	assert_non_null(o);
	ask(o, &repro);
	assert_int_equal(oracle_wait(o, 5000, &out, &err), 1);
	assert_int_equal(out.kind, OUTCOME_INFRA);
	assert_non_null(memmem(out.detail.p, out.detail.n, "killed by SIGKILL", 17));
	assert_non_null(memmem(out.detail.p, out.detail.n, "out of luck", 11));
	ask(o, &repro);
	assert_int_equal(oracle_wait(o, 5000, &out, &err), 1);
	assert_int_equal(out.kind, OUTCOME_PASSES);
	oracle_close(o);
}

static void one_that_always_dies_is_given_up(void **state)
{
	(void)state;
	struct err err = {0};
	struct outcome out;
	pretend(hello, record, "exit 3");
	struct oracle *o = start(&err);
	assert_non_null(o);
	int r = 1;
	for (int i = 0; i < 4 && r == 1; i++) {
		if (!ask(o, &repro))
			r = -1;
		else
			r = oracle_wait(o, 5000, &out, &err);
		if (r == 1)
			assert_int_equal(out.kind, OUTCOME_INFRA);
	}
	assert_int_equal(r, -1);
	oracle_close(o);
}

/* The head of a test that sets another variable needs another process. */
static void another_environment_is_another_process(void **state)
{
	(void)state;
	struct err err = {0};
	struct outcome out;
	struct repro other = repro;
	char *pids = xasprintf("%s/pids", folder);
	unlink(pids);
	pretend(hello, record,
		"echo \"{\\\"re\\\": \\\"test\\\", \\\"id\\\": $id, \\\"kind\\\": \\\"passes\\\", \\\"detail\\\": \\\"$$\\\"}\"");
	other.line = xcalloc(repro.n_lines, sizeof(*other.line));
	memcpy(other.line, repro.line, repro.n_lines * sizeof(*other.line));
	for (size_t i = 0; i < repro.n_lines; i++)
		if (other.line[i].kind == REPRO_ENV_SET)
			other.line[i].value = SLICE("2");
	struct oracle *o = start(&err);
	assert_non_null(o);
	char first[32] = "", second[32] = "";
	ask(o, &repro);
	ask(o, &other);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(oracle_wait(o, 5000, &out, &err), 1);
		assert_int_equal(out.kind, OUTCOME_PASSES);
		snprintf(i ? second : first, sizeof(first), "%.*s", SL(out.detail));
	}
	assert_string_not_equal(first, second);
	oracle_close(o);
	free(other.line);
	free(pids);
}

static void prefixes(void **state)
{
	(void)state;
	struct err err = {0};
	struct outcome out;
	pretend(hello, record, "echo \"{\\\"re\\\": \\\"test\\\", \\\"id\\\": $id, \\\"kind\\\": \\\"passes\\\"}\"");
	const char *const env[] = {"env", "A=1", NULL}, *const *const two[] = {env, env, NULL};
	struct oracle *o = start_with(&repro, two, &err);
	assert_non_null(o);
	assert_int_equal(oracle_jobs(o), 4);
	for (int i = 0; i < 6; i++)
		ask(o, &repro);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(oracle_wait(o, 5000, &out, &err), 1);
		assert_int_equal(out.kind, OUTCOME_PASSES);
	}
	oracle_close(o);
}

static void one_prefix_of_two_fails(void **state)
{
	(void)state;
	struct err err = {0};
	struct outcome out;
	pretend(hello, record, "echo \"{\\\"re\\\": \\\"test\\\", \\\"id\\\": $id, \\\"kind\\\": \\\"passes\\\"}\"");
	const char *const bad[] = {"sh", "-c", "echo srun: error: no such node >&2; exit 1", NULL}, *const good[] = {"env", NULL};
	const char *const *const two[] = {bad, good, NULL};
	struct oracle *o = start_with(&repro, two, &err);
	assert_non_null(o);
	for (int i = 0; i < 50 && !oracle_torch_gone(o, 0); i++) {
		ask(o, &repro);
		assert_int_equal(oracle_wait(o, 5000, &out, &err), 1);
		assert_int_equal(out.kind, OUTCOME_PASSES);
	}
	assert_string_equal(oracle_torch_gone(o, 0), "the torch process exited with status 1: srun: error: no such node");
	assert_null(oracle_torch_gone(o, 1));
	assert_null(oracle_torch_gone(o, 2));
	oracle_close(o);
}

static void put_file(const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	free(path);
}

/* What a verifier was asked, with and without a prefix: the program and its inputs go along with one. */
static void the_program_goes_along(void **state)
{
	(void)state;
	static const char *const made[] = {"r.data/storages/abc", "r.data/storages", "r.data", "r.py", "asked"};
	struct err err = {0};
	struct outcome out;
	const char *const env[] = {"env", NULL}, *const *const one[] = {env, NULL};
	char *path = xasprintf("%s/r.py", folder), *asked = xasprintf("%s/asked", folder);
	pretend(hello, record, ":");
	put_file("r.py", "import torch\n");
	for (int i = 2; i > 0; i--) {
		char *dir = xasprintf("%s/%s", folder, made[i]);
		assert_int_equal(mkdir(dir, 0700), 0);
		free(dir);
	}
	put_file(made[0], "bytes");
	for (int far = 0; far < 2; far++) {
		const struct oracle_torch_spec spec = {.python = script, .repro = &repro, .timeout_ms = 5000, .launcher = far ? one : NULL};
		struct verifier *v = verifier_start(&spec, &err);
		assert_non_null(v);
		assert_int_equal(verifier_run(v, path, &repro, false, &out, &err), 0);
		assert_int_equal(out.kind, OUTCOME_RAISED);
		struct mapfile file;
		assert_int_equal(mapfile_open(&file, asked, &err), 0);
		assert_int_equal(slice_find(file.bytes, "\"r.py\"") && slice_find(file.bytes, "aW1wb3J0IHRvcmNoCg=="), far);
		assert_int_equal(slice_find(file.bytes, "\"r.data/storages/abc\"") && slice_find(file.bytes, "Ynl0ZXM="), far);
		mapfile_close(&file);
		verifier_close(v);
	}
	for (size_t i = 0; i < ARRAY_LEN(made); i++) {
		char *p = xasprintf("%s/%s", folder, made[i]);
		assert_int_equal(remove(p), 0);
		free(p);
	}
	free(path);
	free(asked);
}

static void cannot_start(void **state)
{
	(void)state;
	struct err err = {0};
	assert_null(oracle_torch(&(struct oracle_torch_spec){.python = missing_path("python"), .repro = &repro}, &err));
	assert_non_null(strstr(err.text, "no Python is found"));
	pretend("echo '{\"re\": \"hello\", \"error\": \"it has no torch\"}'; exit 0", record, ":");
	assert_null(start(&err));
	assert_string_equal(err.text, "it has no torch");
	assert_int_equal(err.status, EXIT_ENVIRON);
	pretend("sleep 100", record, ":");
	assert_null(oracle_torch(&(struct oracle_torch_spec){.python = script, .repro = &repro, .start_timeout_ms = 200}, &err));
	assert_non_null(strstr(err.text, "did not get ready in time"));
}

int main(void)
{
	struct err err;
	if (!mkdtemp(folder) || repro_read(&repro, SLICE(original), "original.py", &err) < 0)
		return 1;
	script = xasprintf("%s/python", folder);
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(answers_come_in_any_order),
	    cmocka_unit_test(what_was_recorded),
	    cmocka_unit_test(an_original_that_fails_in_eager),
	    cmocka_unit_test(a_process_that_dies_is_started_again),
	    cmocka_unit_test(one_that_always_dies_is_given_up),
	    cmocka_unit_test(another_environment_is_another_process),
	    cmocka_unit_test(prefixes),
	    cmocka_unit_test(cannot_start),
	    cmocka_unit_test(one_prefix_of_two_fails),
	    cmocka_unit_test(the_program_goes_along),
	};
	int status = cmocka_run_group_tests(tests, NULL, NULL);
	char *pids = xasprintf("%s/pids", folder);
	unlink(pids);
	unlink(script);
	rmdir(folder);
	free(pids);
	free(script);
	repro_release(&repro);
	return status;
}
