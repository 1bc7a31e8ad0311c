"""Mail servers for tests, over loopback: one that is real, and one that says whatever the test wrote down for it."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import default as modern
from typing import TYPE_CHECKING, Any, cast

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Generator
    from email.message import EmailMessage

    from aiosmtpd.smtp import Envelope, Session

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A letter as it arrived."""

    sender: str
    recipients: tuple[str, ...]
    raw: bytes
    is_encrypted: bool
    login: str | None

    @property
    def message(self) -> EmailMessage:
        """The letter as a mail program reads it."""
        return message_from_bytes(self.raw, policy=modern)

    @property
    def parts(self) -> dict[str, str]:
        """What the letter says, by content type."""
        return {part.get_content_type(): part.get_content().replace("\r\n", "\n") for part in self.message.iter_parts()}


@dataclass
class PostOffice:
    """A real mail server; `answers` are what it says instead of yes, by command."""

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
        """Serve on a thread of its own while the block lasts."""

        def new_protocol() -> SMTP:
            return SMTP(
                self,
                hostname="mail.test",
                tls_context=starttls,
                enable_SMTPUTF8=takes_international_addresses,
                # Whether a login may come in plain text is the client's decision, which is what is tested.
                auth_require_tls=False,
                authenticator=self._authenticate if self.logins else None,
                auth_exclude_mechanism=["LOGIN"],
                loop=loop,
            )

        loop = asyncio.new_event_loop()
        server = loop.run_until_complete(loop.create_server(new_protocol, LOOPBACK, 0, ssl=tls))
        self.port = server.sockets[0].getsockname()[1]
        thread = threading.Thread(target=loop.run_forever, name="post office")
        thread.start()
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(_close(server), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    async def handle_MAIL(  # noqa: N802 - the library finds it by this name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Take the sender."""
        envelope.mail_from = address
        return self.answers.get("MAIL", "250 OK")

    async def handle_RCPT(  # noqa: N802 - the library finds it by this name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Take a recipient."""
        if "RCPT" not in self.answers:
            envelope.rcpt_tos.append(address)
        return self.answers.get("RCPT", "250 OK")

    async def handle_DATA(  # noqa: N802 - the library finds it by this name
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        """Take the letter."""
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
    # What serves a connection that the client has just left is still winding up.
    others = asyncio.all_tasks() - {cast("asyncio.Task[object]", asyncio.current_task())}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@contextmanager
def scripted_server(talk: Callable[[socket.socket], None]) -> Generator[int]:
    """Serve one connection with `talk` on a thread of its own, and give the port."""

    def serve() -> None:
        # The client may leave in the middle of a word, and that it does is what some tests are about.
        with suppress(OSError), listener, listener.accept()[0] as connection:
            talk(connection)

    listener = socket.create_server((LOOPBACK, 0))
    thread = threading.Thread(target=serve, name="scripted mail server")
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        # Wakes an `accept` that nobody came to.
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        thread.join()
