/* main.c - `fxexplain serve`: a Language Server Protocol server (lsp.h) for the program that wrote a trace. Findings are diagnostics of
 * the lines they are about, hovers show cause and cost, and one-line fixes (fix/) are code actions. A trace that is rewritten is read
 * again. Diagnostics follow the text in the editor: a line that moved is found again; a line that was changed has no diagnostics until
 * the next trace. */
#include "fix/fix_part.h"

#include "base/hash.h"
#include "explain/emit.h"
#include "serve/lsp.h"
#include "base/emit/markdown.h"
#include "base/tool/diag.h"

#include <dirent.h>
#include <unistd.h>

enum { TICK_MS = 250, QUIET_TICKS = 2, BUSY_TICKS = 20 };

static struct {
	const char *root;
} own;

static const struct opt options[] = {
    OPT_STRING(0, "root", "DIR", &own.root, "look for the program's files below DIR",
	       .more = "Default: where the trace says, or below the current directory."),
    OPT_END,
};

/* A file as it is in the editor, or, until the next evaluation, as it was read from disk. */
struct document {
	char *path, *uri; /* uri: the editor's own; NULL if not open there */
	struct buf text;
};
struct server {
	const struct explain_options *opt;
	const struct operands *in;
	struct rpc rpc;
	bool utf8; /* columns are bytes */
	struct document *doc;
	uint32_t n_doc, cap_doc;
	struct fixing fix;
	bool has_fix;   /* a trace was read */
	uint32_t *line; /* of each finding, as in the trace */
	uint64_t seen;  /* state of the inputs when they were read */
	uint64_t now;   /* state when they were last checked */
	unsigned quiet, busy;
	bool edited, ready, shut, ended;
	char **shown; /* files that have diagnostics in the editor */
	uint32_t n_shown, cap_shown;
};

static void send(struct server *s, struct json_out *o)
{
	struct err err;
	if (rpc_send(&s->rpc, o, &err) < 0)
		die_err(&err);
}

static void log_message(struct server *s, int type, const char *text)
{
	struct json_out o = rpc_begin(&s->rpc);
	json_member_str(&o, "method", SLICE("window/logMessage"));
	json_member_obj(&o, "params");
	json_member_i64(&o, "type", type);
	json_member_str(&o, "message", slice_str(text));
	send(s, &o);
}

/* ---- documents ---- */

static struct document *document(struct server *s, const char *path)
{
	for (uint32_t i = 0; i < s->n_doc; i++)
		if (!strcmp(s->doc[i].path, path))
			return &s->doc[i];
	return NULL;
}

static struct document *add_document(struct server *s, const char *path)
{
	GROW(s->doc, s->n_doc, s->cap_doc, 1);
	s->doc[s->n_doc] = (struct document){.path = xstrdup(path)};
	return &s->doc[s->n_doc++];
}

static void drop_document(struct server *s, struct document *d)
{
	free(d->path);
	free(d->uri);
	buf_release(&d->text);
	*d = s->doc[--s->n_doc];
}

/* Files are read into memory: one that is rewritten meanwhile stays as it was. */
static bool read_document(void *of, const char *path, struct slice *text)
{
	struct server *s = of;
	struct document *d = document(s, path);
	OWNED(mapfile_close) struct mapfile m = {0};
	struct err err;
	if (!d && mapfile_open(&m, path, &err) == 0) {
		d = add_document(s, path);
		buf_add_slice(&d->text, m.bytes);
	}
	if (d)
		*text = buf_slice(&d->text);
	return d != NULL;
}

/* The path of a URI in the form that fix/files.c uses: symlinks in directories resolved. */
static char *real_path(struct slice uri)
{
	LOCAL_BUF b = {0};
	char *real = NULL, *slash, *folder;
	if (lsp_path(uri, &b) && (slash = strrchr(b.p, '/'))) {
		*slash = 0;
		folder = realpath(*b.p ? b.p : "/", NULL);
		real = folder ? xasprintf("%s/%s", strcmp(folder, "/") ? folder : "", slash + 1) : NULL;
		free(folder);
	}
	return real;
}

static void put_uri(struct server *s, const char *path, struct buf *b)
{
	const struct document *d = document(s, path);
	if (d && d->uri)
		buf_adds(b, d->uri);
	else
		lsp_uri(b, path);
}

/* ---- inputs ---- */

