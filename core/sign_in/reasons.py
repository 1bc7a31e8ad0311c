"""Why sign-ins are refused: the closed vocabulary of the login events, and the refusals, whose texts reveal less.

A reason is shown to the organization of the sign-in, to platform owners, and to the account's own person once they are
signed in (`core/sign_in/sign_ins.py`), never to the stranger who was refused: the stranger reads the refusal's own
text, which reveals neither whether there is an account nor its state. `login_events.py` ensures the same for its time.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Final

from core.errors import Forbidden, Unauthorized
from core.tables import PartialTable

if TYPE_CHECKING:
    from core.accounts.users import User
    from core.errors import Refusal

# In fifteen minutes, for one account, reason and organization; further events are not stored. A single event says that
# a limit is reached.
ROWS_MAX: Final = 100
ROWS_OF_LIMIT_MAX: Final = 1


class SignInReason(StrEnum):
    """Why a sign-in was refused, or what it waits for; `text` explains it to those who help."""

    text: str

    def __new__(cls, value: str, text: str) -> SignInReason:
        """Create a reason with its text."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.text = text
        return member

    # No refusal: the first factor was right, and the sign-in waits for the second one, or was given up then.
    SECOND_FACTOR_ASKED = "second_factor_asked", "The first factor was right. A second factor was asked for."

    # The account and its secrets
    UNKNOWN_ACCOUNT = "unknown_account", "No account has this address."
    WRONG_PASSWORD = "wrong_password", "The password was wrong."
    NO_PASSWORD = "no_password", "A password was given, and the account has none. It can be set by a reset."
    PASSWORD_CHANGED = "password_changed", "The password was changed during the sign-in."
    DEACTIVATED = "deactivated", "The account is deactivated."
    LOCKED = "locked", "The account is locked. A new password, chosen by a mailed link, opens it again."
    CLOSED = (
        "closed",
        "The user has closed the account. A sign-in by password, passkey or mailed link opens it again.",
    )
    EMAIL_NOT_VERIFIED = "email_not_verified", "The address of the account is not verified yet."
    ADDRESS_DISOWNED = (
        "address_disowned",
        "The organization of the mail domain has taken the address back, so nothing that was given to it opens.",
    )
    MAILED_PROOF_REQUIRED = (
        "mailed_proof_required",
        "A service has changed how the account signs in, so its user has to confirm by mail what they were given.",
    )
    TOO_MANY_FAILURES = (
        "too_many_failures",
        "There were too many failed sign-ins for this address. Sign-ins are refused for up to 15 minutes.",
    )
    WRONG_PASSKEY = "wrong_passkey", "The passkey was not accepted, or its answer came too late."
    SIGN_COUNT_REGRESSED = (
        "sign_count_regressed",
        "The counter of the passkey did not increase: its authenticator may have been copied.",
    )
    UNKNOWN_LINK = "unknown_link", "The code or link is not one that was mailed."
    USED_LINK = "used_link", "The sign-in link or its code was used already, or a newer one was used."
    EXPIRED_LINK = "expired_link", "The sign-in link or its code has expired."
    ADDRESS_CHANGED = "address_changed", "The sign-in link was mailed to an address that the account no longer has."
    LINK_FOR_ELSEWHERE = "link_for_elsewhere", "The sign-in link was requested for another organization or service."

    # The second factor
    WRONG_CODE = "wrong_code", "The code of the second factor was wrong, or was used before."
    TOO_MANY_WRONG_CODES = "too_many_wrong_codes", "Five wrong codes of the second factor ended the sign-in."
    SIGN_IN_OVER = (
        "sign_in_over",
        "The second factor came too late, or the sign-in that it belongs to was completed or ended.",
    )
    MFA_TURNED_OFF = "mfa_turned_off", "A code was sent after the second factor of the account was turned off."
    SECOND_FACTOR_REQUIRED = (
        "second_factor_required",
        "The organization requires a second factor of its members, and this sign-in had one factor.",
    )
    PASSKEY_REQUIRED = (
        "passkey_required",
        "The organization accepts a passkey alone as a second factor, or a connection that it trusts with it.",
    )

    # The destination
    UNKNOWN_ORGANIZATION = "unknown_organization", "The organization that was named does not exist."
    UNKNOWN_SERVICE = "unknown_service", "The organization has no service of the name that was given."
    ORGANIZATION_NOT_ACTIVE = "organization_not_active", "The organization is not active."
    NOT_A_MEMBER = "not_a_member", "The user is not a member of the organization."
    OTHER_WAY = (
        "other_way",
        "The service has a security profile: it accepts only sign-ins that began with a pushed request.",
    )
    SUSPENDED = "suspended", "The user's membership in the organization is deactivated."
    SSO_REQUIRED = "sso_required", "The organization requires its own single sign-on for this address."
    CONFINED_ELSEWHERE = "confined_elsewhere", "The user has signed in for another organization or service alone."
    CUSTOMER_ASKED = "customer_asked", "The user was asked to choose the customer of the service."
    CUSTOMER_CLOSED = (
        "customer_closed",
        "The service is not open to the user for the customer that was named. That customer is unknown or paused, or"
        " the user is not an active member with an assignment.",
    )
    NO_CUSTOMER = (
        "no_customer",
        "The service is for people of its customers, and the user belongs to no customer that is open to them.",
    )
    # Stored by version 0.1.0: a removal and a sign-in now wait for each other.
    DEVICE_REMOVED = "device_removed", "The device was removed during the sign-in."

    # Other providers, and the connections of organizations
    NOT_OF_ORGANIZATION = (
        "not_of_organization",
        "The user of the connection is neither a member nor an end user, nor in a mail domain of the organization.",
    )
    ADDRESS_NOT_CONFIRMED = (
        "address_not_confirmed",
        "The user's role, or a second factor that is still to be set up, requires a code mailed to the address once;"
        " the connection alone is not enough.",
    )
    DOMAIN_NOT_PROVED = (
        "domain_not_proved",
        "The provider gave an address in a mail domain that the connection's organization has not verified.",
    )
    ADDRESS_NOT_VERIFIED_THERE = (
        "address_not_verified_there",
        "The provider gave no verified address; for a connection, it gave no address at all.",
    )
    ADDRESS_UNUSABLE_THERE = (
        "address_unusable_there",
        "The connection gave something that is not an email address, such as a name without @.",
    )
    LINK_REQUIRED = (
        "link_required",
        "An account has the address already. Its user has to sign in to it once, to link the two, by a mailed code or"
        " the password.",
    )
    IDENTITY_UNLINKED = "identity_unlinked", "The identity was unlinked during the sign-in."
    ORGANIZATION_FULL = "organization_full", "The organization has as many members as it may have."
    CONNECTION_CLOSED = "connection_closed", "The connection was switched off or deleted."
    CONNECTION_CHANGED = "connection_changed", "The connection was changed during the sign-in."
    STATE_UNKNOWN = (
        "state_unknown",
        "The provider's answer belongs to no sign-in that waits: it came after more than 15 minutes, for a second time,"
        " or without having been asked for.",
    )
    ASSERTION_EXPIRED = (
        "assertion_expired",
        "The provider's answer was outside the time for which it is valid. Compare the clocks.",
    )
    ASSERTION_FOR_ANOTHER = (
        "assertion_for_another",
        "The provider's answer names another audience, address or request than ours.",
    )
    ASSERTION_OF_ANOTHER = "assertion_of_another", "The provider's answer is from another issuer."
    ASSERTION_NOT_CONFIRMED = (
        "assertion_not_confirmed",
        "No subject confirmation of the provider's answer fits this sign-in.",
    )
    CERTIFICATES_REPLACED = (
        "certificates_replaced",
        "The identity provider has replaced its certificates, and the new ones were not taken over: they may be another"
        " party's. Set its metadata again.",
    )
    CERTIFICATE_OUTDATED = (
        "certificate_outdated",
        "The provider's answer was signed by a certificate that its metadata no longer name.",
    )
    METADATA_EXPIRED = (
        "metadata_expired",
        "The metadata of the identity provider have expired (validUntil). Set newer ones.",
    )
    SESSION_OVER_THERE = (
        "session_over_there",
        "The provider's answer says that the user's session there has ended (SessionNotOnOrAfter).",
    )
    PROVIDER_FAILED = "provider_failed", "The provider did not answer as it should; the log of the platform has more."

    # Signing in to a service
    NOT_MEMBER = (
        "not_member",
        "The service is for members of its organization, and the user is none, or has not confirmed the membership.",
    )
    NOT_ASSIGNED = "not_assigned", "The service is for assigned members, and no assignment fits the user."
    NOT_ADMITTED = "not_admitted", "The service is for members, and for end users who were given access to it."
    REQUEST_UNSUPPORTED = (
        "request_unsupported",
        "The request of the service asks for a binding or a name that its configuration does not offer.",
    )
    OTHER_SUBJECT = "other_subject", "The service asked for another user than the one who is signed in."
    NO_AUTHN_CONTEXT = (
        "no_authn_context",
        "The service asked for a way to authenticate that this sign-in does not have.",
    )
    INTERACTION_REQUIRED = (
        "interaction_required",
        "The service asked for an answer without a page, and the user has to sign in or to agree first.",
    )
    CONSENT_REFUSED = "consent_refused", "The user did not agree to sign in to the service."

    NOT_RECORDED = "not_recorded", "The sign-in was refused, and no reason was recorded."

    @property
    def published(self) -> SignInReason:
        """The less precise reason that the log and the event `user.login.failed` name."""
        return _LESS_PRECISE.get(self, self)

    @property
    def needs_proof(self) -> bool:
        """Whether the attempt has proved an identity; else a stranger may have made it who only knows the address."""
        return self not in _WITHOUT_PROOF

    @property
    def rows_max(self) -> int:
        """How many of its events are stored for one account and organization in fifteen minutes."""
        return ROWS_OF_LIMIT_MAX if self is SignInReason.TOO_MANY_FAILURES else ROWS_MAX


