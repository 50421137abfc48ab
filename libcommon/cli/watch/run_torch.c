/* Finds an installed libtorch: by paths, or by asking a Python. */
#include "model/doctor/doctor.h"
#include "watch/run.h"

/* Without importing torch, which takes seconds. */
static const char question[] = "import importlib.util as u\n"
			       "s = u.find_spec('torch')\n"
			       "print([*(s.submodule_search_locations or []), ''][0] if s else '')\n";

/* The folder of its torch; NULL: it has none, and *why says why. */
static const char *ask_python(struct arena *a, const char *python, struct buf *why)
{
	struct child_spec spec = {
	    .argv = (const char *const[]){python, "-c", question, NULL},
	    .in.how = CHILD_NULL,
	    .out.how = CHILD_PIPE,
	    .err.how = CHILD_NULL,
	    .env_unset = (const char *const[]){"LD_PRELOAD", NULL},
	    .timeout_ms = 20000,
	    .die_with_parent = true,
	};
	struct child_result r;
	struct err err;
	if (child_run(&spec, &r, &err) < 0) {
		buf_adds(why, err.text);
		return NULL;
	}
	struct slice path = slice_trim(buf_slice(&r.out.head));
	const char *folder = r.how == CHILD_EXITED && !r.status && path.n ? arena_strndup(a, path.p, path.n) : NULL;
	if (!folder) {
		buf_addf(why, "tried '%s'", python);
		if (r.how == CHILD_EXITED && !r.status) {
			buf_adds(why, ", which has no torch");
		} else {
			buf_adds(why, ", which ");
			child_describe(&r, why);
		}
	}
	child_result_release(&r);
	return folder;
}

static bool find_by_asking(struct arena *a, const char *python, struct slice *folder, struct buf *why)
{
	struct slice version;
	const char *torch = ask_python(a, python, why);
	if (!torch)
		return false;
	char *lib = xasprintf("%s/lib", torch);
	bool found = doctor_find_torch(a, lib, folder, &version);
	if (!found)
		buf_addf(why, "'%s' has torch in '%s', which has no lib/libtorch_cpu.so", python, torch);
	free(lib);
	return found;
}

const char *run_find_torch(struct arena *a, const char *given, struct err *err)
{
	struct slice folder, version;
	struct buf why = {0};
	const char *torch = getenv("PT2_TORCH"), *python = getenv("PT2_PYTHON"), *path = NULL;
	bool found;
	if (*given) {
		found = doctor_find_torch(a, given, &folder, &version);
		buf_addf(&why, "no libtorch_cpu.so in '%s', its lib/ or its torch/lib/", given);
	} else if (python && *python && !(torch && *torch)) {
		found = find_by_asking(a, python, &folder, &why);
	} else {
		char *program = child_which("python3");
		found = doctor_find_torch(a, NULL, &folder, &version) || find_by_asking(a, program ? program : "python3", &folder, &why);
		free(program);
	}
	if (found) {
		char *text = xasprintf("%.*s/libtorch_cpu.so", SL(folder));
		path = arena_strndup(a, text, strlen(text));
		free(text);
	} else {
		err_set(err, EXIT_ENVIRON,
			"no libtorch found (%s): install torch, set PT2_PYTHON to a Python that has torch, or give its directory",
			buf_str(&why));
	}
	buf_release(&why);
	return path;
}
