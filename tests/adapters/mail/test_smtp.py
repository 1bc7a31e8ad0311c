"""Letters on their way to a real mail server: whole, private, of a stable id, and refused for the right reason."""

from __future__ import annotations

import socket
import ssl
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
import trio
import trustme
from hypothesis import given
from hypothesis import strategies as st

from adapters.gateways import smtp
from adapters.gateways.smtp import SmtpGateway
from adapters.gateways.smtp_server import SmtpServer, SmtpUrlInvalid
from core.mail.mail import MailDeferred, MailRefused, RenderedMail
from tests.clock import SettableClock
from tests.mail_server import PostOffice, scripted_server

if TYPE_CHECKING:
    from collections.abc import Callable

MAIL_ID = UUID("01900000-0000-7000-8000-000000000001")
SENDER = "Gatehouse <gatehouse@example.com>"
RENDERED = RenderedMail(subject="Your letter", text="Good morning.\n", html="<p>Good morning.</p>\n")


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def tls(authority: trustme.CA) -> ssl.SSLContext:
    """What the client trusts."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@pytest.fixture(scope="module")
def certificate(authority: trustme.CA) -> ssl.SSLContext:
    """What the server shows."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)
    return context


def gateway_to(
    port: int,
    *,
    scheme: str = "smtp",
    login: str = "",
    sender: str = SENDER,
    tls: ssl.SSLContext | None = None,
) -> SmtpGateway:
    server = SmtpServer.parse(f"{scheme}://{login}127.0.0.1:{port}?from={sender}")
    return SmtpGateway(server, clock=SettableClock(datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)), tls=tls)


async def send(gateway: SmtpGateway, *, to: str = "ada@example.org", rendered: RenderedMail = RENDERED) -> None:
    with trio.fail_after(10):
        await gateway.send(MAIL_ID, to, rendered)


class TestLetter:
    """What arrives."""

    async def test_it_reaches_its_recipient_from_our_address(self) -> None:
        with PostOffice().open() as office:
            await send(gateway_to(office.port))

        (received,) = office.received
        assert (received.sender, received.recipients) == ("gatehouse@example.com", ("ada@example.org",))

    async def test_it_has_the_headers_of_an_automatic_letter(self) -> None:
        with PostOffice().open() as office:
            await send(gateway_to(office.port))

        headers = dict(office.received[0].message.items())
        content_type = headers.pop("Content-Type")
        assert content_type.startswith("multipart/alternative;")
        assert headers == {
            "From": SENDER,
            "To": "ada@example.org",
            "Subject": "Your letter",
            "Date": "Tue, 03 Feb 2026 04:05:06 +0000",
            "Message-ID": f"<{MAIL_ID}@example.com>",
            "Auto-Submitted": "auto-generated",
            "MIME-Version": "1.0",
        }

    async def test_it_is_readable_as_text_and_as_a_page(self) -> None:
        with PostOffice().open() as office:
            await send(gateway_to(office.port))

        # A mail program shows the last one that it can show (RFC 2046, 5.1.4), so the order matters.
        assert list(office.received[0].parts.items()) == [
            ("text/plain", "Good morning.\n"),
            ("text/html", "<p>Good morning.</p>\n"),
        ]

    async def test_sent_again_it_shows_as_the_same_letter(self) -> None:
        with PostOffice().open() as office:
            gateway = gateway_to(office.port)
            await send(gateway)
            await send(gateway)

        first, second = office.received
        assert first.message["Message-ID"] == second.message["Message-ID"]

    async def test_every_script_survives(self) -> None:
        rendered = RenderedMail(subject="Grüße aus 東京 🗼", text="สวัสดี, नमस्ते 👋\n", html="<p>שלום</p>\n")

        with PostOffice().open() as office:
            await send(gateway_to(office.port, sender="Torhüter <gatehouse@münchen.example>"), rendered=rendered)

        message = office.received[0].message
        assert message["Subject"] == "Grüße aus 東京 🗼"
        assert message["From"] == "Torhüter <gatehouse@xn--mnchen-3ya.example>"
        assert office.received[0].parts == {"text/plain": rendered.text, "text/html": rendered.html}

    async def test_lines_of_any_length_and_lines_of_one_dot_survive(self) -> None:
        text = "\n".join(["before", ".", "..", "x" * 5_000, "after", ""])

        with PostOffice().open() as office:
            await send(gateway_to(office.port), rendered=RenderedMail(subject="s" * 500, text=text, html=text))

        message = office.received[0].message
        assert message["Subject"] == "s" * 500
        assert office.received[0].parts == {"text/plain": text, "text/html": text}
        assert max(map(len, office.received[0].raw.split(b"\r\n"))) <= 998

    async def test_a_domain_of_another_script_is_written_as_mail_servers_know_it(self) -> None:
        with PostOffice().open(takes_international_addresses=False) as office:
            await send(gateway_to(office.port), to="ada@münchen.example")

        assert office.received[0].recipients == ("ada@xn--mnchen-3ya.example",)

    async def test_a_name_of_another_script_goes_to_a_server_that_takes_it(self) -> None:
        with PostOffice().open() as office:
            await send(gateway_to(office.port), to="jürgen@example.org")

        assert office.received[0].recipients == ("jürgen@example.org",)
        assert "To: jürgen@example.org".encode() in office.received[0].raw

    async def test_a_name_of_another_script_is_refused_by_a_server_that_does_not_take_it(self) -> None:
        with (
            PostOffice().open(takes_international_addresses=False) as office,
            pytest.raises(MailRefused, match="non-ASCII"),
        ):
            await send(gateway_to(office.port), to="jürgen@example.org")

        assert office.received == []


