/* torch's C functions on tensors that have sizes, strides and an address, but no memory (torch 2.13,
 * torch/csrc/inductor/aoti_torch/c/shim.h). Addresses are not canonical: dereferencing one raises SIGSEGV.
 *
 * A tensor of the program is a value of this run; a handle to it is a struct fake. Several handles may refer to one value. */
#include "model/binprobe/binprobe_child.h"

#define FIRST_ADDRESS 0x4000000000000000ull
#define KEPT_ADDRESS 0x5000000000000000ull
#define ADDRESS_STEP (1ull << 36)

struct world *world;

void world_note(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	struct buf b = {0};
	buf_addvf(&b, fmt, ap);
	va_end(ap);
	buf_addc(&b, '\n');
	/* Once each: runs repeat. */
	if (world->notes.len < 1u << 16 && !(world->notes.len && strstr(buf_str(&world->notes), buf_str(&b))))
		buf_add(&world->notes, b.p, b.len);
	buf_release(&b);
}

struct fake *fake_of(const void *handle)
{
	/* Handles come from the model: NULL, or ours. Anything else only crashes the child. */
	struct fake *f = (struct fake *)(uintptr_t)handle;
	return f && f->magic == FAKE_MAGIC ? f : NULL;
}

/* Before the first run: tensors made then may be kept. */
static bool keeping(void) { return world->creating || world->folding; }
static struct arena *arena(void) { return keeping() ? &world->arena : &world->run.arena; }

static uint64_t new_address(void)
{
	return keeping() ? KEPT_ADDRESS + world->kept_address++ * ADDRESS_STEP : FIRST_ADDRESS + world->next_address++ * ADDRESS_STEP;
}

static struct fake *alloc_fake(void)
{
	struct fake *f = arena_alloc(arena(), sizeof(*f));
	if (keeping())
		PUSH_TO(world->kept, world->n_kept, world->cap_kept) = f;
	return f;
}

void fake_settle_kept(void)
{
	for (uint32_t i = 0; i < world->n_kept; i++) {
		struct fake *f = world->kept[i];
		f->value = f->constant ? world->n_inputs + f->constant - 1 : NONE;
		if (!f->shape)
			continue;
		/* A tensor made by an op of constant folding: its shape's slot is reused for an op of the program. */
		int n = f->shape->n_dim < 0 ? 0 : f->shape->n_dim;
		f->n_dim = n;
		f->size = arena_alloc(&world->arena, 2 * (size_t)(n + 1) * sizeof(*f->size));
		f->stride = f->size + n;
		memcpy(f->size, f->shape->size, (size_t)n * sizeof(*f->size));
		memcpy(f->stride, f->shape->stride, (size_t)n * sizeof(*f->stride));
		f->shape = NULL;
	}
	world->n_made = world->n_items = 0;
}

static uint32_t new_value(enum value_kind kind, uint32_t index, uint32_t storage, uint32_t base)
{
	struct run *r = &world->run;
	PUSH_TO(r->value, r->n_values, r->cap_values) =
	    (struct run_value){.kind = kind, .index = index, .storage = storage, .base = base, .dtype_sure = true};
	return r->n_values - 1;
}

/* Memory for the next value. */
static uint32_t new_storage(void)
{
	struct run *r = &world->run;
	PUSH_TO(r->storage, r->n_storages, r->cap_storages) =
	    (struct run_storage){.owner = r->n_values, .born = r->in_call ? r->n_calls - 1 : r->n_calls, .dies = NONE, .refs = 1};
	return r->n_storages - 1;
}

