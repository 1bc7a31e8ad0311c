"""One organization at its worst takes no connections from another, with pools of 2 and of 10."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, LiteralString
from uuid import UUID

import pytest
import structlog
import trio

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.places import Claim, Places, Share
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.statements import Statement, Statements
from adapters.postgres.transaction import Tools
from core.organizations import bulk_jobs
from core.organizations.bulk_jobs import JobKind, WantedRow
from core.sessions.origins import Origin
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.cut_answers import take_cut_answers
from tests.mailboxes import RecordedMailboxes
from tests.waiting import eventually
from tests.world.backend import KEY as API_KEY
from tests.world.backend import insert_key
from tests.world.builder import PASSWORD
from tests.world.directory import SCIM_JSON, TOKEN, USER, Directory, insert_directory, insert_scim_token
from tests.world.jobs import work_off
from tests.world.organization_keys import KEY, insert_organization_key
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

AT_ONCE = 64
STRANGERS = [f"stranger{number}@example.com" for number in range(6)]
# For a place, on a slow machine: the tests count which places are given, and after how many others, instead of seconds.
UNHURRIED_SECONDS = 60.0
# The first statement of each new connection.
CHECK = "SELECT ARRAY(SELECT current_setting(name)"

Send = Callable[[], Awaitable[Answer]]


class CountedPlaces(Places):
    """Places that remember who had one or a reserved one, and behind how many others each claim waited."""

    def __init__(self, total: int) -> None:
        super().__init__(total)
        self.granted: list[Share] = []
        self.reserved: list[Share] = []
        self.waited: list[tuple[Share, Counter[Share]]] = []
        self._begun: dict[Claim, int] = {}

    def wait(self, claim: Claim) -> None:
        """Remember how many had a place before."""
        self._begun[claim] = len(self.granted)
        super().wait(claim)

    def _grant(self, claim: Claim, *, is_reserved: bool) -> None:
        begun = self._begun.pop(claim, None)
        if begun is not None:
            self.waited.append((claim.share, Counter(self.granted[begun:])))
        self.granted.append(claim.share)
        if is_reserved:
            self.reserved.append(claim.share)
        super()._grant(claim, is_reserved=is_reserved)


@pytest.fixture(params=[2, 10], ids=["pool of 2", "pool of 10"])
def places(request: pytest.FixtureRequest) -> CountedPlaces:
    """The places of the pool."""
    return CountedPlaces(request.param)


@pytest.fixture
def database(
    database_url: str, places: CountedPlaces, tools: Tools, mailboxes: RecordedMailboxes, request: pytest.FixtureRequest
) -> Iterator[PostgresDatabase]:
    """The database as the application sees it, over a pool of that size."""
    pool = Pool(database_url, connections_max=request.node.callspec.params["places"])
    pool.places = places
    yield PostgresDatabase(pool=pool, tools=tools, mailboxes=mailboxes, wait_seconds_max=UNHURRIED_SECONDS)
    pool.close()


@dataclass
class Neighbours:
    """An organization that does its worst, and strangers who sign in."""

    directory: Directory
    places: CountedPlaces
    visitor: Visitor
    created: list[int] = field(default_factory=list[int])

    @property
    def world(self) -> World:
        """The world of both."""
        return self.directory.world

    @property
    def team(self) -> Team:
        """The organization that does its worst."""
        return self.directory.team

    async def write(self) -> Answer:
        """Provision one more user."""
        self.created.append(1)
        body = {"schemas": [USER], "userName": f"u{len(self.created)}@acme.example"}
        return await self.directory.request("POST", "/Users", body)

    async def list_users(self) -> Answer:
        """Read users over SCIM."""
        return await self.directory.request("GET", "/Users?count=50")

    async def filter_log(self) -> Answer:
        """Search the audit log."""
        return await self.team.request("owner", "GET", "/audit-log?q=stranger")

    async def export_log(self) -> Answer:
        """Export the audit log."""
        return await self.team.request("owner", "GET", "/audit-log/export")

    async def wait_for_events(self) -> Answer:
        """Wait for an event of the feed."""
        return await self.team.request("owner", "GET", "/events?types=user.invited&wait=1")

    async def preview(self) -> Answer:
        """Open the preview of the branding."""
        return await self.visitor.send("GET", f"/app/organizations/{self.team.slug}/branding/preview")

    async def sign_in(self, number: int) -> Answer:
        """Let a stranger sign in from a network of their own."""
        return await self.world.log_in(STRANGERS[number], address=f"192.0.{number}.7")

    @asynccontextmanager
    async def attack(self, *sends: Send, lock: LiteralString = "") -> AsyncGenerator[None]:
        """Send so many requests at once all the time; the block begins when they have all that they can have.

        With a lock, their statements wait for it until the block ends.
        """

        is_over = trio.Event()

        async def send_until_it_is_over(send: Send) -> None:
            while not is_over.is_set():
                await send()
                await trio.lowlevel.checkpoint()

        async def is_stuck() -> bool:
            (waited_for,) = self.world.rows("SELECT count(*) FROM pg_locks WHERE NOT granted")[0]
            taken, waiting, _ = self.places.statistics()
            return waiting >= AT_ONCE // 2 and (not lock or 0 < waited_for == taken)

        async with trio.open_nursery() as nursery:
            self.world.connection.execute("BEGIN")
            try:
                self.world.connection.execute(lock or "SELECT")
                for number in range(AT_ONCE):
                    nursery.start_soon(send_until_it_is_over, sends[number % len(sends)])
                await eventually(is_stuck)
                yield
            finally:
                self.world.connection.execute("ROLLBACK")
                is_over.set()


@pytest.fixture
async def neighbours(world: World, places: CountedPlaces) -> Neighbours:
    """An organization with a directory whose credentials were used before, and strangers."""
    # On a slow machine, an export waits longer for its share than an answer may take.
    take_cut_answers(world.client)
    team = world.team()
    team.add("owner", "owner")
    world.connection.execute("UPDATE organizations SET max_users = 100000 WHERE id = %s", (team.organization_id,))
    for email in STRANGERS:
        world.user(email)
    visitor = Visitor(world.client)
    await visitor.sign_in("owner@example.com")
    neighbours = Neighbours(insert_directory(team), places, visitor)
    for send in (neighbours.list_users, neighbours.filter_log, neighbours.preview):
        assert (await send()).status == 200
    return neighbours


@contextmanager
def statements_by_request() -> Generator[dict[str, list[str]]]:
    """Record the statements of each request, by its id."""
    recorded: dict[str, list[str]] = {}
    statements: Any = Statements
    send = statements._send

    def record(self: Statements, statement: Statement) -> Any:
        request_id = structlog.contextvars.get_contextvars().get("request_id", "")
        text = " ".join(statement.text.decode().split())
        if not text.startswith(CHECK):
            recorded.setdefault(request_id, []).append(text)
        return send(self, statement)

    statements._send = record
    try:
        yield recorded
    finally:
        statements._send = send


ATTACKS: dict[str, tuple[tuple[str, ...], LiteralString]] = {
    "SCIM writes": (("write",), "SELECT FROM organizations FOR UPDATE"),
    "SCIM reads": (("list_users",), "LOCK TABLE scim_tokens"),
    "audit filters": (("filter_log",), "LOCK TABLE audit_entries"),
    "exports": (("export_log",), "LOCK TABLE audit_entries"),
    "previews": (("preview",), "LOCK TABLE brandings"),
    "everything": (
        ("write", "list_users", "filter_log", "export_log", "wait_for_events", "preview"),
        "LOCK TABLE scim_tokens, audit_entries, brandings",
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_others_sign_in_while_one_organization_blocks_all_that_it_can_have(
    neighbours: Neighbours, places: CountedPlaces, attack: str
) -> None:
    names, lock = ATTACKS[attack]
    with statements_by_request() as statements:
        # Not the first, which may prepare statements or open a connection.
        await neighbours.sign_in(0)
        alone = await neighbours.sign_in(0)

        async with neighbours.attack(*[getattr(neighbours, name) for name in names], lock=lock):
            places.granted.clear()
            places.reserved.clear()
            during = await neighbours.sign_in(0)
            had, reserved = [share for share in places.granted if share.is_sign_in], list(places.reserved)
            at_once_with_others = await at_once(
                *[partial(neighbours.sign_in, number) for number in range(len(STRANGERS))]
            )

    assert (alone.status, during.status) == (200, 200)
    assert had == reserved != []
    assert statuses_of(at_once_with_others) == [200] * len(STRANGERS)
    assert statements[during.headers["X-Request-Id"]] == statements[alone.headers["X-Request-Id"]]


async def test_others_wait_behind_a_bounded_number(neighbours: Neighbours, places: CountedPlaces) -> None:
    kinds = [getattr(neighbours, name) for name in ATTACKS["everything"][0]]

    async with neighbours.attack(*kinds):
        places.waited.clear()
        answers = await at_once(*[partial(neighbours.sign_in, number) for number in range(len(STRANGERS))])

    assert statuses_of(answers) == [200] * len(STRANGERS)
    waited = [before for share, before in places.waited if share.is_sign_in]
    assert waited
    # Of the organization and of its network one each; of the other sign-ins also one at the reserved places.
    assert max(before.total() for before in waited) <= 2 + 2 * (len(STRANGERS) - 1)


async def test_one_transaction_that_changes_an_organization_has_a_place(
    neighbours: Neighbours, places: CountedPlaces
) -> None:
    async with neighbours.attack(neighbours.write, lock="SELECT FROM organizations FOR UPDATE"):
        assert places.statistics().taken == 1


async def test_a_job_takes_of_the_share_of_its_organization(neighbours: Neighbours, places: CountedPlaces) -> None:
    world, team = neighbours.world, neighbours.team
    row = WantedRow(label="m@example.com", subject_id=team.add("m", "member"))
    session_id = (await world.sign_in("owner@example.com")).session_id
    database = world.installation.database.on_behalf_of(Origin(), session_id)
    await database.transact(bulk_jobs.begin, team.slug, JobKind.MEMBERS_REMOVE, [row], {"note": ""})

    places.granted.clear()
    assert await work_off(world.installation) == 1

    assert Share(team.organization_id, row=team.organization_id) in places.granted


async def test_no_stranger_spends_the_share_of_an_organization(neighbours: Neighbours, places: CountedPlaces) -> None:
    world, victim = neighbours.world, neighbours.team
    service = world.service(victim.organization_id, "shop")
    insert_key(world, victim.organization_id, service.id, API_KEY)
    insert_organization_key(world, victim.organization_id, victim.ids["owner"], KEY)
    stranger = await world.sign_in(STRANGERS[0])
    own = world.organization("globex")
    world.member(own, world.user("mallory@example.com"), "owner")
    mallory = await world.sign_in("mallory@example.com", org_slug="globex")

    def forged(token: str) -> str:
        return token[:-8] + "A" * 8

    async def send(method: str, path: str, **options: Any) -> Answer:
        return await world.client.request(method, path, address="203.0.113.9", **options)

    async def count(sends: list[Send]) -> int:
        """Return how many places the share of the victim had, each request sent twice."""
        begin = len(places.granted)
        for one in sends * 2:
            await one()
        return sum(victim.organization_id in {share.key, share.row} for share in places.granted[begin:])

    body = {"schemas": [USER], "userName": "x@acme.example"}
    scim = {"Content-Type": SCIM_JSON}
    members = f"/api/organizations/{victim.slug}/members"
    genuine: list[Send] = [
        partial(send, "GET", "/scim/v2/Users", token=TOKEN),
        partial(send, "GET", "/api/service/users", headers={"X-Api-Key": API_KEY}),
        partial(send, "GET", members, headers={"X-Api-Key": KEY}),
        partial(send, "GET", members, token=await victim.token("owner")),
    ]
    strangers: list[Send] = [
        partial(send, "GET", "/scim/v2/Users", token=forged(TOKEN)),
        partial(send, "POST", "/scim/v2/Users", token=forged(TOKEN), body=body, headers=scim),
        partial(send, "GET", "/api/service/users", headers={"X-Api-Key": forged(API_KEY)}),
        partial(send, "POST", "/api/service/users", headers={"X-Api-Key": forged(API_KEY)}, body={}),
        partial(send, "GET", members, headers={"X-Api-Key": forged(KEY)}),
        partial(send, "GET", members),
        partial(send, "GET", members, token=forged(await victim.token("owner"))),
        *(
            partial(send, method, f"/api/organizations/{victim.slug}{path}", token=token.access_token, body=sent)
            for token in (stranger, mallory)
            for method, path, sent in [
                ("GET", "/members", None),
                ("PATCH", "", {"name": "Mine"}),
                ("POST", "/invitations", {"email": "x@example.com", "role": "member"}),
                ("POST", "/select", None),
            ]
        ),
        partial(send, "GET", f"/api/organizations/{victim.slug}/branding/public"),
        partial(
            send,
            "POST",
            "/api/auth/login",
            body={"email": STRANGERS[1], "password": PASSWORD, "org_slug": victim.slug, "service_slug": "shop"},
        ),
        partial(send, "GET", f"/saml/{victim.slug}/shop/metadata"),
        partial(send, "GET", f"/saml/{victim.slug}/shop/sso"),
        partial(send, "GET", f"/app/organizations/{victim.slug}", headers={"Accept": "text/html"}),
        partial(send, "GET", f"/auth/upstream?connection_id={UUID(int=1)}"),
    ]

    assert await count(genuine) >= len(genuine)
    assert await count(strangers) == 0


async def test_who_has_left_spends_the_share_once_at_most(neighbours: Neighbours, places: CountedPlaces) -> None:
    world, team = neighbours.world, neighbours.team
    token = f"scim_live_zzz999_{'z' * 43}"
    insert_scim_token(world, team.organization_id, token)
    team.add("leaver", "admin")
    leaver = Directory(team, token)

    async def share_of(send: Send) -> Counter[bool]:
        begin = len(places.granted)
        await send()
        return Counter(team.organization_id == share.key for share in places.granted[begin:])

    sends: list[Send] = [
        partial(leaver.request, "GET", "/Users"),
        partial(team.request, "leaver", "GET", "/members"),
        partial(neighbours.visitor.send, "GET", f"/app/organizations/{team.slug}/people"),
    ]
    for send in sends:
        await send()
        assert (await share_of(send))[True]
    world.connection.execute("DELETE FROM scim_tokens WHERE name = 'directory'")
    world.connection.execute("DELETE FROM memberships WHERE user_id = %s", (team.ids["leaver"],))
    world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE role = 'owner'")

    for send in sends:
        await send()
        assert not (await share_of(send))[True]