class TestInjection:
    """Nothing that a stranger chooses writes a header or an envelope."""

    @pytest.mark.parametrize(
        "to",
        [
            "ada@example.org\r\nBcc: eve@example.org",
            "ada@example.org\nRCPT TO:<eve@example.org>",
            "ada@example.org, eve@example.org",
            "<ada@example.org>",
            "ada@example.org>\r\nDATA",
            "ada",
            "ada@",
            "@example.org",
            "",
            "ada@exa mple.org",
            "ada@.example..org",
            # The standard library decodes these inside an address, the line break included.
            "=?utf-8?q?ada=0D=0ABcc=3A?=@example.org",
            "=?utf-8?b?YWRhDQpCY2M6IGV2ZQ==?=@example.org",
        ],
    )
    async def test_what_is_no_address_is_refused_before_anything_is_said(self, to: str) -> None:
        with PostOffice().open() as office, pytest.raises(MailRefused, match="cannot be used in a mail"):
            await send(gateway_to(office.port), to=to)

        assert office.received == []

    @pytest.mark.parametrize("subject", ["Hello\r\nBcc: eve@example.org", "Hello\nX-Evil: yes", "Hello\rX-Evil: yes"])
    async def test_a_subject_with_a_line_break_is_refused(self, subject: str) -> None:
        with PostOffice().open() as office, pytest.raises(MailRefused, match="cannot be used in a mail"):
            await send(gateway_to(office.port), rendered=RenderedMail(subject=subject, text="", html=""))

        assert office.received == []

    @pytest.mark.parametrize(
        "subject",
        [
            "=?utf-8?q?Hello=0D=0ABcc=3A_eve=40example=2Eorg?=",
            "=?utf-8?b?SGVsbG8NCkJjYzogZXZlQGV4YW1wbGUub3Jn?=",
            "Hello ==?utf-8?q?=0AX-Evil=3A_yes?= " + "x" * 100,
        ],
    )
    async def test_a_subject_with_an_encoded_line_break_writes_no_header(self, subject: str) -> None:
        with PostOffice().open() as office:
            await send(gateway_to(office.port), rendered=RenderedMail(subject=subject, text="", html=""))

        (received,) = office.received
        assert "bcc" not in received.message
        assert "x-evil" not in received.message
        assert received.recipients == ("ada@example.org",)
        assert b"\nBcc:" not in received.raw
        assert b"\nX-Evil:" not in received.raw


