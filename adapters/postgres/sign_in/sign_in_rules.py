"""The factors of an organization's members, as far as its sign-in rules ask for them."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.sign_in.sign_in_rules import AskedMember, AskedMembers

# Of a membership `m`. A passkey that has never checked its user counts once it is asked for after another factor.
_RESISTS: Final = """
    (EXISTS (SELECT
             FROM   passkeys p
             WHERE  p.user_id = m.user_id
               AND  (p.verifies_user OR p.second_factor_at IS NOT NULL)
               AND  (p.domain_id IS NULL
                     OR EXISTS (SELECT FROM custom_domains d
                                WHERE  d.organization_id = m.organization_id AND d.id = p.domain_id)))
     OR EXISTS (SELECT
                FROM   identities i
                JOIN   upstream_connections c ON c.organization_id = i.organization_id AND c.id = i.connection_id
                WHERE  i.organization_id = m.organization_id AND i.user_id = m.user_id AND c.enabled AND c.trust_mfa))
"""
_ASKED: Final = f"""
    FROM   memberships m
    WHERE  m.organization_id = %(organization_id)s AND m.suspended_at IS NULL
      AND  (m.confirmed_at IS NULL OR NOT {_RESISTS})
"""
NAMED: Final = f"""
    SELECT   m.user_id, u.email, CASE WHEN m.confirmed_at IS NOT NULL THEN u.name END AS name, m.role
    FROM     (SELECT m.id, m.created_at, m.user_id, m.confirmed_at, m.role
              {_ASKED}
              ORDER BY m.created_at, m.id
              LIMIT  %(named_max)s) AS m
    JOIN     users u ON u.id = m.user_id
    ORDER BY m.created_at, m.id
"""
COUNTED: Final = f"""
    SELECT (SELECT count(*) FROM (SELECT {_ASKED} LIMIT %(counted_max)s) AS asked),
           (SELECT count(*)
            FROM   (SELECT
                    FROM   memberships m
                    WHERE  m.organization_id = %(organization_id)s AND m.suspended_at IS NULL
                    LIMIT  %(counted_max)s) AS members)
"""
HAS_RESISTANT: Final = f"""
    SELECT FROM memberships m WHERE m.organization_id = %s AND m.user_id = %s AND {_RESISTS}
"""


class PostgresMembersUnderRules(Aggregate):
    """The port `MembersUnderRules`."""

    def asked(self, organization_id: UUID, *, named_max: int, counted_max: int) -> AskedMembers:
        values = {"organization_id": organization_id, "named_max": named_max, "counted_max": counted_max}
        named = self._all(AskedMember, NAMED, values)
        [(total, members)] = self._connection.execute(COUNTED, values).fetchall()
        return AskedMembers(named=named, total=total, members=members)

    def has_resistant_factor(self, organization_id: UUID, user_id: UUID) -> bool:
        return self._finds_any(HAS_RESISTANT, (organization_id, user_id))
