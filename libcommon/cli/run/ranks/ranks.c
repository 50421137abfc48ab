/* ranks.c - one process of many, from the rows of its log. See ranks.h. */
#include "run/ranks/ranks.h"
#include "base/text.h"
#include "run/text.h"

#include <inttypes.h>

const char *const rank_event_name[RANK_EVENT_COUNT] = {
#define X(id, name, text) name,
    RANK_EVENT_KINDS(X)
#undef X
};
const char *const rank_event_text[RANK_EVENT_COUNT] = {
#define X(id, name, text) text,
    RANK_EVENT_KINDS(X)
#undef X
};

int64_t rank_of_path(const char *path)
{
	static const char prefix[] = "dedicated_log_torch_trace_rank_";
	struct slice base = slice_str(path_base(path));
	uint64_t rank;
	if (!slice_starts(base, prefix))
		return -1;
	base = slice_of(base.p + sizeof(prefix) - 1, base.n - sizeof(prefix) + 1);
	size_t n = 0;
	while (n < base.n && is_digit(base.p[n]))
		n++;
	if (n == base.n || (base.p[n] != '_' && base.p[n] != '.'))
		return -1;
	return slice_u64(slice_of(base.p, n), &rank) && rank <= UINT32_MAX ? (int64_t)rank : -1;
}

static void release_process(struct rank_process *p)
{
	free(p->path);
	free(p->name);
	free(p->compile);
	free(p->event);
	free(p->span);
	free(p->list);
	free(p->parity);
	free(p->lookup);
	free(p->order);
}

void rank_desync_release(struct rank_desync *d)
{
	free(d->culprit);
	free(d->waiter);
	free(d->absent);
}

void ranks_release(struct ranks *all)
{
	for (uint32_t i = 0; i < all->n_process; i++)
		release_process(&all->process[i]);
	for (uint32_t i = 0; i < all->n_lost; i++) {
		free(all->lost[i].path);
		free(all->lost[i].why);
	}
	for (uint32_t i = 0; i < all->n_split; i++) {
		free(all->split[i].member);
		free(all->split[i].key);
	}
	for (unsigned c = 0; c < RANK_CHECK_COUNT; c++) {
		for (uint32_t i = 0; i < all->check[c].n_group; i++)
			free(all->check[c].group[i].member);
		free(all->check[c].group);
	}
	for (uint32_t i = 0; i < all->n_flight; i++)
		flight_release(&all->flight[i]);
	for (uint32_t i = 0; i < all->n_desync; i++)
		rank_desync_release(&all->desync[i]);
	free(all->flight);
	free(all->desync);
	free(all->process);
	free(all->lost);
	free(all->split);
	free(all->graph);
	free(all->absent);
	intern_release(&all->graphs);
	arena_release(&all->keys);
	intern_release(&all->names);
	*all = (struct ranks){0};
}

void ranks_flight(struct ranks *all, struct flight *f)
{
	PUSH(all, flight) = *f;
	*f = (struct flight){0};
}

void ranks_lost(struct ranks *all, const char *path, const char *why)
{
	PUSH(all, lost) = (struct rank_missing){xstrdup(path), xstrdup(why), rank_of_path(path)};
}

/* ---- texts ---- */

/* Reasons name objects by address and types by number, which differ in every process. */
static uint64_t reason_fp(struct slice s, struct buf *tmp)
{
	buf_reset(tmp);
	for (size_t i = 0; i < s.n;) {
		size_t n = 0;
		bool hex = i + 2 < s.n && s.p[i] == '0' && s.p[i + 1] == 'x';
		if (hex)
			n = 2;
		while (i + n < s.n && (is_digit(s.p[i + n]) || (hex && s.p[i + n] >= 'a' && s.p[i + n] <= 'f')))
			n++;
		if (n >= 7) {
			buf_addc(tmp, '#');
			i += n;
		} else {
			n += n == 0;
			buf_add(tmp, s.p + i, n);
			i += n;
		}
	}
	return hash_bytes(tmp->p, tmp->len);
}

/* ---- rows of one input ---- */

/* Exists while a process is added. */
struct adding {
	struct ranks *all;
	const struct facts *f;
	uint32_t input;
	struct rank_process *p;
	uint32_t *compile; /* row of f->attempt -> of p->compile, NONE */
	ROWS(struct ordered, event);
	struct buf tmp, tmp2;
};
/* An event, before all are sorted into log order. */
struct ordered {
	struct rank_event event;
	uint32_t row;
};

static uint32_t name_of(struct adding *a, struct slice s) { return s.n ? intern_add(&a->all->names, s) : NONE; }
static uint32_t name_again(struct adding *a, uint32_t text) { return name_of(a, facts_text(a->f, text)); }

