/* The page of --diff --html: share/printer/diff.html with the document and its script. */
#include "diff.h"
#include "html/html.h"
#include "tool/screen.h"

static const char *const css[] = {"diff/common.css", "printer/diff.css", NULL};
static const char *const js[] = {"diff/common.js", "printer/diff.js", NULL};
static const struct html_page frame = {"printer/diff.html", css, js, NULL};

int diff_page(const struct diff *d, const char *path, struct err *err)
{
	struct slice rest = share_file(frame.frame), text, key;
	struct screen s = {0};
	struct json_out o = {.b = &s.b, .html = true};
	while (share_next(&rest, &text, &key)) {
		buf_add_slice(&s.b, text);
		if (!html_fill(&s.b, &frame, key) && slice_is(key, "MODEL"))
			diff_document(&o, d);
	}
	int r = screen_save(&s, path, err);
	buf_release(&s.b);
	return r;
}
