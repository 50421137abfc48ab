/* torch.c - Python with torch as the oracle (reduce/oracle_torch.h), and everything else asked of it. */
#include "session.h"

#include "base/process/child.h"
#include "base/tool/diag.h"
#include "base/json.h"
#include "base/text.h"
#include "reduce/oracle_torch.h"

#include <unistd.h>

#define INTERIM_BYTES (16u << 20) /* interim results include input values up to this many bytes */

struct with_torch {
	struct oracle_torch_spec spec;
	struct verifier *verifier;
	const char *const **launchers;
	const char **words; /* of the launchers, five each */
	char **scripts;
	size_t n_launchers;
	bool *told; /* of those not used */
	const char *path[5];
	char *cwd, *beside, *beside_real; /* folders */
	char **env;
	size_t n_env;
	struct arena values; /* values of the last torch_given */
	struct json_tape tape;
};

/* ---- options ---- */

/* Options override the file. */
static int apply_options(struct session *s, struct err *err)
{
	struct repro *r = &s->in.repro;
	const struct fxminify_options *o = s->o;
	if (o->after >= 0)
		r->form = o->after == 0 ? REPRO_AFTER_AOT : REPRO_AFTER_DYNAMO;
	else if (r->form == REPRO_GRAPH)
		r->form = REPRO_AFTER_AOT;
	if (o->backend && r->form != REPRO_AFTER_DYNAMO)
		return err_set(err, EXIT_USAGE, "--backend only applies to graphs after dynamo (--after dynamo)");
	if (o->backend) {
		r->backend = slice_str(o->backend);
		r->backend_text = false;
	}
	if (o->want_accuracy || (o->level == 4 && !o->strict_accuracy && !o->no_accuracy))
		r->accuracy = SLICE("True");
	if (o->strict_accuracy)
		r->accuracy = SLICE("'strict_accuracy'");
	if (o->no_accuracy || o->level == 2 || o->level == 3)
		r->accuracy = SLICE("False");
	if (o->tracing_mode)
		r->tracing_mode = slice_str(o->tracing_mode);
	if (o->only_fwd)
		r->only_fwd = SLICE("True");
	if (o->save_dir)
		r->save_dir = slice_str(o->save_dir);
	for (size_t i = 0; i < o->import.n; i++) {
		FREED char *text = xasprintf("import %s", o->import.v[i]);
		repro_add_line(r, REPRO_IMPORT, repro_keep(r, slice_str(text)));
	}
	if (!s->runner.check.n && r->check_str.n)
		s->runner.check = r->check_str;
	return 0;
}

/* Each --launcher is a process: LAUNCHER python ..., split as by a shell. */
static void make_launchers(struct session *s, struct with_torch *t)
{
	size_t n = s->o->launcher.n;
	if (!n)
		return;
	t->n_launchers = n;
	t->launchers = xcalloc(n + 1, sizeof(*t->launchers));
	t->words = xcalloc(5 * n, sizeof(*t->words));
	t->scripts = xcalloc(n, sizeof(*t->scripts));
	t->told = xcalloc(n, sizeof(*t->told));
	for (size_t i = 0; i < n; i++) {
		t->scripts[i] = xasprintf("exec %s \"$@\"", s->o->launcher.v[i]);
		const char **w = &t->words[5 * i];
		w[0] = "/bin/sh";
		w[1] = "-c";
		w[2] = t->scripts[i];
		w[3] = "fxminify";
		t->launchers[i] = w;
	}
	t->spec.launcher = t->launchers;
}

/* ---- stored inputs ---- */

/* Warns about stored inputs of the launcher that are missing: tests then use other values than those that failed. */
static void tell_gone_inputs(struct session *s)
{
	const struct repro *r = &s->in.repro;
	size_t gone = 0, kept = 0;
	LOCAL_BUF b = {0};
	for (uint32_t i = 0; i < r->n_storages; i++) {
		if (!r->storage[i].hash.n || r->storage[i].bytes.p)
			continue;
		kept++;
		buf_reset(&b);
		gone += repro_storage_path(r, i, &b) < 0;
	}
	if (gone)
		report_row(&s->report, "note", "%zu of %zu stored inputs are missing from '%.*s' (--save-dir): using random values", gone,
			   kept, SL(r->save_dir));
}

/* ---- versions and environment ---- */

static void add_version(struct session *s, struct with_torch *t, uint32_t hello, const char *key, const char *label)
{
	LOCAL_BUF b = {0};
	struct slice rest = json_text(&t->tape, hello, key, &b), line;
	if (slice_line(&rest, &line) && line.n)
		buf_addf(&s->result.versions, "%s%s%.*s", s->result.versions.len ? ", " : "", label, SL(line));
}