static struct fake *new_fake(int n_dim, const int64_t *size, const int64_t *stride, int dtype, int device, int device_index)
{
	struct arena *a = arena();
	struct fake *f = alloc_fake();
	*f = (struct fake){.magic = FAKE_MAGIC,
			   .value = NONE,
			   .n_dim = n_dim,
			   .dtype = dtype,
			   .device = device,
			   .device_index = device_index,
			   .defined = true};
	if (n_dim > 0) {
		f->size = arena_alloc(a, (size_t)n_dim * sizeof(*f->size));
		f->stride = arena_alloc(a, (size_t)n_dim * sizeof(*f->stride));
		memcpy(f->size, size, (size_t)n_dim * sizeof(*f->size));
		memcpy(f->stride, stride, (size_t)n_dim * sizeof(*f->stride));
	}
	return f;
}

static struct fake *copy_fake(const struct fake *from)
{
	struct fake *f = alloc_fake();
	*f = *from;
	return f;
}

int fake_rank(const struct fake *f) { return f->shape ? f->shape->n_dim : f->n_dim; }
int64_t *fake_sizes(const struct fake *f) { return f->shape ? f->shape->size : f->size; }
int64_t *fake_strides(const struct fake *f) { return f->shape ? f->shape->stride : f->stride; }

static int bytes_of(int dtype)
{
	const struct dtype_info *d = dtype_info(dtype);
	return d ? d->bytes : 1;
}

int64_t fake_extent(const struct fake *f)
{
	const int64_t *size = fake_sizes(f), *stride = fake_strides(f);
	int64_t last = 0;
	int n = fake_rank(f);
	if (n < 0)
		return UNKNOWN;
	for (int i = 0; i < n; i++) {
		int64_t part;
		if (size[i] == UNKNOWN || (size[i] > 1 && stride[i] == UNKNOWN))
			return UNKNOWN;
		if (size[i] <= 0)
			return 0;
		if (size[i] > 1 &&
		    (__builtin_mul_overflow(size[i] - 1, stride[i], &part) || part < 0 || __builtin_add_overflow(last, part, &last)))
			return UNKNOWN;
	}
	int64_t bytes;
	if (__builtin_mul_overflow(last + 1, (int64_t)bytes_of(f->dtype), &bytes))
		return UNKNOWN;
	return bytes;
}

/* A tensor with its own memory. */
static struct fake *new_buffer(struct fake *f)
{
	f->address = new_address();
	f->value = new_value(VALUE_BUFFER, 0, new_storage(), NONE);
	world->run.value[f->value].fake = f;
	return f;
}

/* The value of a handle in this run. Tensors made by folding are distinguished by type and size only. */
static uint32_t fake_value(struct fake *f)
{
	for (uint32_t i = 0; f->value == NONE && i < world->n_constants; i++) {
		struct constant *k = &world->constant[i];
		if (k->from_folded && !k->fake && k->dtype == f->dtype && (int64_t)k->bytes == fake_extent(f)) {
			k->fake = f;
			f->value = world->n_inputs + i;
			f->constant = i + 1;
		}
	}
	return f->value;
}

void run_reset(void)
{
	struct run *r = &world->run;
	arena_release(&r->arena);
	r->arena = (struct arena){0};
	r->n_values = r->n_storages = r->n_calls = r->n_args = r->n_fetched = 0;
	r->n_made = r->n_items = r->n_asserted = r->n_asked = 0;
	r->in_call = r->overflow = false;
	world->asked = NULL;
	world->next_address = 0;
	for (uint32_t i = 0; i < world->n_inputs; i++)
		new_value(VALUE_INPUT, i, NONE, NONE);
	for (uint32_t i = 0; i < world->n_constants; i++) {
		new_value(VALUE_CONSTANT, i, NONE, NONE);
		r->value[world->n_inputs + i].fake = world->constant[i].fake;
	}
}

struct fake *fake_input(uint32_t i)
{
	struct model_input *in = &world->input[i];
	struct fake *f = new_fake(0, NULL, NULL, in->dtype, in->device, in->device == DEVICE_CPU ? -1 : 0);
	f->shape = &in->shape;
	f->address = new_address();
	f->value = i;
	world->run.value[i].fake = f;
	in->asserted = 0;
	return f;
}

