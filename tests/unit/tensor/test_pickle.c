/* tensor/pickle and .pt files: what torch.save writes, and streams that no Python would. */
#include "../../lib/test.h"

#include "../../lib/mkzip.h"
#include "base/io/zip.h"
#include "tensor/pickle.h"

static struct guard g;

/* ---- streams ---- */

static void p_str(struct buf *b, const char *s)
{
	buf_addc(b, 'X');
	mkzip_int(b, 4, strlen(s));
	buf_adds(b, s);
}

static void p_int(struct buf *b, int32_t v)
{
	buf_addc(b, 'J');
	mkzip_int(b, 4, (uint32_t)v);
}

static void p_tuple(struct buf *b, const int32_t *v, unsigned n)
{
	buf_addc(b, '(');
	for (unsigned i = 0; i < n; i++)
		p_int(b, v[i]);
	buf_addc(b, 't');
}

struct made {
	const char *type, *key, *location;
	int32_t numel, offset;
	unsigned n;
	int32_t size[4], stride[4];
};

/* The call of _rebuild_tensor_v2 that torch.save writes. */
static void p_tensor(struct buf *b, const struct made *m)
{
	buf_adds(b, "ctorch._utils\n_rebuild_tensor_v2\n((");
	p_str(b, "storage");
	buf_addf(b, "ctorch\n%s\n", m->type);
	p_str(b, m->key);
	p_str(b, m->location);
	p_int(b, m->numel);
	buf_adds(b, "tQ");
	p_int(b, m->offset);
	p_tuple(b, m->size, m->n);
	p_tuple(b, m->stride, m->n);
	buf_adds(b, "\x89"
		    "ccollections\nOrderedDict\n)RtR");
}

static const struct made floats = {"FloatStorage", "0", "cpu", 6, 0, 2, {2, 3}, {3, 1}};

static void p_begin(struct buf *b)
{
	buf_reset(b);
	buf_add(b, "\x80\2", 2);
}

/* ---- the machine ---- */

static int run(struct pickle *p, struct slice s, struct err *err)
{
	return pickle_read(p, slice_of(guard_put(&g, s.p, s.n), s.n), "t.pt", err);
}

static void refused(struct slice s, const char *why)
{
	struct pickle p;
	struct err err = {0};
	assert_int_equal(run(&p, s, &err), -1);
	if (!strstr(err.text, why) || !slice_starts(slice_str(err.text), "'t.pt': ") || err.status != EXIT_INPUT)
		fail_msg("'%s' has no '%s'", err.text, why);
}

static const struct pickle_node *top(struct pickle *p, struct slice s)
{
	struct err err = {0};
	if (run(p, s, &err) < 0)
		fail_msg("%s", err.text);
	return pickle_node(p, p->top);
}

static void is_int(struct slice s, int64_t want)
{
	struct pickle p;
	const struct pickle_node *n = top(&p, s);
	assert_int_equal(n->kind, PICKLE_INT);
	assert_int_equal(n->i, want);
	pickle_release(&p);
}

static void is_kind(struct slice s, enum pickle_kind kind, uint32_t n)
{
	struct pickle p;
	const struct pickle_node *t = top(&p, s);
	assert_int_equal(t->kind, kind);
	assert_int_equal(t->n, n);
	pickle_release(&p);
}

