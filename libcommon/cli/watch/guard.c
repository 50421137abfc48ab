#include "watch/guard.h"

#include "base/io/mapfile.h"
#include "base/text.h"
#include "model/elf/inlined.h"
#include "model/elf/modelso.h"
#include "watch/nan.h"

enum { LINE = 64 }; /* bytes that allocators align to */

/* clang-format off */
#define NAME(id, name) [GUARD_##id] = name,
static const char *const names[GUARD_KIND_N] = { GUARD_KINDS(NAME) };
#undef NAME
/* clang-format on */

static const char *guard_kind_name(enum guard_kind k) { return k < GUARD_KIND_N ? names[k] : "?"; }

/* ---- where it is in the text ---- */

static bool generated(struct slice file) { return slice_ends(file, ".cpp"); }

/* The line of the generated text: a vector load itself is in a header of the compiler's. */
static void find_line(struct guard *b, struct guard_finding *f, struct slice so)
{
	struct modelso m;
	struct modelso_row row;
	struct inlined_place v[INLINED_MAX];
	if (modelso_open(&m, so, "model", NULL) < 0)
		return;
	if (modelso_line(&m, f->ip, &row, NULL) == 1 && generated(slice_str(row.file))) {
		f->source = arena_slice(&b->arena, slice_str(path_base(row.file)));
		f->source_line = row.line;
	} else {
		const size_t n = inlined_at(so, f->ip, v, &b->arena);
		for (size_t i = 0; i < n && !f->source.n; i++)
			if (generated(v[i].file)) {
				f->source = v[i].file;
				f->source_line = v[i].line;
			}
	}
	modelso_close(&m);
}

static void find_source(struct guard *b, const struct watch *w, struct guard_finding *f, struct slice path)
{
	struct slice so;
	struct mapfile file;
	struct err err;
	if (!f->ip)
		return;
	if (w->loaded) {
		if (w->loaded->model && package_data(&w->loaded->pkg, w->loaded->model->so, &so, &err) == 0)
			find_line(b, f, so);
		return;
	}
	FREED char *name = xstrndup(path.p, path.n);
	if (mapfile_open(&file, name, &err) < 0)
		return;
	find_line(b, f, file.bytes);
	mapfile_close(&file);
}

/* What the contract says of the call and its argument. */
static void find_names(struct guard *b, const struct watch_model *m, struct guard_finding *f)
{
	f->text = m->text ? slice_str(path_base(m->text)) : SLICE("wrapper.cpp");
	f->text = arena_slice(&b->arena, f->text);
	if (!m->has_contract || f->contract_call >= m->contract.n_calls)
		return;
	const struct contract_call *c = &m->contract.call[f->contract_call];
	f->text_line = c->line;
	f->nodes = arena_slice(&b->arena, c->nodes);
	if (f->arg < c->n_args) {
		const uint32_t v = m->contract.arg[c->arg + f->arg].value;
		const struct contract_value *value = v < m->contract.n_values ? &m->contract.value[v] : NULL;
		if (value && !f->buffer.n)
			f->buffer = arena_slice(&b->arena, value->name);
		if (value && value->kind == VALUE_CONSTANT && value->index < m->contract.n_constants)
			f->path = arena_slice(&b->arena, m->contract.constant[value->index].fqn);
	}
	const struct nan_kernel *k = nan_sources_of(watch_sources(m), &m->contract, f->contract_call);
	if (!k)
		return;
	if (k->n_nodes && !f->nodes.n)
		f->nodes = arena_slice(&b->arena, k->node[k->n_nodes - 1]);
	if (k->n_lines)
		f->line = arena_slice(&b->arena, k->line[k->n_lines - 1]);
}

/* ---- reading ---- */

static struct slice member(struct guard *b, const struct live_event *ev, const char *key)
{
	struct buf hold = {0};
	const struct slice s = arena_slice(&b->arena, json_text(ev->tape, ev->root, key, &hold));
	buf_release(&hold);
	return s;
}

/* Lines, the innermost first. */
static struct slice asked(struct guard *b, const struct live_event *ev)
{
	struct buf lines = {0};
	json_each(ev->tape, json_get(ev->tape, ev->root, "asked"), k) {
		json_unescape(ev->tape, k, &lines);
		buf_addc(&lines, '\n');
	}
	const struct slice s = arena_slice(&b->arena, buf_slice(&lines));
	buf_release(&lines);
	return s;
}

