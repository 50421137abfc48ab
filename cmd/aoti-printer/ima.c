/* ima.c - --ima: which kernel made the illegal memory access? Every launch and op is waited for (CALLS_SYNC, libprobe/cuda.h); the event
 * that the probe writes on a fault is combined with the contract and the calls before it (fault.h). */
#include "base/tool/diag.h"
#include "fault.h"
#include "base/text.h"

#include <inttypes.h>

enum { KEPT = 4096, RUNS = 256, DEATHS = 8 };

/* The inputs of a Run: sizes bind symbols. */
struct past_run {
	uint32_t pid, model, run;
	size_t n;
	struct tensor_meta *in;
};
struct fault {
	struct session s;
	struct fault_call *past; /* a ring of the last KEPT calls */
	uint64_t n;
	struct past_run runs[RUNS];
	uint64_t n_runs, launches, captured;
	struct fault_call death[DEATHS]; /* calls that never returned */
	size_t n_deaths;
	struct ima ima;
	struct arena arena;   /* of the report */
	char *const *command; /* or a model and its inputs */
	bool file_operands;   /* which is run here */
	struct output *file;  /* -o; NULL */
	struct sanitize sanitize;
};

/* ---- while it runs ---- */

static void take_run(struct fault *h, const struct watch_call *c)
{
	struct past_run *r = &h->runs[h->n_runs++ % RUNS];
	free(r->in);
	*r = (struct past_run){.pid = c->begin.pid, .model = c->begin.model, .run = c->begin.run};
	r->in = xcalloc(c->n_values + 1, sizeof(*r->in));
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct call_record *v = &c->value[i].rec;
		if (v->v.role == CALL_ROLE_MODEL_INPUT && v->v.arg == r->n)
			dump_meta(v, &r->in[r->n++]);
	}
}

static void fault_in_call(struct session *s, const struct watch_call *c)
{
	struct fault *h = s->user;
	if (c->begin.what == CALL_RUN_BEGIN) {
		take_run(h, c);
		return;
	}
	struct fault_call *p = &h->past[h->n++ % KEPT];
	*p = (struct fault_call){.seq = c->begin.seq, .pid = c->begin.pid, .tid = c->begin.tid, .model = c->begin.model};
	p->run = c->begin.run;
	p->call = c->begin.call;
	p->line = c->contract ? c->contract->line : 0;
	snprintf(p->name, sizeof(p->name), "%s", c->name);
	p->launched = c->launch != NULL;
	p->returned = c->end.what != CALL_NONE && c->end.result != CALLS_NOT_RETURNED;
	if (c->launch)
		p->launch = *c->launch;
	h->launches += p->launched;
	h->captured += p->launched && p->launch.captured;
	if (c->end.what == CALL_NONE && h->n_deaths < DEATHS)
		h->death[h->n_deaths++] = *p;
}

/* ---- the report ---- */

static void find_model(struct fault_case *c, const struct watch *w)
{
	c->model = watch_find_model(w, c->e->model);
	c->contract = c->model && c->model->has_contract ? &c->model->contract : NULL;
	c->call = c->contract && c->e->contract_call < c->contract->n_calls ? &c->contract->call[c->e->contract_call] : NULL;
}

/* Graph nodes and Python lines, if the package has them. */
static void find_source(struct fault_case *c)
{
	if (!c->call)
		return;
	c->from.call.c.name = c->call->name;
	c->from.call.nth = contract_nth(c->contract, c->call);
	nan_sources_apply(watch_sources(c->model), &c->from);
}

