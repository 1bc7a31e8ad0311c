"""What the fields mean that the platform's support reads: a part of `descriptions.py`."""

from typing import Any, Final


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


_COUNT: Final = {"minimum": 0}
_LANGUAGE: Final = (
    "The tag (BCP 47) of the language that the person has chosen or registered with; null when it is not known."
)
_NAME: Final = "What the person is called; null when no name is known."

FIELDS: Final[dict[str, dict[str, Any]]] = {
    "is_platform_support": _field("Whether the user helps the users of the whole platform."),
    "RecordedAccount.is_platform_support": _field("Whether the user is appointed to the platform's support."),
    "RecordedAccount.name": _field(_NAME, examples=["Ada Lovelace"]),
    "PlatformSupport.name": _field(_NAME, examples=["Ada Lovelace"]),
    "ListedPlatformOwner.name": _field(_NAME, examples=["Ada Lovelace"]),
    "ListedPlatformOwner.is_active": _field("Whether the account can be used: it is neither deactivated nor closed."),
    "owners": _field("The platform owners."),
    "appointed_at": _field("When the person was appointed; null when that was not recorded."),
    "RecordedAccount.language": _field(_LANGUAGE, examples=["de"]),
    "disowned": _field("Whether the organization of the mail domain has taken the address back."),
    "deactivated_at": _field("Since when the account cannot be used; null while it can."),
    "locked_at": _field("Since when the account is locked; null while it is open."),
    "closed_at": _field("When the user closed the account; null while it is open."),
    "sign_in_methods": _field("The ways to sign in."),
    "RecordedWays.identities": _field("The accounts at other providers that are linked."),
    "UserRecord.limits": _field("The failed sign-ins for the address, and what they limit."),
    "network": _field("The network of the client.", examples=["203.0.113.0/24"]),
    "networks": _field("The networks from which sign-ins failed."),
    "AddressLimits.failures": _field("How many sign-ins failed in the last 15 minutes.", **_COUNT),
    "NetworkLimit.failures": _field("How many of them failed from the network.", **_COUNT),
    "AddressLimits.blocked_until": _field(
        "Until when sign-ins from every network are refused, except on known devices; null while they are not."
    ),
    "NetworkLimit.blocked_until": _field("Until when sign-ins from the network are refused; null while they are not."),
    "devices_total": _field("How many devices there are; the 50 used last are listed.", **_COUNT),
    "RecordedDevice.name": _field("What the device is called.", examples=["Firefox on Linux"]),
    "RecordedDevice.last_ip": _field(
        "The network address of the last sign-in from it; null if unknown.", examples=["203.0.113.7"]
    ),
    "UserRecord.sessions": _field("The live sessions, the most recently used first."),
    "sessions_total": _field("How many live sessions there are; the 50 used last are listed.", **_COUNT),
    "amr": _field("How the user has proved their identity (RFC 8176).", examples=[["pwd", "otp", "mfa"]]),
    "is_impersonation": _field("Whether a platform owner acts as the user in it."),
    "RecordedSession.organization": _field("The organization of the session; null without one."),
    "RecordedSession.service": _field("The service of the session; null without one."),
    "sign_ins_total": _field("How many sign-ins are kept; the newest 20 are listed.", **_COUNT),
    "UserRecord.mails": _field("The mails to the address, the newest first."),
    "mails_total": _field("How many mails to the address are kept; the newest 20 are listed.", **_COUNT),
    "mails": _field("The mails, the newest first."),
    "mail": _field("The mail."),
    "mail_id": _field("The id of the mail."),
    "OutboxMailList.total": _field("How many there are; 10001 stands for more than 10,000.", **_COUNT),
    "MailsQuery.state": _field("The state of the mails."),
    "MailsQuery.email": _field("The whole address of the recipient."),
    "recipient": _field("The address that the mail goes to.", format="email"),
    "template": _field("What kind of mail it is.", examples=["verify_email"]),
    "OutboxMail.state": _field(
        "`queued` waits for its next attempt, `routed` for the mail server of its organization. `kept` is in the"
        " mailbox of an installation without a mail server. `failed` is given up.",
        examples=["failed"],
    ),
    "OutboxMail.attempts": _field("How many attempts were made to send it.", **_COUNT),
    "due_at": _field("When it is, or was, to be sent next."),
    "OutboxMail.last_error": _field(
        "Why the last attempt failed; null if none has.", examples=["550 5.1.1 There is no such mailbox."]
    ),
    "OutboxMail.organization_id": _field("The id of the organization that it is about; null for none."),
    "failed_sign_ins": _field("How many failed sign-ins no longer count.", **_COUNT),
    "mail_counts": _field("For how many kinds of mail the mails so far no longer count.", **_COUNT),
    "VerificationSent.sent": _field("Whether a mail leaves: none does above the limit of such mails to the address."),
    "support": _field("The people of the platform's support."),
}
