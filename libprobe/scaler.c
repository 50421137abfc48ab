/* scaler.c - the steps of torch.amp.GradScaler, as share/jit/scaler.py sees them: what a step that it skips has found is its own. */
#include "jit.h"
#include "ops.h"

static _Atomic uint64_t scaled_from;

/* The seq of the last call so far. */
static uint64_t position(void) { return atomic_load_explicit(&ops_log()->ticket, memory_order_relaxed); }

static void tell(bool made, double scale, bool skipped)
{
	struct buf b = {0};
	struct json_out o;
	const uint64_t scaled = atomic_exchange(&scaled_from, 0);
	event_begin(&o, &b, LIVE_SCALER, LIVE_NO_MODEL);
	json_member_u64(&o, "seq", position());
	if (made) {
		json_member_bool(&o, "made", true);
	} else {
		json_member_u64(&o, "scaled", scaled);
		json_member_double(&o, "scale", scale, 6);
		json_member_bool(&o, "skipped", skipped);
	}
	event_end(&o, &b);
}

void pt2_jit_scaler_made(void)
{
	if (ops_log_open())
		tell(true, 0, false);
}

void pt2_jit_scaler_scaled(void)
{
	uint64_t none = 0;
	if (ops_log_open())
		atomic_compare_exchange_strong(&scaled_from, &none, position() + 1);
}

void pt2_jit_scaler_updated(double scale, int skipped)
{
	if (!ops_log_open())
		return;
	/* What the GPU has found in this step, before the step ends; then it looks for the next. */
	if (skipped && ops_want() & CALLS_SCAN)
		cuda_scan_end();
	tell(false, scale, skipped);
	ops_keep_step(skipped);
	if (skipped && ops_want() & CALLS_SCAN)
		cuda_scan_again();
}