static void test_values(void **state)
{
	(void)state;
	is_int(SLICE("K\xff."), 255);
	is_int(SLICE("M\x01\x02."), 0x201);
	is_int(SLICE("J\xfe\xff\xff\xff."), -2);
	is_int(SLICE("\x80\2\x8a\0."), 0);
	is_int(SLICE("\x8a\1\xff."), -1);
	is_int(SLICE("\x8a\2\xff\0."), 255);
	is_int(SLICE("\x8a\x8\0\0\0\0\0\0\0\x80."), INT64_MIN);
	is_int(SLICE("\x8b\1\0\0\0\5."), 5);
	is_kind(SLICE("\x8a\x9\0\0\0\0\0\0\0\0\1."), PICKLE_OTHER, 0);
	is_kind(SLICE("N."), PICKLE_NONE, 0);
	is_kind(SLICE("\x88."), PICKLE_BOOL, 0);
	is_kind(SLICE("X\2\0\0\0ab."), PICKLE_STR, 2);
	is_kind(SLICE("\x8c\2ab."), PICKLE_STR, 2);
	is_kind(SLICE("C\2ab."), PICKLE_BYTES, 2);
	is_kind(SLICE("]."), PICKLE_LIST, 0);
	is_kind(SLICE("]K\1a."), PICKLE_LIST, 1);
	is_kind(SLICE("](K\1K\2e."), PICKLE_LIST, 2);
	is_kind(SLICE(")."), PICKLE_TUPLE, 0);
	is_kind(SLICE("K\1\x85."), PICKLE_TUPLE, 1);
	is_kind(SLICE("K\1K\2K\3\x87."), PICKLE_TUPLE, 3);
	is_kind(SLICE("(K\1K\2K\3K\4t."), PICKLE_TUPLE, 4);
	is_kind(SLICE("}X\1\0\0\0aK\1s."), PICKLE_DICT, 2);
	is_kind(SLICE("}(X\1\0\0\0aK\1X\1\0\0\0bK\1u."), PICKLE_DICT, 4);
	is_kind(SLICE("\x8f(K\1\x90."), PICKLE_SET, 1);
	is_kind(SLICE("c__builtin__\nset\n](K\1K\2e\x85R."), PICKLE_SET, 2);
	is_kind(SLICE("cbuiltins\nfrozenset\n]\x85R."), PICKLE_SET, 0);
	is_kind(SLICE("c_codecs\nencode\nX\1\0\0\0aX\6\0\0\0latin1\x86R."), PICKLE_BYTES, 1);
	is_kind(SLICE("ccollections\nOrderedDict\n)R."), PICKLE_DICT, 0);
	is_kind(SLICE("ccollections\nOrderedDict\n]]X\1\0\0\0aaK\1aa\x85R}X\1\0\0\0mNsb."), PICKLE_DICT, 2);
	is_kind(SLICE("ctorch\nSize\nK\1K\2\x86\x85R."), PICKLE_TUPLE, 2);
	is_kind(SLICE("ctorch\ndevice\nX\3\0\0\0cpu\x85R."), PICKLE_OTHER, 0);
	is_kind(SLICE("ctorch\nbfloat16\n."), PICKLE_GLOBAL, DTYPE_BF16);
	is_kind(SLICE("\x8c\x05torch\x8c\x05int64\x93."), PICKLE_GLOBAL, DTYPE_I64);
	is_kind(SLICE("(K\1K\2"
		      "1N."),
		PICKLE_NONE, 0);
	is_kind(SLICE("K\1"
		      "0N."),
		PICKLE_NONE, 0);
	/* An object among the attributes of a tensor subclass. */
	is_kind(SLICE("ctorch._utils\n_rebuild_wrapper_subclass\n"
		      "0cmine\nKind\n)\x81}b."),
		PICKLE_OTHER, 0);
	struct pickle p;
	const struct pickle_node *t = top(&p, SLICE("G\x3f\xf8\0\0\0\0\0\0."));
	assert_true(t->kind == PICKLE_FLOAT && t->f == 1.5);
	pickle_release(&p);
	/* Memo by BINPUT, LONG_BINPUT and MEMOIZE. */
	is_int(SLICE("K\7q\0"
		     "0h\0."),
	       7);
	is_int(SLICE("K\7r\5\0\0\0"
		     "0j\5\0\0\0."),
	       7);
	is_int(SLICE("K\7\x94K\x8\x94"
		     "00h\1."),
	       8);
}