static uint64_t elements(const struct live_event *ev)
{
	uint64_t n = 1;
	json_each(ev->tape, json_get(ev->tape, ev->root, "sizes"), k) {
		uint64_t size;
		if (!json_u64(ev->tape, k, &size) || __builtin_mul_overflow(n, size, &n))
			return 0;
	}
	return n;
}

/* Reads up to the end of a cache line past a tensor are in memory that its allocation has anyway. */
static bool stays_in_padding(const struct guard_finding *f, uint64_t aligned)
{
	if (f->kind != GUARD_READ_AFTER || f->first < (int64_t)f->extent || f->steps >= GUARD_STEPS)
		return false;
	const int64_t end = (int64_t)((aligned + f->extent + LINE - 1) / LINE * LINE);
	return (int64_t)aligned + f->last < end;
}

void guard_take(struct guard *b, const struct watch *w, const struct live_event *ev)
{
	const struct watch_model *m = watch_find_model(w, ev->model);
	if (ev->kind == LIVE_BOUNDS_SUMMARY) {
		b->guarded += live_event_number(ev, "guarded");
		b->unguarded += live_event_number(ev, "unguarded");
		b->unguarded_bytes += live_event_number(ev, "unguarded_bytes");
		if (!b->unordered.n)
			b->unordered = member(b, ev, "unordered");
		return;
	}
	const struct slice what = json_word(ev->tape, ev->root, "what");
	struct guard_finding f = {.kind = GUARD_KIND_N, .model = ev->model, .pid = (uint32_t)ev->pid};
	for (int k = 0; k < GUARD_KIND_N; k++)
		if (slice_is(what, names[k]))
			f.kind = (enum guard_kind)k;
	if (f.kind == GUARD_KIND_N)
		return;
	f.writes = json_flag(ev->tape, ev->root, "writes");
	f.kernel = member(b, ev, "kernel");
	f.buffer = member(b, ev, "buffer");
	f.role = member(b, ev, "role");
	f.dtype = member(b, ev, "dtype");
	f.operand = member(b, ev, "operand");
	f.when = member(b, ev, "when");
	f.run = json_index(ev->tape, ev->root, "run", NONE);
	f.call = json_index(ev->tape, ev->root, "call", NONE);
	f.contract_call = json_index(ev->tape, ev->root, "contract_call", NONE);
	f.arg = json_index(ev->tape, ev->root, "arg", NONE);
	f.item = (int)live_event_number(ev, "item");
	f.item = f.item > 0 && f.item <= 16 ? f.item : 1;
	f.elements = elements(ev);
	f.extent = live_event_number(ev, "extent");
	f.ip = live_event_number(ev, "ip");
	f.width = live_event_number(ev, "width");
	f.bits = live_event_number(ev, "bits");
	f.thread = live_event_number(ev, "thread");
	f.steps = live_event_number(ev, "times");
	f.first = json_int(ev->tape, ev->root, "first", 0);
	f.last = json_int(ev->tape, ev->root, "last", 0);
	f.memory = json_get(ev->tape, ev->root, "memory") != NONE;
	f.code = member(b, ev, "code");
	f.asked = asked(b, ev);
	f.in_padding = stays_in_padding(&f, live_event_number(ev, "aligned"));
	if (m)
		find_names(b, m, &f);
	find_source(b, w, &f, ev->path.n ? ev->path : m ? slice_str(m->path) : SLICE(""));
	PUSH_TO(b->v, b->n, b->cap) = f;
}

void guard_release(struct guard *b)
{
	free(b->v);
	arena_release(&b->arena);
	*b = (struct guard){0};
}

size_t guard_found(const struct guard *b)
{
	size_t n = 0;
	for (size_t i = 0; b && i < b->n; i++)
		n += guard_counts(&b->v[i]);
	return n;
}

/* ---- words ---- */

/* Which element a byte belongs to; those before the first are negative. */
static long long element(const struct guard_finding *f, int64_t byte)
{
	const int64_t n = byte / f->item;
	return n - (byte % f->item < 0);
}

