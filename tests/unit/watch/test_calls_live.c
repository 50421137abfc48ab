/* Kernels and ops as the probe sees them: recorded models on faketorch.so or libpt2shim.so, and one in C, run by livehost. */
#include "../../lib/live.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>

#include "model/binprobe/load.h"
#include "model/binprobe/binprobe.h"
#include "watch/bundle.h"
#include "watch/live.h"

static char shim[PATH_MAX];

/* The recorded models: their packages lie in the folder as NAME.pt2, their libraries as NAME.so. */
static const struct {
	const char *name, *package, *model, *member;
	const char *inputs;
	bool ops; /* of torch's: faketorch has none */
} recorded[] = {
    {"mixed", "mixed", NULL, "/", "f32[2,3,12];b8[2,3];i32[];bf16[2,3,12]/(12,24,1)", false},
    {"nested", "nested", NULL, "/", "f32[2,3];f32[2,3];f32[2,3];f32[]", false},
    {"derived", "derived", NULL, "/", "f32[2,4];f32[2,2];f32[4,4]", false},
    {"first", "multi", "first", "/first/", "f32[4]", false},
    {"second", "multi", "second", "/second/", "f32[4];f32[4]", false},
    {"attn", "attn", NULL, "/", "f32[2,6,16]", true},
    {"mlp", "mlp", NULL, "/", "f32[4,8]", true},
    {"conv", "conv", NULL, "/", "f32[2,3,8,8]", true},
    {"folded", "folded", NULL, "/", "f32[2,8]", true},
    {"emb", "emb", NULL, "/", "i64[2,5]", true},
};

struct seen {
	const struct calls_config *calls;
	bool fail, no_check, no_contract;
	struct buf out, events;
	struct live_result r;
	struct calls_reader c;
	struct call_record *rec;
	size_t n, cap;
	uint32_t ticks;
};

/* As generated code has it: log_1 has a new buffer as in_out_ptr, whose contents before mean nothing; mul_3 changes what is an
 * out_ptr to it. */
static const char fake_contract[] =
    "{\"schema\":\"pt2utils.contract/1\",\"source\":\"text\",\"model\":null,\"device\":\"cpu\",\"weight_bytes\":0,\"inputs\":["
    "{\"index\":0,\"name\":\"arg0_1\",\"path\":null,\"dtype\":\"float32\",\"device\":\"cpu\",\"rank\":1,\"asserted\":1,"
    "\"alignment\":null,\"used\":true,\"dims\":[{\"size\":\"s0\",\"min\":2,\"max\":1000,\"stride\":1,\"size_checked\":false,"
    "\"stride_checked\":true}]}],\"symbols\":[{\"name\":\"s0\",\"min\":2,\"max\":1000,\"input\":0,\"dim\":0}],\"outputs\":[],"
    "\"constants\":[],\"values\":["
    "{\"name\":\"arg0_1\",\"kind\":\"input\",\"index\":0,\"storage\":null,\"dtype\":\"float32\",\"device\":\"cpu\",\"sizes\":"
    "[\"s0\"],\"strides\":[1]},"
    "{\"name\":\"buf0\",\"kind\":\"buffer\",\"index\":null,\"storage\":null,\"dtype\":\"float32\",\"device\":\"cpu\",\"sizes\":"
    "[\"s0\"],\"strides\":[1]},"
    "{\"name\":\"buf1\",\"kind\":\"buffer\",\"index\":null,\"storage\":null,\"dtype\":\"float32\",\"device\":\"cpu\",\"sizes\":"
    "[\"s0\"],\"strides\":[1]}],\"storages\":[],\"calls\":["
    "{\"kind\":\"kernel\",\"name\":\"cpp_fused_add_0\",\"line\":10,\"source_nodes\":null,\"original_aten\":null,\"args\":["
    "{\"role\":\"in\",\"value\":0,\"text\":\"a\"},{\"role\":\"out\",\"value\":1,\"text\":\"b\"},"
    "{\"role\":\"scalar\",\"value\":null,\"text\":\"s0\"}]},"
    "{\"kind\":\"kernel\",\"name\":\"cpp_fused_log_1\",\"line\":20,\"source_nodes\":null,\"original_aten\":null,\"args\":["
    "{\"role\":\"in\",\"value\":1,\"text\":\"b\"},{\"role\":\"inout\",\"value\":2,\"text\":\"c\"},"
    "{\"role\":\"scalar\",\"value\":null,\"text\":\"s0\"}]},"
    "{\"kind\":\"kernel\",\"name\":\"cpp_fused_many_2\",\"line\":30,\"source_nodes\":null,\"original_aten\":null,\"args\":["
    "{\"role\":\"in\",\"value\":2,\"text\":\"c\"}]},"
    "{\"kind\":\"kernel\",\"name\":\"cpp_fused_mul_3\",\"line\":40,\"source_nodes\":null,\"original_aten\":null,\"args\":["
    "{\"role\":\"out\",\"value\":2,\"text\":\"c\"},{\"role\":\"scalar\",\"value\":null,\"text\":\"s0\"}]}],"
    "\"in_spec\":null,\"out_spec\":null,\"notes\":[]}";

