"""Services and their end users in their tables, and the verified domains of organizations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.domains_in_force import PROVED, in_force_at
from adapters.postgres.driver.columns import assignments, columns, placeholders, values
from adapters.postgres.services.assignments import OF_SERVICE, assignments_row
from adapters.postgres.sessions.token_additions import claims_row
from adapters.postgres.transaction import Aggregate
from core.organizations.organizations import Organization
from core.services.management import CountedService, ServicesPage, Usage
from core.services.own_claims import ServiceScope
from core.services.services import (
    Admission,
    CustomerPolicy,
    Individuals,
    Service,
    ServiceFields,
    ServiceRole,
    ServiceType,
)
from core.sessions.group_forms import GroupsAs
from core.sessions.security_profiles import SecurityProfile, SignatureAlgorithm

SELECT_SERVICE: Final = f"SELECT {columns(Service, table='s')}"
USAGE: Final = """
    SELECT (SELECT count(*) FROM services WHERE organization_id = %(organization_id)s) AS current_services,
           coalesce(%(max_services)s, t.default_max_services)                          AS max_services,
           t.display_name                                                              AS tier
    FROM   tiers t
    WHERE  t.id = %(tier_id)s
"""
# At least one row, for the usage.
PAGE: Final = f"""
    SELECT    used.current_services, used.max_services, used.tier, page.*
    FROM      ({USAGE}) AS used
    LEFT JOIN LATERAL ({SELECT_SERVICE},
                                (SELECT count(*)
                                 FROM   plans
                                 WHERE  organization_id = s.organization_id AND service_id = s.id) AS plan_count,
                                (SELECT count(*)
                                 FROM   subscriptions
                                 WHERE  service_id = s.id
                                   AND  status IN ('active', 'past_due')) AS subscription_count,
                                {OF_SERVICE} AS assignments
                       FROM     services s
                       WHERE    s.organization_id = %(organization_id)s
                         AND    s.service_type = coalesce(%(service_type)s, s.service_type)
                       ORDER BY s.created_at, s.id
                       LIMIT    %(limit)s OFFSET %(offset)s) AS page ON true
    ORDER BY  page.created_at, page.id
"""
# What a service may have millions of is deleted in parts, each within the time limit of a statement. The other rows
# follow from the foreign keys.
_PLENTIFUL: Final = (
    """
    DELETE FROM sessions
    WHERE  id = ANY (ARRAY(
        SELECT id
        FROM   sessions
        WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
        LIMIT  %(limit)s))
    """,
    """
    UPDATE login_events
    SET    service_id = NULL
    WHERE  organization_id = %(organization_id)s AND id = ANY (ARRAY(
        SELECT id
        FROM   login_events
        WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
        LIMIT  %(limit)s))
    """,
    """
    DELETE FROM subscriptions
    WHERE  id = ANY (ARRAY(
        SELECT id
        FROM   subscriptions
        WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
        LIMIT  %(limit)s))
    """,
    """
    DELETE FROM service_users
    WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
      AND  user_id = ANY (ARRAY(
        SELECT user_id
        FROM   service_users
        WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
        LIMIT  %(limit)s))
    """,
    # What the trigger wrote about the links.
    """
    DELETE FROM service_user_changes
    WHERE  id = ANY (ARRAY(SELECT id FROM service_user_changes WHERE service_id = %(service_id)s LIMIT %(limit)s))
    """,
)
DELETED_AT_ONCE_MAX: Final = 50_000
_ENUMERATIONS: Final = {
    "service_type": ServiceType,
    "customers": CustomerPolicy,
    "individuals": Individuals,
    "access": Admission,
    "groups_as": GroupsAs,
    "token_signing": SignatureAlgorithm,
}
# A role keeps its id as long as the service has one of its name.
_ROLE_IDS: Final = """
    (SELECT coalesce(jsonb_object_agg(role ->> 'name',
                                      coalesce(services.role_ids ->> (role ->> 'name'), gen_random_uuid()::text)), '{}')
     FROM   jsonb_array_elements(%(roles)s::jsonb) AS role)
