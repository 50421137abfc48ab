#include "mcp/resources.h"
#include "door/thing.h"

#include "base/html/html.h"
#include "base/io/mapfile.h"
#include "base/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#define SCHEME "pt2://"
enum { SEEN_MOST = 200 };

static const char *const kind_name[] = {
    [RESOURCE_PAGE] = "page",
    [RESOURCE_GRAPHS] = "graphs",
    [RESOURCE_KERNELS] = "kernels",
    [RESOURCE_ANSWER] = "answer",
};
const char *const resource_type[] = {
    [RESOURCE_PAGE] = "text/html",
    [RESOURCE_GRAPHS] = "text/plain",
    [RESOURCE_KERNELS] = "text/plain",
    [RESOURCE_ANSWER] = "text/plain",
};

/* ---- URIs ---- */

static char *decoded(struct slice s)
{
	LOCAL_BUF b = {0};
	html_unhref(&b, s);
	return xstrdup(buf_str(&b));
}

int resource_read_uri(struct resource *r, const struct roots *roots, struct slice uri, struct err *err)
{
	static const struct slice query = SLICE("?name=");
	*r = (struct resource){0};
	const struct slice rest = slice_starts(uri, SCHEME) ? slice_of(uri.p + 6, uri.n - 6) : (struct slice){0};
	const struct slice host = slice_until(rest, "/");
	size_t kind = 0;
	while (kind < ARRAY_LEN(kind_name) && !slice_is(host, kind_name[kind]))
		kind++;
	if (kind == ARRAY_LEN(kind_name) || memchr(uri.p, 0, uri.n))
		return err_set(err, EXIT_USAGE, "there is no resource '%.*s'", SL(uri));
	const struct slice path = slice_of(rest.p + host.n, rest.n - host.n);
	r->kind = (enum resource_kind)kind;
	if (r->kind == RESOURCE_ANSWER)
		return path.n > 1 && slice_u64(slice_of(path.p + 1, path.n - 1), &r->id)
			   ? 0
			   : err_set(err, EXIT_USAGE, "'%.*s' names no answer", SL(uri));
	const char *mark = slice_find(path, query.p);
	if (mark)
		r->name = decoded(slice_of(mark + query.n, path.n - (size_t)(mark - path.p) - query.n));
	FREED char *asked = decoded(slice_of(path.p, mark ? (size_t)(mark - path.p) : path.n));
	r->path = *asked == '/' ? roots_path(roots, asked, err) : NULL;
	if (!r->path && *asked != '/')
		err_set(err, EXIT_USAGE, "'%.*s' names no file", SL(uri));
	return r->path ? 0 : -1;
}

void resource_release(struct resource *r)
{
	free(r->path);
	free(r->name);
}

void resource_uri(struct buf *b, const struct resource *r)
{
	buf_addf(b, SCHEME "%s", kind_name[r->kind]);
	if (r->kind == RESOURCE_ANSWER)
		buf_addf(b, "/%llu", (unsigned long long)r->id);
	else
		html_href(b, slice_str(r->path));
	if (r->name) {
		buf_adds(b, "?name=");
		html_href(b, slice_str(r->name));
	}
}

/* ---- lists ---- */

void seen_add(struct seen *s, const char *path)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->v[i], path))
			return;
	if (*path == '/' && s->n < SEEN_MOST)
		PUSH_TO(s->v, s->n, s->cap) = xstrdup(path);
}

void seen_release(struct seen *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
}

static void put_resource(struct json_out *o, const struct resource *r, const char *what, const char *of)
{
	LOCAL_BUF uri = {0}, name = {0};
	resource_uri(&uri, r);
	buf_addf(&name, "%s %s", what, of);
	json_obj(o);
	json_member(o, "uri", buf_slice(&uri));
	json_member(o, "name", buf_slice(&name));
	json_member(o, "mimeType", slice_str(resource_type[r->kind]));
	json_close(o);
}

