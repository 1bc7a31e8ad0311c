"""What the palette of the consoles finds while one types: the best match first, and nothing that a page refuses."""

from __future__ import annotations

import html
import re
from urllib.parse import quote

import pytest

from core.events.actions import PlatformAction
from core.services import end_users
from tests.application import Answer
from tests.pages.platform.conftest import browser_of
from tests.shown_text import shows
from tests.world.callers import CUSTOM_ROLE, Caller, Callers
from tests.world.trade import insert_trade
from tests.world.visitor import Visitor
from tests.world.world import World

ACME = "/app/organizations/acme"
PLATFORM = "/app/platform"
ACCOUNT = "/app/account"
OPTION = re.compile(r'<a class="option"[^>]* href="([^"]+)">.*?<span class="option-text">(.*?)</span></a>')
# What a person of each kind types; all begins words of what there is of both tenants.
TEXTS = ("", "create", "har", "hook", "mail", "clerk", "acme", "key", "sign", "pass", "org", "change", "delete", "name")


def options_of(answer: Answer) -> list[tuple[str, str]]:
    """Return the address and the title of each option, without the one that leads to all results."""
    assert answer.status == 200, answer.text
    found = [(html.unescape(href), title.partition(" <small>")[0]) for href, title in OPTION.findall(answer.text)]
    return [(href, title) for href, title in found if "/search?q=" not in href]


async def found_by(visitor: Visitor, text: str, root: str = ACME, language: str = "en") -> list[tuple[str, str]]:
    """Return the options for a text."""
    address = f"{root}/search/options?q={quote(text)}"
    return options_of(await visitor.send("GET", address, headers={"Accept-Language": language}))


def insert_things(callers: Callers) -> None:
    """Insert things of both tenants, whose names differ only by the name of their tenant."""
    world = callers.world
    for slug, organization_id in (("acme", callers.acme_id), ("globex", callers.globex_id)):
        service = world.service(organization_id, f"harbour-{slug}", name=f"Harbour {slug}")
        world.link(organization_id, service.id, world.user(f"harry@{slug}.example"))
        world.serve_customers(service)
        world.customer(service, world.organization(f"harvest-{slug}", name=f"Harvest of {slug}"))
        world.custom_role(organization_id, f"clerk-{slug}", "org.members.view")
        world.mail_domain(organization_id, f"mail.{slug}.example")
        world.connection.execute(
            """
            INSERT INTO webhooks (id, organization_id, name, url, events, is_active, secret_sealed, created_at,
                                  updated_at)
            SELECT gen_random_uuid(), %s, %s, 'https://hooks.example/', '{user.created}', true, '', now(), now()
            """,
            (organization_id, f"Hook {slug}"),
        )


async def test_what_is_meant_comes_first(callers: Callers) -> None:
    insert_things(callers)
    owner, root = browser_of(callers, Caller.OWNER), browser_of(callers, Caller.PLATFORM_OWNER)

    for visitor, console, text, first in (
        (owner, ACME, "create service", f"{ACME}/services/new"),
        (owner, ACME, "new app", f"{ACME}/services/new"),
        (owner, ACME, "invite people", f"{ACME}/people/invited#invite-form"),
        (owner, ACME, "add user", f"{ACME}/people/invited#invite-form"),
        (owner, ACME, "passkey", f"{ACCOUNT}/passkeys"),
        (owner, ACCOUNT, "passkey", f"{ACCOUNT}/passkeys"),
        (owner, ACME, "webhook", f"{ACME}/webhooks"),
        (owner, ACME, "harbour", f"{ACME}/services/harbour-acme"),
        (owner, ACME, "create organization", "/app/organizations#create-form"),
        (owner, ACME, "github", f"{ACME}/sign-in"),
        (root, PLATFORM, "webhook", f"{PLATFORM}/system/queues"),
        (root, PLATFORM, "unlock", f"{PLATFORM}/users"),
        (root, PLATFORM, "approve", f"{PLATFORM}/organizations?status=pending"),
        (root, PLATFORM, "harvest-acme", f"{PLATFORM}/organizations/{_id_of(callers.world, 'harvest-acme')}"),
    ):
        found = await found_by(visitor, text, console)
        assert found[0][0] == first, (text, found)
    documentation = [href.startswith("/docs/") for href, _ in await found_by(owner, "webhook")]
    assert documentation == sorted(documentation)
    assert any(documentation)


def _id_of(world: World, slug: str) -> str:
    return str(world.value("SELECT id FROM organizations WHERE slug = %s", slug))


