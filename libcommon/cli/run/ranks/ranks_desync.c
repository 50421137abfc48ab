/* ranks_desync.c - who keeps others waiting: compares the Flight Recorders' dumps, and looks up what the culprit's trace says.
 *
 * All members of a group number its collectives the same way, so they are compared by number. The first one that not all entered alike is
 * the group's desync; later ones add nothing (torch's fr_trace stops there, too). A culprit that waits in another group's desync is not the
 * cause: of two that block each other, the one with fewer culprits started it, then the one with the first waiter. */
#include "run/ranks/ranks.h"
#include "base/text.h"

#include <inttypes.h>

enum { CULPRITS_JOINED = 64, PEERS = 4 };

/* The operator that one member entered at a number; several entries if operators are coalesced. */
struct call {
	uint64_t seq, fp;
	uint32_t op;
};
struct member {
	uint32_t flight, at;
	ROWS(struct call, call);
};
struct group {
	uint32_t flight, row; /* the dump with the most complete list of members */
	ROWS(struct member, member);
};
struct finder {
	struct ranks *all;
	struct intern keys;
	ROWS(struct group, group);
};

static int by_rank(const void *a, const void *b)
{
	const struct flight *x = a, *y = b;
	return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : (x->n_op < y->n_op) - (x->n_op > y->n_op);
}

/* A rank's dump may exist as a pickle and as JSON: the longer one is kept, of equal ones the one with stacks. */
static void drop_doubles(struct ranks *all)
{
	uint32_t n = 0;
	if (all->n_flight)
		qsort(all->flight, all->n_flight, sizeof(*all->flight), by_rank);
	for (uint32_t i = 0; i < all->n_flight; i++) {
		struct flight *before = n ? &all->flight[n - 1] : NULL, *f = &all->flight[i];
		if (!before || before->rank != f->rank) {
			all->flight[n++] = *f;
			continue;
		}
		bool better = before->n_op == f->n_op && f->n_op && before->op[0].place == NONE && f->op[0].place != NONE;
		flight_release(better ? before : f);
		if (better)
			*before = *f;
	}
	all->n_flight = n;
}

static int64_t flight_by_rank(const struct ranks *all, int64_t rank)
{
	uint32_t lo = 0, hi = all->n_flight;
	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;
		if (all->flight[mid].rank < rank)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < all->n_flight && all->flight[lo].rank == rank ? (int64_t)lo : -1;
}

/* ---- groups ---- */

static void take_calls(struct finder *x, uint32_t flight, uint32_t *member_of)
{
	const struct flight *f = &x->all->flight[flight];
	for (uint32_t i = 0; i < f->n_op; i++) {
		const struct flight_op *op = &f->op[i];
		if (op->p2p || !op->seq || member_of[op->group] == NONE)
			continue;
		struct group *g = &x->group[member_of[op->group]];
		struct member *m = &g->member[g->n_member - 1];
		if (m->n_call && m->call[m->n_call - 1].seq >= op->seq) {
			if (m->call[m->n_call - 1].seq == op->seq)
				m->call[m->n_call - 1].fp = rank_mix(m->call[m->n_call - 1].fp, op->fp);
			continue;
		}
		PUSH(m, call) = (struct call){op->seq, op->fp, i};
	}
}

/* A group is identified by its name and its ranks: torch gives the same name to several that were split off one (components/builder.py). */
static void take_flight(struct finder *x, uint32_t flight)
{
	const struct flight *f = &x->all->flight[flight];
	FREED uint32_t *member_of = xreallocarray(NULL, f->n_group + 1u, sizeof(*member_of));
	LOCAL_BUF key = {0};
	for (uint32_t i = 0; i < f->n_group; i++) {
		const struct flight_group *g = &f->group[i];
		buf_reset(&key);
		buf_add_slice(&key, flight_text(f, g->name));
		buf_addc(&key, '\n');
		buf_add_slice(&key, flight_text(f, g->n_ranks ? g->ranks : g->desc));
		const uint32_t k = intern_add(&x->keys, buf_slice(&key));
		if (k == x->n_group)
			PUSH(x, group) = (struct group){.flight = flight, .row = i};
		struct group *to = &x->group[k];
		member_of[i] = k;
		if (!to->n_member || to->member[to->n_member - 1].flight != flight)
			PUSH(to, member) = (struct member){.flight = flight};
	}
	take_calls(x, flight, member_of);
}

/* ---- one group ---- */

