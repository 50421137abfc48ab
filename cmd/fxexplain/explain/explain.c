/* explain.c - from operands to the requested output; also the end of `run`, `replay` and `report`. */
#include "explain/explain.h"

#include "base/emit/format.h"
#include "base/tool/diag.h"
#include "run/diagnose/limits.h"
#include "run/diagnose/locate.h"

static bool is_file(const char *path) { return path && *path && strcmp(path, "-"); }

struct screen explain_screen(const char *path)
{
	struct screen s = screen_make();
	if (is_file(path))
		s.width = 0, s.color = false;
	return s;
}

void explain_write(struct screen *s, const char *path)
{
	struct err err = {.text = ""};
	if ((is_file(path) ? screen_save(s, path, &err) : screen_flush(s, &err)) < 0 && err.text[0])
		die_err(&err);
	buf_release(&s->b);
}

static void emit(const struct explanation *x, struct page *page, const struct explain_options *o)
{
	struct err err = {.text = ""};
	if (o->emit && o->emit(x, o))
		return;
	if (page) {
		if (page_write(page, x, &err) < 0 && err.text[0])
			die_err(&err);
		page_free(page);
		return;
	}
	struct screen s = explain_screen(o->output);
	const enum format form = format_chosen() > FORM_JSON ? format_chosen()
				 : o->sarif                  ? FORM_SARIF
				 : o->github                 ? FORM_GITHUB
				 : o->json                   ? FORM_JSON
							     : FORM_TEXT;
	void (*const emitter[])(struct buf *, const struct explanation *, const struct explain_options *) = {
	    [FORM_JSON] = emit_json, [FORM_SARIF] = emit_sarif, [FORM_GITHUB] = emit_github, [FORM_MD] = emit_markdown};
	screen_convert = NULL; /* these know more than the document */
	if (form == FORM_TEXT)
		emit_terminal(&s, x, o);
	else
		emitter[form](&s.b, x, o);
	explain_write(&s, o->output);
}

/* An input's path as shown: without a folder that will be gone; "(standard error)" for what the command wrote there. */
static uint32_t input_name(struct facts *f, uint32_t path, const char *folder, bool kept)
{
	struct slice p = facts_text(f, path);
	size_t n = strlen(folder);
	if (!slice_starts(p, folder) || p.n <= n + 1)
		return path;
	p = slice_of(p.p + n + 1, p.n - n - 1);
	if (slice_is(p, "stderr.txt"))
		return facts_intern(f, SLICE("(standard error)"));
	if (kept)
		return path;
	char *own = xstrndup(p.p, p.n); /* interning may move the text that p points to */
	uint32_t id = facts_intern(f, slice_str(own));
	free(own);
	return id;
}

int explain_paths(const struct explain_options *o, const char *const *path, int n)
{
	struct err err;
	OWNED(report_release) struct report r = {0};
	struct facts *f = &r.facts;
	struct explanation x;
	struct page *page = NULL;
	unsigned lost = 0, worse = 0;
	facts_init(f);
	if (o->html && !(page = page_new(&r, *o->html ? o->html : o->output, true, &err)))
		die_err(&err);
	if (n && load_operands(f, page, o, path, n, &lost, &err) < 0)
		die_err(&err);
	for (uint32_t i = 0; o->folder && i < f->n_input; i++)
		f->input[i].path = input_name(f, f->input[i].path, o->folder, o->folder_kept);
	if (o->function && !facts_only_function(f, o->function))
		die(EXIT_INPUT, "no frame of a function '%s' was compiled", o->function);
	if (o->add)
		o->add(f, o->add_arg);
	explain_located(&x, f);
	if (o->baseline && baseline_compare(&x, o, &worse, &err) < 0)
		die_err(&err);
	emit(&x, page, o);
	worse += limits_exceeded(&x, &o->max);
	bool blind = !worse && limits_blind(&x, &o->max);
	explanation_release(&x);
	return lost ? EXIT_INPUT : worse ? EXIT_FOUND : blind ? EXIT_PARTIAL : EXIT_FINE;
}
