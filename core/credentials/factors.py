"""What a session must have proved before it changes the factors of its account.

Where a rule asks for two factors, one of them must not suffice to switch the rule off: to remove the other factor, to
replace it, or to add one that satisfies the rule alone. The rule is the account's own, or that of an organization of
the user. An account that has no second factor yet sets its first one up with the factor that it has.

Where an organization accepts passkeys alone, a password and a code that were typed on a copy of the sign-in page must
not add one: that takes a mailed proof, which the copy does not get.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import Forbidden
from core.sessions.callers import Caller
from core.sessions.sessions import MAILED

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class SecondFactorNotProved(Forbidden):
    """The session began with one factor, or on a device that was trusted in place of the second one."""

    default_message = (
        "This takes a session that has proved your second factor. Sign in again with a code, or with a passkey that"
        " checks your PIN, finger or face, and repeat this. If your browser is trusted and not asked for a code, use a"
        " private window."
    )


class MailedProofToAddPasskey(Forbidden):
    """An organization of the user accepts passkeys alone, and this session has proved what could be passed on."""

    default_message = (
        "An organization of yours accepts passkeys alone, so adding one takes a passkey, or a link or code that is"
        " mailed to you. Sign in with one of these, and add the passkey then."
    )


def require_proved(uow: UnitOfWork, caller: Caller) -> None:
    """Raise `SecondFactorNotProved` for a session with one factor, where the account can and must prove two.

    A connection that an organization trusts with the second factor is trusted there, and not with the account.
    """
    if not caller.has_proved_own_factor and uow.second_factors.are_required(caller.user_id):
        raise SecondFactorNotProved


def require_to_add_passkey(uow: UnitOfWork, caller: Caller) -> None:
    """Raise `SecondFactorNotProved` or `MailedProofToAddPasskey` for a session that must not add a passkey."""
    require_proved(uow, caller)
    has_proved = caller.is_phishing_resistant or MAILED in caller.amr
    if not has_proved and uow.second_factors.have_to_resist_phishing(caller.user_id):
        raise MailedProofToAddPasskey
