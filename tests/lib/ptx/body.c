/* The body of a kernel: declarations, labels, instructions with their operands (PTX ISA 8.x, chapters 4 and 6). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static const struct {
	const char *name;
	uint8_t reg;
} special[] = {
    {"%tid.x", SR_TID},           {"%tid.y", SR_TID + 1},       {"%tid.z", SR_TID + 2},       {"%ntid.x", SR_NTID},
    {"%ntid.y", SR_NTID + 1},     {"%ntid.z", SR_NTID + 2},     {"%ctaid.x", SR_CTAID},       {"%ctaid.y", SR_CTAID + 1},
    {"%ctaid.z", SR_CTAID + 2},   {"%nctaid.x", SR_NCTAID},     {"%nctaid.y", SR_NCTAID + 1}, {"%nctaid.z", SR_NCTAID + 2},
    {"%laneid", SR_LANEID},       {"%warpid", SR_WARPID},       {"%nwarpid", SR_NWARPID},     {"%smid", SR_SMID},
    {"%nsmid", SR_NSMID},         {"%gridid", SR_GRIDID},       {"%lanemask_eq", SR_MASK_EQ}, {"%lanemask_lt", SR_MASK_LT},
    {"%lanemask_le", SR_MASK_LE}, {"%lanemask_gt", SR_MASK_GT}, {"%lanemask_ge", SR_MASK_GE}, {"%dynamic_smem_size", SR_DYNAMIC_SMEM},
    {"%clock", SR_CLOCK},         {"%clock_hi", SR_CLOCK},      {"%clock64", SR_CLOCK},       {"%globaltimer", SR_CLOCK},
    {"%globaltimer_lo", SR_CLOCK}};

/* Shared variables get their place in a kernel that uses them. */
static bool place_shared(struct ptx_reader *r, struct symbol *s)
{
	if (s->owner == r->kernel_number)
		return true;
	uint64_t at = (r->shared + s->align - 1) / s->align * s->align;
	if (at + s->count > MAX_SHARED)
		return ptx_fail(r, "more than %d bytes of shared memory", MAX_SHARED);
	s->owner = r->kernel_number;
	s->offset = at;
	r->shared = (uint32_t)(at + s->count);
	return true;
}

/* ---- operands ---- */

static bool variable(struct ptx_reader *r, struct symbol *s, struct ptx_operands *o, uint32_t *reg)
{
	static const uint8_t space[] = {
	    [SYMBOL_DATA] = GLOBAL, [SYMBOL_SHARED] = SHARED, [SYMBOL_DYNAMIC] = SHARED, [SYMBOL_LOCAL] = LOCAL, [SYMBOL_PARAM] = PARAM};
	if (s->kind == SYMBOL_SHARED && !place_shared(r, s))
		return false;
	o->address_symbol = true;
	o->literal |= 1u << o->n;
	o->symbol_space = space[s->kind];
	*reg = s->kind == SYMBOL_DATA      ? ptx_relocated(r, RELOC_DATA, s->offset)
	       : s->kind == SYMBOL_DYNAMIC ? ptx_relocated(r, RELOC_DYNAMIC, 0)
					   : ptx_constant(r, s->offset);
	return *reg != NO_REG;
}

static bool named(struct ptx_reader *r, struct ptx_word w, struct ptx_operands *o, uint32_t *reg)
{
	if (ptx_is(w, "_"))
		return *reg = SR_SINK, true;
	if (ptx_is(w, "WARP_SZ"))
		return (*reg = ptx_constant(r, LANES)) != NO_REG;
	struct symbol *s = ptx_find(r, w);
	if (s && s->kind == SYMBOL_REG)
		return *reg = s->reg, true;
	if (s && s->kind >= SYMBOL_DATA)
		return variable(r, s, o, reg);
	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++)
		if (ptx_is(w, special[i].name))
			return *reg = special[i].reg, true;
	return ptx_fail(r, "'%.*s' is not declared", (int)w.n, w.p);
}

