/* template.h - pieces of Python as patterns: what a change of a line looks for, and what it puts there.
 *
 *     struct template from, to;
 *     struct captures c = {0};
 *     template_read(&from, SLICE("copy.deepcopy({e})"), &err);
 *     if (template_match(&from, code, &c))               // all of code; template_find: a part of it
 *         template_put(&b, SLICE("{e}.clone()"), &c);    // "(a + b).clone()" where e is a + b
 *
 * Compared are Python's tokens (names, numbers, strings, operators), so that blanks, line ends inside of brackets and comments make no
 * difference. What stands for something:
 *
 *     {e}     an expression: balanced brackets, outside of them no , ; : = and no assignment
 *     {e+}    the same of values that are computed: with a name, without and, or, not, is, in, if, lambda, None, True, False and strings
 *     {e=}    one name
 *     {e.}    a name with what is behind it: a, a.b, a.b(c), a[0].b
 *     {e*}    anything with balanced brackets, or nothing; no ; outside of them
 *
 * The same name twice is the same tokens twice. A name that is bound before (captures_set) stands for that text.
 *
 * Limits: TEMPLATE_TOKENS tokens of a statement, TEMPLATE_STEPS of comparing; what is over them does not match. Any bytes are accepted.
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
/* The tokens of Python's code (of any other text: of what is like it). A quote that is not closed is a token of its own. */
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
/* More than TEMPLATE_NAMES are left out. */
void captures_set(struct captures *c, struct slice name, struct slice text);
/* Empty: none of that name. */
struct slice captures_get(const struct captures *c, const char *name);

/* Is all of code what the template says? New names are set in c, which stays as it is where not. */
bool template_match(struct slice template, struct slice code, struct captures *c);
/* The first part of code, from token *from of it on, that is; *from: behind it. In a name (a.b of x.a.b) nothing begins. */
bool template_find(struct slice template, const struct tokens *code, uint32_t *from, struct captures *c, struct slice *part);
/* The template with its names filled in; brackets around an expression where a . or [ follows. */
void template_put(struct buf *b, struct slice template, const struct captures *c);

#endif