static size_t recorded_by(const char *path)
{
	const char *slash = strrchr(path, '/');
	for (size_t i = 0; i < ARRAY_LEN(recorded); i++)
		if (slash && !strncmp(slash + 1, recorded[i].name, strlen(recorded[i].name)))
			return i;
	return SIZE_MAX;
}

static void load_recorded(struct loaded *l, size_t i)
{
	struct err err;
	char *path = xasprintf("%s/%s.pt2", folder, recorded[i].package);
	if (load_text(l, path, (struct load_options){.model = recorded[i].model}, &err) < 0)
		fail_msg("%s", err.text);
	free(path);
}

static int give_contract(void *user, const char *so_path, pid_t pid, struct buf *json, struct err *err)
{
	struct seen *s = user;
	size_t i = recorded_by(so_path);
	(void)pid;
	if (s->no_contract)
		return err_set(err, EXIT_INPUT, "none");
	if (i == SIZE_MAX) {
		buf_adds(json, fake_contract);
		return 0;
	}
	struct loaded l;
	struct json_out o = {.b = json};
	load_recorded(&l, i);
	contract_to_json(&l.contract, &o);
	loaded_release(&l);
	return 0;
}

static void take_event(void *user, const struct live_event *ev)
{
	struct seen *s = user;
	buf_add_slice(&s->events, ev->line);
	buf_addc(&s->events, '\n');
}

static void tick(void *user, const char *dir)
{
	struct seen *s = user;
	struct calls_reader c;
	struct err err;
	if (calls_open(&c, dir, &err) < 0)
		fail_msg("%s", err.text);
	calls_close(&c);
	s->ticks++;
}

static void read_calls(struct seen *s)
{
	struct err err;
	if (calls_open(&s->c, s->r.folder, &err) < 0)
		fail_msg("%s", err.text);
	s->c.final = true;
	for (struct call_record rec; calls_next(&s->c, &rec);) {
		GROW(s->rec, s->n, s->cap, 1);
		memcpy((void *)&s->rec[s->n++], &rec, sizeof(rec));
	}
}

/* livehost with these arguments, watched or not (s NULL): what it wrote. */
static void run_host(struct seen *s, const char *torch_path, const char *const *args, struct buf *out)
{
	char *path = xasprintf("%s/out", folder), *torch = xasprintf("torch=%s", torch_path);
	const char *argv[64] = {"/bin/sh", "-c", "out=$1; shift; exec \"$@\" >\"$out\" 2>/dev/null", "sh", path, host, torch};
	int n = 7;
	struct err err;
	while (*args)
		argv[n++] = *args++;
	if (s) {
		struct live_options o = {.contract = give_contract,
					 .event = take_event,
					 .user = s,
					 .fail = s->fail,
					 .no_check = s->no_check,
					 .calls = s->calls,
					 .tick = tick};
		if (live_run(&o, (char *const *)(uintptr_t)argv, &s->r, &err) < 0)
			fail_msg("%s", err.text);
		read_calls(s);
	} else {
		struct child_spec spec = {.argv = argv};
		struct child_result r;
		if (child_run(&spec, &r, &err) < 0)
			fail_msg("%s", err.text);
		child_result_release(&r);
	}
	read_file(path, out);
	unlink(path);
	free(path);
	free(torch);
}

static void forget(struct seen *s)
{
	if (s->c.mapped)
		calls_close(&s->c);
	buf_release(&s->out);
	buf_release(&s->events);
	free(s->rec);
	live_result_release(&s->r);
	*s = (struct seen){0};
}

static void watch(struct seen *s, const struct calls_config *calls, const char *torch, const char *const *args)
{
	s->calls = calls;
	run_host(s, torch, args, &s->out);
}

static struct calls_config want(uint32_t what)
{
	return (struct calls_config){.want = what, .last_run = UINT32_MAX, .save_format = TENSOR_NPY};
}

static char load[4][PATH_MAX + 8];
static const char *load_arg(int k, const char *name)
{
	snprintf(load[k], sizeof(load[k]), "load=%s/%s.so", folder, name);
	return load[k];
}

static const char *text_of(const struct seen *s, uint32_t name) { return calls_name((struct calls_reader *)(uintptr_t)&s->c, name); }
static const char *name_of(const struct seen *s, const struct call_record *r) { return text_of(s, r->name); }

/* Of the call that this value is of. */
static const char *call_name_of(const struct seen *s, const struct call_record *r)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->rec[i].seq == r->seq && s->rec[i].what == CALL_BEGIN)
			return name_of(s, &s->rec[i]);
	return "";
}

static const struct call_record *find(const struct seen *s, enum call_what what, const char *name, int before)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->rec[i].what == what && !strcmp(name_of(s, &s->rec[i]), name) && (before < 0 || s->rec[i].v.before == before))
			return &s->rec[i];
	return NULL;
}

static const struct call_record *value_of(const struct seen *s, const char *call, const char *buffer, int before)
{
	const struct call_record *b = find(s, CALL_BEGIN, call, -1);
	assert_non_null(b);
	for (size_t i = 0; i < s->n; i++)
		if (s->rec[i].what == CALL_VALUE && s->rec[i].seq == b->seq && s->rec[i].v.before == before &&
		    !strcmp(name_of(s, &s->rec[i]), buffer))
			return &s->rec[i];
	return NULL;
}