static void add_environment(struct with_torch *t, uint32_t object)
{
	LOCAL_BUF b = {0};
	json_each_pair(&t->tape, object, k) {
		if (!json_is(&t->tape, k + 1, JSON_STRING))
			continue;
		buf_reset(&b);
		json_unescape(&t->tape, k, &b);
		buf_addc(&b, '=');
		json_unescape(&t->tape, k + 1, &b);
		t->env = xreallocarray(t->env, t->n_env + 2, sizeof(*t->env));
		t->env[t->n_env++] = xstrdup(buf_str(&b));
		t->env[t->n_env] = NULL;
	}
}

/* Prints non-fatal warnings of the oracle. */
static void tell_warning(struct session *s, struct with_torch *t, uint32_t hello)
{
	FREED char *warning = json_strdup(&t->tape, hello, "warning");
	if (*warning)
		report_row(&s->report, "note", "%s", warning);
}

static void read_hello(struct session *s, struct with_torch *t)
{
	struct slice hello = oracle_torch_hello(s->runner.oracle);
	uint32_t root;
	json_tape_text(&t->tape, hello.p, hello.n);
	if (!hello.n || json_parse(&t->tape, 0, hello.n, &root) < 0)
		return;
	tell_warning(s, t, root);
	add_version(s, t, root, "torch", "torch ");
	add_version(s, t, root, "python", "Python ");
	add_version(s, t, root, "cxx", "");
	add_version(s, t, root, "cuda", "CUDA ");
	add_environment(t, json_get(&t->tape, root, "env"));
	add_environment(t, json_get(&t->tape, root, "fixed"));
	s->env = (const char *const *)t->env;
	report_row(&s->report, "python", "%s", buf_str(&s->result.versions));
}

/* The folder of a file, absolute; NULL if it has none. free() it. */
static char *folder_of(const char *path)
{
	const struct slice in = path_folder(path);
	FREED char *folder = xstrndup(in.p, in.n);
	return realpath(folder, NULL);
}

/* Modules are searched here and beside the launcher, also if it is reached by a symlink. */
static void find_folders(const struct fxminify_options *o, const char *path, struct with_torch *t)
{
	size_t n = 0;
	FREED char *real = strcmp(path, "-") ? realpath(path, NULL) : NULL;
	t->cwd = getcwd(NULL, 0);
	t->beside = real ? folder_of(path) : NULL;
	t->beside_real = real ? folder_of(real) : NULL;
	if (t->cwd)
		t->path[n++] = t->cwd;
	if (t->beside && (!t->cwd || strcmp(t->beside, t->cwd)))
		t->path[n++] = t->beside;
	if (t->beside_real && strcmp(t->beside_real, t->beside ? t->beside : ""))
		t->path[n++] = t->beside_real;
	if (o->beside)
		t->path[n++] = o->beside; /* the program's own modules */
}

#define STALL_MS 10000
#define STALL_MS_OF_NODE 50 /* a compiler takes about 35 ms of CPU per operation, in all its stages together */

static unsigned stall_of(const struct session *s)
{
	if (s->o->stall >= 0)
		return (unsigned)(s->o->stall * 1000);
	return STALL_MS + STALL_MS_OF_NODE * (s->in.repro.graph.n_nodes < 10000 ? s->in.repro.graph.n_nodes : 10000);
}

static struct oracle *begun; /* while the original is being read */

static void end_begun(void)
{
	oracle_close(begun);
	begun = NULL;
}

void torch_begin(struct session *s, const char *path)
{
	struct with_torch *t = xcalloc(1, sizeof(*t));
	struct err ignored;
	s->torch = t;
	find_folders(s->o, path, t);
	t->spec = (struct oracle_torch_spec){.python = s->o->python,
					     .path = t->path,
					     .jobs = (unsigned)s->o->jobs,
					     .timeout_ms = (unsigned)s->o->timeout * 1000u,
					     .max_memory = s->o->max_memory,
					     .seed = s->o->seed,
					     .fresh = !s->o->no_verify && !s->o->locate};
	make_launchers(s, t);
	report_step(&s->report, "python");
	if (access(path, R_OK) < 0) /* also standard input: it may take long */
		return;
	begun = oracle_torch_begin(&t->spec, &ignored); /* a failure will occur again when it is needed */
	diag_at_die(end_begun);
}

