/* Many processes of one program: what ranks are compared by in a log's rows, what survives the document, where ranks are said to part. */
#include "../../lib/folder.h"
#include "../../lib/log.h"
#include "base/text.h"
#include "run/document.h"
#include "run/ranks/ranks.h"
#include "run/text.h"
#include "run/trace/trace.h"

/* The rows of a log. */
static void facts_of(struct facts *f, const char *name, struct slice text)
{
	static const struct facts_options o = {.ranks = true, .no_phases = true};
	char *path = xasprintf("%s/%s", folder_path, path_base(name));
	struct err err;
	folder_put(path_base(name), text);
	facts_init(f);
	if (facts_add_trace(f, path, &o, &err) < 0)
		fail_msg("%s", err.text);
	facts_frames(f);
	free(path);
}

static const char ids[] = "\"frame_id\": %d, \"frame_compile_id\": 0, \"attempt\": 0";

static void add_graph(struct buf *b, int frame, const char *graph)
{
	struct buf m = {0};
	buf_adds(&m, "\"dynamo_output_graph\": {\"sizes\": {}}, ");
	buf_addf(&m, ids, frame);
	add_record(b, "", buf_str(&m), graph);
	buf_release(&m);
}

static void add_artifact(struct buf *b, int frame, const char *name, const char *payload)
{
	struct buf m = {0};
	buf_addf(&m, "\"artifact\": {\"name\": \"%s\", \"encoding\": \"json\"}, ", name);
	buf_addf(&m, ids, frame);
	add_record(b, "", buf_str(&m), payload);
	buf_release(&m);
}

static void paths(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		int64_t rank;
	} row[] = {
	    {"dedicated_log_torch_trace_rank_0_x.log", 0},
	    {"/a/rank_9/dedicated_log_torch_trace_rank_12_ab_cd.log.gz", 12},
	    {"dedicated_log_torch_trace_rank_7.log", 7},
	    {"dedicated_log_torch_trace_rank_.log", -1},
	    {"dedicated_log_torch_trace_rank_1x.log", -1},
	    {"dedicated_log_torch_trace_rank_99999999999.log", -1},
	    {"dedicated_log_torch_trace_rank_3", -1},
	    {"dedicated_log_torch_trace_abc.log", -1},
	    {"rank_3.log", -1},
	    {"", -1},
	};
	for (unsigned i = 0; i < ARRAY_LEN(row); i++)
		assert_int_equal(rank_of_path(row[i].path), row[i].rank);
}

static void fingerprints(void **state)
{
	(void)state;
	struct buf tmp = {0};
	uint64_t a = graph_fingerprint(SLICE("x: \"f32[4]cuda:0\" = torch.sin(y, device = device(type='cuda', index=0))"), &tmp);
	assert_true(a == graph_fingerprint(SLICE("x: \"f32[4]cuda:11\" = torch.sin(y, device = device(type='cuda', index=11))"), &tmp));
	assert_true(a != graph_fingerprint(SLICE("x: \"f32[5]cuda:0\" = torch.sin(y, device = device(type='cuda', index=0))"), &tmp));
	assert_true(graph_fingerprint(SLICE("cuda:"), &tmp) != graph_fingerprint(SLICE("cuda:1"), &tmp));
	assert_true(graph_fingerprint(SLICE(""), &tmp) != 0);
	buf_release(&tmp);
}

static void document_of(const struct facts *f, struct buf *b)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	document_head(&o, "tlparse", f);
	document_rows(&o, f);
	document_ranks(&o, f);
	json_close(&o);
}