static size_t count(const struct seen *s, enum call_what what)
{
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		n += s->rec[i].what == what;
	return n;
}

/* Every call has its end, and every value its call. */
static uint64_t dropped(const struct seen *s) { return shared_u64(s->c.log, offsetof(struct calls_log, dropped)); }

static void is_whole(const struct seen *s)
{
	assert_int_equal(s->c.lost, 0);
	assert_int_equal(s->c.torn, 0);
	assert_int_equal(dropped(s), 0);
	assert_int_equal(count(s, CALL_BEGIN), count(s, CALL_END));
	assert_int_equal(count(s, CALL_RUN_BEGIN), count(s, CALL_RUN_END));
}

/* ---- recorded models ---- */

/* libpt2shim.so grows: a model whose ops it lacks is left out. */
static bool shim_has_ops_of(const char *name)
{
	static const char sdpa[] = "aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu";
	if (strcmp(name, "attn"))
		return true;
	char *cmd = xasprintf("nm -D --defined-only '%s' | grep -q %s", shim, sdpa);
	bool there = system(cmd) == 0;
	if (!there)
		print_message("# not run: %s (no %s)\n", name, sdpa);
	free(cmd);
	return there;
}

static void one_in_order(size_t i, const char *torch)
{
	struct seen s = {0};
	struct calls_config c = want(CALLS_NAMES);
	struct loaded l;
	struct buf bare = {0};
	char *call = xasprintf("call=%s", recorded[i].inputs);
	const char *const *args = ARGS(load_arg(0, recorded[i].name), call, call);
	watch(&s, &c, torch, args);
	run_host(NULL, torch, args, &bare);
	assert_string_equal(buf_str(&s.out), buf_str(&bare));
	has(&s.out, "rc 0");
	is_whole(&s);
	load_recorded(&l, i);
	assert_int_equal(count(&s, CALL_RUN_BEGIN), 2);
	uint32_t k = 0, runs = 0, folds = 0;
	for (size_t r = 0; r < s.n; r++) {
		const struct call_record *rec = &s.rec[r];
		assert_int_equal(rec->model, 0);
		if (rec->what == CALL_RUN_BEGIN)
			k = folds = 0;
		/* The first Run folds constants, by kernels that are not in the contract. */
		folds += rec->what == CALL_BEGIN && rec->contract_call == CALLS_NO_CALL;
		if (folds && rec->contract_call == CALLS_NO_CALL && rec->what != CALL_RUN_END)
			continue;
		assert_int_equal(rec->run, runs);
		runs += rec->what == CALL_RUN_END;
		if (rec->what == CALL_RUN_END) {
			assert_int_equal(rec->result, 0);
			assert_int_equal(k, l.contract.n_calls);
		}
		if (rec->what == CALL_BEGIN) {
			assert_text(l.contract.call[k].name, name_of(&s, rec));
			assert_int_equal(rec->contract_call, k);
			assert_int_equal(rec->call, k + folds);
			assert_int_equal(s.rec[r + 1].what, CALL_END);
			assert_int_equal(s.rec[r + 1].seq, rec->seq);
			assert_int_equal(s.rec[r + 1].name, rec->name);
			assert_true(s.rec[r + 1].took < 10000000000u);
			k++;
		}
	}
	assert_int_equal(runs, 2);
	assert_true(s.ticks > 0);
	assert_null(strstr(buf_str(&s.events), "stepped-aside"));
	loaded_release(&l);
	buf_release(&bare);
	free(call);
	forget(&s);
}

static void calls_are_in_the_contracts_order(void **state)
{
	(void)state;
	NEED_MODELS();
	for (size_t i = 0; i < ARRAY_LEN(recorded); i++)
		if (strcmp(recorded[i].name, "emb") && shim_has_ops_of(recorded[i].name))
			one_in_order(i, recorded[i].ops ? shim : faketorch);
}

static bool is_finite(const struct tensor_stats *s) { return !s->nan && !s->pos_inf && !s->neg_inf; }

