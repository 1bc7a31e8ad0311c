"""What a session must have proved before it changes the factors of its account.

Where a rule asks for two factors, one of them must not suffice to switch the rule off: to remove the other factor, to
replace it, or to add one that satisfies the rule alone. The rule is the account's own, or one of an organization of the
user. An account without a second factor sets its first one up with the factor that it has.

Where an organization accepts passkeys alone, a password and a code that were typed on a copy of the sign-in page must
not add one: that takes a mailed proof, which the copy does not get. Nor must they choose the mailbox that receives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import Forbidden
from core.lazy_dataclasses import dataclass
from core.sessions.callers import Caller
from core.sessions.sessions import MAILED

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class SecondFactorNotProved(Forbidden):
    """The session began with one factor, or on a device that was trusted in place of the second one."""

    default_message = (
        "Sign in again with your second factor to do this: with a code, or with a passkey that checks your PIN, finger"
        " or face. If your browser is trusted and not asked for a code, use a private window."
    )


class MailedProofToAddPasskey(Forbidden):
    """An organization of the user accepts passkeys alone, and this session has not proved a factor of that kind."""

    default_message = (
        "An organization of yours accepts passkeys alone, so adding one takes a passkey, or a link or code that is"
        " mailed to you. Sign in with one of these, and add the passkey then."
    )


class MailedProofToChangeAddress(Forbidden):
    """As `MailedProofToAddPasskey`: with another address, the session could get itself the mailed proof."""

    default_message = (
        "An organization of yours accepts passkeys alone, so changing your address takes a passkey, or a link or code"
        " that is mailed to your present one. Sign in with one of these, and change the address then."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorRules:
    """What the rules ask of a user: the account's own, and those of the organizations that the user is a member of.

    `are_required` means that one of them asks for two factors, and that the user has a second one. With
    `take_passkeys_alone` an organization that requires a second factor accepts nothing but passkeys.
    """

    are_required: bool
    take_passkeys_alone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorsToSetUp:
    """What a session lacks for an organization that requires a second factor.

    `takes_passkey` means that nothing but a passkey helps, which an organization of the user asks for, and
    `has_passkey` that the account has one. `has_mailed_proof` means that the session may add one.
    """

    has_factor: bool
    takes_passkey: bool
    has_passkey: bool
    has_mailed_proof: bool


def to_set_up(uow: UnitOfWork) -> FactorsToSetUp:
    """Return what the caller's session lacks."""
    caller = uow.caller
    has_factor = uow.second_factors.status(caller.account.id).enabled
    # A session that has proved no second factor proves the account's own first.
    has_tried = caller.session.has_proved_second_factor or not has_factor
    return FactorsToSetUp(
        has_factor=has_factor,
        takes_passkey=has_tried
        and not caller.session.is_phishing_resistant
        and uow.second_factors.rules_of(caller.account.id).take_passkeys_alone,
        has_passkey=any(one.domain_id is None for one in uow.passkeys.of_user(caller.account.id)),
        has_mailed_proof=MAILED in caller.session.amr,
    )


def require_proved(uow: UnitOfWork, caller: Caller) -> None:
    """Raise `SecondFactorNotProved` for a session with one factor, where the account can and must prove two.

    A connection that an organization trusts with the second factor is not trusted with the account.
    """
    if not caller.session.has_proved_own_factor and uow.second_factors.rules_of(caller.account.id).are_required:
        raise SecondFactorNotProved


def require_to_add_passkey(uow: UnitOfWork, caller: Caller) -> None:
    """Raise `SecondFactorNotProved` or `MailedProofToAddPasskey` for a session that must not add a passkey."""
    if caller.session.has_proved_own_factor and (caller.session.is_phishing_resistant or MAILED in caller.session.amr):
        return
    rules = uow.second_factors.rules_of(caller.account.id)
    if rules.are_required and not caller.session.has_proved_own_factor:
        raise SecondFactorNotProved
    if rules.take_passkeys_alone and not caller.session.is_phishing_resistant and MAILED not in caller.session.amr:
        raise MailedProofToAddPasskey


def require_to_change_address(uow: UnitOfWork, caller: Caller) -> None:
    """Raise `MailedProofToChangeAddress` for a session that must not say where the account's mails go."""
    if caller.session.is_phishing_resistant or MAILED in caller.session.amr:
        return
    if uow.second_factors.rules_of(caller.account.id).take_passkeys_alone:
        raise MailedProofToChangeAddress
