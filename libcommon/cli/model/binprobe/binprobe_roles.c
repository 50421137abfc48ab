/* Finds out whether kernels of a library without its text read, change or overwrite buffers written earlier.
 *
 * Nothing in a library or a cubin says so. But the parameters of a kernel that Inductor generates are in the order in_out_ptr*, in_ptr*,
 * out_ptr*, numbers (torch/_inductor/codegen/common.py, KernelArgs.python_argdefs and cpp_argdefs; 2.13), and some of them are known: a new
 * buffer is written, inputs and constants are read. The rest follows, or does not; then the role stays ARG_UNKNOWN:
 *
 *	- the same kernel has the same parameters in each of its calls
 *	- a kernel writes something, and only what is used: a buffer that is not used again, or is overwritten next, is read
 *	- what was not read since it was written is not overwritten
 *	- a kernel with a new buffer changes an older one only as in_out_ptr, unless its name contains an operator that writes in place
 *
 * A hand-written kernel has its parameters in any order: the role of an old buffer in it is unknown. */
#include "model/binprobe/binprobe_child.h"

enum { IO = 1, IN = 2, OUT = 4, ALL = 7 }; /* in_out_ptr, in_ptr, out_ptr: what a parameter can be */

struct roles {
	struct contract *c;
	uint8_t *mask; /* of each argument */
	bool sure;     /* all uses of buffers are known */
	bool changed;
};

static bool generated(const struct contract_call *k)
{
	static const char *const kind[] = {"triton_poi_", "triton_per_", "triton_red_", "triton_for_", "cpp_fused_"};
	for (size_t i = 0; i < ARRAY_LEN(kind); i++)
		if (k->kind == CALL_KERNEL && slice_starts(k->name, kind[i]))
			return true;
	return false;
}

/* Operators in the name of a kernel that may change only part of its out_ptr: the old content matters. */
static bool writes_into(const struct contract_call *k)
{
	static const char *const op[] = {"scatter", "put", "index_add", "index_copy", "index_fill", "copy_", "backward"};
	for (size_t i = 0; i < ARRAY_LEN(op); i++)
		if (slice_find(k->name, op[i]))
			return true;
	return false;
}

static void narrow(struct roles *r, uint32_t a, unsigned to)
{
	uint8_t mask = r->mask[a] & (uint8_t)to;
	if (!mask || mask == r->mask[a]) /* contradictions are left as they are */
		return;
	r->mask[a] = mask;
	r->changed = true;
}

static bool old(const struct roles *r, uint32_t a) { return r->c->arg[a].role == ARG_UNKNOWN; }

static bool same_memory(const struct contract *c, uint32_t a, uint32_t b)
{
	return a == b || (c->value[a].storage != NONE && c->value[a].storage == c->value[b].storage);
}

/* The next (step 1) or previous (step -1) call that touches the memory of argument a, and in *arg which of its arguments, the
 * first of the same value, else any. NONE: no call. */
static uint32_t neighbour(const struct contract *c, uint32_t call, uint32_t a, int step, uint32_t *arg)
{
	for (uint32_t k = call + (uint32_t)step; k < c->n_calls; k += (uint32_t)step) {
		*arg = NONE;
		for (uint32_t b = c->call[k].arg; b < c->call[k].arg + c->call[k].n_args; b++)
			if (c->arg[b].value != NONE && same_memory(c, c->arg[b].value, c->arg[a].value))
				if (*arg == NONE || (c->arg[b].value == c->arg[a].value && c->arg[*arg].value != c->arg[a].value))
					*arg = b;
		if (*arg != NONE)
			return k;
	}
	return NONE;
}

/* Does this call write the whole buffer, and nothing else of it? One argument of the same value, no other of its memory. */
static bool overwrites(const struct roles *r, uint32_t call, uint32_t b, uint32_t value)
{
	const struct contract *c = r->c;
	const struct contract_call *k = &c->call[call];
	for (uint32_t i = k->arg; i < k->arg + k->n_args; i++)
		if (i != b && c->arg[i].value != NONE && same_memory(c, c->arg[i].value, value))
			return false;
	if (c->arg[b].value != value)
		return false;
	return old(r, b) ? generated(k) && r->mask[b] == OUT && !writes_into(k) : c->arg[b].role == ARG_OUT;
}

static bool is_output(const struct contract *c, uint32_t value)
{
	for (uint32_t i = 0; i < c->n_outputs; i++)
		if (same_memory(c, c->output[i].value, value))
			return true;
	return false;
}

static bool used_later(const struct roles *r, uint32_t call, uint32_t a)
{
	uint32_t b, k = neighbour(r->c, call, a, 1, &b);
	return k == NONE ? is_output(r->c, r->c->arg[a].value) : !overwrites(r, k, b, r->c->arg[a].value);
}

