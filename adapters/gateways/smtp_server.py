"""A mail server, of the setting or of an organization: its address, the login, and the sender."""

from __future__ import annotations

import re
from email.headerregistry import Address
from enum import Enum
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from adapters.domain_names import IdnaDomainNames
from core.lazy_dataclasses import dataclass
from core.mail.servers import MailServer, TlsMode
from core.secrets import Secret

_PORTS = {"smtp": 587, "smtps": 465}
# An encoded word (RFC 2047), which the standard library would decode inside an address, line breaks included.
ENCODED_WORD = "=?"
_ADDRESS = re.compile(r"[^\s@\"(),:;<>\[\]\\\x00-\x1f\x7f]+@[^\s@\"(),:;<>\[\]\\\x00-\x1f\x7f]+")
_UNREADABLE = (
    "It cannot be read as smtp://user:password@host:587?from=Name <address>; in the user and the password, "
    "characters such as / ? # @ and : are written percent-encoded."
)


class SmtpUrlInvalid(Exception):
    """The address of the mail server is invalid; the message explains why, and never contains the password."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpLogin:
    """The user and the password for the mail server."""

    username: str
    password: Secret


class Encryption(Enum):
    """When a connection is encrypted."""

    FROM_THE_START = "from the start"
    STARTTLS = "STARTTLS"
    IF_OFFERED = "STARTTLS, if it is offered"
    NONE = "none"


_ENCRYPTION_OF: Final = {
    TlsMode.TLS: Encryption.FROM_THE_START,
    TlsMode.STARTTLS: Encryption.STARTTLS,
    TlsMode.NONE: Encryption.NONE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpServer:
    """The server that takes the mails, and their sender."""

    host: str
    port: int
    encryption: Encryption
    sender: Address
    login: SmtpLogin | None = None

    @classmethod
    def parse(cls, url: str, *, sender_name: str = "") -> SmtpServer:
        """Parse `smtp://user:password@host:587?from=Name <address>`, or `smtps://` for TLS from the first byte.

        `sender_name` is the name of a sender that the URL gives none. Raise `SmtpUrlInvalid` when it is invalid.
        """
        try:
            parts = urlsplit(url)
            host, port = _ascii_domain(parts.hostname or ""), parts.port
        except ValueError:
            # The error of the library would quote the address with its password.
            raise SmtpUrlInvalid(_UNREADABLE) from None
        if parts.scheme not in _PORTS:
            raise SmtpUrlInvalid("It must begin with smtp:// or smtps://.")
        if parts.fragment or parts.path not in {"", "/"}:
            raise SmtpUrlInvalid(_UNREADABLE)
        if not host:
            raise SmtpUrlInvalid("It names no host.")
        return cls(
            host=host,
            port=port or _PORTS[parts.scheme],
            encryption=Encryption.FROM_THE_START if parts.scheme == "smtps" else Encryption.IF_OFFERED,
            sender=_parse_sender(parts.query, sender_name),
            login=_parse_login(parts),
        )

    @classmethod
    def of_organization(cls, server: MailServer) -> SmtpServer:
        """Return the server that an organization has set."""
        login = None
        if server.username is not None and server.password is not None:
            login = SmtpLogin(username=server.username, password=server.password)
        return cls(
            host=server.host,
            port=server.port,
            encryption=_ENCRYPTION_OF[server.tls],
            sender=parse_address(server.from_email, display_name=server.from_name),
            login=login,
        )


def parse_address(text: str, *, display_name: str = "") -> Address:
    """Parse an address as it is stored; raise `ValueError` when it is invalid, or its domain is not in its ASCII form.

    The domain is never converted here: by the mappings of another version of IDNA, mail could reach another company.
    """
    username, _, domain = text.rpartition("@")
    has_encoded_word = ENCODED_WORD in text or ENCODED_WORD in display_name
    if not _ADDRESS.fullmatch(text) or has_encoded_word or not domain.isascii() or not all(domain.split(".")):
        raise ValueError("This is not an address.")
    return Address(display_name, username, domain)


def _ascii_domain(domain: str) -> str:
    """Return the ASCII form of a domain that an operator typed; raise `ValueError` when it has none."""
    in_ascii = domain if domain.isascii() else IdnaDomainNames().to_ascii(domain)
    if in_ascii is None or ".." in in_ascii:
        raise ValueError("This is not a domain.")
    return in_ascii


def _parse_sender(query: str, sender_name: str) -> Address:
    # Not decoded as a form, which would replace the + in an address.
    name, _, value = query.partition("=")
    if name != "from" or not value:
        raise SmtpUrlInvalid("It must name the sender, as in ?from=Gatehouse <gatehouse@example.com>.")
    value = unquote(value).strip()
    display_name, _, address = value[:-1].rpartition("<") if value.endswith(">") else ("", "", value)
    username, at, domain = address.rpartition("@")
    try:
        address = f"{username}{at}{_ascii_domain(domain)}"
        sender = parse_address(address, display_name=display_name.strip().strip('"') or sender_name)
    except ValueError:
        raise SmtpUrlInvalid("The sender must be like Gatehouse <gatehouse@example.com>.") from None
    if not sender.addr_spec.isascii():
        raise SmtpUrlInvalid("The sender's address has non-ASCII characters, which few mail servers accept.")
    return sender


def _parse_login(parts: SplitResult) -> SmtpLogin | None:
    if parts.username is None:
        return None
    username, password = unquote(parts.username), unquote(parts.password or "")
    if not username or not password:
        raise SmtpUrlInvalid("A login needs both a user and a password.")
    if not (username + password).isascii():
        raise SmtpUrlInvalid("The user and the password can only have ASCII characters.")
    return SmtpLogin(username=username, password=Secret(password))
