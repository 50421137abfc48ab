/* Matching of compilations, by code and not by number; what is told of them. */
#include "compare/compare.h"
#include "../../lib/test.h"

#include <fcntl.h>
#include <unistd.h>

static int no_spool(struct err *err) { return err_set(err, EXIT_ENVIRON, "no temporary file"); }

static int spool(struct err *err)
{
	FILE *f = tmpfile();
	if (!f)
		return err_errno(err, EXIT_ENVIRON, "tmpfile");
	int fd = dup(fileno(f));
	fclose(f);
	return fd;
}

/* A log of these frames: "forward:12" compiles the function forward of line 12; '/' is a recompile of the one before, for
 * the reason that follows it. Each captures a graph that is named by the function and, after '=', by more. */
static char *make_log(const char *frames)
{
	static unsigned n;
	char *path = xasprintf("/tmp/pt2test.%d.%u.log", (int)getpid(), n++);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	int frame = -1, compile = 0;
	struct slice rest = slice_str(frames);
	while (rest.n) {
		const char *space = slice_chr(rest, ' ');
		struct slice item = slice_of(rest.p, space ? (size_t)(space - rest.p) : rest.n);
		rest = slice_of(rest.p + item.n + (space != NULL), rest.n - item.n - (space != NULL));
		static char name[64], line[16];
		static char graph[64];
		const char *reason = NULL;
		size_t reason_n = 0;
		if (*item.p == '/') {
			compile++;
			reason = item.p + 1;
			reason_n = item.n - 1;
		} else {
			const char *colon = slice_chr(item, ':'), *eq = slice_chr(item, '='), *end = item.p + item.n;
			frame++;
			compile = 0;
			snprintf(name, sizeof(name), "%.*s", (int)(colon - item.p), item.p);
			snprintf(line, sizeof(line), "%.*s", (int)((eq ? eq : end) - colon - 1), colon + 1);
			snprintf(graph, sizeof(graph), "%.*s", eq ? (int)(end - eq - 1) : 0, eq ? eq + 1 : "");
		}
		static const char prefix[] = "V1121 07:59:23.043000 1 torch/x.py:1] ";
		char id[100];
		snprintf(id, sizeof(id), "\"frame_id\": %d, \"frame_compile_id\": %d, \"attempt\": 0", frame, compile);
		if (reason)
			fprintf(
			    f,
			    "%s{\"artifact\": {\"name\": \"recompile_reasons\", \"encoding\": \"string\"}, %s, \"has_payload\": \"0\"}\n"
			    "\t%d/%d: %.*s\n",
			    prefix, id, frame, compile - 1, (int)reason_n, reason);
		fprintf(f, "%s{\"dynamo_output_graph\": {}, %s, \"has_payload\": \"0\"}\n\tgraph of %s %s\n", prefix, id, name, graph);
		fprintf(f,
			"%s{\"compilation_metrics\": {\"co_name\": \"%s\", \"co_filename\": \"/app/m.py\", \"co_firstlineno\": %s, "
			"\"graph_op_count\": 1, "
			"\"entire_frame_compile_time_s\": 1.0}, %s}\n",
			prefix, name, line, id);
	}
	assert_int_equal(fclose(f), 0);
	return path;
}

/* "0/0=1/0 0/1- +2/0": pairs, gone, new. */
static void pairs(const char *before, const char *after, const char *want)
{
	char *path[2] = {make_log(before), make_log(after)}, id[COMPILE_ID_TEXT];
	struct compare_log l[2];
	struct compare c;
	struct err err;
	struct buf b = {0};
	for (unsigned s = 0; s < 2; s++)
		assert_int_equal(compare_read(&l[s], path[s], no_spool, NULL, &err), 0);
	compare_run(&c, &l[0], &l[1]);
	for (uint32_t i = 0; i < c.n_pair; i++) {
		const struct compare_pair *p = &c.pair[i];
		if (b.len)
			buf_addc(&b, ' ');
		if (p->a != NONE)
			buf_adds(&b, compile_id_text(&compare_last(&l[0], p->a)->id, id));
		buf_addc(&b, p->a == NONE ? '+' : p->b == NONE ? '-' : '=');
		if (p->b != NONE)
			buf_adds(&b, compile_id_text(&compare_last(&l[1], p->b)->id, id));
	}
	assert_text(buf_slice(&b), want);
	buf_release(&b);
	compare_release(&c);
	for (unsigned s = 0; s < 2; s++) {
		compare_log_release(&l[s]);
		unlink(path[s]);
		free(path[s]);
	}
}

