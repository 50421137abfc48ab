/* closer.c - a closer look at a finding: the elements at the place where its output is first bad. That needs the tensors themselves: the
 * model runs again, up to that call with the same inputs, and saves them; or they are in a folder of saved tensors. */
#include "nanassert.h"

#include "base/tool/diag.h"
#include "base/tool/tempfolder.h"

#include <math.h>

#define MAX_SCAN (INT64_C(1) << 26) /* elements examined one by one */
#define MAX_SAVED (UINT64_C(4) << 30)

/* A tensor of the finding's call, opened: row-major in a file. */
struct opened {
	struct tensor_meta meta;
	const void *data; /* NULL: missing */
	struct tensor_file *file;
	struct dump_tensor dump;
};

static bool is_bad_number(const struct session *s, enum nan_what what, double v)
{
	return what == NAN_NAN ? isnan(v) : what == NAN_INF ? isinf(v) : v < s->o->lo || v > s->o->hi;
}

/* The first NaN may not be the first bad element, which may be an infinity. -1: not found. */
static int64_t find_bad(const struct session *s, const struct nan_finding *f, const struct opened *t)
{
	int64_t n, first = f->call.value[f->bad].v.stats.first_bad;
	if (!tensor_numel(&t->meta, &n))
		return -1;
	if (first >= 0 && first < n && is_bad_number(s, f->what, tensor_at(&t->meta, t->data, first)))
		return first;
	for (int64_t i = 0; i < n && i < MAX_SCAN; i++)
		if (is_bad_number(s, f->what, tensor_at(&t->meta, t->data, i)))
			return i;
	return -1;
}

static void take_elements(const struct session *s, struct nan_finding *f, const struct opened *t)
{
	struct nan_call *c = &f->call;
	if (f->bad == NONE || !t[f->bad].data)
		return;
	int64_t at = find_bad(s, f, &t[f->bad]);
	for (uint32_t i = 0; i < c->n_values && at >= 0; i++) {
		struct nan_value *v = &c->value[i];
		/* A buffer that is only written is shown where it is bad. */
		if (!t[i].data || (!v->v.before && i != f->bad))
			continue;
		v->at = i == f->bad ? at : tensor_same_place(&t[i].meta, &t[f->bad].meta, at);
		v->has_element = v->at >= 0;
		if (v->has_element)
			v->element = tensor_at(&t[i].meta, t[i].data, v->at);
	}
}

/* ---- a second run ---- */

static void open_saved(struct opened *t, const char *folder, const char *name)
{
	struct slice data;
	struct err err;
	if (!*name)
		return;
	char *path = xasprintf("%s/%s", folder, name);
	t->file = tensor_file_open(path, &err);
	if (!t->file) {
		warn("a value is left out: %s", err.text);
	} else if (t->file->n == 1 && tensor_data(t->file, 0, &data, NULL) == 0) {
		t->meta = t->file->v[0].meta;
		t->data = data.p;
	}
	free(path);
}

/* Is this watched call the one of the finding, with the same tensors? */
static bool same_call(const struct nan_finding *f, const struct watch_call *c)
{
	bool same = c->begin.what == CALL_BEGIN && c->begin.run == f->call.c.run && c->begin.call == f->call.c.call &&
		    slice_eq(slice_str(c->name), f->call.c.name);
	return same && c->n_values == f->call.n_values;
}

static void take_saved(const struct session *s, struct nan_finding *f, const struct watch_call *c, const char *folder)
{
	uint32_t n = f->call.n_values;
	struct opened *t = xcalloc(n + 1, sizeof(*t));
	bool same = true;
	for (uint32_t i = 0; i < n && same; i++) {
		struct nan_value *v = &f->call.value[i];
		same = v->v.arg == c->value[i].rec.v.arg && v->v.before == c->value[i].rec.v.before;
		if (!same)
			continue;
		open_saved(&t[i], folder, c->value[i].saved);
		if (c->value[i].rec.v.stats.known)
			v->v.stats = c->value[i].rec.v.stats;
	}
	if (same)
		take_elements(s, f, t);
	for (uint32_t i = 0; i < n; i++)
		if (t[i].file)
			tensor_file_close(t[i].file);
	free(t);
}

void closer_by_running(struct session *s, const struct watch_options *as_before, struct nan_finding *f)
{
	struct watch_options o = *as_before;
	struct watch w;
	struct watch_call c;
	const size_t room = sizeof(o.calls.filter[0]);
	if (f->bad == NONE || f->call.c.run == CALLS_NO_RUN || f->call.c.name.n >= room)
		return;
	struct err err;
	char *folder = temp_folder(TEMP_NANASSERT, &err);
	if (!folder) {
		warn("cannot run the model again for a closer look: %s", err.text);
		return;
	}
	o.tick = NULL;
	o.calls.want = CALLS_STATS | CALLS_SAVE;
	o.calls.save_max = MAX_SAVED;
	o.calls.first_run = o.calls.last_run = f->call.c.run;
	o.calls.n_filters = 1;
	snprintf(o.calls.filter[0], room, "%.*s", SL(f->call.c.name));
	snprintf(o.calls.save_dir, sizeof(o.calls.save_dir), "%s", folder);
	o.how.runs = (int)f->call.c.run + 1;
	if (watch_run(&w, &o, &err) < 0) {
		warn("cannot run the model again for a closer look: %s", err.text);
	} else {
		bool found = false;
		while (watch_next(&w, &c) && !found)
			if ((found = same_call(f, &c)))
				take_saved(s, f, &c, folder);
		if (calls_unsaved(&w.calls))
			warn("a value is left out: it cannot be saved: %s", strerror(calls_unsaved(&w.calls)));
		watch_release(&w);
	}
	temp_folder_remove(folder);
}

/* ---- saved before ---- */

void closer_in_dump(const struct session *s, const struct dump *d, struct nan_finding *f)
{
	uint32_t n = f->call.n_values;
	struct opened *t = xcalloc(n + 1, sizeof(*t));
	for (uint32_t i = 0; i < n; i++)
		if (f->call.value[i].v.file.n && dump_tensor_open(&t[i].dump, d, &f->call.value[i].v, NULL) == 0) {
			t[i].meta = t[i].dump.meta;
			t[i].data = t[i].dump.data;
		}
	take_elements(s, f, t);
	for (uint32_t i = 0; i < n; i++)
		if (t[i].data)
			dump_tensor_close(&t[i].dump);
	free(t);
}
