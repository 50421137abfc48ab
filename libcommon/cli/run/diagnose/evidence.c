/* evidence.c - what a failure's message proves, and what it cannot prove (evidence.h).
 *
 * The texts are those of torch 2.13 and 2.15: torch/testing/_comparison.py, torch/csrc/autograd/python_anomaly_mode.cpp,
 * c10/core/TensorImpl.cpp, torch/_subclasses/fake_tensor.py; and numpy's assert_allclose. */
#include "run/diagnose/evidence.h"
#include "run/diagnose/cause.h"

enum { CLIP = 300 };

const char *const basis_name[BASES] = {"not known", "likely", "follows", "seen"};

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/* Whole words, in any case. */
static bool has_word(struct slice s, const char *word)
{
	const size_t n = strlen(word);
	for (size_t i = 0; i + n <= s.n; i++) {
		size_t k = 0;
		while (k < n && lower(s.p[i + k]) == word[k])
			k++;
		if (k == n && (i == 0 || !is_word(s.p[i - 1])) && (i + n == s.n || !is_word(s.p[i + n])))
			return true;
	}
	return false;
}

/* The innermost frame: "app.py:5 in <module>: assert torch.allclose(a, b)". */
static struct slice innermost(struct slice frames)
{
	struct slice line = {0}, last = {0};
	while (slice_line(&frames, &line))
		last = slice_trim(line).n ? line : last;
	return last;
}

/* The program itself raised it, by a statement of its own. */
static bool raised_here(struct slice frame)
{
	const char *colon = slice_chr(frame, ':');
	return colon && srcloc_is_user(slice_of(frame.p, (size_t)(colon - frame.p))) &&
	       (slice_find(frame, ": raise ") || slice_find(frame, ": assert "));
}

enum own_check evidence_own_check(const struct explanation *x, const struct fact_failure *r)
{
	static const char *const compares[] = {"Tensor-likes are not ", "Scalars are not ", "The values for attribute ",
					       "Not equal to tolerance ", "Arrays are not "};
	static const char *const calls[] = {"allclose(", "assert_close(", "isclose(", "torch.equal("};
	static const char *const finite[] = {"isnan(", "isfinite(", "isinf("};
	static const char *const words[] = {"nan", "nans", "inf", "infinite", "non-finite"};
	struct slice type = explain_text(x, r->type), reason = slice_trim(explain_text(x, r->reason));
	struct slice first = slice_first_line(reason), frame = innermost(explain_text(x, r->frames));
	if (slice_find(first, "Function '") && slice_find(first, "' returned nan values in its "))
		return CHECK_NAN;
	if (slice_ends(type, "AssertionError") && slice_any(reason, compares, slice_starts))
		return CHECK_NUMBERS;
	/* pytest takes an assertion apart: "assert False", " +  where False = <built-in method allclose of type object at 0x7f>(...". */
	if (slice_ends(type, "AssertionError") && slice_find(reason, "+  where ")) {
		static const char *const methods[] = {"method allclose", "method isclose", "method equal", "function allclose",
						      "function isclose"};
		static const char *const nans[] = {"method isnan", "method isfinite", "method isinf", "function isnan",
						   "function isfinite"};
		if (slice_any(reason, nans, slice_has))
			return CHECK_NAN;
		if (slice_any(reason, methods, slice_has))
			return CHECK_NUMBERS;
	}
	if (!raised_here(frame))
		return CHECK_NONE;
	bool asserts = slice_find(frame, ": assert ") != NULL;
	if (asserts && slice_any(frame, finite, slice_has))
		return CHECK_NAN;
	if (asserts && slice_any(frame, calls, slice_has))
		return CHECK_NUMBERS;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (has_word(first, words[i]))
			return CHECK_NAN;
	return CHECK_NONE;
}

bool evidence_only_tracing(struct slice reason, struct slice frames)
{
	static const char *const says[] = {"symbolic sizes/strides",
					   "SymIntArrayRef expected to contain only concrete",
					   "throw_cannot_call_with_symbolic",
					   "DataDependentOutputException",
					   "DynamicOutputShapeException",
					   "GuardOnDataDependentSymNode",
					   "Could not guard on data-dependent expression",
					   "aten.set_.source",
					   "call_method set_(",
					   "call_function <built-in method set_ of"};
	static const char *const fsdp1[] = {"torch/distributed/fsdp/_flat_param.py",
					    "torch/distributed/fsdp/fully_sharded_data_parallel.py",
					    "torch/distributed/fsdp/_runtime_utils.py"};
	return slice_any(reason, says, slice_has) || slice_any(frames, fsdp1, slice_has);
}

