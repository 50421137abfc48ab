/* mlflow.c - a run for MLflow's file store. YAML takes JSON's strings as they are. */
#include "runs/export.h"

#include "base/io/mapfile.h"
#include "base/tool/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPERIMENT "507431787427171593"                            /* of EXPORT_PROJECT: any number that no other experiment has */
enum { STATUS_FINISHED = 3, STATUS_FAILED = 4, SOURCE_LOCAL = 4 }; /* mlflow/protos/service.proto, mlflow/entities/source_type.py */

static int write_text(const char *folder, const char *name, struct slice text, struct err *err)
{
	FREED char *path = xasprintf("%s/%s", folder, name);
	return output_write(path, &text, 1, err);
}

static void add_string(struct buf *b, const char *key, const char *text)
{
	struct json_out o = {.b = b};
	buf_addf(b, "%s: ", key);
	json_out_str(&o, slice_str(text ? text : ""));
	buf_addc(b, '\n');
}

static long long milliseconds(double seconds) { return seconds > 0 ? (long long)(seconds * 1000) : 0; }

static int write_experiment(const char *folder, const struct run_row *run, struct err *err)
{
	LOCAL_BUF b = {0};
	FREED char *path = xasprintf("%s/meta.yaml", folder), *uri = xasprintf("file://%s", folder);
	if (access(path, F_OK) == 0)
		return 0;
	const long long at = milliseconds(run->kept->started);
	add_string(&b, "artifact_location", uri);
	buf_addf(&b, "creation_time: %lld\n", at);
	add_string(&b, "experiment_id", EXPERIMENT);
	buf_addf(&b, "last_update_time: %lld\nlifecycle_stage: active\n", at);
	add_string(&b, "name", EXPORT_PROJECT);
	return write_text(folder, "meta.yaml", buf_slice(&b), err);
}

static int write_meta(const char *folder, const char *final, const char *id, const struct kept_run *k, struct err *err)
{
	LOCAL_BUF b = {0};
	FREED char *uri = xasprintf("file://%s/artifacts", final);
	const bool good = !k->status && k->sig <= 0;
	add_string(&b, "artifact_uri", uri);
	buf_addf(&b, "end_time: %lld\n", milliseconds(k->started + (k->seconds > 0 ? k->seconds : 0)));
	add_string(&b, "entry_point_name", "");
	add_string(&b, "experiment_id", EXPERIMENT);
	buf_adds(&b, "lifecycle_stage: active\n");
	add_string(&b, "run_id", id);
	add_string(&b, "run_name", k->name);
	add_string(&b, "run_uuid", id);
	add_string(&b, "source_name", "");
	buf_addf(&b, "source_type: %d\n", SOURCE_LOCAL);
	add_string(&b, "source_version", "");
	buf_addf(&b, "start_time: %lld\nstatus: %d\ntags: []\n", milliseconds(k->started), good ? STATUS_FINISHED : STATUS_FAILED);
	add_string(&b, "user_id", "");
	return write_text(folder, "meta.yaml", buf_slice(&b), err);
}

static int write_metrics(const char *folder, const struct run_row *run, struct err *err)
{
	struct figure v[FIGURES];
	FREED char *in = xasprintf("%s/metrics", folder);
	const unsigned n = export_figures(run, v);
	if (export_folder(in, err) < 0)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		LOCAL_BUF b = {0};
		buf_addf(&b, "%lld %.17g 0\n", milliseconds(run->kept->started), v[i].value);
		if (write_text(in, v[i].name, buf_slice(&b), err) < 0)
			return -1;
	}
	return 0;
}

static int write_params(const char *folder, const struct kept_run *k, struct err *err)
{
	const char *const row[][2] = {{"command", k->command}, {"cwd", k->cwd}, {"tool", k->tool}};
	FREED char *in = xasprintf("%s/params", folder), *tags = xasprintf("%s/tags", folder);
	LOCAL_BUF status = {0};
	if (export_folder(in, err) < 0 || export_folder(tags, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		if (row[i][1] && write_text(in, row[i][0], slice_str(row[i][1]), err) < 0)
			return -1;
	buf_addf(&status, "%lld", (long long)(k->sig > 0 ? 128 + k->sig : k->status));
	return write_text(tags, "exit_status", k->sig > 0 || k->status >= 0 ? buf_slice(&status) : SLICE("unknown"), err) < 0
		   ? -1
		   : write_text(tags, "mlflow.runName", slice_str(k->name), err);
}

static int copy_document(const char *folder, const struct kept_run *k, struct err *err)
{
	OWNED(mapfile_close) struct mapfile m = {0};
	FREED char *from = xasprintf("%s/" KEPT_DOCUMENT, k->folder), *in = xasprintf("%s/artifacts", folder);
	if (export_folder(in, err) < 0)
		return -1;
	if (access(from, F_OK) < 0)
		return 0;
	return mapfile_open(&m, from, err) < 0 ? -1 : write_text(in, KEPT_DOCUMENT, m.bytes, err);
}

int export_mlflow(const struct run_row *run, const char *dir, struct err *err)
{
	char id[33], real[PATH_MAX];
	FREED char *below = xasprintf("%s/" EXPERIMENT, dir);
	export_id(run, 32, id);
	if (export_folder(below, err) < 0)
		return -1;
	if (!realpath(below, real))
		return err_errno(err, EXIT_ENVIRON, "cannot use '%s'", below);
	FREED char *final = xasprintf("%s/%s", real, id), *new = xasprintf("%s/.%s.new", real, id);
	if (access(final, F_OK) == 0)
		return 0;
	remove_tree(new); /* of an export that was killed */
	if (write_experiment(real, run, err) < 0)
		return -1;
	if (export_folder(new, err) < 0 || write_metrics(new, run, err) < 0 || write_params(new, run->kept, err) < 0 ||
	    copy_document(new, run->kept, err) < 0 || write_meta(new, final, id, run->kept, err) < 0) {
		remove_tree(new);
		return -1;
	}
	if (rename(new, final) < 0) {
		err_errno(err, EXIT_ENVIRON, "cannot rename '%s'", new);
		remove_tree(new);
		return -1;
	}
	return 1;
}