static void test_refused(void **state)
{
	(void)state;
	refused(SLICE("cos\nsystem\nX\2\0\0\0ls\x85R."), "refuses global 'os.system': only tensors and plain containers are read");
	refused(SLICE("\x8c\2os\x8c\6system\x93."), "refuses global 'os.system'");
	refused(SLICE("cbuiltins\neval\n."), "refuses global 'builtins.eval'");
	refused(SLICE("c__builtin__\ngetattr\n."), "refuses global '__builtin__.getattr'");
	refused(SLICE("ctorch\nload\n."), "refuses global 'torch.load'");
	refused(SLICE("ctorch\ntorch.float32\n."), "refuses global 'torch.torch.float32'");
	refused(SLICE("ctorch.storage\n_load_from_bytes\n."), "refuses global 'torch.storage._load_from_bytes'");
	refused(SLICE("ctorch._utils\n_rebuild_sparse_tensor\n."), "save it as a plain dense tensor");
	refused(SLICE("c__main__\nNet\n."), "save the model's state_dict()");
	refused(SLICE("cnumpy.core.multiarray\n_reconstruct\n."), "torch.from_numpy(array)");
	refused(SLICE("i__main__\nNet\n."), "refuses opcode 0x69");
	refused(SLICE(")\x81."), "refuses opcode 0x81");
	refused(SLICE("\x80\6."), "protocol 6");
	refused(SLICE("]}b."), "refuses to set attributes");
	refused(SLICE("ctorch\nfloat32\n)R."), "it calls a type");
	refused(SLICE("K\1)R."), "it calls something other than a function");
	refused(SLICE("ctorch\nSize\nK\1R."), "it calls something other than a function");
}

static void test_broken(void **state)
{
	(void)state;
	static const struct {
		struct slice s;
		const char *why;
	} broken[] = {
	    {{"", 0}, "ends at byte 0"},
	    {{"K", 1}, "is truncated"},
	    {{"K\1", 2}, "ends at byte 2"},
	    {{"X\377\377\377\377ab.", 8}, "is truncated"},
	    {{"\215\377\377\377\377\377\377\377\377.", 10}, "is truncated"},
	    {{"ctorch\nSi", 9}, "unterminated name"},
	    {{".", 1}, "unused values"},
	    {{"NN.", 3}, "unused values"},
	    {{"N(.", 3}, "unused values"},
	    {{"0.", 2}, "more values from the stack than there are"},
	    {{"2.", 2}, "more values from the stack than there are"},
	    {{"N(0"
	      "00.",
	      6},
	     "more values from the stack than there are"},
	    {{"t.", 2}, "a mark that was not set"},
	    {{"1.", 2}, "a mark that was not set"},
	    {{"N\206.", 3}, "more values from the stack than there are"},
	    {{"N(N\206.", 5}, "more values from the stack than there are"},
	    {{"h\0.", 3}, "an unset memo entry"},
	    {{"j\377\377\377\377.", 6}, "an unset memo entry"},
	    {{"Nr\377\377\377\377.", 7}, "a memo number is impossibly high"},
	    {{"Nr\7\0\0\0.", 7}, "a memo number is impossibly high"},
	    {{"q\0.", 3}, "more values from the stack than there are"},
	    {{"NNa.", 4}, "items for something other than a list"},
	    {{"]NNs.", 5}, "items for something other than a dict"},
	    {{"](N\220.", 5}, "items for something other than a set"},
	    {{"(Ne.", 4}, "items for a missing container"},
	    {{"](N(e.", 6}, "items for something other than a list"},
	    {{"}(Nu.", 5}, "missing value of a dict key"},
	    {{"(Nd.", 4}, "missing value of a dict key"},
	    {{"NQ.", 3}, "unexpected name of a storage"},
	    {{"NN\223.", 4}, "the name of a global is not text"},
	    {{"ccollections\nOrderedDict\n]Na\205R.", 31}, "not created from pairs"},
	    {{"c__builtin__\nset\nN\205R.", 21}, "not created from a list"},
	    {{"c_codecs\nencode\n)R.", 19}, "bytes are not created from text"},
	};
	for (size_t i = 0; i < ARRAY_LEN(broken); i++)
		refused(broken[i].s, broken[i].why);
}

