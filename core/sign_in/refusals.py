"""How a sign-in is refused.

The text of a refusal reveals neither whether there is an account nor its state; `recorded_refusals.py` ensures the same
for its time.
"""

from __future__ import annotations

from typing import ClassVar

from core.errors import Forbidden, Unauthorized
from core.sign_in.reasons import CountedReason


class CountedRefusal(Unauthorized):
    """A failed attempt to sign in, which the metrics count.

    Unauthenticated callers may read the metrics, so `counted_as` reveals no more than the refusal does.
    """

    counted_as: ClassVar[CountedReason]


class SignInRefused(CountedRefusal):
    """Unknown account, wrong secret, no secret, deactivated account: one answer for all."""

    default_message = "Email address or password is wrong."
    counted_as = CountedReason.INVALID_CREDENTIALS


class EmailNotVerified(SignInRefused):
    """The password was right, but the address is not verified; only a caller who knows the password learns this."""

    default_message = "Verify your email address first: open the link that was sent to you, or request a new one."
    counted_as = CountedReason.EMAIL_NOT_VERIFIED


class SignInInterrupted(SignInRefused):
    """The account was deactivated during the sign-in; another attempt returns the precise refusal."""

    default_message = "This sign-in could not be completed. Sign in again."


class ClosedToProviders(SignInRefused):
    """The account is closed, and the word of another party does not reopen it."""

    default_message = (
        "This account is closed. To open it again, sign in with its password, a passkey, or a mailed link."
    )


class AccountNotOpen(SignInRefused):
    """The account is deactivated or locked, and its user comes back from another provider, which has named it.

    It reveals the account only to a person that the provider signs in to it.
    """

    default_message = (
        "This account cannot be used: it is switched off, or locked. Ask an administrator of your organization, or the"
        " people who run this site, to open it again."
    )


class SecondFactorDue(Forbidden):
    """The session in the browser has not proved the second factor that this destination requires."""

    default_message = "This requires your second factor. Sign in again with it, and repeat this."


class NotAdmitted(Forbidden):
    """The service is for members, and for users known to the organization or the service."""

    default_message = (
        "Your account cannot use this service. Only people with access from the organization can use it."
        " Ask an administrator of the organization."
    )
