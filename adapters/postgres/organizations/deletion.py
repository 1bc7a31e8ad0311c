"""Organizations that their owners have deleted, in the table of organizations, and what ends with them in others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, LiteralString
from uuid import UUID

from adapters.postgres.driver.columns import columns
from adapters.postgres.organizations.organizations import OrganizationParts, organization_row
from adapters.postgres.sessions.callers import IS_LIVE, live_at
from adapters.postgres.transaction import Aggregate
from core.deletions import AgedRows
from core.organizations.deletion import DeletedOrganization, Ending, InformedManager
from core.organizations.organizations import Organization

# In batches, because a statement must not take too long. Those at services that the organization uses as a customer
# end with the records of these, in batches of an actor.
_SESSIONS: Final[tuple[LiteralString, ...]] = (
    "SELECT id FROM sessions WHERE organization_id = %(organization_id)s AND revoked_at IS NULL LIMIT %(rows_max)s",
    """
    SELECT s.id
    FROM   upstream_connections c
    JOIN   sessions s ON s.connection_id = c.id
    WHERE  c.organization_id = %(organization_id)s AND s.revoked_at IS NULL
    LIMIT  %(rows_max)s
    """,
    # Of browsers under its custom domain.
    """
    SELECT s.id
    FROM   custom_domains d
    JOIN   browser_sessions b ON b.domain_id = d.id
    JOIN   sessions s         ON s.id = b.session_id
    WHERE  d.organization_id = %(organization_id)s AND s.revoked_at IS NULL
    LIMIT  %(rows_max)s
    """,
)
_ENDED_AT_ONCE_MAX: Final = 50_000
# What opens something by itself. What the organization has entered, such as the secret of a client, comes back with it.
_ISSUED: Final[tuple[LiteralString, ...]] = (
    "DELETE FROM organization_keys WHERE organization_id = %(organization_id)s",
    "DELETE FROM api_keys WHERE organization_id = %(organization_id)s",
    "DELETE FROM workloads WHERE organization_id = %(organization_id)s",
    "DELETE FROM scim_tokens WHERE organization_id = %(organization_id)s",
    "DELETE FROM setup_links WHERE organization_id = %(organization_id)s",
    "DELETE FROM authorization_codes WHERE organization_id = %(organization_id)s",
    "DELETE FROM device_codes WHERE organization_id = %(organization_id)s",
    """
    UPDATE invitations
    SET    status = 'cancelled', answered_at = %(now)s, token_sealed = NULL
    WHERE  organization_id = %(organization_id)s AND status = 'pending'
    """,
    # The trigger on the table queues what the provider has to end.
    "DELETE FROM billing_subscriptions WHERE organization_id = %(organization_id)s",
)
_SUBSCRIPTIONS: Final = """
    WITH ended AS (
        UPDATE subscriptions
        SET    status = 'cancelled', billing_subscription_id = NULL, updated_at = %(now)s
        WHERE  organization_id = %(organization_id)s AND status IN ('active', 'past_due')
        RETURNING id)
    SELECT count(*) FROM ended
"""


def _counted(rows: LiteralString) -> LiteralString:
    return f"(SELECT count(*) FROM (SELECT {rows} LIMIT %(counted_max)s) AS one)"


_KEYS: Final = """
    FROM (SELECT FROM organization_keys WHERE organization_id = %(organization_id)s
          UNION ALL SELECT FROM api_keys WHERE organization_id = %(organization_id)s
          UNION ALL SELECT FROM workloads WHERE organization_id = %(organization_id)s
          UNION ALL SELECT FROM scim_tokens WHERE organization_id = %(organization_id)s) AS keys
"""
_LIVE_SUBSCRIPTIONS: Final = (
    "FROM subscriptions WHERE organization_id = %(organization_id)s AND status IN ('active', 'past_due')"
)
_OPEN_INVITATIONS: Final = "FROM invitations WHERE organization_id = %(organization_id)s AND status = 'pending'"
_CUSTOMERS: Final = "FROM service_customers WHERE vendor_id = %(organization_id)s AND accepted_at IS NOT NULL"
_END_USERS: Final = """
    FROM (SELECT DISTINCT user_id FROM service_users WHERE organization_id = %(organization_id)s
          LIMIT %(counted_max)s) AS people
"""
ENDING: Final = f"""
    SELECT {_counted(f"FROM sessions s WHERE organization_id = %(organization_id)s AND {IS_LIVE}")} AS sessions,
           {_counted(_LIVE_SUBSCRIPTIONS)} AS subscriptions,
           {_counted(_KEYS)} AS keys,
           {_counted(_OPEN_INVITATIONS)} AS invitations,
           {_counted("FROM setup_links WHERE organization_id = %(organization_id)s AND expires_at > %(now)s")}
               AS setup_links,
           {_counted(_CUSTOMERS)} AS customers,
           {_counted("FROM service_customers WHERE organization_id = %(organization_id)s")} AS products,
           coalesce((SELECT members FROM membership_totals WHERE organization_id = %(organization_id)s), 0)::integer
               AS members,
           {_counted("FROM services WHERE organization_id = %(organization_id)s")} AS services,
           {_counted(_END_USERS)} AS end_users,
           CASE WHEN had_other_members THEN %(restorable_until)s::timestamptz END AS restorable_until
    FROM   organizations
    WHERE  id = %(organization_id)s
"""
_MANAGERS_TO_INFORM: Final = """
    SELECT   u.email
    FROM     memberships m
    JOIN     users u ON u.id = m.user_id
    WHERE    m.organization_id = %s AND m.role IN ('owner', 'admin') AND m.suspended_at IS NULL
      AND    m.confirmed_at IS NOT NULL AND u.deactivated_at IS NULL
    ORDER BY m.role DESC, m.created_at, m.id
    LIMIT    %s
