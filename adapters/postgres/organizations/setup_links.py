"""Setup links and their visits in the tables `setup_links` and `setup_visits`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.driver.columns import columns, placeholders, prefixed, taken, values
from adapters.postgres.organizations.access import maker
from adapters.postgres.organizations.organizations import organization_row
from adapters.postgres.transaction import Aggregate
from core.organizations.access import Capability, capabilities_of
from core.organizations.link_callers import LinkCaller, MadeFor, Part
from core.organizations.organizations import ADMIN, Membership, Organization
from core.organizations.setup_links import MadeSetupLink, PartProgress, SetupLink
from core.sessions.caller_limits import CallerLimits, LinkLimits
from core.sign_in.upstream.provider_problems import ProviderProblem

# The link, its organization, and its maker as a member of it.
_CALLER: Final = f"""
    SELECT l.id AS link_id, l.parts, l.roles, l.service_id, s.slug AS service_slug, l.expires_at,
           l.created_at AS made_at,
           {prefixed(Organization, table="o", prefix="organization_")},
           {prefixed(Membership, table="m", prefix="membership_")},
           r.permissions AS custom_permissions, l.made_by_key, k.permissions AS key_permissions,
           coalesce((SELECT jsonb_object_agg(g.slug, g.permissions)
                     FROM   organization_roles g
                     WHERE  g.organization_id = l.organization_id AND g.slug = ANY (l.roles)), '{{}}')
               AS given_permissions,
           u.email, u.email_verified_at, u.created_at AS user_created_at, u.disowned_at IS NOT NULL AS is_disowned
    FROM   setup_links l
    JOIN   organizations o ON o.id = l.organization_id AND o.status = 'active'
    JOIN   memberships m
           ON m.organization_id = l.organization_id AND m.user_id = l.created_by AND m.suspended_at IS NULL
    JOIN   users u ON u.id = l.created_by AND u.deactivated_at IS NULL AND u.locked_at IS NULL
    LEFT   JOIN organization_roles r ON r.organization_id = m.organization_id AND r.slug = m.role
    LEFT   JOIN services s ON s.organization_id = l.organization_id AND s.id = l.service_id
    LEFT   JOIN organization_keys k ON k.organization_id = l.organization_id AND k.id = l.made_by_key
"""

# The link of an internal organization, for whose customer a vendor made it, and its maker: the key of a service, else a
# member of the vendor, with a grant on the service or without one.
_CUSTOMER_CALLER: Final = f"""
    SELECT l.id AS link_id, l.parts, l.expires_at, l.created_at AS made_at, l.created_by, l.return_url,
           l.reported_actor, c.id AS customer_id, c.vendor_id, vo.name AS vendor_name, co.name AS customer_name,
           v.name AS service_name, l.made_by_api_key IS NOT NULL AS is_by_program,
           k.expires_at IS NULL OR k.expires_at > %(now)s AS is_key_valid,
           l.made_by_key, l.made_by_key IS NULL
                          OR ('services.manage' = ANY (ok.permissions)
                              AND (ok.expires_at IS NULL OR ok.expires_at > %(now)s)) AS may_maker_key,
           {prefixed(Organization, table="o", prefix="organization_")},
           m.role, r.permissions AS custom_permissions, coalesce(g.relation = 'manager', false) AS manages_service,
           u.deactivated_at IS NULL AND u.locked_at IS NULL AS may_maker_sign_in,
           co.is_unclaimed OR l.parts <@ c.vendor_setup AS is_open,
           u.email, u.email_verified_at, u.created_at AS user_created_at, u.disowned_at IS NOT NULL AS is_disowned
    FROM   setup_links l
    JOIN   organizations o     ON o.id = l.organization_id AND o.status = 'active'
    JOIN   service_customers c ON c.id = o.internal_of
    JOIN   organizations co    ON co.id = c.organization_id
    JOIN   organizations vo    ON vo.id = c.vendor_id
    JOIN   services v          ON v.organization_id = c.vendor_id AND v.id = c.service_id
    JOIN   users u             ON u.id = l.created_by
    LEFT   JOIN api_keys k     ON k.id = l.made_by_api_key
    LEFT   JOIN organization_keys ok ON ok.organization_id = c.vendor_id AND ok.id = l.made_by_key
    LEFT   JOIN memberships m  ON m.organization_id = c.vendor_id AND m.user_id = l.created_by
                              AND m.suspended_at IS NULL
    LEFT   JOIN organization_roles r ON r.organization_id = m.organization_id AND r.slug = m.role
    LEFT   JOIN service_grants g ON g.organization_id = m.organization_id AND g.service_id = v.id
                                AND g.user_id = m.user_id AND g.relation = 'manager'
