"""People whose organization enforces its sign-in, at other organizations: every refusal leads to a way that works.

The rule: on the way to another organization nothing is refused, and the session opens that organization alone. Where
the required sign-in is asked for, its connection is offered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import product
from uuid import UUID

import pytest

from core.openid import device as device_codes
from tests.application import Answer
from tests.world.authorization import address_of, led_back
from tests.world.builder import PASSWORD
from tests.world.openid_acme import Acme
from tests.world.relying_party import REDIRECT_URI, RelyingParty
from tests.world.second_factors import Person
from tests.world.visitor import Visitor, forms_of

ADA = "ada@acme.example"
HOPS_MAX = 8
ACCOUNT, ACME, PORTAL, GLOBEX, SHOP, DESK = "account", "acme", "portal", "globex", "shop", "desk"
# Where the sign-in that Acme requires is asked for.
REQUIRED_AT = (ACCOUNT, ACME, PORTAL)
TARGETS = (*REQUIRED_AT, GLOBEX, SHOP, DESK)


@dataclass
class Enforced:
    """Ada of Acme, which enforces its sign-in, is a member of Globex too, and uses services of both."""

    acme: Acme
    ada: UUID
    globex_id: UUID
    parties: dict[str, RelyingParty]
    person: Person

    def browser(self) -> Visitor:
        """Return a browser without any session."""
        return Visitor(self.acme.world.client)

    def address(self, target: str, **parameters: str) -> str:
        """Return the address of a target: a page, or a service's request."""
        if target in self.parties:
            return address_of(self.parties[target], **parameters)
        return "/app/account" if target == ACCOUNT else f"/app/organizations/{target}/people"

    async def go(self, browser: Visitor, answer: Answer) -> Answer:
        """Follow an answer as a browser does, to a page of ours or to the address of a service."""
        for _ in range(HOPS_MAX):
            location = answer.headers.get("Location") or answer.headers.get("Refresh", "").partition("; url=")[2]
            if not location or location.startswith(REDIRECT_URI):
                return answer
            if location.startswith(self.acme.provider.url):
                self.acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
                location = self.acme.provider.sign_in(location)
            answer = await browser.send("GET", location.removeprefix("http://localhost:8000"))
        raise AssertionError("the browser was led in a circle")

    async def open(self, browser: Visitor, target: str, **parameters: str) -> Answer:
        """Open a target, up to the page that answers; a first visit is agreed to, and an organization is chosen."""
        return await self._on(browser, await browser.send("GET", self.address(target, **parameters)))

    async def submit(self, browser: Visitor, page: Answer, action: str, **fields: str) -> Answer:
        """Submit a form of the sign-in, and go on as far as it leads."""
        return await self._on(browser, await browser.submit(page, action, fields, is_followed=False))

    async def by_connection(self, browser: Visitor, page: Answer) -> Answer:
        """Follow the button of the connection on a page."""
        path = next(
            part.split('"')[0].replace("&amp;", "&")
            for part in page.text.split('href="')
            if part.startswith("/auth/upstream?")
        )
        return await self._on(browser, await browser.send("GET", path))

    async def _on(self, browser: Visitor, answer: Answer) -> Answer:
        answer = await self.go(browser, answer)
        for action in ("/auth/authorize/allow", "/app/choose-organization"):
            if any(form.action == action for form in forms_of(answer)):
                answer = await self.go(browser, await browser.submit(answer, action, is_followed=False))
        return answer

    def is_admitted(self, answer: Answer, target: str) -> bool:
        """Return whether an answer is the target's, for a user who is signed in."""
        if target in self.parties:
            location = answer.headers.get("Location") or answer.headers.get("Refresh", "")
            return REDIRECT_URI in location and "code" in led_back(answer)
        if answer.status != 200 or any("/sign-in" in form.action for form in forms_of(answer)):
            return False
        return (ADA in answer.text) if target == ACCOUNT else (f"/app/organizations/{target}/people" in answer.text)


@pytest.fixture
async def enforced(acme: Acme) -> Enforced:
    """Ada, before her organization enforces its sign-in."""
    world = acme.world
    ada = world.user(ADA)
    globex_id = world.organization("globex")
    initech_id = world.organization("initech")
    for organization_id in (acme.organization_id, globex_id):
        world.member(organization_id, ada)
    parties = dict[str, RelyingParty]()
    for slug, organization_id, name in (
        ("acme", acme.organization_id, PORTAL),
        ("globex", globex_id, SHOP),
        ("initech", initech_id, DESK),
    ):
        service = world.service(organization_id, name, redirect_uris=[REDIRECT_URI])
        party = RelyingParty(world, organization_id, service.id, service.client_id, slug, name)
        party.set(service_type="mobile")
        parties[name] = party
    for organization_id, slug in ((globex_id, "globex"), (initech_id, "initech")):
        world.member(organization_id, world.user(f"owner@{slug}.example"), "owner")
    await _link(acme)
    return Enforced(acme, ada, globex_id, parties, Person(world, ada, ADA))


