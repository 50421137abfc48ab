/* pt2 - one front door: looks at what it is given, lets the right tool answer, and says what comes next. */
#include "door/notebook.h"
#include "door/visit.h"

#include "base/io/mapfile.h"
#include "base/io/tempfile.h"
#include "base/io/write.h"
#include "base/process/child.h"
#include "base/tool/diag.h"
#include "base/tool/opt.h"
#include "base/tool/settings.h"
#include "base/tool/tempfolder.h"
#include "run/kept/kept.h"
#include "base/text.h"
#include "tensor/tensor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct opt options[] = {
    OPT_CHOICE(0, "format", "FORMAT", &pt2_opt.format, visit_format_name, "choose the form of the answer"),
    OPT_STRING('m', "model", "NAME", &pt2_opt.model, "choose the model, if the package holds several"),
    OPT_FLAG(0, "json", &pt2_opt.json, "write JSON, as --format=json does"),
    OPT_FLAG('q', "quiet", &pt2_opt.quiet, "print the answer only"),
    OPT_FLAG(0, "no-exec", &pt2_opt.no_exec, "run nothing: no program, no model, not even in the sandbox", .rare = true),
    OPT_END,
};

#define VERBS(X) \
	X(why, "say what this is and what went wrong", "What is this, and what went wrong?", {"trace.log", "explain a log"}, \
	  {"model.pt2", "show what a model expects"}, {"crash.txt crash.pt2", "explain a backtrace"}) \
	X(slow, "say where the time goes, and what would save it", "Where does the time go, and what would save it?", \
	  {"trace.log", "the times of a compilation"}, {"model.pt2", "the time of each kernel"}, \
	  {"eager.json compiled.json", "two profiles"}) \
	X(nan, "find what made the NaN", "Which kernel made the NaN, and why?", {"model.pt2", "in a compiled model"}, \
	  {"log.pt2 log.npy", "with this call"}, {"-- python train.py", "in a program"}) \
	X(wrong, "find what computes wrong numbers", "Which kernel computes something else than eager?", \
	  {"exported.pt2 model.pt2", "verify every kernel"}, {"exported.pt2 model.pt2 batch.npy", "with this call"}, \
	  {"-- python app.py", "in a program"}) \
	X(crash, "say what crashed, or whether it will", "What crashed, or will this model load here?", \
	  {"crash.txt crash.pt2", "a backtrace"}, {"model.pt2", "will it load here?"}, {"-- python app.py", "run it and see"}) \
	X(repro, "make the smallest program that fails", "What is the smallest program that still fails?", \
	  {"minifier_launcher.py", "reduce a launcher"}, {"x.pt2b", "run a bundle again"}, {"-- python app.py", "from a program"}) \
	X(fix, "show which lines to change", "Which lines of the program do I change, and how?", {"trace.log", "show them as a patch"}, \
	  {"--json trace.log", "one JSON document"}, {"-- python app.py", "run it first"}) \
	X(check, "check a call of a model", "What does this model expect, and is this call right?", {"model.pt2", "what it expects"}, \
	  {"model.pt2 batch.npy", "check a call"}, {"exported.pt2 model.pt2", "compare with what it was made from"}) \
	X(run, "run a model, or watch a program", "What does it compute?", {"model.pt2 batch.npy", "run a model"}, \
	  {"exported.pt2 'f32[2,8]'", "run an exported program"}, {"-- python app.py", "run and explain a program"}) \
	X(diff, "compare two of a kind", "Where do these two differ?", {"before.log after.log", "two compilations"}, \
	  {"model.pt2 model.pt2", "two models, kernel by kernel"}, {"eager.json compiled.json", "two profiles"})

#define THINGS "any file or folder that torch or these tools wrote; - is standard input."
#define X(verb, summary_, about_, ...) \
	static const struct opt_command verb##_command = { \
	    .name = #verb, \
	    .summary = summary_, \
	    .about = about_, \
	    .example = {__VA_ARGS__}, \
	    .operands = "[THING...]", \
	    .footer = "THING: " THINGS, \
	    .max = -1, \
	    .command = true, \
	};
VERBS(X)
#undef X