"""
RESTORABLE: Final = """
    SELECT   o.id, o.slug, o.name, o.deletes_at,
             coalesce((SELECT members FROM membership_totals WHERE organization_id = o.id), 0)::integer AS members,
             (SELECT count(*) FROM services WHERE organization_id = o.id) AS services
    FROM     organizations o
    WHERE    o.id = ANY (%(ids)s) AND o.status = 'deleting' AND o.deletes_at > %(at)s
    ORDER BY o.slug
    LIMIT    %(limit)s
"""
_LOCK_RESTORABLE: Final = f"""
    SELECT {columns(Organization)}
    FROM   organizations
    WHERE  id = ANY (%(ids)s) AND slug = %(slug)s AND status = 'deleting' AND deletes_at > %(at)s
    FOR NO KEY UPDATE
"""
LOCK_NEXT: Final = f"""
    SELECT   {columns(Organization)}
    FROM     organizations
    WHERE    deletes_at <= %s
    ORDER BY deletes_at
    LIMIT    1
    FOR UPDATE SKIP LOCKED
"""
# What goes in batches besides: a row of each takes many others along. The owner stays to the end.
_FURTHER_PARTS: Final[tuple[LiteralString, ...]] = (
    """
    DELETE FROM service_users
    WHERE  organization_id = %(organization_id)s AND user_id = ANY (ARRAY(
        SELECT DISTINCT user_id FROM service_users WHERE organization_id = %(organization_id)s LIMIT %(rows_max)s))
    """,
    """
    DELETE FROM memberships
    WHERE  organization_id = %(organization_id)s AND id = ANY (ARRAY(
        SELECT id FROM memberships WHERE organization_id = %(organization_id)s AND role <> 'owner' LIMIT %(rows_max)s))
    """,
)


class PostgresDeletedOrganizations(Aggregate):
    """The port `DeletedOrganizations`."""

    def had_other_members(self, organization_id: UUID) -> bool:
        return self._value("SELECT had_other_members FROM organizations WHERE id = %s", (organization_id,))

    def ending(self, organization_id: UUID, *, restorable_until: datetime, counted_max: int) -> Ending:
        return self._only(
            Ending,
            ENDING,
            {
                "organization_id": organization_id,
                "restorable_until": restorable_until,
                "counted_max": counted_max,
                **live_at(self._transaction.now),
            },
        )

    def managers_to_inform(self, organization_id: UUID, *, limit: int) -> Sequence[InformedManager]:
        return self._all(InformedManager, _MANAGERS_TO_INFORM, (organization_id, limit))

    def begin(self, organization_id: UUID, *, deletes_at: datetime) -> int:
        # The strongest lock: it waits for transactions that add something, so that the statements below find it.
        self._connection.execute("SELECT FROM organizations WHERE id = %s FOR UPDATE", (organization_id,))
        self._connection.execute(
            """
            UPDATE organizations
            SET    status = 'deleting', status_before_deletion = status, deletes_at = %(deletes_at)s,
                   updated_at = %(now)s
            WHERE  id = %(organization_id)s
            """,
            {"organization_id": organization_id, "deletes_at": deletes_at, "now": self._transaction.now},
        )
        values = {"organization_id": organization_id, "now": self._transaction.now, "rows_max": _ENDED_AT_ONCE_MAX}
        for found in _SESSIONS:
            ended = _ENDED_AT_ONCE_MAX
            while ended == _ENDED_AT_ONCE_MAX:
                ended = self._connection.execute(
                    f"UPDATE sessions SET revoked_at = %(now)s WHERE id = ANY (ARRAY({found}))", values
                ).rowcount
        for statement in _ISSUED:
            self._connection.execute(statement, values)
        return self._value(_SUBSCRIPTIONS, values)

    def restorable(self, ids: Sequence[UUID], *, at: datetime, limit: int) -> Sequence[DeletedOrganization]:
        return self._all(DeletedOrganization, RESTORABLE, {"ids": list(ids), "at": at, "limit": limit})

    def lock_restorable(self, ids: Sequence[UUID], slug: str, *, at: datetime) -> Organization | None:
        return self._one(organization_row, _LOCK_RESTORABLE, {"ids": list(ids), "slug": slug, "at": at})

    def restore(self, organization_id: UUID) -> None:
        self._connection.execute_later(
            """
            UPDATE organizations
            SET    status = status_before_deletion, status_before_deletion = NULL, deletes_at = NULL, updated_at = %s
            WHERE  id = %s AND status = 'deleting'
            """,
            (self._transaction.now, organization_id),
        )

    def lock_next(self, *, at: datetime) -> Organization | None:
        if not self._transaction.may_delete(AgedRows.DELETED_ORGANIZATIONS):
            return None
        return self._one(organization_row, LOCK_NEXT, (at,))

    def internal_of_ended(self, organization_id: UUID) -> Sequence[UUID]:
        return self._values(
            """
            SELECT i.id
            FROM   service_customers c
            JOIN   organizations i ON i.internal_of = c.id
            WHERE  c.ended_organization_id = %s
            """,
            (organization_id,),
        )

    def delete_part(self, organization_id: UUID, *, rows_max: int) -> int:
        if deleted := OrganizationParts(self._transaction).delete(organization_id, rows_max=rows_max):
            return deleted
        for statement in _FURTHER_PARTS:
            values = {"organization_id": organization_id, "rows_max": rows_max}
            if deleted := self._connection.execute(statement, values).rowcount:
                return deleted
        return 0
