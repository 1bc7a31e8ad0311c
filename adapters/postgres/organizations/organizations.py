"""Organizations in their table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.admissions import IS_SHOWN, is_membership
from adapters.postgres.driver.columns import assignments, columns, placeholders, prefixed, taken, values
from adapters.postgres.transaction import Aggregate
from core.organizations.management import OrganizationDetails, OrganizationMembership
from core.organizations.organizations import InternalPlace, Membership, Organization, OrganizationStatus
from core.organizations.tiers import Tier
from core.sessions.mfa_methods import MfaMethods

if TYPE_CHECKING:
    from core.deferred import Deferred


# The columns of an organization `o` in statements with joins, distinguished from others by their prefix.
ORGANIZATION: Final = prefixed(Organization, table="o", prefix="organization_")
_TIER_AND_MEMBERSHIP: Final = (
    f"{prefixed(Tier, table='t', prefix='tier_')}, {prefixed(Membership, table='m', prefix='membership_')},"
    " m.suspended_at IS NOT NULL AS is_suspended"
)
_OF_MEMBER: Final = f"""
    FROM     memberships m
    JOIN     organizations o ON o.id = m.organization_id
    JOIN     tiers t         ON t.id = o.tier_id
    WHERE    m.user_id = %s AND {is_membership("m")} AND o.status <> 'deleting'
    ORDER BY o.slug
"""
_SEARCHED: Final = f"""
    FROM     memberships m
    JOIN     organizations o ON o.id = m.organization_id
    JOIN     tiers t         ON t.id = o.tier_id
    WHERE    m.user_id = %(user_id)s AND {is_membership("m")} AND o.status <> 'deleting'
      AND    (%(only)s::uuid IS NULL OR m.organization_id = %(only)s)
      AND    (strpos(o.slug, %(part)s) > 0 OR strpos(lower(o.name), %(part)s) > 0)
