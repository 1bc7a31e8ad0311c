"""An organization moves from one provider to another while it enforces its connection."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.identity_programs.connected import ConnectedProgram, address, connected_program
from tests.identity_programs.django_peers import running_allauth, running_oauth_toolkit
from tests.identity_programs.program import PEOPLE, Program
from tests.world.second_factors import insert_person
from tests.world.visitor import Visitor
from tests.world.world import World

pytestmark = pytest.mark.long

# Both providers name people by their numbers, in another order.
OTHER_ORDER = (*PEOPLE[3:], *PEOPLE[:3])


@pytest.fixture
def first(tmp_path: Path) -> Generator[Program]:
    """The provider that the organization leaves."""
    (tmp_path / "first").mkdir()
    with running_allauth(tmp_path / "first") as running:
        yield running


@pytest.fixture
def second(tmp_path: Path) -> Generator[Program]:
    """The provider to which it moves, which uses the same ids for other people."""
    (tmp_path / "second").mkdir()
    with running_oauth_toolkit(tmp_path / "second", OTHER_ORDER) as running:
        yield running


@pytest.fixture
async def acme(world: World, visitor: Visitor, first: Program) -> ConnectedProgram:
    """Acme, whose people of every kind sign in by the first provider."""
    acme = await connected_program(world, visitor, first)
    # By a mailed code, as who has signed up: with a password, and with a second factor besides.
    world.member(acme.organization_id, world.user(address("paul")))
    fay = insert_person(world, address("fay"))
    await fay.turn_mfa_on()
    acme.apps["fay"] = fay
    world.member(acme.organization_id, fay.id)
    # By the directory of Acme, whose accounts they are.
    world.member(acme.organization_id, world.user(address("dora"), password_hash=None))
    world.connection.execute(
        "UPDATE users SET created_by_organization_id = %s WHERE email = %s", (acme.organization_id, address("dora"))
    )
    # By the connection alone: ada, grace, bob and sam. Bob belongs to another organization too.
    for person in PEOPLE:
        await acme.walk_in(person)
    world.member(world.organization("bolt"), acme.user_id("bob"))
    world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (acme.user_id("sam"),))
    await acme.enforce()
    return acme


async def test_each_person_is_signed_in_by_at_most_one_code_or_reads_why_not(
    acme: ConnectedProgram, second: Program, subtests: pytest.Subtests
) -> None:
    accounts = {person: acme.user_id(person) for person in PEOPLE}

    moved = await acme.moved_to(second)

    codes = dict[str, int]()
    for person in PEOPLE:
        with subtests.test(person=person):
            codes[person] = await moved.walk_in(person)
            assert codes[person] <= 1
            assert await moved.walk_in(person) == 0
            page = await moved.visitor.open("/app/organizations/acme")
            is_refused = "Your membership in this organization is deactivated" in page.text
            assert (page.status, is_refused) == ((403, True) if person == "sam" else (200, False))
    assert codes["dora"] == 0
    assert {person: acme.user_id(person) for person in PEOPLE} == accounts
    linked = acme.world.rows(
        "SELECT subject, users.email FROM identities JOIN users ON users.id = user_id WHERE connection_id = %s",
        moved.connection_id,
    )
    assert dict(linked).items() <= {str(n): address(who) for n, who in enumerate(OTHER_ORDER, 1)}.items()
    # No id leads to the account that the first provider means by it.
    assert set(linked).isdisjoint({(str(n), address(who)) for n, who in enumerate(PEOPLE, 1)})
