/* zip.h - members of a zip archive in memory (a mapped .pt2, .npz, .pt), stored ones in place.
 *
 *     struct zip z;
 *     if (zip_open(&z, file.bytes, path, &err) < 0) ...
 *     const struct zip_member *m = zip_find(&z, SLICE("archive/data.pkl"));
 *     struct slice data;
 *     if (zip_data(&z, m, &data, &err) < 0) ...        // in place when stored, inflated once when deflated
 *     zip_close(&z);
 *
 * Only the central directory is read at first, so an archive of many GB opens at once. zip64, data descriptors and an
 * archive that begins late in the file (a self-extracting one) are understood; encryption, spanned archives and methods
 * other than stored and deflated are refused by name, when the member is asked for.
 *
 * Untrusted: offsets and sizes are checked against the bytes there are, local headers against the directory, members
 * may not overlap one another (the usual zip bomb), and an inflated member is at most ZIP_MAX_INFLATED and what the
 * directory says. The checksum of what zip_data gives is verified unless the member is stored and larger than
 * ZIP_CHECK_MAX (weights are not read through to open a package).
 */
#ifndef PT2_ZIP_H
#define PT2_ZIP_H
#include "base/arena.h"
#include "base/buf.h"

#define ZIP_MAX_INFLATED (2ull << 30)
#define ZIP_CHECK_MAX (16u << 20)
#define ZIP_MAX_MEMBERS (1u << 20)

struct zip_member {
	struct slice name;
	uint64_t offset; /* of the data in the archive's bytes */
	uint64_t packed, size;
	uint32_t crc;
	uint16_t method; /* 0 stored, 8 deflated */
	uint16_t flags;
	struct slice inflated; /* once zip_data has done it */
};

struct zip {
	struct slice bytes;
	const char *path;
	struct zip_member *v;
	size_t n;
	struct arena arena;
	void **owned; /* inflated members */
	size_t n_owned, cap_owned;
};

/* Does it begin or end as a zip archive does? */
bool zip_like(struct slice bytes);
int zip_open(struct zip *z, struct slice bytes, const char *path, struct err *err);
void zip_close(struct zip *z);
struct zip_member *zip_find(struct zip *z, struct slice name);
int zip_data(struct zip *z, struct zip_member *m, struct slice *data, struct err *err);

#endif
