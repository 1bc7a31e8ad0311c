"""Filters of the groups of a directory: comparisons for equality that all have to hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final
from uuid import UUID

from core.directory_texts import stored_form
from core.lazy_dataclasses import dataclass
from core.scim import filters
from core.scim.filters import And, Comparison, Filter, Operator, ValuePath
from core.scim.refusals import InvalidFilter

_MEMBER: Final = frozenset({"members", "members.value"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSearch:
    """The values that all have to fit; None for any. Each account of `member_ids` has to be in the group.

    `is_impossible` means that no group can fit.
    """

    display_name: str | None = None
    external_id: str | None = None
    group_id: UUID | None = None
    member_ids: frozenset[UUID] = frozenset()
    is_impossible: bool = False

    def of_accounts(self, accounts: frozenset[UUID]) -> GroupSearch:
        """Return the search with accounts instead of the ids by which the organization knows them."""
        return replace(self, member_ids=accounts)


def search_of(filter_: Filter) -> GroupSearch:
    """Return the search that a filter means; raise `InvalidFilter`."""
    _require_conjunction(filter_)
    found = GroupSearch()
    for comparison in filters.comparisons(filter_):
        found = _narrowed(found, comparison)
    return found


def _require_conjunction(filter_: Filter) -> None:
    match filter_:
        case Comparison(operator=Operator.EQ):
            return
        case And():
            _require_conjunction(filter_.left)
            _require_conjunction(filter_.right)
        case ValuePath():
            _require_conjunction(filter_.inner)
        case _:
            raise _unsupported()


def _narrowed(found: GroupSearch, comparison: Comparison) -> GroupSearch:
    key, text = comparison.path.key, comparison.value
    if not isinstance(text, str):
        raise _unsupported()
    if key == "displayname":
        return _with_name(found, stored_form(text))
    if key == "externalid":
        external_id = stored_form(text)
        return replace(
            found, external_id=external_id, is_impossible=_contradicts(found, found.external_id, external_id)
        )
    if key not in {"id", *_MEMBER}:
        raise _unsupported()
    named = next(_ids([text]), None)
    if named is None:
        # No group and no member has a text that is no id.
        return replace(found, is_impossible=True)
    if key in _MEMBER:
        return replace(found, member_ids=found.member_ids | {named})
    return replace(found, group_id=named, is_impossible=_contradicts(found, found.group_id, named))


def _with_name(found: GroupSearch, name: str) -> GroupSearch:
    # The database compares names in any case; this compares two names within one filter.
    is_other = found.display_name is not None and found.display_name.casefold() != name.casefold()
    return replace(found, display_name=name, is_impossible=found.is_impossible or is_other)


def _contradicts(found: GroupSearch, held: object, wanted: object) -> bool:
    return found.is_impossible or held not in {None, wanted}


def _ids(texts: Iterable[str]) -> Iterator[UUID]:
    for text in texts:
        try:
            yield UUID(text)
        except ValueError:
            continue


def _unsupported() -> InvalidFilter:
    return InvalidFilter(
        "Groups are filtered by displayName, externalId, id and members.value, each compared by eq with a text, and"
        " several of them by and."
    )
