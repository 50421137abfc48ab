/* unfinished.c - a log without an exception: in what it ends, and whether what wrote it may still be running. */
#include "run/diagnose/component_part.h"

/* The last phase that started and did not end: where a crash or a kill hit. */
static const struct fact_marker *open_marker(const struct facts *f, uint32_t input)
{
	uint32_t depth[COMPONENTS] = {0};
	for (uint32_t i = f->n_marker; i-- > 0;) {
		const struct fact_marker *m = &f->marker[i];
		if (m->src.input != input || m->component == COMPONENT_NONE)
			continue;
		if (m->end)
			depth[m->component]++;
		else if (depth[m->component])
			depth[m->component]--;
		else
			return m;
	}
	return NULL;
}

/* How long the outermost phase had been open: the innermost may have started just now. */
static double open_seconds(const struct facts *f, uint32_t input)
{
	double most = -1;
	for (uint32_t i = 0; i < f->n_marker; i++)
		if (f->marker[i].src.input == input && !f->marker[i].end && f->marker[i].open > most)
			most = f->marker[i].open;
	return most;
}

static void put_duration(struct buf *b, double seconds)
{
	if (seconds >= 60)
		buf_addf(b, "%.0f min", seconds / 60);
	else
		buf_addf(b, "%.0f s", seconds);
}

static bool is_cut(const struct facts *f, uint32_t input)
{
	for (uint32_t i = 0; i < f->n_damage; i++)
		if (f->damage[i].input == input && slice_find(facts_text(f, f->damage[i].what), "ends inside a record"))
			return true;
	return false;
}

enum { JUST_NOW_S = 60, HARDLY_S = 15 }; /* of the last write: it may still be running; some seconds are not worth a word */

/* Is the program that wrote it still running? What was seen of it; "" if nothing was. */
static void put_life(struct buf *b, const struct fact_input *in)
{
	if (in->writer) {
		buf_addf(b, "; still running: process %u has it open", in->writer);
		if (in->age >= HARDLY_S) {
			buf_adds(b, ", and has written nothing for ");
			put_duration(b, in->age);
		}
	} else if (in->age >= 0 && in->age < JUST_NOW_S) {
		buf_adds(b, "; written within the last minute: perhaps still running");
	}
}

/* "in async_compile.wait for 4 min when the log ends, 9 min into the compilation" */
static void put_open_phase(struct buf *b, const struct facts *f, const struct fact_marker *m, uint32_t input)
{
	struct slice what = facts_text(f, m->what);
	const double whole = open_seconds(f, input);
	buf_addf(b, "in %.*s", SLN(what, CLIP));
	if (m->open >= 1) {
		buf_adds(b, " for ");
		put_duration(b, m->open);
	}
	buf_adds(b, " when the log ends");
	if (whole >= 1 && whole > m->open) {
		buf_adds(b, ", ");
		put_duration(b, whole);
		buf_adds(b, " into the compilation");
	}
}

void component_tell_unfinished(const struct witnesses *w, uint32_t input)
{
	struct explanation *x = w->x;
	const struct facts *f = x->facts;
	const struct fact_marker *m = open_marker(f, input);
	const struct fact_input *in = &f->input[input];
	const bool cut = is_cut(f, input);
	LOCAL_BUF where = {0};
	if (!m && !cut)
		return;
	struct component_view v = {.component = m ? m->component : COMPONENT_NONE,
				   .sure = SURE_NOT,
				   .failure = NONE,
				   .compile = m ? m->compile : NONE,
				   .unfinished = true};
	if (m) {
		struct slice what = facts_text(f, m->what);
		put_open_phase(&where, f, m, input);
		v.evidence = m->src.line ? explain_textf(x, "'%.*s' started in line %llu and did not end: the log ends inside it",
							 SLN(what, CLIP), (unsigned long long)m->src.line)
					 : explain_textf(x, "'%.*s' started, and nothing after it is in the log", SLN(what, CLIP));
	} else {
		buf_adds(&where, "the log ends inside a record");
	}
	put_life(&where, in);
	v.title = explain_keep(x, buf_slice(&where));
	if (cut)
		v.evidence =
		    explain_textf(x, "%.*s%sthe log ends inside a record: it is being written, the disk is full, or the copy is incomplete",
				  SL(v.evidence), v.evidence.n ? "\n" : "");
	struct finding *g = explain_finding(x, FINDING_FAILURE, FINDING_WARNING);
	g->id = SLICE("unfinished");
	g->src = m ? m->src : fact_src(input, in->lines);
	g->count = 1;
	if (!m)
		g->title = SLICE("The log ends inside a record");
	else if (in->writer)
		g->title = explain_textf(x, "The log ends inside %s: still running", component_title[v.component]);
	else
		g->title = explain_textf(x, "The log ends inside %s: error, kill, crash, %sor still running", component_title[v.component],
					 cut ? "cut copy, " : "");
	g->evidence = v.evidence;
	if (v.compile != NONE) {
		g->loc = f->compile[v.compile].loc;
		g->compiles = facts_text(f, f->compile[v.compile].label);
	}
	PUSH(x, component) = v;
}
