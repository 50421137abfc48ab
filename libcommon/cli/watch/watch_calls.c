/* The records of the call log, joined into calls. */
#include "watch/watch_part.h"

#define MAX_OPEN 4096   /* threads times depth; more is only damage */
#define MAX_VALUES 2048 /* of one call */

struct watch_open {
	struct call_record begin, end;
	struct watch_value *value;
	uint32_t n_values, cap_values;
	struct call_launch launch;
	struct call_replay replay;
	uint32_t n_launches, function; /* function: a name of the log */
	bool cut, replayed;
	struct arena files; /* names of its values' */
};

static bool is_run(const struct watch_open *c) { return c->begin.what == CALL_RUN_BEGIN; }

static bool same_thread(const struct watch_open *c, const struct call_record *r)
{
	return c->begin.pid == r->pid && c->begin.tid == r->tid;
}

static void free_open(struct watch_open *c)
{
	if (!c)
		return;
	free(c->value);
	arena_release(&c->files);
	free(c);
}

/* open[i] is whole. */
static void move_to_ready(struct watch *w, size_t i)
{
	struct watch_open *c = w->open[i];
	memmove(&w->open[i], &w->open[i + 1], (w->n_open - i - 1) * sizeof(*w->open));
	w->n_open--;
	PUSH_TO(w->ready, w->n_ready, w->cap_ready) = c;
}

static struct watch_open *add_open(struct watch *w, const struct call_record *r)
{
	if (w->n_open == MAX_OPEN) {
		w->open[0]->cut = true;
		move_to_ready(w, 0);
	}
	struct watch_open *c = xcalloc(1, sizeof(*c));
	c->begin = *r;
	PUSH_TO(w->open, w->n_open, w->cap_open) = c;
	return c;
}

static struct watch_open *find_open_call(const struct watch *w, uint64_t seq)
{
	for (size_t i = w->n_open; i-- > 0;)
		if (w->open[i]->begin.seq == seq)
			return w->open[i];
	return NULL;
}

/* A thread continues: its calls that have returned have all their values. One of the same Run that has not returned by now has
 * lost its end, for kernels do not call one another; so have those inside a Run that ends. */
static void end_returned_calls(struct watch *w, const struct call_record *r)
{
	for (size_t i = 0; i < w->n_open;) {
		struct watch_open *c = w->open[i];
		bool mine = same_thread(c, r) && c->begin.seq != r->seq;
		bool over = c->end.what != CALL_NONE;
		bool lost = !over && c->begin.model == r->model &&
			    ((r->what == CALL_BEGIN && !is_run(c) && c->begin.run == r->run) ||
			     (r->what == CALL_RUN_END && c->begin.seq > r->seq) ||
			     (r->what == CALL_RUN_BEGIN && is_run(c) && c->begin.run < r->run));
		if (!mine || (!over && !lost)) {
			i++;
			continue;
		}
		c->cut |= lost;
		if (lost) {
			c->end = c->begin;
			c->end.what = is_run(c) ? CALL_RUN_END : CALL_END;
		}
		move_to_ready(w, i);
	}
}

static void take_end(struct watch *w, const struct call_record *r)
{
	struct watch_open *c = find_open_call(w, r->seq);
	if (!c) { /* its start was overwritten */
		c = add_open(w, r);
		c->cut = true;
		c->begin.what = r->what == CALL_RUN_END ? CALL_RUN_BEGIN : CALL_BEGIN;
		c->begin.time -= r->what == CALL_RUN_END ? 0 : r->took;
	}
	c->end = *r;
	if (r->what != CALL_RUN_END)
		return;
	for (size_t i = 0; i < w->n_open; i++)
		if (w->open[i] == c) {
			move_to_ready(w, i);
			return;
		}
}

static void take_value(struct watch *w, const struct call_record *r)
{
	struct watch_open *c = find_open_call(w, r->seq);
	if (!c || c->n_values == MAX_VALUES)
		return;
	PUSH_TO(c->value, c->n_values, c->cap_values) = (struct watch_value){.rec = *r};
}

static void take_launch(struct watch *w, const struct call_record *r)
{
	struct watch_open *c = find_open_call(w, r->seq);
	watch_graph_launch(w, r->pid, r->model, &r->launch);
	if (!c || c->n_launches++)
		return;
	c->launch = r->launch;
	c->function = r->name;
}

static void take_replay(struct watch *w, const struct call_record *r)
{
	struct watch_open *c = find_open_call(w, r->seq);
	watch_graph_replay(w, r->pid, r->model, &r->replay);
	if (!c)
		return;
	c->replay = r->replay;
	c->replayed = true;
}

static void take_record(struct watch *w, const struct call_record *r)
{
	watch_meet(w, r->pid);
	switch ((enum call_what)r->what) {
	case CALL_NONE: break;
	case CALL_BEGIN:
	case CALL_RUN_BEGIN:
		end_returned_calls(w, r);
		if (!find_open_call(w, r->seq))
			add_open(w, r);
		break;
	case CALL_END:
	case CALL_RUN_END:
		end_returned_calls(w, r);
		take_end(w, r);
		break;
	case CALL_VALUE: take_value(w, r); break;
	case CALL_LAUNCH: take_launch(w, r); break;
	case CALL_REPLAY: take_replay(w, r); break;
	}
}

void watch_finish_process(struct watch *w, uint32_t pid)
{
	for (size_t i = w->n_open; i-- > 0;)
		if (w->open[i]->begin.pid == pid)
			move_to_ready(w, i);
}