/* The compilation of a row of this input; NONE: none, or one beyond the limit. */
static uint32_t compile_of(const struct adding *a, const struct fact_src *src)
{
	return src->input == a->input && src->attempt != NONE ? a->compile[src->attempt] : NONE;
}

static void add_compiles(struct adding *a)
{
	struct rank_process *p = a->p;
	for (uint32_t i = 0; i < a->f->n_attempt; i++) {
		const struct fact_attempt *x = &a->f->attempt[i];
		a->compile[i] = NONE;
		if (x->input != a->input || p->n_compile >= RANK_EVENTS)
			continue;
		char text[COMPILE_ID_TEXT];
		struct rank_compile row = {.loc = NONE, .us = -1, .breaks = x->breaks, .status = (uint8_t)x->status};
		row.unknown = x->id.bad_line != 0;
		row.id = name_of(a, slice_str(compile_id_text(&x->id, text)));
		compile_id_dir(&x->id, text);
		if (row.unknown)
			snprintf(text, sizeof(text), "unknown_%" PRIu64, x->line);
		row.dir = name_of(a, slice_str(text));
		if (x->seconds >= 0 && x->seconds < 1e9)
			row.us = rank_us(x->seconds);
		if (x->loc.file != NONE) {
			buf_reset(&a->tmp);
			put_function(&a->tmp, facts_text(a->f, x->loc.file), x->loc.line, facts_text(a->f, x->loc.function));
			row.loc = name_of(a, buf_slice(&a->tmp));
		}
		a->compile[i] = p->n_compile;
		PUSH(p, compile) = row;
	}
}

/* text: in a->tmp, which is consumed. time: < 0 if unknown. */
static void add_event(struct adding *a, const struct fact_src *src, uint32_t row, struct rank_event event, double time)
{
	event.compile = compile_of(a, src);
	event.line = src->line;
	event.guard = event.kind == RANK_RECOMPILE ? event.guard : NONE;
	event.at = time < 0 ? -1 : rank_us(time);
	if (event.compile != NONE)
		PUSH(a, event) = (struct ordered){event, row};
	else
		a->p->cut_events += src->input == a->input && src->attempt != NONE;
}

static void add_graph(struct adding *a, const struct fact_step *x)
{
	struct ranks *all = a->all;
	struct slice text = facts_text(a->f, x->graph), key = slice_of((const char *)&x->fingerprint, sizeof(x->fingerprint));
	if (!text.n || intern_find(&all->graphs, key) != NONE || all->text_bytes + text.n > RANK_TEXT_ALL)
		return;
	all->text_bytes += text.n;
	intern_add(&all->graphs, key);
	struct fact_step *to = &PUSH(all, graph);
	*to = *x;
	to->graph = name_of(a, text);
}

static void add_steps(struct adding *a)
{
	static const enum rank_event_kind kind[FACT_STEPS] = {RANK_START, RANK_GRAPH, RANK_MADE};
	for (uint32_t i = 0; i < a->f->n_step; i++) {
		const struct fact_step *x = &a->f->step[i];
		if (x->src.input != a->input)
			continue;
		add_graph(a, x);
		add_event(a, &x->src, i, (struct rank_event){.kind = kind[x->kind], .fp = x->fingerprint, .text = name_again(a, x->what)},
			  -1);
	}
}

static void add_breaks(struct adding *a)
{
	for (uint32_t i = 0; i < a->f->n_brk; i++) {
		const struct fact_break *x = &a->f->brk[i];
		if (x->src.input != a->input || x->inferred)
			continue;
		buf_reset(&a->tmp);
		if (x->loc.file != NONE) {
			put_flat(&a->tmp, srcloc_short_file(facts_text(a->f, x->loc.file)), 300);
			buf_addf(&a->tmp, ":%u: ", x->loc.line);
		}
		put_flat(&a->tmp, facts_text(a->f, x->reason), 300);
		struct slice text = buf_slice(&a->tmp);
		add_event(a, &x->src, i, (struct rank_event){.kind = RANK_BREAK, .fp = reason_fp(text, &a->tmp2), .text = name_of(a, text)},
			  x->time);
	}
}

