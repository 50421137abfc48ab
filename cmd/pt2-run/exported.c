/* exported.c - runs a torch.export.save program, or a graph alone, with our own operators. Nothing in the file is executed. */
#include "aten/interp/program.h"
#include "base/clock.h"
#include "base/process/confine.h"
#include "watch/inputs.h"
#include "ptrun.h"
#include "graph/repro/graphfile.h"

#include <sys/resource.h>

enum { REPEAT = 5, MISSING = 8 }; /* calls with --profile; operators listed */

bool is_exported(const char *path)
{
	struct package pkg;
	struct err ignored;
	if (package_open_exported(&pkg, path, &ignored) < 0)
		return false;
	const bool alone = !pkg.n;
	package_close(&pkg);
	return alone;
}

/* Options that apply to compiled code. */
static int refuse_options(const struct ptrun_options *o, const char *path, struct err *err)
{
	const char *name = o->how.torch                       ? "torch"
			   : o->how.model                     ? "model"
			   : o->unconfined                    ? "unconfined"
			   : o->threads                       ? "threads"
			   : o->how.timeout_s && !o->ops.file ? "timeout"
			   : o->how.bounds                    ? "bounds"
							      : NULL;
	return name ? err_set(err, EXIT_USAGE, "--%s applies to compiled code: '%s' is a graph, which is run operator by operator", name,
			      path)
		    : 0;
}

/* Everything missing is reported before anything runs. */
static int refuse_missing(const struct graph *g, const struct custom_ops *ops, const char *path, struct err *err)
{
	struct interp_missing m[MISSING];
	struct buf b = {0};
	const size_t n = interp_missing(g, custom_ops_more(ops), m, MISSING);
	bool custom = false;
	for (size_t i = 0; i < n && i < MISSING; i++) {
		const char *why = interp_why_missing(m[i].op);
		custom |= !ops && !slice_starts(m[i].op, "aten.") && !slice_starts(m[i].op, "higher_order.");
		buf_addf(&b, "%s%.*s%s%s%s", i ? ", " : "", SLN(m[i].op, 100), why ? " (" : "", why ? why : "", why ? ")" : "");
	}
	if (n > MISSING)
		buf_addf(&b, " and %zu more", n - MISSING);
	const int r =
	    n ? err_set(err, EXIT_ENVIRON, "'%s' calls unsupported operators: %s (docs/user/GRAPHS.md lists the supported ones%s)", path,
			buf_str(&b), custom ? "; define your own ones with --ops=FILE.py" : "")
	      : 0;
	buf_release(&b);
	return r;
}

/* The outputs move to r, which takes ownership of what they point to. */
static void give(struct program_result *from, struct run_result *r)
{
	r->out.v = arena_alloc(&r->out.arena, (from->n + 1) * sizeof(*r->out.v));
	for (r->out.n = 0; r->out.n < from->n; r->out.n++) {
		struct tensor_view *v = &r->out.v[r->out.n];
		int64_t n;
		*v = from->v[r->out.n];
		v->name = arena_slice(&r->out.arena, v->name);
		if (tensor_text(v))
			v->data = arena_strndup(&r->out.arena, v->data, strlen(v->data));
		if (tensor_is_none(v) || !tensor_extent(&v->meta, &n))
			continue;
		v->data = arena_slice(&r->out.arena, slice_of(v->data, (size_t)n)).p;
	}
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static int run_often(const struct ptrun_options *o, const struct program *p, const struct inputs *in, struct run_result *r, struct err *err)
{
	const uint64_t runs = o->how.runs ? (uint64_t)o->how.runs : o->profile ? REPEAT : 1;
	const struct interp_options how = {.as_double = o->as_double, .max_bytes = o->max_bytes};
	OWNED(program_state_release) struct program_state state = {0};
	struct program_result result;
	struct run_times *t = &r->out.times;
	uint64_t *later = arena_alloc(&r->out.arena, runs * sizeof(*later));
	for (t->runs = 0; t->runs < runs; t->runs++) {
		const int64_t start = clock_ns();
		if (program_run_on(p, in->v, in->n, &how, &state, &result, err) < 0)
			return -1;
		const uint64_t took = (uint64_t)(clock_ns() - start);
		if (t->runs + 1 == runs)
			give(&result, r);
		program_result_release(&result);
		if (t->runs)
			t->rest += later[t->runs - 1] = took;
		else
			t->first = took;
	}
	qsort(later, runs - 1, sizeof(*later), by_size);
	t->median = runs > 1 ? later[(runs - 1) / 2] : 0;
	return 0;
}

/* A graph may request more memory than there is. */
static int limit_memory(const struct ptrun_options *o, struct err *err)
{
	return WITH_ASAN ? 0 : confine_limit(RLIMIT_AS, o->max_memory ? o->max_memory : 16ull << 30, "memory", err);
}

struct opened {
	struct program p;
	struct graph_file file; /* if it is a graph alone */
	bool alone;
};

static int open_graph(struct opened *g, const struct ptrun_options *o, const char *path, struct err *err)
{
	*g = (struct opened){.alone = o->graph || graph_file_is(path)};
	if (!g->alone)
		return program_open(&g->p, path, o->how.weights, err);
	if (graph_file_open(&g->file, &g->p, path, o->graph, err) < 0)
		return -1;
	if (!o->how.weights == !program_lacks_weights(&g->p))
		return o->how.weights ? program_weights(&g->p, o->how.weights, err) : 0;
	err_set(err, EXIT_USAGE,
		o->how.weights ? "--weights is for a model: the parameters of this graph are its inputs"
			       : "'%s' does not contain its parameters' values: pass --weights=FILE, or choose a graph that takes "
				 "them as inputs (--graph)",
		path);
	program_close(&g->p);
	graph_file_close(&g->file);
	return -1;
}

/* The launcher's own inputs, if none are given. */
static int read_inputs(const struct opened *g, const struct operands *in, struct inputs *given, struct err *err)
{
	if (g->alone && in->n == 1 && g->p.contract.n_inputs && !g->file.shown)
		return graph_kept_inputs(&g->file, &g->p, given, err);
	return inputs_read(given, &g->p.contract, in->v + 1, in->n - 1, err);
}

int run_graph(const struct ptrun_options *o, const struct operands *in, struct custom_ops *ops, struct run_result *r, struct err *err)
{
	struct opened g;
	struct inputs given;
	const char *path = in->v[0];
	const int64_t start = clock_ns();
	*r = (struct run_result){0};
	if (refuse_options(o, path, err) < 0 || limit_memory(o, err) < 0 || open_graph(&g, o, path, err) < 0)
		return -1;
	g.p.more = custom_ops_more(ops);
	int rc = custom_ops_ready(ops, err) < 0 ? -1 : refuse_missing(&g.p.graph, ops, path, err);
	if (!rc && (rc = read_inputs(&g, in, &given, err)) == 0) {
		r->out.times.load = (uint64_t)(clock_ns() - start);
		rc = run_often(o, &g.p, &given, r, err);
		inputs_release(&given);
	}
	program_close(&g.p);
	graph_file_close(&g.file);
	if (rc < 0)
		run_result_release(r);
	return rc;
}
