/* calls: the call log under many writers, killed writers and damage. */
#include "../../lib/test.h"
#include "../../lib/missing.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fcntl.h>
#include <sys/mman.h>

#include "../../lib/calllog.h"

static char folder[64];
static struct calllog w; /* the side of the writers */

static void make(uint64_t records, struct calls_reader *r)
{
	struct err err = {0};
	struct calls_config c = {.want = CALLS_BAD, .records = records, .last_run = UINT32_MAX};
	snprintf(folder, sizeof(folder), "%s/pt2calls.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(folder));
	if (calls_create(folder, &c, NULL, &err) < 0 || calls_open(r, folder, &err) < 0)
		fail_msg("%s", err.text);
	w = calllog_map(folder);
}

static void done(struct calls_reader *r)
{
	char *p = xasprintf("%s/" CALLS_FILE, folder), *n = xasprintf("%s/" CALLS_FILE_NAMES, folder);
	calls_close(r);
	calllog_unmap(&w);
	unlink(p);
	unlink(n);
	assert_int_equal(rmdir(folder), 0);
	free(p);
	free(n);
}

static struct call_record record(uint64_t seq, uint32_t what)
{
	return (struct call_record){.what = what, .seq = seq, .pid = (uint32_t)getpid(), .took = seq * 3};
}

static void test_order(void **state)
{
	(void)state;
	struct calls_reader r;
	struct call_record rec;
	struct err err = {0};
	make(0, &r);
	assert_int_equal(r.config.records, CALLS_RECORDS);
	assert_true(r.config.lo == -__builtin_inf() && r.config.hi == __builtin_inf() && r.config.want == CALLS_BAD);
	assert_false(calls_next(&r, &rec));
	struct call_record v = record(1, CALL_VALUE);
	v.v.n_dim = 2;
	v.v.size[1] = 7;
	v.v.bad_value = 2.5;
	v.name = calls_intern(w.names, "buf3", 4);
	struct call_record b = record(1, CALL_BEGIN), e = record(1, CALL_END);
	assert_int_equal(calls_begin(w.log, &b), 1);
	assert_true(calls_append(w.log, &v) && calls_append(w.log, &e));
	assert_true(calls_next(&r, &rec) && rec.what == CALL_BEGIN && rec.seq == 1 && rec.pid == b.pid && rec.took == 3);
	assert_true(calls_next(&r, &rec) && rec.what == CALL_VALUE && rec.v.size[1] == 7 && rec.v.bad_value == 2.5);
	assert_string_equal(calls_name(&r, rec.name), "buf3");
	assert_true(calls_next(&r, &rec) && rec.what == CALL_END && rec.v.bad_value == 0);
	assert_false(calls_next(&r, &rec));
	/* What is there is not overwritten by a second command. */
	struct calls_config c = {0};
	assert_int_equal(calls_create(folder, &c, NULL, &err), -1);
	assert_int_equal(err.status, EXIT_ENVIRON);
	done(&r);
	assert_int_equal(calls_open(&r, folder, &err), -1); /* it is gone */
	assert_int_equal(err.status, EXIT_INPUT);
}

static void test_wrap(void **state)
{
	(void)state;
	struct calls_reader r;
	struct call_record rec;
	make(8, &r);
	for (uint64_t i = 0; i < 21; i++) {
		struct call_record one = record(i, CALL_BEGIN);
		assert_true(calls_append(w.log, &one));
		if (i == 2)
			assert_true(calls_next(&r, &rec) && rec.seq == 0);
	}
	for (uint64_t i = 13; i < 21; i++)
		assert_true(calls_next(&r, &rec) && rec.seq == i);
	assert_false(calls_next(&r, &rec));
	assert_int_equal(r.lost, 12);
	assert_int_equal(r.torn, 0);
	done(&r);
}

/* A process that is gone: its number was just in use. */
static uint32_t dead_pid(void)
{
	pid_t p = fork();
	if (!p)
		_exit(0);
	waitpid(p, NULL, 0);
	return (uint32_t)p;
}

static void test_torn(void **state)
{
	(void)state;
	struct calls_reader r;
	struct call_record rec, one;
	make(4, &r);
	uint32_t dead = dead_pid();
	/* Claimed by a dead process: skipped as soon as a later one is there, not before. */
	assert_non_null(calls_claim(w.log, atomic_fetch_add(&w.log->ticket, 1), dead));
	assert_false(calls_next(&r, &rec));
	one = record(1, CALL_BEGIN);
	assert_true(calls_append(w.log, &one));
	assert_true(calls_next(&r, &rec) && rec.seq == 1 && r.torn == 1);
	/* By a living one: waited for, and then read. */
	uint64_t t = atomic_fetch_add(&w.log->ticket, 1);
	struct calls_slot *slot = calls_claim(w.log, t, (uint32_t)getpid());
	assert_non_null(slot);
	one = record(3, CALL_BEGIN);
	assert_true(calls_append(w.log, &one));
	assert_false(calls_next(&r, &rec));
	slot->seq = 2;
	slot->what = CALL_END | 1 << 8;
	atomic_store(&slot->state, 2 * t + 2);
	assert_true(calls_next(&r, &rec) && rec.seq == 2);
	assert_true(calls_next(&r, &rec) && rec.seq == 3);
	/* A ticket that was taken and no more: waited for a second, or not at all at the end. */
	atomic_fetch_add(&w.log->ticket, 1);
	one = record(5, CALL_BEGIN);
	assert_true(calls_append(w.log, &one));
	assert_false(calls_next(&r, &rec));
	r.waiting -= CALLS_PATIENCE_MS * UINT64_C(1000000);
	assert_true(calls_next(&r, &rec) && rec.seq == 5 && r.torn == 2);
	atomic_fetch_add(&w.log->ticket, 1);
	assert_false(calls_next(&r, &rec));
	r.final = true;
	assert_false(calls_next(&r, &rec));
	assert_int_equal(r.torn, 3);
	done(&r);
}

/* A slot that is being written: by a living process left to it, of a dead one taken. */
static void test_busy(void **state)
{
	(void)state;
	struct calls_reader r;
	struct call_record rec, one = record(9, CALL_BEGIN);
	make(2, &r);
	uint64_t t = atomic_fetch_add(&w.log->ticket, 1);
	assert_non_null(calls_claim(w.log, t, (uint32_t)getpid()));
	assert_true(calls_append(w.log, &one));
	assert_false(calls_append(w.log, &one));
	assert_int_equal(w.log->dropped, 1);
	__atomic_store_n(&w.log->slot[0].pid, dead_pid(), __ATOMIC_RELAXED);
	assert_true(calls_append(w.log, &one));
	assert_true(calls_append(w.log, &one));
	/* The slow one that awakes has lost its slot. */
	assert_null(calls_claim(w.log, t, (uint32_t)getpid()));
	r.final = true;
	assert_true(calls_next(&r, &rec) && rec.seq == 9);
	done(&r);
}

enum { WRITERS = 6 };

static void writer(struct calls_log *l, struct calls_names *n, uint32_t k)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* when the test fails */
	alarm(60);
	for (uint64_t i = 1;; i++) {
		char text[32];
		snprintf(text, sizeof(text), "writer %u", k);
		struct call_record rec = record(i, CALL_VALUE);
		rec.tid = k;
		rec.name = calls_intern(n, text, strlen(text));
		for (int d = 0; d < CALL_DIMS; d++)
			rec.v.size[d] = rec.v.stride[d] = (int64_t)(i * WRITERS + k);
		calls_append(l, &rec);
	}
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Processes that are killed at any moment, a log that wraps many times: what is read is whole and in each writer's order.
 * One is killed each 60 ms. */
static void kill_writers(uint64_t records, bool pause)
{
	struct calls_reader r;
	struct call_record rec;
	pid_t child[WRITERS];
	uint64_t last[WRITERS] = {0}, got = 0;
	make(records, &r);
	for (uint32_t k = 0; k < WRITERS; k++)
		if (!(child[k] = fork()))
			writer(w.log, w.names, k);
	int64_t next = now_ms() + 60;
	for (int live = WRITERS; live;) {
		for (int k = 0; k < 1000 && calls_next(&r, &rec); k++) {
			if (rec.tid >= WRITERS || rec.seq <= last[rec.tid] || rec.pid != (uint32_t)child[rec.tid])
				fail_msg("out of order: %llu after %llu", (unsigned long long)rec.seq, (unsigned long long)last[rec.tid]);
			char text[32];
			snprintf(text, sizeof(text), "writer %u", rec.tid);
			assert_string_equal(calls_name(&r, rec.name), text);
			for (int d = 0; d < CALL_DIMS; d++)
				assert_true(rec.v.size[d] == (int64_t)(rec.seq * WRITERS + rec.tid) && rec.v.stride[d] == rec.v.size[d]);
			last[rec.tid] = rec.seq;
			got++;
		}
		if (now_ms() >= next) {
			next = now_ms() + 60;
			kill(child[--live], SIGKILL);
			waitpid(child[live], NULL, 0);
		}
		if (pause)
			nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	}
	r.final = true;
	while (calls_next(&r, &rec))
		got++;
	assert_true(got && r.at == w.log->ticket);
	assert_true(got + r.lost + r.torn == r.at);
	done(&r);
}

static void test_killed(void **state)
{
	(void)state;
	kill_writers(512, true);
}

/* So few slots that writers often overtake the reader while it copies, and one another while they write. */
static void test_overtaken(void **state)
{
	(void)state;
	kill_writers(3, false);
}

static void test_names(void **state)
{
	(void)state;
	struct calls_reader r;
	make(1, &r);
	struct calls_names *n = w.names;
	uint32_t a = calls_intern(n, "cpp_fused_relu_0", 16), b = calls_intern(n, "buf0", 4), t = calls_text(n, "buf0", 4);
	assert_true(a && b && a != b && t != b);
	assert_int_equal(calls_intern(n, "cpp_fused_relu_0xyz", 16), a);
	assert_int_equal(calls_intern(n, "buf0", 4), b);
	assert_int_equal(calls_intern(n, "", 0), 0);
	assert_string_equal(calls_name(&r, a), "cpp_fused_relu_0");
	assert_string_equal(calls_name(&r, 0), "");
	assert_string_equal(calls_name(&r, UINT32_MAX), "");
	/* More texts than the table of hashes has room for, until the file is full. */
	char text[CALLS_MAX_NAME + 100];
	memset(text, 'x', sizeof(text));
	uint32_t before = 0, id = 1;
	for (unsigned i = 0; id; i++) {
		int len = snprintf(text, sizeof(text), "kernel_%u", i);
		text[len] = 'x';
		if ((id = calls_intern(n, text, i % 64 ? (size_t)len : sizeof(text)))) {
			before = id;
			assert_int_equal(strlen(calls_name(&r, id)), i % 64 ? (size_t)len : CALLS_MAX_NAME);
		}
	}
	assert_true(before > CALLS_NAMES_BYTES - 2 * CALLS_MAX_NAME);
	assert_int_equal(calls_text(n, text, sizeof(text)), 0);
	assert_int_equal(calls_intern(n, "buf0", 4), b);
	done(&r);
}

/* Ticks of the processor come out as nanoseconds of the clock; the two kinds of writers may be mixed. */
static void test_ticks(void **state)
{
	(void)state;
	struct calls_reader r;
	struct call_record rec, one = record(1, CALL_END);
	struct timespec t;
	make(8, &r);
	if (!calls_ticking()) {
		done(&r);
		skip();
	}
	assert_true(r.config.tick && r.config.tick_ns);
	one.ticks = true;
	one.model = LIVE_NO_MODEL;
	clock_gettime(CLOCK_MONOTONIC, &t);
	uint64_t from = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec, tick = calls_ticks();
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	one.time = calls_ticks();
	one.took = one.time - tick;
	clock_gettime(CLOCK_MONOTONIC, &t);
	uint64_t to = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	assert_true(calls_append(w.log, &one));
	one = record(2, CALL_RUN_END);
	one.model = 7;
	one.time = 12345;
	assert_true(calls_append(w.log, &one));
	assert_true(calls_next(&r, &rec) && !rec.ticks && rec.model == LIVE_NO_MODEL);
	assert_true(rec.time >= from + 19900000 && rec.time <= to + 100000);
	assert_true(rec.took >= 19900000 && rec.took <= to - from + 100000);
	assert_true(calls_next(&r, &rec) && rec.model == 7 && rec.time == 12345 && rec.took == 6);
	done(&r);
}

/* Values have a room of their own; one that was overwritten is lost, and the calls around it are not. */
static void test_rooms(void **state)
{
	(void)state;
	struct calls_reader r;
	struct call_record rec, one;
	make(8, &r);
	r.config.values = w.log->config.values = 2;
	for (uint64_t i = 1; i <= 6; i++) {
		one = record(i, i < 4 ? CALL_VALUE : CALL_BEGIN);
		one.v.n_dim = (uint8_t)i;
		assert_true(calls_append(w.log, &one));
	}
	for (uint64_t i = 2; i <= 6; i++) {
		assert_true(calls_next(&r, &rec) && rec.seq == i && rec.what == (i < 4 ? CALL_VALUE : CALL_BEGIN));
		assert_true(i >= 4 || rec.v.n_dim == i);
	}
	assert_false(calls_next(&r, &rec));
	assert_true(r.lost == 1 && r.torn == 0);
	/* One that somebody living still writes is left to him, of a dead one it is taken. */
	struct calls_room *room = calls_room_of(w.log, 8, 2, 3);
	room->state = 2 * 1 + 1;
	room->pid = (uint32_t)getpid();
	one = record(7, CALL_VALUE);
	assert_false(calls_append(w.log, &one));
	assert_true(w.log->dropped == 1 && w.log->ticket == 6);
	room->pid = dead_pid();
	w.log->value_ticket = 3;
	assert_true(calls_append(w.log, &one) && calls_next(&r, &rec) && rec.seq == 7);
	done(&r);
}

/* Bytes that end where memory ends; what does not fit is refused. */
static void test_bytes(void **state)
{
	(void)state;
	struct guard g = {0};
	struct err err = {0};
	struct calls_reader r;
	struct call_record rec;
	const size_t size = sizeof(struct calls_log) + 3 * sizeof(struct calls_slot) + 2 * sizeof(struct calls_room);
	_Static_assert(sizeof(struct calls_log) % 64 == 0 && sizeof(struct calls_room) % 64 == 0, "aligned to the end of a page");
	struct calls_log *l = (struct calls_log *)(void *)guard_put(&g, NULL, 0);
	struct buf zero = {0};
	memset(buf_room(&zero, size), 0, size);
	l = (struct calls_log *)(void *)guard_put(&g, zero.p, size);
	struct slice whole = slice_of((char *)l, size);
	assert_int_equal(calls_open_bytes(&r, whole, SLICE(""), "t", &err), -1);
	memcpy(l->config.magic, CALLS_MAGIC, 8);
	l->config.size = sizeof(*l);
	l->config.slot_size = sizeof(struct calls_slot);
	l->config.room_size = sizeof(struct calls_room);
	l->config.records = 8;
	l->config.values = 2;
	assert_int_equal(calls_open_bytes(&r, whole, SLICE(""), "t", &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	l->config.records = UINT64_MAX / sizeof(struct calls_slot) + 2;
	assert_int_equal(calls_open_bytes(&r, whole, SLICE(""), "t", &err), -1);
	l->config.records = 3;
	l->config.values = UINT64_MAX / sizeof(struct calls_room) + 2;
	assert_int_equal(calls_open_bytes(&r, whole, SLICE(""), "t", &err), -1);
	l->config.values = 0;
	assert_int_equal(calls_open_bytes(&r, whole, SLICE(""), "t", &err), -1);
	l->config.values = 2;
	l->config.records = 3;
	assert_int_equal(calls_open_bytes(&r, whole, SLICE(""), "t", &err), 0);
	for (uint64_t ticket = 0; ticket < 10; ticket++) {
		l->ticket = ticket % 2 ? UINT64_MAX - ticket : ticket;
		for (uint64_t k = 0; k < 3; k++) {
			struct calls_room *room = calls_room_of(l, 3, 2, k);
			l->slot[k].state = 2 * (l->ticket - 1 - k) + 2;
			l->slot[k].what = (ticket % 3 ? CALL_VALUE : 77) | (k ? CALLS_TICKS : 0) | (uint32_t)ticket << 28;
			l->slot[k].time = l->slot[k].seq = ticket * UINT64_C(0x7fff0000ffff);
			l->slot[k].more = ticket + k;
			room->state = 2 * (ticket + k) + 2;
			room->v.n_dim = 200;
		}
		r.at = 0;
		r.final = ticket > 4;
		for (int k = 0; k < 20 && calls_next(&r, &rec); k++)
			assert_true(rec.what <= CALL_REPLAY && (rec.what != CALL_VALUE || rec.v.n_dim <= CALL_DIMS));
	}
	assert_string_equal(calls_name(&r, 5), "");
	buf_release(&zero);
	guard_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order),  cmocka_unit_test(test_wrap),      cmocka_unit_test(test_torn),  cmocka_unit_test(test_busy),
	    cmocka_unit_test(test_killed), cmocka_unit_test(test_overtaken), cmocka_unit_test(test_names), cmocka_unit_test(test_bytes),
	    cmocka_unit_test(test_ticks),  cmocka_unit_test(test_rooms),
	};
	return RUN(tests);
}
