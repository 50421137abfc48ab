/* The page of --diff --html: share/printer/diff.html with the document and its script. */
#include "diff.h"
#include "html/html.h"
#include "io/output.h"

static const char *const css[] = {"diff/common.css", "printer/diff.css", NULL};
static const char *const js[] = {"diff/common.js", "printer/diff.js", NULL};
static const struct html_page frame = {"printer/diff.html", css, js, NULL};

int diff_page(const struct diff *d, const char *path, struct err *err)
{
	struct slice rest = share_file(frame.frame), text, key;
	struct output *out = output_file(path, err);
	struct buf b = {0};
	struct json_out o = {.b = &b, .html = true};
	if (!out)
		return -1;
	while (share_next(&rest, &text, &key)) {
		buf_add_slice(&b, text);
		if (html_fill(&b, &frame, key))
			continue;
		if (slice_is(key, "MODEL")) {
			diff_document(&o, d);
		}
	}
	int r = write_all(output_fd(out), b.p, b.len, path, err);
	buf_release(&b);
	if (r < 0) {
		output_abort(out);
		return -1;
	}
	return output_commit(out, err);
}
