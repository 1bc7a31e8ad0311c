"""Mail to servers that organizations name: only to allowed addresses, encrypted as set, and what each failure means."""

from __future__ import annotations

import ssl
from ipaddress import ip_network
from typing import Any
from uuid import UUID

import pytest
import trio
import trustme

from adapters.gateways.name_lookups import NameLookups
from adapters.gateways.smtp import RoutingSmtpGateway
from adapters.resolver import DnsResolver
from core.mail.mail import MailDeferred, MailRefused, MailServerUnusable
from core.mail.servers import MailServer, TlsMode
from core.secrets import Secret
from tests.adapters.mail.smtp import MAIL_ID, RENDERED
from tests.clock import SettableClock
from tests.mail_server import PostOffice
from tests.name_server import NameServer

LOOPBACK = (ip_network("127.0.0.0/8"),)
NAME = "mail.acme.example"


@pytest.fixture
def here(names: NameServer) -> NameServer:
    """A name server by which the mail server is this machine."""
    names.lead(NAME, ["127.0.0.1"])
    return names


def server(port: int, **changes: Any) -> MailServer:
    settings: dict[str, Any] = {
        "host": NAME,
        "port": port,
        "tls": TlsMode.NONE,
        "username": None,
        "password": None,
        "from_name": "Acme",
        "from_email": "post@acme.example",
    }
    return MailServer(**settings | changes)


async def send(
    to: MailServer, here: NameServer, *, tls: ssl.SSLContext | None = None, allowed: tuple[Any, ...] = LOOPBACK
) -> str:
    lookups = NameLookups(DnsResolver((here.host, here.port)))
    gateway = RoutingSmtpGateway(allowed, clock=SettableClock(), lookups=lookups, tls=tls)
    with trio.fail_after(60):
        return await gateway.send(UUID(int=9), to, MAIL_ID, "ada@example.org", RENDERED)


async def test_the_reply_of_the_server_is_returned_and_the_sender_is_the_organization_s(here: NameServer) -> None:
    with PostOffice().open() as office:
        reply = await send(server(office.port), here)

    [received] = office.received
    assert reply == "250 OK"
    assert received.sender == "post@acme.example"
    assert str(received.message["From"]) == "Acme <post@acme.example>"
    assert not received.is_encrypted


@pytest.mark.parametrize("mode", [TlsMode.STARTTLS, TlsMode.TLS])
async def test_the_certificate_must_have_the_name_that_was_set(
    here: NameServer, authority: trustme.CA, tls: ssl.SSLContext, mode: TlsMode
) -> None:
    for name in (NAME, "mail.globex.example"):
        certificate = _certificate(authority, name)
        is_implicit = mode is TlsMode.TLS
        with PostOffice().open(
            starttls=None if is_implicit else certificate, tls=certificate if is_implicit else None
        ) as office:
            if name == NAME:
                await send(server(office.port, tls=mode), here, tls=tls)
                assert [received.is_encrypted for received in office.received] == [True]
            else:
                with pytest.raises(MailServerUnusable, match="server is not valid: it is for another name"):
                    await send(server(office.port, tls=mode), here, tls=tls)
                assert office.received == []


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254"])
async def test_a_name_that_leads_to_a_private_address_is_not_connected_to(names: NameServer, address: str) -> None:
    names.lead(NAME, [address])
    with PostOffice().open() as office, pytest.raises(MailServerUnusable, match="private address"):
        await send(server(office.port), names, allowed=())

    assert office.received == []


async def test_where_encryption_is_set_nothing_is_sent_without_it(here: NameServer) -> None:
    with PostOffice().open() as office, pytest.raises(MailServerUnusable, match="offers no encryption"):
        await send(server(office.port, tls=TlsMode.STARTTLS), here)

    assert office.received == []


async def test_a_refused_login_concerns_the_server(
    here: NameServer, authority: trustme.CA, tls: ssl.SSLContext
) -> None:
    login = {"tls": TlsMode.STARTTLS, "username": "acme", "password": Secret("the wrong password")}
    with (
        PostOffice(logins={"acme": "the right password"}).open(starttls=_certificate(authority, NAME)) as office,
        pytest.raises(MailServerUnusable, match=r"refused the login \(535\)"),
    ):
        await send(server(office.port, **login), here, tls=tls)


@pytest.mark.parametrize(
    ("command", "reply", "failure"),
    [
        ("RCPT", "550 5.1.1 no such user", MailRefused),
        ("RCPT", "451 4.2.1 try later", MailDeferred),
        ("DATA", "554 5.6.0 not a mail", MailRefused),
        ("RCPT", "554 5.7.1 <ada@example.org>: Relay access denied", MailServerUnusable),
        ("MAIL", "550 sender unknown", MailServerUnusable),
        ("MAIL", "421 busy", MailServerUnusable),
    ],
)
async def test_a_refusal_concerns_the_mail_or_the_server(
    here: NameServer, command: str, reply: str, failure: type[Exception]
) -> None:
    with PostOffice(answers={command: reply}).open() as office, pytest.raises(failure) as raised:
        await send(server(office.port), here)

    assert raised.type is failure


def _certificate(authority: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(name).configure_cert(context)
    return context