int torch_open(struct session *s, struct err *err)
{
	struct with_torch *t = s->torch;
	t->spec.begun = begun;
	begun = NULL;
	s->runner.oracle = t->spec.begun; /* to be closed */
	if (child_signalled())
		return err_set(err, EXIT_ENVIRON, "interrupted while starting the torch process");
	if (apply_options(s, err) < 0)
		return -1;
	tell_gone_inputs(s);
	t->spec.repro = &s->in.repro;
	t->spec.stall_ms = stall_of(s);
	t->spec.whole = s->o->check_str != NULL; /* the same text may come from another place */
	s->runner.oracle = oracle_torch(&t->spec, err);
	if (!s->runner.oracle)
		return -1;
	read_hello(s, t);
	return 0;
}

/* Warns if one of several launchers does not work (the others continue), and prints non-fatal warnings. */
void torch_tell_gone(struct session *s)
{
	struct with_torch *t = s->torch;
	const char *why;
	struct slice warning = oracle_torch_warning(s->runner.oracle);
	if (warning.n)
		report_row(&s->report, "note", "%.*s", SL(warning));
	for (size_t i = 0; i < t->n_launchers; i++) {
		if (t->told[i] || !(why = oracle_torch_gone(s->runner.oracle, i)))
			continue;
		t->told[i] = true;
		report_row(&s->report, "note", "--launcher '%s' is not used: %s", s->o->launcher.v[i], why);
	}
}

void torch_close(struct session *s)
{
	struct with_torch *t = s->torch;
	end_begun();
	verifier_close(t->verifier);
	oracle_close(s->runner.oracle);
	for (size_t i = 0; i < t->n_env; i++)
		free(t->env[i]);
	for (size_t i = 0; i < t->n_launchers; i++)
		free(t->scripts[i]);
	free(t->env);
	free(t->scripts);
	free(t->told);
	free(t->words);
	free(t->launchers);
	free(t->cwd);
	free(t->beside);
	free(t->beside_real);
	arena_release(&t->values);
	json_tape_release(&t->tape);
	free(t);
}

static int take_record(const struct oracle *o, struct repro *r, struct outcome *out, struct err *err)
{
	*out = *oracle_torch_recorded(o);
	if (out->kind == OUTCOME_INFRA)
		return err_set(err, EXIT_ENVIRON, "cannot run the original: %.*s", SLN(out->detail, 800));
	if (out->kind != OUTCOME_PASSES)
		return 0;
	oracle_torch_mark_idle(o, r);
	return oracle_torch_annotate(o, &r->graph, err) < 0 ? -1 : 1;
}

int torch_record(struct session *s, struct outcome *out, struct err *err) { return take_record(s->runner.oracle, &s->in.repro, out, err); }

size_t torch_generated(const struct session *s) { return s->torch && s->runner.oracle ? oracle_torch_generated(s->runner.oracle) : 0; }

int torch_reseed(struct session *s, struct err *err)
{
	struct with_torch *t = s->torch;
	if (s->reseeded || !torch_generated(s))
		return 0;
	s->reseeded = true;
	oracle_close(s->runner.oracle);
	t->spec.begun = NULL;
	t->spec.seed = ++s->result.seed;
	report_step(&s->report, "seed");
	s->runner.oracle = oracle_torch(&t->spec, err);
	return s->runner.oracle ? 1 : -1;
}

int torch_shapes(struct session *s, struct err *err)
{
	FREED char *cwd = getcwd(NULL, 0);
	const char *path[] = {cwd, NULL};
	struct oracle_torch_spec spec = {.repro = &s->in.repro,
					 .path = path,
					 .timeout_ms = (unsigned)s->o->timeout * 1000u,
					 .max_memory = s->o->max_memory,
					 .seed = s->o->seed,
					 .record_only = true,
					 .record_limit = 1};
	struct oracle *o = oracle_torch(&spec, err);
	struct outcome out;
	int status = o ? take_record(o, &s->in.repro, &out, err) : -1;
	if (status == 0)
		err_set(err, EXIT_ENVIRON, "the original does not run: %.*s", SLN(out.detail, 300));
	if (o)
		oracle_close(o);
	return status == 1 ? 0 : -1;
}

