/* Lines of an event log: what a process that is not ours may have written. */
#include "watch/live.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct slice rest = slice_of((const char *)p, n), line;
	struct json_tape t = {0};
	struct buf b = {0};
	while (slice_line(&rest, &line)) {
		struct live_event ev;
		if (!live_event_parse(&ev, &t, line))
			continue;
		buf_reset(&b);
		live_event_text(&ev, &b);
		buf_reset(&b);
		live_path_of(ev.pid, line, &b);
	}
	buf_release(&b);
	json_tape_release(&t);
	return 0;
}