static void add_place(const struct guard_finding *f, struct buf *b)
{
	const long long first = element(f, f->first), last = element(f, f->last);
	buf_addf(b, "%.*s", SL(f->buffer.n ? f->buffer : SLICE("an argument")));
	if (first == last)
		buf_addf(b, "[%lld]", first);
	else
		buf_addf(b, "[%lld..%lld]", first, last);
}

static void add_bytes(struct buf *b, int64_t n, const char *where)
{
	buf_addf(b, ": %lld byte%s %s", (long long)n, plural((uint64_t)n), where);
}

static void add_beyond(const struct guard_finding *f, struct buf *b)
{
	add_place(f, b);
	if (f->first < 0) {
		add_bytes(b, -f->first, "before the start");
		return;
	}
	buf_addf(b, ", which has %llu element%s", (unsigned long long)f->elements, plural(f->elements));
	add_bytes(b, f->last + 1 - (int64_t)f->extent, "past the end");
	if (f->in_padding)
		buf_adds(b, ", in the padding of its memory (harmless today)");
}

/* "libtorch_cpu.so _ZN2at6native9empty_cpuE...": "libtorch_cpu.so: at::native::empty_cpu". */
static void put_code(struct buf *b, struct slice code)
{
	put_flat(b, slice_until(code, " "), 100);
	code = slice_behind(code, " ");
	if (!code.n)
		return;
	buf_adds(b, ": ");
	if (!slice_starts(code, "_Z")) {
		put_flat(b, code, 100);
		return;
	}
	const char *between = "";
	for (size_t i = 2, n; i < code.n; i++) {
		for (n = 0; i < code.n && code.p[i] >= '0' && code.p[i] <= '9' && n < code.n; i++)
			n = n * 10 + (size_t)(code.p[i] - '0');
		if (!n && strchr("NLKSt", code.p[i])) /* N: nested; L: static; K: const; St: std */
			continue;
		if (!n || n > code.n - i)
			break;
		buf_adds(b, between);
		put_flat(b, slice_of(code.p + i, n), 100);
		between = "::";
		i += n - 1;
	}
}

/* Of memory outside of its kernel's tensors. */
static void memory_sentence(const struct guard_finding *f, struct buf *b)
{
	if (f->kernel.n)
		put_flat(b, f->kernel, 300);
	else if (f->code.n)
		put_code(b, f->code);
	else
		buf_adds(b, "an operator or other code");
	buf_adds(b, f->writes ? " writes " : " reads ");
	const int64_t n = f->kind == GUARD_FREED ? 0 : f->first < 0 ? -f->first : f->last + 1 - (int64_t)f->extent;
	if (n)
		buf_addf(b, "%lld byte%s %s ", (long long)n, plural((uint64_t)n), f->first < 0 ? "before the start of" : "past the end of");
	buf_addf(b, "%smemory of %llu bytes", f->kind == GUARD_FREED ? "" : "a piece of ", (unsigned long long)f->extent);
	if (f->kind == GUARD_FREED && f->buffer.n)
		buf_addf(b, " that was %.*s", SL(f->buffer));
	if (f->kind == GUARD_FREED)
		buf_adds(b, ", which was freed before");
	else if (f->kernel.n)
		buf_adds(b, ", none of its tensors");
	else if (!f->code.n)
		buf_adds(b, "; noticed later");
}

