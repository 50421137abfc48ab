/* cachekey.h - what the key of a compile cache is made of, and in what two keys differ.
 *
 * torch tells the components of a key beside it, one line each (torch 2.13.0, torch/_inductor/codecache.py, FxGraphCachePickler):
 * in the artifacts fx_graph_cache_hit and fx_graph_cache_miss of a structured trace (a JSON list "components"), and in the entries of the
 * cache itself (the attribute _fx_graph_cache_debug_lines, and fx_graph_cache_info of AOTAutograd's):
 *
 *     [vrm4t4q57odu2c3nvnuv5q4kstnrzgxl3imglemtwxelvu6ydcl] gm: GraphModule()\n\n\n\ndef forward(self, primals_1, primals_2): ...
 *     [cx7y7j5kyzvruvnua4evc7nss2pdvezbfdc2bdjt76hwxocsojn] example_inputs[0]: TensorMetadata(dtype=torch.float32, shape=...
 *     [esstihe2nyydk4mhzpvox3qkajyu5y5t23hk3fi2me7jn75xi3o] inductor_config[max_autotune]: False
 *
 * The hash decides: a value may hold an address. AOTAutograd's own keys have components only where its logger is at DEBUG.
 *
 *     struct key_lines k = {{0}};
 *     json_each(tape, components, i)
 *         key_add(&k, json_text_at(tape, i, &tmp));
 *     ... buf_slice(&k.text[KEY_GRAPH]), buf_slice(&k.text[KEY_SETTINGS]): what is kept (settings are the same in most keys of a run)
 *     uint32_t n = key_compare(a, b, change, ARRAY_LEN(change), &tmp);
 *
 * In a kept text a component is a line, "HASH NAME: VALUE", in which the newlines of the value are '\r'; a value is kept to KEY_VALUE
 * bytes, a graph's to KEY_GRAPH_TEXT. Texts that were not made by key_add() are none: nothing is found in them.
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
/* A line as torch has it. What is no such line is left out, and what is beyond KEY_COMPONENTS. */
void key_add(struct key_lines *k, struct slice line);
void key_release(struct key_lines *k);

struct key_part {
	struct slice hash, name, value;
};
/* Of a kept text the component of that name; name.n is 0 where there is none. */
struct key_part key_part_named(struct slice text, const char *name);

/* A component that two keys have otherwise; before.n, after.n 0: only the other has it. The texts live in the arena. Of values with several
 * lines they are the first lines that differ. order: what tells most is first. */
struct key_change {
	struct slice name, before, after;
	uint32_t order;
};
/* The texts of two keys, KEY_TEXTS each. How many differ (of which `most` are written), the most telling first: the release, the system,
 * settings, then inputs, then the graph, which follows from inputs. */
uint32_t key_compare(const struct slice *a, const struct slice *b, struct key_change *out, uint32_t most, struct arena *arena);
/* "mm, relu, sum": what a key's graph calls, each once, in order. */
void key_graph_ops(struct slice graph_text, struct buf *b);

#endif