/* The sizes that the inputs of this run determine. */
static void find_symbols(struct fault *h, struct fault_case *c)
{
	struct symbind env = {0};
	for (uint64_t i = 0; c->contract && c->contract->n_symbols && i < h->n_runs && i < RUNS; i++) {
		const struct past_run *r = &h->runs[i];
		if (r->pid != c->e->pid || r->model != c->e->model || r->run != c->e->run || !contract_bind(c->contract, r->in, r->n, &env))
			continue;
		c->symbol = arena_alloc(&h->arena, c->contract->n_symbols * sizeof(*c->symbol));
		for (uint32_t k = 0; k < c->contract->n_symbols; k++) {
			struct fault_symbol *s = &c->symbol[c->n_symbols];
			s->name = symtab_name(&c->contract->tab, c->contract->symbol[k].symbol);
			c->n_symbols += symbind_get(&env, c->contract->symbol[k].symbol, &s->value);
		}
		break;
	}
	symbind_release(&env);
}

static int by_seq(const void *a, const void *b)
{
	uint64_t x = (*(const struct fault_call *const *)a)->seq, y = (*(const struct fault_call *const *)b)->seq;
	return x < y ? -1 : x > y;
}

/* The last calls of that process up to this one, all threads. */
static void find_past(struct fault *h, struct fault_case *c)
{
	const size_t most = (size_t)h->s.o->last;
	const struct fault_call **v = arena_alloc(&h->arena, KEPT * sizeof(*v));
	size_t n = 0;
	for (uint64_t i = 0; i < h->n && i < KEPT; i++)
		if (h->past[i].pid == c->e->pid && h->past[i].seq <= c->e->seq)
			v[n++] = &h->past[i];
	qsort(v, n, sizeof(*v), by_seq);
	c->n_last = n > most ? most : n;
	c->last = v + (n - c->n_last);
}

static void add_case(struct fault *h, struct fault_report *r, struct ima_event *e)
{
	struct fault_case *c = &r->v[r->n++];
	*c = (struct fault_case){.e = e};
	find_model(c, r->w);
	ima_name_numbers(e, c->contract);
	ima_judge(&h->ima, e);
	find_source(c);
	find_symbols(h, c);
	if (e->fault)
		find_past(h, c);
}

static void add_cases(struct fault *h, struct fault_report *r)
{
	r->v = arena_alloc(&h->arena, (h->ima.n + 1) * sizeof(*r->v));
	for (size_t i = 0; i < h->ima.n; i++)
		if (h->ima.v[i].fault)
			add_case(h, r, &h->ima.v[i]);
	r->n_faults = r->n;
	for (size_t i = 0; i < h->ima.n; i++)
		if (!h->ima.v[i].fault)
			add_case(h, r, &h->ima.v[i]);
}

/* A process killed by a signal during a call. Also one that was asked to exit: its call may have hung. */
static void add_deaths(struct fault *h, struct fault_report *r)
{
	struct buf b = {0};
	struct child_result how;
	r->death = arena_alloc(&h->arena, (h->n_deaths + 1) * sizeof(*r->death));
	for (size_t i = 0; i < h->n_deaths; i++) {
		const struct fault_call *c = &h->death[i];
		enum watch_fate fate = watch_fate(r->w, c->pid, &how);
		if (fate != WATCH_KILLED && !(fate == WATCH_GONE && c->tid == c->pid)) /* a thread was still running */
			continue;
		buf_reset(&b);
		buf_addf(&b, "process %u ", c->pid);
		if (fate == WATCH_KILLED) {
			buf_adds(&b, "was ");
			child_describe(&how, &b);
		} else {
			buf_adds(&b, "ended (only its parent knows how)");
		}
		buf_addf(&b, " in %s, call %u", c->name, c->call);
		if (c->run != CALLS_NO_RUN)
			buf_addf(&b, " of run %u", c->run);
		r->death[r->n_deaths++] = arena_slice(&h->arena, buf_slice(&b));
	}
	buf_release(&b);
}

/* ---- what to try next ---- */

static void add_word(struct buf *b, const char *word)
{
	buf_addc(b, ' ');
	buf_add_word(b, word);
}

/* words: the start of the command line; NULL command: nothing follows. */
static void add_step(struct fault *h, struct fault_report *r, const char *text, const char *words, char *const *command)
{
	struct buf b = {0};
	if (r->n_steps == FAULT_STEPS)
		return;
	buf_adds(&b, words);
	for (; command && *command; command++)
		add_word(&b, *command);
	r->step[r->n_steps++] = (struct fault_step){text, arena_slice(&h->arena, buf_slice(&b))};
	buf_release(&b);
}

