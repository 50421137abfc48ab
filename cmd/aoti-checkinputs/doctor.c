/* doctor.c - --doctor: will it load and run on this machine? */
#include "model/doctor/doctor.h"
#include "base/tool/diag.h"
#include "base/json.h"
#include "checkinputs.h"
#include "base/tool/output.h"

/* There is generated code, and it could not be read at all. */
static bool lost_text(const struct loaded *l) { return l->model->wrapper_cpp && !l->read; }

/* Is something unknown that the verdict depends on? */
static bool partial(const struct loaded *l) { return l->contract.n_unread || lost_text(l); }

static void show_text(struct screen *s, const struct doctor *d, const struct loaded *l)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct doctor_finding *f = &d->v[i];
		const char *level = doctor_level_name(f->level);
		char *label = xasprintf("%-8s", level);
		if (f->level >= DOCTOR_WARNING)
			put_error(s, label);
		else
			put_dim(s, label);
		free(label);
		buf_addf_clean(&s->b, "%.*s\n", SL(f->what));
		if (f->why.n)
			buf_addf_clean(&s->b, "          %.*s\n", SL(f->why));
		if (f->fix.n) {
			buf_adds(&s->b, "          fix: ");
			put_style_text(s, STYLE_FIX, f->fix);
			buf_addc(&s->b, '\n');
		}
	}
	size_t fatal = 0;
	for (size_t i = 0; i < d->n; i++)
		fatal += d->v[i].level == DOCTOR_FATAL;
	buf_addf_clean(&s->b, "%s: %s", l->pkg.path,
		       fatal      ? "will not run on this machine"
		       : d->n_bad ? "may not run correctly on this machine"
				  : "OK: should load and run on this machine");
	if (!d->n_bad && lost_text(l))
		buf_adds(&s->b, " as far as known: its code was not understood");
	else if (!d->n_bad)
		add_unread(&s->b, &l->contract);
	buf_addc(&s->b, '\n');
}

static void show_json(struct buf *b, const struct doctor *d, const struct loaded *l)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member_str(&o, "schema", SLICE("pt2utils.doctor/1"));
	json_member_str(&o, "file", slice_str(l->pkg.path));
	json_member_str(&o, "model", l->model->name);
	document_verdict(&o, "healthy", d->n_bad, partial(l));
	json_rows(&o, "findings", i, d->n) {
		const struct doctor_finding *f = &d->v[i];
		json_member_str(&o, "level", slice_str(doctor_level_name(f->level)));
		json_member_str(&o, "id", slice_str(f->id));
		json_member_str(&o, "what", f->what);
		json_fields(&o, *f, why, fix);
	}
	json_close(&o);
	buf_addc(b, '\n');
}

int run_doctor(const char *path, const struct checkinputs_options *o)
{
	struct loaded l;
	struct err err;
	struct doctor d = {0};
	if (load_text(&l, path, load_how(o), &err) < 0)
		die_err(&err);
	struct doctor_options d_o = {
	    .torch = o->torch && strcmp(o->torch, "none") ? o->torch : NULL,
	    .no_torch = o->torch && !strcmp(o->torch, "none"),
	    .contract = l.contract.n_inputs || l.contract.n_outputs ? &l.contract : NULL,
	};
	if (doctor_examine(&d, &l.pkg, l.model, &d_o, &err) < 0)
		die_err(&err);
	struct screen s = screen_make();
	if (o->json)
		show_json(&s.b, &d, &l);
	else if (!o->quiet)
		show_text(&s, &d, &l);
	screen_end(&s);
	int status = d.n_bad ? EXIT_FOUND : partial(&l) ? EXIT_PARTIAL : EXIT_FINE;
	doctor_release(&d);
	loaded_release(&l);
	return status;
}