/* Depth costs no stack of ours, and sets of one long list no memory beyond a multiple of the stream. */
static void test_bounded(void **state)
{
	(void)state;
	struct buf b = {0};
	for (unsigned i = 0; i < 300000; i++)
		buf_addc(&b, ']');
	for (unsigned i = 1; i < 300000; i++)
		buf_addc(&b, 'a');
	buf_addc(&b, '.');
	is_kind(buf_slice(&b), PICKLE_LIST, 1);
	buf_reset(&b);
	for (unsigned i = 0; i < 300000; i++)
		buf_addc(&b, '(');
	refused(buf_slice(&b), "is truncated");
	buf_reset(&b);
	buf_adds(&b, "](");
	for (unsigned i = 0; i < 5000; i++)
		buf_addc(&b, 'N');
	buf_adds(&b, "eq");
	buf_addc(&b, 0);
	for (unsigned i = 0; i < 5000; i++) {
		buf_adds(&b, "cbuiltins\nset\nh");
		buf_addc(&b, 0);
		buf_adds(&b, "\x85R0");
	}
	buf_addc(&b, '.');
	refused(buf_slice(&b), "copies its containers too often");
	buf_release(&b);
}

static void test_tensors(void **state)
{
	(void)state;
	struct buf b = {0};
	struct pickle p;
	p_begin(&b);
	p_tensor(&b, &(struct made){"BFloat16Storage", "7", "cuda:1", 60, 4, 2, {2, 3}, {20, 2}});
	buf_addc(&b, '.');
	const struct pickle_node *n = top(&p, buf_slice(&b));
	assert_int_equal(n->kind, PICKLE_TENSOR);
	assert_text(n->tensor->storage->key, "7");
	assert_int_equal(n->tensor->storage->numel, 60);
	assert_int_equal(n->tensor->offset, 4);
	struct tensor_meta m;
	struct buf spec = {0};
	pickle_tensor_meta(&p, n->tensor, &m);
	tensor_spec_print(&m, &spec);
	assert_text(buf_slice(&spec), "bf16[2,3]/(20,2)@cuda:1");
	buf_release(&spec);
	pickle_release(&p);
	static const struct {
		struct made m;
		const char *why;
	} bad[] = {
	    {{"FloatStorage", "0", "cpu", 6, 0, 2, {2, -3}, {3, 1}}, "sizes are not up to 64 non-negative numbers"},
	    {{"FloatStorage", "0", "cpu", 6, 0, 2, {2, 3}, {-3, 1}}, "strides do not match its sizes"},
	    {{"FloatStorage", "0", "cpu", 6, -1, 2, {2, 3}, {3, 1}}, "unexpected arguments for a"},
	    {{"FloatStorage", "0", "cpu", -6, 0, 2, {2, 3}, {3, 1}}, "unexpected name of a storage"},
	    {{"FloatStorage", "0", "cpu", 6, 0, 4, {INT32_MAX, INT32_MAX, INT32_MAX, 2}, {1, 1, 1, 1}}, "too large"},
	    {{"FloatStorage", "0", "cpu", 6, 0, 3, {INT32_MAX, INT32_MAX, 5}, {INT32_MAX, INT32_MAX, INT32_MAX}}, "too large"},
	    {{"FloatStorage", "0", "npu:0", 6, 0, 2, {2, 3}, {3, 1}}, "a tensor is on the unknown device 'npu:0'"},
	    {{"float32", "0", "cpu", 6, 0, 2, {2, 3}, {3, 1}}, "unexpected name of a storage"},
	    {{"QUInt4x2Storage", "0", "cpu", 6, 0, 2, {2, 3}, {3, 1}}, "refuses global 'torch.QUInt4x2Storage'"},
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		p_begin(&b);
		p_tensor(&b, &bad[i].m);
		buf_addc(&b, '.');
		refused(buf_slice(&b), bad[i].why);
	}
	/* A Parameter is its tensor; only a tensor makes one. */
	p_begin(&b);
	buf_adds(&b, "ctorch._utils\n_rebuild_parameter\n(");
	p_tensor(&b, &floats);
	buf_adds(&b, "\x88"
		     "ccollections\nOrderedDict\n)RtR.");
	is_kind(buf_slice(&b), PICKLE_TENSOR, 0);
	refused(SLICE("ctorch._utils\n_rebuild_parameter\nNNN\x87R."), "unexpected arguments for a Parameter");
	/* _rebuild_from_type_v2 of itself would be a way to nest. */
	refused(SLICE("ctorch._tensor\n_rebuild_from_type_v2\n(h\0ctorch\nTensor\n)Nt."), "an unset memo entry");
	refused(SLICE("ctorch._tensor\n_rebuild_from_type_v2\nq\0(h\0ctorch\nTensor\n)NtR."),
		"unexpected arguments for a tensor with attributes");
	buf_release(&b);
}

