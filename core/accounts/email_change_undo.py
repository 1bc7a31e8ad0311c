"""Undoing a change of an account's address within a week, by the link that its old address got.

The person who made the change had access to the account, and the new address has received mail since: links that reset
the password, invitations. So undoing ends every way in, and opens an account again that was closed. The access goes
back to what the account held when the change was requested; what it was given, made or passed on since then is taken
back (ops/decisions/0051-undone-takeovers.md). `core/organizations/takeovers.py` and its neighbours decide what that is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import (
    addresses,
    closing,
    links,
    one_time_tokens,
    open_registrations,
    passwords,
    takeover_settings,
)
from core.accounts.links import LinkTexts, LinkUnusable, ValidLink
from core.accounts.one_time_tokens import OneTimeToken, TokenPurpose
from core.credentials import mfa
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.made_things import MadeKind, MakerEvent, Outcome
from core.organizations import (
    departures,
    group_roles,
    keys,
    platform_support,
    takeover_credentials,
    takeover_mails,
    takeovers,
)
from core.organizations.takeovers import Acting, HeldAccess, MadeThing, Takeover
from core.secrets import Secret, hash_token
from core.tables import PartialTable

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

TEXTS: Final = LinkTexts(
    unknown="This link is not valid. Open it exactly as it appears in the mail.",
    used="This link was used already, or a later one replaced it. If your account has this address again and you cannot"
    " sign in, reset the password.",
    expired="This link has expired. It was valid for seven days; ask the operator of this service for help.",
)


class AddressGone(BadRequest):
    """Another account has proved the old address since."""

    default_message = (
        "Your old address belongs to another account now. The change cannot be undone here; ask the operator of this"
        " service for help."
    )


class GovernsSince(BadRequest):
    """Since the request, the account has become a platform owner, or was made the owner of an organization."""

    default_message = (
        "This account was made the owner of an organization or of the platform since the change of its address was"
        " requested. The change cannot be undone here; ask the operator of this service for help, who can check whose"
        " account it is."
    )


# The function that takes back each kind of things that were made during a takeover.
_TAKES_BACK: Final[PartialTable[MadeKind, Callable[[UnitOfWork, Sequence[Acting]], Sequence[MadeThing]]]] = (
    PartialTable(
        {
            MadeKind.INVITATION: takeover_credentials.withdraw_invitations,
            MadeKind.SETUP_LINK: takeover_credentials.withdraw_setup_links,
            MadeKind.ORGANIZATION_KEY: takeover_credentials.withdraw_organization_keys,
            MadeKind.API_KEY: takeover_credentials.withdraw_api_keys,
            MadeKind.WORKLOAD: takeover_credentials.withdraw_workloads,
            MadeKind.SCIM_TOKEN: takeover_credentials.withdraw_scim_tokens,
            MadeKind.CLIENT_SECRET: takeover_credentials.withdraw_secrets,
            MadeKind.WEBHOOK: takeover_credentials.switch_webhooks_off,
            MadeKind.SIEM_STREAM: takeover_credentials.switch_streams_off,
            MadeKind.CONNECTION: takeover_credentials.switch_connections_off,
            MadeKind.GROUP_RULE: takeover_credentials.withdraw_rules,
            MadeKind.DIRECTORY_PLACE: takeover_credentials.take_back_places,
            MadeKind.END_USER: takeover_credentials.end_links,
            MadeKind.CUSTOMER_SETUP: takeover_credentials.switch_off,
            MadeKind.CUSTOMER: takeover_settings.fall_back,
            MadeKind.CUSTOMER_PERSON: takeover_settings.fall_back,
            MadeKind.PRODUCT: takeover_settings.fall_back,
            MadeKind.SERVICE: takeover_settings.fall_back,
            MadeKind.SAML: takeover_settings.fall_back,
            MadeKind.PROVIDER_CREDENTIALS: takeover_settings.fall_back,
        }
    )
)
# Kinds taken back elsewhere: with the access of people, before what they made, or with the end of their sessions.
TAKEN_BACK_ELSEWHERE: Final = frozenset({MadeKind.ROLE, MadeKind.GRANT, MadeKind.SIGN_IN, MadeKind.JOB})


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoableChange:
    """A change that the link undoes."""

    made_at: datetime


def is_undo(uow: UnitOfWork, token: str) -> bool:
    """Return whether the token of a link undoes a change, even if it is used or expired."""
    return uow.one_time_tokens.find(hash_token(token), TokenPurpose.UNDO_EMAIL_CHANGE) is not None


def inspect(uow: UnitOfWork, token: str) -> UndoableChange:
    """Return the change of a link, without using the link up; raise `LinkUnusable`."""
    link = links.inspect(uow, TokenPurpose.UNDO_EMAIL_CHANGE, token, TEXTS)
    return UndoableChange(made_at=link.token.created_at)


def undo(uow: UnitOfWork, token: str) -> Secret:
    """Restore the old address of an account, end all earlier access, and return a token to choose a new password.

    Password, passkeys, sessions, known devices and keys of organizations go. A second factor stays unless it was set up
    since the session began that requested the change: the old mailbox alone must not open an account that has one. A
    passkey that stays finishes sign-ins and begins none. Organizations are told what was withdrawn, and what to check.

    Raise `LinkUnusable`, `GovernsSince` and `AddressGone`.
    """
    # The lock first: what is added concurrently is then either visible below, or refused because its session has ended.
    return _undo(uow, links.lock_and_use(uow, TokenPurpose.UNDO_EMAIL_CHANGE, token, TEXTS))


def can_be_undone(uow: UnitOfWork, user_id: UUID, email: str) -> bool:
    """Return whether there is a change whose undo would restore this address to an account, or might be refused."""
    return uow.one_time_tokens.undo_of(user_id, email, at=uow.now) is not None


def undo_of_mailbox(uow: UnitOfWork, user_id: UUID, email: str) -> None:
    """Do what `undo` does, by another link that was mailed to the account's former address before the change."""
    user = uow.users.lock(user_id)
    token = uow.one_time_tokens.use_undo_of(user_id, email, at=uow.now)
    if user is None or token is None:
        raise LinkUnusable(TEXTS.used).because("used_link")
    _undo(uow, ValidLink(token=token, user=user))