struct slice evidence_fake_kernel(struct explanation *x, struct slice reason)
{
	static const char *const before[] = {"call_function <CustomOpDef(", "call_function torch.ops.", "call_function "};
	static const char *const own[] = {
	    "aten",         "prims",     "prim",     "profiler", "rngprims", "inductor", "c10d",     "_c10d_functional",
	    "higher_order", "quantized", "builtins", "torch",    "operator", "math",     "_operator"};
	/* The schema of the operator rejects an argument before any kernel runs. */
	static const char *const schema[] = {"Expected a value of type", "is missing value for argument", "Unknown keyword argument",
					     "expected at most"};
	struct slice s = {0};
	if (slice_any(reason, schema, slice_has))
		return s;
	for (size_t i = 0; i < ARRAY_LEN(before) && !s.n; i++)
		s = slice_behind(reason, before[i]);
	size_t n = 0, space = 0;
	while (n < s.n && (is_word(s.p[n]) || s.p[n] == '.' || s.p[n] == ':')) {
		if (!space && (s.p[n] == '.' || s.p[n] == ':'))
			space = n;
		n++;
	}
	if (!space || space + 1 >= n || n >= s.n || (s.p[n] != '(' && s.p[n] != ')'))
		return slice_of(NULL, 0);
	if (slice_any(slice_of(s.p, space), own, slice_is))
		return slice_of(NULL, 0);
	return cause_op_name(x, slice_of(s.p, n));
}

struct slice evidence_next(enum own_check check, bool exported)
{
	if (exported)
		return SLICE("model(*args)    # does it fail the same way without torch.export?");
	switch (check) {
	case CHECK_NUMBERS:
		return SLICE("fxexplain run --wrong -- python app.py    # which kernel, or which lost state, makes the numbers wrong\n"
			     "TORCH_COMPILE_DISABLE=1 python app.py    # does eager pass the check?");
	case CHECK_NAN:
		return SLICE(
		    "aoti-nanassert -- python app.py    # which kernel produced the first NaN, and from what\n"
		    "fxexplain run --bisect -- python app.py    # does eager pass the check? else: which part changes the numbers");
	default:
		return SLICE("TORCH_COMPILE_DISABLE=1 python app.py    # does it fail the same way in eager mode?\n"
			     "fxexplain run --recheck -- python app.py    # runs both, and compares");
	}
}

static void add_evidence(struct explanation *x, struct component_view *v, struct slice line)
{
	v->evidence = v->evidence.n ? explain_textf(x, "%.*s\n%.*s", SL(v->evidence), SL(line)) : line;
}

void evidence_eager(struct explanation *x, const struct fact_failure *r, struct component_view *v)
{
	const struct facts *f = x->facts;
	if (f->eager == EAGER_NOT_RUN || !r->ended)
		return;
	struct slice error = explain_text(x, f->eager_error);
	bool program = v->component == COMPONENT_EAGER || (v->component == COMPONENT_NONE && v->sure == SURE_NOT);
	if (f->eager == EAGER_SAME) {
		v->component = COMPONENT_EAGER;
		v->sure = SURE_PROVEN;
		v->basis = BASIS_SEEN;
		v->title = SLICE("the program itself (eager fails too)");
		v->next = v->experiment = slice_of(NULL, 0);
		add_evidence(x, v, explain_textf(x, "TORCH_COMPILE_DISABLE=1: the same failure: %.*s", SLN(error, CLIP)));
		return;
	}
	if (program) {
		v->component = COMPONENT_NONE;
		v->sure = SURE_NOT;
		v->basis = BASIS_NONE;
	}
	if (f->eager == EAGER_PASSES) {
		add_evidence(x, v, SLICE("TORCH_COMPILE_DISABLE=1: exited with status 0: eager passes"));
		if (program) {
			v->title = SLICE("which part of torch.compile failed (eager passes)");
			v->next = SLICE("fxexplain run --bisect -- python app.py    # finds it");
		}
	} else {
		add_evidence(x, v, explain_textf(x, "TORCH_COMPILE_DISABLE=1: another failure: %.*s", SLN(error, CLIP)));
		if (program) {
			v->title = SLICE("which part failed (eager fails in another way)");
			v->next = SLICE("fxexplain run --bisect -- python app.py    # runs it with less and less of the compiler");
		}
	}
}

bool evidence_survived(const struct explanation *x, const struct fact_failure *r)
{
	const struct facts *f = x->facts;
	if (!slice_ends(explain_text(x, r->type), "Unsupported") || r->ended || f->input[r->src.input].kind != FACT_TRACE)
		return false;
	if (r->caught)
		return true;
	/* vmap and grad run their function as a frame of its own only after a break in the caller: with fullgraph=True that one fails. */
	if (slice_find(explain_text(x, r->reason), "Unsupported functorch tracing attempt"))
		for (uint32_t i = 0; i < f->n_brk; i++)
			if (f->brk[i].src.input == r->src.input && f->brk[i].src.line < r->src.line)
				return true;
	return false;
}

const char *explain_verdict_label(const struct component_view *v)
{
	static const char *const label[] = {"Not known yet: ", "Likely cause: ", "Failed: "};
	return v->unfinished                            ? "Unfinished: "
	       : v->interrupted                         ? "Interrupted: "
	       : v->fell_back && v->sure == SURE_PROVEN ? "Fell back to eager: "
							: label[v->sure];
}

struct slice explain_verdict_title(const struct component_view *v)
{
	return v->title.n ? v->title : v->component == COMPONENT_NONE ? slice_of(NULL, 0) : slice_str(component_title[v->component]);
}
