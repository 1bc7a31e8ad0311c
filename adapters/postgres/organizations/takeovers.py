"""What was given with the power of takeovers, from the audit log, invitations, memberships and grants.

Every statement names the organizations, the users in them, and since when each of them acted, so it reads no more of
the audit log than what these users did since: by the index of who acted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, values
from adapters.postgres.transaction import Aggregate
from core.ids import first_id_since
from core.organizations.memberships import Membership
from core.organizations.takeovers import (
    Acting,
    ChangedRole,
    GivenRole,
    InvitedMember,
    RevertedGrant,
    Takeover,
)

# Who acted; a text of SQL that is joined with what they did.
ACTING: Final = """
    unnest(%(organizations)s::uuid[], %(users)s::uuid[], %(keys)s::uuid[], %(sinces)s::timestamptz[])
    AS a (organization_id, user_id, key_id, since)
"""
# The entries of one who acted, with the index of who is a user and the one of who is a key. An impersonator is of the
# platform, and not of the takeover.
_ENTRIES: Final = """
    (SELECT e.id, e.action, e.target_type, e.target_id, e.details, e.created_at
     FROM   audit_entries e
     WHERE  e.organization_id = a.organization_id AND e.actor_user_id = a.user_id AND e.id >= %(first_id)s
       AND  e.created_at >= a.since AND e.action = ANY (%(actions)s) AND NOT e.details ? 'impersonator_id'
     UNION  ALL
     SELECT e.id, e.action, e.target_type, e.target_id, e.details, e.created_at
     FROM   audit_entries e
     WHERE  e.organization_id = a.organization_id AND e.actor_user_id IS NULL AND e.id >= %(first_id)s
       AND  coalesce('setup_link:' || (e.details ->> 'setup_link_id'),
                     'api_key:' || (e.details ->> 'organization_key_id'), 'system') = 'api_key:' || a.key_id
       AND  e.created_at >= a.since AND e.action = ANY (%(actions)s))
"""
# A role that is lower than before gives no power: member, and every role after admin but the owner's.
_ACTING_ALL: Final = f"""
    WITH RECURSIVE acting AS (
        SELECT organization_id, %(user_id)s::uuid AS user_id, NULL::uuid AS key_id, %(since)s::timestamptz AS since
        FROM   unnest(%(organizations)s::uuid[]) AS organization_id
        UNION
        SELECT a.organization_id, given.user_id, given.key_id, given.at
        FROM   acting a
        CROSS  JOIN LATERAL (
            SELECT CASE e.action WHEN 'user.role_updated' THEN e.target_id::uuid END AS user_id,
                   CASE e.action WHEN 'organization_key.created' THEN e.target_id::uuid END AS key_id,
                   e.created_at AS at
            FROM   {_ENTRIES} AS e
            WHERE  e.action <> 'user.role_updated'
               OR  e.details ->> 'new_role' = 'owner'
               OR  (e.details ->> 'new_role' <> 'member' AND e.details ->> 'old_role' NOT IN ('owner', 'admin'))
            UNION  ALL
            SELECT coalesce((e.details ->> 'user_id')::uuid, u.id), NULL, i.answered_at
            FROM   invitations i
            LEFT   JOIN audit_entries e
                     ON e.organization_id = i.organization_id AND e.target_type = 'invitation'
                    AND e.target_id = i.id::text AND e.action = 'invitation.accepted' AND e.id >= %(first_id)s
            LEFT   JOIN users u ON u.email = i.email
            WHERE  i.organization_id = a.organization_id AND i.invited_by = a.user_id AND i.created_at >= a.since
              AND  i.status = 'accepted'
            UNION  ALL
            SELECT m.user_id, NULL, r.created_at
            FROM   group_rules r
            JOIN   memberships m
                     ON m.organization_id = r.organization_id AND m.role = r.role
                    AND m.role_source = coalesce(r.connection_id::text, 'scim')
                    AND m.role_group = coalesce(r.group_id::text, r.asserted_group)
            WHERE  r.organization_id = a.organization_id AND r.made_by = a.user_id AND r.created_at >= a.since
              AND  r.role <> 'member') AS given
        WHERE  given.user_id IS NOT NULL OR given.key_id IS NOT NULL)
    SELECT   organization_id, user_id, key_id, min(since) AS since
    FROM     acting
    GROUP BY organization_id, user_id, key_id
"""
_GIVEN_ROLES: Final = f"""
    SELECT   m.organization_id, m.user_id, m.role AS now,
             (array_agg(e.details ->> 'old_role' ORDER BY e.created_at, e.id))[1] AS before,
             (array_agg(e.details ->> 'new_role' ORDER BY e.created_at DESC, e.id DESC))[1] AS given
    FROM     {ACTING}
    CROSS    JOIN LATERAL {_ENTRIES} AS e
    JOIN     memberships m ON m.organization_id = a.organization_id AND m.user_id = e.target_id::uuid
    WHERE    m.created_at <= e.created_at
    GROUP BY m.organization_id, m.user_id, m.role
    ORDER BY m.organization_id, m.user_id
