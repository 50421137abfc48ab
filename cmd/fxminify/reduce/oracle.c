/* oracle.c - common to all oracles: names, verdicts, and dispatch. */
#include "reduce/oracle_part.h"

const char *const outcome_words[OUTCOMES] = {
    [OUTCOME_PASSES] = "passes",     [OUTCOME_INVALID] = "invalid", [OUTCOME_RAISED] = "raised",
    [OUTCOME_ACCURACY] = "accuracy", [OUTCOME_CRASHED] = "crashed", [OUTCOME_TIMEOUT] = "timeout",
    [OUTCOME_MEMORY] = "memory",     [OUTCOME_FAILED] = "failed",   [OUTCOME_INFRA] = "infrastructure",
};
const char *const verdict_words[VERDICTS] = {
    [VERDICT_SAME] = "fails-same", [VERDICT_OTHERWISE] = "fails-otherwise", [VERDICT_INVALID] = "invalid", [VERDICT_PASSES] = "passes",
    [VERDICT_TIMEOUT] = "timeout", [VERDICT_INFRA] = "infrastructure",      [VERDICT_FLAKY] = "flaky",
};

enum verdict verdict_of(const struct outcome *o, const struct signature *want, struct slice check)
{
	switch (o->kind) {
	case OUTCOME_PASSES: return VERDICT_PASSES;
	case OUTCOME_INVALID: return VERDICT_INVALID;
	case OUTCOME_FAILED: return VERDICT_SAME;
	case OUTCOME_TIMEOUT:
		if (!want || want->kind != OUTCOME_TIMEOUT)
			return VERDICT_TIMEOUT;
		break;
	case OUTCOME_RAISED:
	case OUTCOME_ACCURACY:
	case OUTCOME_CRASHED:
	case OUTCOME_MEMORY: break;
	default: return VERDICT_INFRA;
	}
	struct signature s = o->signature;
	s.kind = o->kind;
	/* The text to look for refers to the original message: it may contain what is normalised away. */
	if (check.n && memmem(o->detail.p, o->detail.n, check.p, check.n))
		s.message = check;
	if (!want) {
		struct signature any = s;
		return signature_same(&any, &s, check) ? VERDICT_SAME : VERDICT_OTHERWISE;
	}
	return signature_same(want, &s, check) ? VERDICT_SAME : VERDICT_OTHERWISE;
}

unsigned oracle_jobs(const struct oracle *o) { return o->ops->jobs(o); }
uint64_t oracle_start(struct oracle *o, const struct test *t, struct err *err) { return o->ops->start(o, t, err); }
int oracle_wait(struct oracle *o, int timeout_ms, struct outcome *out, struct err *err) { return o->ops->wait(o, timeout_ms, out, err); }
void oracle_cancel(struct oracle *o, uint64_t id) { o->ops->cancel(o, id); }
void oracle_close(struct oracle *o)
{
	if (o)
		o->ops->close(o);
}
