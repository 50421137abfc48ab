/* oracle_torch.c - the torch oracle: tests go to processes that have imported torch, answers arrive in any order, processes that die are
 * restarted. oracle_torch_peer.c has one process, oracle_torch_talk.c the messages. */
#include "base/process/fairtime.h"
#include "reduce/oracle_torch_part.h"

#include <errno.h>
#include <signal.h>

#define DEATHS_IN_A_ROW 2
#define LATE_SECONDS 60 /* a process with tests sends a message every five seconds (oracle.py: ALIVE), if the machine lets it */

struct flight {
	uint64_t id;
	int peer; /* -1: not sent yet */
	int pid;  /* of its process group there; 0: unknown */
	bool users;
	int64_t began;
	struct buf line, env;
};
struct answer {
	struct outcome outcome;
	struct arena arena;
};
struct worker {
	struct peer peer;
	struct torch_oracle *o;
	bool recorded; /* it answered `record`: tests may come */
	unsigned in_flight, deaths, starts;
	unsigned verified;       /* programs given to its fresh processes */
	struct fair_time silent; /* since it last sent something, or got the first of its tests */
	struct buf wanted;       /* environment lines it must be started with */
};
struct torch_oracle {
	struct oracle oracle;
	struct oracle_torch_spec spec;
	struct childset set;
	struct worker *worker;
	size_t n_workers;
	struct flight *flight;
	size_t n_flights, cap_flights;
	struct answer **ready; /* in order of arrival */
	size_t n_ready, cap_ready;
	struct answer *current; /* the one given to the caller */
	uint64_t last_id;
	struct buf head;   /* of the original (talk_head) */
	struct buf record; /* JSON of the first answer to `record` */
	bool has_record;
	struct answer recorded;
	struct buf values;        /* JSON of the last answer to `inputs` */
	struct buf warning, said; /* pending; the last one reported */
	struct err fatal;         /* status 0: none */
};

static struct torch_oracle *torch_of(const struct oracle *o) { return (struct torch_oracle *)o; }

/* ---- outcomes ---- */

static void answer_free(struct answer *a)
{
	if (a)
		arena_release(&a->arena);
	free(a);
}

static struct answer *add_answer(struct torch_oracle *o)
{
	GROW(o->ready, o->n_ready, o->cap_ready, 1);
	return o->ready[o->n_ready++] = xcalloc(1, sizeof(struct answer));
}

static void flight_drop(struct torch_oracle *o, size_t i)
{
	buf_release(&o->flight[i].line);
	buf_release(&o->flight[i].env);
	memmove(&o->flight[i], &o->flight[i + 1], (o->n_flights - i - 1) * sizeof(*o->flight));
	o->n_flights--;
}

static size_t flight_find(const struct torch_oracle *o, uint64_t id)
{
	for (size_t i = 0; i < o->n_flights; i++)
		if (o->flight[i].id == id)
			return i;
	return SIZE_MAX;
}

static void flight_fails(struct torch_oracle *o, size_t i, enum outcome_kind kind, struct slice detail)
{
	struct answer *a = add_answer(o);
	a->outcome = (struct outcome){
	    .id = o->flight[i].id,
	    .kind = kind,
	    .signature.kind = kind,
	    .detail = arena_slice(&a->arena, detail),
	    .extra = {"", 0},
	    .seconds = (double)(peer_clock() - o->flight[i].began) / 1000,
	};
	flight_drop(o, i);
}

/* ---- processes ---- */

static int worker_start(struct worker *w, struct err *err)
{
	struct torch_oracle *o = w->o;
	const char *const *launcher = o->spec.launcher ? o->spec.launcher[w - o->worker] : NULL;
	LOCAL_BUF setup = {0};
	w->recorded = false;
	w->in_flight = w->verified = 0;
	w->starts++;
	int status = o->spec.repro ? talk_setup(&o->spec, launcher != NULL, &setup, err) : 0;
	if (status == 0)
		status = peer_start(&w->peer, &o->set, &o->spec, launcher, TALK_ORACLE, buf_slice(&w->wanted), buf_slice(&setup), err);
	if (status < 0)
		w->peer.state = PEER_DEAD;
	return status;
}

static bool all_dead(const struct torch_oracle *o)
{
	for (size_t i = 0; i < o->n_workers; i++)
		if (o->worker[i].peer.state != PEER_DEAD)
			return false;
	return true;
}

