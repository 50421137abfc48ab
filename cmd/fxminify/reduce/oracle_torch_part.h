/* oracle_torch_part.h - what the files of the torch oracle share: messages (oracle_torch_talk.c) and the process that they go to
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
/* The original. remote: no file of this machine can be read there. */
int talk_setup(const struct oracle_torch_spec *spec, bool remote, struct buf *b, struct err *err);
/* head: what talk_head gives for the original; left out where the test has the same. */
void talk_test(const struct repro *original, const struct test *t, uint64_t id, struct slice head, struct buf *b);
void talk_users(uint64_t id, struct buf *b);
void talk_inputs(const struct repro *original, const struct test *t, uint64_t id, struct buf *b);
/* remote: the program and its folder of inputs go along. */
int talk_verify(const char *path, uint64_t id, unsigned timeout_ms, unsigned stall_ms, bool remote, struct buf *b, struct err *err);
/* The head without environment, symbols and comments: what is executed in front of a candidate. */
void talk_head(const struct repro *r, struct buf *b);
/* An answer as an outcome, its texts in arena. */
void talk_outcome(const struct json_tape *t, uint32_t k, struct arena *arena, struct outcome *out);

/* ---- a process ---- */
enum peer_state {
	PEER_BOOT,  /* started: its interpreter has not said that it listens */
	PEER_HELLO, /* has the program, imports torch */
	PEER_UP,    /* said hello */
	PEER_DEAD,  /* ended; child and pipes are gone */
};
struct peer {
	enum peer_state state;
	struct childset *set;
	struct child *child;
	const char *const *launcher; /* NULL: here */
	struct buf in;               /* what came and is not read yet */
	struct buf first;            /* sent when it listens: the program, start and what follows */
	struct buf env;              /* its environment lines (talk_env) */
	struct buf session;          /* its folder, for clearing up after one that was killed */
	struct buf hello;
	struct buf why;   /* PEER_DEAD: one line */
	bool refused;     /* it ended because it said why: starting it again is of no use */
	int64_t deadline; /* clock in ms until which it must be UP, or has to have answered; 0: none */
};
/* Starts it; `then` is what is sent behind the start message. */
int peer_start(struct peer *p, struct childset *set, const struct oracle_torch_spec *spec, const char *const *launcher, enum talk_mode mode,
	       struct slice env, struct slice then, struct err *err);
/* Before peer_start, when it is UP: now. Else behind what is sent first. */
void peer_send(struct peer *p, struct slice line);
/* Reads what there is. fn gets every message but hello, which is kept. */
void peer_read(struct peer *p, void (*fn)(void *user, struct peer *p, const struct json_tape *t, uint32_t root), void *user);
/* Its child ended, or must be killed now: PEER_DEAD, `why` says how (also when the reason is given). */
void peer_died(struct peer *p, const char *reason);
/* Asks it to end, waits a moment, kills. Its folder is gone then. */
void peer_close(struct peer *p);
int64_t peer_clock(void);

/* The answer to `inputs` as JSON that lives until the next question. */
int torch_ask_inputs(struct oracle *o, const struct test *t, struct slice *json, struct err *err);

#endif
