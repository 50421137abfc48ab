/* Any bytes as a call log and its names, with the head that the tool made: reading ends, and gives what is within limits.
 * Input: ticket (8 bytes), flags, then slots and rooms as they are, then the texts. */
#include "watch/calls.h"

enum { MOST = 8, NAMES = sizeof(struct calls_names) + 1024 };

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
	require(calls_open_bytes(&r, slice_of((char *)l, bytes), slice_of((char *)n, NAMES), "fuzz", &err) == 0);
	r.final = head[8] & 0x80;
	uint64_t got = 0, known = 0;
	while (calls_next(&r, &rec)) {
		require(rec.what <= CALL_REPLAY && (rec.what != CALL_VALUE || rec.v.n_dim <= CALL_DIMS));
		const char *name = calls_name(&r, rec.name);
		require(name >= (char *)n ? name + strlen(name) < (char *)n + NAMES || !*name : !*name);
		known += rec.what == CALL_VALUE && rec.v.stats.known;
		require(++got <= records && known <= got);
	}
	require(got + r.lost + r.torn == r.at && r.at <= ticket);
	calls_close(&r);
	free(l);
	free(n);
	return 0;
}
