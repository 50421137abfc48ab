/* The page of --diff --html: share/printer/diff.html with the document and its script. */
#include "diff.h"
#include "html/html.h"
#include "io/output.h"

int diff_page(const struct diff *d, const char *path, struct err *err)
{
	struct slice rest = share_file("printer/diff.html"), text, key;
	struct output *out = output_file(path, err);
	struct buf b = {0};
	struct json_out o = {.b = &b, .html = true};
	if (!out)
		return -1;
	while (share_next(&rest, &text, &key)) {
		buf_add_slice(&b, text);
		if (slice_is(key, "CSS")) {
			buf_add_slice(&b, share_file("diff/common.css"));
			buf_add_slice(&b, share_file("printer/diff.css"));
		} else if (slice_is(key, "JS")) {
			buf_add_slice(&b, share_file("diff/common.js"));
			buf_add_slice(&b, share_file("printer/diff.js"));
		} else if (slice_is(key, "MODEL")) {
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
