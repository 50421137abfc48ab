/* facts_metrics.c - compilation metrics: every value as a row, the breakdown of the time, the relevant settings. */
#include "base/jsonskim.h"
#include "run/trace/facts_part.h"
#include "run/metrics.h"

/* Bytes: longer values are tracebacks; longer configurations are read in place. */
enum { VALUE_MAX = 4096, CONFIG_MAX = 512 };

/* ---- settings ---- */

static int64_t setting(struct slice value)
{
	uint64_t n;
	if (slice_is(value, "true") || slice_is(value, "false"))
		return value.p[0] == 't';
	return slice_u64(value, &n) && n <= INT64_MAX ? (int64_t)n : -1;
}

/* The text of a configuration is JSON, as a string in the record's JSON. */
static void take_settings(struct slice text, const char *const *keys, int64_t *const *to, unsigned n)
{
	struct slice value[16];
	struct json_skim skim;
	if (!text.n || json_skim_members(&skim, text, keys, value, n) < 0)
		return;
	for (unsigned i = 0; i < n; i++)
		if (value[i].p)
			*to[i] = setting(value[i]);
}

/* exported: torch.export compiles with its own Dynamo settings, not the program's (2.13, 2.15: export/_trace.py,
 * DEFAULT_EXPORT_DYNAMO_CONFIG). */
static void take_config(struct trace_reading *r, const struct json_tape *tape, uint32_t v, bool exported)
{
	struct fact_config *c = &r->f->input[r->t->input].config;
	static const char *const dynamo[] = {
	    "recompile_limit",          "accumulated_recompile_limit", "suppress_errors",        "fail_on_recompile_limit_hit",
	    "automatic_dynamic_shapes", "assume_static_by_default",    "capture_scalar_outputs", "specialize_float"};
	int64_t *const of_dynamo[] = {
	    &c->recompile_limit,          &c->accumulated_recompile_limit, &c->suppress_errors,        &c->fail_on_recompile_limit_hit,
	    &c->automatic_dynamic_shapes, &c->assume_static_by_default,    &c->capture_scalar_outputs, &c->specialize_float};
	static const char *const inductor[] = {"fx_graph_cache", "force_disable_caches", "compile_threads",
					       "max_autotune",   "triton.cudagraphs",    "cpp_cache_precompile_headers"};
	int64_t *const of_inductor[] = {&c->fx_graph_cache, &c->force_disable_caches, &c->compile_threads,
					&c->max_autotune,   &c->cudagraphs,           &c->cpp_precompile_headers};
	static const char *const compiler[] = {"force_disable_caches"};
	static const char *const text[CONFIG_TEXTS] = {"dynamo_config", "inductor_config", "functorch_config", "compiler_config"};
	for (unsigned i = exported ? CONFIG_DYNAMO + 1 : 0; i < CONFIG_TEXTS; i++)
		if (json_get_as(tape, v, text[i], JSON_STRING) != NONE)
			c->text[i] = facts_intern(r->f, json_text(tape, v, text[i], &r->tmp));
	if (!exported)
		take_settings(json_text(tape, v, "dynamo_config", &r->tmp), dynamo, of_dynamo, ARRAY_LEN(dynamo));
	take_settings(json_text(tape, v, "inductor_config", &r->tmp), inductor, of_inductor, ARRAY_LEN(inductor));
	take_settings(json_text(tape, v, "compiler_config", &r->tmp), compiler, &of_inductor[1], ARRAY_LEN(compiler));
}

/* ---- values ---- */

/* times.c looks at these; where metrics are shown or compared, all are kept. */
static bool metric_wanted(const struct trace_reading *r, enum metric_id known)
{
	return !r->o->few_metrics || known == METRIC_triton_compile_time_us || known == METRIC_structured_logging_overhead_us;
}

static void add_metric(struct trace_reading *r, uint32_t compile, struct slice name, struct slice value, enum metric_id known,
		       bool backward, bool runtime)
{
	GROW(r->metric, r->n_metric, r->cap_metric, 1);
	uint32_t of = known != METRIC_UNKNOWN && r->metric_name[known] ? r->metric_name[known] - 1 : facts_intern(r->f, name);
	if (known != METRIC_UNKNOWN)
		r->metric_name[known] = of + 1;
	r->metric[r->n_metric++] = (struct trace_metric){compile,
							 {
							     of,
							     facts_intern(r->f, value),
							     (uint16_t)known,
							     backward,
							     runtime,
							 }};
}

static double part(const double *v, enum metric_id us, enum metric_id s) { return v[us] >= 0 ? v[us] / 1e6 : v[s]; }

static void add(double *to, double seconds)
{
	if (seconds > 0 || *to < 0)
		*to = (*to < 0 ? 0 : *to) + (seconds > 0 ? seconds : 0);
}

/* The *_cumulative_* times are nested: dynamo in which AOTAutograd in which Inductor in which code generation. Logs before
 * torch 2.6 have only the *_time_s. tlparse sums entire_frame_compile_time_s (else duration_us), for a backward inductor_compile_time_s. */