/* ---- whole files ---- */

static void pt(struct mkzip *z, struct slice pickle, const char *byteorder, size_t storage)
{
	static const char zeros[64];
	*z = (struct mkzip){0};
	mkzip_add(z, "a/data.pkl", pickle, 0);
	if (byteorder)
		mkzip_add(z, "a/byteorder", slice_str(byteorder), 0);
	mkzip_add(z, "a/data/0", slice_of(zeros, storage), 0);
	mkzip_end(z);
}

/* The names of a file's tensors, in order, as "a f32[2,3];b f32[2];". */
static void names_are(struct slice bytes, const char *want)
{
	struct err err = {0};
	struct buf b = {0};
	struct slice data;
	struct tensor_file *f = tensor_file_bytes(slice_of(guard_put(&g, bytes.p, bytes.n), bytes.n), "t.pt", &err);
	if (!f)
		fail_msg("%s", err.text);
	assert_int_equal(f->format, TENSOR_PT);
	for (size_t i = 0; i < f->n; i++) {
		buf_add_slice(&b, f->v[i].name);
		buf_addc(&b, ' ');
		tensor_spec_print(&f->v[i].meta, &b);
		buf_addc(&b, ';');
		int64_t extent;
		assert_true(tensor_extent(&f->v[i].meta, &extent));
		if (f->v[i].meta.device == DEVICE_META) {
			assert_int_equal(tensor_data(f, i, &data, &err), -1);
		} else {
			if (tensor_data(f, i, &data, &err) < 0)
				fail_msg("%s", err.text);
			assert_int_equal(data.n, extent);
		}
	}
	assert_text(buf_slice(&b), want);
	buf_release(&b);
	tensor_file_close(f);
}

static void pickle_names(struct buf *pickle, const char *want)
{
	struct mkzip z;
	buf_addc(pickle, '.');
	pt(&z, buf_slice(pickle), "little", 24);
	names_are(buf_slice(&z.b), want);
	mkzip_release(&z);
}

static void file_refused(struct slice bytes, const char *why)
{
	struct err err = {0};
	struct tensor_file *f = tensor_file_bytes(slice_of(guard_put(&g, bytes.p, bytes.n), bytes.n), "t.pt", &err);
	if (f)
		fail_msg("read, though it should be refused with '%s'", why);
	if (!strstr(err.text, why) || err.status != EXIT_INPUT)
		fail_msg("'%s' has no '%s'", err.text, why);
}

