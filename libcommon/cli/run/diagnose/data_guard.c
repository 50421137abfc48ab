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

/* The condition in the user's line, if it is the same comparison: torch may have turned it around. */
static bool of_code(struct slice code, const struct comparison *want, struct comparison *out)
{
	static const char *const word[] = {"if ", "elif ", "while ", "assert "};
	code = slice_trim(code);
	for (size_t i = 0; i < ARRAY_LEN(word); i++) {
		if (!slice_starts(code, word[i]))
			continue;
		code = slice_trim(slice_of(code.p + strlen(word[i]), code.n - strlen(word[i])));
		if (*word[i] == 'a' ? slice_chr(code, ',') != NULL : !slice_ends(code, ":"))
			return false;
		code.n -= slice_ends(code, ":");
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
		out->fix = explain_textf(x, "State what always holds before the line that tests it: torch._check(%.*s)", SL(plain));
	else if (of_code(code, &c, &own))
		out->fix = explain_textf(x,
					 "If it always holds, say so before this line: torch._check(%.*s %s %.*s)\n"
					 "If it never holds: torch._check(%.*s %s %.*s)",
					 SL(own.left), own.op, SL(own.right), SL(own.left), own.opposite, SL(own.right));
	else
		out->fix = explain_textf(x,
					 "If it always holds, say so before this line, with your names: torch._check(%.*s %s %.*s)\n"
					 "If it never holds: torch._check(%.*s %s %.*s)",
					 SL(c.left), c.op, SL(c.right), SL(c.left), c.opposite, SL(c.right));
	out->hint = SLICE("If both happen, let the graph hold both: torch.cond(pred, true_fn, false_fn, operands), or torch.where.\n"
			  "For export, draft_export() lists all such places at once: torch.export.draft_export(model, args)");
	return true;
}