/* The log has ended. First what has returned, then what has not: calls before the Runs they are in. */
static void finish_all(struct watch *w)
{
	for (size_t i = 0; i < w->n_open;)
		if (w->open[i]->end.what != CALL_NONE)
			move_to_ready(w, i);
		else
			i++;
	while (w->n_open) {
		struct watch_open *c = w->open[w->n_open - 1];
		/* If records were overwritten and no signal ended the process, the end record is missing, not the return. */
		if (w->calls.lost && w->live.command.how == CHILD_EXITED) {
			c->cut = true;
			c->end = c->begin;
			c->end.what = is_run(c) ? CALL_RUN_END : CALL_END;
		}
		move_to_ready(w, w->n_open - 1);
	}
}

/* They arrive nearly sorted. */
static void sort_values(struct watch_open *c)
{
	for (uint32_t i = 1; i < c->n_values; i++) {
		struct watch_value v = c->value[i];
		uint32_t k = i;
		for (; k > 0; k--) {
			const struct call_record *a = &c->value[k - 1].rec;
			if (a->v.before == v.rec.v.before ? a->v.arg <= v.rec.v.arg : a->v.before)
				break;
			c->value[k] = c->value[k - 1];
		}
		c->value[k] = v;
	}
}

static const struct contract_value *contract_value_of(const struct watch_model *m, const struct watch_value *v)
{
	const struct contract *c = &m->contract;
	uint32_t name = *v->name ? intern_find(&m->names, slice_str(v->name)) : NONE;
	if (name != NONE)
		return &c->value[m->value[name]];
	if (v->rec.v.role == CALL_ROLE_MODEL_OUTPUT && v->rec.v.arg < c->n_outputs && c->output[v->rec.v.arg].value < c->n_values)
		return &c->value[c->output[v->rec.v.arg].value];
	return NULL;
}

static const char *file_name(struct watch_open *o, const struct watch_value *v, const char *call)
{
	char name[CALLS_FILE_NAME];
	calls_file_name(&v->rec, call, v->name, name);
	return *name ? arena_strndup(&o->files, name, strlen(name)) : "";
}

struct watch_model *watch_find_model(const struct watch *w, uint32_t id)
{
	for (size_t i = w->n_models; i-- > 0;)
		if (w->model[i].id == id)
			return &w->model[i];
	return NULL;
}

/* Those of the process that a bundle is from. */
static const char *names_before(const struct watch_model *m, struct watch_open *o, const char *name)
{
	const uint32_t call = o->begin.contract_call;
	for (uint32_t i = 0; i < o->n_values; i++) {
		const struct contract_value *v = o->value[i].value;
		if (v && (v->kind == VALUE_INPUT || v->kind == VALUE_CONSTANT))
			o->value[i].name = arena_strndup(&o->files, v->name.p, v->name.n);
	}
	if (is_run(o) || call >= m->contract.n_calls)
		return name;
	return arena_strndup(&o->files, m->contract.call[call].name.p, m->contract.call[call].name.n);
}

static void show_call(struct watch *w, struct watch_open *o, struct watch_call *c)
{
	const struct watch_model *m = watch_find_model(w, o->begin.model);
	uint32_t call = o->begin.contract_call;
	const char *name = is_run(o) ? "" : calls_name(&w->calls, o->begin.name);
	sort_values(o);
	for (uint32_t i = 0; i < o->n_values; i++) {
		struct watch_value *v = &o->value[i];
		v->name = calls_name(&w->calls, v->rec.name);
		v->saved = file_name(o, v, name);
		v->value = m && m->has_contract ? contract_value_of(m, v) : NULL;
	}
	if (m && m->renamed)
		name = names_before(m, o, name);
	*c = (struct watch_call){
	    .begin = o->begin,
	    .end = o->end,
	    .name = name,
	    .model = m,
	    .contract = m && m->has_contract && !is_run(o) && call < m->contract.n_calls ? &m->contract.call[call] : NULL,
	    .value = o->value,
	    .n_values = o->n_values,
	    .launch = o->n_launches ? &o->launch : NULL,
	    .n_launches = o->n_launches,
	    .precision = is_run(o) ? calls_name(&w->calls, o->begin.name) : "",
	    .function = o->n_launches && o->function != o->begin.name ? calls_name(&w->calls, o->function) : "",
	    .replay = o->replayed ? &o->replay : NULL,
	    .cut = o->cut,
	};
}

bool watch_next(struct watch *w, struct watch_call *c)
{
	struct call_record r;
	free_open(w->current);
	w->current = NULL;
	if (!w->opened)
		return false;
	while (w->at_ready == w->n_ready) {
		w->at_ready = w->n_ready = 0;
		if (calls_next(&w->calls, &r)) {
			take_record(w, &r);
			continue;
		}
		if (!w->ended || !w->n_open)
			return false;
		finish_all(w);
	}
	w->current = w->ready[w->at_ready++];
	show_call(w, w->current, c);
	return true;
}

void watch_release_calls(struct watch *w)
{
	watch_forget_processes(w);
	watch_forget_graphs(w);
	free_open(w->current);
	for (size_t i = w->at_ready; i < w->n_ready; i++)
		free_open(w->ready[i]);
	for (size_t i = 0; i < w->n_open; i++)
		free_open(w->open[i]);
	free(w->open);
	free(w->ready);
	w->open = w->ready = NULL;
	w->current = NULL;
	w->n_open = w->cap_open = w->at_ready = w->n_ready = w->cap_ready = 0;
}

void watch_model_index(struct watch_model *m)
{
	const struct contract *c = &m->contract;
	m->value = xcalloc(c->n_values + 1, sizeof(*m->value));
	for (uint32_t i = 0; i < c->n_values; i++) {
		uint32_t n = m->names.n, k = intern_add(&m->names, c->value[i].name);
		if (k == n)
			m->value[k] = i;
	}
}
