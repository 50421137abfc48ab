/* graph/inductor/ir: today's form (recorded), the form of 2.0 to 2.3 (by hand, after its guides), fused nodes, damage. */
#include "graph/inductor/ir.h"

#include "../../lib/inductor.h"

static struct guard guard;
static struct buf text;

static void read_text(struct irtext *t, const char *name)
{
	if (!data_load(name, &text))
		fail_msg("%s is not there", name);
	irtext_read(t, slice_of(guard_put(&guard, text.p, text.len), text.len));
}

static void assert_names(const struct irtext *t, uint32_t first, uint32_t n, const char *want)
{
	struct buf b = {0};
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&b, "%s%.*s", i ? " " : "", SL(t->name[first + i]));
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void test_old(void **state)
{
	(void)state;
	struct irtext t;
	read_text(&t, "inductor/old_ir.txt");
	assert_int_equal(t.n_node, 3);
	const struct irnode *n = &t.node[0];
	assert_text(n->name, "buf0");
	assert_text(n->kind, "SchedulerNode");
	assert_text(n->ir, "ComputedBuffer");
	assert_text(n->device, "cpu");
	assert_text(n->group, "((40, 8), ())");
	assert_text(n->sizes, "([40, 8], [])");
	assert_text(n->ranges, "{z0: 40, z1: 8}");
	assert_names(&t, n->write, n->n_writes, "buf0");
	assert_names(&t, n->met, n->n_met, "arg0_1 arg1_1");
	assert_int_equal(n->n_unmet, 0);
	assert_int_equal(n->n_outs, 1);
	assert_text(t.out[n->out].name, "buf0");
	assert_names(&t, t.out[n->out].user, t.out[n->out].n_users, "buf1 OUTPUT");
	assert_int_equal(n->n_indexes, 2);
	assert_text(t.index[n->index + 1].expr, "z1");
	assert_int_equal(n->n_ops, 8);
	assert_text(t.op[n->op + 4].name, "neg");
	assert_text(t.op[n->op + 4].result, "neg");
	assert_text(t.op[n->op + 5].args, "load, neg");
	assert_int_equal(t.op[n->op + 5].line, 21);
	assert_int_equal(n->line, 1);
	n = &t.node[1]; /* sets, and what has been written before */
	assert_names(&t, n->unmet, n->n_unmet, "buf0");
	assert_int_equal(n->n_met, 0);
	assert_text(n->device, "cuda:0");
	n = &t.node[2];
	assert_text(n->kind, "ExternKernelSchedulerNode");
	assert_text(n->kernel, "extern_kernels.mm");
	assert_names(&t, n->unmet, n->n_unmet, "buf1");
	assert_int_equal(irtext_node(&t, SLICE("buf9")), NONE);
	irtext_release(&t);
}

static void test_today(void **state)
{
	(void)state;
	static const char one[] = "op0_op1: FusedSchedulerNode(SchedulerNode,SchedulerNode)\n"
				  "op0_op1.writes = [MemoryDep('buf0', c0, {c0: 6}), MemoryDep('buf1', c0, {c0: 6})]\n"
				  "op0_op1.unmet_dependencies = []\n"
				  "op0_op1.met_dependencies = [StarDep('arg0_1')]\n"
				  "op0_op1.outputs = [\n"
				  "    buf0: ComputedBuffer\n"
				  "    buf0.layout = FixedLayout('cpu', torch.bool, size=[6, 1], stride=[1, 6])\n"
				  "    buf0.users = [\n"
				  "        NodeUser(node=SchedulerNode(name='op1'), can_inplace=False, is_weak=False),\n"
				  "        NodeUser(node=OUTPUT, can_inplace=True, is_weak=False),\n"
				  "    ]\n"
				  "    buf1: ComputedBuffer\n"
				  "]\n"
				  "    op0_op1.snodes[0] =\n"
				  "    op0: SchedulerNode(ComputedBuffer)\n"
				  "    op0.writes = [MemoryDep('buf0', c0, {c0: 6})]\n"
				  "    op0.group.device = cpu\n"
				  "    class op0_loop_body:\n"
				  "        var_ranges = {p0: 6}\n"
				  "        index0 = 20*indirect0 + p0\n"
				  "        def body(self, ops):\n"
				  "            load = ops.load('arg0_1', get_index)\n"
				  "            set_indirect0 = self.set_indirect0(load)\n"
				  "            reduction = ops.reduction(torch.float32, torch.float32, 'welford_reduce', load)\n"
				  "            getitem = reduction[0]\n"
				  "            return None\n"
				  "        def masked_subblock1(self, ops):\n"
				  "            exp = ops.exp(load)\n"
				  "    op0_op1.snodes[1] =\n"
				  "    op1: SchedulerNode(ComputedBuffer)\n"
				  "    op1.writes = [MemoryDep('buf1', c0, {c0: 6})]\n"
				  "\n\n"
				  "op2: NopKernelSchedulerNode(ConcatKernel)\n"
				  "op2.writes = [StarDep('buf2')]";
	struct irtext t;
	irtext_read(&t, slice_of(guard_put(&guard, one, sizeof(one) - 1), sizeof(one) - 1));
	assert_int_equal(t.n_node, 4);
	assert_int_equal(t.node[0].members, 2);
	assert_int_equal(t.node[1].parent, 0);
	assert_int_equal(t.node[2].parent, 0);
	assert_int_equal(t.node[3].parent, NONE);
	assert_int_equal(irtext_outermost(&t, 2), 0);
	assert_int_equal(t.node[0].last, 31);
	assert_int_equal(t.node[0].n_outs, 2);
	const struct irout *o = &t.out[t.node[0].out];
	assert_text(o->name, "buf0");
	assert_text(o->layout, "FixedLayout('cpu', torch.bool, size=[6, 1], stride=[1, 6])");
	assert_names(&t, o->user, o->n_users, "op1 OUTPUT");
	assert_names(&t, t.node[0].met, t.node[0].n_met, "arg0_1");
	const struct irnode *n = &t.node[1];
	assert_int_equal(n->n_ops, 5);
	assert_true(t.op[n->op + 1].self);
	assert_text(t.op[n->op + 1].name, "set_indirect0");
	assert_text(t.op[n->op + 3].name, "getitem");
	assert_text(t.op[n->op + 3].args, "reduction");
	assert_int_equal(t.op[n->op + 4].block, 1);
	assert_int_equal(n->body, 18);
	assert_int_equal(n->body_last, 28);
	struct slice rest = t.op[n->op + 2].args, arg;
	assert_true(irop_arg(&rest, &arg) && irop_arg(&rest, &arg) && irop_arg(&rest, &arg));
	assert_text(ir_unquote(arg), "welford_reduce");
	assert_true(irop_arg(&rest, &arg) && !irop_arg(&rest, &arg));
	irtext_release(&t);
}

/* Cut anywhere, it reads what is there. */
static void test_cut(void **state)
{
	(void)state;
	struct irtext t;
	assert_true(data_load("inductor/old_ir.txt", &text));
	struct buf whole = text;
	for (size_t n = 0; n <= whole.len; n += 1 + n / 37) {
		irtext_read(&t, slice_of(guard_put(&guard, whole.p, n), n));
		assert_in_range(t.n_node, 0, 3);
		irtext_release(&t);
	}
	irtext_read(&t, SLICE("nothing of the sort\n"));
	assert_int_equal(t.n_node, 0);
	irtext_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_old), cmocka_unit_test(test_today), cmocka_unit_test(test_cut)};
	int rc = RUN(tests);
	guard_release(&guard);
	buf_release(&text);
	return rc;
}
