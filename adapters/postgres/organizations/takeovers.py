"""What was given with the power of takeovers, from invitations, memberships, grants, and the audit log.

`takeover_entries.py` reads the audit log, and says how the statements here are given what was read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, values
from adapters.postgres.organizations.takeover_entries import (
    ACTING,
    RECORDED,
    Entry,
    Invitation,
    Joined,
    TakeoverEntries,
    Way,
    acting_values,
    recorded_values,
)
from core.audit.audit_log import KEY_WORKLOAD, ORGANIZATION_KEY, SETUP_LINK
from core.audit.browser import API_KEY, SCIM_TOKEN
from core.events.actions import AuditAction
from core.ids import first_id_since
from core.organizations.organizations import ADMIN, MEMBER, OWNER, Membership
from core.organizations.takeovers import (
    Act,
    Acting,
    ChangedRole,
    GivenRole,
    InvitedMember,
    RevertedGrant,
    Takeover,
)
from core.parts import ROWS_AT_ONCE_MAX

_ROLE_UPDATED: Final = "user.role_updated"
# With the detail by which entries name the credential that was made.
_MAKES_CREDENTIAL: Final = {
    AuditAction.ORGANIZATION_KEY_CREATED.value: ORGANIZATION_KEY,
    AuditAction.SCIM_TOKEN_CREATED.value: SCIM_TOKEN,
    AuditAction.API_KEY_CREATED.value: API_KEY,
    AuditAction.WORKLOAD_CREATED.value: KEY_WORKLOAD,
}
_DEACTIVATED: Final = AuditAction.USER_DEACTIVATED.value
_REACTIVATED: Final = AuditAction.USER_REACTIVATED.value
_LINK_MADE: Final = AuditAction.ORGANIZATION_UPDATED.value
_INVITATIONS: Final = f"""
    SELECT i.organization_id, i.id, i.answered_at, u.id AS addressee_id
    FROM   {ACTING}
    JOIN   invitations i
           ON i.organization_id = a.organization_id AND i.invited_by = a.user_id AND i.created_at >= a.since
    LEFT   JOIN users u ON u.email = i.email
    WHERE  i.status = 'accepted'
"""
_RULED: Final = f"""
    SELECT m.organization_id, m.user_id, r.created_at AS since
    FROM   {ACTING}
    JOIN   group_rules r
             ON r.organization_id = a.organization_id AND r.made_by = a.user_id AND r.created_at >= a.since
            AND r.role <> 'member'
    JOIN   memberships m
             ON m.organization_id = r.organization_id AND m.role = r.role
            AND m.role_source = coalesce(r.connection_id::text, 'scim')
            AND m.role_group = coalesce(r.group_id::text, r.asserted_group)
"""
# Who manages a service by a grant may make what lasts; an owner or admin could before.
_GRANTED: Final = f"""
    SELECT m.organization_id, m.user_id, e.created_at AS since
    FROM   {RECORDED}
    JOIN   memberships m ON m.organization_id = e.organization_id AND m.user_id = (e.details ->> 'user_id')::uuid
    WHERE  e.details ->> 'change' = 'access_granted' AND e.details ->> 'relation' = 'manager'
      AND  e.details ->> 'old_relation' IS DISTINCT FROM 'manager' AND m.role NOT IN ('owner', 'admin')
"""
# The ways by which members have joined, beside invitations.
_WAYS: Final = f"""
    SELECT a.organization_id, 'scim_token_id' AS name, t.id, t.created_at AS since
    FROM   {ACTING}
    JOIN   scim_tokens t
           ON t.organization_id = a.organization_id AND t.created_by = a.user_id AND t.created_at >= a.since
    UNION  ALL
    SELECT a.organization_id, 'connection_id', c.id, coalesce(c.made_at, c.updated_at)
    FROM   {ACTING}
    JOIN   upstream_connections c
           ON c.organization_id = a.organization_id AND c.made_by = a.user_id
          AND coalesce(c.made_at, c.updated_at) >= a.since
"""
_GIVEN_ROLES: Final = f"""
    SELECT   m.organization_id, m.user_id, m.role AS now,
             (array_agg(e.details ->> 'old_role' ORDER BY e.created_at, e.id))[1] AS before,
             (array_agg(e.details ->> 'new_role' ORDER BY e.created_at DESC, e.id DESC))[1] AS given
    FROM     {RECORDED}
    JOIN     memberships m ON m.organization_id = e.organization_id AND m.user_id = e.target_id::uuid
    WHERE    m.created_at <= e.created_at
    GROUP BY m.organization_id, m.user_id, m.role
    ORDER BY m.organization_id, m.user_id