class CountedReason(StrEnum):
    """How the metrics name a refused sign-in, which reveals no more than the answer does."""

    INVALID_CREDENTIALS = "invalid_credentials"
    EMAIL_NOT_VERIFIED = "email_not_verified"
    WRONG_CODE = "wrong_code"
    WRONG_PASSKEY = "wrong_passkey"
    CUSTOMER_TOKEN = "customer_token"  # noqa: S105 - the token of a choice, named


_LESS_PRECISE: Final = PartialTable(
    {
        SignInReason.NO_PASSWORD: SignInReason.WRONG_PASSWORD,
        SignInReason.TOO_MANY_WRONG_CODES: SignInReason.WRONG_CODE,
    }
)
_WITHOUT_PROOF: Final = frozenset(
    {
        SignInReason.UNKNOWN_ACCOUNT,
        SignInReason.WRONG_PASSWORD,
        SignInReason.NO_PASSWORD,
        SignInReason.PASSWORD_CHANGED,
        SignInReason.DEACTIVATED,
        SignInReason.LOCKED,
        SignInReason.TOO_MANY_FAILURES,
        SignInReason.WRONG_PASSKEY,
        SignInReason.SIGN_COUNT_REGRESSED,
        SignInReason.UNKNOWN_LINK,
    }
)
# The reasons that raise the risk of later sign-ins.
FAILED_ATTEMPTS: Final = (_WITHOUT_PROOF - {SignInReason.TOO_MANY_FAILURES, SignInReason.UNKNOWN_LINK}) | {
    SignInReason.CLOSED,
    SignInReason.EMAIL_NOT_VERIFIED,
    SignInReason.TOO_MANY_WRONG_CODES,
    SignInReason.SSO_REQUIRED,
    SignInReason.NOT_OF_ORGANIZATION,
}
# No refusals yet: the user still has to answer.
WAITING: Final = frozenset({SignInReason.SECOND_FACTOR_ASKED, SignInReason.CUSTOMER_ASKED})
_BY_VALUE: Final = {str(reason): reason for reason in SignInReason}


def reason_of(stored: str | None) -> SignInReason | None:
    """Return the reason of a refusal or of a row; None for one that is not in this vocabulary."""
    return _BY_VALUE.get(stored or "")


def reason_of_rule(refusal: Refusal | None) -> SignInReason:
    """Return the reason of the refusal of a rule, which is one of this vocabulary."""
    reason = reason_of(refusal.reason) if refusal is not None else None
    assert reason is not None, "a rule refuses for no reason of the vocabulary"
    return reason


def reason_of_account(user: User) -> SignInReason | None:
    """Return why no way signs in to an account; None for one that is neither deactivated nor locked."""
    if user.may_sign_in:
        return None
    return SignInReason.DEACTIVATED if user.deactivated_at is not None else SignInReason.LOCKED


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
