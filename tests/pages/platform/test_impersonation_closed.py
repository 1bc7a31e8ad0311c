"""What cannot begin while a platform owner acts as a user in a browser, by any route."""

from __future__ import annotations

import re

import pytest
import trio

from core.accounts.sign_in_methods import Provider
from core.secrets import Secret
from core.sessions import browser_sessions
from core.sessions.browser_sessions import BrowserSession
from core.sessions.caller_limits import ClosedWhileImpersonating
from core.sessions.sessions import Session
from core.sign_in import browser_returns, child_sessions
from core.sign_in.proofs import Destination, InBrowser
from ports.unit_of_work import UnitOfWork
from tests.application import Answer
from tests.concurrency import at_once
from tests.pages.platform.conftest import browser_of
from tests.waiting import waiting_for_a_lock
from tests.world.callers import ACME, Caller, Callers
from tests.world.domains import DOMAIN, insert_verified
from tests.world.visitor import Visitor, forms_of


async def acting_session(callers: Callers) -> BrowserSession:
    """Return the session in which a platform owner acts as the admin."""
    callers.cookie(Caller.IMPERSONATED)

    def read(uow: UnitOfWork) -> BrowserSession | None:
        return uow.browser_sessions.lock(callers.sessions[Caller.IMPERSONATED])

    found = await callers.world.installation.database.transact(read)
    assert found is not None
    assert found.is_impersonation
    return found


async def test_no_session_at_a_service_begins_from_it(callers: Callers) -> None:
    acting = await acting_session(callers)
    callers.world.service(callers.acme_id)

    with pytest.raises(ClosedWhileImpersonating):
        await callers.world.installation.database.transact(
            child_sessions.begin,
            acting.session_id,
            acting.user_id,
            Destination(organization_slug=ACME, service_slug="shop"),
        )


async def test_no_sign_in_continues_or_replaces_it(callers: Callers) -> None:
    acting = await acting_session(callers)
    now = callers.world.clock()

    def keep(uow: UnitOfWork) -> None:
        session = Session(
            id=uow.randomness.new_id(),
            user_id=acting.user_id,
            organization_id=None,
            service_id=None,
            device_id=None,
            provider=Provider.PASSWORD,
            amr=["pwd"],
            authenticated_at=now,
            refreshed_at=now,
            expires_at=now,
            ip_address=None,
            user_agent=None,
            impersonator_id=None,
            created_at=now,
        )
        browser_returns.keep_session(uow, session, Secret("refresh"), InBrowser(present=acting))

    with pytest.raises(ClosedWhileImpersonating):
        await callers.world.installation.database.transact(keep)


async def test_its_use_moves_its_last_use_and_not_its_end(callers: Callers) -> None:
    acting = await acting_session(callers)

    await callers.world.installation.database.transact(browser_sessions.keep_up, acting)

    assert (await acting_session(callers)).impersonated_until == acting.impersonated_until


async def test_an_application_that_asks_for_a_sign_in_gets_none_and_no_code(callers: Callers) -> None:
    shop = callers.world.service(callers.acme_id)
    acting = browser_of_impersonator(callers)

    for path in (f"/auth/authorize?client_id={shop.client_id}&prompt=none", "/auth/authorize/resume?return_id=x"):
        page = await acting.send("GET", path)
        assert page.status == 403
        assert "This is closed while you act as another person" in page.text
        assert "Location" not in page.headers


async def test_at_the_domain_of_an_organization_the_cookie_is_of_no_session(callers: Callers) -> None:
    insert_verified(callers.world, callers.acme_id)
    acting = browser_of_impersonator(callers)
    acting.headers["Host"] = DOMAIN

    answer = await acting.send("GET", "/app")

    assert (answer.status, answer.headers["Location"].partition("?")[0]) == (303, "/app/sign-in")


async def test_a_session_at_the_domain_is_not_mistaken_for_the_owner_s(callers: Callers) -> None:
    insert_verified(callers.world, callers.acme_id)
    acting = browser_of_impersonator(callers)
    callers.world.connection.execute(
        "UPDATE browser_sessions SET domain_id = (SELECT id FROM custom_domains) WHERE session_id = %s",
        (callers.sessions[Caller.IMPERSONATED],),
    )

    assert "You no longer act as another person" in (await acting.open("/app/account")).text


async def test_the_console_shows_what_the_role_of_the_user_opens(callers: Callers) -> None:
    acting, theirs = browser_of_impersonator(callers), browser_of(callers, Caller.ADMIN)

    for path in (f"/app/organizations/{ACME}", f"/app/organizations/{ACME}/people", f"/app/organizations/{ACME}/audit"):
        assert ((await acting.open(path)).status, (await theirs.open(path)).status) == (200, 200)
    assert (await acting.open("/app/organizations/globex")).status == 403


