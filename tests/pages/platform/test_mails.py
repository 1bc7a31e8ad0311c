"""The page of the outgoing mail."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urlencode
from uuid import UUID

from core.mail import mail
from core.mail.mail import MailTemplate
from entrypoints.pages.console.frame import ROWS_SHOWN
from tests.application import Answer
from tests.world.callers import Caller, Callers
from tests.world.visitor import FORM, Visitor, forms_of

MAIL = "/app/platform/mail"
EVIL = "<script>alert(1)</script>"


async def send(
    callers: Callers,
    to: str = "ann@example.com",
    state: str = "failed",
    template: MailTemplate = MailTemplate.WELCOME,
    *,
    age: int = 0,
    organization_id: UUID | None = None,
) -> UUID:
    """Write a mail in a state, so many minutes ago, and return its id."""
    world = callers.world
    await world.installation.database.transact(
        mail.send, to, template, organization="Acme", organization_id=organization_id
    )
    mail_id = world.value("SELECT id FROM mails ORDER BY id DESC LIMIT 1")
    world.connection.execute(
        "UPDATE mails SET state = %s, created_at = %s, last_error = %s WHERE id = %s",
        (state, world.clock() - timedelta(minutes=age), f"550 {EVIL}" if state == "failed" else None, mail_id),
    )
    return mail_id


def recipients(page: Answer) -> list[str]:
    """Return the recipients of the list in their order."""
    return re.findall(r'<th role="rowheader" scope="row"><span>(?:<input[^>]*> )?([^<]+)<', page.text)


async def choose(visitor: Visitor, page: Answer, *ids: object) -> Answer:
    """Tick the boxes of these mails, and send the form."""
    [form] = [form for form in forms_of(page) if form.action.startswith(MAIL)]
    fields = [*form.fields.items(), *(("mail", str(one)) for one in ids)]
    answer = await visitor.send("POST", form.action, data=urlencode(fields).encode(), headers={"Content-Type": FORM})
    return await visitor.open(answer.headers["Location"]) if answer.status == 303 else answer


async def test_mails_are_found_by_state_and_recipient_and_what_waits_begins_with_the_oldest(
    callers: Callers, support: Visitor
) -> None:
    for number, state in enumerate(("failed", "queued", "routed", "kept", "sent", "failed", "queued")):
        await send(callers, f"{number}.{state}@example.com", state, age=number)

    everything = await support.open(MAIL)

    assert recipients(everything)[0] == "0.failed@example.com"
    assert len(recipients(everything)) == 7
    assert EVIL not in everything.text
    assert re.findall(r'state=(\w+)"[^>]*>(\d+)<', everything.text) == [
        ("failed", "2"),
        ("queued", "2"),
        ("routed", "1"),
        ("kept", "1"),
    ]
    for state, expected in (
        ("failed", ["0.failed", "5.failed"]),
        ("queued", ["6.queued", "1.queued"]),
        ("routed", ["2.routed"]),
        ("kept", ["3.kept"]),
        ("sent", ["4.sent"]),
        ("unknown", ["0.failed", "1.queued", "2.routed", "3.kept", "4.sent", "5.failed", "6.queued"]),
    ):
        page = await support.open(f"{MAIL}?state={state}")
        assert recipients(page) == [f"{name}@example.com" for name in expected], state
    one = await support.open(f"{MAIL}?email=6.QUEUED@example.com&state=queued")
    assert recipients(one) == ["6.queued@example.com"]
    assert "One found" in one.text
    for nothing in ("email=nothing", f"email={'a' * 900}", "email=6.queued@example.com&state=sent"):
        assert "Nothing is found with this filter" in (await support.open(f"{MAIL}?{nothing}")).text


async def test_a_long_list_goes_on_after_a_position(callers: Callers, support: Visitor) -> None:
    for number in range(ROWS_SHOWN + 2):
        await send(callers, f"{number:02}@example.com", "queued", age=100 - number)

    first = await support.open(f"{MAIL}?state=queued")
    link = re.findall(r'href="([^"]+)"[^>]*>Next', first.text)[0].replace("&amp;", "&")
    second = await support.open(link)

    assert [*recipients(first), *recipients(second)] == [f"{number:02}@example.com" for number in range(ROWS_SHOWN + 2)]
    assert f"{ROWS_SHOWN + 2} found" in second.text
    assert recipients(await support.open(f"{MAIL}?state=queued&after=damaged")) == recipients(first)


async def test_the_chosen_mails_are_sent_again(callers: Callers, support: Visitor) -> None:
    world = callers.world
    ids = [await send(callers, f"{number}@example.com", organization_id=callers.acme_id) for number in range(3)]
    page = await support.open(f"{MAIL}?choose=all")
    assert len(re.findall('name="mail"[^>]* checked>', page.text)) == 3
    assert f"/app/platform/organizations/{callers.acme_id}" in page.text

    done = await choose(support, page, *ids[:2])

    assert "The chosen mails are sent again" in done.text
    assert world.rows("SELECT state, count(*)::int FROM mails GROUP BY 1 ORDER BY 1") == [("failed", 1), ("queued", 2)]
    assert [entry[:2] for entry in world.platform_audit_entries("mail.retried")] == [
        (callers.people[Caller.SUPPORT], str(mail_id)) for mail_id in ids[:2]
    ]


async def test_each_chosen_mail_has_its_own_result(callers: Callers, support: Visitor) -> None:
    fine = await send(callers, "fine@example.com")
    kept = await send(callers, "kept@example.com", "kept")
    sent = await send(callers, "sent@example.com", "sent")
    to_owner = await send(callers, "platform_owner@example.com")
    page = await support.open(MAIL)

    answer = await choose(support, page, fine, kept, sent, to_owner, "x", fine)

    assert answer.status == 200
    assert answer.text.count(">Sent again</span>") == 1
    assert answer.text.count(">Not sent again</span>") == 4
    assert "it is kept and never sent" in answer.text
    assert "was sent, or is being sent" in answer.text
    assert answer.text.count("There is no such mail.") == 2
    assert "platform_owner@example.com" not in answer.text
    assert callers.world.value("SELECT state FROM mails WHERE id = %s", to_owner) == "failed"


async def test_no_mail_and_too_many_are_refused(callers: Callers, support: Visitor) -> None:
    await send(callers)
    page = await support.open(MAIL)

    nothing = await choose(support, page)
    too_many = await choose(support, page, *range(101))

    assert (nothing.status, too_many.status) == (400, 400)
    assert "Choose at least one mail." in nothing.text
    assert "Choose at most 100 mails at once." in too_many.text


async def test_a_refused_choice_stays_on_its_page_with_its_ticks(callers: Callers, support: Visitor) -> None:
    ids = [
        await send(callers, f"{number:02}@example.com", "queued", age=100 - number) for number in range(ROWS_SHOWN + 2)
    ]
    first = await support.open(f"{MAIL}?state=queued")
    second = await support.open(re.findall(r'href="([^"]+)"[^>]*>Next', first.text)[0].replace("&amp;", "&"))
    callers.world.connection.execute(
        "UPDATE mails SET leased_until = %s WHERE id = %s",
        (callers.world.clock() + timedelta(hours=1), ids[-1]),
    )

    nothing = await choose(support, second)
    partly = await choose(support, second, ids[-1], "x")

    assert nothing.status == 400
    assert recipients(nothing) == recipients(second) == ["25@example.com", "26@example.com"]
    assert partly.text.count(">Not sent again</span>") == 2
    assert recipients(partly) == recipients(second)
    assert re.findall(r'name="mail" value="([^"]+)"[^>]* checked>', partly.text) == [str(ids[-1])]


async def test_support_sees_and_counts_no_mail_to_an_owner(
    callers: Callers, support: Visitor, platform_owner: Visitor
) -> None:
    await send(callers, "platform_owner@example.com")
    await send(callers, "ann@example.com")

    for query in ("", "?state=failed", "?email=platform_owner@example.com"):
        assert "platform_owner@example.com" not in recipients(await support.open(f"{MAIL}{query}"))
        assert "platform_owner@example.com" in recipients(await platform_owner.open(f"{MAIL}{query}"))
    assert re.findall(r'state=failed"[^>]*>(\d+)<', (await support.open(MAIL)).text) == ["1"]
    assert re.findall(r'state=failed"[^>]*>(\d+)<', (await platform_owner.open(MAIL)).text) == ["2"]


async def test_why_a_mail_was_not_sent_is_in_the_language_of_the_page(callers: Callers, support: Visitor) -> None:
    support.headers["Accept-Language"] = "de"
    mail_id = await send(callers)
    for stored, expected in (
        (f"The mail server answered 550 {EVIL}", "Der Mailserver hat geantwortet: 550 &lt;script&gt;"),
        ("The mail server refused the login (535).", "Der Mailserver hat die Anmeldung abgelehnt (535)."),
        ("an unknown sentence", "an unknown sentence"),
    ):
        callers.world.connection.execute("UPDATE mails SET last_error = %s WHERE id = %s", (stored, mail_id))
        assert expected in (await support.open(MAIL)).text, stored
