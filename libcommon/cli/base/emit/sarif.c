#include "base/emit/sarif.h"

struct json_out sarif_begin(struct buf *b, const char *tool)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member(&o, "$schema", SLICE("https://json.schemastore.org/sarif-2.1.0.json"));
	json_member(&o, "version", SLICE("2.1.0"));
	json_member_arr(&o, "runs");
	json_obj(&o);
	json_member_obj(&o, "tool");
	json_member_obj(&o, "driver");
	json_member(&o, "name", slice_str(tool));
	json_member(&o, "version", SLICE(PT2_VERSION));
	return o;
}

void sarif_results(struct json_out *o, const char *root)
{
	json_close(o);
	json_close(o);
	if (root) {
		json_member_obj(o, "originalUriBaseIds");
		json_member_obj(o, "%SRCROOT%");
		sarif_text(o, "description", slice_str(root));
		json_close(o);
		json_close(o);
	}
	json_member(o, "columnKind", SLICE("utf16CodeUnits"));
	json_member_arr(o, "results");
}

void sarif_end(struct json_out *o)
{
	json_close(o);
	json_close(o);
	json_close(o);
	json_close(o);
	buf_addc(o->b, '\n');
}

void sarif_text(struct json_out *o, const char *key, struct slice text)
{
	json_member_obj(o, key);
	json_member(o, "text", text);
	json_close(o);
}
