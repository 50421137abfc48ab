/* Any bytes as a call log and its names, with the head that the tool made: reading ends, and gives what is within limits, also while
 * somebody else writes into both.
 * Input: ticket (8 bytes), flags, then slots and rooms as they are, then the texts. Flag 0x40: a second thread goes on writing the bytes
 * of the input all over them, forwards and backwards. */
#include "watch/calls.h"

#include <pthread.h>

enum { MOST = 8, NAMES = sizeof(struct calls_names) + 1024, TURNS = 64 };

struct writer {
	unsigned char *log, *names;
	size_t n_log;
	const uint8_t *data;
	size_t n;
	atomic_bool ends;
};

/* The head stays as the tool made it; the reader has its own copy. */
static void *write_all_over(void *user)
{
	struct writer *w = user;
	const size_t from = sizeof(struct calls_config);
	for (size_t turn = 0; turn < TURNS && !atomic_load(&w->ends); turn++)
		for (size_t i = 0; i < w->n; i++) {
			const size_t at = turn % 2 ? w->n - 1 - i : i;
			__atomic_store_n(w->log + from + (at * 7 + turn) % (w->n_log - from), w->data[i], __ATOMIC_RELAXED);
			__atomic_store_n(w->names + sizeof(struct calls_names) + (at + turn) % (NAMES - sizeof(struct calls_names)),
					 w->data[i], __ATOMIC_RELAXED);
		}
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void take(void *to, size_t n, const uint8_t **data, size_t *size)
{
	size_t k = n < *size ? n : *size;
	memcpy(to, *data, k);
	*data += k;
	*size -= k;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t head[9] = {0};
	const uint8_t *whole = data;
	const size_t whole_size = size;
	take(head, sizeof(head), &data, &size);
	const uint64_t records = 1 + head[8] % MOST, values = 1 + head[8] / MOST % 4;
	const size_t slots = (size_t)(records * sizeof(struct calls_slot) + values * sizeof(struct calls_room));
	const size_t bytes = sizeof(struct calls_log) + slots;
	struct calls_log *l = aligned_alloc(64, (bytes + 63) / 64 * 64);
	struct calls_names *n = calloc(1, NAMES);
	require(l && n);
	memset(l, 0, bytes);
	memcpy(l->config.magic, CALLS_MAGIC, 8);
	l->config.size = sizeof(*l);
	l->config.slot_size = sizeof(struct calls_slot);
	l->config.room_size = sizeof(struct calls_room);
	l->config.records = records;
	l->config.values = values;
	uint64_t ticket;
	memcpy(&ticket, head, sizeof(ticket));
	l->ticket = ticket;
	take(l->slot, slots, &data, &size);
	memcpy(n->magic, CALLS_NAMES_MAGIC, 8);
	n->size = NAMES;
	take(n->text, NAMES - sizeof(*n), &data, &size);

	struct calls_reader r;
	struct call_record rec;
	struct err err;
	struct writer w = {.log = (unsigned char *)l, .names = (unsigned char *)n, .n_log = bytes, .data = whole, .n = whole_size};
	pthread_t thread;
	const bool both = head[8] & 0x40 && whole_size;
	require(calls_open_bytes(&r, slice_of((char *)l, bytes), slice_of((char *)n, NAMES), "fuzz", &err) == 0);
	require(!both || !pthread_create(&thread, NULL, write_all_over, &w));
	r.final = head[8] & 0x80;
	uint64_t got = 0, known = 0;
	while (got < 4 * records && calls_next(&r, &rec)) {
		char file[CALLS_FILE_NAME];
		require(rec.what <= CALL_REPLAY && (rec.what != CALL_VALUE || rec.v.n_dim <= CALL_DIMS));
		const char *name = calls_name(&r, rec.name), *again = calls_name(&r, rec.name);
		require(strlen(name) <= CALLS_MAX_NAME && (name == again || (both && !*name)));
		calls_file_name(&rec, name, again, file);
		require(!strchr(file, '/') && *file != '.' && strlen(file) < sizeof(file));
		known += rec.what == CALL_VALUE && rec.v.stats.known;
		got++;
		require(known <= got);
	}
	if (both) {
		atomic_store(&w.ends, true);
		pthread_join(thread, NULL);
	} else {
		require(got <= records && r.at <= ticket);
	}
	require(got + r.lost + r.torn == r.at);
	calls_close(&r);
	free(l);
	free(n);
	return 0;
}
