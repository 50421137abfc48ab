#include "mcp/tools.h"
#include "door/thing.h"

#include "base/text.h"

#define ANY "Files or folders, in any order: what each is follows from its content. "
#define INPUTS "Inputs are files (.npy .npz .safetensors .pt) or specs such as f32[8,10]."

const struct mcp_tool mcp_tools[] = {
    {"explain", "why", "Explain what happened",
     "Start here. Explains whatever it is given: a TORCH_TRACE log or folder, the text of an error or a backtrace, a core file, a compiled "
     "model (.pt2, model.so), a profile, a compile cache, a torch_compile_debug folder. Says what was seen, what follows, what is only "
     "likely, and which command goes on.",
     ANY "A text that a user pasted must be in a file.", true, true, MCP_READS},
    {"check_call", "check", "Check a call of a model",
     "What does this compiled model expect (shapes, dtypes, strides, ranges of sizes), and is this call right? With an exported program "
     "besides, compares the two.",
     "The model, then the call's inputs, if any. " INPUTS, false, false, MCP_RUNS},
    {"verify", "wrong", "Find the kernel that computes wrong numbers",
     "Runs a compiled model and the graph it was made from on the same inputs, compares all outputs and all kernels. With a command: "
     "compares a program under torch.compile with itself in eager mode.",
     "The exported program (torch.export.save), the compiled model, and inputs if there are any. " INPUTS, false, true, MCP_RUNS},
    {"nan", "nan", "Find what made the NaN",
     "Runs a compiled model and names the first kernel and operator that made a NaN or infinity, with the operands. With a command: "
     "watches "
     "a program. A folder that aoti-printer saved is only read.",
     "The compiled model and its inputs. " INPUTS, false, true, MCP_RUNS},
    {"minify", "repro", "Make the smallest program that fails",
     "Reduces a failing graph, or a program that fails, to the smallest program that still fails in the same way, and verifies it. Runs "
     "torch, takes minutes.",
     "A trace with a failure, minifier_launcher.py, repro.py, a graph, or an exported program.", false, true, MCP_PROGRAMS},
    {"mend", "fix", "Find the edits that remove graph breaks and recompiles",
     "Of a trace: one-line edits as a patch, not tried. With a command: tries edits on a copy-on-write view of the program and gives the "
     "patch that was proven (same results, fewer breaks); runs the program many times.",
     "A trace of the program.", false, true, MCP_READS},
    {"runs", "runs", "List the runs that were kept",
     "Lists the programs that were run under pt2, newest first, with their breaks and compile times; with `frames`, how each frame changed "
     "from run to run. last and last~1 are things for the other tools.",
     NULL, false, false, MCP_READS},
    {"more", NULL, "Read on", "The rest of an answer that was cut: its id, and the byte to go on from. Both are in the answer's last line.",
     NULL, false, false, MCP_ASKS},
    {NULL},
};

static const char *const questions[] = {"why", "slow", "crash", "diff"};

const struct mcp_tool *mcp_tool(struct slice name)
{
	for (const struct mcp_tool *t = mcp_tools; t->name; t++)
		if (slice_is(name, t->name))
			return t;
	return NULL;
}

/* ---- schemas ---- */

static void put_property(struct json_out *o, const char *name, const char *type, const char *about)
{
	json_member_obj(o, name);
	json_member(o, "type", slice_str(type));
	json_member(o, "description", slice_str(about));
}

static void put_list(struct json_out *o, const char *name, const char *about)
{
	put_property(o, name, "array", about);
	json_member_obj(o, "items");
	json_member(o, "type", SLICE("string"));
	json_close(o);
	json_close(o);
}

static void put_number(struct json_out *o, const char *name, const char *about, uint64_t least, uint64_t most, uint64_t usual)
{
	put_property(o, name, "integer", about);
	json_member_u64(o, "minimum", least);
	if (most)
		json_member_u64(o, "maximum", most);
	if (usual)
		json_member_u64(o, "default", usual);
	json_close(o);
}

