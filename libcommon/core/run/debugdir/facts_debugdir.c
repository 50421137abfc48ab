/* facts_debugdir.c - reads a torch_compile_debug directory into the facts: the trace and the logs in it, and, if there is no trace, the
 * output of its compilations (run/debugdir.h). */

#include "run/debugdir/debugdir.h"
#include "run/textlog/textlog.h"
#include "run/trace/trace.h"

#include <sys/stat.h>

static uint64_t size_of(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

static void damage(struct facts *f, uint32_t input, const struct err *err)
{
	PUSH(f, damage) = (struct fact_damage){
	    .input = input, .kind = facts_intern(f, SLICE("unread")), .what = facts_intern(f, slice_str(err->text)), .count = 1};
}

typedef int add_fn(struct facts *f, const char *path, const struct facts_options *o, struct err *err);

/* Empty files, as most torchdynamo/debug.log are, are skipped silently. Returns how many were read. */
static uint32_t add_files(struct facts *f, uint32_t input, const struct slice *path, uint32_t n, add_fn *add, const struct facts_options *o)
{
	uint32_t done = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct err err;
		FREED char *name = xstrndup(path[i].p, path[i].n);
		if (size_of(name) && add(f, name, o, &err) < 0)
			damage(f, input, &err);
		else
			done += size_of(name) > 0;
	}
	return done;
}

/* "# File: app/m.py:5 in f, code: ..." of the graph: the first user location is its source. */
static struct fact_loc place_of(struct facts *f, struct slice text)
{
	struct srcloc at;
	while (srcloc_next(&text, &at))
		if (srcloc_is_user(at.file))
			return facts_loc(f, &at);
	return facts_no_loc();
}

static int64_t count_ops(struct slice text)
{
	static const char call[] = " = torch.ops.";
	int64_t n = 0;
	struct slice line;
	while (slice_line(&text, &line))
		n += slice_find(line, call) != NULL;
	return n;
}

static void take_graph(struct facts *f, const struct debugdir *d, uint32_t comp, uint32_t compile, const struct facts_options *o)
{
	static const enum debug_file which[] = {DEBUG_READABLE, DEBUG_TRANSFORMED, DEBUG_RUNNABLE};
	struct mapfile map;
	struct err err;
	size_t k = 0;
	while (k < ARRAY_LEN(which) && !d->comp[comp].has[which[k]])
		k++;
	if (k == ARRAY_LEN(which) || debugdir_file(d, comp, which[k], &map, &err) < 0)
		return;
	struct fact_graph *g = facts_new_graph(f, f->compile[compile].src);
	uint32_t row = f->n_graph - 1;
	g->compile = compile;
	g->ops = count_ops(map.bytes);
	g->bytes = map.bytes.n;
	f->compile[compile].ops = g->ops;
	f->compile[compile].graphs = 1;
	f->compile[compile].loc = place_of(f, map.bytes);
	f->graph[row].name = facts_intern(f, slice_str(debug_file_name[which[k]]));
	if (o->keep_graphs)
		f->graph[row].text = facts_intern(f, map.bytes);
	mapfile_close(&map);
}

static enum component phase_of(enum debug_phase p) { return p == DEBUG_IN_CODEGEN ? COMPONENT_CODEGEN : COMPONENT_INDUCTOR; }

/* The last compilation of a run without code: it failed there, or the process ended. Earlier ones did not end the run. */
static bool stopped(const struct debugdir *d, uint32_t i)
{
	if (debugdir_phase(&d->comp[i]) == DEBUG_HAS_CODE || d->comp[i].has[DEBUG_OUTPUT_CPP])
		return false;
	for (uint32_t k = i + 1; k < d->n_comp && d->comp[k].run == d->comp[i].run; k++)
		return false;
	return true;
}

/* Runs use the same names for their compilations: with several runs, the process id is prefixed. Valid until the next call. */
static struct slice id_of(struct facts *f, const struct debugdir *d, const struct debug_comp *c)
{
	if (d->n_run < 2 || c->run == NONE)
		return c->name;
	buf_reset(&f->tmp);
	buf_addf(&f->tmp, "pid %llu %.*s", (unsigned long long)d->run[c->run].pid, SL(c->name));
	return buf_slice(&f->tmp);
}

static void take_compilations(struct facts *f, const struct debugdir *d, uint32_t input, const struct facts_options *o)
{
	for (uint32_t i = 0; i < d->n_comp; i++) {
		const struct debug_comp *c = &d->comp[i];
		struct fact_src src = fact_src(input, 0);
		uint32_t row = facts_compile(f, input, 0, 0, id_of(f, d, c), 0);
		f->compile[row].status = debugdir_phase(c) == DEBUG_HAS_CODE ? COMPILE_OK : COMPILE_UNKNOWN;
		take_graph(f, d, i, row, o);
		if (!stopped(d, i))
			continue;
		struct fact_marker *m = facts_new_marker(f, src);
		uint32_t at = f->n_marker - 1;
		m->component = phase_of(debugdir_phase(c));
		m->compile = row;
		buf_reset(&f->tmp);
		buf_addf(&f->tmp, "%s of %.*s", debug_phase_name(debugdir_phase(c)), SL(c->name));
		f->marker[at].what = facts_intern(f, buf_slice(&f->tmp));
	}
}

int facts_add_debugdir(struct facts *f, const char *path, const struct facts_options *o, struct err *err)
{
	struct debugdir d;
	if (debugdir_open(&d, path, err) < 0)
		return -1;
	uint32_t input = facts_input(f, FACT_DEBUGDIR, path);
	uint32_t traces = add_files(f, input, d.trace, d.n_trace, facts_add_trace, o);
	add_files(f, input, d.log, d.n_log, facts_add_textlog, o);
	if (!traces)
		take_compilations(f, &d, input, o);
	debugdir_close(&d);
	return 0;
}