/* Into the document and back: the same document, and a process that does the same. */
static void round_trip(const struct facts *f, struct buf *out)
{
	struct buf b[2] = {{0}};
	struct json_tape tape = {0};
	struct facts back;
	struct ranks all = {0};
	struct err err;
	uint32_t root;
	document_of(f, &b[0]);
	facts_init(&back);
	assert_int_equal(document_open(&tape, buf_slice(&b[0]), "b.json", "tlparse", &root, &err), 0);
	assert_int_equal(document_read(&back, &tape, root, "b.json", &err), 0);
	document_of(&back, &b[1]);
	assert_true(slice_eq(buf_slice(&b[0]), buf_slice(&b[1])));
	ranks_add(&all, f, 0, 0);
	ranks_add(&all, &back, 0, 1);
	const struct rank_process *p = all.process;
	assert_int_equal(p[0].n_event, p[1].n_event);
	for (uint32_t i = 0; i < p[0].n_event; i++)
		assert_true(p[0].event[i].fp == p[1].event[i].fp && p[0].event[i].line == p[1].event[i].line &&
			    p[0].event[i].text == p[1].event[i].text && p[0].event[i].at == p[1].event[i].at);
	assert_int_equal(p[0].n_compile, p[1].n_compile);
	for (uint32_t i = 0; i < p[0].n_compile; i++)
		assert_true(p[0].compile[i].cache == p[1].compile[i].cache && p[0].compile[i].dir == p[1].compile[i].dir);
	assert_int_equal(p[0].n_span, p[1].n_span);
	assert_true(p[0].start == p[1].start && p[0].end == p[1].end);
	assert_memory_equal(p[0].damage, p[1].damage, sizeof(p[0].damage));
	ranks_finish(&all);
	for (unsigned i = 0; i < RANK_CHECK_COUNT; i++)
		assert_true(all.check[i].agree);
	ranks_release(&all);
	facts_release(&back);
	json_tape_release(&tape);
	if (out)
		buf_add_slice(out, buf_slice(&b[0]));
	buf_release(&b[0]);
	buf_release(&b[1]);
}

static void recorded(void **state)
{
	(void)state;
	struct ranks all = {0};
	for (int i = 0; i < 4; i++) {
		char name[96];
		struct buf b = {0};
		struct facts f;
		snprintf(name, sizeof(name), "traces/ranks4/dedicated_log_torch_trace_rank_%d_fixture%d.log.xz", i, i);
		if (!data_load(name, &b))
			skip();
		facts_of(&f, name, buf_slice(&b));
		round_trip(&f, NULL);
		ranks_add(&all, &f, 0, 0);
		assert_int_equal(all.process[i].rank, i);
		assert_int_equal(all.process[i].record_rank, i);
		facts_release(&f);
		buf_release(&b);
	}
	ranks_finish(&all);
	assert_int_equal(all.n_process, 4);
	assert_string_equal(all.process[3].name, "rank_3");
	const struct rank_verdict *v = &all.check[RANK_CHECK_CAPTURE];
	assert_false(v->agree);
	assert_int_equal(v->ref, 0);
	assert_int_equal(v->group[0].n_member, 2);
	assert_int_equal(v->group[0].member[1], 2);
	assert_int_equal(v->splits, 2);
	assert_int_equal(all.split[v->first_split].at, 0);
	assert_int_equal(all.split[v->first_split].member[0], 1);
	assert_int_equal(all.split[v->first_split + 1].at, 2);
	assert_int_equal(all.split[v->first_split + 1].member[0], 3);
	assert_true(all.check[RANK_CHECK_COLLECT].agree);
	assert_true(all.check[RANK_CHECK_COLLECT].recorded);
	assert_true(all.check[RANK_CHECK_VERSION].agree);
	assert_false(all.check[RANK_CHECK_CACHE].agree);
	uint64_t fp;
	uint32_t g = rank_graph_of(&all, &all.process[3], all.split[v->first_split + 1].own.compile, &fp);
	assert_true(g != UINT32_MAX && slice_find(intern_get(&all.names, all.graph[g].graph), "torch.cos"));
	ranks_release(&all);
}

/* ---- of rows alone ---- */

