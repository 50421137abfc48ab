#include "model/doctor/doctor.h"

#include "model/doctor/doctor_part.h"
#include "model/package/externnodes.h"
#include "model/doctor/shimversions.h"

enum { CLIP = 200 }; /* maximum bytes of input text in a message */

#define NOTHING SLICE("")

const char *doctor_level_name(enum doctor_level level)
{
	static const char *const name[] = {"ok", "note", "warning", "fatal"};
	return (size_t)level < ARRAY_LEN(name) ? name[level] : "?";
}

void doctor_release(struct doctor *d)
{
	free(d->v);
	arena_release(&d->arena);
	*d = (struct doctor){0};
}

/* ---- machine ---- */

/* True if nothing more can be checked on this host. */
static bool other_machine(struct exam *x)
{
	const char *machine = modelso_machine_name(x->so.machine, x->so.big_endian);
	if (strcmp(machine, x->host.machine)) {
		doctor_add(x, DOCTOR_FATAL, "machine", doctor_text(x, "compiled for %s, but this machine is %s", machine, x->host.machine),
			   SLICE("it will not load: \"cannot open shared object file\" or \"wrong ELF class\""),
			   doctor_text(x, "compile it for the machine it will run on (%s)", x->host.machine));
		return x->so.header_only;
	}
	doctor_ok(x, "machine", doctor_text(x, "compiled for %s, like this machine", machine));
	if (x->md.platform.n && !slice_is(x->md.platform, "linux"))
		doctor_add(x, DOCTOR_WARNING, "platform",
			   doctor_text(x, "its metadata say it was compiled on %.*s", SLN(x->md.platform, CLIP)),
			   SLICE("torch warns about it when loading; metadata and library are from different compilations"),
			   SLICE("recompile the package"));
	if (x->md.machine.n && !slice_is(x->md.machine, machine))
		doctor_add(x, DOCTOR_WARNING, "metadata",
			   doctor_text(x, "the library is for %s, but its metadata say %.*s", machine, SLN(x->md.machine, CLIP)),
			   SLICE("metadata and library are from different compilations"), SLICE("recompile the package"));
	return false;
}

/* ---- the interface ---- */

static const char *const required[] = {
    "AOTInductorModelContainerCreateWithDevice",     "AOTInductorModelContainerDelete",
    "AOTInductorModelContainerGetCallSpec",          "AOTInductorModelContainerGetNumInputs",
    "AOTInductorModelContainerGetNumOutputs",        "AOTInductorModelContainerRun",
    "AOTInductorModelContainerGetNumConstants",      "AOTInductorModelContainerGetConstantName",
    "AOTInductorModelContainerUpdateConstantBuffer",
};

static void interface(struct exam *x)
{
	const char *lacking = NULL;
	if (x->so.api == API_NONE) {
		doctor_add(x, DOCTOR_FATAL, "not-aoti", SLICE("exports no AOTInductor functions: not an AOTInductor library"),
			   SLICE("it has nothing that can be called"), SLICE("pass the library that AOTInductor compiled"));
		return;
	}
	if (x->so.api == API_MODEL) {
		doctor_add(x, DOCTOR_FATAL, "no-container", SLICE("exports a model without its container"),
			   SLICE("it must be linked into a program; torch loads only containers"),
			   SLICE("compile it as a package (torch._inductor.aoti_compile_and_package)"));
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(required) && !lacking; i++)
		if (!modelso_exports(&x->so, required[i]))
			lacking = required[i];
	if (lacking)
		doctor_add(x, DOCTOR_WARNING, "old-api",
			   doctor_text(x, "does not export %s: compiled by a torch before 2.%u", lacking, SHIM_OLDEST),
			   SLICE("later versions require it for loading"), SLICE("recompile it with the torch that will run it"));
	else
		doctor_ok(x, "old-api", doctor_text(x, "entry points: %s", modelso_api_name(x->so.api)));
	if (!lacking && x->so.api < API_LAST_ERROR)
		doctor_add(x, DOCTOR_NOTE, "no-error-texts", SLICE("has no AOTInductorGetLastError: compiled by a torch before 2.13"),
			   SLICE("when a call fails, torch reports only that it failed; the reason is on stderr"), NOTHING);
}

