"""Acme with a connection to an independent identity provider, and people who sign in by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from tests.application import Answer
from tests.identity_programs.program import GATEHOUSE, STEPS_MAX, Program, ProgramBrowser, SamlProgram
from tests.service_provider import PostedForm, posted_form
from tests.world.openid_connection import CONNECTIONS, ROUTES, prove_domain
from tests.world.saml_connection import HEADERS
from tests.world.second_factors import Person
from tests.world.signing_in import SignedInUser
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

SIGN_IN, LINK, CODE = "/app/sign-in", "/app/sign-in/link", "/app/sign-in/code"
SECOND_FACTOR = "/app/second-factor"
RULES = "/api/organizations/acme/group-rules"


def address(person: str) -> str:
    """Return the address of a person of a provider."""
    return f"{person}@acme.example"


@dataclass
class ConnectedProgram:
    """The organization, its provider, and a browser of Gatehouse."""

    world: World
    visitor: Visitor
    program: Program
    owner: SignedInUser
    organization_id: UUID
    connection_id: str
    browsers: dict[str, ProgramBrowser] = field(default_factory=dict[str, ProgramBrowser])
    # Those who have an authenticator app.
    apps: dict[str, Person] = field(default_factory=dict[str, Person])

    @property
    def path(self) -> str:
        """The path of the connection."""
        return f"{CONNECTIONS}/{self.connection_id}"

    async def change(self, **fields: Any) -> None:
        """Change the connection."""
        answer = await self.owner.patch(self.path, fields)
        assert answer.status == 200, answer.text

    async def depart(self, visitor: Visitor | None = None) -> tuple[str, PostedForm | None]:
        """Begin a sign-in; return the address at the provider, and the form that the browser sends there."""
        path = f"/auth/upstream?connection_id={self.connection_id}"
        begun = await (visitor or self.visitor).send("GET", path)
        if begun.status == 200:
            form = posted_form(begun.text)
            return form.action, form
        assert begun.status == 303, begun.text
        return begun.headers["Location"], None

    async def at_provider(self, person: str = "ada", visitor: Visitor | None = None) -> str | PostedForm:
        """Begin a sign-in and sign in at the provider; return with what the browser comes back."""
        where, form = await self.depart(visitor)
        browser = self.browsers.setdefault(person, self.program.browser(person))
        return browser.open(where, form.fields if form is not None else None)

    async def sign_in(self, person: str = "ada", visitor: Visitor | None = None) -> Answer:
        """Sign a person in by the connection, with a browser that knows nothing of them; return the page that follows.

        The browser at the provider is the same each time.
        """
        if visitor is None:
            self.visitor.cookies.clear()
        return await self.come_back(await self.at_provider(person, visitor), visitor)

    async def sign_out(self, person: str = "ada") -> Answer:
        """Sign out of Gatehouse, go where that leads, also to the provider, and return the page that is last."""
        page = await self.visitor.open("/app/sign-out")
        answer = await self.visitor.submit(page, "/app/sign-out", is_followed=False)
        for _ in range(STEPS_MAX):
            where = answer.headers.get("Location") or answer.headers.get("Refresh", "").partition("url=")[2]
            if not where:
                return answer
            if where.startswith(self.program.url):
                answer = await self.come_back(self.browsers[person].open(unescape(where)))
            else:
                answer = await self.visitor.send("GET", where.removeprefix(GATEHOUSE))
        raise AssertionError("signing out does not end")

    async def come_back(self, brought: str | PostedForm, visitor: Visitor | None = None) -> Answer:
        """Bring Gatehouse what a browser was sent with, and return the page that follows."""
        visitor = visitor or self.visitor
        if isinstance(brought, str):
            return await visitor.open(brought.removeprefix(GATEHOUSE))
        path = brought.action.removeprefix(GATEHOUSE)
        data = urlencode(brought.fields).encode()
        # Browsers send no cookie with a POST from another site.
        taken = await self.world.client.request("POST", path, data=data, headers=HEADERS)
        return await visitor.open(taken.headers["Location"]) if taken.status == 303 else taken

    async def enforce(self) -> None:
        """Require the connection of everyone in the domain."""
        [route] = (await self.owner.get(ROUTES)).json["domain_routes"]
        answer = await self.owner.patch(f"{ROUTES}/{route['id']}", {"enforced": True})
        assert answer.status == 200, answer.text

    async def moved_to(self, program: Program) -> ConnectedProgram:
        """Connect Acme with another provider, and lead its domain there."""
        connection_id = await connect(self.world, self.owner, program, "Second")
        [route] = (await self.owner.get(ROUTES)).json["domain_routes"]
        led = await self.owner.patch(f"{ROUTES}/{route['id']}", {"provider_id": connection_id})
        assert led.status == 200, led.text
        return replace(self, program=program, connection_id=connection_id, browsers={})

    async def walk_in(self, person: str) -> int:
        """Sign a person in to their account, as the pages say; return how many mailed codes it took.

        Raise `AssertionError` with the last page where they end without a session.
        """
        page = await self.sign_in(person)
        codes = 0
        for _ in range(STEPS_MAX):
            if self.is_signed_in(person):
                return codes
            actions = [form.action for form in forms_of(page)]
            if CODE in actions:
                page = await self.visitor.submit(page, CODE, code=await self._mailed_code(person))
                codes += 1
            elif SECOND_FACTOR in actions:
                self.apps[person].next_step()
                page = await self.visitor.submit(page, SECOND_FACTOR, code=self.apps[person].code())
            elif LINK in actions:
                page = await self.visitor.submit(page, LINK)
            elif SIGN_IN in actions:
                page = await self.visitor.submit(page, SIGN_IN, email=address(person))
            else:
                break
        raise AssertionError(f"{person} is not signed in after {codes} codes:\n{page.status} {page.text}")

    def is_signed_in(self, person: str) -> bool:
        """Whether the browser has a session, and the last session by the connection belongs to the person's account."""
        last = self.world.rows(
            "SELECT user_id FROM sessions WHERE connection_id = %s AND revoked_at IS NULL ORDER BY created_at, id",
            self.connection_id,
        )
        return self.visitor.has_session and [user_id for (user_id,) in last][-1:] == [self.user_id(person)]

    async def _mailed_code(self, person: str) -> str:
        mails = [mail for mail in await self.world.mails() if mail.template == "magic_link"]
        mine = [mail.values["code"] for mail in mails if mail.to == address(person)]
        assert mine, f"no code was mailed to {person}"
        return mine[-1]

    async def tried(self, person: str = "ada") -> Answer:
        """Let the owner test the connection with a sign-in of a person; return the page with the result."""
        page = f"/app/organizations/acme/sign-in/connections/{self.connection_id}"
        visitor = Visitor(self.visitor.client)
        await visitor.sign_in(self.owner.email, path=page)
        begun = await visitor.submit(await visitor.open(page), f"{page}/trial", is_followed=False)
        assert begun.status == 200, begun.text
        where = unescape(begun.headers["Refresh"].partition("url=")[2])
        return await self.come_back(self.program.browser(person).open(where), visitor)

    async def set_rules(self, *rules: tuple[str, str]) -> None:
        """Give roles by the groups of the provider."""
        body = {"rules": [{"source": self.connection_id, "group": group, "role": role} for group, role in rules]}
        answer = await self.world.client.request("PUT", RULES, body=body, token=self.owner.token)
        assert answer.status == 200, answer.text

    async def test(self) -> Any:
        """Test the connection, as its owner does."""
        answer = await self.owner.post(f"{self.path}/test")
        assert answer.status == 200, answer.text
        return answer.json

    async def remove(self, person: str) -> None:
        """Remove a member from Acme."""
        answer = await self.owner.post(f"/api/organizations/acme/members/{self.user_id(person)}")
        assert answer.status == 200, answer.text

    def user_id(self, person: str) -> UUID:
        """Return the account of a person."""
        return self.world.user_id(address(person))

    def role(self, person: str) -> str | None:
        """Return the role of a person in Acme."""
        return self.world.role_of(self.organization_id, address(person))

    @property
    def linked(self) -> list[str]:
        """The addresses of the accounts that the connection is linked with."""
        return [
            email
            for (email,) in self.world.rows(
                "SELECT users.email FROM identities JOIN users ON users.id = user_id"
                " WHERE connection_id = %s ORDER BY users.email",
                self.connection_id,
            )
        ]

    @property
    def failure(self) -> str | None:
        """The problem for which the last sign-in by the connection failed, as members read it."""
        return self.world.value("SELECT problem FROM upstream_failures WHERE connection_id = %s", self.connection_id)

    @property
    def live_sessions(self) -> int:
        """How many sessions of the connection are live."""
        return self.world.value(
            "SELECT count(*) FROM sessions WHERE connection_id = %s AND revoked_at IS NULL", self.connection_id
        )