/* "s77 = 17 (tensor 'x' size mismatch at index 0. expected 16, actual 17)": the guard, and the symbol for the new value. */
static uint32_t guard_of(struct adding *a, const struct fact_recompile *x, const uint32_t *first_symbol)
{
	struct slice guard = facts_text(a->f, x->guard), new = facts_text(a->f, x->new);
	if (!guard.n)
		return NONE;
	const uint32_t of = x->compile;
	uint32_t k = of != NONE ? first_symbol[of] : NONE;
	while (k < a->f->n_symbol && a->f->symbol[k].compile == of && !slice_eq(facts_text(a->f, a->f->symbol[k].value), new))
		k++;
	const bool known = new.n &&k < a->f->n_symbol && a->f->symbol[k].compile == of;
	buf_reset(&a->tmp);
	if (known)
		buf_addf(&a->tmp, "%.*s = %.*s (", SLN(facts_text(a->f, a->f->symbol[k].symbol), 40), SLN(new, 40));
	put_flat(&a->tmp, guard, 300);
	buf_adds(&a->tmp, known ? ")" : "");
	return name_of(a, buf_slice(&a->tmp));
}

static void add_recompiles(struct adding *a)
{
	FREED uint32_t *first_symbol = xreallocarray(NULL, a->f->n_compile + 1u, sizeof(*first_symbol));
	memset(first_symbol, 255, (a->f->n_compile + 1u) * sizeof(*first_symbol));
	for (uint32_t i = a->f->n_symbol; i-- > 0;)
		if (a->f->symbol[i].compile < a->f->n_compile)
			first_symbol[a->f->symbol[i].compile] = i;
	for (uint32_t i = 0; i < a->f->n_recompile; i++) {
		const struct fact_recompile *x = &a->f->recompile[i];
		if (x->src.input != a->input)
			continue;
		const uint32_t guard = guard_of(a, x, first_symbol);
		buf_reset(&a->tmp);
		put_flat(&a->tmp, slice_first_line(facts_text(a->f, x->reason)), 300);
		struct slice text = buf_slice(&a->tmp);
		add_event(
		    a, &x->src, i,
		    (struct rank_event){.kind = RANK_RECOMPILE, .fp = reason_fp(text, &a->tmp2), .text = name_of(a, text), .guard = guard},
		    x->time);
	}
}

static void add_failures(struct adding *a)
{
	for (uint32_t i = 0; i < a->f->n_failure; i++) {
		const struct fact_failure *x = &a->f->failure[i];
		if (x->src.input != a->input || x->restart || x->inferred)
			continue;
		buf_reset(&a->tmp);
		put_flat(&a->tmp, facts_text(a->f, x->type), 200);
		uint64_t fp = hash_bytes(a->tmp.p, a->tmp.len);
		buf_adds(&a->tmp, ": ");
		put_flat(&a->tmp, facts_text(a->f, x->reason), 300);
		add_event(a, &x->src, i, (struct rank_event){.kind = RANK_FAILURE, .fp = fp, .text = name_of(a, buf_slice(&a->tmp))},
			  x->time);
	}
}

static void add_caches(struct adding *a)
{
	static const enum rank_cache what[FACT_CACHE_WHATS] = {RANK_CACHE_HIT, RANK_CACHE_MISS, RANK_CACHE_BYPASS};
	for (uint32_t i = 0; i < a->f->n_cache; i++) {
		const struct fact_cache *x = &a->f->cache[i];
		struct slice name = facts_text(a->f, x->name);
		uint32_t compile = compile_of(a, &x->src);
		if (x->src.input != a->input)
			continue;
		if (compile != NONE && what[x->what] > a->p->compile[compile].cache)
			a->p->compile[compile].cache = what[x->what];
		if (a->p->n_lookup < RANK_EVENTS) {
			struct fact_cache *to = &PUSH(a->p, lookup);
			*to = *x;
			to->compile = compile;
			to->key = name_again(a, x->key);
			to->guards = name_again(a, x->guards);
			to->reason = name_again(a, x->reason);
			for (unsigned k = 0; k < KEY_TEXTS; k++)
				to->parts[k] = name_again(a, x->parts[k]);
		}
		buf_reset(&a->tmp);
		put_flat(&a->tmp, name, 200);
		add_event(a, &x->src, i,
			  (struct rank_event){.kind = RANK_CACHE,
					      .fp = hash_bytes(name.p, name.n),
					      .text = name_of(a, buf_slice(&a->tmp)),
					      .cache = what[x->what]},
			  -1);
	}
}

static int by_line(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;
	if (x->event.line != y->event.line)
		return x->event.line < y->event.line ? -1 : 1;
	return x->event.kind != y->event.kind ? x->event.kind - y->event.kind : (x->row > y->row) - (x->row < y->row);
}

/* Adds what the process did, in log order. */
static void add_events(struct adding *a)
{
	struct rank_process *p = a->p;
	add_steps(a);
	add_breaks(a);
	add_recompiles(a);
	add_failures(a);
	add_caches(a);
	if (a->n_event)
		qsort(a->event, a->n_event, sizeof(*a->event), by_line);
	p->n_event = a->n_event < RANK_EVENTS ? a->n_event : RANK_EVENTS;
	p->cut_events += a->n_event - p->n_event;
	p->event = xreallocarray(NULL, p->n_event + 1u, sizeof(*p->event));
	for (uint32_t i = 0; i < p->n_event; i++)
		p->event[i] = a->event[i].event;
}

