/* main.c - `pt2 mcp`: the Model Context Protocol (modelcontextprotocol.io, 2024-11-05 to 2025-11-25) over standard input and output, for
 * assistants. Its tools are pt2's questions (tools.h), its resources pages, graphs and kernels (resources.h). Each call is a process of
 * pt2, started under Landlock so that it reads nothing outside of the folders that the server was started for; several may run at once,
 * and are cancelled as the protocol has it. Without --allow-run nothing is executed. */
#include "door/visit.h"
#include "mcp/resources.h"
#include "mcp/tools.h"

#include "base/process/child.h"
#include "base/process/confine.h"
#include "base/rpc/rpc.h"
#include "base/text.h"
#include "base/tool/diag.h"
#include "base/tool/opt.h"
#include "base/tool/parts.h"
#include "base/tool/tempfolder.h"
#include "run/kept/kept.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { JOBS = 8, TICK_MS = 1000, READ_SECONDS = 120, ANSWER_MOST = 16 << 20, PAGE_MOST = 128 << 20 };

static struct {
	bool allow_run;
} own;

static const struct opt options[] = {
    OPT_FLAG(0, "allow-run", &own.allow_run, "allow the client to run programs and models",
	     .more = "Without it files are read and nothing is executed."),
    OPT_END,
};

/* A trace's directory as tlparse writes it. */
struct report {
	char *trace, *folder;
	struct timespec changed; /* of the trace */
	off_t size;
};

struct job {
	struct child *child;
	const struct mcp_tool *tool; /* NULL: a resource is read */
	struct resource resource;
	char *id, *token; /* JSON; token: NULL if the client did not ask for progress */
	char *title, *folder;
	uint64_t tokens;
	enum mcp_reach reach;
	time_t started;
	bool cancelled;
};

struct server {
	struct rpc rpc;
	struct roots roots;
	struct childset set;
	struct job job[JOBS];
	struct answers answers;
	struct seen seen;
	struct report *report;
	size_t n_report, cap_report;
	char *pt2, *tlparse, *fxexplain, *temp, *tmpdir;
	struct words readable;
	const char *writable[3];
	bool ended; /* there are no more questions */
};

static void send(struct server *s, struct json_out *o)
{
	struct err err;
	if (rpc_send(&s->rpc, o, &err) < 0)
		die_err(&err);
}

static void send_error(struct server *s, int code, const char *text)
{
	struct json_out o = rpc_error(&s->rpc, code, text);
	send(s, &o);
}

static time_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* ---- what a tool that answers may see ---- */

static void make_walls(struct server *s)
{
	static const char *const system[] = {"/usr", "/lib",      "/lib64",    "/bin",         "/etc",       "/proc",
					     "/sys", "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"};
	struct kept_list kept = {0};
	const struct slice programs = path_folder(s->pt2);
	for (size_t i = 0; i < ARRAY_LEN(system); i++)
		words_add(&s->readable, system[i]);
	for (size_t i = 0; i < s->roots.n; i++)
		words_add(&s->readable, s->roots.v[i]);
	words_add_new(&s->readable, xasprintf("%.*s", SL(programs)));
	words_add_new(&s->readable, xasprintf("%.*s/../lib", SL(programs)));
	if (kept_list(&kept, NULL) == 0 && kept.place)
		words_add(&s->readable, kept.place);
	words_argv(&s->readable); /* ends with NULL */
	kept_list_release(&kept);
	s->writable[0] = s->temp;
	s->writable[1] = "/dev/null";
}

/* In the child, before exec. */
static int build_walls(void *arg)
{
	const struct server *s = arg;
	struct err err;
	if (confine_no_new_privs(&err) < 0)
		return errno;
	confine_below((const char *const *)s->readable.v, s->writable); /* without Landlock there was a warning at the start */
	return 0;
}

/* ---- jobs ---- */

static void release_job(struct server *s, struct job *j)
{
	if (j->child)
		child_free(&s->set, j->child);
	resource_release(&j->resource);
	free(j->id);
	free(j->token);
	free(j->title);
	free(j->folder);
	*j = (struct job){0};
}

