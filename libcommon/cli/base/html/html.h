/* html.h - the one HTML emitter: text is escaped unless a call says raw.
 *
 *     html_put(&b, "<td title=\"{}\">{}</td>", name, text);     // each {} the next text, escaped
 *     html_raw(&b, "<td title=\"");  html_text(&b, name);  html_raw(&b, "\">");
 *     html_link(&b, path, name);                        // <a href="percent-encoded">escaped</a>
 *
 * Escaped text is safe in element content and in double-quoted attributes. Bytes that are not UTF-8, and what would drive a terminal
 * or turn text around (text_drives()), become U+FFFD. Parts of share/ are embedded at build time (embed.S) and found here.
 */
#ifndef PT2_HTML_H
#define PT2_HTML_H
#include "base/buf.h"

void html_text(struct buf *b, struct slice s);
/* A relative path or file name as the value of href: everything but unreserved bytes and '/' is percent-encoded. */
void html_href(struct buf *b, struct slice path);
void html_link(struct buf *b, struct slice path, struct slice text);
/* An address from a log: a link only when it is http or https, else plain text. */
void html_url(struct buf *b, struct slice url, struct slice text);
static inline void html_raw(struct buf *b, const char *s) { buf_adds(b, s); }
/* form as it is, but for each {} in it: the next of n texts, escaped. */
void html_put_texts(struct buf *b, const char *form, const struct slice *text, size_t n);
#define html_put(b, form, ...) \
	html_put_texts((b), (form), (const struct slice[]){__VA_ARGS__}, sizeof((const struct slice[]){__VA_ARGS__}) / sizeof(struct slice))

/* A frame of share/ with marks like @PT2_CSS@: cut the text up to the next mark off *rest, and the mark's name ("CSS"; empty
 * behind the last one). False when nothing is left. */
bool share_next(struct slice *rest, struct slice *text, struct slice *mark);

/* A page out of a frame of share/: what fills its marks CSS, JS and CSP, by names of files there, each list ended by NULL. */
struct html_page {
	const char *frame;
	const char *const *css, *const *js;
	const char *more_css; /* of a <style> with a line end before it that comes by another mark; NULL */
};
/* Fill this mark; false when it is none of the three. */
bool html_fill(struct buf *b, const struct html_page *page, struct slice mark);

struct json_out;
typedef void html_document_fn(struct json_out *o, const void *of);
/* A whole page into a file that appears when it is whole: mark MODEL is a JSON document, which fn writes of `of`. */
int html_save_document(const char *path, const struct html_page *page, html_document_fn *fn, const void *of, struct err *err);

/* The policy of a page, a <meta> that stands before everything that it is about: no script and no style runs but those that stand in
 * `markup` between <script> or <style> (without attributes) and their end, by their SHA-256, and, with `files`, those of files beside
 * the page; nothing is fetched from anywhere. What is put into a page by mistake so stays text.
 * https://www.w3.org/TR/CSP3/ (hash-source, meta-element). A style attribute and an onclick= are forbidden with it. */
void html_policy(struct buf *b, struct slice markup, bool files);

/* A file of share/ by its name there ("report/report.css"), as embedded; n == 0 when there is none. */
struct slice share_file(const char *name);
/* Each of them whose name begins with prefix ("patterns/"), in the order of their names, until fn returns other than 0: returns that. */
typedef int share_fn(void *ctx, const char *name, struct slice text);
int share_each(const char *prefix, share_fn *fn, void *ctx);

#endif
