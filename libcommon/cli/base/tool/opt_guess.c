/* opt_guess.c - what was meant. */
#include "base/tool/opt_part.h"

#include <ctype.h>
#include <unistd.h>

static int same_letter(char c) { return c == '_' ? '-' : tolower((unsigned char)c); }

/* Levenshtein; names longer than the row are never near. */
static size_t distance(struct slice a, const char *b)
{
	size_t row[48], n = strlen(b);
	if (n >= ARRAY_LEN(row) || a.n >= ARRAY_LEN(row))
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diagonal + (same_letter(a.p[i - 1]) != same_letter(b[j - 1]));
			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

void opt_guess(struct opt_guess *g, const char *name)
{
	size_t d = distance(g->word, name);
	if (g->word.n >= 2 && strlen(name) > g->word.n && !memcmp(name, g->word.p, g->word.n))
		d = d < 2 ? d : 2; /* an abbreviation: not accepted, but what was meant is known */
	if (d < 3 && d < g->word.n && (!g->best || d < g->distance)) {
		g->best = name;
		g->distance = d;
	}
}

char *opt_guess_text(const struct opt_guess *g) { return g->best ? xasprintf(" (did you mean '%s'?)", g->best) : xasprintf("%s", ""); }

static bool is_file(const char *word) { return !strcmp(word, "-") || access(word, F_OK) == 0; }

/* What a shell would run by this name. */
static bool is_program(const char *name)
{
	const char *path = getenv("PATH");
	if (strchr(name, '/') || !*name)
		return false;
	for (size_t n; path && *path; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		FREED char *file = xasprintf("%.*s/%s", (int)n, path, name);
		if (n && access(file, X_OK) == 0)
			return true;
	}
	return false;
}

int opt_misspelt_command(const struct opt_spec *spec, const char *word, struct err *err)
{
	struct opt_guess g = {.word = slice_str(word)};
	if (strpbrk(word, "./") || is_file(word))
		return 0;
	opt_each_command(c, spec)
		opt_guess(&g, c->name);
	FREED char *meant = opt_guess_text(&g);
	return g.best ? err_set(err, EXIT_USAGE, "'%s' is neither a file nor a command%s", word, meant) : 0;
}

int opt_forgotten_dashes(const struct opt_spec *spec, const struct opt_command *sub, int argc, char **argv, int at, struct err *err)
{
	const struct opt_command *to = sub;
	for (int i = at; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return 0;
	opt_each_command(c, spec)
		if (!sub && !spec->command && c->need_command && !to)
			to = c;
	if (!(to ? to->command : spec->command) || (!(sub && sub->need_command) && (is_file(argv[at]) || !is_program(argv[at]))))
		return 0;
	LOCAL_BUF line = {0};
	buf_adds(&line, spec->tool);
	for (int i = 1; i < argc; i++) {
		if (i == at)
			buf_addf(&line, "%s%s --", sub || !to ? "" : " ", sub || !to ? "" : to->name);
		buf_addc(&line, ' ');
		buf_add_word(&line, argv[i]);
	}
	if (sub && sub->need_command)
		return err_set(err, EXIT_USAGE, "missing '--' before the command; type: %s", buf_str(&line));
	return err_set(err, EXIT_USAGE, "'%s' is not a file; to run it as a command, type: %s", argv[at], buf_str(&line));
}
