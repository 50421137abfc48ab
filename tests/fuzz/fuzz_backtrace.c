/* Any bytes as a text with backtraces, or as a core file: all that is taken out of them lies inside of them, and counts hold. */
#include "crash/backtrace.h"
#include "crash/core.h"
#include "crash/operand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void inside(struct slice all, struct slice s) { require(!s.n || (s.p >= all.p && s.p + s.n <= all.p + all.n)); }

static void check(struct crash *c, struct slice all, bool text)
{
	uint32_t frames = 0;
	for (uint32_t i = 0; i < c->n_stacks; i++) {
		require(c->stack[i].first == frames);
		frames += c->stack[i].n;
		if (text)
			inside(all, c->stack[i].name);
	}
	require(frames == c->n_frames && c->n_frames <= CRASH_MAX_FRAMES && c->n_stacks <= CRASH_MAX_STACKS && c->n_maps <= CRASH_MAX_MAPS);
	for (uint32_t i = 0; i < c->n_frames; i++) {
		const struct crash_frame *f = &c->frame[i];
		inside(all, f->module), inside(all, f->symbol), inside(all, f->file), inside(all, f->text);
		require(f->form <= FORM_CHECK && (!f->line || f->file.n));
	}
	for (uint32_t i = 0; i < c->n_maps; i++) {
		inside(all, c->map[i].path);
		require(c->map[i].start < c->map[i].end);
	}
	inside(all, c->said), inside(all, c->what), inside(all, c->exception), inside(all, c->command);
	crash_main_stack(c);
	crash_python_stack(c);
	crash_signal_name(c, c->signal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice all = slice_of((const char *)data, size);
	struct crash c = {0};
	struct operand o;
	struct err err;
	if (core_like(all)) {
		if (core_read(&c, all, "fuzz", &err) == 0)
			require(c.n_threads > 0 && c.n_threads <= CRASH_MAX_THREADS);
		else
			require(err.status == EXIT_INPUT && err.text[0]);
		check(&c, all, false);
	} else {
		crash_read_text(&c, all);
		check(&c, all, true);
	}
	if (operand_decode(all, &o))
		require(o.base < 16 && o.index < 16 && o.index != 4 && o.scale <= 8);
	crash_release(&c);
	return 0;
}
