/* signature.c - recognises a failure. A message is compared without what varies between runs (paths, addresses, hashes) and between
 * candidates (numbers, names of nodes, buffers and kernels: a smaller graph has different ones). */
#include "reduce/oracle.h"

#include <ctype.h>

#define SIGNATURE_MAX 500 /* bytes of a normalised message */

struct signature signature_copy(struct arena *arena, const struct signature *s)
{
	struct signature c = *s;
	c.type = arena_slice(arena, s->type);
	c.message = arena_slice(arena, s->message);
	c.frames = arena_slice(arena, s->frames);
	return c;
}

/* Kernel errors that are reported by a later call: the texts of cudaGetErrorString (CUDA 12, cudaError_t 700, 702, 710, 714 to 719). Where
 * they appear depends on what waited for the kernel. HIP's are the same. */
static const char *const kernel_errors[] = {
    "an illegal memory access was encountered",
    "the launch timed out and was terminated",
    "device-side assert triggered",
    "hardware stack error",
    "an illegal instruction was encountered",
    "misaligned address",
    "operation not supported on global/shared address space",
    "invalid program counter",
    "unspecified launch failure",
};

bool signature_of_kernel_error(struct slice text, struct signature *s)
{
	/* torch, its driver calls (AOTInductor's, too), Triton's launcher */
	static const char *const who[] = {
	    "CUDA error: ", "CUDA driver error: ", "Triton Error [CUDA]: ", "HIP error: ", "Triton Error [HIP]: "};
	for (size_t i = 0; i < ARRAY_LEN(who) && text.n; i++) {
		struct slice rest = text;
		const char *p;
		size_t n = strlen(who[i]);
		while ((p = memmem(rest.p, rest.n, who[i], n))) {
			rest = slice_of(p + n, rest.n - (size_t)(p + n - rest.p));
			for (size_t k = 0; k < ARRAY_LEN(kernel_errors); k++)
				if (slice_starts(rest, kernel_errors[k])) {
					s->type = SLICE("kernel error");
					s->message = slice_str(kernel_errors[k]);
					s->frames = (struct slice){"", 0};
					return true;
				}
		}
	}
	return false;
}

static bool holds(struct slice text, struct slice part) { return part.n && memmem(text.p, text.n, part.p, part.n); }

/* Where it hangs, or ran out of memory: a moment later it may be in a callee. */
static bool frames_meet(struct slice a, struct slice b)
{
	struct slice all = b, first = a, one;
	if (!a.n || !b.n)
		return true;
	const char *end = slice_chr(a, ';');
	first.n = end ? (size_t)(end - a.p) : a.n;
	while (all.n) {
		end = slice_chr(all, ';');
		one = slice_of(all.p, end ? (size_t)(end - all.p) : all.n);
		if (slice_eq(one, first))
			return true;
		all = slice_of(all.p + one.n + (end != NULL), all.n - one.n - (end != NULL));
	}
	return false;
}

/* Where it was raised, if both know: callers further out may differ (a graph without views is lowered differently). */
static bool frames_agree(struct slice a, struct slice b)
{
	if (!a.n || !b.n)
		return true;
	const char *ae = slice_chr(a, ';'), *be = slice_chr(b, ';');
	a.n = ae ? (size_t)(ae - a.p) : a.n;
	b.n = be ? (size_t)(be - b.p) : b.n;
	return slice_eq(a, b);
}

bool signature_same(const struct signature *a, const struct signature *b, struct slice check)
{
	if (a->kind != b->kind)
		return false;
	if (check.n)
		return holds(b->message, check) || holds(b->type, check);
	if (a->kind == OUTCOME_ACCURACY && (!a->message.n || !b->message.n))
		return true; /* torch's own check does not report how values differ */
	bool stuck = a->kind == OUTCOME_TIMEOUT || a->kind == OUTCOME_MEMORY;
	if (!slice_eq(a->type, b->type) || (stuck && !frames_meet(a->frames, b->frames) && !frames_meet(b->frames, a->frames)))
		return false;
	/* A program without progress messages or a stack has no phase. */
	bool unknown = (stuck || a->kind == OUTCOME_CRASHED) && (!a->message.n || !b->message.n);
	return (unknown || slice_eq(a->message, b->message)) && (stuck || frames_agree(a->frames, b->frames));
}

