/* Storages, handles, frames and errors; layouts and dtypes of results. */
#include "elem.h"

static __thread struct aten_frame *top;
static __thread char last_error[1024];

const char *aten_last_error(void) { return last_error; }

void aten_note(const char *text) { snprintf(last_error, sizeof(last_error), "%s", text); }

void aten_enter(struct aten_frame *f, const char *op)
{
	f->outer = top;
	f->made = NULL;
	f->op = op;
	f->mode = top ? top->mode : (struct aten_mode){0};
	top = f;
}

bool aten_leave(struct aten_frame *f, bool failed)
{
	top = f->outer;
	while (f->made) {
		struct aten_tensor *t = f->made;
		f->made = t->next_made;
		aten_release(t);
	}
	return failed;
}

/* The name of a C function is shown without the common prefix. */
void aten_fail(const char *fmt, ...)
{
	const char *op = top ? top->op : "aten";
	if (!strncmp(op, "aoti_torch_", 11))
		op += 11;
	int n = snprintf(last_error, sizeof(last_error), "%s: ", op);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(last_error + n, sizeof(last_error) - (size_t)n, fmt, ap);
	va_end(ap);
	if (!top)
		__builtin_trap(); /* a caller without a frame */
	_longjmp(top->jump, 1);
}

bool aten_computes(void) { return !top || !top->mode.shapes; }
void aten_needs_values(void)
{
	if (!aten_computes())
		aten_fail("its shape depends on values");
}

int aten_default_dtype(void) { return top && top->mode.default_dtype ? top->mode.default_dtype : DTYPE_F32; }

/* ---- storage ---- */

static _Atomic uint64_t live_bytes;

uint64_t aten_live_bytes(void) { return atomic_load(&live_bytes); }

static const struct aten_memory *memory_of;

void aten_set_memory(const struct aten_memory *m) { memory_of = m; }

static void *take_memory(uint64_t bytes)
{
	if (bytes > SIZE_MAX - 64)
		return NULL;
	return memory_of ? memory_of->take(bytes) : aligned_alloc(64, (bytes + 63) & ~63ull);
}

static void give_memory(void *p, uint64_t bytes)
{
	if (memory_of && p)
		memory_of->give(p, bytes);
	else
		free(p);
}

static void need_room(uint64_t bytes)
{
	const uint64_t max = top ? top->mode.max_bytes : 0, live = aten_live_bytes();
	if (max && (live > max || bytes > max - live))
		aten_fail("cannot allocate %llu bytes: with the %llu in use, that exceeds the limit of %llu", (unsigned long long)bytes,
			  (unsigned long long)live, (unsigned long long)max);
}

static struct aten_storage *storage_new(uint64_t bytes, bool memory)
{
	if (memory)
		need_room(bytes);
	struct aten_storage *s = malloc(sizeof(*s));
	if (!s)
		aten_fail("out of memory");
	*s = (struct aten_storage){.refs = 1, .bytes = bytes, .owned = true};
	/* No bytes, no address: like torch's allocator. */
	if (memory && bytes && !(s->data = take_memory(bytes))) {
		free(s);
		aten_fail("cannot allocate %llu bytes", (unsigned long long)bytes);
	}
	if (s->data)
		atomic_fetch_add(&live_bytes, bytes);
	return s;
}

static void storage_drop(struct aten_storage *s)
{
	if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
		return;
	free(s->arranged);
	if (s->owned && s->data) {
		atomic_fetch_sub(&live_bytes, s->bytes);
		give_memory(s->data, s->bytes);
	}
	free(s);
}

/* Elements from the first to the end of the last that the strides reach. Every tensor creation is checked here: products of sizes, and
 * sizes times strides, in bytes, then fit 64 bits, even beside a size of 0, so code that computes those for one tensor needs no further
 * checks. */
static int64_t extent(int n_dim, const int64_t *size, const int64_t *stride)
{
	enum { BYTES = 16 }; /* of the widest element */
	int64_t n = 1, all = BYTES, beyond = BYTES;
	bool empty = false;
	for (int i = 0; i < n_dim; i++) {
		if (size[i] < 0 || stride[i] < 0)
			aten_fail("negative size or stride: %lld with %lld", (long long)size[i], (long long)stride[i]);
		int64_t least = size[i] > 1 ? size[i] : 1;
		empty = empty || !size[i];
		all = size_times(all, least);
		beyond = size_plus(beyond, size_times(size_times(least, BYTES), stride[i]));
		n += (least - 1) * stride[i];
	}
	return empty ? 0 : n;
}

