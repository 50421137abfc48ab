/* rankcmp.c - all processes together: names, groups, and where they diverge. */
#include "run/ranks/ranks.h"
#include "base/text.h"

uint32_t rank_graph_by_fp(const struct ranks *all, uint64_t fp)
{
	return intern_find(&all->graphs, slice_of((const char *)&fp, sizeof(fp)));
}

uint32_t rank_graph_of(const struct ranks *all, const struct rank_process *f, uint32_t compile, uint64_t *fp)
{
	uint32_t found = NONE;
	*fp = 0;
	for (uint32_t i = 0; i < f->n_event; i++) {
		const struct rank_event *e = &f->event[i];
		if (e->compile != compile || (e->kind != RANK_GRAPH && e->kind != RANK_MADE))
			continue;
		if (!*fp || e->kind == RANK_GRAPH) {
			*fp = e->fp;
			found = rank_graph_by_fp(all, e->fp);
		}
		if (e->kind == RANK_GRAPH)
			break;
	}
	return found;
}

/* ---- items ---- */

static uint64_t text_fp(struct slice s) { return hash_bytes(s.p, s.n); }
static uint64_t name_fp(const struct ranks *all, uint32_t name) { return text_fp(rank_text(all, name)); }

static void add_item(struct rank_items *out, uint64_t fp, uint32_t compile, struct slice text, unsigned kind)
{
	PUSH(out, item) = (struct rank_item){fp, 0, compile, text, (uint8_t)kind};
}

static int by_dir(const void *a, const void *b)
{
	const struct rank_list *x = a, *y = b;
	const int r = slice_cmp(x->dir, y->dir);
	return r ? r : (x->row->src.artifact > y->row->src.artifact) - (x->row->src.artifact < y->row->src.artifact);
}

struct rank_list *rank_lists_of(const struct ranks *all, const struct rank_process *f, enum fact_list_kind kind, uint32_t *n)
{
	struct rank_list *out = xcalloc(f->n_list + 1u, sizeof(*out));
	*n = 0;
	for (uint32_t i = 0; i < f->n_list; i++)
		if (f->list[i].kind == kind)
			out[(*n)++] = (struct rank_list){rank_text(all, f->compile[f->list[i].compile].dir), &f->list[i]};
	qsort(out, *n, sizeof(*out), by_dir);
	return out;
}

bool rank_next_op(struct slice *lines, enum fact_list_kind kind, struct rank_op *op)
{
	struct slice line;
	if (!slice_line(lines, &line))
		return false;
	*op = (struct rank_op){line, SLICE("")};
	if (kind == LIST_ESTIMATES) {
		op->ns = slice_until(line, " ");
		op->name = slice_behind(line, " ");
		if (!op->name.p)
			op->name = line;
	}
	return true;
}

double rank_number(struct slice text)
{
	char tmp[64];
	snprintf(tmp, sizeof(tmp), "%.*s", SL(text));
	return strtod(tmp, NULL);
}

static int by_fp(const void *a, const void *b)
{
	const struct rank_item *x = a, *y = b;
	return x->fp != y->fp ? (x->fp > y->fp) - (x->fp < y->fp) : (x->compile > y->compile) - (x->compile < y->compile);
}

