/* Runs the model once, and parses its complaint. Entry points: torch 2.13, torch/csrc/inductor/aoti_runtime/interface.h; texts:
 * torch/_inductor/codegen/cpp_wrapper_cpu.py (check_input_N, bounds of unbacked symbols) and aoti_runtime/utils.h (assert_size_stride). */
#include "model/binprobe/binprobe_child.h"

#define MAX_TENSORS 65536

typedef int32_t create_with_device(void **, size_t, const char *, const char *);
typedef int32_t create_plain(void **, size_t, bool, const char *);
typedef int32_t run_function(void *, struct fake **, size_t, struct fake **, size_t, void *, void *);
typedef int32_t count_function(void *, size_t *);
typedef int32_t text_function(void *, size_t, const char **);
typedef int32_t number_function(void *, size_t, int32_t *);
typedef int32_t size_function(void *, size_t, size_t *);
typedef int32_t flag_function(void *, size_t, bool *);
typedef int32_t spec_function(void *, const char **, const char **);
typedef int32_t blob_function(void *, const uint8_t *);
typedef int32_t error_function(const char **);
/* torch/csrc/inductor/aoti_runtime/interface.h; 2.13 has it, too */
struct weight_pair {
	const char *name;
	struct fake *handle;
};
typedef int32_t pairs_function(void *, const struct weight_pair *, size_t, bool inactive, bool all);

#define ENTRY(type, name) ((type *)image_symbol(&world->im, name))
#define CONTAINER "AOTInductorModelContainer"

static const char *last_error(void)
{
	error_function *f = ENTRY(error_function, "AOTInductorGetLastError");
	const char *text = NULL;
	if (f && !f(&text) && text && *text)
		return text;
	return world->thrown;
}

static const char *probe_text(const char *entry, size_t i)
{
	text_function *f = ENTRY(text_function, entry);
	const char *text = NULL;
	return f && !f(world->container, i, &text) && text ? text : "";
}

const char *model_input_name(uint32_t i) { return probe_text(CONTAINER "GetInputName", i); }
const char *model_output_name(uint32_t i) { return probe_text(CONTAINER "GetOutputName", i); }

bool model_specs(const char **in, const char **out)
{
	spec_function *f = ENTRY(spec_function, CONTAINER "GetCallSpec");
	*in = *out = NULL;
	return f && !f(world->container, in, out) && *in && *out;
}

static int probe_count(const char *entry, uint32_t max, uint32_t *out, struct err *err)
{
	count_function *f = ENTRY(count_function, entry);
	size_t n = 0;
	if (f && f(world->container, &n))
		return err_set(err, EXIT_INPUT, "the model fails in %s: %.300s", entry, last_error());
	if (!f)
		return err_set(err, EXIT_INPUT, "not a compiled model: it exports no %s", entry);
	if (n > max)
		return err_set(err, EXIT_INPUT, "invalid model: %s returned %zu", entry, n);
	*out = (uint32_t)n;
	return 0;
}

static void take_constants(void)
{
	number_function *dtype = ENTRY(number_function, CONTAINER "GetConstantDtype");
	number_function *type = ENTRY(number_function, CONTAINER "GetConstantType");
	flag_function *folded = ENTRY(flag_function, CONTAINER "GetConstantFromFolded");
	size_function *bytes = ENTRY(size_function, CONTAINER "GetConstantDataSize");
	uint32_t blob = 0;
	world->constant = xcalloc((size_t)world->n_constants + 1, sizeof(*world->constant));
	for (uint32_t i = 0; i < world->n_constants; i++) {
		struct constant *k = &world->constant[i];
		int32_t n = 0;
		size_t size = 0;
		k->name = probe_text(CONTAINER "GetConstantName", i);
		k->fqn = probe_text(CONTAINER "GetConstantOriginalFQN", i);
		k->dtype = dtype && !dtype(world->container, i, &n) ? n : DTYPE_NONE;
		k->type = type && !type(world->container, i, &n) ? n : CONSTANT_UNKNOWN;
		if (folded)
			folded(world->container, i, &k->from_folded);
		k->bytes = bytes && !bytes(world->container, i, &size) ? size : 0;
		/* Tensors of constants were created in order, without those from folding. */
		if (!k->from_folded && blob < world->n_blobs)
			k->fake = world->blob[blob++];
		if (k->fake && k->dtype == DTYPE_NONE)
			k->dtype = k->fake->dtype;
		if (k->fake && !bytes)
			k->bytes = fake_extent(k->fake) == UNKNOWN ? 0 : (uint64_t)fake_extent(k->fake);
	}
}

static void name_constants(void)
{
	for (uint32_t i = 0; i < world->n_constants; i++)
		if (world->constant[i].fake)
			world->constant[i].fake->constant = i + 1;
}