"""

# The last change of a directory is looked for among that many entries of its log.
SCANNED_MAX: Final = 1_000
OF_ONE_SIGN_IN: Final = [problem.value for problem in ProviderProblem if problem.is_of_one_sign_in]
# A connection fails when its last check found what prevents sign-ins, or after its last sign-in another one failed that
# was no matter of one sign-in (`ProviderProblem.is_of_one_sign_in`). A directory fails when its last change was
# refused; that it asks for users who do not exist is no failure.
_PROGRESS: Final = """
    WITH directory_changes AS (
        SELECT row_number() OVER (ORDER BY id DESC) AS place, created_at, status
        FROM   (SELECT   id, token_id, method, created_at, status
                FROM     scim_log_entries
                WHERE    organization_id = %(organization_id)s
                ORDER BY id DESC
                LIMIT    %(scanned_max)s) recent
        WHERE  method <> 'GET'
          AND  token_id IN (SELECT id FROM scim_tokens WHERE organization_id = %(organization_id)s)
    )
    SELECT 'saml' AS part, coalesce(bool_or(enabled), false) AS is_saved, false AS is_set,
           NULL::timestamptz AS tested_at,
           max(last_request_at) AS used_at,
           max(last_error_at) FILTER (WHERE last_error_at > coalesce(last_request_at, '-infinity')) AS failing_since
    FROM   saml_configurations
    WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
    UNION ALL
    SELECT 'scim', count(*) > 0, false, NULL, max(last_used_at),
           (SELECT min(created_at)
            FROM   directory_changes
            WHERE  place < coalesce((SELECT min(place) FROM directory_changes WHERE status < 400),
                                    %(scanned_max)s + 1))
    FROM   scim_tokens
    WHERE  organization_id = %(organization_id)s
    UNION ALL
    SELECT 'upstream', count(*) > 0, coalesce(bool_or(c.enabled), false), max(c.checked_at) FILTER (WHERE c.is_right),
           max(c.used_at),
           min(CASE WHEN NOT c.is_right THEN c.checked_at ELSE c.failing_since END)
    FROM   (SELECT u.enabled, u.checked_at, i.used_at,
                   u.checked_at IS NULL OR u.check_problem IS NULL OR u.check_problem = 'secret_unclear' AS is_right,
                   (SELECT min(f.first_at)
                    FROM   upstream_failures f
                    WHERE  f.organization_id = u.organization_id AND f.connection_id = u.id
                      AND  (i.used_at IS NULL
                            OR (f.last_at > i.used_at
                                AND f.problem <> ALL (%(of_one_sign_in)s)))) AS failing_since
            FROM   upstream_connections u
            LEFT   JOIN LATERAL (
                SELECT max(used_at) AS used_at
                FROM   identities
                WHERE  organization_id = u.organization_id AND connection_id = u.id) i ON true
            WHERE  u.organization_id = %(organization_id)s) c
    UNION ALL
    SELECT 'domain', count(*) > 0, false, NULL, max(verified_at), max(failing_since)
    FROM   custom_domains
    WHERE  organization_id = %(organization_id)s
    UNION ALL
    SELECT 'siem', count(*) > 0, false, NULL, max(last_success_at),
           max(coalesce(last_success_at, created_at)) FILTER (WHERE failures > 0)
    FROM   siem_streams
    WHERE  organization_id = %(organization_id)s
    UNION ALL
    SELECT 'groups', count(*) > 0, count(*) > 0, NULL,
           max(coalesce(g.updated_at, (SELECT max(i.used_at)
                                       FROM   identities i
                                       WHERE  i.organization_id = r.organization_id
                                         AND  i.connection_id = r.connection_id))),
           NULL
    FROM   (SELECT organization_id, group_id, connection_id
            FROM   group_rules
            WHERE  organization_id = %(organization_id)s
            UNION ALL
            SELECT organization_id, group_id, connection_id
            FROM   customer_group_rules
            WHERE  organization_id = %(organization_id)s) r
    LEFT   JOIN directory_groups g ON g.organization_id = r.organization_id AND g.id = r.group_id
    UNION ALL
    SELECT 'mail_domain', count(*) > 0, coalesce(bool_or(verified_at IS NOT NULL), false), NULL, NULL,
           max(failing_since)
    FROM   domain_routes
    WHERE  organization_id = %(organization_id)s
