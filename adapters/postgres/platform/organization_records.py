"""Organizations in the console of the platform; every search uses an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from functools import partial
from typing import TYPE_CHECKING, Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.admissions import IS_SHOWN, is_shown
from adapters.postgres.driver.columns import prefixed, taken
from adapters.postgres.log_times import kept_values
from adapters.postgres.organizations.organizations import ORGANIZATION, organization_row
from adapters.postgres.platform.users import GROUP_LETTERS
from adapters.postgres.sessions.callers import IS_LIVE, live_at
from adapters.postgres.transaction import Aggregate
from core.customers import relation_log
from core.ids import first_id_since
from core.organizations.organizations import OrganizationStatus
from core.organizations.tiers import Tier
from core.platform.organization_records import (
    ClaimedDomain,
    ListedOrganization,
    Maker,
    Matches,
    OrganizationFigures,
    OrganizationFilter,
    PlatformOrganizationRecord,
    RecordOwner,
    ServedCustomers,
    UsedProduct,
    limits,
)
from core.positions import Position

if TYPE_CHECKING:
    from core.deferred import Deferred


# The last sign-in to an organization: of its last counted day or later. Where the log is no longer kept, it is the
# beginning of that day.
_LAST_COUNTED_DAY: Final = "SELECT max(day) FROM sign_in_counts WHERE organization_id = {} AND reason = ''"
_LAST_SIGN_IN: Final = """
    SELECT   created_at
    FROM     login_events
    WHERE    organization_id = %(id)s AND success AND id >= %(from_id)s AND id < %(now_id)s
    ORDER BY id DESC
    LIMIT    1
"""
# Of more organizations with a text in their names, the list is searched in its own order, which finds them soon; and
# more with a text in their domains have it in a part that says nothing, such as its end.
RARE_MAX: Final = 200
_WITH_TEXT: Final = "(strpos(lower(o.name), %(text)s) > 0 OR strpos(o.slug, %(text)s) > 0)"
# The letter groups of the text are among those of the name and the slug, which the index has together.
WITH_NAME: Final = f"""
    SELECT o.id
    FROM   organizations o
    WHERE  letter_groups(lower(o.name) || ' ' || o.slug) @> letter_groups(%(text)s) AND {_WITH_TEXT}
      AND  {IS_SHOWN}
    LIMIT  %(limit)s
"""
_WITH_DOMAIN: Final[tuple[LiteralString, ...]] = tuple(
    f"""
    SELECT organization_id
    FROM   {table}
    WHERE  letter_groups(domain) @> letter_groups(%(text)s) AND strpos(domain, %(text)s) > 0
    LIMIT  %(limit)s
    """
    for table in ("custom_domains", "domain_routes")
)
_WITH_OWNER: Final = """
    SELECT m.organization_id
    FROM   users u
    JOIN   memberships m ON m.user_id = u.id AND m.role = 'owner'
    WHERE  u.email = %(text)s AND (NOT %(hides_owners)s OR NOT u.is_platform_owner)
    LIMIT  %(limit)s
"""
_FILTERED: Final = f"""
    FROM   organizations o
    WHERE  {IS_SHOWN} AND (%(status)s::text IS NULL OR o.status = %(status)s)
      AND  (%(tier_id)s::uuid IS NULL OR o.tier_id = %(tier_id)s)
"""
_FROM_THERE: Final = """
    AND (%(at)s::timestamptz IS NULL OR (o.created_at, o.id) < (%(at)s, %(id)s::uuid))
    ORDER BY o.created_at DESC, o.id DESC
    LIMIT %(limit)s
"""
# Members, owners and the last sign-in are read for the few rows of a page alone.
_SHOWN: Final = f"""
    SELECT o.id, o.slug, o.name, o.status, o.created_at, t.display_name AS tier, coalesce(c.members, 0) AS members,
           o.is_unclaimed, u.id AS owner_id, u.email AS owner_email, u.is_platform_owner AS owner_is_platform_owner,
           ({_LAST_COUNTED_DAY.format("o.id")}) AS last_counted_day
    FROM   page o
    JOIN   tiers t                  ON t.id = o.tier_id
    LEFT   JOIN membership_totals c ON c.organization_id = o.id
    LEFT   JOIN memberships m       ON m.organization_id = o.id AND m.role = 'owner'
    LEFT   JOIN users u             ON u.id = m.user_id
