/* Any text as the list of weights of an exported program, and of a package that carries its own: no view leaves its file. */
#include "../lib/mkzip.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tensor/weights/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char numbers[64] = {1, 2, 3};

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void look(const struct weights *w)
{
	for (size_t i = 0; i < w->n; i++) {
		int64_t bytes;
		require(tensor_extent(&w->v[i].meta, &bytes) && bytes <= (int64_t)sizeof(numbers));
		for (int64_t k = 0; k < bytes; k++)
			(void)((const volatile char *)w->v[i].data)[k];
	}
}

/* The path of an archive in memory. */
static int put(struct mkzip *z, char *path, size_t room)
{
	int fd = memfd_create("weights.pt2", 0);
	mkzip_end(z);
	require(fd >= 0 && write(fd, z->b.p, z->b.len) == (ssize_t)z->b.len);
	mkzip_release(z);
	snprintf(path, room, "/proc/self/fd/%d", fd);
	return fd;
}

static void exported(struct slice text)
{
	struct mkzip z = {0};
	struct weights w;
	struct err err;
	char path[64];
	mkzip_add(&z, "models/m.json", SLICE("{}"), 0);
	mkzip_add(&z, "data/weights/m_weights_config.json", text, 0);
	mkzip_add(&z, "data/weights/weight_0", slice_of(numbers, sizeof(numbers)), 0);
	int fd = put(&z, path, sizeof(path));
	if (weights_open(&w, path, &err) == 0) {
		look(&w);
		weights_close(&w);
	}
	close(fd);
}

static void carried(struct slice text)
{
	struct mkzip z = {0};
	struct package pkg;
	struct weights w;
	struct err err;
	char path[64];
	/* What torch.save writes of one tensor: here an array of bytes, which is read the same way. */
	static const char npy[] = "\x93NUMPY\1\0v\0{'descr': '|u1', 'fortran_order': False, 'shape': (64,), }";
	struct buf b = {0};
	buf_add(&b, npy, sizeof(npy) - 1);
	while (b.len < 127)
		buf_addc(&b, ' ');
	buf_addc(&b, '\n');
	buf_add(&b, numbers, sizeof(numbers));
	mkzip_add(&z, "data/aotinductor/m/a.wrapper.cpp", SLICE("text"), 0);
	mkzip_add(&z, "data/aotinductor/m/weights_config.json", text, 0);
	mkzip_add(&z, "data/weights/weight_0", buf_slice(&b), 0);
	buf_release(&b);
	int fd = put(&z, path, sizeof(path));
	if (package_open(&pkg, path, &err) == 0) {
		if (weights_of_package(&w, &pkg, &pkg.model[0], &err) > 0) {
			look(&w);
			weights_close(&w);
		}
		package_close(&pkg);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = slice_of((const char *)data, size);
	exported(text);
	carried(text);
	return 0;
}
