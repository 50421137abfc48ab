/* Runs a model or a command under the probe, with a call log. */
#include "base/io/mapfile.h"
#include "base/broker/broker.h"
#include "model/cppwrapper/wrapper.h"
#include "watch/guard.h"
#include "watch/nan.h"
#include "watch/watch_part.h"

#include <sys/stat.h>

#define MAX_KERNEL_TEXT (64u << 20)
#define MAX_BOUNDS 4096
#define MAX_DEVICE (4u << 20) /* bytes of GPU events; a process reports each thing once */

/* A contract that was sent to a process. */
struct watch_answer {
	uint64_t dev, ino;
	struct buf json, kernels;
};

int watch_only(struct calls_config *c, const char *graph, const char *step, struct err *err)
{
	unsigned long long first = 0, last = 0;
	char *end;
	c->first_run = 0;
	c->last_run = UINT32_MAX;
	if (graph && (!*graph || strlen(graph) >= sizeof(c->graph)))
		return err_set(err, EXIT_USAGE, "--graph: '%s' is not a graph name such as 3_backward or '*_backward'", graph);
	if (graph)
		snprintf(c->graph, sizeof(c->graph), "%s", graph);
	if (!step)
		return 0;
	first = last = strtoull(step, &end, 10);
	bool ok = *step >= '0' && *step <= '9';
	if (ok && !strncmp(end, "..", 2)) {
		const char *to = end + 2;
		last = *to ? strtoull(to, &end, 10) : UINT32_MAX;
		ok = !*to || (*to >= '0' && *to <= '9' && !*end);
	} else {
		ok &= !*end;
	}
	if (!ok || first > last || first >= UINT32_MAX)
		return err_set(err, EXIT_USAGE, "--step: '%s' is not a range of runs, counted from 0: use 3, 3..5 or 3..", step);
	c->first_run = (uint32_t)first;
	c->last_run = last < UINT32_MAX ? (uint32_t)last : UINT32_MAX;
	return 0;
}

/* ---- contracts ---- */

/* torch.compile with cpp_wrapper: HASH.main.so, and beside it HASH.main.cpp, which has the kernels, too. 1: it is a different library. */
static int read_inductor(struct contract *c, const char *so_path, struct err *err)
{
	struct mapfile f;
	const size_t n = strlen(so_path);
	if (n < 8 || strcmp(so_path + n - 8, ".main.so") != 0)
		return 1;
	char *path = xasprintf("%.*s.cpp", (int)n - 3, so_path);
	int r = mapfile_open(&f, path, err);
	if (!r) {
		r = wrapper_read(c, f.bytes, f.bytes, err);
		mapfile_close(&f);
	}
	free(path);
	return r;
}

static void keep_answer(struct watch *w, const char *so_path, struct slice json)
{
	struct stat st = {0};
	stat(so_path, &st);
	struct watch_answer *a = &PUSH_TO(w->answer, w->n_answers, w->cap_answers);
	*a = (struct watch_answer){.dev = st.st_dev, .ino = st.st_ino};
	buf_add_slice(&a->json, json);
}

static int on_contract(void *user, const char *so_path, pid_t pid, struct buf *json, struct err *err)
{
	struct watch *w = user;
	struct json_out out = {.b = json};
	struct loaded l;
	struct contract inductor = {0};
	(void)pid;
	size_t from = json->len;
	int read = w->loaded ? 1 : read_inductor(&inductor, so_path, err);
	if (read == 0) {
		contract_to_json(&inductor, &out);
		keep_answer(w, so_path, slice_of(json->p + from, json->len - from));
	}
	if (read <= 0) {
		contract_release(&inductor);
		return read;
	}
	if (!w->loaded && load_model(&l, so_path, (struct load_options){.no_exec = w->o->no_exec}, err) < 0)
		return -1;
	struct loaded *from_file = w->loaded ? w->loaded : &l;
	contract_to_json(&from_file->contract, &out);
	keep_answer(w, so_path, slice_of(json->p + from, json->len - from));
	struct watch_answer *a = &w->answer[w->n_answers - 1];
	struct slice kernels;
	uint32_t file = from_file->model->kernel_information;
	if (file && package_data(&from_file->pkg, file, &kernels, NULL) == 0 && kernels.n <= MAX_KERNEL_TEXT)
		buf_add(&a->kernels, kernels.p, kernels.n);
	if (!w->loaded)
		loaded_release(&l);
	return 0;
}