struct fake *fake_constant(uint32_t i)
{
	const struct constant *k = &world->constant[i];
	int64_t n = (int64_t)(k->bytes / (uint64_t)bytes_of(k->dtype)), one = 1;
	struct fake *f = new_fake(1, &n, &one, k->dtype, world->device, world->device == DEVICE_CPU ? -1 : 0);
	f->address = new_address();
	return f;
}

/* Sizes of an op's new result, until an assertion reveals them: numbers that occur nowhere else. */
static struct made *next_made(uint32_t op, int ret)
{
	uint32_t k = world->run.n_made++;
	if (k == world->n_made)
		PUSH_TO(world->made, world->n_made, world->cap_made) = NULL;
	struct made *m = world->made[k];
	if (m && m->op == op && m->ret == ret)
		return m;
	m = world->made[k] = arena_alloc(&world->arena, sizeof(*m));
	*m = (struct made){.op = op, .ret = ret, .shape.n_dim = -1, .shape.dtype = DTYPE_NONE};
	for (int d = 0; d < TENSOR_MAX_DIMS; d++) {
		m->shape.size[d] = 1000003 + ((int64_t)k * TENSOR_MAX_DIMS + d) * 2;
		m->shape.stride[d] = UNKNOWN;
	}
	return m;
}

void fake_become_made(struct fake *f, uint32_t op, int ret, bool sure)
{
	f->shape = &next_made(op, ret)->shape;
	if (f->shape->dtype != DTYPE_NONE) {
		f->dtype = f->shape->dtype;
		sure = true;
	}
	f->defined = true;
	new_buffer(f);
	world->run.value[f->value].dtype_sure = sure;
	world->run.value[f->value].written = true;
}

void fake_take_rule(struct fake *f, const struct ruled *r)
{
	struct shape *s = f->shape;
	if (s->overruled)
		return;
	s->ruled = true;
	s->n_dim = r->n_dim;
	for (int d = 0; d < r->n_dim; d++) {
		s->size[d] = r->size[d];
		s->size_state[d] = DIM_DERIVED;
		if (r->strided) {
			s->stride[d] = r->stride[d];
			s->stride_state[d] = DIM_DERIVED;
		}
	}
}

struct fake *fake_made(uint32_t op, int ret, int dtype, bool sure, int device, int device_index)
{
	struct fake *f = new_fake(0, NULL, NULL, dtype, device, device_index);
	fake_become_made(f, op, ret, sure);
	return f;
}

const struct asked *decided(uint64_t place)
{
	for (uint32_t i = 0; i < world->n_decisions; i++)
		if (world->decision[i].place == place)
			return &world->decision[i];
	return NULL;
}

int64_t item_next(uint64_t place)
{
	struct run *r = &world->run;
	uint32_t k = r->n_items++;
	if (k == world->n_items)
		PUSH_TO(world->item, world->n_items, world->cap_items) = (struct item){.place = 0};
	if (world->item[k].place != place) /* a different way through the program */
		world->item[k] = (struct item){.value = 3 + 2 * (int64_t)k, .place = place};
	const struct asked *d = decided(place);
	if (r->n_asked < ARRAY_LEN(r->asked))
		r->asked[r->n_asked++] = (struct asked){place, world->item[k].value, false};
	return d ? d->answer : world->item[k].value;
}

