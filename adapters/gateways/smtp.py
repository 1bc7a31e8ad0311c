"""Mail over SMTP: one letter, one connection, on a worker thread, as safe as the mail server allows.

The address of the server is a setting (decisions 11.3). TLS is used wherever it is offered and always verified, and a
login never travels in plain text, except to this very machine. What is tried again and when is decided in
`core/mail/mail.py`; here a failure is only told apart: the letter's own (refused) or a passing one (deferred).
"""

from __future__ import annotations

import ipaddress
import smtplib
import socket
import ssl
from contextlib import suppress
from email.message import EmailMessage
from email.policy import SMTP
from typing import TYPE_CHECKING

import trio

from adapters.gateways.smtp_server import ENCODED_WORD, parse_address
from core.mail.mail import MailDeferred, MailRefused

if TYPE_CHECKING:
    from email.headerregistry import Address
    from uuid import UUID

    from adapters.gateways.smtp_server import SmtpServer
    from core.mail.mail import RenderedMail
    from ports.clock import Clock

# For each step of the conversation; how long all of them may take is the courier's decision.
SOCKET_SECONDS_MAX = 10.0
GOODBYE_SECONDS_MAX = 2.0
# More than the courier's letters at once, because a conversation that was given up may take a moment to end.
THREADS_MAX = 8


class SmtpGateway:
    """The port `MailGateway`."""

    def __init__(self, server: SmtpServer, *, clock: Clock, tls: ssl.SSLContext | None = None) -> None:
        self._server = server
        self._clock = clock
        self._tls = tls or ssl.create_default_context()
        self._threads = trio.CapacityLimiter(THREADS_MAX)

    async def send(self, mail_id: UUID, to: str, rendered: RenderedMail) -> None:
        """Hand it over, or raise `MailRefused` (never will) or `MailDeferred` (try again)."""
        await self._converse(self._compose(mail_id, to, rendered))

    async def check(self) -> None:
        """Connect and log in, as for a letter; raise `MailDeferred` when no letter would get out."""
        await self._converse(None)

    async def _converse(self, message: EmailMessage | None) -> None:
        conversation = _Conversation(self._server, self._tls)
        try:
            await trio.to_thread.run_sync(conversation.hold, message, abandon_on_cancel=True, limiter=self._threads)
        except trio.Cancelled:
            conversation.abandon()
            raise
        except OSError as error:
            raise _verdict(error) from error

    def _compose(self, mail_id: UUID, to: str, rendered: RenderedMail) -> EmailMessage:
        message = EmailMessage(policy=SMTP)
        try:
            message["To"] = parse_address(to)
            # The library refuses line breaks, but would decode one that came as an encoded word.
            message["Subject"] = rendered.subject.replace(ENCODED_WORD, "= ?")
        except ValueError as error:
            raise MailRefused("The address or the subject cannot stand in a letter.") from error
        message["From"] = self._server.sender
        message["Date"] = self._clock()
        message["Message-ID"] = f"<{mail_id}@{self._server.sender.domain}>"
        # RFC 3834: nobody's holiday notice should answer.
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(rendered.text, cte="quoted-printable")
        message.add_alternative(rendered.html, subtype="html", cte="quoted-printable")
        return message


