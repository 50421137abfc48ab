/* pt2 settings - what holds here, and from where: an environment variable, a settings file, or the default. */
#include "door/visit.h"

#include "base/json.h"
#include "base/tool/opt.h"
#include "base/tool/screen.h"
#include "base/tool/settings.h"
#include "run/kept/kept.h"

struct row {
	const char *name, *value, *from, *option;
};
struct rows {
	struct row *v;
	size_t n, cap;
};

static void add(struct rows *r, const char *name, const char *value, const char *from, const char *option)
{
	PUSH_TO(r->v, r->n, r->cap) = (struct row){name, value, from, option};
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

static const char *const option_of[] = {[SETTING_PYTHON] = "--python", [SETTING_PATTERNS] = "--patterns", [SETTING_MAX] = "--max"};

/* Those that the file does not have hold by their defaults. */
static void collect(struct rows *r, const struct settings *s, const char *python, struct kept_list *kept)
{
	bool patterns = false;
	const char *set = NULL;
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].kind == SETTING_PYTHON)
			set = s->v[i].from;
	if (python)
		add(r, "python", python, "PT2_PYTHON", "--python");
	else
		add(r, "python", set ? getenv("PT2_PYTHON") : "python3", set ? set : "default", "--python");
	for (size_t i = 0; i < s->n; i++) {
		const struct setting *one = &s->v[i];
		if (one->kind == SETTING_PYTHON)
			continue;
		patterns |= one->kind == SETTING_PATTERNS;
		char *name = one->kind == SETTING_MAX           ? xasprintf("max.%s", one->name)
			     : one->kind == SETTING_FILE_IGNORE ? xasprintf("per-file-ignores.%s", one->name)
								: xstrdup(one->name);
		add(r, name, one->value, one->from, (size_t)one->kind < ARRAY_LEN(option_of) ? option_of[one->kind] : NULL);
	}
	if (!patterns)
		add(r, "patterns", NULL, "default", "--patterns");
	if (kept_list(kept, NULL) == 0)
		add(r, "runs", kept->place, variable("XDG_STATE_HOME") ? "XDG_STATE_HOME" : "default", NULL);
}

static void show(struct screen *s, const struct settings *from, const struct rows *r)
{
	LOCAL_BUF cells = {0};
	buf_addf_clean(&s->b, "%s%s\n\n", from->file ? "settings file: " : "no settings file (.pt2utils.toml, or pyproject.toml with ",
		       from->file ? from->file : "[tool.pt2utils])");
	buf_adds(&cells, "setting\tvalue\tfrom\toption\n");
	for (size_t i = 0; i < r->n; i++)
		buf_addf_clean(&cells, "%s", r->v[i].name), buf_addc(&cells, '\t'),
		    buf_addf_clean(&cells, "%s", r->v[i].value ? r->v[i].value : "none"), buf_addc(&cells, '\t'),
		    buf_addf_clean(&cells, "%s", r->v[i].from), buf_addf(&cells, "\t%s\n", r->v[i].option ? r->v[i].option : "");
	put_table(s, buf_slice(&cells));
	buf_adds(&s->b, "\nAn option comes before an environment variable, and that before the file.\n");
}

static void document(struct buf *b, const struct settings *from, const struct rows *r)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member_str(&o, "schema", SLICE("pt2utils.settings/1"));
	json_member_str(&o, "tool", SLICE("pt2"));
	json_member_str(&o, "version", SLICE(PT2_VERSION));
	json_member(&o, "file", slice_str(from->file ? from->file : ""));
	json_rows(&o, "settings", i, r->n) {
		json_member_str(&o, "name", slice_str(r->v[i].name));
		json_member(&o, "value", slice_str(r->v[i].value ? r->v[i].value : ""));
		json_member_str(&o, "from", slice_str(r->v[i].from));
		json_member(&o, "option", slice_str(r->v[i].option ? r->v[i].option : ""));
	}
	json_close(&o);
	buf_addc(b, '\n');
}

static int run_settings(struct operands *in)
{
	(void)in;
	static struct rows rows;
	static struct kept_list kept; /* rows point into it */
	const struct settings *s = settings_load();
	collect(&rows, s, pt2_python_set, &kept);
	struct screen out = screen_make();
	if (visit_format() == FORMAT_JSON)
		document(&out.b, s, &rows);
	else
		show(&out, s, &rows);
	screen_end(&out);
	return EXIT_FINE;
}

extern const struct opt_command settings_command;
const struct opt_command settings_command = {
    .name = "settings",
    .summary = "show which settings hold, and from where",
    .about = "Which settings hold here, and where do they come from?",
    .example = {{"", "show them"}, {"--json", "one JSON document"}, {"--format=text", "the same as without"}},
    .footer = "They are in .pt2utils.toml, or in pyproject.toml below [tool.pt2utils].",
    .more = "python, patterns, ignore, max and per-file-ignores: the manual page has an example. The nearest file above the working "
	    "directory counts, up to the root of the repository or the home directory; PT2_SETTINGS names another.",
    .max = 0,
    .run = run_settings,
};