async def _link(acme: Acme) -> None:
    """Sign in by the connection once, and to the account, so that the two are linked."""
    browser = Visitor(acme.world.client)
    acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
    asked = await browser.open(acme.provider.sign_in(await acme.depart(browser)))
    methods = await browser.submit(asked, "/app/sign-in", email=ADA)
    await browser.submit(methods, "/app/sign-in/password", password=PASSWORD)
    assert acme.identities == 1


async def by_password(enforced: Enforced, browser: Visitor, page: Answer) -> Answer:
    """Type the address, then the password."""
    methods = await enforced.submit(browser, page, "/app/sign-in", email=ADA)
    return await enforced.submit(browser, methods, "/app/sign-in/password", password=PASSWORD)


async def by_link(enforced: Enforced, browser: Visitor, page: Answer) -> Answer:
    """Have a link mailed, and open it in this browser."""
    await enforced.acme.world.mails()
    methods = await enforced.submit(browser, page, "/app/sign-in", email=ADA)
    await enforced.submit(browser, methods, "/app/sign-in/link")
    token = (await enforced.acme.world.mail()).values["token"]
    shown = await browser.open(f"/auth/magic-link?token={token}")
    return await enforced.submit(browser, shown, "/auth/magic-link")


async def by_reset(enforced: Enforced, browser: Visitor, page: Answer) -> Answer:
    """Choose a new password by a mailed link, and sign in with it."""
    await enforced.acme.world.mails()
    way = next(form for form in forms_of(page) if form.action == "/app/sign-in").fields
    query = "&".join(f"{name}={way[name]}" for name in ("return_to", "return_id") if way.get(name))
    await browser.submit(await browser.open(f"/app/forgot-password?{query}"), "/app/forgot-password", email=ADA)
    token = (await enforced.acme.world.mail()).values["token"]
    form = await browser.open(f"/auth/reset-password?token={token}")
    done = await browser.submit(form, "/auth/reset-password", new_password=PASSWORD, repeated=PASSWORD)
    if done.status != 200:
        return done
    return await by_password(enforced, browser, await browser.follow(done, "/app/sign-in"))


async def by_second_factor(enforced: Enforced, browser: Visitor, page: Answer) -> Answer:
    """Type the password, then a code of the app."""
    return await with_code(enforced, browser, await by_password(enforced, browser, page))


async def with_code(enforced: Enforced, browser: Visitor, answer: Answer) -> Answer:
    """Type a code of the app where one is asked for."""
    if not any(form.action == "/app/second-factor" for form in forms_of(answer)):
        return answer
    answer = await enforced.submit(browser, answer, "/app/second-factor", code=enforced.person.code())
    enforced.person.next_step()
    return answer


WAYS: dict[str, Callable[[Enforced, Visitor, Answer], Awaitable[Answer]]] = {
    "password": by_password,
    "link": by_link,
    "reset": by_reset,
    "second factor": by_second_factor,
}


async def by_some_way(enforced: Enforced, browser: Visitor, answer: Answer, way: str, target: str) -> list[str]:
    """Sign in for a target: by a way, and where that is refused by what the refusal leads to; return the steps."""
    steps = list[str]()
    if enforced.is_admitted(answer, target):
        return ["open"]
    assert any(form.action == "/app/sign-in" for form in forms_of(answer)), (target, answer.status, answer.text)
    answer = await WAYS[way](enforced, browser, answer)
    steps.append(way)
    if enforced.is_admitted(answer, target):
        return steps
    assert answer.status == 403, (way, target, answer.status, answer.text)
    if "/auth/upstream?" not in answer.text:
        # A page without the ways to sign in leads to them.
        methods = await browser.follow(answer, "/app/sign-in")
        answer = await enforced.submit(browser, methods, "/app/sign-in", email=ADA)
    answer = await with_code(enforced, browser, await enforced.by_connection(browser, answer))
    steps.append("connection")
    assert enforced.is_admitted(answer, target), (way, target, answer.status, answer.headers, answer.text)
    return steps


