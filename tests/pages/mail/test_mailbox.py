"""The embedded mailbox."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.postgres.database import PostgresDatabase
from core.mail import mail
from core.mail.brands import MailBrand
from core.mail.mail import MailMessage, MailTemplate, RenderedMail
from entrypoints import capabilities
from entrypoints.installation import Installation
from entrypoints.pages.mail.mailbox import pieces
from tests.application import Client, serving
from tests.clock import SettableClock
from tests.world.world import World

UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"
HOSTILE = RenderedMail(
    subject='</span><script>alert("subject")</script>',
    text='<script>alert("text")</script> https://example.com/?a=1&b="><img src=x onerror=alert(1)>, or javascript:1',
    html="<p>harmless <script>alert('html')</script></p>",
)


class HostileRenderer:
    """The port `MailRenderer` for tests: every mail is an attack."""

    def render(self, mail_message: MailMessage, brand: MailBrand | None = None) -> RenderedMail:
        """Return the hostile mail."""
        return HOSTILE


async def keep_message(database: PostgresDatabase, to: str) -> None:
    """Put a mail into the mailbox, as the courier does without a mail server."""
    await database.transact(mail.send, to, MailTemplate.TEST)
    for claimed in await database.transact(mail.claim, 10):
        await database.transact(mail.record_kept, claimed)


async def test_a_mail_has_the_brand_that_it_is_sent_with(
    client: Client, database: PostgresDatabase, world: World
) -> None:
    organization_id = world.organization()
    world.connection.execute(
        """
        INSERT INTO brandings (organization_id, primary_color, support_email, updated_at)
        VALUES (%s, '#7a1fa2', 'help@acme.example', %s)
        """,
        (organization_id, world.clock()),
    )

    await database.transact(
        mail.send,
        "ada@example.com",
        MailTemplate.VERIFY_EMAIL,
        organization_id=organization_id,
        token="t",
        place="Shop",
    )
    for claimed in await database.transact(mail.claim, 10):
        await database.transact(mail.record_kept, claimed)
    answer = await client.get("/dev/mailbox", headers={"Accept": "application/json"})
    [shown] = answer.json["messages"]
    page = await client.get(f"/dev/mailbox/{shown['id']}")

    assert "background: #7a1fa2" in shown["html"]
    assert page.text == shown["html"]
    # With an account's secret, a mail names no address that the organization has set.
    assert "help@acme.example" not in shown["html"]
    assert "img-src 'self' data:;" in page.headers["Content-Security-Policy"]


async def test_the_mails_are_returned_as_json_newest_first_on_request(
    client: Client, database: PostgresDatabase, clock: SettableClock
) -> None:
    await keep_message(database, "first@example.com")
    clock.advance(timedelta(minutes=1))
    await keep_message(database, "second@example.com")

    answer = await client.get("/dev/mailbox", headers={"Accept": "application/json"})

    messages = answer.json["messages"]
    assert [message["to"] for message in messages] == ["second@example.com", "first@example.com"]
    assert set(messages[0]) == {"id", "to", "subject", "text", "html", "language", "created_at"}
    assert messages[0]["created_at"] == "2026-02-03T04:06:06Z"
    assert "<html" in messages[0]["html"]


async def test_any_other_accept_header_gets_a_page(
    client: Client, database: PostgresDatabase, subtests: pytest.Subtests
) -> None:
    await keep_message(database, "ada@example.com")

    for accept in ("text/html,application/xhtml+xml,*/*;q=0.8", "*/*", "image/png"):
        with subtests.test(accept=accept):
            answer = await client.get("/dev/mailbox", headers={"Accept": accept})

            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
            assert answer.headers["Vary"] == "Accept, Accept-Language, Cookie"
            assert "to ada@example.com" in answer.text


async def test_an_empty_mailbox_is_shown_as_empty(client: Client) -> None:
    page = await client.get("/dev/mailbox")
    answer = await client.get("/dev/mailbox", headers={"Accept": "application/json"})

    assert "No mails yet." in page.text
    assert answer.json == {"messages": []}


async def test_a_mail_that_is_still_queued_is_not_shown(client: Client, database: PostgresDatabase) -> None:
    await database.transact(mail.send, "ada@example.com", MailTemplate.TEST)

    answer = await client.get("/dev/mailbox", headers={"Accept": "application/json"})

    assert answer.json == {"messages": []}


async def test_a_hostile_mail_is_only_text_on_the_page(installation: Installation, database: PostgresDatabase) -> None:
    await keep_message(database, "ada@example.com")
    client = serving(replace(installation, mail_renderer=HostileRenderer()))

    html = (await client.get("/dev/mailbox")).text

    assert html.count("<script") == 1
    assert "<img" not in html
    assert HOSTILE.subject in unescape(html)


async def test_only_web_addresses_become_links(installation: Installation, database: PostgresDatabase) -> None:
    await keep_message(database, "ada@example.com")
    client = serving(replace(installation, mail_renderer=HostileRenderer()))

    html = (await client.get("/dev/mailbox")).text

    mail_message = html[html.index('<pre class="mail-text"') :]
    assert re.findall(r'<a href="([^"]*)"', mail_message) == ["https://example.com/?a=1&amp;b="]


async def test_the_html_part_is_shown_in_a_sandbox(client: Client, database: PostgresDatabase) -> None:
    await keep_message(database, "ada@example.com")
    [message] = (await client.get("/dev/mailbox", headers={"Accept": "application/json"})).json["messages"]

    answer = await client.get(f"/dev/mailbox/{message['id']}")

    assert answer.status == 200
    assert answer.text == message["html"]
    policy = {part.split()[0]: part.split()[1:] for part in answer.headers["Content-Security-Policy"].split(";")}
    assert policy["default-src"] == ["'none'"]
    assert policy["frame-ancestors"] == ["'self'"]
    assert policy["form-action"] == ["'none'"]
    assert "script-src" not in policy
    assert "allow-scripts" not in policy["sandbox"]
    assert "allow-same-origin" not in policy["sandbox"]


async def test_the_page_frames_only_its_own_mails(client: Client) -> None:
    answer = await client.get("/dev/mailbox")

    assert "frame-src 'self'" in answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]


async def test_an_unknown_mail_is_404(client: Client, subtests: pytest.Subtests) -> None:
    for message_id in (UNKNOWN_ID, "no-id", "..%2f"):
        with subtests.test(message_id=message_id):
            answer = await client.get(f"/dev/mailbox/{message_id}")

            assert answer.status == 404


@pytest.mark.parametrize("path", ["/dev/mailbox", f"/dev/mailbox/{UNKNOWN_ID}"])
async def test_the_mailbox_is_404_outside_development_mode(installation: Installation, path: str) -> None:
    client = serving(installation, capabilities.routes(is_development=False))

    answer = await client.get(path)

    assert answer.status == 404


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("See https://example.com/verify?token=1-2.", ["https://example.com/verify?token=1-2"]),
        ("(http://localhost:8000/a_b) or <https://b.example/>", ["http://localhost:8000/a_b", "https://b.example/"]),
        ("javascript:alert(1) data:text/html,x ftp://a.example //a.example www.a.example", []),
        ("http:// https://", []),
        ('"https://a.example/"onclick="x', ["https://a.example/"]),
    ],
)
def test_an_address_ends_where_a_reader_expects(text: str, addresses: list[str]) -> None:
    assert [piece.text for piece in pieces(text) if piece.is_address] == addresses


@given(st.text(alphabet="htps:/. a<\"'&()\n"))
def test_splitting_a_text_into_pieces_loses_nothing(text: str) -> None:
    split = pieces(text)

    assert "".join(piece.text for piece in split) == text
    assert all(piece.text.startswith(("http://", "https://")) for piece in split if piece.is_address)
