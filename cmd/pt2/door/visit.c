#include "door/visit.h"
#include "door/words.h"

#include "base/json.h"
#include "base/text.h"
#include "base/process/child.h"
#include "base/tool/diag.h"
#include "base/tool/parts.h"
#include "base/tool/screen.h"
#include "base/tool/tempfolder.h"

#include <fcntl.h>
#include <unistd.h>

const char *const visit_format_name[] = {
#define X(id, name, option) name,
    VISIT_FORMATS(X)
#undef X
	NULL,
};

struct pt2_options pt2_opt = {.format = FORMAT_TEXT};
const char *pt2_python_set;

static const char *const format_option[] = {
#define X(id, name, option) option,
    VISIT_FORMATS(X)
#undef X
};

static int by_kind(const void *a, const void *b) { return *(const unsigned char *)a - *(const unsigned char *)b; }

char *visit_letters(const struct visit *v)
{
	unsigned char *kind = xcalloc(v->n + 2, 1);
	size_t n = v->n;
	for (size_t i = 0; i < n; i++)
		kind[i] = (unsigned char)v->thing[i].kind;
	qsort(kind, n, 1, by_kind);
	for (size_t i = 0; i < n; i++)
		kind[i] = (unsigned char)thing_letter[kind[i]];
	if (v->command)
		kind[n++] = 'c';
	return (char *)kind;
}

/* ---- from a door's text to words ---- */

/* The private folder: made when it is asked for. */
static const char *folder_of(struct visit *v)
{
	struct err err;
	if (!v->folder && !(v->folder = temp_folder(TEMP_FRONT, &err)))
		die_err(&err);
	return v->folder;
}

static bool stands_for(const struct visit *v, size_t i, char letter) { return letter == '*' || thing_letter[v->thing[i].kind] == letter; }

/* The n-th thing of a letter, from 1. */
static const char *nth(struct visit *v, char letter, unsigned n)
{
	if (letter == 'd')
		return folder_of(v);
	for (size_t i = 0; i < v->n; i++)
		if (stands_for(v, i, letter) && !--n)
			return v->thing[i].path;
	return "";
}

static void ask_specs(struct visit *v);

static void add_expanded(struct visit *v, struct slice word, struct words *w)
{
	if (word.n == 3 && *word.p == '{' && word.p[1] == 'c') {
		for (char *const *c = v->command; *c; c++)
			words_add(w, *c);
	} else if (word.n == 3 && *word.p == '{' && word.p[1] == 'i' && !*nth(v, 'I', 1)) {
		ask_specs(v);
		for (size_t i = 0; i < v->specs.n; i++)
			words_add(w, v->specs.v[i]);
	} else if (word.n == 3 && *word.p == '{' && word.p[1] != 'd') {
		for (size_t i = 0; i < v->n; i++)
			if (stands_for(v, i, word.p[1] == 'i' ? 'I' : word.p[1]))
				words_add(w, v->thing[i].path);
	} else {
		LOCAL_BUF one = {0};
		const char *open = slice_chr(word, '{'), *close = slice_chr(word, '}');
		buf_add_slice(&one, open ? slice_of(word.p, (size_t)(open - word.p)) : word);
		if (open && close) {
			buf_adds(&one, nth(v, open[1], is_digit(open[2]) ? (unsigned)(open[2] - '0') : 1));
			buf_add(&one, close + 1, (size_t)(word.p + word.n - close - 1));
		}
		words_add(w, buf_str(&one));
	}
}

static void expand(struct visit *v, const char *text, struct words *w)
{
	struct slice rest = slice_str(text);
	while (rest.n) {
		const struct slice word = slice_until(rest, " ");
		add_expanded(v, word, w);
		rest = slice_of(rest.p + word.n, rest.n - word.n);
		rest = slice_starts(rest, " ") ? slice_of(rest.p + 1, rest.n - 1) : rest;
	}
}

static void add_words(struct buf *b, char *const *word, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_addc(b, ' ');
		buf_add_word(b, word[i]);
	}
}

