#include "run/symbols.h"

#include "base/sym/symsize.h"

static bool letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

static bool word_byte(char c) { return c == '_' || is_digit(c) || letter(c); }

bool symbol_next(struct slice *rest, struct slice *symbol)
{
	while (rest->n) {
		size_t n = 0, letters = 0;
		while (n < rest->n && word_byte(rest->p[n]))
			n++;
		while (letters < n && letter(rest->p[letters]))
			letters++;
		struct slice word = slice_of(rest->p, n);
		uint64_t number;
		bool numbered = slice_u64(slice_of(rest->p + letters, n - letters), &number);
		*rest = slice_of(rest->p + (n ? n : 1), rest->n - (n ? n : 1));
		if (numbered && sym_kind(word) != SYM_OTHER) {
			*symbol = word;
			return true;
		}
	}
	return false;
}