static const struct dtype_info *known(int dtype)
{
	const struct dtype_info *d = dtype_info(dtype);
	if (!d)
		aten_fail("unknown dtype %d", dtype);
	return d;
}

/* ---- tensors ---- */

/* A handle of the frame's, without storage. */
static struct aten_tensor *handle(int dtype, int n_dim)
{
	if (n_dim < 0 || n_dim > ATEN_DIMS)
		aten_fail("%d dimensions are too many; at most %d are supported", n_dim, ATEN_DIMS);
	struct aten_tensor *t = malloc(sizeof(*t));
	if (!t)
		aten_fail("out of memory");
	t->storage = NULL;
	t->offset = 0;
	t->dtype = dtype;
	t->n_dim = n_dim;
	t->wrapped = false;
	t->next_made = top ? top->made : NULL;
	if (top)
		top->made = t;
	return t;
}

static void shape(struct aten_tensor *t, const int64_t *size, const int64_t *stride)
{
	if (!t->n_dim)
		return; /* no arrays either */
	memcpy(t->size, size, (size_t)t->n_dim * sizeof(*size));
	memcpy(t->stride, stride, (size_t)t->n_dim * sizeof(*stride));
}

struct aten_tensor *aten_keep(struct aten_tensor *t)
{
	for (struct aten_frame *f = top; f; f = f->outer)
		for (struct aten_tensor **at = &f->made; *at; at = &(*at)->next_made)
			if (*at == t) {
				*at = t->next_made;
				return t;
			}
	return aten_keep(aten_alias(t)); /* not created here: an operand returned unchanged */
}

void aten_release(struct aten_tensor *t)
{
	if (t)
		storage_drop(t->storage);
	free(t);
}

void aten_contiguous_strides(int n_dim, const int64_t *size, int64_t *stride)
{
	int64_t n = 1;
	for (int i = n_dim - 1; i >= 0; i--) {
		stride[i] = n;
		n = size_times(n, size[i] > 1 ? size[i] : 1);
	}
}

static struct aten_tensor *made(int dtype, int n_dim, const int64_t *size, const int64_t *stride, bool memory)
{
	const struct dtype_info *d = known(dtype);
	struct aten_tensor *t = handle(dtype, n_dim);
	int64_t contiguous[ATEN_DIMS];
	if (!stride) {
		aten_contiguous_strides(n_dim, size, contiguous);
		stride = contiguous;
	}
	shape(t, size, stride);
	t->storage = storage_new((uint64_t)size_times(extent(n_dim, size, stride), d->bytes), memory);
	return t;
}

struct aten_tensor *aten_new(int dtype, int n_dim, const int64_t *size, const int64_t *stride)
{
	return made(dtype, n_dim, size, stride, aten_computes());
}

struct aten_tensor *aten_new_anyway(int dtype, int n_dim, const int64_t *size) { return made(dtype, n_dim, size, NULL, true); }

struct aten_tensor *aten_fake(int dtype, int n_dim, const int64_t *size, const int64_t *stride)
{
	return made(dtype, n_dim, size, stride, false);
}

struct aten_tensor *aten_of_blob(void *data, int dtype, int n_dim, const int64_t *size, const int64_t *stride, int64_t offset)
{
	const struct dtype_info *d = known(dtype);
	struct aten_tensor *t = handle(dtype, n_dim);
	int64_t bytes = extent(n_dim, size, stride);
	bytes = bytes ? size_times(size_plus(bytes, offset), d->bytes) : 0;
	shape(t, size, stride);
	t->offset = offset;
	t->storage = malloc(sizeof(*t->storage));
	if (!t->storage)
		aten_fail("out of memory");
	*t->storage = (struct aten_storage){.refs = 1, .data = data, .bytes = (uint64_t)bytes};
	return t;
}

struct aten_tensor *aten_none(void) { return handle(DTYPE_F32, 0); }

