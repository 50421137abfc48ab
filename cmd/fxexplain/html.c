/* html.c - --html: share/explain/explain.html with the document of --json in it (docs/EXPLAIN.md). */
#include "emit.h"

#include "html/html.h"

static const char *const css[] = {"diff/common.css", "explain/explain.css", NULL};
static const char *const js[] = {"diff/common.js", "explain/explain.js", NULL};
static const struct html_page frame = {"explain/explain.html", css, js, NULL};

int emit_html(struct buf *b, const struct explanation *x, const struct explain_options *opt, struct err *err)
{
	struct explain_options o = *opt;
	struct slice rest = share_file(frame.frame), text, key;
	if (!rest.n)
		return err_set(err, EXIT_ENVIRON, "this program was built without its page");
	o.show = 0; /* texts of graphs and guards are tlparse's to show */
	while (share_next(&rest, &text, &key)) {
		buf_add_slice(b, text);
		if (html_fill(b, &frame, key))
			continue;
		if (slice_is(key, "MODEL")) {
			explain_document(b, x, &o, true);
		}
	}
	return 0;
}
