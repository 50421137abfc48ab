/* lsp.h - messages of the Language Server Protocol, 3.17 (microsoft.github.io/language-server-protocol): JSON-RPC 2.0 with a head of
 * Content-Length, over two files; and what they call places: a line from 0, a column from 0, in UTF-16 units or, where both sides can,
 * bytes.
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
	uint32_t root; /* NONE: the message is no JSON */
	struct buf got;
	size_t used; /* of got: the message that was answered */
	struct buf body;
};
/* 1: a message. 0: none within that time. -1: no more will come; err says why where that is no end between two messages. */
int lsp_read(struct lsp *l, int timeout_ms, struct err *err);
void lsp_release(struct lsp *l);

/* A message to the other side; its outermost object is open. */
struct json_out lsp_begin(struct lsp *l);
/* The answer to the message that was read; what follows is the value of "result". */
struct json_out lsp_answer(struct lsp *l);
/* Closes what is open in the message, and sends it. */
int lsp_send(struct lsp *l, struct json_out *o, struct err *err);

/* Byte `at` of a text as a Position. */
void lsp_position(const struct lsp *l, struct json_out *o, const char *key, struct slice text, size_t at);

/* "file:///home/me/a%20b.py" to its path, and back; false: of another kind. */
bool lsp_path(struct slice uri, struct buf *path);
void lsp_uri(struct buf *uri, const char *path);
#endif