static void tensors_have_their_names_and_roles(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	struct calls_config c = want(CALLS_STATS | CALLS_INPUTS | CALLS_CONSTANTS);
	static const char name[] = "cpp_fused__to_copy_add_mul_unsqueeze_0";
	watch(&s, &c, faketorch, ARGS(load_arg(0, "mixed"), "call=f32[2,3,12];b8[2,3];i32[];bf16[2,3,12]/(12,24,1)"));
	is_whole(&s);
	const struct call_record *x = value_of(&s, name, "arg0_1", 1), *y = value_of(&s, name, "arg3_1", 1);
	const struct call_record *out = value_of(&s, name, "buf0", 0), *in = find(&s, CALL_VALUE, "arg0_1", 1);
	assert_non_null(x);
	assert_non_null(y);
	assert_non_null(out);
	assert_int_equal(x->v.role, CALL_ROLE_IN);
	assert_int_equal(x->v.dtype, DTYPE_F32);
	assert_int_equal(x->v.n_dim, 3);
	assert_int_equal(x->v.size[2], 12);
	assert_int_equal(x->v.stats.n, 72);
	assert_true(is_finite(&x->v.stats) && x->v.stats.min >= 0 && x->v.stats.max < 2 && x->v.stats.mean > 0.5);
	assert_int_equal(y->v.dtype, DTYPE_BF16);
	assert_int_equal(y->v.arg, 2);
	assert_int_equal(y->v.stride[1], 24);
	assert_int_equal(out->v.role, CALL_ROLE_OUT);
	assert_int_equal(out->v.stats.n, 72);
	assert_null(value_of(&s, name, "buf0", 1));
	/* The model's own: the same tensor, by its Run's number. */
	assert_int_equal(in->v.role, CALL_ROLE_MODEL_INPUT);
	assert_true(in->v.address == x->v.address && in->v.stats.mean == x->v.stats.mean);
	size_t outputs = 0;
	for (size_t i = 0; i < s.n; i++)
		if (s.rec[i].what == CALL_VALUE && s.rec[i].v.role == CALL_ROLE_MODEL_OUTPUT) {
			outputs++;
			assert_int_equal(s.rec[i].seq, in->seq);
			assert_true(s.rec[i].v.address == out->v.address && s.rec[i].v.stats.mean == out->v.stats.mean);
		}
	assert_int_equal(outputs, 1);
	forget(&s);
}

static void made_by_ops(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	struct calls_config c = want(CALLS_STATS);
	static const char sdpa[] = "aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu";
	if (!shim_has_ops_of("attn"))
		skip();
	watch(&s, &c, shim, ARGS(load_arg(0, "attn"), "call=f32[2,6,16]"));
	is_whole(&s);
	const struct call_record *made = value_of(&s, sdpa, "buf2", 0), *in = value_of(&s, sdpa, "buf0", 1);
	const struct call_record *last = value_of(&s, "cpp_fused_add_view_0", "buf5", 0);
	assert_true(made && in && last);
	assert_int_equal(made->v.role, CALL_ROLE_OUT);
	assert_int_equal(made->v.n_dim, 4);
	assert_int_equal(made->v.stride[2], 16);
	assert_int_equal(in->v.n_dim, 4); /* a view of it */
	assert_int_equal(last->v.role, CALL_ROLE_INOUT);
	assert_non_null(value_of(&s, "cpp_fused_add_view_0", "buf5", 1));
	forget(&s);
}

static void constants(void **state)
{
	(void)state;
	NEED_MODELS();
	struct calls_config c = want(CALLS_STATS);
	static const char op[] = "aoti_torch_cpu_addmm_out";
	/* Of an op, by handle; of a kernel, by address. */
	struct seen s = {0};
	watch(&s, &c, shim, ARGS(load_arg(0, "folded"), "call=f32[2,8]"));
	is_whole(&s);
	const struct call_record *w = value_of(&s, op, "bias", 1), *out = value_of(&s, op, "buf0", 0);
	assert_true(w && out);
	assert_int_equal(w->v.role, CALL_ROLE_CONSTANT);
	assert_int_equal(w->v.n_dim, 1);
	assert_true(w->v.stats.known && is_finite(&w->v.stats));
	assert_int_equal(out->v.role, CALL_ROLE_OUT);
	/* The first Run folds constants: no call of the contract's, so what it writes is not known by name. */
	const struct call_record *fold = find(&s, CALL_BEGIN, "cpp_fused__softmax_0", -1);
	assert_non_null(fold);
	assert_int_equal(fold->contract_call, CALLS_NO_CALL);
	assert_true(value_of(&s, "cpp_fused__softmax_0", "", 0) != NULL);
	forget(&s);

	struct seen e = {0};
	watch(&e, &c, shim, ARGS(load_arg(0, "conv"), "call=f32[2,3,8,8]"));
	is_whole(&e);
	w = value_of(&e, "cpp_fused_convolution_0", "conv_weight", 1);
	assert_true(w && w->v.role == CALL_ROLE_CONSTANT && w->v.arg == 1);
	assert_int_equal(w->v.stats.n, 4 * 3 * 3 * 3);
	out = value_of(&e, "aoti_torch_cpu_convolution", "buf3", 0);
	assert_true(out && out->v.role == CALL_ROLE_OUT && out->v.size[1] == 4 && out->v.stride[1] == 1);
	forget(&e);
}

static void threads_get_the_same_results(void **state)
{
	(void)state;
	NEED_MODELS();
	static const uint32_t wants[] = {CALLS_NAMES, CALLS_BAD, CALLS_STATS};
	const char *const *args = ARGS(load_arg(0, "mixed"), load_arg(1, "first"), "use=0",
				       "threads=8x1000:f32[2,3,12];b8[2,3];i32[];bf16[2,3,12]/(12,24,1)", "alive");
	struct buf bare = {0};
	run_host(NULL, faketorch, args, &bare);
	for (size_t i = 0; i < ARRAY_LEN(wants); i++) {
		struct seen s = {0};
		struct calls_config c = want(wants[i]);
		c.records = 1 << 17;
		watch(&s, &c, faketorch, args);
		assert_string_equal(buf_str(&s.out), buf_str(&bare));
		has(&s.out, "0 failed, 0 different");
		is_whole(&s);
		assert_int_equal(count(&s, CALL_RUN_BEGIN), 8001);
		assert_int_equal(count(&s, CALL_BEGIN), 8001);
		assert_int_equal(count(&s, CALL_VALUE), wants[i] == CALLS_STATS ? 5 * 8001 : 0);
		forget(&s);
	}
	buf_release(&bare);
}