static int by_start(const void *a, const void *b)
{
	const struct fact_span *x = a, *y = b;
	const int64_t p = rank_us(x->start), q = rank_us(y->start);
	return p != q ? (p > q) - (p < q) : (x->compile > y->compile) - (x->compile < y->compile);
}

static void add_spans(struct adding *a)
{
	struct rank_process *p = a->p;
	for (uint32_t i = 0; i < a->f->n_span; i++) {
		struct fact_span row = a->f->span[i];
		row.compile = compile_of(a, &row.src);
		row.end = row.end < row.start ? row.start : row.end;
		if (row.compile != NONE)
			PUSH(p, span) = row;
	}
	if (p->n_span)
		qsort(p->span, p->n_span, sizeof(*p->span), by_start);
}

static void add_order(struct adding *a, struct slice lines)
{
	struct rank_process *p = a->p;
	struct slice line;
	for (p->n_order = 0; p->n_order < RANK_EVENTS && slice_line(&lines, &line);)
		PUSH(p, order) = intern_add(&a->all->names, line);
}

static void add_list(struct adding *a, const struct fact_list *x)
{
	const uint32_t compile = compile_of(a, &x->src);
	if (compile == NONE)
		return;
	if (x->left_out) {
		a->p->cut_ops++;
	} else if (x->kind == LIST_ORDER) {
		add_order(a, facts_text(a->f, x->lines));
	} else {
		struct fact_list *to = &PUSH(a->p, list);
		*to = *x;
		to->compile = compile;
		to->lines = name_again(a, x->lines);
	}
}

static void add_parities(struct adding *a)
{
	for (uint32_t i = 0; i < a->f->n_parity; i++) {
		struct fact_parity row = a->f->parity[i];
		row.compile = compile_of(a, &row.src);
		if (row.compile != NONE)
			PUSH(a->p, parity) = row;
	}
}

static void add_damage(struct adding *a)
{
	for (uint32_t i = 0; i < a->f->n_damage; i++) {
		const struct fact_damage *x = &a->f->damage[i];
		for (unsigned k = 0; k < DAMAGE_COUNT && x->input == a->input; k++)
			if (slice_is(facts_text(a->f, x->kind), trace_damage_name[k]))
				a->p->damage[k] = (struct trace_damage){x->count, x->line};
	}
}

/* "11-21T07:59:23.043000" in microseconds since the start of a leap year: log lines have no year. */
static int64_t start_of(struct slice text)
{
	static const uint16_t before[] = {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335};
	unsigned month, day, hour, minute, second, us;
	char s[32];
	snprintf(s, sizeof(s), "%.*s", SL(text));
	if (sscanf(s, "%2u-%2uT%2u:%2u:%2u.%6u", &month, &day, &hour, &minute, &second, &us) != 6 || month - 1 > 11 || day - 1 > 30 ||
	    hour > 23 || minute > 59 || second > 60 || us > 999999)
		return 0;
	return (((int64_t)(before[month - 1] + day - 1) * 24 + hour) * 60 + minute) * 60000000 + second * 1000000ll + us;
}

void ranks_add(struct ranks *all, const struct facts *f, uint32_t input, uint32_t tag)
{
	const struct fact_input *in = &f->input[input];
	struct slice path = facts_text(f, in->path);
	struct rank_process *p = &PUSH(all, process);
	struct adding a = {.all = all, .f = f, .input = input, .p = p, .compile = xcalloc(f->n_attempt + 1u, sizeof(*a.compile))};
	*p = (struct rank_process){.path = xasprintf("%.*s", (int)path.n, path.n ? path.p : ""), .record_rank = in->rank, .tag = tag};
	p->rank = rank_of_path(p->path);
	if (p->rank < 0)
		p->rank = in->rank;
	p->pid = in->pid > 0 ? (uint64_t)in->pid : 0;
	p->start = start_of(facts_text(f, in->start));
	p->end = rank_us(in->span);
	p->torch_version = name_again(&a, in->torch_version);
	add_compiles(&a);
	add_events(&a);
	add_spans(&a);
	for (uint32_t i = 0; i < f->n_list; i++)
		add_list(&a, &f->list[i]);
	add_parities(&a);
	add_damage(&a);
	free(a.compile);
	free(a.event);
	buf_release(&a.tmp);
	buf_release(&a.tmp2);
}