static void put_properties(struct json_out *o, const struct mcp_tool *t, bool allow_run)
{
	if (t->things)
		put_list(o, "things", t->things);
	if (t->question) {
		put_property(o, "question", "string",
			     "why: what is this, and what went wrong? slow: where does the time go? crash: what crashed? diff: where do "
			     "these two differ?");
		json_member_arr(o, "enum");
		for (size_t i = 0; i < ARRAY_LEN(questions); i++)
			json_out_str(o, slice_str(questions[i]));
		json_close(o);
		json_close(o);
	}
	if (t->command && allow_run) {
		put_list(o, "command", "In place of things: a program to run, word by word: [\"python\", \"train.py\"].");
		put_property(o, "cwd", "string", "The folder to run it in. Default: the first folder of the server.");
		json_close(o);
	}
	if (!t->verb) {
		put_number(o, "id", "Of the answer.", 1, 0, 0);
		put_number(o, "from", "The byte to go on from.", 0, 0, 0);
	} else if (!t->things) {
		put_property(o, "run", "string", "last, last~1, or how its name begins: only this one, or the runs of its command.");
		json_close(o);
		put_property(o, "frames", "boolean", "Compare the runs of one command, frame by frame.");
		json_close(o);
	} else {
		put_property(o, "model_name", "string", "Which model, if the package holds several.");
		json_close(o);
		put_number(o, "timeout_s", "Seconds until it is stopped.", 1, 86400, MCP_SECONDS);
	}
	put_number(o, "max_tokens", "The size of the answer, about; the rest is kept for `more`.", 100, MCP_TOKENS_MOST, MCP_TOKENS);
}

void mcp_tool_put(struct json_out *o, const struct mcp_tool *t, bool allow_run)
{
	LOCAL_BUF about = {0};
	const bool refused = !allow_run && t->with_files > MCP_READS;
	buf_adds(&about, t->about);
	if (refused)
		buf_adds(&about, " This server was started without --allow-run: it refuses what would run something, and says so.");
	json_obj(o);
	json_member(o, "name", slice_str(t->name));
	json_member(o, "title", slice_str(t->title));
	json_member(o, "description", buf_slice(&about));
	json_member_obj(o, "inputSchema");
	json_member(o, "type", SLICE("object"));
	json_member_obj(o, "properties");
	put_properties(o, t, allow_run);
	json_close(o);
	if (!t->verb) {
		json_member_arr(o, "required");
		json_out_str(o, SLICE("id"));
		json_close(o);
	}
	json_member_bool(o, "additionalProperties", false);
	json_close(o);
	json_member_obj(o, "annotations");
	json_member_bool(o, "readOnlyHint", !(allow_run && (t->command || t->with_files > MCP_RUNS)));
	json_member_bool(o, "openWorldHint", false);
	json_close(o);
	json_close(o);
}

/* ---- arguments ---- */

static bool is_known(const struct mcp_tool *t, struct slice name)
{
	static const char *const all[] = {"max_tokens"}, *const asked[] = {"id", "from"}, *const runs[] = {"run", "frames"},
				 *const with_things[] = {"things", "model_name", "timeout_s"}, *const program[] = {"command", "cwd"};
	bool known = slice_is(name, "question") && t->question;
#define ONE_OF(list, when) \
	for (size_t i = 0; (when) && i < ARRAY_LEN(list); i++) \
		known |= slice_is(name, (list)[i]);
	ONE_OF(all, true)
	ONE_OF(asked, !t->verb)
	ONE_OF(runs, t->verb && !t->things)
	ONE_OF(with_things, t->things)
	ONE_OF(program, t->command)
#undef ONE_OF
	return known;
}

static int check_names(const struct mcp_tool *t, const struct json_tape *tape, uint32_t arguments, struct err *err)
{
	json_each_pair(tape, arguments, k)
		if (!is_known(t, json_slice(tape, k)))
			return err_set(err, EXIT_USAGE, "%s has no argument '%.*s'", t->name, SL(json_slice(tape, k)));
	return 0;
}

/* A number in its range, or the default. */
static int number(const struct json_tape *tape, uint32_t arguments, const char *name, uint64_t usual, uint64_t least, uint64_t most,
		  uint64_t *value, struct err *err)
{
	const uint32_t k = json_get(tape, arguments, name);
	*value = usual;
	if (k != NONE && !json_u64(tape, k, value))
		return err_set(err, EXIT_USAGE, "'%s' is not a number", name);
	*value = *value < least ? least : *value > most ? most : *value;
	return 0;
}

/* A list of texts, none of which holds a zero byte. `one` makes a word of each. */
static int add_list(const struct mcp_asked *a, const struct json_tape *tape, uint32_t list, const char *name, struct words *w,
		    char *(*one)(const struct roots *r, const char *word, struct err *err), struct err *err)
{
	if (!json_is(tape, list, JSON_ARRAY))
		return err_set(err, EXIT_USAGE, "'%s' is not a list of strings", name);
	json_each(tape, list, k) {
		LOCAL_BUF tmp = {0};
		const struct slice s = json_text_at(tape, k, &tmp);
		if (!s.p || memchr(s.p, 0, s.n))
			return err_set(err, EXIT_USAGE, "'%s' is not a list of strings", name);
		FREED char *text = xstrndup(s.p, s.n);
		char *word = one(a->roots, text, err);
		if (!word)
			return -1;
		words_add_new(w, word);
	}
	return 0;
}

