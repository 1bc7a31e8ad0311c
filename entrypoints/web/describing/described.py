"""How a line describes fields of the interface: by their meaning alone, or with keywords of JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

# By the field; several fields that have the same line are separated by spaces.
Lines: TypeAlias = Mapping[str, str | dict[str, Any]]

# The keyword of a line for what only those who send the field need to know.
SENT: Final = "sent"


def field(text: str, **keywords: Any) -> dict[str, Any]:
    """Return a line that says more of a field than its meaning."""
    return {"description": text, **keywords}


def by_field(parts: Iterable[Lines]) -> dict[str, dict[str, Any]]:
    """Return the lines of all parts by single fields, each with its keywords."""
    return {
        name: field(line) if isinstance(line, str) else line
        for part in parts
        for names, line in part.items()
        for name in names.split()
    }
