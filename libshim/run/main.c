/* pt2-runner: runs one compiled model with libpt2shim.so or libtorch_cpu.so. Part of the tools (watch/run.h), not a tool
 * itself. */
#include "run.h"

#include "tensor/tensor.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <unistd.h>

static const char usage[] =
    "usage: pt2-runner --torch LIB --model SO --inputs FILE --outputs FILE [option]...\n"
    "Runs a compiled model (AOTInductor) once and writes what it returns.\n"
    "  --torch LIB        libpt2shim.so or an installed libtorch_cpu.so\n"
    "  --model SO         the model's library\n"
    "  --in-memory FD     SO is also open as FD, in memory, to be loaded from there\n"
    "  --own-copy         SO is a copy that may be modified so that it can be loaded\n"
    "  --name NAME        its name in messages\n"
    "  --inputs FILE      tensors in the model's order: .safetensors, .pt, .npz, .npy (names are ignored)\n"
    "  --outputs FILE     written in an internal format of the suite (watch/runfile.h)\n"
    "  --weights FILE     weights to load, as tensors named like its constants (the same format)\n"
    "  --blob FILE        weights stored outside the library\n"
    "  --extern-nodes FILE  the package's list of operators without a C function (*.wrapper.json)\n"
    "  --load LIB         a library that defines operators (TORCH_LIBRARY), for an installed libtorch; may be repeated\n"
    "  --runs N           call it N times, each with the given inputs\n"
    "  --threads N        OpenMP threads\n"
    "  --limit-memory N   bytes of address space\n"
    "  --check-inputs     AOTI_RUNTIME_CHECK_INPUTS=1: the model checks them itself\n"
    "  --watched          libpt2probe.so is preloaded: open its files first\n"
    "  --guard            with --watched: freed memory stays unmapped (libpt2shim.so)\n"
    "  --save-dir DIR     with --watched: create new files there\n"
    "  --unconfined       no system call filter\n"
    "  --gpu              the model is for CUDA: needs an installed CUDA libtorch, runs unconfined\n"
    "  --verbose          show what the model prints\n"
    "  --quiet            write errors only to the outputs file\n"
    "Exit status: 0 success, 2 usage, 3 the model or an input, 4 the environment.\n";

static _Noreturn void usage_error(const char *what)
{
	fprintf(stderr, "pt2-runner: %s (pt2-runner --help)\n", what);
	exit(EXIT_USAGE);
}

static uint64_t number(const char *text, const char *option)
{
	uint64_t n;
	char what[128];
	if (slice_u64(slice_str(text), &n))
		return n;
	snprintf(what, sizeof(what), "--%s needs a number, not '%.60s'", option, text);
	usage_error(what);
}

enum {
	TORCH,
	MODEL,
	IN_MEMORY,
	OWN_COPY,
	NAME,
	INPUTS,
	OUTPUTS,
	WEIGHTS,
	BLOB,
	EXTERN_NODES,
	LOAD,
	RUNS,
	THREADS,
	MEMORY,
	CHECK,
	WATCHED,
	GUARD,
	SAVE_DIR,
	UNCONFINED,
	GPU,
	VERBOSE,
	QUIET,
	HELP
};
static const struct option options[] = {
    {"torch", required_argument, NULL, TORCH},
    {"model", required_argument, NULL, MODEL},
    {"in-memory", required_argument, NULL, IN_MEMORY},
    {"own-copy", no_argument, NULL, OWN_COPY},
    {"name", required_argument, NULL, NAME},
    {"inputs", required_argument, NULL, INPUTS},
    {"outputs", required_argument, NULL, OUTPUTS},
    {"weights", required_argument, NULL, WEIGHTS},
    {"blob", required_argument, NULL, BLOB},
    {"extern-nodes", required_argument, NULL, EXTERN_NODES},
    {"load", required_argument, NULL, LOAD},
    {"runs", required_argument, NULL, RUNS},
    {"threads", required_argument, NULL, THREADS},
    {"limit-memory", required_argument, NULL, MEMORY},
    {"watched", no_argument, NULL, WATCHED},
    {"guard", no_argument, NULL, GUARD},
    {"check-inputs", no_argument, NULL, CHECK},
    {"save-dir", required_argument, NULL, SAVE_DIR},
    {"unconfined", no_argument, NULL, UNCONFINED},
    {"gpu", no_argument, NULL, GPU},
    {"verbose", no_argument, NULL, VERBOSE},
    {"quiet", no_argument, NULL, QUIET},
    {"help", no_argument, NULL, HELP},
    {0},
};

static void add_library(struct job *j, const char *path)
{
	if (j->n_load == ARRAY_LEN(j->load))
		usage_error("more than 16 libraries (--load)");
	j->load[j->n_load++] = path;
}

