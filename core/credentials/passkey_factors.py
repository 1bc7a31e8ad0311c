"""Passkeys as second factors: their owner makes a passkey one, which sign-ins then ask for after another factor.

A passkey alone is no second factor: it signs in by itself, and does not turn multi-factor authentication on. A passkey
of a custom domain works at that domain alone, so it cannot become one: its owner could not sign in anywhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from core.credentials import factors, mfa, passkeys
from core.credentials.passkeys import Passkey, PasskeyEvent, PasskeyItem, PasskeyUnknown
from core.credentials.webauthn import Attestation, Transport
from core.errors import BadRequest, Refusal
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sessions import callers
from core.sessions.callers import Caller
from core.sessions.sessions import MFA
from core.text import checked_name

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class PasskeyOfDomain(BadRequest):
    """The passkey was made under the custom domain of an organization."""

    default_message = (
        "This passkey works at the address of one organization alone, so it cannot be your second factor. Add a passkey"
        " on the page of your account, and use that one."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPasskey:
    """A passkey after a change; with the backup codes, shown once, if it is the first second factor of its owner."""

    item: PasskeyItem
    codes: tuple[Secret, ...] = ()


def change_mine(
    uow: UnitOfWork, passkey_id: UUID, *, name: str | None = None, is_second_factor: bool | None = None
) -> ChangedPasskey:
    """Rename one of the caller's passkeys, or change whether it is a second factor; None leaves either as it is."""
    caller = callers.lock_whole_account(uow)
    new_name = checked_name(name, characters_min=1) if name is not None else None
    passkey = next((one for one in uow.passkeys.of_user(caller.account.id) if one.id == passkey_id), None)
    if passkey is None:
        raise PasskeyUnknown
    if new_name is not None:
        passkey = _found(uow.passkeys.rename(passkey_id, new_name, user_id=caller.account.id))
    if is_second_factor is None or is_second_factor == passkey.is_second_factor:
        return ChangedPasskey(item=passkey.item)
    factors.require_proved(uow, caller)
    if is_second_factor and passkey.domain_id is not None:
        raise PasskeyOfDomain
    return _switch(uow, caller, passkey, is_on=is_second_factor)


def register(
    uow: UnitOfWork, challenge_id: UUID, attestation: Attestation, transports: Sequence[Transport], name: str | None
) -> ChangedPasskey | Refusal:
    """Register a passkey as `passkeys.finish_registration` does, and make it a second factor.

    It counts as the second factor of this session, even if its authenticator has not verified its user: the session has
    proved another factor. So an organization that asks for a passkey admits it.
    """
    registered = passkeys.finish_registration(uow, challenge_id, attestation, transports, name)
    if isinstance(registered, Refusal):
        return registered
    caller = callers.lock_whole_account(uow)
    passkey = next(one for one in uow.passkeys.of_user(caller.account.id) if one.id == registered.id)
    assert passkey.domain_id is None, "a passkey of a custom domain was to be a second factor"
    uow.sessions.add_methods(caller.session.id, (*passkey.methods, MFA))
    return _switch(uow, caller, passkey, is_on=True)


def _switch(uow: UnitOfWork, caller: Caller, passkey: Passkey, *, is_on: bool) -> ChangedPasskey:
    switched = _found(uow.passkeys.set_second_factor(passkey.id, uow.now if is_on else None, user_id=caller.account.id))
    callers.record_whole_account_changed(uow, caller)
    event = PasskeyEvent.MADE_SECOND_FACTOR if is_on else PasskeyEvent.NO_SECOND_FACTOR
    uow.mfa_events.add(caller.account.id, event, is_success=True, details={"passkey_id": str(passkey.id)})
    if is_on:
        codes = mfa.settle_added(uow, caller.account.id, caller.account.email, name=passkey.name)
        return ChangedPasskey(item=switched.item, codes=codes)
    mfa.settle_removed(uow, caller.account.id, caller.account.email, name=passkey.name)
    return ChangedPasskey(item=switched.item)


def _found(passkey: Passkey | None) -> Passkey:
    assert passkey is not None, "a passkey of a locked account is gone"
    return passkey
