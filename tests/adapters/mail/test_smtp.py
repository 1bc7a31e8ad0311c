"""Mails sent to a real mail server: complete, encrypted, with a stable id, and refused for the right reason."""

from __future__ import annotations

import socket
import ssl

import pytest
import trustme

from adapters.gateways import smtp
from adapters.gateways.outbound import tls_of_the_system
from core.mail.mail import MailDeferred, MailRefused, RenderedMail
from tests.adapters.mail.smtp import MAIL_ID, SENDER, gateway_to, send
from tests.mail_server import PostOffice, scripted_server


class TestMail:
    """The mail that the server receives."""

    async def test_a_mail_has_the_configured_sender_and_its_recipient(self) -> None:
        with PostOffice().open() as office:
            await send(gateway_to(office.port))

        (received,) = office.received
        assert (received.sender, received.recipients) == ("gatehouse@example.com", ("ada@example.org",))

    async def test_a_mail_has_the_headers_of_an_automatic_mail(self) -> None:
        with PostOffice().open() as office:
            await send(gateway_to(office.port))

        headers = dict(office.received[0].message.items())
        content_type = headers.pop("Content-Type")
        assert content_type.startswith("multipart/alternative;")
        assert headers == {
            "From": SENDER,
            "To": "ada@example.org",
            "Subject": "Your mail",
            "Date": "Tue, 03 Feb 2026 04:05:06 +0000",
            "Message-ID": f"<{MAIL_ID}@example.com>",
            "Auto-Submitted": "auto-generated",
            "Content-Language": "en",
            "MIME-Version": "1.0",
        }

    async def test_a_mail_has_a_text_and_an_html_part(self) -> None:
        with PostOffice().open() as office:
            await send(gateway_to(office.port))

        # A mail program shows the last one that it can show (RFC 2046, 5.1.4), so the order matters.
        assert list(office.received[0].parts.items()) == [
            ("text/plain", "Good morning.\n"),
            ("text/html", "<p>Good morning.</p>\n"),
        ]

    async def test_a_mail_that_is_sent_again_has_the_same_id(self) -> None:
        with PostOffice().open() as office:
            gateway = gateway_to(office.port)
            await send(gateway)
            await send(gateway)

        first, second = office.received
        assert first.message["Message-ID"] == second.message["Message-ID"]

    async def test_a_mail_names_its_language(self) -> None:
        rendered = RenderedMail(subject="Ihr Link", text="Guten Tag\n", html="<p>Guten Tag</p>\n", language="de")

        with PostOffice().open() as office:
            await send(gateway_to(office.port), rendered=rendered)

        assert office.received[0].message["Content-Language"] == "de"

    async def test_every_script_is_preserved(self) -> None:
        rendered = RenderedMail(subject="Grüße aus 東京 🗼", text="สวัสดี, नमस्ते 👋\n", html="<p>שלום</p>\n")

        with PostOffice().open() as office:
            await send(gateway_to(office.port, sender="Torhüter <gatehouse@münchen.example>"), rendered=rendered)

        message = office.received[0].message
        assert message["Subject"] == "Grüße aus 東京 🗼"
        assert message["From"] == "Torhüter <gatehouse@xn--mnchen-3ya.example>"
        assert office.received[0].parts == {"text/plain": rendered.text, "text/html": rendered.html}

    async def test_lines_of_any_length_and_lines_of_one_dot_are_preserved(self) -> None:
        text = "\n".join(["before", ".", "..", "x" * 5_000, "after", ""])

        with PostOffice().open() as office:
            await send(gateway_to(office.port), rendered=RenderedMail(subject="s" * 500, text=text, html=text))

        message = office.received[0].message
        assert message["Subject"] == "s" * 500
        assert office.received[0].parts == {"text/plain": text, "text/html": text}
        assert max(map(len, office.received[0].raw.split(b"\r\n"))) <= 998

    async def test_a_recipient_is_sent_to_exactly_as_it_is_stored(self) -> None:
        with PostOffice().open(takes_international_addresses=False) as office:
            await send(gateway_to(office.port), to="boss@xn--strae-oqa.example")

        assert office.received[0].recipients == ("boss@xn--strae-oqa.example",)
        assert office.received[0].message["To"] == "boss@xn--strae-oqa.example"

    @pytest.mark.parametrize("to", ["boss@straße.example", "boss@\uff45xample.org"])
    async def test_a_domain_that_is_not_in_its_ascii_form_is_refused_and_never_converted(self, to: str) -> None:
        with PostOffice().open() as office, pytest.raises(MailRefused, match="cannot be used in a mail"):
            await send(gateway_to(office.port), to=to)

        assert office.received == []

    async def test_the_senders_domain_has_its_ascii_form_by_idna_2008(self) -> None:
        with PostOffice().open() as office:
            await send(gateway_to(office.port, sender="Gate <gate@straße.example>"))

        assert office.received[0].message["From"] == "Gate <gate@xn--strae-oqa.example>"

    async def test_an_international_local_part_is_sent_to_a_server_that_supports_it(self) -> None:
        with PostOffice().open() as office:
            await send(gateway_to(office.port), to="jürgen@example.org")

        assert office.received[0].recipients == ("jürgen@example.org",)
        assert "To: jürgen@example.org".encode() in office.received[0].raw

    async def test_an_international_local_part_is_refused_if_the_server_does_not_support_it(self) -> None:
        with (
            PostOffice().open(takes_international_addresses=False) as office,
            pytest.raises(MailRefused, match="non-ASCII"),
        ):
            await send(gateway_to(office.port), to="jürgen@example.org")

        assert office.received == []