void rank_items_of(const struct ranks *all, const struct rank_process *f, enum rank_check check, struct rank_items *out)
{
	out->n_item = 0;
	switch (check) {
	case RANK_CHECK_IDS:
		for (uint32_t i = 0; i < f->n_compile; i++)
			if (!f->compile[i].unknown)
				add_item(out, name_fp(all, f->compile[i].id), i, rank_text(all, f->compile[i].id), RANK_EVENT_COUNT);
		if (out->n_item)
			qsort(out->item, out->n_item, sizeof(*out->item), by_fp);
		return;
	case RANK_CHECK_CAPTURE:
	case RANK_CHECK_CACHE:
	case RANK_CHECK_MADE:
		for (uint32_t i = 0; i < f->n_event; i++) {
			const struct rank_event *e = &f->event[i];
			enum rank_check c = e->kind == RANK_CACHE  ? RANK_CHECK_CACHE
					    : e->kind == RANK_MADE ? RANK_CHECK_MADE
								   : RANK_CHECK_CAPTURE;
			if (c != check)
				continue;
			uint64_t fp = rank_mix(e->fp, e->kind * 8u + e->cache);
			if (c != RANK_CHECK_CACHE)
				fp = rank_mix(fp, name_fp(all, f->compile[e->compile].id));
			add_item(out, fp, e->compile, rank_text(all, e->text), e->kind);
			if (e->kind == RANK_GRAPH || e->kind == RANK_MADE)
				out->item[out->n_item - 1].graph = e->fp;
		}
		return;
	case RANK_CHECK_COLLECT:
		for (uint32_t i = 0; i < f->n_list; i++) {
			struct slice lines = rank_text(all, f->list[i].lines);
			struct rank_op op;
			while (f->list[i].kind == LIST_SCHEDULE && rank_next_op(&lines, LIST_SCHEDULE, &op))
				add_item(out, text_fp(op.name), f->list[i].compile, op.name, RANK_EVENT_COUNT);
		}
		return;
	case RANK_CHECK_TENSORS: {
		uint32_t n;
		struct rank_list *list = rank_lists_of(all, f, LIST_TENSORS, &n);
		for (uint32_t i = 0; i < n; i++) {
			struct slice lines = rank_text(all, list[i].row->lines);
			add_item(out, rank_mix(text_fp(lines), text_fp(list[i].dir)), list[i].row->compile, lines, RANK_EVENT_COUNT);
		}
		free(list);
		return;
	}
	case RANK_CHECK_ORDER:
		for (uint32_t i = 0; i < f->n_order; i++) {
			uint32_t compile = NONE;
			for (uint32_t k = 0; k < f->n_compile && compile == NONE; k++)
				if (f->compile[k].id == f->order[i])
					compile = k;
			/* The same id for another function is a different graph. */
			uint64_t fp = name_fp(all, f->order[i]);
			if (compile != NONE)
				fp = rank_mix(fp, name_fp(all, f->compile[compile].loc));
			add_item(out, fp, compile, rank_text(all, f->order[i]), RANK_EVENT_COUNT);
		}
		return;
	case RANK_CHECK_VERSION:
		if (f->torch_version != NONE)
			add_item(out, name_fp(all, f->torch_version), NONE, rank_text(all, f->torch_version), RANK_EVENT_COUNT);
		return;
	case RANK_CHECK_COUNT: return;
	}
}

/* ---- names ---- */

static int by_rank(const void *a, const void *b)
{
	const struct rank_process *x = a, *y = b;
	if ((x->rank < 0) != (y->rank < 0))
		return x->rank < 0 ? 1 : -1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->rank < 0 && x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	int r = strcmp(path_base(x->path), path_base(y->path));
	return r ? r : strcmp(x->path, y->path);
}

