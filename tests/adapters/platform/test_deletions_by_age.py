"""Each deletion by age, under clocks that are moved each way, deletes nothing that a right clock keeps.

The clocks of the database and of the server are moved apart and together, for a worker that runs, for one that took
the place of another, and for a server that starts. `tests/adapters/statements/test_deletions_by_age.py` finds a
deletion that is not in the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, Final, TypeAlias, cast
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.transaction import Tools
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from core.deletions import AgedRows
from core.ids import first_id_at
from core.key_certificates import SamlCertificate
from core.mail import mail as mails
from core.organizations.takeover_credentials import KEPT_FOR as ACTS_KEPT_FOR
from core.platform import ended_organizations, housekeeping
from core.platform.housekeeping import Leftover
from core.platform.log_months import Log
from core.privacy import anonymization
from core.scim import left_directories
from core.secrets import Secret
from core.services.services import Service
from core.sessions.origins import BACKGROUND
from core.sign_in.upstream.trials.trials import TrialSignIn
from tests.leftovers import DAY, DEVICE, IDS, KINDS, ORGANIZATION, USER, put_owners
from tests.machine_clocks import HOUR_SECONDS, MOVES, Machine, Server

NOW: Final = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
MINUTE: Final = timedelta(minutes=1)
SERVICE: Final = cast("Service", SimpleNamespace(organization_id=UUID(USER), id=UUID(DEVICE)))
GROUP, TOKEN, CONNECTION = (UUID(int=number) for number in (77, 78, 79))
FAR: Final = datetime(9999, 1, 1, tzinfo=UTC)
MONTHS_KEPT_FOR: Final = timedelta(days=90)
LATER: Final = datetime(2031, 12, 1, tzinfo=UTC) - (NOW - MONTHS_KEPT_FOR)

Delete: TypeAlias = Callable[[PostgresUnitOfWork], object]


@dataclass(frozen=True)
class Case:
    """What inserts rows that ended at times, what deletes the old ones, and what finds the times of those that stay."""

    insert: str
    left: str
    delete: Delete
    kept_for: timedelta = timedelta()


def _leftover(leftover: Leftover) -> Case:
    kind = KINDS[leftover]
    return Case(
        kind.insert,
        f"SELECT {kind.ends} FROM {leftover.value} WHERE {kind.ends} <> %(now)s ORDER BY 1",
        lambda uow: housekeeping.sweep(uow, leftover, leftover.kept_for, 10),
        kind.kept_for,
    )


def _new_trial(uow: PostgresUnitOfWork) -> None:
    trial = TrialSignIn(
        id=uow.randomness.new_id(),
        organization_id=UUID(ORGANIZATION),
        organization_slug="",
        connection_id=CONNECTION,
        user_id=None,
        session_id=None,
        visit_hash=b"x",
        client_id=None,
        tested_as=b"",
        expires_at=FAR,
    )
    uow.trial_sign_ins.add(trial, trial.id.bytes)


def _new_certificate(uow: PostgresUnitOfWork) -> None:
    certificate = SamlCertificate(
        id=uow.randomness.new_id(),
        public_key="",
        valid_from=uow.now,
        valid_until=uow.now,
        is_active=False,
        created_at=datetime(1999, 1, 1, tzinfo=UTC),
        published_until=FAR,
    )
    uow.saml_certificates.replace_active(
        SERVICE.organization_id, SERVICE.id, certificate, private_pem=Secret("-"), previous_published_until=uow.now
    )


CASES: Final[Mapping[AgedRows, Case]] = {
    AgedRows.MAILS: Case(
        "INSERT INTO mails (id, organization_id, recipient, template, state, attempts, due_at, created_at)"
        " SELECT gen_random_uuid(), %(organization)s, '', 'test', 'sent', 1, ended, ended FROM ends",
        "SELECT created_at FROM mails ORDER BY 1",
        lambda uow: mails.delete_old(uow, 10),
        mails.RETENTION,
    ),
    AgedRows.ACTIVE_DAYS: Case(
        "INSERT INTO active_days (user_id, scope, day) SELECT %(user)s, %(organization)s, ended FROM ends",
        "SELECT day::timestamptz FROM active_days ORDER BY 1",
        lambda uow: uow.sign_in_counts.forget_days(uow.now.date(), 10),
    ),
    AgedRows.CLOSED_ACCOUNTS: Case(
        "INSERT INTO users (id, email, created_at, updated_at, closed_at)"
        " SELECT gen_random_uuid(), gen_random_uuid() || '@example.com', ended, ended, ended FROM ends",
        "SELECT closed_at FROM users WHERE closed_at IS NOT NULL AND anonymized_at IS NULL ORDER BY 1",
        anonymization.forget_next_closed,
        anonymization.REOPENABLE_FOR,
    ),
    AgedRows.LEFT_DIRECTORIES: Case(
        """
        , owners AS (
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            SELECT gen_random_uuid(), 'left-' || row_number() OVER (ORDER BY ended), '', 'active', t.id, ended, ended
            FROM   ends, (SELECT id FROM tiers LIMIT 1) t
            RETURNING id, created_at),
          left_at AS (
            INSERT INTO directory_ends (organization_id, ended_at) SELECT id, created_at FROM owners)
        INSERT INTO directory_groups (id, organization_id, display_name, created_at, updated_at)
        SELECT gen_random_uuid(), id, 'left', created_at, created_at FROM owners
        """,
        "SELECT created_at FROM directory_groups WHERE display_name = 'left' ORDER BY 1",
        left_directories.forget_next,
        left_directories.KEPT_FOR,
    ),
    AgedRows.DELETED_ORGANIZATIONS: Case(
        "INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at, deletes_at,"
        " status_before_deletion)"
        " SELECT gen_random_uuid(), 'gone-' || row_number() OVER (ORDER BY ended), '', 'deleting', t.id, ended, ended,"
        " ended, 'active' FROM ends, (SELECT id FROM tiers LIMIT 1) t",
        "SELECT deletes_at FROM organizations WHERE status = 'deleting' ORDER BY 1",
        ended_organizations.delete_next,
    ),
    AgedRows.EXPIRED_OFFERS: Case(
        "INSERT INTO service_customers (id, vendor_id, service_id, offered_slug, offered_to, offer_expires_at,"
        " external_id, created_at)"
        " SELECT gen_random_uuid(), %(user)s, %(device)s, 'customer', %(organization)s, ended, ended::text, ended"
        " FROM ends",
        "SELECT offer_expires_at FROM service_customers ORDER BY 1",
        lambda uow: uow.service_customers.taken(
            SERVICE, slug="customer", external_id=None, other_than=None, at=uow.now
        ),
    ),
    AgedRows.EXPIRED_TRIALS: Case(
        f"""
        , connection AS (
            INSERT INTO upstream_connections (id, organization_id, type, name, scopes, attribute_mapping, trust_mfa,
                                              enabled, created_at, updated_at)
            VALUES ('{CONNECTION}', %(organization)s, 'saml', 'Acme', '{{}}', '{{}}', false, false, now(), now()))
        INSERT INTO trial_sign_ins (organization_id, id, connection_id, user_id, session_id, state_hash, tested_as,
                                    expires_at)
        SELECT %(organization)s, gen_random_uuid(), '{CONNECTION}', %(user)s, gen_random_uuid(),
               gen_random_uuid()::text::bytea, '', ended
        FROM   ends
        """,
        "SELECT expires_at FROM trial_sign_ins WHERE expires_at < '9000-01-01' ORDER BY 1",
        _new_trial,
    ),
    AgedRows.RETIRED_CERTIFICATES: Case(
        "INSERT INTO saml_certificates (id, organization_id, service_id, public_key, private_key_sealed, valid_from,"
        " valid_until, is_active, published_until, created_at)"
        " SELECT gen_random_uuid(), %(user)s, %(device)s, '', '', ended, ended, false, ended, ended FROM ends",
        "SELECT published_until FROM saml_certificates WHERE created_at > '2000-01-01' ORDER BY 1",
        _new_certificate,
    ),
    AgedRows.RETIRED_SIGNING_KEYS: Case(
        "INSERT INTO signing_keys (kid, state, public_pem, private_pem_sealed, created_at, published_until)"
        " SELECT gen_random_uuid()::text, 'retired', '', '', ended, ended FROM ends",
        "SELECT published_until FROM signing_keys WHERE state = 'retired' ORDER BY 1",
        lambda uow: uow.signing_keys.forget(uow.now),
    ),
    # Its end is the token's, which is the same for all notes: the later one.
    AgedRows.NOTED_ACTS: Case(
        f"""
        , token AS (
            INSERT INTO scim_tokens (id, organization_id, name, prefix, token_hash, created_at)
            SELECT '{TOKEN}', %(organization)s, '', '', '', max(ended) FROM ends)
        INSERT INTO recent_acts (organization_id, credential_id, act, object_id, user_id, done_at)
        SELECT %(organization)s, '{TOKEN}', 'put_in', '{GROUP}', %(user)s, ended FROM ends
        """,
        "SELECT done_at FROM recent_acts ORDER BY 1",
        lambda uow: uow.directory_groups.remove_members(UUID(ORGANIZATION), GROUP, [UUID(USER)], token_id=TOKEN),
        ACTS_KEPT_FOR,
    ),
    # Months long after those that the migrations have made; one of them begins when the other is kept no longer.
    AgedRows.LOG_MONTHS: Case(
        f"SELECT add_log_month('webhook_attempts', (ended + interval '{LATER.total_seconds():.0f} s')::date) FROM ends",
        "SELECT first_id FROM log_partitions WHERE log = 'webhook_attempts' AND first_id IS NOT NULL ORDER BY 1",
        lambda uow: uow.log_months.drop(
            Log.WEBHOOK_ATTEMPTS, first_id_at(uow.now + LATER - MONTHS_KEPT_FOR), only_empty=False
        ),
        MONTHS_KEPT_FOR,
    ),
}


@dataclass(frozen=True)
class Believed:
    """What a process believes: its time, and whether it may delete by it."""

    now: datetime
    is_settled: bool


def _believed() -> Iterator[Believed]:
    """Yield what processes believe while clocks are moved, each once."""
    seen = set[Believed]()
    for seconds in MOVES:
        for moved in ("the database", "the server", "both"):
            for state in ("runs", "replaced", "starts"):
                if (moved, state) == ("both", "starts"):
                    # Where both clocks are wrong before a server starts, nothing can tell it.
                    continue
                one = _of(moved, state, seconds)
                if one not in seen:
                    seen.add(one)
                    yield one


def _of(moved: str, state: str, seconds: float) -> Believed:
    machine = Machine(now=NOW)
    server = Server(machine)
    if state != "starts":
        machine.compare()
        machine.clock.share()
    if moved != "the database":
        machine.jump(seconds)
    if state == "replaced":
        server.replace(1)
    elif state == "starts":
        server = Server(machine)
    # The first clock is looked at where nothing was shared, as by a process that starts.
    machine.compare(database_error_seconds=0 if moved == "the server" else seconds)
    return Believed(machine.clock(), machine.clock.is_settled())


BELIEVED: Final = tuple(_believed())
ALL: Final[Mapping[str, Case]] = {leftover.name: _leftover(leftover) for leftover in Leftover} | {
    rows.name: case for rows, case in CASES.items()
}


@pytest.fixture(autouse=True)
def owner(connection: Connection) -> None:
    """The owners of all rows."""
    put_owners(connection, NOW)


def deleted_under(connection: Connection, tools: Tools, case: Case, believed: Believed) -> None:
    """Run a deletion twice as a process that believes that."""
    of_process = replace(tools, clock=lambda: believed.now, is_settled=lambda: believed.is_settled)
    for _ in range(2):
        with connection.transaction():
            case.delete(PostgresUnitOfWork(connection, BACKGROUND, of_process))


def test_wherever_a_clock_is_moved_nothing_is_deleted_that_a_right_one_keeps(
    connection: Connection, tools: Tools, subtests: pytest.Subtests
) -> None:
    for name, case in ALL.items():
        with subtests.test(name):
            ends = NOW - case.kept_for
            kept = ends + (DAY if name in ("ACTIVE_DAYS", "NOTED_ACTS") else MINUTE)
            _put(connection, case, kept)
            before = _left(connection, case)
            assert before

            for believed in BELIEVED:
                deleted_under(connection, tools, case, believed)

                assert _left(connection, case) == before, believed


def test_what_a_right_clock_does_not_keep_is_deleted_when_the_time_is_settled(
    connection: Connection, tools: Tools, subtests: pytest.Subtests
) -> None:
    for name, case in ALL.items():
        with subtests.test(name):
            _put(connection, case, NOW - case.kept_for - 2 * DAY)

            deleted_under(connection, tools, case, Believed(NOW, is_settled=False))
            before = len(_left(connection, case))
            deleted_under(connection, tools, case, Believed(NOW, is_settled=True))

            assert before > 0
            assert len(_left(connection, case)) < before


def test_each_deletion_is_tested_and_clocks_are_moved_so_that_all_is_believed() -> None:
    assert {*CASES, AgedRows.LEFTOVERS} == set(AgedRows)
    assert Believed(NOW, is_settled=True) in BELIEVED
    for seconds in MOVES:
        moved = NOW + timedelta(seconds=seconds)
        assert Believed(moved, is_settled=seconds < 0) in BELIEVED
        assert Believed(moved, is_settled=False) in BELIEVED
    assert HOUR_SECONDS in MOVES


def _put(connection: Connection, case: Case, *ends: datetime) -> None:
    connection.execute(
        b"WITH ends AS (SELECT unnest(%(ends)s::timestamptz[]) AS ended) " + case.insert.encode(),
        {**IDS, "ends": list(ends)},
    )


def _left(connection: Connection, case: Case) -> list[Any]:
    return connection.execute(case.left.encode(), {"now": NOW}).fetchall()
