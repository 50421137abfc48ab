/* repro.h, programs to give away and candidates: what is in them, where their inputs go.
 *
 *     test_reprofile FOLDER NAME...     writes FOLDER/launcher/NAME and FOLDER/alone/NAME for the programs tests/data/NAME, for
 *                                       tests/live/repro.t, which lets torch run them
 */
#include <sys/stat.h>
#include <unistd.h>
#include "../../lib/repros.h"
#include "tensor/write.h"

/* ---- programs to give away ---- */

static const struct repro_note note = {.tool = SLICE("fxminify 1.0"),
				       .command = SLICE("fxminify launcher.py"),
				       .signature = SLICE("CppCompileError\nsecond line\x1b"),
				       .versions = SLICE("torch 2.13.0+cpu")};

static void test_alone(void **state)
{
	(void)state;
	struct repro r, again = {0};
	struct buf text = {0};
	struct err err = {0};
	const struct repro_program how = {.style = REPRO_ALONE, .note = &note, .seed = 7};
	open_sample(&r, "repro/aot_strides/minifier_launcher.py");
	assert_int_equal(repro_text(&r, &how, &text, &err), 0);
	struct slice t = buf_slice(&text);
	assert_true(slice_starts(
	    t, "#: made by fxminify 1.0\n#: command: fxminify launcher.py\n#: failure: CppCompileError\n#:     second line \n"));
	assert_non_null(slice_find(t, "torch.manual_seed(7)"));
	assert_non_null(slice_find(t, "command='run', save_dir=None"));
	assert_null(slice_find(t, "TORCHINDUCTOR_CACHE_DIR"));
	assert_null(slice_find(t, "RANDOM"));
	assert_null(slice_find(t, "/tmp"));
	assert_int_equal(repro_read(&again, t, "again.py", &err), 0);
	assert_same(&r, &again);
	assert_true(again.has_seed);
	assert_int_equal(again.seed, 7);
	assert_int_equal(again.storage[0].bytes.n, 512);
	double v;
	memcpy(&v, again.storage[0].bytes.p + 8 * 41, 8);
	assert_true(v == 41.0);
	buf_release(&text);
	repro_release(&again);
	repro_release(&r);
	open_sample(&r, "minifier/aot_nan/minifier_launcher.py");
	assert_int_equal(repro_text(&r, &how, &text, &err), 0);
	assert_non_null(slice_find(buf_slice(&text), "#: WARNING: RANDOM VALUES: the original has no values for arg0_1, arg1_1, arg2_1"));
	assert_non_null(slice_find(buf_slice(&text), "print('repro: WARNING: the values of arg0_1,"));
	buf_release(&text);
	repro_release(&r);
}

static void test_save(void **state)
{
	(void)state;
	char dir[] = "/tmp/test_repro.XXXXXX";
	struct repro r, again = {0};
	struct err err = {0};
	assert_non_null(mkdtemp(dir));
	char *path = xasprintf("%s/repro.py", dir);
	open_sample(&r, "repro/aot_strides/minifier_launcher.py");
	const struct repro_program how = {.style = REPRO_ALONE, .inline_max = 100};
	if (repro_save(&r, &how, path, &err) < 0)
		fail_msg("%s", err.text);
	if (repro_open(&again, path, &err) < 0)
		fail_msg("%s", err.text);
	assert_text(again.save_dir, "repro.data");
	assert_same(&r, &again);
	struct buf file = {0};
	struct repro_bytes bytes;
	assert_int_equal(repro_storage_path(&again, 0, &file), 0);
	assert_int_equal(repro_bytes_open(&bytes, buf_str(&file), &err), 0);
	assert_int_equal(bytes.bytes.n, 512);
	repro_bytes_close(&bytes);
	unlink(buf_str(&file));
	buf_reset(&file);
	assert_int_equal(repro_storage_path(&again, 0, &file), -1);
	repro_release(&again);
	/* Bytes that were given: a file of ours, read back. */
	char *big = xcalloc(1, 256);
	for (int i = 0; i < 256; i++)
		big[i] = (char)i;
	const struct repro_given given[2] = {{.how = REPRO_GIVE_DATA, .bytes = {big, 256}}, {.how = REPRO_GIVE_RANDOM}};
	const struct repro_program data = {
	    .style = REPRO_ALONE, .inline_max = 100, .given = given, .n_given = 2, .folder = SLICE("in puts")};
	if (repro_save(&r, &data, path, &err) < 0 || repro_open(&again, path, &err) < 0)
		fail_msg("%s", err.text);
	buf_reset(&file);
	assert_int_equal(repro_storage_path(&again, 0, &file), 0);
	if (repro_bytes_open(&bytes, buf_str(&file), &err) < 0)
		fail_msg("%s", err.text);
	assert_memory_equal(bytes.bytes.p, big, 256);
	assert_int_equal(again.storage[1].hash.n, 0);
	repro_bytes_close(&bytes);
	free(big);
	char *rm = xasprintf("rm -r '%s'", dir);
	assert_int_equal(system(rm), 0);
	assert_int_equal(repro_save(&r, &how, path, &err), -1);
	free(rm);
	free(path);
	buf_release(&file);
	repro_release(&again);
	repro_release(&r);
}

