/* zip.h - members of a zip archive in memory (a mapped .pt2, .npz, .pt), stored ones in place.
 *
 *     struct zip z;
 *     if (zip_open(&z, file.bytes, path, &err) < 0) ...
 *     const struct zip_member *m = zip_find(&z, SLICE("archive/data.pkl"));
 *     struct slice data;
 *     if (zip_data(&z, m, &data, &err) < 0) ...        // in place when stored, inflated once when deflated
 *     if (zip_copy(&z, m, fd, "model.so", &err) < 0) ...  // into a new file
 *     zip_close(&z);
 *
 * Only the central directory is read at first, so an archive of many GB opens at once. zip64, data descriptors and an
 * archive that begins late in the file (a self-extracting one) are understood; encryption, spanned archives and methods
 * other than stored and deflated are refused by name, when the member is asked for.
 *
 * Untrusted: offsets and sizes are checked against the bytes there are, local headers against the directory, members
 * may not overlap one another (the usual zip bomb), and an inflated member is at most ZIP_MAX_INFLATED and what the
 * directory says. What zip_data inflates takes ZIP_MAX_HEAP of memory, all members together: the rest goes into temporary
 * files (base/io/tempfile.h) that are mapped, for 1 MB of a hostile archive can be 1 GiB. For a member parsed as text, which costs more
 * memory than its bytes, use zip_text. zip_data verifies the checksum unless the member is stored and larger than ZIP_CHECK_MAX (weights
 * are not read through to open a package), or the directory has 0 for it, as torch.serialization.set_crc32_options(False) writes it (torch
 * 2.13, caffe2/serialize/inline_container.cc).
 *
 * Source of the format: PKWARE's APPNOTE.TXT 6.3.10.
 */
#ifndef PT2_ZIP_H
#define PT2_ZIP_H
#include "base/arena.h"
#include "base/buf.h"

#define ZIP_MAX_INFLATED (2ull << 30)
#define ZIP_MAX_HEAP (64u << 20)
#define ZIP_MAX_TEXT (64u << 20)
#define ZIP_CHECK_MAX (16u << 20)
#define ZIP_MAX_MEMBERS (1u << 20)

struct zip_member {
	struct slice name;
	uint64_t header; /* where its local header is in the archive's bytes */
	uint64_t limit;  /* where the next member's header, or the directory, begins */
	uint64_t offset; /* of the data in the archive's bytes; 0 until zip_locate or zip_data read the local header */
	uint64_t packed, size;
	uint32_t crc;
	uint16_t method; /* 0 stored, 8 deflated */
	uint16_t flags;
	uint16_t mode;  /* of a Unix file, type and permissions (symbolic links too); 0: unknown */
	bool checked;   /* the checksum is right */
	bool mapped;    /* inflated is a temporary file */
	char *inflated; /* once zip_data has done it */
};

struct zip {
	struct slice bytes; /* both are the caller's, and must live as long */
	const char *path;
	struct zip_member *v; /* in the directory's order */
	size_t n;
	uint64_t heap;     /* bytes that are inflated in memory */
	uint32_t *by_name; /* made by the first zip_find */
};

/* Does it begin or end like a zip archive? */
bool zip_like(struct slice bytes);
int zip_open(struct zip *z, struct slice bytes, const char *path, struct err *err);
void zip_close(struct zip *z);
/* NULL if there is none; the last of several with one name, as in Python. */
struct zip_member *zip_find(struct zip *z, struct slice name);
/* Check the local header and set m->offset, without reading the data. Works for any method: m->packed bytes are present. */
int zip_data(struct zip *z, struct zip_member *m, struct slice *data, struct err *err);
/* The same for a deflated one of up to ZIP_MAX_TEXT; the error for a larger one names it. Stored ones are in the given file and cost no
 * more than their size. */
int zip_text(struct zip *z, struct zip_member *m, struct slice *data, struct err *err);
/* Writes it to the end of a new file (what: its name in messages), a piece at a time; zeros become holes. */
int zip_copy(struct zip *z, struct zip_member *m, int fd, const char *what, struct err *err);
/* For formats with a header of their own: a stored member in place without its checksum verified; for a deflated one the first `want` bytes
 * (fewer if it is shorter), in head. */
int zip_head(struct zip *z, struct zip_member *m, size_t want, struct buf *head, struct slice *data, struct err *err);

#endif
