/* one.c - all tools in one program, pt2utils, as they are installed: what they have in common is there once, a third of the size.
 *
 *     pt2utils -h                     lists them
 *     pt2utils fxexplain trace.log    is fxexplain; so is this program under that name
 *     pt2utils trace.log              is pt2: so is all else
 *
 * launch.c makes the first of the second. PT2_TOOLS (packaging.mk) is TOOL(symbol, name, about) for each, about being its manual page's
 * own words: main() of its objects has become main_SYMBOL, their other symbols are their own. */
#include "base/text.h"
#include "base/tool/diag.h"
#include "base/tool/opt.h"

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

/* The tool of this name, which may be pt2-NAME, too (there is another tlparse, in Rust). */
static const struct tool *tool_named(const char *name)
{
	for (int beside = 0; beside < 2; beside++) {
		for (size_t i = 0; i < ARRAY_LEN(tools); i++)
			if (!strcmp(name, tools[i].name))
				return &tools[i];
		if (strncmp(name, "pt2-", 4) != 0)
			break;
		name += 4;
	}
	return NULL;
}

static void list_tools(FILE *to)
{
	fputs("Which tool helps with this torch.compile or AOTInductor program?\n\n"
	      "Examples:\n"
	      "  pt2utils fxexplain run -- python app.py        # what went wrong?\n"
	      "  pt2utils tlparse trace.log --html=page.html    # what did torch.compile do?\n"
	      "  pt2utils aoti-checkinputs model.pt2 batch.npy  # is this call correct?\n\n"
	      "Usage: pt2utils TOOL [ARG]...      or TOOL [ARG]...; pt2utils THING... is pt2\n\n"
	      "Tools ('TOOL -h' shows the options of one, 'man TOOL' explains it):\n",
	      to);
	for (size_t i = 0; i < ARRAY_LEN(tools); i++)
		fprintf(to, "  %-17s %s\n", tools[i].name, tools[i].about);
	fputs("\n  -h, --help              show this help\n"
	      "  -V, --version           show the version\n"
	      "      --completion=SHELL  write the completion for bash, zsh or fish\n",
	      to);
}

/* The name of a tool is completed here, what is behind it by the tool's own completion. */
static const char bash[] = "_pt2utils()\n"
			   "{\n"
			   "\tlocal tool=${COMP_WORDS[1]}\n"
			   "\tCOMPREPLY=()\n"
			   "\tif ((COMP_CWORD == 1)); then\n"
			   "\t\tmapfile -t COMPREPLY < <(compgen -W \"$_pt2utils_tools --help --version --completion=\" -- \"$tool\")\n"
			   "\t\treturn\n"
			   "\tfi\n"
			   "\t[[ \" $_pt2utils_tools \" == *\" $tool \"* ]] || return\n"
			   "\tdeclare -F \"_${tool//-/_}\" >/dev/null || . <(pt2utils \"$tool\" --completion=bash)\n"
			   "\tCOMP_WORDS=(\"${COMP_WORDS[@]:1}\")\n"
			   "\t((COMP_CWORD--))\n"
			   "\t\"_${tool//-/_}\"\n"
			   "}\n"
			   "complete -F _pt2utils pt2utils\n";
static const char zsh[] =
    "\t)\n"
    "\tif ((CURRENT == 2)); then\n"
    "\t\t_describe -t tools tool tools\n"
    "\t\t_arguments '(-h --help)'{-h,--help}'[show this help]' '(-V --version)'{-V,--version}'[show the version]' \\\n"
    "\t\t\t'--completion=[write the completion]:SHELL:(bash zsh fish)'\n"
    "\telse\n"
    "\t\tshift words\n"
    "\t\t((CURRENT--))\n"
    "\t\t_normal\n"
    "\tfi\n"
    "}\n"
    "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n\t_pt2utils \"$@\"\nelse\n\tcompdef _pt2utils pt2utils\nfi\n";
static const char fish[] = "complete -c pt2utils -f\n"
			   "complete -c pt2utils -n 'test (count (commandline -opc)) = 1' -s h -l help -d 'show this help'\n"
			   "complete -c pt2utils -n 'test (count (commandline -opc)) = 1' -s V -l version -d 'show the version'\n"
			   "complete -c pt2utils -n 'test (count (commandline -opc)) -gt 1' -a "
			   "'(complete -C (string join \" \" -- (string escape -- (commandline -opc)[2..-1]) (commandline -ct)))'\n";

static void put_word(const char *before, const char *name, const char *colon, const char *about)
{
	LOCAL_BUF text = {0};
	LOCAL_BUF word = {0};
	buf_addf(&text, "%s%s%s", name, colon, about);
	buf_add_word(&word, buf_str(&text));
	printf("%s%s\n", before, buf_str(&word));
}

static int completion(const char *shell)
{
	if (!strcmp(shell, "bash")) {
		fputs("# bash completion for pt2utils, written by: pt2utils --completion=bash\n_pt2utils_tools='", stdout);
		for (size_t i = 0; i < ARRAY_LEN(tools); i++)
			printf("%s%s", i ? " " : "", tools[i].name);
		printf("'\n%s", bash);
	} else if (!strcmp(shell, "zsh")) {
		puts("#compdef pt2utils\n# zsh completion for pt2utils, written by: pt2utils --completion=zsh\n_pt2utils()\n{\n\tlocal -a "
		     "tools=(");
		for (size_t i = 0; i < ARRAY_LEN(tools); i++)
			put_word("\t\t", tools[i].name, ":", tools[i].about);
		fputs(zsh, stdout);
	} else if (!strcmp(shell, "fish")) {
		puts("# fish completion for pt2utils, written by: pt2utils --completion=fish");
		for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
			printf("complete -c pt2utils -n 'test (count (commandline -opc)) = 1' -a %s", tools[i].name);
			put_word(" -d ", "", "", tools[i].about);
		}
		fputs(fish, stdout);
	} else {
		die(EXIT_USAGE, "option '--completion' must be one of bash, zsh, fish, not '%s'", shell);
	}
	return EXIT_FINE;
}

int main(int argc, char **argv)
{
	const struct tool *t = argc > 0 ? tool_named(path_base(argv[0])) : NULL;
	if (!t && argc > 1 && (t = tool_named(argv[1]))) {
		argc--;
		argv++;
	}
	if (t) {
		prctl(PR_SET_NAME, t->name); /* what ps and killall call it */
		return t->main(argc, argv);
	}
	if (argc < 2) {
		list_tools(stderr);
		return EXIT_USAGE;
	}
	const char *word = argv[1];
	if (!strcmp(word, "-h") || !strcmp(word, "--help") || !strcmp(word, "--help-all")) {
		list_tools(stdout);
		return EXIT_FINE;
	}
	if (!strcmp(word, "-V") || !strcmp(word, "--version")) {
		puts("pt2utils " PT2_VERSION);
		return EXIT_FINE;
	}
	if (!strncmp(word, "--completion=", strlen("--completion=")))
		return completion(word + strlen("--completion="));
	return main_pt2(argc, argv); /* a question, or a thing */
}