static void name_processes(struct ranks *all)
{
	int64_t top = -1;
	if (all->n_process)
		qsort(all->process, all->n_process, sizeof(*all->process), by_rank);
	for (uint32_t i = 0; i < all->n_process; i++)
		if (all->process[i].rank > top)
			top = all->process[i].rank;
	/* Numbers in timelines for processes without a rank, or with one already used: above all ranks. */
	uint64_t next = ((uint64_t)(top + 1) + 999) / 1000 * 1000 + 1000;
	for (uint32_t i = 0; i < all->n_process; i++) {
		struct rank_process *f = &all->process[i], *before = i ? f - 1 : NULL;
		bool same = before && before->rank == f->rank && (f->rank >= 0 || before->pid == f->pid);
		f->nth = same ? before->nth + 1 : 1;
		f->process = f->rank >= 0 && !same ? (uint64_t)f->rank : next++;
		const char *what = f->rank >= 0 ? "rank" : "proc";
		unsigned long long n = f->rank >= 0 ? (unsigned long long)f->rank : (unsigned long long)f->pid;
		f->name = same ? xasprintf("%s_%llu_%u", what, n, f->nth) : xasprintf("%s_%llu", what, n);
		for (uint32_t k = 0; k < f->n_compile; k++)
			if (f->compile[k].us > 0)
				f->us += f->compile[k].us;
		for (uint32_t k = 0; k < f->n_span; k++)
			if (f->span[k].kind == SPAN_BACKWARD)
				f->us += rank_us(f->span[k].end) - rank_us(f->span[k].start);
	}
	/* Expected ranks: all below the highest one in logs read or lost. */
	for (uint32_t i = 0; i < all->n_lost; i++)
		if (all->lost[i].rank > top)
			top = all->lost[i].rank;
	int64_t want = 0;
	for (uint32_t i = 0; i < all->n_process && all->process[i].rank >= 0; i++) {
		int64_t r = all->process[i].rank;
		for (; want < r && all->absents < 1000; want++) {
			PUSH(all, absent) = want;
			all->absents++;
		}
		if (want < r)
			all->absents += (uint64_t)(r - want);
		want = r + 1;
	}
}

/* ---- groups ---- */

static int by_size(const void *a, const void *b)
{
	const struct rank_group *x = a, *y = b;
	if (x->n_member != y->n_member)
		return x->n_member > y->n_member ? -1 : 1;
	return x->member[0] < y->member[0] ? -1 : 1;
}

/* Is process p worth comparing here? The backend's output differs anyway if its input was different. */
static bool takes_part(const struct ranks *all, enum rank_check check, const uint64_t *const *sig, uint32_t p)
{
	if (check != RANK_CHECK_MADE)
		return true;
	const struct rank_verdict *a = &all->check[RANK_CHECK_CAPTURE], *b = &all->check[RANK_CHECK_CACHE];
	return sig[RANK_CHECK_CAPTURE][p] == sig[RANK_CHECK_CAPTURE][a->ref] && sig[RANK_CHECK_CACHE][p] == sig[RANK_CHECK_CACHE][b->ref];
}

static void group_processes(struct ranks *all, enum rank_check check, const uint64_t *const *sig)
{
	struct rank_verdict *v = &all->check[check];
	OWNED(intern_release) struct intern seen = {0};
	for (uint32_t p = 0; p < all->n_process; p++) {
		if (!takes_part(all, check, sig, p))
			continue;
		uint32_t k = intern_add(&seen, slice_of((const char *)&sig[check][p], sizeof(**sig)));
		if (k == v->n_group)
			PUSH(v, group) = (struct rank_group){.signature = sig[check][p]};
		PUSH(&v->group[k], member) = p;
	}
	if (v->n_group)
		qsort(v->group, v->n_group, sizeof(*v->group), by_size);
	v->agree = v->n_group < 2;
	v->ref = v->n_group ? v->group[0].member[0] : 0;
}

struct split_key {
	uint64_t at, fp, ends;
};

static void split_check(struct ranks *all, enum rank_check check)
{
	struct rank_verdict *v = &all->check[check];
	struct rank_items ref = {0}, own = {0};
	OWNED(intern_release) struct intern seen = {0};
	v->first_split = all->n_split;
	if (!v->agree)
		rank_items_of(all, &all->process[v->ref], check, &ref);
	for (uint32_t g = 1; g < v->n_group; g++) {
		uint32_t at = 0;
		rank_items_of(all, &all->process[v->group[g].member[0]], check, &own);
		while (at < ref.n_item && at < own.n_item && ref.item[at].fp == own.item[at].fp)
			at++;
		bool ends = at >= own.n_item, ref_ends = at >= ref.n_item;
		struct split_key key = {at, ends ? 0 : own.item[at].fp, ends};
		uint32_t k = v->first_split + intern_add(&seen, slice_of((const char *)&key, sizeof(key)));
		if (k == all->n_split) {
			const struct rank_item none = {0, 0, NONE, {"", 0}, RANK_EVENT_COUNT};
			PUSH(all, split) = (struct rank_split){
			    .check = check,
			    .ref = v->ref,
			    .at = at,
			    .ref_items = ref.n_item,
			    .items = own.n_item,
			    .ref_ends = ref_ends,
			    .ends = ends,
			    .theirs = ref_ends ? none : ref.item[at],
			    .own = ends ? none : own.item[at],
			};
		}
		struct rank_split *s = &all->split[k];
		for (uint32_t i = 0; i < v->group[g].n_member; i++)
			PUSH(s, member) = v->group[g].member[i];
	}
	v->splits = all->n_split - v->first_split;
	free(ref.item);
	free(own.item);
}