extern const struct opt_command top_command, attach_command, runs_command, gather_command, settings_command, mcp_command;
static const struct opt_command *const commands[] = {
#define X(verb, ...) &verb##_command,
    VERBS(X)
#undef X
	& top_command,
    &attach_command,
    &runs_command,
    &gather_command,
    &settings_command,
    &mcp_command,
    NULL,
};

static const struct opt_spec spec = {
    .tool = "pt2",
    .about = "What is this, what went wrong, and what now?",
    .example = {{"-- python app.py", "run a program and explain what happened"},
		{"trace.log", "explain whatever this is"},
		{"nan model.pt2 batch.npy", "find the kernel that made a NaN"}},
    .footer = "THING: " THINGS,
    .more = "What a file is follows from its content, not from its name. One line says which tool answers; its own name takes it to that "
	    "tool: pt2 "
	    "tlparse -h. A Python program may stand without --: pt2 app.py ARGS.",
    .options = options,
    .operands = "THING...",
    .max = -1,
    .command = true,
    .commands = commands,
};

/* ---- a tool by its name ---- */

static const struct {
	const char *word, *tool, *first;
} names[] = {
    {"tlparse", "tlparse", NULL},
    {"fxexplain", "fxexplain", NULL},
    {"fxminify", "fxminify", NULL},
    {"pt2-run", "pt2-run", NULL},
    {"aoti-checkinputs", "aoti-checkinputs", NULL},
    {"aoti-nanassert", "aoti-nanassert", NULL},
    {"aoti-printer", "aoti-printer", NULL},
    {"aoti-verify", "aoti-verify", NULL},
    {"kernel", "fxexplain", "kernel"},
    {"profile", "fxexplain", "profile"},
    {"cache", "fxexplain", "cache"},
    {"report", "fxexplain", "report"},
    {"replay", "fxexplain", "replay"},
    {"serve", "fxexplain", "serve"},
};

static void become_tool(int argc, char **argv)
{
	struct err err;
	for (size_t i = 0; argc > 1 && i < ARRAY_LEN(names); i++)
		if (!strcmp(argv[1], names[i].word) && visit_become(names[i].tool, names[i].first, argv + 2, &err) < 0) {
			diag_tool = "pt2";
			die_err(&err);
		}
}

/* ---- a program by its file: everything behind it is its own ---- */

static bool is_verb(const char *word)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(word, commands[i]->name))
			return true;
	return false;
}

/* The index of the first operand after the verb; argc: none. */
static int first_operand(int argc, char **argv)
{
	for (int i = 1, verb = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--"))
			return argc;
		if (!strcmp(argv[i], "--format"))
			i++;
		else if (*argv[i] != '-' && (verb || !is_verb(argv[i])))
			return i;
		else if (*argv[i] != '-')
			verb = 1;
	}
	return argc;
}

/* pt2 app.py ARGS means pt2 -- python app.py ARGS. The new argv lives as long as the program. */
static char **with_command(int *argc, char **argv)
{
	struct thing t;
	const int at = first_operand(*argc, argv);
	if (at == *argc || thing_look(&t, argv[at], argv[at], NULL) < 0 || (t.kind != THING_PROGRAM && t.kind != THING_SCRIPT))
		return argv;
	const bool itself = access(argv[at], X_OK) == 0 && strchr(argv[at], '/');
	const char *python = getenv("PT2_PYTHON");
	static char **v;
	v = xcalloc((size_t)*argc + 3, sizeof(*v));
	int n = 0;
	for (int i = 0; i < at; i++)
		v[n++] = argv[i];
	v[n++] = xstrdup("--");
	if (!itself)
		v[n++] = xstrdup(t.kind == THING_SCRIPT ? "sh" : python && *python ? python : "python3");
	for (int i = at; i < *argc; i++)
		v[n++] = argv[i];
	*argc = n;
	return v;
}

/* ---- last, last~1: what a run that was kept has left ---- */

static bool is_kept(const char *word) { return !strncmp(word, "last", 4) && (!word[4] || word[4] == '~') && access(word, F_OK) != 0; }