"""
_IN_ORDER: Final = "ORDER BY o.created_at DESC, o.id DESC"
_WAITING: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT   o.*
        FROM     organizations o
        WHERE    o.status = 'pending' AND {IS_SHOWN}
        ORDER BY o.created_at, o.id
        LIMIT    %(limit)s)
    {_SHOWN}
    ORDER BY o.created_at, o.id
"""
_FIGURES: Final = f"""
    SELECT coalesce((SELECT members FROM membership_totals WHERE organization_id = %(id)s), 0) AS members,
           (SELECT count(*)
            FROM   (SELECT FROM services WHERE organization_id = %(id)s LIMIT %(counted_max)s) AS one) AS services,
           (SELECT count(*)
            FROM   (SELECT DISTINCT user_id FROM service_users WHERE organization_id = %(id)s
                    LIMIT %(counted_max)s) AS one) AS end_users,
           (SELECT count(*)
            FROM   (SELECT FROM sessions s
                    WHERE  organization_id = %(id)s AND {IS_LIVE}
                    LIMIT  %(counted_max)s) AS one) AS sessions,
           (SELECT count(*)
            FROM   (SELECT FROM subscriptions
                    WHERE  organization_id = %(id)s AND status IN ('active', 'past_due')
                    LIMIT  %(counted_max)s) AS one) AS subscriptions,
           ({_LAST_COUNTED_DAY.format("%(id)s")}) AS last_counted_day
"""
_LAST_CHANGE: Final = "SELECT created_at FROM audit_entries WHERE organization_id = %(id)s ORDER BY id DESC LIMIT 1"
_DOMAINS: Final = """
    SELECT   domain, false AS is_of_mail, verified_at, failing_since
    FROM     custom_domains
    WHERE    organization_id = %(id)s
    UNION    ALL
    SELECT   domain, true, verified_at, failing_since
    FROM     domain_routes
    WHERE    organization_id = %(id)s
    ORDER BY is_of_mail, domain
    LIMIT    %(domains_max)s
"""
# The newest products that it uses, and the newest open offers to it.
_PRODUCTS: Final = """
    SELECT   s.name AS service_name, v.id AS vendor_id, v.name AS vendor_name, c.accepted_at IS NOT NULL AS is_accepted,
             c.vendor_paused_at IS NOT NULL OR c.customer_paused_at IS NOT NULL AS is_paused, c.created_at
    FROM     service_customers c
    JOIN     services s      ON s.organization_id = c.vendor_id AND s.id = c.service_id
    JOIN     organizations v ON v.id = c.vendor_id
    WHERE    c.organization_id = %(id)s
       OR    (c.offered_to = %(id)s AND c.accepted_at IS NULL AND c.offer_expires_at > %(now)s)
    ORDER BY c.accepted_at IS NULL, c.created_at DESC, c.id DESC
    LIMIT    %(limit)s
"""
_SERVED: Final = """
    SELECT   s.name AS service_name,
             (SELECT count(*)
              FROM   (SELECT FROM service_customers c
                      WHERE  c.vendor_id = %(id)s AND c.service_id = s.id AND c.accepted_at IS NOT NULL
                      LIMIT  %(counted_max)s) AS one) AS customers
    FROM     services s
    WHERE    s.organization_id = %(id)s AND s.customers <> 'none'
    ORDER BY s.created_at, s.id
    LIMIT    %(limit)s
"""
_RECORD: Final = f"""
    SELECT {ORGANIZATION}, {prefixed(Tier, table="t", prefix="tier_")}, a.email AS approved_by, o.is_unclaimed,
           u.id AS owner_id, u.email AS owner_email, u.is_platform_owner AS owner_is_platform_owner
    FROM   organizations o
    JOIN   tiers t            ON t.id = o.tier_id
    LEFT   JOIN users a       ON a.id = o.approved_by
    LEFT   JOIN memberships m ON m.organization_id = o.id AND m.role = 'owner'
    LEFT   JOIN users u       ON u.id = m.user_id
    WHERE  o.id = %s AND {is_shown("o")}
"""