static bool read_since(const struct roles *r, uint32_t call, uint32_t a)
{
	uint32_t b, k = neighbour(r->c, call, a, -1, &b);
	if (k == NONE || r->c->arg[b].value != r->c->arg[a].value)
		return true;
	return old(r, b) ? r->mask[b] & IN : r->c->arg[b].role != ARG_OUT && r->c->arg[b].role != ARG_INOUT;
}

/* The order of the parameters, from both ends. */
static void order_parameters(struct roles *r, const struct contract_call *k)
{
	unsigned from = ALL, up_to = ALL;
	for (uint32_t i = 0; i < k->n_args; i++) {
		uint32_t a = k->arg + i, z = k->arg + k->n_args - 1 - i;
		narrow(r, a, from);
		narrow(r, z, up_to);
		from = r->mask[a] & IO ? from : r->mask[a] & IN ? from & (IN | OUT) : OUT;
		up_to = r->mask[z] & OUT ? up_to : r->mask[z] & IN ? up_to & (IO | IN) : IO;
	}
}

static void must_write(struct roles *r, const struct contract_call *k)
{
	uint32_t n = 0, last = 0;
	for (uint32_t a = k->arg; a < k->arg + k->n_args; a++)
		if (r->mask[a] & (IO | OUT))
			n++, last = a;
	if (n == 1)
		narrow(r, last, IO | OUT);
}

static void as_elsewhere(struct roles *r, uint32_t call)
{
	const struct contract_call *k = &r->c->call[call];
	for (uint32_t j = 0; j < call; j++) {
		const struct contract_call *o = &r->c->call[j];
		if (o->n_args != k->n_args || !slice_eq(o->name, k->name))
			continue;
		for (uint32_t i = 0; i < k->n_args; i++) {
			narrow(r, k->arg + i, r->mask[o->arg + i]);
			narrow(r, o->arg + i, r->mask[k->arg + i]);
		}
		return; /* the others agree with that one */
	}
}

static void look_at(struct roles *r, uint32_t call)
{
	const struct contract_call *k = &r->c->call[call];
	for (uint32_t a = k->arg; r->sure && a < k->arg + k->n_args; a++) {
		if (!old(r, a) || r->mask[a] == IN)
			continue;
		if (!used_later(r, call, a))
			narrow(r, a, IN);
		if (!writes_into(k) && !read_since(r, call, a))
			narrow(r, a, IO | IN);
	}
	order_parameters(r, k);
	must_write(r, k);
	as_elsewhere(r, call);
}

static void start_masks(struct roles *r, const struct contract_call *k)
{
	struct contract *c = r->c;
	bool fresh = false, buffer = false;
	for (uint32_t a = k->arg; a < k->arg + k->n_args; a++) {
		fresh |= c->arg[a].role == ARG_OUT;
		buffer |= c->arg[a].role == ARG_OUT || old(r, a);
	}
	for (uint32_t a = k->arg; a < k->arg + k->n_args; a++) {
		/* It writes something: so an input, but it is unknown which one. */
		if (k->kind == CALL_KERNEL && (generated(k) ? !buffer : !fresh))
			c->arg[a].role = ARG_UNKNOWN;
		r->mask[a] = !old(r, a)                 ? (c->arg[a].role == ARG_OUT     ? IO | OUT
							   : c->arg[a].role == ARG_INOUT ? IO
											 : IN)
			     : fresh && !writes_into(k) ? IO | IN
							: ALL;
	}
}

void roles_settle(struct contract *c, bool sure)
{
	enum { PASSES = 64 };
	struct roles r = {.c = c, .sure = sure, .mask = xcalloc((size_t)c->n_args + 1, 1), .changed = true};
	for (uint32_t i = 0; i < c->n_outputs; i++)
		r.sure = r.sure && c->output[i].value < c->n_values;
	for (uint32_t i = 0; i < c->n_calls; i++)
		start_masks(&r, &c->call[i]);
	for (int pass = 0; r.changed && pass < PASSES; pass++) {
		r.changed = false;
		for (uint32_t i = c->n_calls; i-- > 0;)
			if (generated(&c->call[i]))
				look_at(&r, i);
	}
	for (uint32_t i = 0; i < c->n_calls; i++)
		for (uint32_t a = c->call[i].arg; generated(&c->call[i]) && a < c->call[i].arg + c->call[i].n_args; a++)
			if (old(&r, a))
				c->arg[a].role = r.mask[a] == IO    ? ARG_INOUT
						 : r.mask[a] == IN  ? ARG_IN
						 : r.mask[a] == OUT ? ARG_OUT
								    : ARG_UNKNOWN;
	free(r.mask);
}
