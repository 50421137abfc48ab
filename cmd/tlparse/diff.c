/* diff.c - tlparse --diff BEFORE AFTER: reading, pairing of logs, JSON, the summary on a terminal. */
#include "diff.h"

#include "run/document.h"

#include "base/tool/diag.h"
#include "base/tool/screen.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---- */

static int by_rank(const void *a, const void *b)
{
	const struct compare_log *x = a, *y = b;
	if (x->t.rank != y->t.rank)
		return x->t.rank < y->t.rank ? -1 : 1;
	if (x->t.first_day != y->t.first_day)
		return x->t.first_day < y->t.first_day ? -1 : 1;
	return x->t.first_usec < y->t.first_usec ? -1 : x->t.first_usec > y->t.first_usec;
}

/* A log, or the inputs of a document. */
static int read_log(struct diff_set *d, struct diff_side *side, const char *path, const struct trace_hooks *h, struct err *err)
{
	if (!document_is_there(path)) {
		GROW(side->log, side->n, side->cap, 1);
		int status = compare_read(&side->log[side->n], path, temp_file, h, err);
		side->n += status == 0;
		return status;
	}
	struct facts *all = xcalloc(1, sizeof(*all));
	PUSH(d, document) = all;
	if (document_load(all, path, NULL, NULL, err) < 0)
		return -1;
	GROW(side->log, side->n, side->cap, all->n_input);
	for (uint32_t k = 0; k < all->n_input; k++)
		compare_input(&side->log[side->n++], path, all, k);
	return 0;
}

/* A directory may also hold what the run printed with TORCH_LOGS=fusion: why nodes were not fused. */
static void read_fusion_logs(struct diff_side *side)
{
	FREED struct dirent **list = NULL;
	int n = scandir(side->name, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		FREED char *path = xasprintf("%s/%s", side->name, list[i]->d_name);
		struct stat st;
		struct mapfile f, *own;
		if (list[i]->d_name[0] != '.' && lstat(path, &st) == 0 && S_ISREG(st.st_mode) && !trace_is_log(path) &&
		    mapfile_open(&f, path, NULL) == 0) {
			if (slice_find(f.bytes, "[__fusion] ")) {
				own = xmalloc(sizeof(*own));
				*own = f;
				PUSH(side, file) = own;
				fusionlog_read(&side->fusion, own->bytes);
			} else {
				mapfile_close(&f);
			}
		}
		free(list[i]);
	}
	for (unsigned i = 0; i < side->n; i++)
		side->log[i].fusion = side->fusion.n ? &side->fusion : NULL;
}

static void read_side(struct diff_set *d, unsigned s, char **path, size_t n, const struct tlparse_options *opt)
{
	struct diff_side *side = &d->side[s];
	struct trace_hooks h = {.progress = PROGRESS(opt)};
	struct err err;
	for (size_t i = 0; i < n; i++) {
		if (read_log(d, side, path[i], &h, &err) == 0)
			continue;
		if (n == 1 || err.status != EXIT_INPUT)
			die_err(&err);
		warn("%s", err.text);
		d->lost++;
	}
	if (!side->n)
		die(EXIT_INPUT, "could not read anything in '%s'", side->name);
	qsort(side->log, side->n, sizeof(*side->log), by_rank);
	read_fusion_logs(side);
}

static void add_pair(struct diff_set *d, struct compare_log *a, struct compare_log *b)
{
	struct diff_pair *p = &d->pair[d->n++];
	p->a = a;
	p->b = b;
	compare_run(&p->c, a, b);
}

/* Pairs logs of the same rank, then the rest by order. */
static void pair_logs(struct diff_set *d)
{
	struct diff_side *a = &d->side[0], *b = &d->side[1];
	uint32_t *match = xcalloc(a->n + 1u, sizeof(*match));
	bool *taken = xcalloc(b->n + 1u, sizeof(*taken));
	for (unsigned i = 0; i < a->n; i++) {
		match[i] = NONE;
		for (unsigned j = 0; match[i] == NONE && j < b->n; j++)
			if (!taken[j] && a->log[i].t.rank == b->log[j].t.rank) {
				match[i] = j;
				taken[j] = true;
			}
	}
	for (unsigned i = 0, j = 0; i < a->n; i++) {
		while (j < b->n && taken[j])
			j++;
		if (match[i] == NONE && j < b->n) {
			match[i] = j;
			taken[j] = true;
		}
	}
	d->pair = xcalloc((size_t)a->n + b->n, sizeof(*d->pair));
	for (unsigned i = 0; i < a->n; i++)
		add_pair(d, &a->log[i], match[i] == NONE ? NULL : &b->log[match[i]]);
	for (unsigned j = 0; j < b->n; j++)
		if (!taken[j])
			add_pair(d, NULL, &b->log[j]);
	free(match);
	free(taken);
}

