/* traced.h - one structured trace for each test: `in` is put together, read_it() reads it as one window, rd.t is what is made of it. */
#ifndef PT2_TEST_TRACED_H
#define PT2_TEST_TRACED_H
#include "log.h"

static struct reader rd;
static struct buf in;

static inline int setup(void **state)
{
	(void)state;
	reader_init(&rd);
	buf_reset(&in);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	reader_release(&rd);
	buf_release(&in);
	return 0;
}

/* The whole of `in` as one window. */
static inline void read_it(void) { reader_window(&rd, buf_slice(&in), true); }

static inline void read_text(const char *text)
{
	buf_adds(&in, text);
	read_it();
}

static inline void add(const char *members, const char *payload) { add_record(&in, "", members, payload); }

/* Members of an artifact's envelope at 0/0. */
#define AT ", \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0"
#define ARTIFACT(name) "\"artifact\": {\"name\": \"" name "\", \"encoding\": \"string\"}"

#define FRAME(n) "{\"line\": " #n ", \"name\": \"f" #n "\", \"filename\": 0}"

static inline void path_is(uint32_t i, const char *want)
{
	struct buf b = {0};
	assert_true(i < rd.t.n_artifact);
	trace_artifact_path(&rd.t, &rd.t.artifact[i], false, &b);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static inline void damage_is(enum trace_damage_kind kind, uint64_t count, uint64_t line)
{
	if (rd.t.damage[kind].count != count || rd.t.damage[kind].line != line)
		fail_msg("%s: %llu at line %llu, not %llu at %llu", trace_damage_name[kind], (unsigned long long)rd.t.damage[kind].count,
			 (unsigned long long)rd.t.damage[kind].line, (unsigned long long)count, (unsigned long long)line);
}

static inline void only_damage(enum trace_damage_kind kind, uint64_t count, uint64_t line)
{
	for (unsigned i = 0; i < DAMAGE_COUNT; i++)
		damage_is(i, i == kind ? count : 0, i == kind ? line : 0);
}

static inline void no_damage(void)
{
	only_damage(DAMAGE_COUNT, 0, 0);
	assert_false(trace_damaged(&rd.t));
}

static inline struct slice name_at(uint32_t i) { return intern_get(&rd.t.f->names, i); }

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
