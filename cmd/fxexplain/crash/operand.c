#include "crash/operand.h"

#include <elf.h>

enum { LONGEST = 15, WIDEST = 64 };

struct bytes {
	struct slice s;
	size_t at;
	bool end;
};

static unsigned next(struct bytes *b)
{
	if (b->at >= b->s.n) {
		b->end = true;
		return 0;
	}
	return (unsigned char)b->s.p[b->at++];
}

static bool prefix(unsigned v)
{
	return v == 0x66 || v == 0xf2 || v == 0xf3 || v == 0x2e || v == 0x36 || v == 0x3e || v == 0x26 || v == 0xf0;
}

/* The prefixes up to the opcode, with the bits that extend register numbers. */
static void skip_opcode(struct bytes *b, unsigned *rex_x, unsigned *rex_b, bool *evex)
{
	unsigned v = next(b);
	while (prefix(v) && !b->end)
		v = next(b);
	*rex_x = *rex_b = 0;
	*evex = v == 0x62;
	if (v == 0xc5) {
		next(b);
		next(b);
		return;
	}
	if (v == 0xc4 || v == 0x62) {
		unsigned first = next(b);
		*rex_x = !(first & 0x40);
		*rex_b = !(first & 0x20);
		for (int i = v == 0xc4 ? 0 : -1; i < 1; i++)
			next(b);
		next(b);
		return;
	}
	if ((v & 0xf0) == 0x40) {
		*rex_x = v >> 1 & 1;
		*rex_b = v & 1;
		v = next(b);
	}
	if (v == 0x0f) {
		v = next(b);
		if (v == 0x38 || v == 0x3a)
			next(b);
	}
}

static int64_t displacement(struct bytes *b, unsigned n)
{
	uint32_t v = 0;
	for (unsigned i = 0; i < n; i++)
		v |= (uint32_t)next(b) << 8 * i;
	return n == 1 ? (int8_t)v : (int32_t)v;
}

bool operand_decode(struct slice s, struct operand *o)
{
	struct bytes b = {.s = s};
	unsigned x, rex_b;
	bool evex;
	*o = (struct operand){.base = -1, .index = -1, .scale = 1};
	skip_opcode(&b, &x, &rex_b, &evex);
	unsigned modrm = next(&b), mod = modrm >> 6, rm = modrm & 7;
	if (b.end || mod == 3 || (mod == 0 && rm == 5))
		return false;
	if (rm == 4) {
		unsigned sib = next(&b), index = (sib >> 3 & 7) | x << 3, base = sib & 7;
		if (index != 4) {
			o->index = (int)index;
			o->scale = 1u << (sib >> 6);
		}
		if (base == 5 && mod == 0)
			o->disp = displacement(&b, 4);
		else
			o->base = (int)(base | rex_b << 3);
	} else {
		o->base = (int)(rm | rex_b << 3);
	}
	if (mod)
		o->disp = displacement(&b, mod == 1 ? 1 : 4);
	o->disp8_scaled = evex && mod == 1;
	return !b.end;
}

static const char *const register_name[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
					      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

static uint64_t value_of(const struct crash *c, int number)
{
	for (unsigned i = 0; i < c->reg.n && number >= 0; i++)
		if (!strcmp(c->reg.name[i], register_name[number]))
			return c->reg.value[i];
	return 0;
}

static void describe(struct buf *b, const struct crash *c, const struct operand *o, int64_t disp)
{
	uint64_t base = value_of(c, o->base), index = value_of(c, o->index);
	if (o->base >= 0)
		buf_adds(b, register_name[o->base]);
	if (o->index >= 0 && o->scale > 1)
		buf_addf(b, "%s%u*%s", o->base >= 0 ? " + " : "", o->scale, register_name[o->index]);
	else if (o->index >= 0)
		buf_addf(b, "%s%s", o->base >= 0 ? " + " : "", register_name[o->index]);
	if (disp)
		buf_addf(b, " %c 0x%llx", disp < 0 ? '-' : '+', (unsigned long long)(disp < 0 ? -disp : disp));
	if (o->base >= 0)
		buf_addf(b, "; %s is 0x%llx", register_name[o->base], (unsigned long long)base);
	if (o->index >= 0)
		buf_addf(b, "%s %s is %lld", o->base >= 0 ? "," : ";", register_name[o->index], (long long)index);
	if (o->index >= 0 && o->base >= 0 && o->scale > 1)
		buf_addf(b, ": element %lld, %u bytes each", (long long)index, o->scale);
}

void crash_operand(struct crash *c, const struct crashmap *map, struct slice *text)
{
	const struct crash_stack *s = crash_main_stack(c);
	struct operand o;
	*text = (struct slice){0};
	if (!s || !c->reg.n || !c->has_fault || c->machine != EM_X86_64)
		return;
	const struct crash_place *p = &map->place[s->first];
	const struct crash_frame *f = &c->frame[s->first];
	if (!p->library || !p->has_address || f->form != FORM_CORE ||
	    !operand_decode(modelso_bytes_at(&p->library->so, p->address, LONGEST), &o) || (o.index < 0 && !o.disp))
		return; /* a plain register holds the address itself */
	uint64_t plain = value_of(c, o.base) + value_of(c, o.index) * o.scale;
	for (int64_t unit = 1; unit <= (o.disp8_scaled ? WIDEST : 1); unit *= 2) {
		if (c->fault - (plain + (uint64_t)(o.disp * unit)) >= WIDEST)
			continue;
		struct buf b = {0};
		describe(&b, c, &o, o.disp * unit);
		*text = arena_take(&c->arena, &b);
		return;
	}
}
