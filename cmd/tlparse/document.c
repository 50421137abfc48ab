/* document.c - struct trace into the JSON document of docs/REPORT.md. */
#include "tlparse.h"

static void put_loc(struct json_out *o, const struct trace *t, const struct trace_loc *loc)
{
	json_key(o, "location");
	if (loc->file == NONE) {
		json_out_null(o);
		return;
	}
	json_obj(o);
	json_member_name(o, "file", &t->names, loc->file);
	json_member_u64(o, "line", loc->line);
	json_member_name(o, "function", &t->names, loc->function);
	json_member_name(o, "code", &t->names, loc->code);
	json_close(o);
}

static void put_lines(struct json_out *o, const struct trace *t, const char *key, uint32_t name)
{
	json_member_lines(o, key, name == NONE ? slice_of("", 0) : intern_get(&t->names, name));
}

static void put_artifact(struct json_out *o, const struct trace *t, const char *key, uint32_t index, bool page)
{
	if (index == NONE)
		json_member_null(o, key);
	else
		json_member_u64(o, key, page ? index : t->artifact[index].number);
}

/* ---- summary ---- */

static void count_ids(const struct trace *t, struct report_sums *s)
{
	/* Distinct (autograd, frame) and (autograd, frame, compile): attempts are not counted. */
	struct intern frames = {0}, compiles = {0};
	for (uint32_t i = 0; i < t->n_compile; i++) {
		const struct compile_id *id = &t->compile[i].id;
		int64_t key[3] = {id->autograd, id->frame, id->compile};
		if (id->frame < 0 || id->compile < 0)
			continue;
		if (id->attempt > 0)
			s->restarts++;
		intern_add(&frames, slice_of((const char *)key, 2 * sizeof(*key)));
		uint32_t before = compiles.n;
		if (intern_add(&compiles, slice_of((const char *)key, sizeof(key))) == before && id->compile > 0)
			s->recompiles++;
	}
	s->frames += frames.n;
	s->compiles += compiles.n;
	intern_release(&frames);
	intern_release(&compiles);
}

void report_add(const struct trace *t, struct report_sums *s)
{
	count_ids(t, s);
	s->bytes += t->bytes;
	s->lines += t->lines;
	s->records += t->records;
	s->graphs += t->graphs;
	s->events += t->events;
	s->artifacts += t->n_artifact;
	for (uint32_t i = 0; i < t->n_artifact; i++)
		s->artifacts -= t->artifact[i].flags & ART_UNLISTED ? 1 : 0;
	s->breaks += t->n_brk;
	s->skips += t->n_skip;
	s->seconds += t->compile_seconds;
	for (uint32_t i = 0; i < t->n_failure; i++)
		s->failures += t->failure[i].type != NONE;
	for (uint32_t i = 0; i < t->n_unknown; i++)
		s->unknown += t->unknown[i].count;
	for (unsigned i = 0; i < DAMAGE_COUNT; i++)
		s->damaged += t->damage[i].count != 0;
	for (unsigned i = 0; i < CACHE_COUNT; i++)
		for (unsigned j = 0; j < 3; j++)
			s->cache[i][j] += t->cache[i][j];
}

struct named_seconds {
	struct slice name;
	double seconds;
};

static int by_seconds(const void *a, const void *b)
{
	const struct named_seconds *x = a, *y = b;
	return x->seconds < y->seconds ? 1 : x->seconds > y->seconds ? -1 : 0;
}