async def test_german_words_and_english_ones_find_german_names(callers: Callers) -> None:
    owner = browser_of(callers, Caller.OWNER)

    for text in ("dienst erstellen", "service anlegen", "create service"):
        assert (await found_by(owner, text, language="de"))[0] == (f"{ACME}/services/new", "Dienst erstellen"), text
    assert (await found_by(owner, "personen", language="de"))[0][1] == "Personen"
    assert (await found_by(owner, "webhooks", language="de"))[0][1] == "Webhooks"


async def test_without_a_text_the_actions_and_pages_of_the_console_are_offered(callers: Callers) -> None:
    owner, member = browser_of(callers, Caller.OWNER), browser_of(callers, Caller.MEMBER)

    of_owner, of_member = await found_by(owner, ""), await found_by(member, "")

    assert of_owner[0][1] == "Invite people"
    assert (f"{ACME}/audit", "Audit log") in of_owner
    assert {href for href, _ in of_member} < {href for href, _ in of_owner} | {f"{ACME}/settings#ending"}
    # The same without scripts.
    page = await owner.open(f"{ACME}/search")
    assert "Pages and actions" in page.text
    assert all(html.escape(href) in page.text for href, _ in of_owner)
    assert "What can be searched for" in page.text


@pytest.mark.parametrize(
    "caller",
    [
        Caller.OWNER,
        Caller.ADMIN,
        Caller.MEMBER,
        Caller.INTERN,
        Caller.IMPERSONATED,
        Caller.PLATFORM_OWNER,
        Caller.SUPPORT,
    ],
)
async def test_every_option_leads_to_a_page_that_is_shown_and_nothing_of_another_tenant_is_found(
    callers: Callers, caller: Caller
) -> None:
    insert_things(callers)
    visitor = browser_of(callers, caller)
    consoles = [ACCOUNT, PLATFORM if caller in {Caller.PLATFORM_OWNER, Caller.SUPPORT} else ACME]

    found: dict[str, str] = {}
    for console in consoles:
        for text in TEXTS:
            found |= dict(await found_by(visitor, text, console))
    shown = [page.text for console in consoles for page in [await visitor.open(f"{console}/search?q=create")]]

    statuses = {href: (await visitor.send("GET", href.partition("#")[0])).status for href in found}
    assert {href: status for href, status in statuses.items() if status != 200} == {}
    assert len(found) > 20
    if PLATFORM not in consoles:
        assert [title for title in (*found.values(), *shown) if shows(title.lower(), "globex")] == []


async def test_what_a_role_may_not_read_is_not_found(callers: Callers) -> None:
    insert_things(callers)
    owner = [href for text in TEXTS for href, _ in await found_by(browser_of(callers, Caller.OWNER), text)]
    intern = [href for text in TEXTS for href, _ in await found_by(browser_of(callers, Caller.INTERN), text)]

    for part in ("/webhooks/", "/customers/", "/people/end-users/", "/services/harbour", "/sign-in/mail-domains/"):
        assert any(part in href for href in owner), part
        assert not any(part in href for href in intern), part
    assert f"{ACME}/services/new" not in intern
    stranger = browser_of(callers, Caller.STRANGER)
    for root in (ACME, PLATFORM):
        assert (await stranger.send("GET", f"{root}/search/options?q=har")).status == 403


async def test_an_entry_of_an_audit_log_is_found_by_its_id_where_its_reader_may_read_it(callers: Callers) -> None:
    owner, member, root = [browser_of(callers, one) for one in (Caller.OWNER, Caller.MEMBER, Caller.PLATFORM_OWNER)]
    await callers.world.client.request(
        "PATCH", "/api/organizations/acme", headers=callers.credentials(Caller.OWNER), body={"name": "Acme Works"}
    )
    [entry, *_] = [str(one) for (one,) in callers.world.rows("SELECT id FROM audit_entries ORDER BY id DESC")]
    callers.world.connection.execute(
        """
        INSERT INTO platform_audit_entries (id, action, target_type, target_id, success, details, created_at)
        VALUES (%s, 'user.opened', 'user', 'x', true, '{}', now())
        """,
        (callers.acme_id,),
    )

    assert await found_by(owner, entry.upper()) == [(f"{ACME}/audit/{entry}", entry)]
    assert await found_by(member, entry) == []
    assert await found_by(browser_of(callers, Caller.OTHER_OWNER), entry, "/app/organizations/globex") == []
    address = f"{PLATFORM}/audit/{callers.acme_id}"
    assert address in [href for href, _ in await found_by(root, str(callers.acme_id), PLATFORM)]
    assert address not in [
        href for href, _ in await found_by(browser_of(callers, Caller.SUPPORT), str(callers.acme_id), PLATFORM)
    ]
    # On the page alone it is opened at once.
    assert (await owner.send("GET", f"{ACME}/search?q={entry}")).headers["Location"] == f"{ACME}/audit/{entry}"


