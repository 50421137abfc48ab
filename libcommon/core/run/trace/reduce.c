/* reduce.c - phase 2: records, in order, into struct trace. See reduce.h. */
#include "run/trace/reduce.h"
#include "run/trace/facts_part.h"
#include "base/text.h"

/* The last component of a path without its last extension (Rust's Path::file_stem). */
static struct slice file_stem(struct slice path)
{
	while (path.n && path.p[path.n - 1] == '/')
		path.n--;
	path = slice_base(path);
	if (slice_is(path, ".."))
		return slice_of("", 0);
	const char *dot = slice_rchr(path, '.');
	return dot && dot > path.p ? slice_of(path.p, (size_t)(dot - path.p)) : path;
}

/* eval_with_key: "<eval_with_key>.12" and anything around it is shown as eval_with_key_12. */
static bool eval_with_key(struct slice name, uint64_t *id)
{
	const char *p = slice_find(name, "<eval_with_key>.");
	if (!p)
		return false;
	p += 16;
	size_t n = 0;
	while (p + n < name.p + name.n && is_digit(p[n]))
		n++;
	return slice_u64(slice_of(p, n), id);
}

/* Microseconds since the log's first record; 0 if threads wrote in another order. A year has 365 days here. */
static uint64_t since_start(const struct trace *t, const struct trace_record *r)
{
	static const int16_t before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
	const unsigned month[2] = {t->first_day / 100u, r->month_day / 100u};
	int days = 0;
	if (month[0] - 1 < 12 && month[1] - 1 < 12)
		days = before[month[1] - 1] + r->month_day % 100 - before[month[0] - 1] - t->first_day % 100;
	if (days < -182)
		days += 365; /* past New Year */
	uint64_t now = r->usec + (days > 0 ? (uint64_t)days * 86400000000ull : 0);
	return days < 0 || now < t->first_usec ? 0 : now - t->first_usec;
}

static void take_torch_version(struct trace *t, struct slice payload)
{
	uint32_t root;
	json_tape_text(&t->tape, payload.p, payload.n);
	if (!json_parse(&t->tape, 0, payload.n, &root))
		reduce_version(t, &t->tape, root);
}

static void take_artifact(struct trace *t, struct trace_scan *s, struct trace_record *r)
{
	uint32_t v = trace_value(s, r, KIND_artifact);
	uint64_t line = s->first_line + r->line;
	struct slice encoding = json_slice(&s->tape, json_get(&s->tape, v, "encoding")), payload = trace_payload(s, r);
	bool json = slice_is(encoding, "json");
	if (!json && !slice_is(encoding, "string")) {
		trace_damage_add(t->damage, DAMAGE_ENCODING, line);
		return;
	}
	buf_reset(&t->tmp);
	json_unescape(&s->tape, json_get(&s->tape, v, "name"), &t->tmp);
	struct slice name = intern_get(&t->f->names, reduce_name(t, buf_slice(&t->tmp)));
	unsigned flags = json ? ART_JSON : 0;
	if (json && slice_starts(name, "inductor_provenance_tracking_kernel_stack_traces")) {
		uint32_t root;
		json_tape_text(&t->tape, payload.p, payload.n);
		if (!json_parse(&t->tape, 0, payload.n, &root) && !t->tape.loose)
			flags |= ART_READABLE;
	}
	enum trace_lang lang = json ? LANG_JSON : slice_is(name, "fx_graph_runnable") ? LANG_PY : LANG_TEXT;
	struct trace_artifact *a = reduce_artifact(t, s, r, KIND_artifact, name, lang, flags);
	uint32_t index = (uint32_t)(a - t->artifact);
	if (flags & ART_READABLE)
		t->number++;
	if (slice_is(name, "dynamo_graph_break_reason")) {
		t->at.artifact = t->artifact[index].number;
		reduce_break(t, payload);
	} else if (slice_is(name, "recompile_reasons")) {
		t->at.artifact = t->artifact[index].number;
		reduce_recompile(t, payload);
	} else if (slice_is(name, "torch_version")) {
		take_torch_version(t, payload);
	}
}

