/* undress.h - removes from a pasted text what other tools put before its lines, and writes their tracebacks as Python does.
 *
 *     struct undress u = {0};
 *     struct slice plain = undress(&u, window);      // whole lines, and the same number of lines: line numbers stay valid
 *     undress_release(&u);
 *
 * It reads:
 *     a prefix of each line          "> ", "node17: ", "[1,0]<stderr>:", "2026-03-01 09:14:00,123 - root - ERROR - ": learned from a
 *                                    traceback whose next lines have the same prefix, except for digits and levels. Labels and
 *                                    record prefixes that textlog.h reads are kept: they say whose line it is.
 *     a prefix of the first line     "... - ERROR - Traceback (most recent call last):", followed by bare lines
 *     terminal escapes               colours, titles, Buildkite's ESC _bk;t=1772356440000 BEL
 *     docker's log files             {"log":"  File \"/app/x.py\", line 12\n","stream":"stderr","time":"..."}
 *     Jupyter, IPython, Colab        "KeyError      Traceback (most recent call last)", "Cell In[3], line 7", "File ~/x.py:12, in f(x)",
 *                                    "[/x.py](https://localhost:8080/#) in f(x)"; the file of a cell is "Cell In[3]"
 *     rich (Lightning, typer)        a box: "│ /x.py:12 in f │", "│ ❱ 12 │   y = g(x) │"
 *     faulthandler's time-out        "Timeout (0:10:00)!" and its stacks, as py-spy prints them
 *     pytest                         ">       f(x)", "app/x.py:12: in f", "E   KeyError: 'a'"
 *
 * Each window is searched once for tracebacks; without one, and without escapes, it is returned unchanged. The result is valid
 * until the next call.
 */
#ifndef PT2_UNDRESS_H
#define PT2_UNDRESS_H
#include "base/buf.h"

enum { UNDRESS_PREFIXES = 4, UNDRESS_PREFIX_MAX = 160 };

struct undress {
	struct undress_prefix {
		char text[UNDRESS_PREFIX_MAX];
		size_t n;
	} prefix[UNDRESS_PREFIXES];
	unsigned n_prefix;
	bool started, utf16, docker, joined; /* joined: the next line of a box is the end of this one's path */
	enum undress_layout {
		LAYOUT_PLAIN,
		LAYOUT_NOTEBOOK,
		LAYOUT_PYTEST,
		LAYOUT_PYTEST_MESSAGE,
		LAYOUT_PYTEST_CHAIN,
		LAYOUT_RICH,
		LAYOUT_RICH_END,
		LAYOUT_TIMEOUT
	} layout;
	char name[80]; /* LAYOUT_NOTEBOOK: the exception's, which ends the frames */
	char func[80]; /* LAYOUT_PYTEST: of the last "def" */
	size_t margin; /* LAYOUT_PYTEST_MESSAGE: spaces before the first line, which pytest takes from the source line */
	struct buf clean, json, out;
};

struct slice undress(struct undress *u, struct slice window);
void undress_release(struct undress *u);

#endif
