/* event.c - reads one event's members. In kineto's files everything needed comes before "args": reading stops there. */
#include "profile/profile_part.h"

#include <math.h>

struct cursor {
	const char *p, *end;
};

static void blanks(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\r' || *c->p == '\t'))
		c->p++;
}

/* At a quote: the text between, *escaped is set if it contains backslashes. */
static bool string(struct cursor *c, struct slice *s, bool *escaped)
{
	const char *from = ++c->p;
	for (;; c->p++) {
		if (c->p >= c->end)
			return false;
		if (*c->p == '"')
			break;
		if (*c->p == '\\') {
			*escaped = true;
			c->p++;
		}
	}
	*s = slice_of(from, (size_t)(c->p++ - from));
	return true;
}

/* From an opening bracket to past the closing one. */
static bool nested(struct cursor *c, struct slice *s)
{
	const char *from = c->p;
	size_t depth = 0;
	while (c->p < c->end) {
		const char b = *c->p;
		if (b == '"') {
			struct slice skipped;
			bool escaped;
			if (!string(c, &skipped, &escaped))
				return false;
			continue;
		}
		c->p++;
		if (b == '{' || b == '[')
			depth++;
		else if ((b == '}' || b == ']') && !--depth)
			break;
	}
	*s = slice_of(from, (size_t)(c->p - from));
	return true;
}

static bool value(struct cursor *c, struct slice *s, bool *escaped)
{
	if (c->p >= c->end)
		return false;
	if (*c->p == '"')
		return string(c, s, escaped);
	if (*c->p == '{' || *c->p == '[')
		return nested(c, s);
	const char *from = c->p;
	while (c->p < c->end && *c->p != ',' && *c->p != '}' && *c->p != ']' && (unsigned char)*c->p > ' ')
		c->p++;
	*s = slice_of(from, (size_t)(c->p - from));
	return s->n > 0;
}

static bool by_double(struct slice text, uint64_t *ns)
{
	char tmp[64], *end;
	if (!text.n || text.n >= sizeof(tmp))
		return false;
	memcpy(tmp, text.p, text.n);
	tmp[text.n] = 0;
	if (strspn(tmp, "0123456789.eE+-") != text.n) /* no hexadecimal, no infinity */
		return false;
	const double us = strtod(tmp, &end);
	if (*end || !(us >= 0) || us >= 9e15)
		return false;
	*ns = (uint64_t)llround(us * 1000);
	return true;
}

bool event_time(struct slice text, uint64_t *ns)
{
	uint64_t us = 0, part = 0;
	size_t i = 0;
	unsigned digits = 0;
	for (; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++) {
		if (i >= 16)
			return false;
		us = us * 10 + (uint64_t)(text.p[i] - '0');
	}
	if (!i || us > 9000000000000000)
		return by_double(text, ns);
	if (i < text.n && text.p[i] == '.')
		for (i++; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++) {
			if (digits < 3)
				part = part * 10 + (uint64_t)(text.p[i] - '0');
			else if (digits == 3 && text.p[i] >= '5') /* as in a double that went through Python */
				part++;
			digits++;
		}
	if (i < text.n)
		return by_double(text, ns);
	for (; digits < 3; digits++)
		part *= 10;
	*ns = us * 1000 + part;
	return true;
}

static bool complete(const struct event *e)
{
	return e->ph && e->name.p && e->cat.p && e->pid.p && e->tid.p && e->has_ts && (e->has_dur || e->ph != 'X');
}

static void take_field(struct event *e, struct slice key, struct slice v, bool escaped)
{
	if (slice_is(key, "ph")) {
		e->ph = v.n == 1 ? v.p[0] : '?';
	} else if (slice_is(key, "name")) {
		e->name = v;
		e->escaped = escaped;
	} else if (slice_is(key, "cat")) {
		e->cat = v;
	} else if (slice_is(key, "pid")) {
		e->pid = v;
	} else if (slice_is(key, "tid")) {
		e->tid = v;
	} else if (slice_is(key, "ts")) {
		e->has_ts = event_time(v, &e->ts);
	} else if (slice_is(key, "dur")) {
		e->has_dur = event_time(v, &e->dur);
	} else if (slice_is(key, "args")) {
		e->args = v.p;
		e->args_len = (uint32_t)v.n;
	}
}

void event_read(struct event *e, struct slice text)
{
	*e = (struct event){0};
	struct cursor c = {text.p + (text.n > 0), text.p + text.n};
	while (c.p < c.end) {
		struct slice key, v;
		bool escaped = false;
		while (c.p < c.end && *c.p != '"')
			c.p++;
		if (c.p >= c.end || !string(&c, &key, &escaped))
			return;
		blanks(&c);
		if (c.p >= c.end || *c.p != ':')
			return;
		c.p++;
		blanks(&c);
		if (slice_is(key, "args") && complete(e)) {
			e->args = c.p;
			e->args_len = (uint32_t)(c.end - c.p);
			return;
		}
		escaped = false;
		if (!value(&c, &v, &escaped))
			return;
		take_field(e, key, v, escaped);
	}
}

enum profile_class event_class(struct slice cat)
{
	static const struct {
		const char *name;
		enum profile_class class;
	} known[] = {
	    {"cpu_op", CLASS_OP},
	    {"python_function", CLASS_PYTHON},
	    {"user_annotation", CLASS_ANNOTATION},
	    {"kernel", CLASS_KERNEL},
	    {"cuda_runtime", CLASS_RUNTIME},
	    {"cuda_driver", CLASS_RUNTIME},
	    {"gpu_memcpy", CLASS_COPY},
	    {"gpu_memset", CLASS_COPY},
	    {"gpu_user_annotation", CLASS_DEVICE_ANNOTATION},
	    {"Operator", CLASS_OP},
	    {"Kernel", CLASS_KERNEL},
	    {"Runtime", CLASS_RUNTIME},
	    {"Memcpy", CLASS_COPY},
	    {"Memset", CLASS_COPY},
	    {"hip_runtime", CLASS_RUNTIME},
	    {"xpu_runtime", CLASS_RUNTIME},
	    {"privateuse1_runtime", CLASS_RUNTIME},
	    {"mtia_runtime", CLASS_RUNTIME},
	    {"mtia_ccp_events", CLASS_KERNEL},
	    {"", CLASS_OP},
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (slice_is(cat, known[i].name))
			return known[i].class;
	return CLASS_OTHER;
}
