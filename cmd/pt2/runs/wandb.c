/* wandb.c - a run as Weights & Biases keeps it offline: records in protocol buffers, framed like a log of LevelDB
 * (github.com/google/leveldb, doc/log_format.md), with zlib's CRC and a head of their own. */
#include "runs/export.h"

#include "base/tool/output.h"

#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK = 32768, HEAD = 7, FULL = 1, FIRST = 2, MIDDLE = 3, LAST = 4 };
enum {
	RECORD_NUM = 1,
	RECORD_HISTORY = 2,
	RECORD_SUMMARY = 3,
	RECORD_RUN = 17,
	RECORD_EXIT = 18,
	RECORD_FINAL = 20,
	RECORD_HEADER = 21,
	RECORD_FOOTER = 22,
	RUN_ID = 1,
	RUN_PROJECT = 3,
	RUN_CONFIG = 4,
	RUN_NAME = 8,
	RUN_START = 17,
	ITEM_KEY = 1,
	ITEM_VALUE = 16,
	ITEMS = 1, /* of a history, a summary, a config */
	HISTORY_STEP = 2,
	EXIT_CODE = 1,
	EXIT_RUNTIME = 2,
	TIME_SECONDS = 1,
	TIME_NANOS = 2,
};

/* ---- protocol buffers (protobuf.dev/programming-guides/encoding) ---- */

static void add_varint(struct buf *b, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		buf_addc(b, (char)(v | 128));
	buf_addc(b, (char)v);
}

static void add_number(struct buf *b, unsigned field, uint64_t v)
{
	add_varint(b, field << 3);
	add_varint(b, v);
}

static void add_bytes(struct buf *b, unsigned field, struct slice s)
{
	add_varint(b, field << 3 | 2);
	add_varint(b, s.n);
	buf_add_slice(b, s);
}

/* A name and its value as JSON. */
static void add_item(struct buf *b, const char *name, struct slice json)
{
	LOCAL_BUF item = {0};
	add_bytes(&item, ITEM_KEY, slice_str(name));
	add_bytes(&item, ITEM_VALUE, json);
	add_bytes(b, ITEMS, buf_slice(&item));
}

static void add_item_number(struct buf *b, const char *name, double v)
{
	LOCAL_BUF json = {0};
	buf_addf(&json, "%.17g", v);
	add_item(b, name, buf_slice(&json));
}

static void add_item_text(struct buf *b, const char *name, const char *text)
{
	LOCAL_BUF json = {0};
	struct json_out o = {.b = &json};
	if (!text)
		return;
	json_out_str(&o, slice_str(text));
	add_item(b, name, buf_slice(&json));
}

/* ---- the log ---- */

static void add_piece(struct buf *log, char type, struct slice s)
{
	uint32_t crc = (uint32_t)crc32(crc32(0, (const Bytef *)&type, 1), (const Bytef *)s.p, (uInt)s.n);
	for (unsigned i = 0; i < 4; i++)
		buf_addc(log, (char)(crc >> 8 * i));
	buf_addc(log, (char)s.n);
	buf_addc(log, (char)(s.n >> 8));
	buf_addc(log, type);
	buf_add_slice(log, s);
}

static void add_record(struct buf *log, struct slice s)
{
	for (bool first = true, last = false; !last; first = false) {
		size_t room = BLOCK - log->len % BLOCK;
		for (; room < HEAD; room = BLOCK - log->len % BLOCK)
			buf_addc(log, 0);
		last = s.n <= room - HEAD;
		const size_t n = last ? s.n : room - HEAD;
		add_piece(log, first && last ? FULL : first ? FIRST : last ? LAST : MIDDLE, slice_of(s.p, n));
		s = slice_of(s.p + n, s.n - n);
	}
}

