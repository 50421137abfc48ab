/* data_guard.c - Eq(u0, s27) as Python writes it, its opposite, and the user's own words for it. */
#include "run/diagnose/data_guard.h"

enum { LONG_EXPRESSION = 200 };

static const struct {
	const char *sympy, *op, *opposite;
} relation[] = {
    {"Eq(", "==", "!="},
    {"Ne(", "!=", "=="},
};
static const char *const inverse[][2] = {{"==", "!="}, {"!=", "=="}, {"<=", ">"}, {">=", "<"}, {"<", ">="}, {">", "<="}};

struct comparison {
	struct slice left, right;
	const char *op, *opposite;
};

/* A comparison outside parentheses, the only one: "u0 + 1 > 2". */
static bool compares(struct slice s, struct comparison *out)
{
	int depth = 0;
	bool found = false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
		if (depth || !strchr("<>=!", c) || !c)
			continue;
		struct slice rest = slice_of(s.p + i, s.n - i);
		size_t k = 0;
		while (k < ARRAY_LEN(inverse) && !slice_starts(rest, inverse[k][0]))
			k++;
		if (k == ARRAY_LEN(inverse) || found)
			return false; /* an assignment, a chain: 1 < n < 5 */
		size_t len = strlen(inverse[k][0]);
		*out = (struct comparison){slice_trim(slice_of(s.p, i)), slice_trim(slice_of(s.p + i + len, s.n - i - len)), inverse[k][0],
					   inverse[k][1]};
		found = true;
		i += len - 1;
	}
	return found && out->left.n && out->right.n && !slice_has(s, " and ") && !slice_has(s, " or ") && !slice_starts(s, "not ");
}

/* Eq(a, b), Ne(a, b), a < b. */
static bool of_sympy(struct slice s, struct comparison *out)
{
	for (size_t k = 0; k < ARRAY_LEN(relation); k++) {
		if (!slice_starts(s, relation[k].sympy) || !slice_ends(s, ")"))
			continue;
		struct slice in = slice_of(s.p + 3, s.n - 4);
		int depth = 0;
		for (size_t i = 0; i < in.n; i++) {
			depth += (in.p[i] == '(') - (in.p[i] == ')');
			if (in.p[i] == ',' && !depth) {
				*out = (struct comparison){slice_trim(slice_of(in.p, i)), slice_trim(slice_of(in.p + i + 1, in.n - i - 1)),
							   relation[k].op, relation[k].opposite};
				return out->left.n && out->right.n;
			}
		}
		return false;
	}
	return compares(s, out);
}

/* "n > 0: return x", without what follows the condition. */
static bool up_to_colon(struct slice *code)
{
	int depth = 0;
	for (size_t i = 0; i < code->n; i++) {
		char c = code->p[i];
		depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
		if (c == ':' && !depth) {
			code->n = i;
			return true;
		}
	}
	return false;
}

/* The argument of a call that starts at s: up to a comma or the bracket that ends it. */
static size_t argument(struct slice s)
{
	int depth = 0;
	size_t i = 0;
	for (; i < s.n && (depth || (s.p[i] != ',' && s.p[i] != ')')); i++)
		depth += (s.p[i] == '(') - (s.p[i] == ')');
	return i;
}

static void put_python(struct buf *b, struct slice s, int nested);

/* "a + 1" as part of a product: "(a + 1)". */
static void put_operand(struct buf *b, struct slice s, int nested)
{
	s = slice_trim(s);
	bool simple = !slice_chr(s, ' ');
	buf_adds(b, simple ? "" : "(");
	put_python(b, s, nested);
	buf_adds(b, simple ? "" : ")");
}

/* SymPy's words for what Python has operators and torch has functions for: Mod(u0, 3) is u0 % 3, Max(1, u0) torch.sym_max(1, u0). */
static void put_python(struct buf *b, struct slice s, int nested)
{
	enum { DEEP = 32 };
	static const char *const operators[][2] = {
	    {"PythonMod(", " % "}, {"Mod(", " % "}, {"FloorDiv(", " // "}, {"CleanDiv(", " // "}, {"PowByNatural(", " ** "}};
	static const char *const functions[][2] = {{"Max(", "torch.sym_max("}, {"Min(", "torch.sym_min("}};
	for (size_t i = 0; i < s.n;) {
		struct slice rest = slice_of(s.p + i, s.n - i);
		bool word =
		    i && (s.p[i - 1] == '_' || (s.p[i - 1] >= 'a' && s.p[i - 1] <= 'z') || (s.p[i - 1] >= 'A' && s.p[i - 1] <= 'Z'));
		size_t k = 0;
		while (k < ARRAY_LEN(operators) && (word || !slice_starts(rest, operators[k][0])))
			k++;
		if (k < ARRAY_LEN(operators) && nested < DEEP) {
			size_t from = strlen(operators[k][0]);
			struct slice first = slice_of(rest.p + from, rest.n - from);
			first.n = argument(first);
			size_t comma = from + first.n;
			struct slice second = slice_of(rest.p + comma, rest.n - comma);
			if (slice_starts(second, ",")) {
				second = slice_of(second.p + 1, second.n - 1);
				size_t n = argument(second);
				put_operand(b, first, nested + 1);
				buf_adds(b, operators[k][1]);
				put_operand(b, slice_of(second.p, n), nested + 1);
				i += comma + 1 + n + (n < second.n); /* with its bracket */
				continue;
			}
		}
		for (k = 0; k < ARRAY_LEN(functions) && (word || !slice_starts(rest, functions[k][0])); k++)
			;
		if (k < ARRAY_LEN(functions)) {
			buf_adds(b, functions[k][1]);
			i += strlen(functions[k][0]);
			continue;
		}
		buf_addc(b, s.p[i++]);
	}
}

