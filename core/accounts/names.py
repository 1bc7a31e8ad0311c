"""What a person is called: the name of the account, and what the directory of one organization says.

The name belongs to the account, and its user alone sets it. An organization sees it once the user has confirmed what
the organization gave. The names that a directory provisions belong to the membership: they show in the context of its
organization only, and stand in where the user has set no name. Where no SCIM directory names a person, the name that a
connection of the organization gave last counts as the directory's.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest
from core.events import person_events
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.limits import NAME_CHARACTERS_MAX
from core.sessions import callers
from core.text import checked_public_name, normalized

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Letters, numbers, punctuation and symbols: a name has at least one; all other characters leave no trace when written.
_WRITTEN: Final = frozenset("LNPS")


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonNames:
    """The name that a person has set, and the names of the directory of one organization; None for what is not set."""

    own: str | None
    display_name: str | None = None
    formatted_name: str | None = None
    given_name: str | None = None
    family_name: str | None = None

    @property
    def shown(self) -> str | None:
        """The name that the organization shows: the person's own, else the directory's; None without either."""
        joined = " ".join(part for part in (self.given_name, self.family_name) if part)
        return self.own or self.display_name or self.formatted_name or joined or None

    @property
    def profile_claims(self) -> dict[str, str]:
        """The claims of OpenID Connect about these names (Core, 5.1); a claim that is not known is absent.

        Given and family name are the directory's, so they are absent beside a name that the user has set.
        """
        parts = {"given_name": self.given_name, "family_name": self.family_name} if not self.own else {}
        claims = {"name": self.shown, **parts}
        return {claim: value for claim, value in claims.items() if value}


def checked(name: str, field: str = "name") -> str:
    """Return a person's name as it is stored; raise `BadRequest` for one that is empty, too long or misleading."""
    trimmed = name.strip()
    # One form of each letter, so that equal names are equal texts.
    composed = normalized("NFC", trimmed, characters_max=NAME_CHARACTERS_MAX) or trimmed
    accepted = checked_public_name(composed, field=field)
    if not any(unicodedata.category(character)[0] in _WRITTEN for character in accepted):
        raise BadRequest.of_field(field, "A name has a letter or another character that can be seen.")
    return accepted


def checked_or_none(name: str | None, field: str = "name") -> str | None:
    """Return what `checked` does; None for a name that is not given."""
    return checked(name, field) if name is not None else None


def usable_or_none(name: str | None) -> str | None:
    """Return a name that another party gave, as it is stored; None for one that is not given or that is invalid."""
    try:
        return checked_or_none(name)
    except BadRequest:
        return None


def change(uow: UnitOfWork, name: str | None) -> None:
    """Set the name of the caller's account, or remove it with None; repeating it changes nothing.

    Raise `Forbidden` for a service's token, unless the whole account is the service's to change, and `BadRequest`.
    """
    caller = callers.require_whole_account(uow)
    wanted = checked_or_none(name)
    user = uow.users.lock(caller.account.id)
    if user is None or user.name == wanted:
        return
    uow.users.set_name(caller.account.id, wanted, at=uow.now, was_asked=True)
    person_events.record(uow, AuditAction.USER_UPDATED, caller.account.id, caller.account.email, changed=["name"])


def answer(uow: UnitOfWork, user_id: UUID, typed: str) -> None:
    """Keep the answer of a user who was asked for a name; an empty one means none, and is not asked for again.

    Raise `BadRequest`. Nothing changes for a user who has a name already, or has answered.
    """
    wanted = checked_or_none(typed.strip() or None)
    user = uow.users.lock(user_id)
    if user is None or not user.can_be_asked_for_name:
        return
    uow.users.set_name(user_id, wanted, at=uow.now, was_asked=True)
    if wanted is not None:
        person_events.record(uow, AuditAction.USER_UPDATED, user_id, user.email, changed=["name"])


def of_caller(uow: UnitOfWork) -> PersonNames:
    """Return the caller's names in the context of the session."""
    return uow.person_names.defer_of(uow.caller.account.id, uow.caller.place.organization_id)()