"""
_CHANGED_ROLES: Final = f"""
    SELECT   r.organization_id, r.slug,
             (array_agg(e.details -> 'old_permissions' ORDER BY e.created_at, e.id))[1] AS permissions,
             -- Null where an entry of an earlier version is the first: it has not changed them.
             (array_agg(e.details -> 'old_scopes' ORDER BY e.created_at, e.id)
                  FILTER (WHERE e.details ? 'old_scopes'))[1] AS scopes
    FROM     {RECORDED}
    JOIN     organization_roles r
             ON r.organization_id = e.organization_id AND r.slug = e.details ->> 'role_slug'
            AND r.created_at <= e.created_at
    WHERE    e.details ->> 'change' = 'role_updated' AND e.details ? 'old_permissions'
    GROUP BY r.organization_id, r.slug
    ORDER BY r.organization_id, r.slug
"""
# Locked in the order of their ids, as by everything that ends sessions of several users.
_SUSPEND: Final = """
    WITH ending AS MATERIALIZED (
        SELECT   m.id, u.email
        FROM     unnest(%(organizations)s::uuid[], %(users)s::uuid[], %(times)s::timestamptz[])
                 AS j (organization_id, user_id, at)
        JOIN     memberships m ON m.organization_id = j.organization_id AND m.user_id = j.user_id
                              AND (j.at IS NULL OR m.created_at = j.at)
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
        SELECT   e.organization_id, e.target_id::uuid AS service_id, (e.details ->> 'user_id')::uuid AS user_id,
                 (array_agg(e.details ->> 'old_relation' ORDER BY e.created_at, e.id))[1] AS relation
        FROM     {RECORDED}
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


class PostgresTakeovers(TakeoverEntries):
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
        found: dict[tuple[UUID, UUID | None, UUID | None], Acting] = {}
        given: Sequence[Acting] = [
            Acting(organization_id=organization_id, user_id=user_id, since=since)
            for organization_id in organization_ids
        ]
        while given:
            new: list[Acting] = []
            for one in given:
                known = found.get((one.organization_id, one.user_id, one.credential_id))
                if known is None or one.since < known.since:
                    found[one.organization_id, one.user_id, one.credential_id] = one
                    new.append(one)
            given = self._given(new, first_id_since(since)) if new else []
        return list(found.values())

    def _given(self, acting: Sequence[Acting], first_id: UUID) -> Sequence[Acting]:
        """Return who got power by these."""
        recorded = self.of_acting(acting, first_id, _ROLE_UPDATED, _LINK_MADE, *_MAKES_CREDENTIAL)
        invitations = self._all(Invitation, _INVITATIONS, acting_values(acting))
        granted = recorded_values(list(self.of_acting(acting, first_id, AuditAction.SERVICE_UPDATED.value)))
        return [
            *(given for entry in recorded if (given := _given_by(entry)) is not None),
            *(
                Acting(organization_id=one.organization_id, user_id=one.user_id, since=one.at)
                for one in self.accepted(invitations, first_id)
            ),
            *self._all(Acting, _RULED, acting_values(acting)),
            *self._all(Acting, _GRANTED, granted),
            *(
                Acting(organization_id=one.organization_id, user_id=one.user_id, since=one.at)
                for one in [*self._joined_by(acting, first_id), *self._reactivated(acting, first_id)]
            ),
        ]

    def _joined_by(self, acting: Sequence[Acting], first_id: UUID | None) -> Sequence[Joined]:
        """Return who joined by the directory tokens and connections of these."""
        ways = [
            *self._all(Way, _WAYS, acting_values(acting)),
            *(
                Way(made.organization_id, "scim_token_id", UUID(token_id), made.created_at)
                for made in self.of_acting(acting, first_id, "scim_token.created")
                if (token_id := json.loads(made.details).get("scim_token_id")) is not None
            ),
        ]
        return self.joined(ways, first_id)

    def _reactivated(self, acting: Sequence[Acting], first_id: UUID | None) -> Sequence[Joined]:
        """Return the members that these readmitted, and when, except members that these had suspended themselves."""
        found = list[Joined]()
        kept_out = set[tuple[UUID, str]]()
        for entry in self.of_acting(acting, first_id, _DEACTIVATED, _REACTIVATED):
            member = (entry.organization_id, entry.target_id)
            if entry.action == _DEACTIVATED:
                kept_out.add(member)
            elif member in kept_out:
                kept_out.remove(member)
            else:
                found.append(Joined(entry.organization_id, UUID(entry.target_id), entry.created_at))
        return found

    def given_roles(self, acting: Sequence[Acting]) -> Sequence[GivenRole]:
        entries = self.of_acting(acting, _first_id(acting), _ROLE_UPDATED)
        return [
            given
            for part in _parts_by_target(entries)
            for given in self._all(GivenRole, _GIVEN_ROLES, recorded_values(part))
        ]

    def acts(self, acting: Sequence[Acting], *actions: AuditAction) -> Sequence[Act]:
        entries = self.of_acting(acting, _first_id(acting), *(action.value for action in actions))
        return [
            Act(
                organization_id=entry.organization_id,
                action=entry.action,
                target_id=entry.target_id,
                details=json.loads(entry.details),
                at=entry.created_at,
            )
            for entry in entries
        ]

    def changed_roles(self, acting: Sequence[Acting]) -> Sequence[ChangedRole]:
        return self._all(ChangedRole, _CHANGED_ROLES, self._recorded(acting, "organization.updated"))

    def _recorded(self, acting: Sequence[Acting], action: str) -> dict[str, Any]:
        return recorded_values(list(self.of_acting(acting, _first_id(acting), action)))

    def restore_role(self, changed: ChangedRole) -> None:
        self._connection.execute_later(
            """
            UPDATE organization_roles
            SET    permissions = %s, scopes = coalesce(%s, scopes), updated_at = %s
            WHERE  organization_id = %s AND slug = %s
            """,
            (changed.permissions, changed.scopes, self._transaction.now, changed.organization_id, changed.slug),
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
        first_id = _first_id(acting)
        invitations = self._all(Invitation, _INVITATIONS, acting_values(acting))
        joined = {*self.accepted(invitations, first_id), *self._joined_by(acting, first_id)}
        let_in: list[tuple[UUID, UUID, datetime | None]] = [
            (one.organization_id, one.user_id, one.at) for one in joined
        ]
        # They were members before.
        let_in += [(one.organization_id, one.user_id, None) for one in self._reactivated(acting, first_id)]
        return self._all(
            InvitedMember,
            _SUSPEND,
            {
                "organizations": [organization_id for organization_id, _, _ in let_in],
                "users": [user_id for _, user_id, _ in let_in],
                "times": [at for _, _, at in let_in],
                "except_user_id": except_user_id,
                "now": self._transaction.now,
            },
        )

    def revert_grants(self, acting: Sequence[Acting], takeover: Takeover) -> Sequence[RevertedGrant]:
        held = takeover.held.grants
        return self._all(
            RevertedGrant,
            _REVERT_GRANTS,
            acting_values(acting)
            | self._recorded(acting, "service.updated")
            | {
                "user_id": takeover.user_id,
                "since": takeover.since,
                "held_services": list(held),
                "held_relations": list(held.values()),
            },
        )


def _first_id(acting: Sequence[Acting]) -> UUID | None:
    """Return the lowest id that an entry of these acts can have."""
    return first_id_since(min(one.since for one in acting)) if acting else None


def _parts_by_target(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Yield entries in parts, each with all entries about a target, because the first one of a target counts."""
    ordered = sorted(entries, key=lambda entry: (entry.organization_id.int, entry.target_id))
    part: list[Entry] = []
    for _, of_target in groupby(ordered, lambda entry: (entry.organization_id, entry.target_id)):
        part += of_target
        if len(part) >= ROWS_AT_ONCE_MAX:
            yield part
            part = []
    if part:
        yield part


def _given_by(entry: Entry) -> Acting | None:
    """Return who got power by an action.

    A role that is lower than before gives none: member, and every role after admin but the owner's.
    """
    details = json.loads(entry.details)
    made = _made_by(entry, details)
    if made is not None:
        named_by, credential_id = made
        return Acting(
            organization_id=entry.organization_id,
            user_id=None,
            named_by=named_by,
            credential_id=UUID(credential_id),
            key_id=UUID(details["key_id"]) if named_by == KEY_WORKLOAD else None,
            since=entry.created_at,
        )
    old, new = details.get("old_role"), details.get("new_role")
    is_more = new == OWNER or (new not in (None, MEMBER) and old not in (None, OWNER, ADMIN))
    if not is_more:
        return None
    return Acting(organization_id=entry.organization_id, user_id=UUID(entry.target_id), since=entry.created_at)


def _made_by(entry: Entry, details: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return what names the credential that an action has made, and its id; None when it has made none."""
    if entry.action == _LINK_MADE:
        link: Mapping[str, str] = details.get("setup_link", {})
        return (SETUP_LINK, link["id"]) if link.get("action") == "created" else None
    if entry.action == AuditAction.SCIM_TOKEN_CREATED.value:
        # The token is no target of its own: that is its organization.
        return SCIM_TOKEN, details[SCIM_TOKEN]
    if entry.action == AuditAction.WORKLOAD_CREATED.value and "key_id" not in details:
        # The workload of a service opens nothing at Gatehouse.
        return None
    named_by = _MAKES_CREDENTIAL.get(entry.action)
    return (named_by, entry.target_id) if named_by is not None else None
