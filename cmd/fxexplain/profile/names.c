/* names.c - classifies events by their names. */
#include "profile/profile_part.h"

const char *const profile_spent_name[SPENT_PARTS] = {
    [SPENT_KERNEL] = "fused kernels",
    [SPENT_EXTERN] = "ops called by compiled code",
    [SPENT_GENERATED] = "inside graphs, in no event",
    [SPENT_EAGER] = "eager ops",
    [SPENT_AUTOGRAD] = "autograd engine",
    [SPENT_DEVICE] = "device calls (launch, copy, wait)",
    [SPENT_GUARDS] = "guards (cache lookup)",
    [SPENT_DYNAMO] = "around graphs (Dynamo, AOTAutograd)",
    [SPENT_COMPILE] = "compiling",
    [SPENT_PYTHON] = "Python, nothing running",
    [SPENT_WAIT] = "while other threads run ops",
};

static const char region[] = "Torch-Compiled Region";

/* Length of a "graph_12_" prefix; 0 if there is none. */
static size_t graph_prefix(struct slice s)
{
	if (!slice_starts(s, "graph_"))
		return 0;
	size_t i = 6;
	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return i > 6 && i < s.n && s.p[i] == '_' ? i + 1 : 0;
}

struct slice profile_kernel_name(struct slice s)
{
	const size_t skip = graph_prefix(s);
	return slice_of(s.p + skip, s.n - skip);
}

static bool is_compile(struct slice s)
{
	static const char *const names[] = {"dynamo",          "entire_frame_compile", "entire_backward_compile", "_compile.compile_inner",
					    "backend_compile", "inductor_compile",     "async_compile.wait"};
	return slice_any(s, names, slice_is) || slice_ends(s, " (dynamo_timed)");
}

static enum profile_kind op_kind(struct slice s)
{
	const struct slice kernel = profile_kernel_name(s);
	if (slice_starts(s, "aten::"))
		return KIND_OP;
	if (kernel.n < s.n || slice_starts(s, "cpp_fused") || slice_starts(s, "triton_") || slice_starts(s, "kernel_cpp_"))
		return KIND_KERNEL;
	if (slice_starts(s, region))
		return KIND_REGION;
	if (slice_is(s, "TorchDynamo Cache Lookup"))
		return KIND_LOOKUP;
	if (slice_is(s, "CompiledFunction") || slice_is(s, "CompiledFunctionBackward") || slice_find(s, "Call CompiledFxGraph"))
		return KIND_GRAPH;
	if (slice_is(s, "Pregraph bytecode") || slice_starts(s, "AOTDispatcher Runtime Wrapper"))
		return KIND_WRAPPER;
	if (slice_starts(s, "autograd::engine") || slice_starts(s, "torch::autograd::") || slice_ends(s, "Backward0") ||
	    slice_ends(s, "Backward1"))
		return KIND_AUTOGRAD;
	if (is_compile(s))
		return KIND_COMPILE;
	return KIND_OP;
}

enum profile_kind profile_kind_of(struct slice s, enum profile_class class)
{
	if (class != CLASS_OP && class != CLASS_ANNOTATION)
		return KIND_OP;
	if (slice_starts(s, "ProfilerStep"))
		return KIND_STEP;
	if (profile_compile_id(s).n)
		return KIND_COMPILE_DATA;
	const enum profile_kind k = op_kind(s);
	return k == KIND_OP && class == CLASS_ANNOTATION ? KIND_USER : k;
}

struct slice profile_compile_id(struct slice s)
{
	static const char data[] = "_data: ", id[] = "compile_id=";
	const char *at = slice_find(s, data);
	if (!at)
		return slice_of("", 0);
	const struct slice rest = slice_of(at, s.n - (size_t)(at - s.p));
	const char *from = slice_find(rest, id);
	if (!from)
		return slice_of("", 0);
	from += sizeof(id) - 1;
	const char *to = from;
	while (to < s.p + s.n && *to != ',' && *to != ' ')
		to++;
	const struct slice found = slice_of(from, (size_t)(to - from));
	return slice_is(found, "None") ? slice_of("", 0) : found;
}

/* What follows "Torch-Compiled Region: "; empty in versions that do not log it. */
struct slice profile_region_id(struct slice s)
{
	size_t at = sizeof(region) - 1;
	while (at < s.n && (s.p[at] == ':' || s.p[at] == ' '))
		at++;
	return at < s.n ? slice_of(s.p + at, s.n - at) : slice_of("", 0);
}
