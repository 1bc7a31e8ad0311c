"""The view of relations in PostgreSQL, and the one check that is decided from it (decisions 5.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from adapters.postgres.organizations.relations import BETWEEN
from core.organizations import relations
from core.organizations.relations import Object
from tests.plans import explained, tables_read_whole
from tests.sign_ins import FREE_TIER, new_id
from tests.statements import recorded_statements

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from adapters.postgres.driver.connection import Connection

MANY = 3000


class World:
    """Organizations, people and services, as rows."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.acme, self.bolt = self.organization("acme"), self.organization("bolt")
        self.shop, self.till = self.service(self.acme, "shop"), self.service(self.bolt, "till")

    def organization(self, slug: str) -> UUID:
        organization_id = new_id()
        self.connection.execute(
            """
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            VALUES (%s, %s, %s, 'active', %s, now(), now())
            """,
            (organization_id, slug, slug, FREE_TIER),
        )
        return organization_id

    def service(self, organization_id: UUID, slug: str) -> UUID:
        service_id = new_id()
        self.connection.execute(
            """
            INSERT INTO services (id, organization_id, slug, name, service_type, client_id, created_at, updated_at)
            VALUES (%s, %s, %s, %s, 'web', %s, now(), now())
            """,
            (service_id, organization_id, slug, slug, new_id()),
        )
        return service_id

    def member(self, organization_id: UUID, role: str) -> UUID:
        user_id = new_id()
        self.connection.execute(
            "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, %s, now(), now())",
            (user_id, f"{user_id}@example.com"),
        )
        self.connection.execute(
            "INSERT INTO memberships (id, organization_id, user_id, role, created_at) VALUES (%s, %s, %s, %s, now())",
            (new_id(), organization_id, user_id, role),
        )
        return user_id

    def grant(self, organization_id: UUID, service_id: UUID, user_id: UUID, relation: str) -> None:
        self.connection.execute(
            """
            INSERT INTO service_grants (service_id, organization_id, user_id, relation, created_at)
            VALUES (%s, %s, %s, %s, now())
            """,
            (service_id, organization_id, user_id, relation),
        )


@pytest.fixture
def world(connection: Connection) -> World:
    """Two organizations with a service each."""
    return World(connection)


def test_every_membership_and_every_grant_is_one_tuple(world: World) -> None:
    ada = world.member(world.acme, "member")
    world.grant(world.acme, world.shop, ada, "viewer")

    rows = world.connection.execute("SELECT object, relation, subject FROM relations").fetchall()

    assert sorted(rows) == [
        (f"organization:{world.acme}", "member", f"user:{ada}"),
        (f"service:{world.shop}", "viewer", f"user:{ada}"),
    ]


def test_a_check_is_decided_in_one_statement(world: World, transact: Callable[..., Any]) -> None:
    ada = world.member(world.acme, "member")
    world.grant(world.acme, world.shop, ada, "manager")
    shop = Object(organization_id=world.acme, service_id=world.shop)

    with recorded_statements() as statements:
        is_manager = transact(relations.check, shop, "manager", ada)

    assert is_manager
    assert len([statement for statement in statements if "relations" in statement]) == 1


def test_a_custom_role_is_worth_what_its_organization_put_into_it(world: World, transact: Callable[..., Any]) -> None:
    for organization_id, permissions in ((world.acme, ["services.manage"]), (world.bolt, ["services.view"])):
        world.connection.execute(
            """
            INSERT INTO organization_roles (organization_id, slug, name, permissions, created_at, updated_at)
            VALUES (%s, 'keeper', 'Keeper', %s, now(), now())
            """,
            (organization_id, permissions),
        )
    ada, bob = world.member(world.acme, "keeper"), world.member(world.bolt, "keeper")
    shop, till = (
        Object(organization_id=world.acme, service_id=world.shop),
        Object(organization_id=world.bolt, service_id=world.till),
    )

    assert transact(relations.check, shop, "manager", ada)
    assert not transact(relations.check, till, "manager", bob)
    assert transact(relations.check, till, "viewer", bob)
    assert transact(relations.check, Object(organization_id=world.acme), "services.manage", ada)
    assert not transact(relations.check, Object(organization_id=world.acme), "keeper", bob)


def test_the_service_of_another_organization_is_nothing_to_an_owner(world: World, transact: Callable[..., Any]) -> None:
    ada = world.member(world.acme, "owner")

    for organization_id in (world.acme, world.bolt):
        till = Object(organization_id=organization_id, service_id=world.till)
        assert not transact(relations.check, till, "viewer", ada)


def test_a_grant_ends_with_the_membership(world: World) -> None:
    ada = world.member(world.acme, "member")
    world.grant(world.acme, world.shop, ada, "manager")

    world.connection.execute("DELETE FROM memberships")

    assert world.connection.execute("SELECT count(*) FROM relations").fetchone() == (0,)


def test_among_many_a_check_reads_no_table_whole(world: World) -> None:
    ada = world.member(world.acme, "member")
    world.grant(world.acme, world.shop, ada, "manager")
    world.connection.execute(
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
        {"many": MANY, "organization_id": world.acme},
    )
    world.connection.execute(
        """
        INSERT INTO service_grants (service_id, organization_id, user_id, relation, created_at)
        SELECT %s, organization_id, user_id, 'viewer', now() FROM memberships WHERE user_id <> %s
        """,
        (world.shop, ada),
    )
    world.connection.execute("ANALYZE")

    plan = explained(
        world.connection, BETWEEN, {"organization_id": world.acme, "service_id": world.shop, "user_id": ada}
    )

    assert plan["Actual Rows"] == 2
    assert tables_read_whole(plan) & {"memberships", "service_grants"} == set()
