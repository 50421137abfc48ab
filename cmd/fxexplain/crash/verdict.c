#include "crash/verdict.h"
#include "crash/machine.h"

#include <ctype.h>
#include <signal.h>

#include "model/doctor/doctor.h"
#include "base/text.h"

enum { PAGE = 4096, SMALL = 65536, STACK_REACH = 1 << 20, DEEP = 300 };

const char *crash_kind_name(enum crash_kind k)
{
	static const char *const name[] = {"none",
					   "null",
					   "null-offset",
					   "behind-memory",
					   "unmapped",
					   "denied",
					   "no-address",
					   "segv",
					   "stack-overflow",
					   "illegal-instruction",
					   "arithmetic",
					   "bus",
					   "heap",
					   "asan",
					   "assertion",
					   "exception",
					   "abort",
					   "out-of-memory",
					   "killed",
					   "cuda",
					   "cuda-illegal-access",
					   "refused",
					   "operator-failed",
					   "python-error",
					   "other"};
	return (size_t)k < ARRAY_LEN(name) ? name[k] : "?";
}

static struct slice text(struct crash_verdict *v, const char *fmt, va_list ap)
{
	struct buf b = {0};
	buf_addvf(&b, fmt, ap);
	return arena_take(&v->arena, &b);
}

static void why(struct crash_verdict *v, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void why(struct crash_verdict *v, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	if (v->n_why < VERDICT_LINES)
		v->why[v->n_why++] = text(v, fmt, ap);
	va_end(ap);
}

static void step(struct crash_verdict *v, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void step(struct crash_verdict *v, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	if (v->n_steps < VERDICT_LINES)
		v->step[v->n_steps++] = text(v, fmt, ap);
	va_end(ap);
}

/* ---- the kind ---- */

static bool stack_overflow(const struct crash *c)
{
	const struct crash_stack *s = crash_main_stack(c);
	if (c->signs & SIGN_STACK)
		return true;
	if (c->signal == SIGSEGV && c->has_fault && c->reg.n) {
		uint64_t sp = c->reg.value[c->reg.sp];
		const struct crash_map *m = crash_map_of(c, c->fault);
		if (c->fault + STACK_REACH > sp && c->fault < sp + PAGE && (!m || !(m->read || m->write)))
			return true;
	}
	/* The same function repeated up to the innermost frame. */
	if (c->signal != SIGSEGV || !s || s->n < DEEP)
		return false;
	uint32_t same = 0;
	const struct crash_frame *f = &c->frame[s->first];
	for (uint32_t i = 0; i < s->n; i++)
		same += f[i].symbol.n && slice_eq(f[i].symbol, f[s->n / 2].symbol);
	return same > s->n / 8;
}

static const struct crash_map *map_below(const struct crash *c, uint64_t address)
{
	const struct crash_map *best = NULL;
	for (uint32_t i = 0; i < c->n_maps; i++)
		if (c->map[i].end <= address && (!best || c->map[i].end > best->end))
			best = &c->map[i];
	return best;
}

static enum crash_kind kind_of_segv(const struct crash *c)
{
	if (stack_overflow(c))
		return KIND_STACK;
	if (c->has_code && c->code == SI_KERNEL)
		return KIND_NONCANONICAL;
	if (!c->has_fault)
		return KIND_SEGV;
	if (c->fault < PAGE)
		return KIND_NULL;
	if (c->fault < SMALL)
		return KIND_SMALL;
	const struct crash_map *m = crash_map_of(c, c->fault), *below = map_below(c, c->fault);
	if (m && (m->read || m->write || m->exec))
		return KIND_DENIED;
	if (below && (below->read || below->write) && c->fault - below->end < PAGE)
		return KIND_BEHIND;
	return KIND_WILD;
}

/* Recognises the messages of a model's own checks (torch 2.13, codegen/cpp_wrapper_cpu.py, aoti_runtime/utils.h). */
static bool models_words(struct slice what)
{
	return slice_find(what, "input_handles[") || slice_find(what, "Expected out tensor to have device") ||
	       slice_find(what, "expected size ") || slice_find(what, "AOTInductorModel") || slice_find(what, "aoti_torch_");
}

/* malloc() and its kin end the process when they find their data damaged. Those frames are libc's own functions, whose names only some
 * systems have; the one that the program called is exported. */
static bool aborted_in_malloc(const struct crash *c)
{
	static const char *const exported[] = {
	    "malloc",        "free",          "calloc",          "realloc", "memalign",           "posix_memalign",
	    "cfree",         "aligned_alloc", "malloc_printerr", "_int_",   "malloc_consolidate", "sysmalloc",
	    "__libc_malloc", "__libc_free",   "munmap_chunk"};
	const struct crash_stack *s = crash_main_stack(c);
	bool aborts = false;
	for (uint32_t i = 0; s && i < s->n && i < 12; i++) {
		const struct crash_frame *f = &c->frame[s->first + i];
		const struct slice base = slice_base(f->module);
		if (f->module.n && !slice_starts(base, "libc.so") && !slice_starts(base, "libc-") && !slice_starts(base, "libpthread"))
			return false;
		if (aborts && slice_any(f->symbol, exported, slice_starts))
			return true;
		aborts = aborts || slice_starts(f->symbol, "__libc_message") ||
			 (slice_starts(f->symbol, "abort") && (f->symbol.n == 5 || !isalnum((unsigned char)f->symbol.p[5])));
	}
	return false;
}

static enum crash_kind kind_of(const struct crash *c)
{
	if (c->signs & SIGN_OOM)
		return KIND_OOM;
	if (c->signs & SIGN_CUDA_IMA)
		return KIND_CUDA_IMA;
	if (c->signs & SIGN_CUDA)
		return KIND_CUDA;
	if (c->signs & (SIGN_HEAP | SIGN_SMASHED))
		return KIND_HEAP;
	if (c->signs & SIGN_ASSERT)
		return KIND_ASSERT;
	if (c->signs & SIGN_EXCEPTION)
		return KIND_EXCEPTION;
	if (c->signs & SIGN_ASAN && c->signal != SIGSEGV)
		return KIND_ASAN;
	if (c->signal == SIGABRT && aborted_in_malloc(c))
		return KIND_HEAP;
	switch (c->signal) {
	case SIGSEGV: return kind_of_segv(c);
	case SIGILL: return KIND_ILL;
	case SIGFPE: return KIND_FPE;
	case SIGBUS: return KIND_BUS;
	case SIGABRT: return KIND_ABORT;
	case SIGKILL: return KIND_KILLED;
	case 0: break;
	default: return KIND_OTHER;
	}
	if (c->signs & SIGN_STACK)
		return KIND_STACK;
	if (c->signs & SIGN_API)
		return KIND_OPERATOR;
	if (c->signs & SIGN_PYTHON_ERROR)
		return models_words(c->what) ? KIND_REFUSED : KIND_ERROR;
	return crash_main_stack(c) ? KIND_OTHER : KIND_NONE;
}

/* ---- where ---- */

static bool raises(const struct crash_frame *f)
{
	static const char *const name[] = {
	    "c10::Error::Error", "c10::detail::torchCheckFail", "__cxa_throw", "std::terminate", "abort", "raise", "__assert_fail"};
	return slice_any(f->symbol, name, slice_starts);
}

static void find_culprit(struct crash_verdict *v, const struct crash *c, const struct crashmap *map)
{
	const struct crash_stack *s = crash_main_stack(c);
	v->frame = v->call_frame = NONE;
	for (uint32_t i = s ? s->first : 0; s && i < s->first + s->n; i++) {
		const struct crash_place *p = &map->place[i];
		const struct crash_frame *f = &c->frame[i];
		if (f->handler)
			continue;
		if (v->frame == NONE && p->owner != OWNER_SYSTEM && p->owner != OWNER_UNKNOWN && !raises(f)) {
			v->frame = i;
			v->owner = p->owner;
		}
		if (v->call_frame == NONE && p->library && (p->call || p->candidates || p->text.n))
			v->call_frame = i;
		v->loading = v->loading || slice_find(f->symbol, "ContainerCreate") || slice_find(p->symbol, "ContainerCreate") ||
			     slice_find(f->symbol, "load_constants") || slice_find(f->symbol, "UpdateConstantsFromBlob");
	}
	const struct crash_place *call = v->call_frame == NONE ? NULL : &map->place[v->call_frame];
	/* A third-party library that the model called through the proxy executor is a custom op; a library of unknown origin is
	 * treated as one, too. */
	if (v->owner == OWNER_TORCH && call && call->call && call->call->kind == CALL_PROXY)
		v->owner = OWNER_CUSTOM;
}

static bool model_involved(const struct crash_verdict *v, const struct crash *c, const struct crashmap *map)
{
	const struct crash_stack *s = crash_main_stack(c);
	for (uint32_t i = s ? s->first : 0; s && i < s->first + s->n; i++)
		if (map->place[i].owner == OWNER_KERNEL || map->place[i].owner == OWNER_MODEL)
			return true;
	return v->kind == KIND_REFUSED || (c->n_stacks && slice_find(c->said, "aoti"));
}

/* ---- words ---- */

static const char *what_of(const struct crash *c, enum crash_kind k)
{
	bool write = c->has_access && c->fault_write, told = c->has_access;
	switch (k) {
	case KIND_NULL: return write ? "a write to a null pointer" : told ? "a read from a null pointer" : "a null pointer";
	case KIND_SMALL: return "a member or element of a null pointer";
	case KIND_BEHIND: return "an access just past the end of mapped memory";
	case KIND_WILD: return "an unmapped address";
	case KIND_DENIED: return "memory whose protection forbids this access";
	case KIND_NONCANONICAL: return "an invalid address: a corrupted pointer";
	case KIND_SEGV: return "an invalid memory access (address unknown)";
	case KIND_STACK: return "the stack overflowed";
	case KIND_ILL: return "an instruction that this CPU does not support";
	case KIND_FPE: return "an integer division by zero or overflow";
	case KIND_BUS: return "an access past the end of a mapped file, or unaligned";
	case KIND_HEAP: return "the heap was corrupted earlier";
	case KIND_ASAN: return "AddressSanitizer found a bad access";
	case KIND_ASSERT: return "an assertion failed";
	case KIND_EXCEPTION: return "an uncaught exception";
	case KIND_ABORT: return "the program aborted";
	case KIND_OOM: return "out of memory: the kernel killed the process";
	case KIND_KILLED: return "killed from outside, usually for running out of memory";
	case KIND_CUDA: return "a CUDA error";
	case KIND_CUDA_IMA: return "a GPU kernel made an illegal memory access";
	case KIND_REFUSED: return "the model rejected the call";
	case KIND_OPERATOR: return "an operator called by the model failed";
	case KIND_ERROR: return "a Python exception";
	default: return "reason unknown";
	}
}

/* "in the kernel cpp_fused_relu_0", "in libtorch_cpu.so, called by the model"; empty */
static void add_where(const struct crash_verdict *v, const struct crash *c, const struct crashmap *map, struct buf *b)
{
	const struct crash_place *p = v->frame == NONE ? NULL : &map->place[v->frame];
	const struct crash_frame *f = v->frame == NONE ? NULL : &c->frame[v->frame];
	bool model = v->call_frame != NONE || model_involved(v, c, map);
	if (!f || v->kind == KIND_OPERATOR)
		return;
	struct slice base = slice_base(f->module);
	switch (v->owner) {
	case OWNER_KERNEL: buf_addf(b, ", in the kernel %.*s", SL(p->kernel)); return;
	case OWNER_JIT: buf_addf(b, ", in code generated by torch.compile (%.*s)", SL(base)); return;
	case OWNER_MODEL: buf_adds(b, v->loading ? ", while loading the model" : ", in the model's own code"); return;
	case OWNER_CUSTOM: buf_addf(b, ", in %.*s%s", SL(base), model ? ", a custom op called by the model" : ""); return;
	case OWNER_TORCH:
		buf_addf(b, ", in %.*s%s", SL(base), !model ? "" : v->loading ? ", while loading the model" : ", called by the model");
		return;
	case OWNER_CUDA: buf_addf(b, ", in the CUDA library %.*s", SL(base)); return;
	case OWNER_PYTHON: buf_addf(b, ", in Python%s", model ? "" : ", outside the model"); return;
	case OWNER_PROGRAM: buf_addf(b, ", in %.*s%s", SL(base.n ? base : f->symbol), model ? "" : ", outside the model"); return;
	default: return;
	}
}

static void set_title(struct crash_verdict *v, struct crash *c, const struct crashmap *map)
{
	struct buf b = {0};
	if (c->signal)
		buf_addf(&b, "%s: ", crash_signal_name(c, c->signal));
	buf_adds(&b, what_of(c, v->kind));
	if (!c->signal)
		b.p[0] = (char)toupper((unsigned char)b.p[0]);
	add_where(v, c, map, &b);
	v->title = arena_take(&v->arena, &b);
}

/* ---- why ---- */

static void why_address(struct crash_verdict *v, const struct crash *c)
{
	const struct crash_map *below = map_below(c, c->fault), *m = crash_map_of(c, c->fault);
	unsigned long long at = c->fault;
	if (v->kind == KIND_BEHIND && below)
		why(v, "0x%llx is %llu bytes past the end of the mapping %llx-%llx%s%.*s: likely code that runs past the end of its data",
		    at, (unsigned long long)(c->fault - below->end), (unsigned long long)below->start, (unsigned long long)below->end,
		    below->path.n ? " of " : "", SL(slice_base(below->path)));
	else if (v->kind == KIND_DENIED && m)
		why(v, "0x%llx is in %llx-%llx %c%c%c%s%.*s", at, (unsigned long long)m->start, (unsigned long long)m->end,
		    m->read ? 'r' : '-', m->write ? 'w' : '-', m->exec ? 'x' : '-', m->path.n ? " of " : "", SL(slice_base(m->path)));
	else if (v->kind == KIND_NULL || v->kind == KIND_SMALL)
		why(v, "the address is 0x%llx: a missing tensor or object", at);
	else if (c->has_fault)
		why(v, "the address is 0x%llx%s", at, c->n_maps ? ", which is not mapped" : "");
}

static void why_generated(struct crash_verdict *v, const struct crash *c, const struct crashmap *map)
{
	const struct crash_place *p = v->call_frame == NONE ? NULL : &map->place[v->call_frame];
	if (v->owner != OWNER_KERNEL || !(v->kind >= KIND_BEHIND && v->kind <= KIND_SEGV))
		return;
	uint32_t inputs = 0;
	const struct contract *k = p && p->library ? &p->library->loaded.contract : NULL;
	for (uint32_t i = 0; p && p->call && i < p->call->n_args; i++) {
		const struct contract_arg *a = &k->arg[p->call->arg + i];
		inputs += a->value != NONE && k->value[a->value].kind == VALUE_INPUT;
	}
	(void)c;
	why(v, "a generated kernel does not check sizes and strides: it reads what it was compiled for, whatever tensor it is given%s",
	    inputs ? "; this one reads an input of the model" : "");
}

/* What the doctor finds wrong with the package: weights that are missing, instructions that the CPU lacks. */
static void why_doctor(struct crash_verdict *v, const struct crashmap *map)
{
	OWNED(doctor_release) struct doctor d = {0};
	struct doctor_options o = {.no_torch = true};
	struct err err;
	struct crash_library *l = v->frame != NONE && map->place[v->frame].library ? map->place[v->frame].library
				  : map->n                                         ? map->library[0]
										   : NULL;
	if (!l || doctor_examine(&d, &l->loaded.pkg, l->loaded.model, &o, &err) < 0)
		return;
	for (size_t i = 0; i < d.n; i++)
		if (v->kind == KIND_ILL ? !strcmp(d.v[i].id, "cpu-isa") || !strcmp(d.v[i].id, "march-native")
					: d.v[i].level == DOCTOR_FATAL)
			why(v, "%.*s%s%.*s", SL(d.v[i].what), d.v[i].why.n ? ": " : "", SL(d.v[i].why));
}

/* Which access it was: from a core's registers. */
static void why_instruction(struct crash_verdict *v, struct crash *c, const struct crashmap *map)
{
	struct insn i;
	char operand[64];
	if (c->signal != SIGSEGV || !machine_instruction(c, map, &i))
		return;
	insn_operand(&i, operand, sizeof(operand));
	struct buf bits = {0};
	if (i.bits > 128)
		buf_addf(&bits, " (%u-bit vector)", i.bits);
	why(v, "the instruction is a %s of %u byte%s%s at %s = 0x%llx", i.writes ? "store" : "load", i.width, plural(i.width),
	    buf_str(&bits), operand, (unsigned long long)i.address);
	buf_release(&bits);
}

static void add_why(struct crash_verdict *v, struct crash *c, const struct crashmap *map)
{
	if (v->kind >= KIND_NULL && v->kind <= KIND_DENIED)
		why_address(v, c);
	if (c->exception.n)
		why(v, "%.*s%s%.*s", SL(c->exception), c->what.n ? ": " : "", SL(c->what));
	else if (c->what.n)
		why(v, "%.*s", SL(c->what));
	why_instruction(v, c, map);
	if (v->kind <= KIND_HEAP || v->kind == KIND_ABORT)
		why_doctor(v, map);
	if (v->kind == KIND_HEAP)
		why(v, "malloc only noticed it here: the out-of-bounds write happened earlier, and is not in this stack");
	if (v->kind == KIND_NONCANONICAL)
		why(v, "the CPU reports no address: the pointer is invalid (freed or overwritten memory, or an integer used as a pointer)");
	why_generated(v, c, map);
}

/* ---- next ---- */

static const char *package_of(const struct crash_verdict *v, const struct crashmap *map)
{
	if (v->call_frame != NONE)
		return map->place[v->call_frame].library->loaded.pkg.path;
	return map->n ? map->library[0]->loaded.pkg.path : "model.pt2";
}

static void steps_model(struct crash_verdict *v, const struct crash *c, const char *pkg)
{
	if (v->loading || v->kind == KIND_ILL) {
		step(v, "aoti-checkinputs --doctor %s    # will it load and run on this machine?", pkg);
		if (v->kind == KIND_ILL)
			step(v, "compile on this machine, or set torch._inductor.config.cpp.march = \"x86-64-v3\" and cpp.simdlen = 256");
		else
			step(v, "load it on the device type it was compiled for: aoti-checkinputs %s shows which", pkg);
		return;
	}
	if (v->kind == KIND_HEAP || v->kind == KIND_ABORT || (v->kind >= KIND_BEHIND && v->kind <= KIND_SEGV) || v->kind == KIND_BUS)
		step(v, "pt2-run --bounds %s INPUT...    # does a kernel read or write outside of its tensors?", pkg);
	if (c->command.n)
		step(v, "aoti-checkinputs %s -- %.*s%s    # checks every call's devices, shapes and strides", pkg, SL(c->command),
		     c->command.n >= 79 ? "..." : "");
	else
		step(v, "aoti-checkinputs %s INPUT...    # checks devices, shapes and strides; or: -- COMMAND", pkg);
	if (v->kind != KIND_REFUSED && v->kind != KIND_OPERATOR)
		step(v, "AOTI_RUNTIME_CHECK_INPUTS=1 COMMAND    # the model itself rejects wrong inputs (older torch: set it when "
			"compiling)");
	if (v->owner == OWNER_KERNEL || v->owner == OWNER_MODEL)
		step(v, "aoti-printer %s INPUT...    # prints what each kernel read and wrote, up to the crash", pkg);
}

/* Code in torch.compile's cache has no package; look at the graph it was compiled from. */
static void steps_jit(struct crash_verdict *v)
{
	step(v, "TORCH_COMPILE_DEBUG=1 COMMAND; fxexplain kernel NAME torch_compile_debug/    # the kernel's code, nodes and Python lines");
	step(v, "TORCHDYNAMO_REPRO_AFTER=aot TORCHDYNAMO_REPRO_LEVEL=3 COMMAND    # writes a launcher per graph; then: fxminify LAUNCHER");
}

static void steps_lines(struct crash_verdict *v, const struct crashmap *map)
{
	bool without = false;
	for (size_t i = 0; i < map->n; i++)
		without |= map->library[i]->has_so && !map->library[i]->has_lines;
	if (without && v->frame != NONE)
		step(v, "AOT_INDUCTOR_DEBUG_SYMBOLS=1 when compiling adds line numbers (AOT_INDUCTOR_DEBUG_COMPILE=1 also turns off "
			"optimization)");
}

static void steps_stack(struct crash_verdict *v, const struct crash *c)
{
	bool told = v->kind == KIND_REFUSED || v->kind == KIND_OPERATOR || v->kind == KIND_ERROR;
	if (crash_main_stack(c) || told || v->kind == KIND_OOM || v->kind == KIND_KILLED)
		return;
	step(v, "for a native stack: ulimit -c unlimited; COMMAND; fxexplain crash core %s", "model.pt2");
	step(v, "or: gdb -batch -ex run -ex bt --args COMMAND 2>&1 | fxexplain crash - model.pt2");
	if (!crash_python_stack(c))
		step(v, "python -X faulthandler    # adds the Python stack");
}

static void steps_cuda(struct crash_verdict *v, const char *pkg)
{
	step(v,
	     "AOTI_RUNTIME_CHECK_INPUTS=1 TORCHINDUCTOR_NAN_ASSERTS=1    # first check devices and shapes (set the second when compiling)");
	step(v, "PYTORCH_NO_CUDA_MEMORY_CACHING=1 CUDA_LAUNCH_BLOCKING=1 COMMAND    # fails at the same place each time, at the failing "
		"launch");
	step(v,
	     "aoti-printer -l 3 %s -- COMMAND    # shows the last kernel launched; older torch: "
	     "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=3",
	     pkg);
	step(v, "usual causes: dynamic shapes; custom ops whose meta function takes int instead of SymInt");
}

static void add_steps(struct crash_verdict *v, const struct crash *c, const struct crashmap *map)
{
	const char *pkg = package_of(v, map);
	bool model = model_involved(v, c, map) || map->n;
	switch (v->kind) {
	case KIND_NONE: return;
	case KIND_CUDA:
	case KIND_CUDA_IMA: steps_cuda(v, pkg); return;
	case KIND_OOM:
	case KIND_KILLED:
		step(v, "dmesg | grep -i 'out of memory'    # did the kernel kill it?");
		if (model)
			step(v, "aoti-checkinputs %s    # shows the size of the model's weights and buffers", pkg);
		return;
	case KIND_STACK: step(v, "try ulimit -s unlimited, or OMP_STACKSIZE=64M for OpenMP threads"); break;
	case KIND_HEAP:
		step(v, "LD_PRELOAD=libc_malloc_debug.so.0 MALLOC_CHECK_=3 COMMAND    # checks at each call (glibc 2.34 and newer)");
		step(v, "valgrind COMMAND    # finds the out-of-bounds write itself");
		break;
	case KIND_EXCEPTION:
	case KIND_ABORT:
	case KIND_ERROR: step(v, "TORCH_SHOW_CPP_STACKTRACES=1 COMMAND    # where it was thrown"); break;
	case KIND_BUS: step(v, "df -h    # or was the package changed or truncated while in use?"); break;
	default: break;
	}
	if (v->owner == OWNER_JIT)
		steps_jit(v);
	else if (model && v->kind != KIND_ERROR)
		steps_model(v, c, pkg);
	if (v->owner == OWNER_CUSTOM)
		step(v, "call the custom op eagerly with the same tensors: torch.library.opcheck(op, args) checks its meta function");
	steps_lines(v, map);
	steps_stack(v, c);
}

void crash_judge(struct crash_verdict *v, struct crash *c, const struct crashmap *map)
{
	*v = (struct crash_verdict){.kind = kind_of(c)};
	find_culprit(v, c, map);
	set_title(v, c, map);
	add_why(v, c, map);
	add_steps(v, c, map);
}

void crash_verdict_release(struct crash_verdict *v)
{
	arena_release(&v->arena);
	*v = (struct crash_verdict){0};
}
