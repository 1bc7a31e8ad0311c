"""What PostgreSQL reads for the rules of groups, whether or not it has looked at tables that are being filled.

A directory that is synchronized for the first time fills groups, members and rules before `ANALYZE` has seen any. With
a plan by guesses about such tables, all places in groups were read again for each member, which took minutes.
"""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.organizations.group_rules import ALIKE, FEW_GROUPS
from adapters.postgres.scim.directory_groups import ADD_MEMBERS
from tests.plans import explained, rows_read
from tests.world.builder import Builder

MEMBERS: Final = 300
# A member of more groups than the statement looks at first; beyond them it looks at the groups of the rules alone.
GROUPS: Final = 2 * FEW_GROUPS
MODES: Final = ("force_custom_plan", "force_generic_plan")
INSERTED: Final = (
    """
    INSERT INTO users (id, email, created_at, updated_at)
    SELECT gen_random_uuid(), n || '@example.com', now(), now() FROM generate_series(1, %(members)s) AS n
    """,
    """
    INSERT INTO memberships (id, organization_id, user_id, role, created_at)
    SELECT gen_random_uuid(), %(organization_id)s, id, 'member', now() FROM users
    """,
    """
    INSERT INTO directory_authorities (id, organization_id, maker_role)
    VALUES (%(authority_id)s, %(organization_id)s, 'owner')
    """,
    """
    INSERT INTO directory_groups (id, organization_id, display_name, created_at, updated_at)
    SELECT id, %(organization_id)s, id, now(), now() FROM unnest(%(group_ids)s::uuid[]) AS id
    """,
    """
    INSERT INTO directory_group_members (organization_id, group_id, user_id, authority_id)
    SELECT g.organization_id, g.id, m.user_id, %(authority_id)s
    FROM   directory_groups g
    JOIN   memberships m ON m.organization_id = g.organization_id
    """,
    """
    INSERT INTO upstream_connections (id, organization_id, type, name, issuer, scopes, attribute_mapping, trust_mfa,
                                      enabled, created_at, updated_at)
    VALUES (%(connection_id)s, %(organization_id)s, 'saml', 'Directory', 'https://idp.example', '{}', '{}', false, true,
            now(), now())
    """,
    """
    INSERT INTO identities (id, user_id, provider, subject, connection_id, organization_id, groups, linked_at, used_at)
    SELECT gen_random_uuid(), id, 'saml', email, %(connection_id)s, %(organization_id)s, '{A,B,C}', now(), now()
    FROM   users
    """,
    """
    INSERT INTO group_rules (id, organization_id, place, group_id, role, created_at)
    SELECT gen_random_uuid(), %(organization_id)s, place, id, 'admin', now()
    FROM   unnest(%(group_ids)s::uuid[]) WITH ORDINALITY AS g (id, place)
    """,
)


def filled(builder: Builder) -> dict[str, Any]:
    """Insert an organization whose members are in all groups; return the values of both statements.

    Only the rule of the last group gives a role; the rule of the connection fits no member.
    """
    group_ids, authority_id, connection_id = [uuid4() for _ in range(GROUPS)], uuid4(), uuid4()
    values: dict[str, Any] = {
        "organization_id": builder.organization(),
        "group_ids": group_ids,
        "authority_id": authority_id,
        "connection_id": connection_id,
        "members": MEMBERS,
    }
    for statement in INSERTED:
        builder.connection.execute(statement, values)
    return values | {
        "user_ids": [user_id for (user_id,) in builder.rows("SELECT id FROM users ORDER BY id")],
        "group_ids": [*group_ids, None],
        "sources": ["scim"] * GROUPS + [str(connection_id)],
        "groups": [*map(str, group_ids), "D"],
        "roles": ["admin"] * (GROUPS + 1),
        "gives": [False] * (GROUPS - 1) + [True, True],
        "authority_ids": [authority_id],
        "authority_roles": ["admin"],
        "few": FEW_GROUPS,
        "group_id": group_ids[0],
        "instead_of": [uuid4()],
        "gives_products": True,
        "token_id": uuid4(),
        "young_since": builder.clock(),
        "now": builder.clock(),
    }


@pytest.mark.plans
@pytest.mark.parametrize("is_analyzed", [False, True])
def test_rules_of_groups_read_each_member_by_the_key(
    connection: Connection, builder: Builder, *, is_analyzed: bool
) -> None:
    values = filled(builder)
    if is_analyzed:
        connection.execute("ANALYZE")

    for mode in MODES:
        connection.execute("SELECT set_config('plan_cache_mode', %s, false)", (mode,))
        deciding, adding = (explained(connection, statement, values) for statement in (ALIKE, ADD_MEMBERS))

        assert deciding["Actual Rows"] == 1, "all members get the same role"
        assert rows_read(deciding, "memberships") == MEMBERS
        assert rows_read(deciding, "identities") == MEMBERS
        # For each member, first a few groups, then the place in the group of the one rule that fits.
        assert rows_read(deciding, "directory_group_members") <= MEMBERS * (FEW_GROUPS + 2)
        assert rows_read(adding, "memberships") == MEMBERS
        assert rows_read(adding, "directory_group_members") == MEMBERS