static void take_symbol(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind)
{
	const struct json_tape *tape = &s->tape;
	uint32_t v = trace_value(s, r, kind);
	if (!json_is(tape, v, JSON_OBJECT))
		return;
	struct fact_symbol *to = facts_new_symbol(t->f, t->at);
	to->compile = t->f->attempt[r->attempt].compile;
	to->loc = reduce_user_loc(t, tape, v);
	to->symbol = reduce_scalar(t, tape, json_get(tape, v, "symbol"));
	to->value = reduce_scalar(t, tape, json_get(tape, v, "val"));
	to->range = reduce_scalar(t, tape, json_get(tape, v, "vr"));
	to->source = reduce_scalar(t, tape, json_get(tape, v, "source"));
	to->unbacked = kind == KIND_create_unbacked_symbol;
}

static void take_specialization(struct trace *t, struct trace_scan *s, struct trace_record *r)
{
	const struct json_tape *tape = &s->tape;
	uint32_t v = trace_value(s, r, KIND_symbolic_shape_specialization);
	struct fact_bound *to = facts_new_bound(t->f, t->at);
	to->compile = t->f->attempt[r->attempt].compile;
	to->kind = BOUND_SPECIALIZED;
	to->loc = reduce_user_loc(t, tape, v);
	to->symbol = reduce_scalar(t, tape, json_get(tape, v, "symbol"));
	to->value = reduce_scalar(t, tape, json_get(tape, v, "value"));
	to->sources = reduce_lines(t, tape, json_get(tape, v, "sources"));
	to->reason = reduce_scalar(t, tape, json_get(tape, v, "reason"));
	struct slice symbol = facts_text(t->f, to->symbol), value = facts_text(t->f, to->value);
	buf_reset(&t->tmp);
	buf_addf(&t->tmp, "%.*s = %.*s", SL(symbol), SL(value));
	to->expr = reduce_name(t, buf_slice(&t->tmp));
}

static void take_unknown(struct trace *t, struct trace_scan *s, struct trace_record *r, uint64_t line)
{
	json_each_pair(&s->tape, r->root, k) {
		struct slice key = json_slice(&s->tape, k);
		if (trace_kind_of(key) != KIND_COUNT || trace_is_context(key))
			continue;
		uint32_t n = reduce_name(t, key), i = 0;
		while (i < t->n_unknown && t->unknown[i].key != n)
			i++;
		if (i == t->n_unknown) {
			if (t->n_unknown >= 1000) /* a hostile log; the count of records still says how many there are */
				return;
			GROW(t->unknown, t->n_unknown, t->cap_unknown, 1);
			t->unknown[t->n_unknown++] = (struct trace_unknown){n, 0, line};
		}
		t->unknown[i].count++;
	}
}

/* The name of the graph from a member of the record. */
static void take_named(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind, uint32_t v, bool ddp_child)
{
	const struct json_tape *tape = &s->tape;
	buf_reset(&t->tmp);
	if (ddp_child)
		buf_adds(&t->tmp, "optimize_ddp_split_child_");
	json_unescape(tape, json_get(tape, v, "name"), &t->tmp);
	struct slice type = ddp_child ? slice_of("", 0) : json_slice(tape, json_get(tape, v, "name"));
	bool cpp = slice_ends(type, "_wrapper_code") || slice_ends(type, "_kernel_code") || slice_ends(type, "_header_code");
	reduce_artifact(t, s, r, kind, buf_slice(&t->tmp), cpp ? LANG_CPP : LANG_TEXT, 0);
}

static void take_code(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind, uint32_t v)
{
	uint32_t file = json_get(&s->tape, v, "filename");
	buf_reset(&t->tmp2);
	if (json_is(&s->tape, file, JSON_STRING)) {
		struct slice stem = file_stem(json_text_at(&s->tape, file, &t->tmp));
		if (stem.n) {
			buf_addc(&t->tmp2, '_');
			buf_add_slice(&t->tmp2, stem);
		}
	}
	buf_reset(&t->tmp);
	buf_adds(&t->tmp, "inductor_output_code");
	buf_add_slice(&t->tmp, buf_slice(&t->tmp2));
	reduce_artifact(t, s, r, kind, buf_slice(&t->tmp), LANG_PY, t->plain_text ? 0 : ART_HTML);
}