int torch_users_call(struct session *s, struct outcome *out, struct err *err)
{
	const struct test test = {.graph = &s->in.repro.graph, .users = true};
	int r = 0;
	if (!oracle_torch_has_users_call(&s->in.repro) || s->in.repro.form != REPRO_AOTI)
		return 0;
	if (!oracle_start(s->runner.oracle, &test, err))
		return -1;
	while (r == 0 && !child_signalled())
		r = oracle_wait(s->runner.oracle, 1000, out, err);
	if (r < 0 || child_signalled())
		return r < 0 ? -1 : err_set(err, EXIT_ENVIRON, "interrupted");
	out->signature = signature_copy(&s->arena, &out->signature);
	out->detail = arena_slice(&s->arena, out->detail);
	if (out->kind == OUTCOME_INFRA)
		return err_set(err, EXIT_ENVIRON, "cannot compile the original unchanged: %.*s", SLN(out->detail, 800));
	return 1;
}

/* ---- locating ---- */

static void take_through(struct session *s, struct json_tape *tape, uint32_t list)
{
	buf_reset(&s->through);
	json_each(tape, list, k) {
		struct slice name = json_dup_at(tape, k, &s->arena);
		buf_addf(&s->through, "%s%.*s", s->through.len ? ", " : "", SL(name));
	}
}

#define NAN_MAKERS 8

void torch_locate(struct session *s, const struct outcome *original, struct slice *how)
{
	struct with_torch *t = s->torch;
	uint32_t root, nan[NAN_MAKERS];
	json_tape_text(&t->tape, original->extra.p, original->extra.n);
	if (original->extra.n && json_parse(&t->tape, 0, original->extra.n, &root) == 0) {
		const bool guessed = s->suspects.n > 0; /* by aoti-verify: these are the likely ones */
		if (!guessed)
			*how = json_dup(&t->tape, root, "how", &s->arena);
		json_each(&t->tape, json_get(&t->tape, root, "suspects"), k)
			session_suspect(s, json_dup_at(&t->tape, k, &s->arena));
		uint64_t likely = json_count(&t->tape, root, "likely", UINT64_MAX);
		if (!guessed && likely <= s->suspects.n)
			s->n_likely = (size_t)likely;
		take_through(s, &t->tape, json_get(&t->tape, root, "through"));
	}
	/* Where eager itself produces a NaN, compilers disagree. */
	if (original->kind == OUTCOME_ACCURACY && !s->suspects.n) {
		size_t n = oracle_torch_nan_makers(s->runner.oracle, &s->in.repro.graph, nan, NAN_MAKERS);
		for (size_t i = 0; i < n && i < NAN_MAKERS; i++)
			session_suspect(s, graph_name(&s->in.repro.graph, nan[i]));
		*how = SLICE("it produces a NaN or an infinity");
	}
}

/* ---- values ---- */

/* Size in bytes of the values of a candidate's inputs; SIZE_MAX if unknown. */
static size_t value_bytes(const struct candidate *c)
{
	size_t sum = 0;
	for (size_t i = 0; i < c->n_feeds; i++) {
		const struct gmeta *m = c->feed[i].meta == NONE ? NULL : &c->graph.meta[c->feed[i].meta];
		const struct dtype_info *info = m && m->kind == GMETA_TENSOR ? dtype_info(m->dtype) : NULL;
		size_t n = info ? (size_t)info->bytes : 0;
		for (size_t d = 0; info && d < m->n_dim; d++)
			if (!symsize_is_int(c->graph.dim[m->dim + d]) || __builtin_mul_overflow(n, (size_t)c->graph.dim[m->dim + d].k, &n))
				return SIZE_MAX;
		if (__builtin_add_overflow(sum, n, &sum))
			return SIZE_MAX;
	}
	return sum;
}

/* Its value is in the program: it was recorded, or shares storage with a recorded one. */
static bool has_value(const struct candidate *c, size_t feed)
{
	const struct feed *f = &c->feed[feed];
	bool any = f->kind != FEED_RANDOM || f->name.n;
	for (size_t i = 0; i < c->n_feeds && f->memory && !any; i++)
		any = c->feed[i].memory && c->feed[i].memory->storage == f->memory->storage &&
		      (c->feed[i].kind != FEED_RANDOM || c->feed[i].name.n);
	return any;
}

