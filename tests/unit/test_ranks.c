/* Facts of many logs: what is taken from a log, what survives JSON, where logs are said to part. */
#include "../lib/log.h"
#include "ranks/ranks.h"

static int take(void *ctx, struct trace_scan *s, struct trace_record *r)
{
	struct rank_facts **f = ctx;
	struct trace *t = (struct trace *)(void *)f[1];
	rank_facts_take(f[0], t, s, r);
	return 0;
}

/* The facts of a log in memory. */
static void facts_of(struct rank_facts *f, const char *path, struct slice text)
{
	struct reader r;
	reader_init(&r);
	rank_facts_init(f, path);
	struct rank_facts *ctx[2] = {f, (struct rank_facts *)(void *)&r.t};
	const struct trace_hooks h = {.ctx = ctx, .record = take};
	r.s.window = (struct window){.data = guard_put(&r.g, text.p, text.n), .len = text.n, .last = true};
	trace_scan_window(&r.s);
	assert_int_equal(trace_reduce_window(&r.t, &r.s, &h), 0);
	rank_facts_finish(f, &r.t);
	reader_release(&r);
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
	struct slice a = SLICE("x: \"f32[4]cuda:0\" = torch.sin(y, device = device(type='cuda', index=0))");
	struct slice b = SLICE("x: \"f32[4]cuda:11\" = torch.sin(y, device = device(type='cuda', index=11))");
	struct slice c = SLICE("x: \"f32[5]cuda:0\" = torch.sin(y, device = device(type='cuda', index=0))");
	assert_true(rank_fingerprint(a) == rank_fingerprint(b));
	assert_true(rank_fingerprint(a) != rank_fingerprint(c));
	assert_true(rank_fingerprint(SLICE("cuda:")) != rank_fingerprint(SLICE("cuda:1")));
	assert_true(rank_fingerprint(SLICE("")) != 0);
}

/* Into JSON and back, and again: the same text. */
static void round_trip(struct rank_facts *f, struct buf *out)
{
	struct buf b[2] = {{0}};
	struct rank_facts back;
	struct err err;
	for (unsigned i = 0; i < 2; i++) {
		struct json_out o = {.b = &b[i]};
		json_obj(&o);
		json_key(&o, "path");
		json_out_str(&o, slice_str(f->path));
		json_key(&o, "pid");
		json_out_u64(&o, f->pid);
		json_key(&o, "ranks");
		rank_facts_out(i ? &back : f, &o);
		json_close(&o);
		if (!i) {
			struct json_tape tape = {0};
			uint32_t root;
			json_tape_text(&tape, b[0].p, b[0].len);
			assert_int_equal(json_parse(&tape, 0, b[0].len, &root), 0);
			assert_int_equal(rank_facts_in(&back, &tape, root, &err), 0);
			json_tape_release(&tape);
		}
	}
	assert_int_equal(back.n_event, f->n_event);
	assert_int_equal(back.n_compile, f->n_compile);
	assert_int_equal(back.n_schedule, f->n_schedule);
	for (uint32_t i = 0; i < f->n_event; i++)
		assert_true(back.event[i].fp == f->event[i].fp && back.event[i].line == f->event[i].line);
	for (uint32_t i = 0; i < f->n_compile; i++)
		assert_int_equal(back.compile[i].cache, f->compile[i].cache);
	rank_facts_release(&back);
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
		struct rank_facts f;
		snprintf(name, sizeof(name), "traces/ranks4/dedicated_log_torch_trace_rank_%d_fixture%d.log.xz", i, i);
		if (!data_load(name, &b))
			skip();
		facts_of(&f, name, buf_slice(&b));
		assert_int_equal(f.rank, i);
		assert_int_equal(f.record_rank, i);
		round_trip(&f, NULL);
		ranks_add(&all, &f);
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
	assert_true(g != UINT32_MAX && slice_find(intern_get(&all.names, all.graph[g].text), "torch.cos"));
	ranks_release(&all);
}

