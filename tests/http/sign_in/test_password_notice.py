"""A sign-in says so when its password has leaked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from adapters.password_lists.files import BreachedPasswordFile
from core.accounts.passwords import BreachUnknown
from ports.accounts.passwords import BreachedPasswords
from tests.application import serving
from tests.breached import breached_file
from tests.world.builder import EMAIL, PASSWORD
from tests.world.second_factors import Person, insert_person
from tests.world.world import World


@dataclass
class WatchedList:
    """The port `BreachedPasswords` with a list; it records what it was asked."""

    known: BreachedPasswords
    asked: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])

    async def contains(self, password: str, *, is_hurried: bool) -> bool:
        """Ask the list."""
        self.asked.append((password, is_hurried))
        return await self.known.contains(password, is_hurried=is_hurried)


class NoAnswer:
    """The port `BreachedPasswords` without an answer."""

    async def contains(self, password: str, *, is_hurried: bool) -> bool:
        """Say nothing."""
        raise BreachUnknown("The server did not answer in time.")


@pytest.fixture
def known(tmp_path: Path) -> WatchedList:
    """A list that has the password of the tests."""
    return WatchedList(BreachedPasswordFile(breached_file(tmp_path, PASSWORD)))


@pytest.fixture
def with_list(world: World) -> Callable[[BreachedPasswords], World]:
    """Return the world with a list of breached passwords."""

    def make(known: BreachedPasswords) -> World:
        installation = replace(world.installation, breached_passwords=known)
        return replace(world, installation=installation, client=serving(installation))

    return make


@pytest.fixture
async def ada(world: World) -> Person:
    """A user with a second factor."""
    person = insert_person(world)
    await person.turn_mfa_on()
    person.next_step()
    return person


WithList = Callable[[BreachedPasswords], World]


async def test_a_sign_in_says_that_the_password_has_leaked(with_list: WithList, known: WatchedList) -> None:
    world = with_list(known)
    world.user(EMAIL)

    answer = await world.log_in()

    assert (answer.status, answer.json["password_notice"]) == (200, "breached")
    assert known.asked == [(PASSWORD, True)]


async def test_of_any_other_password_it_says_nothing(with_list: WithList, tmp_path: Path) -> None:
    world = with_list(BreachedPasswordFile(breached_file(tmp_path, "another one")))
    world.user(EMAIL)

    assert "password_notice" not in (await world.log_in()).json


async def test_refusals_do_not_ask_whether_the_password_is_right_or_not(
    with_list: WithList, known: WatchedList
) -> None:
    world = with_list(known)
    world.user(EMAIL)
    world.user("gone@example.com", is_active=False)
    world.organization("acme")

    answers = [
        await world.log_in(EMAIL, "wrong password"),
        await world.log_in("nobody@example.com"),
        await world.log_in("gone@example.com"),
        await world.log_in(EMAIL, org_slug="acme"),
    ]

    assert [answer.status for answer in answers] == [401, 401, 401, 403]
    assert known.asked == []


async def test_with_a_second_factor_the_notice_comes_with_its_answer(
    with_list: WithList, known: WatchedList, ada: Person
) -> None:
    ada.world = with_list(known)

    first = await ada.log_in()
    second = await ada.verify(first.json["preauth_token"], ada.code())

    assert "password_notice" not in first.json
    assert (second.status, second.json["password_notice"]) == (200, "breached")


async def test_a_second_factor_after_another_password_brings_none(
    with_list: WithList, tmp_path: Path, ada: Person
) -> None:
    ada.world = with_list(BreachedPasswordFile(breached_file(tmp_path, "another one")))

    token = await ada.preauth_token()

    assert "password_notice" not in (await ada.verify(token, ada.code())).json


async def test_a_list_that_does_not_answer_refuses_no_sign_in(with_list: WithList) -> None:
    world = with_list(NoAnswer())
    world.user(EMAIL)

    answer = await world.log_in()

    assert answer.status == 200
    assert "password_notice" not in answer.json
    assert 'sso_password_checks_total{outcome="failed"} 1' in world.installation.metrics.exposition().decode()