static void take_link(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind, uint32_t v)
{
	buf_reset(&t->tmp);
	json_unescape(&s->tape, json_get(&s->tape, v, "name"), &t->tmp);
	reduce_artifact(t, s, r, kind, buf_slice(&t->tmp), LANG_TEXT, ART_LINK | ART_NO_PAYLOAD);
	uint32_t index = t->n_artifact - 1;
	t->artifact[index].extra = reduce_token(t, &s->tape, json_get(&s->tape, v, "url"));
}

static void take_dump_file(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind, uint32_t v)
{
	uint64_t id;
	buf_reset(&t->tmp2);
	json_unescape(&s->tape, json_get(&s->tape, v, "name"), &t->tmp2);
	struct slice raw = buf_slice(&t->tmp2);
	buf_reset(&t->tmp);
	if (eval_with_key(raw, &id))
		buf_addf(&t->tmp, "eval_with_key_%llu", (unsigned long long)id);
	else
		buf_add_slice(&t->tmp, raw);
	reduce_artifact(t, s, r, kind, buf_slice(&t->tmp), LANG_PY, ART_HTML | ART_GLOBAL);
}

/* Records that are not artifacts. */
static void take_event(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind, uint32_t v)
{
	const struct json_tape *tape = &s->tape;
	switch (kind) {
	case KIND_dynamo_start: {
		uint32_t stack = json_get(tape, v, "stack");
		if (json_is(tape, stack, JSON_ARRAY))
			t->f->attempt[r->attempt].stack = reduce_start(t, tape, stack, r->attempt);
		return;
	}
	case KIND_chromium_event: t->events++; return;
	case KIND_create_unbacked_symbol: export_record(t, s, r, kind); /* fall through */
	case KIND_create_symbol: take_symbol(t, s, r, kind); return;
	case KIND_expression_created:
	case KIND_guard_added:
	case KIND_propagate_real_tensors_provenance:
	case KIND_guard_on_data_dependent_error:
	case KIND_missing_fake_kernel:
	case KIND_mismatched_fake_kernel:
	case KIND_exported_program: export_record(t, s, r, kind); return;
	case KIND_symbolic_shape_specialization: take_specialization(t, s, r); return;
	case KIND_compilation_metrics_runtime:
	case KIND_bwd_compilation_metrics_runtime:
		if (json_is(tape, v, JSON_OBJECT))
			reduce_phases(t, tape, v);
		return;
	default: return;
	}
}

static void take_kind(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind)
{
	const struct trace_kind_info *info = &trace_kind[kind];
	struct slice name = slice_of(info->name, info->name_len);
	uint32_t v = trace_value(s, r, kind);

	if (t->export_only && info->form != FORM_NONE)
		return;
	switch ((enum trace_form)info->form) {
	case FORM_PAYLOAD:
		if (kind == KIND_memoizer_artifacts) {
			reduce_artifact(t, s, r, kind, name, LANG_JSON, slice_starts(trace_payload(s, r), "{") ? ART_JSON : 0);
			return;
		}
		reduce_artifact(t, s, r, kind, name, LANG_TEXT, 0);
		if (kind == KIND_dynamo_output_graph)
			t->graphs++;
		return;
	case FORM_GRAPH_DUMP:
	case FORM_DDP_CHILD: take_named(t, s, r, kind, v, info->form == FORM_DDP_CHILD); return;
	case FORM_GUARDS:
		if (r->flags & REC_GUARDS_BAD)
			trace_damage_add(t->damage, DAMAGE_GUARDS, s->first_line + r->line);
		else
			reduce_artifact(t, s, r, kind, name, LANG_JSON, ART_HTML);
		return;
	case FORM_CODE: take_code(t, s, r, kind, v); return;
	case FORM_BWD_PAGE: reduce_bwd_metrics(t, s, r, kind); return;
	case FORM_LINK: take_link(t, s, r, kind, v); return;
	case FORM_ARTIFACT: take_artifact(t, s, r); return;
	case FORM_DUMP_FILE: take_dump_file(t, s, r, kind, v); return;
	case FORM_METRICS: reduce_metrics(t, s, r); return;
	case FORM_NONE: take_event(t, s, r, kind, v); return;
	}
}

