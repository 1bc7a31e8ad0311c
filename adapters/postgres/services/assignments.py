"""The assignments of organizations to services, to their own and to those that they use, in tables of one shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.transaction import Aggregate
from core.organizations.organizations import BUILT_IN_ROLES
from core.services.assignments import Assignment, SubjectKind
from core.services.services import Service


def assigned(table: LiteralString, condition: LiteralString) -> LiteralString:
    """Return the assignments of a table to a service `s`, as far as they meet a condition on their rows `a`.

    An assignment whose roles the service no longer has fits no member.
    """
    return f"""
        coalesce((SELECT jsonb_agg(jsonb_build_object(
                                       'subject', concat_ws(':', a.subject, a.role, a.group_id, a.user_id),
                                       'roles', ARRAY(SELECT   known.key
                                                      FROM     jsonb_each_text(s.role_ids) AS known
                                                      WHERE    known.value::uuid = ANY (a.role_ids)
                                                      ORDER BY known.key))
                                   ORDER BY a.position)
                  FROM   {table} a
                  WHERE  {condition}
                    AND  (a.role_ids = '{{}}'
                          OR EXISTS (SELECT FROM jsonb_each_text(s.role_ids) AS known
                                     WHERE  known.value::uuid = ANY (a.role_ids)))), '[]')
    """


def assigning(table: LiteralString, owner: LiteralString, vendor: LiteralString) -> LiteralString:
    """Return the statement that adds `given` assignments to a table, whose column `owner` says what they belong to."""
    return f"""
        INSERT INTO {table} ({owner}, organization_id, position, subject, role, custom_role, group_id, user_id,
                             role_ids)
        SELECT %({owner})s, %(organization_id)s, given.position, given.value ->> 'subject',
               given.value ->> 'role', given.value ->> 'custom_role', (given.value ->> 'group_id')::uuid,
               (given.value ->> 'user_id')::uuid,
               ARRAY(SELECT known.value::uuid
                     FROM   services s, jsonb_each_text(s.role_ids) AS known
                     WHERE  s.organization_id = {vendor} AND s.id = %(service_id)s
                       AND  known.key IN (SELECT jsonb_array_elements_text(given.value -> 'roles')))
        FROM   jsonb_array_elements(%(given)s::jsonb) WITH ORDINALITY AS given (value, position)
    """


def given(assignments: Iterable[Assignment]) -> Jsonb:
    """Return assignments as `assigning` takes them."""
    return Jsonb([_row(one) for one in assignments])


# The assignments to a service `s` of the organization.
OF_SERVICE: Final = assigned("service_assignments", "a.organization_id = %(organization_id)s AND a.service_id = s.id")
_ASSIGN: Final = assigning("service_assignments", "service_id", "%(organization_id)s")
NAMES: Final = """
    SELECT g.id, g.display_name AS name
    FROM   directory_groups g
    WHERE  g.organization_id = %(organization_id)s AND g.id = ANY (%(group_ids)s)
    UNION  ALL
    SELECT m.user_id, m.member_email
    FROM   memberships m
    WHERE  m.organization_id = %(organization_id)s AND m.user_id = ANY (%(user_ids)s)
"""


class PostgresServiceAssignments(Aggregate):
    """The port `ServiceAssignments`."""

    def of_service(self, service: Service) -> list[Assignment]:
        found = self._value(
            f"""
            SELECT {OF_SERVICE}
            FROM   services s
            WHERE  s.organization_id = %(organization_id)s AND s.id = %(service_id)s
            """,
            {"organization_id": service.organization_id, "service_id": service.id},
        )
        return assignments_row(found)

    def save(self, service: Service, assigned: Sequence[Assignment]) -> None:
        of_service = {"organization_id": service.organization_id, "service_id": service.id}
        self._connection.execute_later(
            """
            DELETE FROM service_assignments
            WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
            """,
            of_service,
        )
        self._connection.execute_later(_ASSIGN, of_service | {"given": given(assigned)})

    def unknown_subjects(
        self, organization_id: UUID, *, roles: Sequence[str], group_ids: Sequence[UUID], user_ids: Sequence[UUID]
    ) -> Sequence[str]:
        return self._values(
            """
            SELECT 'role:' || named.slug
            FROM   unnest(%(roles)s::text[]) AS named (slug)
            WHERE  NOT EXISTS (SELECT FROM organization_roles r
                               WHERE  r.organization_id = %(organization_id)s AND r.slug = named.slug)
            UNION ALL
            SELECT 'group:' || named.id
            FROM   unnest(%(group_ids)s::uuid[]) AS named (id)
            WHERE  NOT EXISTS (SELECT FROM directory_groups g
                               WHERE  g.organization_id = %(organization_id)s AND g.id = named.id)
            UNION ALL
            SELECT 'user:' || named.id
            FROM   unnest(%(user_ids)s::uuid[]) AS named (id)
            WHERE  NOT EXISTS (SELECT FROM memberships m
                               WHERE  m.organization_id = %(organization_id)s AND m.user_id = named.id
                                 AND  m.suspended_at IS NULL)
            """,
            {
                "organization_id": organization_id,
                "roles": list(roles),
                "group_ids": list(group_ids),
                "user_ids": list(user_ids),
            },
        )

    def names(
        self, organization_id: UUID, *, group_ids: Sequence[UUID], user_ids: Sequence[UUID]
    ) -> Mapping[UUID, str]:
        values = {"organization_id": organization_id, "group_ids": list(group_ids), "user_ids": list(user_ids)}
        return {row["id"]: row["name"] for row in self._rows(NAMES, values)}


def assignments_row(described: list[dict[str, Any]]) -> list[Assignment]:
    """Return assignments as `assigned` describes them."""
    return [Assignment(**one) for one in described]


def _row(assignment: Assignment) -> dict[str, Any]:
    kind, named = assignment.kind, assignment.named
    return {
        "subject": kind.value,
        "role": named if kind is SubjectKind.ROLE else None,
        "custom_role": named if kind is SubjectKind.ROLE and named not in BUILT_IN_ROLES else None,
        "group_id": named if kind is SubjectKind.GROUP else None,
        "user_id": named if kind is SubjectKind.USER else None,
        "roles": assignment.roles,
    }
