"""A new admin in a real browser, without scripts: from a bar of a plot to a subscription, and cancelling it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from adapters.postgres.database import PostgresDatabase
from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site, sign_in
from tests.browser import Site, Watched
from tests.world.builder import Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]


async def prepare(database: PostgresDatabase) -> None:
    """Add nothing."""


@pytest.fixture
def site(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an account that owns an organization, which has sold two subscriptions."""
    acme = builder.organization()
    builder.member(acme, builder.user(), "owner")
    service = builder.service(acme)
    plan = builder.plan(acme, service.id)
    builder.plan(acme, service.id, "Team")
    for name in ("eli", "fay"):
        user_id = builder.user(f"{name}@example.com")
        builder.link(acme, service.id, user_id)
        builder.subscription(plan, user_id)
    with running_site(database_url, key_pairs, prepare=prepare) as site:
        yield site


def test_a_bar_leads_to_what_it_counts_and_a_subscription_is_moved_and_cancelled(
    site: Site, watch: Callable[..., Watched]
) -> None:
    watched = watch(java_script_enabled=False, viewport={"width": 320, "height": 640})
    page = watched.page
    page.goto(f"{site.url}/app/organizations/acme/billing")
    sign_in(page)

    page.get_by_role("link", name="Begun: 2").focus()
    page.keyboard.press("Enter")
    page.get_by_text("2 found").wait_for()
    page.get_by_role("link", name="Billing").last.click()
    page.get_by_role("link", name="All subscriptions").click()
    page.get_by_role("link", name="eli@example.com").click()
    page.get_by_label("Plan", exact=True).select_option(label="Team · 9.90 USD")
    page.get_by_role("button", name="Change the plan").click()
    page.get_by_text("The plan is changed.").wait_for()
    page.get_by_role("link", name="Cancel at once").click()
    page.get_by_label("Why").fill("asked by phone")
    page.get_by_role("button", name="Cancel at once").click()

    page.get_by_text("The subscription is cancelled.").wait_for()
    assert watched.problems == []
