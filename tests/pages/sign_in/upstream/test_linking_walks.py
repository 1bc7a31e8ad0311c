"""The first sign-in by an enforced connection links the account to it, once.

It is the same after a move: when the mail domain leads to another connection, when the connection leads to another
provider, and when a replaced certificate has ended the links. The same walk goes over the refusals of each.

The browser of these tests is slow: where a page leads on by itself, it goes there, and presses nothing before. So each
walk shows whether two pages lead to each other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from html import unescape
from re import findall
from typing import ClassVar, Final

import pytest

from entrypoints.pages.frame.languages import LANGUAGES
from tests.application import Answer
from tests.clock import SettableClock
from tests.identity_provider import SSO_URL, IdentityProvider, asked, posted
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET, OpenIdProvider
from tests.service_provider import key_pair
from tests.world.builder import PASSWORD
from tests.world.openid_acme import Acme
from tests.world.openid_connection import CONNECTIONS, ROUTES
from tests.world.saml_connection import HEADERS, saml_acme
from tests.world.second_factors import Person, insert_person
from tests.world.visitor import ANOTHER_WAY, Visitor, forms_of
from tests.world.world import World

ADA: Final = "ada@acme.example"
BOB: Final = "bob@acme.example"
HOPS_MAX: Final = 10
STEPS_MAX: Final = 12
CONTINUES: Final = "/auth/upstream/continue"
SIGN_IN, METHODS, CODE = "/app/sign-in", "/app/sign-in/password", "/app/sign-in/code"


@dataclass
class Walk:
    """Ada, who has an account with a password and another at Acme's provider; and her slow browser."""

    acme: Acme
    browser: Visitor
    led_to_provider: int = 0
    codes: list[str] = field(default_factory=list[str])
    # The refusals through which it does not go.
    without: ClassVar[frozenset[str]] = frozenset()

    async def go(self, answer: Answer) -> Answer:
        """Follow an answer to a page that leads no further by itself."""
        for _ in range(HOPS_MAX):
            location = answer.headers.get("Location") or answer.headers.get("Refresh", "").partition("; url=")[2]
            if not location:
                return answer
            if self.leads_to_provider(location):
                self.led_to_provider += 1
                location = await self.at_provider(location)
            answer = await self.browser.send("GET", location.removeprefix("http://localhost:8000"))
        raise AssertionError("the browser was led in a circle")

    def leads_to_provider(self, location: str) -> bool:
        """Return whether an address is one of the provider."""
        return location.startswith(self.acme.provider.url)

    async def at_provider(self, location: str) -> str:
        """Sign in at the provider, and return where it leads back."""
        self.acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
        return self.acme.provider.sign_in(location)

    async def open(self, path: str) -> Answer:
        """Open a page, and go where it leads."""
        return await self.go(await self.browser.send("GET", path))

    async def by_connection(self) -> Answer:
        """Sign in by the connection, and return the page that follows."""
        return await self.open(f"/auth/upstream?connection_id={self.acme.connection_id}")

    async def submit(self, page: Answer, action: str, **fields: str) -> Answer:
        """Submit a form of a page, and go where it leads."""
        form = next(one for one in forms_of(page) if one.action == action)
        return await self.go(await self.browser.post(form.action, {**form.fields, **fields}, is_followed=False))

    async def methods(self, page: Answer, email: str = ADA) -> Answer:
        """Return the page with the ways to sign in for an address, from any page of the sign-in."""
        for _ in range(STEPS_MAX):
            if has_form(page, METHODS) and f"<strong>{email}</strong>" in page.text:
                return page
            if has_form(page, SIGN_IN):
                page = await self.submit(page, SIGN_IN, email=email)
            elif has_form(page, METHODS) or has_form(page, CODE):
                page = await self.follow(page, SIGN_IN)
            else:
                page = await self.press(page)
        raise AssertionError(("no page has the ways to sign in", page.status, page.text))

    async def follow(self, page: Answer, path: str) -> Answer:
        """Follow the link of a page to a path, and go where it leads."""
        links = [unescape(link) for link in findall(r'href="([^"]+)"', page.text)]
        return await self.open(next(link for link in links if link.partition("?")[0] == path))

    async def press(self, page: Answer) -> Answer:
        """Press the first button of a page that is an end."""
        buttons = findall(r'<a class="button[^"]*" href="([^"]+)"', page.text)
        assert buttons, (page.status, page.text)
        return await self.open(unescape(buttons[0]))

    async def mail(self) -> str:
        """Return the code of the newest mail that signs in."""
        self.codes += [one.values["code"] for one in await self.acme.world.mails() if one.template == "magic_link"]
        return self.codes[-1]

    async def with_code(self, page: Answer) -> Answer:
        """Have a code mailed, and type it."""
        page = await self.submit(await self.methods(page), "/app/sign-in/link")
        return await self.submit(page, CODE, code=await self.mail())

    async def end(self, page: Answer) -> Answer:
        """Go on as the pages say, up to the session by the connection."""
        for _ in range(STEPS_MAX):
            if self.is_signed_in:
                return page
            if has_form(page, CODE):
                page = await self.submit(page, CODE, code=await self.mail())
            elif has_form(page, METHODS):
                page = await self.submit(page, "/app/sign-in/link")
            elif has_form(page, SIGN_IN):
                page = await self.submit(page, SIGN_IN, email=ADA)
            else:
                page = await self.press(page)
        raise AssertionError(("the pages lead to each other", page.status, page.text))

    def forget(self) -> None:
        """Begin anew: in another browser, with nothing linked."""
        self.browser.cookies.clear()
        for table in ("identities", "sessions", "sign_in_failures"):
            self.acme.world.connection.execute(f"DELETE FROM {table}")

    @property
    def is_signed_in(self) -> bool:
        """Whether Ada has a session by the connection."""
        return self.acme.live_sessions > 0


