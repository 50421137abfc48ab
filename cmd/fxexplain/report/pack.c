/* pack.c - `report --bundle` and `run --bundle`: everything known about a failure, in one file (run/bundle/bundle.h). */
#include "report/bundle.h"

#include "base/text.h"
#include "watch/watch.h"
#include "report/report.h"
#include "base/tool/diag.h"
#include "graph/repro/repro.h"
#include "tensor/tensor.h"

#include <errno.h>
#include <sys/stat.h>

extern char **environ;

enum { GRAPHS = 40, GRAPH_BYTES = 8 << 20, PACK_USUAL = 10 << 20 };

/* ---- logs ---- */

/* "0/1" of the compilations that have findings: as numbers, as in the envelopes. */
static void learn_ids(const struct pack *p, struct intern *ids)
{
	const struct explanation *x = p->x;
	char id[64];
	for (uint32_t i = 0; i < x->n_finding + x->n_component; i++) {
		uint32_t c = i < x->n_finding ? x->finding[i].compile : x->component[i - x->n_finding].compile;
		if (c == NONE || (i < x->n_finding && x->finding[i].level == FINDING_NOTE))
			continue;
		const struct fact_compile *k = &x->facts->compile[c];
		snprintf(id, sizeof(id), "%lld/%lld", (long long)k->frame, (long long)k->compile);
		intern_add(ids, slice_str(id));
	}
}

static void add_input(struct pack *p, const struct fact_input *in, const struct intern *ids)
{
	struct slice shown = facts_text(p->x->facts, in->path), path = facts_text(p->x->facts, in->file);
	LOCAL_BUF text = {0};
	struct err err;
	uint64_t cut = 0;
	FREED char *from = xstrndup(path.p, path.n);
	FREED char *name = xasprintf("%s%s", in->kind == FACT_TRACE ? "trace/" : "text/", path_base(from));
	size_t n = strlen(name);
	static const char *const packed[] = {".gz", ".xz", ".zst"}; /* it is decompressed */
	for (unsigned i = 0; i < ARRAY_LEN(packed); i++)
		if (n > strlen(packed[i]) && !strcmp(name + n - strlen(packed[i]), packed[i]))
			name[n - strlen(packed[i])] = 0;
	if (!path.n) {
		bundle_leave_out(p->w, shown, SLICE("came through a pipe: pass it as a file"));
	} else if (in->unread) { /* already warned */
		bundle_leave_out(p->w, slice_str(name), slice_str(in->unread));
	} else if (in->kind == FACT_DEBUGDIR) {
		if (p->how->redact)
			bundle_leave_out(p->w, slice_str(path_base(from)), SLICE("a debug folder is not redacted"));
		else if (bundle_add_folder(p->w, BUNDLE_TEXT, DEBUG_FOLDER, from, &err) < 0)
			pack_fail(p, &err);
	} else if (in->kind == FACT_TRACE) {
		if (pack_trace(&text, from, ids, p->how->redact ? &p->r : NULL, &cut, &err) < 0 ||
		    bundle_add(p->w, BUNDLE_TRACE, name, buf_slice(&text), SLICE(""), &err) < 0)
			pack_fail(p, &err);
		if (cut)
			bundle_leave_out(p->w, slice_str(name), SLICE("long records of compilations without findings"));
	} else {
		if (pack_trace(&text, from, NULL, NULL, &cut, &err) < 0)
			pack_fail(p, &err);
		pack_text(p, BUNDLE_TEXT, name, buf_slice(&text), SLICE(""));
	}
}

/* ---- graphs of compilations with findings; if there are none, the first graphs ---- */

static void add_graphs(struct pack *p)
{
	const struct facts *f = p->x->facts;
	OWNED(intern_release) struct intern wanted = {0};
	uint64_t bytes = 0;
	unsigned n = 0;
	for (uint32_t i = 0; i < p->x->n_finding; i++)
		if (p->x->finding[i].compile != NONE && p->x->finding[i].level != FINDING_NOTE)
			intern_add(&wanted, facts_label(f, p->x->finding[i].compile));
	for (uint32_t i = 0; i < f->n_graph && n < GRAPHS; i++) {
		const struct fact_graph *g = &f->graph[i];
		struct slice text = facts_text(f, g->text), name = facts_text(f, g->name), id = facts_label(f, g->compile);
		if (!text.n || slice_find(name, "guards") || (wanted.n && intern_find(&wanted, id) == NONE) ||
		    (bytes += text.n) > GRAPH_BYTES)
			continue;
		FREED char *about = xasprintf("%.*s:%.*s", SL(id), SL(name)), *file = xasprintf("graphs/%.*s.%.*s.py", SL(id), SL(name));
		for (char *c = file + 7; *c; c++)
			*c = strchr("/ !:()", *c) ? '_' : *c;
		pack_text(p, BUNDLE_GRAPH, file, text, slice_str(about));
		n++;
	}
}

