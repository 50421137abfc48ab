/* html.h - the only HTML emitter: text is escaped unless a call says raw.
 *
 *     html_put(&b, "<td title=\"{}\">{}</td>", name, text);     // each {} is the next text, escaped
 *     html_raw(&b, "<td title=\"");  html_text(&b, name);  html_raw(&b, "\">");
 *     html_link(&b, path, name);                        // <a href="percent-encoded">escaped</a>
 *
 * Escaped text is safe in element content and in double-quoted attributes. Invalid UTF-8, and what would drive a terminal
 * or reverse text (text_drives()), becomes U+FFFD. Parts of share/ are embedded at build time (embed.S) and found here.
 */
#ifndef PT2_HTML_H
#define PT2_HTML_H
#include "base/buf.h"

void html_text(struct buf *b, struct slice s);
/* A relative path or file name as the value of href: everything but unreserved bytes and '/' is percent-encoded. */
void html_href(struct buf *b, struct slice path);
void html_link(struct buf *b, struct slice path, struct slice text);
/* An address from a log: a link only if it is http or https, else plain text. */
void html_url(struct buf *b, struct slice url, struct slice text);
static inline void html_raw(struct buf *b, const char *s) { buf_adds(b, s); }
/* Appends form, with each {} replaced by the next of n texts, escaped. */
void html_put_texts(struct buf *b, const char *form, const struct slice *text, size_t n);
#define html_put(b, form, ...) \
	html_put_texts((b), (form), (const struct slice[]){__VA_ARGS__}, sizeof((const struct slice[]){__VA_ARGS__}) / sizeof(struct slice))

/* A template of share/ with marks like @PT2_CSS@: cuts the text up to the next mark off *rest, and the mark's name ("CSS"; empty
 * after the last one). False if nothing is left. */
bool share_next(struct slice *rest, struct slice *text, struct slice *mark);

/* A page from a template of share/: the names of the files there that fill its marks CSS and JS, each list ended by NULL. */
struct html_page {
	const char *frame;
	const char *const *css, *const *js;
	const char *more_css; /* of a <style>, preceded by a newline, that another mark inserts; or NULL */
};
/* Fills this mark; false if it is neither CSS nor JS nor CSP. */
bool html_fill(struct buf *b, const struct html_page *page, struct slice mark);

struct json_out;
typedef void html_document_fn(struct json_out *o, const void *of);
/* Writes a page to a file that appears when complete: fn writes the JSON document that replaces mark MODEL, from `of`. */
int html_save_document(const char *path, const struct html_page *page, html_document_fn *fn, const void *of, struct err *err);

/* The policy of a page, a <meta> that must precede everything it applies to: no script and no style runs except those that `markup` has
 * between <script> or <style> (without attributes) and the end tag, by their SHA-256, and, with `files`, those in files beside
 * the page; nothing is fetched from anywhere. Markup that gets into a page by mistake stays inert.
 * https://www.w3.org/TR/CSP3/ (hash-source, meta-element). A style attribute and an onclick= are forbidden with it. */
void html_policy(struct buf *b, struct slice markup, bool files);

/* A file of share/ by its name there ("report/report.css"), as embedded; n == 0 if there is none. */
struct slice share_file(const char *name);
/* Calls fn for each whose name begins with prefix ("patterns/"), sorted by name, until it returns nonzero; returns that. */
typedef int share_fn(void *ctx, const char *name, struct slice text);
int share_each(const char *prefix, share_fn *fn, void *ctx);

#endif
