/* nan_scaler.c - what is found in a step that torch.amp.GradScaler skips is its own, and no finding unless it stays. */
#include "watch/nan.h"

/* A place that was found again in this many skipped steps in a row stays: before the loss is scaled, and after it, where each step halves
 * the scale, by a factor of 4096. */
enum { STAYS_UNSCALED = 2, STAYS_SCALED = 12 };
#define MAX_STEPS 8192
#define MAX_HELD 4096
#define MAX_SEEN (1u << 16)

/* A step of a scaler, from the one before it to its update. */
struct step {
	uint64_t seq, scaled;
	double scale;
	bool skipped, counted;
};

struct nan_scaler {
	uint32_t pid;
	struct step *step; /* the last ones; the first has the number .first */
	size_t n, cap, first;
};

/* Something was found while the process has a scaler, and the step is not decided. */
struct nan_seen {
	uint32_t held, pid;
	uint64_t seq;
};

static struct nan_scaler *scaler_of(const struct nan *n, uint32_t pid)
{
	for (size_t i = 0; i < n->n_scalers; i++)
		if (n->scaler[i].pid == pid)
			return &n->scaler[i];
	return NULL;
}

/* The index of the step that a call is in: .n for one that has not ended. */
static size_t step_of(const struct nan_scaler *s, uint64_t seq)
{
	size_t at = s->n;
	while (at && s->step[at - 1].seq >= seq)
		at--;
	return at;
}

void nan_scaler(struct nan *n, const struct watch_scaler *w)
{
	struct nan_scaler *s = scaler_of(n, w->pid);
	if (n->o.skipped)
		return;
	if (!s) {
		s = &PUSH_TO(n->scaler, n->n_scalers, n->cap_scalers);
		*s = (struct nan_scaler){.pid = w->pid};
	}
	if (w->made)
		return;
	if (s->n == MAX_STEPS) { /* whatever was found in those is decided */
		memmove(s->step, s->step + MAX_STEPS / 2, MAX_STEPS / 2 * sizeof(*s->step));
		s->n -= MAX_STEPS / 2;
		s->first += MAX_STEPS / 2;
	}
	PUSH_TO(s->step, s->n, s->cap) =
	    (struct step){.seq = w->seq, .scaled = w->scaled, .scale = w->scale, .skipped = w->skipped, .counted = w->skipped};
	n->skipped_steps += w->skipped;
	if (w->skipped && n->since.model.n && n->since_pid == w->pid && n->since_seq <= w->seq)
		n->since = (struct nan_since){0};
}

/* It is not the scaler's own. */
static void disown(struct nan *n, struct step *t)
{
	n->skipped_steps -= t->counted;
	t->counted = false;
}

void nan_alarm(struct nan *n, uint32_t held)
{
	struct nan_held *h = &n->held[held];
	struct nan_scaler *s = scaler_of(n, h->f.call.c.pid);
	if (h->finding != NONE)
		return;
	if (n->n == NAN_FINDINGS) {
		n->more++;
		return;
	}
	h->finding = (uint32_t)n->n;
	h->f.skipped = h->row;
	h->f.times = h->times;
	h->f.passed_on = h->passed_on;
	h->f.scaled = true;
	h->f.scale_from = h->from;
	h->f.scale_to = h->to;
	PUSH_TO(n->finding, n->n, n->cap) = h->f;
	for (size_t i = 0; s && i < s->n; i++)
		if (s->first + i <= h->last && h->last - (s->first + i) < h->row)
			disown(n, &s->step[i]);
}

/* A step that was not skipped had it. */
static void alarm_now(struct nan *n, uint32_t held)
{
	n->held[held].row = 0;
	n->held[held].f = n->held[held].now;
	nan_alarm(n, held);
}

/* One step had it. */
static void take_step(struct nan *n, uint32_t held, struct nan_scaler *s, size_t at, uint64_t seq)
{
	struct nan_held *h = &n->held[held];
	const struct step *t = &s->step[at];
	const size_t number = s->first + at;
	if (!t->skipped) {
		alarm_now(n, held);
		return;
	}
	if (h->row && h->last == number)
		return;
	const bool again = h->row && h->last + 1 == number;
	h->row = again ? h->row + 1 : 1;
	h->last = number;
	h->from = again ? h->from : t->scale;
	h->to = t->scale;
	h->overflows = t->scaled && seq >= t->scaled;
	if (h->row >= (h->overflows ? STAYS_SCALED : STAYS_UNSCALED) || (h->row > 1 && h->overflows && t->scale <= 1))
		nan_alarm(n, held);
}

void nan_settle(struct nan *n, bool ended)
{
	size_t kept = 0;
	for (size_t i = 0; i < n->n_seen; i++) {
		const struct nan_seen *x = &n->seen[i];
		struct nan_scaler *s = scaler_of(n, x->pid);
		const size_t at = s ? step_of(s, x->seq) : 0;
		if (s && at < s->n && n->held[x->held].finding != NONE) {
			disown(n, &s->step[at]);
		} else if (s && at < s->n) {
			take_step(n, x->held, s, at, x->seq);
		} else if (ended) {
			alarm_now(n, x->held);
		} else {
			n->seen[kept++] = *x;
		}
	}
	n->n_seen = kept;
}

static uint32_t find_held(const struct nan *n, const struct nan_finding *f)
{
	uint32_t i = 0;
	while (i < n->n_held && !nan_alike(&n->held[i].f, f))
		i++;
	return i;
}

static bool is_undecided(const struct nan *n, uint32_t held)
{
	for (size_t i = n->n_seen; i-- > 0;)
		if (n->seen[i].held == held)
			return true;
	return false;
}

bool nan_hold(struct nan *n, const struct nan_finding *f, uint32_t *held)
{
	const struct nan_scaler *s = n->n_scalers ? scaler_of(n, f->call.c.pid) : NULL;
	if (!s)
		return false;
	nan_settle(n, false); /* steps before this call */
	const uint32_t i = *held = find_held(n, f);
	if (i == n->n_held && n->n_held == MAX_HELD)
		return false;
	if (i == n->n_held)
		PUSH_TO(n->held, n->n_held, n->cap_held) = (struct nan_held){.finding = NONE};
	struct nan_held *h = &n->held[i];
	if (h->finding == NONE && !is_undecided(n, i)) {
		nan_keep(n, &h->now, f);
		if (!h->row || h->last + 1 < s->first + step_of(s, f->call.c.seq)) /* a step has ended without it */
			h->f = h->now;
	}
	*(h->finding != NONE ? &n->finding[h->finding].times : &h->times) += 1;
	if (n->n_seen < MAX_SEEN)
		PUSH_TO(n->seen, n->n_seen, n->cap_seen) = (struct nan_seen){i, f->call.c.pid, f->call.c.seq};
	return true;
}

void nan_scaler_release(struct nan *n)
{
	for (size_t i = 0; i < n->n_scalers; i++)
		free(n->scaler[i].step);
	free(n->scaler);
	free(n->held);
	free(n->seen);
}
