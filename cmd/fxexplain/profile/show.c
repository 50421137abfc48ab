/* show.c - prints `fxexplain profile`: what to look at first, then where the time went. */
#include "profile/profile_view.h"
#include "base/text.h"

#include <inttypes.h>

enum { ADVICE_SHOWN = 3, OPS_SHOWN = 6, OPS_LOW = 3, HIGH = 60, BAR = 20 };

/* All tables of a profile use one unit: the largest in which a step, or the whole profile, is at least 1. */
struct unit {
	const char *name;
	double ns;
	int digits;
};

struct show {
	struct screen *s;
	struct profile_view *v;
	struct buf table, tmp;
	bool all;
	bool room;      /* for the last sections: no terminal, or one with HIGH rows */
	uint32_t shown; /* rows of a table */
	struct unit unit;
};

static struct unit unit_of(const struct profile_compare *c)
{
	double most = c->wall[0] > c->wall[1] ? c->wall[0] : c->wall[1];
	return most >= 1e9 ? (struct unit){"s", 1e9, 3} : most >= 1e6 ? (struct unit){"ms", 1e6, 3} : (struct unit){"us", 1e3, 1};
}

static void put_more(struct show *w, uint32_t left, const char *what)
{
	if (left) {
		buf_reset(&w->tmp);
		buf_addf(&w->tmp, "%u more %.*s: --all", left, (int)strlen(what) - (left == 1), what); /* "1 more kernel" */
		put_dim(w->s, buf_str(&w->tmp));
		buf_addc(&w->s->b, '\n');
	}
}

static void time_cell(struct show *w, double ns) { buf_addf(&w->table, "%.*f\t", w->unit.digits, ns / w->unit.ns); }
static void add_change(struct show *w, double ns) { buf_addf(&w->table, "%+.*f", w->unit.digits, ns / w->unit.ns); }
static void add_took(struct buf *b, double ns) { put_duration(b, (uint64_t)(ns + 0.5)); }
static void add_from_to(struct buf *b, const double ns[2])
{
	add_took(b, ns[0]);
	buf_adds(b, " -> ");
	add_took(b, ns[1]);
}

/* A bar is drawn for the screen: in a table it is a cell. */
static void add_bar(struct show *w, double part, double whole)
{
	const size_t from = w->s->b.len;
	put_bar(w->s, whole > 0 ? part / whole : 0, BAR);
	buf_add_slice(&w->table, slice_trim(slice_of(w->s->b.p + from, w->s->b.len - from)));
	buf_cut(&w->s->b, from);
}

static void end_table(struct show *w)
{
	put_table(w->s, buf_slice(&w->table));
	buf_reset(&w->table);
}

/* Names of ops come from the file: a tab or newline in one would make a cell of its own. */
static void add_name(struct buf *b, struct slice name)
{
	buf_add_clean(b, slice_of(name.p, name.n < 90 ? name.n : 90));
	if (name.n > 90)
		buf_adds(b, "...");
}

static void name_cell(struct show *w, struct slice name, char end)
{
	add_name(&w->table, name);
	buf_addc(&w->table, end);
}

static void took_cell(struct show *w, double ns)
{
	add_took(&w->table, ns);
	buf_addc(&w->table, '\t');
}

/* ---- what to look at first ---- */

static void put_advice(struct show *w)
{
	const struct profile_advices *x = &w->v->advice;
	put_heading(w->s, "What to look at first");
	for (uint32_t i = 0; i < x->n && (w->all || i < ADVICE_SHOWN); i++) {
		const struct profile_advice *a = &x->v[i];
		struct slice rest = slice_str(a->next), line;
		const size_t from = w->s->b.len;
		buf_addf(&w->s->b, "%u. ", i + 1);
		buf_reset(&w->tmp);
		add_name(&w->tmp, slice_str(a->title));
		put_bold(w->s, buf_str(&w->tmp));
		if (a->ns > 0) {
			buf_adds(&w->s->b, "  ");
			add_took(&w->s->b, a->ns);
			buf_addf(&w->s->b, "%s, %.0f %%", w->v->shown->n_step ? " per step" : "", 100 * a->share);
		}
		put_text_line(w->s, "\n   ", slice_str(a->evidence));
		while (slice_line(&rest, &line))
			put_text_line(w->s, "   -> ", line);
		put_wraps(w->s, from, 6);
	}
	put_more(w, !w->all && x->n > ADVICE_SHOWN ? x->n - ADVICE_SHOWN : 0, "findings");
}

