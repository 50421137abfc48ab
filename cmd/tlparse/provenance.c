/* provenance.c - the pages of -i: a page per compile id, graph before | graph after | generated code, linked by line.
 *
 * While the log is read, the texts shown on such pages go to an unlinked temporary file; the pages are made at the end, from the sets in
 * the model (trace_provenance), or, if a compile id has none, from the texts in order.
 */
#include "base/tool/diag.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"
#include "outdir.h"

#include <errno.h>
#include <unistd.h>

struct prov_text_at {
	uint32_t artifact, len;
	uint64_t at;
};

struct prov_pages {
	int fd;
	uint64_t end;
	struct prov_text_at *text; /* in the order of artifacts */
	uint32_t n, cap;
	struct intern used; /* for the current page: artifact -> index of its text */
	struct buf tmp;
};

struct prov_pages *prov_pages_new(struct err *err)
{
	int fd = temp_file(err);
	if (fd < 0)
		return NULL;
	struct prov_pages *p = xcalloc(1, sizeof(*p));
	p->fd = fd;
	return p;
}

void prov_pages_free(struct prov_pages *p)
{
	if (!p)
		return;
	close(p->fd);
	free(p->text);
	intern_release(&p->used);
	buf_release(&p->tmp);
	free(p);
}

int prov_pages_take(struct prov_pages *p, const struct trace *t, uint32_t artifact, struct slice payload, struct err *err)
{
	enum prov_text part = trace_provenance_part(t, &t->artifact[artifact]);
	if (part == PROV_TEXTS || part == PROV_MAP)
		return 0;
	char name[TEMP_NAME];
	if (pwrite_all(p->fd, payload.p, payload.n, p->end, temp_file_name(name), err) < 0)
		return temp_failed(err);
	PUSH_TO(p->text, p->n, p->cap) = (struct prov_text_at){artifact, (uint32_t)payload.n, p->end};
	p->end += payload.n;
	return 0;
}

static const struct prov_text_at *find_text(const struct prov_pages *p, uint32_t artifact)
{
	uint32_t lo = 0, hi = p->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (p->text[mid].artifact < artifact)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->n && p->text[lo].artifact == artifact ? &p->text[lo] : NULL;
}

static int load_text(struct prov_pages *p, uint32_t artifact, struct buf *b, struct err *err)
{
	const struct prov_text_at *x = find_text(p, artifact);
	buf_reset(b);
	buf_room(b, x ? x->len : 0);
	while (x && b->len < x->len) {
		ssize_t n = pread(p->fd, b->p + b->len, x->len - b->len, (off_t)(x->at + b->len));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(err, EXIT_ENVIRON, "cannot read the temporary file");
		buf_wrote(b, (size_t)n);
	}
	return 0;
}

/* The key of one part of a set: an index into texts. */
static void put_part(struct prov_pages *p, struct json_out *o, const char *key, uint32_t artifact)
{
	if (artifact == NONE || !find_text(p, artifact))
		json_member_null(o, key);
	else
		json_member_u64(o, key, intern_add(&p->used, slice_of((const char *)&artifact, sizeof(artifact))));
}

static void put_set(struct prov_pages *p, struct json_out *o, const uint32_t artifact[PROV_TEXTS], struct slice links, bool mapped)
{
	json_obj(o);
	put_part(p, o, "pre", artifact[PROV_PRE]);
	put_part(p, o, "post", artifact[PROV_POST]);
	put_part(p, o, "code", artifact[PROV_CODE]);
	put_part(p, o, "aot", artifact[PROV_AOT]);
	put_part(p, o, "stacks", artifact[PROV_STACKS]);
	json_member_bool(o, "mapped", mapped);
	json_member_raw(o, "links", links);
	json_close(o);
}

/* Graphs and code without node mappings, with what is known about them. */
static int put_unmapped(struct prov_pages *p, struct json_out *o, const uint32_t artifact[PROV_TEXTS], struct err *err)
{
	struct buf text[PROV_TEXTS] = {{0}}, links = {0};
	struct slice in[PROV_TEXTS];
	struct provenance v = {0};
	struct json_out lo = {.b = &links, .html = true};
	int r = 0;
	for (unsigned i = 0; !r && i < PROV_TEXTS; i++) {
		if (artifact[i] != NONE)
			r = load_text(p, artifact[i], &text[i], err);
		in[i] = buf_slice(&text[i]);
	}
	if (!r) {
		provenance_build(&v, in);
		provenance_json(&v, &lo);
		put_set(p, o, artifact, buf_slice(&links), false);
	}
	for (unsigned i = 0; i < PROV_TEXTS; i++)
		buf_release(&text[i]);
	buf_release(&links);
	provenance_release(&v);
	return r;
}

