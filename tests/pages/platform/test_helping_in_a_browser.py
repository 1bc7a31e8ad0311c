"""A platform owner helps a person in a real browser, by the keyboard, with and without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from adapters.postgres.database import PostgresDatabase
from core.mail import mail
from core.mail.mail import MailTemplate
from core.sessions.signing_keys import KeyPair
from ports.unit_of_work import UnitOfWork
from tests.account_site import running_site, sign_in
from tests.browser import Site, Watched
from tests.world.builder import Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

PERSON = "eva@example.com"


async def add_failed_mail(database: PostgresDatabase) -> None:
    """Add a mail to the person that their mail server has refused."""

    def send(uow: UnitOfWork) -> None:
        mail.send(uow, PERSON, MailTemplate.WELCOME, organization="Acme")

    await database.transact(send)
    [claimed] = await database.transact(mail.claim, 100)
    await database.transact(mail.record_failed, claimed, "550 There is no such mailbox.")


@pytest.fixture
def site(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with a platform owner, and a person who has not verified the address."""
    builder.user(is_platform_owner=True)
    builder.user(PERSON, is_verified=False)
    with running_site(database_url, key_pairs, prepare=add_failed_mail) as site:
        yield site


@pytest.mark.parametrize("has_scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_person_is_found_and_helped(site: Site, watch: Callable[..., Watched], *, has_scripts: bool) -> None:
    watched = watch(java_script_enabled=has_scripts, viewport={"width": 320, "height": 640})
    page = watched.page
    page.goto(f"{site.url}/app/platform/users")
    sign_in(page)

    page.get_by_label("Part of the address").fill("EVA@")
    page.get_by_label("Part of the address").press("Enter")
    page.get_by_role("link", name=PERSON).press("Enter")
    page.get_by_role("button", name="Send again Link to verify the address").press("Enter")
    page.get_by_text("The mail that verifies the address is on its way.").wait_for()
    page.get_by_role("button", name="Lift the limits").press("Enter")
    page.get_by_text("The limits are lifted.").wait_for()
    page.get_by_role("link", name="End all sessions").press("Enter")
    page.get_by_label("Reason").fill("The phone was stolen.")
    page.get_by_label("Reason").press("Enter")
    page.get_by_text("The sessions have ended.").wait_for()
    page.get_by_role("link", name="Mails", exact=True).press("Enter")
    page.get_by_role("link", name="These mails in the outbox").press("Enter")
    page.get_by_text("Search and filter").click()
    page.get_by_label("State").select_option("Failed")
    page.get_by_role("button", name="Search").press("Enter")
    page.get_by_role("checkbox", name=f"Choose the mail to {PERSON}").press("Space")
    page.get_by_role("button", name="Send the chosen mails again").press("Enter")
    page.get_by_text("The chosen mails are sent again").wait_for()

    assert page.get_by_text("Nothing is found with this filter").is_visible()
    assert watched.problems == []
