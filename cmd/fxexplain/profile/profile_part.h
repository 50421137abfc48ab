/* profile_part.h - shared by the files of this reader. cut.c finds events, event.c reads one, read.c stores them, sort.c sorts
 * them, nest.c computes times. */
#ifndef PT2_PROFILE_PART_H
#define PT2_PROFILE_PART_H
#include "profile/profile.h"

/* ---- cut.c: where the events of a text are, however it is split into windows ---- */
struct event_span {
	uint32_t from, to;
};
enum cut_where { CUT_START, CUT_HEAD, CUT_EVENTS, CUT_END, CUT_NOT_JSON };
struct cutter {
	enum cut_where where;
	uint32_t depth, base;  /* base: of the contents of the array of events */
	uint64_t in_string;    /* all ones inside a string */
	bool escape;           /* the byte before was a backslash */
	uint32_t from;         /* where the open event, or string in the header, starts; NONE */
	uint32_t key, key_end; /* the header's last string */
	struct event_span *span;
	uint32_t n, cap;
};
/* Continues in text[at, len); events that end there are added to c->span. */
void cut_scan(struct cutter *c, const char *text, size_t at, size_t len);

/* ---- event.c ---- */
struct event {
	uint64_t ts, dur; /* ns */
	const char *args; /* the value and what follows; NULL */
	struct slice name, pid, tid, cat;
	uint32_t args_len;
	bool has_ts, has_dur, escaped;
	char ph;
};
/* text: an object, braces included. */
void event_read(struct event *e, struct slice text);
enum profile_class event_class(struct slice cat);
/* "4432190440254.764" in microseconds -> ns. */
FOR_TESTS bool event_time(struct slice text, uint64_t *ns);

/* ---- what is kept of an event: 16 bytes ---- */
struct mark {
	uint64_t ts;
	uint64_t what; /* dur << MARK_ROW_BITS | row */
};
enum { MARK_ROW_BITS = 20 };
#define MARK_DUR_MAX (UINT64_MAX >> MARK_ROW_BITS)
static inline uint64_t mark_dur(const struct mark *m) { return m->what >> MARK_ROW_BITS; }
static inline uint64_t mark_end(const struct mark *m) { return m->ts + mark_dur(m); }
static inline uint32_t mark_row(const struct mark *m) { return (uint32_t)(m->what & ((1u << MARK_ROW_BITS) - 1)); }
static inline struct mark mark_of(uint64_t ts, uint64_t dur, uint32_t row)
{
	return (struct mark){ts, (dur > MARK_DUR_MAX ? MARK_DUR_MAX : dur) << MARK_ROW_BITS | row};
}
struct lane {
	struct mark *v;
	size_t n, cap;
	bool unsorted;
};
void lane_add(struct lane *l, struct mark m);
/* By start, the longer first, else in input order. */
void lane_sort(struct lane *l);
void lane_release(struct lane *l);

enum { LANE_OPS, LANE_PYTHON, LANE_DEVICE, LANES };
struct begun { /* a B waiting for its E */
	uint64_t ts;
	uint32_t row;
};
struct track {
	struct lane lane[LANES];
	struct begun *begun;
	uint32_t n_begun, cap_begun;
};

/* ---- nest.c ---- */
void profile_nest(struct profile *p, struct track *track);
/* ---- gaps.c ---- */
/* busy: what ran at the top of each thread. */
void profile_gaps(struct profile *p, struct lane *busy);
void profile_gap_python(struct profile *p, const struct lane *python);

/* ---- names.c ---- */
enum profile_kind profile_kind_of(struct slice name, enum profile_class class);
/* "entire_frame_compile_data: fn_name=f, compile_id=0/1" -> "0/1"; empty if there is none. */
struct slice profile_compile_id(struct slice name);

#endif
