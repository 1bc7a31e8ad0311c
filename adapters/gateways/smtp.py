"""Mail over SMTP: one connection for each mail, on a worker thread, encrypted if the mail server offers it.

The server is the platform's, from `GATEHOUSE_SMTP_URL`, or an organization's. TLS is used with the platform's wherever
it offers it; the address of an organization's is checked before the connection. Certificates are always verified. A
login is never sent unencrypted, except to this machine. `core/mail/` decides which mails are retried and when; this
module only classifies a failure: permanent for this mail, temporary, or one of the server.
"""

from __future__ import annotations

import binascii
import ipaddress
import smtplib
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from enum import Enum
from functools import cache
from typing import Any
from uuid import UUID

import trio

from adapters.gateways.failures import MAIL_SERVER, reason_of
from adapters.gateways.name_lookups import NameLookups, Shares
from adapters.gateways.outbound import TargetRefused, allowed_addresses
from adapters.gateways.smtp_server import ENCODED_WORD, Encryption, SmtpServer, parse_address
from core.mail.mail import MailDeferred, MailForbidden, MailRefused, MailServerUnusable, RenderedMail
from core.mail.servers import MailServer
from core.outbound import Network
from ports.clock import Clock

# For each step of the session; the mail courier limits the whole session.
SOCKET_SECONDS_MAX = 10.0
QUIT_SECONDS_MAX = 2.0
# More than a courier sends at once, because an abandoned session may take a moment to end.
THREADS_MAX = 24
# For the courier, which sends one mail of an organization at a time, and for test mails.
THREADS_OF_AN_ORGANIZATION_MAX = 3
_WITH_STARTTLS = (Encryption.STARTTLS, Encryption.IF_OFFERED)
# The enhanced status of a refusal by policy (RFC 3463, 3.8), such as a relay that wants a login.
_POLICY = "5.7."
_INVALID_ANSWER = "The mail server sent no valid SMTP answer."


class SmtpGateway:
    """The port `MailGateway`, to the mail server of the setting."""

    def __init__(self, server: SmtpServer, *, clock: Clock, tls: ssl.SSLContext | None = None) -> None:
        self._server = server
        self._clock = clock
        self._sessions = _Sessions(tls)

    async def send(self, mail_id: UUID, to: str, rendered: RenderedMail) -> None:
        """Hand the mail over; raise `MailRefused` (permanent) or `MailDeferred` (retry later)."""
        message = _compose(self._server, mail_id, to, rendered, at=self._clock())
        await self._sessions.run(self._server, (self._server.host,), message)

    async def check(self, *, seconds_max: float = SOCKET_SECONDS_MAX) -> None:
        """Connect and log in, as for a mail; raise `MailDeferred` when no mail could be sent.

        When that takes longer than `seconds_max`, the error names the step that did not end.
        """
        session = _Session(self._server, (self._server.host,), self._sessions.tls)
        try:
            with trio.fail_after(seconds_max):
                await self._sessions.run_session(session, None)
        except trio.TooSlowError:
            raise MailServerUnusable(f"{session.step.value} It hangs: {seconds_max:.0f} s have passed.") from None