int layout_number(struct slice name)
{
	static const char *const names[] = {"strided",    "sparse_coo", "sparse_csr", "_mkldnn",
					    "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (slice_is(name, names[i]))
			return (int)i;
	return 0;
}

int memory_format_number(struct slice name)
{
	static const char *const names[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (slice_is(name, names[i]))
			return (int)i;
	return 0;
}

/* ---- what the model queries about a tensor ---- */

enum { OK = 0, FAILED = 1 };
typedef void handle;
#define FAKE(f, h) \
	struct fake *f = fake_of(h); \
	if (!f) \
	return FAILED

static int32_t get_data_ptr(handle *h, void **out)
{
	FAKE(f, h);
	struct run *r = &world->run;
	uint64_t p = f->address + (uint64_t)f->offset * (uint64_t)bytes_of(f->dtype);
	*out = (void *)(uintptr_t)p;
	if (fake_value(f) != NONE && r->n_fetched < 1u << 20)
		PUSH_TO(r->fetched, r->n_fetched, r->cap_fetched) = (struct fetched){p, f->value};
	return OK;
}

static int32_t get_dim(handle *h, int64_t *out)
{
	FAKE(f, h);
	world->asked = f;
	*out = fake_rank(f);
	world->run.n_fetched = 0; /* no call follows: an assertion */
	if (f->value < world->n_inputs && f->shape == &world->input[f->value].shape && !world->input[f->value].asserted)
		world->input[f->value].asserted = ++world->run.n_asserted;
	if (f->shape)
		f->shape->judged = true;
	return OK;
}

static int32_t get_numel(handle *h, int64_t *out)
{
	FAKE(f, h);
	int64_t n = 1;
	for (int i = 0; i < fake_rank(f); i++) {
		if (!fake_sizes(f)[i]) {
			n = 0;
			break;
		}
		/* Sizes on trial are huge or negative; only "no elements" makes a difference. */
		if (__builtin_mul_overflow(n, fake_sizes(f)[i], &n) || !n)
			n = INT64_MAX;
	}
	*out = n;
	return OK;
}

static int32_t get_size(handle *h, int64_t d, int64_t *out)
{
	FAKE(f, h);
	if (d < 0 || d >= (f->shape ? TENSOR_MAX_DIMS : f->n_dim))
		return FAILED;
	if (f->shape)
		f->shape->read[d] = true;
	*out = fake_sizes(f)[d];
	return OK;
}

static int32_t get_stride(handle *h, int64_t d, int64_t *out)
{
	FAKE(f, h);
	if (d < 0 || d >= (f->shape ? TENSOR_MAX_DIMS : f->n_dim))
		return FAILED;
	*out = fake_strides(f)[d];
	return OK;
}

struct shape *fake_made_shape(const struct fake *f)
{
	const struct run *r = &world->run;
	if (f->value < r->n_values && r->value[f->value].base < r->n_values)
		f = r->value[r->value[f->value].base].fake;
	return f && f->shape && f->value >= world->n_inputs ? f->shape : NULL;
}

/* The type of an operator's result is queried by an assertion (torch 2.15). An uncertain type must not match by chance: the
 * required one is then taken from the complaint. */
static int32_t get_dtype(handle *h, int32_t *out)
{
	FAKE(f, h);
	const struct run *r = &world->run;
	bool guessed = f->value < r->n_values && !r->value[f->value].dtype_sure && fake_made_shape(f);
	world->asked = f;
	world->run.n_fetched = 0; /* no call follows: an assertion, or check_input */
	*out = guessed ? DTYPE_NONE : f->dtype;
	return OK;
}

#define GETTER(name, type, expression) \
	static int32_t name(handle *h, type *out) \
	{ \
		FAKE(f, h); \
		*out = (expression); \
		return OK; \
	}
GETTER(get_sizes, int64_t *, fake_sizes(f))
GETTER(get_strides, int64_t *, fake_strides(f))
GETTER(get_device_type, int32_t, f->device)
GETTER(get_device_index, int32_t, f->device_index)
GETTER(get_layout, int32_t, f->layout)
GETTER(get_storage_offset, int64_t, f->offset)
GETTER(get_storage_size, int64_t, fake_extent(f) == UNKNOWN ? 0 : fake_extent(f))
GETTER(get_storage_numel, int64_t, fake_extent(f) == UNKNOWN ? 0 : fake_extent(f) / bytes_of(f->dtype))
GETTER(is_contiguous, bool, true)
GETTER(is_defined, bool, f->defined)

/* ---- creating and deleting tensors ---- */

static bool sizes_fine(int64_t n_dim) { return n_dim >= 0 && n_dim <= TENSOR_MAX_DIMS; }

static int32_t empty_strided(int64_t n_dim, const int64_t *size, const int64_t *stride, int32_t dtype, int32_t device, int32_t device_index,
			     handle **out)
{
	if (!sizes_fine(n_dim))
		return FAILED;
	*out = new_buffer(new_fake((int)n_dim, size, stride, dtype, device, device_index));
	return OK;
}

static struct fake *new_view(struct fake *of, int64_t n_dim, const int64_t *size, const int64_t *stride, int dtype)
{
	struct run *r = &world->run;
	struct fake *f = new_fake((int)n_dim, size, stride, dtype, of->device, of->device_index);
	uint32_t base = fake_value(of);
	f->address = of->address;
	if (base == NONE || base >= r->n_values)
		return f;
	struct run_value v = r->value[base];
	f->value = new_value(v.kind, v.index, v.storage, v.base == NONE ? base : v.base);
	r->value[f->value].fake = f;
	r->value[f->value].dtype_sure = v.dtype_sure;
	r->value[f->value].written = v.written;
	if (v.storage != NONE)
		r->storage[v.storage].refs++;
	return f;
}

static int32_t reinterpret_tensor(handle *h, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset, handle **out)
{
	FAKE(f, h);
	if (!sizes_fine(n_dim))
		return FAILED;
	struct fake *view = new_view(f, n_dim, size, stride, f->dtype);
	view->offset = f->offset + offset;
	*out = view;
	return OK;
}

/* aten/src/ATen/native/TensorConversions.cpp, view_dtype: elements of another size change the last dim. A view, not a call: as in the text
 * (model/cppwrapper/wrapper_call.c). */
static int32_t view_dtype(handle *h, int32_t dtype, handle **out)
{
	FAKE(f, h);
	const int64_t *size = fake_sizes(f), *stride = fake_strides(f), was = bytes_of(f->dtype), now = bytes_of(dtype);
	int64_t new_size[TENSOR_MAX_DIMS], new_stride[TENSOR_MAX_DIMS];
	int n = fake_rank(f); /* -1: unknown, and so is the view's */
	if (n > TENSOR_MAX_DIMS || now <= 0)
		return FAILED;
	if (!dtype_info(f->dtype) || (was != now && !n))
		n = -1;
	for (int d = 0; d < n; d++) {
		const bool last = d == n - 1;
		new_size[d] = last && size[d] != UNKNOWN ? size[d] * was / now : size[d];
		new_stride[d] = last || stride[d] == UNKNOWN ? stride[d] : stride[d] * was / now;
	}
	struct fake *view = new_view(f, n, new_size, new_stride, dtype);
	view->offset = f->offset * was / now;
	if (view->value != NONE) {
		world->run.value[view->value].base = NONE; /* of another type: a value of its own in that memory */
		world->run.value[view->value].dtype_sure = true;
	}
	*out = view;
	return OK;
}

static int32_t alloc_from_pool(handle *h, int64_t offset, int32_t dtype, int64_t n_dim, const int64_t *size, const int64_t *stride,
			       handle **out)
{
	FAKE(f, h);
	if (!sizes_fine(n_dim))
		return FAILED;
	struct fake *view = new_view(f, n_dim, size, stride, dtype);
	view->address += (uint64_t)offset;
	/* Not a view of the pool but a separate buffer in its memory. */
	if (view->value != NONE) {
		world->run.value[view->value].base = NONE;
		world->run.value[view->value].dtype_sure = true;
		world->run.value[view->value].written = false;
	}
	*out = view;
	return OK;
}

static int32_t create_from_blob(void *data, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset, int32_t dtype,
				int32_t device, int32_t device_index, handle **out)
{
	if (!sizes_fine(n_dim))
		return FAILED;
	struct fake *f = new_fake((int)n_dim, size, stride, dtype, device, device_index);
	f->address = (uint64_t)(uintptr_t)data;
	f->offset = offset;
	if (world->creating) {
		PUSH_TO(world->blob, world->n_blobs, world->cap_blobs) = f;
	} else if (!world->folding) {
		f->value = new_value(VALUE_BUFFER, 0, new_storage(), NONE);
		world->run.value[f->value].fake = f;
	}
	*out = f;
	return OK;
}

static int32_t create_from_blob_v2(void *data, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset, int32_t dtype,
				   int32_t device, int32_t device_index, handle **out, int32_t layout, const uint8_t *metadata,
				   int64_t metadata_size)
{
	(void)metadata, (void)metadata_size;
	int rc = create_from_blob(data, n_dim, size, stride, offset, dtype, device, device_index, out);
	if (!rc)
		fake_of(*out)->layout = layout;
	return rc;
}

static int32_t new_tensor_handle(handle *h, handle **out)
{
	FAKE(f, h);
	struct run *r = &world->run;
	if (f->value < r->n_values && r->value[f->value].storage != NONE)
		r->storage[r->value[f->value].storage].refs++;
	*out = copy_fake(f);
	return OK;
}

static int32_t new_uninitialized(handle **out)
{
	struct fake *f = new_fake(0, NULL, NULL, DTYPE_F32, world->device, world->device == DEVICE_CPU ? -1 : 0);
	f->defined = false;
	*out = f;
	return OK;
}

static int32_t clone_as(const char *name, handle *h, handle **out)
{
	FAKE(f, h);
	int n = fake_rank(f) < 0 ? 0 : fake_rank(f);
	struct fake *c = new_fake(n, fake_sizes(f), fake_strides(f), f->dtype, f->device, f->device_index);
	/* A copy that updates constants is kept; during a run it is an operator. */
	if (keeping()) {
		c->address = new_address();
	} else {
		call_begin(CALL_OP, name);
		new_buffer(c);
		call_arg(ARG_IN, f);
		call_arg(ARG_OUT, c);
		call_end();
	}
	*out = c;
	return OK;
}

static int32_t clone(handle *h, handle **out) { return clone_as("aoti_torch_clone", h, out); }
static int32_t clone_strided(handle *h, handle **out) { return clone_as("aoti_torch_clone_preserve_strides", h, out); }
static int32_t assign_tensors_out(handle *src, handle **out) { return new_tensor_handle(src, out); }

static int32_t delete_tensor(handle *h)
{
	FAKE(f, h);
	struct run *r = &world->run;
	f->magic = 0;
	if (f->value >= r->n_values || r->value[f->value].storage == NONE)
		return OK;
	struct run_storage *s = &r->storage[r->value[f->value].storage];
	if (s->refs && !--s->refs)
		s->dies = r->n_calls > s->born ? r->n_calls - 1 : s->born;
	return OK;
}

static size_t element_size(int32_t dtype) { return (size_t)bytes_of(dtype); }

static int32_t current_device_index(int32_t *out)
{
	*out = 0;
	return OK;
}

static bool grad_enabled(void) { return false; }
static int32_t nothing(void) { return OK; }
static uint64_t abi_version(void) { return 2ull << 56 | 13ull << 48; }

void *function_named(const struct named_function *table, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, table[i].name))
			return table[i].function;
	return NULL;
}

