"""Rules that keep organizations and people apart, each undone by one patch, to show that the histories find the hole.

A line names the function that is patched, and what it is patched with. Most functions do nothing then; a rule that has
moved fails here, because there is nothing left to patch.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

import pytest

from core.accounts.users import User
from core.organizations.group_roles import FittedMember, GivenRole
from core.platform.sign_in_checks import RuleCheck, RuleVerdict
from core.platform.sign_in_questions import SignInQuestion
from core.platform.why import named
from core.sign_in.sign_ins import Affiliation
from ports.unit_of_work import UnitOfWork
from tests.tenants.taking import Story


@dataclass(frozen=True)
class Undone:
    """A rule that is undone, the story whose histories find that, and the kinds of violation."""

    rule: str
    module: str
    name: str
    instead: Callable[[Any], Any]
    story: Story
    kinds: tuple[str, ...]

    def patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Undo the rule until the test ends."""
        place = pkgutil.resolve_name(self.module)
        monkeypatch.setattr(place, self.name, self.instead(getattr(place, self.name)))


def _nothing(_original: Any) -> Any:
    return lambda *_args, **_options: None


def _none(_original: Any) -> Any:
    return lambda *_args, **_options: ()


def _no(_original: Any) -> Any:
    return lambda *_args, **_options: False


def _anywhere(original: Any) -> Any:
    """Return a function that takes every address for one of the organization's mail domain."""
    return lambda uow, organization_id, belonging: original(
        uow, organization_id, replace(belonging, is_in_own_domain=True)
    )


def _newest_password(_original: Any) -> Any:
    """Return a function that proves an address, and leaves the password that is there."""

    def prove(uow: UnitOfWork, user: User, _registration: Any) -> User:
        uow.users.set_verified(user.id, at=uow.now)
        return replace(user, email_verified_at=uow.now)

    return prove


def _unlimited(_original: Any) -> Any:
    """Return a function that leaves a proof without limits."""
    return lambda proof, _target: proof


def _passed(_original: Any) -> Any:
    """Return a function that takes every refusal for none."""
    return lambda rule, _refusal: RuleCheck(rule=rule, verdict=RuleVerdict.PASSES)


def _any_account(_original: Any) -> Any:
    """Return a function that finds every account, and takes it for that of a member."""

    def find(uow: UnitOfWork, _organization_id: Any, question: SignInQuestion) -> tuple[User | None, Affiliation]:
        return named(uow, question), Affiliation(since=uow.now)

    return find


def _together(_original: Any) -> Any:
    """Return a function that gives the whole account another address, and ends what others gave."""

    def split(
        uow: UnitOfWork, organization_id: UUID, user_id: UUID, _email: str, address: str, *, keeps_person: bool
    ) -> UUID | None:
        if not uow.users.set_email(user_id, address, verified_at=uow.now if keeps_person else None, at=uow.now):
            return None
        for other_id in uow.members.unconfirmed_organizations_of(user_id):
            if other_id != organization_id:
                uow.members.remove(other_id, user_id)
        return user_id

    return split


def _yes(_original: Any) -> Any:
    return lambda *_args, **_options: True


def _kept(original: Any) -> Any:
    """Return a function that leaves a role which a rule gave when none fits any longer."""

    def decide(member: FittedMember, rules: Any) -> GivenRole:
        given = original(member, rules)
        return member.present if given.role_source is None else given

    return decide


UNDONE: Final = (
    Undone(
        "1: what is given hangs on the address",
        "core.accounts.addresses",
        "leave",
        _nothing,
        Story.GIVING,
        ("membership", "subscription"),
    ),
    Undone(
        "1: no organization undoes what another one provisions",
        "core.accounts.account_splits",
        "split",
        _together,
        Story.GIVING,
        ("taken away",),
    ),
    Undone(
        "2: a stranger's account is not deactivated",
        "core.accounts.own_accounts",
        "take_access",
        _anywhere,
        Story.SUSPENDING,
        ("denied",),
    ),
    Undone(
        "2: the account of a former employee is deactivated",
        "core.accounts.own_accounts",
        "take_access",
        _nothing,
        Story.SUSPENDING,
        ("outlived an account",),
    ),
    Undone(
        "3: leaving ends access",
        "core.organizations.departures",
        "end",
        _nothing,
        Story.LEAVING,
        ("outlived a membership",),
    ),
    Undone(
        "7: each registration has a password of its own",
        "core.accounts.verification",
        "_prove",
        _newest_password,
        Story.REGISTERING,
        ("taken over",),
    ),
    Undone(
        "a code of a mail is compared with that of its challenge",
        "core.accounts.mailed_codes",
        "_is_code",
        _yes,
        Story.REGISTERING,
        ("taken over",),
    ),
    Undone(
        "8: identities end where a connection leads elsewhere",
        "core.sign_in.upstream.changes",
        "leads_elsewhere",
        _no,
        Story.CONNECTING,
        ("outlived a connection", "taken over"),
    ),
    Undone(
        "a sign-in without the required one opens its service alone",
        "core.sign_in.rules",
        "_limited_to",
        _unlimited,
        Story.CONNECTING,
        ("opened elsewhere",),
    ),
    Undone(
        "what was made in a takeover is withdrawn",
        "core.organizations.takeover_credentials",
        "withdraw",
        _none,
        Story.HIJACKING,
        ("outlived a takeover",),
    ),
    Undone(
        "who came by a takeover has no access",
        "core.organizations.takeovers",
        "_suspend_invited",
        _none,
        Story.HIJACKING,
        ("outlived a takeover",),
    ),
    Undone(
        "an ownership that was passed on in a takeover comes back",
        "core.organizations.takeovers",
        "_revert_ownerships",
        _nothing,
        Story.HIJACKING,
        ("denied", "outlived a takeover"),
    ),
    Undone(
        "a directory gives no role that the maker of its token could not give",
        "core.organizations.group_roles",
        "_gives",
        _yes,
        Story.GROUPING,
        ("rule", "membership"),
    ),
    Undone(
        "what a rule gave is taken when none fits any longer",
        "core.organizations.group_roles",
        "_decided",
        _kept,
        Story.GROUPING,
        ("rule",),
    ),
    Undone(
        "a connection that gives roles by rules is led elsewhere by none who could not give them",
        "core.sign_in.upstream.changes",
        "_given_roles",
        _none,
        Story.GROUPING,
        ("rule", "membership"),
    ),
    Undone(
        "a powerful role of a rule takes a mailed code",
        "core.organizations.group_roles",
        "opens_by_word_alone",
        _yes,
        Story.GROUPING,
        ("word alone",),
    ),
    Undone(
        "what another claim said of groups is forgotten",
        "adapters.postgres.sign_in.upstream.connections.PostgresUpstreamConnections",
        "forget_groups",
        _nothing,
        Story.GROUPING,
        ("rule", "membership"),
    ),
    Undone(
        "what refuses a sign-in is explained",
        "core.platform.sign_in_walks",
        "_refused",
        _passed,
        Story.SUSPENDING,
        ("another story",),
    ),
    Undone(
        "what is explained refuses a sign-in",
        "core.sign_in.conclusion",
        "_refusal_by",
        _nothing,
        Story.REGISTERING,
        ("another story",),
    ),
    Undone(
        "an organization is told what lies in its context alone",
        "core.platform.why",
        "_affiliated",
        _any_account,
        Story.LEAVING,
        ("another story",),
    ),
)
