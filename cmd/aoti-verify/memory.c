/* memory.c - whether the kernels touch memory that is not theirs (watch/guard.h): one more run, with the first inputs. */
#include "base/process/child.h"
#include "verifier.h"

/* A kernel that reads or writes elsewhere may compute anything: nothing that it does is called rounding. */
static void take_back(struct verifier *v, struct slice kernel)
{
	for (uint32_t i = 0; i < v->n_trials; i++) {
		const struct observed *o = &v->trial[i]->h.observed;
		for (uint32_t c = 0; c < o->n_calls; c++) {
			struct verify_row *row = &v->trial[i]->h.verify.row[c];
			if (row->what != VERIFY_ROUNDING || !slice_eq(o->call[c].d->name, kernel))
				continue;
			row->what = VERIFY_OPEN;
			free(row->why);
			row->why = xstrdup("it has memory errors");
		}
	}
}

int verifier_guard(struct verifier *v, const struct operands *in, struct err *err)
{
	FREED char *path = source_inputs(&v->source[0]);
	const char *const operand[] = {path};
	const struct watch_options wo = source_watch(v, in, operand);
	const int r = guard_run(&wo, &v->guard, NULL, err);
	v->guarded = r >= 0;
	return r;
}

void verifier_guarded(struct verifier *v)
{
	for (size_t i = 0; v->guarded && i < v->guard.n; i++)
		if (guard_counts(&v->guard.v[i]))
			take_back(v, v->guard.v[i].kernel);
}

bool verifier_crashed(struct verifier *v, const struct operands *in)
{
	struct err why;
	if (!v->pair.package || v->n_trials || v->pair.is_dump || !v->o->how.bounds || !v->n_sources || child_signalled())
		return false;
	if (!v->guarded && verifier_guard(v, in, &why) < 0)
		buf_addf(&v->notes, "memory errors could not be looked for: %s\n", why.text);
	return guard_found(&v->guard) != 0;
}

void verifier_guard_show(struct screen *s, const struct verifier *v)
{
	if (!v->guarded || !(v->guard.n || v->guard.unguarded))
		return;
	buf_addc(&s->b, '\n');
	guard_show(s, &v->guard, "memory: ");
}