/* A compile id without node mappings: a set for each piece of code, with the graphs that came before it. */
static int put_all_unmapped(struct prov_pages *p, struct json_out *o, const struct trace *t, uint32_t compile, struct err *err)
{
	uint32_t artifact[PROV_TEXTS];
	bool shown = false;
	memset(artifact, 0xff, sizeof(artifact));
	for (uint32_t k = t->f->attempt[compile].first_artifact; k != NONE; k = t->artifact[k].next) {
		enum prov_text part = trace_provenance_part(t, &t->artifact[k]);
		if (part == PROV_PRE || part == PROV_POST) {
			artifact[part] = k;
			shown = false;
		} else if (part == PROV_CODE || part == PROV_AOT) {
			artifact[part] = k;
			artifact[part == PROV_CODE ? PROV_AOT : PROV_CODE] = NONE;
			if (put_unmapped(p, o, artifact, err) < 0)
				return -1;
			shown = true;
		}
	}
	artifact[PROV_CODE] = artifact[PROV_AOT] = NONE;
	return shown ? 0 : put_unmapped(p, o, artifact, err);
}

static int put_texts(struct prov_pages *p, struct json_out *o, const struct trace *t, struct err *err)
{
	static const char *const lang[] = {"text", "json", "py", "cpp"};
	struct buf path = {0};
	int r = 0;
	json_member_arr(o, "texts");
	for (uint32_t i = 0; !r && i < p->used.n; i++) {
		uint32_t k;
		memcpy(&k, intern_get(&p->used, i).p, sizeof(k));
		const struct trace_artifact *a = &t->artifact[k];
		enum prov_text part = trace_provenance_part(t, a);
		buf_reset(&path);
		trace_artifact_path(t, a, false, &path);
		r = load_text(p, k, &p->tmp, err);
		json_obj(o);
		json_member_str(o, "path", buf_slice(&path));
		json_member_str(o, "lang",
				slice_str(part == PROV_PRE || part == PROV_POST ? "py"
					  : part == PROV_AOT                    ? "cpp"
										: lang[a->lang]));
		json_member_str(o, "text", buf_slice(&p->tmp));
		json_close(o);
	}
	json_close(o);
	buf_release(&path);
	return r;
}

static int put_model(struct prov_pages *p, struct json_out *o, const struct trace *t, uint32_t compile, struct err *err)
{
	char id[COMPILE_ID_TEXT];
	unsigned sets = 0;
	int r = 0;
	intern_release(&p->used);
	p->used = (struct intern){0};
	json_obj(o);
	json_member_str(o, "compile_id", slice_str(compile_id_text(&t->f->attempt[compile].id, id)));
	json_member_arr(o, "sets");
	for (uint32_t i = 0; i < t->n_provenance; i++)
		if (t->provenance[i].attempt == compile) {
			put_set(p, o, t->provenance[i].artifact, t->provenance[i].links, true);
			sets++;
		}
	if (!sets)
		r = put_all_unmapped(p, o, t, compile, err);
	json_close(o);
	if (!r)
		r = put_texts(p, o, t, err);
	json_close(o);
	return r;
}

static const char *const css[] = {"provenance/provenance.css", NULL};
static const char *const js[] = {"provenance/provenance.js", NULL};
static const struct html_page frame = {.title = "Graphs and generated code", .body = "provenance/provenance.html", .css = css, .js = js};

struct writing {
	struct prov_pages *p;
	struct json_out o;
	const struct trace *t;
	uint32_t compile;
	struct err *err;
};

static int put_mark(void *user, struct slice mark)
{
	struct writing *w = user;
	return slice_is(mark, "MODEL") ? put_model(w->p, &w->o, w->t, w->compile, w->err) : 0;
}

int prov_page(struct prov_pages *p, struct buf *b, const struct trace *t, uint32_t compile, struct err *err)
{
	struct writing w = {p, {.b = b, .html = true}, t, compile, err};
	return html_page(b, &frame, put_mark, &w);
}

void prov_page_name(const struct trace *t, uint32_t compile, struct buf *out)
{
	const struct compile_id *id = &t->f->attempt[compile].id;
	char dir[COMPILE_ID_TEXT];
	buf_addf(out, "provenance_tracking_%s.html", id->bad_line ? "(unknown)" : compile_id_dir(id, dir));
}
