/* baseline.c - --baseline OLD.json: what got worse since an earlier --json document.
 *
 * Findings are matched by fingerprint (emit.h), so lines may move. Times and cache results depend on the machine and on what ran
 * before, so findings of those kinds are not compared; use --max compile-seconds=N for them.
 */
#include "explain/emit.h"

#include "run/document.h"
#include "base/tool/diag.h"
#include "base/io/mapfile.h"

/* Summary counts where more is worse. */
#define COUNTS(X) \
	X("graph_breaks", "graph breaks", x->sum.graph_breaks - x->ignored_breaks) \
	X("inferred_graph_breaks", "graph breaks without a record", x->sum.inferred_graph_breaks - x->ignored_inferred) \
	X("recompiles", "recompiles", x->sum.recompiles - x->ignored_recompiles) \
	X("recompile_limits", "recompile limits reached", x->sum.recompile_limits - x->ignored_limits) \
	X("failures", "failures", x->sum.failures) \
	X("restarts", "restarts", x->sum.restarts) \
	X("cudagraph_skips", "CUDA graph skips", x->sum.cudagraph_skips) \
	X("specializations", "specializations", x->sum.specializations)

/* What both documents have for one fingerprint. */
struct sort_of_finding {
	uint64_t old_n, old_count, new_n, new_count;
	struct slice old_title;
	uint32_t first; /* new finding */
};

struct baseline {
	struct json_tape tape;
	uint32_t root;
	struct intern id;
	struct sort_of_finding *f;
	uint32_t n, cap;
	struct arena arena;
};

static struct sort_of_finding *sort_of(struct baseline *old, struct slice id)
{
	uint32_t row = intern_add(&old->id, id);
	GROW(old->f, old->n, old->cap, 1);
	if (row == old->n)
		old->f[old->n++] = (struct sort_of_finding){.first = NONE};
	return &old->f[row];
}

static bool is_timing(struct slice kind)
{
	return slice_is(kind, finding_kind_name[FINDING_TIME]) || slice_is(kind, finding_kind_name[FINDING_CACHE]);
}

static void add_old_findings(struct baseline *old)
{
	const struct json_tape *t = &old->tape;
	LOCAL_BUF kind = {0}, id = {0};
	json_each(t, json_get(t, old->root, "findings"), k) {
		struct slice fingerprint = json_text(t, k, "fingerprint", &id);
		if (!fingerprint.n || is_timing(json_text(t, k, "kind", &kind)))
			continue;
		struct sort_of_finding *s = sort_of(old, fingerprint);
		if (!s->old_n++)
			s->old_title = json_dup(t, k, "title", &old->arena);
		s->old_count += json_count(t, k, "count", 0);
	}
}

static int load_baseline(struct baseline *old, const struct mapfile *m, const char *path, struct err *err)
{
	if (document_open(&old->tape, m->bytes, path, "fxexplain", &old->root, err) < 0)
		return -1;
	add_old_findings(old);
	return 0;
}

static enum finding_change change_of(const struct sort_of_finding *s)
{
	return !s->old_n ? CHANGE_NEW : s->new_n > s->old_n || s->new_count > s->old_count ? CHANGE_MORE : CHANGE_NONE;
}

static void add_new_findings(struct baseline *old, struct explanation *x)
{
	char id[FINGERPRINT_TEXT];
	FREED uint32_t *row = xreallocarray(NULL, x->n_finding + 1, sizeof(*row));
	for (uint32_t i = 0; i < x->n_finding; i++) {
		const struct finding *g = &x->finding[i];
		row[i] = NONE;
		if (g->kind == FINDING_TIME || g->kind == FINDING_CACHE)
			continue;
		finding_fingerprint(x, g, id);
		struct sort_of_finding *s = sort_of(old, slice_str(id));
		if (!s->new_n++)
			s->first = i;
		s->new_count += g->count;
		row[i] = (uint32_t)(s - old->f);
	}
	for (uint32_t i = 0; i < x->n_finding; i++)
		x->finding[i].change = row[i] == NONE ? CHANGE_NONE : change_of(&old->f[row[i]]);
}

static void name_finding(struct buf *b, const struct explanation *x, const struct finding *g)
{
	buf_add_slice(b, g->title);
	if (g->loc.file != NONE) {
		buf_adds(b, " at ");
		explain_add_where(b, x, g);
	}
}

static unsigned compare_findings(const struct baseline *old, const struct explanation *x, bool quiet)
{
	unsigned worse = 0;
	LOCAL_BUF b = {0};
	for (uint32_t i = 0; i < old->n; i++) {
		const struct sort_of_finding *s = &old->f[i];
		buf_reset(&b);
		if (s->first != NONE)
			name_finding(&b, x, &x->finding[s->first]);
		if (change_of(s) == CHANGE_NEW) {
			if (s->new_n > 1)
				buf_addf(&b, ", and %llu more of this kind in the same function", (unsigned long long)(s->new_n - 1));
			warn("new: %s", buf_str(&b));
			worse++;
		} else if (change_of(s) == CHANGE_MORE) {
			bool kinds = s->new_n > s->old_n;
			warn("more: %s: %llu, %llu before", buf_str(&b), (unsigned long long)(kinds ? s->new_n : s->new_count),
			     (unsigned long long)(kinds ? s->old_n : s->old_count));
			worse++;
		} else if (!quiet && !s->new_n) {
			warn("gone: %.*s", SL(s->old_title));
		}
	}
	return worse;
}

static unsigned compare_counts(const struct baseline *old, const struct explanation *x, bool quiet)
{
	uint32_t summary = json_get(&old->tape, old->root, "summary");
	const struct {
		const char *name, *words;
		uint64_t now;
	} count[] = {
#define X(name, words, now) {name, words, now},
		COUNTS(X)
#undef X
	};
	unsigned worse = 0;
	for (size_t i = 0; i < ARRAY_LEN(count); i++) {
		uint64_t was = json_count(&old->tape, summary, count[i].name, 0);
		if (count[i].now > was || (!quiet && count[i].now < was))
			warn("%s: %s: %llu, %llu before", count[i].now > was ? "more" : "fewer", count[i].words,
			     (unsigned long long)count[i].now, (unsigned long long)was);
		worse += count[i].now > was;
	}
	return worse;
}

int baseline_compare(struct explanation *x, const struct explain_options *opt, unsigned *worse, struct err *err)
{
	struct baseline old = {0};
	OWNED(mapfile_close) struct mapfile m = {0};
	if (mapfile_open(&m, opt->baseline, err) < 0)
		return -1;
	int status = load_baseline(&old, &m, opt->baseline, err);
	if (status == 0) {
		add_new_findings(&old, x);
		*worse += compare_findings(&old, x, opt->quiet) + compare_counts(&old, x, opt->quiet);
	}
	json_tape_release(&old.tape);
	intern_release(&old.id);
	arena_release(&old.arena);
	free(old.f);
	return status;
}
