/* lsp.h - what the Language Server Protocol 3.17 (microsoft.github.io/language-server-protocol) has besides its messages
 * (base/rpc/rpc.h): its positions, a line and a column, both from 0, columns in UTF-16 units, or in bytes if both sides support that; and
 * its file URIs.
 */
#ifndef FXEXPLAIN_LSP_H
#define FXEXPLAIN_LSP_H
#include "base/rpc/rpc.h"

/* Byte `at` of a text as a Position; utf8: columns are bytes. */
void lsp_position(struct json_out *o, bool utf8, const char *key, struct slice text, size_t at);

/* "file:///home/me/a%20b.py" to its path, and back; false: not a file URI. */
bool lsp_path(struct slice uri, struct buf *path);
void lsp_uri(struct buf *uri, const char *path);
#endif
