"""Attacks on the pages: forged sign-ins, fixed sessions, frames, injected scripts, and guessing accounts."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from core.sign_in import browser_returns
from core.sign_in.browser_returns import BrowserReturn
from entrypoints import capabilities
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from entrypoints.web.serving.admission.access_policies import CredentialKind
from tests.application import serving
from tests.shown_text import shows
from tests.statements import alike, recorded_statements
from tests.world.builder import EMAIL, PASSWORD
from tests.world.visitor import Visitor, forms_of, set_cookies, without_tokens
from tests.world.world import World

EVE = "eve@example.com"
HTTPS = Settings(base_url="https://id.example.com", rate_limits=False)
SCRIPT = "<script>alert(1)</script>"
PAGES = [
    route
    for route in capabilities.routes(is_development=True)
    if route.method == "GET" and route.who.has_protected_forms and not route.path_parameters
]


async def test_another_site_cannot_sign_a_browser_in(world: World, visitor: Visitor) -> None:
    world.user(EVE)
    attacker = Visitor(world.client)
    methods = await attacker.submit(await attacker.open("/app/sign-in"), email=EVE)
    form = next(form for form in forms_of(methods) if form.action == "/app/sign-in/password")

    for headers in ({}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        answer = await visitor.post(form.action, {**form.fields, "password": PASSWORD}, headers=headers)
        assert answer.status == 403
        assert not visitor.has_session


async def test_a_planted_session_is_ended_by_the_sign_in_and_its_secret_not_kept(
    world: World, visitor: Visitor
) -> None:
    world.user()
    world.user(EVE)
    page = await visitor.open("/app/sign-in")
    attacker = Visitor(world.client)
    await attacker.sign_in(EVE)
    planted = attacker.cookies["gatehouse_session"]

    visitor.cookies["gatehouse_session"] = planted
    refused = await visitor.submit(page, email=EMAIL)
    visitor.cookies["gatehouse_session"] = "a-value-of-the-attacker"
    methods = await visitor.submit(await visitor.open("/app/sign-in"), email=EMAIL)
    await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)

    assert refused.status == 403
    assert visitor.cookies["gatehouse_session"] not in {planted, "a-value-of-the-attacker"}


async def test_signing_in_as_another_user_ends_the_session_that_the_browser_had(world: World, visitor: Visitor) -> None:
    world.user()
    world.user(EVE)
    await visitor.sign_in(EVE)
    old = visitor.cookies["gatehouse_session"]
    token = forms_of(await visitor.open("/app"))[0].fields["form_token"]

    answer = await visitor.post(
        "/app/sign-in/password", {"email": EMAIL, "password": PASSWORD, "form_token": token}, is_followed=False
    )

    assert answer.status == 303
    assert EMAIL in (await visitor.open("/app")).text
    visitor.cookies["gatehouse_session"] = old
    assert "Email address" in (await visitor.open("/app")).text
    assert [email for _, email, _ in world.events("user.logout")] == [EVE]


async def test_what_bound_the_forms_before_the_sign_in_binds_none_after_it(world: World, visitor: Visitor) -> None:
    world.user()
    before = await visitor.open("/app/sign-in")
    binding = visitor.cookies["gatehouse_form"]
    home = await visitor.sign_in()
    visitor.cookies["gatehouse_form"] = binding

    stale = await visitor.submit(home, "/app/sign-out", form_token=forms_of(before)[0].fields["form_token"])

    assert stale.status == 403
    assert "you have signed in or out since" in stale.text


async def test_on_https_the_cookies_are_secure_and_belong_to_this_host_alone(
    world: World, installation: Installation
) -> None:
    world.user()
    visitor = Visitor(serving(replace(installation, settings=HTTPS)))

    await visitor.sign_in()

    assert set(visitor.cookies) == {"__Host-gatehouse_session", "gatehouse_device"}
    again = await visitor.submit(await visitor.open("/app/sign-in-again"), password=PASSWORD, is_followed=False)
    [cookie] = [line for line in set_cookies(again) if line.startswith("__Host-gatehouse_session=")]
    assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} == set(cookie.split("; ")[1:])
    for name in ("gatehouse_session", "gatehouse_form"):
        # A cookie without the prefix, which another host of the domain may set, opens nothing.
        other = Visitor(visitor.client, cookies={name: visitor.cookies["__Host-gatehouse_session"]})
        assert "Email address" in (await other.open("/app")).text


async def test_no_page_can_be_framed_or_runs_a_script_that_is_not_a_file_of_ours(
    world: World, visitor: Visitor, subtests: pytest.Subtests
) -> None:
    world.user()
    signed_in = Visitor(world.client)
    await signed_in.sign_in()

    for route in PAGES:
        with subtests.test(route=route.name):
            takes_session = route.who.kind is CredentialKind.BROWSER_SESSION

            answer = await (signed_in if takes_session else visitor).send("GET", route.path)

            assert answer.headers["X-Frame-Options"] == "DENY"
            policy = answer.headers["Content-Security-Policy"]
            assert "frame-ancestors 'none'" in policy
            assert not shows(policy, "unsafe")
            assert "default-src 'none'" in policy
            if "<script" in answer.text:
                assert "script-src 'self';" in policy
            assert not re.search(
                r"<script(?! src=\"/assets/(?:page|keys|palette|frame|registration|(?:new_)?passkeys?)\.[0-9a-f]+\.js\""
                r" defer></script>)",
                answer.text,
            )
            assert not re.search(r"<[^>]+\son[a-z]+=", answer.text)


async def test_a_script_in_a_name_is_shown_as_text(world: World, visitor: Visitor) -> None:
    user_id = world.user()
    organization_id = world.organization("acme", name=SCRIPT)
    world.service(organization_id, "shop", name=SCRIPT)
    world.member(organization_id, user_id, "member")
    return_ids = [
        (
            await world.installation.database.transact(
                browser_returns.keep,
                BrowserReturn(target="/app?a=b", organization_slug="acme", service_slug=service),
            )
        ).reveal()
        for service in (None, "shop")
    ]
    seen: list[str] = []
    for return_id in return_ids:
        seen.append((await visitor.open(f"/app/register?return_id={return_id}")).text)
        page = await visitor.open(f"/app/sign-in?return_id={return_id}")
        seen += [page.text, (await visitor.submit(page, email=EMAIL)).text]
    seen.append((await visitor.sign_in(path="/app/choose-organization")).text)

    assert sum("&lt;script&gt;" in page for page in seen) >= 6
    assert all(SCRIPT not in page for page in seen)


async def test_a_script_in_any_field_is_shown_as_text(visitor: Visitor, subtests: pytest.Subtests) -> None:
    page = await visitor.submit(await visitor.open("/app/sign-in"), email=EMAIL)

    for action in ("/app/sign-in/password", "/app/sign-in/link", "/app/sign-in/passkey"):
        with subtests.test(action=action):
            form = next(form for form in forms_of(page) if form.action == action)
            hostile = dict.fromkeys(form.fields, f'"><img src=x onerror=alert(1)>{SCRIPT}')

            answer = await visitor.post(action, hostile | {"form_token": form.fields["form_token"]})

            assert SCRIPT not in answer.text
            assert "<img" not in answer.text


async def test_the_account_of_a_browser_is_shown_as_text(world: World, visitor: Visitor) -> None:
    email = "a&b@example.com"
    world.user(email)

    await visitor.sign_in(email)
    shown = [await visitor.open(path) for path in ("/app", "/app/sign-out", "/app/sign-in-again")]

    assert all("a&amp;b@example.com" in page.text for page in shown)


async def test_every_refused_sign_in_shows_the_same_page_by_the_same_statements(world: World) -> None:
    world.user("busy@example.com")
    world.user("passwordless@example.com", password_hash=None)
    world.user("deactivated@example.com", is_active=False)
    world.user("unverified@example.com", is_verified=False)
    world.user("careful@example.com", has_mfa=True)
    executed: dict[str, list[str]] = {}
    shown: dict[str, tuple[int, str, list[str]]] = {}
    for name in ("unknown", "busy", "passwordless", "deactivated", "unverified", "careful"):
        email, visitor = f"{name}@example.com", Visitor(world.client, address=next(world.addresses))
        first = await visitor.open("/app/sign-in")
        with recorded_statements() as statements:
            methods = await visitor.submit(first, email=email)
            answer = await visitor.submit(methods, "/app/sign-in/password", password="wrong password")
        executed[name] = alike(statements)
        page = without_tokens((methods.text + answer.text).replace(email, ""))
        shown[name] = answer.status, page, sorted(visitor.cookies)

    for name, statements in executed.items():
        assert statements == executed["unknown"], name
        assert shown[name] == shown["unknown"], name


@pytest.mark.parametrize("email", ["ada@example.com", "unknown@example.com"])
async def test_the_first_step_reads_nothing_about_an_account(world: World, visitor: Visitor, email: str) -> None:
    world.user()
    page = await visitor.open("/app/sign-in")

    with recorded_statements() as statements:
        await visitor.submit(page, email=email)

    # It asks for the connection of the address's domain alone.
    assert [statement for statement in statements if "FROM domain_routes" not in statement] == []
