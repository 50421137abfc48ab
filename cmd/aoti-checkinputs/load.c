/* A package's contract: from its generated text, or from its binary. */
#include "aoti/probe.h"
#include "aoti/wrapper.h"
#include "base/diag.h"
#include "checkinputs.h"

/* Bytes of a file that need not be there. */
static int data_if_any(struct loaded *l, uint32_t file, struct slice *data, struct err *err)
{
	*data = (struct slice){0};
	return file ? package_data(&l->pkg, file, data, err) : 0;
}

static int read_text(struct loaded *l, struct contract *c, struct err *err)
{
	const struct package_model *m = l->model;
	struct slice text, kernel, nodes;
	if (package_data(&l->pkg, m->wrapper_cpp, &text, err) < 0 || data_if_any(l, m->kernel_cpp, &kernel, err) < 0 ||
	    data_if_any(l, m->extern_nodes, &nodes, err) < 0)
		return -1;
	if (wrapper_read(c, text, kernel, err) < 0) {
		struct slice name = l->pkg.file[m->wrapper_cpp].name;
		char *why = xstrdup(err->text);
		err_set(err, EXIT_INPUT, "'%s': %.*s: %s", l->pkg.path, (int)name.n, name.p, why);
		free(why);
		return -1;
	}
	c->model = m->name;
	if (nodes.n && wrapper_name_proxies(c, nodes, err) < 0)
		contract_note(c, "the names of custom ops: %s", err->text);
	return 0;
}

static int probe_binary(struct loaded *l, struct contract *c, struct err *err)
{
	const struct package_model *m = l->model;
	struct package_metadata md;
	struct slice so, nodes;
	if (!m->so)
		return err_set(err, EXIT_INPUT, "'%s': model '%.*s' has no library to probe", l->pkg.path, (int)m->name.n, m->name.p);
	if (package_data(&l->pkg, m->so, &so, err) < 0 || data_if_any(l, m->extern_nodes, &nodes, err) < 0 ||
	    package_metadata(&l->pkg, m, &md, err) < 0)
		return -1;
	struct probe_options po = {.blob_size = m->weights_blob ? l->pkg.file[m->weights_blob].size : 0};
	char *device = md.device.n ? xstrndup(md.device.p, md.device.n) : NULL;
	po.device = device;
	int rc = probe_contract(c, so, &po, err);
	free(device);
	if (rc < 0)
		return -1;
	c->model = m->name;
	if (nodes.n && wrapper_name_proxies(c, nodes, err) < 0)
		contract_note(c, "the names of custom ops: %s", err->text);
	return 0;
}

static void compare(struct loaded *l)
{
	struct contract binary = {0};
	struct err err;
	if (probe_binary(l, &binary, &err) < 0) {
		warn("the probe failed, so the contract is that of the text alone: %s", err.text);
		return;
	}
	l->probed = true;
	l->n_differences = contract_diff(&l->contract, &binary, &l->differences);
	contract_release(&binary);
}

int load_text(struct loaded *l, const char *path, const struct checkinputs_options *o, struct err *err)
{
	*l = (struct loaded){0};
	if (package_open(&l->pkg, path, err) < 0)
		return -1;
	l->model = package_model(&l->pkg, o->model, err);
	if (!l->model) {
		package_close(&l->pkg);
		return -1;
	}
	if (l->model->wrapper_cpp && read_text(l, &l->contract, err) < 0) {
		warn("%s", err->text);
		contract_release(&l->contract);
	}
	return 0;
}

int load_model(struct loaded *l, const char *path, const struct checkinputs_options *o, struct err *err)
{
	*l = (struct loaded){0};
	if (package_open(&l->pkg, path, err) < 0)
		return -1;
	l->model = package_model(&l->pkg, o->model, err);
	if (!l->model)
		goto fail;
	const struct package_model *m = l->model;
	if (m->wrapper_cpp && read_text(l, &l->contract, err) == 0) {
		if (o->probe)
			compare(l);
		return 0;
	}
	contract_release(&l->contract);
	if (m->wrapper_cpp)
		warn("%s", err->text);
	const char *lack = m->wrapper_cpp ? "its generated text cannot be used" : "no generated text (wrapper.cpp) beside it";
	if (o->no_exec) {
		err_set(err, EXIT_INPUT, "'%s': %s, and --no-exec forbids probing the binary", path, lack);
		goto fail;
	}
	note("%s: %s: the binary is run on fake tensors, in a sandbox", path, lack);
	if (probe_binary(l, &l->contract, err) < 0)
		goto fail;
	l->probed = true;
	return 0;
fail:
	loaded_release(l);
	return -1;
}

void loaded_release(struct loaded *l)
{
	contract_release(&l->contract);
	buf_release(&l->differences);
	package_close(&l->pkg);
	l->model = NULL;
}

int load_live(void *user, const char *so_path, pid_t pid, struct buf *json, struct err *err)
{
	const struct checkinputs_options *o = user;
	struct loaded l;
	(void)pid;
	if (load_model(&l, so_path, o, err) < 0)
		return -1;
	struct json_out out = {.b = json};
	contract_to_json(&l.contract, &out);
	loaded_release(&l);
	return 0;
}
