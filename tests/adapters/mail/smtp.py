"""A gateway to the mail server of a test, and a mail to send."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from uuid import UUID

import trio

from adapters.gateways.smtp import SmtpGateway
from adapters.gateways.smtp_server import SmtpServer
from core.mail.mail import RenderedMail
from tests.clock import SettableClock

MAIL_ID = UUID("01900000-0000-7000-8000-000000000001")
SENDER = "Gatehouse <gatehouse@example.com>"
RENDERED = RenderedMail(subject="Your mail", text="Good morning.\n", html="<p>Good morning.</p>\n")


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
    with trio.fail_after(60):
        await gateway.send(MAIL_ID, to, rendered)
