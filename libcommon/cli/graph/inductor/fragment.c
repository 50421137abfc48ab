#include "graph/inductor/fragment.h"
#include "graph/inductor/words.h"

#include "base/hash.h"

#define FRAGMENT_MAX 65536

struct fragment {
	struct intern made, used; /* nodes that are calls; names that need a placeholder */
	struct buf body;
};

/* Offset of the bracket that closes the one at s.p[0]; 0: none. */
static size_t group(struct slice s)
{
	int depth = 0;
	char quote = 0;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (quote) {
			quote = c == quote ? 0 : quote;
			continue;
		}
		if (c == '\'' || c == '"')
			quote = c;
		depth += c == '(' || c == '[' || c == '{';
		depth -= c == ')' || c == ']' || c == '}';
		if (!depth)
			return i + 1;
	}
	return 0;
}

/* cpu, cuda:0: a device without quotes. Its length, 0 if it is not one. */
static size_t device(struct slice s)
{
	static const char *const types[] = {"cpu", "cuda", "xpu", "mps", "meta", "mtia", "hpu"};
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		size_t n = strlen(types[i]);
		if (!slice_starts(s, types[i]))
			continue;
		if (n + 1 < s.n && s.p[n] == ':' && is_digit(s.p[n + 1]))
			for (n++; n < s.n && is_digit(s.p[n]);)
				n++;
		return n == s.n || s.p[n] == ',' || s.p[n] == ')' || s.p[n] == '}' ? n : 0;
	}
	return 0;
}

/* "%sin, 1" -> "sin, 1" */
static void operands(struct fragment *f, struct slice s, bool keywords)
{
	int depth = 0;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (c == '%' && i + 1 < s.n && is_name_char(s.p[i + 1])) {
			struct slice rest = after(s, i + 1), name = take_word(&rest);
			if (intern_find(&f->made, name) == NONE)
				intern_add(&f->used, name);
			continue;
		}
		size_t n = i && s.p[i - 1] == ' ' ? device(after(s, i)) : 0;
		if (n) {
			buf_addf(&f->body, "torch.device(\"%.*s\")", (int)n, s.p + i);
			i += n - 1;
			continue;
		}
		depth += c == '(' || c == '[' || c == '{';
		depth -= c == ')' || c == ']' || c == '}';
		if (keywords && !depth && c == ':' && (i + 1 == s.n || s.p[i + 1] == ' ')) /* {dim: 1} */
			buf_adds(&f->body, " =");
		else
			buf_addc(&f->body, c);
	}
}

/* "%add : Tensor ... = call_function[target=torch.ops.aten.add.Tensor](args = (%sin, 1), kwargs = {})" */
static void node(struct fragment *f, struct slice s)
{
	struct slice name, target, rest = behind(s, " = call_function[target=");
	s = after(s, 1);
	name = take_word(&s);
	if (!name.n || !rest.p || f->made.n >= FRAGMENT_MAX || intern_find(&f->made, name) != NONE)
		return;
	const char *close = slice_chr(rest, ']');
	struct slice args = behind(rest, "](args = "), kwargs = behind(rest, "kwargs = ");
	if (!close || !args.n || *args.p != '(' || !kwargs.n || *kwargs.p != '{')
		return;
	target = slice_of(rest.p, (size_t)(close - rest.p));
	size_t n = group(args), k = group(kwargs), from = f->body.len;
	if (!n || !k)
		return;
	bool item = slice_is(target, "operator.getitem");
	buf_addf(&f->body, "        %.*s = ", SL(name));
	if (item) {
		buf_adds(&f->body, "_operator.getitem(");
	} else {
		buf_add_slice(&f->body, target);
		buf_addc(&f->body, '(');
	}
	struct slice list = slice_trim(slice_of(args.p + 1, n - 2));
	if (slice_ends(list, ","))
		list.n--;
	operands(f, list, false);
	if (k > 2) {
		buf_adds(&f->body, list.n ? ", " : "");
		operands(f, slice_of(kwargs.p + 1, k - 2), true);
	}
	buf_adds(&f->body, ")\n");
	if (memchr(f->body.p + from, '%', f->body.len - from))
		buf_cut(&f->body, from); /* an operand that is not a name */
	else
		intern_add(&f->made, name);
}

bool fragment_graph(struct slice code, struct buf *b)
{
	struct fragment f = {0};
	struct slice line;
	bool within = false;
	while (slice_line(&code, &line)) {
		struct slice s = slice_trim(line);
		if (!slice_starts(s, "#") && !slice_starts(s, "//")) {
			within = false;
			continue;
		}
		while (s.n && (*s.p == '#' || *s.p == '/' || *s.p == ' '))
			s = after(s, 1);
		if (slice_starts(s, "Graph fragment"))
			within = true;
		else if (within && slice_starts(s, "%"))
			node(&f, s);
		else
			within = false;
	}
	bool any = f.made.n > 0, first = true;
	if (any) {
		buf_adds(b, "class GraphModule(torch.nn.Module):\n    def forward(self");
		for (uint32_t i = 0; i < f.used.n; i++)
			if (intern_find(&f.made, intern_get(&f.used, i)) == NONE)
				buf_addf(b, ", %.*s", SL(intern_get(&f.used, i)));
		buf_adds(b, "):\n");
		buf_add(b, f.body.p, f.body.len);
		buf_adds(b, "        return (");
		for (uint32_t i = 0; i < f.made.n; i++, first = false)
			buf_addf(b, "%s%.*s", first ? "" : ", ", SL(intern_get(&f.made, i)));
		buf_adds(b, ",)\n");
	}
	buf_release(&f.body);
	intern_release(&f.made);
	intern_release(&f.used);
	return any;
}