static void test_names(void **state)
{
	(void)state;
	struct buf b = {0};
	p_begin(&b);
	p_tensor(&b, &floats);
	pickle_names(&b, " f32[2,3];");
	/* [t, 7, (t,)] */
	p_begin(&b);
	buf_addc(&b, ']');
	buf_addc(&b, '(');
	p_tensor(&b, &floats);
	p_int(&b, 7);
	p_tensor(&b, &floats);
	buf_adds(&b, "\x85"
		     "e");
	pickle_names(&b, "[0] f32[2,3];[2][0] f32[2,3];");
	/* {"x": {"mask": t, 3: t, None: t}, "layer.weight": [t]} */
	p_begin(&b);
	buf_adds(&b, "}(");
	p_str(&b, "x");
	buf_adds(&b, "}(");
	p_str(&b, "mask");
	p_tensor(&b, &floats);
	p_int(&b, 3);
	p_tensor(&b, &floats);
	buf_addc(&b, 'N');
	p_tensor(&b, &floats);
	buf_addc(&b, 'u');
	p_str(&b, "layer.weight");
	buf_addc(&b, ']');
	p_tensor(&b, &floats);
	buf_adds(&b, "au");
	pickle_names(&b, "x.mask f32[2,3];x[3] f32[2,3];x[None] f32[2,3];layer.weight[0] f32[2,3];");
	/* Views, other devices, meta tensors, no elements. */
	p_begin(&b);
	buf_addc(&b, '(');
	p_tensor(&b, &(struct made){"FloatStorage", "0", "cuda:0", 6, 1, 1, {2}, {3}});
	p_tensor(&b, &(struct made){"FloatStorage", "none", "cpu", 0, 0, 2, {0, 3}, {3, 1}});
	p_tensor(&b, &(struct made){"FloatStorage", "0", "cpu", 6, 6, 1, {0}, {1}});
	p_tensor(&b, &(struct made){"FloatStorage", "0", "meta", 6, 0, 1, {6}, {1}});
	buf_adds(&b, "ctorch._utils\n_rebuild_meta_tensor_no_storage\n(ctorch\nint64\n");
	p_tuple(&b, (const int32_t[]){1000000, 1000000}, 2);
	p_tuple(&b, (const int32_t[]){1000000, 1}, 2);
	buf_adds(&b, "\x89tRt");
	pickle_names(&b, "[0] f32[2]/(3)@cuda:0;[1] f32[0,3];[2] f32[0];[3] f32[6]@meta;[4] i64[1000000,1000000]@meta;");
	buf_release(&b);
}

/* Lists in themselves, and one list on many ways. */
static void test_circles(void **state)
{
	(void)state;
	struct buf b = {0};
	/* l = [t]; l.append(l) */
	p_begin(&b);
	buf_addc(&b, ']');
	p_tensor(&b, &floats);
	buf_adds(&b, "a2a");
	pickle_names(&b, "[0] f32[2,3];");
	/* d = {}; d["d"] = d; d["t"] = t */
	p_begin(&b);
	buf_adds(&b, "}q");
	buf_addc(&b, 0);
	p_str(&b, "d");
	buf_adds(&b, "h");
	buf_addc(&b, 0);
	buf_addc(&b, 's');
	p_str(&b, "t");
	p_tensor(&b, &floats);
	buf_addc(&b, 's');
	pickle_names(&b, "t f32[2,3];");
	/* One tensor twice: two names. */
	p_begin(&b);
	p_tensor(&b, &floats);
	buf_adds(&b, "2\x86");
	pickle_names(&b, "[0] f32[2,3];[1] f32[2,3];");
	/* 40 pairs of one another: 2^40 ways to one tensor, and the same without any. */
	for (unsigned with = 0; with < 2; with++) {
		struct mkzip z;
		p_begin(&b);
		if (with)
			p_tensor(&b, &floats);
		else
			buf_addc(&b, 'N');
		for (unsigned i = 0; i < 40; i++)
			buf_adds(&b, "2\x86");
		buf_addc(&b, '.');
		pt(&z, buf_slice(&b), NULL, 24);
		file_refused(buf_slice(&z.b), with ? "has more than 131072 tensors" : "has more than 4194304 values");
		mkzip_release(&z);
	}
	/* Far down. */
	p_begin(&b);
	for (unsigned i = 0; i < 20000; i++)
		buf_addc(&b, ']');
	p_tensor(&b, &floats);
	for (unsigned i = 0; i < 20000; i++)
		buf_addc(&b, 'a');
	buf_addc(&b, '.');
	struct mkzip z;
	struct err err;
	pt(&z, buf_slice(&b), NULL, 24);
	struct tensor_file *f = tensor_file_bytes(buf_slice(&z.b), "t.pt", &err);
	assert_non_null(f);
	assert_int_equal(f->v[0].name.n, 3 * 20000);
	tensor_file_close(f);
	mkzip_release(&z);
	buf_release(&b);
}