/* Finds the newest log in a folder; any other operand is taken as is. Empty: nothing yet. */
static void newest(const char *path, struct buf *b, struct stat *st)
{
	struct stat one;
	buf_reset(b);
	if (stat(path, st) < 0)
		return;
	if (!S_ISDIR(st->st_mode) || operand_kind(path) == OPERAND_DEBUGDIR) {
		buf_adds(b, path);
		return;
	}
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &one, 0) < 0 || !S_ISREG(one.st_mode) || !one.st_size)
			continue;
		bool later = one.st_mtim.tv_sec > st->st_mtim.tv_sec ||
			     (one.st_mtim.tv_sec == st->st_mtim.tv_sec && one.st_mtim.tv_nsec > st->st_mtim.tv_nsec);
		if (b->len && !later)
			continue;
		*st = one;
		buf_reset(b);
		buf_addf(b, "%s/%s", path, e->d_name);
	}
	if (d)
		closedir(d);
}

/* Hashes the state of the inputs into one number, and lists their paths (unless path is NULL). */
static uint64_t hash_inputs(const struct server *s, char **path, int *n)
{
	LOCAL_BUF b = {0}, all = {0};
	struct stat st;
	for (int i = 0; i < s->in->n; i++) {
		newest(s->in->v[i], &b, &st);
		if (!b.len)
			continue;
		buf_addf(&all, "%s %lld %lld.%09ld\n", b.p, (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
		if (path)
			path[(*n)++] = xstrdup(b.p);
	}
	return hash_bytes(buf_str(&all), all.len);
}

static void forget(struct server *s)
{
	if (s->has_fix)
		fixing_end(&s->fix);
	free(s->line);
	s->line = NULL;
	s->has_fix = false;
}

static void load_inputs(struct server *s)
{
	struct err err;
	unsigned lost = 0;
	int n = 0;
	FREED char **path = xcalloc((size_t)s->in->n, sizeof(*path));
	forget(s);
	s->seen = hash_inputs(s, path, &n);
	if (n) {
		s->has_fix = fixing_begin(&s->fix, &(struct fixing){.opt = s->opt, .files.root = own.root}, (const char *const *)path, n,
					  &lost, &err) == 0;
		if (!s->has_fix)
			log_message(s, 2, err.text);
	}
	if (s->has_fix) {
		s->fix.files.text = read_document;
		s->fix.files.of = s;
		s->line = xcalloc(s->fix.x.n_finding + 1, 2 * sizeof(*s->line));
		for (uint32_t i = 0; i < s->fix.x.n_finding; i++) {
			s->line[2 * i] = s->fix.x.finding[i].loc.line;
			s->line[2 * i + 1] = s->fix.x.finding[i].call.line;
		}
	}
	for (int i = 0; i < n; i++)
		free(path[i]);
	s->edited = true;
}

/* ---- what is where ---- */

static struct fix_file *file_of(struct server *s, const struct fact_loc *loc)
{
	return loc->file == NONE || !loc->line ? NULL : fix_file(&s->fix.files, loc->file, explain_text(&s->fix.x, loc->file));
}

/* The line in the editor: the same number, else the closest identical line; 0: it was changed. */
static void place_line(struct server *s, struct fact_loc *loc, uint32_t line)
{
	loc->line = line;
	const struct fix_file *f = file_of(s, loc);
	if (!f || !f->path || fixing_holds(&s->fix, &f->source, loc))
		return;
	uint32_t last = f->source.n ? f->source.v[f->source.n - 1].last : 0, far = line > last ? line : last;
	bool known = slice_trim(explain_text(&s->fix.x, loc->code)).n > 0;
	for (uint32_t d = 1; known && d <= far; d++) {
		loc->line = line + d;
		if (loc->line <= last && fixing_holds(&s->fix, &f->source, loc))
			return;
		loc->line = line > d ? line - d : 0;
		if (loc->line && fixing_holds(&s->fix, &f->source, loc))
			return;
	}
	loc->line = 0;
}

/* Is it shown in this file? */
static bool in_file(struct server *s, const struct finding *g, const char *path, const struct fix_file **file)
{
	const struct fix_file *f = file_of(s, &g->loc);
	*file = f;
	return f && f->path && (!path || !strcmp(f->path, path));
}

static void put_range(struct server *s, struct json_out *o, struct slice text, size_t from, size_t to)
{
	json_member_obj(o, "range");
	lsp_position(o, s->utf8, "start", text, from);
	lsp_position(o, s->utf8, "end", text, to);
	json_close(o);
}

static void put_diagnostic(struct server *s, struct json_out *o, const struct finding *g, const struct fix_file *f)
{
	static const int severity[] = {[FINDING_NOTE] = 3, [FINDING_WARNING] = 2, [FINDING_ERROR] = 1};
	LOCAL_BUF b = {0};
	struct slice text = f->source.text, all = source_line(&f->source, g->loc.line), code = slice_trim(all);
	size_t from = (size_t)((code.n ? code.p : all.p) - text.p);
	json_obj(o);
	put_range(s, o, text, from, from + code.n);
	json_member_i64(o, "severity", severity[g->level]);
	json_member_str(o, "source", SLICE("fxexplain"));
	json_member_str(o, "code", g->id.n ? g->id : slice_str(finding_kind_name[g->kind]));
	if (g->url.n) {
		json_member_obj(o, "codeDescription");
		json_member_str(o, "href", slice_first_line(g->url));
		json_close(o);
	}
	buf_add_slice(&b, g->title);
	if (g->cost.n)
		buf_addf(&b, "\nCost: %.*s", SL(g->cost));
	json_member_str(o, "message", buf_slice(&b));
	json_close(o);
}

static void publish(struct server *s, const char *path)
{
	LOCAL_BUF uri = {0};
	const struct fix_file *f;
	struct json_out o = rpc_begin(&s->rpc);
	put_uri(s, path, &uri);
	json_member_str(&o, "method", SLICE("textDocument/publishDiagnostics"));
	json_member_obj(&o, "params");
	json_member_str(&o, "uri", buf_slice(&uri));
	json_member_arr(&o, "diagnostics");
	for (uint32_t i = 0; s->has_fix && i < s->fix.x.n_finding; i++)
		if (in_file(s, &s->fix.x.finding[i], path, &f))
			put_diagnostic(s, &o, &s->fix.x.finding[i], f);
	send(s, &o);
}

static bool is_listed(char *const *v, uint32_t n, const char *path)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(v[i], path))
			return true;
	return false;
}