/* ---- normalise ---- */

static bool is_path(char c) { return is_name_char(c) || (c && strchr("/.-+~@%", c)); }
static bool is_name_of(struct slice w, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_is(w, list[i]))
			return true;
	return false;
}

/* Names numbered by Inductor and Dynamo: buf12, arg0_1, in_ptr0, tmp7, s77, x3. Not dtypes (f32, u8) nor float32, conv2d. */
static bool is_counted(struct slice stem, struct slice digits)
{
	static const char *const stems[] = {"buf",        "arg",  "tmp", "op", "ks", "ps",  "in_ptr", "out_ptr",
					    "in_out_ptr", "arg_", "s",   "u",  "x",  "y",   "z",      "r",
					    "d",          "p",    "q",   "k",  "c",  "zuf", "xnumel", "rnumel"};
	static const char *const widths[] = {"8", "16", "32", "64"};
	if (slice_is(stem, "u") && is_name_of(digits, widths, ARRAY_LEN(widths)))
		return false;
	return is_name_of(stem, stems, ARRAY_LEN(stems));
}

static bool has_digit(struct slice w)
{
	for (size_t i = 0; i < w.n; i++)
		if (isdigit((unsigned char)w.p[i]))
			return true;
	return false;
}

static bool within(struct slice w, const char *part) { return memmem(w.p, w.n, part, strlen(part)); }

/* A word that starts with a letter or underscore. */
static void add_word(struct slice w, struct buf *out)
{
	if (within(w, "_fused_") || slice_starts(w, "cpp_fused") || slice_starts(w, "cpp_Cpp")) {
		buf_adds(out, "KERNEL"); /* named after all the ops in it */
		return;
	}
	if (w.n >= 24 && has_digit(w) && !slice_chr(w, '_')) {
		buf_adds(out, "HASH");
		return;
	}
	/* relu_3, relu_3_0: the same name as relu. */
	for (;;) {
		size_t n = w.n;
		while (n && isdigit((unsigned char)w.p[n - 1]))
			n--;
		if (n == w.n || n < 2 || w.p[n - 1] != '_')
			break;
		w.n = n - 1;
	}
	size_t n = w.n;
	while (n && isdigit((unsigned char)w.p[n - 1]))
		n--;
	if (n < w.n && is_counted(slice_of(w.p, n), slice_of(w.p + n, w.n - n))) {
		buf_add(out, w.p, n);
		buf_addc(out, 'N');
		return;
	}
	buf_add_slice(out, w);
}

static size_t number_length(struct slice s)
{
	size_t i = 0;
	if (s.n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X') && isxdigit((unsigned char)s.p[2])) {
		for (i = 2; i < s.n && isxdigit((unsigned char)s.p[i]);)
			i++;
		return i;
	}
	while (i < s.n && isdigit((unsigned char)s.p[i]))
		i++;
	if (i + 1 < s.n && s.p[i] == '.' && isdigit((unsigned char)s.p[i + 1]))
		for (i++; i < s.n && isdigit((unsigned char)s.p[i]);)
			i++;
	if (i + 1 < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
		size_t k = i + 1 + (s.p[i + 1] == '-' || s.p[i + 1] == '+');
		if (k < s.n && isdigit((unsigned char)s.p[k])) {
			while (k < s.n && isdigit((unsigned char)s.p[k]))
				k++;
			i = k;
		}
	}
	return i;
}

/* A list of numbers is compared as one number: sizes have different ranks in different candidates. */
static void add_number(struct buf *out, size_t from)
{
	size_t n = out->len;
	if (n - from >= 3 && !memcmp(out->p + n - 3, "N, ", 3) && (n - from == 3 || !is_name_char(out->p[n - 4])))
		buf_cut(out, n - 2);
	else
		buf_addc(out, 'N');
}