/* Its tests did not fail by themselves. It is restarted unless it reported why it cannot work, or died without an answer in between. */
static void worker_died(struct worker *w, const char *reason)
{
	struct torch_oracle *o = w->o;
	int index = (int)(w - o->worker);
	peer_died(&w->peer, reason);
	for (size_t i = o->n_flights; i-- > 0;) {
		if (o->flight[i].peer != index)
			continue;
		if (o->flight[i].pid > 1 && !w->peer.launcher)
			kill(-o->flight[i].pid, SIGKILL);
		flight_fails(o, i, OUTCOME_INFRA, buf_slice(&w->peer.why));
	}
	struct err err = {0};
	w->deaths++;
	if (!w->peer.refused && w->deaths < DEATHS_IN_A_ROW) {
		if (worker_start(w, &err) == 0)
			return;
		buf_reset(&w->peer.why);
		buf_adds(&w->peer.why, err.text);
	}
	if (all_dead(o))
		err_set(&o->fatal, EXIT_ENVIRON, "%s", buf_str(&w->peer.why));
}

/* If recording failed, that is the answer to every test. */
static bool said_record(struct torch_oracle *o, struct worker *w, const struct json_tape *t, uint32_t root)
{
	w->recorded = true;
	w->peer.deadline = 0;
	if (o->has_record)
		return true;
	o->has_record = true;
	talk_outcome(t, root, &o->recorded.arena, &o->recorded.outcome);
	buf_add_slice(&o->record, json_raw(t, root));
	return true;
}

static void take_message(void *user, struct peer *p, const struct json_tape *t, uint32_t root)
{
	struct worker *w = user;
	struct torch_oracle *o = w->o;
	struct slice re = json_word(t, root, "re");
	(void)p;
	fair_time_start(&w->silent);
	size_t i = flight_find(o, json_count(t, root, "id", 0));
	if (slice_is(re, "warning")) {
		buf_reset(&o->warning);
		json_add_text(t, root, "text", &o->warning);
	} else if (slice_is(re, "record")) {
		said_record(o, w, t, root);
	} else if (slice_is(re, "inputs")) {
		buf_reset(&o->values);
		buf_add_slice(&o->values, json_raw(t, root));
	} else if (slice_is(re, "started") && i != SIZE_MAX) {
		uint64_t pid = json_count(t, root, "pid", UINT64_MAX);
		if (pid < INT32_MAX)
			o->flight[i].pid = (int)pid;
	} else if ((slice_is(re, "test") || slice_is(re, "users") || slice_is(re, "verify")) && i != SIZE_MAX &&
		   o->flight[i].peer == (int)(w - o->worker)) {
		struct answer *a = add_answer(o);
		talk_outcome(t, root, &a->arena, &a->outcome);
		w->in_flight--;
		w->deaths = 0;
		flight_drop(o, i);
	}
}

static void check_times(struct torch_oracle *o)
{
	int64_t now = peer_clock();
	for (size_t i = 0; i < o->n_workers; i++) {
		struct peer *p = &o->worker[i].peer;
		if (p->state != PEER_DEAD && p->deadline && now > p->deadline)
			worker_died(&o->worker[i], p->state == PEER_BOOT ? "did not start in time" : "was not ready in time");
	}
	/* Tests have their own timeouts there, in consumed time. */
	for (size_t i = 0; i < o->n_workers && o->spec.timeout_ms; i++) {
		struct worker *w = &o->worker[i];
		if (w->peer.state != PEER_DEAD && w->in_flight && fair_time(&w->silent) > LATE_SECONDS)
			worker_died(w, "does not answer");
	}
}

