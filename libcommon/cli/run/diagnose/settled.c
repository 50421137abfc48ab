#include "run/diagnose/settled.h"

#include "base/tool/diag.h"
#include "base/tool/settings.h"
#include "run/diagnose/ignore.h"
#include "run/diagnose/limits.h"

static bool is_given(const struct opt_pairs *max, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (slice_is(max->v[i].name, name))
			return true;
	return false;
}

static void add_limit(struct opt_pairs *max, size_t given, const struct setting *s)
{
	struct opt_pair one = {slice_str(s->name), s->value};
	struct err err;
	if (limits_valid(&(struct opt_pairs){.v = &one, .n = 1}, &err) < 0)
		die(EXIT_USAGE, "%s: %s", s->from, err.text);
	if (!is_given(max, given, s->name))
		PUSH_TO(max->v, max->n, max->cap) = one;
}

void settled(struct opt_pairs *max, const char **patterns)
{
	const struct settings *s = settings_load();
	const size_t given = max->n;
	static struct ignore_rule *rule;
	size_t n = 0, cap = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct setting *one = &s->v[i];
		switch (one->kind) {
		case SETTING_MAX: add_limit(max, given, one); break;
		case SETTING_IGNORE: PUSH_TO(rule, n, cap) = (struct ignore_rule){one->value, NULL, one->from}; break;
		case SETTING_FILE_IGNORE: PUSH_TO(rule, n, cap) = (struct ignore_rule){one->value, one->name, one->from}; break;
		case SETTING_PATTERNS:
			if (patterns && !*patterns)
				*patterns = one->value;
			break;
		case SETTING_PYTHON: break; /* settings_load() has set PT2_PYTHON */
		}
	}
	ignore_by(rule, n);
}
