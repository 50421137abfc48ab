/* tools.h - what a client of `pt2 mcp` may call: each tool is a question of pt2, and its arguments are pt2's words.
 *
 *     const struct mcp_tool *t = mcp_tool("nan");
 *     struct mcp_call c = {0};
 *     if (mcp_words(&asked, t, tape, arguments, &c, &err) < 0) ...    // a path outside, an argument that is missing or of a wrong type
 *     words_argv(&c.words)        // pt2 nan /home/me/model.pt2 /home/me/batch.npy
 */
#ifndef PT2_MCP_TOOLS_H
#define PT2_MCP_TOOLS_H
#include "base/json.h"
#include "door/words.h"
#include "mcp/roots.h"

enum mcp_reach {
	MCP_ASKS,     /* no process: the answer is here */
	MCP_READS,    /* files are read, nothing is run */
	MCP_RUNS,     /* a model's compiled code is run, in its own sandbox */
	MCP_PROGRAMS, /* the user's program, or torch: as the user runs them */
};

struct mcp_tool {
	const char *name, *verb; /* verb: of pt2; NULL: it is asked of this process */
	const char *title, *about;
	const char *things;        /* what they are; NULL: it takes none */
	bool question;             /* it takes one of the words below */
	bool command;              /* and a program in their place */
	enum mcp_reach with_files; /* what it does with things other than traces and texts */
};
extern const struct mcp_tool mcp_tools[]; /* a NULL name ends */
const struct mcp_tool *mcp_tool(struct slice name);

struct mcp_asked {
	const struct roots *roots;
	bool allow_run;
};
struct mcp_call {
	struct words words; /* behind the program's name */
	enum mcp_reach reach;
	uint64_t tokens;  /* of the answer, about */
	uint64_t seconds; /* at most */
	char *cwd;
};
enum { MCP_TOKENS = 2000, MCP_TOKENS_MOST = 50000, MCP_BYTES_A_TOKEN = 4, MCP_SECONDS = 600 };
int mcp_words(const struct mcp_asked *a, const struct mcp_tool *t, const struct json_tape *tape, uint32_t arguments, struct mcp_call *c,
	      struct err *err);
void mcp_call_release(struct mcp_call *c);

/* The tool as tools/list shows it. */
void mcp_tool_put(struct json_out *o, const struct mcp_tool *t, bool allow_run);

#endif