static void a_killed_process_leaves_its_log(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	struct err err;
	struct calls_config c = want(CALLS_STATS);
	char *cmd = xasprintf("'%s' 'torch=%s' 'load=%s/first.so' 'threads=4x100000000:f32[4]' >/dev/null & sleep 0.4; kill -9 $!; "
			      "wait $!; exit 0",
			      host, faketorch, folder);
	struct live_options o = {.contract = give_contract, .event = take_event, .user = &s, .calls = &c};
	if (live_run(&o, (char *[]){(char[]){"bash"}, (char[]){"-c"}, cmd, NULL}, &s.r, &err) < 0)
		fail_msg("%s", err.text);
	read_calls(&s);
	assert_int_equal(s.r.command.status, 0);
	assert_true(s.n > 1000);
	assert_true(s.c.torn <= 4);
	assert_true(s.c.lost + s.n + s.c.torn + dropped(&s) >= calls_begun(&s.c));
	/* A record is one that was written, whole. */
	for (size_t i = 0; i < s.n; i++) {
		assert_true(s.rec[i].what >= CALL_RUN_BEGIN && s.rec[i].what <= CALL_VALUE);
		if (s.rec[i].what == CALL_BEGIN)
			assert_string_equal(name_of(&s, &s.rec[i]), "cpp_fused_add_sin_0");
		if (s.rec[i].what == CALL_VALUE)
			assert_int_equal(s.rec[i].v.stats.n, 4);
	}
	free(cmd);
	forget(&s);
}

static void an_exception_passes_through(void **state)
{
	(void)state;
	NEED_MODELS();
	struct buf bare = {0};
	/* livehost's int64 are far out of the table's range: the kernel throws. */
	const char *const *args = ARGS(load_arg(0, "emb"), "call=i64[2,5]", "call=i64[2,5]", "alive");
	run_host(NULL, shim, args, &bare);
	has(&bare, "rc 1");
	for (int all = 0; all < 2; all++) {
		struct seen s = {0};
		struct calls_config c = want(all ? CALLS_STATS | CALLS_INPUTS | CALLS_CONSTANTS : CALLS_NAMES);
		watch(&s, &c, shim, args);
		assert_string_equal(buf_str(&s.out), buf_str(&bare));
		is_whole(&s);
		const struct call_record *end = find(&s, CALL_END, "cpp_fused_embedding_native_layer_norm_0", -1);
		assert_non_null(end);
		assert_int_equal(end->result, CALLS_NOT_RETURNED);
		assert_int_equal(count(&s, CALL_RUN_END), 2);
		for (size_t i = 0; i < s.n; i++)
			if (s.rec[i].what == CALL_RUN_END)
				assert_int_equal(s.rec[i].result, 1);
		forget(&s);
	}
	buf_release(&bare);
}

/* ---- the model in C ---- */

static void arguments_arrive(void **state)
{
	(void)state;
	/* Without a contract the number of words is not known; ops are no part of it. */
	for (int known = 0; known < 2; known++) {
		struct seen s = {.no_contract = !known};
		struct calls_config c = want(CALLS_STATS);
		watch(&s, &c, faketorch, ARGS(load_arg(0, "fake"), "call=f32[100]", "call=f32[4]", "alive"));
		has(&s.out, "rc 0");
		assert_null(strstr(buf_str(&s.out), "rc 1"));
		has(&s.out, "alive 0");
		is_whole(&s);
		assert_int_equal(count(&s, CALL_BEGIN), 4);
		assert_int_equal(count(&s, CALL_RUN_BEGIN), 2);
		const struct call_record *b = find(&s, CALL_BEGIN, "cpp_fused_mul_3", -1);
		assert_non_null(b);
		assert_true(b->contract_call == (known ? 3 : CALLS_NO_CALL));
		if (known) {
			const struct call_record *before = value_of(&s, "cpp_fused_mul_3", "buf1", 1);
			const struct call_record *after = value_of(&s, "cpp_fused_mul_3", "buf1", 0);
			assert_true(before && after && before->v.role == CALL_ROLE_INOUT);
			assert_true(fabs(after->v.stats.mean - 2 * before->v.stats.mean) < 1e-6);
		} else {
			assert_int_equal(count(&s, CALL_VALUE), 2 * 2 + 2 * 2 + 2 + 2);
		}
		forget(&s);
	}
}

