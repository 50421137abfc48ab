/* repro.c - reads the comments that fxminify writes into a program: the original error, the versions, whether it was verified.
 *     plain      the last comments: the error's lines, "#", "# failure: ...", "# versions: ...", "# made by ...", "# verified: ..."
 *     launcher   the first ones: "#: failure: ...", "#: versions: ...", "#: verified: ..." (graph/repro/repro.h) */
#include "report/report.h"

#include "base/tool/diag.h"

static bool take_mark(struct slice line, const char *mark, struct slice *out)
{
	if (!slice_starts(line, mark))
		return false;
	if (!out->n)
		*out = slice_of(line.p + strlen(mark), line.n - strlen(mark));
	return true;
}

/* Appends the lines of a comment to b, without their marks. */
static void add_uncommented(struct buf *b, struct slice text)
{
	struct slice line;
	while (slice_line(&text, &line))
		buf_addf(b, "%s%.*s", b->len ? "\n" : "", (int)(line.n > 2 ? line.n - 2 : 0), line.p + (line.n > 2 ? 2 : 0));
}

void report_repro_open(struct report_repro *r, const char *path)
{
	struct slice rest, line, made = SLICE(""), failure = SLICE("");
	const char *comments = NULL;
	struct err err;
	if (mapfile_open(&r->file, path, &err) < 0)
		die_err(&err);
	rest = r->file.bytes;
	while (slice_line(&rest, &line)) {
		const bool comment = line.n && *line.p == '#';
		if (take_mark(line, "# versions: ", &r->versions) || take_mark(line, "#: versions: ", &r->versions) ||
		    take_mark(line, "# verified: ", &r->verified) || take_mark(line, "#: verified: ", &r->verified) ||
		    take_mark(line, "#: failure: ", &failure) || take_mark(line, "# failure: ", &failure) ||
		    take_mark(line, "# made by fxminify", &made))
			continue;
		if (slice_is(line, "#") && comments && !r->error.len)
			add_uncommented(&r->error, slice_of(comments, (size_t)(line.p - comments)));
		comments = !comment ? NULL : comments ? comments : line.p;
	}
	if (!made.p || !made.n) /* "#" in someone else's comment */
		buf_reset(&r->error);
	if (!r->error.len)
		buf_add_slice(&r->error, failure);
}

void report_repro_close(struct report_repro *r)
{
	buf_release(&r->error);
	mapfile_close(&r->file);
}
