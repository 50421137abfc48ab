/* source.c - a failure in capture itself: share/fxminify/source.py reduces the program's text (program.h). */
#include "evidence.h"
#include "program.h"

#include "base/html/html.h"
#include "base/json.h"
#include "base/process/child.h"
#include "base/text.h"
#include "base/tool/diag.h"

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

static void write_config(const struct fxminify_options *o, char *const *command, size_t at, const char *folder, const struct caught *c,
			 const char *shown, struct buf *b)
{
	struct json_out j = {.b = b};
	FREED char *file = realpath(command[at], NULL), *cwd = getcwd(NULL, 0);
	const char *output = o->output ? o->output : "repro.py";
	FREED char *whole = *output == '/' || !cwd ? xstrdup(output) : xasprintf("%s/%s", cwd, output);
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
	json_member_str(&j, "command", slice_str(shown));
	json_member_i64(&j, "timeout", o->timeout);
	json_member_u64(&j, "max_tests", o->max_tests);
	json_member_double(&j, "max_time", o->max_time, 3);
	json_member_bool(&j, "quiet", o->quiet);
	json_close(&j);
}

/* What it imports is beside the program. */
static void add_evidence(const struct fxminify_options *o, char *const *command, size_t at, const char *shown)
{
	const char *output = o->output ? o->output : "repro.py", *old = getenv("PYTHONPATH");
	FREED char *file = realpath(command[at], NULL);
	const struct slice beside = path_folder(file ? file : command[at]);
	FREED char *modules = xasprintf("%.*s%s%s", SL(beside), old && *old ? ":" : "", old && *old ? old : "");
	evidence_add(o,
		     &(struct evidence_of){
			 .path = output, .python = o->python, .modules = modules, .args = command + at + 1, .command = slice_str(shown)});
}

int source_run(const struct fxminify_options *o, char *const *command, const char *folder, const struct caught *c)
{
	const size_t at = program_word(command);
	const struct slice text[] = {share_file("zygote/zygote.py"), SLICE("\n\n"), share_file("fxminify/trial.py"), SLICE("\n\n"),
				     share_file("fxminify/source.py")};
	const struct slice line = slice_first_line(c->message);
	LOCAL_BUF json = {0}, shown = {0};
	struct err err;
	int status;
	if (!o->quiet)
		note("%s: it fails while Dynamo captures the program, before there is a graph: %.*s: %.*s", diag_tool, SL(c->type),
		     SLN(line, 200));
	if (!at) {
		warn("the source can only be reduced of a command like: python app.py");
		return EXIT_PARTIAL;
	}
	buf_adds(&shown, "fxminify --");
	for (size_t i = 0; command[i]; i++)
		buf_addf(&shown, " %s", command[i]);
	write_config(o, command, at, folder, c, buf_str(&shown), &json);
	if (script_run(script_python(o), folder, text, ARRAY_LEN(text), buf_slice(&json), NULL, &status, &err) < 0)
		die_err(&err);
	if (status == EXIT_FINE)
		add_evidence(o, command, at, buf_str(&shown));
	return child_signalled() ? 128 + child_signalled() : status;
}