class RoutingSmtpGateway:
    """The port `RoutingGateway`, to servers that organizations name, at allowed addresses only."""

    def __init__(
        self,
        allowed: Sequence[Network],
        *,
        clock: Clock,
        lookups: NameLookups | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._allowed = allowed
        self._lookups = lookups or NameLookups()
        self._clock = clock
        self._sessions = _Sessions(tls)
        self._shares = Shares(THREADS_OF_AN_ORGANIZATION_MAX)

    async def send(
        self, organization_id: UUID, server: MailServer, mail_id: UUID, to: str, rendered: RenderedMail
    ) -> str:
        """Hand the mail over, and return the reply of the server."""
        smtp_server = SmtpServer.of_organization(server)
        message = _compose(smtp_server, mail_id, to, rendered, at=self._clock())
        try:
            addresses = await allowed_addresses(server.host, organization_id, self._allowed, self._lookups)
        except TargetRefused as refused:
            raise MailServerUnusable(str(refused)) from refused
        try:
            async with self._shares.place(organization_id):
                return await self._sessions.run(smtp_server, tuple(map(str, addresses)), message)
        except MailForbidden as forbidden:
            raise MailServerUnusable(str(forbidden)) from forbidden


class _Sessions:
    """Runs sessions with mail servers on worker threads, a bounded number at once."""

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self.tls = tls
        self._threads = trio.CapacityLimiter(THREADS_MAX)

    async def run(self, server: SmtpServer, addresses: Sequence[str], message: EmailMessage | None) -> str:
        """Hand a message over at the first address that answers, or only log in; return the last reply."""
        return await self.run_session(_Session(server, addresses, self.tls), message)

    async def run_session(self, session: _Session, message: EmailMessage | None) -> str:
        """Run a session that was made before."""
        try:
            return await trio.to_thread.run_sync(session.run, message, abandon_on_cancel=True, limiter=self._threads)
        except trio.Cancelled:
            session.abandon()
            raise
        except (OSError, binascii.Error) as error:
            raise _verdict(error) from error


@cache
def tls_of_mail() -> ssl.SSLContext:
    """Return the context that all gateways share; it is made for the first session that needs it.

    Clients of HTTP have another one: they make theirs offer HTTP (ALPN), which some mail servers refuse.
    """
    return ssl.create_default_context()


def _compose(server: SmtpServer, mail_id: UUID, to: str, rendered: RenderedMail, *, at: datetime) -> EmailMessage:
    message = EmailMessage(policy=SMTP)
    try:
        message["To"] = parse_address(to)
        # The library refuses line breaks, but would decode one in an encoded word.
        message["Subject"] = rendered.subject.replace(ENCODED_WORD, "= ?")
    except ValueError as error:
        raise MailRefused("The address or the subject cannot be used in a mail.") from error
    message["From"] = server.sender
    message["Date"] = at
    message["Message-ID"] = f"<{mail_id}@{server.sender.domain}>"
    # RFC 3834: automatic replies, such as absence notices, are not wanted.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(rendered.text, cte="quoted-printable")
    message.add_alternative(rendered.html, subtype="html", cte="quoted-printable")
    # RFC 3282: programs that read a mail aloud follow it. The library would move it into a part if it were set before.
    message["Content-Language"] = rendered.language
    return message


class _Smtp(smtplib.SMTP):
    """The client of the library, which keeps the reply to the message."""

    accepted: str = ""

    def data(self, msg: Any) -> tuple[int, bytes]:
        code, reply_text = super().data(msg)
        self.accepted = f"{code} {_one_line(reply_text)}"
        return code, reply_text


class _Step(Enum):
    """What a session waits for, as the sentence about a server that does not come to its end."""

    CONNECT = "The mail server does not accept a connection."
    GREET = "The mail server accepts the connection and does not answer."
    ENCRYPT = "The mail server answers and does not finish the TLS handshake."
    LOG_IN = "The mail server answers and does not conclude the login."
    HAND_OVER = "The mail server answers and does not take the mail."


class _Session:
    """One connection to the mail server; runs on a worker thread, and can be abandoned from another."""

    def __init__(self, server: SmtpServer, addresses: Sequence[str], tls: ssl.SSLContext | None) -> None:
        self._server = server
        self._addresses = addresses
        self._tls = tls
        # The name is passed, because the library would otherwise look one up in the DNS and block.
        self._smtp = _Smtp(local_hostname=server.sender.domain)
        self._socket: socket.socket | None = None
        self._is_abandoned = False
        self.step = _Step.CONNECT

    def run(self, message: EmailMessage | None) -> str:
        """Connect, log in, hand the mail over, and quit; return the reply to the mail."""
        try:
            self._open()
            if message is not None:
                self.step = _Step.HAND_OVER
                self._hand_over(message)
            # The mail is accepted by now, whatever the server answers to QUIT.
            with suppress(OSError):
                self._connected().settimeout(QUIT_SECONDS_MAX)
                self._smtp.quit()
            return self._smtp.accepted
        finally:
            self._smtp.close()

    def abandon(self) -> None:
        """End the session at any point, so that its thread is free again and its mail is not sent later."""
        self._is_abandoned = True
        connection = self._socket
        if connection is not None:
            # On the plain socket: the `shutdown` of the TLS layer would let the other thread continue unencrypted.
            with suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def _open(self) -> None:
        smtp, encryption = self._smtp, self._server.encryption
        self._use(self._connect())
        self.step = _Step.GREET
        if encryption is Encryption.FROM_THE_START:
            self._encrypt()
        _expect(220, smtp.getreply())
        smtp.ehlo_or_helo_if_needed()
        if encryption in _WITH_STARTTLS and smtp.has_extn("starttls"):
            _expect(220, smtp.docmd("STARTTLS"))
            self._encrypt()
            # Unencrypted replies may have been forged, so the session starts over with EHLO (RFC 3207).
            smtp.ehlo_resp = smtp.helo_resp = None
            smtp.ehlo_or_helo_if_needed()
        elif encryption is Encryption.STARTTLS:
            raise MailServerUnusable("The mail server offers no encryption, so no mail was sent to it.")
        if self._server.login is not None:
            if not self._is_private():
                raise MailServerUnusable("The mail server offers no encryption, so the login was not sent to it.")
            self.step = _Step.LOG_IN
            smtp.login(self._server.login.username, self._server.login.password.reveal())

    def _connect(self) -> socket.socket:
        failure = OSError("The name has no address.")
        for address in self._addresses:
            try:
                return socket.create_connection((address, self._server.port), SOCKET_SECONDS_MAX)
            except OSError as error:
                failure = error
        raise failure

    def _hand_over(self, message: EmailMessage) -> None:
        to: Address = message["To"].addresses[0]
        if not to.addr_spec.isascii() and not self._smtp.has_extn("smtputf8"):
            raise MailRefused("The mail server does not accept addresses with non-ASCII characters.")
        self._smtp.send_message(message, self._server.sender.addr_spec, [to.addr_spec])

    def _encrypt(self) -> None:
        # The handshake is a separate step, so that one that does not end can be abandoned.
        tls = self._tls or tls_of_mail()
        encrypted = tls.wrap_socket(self._connected(), server_hostname=self._server.host, do_handshake_on_connect=False)
        self._use(encrypted)
        self.step = _Step.ENCRYPT
        encrypted.do_handshake()
        self.step = _Step.GREET

    def _use(self, connection: socket.socket) -> None:
        self._socket = self._smtp.sock = connection
        self._smtp.file = None
        # The socket is set before the flag is read, and `abandon` does both in the other order, so neither is missed.
        if self._is_abandoned:
            raise ConnectionAbortedError("The session was abandoned.")

    def _connected(self) -> socket.socket:
        assert self._socket is not None, "the session is not connected"
        return self._socket

    def _is_private(self) -> bool:
        connection = self._connected()
        return isinstance(connection, ssl.SSLSocket) or _is_this_machine(connection.getpeername()[0])


def _is_this_machine(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback


def _expect(code: int, reply: tuple[int, bytes]) -> None:
    if reply[0] != code:
        raise smtplib.SMTPResponseException(*reply)


def _verdict(error: OSError | binascii.Error) -> MailRefused | MailDeferred:
    """Return whether a failure is permanent for this mail, temporary, or one of the server, which its owner fixes."""
    match error:
        case smtplib.SMTPRecipientsRefused():
            code, reply_text = next(iter(error.recipients.values()))
            return _verdict_on_message(code, reply_text)
        case smtplib.SMTPSenderRefused() if 500 <= error.smtp_code <= 599:
            # Not because of the recipient: with this sender, the server takes no mail.
            return MailForbidden(_quoted(error.smtp_code, error.smtp_error))
        case smtplib.SMTPDataError():
            return _verdict_on_message(error.smtp_code, error.smtp_error)
        case _:
            return MailServerUnusable(_server_problem(error))


def _server_problem(error: OSError | binascii.Error) -> str:
    """Return what is wrong with the server; its own reply is quoted, and no text of a library."""
    match error:
        case smtplib.SMTPAuthenticationError():
            # Without the reply of the server, because some servers repeat the credentials in it.
            return f"The mail server refused the login ({error.smtp_code})."
        case smtplib.SMTPResponseException():
            return _quoted(error.smtp_code, error.smtp_error)
        case smtplib.SMTPServerDisconnected() if isinstance(error.__context__, TimeoutError):
            return "The mail server did not answer in time."
        case smtplib.SMTPServerDisconnected():
            return "The mail server closed the connection before it had answered."
        case smtplib.SMTPException():
            return "The mail server offers no login (AUTH) of a kind that can be used."
        case binascii.Error():
            return _INVALID_ANSWER
        case _:
            return reason_of(error, MAIL_SERVER)


def _verdict_on_message(code: int, reply_text: bytes | str) -> MailRefused | MailDeferred:
    reason = _quoted(code, reply_text)
    if not 500 <= code <= 599 or reason == _INVALID_ANSWER:
        return MailDeferred(reason)
    return MailForbidden(reason) if _one_line(reply_text).startswith(_POLICY) else MailRefused(reason)


def _quoted(code: int, reply_text: bytes | str) -> str:
    # The library has -1 for a code that is no number, and a text of its own for a line that is too long.
    if code < 0 or isinstance(reply_text, str):
        return _INVALID_ANSWER
    return f"The mail server answered {code} {_one_line(reply_text)}"


def _one_line(reply_text: bytes | str) -> str:
    return " ".join((reply_text if isinstance(reply_text, str) else reply_text.decode("utf-8", "replace")).split())
