#include "base/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_add(struct buf *b, const void *p, size_t n)
{
	if (!n)
		return;
	const unsigned char *in = p;
	char *out = buf_room(b, (n + 2) / 3 * 4);
	buf_wrote(b, (n + 2) / 3 * 4);
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

static int digit(char c)
{
	const char *at = c ? strchr(alphabet, c) : NULL;
	return at ? (int)(at - alphabet) : -1;
}

bool base64_decode(struct buf *b, const char *p, size_t n)
{
	if (n % 4)
		return false;
	for (size_t i = 0; i < n; i += 4) {
		const int pad = i + 4 < n ? 0 : (p[i + 3] == '=') + (p[i + 3] == '=' && p[i + 2] == '=');
		uint32_t v = 0;
		for (int k = 0; k < 4; k++) {
			const int d = k < 4 - pad ? digit(p[i + k]) : 0;
			if (d < 0)
				return false;
			v = v << 6 | (uint32_t)d;
		}
		if (pad && v & (pad == 1 ? 0xffu : 0xffffu))
			return false;
		const unsigned char out[3] = {(unsigned char)(v >> 16), (unsigned char)(v >> 8), (unsigned char)v};
		buf_add(b, out, 3u - (unsigned)pad);
	}
	return true;
}
