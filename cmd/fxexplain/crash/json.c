/* --json:
 *     {"kind": "behind-memory", "owner": "kernel", "title": "...", "why": [...], "next": [...],
 *      "signal": "SIGSEGV", "code": 1, "address": "0x..", "write": false, "ip": "0x..", "pid": 12, "command": "...",
 *      "said": "...", "exception": "...", "what": "...", "operand": "...",
 *      "call": {"name", "how": "line"|"name"|"order", "line", "nodes": [...], "pre_nodes": [...], "python": [...],
 *               "arguments": [{"name", "what", "role", "dtype", "sizes", "strides"}]} or null,
 *      "registers": {"rip": "0x.."}, "stacks": [{"name", "crashed", "python", "frames": [
 *          {"number", "form", "owner", "handler", "guessed", "address", "module", "offset", "symbol", "in_symbol", "file", "line", "text",
 *           "kernel", "model", "build_id"}]}]}
 * Addresses are strings of hexadecimal digits; what is not known is null. The first stack with "main": true is the one explained. */
#include "crash/crash_part.h"

#include "base/json.h"
#include "tensor/dtype.h"

static void hex_member(struct json_out *o, const char *key, bool known, uint64_t v)
{
	char text[24];
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)v);
	json_member(o, key, known ? slice_str(text) : (struct slice){0});
}

static void arguments(struct json_out *o, const struct contract *c, const struct contract_call *call)
{
	LOCAL_BUF b = {0};
	json_member_arr(o, "arguments");
	for (uint32_t i = 0; i < call->n_args; i++) {
		const struct contract_arg *a = &c->arg[call->arg + i];
		if (a->value == NONE || a->value >= c->n_values)
			continue;
		const struct contract_value *v = &c->value[a->value];
		json_obj(o);
		json_member(o, "name", v->name);
		buf_reset(&b);
		crash_value_kind(&b, c, v);
		json_member(o, "what", buf_slice(&b));
		json_member(o, "role", slice_str(crash_role(a->role)));
		json_member(o, "dtype", v->dtype == DTYPE_NONE ? (struct slice){0} : slice_str(dtype_name(v->dtype)));
		for (int k = 0; k < 2; k++) {
			buf_reset(&b);
			crash_sizes(&b, c, v, k);
			json_member(o, k ? "strides" : "sizes", buf_slice(&b));
		}
		json_close(o);
	}
	json_close(o);
}

static void call(struct json_out *o, const struct crash_place *p)
{
	if (!json_member_obj_if(o, "call", p && p->call))
		return;
	json_member(o, "name", p->call->name);
	json_member(o, "how", slice_str(crash_known_name(p->known)));
	json_member_u64(o, "line", p->call->line);
	json_member(o, "source_nodes", p->call->nodes);
	json_member_texts(o, "nodes", p->source.node, p->source.n_nodes);
	json_member_texts(o, "pre_nodes", p->source.pre, p->source.n_pre);
	json_member_texts(o, "python", p->source.line, p->source.n_lines);
	arguments(o, &p->library->loaded.contract, p->call);
	json_close(o);
}

static void frame(struct json_out *o, const struct crash_frame *f, const struct crash_place *p)
{
	json_obj(o);
	json_member_index(o, "number", f->number);
	json_member(o, "form", slice_str(crash_form_name(f->form)));
	json_member(o, "owner", slice_str(crash_owner_name(p->owner)));
	json_fields(o, *f, handler, guessed);
	hex_member(o, "address", f->has & HAS_ADDRESS, f->address);
	json_member(o, "module", f->module);
	hex_member(o, "offset", p->has_address || f->has & HAS_OFFSET, p->has_address ? p->address : f->offset);
	json_member(o, "symbol", f->symbol.n ? f->symbol : p->symbol);
	hex_member(o, "in_symbol", f->has & HAS_IN_SYMBOL, f->in_symbol);
	json_member(o, "file", p->line ? p->file : f->file);
	json_member_u64(o, "line", p->line ? p->line : f->line);
	json_fields(o, *p, text, kernel);
	json_member(o, "model", p->library ? p->library->loaded.model->name : (struct slice){0});
	json_member(o, "build_id", f->build_id);
	json_close(o);
}

static void stacks(struct json_out *o, const struct crash_answer *a)
{
	const struct crash_stack *main = crash_main_stack(&a->crash);
	json_rows(o, "stacks", i, a->crash.n_stacks) {
		const struct crash_stack *s = &a->crash.stack[i];
		json_member(o, "name", s->name);
		json_member_bool(o, "main", s == main);
		json_fields(o, *s, crashed, python);
		json_member_arr(o, "frames");
		for (uint32_t k = s->first; k < s->first + s->n; k++)
			frame(o, &a->crash.frame[k], &a->map.place[k]);
		json_close(o);
	}
}

static void registers(struct json_out *o, const struct crash_registers *r)
{
	json_member_obj(o, "registers");
	for (unsigned i = 0; i < r->n; i++)
		hex_member(o, r->name[i], true, r->value[i]);
	json_close(o);
}

void crash_json(struct buf *b, const struct crash_answer *a)
{
	struct json_out o = {.b = b};
	const struct crash *c = &a->crash;
	const struct crash_verdict *v = &a->verdict;
	json_obj(&o);
	json_member(&o, "schema", SLICE("pt2utils.crash/1"));
	json_member(&o, "kind", slice_str(crash_kind_name(v->kind)));
	json_member(&o, "owner", slice_str(crash_owner_name(v->owner)));
	json_member(&o, "title", v->title);
	json_member_texts(&o, "why", v->why, v->n_why);
	json_member_texts(&o, "next", v->step, v->n_steps);
	json_member(&o, "signal", c->signal ? slice_str(crash_signal_name((struct crash *)(uintptr_t)c, c->signal)) : (struct slice){0});
	if (c->has_code)
		json_member_i64(&o, "code", c->code);
	else
		json_member_null(&o, "code");
	hex_member(&o, "address", c->has_fault, c->fault);
	if (c->has_access)
		json_member_bool(&o, "write", c->fault_write);
	else
		json_member_null(&o, "write");
	hex_member(&o, "ip", c->has_ip, c->ip);
	json_fields(&o, *c, pid, command, said, exception, what);
	json_fields(&o, *a, operand, unwinding, missing);
	call(&o, v->call_frame == NONE ? NULL : &a->map.place[v->call_frame]);
	registers(&o, &c->reg);
	stacks(&o, a);
	json_close(&o);
	buf_addc(b, '\n');
}