/* ---- where the time goes ---- */

/* Cells before the bar: the times, and the share or change if requested. */
static void add_part(struct show *w, double a, double b, bool more)
{
	const struct profile_compare *c = &w->v->c;
	if (!c->one)
		time_cell(w, a);
	time_cell(w, b);
	if (more && c->one)
		buf_addf(&w->table, "%.1f%%", c->wall[1] > 0 ? 100 * b / c->wall[1] : 0);
	else if (more)
		add_change(w, b - a);
	buf_addc(&w->table, '\t');
}

static void put_families(struct show *w)
{
	const struct profile_compare *c = &w->v->c;
	double most = 0, left[2] = {0};
	for (unsigned f = 0; f < FAMILIES; f++)
		for (unsigned k = 0; k < 2; k++)
			most = c->family[k][f] > most ? c->family[k][f] : most;
	const bool device = w->v->shown->devices > 0;
	put_heading(w->s, c->per_step ? device ? "Where a step's time goes on the CPU" : "Where a step's time goes"
			  : device    ? "Where the time goes on the CPU"
				      : "Where the time goes");
	if (c->one)
		buf_addf(&w->table, "%s\tshare\t\tpart\n", w->unit.name);
	else
		buf_addf(&w->table, "eager %s\tcompiled %s\tchange\t\tpart\n", w->unit.name, w->unit.name);
	for (unsigned f = 0; f < FAMILIES; f++) {
		const double a = c->family[0][f], b = c->family[1][f], larger = a > b ? a : b;
		if (larger <= 0)
			continue;
		if (!w->all && larger < 0.02 * c->wall[a > b ? 0 : 1]) {
			left[0] += a;
			left[1] += b;
			continue;
		}
		add_part(w, a, b, true);
		add_bar(w, b, most);
		buf_addf(&w->table, "\t%s\n", profile_family_name[f]);
	}
	if (left[0] + left[1] > 0) {
		add_part(w, left[0], left[1], c->one);
		buf_adds(&w->table, "\tless than 2% each\n");
	}
	if (c->beside[0] + c->beside[1] > 0.01 * (c->wall[0] + c->wall[1])) {
		add_part(w, -c->beside[0], -c->beside[1], false);
		buf_adds(&w->table, "\tof which on other threads\n");
	}
	add_part(w, c->wall[0], c->wall[1], true);
	buf_adds(&w->table, "\tall\n");
	end_table(w);
}

/* ---- op by op ---- */

static void add_pair(struct show *w, const struct profile_op *o)
{
	for (unsigned k = 0; k < 2; k++) {
		if (o->count[k] > 0) {
			buf_addf(&w->table, "%.1f\t", o->count[k]);
			time_cell(w, o->self[k]);
		} else {
			buf_adds(&w->table, "-\t-\t");
		}
	}
	add_change(w, o->self[1] - o->self[0]);
	buf_addf(&w->table, "\t%s\t", profile_fate_name[o->fate]);
}

static void put_ops(struct show *w, const struct profile_op *op, uint32_t n, const char *title, const char *what)
{
	const struct profile_compare *c = &w->v->c;
	uint32_t shown = 0, worth = 0;
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += op[i].self[1];
	for (uint32_t i = 0; i < n; i++)
		worth += op[i].self[0] + op[i].self[1] > 0;
	if (!worth)
		return;
	put_heading(w->s, title);
	if (c->one)
		buf_addf(&w->table, "calls\tself %s\tshare\t\tname\n", w->unit.name);
	else
		buf_addf(&w->table, "eager calls\t%s\tcompiled calls\t%s\tchange\t\tname\n", w->unit.name, w->unit.name);
	for (uint32_t i = 0; i < n && (w->all || shown < w->shown); i++) {
		const struct profile_op *o = &op[i];
		if (o->self[0] + o->self[1] <= 0)
			continue;
		shown++;
		if (c->one) {
			buf_addf(&w->table, "%.1f\t", o->count[1]);
			time_cell(w, o->self[1]);
			buf_addf(&w->table, "%.1f%%\t", sum > 0 ? 100 * o->self[1] / sum : 0);
			add_bar(w, o->self[1], sum);
			buf_addc(&w->table, '\t');
		} else {
			add_pair(w, o);
		}
		add_name(&w->table, o->name);
		const struct profile_row *r = o->row[1] != NONE ? &c->side[1]->row[o->row[1]] : NULL;
		if (w->all && r && r->shape)
			buf_addf(&w->table, "  slowest %s", r->shape);
		buf_addc(&w->table, '\n');
	}
	end_table(w);
	put_more(w, worth - shown, what);
}

