/* prelude.c - a program that changes torch, up to its first compile, as a module that the result imports (program.h). */
#include "program.h"

#include "base/html/html.h"
#include "base/io/mapfile.h"
#include "base/json.h"
#include "base/text.h"
#include "base/tool/diag.h"
#include "base/tool/output.h"

#include <stdlib.h>
#include <unistd.h>

/* "repro_program" of "out/repro.py": what can be imported. */
static char *name_module(const char *output)
{
	const char *base = path_base(output && strcmp(output, "-") ? output : "repro.py");
	const size_t n = slice_ends(slice_str(base), ".py") ? strlen(base) - 3 : strlen(base);
	char *name = xasprintf("%.*s_program", (int)n, base);
	for (char *c = name; *c; c++)
		if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9'))
			*c = '_';
	if (*name >= '0' && *name <= '9')
		*name = '_';
	return name;
}

/* JSON's strings are Python's. */
static void fill_in(struct slice text, const char *file, char *const *args, const char *folder, struct buf *b)
{
	static const char marks[][9] = {"@FILE@", "@ARGS@", "@FOLDER@"};
	const char *at;
	struct json_out j = {.b = b};
	for (size_t i = 0; i < ARRAY_LEN(marks) && (at = slice_find(text, marks[i])); i++) {
		const size_t n = (size_t)(at - text.p);
		buf_add_slice(b, slice_of(text.p, n));
		text = slice_of(at + strlen(marks[i]), text.n - n - strlen(marks[i]));
		j = (struct json_out){.b = b};
		if (i != 1) {
			json_out_str(&j, slice_str(i ? folder : file));
			continue;
		}
		json_arr(&j);
		for (; *args; args++)
			json_out_str(&j, slice_str(*args));
		json_close(&j);
	}
	buf_add_slice(b, text);
}

bool prelude_make(struct prelude *p, const struct fxminify_options *o, char *const *command, const char *folder, struct err *err)
{
	LOCAL_BUF text = {0};
	*p = (struct prelude){.command = command, .at = program_word(command)};
	p->file = p->at ? realpath(command[p->at], NULL) : NULL;
	if (!p->file) {
		err_set(err, EXIT_INPUT, "only a command like python app.py can be run up to its first compile");
		return false;
	}
	p->module = name_module(o->output);
	p->path = xasprintf("%s/%s.py", folder, p->module);
	FREED char *cwd = getcwd(NULL, 0);
	buf_add_slice(&text, share_file("fxminify/files.py"));
	buf_adds(&text, "\n\n");
	fill_in(share_file("fxminify/prelude.py"), p->file, command + p->at + 1, cwd ? cwd : ".", &text);
	if (output_write(p->path, &(struct slice){text.p, text.len}, 1, err) == 0)
		return true;
	prelude_release(p);
	return false;
}

void prelude_release(struct prelude *p)
{
	free(p->module);
	free(p->path);
	free(p->file);
	*p = (struct prelude){.module = NULL};
}

int prelude_deliver(const struct fxminify_options *o, const char *path, const char *folder, struct err *err)
{
	const struct prelude *p = o->prelude;
	OWNED(mapfile_close) struct mapfile module = {0};
	const int folded = source_fold(o, p, path, folder, err);
	if (folded)
		return folded;
	const struct slice beside = path_folder(path);
	FREED char *copy = xasprintf("%.*s/%s.py", SL(beside), p->module);
	if (mapfile_open(&module, p->path, err) < 0 || output_write(copy, &module.bytes, 1, err) < 0)
		return -1;
	if (!o->quiet)
		note("%-10s %s runs the program up to its first compile; the result imports it", "beside", copy);
	return 0;
}
