"""Reading the personal data of a person."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.admissions import is_membership
from adapters.postgres.driver.columns import converted
from adapters.postgres.log_times import kept_values
from adapters.postgres.transaction import Aggregate
from core.organizations.organizations import OWNER
from core.privacy.export import (
    ExportedAdmission,
    ExportedAssignment,
    ExportedCustomer,
    ExportedGroup,
    ExportedIdentity,
    ExportedLogin,
    ExportedMembership,
    ExportedMessage,
    ExportedMetadata,
    ExportedMfaEvent,
    OwnedOrganization,
)
from core.sessions.mfa_methods import MfaMethods

_owned: Final = converted(OwnedOrganization, mfa_methods=MfaMethods)
_login: Final = converted(ExportedLogin, risk_factors=json.dumps)
_LOGIN: Final = """
    id, created_at AS timestamp, ip_address, user_agent, provider, success, reason, risk_score, risk_factors,
    geo_country, geo_city
"""
_LOGINS: Final = """
    FROM  login_events
    WHERE user_id = %(user_id)s AND id >= %(kept_id)s AND id < %(now_id)s
      AND (%(within)s::uuid[] IS NULL OR organization_id = ANY (%(within)s))
"""


class PostgresPrivacyExport(Aggregate):
    """The port `PrivacyExport`."""

    def organizations_owned_by(self, user_id: UUID, owner_id: UUID) -> Sequence[OwnedOrganization]:
        return self._all(
            _owned,
            """
            SELECT o.id AS organization_id, o.status = 'active' AS is_active, o.mfa_required, o.mfa_methods
            FROM   memberships owned
            JOIN   organizations o ON o.id = owned.organization_id
            WHERE  owned.user_id = %(owner_id)s AND owned.role = %(owner)s
              AND  (EXISTS (SELECT
                            FROM   memberships
                            WHERE  organization_id = owned.organization_id AND user_id = %(user_id)s
                              AND  confirmed_at IS NOT NULL)
                    OR EXISTS (SELECT
                               FROM   service_users
                               WHERE  organization_id = owned.organization_id AND user_id = %(user_id)s
                                 -- A link that a key made gives nothing until its user has signed in.
                                 AND  last_login_at IS NOT NULL))
            """,
            {"user_id": user_id, "owner_id": owner_id, "owner": OWNER},
        )

    def memberships(self, user_id: UUID, *, within: Sequence[UUID] | None) -> Sequence[ExportedMembership]:
        return self._all(
            ExportedMembership,
            f"""
            SELECT   m.organization_id, o.slug AS organization_slug, m.role, m.created_at AS joined_at
            FROM     memberships m
            JOIN     organizations o ON o.id = m.organization_id
            WHERE    m.user_id = %(user_id)s AND {is_membership("m")}
              AND    (%(within)s::uuid[] IS NULL OR m.organization_id = ANY (%(within)s))
            ORDER BY m.created_at, o.slug
            """,
            _values(user_id, within),
        )

    def groups(self, user_id: UUID, *, within: Sequence[UUID] | None) -> Sequence[ExportedGroup]:
        return self._all(
            ExportedGroup,
            """
            SELECT   i.organization_id, 'scim' AS source, g.display_name AS name
            FROM     directory_group_members i
            JOIN     directory_groups g ON g.organization_id = i.organization_id AND g.id = i.group_id
            WHERE    i.user_id = %(user_id)s
              AND    (%(within)s::uuid[] IS NULL OR i.organization_id = ANY (%(within)s))
            UNION ALL
            SELECT   i.organization_id, i.connection_id::text, asserted.name
            FROM     identities i
            CROSS    JOIN LATERAL unnest(i.groups) AS asserted (name)
            WHERE    i.user_id = %(user_id)s AND i.connection_id IS NOT NULL
              AND    (%(within)s::uuid[] IS NULL OR i.organization_id = ANY (%(within)s))
            ORDER BY organization_id, source, name
            """,
            _values(user_id, within),
        )

    def service_metadata(self, user_id: UUID, *, within: Sequence[UUID] | None) -> Sequence[ExportedMetadata]:
        return self._all(
            ExportedMetadata,
            """
            SELECT   d.organization_id, o.slug AS organization_slug, s.slug AS service_slug, d.metadata
            FROM     service_user_metadata d
            JOIN     organizations o ON o.id = d.organization_id
            JOIN     services s      ON s.organization_id = d.organization_id AND s.id = d.service_id
            WHERE    d.user_id = %(user_id)s AND d.metadata <> '{}'
              AND    (%(within)s::uuid[] IS NULL OR d.organization_id = ANY (%(within)s))
            ORDER BY o.slug, s.slug
            """,
            _values(user_id, within),
        )

    def customers(self, user_id: UUID, organization_ids: Sequence[UUID]) -> Sequence[ExportedCustomer]:
        return self._all(
            ExportedCustomer,
            """
            SELECT   c.id AS customer_id, co.id AS organization_id, co.slug AS organization_slug,
                     vo.slug AS vendor_slug, v.slug AS service_slug, own.first_sign_in_at, own.last_sign_in_at
            FROM     customer_users own
            JOIN     service_customers c ON c.id = own.customer_id
            JOIN     organizations co    ON co.id = coalesce(c.organization_id, c.ended_organization_id)
            JOIN     organizations vo    ON vo.id = c.vendor_id
            JOIN     services v          ON v.organization_id = c.vendor_id AND v.id = c.service_id
            WHERE    own.organization_id = ANY (%s) AND own.user_id = %s
            ORDER BY own.first_sign_in_at, c.id
            """,
            (list(organization_ids), user_id),
        )

    def admissions(self, user_id: UUID, organization_ids: Sequence[UUID]) -> Sequence[ExportedAdmission]:
        return self._all(
            ExportedAdmission,
            """
            SELECT   c.id AS customer_id, co.slug AS organization_slug, vo.slug AS vendor_slug, v.slug AS service_slug,
                     m.created_at AS admitted_at, m.suspended_at
            FROM     memberships m
            JOIN     service_customers c ON c.id = m.made_for
            JOIN     organizations co    ON co.id = coalesce(c.organization_id, c.ended_organization_id)
            JOIN     organizations vo    ON vo.id = c.vendor_id
            JOIN     services v          ON v.organization_id = c.vendor_id AND v.id = c.service_id
            WHERE    m.organization_id = ANY (%s) AND m.user_id = %s AND m.made_for IS NOT NULL
            ORDER BY m.created_at, c.id
            """,
            (list(organization_ids), user_id),
        )

    def assignments(self, user_id: UUID, organization_ids: Sequence[UUID]) -> Sequence[ExportedAssignment]:
        return self._all(
            ExportedAssignment,
            """
            WITH assigned AS (SELECT a.organization_id, a.organization_id AS vendor_id, a.service_id, a.role_ids
                              FROM   service_assignments a
                              WHERE  a.organization_id = ANY (%(organization_ids)s) AND a.user_id = %(user_id)s
                              UNION ALL
                              SELECT a.organization_id, c.vendor_id, c.service_id, a.role_ids
                              FROM   customer_assignments a
                              JOIN   service_customers c
                                ON   c.id = a.customer_id AND c.organization_id = a.organization_id
                              WHERE  a.organization_id = ANY (%(organization_ids)s) AND a.user_id = %(user_id)s)
            SELECT   a.organization_id, o.slug AS organization_slug, vo.slug AS vendor_slug, v.slug AS service_slug,
                     given.roles
            FROM     assigned a
            JOIN     organizations o  ON o.id = a.organization_id
            JOIN     organizations vo ON vo.id = a.vendor_id
            JOIN     services v       ON v.organization_id = a.vendor_id AND v.id = a.service_id
            CROSS    JOIN LATERAL (SELECT ARRAY(SELECT   known.key
                                                FROM     jsonb_each_text(v.role_ids) AS known
                                                WHERE    known.value::uuid = ANY (a.role_ids)
                                                ORDER BY known.key) AS roles) AS given
            -- An assignment whose roles the service no longer has fits no member.
            WHERE    a.role_ids = '{}' OR given.roles <> '{}'
            ORDER BY o.slug, vo.slug, v.slug
            """,
            {"organization_ids": list(organization_ids), "user_id": user_id},
        )

    def messages(
        self, user_id: UUID, received_by: str | None, organization_ids: Sequence[UUID], limit: int
    ) -> Sequence[ExportedMessage]:
        return self._all(
            ExportedMessage,
            """
            SELECT   i.organization_id, o.slug AS organization_slug,
                     coalesce(i.invited_by = %(user_id)s, false) AS is_sent, i.message, i.created_at
            FROM     invitations i
            JOIN     organizations o ON o.id = i.organization_id
            WHERE    i.organization_id = ANY (%(organization_ids)s) AND i.message IS NOT NULL
              AND    (i.invited_by = %(user_id)s OR i.email = %(received_by)s)
            ORDER BY i.created_at DESC, i.id DESC
            LIMIT    %(limit)s
            """,
            {
                "user_id": user_id,
                "received_by": received_by,
                "organization_ids": list(organization_ids),
                "limit": limit,
            },
        )

    def identities(self, user_id: UUID, *, within: Sequence[UUID] | None) -> Sequence[ExportedIdentity]:
        return self._all(
            ExportedIdentity,
            """
            SELECT   provider, subject AS provider_user_id, linked_at, own_subject AS own_id, name, given_name,
                     family_name, NULL::timestamptz AS left_at
            FROM     identities
            WHERE    user_id = %(user_id)s
              AND    (%(within)s::uuid[] IS NULL OR organization_id = ANY (%(within)s))
            UNION ALL
            SELECT   'upstream', subject, linked_at, NULL, NULL, NULL, NULL, left_at
            FROM     departed_identities
            WHERE    user_id = %(user_id)s
              AND    (%(within)s::uuid[] IS NULL OR organization_id = ANY (%(within)s))
            ORDER BY linked_at, provider, provider_user_id
            """,
            _values(user_id, within),
        )

    def count_logins(self, user_id: UUID, *, within: Sequence[UUID] | None) -> int:
        return self._value(f"SELECT count(*) {_LOGINS}", _values(user_id, within) | kept_values(self._transaction.now))

    def newest_logins(self, user_id: UUID, limit: int, *, within: Sequence[UUID] | None) -> Sequence[ExportedLogin]:
        # Successful and failed sign-ins separately, because the index returns only each kind in the order of time.
        return self._all(
            _login,
            f"""
            (SELECT {_LOGIN} {_LOGINS} AND success ORDER BY id DESC LIMIT %(limit)s)
            UNION ALL
            (SELECT {_LOGIN} {_LOGINS} AND NOT success ORDER BY id DESC LIMIT %(limit)s)
            ORDER BY id DESC
            LIMIT    %(limit)s
            """,
            _values(user_id, within) | kept_values(self._transaction.now) | {"limit": limit},
        )

    def newest_mfa_events(self, user_id: UUID, limit: int) -> Sequence[ExportedMfaEvent]:
        return self._all(
            ExportedMfaEvent,
            """
            SELECT   event_type, created_at AS timestamp, success
            FROM     mfa_events
            WHERE    user_id = %s
            ORDER BY created_at DESC, id DESC
            LIMIT    %s
            """,
            (user_id, limit),
        )


def _values(user_id: UUID, within: Sequence[UUID] | None) -> dict[str, Any]:
    return {"user_id": user_id, "within": list(within) if within is not None else None}