static void with_tensor(const struct made *m, const char *order, size_t storage, const char *why)
{
	struct buf b = {0};
	struct mkzip z;
	p_begin(&b);
	buf_addc(&b, '}');
	p_str(&b, "x");
	p_tensor(&b, m);
	buf_adds(&b, "s.");
	pt(&z, buf_slice(&b), order, storage);
	if (why)
		file_refused(buf_slice(&z.b), why);
	else
		names_are(buf_slice(&z.b), "x f32[2,3];");
	mkzip_release(&z);
	buf_release(&b);
}

static void test_files(void **state)
{
	(void)state;
	with_tensor(&floats, "little", 24, NULL);
	with_tensor(&floats, NULL, 24, NULL);
	with_tensor(&floats, "big", 24, "was saved on a big-endian machine");
	with_tensor(&floats, "little", 23, "tensor 'x' has a storage with too few bytes");
	with_tensor(&(struct made){"FloatStorage", "0", "cpu", 6, 1, 2, {2, 3}, {3, 1}}, NULL, 24, "tensor 'x' exceeds its storage");
	with_tensor(&(struct made){"FloatStorage", "0", "cpu", 5, 0, 2, {2, 3}, {3, 1}}, NULL, 24, "tensor 'x' exceeds its storage");
	with_tensor(&(struct made){"FloatStorage", "0", "cpu", 6, 0, 2, {2, 3}, {4, 1}}, NULL, 24, "tensor 'x' exceeds its storage");
	with_tensor(&(struct made){"FloatStorage", "1", "cpu", 6, 0, 2, {2, 3}, {3, 1}}, NULL, 24, "missing from the archive");
	with_tensor(&(struct made){"FloatStorage", "../0", "cpu", 6, 0, 2, {2, 3}, {3, 1}}, NULL, 24, "missing from the archive");
	struct mkzip z;
	pt(&z, SLICE("\x80\2}."), NULL, 24);
	file_refused(buf_slice(&z.b), "contains no tensors");
	mkzip_release(&z);
	pt(&z, SLICE("\x80\2}X\1\0\0\0aNsX\1\0\0\0aNs."), NULL, 24);
	file_refused(buf_slice(&z.b), "duplicate key in a dict");
	mkzip_release(&z);
	pt(&z, SLICE("\x80\2cos\nsystem\n."), NULL, 24);
	file_refused(buf_slice(&z.b), "refuses global 'os.system'");
	mkzip_release(&z);
	z = (struct mkzip){0};
	mkzip_add(&z, "a/data.pkl", SLICE("\x80\2."), 0);
	mkzip_add(&z, "a/constants.pkl", SLICE("\x80\2)."), 0);
	mkzip_end(&z);
	file_refused(buf_slice(&z.b), "is a TorchScript archive");
	mkzip_release(&z);
}

/* Compressed by hand, it is read too. */
static void test_deflated(void **state)
{
	(void)state;
	struct buf b = {0};
	struct mkzip z = {0};
	static const float data[6] = {0, 1, 2, 3, 4, 5};
	struct slice got;
	p_begin(&b);
	p_tensor(&b, &(struct made){"FloatStorage", "0", "cpu", 6, 2, 1, {3}, {1}});
	buf_addc(&b, '.');
	mkzip_add(&z, "a/data.pkl", buf_slice(&b), MKZIP_DEFLATE);
	mkzip_add(&z, "a/data/0", slice_of((const char *)data, sizeof(data)), MKZIP_DEFLATE);
	mkzip_end(&z);
	struct tensor_file *f = tensor_file_bytes(buf_slice(&z.b), "t.pt", NULL);
	assert_non_null(f);
	assert_null(f->v[0].data.p);
	assert_int_equal(tensor_data(f, 0, &got, NULL), 0);
	assert_int_equal(got.n, 12);
	assert_memory_equal(got.p, data + 2, 12);
	tensor_file_close(f);
	mkzip_release(&z);
	buf_release(&b);
}