/* A log of this path, in which each text is a graph that was captured. */
static void add_process(struct ranks *all, const char *path, const char *const *graph, unsigned n)
{
	struct facts f;
	struct buf tmp = {0};
	facts_init(&f);
	uint32_t in = facts_input(&f, FACT_TRACE, path);
	f.input[in].pid = 1234;
	for (unsigned i = 0; i < n; i++) {
		struct fact_src src = fact_src(in, i + 1);
		src.attempt = facts_attempt(&f, in, &(struct compile_id){-1, i, 0, 0, 0}, i + 1);
		struct fact_step *to = facts_new_step(&f, src);
		to->kind = STEP_GRAPH;
		to->fingerprint = graph_fingerprint(slice_str(graph[i]), &tmp);
		to->graph = facts_intern(&f, slice_str(graph[i]));
	}
	ranks_add(all, &f, in, 0);
	facts_release(&f);
	buf_release(&tmp);
}

static void parting(void **state)
{
	(void)state;
	static const struct {
		int rank;
		const char *graph[3];
		unsigned n;
	} row[] = {
	    {0, {"a = cuda:0\n", "b\n", "c\n"}, 3}, {1, {"a = cuda:1\n", "b\n", "c\n"}, 3},     {2, {"a = cuda:7\n", "other\n", "c\n"}, 3},
	    {3, {"a = cuda:7\n", "b\n"}, 2},        {7, {"a = cuda:7\n", "other\n", "c\n"}, 3},
	};
	struct ranks all = {0};
	for (unsigned i = 0; i < ARRAY_LEN(row); i++) {
		char path[64];
		snprintf(path, sizeof(path), "dedicated_log_torch_trace_rank_%d_x.log", row[i].rank);
		add_process(&all, path, row[i].graph, row[i].n);
	}
	ranks_lost(&all, "dedicated_log_torch_trace_rank_6_x.log", "the file is empty");
	ranks_finish(&all);
	const struct rank_verdict *v = &all.check[RANK_CHECK_CAPTURE];
	assert_int_equal(v->n_group, 3);
	assert_int_equal(v->ref, 0); /* ranks 0 and 1; ranks 2 and 7 are as many, but come later */
	assert_int_equal(v->splits, 2);
	const struct rank_split *s = &all.split[v->first_split];
	assert_int_equal(s->n_member, 2);
	assert_int_equal(s->at, 1);
	assert_false(s->ends);
	s++;
	assert_int_equal(s->n_member, 1);
	assert_int_equal(s->at, 2);
	assert_true(s->ends);
	assert_int_equal(all.absents, 3);
	assert_int_equal(all.absent[0], 4);
	assert_int_equal(all.absent[2], 6);
	/* One text for all that differ in the device only. */
	assert_int_equal(all.n_graph, 4);
	ranks_release(&all);
}

static void names(void **state)
{
	(void)state;
	static const char *const path[] = {"w/dedicated_log_torch_trace_b.log", "dedicated_log_torch_trace_rank_1_b.log",
					   "dedicated_log_torch_trace_a.log", "dedicated_log_torch_trace_rank_1_a.log"};
	static const char *const want[] = {"rank_1", "rank_1_2", "proc_1234", "proc_1234_2"};
	static const char *const file[] = {"rank_1_a", "rank_1_b", "trace_a", "trace_b"};
	struct ranks all = {0};
	for (unsigned i = 0; i < 4; i++)
		add_process(&all, path[i], (const char *const[]){"a\n"}, 1);
	ranks_finish(&all);
	for (unsigned i = 0; i < 4; i++) {
		assert_string_equal(all.process[i].name, want[i]);
		assert_non_null(strstr(all.process[i].path, file[i]));
		for (unsigned k = 0; k < i; k++)
			assert_true(all.process[i].process != all.process[k].process);
	}
	assert_int_equal(all.process[0].process, 1);
	assert_int_equal(all.n_absent, 1);
	ranks_release(&all);
}

/* ---- what is read of a log ---- */

