"""Invitations in PostgreSQL: every query reads a range of an index, and tokens are bound to their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from adapters.crypto.vault import SealBroken, Vault
from adapters.postgres.driver.connection import Connection
from adapters.postgres.invitations.invitations import PostgresInvitations
from core.invitations.invitations import DueInvitation, InvitationStatus
from tests.clock import SettableClock
from tests.plans import explained_statements, indexes_used, tables_read_whole
from tests.postgres import Databases
from tests.transactions import transaction_on
from tests.world.builder import Builder

ORGANIZATIONS = 20
EACH = 2_000
ID = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")


@pytest.fixture(scope="module")
def many(databases: Databases) -> Iterator[Connection]:
    """A database with many invitations: a quarter is pending, and half of those have expired."""
    with databases.for_plans() as url, databases.connection(url) as connection:
        fill(connection, SettableClock())
        yield connection


def fill(connection: Connection, clock: SettableClock) -> None:
    """Insert organizations with many invitations each."""
    for number in range(ORGANIZATIONS):
        organization_id = Builder(connection, clock).organization(f"acme{number}")
        connection.execute(
            """
            INSERT INTO invitations (id, organization_id, email, role, status, token_hash, token_sealed, proof_hash,
                                     created_at, expires_at)
            SELECT gen_random_uuid(), %(organization_id)s, number || '@example.com', 'member',
                   (ARRAY['pending', 'accepted', 'rejected', 'expired'])[number %% 4 + 1],
                   sha256(gen_random_uuid()::text::bytea), '', '', %(now)s + number * interval '1 second',
                   %(now)s + (%(middle)s - number) * interval '1 minute'
            FROM   generate_series(1, %(each)s) AS number
            """,
            {"organization_id": organization_id, "now": clock(), "each": EACH, "middle": EACH // 2},
        )
    connection.execute("ANALYZE invitations")
    connection.execute("ANALYZE organizations")


@pytest.fixture
def invitations(many: Connection, vault: Vault, clock: SettableClock) -> Iterator[PostgresInvitations]:
    """The aggregate on all of them; changes are rolled back after the test."""
    many.begin()
    yield PostgresInvitations(transaction_on(many, vault, clock()))
    many.rollback()


def an_organization(connection: Connection) -> UUID:
    """Return the id of one of the organizations."""
    [(organization_id,)] = connection.execute("SELECT id FROM organizations WHERE slug = 'acme7'").fetchall()
    return organization_id


def plan_of(connection: Connection, query: Callable[[], object]) -> dict[str, Any]:
    """Run a query, and return the plan of its only statement."""
    with explained_statements(connection) as plans:
        query()
    [plan] = plans
    return plan


def test_every_query_among_many_invitations_uses_an_index(
    invitations: PostgresInvitations, many: Connection, clock: SettableClock
) -> None:
    acme = an_organization(many)
    due = invitations.due(None, 50)
    middle = DueInvitation(id=ID, expires_at=clock() - timedelta(minutes=EACH // 4))

    for name, index, query in (
        ("all", "invitations_of_organization", lambda: invitations.page(acme, None, limit=50, offset=500)),
        (
            "a status",
            "invitations_of_status",
            lambda: invitations.page(acme, InvitationStatus.REJECTED, limit=50, offset=100),
        ),
        ("an address", "invitations_one_pending", lambda: invitations.pending(acme, "4@example.com")),
        ("a token", "invitations_token_hash_key", lambda: invitations.by_token(b"")),
        ("mine", "invitations_of_email", lambda: invitations.pending_for("9@example.org", 100)),
        ("due", "invitations_running_out", lambda: invitations.due(None, 50)),
        ("due later", "invitations_running_out", lambda: invitations.due(middle, 50)),
        ("expiring", "invitations_pkey", lambda: invitations.expire([one.id for one in due])),
    ):
        plan = plan_of(many, query)
        assert index in indexes_used(plan), (name, plan)
        assert "invitations" not in tables_read_whole(plan), (name, plan)


def test_the_batches_of_expired_invitations_are_complete_and_in_order(
    invitations: PostgresInvitations, many: Connection, clock: SettableClock
) -> None:
    seen: list[DueInvitation] = []
    while batch := invitations.due(seen[-1] if seen else None, 999):
        seen += batch

    expected = many.execute(
        "SELECT id FROM invitations WHERE status = 'pending' AND expires_at <= %s ORDER BY expires_at, id",
        (clock(),),
    ).fetchall()
    assert [one.id for one in seen] == [invitation_id for (invitation_id,) in expected]
    assert len(seen) > ORGANIZATIONS * EACH // 10


@pytest.mark.parametrize("before", InvitationStatus)
@pytest.mark.parametrize("after", InvitationStatus)
def test_an_invitation_reaches_a_status_only_from_an_allowed_one(
    before: InvitationStatus,
    after: InvitationStatus,
    connection: Connection,
    builder: Builder,
    vault: Vault,
    clock: SettableClock,
) -> None:
    acme, other = builder.organization("acme"), builder.organization("other")
    connection.execute(
        """
        INSERT INTO invitations (id, organization_id, email, role, status, token_hash, token_sealed, proof_hash,
                                 created_at, expires_at)
        VALUES (%s, %s, 'guest@example.com', 'member', %s, '', '', '', %s, %s)
        """,
        (ID, acme, before.value, clock(), clock()),
    )
    port = PostgresInvitations(transaction_on(connection, vault, clock()))

    assert not port.settle(other, ID, after)
    assert port.settle(acme, ID, after) == (before in after.follows)

    found = port.find(acme, ID)
    assert found is not None
    assert found.status is (after if before in after.follows else before)
    assert port.find(other, ID) is None


def test_a_sealed_token_moved_to_another_row_is_refused(
    connection: Connection, builder: Builder, vault: Vault, clock: SettableClock
) -> None:
    acme = builder.organization("acme")
    sealed = vault.seal(b"token", table="invitations", column="token_sealed", row=an_id(1))
    connection.execute(
        """
        INSERT INTO invitations (id, organization_id, email, role, status, token_hash, token_sealed, proof_hash,
                                 created_at, expires_at)
        VALUES (%s, %s, 'guest@example.com', 'member', 'pending', '', %s, '', %s, %s)
        """,
        (an_id(2), acme, sealed, clock(), clock() + timedelta(days=1)),
    )

    with pytest.raises(SealBroken):
        PostgresInvitations(transaction_on(connection, vault, clock())).pending_for("guest@example.com", 10)


def an_id(number: int) -> UUID:
    """Return an id."""
    return UUID(int=number)