/* ---- compiled regions, compilations ---- */

static void put_regions(struct show *w)
{
	const struct profile *p = w->v->shown;
	if (!p->n_region || !(w->room && (w->all || w->v->has_facts)))
		return;
	put_heading(w->s, "Compiled frames");
	buf_adds(&w->table, "id\tcalls\tper call\tlookup\tafter a break\twait\tfunction\n");
	for (uint32_t i = 0; i < p->n_region; i++) {
		const struct profile_region *r = &p->region[i];
		const struct slice id = intern_get(&p->names, r->id);
		const double calls = r->calls ? (double)r->calls : 1;
		add_name(&w->table, id.n ? id : SLICE("-"));
		buf_addf(&w->table, "\t%" PRIu64 "\t", r->calls);
		took_cell(w, (double)r->total / calls);
		took_cell(w, (double)r->lookup / calls);
		if (r->nested) {
			buf_addf(&w->table, "%" PRIu64 "\t", r->nested);
			took_cell(w, (double)r->wait / (double)r->nested);
		} else {
			buf_adds(&w->table, "\t\t");
		}
		name_cell(w, view_function(w->v, id, &w->tmp), '\n');
	}
	end_table(w);
}

static void put_compiles(struct show *w)
{
	const struct profile *p = w->v->shown;
	if (!p->n_compile || !(w->room && (w->all || w->v->has_facts)))
		return;
	put_heading(w->s, "Compilations during the profile");
	buf_adds(&w->table, "at (s)\tseconds\tid\tstep\t\tfunction\n");
	for (uint32_t i = 0; i < p->n_compile && (w->all || i < w->shown); i++) {
		const struct profile_compile *k = &p->compile[i];
		const struct slice id = intern_get(&p->names, k->id);
		buf_addf(&w->table, "%.3f\t%.3f\t", (double)(k->ts - p->first) / 1e9, (double)k->dur / 1e9);
		add_name(&w->table, id.n ? id : SLICE("-"));
		if (k->step == NONE)
			buf_adds(&w->table, "\t-\t");
		else
			buf_addf(&w->table, "\t%" PRIu64 "\t", p->step[k->step].number);
		buf_adds(&w->table, k->backward ? "backward\t" : k->again ? "again\t" : "\t");
		name_cell(w, view_function(w->v, id, &w->tmp), '\n');
	}
	end_table(w);
}

/* Two lines: its time and name; its lines of Python and nodes. */
static void put_kernel(struct show *w, const struct profile_op *o, struct slice nodes, struct slice lines)
{
	const size_t from = w->s->b.len, most = 70;
	const char *comma = w->all || nodes.n <= most ? NULL : memrchr(nodes.p, ',', most);
	buf_adds(&w->s->b, "  ");
	add_took(&w->s->b, o->self[1]);
	buf_adds(&w->s->b, "  ");
	put_text(w->s, o->name);
	buf_adds(&w->s->b, "\n    ");
	put_text(w->s, lines);
	buf_adds(&w->s->b, lines.n && nodes.n ? ": " : "");
	put_text(w->s, comma ? slice_of(nodes.p, (size_t)(comma - nodes.p)) : nodes);
	buf_adds(&w->s->b, comma ? ", ...\n" : "\n");
	put_wraps(w->s, from, 6);
}