static bool value(struct ptx_reader *r, struct ptx_operands *o, int type, uint32_t *reg)
{
	uint64_t v;
	bool real;
	if (!ptx_literal(r, &v, &real))
		return false;
	if (real && type != F32 && type != F64)
		return ptx_fail(r, "a decimal fraction as no .f32 or .f64");
	if (real && type == F32)
		v = ptx_bits(ptx_f64(v), F32);
	o->literal |= 1u << o->n;
	o->value[o->n] = v;
	return (*reg = ptx_constant(r, v)) != NO_REG;
}

static bool add(struct ptx_reader *r, struct ptx_operands *o, uint32_t reg)
{
	if (o->n == MAX_OPERANDS)
		return ptx_fail(r, "more than %d operands", MAX_OPERANDS);
	o->bytes[o->n] = r->k->code->bytes[reg];
	o->r[o->n++] = reg;
	return true;
}

static bool simple(struct ptx_reader *r, struct ptx_operands *o, int type)
{
	struct ptx_word w;
	uint32_t reg;
	if (o->n == MAX_OPERANDS)
		return ptx_fail(r, "more than %d operands", MAX_OPERANDS);
	if (ptx_word(r, &w) ? !named(r, w, o, &reg) : !value(r, o, type, &reg))
		return false;
	return add(r, o, reg);
}

/* [reg], [reg+8], [name+8], [16] */
static bool address(struct ptx_reader *r, struct ptx_operands *o)
{
	struct ptx_word w;
	uint32_t reg;
	uint64_t v;
	bool real;
	if (o->at_address) { /* cp.async has two */
		o->first_offset = o->offset;
		o->offset = 0;
	}
	if (ptx_word(r, &w)) {
		if (!named(r, w, o, &reg))
			return false;
	} else if ((reg = ptx_constant(r, 0)) == NO_REG) {
		return false;
	} else if (!ptx_literal(r, &v, &real) || real) {
		return ptx_fail(r, "an address that is not understood");
	} else {
		o->offset = (int64_t)v;
	}
	while (ptx_take(r, '+')) {
		if (!ptx_literal(r, &v, &real) || real)
			return ptx_fail(r, "an address that is not understood");
		o->offset = (int64_t)((uint64_t)o->offset + v);
	}
	if (!add(r, o, reg) || !ptx_want(r, ']'))
		return false;
	o->at_address = o->n;
	return true;
}

static bool vector(struct ptx_reader *r, struct ptx_operands *o, int type)
{
	if (o->n_vector)
		return ptx_fail(r, "two vectors");
	o->vector_at = o->n;
	do
		if (!simple(r, o, type))
			return false;
	while (ptx_take(r, ','));
	o->n_vector = (uint8_t)(o->n - o->vector_at);
	return ptx_want(r, '}');
}

static bool operand(struct ptx_reader *r, struct ptx_operands *o, int type)
{
	if (ptx_take(r, '['))
		return address(r, o);
	if (ptx_take(r, '{'))
		return vector(r, o, type);
	if (ptx_take(r, '!')) {
		o->not_last = true;
		return simple(r, o, type) && (ptx_peek(r) == ';' || ptx_fail(r, "'!' before an operand that is not the last"));
	}
	if (!simple(r, o, type))
		return false;
	if (ptx_take(r, '|')) {
		o->second = 1;
		return o->n == 1 ? simple(r, o, type) : ptx_fail(r, "'|' behind an operand that is not the first");
	}
	return true;
}

/* ---- instructions ---- */

/* "add.rn.ftz.f32" in words; those behind "::" stay with theirs. */
static bool split(struct ptx_reader *r, struct ptx_word w, char *copy, size_t room, char **word, size_t *n)
{
	*n = 0;
	if (w.n >= room)
		return ptx_fail(r, "an opcode that is too long");
	memcpy(copy, w.p, w.n);
	copy[w.n] = 0;
	for (char *p = copy; p; (*n)++) {
		if (*n == MAX_WORDS)
			return ptx_fail(r, "an opcode of more than %d words", MAX_WORDS);
		word[*n] = p;
		p = strchr(p, '.');
		if (p)
			*p++ = 0;
	}
	return true;
}

