#include "profile/advice.h"
#include "profile/compare.h"
#include "base/text.h"

#include <inttypes.h>

enum { CLIP = 100 }; /* bytes of input text quoted in a message */

const char *const profile_advice_name[PROFILE_ADVICES] = {
#define X(id, name) [ADVICE_##id] = name,
    PROFILE_ADVICE(X)
#undef X
};

struct advise {
	struct profile_advices *x;
	const struct profile *p;
	double unit, wall; /* steps or 1; ns of all steps */
	bool device;
	struct buf tmp;
};

static const char *textf(struct advise *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
static const char *textf(struct advise *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_reset(&a->tmp);
	buf_addvf(&a->tmp, fmt, ap);
	va_end(ap);
	return arena_strndup(&a->x->arena, a->tmp.p, a->tmp.len);
}

/* ns: summed over all steps. */
static struct profile_advice *add_advice(struct advise *a, enum profile_advice_kind kind, double ns)
{
	struct profile_advice *v = &a->x->v[a->x->n++];
	*v = (struct profile_advice){.kind = kind,
				     .ns = ns / a->unit,
				     .share = a->wall > 0 ? ns / a->wall : 0,
				     .title = "",
				     .evidence = "",
				     .next = "",
				     .row = NONE};
	return v;
}

static double share(const struct advise *a, double ns) { return a->wall > 0 ? ns / a->wall : 0; }
static const char *took(struct advise *a, double ns)
{
	LOCAL_BUF b = {0};
	put_duration(&b, (uint64_t)(ns + 0.5));
	return textf(a, "%s", buf_str(&b));
}
static const char *per(const struct advise *a) { return a->p->n_step ? "per step" : "in total"; }

static void compiling(struct advise *a, bool again)
{
	const struct profile *p = a->p;
	uint32_t n = 0, in_steps = 0;
	double ns = 0;
	LOCAL_BUF ids = {0};
	for (uint32_t i = 0; i < p->n_compile; i++) {
		const struct profile_compile *c = &p->compile[i];
		if (c->again != again)
			continue;
		n++;
		in_steps += c->step != NONE;
		if (!p->n_step || c->step != NONE)
			ns += (double)c->dur;
		const struct slice id = intern_get(&p->names, c->id);
		if (id.n && n <= 6)
			buf_addf(&ids, " %.*s%s", SLN(id, CLIP), c->backward ? " (backward)" : "");
	}
	if (n && !(p->n_step && !in_steps)) {
		struct profile_advice *v = add_advice(a, again ? ADVICE_RECOMPILES : ADVICE_COLD, ns);
		v->title = again ? textf(a, "%u recompilation%s during the measurement", n, plural(n))
				 : textf(a, "%u compilation%s during the measurement: no warm-up", n, plural(n));
		v->evidence =
		    textf(a, "%.3f s of %.3f s spent compiling:%s%s", ns / 1e9, a->wall / 1e9, buf_str(&ids), n > 6 ? " ..." : "");
		v->next = again ? "TORCH_LOGS=recompiles shows which guard failed; fxexplain on a TORCH_TRACE=dir trace "
				  "shows the values and the fix\n"
				  "for sizes that change: torch.compile(model, dynamic=True), or torch._dynamo.mark_dynamic(x, dim)"
				: "call the compiled model twice before the profiler starts, or give it a schedule:\n"
				  "torch.profiler.schedule(wait=1, warmup=2, active=3), and prof.step() after each step";
	}
}

static void breaks(struct advise *a)
{
	const struct profile *p = a->p;
	if (!p->breaks)
		return;
	struct profile_advice *v = add_advice(a, ADVICE_BREAKS, (double)p->break_wait);
	LOCAL_BUF where = {0};
	uint64_t worst = 0;
	for (uint32_t i = 0; i < p->n_region; i++) {
		const struct profile_region *r = &p->region[i];
		if (!r->nested || r->wait < worst)
			continue;
		worst = r->wait;
		const struct slice from = intern_get(&p->names, p->region[r->after].id), to = intern_get(&p->names, r->id);
		buf_reset(&where);
		buf_addf(&where, "; most between %.*s and %.*s, %s each", SLN(from, CLIP), SLN(to, CLIP),
			 took(a, (double)r->wait / (double)r->nested));
	}
	v->title = textf(a, "Graph breaks: %.1f %s", (double)p->breaks / a->unit, per(a));
	v->evidence = textf(a, "%s %s between two compiled graphs of one call (guards, eager ops, bytecode)%s",
			    took(a, (double)p->break_wait / a->unit), per(a), buf_str(&where));
	v->next = "TORCH_LOGS=graph_breaks shows where and why; fxexplain on a TORCH_TRACE=dir trace ranks them, "
		  "with fixes";
}

static void guards(struct advise *a)
{
	const struct profile *p = a->p;
	const double ns = (double)p->spent[SPENT_GUARDS];
	if (share(a, ns) < 0.05)
		return;
	struct profile_advice *v = add_advice(a, ADVICE_GUARDS, ns);
	const struct profile_region *most = NULL;
	for (uint32_t i = 0; i < p->n_region; i++)
		if (!most || p->region[i].lookup > most->lookup)
			most = &p->region[i];
	v->title = "Guard checks take long";
	v->evidence = textf(a, "TorchDynamo Cache Lookup: %s %s, %.1f %% of the time", took(a, ns / a->unit), per(a), 100 * share(a, ns));
	if (most && most->lookup && most->calls) {
		const struct slice id = intern_get(&p->names, most->id);
		v->evidence = textf(a, "%s; most before %.*s, %s per call", v->evidence, SLN(id, CLIP),
				    took(a, (double)most->lookup / (double)most->calls));
	}
	v->next = "fewer graphs (graph breaks) and fewer compilations of one frame (recompiles) mean fewer lookups\n"
		  "TORCH_LOGS=guards lists what is checked; torch.compiler.set_stance(skip_guard_eval_unsafe=True) "
		  "skips most of it once everything is compiled";
}

/* The op or kernel with most self time in steps, among those that pass. */
static uint32_t top(const struct profile *p, bool (*pass)(const struct profile_row *r), double *ns)
{
	uint32_t best = NONE;
	for (uint32_t i = 0; i < p->n_row; i++)
		if (pass(&p->row[i]) && p->row[i].step_self && (best == NONE || p->row[i].step_self > p->row[best].step_self))
			best = i;
	*ns = best == NONE ? 0 : (double)p->row[best].step_self;
	return best;
}

static bool cpu_op(const struct profile_row *r) { return r->class == CLASS_OP && r->kind == KIND_OP; }
static bool cpu_extern(const struct profile_row *r) { return cpu_op(r) && r->graph_self * 2 > r->step_self; }
static bool cpu_eager(const struct profile_row *r) { return cpu_op(r) && r->graph_self * 2 <= r->step_self; }
static bool cpu_kernel(const struct profile_row *r) { return r->class == CLASS_OP && r->kind == KIND_KERNEL; }

static void hidden(struct advise *a)
{
	const struct profile *p = a->p;
	const double ns = (double)p->spent[SPENT_GENERATED];
	if (!p->compiled || a->device || p->spent[SPENT_KERNEL] || share(a, ns) < 0.1)
		return;
	struct profile_advice *v = add_advice(a, ADVICE_HIDDEN, ns);
	v->title = "The C++ kernels are not timed";
	v->evidence = textf(a, "%s %s (%.0f %%) inside graphs but not in any op: kernels and the code that calls them",
			    took(a, ns / a->unit), per(a), 100 * share(a, ns));
	v->next = "torch._inductor.config.cpp.enable_kernel_profile = True before compiling (or "
		  "TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE=1),\n"
		  "then profile again: each kernel is an event graph_N_cpp_fused_...";
}

static void small_ops(struct advise *a)
{
	const struct profile *p = a->p;
	const double ns = (double)p->small_eager_ns, n = (double)p->small_eager / a->unit;
	double most;
	if (n < 20 || share(a, ns) < 0.05)
		return;
	struct profile_advice *v = add_advice(a, ADVICE_SMALL, ns);
	const uint32_t row = top(p, cpu_eager, &most);
	const struct slice name = profile_name(p, row);
	v->title = textf(a, "Many small ops %s", p->compiled ? "are left in eager" : "run one by one");
	v->evidence = textf(a, "%.0f ops of less than 5 us %s, %s together; most eager time is in %.*s", n, per(a), took(a, ns / a->unit),
			    SLN(name, CLIP));
	v->next = p->compiled ? "also compile what calls them: the optimizer (torch.compile of a function that calls "
				"optimizer.step()), the loss, the whole step"
			      : "torch.compile fuses them into a few kernels";
	v->row = row;
}

static void device_idle(struct advise *a)
{
	const struct profile *p = a->p;
	const double span = (double)p->device_span * p->devices, idle = span - (double)p->device_busy;
	if (!a->device || span <= 0 || idle / span < 0.2)
		return;
	struct profile_advice *v = add_advice(a, ADVICE_DEVICE_IDLE, idle / p->devices);
	v->title = "The device is waiting for the CPU";
	v->evidence = textf(a, "it is busy %.0f %% of the time between its first and last kernel", 100 * (double)p->device_busy / span);
	v->next = "torch.compile(model, mode=\"reduce-overhead\") launches a whole graph at once (CUDA graphs); use larger "
		  "batches; avoid .item(), .cpu() and print in the step";
}

static void extern_op(struct advise *a)
{
	const struct profile *p = a->p;
	double ns;
	const uint32_t row = top(p, cpu_extern, &ns);
	if (row == NONE || a->device || !p->compiled || share(a, ns) < 0.2)
		return;
	struct profile_advice *v = add_advice(a, ADVICE_EXTERN, ns);
	const struct slice name = profile_name(p, row);
	v->title = textf(a, "%.*s takes most of the time: compiled code calls it, but it is not fused", SLN(name, CLIP));
	v->evidence = textf(a, "%s %s, %.0f %% of the time, %.1f calls, slowest %s%s%s", took(a, ns / a->unit), per(a), 100 * share(a, ns),
			    (double)p->row[row].step_count / a->unit, took(a, (double)p->row[row].max), p->row[row].shape ? " of " : "",
			    p->row[row].shape ? p->row[row].shape : "");
	v->next = "the time is spent in the library: try lower precision (torch.autocast), more threads, larger batches; for inference\n"
		  "torch._inductor.config.freezing = True packs weights; mode=\"max-autotune\" tries Inductor's own kernels";
	v->row = row;
}

static void kernel(struct advise *a)
{
	const struct profile *p = a->p;
	double ns;
	const uint32_t row = top(p, cpu_kernel, &ns);
	if (row == NONE || a->device || share(a, ns) < 0.1)
		return;
	struct profile_advice *v = add_advice(a, ADVICE_KERNEL, ns);
	const struct slice name = profile_kernel_name(profile_name(p, row));
	v->title = textf(a, "%.*s is the most expensive kernel", SLN(name, CLIP));
	v->evidence = textf(a, "%s %s, %.0f %% of the time", took(a, ns / a->unit), per(a), 100 * share(a, ns));
	v->next = textf(a,
			"fxexplain kernel %.*s DIR shows its code and the Python lines it comes from (DIR: made by "
			"TORCH_COMPILE_DEBUG=1 or TORCH_TRACE)",
			SLN(name, CLIP));
	v->row = row;
}

static void python(struct advise *a)
{
	const struct profile *p = a->p;
	const double ns = (double)p->spent[SPENT_PYTHON];
	if (share(a, ns) < 0.15 || !p->n_gap)
		return;
	struct profile_advice *v = add_advice(a, ADVICE_PYTHON, ns);
	const struct profile_gap *g = &p->gap[0];
	const struct slice before = profile_name(p, g->before), after = profile_name(p, g->after), in = profile_name(p, g->python);
	v->title = textf(a,
			 a->device ? "No op runs on the CPU for %.0f %% of the time: Python, or waiting"
				   : "Nothing runs for %.0f %% of the time: Python, or waiting",
			 100 * share(a, ns));
	v->evidence = textf(a, "%" PRIu64 " gaps; the longest %s, after %.*s, before %.*s%s%.*s", p->n_gaps, took(a, (double)g->dur),
			    SLN(before.n ? before : SLICE("the start of the step"), CLIP),
			    SLN(after.n ? after : SLICE("the end of the step"), CLIP), in.n ? ", in " : "", SLN(in, CLIP));
	v->next = p->has_stacks ? "look into that function: data loading, optimizer.step() in Python, .item(), printing"
				: "profile(with_stack=True) shows in which function; often it is data loading, optimizer.step() "
				  "in Python, .item(), printing";
}

static void dynamo(struct advise *a)
{
	const double ns = (double)a->p->spent[SPENT_DYNAMO];
	if (share(a, ns) < 0.1)
		return;
	struct profile_advice *v = add_advice(a, ADVICE_DYNAMO, ns);
	v->title = "Entering the graphs costs more than it should";
	v->evidence = textf(a, "%s %s (%.0f %%) in compiled regions, but outside graphs: prologues, bytecode between graphs",
			    took(a, ns / a->unit), per(a), 100 * share(a, ns));
	v->next = "use larger graphs (fewer breaks, compile a larger function) and more work per call (batch size)";
}

/* Time inside graphs but not in any event, when kernels have events of their own. */
static void wrapper(struct advise *a)
{
	const struct profile *p = a->p;
	const double ns = (double)p->spent[SPENT_GENERATED];
	if ((!p->spent[SPENT_KERNEL] && !a->device) || share(a, ns) < 0.1)
		return;
	struct profile_advice *v = add_advice(a, ADVICE_WRAPPER, ns);
	v->title = "The code between the kernels";
	v->evidence = textf(a,
			    "%s %s (%.0f %%) inside graphs, between kernels and ops: the generated Python "
			    "wrapper, AOTAutograd's runtime",
			    took(a, ns / a->unit), per(a), 100 * share(a, ns));
	v->next = a->device ? "torch.compile(model, mode=\"reduce-overhead\") replays it without Python (CUDA graphs)"
			    : "torch._inductor.config.cpp_wrapper = True generates it in C++; larger batches make it matter less";
}

static void copies(struct advise *a)
{
	const struct profile *p = a->p;
	double ns = 0, most = 0;
	uint32_t row = NONE;
	for (uint32_t i = 0; i < p->n_row; i++) {
		const struct profile_row *r = &p->row[i];
		const struct slice name = profile_name(p, i);
		const bool here = a->device ? r->class == CLASS_COPY : cpu_op(r);
		if (!here || !r->step_self || profile_family_of(name, r->class, r->kind) != FAMILY_COPY)
			continue;
		ns += (double)r->step_self;
		if ((double)r->step_self > most) {
			most = (double)r->step_self;
			row = i;
		}
	}
	if (row == NONE || share(a, ns) < 0.05)
		return;
	struct profile_advice *v = add_advice(a, ADVICE_COPIES, ns);
	const struct slice name = profile_name(p, row);
	v->title = "Copies";
	v->evidence = textf(a, "%s %s (%.0f %%), most in %.*s%s%s", took(a, ns / a->unit), per(a), 100 * share(a, ns), SLN(name, CLIP),
			    p->row[row].shape ? " of " : "", p->row[row].shape ? p->row[row].shape : "");
	v->next = a->device ? "use pin_memory() and non_blocking=True for necessary copies; keep the rest on the device"
			    : "look for repeated changes of dtype or layout (.to, .contiguous, channels_last); "
			      "record_shapes=True shows of which tensors";
	v->row = row;
}

static void eager_op(struct advise *a)
{
	const struct profile *p = a->p;
	double ns;
	const uint32_t row = top(p, cpu_eager, &ns);
	if (row == NONE || a->device || share(a, ns) < 0.1)
		return;
	struct profile_advice *v = add_advice(a, ADVICE_EAGER, ns);
	const struct slice name = profile_name(p, row);
	v->title = textf(a, "%.*s %s", SLN(name, CLIP), p->compiled ? "runs outside compiled code" : "takes most of the time");
	v->evidence = textf(a, "%s %s, %.0f %% of the time, %.1f calls%s%s", took(a, ns / a->unit), per(a), 100 * share(a, ns),
			    (double)p->row[row].step_count / a->unit, p->row[row].shape ? ", slowest of " : "",
			    p->row[row].shape ? p->row[row].shape : "");
	v->next = p->compiled ? "a graph break excludes it, or its caller is not compiled" : "";
	v->row = row;
}

static int by_gain(const void *a, const void *b)
{
	const struct profile_advice *x = a, *y = b;
	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : (int)x->kind - (int)y->kind;
}

void profile_advise(struct profile_advices *x, const struct profile *p)
{
	*x = (struct profile_advices){0};
	struct advise a = {.x = x, .p = p, .unit = p->n_step ? (double)p->n_step : 1, .wall = (double)p->wall, .device = p->devices > 0};
	compiling(&a, false);
	compiling(&a, true);
	breaks(&a);
	guards(&a);
	hidden(&a);
	small_ops(&a);
	device_idle(&a);
	extern_op(&a);
	kernel(&a);
	python(&a);
	dynamo(&a);
	wrapper(&a);
	copies(&a);
	eager_op(&a);
	if (!p->compiled) {
		struct profile_advice *v = add_advice(&a, ADVICE_NOT_COMPILED, 0);
		v->title = "Nothing in this profile is compiled";
		v->evidence = "no Torch-Compiled Region, no compiled graph, no fused kernel";
		v->next = "profile the same steps with torch.compile and compare: fxexplain profile EAGER COMPILED";
	}
	if (!p->n_step) {
		struct profile_advice *v = add_advice(&a, ADVICE_NO_STEPS, 0);
		v->title = "No steps: numbers cover the whole profile";
		v->evidence = "no ProfilerStep#N";
		v->next = "profile(schedule=...) and prof.step() after each step: numbers are then per step, and time "
			  "outside steps does not count";
	}
	if (x->n)
		qsort(x->v, x->n, sizeof(*x->v), by_gain);
	buf_release(&a.tmp);
}

void profile_advices_release(struct profile_advices *x)
{
	arena_release(&x->arena);
	*x = (struct profile_advices){0};
}