/* The process received a contract: the last one sent for this library. */
static void take_contract(struct watch *w, struct watch_model *m)
{
	struct err err;
	for (size_t i = w->n_answers; i-- > 0 && !m->has_contract;) {
		const struct watch_answer *a = &w->answer[i];
		if (a->dev != m->dev || a->ino != m->ino)
			continue;
		m->lent = w->loaded != NULL;
		if (m->lent)
			m->contract = w->loaded->contract; /* what was sent */
		else if (contract_from_json(&m->contract, buf_slice(&a->json), &err) < 0) {
			contract_release(&m->contract);
			m->contract = (struct contract){0};
			m->why = xstrdup(err.text);
			return;
		}
		m->has_contract = true;
		m->kernels = buf_slice(&a->kernels);
		watch_model_index(m);
	}
}

/* ---- events ---- */

/* The contract of a torch.compile graph is a file written by its process. */
static void take_table(struct watch_model *m, const char *path)
{
	struct mapfile f;
	struct err err;
	struct json_tape t = {0};
	uint32_t root;
	if (mapfile_open(&f, path, &err) < 0) {
		m->why = xstrdup(err.text);
		return;
	}
	const struct slice text = f.bytes;
	if (text.n > LIVE_MAX_CONTRACT || contract_from_json(&m->contract, text, &err) < 0) {
		contract_release(&m->contract);
		m->contract = (struct contract){0};
		m->why = xstrdup(text.n > LIVE_MAX_CONTRACT ? "its contract is too large" : err.text);
	} else {
		m->has_contract = true;
		watch_model_index(m);
		json_tape_text(&t, text.p, text.n);
		if (json_parse(&t, 0, text.n, &root) == 0) {
			const uint32_t at = json_get(&t, root, "kernels");
			const struct slice kernels = at == NONE ? SLICE("") : json_raw(&t, at);
			m->own_kernels = xstrndup(kernels.p, kernels.n);
			m->kernels = slice_of(m->own_kernels, kernels.n);
			const uint32_t fx = json_get(&t, root, "fx");
			if (json_is(&t, fx, JSON_OBJECT))
				m->fx = xstrndup(json_raw(&t, fx).p, json_raw(&t, fx).n);
		}
		json_tape_release(&t);
	}
	mapfile_close(&f);
}

/* What a graph is given stands first, in order: an input, or a weight of a program whose names are known. */
static bool is_given(const struct contract_value *v) { return v->kind == VALUE_INPUT || v->kind == VALUE_CONSTANT; }

static bool same_value(const struct contract_value *a, const struct contract_value *b)
{
	return is_given(a) ? is_given(b) : a->kind == b->kind && slice_eq(a->name, b->name);
}

/* Do both do the same, call by call? Names of kernels, which are made of what the nodes came from, and of inputs may differ. */
static bool same_calls(const struct contract *a, const struct contract *b)
{
	bool same = a->n_calls == b->n_calls && a->n_values == b->n_values && a->n_args == b->n_args && a->n_inputs == b->n_inputs;
	for (uint32_t i = 0; same && i < a->n_calls; i++)
		same = a->call[i].kind == b->call[i].kind && a->call[i].arg == b->call[i].arg && a->call[i].n_args == b->call[i].n_args;
	for (uint32_t i = 0; same && i < a->n_args; i++)
		same = a->arg[i].role == b->arg[i].role && a->arg[i].value == b->arg[i].value;
	for (uint32_t i = 0; same && i < a->n_values; i++)
		same = same_value(&a->value[i], &b->value[i]);
	return same;
}

