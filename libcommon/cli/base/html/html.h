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
/* Back: %41 is A, everything else is as it was. */
void html_unhref(struct buf *b, struct slice href);
void html_link(struct buf *b, struct slice path, struct slice text);
/* An address from a log: a link only if it is http or https, else plain text. */
void html_url(struct buf *b, struct slice url, struct slice text);
static inline void html_raw(struct buf *b, const char *s) { buf_adds(b, s); }
/* Appends form, with each {} replaced by the next of n texts, escaped. */
void html_put_texts(struct buf *b, const char *form, const struct slice *text, size_t n);
#define html_put(b, form, ...) \
	html_put_texts((b), (form), (const struct slice[]){__VA_ARGS__}, sizeof((const struct slice[]){__VA_ARGS__}) / sizeof(struct slice))

/* A page: the head that all pages have (share/page/shell.html), and what is its own. Lists are names of files of share/, ended by NULL.
 *
 * Its policy, a <meta> before everything it applies to: no script and no style runs except the page's own, by their SHA-256, and, with
 * .files, those in files beside it; nothing is fetched from anywhere. Markup that gets into a page by mistake stays inert.
 * https://www.w3.org/TR/CSP3/ (hash-source, meta-element). A style attribute and an onclick= are forbidden with it. */
struct html_page {
	const char *title;
	const char *body; /* the file with its body, whose mark JS is replaced by .js; NULL: the caller writes it after html_head() */
	const char *const *css, *const *js;
	const char *more_css; /* of a <style>, preceded by a newline, in the text of another mark; or NULL */
	bool themed;          /* light or dark by the button #theme of its body (page/theme.css, theme.js); else as the system is */
	const char *files;    /* instead of .css and .js: the name of a .css and a .js beside the page ("../assets/tlparse"); or NULL */
	const char *own;      /* the user's HTML, unescaped, at the top of the body: it may need anything, so there is no policy; or NULL */
};
/* Text of the other marks ("MODEL"): appended to the page's buffer. 0 or -1. */
typedef int html_mark_fn(void *user, struct slice mark);
int html_page(struct buf *b, const struct html_page *page, html_mark_fn *fn, void *user);
/* Its pieces, for a body that is written by calls: up to the body (title instead of .title); .js as a script; the end. */
void html_head(struct buf *b, const struct html_page *page, struct slice title);
void html_script(struct buf *b, const struct html_page *page);
void html_tail(struct buf *b);

struct json_out;
typedef void html_document_fn(struct json_out *o, const void *of);
/* Writes a page to a file that appears when complete: fn writes the JSON document that replaces mark MODEL, from `of`. */
int html_save_document(const char *path, const struct html_page *page, html_document_fn *fn, const void *of, struct err *err);

/* A file of share/ by its name there ("report/report.css"), as embedded; n == 0 if there is none. */
struct slice share_file(const char *name);
/* Calls fn for each whose name begins with prefix ("patterns/"), sorted by name, until it returns nonzero; returns that. */
typedef int share_fn(void *ctx, const char *name, struct slice text);
int share_each(const char *prefix, share_fn *fn, void *ctx);

#endif
