#include "run/metrics.h"

const char *const metric_unit_name[METRIC_UNITS] = {
    [METRIC_TEXT] = "text",
    [METRIC_COUNT_OF] = "count",
    [METRIC_S] = "s",
    [METRIC_MS] = "ms",
    [METRIC_US] = "us",
    [METRIC_POINT_S] = "seconds since 1970",
    [METRIC_POINT_US] = "microseconds since 1970",
    [METRIC_BOOL] = "bool",
    [METRIC_BYTES] = "bytes",
    [METRIC_LIST] = "list",
    [METRIC_JSON] = "json",
};
const char *const metric_group_name[METRIC_GROUP_COUNT] = {
#define X(id, name) name,
    METRIC_GROUPS(X)
#undef X
};

#define UNIT_TEXT METRIC_TEXT
#define UNIT_COUNT METRIC_COUNT_OF
#define UNIT_S METRIC_S
#define UNIT_MS METRIC_MS
#define UNIT_US METRIC_US
#define UNIT_POINT_S METRIC_POINT_S
#define UNIT_POINT_US METRIC_POINT_US
#define UNIT_BOOL METRIC_BOOL
#define UNIT_BYTES METRIC_BYTES
#define UNIT_LIST METRIC_LIST
#define UNIT_JSON METRIC_JSON

const struct metric_info metric_info[METRIC_COUNT] = {
#define X(id, what, in, sentence) {{#id, sizeof(#id) - 1}, UNIT_##what, METRIC_GROUP_##in, sentence},
    METRICS(X)
#undef X
};

enum metric_id metric_find_from(struct slice name, enum metric_id guess)
{
	for (unsigned i = 0; i < METRIC_COUNT; i++) {
		unsigned k = (guess + i) % METRIC_COUNT;
		if (slice_eq(metric_info[k].name, name))
			return (enum metric_id)k;
	}
	return METRIC_UNKNOWN;
}

enum metric_id metric_find(struct slice name) { return metric_find_from(name, (enum metric_id)0); }