class TestPrivacy:
    """TLS where it is offered, verified, and no login without it."""

    async def test_starttls_is_used_where_it_is_offered(self, certificate: ssl.SSLContext, tls: ssl.SSLContext) -> None:
        with PostOffice().open(starttls=certificate) as office:
            await send(gateway_to(office.port, tls=tls))

        assert office.received[0].is_encrypted

    async def test_smtps_is_encrypted_from_the_first_byte(
        self, certificate: ssl.SSLContext, tls: ssl.SSLContext
    ) -> None:
        with PostOffice().open(tls=certificate) as office:
            await send(gateway_to(office.port, scheme="smtps", tls=tls))

        assert office.received[0].is_encrypted

    @pytest.mark.parametrize("scheme", ["smtp", "smtps"])
    async def test_a_certificate_that_nobody_vouches_for_ends_the_conversation(
        self, certificate: ssl.SSLContext, scheme: str
    ) -> None:
        office = PostOffice(logins={"gate": "secret"})
        is_offered = scheme == "smtp"

        with (
            office.open(starttls=certificate if is_offered else None, tls=None if is_offered else certificate),
            pytest.raises(MailDeferred, match="certificate"),
        ):
            await send(gateway_to(office.port, scheme=scheme, login="gate:secret@"))

        assert office.received == []

    async def test_a_certificate_for_another_name_ends_the_conversation(
        self, authority: trustme.CA, tls: ssl.SSLContext
    ) -> None:
        elsewhere = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert("elsewhere.example").configure_cert(elsewhere)

        with PostOffice().open(starttls=elsewhere) as office, pytest.raises(MailDeferred, match="certificate"):
            await send(gateway_to(office.port, tls=tls))

        assert office.received == []

    async def test_a_login_is_sent_under_tls(self, certificate: ssl.SSLContext, tls: ssl.SSLContext) -> None:
        with PostOffice(logins={"gate": "s3cret/"}).open(starttls=certificate) as office:
            await send(gateway_to(office.port, login="gate:s3cret%2F@", tls=tls))

        assert (office.received[0].login, office.received[0].is_encrypted) == ("gate", True)

    async def test_a_login_goes_to_this_very_machine_without_tls(self) -> None:
        with PostOffice(logins={"gate": "secret"}).open() as office:
            await send(gateway_to(office.port, login="gate:secret@"))

        assert office.received[0].login == "gate"

    async def test_a_login_goes_to_no_other_machine_without_tls(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(smtp, "_is_this_machine", lambda address: False)

        with PostOffice(logins={"gate": "secret"}).open() as office, pytest.raises(MailDeferred, match="no encryption"):
            await send(gateway_to(office.port, login="gate:secret@"))

        assert office.received == []

    @pytest.mark.parametrize(
        ("address", "is_this_machine"),
        [("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("10.0.0.1", False), ("fe80::1%eth0", False)],
    )
    def test_this_machine_is_known_by_its_loopback_addresses(self, address: str, is_this_machine: bool) -> None:
        assert smtp._is_this_machine(address) is is_this_machine

    async def test_what_came_before_tls_is_not_believed_after_it(
        self, certificate: ssl.SSLContext, tls: ssl.SSLContext
    ) -> None:
        heard: list[bytes] = []

        def inject(connection: socket.socket) -> None:
            connection.sendall(b"220 mail.test\r\n")
            connection.recv(1000)
            connection.sendall(b"250-mail.test\r\n250-AUTH PLAIN\r\n250 STARTTLS\r\n")
            connection.recv(1000)
            # A stranger on the way answers in plain text what will be asked under TLS.
            connection.sendall(b"220 go ahead\r\n250-mail.test\r\n250 AUTH PLAIN\r\n")
            with certificate.wrap_socket(connection, server_side=True) as private:
                heard.append(private.recv(1000))
                private.sendall(b"500 not now\r\n")
                heard.append(private.recv(1000))

        with scripted_server(inject) as port, pytest.raises(MailDeferred):
            await send(gateway_to(port, login="gate:secret@", tls=tls))

        assert [line.split()[0] for line in heard if line] == [b"ehlo", b"helo"]


class TestVerdict:
    """What is final and what may pass."""

    @pytest.mark.parametrize("command", ["RCPT", "DATA"])
    async def test_a_letter_that_the_server_does_not_want_is_refused(self, command: str) -> None:
        office = PostOffice(answers={command: "550 5.1.1 no such user"})

        with office.open(), pytest.raises(MailRefused, match=r"550 5\.1\.1 no such user"):
            await send(gateway_to(office.port))

    @pytest.mark.parametrize("command", ["RCPT", "DATA", "MAIL"])
    async def test_a_letter_that_the_server_does_not_want_now_is_deferred(self, command: str) -> None:
        office = PostOffice(answers={command: "451 4.7.1 try again later"})

        with office.open(), pytest.raises(MailDeferred, match=r"451 4\.7\.1 try again later"):
            await send(gateway_to(office.port))

    async def test_a_refused_sender_is_for_us_to_mend_so_the_letter_waits(self) -> None:
        office = PostOffice(answers={"MAIL": "550 5.7.1 not your address"})

        with office.open(), pytest.raises(MailDeferred, match="not your address"):
            await send(gateway_to(office.port))

    async def test_a_refused_login_is_for_us_to_mend_so_the_letter_waits(self) -> None:
        office = PostOffice(logins={"gate": "another"})

        with office.open(), pytest.raises(MailDeferred, match=r"refused the login \(535\)") as caught:
            await send(gateway_to(office.port, login="gate:hunter2@"))

        assert "hunter2" not in str(caught.value)

    async def test_a_server_that_knows_no_logins_is_for_us_to_mend_so_the_letter_waits(self) -> None:
        with scripted_server(accept_message(b"250 accepted\r\n")) as port, pytest.raises(MailDeferred, match="AUTH"):
            await send(gateway_to(port, login="gate:secret@"))

    async def test_nobody_there_means_later(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]

        with pytest.raises(MailDeferred, match="cannot be reached: Connection refused"):
            await send(gateway_to(port))

    @pytest.mark.parametrize(
        "greeting", [b"554 5.7.1 you are on a list\r\n", b"421 busy\r\n", b"garbage\r\n", b"", b"2\xff0 \x00\r\n"]
    )
    async def test_an_unfriendly_greeting_means_later(self, greeting: bytes) -> None:
        with scripted_server(lambda connection: connection.sendall(greeting)) as port, pytest.raises(MailDeferred):
            await send(gateway_to(port))

    async def test_a_server_that_leaves_before_it_has_accepted_means_later(self) -> None:
        with scripted_server(accept_message(b"")) as port, pytest.raises(MailDeferred):
            await send(gateway_to(port))

    @pytest.mark.parametrize("goodbye", [b"", b"500 what?\r\n"])
    async def test_what_was_accepted_stays_accepted_however_the_server_says_goodbye(self, goodbye: bytes) -> None:
        with scripted_server(accept_message(b"250 accepted\r\n", goodbye)) as port:
            await send(gateway_to(port))

    async def test_a_server_without_extensions_is_good_enough(self) -> None:
        with scripted_server(accept_message(b"250 accepted\r\n", b"221 bye\r\n", ehlo=b"500 what?\r\n")) as port:
            await send(gateway_to(port))


class TestGivingUp:
    """A caller that no longer waits holds nothing up."""

    @pytest.mark.parametrize(
        ("scheme", "said"),
        [
            ("smtp", []),
            ("smtps", [b""]),
            ("smtp", [b"220 mail.test\r\n"]),
            ("smtp", [b"220 mail.test\r\n", b"250 mail.test\r\n", b"250 fine\r\n"]),
        ],
        ids=["before the greeting", "in the handshake", "after the greeting", "in the letter"],
    )
    async def test_a_conversation_that_is_given_up_ends_on_the_wire(self, scheme: str, said: list[bytes]) -> None:
        is_silent, has_ended = trio.Event(), trio.Event()
        token = trio.lowlevel.current_trio_token()

        def fall_silent(connection: socket.socket) -> None:
            for words in said:
                connection.sendall(words)
                connection.recv(1000)
            token.run_sync_soon(is_silent.set)
            while connection.recv(1000):
                """It may have had something to say."""
            token.run_sync_soon(has_ended.set)

        # Sooner than any time limit of the conversation itself.
        with scripted_server(fall_silent) as port, trio.fail_after(smtp.SOCKET_SECONDS_MAX / 2):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(send, gateway_to(port, scheme=scheme))
                await is_silent.wait()
                nursery.cancel_scope.cancel()
            await has_ended.wait()

    def test_a_conversation_that_was_given_up_before_it_began_says_nothing(self) -> None:
        heard: list[bytes] = []

        with scripted_server(lambda connection: heard.append(connection.recv(1000))) as port:
            server = SmtpServer.parse(f"smtp://127.0.0.1:{port}?from={SENDER}")
            session = smtp._Session(server, ssl.create_default_context())
            session.abandon()
            with pytest.raises(ConnectionAbortedError):
                session.run(None)

        assert b"".join(heard) == b""


class TestCheck:
    """What `gatehouse doctor` asks."""

    async def test_a_server_that_lets_us_in_is_fine_and_gets_no_letter(
        self, certificate: ssl.SSLContext, tls: ssl.SSLContext
    ) -> None:
        with PostOffice(logins={"gate": "secret"}).open(starttls=certificate) as office:
            await gateway_to(office.port, login="gate:secret@", tls=tls).check()

        assert office.received == []

    async def test_a_server_that_refuses_us_is_not(self) -> None:
        with PostOffice(logins={"gate": "another"}).open() as office, pytest.raises(MailDeferred, match="login"):
            await gateway_to(office.port, login="gate:secret@").check()


class TestServerAddress:
    """The setting that names the mail server."""

    def test_it_names_host_port_login_and_sender(self) -> None:
        server = SmtpServer.parse("smtp://gate:p%40ss@mail.example.com:2525?from=Gate House <a+b@example.com>")

        assert (server.host, server.port, server.uses_implicit_tls) == ("mail.example.com", 2525, False)
        assert str(server.sender) == "Gate House <a+b@example.com>"
        assert server.login is not None
        assert (server.login.username, server.login.password.reveal()) == ("gate", "p@ss")

    @pytest.mark.parametrize(("scheme", "port", "is_encrypted_at_once"), [("smtp", 587, False), ("smtps", 465, True)])
    def test_each_scheme_has_its_usual_port(self, scheme: str, port: int, uses_implicit_tls: bool) -> None:
        server = SmtpServer.parse(f"{scheme}://mail.example.com?from=a@example.com")

        assert (server.port, server.uses_implicit_tls, server.login) == (port, uses_implicit_tls, None)

    @pytest.mark.parametrize(
        "sender",
        ["a@b.example", "<a@b.example>", "R&D <a@b.example>", "R%26D%20%3Ca@b.example%3E", '"R, D" <a@b.example>'],
    )
    def test_the_sender_may_be_written_as_people_write_it(self, sender: str) -> None:
        server = SmtpServer.parse(f"smtp://mail.example.com?from={sender}")

        assert server.sender.addr_spec == "a@b.example"

    @pytest.mark.parametrize(
        ("url", "problem"),
        [
            ("", "begin with smtp"),
            ("http://mail.example.com?from=a@b.example", "begin with smtp"),
            ("smtp://?from=a@b.example", "no host"),
            ("smtp://mail.example.com", "name the sender"),
            ("smtp://mail.example.com?from=", "name the sender"),
            ("smtp://mail.example.com?sender=a@b.example", "name the sender"),
            ("smtp://mail.example.com?from=a", "sender must be like"),
            ("smtp://mail.example.com?from=A <a@b.example>&x=1", "sender must be like"),
            ("smtp://mail.example.com?from=A%0D%0ABcc:x <a@b.example>", "sender must be like"),
            ("smtp://mail.example.com?from=jürgen@b.example", "non-ASCII"),
            ("smtp://gate@mail.example.com?from=a@b.example", "both a user and a password"),
            ("smtp://gate:pässword@mail.example.com?from=a@b.example", "only have ASCII"),
            ("smtp://gate:pass#word@mail.example.com?from=a@b.example", "percent-encoded"),
            ("smtp://gate:pass/word@mail.example.com?from=a@b.example", "percent-encoded"),
            ("smtp://mail.example.com/inbox?from=a@b.example", "percent-encoded"),
            ("smtp://gate:pass?word@mail.example.com?from=a@b.example", "percent-encoded"),
            ("smtp://mail.example.com:port?from=a@b.example", "percent-encoded"),
            ("smtp://mail.example.com:99999?from=a@b.example", "percent-encoded"),
            ("smtp://[::1?from=a@b.example", "percent-encoded"),
            ("smtp://mail..example.com?from=a@b.example", "percent-encoded"),
        ],
    )
    def test_what_cannot_be_meant_is_refused_by_what_is_wrong_with_it(self, url: str, problem: str) -> None:
        with pytest.raises(SmtpUrlInvalid, match=problem):
            SmtpServer.parse(url)

    @given(st.text(max_size=20))
    def test_neither_a_complaint_nor_the_parsed_server_tells_the_password(self, rest: str) -> None:
        try:
            told = repr(SmtpServer.parse(f"smtp://gate:hunter2{rest}@mail.example.com?from=a@b.example"))
        except SmtpUrlInvalid as complaint:
            told = str(complaint)

        assert "hunter2" not in told


def accept_message(
    verdict: bytes, goodbye: bytes = b"", *, ehlo: bytes = b"250 mail.test\r\n"
) -> Callable[[socket.socket], None]:
    """Be a mail server that says yes to everything, then this to the letter and that to the goodbye."""

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
                            """It is still being written."""
                        if not verdict:
                            return
                        connection.sendall(verdict)
                    case b"QUIT":
                        connection.sendall(goodbye)
                        return
                    case _:
                        connection.sendall(b"250 fine\r\n")

    return talk