/* Constants are of the last type that is named. */
static int literal_type(char *const *word, size_t n)
{
	int type = NONE;
	for (size_t i = 1; i < n; i++)
		if (ptx_type_of(word[i]) != NONE)
			type = ptx_type_of(word[i]);
	return type;
}

static bool append(struct ptx_reader *r, struct ptx_op op)
{
	struct ptx_code *c = r->k->code;
	c->op = ptx_grow(c->op, c->n_ops, &c->cap_ops, sizeof(*c->op));
	c->op[c->n_ops++] = op;
	return true;
}

static bool branch(struct ptx_reader *r, struct ptx_op *op)
{
	struct ptx_word label;
	if (!ptx_word(r, &label))
		return ptx_fail(r, "a branch without a label");
	op->flow = FLOW_BRANCH;
	r->fixup = ptx_grow(r->fixup, r->n_fixups, &r->cap_fixups, sizeof(*r->fixup));
	r->fixup[r->n_fixups++] = (struct fixup){r->k->code->n_ops, label, r->scope};
	return append(r, *op) && ptx_want(r, ';');
}

/* call.uni __assertfail, (message, file, line, function, size); */
static bool call(struct ptx_reader *r, struct ptx_op *op)
{
	struct ptx_word name = {0};
	struct ptx_operands o = {0};
	if (ptx_peek(r) == '(' || !ptx_word(r, &name) || !ptx_is(name, "__assertfail"))
		return ptx_fail(r, "a call of '%.*s': only __assertfail is known", (int)name.n, name.p ? name.p : "");
	if (!ptx_want(r, ',') || !ptx_want(r, '('))
		return false;
	do
		if (!simple(r, &o, NONE))
			return false;
	while (ptx_take(r, ','));
	if (!ptx_want(r, ')') || o.n != 5)
		return ptx_fail(r, "__assertfail has 5 parameters");
	op->flow = FLOW_ASSERT;
	op->n = o.n;
	memcpy(op->r, o.r, sizeof(op->r));
	return append(r, *op) && ptx_want(r, ';');
}

static bool guard(struct ptx_reader *r, struct ptx_op *op, struct ptx_word *opcode)
{
	struct ptx_operands o = {0};
	op->guard_not = ptx_take(r, '!');
	if (!simple(r, &o, NONE) || o.literal)
		return ptx_fail(r, "a guard that is no register");
	op->guard = o.r[0];
	return ptx_word(r, opcode) || ptx_fail(r, "a guard without an instruction");
}

/* What is wrong with an operand, of which instruction. */
static bool about(struct ptx_reader *r, struct ptx_word opcode)
{
	char *text = strdup(r->e->text), *why = text ? strstr(text, ": ") : NULL;
	if (why)
		snprintf(r->e->text, sizeof(r->e->text), "line %u: '%.*s'%s", r->line, (int)opcode.n, opcode.p, why);
	free(text);
	return false;
}

static bool instruction(struct ptx_reader *r, struct ptx_word opcode, struct ptx_op op)
{
	char copy[256], *word[MAX_WORDS];
	size_t n;
	struct ptx_operands o = {0};
	op.line = r->line;
	if (!split(r, opcode, copy, sizeof(copy), word, &n))
		return false;
	if (!strcmp(word[0], "bra") && (n == 1 || (n == 2 && !strcmp(word[1], "uni"))))
		return branch(r, &op);
	if (!strcmp(word[0], "call"))
		return call(r, &op);
	int type = strcmp(word[0], "createpolicy") ? literal_type(word, n) : F64;
	for (bool more = ptx_peek(r) != ';'; more; more = ptx_take(r, ','))
		if (!operand(r, &o, type))
			return about(r, opcode);
	const char *why = ptx_decode(&op, word, n, &o);
	if (why)
		return ptx_fail(r, "'%.*s': %s", (int)opcode.n, opcode.p, why);
	return append(r, op) && ptx_want(r, ';');
}

