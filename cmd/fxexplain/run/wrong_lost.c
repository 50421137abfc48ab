/* wrong_lost.c - what a call of a compiled function should have left behind, and did not: share/explain/state.py (wrong.h). */
#include "run/wrong.h"

#include "base/html/html.h"
#include "base/io/mapfile.h"
#include "base/io/write.h"
#include "base/tool/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The lines of one run. */
struct calls {
	struct mapfile file;
	struct json_tape tape;
	uint32_t call[256]; /* root of each line */
	unsigned n;
};

static void calls_release(struct calls *c)
{
	json_tape_release(&c->tape);
	mapfile_close(&c->file);
}

static bool calls_read(struct calls *c, const char *path)
{
	struct err err;
	uint32_t root;
	struct slice rest, line;
	*c = (struct calls){.n = 0};
	if (mapfile_open(&c->file, path, &err) < 0)
		return false;
	json_tape_text(&c->tape, c->file.bytes.p, c->file.bytes.n);
	rest = c->file.bytes;
	while (c->n < ARRAY_LEN(c->call) && slice_line(&rest, &line))
		if (json_parse(&c->tape, (size_t)(line.p - c->file.bytes.p), line.n, &root) == 0)
			c->call[c->n++] = root;
	return true;
}

/* Runs the program with backend (NULL: eager); the lines are then in PATH. */
static void run_state(struct wrong *w, const char *site, const char *name, const char *backend, const char *path)
{
	struct child_result r;
	FREED char *dir = xasprintf("%s/state-%s", w->b.folder, name), *report = xasprintf("PT2_STATE_REPORT=%s", path);
	FREED char *of = xasprintf("PT2_STATE_BACKEND=%s", backend ? backend : "");
	const char *const eager[] = {site, report, "TORCH_COMPILE_DISABLE=1", "TORCHDYNAMO_DISABLE=1", NULL};
	const char *const compiled[] = {site, report, of, NULL};
	if (!w->b.o->quiet)
		note("%s: comparing what each call leaves behind: %s", diag_tool, backend ? backend : "eager");
	bisect_start(&w->b, (const char *const *)w->b.command, backend ? compiled : eager, dir, &r);
}

static char *make_site(const struct wrong *w)
{
	const struct slice before = share_file("jit/after_import.py"), text = share_file("explain/state.py");
	struct err err;
	FREED char *dir = xasprintf("%s/state-site", w->b.folder), *path = xasprintf("%s/sitecustomize.py", dir);
	const char *old = getenv("PYTHONPATH");
	int fd = mkdir(dir, 0700) < 0 ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		die_errno(EXIT_ENVIRON, "cannot write '%s'", path);
	if (write_all(fd, before.p, before.n, path, &err) < 0 || write_all(fd, text.p, text.n, path, &err) < 0)
		die_err(&err);
	close(fd);
	return xasprintf("PYTHONPATH=%s%s%s", dir, old && *old ? ":" : "", old && *old ? old : "");
}

/* "the variable 'hits'", "the result": what a name of state.py is. */
static const char *words_of(struct wrong *w, struct slice name)
{
	return arena_textf(&w->b.arena, slice_starts(name, "the result") || slice_starts(name, "argument ") ? "%.*s" : "'%.*s'", SL(name))
	    .p;
}

static void add_lost(struct wrong *w, const struct json_tape *t, uint32_t call, struct slice name, struct slice eager,
		     struct slice compiled)
{
	LOCAL_BUF text = {0};
	if (w->n_lost == WRONG_LOST)
		return;
	struct wrong_lost *l = &w->lost[w->n_lost++];
	*l = (struct wrong_lost){.what = words_of(w, name),
				 .eager = arena_strndup(&w->b.arena, eager.p, eager.n),
				 .compiled = arena_strndup(&w->b.arena, compiled.p, compiled.n),
				 .line = json_index(t, call, "line", 0),
				 .call = json_index(t, call, "call", 0)};
	struct slice file = json_text(t, call, "file", &text);
	l->file = arena_strndup(&w->b.arena, file.p, file.n);
	struct slice function = json_text(t, call, "function", &text);
	l->function = arena_strndup(&w->b.arena, function.p, function.n);
}

/* The first call after which something differs that is the same in two eager runs. */
static void compare(struct wrong *w, const struct calls *eager, const struct calls *again, const struct calls *compiled)
{
	LOCAL_BUF key = {0}, a = {0}, b = {0}, c = {0};
	for (unsigned i = 0; i < eager->n && i < again->n && i < compiled->n && !w->n_lost; i++) {
		const uint32_t was = json_get(&eager->tape, eager->call[i], "state"), too = json_get(&again->tape, again->call[i], "state"),
			       is = json_get(&compiled->tape, compiled->call[i], "state");
		json_each_pair(&eager->tape, was, k) {
			struct slice name = json_slice(&eager->tape, k);
			const uint32_t v = json_find(&again->tape, too, name), u = json_find(&compiled->tape, is, name);
			struct slice p = json_text_at(&eager->tape, k + 1, &a);
			struct slice q = v == NONE ? SLICE("") : json_text_at(&again->tape, v, &b);
			struct slice r = u == NONE ? SLICE("nothing") : json_text_at(&compiled->tape, u, &c);
			if (!slice_eq(p, q) || slice_eq(p, r))
				continue;
			buf_reset(&key);
			json_unescape(&eager->tape, k, &key);
			add_lost(w, &eager->tape, eager->call[i], buf_slice(&key), p, r);
		}
	}
}

/* With the first backend that fails; for Inductor with what comes before it. */
void wrong_find_lost(struct wrong *w)
{
	OWNED(calls_release) struct calls eager = {0}, again = {0}, compiled = {0};
	FREED char *site = make_site(w), *one = xasprintf("%s/state-eager.jsonl", w->b.folder),
		   *two = xasprintf("%s/state-again.jsonl", w->b.folder), *three = xasprintf("%s/state-compiled.jsonl", w->b.folder);
	const char *backend = w->b.found == AS_IS ? "aot_eager" : places[w->b.found].backend;
	run_state(w, site, "eager", NULL, one);
	run_state(w, site, "again", NULL, two);
	run_state(w, site, "compiled", backend, three);
	w->compared = calls_read(&eager, one) && calls_read(&again, two) && calls_read(&compiled, three);
	if (w->compared)
		compare(w, &eager, &again, &compiled);
	else
		w->note = "no call of a compiled function was seen";
}