class TestInjection:
    """No recipient and no subject adds a header or a recipient."""

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
    async def test_an_invalid_address_is_refused_before_anything_is_sent(self, to: str) -> None:
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
    async def test_a_subject_with_an_encoded_line_break_adds_no_header(self, subject: str) -> None:
        with PostOffice().open() as office:
            await send(gateway_to(office.port), rendered=RenderedMail(subject=subject, text="", html=""))

        (received,) = office.received
        assert "bcc" not in received.message
        assert "x-evil" not in received.message
        assert received.recipients == ("ada@example.org",)
        assert b"\nBcc:" not in received.raw
        assert b"\nX-Evil:" not in received.raw


class TestPrivacy:
    """TLS is used where it is offered, its certificate is verified, and no login is sent without it."""

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

    def test_all_gateways_share_a_context_that_no_client_of_http_changes(self) -> None:
        assert smtp.tls_of_mail() is smtp.tls_of_mail()
        assert smtp.tls_of_mail() is not tls_of_the_system()

    @pytest.mark.parametrize("scheme", ["smtp", "smtps"])
    async def test_an_untrusted_certificate_ends_the_conversation(
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

    async def test_a_login_is_sent_to_the_same_machine_without_tls(self) -> None:
        with PostOffice(logins={"gate": "secret"}).open() as office:
            await send(gateway_to(office.port, login="gate:secret@"))

        assert office.received[0].login == "gate"

    async def test_a_login_is_not_sent_to_another_machine_without_tls(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(smtp, "_is_this_machine", lambda address: False)

        with PostOffice(logins={"gate": "secret"}).open() as office, pytest.raises(MailDeferred, match="no encryption"):
            await send(gateway_to(office.port, login="gate:secret@"))

        assert office.received == []

    @pytest.mark.parametrize(
        ("address", "is_this_machine"),
        [("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("10.0.0.1", False), ("fe80::1%eth0", False)],
    )
    def test_the_same_machine_is_recognized_by_its_loopback_addresses(
        self, address: str, is_this_machine: bool
    ) -> None:
        assert smtp._is_this_machine(address) is is_this_machine

    async def test_answers_received_before_tls_are_discarded(
        self, certificate: ssl.SSLContext, tls: ssl.SSLContext
    ) -> None:
        received: list[bytes] = []

        def inject(connection: socket.socket) -> None:
            connection.sendall(b"220 mail.test\r\n")
            connection.recv(1000)
            connection.sendall(b"250-mail.test\r\n250-AUTH PLAIN\r\n250 STARTTLS\r\n")
            connection.recv(1000)
            # An attacker on the network answers in plain text the commands that will follow under TLS.
            connection.sendall(b"220 go ahead\r\n250-mail.test\r\n250 AUTH PLAIN\r\n")
            with certificate.wrap_socket(connection, server_side=True) as private:
                received.append(private.recv(1000))
                private.sendall(b"500 not now\r\n")
                received.append(private.recv(1000))

        with scripted_server(inject) as port, pytest.raises(MailDeferred):
            await send(gateway_to(port, login="gate:secret@", tls=tls))

        assert [line.split()[0] for line in received if line] == [b"ehlo", b"helo"]