static struct job *free_job(struct server *s)
{
	for (size_t i = 0; i < JOBS; i++)
		if (!s->job[i].child)
			return &s->job[i];
	return NULL;
}

static char *raw_member(const struct json_tape *t, uint32_t object, const char *name)
{
	const uint32_t k = json_get(t, object, name);
	if (k == NONE || json_is(t, k, JSON_NULL))
		return NULL;
	const struct slice raw = json_raw(t, k);
	return xstrndup(raw.p, raw.n);
}

static int start(struct server *s, struct job *j, struct words *w, const char *cwd, uint64_t seconds, uint64_t most, struct err *err)
{
	const char *const set[] = {s->tmpdir, NULL};
	struct child_spec spec = {
	    .argv = words_argv(w),
	    .cwd = cwd ? cwd : s->roots.v[0],
	    .in.how = CHILD_NULL,
	    .out.how = CHILD_PIPE,
	    .err.how = j->tool ? CHILD_MERGE : CHILD_PIPE,
	    .timeout_ms = (int)(seconds * 1000),
	    .keep_head = most,
	    .keep_tail = 1 << 16,
	    .die_with_parent = true,
	};
	if (j->reach != MCP_PROGRAMS) {
		spec.before_exec = build_walls;
		spec.arg = s;
		spec.env_set = set;
	}
	const uint32_t root = s->rpc.root;
	j->id = raw_member(&s->rpc.tape, root, "id");
	j->token = raw_member(&s->rpc.tape, json_get(&s->rpc.tape, json_get(&s->rpc.tape, root, "params"), "_meta"), "progressToken");
	j->started = now();
	j->child = child_start(&s->set, &spec, err);
	return j->child ? 0 : -1;
}

/* ---- answers of tools ---- */

static void put_answer(struct server *s, struct slice id, struct slice text, bool is_error)
{
	struct json_out o = rpc_answer_to(&s->rpc, id);
	json_member_obj(&o, "result");
	json_member_arr(&o, "content");
	json_obj(&o);
	json_member_str(&o, "type", SLICE("text"));
	json_member_str(&o, "text", text);
	json_close(&o);
	json_close(&o);
	json_member_bool(&o, "isError", is_error);
	send(s, &o);
}

/* An error that the assistant reads and can answer: no error of the protocol. */
static void answer_refusal(struct server *s, const struct err *err)
{
	FREED char *id = raw_member(&s->rpc.tape, s->rpc.root, "id");
	put_answer(s, slice_str(id ? id : "null"), slice_str(err->text), true);
}

static void add_status(struct buf *b, const struct child_result *r)
{
	static const char *const means[] = {
	    [EXIT_FOUND] = "found what was looked for",
	    [EXIT_USAGE] = "this cannot be asked so",
	    [EXIT_INPUT] = "an input cannot be read",
	    [EXIT_ENVIRON] = "something is missing here",
	    [EXIT_PARTIAL] = "inconclusive, or only partly checked",
	};
	if (r->how == CHILD_EXITED && !r->status)
		return;
	if (b->len && b->p[b->len - 1] != '\n')
		buf_addc(b, '\n');
	if (r->how == CHILD_EXITED && (size_t)r->status < ARRAY_LEN(means)) {
		buf_addf(b, "[status %d: %s]\n", r->status, means[r->status]);
	} else {
		buf_addc(b, '[');
		child_describe(r, b);
		buf_adds(b, "]\n");
	}
}

static bool is_error(const struct child_result *r)
{
	return r->how != CHILD_EXITED || (r->status >= EXIT_USAGE && r->status <= EXIT_ENVIRON) || r->status > EXIT_PARTIAL;
}

static void finish_tool(struct server *s, struct job *j, const struct child_result *r)
{
	LOCAL_BUF text = {0};
	LOCAL_BUF piece = {0};
	child_output_text(&r->out, &text);
	add_status(&text, r);
	if (!own.allow_run && j->tool->with_files > MCP_READS && is_error(r))
		buf_adds(&text, "[this server may run nothing: whoever started it can start 'pt2 mcp --allow-run']\n");
	if (!text.len)
		buf_adds(&text, "Nothing was found.\n");
	answer_piece(answers_keep(&s->answers, j->title, &text), 0, j->tokens * MCP_BYTES_A_TOKEN, &piece);
	put_answer(s, slice_str(j->id), buf_slice(&piece), is_error(r));
}