"""
_CHANGED_ROLES: Final = f"""
    SELECT   r.organization_id, r.slug,
             (array_agg(e.details -> 'old_permissions' ORDER BY e.created_at, e.id))[1] AS permissions
    FROM     {ACTING}
    CROSS    JOIN LATERAL {_ENTRIES} AS e
    JOIN     organization_roles r
             ON r.organization_id = a.organization_id AND r.slug = e.details ->> 'role_slug'
            AND r.created_at <= e.created_at
    WHERE    e.details ->> 'change' = 'role_updated' AND e.details ? 'old_permissions'
    GROUP BY r.organization_id, r.slug
    ORDER BY r.organization_id, r.slug
"""
# Locked in the order of their ids, as by everything that ends sessions of several users.
_SUSPEND: Final = f"""
    WITH joined AS MATERIALIZED (
        SELECT i.organization_id, coalesce((e.details ->> 'user_id')::uuid, u.id) AS user_id, i.answered_at AS at
        FROM   {ACTING}
        JOIN   invitations i
               ON i.organization_id = a.organization_id AND i.invited_by = a.user_id AND i.created_at >= a.since
        LEFT   JOIN audit_entries e
                 ON e.organization_id = i.organization_id AND e.target_type = 'invitation'
                AND e.target_id = i.id::text AND e.action = 'invitation.accepted' AND e.id >= %(first_id)s
        LEFT   JOIN users u ON u.email = i.email
        WHERE  i.status = 'accepted'
        UNION
        SELECT e.organization_id, e.target_id::uuid, e.created_at
        FROM   (SELECT a.organization_id, 'scim_token_id' AS name, t.id, t.created_at AS since
                FROM   {ACTING}
                JOIN   scim_tokens t
                       ON t.organization_id = a.organization_id AND t.created_by = a.user_id
                      AND t.created_at >= a.since
                UNION  ALL
                SELECT a.organization_id, 'scim_token_id', (e.details ->> 'scim_token_id')::uuid, e.created_at
                FROM   {ACTING}
                CROSS  JOIN LATERAL {_ENTRIES} AS e
                UNION  ALL
                SELECT a.organization_id, 'connection_id', c.id, coalesce(c.made_at, c.updated_at)
                FROM   {ACTING}
                JOIN   upstream_connections c
                       ON c.organization_id = a.organization_id AND c.made_by = a.user_id
                      AND coalesce(c.made_at, c.updated_at) >= a.since) AS way
        JOIN   audit_entries e
               ON e.organization_id = way.organization_id AND e.action = 'user.joined' AND e.id >= %(first_id)s
              AND e.created_at >= way.since AND e.details ->> way.name = way.id::text),
      ending AS MATERIALIZED (
        SELECT   m.id, u.email
        FROM     joined j
        JOIN     memberships m ON m.organization_id = j.organization_id AND m.user_id = j.user_id
                              AND m.created_at = j.at
        JOIN     users u ON u.id = m.user_id
        WHERE    m.role <> 'owner' AND m.suspended_at IS NULL AND m.user_id <> %(except_user_id)s
        ORDER BY u.id
        FOR      NO KEY UPDATE OF u)
    UPDATE memberships m
    SET    suspended_at = %(now)s
    FROM   ending
    WHERE  m.id = ending.id AND m.suspended_at IS NULL
    RETURNING m.organization_id, m.user_id, ending.email
"""
# What was given to the account ends, or falls back to what it had if that was less; what was given to others falls back
# to what it replaced.
_REVERT_GRANTS: Final = f"""
    WITH first AS MATERIALIZED (
        SELECT   a.organization_id, e.target_id::uuid AS service_id, (e.details ->> 'user_id')::uuid AS user_id,
                 (array_agg(e.details ->> 'old_relation' ORDER BY e.created_at, e.id))[1] AS relation
        FROM     {ACTING}
        CROSS    JOIN LATERAL {_ENTRIES} AS e
        WHERE    e.details ->> 'change' = 'access_granted' AND e.details ? 'user_id'
        GROUP BY 1, 2, 3),
      wanted AS MATERIALIZED (
        SELECT g.service_id, g.user_id, first.relation
        FROM   {ACTING}
        JOIN   service_grants g
               ON g.organization_id = a.organization_id AND g.granted_by = a.user_id AND g.created_at >= a.since
        LEFT   JOIN first ON first.service_id = g.service_id AND first.user_id = g.user_id
        WHERE  g.user_id <> %(user_id)s
        UNION
        SELECT g.service_id, g.user_id,
               CASE WHEN 'viewer' IN (g.relation, held.relation) AND held.relation IS NOT NULL THEN 'viewer'
                    ELSE held.relation END
        FROM   service_grants g
        LEFT   JOIN unnest(%(held_services)s::uuid[], %(held_relations)s::text[]) AS held (service_id, relation)
                 ON held.service_id = g.service_id
        WHERE  g.user_id = %(user_id)s AND g.created_at >= %(since)s),
      ended AS (
        DELETE FROM service_grants g USING wanted w
        WHERE  g.service_id = w.service_id AND g.user_id = w.user_id AND w.relation IS NULL
        RETURNING g.organization_id, g.service_id, g.user_id, NULL::text AS relation),
      lowered AS (
        UPDATE service_grants g
        SET    relation = w.relation
        FROM   wanted w
        WHERE  g.service_id = w.service_id AND g.user_id = w.user_id AND g.relation <> w.relation
        RETURNING g.organization_id, g.service_id, g.user_id, g.relation)
    SELECT reverted.organization_id, reverted.service_id, s.slug AS service_slug, reverted.user_id, reverted.relation
    FROM   (SELECT * FROM ended UNION ALL SELECT * FROM lowered) AS reverted
    JOIN   services s ON s.organization_id = reverted.organization_id AND s.id = reverted.service_id
    ORDER  BY reverted.service_id, reverted.user_id