static void runtime(struct exam *x)
{
	const char *name = modelso_runtime_name(x->so.runtime);
	static const char not_torch[] = "torch cannot load it: its functions come from that runtime";
	switch (x->so.runtime) {
	case RUNTIME_NONE:
	case RUNTIME_TORCH: return;
	case RUNTIME_SHIM:
		doctor_add(x, DOCTOR_WARNING, "runtime", SLICE("calls torch's C interface, but does not link libtorch"),
			   SLICE("it loads only into a program that has these functions already (ExecuTorch, or "
				 "aot_inductor.link_libtorch = False)"),
			   SLICE("to load it with torch, compile without that option"));
		return;
	case RUNTIME_EXECUTORCH:
	case RUNTIME_STANDALONE:
		doctor_add(x, DOCTOR_WARNING, "runtime", doctor_text(x, "compiled for another runtime: %s", name), slice_str(not_torch),
			   SLICE("to load it with torch, compile with torch's defaults"));
		return;
	case RUNTIME_PREFIXED:
		doctor_add(x, DOCTOR_WARNING, "runtime",
			   doctor_text(x, "compiled for a runtime whose functions start with %.*s", SLN(x->so.shim_prefix, CLIP)),
			   slice_str(not_torch), SLICE("to load it with torch, compile with torch's defaults"));
	}
}

/* torch chooses the runner by the metadata. */
static void device_key(struct exam *x)
{
	const char *code = modelso_device_key(x->so.device_code);
	if (x->md.device.n && !slice_is(x->md.device, code) && x->so.api != API_NONE)
		doctor_add(x, DOCTOR_WARNING, "device-key",
			   doctor_text(x, "its metadata say it is for %.*s, but the code is for %s", SLN(x->md.device, CLIP), code),
			   SLICE("torch chooses a loader by the metadata; metadata and library are from different "
				 "compilations"),
			   SLICE("recompile the package"));
}

/* ---- constants ---- */

static void blob(struct exam *x)
{
	uint64_t want = x->so.constants.size;
	static const char why[] = "the weights are nowhere else: the first call fails or crashes";
	if (!x->m->weights_blob)
		doctor_add(x, DOCTOR_FATAL, "weights-blob", SLICE("its weights are in a separate file (*_weights.blob), which is missing"),
			   slice_str(why),
			   x->pkg->kind == PACKAGE_SO ? SLICE("put the .blob next to the library, under its original name")
						      : SLICE("repackage it with all files returned by aot_compile"));
	else if (x->pkg->file[x->m->weights_blob].size != want)
		doctor_add(x, DOCTOR_FATAL, "weights-blob",
			   doctor_text(x, "%.*s has %llu bytes, but the library expects %llu",
				       SLN(x->pkg->file[x->m->weights_blob].name, CLIP),
				       (unsigned long long)x->pkg->file[x->m->weights_blob].size, (unsigned long long)want),
			   SLICE("it was truncated, or belongs to another model: wrong weights, or a crash past its end"),
			   SLICE("use the blob created with this library"));
	else
		doctor_ok(x, "weights-blob",
			  doctor_text(x, "weights: %llu bytes in %.*s", (unsigned long long)want,
				      SLN(x->pkg->file[x->m->weights_blob].name, CLIP)));
}

/* Weights written by torch.save are in the package (core/tensor/weights/weights.h), but its loader does not load them automatically (2.13,
 * 2.15). */
static bool pickled_weights(const struct exam *x)
{
	for (uint32_t i = 0; i < x->m->n_file; i++)
		if (slice_is(x->pkg->file[x->m->file[i]].name, "weights_config.json"))
			return true;
	return false;
}