static void test_matching(void **state)
{
	(void)state;
	pairs("f:1 g:5", "f:1 g:5", "0/0=0/0 1/0=1/0");
	pairs("f:1 g:5", "new:9 f:1 g:5", "+0/0 0/0=1/0 1/0=2/0");
	pairs("f:1 g:5", "g:5", "1/0=0/0 0/0-");
	pairs("f:1 g:5", "g:5 f:1", "1/0=0/0 0/0=1/0");
	pairs("f:1 g:5", "f:3 g:7", "0/0=0/0 1/0=1/0"); /* lines moved */
	pairs("torch_dynamo_resume_in_f_at_9:9", "torch_dynamo_resume_in_f_at_12:12", "0/0=0/0");
	/* One code, several frames: by graph, then by order. */
	pairs("f:1=a f:1=b f:1=c", "f:1=b f:1=c", "1/0=0/0 2/0=1/0 0/0-");
	pairs("f:1=a f:1=b", "f:1=x f:1=y", "0/0=0/0 1/0=1/0");
	/* Recompiles: by reason, then by order. */
	pairs("f:1 /x==1 /y==2", "f:1 /y==2", "0/0=0/0 0/1- 0/2=0/1");
	pairs("f:1 /x==1", "f:1 /z==3", "0/0=0/0 0/1=0/1");
	pairs("f:1", "f:1 /x==1 /y==2", "0/0=0/0 +0/1 +0/2");
}