static void model_release(struct watch_model *m)
{
	free(m->path);
	free(m->text);
	free(m->why);
	free(m->value);
	free(m->own_kernels);
	free(m->fx);
	intern_release(&m->names);
	if (!m->lent)
		contract_release(&m->contract);
	if (m->sources)
		nan_sources_release(m->sources);
	free(m->sources);
}

/* A bundle's graph, run again: with the names and lines that it had in its own process, if it is compiled to the same calls. */
static void take_recorded(struct watch_model *m, const struct watch_recorded *r)
{
	struct watch_model was = {.sources = xcalloc(1, sizeof(*was.sources))};
	if (r->table)
		take_table(&was, r->table);
	if (!was.has_contract || !m->has_contract || !same_calls(&was.contract, &m->contract)) {
		model_release(&was);
		return;
	}
	was.id = m->id;
	was.rank = m->rank;
	was.renamed = true;
	was.path = xstrdup(*r->graph ? r->graph : m->path);
	was.text = xstrdup(r->text ? r->text : m->text);
	const struct watch_model now = *m;
	const struct intern names = was.names; /* the log has the names that they have now */
	uint32_t *const value = was.value;
	was.names = now.names;
	was.value = now.value;
	*m = was;
	was = now;
	was.names = names;
	was.value = value;
	model_release(&was);
}

static void add_model(struct watch *w, const struct live_event *ev)
{
	if (ev->model == LIVE_NO_MODEL || watch_find_model(w, ev->model))
		return;
	char *graph = json_strdup(ev->tape, ev->root, "graph"), *table = json_strdup(ev->tape, ev->root, "table");
	const bool jit = graph && *graph;
	struct watch_model *m = &PUSH_TO(w->model, w->n_models, w->cap_models);
	*m = (struct watch_model){
	    .id = ev->model,
	    .rank = ev->rank,
	    .path = jit           ? xstrdup(graph)
		    : w->o->model ? xstrdup(w->o->model)
				  : xstrndup(ev->path.p, ev->path.n),
	    .text = jit ? xstrndup(ev->path.p, ev->path.n) : NULL,
	    .dev = live_event_number(ev, "dev"),
	    .ino = live_event_number(ev, "ino"),
	    .sources = xcalloc(1, sizeof(*m->sources)),
	};
	if (jit && table && *table)
		take_table(m, table);
	if (jit && w->o->recorded)
		take_recorded(m, w->o->recorded);
	free(graph);
	free(table);
}

static void add_aside(struct watch *w, const struct live_event *ev)
{
	char *text = json_strdup(ev->tape, ev->root, "text");
	buf_addf(&w->asides, "%s\n", text);
	free(text);
}

static void add_line(struct watch *w, const struct live_event *ev)
{
	buf_add_slice(&w->device, ev->line);
	if (!ev->line.n || ev->line.p[ev->line.n - 1] != '\n')
		buf_addc(&w->device, '\n');
}

static void add_bounds(struct watch *w, const struct live_event *ev)
{
	if (!w->guard)
		w->guard = xcalloc(1, sizeof(*w->guard));
	if (w->guard->n < MAX_BOUNDS)
		guard_take(w->guard, w, ev);
}

static void add_scaler(struct watch *w, const struct live_event *ev)
{
	PUSH_TO(w->scaler, w->n_scalers, w->cap_scalers) = (struct watch_scaler){
	    .pid = (uint32_t)ev->pid,
	    .made = json_flag(ev->tape, ev->root, "made"),
	    .skipped = json_flag(ev->tape, ev->root, "skipped"),
	    .seq = live_event_number(ev, "seq"),
	    .scaled = live_event_number(ev, "scaled"),
	    .scale = json_number(ev->tape, ev->root, "scale", 0),
	};
}

