/* patterns_part.h - shared by the files of patterns.h: match, and, not lines prepared for searching. */
#ifndef PT2_PATTERNS_PART_H
#define PT2_PATTERNS_PART_H
#include "base/arena.h"
#include "base/hash.h"
#include "run/patterns/patterns.h"

#define ATOM_KEY 8   /* bytes searched for first */
#define ATOM_WILDS 6 /* wildcards of a line; ATOM_WILDS * PATTERN_WILD + ATOM_TEXT < PATTERN_REACH */
#define ATOM_TEXT 1000
#define PATTERN_ANDS 8

enum atom_role { ATOM_MATCH, ATOM_AND, ATOM_NOT };

/* text[0] wild[0] text[1] ... text[texts - 1], which may be empty when a wildcard ends the line. */
struct atom {
	uint64_t key;           /* 8 bytes of text[anchor], from byte `at` */
	uint32_t pattern, next; /* rows; next: in the same bucket, or NONE */
	uint32_t weight;        /* bytes of text: how specific it is */
	uint16_t at;
	uint8_t role, bit; /* bit: which of the pattern's `and` lines */
	uint8_t anchor, texts;
	struct slice text[ATOM_WILDS + 1];
	uint32_t name[ATOM_WILDS]; /* of patterns.names; NONE for * */
};

struct pattern_private {
	char *file;
	struct atom *atom;
	uint32_t n, cap;
	uint32_t ands;   /* how many `and` lines */
	uint32_t weight; /* of the `and` lines */
	uint32_t *over;  /* rows of the patterns it overrides; pattern->over.n of them */
};

/* By a hash of 3 bytes: how far the window of 8 bytes that ends with them can advance before a key can begin. */
#define SHIFT_BITS 15

struct patterns {
	struct arena arena;
	struct intern names;
	struct pattern *item;
	uint32_t n, cap;
	struct atom *atom; /* all atoms, after patterns_compile */
	uint32_t atoms;
	uint8_t shift[1 << SHIFT_BITS];
	uint32_t bucket[1 << SHIFT_BITS]; /* by the key's last 3 bytes: first row of atom[], or NONE */
};

static inline uint64_t load64(const char *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

/* A hash of the 3 bytes before `end`; the byte before them is read, too. */
static inline uint32_t shift_hash(const char *end)
{
	uint32_t v;
	memcpy(&v, end - 4, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v >>= 8;
#else
	v &= 0xffffff;
#endif
	return v * 0x9e3779b1u >> (32 - SHIFT_BITS);
}

/* Converts a match, and or not line to an atom (texts in k->arena); -1 and *why if it cannot. */
void pattern_release(struct pattern *p);
/* Nothing is found until patterns_compile: the index is outdated. */
void patterns_forget_index(struct patterns *k);

#endif
