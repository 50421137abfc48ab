/* The page of --html: the frame and the looks of aoti-printer --diff's, with the document and its own script. */
#include "html/html.h"
#include "verifier.h"

static const char *const css[] = {"diff/common.css", "printer/diff.css", "verify/verify.css", NULL};
static const char *const js[] = {"diff/common.js", "verify/verify.js", NULL};
static const struct html_page frame = {"printer/diff.html", css, js, NULL};

int page(const struct verifier *v, const char *path, struct err *err)
{
	struct slice rest = share_file(frame.frame), text, key;
	struct screen s = {0};
	struct json_out o = {.b = &s.b, .html = true};
	while (share_next(&rest, &text, &key)) {
		buf_add_slice(&s.b, text);
		if (!html_fill(&s.b, &frame, key) && slice_is(key, "MODEL"))
			document(&o, v);
	}
	const int r = screen_save(&s, path, err);
	buf_release(&s.b);
	return r;
}
