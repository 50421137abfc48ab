/* json.c - `fxexplain fix --json`: the fixes as edits, for editors (docs/formats/EXPLAIN.md). */
#include "fix/fix_part.h"

#include "base/text.h"
#include "run/document.h"

/* The line and column of a byte offset, both counted from 1. */
static void put_at(struct json_out *o, const char *key, struct slice text, size_t at)
{
	size_t start;
	uint64_t line = text_line(text, at, &start) + 1;
	json_member_obj(o, key);
	json_member_u64(o, "byte", at);
	json_member_u64(o, "line", line);
	json_member_u64(o, "column", at - start + 1);
	json_close(o);
}

static void put_edits(struct json_out *o, const struct fix_row *row)
{
	json_rows(o, "edits", i, row->n_change) {
		const struct change *c = &row->change[i];
		struct slice text = row->file->source.text;
		put_at(o, "start", text, c->from);
		put_at(o, "end", text, c->to);
		json_member_str(o, "old", slice_of(text.p + c->from, c->to - c->from));
		json_member_str(o, "new", c->text.n ? c->text : slice_of("", 0));
	}
}

void fix_json(struct buf *b, const struct explanation *x, const struct fix_row *row, uint32_t n, bool applied)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member(&o, "schema", SLICE("pt2utils.fix/1"));
	json_member(&o, "tool", SLICE("fxexplain fix"));
	json_member(&o, "version", SLICE(PT2_VERSION));
	json_member_bool(&o, "applied", applied);
	json_rows(&o, "fixes", i, n) {
		const struct finding *g = row[i].finding;
		char fingerprint[FINGERPRINT_TEXT];
		finding_fingerprint(x, g, fingerprint);
		json_member(&o, "fingerprint", slice_str(fingerprint));
		json_member(&o, "id", g->id);
		json_member(&o, "what", row[i].what);
		document_loc(&o, "location", x->facts, &g->loc);
		json_member(&o, "fix", row[i].fix);
		json_member(&o, "refused", slice_str(row[i].why ? row[i].why : ""));
		json_member(&o, "file", slice_str(row[i].file ? row[i].file->path : ""));
		json_member(&o, "kept", slice_str(row[i].file && row[i].file->kept ? row[i].file->kept : ""));
		put_edits(&o, &row[i]);
	}
	json_close(&o);
	buf_addc(b, '\n');
}
