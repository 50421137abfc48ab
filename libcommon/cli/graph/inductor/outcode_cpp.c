/* outcode_cpp.c - AOTInductor's C++: calls from the contract that model/cppwrapper/wrapper.h reads, kernels from the text. */
#include "model/cppwrapper/wrapper.h"
#include "base/rows.h"
#include "graph/inductor/outcode.h"
#include "graph/inductor/words.h"

/* Functions declared extern "C" with a body: up to the closing brace at the start of a line. */
static void find_kernels(struct outcode *o, struct slice text, bool kernel_file)
{
	struct slice rest = text, line;
	for (uint32_t n = 1; slice_line(&rest, &line); n++) {
		if (!slice_starts(line, "extern \"C\""))
			continue;
		const char *from = line.p, *end = NULL;
		uint32_t first = n;
		const char *open = memchr(from, '(', (size_t)(text.p + text.n - from));
		bool body = false;
		for (;;) {
			if (slice_ends(line, ";") && !body)
				break; /* only declared */
			body |= slice_starts(line, "{") || slice_ends(line, "{");
			if (body && slice_starts(line, "}")) {
				end = line.p + line.n;
				break;
			}
			if (!slice_line(&rest, &line))
				break;
			n++;
		}
		if (!end || !open)
			continue;
		const char *word = open;
		while (word > from && is_name_char(word[-1]))
			word--;
		if (word == open)
			continue;
		uint32_t k =
		    outcode_add_kernel(o, slice_of(word, (size_t)(open - word)), OUT_CPP, slice_of(from, (size_t)(end - from)), first);
		if (k != NONE)
			o->kernel[k].in_kernel_file = kernel_file;
	}
}

/* The lines of a text without the indentation of the first one; *empty leading lines are skipped. */
static struct slice without_indent(struct outcode *o, struct slice text, uint32_t *empty)
{
	struct slice rest = text, line;
	LOCAL_BUF b = {0};
	size_t indent = 0;
	for (*empty = 0; slice_line(&rest, &line) && !slice_trim(line).n; (*empty)++)
		text = rest;
	rest = text;
	while (indent < text.n && text.p[indent] == ' ')
		indent++;
	while (indent && slice_line(&rest, &line)) {
		size_t n = 0;
		while (n < indent && n < line.n && line.p[n] == ' ')
			n++;
		buf_add_slice(&b, slice_of(line.p + n, line.n - n));
		buf_addc(&b, '\n');
	}
	return indent ? arena_slice(&o->arena, buf_slice(&b)) : text;
}

/* Triton's kernels: a comment in each kernel's launching function (torch 2.13, torch/_inductor/codegen/cpp_wrapper_gpu.py,
 * DeferredTritonCallWrapper.generate()):
 *
 *     static __attribute__((noinline)) void call_triton_poi_fused_cos_0(
 *         ...
 *         async_compile.triton('triton_poi_fused_cos_0', '''
 *         import triton
 *         ...
 *         ''', device_str='cuda')
 */
static void find_triton(struct outcode *o, struct slice text)
{
	static const char launcher[] = " void call_", source[] = "async_compile.triton(";
	struct slice rest = text, line, name = SLICE("");
	for (uint32_t n = 1; slice_line(&rest, &line); n++) {
		const char *at = slice_starts(line, "static ") ? slice_find(line, launcher) : NULL;
		if (at) {
			struct slice s = slice_of(at + strlen(launcher), (size_t)(line.p + line.n - at) - strlen(launcher));
			name = slice_of(s.p, 0);
			while (name.n < s.n && is_name_char(s.p[name.n]))
				name.n++;
			continue;
		}
		if (!name.n || !slice_starts(slice_trim(line), source) || !slice_ends(line, "'''"))
			continue;
		const char *from = rest.p, *to = from;
		uint32_t first = n + 1, empty;
		while (slice_line(&rest, &line) && !slice_starts(slice_trim(line), "'''")) {
			to = line.p + line.n;
			n++;
		}
		n++;
		struct slice body = without_indent(o, slice_of(from, (size_t)(to - from)), &empty);
		outcode_add_kernel(o, name, OUT_TRITON, body, first + empty);
		name.n = 0;
	}
}