@pytest.mark.parametrize("way", WAYS)
async def test_each_way_to_each_target_is_open_or_leads_to_the_one_that_is(enforced: Enforced, way: str) -> None:
    if way == "second factor":
        await enforced.person.turn_mfa_on()
        enforced.person.next_step()
    await enforced.acme.enforce()

    for target in TARGETS:
        browser = enforced.browser()
        steps = await by_some_way(enforced, browser, await enforced.open(browser, target), way, target)

        assert steps == ([way, "connection"] if target in REQUIRED_AT else [way]), target


async def test_each_session_goes_on_to_each_target_or_is_asked_to_sign_in_for_it(enforced: Enforced) -> None:
    await enforced.acme.enforce()
    # What a session opens that began on the way to a target.
    opened = {
        ACCOUNT: {ACCOUNT, ACME, PORTAL},
        ACME: {ACCOUNT, ACME, PORTAL},
        PORTAL: {ACCOUNT, ACME, PORTAL},
        GLOBEX: {GLOBEX, SHOP},
        SHOP: {SHOP, GLOBEX},
        DESK: {DESK},
    }

    for first, second in product(TARGETS, TARGETS):
        browser = enforced.browser()
        await by_some_way(enforced, browser, await enforced.open(browser, first), "password", first)
        steps = await by_some_way(enforced, browser, await enforced.open(browser, second), "password", second)

        if second in opened[first]:
            assert steps == ["open"], (first, second)
        else:
            assert steps == (["password", "connection"] if second in REQUIRED_AT else ["password"]), (first, second)


async def test_a_request_without_pages_is_told_that_a_sign_in_is_needed(enforced: Enforced) -> None:
    await enforced.acme.enforce()
    browser = enforced.browser()
    await by_some_way(enforced, browser, await enforced.open(browser, SHOP), "password", SHOP)

    for target, expected in ((SHOP, None), (DESK, "login_required"), (PORTAL, "login_required")):
        answer = await browser.send("GET", enforced.address(target, prompt="none"))
        assert led_back(answer).get("error") == expected, target

    by_connection = enforced.browser()
    await by_some_way(enforced, by_connection, await enforced.open(by_connection, PORTAL), "password", PORTAL)
    answer = await by_connection.send("GET", enforced.address(SHOP, prompt="none"))
    assert led_back(answer)["error"] == "login_required"


async def test_the_session_at_one_service_lasts_when_its_user_signs_in_at_another(enforced: Enforced) -> None:
    await enforced.acme.enforce()
    browser = enforced.browser()
    at_shop = await by_password(enforced, browser, await enforced.open(browser, SHOP))
    tokens = (await enforced.parties[SHOP].redeem(led_back(at_shop)["code"])).json
    former = dict(browser.cookies)

    at_desk = await by_password(enforced, browser, await enforced.open(browser, DESK))

    assert enforced.is_admitted(at_desk, DESK)
    refreshed = await enforced.parties[SHOP].token("refresh_token", refresh_token=tokens["refresh_token"])
    assert refreshed.status == 200, refreshed.text
    again = Visitor(enforced.acme.world.client, cookies=former)
    assert led_back(await again.send("GET", enforced.address(SHOP, prompt="none")))["error"] == "login_required"


async def test_proving_again_to_be_there_goes_on_in_the_same_session(enforced: Enforced) -> None:
    await enforced.acme.enforce()
    browser = enforced.browser()
    await by_password(enforced, browser, await enforced.open(browser, SHOP))

    asked = await enforced.open(browser, SHOP, prompt="login")
    answer = await enforced.submit(browser, asked, "/app/sign-in-again", password=PASSWORD)

    assert enforced.is_admitted(answer, SHOP)
    limits = enforced.acme.world.rows(
        "SELECT DISTINCT confined_to, confined_to_service FROM sessions"
        " WHERE user_id = %s AND confined_to IS NOT NULL AND connection_id IS NULL",
        enforced.ada,
    )
    assert limits == [(enforced.globex_id, enforced.parties[SHOP].service_id)]


async def test_a_session_from_before_stays_and_opens_nothing_new_of_the_enforcing_organization(
    enforced: Enforced,
) -> None:
    world = enforced.acme.world
    world.user("erin@acme.example")
    browser = enforced.browser()
    await browser.sign_in("erin@acme.example")
    await enforced.acme.enforce()

    assert "erin@acme.example" in (await browser.open("/app/account")).text
    assert enforced.is_admitted(await enforced.open(browser, SHOP), SHOP)
    [confined] = world.rows("SELECT confined_to FROM sessions WHERE service_id IS NOT NULL AND parent_id IS NOT NULL")
    assert confined == (enforced.globex_id,)
    asked = await enforced.open(browser, PORTAL)
    assert [form.action for form in forms_of(asked)][:1] == ["/app/sign-in"]
    # Its user cannot prove in it that they are there: that would be a sign-in without the connection.
    again = await browser.open("/app/sign-in-again?return_to=/app/account")
    refused = await browser.submit(again, "/app/sign-in-again", password=PASSWORD)
    assert refused.status == 403
    methods = await browser.submit(
        await browser.follow(refused, "/app/sign-in"), "/app/sign-in", email="erin@acme.example"
    )
    assert "/auth/upstream?" in methods.text


