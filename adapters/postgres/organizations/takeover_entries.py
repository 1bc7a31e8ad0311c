"""The entries of audit logs about what was done with the power of takeovers, and how statements are given them.

Every statement names the organizations, the users in them, and since when each of them acted. The audit logs may be
spread over machines by their organization, so they are read first, one statement for each organization, in one round
trip. What was read is given to the statements on the other tables, as `RECORDED`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.organizations.takeovers import Acting
from core.parts import ROWS_AT_ONCE_MAX

if TYPE_CHECKING:
    from core.deferred import Deferred

# Who acted; a text of SQL that is joined with what they did.
ACTING: Final = """
    unnest(%(organizations)s::uuid[], %(users)s::uuid[], %(names)s::text[], %(credentials)s::uuid[],
           %(sinces)s::timestamptz[])
    AS a (organization_id, user_id, named_by, credential_id, since)
"""
# Entries that were read; a text of SQL that is joined with what they are about.
RECORDED: Final = """
    unnest(%(entry_organizations)s::uuid[], %(entry_ids)s::uuid[], %(entry_targets)s::text[],
           %(entry_details)s::text[]::jsonb[], %(entry_times)s::timestamptz[])
    AS e (organization_id, id, target_id, details, created_at)
"""
# By the index of entries with a user and the one of entries without, which has tokens and keys of services. Entries of
# an impersonator do not belong to the takeover.
_OF_ACTING: Final = """
    SELECT   %(organization_id)s::uuid AS organization_id, e.id, e.action, e.target_id, e.details::text, e.created_at
    FROM     unnest(%(users)s::uuid[], %(names)s::text[], %(credentials)s::uuid[], %(keys)s::uuid[],
                    %(sinces)s::timestamptz[])
             AS a (user_id, named_by, credential_id, key_id, since)
    CROSS    JOIN LATERAL (
        (SELECT   u.id, u.action, u.target_id, u.details, u.created_at
         FROM     audit_entries u
         WHERE    u.organization_id = %(organization_id)s AND u.actor_user_id = a.user_id AND u.id >= %(first_id)s
           AND    u.created_at >= a.since AND u.action = ANY (%(actions)s) AND NOT u.details ? 'impersonator_id'
         ORDER BY u.id
         LIMIT    %(limit)s)
        UNION ALL
        (SELECT   k.id, k.action, k.target_id, k.details, k.created_at
         FROM     audit_entries k
         WHERE    k.organization_id = %(organization_id)s AND k.actor_user_id IS NULL AND k.id >= %(first_id)s
           AND    coalesce('setup_link:' || (k.details ->> 'setup_link_id'),
                           'api_key:' || (k.details ->> 'organization_key_id'), 'system')
                  = CASE a.named_by WHEN 'setup_link_id' THEN 'setup_link:' || a.credential_id
                                    WHEN 'organization_key_id' THEN 'api_key:' || a.credential_id
                                    WHEN 'organization_key_workload_id' THEN 'api_key:' || a.key_id
                                    ELSE CASE WHEN a.named_by IS NOT NULL THEN 'system' END END
           AND    k.details ->> a.named_by = a.credential_id::text
           AND    k.created_at >= a.since AND k.action = ANY (%(actions)s)
         ORDER BY k.id
         LIMIT    %(limit)s)) AS e
    ORDER BY e.id
    LIMIT    %(limit)s
"""
_ACCEPTANCES: Final = """
    SELECT target_id::uuid AS invitation_id, (details ->> 'user_id')::uuid AS user_id
    FROM   audit_entries
    WHERE  organization_id = %(organization_id)s AND target_type = 'invitation' AND target_id = ANY (%(invitations)s)
      AND  action = 'invitation.accepted' AND id >= %(first_id)s
"""
_JOINED: Final = """
    SELECT %(organization_id)s::uuid AS organization_id, e.target_id::uuid AS user_id, e.created_at AS at
    FROM   unnest(%(names)s::text[], %(ids)s::text[], %(sinces)s::timestamptz[]) AS way (name, id, since)
    JOIN   audit_entries e
           ON e.organization_id = %(organization_id)s AND e.action = 'user.joined' AND e.id >= %(first_id)s
          AND e.created_at >= way.since AND e.details ->> way.name = way.id