static void answer_more(struct server *s, uint32_t arguments, uint64_t tokens)
{
	LOCAL_BUF piece = {0};
	struct err err;
	FREED char *id = raw_member(&s->rpc.tape, s->rpc.root, "id");
	const uint64_t asked = json_count(&s->rpc.tape, arguments, "id", 0);
	const struct answer *a = answers_find(&s->answers, asked);
	if (!a) {
		err_set(&err, EXIT_USAGE, "there is no answer %llu, or it was dropped to make room", (unsigned long long)asked);
		answer_refusal(s, &err);
		return;
	}
	answer_piece(a, (size_t)json_count(&s->rpc.tape, arguments, "from", 0), tokens * MCP_BYTES_A_TOKEN, &piece);
	put_answer(s, slice_str(id ? id : "null"), buf_slice(&piece), false);
}

static void call_tool(struct server *s, uint32_t params)
{
	const struct json_tape *t = &s->rpc.tape;
	LOCAL_BUF tmp = {0};
	LOCAL_BUF title = {0};
	OWNED(mcp_call_release) struct mcp_call c = {0};
	struct err err;
	const uint32_t arguments = json_get(t, params, "arguments");
	const struct mcp_tool *tool = mcp_tool(json_text(t, params, "name", &tmp));
	if (!tool) {
		send_error(s, RPC_BAD_PARAMS, "there is no such tool");
		return;
	}
	if (mcp_words(&(struct mcp_asked){&s->roots, own.allow_run}, tool, t, arguments, &c, &err) < 0) {
		answer_refusal(s, &err);
		return;
	}
	if (c.reach == MCP_ASKS) {
		answer_more(s, arguments, c.tokens);
		return;
	}
	struct job *j = free_job(s);
	if (!j) {
		err_set(&err, EXIT_ENVIRON, "%d calls are running: wait for one, or cancel it", JOBS);
		answer_refusal(s, &err);
		return;
	}
	buf_adds(&title, "pt2");
	for (size_t i = 0; i < c.words.n; i++) {
		buf_addc(&title, ' ');
		buf_add_word(&title, c.words.v[i]);
		if (c.reach != MCP_PROGRAMS)
			seen_add(&s->seen, c.words.v[i]);
	}
	words_insert(&c.words, 0, xstrdup(s->pt2));
	*j = (struct job){.tool = tool, .title = xstrdup(buf_str(&title)), .tokens = c.tokens, .reach = c.reach};
	if (start(s, j, &c.words, c.cwd, c.seconds, ANSWER_MOST, &err) < 0) {
		answer_refusal(s, &err);
		release_job(s, j);
	}
}

/* ---- resources ---- */

static void put_contents(struct server *s, struct slice id, const struct resource *r, struct slice text)
{
	LOCAL_BUF uri = {0};
	resource_uri(&uri, r);
	struct json_out o = rpc_answer_to(&s->rpc, id);
	json_member_obj(&o, "result");
	json_member_arr(&o, "contents");
	json_obj(&o);
	json_member_str(&o, "uri", buf_slice(&uri));
	json_member_str(&o, "mimeType", slice_str(resource_type[r->kind]));
	json_member_str(&o, "text", text);
	send(s, &o);
}

static void put_error_to(struct server *s, struct slice id, struct slice text)
{
	struct json_out o = rpc_answer_to(&s->rpc, id);
	json_member_obj(&o, "error");
	json_member_i64(&o, "code", RPC_BAD_PARAMS);
	json_member_str(&o, "message", text);
	send(s, &o);
}

/* The trace as it is now. */
static struct report *report_of(struct server *s, const char *trace)
{
	struct stat st;
	if (stat(trace, &st) < 0)
		return NULL;
	for (size_t i = 0; i < s->n_report; i++) {
		struct report *r = &s->report[i];
		if (!strcmp(r->trace, trace) && r->size == st.st_size && !memcmp(&r->changed, &st.st_mtim, sizeof(r->changed)))
			return r;
	}
	return NULL;
}

