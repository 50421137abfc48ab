/* aoti-checkinputs - what does this compiled model expect, and is this call right? */
#include "base/emit/format.h"
#include "base/process/child.h"
#include "base/tool/diag.h"
#include "base/broker/broker.h"
#include "model/doctor/doctor.h"
#include "checkinputs.h"
#include "watch/names.h"
#include "model/contract/exported.h"
#include "watch/runopt.h"
#include "base/io/mapfile.h"
#include "base/tool/output.h"

#include <signal.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static struct checkinputs_options opt = {.error_exitcode = -1};

static const struct opt options[] = {
    OPT_HEADING("What to do"),
    OPT_FLAG(0, "doctor", &opt.doctor, "check whether the model will load and run here"),
    OPT_STRING(0, "against", "FILE", &opt.against, "compare it with the program that torch.export saved",
	       .more = "With INPUT, check these: they may have forward()'s names, and indices are checked by its graph."),
    OPT_FLAG(0, "probe", &opt.probe, "run the binary on fake tensors to check its C++ text"),
    OPT_FLAG(0, "no-exec", &opt.no_exec, "run nothing of the model, not even in the sandbox"),
    OPT_HEADING("Which model and sizes"),
    RUN_OPT_MODEL(opt),
    OPT_PAIRS(0, "shape", "SYMBOL=N", &opt.shape, "set a size for the memory estimate",
	      .more = "May be given again. Default: the largest size that the model accepts."),
    OPT_STRING(0, "torch", "DIR", &opt.torch, "let --doctor check this libtorch", .more = "Default: the one found; none: no libtorch."),
    OPT_HEADING("Output"),
    OPT_FLAG(0, "json", &opt.json, "write one JSON document"),
    OPT_FORMAT,
    OPT_FLAG('a', "all", &opt.all, "list every constant and call"),
    OPT_MAX_TEXT,
    OPT_FLAG('q', "quiet", &opt.quiet, "print nothing; only set the exit status"),
    OPT_HEADING("Watching a command"),
    OPT_STRING(0, "log", "FILE", &opt.log, "write findings to FILE instead of stderr"),
    OPT_FLAG(0, "fail", &opt.fail, "make a wrong call return an error instead of running"),
    OPT_INT(0, "error-exitcode", "N", &opt.error_exitcode, 0, 255, "exit with N if something does not fit"),
    OPT_END,
};

static const struct opt_rule rules[] = {
    {.of = OPT_COMMAND,
     .with = "doctor against probe json " OPT_OPERANDS,
     .text = "-- COMMAND cannot be combined with MODEL, --doctor, --against, --probe or --json"},
    {.of = "fail log", .without = OPT_COMMAND, .text = "--log and --fail require a command: aoti-checkinputs --log FILE -- COMMAND"},
    {.of = "probe", .with = "no-exec", .text = "--probe runs the binary and cannot be combined with --no-exec"},
    {.one_of = "doctor against", .text = "--doctor and --against cannot be combined"},
    {0},
};

static const struct opt_spec spec = {
    .tool = "aoti-checkinputs",
    .about = "What inputs does this compiled model expect, and is this call correct?",
    .example = {{"model.pt2", "show what the model expects"},
		{"model.pt2 batch.npy", "check a call and list every error"},
		{"--doctor model.pt2", "check whether it will run here"}},
    .footer = "MODEL: a .pt2 package, a model.so, or a directory.\n" RUN_INPUT_TEXT,
    .more = "An input of some name is NAME=INPUT; a spec may have strides and a device: 'bf16[2,3]/(1,2)@cuda:0'. "
	    "With a command, every call of every compiled model in that process is checked.",
    .options = options,
    .rules = rules,
    .operands = "MODEL [INPUT...]",
    .min = 1,
    .max = -1,
    .command = true,
};

/* The sizes for the intermediate memory: the given ones, else the largest. */
static int take_shape(const struct contract *c, const struct given *g, struct symbind *at, struct err *err)
{
	struct symbind given = {0};
	contract_bind_max(c, at);
	if (g)
		contract_bind(c, g->meta, g->n, &given);
	for (uint32_t i = 0; i < given.n; i++)
		if (given.bound[i])
			symbind_set(at, i, given.value[i]);
	symbind_release(&given);
	for (size_t i = 0; i < opt.shape.n; i++) {
		const struct opt_pair *p = &opt.shape.v[i];
		uint64_t v;
		uint32_t k = 0;
		while (k < c->n_symbols && !slice_eq(symtab_name(&c->tab, c->symbol[k].symbol), p->name))
			k++;
		if (k == c->n_symbols)
			return err_set(err, EXIT_USAGE, "--shape: '%.*s' is not a symbol of this model", SL(p->name));
		if (!slice_u64(slice_str(p->value), &v) || v > INT64_MAX)
			return err_set(err, EXIT_USAGE, "--shape: '%s' is not a size", p->value);
		symbind_set(at, c->symbol[k].symbol, (int64_t)v);
	}
	return 0;
}