/* Its traces in the place of the word; what it printed where it left none. */
static char **with_kept(int *argc, char **argv)
{
	static struct kept_list kept; /* its paths are the arguments */
	struct err err;
	static char **v; /* the new argv */
	size_t n = 0, cap = 0;
	bool command = false;
	for (int i = 0; i < *argc; i++) {
		command |= !strcmp(argv[i], "--");
		if (i < 1 || command || !is_kept(argv[i]) || !strcmp(argv[1], "runs")) {
			PUSH_TO(v, n, cap) = argv[i];
			continue;
		}
		diag_tool = "pt2";
		if (!kept.place && kept_list(&kept, &err) < 0)
			die_err(&err);
		const struct kept_run *run = kept_find(&kept, argv[i]);
		if (!run)
			die(EXIT_INPUT, "no run '%s': %zu %s kept (pt2 runs)", argv[i], kept.n, kept.n == 1 ? "is" : "are");
		for (size_t k = 0; k < run->n_trace; k++)
			PUSH_TO(v, n, cap) = run->trace[k];
		if (!run->n_trace)
			PUSH_TO(v, n, cap) = xasprintf("%s/" KEPT_STDERR, run->folder);
	}
	*argc = (int)n;
	PUSH_TO(v, n, cap) = NULL;
	return v;
}

/* ---- operands ---- */