struct aten_tensor *aten_view_dtype(const struct aten_tensor *t, int dtype, int n_dim, const int64_t *size, const int64_t *stride,
				    int64_t offset)
{
	const struct dtype_info *d = known(dtype);
	if (!t->storage)
		aten_fail("the tensor is not defined");
	int64_t reach = extent(n_dim, size, stride), end = size_times(size_plus(reach, offset), d->bytes);
	if (offset < 0 || (reach && (uint64_t)end > t->storage->bytes))
		aten_fail("a view of %lld elements starting at %lld exceeds a storage of %llu bytes", (long long)reach, (long long)offset,
			  (unsigned long long)t->storage->bytes);
	struct aten_tensor *v = handle(dtype, n_dim);
	shape(v, size, stride);
	v->offset = offset;
	v->storage = t->storage;
	atomic_fetch_add(&t->storage->refs, 1);
	return v;
}

struct aten_tensor *aten_view(const struct aten_tensor *t, int n_dim, const int64_t *size, const int64_t *stride, int64_t offset)
{
	return aten_view_dtype(t, t->dtype, n_dim, size, stride, offset);
}

struct aten_tensor *aten_alias(const struct aten_tensor *t) { return aten_view(t, t->n_dim, t->size, t->stride, t->offset); }

void aten_assign(struct aten_tensor *dst, const struct aten_tensor *src)
{
	struct aten_storage *old = dst->storage;
	if (src->storage)
		atomic_fetch_add(&src->storage->refs, 1);
	dst->storage = src->storage;
	dst->offset = src->offset;
	dst->dtype = src->dtype;
	dst->n_dim = src->n_dim;
	shape(dst, src->size, src->stride);
	storage_drop(old);
}

void aten_grow(struct aten_tensor *t, uint64_t bytes)
{
	struct aten_storage *s = t->storage;
	if (bytes <= s->bytes)
		return;
	if (!aten_computes()) {
		s->bytes = bytes;
		return;
	}
	if (!s->owned)
		aten_fail("external memory cannot grow from %llu to %llu bytes", (unsigned long long)s->bytes, (unsigned long long)bytes);
	need_room(bytes);
	void *data = take_memory(bytes);
	if (!data)
		aten_fail("cannot allocate %llu bytes", (unsigned long long)bytes);
	if (s->bytes)
		memcpy(data, s->data, s->bytes);
	atomic_fetch_add(&live_bytes, bytes - (s->data ? s->bytes : 0));
	give_memory(s->data, s->bytes);
	s->data = data;
	s->bytes = bytes;
}

/* ---- shapes ---- */

bool aten_is_contiguous(const struct aten_tensor *t)
{
	int64_t n = 1;
	if (!aten_numel(t))
		return true;
	for (int i = t->n_dim - 1; i >= 0; i--) {
		if (t->size[i] != 1 && t->stride[i] != n)
			return false;
		n *= t->size[i];
	}
	return true;
}

/* c10/core/TensorImpl.h, compute_non_overlapping_and_dense: some order of its dimensions is contiguous. */
bool aten_is_dense(const struct aten_tensor *t)
{
	bool used[ATEN_DIMS] = {0};
	if (aten_is_contiguous(t))
		return true;
	int left = 0;
	for (int i = 0; i < t->n_dim; i++)
		left += t->size[i] > 1;
	for (int64_t want = 1; left; left--) {
		int k = -1;
		for (int i = 0; i < t->n_dim && k < 0; i++)
			if (!used[i] && t->size[i] > 1 && t->stride[i] == want)
				k = i;
		if (k < 0)
			return false;
		used[k] = true;
		want *= t->size[k];
	}
	return true;
}

/* Order of dimensions, innermost first, by the operands' strides: TensorIterator's insertion sort. `all` holds n arrays
 * of strides, a 0 is ignored. */
static void order_dims(int n_dim, const int64_t *size, const int64_t (*all)[ATEN_DIMS], int n, int *perm)
{
	for (int i = 0; i < n_dim; i++)
		perm[i] = n_dim - 1 - i;
	for (int i = 1; i < n_dim; i++) {
		int at = i;
		for (int j = i - 1; j >= 0; j--) {
			int a = perm[j], b = perm[at], swap = 0;
			for (int k = 0; k < n && !swap; k++) {
				int64_t x = all[k][a], y = all[k][b];
				if (!x || !y)
					continue;
				swap = x < y ? -1 : x > y ? 1 : size[a] > size[b] ? 1 : 0;
			}
			if (swap < 0)
				break;
			if (swap > 0) {
				perm[j] = b;
				perm[at] = a;
				at = j;
			}
		}
	}
}

