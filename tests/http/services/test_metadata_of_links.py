"""What services note about users follows their links, and ends with the last one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.world.builder import Service
from tests.world.world import World


class Noted:
    """A service with customers, and a person with metadata there."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.vendor, self.customer = world.organization("vendor"), world.organization("beta")
        self.service: Service = world.service(self.vendor)
        self.ada, self.bob = world.user("ada@example.com"), world.user("bob@example.com")
        world.member(self.customer, self.ada)
        self.record = world.customer(self.service, self.customer)

    def note(self) -> None:
        """Note something about Ada."""
        self.world.connection.execute(
            "INSERT INTO service_user_metadata VALUES (%s, %s, %s, %s)",
            (self.service.id, self.vendor, self.ada, '{"a": 1}'),
        )

    def come(self) -> None:
        """Let Ada have come for the customer."""
        self.world.connection.execute(
            "INSERT INTO customer_users VALUES (%s, %s, %s, now(), now())", (self.record, self.customer, self.ada)
        )

    def link(self) -> None:
        """Link Ada to the service."""
        self.world.link(self.vendor, self.service.id, self.ada)

    def execute(self, text: str, *values: Any) -> None:
        """Run a statement."""
        self.world.connection.execute(text.encode(), values)

    @property
    def of(self) -> list[Any]:
        """The people with metadata at the service."""
        return [user_id for (user_id,) in self.world.rows("SELECT user_id FROM service_user_metadata")]


@pytest.fixture
def noted(world: World) -> Noted:
    """Both organizations, the service and the person."""
    return Noted(world)


def test_it_moves_with_the_link_to_another_account(noted: Noted) -> None:
    noted.link()
    noted.note()

    noted.execute("UPDATE service_users SET user_id = %s, email = 'bob@example.com'", noted.bob)

    assert noted.of == [noted.bob]


def test_it_moves_with_the_membership_of_a_customer(noted: Noted) -> None:
    noted.come()
    noted.note()

    noted.execute("UPDATE memberships SET user_id = %s, member_email = 'bob@example.com'", noted.bob)

    assert noted.of == [noted.bob]


def test_what_the_other_account_has_stays_and_ends_of_this_one(noted: Noted) -> None:
    noted.link()
    noted.come()
    noted.note()
    noted.execute(
        "INSERT INTO service_user_metadata VALUES (%s, %s, %s, '{\"b\": 1}')", noted.service.id, noted.vendor, noted.bob
    )

    noted.execute("UPDATE service_users SET user_id = %s, email = 'bob@example.com'", noted.bob)
    assert set(noted.of) == {noted.ada, noted.bob}
    noted.execute("UPDATE memberships SET user_id = %s, member_email = 'bob@example.com'", noted.bob)

    assert noted.of == [noted.bob]
    assert noted.world.rows("SELECT metadata FROM service_user_metadata") == [({"b": 1},)]


def test_it_ends_with_the_membership_or_the_customer_unless_there_is_another_way(noted: Noted) -> None:
    noted.come()
    noted.link()
    noted.note()

    noted.execute("DELETE FROM service_users")
    assert noted.of == [noted.ada]
    noted.execute("DELETE FROM memberships")
    assert noted.of == []


def test_it_ends_with_the_account_and_with_the_service(noted: Noted) -> None:
    noted.link()
    noted.note()
    noted.execute("DELETE FROM users WHERE id = %s", noted.ada)
    assert noted.of == []

    noted.ada = noted.bob
    noted.note()
    noted.execute("DELETE FROM services")
    assert noted.of == []