def _undo(uow: UnitOfWork, link: ValidLink) -> Secret:
    user, changed_at, held = link.user, link.token.created_at, link.token.data
    old_email = link.token.email
    takeover = _takeover(uow, user.id, link.token)
    if user.is_platform_owner and not held["is_platform_owner"]:
        raise GovernsSince
    # The old address may have been given to a successor, whose account stays.
    taken = addresses.take(uow, user, old_email, keeps_successor=True)
    if taken is None:
        raise AddressGone
    reverted = takeovers.revert(uow, takeover)
    if reverted is None:
        raise GovernsSince
    # The person who has the address now may have closed the account, so that it would be anonymized with its roles.
    closing.reopen(uow, user)
    withdrawn = _take_back(uow, takeover_credentials.acting_with_invited(reverted))
    departures.end_links_since(uow, user.id, takeover.since)
    # After that: what was given to the old address in the meantime was not given to the account.
    addresses.inherit(uow, user.id, taken)
    keys.end_of_makers(uow, [user.id], reason=takeovers.REASON)
    platform_support.end_appointment(uow, user.id, reason=takeovers.REASON)

    addresses.withdraw_links(uow, user.id)
    # Links of earlier changes stay valid: the first address of a chain of changes can undo all of them.
    uow.one_time_tokens.withdraw(user.id, TokenPurpose.UNDO_EMAIL_CHANGE, issued_since=changed_at, at=uow.now)
    open_registrations.end_all(uow, user.id)
    uow.credentials.remove_password(user.id)
    passwords.lock_out(uow, user.id, old_email)
    signed_in_at = datetime.fromisoformat(held["signed_in_at"])
    # A second factor stays: the old mailbox alone must not open an account that had one. But it does not sign in by
    # itself, because an intruder may have made it in an earlier session.
    removed = uow.passkeys.remove_all(user.id, but_factors_before=signed_in_at)
    uow.passkeys.keep_as_factors(user.id)
    uow.identities.remove_all(user.id)
    group_roles.follow_unlinking(uow, user.id)
    mfa.remove_added_since(uow, user.id, old_email, since=signed_in_at)
    uow.devices.delete_tokens(user.id)
    uow.mfa_events.add(user.id, "email_change_undone", is_success=True, details={"passkeys_removed": removed})
    takeover_mails.send(uow, takeover, reverted, withdrawn, email=old_email)
    return one_time_tokens.issue(uow, TokenPurpose.RESET_PASSWORD, user.id, old_email)


def _take_back(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Take back what was made during a takeover, as the table of made things says; return what it was."""
    if not acting:
        return []
    kinds = [kind for kind in MadeKind if kind.becomes(MakerEvent.UNDO) is not Outcome.LISTED]
    handlers = dict.fromkeys(take_back for kind in kinds if (take_back := _TAKES_BACK.get(kind)) is not None)
    withdrawn = [made for take_back in handlers for made in take_back(uow, acting)]
    takeover_credentials.apply_rules(uow, acting)
    return withdrawn


def _takeover(uow: UnitOfWork, user_id: UUID, token: OneTimeToken) -> Takeover:
    """Return what the account held when the change was requested, and since when that is no longer so.

    A token of an earlier version gives this for the time of the change, by the ids of the memberships.
    """
    if "held" in token.data:
        held = HeldAccess.read(token.data["held"])
        return Takeover(user_id=user_id, since=datetime.fromisoformat(token.data["requested_at"]), held=held)
    roles = {
        membership.organization_id: token.data["memberships"][str(membership.id)]
        for membership in uow.members.of_account(user_id)
        if str(membership.id) in token.data["memberships"]
    }
    return Takeover(user_id=user_id, since=token.created_at, held=HeldAccess(roles=roles, grants={}))