static void add_call(struct outcode *o, const struct contract *c, const struct contract_call *from)
{
	if (o->n_call >= OUTCODE_MAX)
		return;
	struct outcall *call = &PUSH(o, call);
	*call = (struct outcall){.name = arena_slice(&o->arena, from->name), .line = from->line, .last = from->line};
	call->kernel = outcode_kernel(o, call->name);
	call->notes.source = outcode_add_names(o, arena_slice(&o->arena, from->nodes));
	call->notes.aten = outcode_add_names(o, arena_slice(&o->arena, from->aten));
	call->arg = (struct outlist){o->n_name, 0};
	for (uint32_t i = 0; i < from->n_args; i++) {
		const struct contract_arg *a = &c->arg[from->arg + i];
		struct slice name = a->value == NONE ? SLICE("") : arena_slice(&o->arena, c->value[a->value].name);
		if (outcode_add_name(o, name))
			call->arg.n++;
	}
	call->made = (struct outlist){o->n_name, 0};
	for (uint32_t i = 0; i < from->n_args && call->kernel == NONE; i++) {
		const struct contract_arg *a = &c->arg[from->arg + i];
		if (a->value != NONE && (a->role == ARG_OUT || a->role == ARG_INOUT) &&
		    outcode_add_name(o, arena_slice(&o->arena, c->value[a->value].name)))
			call->made.n++;
	}
}

/* "// [Provenance debug handles] NAME:HANDLE": it belongs to the next call at or after its line. */
static void find_handles(struct outcode *o, struct slice text)
{
	static const char mark[] = "[Provenance debug handles] ";
	struct slice rest = text, line;
	uint32_t next = 0;
	for (uint32_t n = 1; slice_line(&rest, &line) && next < o->n_call; n++) {
		const char *at = slice_find(line, mark);
		if (!at)
			continue;
		struct slice handle = slice_trim(slice_of(at + sizeof(mark) - 1, (size_t)(line.p + line.n - at) - (sizeof(mark) - 1)));
		while (next < o->n_call && o->call[next].line < n)
			next++;
		if (next < o->n_call)
			o->call[next].notes.handle = handle;
	}
}

/* Values of one storage, in text order: each is another name for the previous one. */
static void add_aliases(struct outcode *o, const struct contract *c)
{
	uint32_t *last = xcalloc((size_t)c->n_storages + 1, sizeof(*last)); /* value + 1 */
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct contract_value *v = &c->value[i];
		if (v->kind != VALUE_BUFFER || v->storage >= c->n_storages)
			continue;
		if (last[v->storage]) {
			outcode_add_alias(o, (struct outalias){
						 .name = arena_slice(&o->arena, v->name),
						 .of = arena_slice(&o->arena, c->value[last[v->storage] - 1].name),
					     });
		}
		last[v->storage] = i + 1;
	}
	free(last);
}

int outcode_read_cpp(struct outcode *o, struct slice wrapper, struct slice kernels, struct err *err)
{
	OWNED(contract_release) struct contract c = {0};
	*o = (struct outcode){.cpp_wrapper = true};
	if (wrapper_read(&c, wrapper, kernels, err) < 0)
		return -1;
	find_kernels(o, kernels, true);
	find_kernels(o, wrapper, false);
	find_triton(o, wrapper);
	for (uint32_t i = 0; i < c.n_calls; i++)
		add_call(o, &c, &c.call[i]);
	find_handles(o, wrapper);
	add_aliases(o, &c);
	o->input = (struct outlist){o->n_name, 0};
	for (uint32_t i = 0; i < c.n_inputs; i++)
		if (outcode_add_name(o, arena_slice(&o->arena, c.input[i].name)))
			o->input.n++;
	o->result = (struct outlist){o->n_name, 0};
	for (uint32_t i = 0; i < c.n_outputs; i++) {
		uint32_t v = c.output[i].value;
		if (outcode_add_name(o, v == NONE ? SLICE("") : arena_slice(&o->arena, c.value[v].name)))
			o->result.n++;
	}
	return 0;
}