/* "/tmp/x/ab/c1.cpp:12:34"; at least two parts, so that a division does not count. */
static size_t path_length(struct slice s, char before)
{
	if (is_name_char(before) || before == ')' || before == ']' || s.n < 2 || s.p[0] != '/' || !is_path(s.p[1]))
		return 0;
	size_t i = 0, parts = 0;
	for (; i < s.n && is_path(s.p[i]); i++)
		parts += s.p[i] == '/';
	if (parts < 2)
		return 0;
	while (i > 1 && s.p[i - 1] == '.')
		i--;
	while (i + 1 < s.n && s.p[i] == ':' && isdigit((unsigned char)s.p[i + 1]))
		for (i++; i < s.n && isdigit((unsigned char)s.p[i]);)
			i++;
	return i;
}

/* Texts that torch appends to a message, and that depend on the graph: operands of a lowering, tracebacks, hints. */
static struct slice without_tail(struct slice m)
{
	static const char *const tail[] = {"\n  args[0]:",         "\nWhile executing",
					   "\nOriginal traceback", "\nSet TORCHDYNAMO_VERBOSE",
					   "\nSet TORCH_LOGS",     "\nYou can suppress this exception",
					   "\n\nfrom user code",   "\nGraphModule:",
					   "\nFound from :",       "\nUse tlparse"};
	for (size_t i = 0; i < ARRAY_LEN(tail); i++) {
		const char *p = memmem(m.p, m.n, tail[i], strlen(tail[i]));
		if (p)
			m.n = (size_t)(p - m.p);
	}
	return m;
}

static size_t word_length(struct slice s)
{
	size_t n = 0;
	while (n < s.n && is_name_char(s.p[n]))
		n++;
	return n;
}

/* Appends the normalised start of s, and returns how many bytes it consumed. */
static size_t add_piece(struct slice s, char before, struct buf *out, size_t from)
{
	unsigned char c = (unsigned char)s.p[0];
	size_t n = path_length(s, before);
	if (n) {
		buf_adds(out, "PATH");
		return n;
	}
	if (isdigit(c) || (c == '-' && s.n > 1 && isdigit((unsigned char)s.p[1]) && !is_name_char(before) && before != ')')) {
		add_number(out, from);
		n = (c == '-') + number_length(slice_of(s.p + (c == '-'), s.n - (c == '-')));
		/* "2d", "1st", "3xfloat": still a word */
		n += word_length(slice_of(s.p + n, s.n - n));
		return n;
	}
	if (is_name_char((char)c)) {
		n = word_length(s);
		add_word(slice_of(s.p, n), out);
		return n;
	}
	if (c == 0x1b && s.n > 1 && s.p[1] == '[') { /* a compiler's colours */
		for (n = 2; n < s.n && !isalpha((unsigned char)s.p[n]);)
			n++;
		return n < s.n ? n + 1 : n;
	}
	if (isspace(c) || c < ' ') {
		if (out->len > from && out->p[out->len - 1] != ' ')
			buf_addc(out, ' ');
		return 1;
	}
	if (c == ')' && out->len > from + 1 && out->p[out->len - 1] == ',') /* (3,) */
		buf_cut(out, out->len - 1);
	buf_addc(out, (char)c);
	return 1;
}

void signature_normalise(struct slice message, struct buf *out)
{
	struct slice m = slice_trim(without_tail(message));
	size_t from = out->len;
	for (size_t i = 0; i < m.n && out->len - from <= SIGNATURE_MAX;)
		i += add_piece(slice_of(m.p + i, m.n - i), i ? m.p[i - 1] : ' ', out, from);
	if (out->len - from > SIGNATURE_MAX) {
		size_t keep = from + SIGNATURE_MAX;
		while (keep > from && ((unsigned char)out->p[keep] & 0xc0) == 0x80)
			keep--;
		buf_cut(out, keep);
	}
	while (out->len > from && out->p[out->len - 1] == ' ')
		buf_cut(out, out->len - 1);
}
