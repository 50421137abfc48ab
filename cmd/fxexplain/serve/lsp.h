/* lsp.h - messages of the Language Server Protocol, 3.17 (microsoft.github.io/language-server-protocol): JSON-RPC 2.0 after a
 * Content-Length header, over two file descriptors; and its positions: a line and a column, both from 0; columns in UTF-16 units, or in
 * bytes if both sides support that.
 *
 *     struct lsp l = {.in = 0, .out = 1};
 *     while ((got = lsp_read(&l, 200, &err)) >= 0)
 *         if (got > 0)
 *             ... l.tape has the message, its root is l.root ...
 *     lsp_release(&l);
 *
 *     struct json_out o = lsp_begin(&l);
 *     json_member_str(&o, "method", SLICE("window/logMessage"));
 *     ...
 *     lsp_send(&l, &o, &err);
 */
#ifndef FXEXPLAIN_LSP_H
#define FXEXPLAIN_LSP_H
#include "base/json.h"

#define LSP_MAX (256u << 20) /* bytes of a message */

struct lsp {
	int in, out;
	bool utf8; /* columns are bytes */
	struct json_tape tape;
	uint32_t root; /* NONE: the message is not JSON */
	struct buf got;
	size_t used; /* bytes of got taken by the message that was answered */
	struct buf body;
};
/* 1: a message. 0: none within that time. -1: no more messages; err says why, unless the input ended between two messages. */
int lsp_read(struct lsp *l, int timeout_ms, struct err *err);
void lsp_release(struct lsp *l);

/* Starts a message to the client; its outermost object is open. */
struct json_out lsp_begin(struct lsp *l);
/* Starts the answer to the message that was read; the value of "result" follows. */
struct json_out lsp_answer(struct lsp *l);
/* Closes the message, and sends it. */
int lsp_send(struct lsp *l, struct json_out *o, struct err *err);

/* Byte `at` of a text as a Position. */
void lsp_position(const struct lsp *l, struct json_out *o, const char *key, struct slice text, size_t at);

/* "file:///home/me/a%20b.py" to its path, and back; false: not a file URI. */
bool lsp_path(struct slice uri, struct buf *path);
void lsp_uri(struct buf *uri, const char *path);
#endif