/* What can be read only once is copied, so that more than one tool can read it. */
static char *copied(struct visit *v, const char *path, struct err *err)
{
	static unsigned number;
	static char chunk[1 << 16];
	if (!v->folder && !(v->folder = temp_folder(TEMP_FRONT, err)))
		return NULL;
	char *name = number ? xasprintf("%s/input%u", v->folder, number + 1) : xasprintf("%s/input", v->folder);
	number++;
	const int from = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	const int to = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ssize_t n = 0;
	int status = from < 0 ? err_errno(err, EXIT_INPUT, "cannot open '%s'", path)
		     : to < 0 ? err_errno(err, EXIT_ENVIRON, "cannot write '%s'", name)
			      : 0;
	while (!status && ((n = read(from, chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			status = write_all(to, chunk, (size_t)n, name, err);
	if (!status && n < 0)
		status = err_errno(err, EXIT_INPUT, "cannot read '%s'", path);
	if (to >= 0)
		close(to);
	if (from > STDIN_FILENO)
		close(from);
	return status ? NULL : name;
}

static bool once(const char *path)
{
	struct stat st;
	return !strcmp(path, "-") || (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

/* f32[2,3], x=batch.npy, batch.npz:x: an input of a model, known by its form. */
static bool is_input(const char *text)
{
	struct thing t;
	const char *equals = strchr(text, '='), *colon = strrchr(text, ':');
	if (tensor_spec_like(slice_str(text)))
		return true;
	if (access(text, F_OK) == 0)
		return false;
	if (equals && equals > text)
		return is_input(equals + 1) || (thing_look(&t, equals + 1, equals + 1, NULL) == 0 && t.kind == THING_INPUTS);
	FREED char *file = colon ? xstrndup(text, (size_t)(colon - text)) : NULL;
	return file && thing_look(&t, file, file, NULL) == 0 && t.kind == THING_INPUTS;
}

/* A file that there is not may be a misspelt word. */
static _Noreturn void not_there(const char *word, const struct err *err)
{
	struct opt_guess g = {.word = slice_str(word)};
	for (size_t i = 0; commands[i]; i++)
		opt_guess(&g, commands[i]->name);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		opt_guess(&g, names[i].word);
	if (!g.best || access(word, F_OK) == 0)
		die_err(err);
	FREED char *meant = opt_guess_text(&g);
	die(EXIT_USAGE, "'%s' is neither a file nor a command%s; 'pt2 -h' lists them", word, meant);
}

/* What its cells printed takes its place. */
static void read_notebook(struct visit *v, struct thing *t)
{
	struct err err;
	LOCAL_BUF text = {0};
	if (notebook_text(&text, t->path, &err) < 0)
		die_err(&err);
	if (!text.len)
		die(EXIT_USAGE, "%s is a notebook that printed nothing: jupyter nbconvert --to script %s, and pt2 of the program", t->name,
		    t->name);
	if (!v->folder && !(v->folder = temp_folder(TEMP_FRONT, &err)))
		die_err(&err);
	char *name = xasprintf("%s/outputs%zu", v->folder, v->n);
	const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write_all(fd, text.p, text.len, name, &err) < 0)
		die(EXIT_ENVIRON, "cannot write '%s'", name);
	close(fd);
	t->path = name;
	t->piped = true;
}

static void look_at(struct visit *v, const char *path)
{
	struct err err;
	GROW(v->thing, v->n, v->cap, 1);
	struct thing *t = &v->thing[v->n++];
	if (is_input(path)) {
		*t = (struct thing){.path = path, .name = path, .kind = THING_INPUTS};
		return;
	}
	char *copy = once(path) ? copied(v, path, &err) : NULL;
	const char *file = once(path) ? copy : path;
	if (!file || thing_look(t, file, strcmp(path, "-") ? path : "(standard input)", &err) < 0)
		not_there(path, &err);
	t->piped = file != path;
	if (t->kind == THING_NOTEBOOK) {
		read_notebook(v, t);
		free(copy);
	}
}

static void look(struct visit *v, const struct operands *in)
{
	for (int i = 0; i < in->n; i++)
		look_at(v, in->v[i]);
	if (!in->n && !in->command)
		look_at(v, "-");
}

/* ---- no door ---- */

static _Noreturn void no_door(struct visit *v, const char *verb, const char *letters)
{
	LOCAL_BUF b = {0};
	LOCAL_BUF can = {0};
	for (size_t i = 0; i < v->n; i++)
		buf_addf(&b, "%s%s is %s", i ? ", " : "", v->thing[i].name, thing_name[v->thing[i].kind]);
	for (size_t i = 0; commands[i]; i++) {
		const struct door *d = door_find(commands[i]->name, letters);
		if (d && d->step[0] && *d->verb)
			buf_addf(&can, "%s%s", can.len ? ", " : "", d->verb);
	}
	if (can.len)
		die(EXIT_USAGE, "%s: 'pt2 %s' has no answer for that; these have: %s", buf_str(&b), verb, buf_str(&can));
	die(EXIT_USAGE, "%s: no tool takes these together", v->n ? buf_str(&b) : "a command");
}

int main(int argc, char **argv)
{
	struct operands in;
	struct visit v = {0};
	become_tool(argc, argv);
	diag_tool = "pt2";
	const char *set = getenv("PT2_PYTHON");
	pt2_python_set = set && *set ? xstrdup(set) : NULL;
	settings_load();
	argv = with_command(&argc, with_kept(&argc, argv));
	opt_parse_or_exit(&spec, argc, argv, &in);
	mapfile_watch();
	if (in.sub && in.sub->run && visit_format() > FORMAT_JSON)
		die(EXIT_USAGE, "--format=%s: '%s' writes text or json", visit_format_name[visit_format()], in.sub->name);
	if (in.sub && in.sub->run) {
		const int status = in.sub->run(&in);
		operands_release(&in);
		return status;
	}
	child_signals(CHILD_SIGNALS_FORWARD);
	v.format = visit_format();
	v.quiet = pt2_opt.quiet;
	v.model = pt2_opt.model;
	v.no_exec = pt2_opt.no_exec;
	v.command = in.command;
	if (in.command && !*in.command)
		die(EXIT_USAGE, "a command is missing behind --");
	if (!in.n && !in.command && isatty(STDIN_FILENO))
		die(EXIT_USAGE, "what is it about? a trace, a model, a text, - or -- COMMAND ('pt2 -h')");
	look(&v, &in);
	const char *verb = in.sub ? in.sub->name : "why";
	FREED char *letters = visit_letters(&v);
	const struct door *d = door_find(verb, letters);
	if (!d)
		no_door(&v, verb, letters);
	if (d->cannot) {
		LOCAL_BUF text = {0};
		const char *advice = v.n == 1 ? thing_advice[v.thing[0].kind] : NULL;
		visit_text(&v, advice ? advice : d->cannot, &text);
		if (v.n)
			die(EXIT_USAGE, "%s is %s: %s", v.thing[0].name, thing_name[v.thing[0].kind], buf_str(&text));
		die(EXIT_USAGE, "%s", buf_str(&text));
	}
	return visit_door(&v, d);
}
