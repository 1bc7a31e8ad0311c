"""Mail servers for tests, over loopback: a real one, and one that follows the test's script."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default as modern
from typing import Any, cast

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A mail as it was received."""

    sender: str
    recipients: tuple[str, ...]
    raw: bytes
    is_encrypted: bool
    login: str | None

    @property
    def message(self) -> EmailMessage:
        """The parsed mail."""
        return message_from_bytes(self.raw, policy=modern)

    @property
    def parts(self) -> dict[str, str]:
        """The parts of the mail by content type."""
        return {part.get_content_type(): part.get_content().replace("\r\n", "\n") for part in self.message.iter_parts()}


@dataclass
class PostOffice:
    """A real mail server; `answers` are the refusals by command, in place of `250 OK`."""

    logins: dict[str, str] = field(default_factory=dict[str, str])
    answers: dict[str, str] = field(default_factory=dict[str, str])
    received: list[Received] = field(default_factory=list[Received])
    port: int = 0

    @contextmanager
    def open(
        self,
        *,
        starttls: ssl.SSLContext | None = None,
        tls: ssl.SSLContext | None = None,
        takes_international_addresses: bool = True,
    ) -> Generator[PostOffice]:
        """Serve on a separate thread while the block lasts."""

        def new_protocol() -> SMTP:
            return SMTP(
                self,
                hostname="mail.test",
                tls_context=starttls,
                enable_SMTPUTF8=takes_international_addresses,
                # Whether to log in over plain text is the client's decision, which is under test.
                auth_require_tls=False,
                authenticator=self._authenticate if self.logins else None,
                auth_exclude_mechanism=["LOGIN"],
                loop=loop,
            )

        loop = asyncio.new_event_loop()
        # It never runs on this thread, where a browser of the tests may keep a loop of its own running.
        thread = threading.Thread(target=loop.run_forever, name="mail server")
        thread.start()
        try:
            listening = loop.create_server(new_protocol, LOOPBACK, 0, ssl=tls)
            server = asyncio.run_coroutine_threadsafe(listening, loop).result()
            self.port = server.sockets[0].getsockname()[1]
            try:
                yield self
            finally:
                asyncio.run_coroutine_threadsafe(_close(server), loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    async def handle_MAIL(  # noqa: N802 - the library finds it by this name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Accept the sender, or refuse."""
        envelope.mail_from = address
        return self.answers.get("MAIL", "250 OK")

    async def handle_RCPT(  # noqa: N802 - the library finds it by this name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Accept a recipient, or refuse."""
        if "RCPT" not in self.answers:
            envelope.rcpt_tos.append(address)
        return self.answers.get("RCPT", "250 OK")

    async def handle_DATA(  # noqa: N802 - the library finds it by this name
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        """Accept the mail, or refuse."""
        if "DATA" in self.answers:
            return self.answers["DATA"]
        self.received.append(
            Received(
                sender=envelope.mail_from or "",
                recipients=tuple(envelope.rcpt_tos),
                raw=cast("bytes", envelope.original_content),
                is_encrypted=server.transport is not None and server.transport.get_extra_info("ssl_object") is not None,
                login=cast("str | None", session.auth_data),
            )
        )
        return "250 OK"

    def _authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
    ) -> AuthResult:
        assert isinstance(data, LoginPassword)
        username, password = data.login.decode(), data.password.decode()
        return AuthResult(success=self.logins.get(username) == password, handled=False, auth_data=username)


async def _close(server: asyncio.Server) -> None:
    server.close()
    await server.wait_closed()
    # The task of a connection that the client has just closed may still be running.
    others = asyncio.all_tasks() - {cast("asyncio.Task[object]", asyncio.current_task())}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@contextmanager
def scripted_server(talk: Callable[[socket.socket], None]) -> Generator[int]:
    """Serve one connection with `talk` on a separate thread; yield the port."""

    def serve() -> None:
        # Some tests expect the client to disconnect in the middle of a line.
        with suppress(OSError), listener, listener.accept()[0] as connection:
            talk(connection)

    listener = socket.create_server((LOOPBACK, 0))
    thread = threading.Thread(target=serve, name="scripted mail server")
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        # Wakes an `accept` to which no client connected.
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        thread.join()
