#include "base/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_add(struct buf *b, const void *p, size_t n)
{
	if (!n)
		return;
	const unsigned char *in = p;
	char *out = buf_room(b, (n + 2) / 3 * 4);
	b->len += (n + 2) / 3 * 4;
	for (; n >= 3; n -= 3, in += 3, out += 4) {
		uint32_t v = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
		out[0] = alphabet[v >> 18];
		out[1] = alphabet[v >> 12 & 63];
		out[2] = alphabet[v >> 6 & 63];
		out[3] = alphabet[v & 63];
	}
	if (n) {
		uint32_t v = (uint32_t)in[0] << 16 | (n > 1 ? (uint32_t)in[1] << 8 : 0);
		out[0] = alphabet[v >> 18];
		out[1] = alphabet[v >> 12 & 63];
		out[2] = n > 1 ? alphabet[v >> 6 & 63] : '=';
		out[3] = '=';
	}
}
