/* cause.c - what a message of torch really means (cause.h). */
#include "run/diagnose/cause.h"

enum { CLIP = 300 };

static size_t name_end(struct slice s)
{
	size_t n = 0;
	while (n < s.n && ((s.p[n] >= 'a' && s.p[n] <= 'z') || (s.p[n] >= 'A' && s.p[n] <= 'Z') || (s.p[n] >= '0' && s.p[n] <= '9') ||
			   s.p[n] == '_' || s.p[n] == '.' || s.p[n] == ':'))
		n++;
	return n;
}

/* Python's repr of an exception as Python would print it: KeyError('missing') is "KeyError: 'missing'", TypeError("no") "TypeError: no". */
static bool exception_words(struct explanation *x, struct slice repr, struct cause *out)
{
	struct slice line = slice_trim(slice_first_line(repr));
	size_t n = name_end(line);
	if (!n || n >= line.n || line.p[n] != '(')
		return false;
	out->type = slice_of(line.p, n);
	struct slice args = slice_of(line.p + n + 1, line.n - n - 1);
	if (args.n && args.p[args.n - 1] == ')')
		args.n--;
	bool text = args.n > 1 && (args.p[0] == '\'' || args.p[0] == '"') && args.p[args.n - 1] == args.p[0];
	if (text && !slice_is(out->type, "KeyError"))
		args = slice_of(args.p + 1, args.n - 2);
	LOCAL_BUF b = {0};
	for (size_t i = 0; i < args.n && i < CLIP; i++) /* repr's own escapes */
		if (args.p[i] == '\\' && i + 1 < args.n)
			buf_addc(&b, args.p[++i] == 'n' ? ' ' : args.p[i]);
		else
			buf_addc(&b, args.p[i]);
	struct slice words = slice_trim(slice_until(buf_slice(&b), " Exception raised from ")); /* a stack of C++ follows */
	out->title = words.n ? explain_textf(x, "%.*s: %.*s", SLN(out->type, CLIP), SL(words)) : explain_keep(x, out->type);
	return true;
}

struct slice cause_op_name(struct explanation *x, struct slice op)
{
	const char *dot = slice_chr(op, '.');
	if (!dot || slice_find(op, "::"))
		return explain_keep(x, op);
	struct slice ns = slice_of(op.p, (size_t)(dot - op.p)), rest = slice_of(dot + 1, op.n - ns.n - 1);
	const char *overload = slice_chr(rest, '.');
	if (overload && slice_is(slice_of(overload, (size_t)(rest.p + rest.n - overload)), ".default"))
		rest.n = (size_t)(overload - rest.p);
	return explain_textf(x, "%.*s::%.*s", SLN(ns, CLIP), SLN(rest, CLIP));
}

static bool no_fake(struct slice s)
{
	static const char *const say[] = {"no fake impl", "does not have a fake impl", "fake impl or Meta kernel", "no fake kernel"};
	return slice_any(s, say, slice_has);
}

/* "shop.scale.default(", "CustomOpDef(shop::scale)", "unsupported operator: shop.cut.default", "shop::cut: attempted to run" */
static struct slice operator_in(struct explanation *x, struct slice text)
{
	static const char *const before[] = {"CustomOpDef(", "unsupported operator: ", "call_function torch.ops.", "call_function "};
	for (size_t i = 0; i < ARRAY_LEN(before); i++) {
		struct slice s = slice_behind(text, before[i]);
		size_t n = name_end(s);
		if (n && (memchr(s.p, '.', n) || memchr(s.p, ':', n)))
			return cause_op_name(x, slice_of(s.p, n));
	}
	struct slice line = slice_first_line(text);
	const char *colons = slice_find(line, "::");
	size_t n = colons ? name_end(line) : 0;
	while (n && line.p[n - 1] == ':')
		n--;
	return n && colons < line.p + n ? explain_keep(x, slice_of(line.p, n)) : slice_of(NULL, 0);
}

struct slice cause_node(struct slice text)
{
	static const char *const before[] = {"<built-in method ", "<built-in function ", "<method '", "<function ", ""};
	struct slice s = slice_behind(text, "call_function ");
	s = s.n ? s : slice_behind(text, "call_method ");
	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		if (slice_starts(s, before[i])) {
			s = slice_of(s.p + strlen(before[i]), s.n - strlen(before[i]));
			return slice_of(s.p, name_end(s));
		}
	return s;
}

