/* blame.c - which component a file or an exception belongs to (blame.h). */
#include "run/diagnose/blame.h"

/* ---- by file ---- */

/* The first entry found in the path decides (torch 2.0 to 2.13). */
static const struct {
	const char *part;
	enum component component;
} by_path[] = {
    {"torch/_inductor/codegen/", COMPONENT_CODEGEN},
    {"torch/_inductor/codecache.py", COMPONENT_COMPILER},
    {"torch/_inductor/cpp_builder.py", COMPONENT_COMPILER},
    {"torch/_inductor/cpu_vec_isa.py", COMPONENT_COMPILER},
    {"torch/_inductor/async_compile.py", COMPONENT_COMPILER},
    {"torch/_inductor/compile_worker/", COMPONENT_COMPILER},
    {"torch/_inductor/runtime/compile_tasks.py", COMPONENT_COMPILER},
    {"torch/_inductor/runtime/triton_heuristics.py", COMPONENT_COMPILER},
    {"triton/compiler/", COMPONENT_COMPILER},
    {"triton/backends/", COMPONENT_COMPILER},
    {"torch/_inductor/package/", COMPONENT_LOAD},
    {"torch/_inductor/runtime/", COMPONENT_RUNTIME},
    {"torch/_inductor/output_code.py", COMPONENT_RUNTIME}, /* calls what was compiled */
    {"torch/_inductor/", COMPONENT_INDUCTOR},
    {"torchinductor/", COMPONENT_INDUCTOR},
    {"torch/_functorch/_aot_autograd/", COMPONENT_AOTAUTOGRAD},
    {"torch/_functorch/vmap.py", COMPONENT_NONE}, /* torch.func, runs the user's program */
    {"torch/_functorch/apis.py", COMPONENT_NONE},
    {"torch/_functorch/eager_transforms.py", COMPONENT_NONE},
    {"torch/_functorch/functional_call.py", COMPONENT_NONE},
    {"torch/_functorch/pyfunctorch.py", COMPONENT_NONE},
    {"torch/_functorch/predispatch.py", COMPONENT_NONE},
    {"torch/_functorch/autograd_function.py", COMPONENT_NONE},
    {"torch/_functorch/", COMPONENT_AOTAUTOGRAD},
    {"functorch/", COMPONENT_AOTAUTOGRAD},
    {"torch/export/pt2_archive/", COMPONENT_LOAD},
    {"torch/export/", COMPONENT_EXPORT},
    {"torch/_export/", COMPONENT_EXPORT},
    {"torch/_dynamo/repro/", COMPONENT_NONE},
    {"torch/_dynamo/backends/", COMPONENT_NONE},
    {"torch/_dynamo/eval_frame.py", COMPONENT_NONE},     /* every call goes through it */
    {"torch/_dynamo/external_utils.py", COMPONENT_NONE}, /* calls what is not compiled */
    {"torch/_dynamo/polyfills/", COMPONENT_NONE},        /* Python's own functions, written out */
    {"torch/_dynamo/utils.py", COMPONENT_NONE},
    {"torch/_dynamo/", COMPONENT_DYNAMO},
    {"torchdynamo/", COMPONENT_DYNAMO},
};

static enum component path_component(struct slice path)
{
	if (slice_find(path, "torchinductor_") || slice_find(path, "/fxgraph/"))
		return COMPONENT_RUNTIME; /* Inductor's own output, in its cache */
	for (size_t i = 0; i < ARRAY_LEN(by_path); i++)
		if (slice_find(path, by_path[i].part))
			return by_path[i].component;
	return COMPONENT_NONE;
}

/* The innermost frame that belongs to a component; frames are lines, outermost first. user: the very innermost frame is the program's. */
enum component frames_component(struct slice frames, struct slice *at, bool *user)
{
	enum component found = COMPONENT_NONE;
	struct slice line;
	*user = false;
	while (slice_line(&frames, &line)) {
		const char *colon = slice_chr(line, ':');
		struct slice path = colon ? slice_of(line.p, (size_t)(colon - line.p)) : line;
		enum component c = path_component(path);
		*user = c == COMPONENT_NONE && srcloc_is_user(path);
		if (c == COMPONENT_NONE)
			continue;
		/* Loading generated code compiles it: the generated file is in the stack then, too, and counts only when it is innermost.
		 * */
		found = c;
		*at = line;
	}
	return found;
}

bool frames_operate(struct slice frames)
{
	bool operates = false;
	struct slice line;
	while (slice_line(&frames, &line)) {
		const char *end = slice_find(line, ": "); /* the code after it may contain such words, too */
		struct slice place = end ? slice_of(line.p, (size_t)(end - line.p)) : line;
		if (slice_find(place, "<eval_with_key>") ||
		    (slice_find(place, "torch/_dynamo/utils.py:") && slice_ends(place, " in run_node")))
			operates = true;
		else if (operates && (path_component(place) == COMPONENT_INDUCTOR || path_component(place) == COMPONENT_CODEGEN))
			operates = false;
	}
	return operates;
}

/* ---- by exception ---- */