/* Records that a process writes before it has a rank may come after records that have one. */
static void take_rankless(struct trace *t, struct trace_scan *s, struct trace_record *r)
{
	uint32_t name = json_get(&s->tape, trace_value(s, r, KIND_artifact), "name");
	if (name != NONE && slice_is(json_slice(&s->tape, name), "torch_version"))
		take_torch_version(t, trace_payload(s, r));
}

static void reduce_record(struct trace *t, struct trace_scan *s, struct trace_record *r)
{
	uint64_t line = s->first_line + r->line;
	r->artifacts = 0;
	r->attempt = NONE;
	t->at = (struct fact_src){t->input, NONE, NONE, line, s->window.offset + r->start};
	if (r->flags & REC_NO_PREFIX) {
		struct trace_damage *d = &t->damage[r->flags & REC_ORPHAN ? DAMAGE_ORPHAN : DAMAGE_PREFIX];
		uint32_t n = r->payload_lines - (r->flags & REC_LAST ? 1 : 0); /* only the last line of them is cut short */
		if (n && !d->count)
			d->line = line;
		d->count += n;
		if (r->flags & REC_LAST)
			trace_damage_add(t->damage, DAMAGE_TRUNCATED, line + n);
		return;
	}
	if (r->flags & REC_NOT_UTF8)
		trace_damage_add(t->damage, DAMAGE_UTF8, line);
	if (r->flags & REC_NO_JSON) {
		trace_damage_add(t->damage, r->flags & REC_LAST ? DAMAGE_TRUNCATED : DAMAGE_JSON, line);
		return;
	}
	t->records++;
	t->payload_bytes += r->payload_len;
	if (t->records == 1) {
		t->first_usec = r->usec;
		t->first_day = r->month_day;
		t->pid = r->thread;
	}
	t->elapsed = since_start(t, r);
	if (t->first_usec + t->elapsed > t->last_usec)
		t->last_usec = t->first_usec + t->elapsed;
	identity_process(t, s, r);
	if (r->flags & REC_MD5_BAD)
		trace_damage_add(t->damage, r->flags & REC_LAST ? DAMAGE_TRUNCATED : DAMAGE_MD5, line);
	if (r->flags & REC_UNKNOWN)
		take_unknown(t, s, r, line);
	if (r->flags & REC_RESERVED)
		trace_damage_add(t->damage, DAMAGE_RESERVED, line);
	if (r->flags & (REC_MALFORMED | REC_LOOSE)) {
		trace_damage_add(t->damage, DAMAGE_MALFORMED, line);
		r->attempt = identity_newest(t, &r->id);
		return;
	}
	if (r->kinds >> KIND_str & 1) {
		reduce_string(t, s, r, line);
		return;
	}
	if (t->rank < 0) {
		t->rank = r->rank;
	} else if (r->rank != t->rank) {
		/* The Rust tlparse numbers no record of another rank or of none, once a rank is known; the same here. */
		r->flags |= REC_OTHER_RANK;
		if (r->rank >= 0)
			trace_damage_add(t->damage, DAMAGE_RANK, line);
		else
			take_rankless(t, s, r);
		return;
	}
	r->attempt = t->at.attempt = identity_attempt(t, s, r, (double)t->elapsed / 1e6);
	for (uint64_t k = r->kinds; k; k &= k - 1)
		take_kind(t, s, r, (enum trace_kind)__builtin_ctzll(k));
	provset_record(t, s, r);
	if (r->stack != NONE)
		reduce_stack(t, &t->stacks, &s->tape, r->stack);
}

int trace_reduce_window(struct trace *t, struct trace_scan *s, const struct trace_hooks *hooks)
{
	s->first_line = t->lines + 1;
	for (uint32_t i = 0; i < s->n; i++) {
		reduce_record(t, s, &s->rec[i]);
		if (hooks && hooks->rows)
			reading_record(hooks->rows, s, &s->rec[i]);
		if (hooks && hooks->record && hooks->record(hooks->ctx, s, &s->rec[i]) < 0)
			return -1;
	}
	t->lines += s->lines;
	t->bytes += s->window.len;
	return hooks && hooks->window ? hooks->window(hooks->ctx, s) : 0;
}