static void dense_strides(int n_dim, const int64_t *size, const int *perm, int64_t *stride)
{
	int64_t n = 1;
	for (int i = 0; i < n_dim; i++) {
		stride[perm[i]] = n;
		n = size_times(n, size[perm[i]] > 1 ? size[perm[i]] : 1);
	}
}

/* aten/src/ATen/native/TensorFactories.cpp, empty_like; infer_dense_strides of ExpandUtils.cpp. */
struct aten_tensor *aten_like(const struct aten_tensor *t, int dtype)
{
	int64_t stride[1][ATEN_DIMS], dense[ATEN_DIMS];
	int perm[ATEN_DIMS];
	if (aten_is_dense(t))
		return aten_new(dtype, t->n_dim, t->size, t->stride);
	memcpy(stride[0], t->stride, sizeof(stride[0]));
	order_dims(t->n_dim, t->size, stride, 1, perm);
	dense_strides(t->n_dim, t->size, perm, dense);
	return aten_new(dtype, t->n_dim, t->size, dense);
}

static int broadcast_into(const struct aten_tensor *t, int n_dim, int64_t *size)
{
	if (t->n_dim > n_dim) {
		memmove(size + t->n_dim - n_dim, size, (size_t)n_dim * sizeof(*size));
		memcpy(size, t->size, (size_t)(t->n_dim - n_dim) * sizeof(*size));
		n_dim = t->n_dim;
	}
	for (int i = 0; i < t->n_dim; i++) {
		int64_t *have = &size[n_dim - t->n_dim + i], want = t->size[i];
		if (*have == 1)
			*have = want;
		else if (want != 1 && want != *have)
			aten_fail("sizes %lld and %lld do not match at dimension %d", (long long)*have, (long long)want,
				  n_dim - t->n_dim + i);
	}
	return n_dim;
}

int aten_broadcast(const struct aten_tensor *a, const struct aten_tensor *b, int64_t *size)
{
	memcpy(size, a->size, (size_t)a->n_dim * sizeof(*size));
	return broadcast_into(b, a->n_dim, size);
}

struct aten_tensor *aten_elementwise(int dtype, const struct aten_tensor *const *operand, int n)
{
	enum { MOST = 8 };
	int64_t size[ATEN_DIMS] = {0}, all[MOST][ATEN_DIMS] = {{0}}, stride[ATEN_DIMS];
	int perm[ATEN_DIMS], n_dim = 0;
	bool alike = true;
	if (n > MOST)
		aten_fail("%d operands", n);
	for (int k = 0; k < n; k++)
		n_dim = broadcast_into(operand[k], n_dim, size);
	for (int k = 0; k < n; k++) {
		const struct aten_tensor *t = operand[k];
		int shift = n_dim - t->n_dim;
		for (int i = 0; i < t->n_dim; i++)
			all[k][shift + i] = t->size[i] == 1 && size[shift + i] != 1 ? 0 : t->stride[i];
		/* fast_set_up(): all of one shape and one dense layout */
		alike = alike && !shift && !memcmp(t->size, size, (size_t)n_dim * sizeof(*size)) &&
			!memcmp(t->stride, operand[0]->stride, (size_t)n_dim * sizeof(*size));
	}
	if (alike && n && aten_is_dense(operand[0]))
		return aten_new(dtype, n_dim, size, aten_is_contiguous(operand[0]) ? NULL : operand[0]->stride);
	order_dims(n_dim, size, (const int64_t(*)[ATEN_DIMS])all, n, perm);
	dense_strides(n_dim, size, perm, stride);
	return aten_new(dtype, n_dim, size, stride);
}

struct aten_tensor *aten_contiguous(struct aten_tensor *t) { return aten_is_contiguous(t) ? t : aten_clone_contiguous(t); }

int aten_dim(const struct aten_tensor *t, int64_t dim)
{
	int64_t n = t->n_dim ? t->n_dim : 1;
	if (dim < -n || dim >= n)
		aten_fail("dimension %lld is out of range for a %dD tensor", (long long)dim, t->n_dim);
	return (int)(dim < 0 ? dim + n : dim);
}

/* ---- dtypes ---- */

