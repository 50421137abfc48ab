/* oracle_torch_verify.c - runs a repro.py as its reader will: in a fresh process, with compiler caches off. It is started early and imports
 * torch while others work. */
#include "base/process/fairtime.h"
#include "reduce/oracle_torch_part.h"

#define READY_SECONDS 120
#define HELLO_MS 10000

struct verifier {
	struct oracle_torch_spec spec;
	struct childset set;
	struct peer peer;
	bool used, answered;
	struct fair_time silent; /* since it last sent something */
	struct arena arena;
	struct outcome outcome;
};

static void take_message(void *user, struct peer *p, const struct json_tape *t, uint32_t root)
{
	struct verifier *v = user;
	(void)p;
	fair_time_start(&v->silent);
	if (!slice_is(json_word(t, root, "re"), "verify"))
		return;
	talk_outcome(t, root, &v->arena, &v->outcome);
	v->answered = true;
}

/* False: a signal handler of the tool ran. */
static bool step(struct verifier *v, int timeout_ms)
{
	struct child_event ev;
	if (childset_wait(&v->set, -1, timeout_ms, &ev) < 0 || (ev.what != CHILD_READABLE && ev.what != CHILD_ENDED))
		return ev.what != CHILD_INTERRUPTED;
	if (child_fd(v->peer.child, 1) >= 0)
		peer_read(&v->peer, take_message, v);
	if (ev.what == CHILD_ENDED)
		peer_died(&v->peer, NULL);
	return true;
}

static int start(struct verifier *v, struct slice env, struct err *err)
{
	v->used = v->answered = false;
	const char *const *launcher = v->spec.launcher ? v->spec.launcher[0] : NULL;
	if (peer_start(&v->peer, &v->set, &v->spec, launcher, TALK_VERIFY, env, (struct slice){"", 0}, err) < 0)
		return -1;
	/* It needs the program before it can import anything; importing then happens without waiting. */
	int64_t until = peer_clock() + HELLO_MS;
	while (v->peer.state != PEER_UP && v->peer.state != PEER_DEAD && peer_clock() < until)
		if (!step(v, 100))
			return err_set(err, EXIT_ENVIRON, "interrupted while starting the torch process");
	return 0;
}

struct verifier *verifier_start(const struct oracle_torch_spec *spec, struct err *err)
{
	struct verifier *v = xcalloc(1, sizeof(*v));
	LOCAL_BUF env = {0};
	v->spec = *spec;
	v->peer.state = PEER_DEAD;
	talk_env(spec->repro->line, spec->repro->n_lines, &env);
	int status = start(v, buf_slice(&env), err);
	if (status == 0)
		return v;
	verifier_close(v);
	return NULL;
}

static int again(struct verifier *v, struct slice env, struct err *err)
{
	peer_close(&v->peer);
	v->peer = (struct peer){.state = PEER_DEAD};
	return start(v, env, err);
}

int verifier_run(struct verifier *v, const char *path, const struct repro *r, bool hang, struct outcome *out, struct err *err)
{
	LOCAL_BUF env = {0}, line = {0};
	int status = 0;
	arena_release(&v->arena);
	v->arena = (struct arena){0};
	talk_env(r->line, r->n_lines, &env);
	if (v->used || v->peer.state == PEER_DEAD || !slice_eq(buf_slice(&v->peer.env), buf_slice(&env)))
		status = again(v, buf_slice(&env), err);
	v->used = true;
	if (status == 0)
		status = talk_verify(path, 0, v->spec.timeout_ms, hang ? v->spec.stall_ms : 0, v->spec.launcher != NULL, &line, err);
	if (status == 0)
		peer_send(&v->peer, buf_slice(&line));
	fair_time_start(&v->silent);
	while (status == 0 && !v->answered && v->peer.state != PEER_DEAD && fair_time(&v->silent) < READY_SECONDS)
		if (!step(v, 1000))
			status = err_set(err, EXIT_ENVIRON, "interrupted while verifying the result");
	if (status < 0)
		return -1;
	if (!v->answered)
		return err_set(err, EXIT_ENVIRON, "cannot run the program in a fresh process: %s",
			       v->peer.state == PEER_DEAD ? buf_str(&v->peer.why) : "no answer came");
	*out = v->outcome;
	return 0;
}

void verifier_close(struct verifier *v)
{
	if (!v)
		return;
	peer_close(&v->peer);
	childset_release(&v->set);
	arena_release(&v->arena);
	free(v);
}
