/* server.h - the process that runs the user's program: a Python that imported torch once, and forks for each try (share/mend/server.py).
 *
 *     struct mend_program p;
 *     mend_program_of(&p, in->command);                     // exits if the command is not a Python program
 *     struct mend_server *s = mend_server_start(&(struct mend_server_spec){.program = &p, .folder = dir, .steps = 12}, &err);
 *     if (mend_server_ask(s, buf_slice(&request), &tape, &root, &err) < 0) ...
 *     mend_server_stop(s);
 *
 * The protocol, one JSON object a line (base/json.h):
 *
 *     > folder, main, module, args, cwd, steps, memory, view (null, or {fd, overlays}: base/process/cowview.h)
 *     < hello       python, torch, cuda, seconds, read_only [folders that could not be overlaid]; or error
 *     > eager       timeout, whole                 < eager       as run: the reference of all that follow
 *     > run         texts {path: text}, backend (off, eager, aot_eager, as-is), whole, region, cold, tolerance, timeout
 *     < run         status, counts {calls, ops, outer, graphs, steps}, differs ("" if equal to eager), trace, error, seconds, cpu,
 *                   volatile [names]
 *     > candidates  texts, finding {kind, file, line, function, count, title, cause, why, fix, hint, evidence, stack [[file, line]]}
 *     < candidates  candidates [{kind, title, texts, price, region}], why (it is hard; ""), runs
 *     > without     before, after, texts           < without     texts, or null: that edit taken out of the texts again
 *     > files       paths                          < files       files {path: text}
 *     < started id, pid; warning text              (at any time)
 *
 * The process is confined before Python starts (confine.c): a user, a network and an IPC namespace of its own.
 */
#ifndef MEND_SERVER_H
#define MEND_SERVER_H
#include "base/json.h"

struct mend_program {
	char *python;               /* as found in PATH */
	const char **python_option; /* NULL-terminated */
	char *main;                 /* absolute path; NULL with a module */
	const char *module;         /* of -m */
	char *const *args;
};
/* Exits if the command is not one Python program. */
void mend_program_of(struct mend_program *p, char *const *command);
void mend_program_release(struct mend_program *p);

struct mend_server_spec {
	const struct mend_program *program;
	const char *folder; /* private; each try has a folder in it */
	int steps;
	bool confined;
	uint64_t memory; /* bytes of address space beyond the server's; 0: no limit */
};
struct mend_server;
/* NULL: it could not start, or has no torch. The first line it says is in mend_server_hello(). */
struct mend_server *mend_server_start(const struct mend_server_spec *spec, struct err *err);
struct slice mend_server_hello(const struct mend_server *s);
/* The request is an object without its line end. The answer stays valid until the next question. */
int mend_server_ask(struct mend_server *s, struct slice request, struct json_tape *t, uint32_t *root, struct err *err);
void mend_server_stop(struct mend_server *s);

/* confine.c: the plan of the views, made in the tool; and before_exec of the server, with that plan: 0, or an errno. The server asks for
 * views at MEND_VIEW_FD. */
enum { MEND_VIEW_FD = 200 };
struct cowview;
struct cowview *mend_confine_prepare(const char *folder, const struct mend_program *p, struct err *err);
int mend_confine(void *arg);
#endif
