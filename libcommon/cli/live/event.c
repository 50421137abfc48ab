#include "live/live.h"

/* clang-format off */
#define NAME(id, name) [LIVE_##id] = name,
static const char *const names[LIVE_KINDS] = { LIVE_EVENTS(NAME) };
#undef NAME
/* clang-format on */

const char *live_kind_name(enum live_kind k) { return k < LIVE_KINDS ? names[k] : "unknown"; }

bool live_event_parse(struct live_event *ev, struct json_tape *t, struct slice line)
{
	uint32_t k;
	uint64_t n;
	int64_t id;
	*ev = (struct live_event){.kind = LIVE_KINDS, .model = LIVE_NO_MODEL, .path = {"", 0}, .line = line, .tape = t};
	json_tape_text(t, line.p, line.n);
	if (json_parse(t, 0, line.n, &ev->root) < 0 || (k = json_get(t, ev->root, "ev")) == JSON_NONE)
		return false;
	for (int i = 0; i < LIVE_KINDS; i++)
		if (slice_is(json_slice(t, k), names[i]))
			ev->kind = (enum live_kind)i;
	if ((k = json_get(t, ev->root, "t")) != JSON_NONE)
		json_double(t, k, &ev->time);
	if ((k = json_get(t, ev->root, "pid")) != JSON_NONE && json_i64(t, k, &id))
		ev->pid = (pid_t)id;
	if ((k = json_get(t, ev->root, "tid")) != JSON_NONE && json_i64(t, k, &id))
		ev->tid = (pid_t)id;
	if ((k = json_get(t, ev->root, "model")) != JSON_NONE && json_u64(t, k, &n) && n < LIVE_MODELS)
		ev->model = (uint32_t)n;
	return true;
}

static struct slice text_of(const struct live_event *ev, uint32_t k, const char *key, struct buf *hold)
{
	uint32_t v = json_get(ev->tape, k, key);
	buf_reset(hold);
	if (v != JSON_NONE && json_is(ev->tape, v, JSON_STRING))
		json_unescape(ev->tape, v, hold);
	return buf_slice(hold);
}

uint64_t live_event_number(const struct live_event *ev, const char *key)
{
	uint64_t n = 0;
	uint32_t v = json_get(ev->tape, ev->root, key);
	if (v != JSON_NONE)
		json_u64(ev->tape, v, &n);
	return n;
}

static bool true_of(const struct live_event *ev, uint32_t k, const char *key)
{
	uint32_t v = json_get(ev->tape, k, key);
	return v != JSON_NONE && json_is(ev->tape, v, JSON_TRUE);
}

static void add_part(const struct live_event *ev, uint32_t k, const char *key, const char *before, struct buf *hold, struct buf *b)
{
	struct slice s = text_of(ev, k, key, hold);
	if (s.n)
		buf_addf(b, "%s%.*s", before, SL(s));
}

static void finding_text(const struct live_event *ev, uint32_t k, struct buf *b)
{
	struct buf hold = {0};
	uint64_t n;
	buf_adds(b, "\n  ");
	uint32_t input = json_get(ev->tape, k, "input"), dim = json_get(ev->tape, k, "dim");
	if (input != JSON_NONE && json_u64(ev->tape, input, &n)) {
		buf_addf(b, "input %llu", (unsigned long long)n);
		add_part(ev, k, "name", " ", &hold, b);
		add_part(ev, k, "path", ", ", &hold, b);
		if (dim != JSON_NONE && json_u64(ev->tape, dim, &n))
			buf_addf(b, ", dim %llu", (unsigned long long)n);
		buf_adds(b, ": ");
	}
	add_part(ev, k, "what", "", &hold, b);
	add_part(ev, k, "expected", ": expected ", &hold, b);
	add_part(ev, k, "given", ", given ", &hold, b);
	add_part(ev, k, "fix", "; ", &hold, b);
	add_part(ev, k, "aoti", "\n    AOTInductor says: ", &hold, b);
	buf_release(&hold);
}

