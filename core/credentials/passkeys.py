"""Passkeys for their owner: register, list and remove them.

A passkey is a key pair. Gatehouse stores the public key; the private key stays on the user's device or in a
synchronized keychain. Signing in with a passkey is in `core/sign_in/passkeys.py`, and what else its owner changes in
`passkey_factors.py`. An impersonator may change none of this: a passkey would give lasting access to the account. Nor
may a session with one factor where two are asked for (`factors.py`), because a passkey that verifies its user satisfies
that rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.credentials import factors, mfa, passkey_challenges, user_agents
from core.credentials.passkey_challenges import PasskeyOptions, Purpose
from core.credentials.webauthn import Attestation, Descriptor, Transport, VerifiedAssertion
from core.errors import BadRequest, Conflict, NotFound, Refusal
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.sessions import callers
from core.sessions.callers import Caller
from core.sessions.sessions import MFA
from core.text import checked_name
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# More than users have, and few enough to name all of them to the browser.
PASSKEYS_MAX: Final = 20


class PasskeyEvent(StrEnum):
    """An event about a passkey, in the separate log about the security of accounts."""

    REGISTERED = "passkey_registered"
    REMOVED = "passkey_removed"
    SIGN_COUNT_REGRESSED = "passkey_sign_count_regressed"
    MADE_SECOND_FACTOR = "passkey_made_second_factor"
    NO_SECOND_FACTOR = "passkey_no_second_factor"


class PasskeyUnknown(NotFound):
    """No passkey has this id, or it belongs to another user."""

    default_message = "You have no such passkey."


class PasskeyExists(Conflict):
    """The credential is already registered, with this or another account."""

    default_message = "This passkey is already registered. Choose another device or security key."


class TooManyPasskeys(BadRequest):
    """The account has the maximum number of passkeys."""

    default_message = Wording(
        "Your account has %(maximum)s passkeys, the maximum. Remove one that you do not use.", maximum=PASSKEYS_MAX
    )


class RegistrationOver(BadRequest):
    """The challenge is unknown, of another user, used, or older than five minutes."""

    default_message = "This registration has expired or was already used. Start again, and finish within five minutes."


class RegistrationRefused(BadRequest):
    """The browser's answer does not match the challenge and options."""

    default_message = (
        "This passkey could not be registered: the browser's answer does not match the request. Start again."
    )