async def test_devices_of_other_organizations_are_approved_after_a_sign_in_for_them(enforced: Enforced) -> None:
    await enforced.acme.enforce()
    browser = enforced.browser()
    await by_password(enforced, browser, await enforced.open(browser, SHOP))

    async def path(client: dict[str, str]) -> str:
        answer = await enforced.acme.world.client.post("/auth/device/code", body=client)
        return answer.json["verification_uri_complete"].removeprefix("http://localhost:8000")

    of_desk = await path({"client_id": str(enforced.parties[DESK].client_id)})
    asked = await browser.open(of_desk)
    form = await by_password(enforced, browser, asked)
    done = await browser.submit(form, "/auth/device/approve")
    assert "The device is signed in" in done.text

    of_command_line = await path({"client_id": str(device_codes.COMMAND_LINE_CLIENT)})
    refused = await by_password(enforced, browser, await browser.open(of_command_line))
    assert refused.status == 403
    form = await enforced.by_connection(browser, refused)
    done = await browser.submit(form, "/auth/device/approve")
    assert "The device is signed in" in done.text


async def test_a_session_from_before_approves_a_device_of_the_enforcing_organization_by_its_connection(
    enforced: Enforced,
) -> None:
    world = enforced.acme.world
    world.user("erin@acme.example")
    browser = enforced.browser()
    await browser.sign_in("erin@acme.example")
    await enforced.acme.enforce()
    body = {"client_id": str(enforced.parties[PORTAL].client_id)}
    device = (await world.client.post("/auth/device/code", body=body)).json
    shown = await browser.open(device["verification_uri_complete"].removeprefix("http://localhost:8000"))

    asked = await browser.submit(shown, "/auth/device/approve")

    assert [form.action for form in forms_of(asked)][:1] == ["/app/sign-in"]
    assert world.value("SELECT session_id FROM device_codes") is None


async def test_a_registration_on_the_way_to_another_organization_s_service_goes_on_there(enforced: Enforced) -> None:
    await enforced.acme.enforce()
    browser = enforced.browser()
    asked = await browser.open(enforced.address(SHOP))
    form = await browser.follow(asked, "/app/register")
    await browser.submit(form, "/app/register", email="new@acme.example", password=PASSWORD, repeated=PASSWORD)
    token = (await enforced.acme.world.mails())[-1].values["token"]

    page = await browser.open(f"/auth/verify-email?token={token}")
    answer = await enforced.submit(browser, page, "/auth/verify-email/confirm")

    assert enforced.is_admitted(answer, SHOP)
    assert "/app/sign-in" in (await browser.open("/app/account")).text


async def test_an_invitation_to_another_organization_is_accepted_with_a_password(enforced: Enforced) -> None:
    await enforced.acme.enforce()
    world = enforced.acme.world
    owner = await world.sign_in_as(world.user_id("owner@globex.example"), "owner@globex.example")
    sent = await owner.post("/api/organizations/globex/invitations", {"email": "new@acme.example", "role": "member"})
    assert sent.status == 200, sent.text
    values = (await world.mails())[-1].values
    browser = enforced.browser()

    page = await browser.open(f"/app/invitations/accept?token={values['token']}&proof={values['proof']}")
    done = await browser.submit(page, "/app/invitations/accept", {"by": "new_password", "password": PASSWORD})

    assert "/auth/upstream?" not in page.text
    assert "You are a member of Globex" in done.text
    assert (await browser.open("/app/organizations/globex/people")).status == 200
    assert "/app/sign-in" in (await browser.open("/app/account")).text


async def test_the_start_page_asks_for_the_sign_in_to_the_account(enforced: Enforced) -> None:
    await enforced.acme.enforce()
    browser = enforced.browser()
    await by_password(enforced, browser, await enforced.open(browser, SHOP))

    for path in ("/app", "/app/account", "/app/account/password", "/app/account/sessions", "/app/organizations"):
        answer = await browser.send("GET", path)
        assert (answer.status, answer.headers["Location"].partition("?")[0]) == (303, "/app/sign-in"), path