/* Its call with this number; calls are looked up in order. */
static const struct call *call_at(struct member *m, uint64_t seq)
{
	while (m->at < m->n_call && m->call[m->at].seq < seq)
		m->at++;
	return m->at < m->n_call && m->call[m->at].seq == seq ? &m->call[m->at] : NULL;
}

/* Is a member without this number behind, or did its ring buffer lose it? */
static bool is_behind(const struct ranks *all, const struct member *m, uint64_t seq)
{
	return m->n_call ? m->call[m->n_call - 1].seq < seq : !all->flight[m->flight].wrapped;
}

/* Finds what most members entered at this number. */
static uint64_t most_common(struct group *g, uint64_t seq)
{
	uint64_t best = 0;
	uint32_t most = 0;
	for (uint32_t i = 0; i < g->n_member && most * 2 <= g->n_member; i++) {
		const struct call *c = call_at(&g->member[i], seq);
		uint32_t n = 0;
		for (uint32_t k = i; c && c->fp != best && k < g->n_member; k++) {
			const struct call *d = call_at(&g->member[k], seq);
			n += d && d->fp == c->fp;
		}
		if (n > most) {
			most = n;
			best = c->fp;
		}
	}
	return best;
}

static struct rank_desync *new_desync(struct ranks *all)
{
	if (all->n_desync >= RANK_DESYNCS) {
		all->desyncs_left_out++;
		return NULL;
	}
	struct rank_desync *d = &PUSH(all, desync);
	*d = (struct rank_desync){.flight = NONE, .op = NONE, .cause = NONE};
	return d;
}

/* Members that entered what most entered and wait, and the others. */
static void take_sides(struct ranks *all, struct group *g, uint64_t seq, uint64_t fp, struct rank_desync *d)
{
	d->seq = seq;
	for (uint32_t i = 0; i < g->n_member; i++) {
		struct member *m = &g->member[i];
		const struct call *c = call_at(m, seq);
		if (c && c->fp == fp) {
			const int64_t since = all->flight[m->flight].op[c->op].created;
			if (d->flight == NONE) {
				d->flight = m->flight;
				d->op = c->op;
			}
			d->since = since > 0 && (!d->since || since < d->since) ? since : d->since;
			PUSH(d, waiter) = m->flight;
		} else if (c || is_behind(all, m, seq)) {
			PUSH(d, culprit) = (struct rank_culprit){m->flight, c ? c->op : NONE, NONE, NONE};
		}
	}
}

static bool take_absent(struct ranks *all, const struct group *g, struct rank_desync *d)
{
	const struct flight *f = &all->flight[g->flight];
	const struct flight_group *row = &f->group[g->row];
	for (uint32_t i = 0; i < row->n_ranks; i++) {
		const int64_t rank = f->member[row->first + i];
		if (flight_by_rank(all, rank) < 0)
			PUSH(d, absent) = rank;
	}
	return d->n_absent > 0;
}

static uint64_t call_fp(struct group *g, uint64_t seq)
{
	const struct call *c = NULL;
	for (uint32_t i = 0; i < g->n_member && !c; i++)
		c = call_at(&g->member[i], seq);
	return c ? c->fp : 0;
}

static void put_desync(struct ranks *all, struct group *g, uint64_t seq, uint64_t fp, bool culprits)
{
	struct rank_desync *d = new_desync(all);
	if (!d)
		return;
	take_sides(all, g, seq, fp, d);
	const bool absent = take_absent(all, g, d);
	d->kind = culprits ? DESYNC_MISSED : absent ? DESYNC_NO_DUMP : DESYNC_NO_END;
	for (uint32_t i = 0; i < d->n_culprit && d->kind == DESYNC_MISSED; i++) {
		const struct rank_culprit *c = &d->culprit[i];
		if (c->op == NONE)
			continue;
		const struct flight *own = &all->flight[c->flight], *f = &all->flight[d->flight];
		d->kind =
		    slice_eq(flight_operator(own, &own->op[c->op]), flight_operator(f, &f->op[d->op])) ? DESYNC_SIZES : DESYNC_OPERATOR;
	}
}