void *fake_function(const char *name)
{
	static const struct named_function table[] = {
	    {"get_data_ptr", get_data_ptr},
	    {"get_dim", get_dim},
	    {"get_numel", get_numel},
	    {"get_sizes", get_sizes},
	    {"get_size", get_size},
	    {"get_strides", get_strides},
	    {"get_stride", get_stride},
	    {"get_dtype", get_dtype},
	    {"get_device_type", get_device_type},
	    {"get_device_index", get_device_index},
	    {"get_layout", get_layout},
	    {"get_storage_offset", get_storage_offset},
	    {"get_storage_size", get_storage_size},
	    {"get_storage_numel", get_storage_numel},
	    {"is_contiguous", is_contiguous},
	    {"is_defined", is_defined},
	    {"empty_strided", empty_strided},
	    {"empty_strided_pinned", empty_strided},
	    {"_reinterpret_tensor", reinterpret_tensor},
	    {"_alloc_from_pool", alloc_from_pool},
	    {"view_dtype", view_dtype},
	    {"cpu_view_dtype", view_dtype},
	    {"cuda_view_dtype", view_dtype},
	    {"create_tensor_from_blob", create_from_blob},
	    {"create_tensor_from_blob_v2", create_from_blob_v2},
	    {"new_tensor_handle", new_tensor_handle},
	    {"new_uninitialized_tensor", new_uninitialized},
	    {"clone", clone},
	    {"clone_preserve_strides", clone_strided},
	    {"assign_tensors_out", assign_tensors_out},
	    {"delete_tensor_object", delete_tensor},
	    {"dtype_element_size", element_size},
	    {"get_current_device_index", current_device_index},
	    {"grad_mode_is_enabled", grad_enabled},
	    {"grad_mode_set_enabled", nothing},
	    {"abi_version", abi_version},
	    {"check", nothing}, /* of values, which do not exist */
	    {"warn", nothing},
	    {"check_inf_and_nan", nothing},
	    {"print_tensor_handle", nothing},
	    {"save_tensor_handle", nothing},
	    {"delete_c10_value_object", nothing},
	    {"create_device_guard", nothing},
	    {"delete_device_guard", nothing},
	    {"device_guard_set_index", nothing},
	    {"create_cuda_guard", nothing},
	    {"delete_cuda_guard", nothing},
	    {"cuda_guard_set_index", nothing},
	    {"get_current_cuda_stream", nothing},
	    {"cuda_caching_allocator_raw_alloc", nothing},
	    {"cuda_caching_allocator_raw_delete", nothing},
	};
	static const char prefix[] = "aoti_torch_";
	/* Functions that report calls and their arguments to a profiler (cpp.enable_kernel_profile; shim.h has one for each kind of
	 * argument). */
	if (!strncmp(name, "aoti_record_function_", 21) || slice_ends(slice_str(name), "_to_ivalue"))
		return (void *)nothing;
	if (strncmp(name, prefix, sizeof(prefix) - 1))
		return NULL;
	return function_named(table, ARRAY_LEN(table), name + sizeof(prefix) - 1);
}