static void guard_sentence(const struct guard_finding *f, struct buf *b)
{
	if (f->memory) {
		memory_sentence(f, b);
		return;
	}
	const char *does = f->writes ? "writes" : "reads";
	if (f->kernel.n)
		put_flat(b, f->kernel, 300);
	else
		buf_adds(b, "a kernel");
	buf_addc(b, ' ');
	switch (f->kind) {
	case GUARD_WRITE_AFTER:
	case GUARD_WRITE_BEFORE:
	case GUARD_READ_AFTER:
	case GUARD_READ_BEFORE:
		buf_addf(b, "%s ", does);
		add_beyond(f, b);
		break;
	case GUARD_WRITE_NEIGHBOUR:
		buf_adds(b, "writes between the elements of ");
		add_place(f, b);
		buf_adds(b, " of its storage, over its neighbour");
		break;
	case GUARD_READ_NEIGHBOUR:
		buf_adds(b, "reads between the elements of ");
		add_place(f, b);
		buf_adds(b, " of its storage, which is its neighbour's");
		break;
	case GUARD_WRITE_INPUT:
		buf_adds(b, "writes to ");
		add_place(f, b);
		buf_adds(b, ", which it may only read");
		break;
	case GUARD_WRITE_WEIGHT:
		buf_adds(b, "writes to the weight ");
		add_place(f, b);
		if (f->path.n) {
			buf_adds(b, " (");
			put_flat(b, f->path, 200);
			buf_addc(b, ')');
		}
		break;
	case GUARD_UNINITIALISED:
		buf_adds(b, "uses ");
		add_place(f, b);
		buf_adds(b, ", which was never written: its results depend on what was in memory");
		break;
	case GUARD_RACE:
		buf_adds(b, "writes another value to ");
		add_place(f, b);
		buf_adds(b, slice_is(f->when, "order")        ? " when the chunks of its loops run in another order: its threads race"
			    : slice_is(f->when, "one-thread") ? " with one thread: its threads race"
							      : " when called again with the same inputs: its threads race");
		break;
	case GUARD_UNSTEADY:
		buf_adds(b, "writes values to ");
		add_place(f, b);
		buf_adds(b, " that depend on memory outside its tensors");
		break;
	case GUARD_FREED:
		buf_addf(b, "%s the memory of ", does);
		add_place(f, b);
		buf_adds(b, ", which was freed before");
		break;
	case GUARD_WILD:
		buf_addf(b, "%s far outside its tensors, closest to ", does);
		add_beyond(f, b);
		buf_adds(b, "; its process crashed");
		break;
	case GUARD_KIND_N: break;
	}
}

static void add_where(const struct guard_finding *f, struct buf *b)
{
	const char *between = "";
	if (f->source.n) {
		buf_addf(b, "%.*s:%u", SL(f->source), f->source_line);
		between = ", ";
	}
	if (f->text_line) {
		buf_addf(b, "%scalled at %.*s:%u", between, SL(f->text), f->text_line);
		between = ", ";
	}
	if (f->nodes.n) {
		buf_addf(b, "%snode ", between);
		put_flat(b, f->nodes, 200);
		between = ", ";
	}
	if (f->line.n) {
		buf_adds(b, between);
		put_flat(b, f->line, 300);
		between = ", ";
	}
	if (f->memory && f->kernel.n && f->code.n && !f->source.n) {
		buf_addf(b, "%sin ", between);
		put_code(b, f->code);
	}
}

static void add_askers(const struct guard_finding *f, struct buf *b)
{
	struct slice rest = f->asked, one;
	const char *between = "it was allocated by ";
	while (slice_line(&rest, &one)) {
		buf_adds(b, between);
		put_code(b, one);
		between = " < ";
	}
}

static void add_instruction(const struct guard_finding *f, struct buf *b)
{
	if (!f->width)
		return;
	buf_addf(b, "a %s of %llu byte%s", f->writes ? "store" : "load", (unsigned long long)f->width, plural(f->width));
	if (f->bits > 128)
		buf_addf(b, " (%llu-bit vector)", (unsigned long long)f->bits);
	if (f->operand.n)
		buf_addf(b, " at %.*s", SL(f->operand));
}

