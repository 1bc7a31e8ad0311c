"""Inviting the people of a long list by a job: its rows, and those that only say what was left out.

How a list is read is in `address_lists.py`, the job in `core/organizations/bulk_jobs.py`. An address that the list has
more than once, and a text without an address, is a row too, which is refused, so that the page of the job names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from core.errors import BadRequest
from core.invitations import invitations
from core.invitations.address_lists import TypedList
from core.limits import EMAIL_CHARACTERS_MAX, NAME_CHARACTERS_MAX
from core.organizations.bulk_jobs import WantedRow

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class LeftOut(StrEnum):
    """Why a row of the list is not invited; stored as what the page has shown of its state."""

    REPEATED = "repeated"
    NAMES = "names"


# What is stored of a row with a name in its place.
_CALLED: Final = "called "
REPEATED: Final = "The list has this address more than once; it is invited once."
NAMES: Final = "These texts have no address, so they were taken as names. Add the addresses of people who are missing."
# A row is as long as an address; one character more shows that it is cut.
_LABEL_CHARACTERS_MAX: Final = EMAIL_CHARACTERS_MAX + 1
_BETWEEN_NAMES: Final = ", "
_BETWEEN_SLUGS: Final = ","


def rows_of(typed: TypedList) -> list[WantedRow]:
    """Return the rows of a job that invites everyone in the list; first those that only name what is left out."""
    return [
        *(_row(text, seen=LeftOut.NAMES) for text in _joined(typed.names)),
        *(_row(text, seen=LeftOut.REPEATED) for text in typed.repeated),
        *(_row(text) for text in typed.lines),
        *(_row(text, seen=_seen(typed.called.get(text))) for text in typed.addresses),
    ]


def details_of(role: str, services: Sequence[str], message: str | None) -> Mapping[str, str]:
    """Return what a job stores for all of its invitations; `invite` takes it."""
    given = {"services": _BETWEEN_SLUGS.join(services), "message": message}
    return {"role": role} | {name: value for name, value in given.items() if value}


def invite(uow: UnitOfWork, slug: str, address: str, details: Mapping[str, str], *, left_out: str) -> None:
    """Invite the person of a row; raise `BadRequest` for a row that only names what was left out."""
    if left_out == LeftOut.REPEATED:
        raise BadRequest(REPEATED)
    if left_out == LeftOut.NAMES:
        raise BadRequest(NAMES)
    services = details["services"].split(_BETWEEN_SLUGS) if "services" in details else []
    name = left_out.removeprefix(_CALLED) if left_out.startswith(_CALLED) else None
    message = details.get("message")
    invitations.invite(uow, slug, address, details["role"], services=services, message=message, name=name)


def _seen(name: str | None) -> str:
    return f"{_CALLED}{name[:NAME_CHARACTERS_MAX]}" if name else ""


def _row(text: str, *, seen: str = "") -> WantedRow:
    return WantedRow(label=text[:_LABEL_CHARACTERS_MAX], seen=seen)


def _joined(names: Sequence[str]) -> Iterator[str]:
    """Yield the names, as many together as fit into a row: a spreadsheet has one beside each address."""
    line = ""
    for name in names:
        longer = f"{line}{_BETWEEN_NAMES}{name}" if line else name
        if line and len(longer) > _LABEL_CHARACTERS_MAX:
            yield line
            longer = name
        line = longer
    if line:
        yield line
