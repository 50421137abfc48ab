/* inflate.h - what a compressed file holds, piece by piece: gzip, xz, zstd, recognised by their first bytes.
 *
 *     size_t need = inflate_magic(head, n);           // bytes that must be seen to know; 0: not compressed
 *     struct inflate *z = inflate_open(head, n, &err);
 *     r = inflate_step(z, from, n, &used, to, room, &made);
 *     inflate_close(z);
 *
 * zlib is linked. liblzma.so.5 and libzstd.so.1 are loaded when the first such file is opened (dpkg needs both, so every Debian
 * has them); without them only these files cannot be read. Memory is bounded whatever the file says: windows of at most 128 MiB
 * (zstd), 256 MiB in all (xz).
 */
#ifndef PT2_INFLATE_H
#define PT2_INFLATE_H
#include "base/base.h"

struct inflate;

enum { INFLATE_MAGIC = 6 };

/* For a file that starts with these n bytes. 0: not compressed; n or less: compressed; more: the number of bytes needed to know. */
size_t inflate_magic(const char *head, size_t n);
/* NULL with *err set: its library is missing. */
struct inflate *inflate_open(const char *head, size_t n, struct err *err);
void inflate_close(struct inflate *z);

enum inflate_result {
	INFLATE_MORE,
	INFLATE_ENDED /* a stream is complete; the file may end, or another one may follow */,
	INFLATE_CORRUPT
};
/* Takes *used of the n bytes and makes *made (at most room). */
enum inflate_result inflate_step(struct inflate *z, const char *from, size_t n, size_t *used, char *to, size_t room, size_t *made);
/* "the gzip data ends early", "... is corrupt" */
const char *inflate_lost(const struct inflate *z, bool early);

#endif
