"""The rows of `ops/seed`: users who can sign in and their activity, the same in every run, and never twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from adapters.crypto.passwords import Argon2PasswordHasher
from adapters.postgres.driver.connection import RawConnection
from ops.seeding import __main__ as command
from ops.seeding.copying import BATCH_ROWS, seed
from ops.seeding.population import PASSWORD, PERIOD, CannotSeed, Plan, account_identifier, identifier, password_hash
from ops.seeding.rows import tables
from ops.seeding.shares import Shares, shares
from ops.seeding.unburdened import without_indexes

pytestmark = pytest.mark.long

UNTIL = datetime(2026, 1, 31, tzinfo=UTC)
PLAN = Plan(
    users=60,
    login_events=400,
    organizations=31,
    memberships=31 * 12,
    services=40,
    end_users=200,
    invitations=48,
    audit_entries=80,
    sessions=90,
    events=70,
    until=UNTIL,
)
# The indexes, constraints and triggers of all tables, and whether they are enabled.
BURDENS = """
    SELECT (SELECT array_agg(pg_get_indexdef(indexrelid) ORDER BY indexrelid::regclass::text) FROM pg_index
            WHERE indrelid > 16384),
           (SELECT array_agg((conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated)::text
                             ORDER BY conrelid::regclass::text, conname)
            FROM pg_constraint WHERE conrelid > 16384),
           (SELECT array_agg((tgrelid::regclass, tgname, tgenabled)::text ORDER BY tgname, tgrelid::regclass::text)
            FROM pg_trigger
            WHERE NOT tgisinternal)
