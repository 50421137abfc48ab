#include "crash/crash.h"
#include "base/text.h"

#include <signal.h>

void crash_release(struct crash *c)
{
	free(c->frame);
	free(c->stack);
	free(c->map);
	free(c->thread);
	arena_release(&c->arena);
	*c = (struct crash){0};
}

struct crash_stack *crash_add_stack(struct crash *c, struct slice name)
{
	if (c->n_stacks == CRASH_MAX_STACKS) {
		c->left_out++;
		return NULL;
	}
	GROW(c->stack, c->n_stacks, c->cap_stacks, 1);
	c->stack[c->n_stacks] = (struct crash_stack){.name = name, .first = c->n_frames};
	return &c->stack[c->n_stacks++];
}

struct crash_frame *crash_add_frame(struct crash *c)
{
	if (c->n_frames == CRASH_MAX_FRAMES || (!c->n_stacks && !crash_add_stack(c, (struct slice){0}))) {
		c->left_out++;
		return NULL;
	}
	GROW(c->frame, c->n_frames, c->cap_frames, 1);
	c->frame[c->n_frames] = (struct crash_frame){.number = NONE};
	c->stack[c->n_stacks - 1].n++;
	return &c->frame[c->n_frames++];
}

struct crash_map *crash_add_map(struct crash *c)
{
	if (c->n_maps == CRASH_MAX_MAPS) {
		c->left_out++;
		return NULL;
	}
	GROW(c->map, c->n_maps, c->cap_maps, 1);
	c->map[c->n_maps] = (struct crash_map){0};
	return &c->map[c->n_maps++];
}

static bool of_model(const struct crash *c, const struct crash_stack *s)
{
	for (uint32_t i = s->first; i < s->first + s->n; i++) {
		const struct crash_frame *f = &c->frame[i];
		if (slice_find(f->module, ".wrapper.so") || slice_find(f->symbol, "AOTInductorModel") ||
		    slice_starts(f->symbol, "cpp_fused"))
			return true;
	}
	return false;
}

const struct crash_stack *crash_main_stack(const struct crash *c)
{
	const struct crash_stack *best = NULL;
	unsigned value = 0;
	for (uint32_t i = 0; i < c->n_stacks; i++) {
		const struct crash_stack *s = &c->stack[i];
		/* A line of the kernel log makes a one-frame stack: prefer any other. */
		unsigned v = s->n && !s->python ? 1u + (c->frame[s->first].form != FORM_KERNEL) + 2u * of_model(c, s) + 4u * s->crashed : 0;
		if (v > value)
			best = s, value = v;
	}
	return best;
}

const struct crash_stack *crash_python_stack(const struct crash *c)
{
	const struct crash_stack *best = NULL;
	for (uint32_t i = 0; i < c->n_stacks; i++) {
		const struct crash_stack *s = &c->stack[i];
		if (s->n && s->python && (!best || s->crashed > best->crashed))
			best = s;
	}
	return best;
}

const struct crash_map *crash_map_of(const struct crash *c, uint64_t address)
{
	for (uint32_t i = 0; i < c->n_maps; i++)
		if (address >= c->map[i].start && address < c->map[i].end)
			return &c->map[i];
	return NULL;
}

void crash_place_frames(struct crash *c)
{
	for (uint32_t i = 0; c->n_maps && i < c->n_frames; i++) {
		struct crash_frame *f = &c->frame[i];
		if (!(f->has & HAS_ADDRESS) || f->has & (HAS_OFFSET | HAS_FILE_OFFSET))
			continue;
		const struct crash_map *m = crash_map_of(c, f->exact || !f->address ? f->address : f->address - 1);
		if (!m || !m->path.n || (f->module.n && !slice_eq(slice_base(f->module), slice_base(m->path))))
			continue;
		f->module = m->path;
		if (!f->build_id.n)
			f->build_id = m->build_id;
		f->offset = f->address - m->start + m->offset;
		f->has = (f->has & ~(unsigned)HAS_MAP_OFFSET) | HAS_FILE_OFFSET;
	}
}

const char *crash_form_name(enum crash_form form)
{
	static const char *const name[] = {"glibc", "torch", "gdb", "lldb", "asan", "journal", "kernel", "python", "core", "check"};
	return (size_t)form < ARRAY_LEN(name) ? name[form] : "?";
}

static const struct {
	int number;
	const char *name, *text;
} signals[] = {
    {SIGSEGV, "SIGSEGV", "Segmentation fault"},
    {SIGABRT, "SIGABRT", "Aborted"},
    {SIGILL, "SIGILL", "Illegal instruction"},
    {SIGFPE, "SIGFPE", "Floating point exception"},
    {SIGBUS, "SIGBUS", "Bus error"},
    {SIGTRAP, "SIGTRAP", "Trace/breakpoint trap"},
    {SIGKILL, "SIGKILL", "Killed"},
    {SIGSYS, "SIGSYS", "Bad system call"},
    {SIGTERM, "SIGTERM", "Terminated"},
    {SIGINT, "SIGINT", "Interrupt"},
    {SIGXCPU, "SIGXCPU", "CPU time limit exceeded"},
    {SIGFPE, "SIGFPE", "Floating-point exception"},
    {SIGSEGV, "EXC_BAD_ACCESS", "segfault"},
};

int crash_signal(struct slice name)
{
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (slice_is(name, signals[i].name) || slice_is(name, signals[i].text) || slice_is(name, signals[i].name + 3))
			return signals[i].number;
	return 0;
}

const char *crash_signal_name(struct crash *c, int signal)
{
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (signals[i].number == signal)
			return signals[i].name;
	char *text = arena_alloc(&c->arena, 24);
	snprintf(text, 24, "signal %d", signal);
	return text;
}