@dataclass
class SamlWalk(Walk):
    """The same by SAML, with the key with which the identity provider signs now."""

    idp: IdentityProvider = field(kw_only=True)
    # Its provider answers in another way.
    without: ClassVar[frozenset[str]] = frozenset({"declined"})

    def leads_to_provider(self, location: str) -> bool:
        return location.startswith(SSO_URL)

    async def at_provider(self, location: str) -> str:
        request = asked(location)
        answer = await self.acme.world.client.request(
            "POST",
            f"/auth/upstream/{self.acme.connection_id}/acs",
            data=posted(self.idp.answer(request), request.relay_state),
            headers=HEADERS,
        )
        assert answer.status == 303, answer.text
        return answer.headers["Location"]


Step = Callable[[Walk, Answer], Awaitable[Answer]]


def has_form(page: Answer, action: str) -> bool:
    """Return whether a page has a form that is sent to a path."""
    return any(form.action == action for form in forms_of(page))


@pytest.fixture
async def walk(acme: Acme) -> Walk:
    """Ada, whose organization requires its sign-in, and who has never used it."""
    return Walk(acme, await person(acme))


async def person(acme: Acme) -> Visitor:
    """Insert Ada and Bob, require the sign-in of them, and return Ada's browser."""
    insert_person(acme.world, ADA)
    acme.world.member(acme.organization_id, acme.world.user_id(ADA))
    acme.world.member(acme.organization_id, acme.world.user(BOB))
    await acme.enforce()
    return Visitor(acme.world.client)


async def by_password(walk: Walk, page: Answer) -> Answer:
    """Type the password."""
    return await walk.submit(await walk.methods(page), METHODS, password=PASSWORD)


async def by_code(walk: Walk, page: Answer) -> Answer:
    """Have a mail sent, and type its code."""
    return await walk.with_code(page)


