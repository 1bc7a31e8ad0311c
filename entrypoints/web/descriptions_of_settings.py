"""What the fields of an organization's own settings mean: a part of `descriptions.py`."""

from typing import Any, Final

from core.limits import EMAIL_CHARACTERS_MAX


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


FIELDS: Final[dict[str, dict[str, Any]]] = {
    # Mail server
    "host": _field("The name or the address of the mail server.", examples=["smtp.example.com"]),
    "port": _field("The port of the mail server.", examples=[587]),
    "tls": _field("How the connection is encrypted: `starttls`, `tls` from the first byte, or `none`."),
    "username": _field("The user name of the login; null for none.", examples=["postmaster"]),
    "MailServerUpdate.password": _field(
        "The password of the login, which is never shown.", format="password", examples=["a password of the server"]
    ),
    "has_password": _field("Whether a password is stored."),
    "from_name": _field("The name of the sender.", examples=["Acme"]),
    "from_email": _field(
        "The address of the sender.", format="email", maxLength=EMAIL_CHARACTERS_MAX, examples=["post@example.com"]
    ),
    "MailServer.status": _field("Whether the server takes mail: `working` or `failing`."),
    "failing_since": _field("Since when the server has taken no mail; null while it works."),
    "last_error": _field("Why the last attempt failed; null after a success."),
    "next_attempt_at": _field("When waiting mails are tried again; null while the server works."),
    "last_success_at": _field("When the server last took a mail; null if it never has."),
    "waiting_mails": _field("How many mails wait for the server.", minimum=0),
    "to": _field("The address that the test mail goes to.", format="email", examples=["ada@example.com"]),
    "MailServerTestResult.success": _field("Whether the mail server took the mail."),
    "MailServerTestResult.message": _field("What the mail server answered, or why there was no answer."),
}