static void answer_graphs(struct server *s, struct slice id, const struct resource *r, const char *folder)
{
	LOCAL_BUF text = {0};
	struct err err;
	if (!r->name)
		graphs_list(&text, r->path, folder);
	else if (graphs_read(&text, folder, r->name, &err) < 0) {
		put_error_to(s, id, slice_str(err.text));
		return;
	}
	put_contents(s, id, r, buf_slice(&text));
}

static void finish_resource(struct server *s, struct job *j, const struct child_result *r)
{
	LOCAL_BUF text = {0};
	struct stat st;
	if (r->how != CHILD_EXITED || r->status >= EXIT_USAGE) {
		child_output_text(&r->err, &text);
		add_status(&text, r);
		put_error_to(s, slice_str(j->id), buf_slice(&text));
		return;
	}
	if (j->resource.kind == RESOURCE_GRAPHS) {
		if (stat(j->resource.path, &st) == 0)
			PUSH_TO(s->report, s->n_report, s->cap_report) =
			    (struct report){xstrdup(j->resource.path), xstrdup(j->folder), st.st_mtim, st.st_size};
		answer_graphs(s, slice_str(j->id), &j->resource, j->folder);
		return;
	}
	child_output_text(&r->out, &text);
	put_contents(s, slice_str(j->id), &j->resource, buf_slice(&text));
}

static void resource_words(struct server *s, const struct job *j, struct words *w)
{
	const struct resource *r = &j->resource;
	words_add(w, r->kind == RESOURCE_KERNELS ? s->fxexplain : s->tlparse);
	if (r->kind == RESOURCE_KERNELS) {
		words_add(w, "kernel");
		words_add(w, "-q");
		if (r->name)
			words_add(w, r->name);
	} else if (r->kind == RESOURCE_PAGE) {
		words_add(w, "-q");
		words_add(w, "--html");
	} else {
		words_add(w, "-qp");
		words_add(w, "--no-browser");
		words_add_new(w, xasprintf("--output=%s", j->folder));
	}
	words_add(w, r->path);
}

static void read_resource(struct server *s, uint32_t params)
{
	static unsigned folders;
	LOCAL_BUF tmp = {0};
	struct resource r = {0};
	struct err err;
	OWNED(words_release) struct words w = {0};
	const struct slice uri = json_text(&s->rpc.tape, params, "uri", &tmp);
	FREED char *id = raw_member(&s->rpc.tape, s->rpc.root, "id");
	struct job *j = free_job(s);
	if (!j)
		err_set(&err, EXIT_ENVIRON, "%d calls are running: wait for one, or cancel it", JOBS);
	if (!j || resource_read_uri(&r, &s->roots, uri.p ? uri : SLICE(""), &err) < 0 ||
	    (r.name && *r.name == '-' && r.kind == RESOURCE_KERNELS && err_set(&err, EXIT_USAGE, "there is no kernel '%s'", r.name) < 0)) {
		send_error(s, RPC_BAD_PARAMS, err.text);
		resource_release(&r);
		return;
	}
	if (r.kind == RESOURCE_ANSWER) {
		const struct answer *a = answers_find(&s->answers, r.id);
		if (a)
			put_contents(s, slice_str(id), &r, buf_slice(&a->text));
		else
			send_error(s, RPC_BAD_PARAMS, "there is no such answer, or it was dropped to make room");
		resource_release(&r);
		return;
	}
	const struct report *made = r.kind == RESOURCE_GRAPHS ? report_of(s, r.path) : NULL;
	if (made) {
		answer_graphs(s, slice_str(id), &r, made->folder);
		resource_release(&r);
		return;
	}
	*j = (struct job){.resource = r, .reach = MCP_READS, .folder = xasprintf("%s/graphs%u", s->temp, folders++)};
	resource_words(s, j, &w);
	if (start(s, j, &w, NULL, READ_SECONDS, PAGE_MOST, &err) < 0) {
		send_error(s, RPC_BAD_PARAMS, err.text);
		release_job(s, j);
	}
}

/* ---- the rest of the protocol ---- */