# The record of an organization that a vendor has made, also of one that can be restored with the customer.
_MAKER: Final = """
    SELECT v.id AS vendor_id, v.name AS vendor_name, s.name AS service_name
    FROM   (SELECT vendor_id, service_id FROM service_customers WHERE organization_id = %(id)s AND is_made
            UNION ALL
            SELECT vendor_id, service_id FROM service_customers WHERE ended_organization_id = %(id)s) AS c
    JOIN   services s      ON s.organization_id = c.vendor_id AND s.id = c.service_id
    JOIN   organizations v ON v.id = c.vendor_id
    LIMIT  1
"""


def page_of(wanted: OrganizationFilter, matches: Matches) -> LiteralString:
    """Return the statement of a page of organizations."""
    page = f"SELECT o.* {_FILTERED} {_searching(wanted, matches)} {_FROM_THERE}"
    return f"WITH page AS MATERIALIZED ({page}) {_SHOWN} {_IN_ORDER}"


def count_of(wanted: OrganizationFilter, matches: Matches) -> LiteralString:
    """Return the statement that counts organizations."""
    return f"SELECT count(*) FROM (SELECT {_FILTERED} {_searching(wanted, matches)} LIMIT %(counted_max)s) AS counted"


class PostgresOrganizationRecords(Aggregate):
    """The port `OrganizationRecords`."""

    def matches(self, text: str, *, hides_owners: bool) -> Matches:
        parameters = {"text": text, "hides_owners": hides_owners, "limit": RARE_MAX + 1}
        # Planned for each text anew: a rare one is found by its index.
        find = partial(self._values, parameters=parameters, prepare=False)
        ids = set[UUID](find(_WITH_OWNER))
        if len(text) < GROUP_LETTERS:
            return Matches(ids=ids, has_all=False)
        for statement in _WITH_DOMAIN:
            found = find(statement)
            ids.update(found if len(found) <= RARE_MAX else ())
        named = find(WITH_NAME)
        return Matches(ids=ids.union(named), has_all=len(named) <= RARE_MAX)

    def page(
        self, wanted: OrganizationFilter, matches: Matches, *, after: Position | None, limit: int
    ) -> Sequence[ListedOrganization]:
        place = {"at": after.at if after is not None else None, "id": after.id if after is not None else None}
        return self._listed(
            self._rows(
                page_of(wanted, matches),
                {**_parameters(wanted, matches), **place, "limit": limit},
                # Planned for each text anew: rare ones are found by their ids, and others in the order of the list.
                prepare=False,
            )
        )

    def count(self, wanted: OrganizationFilter, matches: Matches, *, counted_max: int) -> int:
        parameters = {**_parameters(wanted, matches), "counted_max": counted_max}
        [total] = self._values(count_of(wanted, matches), parameters, prepare=False)
        return total

    def detail(self, organization_id: UUID, *, domains_max: int, counted_max: int) -> PlatformOrganizationRecord | None:
        found = self._rows(_RECORD, (organization_id,))
        if not found:
            return None
        [row] = found
        parameters = {
            "id": organization_id,
            **live_at(self._transaction.now),
            "counted_max": counted_max,
            "domains_max": domains_max,
        }
        organization, tier = organization_row(**taken(row, "organization_")), Tier(**taken(row, "tier_"))
        max_services, max_users = limits(organization, tier)
        return PlatformOrganizationRecord(
            organization=organization,
            tier=tier,
            owner=_owner(**taken(row, "owner_")),
            approved_by=row["approved_by"],
            figures=self._figures(organization_id, parameters),
            domains=self._all(ClaimedDomain, _DOMAINS, parameters),
            max_services=max_services,
            max_users=max_users,
            is_unclaimed=row["is_unclaimed"],
            maker=self._one(Maker, _MAKER, parameters) if row["is_unclaimed"] else None,
        )

    def products(self, organization_id: UUID, *, limit: int) -> Sequence[UsedProduct]:
        values = {"id": organization_id, "now": self._transaction.now, "limit": limit}
        return self._all(_used_product, _PRODUCTS, values)

    def served(self, organization_id: UUID, *, limit: int, counted_max: int) -> Sequence[ServedCustomers]:
        return self._all(ServedCustomers, _SERVED, {"id": organization_id, "limit": limit, "counted_max": counted_max})

    def names(self, organization_ids: Sequence[UUID]) -> Mapping[UUID, tuple[str, str]]:
        rows = self._rows("SELECT id, name, slug FROM organizations WHERE id = ANY (%s)", (list(organization_ids),))
        return {row["id"]: (row["name"], row["slug"]) for row in rows}

    def waiting(self, *, limit: int) -> Sequence[ListedOrganization]:
        return self._listed(self._rows(_WAITING, {"limit": limit}))

    def _figures(self, organization_id: UUID, parameters: dict[str, Any]) -> OrganizationFigures:
        [row] = self._rows(_FIGURES, parameters)
        last_sign_in_at = self._defer_last_sign_in(organization_id, row.pop("last_counted_day"))
        last_change_at = self._defer_value_or_none(_LAST_CHANGE, {"id": organization_id})
        return OrganizationFigures(last_sign_in_at=last_sign_in_at(), last_change_at=last_change_at(), **row)

    def _listed(self, rows: Sequence[dict[str, Any]]) -> Sequence[ListedOrganization]:
        """Return the organizations of a page; the log is asked for each of them, all in one round trip."""
        last = [self._defer_last_sign_in(row["id"], row.pop("last_counted_day")) for row in rows]
        return [
            _listed(last_sign_in_at=last_sign_in_at(), **row) for row, last_sign_in_at in zip(rows, last, strict=True)
        ]

    def _defer_last_sign_in(self, organization_id: UUID, last_counted_day: date | None) -> Deferred[datetime | None]:
        kept = kept_values(self._transaction.now)
        day = datetime.combine(last_counted_day, time(), UTC) if last_counted_day is not None else None
        from_id = max(kept["kept_id"], first_id_since(day)) if day is not None else kept["kept_id"]
        found = self._defer_value_or_none(
            _LAST_SIGN_IN, {"id": organization_id, "from_id": from_id, "now_id": kept["now_id"]}
        )
        return lambda: found() or day