void visit_text(struct visit *v, const char *text, struct buf *b)
{
	for (const char *open; (open = strchr(text, '{')) && strchr(open, '}'); text = strchr(open, '}') + 1) {
		OWNED(words_release) struct words w = {0};
		buf_add(b, text, (size_t)(open - text));
		add_expanded(v, slice_of(open, (size_t)(strchr(open, '}') + 1 - open)), &w);
		add_words(b, w.v, w.n);
	}
	buf_adds(b, text);
	while (b->len && b->p[b->len - 1] == ' ') /* a letter that nothing has */
		buf_cut(b, b->len - 1);
}

/* ---- running a tool ---- */

static bool is_subcommand(const char *word) { return *word != '-' && *word != '{' && !strchr(word, '/') && !strchr(word, '.'); }

/* The thing that the tool reads from standard input, as it was given: logs and texts, so that the path of the copy does not get into the
 * answer. */
static const struct thing *piped(const struct visit *v, const char *step)
{
	const bool reads = !strncmp(step, "fxexplain ", 10) || !strncmp(step, "tlparse ", 8);
	const struct thing *found = NULL;
	for (size_t i = 0; reads && i < v->n; i++)
		if (v->thing[i].piped &&
		    (v->thing[i].kind == THING_TEXT || v->thing[i].kind == THING_NOTEBOOK || v->thing[i].kind == THING_TRACE))
			found = &v->thing[i];
	return found;
}

/* A step's words, and behind the tool's name and its subcommand's the options that all tools have. */
static void words_of(struct visit *v, const char *step, struct words *w)
{
	const char *second = strchr(step, ' ');
	expand(v, step, w);
	if (v->format != FORMAT_TEXT)
		words_insert(w, 1 + (second && is_subcommand(second + 1) && !strncmp(step, "fxexplain ", 10)),
			     xstrdup(format_option[v->format]));
	if (v->no_exec && !strncmp(step, "aoti-checkinputs ", 17))
		words_insert(w, 1, xstrdup("--no-exec"));
	if (v->model && (!strncmp(step, "aoti-", 5) || !strncmp(step, "pt2-run", 7)))
		words_insert(w, 1, xasprintf("--model=%s", v->model));
	const struct thing *in = piped(v, step);
	for (size_t i = 0; in && i < w->n; i++)
		if (!strcmp(w->v[i], in->path)) {
			free(w->v[i]);
			w->v[i] = xstrdup("-");
		}
}

static void run_step(struct visit *v, const char *step, bool collect, struct child_result *r)
{
	struct err err;
	OWNED(words_release) struct words w = {0};
	words_of(v, step, &w);
	FREED char *tool = tool_or_die(w.v[0]);
	free(w.v[0]);
	w.v[0] = xstrdup(tool);
	struct child_spec spec = {
	    .argv = words_argv(&w),
	    .same_group = true,
	    .keep_head = 4 << 20,
	    .keep_tail = 1,
	    .allow_core = true,
	};
	const struct thing *in = piped(v, step);
	if (in && (spec.in.fd = open(in->path, O_RDONLY | O_CLOEXEC)) < 0)
		die_errno(EXIT_ENVIRON, "cannot read '%s'", in->name);
	if (in)
		spec.in.how = CHILD_FD;
	else if (collect)
		spec.in.how = CHILD_NULL;
	if (collect) {
		spec.out.how = CHILD_PIPE;
		spec.err.how = CHILD_NULL;
	}
	if (child_run(&spec, r, &err) < 0)
		die_err(&err);
	if (in)
		close(spec.in.fd);
}

int visit_become(const char *tool, const char *first, char *const *args, struct err *err)
{
	FREED char *file = tool_need(tool, err);
	if (!file)
		return -1;
	size_t n = 0;
	while (args[n])
		n++;
	FREED char **argv = xcalloc(n + 3, sizeof(*argv));
	argv[0] = file;
	if (first)
		argv[1] = (char *)first;
	memcpy(argv + 1 + (first != NULL), args, n * sizeof(*argv));
	execv(file, argv);
	return err_errno(err, EXIT_ENVIRON, "cannot run '%s'", file);
}

