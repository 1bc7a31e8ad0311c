"""Mail: queued in the transaction that causes it, sent by the courier after the commit, retried with growing delays.

This module names the templates; their text belongs to the mail gateway. The values of a mail may hold links that sign
users in, so they are secret and are erased once the mail is sent; a failed mail keeps them, for a retry by hand
(`core/platform/mails.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.mail import languages, limits
from core.mail.brands import MailBrand
from core.mail.limits import MailLimit
from core.secrets import hash_token
from core.text import mentions_web_address

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class MailTemplate(StrEnum):
    """A kind of mail; the value is the name of its template files."""

    TEST = "test"
    NEW_SIGN_IN = "new_sign_in"
    MFA_ENABLED = "mfa_enabled"
    MFA_DISABLED = "mfa_disabled"
    MFA_FACTOR_ADDED = "mfa_factor_added"
    MFA_FACTOR_REMOVED = "mfa_factor_removed"
    MFA_FORCE_DISABLED = "mfa_force_disabled"
    ACCOUNT_EXISTS = "account_exists"
    VERIFY_EMAIL = "verify_email"
    VERIFY_NEW_EMAIL = "verify_new_email"
    EMAIL_CHANGE_REQUESTED = "email_change_requested"
    EMAIL_CHANGED = "email_changed"
    EMAIL_CHANGED_BY_ORGANIZATION = "email_changed_by_organization"
    TAKEOVER_UNDONE = "takeover_undone"
    MEMBER_TAKEOVER_UNDONE = "member_takeover_undone"
    RESET_PASSWORD = "reset_password"  # noqa: S105 - the name of a template, not a secret
    CHOOSE_PASSWORD = "choose_password"  # noqa: S105 - likewise
    PASSWORD_CHANGED = "password_changed"  # noqa: S105 - likewise
    PASSWORD_SET = "password_set"  # noqa: S105 - likewise
    MAGIC_LINK = "magic_link"
    ADDRESS_CODE = "address_code"
    PASSKEY_ADDED = "passkey_added"
    PASSKEY_REMOVED = "passkey_removed"
    IDENTITY_LINKED = "identity_linked"
    INVITATION = "invitation"
    INVITATION_ACCEPTED = "invitation_accepted"
    MEMBERSHIP_ADDED = "membership_added"
    ACCOUNT_CLOSED = "account_closed"
    ACCOUNT_LOCKED = "account_locked"
    WELCOME = "welcome"
    TRIAL_ENDING = "trial_ending"
    PAYMENT_ACTION_REQUIRED = "payment_action_required"
    SAML_CERTIFICATE_ENDING = "saml_certificate_ending"
    CONNECTION_KEY_ENDING = "connection_key_ending"
    UPSTREAM_METADATA_ENDING = "upstream_metadata_ending"
    CONNECTION_CERTIFICATES_REPLACED = "connection_certificates_replaced"
    MAIL_SERVER_FAILING = "mail_server_failing"
    DOMAIN_FAILING = "domain_failing"
    WEBHOOK_OFF = "webhook_off"
    CREDENTIALS_LEFT = "credentials_left"
    SCIM_KEPT = "scim_kept"
    ORGANIZATION_DELETED = "organization_deleted"
    IMPERSONATION_STARTED = "impersonation_started"
    CUSTOMER_IMPERSONATION_STARTED = "customer_impersonation_started"
    CUSTOMER_CLAIM = "customer_claim"


_TO_ADDRESS: Final = (MailLimit.TO_ADDRESS,)
# A mail above the limit of its network does not count towards the limit of the address.
_OF_REGISTRATION: Final = (MailLimit.TO_ADDRESS_FROM_NETWORK, MailLimit.TO_ADDRESS)
_OF_INVITATION: Final = (
    MailLimit.INVITATIONS_OF_ORGANIZATION,
    MailLimit.INVITATIONS_OF_ORGANIZATION_TO_ADDRESS,
    MailLimit.INVITATIONS_TO_ADDRESS,
)
# The limits of every mail: the one of its address, unless a template declares others here.
LIMITS: Final[Mapping[MailTemplate, Sequence[MailLimit]]] = dict.fromkeys(MailTemplate, _TO_ADDRESS) | {
    # Only an operator sends it.
    MailTemplate.TEST: (),
    MailTemplate.ACCOUNT_EXISTS: _OF_REGISTRATION,
    MailTemplate.VERIFY_EMAIL: _OF_REGISTRATION,
    # The only way to get the account back, mailed to its previous proved address: no stranger can cause it.
    MailTemplate.EMAIL_CHANGED: (),
    # One for each change of address that is undone, to the address that gets the account back. What a member is told of
    # it is limited: a member can change an address and undo the change again and again.
    MailTemplate.TAKEOVER_UNDONE: (),
    MailTemplate.INVITATION: _OF_INVITATION,
    MailTemplate.MEMBERSHIP_ADDED: (MailLimit.MEMBERSHIPS_TO_ADDRESS,),
    # One for each certificate.
    MailTemplate.SAML_CERTIFICATE_ENDING: (),
    MailTemplate.CONNECTION_KEY_ENDING: (),
    MailTemplate.UPSTREAM_METADATA_ENDING: (),
    # Several members may leave within an hour, and each has made other credentials.
    MailTemplate.CREDENTIALS_LEFT: (MailLimit.LEAVERS_OF_ORGANIZATION,),
    # Once a day by its own rule (`core/scim/kept_members.py`).
    MailTemplate.SCIM_KEPT: (),
    # No stranger can cause it, and a mail that is held back would hide who was in the account.
    MailTemplate.IMPERSONATION_STARTED: (),
    MailTemplate.CUSTOMER_IMPERSONATION_STARTED: (),
    # Limited as invitations are, for a vendor over all of its customers.
    MailTemplate.CUSTOMER_CLAIM: _OF_INVITATION,
}
# The mails that leave through the mail server of their organization, if it has set one. All others leave through the
# platform's own: they carry an account's secret, which no organization's server may see, or warn about the account, and
# an organization that could hold a warning back could hide who signed in.
BY_ORGANIZATION: Final = frozenset(
    {
        MailTemplate.TRIAL_ENDING,
        MailTemplate.PAYMENT_ACTION_REQUIRED,
        MailTemplate.SAML_CERTIFICATE_ENDING,
        MailTemplate.CONNECTION_KEY_ENDING,
        MailTemplate.UPSTREAM_METADATA_ENDING,
    }
)
# The mails that warn about an account, to its present address, each with a link that locks the account. The mail to a
# former address, `EMAIL_CHANGED`, locks it by the link that undoes the change.
WARNINGS: Final = frozenset(
    {
        MailTemplate.NEW_SIGN_IN,
        MailTemplate.MFA_ENABLED,
        MailTemplate.MFA_DISABLED,
        MailTemplate.MFA_FACTOR_ADDED,
        MailTemplate.MFA_FACTOR_REMOVED,
        MailTemplate.MFA_FORCE_DISABLED,
        MailTemplate.EMAIL_CHANGE_REQUESTED,
        MailTemplate.EMAIL_CHANGED_BY_ORGANIZATION,
        MailTemplate.PASSWORD_CHANGED,
        MailTemplate.PASSWORD_SET,
        MailTemplate.PASSKEY_ADDED,
        MailTemplate.PASSKEY_REMOVED,
        MailTemplate.IDENTITY_LINKED,
        MailTemplate.ACCOUNT_CLOSED,
        MailTemplate.IMPERSONATION_STARTED,
    }
)
LOCK_LINK_LIFETIME: Final = timedelta(days=30)
# The mails that the person behind a request has asked for; all others are for the owner of an account (`languages.py`).
ASKED_FOR: Final = frozenset(
    {
        MailTemplate.TEST,
        MailTemplate.ACCOUNT_EXISTS,
        MailTemplate.VERIFY_EMAIL,
        MailTemplate.VERIFY_NEW_EMAIL,
        MailTemplate.RESET_PASSWORD,
        MailTemplate.CHOOSE_PASSWORD,
        MailTemplate.MAGIC_LINK,
        MailTemplate.ADDRESS_CODE,
        MailTemplate.INVITATION_ACCEPTED,
    }
)


# Values that people have chosen, with the text that replaces one with a web address, because mail programs make links
# of these: names that are older than the rule against them, and names of a person's own things, which have no rule.
NEUTRAL_NAMES: Final[Mapping[str, str]] = {
    "place": "a service",
    "service": "a service",
    "organization": "an organization",
    "vendor": "another organization",
    "connection": "a connection",
    "webhook": "a webhook",
    "token": "a SCIM token",
    "name": "a passkey",
    "device": "a device",
}


class MailState(StrEnum):
    """The delivery state of a mail."""

    QUEUED = "queued"
    ROUTED = "routed"  # queued for the mail server of its organization
    SENT = "sent"
    KEPT = "kept"  # in the embedded mailbox, which never sends
    FAILED = "failed"
    DISCARDED = "discarded"  # never to be sent; written in place of a mail without an account, or above a limit


# The delay after each failed attempt; the attempt after the last delay is the last one.
RETRY_DELAYS = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=6),
)
ATTEMPTS_MAX = len(RETRY_DELAYS) + 1
# Longer than the deadlines of the mail server and the database together; after it another courier may try.
LEASE = timedelta(minutes=5)
RETENTION = timedelta(days=7)
ERROR_CHARACTERS_MAX = 500


class MailRefused(Exception):
    """The mail will never be delivered; the text tells the operator why."""


class MailForbidden(MailRefused):
    """The mail server refuses the mail by its policy and not because of the recipient."""


class MailDeferred(Exception):
    """The mail was not delivered and may be later; the text tells the operator why."""


class MailServerUnusable(MailDeferred):
    """The mail server takes no mail from us at the moment, whatever its recipient."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailMessage:
    """A template with its values, the recipient, and the tag of the recipient's language; None for English."""

    to: str
    template: MailTemplate
    values: Mapping[str, str] = field(repr=False)
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedMail:
    """A mail as its recipient reads it; `language` is the tag of its language."""

    subject: str
    text: str = field(repr=False)
    html: str = field(repr=False)
    language: str = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A mail in the outbox."""

    id: UUID
    message: MailMessage
    state: MailState
    attempts: int
    due_at: datetime
    created_at: datetime
    organization_id: UUID | None = None
    last_error: str | None = None
    brand: MailBrand | None = None

    def sent(self) -> Mail:
        """Return the mail as delivered to the mail server."""
        return replace(self, state=MailState.SENT, last_error=None)

    def kept(self) -> Mail:
        """Return the mail as kept in the embedded mailbox, because no mail server is configured."""
        return replace(self, state=MailState.KEPT, last_error=None)

    def deferred(self, error: str, *, at: datetime) -> Mail:
        """Return the mail as due again later, or as failed after the last attempt."""
        if self.attempts >= ATTEMPTS_MAX:
            return self.failed(error)
        return replace(self, due_at=at + RETRY_DELAYS[self.attempts - 1], last_error=error[:ERROR_CHARACTERS_MAX])

    def failed(self, error: str) -> Mail:
        """Return the mail as failed for good."""
        return replace(self, state=MailState.FAILED, last_error=error[:ERROR_CHARACTERS_MAX])


def send(
    uow: UnitOfWork,
    to: str,
    template: MailTemplate,
    /,
    *,
    organization_id: UUID | None = None,
    is_discarded: bool = False,
    account_language: str | None = None,
    is_asked_for: bool | None = None,
    **values: str,
) -> bool:
    """Send a mail if this transaction commits; return False when it is discarded.

    `account_language` is the tag of the reader's language, where the reader's account has another address than this.
    `is_asked_for` says whether the reader has asked for it, where the template does not decide that.

    A discarded mail takes the same work and is never sent, so that the response time does not reveal whether an address
    has an account. It counts towards the limits of its address, which is not stored. A mail above a limit of its
    template is discarded too, or the request is refused with `RateLimitExceeded`.
    """
    is_admitted = limits.admits(uow, LIMITS[template], template, to, organization_id)
    is_sent = is_admitted and not is_discarded
    is_routed = is_sent and _is_routed(uow, template, organization_id)
    state = MailState.ROUTED if is_routed else MailState.QUEUED
    if template in WARNINGS:
        token = uow.randomness.mail_token().reveal()
        uow.mail.add_lock_link(hash_token(token), to if is_sent else "", until=uow.now + LOCK_LINK_LIFETIME)
        values["lock_token"] = token
    uow.mail.add(
        Mail(
            id=uow.randomness.new_id(),
            message=MailMessage(to=to if is_sent else "", template=template, values=_harmless(values)),
            state=state if is_sent else MailState.DISCARDED,
            attempts=0,
            due_at=uow.now,
            created_at=uow.now,
            organization_id=organization_id,
        ),
        # By the requested address, also when the mail is discarded.
        languages.choose(
            uow.origin.language,
            to,
            is_asked_for=template in ASKED_FOR if is_asked_for is None else is_asked_for,
            account_language=account_language,
        ),
    )
    return is_sent


def send_each(
    uow: UnitOfWork, template: MailTemplate, mails: Sequence[MailMessage], /, *, organization_id: UUID | None
) -> None:
    """Send a mail of one template to each of several addresses, in a fixed number of statements.

    A mail above a limit of its address is not sent.
    """
    state = MailState.ROUTED if _is_routed(uow, template, organization_id) else MailState.QUEUED
    admitted = limits.admits_each(uow, LIMITS[template], template, [message.to for message in mails])
    is_asked_for = template in ASKED_FOR
    uow.mail.add_each(
        [
            (
                Mail(
                    id=uow.randomness.new_id(),
                    message=replace(message, values=_harmless(message.values)),
                    state=state,
                    attempts=0,
                    due_at=uow.now,
                    created_at=uow.now,
                    organization_id=organization_id,
                ),
                languages.choose(uow.origin.language, message.to, is_asked_for=is_asked_for),
            )
            for message in mails
            if message.to in admitted
        ]
    )


def lift_limits(uow: UnitOfWork, address: str) -> int:
    """Reset the counts of mails to an address; return how many counts there were."""
    return uow.mail_counts.remove(limits.keys_of_address(uow, LIMITS.items(), address))


def mailed_again_at(uow: UnitOfWork, address: str, template: MailTemplate) -> datetime | None:
    """Return when another mail of a template may leave for an address, by the limits of addresses; None for at once."""
    return limits.free_at(uow, LIMITS[template], template, address)


def _harmless(values: Mapping[str, str]) -> dict[str, str]:
    return {
        name: NEUTRAL_NAMES[name] if name in NEUTRAL_NAMES and mentions_web_address(value) else value
        for name, value in values.items()
    }


def _is_routed(uow: UnitOfWork, template: MailTemplate, organization_id: UUID | None) -> bool:
    return template in BY_ORGANIZATION and organization_id is not None and uow.routed_mail.has_server(organization_id)


def claim(uow: UnitOfWork, limit: int) -> Sequence[Mail]:
    """Claim at most `limit` mails to send; the caller records the outcome of each before the lease ends."""
    return attemptable(uow, uow.mail.claim(limit, now=uow.now, leased_until=uow.now + LEASE))


def attemptable(uow: UnitOfWork, claimed: Sequence[Mail]) -> Sequence[Mail]:
    """Return the claimed mails that may be attempted; the others have failed."""
    # A claim counts as an attempt. One too many means that every courier that tried has crashed on this mail.
    for mail in claimed:
        if mail.attempts > ATTEMPTS_MAX:
            uow.mail.save(mail.failed("Every attempt to send this mail was interrupted."))
    return _branded(uow, [mail for mail in claimed if mail.attempts <= ATTEMPTS_MAX])


def _branded(uow: UnitOfWork, mails: Sequence[Mail]) -> Sequence[Mail]:
    """Return the mails with the brands of their organizations."""
    organization_ids = {mail.organization_id for mail in mails if mail.organization_id is not None}
    if not organization_ids:
        return mails
    brands = uow.mail_brands.of(organization_ids)
    return [replace(mail, brand=_brand_of(mail, brands)) for mail in mails]


def _brand_of(mail: Mail, brands: Mapping[UUID, MailBrand]) -> MailBrand | None:
    brand = brands.get(mail.organization_id) if mail.organization_id is not None else None
    if brand is None or mail.message.template in BY_ORGANIZATION:
        return brand
    return brand.without_links()


def record_sent(uow: UnitOfWork, mail: Mail) -> bool:
    """Record that a mail was sent; like the functions below, return False when another courier has claimed it since."""
    return uow.mail.save(mail.sent())


def record_kept(uow: UnitOfWork, mail: Mail) -> bool:
    """Record that a mail stays in the embedded mailbox."""
    return uow.mail.save(mail.kept())


def record_deferred(uow: UnitOfWork, mail: Mail, error: str) -> bool:
    """Record a temporary failure."""
    return uow.mail.save(mail.deferred(error, at=uow.now))


def record_failed(uow: UnitOfWork, mail: Mail, error: str) -> bool:
    """Record a permanent failure."""
    return uow.mail.save(mail.failed(error))


def delete_old(uow: UnitOfWork, limit: int) -> int:
    """Delete at most `limit` mails that are past their retention and do not wait to be sent; return how many."""
    return uow.mail.forget(uow.now - RETENTION, limit)


def latest(uow: UnitOfWork, limit: int) -> Sequence[Mail]:
    """List the mails that the embedded mailbox displays."""
    return _branded(uow, uow.mail.latest(limit))