static void lists(void **state)
{
	(void)state;
	struct buf b = {0};
	struct facts f;
	add_artifact(&b, 0, "inductor_collective_schedule", "[\"torch.ops._c10d_functional.all_reduce_.default\", \"x\\ty\"]");
	add_artifact(&b, 0, "inductor_collective_schedule", "[]");
	add_artifact(&b, 1, "inductor_collective_schedule", "[1]");
	add_artifact(&b, 1, "inductor_collective_schedule", "no JSON");
	add_artifact(&b, 0, "inductor_runtime_and_tensor_meta",
		     "{\"ops\": [{\"name\": \"op0\", \"type\": \"compute\", \"estimated_runtime_ns\": 12.5,\n"
		     "  \"outputs\": [{\"dtype\": \"float32\", \"shape\": [4, \"s0\"], \"stride\": [1, 4]}]}]}");
	add_artifact(&b, 1, "inductor_runtime_and_tensor_meta", "{\"ops\": [{\"name\": 3}]}");
	add_artifact(&b, 1, "inductor_runtime_and_tensor_meta", "[]");
	add_artifact(&b, 0, "graph_execution", "{\"graph_execution_order\": [\"0/0\"]}");
	add_artifact(&b, 0, "graph_execution", "{\"graph_execution_order\": [{\"compile_id\": \"1/0\"}, {}, 7, \"0/0\"]}");
	add_record(
	    &b, "", "\"inductor_output_code\": {\"filename\": \"x.py\"}, \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0",
	    "torch.ops._c10d_functional.all_reduce_.default(a)\n# torch.ops._c10d_functional.all_reduce_.default(a)\n"
	    "torch . ops.c10d_functional\n.reduce_scatter_tensor.default (b)\n/* torch.ops._c10d_functional.wait_tensor.default( */");
	facts_of(&f, "x.log", buf_slice(&b));
	static const struct {
		enum fact_list_kind kind;
		const char *lines; /* NULL: left out */
	} want[] = {
	    {LIST_SCHEDULE, "torch.ops._c10d_functional.all_reduce_.default\nx y"},
	    {LIST_TENSORS, "op0 compute: float32[4,\"s0\"]/[1,4]"},
	    {LIST_ESTIMATES, "12.5 op0"},
	    {LIST_TENSORS, " :"},
	    {LIST_TENSORS, NULL},
	    {LIST_ORDER, "0/0"},
	    {LIST_ORDER, "1/0\n0/0"},
	};
	assert_int_equal(f.n_list, ARRAY_LEN(want));
	for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
		assert_int_equal(f.list[i].kind, want[i].kind);
		assert_int_equal(f.list[i].left_out, !want[i].lines);
		assert_text(facts_text(&f, f.list[i].lines), want[i].lines ? want[i].lines : "");
	}
	/* One all_reduce in both, a reduce_scatter in the code alone, no wait. */
	assert_int_equal(f.n_parity, 1);
	assert_int_equal(f.parity[0].difference, 1);
	assert_int_equal(f.parity[0].missing_waits, 2);
	struct ranks all = {0};
	ranks_add(&all, &f, 0, 0);
	const struct rank_process *p = &all.process[0];
	uint32_t n;
	struct rank_op op;
	struct rank_list *list = rank_lists_of(&all, p, LIST_SCHEDULE, &n);
	assert_int_equal(n, 1);
	struct slice lines = rank_text(&all, list[0].row->lines);
	assert_true(rank_next_op(&lines, LIST_SCHEDULE, &op));
	assert_true(rank_next_op(&lines, LIST_SCHEDULE, &op));
	assert_text(op.name, "x y");
	assert_false(rank_next_op(&lines, LIST_SCHEDULE, &op));
	free(list);
	list = rank_lists_of(&all, p, LIST_ESTIMATES, &n);
	lines = rank_text(&all, list[0].row->lines);
	assert_true(n > 0 && rank_next_op(&lines, LIST_ESTIMATES, &op));
	assert_text(op.ns, "12.5");
	free(list);
	list = rank_lists_of(&all, p, LIST_TENSORS, &n);
	assert_int_equal(n, 2);
	free(list);
	assert_int_equal(p->cut_ops, 1);
	assert_int_equal(p->n_order, 2);
	assert_text(intern_get(&all.names, p->order[0]), "1/0");
	ranks_release(&all);
	round_trip(&f, NULL);
	facts_release(&f);
	buf_release(&b);
}

