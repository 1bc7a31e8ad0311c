"""Organizations in their table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, LiteralString

from adapters.postgres.driver.rows import dict_row, kwargs_row, scalar_row
from adapters.postgres.transaction import Aggregate
from core.organizations.management import OrganizationDetail, OrganizationOfMine
from core.organizations.memberships import Membership
from core.organizations.organizations import Organization, OrganizationStatus
from core.organizations.tiers import Tier

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID


# The columns of an organization `o` in statements with joins, distinguished from others by their prefix.
ORGANIZATION: Final = """
    o.id                AS organization_id,
    o.slug              AS organization_slug,
    o.name              AS organization_name,
    o.status            AS organization_status,
    o.tier_id           AS organization_tier_id,
    o.max_services      AS organization_max_services,
    o.max_users         AS organization_max_users,
    o.mfa_required      AS organization_mfa_required,
    o.device_trust_days AS organization_device_trust_days,
    o.created_at        AS organization_created_at,
    o.updated_at        AS organization_updated_at,
    o.approved_at       AS organization_approved_at,
    o.approved_by       AS organization_approved_by,
    o.rejected_at       AS organization_rejected_at,
    o.rejection_reason  AS organization_rejection_reason,
    o.suspended_at      AS organization_suspended_at,
    o.suspension_reason AS organization_suspension_reason
"""
_TIER_AND_MEMBERSHIP: Final = """
    t.id                   AS tier_id,
    t.name                 AS tier_name,
    t.display_name         AS tier_display_name,
    t.default_max_services AS tier_default_max_services,
    t.default_max_users    AS tier_default_max_users,
    t.price_cents          AS tier_price_cents,
    m.id                   AS membership_id,
    m.organization_id      AS membership_org_id,
    m.user_id              AS membership_user_id,
    m.role                 AS membership_role,
    m.created_at           AS membership_created_at
"""
_OF_MEMBER: Final = """
    FROM     memberships m
    JOIN     organizations o ON o.id = m.organization_id
    JOIN     tiers t         ON t.id = o.tier_id
    WHERE    m.user_id = %s AND m.suspended_at IS NULL
    ORDER BY o.slug