/* An access outside the kernel's memory (cuda.h): ILLEGAL_ADDRESS, MISALIGNED_ADDRESS, INVALID_ADDRESS_SPACE, LAUNCH_FAILED. */
static bool of_memory(uint64_t code) { return code == 700 || code == 716 || code == 717 || code == 719; }

static bool wrong_tensor(const struct fault_report *r)
{
	bool wrong = r->n > r->n_faults;
	for (uint32_t i = 0; r->n_faults && i < r->v[0].e->n_suspects; i++)
		wrong |= ima_certain(&r->v[0].e->suspect[i]) && r->v[0].e->suspect[i].why < IMA_TOO_MANY;
	return wrong;
}

static const char *with_torch(struct fault *h, const char *words)
{
	const char *torch = h->s.o->how.torch;
	struct buf b = {0};
	buf_adds(&b, words);
	if (torch && *torch)
		buf_addf(&b, "=%s", torch);
	const char *all = arena_strndup(&h->arena, buf_str(&b), b.len);
	buf_release(&b);
	return all;
}

static void add_steps(struct fault *h, struct fault_report *r)
{
	const struct ima_event *e = r->n_faults ? r->v[0].e : NULL;
	const bool memory = e && of_memory(e->code);
	struct buf b = {0};
	if (wrong_tensor(r))
		add_step(h, r, "check what each call of a model is given", h->file_operands ? "aoti-checkinputs" : "aoti-checkinputs --",
			 h->command);
	if (e && (e->code == 209 || e->code == 701))
		add_step(h, r, "check that the package is for this GPU", "aoti-checkinputs --doctor MODEL.pt2", NULL);
	if (e && e->graph)
		add_step(h, r, "to see which one, run it without CUDA graphs: each launch is then waited for", "", NULL);
	if (memory && !r->alloc)
		add_step(h, r, "check whether it is still this kernel with a separate allocation per tensor (no caching allocator)",
			 h->file_operands ? with_torch(h, "aoti-printer --ima=alloc --torch") : "aoti-printer --ima=alloc --", h->command);
	if (e && e->launch && !slice_is(e->when, "before")) {
		buf_adds(&b, "fxexplain kernel");
		add_word(&b, arena_strndup(&h->arena, e->kernel.p, e->kernel.n));
		if (h->file_operands)
			add_word(&b, h->command[0]);
		else
			buf_adds(&b, " MODEL.pt2");
		add_step(h, r, "show the kernel's code, line by line", buf_str(&b), NULL);
	}
	if (memory && !h->file_operands && !r->sanitize)
		add_step(h, r, "find the instruction and thread (slow)", "aoti-printer --ima --sanitizer --", h->command);
	if (memory && !slice_is(e->when, "before") && !h->file_operands)
		add_step(h, r, "find the smallest graph that fails", "fxminify --", h->command);
	else if (memory && !slice_is(e->when, "before"))
		add_step(h, r, "find the smallest graph that fails (from torch.export.save)", "fxminify EXPORTED.pt2", NULL);
	buf_release(&b);
}