/* A branch that is not taken: the next kernels are still known by their names. */
static void calls_are_left_out(void **state)
{
	(void)state;
	struct seen s = {0};
	struct calls_config c = want(CALLS_NAMES);
	watch(&s, &c, faketorch, ARGS(load_arg(0, "fake"), "call=f32[103]", "call=f32[100]"));
	uint32_t last = 0, k = 0;
	static const uint32_t expected[] = {1, 2, 3, 0, 1, 2, 3};
	for (size_t i = 0; i < s.n; i++)
		if (s.rec[i].what == CALL_BEGIN) {
			assert_true(k < ARRAY_LEN(expected));
			assert_int_equal(s.rec[i].contract_call, expected[k++]);
			last = s.rec[i].run;
		}
	assert_int_equal(k, ARRAY_LEN(expected));
	assert_int_equal(last, 1);
	forget(&s);
}

static void a_crash_is_named(void **state)
{
	(void)state;
	struct seen s = {0};
	struct calls_config c = want(CALLS_BAD);
	watch(&s, &c, faketorch, ARGS(load_arg(0, "fake"), "call=f32[100]", "call=f32[102]"));
	assert_int_equal(s.r.command.sig, SIGSEGV);
	assert_int_equal(count(&s, CALL_BEGIN), 5);
	assert_int_equal(count(&s, CALL_END), 4);
	assert_int_equal(s.rec[s.n - 1].what, CALL_BEGIN);
	assert_string_equal(name_of(&s, &s.rec[s.n - 1]), "cpp_fused_add_0");
	forget(&s);
}

static void a_nan_is_told_where_it_is_made(void **state)
{
	(void)state;
	struct seen s = {0};
	struct calls_config c = want(CALLS_BAD);
	watch(&s, &c, faketorch, ARGS(load_arg(0, "fake"), "call=f32[100]", "call=f32[101]"));
	is_whole(&s);
	has(&s.out, "rc 0");
	/* Only from where it is made: log's input and output. What mul leaves as it was in buf1 is not mul's. */
	const struct call_record *v[8];
	size_t n = 0;
	for (size_t i = 0; i < s.n && n < 8; i++)
		if (s.rec[i].what == CALL_VALUE)
			v[n++] = &s.rec[i];
	assert_int_equal(n, 2);
	assert_string_equal(name_of(&s, v[0]), "buf0");
	assert_true(v[0]->v.before && v[0]->v.stats.nan == 0 && v[0]->v.stats.max > 0);
	assert_string_equal(name_of(&s, v[1]), "buf1");
	assert_int_equal(v[1]->v.role, CALL_ROLE_INOUT);
	assert_int_equal(v[1]->v.stats.nan, 2);
	assert_int_equal(v[1]->v.stats.first_bad, 7);
	assert_true(isnan(v[1]->v.bad_value));
	/* The element that went wrong, and what it was made of; of what was written over only what is there now. */
	assert_true(v[1]->v.at == 8 && isnan(v[1]->v.element));
	assert_true(v[0]->v.at == 8 && v[0]->v.element > 0 && v[0]->v.element <= v[0]->v.stats.max);
	assert_int_equal(v[1]->contract_call, 1);
	assert_int_equal(v[1]->run, 1);
	forget(&s);
}

static void fail_ends_the_run(void **state)
{
	(void)state;
	struct seen s = {0};
	struct calls_config c = want(CALLS_FAIL | CALLS_BAD);
	watch(&s, &c, faketorch, ARGS(load_arg(0, "fake"), "call=f32[101]", "call=f32[100]", "alive"));
	has(&s.out, "rc 1 cpp_fused_log_1 (call 1, wrapper.cpp:20) wrote 2 NaN and 0 infinities into buf1");
	has(&s.out, "rc 0");
	has(&s.out, "alive 0");
	assert_int_equal(s.r.failed, 1);
	assert_int_equal(count(&s, CALL_BEGIN), 2 + 4); /* what comes after is left out */
	forget(&s);
	/* A range; infinities that are allowed are another matter. */
	struct seen r = {0};
	c.lo = -100;
	c.hi = 2;
	watch(&r, &c, faketorch, ARGS(load_arg(0, "fake"), "call=f32[100]"));
	has(&r.out, "rc 1 cpp_fused_add_0 (call 0, wrapper.cpp:10) wrote 0 NaN and 0 infinities into buf0");
	forget(&r);
}

