"""The view of relations in PostgreSQL, and the relation check that reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.organizations.relations import BETWEEN
from core.organizations import relations
from core.organizations.relations import RelationObject
from tests.plans import explained, tables_read_whole
from tests.statements import recorded_statements
from tests.world.builder import Builder

MANY = 3000


@dataclass(frozen=True)
class Related:
    """Two organizations with a service each."""

    builder: Builder
    acme: UUID
    bolt: UUID
    shop: UUID
    till: UUID

    def member(self, organization_id: UUID, role: str) -> UUID:
        """Insert a user who is a member, and return the user's id."""
        user_id = self.builder.user(f"{role}@{organization_id}.example.com")
        self.builder.member(organization_id, user_id, role)
        return user_id

    def grant(self, organization_id: UUID, service_id: UUID, user_id: UUID, relation: str) -> None:
        """Grant a member a relation to a service."""
        self.builder.grant(organization_id, service_id, user_id, relation)


@pytest.fixture
def related(builder: Builder) -> Related:
    """Two organizations with a service each."""
    acme, bolt = builder.organization("acme"), builder.organization("bolt")
    return Related(builder, acme, bolt, builder.service(acme, "shop").id, builder.service(bolt, "till").id)


def test_every_membership_and_every_grant_is_one_row(related: Related) -> None:
    ada = related.member(related.acme, "member")
    related.grant(related.acme, related.shop, ada, "viewer")

    rows = related.builder.connection.execute("SELECT object, relation, subject FROM relations").fetchall()

    assert sorted(rows) == [
        (f"organization:{related.acme}", "member", f"user:{ada}"),
        (f"service:{related.shop}", "viewer", f"user:{ada}"),
    ]


def test_a_check_takes_one_statement(related: Related, transact: Callable[..., Any]) -> None:
    ada = related.member(related.acme, "member")
    related.grant(related.acme, related.shop, ada, "manager")
    shop = RelationObject(organization_id=related.acme, service_id=related.shop)

    with recorded_statements() as statements:
        is_manager = transact(relations.check, shop, "manager", ada)

    assert is_manager
    assert len([statement for statement in statements if "relations" in statement]) == 1


def test_a_custom_role_has_the_permissions_of_its_own_organization(
    related: Related, transact: Callable[..., Any]
) -> None:
    for organization_id, permissions in ((related.acme, ["services.manage"]), (related.bolt, ["services.view"])):
        related.builder.custom_role(organization_id, "keeper", *permissions)
    ada, bob = related.member(related.acme, "keeper"), related.member(related.bolt, "keeper")
    shop, till = (
        RelationObject(organization_id=related.acme, service_id=related.shop),
        RelationObject(organization_id=related.bolt, service_id=related.till),
    )

    assert transact(relations.check, shop, "manager", ada)
    assert not transact(relations.check, till, "manager", bob)
    assert transact(relations.check, till, "viewer", bob)
    assert transact(relations.check, RelationObject(organization_id=related.acme), "services.manage", ada)
    assert not transact(relations.check, RelationObject(organization_id=related.acme), "keeper", bob)


def test_an_owner_has_no_relation_to_a_service_of_another_organization(
    related: Related, transact: Callable[..., Any]
) -> None:
    ada = related.member(related.acme, "owner")

    for organization_id in (related.acme, related.bolt):
        till = RelationObject(organization_id=organization_id, service_id=related.till)
        assert not transact(relations.check, till, "viewer", ada)


def test_a_grant_ends_with_the_membership(related: Related) -> None:
    ada = related.member(related.acme, "member")
    related.grant(related.acme, related.shop, ada, "manager")

    related.builder.connection.execute("DELETE FROM memberships")

    assert related.builder.connection.execute("SELECT count(*) FROM relations").fetchone() == (0,)


@pytest.mark.plans
def test_a_check_among_many_members_scans_no_whole_table(related: Related) -> None:
    ada = related.member(related.acme, "member")
    related.grant(related.acme, related.shop, ada, "manager")
    related.builder.connection.execute(
        """
        WITH people AS (
            INSERT INTO users (id, email, created_at, updated_at)
            SELECT gen_random_uuid(), n || '@example.org', now(), now() FROM generate_series(1, %(many)s) AS n
            RETURNING id
        ), managers AS (
            INSERT INTO memberships (id, organization_id, user_id, role, created_at)
            SELECT gen_random_uuid(), %(organization_id)s, id, 'member', now() FROM people
            RETURNING organization_id, user_id
        )
        SELECT count(*) FROM managers
        """,
        {"many": MANY, "organization_id": related.acme},
    )
    related.builder.connection.execute(
        """
        INSERT INTO service_grants (service_id, organization_id, user_id, relation, created_at)
        SELECT %s, organization_id, user_id, 'viewer', now() FROM memberships WHERE user_id <> %s
        """,
        (related.shop, ada),
    )
    related.builder.connection.execute("ANALYZE")

    plan = explained(
        related.builder.connection,
        BETWEEN,
        {"organization_id": related.acme, "service_id": related.shop, "user_id": ada},
    )

    assert plan["Actual Rows"] == 2
    assert tables_read_whole(plan) & {"memberships", "service_grants"} == set()