static void diff_set_release(struct diff_set *d)
{
	for (unsigned i = 0; i < d->n; i++)
		compare_release(&d->pair[i].c);
	for (unsigned s = 0; s < 2; s++) {
		for (unsigned i = 0; i < d->side[s].n; i++)
			compare_log_release(&d->side[s].log[i]);
		free(d->side[s].log);
		fusionlog_release(&d->side[s].fusion);
		for (uint32_t i = 0; i < d->side[s].n_file; i++) {
			mapfile_close(d->side[s].file[i]);
			free(d->side[s].file[i]);
		}
		free(d->side[s].file);
	}
	for (size_t i = 0; i < d->n_document; i++) {
		facts_release(d->document[i]);
		free(d->document[i]);
	}
	free(d->document);
	free(d->pair);
}

/* ---- counts ---- */

static double seconds_of(const struct facts_sums *s) { return s->compile_seconds > 0 ? s->compile_seconds : 0; }

/* ---- on a terminal ---- */

enum { SHOWN = 5 };

static void add_place(struct buf *b, const struct srcloc *at)
{
	if (!at->file.n)
		return;
	buf_add_slice(b, at->file);
	if (at->line)
		buf_addf(b, ":%u", at->line);
	if (at->func.n) {
		buf_adds(b, " in ");
		buf_add_slice(b, at->func);
	}
}

/* Adds a line of log text, without control bytes and shortened. */
static void add_short(struct buf *b, struct slice s, size_t max)
{
	buf_add_clean(b, slice_of(s.p, s.n < max ? s.n : max));
	if (s.n > max)
		buf_adds(b, "...");
}

static void add_row(struct buf *b, const struct compare *c, const struct compare_change *x)
{
	char text[COMPILE_ID_TEXT];
	static const char sign[] = {'+', '-', '~', '~', '~'};
	buf_addf(b, "    %c ", sign[x->how]);
	if (x->pair != NONE) {
		const struct compare_pair *p = &c->pair[x->pair];
		buf_addf(b, "[%s] ", p->b != NONE ? diff_unit(c->b, p->b, text) : diff_unit(c->a, p->a, text));
	}
	size_t at = b->len;
	struct buf place = {0};
	add_place(&place, &x->at);
	add_short(b, buf_slice(&place), 100);
	buf_release(&place);
	if (x->subject.n) {
		if (b->len > at)
			buf_adds(b, ": ");
		add_short(b, x->subject, 100);
	}
	if (x->before.n || x->after.n) {
		if (b->len > at)
			buf_adds(b, ": ");
		/* The common prefix of two long values means little. */
		size_t same = 0;
		while (same < x->before.n && same < x->after.n && x->before.p[same] == x->after.p[same])
			same++;
		size_t skip = same > 60 && (x->before.n > 80 || x->after.n > 80) ? same - 30 : 0;
		while (skip && ((unsigned char)x->before.p[skip] & 0xc0) == 0x80)
			skip--;
		if (skip) {
			add_short(b, x->before, 25);
			buf_addc(b, ' ');
		}
		for (unsigned s = 0; s < 2; s++) {
			struct slice v = s ? x->after : x->before;
			if (s && x->before.n && x->after.n)
				buf_adds(b, " -> ");
			if (skip)
				buf_adds(b, "...");
			add_short(b, slice_of(v.p + skip, v.n - skip), 80);
		}
	}
	if (x->kind == COMPARE_TIME)
		buf_addf(b, " s (%+.3f s)", x->seconds);
	else if (x->seconds < 0 || x->seconds > 0)
		buf_addf(b, " (%.3f s)", x->seconds < 0 ? -x->seconds : x->seconds);
	if (x->count > 1)
		buf_addf(b, " (%u times)", x->count);
	buf_addc(b, '\n');
}

