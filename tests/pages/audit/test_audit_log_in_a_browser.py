"""Reading the audit log in a real browser, with and without scripts, and following it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Route

from adapters.postgres.driver.connection import Connection
from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site, sign_in
from tests.browser import Site, Watched
from tests.world.builder import Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

ENTRY = """
    INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id, ip_address,
                               request_id, success, details, created_at, position)
    SELECT ('0191d3c1-0000-7000-8000-' || lpad(%(n)s::text, 12, '0'))::uuid, o.id, u.id, 'service.updated', 'service',
           '0191d3c1-0000-7000-8000-00000000000f', '192.0.2.7', 'request-' || %(n)s, true,
           '{"service_name": "<b>Shop</b>", "changes": {"name": {"from": "Shop", "to": "<b>Shop</b>"}}}', now(), %(n)s
    FROM   organizations o
    CROSS  JOIN users u
"""
SEAL = """
    WITH seals AS (
        INSERT INTO audit_seals (organization_id, position, entry_id, hash, digests, salts)
        SELECT organization_id, position, id, repeat('0', 64), '{}', '{}' FROM audit_entries
        ON CONFLICT DO NOTHING
    )
    INSERT INTO audit_chains (organization_id, sealed_through, head, sealed_at)
    SELECT id, %s, repeat('0', 64), now() FROM organizations
    ON CONFLICT (organization_id) DO UPDATE SET sealed_through = excluded.sealed_through
"""


# The addresses that stand on more than one line.
BROKEN = r"""
[...document.querySelectorAll('.within-width td')].flatMap(one => {
  const text = [...one.childNodes].find(part => part.nodeType === Node.TEXT_NODE && part.data.includes('@'));
  if (!text) return [];
  const word = /\S+@\S+/.exec(text.data);
  const range = document.createRange();
  range.setStart(text, word.index);
  range.setEnd(text, word.index + word[0].length);
  return new Set([...range.getClientRects()].map(box => box.top)).size > 1 ? [word[0]] : [];
})
"""


@pytest.fixture
def site(
    builder: Builder, connection: Connection, database_url: str, key_pairs: tuple[KeyPair, KeyPair]
) -> Iterator[Site]:
    """A running server with an owner of an organization whose log has entries."""
    builder.member(builder.organization(), builder.user(), "owner")
    for number in range(1, 31):
        connection.execute(ENTRY, {"n": number})
    connection.execute(SEAL, (30,))
    with running_site(database_url, key_pairs) as site:
        yield site


@pytest.mark.parametrize("has_scripts", [True, False], ids=["with scripts", "without scripts"])
def test_an_entry_is_found_opened_and_followed(
    site: Site, connection: Connection, watch: Callable[..., Watched], *, has_scripts: bool
) -> None:
    watched = watch(java_script_enabled=has_scripts, viewport={"width": 320, "height": 640}, locale="en-GB")
    page = watched.page
    page.goto(f"{site.url}/app/organizations/acme/audit")
    sign_in(page)

    # By the keyboard.
    page.get_by_text("Search and filter").click()
    page.get_by_label("Id of the request").fill("request-7")
    page.get_by_label("Id of the request").press("Enter")
    page.get_by_role("link", name="Changed a service").press("Enter")
    page.get_by_text("Entry", exact=True).wait_for()
    compared = page.get_by_role("group", name="What it says").inner_text()
    page.go_back()
    found = page.get_by_role("table", name="Entries").get_by_role("row").count()
    page.get_by_text("Search and filter").click()
    page.get_by_role("link", name="Show all").click()

    def write_first(route: Route) -> None:
        if "position=30" in route.request.url:
            connection.execute(ENTRY, {"n": 31})
            connection.execute(SEAL, (31,))
        route.continue_()

    page.route("**/feed?*", write_first)
    page.get_by_role("link", name="Follow live").click()
    if has_scripts:
        page.locator("#entry-0191d3c1-0000-7000-8000-000000000031").get_by_text("New", exact=True).wait_for()
        shown = page.get_by_role("table", name="Entries").get_by_role("row").count()
        times = page.get_by_role("table", name="Entries").get_by_role("time").all_inner_texts()
        page.get_by_role("link", name="Stop following").click()
        assert shown == 1 + 25 + 1
        # As the region of the reader has them, the new one as the others: the day comes first.
        assert [time for time in times if not time[0].isdigit()] == []
        assert len(times) == 25 + 1
    else:
        page.get_by_text("This page loads itself again every 10 seconds.").wait_for()

    assert "<b>Shop</b>" in compared
    assert found == 2
    assert [problem for problem in watched.problems if "feed" not in problem] == []


@pytest.mark.parametrize("width", [1280, 1024, 900, 760, 360])
def test_no_column_of_the_list_is_cut_off(
    site: Site, connection: Connection, watch: Callable[..., Watched], width: int
) -> None:
    connection.execute("UPDATE audit_entries SET ip_address = '2001:db8:1234:5678:9abc:def0:1234:5678'")
    connection.execute(
        'UPDATE audit_entries SET details = details || \'{"service_name": "A service with a long name"}\''
    )
    page = watch(viewport={"width": width, "height": 800}).page
    page.goto(f"{site.url}/app/organizations/acme/audit")
    sign_in(page)

    cut = page.locator(".within-width, .within-width th > span, .within-width td").evaluate_all(
        "all => all.filter(one => one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1)"
        ".map(one => one.outerHTML)"
    )

    assert cut == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    # What is for programmers stands in the foot, and not on phones.
    assert page.locator(".page-foot > .program").is_visible() == (width > 640)
    assert page.get_by_role("button", name="Keyboard shortcuts").is_visible() == (width > 640)


def test_addresses_are_not_broken_on_tablets(site: Site, connection: Connection, watch: Callable[..., Watched]) -> None:
    page = watch(viewport={"width": 1280, "height": 800}).page
    page.goto(f"{site.url}/app/organizations/acme/audit")
    sign_in(page)
    page.get_by_role("table", name="Entries").wait_for()
    connection.execute("UPDATE users SET email = 'ann@customer.example'")
    connection.execute(
        """
        UPDATE audit_entries
        SET    action = 'user.invited', target_type = 'user', target_id = actor_user_id::text,
               ip_address = '198.51.100.100'
        """
    )
    page.reload()

    assert page.get_by_role("table", name="Entries").inner_text().count("ann@customer.example") == 2 * 25
    for width in (1280, 1024, 850, 768, 700):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(BROKEN) == [], width
