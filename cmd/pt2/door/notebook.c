#include "door/notebook.h"

#include "base/io/mapfile.h"
#include "base/json.h"

/* A text, or a list of its lines; each gets a line end. */
static void add_lines(struct buf *b, const struct json_tape *t, uint32_t value)
{
	if (json_is(t, value, JSON_STRING))
		json_unescape(t, value, b);
	json_each(t, value, line) {
		json_unescape(t, line, b);
		if (b->len && b->p[b->len - 1] != '\n')
			buf_addc(b, '\n');
	}
	if (b->len && b->p[b->len - 1] != '\n')
		buf_addc(b, '\n');
}

int notebook_text(struct buf *b, const char *path, struct err *err)
{
	OWNED(mapfile_close) struct mapfile f = {0};
	OWNED(json_tape_release) struct json_tape t = {0};
	LOCAL_BUF text = {0};
	uint32_t root;
	if (mapfile_open(&f, path, err) < 0)
		return -1;
	buf_add_slice(&text, slice_of(f.bytes.p, f.bytes.n));
	json_tape_text(&t, buf_str(&text), text.len);
	if (json_parse(&t, 0, text.len, &root) < 0)
		return err_set(err, EXIT_INPUT, "'%s' is a notebook, but not JSON", path);
	json_each(&t, json_get(&t, root, "cells"), cell)
		json_each(&t, json_get(&t, cell, "outputs"), output) {
			add_lines(b, &t, json_get(&t, output, "text"));
			add_lines(b, &t, json_get(&t, output, "traceback"));
		}
	return 0;
}
