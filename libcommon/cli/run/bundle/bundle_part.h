/* bundle_part.h - what the files of bundle/ share. */
#ifndef PT2_BUNDLE_PART_H
#define PT2_BUNDLE_PART_H
#include "base/json.h"
#include "base/text.h"
#include "run/bundle/bundle.h"

/* bundle_write.c: adds a member under a unique name; the row is valid until the next one. NULL: err. */
struct bundle_file *bundle_put(struct bundle_writer *w, enum bundle_kind kind, const char *name, struct slice bytes, struct err *err);
/* The manifest's list of tensors. */
struct json_out *bundle_tensor_out(struct bundle_writer *w);

#endif
