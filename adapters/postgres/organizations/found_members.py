"""Members in the console, found among the memberships of their organization alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.letter_groups import GROUP_LETTERS, groups_in
from adapters.postgres.log_times import kept_values
from adapters.postgres.organizations.departures import SESSIONS_THAT_END, UNPAID
from adapters.postgres.organizations.members import MEMBER_NAME
from adapters.postgres.transaction import Aggregate
from core.lazy_dataclasses import dataclass
from core.organizations.found_members import ListedMember, MemberDeparture, MemberSource
from core.positions import BEGIN, Position

# The memberships have the addresses, and their indexes begin with the organization. The index of all addresses would
# serve as well, but its time would tell how many accounts of other organizations have the part.
_OF_ALL: Final = "m.organization_id = %(organization_id)s"
_OF_ROLE: Final = f"{_OF_ALL} AND m.role = %(role)s"
_WITHOUT: Final = "AND m.user_id <> ALL (%(without)s)"
_FROM_THERE: Final = "AND (m.created_at, m.id) > (%(at)s, %(id)s) ORDER BY m.created_at, m.id"
_WITH_PART: Final = "strpos(m.member_email, %(part)s) > 0"
# The letter groups contain the organization too. The condition stands alone, because PostgreSQL would combine the index
# with one of all members of the organization, and expects few of them.
_MATCHING: Final = """
    matching AS MATERIALIZED (
        SELECT m.id, m.organization_id, m.user_id, m.role, m.created_at, m.member_email
        FROM   memberships m
        WHERE  groups_of_organization(m.organization_id, letter_groups(m.member_email))
               @> groups_of_organization(%(organization_id)s, %(groups)s))
"""
# A page and a count are first looked for among this many members.
LOOKED_AT: Final = 1_000
PROBED: Final = 2_000
# Where at least one in this many has the part, the list is read on in its order: about this many members fit on a page
# of the index. Where fewer have it, the members with all its letter groups are read.
_ONE_IN: Final = 50


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements of a list: of all members of an organization, or of those with a role."""

    page_of_all: LiteralString
    near_page: LiteralString
    far_page: LiteralString
    probe: LiteralString
    count_of_all: LiteralString
    count_near: LiteralString
    count_far: LiteralString


@dataclass(frozen=True, slots=True)
class _Probed:
    """How many of the first members have a part."""

    looked_at: int
    found: int

    @property
    def is_frequent(self) -> bool:
        return self.found * _ONE_IN >= self.looked_at


def _statements(listed: LiteralString) -> Statements:
    page = f"SELECT m.id FROM memberships m WHERE {listed} {_FROM_THERE} LIMIT %(limit)s"
    near = f"""
        SELECT   m.id
        FROM     (SELECT m.id, m.created_at, m.member_email
                  FROM   memberships m
                  WHERE  {listed} {_FROM_THERE}
                  LIMIT  %(looked_at)s) AS m
        WHERE    {_WITH_PART}
        ORDER BY m.created_at, m.id
        LIMIT    %(limit)s
    """
    far = f"SELECT m.id FROM matching m WHERE {listed} AND {_WITH_PART} {_FROM_THERE} LIMIT %(limit)s"
    return Statements(
        page_of_all=f"WITH page AS MATERIALIZED ({page}) {_SHOWN} {_OF_PAGE}",
        near_page=f"WITH page AS MATERIALIZED ({near}) {_SHOWN} {_OF_PAGE}",
        far_page=f"WITH {_MATCHING}, page AS MATERIALIZED ({far}) {_SHOWN} {_OF_PAGE}",
        # How many members come from there on, of the first ones, and how many of these have the part.
        probe=f"""
            SELECT count(*) AS looked_at, count(*) FILTER (WHERE {_WITH_PART}) AS found
            FROM   (SELECT m.member_email FROM memberships m WHERE {listed} {_FROM_THERE} LIMIT %(looked_at)s) AS m
        """,
        count_of_all=f"""
            SELECT count(*) FROM (SELECT FROM memberships m WHERE {listed} LIMIT %(counted_max)s) AS counted
        """,
        count_near=f"""
            SELECT count(*)
            FROM   (SELECT
                    FROM   (SELECT   m.member_email
                            FROM     memberships m
                            WHERE    {listed}
                            ORDER BY m.created_at, m.id
                            LIMIT    %(looked_at)s) AS m
                    WHERE  {_WITH_PART}
                    LIMIT  %(counted_max)s) AS counted
        """,
        count_far=f"""
            WITH {_MATCHING}
            SELECT count(*)
            FROM   (SELECT FROM matching m WHERE {listed} AND {_WITH_PART} LIMIT %(counted_max)s) AS counted
        """,
    )