static void add_summary(struct buf *b, const struct diff_set *d)
{
	const struct facts_sums sum[2] = {diff_sums(&d->side[0]), diff_sums(&d->side[1])};
	const struct {
		const char *name;
		uint64_t v[2];
	} count[] = {
	    {"frames", {sum[0].frames, sum[1].frames}},
	    {"compiles", {sum[0].compiles, sum[1].compiles}},
	    {"recompiles", {sum[0].recompiles, sum[1].recompiles}},
	    {"graph breaks", {sum[0].graph_breaks, sum[1].graph_breaks}},
	    {"failures", {sum[0].failures, sum[1].failures}},
	    {"graphs", {sum[0].graphs, sum[1].graphs}},
	};
	for (unsigned i = 0; i < ARRAY_LEN(count); i++)
		buf_addf(b, "%-14s %8llu -> %llu\n", count[i].name, (unsigned long long)count[i].v[0], (unsigned long long)count[i].v[1]);
	buf_addf(b, "%-14s %8.1f -> %.1f\n", "compile s", seconds_of(&sum[0]), seconds_of(&sum[1]));
	if (!diff_differs(d))
		buf_adds(b, "no difference\n");
	for (unsigned i = 0; i < d->n; i++) {
		const struct diff_pair *p = &d->pair[i];
		const struct compare *c = &p->c;
		if (d->n > 1 && (!p->a || !p->b || compare_differs(c)))
			buf_addf(b, "\n%.*s -> %.*s\n", SL(diff_name(p->a)), SL(diff_name(p->b)));
		for (unsigned k = 0; k < COMPARE_KIND_COUNT; k++) {
			uint32_t shown = 0, all = c->rows[k] + c->more[k];
			if (!all)
				continue;
			buf_addf(b, "\n%s (%u)\n", compare_kind_title[k], all);
			for (uint32_t r = 0; r < c->n_change && shown < SHOWN; r++)
				if (c->change[r].kind == k) {
					add_row(b, c, &c->change[r]);
					shown++;
				}
			if (all > shown)
				buf_addf(b, "      and %u more\n", all - shown);
		}
		diff_graphs_text(b, c);
		if (!c->n_text)
			continue;
		buf_addf(b, "\nGraphs and code (%u)\n", c->n_text);
		uint32_t shown = 0;
		for (uint32_t r = 0; r < c->n_text && shown < 2 * SHOWN; r++, shown++) {
			const struct compare_text *t = &c->text[r];
			char text[COMPILE_ID_TEXT];
			buf_addf(b, "    ~ [%s] ", diff_unit(c->b, c->pair[t->pair].b, text));
			add_short(b, intern_get(&c->b->t.f->names, c->b->t.artifact[t->b].name), 80);
			if (t->shown)
				buf_addf(b, ": -%u +%u lines\n", t->removed, t->added);
			else
				buf_addc(b, '\n');
		}
		if (c->n_text > shown)
			buf_addf(b, "      and %u more\n", c->n_text - shown);
	}
}

/* ---- the tool ---- */

static void write_out(const struct diff_set *d, const struct tlparse_options *opt, const char *to, bool text)
{
	struct err err = {.text = ""};
	struct output *out = to ? output_file(to, &err) : NULL;
	struct screen s = {0};
	struct json_out o = {.b = &s.b};
	int r;
	if (to && !out)
		die_err(&err);
	int fd = out ? output_fd(out) : STDOUT_FILENO;
	if (opt->json) {
		diff_document(&o, d, NULL, 0);
		buf_addc(&s.b, '\n');
		r = screen_write(&s, fd, to ? to : "standard output", &err);
	} else if (text) {
		add_summary(&s.b, d);
		r = screen_write(&s, fd, "standard output", &err);
	} else {
		r = diffpage_write(d, fd, to ? to : "standard output", &err);
	}
	buf_release(&s.b);
	if (r < 0) {
		output_abort(out);
		if (err.text[0])
			die_err(&err);
	} else if (out && output_commit(out, &err) < 0) {
		die_err(&err);
	}
}

int diff_main(const struct tlparse_options *opt, const char *const name[2], char **const path[2], const size_t n[2])
{
	struct diff_set d = {.side = {{.name = name[0]}, {.name = name[1]}}};
	bool html = opt->html != NULL;
	const char *to = opt->out ? opt->out : html && *opt->html && strcmp(opt->html, "-") ? opt->html : NULL;
	if (!strcmp(name[0], "-") && !strcmp(name[1], "-"))
		die(EXIT_USAGE, "only one of the two can be standard input");
	for (unsigned s = 0; to && s < 2; s++)
		tlparse_refuse_input(to, path[s], n[s]);
	for (unsigned s = 0; s < 2; s++)
		read_side(&d, s, path[s], n[s], opt);
	pair_logs(&d);
	write_out(&d, opt, to, !opt->json && !to && !html && isatty(STDOUT_FILENO));
	for (unsigned s = 0; s < 2; s++)
		for (unsigned i = 0; i < d.side[s].n; i++)
			if (trace_damaged(&d.side[s].log[i].t))
				warn("%s: damaged: only the readable part is compared; '%s %s' reports the details",
				     d.side[s].log[i].t.path, diag_tool, d.side[s].log[i].t.path);
	bool differs = diff_differs(&d);
	diff_set_release(&d);
	return differs ? EXIT_FOUND : EXIT_FINE;
}
