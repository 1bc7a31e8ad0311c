"""Finding entries in the audit log of an organization or the platform: by actor, action, target, address and time.

Each of these conditions is a range of an index, of which at most `COUNTED_MAX` entries are counted. Of several, the one
with the fewest entries leads: its newest entries, at most `LOOKED_AT_MAX`, are read and compared with the others. So no
search reads a whole log; one that finds little says how far it has looked, and the next page goes on from there. The
ids bound a time, and the entries at both of its ends are compared with it (`core/log_times.py`).
"""

from __future__ import annotations

import ipaddress
import re
from datetime import datetime
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.email_addresses import canonical_email
from core.errors import BadRequest
from core.ids import LAST_ID
from core.lazy_dataclasses import dataclass
from core.log_times import LogTimes

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# So many entries of the leading condition are read for a page, where others are compared.
LOOKED_AT_MAX: Final = 3_000
# No entry has this actor.
NO_ACTOR: Final = "00000000-0000-0000-0000-000000000000"
_ID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ACTOR: Final = re.compile(rf"system|(?:(?:api_key|setup_link):)?{_ID}")
_ACTOR_MALFORMED: Final = (
    "Give an email address, or the id of an actor as entries show it: a user's id, api_key: or setup_link: with an id,"
    " or system."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryCriteria:
    """What the interface can search for; None means any. A list goes on with entries older than `before_id`."""

    action: Enum | None = None
    target_type: StrEnum | None = None
    target_id: str | None = None
    actor: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    q: str | None = None
    before_id: UUID | None = None

    @property
    def is_given(self) -> bool:
        """Whether anything besides actions and targets is requested."""
        return any(value is not None for value in (self.actor, self.since, self.until, self.q, self.before_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrySearch:
    """The conditions of a search by stored values; None means any. Entries have ids before `before_id`."""

    actor: str | None = None
    action: str | None = None
    target_type: str | None = None
    target_id: str | None = None
    ip_address: str | None = None
    request_id: str | None = None
    times: LogTimes = LogTimes()
    before_id: UUID = LAST_ID


def actor_of(uow: UnitOfWork, typed: str) -> str:
    """Return the actor with an address or an id; `NO_ACTOR` for an address without an account.

    Raise `BadRequest` for any other text.
    """
    trimmed = typed.strip()
    if "@" in trimmed:
        user_id = uow.elsewhere.audit_searches.user_of(canonical_email(trimmed, uow.domain_names.to_ascii))
        return str(user_id) if user_id is not None else NO_ACTOR
    if not _ACTOR.fullmatch(trimmed.lower()):
        raise BadRequest.of_field("actor", _ACTOR_MALFORMED)
    return trimmed.lower()


def place_of(typed: str) -> tuple[str | None, str | None]:
    """Return what a text names, an IP address or else the id of a request, as a pair of both."""
    trimmed = typed.strip()
    try:
        return str(ipaddress.ip_address(trimmed)), None
    except ValueError:
        return None, trimmed


def searched(uow: UnitOfWork, criteria: EntryCriteria) -> EntrySearch:
    """Return the conditions of a search by programs; raise `BadRequest` for an actor that cannot exist."""
    ip_address, request_id = place_of(criteria.q) if criteria.q is not None else (None, None)
    return EntrySearch(
        actor=actor_of(uow, criteria.actor) if criteria.actor is not None else None,
        action=criteria.action.value if criteria.action is not None else None,
        target_type=criteria.target_type,
        target_id=criteria.target_id,
        ip_address=ip_address,
        request_id=request_id,
        times=LogTimes(since=criteria.since, until=criteria.until),
        before_id=criteria.before_id or LAST_ID,
    )