_SHOWN: Final = f"""
    SELECT m.id, m.user_id, u.email, {MEMBER_NAME}, m.role, m.created_at,
           m.confirmed_at IS NOT NULL AS is_confirmed, m.suspended_at IS NOT NULL AS is_suspended,
           CASE WHEN m.confirmed_at IS NOT NULL THEN u.mfa_enabled_at IS NOT NULL END AS has_second_factor,
           CASE WHEN m.created_at = (SELECT created_at FROM organizations WHERE id = m.organization_id) THEN 'founder'
                WHEN EXISTS (SELECT FROM scim_profiles
                             WHERE  organization_id = m.organization_id AND user_id = m.user_id) THEN 'directory'
                WHEN EXISTS (SELECT FROM identities
                             WHERE  organization_id = m.organization_id AND user_id = m.user_id
                               AND  connection_id IS NOT NULL) THEN 'connection'
                ELSE 'invitation' END AS source,
           CASE WHEN m.role_source = 'scim' THEN 'scim'
                WHEN m.role_source IS NOT NULL
                THEN coalesce((SELECT c.name FROM upstream_connections c
                               WHERE  c.organization_id = m.organization_id AND c.id::text = m.role_source),
                              m.role_source) END AS role_source,
           CASE WHEN m.role_source IS NOT NULL
                THEN coalesce((SELECT g.display_name FROM directory_groups g
                               WHERE  g.organization_id = m.organization_id AND g.id::text = m.role_group),
                              m.role_group) END AS role_group
"""
# The log is asked for those that are shown, in its part of the organization.
LAST_SIGN_INS: Final = """
    SELECT shown.user_id, newest.created_at
    FROM   unnest(%(user_ids)s::uuid[]) AS shown (user_id)
    CROSS  JOIN LATERAL (SELECT   created_at
                         FROM     login_events
                         WHERE    organization_id = %(organization_id)s AND user_id = shown.user_id
                         AND      organization_id <> user_id AND success AND id >= %(kept_id)s AND id < %(now_id)s
                         ORDER BY id DESC
                         LIMIT    1) AS newest
"""
# The page is found in the index of the memberships and in the addresses alone; the rest is read for its rows.
_OF_PAGE: Final = """
    FROM     page
    JOIN     memberships m ON m.id = page.id AND m.organization_id = %(organization_id)s
    JOIN     users u ON u.id = m.user_id
    ORDER BY m.created_at, m.id
"""
ALL: Final = _statements(_OF_ALL)
OF_ROLE: Final = _statements(_OF_ROLE)
ALL_WITHOUT: Final = _statements(f"{_OF_ALL} {_WITHOUT}")
OF_ROLE_WITHOUT: Final = _statements(f"{_OF_ROLE} {_WITHOUT}")
_DEPARTURE: Final = f"""
    WITH ending AS MATERIALIZED (
        SELECT l.service_id, l.user_id
        FROM   service_users l
        WHERE  l.organization_id = %(organization_id)s AND l.user_id = ANY (%(user_ids)s) AND l.origin = 'membership'
          AND  {UNPAID})
    SELECT (SELECT count(*) FROM sessions s WHERE {SESSIONS_THAT_END}) AS sessions,
           (SELECT count(*) FROM ending) AS services,
           (SELECT count(*)
            FROM   subscriptions b
            JOIN   ending e ON e.service_id = b.service_id AND e.user_id = b.user_id
            WHERE  b.organization_id = %(organization_id)s
              AND  b.status IN ('active', 'past_due')) AS subscriptions,
           (SELECT count(*)
            FROM   service_grants
            WHERE  organization_id = %(organization_id)s AND user_id = ANY (%(user_ids)s)) AS grants,
           (SELECT count(*)
            FROM   invitations
            WHERE  organization_id = %(organization_id)s AND invited_by = ANY (%(user_ids)s) AND status = 'pending')
               AS invitations,
           (SELECT count(*)
            FROM   organization_keys
            WHERE  organization_id = %(organization_id)s AND created_by = ANY (%(user_ids)s)) AS keys
"""


