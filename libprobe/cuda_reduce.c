/* cuda_reduce.c - computes statistics of a tensor on its device: a kernel for each dtype as PTX text, which the driver compiles for the GPU
 * at hand (PTX ISA 6.4, for sm_50 and later: drivers since CUDA 10.1). The result of a block of threads is a struct part; there are few
 * blocks. If the driver rejects the text, tensors are copied. ptxas 12.8, 13.1 and 13.4 accept it for sm_75, 80, 90, 90a, 100 and 120. */
#include "cuda.h"

#include "ops.h"

#define THREADS 256
#define BLOCKS 512
#define SLOTS 16    /* threads that use it at a time; others copy */
#define CONTEXTS 16 /* usually one per GPU; others copy */

struct part {
	uint64_t nan, pos_inf, neg_inf, zero, first_bad;
	double min, max, sum;
};
_Static_assert(BLOCKS * sizeof(struct part) <= OPS_SCRATCH, "the parts must fit there");

/* clang-format off */
/* Element %rd4 in the order of memory: how far it is from the first (%rd41), and its index in the tensor (%rd42), both in elements. */
#define PLACE(size, stride, step) \
	"rem.u64 %rd44, %rd43, " size ";\ndiv.u64 %rd43, %rd43, " size ";\n" \
	"mad.lo.u64 %rd41, %rd44, " stride ", %rd41;\nmad.lo.u64 %rd42, %rd44, " step ", %rd42;\n"
#define PLACES \
	"mov.u64 %rd43, %rd4;\nmov.u64 %rd41, 0;\nmov.u64 %rd42, 0;\n" \
	PLACE("%rd32", "%rd36", "%rd40") PLACE("%rd31", "%rd35", "%rd39") PLACE("%rd30", "%rd34", "%rd38") \
	"mad.lo.u64 %rd41, %rd43, %rd33, %rd41;\nmad.lo.u64 %rd42, %rd43, %rd37, %rd42;\n"
/* load: %fd0 is the element at %rd7; an infinite complex number has the sign of its infinite part. value: what of it is compared and added.
 * */
