/* cachekey.h - the components of a compile cache's key, and how two keys differ.
 *
 * torch writes the components of a key beside it, one per line (torch 2.13.0, torch/_inductor/codecache.py, FxGraphCachePickler):
 * in the artifacts fx_graph_cache_hit and fx_graph_cache_miss of a structured trace (a JSON list "components"), and in the entries of the
 * cache itself (the attribute _fx_graph_cache_debug_lines, and fx_graph_cache_info of AOTAutograd's):
 *
 *     [vrm4t4q57odu2c3nvnuv5q4kstnrzgxl3imglemtwxelvu6ydcl] gm: GraphModule()\n\n\n\ndef forward(self, primals_1, primals_2): ...
 *     [cx7y7j5kyzvruvnua4evc7nss2pdvezbfdc2bdjt76hwxocsojn] example_inputs[0]: TensorMetadata(dtype=torch.float32, shape=...
 *     [esstihe2nyydk4mhzpvox3qkajyu5y5t23hk3fi2me7jn75xi3o] inductor_config[max_autotune]: False
 *
 * Compare hashes, not values: a value may hold an address. AOTAutograd's own keys have components only if its logger is at DEBUG.
 *
 *     struct key_lines k = {{0}};
 *     json_each(tape, components, i)
 *         key_add(&k, json_text_at(tape, i, &tmp));
 *     ... buf_slice(&k.text[KEY_GRAPH]), buf_slice(&k.text[KEY_SETTINGS]): the texts to keep (most keys of a run have the same settings)
 *     uint32_t n = key_compare(a, b, change, ARRAY_LEN(change), &tmp);
 *
 * In a kept text each component is a line "HASH NAME: VALUE", with the value's newlines as '\r'; a value is cut at KEY_VALUE bytes, a
 * graph's at KEY_GRAPH_TEXT. Nothing is found in texts that key_add() did not make.
 */
#ifndef PT2_CACHEKEY_H
#define PT2_CACHEKEY_H
#include "base/arena.h"
#include "base/buf.h"

enum { KEY_GRAPH, KEY_SETTINGS, KEY_TEXTS };
enum { KEY_VALUE = 1024, KEY_GRAPH_TEXT = 16 << 10, KEY_CHANGES = 64, KEY_COMPONENTS = 1 << 14 };

struct key_lines {
	struct buf text[KEY_TEXTS];
	uint32_t n;
};
/* Adds a line as torch writes it. Other lines, and lines beyond KEY_COMPONENTS, are ignored. */
void key_add(struct key_lines *k, struct slice line);
void key_release(struct key_lines *k);

struct key_part {
	struct slice hash, name, value;
};
/* The component of that name in a kept text; name.n is 0 if there is none. */
struct key_part key_part_named(struct slice text, const char *name);

/* A component that differs between two keys; before.n or after.n is 0 if only the other key has it. The texts live in the arena. For
 * multi-line values they are the first lines that differ. order: the most telling first. */
struct key_change {
	struct slice name, before, after;
	uint32_t order;
};
/* Compares the texts of two keys, KEY_TEXTS each. Returns how many components differ (`most` are written), the most telling first: release,
 * system, settings, then inputs, then the graph, which depends on the inputs. */
uint32_t key_compare(const struct slice *a, const struct slice *b, struct key_change *out, uint32_t most, struct arena *arena);
/* "mm, relu, sum": the operators that a key's graph calls, each once, in order. */
void key_graph_ops(struct slice graph_text, struct buf *b);

#endif
