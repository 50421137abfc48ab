/* outcode.h - the code that Inductor wrote: its kernels, who calls them with what, and the comments about them.
 *
 *     struct outcode o = {0};
 *     outcode_read(&o, text);                                        // output_code.py: the text must outlive it
 *     if (outcode_read_cpp(&o, wrapper, kernels, &err) < 0) ...      // or AOTInductor's HASH.wrapper.cpp and HASH.kernel.cpp
 *     o.kernel[k].name, o.kernel[k].text; o.call[i].kernel, o.call[i].line
 *     outcode_release(&o);
 *
 * What is read of a Python wrapper (torch 2.13, torch/_inductor/codegen/wrapper.py, cpp.py, triton.py, utils.py
 * get_kernel_metadata; the forms of 2.0 to 2.4 as the guides of those versions print them):
 *
 *     # kernel path: /tmp/torchinductor_user/ab/cab....py                   of Triton's; so are the next five
 *     # Topologically Sorted Source Nodes: [y, z], Original ATen: [aten.sin, aten.relu]
 *     # Source node to ATen node mapping:
 *     #   y => sin
 *     # Graph fragment:
 *     #   %sin : Tensor "f32[64]" = call_function[target=torch.ops.aten.sin.default](args = (%arg0_1,), kwargs = {})
 *     triton_poi_fused_relu_sin_0 = async_compile.triton('triton_poi_fused_relu_sin_0', '''
 *     cpp_fused_relu_sin_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''     2.0 to 2.2: async_compile.cpp('''
 *     ''')
 *     def extern_kernels_extern_kernels_mm_2(*args, **kwargs):              2.15, config.trace.provenance_tracking_to_timeline: a name
 *         return extern_kernels.mm(*args, **kwargs)                         for profiles; a call of it is one of extern_kernels.mm
 *     def call(self, args):                                                 def call(args): up to 2.7
 *         arg0_1, = args
 *         buf1 = buf0; del buf0  # reuse
 *         # [Provenance debug handles] cpp_fused_relu_sin_0:1
 *         cpp_fused_relu_sin_0(arg0_1, buf1)                                2.0: kernel_cpp_0(c_void_p(arg0_1.data_ptr()), ...)
 *         triton_poi_fused_relu_sin_0.run(arg0_1, buf1, 64, stream=stream0)
 *         extern_kernels.mm(buf1, arg1_1, out=buf2)
 *         with stream1:                                                     2.15: streams of the program, and contexts of memory pools
 *             raw_stream = get_raw_stream(0)
 *             triton_poi_fused_cos_1.run(buf0, buf5, 2048, stream=raw_stream)
 *         return (buf2, )
 *
 * C++ wrappers are read by model/cppwrapper/wrapper.h; kernels are the functions declared extern "C" of either text, and Triton's, whose
 * sources stand in the functions call_NAME() of a wrapper for CUDA.
 * Lines count from 1 in the file that a row is of. Texts and names are slices of the texts given, or lie in the arena.
 * Bounds: OUTCODE_MAX rows of each kind; a call has OUTCODE_CALL_LINES lines at most. No recursion, linear.
 */
#ifndef PT2_INDUCTOR_OUTCODE_H
#define PT2_INDUCTOR_OUTCODE_H
#include "base/hash.h"

#define OUTCODE_MAX (1u << 20)
#define OUTCODE_CALL_LINES 400

/* What makes a kernel of its text: async_compile.METHOD (begins so), and the word for it (torch 2.15: _inductor/async_compile.py; flex_gemm
 * is written in cutedsl). OTHER comes last: methods that are not known yet. */
#define OUTLANGS(X) \
	X(CPP, "cpp", "C++") \
	X(TRITON, "triton", "Triton") \
	X(NVGEMM, "nv_universal_gemm", "nv_universal_gemm") \
	X(CUTEDSL, "cutedsl", "CuTe DSL") \
	X(FLYDSL, "flydsl", "FlyDSL") \
	X(CUTLASS, "cuda", "CUTLASS") \
	X(CUTLASS_XPU, "xpu", "CUTLASS") \
	X(CK, "rocm", "Composable Kernel") \
	X(HALIDE, "halide", "Halide") \
	X(PALLAS, "pallas", "Pallas") \
	X(METAL, "metal", "Metal") \
	X(OTHER, "", "other")