"""
TIERS = ["00000000-0000-7000-8000-000000000001"]


@pytest.fixture
def connection(raw_connection: RawConnection) -> RawConnection:
    """A connection in autocommit mode."""
    return raw_connection


def seed_quietly(connection: RawConnection, plan: Plan = PLAN, **options: int) -> list[str]:
    """Seed, and return the reports."""
    reports: list[str] = []
    seed(connection, plan, reports.append, **options)
    return reports


def row_of(connection: RawConnection, query: Any) -> tuple[Any, ...]:
    """Return one row."""
    row = connection.execute(query).fetchone()
    assert row is not None
    return row


def one(connection: RawConnection, query: Any) -> Any:
    """Return one value."""
    return row_of(connection, query)[0]


def checksum(table: str) -> str:
    """Return a query for a value that differs when any row of a table does."""
    return f"SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM {table} AS t"


def test_every_table_gets_as_many_rows_as_planned(connection: RawConnection) -> None:
    reports = seed_quietly(connection)

    counts = connection.execute(
        """
        SELECT (SELECT count(*) FROM users), (SELECT count(*) FROM login_events), (SELECT count(*) FROM organizations),
               (SELECT count(*) FROM memberships), (SELECT count(*) FROM audit_entries),
               (SELECT count(*) FROM services), (SELECT count(*) FROM service_users),
               (SELECT count(*) FROM invitations), (SELECT count(*) FROM sessions),
               (SELECT count(*) FROM events WHERE position = 0)
        """
    ).fetchone()
    assert counts == (60, 400, 31, 372, 80, 40, 200, 48, 90, 70)
    assert any(line.startswith("login_events: 400 of 400 (100%)") for line in reports)


def test_the_same_plan_makes_the_same_rows() -> None:
    first, second = ([list(table.lines(range(table.total))) for table in tables(PLAN, TIERS)] for _ in range(2))

    assert first == second


def test_a_batch_does_not_depend_on_those_before_it() -> None:
    plan = Plan(users=10, login_events=2 * BATCH_ROWS, until=UNTIL)
    events = next(table for table in tables(plan, TIERS) if table.name == "login_events")

    last = range(BATCH_ROWS, BATCH_ROWS + 50)

    assert list(events.lines(last)) == list(events.lines(last))
    assert set(events.lines(last)).isdisjoint(events.lines(range(50)))


def test_a_database_that_was_seeded_is_not_seeded_again(connection: RawConnection) -> None:
    seed_quietly(connection, Plan(users=1, until=UNTIL))

    with pytest.raises(CannotSeed, match="Use an empty one"):
        seed_quietly(connection)

    assert one(connection, "SELECT count(*) FROM users") == 1


def test_every_user_is_verified_and_has_the_password(connection: RawConnection) -> None:
    seed_quietly(connection)

    assert one(connection, "SELECT count(*) FROM users WHERE email_verified_at IS NULL") == 0
    assert one(connection, "SELECT array_agg(DISTINCT password_hash) FROM users") == [password_hash()]
    assert one(connection, "SELECT count(*) FROM users WHERE email = 'person-60@seed.example'") == 1


async def test_the_hash_needs_no_upgrade() -> None:
    verdict = await Argon2PasswordHasher(places=1).verify(PASSWORD, password_hash())

    assert verdict.is_right
    assert not verdict.needs_upgrade


def test_every_organization_has_one_owner_and_members_of_all_built_in_roles(connection: RawConnection) -> None:
    seed_quietly(connection)

    owners = one(connection, "SELECT count(DISTINCT organization_id) FROM memberships WHERE role = 'owner'")
    roles = one(connection, "SELECT array_agg(DISTINCT role ORDER BY role) FROM memberships")

    assert owners == PLAN.organizations
    assert roles == ["admin", "member", "owner"]


def test_a_few_organizations_have_most_and_each_has_some() -> None:
    many = shares(1_000_000, 10_000, least=1, most=1_000_000)

    sizes = [many.size(organization) for organization in range(10_000)]

    assert sum(sizes) == 1_000_000
    assert 180_000 < sizes[0] < 220_000
    assert sizes[:100] == sorted(sizes[:100], reverse=True)
    assert min(sizes) > 1


@pytest.mark.parametrize(
    ("things", "organizations", "least", "most"), [(372, 31, 1, 60), (31 * 60, 31, 1, 60), (5, 5, 1, 9), (3, 9, 0, 1)]
)
def test_everything_is_divided_and_no_organization_gets_more_than_the_maximum(
    things: int, organizations: int, least: int, most: int
) -> None:
    each = Shares(things, organizations, least=least, most=most)

    sizes = [each.size(organization) for organization in range(organizations)]

    assert sum(sizes) == things
    assert all(least <= size <= most for size in sizes)
    places = [(organization, position) for organization, size in enumerate(sizes) for position in range(size)]
    assert [each.place(number) for number in range(things)] == places


def test_end_users_have_the_address_of_their_account_and_a_service_of_the_organization(
    connection: RawConnection,
) -> None:
    seed_quietly(connection)

    right = one(
        connection,
        """
        SELECT count(*)
        FROM   service_users l
        JOIN   users u    ON u.id = l.user_id AND u.email = l.email
        JOIN   services s ON s.id = l.service_id AND s.organization_id = l.organization_id
        WHERE  l.first_login_at <= l.last_login_at AND l.first_login_at >= u.created_at
        """,
    )
    assert right == PLAN.end_users


def test_half_of_the_invitations_are_past_their_lifetime_and_the_others_are_answered(connection: RawConnection) -> None:
    seed_quietly(connection)

    statuses = dict(connection.execute("SELECT status, count(*) FROM invitations GROUP BY status").fetchall())

    assert statuses == {"pending": 24, "accepted": 6, "rejected": 6, "cancelled": 6, "expired": 6}
    assert one(connection, "SELECT count(*) FROM invitations WHERE expires_at < '2026-01-31'") == PLAN.invitations
    assert one(connection, "SELECT count(*) FROM invitations WHERE answered_at < expires_at") == 18


def test_audit_entries_are_counted_as_the_counter_leaves_them(connection: RawConnection) -> None:
    seed_quietly(connection, replace(PLAN, audit_entries=500))

    counted = connection.execute("SELECT organization_id, kind, entries FROM audit_totals ORDER BY 1, 2").fetchall()

    entries = connection.execute(
        """
        SELECT   organization_id, kind, count(*)
        FROM     audit_entries, unnest(ARRAY['', action, target_type]) AS kind
        GROUP BY 1, 2
        ORDER BY 1, 2
        """
    )
    assert counted == entries.fetchall()
    last = one(connection, "SELECT id FROM audit_entries ORDER BY id DESC LIMIT 1")
    assert one(connection, "SELECT counted_through FROM audit_counting") == last


@pytest.mark.parametrize("bulk_rows_min", [1, 1_000_000])
def test_the_users_of_services_are_counted_with_and_without_triggers(
    connection: RawConnection, bulk_rows_min: int
) -> None:
    seed_quietly(connection, bulk_rows_min=bulk_rows_min)

    counted = connection.execute(
        "SELECT service_id, users FROM service_user_milestones WHERE user_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff'"
    )
    present = connection.execute("SELECT service_id, count(*) FROM service_users GROUP BY service_id")
    assert sorted(counted.fetchall()) == sorted(present.fetchall())
    assert one(connection, "SELECT count(*) FROM service_user_changes") == 0


@pytest.mark.parametrize("bulk_rows_min", [1, 1_000_000])
def test_the_members_of_organizations_are_counted_with_and_without_triggers(
    connection: RawConnection, bulk_rows_min: int
) -> None:
    seed_quietly(connection, bulk_rows_min=bulk_rows_min)

    counted = connection.execute("SELECT organization_id, members FROM membership_totals")
    present = connection.execute("SELECT organization_id, count(*) FROM memberships GROUP BY organization_id")
    assert sorted(counted.fetchall()) == sorted(present.fetchall())


def test_many_rows_come_without_indexes_which_are_the_same_afterwards(connection: RawConnection) -> None:
    burdens = row_of(connection, BURDENS)
    few = replace(PLAN, audit_entries=20)

    reports = seed_quietly(connection, few, bulk_rows_min=1)

    assert any(line.startswith("audit_entries: index 1 of ") for line in reports)
    assert any(line.startswith("service_users: foreign key 1 of ") for line in reports)
    assert row_of(connection, BURDENS) == burdens
    connection.execute("DELETE FROM organizations")
    assert one(connection, "SELECT count(*) FROM audit_entries") == 0


def test_both_ways_make_the_same_rows(connection: RawConnection) -> None:
    tables_filled = [table.name for table in tables(PLAN, TIERS)]
    seed_quietly(connection)
    one_by_one = [one(connection, checksum(name)) for name in tables_filled]
    connection.execute("DELETE FROM organizations; DELETE FROM users")

    seed_quietly(connection, bulk_rows_min=1)

    assert [one(connection, checksum(name)) for name in tables_filled] == one_by_one


def test_an_interruption_leaves_the_table_as_it_was(connection: RawConnection) -> None:
    burdens = row_of(connection, BURDENS)

    def fill_and_stop() -> None:
        with without_indexes(connection, "users", lambda _line: None):
            connection.execute(
                "INSERT INTO users (id, email, created_at, updated_at) VALUES (gen_random_uuid(), 'a', now(), now())"
            )
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill_and_stop()

    assert row_of(connection, BURDENS) == burdens
    assert one(connection, "SELECT count(*) FROM users") == 0


def test_rows_are_frozen_by_copy_only_in_an_empty_table_that_no_other_refers_to(connection: RawConnection) -> None:
    seed_quietly(connection, replace(PLAN, audit_entries=1))

    fresh = []
    for name in ("audit_entries", "users", "mfa_events"):
        with without_indexes(connection, name, lambda _line: None) as is_fresh:
            fresh.append(is_fresh)

    # The first has rows, and other tables refer to the second.
    assert fresh == [False, False, True]
    assert one(connection, "SELECT count(*) FROM audit_entries") == 1


def test_sign_ins_are_spread_over_the_period(connection: RawConnection) -> None:
    seed_quietly(connection)

    first, last = row_of(connection, "SELECT min(created_at), max(created_at) FROM login_events")

    assert UNTIL - PERIOD <= first < last < UNTIL
    assert (last - first) > PERIOD * 0.9


def test_sign_ins_resemble_those_of_many_users(connection: RawConnection) -> None:
    seed_quietly(connection, replace(PLAN, login_events=2_000))

    people, providers, risks, hours, refused, in_organizations = row_of(
        connection,
        """
        SELECT count(DISTINCT user_id), count(DISTINCT provider), array_agg(DISTINCT risk_score),
               count(DISTINCT extract(hour FROM created_at)), count(*) FILTER (WHERE NOT success),
               count(*) FILTER (WHERE organization_id <> user_id)
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