/* Shows what the kernels were made from, if a log or folder has it. */
static void put_kernels(struct show *w)
{
	const struct profile_compare *c = &w->v->c;
	LOCAL_BUF lines = {0};
	uint32_t shown = 0, left = 0;
	for (uint32_t i = 0; i < c->n_op + c->n_device; i++) {
		const struct profile_op *o = i < c->n_device ? &c->device[i] : &c->op[i - c->n_device];
		buf_reset(&w->tmp);
		buf_reset(&lines);
		/* On a device the kernel counts, not its launch. */
		if ((o->family != FAMILY_KERNEL && i >= c->n_device) || !o->count[1] || (i >= c->n_device && c->n_device) ||
		    !view_kernel(w->v, o, &w->tmp, &lines))
			continue;
		if (!w->all && shown >= w->shown) {
			left++;
			continue;
		}
		if (!shown++)
			put_heading(w->s, "Kernels and where they come from");
		put_kernel(w, o, buf_slice(&w->tmp), buf_slice(&lines));
	}
	put_more(w, left, "kernels");
}

static void put_gaps(struct show *w)
{
	const struct profile *p = w->v->shown;
	if (!p->n_gap || !w->all)
		return;
	put_heading(w->s, "Longest gaps, in which nothing runs");
	buf_adds(&w->table, "time\tafter\tbefore\tPython function\n");
	for (uint32_t i = 0; i < p->n_gap && i < 10; i++) {
		took_cell(w, (double)p->gap[i].dur);
		name_cell(w, p->gap[i].before == NONE ? SLICE("(begin)") : profile_name(p, p->gap[i].before), '\t');
		name_cell(w, p->gap[i].after == NONE ? SLICE("(end)") : profile_name(p, p->gap[i].after), '\t');
		name_cell(w, profile_name(p, p->gap[i].python), '\n');
	}
	end_table(w);
}

/* The first cells of a row about a log: the compile id, and the place, after which more cells may follow. */
static void log_cells(struct show *w, const struct facts *f, uint32_t compile, const struct fact_loc *loc)
{
	const struct slice file = facts_text(f, loc->file);
	name_cell(w, compile == NONE ? SLICE("-") : facts_text(f, f->compile[compile].id), '\t');
	add_name(&w->table, file);
	if (file.n)
		buf_addf(&w->table, ":%u", loc->line);
}

static void put_breaks(struct show *w)
{
	const struct facts *f = &w->v->facts;
	if (!w->v->has_facts || !f->n_brk || !w->room)
		return;
	put_heading(w->s, "Graph breaks in the log");
	buf_adds(&w->table, "id\tline\treason\n");
	for (uint32_t i = 0; i < f->n_brk && (w->all || i < w->shown); i++) {
		log_cells(w, f, f->brk[i].compile, &f->brk[i].loc);
		buf_addc(&w->table, '\t');
		name_cell(w, slice_first_line(facts_text(f, f->brk[i].reason)), '\n');
	}
	end_table(w);
	put_more(w, !w->all && f->n_brk > w->shown ? f->n_brk - w->shown : 0, "breaks");
}

static void put_recompiles(struct show *w)
{
	const struct facts *f = &w->v->facts;
	if (!w->v->has_facts || !f->n_recompile || !w->room)
		return;
	put_heading(w->s, "Recompiles in the log");
	buf_adds(&w->table, "id\tline\tguard\twas\tis\n");
	for (uint32_t i = 0; i < f->n_recompile && (w->all || i < w->shown); i++) {
		const struct fact_recompile *r = &f->recompile[i];
		log_cells(w, f, r->compile, &r->loc);
		const uint32_t texts[] = {r->guard, r->old, r->new};
		for (unsigned k = 0; k < ARRAY_LEN(texts); k++) {
			buf_addc(&w->table, '\t');
			add_name(&w->table, facts_text(f, texts[k]));
		}
		buf_addc(&w->table, '\n');
	}
	end_table(w);
	put_more(w, !w->all && f->n_recompile > w->shown ? f->n_recompile - w->shown : 0, "recompiles");
}

/* ---- header ---- */

static void add_unit(struct buf *b, const struct profile *p)
{
	if (p->n_step)
		buf_addf(b, "%u step%s", p->n_step, plural(p->n_step));
	else
		buf_addf(b, "no steps");
}

