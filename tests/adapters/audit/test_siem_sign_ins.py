"""What PostgreSQL reads for the sign-ins of a SIEM: an hour and a window of an index, however long the log is."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import pytest

from adapters.postgres.audit.siem import FIRST_OF_ORGANIZATION, FIRST_THROUGH_ORGANIZATION, PAGE
from adapters.postgres.driver.connection import Connection
from core.audit.siem_stream import WINDOW
from core.ids import SETTLES_AFTER, end_id_until, first_id_at, first_id_since
from core.sign_in.reasons import WAITING
from tests.plans import explained, rows_read
from tests.world.builder import Builder

HOURS: Final = 240
EVERY: Final = timedelta(seconds=60)
LOG: Final = "login_events"
LIMIT: Final = 20


@pytest.fixture
def acme(builder: Builder) -> UUID:
    """An organization with ten days of sign-ins, one in a minute, and another one where its people signed in."""
    acme, other = builder.organization(), builder.organization("other")
    user_id = builder.user("ada@example.com")
    for organization_id, through_id in ((acme, None), (other, acme), (other, None)):
        builder.connection.execute(
            """
            INSERT INTO login_events (id, user_id, organization_id, through_organization_id, provider, success,
                                      risk_score, risk_factors, created_at)
            SELECT (left(first_id_at(at)::text, 19) || right(gen_random_uuid()::text, 17))::uuid, %s, %s, %s,
                   'password', true, 0, '{}', at
            FROM   generate_series(%s::timestamptz - make_interval(hours => %s), %s, %s) AS at
            """,
            (user_id, organization_id, through_id, builder.clock(), HOURS, builder.clock(), EVERY),
        )
    builder.connection.execute("ANALYZE login_events")
    return acme


@pytest.mark.plans
def test_the_next_part_is_found_and_read_in_a_range_of_an_index(
    builder: Builder, connection: Connection, acme: UUID
) -> None:
    after = builder.clock() - timedelta(hours=HOURS // 2)
    values: dict[str, Any] = {
        "organization_id": acme,
        "after_at": after,
        "after_id": first_id_at(after),
        "waiting": [reason.value for reason in WAITING],
        "limit": LIMIT,
    }
    whole = {"first_id": first_id_since(after), "until": builder.clock(), "end_id": end_id_until(builder.clock())}
    until = after + WINDOW
    window = {"first_id": first_id_since(after), "until": until, "end_id": end_id_until(until)}
    # The entries of an hour may be passed before the first one.
    passed = SETTLES_AFTER // EVERY + 5

    for statement in (FIRST_OF_ORGANIZATION, FIRST_THROUGH_ORGANIZATION):
        assert rows_read(explained(connection, statement, values | whole), LOG) <= passed
    assert rows_read(explained(connection, PAGE, values | window), LOG) <= 2 * (passed + WINDOW // EVERY + LIMIT)
