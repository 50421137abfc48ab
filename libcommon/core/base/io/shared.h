/* shared.h - memory that another process may write to while we read it: a mapping shared with a process that runs a model.
 *
 *     struct shared log = shared_of(map, size);
 *     struct record r;
 *     if (shared_copy(log, at, &r, sizeof(r)) && r.n <= MAX) ...   // check and use the copy
 *
 * The only access to its bytes is to copy them, once, within bounds. What is used is then what was checked: a writer can change the
 * memory after the check, but not the copy. (A tool once searched a name in shared memory for '/' and then unlinked it from shared
 * memory: a model that changed it in between could have any of the user's files deleted.) scripts/lint rejects any other read of such
 * a mapping.
 *
 * All bytes are read and written by relaxed atomics, so that ThreadSanitizer does not report a reader and a writer at work together. A
 * copy may be torn: a state that the writer sets before and after (watch/calls.h) shows it; without one, the reader must cope with any
 * bytes.
 */
#ifndef PT2_SHARED_H
#define PT2_SHARED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct shared {
	const unsigned char *private_; /* only for the functions below */
	size_t n;
};

static inline struct shared shared_of(const void *p, size_t n) { return (struct shared){p, n}; }
static inline bool shared_is_none(struct shared s) { return !s.private_; }
static inline bool shared_holds(struct shared s, size_t at, size_t n) { return at <= s.n && n <= s.n - at; }

/* False: out of bounds, nothing is copied. */
static inline bool shared_copy(struct shared s, size_t at, void *to, size_t n)
{
	unsigned char *out = to;
	size_t i = 0;
	if (!shared_holds(s, at, n))
		return false;
	const unsigned char *from = s.private_ + at;
	for (; i < n && (uintptr_t)(from + i) % sizeof(uint64_t); i++)
		out[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
	for (; n - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
		const uint64_t word = __atomic_load_n((const uint64_t *)(const void *)(from + i), __ATOMIC_RELAXED);
		memcpy(out + i, &word, sizeof(word));
	}
	for (; i < n; i++)
		out[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
	return true;
}

/* Copies a text that ends with NUL into to, which has room for `room` bytes; its length. -1: no NUL within either. */
static inline ptrdiff_t shared_text(struct shared s, size_t at, char *to, size_t room)
{
	for (size_t i = 0; i < room && shared_holds(s, at, i + 1); i++)
		if (!(to[i] = (char)__atomic_load_n(s.private_ + at + i, __ATOMIC_RELAXED)))
			return (ptrdiff_t)i;
	return -1;
}

/* Numbers at a multiple of their size; 0 if out of bounds. A reader that sees one also sees what its writer stored before it. */
static inline uint64_t shared_u64(struct shared s, size_t at)
{
	return shared_holds(s, at, sizeof(uint64_t)) ? __atomic_load_n((const uint64_t *)(const void *)(s.private_ + at), __ATOMIC_ACQUIRE)
						     : 0;
}
static inline uint32_t shared_u32(struct shared s, size_t at)
{
	return shared_holds(s, at, sizeof(uint32_t)) ? __atomic_load_n((const uint32_t *)(const void *)(s.private_ + at), __ATOMIC_ACQUIRE)
						     : 0;
}

/* The writer's side: `to` and `from` are at multiples of 8 bytes, or n is small. */
static inline void shared_put(void *to, const void *from, size_t n)
{
	unsigned char *out = to;
	const unsigned char *in = from;
	size_t i = 0;
	for (; i < n && (uintptr_t)(out + i) % sizeof(uint64_t); i++)
		__atomic_store_n(out + i, in[i], __ATOMIC_RELAXED);
	for (; n - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
		uint64_t word;
		memcpy(&word, in + i, sizeof(word));
		__atomic_store_n((uint64_t *)(void *)(out + i), word, __ATOMIC_RELAXED);
	}
	for (; i < n; i++)
		__atomic_store_n(out + i, in[i], __ATOMIC_RELAXED);
}
#endif