"""
OF_MEMBER: Final = f"SELECT {ORGANIZATION}, {_TIER_AND_MEMBERSHIP} {_OF_MEMBER}"
# Tables with very many rows of one organization, in the order of deletion. A statement must not take too long, so these
# are deleted in batches; the other rows are deleted with the row of the organization.
_PLENTIFUL: Final[tuple[LiteralString, ...]] = (
    """
    DELETE FROM audit_entries
    WHERE  id = ANY (ARRAY(SELECT id FROM audit_entries WHERE organization_id = %s LIMIT %s))
    """,
    """
    DELETE FROM events
    WHERE  id = ANY (ARRAY(SELECT id FROM events WHERE organization_id = %s LIMIT %s))
    """,
    """
    DELETE FROM login_events
    WHERE  id = ANY (ARRAY(SELECT id FROM login_events WHERE organization_id = %s LIMIT %s))
    """,
    """
    DELETE FROM sessions
    WHERE  id = ANY (ARRAY(SELECT id FROM sessions WHERE organization_id = %s LIMIT %s))
    """,
    # Sessions on the platform, without the organization as their context, which its connections have begun.
    """
    DELETE FROM sessions
    WHERE  id = ANY (ARRAY(
        SELECT s.id
        FROM   upstream_connections c
        JOIN   sessions s ON s.connection_id = c.id
        WHERE  c.organization_id = %s
        LIMIT  %s))
    """,
)
DELETED_AT_ONCE_MAX: Final = 50_000


class PostgresOrganizations(Aggregate):
    """The port `Organizations`."""

    def by_slug(self, slug: str) -> Organization | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(organization_row))
            .execute(
                """
                SELECT id, slug, name, status, tier_id, max_services, max_users, mfa_required, device_trust_days,
                       created_at, updated_at, approved_at, approved_by, rejected_at, rejection_reason, suspended_at,
                       suspension_reason
                FROM   organizations
                WHERE  slug = %s
                """,
                (slug,),
            )
            .fetchone()
        )

    def lock(self, organization_id: UUID) -> Organization | None:
        # Not FOR UPDATE, which would also wait for transactions that write rows which refer to the organization.
        return (
            self._connection.cursor(row_factory=kwargs_row(organization_row))
            .execute(
                """
                SELECT id, slug, name, status, tier_id, max_services, max_users, mfa_required, device_trust_days,
                       created_at, updated_at, approved_at, approved_by, rejected_at, rejection_reason, suspended_at,
                       suspension_reason
                FROM   organizations
                WHERE  id = %s
                FOR    NO KEY UPDATE
                """,
                (organization_id,),
            )
            .fetchone()
        )

    def add(self, organization: Organization) -> bool:
        return (
            self._connection.execute(
                """
                INSERT INTO organizations (id, slug, name, status, tier_id, max_services, max_users, mfa_required,
                                           device_trust_days, created_at, updated_at, approved_at, approved_by)
                VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
                ON CONFLICT (slug) DO NOTHING
                """,
                (
                    organization.id,
                    organization.slug,
                    organization.name,
                    organization.status.value,
                    organization.tier_id,
                    organization.max_services,
                    organization.max_users,
                    organization.mfa_required,
                    organization.device_trust_days,
                    organization.created_at,
                    organization.updated_at,
                    organization.approved_at,
                    organization.approved_by,
                ),
            ).rowcount
            == 1
        )

    def save(self, organization: Organization) -> None:
        self._connection.execute_later(
            """
            UPDATE organizations
            SET    name = %s, status = %s, tier_id = %s, max_services = %s, max_users = %s, mfa_required = %s,
                   device_trust_days = %s, updated_at = %s, approved_at = %s, approved_by = %s, rejected_at = %s,
                   rejection_reason = %s, suspended_at = %s, suspension_reason = %s
            WHERE  id = %s
            """,
            (
                organization.name,
                organization.status.value,
                organization.tier_id,
                organization.max_services,
                organization.max_users,
                organization.mfa_required,
                organization.device_trust_days,
                organization.updated_at,
                organization.approved_at,
                organization.approved_by,
                organization.rejected_at,
                organization.rejection_reason,
                organization.suspended_at,
                organization.suspension_reason,
                organization.id,
            ),
        )

    def delete(self, organization_id: UUID) -> None:
        for statement in _PLENTIFUL:
            deleted = DELETED_AT_ONCE_MAX
            while deleted == DELETED_AT_ONCE_MAX:
                deleted = self._connection.execute(statement, (organization_id, DELETED_AT_ONCE_MAX)).rowcount
        self._connection.execute("DELETE FROM organizations WHERE id = %s", (organization_id,))

    def count_pending_of(self, owner_user_id: UUID) -> int:
        [count] = self._connection.cursor(row_factory=scalar_row).execute(
            """
            SELECT count(*)
            FROM   memberships m
            JOIN   organizations o ON o.id = m.organization_id
            WHERE  m.user_id = %s AND m.role = 'owner' AND o.status = 'pending'
            """,
            (owner_user_id,),
        )
        return count

    def of_member(self, user_id: UUID) -> Sequence[OrganizationOfMine]:
        return self._connection.cursor(row_factory=kwargs_row(_of_mine)).execute(OF_MEMBER, (user_id,)).fetchall()

    def detail(self, organization: Organization) -> OrganizationDetail:
        [row] = self._connection.cursor(row_factory=dict_row).execute(
            """
            SELECT (SELECT count(*) FROM memberships WHERE organization_id = %(id)s) AS membership_count,
                   (SELECT count(*) FROM services WHERE organization_id = %(id)s)    AS service_count,
                   id, name, display_name, default_max_services, default_max_users, price_cents
            FROM   tiers
            WHERE  id = %(tier_id)s
            """,
            {"id": organization.id, "tier_id": organization.tier_id},
        )
        return OrganizationDetail(
            organization=organization,
            membership_count=row.pop("membership_count"),
            service_count=row.pop("service_count"),
            tier=Tier(**row),
        )


def organization_row(*, status: str, **columns: Any) -> Organization:
    """Return the organization of a row."""
    return Organization(status=OrganizationStatus(status), **columns)


def taken(columns: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Remove the columns with a prefix from a row, and return them without the prefix."""
    return {name.removeprefix(prefix): columns.pop(name) for name in list(columns) if name.startswith(prefix)}


def _of_mine(**columns: Any) -> OrganizationOfMine:
    return OrganizationOfMine(
        organization=organization_row(**taken(columns, "organization_")),
        membership=Membership(**taken(columns, "membership_")),
        tier=Tier(**taken(columns, "tier_")),
    )
