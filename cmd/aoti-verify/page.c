/* page.c - the page of --html: frame and style of aoti-printer --diff, with the document and its own script. */
#include "base/html/html.h"
#include "verifier.h"

static const char *const css[] = {"page/common.css", "printer/diff.css", "verify/verify.css", NULL};
static const char *const js[] = {"page/common.js", "verify/verify.js", NULL};
static const struct html_page frame = {
    .title = "Compiled model: two runs compared", .body = "printer/diff.html", .css = css, .js = js, .themed = true};

static void write_document(struct json_out *o, const void *of) { verifier_document(o, of); }

int verifier_page(const struct verifier *v, const char *path, struct err *err)
{
	return html_save_document(path, &frame, write_document, v, err);
}
