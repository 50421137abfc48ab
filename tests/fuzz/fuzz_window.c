/* Any bytes as a file, plain or gzip, through windows of any size: nothing is lost, nothing is made up. The first byte
 * chooses the size, the rest is the file. */
#include <sys/mman.h>
#include <unistd.h>

#include "base/io/inflate.h"
#include "base/io/window.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ENOUGH = 1 << 22 }; /* of a file that inflates without end */

static void require(bool ok)
{
	if (!ok)
		abort();
}

static size_t lines(const char *data, size_t len)
{
	const char *nl = len ? memrchr(data, '\n', len) : NULL;
	return nl ? (size_t)(nl + 1 - data) : len > 1 << 20 ? len : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	size_t want = 1 + data[0] * 5u;
	data++, size--;
	char path[32];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct input in;
	struct window w = {0};
	const char *head = (const char *)data;
	size_t magic = inflate_magic(head, size < INFLATE_MAGIC ? size : INFLATE_MAGIC);
	bool packed = magic && magic <= size, last = false;
	uint64_t sum = 0;
	int opened = input_open(&in, path, NULL);
	if (opened < 0 && packed && magic > 2) { /* without the system's liblzma, libzstd */
		close(fd);
		return 0;
	}
	require(opened == 0 && packed == (in.packed != NULL));
	while (sum < ENOUGH && input_next(&in, &w, want, lines) > 0) {
		require(!last && w.len > 0 && w.len <= w.cap && w.offset == sum && !w.continued);
		last = w.last;
		require(last || w.data[w.len - 1] == '\n' || w.len > 1 << 20);
		if (!packed)
			require(sum + w.len <= size && !memcmp(w.data, data + sum, w.len));
		sum += w.len;
		memset(w.data, 0x55, w.len);
	}
	require(in.consumed <= size);
	if (!packed)
		require(sum == size && !in.lost);
	window_release(&w);
	input_close(&in);
	close(fd);
	return 0;
}
