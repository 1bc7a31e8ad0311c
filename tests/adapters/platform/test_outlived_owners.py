"""What is written to the logs of an organization or a webhook while it is being deleted does not outlive it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from core.platform import housekeeping
from core.platform.housekeeping import Leftover
from tests.clock import SettableClock
from tests.postgres import connected
from tests.world.builder import Builder

Transact = Callable[..., Any]

WRITTEN: Final = (
    """
    INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, success, details, created_at)
    VALUES (gen_random_uuid(), %(organization)s, 'organization.updated', 'organization', '', true, '{}', now())
    """,
    """
    INSERT INTO audit_seals (organization_id, position, entry_id, hash, digests, salts)
    VALUES (%(organization)s, 1, gen_random_uuid(), '', '{}', '{}')
    """,
    """
    INSERT INTO scim_log_entries (id, organization_id, token_id, token_name, method, path, status, created_at)
    VALUES (gen_random_uuid(), %(organization)s, gen_random_uuid(), '', 'GET', '', 200, now())
    """,
    """
    INSERT INTO webhook_deliveries (id, organization_id, webhook_id, event_id, event_type, queued_at, created_at,
                                    updated_at)
    VALUES (gen_random_uuid(), %(organization)s, %(webhook)s, gen_random_uuid(), 'webhook.test', now(), now(), now())
    """,
    """
    INSERT INTO webhook_attempts (id, organization_id, webhook_id, delivery_id, attempted_at, duration_ms,
                                  request_headers)
    VALUES (gen_random_uuid(), %(organization)s, %(webhook)s, gen_random_uuid(), now(), 1, '{}')
    """,
)
LEFT: Final = """
    SELECT (SELECT count(*) FROM audit_entries), (SELECT count(*) FROM audit_seals),
           (SELECT count(*) FROM scim_log_entries), (SELECT count(*) FROM webhook_deliveries),
           (SELECT count(*) FROM webhook_attempts), (SELECT count(*) FROM ended_log_owners)
"""


def webhook(builder: Builder, organization_id: UUID) -> UUID:
    webhook_id = builder.new_id()
    builder.connection.execute(
        """
        INSERT INTO webhooks (id, organization_id, name, url, events, secret_sealed, created_at, updated_at)
        VALUES (%s, %s, 'hook', 'https://example.com', '{webhook.test}', '', now(), now())
        """,
        (webhook_id, organization_id),
    )
    return webhook_id


def test_what_is_written_beside_a_deletion_goes_when_its_transaction_has_ended(
    builder: Builder, transact: Transact, clock: SettableClock, database_url: str
) -> None:
    acme, globex = (builder.organization(slug) for slug in ("acme", "globex"))
    of_acme, of_globex = (webhook(builder, organization_id) for organization_id in (acme, globex))
    with connected(database_url) as other, other.transaction():
        for organization_id, webhook_id in ((acme, of_acme), (globex, of_globex)):
            for statement in WRITTEN:
                other.execute(statement, {"organization": organization_id, "webhook": webhook_id})
        # Neither waits for the other transaction.
        transact(lambda uow: uow.organizations.delete(acme))
        assert transact(lambda uow: uow.webhooks.remove(globex, of_globex))
    assert builder.rows(LEFT) == [(2, 2, 2, 2, 2, 2)]
    [(clock.now,)] = builder.rows("SELECT now()")

    # Other transactions may still write.
    assert transact(housekeeping.sweep, Leftover.ENDED_LOG_OWNERS, Leftover.ENDED_LOG_OWNERS.kept_for, 10) == 0

    clock.now += Leftover.ENDED_LOG_OWNERS.kept_for
    assert transact(housekeeping.sweep, Leftover.ENDED_LOG_OWNERS, Leftover.ENDED_LOG_OWNERS.kept_for, 10) == 2
    # Of the other organization goes what its webhook had.
    assert builder.rows(LEFT) == [(1, 1, 1, 0, 0, 0)]
    assert builder.rows("SELECT organization_id FROM audit_entries") == [(globex,)]


def test_a_process_of_an_older_version_that_deletes_an_organization_leaves_nothing_in_its_logs(
    builder: Builder,
) -> None:
    acme = builder.organization("acme")
    values = {"organization": acme, "webhook": webhook(builder, acme)}
    for statement in WRITTEN:
        builder.connection.execute(statement, values)

    builder.connection.execute("DELETE FROM organizations WHERE id = %s", (acme,))

    assert builder.rows(LEFT) == [(0, 0, 0, 0, 0, 1)]
