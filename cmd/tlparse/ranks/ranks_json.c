/* ranks_json.c - the facts of one log as JSON. What stands where: docs/REPORT.md. */
#include "ranks/ranks_part.h"

static void put_name(struct json_out *o, uint32_t name)
{
	if (name == NONE)
		json_out_i64(o, -1);
	else
		json_out_u64(o, name);
}

static void put_fp(struct json_out *o, uint64_t fp)
{
	char text[17];
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)fp);
	json_out_str(o, slice_of(text, 16));
}

static void put_ops(struct json_out *o, const struct rank_facts *f, const char *key, const struct rank_list *row, uint32_t n)
{
	json_member_arr(o, key);
	for (uint32_t i = 0; i < n; i++) {
		const struct rank_op *op = rank_ops(&f->names, &row[i]);
		json_arr(o);
		json_out_u64(o, row[i].compile);
		json_out_u64(o, row[i].number);
		json_arr(o);
		for (uint32_t k = 0; k < row[i].ops; k++) {
			json_out_u64(o, op[k].name);
			if (op[k].ns != NONE)
				json_out_raw(o, intern_get(&f->names, op[k].ns));
		}
		json_close(o);
		json_close(o);
	}
	json_close(o);
}

static void put_compiles(struct json_out *o, const struct rank_facts *f)
{
	json_member_arr(o, "compiles");
	for (uint32_t i = 0; i < f->n_compile; i++) {
		const struct rank_compile *c = &f->compile[i];
		json_arr(o);
		put_name(o, c->id);
		put_name(o, c->dir);
		put_name(o, c->loc);
		json_out_i64(o, c->us);
		json_out_u64(o, c->breaks);
		json_out_u64(o, c->status);
		json_out_u64(o, c->unknown);
		json_close(o);
	}
	json_close(o);
}

static void put_events(struct json_out *o, const struct rank_facts *f)
{
	json_member_arr(o, "events");
	for (uint32_t i = 0; i < f->n_event; i++) {
		const struct rank_event *e = &f->event[i];
		json_arr(o);
		json_out_str(o, slice_str(rank_event_name[e->kind]));
		json_out_u64(o, e->compile);
		put_fp(o, e->fp);
		put_name(o, e->text);
		json_out_u64(o, e->line);
		json_out_u64(o, e->cache);
		json_close(o);
	}
	json_close(o);
}

static void put_spans(struct json_out *o, const struct rank_facts *f)
{
	json_member_arr(o, "spans");
	for (uint32_t i = 0; i < f->n_span; i++) {
		json_arr(o);
		json_out_u64(o, f->span[i].compile);
		json_out_i64(o, f->span[i].start);
		json_out_i64(o, f->span[i].end);
		json_out_u64(o, f->span[i].kind);
		json_close(o);
	}
	json_close(o);
}

static void put_marks(struct json_out *o, const struct rank_facts *f)
{
	json_member_arr(o, "marks");
	for (uint32_t i = 0; i < f->n_mark; i++) {
		json_arr(o);
		json_out_str(o, slice_str(rank_event_name[f->mark[i].kind]));
		json_out_u64(o, f->mark[i].compile);
		json_out_i64(o, f->mark[i].at);
		put_name(o, f->mark[i].text);
		json_close(o);
	}
	json_close(o);
}

static void put_tensors(struct json_out *o, const struct rank_facts *f)
{
	json_member_arr(o, "tensors");
	for (uint32_t i = 0; i < f->n_tensors; i++) {
		json_arr(o);
		json_out_u64(o, f->tensors[i].compile);
		json_out_u64(o, f->tensors[i].number);
		put_name(o, f->tensors[i].text);
		json_out_u64(o, f->tensors[i].ops);
		json_close(o);
	}
	json_close(o);
}

static void put_order(struct json_out *o, const struct rank_facts *f)
{
	json_key(o, "order");
	if (f->has_order) {
		json_arr(o);
		for (uint32_t i = 0; i < f->n_order; i++)
			put_name(o, f->order[i]);
		json_close(o);
	} else {
		json_out_null(o);
	}
}

static void put_parity(struct json_out *o, const struct rank_facts *f)
{
	json_member_arr(o, "parity");
	for (uint32_t i = 0; i < f->n_parity; i++) {
		json_arr(o);
		json_out_u64(o, f->parity[i].compile);
		json_out_u64(o, f->parity[i].offset);
		json_out_u64(o, f->parity[i].missing_waits);
		json_close(o);
	}
	json_close(o);
}

static void put_graphs(struct json_out *o, const struct rank_facts *f)
{
	json_member_arr(o, "graphs");
	for (uint32_t i = 0; i < f->n_graph; i++) {
		json_arr(o);
		put_fp(o, f->graph[i].fp);
		put_name(o, f->graph[i].text);
		json_out_u64(o, f->graph[i].cut);
		json_close(o);
	}
	json_close(o);
}

/* Bytes of operator lists are no text: their numbers stand above, so that their place here is empty. */
static void put_names(struct json_out *o, const struct rank_facts *f)
{
	uint8_t *bytes = xcalloc(f->names.n + 1u, 1);
	for (uint32_t i = 0; i < f->n_schedule; i++)
		bytes[f->schedule[i].text] = 1;
	for (uint32_t i = 0; i < f->n_estimate; i++)
		bytes[f->estimate[i].text] = 1;
	json_member_arr(o, "names");
	for (uint32_t i = 0; i < f->names.n; i++)
		json_out_str(o, bytes[i] ? SLICE("") : f->names.item[i]);
	json_close(o);
	free(bytes);
}

void rank_facts_out(const struct rank_facts *f, struct json_out *o)
{
	json_obj(o);
	json_member_u64(o, "version", 1);
	json_key(o, "rank");
	if (f->rank < 0)
		json_out_null(o);
	else
		json_out_i64(o, f->rank);
	json_member_u64(o, "records", f->records);
	json_member_i64(o, "start", f->start);
	json_member_i64(o, "end", f->end);
	json_key(o, "torch_version");
	put_name(o, f->torch_version);
	put_compiles(o, f);
	put_events(o, f);
	put_spans(o, f);
	put_marks(o, f);
	put_ops(o, f, "schedules", f->schedule, f->n_schedule);
	put_ops(o, f, "estimates", f->estimate, f->n_estimate);
	put_tensors(o, f);
	put_order(o, f);
	put_parity(o, f);
	put_graphs(o, f);
	json_member_arr(o, "cut");
	json_out_u64(o, f->cut_events);
	json_out_u64(o, f->cut_graphs);
	json_out_u64(o, f->cut_ops);
	json_close(o);
	put_names(o, f);
	json_close(o);
}