#define TEXT(type, shift, load, value) \
	".visible .entry pt2_stats_" type "(.param .u64 data, .param .u64 n, .param .u64 out, .param .align 8 .b8 layout[96])\n" \
	".maxntid " OPS_STRING(THREADS) ", 1, 1\n" \
	"{\n" \
	".shared .align 8 .b8 part[16384];\n" \
	".reg .pred %p<12>;\n.reg .b16 %h<2>;\n.reg .b32 %r<10>;\n.reg .f32 %f<3>;\n.reg .b64 %rd<46>;\n.reg .f64 %fd<16>;\n" \
	"ld.param.u64 %rd1, [data];\ncvta.to.global.u64 %rd1, %rd1;\n" \
	"ld.param.u64 %rd2, [n];\n" \
	"ld.param.u64 %rd3, [out];\ncvta.to.global.u64 %rd3, %rd3;\n" \
	"ld.param.u64 %rd45, [layout];\nsetp.eq.u64 %p10, %rd45, 1;\nsetp.eq.u64 %p11, %rd45, 2;\n" \
	"ld.param.u64 %rd30, [layout+8];\nld.param.u64 %rd31, [layout+16];\nld.param.u64 %rd32, [layout+24];\n" \
	"ld.param.u64 %rd33, [layout+32];\nld.param.u64 %rd34, [layout+40];\nld.param.u64 %rd35, [layout+48];\n" \
	"ld.param.u64 %rd36, [layout+56];\n" \
	"ld.param.u64 %rd37, [layout+64];\nld.param.u64 %rd38, [layout+72];\nld.param.u64 %rd39, [layout+80];\n" \
	"ld.param.u64 %rd40, [layout+88];\n" \
	"mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %nctaid.x;\n" \
	"mul.wide.u32 %rd4, %r3, %r2;\ncvt.u64.u32 %rd5, %r1;\nadd.u64 %rd4, %rd4, %rd5;\n" /* the first element */ \
	"mul.wide.u32 %rd6, %r4, %r2;\n" /* and the distance to the next */ \
	"mov.u64 %rd10, 0;\nmov.u64 %rd11, 0;\nmov.u64 %rd12, 0;\nmov.u64 %rd13, 0;\nmov.u64 %rd14, -1;\n" \
	"mov.f64 %fd1, 0d7FF0000000000000;\nmov.f64 %fd2, 0dFFF0000000000000;\nmov.f64 %fd3, 0d0000000000000000;\n" \
	"LOOP:\n" \
	"setp.ge.u64 %p1, %rd4, %rd2;\n@%p1 bra DONE;\n" \
	"mov.u64 %rd41, %rd4;\nmov.u64 %rd42, %rd4;\n@!%p11 bra LOAD;\n" \
	PLACES \
	"LOAD:\n" \
	"shl.b64 %rd7, %rd41, " shift ";\nadd.u64 %rd7, %rd1, %rd7;\n" \
	load \
	"testp.notanumber.f64 %p2, %fd0;\ntestp.infinite.f64 %p3, %fd0;\n" \
	"setp.gt.f64 %p4, %fd0, 0d0000000000000000;\nsetp.eq.f64 %p5, %fd0, 0d0000000000000000;\n" \
	"and.pred %p6, %p3, %p4;\nnot.pred %p7, %p4;\nand.pred %p7, %p3, %p7;\nor.pred %p8, %p2, %p3;\n" \
	"@%p2 add.u64 %rd10, %rd10, 1;\n@%p6 add.u64 %rd11, %rd11, 1;\n@%p7 add.u64 %rd12, %rd12, 1;\n@%p5 add.u64 %rd13, %rd13, 1;\n" \
	value \
	"@!%p2 min.f64 %fd1, %fd1, %fd0;\n@!%p2 max.f64 %fd2, %fd2, %fd0;\n@!%p2 add.rn.f64 %fd3, %fd3, %fd0;\n" \
	"@!%p8 bra GOOD;\n@!%p10 bra BAD;\n" \
	PLACES \
	"BAD:\nmin.u64 %rd14, %rd14, %rd42;\n" \
	"GOOD:\n" \
	"add.u64 %rd4, %rd4, %rd6;\nbra LOOP;\n" \
	"DONE:\n" \
	"mov.u64 %rd8, part;\nmul.wide.u32 %rd9, %r1, 64;\nadd.u64 %rd8, %rd8, %rd9;\n" \
	"st.shared.u64 [%rd8], %rd10;\nst.shared.u64 [%rd8+8], %rd11;\nst.shared.u64 [%rd8+16], %rd12;\nst.shared.u64 [%rd8+24], %rd13;\n" \
	"st.shared.u64 [%rd8+32], %rd14;\nst.shared.f64 [%rd8+40], %fd1;\nst.shared.f64 [%rd8+48], %fd2;\nst.shared.f64 [%rd8+56], %fd3;\n" \
	"shr.u32 %r5, %r2, 1;\n" \
	"HALF:\n" \
	"bar.sync 0;\n" \
	"setp.eq.u32 %p1, %r5, 0;\n@%p1 bra OUT;\n" \
	"setp.ge.u32 %p2, %r1, %r5;\n@%p2 bra NEXT;\n" \
	"mul.wide.u32 %rd15, %r5, 64;\nadd.u64 %rd15, %rd8, %rd15;\n" \
	"ld.shared.u64 %rd20, [%rd15];\nld.shared.u64 %rd21, [%rd15+8];\nld.shared.u64 %rd22, [%rd15+16];\nld.shared.u64 %rd23, [%rd15+24];\n" \
	"ld.shared.u64 %rd24, [%rd15+32];\nld.shared.f64 %fd4, [%rd15+40];\nld.shared.f64 %fd5, [%rd15+48];\nld.shared.f64 %fd6, [%rd15+56];\n" \
	"add.u64 %rd10, %rd10, %rd20;\nadd.u64 %rd11, %rd11, %rd21;\nadd.u64 %rd12, %rd12, %rd22;\nadd.u64 %rd13, %rd13, %rd23;\n" \
	"min.u64 %rd14, %rd14, %rd24;\nmin.f64 %fd1, %fd1, %fd4;\nmax.f64 %fd2, %fd2, %fd5;\nadd.rn.f64 %fd3, %fd3, %fd6;\n" \
	"st.shared.u64 [%rd8], %rd10;\nst.shared.u64 [%rd8+8], %rd11;\nst.shared.u64 [%rd8+16], %rd12;\nst.shared.u64 [%rd8+24], %rd13;\n" \
	"st.shared.u64 [%rd8+32], %rd14;\nst.shared.f64 [%rd8+40], %fd1;\nst.shared.f64 [%rd8+48], %fd2;\nst.shared.f64 [%rd8+56], %fd3;\n" \
	"NEXT:\n" \
	"shr.u32 %r5, %r5, 1;\nbra HALF;\n" \
	"OUT:\n" \
	"setp.ne.u32 %p1, %r1, 0;\n@%p1 bra END;\n" \
	"mul.wide.u32 %rd16, %r3, 64;\nadd.u64 %rd16, %rd3, %rd16;\n" \
	"st.global.u64 [%rd16], %rd10;\nst.global.u64 [%rd16+8], %rd11;\nst.global.u64 [%rd16+16], %rd12;\nst.global.u64 [%rd16+24], %rd13;\n" \
	"st.global.u64 [%rd16+32], %rd14;\nst.global.f64 [%rd16+40], %fd1;\nst.global.f64 [%rd16+48], %fd2;\nst.global.f64 [%rd16+56], %fd3;\n" \
	"END:\nret;\n}\n"