def _searching(wanted: OrganizationFilter, matches: Matches) -> LiteralString:
    if not wanted.search:
        return ""
    return "AND o.id = ANY (%(matches)s)" if matches.has_all else f"AND ({_WITH_TEXT} OR o.id = ANY (%(matches)s))"


def _parameters(wanted: OrganizationFilter, matches: Matches) -> dict[str, Any]:
    return {
        "status": wanted.status.value if wanted.status is not None else None,
        "tier_id": wanted.tier_id,
        "text": wanted.search,
        "matches": list(matches.ids),
    }


def _used_product(*, is_accepted: bool, is_paused: bool, **columns: Any) -> UsedProduct:
    return UsedProduct(state=relation_log.state_of(is_accepted=is_accepted, is_paused=is_paused), **columns)


def _listed(
    *, status: str, owner_id: UUID | None, owner_email: str | None, owner_is_platform_owner: bool | None, **columns: Any
) -> ListedOrganization:
    owner = _owner(id=owner_id, email=owner_email, is_platform_owner=owner_is_platform_owner)
    return ListedOrganization(status=OrganizationStatus(status), owner=owner, **columns)


def _owner(*, id: UUID | None, **columns: Any) -> RecordOwner | None:  # noqa: A002 - the name of the column
    return RecordOwner(id=id, **columns) if id is not None else None
