/* Any bytes as a model library: everything that can be asked of it stays within them. */
#include <unistd.h>

#include "model/elf/modelso.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void within(struct slice bytes, struct slice s) { require(!s.n || (s.p >= bytes.p && s.p + s.n <= bytes.p + bytes.n)); }

static void nothing(void *arg, struct slice s) { within(*(struct slice *)arg, s); }

static void ask(struct modelso *m)
{
	struct modelso_image image[16];
	const struct slice *producer;
	struct modelso_row row;
	struct err err;
	size_t n = modelso_images(m, image, 16);
	for (size_t i = 0; i < n; i++) {
		struct modelso_code code[4];
		require(image[i].offset < m->bytes.n);
		modelso_codes(slice_of(m->bytes.p + image[i].offset, m->bytes.n - image[i].offset), code, 4);
	}
	for (uint32_t i = 0; i < m->n_import; i++)
		within(m->bytes, m->import[i].name), within(m->bytes, m->import[i].version);
	for (uint32_t i = 0; i < m->n_kernel; i++)
		within(m->bytes, m->kernel[i].name);
	for (uint32_t i = 0; i < m->n_needed; i++)
		within(m->bytes, m->needed[i]);
	const struct modelso_constants *c = &m->constants;
	if (!c->damage[0] && c->form != CONSTANTS_BLOB && !m->header_only && m->n_import)
		require(c->offset <= m->bytes.n && c->size <= m->bytes.n - c->offset);
	modelso_line(m, m->run_impl, &row, &err);
	modelso_producers(m, &producer, &n, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct modelso m;
	struct modelso_lib l;
	struct err err;
	struct slice bytes = slice_of((const char *)data, size);
	char *copy = xmalloc(size + 1);
	memcpy(copy, data, size);
	modelso_edit(copy, size, "fuzz", &err);
	free(copy);
	if (modelso_open(&m, bytes, "fuzz", &err) == 0) {
		ask(&m);
		modelso_close(&m);
	} else {
		require(err.status == EXIT_INPUT && err.text[0]);
	}
	modelso_codes(bytes, &(struct modelso_code){0}, 1);
	modelso_lib_read(&l, bytes, "fuzz", nothing, nothing, &bytes, &err);
	return 0;
}
