#include "watch/insn.h"

/* ---- prefixes ---- */

enum map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

struct form {
	const uint8_t *p, *end;
	enum map map;
	uint8_t opcode, modrm, rep; /* rep: the mandatory prefix, 0x66, 0xf2, 0xf3 or 0 */
	bool operand16, wide, vex, evex, broadcast, elsewhere;
	uint8_t x, b, length, mask; /* length: 0, 1, 2 for 128, 256, 512 */
};

static bool take(struct form *f, uint8_t *byte)
{
	if (f->p == f->end)
		return false;
	*byte = *f->p++;
	return true;
}

static bool read_vex2(struct form *f)
{
	uint8_t v;
	static const uint8_t rep[] = {0, 0x66, 0xf3, 0xf2};
	if (!take(f, &v))
		return false;
	f->vex = true;
	f->map = MAP_0F;
	f->length = v >> 2 & 1;
	f->rep = rep[v & 3];
	return take(f, &f->opcode);
}

static bool read_vex3(struct form *f)
{
	uint8_t a, v;
	static const uint8_t rep[] = {0, 0x66, 0xf3, 0xf2};
	if (!take(f, &a) || !take(f, &v) || (a & 31) < 1 || (a & 31) > 3)
		return false;
	f->vex = true;
	f->map = (enum map)(a & 31);
	f->x = a & 0x40 ? 0 : 8;
	f->b = a & 0x20 ? 0 : 8;
	f->wide = v & 0x80;
	f->length = v >> 2 & 1;
	f->rep = rep[v & 3];
	return take(f, &f->opcode);
}

static bool read_evex(struct form *f)
{
	uint8_t a, v, w;
	static const uint8_t rep[] = {0, 0x66, 0xf3, 0xf2};
	if (!take(f, &a) || !take(f, &v) || !take(f, &w) || (a & 7) < 1 || (a & 7) > 3)
		return false;
	f->vex = f->evex = true;
	f->map = (enum map)(a & 7);
	f->x = a & 0x40 ? 0 : 8;
	f->b = a & 0x20 ? 0 : 8;
	f->wide = v & 0x80;
	f->rep = rep[v & 3];
	f->length = w >> 5 & 3;
	f->broadcast = w & 0x10;
	f->mask = w & 7;
	return f->length < 3 && take(f, &f->opcode);
}

static bool read_prefixes(struct form *f)
{
	uint8_t c = 0;
	while (take(f, &c)) {
		if (c == 0x66) {
			f->operand16 = true;
			f->rep = f->rep ? f->rep : c;
		} else if (c == 0xf2 || c == 0xf3) {
			f->rep = c;
		} else if (c == 0x64 || c == 0x65) {
			f->elsewhere = true;
		} else if (c == 0x67) {
			return false;
		} else if (c != 0x2e && c != 0x36 && c != 0x3e && c != 0x26 && c != 0xf0) {
			break;
		}
	}
	if (c == 0xc5)
		return read_vex2(f);
	if (c == 0xc4)
		return read_vex3(f);
	if (c == 0x62)
		return read_evex(f);
	if ((c & 0xf0) == 0x40) {
		f->wide = c & 8;
		f->x = c & 2 ? 8 : 0;
		f->b = c & 1 ? 8 : 0;
		if (!take(f, &c))
			return false;
	}
	if (c != 0x0f) {
		f->opcode = c;
		return true;
	}
	f->map = MAP_0F;
	if (!take(f, &f->opcode))
		return false;
	if (f->opcode == 0x38 || f->opcode == 0x3a) {
		f->map = f->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
		return take(f, &f->opcode);
	}
	return true;
}

/* ---- how many bytes, and which way ---- */

static unsigned full(const struct form *f) { return 16u << f->length; }

static bool one_byte(const struct form *f, struct insn *i)
{
	const uint8_t o = f->opcode;
	i->width = f->wide ? 8 : f->operand16 ? 2 : 4;
	if (o < 0x40 && (o & 7) < 4) { /* add, or, adc, sbb, and, sub, xor, cmp */
		i->writes = (o & 7) < 2 && o < 0x38;
	} else if (o == 0x88 || o == 0x89 || o == 0xc6 || o == 0xc7) {
		i->writes = true;
	} else if (o == 0x63) { /* movsxd */
		i->width = 4;
		return true;
	} else if (o == 0x80 || o == 0x81 || o == 0x83) {
		i->writes = (f->modrm >> 3 & 7) != 7;
	} else if (!(o == 0x84 || o == 0x85 || o == 0x8a || o == 0x8b || o == 0x69 || o == 0x6b || o == 0xf6 || o == 0xf7 || o == 0xfe ||
		     o == 0xff || o == 0x86 || o == 0x87)) {
		return false;
	}
	if (!(o & 1) && o != 0x6b && o != 0x83)
		i->width = 1;
	return true;
}

