"""What fxexplain says of a run, and how a notebook or a terminal shows it."""
from __future__ import annotations

import re
import sys
from html import escape
from typing import Any, Dict, List, Optional

from . import _tools
from .documents import ExplainDocument, Finding, Location

SHOWN = 20  # findings that a notebook shows
MARKS = {"error": "#b3261e", "warning": "#8a5300", "note": "#555"}


def at(location: Optional[Location], short: bool = False) -> str:
    """file:line in function"""
    if location is None or not location.file:
        return ""
    file = _cell(location.file) or (location.file.rsplit("/", 1)[-1] if short else location.file)
    return file + (":%d" % location.line if location.line else "") + (" in %s" % location.function if location.function else "")


def _cell(file: str) -> Optional[str]:
    """Of the file that IPython calls a cell by, the cell: "In[3]"."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    name = getattr(getattr(shell, "compile", None), "format_code_name", lambda _: None)(file)
    return str(name[1]) if name else None


def _md(text: str) -> str:
    """Text as such in Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>#|~$])", r"\\\1", text).replace("\n", " ")


def _code(text: str) -> str:
    """A code span: its fence is longer than any run of backticks in it."""
    text = text.replace("\n", " ")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return "%s%s%s" % (fence, " %s " % text if text[:1] == "`" or text[-1:] == "`" else text, fence)


def counts(n: int, what: str) -> str:
    return "%d %s%s" % (n, what, "" if n == 1 else "s")


class Explanation(ExplainDocument):
    """What fxexplain says of a run: `.findings`, worst first, `.verdict`, `.summary`, and the rows that they come from.

    str() and print() show the findings as text, a notebook as HTML, others as Markdown. `.exception` is what the watched code raised, else None.
    """

    exception: Optional[BaseException] = None
    watched = False  # a block of watch(): its log says nothing of where nothing was compiled

    @property
    def line(self) -> str:
        """One line about the run."""
        s = self.summary
        line = "%s, %s, %s, %s" % (counts(s.compiles, "compilation"), counts(s.graphs, "graph"), counts(s.graph_breaks, "graph break"),
                                   counts(s.recompiles, "recompile"))
        line += ", %s" % counts(s.failures, "failure") if s.failures else ""
        line += ", %.2f s of compile time" % s.compile_seconds if s.compile_seconds else ""
        if self.watched and not s.compiles and not s.failures:
            return "Nothing was compiled here"
        return "%s: %s" % (self.headline, line) if self.headline else line

    def __str__(self) -> str:
        lines = [_printable(self.line)]
        if self.verdict is not None and self.verdict.title:
            lines.append(_printable("Failed: %s" % self.verdict.title))
        for f in self.findings:
            lines += ["", *finding_lines(f)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return "<pt2utils.Explanation: %s; %s>" % (self.line, counts(len(self.findings), "finding"))

    def _repr_markdown_(self) -> str:
        lines = [_md(self.line)]
        if self.verdict is not None and self.verdict.title:
            lines += ["", "**Failed:** %s" % _md(self.verdict.title)]
        lines += [""] * bool(self.findings)
        for f in self.findings[:SHOWN]:
            line = "- **%s** %s" % (_md(f.level), _md(f.title))
            line += " (%s)" % _code(at(f.location)) if at(f.location) else ""
            line += "  \n  %s" % _md(f.cost) if f.cost else ""
            line += "  \n  fix: %s" % _code(f.fix[0]) if f.fix else ""
            lines.append(line)
        return "\n".join(lines + self._more())

    def _repr_html_(self) -> str:
        """A fragment of HTML without scripts, classes or ids: it changes nothing of the page around it."""
        out = ["<div><p>%s</p>" % escape(self.line)]
        if self.verdict is not None and self.verdict.title:
            because = "".join("<br><small>%s</small>" % escape(e) for e in self.verdict.evidence[:3])
            out.append("<p><b>Failed:</b> %s%s</p>" % (escape(self.verdict.title), because))
        for n, f in enumerate(self.findings[:SHOWN]):
            out.append('<details%s><summary><b style="color:%s">%s</b> %s%s</summary><dl style="margin:0 0 0.5em 1.5em">%s</dl></details>' % (
                " open" * (f.level == "error" or n == 0), MARKS.get(f.level, "inherit"), escape(f.level), escape(f.title),
                " <code>%s</code>" % escape(at(f.location, True)) if at(f.location) else "", _details(f)))
        out += ["<p>%s</p>" % escape(line) for line in self._more() if line]
        return "\n".join([*out, "</div>"])

    def _more(self) -> List[str]:
        left = len(self.findings) - SHOWN
        return ["", "... and %s" % counts(left, "more finding")] if left > 0 else []


def finding_lines(f: Finding) -> List[str]:
    """A finding as text, for a terminal."""
    lines = ["%s: %s" % (f.level, f.title)]
    if at(f.location):
        lines.append("  at     %s" % at(f.location))
    if f.location is not None and f.location.code:
        lines.append("         > %s" % f.location.code.strip())
    if f.cost:
        lines.append("  cost   %s" % f.cost)
    if f.why:
        lines.append("  why    %s" % f.why.split("\n")[0])
    for n, fix in enumerate(f.fix[:2]):
        lines.append("  %s %s" % ("fix   " if n == 0 else "or    ", fix.split("\n")[0]))
    return [_printable(line) for line in lines]


def _printable(text: str) -> str:
    """Without control characters: names in a log come from anywhere."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _details(f: Finding) -> str:
    rows: List[Dict[str, Any]] = [{"at": at(f.location)}, {"line": f.location.code if f.location else None}, {"cost": f.cost}, {"why": f.why},
                                  *({"fix": fix} for fix in f.fix[:3]), *({"next": command} for command in f.next[:2])]
    out = ""
    for row in rows:
        for name, text in row.items():
            if text:
                mark = "code" if name in ("at", "line", "fix", "next") else "span"
                out += '<dt>%s</dt><dd><%s style="white-space:pre-wrap">%s</%s></dd>' % (name, mark, escape(str(text).strip()), mark)
    return out


def load(*traces: _tools.Path) -> Explanation:
    """What happened in these: logs or folders that TORCH_TRACE wrote, torch_compile_debug folders, texts. Error, if there is nothing to explain."""
    return Explanation.of(_tools.run("fxexplain", *traces))
