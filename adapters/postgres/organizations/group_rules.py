"""Rules by which groups give roles, in their table, and the roles that they gave, in the memberships."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.postgres.organizations.members import MEMBER_NAME
from adapters.postgres.transaction import Aggregate
from core.ids import FIRST_ID
from core.organizations.authority import Authority
from core.organizations.group_roles import (
    SCIM,
    TAKEN,
    AlikeMembers,
    FittedMember,
    GivingRules,
    GroupRule,
    MadeRule,
    given_by,
)
from core.organizations.group_rules import PersonOfRules
from core.organizations.organizations import RoleSource

if TYPE_CHECKING:
    from core.deferred import Deferred

# A maker who is suspended, has left, or whose account is deactivated, may give nothing.
OF_ORGANIZATION: Final = """
    SELECT    r.id, coalesce(r.connection_id::text, 'scim') AS source,
              coalesce(r.group_id::text, r.asserted_group) AS "group", g.display_name AS group_name, r.role, r.made_by,
              r.link_roles, m.role AS maker_role, h.permissions AS maker_permissions,
              o.permissions AS role_permissions, r.created_at
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
# A row for each rule that fits the member, and one without a rule.
FITTED: Final = """
    SELECT    m.role, m.role_source, m.role_group, m.created_at,
              f.rule_id, a.maker_role, a.maker_permissions, a.link_roles, f.authority_id
    FROM      memberships m
    JOIN      (SELECT i.user_id, r.id AS rule_id, i.authority_id
               FROM   group_rules r
               JOIN   directory_group_members i ON i.organization_id = r.organization_id AND i.group_id = r.group_id
               WHERE  r.organization_id = %(organization_id)s AND i.user_id = %(user_id)s
               UNION ALL
               SELECT i.user_id, r.id, NULL
               FROM   group_rules r
               JOIN   upstream_connections c ON c.organization_id = r.organization_id AND c.id = r.connection_id
                                            AND c.enabled
               JOIN   identities i ON i.organization_id = r.organization_id AND i.connection_id = r.connection_id
               WHERE  r.organization_id = %(organization_id)s AND i.user_id = %(user_id)s
                 AND  r.asserted_group = ANY (i.groups)
               UNION ALL
               SELECT i.user_id, NULL, NULL
               FROM   memberships i
               WHERE  i.organization_id = %(organization_id)s AND i.user_id = %(user_id)s
                 AND  i.role_source IS NOT NULL) AS f ON f.user_id = m.user_id
    LEFT JOIN directory_authorities a ON a.organization_id = m.organization_id AND a.id = f.authority_id
    WHERE     m.organization_id = %(organization_id)s AND m.user_id = %(user_id)s AND m.role <> 'owner'
"""
# The rules come as arrays, in their order. Each member is found by the id, then, rule after rule until one gives, the
# place in its group by the key: what is read depends on members and rules alone, and not on what the planner knows of
# tables that are being filled. `OFFSET 0` keeps it from joining them in another order, and `IS NOT DISTINCT FROM` from
# taking an index of the organization, in which it may expect a single row. For a member of a few groups, only the rules
# of those groups are tried.
ALIKE: Final = """
    WITH concerned AS MATERIALIZED (
        SELECT m.user_id, m.role, m.role_source, m.role_group, m.created_at,
               ARRAY(SELECT group_id FROM directory_group_members
                     WHERE  organization_id = %(organization_id)s AND user_id = u.user_id
                     LIMIT  %(few)s + 1) AS few_groups
        FROM   unnest(%(user_ids)s::uuid[]) AS u (user_id)
        CROSS  JOIN LATERAL (
                   SELECT user_id, role, role_source, role_group, created_at
                   FROM   memberships
                   WHERE  user_id = u.user_id AND organization_id IS NOT DISTINCT FROM %(organization_id)s
                     AND  role <> 'owner'
                   OFFSET 0) AS m
    ), fitting AS (
        SELECT c.*, f.place, f.is_present
        FROM   concerned c
        LEFT   JOIN LATERAL (
                   SELECT   r.place, p.is_present
                   FROM     unnest(%(group_ids)s::uuid[], %(sources)s::text[], %(groups)s::text[], %(roles)s::text[],
                                   %(gives)s::boolean[])
                            WITH ORDINALITY AS r (group_id, source, "group", role, gives, place)
                   CROSS    JOIN LATERAL (SELECT (r.source, r."group", r.role) IS NOT DISTINCT FROM
                                                 (c.role_source, c.role_group, c.role) AS is_present) AS p
                   CROSS    JOIN LATERAL (
                                SELECT authority_id
                                FROM   directory_group_members
                                WHERE  group_id = r.group_id AND user_id = c.user_id
                                  AND  organization_id IS NOT DISTINCT FROM %(organization_id)s
                                OFFSET 0) AS i
                   WHERE    (p.is_present OR r.gives)
                     AND    (cardinality(c.few_groups) > %(few)s OR r.group_id = ANY (c.few_groups))
                     AND    (p.is_present OR (i.authority_id, r.role) IN (
                                SELECT * FROM unnest(%(authority_ids)s::uuid[], %(authority_roles)s::text[])))
                   ORDER BY r.place
                   LIMIT    1) AS f ON true
        UNION  ALL
        SELECT c.*, r.place,
               (r.source, r."group", r.role) IS NOT DISTINCT FROM (c.role_source, c.role_group, c.role)
        FROM   concerned c
        CROSS  JOIN LATERAL (SELECT connection_id, groups
                             FROM   identities
                             WHERE  user_id = c.user_id AND organization_id IS NOT DISTINCT FROM %(organization_id)s
                             OFFSET 0) AS i
        CROSS  JOIN LATERAL unnest(i.groups) AS n (value)
        JOIN   unnest(%(sources)s::text[], %(groups)s::text[], %(roles)s::text[], %(gives)s::boolean[])
               WITH ORDINALITY AS r (source, "group", role, gives, place)
                            ON r.source = i.connection_id::text AND r."group" = n.value
        WHERE  (i.connection_id IN (SELECT id FROM upstream_connections
                                    WHERE  organization_id = %(organization_id)s AND enabled)) IS TRUE
          AND  (r.gives OR (r.source, r."group", r.role) IS NOT DISTINCT FROM (c.role_source, c.role_group, c.role))
    ), decided AS (
        SELECT   DISTINCT ON (user_id) *
        FROM     fitting
        ORDER BY user_id, place
    )
    SELECT   role, role_source, role_group, place,
             array_agg(user_id ORDER BY created_at, user_id) AS user_ids, min(created_at) AS first_joined_at
    FROM     decided
    WHERE    CASE WHEN role_source IS NULL THEN place IS NOT NULL ELSE is_present IS NOT TRUE END
    GROUP BY role, role_source, role_group, place
    ORDER BY first_joined_at, place
"""
# A member of more groups than this is looked up in the group of each rule; so are all members if there are fewer rules.
FEW_GROUPS: Final = 10
# A new rule may choose among the groups of this many latest sign-ins by each connection.
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

    def replace(self, organization_id: UUID, rules: Sequence[tuple[UUID, MadeRule]]) -> None:
        wanted = [one.wanted for _, one in rules]
        self._connection.execute_later("DELETE FROM group_rules WHERE organization_id = %s", (organization_id,))
        self._connection.execute_later(
            """
            INSERT INTO group_rules (id, organization_id, place, group_id, connection_id, asserted_group, role, made_by,
                                     link_roles, created_at)
            SELECT id, %(organization_id)s, place, group_id, connection_id, asserted_group, role, made_by,
                   string_to_array(link_roles, ' '), created_at
            FROM   unnest(%(ids)s::uuid[], %(group_ids)s::uuid[], %(connection_ids)s::uuid[], %(asserted)s::text[],
                          %(roles)s::text[], %(makers)s::uuid[], %(link_roles)s::text[], %(times)s::timestamptz[])
                   WITH ORDINALITY
                   AS given (id, group_id, connection_id, asserted_group, role, made_by, link_roles, created_at, place)
            """,
            {
                "organization_id": organization_id,
                "ids": [rule_id for rule_id, *_ in rules],
                "group_ids": [UUID(rule.group) if rule.source == SCIM else None for rule in wanted],
                "connection_ids": [None if rule.source == SCIM else UUID(rule.source) for rule in wanted],
                "asserted": [None if rule.source == SCIM else rule.group for rule in wanted],
                "roles": [rule.role for rule in wanted],
                "makers": [one.made_by for _, one in rules],
                # Slugs have no blanks, and there are no arrays of arrays of several lengths.
                "link_roles": [" ".join(one.link_roles) if one.link_roles is not None else None for _, one in rules],
                "times": [one.created_at for _, one in rules],
            },
        )

    def known_groups(self, organization_id: UUID, ids: Sequence[str]) -> Sequence[UUID]:
        return self._values(
            "SELECT id FROM directory_groups WHERE organization_id = %s AND id::text = ANY (%s)",
            (organization_id, list(ids)),
        )

    def fitted(self, organization_id: UUID, user_id: UUID) -> FittedMember | None:
        rows = self._connection.cursor(binary=True).execute(
            FITTED, {"organization_id": organization_id, "user_id": user_id}
        )
        return _fitted(user_id, rows.fetchall())

    def members(self, organization_id: UUID, *, after: UUID | None, limit: int) -> Sequence[UUID]:
        return self._values(
            """
            SELECT   user_id
            FROM     memberships
            WHERE    organization_id = %(organization_id)s AND user_id > %(after)s
            ORDER BY user_id
            LIMIT    %(limit)s
            """,
            {"organization_id": organization_id, "after": after or FIRST_ID, "limit": limit},
            binary=True,
        )

    def alike(self, organization_id: UUID, user_ids: Sequence[UUID], giving: GivingRules) -> Sequence[AlikeMembers]:
        rules = giving.rules
        pairs = [(authority_id, role) for authority_id, roles in giving.by_authority.items() for role in roles]
        return self._all(
            partial(_alike, rules=rules),
            ALIKE,
            {
                "organization_id": organization_id,
                "user_ids": list(user_ids),
                "group_ids": [UUID(rule.group) if rule.source == SCIM else None for rule in rules],
                "sources": [rule.source for rule in rules],
                "groups": [rule.group for rule in rules],
                "roles": [rule.role for rule in rules],
                "gives": [rule.id in giving.giving for rule in rules],
                "authority_ids": [authority_id for authority_id, _ in pairs],
                "authority_roles": [role for _, role in pairs],
                "few": FEW_GROUPS if len(rules) > FEW_GROUPS else -1,
            },
            binary=True,
        )

    def give(self, organization_id: UUID, alike: Sequence[AlikeMembers]) -> None:
        given = [(user_id, one.given.role, one.given.role_source) for one in alike for user_id in one.user_ids]
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
                "user_ids": [user_id for user_id, _, _ in given],
                "roles": [role for _, role, _ in given],
                "sources": [source.source if source is not None else None for _, _, source in given],
                "groups": [source.group if source is not None else None for _, _, source in given],
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


