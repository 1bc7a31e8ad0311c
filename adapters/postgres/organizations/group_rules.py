"""Rules by which groups give roles, in their table, and the roles that they gave, in the memberships."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.postgres.organizations.members import MEMBER_NAME
from adapters.postgres.transaction import Aggregate
from core.organizations.authority import Authority
from core.organizations.group_roles import SCIM, FittedMember, GivenRole, GroupRule, WantedRule
from core.organizations.group_rules import PersonOfRules
from core.organizations.memberships import RoleSource

if TYPE_CHECKING:
    from core.deferred import Deferred

# A maker who is suspended, has left, or whose account is deactivated, may give nothing.
OF_ORGANIZATION: Final = """
    SELECT    r.id, coalesce(r.connection_id::text, 'scim') AS source,
              coalesce(r.group_id::text, r.asserted_group) AS "group", g.display_name AS group_name, r.role, r.made_by,
              m.role AS maker_role, h.permissions AS maker_permissions, o.permissions AS role_permissions, r.created_at
    FROM      group_rules r
    LEFT JOIN directory_groups g   ON g.organization_id = r.organization_id AND g.id = r.group_id
    LEFT JOIN memberships m        ON m.organization_id = r.organization_id AND m.user_id = r.made_by
                                  AND m.suspended_at IS NULL
                                  AND NOT EXISTS (SELECT FROM users u
                                                  WHERE  u.id = m.user_id AND u.deactivated_at IS NOT NULL)
    LEFT JOIN organization_roles h ON h.organization_id = r.organization_id AND h.slug = m.role
    LEFT JOIN organization_roles o ON o.organization_id = r.organization_id AND o.slug = r.role
    WHERE     r.organization_id = %s
    ORDER BY  r.place
"""
# A row for each rule that fits, and one for who has a role by a rule, so that each membership is found by its key, and
# no part is joined with itself: how many rows there are is not known to the planner while a group is filled.
_FITTED: Final = """
    SELECT    m.user_id, m.role, m.role_source, m.role_group, m.suspended_at IS NOT NULL AS is_suspended, m.created_at,
              f.rule_id, a.maker_role, a.maker_permissions, f.authority_id
    FROM      (SELECT i.user_id, r.id AS rule_id, i.authority_id
               FROM   group_rules r
               JOIN   directory_group_members i ON i.organization_id = r.organization_id AND i.group_id = r.group_id
               WHERE  r.organization_id = %(organization_id)s {of_user}
               UNION ALL
               SELECT i.user_id, r.id, NULL
               FROM   group_rules r
               JOIN   upstream_connections c ON c.organization_id = r.organization_id AND c.id = r.connection_id
                                            AND c.enabled
               JOIN   identities i ON i.organization_id = r.organization_id AND i.connection_id = r.connection_id
               WHERE  r.organization_id = %(organization_id)s AND r.asserted_group = ANY (i.groups) {of_user}
               UNION ALL
               SELECT i.user_id, NULL, NULL
               FROM   memberships i
               WHERE  i.organization_id = %(organization_id)s AND i.role_source IS NOT NULL {of_user}) AS f
    JOIN      memberships m ON m.organization_id = %(organization_id)s AND m.user_id = f.user_id AND m.role <> 'owner'
    LEFT JOIN directory_authorities a ON a.organization_id = m.organization_id AND a.id = f.authority_id
    ORDER BY  m.created_at, m.id
"""
FITTED_OF_USERS: Final = _FITTED.format(of_user="AND i.user_id = ANY (%(user_ids)s)")
FITTED: Final = _FITTED.format(of_user="")
# Of so many sign-ins by each connection, the groups are offered to a new rule.
SIGN_INS_SCANNED_MAX: Final = 1_000
ASSERTED: Final = """
    SELECT   DISTINCT n.value
    FROM     upstream_connections c
    CROSS    JOIN LATERAL (
                 SELECT   groups
                 FROM     identities
                 WHERE    organization_id = c.organization_id AND connection_id = c.id
                 ORDER BY used_at DESC
                 LIMIT    %(scanned_max)s) AS i
    CROSS    JOIN LATERAL unnest(i.groups) AS n (value)
    WHERE    c.organization_id = %(organization_id)s
      AND    (%(connection_id)s::text IS NULL OR c.id::text = %(connection_id)s)
      AND    (%(group)s::text IS NULL OR n.value = %(group)s)
    ORDER BY n.value
    LIMIT    %(limit)s
