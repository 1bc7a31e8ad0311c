"""The mail server of an organization, which sends mail of its context in place of the platform's own server.

An organization sets one in `core/organizations/settings/smtp.py`; `mail.py` decides which mails leave through it.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from core.lazy_dataclasses import dataclass
from core.secrets import Secret


class TlsMode(StrEnum):
    """How the connection to a mail server is encrypted; the certificate is always verified."""

    STARTTLS = "starttls"
    TLS = "tls"  # from the first byte
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """A mail server with its login, if it has one, and the sender of the mails."""

    host: str
    port: int
    tls: TlsMode
    username: str | None
    password: Secret | None = field(repr=False)
    from_name: str
    from_email: str
