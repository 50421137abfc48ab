/* source.c - a failure in capture itself: share/fxminify/source.py reduces the program's text (program.h). */
#include "evidence.h"
#include "program.h"

#include "base/html/html.h"
#include "base/json.h"
#include "base/process/child.h"
#include "base/text.h"
#include "base/tool/diag.h"

#include <unistd.h>

size_t program_word(char *const *command)
{
	for (size_t i = 1; command[i] && slice_starts(slice_str(path_base(command[0])), "python"); i++) {
		if (!strcmp(command[i], "-m") || !strcmp(command[i], "-c"))
			return 0;
		if (command[i][0] != '-')
			return i;
	}
	return 0;
}

/* What source.py and fold.py have in common. */
static void write_limits(const struct fxminify_options *o, const char *folder, bool hangs, struct json_out *j)
{
	FREED char *cwd = getcwd(NULL, 0);
	json_member_str(j, "folder", slice_str(folder));
	json_member_str(j, "files", slice_str(cwd ? cwd : ""));
	json_member_i64(j, "timeout", o->timeout);
	json_member_bool(j, "hangs", hangs);
	json_member_u64(j, "max_tests", o->max_tests);
	json_member_double(j, "max_time", o->max_time, 3);
	json_member_bool(j, "quiet", o->quiet);
}

static void write_args(char *const *command, size_t at, struct json_out *j)
{
	json_member_arr(j, "args");
	for (size_t i = at + 1; command[i]; i++)
		json_out_str(j, slice_str(command[i]));
	json_close(j);
}

static int run_source(const struct fxminify_options *o, const char *folder, struct slice json, int *status, struct err *err)
{
	const struct slice text[] = {share_file("zygote/zygote.py"),   SLICE("\n\n"), share_file("fxminify/warm.py"),   SLICE("\n\n"),
				     share_file("fxminify/files.py"),  SLICE("\n\n"), share_file("fxminify/trial.py"),  SLICE("\n\n"),
				     share_file("fxminify/inline.py"), SLICE("\n\n"), share_file("fxminify/source.py"), SLICE("\n\n"),
				     share_file("fxminify/fold.py")};
	return script_run(script_python(o), folder, text, ARRAY_LEN(text), json, NULL, status, err);
}

int source_fold(const struct fxminify_options *o, const struct prelude *of, const char *path, const char *folder, struct err *err)
{
	struct json_out j = {.b = &(struct buf){0}};
	FREED char *file = realpath(path, NULL);
	int status = -1;
	json_obj(&j);
	json_member_str(&j, "file", slice_str(file ? file : path));
	json_member_str(&j, "program", slice_str(of ? of->file : ""));
	json_member_str(&j, "module", slice_str(of ? of->module : ""));
	json_member_str(&j, "beside", slice_str(o->beside));
	if (of)
		write_args(of->command, of->at, &j);
	else
		json_member_arr(&j, "args"), json_close(&j);
	write_limits(o, folder, o->expect && !strcmp(o->expect, "hang"), &j);
	json_close(&j);
	if (run_source(o, folder, buf_slice(j.b), &status, err) < 0)
		status = -1;
	buf_release(j.b);
	return status < 0 ? -1 : status == EXIT_FINE;
}

static void write_config(const struct fxminify_options *o, char *const *command, size_t at, const char *folder, const struct caught *c,
			 const char *shown, struct buf *b)
{
	struct json_out j = {.b = b};
	FREED char *file = realpath(command[at], NULL);
	LOCAL_BUF output = {0};
	put_absolute(&output, slice_str(o->output ? o->output : "repro.py"));
	json_obj(&j);
	json_member_str(&j, "file", slice_str(file ? file : command[at]));
	write_args(command, at, &j);
	json_member_str(&j, "by", c->by);
	json_member_str(&j, "type", c->type);
	json_member_str(&j, "message", c->message);
	json_member_str(&j, "output", buf_slice(&output));
	json_member_str(&j, "tool", SLICE("fxminify " PT2_VERSION));
	json_member_str(&j, "command", slice_str(shown));
	write_limits(o, folder, slice_is(c->kind, "timeout"), &j);
	json_close(&j);
}

/* What it imports is beside the program; its arguments are in it. */
static void add_evidence(const struct fxminify_options *o, char *const *command, size_t at, const char *shown, bool hangs)
{
	const char *output = o->output ? o->output : "repro.py", *old = getenv("PYTHONPATH");
	FREED char *file = realpath(command[at], NULL);
	const struct slice beside = path_folder(file ? file : command[at]);
	FREED char *modules = xasprintf("%.*s%s%s", SL(beside), old && *old ? ":" : "", old && *old ? old : "");
	evidence_add(
	    o,
	    &(struct evidence_of){
		.path = output, .python = o->python, .modules = modules, .reads_files = true, .hangs = hangs, .command = slice_str(shown)});
}

int source_run(const struct fxminify_options *o, char *const *command, const char *folder, const struct caught *c)
{
	const size_t at = program_word(command);
	const struct slice line = slice_first_line(c->message);
	LOCAL_BUF json = {0}, shown = {0};
	struct err err;
	int status;
	if (!o->quiet)
		note("%s: it fails while %.*s captures the program, before there is a graph: %.*s: %.*s", diag_tool, SL(c->by), SL(c->type),
		     SLN(line, 200));
	if (!at) {
		warn("the source can only be reduced of a command like: python app.py");
		return EXIT_PARTIAL;
	}
	buf_adds(&shown, "fxminify --");
	for (size_t i = 0; command[i]; i++)
		buf_addf(&shown, " %s", command[i]);
	write_config(o, command, at, folder, c, buf_str(&shown), &json);
	if (run_source(o, folder, buf_slice(&json), &status, &err) < 0)
		die_err(&err);
	if (status == EXIT_FINE)
		add_evidence(o, command, at, buf_str(&shown), slice_is(c->kind, "timeout"));
	return child_signalled() ? 128 + child_signalled() : status;
}