static void put(struct buf *log, uint64_t *number, unsigned kind, const struct buf *what)
{
	LOCAL_BUF record = {0};
	add_number(&record, RECORD_NUM, (*number)++);
	add_bytes(&record, kind, buf_slice(what));
	add_record(log, buf_slice(&record));
}

/* ---- the run ---- */

static void put_run(struct buf *log, uint64_t *number, const struct run_row *run, const char *id)
{
	LOCAL_BUF b = {0};
	LOCAL_BUF config = {0};
	LOCAL_BUF start = {0};
	const struct kept_run *k = run->kept;
	add_item_text(&config, "command", k->command);
	add_item_text(&config, "cwd", k->cwd);
	add_item_text(&config, "tool", k->tool);
	add_number(&start, TIME_SECONDS, k->started > 0 ? (uint64_t)k->started : 0);
	add_number(&start, TIME_NANOS, k->started > 0 ? (uint64_t)((k->started - (double)(uint64_t)k->started) * 1e9) : 0);
	add_bytes(&b, RUN_ID, slice_str(id));
	add_bytes(&b, RUN_PROJECT, SLICE(EXPORT_PROJECT));
	add_bytes(&b, RUN_CONFIG, buf_slice(&config));
	add_bytes(&b, RUN_NAME, slice_str(k->name));
	add_bytes(&b, RUN_START, buf_slice(&start));
	put(log, number, RECORD_RUN, &b);
}

static void put_figures(struct buf *log, uint64_t *number, const struct run_row *run)
{
	struct figure v[FIGURES];
	LOCAL_BUF b = {0};
	LOCAL_BUF step = {0};
	const unsigned n = export_figures(run, v);
	for (unsigned i = 0; i < n; i++)
		add_item_number(&b, v[i].name, v[i].value);
	put(log, number, RECORD_SUMMARY, &b);
	add_item_number(&b, "_step", 0);
	add_item_number(&b, "_timestamp", run->kept->started);
	add_item_number(&b, "_runtime", run->kept->seconds > 0 ? run->kept->seconds : 0);
	add_number(&step, 1, 0);
	add_bytes(&b, HISTORY_STEP, buf_slice(&step));
	put(log, number, RECORD_HISTORY, &b);
}

static void put_end(struct buf *log, uint64_t *number, const struct kept_run *k)
{
	LOCAL_BUF b = {0};
	LOCAL_BUF none = {0};
	add_number(&b, EXIT_CODE, k->sig > 0 ? 128 + (uint64_t)k->sig : k->status > 0 ? (uint64_t)k->status : 0);
	add_number(&b, EXIT_RUNTIME, k->seconds > 0 ? (uint64_t)k->seconds : 0);
	put(log, number, RECORD_EXIT, &b);
	put(log, number, RECORD_FINAL, &none);
	put(log, number, RECORD_FOOTER, &none);
}

int export_wandb(const struct run_row *run, const char *dir, struct err *err)
{
	char id[33], when[32];
	LOCAL_BUF log = {0};
	LOCAL_BUF none = {0};
	uint64_t number = 1;
	struct tm tm;
	const time_t started = run->kept->started > 0 ? (time_t)run->kept->started : 0;
	export_id(run, 8, id);
	strftime(when, sizeof(when), "%Y%m%d_%H%M%S", gmtime_r(&started, &tm));
	FREED char *folder = xasprintf("%s/offline-run-%s-%s", dir, when, id), *path = xasprintf("%s/run-%s.wandb", folder, id);
	if (access(path, F_OK) == 0)
		return 0;
	buf_adds(&log, ":W&B");
	buf_add(&log, "\xe1\xbe", 3); /* the magic number, and version 0 */
	put(&log, &number, RECORD_HEADER, &none);
	put_run(&log, &number, run, id);
	put_figures(&log, &number, run);
	put_end(&log, &number, run->kept);
	return export_folder(folder, err) < 0 || output_write(path, &(struct slice){log.p, log.len}, 1, err) < 0 ? -1 : 1;
}