static void add_note(struct fault *h, struct fault_report *r)
{
	struct buf b = {0};
	bool device = h->launches != 0; /* even if a model has no contract */
	uint64_t replays = 0;
	for (size_t i = 0; i < r->w->n_graphs; i++)
		replays += r->w->graph[i].replays;
	for (size_t i = 0; i < r->w->n_models; i++)
		device |= r->w->model[i].has_contract && r->w->model[i].contract.device > DEVICE_CPU;
	if (r->sanitize && !r->sanitize->reports) {
		r->note = SLICE("compute-sanitizer wrote no report");
		return;
	}
	if (r->n || (r->sanitize && r->sanitize->found.n))
		return;
	if (!r->calls && !r->w->live.models)
		buf_adds(&b, "--ima watches torch.compile graphs and AOTInductor models; use compute-sanitizer for any other program");
	else if (r->calls && device)
		buf_addf(&b, "%" PRIu64 " calls, each waited for: none failed", r->calls);
	else if (r->calls)
		buf_addf(&b,
			 "%" PRIu64
			 " calls, none of a GPU model; to find the kernel in which a CPU model crashes, use aoti-nanassert -- COMMAND",
			 r->calls);
	if (r->captured && replays)
		buf_addf(&b,
			 "; %" PRIu64 " of the launches were captured into a CUDA graph, and waited for together in %" PRIu64 " replay%s",
			 r->captured, replays, plural(replays));
	else if (r->captured)
		buf_addf(&b, "; %" PRIu64 " of the launches were captured into a CUDA graph, but no replay was seen", r->captured);
	r->note = arena_take(&h->arena, &b);
}

/* ---- the end ---- */

/* A report that cannot be written to its file is shown: the run may have taken long. */
static void write_file(struct fault *h)
{
	struct session *s = &h->s;
	struct err err = {0};
	int r = write_all(output_fd(h->file), s->screen.b.p, s->screen.b.len, s->o->output, &err);
	if (r < 0)
		output_abort(h->file);
	else
		r = output_commit(h->file, &err);
	if (!r)
		buf_reset(&s->screen.b);
	else if (err.text[0])
		s->err = err;
	h->file = NULL;
}

static void end_fault(struct session *s, struct watch *w)
{
	struct fault *h = s->user;
	struct fault_report r = {
	    .w = w, .calls = s->seen, .captured = h->captured, .alloc = !strcmp(s->o->ima, "alloc"), .command = h->command};
	ima_read(&h->ima, buf_slice(&w->device));
	add_cases(h, &r);
	sanitize_end(&h->sanitize, &r);
	for (size_t i = 0; i < h->sanitize.found.n; i++)
		if (!h->sanitize.row[i].of)
			find_source(&h->sanitize.row[i].at);
	add_deaths(h, &r);
	add_steps(h, &r);
	add_note(h, &r);
	s->found = r.n + h->sanitize.found.n;
	if (s->o->json)
		fault_document(&s->screen.b, &r);
	else
		fault_show(&s->screen, &r);
	if (r.note.n && !s->o->quiet)
		note("%s: %.*s", diag_tool, SL(r.note));
	if (h->file)
		write_file(h);
}

int run_ima(const struct printer_options *given, const struct operands *in)
{
	struct printer_options o = *given;
	struct fault h = {.past = xcalloc(KEPT, sizeof(*h.past)), .file_operands = !in->command};
	struct err err = {0};
	h.command = in->command ? in->command : (char *const *)(uintptr_t)in->v;
	o.inputs = true;
	o.level = LEVEL_NAMES;
	o.last = o.last < 0 ? 16 : o.last;
	/* c10/cuda/CUDACachingAllocator.cpp: each tensor is then a driver allocation of its own. */
	if (o.sanitizer)
		o.ima = "alloc";
	if (!strcmp(o.ima, "alloc"))
		setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1", 1);
	session_begin(&h.s, &o, fault_in_call, end_fault, &h);
	if (o.output && !(h.file = output_file(o.output, &err)))
		die_err(&err);
	if (h.file)
		h.s.screen.color = false, h.s.screen.width = 0;
	struct operands under = *in;
	if (o.sanitizer) {
		if (sanitize_begin(&h.sanitize, in, &err) < 0)
			die_err(&err);
		under.command = h.sanitize.command;
	}
	int status = session_run(&h.s, &under, 0, CALLS_NAMES | CALLS_SYNC);
	if (h.file)
		output_abort(h.file);
	sanitize_release(&h.sanitize);
	ima_release(&h.ima);
	arena_release(&h.arena);
	for (size_t i = 0; i < RUNS; i++)
		free(h.runs[i].in);
	free(h.past);
	session_end(&h.s);
	return status;
}
