/* issue.c - --form issue: the text for PyTorch's tracker, in the form of its bug report (evidence.h).
 *
 * Source: .github/ISSUE_TEMPLATE/pt2-bug-report.yml of pytorch (2026): "Describe the bug", "Error logs", "Versions". */
#include "evidence.h"

#include "base/emit/markdown.h"
#include "base/io/mapfile.h"
#include "base/text.h"
#include "base/tool/diag.h"

#define MOST_LOG 20000u
#define MOST_PROGRAM 60000u /* an issue has at most 65536 characters */

static bool is_comment(struct slice line)
{
	line = slice_trim(line);
	return !line.n || *line.p == '#';
}

/* Without the comments about itself before and after it: their contents are in the text. */
static struct slice only_program(struct slice text)
{
	struct slice rest = text, line;
	const char *from = NULL, *end = text.p;
	while (slice_line(&rest, &line))
		if (!is_comment(line)) {
			from = from ? from : line.p;
			end = line.p + line.n;
		}
	return from ? slice_of(from, (size_t)(end - from)) : text;
}

static void add_list(struct buf *b, struct slice lines)
{
	struct slice line;
	while (slice_line(&lines, &line)) {
		if (slice_starts(line, "torch.utils.collect_env: "))
			continue;
		buf_adds(b, "- ");
		md_text(b, line, 600);
		buf_addc(b, '\n');
	}
}

static void add_machine(struct buf *b, const struct evidence_of *of, const struct evidence *e)
{
	OWNED(mapfile_close) struct mapfile file = {0};
	struct err ignored;
	if (e->machine.len && mapfile_open(&file, buf_str(&e->machine), &ignored) == 0)
		md_block(b, "", file.bytes, MOST_LOG);
	else
		md_block(b, "", of->versions.n ? of->versions : SLICE("(python -m torch.utils.collect_env)"), MOST_LOG);
}

static void add_text(const struct evidence_of *of, const struct evidence *e, struct slice program, struct buf *b)
{
	const struct slice error = of->error.n ? of->error : buf_slice(&e->failure), line = slice_first_line(error);
	const bool files = memmem(program.p, program.n, "os.path.abspath(__file__)", strlen("os.path.abspath(__file__)"));
	buf_adds(b, "<!-- Title: torch.compile: ");
	for (size_t i = 0; i < line.n && i < 150; i++)
		if (!strchr("<>\t\r", line.p[i])) /* would end the comment */
			buf_addc(b, line.p[i]);
	buf_adds(b, " -->\n### \xf0\x9f\x90\x9b Describe the bug\n\nThis program fails with `torch.compile`");
	if (e->eager.len) {
		buf_adds(b, "; in eager it ");
		md_text(b, buf_slice(&e->eager), 300);
	}
	buf_adds(b, ".\n\n");
	if (program.n <= MOST_PROGRAM)
		md_block(b, "python", program, SIZE_MAX);
	else
		buf_addf(b, "The program is attached: %s\n", path_base(of->path));
	buf_adds(b, files ? "\nIts inputs are in the attached folder of files.\n" : "");
	buf_adds(b, "\nExpected: it ends without an error, as eager does.\nActual: ");
	md_code(b, line, 300);
	buf_adds(b, "\n\n");
	add_list(b, buf_slice(&e->lines));
	buf_adds(b, "\nReduced");
	if (of->from.n)
		buf_addf(b, " from %.*s", SL(of->from));
	buf_adds(b, " by fxminify (pt2utils " PT2_VERSION "); the program above is the one that was run.\n\n### Error logs\n\n");
	md_block(b, "", error, MOST_LOG);
	buf_adds(b, "\n### Versions\n\n");
	add_machine(b, of, e);
}

int issue_write(const struct fxminify_options *o, const struct evidence_of *of, const struct evidence *e, struct err *err)
{
	OWNED(mapfile_close) struct mapfile file = {0};
	const size_t n = strlen(of->path), stem = slice_ends(slice_str(of->path), ".py") ? n - 3 : n;
	FREED char *path = xasprintf("%.*s.md", (int)stem, of->path);
	struct screen s = {0};
	if (!e->fails)
		return err_set(err, EXIT_PARTIAL, "no issue is written: the program was not seen to fail again");
	if (mapfile_open(&file, of->path, err) < 0)
		return -1;
	add_text(of, e, only_program(file.bytes), &s.b);
	const int status = screen_save(&s, path, err);
	buf_release(&s.b);
	if (status == 0 && !o->quiet)
		note("issue      in %s", path);
	return status;
}