/* ---- declarations ---- */

static bool registers(struct ptx_reader *r)
{
	struct ptx_word w;
	uint64_t n;
	if (!ptx_word(r, &w) || *w.p != '.')
		return ptx_fail(r, "registers without a type");
	char name[16] = "";
	if (w.n <= sizeof(name))
		memcpy(name, w.p + 1, w.n - 1);
	int type = ptx_type_of(name);
	if (type == NONE)
		return ptx_fail(r, "registers of type '%.*s'", (int)w.n, w.p);
	do {
		if (!ptx_word(r, &w))
			return ptx_fail(r, "a register without a name");
		bool range = ptx_take(r, '<');
		if (range && (!ptx_count(r, 1 << 30, &n) || !ptx_want(r, '>')))
			return false;
		struct symbol *s = ptx_declare(r, w, range ? SYMBOL_REGS : SYMBOL_REG);
		if (!s)
			return false;
		s->count = range ? n : 0;
		s->bytes = (uint8_t)ptx_type_bytes(type);
		if (!range && (s->reg = ptx_new_reg(r, s->bytes)) == NO_REG)
			return false;
	} while (ptx_take(r, ','));
	return ptx_want(r, ';');
}

static bool declaration(struct ptx_reader *r, struct ptx_word w)
{
	if (ptx_is(w, ".loc") || ptx_is(w, ".file"))
		return ptx_skip_line(r), true;
	if (ptx_is(w, ".reg"))
		return registers(r);
	if (ptx_is(w, ".shared"))
		return ptx_variable(r, SYMBOL_SHARED, false);
	if (ptx_is(w, ".local") || ptx_is(w, ".param")) /* parameters of calls are this thread's */
		return ptx_variable(r, SYMBOL_LOCAL, false);
	if (ptx_is(w, ".pragma"))
		return ptx_skip_to(r, ';');
	return ptx_fail(r, "'%.*s' is not known", (int)w.n, w.p);
}

static bool statement(struct ptx_reader *r)
{
	struct ptx_op op = {.guard = NO_REG};
	struct ptx_word w;
	if (ptx_take(r, ';'))
		return true;
	if (ptx_take(r, '@'))
		return guard(r, &op, &w) && instruction(r, w, op);
	if (!ptx_word(r, &w))
		return ptx_fail(r, "'%c' where an instruction should be", ptx_peek(r) ? *r->p : ' ');
	if (ptx_take(r, ':')) {
		struct symbol *s = ptx_declare(r, w, SYMBOL_LABEL);
		if (s)
			s->offset = r->k->code->n_ops;
		return s != NULL;
	}
	return *w.p == '.' ? declaration(r, w) : instruction(r, w, op);
}

static bool resolve(struct ptx_reader *r)
{
	for (size_t i = 0; i < r->n_fixups; i++) {
		struct fixup *f = &r->fixup[i];
		struct symbol *s = ptx_find_in(r, f->label, f->scope);
		if (!s || s->kind != SYMBOL_LABEL)
			return ptx_fail(r, "there is no label '%.*s'", (int)f->label.n, f->label.p);
		r->k->code->op[f->op].target = (uint32_t)s->offset;
	}
	return true;
}

bool ptx_body(struct ptx_reader *r)
{
	if (!ptx_want(r, '{') || !ptx_enter(r))
		return false;
	for (unsigned inner = 1; inner;) {
		char c = ptx_peek(r);
		if (!c)
			return ptx_fail(r, "a kernel that does not end");
		if (c != '{' && c != '}') {
			if (!statement(r))
				return false;
			continue;
		}
		r->p++;
		inner += c == '{' ? 1u : -1u;
		if (c == '{' && !ptx_enter(r))
			return false;
		if (c == '}')
			ptx_leave(r);
	}
	return append(r, (struct ptx_op){.guard = NO_REG, .flow = FLOW_EXIT, .line = r->line}) && resolve(r);
}