/* The JSON document that the tool prints; empty if it prints none. */
static void ask_tool(struct visit *v, const char *step, struct buf *text)
{
	struct visit quiet = *v;
	struct child_result r;
	quiet.format = FORMAT_JSON;
	run_step(&quiet, step, true, &r);
	buf_add_slice(text, buf_slice(&r.out.head));
	child_result_release(&r);
}

static void ask_specs(struct visit *v)
{
	LOCAL_BUF text = {0};
	if (v->specs_asked)
		return;
	v->specs_asked = true;
	ask_tool(v, *nth(v, 'M', 1) ? "aoti-checkinputs {M1}" : "aoti-checkinputs {E}", &text);
	if (!specs_make(&v->specs, buf_slice(&text)))
		specs_release(&v->specs);
}

/* ---- does it run something? ---- */

/* The tool's name as it is installed: in a wheel tlparse is pt2-tlparse. */
static void show_name(struct words *w)
{
	FREED char *file = tool_find(w->v[0]);
	if (!file || !strcmp(path_base(file), w->v[0]))
		return;
	free(w->v[0]);
	w->v[0] = xstrdup(path_base(file));
}

/* A program, torch, or the code of a compiled model: not a graph, whose operators are the tools' own. */
static bool runs_something(const struct visit *v, const char *step)
{
	static const char *const always[] = {"fxexplain run", "fxexplain mend", "fxexplain replay", "fxminify"};
	static const char *const never[] = {"fxexplain", "tlparse", "aoti-checkinputs"};
	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		if (!strncmp(step, always[i], strlen(always[i])))
			return true;
	bool runs = strstr(step, "{c}") != NULL, reads = false;
	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		reads |= !strncmp(step, never[i], strlen(never[i]));
	for (size_t i = 0; !reads && i < v->n; i++)
		runs |= v->thing[i].kind == THING_MODEL || v->thing[i].kind == THING_RECORD;
	return runs;
}

/* How many steps may be done. */
static size_t steps_of(struct visit *v, const struct door *d)
{
	size_t n = 0;
	while (n < DOOR_STEPS && d->step[n] && !(v->no_exec && runs_something(v, d->step[n])))
		n++;
	if (n == DOOR_STEPS || !d->step[n])
		return n;
	LOCAL_BUF b = {0};
	OWNED(words_release) struct words w = {0};
	words_of(v, d->step[n], &w);
	show_name(&w);
	add_words(&b, w.v, w.n);
	if (!n)
		die(EXIT_USAGE, "not run, because of --no-exec: %s", buf_str(&b));
	if (!v->quiet)
		note("pt2: not run, because of --no-exec: %s", buf_str(&b));
	return n;
}

/* ---- a text goes to both of its readers ---- */

static bool document_of(struct visit *v, const char *step, struct buf *text, struct json_tape *t, uint32_t *root)
{
	ask_tool(v, step, text);
	json_tape_text(t, buf_str(text), text->len);
	return text->len && json_parse(t, 0, text->len, root) == 0;
}

/* How much an answer says: 3 a place in compiled code, 2 what was seen or follows, 1 a known text, 0 nothing. */
static unsigned worth_of_crash(struct visit *v, const char *step)
{
	LOCAL_BUF text = {0};
	OWNED(json_tape_release) struct json_tape t = {0};
	uint32_t root;
	if (!document_of(v, step, &text, &t, &root))
		return 0;
	const struct slice owner = json_word(&t, root, "owner"), kind = json_word(&t, root, "kind");
	if (slice_is(owner, "kernel") || json_is(&t, json_get(&t, root, "call"), JSON_OBJECT))
		return 3;
	return !kind.n || slice_is(kind, "none") ? 0 : !owner.n || slice_is(owner, "unknown") ? 1 : 2;
}