static void find_in_group(struct ranks *all, struct group *g)
{
	uint64_t lo = 0, top = 0;
	for (uint32_t i = 0; i < g->n_member; i++) {
		const struct member *m = &g->member[i];
		if (m->n_call) {
			lo = m->call[0].seq > lo ? m->call[0].seq : lo;
			top = m->call[m->n_call - 1].seq > top ? m->call[m->n_call - 1].seq : top;
		}
	}
	/* A member that stopped before the others' ring buffers start is found at their first number. */
	uint64_t unfinished = 0, seq = lo;
	for (uint64_t step = 0; seq && seq <= top && step < 2 * FLIGHT_OPS; seq++, step++) {
		uint64_t fp = 0;
		bool mixed = false, behind = false;
		uint32_t done = 0, asked = 0;
		for (uint32_t i = 0; i < g->n_member; i++) {
			struct member *m = &g->member[i];
			const struct call *c = call_at(m, seq);
			behind |= !c && is_behind(all, m, seq);
			if (!c)
				continue;
			mixed |= asked && c->fp != fp;
			fp = c->fp;
			asked++;
			done += all->flight[m->flight].op[c->op].state == FLIGHT_COMPLETED;
		}
		/* An operator that everyone who entered it has completed blocked nobody: dumps are not written at the same moment. */
		if (mixed || (behind && done < asked)) {
			put_desync(all, g, seq, mixed ? most_common(g, seq) : fp, true);
			return;
		}
		if (done < asked && !unfinished)
			unfinished = seq;
	}
	for (uint32_t i = 0; i < g->n_member; i++)
		g->member[i].at = 0;
	if (unfinished)
		put_desync(all, g, unfinished, call_fp(g, unfinished), false);
}

/* If a rank keeps others waiting, unfinished collectives elsewhere add nothing. */
static void drop_unfinished(struct ranks *all)
{
	uint32_t n = 0;
	bool any = false;
	for (uint32_t i = 0; i < all->n_desync; i++)
		any |= all->desync[i].kind < DESYNC_NO_DUMP;
	for (uint32_t i = 0; i < all->n_desync; i++)
		if (any && all->desync[i].kind >= DESYNC_NO_DUMP)
			rank_desync_release(&all->desync[i]);
		else
			all->desync[n++] = all->desync[i];
	all->n_desync = n;
}

/* ---- causes and effects ---- */

/* Of two that wait for each other: did a start it? */
static bool earlier(const struct ranks *all, uint32_t a, uint32_t b)
{
	const struct rank_desync *x = &all->desync[a], *y = &all->desync[b];
	if (x->n_culprit != y->n_culprit)
		return x->n_culprit < y->n_culprit;
	return x->since != y->since ? x->since < y->since : a < b;
}

struct waits { /* desyncs that involve a dump's rank */
	ROWS(uint32_t, in);
};

static bool waits_for(const struct ranks *all, const struct waits *w, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < all->desync[a].n_culprit; i++) {
		const struct waits *x = &w[all->desync[a].culprit[i].flight];
		for (uint32_t k = 0; k < x->n_in; k++)
			if (x->in[k] == b)
				return true;
	}
	return false;
}

static void find_causes(struct ranks *all)
{
	struct waits *w = xcalloc(all->n_flight + 1u, sizeof(*w));
	for (uint32_t d = 0; d < all->n_desync; d++) {
		for (uint32_t i = 0; i < all->desync[d].n_waiter; i++)
			PUSH(&w[all->desync[d].waiter[i]], in) = d;
		for (uint32_t i = 0; i < all->desync[d].n_culprit; i++)
			PUSH(&w[all->desync[d].culprit[i].flight], in) = d;
	}
	for (uint32_t a = 0; a < all->n_desync; a++) {
		struct rank_desync *d = &all->desync[a];
		/* All started something themselves, or none did: a cause requires that every culprit waits. */
		for (uint32_t i = 0; i < d->n_culprit; i++) {
			const struct waits *x = &w[d->culprit[i].flight];
			uint32_t best = NONE;
			for (uint32_t k = 0; k < x->n_in; k++) {
				const uint32_t b = x->in[k];
				if (b != a && (earlier(all, b, a) || !waits_for(all, w, b, a)) && (best == NONE || earlier(all, b, best)))
					best = b;
			}
			d->cause = best;
			if (best == NONE)
				break;
		}
	}
	/* A cycle of more than two: one of them has to be the first. */
	for (uint32_t a = 0; a < all->n_desync; a++) {
		uint32_t at = all->desync[a].cause, least = a;
		for (uint32_t step = 0; at != NONE && at != a && step < all->n_desync; step++) {
			least = earlier(all, at, least) ? at : least;
			at = all->desync[at].cause;
		}
		if (at == a)
			all->desync[least].cause = NONE;
	}
	for (uint32_t i = 0; i < all->n_flight; i++)
		free(w[i].in);
	free(w);
}