static const struct {
	const char *type;
	enum component component;
	bool proof; /* no other component raises it */
} by_type[] = {
    {"CppCompileError", COMPONENT_COMPILER, true},
    {"CUDACompileError", COMPONENT_COMPILER, true},
    {"InvalidCxxCompiler", COMPONENT_ENVIRONMENT, true},
    {"CompilationError", COMPONENT_COMPILER, true},
    {"OutOfResources", COMPONENT_COMPILER, true},
    {"CppWrapperCodegenError", COMPONENT_CODEGEN, true},
    {"SubgraphLoweringException", COMPONENT_INDUCTOR, true},
    {"LoweringException", COMPONENT_INDUCTOR, false},
    {"MissingOperatorWithDecomp", COMPONENT_INDUCTOR, true},
    {"MissingOperatorWithoutDecomp", COMPONENT_INDUCTOR, true},
    {"InductorError", COMPONENT_INDUCTOR, false},
    {"ConstraintViolationError", COMPONENT_EXPORT, true},
    {"InternalTorchDynamoError", COMPONENT_DYNAMO, true},
    {"Unsupported", COMPONENT_DYNAMO, true},
    {"UserError", COMPONENT_DYNAMO, false},
    {"RecompileError", COMPONENT_DYNAMO, true},
    {"FailOnRecompileLimitHit", COMPONENT_DYNAMO, true},
    {"ResetRequired", COMPONENT_DYNAMO, true},
    {"InvalidBackend", COMPONENT_BACKEND, true},
    {"TorchRuntimeError", COMPONENT_EAGER, false}, /* an operation failed on fake tensors: usually it fails on real ones, too */
};

/* "torch._inductor.exc.InductorError" is InductorError; the message may start with an inner type: "CppCompileError: C++ compile error". */
static const char *type_is(struct slice type, const char *name)
{
	size_t n = strlen(name);
	return type.n >= n && !memcmp(type.p + type.n - n, name, n) && (type.n == n || type.p[type.n - n - 1] == '.') ? name : NULL;
}

enum component type_component(struct slice type, struct slice reason, bool *proof)
{
	struct slice first = reason, word;
	struct slice line;
	*proof = false;
	/* backend='inductor' raised:\nCppCompileError: ... */
	for (unsigned i = 0; i < 3 && slice_line(&first, &line); i++) {
		const char *colon = slice_chr(line, ':');
		word = slice_trim(slice_of(line.p, colon ? (size_t)(colon - line.p) : 0));
		for (size_t k = 0; word.n && k < ARRAY_LEN(by_type); k++)
			if (type_is(word, by_type[k].type)) {
				*proof = by_type[k].proof;
				return by_type[k].component;
			}
	}
	if (slice_starts(reason, "Constraints violated"))
		return COMPONENT_EXPORT; /* the program's Dims do not hold */
	if (slice_starts(reason, "Observed exception"))
		return COMPONENT_EAGER; /* the program raises it, and nothing in the compiled function catches it */
	/* inductor and aot_eager are torch's own backends: the frames say which component */
	if (type_is(type, "BackendCompilerFailed") && slice_starts(reason, "backend='") && !slice_starts(reason, "backend='inductor'") &&
	    !slice_starts(reason, "backend='aot_eager"))
		return COMPONENT_BACKEND;
	for (size_t k = 0; k < ARRAY_LEN(by_type); k++)
		if (type_is(type, by_type[k].type)) {
			*proof = by_type[k].proof;
			return by_type[k].component;
		}
	return COMPONENT_NONE;
}

bool number_is_error(int gb)
{
	static const short numbers[] = {
	    10, 11,  12,  76,  91,                              /* a variable that is not set */
	    20, 21,  28,  50,  51,  57,                         /* except and raise of something that is not an exception, format strings */
	    61, 62,  63,                                        /* a, b = xs */
	    69, 70,  81,  119, 136, 137, 252,                   /* imports, attributes */
	    88, 111, 112, 160, 167, 182, 196, 4315, 7312, 7596, /* raised by the program, or by an operation */
	};
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (numbers[i] == gb)
			return true;
	return false;
}

enum component native_component(struct slice message, struct slice stack)
{
	static const char *const load[] = {"AOTIModelPackageLoader::AOTIModelPackageLoader",
					   "Exception raised from AOTIModelPackageLoader",
					   "Error in dlopen",
					   "Error in dlsym",
					   "OSSProxyExecutor::OSSProxyExecutor",
					   "model_package_loader.cpp"};
	static const char *const run[] = {"AOTIModelPackageLoader::run",
					  "aoti_torch_",
					  "AOTInductorModel",
					  "AOTIModelContainerRunner",
					  "aot_inductor",
					  ".wrapper.so",
					  ".wrapper.cpp",
					  "torch::inductor"};
	if (slice_any(message, load, slice_has) || slice_any(stack, load, slice_has))
		return COMPONENT_LOAD;
	return slice_any(message, run, slice_has) || slice_any(stack, run, slice_has) ? COMPONENT_RUNTIME : COMPONENT_NONE;
}