static void start_shapes(void)
{
	world->input = xcalloc((size_t)world->n_inputs + 1, sizeof(*world->input));
	for (uint32_t i = 0; i < world->n_inputs; i++)
		world->input[i].shape.n_dim = -1;
	world->run.output = xcalloc((size_t)world->n_outputs + 1, sizeof(*world->run.output));
}

static int make_container(const char *device, struct err *err)
{
	create_with_device *with = ENTRY(create_with_device, CONTAINER "CreateWithDevice");
	create_plain *plain = ENTRY(create_plain, CONTAINER "Create");
	if (!with && !plain)
		return err_set(err, EXIT_INPUT, "not a compiled model: it exports no " CONTAINER "Create");
	int rc = with ? with(&world->container, 1, device, NULL) : plain(&world->container, 1, !strcmp(device, "cpu"), NULL);
	if (rc || !world->container)
		return err_set(err, EXIT_INPUT, "the model could not be created: %.500s", last_error());
	return 0;
}

/* Weights in a separate file: zeros replace them. */
static int give_weights(struct err *err)
{
	blob_function *f = ENTRY(blob_function, "AOTInductorModelUpdateConstantsFromBlob");
	uint64_t size = world->job->o->blob_size;
	if (!f || !size)
		return 0;
	uint8_t *zeros = world_zeros(size);
	if (!zeros)
		return err_set(err, EXIT_ENVIRON, "no memory for %llu bytes of weights", (unsigned long long)size);
	return f(world->container, zeros) ? err_set(err, EXIT_INPUT, "the model refuses weights: %.300s", last_error()) : 0;
}

/* A library without weights (aot_inductor.package_constants_in_so off): without tensors for them, the program's first call fails. */
static void give_constants(void)
{
	pairs_function *f = ENTRY(pairs_function, CONTAINER "UpdateUserManagedConstantBufferPairs");
	struct weight_pair *pair = arena_alloc(&world->arena, ((size_t)world->n_constants + 1) * sizeof(*pair));
	size_t n = 0;
	for (uint32_t i = 0; i < world->n_constants; i++) {
		struct constant *k = &world->constant[i];
		if (k->fake || k->from_folded)
			continue;
		world->weightless = !f;
		if (!f)
			break;
		k->given = true;
		k->fake = fake_constant(i);
		pair[n++] = (struct weight_pair){k->name, k->fake};
	}
	name_constants();
	if (n && f(world->container, pair, n, false, false))
		world_note("weights are not in the library, and it rejects others: %.300s", last_error());
}

int model_create(struct err *err)
{
	const char *device = world->job->o->device ? world->job->o->device : "cpu";
	int index;
	if (device_parse(slice_str(device), &world->device, &index) < 0)
		return err_set(err, EXIT_INPUT, "the model is compiled for '%.40s', an unknown device", device);
	world->creating = true;
	if (make_container(device, err) < 0 || give_weights(err) < 0)
		return -1;
	if (probe_count(CONTAINER "GetNumInputs", MAX_TENSORS, &world->n_inputs, err) < 0 ||
	    probe_count(CONTAINER "GetNumOutputs", MAX_TENSORS, &world->n_outputs, err) < 0)
		return -1;
	world->n_constants = world->n_blobs;
	if (ENTRY(count_function, CONTAINER "GetNumConstants") &&
	    probe_count(CONTAINER "GetNumConstants", 1u << 22, &world->n_constants, err) < 0)
		return -1;
	take_constants();
	give_constants();
	fake_settle_kept();
	world->creating = false;
	start_shapes();
	return 0;
}

void model_run(struct complaint *c)
{
	run_function *f = ENTRY(run_function, CONTAINER "RunSingleThreaded");
	if (!f)
		f = ENTRY(run_function, CONTAINER "Run");
	run_reset();
	*c = (struct complaint){.kind = SAID_OTHER};
	if (!f) {
		snprintf(c->text, sizeof(c->text), "it exports no " CONTAINER "Run");
		return;
	}
	struct fake **in = arena_alloc(&world->run.arena, ((size_t)world->n_inputs + 1) * sizeof(*in));
	for (uint32_t i = 0; i < world->n_inputs; i++)
		in[i] = fake_input(i);
	memset(world->run.output, 0, ((size_t)world->n_outputs + 1) * sizeof(*world->run.output));
	world->thrown[0] = 0;
	if (f(world->container, in, world->n_inputs, world->run.output, world->n_outputs, NULL, NULL))
		complaint_parse(slice_str(last_error()), c);
	else
		c->kind = SAID_NOTHING;
}

/* ---- complaints ---- */

static bool take_text(struct slice *s, const char *text)
{
	if (!slice_starts(*s, text))
		return false;
	*s = slice_of(s->p + strlen(text), s->n - strlen(text));
	return true;
}