bool aten_is_complex(int d) { return d == DTYPE_C32 || d == DTYPE_C64 || d == DTYPE_C128; }

bool aten_is_float(int d)
{
	return d == DTYPE_F16 || d == DTYPE_BF16 || d == DTYPE_F32 || d == DTYPE_F64 || (d >= DTYPE_F8E5M2 && d <= DTYPE_F8E4M3FNUZ) ||
	       d == DTYPE_F8E8M0FNU || d == DTYPE_F4E2M1FN_X2;
}

int aten_complex_of(int d) { return d == DTYPE_F64 ? DTYPE_C128 : d == DTYPE_F16 ? DTYPE_C32 : DTYPE_C64; }

int aten_real_of(int d) { return d == DTYPE_C128 ? DTYPE_F64 : d == DTYPE_C64 ? DTYPE_F32 : d == DTYPE_C32 ? DTYPE_F16 : d; }

/* Rank among those of its kind: the wider wins. */
static int width(int d)
{
	switch (d) {
	case DTYPE_BOOL: return 0;
	case DTYPE_U8:
	case DTYPE_I8: return 1;
	case DTYPE_I16:
	case DTYPE_U16: return 2;
	case DTYPE_I32:
	case DTYPE_U32: return 3;
	case DTYPE_I64:
	case DTYPE_U64: return 4;
	case DTYPE_F16:
	case DTYPE_BF16:
	case DTYPE_C32: return 2;
	case DTYPE_F32:
	case DTYPE_C64: return 3;
	case DTYPE_F64:
	case DTYPE_C128: return 4;
	default: return 1;
	}
}

static bool is_unsigned(int d) { return d == DTYPE_U8 || d == DTYPE_U16 || d == DTYPE_U32 || d == DTYPE_U64; }

/* c10/core/ScalarType.cpp, promoteTypes. */
int aten_promote(int a, int b)
{
	if (a == b)
		return a;
	if (aten_is_complex(a) || aten_is_complex(b)) {
		if (!aten_is_complex(a))
			return aten_promote(b, a);
		if (aten_is_float(b))
			b = aten_complex_of(b);
		return aten_is_complex(b) && width(b) > width(a) ? b : a;
	}
	if (aten_is_float(a) || aten_is_float(b)) {
		if (!aten_is_float(a))
			return b;
		if (!aten_is_float(b))
			return a;
		if (width(a) == width(b))
			return DTYPE_F32; /* float16 with bfloat16, two kinds of float8 */
		return width(a) > width(b) ? a : b;
	}
	if (a == DTYPE_BOOL || b == DTYPE_BOOL)
		return a == DTYPE_BOOL ? b : a;
	if (is_unsigned(a) == is_unsigned(b))
		return width(a) > width(b) ? a : b;
	int u = is_unsigned(a) ? a : b, s = is_unsigned(a) ? b : a;
	if (u != DTYPE_U8)
		aten_fail("%s and %s have no common dtype", dtype_info(a)->name, dtype_info(b)->name);
	return width(s) > 1 ? s : DTYPE_I16;
}

static int kind(int d) { return aten_is_complex(d) ? 3 : aten_is_float(d) ? 2 : d == DTYPE_BOOL ? 0 : 1; }

/* aten/src/ATen/native/TypeProperties.cpp, combine_categories: a lower category counts only if of a higher kind. */
static int combine(int higher, int lower)
{
	if (higher == DTYPE_NONE || lower == DTYPE_NONE)
		return higher == DTYPE_NONE ? lower : higher;
	if (kind(lower) <= kind(higher))
		return higher;
	return kind(higher) == 2 ? aten_complex_of(higher) : lower;
}

int aten_result_type_of(const struct aten_tensor *const *t, int n)
{
	int of[3] = {DTYPE_NONE, DTYPE_NONE, DTYPE_NONE}; /* with dims, without, numbers */
	for (int k = 0; k < n; k++) {
		int dtype = t[k]->dtype, *to = &of[t[k]->n_dim ? 0 : t[k]->wrapped ? 2 : 1];
		if (t[k]->wrapped && kind(dtype) >= 2)
			dtype = kind(dtype) == 3 ? aten_complex_of(aten_default_dtype()) : aten_default_dtype();
		*to = *to == DTYPE_NONE ? dtype : aten_promote(*to, dtype);
	}
	return combine(of[0], combine(of[1], of[2]));
}