"""
OF_MEMBER: Final = f"SELECT {ORGANIZATION}, {_TIER_AND_MEMBERSHIP} {_OF_MEMBER}"
_ORGANIZATION: Final = f"SELECT {columns(Organization)} FROM organizations"


def _part_of(log: LiteralString, key: LiteralString = "id") -> tuple[LiteralString, LiteralString]:
    """Return what finds where the next part of a log ends, and what deletes up to there.

    They are two statements, so that the second is planned for a part of the log, and reads the months of that part.
    """
    find_last: LiteralString = f"""
        SELECT   {key}
        FROM     (SELECT   {key}
                  FROM     {log}
                  WHERE    organization_id = %(organization_id)s
                  ORDER BY {key}
                  LIMIT    %(rows_max)s) AS part
        ORDER BY {key} DESC
        LIMIT    1
    """
    return find_last, f"DELETE FROM {log} WHERE organization_id = %(organization_id)s AND {key} <= %(last)s"


# Tables with very many rows of one organization: a statement must not take too long, so they are deleted in parts. The
# other rows are deleted with the row of the organization. What is written for a row of another log comes after it.
_LOGS: Final[tuple[tuple[LiteralString, LiteralString], ...]] = (
    _part_of("audit_entries"),
    _part_of("audit_seals", key="position"),
    _part_of("webhook_deliveries"),
    _part_of("webhook_attempts"),
    _part_of("events"),
    _part_of("mails"),
    _part_of("scim_log_entries"),
    _part_of("login_events"),
)
_SESSIONS: Final[tuple[LiteralString, ...]] = (
    """
    DELETE FROM sessions
    WHERE  id = ANY (ARRAY(SELECT id FROM sessions WHERE organization_id = %(organization_id)s LIMIT %(rows_max)s))
    """,
    # Sessions on the platform, without the organization as their context, which its connections have begun.
    """
    DELETE FROM sessions
    WHERE  id = ANY (ARRAY(
        SELECT s.id
        FROM   upstream_connections c
        JOIN   sessions s ON s.connection_id = c.id
        WHERE  c.organization_id = %(organization_id)s
        LIMIT  %(rows_max)s))
    """,
)
DELETED_AT_ONCE_MAX: Final = 50_000


class OrganizationParts(Aggregate):
    """Deletes parts of organizations: each time some rows of one table; 0 means that none are left in any table."""

    def delete(self, organization_id: UUID, *, rows_max: int) -> int:
        """Delete a part, and return how many rows it had."""
        if deleted := self.delete_of_logs(organization_id, rows_max=rows_max):
            return deleted
        for statement in _SESSIONS:
            values = {"organization_id": organization_id, "rows_max": rows_max}
            if deleted := self._connection.execute(statement, values).rowcount:
                return deleted
        return 0

    def delete_of_logs(self, organization_id: UUID, *, rows_max: int) -> int:
        """Delete a part of a log, and return how many rows it had."""
        values = {"organization_id": organization_id, "rows_max": rows_max}
        for find_last, delete in _LOGS:
            last = self._value_or_none(find_last, values)
            if last is None:
                continue
            if deleted := self._connection.execute(delete, values | {"last": last}).rowcount:
                return deleted
        return 0


class PostgresOrganizations(Aggregate):
    """The port `Organizations`."""

    def by_slug(self, slug: str) -> Organization | None:
        return self.defer_by_slug(slug)()

    def defer_by_slug(self, slug: str) -> Deferred[Organization | None]:
        return self._defer_one(
            organization_row, f"{_ORGANIZATION} WHERE slug = %s AND status <> 'deleting' AND {IS_SHOWN}", (slug,)
        )

    def by_id(self, organization_id: UUID) -> Organization | None:
        return self._one(organization_row, f"{_ORGANIZATION} WHERE id = %s", (organization_id,))

    def lock(self, organization_id: UUID) -> Organization | None:
        # Not FOR UPDATE, which would also wait for transactions that write rows which refer to the organization.
        return self._one(organization_row, f"{_ORGANIZATION} WHERE id = %s FOR NO KEY UPDATE", (organization_id,))

    def lock_later(self, organization_id: UUID) -> None:
        self._connection.execute_later("SELECT FROM organizations WHERE id = %s FOR NO KEY UPDATE", (organization_id,))

    def add(self, organization: Organization, *, is_unclaimed: bool = False) -> bool:
        return self._changes_one(
            f"""
            INSERT INTO organizations ({columns(Organization)}, is_unclaimed)
            SELECT {placeholders(Organization)}, %(is_unclaimed)s
            -- A product knows its customers by their slugs, so it must not take another one for one of them.
            WHERE  NOT EXISTS (SELECT FROM customer_slugs WHERE slug = %(slug)s)
            ON CONFLICT (slug) DO NOTHING
            """,
            {**values(organization), "is_unclaimed": is_unclaimed},
        )

    def add_internal(self, organization: Organization, customer_id: UUID) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO organizations ({columns(Organization)}, internal_of)
            VALUES ({placeholders(Organization)}, %(customer_id)s)
            """,
            {**values(organization), "customer_id": customer_id},
        )
        self._connection.execute_later("SELECT follow_customer(%s)", (customer_id,))

    def of_connection(self, connection_id: UUID, *, is_active: bool = True) -> Organization | None:
        return self._one(
            organization_row,
            f"""
            SELECT {columns(Organization, table="o")}
            FROM   upstream_connections c
            JOIN   organizations o ON o.id = c.organization_id AND o.status <> 'deleting'
                                  AND (o.status = 'active' OR NOT %s)
            WHERE  c.id = %s AND c.enabled
            """,
            (is_active, connection_id),
        )

    def internal_place(self, organization_id: UUID) -> InternalPlace | None:
        return self._one(
            InternalPlace,
            """
            SELECT i.id AS internal_id, c.id AS customer_id, c.vendor_id, vo.slug AS vendor_slug, c.service_id,
                   v.slug AS service_slug, v.name AS service_name, c.organization_id AS customer_organization_id
            FROM   organizations i
            JOIN   service_customers c ON c.id = i.internal_of AND c.accepted_at IS NOT NULL
            JOIN   organizations vo    ON vo.id = c.vendor_id
            JOIN   services v          ON v.organization_id = c.vendor_id AND v.id = c.service_id
            WHERE  i.id = %s
            """,
            (organization_id,),
        )

    def lock_internal(self, customer_id: UUID) -> Organization | None:
        return self._one(organization_row, f"{_ORGANIZATION} WHERE internal_of = %s FOR NO KEY UPDATE", (customer_id,))

    def find_internal(self, customer_id: UUID) -> Organization | None:
        return self._one(organization_row, f"{_ORGANIZATION} WHERE internal_of = %s", (customer_id,))

    def save(self, organization: Organization) -> None:
        self._connection.execute_later(
            f"""
            UPDATE organizations
            SET    {assignments(Organization, without=("id", "slug", "created_at"))}
            WHERE  id = %(id)s
            """,
            values(organization),
        )

    def delete(self, organization_id: UUID) -> None:
        parts = OrganizationParts(self._transaction)
        while parts.delete(organization_id, rows_max=DELETED_AT_ONCE_MAX):
            pass
        self._connection.execute("DELETE FROM organizations WHERE id = %s", (organization_id,))

    def count_pending(self, organization_ids: Sequence[UUID]) -> int:
        return self._value(
            "SELECT count(*) FROM organizations WHERE id = ANY (%s) AND status = 'pending'", (list(organization_ids),)
        )

    def of_member(self, user_id: UUID) -> Sequence[OrganizationMembership]:
        return self._all(_of_mine, OF_MEMBER, (user_id,))

    def search_of_member(
        self, user_id: UUID, *, only: UUID | None, part: str, after: str, limit: int, counted_max: int
    ) -> tuple[Sequence[OrganizationMembership], int]:
        parameters = {
            "user_id": user_id,
            "only": only,
            "part": part,
            "after": after,
            "limit": limit,
            "counted_max": counted_max,
        }
        found = self._all(
            _of_mine,
            f"""
            SELECT {ORGANIZATION}, {_TIER_AND_MEMBERSHIP} {_SEARCHED} AND o.slug > %(after)s
            ORDER BY o.slug
            LIMIT %(limit)s
            """,
            parameters,
        )
        total = self._value(
            f"SELECT count(*) FROM (SELECT {_SEARCHED} LIMIT %(counted_max)s) AS counted",
            parameters,
        )
        return found, total

    def detail(self, organization: Organization) -> OrganizationDetails:
        [row] = self._rows(
            f"""
            SELECT (SELECT count(*) FROM memberships WHERE organization_id = %(id)s) AS membership_count,
                   (SELECT count(*) FROM services WHERE organization_id = %(id)s)    AS service_count,
                   {columns(Tier)}
            FROM   tiers
            WHERE  id = %(tier_id)s
            """,
            {"id": organization.id, "tier_id": organization.tier_id},
        )
        return OrganizationDetails(
            organization=organization,
            membership_count=row.pop("membership_count"),
            service_count=row.pop("service_count"),
            tier=Tier(**row),
        )


def organization_row(*, status: str, mfa_methods: str, **columns: Any) -> Organization:
    """Return the organization of a row."""
    return Organization(status=OrganizationStatus(status), mfa_methods=MfaMethods(mfa_methods), **columns)


def _of_mine(**columns: Any) -> OrganizationMembership:
    return OrganizationMembership(
        organization=organization_row(**taken(columns, "organization_")),
        membership=Membership(**taken(columns, "membership_")),
        tier=Tier(**taken(columns, "tier_")),
        is_suspended=columns["is_suspended"],
    )