static void put_phases(struct json_out *o, const struct trace *log, unsigned n)
{
	struct named_seconds *all = NULL;
	size_t count = 0, cap = 0;
	for (unsigned i = 0; i < n; i++)
		for (uint32_t k = 0; k < log[i].n_phase; k++) {
			struct slice name = intern_get(&log[i].names, log[i].phase[k].name);
			size_t at = 0;
			while (at < count && !slice_eq(all[at].name, name))
				at++;
			if (at == count) {
				GROW(all, count, cap, 1);
				all[count++] = (struct named_seconds){name, 0};
			}
			all[at].seconds += log[i].phase[k].seconds;
		}
	if (count)
		qsort(all, count, sizeof(*all), by_seconds);
	json_member_arr(o, "phases");
	for (size_t k = 0; k < count; k++) {
		json_obj(o);
		json_member_str(o, "name", all[k].name);
		json_member_seconds(o, "seconds", all[k].seconds);
		json_close(o);
	}
	json_close(o);
	free(all);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void put_summary(struct json_out *o, const struct trace *log, unsigned n)
{
	struct report_sums s = {0};
	const struct trace *version = NULL;
	int64_t *rank = xcalloc(n, sizeof(*rank));
	for (unsigned i = 0; i < n; i++) {
		report_add(&log[i], &s);
		rank[i] = log[i].rank;
		if (!version && log[i].torch_version != NONE)
			version = &log[i];
	}
	qsort(rank, n, sizeof(*rank), by_value);
	json_member_obj(o, "summary");
	if (version)
		json_member_name(o, "torch_version", &version->names, version->torch_version);
	else
		json_member_null(o, "torch_version");
	json_member_u64(o, "logs", n);
	json_member_arr(o, "ranks");
	for (unsigned i = 0; i < n; i++)
		if (rank[i] >= 0 && (!i || rank[i] != rank[i - 1]))
			json_out_i64(o, rank[i]);
	json_close(o);
	free(rank);
	json_member_u64(o, "bytes", s.bytes);
	json_member_u64(o, "lines", s.lines);
	json_member_u64(o, "records", s.records);
	json_member_u64(o, "frames", s.frames);
	json_member_u64(o, "compiles", s.compiles);
	json_member_u64(o, "recompiles", s.recompiles);
	json_member_u64(o, "restarts", s.restarts);
	json_member_u64(o, "graph_breaks", s.breaks);
	json_member_u64(o, "failures", s.failures);
	json_member_u64(o, "graphs", s.graphs);
	json_member_u64(o, "artifacts", s.artifacts);
	json_member_u64(o, "chromium_events", s.events);
	json_member_obj(o, "cache");
	for (unsigned i = 0; i < CACHE_COUNT; i++) {
		json_member_obj(o, trace_cache_name[i]);
		json_member_u64(o, "hit", s.cache[i][0]);
		json_member_u64(o, "miss", s.cache[i][1]);
		json_member_u64(o, "bypass", s.cache[i][2]);
		json_close(o);
	}
	json_close(o);
	json_member_u64(o, "cudagraph_skips", s.skips);
	json_member_seconds(o, "compile_seconds", s.seconds);
	put_phases(o, log, n);
	json_member_u64(o, "unknown_keys", s.unknown);
	json_member_u64(o, "damaged", s.damaged);
	json_close(o);
}

void report_summary(struct json_out *o, const struct trace *log, unsigned n) { put_summary(o, log, n); }

/* ---- one log ---- */

/* Rows of t->failure that are restarts, as a list for each compile id. */
struct restart_lists {
	uint32_t *first, *next; /* by compile id, by row; NONE ends */
};

static struct restart_lists restart_lists(const struct trace *t)
{
	struct restart_lists l = {xcalloc(t->n_compile, sizeof(*l.first)), xcalloc(t->n_failure, sizeof(*l.next))};
	memset(l.first, 255, t->n_compile * sizeof(*l.first));
	for (uint32_t i = t->n_failure; i-- > 0;)
		if (t->failure[i].type == NONE) {
			l.next[i] = l.first[t->failure[i].compile];
			l.first[t->failure[i].compile] = i;
		}
	return l;
}

static void put_compiles(struct json_out *o, const struct trace *t)
{
	struct restart_lists l = restart_lists(t);
	static const char *const status[] = {"missing", "ok", "empty", "break", "error"};
	char text[COMPILE_ID_TEXT];
	json_member_arr(o, "compile_ids");
	for (uint32_t i = 0; i < t->n_compile; i++) {
		const struct trace_compile *c = &t->compile[i];
		json_obj(o);
		struct compile_id id = c->id;
		id.attempt = 0;
		json_member_str(o, "id", slice_str(compile_id_text(&id, text)));
		json_member_str(o, "dir", slice_str(c->id.bad_line ? "unknown" : compile_id_dir(&c->id, text)));
		json_member_count(o, "compiled_autograd_id", c->id.autograd);
		json_member_count(o, "frame_id", c->id.frame);
		json_member_count(o, "frame_compile_id", c->id.compile);
		json_member_count(o, "attempt", c->id.attempt);
		json_member_str(o, "status", slice_str(status[c->status]));
		put_loc(o, t, &c->loc);
		json_member_u64(o, "line", c->line);
		json_member_seconds(o, "seconds", c->seconds);
		json_member_seconds(o, "backend_seconds", c->backend_seconds);
		json_member_seconds(o, "inductor_seconds", c->inductor_seconds);
		json_member_seconds(o, "code_gen_seconds", c->code_gen_seconds);
		json_member_count(o, "graph_ops", c->ops);
		json_member_count(o, "graph_nodes", c->nodes);
		json_member_count(o, "graph_inputs", c->inputs);
		json_member_count(o, "guards", c->guards);
		json_member_u64(o, "graph_breaks", c->breaks);
		json_member_count(o, "cache_size", c->cache_size);
		json_member_u64(o, "artifacts", c->artifacts);
		json_member_arr(o, "restarts");
		for (uint32_t k = l.first[i]; k != NONE; k = l.next[k])
			json_out_str(o, intern_get(&t->names, t->failure[k].reason));
		json_close(o);
		json_member_name(o, "fail_type", &t->names, c->fail_type);
		json_member_name(o, "fail_reason", &t->names, c->fail_reason);
		json_close(o);
	}
	json_close(o);
	free(l.first);
	free(l.next);
}

static void put_breaks(struct json_out *o, const struct trace *t, bool page)
{
	json_member_arr(o, "graph_breaks");
	for (uint32_t i = 0; i < t->n_brk; i++) {
		const struct trace_break *b = &t->brk[i];
		char gb[16];
		json_obj(o);
		json_member_u64(o, "compile_id", b->compile);
		json_member_u64(o, "line", b->line);
		put_loc(o, t, &b->loc);
		json_member_name(o, "reason", &t->names, b->reason);
		json_member_name(o, "explanation", &t->names, b->explanation);
		put_lines(o, t, "hints", b->hints);
		json_member_name(o, "context", &t->names, b->context);
		json_key(o, "gb");
		if (b->gb < 0) {
			json_out_null(o);
		} else {
			snprintf(gb, sizeof(gb), "GB%04d", b->gb);
			json_out_str(o, slice_str(gb));
		}
		json_member_name(o, "url", &t->names, b->url);
		json_member_str(o, "source", slice_str(b->artifact == NONE ? "restart" : "artifact"));
		put_artifact(o, t, "artifact", b->artifact, page);
		json_close(o);
	}
	json_close(o);
}

static void put_recompiles(struct json_out *o, const struct trace *t, bool page)
{
	json_member_arr(o, "recompiles");
	for (uint32_t i = 0; i < t->n_recompile; i++) {
		const struct trace_recompile *r = &t->recompile[i];
		json_obj(o);
		json_member_u64(o, "compile_id", r->compile);
		json_member_u64(o, "line", r->line);
		json_member_name(o, "reason", &t->names, r->reason);
		json_member_name(o, "guard", &t->names, r->guard);
		json_member_name(o, "old", &t->names, r->old);
		json_member_name(o, "new", &t->names, r->new);
		json_member_name(o, "all", &t->names, r->all);
		put_loc(o, t, &r->loc);
		put_artifact(o, t, "artifact", r->artifact, page);
		json_close(o);
	}
	json_close(o);
}

static void put_failures(struct json_out *o, const struct trace *t, const char *key, bool restarts)
{
	json_member_arr(o, key);
	for (uint32_t i = 0; i < t->n_failure; i++) {
		const struct trace_failure *f = &t->failure[i];
		if ((f->type == NONE) != restarts)
			continue;
		json_obj(o);
		json_member_u64(o, "compile_id", f->compile);
		json_member_u64(o, "line", f->line);
		if (!restarts)
			json_member_name(o, "type", &t->names, f->type);
		json_member_name(o, "reason", &t->names, f->reason);
		if (!restarts)
			put_loc(o, t, &f->loc);
		json_close(o);
	}
	json_close(o);
}

static void put_symbols(struct json_out *o, const struct trace *t)
{
	json_member_arr(o, "symbols");
	for (uint32_t i = 0; i < t->n_symbol; i++) {
		const struct trace_symbol *s = &t->symbol[i];
		json_obj(o);
		json_member_u64(o, "compile_id", s->compile);
		json_member_u64(o, "line", s->line);
		json_member_name(o, "symbol", &t->names, s->symbol);
		json_member_name(o, "value", &t->names, s->value);
		json_member_name(o, "range", &t->names, s->range);
		json_member_name(o, "source", &t->names, s->source);
		put_loc(o, t, &s->loc);
		json_member_bool(o, "unbacked", s->unbacked);
		json_close(o);
	}
	json_close(o);
	json_member_arr(o, "specializations");
	for (uint32_t i = 0; i < t->n_special; i++) {
		const struct trace_special *s = &t->special[i];
		json_obj(o);
		json_member_u64(o, "compile_id", s->compile);
		json_member_u64(o, "line", s->line);
		json_member_name(o, "symbol", &t->names, s->symbol);
		json_member_name(o, "value", &t->names, s->value);
		put_lines(o, t, "sources", s->sources);
		json_member_name(o, "reason", &t->names, s->reason);
		put_loc(o, t, &s->loc);
		json_close(o);
	}
	json_close(o);
}

/* ---- export ---- */

/* Expressions that a finding was made of: only these are told, arguments before what is made of them. number: the index in
 * the list, UINT32_MAX for those left out. Arguments are earlier rows, so one pass from the end finds all. */
static uint32_t *expressions_told(const struct trace *t)
{
	uint32_t *number = xcalloc(t->n_expr + 1u, sizeof(*number)), n = 0;
	for (uint32_t i = 0; i < t->n_export; i++)
		if (t->export[i].node != NONE)
			number[t->export[i].node] = 1;
	for (uint32_t i = t->n_expr; i-- > 0;)
		for (uint32_t k = 0; number[i] && k < t->expr[i].n_arg; k++)
			number[t->expr_arg[t->expr[i].first_arg + k]] = 1;
	for (uint32_t i = 0; i < t->n_expr; i++)
		number[i] = number[i] ? n++ : NONE;
	return number;
}

static void put_expressions(struct json_out *o, const struct trace *t, const uint32_t *number)
{
	json_member_arr(o, "expressions");
	for (uint32_t i = 0; i < t->n_expr; i++) {
		const struct trace_expr *e = &t->expr[i];
		if (number[i] == NONE)
			continue;
		json_obj(o);
		json_member_u64(o, "compile_id", e->compile);
		json_member_u64(o, "line", e->line);
		json_member_name(o, "result", &t->names, e->result);
		json_member_name(o, "method", &t->names, e->method);
		put_lines(o, t, "arguments", e->args);
		json_member_arr(o, "made_of");
		for (uint32_t k = 0; k < e->n_arg; k++)
			json_out_u64(o, number[t->expr_arg[e->first_arg + k]]);
		json_close(o);
		put_loc(o, t, &e->loc);
		json_close(o);
	}
	json_close(o);
}

static void put_export(struct json_out *o, const struct trace *t, bool page)
{
	static const char *const kind[] = {"guard", "specialized", "data_dependent", "missing_fake_kernel", "mismatched_fake_kernel"};
	json_key(o, "export");
	if (!t->n_export && !t->exported_line) {
		json_out_null(o);
		return;
	}
	uint32_t *number = expressions_told(t);
	json_obj(o);
	json_member_arr(o, "failures");
	for (uint32_t i = 0; i < t->n_export; i++) {
		const struct trace_export *x = &t->export[i];
		bool kernel = x->kind == EXPORT_MISSING || x->kind == EXPORT_MISMATCHED;
		json_obj(o);
		json_member_u64(o, "compile_id", x->compile);
		json_member_u64(o, "line", x->line);
		json_member_str(o, "kind", slice_str(kind[x->kind]));
		json_member_name(o, "expr", &t->names, kernel ? NONE : x->expr);
		json_member_name(o, "op", &t->names, kernel ? x->expr : NONE);
		json_member_name(o, "result", &t->names, x->result);
		json_member_name(o, "reason", &t->names, x->reason);
		put_loc(o, t, &x->loc);
		put_lines(o, t, "locals", x->locals);
		put_lines(o, t, "symbols", x->sources);
		json_member_count(o, "expression", x->node == NONE ? -1 : (int64_t)number[x->node]);
		json_close(o);
	}
	json_close(o);
	put_expressions(o, t, number);
	json_member_u64(o, "expressions_lost", t->expr_lost);
	put_artifact(o, t, "exported_program", page ? t->exported : NONE, page);
	json_member_count(o, "exported_program_line", t->exported_line ? (int64_t)t->exported_line : -1);
	json_close(o);
	free(number);
}

static void put_provenance(struct json_out *o, const struct trace *t, bool page)
{
	static const char *const part[PROV_TEXTS] = {"pre", "post", "code", "aot", "map", "stacks"};
	json_member_arr(o, "provenance");
	for (uint32_t i = 0; i < t->n_provenance; i++) {
		const struct trace_provenance *p = &t->provenance[i];
		json_obj(o);
		json_member_u64(o, "compile_id", p->compile);
		for (unsigned k = 0; k < PROV_TEXTS; k++)
			put_artifact(o, t, part[k], p->artifact[k], page);
		json_member_raw(o, "links", p->links);
		json_close(o);
	}
	json_close(o);
}

static void put_losses(struct json_out *o, const struct trace *t)
{
	json_member_arr(o, "unknown_keys");
	for (uint32_t i = 0; i < t->n_unknown; i++) {
		json_obj(o);
		json_member_name(o, "key", &t->names, t->unknown[i].key);
		json_member_u64(o, "count", t->unknown[i].count);
		json_member_u64(o, "line", t->unknown[i].line);
		json_close(o);
	}
	json_close(o);
	json_member_arr(o, "damage");
	for (unsigned i = 0; i < DAMAGE_COUNT; i++) {
		if (!t->damage[i].count)
			continue;
		json_obj(o);
		json_member_str(o, "kind", slice_str(trace_damage_name[i]));
		json_member_u64(o, "count", t->damage[i].count);
		json_member_u64(o, "line", t->damage[i].line);
		json_member_str(o, "text", slice_str(trace_damage_text[i]));
		json_close(o);
	}
	json_close(o);
}

/* ---- the page's own arrays ---- */

#define COLUMN(o, t, key, expr) \
	do { \
		json_member_arr(o, key); \
		for (uint32_t i_ = 0; i_ < (t)->n_artifact; i_++) { \
			const struct trace_artifact *a = &(t)->artifact[i_]; \
			expr; \
		} \
		json_close(o); \
	} while (0)

static void put_artifacts(struct json_out *o, const struct trace *t)
{
	json_member_obj(o, "artifacts");
	COLUMN(o, t, "compile_id", json_out_u64(o, a->compile));
	COLUMN(o, t, "key", json_out_u64(o, a->kind));
	COLUMN(o, t, "name", json_out_u64(o, a->name));
	COLUMN(o, t, "line", json_out_u64(o, a->line));
	COLUMN(o, t, "size", json_out_u64(o, a->size));
	COLUMN(o, t, "nodes", json_out_i64(o, a->nodes));
	COLUMN(o, t, "t", json_out_double(o, (double)a->seconds, 3));
	COLUMN(o, t, "block", json_out_i64(o, a->block == NONE ? -1 : (int64_t)a->block));
	COLUMN(o, t, "offset", json_out_u64(o, a->offset));
	COLUMN(o, t, "number", json_out_i64(o, a->flags & ART_UNLISTED ? -1 : (int64_t)a->number));
	COLUMN(o, t, "lang", json_out_u64(o, a->lang));
	json_close(o);
	json_member_arr(o, "keys");
	for (unsigned i = 0; i < KIND_COUNT; i++)
		json_out_str(o, slice_of(trace_kind[i].name, trace_kind[i].name_len));
	json_close(o);
	json_member_raw(o, "langs", SLICE("[\"text\",\"json\",\"py\",\"cpp\"]"));
	/* Every text once; rows of the document hold their texts themselves, so only those that arrays refer to matter,
	 * but indices must stay, so the others are empty. */
	uint8_t *used = xcalloc(t->names.n + 1u, 1);
	for (uint32_t i = 0; i < t->n_artifact; i++)
		used[t->artifact[i].name] = 1;
	for (uint32_t i = 0; i < t->n_frame; i++) {
		const uint32_t n[] = {t->frame[i].file, t->frame[i].name, t->frame[i].code};
		for (unsigned j = 0; j < 3; j++)
			if (n[j] != NONE)
				used[n[j]] = 1;
	}
	json_member_arr(o, "names");
	for (uint32_t i = 0; i < t->names.n; i++)
		json_out_str(o, used[i] ? t->names.item[i] : slice_of("", 0));
	json_close(o);
	free(used);
}

static void put_stacks(struct json_out *o, const struct trace *t)
{
	json_member_arr(o, "frames");
	for (uint32_t i = 0; i < t->n_frame; i++) {
		const struct trace_frame *f = &t->frame[i];
		json_arr(o);
		json_out_i64(o, f->file == NONE ? -1 : (int64_t)f->file);
		json_out_i64(o, f->line);
		json_out_str(o, f->name == NONE ? slice_of("", 0) : intern_get(&t->names, f->name));
		json_out_str(o, f->code == NONE ? slice_of("", 0) : intern_get(&t->names, f->code));
		json_close(o);
	}
	json_close(o);
	json_member_arr(o, "stacks");
	for (uint32_t i = 0; i < t->starts.n; i++) {
		const struct trace_stack *s = &t->starts.node[i];
		json_arr(o);
		json_out_i64(o, s->parent == NONE ? -1 : (int64_t)s->parent);
		json_out_u64(o, s->frame);
		json_arr(o);
		for (uint32_t k = s->first_start; k != NONE; k = t->starts.start[k].next)
			json_out_u64(o, t->starts.start[k].compile);
		json_close(o);
		json_close(o);
	}
	json_close(o);
	json_member_arr(o, "compile_stacks");
	for (uint32_t i = 0; i < t->n_compile; i++)
		json_out_i64(o, t->compile[i].stack == NONE ? -1 : (int64_t)t->compile[i].stack);
	json_close(o);
}

static void put_log(struct json_out *o, const struct trace *t, const struct rank_facts *facts, bool page)
{
	char start[32];
	unsigned s = (unsigned)(t->first_usec / 1000000 % 86400), us = (unsigned)(t->first_usec % 1000000);
	snprintf(start, sizeof(start), "%02u-%02uT%02u:%02u:%02u.%06u", t->first_day / 100u, t->first_day % 100u, s / 3600, s / 60 % 60,
		 s % 60, us);
	json_obj(o);
	json_member_str(o, "path", slice_str(t->path));
	json_member_count(o, "rank", t->rank);
	json_member_u64(o, "pid", t->pid);
	json_member_str(o, "start", slice_str(start));
	json_member_seconds(o, "seconds", (double)(t->last_usec - t->first_usec) / 1e6);
	put_summary(o, t, 1);
	put_compiles(o, t);
	put_breaks(o, t, page);
	put_recompiles(o, t, page);
	put_failures(o, t, "failures", false);
	put_failures(o, t, "restarts", true);
	put_symbols(o, t);
	json_member_arr(o, "cudagraph_skips");
	for (uint32_t i = 0; i < t->n_skip; i++) {
		json_obj(o);
		json_member_u64(o, "compile_id", t->skip[i].compile);
		json_member_name(o, "reason", &t->names, t->skip[i].reason);
		json_close(o);
	}
	json_close(o);
	put_export(o, t, page);
	put_provenance(o, t, page);
	put_losses(o, t);
	if (facts && !page) {
		json_key(o, "ranks");
		rank_facts_out(facts, o);
	}
	if (page) {
		json_member_arr(o, "strings");
		for (uint32_t i = 0; i < t->n_string; i++) {
			if (t->string[i] == NONE)
				json_out_null(o);
			else
				json_out_str(o, intern_get(&t->names, t->string[i]));
		}
		json_close(o);
		put_artifacts(o, t);
		put_stacks(o, t);
	}
	json_close(o);
}

void report_document(struct json_out *o, const struct report *r, bool page)
{
	json_obj(o);
	json_member_str(o, "schema", SLICE("pt2utils.tlparse/1"));
	json_member_str(o, "generator", SLICE("tlparse (pt2utils) " PT2_VERSION));
	put_summary(o, r->log, r->n);
	json_member_arr(o, "logs");
	for (unsigned i = 0; i < r->n; i++)
		put_log(o, &r->log[i], r->facts ? &r->facts[i] : NULL, page);
	json_close(o);
	if (page) {
		json_member_obj(o, "blocks");
		json_member_u64(o, "p", r->blocks.p);
		json_member_u64(o, "m", r->blocks.m);
		json_member_u64(o, "e", r->blocks.e);
		json_member_u64(o, "r", r->blocks.r);
		json_close(o);
	}
	json_close(o);
}
