/* knobs.c - does a difference in values disappear if Inductor is configured to compute like eager? Tried on the smallest graph, at the
 * end. */
#include "session.h"

#include "base/tool/knobs.h"

#define KNOB(name, value, since, what) {"torch._inductor.config." name, value, what},
static const struct {
	const char *name, *value, *what;
} knobs[] = {NUMERIC_KNOBS(KNOB)};

static void add_setting(struct candidate *c, const char *name, const char *value)
{
	FREED char *text = xasprintf("%s = %s", name, value);
	c->line = xreallocarray(c->line, c->n_lines + 1, sizeof(*c->line));
	c->line[c->n_lines++] = (struct repro_line){
	    .kind = REPRO_CONFIG, .text = arena_slice(&c->arena, slice_str(text)), .name = slice_str(name), .value = slice_str(value)};
}

static bool is_set(const struct candidate *c, const char *name)
{
	for (size_t i = 0; i < c->n_lines; i++)
		if (c->line[i].kind == REPRO_CONFIG && slice_is(c->line[i].name, name))
			return true;
	return false;
}

int try_knobs(struct session *s, struct err *err)
{
	LOCAL_BUF helpless = {0};
	size_t tried = 0;
	int status = 0;
	s->runner.phase = "Numeric settings";
	report_step(&s->report, "settings");
	for (size_t i = 0; i < ARRAY_LEN(knobs) && status == 0; i++) {
		struct candidate c;
		enum verdict v;
		if (is_set(&s->runner.best, knobs[i].name))
			continue;
		candidate_copy(&c, &s->runner.best);
		add_setting(&c, knobs[i].name, knobs[i].value);
		status = runner_try(&s->runner, &c, &v, err);
		candidate_release(&c);
		if (status == 0 && v != VERDICT_INVALID && v != VERDICT_INFRA) { /* otherwise this torch does not have the setting */
			buf_addf(&helpless, "%s%s = %s", tried ? ", " : "", knobs[i].name, knobs[i].value);
			tried++;
		}
		if (status < 0 || v != VERDICT_PASSES)
			continue;
		buf_addf(&s->result.more, "%sdoes not fail with %s = %s", s->result.more.len ? "; " : "", knobs[i].name, knobs[i].value);
		report_row(&s->report, "settings", "does not fail with %s = %s: %s", knobs[i].name + strlen("torch._inductor."),
			   knobs[i].value, knobs[i].what);
		return 0;
	}
	if (tried && status == 0)
		buf_addf(&s->result.more, "%salso fails with %s", s->result.more.len ? "; " : "", buf_str(&helpless));
	if (tried)
		report_row(&s->report, "settings", "none of the %zu that bring numerics closer to eager helps", tried);
	return status;
}