"""

_OF_SERVICE: Final = ("service_slug",)
_LINK: Final = f"{columns(SetupLink, table='l', without=_OF_SERVICE)}, s.slug AS service_slug"
_REMOVED: Final = f"""
    {columns(SetupLink, without=_OF_SERVICE)},
    (SELECT slug
     FROM   services s
     WHERE  s.organization_id = setup_links.organization_id AND s.id = setup_links.service_id) AS service_slug
"""


class PostgresSetupLinks(Aggregate):
    """The port `SetupLinks`."""

    def add(self, organization_id: UUID, link: SetupLink, *, service_id: UUID | None, secret_hash: bytes) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO setup_links ({columns(SetupLink, without=_OF_SERVICE)}, organization_id, service_id,
                                     secret_hash)
            VALUES ({placeholders(SetupLink, without=_OF_SERVICE)}, %(organization_id)s, %(service_id)s,
                    %(secret_hash)s)
            """,
            values(link) | {"organization_id": organization_id, "service_id": service_id, "secret_hash": secret_hash},
        )

    def count(self, organization_id: UUID) -> int:
        return self._value(
            "SELECT count(*) FROM setup_links WHERE organization_id = %s AND expires_at > %s",
            (organization_id, self._transaction.now),
        )

    def of_organization(self, organization_id: UUID) -> Sequence[SetupLink]:
        return self._all(
            SetupLink,
            f"""
            SELECT   {_LINK}
            FROM     setup_links l
            LEFT     JOIN services s ON s.organization_id = l.organization_id AND s.id = l.service_id
            WHERE    l.organization_id = %s AND l.expires_at > %s
            ORDER BY l.created_at DESC, l.id DESC
            """,
            (organization_id, self._transaction.now),
        )

    def with_makers(self, organization_id: UUID) -> Sequence[MadeSetupLink]:
        return self._all(
            _made,
            f"""
            SELECT   {_LINK}, u.email AS maker_email,
                     CASE WHEN m.suspended_at IS NULL THEN m.role END AS maker_role,
                     k.name AS key_name, k.permissions AS key_permissions
            FROM     setup_links l
            LEFT     JOIN services s ON s.organization_id = l.organization_id AND s.id = l.service_id
            LEFT     JOIN memberships m ON m.organization_id = l.organization_id AND m.user_id = l.created_by
            LEFT     JOIN users u ON u.id = m.user_id
            LEFT     JOIN organization_keys k ON k.organization_id = l.organization_id AND k.id = l.made_by_key
            WHERE    l.organization_id = %s AND l.expires_at > %s
            ORDER BY l.created_at DESC, l.id DESC
            """,
            (organization_id, self._transaction.now),
        )

    def remove(self, organization_id: UUID, link_id: UUID) -> SetupLink | None:
        return self._one(
            SetupLink,
            f"DELETE FROM setup_links WHERE organization_id = %s AND id = %s RETURNING {_REMOVED}",
            (organization_id, link_id),
        )

    def remove_of_maker(self, organization_ids: Sequence[UUID], user_id: UUID) -> Sequence[tuple[UUID, SetupLink]]:
        rows = self._rows(
            f"""
            DELETE FROM setup_links
            WHERE       created_by = %(user_id)s
              AND       (organization_id = ANY (%(organization_ids)s)
                         OR (made_by_api_key IS NULL
                             AND organization_id IN (SELECT i.id
                                                     FROM   service_customers c
                                                     JOIN   organizations i ON i.internal_of = c.id
                                                     WHERE  c.vendor_id = ANY (%(organization_ids)s))))
            RETURNING   coalesce((SELECT c.vendor_id
                                  FROM   organizations i
                                  JOIN   service_customers c ON c.id = i.internal_of
                                  WHERE  i.id = setup_links.organization_id), organization_id) AS organization_id,
                        {_REMOVED}
            """,
            {"organization_ids": list(organization_ids), "user_id": user_id},
        )
        ordered = sorted(rows, key=lambda row: (row["organization_id"], row["id"]))
        return [(row.pop("organization_id"), SetupLink(**row)) for row in ordered]

    def caller_by_secret(self, secret_hash: bytes) -> LinkCaller | None:
        condition = "WHERE l.secret_hash = %(secret_hash)s AND l.expires_at > %(now)s"
        return self._caller_where(condition, secret_hash, b"")

    def caller_of_visit(self, visit_hash: bytes) -> LinkCaller | None:
        condition = """
            JOIN   setup_visits visit ON visit.organization_id = l.organization_id AND visit.link_id = l.id
            WHERE  visit.secret_hash = %(secret_hash)s AND l.expires_at > %(now)s
        """
        return self._caller_where(condition, visit_hash, visit_hash)

    def _caller_where(self, condition: LiteralString, secret_hash: bytes, visit_hash: bytes) -> LinkCaller | None:
        named = {"secret_hash": secret_hash, "now": self._transaction.now}
        found = self._one(partial(_caller, visit_hash), f"{_CALLER} {condition}", named)
        return found or self._one(partial(_customer_caller, visit_hash), f"{_CUSTOMER_CALLER} {condition}", named)

    def add_visit(self, organization_id: UUID, link_id: UUID, *, secret_hash: bytes) -> None:
        self._connection.execute_later(
            "UPDATE setup_links SET last_used_at = %s WHERE organization_id = %s AND id = %s",
            (self._transaction.now, organization_id, link_id),
        )
        self._connection.execute_later(
            "INSERT INTO setup_visits (secret_hash, organization_id, link_id) VALUES (%s, %s, %s)",
            (secret_hash, organization_id, link_id),
        )

    def progress(self, organization_id: UUID, service_id: UUID | None) -> Sequence[PartProgress]:
        return self._all(
            PartProgress,
            _PROGRESS,
            {
                "organization_id": organization_id,
                "service_id": service_id,
                "scanned_max": SCANNED_MAX,
                "of_one_sign_in": OF_ONE_SIGN_IN,
            },
        )