async def by_link(walk: Walk, page: Answer) -> Answer:
    """Have a mail sent, and open its link in this browser."""
    await walk.submit(await walk.methods(page), "/app/sign-in/link")
    [*_, mail] = [one for one in await walk.acme.world.mails() if one.template == "magic_link"]
    shown = await walk.open(f"/auth/magic-link?token={mail.values['token']}")
    return await walk.submit(shown, "/auth/magic-link")


async def by_reset(walk: Walk, page: Answer) -> Answer:
    """Choose a new password by a mail, and type it."""
    form = await walk.follow(await walk.methods(page), "/app/forgot-password")
    await walk.submit(form, "/app/forgot-password", email=ADA)
    [*_, mail] = [one for one in await walk.acme.world.mails() if "token" in one.values]
    shown = await walk.open(f"/auth/reset-password?token={mail.values['token']}")
    done = await walk.submit(shown, "/auth/reset-password", new_password=PASSWORD, repeated=PASSWORD)
    assert done.status == 200, done.text
    return await by_password(walk, done)


WAYS: Final[dict[str, Step]] = {"password": by_password, "code": by_code, "link": by_link, "reset": by_reset}


async def wrong_password(walk: Walk, page: Answer) -> Answer:
    """Type a wrong password."""
    return await walk.submit(await walk.methods(page), METHODS, password="not the password")


async def wrong_code(walk: Walk, page: Answer) -> Answer:
    """Have a mail sent, and type another code."""
    page = await walk.submit(await walk.methods(page), "/app/sign-in/link")
    right = await walk.mail()
    return await walk.submit(page, CODE, code=f"{(int(right) + 1) % 1_000_000:06d}")


async def other_account(walk: Walk, page: Answer) -> Answer:
    """Type the address and the password of another account."""
    return await walk.submit(await walk.methods(page, BOB), METHODS, password=PASSWORD)


async def elsewhere(walk: Walk, _page: Answer) -> Answer:
    """Begin anew on the sign-in page, which leads to the provider once more."""
    return await walk.submit(await walk.open(SIGN_IN), SIGN_IN, email=ADA)


async def declined(walk: Walk, _page: Answer) -> Answer:
    """Go to the provider once more, and agree to nothing there."""
    departed = await walk.browser.send("GET", f"/auth/upstream?connection_id={walk.acme.connection_id}")
    state = findall(r"[?&]state=([^&]+)", departed.headers["Location"])[0]
    return await walk.open(f"/auth/upstream/callback?error=access_denied&state={state}&iss={walk.acme.provider.url}")


async def over(walk: Walk, _page: Answer) -> Answer:
    """Go on where no sign-in waits."""
    return await walk.open(f"{CONTINUES}?id=of-no-sign-in")


async def another_way(walk: Walk, _page: Answer) -> Answer:
    """Open the page with the other ways, which does not know where the sign-in leads, and mistype the password."""
    return await walk.submit(await walk.methods(await walk.open(ANOTHER_WAY)), METHODS, password="not the password")


REFUSALS: Final[dict[str, Step]] = {
    "wrong password": wrong_password,
    "wrong code": wrong_code,
    "another account": other_account,
    "begun anew": elsewhere,
    "declined": declined,
    "over": over,
    "another way": another_way,
}


@pytest.mark.parametrize("way", WAYS)
async def test_the_first_sign_in_by_a_required_connection_ends_signed_in(walk: Walk, way: str) -> None:
    page = await walk.open(SIGN_IN)

    asked = await walk.submit(page, SIGN_IN, email=ADA)
    await WAYS[way](walk, asked)

    assert (walk.is_signed_in, walk.led_to_provider, walk.acme.identities) == (True, 1, 1)
    assert len(walk.codes) <= 1
    walk.browser.cookies.clear()
    await walk.by_connection()
    assert (walk.acme.live_sessions, walk.led_to_provider) == (2, 2)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_does_in_each_language(walk: Walk, language: str) -> None:
    walk.browser.headers["Accept-Language"] = language

    methods = await walk.methods(await walk.by_connection())
    await walk.submit(await walk.submit(methods, "/app/sign-in/link"), CODE, code=await walk.mail())

    assert f'lang="{language}"' in methods.text
    assert has_form(methods, METHODS)
    assert "/auth/upstream?" not in methods.text
    assert (walk.is_signed_in, walk.led_to_provider) == (True, 1)