async def test_an_owner_who_is_demoted_while_it_begins_does_not_act(callers: Callers) -> None:
    world, owner_id = callers.world, callers.people[Caller.PLATFORM_OWNER]
    world.connection.execute("UPDATE sessions SET revoked_at = now() WHERE impersonator_id IS NOT NULL")
    world.connection.execute("UPDATE users SET is_platform_owner = true WHERE email = 'owner@example.com'")
    owner = browser_of(callers, Caller.PLATFORM_OWNER)
    path = f"/app/platform/users/{callers.people[Caller.ADMIN]}/impersonation"
    page = await owner.open(path)

    await at_once(
        lambda: owner.submit(page, path, reason="a ticket", is_followed=False),
        lambda: world.client.request(
            "DELETE", f"/api/platform/owners/{owner_id}", headers=callers.credentials(Caller.OWNER)
        ),
    )

    assert world.value("SELECT is_platform_owner FROM users WHERE id = %s", owner_id) is False
    shown = await owner.open("/app/account")
    assert "You act as" not in shown.text
    alive = "SELECT count(*) FROM sessions WHERE impersonator_id IS NOT NULL AND revoked_at IS NULL"
    assert world.value(alive) == 0


async def test_an_owner_whose_demotion_is_about_to_end_does_not_act(callers: Callers) -> None:
    world, owner = callers.world, browser_of(callers, Caller.PLATFORM_OWNER)
    world.connection.execute("UPDATE sessions SET revoked_at = now() WHERE impersonator_id IS NOT NULL")
    path = f"/app/platform/users/{callers.people[Caller.ADMIN]}/impersonation"
    page = await owner.open(path)

    async def begin() -> None:
        await owner.submit(page, path, reason="a ticket", is_followed=False)

    async with trio.open_nursery() as nursery:
        with world.connection.transaction():
            world.connection.execute(
                "UPDATE users SET is_platform_owner = false WHERE id = %s", (callers.people[Caller.PLATFORM_OWNER],)
            )
            nursery.start_soon(begin)
            await waiting_for_a_lock(world.connection)

    assert world.value("SELECT count(*) FROM sessions WHERE impersonator_id IS NOT NULL AND revoked_at IS NULL") == 0


def browser_of_impersonator(callers: Callers) -> Visitor:
    """Return the browser of a platform owner who acts as the admin."""
    visitor = Visitor(callers.world.client)
    for pair in callers.cookie(Caller.IMPERSONATED)["Cookie"].split("; "):
        name, _, secret = pair.partition("=")
        visitor.cookies[name] = secret
    return visitor


async def test_a_service_is_not_tried_and_its_keys_stay_and_the_pages_say_so(callers: Callers) -> None:
    world, page = callers.world, f"/app/organizations/{ACME}/services/shop"
    keys = (
        '{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "kid": "a"}]}'
    )
    world.service(callers.acme_id)
    world.connection.execute("UPDATE services SET jwks = %s::jsonb WHERE slug = 'shop'", (keys,))
    acting, theirs = browser_of_impersonator(callers), browser_of(callers, Caller.ADMIN)

    trial = await acting.open(f"{page}/tryout")
    begun = await acting.post(f"{page}/tryout", {"form_token": token_of(trial)})
    settings = await acting.open(f"{page}/options")
    renamed = await acting.submit(settings, f"{page}/options", name="Renamed", service_type="web")
    forged = await acting.submit(await acting.open(f"{page}/options"), f"{page}/options", jwks="", service_type="web")

    for shown, closed in ((trial, "Try it"), (settings, "Change the keys")):
        assert "This is closed while you act as another person" in shown.text
        assert re.search(rf'disabled aria-describedby="[\w-]+">{closed}<', shown.text)
    assert f'action="{page}/tryout"' in (await theirs.open(f"{page}/tryout")).text
    assert (begun.status, forged.status) == (403, 403)
    assert "The settings of the service are saved." in renamed.text
    assert world.value("SELECT jwks = %s::jsonb AND name = 'Renamed' FROM services WHERE jwks IS NOT NULL", keys)


async def test_a_page_says_why_each_control_of_it_is_closed(callers: Callers) -> None:
    page = f"/app/organizations/{ACME}/services/shop"
    callers.world.service(callers.acme_id)
    acting = browser_of_impersonator(callers)

    for path in (
        page,
        f"{page}/tryout",
        f"{page}/options",
        f"{page}/api-keys",
        f"{page}/single-sign-on?provider=other",
    ):
        shown = await acting.open(path)
        reasons = re.findall(r'disabled aria-describedby="([\w-]+)"', shown.text)
        assert reasons, path
        assert all(f'id="{reason}"' in shown.text for reason in reasons), path


async def test_connections_and_credentials_stay_as_they_are_and_the_pages_say_so(callers: Callers) -> None:
    page = f"/app/organizations/{ACME}/sign-in"
    callers.world.mail_domain(callers.acme_id, "acme.example")
    [connection_id] = callers.world.rows("SELECT id FROM upstream_connections")[0]
    connection = f"{page}/connections/{connection_id}"
    acting, theirs = browser_of_impersonator(callers), browser_of(callers, Caller.ADMIN)

    for path, actions in (
        (connection, (connection, f"{connection}/change")),
        (f"{page}/oauth-credentials/codehost", (f"{page}/oauth-credentials/codehost",)),
        (page, ()),
    ):
        shown, open_to_admins = await acting.open(path), await theirs.open(path)
        assert (shown.status, open_to_admins.status) == (200, 200)
        assert "This is closed while you act as another person" in shown.text
        assert not {form.action for form in forms_of(shown)} & set(actions)
        assert {form.action for form in forms_of(open_to_admins)} >= set(actions)
    for path in (f"{connection}/enabling", f"{page}/connections/new"):
        assert (await acting.open(path)).status == 403


def token_of(page: Answer) -> str:
    """Return the token of the forms of a page."""
    return forms_of(page)[0].fields["form_token"]