"""


class PostgresGroupRules(Aggregate):
    """The port `GroupRules`."""

    def of_organization(self, organization_id: UUID) -> Sequence[GroupRule]:
        return self.defer_of_organization(organization_id)()

    def defer_of_organization(self, organization_id: UUID) -> Deferred[Sequence[GroupRule]]:
        return self._defer_all(_rule, OF_ORGANIZATION, (organization_id,))

    def replace(self, organization_id: UUID, rules: Sequence[tuple[UUID, WantedRule, UUID | None, datetime]]) -> None:
        self._connection.execute_later("DELETE FROM group_rules WHERE organization_id = %s", (organization_id,))
        self._connection.execute_later(
            """
            INSERT INTO group_rules (id, organization_id, place, group_id, connection_id, asserted_group, role, made_by,
                                     created_at)
            SELECT id, %(organization_id)s, place, group_id, connection_id, asserted_group, role, made_by, created_at
            FROM   unnest(%(ids)s::uuid[], %(group_ids)s::uuid[], %(connection_ids)s::uuid[], %(asserted)s::text[],
                          %(roles)s::text[], %(makers)s::uuid[], %(times)s::timestamptz[])
                   WITH ORDINALITY
                   AS given (id, group_id, connection_id, asserted_group, role, made_by, created_at, place)
            """,
            {
                "organization_id": organization_id,
                "ids": [rule_id for rule_id, *_ in rules],
                "group_ids": [UUID(rule.group) if rule.source == SCIM else None for _, rule, *_ in rules],
                "connection_ids": [None if rule.source == SCIM else UUID(rule.source) for _, rule, *_ in rules],
                "asserted": [None if rule.source == SCIM else rule.group for _, rule, *_ in rules],
                "roles": [rule.role for _, rule, *_ in rules],
                "makers": [made_by for _, _, made_by, _ in rules],
                "times": [created_at for *_, created_at in rules],
            },
        )

    def known_groups(self, organization_id: UUID, ids: Sequence[str]) -> Sequence[UUID]:
        return self._values(
            "SELECT id FROM directory_groups WHERE organization_id = %s AND id::text = ANY (%s)",
            (organization_id, list(ids)),
        )

    def fitted(self, organization_id: UUID, user_ids: Sequence[UUID] | None) -> Sequence[FittedMember]:
        rows = self._connection.cursor(binary=True).execute(
            FITTED if user_ids is None else FITTED_OF_USERS,
            {
                "organization_id": organization_id,
                **({"user_ids": list(user_ids)} if user_ids is not None else {}),
            },
        )
        return _members(rows.fetchall())

    def give(self, organization_id: UUID, given: Sequence[GivenRole]) -> None:
        sources = [one.role_source for one in given]
        self._connection.execute_later(
            """
            UPDATE memberships m
            SET    role = g.role, role_source = g.role_source, role_group = g.role_group
            FROM   unnest(%(user_ids)s::uuid[], %(roles)s::text[], %(sources)s::text[], %(groups)s::text[])
                   AS g (user_id, role, role_source, role_group)
            WHERE  m.organization_id = %(organization_id)s AND m.user_id = g.user_id
            """,
            {
                "organization_id": organization_id,
                "user_ids": [one.user_id for one in given],
                "roles": [one.role for one in given],
                "sources": [source.source if source is not None else None for source in sources],
                "groups": [source.group if source is not None else None for source in sources],
            },
        )

    def people(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[PersonOfRules]:
        return self._all(
            PersonOfRules,
            f"""
            SELECT   m.user_id, u.email, {MEMBER_NAME}
            FROM     memberships m
            JOIN     users u ON u.id = m.user_id
            WHERE    m.organization_id = %s AND m.user_id = ANY (%s)
            ORDER BY u.email
            """,
            (organization_id, list(user_ids)),
        )

    def has_overage(self, organization_id: UUID, user_id: UUID) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT FROM identities
                           WHERE  organization_id = %s AND user_id = %s AND connection_id IS NOT NULL
                             AND  has_groups_overage)
            """,
            (organization_id, user_id),
        )

    def ruled_by_connections(self, user_id: UUID) -> Sequence[UUID]:
        return self._values(
            """
            SELECT   organization_id
            FROM     memberships
            WHERE    user_id = %s AND role_source <> 'scim'
            ORDER BY organization_id
            """,
            (user_id,),
        )

    def asserted(self, organization_id: UUID, *, limit: int) -> Sequence[str]:
        return self._asserted(organization_id, limit=limit)

    def has_asserted(self, organization_id: UUID, connection_id: str, group: str) -> bool:
        return bool(self._asserted(organization_id, connection_id=connection_id, group=group, limit=1))

    def roles_of_connection(self, organization_id: UUID, connection_id: UUID) -> Sequence[str]:
        return self._values(
            """
            SELECT DISTINCT role
            FROM     group_rules
            WHERE    organization_id = %s AND connection_id = %s
            ORDER BY role
            """,
            (organization_id, connection_id),
        )

    def _asserted(
        self, organization_id: UUID, *, connection_id: str | None = None, group: str | None = None, limit: int
    ) -> Sequence[str]:
        return self._values(
            ASSERTED,
            {
                "organization_id": organization_id,
                "connection_id": connection_id,
                "group": group,
                "scanned_max": SIGN_INS_SCANNED_MAX,
                "limit": limit,
            },
        )


def _rule(*, maker_role: str | None, maker_permissions: list[str] | None, **columns: Any) -> GroupRule:
    return GroupRule(maker=Authority(role=maker_role, permissions=maker_permissions), **columns)


def _members(rows: Sequence[tuple[Any, ...]]) -> Sequence[FittedMember]:
    """Return the members, each of which has a row for each rule that fits."""
    found: dict[UUID, FittedMember] = {}
    fitting: dict[UUID, dict[UUID, Authority | None]] = {}
    # One object for each authority, of which there are few among many members.
    authorities: dict[UUID, Authority] = {}
    for row in rows:
        user_id, role, source, group, is_suspended, created_at, rule_id, *maker, authority_id = row
        rules = fitting.setdefault(user_id, {})
        if rule_id is not None:
            if authority_id is not None and authority_id not in authorities:
                authorities[authority_id] = Authority(role=maker[0], permissions=maker[1])
            rules[rule_id] = authorities[authority_id] if authority_id is not None else None
        if user_id not in found:
            found[user_id] = FittedMember(
                user_id=user_id,
                role=role,
                role_source=RoleSource(source=source, group=group) if source is not None else None,
                is_suspended=is_suspended,
                created_at=created_at,
                fitting=rules,
            )
    return list(found.values())