class PostgresFoundMembers(Aggregate):
    """The port `FoundMembers`."""

    def page(
        self,
        organization_id: UUID,
        *,
        part: str,
        role: str,
        after: Position | None,
        limit: int,
        without: Collection[UUID] = (),
    ) -> Sequence[ListedMember]:
        begin = after or BEGIN
        statements = _chosen(role, without)
        given = _searched(organization_id, part, role, without) | {
            "at": begin.at,
            "id": begin.id,
            "limit": limit,
        }
        if not part:
            return self._listed(organization_id, self._rows(statements.page_of_all, given))
        # A part without a group is in no index by itself.
        looked_at = None if len(part) < GROUP_LETTERS else max(LOOKED_AT, 2 * limit)
        found = self._listed(organization_id, self._rows(statements.near_page, given | {"looked_at": looked_at}))
        if looked_at is None or len(found) == limit:
            return found
        probed = self._only(_Probed, statements.probe, given | {"looked_at": looked_at})
        if probed.looked_at < looked_at:
            return found
        if probed.is_frequent:
            return self._listed(organization_id, self._rows(statements.near_page, given | {"looked_at": None}))
        return self._listed(organization_id, self._rows(statements.far_page, given))

    def count(
        self, organization_id: UUID, *, part: str, role: str, counted_max: int, without: Collection[UUID] = ()
    ) -> int:
        if not part and not role and not without:
            return self._value(
                """
                SELECT least(%s, coalesce((SELECT members FROM membership_totals WHERE organization_id = %s), 0))
                """,
                (counted_max, organization_id),
            )
        statements = _chosen(role, without)
        given = _searched(organization_id, part, role, without) | {"counted_max": counted_max}
        if not part:
            return self._value(statements.count_of_all, given)
        if len(part) >= GROUP_LETTERS:
            probed = self._only(
                _Probed, statements.probe, given | {"looked_at": PROBED, "at": BEGIN.at, "id": BEGIN.id}
            )
            if probed.looked_at < PROBED:
                return min(probed.found, counted_max)
            if not probed.is_frequent:
                return self._value(statements.count_far, given)
        return self._value(statements.count_near, given | {"looked_at": None})

    def find(self, organization_id: UUID, user_id: UUID) -> ListedMember | None:
        found = self.among(organization_id, [user_id])
        return found[0] if found else None

    def among(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[ListedMember]:
        rows = self._rows(
            f"""
            {_SHOWN}
            FROM     memberships m
            JOIN     users u ON u.id = m.user_id
            WHERE    m.organization_id = %(organization_id)s AND m.user_id = ANY (%(user_ids)s)
            ORDER BY m.created_at, m.id
            """,
            {"organization_id": organization_id, "user_ids": list(user_ids)},
        )
        return self._listed(organization_id, rows)

    def departure(self, organization_id: UUID, user_ids: Sequence[UUID]) -> MemberDeparture:
        return self._only(
            MemberDeparture,
            _DEPARTURE,
            {
                "organization_id": organization_id,
                "user_ids": list(user_ids),
                "origins": ["membership"],
                "now": self._transaction.now,
            },
        )

    def _listed(self, organization_id: UUID, rows: Sequence[dict[str, Any]]) -> Sequence[ListedMember]:
        """Return the members, with their last sign-ins."""
        user_ids = [row["user_id"] for row in rows if row["is_confirmed"]]
        newest: dict[UUID, datetime] = {}
        if user_ids:
            values = {"organization_id": organization_id, "user_ids": user_ids, **kept_values(self._transaction.now)}
            newest = {row["user_id"]: row["created_at"] for row in self._rows(LAST_SIGN_INS, values)}
        return [_listed(last_sign_in_at=newest.get(row["user_id"]), **row) for row in rows]


def _chosen(role: str, without: Collection[UUID]) -> Statements:
    if without:
        return OF_ROLE_WITHOUT if role else ALL_WITHOUT
    return OF_ROLE if role else ALL


def _searched(organization_id: UUID, part: str, role: str, without: Collection[UUID]) -> dict[str, Any]:
    return {
        "organization_id": organization_id,
        "part": part,
        "role": role,
        "groups": groups_in(part),
        "without": list(without),
    }


def _listed(*, source: str, **columns: Any) -> ListedMember:
    return ListedMember(source=MemberSource(source), **columns)
