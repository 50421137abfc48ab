/* hosts.h - where the ranks of a run are, and the commands that reach those machines.
 *
 *     struct hosts h = {0};
 *     if (hosts_slurm(&h, "4711", &err) < 0) ...       // squeue and scontrol name them, srun reaches them
 *     for (size_t i = 0; i < h.n; i++)
 *         h.v[i].name, h.v[i].launcher                 // "n3", "srun --jobid=4711 --overlap -N1 -n1 -w n3"
 *     hosts_release(&h);
 *
 * A launcher is a piece of shell: a command and its arguments go behind it. It passes standard input on, and nothing of the machine here
 * is expected there.
 *
 * Failure: EXIT_INPUT where there is no such job, node or pod, EXIT_ENVIRON where the program that knows them (squeue, scontrol, kubectl)
 * cannot be run or fails; the text ends with what it said.
 */
#ifndef PT2_HOSTS_H
#define PT2_HOSTS_H
#include "base/buf.h"

struct host {
	char *name, *launcher;
};
struct hosts {
	struct host *v;
	size_t n, cap;
};

/* The nodes of a running job; an empty job is the one that this runs in (SLURM_JOB_ID). */
int hosts_slurm(struct hosts *h, const char *job, struct err *err);
/* "n[1-4],n9": each in an allocation of its own, since its job may be over. */
int hosts_nodes(struct hosts *h, const char *list, struct err *err);
/* The running pods that `kubectl get pods ARGS` lists: "-n train -l job-name=llama". */
int hosts_pods(struct hosts *h, const char *args, struct err *err);
/* As it was given: "ssh n3". */
void hosts_add(struct hosts *h, const char *launcher);
/* How it ended, and the last line of what it said: "exited with status 255: ssh: connect to host n3 port 22: ...". The caller frees it. */
struct child_result;
char *hosts_why(const struct child_result *r);
void hosts_release(struct hosts *h);

#endif