"""


class Entry(NamedTuple):
    """An entry of one who acted; `details` are the JSON text."""

    organization_id: UUID
    id: UUID
    action: str
    target_id: str
    details: str
    created_at: datetime


class Invitation(NamedTuple):
    """An accepted invitation, and the user who has its address now."""

    organization_id: UUID
    id: UUID
    answered_at: datetime
    addressee_id: UUID | None


class Way(NamedTuple):
    """A way by which members join since a moment: the name and the value of a detail of the entries about them."""

    organization_id: UUID
    name: str
    id: UUID
    since: datetime


class Joined(NamedTuple):
    """Who joined an organization, and when."""

    organization_id: UUID
    user_id: UUID
    at: datetime


class _Acceptance(NamedTuple):
    invitation_id: UUID
    user_id: UUID | None


_OfOrganization = TypeVar("_OfOrganization", Acting, Invitation, Way)


class TakeoverEntries(Aggregate):
    """The entries, of this id and later ones."""

    def of_acting(self, acting: Iterable[Acting], first_id: UUID | None, *actions: str) -> Iterator[Entry]:
        """Yield what they did since each of them acted, in parts of each organization, until all are read."""
        waiting = [(of_organization, first_id) for _, of_organization in _by_organization(acting)]
        while waiting:
            found = [(one, self._defer_part(one, first, actions)) for one, first in waiting]
            waiting = list[tuple[Sequence[Acting], UUID | None]]()
            for of_organization, read in found:
                part = read()
                yield from part
                if len(part) == ROWS_AT_ONCE_MAX:
                    waiting.append((of_organization, UUID(int=part[-1].id.int + 1)))

    def _defer_part(
        self, acting: Sequence[Acting], first_id: UUID | None, actions: Sequence[str]
    ) -> Deferred[Sequence[Entry]]:
        return self._defer_all(
            Entry,
            _OF_ACTING,
            acting_values(acting)
            | {
                "organization_id": acting[0].organization_id,
                "keys": [one.key_id for one in acting],
                "first_id": first_id,
                "actions": list(actions),
                "limit": ROWS_AT_ONCE_MAX,
            },
        )

    def accepted(self, invitations: Sequence[Invitation], first_id: UUID | None) -> Sequence[Joined]:
        """Return who has accepted these; the entry knows it also when the address is another account's now."""
        found = [
            self._defer_all(
                _Acceptance,
                _ACCEPTANCES,
                {
                    "organization_id": organization_id,
                    "invitations": [str(one.id) for one in of_organization],
                    "first_id": first_id,
                },
            )
            for organization_id, of_organization in _by_organization(invitations)
        ]
        known = {one.invitation_id: one.user_id for rows in found for one in rows() if one.user_id is not None}
        users = [(one, known.get(one.id, one.addressee_id)) for one in invitations]
        return [Joined(one.organization_id, user_id, one.answered_at) for one, user_id in users if user_id is not None]

    def joined(self, ways: Sequence[Way], first_id: UUID | None) -> Sequence[Joined]:
        """Return who joined by these ways."""
        found = [
            self._defer_all(
                Joined,
                _JOINED,
                {
                    "organization_id": organization_id,
                    "names": [one.name for one in of_organization],
                    "ids": [str(one.id) for one in of_organization],
                    "sinces": [one.since for one in of_organization],
                    "first_id": first_id,
                },
            )
            for organization_id, of_organization in _by_organization(ways)
        ]
        return [joined for members in found for joined in members()]


def recorded_values(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return the values of `RECORDED`."""
    return {
        "entry_organizations": [entry.organization_id for entry in entries],
        "entry_ids": [entry.id for entry in entries],
        "entry_targets": [entry.target_id for entry in entries],
        "entry_details": [entry.details for entry in entries],
        "entry_times": [entry.created_at for entry in entries],
    }


def _by_organization(things: Iterable[_OfOrganization]) -> Iterable[tuple[UUID, list[_OfOrganization]]]:
    ordered = sorted(things, key=lambda one: one.organization_id)
    return [(key, list(group)) for key, group in groupby(ordered, lambda one: one.organization_id)]


def acting_values(acting: Sequence[Acting]) -> dict[str, Any]:
    """Return the values of `ACTING`."""
    return {
        "organizations": [one.organization_id for one in acting],
        "users": [one.user_id for one in acting],
        "names": [one.named_by for one in acting],
        "credentials": [one.credential_id for one in acting],
        "sinces": [one.since for one in acting],
    }