int torch_given(struct session *s, const struct candidate *c, bool interim, struct repro_given **given, struct err *err)
{
	struct with_torch *t = s->torch;
	*given = NULL;
	if (s->runner.in_flight || (interim && value_bytes(c) > INTERIM_BYTES))
		return err_set(err, EXIT_ENVIRON, "not requested"); /* the caller writes it without them, for now */
	arena_release(&t->values);
	t->values = (struct arena){0};
	struct repro head = s->in.repro;
	head.line = c->line;
	head.n_lines = c->n_lines;
	struct test test = candidate_test(c, &head);
	FREED struct oracle_value *v = xcalloc(c->n_feeds ? c->n_feeds : 1, sizeof(*v));
	int status = oracle_torch_values(s->runner.oracle, &test, &t->values, v, err);
	if (status == 0) {
		*given = candidate_given(c, &s->in.repro);
		for (size_t i = 0; i < c->n_feeds; i++) {
			struct repro_given *g = &(*given)[i];
			if (v[i].kind == ORACLE_INT)
				*g = (struct repro_given){.how = REPRO_GIVE_INT, .value = v[i].i};
			else if (v[i].kind == ORACLE_TENSOR && has_value(c, i))
				*g = (struct repro_given){.how = REPRO_GIVE_DATA,
							  .bytes = v[i].bytes,
							  .offset = v[i].offset,
							  .requires_grad = v[i].requires_grad,
							  .non_leaf = c->feed[i].non_leaf};
		}
	}
	return status;
}

/* ---- verifying ---- */

void torch_modules(const struct session *s, struct buf *b)
{
	const struct with_torch *t = s->torch;
	const char *old = getenv("PYTHONPATH");
	for (size_t i = 0; t->path[i]; i++)
		buf_addf(b, "%s%s", b->len ? ":" : "", t->path[i]);
	if (old && *old)
		buf_addf(b, "%s%s", b->len ? ":" : "", old);
}

enum { ERROR_LINES = 8, ERROR_COLUMNS = 300 };

/* "/tmp/.../x.cpp:12:29: error": only the file name, since the folder no longer exists. */
static struct slice without_folder(struct slice line)
{
	const char *colon = line.n && *line.p == '/' ? slice_chr(line, ':') : NULL;
	const char *slash = colon ? memrchr(line.p, '/', (size_t)(colon - line.p)) : NULL;
	return slash ? slice_of(slash + 1, (size_t)(line.p + line.n - slash - 1)) : line;
}

/* The original error, for the reader of the result: its type and first lines. */
static void note_error(struct session *s, const struct outcome *out)
{
	struct slice rest = out->detail, line;
	struct buf *b = &s->result.error;
	buf_reset(b);
	if (out->kind == OUTCOME_RAISED)
		buf_addf(b, "%.*s: ", SL(out->signature.type));
	for (int n = 0; n < ERROR_LINES && slice_line(&rest, &line);) {
		if (slice_starts(line, "In file included"))
			break;
		if (!slice_trim(line).n)
			continue;
		line = without_folder(line);
		buf_addf(b, "%s%.*s", n++ ? "\n" : "", SLN(line, ERROR_COLUMNS));
	}
}

/* In a separate Python. With a launcher only after the oracle ended: a second one might wait for the first one's GPU. */
static int run_verifier(struct session *s, const char *path, const struct repro *head, bool hang, struct outcome *out, struct err *err)
{
	struct with_torch *t = s->torch;
	if (t->spec.launcher) {
		oracle_close(s->runner.oracle);
		s->runner.oracle = NULL;
	}
	if (!t->verifier && !(t->verifier = verifier_start(&t->spec, err)))
		return -1;
	return verifier_run(t->verifier, path, head, hang, out, err);
}

int torch_try(struct session *s, const char *path, const struct candidate *c, struct outcome *out, struct err *err)
{
	const bool hang = s->runner.want.kind == OUTCOME_TIMEOUT;
	struct repro head = s->in.repro;
	head.line = c->line;
	head.n_lines = c->n_lines;
	int answered = s->runner.oracle ? oracle_torch_verify(s->runner.oracle, path, &head, hang, out, err) : 0;
	if (answered < 0 || (!answered && run_verifier(s, path, &head, hang, out, err) < 0))
		return -1;
	note_error(s, out);
	return 0;
}

int torch_verify(struct session *s, const char *path, const struct candidate *c, struct err *err)
{
	struct outcome out;
	report_step(&s->report, "verified");
	if (torch_try(s, path, c, &out, err) < 0)
		return -1;
	if (out.kind == OUTCOME_INFRA)
		return err_set(err, EXIT_ENVIRON, "the program could not be run: %.*s", SLN(out.detail, 300));
	enum verdict v = verdict_of(&out, &s->runner.want, s->runner.check);
	buf_reset(&s->result.verified);
	if (v == VERDICT_SAME) {
		buf_adds(&s->result.verified, "fails the same way in a fresh process with all caches off");
		return 1;
	}
	struct slice detail = out.detail, line = SLICE("");
	while (slice_line(&detail, &line) && !line.n)
		;
	buf_addf(&s->result.verified, "%s%s%.*s", outcome_words[out.kind], line.n ? ": " : "", SLN(line, 200));
	return 0;
}
