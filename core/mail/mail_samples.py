"""Values for the mails in the preview of a branding, of a company that does not exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core.mail.mail import MailMessage, MailTemplate

# Mails about the account of a person, which belongs to no organization, so they have the look of the platform.
OF_ACCOUNTS: Final = frozenset(
    {
        MailTemplate.TEST,
        MailTemplate.NEW_SIGN_IN,
        MailTemplate.MFA_ENABLED,
        MailTemplate.MFA_DISABLED,
        MailTemplate.MFA_FACTOR_ADDED,
        MailTemplate.MFA_FACTOR_REMOVED,
        MailTemplate.MFA_FORCE_DISABLED,
        MailTemplate.VERIFY_NEW_EMAIL,
        MailTemplate.EMAIL_CHANGE_REQUESTED,
        MailTemplate.EMAIL_CHANGED,
        MailTemplate.TAKEOVER_UNDONE,
        MailTemplate.PASSWORD_CHANGED,
        MailTemplate.PASSWORD_SET,
        MailTemplate.PASSKEY_ADDED,
        MailTemplate.PASSKEY_REMOVED,
        MailTemplate.IDENTITY_LINKED,
        MailTemplate.ACCOUNT_CLOSED,
        MailTemplate.ACCOUNT_LOCKED,
        MailTemplate.IMPERSONATION_STARTED,
    }
)
_DAY: Final = "2026-02-17"
_MOMENT: Final = "2026-02-03 04:05 UTC"
_TOKEN: Final = "00000000-0000-4000-8000-000000000000"  # noqa: S105 - it opens nothing
_VALUES: Final[Mapping[str, str]] = {
    "account": "ada",
    "at": _MOMENT,
    "by": "ada@example.com",
    "code": "204917",
    "changed": "harbour: role clerk",
    "connection": "Okta",
    "credentials": "api_key Backend, made by ada@example.com",
    "day": _DAY,
    "device": "Firefox on Linux",
    "domain": "login.example.com",
    "first_proof": "",
    "host": "hooks.example.com",
    "inviter": "ada@example.com",
    "ip_address": "192.0.2.10",
    "link": "https://payments.example.com/confirm",
    "made": f"harbour: webhook Orders, made on {_MOMENT}",
    "member": "eli@example.com",
    "members": "eli@example.com",
    "name": "Firefox on Linux",
    "new": "ada.new@example.com",
    "old": "ada@example.com",
    "person": "eli@example.com",
    "proof": "",
    "provider": "GitHub",
    "reason": "The mail server did not answer in time.",
    "record_name": "_gatehouse.login.example.com",
    "record_value": "gatehouse-verify=0123456789abcdef",
    "role": "member",
    "server": "mail.example.com",
    "slug": "harbour",
    "time": _MOMENT,
    "token": _TOKEN,
    "until": _DAY,
    "vendor": "Harbour Works",
    "webhook": "Orders",
    "withdrawn": "harbour: api_key Backend",
}


def sample_of(template: MailTemplate, *, organization: str, service: str, language: str) -> MailMessage:
    """Return a mail by an organization with this name, or in its context."""
    named = {"organization": organization, "place": organization, "service": service}
    return MailMessage(to="ada@example.com", template=template, values={**_VALUES, **named}, language=language)