static bool is_pipe(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* The contract of a model; of an exported program, what its signature says: any strides, and the sizes that it was exported with. */
static int load_subject(struct loaded *l, const char *path, struct err *err)
{
	struct package pkg;
	struct err ignored;
	struct slice json;
	if (is_pipe(path) || package_open_exported(&pkg, path, &ignored) < 0) /* a pipe can be read only once */
		return load_model(l, path, load_how(&opt), err);
	if (pkg.n) {
		package_close(&pkg);
		return load_model(l, path, load_how(&opt), err);
	}
	*l = (struct loaded){.pkg = pkg};
	struct contract *c = &l->contract;
	if (package_data(&l->pkg, l->pkg.exported[0], &json, err) < 0 || exported_read(c, json, err) < 0) {
		loaded_release(l);
		return -1;
	}
	for (uint32_t i = 0; i < c->n_inputs; i++) {
		c->input[i].asserted = i + 1;
		for (int d = 0; d < c->input[i].n_dim; d++) {
			c->input[i].dim[d].size_checked |= symsize_is_int(c->input[i].dim[d].size);
			c->input[i].dim[d].stride = contract_unknown(c);
		}
	}
	return 0;
}

static int show_inputs(const struct operands *in)
{
	struct loaded l;
	struct given g = {0};
	struct check k = {0};
	struct symbind at = {0};
	struct err err;
	bool asked = in->n > 1;
	if (load_subject(&l, in->v[0], &err) < 0)
		die_err(&err);
	bool by_binary = asked && l.has_binary && !l.compared.n_differs;
	if (by_binary) { /* the binary tells what the code did not */
		struct contract text = l.contract;
		l.contract = l.binary;
		l.binary = text;
	}
	if (asked && opt.against && names_lend(&l, &l.contract, opt.against, &err) < 0)
		die_err(&err);
	if (asked && names_given(&g, &l, &l.contract, NULL, in->v + 1, in->n - 1, true, &err) < 0)
		die_err(&err);
	if (take_shape(&l.contract, asked ? &g : NULL, &at, &err) < 0)
		die_err(&err);
	if (asked)
		check_inputs(&k, &l.contract, g.meta, g.n + g.n_extra);
	if (asked && !k.n_bad)
		check_cuts(&k, &l.contract, g.meta, g.n);
	const bool no_values = asked && !k.n_bad && check_values(&k, &l, opt.against, &g, &err) < 0;
	if (no_values && opt.against)
		die_err(&err);
	if (no_values)
		warn("the values of indices could not be checked: %s", err.text);
	struct screen s = screen_make();
	if (opt.json)
		document_write(&s.b, &l, asked ? &g : NULL, asked ? &k : NULL, &at);
	else if (!opt.quiet && asked)
		show_check(&s, &l, &g, &k);
	else if (!opt.quiet)
		show_contract(&s, &l, &at, opt.all);
	const struct comparison *compared = &l.compared;
	if (by_binary && !opt.json)
		warn("the code of '%s' was not fully understood: the inputs were checked against what the binary reads from fake tensors",
		     in->v[0]);
	else if (asked && l.probed && !opt.json && (compared->n_differs || compared->n_open))
		warn("the code of '%s' %s: run aoti-checkinputs --probe without inputs", in->v[0],
		     compared->n_differs ? "is not what its binary was built from" : "could only be compared with its binary in part");
	if (asked && !opt.json && l.contract.stopped.n)
		warn("the program in '%s' could not be followed to the end: its expectations are only partly known", in->v[0]);
	screen_end(&s);
	bool partial = (compared->n_open && !by_binary) || l.contract.stopped.n || (asked && l.contract.n_unread) || no_values;
	int status = k.n_bad || compared->n_differs ? EXIT_FOUND : partial ? EXIT_PARTIAL : EXIT_FINE;
	symbind_release(&at);
	check_release(&k);
	given_release(&g);
	loaded_release(&l);
	return status;
}

int main(int argc, char **argv)
{
	struct operands in;
	int status;
	signal(SIGPIPE, SIG_IGN); /* a reader that is gone must not end a report or the watching of a command */
	shown_most = SHOWN_MOST;
	opt_parse_or_exit(&spec, argc, argv, &in);
	format_apply(&spec, &in);
	mapfile_watch();
	if (!in.command) /* a command that is watched must not inherit ignored signals */
		output_fail_writes();
	broker_offer(doctor_driver_text);
	doctor_driver_elsewhere = broker_call;
	broker_start();
	if (!in.command)
		broker_seal(0);
	if (opt.doctor && in.n > 1)
		die(EXIT_USAGE, "--doctor takes only a model, no inputs");
	if (in.command)
		status = run_live(in.command, &opt);
	else if (opt.doctor)
		status = run_doctor(in.v[0], &opt);
	else if (opt.against && in.n == 1)
		status = run_against(in.v[0], &opt);
	else
		status = show_inputs(&in);
	if (status == EXIT_FOUND && opt.error_exitcode >= 0 && !in.command)
		status = opt.error_exitcode;
	opt_pairs_release(&opt.shape);
	operands_release(&in);
	return status;
}