static void read_options(struct job *j, int argc, char **argv)
{
	int index = 0;
	for (int c; (c = getopt_long(argc, argv, "", options, &index)) != -1;)
		switch (c) {
		case TORCH: j->torch = optarg; break;
		case MODEL: j->model = optarg; break;
		case IN_MEMORY: j->in_memory = (int)number(optarg, "in-memory"); break;
		case OWN_COPY: j->own_copy = true; break;
		case NAME: j->name = optarg; break;
		case INPUTS: j->inputs = optarg; break;
		case OUTPUTS: j->outputs = optarg; break;
		case WEIGHTS: j->weights = optarg; break;
		case BLOB: j->blob = optarg; break;
		case EXTERN_NODES: j->extern_nodes = optarg; break;
		case LOAD: add_library(j, optarg); break;
		case RUNS: j->runs = (unsigned)number(optarg, "runs"); break;
		case THREADS: j->threads = (unsigned)number(optarg, "threads"); break;
		case MEMORY: j->max_memory = number(optarg, "limit-memory"); break;
		case CHECK: setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", 1); break;
		case WATCHED: j->watched = true; break;
		case GUARD: j->guard = true; break;
		case SAVE_DIR: j->save_dir = optarg; break;
		case UNCONFINED: j->unconfined = true; break;
		case GPU: j->gpu = true; break;
		case VERBOSE: j->verbose = true; break;
		case QUIET: j->quiet = true; break;
		case HELP: fputs(usage, stdout); exit(fflush(stdout) ? EXIT_ENVIRON : EXIT_FINE);
		default: usage_error("invalid option");
		}
	if (!j->name)
		j->name = j->model;
	if (optind != argc || !j->torch || !j->model || !j->inputs || !j->outputs || !j->runs)
		usage_error("--torch, --model, --inputs and --outputs are required, and no operands are allowed");
}

/* Spinning waiters take the CPU from working threads: 20 times slower on two cores (docs/dev/FACTS.md). */
static void set_environment(const struct job *j)
{
	char n[16];
	cpu_set_t set;
	setenv("OMP_WAIT_POLICY", "passive", 0);
	if (j->threads)
		snprintf(n, sizeof(n), "%u", j->threads);
	else
		snprintf(n, sizeof(n), "%d", sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set));
	setenv("OMP_NUM_THREADS", n, j->threads != 0);
}

/* The model gets nothing of the user's: no standard input; its output is discarded, except the first 64 KiB of errors: a pipe that is not
 * read before the end. With --verbose it goes to the runner's own standard error, which is a pipe to the tool. With --quiet not even the
 * runner keeps the original standard error. */
static int redirect(struct job *j, struct err *err)
{
	int p[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, 0) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot redirect what the model reads");
	if (!j->quiet)
		j->own_err = fcntl(2, F_DUPFD_CLOEXEC, 10);
	if (j->verbose) {
		j->own_err = j->quiet ? 2 : j->own_err;
		close(null);
		return 0;
	}
	if (dup2(null, 1) < 0 || pipe2(p, O_CLOEXEC | O_NONBLOCK) < 0 || dup2(p[1], 2) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot redirect what the model prints");
	close(null);
	close(p[1]);
	j->model_err = p[0];
	return 0;
}

static int run_as_told(struct job *j, struct err *err)
{
	struct tensor_view *v;
	int r = -1;
	struct runfile f;
	if (runfile_open(&f, j->inputs, err) == 0) {
		close(f.map.fd); /* it stays mapped */
		f.map.fd = -1;
		r = run_job(j, f.v, f.n, err);
		runfile_close(&f);
		return r;
	}
	struct tensor_file *t = tensor_file_open(j->inputs, err);
	if (!t)
		return -1;
	v = xcalloc(t->n + 1, sizeof(*v));
	for (size_t i = 0; i < t->n; i++) {
		struct slice data;
		v[i].name = t->v[i].name;
		v[i].meta = t->v[i].meta;
		if (tensor_data(t, i, &data, err) < 0)
			goto out;
		v[i].data = data.p;
	}
	r = run_job(j, v, t->n, err);
out:
	free(v);
	tensor_file_close(t);
	return r;
}

int main(int argc, char **argv)
{
	struct job j = {.runs = 1, .own_err = -1, .model_err = -1, .keeper = -1, .events = -1, .in_memory = -1};
	struct err err = {0};
	for (int fd; (fd = open("/dev/null", O_RDWR)) >= 0;) /* a closed descriptor would be reused for one of our files */
		if (fd > 2) {
			close(fd);
			break;
		}
	read_options(&j, argc, argv);
	set_environment(&j);
	j.out_fd = open(j.outputs, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (j.out_fd < 0) {
		fprintf(stderr, "pt2-runner: cannot write '%s': %s\n", j.outputs, strerror(errno));
		return EXIT_ENVIRON;
	}
	if (redirect(&j, &err) == 0 && run_as_told(&j, &err) == 0)
		return EXIT_FINE;
	if (!j.quiet && j.own_err >= 0)
		dprintf(j.own_err, "pt2-runner: %s\n", err.text);
	runfile_write_error(j.out_fd, &err, NULL);
	return (int)err.status;
}