/* A byte: its sign, and exponent and mantissa at the places of a float32, whose exponent has another bias. */
#define FLOAT8(shift, scale, is_nan) \
	"ld.global.u8 %r6, [%rd7];\nand.b32 %r7, %r6, 127;\nshl.b32 %r8, %r7, " shift ";\nmov.b32 %f0, %r8;\ncvt.f64.f32 %fd0, %f0;\n" \
	"mul.rn.f64 %fd0, %fd0, " scale ";\nand.b32 %r8, %r6, 128;\nsetp.ne.u32 %p3, %r8, 0;\n@%p3 neg.f64 %fd0, %fd0;\n" \
	is_nan "@%p2 mov.f64 %fd0, 0d7FF8000000000000;\n"
/* The magnitude of %fd7 + i %fd8, as in tensor/stats.c. */
#define COMPLEX \
	"abs.f64 %fd9, %fd7;\nabs.f64 %fd10, %fd8;\nmax.f64 %fd11, %fd9, %fd10;\nmin.f64 %fd12, %fd9, %fd10;\n" \
	"div.rn.f64 %fd13, %fd12, %fd11;\nmul.rn.f64 %fd13, %fd13, %fd13;\nadd.rn.f64 %fd13, %fd13, 0d3FF0000000000000;\n" \
	"sqrt.rn.f64 %fd13, %fd13;\nmul.rn.f64 %fd0, %fd11, %fd13;\n" \
	"setp.eq.f64 %p2, %fd11, 0d0000000000000000;\n@%p2 mov.f64 %fd0, 0d0000000000000000;\n" \
	"testp.infinite.f64 %p3, %fd8;\n@%p3 mov.f64 %fd0, %fd8;\ntestp.infinite.f64 %p3, %fd7;\n@%p3 mov.f64 %fd0, %fd7;\n" \
	"testp.notanumber.f64 %p2, %fd7;\ntestp.notanumber.f64 %p3, %fd8;\nor.pred %p2, %p2, %p3;\n@%p2 mov.f64 %fd0, 0d7FF8000000000000;\n"
