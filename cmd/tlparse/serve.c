/* serve.c - tlparse --serve: makes the report with this program itself, which seals itself as usual, and serves it over HTTP.
 *
 * The server is Python's http.server (share/serve/serve.py), in a process of its own: a second HTTP server would be one more thing to
 * trust. This process reads neither logs nor requests. */
#include "tlparse.h"

#include "base/html/html.h"
#include "base/process/child.h"
#include "base/tool/diag.h"
#include "base/tool/parts.h"
#include "base/tool/tempfolder.h"

#include <sys/stat.h>

static struct child_result run(const char *const *argv)
{
	struct child_result r;
	struct err err;
	const struct child_spec spec = {.argv = argv, .die_with_parent = true};
	if (child_run(&spec, &r, &err) < 0)
		die_err(&err);
	return r;
}

/* One that a signal ended: so does this. */
static int status_of(struct child_result *r)
{
	if (r->sig) {
		temp_folder_remove_all();
		child_exit_like(r);
	}
	const int status = r->status;
	child_result_release(r);
	return status;
}

/* --serve and --port are the parent's (options have no short forms); the value of --port may be a word of its own. */
static bool is_own(char *const *argv, int i, int *words)
{
	*words = strcmp(argv[i], "--port") ? 1 : 2;
	return !strcmp(argv[i], "--serve") || !strcmp(argv[i], "--no-serve") || !strcmp(argv[i], "--port") ||
	       !strncmp(argv[i], "--port=", 7);
}

int serve_report(const struct tlparse_options *opt, int argc, char **argv)
{
	const char *env = getenv("PT2_PYTHON"), *python = env && *env ? env : "python3";
	FREED char *program = tool_or_die("tlparse"), *page = NULL, *html = NULL, *script = NULL, *port = xasprintf("%d", opt->port);
	FREED const char **v = xcalloc((size_t)argc + 5, sizeof(*v));
	struct err err;
	size_t n = 0;
	const bool folder_wanted =
	    opt->all_ranks || (!opt->html && (opt->overwrite || opt->plain_text || opt->header || opt->export || opt->provenance));
	const char *path = opt->out ? opt->out : folder_wanted ? "tl_out" : opt->html;
	char *folder = NULL;
	v[n++] = program;
	v[n++] = "--no-browser";
	if (!path) {
		if (!(folder = temp_folder(TEMP_FRONT, &err)))
			die_err(&err);
		path = page = xasprintf("%s/report.html", folder);
		v[n++] = html = xasprintf("--html=%s", page);
	}
	bool operands = false;
	for (int i = 1, words; i < argc; i += words) {
		words = 1;
		operands |= !strcmp(argv[i], "--");
		if (!operands && is_own(argv, i, &words))
			continue;
		v[n++] = argv[i];
	}
	child_signals(CHILD_SIGNALS_FORWARD); /* Ctrl-C ends the child, and the folder is removed */
	struct child_result r = run(v);
	struct stat st;
	int status = status_of(&r);
	if ((status == EXIT_FINE || status == EXIT_FOUND || status == EXIT_INPUT) && stat(path, &st) == 0) {
		const struct slice text = share_file("serve/serve.py");
		script = xstrndup(text.p, text.n);
		r = run((const char *const[]){python, "-I", "-c", script, path, port, NULL});
		const int served = status_of(&r);
		status = served == 1 ? EXIT_ENVIRON : served ? served : status; /* 1: no such port; it has said so */
	}
	temp_folder_remove(folder);
	return status;
}
