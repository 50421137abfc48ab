/* one.c - all tools in one program, pt2utils, as they are installed: what they have in common is there once, a third of the size.
 *
 *     pt2utils -h                     lists them
 *     pt2utils fxexplain trace.log    is fxexplain; so is this program under that name
 *
 * launch.c makes the first of the second. PT2_TOOLS (packaging.mk) is TOOL(symbol, name, about) for each, about being its manual page's
 * own words: main() of its objects has become main_SYMBOL, their other symbols are their own. */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#define TOOL(symbol, name, about) int main_##symbol(int argc, char **argv);
PT2_TOOLS
#undef TOOL

static const struct tool {
	const char *name, *about;
	int (*main)(int argc, char **argv);
} tools[] = {
#define TOOL(symbol, name, about) {name, about, main_##symbol},
    PT2_TOOLS
#undef TOOL
};

/* The tool of this name, which may be pt2-NAME, too (PyPI has another tlparse). */
static const struct tool *tool_named(const char *name)
{
	for (int beside = 0; beside < 2; beside++) {
		for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++)
			if (!strcmp(name, tools[i].name))
				return &tools[i];
		if (strncmp(name, "pt2-", 4) != 0)
			break;
		name += 4;
	}
	return NULL;
}

static const struct tool *tool_called(const char *argv0)
{
	const char *slash = strrchr(argv0, '/');
	return tool_named(slash ? slash + 1 : argv0);
}

int main(int argc, char **argv)
{
	const struct tool *t = argc > 0 ? tool_called(argv[0]) : NULL;
	if (!t && argc > 1 && (t = tool_named(argv[1]))) {
		argc--;
		argv++;
	}
	if (t) {
		prctl(PR_SET_NAME, t->name); /* what ps and killall call it */
		return t->main(argc, argv);
	}
	const int asked = argc > 1 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"));
	FILE *to = asked ? stdout : stderr;
	fputs("Usage: pt2utils TOOL [ARGUMENT...]\n"
	      "       TOOL [ARGUMENT...]\n\n"
	      "Tools for a torch.compile or AOTInductor program that is broken, wrong or slow.\n\n",
	      to);
	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++)
		fprintf(to, "  %-17s %s\n", tools[i].name, tools[i].about);
	fputs("\nTOOL -h lists the options of one, man TOOL explains them.\n", to);
	return asked ? 0 : 2;
}