static bool two_bytes(const struct form *f, struct insn *i)
{
	const uint8_t o = f->opcode;
	const bool single = f->rep == 0xf3, twice = f->rep == 0xf2;
	i->vector = true;
	i->width = (uint16_t)full(f);
	switch (o) {
	case 0xb6:
	case 0xbe: i->width = 1; return !(i->vector = false);
	case 0xb7:
	case 0xbf: i->width = 2; return !(i->vector = false);
	case 0xaf: i->width = f->wide ? 8 : 4; return !(i->vector = false);
	case 0x10:
	case 0x11:
		i->writes = o == 0x11;
		if (single || twice)
			i->width = single ? 4 : 8;
		return true;
	case 0x12:
	case 0x16:
		if (single || (twice && f->length))
			return true;
		i->width = 8;
		return true;
	case 0x13:
	case 0x17: i->width = 8; return i->writes = true;
	case 0x29:
	case 0x2b:
	case 0xe7: return i->writes = true;
	case 0x6e: i->width = f->wide ? 8 : 4; return true;
	case 0x7e:
		if (single)
			i->width = 8;
		else
			i->width = f->wide ? 8 : 4;
		i->writes = !single;
		return true;
	case 0x7f: return i->writes = f->rep != 0;
	case 0xd6: i->width = 8; return i->writes = true;
	case 0x2a:
	case 0x2d:
	case 0x2c: i->width = o == 0x2a ? (f->wide ? 8 : 4) : single ? 4 : 8; return true;
	case 0x5a: /* conversions between floats of two sizes */
		i->width = single ? 4 : twice ? 8 : f->rep ? i->width : i->width / 2;
		return true;
	case 0xe6: i->width = single ? i->width / 2 : i->width; return true;
	case 0x2e:
	case 0x2f: i->width = f->rep == 0x66 ? 8 : 4; return true;
	case 0xc4: i->width = 2; return true;
	default: break;
	}
	if (o >= 0x51 && o <= 0x5f) {
		if (single || twice)
			i->width = o == 0x5b ? i->width : single ? 4 : 8;
		return true;
	}
	return o == 0x14 || o == 0x15 || o == 0x28 || o == 0xc2 || o == 0xc6 || (o >= 0x60 && o <= 0x7d && o != 0x77) || o >= 0xd0;
}

static bool map_38(const struct form *f, struct insn *i)
{
	const uint8_t o = f->opcode;
	const unsigned all = full(f);
	i->vector = true;
	i->width = (uint16_t)all;
	if (o >= 0x90 && o <= 0x93) {
		i->lanes = true;
	} else if (f->evex && o >= 0xa0 && o <= 0xa3) {
		i->lanes = i->writes = true;
	} else if (f->evex && f->rep == 0xf3 && ((o >= 0x10 && o <= 0x15) || (o >= 0x20 && o <= 0x25) || (o >= 0x30 && o <= 0x35))) {
		/* vpmov: to narrower elements */
		static const uint8_t by[] = {2, 4, 8, 2, 4, 2};
		i->width = (uint16_t)(all / by[o & 7]);
		i->writes = true;
	} else if ((o >= 0x20 && o <= 0x25) || (o >= 0x30 && o <= 0x35)) {
		static const uint8_t by[] = {2, 4, 8, 2, 4, 2};
		i->width = (uint16_t)(all / by[o & 7]);
	} else if (o == 0x13) {
		i->width = (uint16_t)(all / 2);
	} else if (o == 0x18 || o == 0x58) {
		i->width = 4;
	} else if (o == 0x19 || o == 0x59) {
		i->width = 8;
	} else if (o == 0x1a || o == 0x5a) {
		i->width = 16;
	} else if (o == 0x1b || o == 0x5b) {
		i->width = 32;
	} else if (o == 0x78) {
		i->width = 1;
	} else if (o == 0x79) {
		i->width = 2;
	} else if (!f->evex && (o == 0x2c || o == 0x2d || o == 0x8c)) {
		i->masked = true;
	} else if (!f->evex && (o == 0x2e || o == 0x2f || o == 0x8e)) {
		i->masked = i->writes = true;
	} else if (f->evex && (o == 0x8a || o == 0x8b || o == 0x63)) { /* vcompress, vpcompress */
		i->writes = true;
	} else if (o >= 0x96 && o <= 0xbf && (o & 9) == 9) { /* scalar fused multiply-add */
		i->width = f->wide ? 8 : 4;
	}
	return true;
}

