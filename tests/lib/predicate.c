/* predicate SHAPE N FILE - a synthetic compiler bug: exit status 0 when the graph in FILE has it.
 *
 * The graph is one of tests/minify/synthetic.py: nodes are named n0, n1, ..., a line each:
 *
 *     n12: "f32[8, 8]" = torch.ops.aten.add.Tensor(n11, n3);  n11 = None
 *
 * N is how many the whole graph has; which of them make the bug follows from it. SHAPE: single, adjacent (n[k] and n[k + 1]), far (n[N/10] and
 * n[9N/10]), triple, path:A:B (nB is computed from nA; synthetic.py says which have a path), six (six of every fifth, and another one).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static unsigned char *defined;
static size_t *first, n_uses, cap_uses, n;
static unsigned *use, *uses_of;

static void die(const char *what)
{
	fprintf(stderr, "predicate: %s\n", what);
	exit(125);
}

static void read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	if (!f || fseek(f, 0, SEEK_END))
		die("cannot read the graph");
	long size = ftell(f);
	rewind(f);
	text = malloc((size_t)size + 1);
	if (!text || fread(text, 1, (size_t)size, f) != (size_t)size)
		die("cannot read the graph");
	text[size] = 0;
	fclose(f);
}

static void add_use(unsigned k)
{
	if (n_uses == cap_uses) {
		cap_uses = cap_uses ? 2 * cap_uses : 4096;
		use = realloc(use, cap_uses * sizeof(*use));
	}
	use[n_uses++] = k;
}

/* nK at p: K, or -1. */
static long node_at(const char *p, char **end)
{
	if (*p != 'n' || p[1] < '0' || p[1] > '9')
		return -1;
	long k = strtol(p + 1, end, 10);
	return (size_t)k < n ? k : -1;
}

static void read_line(char *p)
{
	char *end, *eq;
	while (*p == ' ' || *p == '\t')
		p++;
	long k = node_at(p, &end);
	if (k < 0 || !(eq = strstr(end, " = ")) || (*end != ':' && *end != ' '))
		return;
	char *stop = strchr(eq, ';');
	if (stop)
		*stop = 0;
	defined[k] = 1;
	first[k] = n_uses;
	for (p = eq; *p; p++)
		if (*p == 'n' && (p[-1] == '(' || p[-1] == ' ' || p[-1] == '[')) {
			long operand = node_at(p, &end);
			if (operand >= 0)
				add_use((unsigned)operand);
		}
	uses_of[k] = (unsigned)(n_uses - first[k]);
}

static void read_graph(void)
{
	defined = calloc(n + 1, 1);
	first = calloc(n + 1, sizeof(*first));
	uses_of = calloc(n + 1, sizeof(*uses_of));
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		read_line(line);
	}
}

static int path(size_t from, size_t to)
{
	unsigned char *seen = calloc(n, 1);
	unsigned *stack = malloc((n_uses + 2) * sizeof(*stack));
	size_t depth = 0;
	if (!defined[from] || !defined[to])
		return 0;
	stack[depth++] = (unsigned)to;
	while (depth) {
		unsigned k = stack[--depth];
		if (k == from)
			return 1;
		if (seen[k] || !defined[k])
			continue;
		seen[k] = 1;
		for (unsigned i = 0; i < uses_of[k]; i++)
			stack[depth++] = use[first[k] + i];
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 4 || (n = strtoul(argv[2], NULL, 10)) < 10)
		die("usage: predicate single|adjacent|far|triple|path:A:B|six N FILE");
	read_file(argv[3]);
	read_graph();
	const char *shape = argv[1];
	size_t sixes = 0, from, to;
	for (size_t k = 0; k < n; k += 5)
		sixes += defined[k];
	int has = -1;
	if (!strcmp(shape, "single"))
		has = defined[n * 6 / 10];
	else if (!strcmp(shape, "adjacent"))
		has = defined[n * 6 / 10] && defined[n * 6 / 10 + 1];
	else if (!strcmp(shape, "far"))
		has = defined[n / 10] && defined[n * 9 / 10];
	else if (!strcmp(shape, "triple"))
		has = defined[n / 7] && defined[n / 2] && defined[n * 97 / 100];
	else if (sscanf(shape, "path:%zu:%zu", &from, &to) == 2 && from < n && to < n)
		has = path(from, to);
	else if (!strcmp(shape, "six"))
		has = sixes >= 6 && defined[n / 2 + 1];
	if (has < 0)
		die("no such shape");
	return has ? 0 : 1;
}
