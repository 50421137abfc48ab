/* base64.h - RFC 4648 text of bytes, for blocks inside HTML. */
#ifndef PT2_BASE64_H
#define PT2_BASE64_H
#include "base/buf.h"

void base64_add(struct buf *b, const void *p, size_t n);

#endif