static bool map_3a(const struct form *f, struct insn *i)
{
	const uint8_t o = f->opcode;
	i->vector = true;
	i->width = (uint16_t)full(f);
	switch (o) {
	case 0x14: i->width = 1; return i->writes = true;
	case 0x15: i->width = 2; return i->writes = true;
	case 0x16: i->width = f->wide ? 8 : 4; return i->writes = true;
	case 0x17: i->width = 4; return i->writes = true;
	case 0x19:
	case 0x39: i->width = 16; return i->writes = true;
	case 0x1b:
	case 0x3b: i->width = 32; return i->writes = true;
	case 0x1d: i->width /= 2; return i->writes = true;
	case 0x18:
	case 0x38: i->width = 16; return true;
	case 0x1a:
	case 0x3a: i->width = 32; return true;
	case 0x20: i->width = 1; return true;
	case 0x21: i->width = 4; return true;
	case 0x22: i->width = f->wide ? 8 : 4; return true;
	case 0x0a: i->width = 4; return true;
	case 0x0b: i->width = 8; return true;
	default: return true;
	}
}

/* ---- the address ---- */

static int64_t number(const uint8_t *p, size_t n)
{
	int32_t v = 0;
	if (n == 1)
		return (int8_t)p[0];
	memcpy(&v, p, 4);
	return v;
}

static bool read_address(struct form *f, uint64_t ip, const uint64_t reg[16], struct insn *i, const uint8_t *start, unsigned immediate)
{
	const unsigned mod = f->modrm >> 6, rm = f->modrm & 7;
	size_t displaced = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	bool relative = false;
	uint64_t at = 0;
	i->base = i->index = -1;
	i->scale = 1;
	if (rm == 4) {
		uint8_t sib;
		if (!take(f, &sib))
			return false;
		const unsigned index = (sib >> 3 & 7) | f->x, base = sib & 7;
		i->scale = (uint8_t)(1u << (sib >> 6));
		if (index != 4 || i->lanes)
			i->index = (int8_t)index;
		if (base == 5 && !mod)
			displaced = 4;
		else
			i->base = (int8_t)(base | f->b);
	} else if (rm == 5 && !mod) {
		displaced = 4;
		relative = true;
	} else {
		i->base = (int8_t)(rm | f->b);
	}
	if ((size_t)(f->end - f->p) < displaced)
		return false;
	int64_t by = displaced ? number(f->p, displaced) : 0;
	f->p += displaced;
	if (f->evex && displaced == 1)
		by *= f->broadcast ? (f->wide ? 8 : 4) : i->lanes ? (f->wide ? 8 : 4) : i->width;
	i->displacement = (int32_t)by;
	if (i->base >= 0)
		at += reg[i->base];
	if (i->index >= 0 && !i->lanes)
		at += reg[i->index] * i->scale;
	if (relative)
		at += ip + (uint64_t)(f->p - start) + immediate;
	i->address = at + (uint64_t)by;
	i->memory = !f->elsewhere && !i->lanes;
	return true;
}

bool insn_decode(const uint8_t *p, size_t n, uint64_t ip, const uint64_t reg[16], struct insn *i)
{
	struct form f = {.p = p, .end = p + n};
	*i = (struct insn){.base = -1, .index = -1};
	if (!read_prefixes(&f) || !take(&f, &f.modrm))
		return false;
	if (f.modrm >> 6 == 3)
		return false; /* no memory */
	bool known = false;
	switch (f.map) {
	case MAP_ONE: known = !f.vex && one_byte(&f, i); break;
	case MAP_0F: known = two_bytes(&f, i); break;
	case MAP_0F38: known = map_38(&f, i); break;
	case MAP_0F3A: known = map_3a(&f, i); break;
	}
	if (!known)
		return false;
	if (f.evex && f.broadcast && !i->writes)
		i->width = f.wide ? 8 : 4;
	i->masked |= f.mask != 0;
	i->mask = f.mask;
	/* vmovdqu8 and vmovdqu16 have bytes and words; most have what W says. */
	const bool small = f.map == MAP_0F && (f.opcode == 0x6f || f.opcode == 0x7f) && f.rep == 0xf2;
	i->lane = !f.mask ? 0 : small ? (f.wide ? 2 : 1) : f.wide ? 8 : 4;
	i->bits = i->vector ? (uint16_t)(8 * full(&f)) : 0;
	const unsigned immediate = f.map == MAP_0F3A ? 1 : 0;
	return read_address(&f, ip, reg, i, p, immediate);
}

void insn_operand(const struct insn *i, char *text, size_t room)
{
	static const char *const name[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
					   "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
	int n = 0;
	*text = 0;
	if (i->base >= 0)
		n = snprintf(text, room, "%s", name[i->base]);
	if (i->index >= 0 && (size_t)n < room)
		n += snprintf(text + n, room - (size_t)n, "%s%s*%u", n ? " + " : "", i->lanes ? "lanes" : name[i->index], i->scale);
	if (i->displacement && (size_t)n < room)
		snprintf(text + n, room - (size_t)n, "%s%lld",
			 !n                    ? ""
			 : i->displacement < 0 ? " - "
					       : " + ",
			 n && i->displacement < 0 ? -(long long)i->displacement : (long long)i->displacement);
}
