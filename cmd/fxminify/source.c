/* source.c - a failure in capture itself: share/fxminify/source.py reduces the program's text (program.h). */
#include "program.h"

#include "base/html/html.h"
#include "base/io/write.h"
#include "base/json.h"
#include "base/process/child.h"
#include "base/text.h"
#include "base/tool/diag.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The word that is the program: "python -u app.py --x": 2. 0: none, as in "python -m app". */
static size_t program_word(char *const *command)
{
	for (size_t i = 1; command[i] && slice_starts(slice_str(path_base(command[0])), "python"); i++) {
		if (!strcmp(command[i], "-m") || !strcmp(command[i], "-c"))
			return 0;
		if (command[i][0] != '-')
			return i;
	}
	return 0;
}

static int write_file(const char *path, const struct slice *part, size_t n, struct err *err)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path);
	int status = 0;
	for (size_t i = 0; i < n && status == 0; i++)
		status = write_all(fd, part[i].p, part[i].n, path, err);
	close(fd);
	return status;
}

static void write_config(const struct fxminify_options *o, char *const *command, size_t at, const char *folder, const struct caught *c,
			 struct buf *b)
{
	struct json_out j = {.b = b};
	LOCAL_BUF words = {0};
	FREED char *file = realpath(command[at], NULL), *cwd = getcwd(NULL, 0);
	const char *output = o->output ? o->output : "repro.py";
	FREED char *whole = *output == '/' || !cwd ? xstrdup(output) : xasprintf("%s/%s", cwd, output);
	for (size_t i = 0; command[i]; i++)
		buf_addf(&words, " %s", command[i]);
	json_obj(&j);
	json_member_str(&j, "file", slice_str(file ? file : command[at]));
	json_member_arr(&j, "args");
	for (size_t i = at + 1; command[i]; i++)
		json_out_str(&j, slice_str(command[i]));
	json_close(&j);
	json_member_str(&j, "type", c->type);
	json_member_str(&j, "message", c->message);
	json_member_str(&j, "output", slice_str(whole));
	json_member_str(&j, "folder", slice_str(folder));
	json_member_str(&j, "tool", SLICE("fxminify " PT2_VERSION));
	FREED char *shown = xasprintf("fxminify --%s", buf_str(&words));
	json_member_str(&j, "command", slice_str(shown));
	json_member_i64(&j, "timeout", o->timeout);
	json_member_u64(&j, "max_tests", o->max_tests);
	json_member_double(&j, "max_time", o->max_time, 3);
	json_member_bool(&j, "quiet", o->quiet);
	json_close(&j);
}

int source_run(const struct fxminify_options *o, char *const *command, const char *folder, const struct caught *c)
{
	const size_t at = program_word(command);
	const char *env = getenv("PT2_PYTHON"), *python = o->python ? o->python : env && *env ? env : "python3";
	const struct slice text[] = {share_file("zygote/zygote.py"), SLICE("\n\n"), share_file("fxminify/source.py")};
	const struct slice line = slice_first_line(c->message);
	FREED char *script = xasprintf("%s/source.py", folder), *config = xasprintf("%s/source.json", folder);
	LOCAL_BUF json = {0};
	struct child_result r;
	struct err err;
	if (!o->quiet)
		note("%s: it fails while Dynamo captures the program, before there is a graph: %.*s: %.*s", diag_tool, SL(c->type),
		     SLN(line, 200));
	if (!at) {
		warn("the source can only be reduced of a command like: python app.py");
		return EXIT_PARTIAL;
	}
	write_config(o, command, at, folder, c, &json);
	const struct slice document = buf_slice(&json);
	if (write_file(script, text, ARRAY_LEN(text), &err) < 0 || write_file(config, &document, 1, &err) < 0)
		die_err(&err);
	const char *const argv[] = {python, script, config, NULL};
	const struct child_spec spec = {.argv = argv, .same_group = true, .die_with_parent = true, .in.how = CHILD_NULL, .grace_ms = 5000};
	if (child_run(&spec, &r, &err) < 0)
		die_err(&err);
	const int status = r.sig ? 128 + r.sig : r.status;
	child_result_release(&r);
	return child_signalled() ? 128 + child_signalled() : status;
}