static void examine_constants(struct exam *x)
{
	const struct modelso_constants *c = &x->so.constants;
	const struct contract *k = x->o->contract;
	if (x->so.api == API_NONE)
		return;
	if (c->damage[0]) {
		doctor_add(x, DOCTOR_FATAL, "weights-damaged", slice_str(c->damage),
			   c->form == CONSTANTS_APPENDED ? SLICE("creating the model fails: \"Weights data seems corrupt\"")
							 : SLICE("weights would be read from the wrong memory"),
			   SLICE("use the library as compiled: do not strip, sign, or truncate it"));
	} else if (c->form == CONSTANTS_BLOB) {
		blob(x);
	} else if (c->form == CONSTANTS_NONE && k && k->weight_bytes > 0) {
		doctor_add(x, DOCTOR_WARNING, "weights-elsewhere",
			   doctor_text(x, "needs %llu bytes of weights, %s", (unsigned long long)k->weight_bytes,
				       pickled_weights(x) ? "which are pickled in the package, where torch's loader ignores them"
							  : "but has none"),
			   SLICE("compiled with aot_inductor.package_constants_in_so = False: without them the first call "
				 "fails or crashes"),
			   SLICE("load them before the first call (AOTIModelPackageLoader.load_constants)"));
	} else {
		doctor_ok(x, "weights-damaged",
			  doctor_text(x, "weights: %s, %llu bytes", modelso_form_name(c->form), (unsigned long long)c->size));
	}
}

/* Since torch 2.11, constants can stay on the cpu beside a GPU's (model_base.h); its own check shows that the code supports it.
 */
static void constant_devices(struct exam *x)
{
	const struct contract *k = x->o->contract;
	struct slice ro;
	uint32_t cpu = 0, other = 0, first = 0;
	if (!k || k->device == DEVICE_NONE)
		return;
	for (uint32_t i = 0; i < k->n_constants; i++) {
		int device = k->constant[i].device;
		if (device == DEVICE_NONE || device == k->device)
			continue;
		if (!cpu && !other)
			first = i;
		cpu += device == DEVICE_CPU;
		other += device != DEVICE_CPU;
	}
	bool mixed = modelso_section(&x->so, ".rodata", &ro, NULL) && slice_find(ro, "Mixed-device constants");
	if (other || (cpu && !mixed))
		doctor_add(x, DOCTOR_FATAL, "constant-device",
			   doctor_text(x, "constant %.*s is for %s, the code for %s (%u such)", SLN(k->constant[first].name, CLIP),
				       device_name(k->constant[first].device), device_name(k->device), cpu + other),
			   SLICE("loading copies all constants to the code's own device: a crash, or invalid memory"),
			   SLICE("move the whole module to one device before torch.export"));
	else if (cpu)
		doctor_add(x, DOCTOR_NOTE, "constant-device", doctor_text(x, "%u constants stay on the cpu", cpu),
			   SLICE("torch before 2.11 cannot load such a model; GPU kernels cannot use them in place"),
			   SLICE("move the whole module to one device before torch.export, unless this is intended"));
}

/* ---- operators from elsewhere ---- */

static void list_ops(struct exam *x, struct slice text)
{
	struct extern_nodes nodes;
	struct err err;
	if (extern_nodes_read(&nodes, text, &err) < 0) {
		doctor_add(x, DOCTOR_FATAL, "extern-nodes",
			   doctor_text(x, "%.*s: %s", SLN(x->pkg->file[x->m->extern_nodes].name, CLIP), err.text),
			   SLICE("it calls operators without a C function: loading or the first such call fails"), SLICE("repackage it"));
		return;
	}
	const char *ops = extern_targets(&nodes, EXTERN_FOREIGN);
	if (ops)
		doctor_add(x, DOCTOR_NOTE, "custom-ops", doctor_text(x, "calls operators that are not torch's own: %s", ops),
			   SLICE("loading fails if they are not registered: \"Could not find schema for ...\""),
			   SLICE("import the package that defines them (or torch.ops.load_library) before loading; "
				 "operators written in Python need Python"));
	extern_nodes_release(&nodes);
}

