#include "watch/live.h"

/* clang-format off */
#define NAME(id, name) [LIVE_##id] = name,
static const char *const names[LIVE_KINDS] = { LIVE_EVENTS(NAME) };
#undef NAME
/* clang-format on */

const char *live_kind_name(enum live_kind k) { return k < LIVE_KINDS ? names[k] : "unknown"; }

bool live_event_parse(struct live_event *ev, struct json_tape *t, struct slice line)
{
	*ev = (struct live_event){.kind = LIVE_KINDS, .model = LIVE_NO_MODEL, .path = {"", 0}, .line = line, .tape = t};
	json_tape_text(t, line.p, line.n);
	if (json_parse(t, 0, line.n, &ev->root) < 0)
		return false;
	struct slice kind = json_word(t, ev->root, "ev");
	for (int i = 0; i < LIVE_KINDS; i++)
		if (slice_is(kind, names[i]))
			ev->kind = (enum live_kind)i;
	ev->time = json_number(t, ev->root, "t", 0);
	ev->pid = (pid_t)json_int(t, ev->root, "pid", 0);
	ev->rank = json_index(t, ev->root, "rank", NONE);
	ev->tid = (pid_t)json_int(t, ev->root, "tid", 0);
	uint32_t model = json_index(t, ev->root, "model", LIVE_NO_MODEL);
	ev->model = model < LIVE_MODELS ? model : LIVE_NO_MODEL;
	return json_get(t, ev->root, "ev") != NONE;
}

uint64_t live_event_number(const struct live_event *ev, const char *key) { return json_count(ev->tape, ev->root, key, 0); }

static void add_part(const struct live_event *ev, uint32_t k, const char *key, const char *before, struct buf *hold, struct buf *b)
{
	struct slice s = json_text(ev->tape, k, key, hold);
	if (s.n)
		buf_addf(b, "%s%.*s", before, SL(s));
}

static void finding_text(const struct live_event *ev, uint32_t k, struct buf *b)
{
	struct buf hold = {0};
	uint64_t n;
	buf_adds(b, "\n  ");
	if (json_u64(ev->tape, json_get(ev->tape, k, "input"), &n)) {
		buf_addf(b, "input %llu", (unsigned long long)n);
		add_part(ev, k, "name", " ", &hold, b);
		add_part(ev, k, "path", ", ", &hold, b);
		if (json_u64(ev->tape, json_get(ev->tape, k, "dim"), &n))
			buf_addf(b, ", dim %llu", (unsigned long long)n);
		buf_adds(b, ": ");
	}
	add_part(ev, k, "what", "", &hold, b);
	add_part(ev, k, "expected", ": expected ", &hold, b);
	add_part(ev, k, "given", ", given ", &hold, b);
	add_part(ev, k, "fix", "; ", &hold, b);
	add_part(ev, k, "aoti", "\n    AOTInductor reports: ", &hold, b);
	buf_release(&hold);
}

static void mismatch_text(const struct live_event *ev, struct buf *b)
{
	const uint64_t calls = live_event_number(ev, "call"); /* with this one; runs are counted from 0, as by the other tools */
	buf_addf(b, "run %llu: the inputs do not match", (unsigned long long)(calls ? calls - 1 : 0));
	if (json_flag(ev->tape, ev->root, "failed"))
		buf_adds(b, ", the call was refused");
	json_each(ev->tape, json_get(ev->tape, ev->root, "findings"), k)
		finding_text(ev, k, b);
	if (json_flag(ev->tape, ev->root, "last"))
		buf_adds(b, "\n  further calls like this are only counted");
}

void live_process_text(struct buf *b, uint32_t pid, uint32_t rank)
{
	buf_addf(b, "process %u", pid);
	if (rank != NONE)
		buf_addf(b, " (rank %u)", rank);
}

void live_event_text(const struct live_event *ev, struct buf *b)
{
	struct buf hold = {0};
	if (ev->model != LIVE_NO_MODEL && ev->path.n)
		buf_addf(b, "model %u (%.*s): ", ev->model, SL(ev->path));
	else if (ev->model != LIVE_NO_MODEL)
		buf_addf(b, "model %u: ", ev->model);
	switch (ev->kind) {
	case LIVE_MODEL_SEEN:
		buf_adds(b, "loaded by ");
		live_process_text(b, (uint32_t)ev->pid, ev->rank);
		break;
	case LIVE_CONTRACT:
		buf_addf(b, "contract of %llu inputs", (unsigned long long)live_event_number(ev, "inputs"));
		if (live_event_number(ev, "unknown"))
			buf_addf(b, ", %llu of them only partly known", (unsigned long long)live_event_number(ev, "unknown"));
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
	case LIVE_BOUNDS:
		add_part(ev, ev->root, "kernel", "", &hold, b);
		buf_addf(b, " (call %llu)", (unsigned long long)live_event_number(ev, "call"));
		add_part(ev, ev->root, "buffer", ", ", &hold, b);
		add_part(ev, ev->root, "what", ": ", &hold, b);
		break;
	case LIVE_BOUNDS_SUMMARY:
		buf_addf(b, "%llu arguments guarded, %llu not", (unsigned long long)live_event_number(ev, "guarded"),
			 (unsigned long long)live_event_number(ev, "unguarded"));
		break;
	case LIVE_SCALER:
		buf_addf(b, "process %d: GradScaler %s, its scale %g", (int)ev->pid,
			 json_flag(ev->tape, ev->root, "made")      ? "made"
			 : json_flag(ev->tape, ev->root, "skipped") ? "skipped a step"
								    : "made a step",
			 json_number(ev->tape, ev->root, "scale", 0));
		break;
	case LIVE_STEPPED_ASIDE:
		buf_addf(b, "process %d", (int)ev->pid);
		add_part(ev, ev->root, "text", ": ", &hold, b);
		break;
	case LIVE_KINDS: buf_add_slice(b, ev->line); break;
	}
	buf_release(&hold);
}