def test_ids_of_accounts_are_random_and_distinct() -> None:
    ids = [account_identifier(number) for number in range(10_000)]

    assert len(set(ids)) == 10_000
    assert {UUID(each).version for each in ids} == {4}
    assert ids != sorted(ids)


def test_ids_have_the_time_of_their_moment_and_are_distinct() -> None:
    ids = {identifier("organizations", number, 1_700_000_000_000) for number in range(10_000)}

    assert len(ids) == 10_000
    assert all(each.startswith("018bcfe568007") and each[16] in "89ab" and len(each) == 32 for each in ids)


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        ({"users": 0}, "1 user or more"),
        ({"memberships": 30}, "at least as many memberships"),
        ({"memberships": 31 * 60 + 1}, "at most organizations times users"),
        ({"organizations": 0, "memberships": 0, "end_users": 0}, "1 organization or more"),
        ({"services": 0}, "1 service or more"),
        ({"services": 1, "end_users": 61}, "organizations with services times users"),
    ],
)
def test_an_impossible_plan_is_refused(wrong: dict[str, int], advice: str) -> None:
    with pytest.raises(CannotSeed, match=advice):
        replace(PLAN, **wrong)


def test_the_command_accepts_numbers_with_separators() -> None:
    options = command._parser().parse_args(["--users", "1,000", "--organizations", "2_0", "--until", "2026-01-31"])

    assert command._plan(options) == Plan(users=1_000, organizations=20, memberships=100, until=UNTIL)