static void bounds(void **state)
{
	(void)state;
	struct buf b = {0}, graph = {0};
	struct facts f;
	for (int i = 0; i < 8; i++) {
		buf_reset(&graph);
		for (int k = 0; k < 30000; k++)
			buf_addf(&graph, "line %d %d\n", i, k);
		add_graph(&b, i, buf_str(&graph));
	}
	facts_of(&f, "x.log", buf_slice(&b));
	size_t bytes = 0;
	assert_int_equal(f.n_step, 8);
	for (uint32_t i = 0; i < f.n_step; i++) {
		struct slice s = facts_text(&f, f.step[i].graph);
		assert_true(f.step[i].cut && s.n <= RANK_TEXT_ONE && (i < 3) <= (s.n > 0) && (!s.n || s.p[s.n - 1] == '\n'));
		bytes += s.n;
	}
	assert_true(bytes <= RANK_TEXT_LOG);
	round_trip(&f, NULL);
	facts_release(&f);
	buf_release(&b);
	buf_release(&graph);
}

/* Every place of a good document changed in some way: refused or read, never more. */
static void hostile(void **state)
{
	(void)state;
	struct buf b = {0}, doc = {0}, bad = {0};
	struct facts f;
	struct err err;
	struct guard g = {0};
	uint64_t seed = 7;
	unsigned read = 0, refused = 0;
	add_graph(&b, 0, "a\n");
	add_artifact(&b, 0, "inductor_collective_schedule", "[\"all_reduce\"]");
	add_artifact(&b, 0, "inductor_runtime_and_tensor_meta", "{\"ops\": [{\"name\": \"op0\", \"estimated_runtime_ns\": 1}]}");
	add_artifact(&b, 0, "graph_execution", "{\"graph_execution_order\": [\"0/0\"]}");
	add_artifact(&b, 0, "fx_graph_cache_hit", "{}");
	facts_of(&f, "x.log", buf_slice(&b));
	round_trip(&f, &doc);
	facts_release(&f);
	static const char *const with[] = {"9", "-", "99999999999999999999", "-1", "\"", "[", "]", "null", "1e3", "", "{}", "0"};
	for (unsigned i = 0; i < 10000; i++) {
		uint32_t at = pick(&seed, (uint32_t)doc.len), cut = pick(&seed, 3);
		cut = at + cut > doc.len ? 0 : cut;
		buf_reset(&bad);
		buf_add(&bad, doc.p, at);
		buf_adds(&bad, with[pick(&seed, ARRAY_LEN(with))]);
		buf_add(&bad, doc.p + at + cut, doc.len - at - cut);
		struct json_tape tape = {0};
		uint32_t root;
		const char *p = guard_put(&g, bad.p, bad.len);
		facts_init(&f);
		if (document_open(&tape, slice_of(p, bad.len), "b.json", "tlparse", &root, &err) == 0 &&
		    document_read(&f, &tape, root, "b.json", &err) == 0) {
			struct ranks all = {0};
			for (uint32_t k = 0; k < f.n_input && k < 4; k++)
				ranks_add(&all, &f, k, 0);
			ranks_finish(&all);
			ranks_release(&all);
			read++;
		} else {
			refused++;
		}
		facts_release(&f);
		json_tape_release(&tape);
	}
	assert_true(read > 100 && refused > 100);
	guard_release(&g);
	buf_release(&b);
	buf_release(&doc);
	buf_release(&bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(paths), cmocka_unit_test(fingerprints), cmocka_unit_test(recorded), cmocka_unit_test(parting),
	    cmocka_unit_test(names), cmocka_unit_test(lists),        cmocka_unit_test(bounds),   cmocka_unit_test(hostile),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, folder_make, folder_remove);
}