/* Waits for an event of the processes. 1: a signal handler of the tool ran; -1: no process is left. */
static int pump(struct torch_oracle *o, int timeout_ms, struct err *err)
{
	struct child_event ev;
	if (o->fatal.status)
		goto gone;
	if (childset_wait(&o->set, -1, timeout_ms, &ev) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot wait for the torch process");
	for (size_t i = 0; i < o->n_workers && (ev.what == CHILD_READABLE || ev.what == CHILD_ENDED); i++) {
		struct worker *w = &o->worker[i];
		if (w->peer.state == PEER_DEAD || w->peer.child != ev.child)
			continue;
		if (child_fd(w->peer.child, 1) >= 0)
			peer_read(&w->peer, take_message, w);
		if (ev.what == CHILD_ENDED && w->peer.state != PEER_DEAD)
			worker_died(w, NULL);
		break;
	}
	check_times(o);
	if (!o->fatal.status)
		return ev.what == CHILD_INTERRUPTED;
gone:
	*err = o->fatal;
	return -1;
}

/* ---- assigning tests ---- */

static bool takes(const struct worker *w, struct slice env) { return w->peer.state != PEER_DEAD && slice_eq(buf_slice(&w->peer.env), env); }

static struct worker *worker_for(struct torch_oracle *o, struct slice env, bool *comes)
{
	struct worker *best = NULL;
	unsigned jobs = o->spec.jobs ? o->spec.jobs : 1;
	*comes = false;
	for (size_t i = 0; i < o->n_workers; i++) {
		struct worker *w = &o->worker[i];
		if (!takes(w, env))
			continue;
		*comes = true;
		if (w->recorded && w->in_flight < jobs && (!best || w->in_flight < best->in_flight))
			best = w;
	}
	return best;
}

/* Gets a process for other environment lines: an idle one is ended and restarted with them. Not while others have tests: their messages
 * are not read while one ends. */
static void restart_idle(struct torch_oracle *o, struct slice env)
{
	for (size_t i = 0; i < o->n_workers; i++)
		if (o->worker[i].in_flight)
			return;
	for (size_t i = 0; i < o->n_workers; i++) {
		struct worker *w = &o->worker[i];
		if (w->in_flight || (w->peer.state != PEER_DEAD && !w->recorded))
			continue;
		peer_close(&w->peer);
		w->peer = (struct peer){.state = PEER_DEAD};
		buf_reset(&w->wanted);
		buf_add_slice(&w->wanted, env);
		if (worker_start(w, &o->fatal) < 0 && !all_dead(o))
			o->fatal.status = 0;
		return;
	}
}

/* A test, of which it may be silent for so long. */
static void given(struct worker *w)
{
	if (!w->in_flight++)
		fair_time_start(&w->silent);
}

static void dispatch(struct torch_oracle *o)
{
	for (size_t i = 0; i < o->n_flights; i++) {
		struct flight *f = &o->flight[i];
		bool comes;
		if (f->peer >= 0)
			continue;
		if (o->has_record && o->recorded.outcome.kind != OUTCOME_PASSES && !f->users) {
			flight_fails(o, i--, o->recorded.outcome.kind, o->recorded.outcome.detail);
			continue;
		}
		struct worker *w = worker_for(o, buf_slice(&f->env), &comes);
		if (!w) {
			if (!comes)
				restart_idle(o, buf_slice(&f->env));
			continue;
		}
		f->peer = (int)(w - o->worker);
		f->began = peer_clock();
		given(w);
		peer_send(&w->peer, buf_slice(&f->line));
	}
}

/* ---- oracle.h ---- */

static unsigned torch_jobs(const struct oracle *oracle)
{
	const struct torch_oracle *o = torch_of(oracle);
	return (o->spec.jobs ? o->spec.jobs : 1) * (unsigned)o->n_workers;
}

static uint64_t torch_start(struct oracle *oracle, const struct test *t, struct err *err)
{
	struct torch_oracle *o = torch_of(oracle);
	if (o->fatal.status) {
		*err = o->fatal;
		return 0;
	}
	struct flight f = {.id = ++o->last_id, .peer = -1, .began = peer_clock(), .users = t->users};
	const struct repro *r = t->repro ? t->repro : o->spec.repro;
	if (t->users)
		talk_users(f.id, &f.line);
	else
		talk_test(o->spec.repro, t, f.id, buf_slice(&o->head), &f.line);
	talk_env(r->line, r->n_lines, &f.env);
	PUSH_TO(o->flight, o->n_flights, o->cap_flights) = f;
	dispatch(o);
	return f.id;
}

static int torch_wait(struct oracle *oracle, int timeout_ms, struct outcome *out, struct err *err)
{
	struct torch_oracle *o = torch_of(oracle);
	int64_t until = peer_clock() + timeout_ms;
	answer_free(o->current);
	o->current = NULL;
	while (!o->n_ready) {
		int64_t left = timeout_ms < 0 ? 1000 : until - peer_clock();
		if (!o->n_flights)
			return 0;
		int r = pump(o, left < 0 ? 0 : left > 1000 ? 1000 : (int)left, err);
		if (r < 0 && !o->n_ready)
			return -1;
		dispatch(o);
		if (!o->n_ready && (r == 1 || (timeout_ms >= 0 && peer_clock() >= until)))
			return 0;
	}
	o->current = o->ready[0];
	memmove(o->ready, o->ready + 1, --o->n_ready * sizeof(*o->ready));
	*out = o->current->outcome;
	return 1;
}

static void torch_cancel(struct oracle *oracle, uint64_t id)
{
	struct torch_oracle *o = torch_of(oracle);
	for (size_t i = 0; i < o->n_ready; i++)
		if (o->ready[i]->outcome.id == id) {
			answer_free(o->ready[i]);
			memmove(o->ready + i, o->ready + i + 1, (--o->n_ready - i) * sizeof(*o->ready));
			return;
		}
	size_t i = flight_find(o, id);
	if (i == SIZE_MAX)
		return;
	if (o->flight[i].peer >= 0) {
		struct worker *w = &o->worker[o->flight[i].peer];
		LOCAL_BUF line = {0};
		buf_addf(&line, "{\"op\": \"cancel\", \"id\": %llu}\n", (unsigned long long)id);
		peer_send(&w->peer, buf_slice(&line));
		w->in_flight--;
	}
	flight_drop(o, i);
}

static void torch_close(struct oracle *oracle)
{
	struct torch_oracle *o = torch_of(oracle);
	for (size_t i = 0; i < o->n_workers; i++)
		if (o->worker[i].peer.state != PEER_DEAD)
			child_send_end(o->worker[i].peer.child); /* all at once; then wait for each */
	for (size_t i = 0; i < o->n_workers; i++) {
		peer_close(&o->worker[i].peer);
		buf_release(&o->worker[i].wanted);
	}
	childset_release(&o->set);
	while (o->n_flights)
		flight_drop(o, o->n_flights - 1);
	for (size_t i = 0; i < o->n_ready; i++)
		answer_free(o->ready[i]);
	answer_free(o->current);
	arena_release(&o->recorded.arena);
	buf_release(&o->head);
	buf_release(&o->record);
	buf_release(&o->values);
	buf_release(&o->warning);
	buf_release(&o->said);
	free(o->ready);
	free(o->flight);
	free(o->worker);
	free(o);
}

static const struct oracle_ops torch_ops = {
    .jobs = torch_jobs,
    .start = torch_start,
    .wait = torch_wait,
    .cancel = torch_cancel,
    .close = torch_close,
};

static struct torch_oracle *torch_new(const struct oracle_torch_spec *spec)
{
	struct torch_oracle *o = xcalloc(1, sizeof(*o));
	o->oracle.ops = &torch_ops;
	o->spec = *spec;
	while (spec->launcher && spec->launcher[o->n_workers])
		o->n_workers++;
	o->n_workers += !spec->launcher;
	o->worker = xcalloc(o->n_workers ? o->n_workers : 1, sizeof(*o->worker));
	for (size_t i = 0; i < o->n_workers; i++)
		o->worker[i] = (struct worker){.o = o, .peer.state = PEER_DEAD};
	return o;
}

#define BOOT_MS 2000 /* a local interpreter listens within a tenth of a second; it must, before it can be asked to import */

struct oracle *oracle_torch_begin(const struct oracle_torch_spec *spec, struct err *err)
{
	struct torch_oracle *o = torch_new(spec);
	const int64_t until = peer_clock() + BOOT_MS;
	int status = 0;
	for (size_t i = 0; i < o->n_workers && status == 0; i++) {
		talk_env(NULL, 0, &o->worker[i].wanted);
		status = worker_start(&o->worker[i], err);
	}
	while (status == 0 && !spec->launcher && o->worker[0].peer.state == PEER_BOOT && peer_clock() < until)
		status = pump(o, 100, err);
	if (status >= 0)
		return &o->oracle;
	torch_close(&o->oracle);
	return NULL;
}

/* Sends the worker what it needs to know about the original, once that is read. */
static int worker_setup(struct worker *w, struct err *err)
{
	struct torch_oracle *o = w->o;
	LOCAL_BUF setup = {0};
	buf_reset(&w->wanted);
	talk_env(o->spec.repro->line, o->spec.repro->n_lines, &w->wanted);
	if (w->peer.state == PEER_DEAD || !takes(w, buf_slice(&w->wanted))) {
		if (w->peer.state != PEER_DEAD)
			peer_close(&w->peer);
		w->peer = (struct peer){.state = PEER_DEAD};
		return worker_start(w, err);
	}
	int status = talk_setup(&o->spec, w->peer.launcher != NULL, &setup, err);
	if (status == 0)
		peer_send(&w->peer, buf_slice(&setup));
	return status;
}

struct oracle *oracle_torch(const struct oracle_torch_spec *spec, struct err *err)
{
	struct torch_oracle *o = spec->begun ? torch_of(spec->begun) : torch_new(spec);
	o->spec = *spec;
	talk_head(spec->repro, &o->head);
	int status = o->n_workers ? 0 : err_set(err, EXIT_USAGE, "no launcher given");
	for (size_t i = 0; i < o->n_workers && status == 0; i++)
		status = worker_setup(&o->worker[i], err);
	while (status == 0 && !o->has_record) {
		status = pump(o, 1000, err);
		if (status == 1)
			status = err_set(err, EXIT_ENVIRON, "interrupted while the torch process was starting");
	}
	if (status == 0)
		return &o->oracle;
	torch_close(&o->oracle);
	return NULL;
}

bool oracle_torch_has_users_call(const struct repro *r) { return r->form == REPRO_AOTI && r->exported.n; }

const struct outcome *oracle_torch_recorded(const struct oracle *oracle) { return &torch_of(oracle)->recorded.outcome; }
const char *oracle_torch_gone(const struct oracle *oracle, size_t i)
{
	const struct torch_oracle *o = torch_of(oracle);
	return i < o->n_workers && o->worker[i].peer.state == PEER_DEAD ? buf_str(&o->worker[i].peer.why) : NULL;
}
struct slice oracle_torch_record(const struct oracle *oracle) { return buf_slice(&torch_of(oracle)->record); }
struct slice oracle_torch_hello(const struct oracle *oracle)
{
	const struct torch_oracle *o = torch_of(oracle);
	for (size_t i = 0; i < o->n_workers; i++)
		if (o->worker[i].peer.hello.len)
			return buf_slice(&o->worker[i].peer.hello);
	return (struct slice){"", 0};
}

/* The answer to `inputs`, as JSON that is valid until the next question. */
int torch_ask_inputs(struct oracle *oracle, const struct test *t, struct slice *json, struct err *err)
{
	struct torch_oracle *o = torch_of(oracle);
	struct worker *w = NULL;
	for (size_t i = 0; i < o->n_workers && !w; i++)
		if (o->worker[i].recorded && o->worker[i].peer.state == PEER_UP)
			w = &o->worker[i];
	if (!w)
		return err_set(err, EXIT_ENVIRON, "no torch process is running to provide the inputs");
	LOCAL_BUF line = {0};
	talk_inputs(o->spec.repro, t, ++o->last_id, &line);
	buf_reset(&o->values);
	peer_send(&w->peer, buf_slice(&line));
	unsigned starts = w->starts;
	while (!o->values.len) {
		int r = pump(o, 1000, err);
		if (r)
			return r < 0 ? -1 : err_set(err, EXIT_ENVIRON, "interrupted while fetching the inputs");
		if (w->starts != starts || w->peer.state == PEER_DEAD)
			return err_set(err, EXIT_ENVIRON, "the torch process ended while fetching the inputs");
	}
	*json = buf_slice(&o->values);
	return 0;
}

struct slice oracle_torch_warning(struct oracle *oracle)
{
	struct torch_oracle *o = torch_of(oracle);
	struct buf last = o->said;
	o->said = o->warning;
	o->warning = last;
	buf_reset(&o->warning);
	return buf_slice(&o->said);
}

/* ---- verifying ---- */

/* How many more programs it can run that way; hello has the initial number of processes. */
static bool has_fresh(const struct worker *w)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	uint32_t root;
	uint64_t n = 0;
	json_tape_text(&t, w->peer.hello.p, w->peer.hello.len);
	if (w->peer.hello.len && json_parse(&t, 0, w->peer.hello.len, &root) == 0)
		n = json_count(&t, root, "fresh", 0);
	return w->recorded && w->verified < n;
}