static void mismatch_text(const struct live_event *ev, struct buf *b)
{
	uint32_t list = json_get(ev->tape, ev->root, "findings");
	buf_addf(b, "call %llu: the inputs do not fit", (unsigned long long)live_event_number(ev, "call"));
	if (true_of(ev, ev->root, "failed"))
		buf_adds(b, ", the call was refused");
	if (list != JSON_NONE && json_is(ev->tape, list, JSON_ARRAY))
		for (uint32_t k = json_first(ev->tape, list); k < json_end(ev->tape, list); k = json_next(ev->tape, k))
			finding_text(ev, k, b);
	if (true_of(ev, ev->root, "last"))
		buf_adds(b, "\n  more calls of this kind are only counted");
}

void live_event_text(const struct live_event *ev, struct buf *b)
{
	struct buf hold = {0};
	if (ev->model != LIVE_NO_MODEL && ev->path.n)
		buf_addf(b, "model %u (%.*s): ", ev->model, SL(ev->path));
	else if (ev->model != LIVE_NO_MODEL)
		buf_addf(b, "model %u: ", ev->model);
	switch (ev->kind) {
	case LIVE_MODEL_SEEN: buf_addf(b, "loaded by process %d", (int)ev->pid); break;
	case LIVE_CONTRACT:
		buf_addf(b, "contract of %llu inputs", (unsigned long long)live_event_number(ev, "inputs"));
		if (live_event_number(ev, "unknown"))
			buf_addf(b, ", %llu of them not known in full", (unsigned long long)live_event_number(ev, "unknown"));
		break;
	case LIVE_NO_CONTRACT:
		buf_adds(b, "its calls are not checked");
		add_part(ev, ev->root, "text", ": ", &hold, b);
		break;
	case LIVE_CALL_MISMATCH: mismatch_text(ev, b); break;
	case LIVE_CALLS_SUMMARY:
		buf_addf(b, "%llu calls, %llu mismatched, %llu unchecked, %llu refused, %llu unseen",
			 (unsigned long long)live_event_number(ev, "calls"), (unsigned long long)live_event_number(ev, "mismatched"),
			 (unsigned long long)live_event_number(ev, "unchecked"), (unsigned long long)live_event_number(ev, "failed"),
			 (unsigned long long)live_event_number(ev, "past"));
		break;
	case LIVE_DEVICE_FAULT:
		add_part(ev, ev->root, "kernel", "", &hold, b);
		buf_addf(b, " (call %llu): ", (unsigned long long)live_event_number(ev, "call"));
		add_part(ev, ev->root, "error", "", &hold, b);
		add_part(ev, ev->root, "text", ", ", &hold, b);
		add_part(ev, ev->root, "when", ", seen: ", &hold, b);
		break;
	case LIVE_DEVICE_FINDING:
		add_part(ev, ev->root, "kernel", "", &hold, b);
		buf_addf(b, " (call %llu), parameter %llu", (unsigned long long)live_event_number(ev, "call"),
			 (unsigned long long)live_event_number(ev, "param"));
		add_part(ev, ev->root, "buffer", ", ", &hold, b);
		add_part(ev, ev->root, "what", ": ", &hold, b);
		break;
	case LIVE_GRAPH:
		buf_addf(b, "process %d: CUDA graph %llu: %llu calls captured", (int)ev->pid,
			 (unsigned long long)live_event_number(ev, "graph"), (unsigned long long)live_event_number(ev, "captured"));
		break;
	case LIVE_STEPPED_ASIDE:
		buf_addf(b, "process %d", (int)ev->pid);
		add_part(ev, ev->root, "text", ": ", &hold, b);
		break;
	case LIVE_KINDS: buf_add_slice(b, ev->line); break;
	}
	buf_release(&hold);
}