static void on_event(void *user, const struct live_event *ev)
{
	struct watch *w = user;
	struct watch_model *m;
	if (ev->pid > 0) /* so early that it cannot have ended yet: it just received its contract */
		watch_meet(w, (uint32_t)ev->pid);
	if (ev->kind == LIVE_MODEL_SEEN)
		add_model(w, ev);
	else if (ev->kind == LIVE_STEPPED_ASIDE && w->asides.len < MAX_DEVICE)
		add_aside(w, ev);
	else if (ev->kind == LIVE_GRAPH)
		watch_graph_event(w, ev);
	else if ((ev->kind == LIVE_DEVICE_FAULT || ev->kind == LIVE_DEVICE_FINDING) && w->device.len < MAX_DEVICE)
		add_line(w, ev);
	else if (ev->kind == LIVE_BOUNDS || ev->kind == LIVE_BOUNDS_SUMMARY)
		add_bounds(w, ev);
	else if (ev->kind == LIVE_SCALER && w->o->scalers)
		add_scaler(w, ev);
	if (ev->model == LIVE_NO_MODEL || !(m = watch_find_model(w, ev->model)))
		return;
	if (ev->kind == LIVE_CONTRACT && !m->has_contract) {
		take_contract(w, m);
	} else if (ev->kind == LIVE_NO_CONTRACT) {
		free(m->why);
		m->why = json_strdup(ev->tape, ev->root, "text");
	}
}

/* A call is read when the events are that were sent before it: its graph's is one of them. */
static void on_before(void *user, const char *folder)
{
	struct watch *w = user;
	if (!w->opened && folder)
		w->opened = calls_open(&w->calls, folder, NULL) == 0;
	if (w->opened)
		w->calls.upto = calls_begun(&w->calls);
}

static void on_tick(void *user, const char *folder)
{
	struct watch *w = user;
	(void)folder;
	if (w->opened)
		watch_look_around(w, watch_finish_process);
	if (w->opened && w->o->tick)
		w->o->tick(w->o->user, w);
}

/* ---- running ---- */

static int run_watched(struct watch *w, char *const *command, struct err *err)
{
	const struct watch_options *o = w->o;
	struct live_options lo = {
	    .contract = on_contract,
	    .event = on_event,
	    .tick = on_tick,
	    .before = on_before,
	    .user = w,
	    .calls = &o->calls,
	    .given = o->given,
	    .no_check = true,
	    .apart = !o->command,
	    .library = o->command ? NULL : w->job->loaded,
	    .in_memory = o->command ? -1 : w->job->in_memory,
	    .timeout_s = o->command ? 0 : w->job->timeout_s,
	};
	if (live_run(&lo, command, &w->live, err) < 0)
		return -1;
	w->ended = true;
	watch_look_around(w, watch_finish_process);
	if (!w->opened && calls_open(&w->calls, w->live.folder, err) < 0)
		return -1;
	w->opened = w->calls.final = true;
	w->calls.upto = UINT64_MAX;
	return 0;
}

/* Collects what a model's process left: its outputs, or why there are none. Without a single call nothing ran. */
static int take_outputs(struct watch *w, struct err *err)
{
	if (run_outputs(w->job, &w->live.command, &w->outputs, &w->failed) == 0) {
		w->failed = (struct err){0};
		return 0;
	}
	w->outputs = (struct run_result){0};
	if (child_signalled())
		w->failed = (struct err){0};
	if (calls_begun(&w->calls) || child_signalled())
		return 0;
	if (err)
		*err = w->failed;
	return -1;
}

/* The model and its inputs: your inputs, or those of a bundle. */
static int take_operands(struct watch *w, struct inputs *in, struct err *err)
{
	const struct watch_options *o = w->o;
	w->loaded = xcalloc(1, sizeof(*w->loaded));
	if (inputs_load(w->loaded, in, o->model, &o->how, o->operand, o->n_operand, err) == 0)
		return 0;
	free(w->loaded);
	w->loaded = NULL;
	return -1;
}