async def test_the_address_that_the_provider_has_confirmed_is_proposed(walk: Walk) -> None:
    asked = await walk.by_connection()

    [form] = [one for one in forms_of(asked) if one.action == SIGN_IN]
    assert form.fields["email"] == ADA


async def test_who_is_signed_in_as_another_user_signs_in_to_the_account_to_be_linked(walk: Walk) -> None:
    walk.acme.world.user("carl@private.example")
    await walk.browser.sign_in("carl@private.example")

    asked = await walk.by_connection()

    assert has_form(asked, SIGN_IN)
    await by_code(walk, asked)
    assert walk.is_signed_in


@pytest.mark.parametrize("first", REFUSALS)
async def test_no_two_refusals_of_a_sign_in_that_links_lead_to_each_other(walk: Walk, first: str) -> None:
    for second in REFUSALS:
        await walk_pair(walk, first, second)


async def walk_pair(walk: Walk, first: str, second: str) -> None:
    """Go through two refusals, and end signed in."""
    walk.forget()
    page = await walk.by_connection()

    page = await REFUSALS[second](walk, await REFUSALS[first](walk, page))
    await walk.end(page)

    assert walk.acme.identities == 1, (first, second)


async def walk_refusals(walk: Walk) -> None:
    """Go through each refusal once as the first one, and once as the second one: a move changes no pair alone."""
    gone = [name for name in REFUSALS if name not in walk.without]
    for first, second in zip(gone, gone[1:] + gone[:1], strict=True):
        await walk_pair(walk, first, second)


async def another_connection(walk: Walk) -> str:
    """Make another connection to the same provider, and return its id."""
    made = await walk.acme.owner.post(
        CONNECTIONS,
        {
            "type": "oidc",
            "name": "Second",
            "issuer": walk.acme.provider.url,
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
        },
    )
    assert made.status == 200, made.text
    return made.json["id"]


async def to_another_connection(walk: Walk) -> None:
    """Lead the mail domain to another connection, whose provider knows people by the same ids."""
    second = await another_connection(walk)
    [route] = (await walk.acme.owner.get(ROUTES)).json["domain_routes"]
    moved = await walk.acme.owner.patch(f"{ROUTES}/{route['id']}", {"provider_id": second})
    assert moved.status == 200, moved.text
    walk.acme.connection_id = second


async def to_another_id(walk: Walk) -> None:
    """Let the connection take another id, as another issuer does, which unlinks everybody."""
    await walk.acme.change(attribute_mapping={"id": "email"})


MOVES: Final[dict[str, Callable[[Walk], Awaitable[None]]]] = {
    "another connection": to_another_connection,
    "another id": to_another_id,
}


@pytest.mark.parametrize("move", MOVES)
async def test_nor_do_they_after_a_move(walk: Walk, move: str) -> None:
    await walk.end(await walk.by_connection())
    assert walk.acme.identities == 1

    await MOVES[move](walk)

    assert (walk.is_signed_in, walk.acme.identities) == (False, 0)
    await walk_refusals(walk)


async def test_nor_do_they_after_a_replaced_certificate(
    world: World, visitor: Visitor, provider: OpenIdProvider, clock: SettableClock
) -> None:
    idp = IdentityProvider(now=clock)
    made = await saml_acme(world, visitor, idp)
    acme = Acme(world, visitor, provider, made.owner, made.organization_id, made.connection_id)
    walk = SamlWalk(acme, await person(acme), idp=idp)
    await walk.end(await walk.by_connection())
    assert acme.identities == 1

    walk.idp = replace(idp, key=key_pair("the next one"))
    await acme.change(metadata_xml=walk.idp.metadata())

    assert (walk.is_signed_in, acme.identities) == (False, 0)
    await walk_refusals(walk)