int oracle_torch_verify(struct oracle *oracle, const char *path, const struct repro *r, bool hang, struct outcome *out, struct err *err)
{
	struct torch_oracle *o = torch_of(oracle);
	struct flight f = {.id = ++o->last_id, .peer = -1, .began = peer_clock(), .users = true};
	struct worker *w = NULL;
	talk_env(r->line, r->n_lines, &f.env);
	for (size_t i = 0; i < o->n_workers && !w; i++)
		if (takes(&o->worker[i], buf_slice(&f.env)) && has_fresh(&o->worker[i]))
			w = &o->worker[i];
	int status =
	    !w ? 0 : talk_verify(path, f.id, o->spec.timeout_ms, hang ? o->spec.stall_ms : 0, o->spec.launcher != NULL, &f.line, err);
	if (!w || status < 0) {
		buf_release(&f.env);
		buf_release(&f.line);
		return status;
	}
	f.peer = (int)(w - o->worker);
	w->verified++;
	given(w);
	PUSH_TO(o->flight, o->n_flights, o->cap_flights) = f;
	peer_send(&w->peer, buf_slice(&f.line));
	while (!o->n_ready && status == 0)
		status = pump(o, 1000, err);
	if (status == 1)
		return err_set(err, EXIT_ENVIRON, "interrupted while verifying the result");
	if (status < 0 || (status = torch_wait(oracle, 0, out, err)) < 0)
		return -1;
	return status == 1 && out->kind != OUTCOME_INFRA;
}
