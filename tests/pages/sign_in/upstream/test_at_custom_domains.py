"""Connections at a custom domain: a ticket takes the browser to the base URL, and another one takes it back."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from core.sign_in.upstream import at_custom_domains
from tests.application import Answer
from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider, asked
from tests.world.authorization import address_of
from tests.world.builder import Service
from tests.world.domains import BASE, DOMAIN, BrowserOfHosts, insert_verified
from tests.world.openid_acme import Acme
from tests.world.relying_party import insert_relying_party
from tests.world.saml_connection import saml_acme
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

BOB = "bob@acme.example"
SIGN_IN = "/app/sign-in"
UPSTREAM = "/auth/upstream"


@pytest.fixture
def there(acme: Acme, world: World) -> BrowserOfHosts:
    """A browser at the custom domain of Acme, whose connection lets Bob join."""
    insert_verified(world, acme.organization_id)
    acme.provider.claims = {"sub": "bob", "email": BOB, "email_verified": True}
    world.connection.execute("UPDATE upstream_connections SET joins_as = 'member'")
    return BrowserOfHosts(world.client)


def _path(acme: Acme) -> str:
    return f"{UPSTREAM}?connection_id={acme.connection_id}"


async def _ticket(browser: BrowserOfHosts, path: str) -> str:
    """Return the address with which a path leads from one host to the other."""
    answer = await browser.send("GET", path)
    assert answer.status == 303, answer.text
    return answer.headers["Location"]


async def _ticket_back(acme: Acme, browser: BrowserOfHosts) -> str:
    """Sign in, and return the address with which the browser comes back to the domain."""
    at_provider = await _ticket(browser, await _ticket(browser, _path(acme)))
    return await _ticket(browser, acme.provider.sign_in(at_provider))


def _assert_over(acme: Acme, answer: Answer) -> None:
    assert answer.status == 400, answer.text
    assert "This sign-in is over" in answer.text
    assert acme.live_sessions == 0


async def test_the_organization_s_own_connection_signs_in_at_its_domain(
    acme: Acme, there: BrowserOfHosts, world: World
) -> None:
    methods = await there.submit(await there.open(SIGN_IN), SIGN_IN, email=BOB)
    departed = await there.follow(methods, UPSTREAM)
    home = await there.open(f"http://{BASE}:8000{acme.provider.sign_in(departed.headers['Location'])}")

    assert (home.status, there.host) == (200, DOMAIN)
    assert BOB in home.text
    [(at_domain, connection_id)] = world.rows(
        "SELECT domain_id IS NOT NULL, connection_id FROM browser_sessions JOIN sessions ON id = session_id"
    )
    assert (at_domain, str(connection_id)) == (True, acme.connection_id)


async def test_a_ticket_leads_to_the_other_host_and_carries_nothing_else(acme: Acme, there: BrowserOfHosts) -> None:
    away = urlsplit(await _ticket(there, _path(acme)))
    back = urlsplit(await _ticket_back(acme, there))

    assert (away.netloc, away.path, back.netloc, back.path) == (
        f"{BASE}:8000",
        "/auth/upstream/enter",
        f"{DOMAIN}:8000",
        "/auth/upstream/return",
    )
    assert [query.partition("=")[0] for query in (away.query, back.query)] == ["id", "id"]


async def test_the_other_connections_are_unknown_at_a_domain(acme: Acme, there: BrowserOfHosts, world: World) -> None:
    world.connection.execute("DELETE FROM custom_domains")
    insert_verified(world, world.organization("other"))

    for path in (_path(acme), f"{_path(acme)}&org=acme", f"{UPSTREAM}?connection_id={'0' * 32}"):
        answer = await there.open(path)
        assert answer.status == 404, path
        assert "is not set up any more" in answer.text
    methods = await there.submit(await there.open(SIGN_IN), SIGN_IN, email=BOB)
    assert UPSTREAM not in methods.text
    assert world.value("SELECT count(*) FROM upstream_sign_ins") == 0


async def test_a_way_to_the_product_of_another_vendor_opens_no_connection_at_a_domain(
    acme: Acme, there: BrowserOfHosts, world: World
) -> None:
    party = insert_relying_party(world, "mobile", slug="vendor")
    world.serve_customers(Service(id=party.service_id, client_id=party.client_id), "editor")
    world.connection.execute("DELETE FROM custom_domains")
    insert_verified(world, world.organization("other"))
    asked = await Visitor(world.client).open(address_of(party))
    way = next(form.fields["return_id"] for form in forms_of(asked) if "return_id" in form.fields)

    assert (await there.open(f"{_path(acme)}&return_id={way}")).status == 404


async def test_a_ticket_to_the_base_url_is_good_once_and_for_a_minute(
    acme: Acme, there: BrowserOfHosts, clock: SettableClock
) -> None:
    used = await _ticket(there, _path(acme))
    await _ticket(there, used)
    _assert_over(acme, await there.open(used))

    late = await _ticket(there, f"http://{DOMAIN}:8000{_path(acme)}")
    clock.advance(at_custom_domains.TICKET_LIFETIME + timedelta(seconds=1))
    _assert_over(acme, await there.open(late))


async def test_a_ticket_to_the_base_url_means_nothing_as_a_state_or_at_the_domain(
    acme: Acme, there: BrowserOfHosts
) -> None:
    ticket = await _ticket(there, _path(acme))
    value = ticket.partition("id=")[2]

    elsewhere = f"http://{DOMAIN}:8000"
    assert (await there.open(ticket.replace(BASE, DOMAIN))).status == 404
    for path in (f"{UPSTREAM}/return?id={value}", f"{UPSTREAM}/continue?id={value}"):
        _assert_over(acme, await there.open(f"{elsewhere}{path}"))
        _assert_over(acme, await there.open(f"http://{BASE}:8000{path}"))
    there.at(BASE).update(there.at(DOMAIN))
    _assert_over(acme, await there.open(f"http://{BASE}:8000/auth/upstream/callback?state={value}&code=x"))


async def test_a_ticket_back_is_good_in_the_browser_that_has_left_the_domain_alone(
    acme: Acme, there: BrowserOfHosts, world: World
) -> None:
    back = await _ticket_back(acme, there)

    _assert_over(acme, await BrowserOfHosts(world.client).open(back))
    other = BrowserOfHosts(world.client)
    await other.send("GET", _path(acme))
    _assert_over(acme, await other.open(back))
    # Nor under the base URL, whatever cookies it is sent.
    there.at(BASE).update(there.at(DOMAIN))
    for path in (back, back.replace("/return", "/continue")):
        _assert_over(acme, await there.open(path.replace(DOMAIN, BASE)))
    home = await there.open(back)
    assert BOB in home.text
    used = await there.open(back)
    assert "This sign-in is over" in used.text


async def test_a_ticket_back_is_good_for_a_minute(acme: Acme, there: BrowserOfHosts, clock: SettableClock) -> None:
    back = await _ticket_back(acme, there)
    clock.advance(at_custom_domains.TICKET_LIFETIME + timedelta(seconds=1))

    _assert_over(acme, await there.open(back))


async def test_a_person_who_is_led_to_the_ticket_of_another_browser_signs_in_nowhere(
    acme: Acme, there: BrowserOfHosts, world: World
) -> None:
    """The browser that has left waits for the ticket; another one goes to the provider with it."""
    ticket = await _ticket(there, _path(acme))
    victim = BrowserOfHosts(world.client)
    at_provider = await _ticket(victim, ticket)

    led = await victim.open(f"http://{BASE}:8000{acme.provider.sign_in(at_provider)}")

    _assert_over(acme, led)
    assert not any(name for jar in victim.jars.values() for name in jar if "session" in name)
    assert world.value("SELECT count(*) FROM users WHERE email = %s", BOB) == 0


async def test_an_account_with_a_proved_address_is_linked_after_signing_in_at_the_domain(
    acme: Acme, there: BrowserOfHosts, world: World
) -> None:
    world.member(acme.organization_id, world.user(BOB))

    asked = await there.open(await _ticket_back(acme, there))
    methods = await there.submit(asked, SIGN_IN, email=BOB)
    home = await there.submit(methods, "/app/sign-in/password", password="correct horse battery")

    assert (home.status, there.host, acme.identities) == (200, DOMAIN, 1)
    assert BOB in home.text


async def test_a_refusal_under_the_base_url_leads_back_to_the_domain(acme: Acme, there: BrowserOfHosts) -> None:
    at_provider = await _ticket(there, await _ticket(there, _path(acme)))

    refused = await there.open(acme.provider.sign_in(at_provider, error="access_denied"))

    assert (refused.status, there.host) == (403, BASE)
    assert f'href="http://{DOMAIN}:8000/app/sign-in"' in refused.text


async def test_what_is_under_way_ends_with_the_domain(acme: Acme, there: BrowserOfHosts, world: World) -> None:
    ticket = await _ticket(there, _path(acme))
    back = await _ticket_back(acme, there)
    world.connection.execute("DELETE FROM custom_domains")

    _assert_over(acme, await there.open(ticket))
    assert (await there.open(back)).status == 404
    assert world.value("SELECT count(*) FROM upstream_sign_ins") == 0


async def test_a_connection_that_was_off_completes_nothing_that_it_began(acme: Acme, there: BrowserOfHosts) -> None:
    back = await _ticket_back(acme, there)
    await acme.change(enabled=False)
    await acme.change(enabled=True)
    _assert_over(acme, await there.open(back))

    at_provider = await _ticket(there, await _ticket(there, f"http://{DOMAIN}:8000{_path(acme)}"))
    await acme.change(enabled=False)
    closed = await there.open(acme.provider.sign_in(at_provider))
    assert (closed.status, there.host) == (404, BASE)


async def test_a_provider_that_answers_for_another_issuer_is_said_with_the_way_back(
    acme: Acme, there: BrowserOfHosts
) -> None:
    ticket = await _ticket(there, _path(acme))
    acme.provider.document = {"issuer": "https://other.example"}

    failed = await there.open(ticket)

    assert failed.status == 502
    assert f'href="http://{DOMAIN}:8000/app/sign-in"' in failed.text


async def test_saml_comes_back_to_the_domain_too(world: World, visitor: Visitor, clock: SettableClock) -> None:
    made = await saml_acme(world, visitor, IdentityProvider(now=clock), joins_as="member")
    insert_verified(world, made.organization_id)
    browser = BrowserOfHosts(world.client)
    sent = asked(await _ticket(browser, await _ticket(browser, f"{UPSTREAM}?connection_id={made.connection_id}")))
    posted = await made.post(made.idp.answer(sent), sent.relay_state)

    home = await browser.open(f"http://{BASE}:8000{posted.headers['Location']}")

    assert (home.status, browser.host) == (200, DOMAIN)
    assert world.rows("SELECT domain_id IS NOT NULL FROM browser_sessions") == [(True,)]