void resources_put(struct json_out *o, const struct seen *s, const struct answers *a)
{
	for (size_t i = 0; i < s->n; i++) {
		struct thing t;
		struct err err;
		if (thing_look(&t, s->v[i], s->v[i], &err) < 0)
			continue;
		struct resource r = {.path = s->v[i]};
		if (t.kind == THING_TRACE) {
			put_resource(o, &r, "Report of", path_base(r.path));
			r.kind = RESOURCE_GRAPHS;
			put_resource(o, &r, "Graphs and generated code of", path_base(r.path));
		}
		r.kind = RESOURCE_KERNELS;
		if (t.kind == THING_TRACE || t.kind == THING_MODEL || t.kind == THING_DEBUGDIR || t.kind == THING_CODE)
			put_resource(o, &r, "Kernels of", path_base(r.path));
	}
	for (size_t i = 0; i < a->n; i++)
		put_resource(o, &(struct resource){.kind = RESOURCE_ANSWER, .id = a->v[i].id}, "Answer to", a->v[i].title);
}

void resource_templates_put(struct json_out *o)
{
	static const struct {
		const char *uri, *name, *about;
		enum resource_kind kind;
	} row[] = {
	    {"pt2://page{/path*}", "Report", "The report of a trace as one HTML page, for a browser: large.", RESOURCE_PAGE},
	    {"pt2://graphs{/path*}{?name}", "Graphs", "Graphs and generated code of a trace; without a name the list of them.",
	     RESOURCE_GRAPHS},
	    {"pt2://kernels{/path*}{?name}", "Kernels",
	     "The graph nodes and program lines that a kernel of a trace or a compiled model was made from; without a name the list of "
	     "them.",
	     RESOURCE_KERNELS},
	    {"pt2://answer/{id}", "Answer", "An answer of a tool, whole.", RESOURCE_ANSWER},
	};
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		json_obj(o);
		json_member(o, "uriTemplate", slice_str(row[i].uri));
		json_member(o, "name", slice_str(row[i].name));
		json_member(o, "description", slice_str(row[i].about));
		json_member(o, "mimeType", slice_str(resource_type[row[i].kind]));
		json_close(o);
	}
}

/* ---- the files of a report ---- */

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool is_text(const char *name)
{
	const char *dot = strrchr(name, '.');
	return dot && (!strcmp(dot, ".txt") || !strcmp(dot, ".json") || !strcmp(dot, ".py"));
}

/* Two levels: a folder for each compile. */
static void collect(struct words *w, const char *folder, const char *below)
{
	FREED char *path = below ? xasprintf("%s/%s", folder, below) : xstrdup(folder);
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		if (*e->d_name == '.' || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && !below)
			collect(w, folder, e->d_name);
		else if (S_ISREG(st.st_mode) && below && is_text(e->d_name))
			words_add_new(w, xasprintf("%s/%s", below, e->d_name));
	}
	if (d)
		closedir(d);
}

void graphs_list(struct buf *b, const char *trace, const char *folder)
{
	OWNED(words_release) struct words w = {0};
	collect(&w, folder, NULL);
	qsort(w.v, w.n, sizeof(*w.v), by_name);
	for (size_t i = 0; i < w.n; i++) {
		resource_uri(b, &(struct resource){.kind = RESOURCE_GRAPHS, .path = (char *)trace, .name = w.v[i]});
		buf_addc(b, '\n');
	}
}

int graphs_read(struct buf *b, const char *folder, const char *name, struct err *err)
{
	OWNED(words_release) struct words w = {0};
	OWNED(mapfile_close) struct mapfile m = {0};
	collect(&w, folder, NULL);
	for (size_t i = 0; i < w.n; i++) {
		if (strcmp(w.v[i], name) != 0)
			continue;
		FREED char *path = xasprintf("%s/%s", folder, name);
		if (mapfile_open(&m, path, err) < 0)
			return -1;
		buf_add_slice(b, m.bytes);
		return 0;
	}
	return err_set(err, EXIT_INPUT, "this trace has no '%s'", name);
}