#define INSTRUCTIONS \
	"pt2utils looks at programs that use torch.compile or AOTInductor and are broken, wrong or slow. Start with 'explain' and the " \
	"file that " \
	"the user has: a TORCH_TRACE log, the text of the error saved to a file, a .pt2. Read verdicts as they are written: 'seen' and " \
	"'follows' are facts, 'likely' is a guess, 'not known' accuses nothing. Only a fix that is called tried was tried. The " \
	"last " \
	"lines name the command that goes on."

static void answer_initialize(struct server *s, uint32_t params)
{
	static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
	const struct slice asked = json_word(&s->rpc.tape, params, "protocolVersion");
	const char *version = versions[0];
	for (size_t i = 0; i < ARRAY_LEN(versions); i++)
		if (slice_is(asked, versions[i]))
			version = versions[i];
	struct json_out o = rpc_answer(&s->rpc);
	json_member_obj(&o, "result");
	json_member_str(&o, "protocolVersion", slice_str(version));
	json_member_obj(&o, "capabilities");
	json_member_obj(&o, "tools");
	json_close(&o);
	json_member_obj(&o, "resources");
	json_close(&o);
	json_close(&o);
	json_member_obj(&o, "serverInfo");
	json_member_str(&o, "name", SLICE("pt2utils"));
	json_member_str(&o, "version", SLICE(PT2_VERSION));
	json_close(&o);
	json_member_str(&o, "instructions", SLICE(INSTRUCTIONS));
	send(s, &o);
}

static void answer_list(struct server *s, struct slice method)
{
	struct json_out o = rpc_answer(&s->rpc);
	json_member_obj(&o, "result");
	if (slice_is(method, "tools/list")) {
		json_member_arr(&o, "tools");
		for (const struct mcp_tool *t = mcp_tools; t->name; t++)
			mcp_tool_put(&o, t, own.allow_run);
	} else if (slice_is(method, "resources/list")) {
		json_member_arr(&o, "resources");
		resources_put(&o, &s->seen, &s->answers);
	} else if (slice_is(method, "resources/templates/list")) {
		json_member_arr(&o, "resourceTemplates");
		resource_templates_put(&o);
	}
	send(s, &o);
}

static void cancel(struct server *s, uint32_t params)
{
	FREED char *id = raw_member(&s->rpc.tape, params, "requestId");
	for (size_t i = 0; id && i < JOBS; i++)
		if (s->job[i].child && !strcmp(s->job[i].id, id)) {
			s->job[i].cancelled = true;
			child_stop(s->job[i].child);
		}
}

static void message(struct server *s)
{
	const struct json_tape *t = &s->rpc.tape;
	LOCAL_BUF tmp = {0};
	if (s->rpc.root == NONE) {
		send_error(s, RPC_NOT_JSON, "the line is not valid JSON");
		return;
	}
	if (!json_is(t, s->rpc.root, JSON_OBJECT)) {
		send_error(s, RPC_NO_REQUEST, "one message a line, each an object");
		return;
	}
	const struct slice method = json_text(t, s->rpc.root, "method", &tmp);
	const uint32_t params = json_get(t, s->rpc.root, "params");
	if (slice_is(method, "notifications/cancelled"))
		cancel(s, params);
	if (!rpc_asked(&s->rpc) || !method.n)
		return; /* a notice, or an answer: nothing was asked */
	if (slice_is(method, "initialize"))
		answer_initialize(s, params);
	else if (slice_is(method, "tools/call"))
		call_tool(s, params);
	else if (slice_is(method, "resources/read"))
		read_resource(s, params);
	else if (slice_is(method, "tools/list") || slice_is(method, "resources/list") || slice_is(method, "resources/templates/list") ||
		 slice_is(method, "ping"))
		answer_list(s, method);
	else
		send_error(s, RPC_NO_METHOD, "not supported by pt2 mcp");
}

static void finish(struct server *s, const struct child *c)
{
	for (size_t i = 0; i < JOBS; i++) {
		struct job *j = &s->job[i];
		if (j->child != c)
			continue;
		if (!j->cancelled && j->tool)
			finish_tool(s, j, child_result(c));
		else if (!j->cancelled)
			finish_resource(s, j, child_result(c));
		release_job(s, j);
		return;
	}
}

