/* export.h - kept runs in the formats that experiment trackers take without a server.
 *
 *     MLflow's file store (mlflow 2 and 3, mlflow/store/tracking/file_store.py): DIR is --backend-store-uri, "mlruns" where none is given
 *         DIR/EXPERIMENT/meta.yaml, DIR/EXPERIMENT/RUN/{meta.yaml,metrics/NAME,params/NAME,tags/NAME,artifacts/explained.json}
 *     Weights & Biases' offline runs (wandb 0.12 to 0.2x, wandb/proto/wandb_internal.proto, wandb/sdk/internal/datastore.py): `wandb sync
 *     DIR/offline-run-*` sends them
 *         DIR/offline-run-YYYYMMDD_HHMMSS-ID/run-ID.wandb
 *
 * A run has the same id each time, so that exporting again adds what is new and leaves what is there. Unknown figures are left out.
 */
#ifndef PT2_EXPORT_H
#define PT2_EXPORT_H
#include "runs/runs.h"

enum tracker { TRACKER_MLFLOW, TRACKER_WANDB, TRACKERS };
#define EXPORT_PROJECT "pt2utils"                    /* the experiment, the project */
extern const char *const tracker_name[TRACKERS + 1]; /* NULL-terminated */
extern const char *const tracker_folder[TRACKERS];   /* where no DIR is given */

/* One run of one tracker. 1: written; 0: it was there. */
int export_mlflow(const struct run_row *run, const char *dir, struct err *err);
int export_wandb(const struct run_row *run, const char *dir, struct err *err);

/* ---- what both write ---- */

struct figure {
	const char *name;
	double value;
};
enum { FIGURES = 6 };
/* The known ones: how many. */
unsigned export_figures(const struct run_row *run, struct figure v[FIGURES]);
/* Hexadecimal, of the run's name: n digits, at most 32. */
void export_id(const struct run_row *run, unsigned n, char id[33]);
/* A folder and those above it; one that is there is fine. */
int export_folder(const char *path, struct err *err);

#endif