def _caller(visit_hash: bytes, **columns: Any) -> LinkCaller:
    organization = organization_row(**taken(columns, "organization_"))
    membership = Membership(**taken(columns, "membership_"))
    return _holder(visit_hash, organization, membership, columns)


def _customer_caller(  # noqa: PLR0913 - one for each column that says something of the maker
    visit_hash: bytes,
    *,
    role: str | None,
    custom_permissions: list[str] | None,
    manages_service: bool,
    may_maker_sign_in: bool,
    is_by_program: bool,
    is_key_valid: bool,
    may_maker_key: bool,
    is_open: bool,
    created_by: UUID,
    **columns: Any,
) -> LinkCaller:
    internal = organization_row(**taken(columns, "organization_"))
    organization = replace(internal, name=columns["customer_name"])
    is_manager = role is not None and Capability.SERVICES_MANAGE in capabilities_of(role, custom_permissions)
    is_of_member = may_maker_sign_in and may_maker_key and (is_manager or manages_service)
    is_entitled = is_key_valid if is_by_program else is_of_member
    made_for = MadeFor(
        is_allowed=is_open and is_entitled,
        **{one.name: columns.pop(one.name) for one in fields(MadeFor) if one.name in columns},
    )
    # The rights of the maker alone, in the internal organization, while the link is valid.
    membership = Membership(
        id=columns["link_id"],
        organization_id=organization.id,
        user_id=created_by,
        role=ADMIN,
        created_at=columns["made_at"],
    )
    columns |= {"roles": [], "service_id": None, "service_slug": None}
    columns |= {"custom_permissions": None, "given_permissions": {}, "key_permissions": None}
    return _holder(visit_hash, organization, membership, columns, made_for)


def _holder(
    visit_hash: bytes,
    organization: Organization,
    membership: Membership,
    columns: dict[str, Any],
    made_for: MadeFor | None = None,
) -> LinkCaller:
    """Return the holder of a link of this organization, whose other columns are those of `_CALLER`."""
    parts = columns.pop("parts")
    limits = CallerLimits(
        link=LinkLimits(
            id=columns["link_id"],
            parts=parts,
            roles=columns["roles"],
            service_id=columns["service_id"],
            visit_hash=visit_hash,
            key_id=columns.pop("made_by_key"),
        )
    )
    maker_of_it = maker(columns["link_id"], organization, membership, limits, columns)
    return LinkCaller(
        parts=[Part(part) for part in parts],
        organization=organization,
        membership=membership,
        maker=maker_of_it,
        made_for=made_for,
        **columns,
    )


def _made(**columns: Any) -> MadeSetupLink:
    of_maker = {name: columns.pop(name) for name in ("maker_email", "maker_role", "key_name", "key_permissions")}
    return MadeSetupLink(link=SetupLink(**columns), **of_maker)