/* ---- the culprit's trace ---- */

static uint32_t process_of(const struct ranks *all, int64_t rank)
{
	uint32_t lo = 0, hi = all->n_process; /* by rank, those without one last; after a restart the last log */
	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;
		if (all->process[mid].rank >= 0 && all->process[mid].rank <= rank)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && all->process[lo - 1].rank == rank ? lo - 1 : NONE;
}

static uint32_t event_key(struct intern *seen, const struct rank_event *e, bool add)
{
	const uint64_t key[2] = {e->kind, e->fp};
	struct slice s = slice_of((const char *)key, sizeof(key));
	return add ? intern_add(seen, s) : intern_find(seen, s);
}

/* The last thing that this rank did and the waiting ones did not: a recompile or a failure, else a break, else a compilation. */
static uint32_t own_event(const struct rank_process *f, const struct intern *peers)
{
	uint32_t best = NONE;
	static const uint8_t weight[RANK_EVENT_COUNT] = {[RANK_START] = 1, [RANK_BREAK] = 2, [RANK_RECOMPILE] = 3, [RANK_FAILURE] = 3};
	for (uint32_t i = f->n_event; i-- > 0;) {
		const struct rank_event *e = &f->event[i];
		if (weight[e->kind] > (best == NONE ? 0 : weight[f->event[best].kind]) &&
		    event_key((struct intern *)(uintptr_t)peers, e, false) == NONE)
			best = i;
	}
	return best;
}

static void join_causes(struct ranks *all, struct rank_desync *d)
{
	OWNED(intern_release) struct intern peers = {0};
	uint32_t known = 0;
	for (uint32_t i = 0; i < d->n_waiter && known < PEERS; i++) {
		const uint32_t p = process_of(all, all->flight[d->waiter[i]].rank);
		for (uint32_t k = 0; p != NONE && k < all->process[p].n_event; k++)
			event_key(&peers, &all->process[p].event[k], true);
		known += p != NONE;
	}
	for (uint32_t i = 0; i < d->n_culprit && i < CULPRITS_JOINED; i++) {
		struct rank_culprit *c = &d->culprit[i];
		c->process = process_of(all, all->flight[c->flight].rank);
		if (c->process != NONE && known)
			c->event = own_event(&all->process[c->process], &peers);
	}
}

void ranks_find_desyncs(struct ranks *all)
{
	struct finder x = {.all = all};
	drop_doubles(all);
	for (uint32_t i = 0; i < all->n_flight; i++)
		take_flight(&x, i);
	for (uint32_t i = 0; i < x.n_group; i++)
		find_in_group(all, &x.group[i]);
	drop_unfinished(all);
	find_causes(all);
	for (uint32_t i = 0; i < all->n_desync; i++)
		if (all->desync[i].cause == NONE)
			join_causes(all, &all->desync[i]);
	for (uint32_t i = 0; i < x.n_group; i++) {
		for (uint32_t k = 0; k < x.group[i].n_member; k++)
			free(x.group[i].member[k].call);
		free(x.group[i].member);
	}
	free(x.group);
	intern_release(&x.keys);
}

/* ---- in words ---- */

static void put_op(struct buf *b, const struct flight *f, const struct flight_op *op)
{
	put_flat(b, flight_operator(f, op), 60);
	if (op->bytes != UINT64_MAX) {
		buf_adds(b, ", ");
		put_bytes(b, op->bytes);
	}
}

static void put_event(struct buf *b, const struct ranks *all, const struct rank_process *f, const struct rank_event *e)
{
	static const char *const verb[RANK_EVENT_COUNT] = {
	    [RANK_START] = "compiled", [RANK_BREAK] = "broke the graph of", [RANK_RECOMPILE] = "recompiled", [RANK_FAILURE] = "failed in"};
	const uint32_t why = e->guard != NONE ? e->guard : e->text;
	buf_addf(b, " %s %.*s", verb[e->kind], SL(intern_get(&all->names, f->compile[e->compile].id)));
	if (why != NONE) {
		buf_adds(b, e->kind == RANK_FAILURE || e->kind == RANK_BREAK ? ": " : e->kind == RANK_START ? ", " : " because ");
		put_flat(b, intern_get(&all->names, why), 300);
	}
	buf_adds(b, e->kind == RANK_FAILURE || e->kind == RANK_BREAK ? ";" : " and");
}

