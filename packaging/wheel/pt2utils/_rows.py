"""What the classes of documents.py share: an object of a JSON document as a dataclass."""
from __future__ import annotations

import keyword
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Dict, FrozenSet, Mapping, Type, TypeVar

R = TypeVar("R", bound="Row")


@dataclass(frozen=True)
class Row:
    """An object of a document. `raw` is the parsed JSON, with what this version does not describe.

    A member that is missing there is None, or an empty list; one with the name of a Python keyword ends in an underscore.
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset()

    @classmethod
    def of(cls: Type[R], raw: Mapping[str, Any]) -> R:
        """This class from parsed JSON."""
        members: Dict[str, Any] = {}
        for f in fields(cls):
            key = f.name[:-1] if f.name.endswith("_") and keyword.iskeyword(f.name[:-1]) else f.name
            value = raw.get(key)
            row = cls._rows.get(key)
            if row is not None and isinstance(value, list):
                value = [row.of(v) if isinstance(v, dict) else v for v in value]
            elif row is not None and isinstance(value, dict):
                value = row.of(value)
            members[f.name] = [] if value is None and key in cls._lists else value
        self = cls(**members)
        object.__setattr__(self, "_raw", raw)
        return self

    @property
    def raw(self) -> Mapping[str, Any]:
        """The parsed JSON that this was made of."""
        found: Mapping[str, Any] = getattr(self, "_raw", {})
        return found