class _Conversation:
    """One connection to the mail server; lives on a worker thread, and can be abandoned from another."""

    def __init__(self, server: SmtpServer, tls: ssl.SSLContext) -> None:
        self._server = server
        self._tls = tls
        # The name is given, because the library would ask the DNS for one and wait.
        self._smtp = smtplib.SMTP(local_hostname=server.sender.domain)
        self._socket: socket.socket | None = None
        self._is_abandoned = False

    def hold(self, message: EmailMessage | None) -> None:
        """Connect, log in, hand the letter over, and leave."""
        try:
            self._begin()
            if message is not None:
                self._hand_over(message)
            # What was accepted is accepted, however the server takes the goodbye.
            with suppress(OSError):
                self._connected().settimeout(GOODBYE_SECONDS_MAX)
                self._smtp.quit()
        finally:
            self._smtp.close()

    def abandon(self) -> None:
        """End the conversation wherever it is, so that its thread comes back and its letter does not leave later."""
        self._is_abandoned = True
        connection = self._socket
        if connection is not None:
            # Past the TLS layer, whose own `shutdown` would let the other thread write on in plain text.
            with suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def _begin(self) -> None:
        smtp = self._smtp
        self._talk_over(socket.create_connection((self._server.host, self._server.port), SOCKET_SECONDS_MAX))
        if self._server.is_encrypted_at_once:
            self._encrypt()
        _expect(220, smtp.getreply())
        smtp.ehlo_or_helo_if_needed()
        if not self._server.is_encrypted_at_once and smtp.has_extn("starttls"):
            _expect(220, smtp.docmd("STARTTLS"))
            self._encrypt()
            # What was said in plain text may have been somebody else's words, so the greetings begin anew (RFC 3207).
            smtp.ehlo_resp = smtp.helo_resp = None
            smtp.ehlo_or_helo_if_needed()
        if self._server.login is not None:
            if not self._is_private():
                raise MailDeferred("The mail server offers no encryption, so the login was not sent to it.")
            smtp.login(self._server.login.username, self._server.login.password.reveal())

    def _hand_over(self, message: EmailMessage) -> None:
        to: Address = message["To"].addresses[0]
        if not to.addr_spec.isascii() and not self._smtp.has_extn("smtputf8"):
            raise MailRefused("The mail server does not take addresses with letters beyond ASCII.")
        self._smtp.send_message(message, self._server.sender.addr_spec, [to.addr_spec])

    def _encrypt(self) -> None:
        # Bit by bit, so that a handshake that does not end can be abandoned too.
        encrypted = self._tls.wrap_socket(
            self._connected(), server_hostname=self._server.host, do_handshake_on_connect=False
        )
        self._talk_over(encrypted)
        encrypted.do_handshake()

    def _talk_over(self, connection: socket.socket) -> None:
        self._socket = self._smtp.sock = connection
        self._smtp.file = None
        # Set before it is asked here, and asked in the other order in `abandon`: one of the two sees the other.
        if self._is_abandoned:
            raise ConnectionAbortedError("The conversation was abandoned.")

    def _connected(self) -> socket.socket:
        assert self._socket is not None, "nothing is said before there is a connection"
        return self._socket

    def _is_private(self) -> bool:
        connection = self._connected()
        return isinstance(connection, ssl.SSLSocket) or _is_this_machine(connection.getpeername()[0])


def _is_this_machine(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback


def _expect(code: int, reply: tuple[int, bytes]) -> None:
    if reply[0] != code:
        raise smtplib.SMTPResponseException(*reply)


def _verdict(error: OSError) -> MailRefused | MailDeferred:
    """Tell a failure of this letter from one that may pass or that whoever runs the installation can mend."""
    match error:
        case smtplib.SMTPRecipientsRefused():
            code, words = next(iter(error.recipients.values()))
            return _verdict_on_message(code, words)
        case smtplib.SMTPDataError():
            return _verdict_on_message(error.smtp_code, error.smtp_error)
        case smtplib.SMTPAuthenticationError():
            # Without the server's words, which have been known to repeat what they refuse.
            return MailDeferred(f"The mail server refused the login ({error.smtp_code}).")
        case smtplib.SMTPResponseException():
            return MailDeferred(f"The mail server answered {error.smtp_code} {_one_line(error.smtp_error)}")
        case ssl.SSLCertVerificationError():
            return MailDeferred(f"The mail server's certificate is not valid: {error.verify_message}")
        case smtplib.SMTPException():
            return MailDeferred(f"The conversation with the mail server failed: {error}")
        case _:
            return MailDeferred(f"The mail server cannot be reached: {error.strerror or error}")


def _verdict_on_message(code: int, words: bytes | str) -> MailRefused | MailDeferred:
    reason = f"The mail server answered {code} {_one_line(words)}"
    return MailRefused(reason) if 500 <= code <= 599 else MailDeferred(reason)


def _one_line(words: bytes | str) -> str:
    return " ".join((words if isinstance(words, str) else words.decode("utf-8", "replace")).split())
