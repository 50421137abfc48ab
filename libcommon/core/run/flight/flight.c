#include "run/flight/flight.h"
#include "base/json.h"
#include "base/srcloc.h"
#include "base/text.h"
#include "base/io/mapfile.h"
#include "base/io/window.h"
#include "tensor/pickle.h"

static const char *const flight_state_name[FLIGHT_STATES] = {"scheduled", "started", "completed"};

/* ---- a value of either form ---- */

/* The same calls read a pickle and JSON: both have the same structure. */
struct source {
	struct pickle *p; /* NULL: JSON */
	struct json_tape tape;
	struct buf tmp;
	struct arena texts; /* unescaped */
};

static uint32_t flight_member(const struct source *s, uint32_t k, const char *key)
{
	return k == NONE ? NONE : s->p ? pickle_member(s->p, k, key) : json_get(&s->tape, k, key);
}

static bool is_list(const struct source *s, uint32_t k)
{
	if (k == NONE || !s->p)
		return json_is(&s->tape, k, JSON_ARRAY);
	return s->p->node[k].kind == PICKLE_LIST || s->p->node[k].kind == PICKLE_TUPLE;
}

static bool is_dict(const struct source *s, uint32_t k)
{
	return k != NONE && (s->p ? s->p->node[k].kind == PICKLE_DICT : json_is(&s->tape, k, JSON_OBJECT));
}

/* Items of a list; keys and values of a dict alternate. */
struct walk {
	uint32_t container, at;
};

static bool next_item(const struct source *s, struct walk *w, uint32_t *item)
{
	if (s->p) {
		const struct pickle_node *n = &s->p->node[w->container];
		if (w->at >= n->n)
			return false;
		*item = n->item[w->at++];
		return true;
	}
	w->at = w->at ? w->at : json_first(&s->tape, w->container);
	if (w->at >= json_end(&s->tape, w->container))
		return false;
	*item = w->at;
	w->at = json_next(&s->tape, w->at);
	return true;
}

static struct slice value_text(struct source *s, uint32_t k)
{
	if (k == NONE || (s->p ? s->p->node[k].kind != PICKLE_STR : !json_is(&s->tape, k, JSON_STRING)))
		return slice_of("", 0);
	return s->p ? pickle_text(&s->p->node[k]) : json_dup_at(&s->tape, k, &s->texts);
}

static int64_t int_of(struct source *s, uint32_t k, int64_t none)
{
	int64_t v;
	uint64_t u;
	if (k == NONE)
		return none;
	if (s->p && s->p->node[k].kind == PICKLE_INT)
		return s->p->node[k].i;
	if (!s->p && json_i64(&s->tape, k, &v))
		return v;
	return slice_u64(value_text(s, k), &u) && u <= INT64_MAX ? (int64_t)u : none; /* pg_status of JSON has texts */
}

static bool flag_of(const struct source *s, uint32_t k)
{
	return k != NONE && (s->p ? s->p->node[k].kind == PICKLE_BOOL && s->p->node[k].i : json_is(&s->tape, k, JSON_TRUE));
}

/* ---- groups ---- */

