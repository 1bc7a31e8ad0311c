"""What `ops/seed` makes: people who can sign in and what they did, the same in every run, and never twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from adapters.crypto.passwords import Argon2PasswordHasher
from ops.seeding import __main__ as command
from ops.seeding.copying import BATCH_ROWS, seed
from ops.seeding.population import PASSWORD, PERIOD, CannotSeed, Plan, identifier, password_hash
from ops.seeding.rows import tables

if TYPE_CHECKING:
    from adapters.postgres.pool import Connection

UNTIL = datetime(2026, 1, 31, tzinfo=UTC)
PLAN = Plan(users=60, login_events=400, organizations=31, memberships=31 * 12, audit_entries=80, until=UNTIL)
TIERS = ["00000000-0000-7000-8000-000000000001"]


def seed_quietly(connection: Connection, plan: Plan = PLAN) -> list[str]:
    """Seed, and give what was said meanwhile."""
    said: list[str] = []
    seed(connection, plan, said.append)
    return said


def row_of(connection: Connection, query: Any) -> tuple[Any, ...]:
    """Ask for one row."""
    row = connection.execute(query).fetchone()
    assert row is not None
    return row


def one(connection: Connection, query: Any) -> Any:
    """Ask for one value."""
    return row_of(connection, query)[0]


def test_every_table_gets_as_many_rows_as_were_asked_for(connection: Connection) -> None:
    said = seed_quietly(connection)

    counts = connection.execute(
        """
        SELECT (SELECT count(*) FROM users), (SELECT count(*) FROM login_events), (SELECT count(*) FROM organizations),
               (SELECT count(*) FROM memberships), (SELECT count(*) FROM audit_entries)
        """
    ).fetchone()
    assert counts == (60, 400, 31, 372, 80)
    assert any(line.startswith("login_events: 400 of 400 (100%)") for line in said)


def test_the_same_plan_makes_the_same_rows() -> None:
    first, second = ([list(table.lines(range(table.total))) for table in tables(PLAN, TIERS)] for _ in range(2))

    assert first == second


def test_a_batch_does_not_depend_on_those_before_it() -> None:
    plan = Plan(users=10, login_events=2 * BATCH_ROWS, until=UNTIL)
    events = next(table for table in tables(plan, TIERS) if table.name == "login_events")

    last = range(BATCH_ROWS, BATCH_ROWS + 50)

    assert list(events.lines(last)) == list(events.lines(last))
    assert set(events.lines(last)).isdisjoint(events.lines(range(50)))


def test_a_database_that_was_seeded_is_not_seeded_again(connection: Connection) -> None:
    seed_quietly(connection, Plan(users=1, until=UNTIL))

    with pytest.raises(CannotSeed, match="Take an empty one"):
        seed_quietly(connection)

    assert one(connection, "SELECT count(*) FROM users") == 1


def test_everybody_is_verified_and_has_the_password(connection: Connection) -> None:
    seed_quietly(connection)

    assert one(connection, "SELECT count(*) FROM users WHERE email_verified_at IS NULL") == 0
    assert one(connection, "SELECT array_agg(DISTINCT password_hash) FROM users") == [password_hash()]
    assert one(connection, "SELECT count(*) FROM users WHERE email = 'person-60@seed.example'") == 1


async def test_their_hash_is_one_of_today() -> None:
    verdict = await Argon2PasswordHasher(places=1).verify(PASSWORD, password_hash())

    assert verdict.is_right
    assert not verdict.needs_upgrade


def test_every_organization_has_one_owner_and_members_of_all_built_in_roles(connection: Connection) -> None:
    seed_quietly(connection)

    owners = one(connection, "SELECT count(DISTINCT organization_id) FROM memberships WHERE role = 'owner'")
    roles = one(connection, "SELECT array_agg(DISTINCT role ORDER BY role) FROM memberships")

    assert owners == PLAN.organizations
    assert roles == ["admin", "member", "owner"]


def test_what_happened_lies_within_the_period_and_after_its_beginning(connection: Connection) -> None:
    seed_quietly(connection)

    first, last = row_of(connection, "SELECT min(created_at), max(created_at) FROM login_events")

    assert UNTIL - PERIOD <= first < last < UNTIL
    assert (last - first) > PERIOD * 0.9


def test_sign_ins_look_like_those_of_many_people(connection: Connection) -> None:
    seed_quietly(connection, replace(PLAN, login_events=2_000))

    people, providers, risks, hours, refused, in_organizations = row_of(
        connection,
        """
        SELECT count(DISTINCT user_id), count(DISTINCT provider), array_agg(DISTINCT risk_score),
               count(DISTINCT extract(hour FROM created_at)), count(*) FILTER (WHERE NOT success),
               count(*) FILTER (WHERE organization_id IS NOT NULL)
        FROM   login_events
        """,
    )

    assert people > PLAN.users * 0.8
    assert providers >= 6
    assert {0, 30} < set(risks)
    assert all(0 <= risk <= 100 for risk in risks)
    assert hours > 18
    assert 80 < refused < 320
    assert 300 < in_organizations < 1_000


def test_ids_are_those_of_their_moment_and_never_meet() -> None:
    ids = {identifier("users", number, 1_700_000_000_000) for number in range(10_000)}

    assert len(ids) == 10_000
    assert all(each.startswith("018bcfe568007") and each[16] in "89ab" and len(each) == 32 for each in ids)


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        ({"users": 0}, "1 user or more"),
        ({"memberships": 30}, "at least as many memberships"),
        ({"memberships": 31 * 60 + 1}, "at most organizations times users"),
        ({"organizations": 0, "memberships": 0}, "1 organization or more"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(wrong: dict[str, int], advice: str) -> None:
    with pytest.raises(CannotSeed, match=advice):
        replace(PLAN, **wrong)


def test_the_command_takes_numbers_as_people_write_them() -> None:
    options = command._parser().parse_args(["--users", "1,000", "--organizations", "2_0", "--until", "2026-01-31"])

    assert command._plan(options) == Plan(users=1_000, organizations=20, memberships=100, until=UNTIL)