"""


def acting_values(acting: Sequence[Acting], *actions: str) -> dict[str, Any]:
    """Return the values of `ACTING`, and of the entries with these actions."""
    return {
        "organizations": [one.organization_id for one in acting],
        "users": [one.user_id for one in acting],
        "keys": [one.key_id for one in acting],
        "sinces": [one.since for one in acting],
        "first_id": first_id_since(min(one.since for one in acting)) if acting else None,
        "actions": list(actions),
    }


class PostgresTakeovers(Aggregate):
    """The port `Takeovers`."""

    def confirmed_roles(self, user_id: UUID) -> Mapping[UUID, str]:
        return dict(
            self._connection.execute(
                "SELECT organization_id, role FROM memberships WHERE user_id = %s AND confirmed_at IS NOT NULL",
                (user_id,),
            ).fetchall()
        )

    def grants(self, user_id: UUID) -> Mapping[UUID, str]:
        return dict(
            self._connection.execute(
                "SELECT service_id, relation FROM service_grants WHERE user_id = %s", (user_id,)
            ).fetchall()
        )

    def acting(self, user_id: UUID, organization_ids: Sequence[UUID], *, since: datetime) -> Sequence[Acting]:
        return self._all(
            Acting,
            _ACTING_ALL,
            {
                "user_id": user_id,
                "organizations": list(organization_ids),
                "since": since,
                "first_id": first_id_since(since),
                "actions": ["user.role_updated", "organization_key.created"],
            },
        )

    def given_roles(self, acting: Sequence[Acting]) -> Sequence[GivenRole]:
        return self._all(GivenRole, _GIVEN_ROLES, acting_values(acting, "user.role_updated"))

    def changed_roles(self, acting: Sequence[Acting]) -> Sequence[ChangedRole]:
        return self._all(ChangedRole, _CHANGED_ROLES, acting_values(acting, "organization.updated"))

    def restore_permissions(self, changed: ChangedRole) -> None:
        self._connection.execute_later(
            "UPDATE organization_roles SET permissions = %s, updated_at = %s WHERE organization_id = %s AND slug = %s",
            (changed.permissions, self._transaction.now, changed.organization_id, changed.slug),
        )

    def owners(self, organization_ids: Sequence[UUID]) -> Sequence[Membership]:
        return self._all(
            Membership,
            f"""
            SELECT   {columns(Membership)}
            FROM     memberships
            WHERE    organization_id = ANY (%s) AND role = 'owner'
            ORDER BY organization_id
            """,
            (list(organization_ids),),
        )

    def restore_owner(self, membership: Membership) -> str | None:
        before = self._value_or_none(
            "SELECT role FROM memberships WHERE organization_id = %s AND user_id = %s",
            (membership.organization_id, membership.user_id),
        )
        self._connection.execute_later(
            """
            INSERT INTO memberships (id, organization_id, user_id, role, created_at, confirmed_at)
            VALUES (%(id)s, %(organization_id)s, %(user_id)s, %(role)s, %(created_at)s, %(created_at)s)
            ON CONFLICT (organization_id, user_id) DO UPDATE
            SET    role = excluded.role, role_source = NULL, role_group = NULL, suspended_at = NULL,
                   confirmed_at = coalesce(memberships.confirmed_at, excluded.confirmed_at)
            """,
            values(membership),
        )
        return before

    def suspend_invited(self, acting: Sequence[Acting], *, except_user_id: UUID) -> Sequence[InvitedMember]:
        return self._all(
            InvitedMember,
            _SUSPEND,
            acting_values(acting, "scim_token.created")
            | {"except_user_id": except_user_id, "now": self._transaction.now},
        )

    def revert_grants(self, acting: Sequence[Acting], takeover: Takeover) -> Sequence[RevertedGrant]:
        held = takeover.held.grants
        return self._all(
            RevertedGrant,
            _REVERT_GRANTS,
            acting_values(acting, "service.updated")
            | {
                "user_id": takeover.user_id,
                "since": takeover.since,
                "held_services": list(held),
                "held_relations": list(held.values()),
            },
        )
