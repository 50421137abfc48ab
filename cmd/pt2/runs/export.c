#include "runs/export.h"

#include "base/hash.h"

#include <errno.h>
#include <sys/stat.h>

const char *const tracker_name[] = {"mlflow", "wandb", NULL};
const char *const tracker_folder[] = {"mlruns", "wandb"};

unsigned export_figures(const struct run_row *run, struct figure v[FIGURES])
{
	const struct figure all[FIGURES] = {
	    {"seconds", run->kept->seconds},       {"compile_seconds", run->compile_seconds}, {"compiles", (double)run->compiles},
	    {"graph_breaks", (double)run->breaks}, {"recompiles", (double)run->recompiles},   {"failures", (double)run->failures},
	};
	unsigned n = 0;
	for (unsigned i = 0; i < FIGURES; i++)
		if (all[i].value >= 0)
			v[n++] = all[i];
	return n;
}

void export_id(const struct run_row *run, unsigned n, char id[33])
{
	const char *name = run->kept->name;
	FREED char *other = xasprintf("%s/", name);
	snprintf(id, 33, "%016llx%016llx", (unsigned long long)hash_bytes(name, strlen(name)),
		 (unsigned long long)hash_bytes(other, strlen(other)));
	id[n] = 0;
}

int export_folder(const char *path, struct err *err)
{
	FREED char *part = xstrdup(path);
	for (char *p = part + 1;; p++) {
		const char was = *p;
		if (was && was != '/')
			continue;
		*p = 0;
		if (mkdir(part, 0777) < 0 && errno != EEXIST)
			return err_errno(err, EXIT_ENVIRON, "cannot make the folder '%s'", part);
		*p = was;
		if (!was)
			return 0;
	}
}