static const char text[] =
	".version 6.4\n.target sm_50\n.address_size 64\n"
	TEXT("f32", "2", "ld.global.f32 %f0, [%rd7];\ncvt.f64.f32 %fd0, %f0;\n", "")
	TEXT("f64", "3", "ld.global.f64 %fd0, [%rd7];\n", "")
	TEXT("f16", "1", "ld.global.b16 %h0, [%rd7];\ncvt.f32.f16 %f0, %h0;\ncvt.f64.f32 %fd0, %f0;\n", "")
	TEXT("bf16", "1",
	     "ld.global.u16 %h0, [%rd7];\ncvt.u32.u16 %r6, %h0;\nshl.b32 %r6, %r6, 16;\nmov.b32 %f0, %r6;\ncvt.f64.f32 %fd0, %f0;\n", "")
	TEXT("f8e5m2", "0",
	     "ld.global.u8 %r6, [%rd7];\nshl.b32 %r6, %r6, 8;\ncvt.u16.u32 %h0, %r6;\ncvt.f32.f16 %f0, %h0;\ncvt.f64.f32 %fd0, %f0;\n", "")
	TEXT("f8e4m3fn", "0", FLOAT8("20", "0d4770000000000000", "setp.eq.u32 %p2, %r7, 127;\n"), "")
	TEXT("f8e5m2fnuz", "0", FLOAT8("21", "0d46E0000000000000", "setp.eq.u32 %p2, %r6, 128;\n"), "")
	TEXT("f8e4m3fnuz", "0", FLOAT8("20", "0d4760000000000000", "setp.eq.u32 %p2, %r6, 128;\n"), "")
	TEXT("c64", "3", "ld.global.f32 %f0, [%rd7];\nld.global.f32 %f1, [%rd7+4];\ncvt.f64.f32 %fd7, %f0;\ncvt.f64.f32 %fd8, %f1;\n" COMPLEX,
	     "abs.f64 %fd0, %fd0;\n")
	TEXT("c128", "4", "ld.global.f64 %fd7, [%rd7];\nld.global.f64 %fd8, [%rd7+8];\n" COMPLEX, "abs.f64 %fd0, %fd0;\n");
/* clang-format on */

static const struct {
	int dtype;
	uint32_t align;
	const char *entry;
} type[] = {{DTYPE_F32, 4, "pt2_stats_f32"},
	    {DTYPE_F64, 8, "pt2_stats_f64"},
	    {DTYPE_F16, 2, "pt2_stats_f16"},
	    {DTYPE_BF16, 2, "pt2_stats_bf16"},
	    {DTYPE_F8E5M2, 1, "pt2_stats_f8e5m2"},
	    {DTYPE_F8E4M3FN, 1, "pt2_stats_f8e4m3fn"},
	    {DTYPE_F8E5M2FNUZ, 1, "pt2_stats_f8e5m2fnuz"},
	    {DTYPE_F8E4M3FNUZ, 1, "pt2_stats_f8e4m3fnuz"},
	    {DTYPE_C64, 4, "pt2_stats_c64"},
	    {DTYPE_C128, 8, "pt2_stats_c128"}};

/* One per driver context; it stays until the end. */
struct context {
	void *_Atomic handle; /* NULL: free */
	_Atomic int state;    /* 0: being loaded, 1: ready, -1: failed */
	void *function[ARRAY_LEN(type)];
	struct {
		_Atomic bool busy;
		uint64_t out; /* BLOCKS parts; 0: not allocated yet */
	} slot[SLOTS];
};
static struct context contexts[CONTEXTS];

static bool load_kernels(struct context *c)
{
	void *module;
	bool ok = !cuda.load_text(&module, text);
	for (size_t i = 0; i < ARRAY_LEN(type) && ok; i++)
		ok = !cuda.get_function(&c->function[i], module, type[i].entry);
	return ok;
}

