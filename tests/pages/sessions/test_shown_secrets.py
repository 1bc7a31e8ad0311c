"""Every secret that a form makes is on the page that the form leads to: once, in the browser that made it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from typing import Final

import pytest
from pyotp.totp import TOTP

from core.sessions.shown_secrets import LIFETIME
from tests.answered_secrets import secrets_to_read
from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once
from tests.world.builder import PASSWORD
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

ACME: Final = "/app/organizations/acme"
SECOND_FACTOR: Final = "/app/account/second-factor"
ANN: Final = "ann@example.com"
ONCE: Final = "It is shown once, within ten minutes and only in the browser in which it was made."
AGAIN: Final = "/app/sign-in-again"


@dataclass(frozen=True)
class Kind:
    """A form that makes a secret: how it is pressed, and where its page leads when the secret was shown."""

    press: Callable[[Visitor], Awaitable[Answer]]
    leads_to: str

    async def __call__(self, visitor: Visitor) -> str:
        """Press it, and return the address of the page with the secret."""
        answer = await self.press(visitor)
        assert answer.status == 303, answer.text
        assert not answer.content
        return answer.headers["Location"]


def form(page: str, action: str = "", **fields: str) -> Callable[[Visitor], Awaitable[Answer]]:
    """Return what opens a page and sends its form."""

    async def press(visitor: Visitor) -> Answer:
        return await visitor.submit(await visitor.open(page), action or page, fields, is_followed=False)

    return press


async def enable(visitor: Visitor) -> Answer:
    """Turn the second factor on."""
    page = await visitor.submit(await visitor.open(SECOND_FACTOR), f"{SECOND_FACTOR}/setup")
    [secret] = re.findall(r"<code>([A-Z2-7 ]+)</code>", page.text)
    now = visitor.client.application.installation.clock()
    code = TOTP(secret.replace(" ", "")).at(now)
    return await visitor.submit(page, f"{SECOND_FACTOR}/enable", code=code, is_followed=False)


async def renew(visitor: Visitor) -> Answer:
    """Make new backup codes."""
    await visitor.led_on(await enable(visitor))
    return await form(SECOND_FACTOR, f"{SECOND_FACTOR}/backup-codes")(visitor)


KINDS: Final = {
    "a new service": Kind(
        form(f"{ACME}/services/new?kind=web", f"{ACME}/services/new", name="Desk", slug="desk", access="everyone"),
        f"{ACME}/services/desk/secret",
    ),
    "the secret of a service": Kind(form(f"{ACME}/services/shop/secret"), f"{ACME}/services/shop/secret"),
    "an API key": Kind(
        form(f"{ACME}/services/shop/api-keys/new", name="Backend", permissions="read:users"),
        f"{ACME}/services/shop/api-keys/",
    ),
    "a key of the organization": Kind(
        form(f"{ACME}/keys", name="Deployment", permissions="services.manage"), f"{ACME}/keys"
    ),
    "a setup link": Kind(form(f"{ACME}/setup-links", parts="scim"), f"{ACME}/setup-links"),
    "a SCIM token": Kind(form(f"{ACME}/provisioning", name="Okta"), f"{ACME}/provisioning"),
    "a webhook": Kind(
        form(f"{ACME}/webhooks/new", name="crm", url="https://crm.example.com/hook", events="user.joined"),
        f"{ACME}/webhooks/",
    ),
    "an authenticator app": Kind(form(SECOND_FACTOR, f"{SECOND_FACTOR}/setup"), f"{SECOND_FACTOR}/setup"),
    "backup codes": Kind(enable, SECOND_FACTOR),
    "new backup codes": Kind(renew, SECOND_FACTOR),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


@pytest.fixture
def acme(world: World) -> Team:
    """An organization with an owner and a service."""
    team = world.team()
    team.add("ann", "owner")
    world.service(team.organization_id, "shop")
    return team


@pytest.fixture
async def ann(acme: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    assert acme.organization_id
    await visitor.sign_in(ANN)
    return visitor


def is_shown(page: Answer) -> bool:
    """Return whether a page shows a secret."""
    return bool(secrets_to_read(page.text))


@every_kind
async def test_a_form_leads_to_its_secret_which_its_browser_alone_is_shown_once(ann: Visitor, kind: Kind) -> None:
    address = await kind(ann)
    elsewhere = Visitor(client=ann.client)
    await elsewhere.sign_in(ANN)

    head = await ann.send("HEAD", address)
    ahead = [
        await ann.send("GET", address, headers={name: value})
        for name, value in (
            ("Sec-Purpose", "prefetch"),
            ("Sec-Purpose", "prefetch;prerender"),
            ("Purpose", "prefetch"),
            ("X-Moz", "prefetch"),
        )
    ]
    other = await elsewhere.send("GET", address)
    stranger = await Visitor(client=ann.client).send("GET", address)

    assert head.status == 200
    assert [one.status for one in ahead] == [403] * 4
    # The server leaves the body of the first out.
    assert not any(map(is_shown, [head, *ahead, other]))
    assert stranger.status == 303

    first = await ann.send("GET", address)
    second = await ann.send("GET", address)

    assert (first.status, second.status) == (200, 200)
    assert is_shown(first)
    assert first.headers["Cache-Control"] == "no-store"
    # The page loaded again says what happened, and leads on.
    assert not is_shown(second)
    assert ONCE in second.text
    assert ONCE not in first.text
    assert any(
        unescape(link).startswith(kind.leads_to) for link in re.findall(r'(?:href|action)="([^"]+)"', second.text)
    )


async def test_another_person_does_not_see_it(acme: Team, ann: Visitor) -> None:
    acme.add("bob", "admin")
    address = await KINDS["a SCIM token"](ann)
    bob = Visitor(client=ann.client)
    await bob.sign_in("bob@example.com")

    page = await bob.send("GET", address)

    assert ONCE in page.text
    assert not is_shown(page)
    assert is_shown(await ann.send("GET", address))


async def test_a_page_of_another_place_does_not_show_it(acme: Team, ann: Visitor) -> None:
    acme.world.service(acme.organization_id, "desk")
    address = await KINDS["the secret of a service"](ann)

    page = await ann.send("GET", address.replace("/shop/", "/desk/"))

    assert ONCE in page.text
    assert is_shown(await ann.send("GET", address))


async def test_of_two_at_once_one_shows_it(ann: Visitor) -> None:
    address = await KINDS["a key of the organization"](ann)

    pages = await at_once(*[lambda: ann.send("GET", address)] * 2)

    assert sorted(map(is_shown, pages)) == [False, True]


async def test_it_ends_after_ten_minutes(ann: Visitor, clock: SettableClock) -> None:
    address = await KINDS["a SCIM token"](ann)
    clock.advance(LIFETIME)

    page = await ann.open(address)

    assert ONCE in page.text
    assert not is_shown(page)


async def test_it_ends_with_the_session(acme: Team, ann: Visitor) -> None:
    address = await KINDS["a SCIM token"](ann)
    acme.world.connection.execute("UPDATE sessions SET revoked_at = created_at")
    await ann.sign_in(ANN)

    page = await ann.open(address)

    assert ONCE in page.text
    assert not is_shown(page)


async def test_a_service_without_a_secret_leads_to_its_page(ann: Visitor) -> None:
    press = form(f"{ACME}/services/new?kind=spa", f"{ACME}/services/new", name="App", slug="app", access="everyone")

    answer = await press(ann)

    assert answer.headers["Location"] == f"{ACME}/services/app?done=service-created"


async def test_a_service_without_a_slug_gets_one_of_its_name(ann: Visitor) -> None:
    press = form(f"{ACME}/services/new?kind=spa", f"{ACME}/services/new", name="Our App", slug="", access="everyone")

    answer = await press(ann)

    assert answer.headers["Location"] == f"{ACME}/services/our-app?done=service-created"


async def test_the_token_of_a_setup_is_shown_once_to_its_browser(acme: Team, ann: Visitor) -> None:
    shown = await ann.send("GET", await KINDS["a setup link"](ann))
    [link] = set(re.findall(r"http://localhost:8000(/app/setup/[\w-]+)", unescape(shown.text)))
    browsers = [Visitor(client=ann.client) for _ in range(2)]
    for one in browsers:
        await one.submit(await one.open(link), link)
    part = "/app/setup/parts/scim"

    answer = await browsers[0].submit(await browsers[0].open(part), part, is_followed=False)
    address = answer.headers["Location"]
    ahead = await browsers[0].send("GET", address, headers={"Sec-Purpose": "prefetch"})
    other, first, second = [await one.send("GET", address) for one in (browsers[1], browsers[0], browsers[0])]

    assert answer.status == 303
    assert ahead.status == 403
    assert list(map(is_shown, (other, first, second))) == [False, True, False]
    assert ONCE in second.text
    assert acme.world.value("SELECT count(*) FROM shown_secrets") == 0


@pytest.mark.parametrize(
    ("page", "fields", "typed"),
    [
        (
            f"{ACME}/keys",
            {"name": "Deployment", "permissions": "services.manage", "expires_in_days": "30"},
            ['value="Deployment"', 'value="services.manage"', 'value="30"'],
        ),
        (
            f"{ACME}/setup-links",
            {"parts": "scim", "expires_in_days": "3"},
            ['value="scim"', 'value="3"'],
        ),
        (f"{ACME}/provisioning", {"name": "Okta", "days": "90"}, ['value="Okta"', 'value="90"']),
    ],
)
async def test_what_was_typed_is_sent_after_signing_in_again(
    ann: Visitor, clock: SettableClock, page: str, fields: dict[str, str], typed: list[str]
) -> None:
    opened = await ann.open(page)
    clock.advance(timedelta(minutes=12))

    asked = await ann.submit(opened, page, fields)
    again = await ann.submit(asked, AGAIN, password=PASSWORD)

    assert f'action="{AGAIN}"' in asked.text
    assert [one for one in typed if one not in again.text] == []
    assert is_shown(await ann.submit(again, page))
