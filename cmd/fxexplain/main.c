/* fxexplain - what went wrong in this compilation, where, what did it cost, and what next? */
#include "explain/alive.h"
#include "explain/explain.h"

#include "base/emit/format.h"
#include "base/io/mapfile.h"

extern const struct opt_command kernel_command, profile_command, crash_command, fix_command, report_command, cache_command, serve_command,
    run_command, replay_command, mend_command, slow_command;
static const struct opt_command *const commands[] = {&kernel_command, &profile_command, &crash_command, &fix_command,
						     &report_command, &cache_command,   &slow_command,  &serve_command,
						     &run_command,    &replay_command,  &mend_command,  NULL};
static const struct opt_spec spec = {
    .tool = "fxexplain",
    .about = "What went wrong in this torch.compile or AOTInductor run, and what next?",
    .example = {{"run -- python app.py", "run a program and explain what happened"},
		{"trace.log", "explain a log that TORCH_TRACE wrote"},
		{"fix trace.log", "show one-line fixes, as a patch"}},
    .footer = "INPUT: a trace or directory (TORCH_TRACE), torch_compile_debug, a text, or -.",
    .more = "A text is a TORCH_LOGS log, a program's stderr or a pasted message. Files may be .gz, .xz or .zst; - is standard input.",
    .options = explain_table,
    .operands = "INPUT...",
    .min = 1,
    .max = -1,
    .commands = commands,
};

int main(int argc, char **argv)
{
	struct operands in;
	int status;
	opt_parse_or_exit(&spec, argc, argv, &in);
	format_apply(&spec, &in);
	mapfile_watch();
	if (in.sub) {
		status = in.sub->run(&in);
	} else {
		alive_look(in.v, in.n);
		explain_begin(true, NULL);
		status = explain_paths(&explain_opt, in.v, in.n);
	}
	opt_pairs_release(&explain_opt.max);
	operands_release(&in);
	return status;
}
