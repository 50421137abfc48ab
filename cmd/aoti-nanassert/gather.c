/* gather.c - converts watched or saved calls to what watch/nan.h analyses. */
#include "nanassert.h"

/* Did no earlier call write it? Buffers that share memory count as one. */
static bool unwritten(const struct contract *c, uint32_t call, uint32_t value)
{
	const struct contract_value *v = &c->value[value];
	if (v->kind != VALUE_BUFFER)
		return false;
	for (uint32_t k = 0; k < call; k++)
		for (uint32_t a = c->call[k].arg; a < c->call[k].arg + c->call[k].n_args; a++) {
			const struct contract_arg *arg = &c->arg[a];
			if ((arg->role != ARG_OUT && arg->role != ARG_INOUT) || arg->value == NONE)
				continue;
			if (arg->value == value || (v->storage != NONE && c->value[arg->value].storage == v->storage))
				return false;
		}
	return true;
}

static bool same_memory(const struct contract *c, uint32_t a, uint32_t b)
{
	return a == b || (a < c->n_values && b < c->n_values && c->value[a].storage != NONE && c->value[a].storage == c->value[b].storage);
}

/* Is it read only by the call itself? An output of unknown value may be anything, and so may what a call takes in a program that was not
 * fully understood. */
static bool unread(const struct contract *c, uint32_t call, uint32_t value)
{
	if (c->value[value].kind != VALUE_BUFFER || c->n_notes)
		return false;
	for (uint32_t i = 0; i < c->n_outputs; i++)
		if (c->output[i].value == NONE || same_memory(c, c->output[i].value, value))
			return false;
	for (uint32_t k = 0; k < c->n_calls; k++)
		for (uint32_t a = c->call[k].arg; a < c->call[k].arg + c->call[k].n_args && k != call; a++)
			if ((c->arg[a].role == ARG_IN || c->arg[a].role == ARG_INOUT || c->arg[a].role == ARG_UNKNOWN) &&
			    same_memory(c, c->arg[a].value, value))
				return false;
	return true;
}

/* jit: in a torch.compile graph, whose loops pass values on in recorded ways. */
static void name_by_contract(struct nan_value *to, const struct contract *c, const struct contract_value *v, uint32_t call, bool jit)
{
	if (!v)
		return;
	to->is_input = v->kind == VALUE_INPUT;
	if (v->kind == VALUE_INPUT && v->index < c->n_inputs)
		to->v.path = c->input[v->index].path;
	else if (v->kind == VALUE_CONSTANT && v->index < c->n_constants)
		to->v.path = c->constant[v->index].fqn;
	if (v->kind == VALUE_BUFFER && v->storage != NONE)
		to->storage = v->storage;
	to->unread = !to->v.before && to->v.role == CALL_ROLE_OUT && call < c->n_calls && unread(c, call, (uint32_t)(v - c->value));
	to->unwritten = to->v.before && !(jit && c->n_notes) && call < c->n_calls && unwritten(c, call, (uint32_t)(v - c->value));
}

static void take_value(struct nan_value *to, const struct watch_call *c, const struct watch_value *v)
{
	const struct call_record *r = &v->rec;
	*to = (struct nan_value){.storage = NONE, .bad_value = r->v.bad_value, .has_bad_value = r->v.bad_value != 0};
	to->v = (struct dump_value){
	    .buffer = slice_str(v->name),
	    .file = slice_str(v->saved),
	    .arg = r->v.arg,
	    .role = (enum call_role)r->v.role,
	    .before = r->v.before,
	    .stats = r->v.stats,
	};
	dump_meta(r, &to->v.meta);
	to->has_element = r->v.at != 0;
	to->at = (int64_t)r->v.at - 1;
	to->element = r->v.element;
	to->is_input = r->v.role == CALL_ROLE_MODEL_INPUT;
	if (c->model && c->model->has_contract)
		name_by_contract(to, &c->model->contract, v->value, c->begin.contract_call, c->model->text != NULL);
}

static void make_room(struct gathered *g, uint32_t n)
{
	uint32_t had = 0;
	GROW(g->v, had, g->cap, n + 1);
}

void gather_watched(struct gathered *g, const struct watch_call *c, const char *ended)
{
	const struct call_record *b = &c->begin;
	make_room(g, c->n_values);
	for (uint32_t i = 0; i < c->n_values; i++)
		take_value(&g->v[i], c, &c->value[i]);
	g->call = (struct nan_call){.value = g->v,
				    .n_values = c->n_values,
				    .crashed = ended != NULL,
				    .nth = c->contract ? contract_nth(&c->model->contract, c->contract) : NONE};
	g->call.scanned = b->result == CALLS_SCANNED && b->what == CALL_BEGIN;
	if (g->call.scanned) {
		g->call.graph = (uint32_t)(b->took >> 32);
		g->call.replay = (uint32_t)b->took;
	}
	if (ended)
		g->call.ended = slice_str(ended);
	g->call.c = (struct dump_call){
	    .model = c->model ? slice_str(c->model->path) : SLICE(""),
	    .text = c->model && c->model->text ? slice_str(c->model->text) : SLICE(""),
	    .name = slice_str(c->name),
	    .kind = dump_kind_of(c),
	    .model_id = b->model,
	    .run = b->run,
	    .call = b->call,
	    .pid = b->pid,
	    .tid = b->tid,
	    .rank = watch_rank(c->model),
	    .seq = b->seq,
	    .time = b->time,
	    .took = c->end.took,
	    .result = c->end.result,
	    .returned = c->end.what != CALL_NONE && c->end.result != CALLS_NOT_RETURNED,
	};
	if (c->contract) {
		g->call.c.nodes = c->contract->nodes;
		g->call.c.aten = c->contract->aten;
		g->call.c.line = c->contract->line;
	}
}

void gather_saved(struct gathered *g, const struct dump_call *c)
{
	make_room(g, c->n_values);
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct dump_value *v = &c->value[i];
		g->v[i] = (struct nan_value){.v = *v, .storage = NONE};
		/* The graph's inputs have names of their own: arg4_1. */
		g->v[i].is_input = v->role == CALL_ROLE_MODEL_INPUT || (v->role == CALL_ROLE_IN && slice_starts(v->buffer, "arg"));
	}
	g->call = (struct nan_call){.c = *c, .value = g->v, .n_values = c->n_values, .nth = NONE};
	g->call.crashed = !c->returned && !c->took && c->kind != DUMP_RUN;
}

void gathered_release(struct gathered *g)
{
	free(g->v);
	*g = (struct gathered){0};
}