static char *as_it_is(const struct roots *r, const char *word, struct err *err)
{
	(void)r;
	(void)err;
	return xstrdup(word);
}

static int add_question(const struct json_tape *tape, uint32_t arguments, const struct mcp_tool *t, struct words *w, struct err *err)
{
	const struct slice asked = json_word(tape, arguments, "question");
	if (!asked.p || slice_is(asked, t->verb)) {
		words_add(w, t->verb);
		return 0;
	}
	for (size_t i = 0; t->question && i < ARRAY_LEN(questions); i++)
		if (slice_is(asked, questions[i])) {
			words_add(w, questions[i]);
			return 0;
		}
	return err_set(err, EXIT_USAGE, "'question' is why, slow, crash or diff");
}

static int add_program(const struct mcp_asked *a, const struct json_tape *tape, uint32_t arguments, struct mcp_call *c, struct err *err)
{
	FREED char *cwd = json_strdup(tape, arguments, "cwd");
	if (!a->allow_run)
		return err_set(
		    err, EXIT_USAGE,
		    "this server may run nothing: whoever started it can start 'pt2 mcp --allow-run'. Things (a trace, a text) can "
		    "be explained without");
	c->reach = MCP_PROGRAMS;
	words_add(&c->words, "--");
	if (cwd && !(c->cwd = roots_path(a->roots, cwd, err)))
		return -1;
	const size_t before = c->words.n;
	if (add_list(a, tape, json_get(tape, arguments, "command"), "command", &c->words, as_it_is, err) < 0)
		return -1;
	return c->words.n == before ? err_set(err, EXIT_USAGE, "'command' is empty") : 0;
}

static bool is_program(const char *word)
{
	struct thing t;
	struct err err;
	return *word == '/' && thing_look(&t, word, word, &err) == 0 && (t.kind == THING_PROGRAM || t.kind == THING_SCRIPT);
}

static int add_things(const struct mcp_asked *a, const struct mcp_tool *t, const struct json_tape *tape, uint32_t arguments,
		      struct mcp_call *c, struct err *err)
{
	const uint32_t things = json_get(tape, arguments, "things");
	if (things == NONE || (json_is(tape, things, JSON_ARRAY) && !json_length(tape, things)))
		return err_set(err, EXIT_USAGE, "%s needs 'things'%s", t->name, t->command && a->allow_run ? ", or a 'command'" : "");
	c->reach = a->allow_run ? t->with_files : MCP_READS;
	if (c->reach == MCP_READS)
		words_add(&c->words, "--no-exec");
	FREED char *name = json_strdup(tape, arguments, "model_name");
	if (name && *name)
		words_add_new(&c->words, xasprintf("--model=%s", name));
	const size_t before = c->words.n;
	if (add_list(a, tape, things, "things", &c->words, roots_word, err) < 0)
		return -1;
	for (size_t i = before; i < c->words.n; i++)
		if (is_program(c->words.v[i]))
			return err_set(err, EXIT_USAGE, "'%s' is a program: %s", c->words.v[i],
				       t->command && a->allow_run ? "give it as a 'command', as in [\"python\", \"app.py\"]"
								  : "this tool reads what a run of it has left");
	return 0;
}

static void add_runs(const struct json_tape *tape, uint32_t arguments, struct words *w)
{
	FREED char *run = json_strdup(tape, arguments, "run");
	if (json_flag(tape, arguments, "frames"))
		words_add(w, "--frames");
	if (run && *run && *run != '-')
		words_add(w, run);
}

int mcp_words(const struct mcp_asked *a, const struct mcp_tool *t, const struct json_tape *tape, uint32_t arguments, struct mcp_call *c,
	      struct err *err)
{
	c->reach = t->verb ? MCP_READS : MCP_ASKS;
	if (arguments != NONE && !json_is(tape, arguments, JSON_OBJECT))
		return err_set(err, EXIT_USAGE, "'arguments' is not an object");
	if (check_names(t, tape, arguments, err) < 0 ||
	    number(tape, arguments, "max_tokens", MCP_TOKENS, 100, MCP_TOKENS_MOST, &c->tokens, err) < 0 ||
	    number(tape, arguments, "timeout_s", MCP_SECONDS, 1, 86400, &c->seconds, err) < 0)
		return -1;
	if (!t->verb)
		return 0;
	if (add_question(tape, arguments, t, &c->words, err) < 0)
		return -1;
	if (!t->things) {
		add_runs(tape, arguments, &c->words);
		return 0;
	}
	return json_get(tape, arguments, "command") != NONE ? add_program(a, tape, arguments, c, err)
							    : add_things(a, t, tape, arguments, c, err);
}

void mcp_call_release(struct mcp_call *c)
{
	words_release(&c->words);
	free(c->cwd);
}
