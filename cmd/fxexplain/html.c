/* html.c - --html: share/explain/explain.html with the document of --json in it (docs/EXPLAIN.md). */
#include "emit.h"

#include "html/html.h"

int emit_html(struct buf *b, const struct explanation *x, const struct explain_options *opt, struct err *err)
{
	struct explain_options o = *opt;
	struct slice rest = share_file("explain/explain.html"), text, key;
	if (!rest.n)
		return err_set(err, EXIT_ENVIRON, "this program was built without its page");
	o.show = 0; /* texts of graphs and guards are tlparse's to show */
	while (share_next(&rest, &text, &key)) {
		buf_add_slice(b, text);
		if (slice_is(key, "CSS")) {
			buf_add_slice(b, share_file("diff/common.css"));
			buf_add_slice(b, share_file("explain/explain.css"));
		} else if (slice_is(key, "JS")) {
			buf_add_slice(b, share_file("diff/common.js"));
			buf_add_slice(b, share_file("explain/explain.js"));
		} else if (slice_is(key, "MODEL")) {
			explain_document(b, x, &o, true);
		}
	}
	return 0;
}
