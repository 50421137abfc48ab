/* diffpage.c - the page of --diff (docs/formats/REPORT.md): share/diff/diff.html with the document and blocks of texts. */
#include "diff.h"

#include "base/base64.h"
#include "base/html/html.h"
#include "base/tool/output.h"

#include <libdeflate.h>
#include <unistd.h>

enum { BLOCK = 256 << 10, LEVEL = 6 };

static const char *const css[] = {"page/common.css", "diff/diff.css", NULL};
static const char *const js[] = {"page/common.js", "diff/diff.js", NULL};
static const struct html_page frame = {
    .title = "torch.compile: two runs compared", .body = "diff/diff.html", .css = css, .js = js, .themed = true};
/* The same with what draws graphs. */
static const char *const graph_css[] = {"page/common.css", "diff/diff.css", "page/graph.css", "diff/graphs.css", NULL};
static const char *const graph_js[] = {"page/common.js", "page/graph.js", "diff/graphs.js", "diff/diff.js", NULL};

struct blocks {
	struct libdeflate_compressor *z;
	struct buf raw, packed, out;
	uint32_t n;
};

static void end_block(struct blocks *k)
{
	if (!k->raw.len)
		return;
	size_t bound = libdeflate_deflate_compress_bound(k->z, k->raw.len);
	buf_reset(&k->packed);
	buf_room(&k->packed, bound);
	size_t n = libdeflate_deflate_compress(k->z, k->raw.p, k->raw.len, k->packed.p, bound);
	buf_addf(&k->out, "<script type=\"text/plain\" id=\"d%u\">", k->n++);
	base64_add(&k->out, k->packed.p, n);
	buf_adds(&k->out, "</script>\n");
	buf_reset(&k->raw);
}

static struct diff_place add_text(struct blocks *k, struct slice text)
{
	if (!text.n)
		return (struct diff_place){NONE, 0, 0};
	if (k->raw.len + text.n > BLOCK)
		end_block(k);
	struct diff_place place = {k->n, (uint32_t)k->raw.len, (uint32_t)text.n};
	buf_add_slice(&k->raw, text);
	return place;
}

static bool has_graphs(const struct diff_set *d)
{
	for (unsigned i = 0; i < d->n; i++)
		if (d->pair[i].c.n_graph || d->pair[i].c.n_fusion)
			return true;
	return false;
}

struct writing {
	struct json_out o;
	const struct diff_set *d;
	const struct diff_place *place;
	const struct blocks *k;
};

static int put_mark(void *user, struct slice mark)
{
	struct writing *w = user;
	if (slice_is(mark, "MODEL"))
		diff_document(&w->o, w->d, w->place, w->k->n);
	else if (slice_is(mark, "BLOCKS"))
		buf_add_slice(w->o.b, buf_slice(&w->k->out));
	return 0;
}

int diffpage_write(const struct diff_set *d, int fd, const char *what, struct err *err)
{
	struct blocks k = {.z = libdeflate_alloc_compressor(LEVEL)};
	uint32_t places = 0, n = 0;
	if (!k.z)
		return err_set(err, EXIT_ENVIRON, "cannot start the compressor");
	for (unsigned i = 0; i < d->n; i++)
		places += diff_places(&d->pair[i].c);
	struct diff_place *place = xcalloc(places + 1u, sizeof(*place));
	for (unsigned i = 0; i < d->n; i++) {
		const struct compare *c = &d->pair[i].c;
		for (uint32_t r = 0; r < c->n_text; r++)
			place[n++] = add_text(&k, c->text[r].diff);
		for (uint32_t r = 0; r < c->n_graph; r++)
			place[n++] = add_text(&k, c->graph[r].drawing);
		for (uint32_t r = 0; r < c->n_code; r++)
			place[n++] = add_text(&k, c->code[r].drawing);
	}
	end_block(&k);

	struct buf b = {0};
	struct writing w = {{.b = &b, .html = true}, d, place, &k};
	struct html_page page = frame;
	if (has_graphs(d)) {
		page.css = graph_css;
		page.js = graph_js;
	}
	html_page(&b, &page, put_mark, &w);
	int r = write_all(fd, b.p, b.len, what, err);
	buf_release(&b);
	buf_release(&k.raw);
	buf_release(&k.packed);
	buf_release(&k.out);
	libdeflate_free_compressor(k.z);
	free(place);
	return r;
}