static void parting(void **state)
{
	(void)state;
	struct ranks all = {0};
	for (int i = 0; i < 5; i++) {
		struct buf b = {0};
		struct rank_facts f;
		char path[64];
		add_graph(&b, 0, i == 0 ? "a = cuda:0\n" : i == 1 ? "a = cuda:1\n" : "a = cuda:7\n");
		add_graph(&b, 1, i == 4 ? "other\n" : i == 2 ? "other\n" : "b\n");
		if (i != 3)
			add_graph(&b, 2, "c\n");
		snprintf(path, sizeof(path), "dedicated_log_torch_trace_rank_%d_x.log", i == 4 ? 7 : i);
		facts_of(&f, path, buf_slice(&b));
		ranks_add(&all, &f);
		buf_release(&b);
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
	for (unsigned i = 0; i < 4; i++) {
		struct buf b = {0};
		struct rank_facts f;
		add_graph(&b, 0, "a\n");
		facts_of(&f, path[i], buf_slice(&b));
		ranks_add(&all, &f);
		buf_release(&b);
	}
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

static void lists(void **state)
{
	(void)state;
	struct buf b = {0};
	struct rank_facts f;
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
	assert_int_equal(f.n_schedule, 1);
	assert_int_equal(f.schedule[0].ops, 2);
	assert_text(intern_get(&f.names, rank_ops(&f.names, &f.schedule[0])[1].name), "x\ty");
	assert_int_equal(f.n_estimate, 1);
	assert_text(intern_get(&f.names, rank_ops(&f.names, &f.estimate[0])[0].ns), "12.5");
	assert_int_equal(f.n_tensors, 2);
	assert_text(intern_get(&f.names, f.tensors[0].text), "op0 compute: float32[4,\"s0\"]/[1,4]\n");
	assert_int_equal(f.cut_ops, 1);
	assert_int_equal(f.n_order, 2);
	assert_text(intern_get(&f.names, f.order[0]), "1/0");
	/* One all_reduce in both, a reduce_scatter in the code alone, no wait. */
	assert_int_equal(f.n_parity, 1);
	assert_int_equal(f.parity[0].offset, 1);
	assert_int_equal(f.parity[0].missing_waits, 2);
	round_trip(&f, NULL);
	rank_facts_release(&f);
	buf_release(&b);
}

static void bounds(void **state)
{
	(void)state;
	struct buf b = {0}, graph = {0};
	struct rank_facts f;
	for (int i = 0; i < 8; i++) {
		buf_reset(&graph);
		for (int k = 0; k < 30000; k++)
			buf_addf(&graph, "line %d %d\n", i, k);
		add_graph(&b, i, buf_str(&graph));
	}
	facts_of(&f, "x.log", buf_slice(&b));
	size_t bytes = 0;
	assert_int_equal(f.n_event, 8);
	assert_true(f.n_graph >= 3 && f.cut_graphs == 8 - f.n_graph);
	for (uint32_t i = 0; i < f.n_graph; i++) {
		struct slice s = intern_get(&f.names, f.graph[i].text);
		assert_true(f.graph[i].cut && s.n <= RANK_TEXT_ONE && s.p[s.n - 1] == '\n');
		bytes += s.n;
	}
	assert_true(bytes <= RANK_TEXT_LOG);
	round_trip(&f, NULL);
	rank_facts_release(&f);
	buf_release(&b);
	buf_release(&graph);
}

/* Every place of a good document changed in some way: refused or read, never more. */
static void hostile(void **state)
{
	(void)state;
	struct buf b = {0}, doc = {0}, bad = {0};
	struct rank_facts f;
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
	rank_facts_release(&f);
	static const char *const with[] = {"9", "-", "99999999999999999999", "-1", "\"", "[", "]", "null", "1e3", "", "{}", "0"};
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t at = pick(&seed, (uint32_t)doc.len), cut = pick(&seed, 3);
		cut = at + cut > doc.len ? 0 : cut;
		buf_reset(&bad);
		buf_add(&bad, doc.p, at);
		buf_adds(&bad, with[pick(&seed, ARRAY_LEN(with))]);
		buf_add(&bad, doc.p + at + cut, doc.len - at - cut);
		struct json_tape tape = {0};
		uint32_t root;
		const char *p = guard_put(&g, bad.p, bad.len);
		json_tape_text(&tape, p, bad.len);
		if (!json_parse(&tape, 0, bad.len, &root)) {
			if (rank_facts_in(&f, &tape, root, &err) == 0) {
				struct ranks all = {0};
				ranks_add(&all, &f);
				ranks_finish(&all);
				ranks_release(&all);
				read++;
			} else {
				refused++;
			}
		}
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
	return RUN(tests);
}