async def test_customers_are_found_by_name_and_slug_and_an_offer_by_the_slug_alone(world: World) -> None:
    trade = insert_trade(world)
    accepted = await trade.begin()
    offered = await trade.offer("harbour-works")
    world.connection.execute("UPDATE organizations SET name = 'Stone Works' WHERE slug = 'beta'")
    visitor = Visitor(world.client)
    await visitor.sign_in("owner@example.com")
    customers = f"{ACME}/services/shop/customers"

    assert await found_by(visitor, "stone") == [(f"{customers}/{accepted}", "Stone Works")]
    assert (f"{customers}/{accepted}", "Stone Works") in await found_by(visitor, "beta")
    assert [one for one in await found_by(visitor, "works") if one[0].startswith(customers)] == [
        (f"{customers}/{accepted}", "Stone Works"),
        (f"{customers}/{offered}", "harbour-works"),
    ]


async def test_support_finds_people_on_the_page_alone_which_records_it_once(callers: Callers) -> None:
    support, root = browser_of(callers, Caller.SUPPORT), browser_of(callers, Caller.PLATFORM_OWNER)
    person = f"{PLATFORM}/users/{callers.people[Caller.MEMBER]}"

    typed = [await found_by(support, text, PLATFORM) for text in ("mem", "memb", "member@example.com")]
    recorded = "SELECT count(*) FROM platform_audit_entries WHERE action = %s"

    assert not any(href.startswith(f"{PLATFORM}/users/") for found in typed for href, _ in found)
    assert callers.world.value(recorded, PlatformAction.LIST_NARROWED.value) == 0
    assert (person, "member@example.com") in await found_by(root, "memb", PLATFORM)
    assert (await support.send("GET", f"{PLATFORM}/search?q=member@example.com")).headers["Location"] == person
    assert callers.world.value(recorded, PlatformAction.LIST_NARROWED.value) == 1


async def test_rows_are_looked_for_from_three_letters_on(callers: Callers) -> None:
    insert_things(callers)
    owner = browser_of(callers, Caller.OWNER)

    assert [href for href, _ in await found_by(owner, "ha") if "harbour" in href] == []
    assert [href for href, _ in await found_by(owner, "har") if "harbour" in href] != []
    assert len([href for href, _ in await found_by(owner, "example.com") if "/people/" in href]) <= 6


async def test_every_console_has_the_palette_and_lets_it_ask(callers: Callers) -> None:
    insert_things(callers)
    owner, root = browser_of(callers, Caller.OWNER), browser_of(callers, Caller.PLATFORM_OWNER)

    for visitor, path in (
        (owner, ACME),
        (owner, f"{ACME}/services/harbour-acme"),
        (owner, f"{ACME}/audit"),
        (owner, "/app/organizations"),
        (owner, ACCOUNT),
        (owner, f"{ACCOUNT}/passkeys"),
        (root, PLATFORM),
    ):
        page = await visitor.open(path)
        assert 'id="palette"' in page.text, path
        assert page.text.count('data-asks="') == 1
        assert "connect-src 'self'" in page.headers["Content-Security-Policy"], path


async def test_any_text_is_only_a_text(callers: Callers) -> None:
    owner = browser_of(callers, Caller.OWNER)

    for text in (" ", "%", "_", "'", "<b onclick=alert(1)>", "x" * 254, "a/b", "\\", "ß", CUSTOM_ROLE):
        for root in (ACME, ACCOUNT):
            answer = await owner.send("GET", f"{root}/search/options?q={quote(text)}")
            assert answer.status == 200
            assert "<b onclick" not in answer.text
    assert (await owner.send("GET", f"{ACME}/search/options?q={'x' * 255}")).status == 400


async def test_end_users_are_looked_for_among_the_newest_while_typing_and_among_all_on_the_page(
    callers: Callers, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = callers.world
    shop = world.service(callers.acme_id, "harbour-acme")
    ids = [world.user(f"{name}@harry.example") for name in ("one", "other")]
    for user_id in ids:
        world.link(callers.acme_id, shop.id, user_id)
    owner, below = browser_of(callers, Caller.OWNER), f"{ACME}/people/end-users/"
    monkeypatch.setattr(end_users, "LOOKED_AT_MAX", 1)

    typed = [href for href, _ in await found_by(owner, "harry.") if href.startswith(below)]
    page = await owner.open(f"{ACME}/search?q=harry.")

    assert typed == [f"{below}{max(ids)}"]
    assert all(f'href="{below}{user_id}"' in page.text for user_id in ids)
