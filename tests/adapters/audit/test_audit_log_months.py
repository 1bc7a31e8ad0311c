"""The audit log by month: which months its statements read, with two years of entries."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, LiteralString, NamedTuple, TypeAlias
from uuid import UUID

import psycopg
import pytest

from adapters.postgres.audit.chain import LOOKED_AT_MAX, ORGANIZATIONS_MAX, PLACE, UNSEALED, WAITING_IN_PART
from adapters.postgres.audit.siem import WAITING_SINCE
from adapters.postgres.driver.connection import Connection
from adapters.postgres.platform import polling
from adapters.postgres.privacy import personal_data
from core.audit import chain
from core.audit.audit_log import AuditLogFilter
from core.audit.chain import SEALED_WITHIN, LogPart
from core.audit.entry_search import EntrySearch
from core.audit.siem import SiemOptions, SiemProvider
from core.audit.siem_stream import LeasedStream, SiemTarget
from core.billing.provider import BillingMode
from core.events.actions import AuditAction
from core.ids import FIRST_ID, LAST_ID, first_id_at
from core.log_times import LogTimes
from core.platform import log_months, overlooked
from core.platform.log_months import Log
from ports.unit_of_work import UnitOfWork
from tests.clock import SettableClock
from tests.log_partitions import MONTHS, PARTITIONS, id_at, make_months, most_read, partitions_read, times
from tests.marks import mark_due
from tests.plans import blocks_read, explained, explained_statements, rows_read, tables_read_whole
from tests.world.builder import Builder

Transact = Callable[..., Any]


LOG: Final = Log.AUDIT_ENTRIES
DAY: Final = timedelta(days=1)
PER_MONTH: Final = 200
EMAIL: Final = "ada@example.com"
TARGET: Final = "0191d3c1-0000-7000-8000-000000000002"
NOW: Final = MONTHS[-1] + timedelta(days=9)
# Positions of entries in the eleventh month.
AFTER: Final = 10 * PER_MONTH + 20

THIS_WEEK: Final = LogPart(since_id=first_id_at(NOW - SEALED_WITHIN), end_id=LAST_ID, by_marks=True)
# Organizations with a backlog in each month, more than have their turns at once.
WAITING_ORGANIZATIONS: Final = 2 * ORGANIZATIONS_MAX
BACKLOG_PER_MONTH: Final = 2
BATCH_ENTRIES: Final = 64


class Years(NamedTuple):
    """An organization and an actor whose entries are in all months."""

    acme: UUID
    ada: UUID


Read: TypeAlias = "Callable[[UnitOfWork, Years], object]"


@pytest.fixture
def years(builder: Builder, connection: Connection, clock: SettableClock) -> Years:
    """An organization with sealed entries in all months, of which the last ten entries are not sealed yet."""
    clock.now = NOW
    make_months(connection, LOG)
    acme, bolt = builder.organization("acme"), builder.organization("bolt")
    ada = builder.user(EMAIL)
    moments = times(PER_MONTH)
    for organization_id, share in ((acme, moments), (bolt, moments[::4])):
        connection.execute(
            """
            INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id, ip_address,
                                       request_id, success, details, created_at)
            SELECT id, %(organization_id)s, CASE WHEN n %% 3 > 0 THEN %(user_id)s END,
                   CASE n %% 2 WHEN 0 THEN 'plan.created' ELSE 'plan.updated' END, 'plan',
                   CASE n %% 20 WHEN 0 THEN %(target_id)s ELSE 'x' END, '192.0.2.' || n %% 5, 'request-' || n, true,
                   CASE n %% 50 WHEN 0 THEN '{"email": "ada@example.com"}' ELSE '{}' END::jsonb, created_at
            FROM   unnest(%(ids)s::uuid[], %(times)s::timestamptz[]) WITH ORDINALITY AS one (id, created_at, n)
            """,
            {
                "organization_id": organization_id,
                "user_id": ada,
                "target_id": TARGET,
                "ids": [id_at(moment, 1 if organization_id == acme else 2) for moment in share],
                "times": list(share),
            },
        )
    connection.execute(
        """
        INSERT INTO audit_seals (organization_id, position, entry_id, hash, digests, salts)
        SELECT organization_id, row_number() OVER (PARTITION BY organization_id ORDER BY id), id, 'x', '{}', '{}'
        FROM   audit_entries
        """
    )
    connection.execute(
        "DELETE FROM audit_seals WHERE organization_id = %s AND position > %s", (acme, len(moments) - 10)
    )
    connection.execute(
        """
        UPDATE audit_entries e SET position = s.position FROM audit_seals s
        WHERE  s.organization_id = e.organization_id AND s.entry_id = e.id
        """
    )
    connection.execute(
        """
        INSERT INTO audit_chains (organization_id, sealed_through, head, sealed_at)
        SELECT organization_id, max(position), 'x', now() FROM audit_seals GROUP BY 1
        """
    )
    mark_due(connection, acme)
    connection.execute("VACUUM ANALYZE audit_entries, audit_seals")
    return Years(acme, ada)


def stream(years: Years) -> LeasedStream:
    """Return a stream of the organization that stands in the eleventh month."""
    target = SiemTarget(
        organization_id=years.acme,
        provider=SiemProvider.HTTP,
        endpoint="https://siem.example.com",
        token=None,
        options=SiemOptions(),
    )
    return LeasedStream(
        id=FIRST_ID,
        organization_id=years.acme,
        target=target,
        event_filter=None,
        starts_at=None,
        position=AFTER,
        failures=0,
        leased_until=NOW,
    )


def unsealed(uow: UnitOfWork, years: Years) -> object:
    return uow.audit_chains.unsealed({years.acme: 5}, fresh_since=NOW, part=THIS_WEEK)


def found(search: EntrySearch) -> Read:
    return lambda uow, years: uow.audit_searches.find(years.acme, search, limit=25)


def of_month(**conditions: Any) -> EntrySearch:
    """Return a search within the sixth month, of which the ids around those times are too."""
    return EntrySearch(times=LogTimes(since=MONTHS[5] + DAY, until=MONTHS[6] - DAY), **conditions)


# What is read, and of how many partitions one statement may read rows or an index. The newest entries begin with the
# partition after the last month, which is empty, and the months ahead, of which there are none here.
READS: Final[dict[str, tuple[Read, int]]] = {
    "the first page": (lambda uow, y: uow.audit_log.page(y.acme, AuditLogFilter(), limit=50, offset=0), 2),
    "the first page of an action": (
        lambda uow, y: uow.audit_log.page(y.acme, AuditLogFilter(action=AuditAction.PLAN_CREATED), limit=50, offset=0),
        2,
    ),
    "a page within three months": (
        lambda uow, y: uow.audit_log.page(y.acme, AuditLogFilter(), limit=50, offset=2 * PER_MONTH),
        4,
    ),
    "counting the next entries": (lambda uow, _: uow.audit_log.count_next(LAST_ID, 100), 2),
    "whose turn it is to be sealed": (lambda uow, _: uow.audit_chains.take_turns(THIS_WEEK), 2),
    "the entries to seal": (unsealed, 2),
    "what waits without a mark": (lambda uow, _: overlooked.find(uow, overlooked.FIRST_TURN), 2),
    "the end of the chain": (lambda uow, y: uow.audit_chains.end(y.acme), 0),
    "the chains of all": (lambda uow, _: uow.audit_chains.of_organizations(None), 0),
    "the backlog": (lambda uow, _: uow.audit_chains.backlog(5), 0),
    "a page of an export": (
        lambda uow, y: uow.sealed_entries.page(y.acme, after=AFTER, through=50 * PER_MONTH, limit=100),
        1,
    ),
    "a page of an export of two months": (
        lambda uow, y: uow.sealed_entries.page(y.acme, after=AFTER, through=50 * PER_MONTH, limit=PER_MONTH),
        2,
    ),
    "the entries for a SIEM": (lambda uow, y: uow.siem_streams.events(stream(y), through=AFTER + 100), 1),
    "where a SIEM begins": (lambda uow, y: uow.siem_streams.position_before(y.acme, first_id_at(MONTHS[5])), 3),
    "the entries that were just sealed": (
        lambda uow, y: uow.audit_searches.sealed_after(
            y.acme, EntrySearch(), after=AFTER, through=AFTER + 100, limit=100
        ),
        1,
    ),
    "an entry": (lambda uow, y: uow.audit_searches.entry(y.acme, id_at(MONTHS[5] + timedelta(hours=1))), 1),
    "a search in a month": (found(of_month()), 1),
    "a search for an actor in a month": (found(of_month(actor="system")), 1),
    "a search for a request in a month": (found(of_month(request_id="request-1300")), 1),
    "a search for a target in a month": (found(of_month(target_type="plan", target_id=TARGET)), 1),
    "a search for an address and an action in a month": (
        found(of_month(ip_address="192.0.2.1", action="plan.created")),
        1,
    ),
    "the next part of a file of a month": (
        lambda uow, y: uow.audit_searches.find(y.acme, of_month(), limit=100, is_counted=False),
        1,
    ),
    "the entries of a person": (lambda uow, y: uow.person_records.entries(y.acme, y.ada, limit=10), PARTITIONS),
}


@pytest.mark.one_server
def test_each_statement_reads_the_months_that_it_needs(
    years: Years, connection: Connection, transact: Transact
) -> None:
    transact(lambda uow: uow.audit_log.count_next(id_at(MONTHS[-1] + timedelta(hours=40)), 100_000))
    too_many: dict[str, int] = {}

    for name, (read, partitions_max) in READS.items():
        with explained_statements(connection) as plans:
            transact(read, years)
        assert plans, name
        if (partitions := most_read(plans, LOG)) > partitions_max:
            too_many[name] = partitions

    assert too_many == {}


@pytest.mark.one_server
def test_finding_what_is_due_reads_this_month(years: Years, connection: Connection) -> None:
    values = polling.parameters(now=NOW, events_since=NOW, mode=BillingMode.SANDBOX)

    assert len(partitions_read(explained(connection, polling.NEXT, values), LOG)) <= 2


@pytest.mark.one_server
def test_sealing_changes_the_months_of_its_entries(years: Years, connection: Connection) -> None:
    entry_id = id_at(times(PER_MONTH)[-1])
    plan = explained(
        connection,
        PLACE,
        {
            "organization_ids": [years.acme],
            "ids": [entry_id],
            "positions": [9_999],
            "of": [years.acme],
            "first_id": entry_id,
            "last_id": entry_id,
        },
    )

    assert partitions_read(plan, LOG) == {"audit_entries_2028_12"}
    assert connection.execute("SELECT id FROM audit_entries WHERE position = 9999").fetchall() == [(entry_id,)]


@pytest.fixture
def backlog(builder: Builder, connection: Connection, clock: SettableClock) -> int:
    """Organizations whose entries of all months wait to be sealed, without marks; returns how many they are."""
    clock.now = NOW
    make_months(connection, LOG)
    organizations = [builder.organization(f"org-{number}") for number in range(WAITING_ORGANIZATIONS)]
    for number, organization_id in enumerate(organizations):
        moments = times(BACKLOG_PER_MONTH)
        connection.execute(
            """
            INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, success, details,
                                       created_at)
            SELECT id, %s, 'plan.created', 'plan', 'x', true, '{}', created_at
            FROM   unnest(%s::uuid[], %s::timestamptz[]) AS one (id, created_at)
            """,
            (organization_id, [id_at(moment, number + 1) for moment in moments], list(moments)),
        )
    connection.execute("VACUUM ANALYZE audit_entries")
    return WAITING_ORGANIZATIONS * len(times(BACKLOG_PER_MONTH))


@pytest.mark.one_server
def test_a_batch_of_a_backlog_in_all_months_reads_its_entries_and_no_more(
    backlog: int, connection: Connection, transact: Transact
) -> None:
    parts = transact(chain.parts)
    assert len(parts) == PARTITIONS
    for part in parts[1:3]:
        values: dict[str, Any] = {"since_id": part.since_id, "end_id": part.end_id}
        waiting = explained(connection, WAITING_IN_PART, values | {"after": FIRST_ID, "limit": LOOKED_AT_MAX})
        organization_ids = transact(lambda uow, part=part: uow.audit_chains.take_turns(part)).waiting
        share = BATCH_ENTRIES // ORGANIZATIONS_MAX
        unsealed = [
            explained(
                connection,
                UNSEALED,
                values
                | {
                    "organization_id": organization_id,
                    "share": share,
                    "fresh_share": share,
                    "fresh_since": NOW,
                },
            )
            for organization_id in organization_ids
        ]

        assert len(organization_ids) == ORGANIZATIONS_MAX
        # A few blocks for each organization, and for each entry its place in an index and its row.
        assert blocks_read(waiting) <= 4 * ORGANIZATIONS_MAX
        assert sum(map(blocks_read, unsealed)) <= 6 * ORGANIZATIONS_MAX + 6 * BATCH_ENTRIES
        assert sum(rows_read(plan, LOG.value) for plan in unsealed) <= 3 * BATCH_ENTRIES


def test_sealing_old_months_takes_no_turn_of_what_is_new(
    backlog: int, connection: Connection, transact: Transact
) -> None:
    first_month = transact(chain.parts)[1]
    new_ids = connection.execute("SELECT id FROM organizations ORDER BY id").fetchall()
    for number, (organization_id,) in enumerate(new_ids):
        mark_due(connection, organization_id)
        connection.execute(
            """
            INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, success, details,
                                       created_at)
            VALUES (%s, %s, 'plan.created', 'plan', 'x', true, '{}', %s)
            """,
            (id_at(NOW, 1_000 + number), organization_id, NOW),
        )

    took = list[UUID]()
    for _ in range(WAITING_ORGANIZATIONS // ORGANIZATIONS_MAX):
        took += transact(lambda uow: uow.audit_chains.take_turns(THIS_WEEK)).waiting
        transact(lambda uow: uow.audit_chains.take_turns(first_month))

    assert took == [organization_id for (organization_id,) in new_ids]


def test_the_parts_of_the_log_have_each_entry_once(backlog: int, transact: Transact) -> None:
    parts = transact(chain.parts)
    assert [parts[0].since_id, *(part.end_id for part in parts)] == [*(part.since_id for part in parts), LAST_ID]
    sealed = 0

    for part in parts:
        while done := transact(chain.seal_next, BATCH_ENTRIES, (), part):
            sealed += done

    assert sealed == backlog
    assert transact(chain.seal_next, BATCH_ENTRIES) == 0


@pytest.mark.one_server
def test_the_first_entry_that_a_siem_waits_for_is_found_by_its_seal(years: Years, connection: Connection) -> None:
    plan = explained(connection, WAITING_SINCE, {"organization_id": years.acme, "position": AFTER})

    assert partitions_read(plan, LOG) == {"audit_entries_2027_10"}


# What forgetting a person reads and changes.
OF_ALL_MONTHS: Final[tuple[LiteralString, ...]] = (
    personal_data.DETAILS,
    *(find for find, _ in personal_data.ORIGINS_IN_LOGS if "audit_entries" in find),
    *(change for _, changes in personal_data.ADDRESSES_IN_LOGS for change in changes if "audit_entries" in change),
)
OF_ENTRIES: Final[tuple[LiteralString, ...]] = tuple(
    change for find, changes in personal_data.ORIGINS_IN_LOGS if "audit_entries" in find for change in changes
)


@pytest.mark.one_server
def test_forgetting_a_person_reads_all_months_by_indexes_and_changes_those_of_the_entries(
    years: Years, connection: Connection
) -> None:
    # The months have so few entries here that reading them whole would be the better plan.
    connection.execute("SET enable_seqscan = off")
    moments = times(PER_MONTH)
    ids = [id_at(moments[-1]), id_at(moments[-2])]
    values = {
        "user_id": years.ada,
        "addresses": [EMAIL],
        "placeholder": "gone@deleted.local",
        "ip_address": "0.0.0.0",
        "user_agent": "anonymized",
        "ids": ids,
        "organization_id": years.acme,
    }

    for statement in OF_ALL_MONTHS:
        # The targets are named by their texts.
        named = {"ids": [str(one) for one in ids]} if "target_id" in statement else {}
        assert LOG.value not in tables_read_whole(explained(connection, statement, values | named))
    assert len(partitions_read(explained(connection, personal_data.DETAILS, values), LOG)) == PARTITIONS
    assert len(OF_ENTRIES) == 2
    for statement in OF_ENTRIES:
        assert partitions_read(explained(connection, statement, values), LOG) == {"audit_entries_2028_12"}


@pytest.mark.one_server
def test_an_organization_with_entries_in_all_months_is_deleted_by_indexes(
    years: Years, connection: Connection, transact: Transact
) -> None:
    connection.execute("SET enable_seqscan = off")
    with explained_statements(connection) as plans:
        transact(lambda uow: uow.organizations.delete(years.acme))

    assert connection.execute(
        "SELECT count(*), count(*) FILTER (WHERE organization_id = %s) FROM audit_entries", (years.acme,)
    ).fetchall() == [(len(times(PER_MONTH)[::4]), 0)]
    assert connection.execute(
        "SELECT count(*) FROM audit_seals WHERE organization_id = %s", (years.acme,)
    ).fetchone() == (0,)
    assert all(LOG.value not in tables_read_whole(plan) for plan in plans)


def test_no_month_is_dropped(years: Years, connection: Connection, transact: Transact) -> None:
    for only_empty in (True, False):
        with pytest.raises(psycopg.errors.RaiseException, match="never dropped"):
            connection.execute("SELECT drop_log_month('audit_entries', %s, %s)", (LAST_ID, only_empty))
    assert transact(log_months.drop_next, LOG, LOG.kept_for) is None
    assert LOG.kept_for is None