static struct slice python(struct explanation *x, struct slice s)
{
	LOCAL_BUF b = {0};
	put_python(&b, s, 0);
	return explain_keep(x, buf_slice(&b));
}

/* The condition in the user's line, if it is the same comparison: torch may have turned it around. */
static bool of_code(struct slice code, const struct comparison *want, struct comparison *out)
{
	static const char *const word[] = {"if ", "elif ", "while ", "assert "};
	code = slice_trim(code);
	for (size_t i = 0; i < ARRAY_LEN(word); i++) {
		if (!slice_starts(code, word[i]))
			continue;
		code = slice_trim(slice_of(code.p + strlen(word[i]), code.n - strlen(word[i])));
		if (*word[i] == 'a' ? slice_chr(code, ',') != NULL : !up_to_colon(&code))
			return false;
		return compares(code, out) && (!strcmp(out->op, want->op) || !strcmp(out->op, want->opposite));
	}
	return false;
}

/* What stands between two texts; empty if either is missing. */
static struct slice between(struct slice s, const char *before, const char *after)
{
	const char *p = slice_find(s, before);
	if (!p)
		return slice_of(NULL, 0);
	p += strlen(before);
	struct slice rest = slice_first_line(slice_of(p, (size_t)(s.p + s.n - p)));
	const char *end = slice_find(rest, after);
	return end ? slice_of(rest.p, (size_t)(end - rest.p)) : slice_of(NULL, 0);
}

/* "(app/m.py:6 in forward)", or "return y if y.shape[0] > 2 else x  # app/m.py:22 in nz (_dynamo/variables/tensor.py:2606 in ...)" */
static struct slice caused_by(struct slice reason)
{
	const char *p = slice_find(reason, "Caused by: ");
	if (!p)
		return slice_of(NULL, 0);
	struct slice line = slice_trim(slice_first_line(slice_of(p + 11, (size_t)(reason.p + reason.n - p - 11))));
	const char *mark = NULL; /* the last one: the code before it may end in a comment of its own */
	for (struct slice rest = line; slice_find(rest, "  # "); rest = slice_of(mark + 4, (size_t)(line.p + line.n - mark - 4)))
		mark = slice_find(rest, "  # ");
	if (mark)
		return slice_of(mark + 4, (size_t)(line.p + line.n - mark - 4));
	return slice_starts(line, "(") && slice_ends(line, ")") ? slice_of(line.p + 1, line.n - 2) : line;
}

bool data_guard_find(struct explanation *x, struct slice reason, struct slice code, struct data_guard *out)
{
	bool number = false;
	struct slice guard = between(reason, "guard on data-dependent expression ", " (unhinted: ");
	if (!guard.n) {
		guard = between(reason, "specialized integer from data-dependent expression ", " (unhinted: ");
		number = true;
	}
	if (!guard.n || guard.n > LONG_EXPRESSION)
		return false;
	struct slice plain = between(reason, " (unhinted: ", ").  (");
	if (!plain.n || plain.n > LONG_EXPRESSION)
		plain = guard;
	struct slice at = caused_by(reason);
	struct slice place = at.n ? explain_textf(x, " Torch met it at %.*s.", SLN(at, LONG_EXPRESSION)) : slice_of(NULL, 0);
	bool real = slice_has(plain, "zuf");
	if (number) {
		*out = (struct data_guard){
		    .why = explain_textf(
			x,
			"%.*s is a number read from a tensor (.item(), int(t), nonzero, tolist). This line needs it as a plain number: "
			"a count of a loop, an index into a list, int(), a size that must be fixed. Tracing has no value for it.%.*s",
			SL(plain), SL(place)),
		    .hint = SLICE(
			"If it is the same in each call, pass it as a Python int instead of a tensor.\n"
			"Otherwise stay with tensors: torch.index_select for an index, x[:n] or a mask for a length, torch.cond for a "
			"choice.\n"
			"For export, draft_export() lists all such places at once: torch.export.draft_export(model, args)")};
		return true;
	}
	struct comparison c, own;
	out->why =
	    explain_textf(x,
			  "The code decides on %.*s. Names that start with %s were read from a tensor (.item(), nonzero, tolist) or belong "
			  "to a size marked as unbacked: tracing has no value for them.%.*s",
			  SL(plain), real ? "zuf (floats) or u" : "u", SL(place));
	if (!of_sympy(plain, &c))
		out->fix =
		    explain_textf(x, "State what always holds before the line that tests it: torch._check(%.*s)", SL(python(x, plain)));
	else if (of_code(code, &c, &own))
		out->fix = explain_textf(x,
					 "If it always holds, say so before this line: torch._check(%.*s %s %.*s)\n"
					 "If it never holds: torch._check(%.*s %s %.*s)",
					 SL(own.left), own.op, SL(own.right), SL(own.left), own.opposite, SL(own.right));
	else {
		const struct slice left = python(x, c.left), right = python(x, c.right);
		out->fix = explain_textf(x,
					 "If it always holds, say so before this line, with your names: torch._check(%.*s %s %.*s)\n"
					 "If it never holds: torch._check(%.*s %s %.*s)",
					 SL(left), c.op, SL(right), SL(left), c.opposite, SL(right));
	}
	out->hint = SLICE("If both happen, let the graph hold both: torch.cond(pred, true_fn, false_fn, operands), or torch.where.\n"
			  "For export, draft_export() lists all such places at once: torch.export.draft_export(model, args)");
	return true;
}