/* A candidate: another graph, whose inputs come from everywhere. */
static void test_candidate(void **state)
{
	(void)state;
	struct repro r, again = {0};
	struct graph g = {0};
	struct err err = {0};
	struct buf text = {0};
	open_sample(&r, "minifier/aot_dynamic/minifier_launcher.py");
	struct symsize s77 = symsize_symbol(&g.tab, SLICE("s77")), size[2] = {s77, symsize_int(3)};
	uint32_t m = graph_add_module(&g, NONE, SLICE(""), SLICE("Repro")), node[4];
	static const char *const names[] = {"arg3_1", "mul_4", "sym", "data"};
	struct gvalue out[4];
	for (int i = 0; i < 4; i++) {
		node[i] = graph_add_node(&g, m, GRAPH_PLACEHOLDER, slice_str(names[i]), slice_str(names[i]));
		out[i] = graph_node_value(node[i]);
	}
	g.node[node[1]].meta = graph_add_tensor(&g, DTYPE_BF16, 2, size, NULL, SLICE(""));
	g.node[node[2]].meta = graph_add_sym(&g, s77);
	g.node[node[3]].meta = graph_add_tensor(&g, DTYPE_I32, 1, &size[1], NULL, SLICE(""));
	uint32_t o = graph_add_node(&g, m, GRAPH_OUTPUT, SLICE("output"), SLICE("output"));
	struct gvalue tuple = graph_sequence(&g, GV_TUPLE, out, 4);
	graph_set_args(&g, o, &tuple, 1);
	assert_int_equal(graph_finish(&g, &err), 0);
	static const int32_t numbers[3] = {1, 2, 3};
	struct repro_given given[4] = {{.how = REPRO_GIVE_INPUT, .input = 3},
				       {.how = REPRO_GIVE_RANDOM},
				       {.how = REPRO_GIVE_RANDOM},
				       {.how = REPRO_GIVE_DATA, .bytes = {(const char *)numbers, sizeof(numbers)}}};
	struct repro_program how = {.graph = &g, .given = given, .n_given = 4};
	if (repro_text(&r, &how, &text, &err) < 0)
		fail_msg("%s", err.text);
	struct slice t = buf_slice(&text);
	assert_non_null(slice_find(t, "reader.tensor(buf0, (s77, 8), is_leaf=True)  # arg3_1"));
	assert_non_null(slice_find(t, "buf1 = reader.storage(None, 24, dtype_hint=torch.bfloat16)"));
	assert_non_null(slice_find(t, "reader.tensor(buf1, (s77, 3), dtype=torch.bfloat16, is_leaf=True)  # mul_4"));
	assert_non_null(slice_find(t, "reader.symint(4, expr='s77')  # sym"));
	assert_non_null(slice_find(t, "buf2 = _repro_bytes(reader, 'AQAAAAIAAAADAAAA', 12, dtype_hint=torch.int32)"));
	assert_non_null(slice_find(t, "tracing_mode='symbolic'"));
	assert_int_equal(repro_read(&again, t, "again.py", &err), 0);
	assert_memory_equal(again.storage[2].bytes.p, numbers, sizeof(numbers));
	repro_release(&again);
	buf_reset(&text);
	how.n_given = 3;
	assert_int_equal(repro_text(&r, &how, &text, &err), -1);
	how.n_given = 4;
	g.node[node[1]].meta = NONE;
	assert_int_equal(repro_text(&r, &how, &text, &err), -1);
	assert_string_equal(err.text, "input 'mul_4' cannot be generated: unknown shape");
	size[0] = symsize_symbol(&g.tab, SLICE("s99"));
	g.node[node[1]].meta = graph_add_tensor(&g, DTYPE_BF16, 2, size, NULL, SLICE(""));
	assert_int_equal(repro_text(&r, &how, &text, &err), -1);
	assert_non_null(slice_find(slice_str(err.text), "s99"));
	graph_release(&g);
	buf_release(&text);
	repro_release(&r);
}

