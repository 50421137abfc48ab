/* template.h - pieces of Python as patterns: what a one-line edit looks for, and what it inserts.
 *
 *     struct template from, to;
 *     struct captures c = {0};
 *     template_read(&from, SLICE("copy.deepcopy({e})"), &err);
 *     if (template_match(&from, code, &c))               // matches all of code; template_find: a part of it
 *         template_put(&b, SLICE("{e}.clone()"), &c);    // "(a + b).clone()" if e is a + b
 *
 * Python tokens are compared (names, numbers, strings, operators), so blanks, line breaks inside brackets and comments make no
 * difference. The placeholders:
 *
 *     {e}     an expression: balanced brackets, outside them no , ; : = and no assignment
 *     {e+}    the same for computed values: with a name, without and, or, not, is, in, if, lambda, None, True, False and strings
 *     {e=}    one name
 *     {e.}    a name with its trailers: a, a.b, a.b(c), a[0].b
 *     {e*}    anything with balanced brackets, or nothing; no ; outside them
 *
 * A name used twice must match the same tokens. A name bound before (captures_set) stands for that text.
 *
 * Limits: TEMPLATE_TOKENS tokens of a statement, TEMPLATE_STEPS comparison steps; beyond them nothing matches. Any bytes are accepted.
 * Slices of captures point into the text that was matched.
 */
#ifndef FIX_TEMPLATE_H
#define FIX_TEMPLATE_H
#include "base/buf.h"

enum { TEMPLATE_NAMES = 8, TEMPLATE_TOKENS = 4096, TEMPLATE_STEPS = 1 << 16 };

struct tokens {
	struct slice *v;
	uint32_t n, cap;
};
/* The tokens of Python code (other text is tokenized as if it were Python). An unclosed quote is a token of its own. */
void tokens_read(struct tokens *t, struct slice code);
void tokens_release(struct tokens *t);
static inline bool token_is_name(struct slice t)
{
	return t.n && (t.p[0] == '_' || (t.p[0] >= 'a' && t.p[0] <= 'z') || (t.p[0] >= 'A' && t.p[0] <= 'Z') || (t.p[0] & 0x80)) &&
	       t.p[t.n - 1] != '"' && t.p[t.n - 1] != '\'';
}

struct captures {
	struct slice name[TEMPLATE_NAMES], text[TEMPLATE_NAMES];
	uint32_t n;
};
/* Names beyond TEMPLATE_NAMES are ignored. */
void captures_set(struct captures *c, struct slice name, struct slice text);
/* Empty: no such name. */
struct slice captures_get(const struct captures *c, const char *name);

/* Does the template match all of code? New names are set in c, which is unchanged otherwise. */
bool template_match(struct slice template, struct slice code, struct captures *c);
/* The first matching part of code, starting at token *from; *from is moved past it. A match does not start inside a dotted name (a.b in
 * x.a.b). */
bool template_find(struct slice template, const struct tokens *code, uint32_t *from, struct captures *c, struct slice *part);
/* The template with its names filled in; an expression is put in parentheses if a . or [ follows. */
void template_put(struct buf *b, struct slice template, const struct captures *c);

#endif