/* ---- why a cache was missed ---- */

/* The lookups of one compilation, by its id: the caller frees the rows. */
static struct lookup *lookups_of(const struct ranks *all, const struct rank_process *f, uint32_t id, uint32_t *n)
{
	struct lookup *out = xcalloc(f->n_lookup + 1u, sizeof(*out));
	*n = 0;
	for (uint32_t i = 0; i < f->n_lookup; i++)
		if (f->lookup[i].compile != NONE && f->compile[f->lookup[i].compile].id == id)
			out[(*n)++] = lookup_of(&all->names, &f->lookup[i]);
	return out;
}

static void add_key_change(void *ctx, enum fact_cache_kind kind, const struct key_change *change)
{
	struct rank_split *s = ctx;
	PUSH(s, key) = (struct rank_key_change){kind, *change};
}

/* The process that missed is described relative to the one that hit, whichever is the reference. */
static void why_missed(struct ranks *all, struct rank_split *s)
{
	const struct rank_process *ref = &all->process[s->ref], *own = &all->process[s->member[0]];
	const struct rank_item *it = s->own.compile != NONE ? &s->own : &s->theirs;
	const struct rank_process *of = it == &s->own ? own : ref;
	uint32_t n[2];
	if (it->compile == NONE)
		return;
	uint32_t id = of->compile[it->compile].id;
	struct lookup *a = lookups_of(all, ref, id, &n[0]), *b = lookups_of(all, own, id, &n[1]);
	lookups_compare(a, n[0], b, n[1], &all->keys, add_key_change, s);
	s->swapped = !s->n_key;
	if (s->swapped)
		lookups_compare(b, n[1], a, n[0], &all->keys, add_key_change, s);
	free(a);
	free(b);
}

static int by_index(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

void ranks_finish(struct ranks *all)
{
	uint64_t *sig[RANK_CHECK_COUNT];
	struct rank_items items = {0};
	name_processes(all);
	for (uint32_t p = 0; p < all->n_process; p++) {
		const struct rank_process *f = &all->process[p];
		if (!p || f->start < all->start)
			all->start = f->start;
		if (!p || f->start + f->end > all->end)
			all->end = f->start + f->end;
	}
	for (unsigned c = 0; c < RANK_CHECK_COUNT; c++) {
		sig[c] = xcalloc(all->n_process + 1u, sizeof(**sig));
		for (uint32_t p = 0; p < all->n_process; p++) {
			uint64_t h = 0;
			rank_items_of(all, &all->process[p], c, &items);
			for (uint32_t i = 0; i < items.n_item; i++)
				h = rank_mix(h, items.item[i].fp);
			sig[c][p] = h;
			all->check[c].recorded |= items.n_item > 0;
		}
	}
	free(items.item);
	for (unsigned c = 0; c < RANK_CHECK_COUNT; c++) {
		group_processes(all, c, (const uint64_t *const *)sig);
		split_check(all, c);
	}
	for (uint32_t i = 0; i < all->n_split; i++)
		qsort(all->split[i].member, all->split[i].n_member, sizeof(uint32_t), by_index);
	for (uint32_t i = 0; i < all->n_split; i++)
		if (all->split[i].check == RANK_CHECK_CACHE)
			why_missed(all, &all->split[i]);
	for (unsigned c = 0; c < RANK_CHECK_COUNT; c++)
		free(sig[c]);
	ranks_find_desyncs(all);
}
