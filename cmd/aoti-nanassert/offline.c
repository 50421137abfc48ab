/* offline.c - a folder of saved tensors: nothing is run. */
#include "base/tool/diag.h"
#include "nanassert.h"

/* Counts the tensors that were saved without counts. */
static void count_saved(const struct dump *d, struct nan_value *v)
{
	struct dump_tensor t;
	if (v->v.stats.known || !v->v.file.n || dump_tensor_open(&t, d, &v->v, NULL) < 0)
		return;
	tensor_stats(&t.meta, t.data, STATS_ALL, &v->v.stats);
	if (v->v.stats.known && v->v.stats.first_bad >= 0) {
		v->bad_value = tensor_at(&t.meta, t.data, v->v.stats.first_bad);
		v->has_bad_value = true;
	}
	dump_tensor_close(&t);
}

/* Which of this run's calls of the same kernel is it? */
static uint32_t nth_of(const struct dump *d, size_t i)
{
	const struct dump_call *c = &d->call[i];
	uint32_t n = 0;
	for (size_t k = i; k-- > 0;) {
		const struct dump_call *p = &d->call[k];
		if (p->model_id != c->model_id || p->run != c->run || p->pid != c->pid)
			continue;
		n += p->call < c->call && slice_eq(p->name, c->name);
		if (!p->call)
			break;
	}
	return n;
}

int run_dump(const struct nanassert_options *o, const char *folder)
{
	struct session s;
	struct dump d;
	struct err err;
	struct gathered g = {0};
	if (session_open(&s, o, folder, false, &err) < 0 || dump_open(&d, folder, &err) < 0)
		die_err(&err);
	for (size_t i = 0; i < d.n; i++) {
		size_t had = s.nan.n;
		gather_saved(&g, &d.call[i]);
		for (uint32_t k = 0; k < g.call.n_values; k++)
			count_saved(&d, &g.v[k]);
		g.call.crashed &= d.cut;
		nan_take(&s.nan, &g.call);
		if (s.nan.n == had)
			continue;
		struct nan_finding *f = &s.nan.finding[had];
		f->call.nth = nth_of(&d, i);
		if (s.trace.n)
			nan_sources_apply(&s.trace, f);
		if (o->all || !had)
			closer_in_dump(&s, &d, f);
	}
	if ((d.cut || d.lost) && !o->quiet)
		warn("'%s' is incomplete: %s", folder, d.cut ? "its writer did not finish" : "calls were lost when it was written");
	if (o->against)
		against_dump(&s, &d);
	s.dump = &d;
	session_end(&s);
	int status = !session_findings(&s) ? EXIT_FINE : o->error_exitcode >= 0 ? o->error_exitcode : EXIT_FOUND;
	if (s.log_failed)
		status = EXIT_ENVIRON;
	gathered_release(&g);
	session_close(&s);
	dump_close(&d);
	return status;
}
