"""A call of the interface as a value: what is sent, and what comes back. `clients.py` sends it.

The functions of `service.py` and `management.py` return calls, so one function serves both clients.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar
from urllib.parse import quote

T_co = TypeVar("T_co", covariant=True)
Item_co = TypeVar("Item_co", covariant=True)


class Unset(Enum):
    """The value of a keyword that is left out; None is sent as null."""

    UNSET = "UNSET"


UNSET: Final = Unset.UNSET
AnswerKind: TypeAlias = Literal["json", "text", "bytes", "nothing"]
# By the number of the page, by how many to skip, by the cursor of the answer, or by the id of the last item.
PagingKind: TypeAlias = Literal["page", "offset", "cursor", "last_id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T_co]):
    """A request, whose answer is of the type `T_co`."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    # None for no body. Bodies may contain secrets.
    body: Mapping[str, Any] | None = field(default=None, repr=False)
    is_form: bool = False
    media_type: str | None = None
    answer: AnswerKind = "json"

    @property
    def is_safe(self) -> bool:
        """Whether sending it twice changes nothing more than sending it once."""
        return self.method in {"GET", "HEAD", "OPTIONS"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCall(Call[T_co], Generic[T_co, Item_co]):
    """A call whose answer has items: in the field `items`, or None for an answer that is itself the list.

    `paging` is how its next page is asked for; None where the answer has all items. `cursor` is the field with the
    cursor of the next page.
    """

    items: str | None = None
    paging: PagingKind | None = None
    cursor: str | None = None


def segment(value: object) -> str:
    """Return a value as one segment of a path; raise `ValueError` for one that would lead elsewhere."""
    text = str(value)
    if text in {"", ".", ".."}:
        raise ValueError(f"{text!r} is no name in a path")
    return quote(text, safe="")


def query_of(**fields: Any) -> dict[str, str]:
    """Return the parameters of a query; what is left out or None is not sent."""
    return {name: _text(value) for name, value in fields.items() if value is not UNSET and value is not None}


def body_of(**fields: Any) -> dict[str, Any]:
    """Return the fields of a body; what is left out is not sent."""
    return {name: value for name, value in fields.items() if value is not UNSET}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)