void guard_show(struct screen *s, const struct guard *b, const char *before)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct guard_finding *f = &b->v[i];
		struct buf line = {0};
		guard_sentence(f, &line);
		buf_adds(&s->b, before);
		put_text(s, buf_slice(&line));
		buf_addc(&s->b, '\n');
		for (int k = 0; k < 3; k++) {
			buf_reset(&line);
			if (k == 2)
				add_askers(f, &line);
			else if (k)
				add_instruction(f, &line);
			else
				add_where(f, &line);
			if (line.len) {
				buf_addf(&s->b, "  ");
				put_text(s, buf_slice(&line));
				buf_addc(&s->b, '\n');
			}
		}
		buf_release(&line);
	}
	const size_t n = guard_found(b);
	buf_addf(&s->b, "%s%llu kernel argument%s guarded, ", before, (unsigned long long)b->guarded, plural(b->guarded));
	if (n)
		buf_addf(&s->b, "%zu memory error%s\n", n, plural(n));
	else
		buf_adds(&s->b, "no memory error found\n");
	if (b->alloc)
		buf_addf(
		    &s->b,
		    "%smemory itself was guarded: tensors that share memory, writes to inputs and weights, uninitialised memory and races "
		    "not checked\n",
		    before);
	else if (!b->twice)
		buf_addf(&s->b,
			 "%sone call of each kernel for each of the program's: uninitialised memory, freed memory and races not checked\n",
			 before);
	else if (b->runs > GUARD_FULL_RUNS)
		buf_addf(
		    &s->b,
		    "%suninitialised memory, freed memory and races were checked in the first %d of %llu runs, all else in every one\n",
		    before, GUARD_FULL_RUNS, (unsigned long long)b->runs);
	if (b->unordered.n) {
		struct buf line = {0};
		buf_addf(&line, "%sthe order of OpenMP's chunks could not be changed (", before);
		put_flat(&line, b->unordered, 100);
		buf_adds(&line, "): races checked only by comparing with one thread");
		put_text(s, buf_slice(&line));
		buf_addc(&s->b, '\n');
		buf_release(&line);
	}
	if (b->unguarded) {
		buf_addf(&s->b, "%s%llu argument%s could not be guarded (", before, (unsigned long long)b->unguarded, plural(b->unguarded));
		put_bytes(&s->b, b->unguarded_bytes);
		buf_adds(&s->b, "): not checked\n");
	}
}

/* ---- JSON ---- */

static void json_finding(struct json_out *o, const struct guard_finding *f)
{
	struct buf b = {0};
	json_obj(o);
	json_member_str(o, "what", slice_str(guard_kind_name(f->kind)));
	guard_sentence(f, &b);
	json_member_str(o, "text", buf_slice(&b));
	buf_release(&b);
	json_member_str(o, "kernel", f->kernel);
	json_member_bool(o, "writes", f->writes);
	json_member_bool(o, "in_padding", f->in_padding);
	json_member_str(o, "buffer", f->buffer);
	json_member_str(o, "dtype", f->dtype);
	json_member_i64(o, "first", element(f, f->first));
	json_member_i64(o, "last", element(f, f->last));
	json_member_u64(o, "elements", f->elements);
	json_member_i64(o, "first_byte", f->first);
	json_member_i64(o, "last_byte", f->last);
	json_member_u64(o, "extent", f->extent);
	if (f->run != NONE)
		json_member_u64(o, "run", f->run);
	if (f->call != NONE)
		json_member_u64(o, "call", f->call);
	if (f->text_line)
		json_member_u64(o, "line", f->text_line);
	if (f->source.n) {
		json_member_str(o, "source", f->source);
		json_member_u64(o, "source_line", f->source_line);
	}
	json_member_some(o, "nodes", f->nodes);
	json_member_some(o, "python", f->line);
	json_member_some(o, "weight", f->path);
	json_member_some(o, "when", f->when);
	if (f->memory) {
		json_member_u64(o, "memory", f->extent);
		json_member_some(o, "code", f->code);
		json_member_lines(o, "allocated", f->asked);
	}
	if (f->width) {
		json_member_u64(o, "width", f->width);
		json_member_u64(o, "vector_bits", f->bits);
		json_member_some(o, "operand", f->operand);
	}
	json_close(o);
}

void guard_json(struct json_out *o, const struct guard *b)
{
	json_member_obj(o, "bounds");
	json_member_u64(o, "guarded", b->guarded);
	json_member_u64(o, "unguarded", b->unguarded);
	json_member_u64(o, "unguarded_bytes", b->unguarded_bytes);
	if (b->alloc)
		json_member_str(o, "guards", SLICE("memory"));
	json_member_some(o, "unordered", b->unordered);
	json_member_u64(o, "runs", b->runs);
	json_member_u64(o, "full_runs", !b->twice ? 0 : b->runs < GUARD_FULL_RUNS ? b->runs : GUARD_FULL_RUNS);
	json_member_arr(o, "findings");
	for (size_t i = 0; i < b->n; i++)
		json_finding(o, &b->v[i]);
	json_close(o);
	json_close(o);
}