void rank_desync_text(struct buf *b, const struct ranks *all, const struct rank_desync *d, uint32_t culprit)
{
	const struct flight *f = &all->flight[d->flight];
	const struct flight_op *op = &f->op[d->op];
	if (culprit == NONE) {
		buf_addf(b, "collective %" PRIu64 " (", d->seq);
		put_op(b, f, op);
		buf_adds(b, d->kind == DESYNC_NO_DUMP ? ") did not finish: members of its group have no dump"
						      : ") did not finish: all members with a dump entered it alike");
		return;
	}
	const struct rank_culprit *c = &d->culprit[culprit];
	buf_addf(b, "rank %" PRId64, all->flight[c->flight].rank);
	if (c->event != NONE)
		put_event(b, all, &all->process[c->process], &all->process[c->process].event[c->event]);
	if (c->op == NONE) {
		buf_addf(b, " missed collective %" PRIu64 " (", d->seq);
		put_op(b, f, op);
	} else {
		const struct flight *own = &all->flight[c->flight];
		buf_adds(b, " entered ");
		put_op(b, own, &own->op[c->op]);
		buf_addc(b, ' ');
		put_flat(b, flight_text(own, own->op[c->op].sizes), 100);
		buf_addf(b, " while the others are in collective %" PRIu64 " (", d->seq);
		put_op(b, f, op);
		buf_addc(b, ' ');
		put_flat(b, flight_text(f, op->sizes), 100);
	}
	buf_addc(b, ')');
}

/* ---- JSON ---- */

static void put_call(struct json_out *o, const struct flight *f, uint32_t row)
{
	const struct flight_op *op = &f->op[row];
	json_member_str(o, "operator", flight_operator(f, op));
	json_member_str(o, "sizes", flight_text(f, op->sizes));
	json_member_str(o, "dtypes", flight_text(f, op->dtypes));
	json_member_count(o, "bytes", op->bytes > INT64_MAX ? -1 : (int64_t)op->bytes);
	json_member_name(o, "place", &f->names, op->place);
}

static void put_culprit(struct json_out *o, const struct ranks *all, const struct rank_desync *d, uint32_t i)
{
	const struct rank_culprit *c = &d->culprit[i];
	const struct rank_process *f = c->event == NONE ? NULL : &all->process[c->process];
	const struct rank_event *e = f ? &f->event[c->event] : NULL;
	LOCAL_BUF b = {0};
	rank_desync_text(&b, all, d, i);
	json_obj(o);
	json_member_i64(o, "rank", all->flight[c->flight].rank);
	json_member_str(o, "text", buf_slice(&b));
	json_member(o, "event", e ? slice_str(rank_event_name[e->kind]) : slice_of(NULL, 0));
	json_member_name(o, "compile", &all->names, e ? f->compile[e->compile].id : NONE);
	json_member_name(o, "guard", &all->names, e ? e->guard : NONE);
	json_key(o, "asked_for");
	if (c->op == NONE) {
		json_out_null(o);
	} else {
		json_obj(o);
		put_call(o, &all->flight[c->flight], c->op);
		json_close(o);
	}
	json_close(o);
}

void ranks_desync_json(struct json_out *o, const struct ranks *all)
{
	static const char *const kind[DESYNC_KINDS] = {"missed", "operator", "sizes", "no_dump", "no_end"};
	json_member_obj(o, "collectives");
	json_member_u64(o, "dumps", all->n_flight);
	json_member_u64(o, "left_out", all->desyncs_left_out);
	json_rows(o, "desyncs", i, all->n_desync) {
		const struct rank_desync *d = &all->desync[i];
		const struct flight *f = &all->flight[d->flight];
		const struct flight_group *g = &f->group[f->op[d->op].group];
		json_member_str(o, "kind", slice_str(kind[d->kind]));
		json_member_str(o, "group", flight_text(f, g->name));
		json_member_str(o, "description", flight_text(f, g->desc));
		json_member_u64(o, "collective", d->seq);
		put_call(o, f, d->op);
		json_member_index(o, "cause", d->cause);
		json_member_arr(o, "culprits");
		for (uint32_t k = 0; k < d->n_culprit; k++)
			put_culprit(o, all, d, k);
		json_close(o);
		json_member_arr(o, "waiting");
		for (uint32_t k = 0; k < d->n_waiter; k++)
			json_out_i64(o, all->flight[d->waiter[k]].rank);
		json_close(o);
		json_member_i64s(o, "no_dump", d->absent, d->n_absent);
	}
	json_close(o);
}
