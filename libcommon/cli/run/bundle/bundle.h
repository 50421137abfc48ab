/* bundle.h - a failure in one file that can be passed on: x.pt2b, a zip archive whose member manifest.json describes the others.
 *
 * To write one (fxexplain report --bundle; anything that has a graph, its inputs and a finding):
 *
 *     struct bundle_writer *w = bundle_new("x.pt2b", &err);
 *     bundle_add(w, BUNDLE_GRAPH, "graphs/0_0.py", text, SLICE("0/0:aot_forward_graph"), &err);
 *     bundle_add_file(w, BUNDLE_PACKAGE, "package/m.pt2", "/home/ann/m.pt2", &err);
 *     bundle_add_tensors(w, "inputs/in.npz", "/home/ann/in.npz", false, &err);
 *     bundle_leave_out(w, SLICE("weights.pt"), SLICE("is 3 GB"));
 *     if (bundle_end(w, &about, &err) < 0) ...             // the complete file appears; with bundle_abort(w) instead it does not
 *
 * To read one:
 *
 *     struct bundle b;
 *     if (bundle_open(&b, "x.pt2b", &err) < 0) ...         // EXIT_INPUT: names the member and the problem
 *     for (size_t i = 0; i < b.n; i++) ... b.file[i].kind
 *     if (bundle_extract(&b, folder, &err) < 0) ...        // into an empty folder that nobody else writes to
 *     bundle_close(&b);
 *
 * The manifest (its members are in docs/formats/BUNDLE.md; "schema" is BUNDLE_SCHEMA) names each member with its kind and size. It holds no
 * commands: what can be run follows from the kinds of its files, and the reader decides and shows it.
 *
 * Untrusted. bundle_open rejects, by name: members that are missing or different in the manifest, duplicate, symbolic links,
 * devices or encrypted; names that are absolute, lead outside, hide (a component that begins with a dot), contain control bytes or are not
 * where their kind belongs; more than BUNDLE_MAX_FILES members, more than BUNDLE_MAX_INFLATED of decompressed data; files of tensors that
 * are not tensors (pickles of foreign types; nothing is loaded, tensor/pickle.h); environment variables other than those of torch and the
 * like. Sizes and checksums are checked by the zip reader (base/io/zip.h).
 *
 * Ownership: a struct bundle owns its texts. A writer copies its arguments.
 */
#ifndef PT2_BUNDLE_FILE_H
#define PT2_BUNDLE_FILE_H
#include "base/io/mapfile.h"
#include "base/io/zip.h"

#define BUNDLE_SCHEMA "pt2utils.bundle/1"
#define BUNDLE_MANIFEST "manifest.json"
#define BUNDLE_SUFFIX ".pt2b"
enum { BUNDLE_MAX_FILES = 4096, BUNDLE_MAX_NAME = 400, BUNDLE_MAX_MANIFEST = 16 << 20 };
#define BUNDLE_MAX_INFLATED (1ull << 30)

/* Kind, its name in the manifest, the folder of its files ("": the top). */
#define BUNDLE_KINDS(X) \
	X(REPORT, "report", "")             /* report.md: the text of an issue */ \
	X(FINDINGS, "findings", "")         /* findings.json: fxexplain --json */ \
	X(TRACE, "trace", "trace/")         /* a log of TORCH_TRACE */ \
	X(TEXT, "text", "text/")            /* standard error, TORCH_LOGS */ \
	X(GRAPH, "graph", "graphs/")        /* an FX graph as code, or torch's program around it */ \
	X(PROGRAM, "program", "program/")   /* the program to run: at most one */ \
	X(SOURCE, "source", "program/")     /* Python files that it imports */ \
	X(DATA, "data", "program/")         /* tensors that it reads */ \
	X(INPUTS, "inputs", "inputs/")      /* tensors, in order, for the package */ \
	X(PACKAGE, "package", "package/")   /* of AOTInductor */ \
	X(EXPORTED, "exported", "package/") /* of torch.export */ \
	X(RUN, "run", "run/")               /* from a folder that aoti-printer --record wrote (watch/bundle.h) */
enum bundle_kind {
#define X(id, name, folder) BUNDLE_##id,
	BUNDLE_KINDS(X)
#undef X
	    BUNDLE_N_KINDS
};
extern const char *const bundle_kind_name[BUNDLE_N_KINDS], *const bundle_kind_folder[BUNDLE_N_KINDS];

struct bundle_file {
	struct slice name;
	enum bundle_kind kind;
	struct slice about; /* of a graph: "0/0:aot_forward_graph"; of a file from elsewhere its original path; "" */
	bool made_up;       /* INPUTS: generated values of the same kind, not the original ones */
	uint64_t bytes;     /* inflated */
};
struct bundle_finding {
	struct slice kind, id, level, title, key; /* key: the same in any folder on any machine */
};
struct bundle_env {
	struct slice name, value;
};

/* What the manifest says besides the files. Empty texts and lists: unknown. */
struct bundle_about {
	struct slice generator;               /* "fxexplain 0.1.0" */
	struct slice torch, python, cuda;     /* versions */
	struct slice component, title;        /* the component that failed; the failure in one line */
	bool redacted, has_status;            /* has_status: the command's status is known */
	int status;                           /* exit status, or the signal's negative number */
	const struct slice *argument;         /* of the program */
	const struct bundle_env *env;         /* variables of torch and the like that were set */
	const struct bundle_finding *finding; /* worst first */
	size_t n_argument, n_env, n_finding;
};

/* May a bundle set this variable when it is replayed? */
bool bundle_env_known(struct slice name);

/* ---- writing ---- */

struct bundle_writer;
struct bundle_writer *bundle_new(const char *path, struct err *err);
/* A name that already exists gets a number. Texts are deflated; what is already compressed is stored. */
int bundle_add(struct bundle_writer *w, enum bundle_kind kind, const char *name, struct slice bytes, struct slice about, struct err *err);
/* The file at path; its base name is `about`. */
int bundle_add_file(struct bundle_writer *w, enum bundle_kind kind, const char *name, const char *path, struct err *err);
/* All files of a folder, by their names in it; links and non-files are left out. */
int bundle_add_folder(struct bundle_writer *w, enum bundle_kind kind, const char *name, const char *path, struct err *err);
/* A file of tensors, with the statistics of each in the manifest. make_up: generates tensors of the same dtypes, sizes, ranges and shares
 * of zeros, NaN and infinities, as .npz or (dtypes that numpy lacks, several without names) .pt, whatever the input format. */
int bundle_add_tensors(struct bundle_writer *w, const char *name, const char *path, bool make_up, struct err *err);
/* Records what is not in the bundle, and why. */
void bundle_leave_out(struct bundle_writer *w, struct slice what, struct slice why);
/* Both free it. */
int bundle_end(struct bundle_writer *w, const struct bundle_about *about, struct err *err);
void bundle_abort(struct bundle_writer *w);

/* ---- reading ---- */

struct bundle {
	struct arena arena;
	struct mapfile map;
	struct zip zip;
	struct slice manifest; /* unchanged */
	struct bundle_about about;
	struct bundle_file *file;
	size_t n;
};
int bundle_open(struct bundle *b, const char *path, struct err *err);
void bundle_close(struct bundle *b);
/* The manifest alone, without the members; what: the name of its file in messages. */
FOR_TESTS int bundle_read(struct bundle *b, struct slice manifest, const char *what, struct err *err);
/* The first file of that kind, or NULL. */
const struct bundle_file *bundle_find(const struct bundle *b, enum bundle_kind kind);
int bundle_extract(struct bundle *b, const char *folder, struct err *err);

#endif