void call_begin(enum call_kind kind, const char *name)
{
	struct run *r = &world->run;
	if (r->n_calls >= 1u << 20)
		r->overflow = true;
	r->n_calls -= r->overflow && r->n_calls ? 1 : 0;
	PUSH_TO(r->call, r->n_calls, r->cap_calls) = (struct run_call){kind, name, r->n_args, 0, world->stream};
	r->in_call = true;
}

void call_value(enum arg_role role, uint32_t v)
{
	struct run *r = &world->run;
	if (v < r->n_values && r->n_args < 1u << 24) {
		r->value[v].referenced = true;
		r->value[v].written |= role != ARG_IN;
		/* A write through a view is a write to its base buffer. */
		if (role != ARG_IN && r->value[v].base < r->n_values)
			r->value[r->value[v].base].written = true;
		PUSH_TO(r->arg, r->n_args, r->cap_args) = (struct run_arg){role, v};
		r->call[r->n_calls - 1].n_args++;
	}
}

void call_arg(enum arg_role role, struct fake *f)
{
	struct run *r = &world->run;
	if (!f || fake_value(f) >= r->n_values)
		return;
	/* reinterpret_tensor_wrapper(buf0, ...) in a call is buf0 with another shape; it has no name. */
	uint32_t v = f->value;
	if (r->value[v].base != NONE && !r->value[v].referenced)
		v = r->value[v].base;
	call_value(role, v);
}

void call_end(void)
{
	world->run.n_fetched = 0;
	world->run.in_call = false;
}
