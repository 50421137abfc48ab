/* write: what is written is read back by tensor_file_open with the same names, metas and elements; what cannot be is refused.
 * With a folder as its argument it writes files for tests/live/tensors.t instead. */
#include "../../lib/test.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io/zip.h"
#include "tensor/write.h"

static char *path;

/* Write, then read what is there. NULL and err when it was refused. */
static bool write_file(enum tensor_format format, const struct tensor_view *v, size_t n, struct err *err)
{
	static const char *const suffix[] = {"npy", "npz", "safetensors", "pt"};
	free(path);
	path = xasprintf("%s/pt2write.%d.%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid(), suffix[format]);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	int rc = tensor_write(fd, format, v, n, path, err);
	close(fd);
	return rc == 0;
}

static struct tensor_file *read_file(void)
{
	struct err err = {0};
	struct tensor_file *f = tensor_file_open(path, &err);
	if (!f)
		fail_msg("%s", err.text);
	unlink(path);
	return f;
}

/* Element i of both, bit by bit. */
static void same_elements(const struct tensor_meta *a, const char *p, const struct tensor_meta *b, const char *q)
{
	int64_t n, m;
	size_t bytes = (size_t)dtype_info(a->dtype)->bytes;
	assert_int_equal(a->dtype, b->dtype);
	assert_int_equal(a->n_dim, b->n_dim);
	for (int k = 0; k < a->n_dim; k++)
		assert_int_equal(a->size[k], b->size[k]);
	assert_true(tensor_numel(a, &n) && tensor_numel(b, &m) && n == m);
	for (int64_t i = 0; i < n; i++) {
		int64_t x = 0, y = 0, rest = i;
		for (int k = a->n_dim; k-- > 0; rest /= a->size[k]) {
			x += rest % a->size[k] * a->stride[k];
			y += rest % a->size[k] * b->stride[k];
		}
		assert_memory_equal(p + (size_t)x * bytes, q + (size_t)y * bytes, bytes);
	}
}

static void same(struct tensor_file *f, size_t i, const struct tensor_view *v, bool strides)
{
	struct slice data;
	struct err err = {0};
	if (tensor_data(f, i, &data, &err) < 0)
		fail_msg("%s", err.text);
	for (int k = 0; k < v->meta.n_dim && strides; k++)
		assert_int_equal(f->v[i].meta.stride[k], v->meta.stride[k]);
	assert_int_equal((uintptr_t)data.p % (unsigned)(dtype_info(v->meta.dtype)->bytes > 8 ? 8 : dtype_info(v->meta.dtype)->bytes), 0);
	same_elements(&v->meta, v->data, &f->v[i].meta, data.p);
}

static const struct tensor_view *named(const struct tensor_view *v, size_t n, struct slice name)
{
	for (size_t i = 0; i < n; i++)
		if (slice_eq(v[i].name, name))
			return &v[i];
	fail_msg("'%.*s' was not written", SL(name));
	return NULL;
}

static const int dtypes[] = {
#define NUMBER(num, id, bytes, name, s, aten, safe, npy, pt) num,
    DTYPES(NUMBER)
#undef NUMBER
};

static void random_view(struct tensor_view *v, int dtype, struct guard *g, uint64_t *seed)
{
	struct tensor_meta *m = &v->meta;
	*v = (struct tensor_view){.meta = {.dtype = dtype, .device_index = -1, .n_dim = (int)pick(seed, 5)}};
	for (int k = 0; k < m->n_dim; k++)
		m->size[k] = pick(seed, 12) ? 1 + pick(seed, pick(seed, 6) ? 5 : 60) : 0;
	unsigned sort = pick(seed, 5);
	int64_t stride = 1;
	tensor_contiguous(m);
	for (int k = 0; k < m->n_dim && sort; k++) { /* 1: Fortran, 2: with gaps, 3: expanded, 4: gaps and permuted */
		m->stride[k] = stride;
		stride *= m->size[k] ? m->size[k] : 1;
		if (sort == 2 || sort == 4)
			stride += pick(seed, 3);
		if (sort == 3 && !pick(seed, 2))
			m->stride[k] = 0;
	}
	if (sort == 4 && m->n_dim > 1) {
		int64_t s = m->size[0], t = m->stride[0];
		m->size[0] = m->size[m->n_dim - 1];
		m->stride[0] = m->stride[m->n_dim - 1];
		m->size[m->n_dim - 1] = s;
		m->stride[m->n_dim - 1] = t;
	}
	int64_t bytes;
	assert_true(tensor_extent(m, &bytes));
	char *p = xmalloc((size_t)bytes + 1);
	for (int64_t i = 0; i < bytes; i++)
		p[i] = (char)random_u32(seed);
	v->data = guard_put(g, p, (size_t)bytes);
	free(p);
}

static void test_npy(void **state)
{
	(void)state;
	uint64_t seed = 5;
	struct guard g = {0};
	for (unsigned i = 0; i < 600; i++) {
		struct tensor_view v;
		struct err err = {0};
		random_view(&v, dtypes[i % ARRAY_LEN(dtypes)], &g, &seed);
		bool ok = write_file(TENSOR_NPY, &v, 1, &err);
		assert_int_equal(ok, tensor_writable(TENSOR_NPY, v.meta.dtype));
		assert_int_equal(ok, *dtype_info(v.meta.dtype)->npy != 0);
		if (!ok) {
			assert_true(err.status == EXIT_INPUT && strstr(err.text, dtype_name(v.meta.dtype)) &&
				    strstr(err.text, ".safetensors"));
			unlink(path);
			continue;
		}
		struct tensor_file *f = read_file();
		assert_true(f->format == TENSOR_NPY && f->n == 1);
		same(f, 0, &v, false);
		tensor_file_close(f);
	}
	guard_release(&g);
}

static void is_head(const char *spec, const char *data, size_t size, const char *head)
{
	struct tensor_view v = {.data = data};
	struct err err = {0};
	struct buf b = {0};
	assert_int_equal(tensor_spec_parse(slice_str(spec), &v.meta, &err), 0);
	assert_true(write_file(TENSOR_NPY, &v, 1, &err));
	int fd = open(path, O_RDONLY);
	buf_cut(&b, (size_t)read(fd, buf_room(&b, 4096), 4096));
	close(fd);
	unlink(path);
	assert_int_equal(b.len, 128 + size);
	assert_memory_equal(b.p, "\x93NUMPY\x01\x00\x76\x00", 10);
	assert_memory_equal(b.p + 10, head, strlen(head));
	for (size_t i = 10 + strlen(head); i < 127; i++)
		assert_int_equal(b.p[i], ' ');
	assert_int_equal(b.p[127], '\n');
	assert_memory_equal(b.p + 128, data, size);
	buf_release(&b);
}

/* As np.save of numpy 2.x: the memory as it is where that is possible. */
static void test_npy_head(void **state)
{
	(void)state;
	is_head("f32[2,3]", "abcdefghijklmnopqrstuvwx", 24, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
	is_head("i16[2,3]/(1,2)", "abcdefghijkl", 12, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }");
	is_head("b8[3]", "\0\1\1", 3, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }");
	is_head("c128[]", "abcdefghijklmnop", 16, "{'descr': '<c16', 'fortran_order': False, 'shape': (), }");
}

static void many(enum tensor_format format, unsigned rounds)
{
	enum { MOST = 12 };
	uint64_t seed = 6;
	struct guard g[MOST] = {{0}};
	for (unsigned round = 0; round < rounds; round++) {
		struct tensor_view v[MOST];
		char name[MOST][64];
		struct err err = {0};
		size_t n = 1 + round % MOST, k = 0; /* the reader refuses a file without tensors */
		for (size_t i = 0; i < n; i++) {
			int dtype;
			do
				dtype = dtypes[k++ * 7 % ARRAY_LEN(dtypes)];
			while (!tensor_writable(format, dtype));
			random_view(&v[i], dtype, &g[i], &seed);
			snprintf(name[i], sizeof(name[i]), "layer.%zu \"\xc3\xa9'\\ %zu", i, n);
			v[i].name = slice_str(name[i]);
		}
		if (!write_file(format, v, n, &err))
			fail_msg("%s", err.text);
		struct tensor_file *f = read_file();
		assert_true(f->format == format && f->n == n);
		for (size_t i = 0; i < n; i++) {
			const struct tensor_view *one = named(v, n, f->v[i].name);
			same(f, i, one, format == TENSOR_PT);
		}
		tensor_file_close(f);
	}
	for (size_t i = 0; i < MOST; i++)
		guard_release(&g[i]);
}

static void test_safetensors(void **state)
{
	(void)state;
	many(TENSOR_SAFETENSORS, 60);
}

static void test_pt(void **state)
{
	(void)state;
	many(TENSOR_PT, 60);
	static const float v[6] = {1, 2, 3, 4, 5, 6};
	struct err err = {0};
	struct tensor_view two[2] = {{.meta = {.dtype = DTYPE_F32, .n_dim = 2, .size = {2, 3}, .stride = {1, 2}}, .data = v},
				     {.meta = {.dtype = DTYPE_F32, .n_dim = 0}, .data = v}};
	for (size_t n = 1; n <= 2; n++) {
		assert_true(write_file(TENSOR_PT, two, n, &err));
		struct tensor_file *f = read_file();
		assert_int_equal(f->top, n == 1 ? TENSOR_TOP_ONE : TENSOR_TOP_SEQUENCE);
		same(f, 0, &two[0], true);
		same(f, n - 1, &two[n - 1], true);
		tensor_file_close(f);
	}
}

static void test_npz(void **state)
{
	(void)state;
	many(TENSOR_NPZ, 60);
	static const float x[2] = {1, 2};
	struct err err = {0};
	struct tensor_view two[2] = {{.meta = {.dtype = DTYPE_F32}, .data = x}, {.meta = {.dtype = DTYPE_F32}, .data = x + 1}};
	assert_true(write_file(TENSOR_NPZ, two, 2, &err));
	struct tensor_file *f = read_file();
	assert_true(f->n == 2 && slice_is(f->v[0].name, "arr_0") && slice_is(f->v[1].name, "arr_1"));
	tensor_file_close(f);
	two[1].meta.dtype = DTYPE_BF16;
	assert_false(write_file(TENSOR_NPZ, two, 2, &err));
	assert_non_null(strstr(err.text, "a bfloat16 tensor cannot be saved: .npz does not support it: save as .safetensors or .pt"));
	unlink(path);
}

/* The zip itself, by our own reader: every checksum. */
static void test_zip(void **state)
{
	(void)state;
	uint64_t seed = 8;
	struct err err = {0};
	struct buf b = {0}, data = {0};
	const size_t size = 300001; /* larger than all buffers */
	for (size_t i = 0; i < size; i++)
		buf_addc(&data, (char)random_u32(&seed));
	struct tensor_view v = {
	    .name = SLICE("x"), .meta = {.dtype = DTYPE_U8, .n_dim = 1, .size = {(int64_t)size}, .stride = {1}}, .data = data.p};
	assert_true(write_file(TENSOR_PT, &v, 1, &err));
	int fd = open(path, O_RDONLY);
	for (ssize_t k; (k = read(fd, buf_room(&b, 1 << 16), 1 << 16)) > 0;)
		buf_wrote(&b, (size_t)k);
	close(fd);
	unlink(path);
	struct zip z;
	if (zip_open(&z, buf_slice(&b), "t", &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(z.n, 7);
	for (size_t i = 0; i < z.n; i++) {
		struct slice s;
		if (zip_data(&z, &z.v[i], &s, &err) < 0)
			fail_msg("%s", err.text);
		assert_true(z.v[i].checked && z.v[i].crc);
		assert_int_equal(z.v[i].offset % 64, 0);
		/* What follows the data, for those who read it as a stream. */
		uint32_t after[4];
		memcpy(after, b.p + z.v[i].offset + z.v[i].size, sizeof(after));
		assert_true(after[0] == 0x08074b50 && after[1] == z.v[i].crc && after[2] == z.v[i].size && after[3] == z.v[i].size);
	}
	zip_close(&z);
	buf_release(&b);
	buf_release(&data);
}

static void refused(enum tensor_format format, const struct tensor_view *v, size_t n, const char *why)
{
	struct err err = {0};
	if (write_file(format, v, n, &err))
		fail_msg("written, though it should be refused with '%s'", why);
	unlink(path);
	if (err.status != EXIT_INPUT || !strstr(err.text, why))
		fail_msg("'%s' has no '%s'", err.text, why);
}

/* Only .pt has a place for it: a list keeps the numbers of what follows. */
static void test_none(void **state)
{
	(void)state;
	static const float data[6] = {1, 2, 3, 4, 5, 6};
	struct err err = {0};
	struct tensor_view v[3] = {{.meta = {.dtype = DTYPE_F32, .n_dim = 1, .size = {6}, .stride = {1}}, .data = data},
				   {.meta = {.dtype = DTYPE_NONE}},
				   {.meta = {.dtype = DTYPE_F32, .n_dim = 1, .size = {2}, .stride = {1}}, .data = data}};
	for (int named = 0; named < 2; named++) {
		for (size_t i = 0; named && i < 3; i++)
			v[i].name = slice_str((const char *[]){"a", "b", "c"}[i]);
		assert_true(write_file(TENSOR_PT, v, 3, &err));
		struct tensor_file *f = read_file();
		assert_int_equal(f->n, 2);
		assert_text(f->v[1].name, named ? "c" : "[2]");
		assert_int_equal(f->v[1].meta.size[0], 2);
		tensor_file_close(f);
	}
	assert_true(write_file(TENSOR_PT, v + 1, 1, &err));
	unlink(path);
	refused(TENSOR_SAFETENSORS, v, 3, "a None cannot be saved: save as .pt");
	refused(TENSOR_NPY, v + 1, 1, "a None cannot be saved: save as .pt");
}

static void test_refused(void **state)
{
	(void)state;
	static const float x[4];
	const struct tensor_meta m = {.dtype = DTYPE_F32, .n_dim = 1, .size = {2}, .stride = {1}};
	struct tensor_view v[2] = {{SLICE("a"), m, x}, {SLICE("a"), m, x}};
	refused(TENSOR_NPY, v, 2, "contains one tensor");
	refused(TENSOR_NPY, v, 0, "contains one tensor");
	refused(TENSOR_NPZ, v, 2, "two tensors are named 'a'");
	refused(TENSOR_SAFETENSORS, v, 2, "two tensors are named 'a'");
	refused(TENSOR_PT, v, 2, "two tensors are named 'a'");
	v[1].name = SLICE("b\xff");
	refused(TENSOR_SAFETENSORS, v, 2, "not valid UTF-8");
	refused(TENSOR_PT, v, 2, "not valid UTF-8");
	v[1].name = SLICE("b\0c");
	refused(TENSOR_SAFETENSORS, v, 2, "not valid UTF-8");
	v[1].name = SLICE("__metadata__");
	refused(TENSOR_SAFETENSORS, v, 2, "__metadata__");
	v[1].name = SLICE("b");
	v[1].meta.dtype = DTYPE_QI8;
	refused(TENSOR_PT, v, 2, "qint8");
	v[1].meta.dtype = DTYPE_C128;
	refused(TENSOR_SAFETENSORS, v, 2, "save as .pt");
	v[1].meta.dtype = 99;
	refused(TENSOR_PT, v, 2, "dtype 99");
	v[1].meta = m;
	v[1].meta.stride[0] = -1;
	refused(TENSOR_PT, v, 2, "sizes or strides");
	v[1].meta = (struct tensor_meta){.dtype = DTYPE_F32, .n_dim = 2, .size = {INT64_MAX / 2, 4}};
	refused(TENSOR_SAFETENSORS, v, 2, "sizes or strides");
}

/* A full disk, at each place. */
static void test_full_disk(void **state)
{
	(void)state;
	struct err err = {0};
	char *x = xcalloc(1, 100000);
	struct tensor_view v = {.meta = {.dtype = DTYPE_U8, .n_dim = 1, .size = {100000}, .stride = {1}}, .data = x};
	int fd = open("/dev/full", O_WRONLY);
	if (fd < 0)
		skip();
	for (int format = TENSOR_NPY; format <= TENSOR_PT; format++)
		for (int64_t n = 0; n <= 100000; n += 50000) {
			v.meta.size[0] = n;
			assert_int_equal(tensor_write(fd, (enum tensor_format)format, &v, 1, "t", &err), -1);
			assert_true(err.status == EXIT_ENVIRON && strstr(err.text, "'t': cannot be written: No space"));
		}
	close(fd);
	free(x);
}

/* ---- files for torch and numpy ---- */

/* "FILE NAME SPEC HEX": the elements in the order of the sizes; "-" for none. */
static void tell(FILE *out, const char *file, const struct tensor_view *v)
{
	struct buf b = {0};
	int64_t n;
	size_t bytes = (size_t)dtype_info(v->meta.dtype)->bytes;
	tensor_numel(&v->meta, &n);
	buf_addf(&b, "%s %s %s[", file, v->name.n ? v->name.p : "-", dtype_name(v->meta.dtype));
	for (int k = 0; k < v->meta.n_dim; k++)
		buf_addf(&b, "%s%lld", k ? "," : "", (long long)v->meta.size[k]);
	buf_adds(&b, "]/(");
	for (int k = 0; k < v->meta.n_dim; k++)
		buf_addf(&b, "%s%lld", k ? "," : "", (long long)v->meta.stride[k]);
	buf_adds(&b, n ? ") " : ") -");
	for (int64_t i = 0; i < n; i++) {
		int64_t at = 0, rest = i;
		for (int k = v->meta.n_dim; k-- > 0; rest /= v->meta.size[k])
			at += rest % v->meta.size[k] * v->meta.stride[k];
		for (size_t k = 0; k < bytes; k++)
			buf_addf(&b, "%02x", ((const uint8_t *)v->data)[(size_t)at * bytes + k]);
	}
	fprintf(out, "%s\n", buf_str(&b));
	buf_release(&b);
}

static void make_file(const char *dir, const char *file, enum tensor_format format, const struct tensor_view *v, size_t n, FILE *out)
{
	struct err err = {0};
	char *to = xasprintf("%s/%s", dir, file);
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || tensor_write(fd, format, v, n, to, &err) < 0) {
		fprintf(stderr, "%s: %s\n", to, err.text);
		exit(EXIT_ENVIRON);
	}
	close(fd);
	for (size_t i = 0; i < n; i++)
		tell(out, file, &v[i]);
	free(to);
}

static bool is_one_of(const char *name, char *const *list)
{
	while (*list && strcmp(*list, name))
		list++;
	return *list;
}

/* unknown: names of dtypes that the torch which is to read them does not have. */
static int make_files(const char *dir, char *const *unknown)
{
	enum { N = 4 * ARRAY_LEN(dtypes) };
	static struct tensor_view all[N], some[N];
	static struct guard g[N];
	static char name[N][32], file[32];
	char *list = xasprintf("%s/list", dir);
	FILE *out = fopen(list, "w");
	uint64_t seed = 9;
	if (!out)
		return EXIT_ENVIRON;
	for (size_t i = 0; i < N; i++) {
		random_view(&all[i], dtypes[i % ARRAY_LEN(dtypes)], &g[i], &seed);
		if (all[i].meta.dtype == DTYPE_BOOL) /* any other byte is no bool */
			for (int64_t bytes = 0, k = tensor_extent(&all[i].meta, &bytes) ? bytes : 0; k-- > 0;)
				((char *)(uintptr_t)all[i].data)[k] &= 1;
		if (tensor_writable(TENSOR_NPY, all[i].meta.dtype)) {
			snprintf(file, sizeof(file), "%zu.npy", i);
			make_file(dir, file, TENSOR_NPY, &all[i], 1, out);
		}
	}
	for (int format = TENSOR_SAFETENSORS; format <= TENSOR_PT; format++) {
		size_t n = 0;
		for (size_t i = 0; i < N; i++)
			if (tensor_writable((enum tensor_format)format, all[i].meta.dtype) &&
			    !(format == TENSOR_PT && is_one_of(dtype_name(all[i].meta.dtype), unknown)))
				some[n++] = all[i];
		if (format == TENSOR_PT)
			make_file(dir, "list.pt", TENSOR_PT, some, n, out);
		if (format == TENSOR_PT)
			make_file(dir, "one.pt", TENSOR_PT, some, 1, out);
		for (size_t i = 0; i < n; i++) {
			snprintf(name[i], sizeof(name[i]), "\xc3\xa9\"%zu", i);
			some[i].name = slice_str(name[i]);
		}
		make_file(dir, format == TENSOR_PT ? "dict.pt" : "dict.safetensors", (enum tensor_format)format, some, n, out);
	}
	free(list);
	return fclose(out) ? EXIT_ENVIRON : 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return make_files(argv[1], argv + 2);
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_npy), cmocka_unit_test(test_npy_head), cmocka_unit_test(test_safetensors),
	    cmocka_unit_test(test_npz), cmocka_unit_test(test_pt),       cmocka_unit_test(test_none),
	    cmocka_unit_test(test_zip), cmocka_unit_test(test_refused),  cmocka_unit_test(test_full_disk),
	};
	int rc = RUN(tests);
	free(path);
	return rc;
}