/* Publishes diagnostics for all files that have some, and for those that had some. */
static void evaluate(struct server *s)
{
	const struct fix_file *f;
	char **had = s->shown;
	uint32_t n_had = s->n_shown;
	s->shown = NULL;
	s->n_shown = s->cap_shown = 0;
	s->edited = false;
	if (s->has_fix)
		fixing_undo(&s->fix);
	for (uint32_t i = s->n_doc; i--;) /* the others are read again */
		if (!s->doc[i].uri)
			drop_document(s, &s->doc[i]);
	for (uint32_t i = 0; s->has_fix && i < s->fix.x.n_finding; i++) {
		place_line(s, &s->fix.x.finding[i].loc, s->line[2 * i]);
		place_line(s, &s->fix.x.finding[i].call, s->line[2 * i + 1]);
	}
	if (s->has_fix)
		fixing_make(&s->fix);
	for (uint32_t i = 0; s->has_fix && i < s->fix.x.n_finding; i++)
		if (in_file(s, &s->fix.x.finding[i], NULL, &f) && !is_listed(s->shown, s->n_shown, f->path))
			PUSH(s, shown) = xstrdup(f->path);
	for (uint32_t i = 0; i < s->n_shown; i++)
		publish(s, s->shown[i]);
	for (uint32_t i = 0; i < n_had; i++) {
		if (!is_listed(s->shown, s->n_shown, had[i]))
			publish(s, had[i]);
		free(had[i]);
	}
	free(had);
}

/* The client was idle: is there a new trace? Waits for one that is still being written, but not indefinitely. */
static void look(struct server *s)
{
	uint64_t now = hash_inputs(s, NULL, NULL);
	s->quiet = now == s->now ? s->quiet + 1 : 0;
	s->busy = now == s->seen ? 0 : s->busy + 1;
	s->now = now;
	if (now != s->seen && (s->quiet >= QUIET_TICKS || s->busy >= BUSY_TICKS)) {
		s->busy = 0;
		load_inputs(s);
	}
	if (s->edited)
		evaluate(s);
}

/* ---- requests ---- */

static void answer_initialize(struct server *s, uint32_t params)
{
	const struct json_tape *t = &s->rpc.tape;
	uint32_t general = json_get(t, json_get(t, params, "capabilities"), "general");
	json_each(t, json_get(t, general, "positionEncodings"), k)
		s->utf8 |= json_is(t, k, JSON_STRING) && slice_is(json_slice(t, k), "utf-8");
	struct json_out o = rpc_answer(&s->rpc);
	json_member_obj(&o, "result");
	json_member_obj(&o, "capabilities");
	json_member_str(&o, "positionEncoding", s->utf8 ? SLICE("utf-8") : SLICE("utf-16"));
	json_member_obj(&o, "textDocumentSync");
	json_member_bool(&o, "openClose", true);
	json_member_i64(&o, "change", 1); /* the whole text */
	json_close(&o);
	json_member_bool(&o, "hoverProvider", true);
	json_member_obj(&o, "codeActionProvider");
	json_member_arr(&o, "codeActionKinds");
	json_out_str(&o, SLICE("quickfix"));
	json_close(&o);
	json_close(&o);
	json_close(&o);
	json_member_obj(&o, "serverInfo");
	json_member_str(&o, "name", SLICE("fxexplain"));
	json_member_str(&o, "version", SLICE(PT2_VERSION));
	send(s, &o);
}