static void head_of_one(struct show *w)
{
	const struct profile *p = w->v->shown;
	struct buf *b = &w->tmp;
	buf_reset(b);
	buf_addf(b, "%s: %s, ", w->v->path[0], p->compiled ? "compiled" : "eager");
	add_unit(b, p);
	buf_adds(b, ", ");
	add_took(b, w->v->c.wall[1]);
	buf_adds(b, p->n_step ? " each" : " in all");
	put_bold(w->s, buf_str(b));
	buf_addf(&w->s->b, "\n%" PRIu64 " events, %u thread%s with ops", p->events, p->n_busy_thread, plural(p->n_busy_thread));
	if (p->devices)
		buf_addf(&w->s->b, ", %u device%s busy %.0f %% of its time", p->devices, plural(p->devices),
			 p->device_span ? 100 * (double)p->device_busy / ((double)p->device_span * p->devices) : 0.0);
	buf_addc(&w->s->b, '\n');
}

static void head_of_two(struct show *w)
{
	const struct profile_compare *c = &w->v->c;
	struct buf *b = &w->tmp;
	buf_reset(b);
	const double times = c->wall[1] > 0 ? c->wall[0] / c->wall[1] : 0;
	add_from_to(b, c->wall);
	buf_addf(b, "%s: %.2fx", c->per_step ? " per step" : "", times);
	put_bold(w->s, buf_str(b));
	if (c->side[0]->devices && c->side[1]->devices) {
		buf_adds(&w->s->b, ", device busy ");
		add_from_to(&w->s->b, c->device_busy);
	}
	buf_adds(&w->s->b, times >= 1.05   ? ", compiled is faster\n"
			   : times <= 0.95 ? ", compiled is slower\n"
					   : ", no significant difference\n");
	buf_addf(&w->s->b, "eager %s (", w->v->side_path[0]);
	add_unit(&w->s->b, c->side[0]);
	buf_addf(&w->s->b, "), compiled %s (", w->v->side_path[1]);
	add_unit(&w->s->b, c->side[1]);
	buf_adds(&w->s->b, ")\n");
	if (c->swapped)
		buf_adds(&w->s->b, "the first file is the compiled run: swapped\n");
	if (c->same_kind)
		buf_addf(&w->s->b, "%s: compared in the given order, \"eager\" is the first\n",
			 c->side[0]->compiled ? "both are compiled" : "neither is compiled");
	if (!c->per_step)
		buf_adds(&w->s->b, "only one has steps: the totals compare only if both ran the same number of iterations\n");
	if (c->side[0]->spent[SPENT_COMPILE] + c->side[1]->spent[SPENT_COMPILE])
		buf_adds(&w->s->b, "these times include compilation: the steady-state speed-up differs\n");
	buf_addf(&w->s->b, "%u ops gone (", c->n_fate[FATE_GONE]);
	add_took(&w->s->b, c->gone);
	buf_addf(&w->s->b, "), %u unchanged (", c->n_fate[FATE_STAYS]);
	add_from_to(&w->s->b, c->stays);
	buf_addf(&w->s->b, "), %u new (", c->n_fate[FATE_NEW]);
	add_took(&w->s->b, c->fresh);
	buf_adds(&w->s->b, ")\n");
}

void profile_terminal(struct screen *s, struct profile_view *v, const struct explain_options *opt)
{
	bool room = !s->height || s->height >= HIGH;
	struct show w = {
	    .s = s, .v = v, .unit = unit_of(&v->c), .all = opt->all, .room = opt->all || room, .shown = room ? OPS_SHOWN : OPS_LOW};
	if (v->c.one)
		head_of_one(&w);
	else
		head_of_two(&w);
	put_advice(&w);
	put_families(&w);
	if (v->c.n_device)
		put_ops(&w, v->c.device, v->c.n_device, "On the device, by self time", "kernels");
	put_ops(&w, v->c.op, v->c.n_op, v->c.one ? "Ops and kernels by self time" : "Ops that changed most", "ops");
	put_kernels(&w);
	put_regions(&w);
	put_compiles(&w);
	put_breaks(&w);
	put_recompiles(&w);
	put_gaps(&w);
	if (!w.room)
		put_dim(s, "--all adds compiled frames, compilations, graph breaks and recompiles\n");
	buf_release(&w.table);
	buf_release(&w.tmp);
}