async def connected_program(
    world: World, visitor: Visitor, program: Program, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> ConnectedProgram:
    """Return Acme, whose domain `acme.example` signs in at the provider, and whose people join by it."""
    # The provider looks at the clock of the machine.
    world.clock.now = now()
    organization_id = world.organization("acme")
    owner = await world.signed_in_member(organization_id, email="owner@acme.example")
    connection_id = await connect(world, owner, program)
    await prove_domain(world, owner, connection_id)
    return ConnectedProgram(world, visitor, program, owner, organization_id, connection_id)


async def connect(world: World, owner: SignedInUser, program: Program, name: str = "Acme") -> str:
    """Connect Acme with a provider, and let each know the other; return the id of the connection."""
    created = await owner.post(CONNECTIONS, {"name": name, "joins_as": "member", **program.connection()})
    assert created.status == 200, created.text
    connection_id = created.json["id"]
    if isinstance(program, SamlProgram):
        entity_id = f"{GATEHOUSE}/auth/upstream/{connection_id}/metadata"
        metadata = await world.client.get(entity_id)
        program.know(entity_id, metadata.text)
    return connection_id


def is_ahead(world: World, seconds: float) -> None:
    """Set the provider's clock ahead of the clock of Gatehouse."""
    world.clock.now = datetime.now(UTC) - timedelta(seconds=seconds)