/* A recorded file with one byte of its pickle changed: read or refused, never a crash. */
static void test_flipped(void **state)
{
	(void)state;
	struct buf b = {0};
	struct zip z;
	struct slice whole;
	struct err err = {0};
	assert_true(data_load("aoti/io/mixed.pt", &b));
	assert_int_equal(zip_open(&z, buf_slice(&b), "mixed.pt", &err), 0);
	assert_int_equal(zip_data(&z, zip_find(&z, SLICE("mixed/data.pkl")), &whole, &err), 0);
	char *copy = guard_put(&g, whole.p, whole.n);
	unsigned good = 0;
	for (size_t i = 0; i < whole.n; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			struct pickle p;
			copy[i] = (char)(whole.p[i] ^ 1 << bit);
			if (pickle_read(&p, slice_of(copy, whole.n), "t.pt", &err) == 0) {
				good++;
				pickle_release(&p);
			}
			copy[i] = whole.p[i];
		}
	assert_true(good > 0 && good < whole.n * 8);
	zip_close(&z);
	buf_release(&b);
}

/* ---- objects ---- */

/* os.system("touch harm") and its state are a name, a text and a number: nothing is called, nothing is looked up. */
static void test_objects(void **state)
{
	(void)state;
	static const char made[] = "cos\nsystem\nX\12\0\0\0touch harm\x85R}X\1\0\0\0aK\7sb.";
	static const char list[] = "ccollections\nCounter\n)\x81(K\1K\2u.";
	struct err err = {0};
	struct pickle p;
	refused(slice_of(made, sizeof(made) - 1), "refuses global 'os.system'");
	struct slice s = slice_of(made, sizeof(made) - 1);
	assert_int_equal(pickle_read_objects(&p, slice_of(guard_put(&g, s.p, s.n), s.n), "t.pt", &err), 0);
	const struct pickle_node *o = pickle_node(&p, p.top);
	assert_int_equal(o->kind, PICKLE_OBJECT);
	assert_int_equal(o->n, 3);
	const struct pickle_node *name = pickle_node(&p, o->item[0]);
	assert_int_equal(name->kind, PICKLE_NAME);
	assert_true(slice_is(pickle_text(pickle_node(&p, name->item[0])), "os"));
	assert_true(slice_is(pickle_text(pickle_node(&p, name->item[1])), "system"));
	assert_int_equal(pickle_node(&p, pickle_member(&p, o->item[2], "a"))->i, 7);
	assert_int_equal(pickle_member(&p, o->item[2], "b"), NONE);
	assert_int_equal(pickle_member(&p, o->item[1], "a"), NONE);
	pickle_release(&p);
	s = slice_of(list, sizeof(list) - 1);
	assert_int_equal(pickle_read_objects(&p, slice_of(guard_put(&g, s.p, s.n), s.n), "t.pt", &err), 0);
	assert_int_equal(pickle_node(&p, p.top)->n, 4);
	pickle_release(&p);
	for (size_t n = 0; n < sizeof(made) - 1; n++)
		assert_int_equal(pickle_read_objects(&p, slice_of(guard_put(&g, made, n), n), "t.pt", &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values),   cmocka_unit_test(test_refused), cmocka_unit_test(test_broken),  cmocka_unit_test(test_bounded),
	    cmocka_unit_test(test_tensors),  cmocka_unit_test(test_names),   cmocka_unit_test(test_circles), cmocka_unit_test(test_files),
	    cmocka_unit_test(test_deflated), cmocka_unit_test(test_flipped), cmocka_unit_test(test_objects),
	};
	int r = RUN(tests);
	guard_release(&g);
	return r;
}