class LastSignInMethod(BadRequest):
    """Without this passkey the owner could not sign in."""

    default_message = (
        "This passkey is your only way to sign in. Set a password or register another passkey first, then remove it."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkey:
    """A credential of an account; `sign_count` is its authenticator's last count, 0 when it does not count.

    `verifies_user` is whether its authenticator has ever checked a PIN, a finger or a face.
    """

    id: UUID
    user_id: UUID
    credential_id: bytes = field(repr=False)
    public_key: bytes = field(repr=False)
    sign_count: int
    name: str
    aaguid: str
    transports: Sequence[Transport]
    backup_eligible: bool
    verifies_user: bool
    created_at: datetime
    last_used_at: datetime | None = None
    # The custom domain under which it was made and only works there; None for the base URL.
    domain_id: UUID | None = None
    # Since when its owner has it as a second factor; None when it is none.
    second_factor_at: datetime | None = None
    # False for one that an undone change of address has left: its owner removes it, and registers it anew.
    begins_sign_ins: bool = True

    @property
    def is_second_factor(self) -> bool:
        """Whether sign-ins accept it after another factor."""
        return self.second_factor_at is not None

    @property
    def methods(self) -> tuple[str, ...]:
        """What an answer of this passkey proves (RFC 8176), without the verification of the user."""
        # A key that may be synchronized to other devices counts as a software key; "user" is user presence.
        return ("swk" if self.backup_eligible else "hwk", "user")

    @property
    def descriptor(self) -> Descriptor:
        """The passkey as it is named to a browser."""
        return Descriptor(credential_id=self.credential_id, transports=self.transports)

    @property
    def item(self) -> PasskeyItem:
        """The passkey as its owner sees it."""
        return PasskeyItem(
            id=self.id,
            name=self.name,
            aaguid=self.aaguid,
            backup_eligible=self.backup_eligible,
            created_at=self.created_at,
            last_used_at=self.last_used_at,
            second_factor=self.is_second_factor,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyItem:
    """A passkey as its owner sees it.

    `aaguid` identifies the model of the authenticator, all zeros when it is unknown; `backup_eligible` is whether the
    passkey may be synchronized to other devices of its owner, and `second_factor` whether it is asked for after another
    factor.
    """

    id: UUID
    name: str
    aaguid: str
    backup_eligible: bool
    created_at: datetime
    last_used_at: datetime | None
    second_factor: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCredentials:
    """What Gatehouse tells a browser: the account's handle, and the ids of the credentials that still count."""

    user_handle: bytes
    credential_ids: Sequence[bytes]


def start_registration(uow: UnitOfWork) -> PasskeyOptions:
    """Return the options to make a passkey on an authenticator that has no passkey of this account yet."""
    caller = _owner(uow)
    factors.require_to_add_passkey(uow, caller)
    registered = _require_room(uow, caller)
    challenge = passkey_challenges.begin_registration(uow, caller.account.id)
    options = uow.webauthn.creation_options(
        challenge.challenge,
        user_handle=passkey_challenges.subject_of(caller.account.id),
        user_name=caller.account.email,
        excluded=[passkey.descriptor for passkey in registered],
    )
    return PasskeyOptions(challenge_id=challenge.id, options=options)


def finish_registration(
    uow: UnitOfWork, challenge_id: UUID, attestation: Attestation, transports: Sequence[Transport], name: str | None
) -> PasskeyItem | Refusal:
    """Register the passkey that the browser has made; the default name is the browser's.

    If the authenticator has verified its user, the passkey counts as the second factor of this session.
    """
    _owner(uow)
    given = name if name is not None else user_agents.describe(uow.origin.user_agent).name
    name = checked_name(given, characters_min=1)
    # Locked: proving the address in another way, or undoing a change of it, removes passkeys and ends sessions.
    caller = callers.lock_whole_account(uow)
    factors.require_to_add_passkey(uow, caller)
    _require_room(uow, caller)

    challenge = uow.passkey_challenges.use(
        challenge_id, Purpose.REGISTER, user_id=caller.account.id, answered_by=caller.account.id, at=uow.now
    )
    if challenge is None:
        raise RegistrationOver
    attested = uow.webauthn.check_attestation(attestation, challenge.challenge)
    if attested is None:
        # Returned rather than raised, so that the challenge is used up.
        return RegistrationRefused()
    passkey = Passkey(
        id=uow.randomness.new_id(),
        user_id=caller.account.id,
        credential_id=attestation.credential_id,
        public_key=attested.public_key,
        sign_count=attested.sign_count,
        name=name,
        aaguid=attested.aaguid,
        transports=transports,
        backup_eligible=attested.is_backup_eligible,
        verifies_user=attested.is_user_verified,
        created_at=uow.now,
        domain_id=uow.origin.domain_id,
    )
    if not uow.passkeys.add(passkey) or passkey_challenges.is_decoy(uow, passkey.credential_id):
        raise PasskeyExists
    callers.record_whole_account_changed(uow, caller)
    if passkey.verifies_user:
        uow.sessions.add_methods(caller.session.id, (*passkey.methods, MFA))
    _record(uow, caller, PasskeyEvent.REGISTERED, MailTemplate.PASSKEY_ADDED, passkey)
    return passkey.item


def list_mine(uow: UnitOfWork) -> list[PasskeyItem]:
    """List the caller's passkeys, the oldest first."""
    return [passkey.item for passkey in uow.passkeys.of_user(uow.caller.account.id)]


def known_credentials(uow: UnitOfWork) -> KnownCredentials:
    """Return the caller's passkeys for a browser, so that it forgets those that are gone."""
    caller = uow.caller
    return KnownCredentials(
        user_handle=passkey_challenges.subject_of(caller.account.id),
        # Browsers keep the passkeys of a custom domain for that domain.
        credential_ids=[one.credential_id for one in uow.passkeys.of_user(caller.account.id) if one.domain_id is None],
    )


def remove_mine(uow: UnitOfWork, passkey_id: UUID) -> None:
    """Remove one of the caller's passkeys, unless it is the last way to sign in."""
    _owner(uow)
    # Locked, so that the second of two concurrent removals sees what the first has left.
    caller = callers.lock_whole_account(uow)
    factors.require_proved(uow, caller)
    removed = uow.passkeys.remove(passkey_id, user_id=caller.account.id)
    if removed is None:
        raise PasskeyUnknown
    # A passkey of a custom domain may end with that domain.
    has_other = any(
        other.domain_id is None and other.begins_sign_ins for other in uow.passkeys.of_user(caller.account.id)
    )
    if not uow.credentials.has_password(caller.account.id) and not has_other:
        raise LastSignInMethod
    callers.record_whole_account_changed(uow, caller)
    # One of them may have begun with this passkey, as the first of two factors.
    uow.unfinished_sign_ins.end_all(caller.account.id)
    _record(uow, caller, PasskeyEvent.REMOVED, MailTemplate.PASSKEY_REMOVED, removed)
    if removed.is_second_factor:
        mfa.settle_removed(uow, caller.account.id, caller.account.email, name=removed.name)


def record_regression(uow: UnitOfWork, passkey: Passkey, asserted: VerifiedAssertion) -> None:
    """Record that a sign count did not increase: the authenticator may have been cloned."""
    uow.mfa_events.add(
        passkey.user_id,
        PasskeyEvent.SIGN_COUNT_REGRESSED,
        is_success=False,
        details={"passkey_id": str(passkey.id), "expected_over": passkey.sign_count, "given": asserted.sign_count},
    )


def _owner(uow: UnitOfWork) -> Caller:
    return callers.require_whole_account(uow)


def _require_room(uow: UnitOfWork, caller: Caller) -> Sequence[Passkey]:
    """Return the caller's passkeys; raise `TooManyPasskeys` when there is no room for another."""
    registered = uow.passkeys.of_user(caller.account.id)
    if len(registered) >= PASSKEYS_MAX:
        raise TooManyPasskeys
    return registered


def _record(uow: UnitOfWork, caller: Caller, event: PasskeyEvent, template: MailTemplate, passkey: Passkey) -> None:
    uow.mfa_events.add(caller.account.id, event, is_success=True, details={"passkey_id": str(passkey.id)})
    mail.send(
        uow,
        caller.account.email,
        template,
        name=passkey.name,
        ip_address=uow.origin.ip_address or "unknown",
        at=uow.now.strftime("%Y-%m-%d %H:%M UTC"),
    )
