/* oracle_torch_part.h - shared by the files of the torch oracle: messages (oracle_torch_talk.c) and the process they go to
 * (oracle_torch_peer.c). oracle_torch.h has the protocol. */
#ifndef PT2_REDUCE_ORACLE_TORCH_PART_H
#define PT2_REDUCE_ORACLE_TORCH_PART_H
#include "base/process/child.h"
#include "base/json.h"
#include "reduce/oracle_part.h"
#include "reduce/oracle_torch.h"

/* ---- messages, one line with its newline each ---- */
enum talk_mode { TALK_ORACLE, TALK_VERIFY };
/* [["NAME", "VALUE"], ["NAME", null]]: the os.environ lines of a program, last ones winning. */
void talk_env(const struct repro_line *line, size_t n, struct buf *b);
void talk_start(const struct oracle_torch_spec *spec, enum talk_mode mode, struct slice env, struct buf *b);
/* The original. remote: files of this machine cannot be read there. */
int talk_setup(const struct oracle_torch_spec *spec, bool remote, struct buf *b, struct err *err);
/* head: talk_head's text for the original; left out if the test has the same. */
void talk_test(const struct repro *original, const struct test *t, uint64_t id, struct slice head, struct buf *b);
void talk_users(uint64_t id, struct buf *b);
void talk_inputs(const struct repro *original, const struct test *t, uint64_t id, struct buf *b);
/* remote: the program and its folder of inputs are sent along. */
int talk_verify(const char *path, uint64_t id, unsigned timeout_ms, unsigned stall_ms, bool remote, struct buf *b, struct err *err);
/* The head without environment, symbols and comments: what is executed before a candidate. */
void talk_head(const struct repro *r, struct buf *b);
/* An answer as an outcome, its texts in arena. */
void talk_outcome(const struct json_tape *t, uint32_t k, struct arena *arena, struct outcome *out);

/* ---- a process ---- */
enum peer_state {
	PEER_BOOT,  /* started: its interpreter does not listen yet */
	PEER_HELLO, /* has the program, imports torch */
	PEER_UP,    /* said hello */
	PEER_DEAD,  /* ended; child and pipes are closed */
};
struct peer {
	enum peer_state state;
	struct childset *set;
	struct child *child;
	const char *const *launcher; /* NULL: here */
	struct buf in;               /* received, not processed yet */
	struct buf first;            /* sent once it listens: the program, start and what follows */
	struct buf env;              /* its environment lines (talk_env) */
	struct buf session;          /* its folder, for cleaning up after it was killed */
	struct buf hello;
	struct buf why;   /* PEER_DEAD: one line */
	bool refused;     /* it reported why it ended: restarting is pointless */
	int64_t deadline; /* clock in ms by which it must be UP, or must have answered; 0: none */
};
/* Starts it; `then` is sent after the start message. */
int peer_start(struct peer *p, struct childset *set, const struct oracle_torch_spec *spec, const char *const *launcher, enum talk_mode mode,
	       struct slice env, struct slice then, struct err *err);
/* Sends now if it is UP, otherwise after what is sent first. */
void peer_send(struct peer *p, struct slice line);
/* Reads available input. fn gets every message except hello, which is kept. */
void peer_read(struct peer *p, void (*fn)(void *user, struct peer *p, const struct json_tape *t, uint32_t root), void *user);
/* Its child ended, or must be killed now: PEER_DEAD, `why` says how (also if a reason is given). */
void peer_died(struct peer *p, const char *reason);
/* Asks it to exit, waits a moment, kills it. Its folder is removed. */
void peer_close(struct peer *p);
int64_t peer_clock(void);

/* The answer to `inputs` as JSON that is valid until the next question. */
int torch_ask_inputs(struct oracle *o, const struct test *t, struct slice *json, struct err *err);

#endif
