"""Memberships in PostgreSQL: one owner after any sequence of operations, and pages among many members."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import product
from typing import Any, ClassVar
from uuid import UUID

import psycopg
import pytest
import trio
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from adapters.postgres.letter_groups import groups_in
from adapters.postgres.log_times import kept_values
from adapters.postgres.organizations import found_members
from adapters.postgres.organizations.members import PAGE_OF_ALL, PAGE_OF_ROLE
from adapters.postgres.transaction import Tools
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from core.errors import Refusal
from core.organizations import members, ownership, roles
from core.organizations.organizations import ADMIN, MEMBER, OWNER, Membership
from core.positions import BEGIN, Position
from core.sessions.origins import BACKGROUND
from tests.clock import SettableClock
from tests.drawing import drawn_numbers
from tests.plans import explained, explained_statements, nodes_of, pages_read, rows_read, tables_read_whole
from tests.postgres import Databases
from tests.world.builder import FREE_TIER, new_id

USERS = 4
KEEPER = "keeper"
EXAMPLES = 30
STEPS = 15
# One large organization, which is still a small part of all memberships.
MEMBERS_OF_LARGE = 3000
# The users whose address begins with 100: 100, and 1000 to 1009.
ADMINS_OF_LARGE = 11
OTHERS = 200
MEMBERS_OF_OTHERS = 100
# How many members that a search finds are counted, and what showing a page of them reads.
COUNTED = 1_001
PAGES_OF_LIST = 450

users = st.integers(0, USERS - 1)


@dataclass(frozen=True)
class Crowd:
    """Users with sessions, and their organizations."""

    connection: Connection
    clock: SettableClock
    users: list[UUID] = field(default_factory=list["UUID"])
    sessions: dict[UUID, UUID] = field(default_factory=dict["UUID", "UUID"])

    def sign_in_users(self) -> None:
        """Insert the users, each with a session."""
        for number in range(USERS):
            user_id, session_id, now = new_id(), new_id(), self.clock()
            self.connection.execute(
                "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, %s, %s, %s)",
                (user_id, f"{number}@example.com", now, now),
            )
            self.connection.execute(
                """
                INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at,
                                      expires_at, created_at)
                VALUES (%s, %s, 'password', '{pwd}', %s, '', %s, %s::timestamptz + interval '90 days', %s)
                """,
                (session_id, user_id, now, now, now, now),
            )
            self.users.append(user_id)
            self.sessions[user_id] = session_id

    def add_organization(self, *member_roles: str) -> tuple[UUID, str]:
        """Insert an organization in which the first users have these roles; return its id and slug."""
        organization_id, now = new_id(), self.clock()
        slug = f"org-{organization_id.hex[-12:]}"
        self.connection.execute(
            """
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            VALUES (%s, %s, %s, 'active', %s, %s, %s)
            """,
            (organization_id, slug, slug, FREE_TIER, now, now),
        )
        self.connection.execute(
            """
            INSERT INTO organization_roles (organization_id, slug, name, permissions, created_at, updated_at)
            VALUES (%s, %s, 'Keeper', '{org.members.manage,org.roles.manage}', %s, %s)
            """,
            (organization_id, KEEPER, now, now),
        )
        for user_id, role in zip(self.users, member_roles, strict=False):
            self.connection.execute(
                "INSERT INTO memberships (id, organization_id, user_id, role, created_at) VALUES (%s, %s, %s, %s, %s)",
                (new_id(), organization_id, user_id, role, now),
            )
        return organization_id, slug

    def owners(self, organization_id: UUID) -> list[UUID]:
        """Return the ids of the owners."""
        rows = self.connection.execute(
            "SELECT user_id FROM memberships WHERE organization_id = %s AND role = 'owner'", (organization_id,)
        )
        return [user_id for (user_id,) in rows]


@pytest.fixture
def crowd(connection: Connection, clock: SettableClock) -> Crowd:
    """A few users with sessions."""
    crowd = Crowd(connection, clock)
    crowd.sign_in_users()
    return crowd


class Operations(RuleBasedStateMachine):
    """Operations of users on each other in an organization, allowed or not."""

    crowd: ClassVar[Crowd]
    tools: ClassVar[Tools]

    def __init__(self) -> None:
        super().__init__()
        self.organization_id, self.slug = self.crowd.add_organization(OWNER, ADMIN, MEMBER)
        self.owner = 0

    @rule(by=users, member=users, role=st.sampled_from([OWNER, ADMIN, MEMBER, KEEPER, "nothing"]))
    def change_role(self, by: int, member: int, role: str) -> None:
        if self._is_allowed(by, members.change_role, self.crowd.users[member], role):
            assert by == self.owner
            assert member != self.owner

    @rule(by=users, member=users)
    def remove(self, by: int, member: int) -> None:
        if self._is_allowed(by, members.remove, self.crowd.users[member]):
            assert member not in (by, self.owner)

    @rule(to=users)
    def transfer_as_owner(self, to: int) -> None:
        if self._is_allowed(self.owner, ownership.transfer, self.crowd.users[to]):
            self.owner = to

    @rule(by=users, to=users)
    def transfer_as_any_user(self, by: int, to: int) -> None:
        if self._is_allowed(by, ownership.transfer, self.crowd.users[to]):
            assert by == self.owner
            self.owner = to

    @rule(by=users)
    def leave(self, by: int) -> None:
        if self._is_allowed(by, members.leave):
            assert by != self.owner

    @rule(member=users, role=st.sampled_from([ADMIN, MEMBER, KEEPER]), is_confirmed=st.booleans())
    def join(self, member: int, role: str, is_confirmed: bool) -> None:
        with self.crowd.connection.transaction():
            uow = PostgresUnitOfWork(self.crowd.connection, BACKGROUND, self.tools)
            if role != KEEPER or uow.roles.by_slug(self.organization_id, KEEPER) is not None:
                at = self.crowd.clock()
                membership = membership_of(self.organization_id, self.crowd.users[member], role, at)
                uow.members.defer_add(membership, is_confirmed=is_confirmed)

    @rule(by=users)
    def delete_role(self, by: int) -> None:
        self._is_allowed(by, roles.delete, KEEPER)

    @invariant()
    def there_is_one_owner_and_it_is_the_expected_one(self) -> None:
        assert self.crowd.owners(self.organization_id) == [self.crowd.users[self.owner]]

    @invariant()
    def the_role_of_every_member_exists(self) -> None:
        orphans = self.crowd.connection.execute(
            """
            SELECT m.role
            FROM   memberships m
            LEFT   JOIN organization_roles r ON r.organization_id = m.organization_id AND r.slug = m.role
            WHERE  m.organization_id = %s AND m.role NOT IN ('owner', 'admin', 'member') AND r.slug IS NULL
            """,
            (self.organization_id,),
        )
        assert orphans.fetchall() == []

    def _is_allowed(self, by: int, use_case: Callable[..., Any], *args: Any) -> bool:
        """Run a use case; return whether it was allowed."""
        session_id = self.crowd.sessions[self.crowd.users[by]]
        try:
            with self.crowd.connection.transaction():
                uow = PostgresUnitOfWork(self.crowd.connection, BACKGROUND, self.tools, session_id=session_id)
                use_case(uow, self.slug, *args)
        except Refusal:
            return False
        return True


@pytest.mark.hypothesis
def test_there_is_exactly_one_owner_after_any_sequence_of_operations(crowd: Crowd, tools: Tools) -> None:
    class OperationsOfTheCrowd(Operations):
        pass

    OperationsOfTheCrowd.crowd, OperationsOfTheCrowd.tools = crowd, tools

    run_state_machine_as_test(
        OperationsOfTheCrowd,
        settings=settings(
            max_examples=EXAMPLES, stateful_step_count=STEPS, suppress_health_check=[HealthCheck.too_slow]
        ),
    )


@pytest.mark.hypothesis
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_there_is_exactly_one_owner_after_concurrent_operations(
    crowd: Crowd, database: PostgresDatabase, seed: int
) -> None:
    organization_id, slug = crowd.add_organization(OWNER, ADMIN, ADMIN, KEEPER)
    operations: list[tuple[Callable[..., Any], UUID, tuple[Any, ...]]] = [
        *[(ownership.transfer, by, (to,)) for by in crowd.users for to in crowd.users],
        *[(members.remove, by, (member,)) for by in crowd.users for member in crowd.users],
        *[(members.change_role, by, (member, MEMBER)) for by in crowd.users for member in crowd.users],
        *[(roles.delete, by, (KEEPER,)) for by in crowd.users],
    ]
    [number] = drawn_numbers([seed])
    random.Random(number).shuffle(operations)
    transferred: list[UUID] = []

    async def act(use_case: Callable[..., Any], by: UUID, args: tuple[Any, ...]) -> None:
        try:
            result = await database.on_behalf_of(BACKGROUND, crowd.sessions[by]).transact(use_case, slug, *args)
        except Refusal:
            return
        if use_case is ownership.transfer:
            transferred.append(result.new_owner_user_id)

    async with trio.open_nursery() as nursery:
        for operation in operations:
            nursery.start_soon(act, *operation)

    [owner] = crowd.owners(organization_id)
    assert owner in {crowd.users[0], *transferred}


def test_a_second_owner_is_refused_by_the_database(crowd: Crowd) -> None:
    organization_id, _ = crowd.add_organization(OWNER, ADMIN)

    with pytest.raises(psycopg.errors.UniqueViolation):
        crowd.connection.execute("UPDATE memberships SET role = 'owner' WHERE organization_id = %s", (organization_id,))


def test_a_user_becomes_a_member_once(crowd: Crowd, transact: Callable[..., Any]) -> None:
    organization_id, _ = crowd.add_organization(OWNER)
    membership = membership_of(organization_id, crowd.users[1], MEMBER, crowd.clock())

    added = [transact(lambda uow: uow.members.defer_add(membership, is_confirmed=True)()) for _ in range(2)]

    assert added == [True, False]
    assert transact(lambda uow: uow.members.defer_count(organization_id)()) == 2
    assert transact(lambda uow: uow.members.of_user(organization_id, crowd.users[1])) == membership


@pytest.fixture(scope="module")
def large(databases: Databases) -> Iterator[tuple[Connection, dict[str, object]]]:
    """A database with an organization of many members and few admins, and its id; no test changes it."""
    with databases.for_plans() as url, databases.connection(url) as connection:
        crowd = Crowd(connection, SettableClock())
        crowd.sign_in_users()
        slug = add_large_organization(crowd)
        row = connection.execute("SELECT id FROM organizations WHERE slug = %s", (slug,)).fetchone()
        assert row is not None
        yield connection, {"organization_id": row[0]}


def add_large_organization(crowd: Crowd) -> str:
    """Insert an organization with many members, and others; return its slug."""
    organization_id, slug = crowd.add_organization(MEMBER)
    for number in range(OTHERS):
        crowd.add_organization(*[MEMBER] * (number % 2))
    crowd.connection.execute(
        """
        INSERT INTO users (id, email, created_at, updated_at)
        SELECT gen_random_uuid(), n || '@example.org', now(), now() FROM generate_series(1, %s) AS n
        """,
        (MEMBERS_OF_LARGE,),
    )
    crowd.connection.execute(
        """
        INSERT INTO memberships (id, organization_id, user_id, role, created_at)
        SELECT gen_random_uuid(), o.id, u.id, CASE WHEN u.email LIKE '100%%' THEN 'admin' ELSE 'member' END,
               now() + random() * interval '1 year'
        FROM   organizations o
        CROSS  JOIN LATERAL (SELECT   id, email
                             FROM     users
                             WHERE    email LIKE '%%.org'
                             LIMIT    CASE WHEN o.id = %s THEN %s ELSE %s END) AS u
        """,
        (organization_id, MEMBERS_OF_LARGE, MEMBERS_OF_OTHERS),
    )
    crowd.connection.execute("VACUUM ANALYZE memberships, users, organizations, sessions")
    return slug


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.long
def test_a_page_of_many_members_is_found_by_indexes(large: tuple[Connection, dict[str, object]], mode: str) -> None:
    connection, organization = large
    connection.execute(f"SET plan_cache_mode = {mode}".encode())
    values = organization | {"limit": 50, "offset": MEMBERS_OF_LARGE // 2}

    all_members = explained(connection, PAGE_OF_ALL, values)
    admins = explained(connection, PAGE_OF_ROLE, values | {"role": ADMIN, "limit": 5, "offset": 0})

    for plan, members_listed in ((all_members, 50), (admins, 5)):
        assert tables_read_whole(plan) & {"memberships", "users"} == set()
        assert plan["Actual Rows"] == members_listed
    # A page of one role fetches neither the other members nor what comes before the page.
    assert max(node["Actual Rows"] for node in nodes_of(admins)) <= ADMINS_OF_LARGE


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.long
def test_the_console_reads_a_page_of_many_members_by_indexes(
    large: tuple[Connection, dict[str, object]], mode: str
) -> None:
    connection, organization = large
    connection.execute(f"SET plan_cache_mode = {mode}".encode())
    values = organization | kept_values(datetime(2026, 2, 3, tzinfo=UTC))
    values |= {"part": "", "role": "", "at": BEGIN.at, "id": BEGIN.id, "limit": 26}

    found = values | {
        "part": ".org",
        "groups": groups_in(".org"),
        "looked_at": found_members.LOOKED_AT,
        "counted_max": 10_001,
    }
    nothing = found | {"part": "nowhere", "groups": groups_in("nowhere")}
    admins = found | {"role": ADMIN}
    plans = [
        (explained(connection, found_members.ALL.page_of_all, values), 26),
        (explained(connection, found_members.ALL.near_page, found), 26),
        (explained(connection, found_members.ALL.far_page, nothing), 0),
        (explained(connection, found_members.ALL.count_far, nothing), 1),
        (explained(connection, found_members.ALL.count_near, found), 1),
        (explained(connection, found_members.ALL.probe, found), 1),
        (explained(connection, found_members.OF_ROLE.near_page, admins), ADMINS_OF_LARGE),
        (explained(connection, found_members.OF_ROLE.count_of_all, admins), 1),
    ]

    for plan, rows in plans:
        assert tables_read_whole(plan) & {"memberships", "users", "login_events"} == set()
        assert plan["Actual Rows"] == rows


SEARCHES = [
    # A part of one address, of none, of a few, of all, and others that have no group of letters.
    *("2999@example", "nowhere", "zzz", "77@", "@example.org", ".org"),
    *("99", "zz", "9", "@"),
]


@pytest.mark.parametrize("role", ["", ADMIN, OWNER])
@pytest.mark.long
def test_a_search_among_many_members_finds_what_reading_all_of_them_finds(
    large: tuple[Connection, dict[str, object]], tools: Tools, role: str
) -> None:
    connection, organization = large
    organization_id = organization["organization_id"]
    assert isinstance(organization_id, UUID)
    everyone = connection.execute(
        """
        SELECT   m.id, m.created_at, u.email
        FROM     memberships m
        JOIN     users u ON u.id = m.user_id
        WHERE    m.organization_id = %s AND (%s = '' OR m.role = %s)
        ORDER BY m.created_at, m.id
        """,
        (organization_id, role, role),
    ).fetchall()

    with connection.transaction():
        uow = PostgresUnitOfWork(connection, BACKGROUND, tools)
        for part in SEARCHES:
            expected = [row for row in everyone if part in row[2]]
            for counted_max in (7, 10_001):
                counted = uow.found_members.count(organization_id, part=part, role=role, counted_max=counted_max)
                assert counted == min(len(expected), counted_max), part
            for begin in {0, len(expected) // 2, max(0, len(expected) - 5)}:
                after = Position(at=expected[begin - 1][1], id=expected[begin - 1][0]) if begin else None
                page = uow.found_members.page(organization_id, part=part, role=role, after=after, limit=26)
                assert [one.id for one in page] == [row[0] for row in expected[begin : begin + 26]], part


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.long
def test_a_search_among_many_members_reads_few_pages(
    large: tuple[Connection, dict[str, object]], tools: Tools, mode: str
) -> None:
    connection, organization = large
    organization_id = organization["organization_id"]
    assert isinstance(organization_id, UUID)
    connection.execute(f"SET plan_cache_mode = {mode}".encode())

    # Each is an entry of an index or, where PostgreSQL does not know yet that it is visible, a page of the table.
    looked_at_max = 2 * found_members.LOOKED_AT + found_members.PROBED + COUNTED
    for part, role in product(("2999@example", "nowhere", "zzz", "@example.org"), ("", MEMBER)):
        with explained_statements(connection) as plans, connection.transaction():
            uow = PostgresUnitOfWork(connection, BACKGROUND, tools)
            uow.found_members.page(organization_id, part=part, role=role, after=None, limit=26)
            uow.found_members.count(organization_id, part=part, role=role, counted_max=COUNTED)

        assert sum(map(pages_read, plans)) <= looked_at_max + PAGES_OF_LIST, (part, role)
        # The accounts of the page alone.
        assert sum(rows_read(plan, "users") for plan in plans) <= 26, (part, role)


def membership_of(organization_id: UUID, user_id: UUID, role: str, at: datetime) -> Membership:
    return Membership(id=new_id(), organization_id=organization_id, user_id=user_id, role=role, created_at=at)
