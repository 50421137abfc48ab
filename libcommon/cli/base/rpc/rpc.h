/* rpc.h - JSON-RPC 2.0 (jsonrpc.org/specification) over two file descriptors: messages in, answers and notices out.
 *
 *     struct rpc r = {.in = 0, .out = 1, .frame = RPC_LINES};
 *     while ((got = rpc_read(&r, 200, &err)) >= 0)
 *         if (got > 0)
 *             ... r.tape has the message, its root is r.root ...
 *     rpc_release(&r);
 *
 *     struct json_out o = rpc_answer(&r);
 *     json_member_obj(&o, "result");
 *     ...
 *     rpc_send(&r, &o, &err);                          // closes what is open
 *
 * Two frames: a Content-Length header before each message (Language Server Protocol 3.17), or one message a line (Model Context Protocol,
 * its stdio transport).
 */
#ifndef PT2_RPC_H
#define PT2_RPC_H
#include "base/json.h"

#define RPC_MAX (256u << 20) /* bytes of a message */

enum rpc_frame { RPC_HEADER, RPC_LINES };
enum { RPC_NOT_JSON = -32700, RPC_NO_REQUEST = -32600, RPC_NO_METHOD = -32601, RPC_BAD_PARAMS = -32602 };

struct rpc {
	int in, out;
	enum rpc_frame frame;
	struct json_tape tape;
	uint32_t root; /* NONE: the message is not JSON */
	struct buf got;
	size_t used; /* bytes of got taken by the message that was answered */
	struct buf body;
};
/* 1: a message. 0: none within that time. -1: no more messages; err says why, unless the input ended between two messages. */
int rpc_read(struct rpc *r, int timeout_ms, struct err *err);
void rpc_release(struct rpc *r);

/* Does the message that was read ask for an answer? */
bool rpc_asked(const struct rpc *r);
/* Starts a message; its outermost object is open. */
struct json_out rpc_begin(struct rpc *r);
/* Starts the answer to the message that was read, or to another whose id is this JSON text; "result" follows. */
struct json_out rpc_answer(struct rpc *r);
struct json_out rpc_answer_to(struct rpc *r, struct slice id);
/* An answer that is an error, complete but not sent. */
struct json_out rpc_error(struct rpc *r, int code, const char *text);
/* Closes the message, and sends it. */
int rpc_send(struct rpc *r, struct json_out *o, struct err *err);

#endif