void cause_find(struct explanation *x, struct slice reason, struct slice explanation, struct slice context, struct cause *out)
{
	*out = (struct cause){0};
	struct slice raised = slice_behind(context, "raised exception "), got = slice_behind(explanation, ": got ");
	bool unsupported =
	    slice_starts(reason, "Operator does not support running with fake tensors") || slice_find(reason, "no meta kernel");
	if (no_fake(reason) || no_fake(explanation) || unsupported) {
		struct slice where = no_fake(explanation) ? explanation : unsupported ? context : reason;
		out->kind = CAUSE_NO_FAKE;
		out->op = operator_in(x, where);
		out->title = out->op.n ? explain_textf(x, "The operator %.*s has no fake kernel", SLN(out->op, CLIP))
				       : SLICE("An operator has no fake kernel");
	} else if (slice_starts(reason, "This higher order operator doesn't work unless")) {
		struct slice line = {0}, rest = reason;
		slice_line(&rest, &line);
		while (slice_line(&rest, &line) && !slice_trim(line).n)
			;
		struct slice op = slice_trim(slice_first_line(slice_behind(rest, "Higher Order Operator: ")));
		out->kind = CAUSE_HIGHER_ORDER;
		out->title = op.n ? explain_textf(x, "%.*s: %.*s", SLN(op, CLIP), SLN(line, CLIP)) : explain_keep(x, line);
	} else if (slice_starts(reason, "Observed exception") && raised.n) {
		/* RuntimeError('Dynamo failed to run FX node with fake tensors: ...: got RuntimeError("vmap: called random operation")') */
		struct slice inner = slice_find(raised, "with fake tensors") ? slice_behind(raised, ": got ") : slice_of(NULL, 0);
		if (exception_words(x, inner, out))
			out->kind = CAUSE_FAKE;
		else if (exception_words(x, raised, out))
			out->kind = CAUSE_RAISED;
	} else if (slice_starts(reason, "Unsupported function call") && slice_find(context, "ConstantVariable(NoneType: None)")) {
		*out = (struct cause){CAUSE_RAISED, SLICE("TypeError: 'NoneType' object is not callable"), SLICE("TypeError"), {0}};
	} else if (slice_starts(reason, "failed to bind arguments")) {
		/* func='forward' /home/user/app/m.py:4; args = [<class 'app.m.Block'>, <class 'torch.Tensor'>]; kwargs = {} */
		struct slice func = slice_behind(context, "func='"), at = slice_behind(context, "' ");
		const char *quote = slice_chr(func, '\''), *end = slice_chr(at, ';');
		func.n = quote ? (size_t)(quote - func.p) : 0;
		at.n = end ? (size_t)(end - at.p) : 0;
		at = srcloc_short_file(at);
		*out = (struct cause){CAUSE_RAISED,
				      explain_textf(x, "TypeError: the arguments do not match %.*s, %.*s", SLN(func, CLIP), SLN(at, CLIP)),
				      SLICE("TypeError"),
				      {0}};
	} else if (slice_starts(reason, "Attempted to read undefined local variable")) {
		struct slice name = slice_behind(context, "LOAD_FAST ");
		*out = (struct cause){CAUSE_RAISED,
				      explain_textf(x, "UnboundLocalError: %.*s", SLN(name.n ? name : context, CLIP)),
				      SLICE("UnboundLocalError"),
				      {0}};
	} else if (got.n && exception_words(x, got, out)) {
		out->kind = CAUSE_FAKE;
	}
}

struct slice cause_fake_kernel(struct explanation *x, struct slice op)
{
	const char *colons = slice_find(op, "::");
	if (!colons || slice_starts(op, "aten::") || slice_starts(op, "prims::") || slice_starts(op, "prim::"))
		return slice_of(NULL, 0);
	return explain_textf(x,
			     "@torch.library.register_fake(\"%.*s\")    # takes the arguments of the operator and returns tensors of the "
			     "right shape and dtype: torch.empty_like(x)",
			     SLN(op, CLIP));
}