/* ---- --with ---- */

/* Is this archive a compiled model? It has the directory that compiled models are in (model/package/package.h). */
static bool is_compiled(const char *path)
{
	OWNED(mapfile_close) struct mapfile m = {0};
	struct zip z;
	bool is = false;
	if (mapfile_open(&m, path, NULL) < 0)
		return false;
	if (zip_open(&z, m.bytes, path, NULL) == 0) {
		for (size_t i = 0; i < z.n && !is; i++)
			is = slice_find(z.v[i].name, "/aotinductor/") != NULL;
		zip_close(&z);
	} else {
		is = slice_starts(m.bytes, "\177ELF");
	}
	return is;
}

static int add_model(struct pack *p, const char *path, const char *name, struct err *err)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return err_errno(err, EXIT_INPUT, "cannot open '%s'", path);
	if (p->how->redact) {
		bundle_leave_out(p->w, slice_str(name), SLICE("redacted: it holds the model and its weights"));
		return 0;
	}
	FREED char *to = xasprintf("%s%s", S_ISDIR(st.st_mode) ? "run/" : "package/", name);
	return S_ISDIR(st.st_mode) ? bundle_add_folder(p->w, BUNDLE_RUN, to, path, err)
				   : bundle_add_file(p->w, is_compiled(path) ? BUNDLE_PACKAGE : BUNDLE_EXPORTED, to, path, err);
}

static int add_with(struct pack *p, const char *path, struct err *err)
{
	struct stat st;
	struct slice whole = slice_str(path);
	while (whole.n > 1 && whole.p[whole.n - 1] == '/')
		whole.n--;
	struct slice base = slice_base(whole);
	FREED char *name = xstrndup(base.p, base.n), *inputs = xasprintf("inputs/%s", name);
	struct tensor_file *t = NULL;
	int r;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode) && !watch_bundle_like(path))
		r = err_set(err, EXIT_INPUT, "'%s' is not a directory made by aoti-printer --record", path);
	else if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && !is_compiled(path) && (t = tensor_file_open(path, NULL)))
		r = bundle_add_tensors(p->w, inputs, path, p->how->redact, err);
	else
		r = add_model(p, path, name, err);
	if (t)
		tensor_file_close(t);
	return r;
}

/* ---- the manifest ---- */

static bool is_told(const struct finding *g)
{
	return g->level != FINDING_NOTE && g->kind != FINDING_TIME && g->kind != FINDING_CACHE && g->kind != FINDING_DAMAGE;
}

size_t pack_findings(const struct explanation *x, struct arena *a, struct bundle_finding **out)
{
	LOCAL_BUF key = {0}, same = {0};
	size_t n = 0;
	*out = arena_alloc(a, (x->n_finding + 1) * sizeof(**out));
	for (uint32_t i = 0; i < x->n_finding; i++) {
		const struct finding *g = &x->finding[i];
		if (!is_told(g))
			continue;
		buf_reset(&key);
		emit_same(g->title, &same);
		buf_addf(&key, "%s %.*s %.*s", finding_kind_name[g->kind], SL(g->id), SLN(buf_slice(&same), 400));
		(*out)[n++] = (struct bundle_finding){.kind = slice_str(finding_kind_name[g->kind]),
						      .id = g->id,
						      .level = slice_str(finding_level_name[g->level]),
						      .title = g->title,
						      .key = arena_slice(a, buf_slice(&key))};
	}
	return n;
}

/* Environment variables of torch and related tools, except those that name directories of this machine. For `run` only: a report is
 * written in another shell. */
static size_t environment(struct pack *p, struct arena *a, struct bundle_env **out)
{
	size_t n = 0, room = 1;
	for (char **e = environ; *e; e++)
		room++;
	*out = arena_alloc(a, room * sizeof(**out));
	for (char **e = environ; p->o->command && *e; e++) {
		struct slice whole = slice_str(*e), name = slice_until(whole, "="), value = slice_behind(whole, "=");
		if (value.p && bundle_env_known(name) && !repro_env_is_private(name))
			(*out)[n++] = (struct bundle_env){name, arena_slice(a, pack_safe(p, value))};
	}
	return n;
}