def _rule(
    *, maker_role: str | None, maker_permissions: list[str] | None, link_roles: list[str] | None, **columns: Any
) -> GroupRule:
    maker = Authority(role=maker_role, permissions=maker_permissions, link_roles=link_roles)
    return GroupRule(maker=maker, **columns)


def _fitted(user_id: UUID, rows: Sequence[tuple[Any, ...]]) -> FittedMember | None:
    """Return the member, who has a row for each rule that fits; None without any."""
    if not rows:
        return None
    role, source, group, created_at, *_ = rows[0]
    return FittedMember(
        user_id=user_id,
        role=role,
        role_source=RoleSource(source=source, group=group) if source is not None else None,
        created_at=created_at,
        fitting={
            rule_id: Authority(role=maker_role, permissions=permissions, link_roles=link_roles)
            if authority_id is not None
            else None
            for *_, rule_id, maker_role, permissions, link_roles, authority_id in rows
            if rule_id is not None
        },
    )


def _alike(
    *, rules: Sequence[GroupRule], role_source: str | None, role_group: str, place: int | None, **columns: Any
) -> AlikeMembers:
    """Return members alike, with the rule at the place that counts from 1."""
    rule = rules[place - 1] if place is not None else None
    return AlikeMembers(
        role_source=RoleSource(source=role_source, group=role_group) if role_source is not None else None,
        given=given_by(rule) if rule is not None else TAKEN,
        maker=rule.maker if rule is not None else None,
        **columns,
    )
