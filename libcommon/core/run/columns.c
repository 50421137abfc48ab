/* columns.c - see columns.h. */
#include "run/columns.h"

void columns_begin(struct columns *c, const struct intern *names)
{
	*c = (struct columns){names, xcalloc(names->n + 1u, sizeof(*c->place)), xreallocarray(NULL, names->n + 1u, sizeof(*c->name)), 0};
}

int64_t columns_text(struct columns *c, uint32_t name)
{
	if (name == NONE)
		return 0;
	if (!c->place[name]) {
		c->name[c->n++] = name;
		c->place[name] = c->n;
	}
	return c->place[name];
}

void columns_end(struct columns *c, struct json_out *o)
{
	json_member_arr(o, "texts");
	for (uint32_t i = 0; i < c->n; i++)
		json_out_str(o, intern_get(c->names, c->name[i]));
	json_close(o);
	free(c->place);
	free(c->name);
	*c = (struct columns){0};
}

void column_add(struct column *x, int64_t v)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const int64_t d = (int64_t)((uint64_t)v - (uint64_t)x->last);
	uint64_t bits = d < 0 ? (0 - (uint64_t)d) << 1 | 1 : (uint64_t)d << 1;
	x->last = v;
	do {
		buf_addc(&x->b, digit[(bits & 31) | (bits > 31 ? 32 : 0)]);
		bits >>= 5;
	} while (bits);
	if (d)
		x->end = x->b.len;
}

void column_out(struct column *x, struct json_out *o)
{
	json_out_str(o, slice_of(x->b.p, x->end));
	buf_reset(&x->b);
	x->last = 0;
	x->end = 0;
}