static void say_what(const struct pack *p, const char *path)
{
	struct stat st;
	LOCAL_BUF size = {0};
	if (stat(path, &st) < 0)
		return;
	put_bytes(&size, (uint64_t)st.st_size);
	if (!p->o->quiet)
		note("%s: %s: %s%s%s", diag_tool, path, buf_str(&size),
		     p->program ? "" : "; without the program: pass --repro=FILE so that it can be run again",
		     p->how->redact ? "; redaction is best effort: read it before you send it (unzip -p)" : "");
	if (st.st_size > PACK_USUAL)
		warn("'%s' is larger than most sites accept (10 MB)", path);
}

static void add_documents(struct pack *p)
{
	struct explain_options o = *p->o;
	LOCAL_BUF text = {0}, safe = {0};
	struct err err;
	report_write(&text, p->x, p->how); /* which redacts by itself */
	if (bundle_add(p->w, BUNDLE_REPORT, "report.md", buf_slice(&text), SLICE(""), &err) < 0)
		pack_fail(p, &err);
	buf_reset(&text);
	o.show = 0;
	emit_json(&text, p->x, &o);
	if (p->how->redact)
		pack_redact_json(&p->r, &safe, buf_slice(&text));
	if (bundle_add(p->w, BUNDLE_FINDINGS, "findings.json", buf_slice(p->how->redact ? &safe : &text), SLICE(""), &err) < 0)
		pack_fail(p, &err);
}

static void finish_bundle(struct pack *p)
{
	const struct facts *f = p->x->facts;
	const struct component_view *c = p->x->n_component ? &p->x->component[0] : NULL;
	OWNED(arena_release) struct arena a = {0};
	struct err err;
	struct bundle_finding *finding;
	struct bundle_env *env;
	size_t n = pack_findings(p->x, &a, &finding);
	for (size_t i = 0; i < n && p->how->redact; i++) {
		finding[i].title = arena_slice(&a, pack_safe(p, finding[i].title));
		finding[i].key = arena_slice(&a, pack_safe(p, finding[i].key));
	}
	struct slice *argument = arena_alloc(&a, (p->n_argument + 1) * sizeof(*argument));
	for (size_t i = 0; i < p->n_argument; i++)
		argument[i] = arena_slice(&a, pack_safe(p, p->argument[i]));
	struct bundle_about about = {.generator = SLICE("fxexplain " PT2_VERSION),
				     .redacted = p->how->redact,
				     .has_status = p->o->has_status,
				     .status = p->o->status,
				     .component = c ? slice_str(component_name[c->component]) : SLICE(""),
				     .title = n ? finding[0].title : SLICE(""),
				     .finding = finding,
				     .n_finding = n,
				     .argument = argument,
				     .n_argument = p->n_argument};
	about.n_env = environment(p, &a, &env);
	about.env = env;
	for (uint32_t i = f->n_input; i-- > 0;) {
		const struct fact_input *in = &f->input[i];
		about.torch = in->torch_version == NONE ? about.torch : facts_text(f, in->torch_version);
		about.python = in->python_version == NONE ? about.python : facts_text(f, in->python_version);
		about.cuda = in->cuda_version == NONE ? about.cuda : facts_text(f, in->cuda_version);
	}
	struct bundle_writer *w = p->w;
	p->w = NULL;
	if (bundle_end(w, &about, &err) < 0)
		die_err(&err);
}

void pack_bundle(const struct explanation *x, const struct explain_options *opt, const struct report_options *how)
{
	struct pack p = {.x = x, .o = opt, .how = how};
	struct err err;
	OWNED(intern_release) struct intern ids = {0};
	struct report_text names = {.x = x, .redact = how->redact};
	if (!(p.w = bundle_new(how->bundle, &err)))
		die_err(&err);
	if (how->redact) {
		report_learn(&names);
		p.r = names.r;
	}
	add_documents(&p);
	learn_ids(&p, &ids);
	for (uint32_t i = 0; i < x->facts->n_input; i++)
		add_input(&p, &x->facts->input[i], &ids);
	add_graphs(&p);
	pack_sources(&p);
	for (size_t i = 0; i < how->with.n; i++)
		if (add_with(&p, how->with.v[i], &err) < 0)
			pack_fail(&p, &err);
	finish_bundle(&p);
	say_what(&p, how->bundle);
	redact_release(&p.r);
	buf_release(&p.tmp);
	free((void *)(uintptr_t)p.argument);
}
