"""The pages of the platform's audit log."""

from __future__ import annotations

import csv
import re
from html import unescape
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from tests.application import Answer
from tests.shown_text import shows
from tests.world.builder import new_id
from tests.world.callers import Callers
from tests.world.visitor import Visitor

PAGE = "/app/platform/audit"
FREE_TIER = "00000000-0000-7000-8000-000000000001"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


def write(callers: Callers, action: str, target_type: str, target_id: str, **details: object) -> UUID:
    """Insert an entry of an operator's command; return its id."""
    entry_id = new_id()
    callers.world.connection.execute(
        """
        INSERT INTO platform_audit_entries (id, action, target_type, target_id, success, details, created_at)
        VALUES (%s, %s, %s, %s, true, %s, now())
        """,
        (entry_id, action, target_type, target_id, Jsonb(details)),
    )
    return entry_id


def rows(page: Answer) -> list[str]:
    """Return the rows of the table of a page, as text without markup."""
    assert page.status == 200, page.text
    table = page.text.partition("<tbody")[2].partition("</tbody>")[0]
    return [" ".join(unescape(re.sub(r"<[^>]*>", " ", row)).split()) for row in re.split(r"<tr[^>]*>", table)[1:]]


async def test_an_anonymization_by_itself_and_what_was_done_as_a_person_say_who_it_was(
    callers: Callers, platform_owner: Visitor
) -> None:
    world = callers.world
    world.connection.execute("DELETE FROM platform_audit_entries")
    person, root = world.user("gone@example.com"), world.user("root.two@example.com")
    write(callers, "user_anonymized", "user", str(person))
    acted = write(callers, "impersonation.acted", "user", str(person), deed="x", impersonator_id=str(root))
    world.connection.execute("UPDATE platform_audit_entries SET actor_user_id = %s WHERE id = %s", (root, acted))

    by_person, by_itself = rows(await platform_owner.open(PAGE))

    assert by_itself.startswith("Removed the personal data of a user, as the security log has it")
    assert ("The platform itself" in by_itself, "An operator, by a command" in by_itself) == (True, False)
    assert "root.two@example.com" in by_person
    # The actor is the impersonator, who is not named twice.
    assert "acting as this person" not in by_person


async def test_what_was_done_is_found_and_opened(callers: Callers, platform_owner: Visitor) -> None:
    callers.world.connection.execute("DELETE FROM platform_audit_entries")
    gone = write(callers, "organization.deleted", "organization", str(new_id()), name=HOSTILE, reason="=1")
    write(callers, "mail.retried", "mail", str(new_id()))

    page = await platform_owner.open(PAGE)
    found = await platform_owner.open(f"{PAGE}?action=organization.deleted&actor=system")
    entry = await platform_owner.open(f"{PAGE}/{gone}")
    file = await platform_owner.open(f"{PAGE}/entries.csv?action=organization.deleted")

    assert [row.split(" An operator")[0] for row in rows(page)] == [
        "Let a mail be sent again",
        "Deleted an organization Reason: =1",
    ]
    assert len(rows(found)) == 1
    assert HOSTILE not in found.text + entry.text
    assert "Reason – =1" in rows(entry)
    assert not shows(entry.text, "Seal")
    [exported] = csv.DictReader(file.text.splitlines())
    assert (exported["target"], exported["actor"]) == (HOSTILE, "command")


async def test_a_person_is_found_by_address(callers: Callers, platform_owner: Visitor) -> None:
    user_id = callers.world.user("zoe@example.com")
    write(callers, "user.opened", "user", str(user_id))

    page = await platform_owner.open(f"{PAGE}?target=zoe@example.com")

    assert len(rows(page)) == 1
    assert "zoe@example.com" in rows(page)[0]


async def test_a_wrong_filter_is_said_and_stays(platform_owner: Visitor) -> None:
    page = await platform_owner.open(f"{PAGE}?actor=zoe&request=abc")

    assert page.status == 400
    assert 'aria-invalid="true"' in page.text
    assert 'value="abc"' in page.text


async def test_the_feed_returns_new_entries_and_waits_for_none_when_it_stops(
    callers: Callers, platform_owner: Visitor
) -> None:
    write(callers, "user.opened", "user", str(new_id()))

    new = await platform_owner.open(f"{PAGE}/feed?position=1")
    callers.world.installation.stopping.set()
    [following] = re.findall(r'data-feed="([^"]*)"', new.text)
    known = await platform_owner.open(unescape(following))

    # What was written a moment before is returned again: an entry may be committed late.
    assert len(rows(new)) >= 1
    assert rows(known) == rows(new)
    assert following in known.text


async def test_an_entry_that_does_not_exist_is_not_found(callers: Callers, platform_owner: Visitor) -> None:
    for path in (f"{PAGE}/{new_id()}", f"{PAGE}/nonsense"):
        assert (await platform_owner.open(path)).status == 404


@pytest.mark.parametrize("path", ["", "/feed", "/entries.csv", f"/{UUID(int=1)}"])
async def test_support_does_not_read_it(support: Visitor, path: str) -> None:
    assert (await support.open(PAGE + path)).status == 403


async def test_details_are_shown_in_words(callers: Callers, platform_owner: Visitor) -> None:
    world, user = callers.world, str(new_id())
    world.connection.execute("DELETE FROM platform_audit_entries")
    service = world.service(world.organization("bolt"), "shop").id
    write(callers, "user.verification_sent", "user", user, sent=False)
    write(callers, "user.verification_sent", "user", user, sent=True)
    write(callers, "user.opened", "user", user, part="sign_in_rules")
    write(callers, "secrets.rewrapped", "key", "k2", secrets=7, left=1)
    write(callers, "impersonation.started", "user", user, service_id=str(service))
    write(callers, "organization.approved", "organization", str(new_id()), tier_id=FREE_TIER)

    english = rows(await platform_owner.open(PAGE))
    await platform_owner.switch(await platform_owner.open(PAGE), "de")
    german = rows(await platform_owner.open(PAGE))

    for shown, starts in (
        (
            english,
            (
                "Approved an organization Tier: Free",
                "Began to act as a user Service: Shop",
                "Encrypted the stored secrets with the newest master key",
                "Opened the record of a user Part of the record: Rules of signing in",
                "Sent the verification mail again Sent: Yes",
                "The verification mail was asked for again, but a limit held it back Sent: No",
            ),
        ),
        (
            german,
            (
                "Organisation freigegeben Stufe: Free",
                "",
                "",
                "Akte eines Kontos geöffnet Teil der Akte: Regeln der Anmeldung",
                "Bestätigungs-E-Mail erneut gesendet Verschickt: Ja",
                "Die Bestätigungs-E-Mail wurde erneut angefordert, aber eine Grenze hielt sie zurück Verschickt: Nein",
            ),
        ),
    ):
        assert [row[: len(start)] for row, start in zip(shown, starts, strict=True)] == list(starts)
    assert "Secrets that could not be encrypted: 1" in english[2]