static int run_file(struct watch *w, struct err *err)
{
	const struct watch_options *o = w->o;
	struct inputs in;
	broker_seal(0);
	if (take_operands(w, &in, err) < 0)
		return -1;
	struct run_options ro = {
	    .how = o->how,
	    .contract = &w->loaded->contract,
	    .files = o->files,
	    .watched = true,
	    .save_dir = o->calls.save_dir[0] ? o->calls.save_dir : NULL,
	};
	w->job = xcalloc(1, sizeof(*w->job));
	int r = run_prepare(w->job, &w->loaded->pkg, in.v, in.n, &ro, err);
	if (r == 0 && o->starts)
		o->starts(o->starts_user, in.v, in.n);
	inputs_release(&in); /* it has written them */
	if (r < 0) {
		free(w->job);
		w->job = NULL;
		return -1;
	}
	buf_add_slice(&w->asides, buf_slice(&w->job->notes));
	if (w->job->gpu)
		buf_addf(&w->asides, "%s is for a GPU: it ran unconfined, because the driver requires it\n", o->model);
	if (child_signalled()) { /* while it was unpacked */
		w->ended = true;
		return 0;
	}
	return run_watched(w, w->job->argv, err) < 0 ? -1 : take_outputs(w, err);
}

int watch_run(struct watch *w, const struct watch_options *o, struct err *err)
{
	*w = (struct watch){.o = o};
	int r;
	child_signals(CHILD_SIGNALS_FORWARD); /* even when only a model runs: its temporary files must be removed */
	if (o->no_exec && !o->command)
		return err_set(err, EXIT_USAGE,
			       "'%s': --no-exec conflicts with this question: what a model's kernels compute is known only by running "
			       "them (they run in a process that may neither write files nor use the network)",
			       o->model);
	r = o->command ? run_watched(w, o->command, err) : run_file(w, err);
	if (w->guard) {
		w->guard->runs = w->live.calls;
		w->guard->twice = o->calls.want & CALLS_BOUNDS_TWICE;
		w->guard->alloc = o->calls.want & CALLS_BOUNDS_ALLOC;
	}
	if (r < 0)
		watch_release(w);
	return r;
}

void watch_release(struct watch *w)
{
	watch_release_calls(w);
	calls_close(&w->calls);
	for (size_t i = 0; i < w->n_models; i++)
		model_release(&w->model[i]);
	free(w->model);
	for (size_t i = 0; i < w->n_answers; i++) {
		buf_release(&w->answer[i].json);
		buf_release(&w->answer[i].kernels);
	}
	free(w->answer);
	buf_release(&w->asides);
	buf_release(&w->device);
	if (w->guard)
		guard_release(w->guard);
	free(w->guard);
	free(w->scaler);
	run_result_release(&w->outputs);
	live_result_release(&w->live);
	if (w->job)
		run_job_release(w->job);
	free(w->job);
	if (w->loaded)
		loaded_release(w->loaded);
	free(w->loaded);
	*w = (struct watch){0};
}

/* ---- the status ---- */

int watch_status(const struct watch *w, size_t findings, int error_exitcode)
{
	const struct child_result *c = &w->live.command;
	int found = error_exitcode >= 0 ? error_exitcode : EXIT_FOUND;
	if (!w->o->command && child_signalled())
		return 128 + child_signalled();
	if (!w->o->command)
		return findings ? found : w->failed.text[0] ? (int)w->failed.status : EXIT_FINE;
	if (findings && error_exitcode >= 0)
		return found;
	if (c->how != CHILD_EXITED)
		return c->sig ? 128 + c->sig : EXIT_ENVIRON;
	if (c->status || findings)
		return c->status ? c->status : found;
	/* Nothing was checked: never a silent 0. */
	return live_watched(&w->live, NULL) && (calls_begun(&w->calls) || calls_unlogged(&w->calls)) ? EXIT_FINE : EXIT_ENVIRON;
}

int watch_end(struct watch *w, int status)
{
	struct child_result c = {.how = w->live.command.how, .sig = w->live.command.sig, .status = w->live.command.status};
	if (!w->o->command)
		c = (struct child_result){.how = CHILD_SIGNALED, .sig = child_signalled()};
	bool like = c.how != CHILD_EXITED && c.sig && status == 128 + c.sig;
	watch_release(w);
	if (like)
		child_exit_like(&c);
	return status;
}