static void tell_progress(struct server *s)
{
	const time_t t = now();
	for (size_t i = 0; i < JOBS; i++) {
		struct job *j = &s->job[i];
		if (!j->child || !j->token || j->cancelled || t - j->started < 1)
			continue;
		struct json_out o = rpc_begin(&s->rpc);
		json_member_str(&o, "method", SLICE("notifications/progress"));
		json_member_obj(&o, "params");
		json_member_raw(&o, "progressToken", slice_str(j->token));
		json_member_i64(&o, "progress", (int64_t)(t - j->started));
		json_member_str(&o, "message", SLICE("seconds so far"));
		send(s, &o);
	}
}

/* The client has closed our input: what only reads may end, what runs is stopped. */
static void end_input(struct server *s)
{
	s->ended = true;
	for (size_t i = 0; i < JOBS; i++)
		if (s->job[i].child && s->job[i].reach > MCP_READS)
			child_stop(s->job[i].child);
}

static void serve(struct server *s)
{
	struct err err = {0};
	struct child_event ev;
	while (!s->ended || s->set.n) {
		const time_t before = now();
		if (childset_wait(&s->set, s->ended ? -1 : s->rpc.in, TICK_MS, &ev) < 0)
			die_errno(EXIT_ENVIRON, "cannot wait");
		if (ev.what == CHILD_ENDED)
			finish(s, ev.child);
		for (int got = 1; ev.what == CHILD_WATCHED && !s->ended && got > 0;) {
			got = rpc_read(&s->rpc, 0, &err);
			if (got > 0)
				message(s);
			else if (got < 0)
				end_input(s);
		}
		if (now() != before || ev.what == CHILD_NOTHING)
			tell_progress(s);
	}
	if (err.text[0])
		die_err(&err);
}

static void release(struct server *s)
{
	for (size_t i = 0; i < JOBS; i++)
		release_job(s, &s->job[i]);
	childset_release(&s->set);
	rpc_release(&s->rpc);
	for (size_t i = 0; i < s->n_report; i++) {
		free(s->report[i].trace);
		free(s->report[i].folder);
	}
	free(s->report);
	answers_release(&s->answers);
	seen_release(&s->seen);
	roots_release(&s->roots);
	free(s->pt2);
	free(s->tlparse);
	free(s->fxexplain);
	free(s->tmpdir);
	words_release(&s->readable);
	temp_folder_remove(s->temp);
}

static int mcp_main(struct operands *in)
{
	struct server s = {.rpc = {.in = STDIN_FILENO, .out = STDOUT_FILENO, .frame = RPC_LINES}};
	struct err err;
	if (isatty(STDIN_FILENO))
		die(EXIT_USAGE, "mcp is started by an assistant, which talks to it over standard input: see docs/user/ASSISTANTS.md");
	for (int i = 0; i < in->n || (!in->n && !i); i++)
		if (roots_add(&s.roots, in->n ? in->v[i] : ".", &err) < 0)
			die_err(&err);
	s.pt2 = tool_or_die("pt2");
	s.tlparse = tool_or_die("tlparse");
	s.fxexplain = tool_or_die("fxexplain");
	if (!(s.temp = temp_folder(TEMP_FRONT, &err)))
		die_err(&err);
	s.tmpdir = xasprintf("TMPDIR=%s", s.temp);
	child_signals(CHILD_SIGNALS_KILL);
	make_walls(&s);
	if (!confine_has_landlock())
		warn(
		    "this kernel has no Landlock: what is asked for is checked, but a file can still name others outside of these folders");
	serve(&s);
	release(&s);
	return EXIT_FINE;
}

extern const struct opt_command mcp_command;
const struct opt_command mcp_command = {
    .name = "mcp",
    .summary = "answer an assistant (Model Context Protocol)",
    .about = "How does my assistant ask these tools?",
    .example = {{"< /dev/null", "what an assistant starts"},
		{"--allow-run . < /dev/null", "it may run programs, too"},
		{". traces < /dev/null", "two folders"}},
    .options = options,
    .operands = "[DIR...]",
    .footer = "DIR: files are read in these folders alone. Default: the current one.",
    .more = "Also read: the runs that pt2 has kept. Programs that it runs (--allow-run) are not confined.",
    .max = -1,
    .run = mcp_main,
};