static void take_parts(struct fact_compile *c, const double *v, bool backward)
{
	double inductor = part(v, METRIC_inductor_cumulative_compile_time_us, METRIC_inductor_compile_time_s);
	if (backward) {
		double seconds = v[METRIC_inductor_compile_time_s] >= 0 ? v[METRIC_inductor_compile_time_s] : inductor;
		if (seconds < 0)
			return;
		add(&c->seconds, seconds);
		add(&c->backward, seconds);
		return;
	}
	double whole = v[METRIC_entire_frame_compile_time_s] >= 0 ? v[METRIC_entire_frame_compile_time_s] : v[METRIC_duration_us] / 1e6;
	double aot = part(v, METRIC_aot_autograd_cumulative_compile_time_us, METRIC_backend_compile_time_s);
	double codegen = part(v, METRIC_inductor_code_gen_cumulative_compile_time_us, METRIC_code_gen_time_s);
	if (whole < 0)
		return;
	add(&c->seconds, whole);
	add(&c->dynamo, whole - (aot > 0 ? aot : 0));
	if (aot >= 0)
		add(&c->aot, aot - (inductor > 0 ? inductor : 0));
	if (inductor >= 0)
		add(&c->inductor, inductor - (codegen > 0 ? codegen : 0));
	if (codegen >= 0)
		add(&c->codegen, codegen);
	double restarts = part(v, METRIC_dynamo_compile_time_before_restart_us, METRIC_dynamo_time_before_restart_s);
	if (restarts > 0)
		add(&c->restarts, restarts);
}

/* "Line: 39, Name: <module>, Filename: app/m.py" (torch/_dynamo/utils.py) as "app/m.py:39 in <module>". */
static uint32_t stack_of(struct trace_reading *r, const struct json_tape *tape, uint32_t list)
{
	LOCAL_BUF line = {0};
	buf_reset(&r->tmp);
	json_each(tape, list, k) {
		struct slice s = json_text_at(tape, k, &line);
		const char *name = slice_find(s, ", Name: "), *file = slice_find(s, ", Filename: ");
		if (!slice_starts(s, "Line: ") || !name || !file || file < name)
			continue;
		if (!srcloc_is_user(slice_of(file + 12, (size_t)(s.p + s.n - file - 12))))
			continue;
		if (r->tmp.len)
			buf_addc(&r->tmp, '\n');
		buf_add(&r->tmp, file + 12, (size_t)(s.p + s.n - file - 12));
		buf_addc(&r->tmp, ':');
		buf_add(&r->tmp, s.p + 6, (size_t)(name - s.p - 6));
		buf_adds(&r->tmp, " in ");
		buf_add(&r->tmp, name + 8, (size_t)(file - name - 8));
	}
	return facts_intern(r->f, buf_slice(&r->tmp));
}

/* The first record of an input has the versions it was made with. */
static void take_versions(struct trace_reading *r, const struct json_tape *tape, uint32_t v)
{
	struct fact_input *in = &r->f->input[r->t->input];
	if (in->python_version == NONE)
		in->python_version = facts_intern(r->f, json_text(tape, v, "python_version", &r->tmp));
	if (in->cuda_version == NONE)
		in->cuda_version = facts_intern(r->f, json_text(tape, v, "cuda_version", &r->tmp));
	if (!r->have_config && json_get(tape, v, "dynamo_config") != NONE) {
		uint32_t id = json_get(tape, v, "compile_id");
		bool exported = id != NONE && json_is(tape, id, JSON_NULL); /* what is exported has none */
		take_config(r, tape, v, exported);
		r->have_config = !exported;
	}
}

void reading_metrics(struct trace_reading *r, uint32_t compile, const struct json_tape *tape, uint32_t v, bool backward, bool runtime)
{
	double number[METRIC_COUNT];
	unsigned guess = 0;
	if (!json_is(tape, v, JSON_OBJECT))
		return;
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		number[i] = -1;
	json_each_pair(tape, v, k) {
		struct slice name = json_slice(tape, k), value = json_raw(tape, k + 1);
		enum metric_id known = metric_find_from(name, (enum metric_id)(guess % METRIC_COUNT));
		guess = known == METRIC_UNKNOWN ? guess : known + 1u;
		if (json_is(tape, k + 1, JSON_NULL))
			continue;
		if (known != METRIC_UNKNOWN)
			json_double(tape, k + 1, &number[known]);
		if (metric_wanted(r, known) && value.n <= (slice_ends(name, "_config") ? CONFIG_MAX : VALUE_MAX))
			add_metric(r, compile, name, value, known, backward, runtime);
	}
	take_versions(r, tape, v);
	if (compile == NONE)
		return;
	struct fact_compile *c = &r->f->compile[compile];
	if (!runtime)
		take_parts(c, number, backward);
	if (number[METRIC_guard_latency_us] >= 0)
		c->guard_eval = number[METRIC_guard_latency_us] / 1e6;
	uint32_t stack = json_get(tape, v, "stack_trace");
	if (c->stack == NONE && json_is(tape, stack, JSON_ARRAY))
		r->f->compile[compile].stack = stack_of(r, tape, stack);
}

/* Makes rows of one compile id adjacent, in the log's order. Those without a compile id come last. */
void reading_metrics_end(struct trace_reading *r)
{
	struct facts *f = r->f;
	uint32_t ids = f->n_compile - r->t->from.compile + 1, *next = xcalloc(ids + 1u, sizeof(*next));
	for (uint32_t i = 0; i < r->n_metric; i++) {
		uint32_t c = r->metric[i].compile;
		next[(c == NONE ? ids - 1 : c - r->t->from.compile) + 1]++;
	}
	for (uint32_t i = 1; i <= ids; i++)
		next[i] += next[i - 1];
	uint32_t from = f->n_metric;
	for (uint32_t i = 0; i + 1 < ids; i++) {
		f->compile[r->t->from.compile + i].first_metric = from + next[i];
		f->compile[r->t->from.compile + i].n_metric = next[i + 1] - next[i];
	}
	GROW(f->metric, f->n_metric, f->cap_metric, r->n_metric);
	for (uint32_t i = 0; i < r->n_metric; i++) {
		uint32_t c = r->metric[i].compile;
		f->metric[from + next[c == NONE ? ids - 1 : c - r->t->from.compile]++] = r->metric[i].value;
	}
	f->n_metric += r->n_metric;
	free(next);
}
