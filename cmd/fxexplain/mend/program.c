/* program.c - the command as one Python program: its interpreter, the interpreter's options, its file or module, its arguments. */
#include "mend/server.h"

#include "base/process/child.h"
#include "base/text.h"
#include "base/tool/diag.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Programs that start several processes of one program: a fix that is proven on one rank is not proven. */
static const char *const launchers[] = {"torchrun", "accelerate", "deepspeed", "mpirun", "srun", "horovodrun"};

static bool is_python(const char *path)
{
	struct slice name = slice_base(slice_str(path));
	return slice_starts(name, "python") || slice_starts(name, "pypy");
}

/* "#!/venv/bin/python" or "#!/usr/bin/env python3": the interpreter of a script that is a command; NULL. */
static char *script_python(const char *path)
{
	char line[PATH_MAX + 32] = "";
	FILE *f = fopen(path, "re");
	if (!f)
		return NULL;
	bool got = fgets(line, sizeof(line), f) != NULL;
	fclose(f);
	line[strcspn(line, "\r\n")] = 0;
	if (!got || strncmp(line, "#!", 2) || strncmp(line + 2, "/", 1))
		return NULL;
	char *word = line + 2;
	if (!strncmp(word, "/usr/bin/env ", 13))
		word += 13;
	word[strcspn(word, " ")] = 0;
	return is_python(word) ? child_which(word) : NULL;
}

/* Takes the interpreter's own options, up to the program. */
static int take_options(struct mend_program *p, char *const *word)
{
	int n = 0, i = 0;
	for (; word[i] && word[i][0] == '-'; i++) {
		const char *o = word[i];
		if (!strcmp(o, "-m") || !strcmp(o, "-c") || !strcmp(o, "-"))
			break;
		p->python_option[n++] = o;
		if ((!strcmp(o, "-W") || !strcmp(o, "-X")) && word[i + 1])
			p->python_option[n++] = word[++i];
	}
	p->python_option[n] = NULL;
	return i;
}

void mend_program_of(struct mend_program *p, char *const *command)
{
	const char *name = path_base(command[0]);
	size_t words = 0;
	*p = (struct mend_program){0};
	while (command[words])
		words++;
	p->python_option = xcalloc(words + 1, sizeof(*p->python_option));
	for (size_t i = 0; i < ARRAY_LEN(launchers); i++)
		if (!strcmp(name, launchers[i]))
			die(EXIT_USAGE,
			    "%s starts several processes, which mend cannot compare: pass the program as one process: -- python %s", name,
			    command[words - 1]);
	int at = 1;
	FREED char *found = child_which(command[0]);
	if (!found)
		die(EXIT_ENVIRON, "cannot run '%s': command not found", command[0]);
	if (is_python(command[0])) {
		p->python = xstrdup(found);
		at += take_options(p, command + 1);
	} else {
		p->python = script_python(found);
		if (!p->python)
			die(EXIT_USAGE, "'%s' is not a Python program: mend edits the program's text and needs: -- python app.py",
			    command[0]);
		at = 0;
	}
	const char *what = at ? command[at] : found;
	if (!what || !strcmp(what, "-c") || !strcmp(what, "-"))
		die(EXIT_USAGE, "mend needs a program in a file: -- python app.py, or -- python -m package.module");
	if (at && !strcmp(what, "-m")) {
		p->module = command[++at];
		if (!p->module)
			die(EXIT_USAGE, "no module after -m");
	} else if (!(p->main = realpath(what, NULL))) {
		die_errno(EXIT_INPUT, "cannot read '%s'", what);
	}
	p->args = command + at + 1;
}

void mend_program_release(struct mend_program *p)
{
	free(p->python);
	free(p->python_option);
	free(p->main);
}