#define OUTLANG_ENUM(id, method, word) OUT_##id,
enum outlang { OUTLANGS(OUTLANG_ENUM) };

struct outlist { /* name[first .. first + n) of struct outcode */
	uint32_t first, n;
};

/* The comments above a kernel or a call. */
struct outnotes {
	struct slice handle;   /* "cpp_fused_relu_sin_0:1" */
	struct slice path;     /* kernel path */
	struct outlist source; /* "y", "z": nodes before AOTAutograd */
	struct outlist aten;   /* "aten.sin" */
	struct outlist node;   /* "sin": nodes of the graph that Inductor compiled */
};

struct outkernel {
	struct slice name; /* as it is called */
	enum outlang lang;
	struct slice text;   /* whole lines */
	uint32_t line;       /* of its first line */
	bool in_kernel_file; /* of kernel.cpp, not of the wrapper */
	struct outnotes notes;
	struct outlist param; /* "in_ptr0", "out_ptr0", "xnumel" */
};

struct outcall {
	struct slice name; /* "cpp_fused_relu_sin_0", "extern_kernels.mm", "aoti_torch_cpu_mm_out" */
	uint32_t kernel;   /* NONE: no kernel of this code */
	uint32_t line, last;
	struct outnotes notes;
	struct outlist arg;  /* the buffer that each argument names; empty: none (a number) */
	struct outlist made; /* buffers: out=, or what it is assigned to */
};

struct outalias { /* buf1 = buf0  # reuse; buf8 = buf7[0] */
	struct slice name, of;
	bool item;       /* of a tuple: the same storage as nothing else */
	uint32_t index;  /* which */
	uint32_t before; /* the alias of the same name before it, no item; NONE */
};

/* A row of each name: the first, of aliases the last. */
struct outindex {
	struct intern name;
	uint32_t *row, n, cap;
};

struct outcode {
	struct outkernel *kernel;
	struct outcall *call;             /* in order */
	struct outalias *alias, *wrapped; /* wrapped: functions that do nothing but call another */
	struct slice *name;
	uint32_t n_kernel, n_call, n_alias, n_wrapped, n_name;
	uint32_t cap_kernel, cap_call, cap_alias, cap_wrapped, cap_name;
	struct outindex kernel_index, wrapped_index, alias_index;
	struct outlist input, result; /* result: what is returned, "" where it is no buffer */
	bool cpp_wrapper;
	struct arena arena;
};

void outcode_read(struct outcode *o, struct slice text);
/* -1 and EXIT_INPUT: the wrapper is none (model/cppwrapper/wrapper.h). kernels may be empty. */
int outcode_read_cpp(struct outcode *o, struct slice wrapper, struct slice kernels, struct err *err);
void outcode_release(struct outcode *o);
uint32_t outcode_kernel(const struct outcode *o, struct slice name); /* NONE */
/* The last alias of this name before row `end` that is no item: walked backwards, as a name is made of one that came before. NONE */
uint32_t outcode_alias(const struct outcode *o, struct slice name, uint32_t end);
/* The buffer that a name stands for when what it was made of is followed ("buf1" -> "buf0"). */
struct slice outcode_storage(const struct outcode *o, struct slice name);

/* For the parts: */
bool outcode_add_name(struct outcode *o, struct slice name);
/* "y, z": the names between commas, which must live as long as o. */
struct outlist outcode_add_names(struct outcode *o, struct slice names);
void outcode_add_alias(struct outcode *o, struct outalias a);
uint32_t outcode_add_kernel(struct outcode *o, struct slice name, enum outlang lang, struct slice text, uint32_t line);

#endif