static void test_again(void **state)
{
	(void)state;
	struct err err;
	struct compare_log l;
	struct buf b = {0};
	char *path = make_log("f:1=one");
	assert_int_equal(compare_read(&l, path, no_spool, NULL, &err), 0);
	assert_int_equal(l.t.n_artifact, 2);
	assert_true(compare_payload(&l, 0, &b));
	assert_text(buf_slice(&b), "graph of f one");
	assert_false(compare_payload(&l, 1, &b)); /* metrics have none */
	/* The log is cut while it is read. */
	assert_int_equal(truncate(path, 60), 0);
	assert_false(compare_payload(&l, 0, &b));
	compare_log_release(&l);
	unlink(path);
	assert_int_equal(compare_read(&l, path, no_spool, NULL, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	free(path);

	/* Not seekable: through the spool. */
	path = make_log("f:1=two");
	char *fifo = xasprintf("%s.fifo", path), *cmd = xasprintf("mkfifo %s && cat %s > %s &", fifo, path, fifo);
	assert_int_equal(system(cmd), 0);
	for (unsigned i = 0; i < 1000 && access(fifo, R_OK) < 0; i++)
		usleep(1000);
	assert_int_equal(compare_read(&l, fifo, spool, NULL, &err), 0);
	assert_true(compare_payload(&l, 0, &b));
	assert_text(buf_slice(&b), "graph of f two");
	compare_log_release(&l);
	unlink(fifo);
	unlink(path);
	free(fifo);
	free(cmd);
	free(path);
	buf_release(&b);
}

static void test_alone(void **state)
{
	(void)state;
	struct compare_log l;
	struct compare c;
	struct err err;
	char *path = make_log("f:1 g:2");
	assert_int_equal(compare_read(&l, path, no_spool, NULL, &err), 0);
	compare_run(&c, &l, NULL);
	assert_int_equal(c.n_pair, 2);
	assert_int_equal(c.frames[1], 2);
	assert_true(compare_differs(&c));
	assert_int_equal(c.change[0].how, HOW_GONE);
	compare_release(&c);
	compare_log_release(&l);
	unlink(path);
	free(path);
}

/* A frame of m.py that took these seconds, compiled anew for this reason, with a break at this line (0: none). */
struct row {
	const char *function, *recompiled;
	double seconds;
	uint32_t breaks;
};

static void add_row(struct facts *f, uint32_t in, unsigned frame, const struct row *r)
{
	const struct fact_loc loc = {facts_intern(f, SLICE("/app/m.py")), 10 * frame + 1, facts_intern(f, slice_str(r->function)), NONE};
	char text[COMPILE_ID_TEXT];
	for (int64_t n = 0; n <= (r->recompiled != NULL); n++) {
		const struct compile_id id = {-1, frame, n, 0, 0};
		struct fact_src src = fact_src(in, 100 * frame + (unsigned)n + 1);
		uint32_t compile = facts_compile_anew(f, in, 0, 0, slice_str(compile_id_text(&id, text)), src.line, 0);
		src.attempt = facts_attempt(f, in, &id, src.line);
		f->compile[compile].loc = f->attempt[src.attempt].loc = loc;
		f->attempt[src.attempt].compile = compile;
		f->compile[compile].seconds = r->seconds;
		if (n) {
			struct fact_recompile *x = facts_new_recompile(f, src);
			x->compile = compile;
			x->reason = facts_intern(f, slice_str(r->recompiled));
		} else if (r->breaks) {
			struct fact_break *x = facts_new_brk(f, src);
			x->compile = compile;
			x->reason = facts_intern(f, SLICE("print"));
			x->loc = (struct fact_loc){loc.file, r->breaks, loc.function, NONE};
		}
	}
}

/* Of rows alone, as a document has them: nothing is read. */
static void test_rows(void **state)
{
	(void)state;
	static const struct row before[] = {{"f", NULL, 1, 0}, {"g", NULL, 1, 15}, {"old", NULL, 1, 0}};
	static const struct row after[] = {{"f", "0/0: x == 1", 1, 5}, {"g", NULL, 9, 0}};
	static const struct {
		enum compare_kind kind;
		enum compare_how how;
		const char *function;
	} want[] = {
	    {COMPARE_BREAK, HOW_NEW, "f"},      {COMPARE_BREAK, HOW_GONE, "g"},  {COMPARE_RECOMPILE, HOW_NEW, "f"},
	    {COMPARE_COMPILE, HOW_GONE, "old"}, {COMPARE_TIME, HOW_SLOWER, "g"},
	};
	const struct row *row[2] = {before, after};
	const unsigned n[2] = {ARRAY_LEN(before), ARRAY_LEN(after)};
	struct facts f[2];
	struct compare_log l[2];
	struct compare c;
	for (unsigned s = 0; s < 2; s++) {
		facts_init(&f[s]);
		uint32_t in = facts_input(&f[s], FACT_TRACE, "none.log");
		for (unsigned i = 0; i < n[s]; i++)
			add_row(&f[s], in, i, &row[s][i]);
		compare_input(&l[s], "none.log", &f[s], in);
	}
	compare_run(&c, &l[0], &l[1]);
	for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
		unsigned found = 0;
		for (uint32_t k = 0; k < c.n_change; k++)
			found += c.change[k].kind == want[i].kind && c.change[k].how == want[i].how &&
				 slice_is(c.change[k].at.func, want[i].function);
		if (found != 1)
			fail_msg("%u rows of %s: %s %s", found, compare_kind_name[want[i].kind], compare_how_name[want[i].how],
				 want[i].function);
	}
	assert_int_equal(c.n_change, ARRAY_LEN(want));
	compare_release(&c);
	for (unsigned s = 0; s < 2; s++) {
		compare_log_release(&l[s]);
		facts_release(&f[s]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_matching), cmocka_unit_test(test_again), cmocka_unit_test(test_alone),
					   cmocka_unit_test(test_rows)};
	return RUN(tests);
}
