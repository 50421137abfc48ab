/* diffpage.c - the page of --diff --html: share/printer/diff.html with the document and its script. */
#include "diff.h"
#include "base/html/html.h"
#include "base/tool/screen.h"

static const char *const css[] = {"page/common.css", "printer/diff.css", NULL};
static const char *const js[] = {"page/common.js", "printer/diff.js", NULL};
static const struct html_page frame = {
    .title = "Compiled model: two runs compared", .body = "printer/diff.html", .css = css, .js = js, .themed = true};

static void write_document(struct json_out *o, const void *of) { diff_document(o, of); }

int diff_page(const struct diff *d, const char *path, struct err *err) { return html_save_document(path, &frame, write_document, d, err); }