static void extern_nodes(struct exam *x)
{
	struct slice text;
	struct err err;
	bool calls = modelso_imports(&x->so, "aoti_torch_proxy_executor_call_function");
	if (!x->m->extern_nodes) {
		if (calls && x->pkg->kind != PACKAGE_SO)
			doctor_add(x, DOCTOR_FATAL, "extern-nodes",
				   SLICE("calls operators through the proxy executor, but their list "
					 "(*.wrapper.json, extern_nodes.json) is missing"),
				   SLICE("the first such call fails"), SLICE("repackage it"));
		else if (calls)
			doctor_add(x, DOCTOR_WARNING, "extern-nodes",
				   SLICE("calls operators through the proxy executor; their list "
					 "(*.wrapper.json, extern_nodes.json) is not next to it"),
				   SLICE("the first such call fails"), SLICE("put the .json next to the library"));
		return;
	}
	if (package_data(x->pkg, x->m->extern_nodes, &text, &err) < 0)
		doctor_add(x, DOCTOR_FATAL, "extern-nodes", doctor_text(x, "%s", err.text), SLICE("loading fails"), SLICE("repackage it"));
	else
		list_ops(x, text);
}

/* ---- files ---- */

static void files(struct exam *x)
{
	if (!x->m->metadata)
		doctor_add(x, DOCTOR_NOTE, "no-metadata", SLICE("no *_metadata.json"),
			   SLICE("torch reads the model's device from it, and uses it to warn about a different CPU"), NOTHING);
	if (!x->m->wrapper_cpp)
		doctor_add(x, DOCTOR_NOTE, "no-text", SLICE("the C++ text (*.wrapper.cpp) is missing"),
			   SLICE("names, lines and buffers can only be guessed from the library"),
			   SLICE("keep it: packages contain it unless aot_inductor.package_cpp_only or a build step removed it"));
}

/* ---- all of it ---- */

/* Not an AOTI library: the finding says what it is. */
static int foreign(struct exam *x, struct slice so, struct err *err)
{
	bool elf;
	const char *what = modelso_what(so, &elf);
	if (!what || elf)
		return modelso_open(&x->so, so, x->pkg->path, err);
	doctor_add(x, DOCTOR_FATAL, "platform", doctor_text(x, "%.*s is %s", SLN(x->pkg->file[x->m->so].name, CLIP), what),
		   SLICE("it was compiled for another system and will not load on Linux"), SLICE("compile it on Linux"));
	return 1;
}

static void examine_model(struct exam *x)
{
	struct slice version;
	if (!x->o->no_torch && !doctor_find_torch(&x->d->arena, x->o->torch, &x->torch, &version))
		x->torch = (struct slice){"", 0};
	if (other_machine(x))
		return;
	interface(x);
	runtime(x);
	device_key(x);
	doctor_cpu(x);
	doctor_system(x);
	doctor_torch(x);
	examine_constants(x);
	constant_devices(x);
	doctor_gpu(x);
	extern_nodes(x);
}

int doctor_examine(struct doctor *d, struct package *pkg, struct package_model *m, const struct doctor_options *o, struct err *err)
{
	static const struct doctor_options none;
	struct exam x = {.d = d, .pkg = pkg, .m = m, .o = o ? o : &none};
	struct slice so, found, version;
	if (x.o->host)
		x.host = *x.o->host;
	else
		doctor_host_here(&x.host);
	if (x.o->torch && !x.o->no_torch && !doctor_find_torch(&d->arena, x.o->torch, &found, &version))
		return err_set(err, EXIT_INPUT, "'%s' does not contain libtorch_cpu.so, in lib/ or in torch/lib/", x.o->torch);
	if (package_metadata(pkg, m, &x.md, err) < 0)
		return -1;
	files(&x);
	if (!m->so) {
		doctor_add(&x, DOCTOR_FATAL, "not-compiled", SLICE("the package contains only the C++ text, no library"),
			   SLICE("created with aot_inductor.package_cpp_only: compile it first"),
			   SLICE("run cmake in the model's directory, with CMAKE_PREFIX_PATH set to torch"));
		return 0;
	}
	if (package_data(pkg, m->so, &so, err) < 0)
		return -1;
	int r = foreign(&x, so, err);
	if (r == 0)
		examine_model(&x);
	if (r <= 0)
		modelso_close(&x.so);
	return r < 0 ? -1 : 0;
}