/* Another thread may be capturing a graph while we load and allocate. */
static bool quietly(bool (*fn)(struct context *), struct context *c)
{
	int mode = cuda_relax_capture();
	bool r = fn(c);
	cuda_restore_capture(mode);
	return r;
}

static struct context *current(void)
{
	void *handle = NULL;
	if (!cuda.ctx_get_current || !cuda.load_text || !cuda.get_function || !cuda.launch || !cuda.mem_alloc ||
	    cuda.ctx_get_current(&handle) || !handle)
		return NULL;
	for (size_t i = 0; i < CONTEXTS; i++) {
		struct context *c = &contexts[i];
		void *there = NULL;
		if (atomic_compare_exchange_strong(&c->handle, &there, handle)) {
			c->state = quietly(load_kernels, c) ? 1 : -1;
			there = handle;
		}
		if (there == handle)
			return c->state == 1 ? c : NULL;
	}
	return NULL;
}

static bool take_memory(struct context *c)
{
	struct ops_thread *t = ops_thread_if_any();
	return !cuda.mem_alloc(&c->slot[t->slot].out, BLOCKS * sizeof(struct part));
}

static bool take_slot(struct context *c, struct ops_thread *t)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		if (atomic_exchange(&c->slot[i].busy, true))
			continue;
		t->slot = i;
		if (c->slot[i].out || quietly(take_memory, c))
			return true;
		c->slot[i].out = 0;
		c->slot[i].busy = false;
		return false;
	}
	return false;
}

static void add_up(const struct part *p, uint32_t blocks, uint64_t n, struct tensor_stats *s)
{
	double sum = 0, min = __builtin_inf(), max = -__builtin_inf();
	uint64_t bad = UINT64_MAX;
	*s = (struct tensor_stats){.n = n, .known = true, .first_bad = -1};
	for (uint32_t i = 0; i < blocks; i++) {
		s->nan += p[i].nan;
		s->pos_inf += p[i].pos_inf;
		s->neg_inf += p[i].neg_inf;
		s->zero += p[i].zero;
		bad = p[i].first_bad < bad ? p[i].first_bad : bad;
		min = p[i].min < min ? p[i].min : min;
		max = p[i].max > max ? p[i].max : max;
		sum += p[i].sum;
	}
	bool none = s->nan >= n;
	s->first_bad = bad < n ? (int64_t)bad : -1;
	s->min = none ? __builtin_nan("") : min;
	s->max = none ? __builtin_nan("") : max;
	s->mean = none ? __builtin_nan("") : sum / (double)(n - s->nan);
}

bool cuda_reduce(int dtype, const void *data, uint64_t n, const struct cuda_layout *layout, struct tensor_stats *s)
{
	struct ops_thread *t = ops_thread_if_any();
	struct cuda_layout plain = {0};
	uint64_t address = (uintptr_t)data, out;
	size_t k = 0;
	while (k < ARRAY_LEN(type) && type[k].dtype != dtype)
		k++;
	/* A misaligned access would be the end of the process. */
	if (k == ARRAY_LEN(type) || address % type[k].align)
		return false;
	struct context *c = t && t->readable ? current() : NULL;
	if (!c || !take_slot(c, t))
		return false;
	uint64_t want = (n + THREADS * 8 - 1) / (THREADS * 8);
	uint32_t blocks = want < BLOCKS ? (uint32_t)want : BLOCKS;
	out = c->slot[t->slot].out;
	if (layout)
		plain = *layout;
	void *params[] = {&address, &n, &out, &plain};
	struct part *part = (struct part *)(void *)t->scratch; /* this thread's stack may be small */
	bool ok = !cuda.launch(c->function[k], blocks, 1, 1, THREADS, 1, 1, 0, t->stream, params, NULL) &&
		  cuda_copy(part, (const void *)(uintptr_t)out, blocks * sizeof(*part));
	c->slot[t->slot].busy = false;
	if (ok)
		add_up(part, blocks, n, s);
	return ok;
}
