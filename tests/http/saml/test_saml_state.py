"""Signing in by JSON for a service provider: `saml_state` and the ticket."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from urllib.parse import parse_qs, urlsplit

import pytest

from core.saml import requests
from core.saml.message_checks import MFA_CONTEXT
from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.service_provider import posted_form
from tests.world.saml import BASE_URL, SamlService
from tests.world.second_factors import insert_person
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import assert_refused

MEMBER = "member@example.com"


@pytest.fixture
async def state(team: Team, visitor: Visitor, saml_shop: SamlService) -> str:
    """The state of a request that the browser has brought."""
    assert team.ids
    answer = await visitor.send("GET", saml_shop.sso(relay_state="r"))
    return parse_qs(urlsplit(answer.headers["Location"]).query)["saml_state"][0]


def ticket_of(answer: Answer) -> str:
    """Return the path of the address that leads back to the service provider."""
    assert answer.status == 200, answer.text
    address: str = answer.json["saml_redirect_url"]
    assert address.startswith(f"{BASE_URL}/saml/acme/shop/authenticate?")
    return address.removeprefix(BASE_URL)


async def test_the_answer_leads_back_to_the_service_provider(
    state: str, saml_shop: SamlService, visitor: Visitor
) -> None:
    address = ticket_of(await saml_shop.world.log_in(MEMBER, saml_state=state))

    form = posted_form((await visitor.send("GET", address)).text)

    assert (form.action, form.fields["RelayState"], form.statuses) == (saml_shop.sp.acs_url, "r", ["Success"])
    assert form.texts("//saml:NameID/text()") == [MEMBER]


async def test_a_sign_in_with_the_state_is_the_agreement_of_a_stranger_to_that_request_alone(
    state: str, saml_shop: SamlService, visitor: Visitor
) -> None:
    world = saml_shop.world
    world.connection.execute("UPDATE saml_configurations SET members_only = false")
    world.user("stranger@example.com")

    address = ticket_of(await world.log_in("stranger@example.com", saml_state=state))

    assert posted_form((await visitor.send("GET", address)).text).statuses == ["Success"]


@pytest.mark.parametrize("access", ["everyone", "members"])
async def test_who_was_added_confirms_it_on_a_page_without_a_session_of_the_browser(
    state: str, saml_shop: SamlService, team: Team, visitor: Visitor, access: str
) -> None:
    world, path = saml_shop.world, f"{saml_shop.path}/authenticate"
    una = team.user("una")
    world.member(team.organization_id, una, is_confirmed=False)
    world.connection.execute(b"UPDATE services SET access = %s", (access,))

    page = await visitor.send("GET", ticket_of(await world.log_in("una@example.com", saml_state=state)))
    stolen = await Visitor(visitor.client).submit(page, path)
    agreed = posted_form((await visitor.submit(page, path)).text)
    again = await visitor.submit(page, path)

    assert "has added you as a member." in page.text
    assert (agreed.statuses, agreed.texts("//saml:NameID/text()")) == (["Success"], ["una@example.com"])
    assert world.value("SELECT confirmed_at IS NOT NULL FROM memberships WHERE user_id = %s", una)
    assert not visitor.has_session
    assert [stolen.status, again.status] == [403, 400]


async def test_the_session_of_the_service_provider_ends_with_that_of_the_sign_in(
    state: str, saml_shop: SamlService, visitor: Visitor
) -> None:
    world = saml_shop.world
    signed_in = await world.log_in(MEMBER, saml_state=state)
    await visitor.send("GET", ticket_of(signed_in))

    await world.client.post("/api/auth/logout", token=signed_in.json["access_token"])

    assert world.rows("SELECT id FROM sessions WHERE revoked_at IS NULL") == []


@pytest.mark.long
async def test_a_ticket_is_good_once_and_in_the_browser_of_the_request(
    state: str, saml_shop: SamlService, visitor: Visitor
) -> None:
    address = ticket_of(await saml_shop.world.log_in(MEMBER, saml_state=state))

    stolen = await Visitor(visitor.client).send("GET", address)
    answers = await at_once(*[partial(visitor.send, "GET", address)] * 3)

    assert stolen.status == 400
    assert statuses_of(answers) == [200, 400, 400]


async def test_a_ticket_lives_for_a_minute(
    state: str, saml_shop: SamlService, visitor: Visitor, clock: SettableClock
) -> None:
    address = ticket_of(await saml_shop.world.log_in(MEMBER, saml_state=state))
    clock.now += timedelta(seconds=60)

    assert (await visitor.send("GET", address)).status == 400


@pytest.mark.long
async def test_a_ticket_is_no_ticket_of_another_request(state: str, saml_shop: SamlService, visitor: Visitor) -> None:
    other = (await visitor.send("GET", saml_shop.sso())).headers["Location"]
    ticket = parse_qs(urlsplit(ticket_of(await saml_shop.world.log_in(MEMBER, saml_state=state))).query)["ticket"][0]

    assert (await visitor.send("GET", f"{other}&ticket={ticket}")).status == 400


async def test_a_ticket_of_a_session_that_has_ended_leads_to_the_sign_in(
    state: str, saml_shop: SamlService, visitor: Visitor
) -> None:
    signed_in = await saml_shop.world.log_in(MEMBER, saml_state=state)
    await saml_shop.world.client.post("/api/auth/logout", token=signed_in.json["access_token"])

    answer = await visitor.send("GET", ticket_of(signed_in))

    assert answer.headers["Location"].startswith("/app/sign-in?")


async def test_the_state_is_kept_through_the_second_factor(
    saml_shop: SamlService, visitor: Visitor, team: Team, state: str
) -> None:
    person = insert_person(team.world)
    team.world.member(team.organization_id, person.id)
    await person.sign_in()
    await person.turn_mfa_on()
    person.next_step()

    first = await person.log_in(saml_state=state)
    assert first.json.keys() == {"access_token", "refresh_token", "expires_in", "mfa_required", "preauth_token"}
    second = await person.verify(first.json["preauth_token"], person.code())
    form = posted_form((await visitor.send("GET", ticket_of(second))).text)

    assert form.texts("//saml:NameID/text()") == [person.email]
    assert form.texts("//saml:AuthnContextClassRef/text()") == [MFA_CONTEXT]


async def test_an_unknown_state_is_refused_before_the_password(
    saml_shop: SamlService, state: str, subtests: pytest.Subtests
) -> None:
    for given in ("", "unknown", "x" * 5000):
        with subtests.test(given=given):
            answer = await saml_shop.world.log_in(MEMBER, "wrong password", saml_state=given)

            assert_refused(answer, 400, "BAD_REQUEST")
            assert answer.invalid_fields == ["saml_state"]


async def test_a_state_that_was_answered_meanwhile_gives_no_address(
    state: str, saml_shop: SamlService, visitor: Visitor
) -> None:
    await visitor.send("GET", ticket_of(await saml_shop.world.log_in(MEMBER, saml_state=state)))

    assert_refused(await saml_shop.world.log_in(MEMBER, saml_state=state), 400, "BAD_REQUEST")


async def test_a_request_that_is_answered_during_the_sign_in_gets_no_ticket(saml_shop: SamlService) -> None:
    database = saml_shop.world.installation.database

    assert await database.transact(requests.make_ticket, "answered", saml_shop.service_id) is None


async def test_without_a_state_there_is_no_address(saml_shop: SamlService, team: Team) -> None:
    assert "saml_redirect_url" not in (await saml_shop.world.log_in(MEMBER)).json
