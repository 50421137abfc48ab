/* callsrace.c - writers and a reader of one call log in one process, for ThreadSanitizer (tests/cli/tsan.t): everything both sides touch is
 * atomic, so that it has nothing to report. Prints how many records were read. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "watch/calls.h"

enum { WRITERS = 3, RECORDS = 1024, EACH = 5000 };

static struct calls_log *log_of;
static struct calls_names *names_of;
static atomic_uint ended;

static void *write_records(void *user)
{
	const uint32_t k = *(const uint32_t *)user;
	for (uint64_t i = 1; i <= EACH; i++) {
		char text[32];
		snprintf(text, sizeof(text), "writer %u, %u", k, (unsigned)i % 50);
		struct call_record r = {.what = i % 3 ? CALL_VALUE : CALL_BEGIN, .pid = (uint32_t)getpid(), .tid = k, .seq = i};
		r.name = calls_intern(names_of, text, strlen(text));
		if (r.what == CALL_VALUE)
			for (int d = 0; d < CALL_DIMS; d++)
				r.v.size[d] = r.v.stride[d] = (int64_t)(i * WRITERS + k);
		calls_append(log_of, &r);
	}
	atomic_fetch_add(&ended, 1);
	return NULL;
}

int main(void)
{
	struct calls_config c = {.records = RECORDS, .values = RECORDS, .size = sizeof(struct calls_log)};
	memcpy(c.magic, CALLS_MAGIC, sizeof(c.magic));
	c.slot_size = sizeof(struct calls_slot);
	c.room_size = sizeof(struct calls_room);
	const size_t size = (size_t)calls_log_size(&c);
	log_of = aligned_alloc(64, (size + 63) / 64 * 64);
	names_of = calloc(1, CALLS_NAMES_BYTES);
	if (!log_of || !names_of)
		return 2;
	memset(log_of, 0, size);
	log_of->config = c;
	memcpy(names_of->magic, CALLS_NAMES_MAGIC, sizeof(names_of->magic));
	names_of->size = CALLS_NAMES_BYTES;
	struct calls_reader r;
	struct call_record rec;
	struct err err;
	if (calls_open_bytes(&r, slice_of((char *)log_of, size), slice_of((char *)names_of, CALLS_NAMES_BYTES), "log", &err) < 0)
		return 3;
	pthread_t thread[WRITERS];
	uint32_t number[WRITERS];
	for (uint32_t k = 0; k < WRITERS; k++) {
		number[k] = k;
		if (pthread_create(&thread[k], NULL, write_records, &number[k]))
			return 2;
	}
	uint64_t got = 0, torn = 0;
	for (bool more = true; more;) {
		r.final = atomic_load(&ended) == WRITERS; /* what was not completed by then never will be */
		more = !r.final;
		while (calls_next(&r, &rec)) {
			char text[32];
			got++;
			snprintf(text, sizeof(text), "writer %u, %u", rec.tid, (unsigned)(rec.seq % 50));
			torn += strcmp(calls_name(&r, rec.name), text) != 0;
			for (int d = 0; rec.what == CALL_VALUE && d < CALL_DIMS; d++)
				torn += rec.v.size[d] != (int64_t)(rec.seq * WRITERS + rec.tid) || rec.v.stride[d] != rec.v.size[d];
		}
	}
	for (uint32_t k = 0; k < WRITERS; k++)
		pthread_join(thread[k], NULL);
	const bool all = got + r.lost + r.torn == r.at;
	calls_close(&r);
	free(log_of);
	free(names_of);
	printf("%s %llu\n", all && !torn && got ? "whole" : "torn", (unsigned long long)got);
	return 0;
}