static unsigned worth_of_log(struct visit *v, const char *step)
{
	LOCAL_BUF text = {0};
	OWNED(json_tape_release) struct json_tape t = {0};
	uint32_t root;
	if (!document_of(v, step, &text, &t, &root))
		return 0;
	const uint32_t verdict = json_get(&t, root, "verdict");
	const struct slice basis = json_word(&t, verdict, "basis"), component = json_word(&t, verdict, "component");
	if (slice_is(basis, "seen") || (slice_is(basis, "follows") && !slice_is(component, "runtime")))
		return 3; /* its reader knows more kinds of texts */
	if (slice_is(basis, "follows"))
		return 2;
	const uint32_t findings = json_get(&t, root, "findings");
	const bool any = json_is(&t, findings, JSON_ARRAY) && json_first(&t, findings) < json_end(&t, findings);
	return slice_is(basis, "likely") ? 2 : any ? 1 : 0;
}

/* The step that says more; fxexplain's own where both say as much, except of a crash that it only names. */
static const char *better_reader(struct visit *v)
{
	static const char log[] = "fxexplain {X}", crash[] = "fxexplain crash {X}";
	const unsigned as_log = worth_of_log(v, log), as_crash = as_log < 3 ? worth_of_crash(v, crash) : 0;
	return as_crash > as_log ? crash : log;
}

/* ---- what is said ---- */

static void say_what(struct visit *v, const char *step)
{
	LOCAL_BUF b = {0};
	OWNED(words_release) struct words w = {0};
	if (v->quiet)
		return;
	for (size_t i = 0; i < v->n; i++)
		buf_addf(&b, "%s%s%s %s", i ? ", " : "", v->thing[i].name, i ? "" : " is", thing_name[v->thing[i].kind]);
	if (v->n)
		buf_adds(&b, ": ");
	words_of(v, step, &w);
	show_name(&w);
	add_words(&b, w.v, w.n);
	note("pt2: %s", buf_str(&b));
}

/* Nothing goes on from what is gone with this process. */
static bool can_go_on(const struct visit *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->thing[i].piped)
			return false;
	return true;
}

/* Inputs that cannot be generated have to come from the user. */
static bool lacks_inputs(struct visit *v, const char *text)
{
	if (!strstr(text, "{i}") || *nth(v, 'I', 1))
		return false;
	ask_specs(v);
	return !v->specs.n;
}

static void say_next(struct visit *v, const char *const *next)
{
	if (v->quiet || v->format != FORMAT_TEXT || !next[0] || !can_go_on(v))
		return;
	struct screen s = screen_make();
	buf_addc(&s.b, '\n');
	bool first = true;
	for (size_t i = 0; i < DOOR_NEXT && next[i]; i++) {
		if (lacks_inputs(v, next[i]))
			continue;
		OWNED(words_release) struct words w = {0};
		LOCAL_BUF line = {0};
		expand(v, next[i], &w);
		if (v->model)
			words_insert(&w, 1, xasprintf("--model=%s", v->model));
		add_words(&line, w.v, w.n);
		put_dim(&s, first ? "next  " : "      ");
		first = false;
		put_text(&s, buf_slice(&line));
		buf_addc(&s.b, '\n');
	}
	screen_end(&s);
}

int visit_door(struct visit *v, const struct door *d)
{
	struct child_result r = {0};
	const char *const found[] = {d->found, NULL};
	bool first = false; /* it was the last */
	const size_t steps = steps_of(v, d);
	for (size_t i = 0; i < steps; i++) {
		const char *step = d->step[i];
		if (!strcmp(step, "fxexplain {X}") && !strcmp(d->verb, "why"))
			step = better_reader(v);
		say_what(v, step);
		run_step(v, step, false, &r);
		first = !i;
		if (r.how != CHILD_EXITED || r.status)
			break;
		if (i + 1 < steps)
			child_result_release(&r);
	}
	if (r.how == CHILD_EXITED && r.status != EXIT_USAGE && r.status != EXIT_INPUT && r.status != EXIT_ENVIRON)
		say_next(v, d->found && first && r.status == EXIT_FOUND ? found : d->next);
	temp_folder_remove_all();
	child_exit_like(&r);
}
