/* A package's contract: from its generated text, or from its binary. */
#include "model/binprobe/load.h"
#include "model/elf/modelso.h"
#include "model/binprobe/binprobe.h"
#include "model/cppwrapper/wrapper.h"
#include "model/doctor/doctor.h"
#include "base/tool/diag.h"

/* Bytes of an optional file. */
static int data_if_any(struct loaded *l, uint32_t file, struct slice *data, struct err *err)
{
	*data = (struct slice){0};
	return file ? package_data(&l->pkg, file, data, err) : 0;
}

/* 0; 1: the text is not a wrapper that we understand (the binary may still reveal its contract); -1: the package is damaged. */
static int read_text(struct loaded *l, struct contract *c, struct err *err)
{
	const struct package_model *m = l->model;
	struct slice text, kernel, nodes;
	struct err why;
	if (data_if_any(l, m->wrapper_cpp, &text, err) < 0 || data_if_any(l, m->kernel_cpp, &kernel, err) < 0 ||
	    data_if_any(l, m->extern_nodes, &nodes, err) < 0)
		return -1;
	if (wrapper_read(c, text, kernel, &why) < 0) {
		struct slice name = l->pkg.file[m->wrapper_cpp].name;
		contract_release(c);
		err_set(err, why.status, "'%s': %.*s: %s", l->pkg.path, SL(name), why.text);
		return 1;
	}
	c->model = m->name;
	if (nodes.n && wrapper_name_proxies(c, nodes, &why) < 0)
		contract_note(c, "the names of custom ops: %s", why.text);
	return 0;
}

/* A bare library has no metadata: its imports show the device. */
static char *device_of(struct slice so, struct slice metadata)
{
	struct modelso m;
	struct err none;
	if (metadata.n)
		return xstrndup(metadata.p, metadata.n);
	if (modelso_open(&m, so, "model", &none) < 0)
		return NULL; /* the probe will report the problem */
	char *device = xstrdup(modelso_device_key(m.device_code));
	modelso_close(&m);
	return device;
}

static int probe_binary(struct loaded *l, struct contract *c, struct err *err)
{
	const struct package_model *m = l->model;
	struct package_metadata md;
	struct slice so, nodes;
	if (!m->so)
		return err_set(err, EXIT_INPUT, "model '%.*s' has no library to probe", SL(m->name));
	if (package_data(&l->pkg, m->so, &so, err) < 0 || data_if_any(l, m->extern_nodes, &nodes, err) < 0 ||
	    package_metadata(&l->pkg, m, &md, err) < 0 || doctor_can_execute(&l->pkg, m, err) < 0)
		return -1;
	struct binprobe_options po = {.blob_size = m->weights_blob ? l->pkg.file[m->weights_blob].size : 0};
	char *device = device_of(so, md.device);
	po.device = device;
	int rc = binprobe_contract(c, so, &po, err);
	free(device);
	if (rc < 0)
		return -1;
	c->model = m->name;
	if (nodes.n && wrapper_name_proxies(c, nodes, err) < 0)
		contract_note(c, "the names of custom ops: %s", err->text);
	return 0;
}

static void compare_sources(struct loaded *l)
{
	struct contract binary = {0};
	struct err err;
	if (probe_binary(l, &binary, &err) < 0) {
		warn("the probe failed, so the contract comes from the text alone: %s", err.text);
		buf_addf(&l->compared.open, "%s\n", err.text);
		l->compared.n_open = 1;
		return;
	}
	l->probed = true;
	contract_compare(&l->contract, &binary, &l->compared);
	l->has_binary = l->contract.n_unread && !binary.stopped.n;
	if (l->has_binary)
		l->binary = binary;
	else
		contract_release(&binary);
}

/* Loads the package, its model and, if it has a text, the contract; text says why there is none. */
static int open_model(struct loaded *l, const char *path, struct load_options o, struct err *text, struct err *err)
{
	int read = 1;
	*l = (struct loaded){0};
	if (package_open(&l->pkg, path, err) < 0)
		return -1;
	l->model = package_model(&l->pkg, o.model, err);
	if (!l->model || (l->model->wrapper_cpp && (read = read_text(l, &l->contract, text)) < 0)) {
		if (l->model)
			*err = *text;
		loaded_release(l);
		return -1;
	}
	l->read = read == 0;
	if (!l->model->wrapper_cpp)
		err_set(text, EXIT_INPUT, "'%s': no generated text (wrapper.cpp) beside it", path);
	return read;
}

/* It can be read, but there is nothing in it to call. */
static bool other_library(struct loaded *l, const char *path, struct err *err)
{
	struct modelso m;
	struct slice so;
	struct err none;
	if (!l->model->so || package_data(&l->pkg, l->model->so, &so, &none) < 0 || modelso_open(&m, so, path, &none) < 0)
		return false;
	bool other = !m.n_entry;
	modelso_close(&m);
	if (other)
		err_set(err, EXIT_INPUT,
			"'%s' is a shared library without AOTInductor's entry points: pass the one that AOTInductor compiled", path);
	return other;
}

int load_text(struct loaded *l, const char *path, struct load_options o, struct err *err)
{
	struct err text;
	int read = open_model(l, path, o, &text, err);
	if (read == 1 && l->model->wrapper_cpp)
		warn("%s", text.text);
	return read < 0 ? -1 : 0;
}

int load_model(struct loaded *l, const char *path, struct load_options o, struct err *err)
{
	struct err text, probe;
	int read = open_model(l, path, o, &text, err);
	if (read < 0)
		return -1;
	if (read == 0) {
		if (o.probe)
			compare_sources(l);
		return 0;
	}
	if (!l->model->so) {
		*err = text;
	} else if (other_library(l, path, err)) {
		/* already reported */
	} else if (o.no_exec) {
		err_set(err, EXIT_INPUT, "%s, and --no-exec prevents probing the binary", text.text);
	} else if (probe_binary(l, &l->contract, &probe) < 0) {
		err_set(err, probe.status, "%s; %s", text.text, probe.text);
	} else {
		note("%s: the following was learned by running the binary on fake tensors in a sandbox", text.text);
		l->probed = true;
		return 0;
	}
	loaded_release(l);
	return -1;
}

void loaded_release(struct loaded *l)
{
	contract_release(&l->contract);
	contract_release(&l->binary);
	comparison_release(&l->compared);
	package_close(&l->pkg);
	l->model = NULL;
}