async def test_who_comes_by_another_connection_than_the_required_one_goes_on_by_the_required_one(walk: Walk) -> None:
    second = await another_connection(walk)

    methods = await walk.methods(await walk.open(f"/auth/upstream?connection_id={second}"))
    asked = await walk.follow(methods, "/auth/upstream")
    page = await walk.end(asked)

    assert page.status == 200
    assert ADA in (await walk.open("/app")).text
    assert walk.led_to_provider == 2


@dataclass(frozen=True)
class Kind:
    """A kind of person who moves along, what makes one, and with how many codes they end signed in.

    `reads` stands on the page on which the others end.
    """

    make: str
    codes: int = 1
    reads: str = ""


OWN: Final = "UPDATE users SET created_by_organization_id = (SELECT id FROM organizations WHERE slug = 'acme')"
KINDS: Final = {
    "linked": Kind(""),
    "made by the directory": Kind(f"{OWN} WHERE email = 'ada@acme.example'", codes=0),
    "without a password": Kind("UPDATE users SET password_hash = NULL WHERE email = 'ada@acme.example'"),
    "owner": Kind(
        "UPDATE memberships SET role = 'admin' WHERE role = 'owner';"
        "UPDATE memberships SET role = 'owner' WHERE user_id = (SELECT id FROM users WHERE email = 'ada@acme.example')"
    ),
    "closed": Kind("UPDATE users SET closed_at = now() WHERE email = 'ada@acme.example'"),
    "of two organizations": Kind(
        "INSERT INTO memberships (id, organization_id, user_id, role, created_at, confirmed_at)"
        " SELECT gen_random_uuid(), o.id, u.id, 'member', u.created_at, u.created_at"
        " FROM users u, organizations o WHERE u.email = 'ada@acme.example' AND o.slug = 'bolt'"
    ),
    "suspended": Kind(
        "UPDATE memberships SET suspended_at = now()"
        " WHERE user_id = (SELECT id FROM users WHERE email = 'ada@acme.example')"
    ),
    "deactivated": Kind(
        "UPDATE users SET deactivated_at = now() WHERE email = 'ada@acme.example'", reads="Email address or password"
    ),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_people_of_every_kind_come_over_by_one_code_at_most_or_read_why_not(walk: Walk, kind: str) -> None:
    walk.acme.world.organization("bolt")
    await walk.end(await walk.by_connection())
    walk.codes.clear()
    await to_another_connection(walk)
    for statement in filter(None, KINDS[kind].make.split(";")):
        walk.acme.world.connection.execute(statement.encode())

    walk.browser.cookies.clear()
    page = await walk.by_connection()
    if not walk.is_signed_in and not KINDS[kind].reads:
        page = await walk.end(page)

    assert len(walk.codes) == (KINDS[kind].codes if not KINDS[kind].reads else 0)
    assert walk.is_signed_in is not bool(KINDS[kind].reads)
    if KINDS[kind].reads:
        assert page.status >= 400
        assert walk.acme.identities == 0


async def test_a_person_with_a_second_factor_comes_over_by_one_code_and_the_factor(walk: Walk) -> None:
    ada = Person(walk.acme.world, walk.acme.world.user_id(ADA), ADA)
    walk.acme.world.connection.execute("UPDATE domain_routes SET enforced = false")
    await ada.turn_mfa_on()
    walk.acme.world.connection.execute("UPDATE domain_routes SET enforced = true")
    await to_another_connection(walk)

    page = await by_code(walk, await walk.by_connection())
    assert has_form(page, "/app/second-factor")
    ada.next_step()
    await walk.submit(page, "/app/second-factor", code=ada.code())

    assert (walk.is_signed_in, len(walk.codes)) == (True, 1)