static bool take_number(struct slice *s, int64_t *out)
{
	bool minus = take_text(s, "-");
	size_t n = 0;
	while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
		n++;
	uint64_t v;
	if (!slice_u64(slice_of(s->p, n), &v) || v > (uint64_t)INT64_MAX + minus)
		return false;
	*out = minus ? (int64_t)-v : (int64_t)v;
	*s = slice_of(s->p + n, s->n - n);
	return true;
}

/* input_handles[0]: unmatched dim value at 1, expected: 8, but got: -7 */
static bool parse_input(struct slice s, struct complaint *c)
{
	static const struct {
		const char *text, *then;
		enum complaint_kind kind;
	} forms[] = {
	    {"unmatched dim value at ", ", expected: ", SAID_SIZE},
	    {"dim value is too small at ", ", expected it to be >= ", SAID_SMALL},
	    {"dim value is too large at ", ", expected to be <= ", SAID_LARGE},
	    {"unmatched stride value at ", ", expected: ", SAID_STRIDE},
	};
	int64_t n;
	if (!take_text(&s, "input_handles[") || !take_number(&s, &n) || n < 0 || n >= world->n_inputs || !take_text(&s, "]: "))
		return false;
	c->input = (uint32_t)n;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (take_text(&s, forms[i].text)) {
			c->kind = forms[i].kind;
			if (!take_number(&s, &n) || n < 0 || n >= TENSOR_MAX_DIMS || !take_text(&s, forms[i].then))
				return false;
			c->dim = (int)n;
			return take_number(&s, &c->expected);
		}
	if (take_text(&s, "unmatched dtype, expected: ")) {
		c->kind = SAID_DTYPE;
		return take_number(&s, &c->expected);
	}
	if (!take_text(&s, "unmatched device type, expected: "))
		return false;
	/* The number is printed twice, as a value and in the literal that follows: "11(cuda)". The name is reliable. */
	int64_t twice;
	if (!take_number(&s, &twice) || !take_text(&s, "("))
		return false;
	size_t k = 0;
	while (k < s.n && s.p[k] != ')')
		k++;
	c->kind = SAID_DEVICE;
	c->expected = device_by_name(slice_of(s.p, k));
	return c->expected >= 0;
}

/* Expected u0 <= 48 but received 97; Expected u0 <= 48 to be True but received 97 */
static bool parse_bound(struct slice s, struct complaint *c)
{
	if (!take_text(&s, "Expected "))
		return false;
	const char *space = slice_find(s, " ");
	size_t n = space ? (size_t)(space - s.p) : 0;
	if (!n || n >= sizeof(c->symbol))
		return false;
	memcpy(c->symbol, s.p, n);
	s = slice_of(s.p + n, s.n - n);
	if (take_text(&s, " <= "))
		c->upper = true;
	else if (!take_text(&s, " >= "))
		return false;
	if (!take_number(&s, &c->expected))
		return false;
	take_text(&s, " to be True");
	c->kind = SAID_BOUND;
	return take_text(&s, " but received ") && take_number(&s, &c->received);
}

/* expected dtype torch.int64 but got dtype code 6; or a number, if the caller gave no name */
static bool parse_type(struct slice s, struct complaint *c)
{
	if (!take_text(&s, "expected dtype "))
		return false;
	const char *space = slice_find(s, " but got ");
	struct slice name = slice_of(s.p, space ? (size_t)(space - s.p) : 0);
	c->kind = SAID_TYPE;
	c->expected = dtype_by_name(name);
	return c->expected != DTYPE_NONE || (take_number(&s, &c->expected) && dtype_info((int)c->expected));
}

void complaint_parse(struct slice text, struct complaint *c)
{
	*c = (struct complaint){.kind = SAID_OTHER};
	snprintf(c->text, sizeof(c->text), "%.*s", SLN(text, 4096));
	struct complaint try = *c;
	struct slice s = text;
	if (parse_input(s, &try) || (try = *c, parse_bound(s, &try)) || (try = *c, parse_type(s, &try))) {
		*c = try;
	} else if (take_text(&s, "expected ndim ")) {
		if (take_number(&s, &c->expected) && c->expected >= 0 && c->expected <= TENSOR_MAX_DIMS)
			c->kind = SAID_RANK;
	} else if (slice_starts(s, "expected size ")) {
		c->kind = SAID_SHAPE;
	}
}

bool complaint_next_dim(struct slice *rest, int *dim, int64_t *size, int64_t *stride)
{
	int64_t had, d;
	take_text(rest, "; ");
	if (!take_text(rest, "expected size ") || !take_number(rest, &had) || !take_text(rest, "==") || !take_number(rest, size) ||
	    !take_text(rest, ", stride ") || !take_number(rest, &had) || !take_text(rest, "==") || !take_number(rest, stride) ||
	    !take_text(rest, " at dim=") || !take_number(rest, &d) || d < 0 || d >= TENSOR_MAX_DIMS)
		return false;
	*dim = (int)d;
	return true;
}