static void filters(void **state)
{
	(void)state;
	static const struct {
		const char *filter;
		uint32_t first, last;
		size_t values, calls;
	} table[] = {
	    {"cpp_fused_l*", 0, UINT32_MAX, 2 * 2, 2}, {"buf0", 0, UINT32_MAX, 2 * 2, 4}, /* written by add, read by log */
	    {"nothing", 0, UINT32_MAX, 0, 0},          {"*", 1, 1, 2 + 2 + 1 + 2, 4},     {"*", 7, 9, 0, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct seen s = {0};
		struct calls_config c = want(CALLS_STATS);
		c.n_filters = 1;
		snprintf(c.filter[0], sizeof(c.filter[0]), "%s", table[i].filter);
		c.first_run = table[i].first;
		c.last_run = table[i].last;
		watch(&s, &c, faketorch, ARGS(load_arg(0, "fake"), "call=f32[100]", "call=f32[100]"));
		assert_int_equal(count(&s, CALL_VALUE), table[i].values);
		assert_int_equal(count(&s, CALL_BEGIN), table[i].calls);
		forget(&s);
	}
}

static size_t files_in(const char *dir)
{
	DIR *d = opendir(dir);
	size_t n = 0;
	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

/* With CALLS_ARENA, numbers that the package has are not copied: constants, and views of them that an operator reads. */
static void weights_are_not_saved(void **state)
{
	(void)state;
	NEED_MODELS();
	struct calls_config c = want(CALLS_SAVE | CALLS_ARENA);
	snprintf(c.save_dir, sizeof(c.save_dir), "%s/arena", folder);
	assert_int_equal(mkdir(c.save_dir, 0700), 0);
	struct seen s = {0};
	watch(&s, &c, shim, ARGS(load_arg(0, "folded"), "call=f32[2,8]"));
	is_whole(&s);
	const struct call_record *op = find(&s, CALL_BEGIN, "aoti_torch_cpu_addmm_out", -1);
	size_t weights = 0, others = 0;
	assert_non_null(op);
	for (size_t i = 0; i < s.n; i++) {
		const struct call_record *r = &s.rec[i];
		if (r->what != CALL_VALUE || r->seq != op->seq)
			continue;
		const bool transposed = r->v.n_dim == 2 && r->v.stride[0] == 1 && r->v.size[0] > 1 && r->v.size[1] > 1;
		const bool weight = r->v.role == CALL_ROLE_CONSTANT || transposed;
		assert_int_equal(r->v.saved, weight ? CALL_UNSAVED : CALL_SAVED_ARENA);
		*(weight ? &weights : &others) += 1;
	}
	assert_int_equal(weights, 2);
	assert_int_equal(others, 2);
	forget(&s);
}

static void tensors_are_saved(void **state)
{
	(void)state;
	NEED_MODELS();
	struct err err;
	struct calls_config c = want(CALLS_SAVE | CALLS_STATS | CALLS_INPUTS | CALLS_CONSTANTS);
	snprintf(c.save_dir, sizeof(c.save_dir), "%s/saved", folder);
	assert_int_equal(mkdir(c.save_dir, 0700), 0);
	struct seen s = {0};
	watch(&s, &c, faketorch,
	      ARGS(load_arg(0, "mixed"), "call=f32[2,3,12];b8[2,3];i32[];bf16[2,3,12]/(12,24,1)",
		   "call=f32[2,3,12];b8[2,3];i32[];bf16[2,3,12]/(12,24,1)", "fork",
		   "call=f32[2,3,12];b8[2,3];i32[];bf16[2,3,12]/(12,24,1)"));
	is_whole(&s);
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++) {
		const struct call_record *r = &s.rec[i];
		if (r->what != CALL_VALUE)
			continue;
		char file[CALLS_FILE_NAME];
		assert_true(r->v.saved != CALL_UNSAVED);
		calls_file_name(r, call_name_of(&s, r), name_of(&s, r), file);
		char *path = xasprintf("%s/%s", c.save_dir, file);
		struct tensor_file *f = tensor_file_open(path, &err);
		if (!f)
			fail_msg("%s", err.text);
		assert_int_equal(f->n, 1);
		struct tensor_stats again;
		struct slice data;
		assert_int_equal(tensor_data(f, 0, &data, &err), 0);
		assert_int_equal(f->v[0].meta.dtype, r->v.dtype);
		assert_int_equal(f->v[0].meta.n_dim, r->v.n_dim);
		tensor_stats(&f->v[0].meta, data.p, STATS_ALL, &again);
		assert_true(again.n == r->v.stats.n && again.min == r->v.stats.min && again.max == r->v.stats.max &&
			    again.zero == r->v.stats.zero && fabs(again.mean - r->v.stats.mean) < 1e-9);
		tensor_file_close(f);
		free(path);
		n++;
	}
	assert_int_equal(n, 3 * (4 + 5 + 1));
	assert_int_equal(files_in(c.save_dir), n); /* each its own */
	has(&s.out, "child ended with 0");
	forget(&s);

	/* As much as may be. */
	struct seen t = {0};
	snprintf(c.save_dir, sizeof(c.save_dir), "%s/little", folder);
	assert_int_equal(mkdir(c.save_dir, 0700), 0);
	c.save_max = 500;
	watch(&t, &c, faketorch, ARGS(load_arg(0, "first"), "call=f32[4]", "threads=4x50:f32[4]"));
	has(&t.events, "no longer saved");
	assert_true(files_in(c.save_dir) == 31);
	forget(&t);
}

static void inputs_of_a_bad_run_are_kept(void **state)
{
	(void)state;
	struct err err;
	struct calls_config c = want(CALLS_RECORD | CALLS_BAD);
	snprintf(c.save_dir, sizeof(c.save_dir), "%s/kept", folder);
	assert_int_equal(mkdir(c.save_dir, 0700), 0);
	struct seen s = {0};
	watch(&s, &c, faketorch, ARGS(load_arg(0, "fake"), "call=f32[100]", "call=f32[101]", "call=f32[100]", "alive"));
	has(&s.out, "alive 0");
	assert_int_equal(files_in(c.save_dir), 1);
	char *dir = xasprintf("%s/bundle.m0.r000001", c.save_dir), *index = xasprintf("%s/" BUNDLE_INDEX, dir);
	char *input = xasprintf("%s/input0.npy", dir), *so = xasprintf("%s/" BUNDLE_MODEL "/fake.so", dir);
	struct buf b = {0};
	read_file(index, &b);
	has(&b, "\"library\":\"model/fake.so\"");
	has(&b, "\"inputs\":[{\"file\":\"input0.npy\",\"spec\":\"f32[101]\",\"name\":\"arg0_1\"}]");
	struct tensor_file *f = tensor_file_open(input, &err);
	if (!f)
		fail_msg("%s", err.text);
	assert_int_equal(f->v[0].meta.size[0], 101);
	tensor_file_close(f);
	assert_int_equal(access(so, R_OK), 0);
	free(dir);
	free(index);
	free(input);
	free(so);
	buf_release(&b);
	forget(&s);
}

/* Stubs are used again when a model is unloaded, and another model gets its own. */
static void models_come_and_go(void **state)
{
	(void)state;
	struct seen s = {.no_check = true};
	struct calls_config c = want(CALLS_BAD);
	watch(&s, &c, faketorch,
	      ARGS(load_arg(0, "fake"), "call=f32[101]", "unload", load_arg(1, "fake2"), "call=f32[101]", load_arg(0, "fake"),
		   "call=f32[100]", "use=1", "call=f32[100]", "unload", "alive"));
	is_whole(&s);
	assert_int_equal(s.r.models, 3);
	assert_int_equal(count(&s, CALL_BEGIN), 16);
	uint32_t calls[3] = {0};
	for (size_t i = 0; i < s.n; i++)
		if (s.rec[i].what == CALL_BEGIN)
			calls[s.rec[i].model]++;
	assert_int_equal(calls[0], 4);
	assert_int_equal(calls[1], 8);
	assert_int_equal(calls[2], 4);
	has(&s.out, "alive 0");
	forget(&s);
}

static void bound_now(void **state)
{
	(void)state;
	struct seen s = {0};
	struct calls_config c = want(CALLS_STATS);
	setenv("LD_BIND_NOW", "1", 1);
	watch(&s, &c, faketorch, ARGS(load_arg(0, "fake"), "call=f32[100]", "fork", "call=f32[100]"));
	unsetenv("LD_BIND_NOW");
	is_whole(&s);
	assert_int_equal(count(&s, CALL_BEGIN), 8);
	assert_true(s.rec[0].pid != s.rec[s.n - 1].pid);
	assert_true(s.rec[s.n - 1].run == 1);
	forget(&s);
}

static void no_calls_are_asked_for(void **state)
{
	(void)state;
	struct seen s = {0};
	struct err err;
	char *cmd = xasprintf("'%s' 'torch=%s' 'load=%s/fake.so' 'call=f32[100]' >/dev/null", host, faketorch, folder);
	struct live_options o = {.contract = give_contract, .event = take_event, .user = &s};
	if (live_run(&o, (char *[]){(char[]){"/bin/sh"}, (char[]){"-c"}, cmd, NULL}, &s.r, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(s.r.calls, 1);
	assert_null(s.r.folder);
	free(cmd);
	forget(&s);
}

/* ---- the models ---- */

static void unpack(size_t i)
{
	char *package = xasprintf("%s/%s.pt2", folder, recorded[i].package), *so = xasprintf("%s/%s.so", folder, recorded[i].name);
	live_unpack(recorded[i].package, recorded[i].member, so, package);
	free(package);
	free(so);
}

static int set_up(void **state)
{
	(void)state;
	char *build = live_begin(), cmd[2 * PATH_MAX];
	snprintf(shim, sizeof(shim), "%.4000s/lib/pt2utils/libpt2shim.so", build);
	setenv("OMP_NUM_THREADS", "1", 1);
	for (size_t i = 0; i < ARRAY_LEN(recorded); i++)
		unpack(i);
	snprintf(cmd, sizeof(cmd), "cp '%.4000s/tests-lib/fakemodel.so' %s/fake.so && cp %s/fake.so %s/fake2.so", build, folder, folder,
		 folder);
	free(build);
	return system(cmd);
}

static int tear_down(void **state)
{
	(void)state;
	return live_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(calls_are_in_the_contracts_order),
	    cmocka_unit_test(tensors_have_their_names_and_roles),
	    cmocka_unit_test(made_by_ops),
	    cmocka_unit_test(constants),
	    cmocka_unit_test(threads_get_the_same_results),
	    cmocka_unit_test(a_killed_process_leaves_its_log),
	    cmocka_unit_test(an_exception_passes_through),
	    cmocka_unit_test(arguments_arrive),
	    cmocka_unit_test(calls_are_left_out),
	    cmocka_unit_test(a_crash_is_named),
	    cmocka_unit_test(a_nan_is_told_where_it_is_made),
	    cmocka_unit_test(fail_ends_the_run),
	    cmocka_unit_test(filters),
	    cmocka_unit_test(weights_are_not_saved),
	    cmocka_unit_test(tensors_are_saved),
	    cmocka_unit_test(inputs_of_a_bad_run_are_kept),
	    cmocka_unit_test(models_come_and_go),
	    cmocka_unit_test(bound_now),
	    cmocka_unit_test(no_calls_are_asked_for),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, set_up, tear_down);
}