"""


class PostgresServices(Aggregate):
    """The port `Services`."""

    def by_slug(self, organization_id: UUID, slug: str) -> Service | None:
        return self._one(
            service_row,
            f"{SELECT_SERVICE} FROM services s WHERE s.organization_id = %s AND s.slug = %s",
            (organization_id, slug),
        )

    def by_id(self, organization_id: UUID, service_id: UUID) -> Service | None:
        return self._one(
            service_row,
            f"{SELECT_SERVICE} FROM services s WHERE s.organization_id = %s AND s.id = %s",
            (organization_id, service_id),
        )

    def ids_by_slug(self, organization_id: UUID, slugs: Sequence[str]) -> Mapping[str, UUID]:
        found = self._connection.execute(
            "SELECT slug, id FROM services WHERE organization_id = %s AND slug = ANY (%s) ORDER BY slug",
            (organization_id, list(slugs)),
        )
        return dict(found.fetchall())

    def usage(self, organization: Organization) -> Usage:
        return self._only(Usage, USAGE, _limits(organization))

    def page(
        self, organization: Organization, *, service_type: ServiceType | None, limit: int | None, offset: int
    ) -> ServicesPage:
        rows = self._rows(
            PAGE,
            _limits(organization)
            | {
                "service_type": service_type.value if service_type is not None else None,
                "limit": limit,
                "offset": offset,
            },
        )
        usages = [
            Usage(
                current_services=row.pop("current_services"),
                max_services=row.pop("max_services"),
                tier=row.pop("tier"),
            )
            for row in rows
        ]
        return ServicesPage(services=[_counted(**row) for row in rows if row["id"] is not None], usage=usages[0])

    def names(self, organization_id: UUID, *, limit: int) -> Mapping[str, str]:
        found = self._connection.execute(
            "SELECT slug, name FROM services WHERE organization_id = %s ORDER BY lower(name), slug LIMIT %s",
            (organization_id, limit),
        )
        return dict(found.fetchall())

    def unknown_scope(self, organization_id: UUID, names: Sequence[str]) -> str | None:
        return self._value(
            """
            SELECT min(given)
            FROM   unnest(%(names)s::text[]) AS given
            WHERE  NOT EXISTS (SELECT FROM services s, jsonb_array_elements(s.scopes) AS scope
                               WHERE  s.organization_id = %(organization_id)s AND scope ->> 'name' = given)
            """,
            {"organization_id": organization_id, "names": list(names)},
        )

    def add(self, service: Service, *, client_secret_hash: bytes | None) -> bool:
        return self._changes_one(
            f"""
            INSERT INTO services ({columns(Service)}, role_ids, client_secret_hash)
            SELECT {placeholders(Service)}, {_ROLE_IDS}, %(client_secret_hash)s
            FROM   (SELECT '{{}}'::jsonb AS role_ids) AS services
            ON CONFLICT (organization_id, slug) DO NOTHING
            """,
            _values(service) | {"client_secret_hash": client_secret_hash},
        )

    def save(self, service: Service) -> None:
        self._connection.execute_later(
            f"""
            UPDATE services
            SET    {assignments(ServiceFields, without=("slug",))}, role_ids = {_ROLE_IDS},
                   updated_at = %(updated_at)s
            WHERE  organization_id = %(organization_id)s AND id = %(id)s
            """,
            _values(service),
        )

    def claim_audiences(self, service: Service) -> str | None:
        claimed = self._values(
            """
            WITH given_up AS (
                DELETE FROM service_audiences
                WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
                AND    audience <> ALL (%(audiences)s)
            )
            INSERT INTO service_audiences (audience, organization_id, service_id)
            SELECT audience, %(organization_id)s, %(service_id)s
            FROM   unnest(%(audiences)s::text[]) AS audience
            ORDER  BY audience
            ON CONFLICT (audience) DO UPDATE SET service_id = excluded.service_id
            WHERE  service_audiences.organization_id = excluded.organization_id
            AND    service_audiences.service_id = excluded.service_id
            RETURNING audience
            """,
            {
                "organization_id": service.organization_id,
                "service_id": service.id,
                "audiences": service.audiences,
            },
        )
        return min(set(service.audiences).difference(claimed), default=None)

    def set_client_secret(
        self, service: Service, client_secret_hash: bytes | None, *, previous_until: datetime | None
    ) -> None:
        self._connection.execute_later(
            """
            UPDATE services
            SET    client_secret_hash = %(secret_hash)s, previous_secret_expires_at = %(until)s,
                   previous_secret_hash = CASE WHEN %(until)s::timestamptz IS NOT NULL THEN client_secret_hash END,
                   updated_at = %(now)s
            WHERE  organization_id = %(organization_id)s AND id = %(id)s
            """,
            {
                "secret_hash": client_secret_hash,
                "until": previous_until,
                "now": self._transaction.now,
                "organization_id": service.organization_id,
                "id": service.id,
            },
        )

    def lock(self, service: Service) -> None:
        # FOR UPDATE, because a row that refers to the service locks it FOR KEY SHARE.
        self._connection.execute(
            "SELECT FROM services WHERE organization_id = %s AND id = %s FOR UPDATE",
            (service.organization_id, service.id),
        )

    def remove(self, service: Service) -> None:
        values = {
            "organization_id": service.organization_id,
            "service_id": service.id,
            "limit": DELETED_AT_ONCE_MAX,
        }
        for statement in _PLENTIFUL:
            changed = DELETED_AT_ONCE_MAX
            while changed == DELETED_AT_ONCE_MAX:
                changed = self._connection.execute(statement, values).rowcount
        self._connection.execute(
            "DELETE FROM services WHERE organization_id = %s AND id = %s", (service.organization_id, service.id)
        )

    def link_user(self, service: Service, user_id: UUID, *, at: datetime) -> None:
        values = {"service_id": service.id, "organization_id": service.organization_id, "user_id": user_id, "at": at}
        self._connection.execute_later(
            """
            INSERT INTO service_users AS link (service_id, organization_id, user_id, origin, first_login_at,
                                               last_login_at)
            SELECT %(service_id)s, %(organization_id)s, %(user_id)s,
                   CASE WHEN EXISTS (SELECT FROM memberships
                                     WHERE  organization_id = %(organization_id)s AND user_id = %(user_id)s)
                        THEN 'membership' ELSE 'self' END,
                   %(at)s, %(at)s
            ON CONFLICT (service_id, user_id) DO UPDATE
            SET    last_login_at = excluded.last_login_at,
                   origin = CASE WHEN excluded.origin = 'membership' THEN 'membership' ELSE link.origin END
            """,
            values,
        )

    def note_visit(self, service: Service, user_id: UUID, *, at: datetime) -> None:
        values = {"service_id": service.id, "organization_id": service.organization_id, "user_id": user_id, "at": at}
        self._connection.execute_later(
            """
            UPDATE service_users
            SET    last_login_at = %(at)s,
                   origin = CASE WHEN EXISTS (SELECT FROM memberships
                                              WHERE  organization_id = %(organization_id)s AND user_id = %(user_id)s)
                                 THEN 'membership' ELSE origin END
            WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s AND user_id = %(user_id)s
            """,
            values,
        )


def service_row(
    *,
    security_profile: str | None,
    roles: list[dict[str, Any]],
    scopes: list[dict[str, str]],
    claims: list[dict[str, Any]],
    **columns: Any,
) -> Service:
    """Return the service of a row."""
    chosen: dict[str, Any] = {name: kind(columns.pop(name)) for name, kind in _ENUMERATIONS.items()}
    return Service(
        security_profile=SecurityProfile(security_profile) if security_profile is not None else None,
        roles=[ServiceRole(**role) for role in roles],
        scopes=[ServiceScope(**scope) for scope in scopes],
        claims=claims_row(claims) if claims else [],
        **chosen,
        **columns,
    )


def _values(service: Service) -> dict[str, Any]:
    # What is as it is by itself is left out: a process of the previous version may read it, which knows fewer fields.
    roles = [
        {name: value for name, value in asdict(role).items() if name != "scopes" or value} for role in service.roles
    ]
    claims = [
        {"claim": one.claim, "from": one.source, "in_access_token": one.in_access_token} for one in service.claims
    ]
    return values(service) | {
        "roles": Jsonb(roles),
        "scopes": Jsonb([asdict(scope) for scope in service.scopes]),
        "claims": Jsonb(claims),
    }


def _counted(
    *, plan_count: int, subscription_count: int, assignments: list[dict[str, Any]], **columns: Any
) -> CountedService:
    return CountedService(
        service=service_row(**columns),
        assignments=assignments_row(assignments),
        plan_count=plan_count,
        subscription_count=subscription_count,
    )


def _limits(organization: Organization) -> dict[str, Any]:
    return {
        "organization_id": organization.id,
        "max_services": organization.max_services,
        "tier_id": organization.tier_id,
    }


class PostgresVerifiedDomains(Aggregate):
    """The port `VerifiedDomains`."""

    def cover(self, organization_id: UUID, host: str, /) -> bool:
        return self._value(
            f"""
            SELECT EXISTS (SELECT
                           FROM   (SELECT organization_id, domain, verified_at, failing_since
                                   FROM   custom_domains
                                   UNION  ALL
                                   SELECT organization_id, domain, verified_at, failing_since
                                   FROM   domain_routes
                                   WHERE  made_for IS NULL) AS claims
                           WHERE  organization_id = %(organization_id)s AND {PROVED}
                           AND    (domain = %(host)s OR right(%(host)s, length(domain) + 1) = '.' || domain))
                   -- Gatehouse itself is under a custom domain.
                   AND NOT EXISTS (SELECT FROM custom_domains WHERE domain = %(host)s AND verified_at IS NOT NULL)
            """,
            {"organization_id": organization_id, "host": host, **in_force_at(self._transaction.now)},
        )