static int by_rank(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* "[0, 1, 2]" */
static void take_members(struct flight *f, struct flight_group *g, struct slice text)
{
	g->first = f->n_member;
	for (size_t i = 0; i < text.n;) {
		uint64_t rank;
		size_t n = 0;
		while (i + n < text.n && is_digit(text.p[i + n]))
			n++;
		if (n && slice_u64(slice_of(text.p + i, n), &rank) && rank < FLIGHT_RANK_MAX)
			PUSH_TO(f->member, f->n_member, f->cap_member) = (uint32_t)rank;
		i += n + !n;
	}
	g->n_ranks = f->n_member - g->first;
	if (g->n_ranks)
		qsort(f->member + g->first, g->n_ranks, sizeof(*f->member), by_rank);
}

static void take_groups(struct flight *f, struct source *s, uint32_t config)
{
	struct walk w = {config, 0};
	uint32_t key, value;
	while (is_dict(s, config) && next_item(s, &w, &key) && next_item(s, &w, &value)) {
		struct slice name = value_text(s, key), ranks = value_text(s, flight_member(s, value, "ranks"));
		if (!name.n || !ranks.n)
			continue;
		struct flight_group g = {intern_add(&f->names, name), intern_add(&f->names, value_text(s, flight_member(s, value, "desc"))),
					 intern_add(&f->names, ranks), 0, 0};
		take_members(f, &g, ranks);
		PUSH_TO(f->group, f->n_group, f->cap_group) = g;
	}
}

static uint32_t group_of(struct flight *f, struct slice name, struct slice desc)
{
	const uint32_t n = intern_add(&f->names, name);
	for (uint32_t i = 0; i < f->n_group; i++)
		if (f->group[i].name == n)
			return i;
	GROW(f->group, f->n_group, f->cap_group, 1);
	f->group[f->n_group] = (struct flight_group){n, intern_add(&f->names, desc), NONE, 0, 0};
	return f->n_group++;
}

/* ---- entries ---- */

/* "[1024, 16], [3]" of a list of sizes; and bytes, if the dtypes are known. */
static void put_sizes(struct source *s, struct buf *b, uint32_t sizes, uint32_t dtypes, uint64_t *bytes)
{
	struct walk w = {sizes, 0}, d = {dtypes, 0};
	uint32_t size, item, dtype;
	*bytes = 0;
	for (bool first = true; is_list(s, sizes) && next_item(s, &w, &size); first = false) {
		struct walk dims = {size, 0};
		uint64_t numel = 1;
		buf_adds(b, first ? "[" : ", [");
		for (bool one = true; is_list(s, size) && next_item(s, &dims, &item); one = false) {
			const int64_t dim = int_of(s, item, 0);
			buf_addf(b, one ? "%lld" : ", %lld", (long long)dim);
			if (dim < 0 || __builtin_mul_overflow(numel, (uint64_t)dim, &numel))
				numel = UINT64_MAX;
		}
		buf_addc(b, ']');
		char storage[64];
		struct slice name = is_list(s, dtypes) && next_item(s, &d, &dtype) ? value_text(s, dtype) : slice_of("", 0);
		snprintf(storage, sizeof(storage), "%.*sStorage",
			 SLN(name, 40)); /* c10's name of a dtype is the name of torch's storage for it */
		const struct dtype_info *info = dtype_info(dtype_by_storage(slice_str(storage)));
		if (!info || __builtin_mul_overflow(numel, (uint64_t)info->bytes, &numel) || __builtin_add_overflow(*bytes, numel, bytes))
			*bytes = UINT64_MAX;
	}
}

static void put_texts(struct source *s, struct buf *b, uint32_t list)
{
	struct walk w = {list, 0};
	uint32_t item;
	for (bool first = true; is_list(s, list) && next_item(s, &w, &item); first = false) {
		buf_adds(b, first ? "" : ", ");
		buf_add_slice(b, value_text(s, item));
	}
}

/* The innermost user frame; else one in code generated by Inductor. */
static uint32_t innermost_frame(struct flight *f, struct source *s, uint32_t frames)
{
	struct walk w = {frames, 0};
	uint32_t item;
	struct buf *b = &s->tmp;
	buf_reset(b);
	while (is_list(s, frames) && next_item(s, &w, &item)) {
		struct slice file = value_text(s, flight_member(s, item, "filename"));
		const enum srcloc_origin origin = srcloc_origin(file);
		if (!file.n || (origin != SRCLOC_USER && origin != SRCLOC_PACKAGE && origin != SRCLOC_GENERATED) ||
		    (origin == SRCLOC_GENERATED && b->len))
			continue;
		buf_reset(b);
		put_flat(b, srcloc_short_file(file), 300);
		buf_addf(b, ":%lld in ", (long long)int_of(s, flight_member(s, item, "line"), 0));
		put_flat(b, value_text(s, flight_member(s, item, "name")), 100);
		if (origin != SRCLOC_GENERATED)
			break;
	}
	return b->len ? intern_add(&f->names, buf_slice(b)) : NONE;
}

/* Operators whose members may legitimately differ (torch/distributed/flight_recorder/components/types.py, Op.match). */
static bool uneven(struct slice name, bool inputs)
{
	return slice_find(name, "all_to_all") || slice_find(name, "alltoall") || slice_ends(name, "_v") ||
	       (inputs ? slice_is(name, "scatter") : slice_is(name, "gather"));
}

static uint64_t plus(uint64_t h, struct slice s)
{
	const uint64_t both[2] = {h, hash_bytes(s.p, s.n)};
	return hash_bytes(both, sizeof(both));
}

struct slice flight_operator(const struct flight *f, const struct flight_op *op)
{
	struct slice name = flight_text(f, op->name);
	const char *colon = slice_chr(name, ':');
	return colon ? slice_of(colon + 1, (size_t)(name.p + name.n - colon - 1)) : name;
}

static bool take_op(struct flight *f, struct source *s, uint32_t e)
{
	struct walk w = {flight_member(s, e, "process_group"), 0};
	uint32_t name = NONE, desc = NONE;
	struct slice called = value_text(s, flight_member(s, e, "profiling_name"));
	if (!called.n || !is_list(s, w.container) || !next_item(s, &w, &name) || !next_item(s, &w, &desc))
		return false;
	struct flight_op op = {.p2p = flag_of(s, flight_member(s, e, "is_p2p"))};
	op.seq = (uint64_t)int_of(s, flight_member(s, e, op.p2p ? "p2p_seq_id" : "collective_seq_id"), 0);
	op.created = int_of(s, flight_member(s, e, "time_created_ns"), 0);
	op.group = group_of(f, value_text(s, name), value_text(s, desc));
	op.name = intern_add(&f->names, called);
	const uint32_t sizes[2] = {flight_member(s, e, "input_sizes"), flight_member(s, e, "output_sizes")};
	const uint32_t dtypes[2] = {flight_member(s, e, "input_dtypes"), flight_member(s, e, "output_dtypes")};
	struct buf of[4] = {{0}}; /* sizes, dtypes; in, out */
	called = flight_operator(f, &op);
	uint64_t out_bytes;
	for (unsigned i = 0; i < 2; i++) {
		put_sizes(s, &of[i], sizes[i], dtypes[i], i ? &out_bytes : &op.bytes);
		put_texts(s, &of[2 + i], dtypes[i]);
		if (!uneven(called, !i))
			op.fp = plus(op.fp, buf_slice(&of[i]));
		if (!slice_is(called, i ? "gather" : "scatter") && !slice_is(called, "broadcast"))
			op.fp = plus(op.fp, buf_slice(&of[2 + i]));
	}
	op.fp = plus(op.fp, called);
	for (unsigned i = 0; i < 4; i += 2)
		if (!slice_eq(buf_slice(&of[i]), buf_slice(&of[i + 1]))) {
			buf_adds(&of[i], " -> ");
			buf_add_slice(&of[i], buf_slice(&of[i + 1]));
		}
	op.sizes = intern_add(&f->names, buf_slice(&of[0]));
	op.dtypes = intern_add(&f->names, buf_slice(&of[2]));
	for (unsigned i = 0; i < 4; i++)
		buf_release(&of[i]);
	op.place = innermost_frame(f, s, flight_member(s, e, "frames"));
	struct slice state = value_text(s, flight_member(s, e, "state"));
	for (unsigned i = 0; i < FLIGHT_STATES; i++)
		if (slice_is(state, flight_state_name[i]))
			op.state = (uint8_t)i;
	f->wrapped |= !f->n_op && int_of(s, flight_member(s, e, "record_id"), 0) > 0;
	PUSH_TO(f->op, f->n_op, f->cap_op) = op;
	return true;
}

/* An operator is complete if pg_status says so, whatever its entry's state. */
static void take_done(struct flight *f, struct source *s, uint32_t status, uint32_t e)
{
	char pg[24];
	struct flight_op *op = &f->op[f->n_op - 1];
	snprintf(pg, sizeof(pg), "%lld", (long long)int_of(s, flight_member(s, e, "pg_id"), -1));
	if (!op->p2p && is_dict(s, status) &&
	    (int64_t)op->seq <= int_of(s, flight_member(s, flight_member(s, status, pg), "last_completed_collective"), -1))
		op->state = FLIGHT_COMPLETED;
}

static int take_all(struct flight *f, struct source *s, uint32_t top, struct err *err)
{
	const uint32_t entries = flight_member(s, top, "entries"), status = flight_member(s, top, "pg_status"),
		       config = flight_member(s, top, "pg_config");
	if (!is_dict(s, top) || (!is_dict(s, config) && !is_list(s, entries)))
		return err_set(err, EXIT_INPUT, "'%s': not a Flight Recorder dump: it has no pg_config and no entries", f->path);
	struct slice version = value_text(s, flight_member(s, top, "version"));
	f->version = version.n ? intern_add(&f->names, version) : NONE;
	take_groups(f, s, config);
	struct walk w = {entries, 0};
	uint32_t e;
	while (is_list(s, entries) && next_item(s, &w, &e))
		if (f->n_op >= FLIGHT_OPS || !is_dict(s, e) || !take_op(f, s, e))
			f->left_out++;
		else
			take_done(f, s, status, e);
	return 0;
}

/* ---- the file ---- */

int64_t flight_rank_of(const char *path)
{
	const char *base = path_base(path), *dot = strchr(base, '.');
	const size_t end = dot ? (size_t)(dot - base) : strlen(base);
	size_t n = 0;
	uint64_t rank;
	while (n < end && is_digit(base[end - n - 1]))
		n++;
	return n && slice_u64(slice_of(base + end - n, n), &rank) && rank < FLIGHT_RANK_MAX ? (int64_t)rank : -1;
}

static bool is_pickle(struct slice s) { return s.n > 2 && s.p[0] == '\x80' && s.p[1] >= 2 && s.p[1] <= 5; }

bool flight_is_there(const char *path)
{
	char head[4096];
	struct slice s = strcmp(path, "-") ? slice_of(head, input_head(path, head, sizeof(head))) : slice_of(NULL, 0);
	if (is_pickle(s))
		return flight_rank_of(path) >= 0;
	return slice_starts(s, "{") && (slice_find(s, "\"collective_seq_id\"") || slice_find(s, "\"pg_config\""));
}

int flight_read(struct flight *f, struct slice bytes, const char *path, struct err *err)
{
	struct pickle p;
	struct source s = {0};
	uint32_t top = NONE;
	*f = (struct flight){.rank = flight_rank_of(path), .path = xstrdup(path), .version = NONE};
	int r = is_pickle(bytes) ? pickle_read(&p, bytes, path, err) : 0;
	if (is_pickle(bytes)) {
		s.p = &p;
		top = r < 0 ? NONE : p.top;
	} else if (bytes.n > PICKLE_MAX) {
		r = err_set(err, EXIT_INPUT, "'%s': larger than 64 MiB: not read", path);
	} else {
		json_tape_text(&s.tape, bytes.p, bytes.n);
		if (json_parse(&s.tape, 0, bytes.n, &top) < 0)
			r = err_set(err, EXIT_INPUT, "'%s': at byte %zu: %s", path, s.tape.error_at, s.tape.error);
	}
	if (!r && (r = take_all(f, &s, top, err)) == 0 && f->rank < 0)
		r = err_set(err, EXIT_INPUT, "'%s': a dump does not record its rank: the file name must end in the rank", path);
	if (s.p && top != NONE)
		pickle_release(&p);
	json_tape_release(&s.tape);
	buf_release(&s.tmp);
	arena_release(&s.texts);
	if (r < 0)
		flight_release(f);
	return r;
}

int flight_load(struct flight *f, const char *path, struct err *err)
{
	struct mapfile m;
	*f = (struct flight){0};
	if (mapfile_open(&m, path, err) < 0) {
		f->unread = true;
		return -1;
	}
	const int r = flight_read(f, m.bytes, path, err);
	mapfile_close(&m);
	return r;
}

void flight_release(struct flight *f)
{
	free(f->path);
	free(f->group);
	free(f->op);
	free(f->member);
	intern_release(&f->names);
	*f = (struct flight){0};
}
