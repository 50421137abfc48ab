/* tensors.h - any bytes as a file of tensors, for the fuzzers of its formats: what is read has sizes that fit its data,
 * and can be counted, printed and written. */
#ifndef PT2_FUZZ_TENSORS_H
#define PT2_FUZZ_TENSORS_H
#include <fcntl.h>
#include <unistd.h>

#include "tensor/stats.h"
#include "tensor/write.h"

static inline void tensors_require(bool ok)
{
	if (!ok)
		abort();
}

static inline void tensors_use(const struct tensor_meta *m, struct slice data, int64_t numel, struct buf *b)
{
	struct tensor_stats bad, all;
	struct tensor_view v = {.name = SLICE("x"), .meta = *m, .data = data.p};
	struct err err;
	tensor_stats(m, data.p, STATS_BAD, &bad);
	tensor_stats(m, data.p, STATS_ALL, &all);
	tensors_require(all.n == (uint64_t)numel && all.nan + all.pos_inf + all.neg_inf + all.zero <= all.n);
	tensors_require(bad.nan == all.nan && bad.first_bad == all.first_bad &&
			(bad.first_bad >= 0) == (bad.nan + bad.pos_inf + bad.neg_inf > 0));
	buf_reset(b);
	tensor_print(b, m, data.p, (struct tensor_print){0});
	tensors_require(slice_starts(buf_slice(b), "tensor(") && slice_ends(buf_slice(b), ")"));
	int fd = open("/dev/null", O_WRONLY);
	for (int format = TENSOR_NPY; format <= TENSOR_PT && fd >= 0; format++)
		tensors_require(tensor_write(fd, (enum tensor_format)format, &v, 1, "fuzz", &err) == 0 ||
				!tensor_writable((enum tensor_format)format, m->dtype));
	close(fd);
}

static inline void tensors_of(struct slice bytes)
{
	struct err err;
	struct buf b = {0};
	struct tensor_meta again;
	struct tensor_file *f = tensor_file_bytes(bytes, "fuzz", &err);
	if (!f)
		return;
	tensors_require(f->n > 0);
	volatile uint8_t touched = 0;
	for (size_t i = 0; i < f->n && i < 100; i++) {
		const struct tensor_meta *m = &f->v[i].meta;
		struct slice data;
		int64_t bytes_of, numel;
		tensors_require(dtype_info(m->dtype) && tensor_numel(m, &numel) && tensor_extent(m, &bytes_of));
		buf_reset(&b);
		tensor_spec_print(m, &b);
		tensors_require(tensor_spec_like(buf_slice(&b)));
		tensors_require(tensor_spec_parse(buf_slice(&b), &again, &err) == 0);
		tensors_require(again.dtype == m->dtype && again.n_dim == m->n_dim);
		if (tensor_data(f, i, &data, &err) < 0)
			continue;
		tensors_require(data.n == (uint64_t)bytes_of);
		for (size_t k = 0; k < data.n; k += 64)
			touched = (uint8_t)data.p[k];
		if (data.n)
			touched = (uint8_t)data.p[data.n - 1];
		if (numel <= 5000)
			tensors_use(m, data, numel, &b);
	}
	(void)touched;
	buf_release(&b);
	tensor_file_close(f);
}

#endif
