import json
import re

from . import _internal, structured


def replay(path):
    """The records of a trace, for whoever handles them now. Strings that the process has written already are not written again."""
    for head, payload in re.findall(r"^V[^\n]*?\] (\{[^\n]*)\n((?:\t[^\n]*\n)*)", open(path).read(), re.M):
        metadata = json.loads(head)
        if "str" in metadata:
            text, number = metadata["str"]
            if structured.INTERN_TABLE.setdefault(text, number) == number and text in structured.WRITTEN:
                continue
            structured.WRITTEN.add(text)
        text = payload.replace("\n\t", "\n")[1:-1] if payload else None
        if _internal.trace_log.handlers:
            _internal.trace_log.debug("", extra={"metadata": metadata, "payload": text})
