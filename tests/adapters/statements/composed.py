"""Samples of the parts of texts that a request composes at run time, which cannot be read from the source.

By the module and the name that the part has there. What the reader of texts cannot read fails the check, so that a
new part of this kind is found; it then gets samples here, made by the function that composes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from adapters.postgres.audit import entry_search
from adapters.postgres.scim.user_filters import written
from core.scim.filters import Operator
from core.scim.user_filters import Always, Both, Column, Compared, Condition, Either, Given, Opposite

_ID: Final = UUID(int=0)
_RANGES: Final = (
    entry_search._ACTION,
    entry_search._TARGET_TYPE,
    entry_search._TARGET,
    entry_search._USER,
    entry_search._WITHOUT_USER,
    entry_search._IP_ADDRESS,
    entry_search._REQUEST,
)
# Of each log, and of times and of any.
_LEADING: Final = [
    entry_search.Range(log, condition, is_of_times)
    for log in (entry_search.OF_ORGANIZATION, entry_search.OF_PLATFORM)
    for condition in (*_RANGES, entry_search._EVERY)
    for is_of_times in (False, True)
]
_ADDRESS: Final = Compared(Column.USER_NAME, Operator.EQ, "ada@example.com")
_CONDITIONS: Final[Sequence[Condition]] = (
    _ADDRESS,
    Compared(Column.USER_NAME, Operator.EQ, "ada"),
    Compared(Column.ID, Operator.EQ, _ID),
    Compared(Column.ID, Operator.NE, _ID),
    *(Compared(Column.DISPLAY_NAME, operator, "ada") for operator in Operator),
    Compared(Column.IS_ACTIVE, Operator.EQ, value=True),
    Given(Column.EXTERNAL_ID),
    Always(is_true=True),
    Opposite(_ADDRESS),
    Both(_ADDRESS, Opposite(_ADDRESS)),
    Either(_ADDRESS, Either(_ADDRESS, Always(is_true=True))),
)
COMPOSED: Final[Mapping[tuple[str, str], Sequence[str] | Sequence[entry_search.Range]]] = {
    ("audit.entry_search", "counts"): [
        ", ".join(
            f"({entry_search.count_of(one)})" for one in _LEADING if (one.log, one.is_of_times) == (log, is_of_times)
        )
        for log in (entry_search.OF_ORGANIZATION, entry_search.OF_PLATFORM)
        for is_of_times in (False, True)
    ],
    ("audit.entry_search", "leading"): _LEADING,
    ("audit.entry_search", "others"): [entry_search._EVERY, " AND ".join([*_RANGES, entry_search._IDS])],
    ("scim.users", "text"): [written(condition, _ID)[0] for condition in _CONDITIONS],
}