/* Path of params.textDocument; NULL: not a file. */
static char *asked_path(const struct server *s, uint32_t params)
{
	LOCAL_BUF tmp = {0};
	return real_path(json_text(&s->rpc.tape, json_get(&s->rpc.tape, params, "textDocument"), "uri", &tmp));
}

static uint32_t asked_line(const struct json_tape *t, uint32_t position)
{
	uint32_t line = json_index(t, position, "line", NONE);
	return line == NONE ? NONE : line + 1;
}

static void put_paragraph(struct buf *b, const char *before, struct slice text, void (*put)(struct buf *b, struct slice s, size_t most))
{
	buf_adds(b, before);
	put(b, text, 0);
	buf_adds(b, "\n\n");
}

static void put_hover(struct buf *b, const struct finding *g)
{
	struct slice rest = g->fix, line;
	if (b->len)
		buf_adds(b, "\n---\n\n");
	buf_adds(b, "**");
	md_text(b, g->title, 0);
	buf_adds(b, "**\n\n");
	if (g->why.n)
		put_paragraph(b, "", g->why, md_text);
	if (g->cost.n)
		put_paragraph(b, "Cost: ", g->cost, md_text);
	while (slice_line(&rest, &line))
		put_paragraph(b, "Fix: ", line, md_code);
	for (rest = g->hint; slice_line(&rest, &line);)
		put_paragraph(b, "Hint, not tried: ", line, md_code);
	if (g->url.n) {
		md_link(b, SLICE("more"), slice_first_line(g->url));
		buf_addc(b, '\n');
	}
}

static void answer_hover(struct server *s, uint32_t params)
{
	LOCAL_BUF b = {0};
	const struct fix_file *f;
	FREED char *path = asked_path(s, params);
	uint32_t line = asked_line(&s->rpc.tape, json_get(&s->rpc.tape, params, "position"));
	for (uint32_t i = 0; path && s->has_fix && i < s->fix.x.n_finding; i++)
		if (s->fix.x.finding[i].loc.line == line && in_file(s, &s->fix.x.finding[i], path, &f))
			put_hover(&b, &s->fix.x.finding[i]);
	struct json_out o = rpc_answer(&s->rpc);
	if (b.len) {
		json_member_obj(&o, "result");
		json_member_obj(&o, "contents");
		json_member_str(&o, "kind", SLICE("markdown"));
		json_member_str(&o, "value", buf_slice(&b));
	} else {
		json_member_null(&o, "result");
	}
	send(s, &o);
}

static void put_action(struct server *s, struct json_out *o, const struct fix_row *row, const struct fix_file *at)
{
	LOCAL_BUF uri = {0};
	put_uri(s, row->file->path, &uri);
	json_obj(o);
	json_member_str(o, "title", row->fix);
	json_member_str(o, "kind", SLICE("quickfix"));
	json_member_bool(o, "isPreferred", true);
	json_member_arr(o, "diagnostics");
	put_diagnostic(s, o, row->finding, at);
	json_close(o);
	json_member_obj(o, "edit");
	json_member_obj(o, "changes");
	json_rows(o, buf_str(&uri), i, row->n_change) {
		put_range(s, o, row->file->source.text, row->change[i].from, row->change[i].to);
		json_member_str(o, "newText", row->change[i].text);
	}
	json_close(o);
	json_close(o);
	json_close(o);
}

static void answer_actions(struct server *s, uint32_t params)
{
	const struct json_tape *t = &s->rpc.tape;
	const struct fix_file *f;
	FREED char *path = asked_path(s, params);
	uint32_t range = json_get(t, params, "range"), from = asked_line(t, json_get(t, range, "start")),
		 to = asked_line(t, json_get(t, range, "end"));
	struct json_out o = rpc_answer(&s->rpc);
	json_member_arr(&o, "result");
	for (uint32_t i = 0; path && s->has_fix && i < s->fix.n_row; i++) {
		const struct fix_row *row = &s->fix.row[i];
		if (!row->why && row->n_change && row->finding->loc.line >= from && row->finding->loc.line <= to &&
		    in_file(s, row->finding, path, &f))
			put_action(s, &o, row, f);
	}
	send(s, &o);
}

