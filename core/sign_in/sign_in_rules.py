"""The sign-in rules of an organization: which second factors count where it requires one.

Requiring one at all is a setting of the organization (`core/organizations/management.py`), and the rules are enforced
where a session is judged (`core/organizations/session_strength.py`, `rules.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import Conflict
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations import management, session_strength
from core.organizations.access import Capability, Operation
from core.organizations.authorization import authorize, authorize_and_lock
from core.organizations.organizations import Organization
from core.sessions.mfa_methods import MfaMethods

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# How many of the people who would be asked are named; the others are counted.
NAMED_MAX: Final = 50


class MethodsChangedSince(Conflict):
    """The rule is not as the caller has seen it."""

    default_message = (
        "Another person has changed this rule meanwhile. This page shows it as it is now: save again if you still want"
        " to change it."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInRules:
    """The sign-in rules of an organization; `mfa_methods` says which second factors count where it requires one."""

    mfa_methods: MfaMethods


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedMember:
    """A member who would have to add a passkey."""

    user_id: UUID
    email: str
    name: str | None
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedMembers:
    """The members who would have to add a passkey: some by name, their number, and the number of all members.

    A caller who may not view the members gets only the numbers. Both numbers are exact up to `COUNTED_MAX`, and one
    more than that beyond. A member who has not confirmed the membership is included, whatever they have: the
    organization sees nothing of an account that it was not given.
    """

    named: Sequence[AskedMember]
    total: int
    members: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleToChange:
    """The rule as it is, who would be asked by the strict one, and whether the caller has what that one asks for."""

    rules: SignInRules
    asked: AskedMembers
    has_own: bool


def show(uow: UnitOfWork, slug: str) -> SignInRules:
    """Return the rules."""
    return _of(authorize(uow, slug, Operation.SIGN_IN_RULES_READ).organization)


def show_to_change(uow: UnitOfWork, slug: str) -> RuleToChange:
    """Return what the caller needs to know before they change the rule."""
    authorized = authorize(uow, slug, Operation.SIGN_IN_RULES_READ)
    organization = authorized.organization
    named_max = NAMED_MAX if Capability.ORG_MEMBERS_VIEW in authorized.capabilities else 0
    return RuleToChange(
        rules=_of(organization),
        asked=uow.sign_in_rules.asked(organization.id, named_max=named_max, counted_max=COUNTED_MAX + 1),
        has_own=uow.sign_in_rules.has_resistant_factor(organization.id, authorized.caller.account.id),
    )


def change(
    uow: UnitOfWork, slug: str, *, mfa_methods: MfaMethods | None, seen: MfaMethods | None = None
) -> SignInRules:
    """Change the rules; None leaves a rule as it is, and without a difference nothing is stored or recorded.

    Raise `NoFactorOfOwn`, and `MethodsChangedSince` when the rule is not as the caller has seen it. A session that has
    not proved what the rule asks for does not loosen it.
    """
    authorized = authorize_and_lock(uow, slug, Operation.SIGN_IN_RULES_CHANGE)
    before = authorized.organization
    if seen is not None and before.mfa_methods is not seen:
        raise MethodsChangedSince
    after = replace(before, mfa_methods=mfa_methods) if mfa_methods is not None else before
    if after == before:
        return _of(before)
    session_strength.require_to_loosen(authorized.caller, before, after)
    session_strength.require_own_factor(uow, authorized.caller, before, after)
    return _of(management.save_and_record(uow, before, replace(after, updated_at=uow.now)))


def _of(organization: Organization) -> SignInRules:
    return SignInRules(mfa_methods=organization.mfa_methods)
