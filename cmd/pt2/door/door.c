#include "door/door.h"

#define RUN_IT "a log has no values: run the program itself, as in: pt2 "

static const struct door doors[] = {
    /* a NULL verb ends */
    /* what ran: a program, or a command behind -- */
    {"why", "c", {"fxexplain run -- {c}"}, {"pt2 fix last", "pt2 slow last", "pt2 nan -- {c}"}},
    {"run", "c", {"fxexplain run -- {c}"}, {"pt2 fix last", "pt2 slow last", "pt2 nan -- {c}"}},
    {"slow", "c", {"fxexplain run --slow -- {c}"}, {"pt2 last"}},
    {"nan", "c", {"aoti-nanassert -- {c}"}, {"pt2 -- {c}"}},
    {"wrong", "c", {"fxexplain run --wrong -- {c}"}, {"pt2 nan -- {c}"}},
    {"crash", "c", {"fxexplain run -- {c}"}, {"pt2 wrong -- {c}"}},
    {"fix", "c", {"fxexplain mend -- {c}"}},
    {"repro", "c", {"fxminify -- {c}"}, {NULL}},
    {"check", "c", .cannot = "which model should be checked while the program runs? pt2 check MODEL.pt2 -- {c}"},
    {"check", "Mc", {"aoti-checkinputs {M} -- {c}"}},
    {"diff", "c", .cannot = "two runs are compared by their traces: pt2 diff BEFORE.log AFTER.log"},

    /* logs */
    {"why", "T+", {"fxexplain {T}"}, {"pt2 slow {T}", "pt2 fix {T}", "pt2 tlparse {T} --html=report.html"}},
    {"why", "B+", {"fxexplain {B}"}, {"pt2 kernel {B}"}},
    {"why", "X+", {"fxexplain {X}"}},
    {"crash", "X+", {"fxexplain crash {X}"}},
    {"crash", "X+M+", {"fxexplain crash {X} {M}"}},
    {"why", "X+M+", {"fxexplain crash {X} {M}"}, {"pt2 check {M}"}},
    {"slow", "T+", {"fxexplain slow {T}"}, {"pt2 {T}", "pt2 tlparse {T} --html=report.html"}},
    {"slow", "[TXB]+", {"fxexplain slow {T} {X} {B}"}, {"pt2 {T} {X} {B}"}},
    {"fix", "T+", {"fxexplain fix {T}"}, {"pt2 {T}"}},
    {"fix", "X", {"fxexplain fix {X}"}, {"pt2 {X}"}},
    {"repro", "T", {"fxminify {T}"}, {"pt2 {T}"}},
    {"diff", "TT", {"tlparse --diff {T}"}, {"pt2 tlparse --diff {T} --html=diff.html"}},
    {"nan", "[TXB]+", .cannot = RUN_IT "nan -- python app.py"},
    {"wrong", "[TXB]+", .cannot = RUN_IT "wrong -- python app.py"},
    {"why", "TD", {"aoti-verify {T} {D}"}, {"pt2 {T}"}},
    {"wrong", "TD", {"aoti-verify {T} {D}"}, {"pt2 {T}"}},
    {"why", "R+", {"tlparse --all-ranks-html {R}"}},

    /* models */
    {"why", "M", {"aoti-checkinputs {M}"}, {"pt2 run {M} {i}", "pt2 nan {M} {i}", "pt2 crash {M}"}},
    {"check", "MI*", {"aoti-checkinputs {M} {I}"}, {"pt2 run {M} {i}", "pt2 nan {M} {i}"}, .found = "pt2 check {M}"},
    {"why", "MI+", {"aoti-checkinputs {M} {I}", "pt2-run {M} {I}"}, {"pt2 nan {M} {I}", "pt2 slow {M} {I}"}, .found = "pt2 check {M}"},
    {"run", "[EM]I*", {"pt2-run {M} {E} {i}"}, {"pt2 slow {M} {E} {i}"}},
    {"run", "K", {"pt2-run {K}"}, {"pt2 nan {K}"}},
    {"slow", "MI*", {"aoti-printer --profile {M} {i}"}, {"pt2 kernel {M}"}},
    {"slow", "EI*", {"pt2-run --profile {E} {i}"}},
    {"nan", "MI*", {"aoti-nanassert {M} {i}"}, {"pt2 run {M} {i}"}},
    {"nan", "EMI*", {"aoti-nanassert --against={E} {M} {i}"}, {"pt2 wrong {E} {M} {I}"}},
    {"check", "EMI+", {"aoti-checkinputs --against={E} {M} {I}"}, {"pt2 nan {E} {M} {I}"}},
    {"crash", "M", {"aoti-checkinputs --doctor {M}"}, {"pt2 run {M} {i}"}},
    {"wrong", "EMI*", {"aoti-verify {E} {M} {I}"}, {"pt2 nan {E} {M} {i}"}},
    {"why", "EM", {"aoti-checkinputs --against={E} {M}", "aoti-verify {E} {M}"}, {"pt2 nan {M} {i}"}},
    {"check", "EM", {"aoti-checkinputs --against={E} {M}"}, {"pt2 wrong {E} {M}"}},
    {"why", "EMI+", {"aoti-checkinputs --against={E} {M} {I}", "aoti-verify {E} {M} {I}"}, {"pt2 nan {E} {M} {I}"}},
    {"wrong", "MI*", .cannot = "a compiled model is verified against what it was compiled from: pt2 wrong EXPORTED.pt2 {M} {I}"},
    {"wrong", "EI*", .cannot = "which package was compiled from it? pt2 wrong {E} MODEL.pt2 {I}"},
    {"diff",
     "MMI*",
     {"aoti-printer -q -o {d}/first {M1} {i}", "aoti-printer --diff {d}/first {M2} {i}"},
     {"pt2 check {M1}", "pt2 check {M2}"}},
    {"why", "E", {"aoti-checkinputs {E}"}, {"pt2 run {E} {i}"}},
    {"why", "EI+", {"pt2-run {E} {I}"}, {"pt2 slow {E} {I}"}},
    {"repro", "E", {"fxminify {E}"}},

    /* what these tools and torch leave behind */
    {"why", "M*C", {"fxexplain crash {C} {M}"}},
    {"crash", "M*C", {"fxexplain crash {C} {M}"}},
    {"why", "D", {"aoti-nanassert {D}"}},
    {"nan", "D", {"aoti-nanassert {D}"}},
    {"why", "DD", {"aoti-printer --diff {D}"}},
    {"diff", "DD", {"aoti-printer --diff {D}"}},
    {"diff", "MI*D", {"aoti-printer --diff {D} {M} {I}"}},
    {"wrong", "ED", {"aoti-verify {E} {D}"}},
    {"why", "ED", {"aoti-verify {E} {D}"}},
    {"wrong", "DG", {"aoti-verify {G} {D}"}},
    {"why", "K", {"aoti-nanassert {K}"}, {"pt2 run {K}"}},
    {"nan", "K", {"aoti-nanassert {K}"}, {"pt2 run {K}"}},
    {"why", "Z", {"fxexplain replay {Z}"}},
    {"repro", "Z", {"fxexplain replay {Z}"}},
    {"why", "F+", {"fxexplain profile {F}"}},
    {"slow", "F+", {"fxexplain profile {F}"}},
    {"diff", "FF", {"fxexplain profile {F}"}},
    {"why", "H", {"fxexplain cache {H}"}},
    {"slow", "H", {"fxexplain cache {H}"}},
    {"why", "TH", {"fxexplain cache {H} --trace={T}"}, {"pt2 slow {T}"}},
    {"slow", "TH", {"fxexplain cache {H} --trace={T}"}, {"pt2 slow {T}"}},
    {"diff", "HH", {"fxexplain cache {H}"}},
    {"why", "[GA]", {"fxminify {G} {A}"}},
    {"repro", "[GA]", {"fxminify {G} {A}"}},
    {"why", "I+[GA]", {"pt2-run {G} {A} {I}"}, {"pt2 repro {G} {A}"}},
    {"run", "I*[GA]", {"pt2-run {G} {A} {I}"}, {"pt2 repro {G} {A}"}},
    {"wrong", "DA", {"aoti-verify {A} {D}"}},
    {"why", "O", {"fxexplain kernel {O}"}},

    /* what answers nothing by itself */
    {"", "I+", .cannot = "tensors are the inputs of a model: pt2 MODEL.pt2 {I}"},
    {"", "J+", .cannot = "a program reads it; the tool that wrote it, without --json, answers in words"},
    {"", "L+", .cannot = "a compiled model exports AOTInductorModelContainerRun; this does not"},
    {"", "N+", .cannot = "a trace (TORCH_TRACE=DIR), a .pt2, a core file, the text of a failure, or: pt2 -- python app.py"},
    {NULL, NULL},
};

/* One step of the pattern: a letter, or a choice of them in brackets. */
static const char *step_end(const char *p)
{
	if (*p == '[')
		while (*p && *p != ']')
			p++;
	return *p ? p + 1 : p;
}

static bool step_takes(const char *p, const char *end, char letter)
{
	for (; p < end; p++)
		if (*p == letter && *p != '[' && *p != ']')
			return true;
	return false;
}

/* Letters are sorted, so the longest match of a step is the right one. */
static bool fits(const char *pattern, const char *letters)
{
	while (*pattern) {
		const char *end = step_end(pattern);
		const char how = *end;
		const bool many = how == '+' || how == '*', maybe = how == '?' || how == '*';
		unsigned n = 0;
		while (*letters && (many || !n) && step_takes(pattern, end, *letters)) {
			letters++;
			n++;
		}
		if (!n && !maybe)
			return false;
		pattern = end + (many || maybe);
	}
	return !*letters;
}

const struct door *door_find(const char *verb, const char *letters)
{
	for (const struct door *d = doors; d->verb; d++)
		if ((!*d->verb || !strcmp(d->verb, verb)) && fits(d->things, letters))
			return d;
	return NULL;
}
