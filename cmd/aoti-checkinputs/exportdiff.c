/* against.c - --against: compares the exported program with the compiled model. */
#include "exportdiff/exportdiff_part.h"
#include "model/contract/exported.h"
#include "base/tool/diag.h"
#include "aten/verify/pair.h"
#include "base/json.h"
#include "base/text.h"
#include "checkinputs.h"
#include "base/tool/output.h"

/* The exported program of a file: a .pt2 of torch.export.save. */
static void load_exported(struct contract *c, struct package *pkg, const char *path)
{
	struct err err;
	struct slice json;
	if (package_open_exported(pkg, path, &err) < 0)
		die_err(&err);
	if (pkg->n_exported > 1)
		warn("'%s' has %u exported programs: comparing the first one", path, pkg->n_exported);
	if (package_data(pkg, pkg->exported[0], &json, &err) < 0)
		die_err(&err);
	if (exported_read(c, json, &err) < 0)
		die(err.status, "'%s': %s", path, err.text);
}

static void show_text(struct screen *s, const struct exportdiff *a, const struct contract *of[2], const char *exported, const char *path)
{
	static const char *const whose[] = {"the exported program", "the compiled model"};
	for (size_t i = 0; i < a->n; i++) {
		const struct exportdiff_finding *f = &a->v[i];
		char *subject = xstrndup(f->subject.p, f->subject.n);
		clean_text(subject, f->subject.n);
		f->advice ? buf_adds(&s->b, subject) : put_error(s, subject);
		free(subject);
		buf_addf_clean(&s->b, ": exported %.*s, compiled %.*s\n", SL(f->exported), SL(f->compiled));
		if (f->why.n)
			buf_addf_clean(&s->b, "    %s%.*s\n", f->advice ? "note: " : "", SL(f->why));
		if (f->fix.n) {
			buf_adds(&s->b, "    fix: ");
			put_style_text(s, STYLE_FIX, f->fix);
			buf_addc(&s->b, '\n');
		}
	}
	if (!a->n_bad && a->unproved)
		buf_addf_clean(&s->b, "%s rejects nothing that %s accepts, but nothing shows that it was compiled from it\n", path,
			       exported);
	else if (!a->n_bad)
		buf_addf_clean(&s->b, "%s accepts everything %s accepts%s\n", path, exported,
			       of[0]->n_unread || of[1]->n_unread ? ", as far as known" : "");
	else
		buf_addf_clean(&s->b, "%s does not accept everything %s accepts: %zu difference%s\n", path, exported, a->n_bad,
			       plural(a->n_bad));
	for (int i = 0; i < 2; i++)
		if (of[i]->n_unread) {
			buf_addf_clean(&s->b, "    note: %s: ", whose[i]);
			contract_unread_text(of[i], &s->b);
			buf_adds(&s->b, " understood\n");
		}
}

static void show_json(struct buf *b, const struct exportdiff *a, bool unread, const char *exported, const char *path)
{
	static const char *const parts[] = {"model", "input", "output", "constant"};
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member(&o, "schema", SLICE("pt2utils.against/1"));
	json_member(&o, "exported", slice_str(exported));
	json_member(&o, "compiled", slice_str(path));
	json_fields(&o, *a, same_model, unproved);
	document_verdict(&o, "fits", a->n_bad, unread);
	json_rows(&o, "findings", i, a->n) {
		const struct exportdiff_finding *f = &a->v[i];
		json_member(&o, "what", slice_str(exportdiff_what_name(f->what)));
		json_member(&o, "part", slice_str(parts[f->part]));
		json_member_index(&o, "index", f->index);
		json_member_count(&o, "dim", f->dim);
		json_fields(&o, *f, advice, subject, exported, compiled, why, fix);
	}
	json_close(&o);
	buf_addc(b, '\n');
}

/* The values of weights that both have. Those that the code holds inlined are not in the package. */
static void compare_weights(const char *exported, const char *path, const char *model, struct exportdiff *a)
{
	struct pair p;
	struct err ignored;
	FREED struct compare *k = xcalloc(1, sizeof(*k));
	k->out = a;
	if (pair_open(&p, exported, path, (struct pair_options){.model = model}, &ignored) == 0) {
		for (uint32_t i = 0; i < p.n_differing; i++) {
			const struct differing *w = &p.weight[i];
			struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_CONSTANT, EXPORTDIFF_WEIGHT, NONE, -1, false);
			f->subject = exportdiff_text(k, "constant %.*s", SLN(w->fqn, 200));
			f->exported = SLICE("its values");
			f->compiled = exportdiff_text(k, "%" PRIu64 " of %" PRIu64 " differ, by up to %g", w->bad, w->n, w->max_abs);
			f->why = SLICE("the package was compiled with other weights");
			f->fix = SLICE("compile it again, or load the weights that it should have (pt2-run --weights)");
		}
	}
	pair_close(&p);
}

int run_against(const char *path, const struct checkinputs_options *o)
{
	struct package exported_pkg = {0};
	struct contract exported = {0};
	struct loaded l;
	struct exportdiff a = {0};
	struct err err;
	load_exported(&exported, &exported_pkg, o->against);
	if (load_model(&l, path, load_how(o), &err) < 0)
		die_err(&err);
	exportdiff_compare(&exported, &l.contract, &a);
	compare_weights(o->against, path, o->model, &a);
	struct screen s = screen_make();
	bool unread = exported.n_unread || l.contract.n_unread;
	if (o->json)
		show_json(&s.b, &a, unread, o->against, path);
	else if (!o->quiet)
		show_text(&s, &a, (const struct contract *[]){&exported, &l.contract}, o->against, path);
	screen_end(&s);
	int status = a.n_bad ? EXIT_FOUND : a.unproved || unread || l.contract.stopped.n ? EXIT_PARTIAL : EXIT_FINE;
	exportdiff_release(&a);
	loaded_release(&l);
	contract_release(&exported);
	package_close(&exported_pkg);
	return status;
}