/* An exported program is written as Python: class, inputs with the weights' values, and an export. */
static void test_exported(void **state)
{
	(void)state;
	struct repro r, again = {0}, package = {0};
	struct buf text = {0};
	struct err err = {0};
	open_sample(&r, "repro/aoti/minifier_launcher.py");
	assert_int_equal(repro_text(&r, &(struct repro_program){.style = REPRO_ALONE}, &text, &err), 0);
	struct slice t = buf_slice(&text);
	assert_null(slice_find(t, "# class Repro"));
	assert_null(slice_find(t, "RANDOM"));
	assert_non_null(slice_find(t, "exported_program = torch.export.export(mod, tuple(_repro_inputs.args), strict=False)"));
	if (repro_read(&again, t, "again.py", &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(again.form, REPRO_AOTI);
	assert_same(&r, &again);
	assert_slices(r.config_patches, again.config_patches);
	for (size_t i = 0; i < r.n_storages; i++)
		assert_slices(r.storage[i].bytes, again.storage[i].bytes);
	open_sample(&package, "repro/aoti/exported_program.pt2");
	assert_same_inputs(&r, &package);
	repro_release(&package);
	repro_release(&again);
	buf_release(&text);
	repro_release(&r);
	open_sample(&package, "export/unbounded.pt2");
	assert_true(package.n_inputs > 0);
	assert_true(count_lines(&package, REPRO_SYMBOL) > 0);
	for (size_t i = 0; i < package.n_storages; i++)
		assert_non_null(package.storage[i].bytes.p);
	repro_release(&package);
}

static void test_storage_files(void **state)
{
	(void)state;
	struct buf file = {0};
	struct repro_bytes s = {0};
	struct err err = {0};
	assert_true(data_load("repro/aot_strides/storages/f312c4bdbecdb6eca257bf92202070d72722e521", &file));
	struct guard g = {0};
	for (size_t n = 0; n <= file.len; n += n < file.len - 200 ? 7 : 1) {
		s = (struct repro_bytes){0};
		int rc = repro_bytes_read(&s, slice_of(guard_put(&g, file.p, n), n), "s", &err);
		assert_int_equal(rc, n == file.len ? 0 : -1);
		repro_bytes_close(&s);
	}
	guard_release(&g);
	buf_release(&file);
}

/* torch takes the device from the file: a storage for a GPU that is saved as the CPU's makes the whole program run there. */
static void test_storage_device(void **state)
{
	(void)state;
	char text[4096];
	struct repro_bytes s = {0};
	struct err err = {0};
	FILE *f = tmpfile();
	assert_non_null(f);
	assert_int_equal(tensor_write_storage(fileno(f), SLICE("values"), SLICE("cuda:0"), "s", &err), 0);
	const ssize_t n = pread(fileno(f), text, sizeof(text), 0);
	assert_true(n > 0 && (size_t)n < sizeof(text));
	assert_non_null(memmem(text, (size_t)n, "X\6\0\0\0cuda:0", 11));
	assert_int_equal(repro_bytes_read(&s, slice_of(text, (size_t)n), "s", &err), 0);
	assert_slices(s.bytes, SLICE("values"));
	repro_bytes_close(&s);
	fclose(f);
}

/* ---- files for torch ---- */

static int make_parents(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0777);
		*p = '/';
	}
	return 0;
}

static int write_one(const char *folder, const char *name, enum repro_style style)
{
	char *from = data_path(name), *to = xasprintf("%s/%s/%s", folder, style == REPRO_ALONE ? "alone" : "launcher", name);
	struct repro r = {0};
	struct err err = {0};
	/* Both kinds of inputs: most in the text, those of 500 bytes and more in a folder. */
	const struct repro_program how = {.style = style, .note = &note, .inline_max = 500};
	int rc = make_parents(to) < 0 || repro_open(&r, from, &err) < 0;
	if (!rc && slice_starts(slice_str(name), "repro/old_dynamo")) { /* a compiler of the user's own */
		r.backend = SLICE("toys:toy_compiler");
		r.backend_text = false;
	}
	if (!rc)
		rc = repro_save(&r, &how, to, &err) < 0;
	if (rc)
		fprintf(stderr, "%s: %s\n", name, err.text);
	repro_release(&r);
	free(from);
	free(to);
	return rc;
}

static int write_files(const char *folder, char **name, int n)
{
	int bad = 0;
	for (int i = 0; i < n; i++)
		bad |= write_one(folder, name[i], REPRO_LAUNCHER) | write_one(folder, name[i], REPRO_ALONE);
	return bad;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_alone),    cmocka_unit_test(test_save),          cmocka_unit_test(test_candidate),
	    cmocka_unit_test(test_exported), cmocka_unit_test(test_storage_files),
	    cmocka_unit_test(test_storage_device),
	};
	return argc > 2 ? write_files(argv[1], argv + 2, argc - 2) : RUN(tests);
}