/* didOpen, didChange: the last text counts. */
static void take_text(struct server *s, uint32_t params, bool opened)
{
	const struct json_tape *t = &s->rpc.tape;
	FREED char *path = asked_path(s, params);
	uint32_t given = opened ? json_get(t, params, "textDocument") : NONE;
	json_each(t, json_get(t, params, "contentChanges"), k)
		given = k;
	if (path && json_get(t, given, "text") != NONE) {
		struct document *d = document(s, path);
		d = d ? d : add_document(s, path);
		free(d->uri);
		d->uri = json_strdup(t, json_get(t, params, "textDocument"), "uri");
		if (s->has_fix)
			fixing_undo(&s->fix); /* its files point into that text */
		buf_reset(&d->text);
		json_add_text(t, given, "text", &d->text);
		s->edited = true;
	}
}

static void close_text(struct server *s, uint32_t params)
{
	FREED char *path = asked_path(s, params);
	struct document *d = path ? document(s, path) : NULL;
	if (d) {
		free(d->uri);
		d->uri = NULL;
		s->edited = true;
	}
}

static void answer_error(struct server *s, int code, const char *text)
{
	struct json_out o = rpc_error(&s->rpc, code, text);
	send(s, &o);
}

static void answer_null(struct server *s)
{
	struct json_out o = rpc_answer(&s->rpc);
	json_member_null(&o, "result");
	send(s, &o);
}

static void message(struct server *s)
{
	const struct json_tape *t = &s->rpc.tape;
	if (s->rpc.root == NONE) {
		answer_error(s, RPC_NOT_JSON, "the message is not valid JSON");
		return;
	}
	LOCAL_BUF tmp = {0};
	struct slice method = json_text(t, s->rpc.root, "method", &tmp); /* neovim writes "textDocument\/hover" */
	uint32_t params = json_get(t, s->rpc.root, "params");
	bool asked = rpc_asked(&s->rpc);
	if (s->edited && asked && s->ready)
		evaluate(s);
	if (slice_is(method, "initialize")) {
		answer_initialize(s, params);
	} else if (slice_is(method, "initialized")) {
		s->ready = true;
		load_inputs(s);
	} else if (slice_is(method, "shutdown")) {
		s->shut = true;
		answer_null(s);
	} else if (slice_is(method, "exit")) {
		s->ended = true;
	} else if (slice_is(method, "textDocument/didOpen") || slice_is(method, "textDocument/didChange")) {
		take_text(s, params, slice_is(method, "textDocument/didOpen"));
	} else if (slice_is(method, "textDocument/didClose")) {
		close_text(s, params);
	} else if (slice_is(method, "textDocument/hover")) {
		answer_hover(s, params);
	} else if (slice_is(method, "textDocument/codeAction")) {
		answer_actions(s, params);
	} else if (asked && method.n) {
		answer_error(s, RPC_NO_METHOD, "not supported by fxexplain");
	}
}

static int serve_main(struct operands *in)
{
	struct server s = {.opt = &explain_opt, .in = in, .rpc = {.in = STDIN_FILENO, .out = STDOUT_FILENO}};
	struct err err;
	int got = 0;
	explain_begin(false, NULL);
	if (isatty(STDIN_FILENO))
		die(EXIT_USAGE, "serve is started by an editor, which talks to it over standard input: see docs/user/EDITORS.md");
	while (!s.ended && (got = rpc_read(&s.rpc, TICK_MS, &err)) >= 0) {
		if (got)
			message(&s);
		else if (s.ready)
			look(&s);
	}
	forget(&s);
	while (s.n_doc)
		drop_document(&s, &s.doc[0]);
	for (uint32_t i = 0; i < s.n_shown; i++)
		free(s.shown[i]);
	free(s.shown);
	free(s.doc);
	rpc_release(&s.rpc);
	if (got < 0 && err.text[0])
		die_err(&err);
	return s.ended && !s.shut ? EXIT_FOUND : EXIT_FINE;
}

const struct opt_command serve_command = {
    .name = "serve",
    .summary = "show findings in an editor (Language Server Protocol)",
    .about = "How does my editor show these findings at my lines?",
    .example = {{"traces/ < /dev/null", "what an editor starts"},
		{"--root . traces/ < /dev/null", "find files below here"},
		{"trace.log < /dev/null", "show the findings of one log"}},
    .options = options,
    .operands = "INPUT...",
    .footer = "INPUT: a TORCH_TRACE directory (its newest log counts), or as for fxexplain.",
    .more = "INPUT need not exist yet, and is read again whenever it changes. The editor talks to it over standard input and output.",
    .min = 1,
    .max = -1,
    .run = serve_main,
};
