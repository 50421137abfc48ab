/* base64.h - RFC 4648 text of bytes, for blocks inside HTML and values inside programs. */
#ifndef PT2_BASE64_H
#define PT2_BASE64_H
#include "base/buf.h"

void base64_add(struct buf *b, const void *p, size_t n);
/* Appends the decoded bytes to b. False on any other character, a wrong length, or leftover bits. */
bool base64_decode(struct buf *b, const char *p, size_t n);

#endif
