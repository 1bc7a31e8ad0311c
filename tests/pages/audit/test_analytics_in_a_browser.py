"""From a bar of a plot to the sign-ins behind it in a real browser, by the keyboard, with and without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from core.ids import first_id_at
from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site, sign_in
from tests.browser import Site, Watched
from tests.world.builder import Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

SIGN_IN = """
    INSERT INTO login_events (id, user_id, organization_id, provider, success, reason, risk_score, risk_factors,
                              created_at)
    SELECT %(id)s, u.id, o.id, 'password', %(reason)s::text IS NULL, %(reason)s, 0, '{}', %(at)s
    FROM   organizations o
    CROSS  JOIN users u
"""


@pytest.fixture
def site(
    builder: Builder, connection: Connection, database_url: str, key_pairs: tuple[KeyPair, KeyPair]
) -> Iterator[Site]:
    """A running server with an owner of an organization that was signed in to two hours ago."""
    builder.member(builder.organization(), builder.user(), "owner")
    at = builder.clock() - timedelta(hours=2)
    for number, reason in enumerate(("wrong_password", "wrong_password", None)):
        event_id = UUID(int=first_id_at(at).int + 1 + number)
        connection.execute(SIGN_IN, {"id": event_id, "reason": reason, "at": at})
    connection.execute("INSERT INTO sign_in_counting (counted_through) VALUES (%s)", (first_id_at(at),))
    with running_site(database_url, key_pairs) as site:
        yield site


@pytest.mark.parametrize("has_scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_bar_is_reached_by_the_keyboard_and_leads_to_its_sign_ins(
    site: Site, watch: Callable[..., Watched], *, has_scripts: bool
) -> None:
    options: dict[str, Any] = {"viewport": {"width": 320, "height": 640}, "locale": "en-GB"}
    watched = watch(java_script_enabled=has_scripts, **options)
    page = watched.page
    page.goto(f"{site.url}/app/organizations/acme/analytics?days=7")
    sign_in(page)

    page.locator("#by-day svg a", has=page.locator("title", has_text="Refused: 2")).focus()
    page.keyboard.press("Enter")
    page.get_by_text("2 found").wait_for()
    assert page.locator("tbody tr").count() == 2
    assert page.get_by_text("The password was wrong.").count() >= 2

    page.go_back()
    page.locator("#by-day summary").press("Enter")
    page.locator("#by-day table").get_by_role("link", name="2", exact=True).click()
    page.get_by_text("2 found").wait_for()
    assert watched.problems == []
