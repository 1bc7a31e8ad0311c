"""The page that finds anything on the platform."""

from __future__ import annotations

from urllib.parse import quote
from uuid import UUID

import pytest

from tests.clock import SettableClock
from tests.world.builder import new_id
from tests.world.callers import Caller, Callers
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/platform/search"
REQUEST = "5f0c8c9d2f6b4b6a9d53c1a7c1f0e2ab"
UNKNOWN_REQUEST = "b" * 32
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


async def led_to(visitor: Visitor, text: str) -> str | None:
    """Return the address to which a search leads at once; None when it shows its page."""
    answer = await visitor.send("GET", f"{PAGE}?q={quote(text)}")
    assert answer.status in {200, 303}
    return answer.headers["Location"] if answer.status == 303 else None


def insert_sign_in(world: World, clock: SettableClock, user_id: UUID, request_id: str) -> None:
    """Insert a refused sign-in of this request."""
    world.connection.execute(
        """
        INSERT INTO login_events (id, user_id, organization_id, provider, success, risk_score, risk_factors, created_at,
                                  request_id)
        VALUES (%s, %s, %s, 'password', false, 0, '{}', %s, %s)
        """,
        (new_id(), user_id, user_id, clock(), request_id),
    )


async def test_a_short_text_says_why_it_finds_nothing(world: World, platform_owner: Visitor) -> None:
    world.user("bob@anchor.example")

    short, long = [await platform_owner.open(f"{PAGE}?q={text}") for text in ("qx", "qxq")]

    hint = "one or two characters find only those whose address begins with them"
    assert [hint in page.text for page in (short, long)] == [True, False]


async def test_one_hit_leads_to_its_page(
    world: World,
    callers: Callers,
    clock: SettableClock,
    platform_owner: Visitor,
    support: Visitor,
    subtests: pytest.Subtests,
) -> None:
    ann = world.user("ann@harbour.example")
    insert_sign_in(world, clock, ann, REQUEST)
    harbour = world.organization("harbour", name="Quayside")
    world.mail_domain(harbour, "mail.harbour.example")
    world.service(harbour, "web")
    [(service, client_id)] = world.rows("SELECT id, client_id FROM services WHERE organization_id = %s", harbour)
    user, organization = f"/app/platform/users/{ann}", f"/app/platform/organizations/{harbour}"

    for text, page in (
        (" Ann@harbour.example ", user),
        (str(ann).upper(), user),
        (REQUEST, user),
        (str(callers.sessions[Caller.OWNER]), f"/app/platform/users/{callers.people[Caller.OWNER]}"),
        (str(harbour), organization),
        ("harbour", organization),
        ("QUAYS", organization),
        ("mail.harbour.example", organization),
        (str(client_id), organization),
        (str(service), organization),
    ):
        for reader in (platform_owner, support):
            with subtests.test(text=text):
                assert await led_to(reader, text) == page


async def test_several_hits_are_listed_by_kind(world: World, callers: Callers, platform_owner: Visitor) -> None:
    world.organization("harbour-one", name=HOSTILE)
    world.organization("harbour-two")
    world.user("harbour@example.com")

    text = (await platform_owner.open(f"{PAGE}?q=harbour")).text

    assert text.count('class="row-title"') == 3
    assert "&lt;b onclick" in text
    assert "<b onclick" not in text
    assert 'value="harbour"' in text


async def test_support_finds_nothing_of_platform_owners(
    world: World, callers: Callers, clock: SettableClock, platform_owner: Visitor, support: Visitor
) -> None:
    root = callers.people[Caller.PLATFORM_OWNER]
    [(email,)] = world.rows("SELECT email FROM users WHERE id = %s", root)
    insert_sign_in(world, clock, root, REQUEST)

    for text in (email, str(root), REQUEST, str(callers.sessions[Caller.PLATFORM_OWNER]), email[:-2], "192.0.2.1"):
        found = await support.open(f"{PAGE}?q={text}")
        unknown = UNKNOWN_REQUEST if text == REQUEST else "nothing-like-this"
        nothing = await support.open(f"{PAGE}?q={unknown}")
        assert found.status == 200
        assert ("Nothing that is kept has this id" if text == REQUEST else "Nothing is called") in found.text
        assert ("What can be searched for" in found.text) is ("What can be searched for" in nothing.text)
        assert ("Nothing that is kept has this id" in nothing.text) is (text == REQUEST)
        assert await led_to(platform_owner, text) is not None


async def test_an_address_or_request_that_is_only_in_the_log_leads_owners_there(
    callers: Callers, platform_owner: Visitor
) -> None:
    assert "Nothing that is kept has this id" in (await platform_owner.open(f"{PAGE}?q={REQUEST}")).text
    callers.world.connection.execute(
        """
        INSERT INTO platform_audit_entries (id, action, target_type, target_id, success, details, created_at,
                                            request_id)
        VALUES (%s, 'user.opened', 'user', 'x', true, '{}', now(), %s)
        """,
        (new_id(), REQUEST),
    )
    for text, page in (
        ("192.0.2.1", "/app/platform/audit?address=192.0.2.1"),
        ("2001:DB8::0:1", "/app/platform/audit?address=2001%3Adb8%3A%3A1"),
        ("192.0.2.0/24", "/app/platform/audit?address=192.0.2.0%2F24"),
        (REQUEST, f"/app/platform/audit?request={REQUEST}"),
    ):
        assert await led_to(platform_owner, text) == page


async def test_nothing_found_says_what_can_be_searched_for(platform_owner: Visitor, support: Visitor) -> None:
    for reader in (platform_owner, support):
        for text in (
            "",
            "%20",
            "%25",
            "nothing.at.all",
            f"{UUID(int=0)}",
            "x" * 254,
            "%3Cb%3E",
            ".",
            "a.",
            "{}",
            "a/b",
        ):
            page = await reader.open(f"{PAGE}?q={text}")
            assert page.status == 200
            assert "What can be searched for" in page.text
    unknown = (await support.open(f"{PAGE}?q=eve@example.com")).text
    assert "/app/platform/why?email=eve%40example.com" in unknown
    assert (await support.open(f"{PAGE}?q=%00")).status == 400


async def test_sections_are_found_by_name_and_by_what_they_are_about(platform_owner: Visitor, support: Visitor) -> None:
    for text, page in (("Tiers", "tiers"), ("outbox", "mail"), ("money", "revenue")):
        assert await led_to(platform_owner, text) == await led_to(support, text) == f"/app/platform/{page}"
    assert await led_to(platform_owner, "appoint") == "/app/platform/owners"
    assert await led_to(support, "appoint") is None
    assert 'href="/docs/reference/' in (await support.open(f"{PAGE}?q=platform")).text
