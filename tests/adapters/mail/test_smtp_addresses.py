"""The setting with the address of the mail server, and the check of the server."""

from __future__ import annotations

import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.gateways.smtp_server import Encryption, SmtpServer, SmtpUrlInvalid
from core.mail.mail import MailDeferred
from tests.adapters.mail.smtp import gateway_to
from tests.mail_server import PostOffice
from tests.shown_text import shows


class TestCheck:
    """The check of `gatehouse doctor`."""

    async def test_a_server_that_accepts_the_login_passes_the_check_and_gets_no_mail(
        self, certificate: ssl.SSLContext, tls: ssl.SSLContext
    ) -> None:
        with PostOffice(logins={"gate": "secret"}).open(starttls=certificate) as office:
            await gateway_to(office.port, login="gate:secret@", tls=tls).check()

        assert office.received == []

    async def test_a_server_that_refuses_the_login_fails_the_check(self) -> None:
        with PostOffice(logins={"gate": "another"}).open() as office, pytest.raises(MailDeferred, match="login"):
            await gateway_to(office.port, login="gate:secret@").check()


class TestServerAddress:
    """The setting that names the mail server."""

    def test_the_setting_contains_host_port_login_and_sender(self) -> None:
        server = SmtpServer.parse("smtp://gate:p%40ss@mail.example.com:2525?from=Gate House <a+b@example.com>")

        assert (server.host, server.port, server.encryption) == ("mail.example.com", 2525, Encryption.IF_OFFERED)
        assert str(server.sender) == "Gate House <a+b@example.com>"
        assert server.login is not None
        assert (server.login.username, server.login.password.reveal()) == ("gate", "p@ss")

    @pytest.mark.parametrize(
        ("scheme", "port", "encryption"),
        [("smtp", 587, Encryption.IF_OFFERED), ("smtps", 465, Encryption.FROM_THE_START)],
    )
    def test_each_scheme_has_a_default_port(self, scheme: str, port: int, encryption: Encryption) -> None:
        server = SmtpServer.parse(f"{scheme}://mail.example.com?from=a@example.com")

        assert (server.port, server.encryption, server.login) == (port, encryption, None)

    @pytest.mark.parametrize(
        "sender",
        ["a@b.example", "<a@b.example>", "R&D <a@b.example>", "R%26D%20%3Ca@b.example%3E", '"R, D" <a@b.example>'],
    )
    def test_the_sender_may_have_a_display_name(self, sender: str) -> None:
        server = SmtpServer.parse(f"smtp://mail.example.com?from={sender}")

        assert server.sender.addr_spec == "a@b.example"

    def test_a_sender_without_a_name_has_that_of_the_platform(self) -> None:
        senders = [
            SmtpServer.parse(f"smtp://mail.example.com?from={sender}", sender_name="Acme ID").sender
            for sender in ("a@b.example", "Post <a@b.example>")
        ]

        assert [str(sender) for sender in senders] == ["Acme ID <a@b.example>", "Post <a@b.example>"]

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
    def test_an_invalid_setting_is_refused_with_the_reason(self, url: str, problem: str) -> None:
        with pytest.raises(SmtpUrlInvalid, match=problem):
            SmtpServer.parse(url)

    @given(st.text(max_size=20))
    def test_neither_the_error_nor_the_repr_contains_the_password(self, rest: str) -> None:
        try:
            shown = repr(SmtpServer.parse(f"smtp://gate:hunter2{rest}@mail.example.com?from=a@b.example"))
        except SmtpUrlInvalid as error:
            shown = str(error)

        assert not shows(shown, "hunter2")
