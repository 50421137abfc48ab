/* Runs a model for the answer of guard.h alone. */
#include "watch/guard.h"

#include <math.h>

enum { GUARD_RECORDS = 4096 }; /* of the log, of which only the last ones are needed, if the model dies: findings are events */

int run_take_bounds(void *how, const char *value, struct err *err)
{
	struct run_how *h = how;
	h->bounds = true;
	h->bounds_alloc = value && *value;
	return !h->bounds_alloc || !strcmp(value, "alloc") ? 0
							   : err_set(err, EXIT_USAGE, "'%s' is unknown: only 'alloc' may follow", value);
}

static void drain(void *user, struct watch *w)
{
	struct watch_call c;
	(void)user;
	while (watch_next(w, &c))
		;
}

int guard_run(const struct watch_options *o, struct guard *b, struct run_result *out, struct err *err)
{
	struct watch_options own = *o;
	struct watch w;
	own.how.bounds = true;
	own.calls = (struct calls_config){
	    .want = CALLS_NAMES, .records = GUARD_RECORDS, .last_run = UINT32_MAX, .lo = (double)-INFINITY, .hi = (double)INFINITY};
	guard_want(&own.calls, &own.how, false);
	own.tick = drain;
	if (watch_run(&w, &own, err) < 0)
		return -1;
	drain(NULL, &w);
	*b = w.guard ? *w.guard : (struct guard){0};
	if (w.guard)
		*w.guard = (struct guard){0};
	int r = 0;
	if (out && !w.failed.text[0]) {
		*out = w.outputs;
		w.outputs = (struct run_result){0};
		buf_add_slice(&out->notes, buf_slice(&w.asides));
	}
	if (w.failed.text[0] && !b->n) {
		*err = w.failed;
		guard_release(b);
		r = -1;
	}
	watch_release(&w);
	return r;
}
