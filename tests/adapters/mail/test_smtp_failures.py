"""Refusals of a mail server, and cancelled SMTP conversations."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable

import pytest
import trio

from adapters.gateways import smtp
from adapters.gateways.smtp_server import SmtpServer
from core.mail.mail import MailDeferred, MailRefused, MailServerUnusable
from tests.adapters.mail.smtp import SENDER, gateway_to, send
from tests.mail_server import PostOffice, scripted_server
from tests.shown_text import shows
from tests.waiting import WAIT_SECONDS_MAX


class TestVerdict:
    """Which refusals are final and which are temporary."""

    @pytest.mark.parametrize("command", ["RCPT", "DATA"])
    async def test_a_permanent_refusal_of_the_mail_is_final(self, command: str) -> None:
        office = PostOffice(answers={command: "550 5.1.1 no such user"})

        with office.open(), pytest.raises(MailRefused, match=r"550 5\.1\.1 no such user"):
            await send(gateway_to(office.port))

    @pytest.mark.parametrize("command", ["RCPT", "DATA", "MAIL"])
    async def test_a_temporary_refusal_defers_the_mail(self, command: str) -> None:
        office = PostOffice(answers={command: "451 4.7.1 try again later"})

        with office.open(), pytest.raises(MailDeferred, match=r"451 4\.7\.1 try again later"):
            await send(gateway_to(office.port))

    @pytest.mark.parametrize("answer", ["550 5.7.1 not your address", "553 sender unknown"])
    async def test_a_refused_sender_is_final(self, answer: str) -> None:
        office = PostOffice(answers={"MAIL": answer})

        with office.open(), pytest.raises(MailRefused, match=answer):
            await send(gateway_to(office.port))

    async def test_a_refused_login_defers_the_mail_because_the_operator_can_correct_it(self) -> None:
        office = PostOffice(logins={"gate": "another"})

        with office.open(), pytest.raises(MailDeferred, match=r"refused the login \(535\)") as caught:
            await send(gateway_to(office.port, login="gate:hunter2@"))

        assert not shows(str(caught.value), "hunter2")

    async def test_a_server_without_logins_defers_the_mail_because_the_operator_can_correct_it(self) -> None:
        with scripted_server(accept_message(b"250 accepted\r\n")) as port, pytest.raises(MailDeferred, match="AUTH"):
            await send(gateway_to(port, login="gate:secret@"))

    @pytest.mark.parametrize(
        ("extensions", "reason"),
        [
            (b"250 AUTH NTLM\r\n", "offers no login"),
            (b"250 AUTH CRAM-MD5\r\n", "sent no valid SMTP answer"),
        ],
    )
    async def test_a_login_that_the_server_makes_impossible_defers_the_mail(
        self, extensions: bytes, reason: str
    ) -> None:
        def talk(connection: socket.socket) -> None:
            connection.sendall(b"220 mail.test\r\n")
            with connection.makefile("rb") as lines:
                for line in lines:
                    # A challenge that is no Base64.
                    connection.sendall(b"250-mail.test\r\n" + extensions if line[:4] == b"ehlo" else b"334 A\r\n")

        with scripted_server(talk) as port, pytest.raises(MailServerUnusable, match=reason):
            await send(gateway_to(port, login="gate:secret@"))

    async def test_an_unreachable_server_defers_the_mail(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]

        with pytest.raises(MailDeferred, match="cannot be reached: it refused the connection"):
            await send(gateway_to(port))

    @pytest.mark.parametrize(
        "greeting", [b"554 5.7.1 you are on a list\r\n", b"421 busy\r\n", b"garbage\r\n", b"", b"2\xff0 \x00\r\n"]
    )
    async def test_an_invalid_or_negative_greeting_defers_the_mail(self, greeting: bytes) -> None:
        with scripted_server(lambda connection: connection.sendall(greeting)) as port, pytest.raises(MailDeferred):
            await send(gateway_to(port))

    async def test_a_server_that_disconnects_before_it_accepts_defers_the_mail(self) -> None:
        with scripted_server(accept_message(b"")) as port, pytest.raises(MailDeferred):
            await send(gateway_to(port))

    @pytest.mark.parametrize("goodbye", [b"", b"500 what?\r\n"])
    async def test_an_accepted_mail_is_sent_whatever_the_server_answers_to_quit(self, goodbye: bytes) -> None:
        with scripted_server(accept_message(b"250 accepted\r\n", goodbye)) as port:
            await send(gateway_to(port))

    async def test_a_server_without_extensions_is_supported(self) -> None:
        with scripted_server(accept_message(b"250 accepted\r\n", b"221 bye\r\n", ehlo=b"500 what?\r\n")) as port:
            await send(gateway_to(port))


class TestCancellation:
    """A cancelled conversation ends at once."""

    @pytest.mark.parametrize(
        ("scheme", "answers"),
        [
            ("smtp", []),
            ("smtps", [b""]),
            ("smtp", [b"220 mail.test\r\n"]),
            ("smtp", [b"220 mail.test\r\n", b"250 mail.test\r\n", b"250 fine\r\n"]),
        ],
        ids=["before the greeting", "in the handshake", "after the greeting", "in the mail"],
    )
    async def test_a_cancelled_conversation_closes_its_connection(
        self, scheme: str, answers: list[bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # No time limit of the conversation itself ends it before the test does.
        monkeypatch.setattr(smtp, "SOCKET_SECONDS_MAX", 2 * WAIT_SECONDS_MAX)
        is_silent, has_ended = trio.Event(), trio.Event()
        token = trio.lowlevel.current_trio_token()

        def fall_silent(connection: socket.socket) -> None:
            for answer in answers:
                connection.sendall(answer)
                connection.recv(1000)
            token.run_sync_soon(is_silent.set)
            while connection.recv(1000):
                """Discard what the client still sends."""
            token.run_sync_soon(has_ended.set)

        with scripted_server(fall_silent) as port, trio.fail_after(WAIT_SECONDS_MAX):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(send, gateway_to(port, scheme=scheme))
                await is_silent.wait()
                nursery.cancel_scope.cancel()
            await has_ended.wait()

    def test_a_conversation_cancelled_before_its_start_sends_nothing(self) -> None:
        received: list[bytes] = []

        with scripted_server(lambda connection: received.append(connection.recv(1000))) as port:
            server = SmtpServer.parse(f"smtp://127.0.0.1:{port}?from={SENDER}")
            session = smtp._Session(server, ("127.0.0.1",), ssl.create_default_context())
            session.abandon()
            with pytest.raises(ConnectionAbortedError):
                session.run(None)

        assert b"".join(received) == b""


def accept_message(
    verdict: bytes, goodbye: bytes = b"", *, ehlo: bytes = b"250 mail.test\r\n"
) -> Callable[[socket.socket], None]:
    """Return a mail server that accepts every command, and answers the verdict to the mail and the goodbye to QUIT."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(b"220 mail.test\r\n")
        with connection.makefile("rb") as lines:
            for line in lines:
                match line.split()[0].upper():
                    case b"EHLO":
                        connection.sendall(ehlo)
                    case b"DATA":
                        connection.sendall(b"354 go ahead\r\n")
                        while lines.readline() != b".\r\n":
                            """Skip the lines of the mail."""
                        if not verdict:
                            return
                        connection.sendall(verdict)
                    case b"QUIT":
                        connection.sendall(goodbye)
                        return
                    case _:
                        connection.sendall(b"250 fine\r\n")

    return talk
