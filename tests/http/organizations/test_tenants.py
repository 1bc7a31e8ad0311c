"""Two organizations, their people and an attacker, in any order of steps: no one holds what was not given to them.

What each person was given is in `tests/tenants/model.py`; the kinds of steps are beside it. A history is drawn from its
seed, so the same histories are run everywhere. A failure names the seed, and shows the fewest steps that still fail.

That the histories find a rule which was undone is shown by one for each rule, which is stored (`tenants/storing.py`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace

import pytest

from adapters.resolver import DnsResolver
from core.sign_in.rules import Rule
from entrypoints.installation import Installation
from tests.drawing import drawn_numbers
from tests.name_server import LOOPBACK, NameServer
from tests.openid_provider import running_openid_provider
from tests.tenants import (
    admitting,
    asserting,
    blocking,
    deleting,
    keyrings,
    links,
    logs,
    machines,
    made_claims,
    made_domains,
    made_saml,
    making,
    market_judging,
    office_rows,
    people,
    pressing,
    receiving,
    searching,
    selling,
    standing,
    switching,
)
from tests.tenants.explaining import SIGNED_IN
from tests.tenants.histories import ALONE, CYCLE, Found, Runner, draw
from tests.tenants.model import Way
from tests.tenants.neighbourhood import ServerFailed
from tests.tenants.storing import history_of, storage, store, stored
from tests.tenants.taking import Step, Story, step_of
from tests.tenants.undone import Undone
from tests.tenants.undone_entitlement import OF_ROWS, OF_VALUES
from tests.tenants.undone_openings import ALL_UNDONE
from tests.world.world import World

# The gate runs so many histories, and more of them until all has happened that it asks for.
HISTORIES_OF_THE_GATE, ALONE_IN_THE_GATE = 20, 3
STEPS_OF_THE_GATE = 25
HISTORIES = 200
STEPS = 40
# So that several processes share them, and each test ends long before a test is taken for stuck.
CHUNK, CHUNK_ALONE = 50, 10
# No history of these is stored yet (`tests/tenants/storing.py`), so each long run searches for one. No rule is added.
SEARCHED = frozenset[str](
    {
        "the vendor is told of no unconfirmed membership",
        "the platform acts for customers for which a person has come in",
    }
)
# What this run searches for: all rules where it stores what it finds (`tests/tenants/storing.py`).
SOUGHT = frozenset(one.rule for one in ALL_UNDONE) if storage() is not None else SEARCHED
# What the model once took for a violation, and is none: histories that a report has found.
ALLOWED = {
    "an account that nobody has proved is linked for the first time, also when its user was removed": [
        "scim_creates(of='a', address=0, active=True)",
        "owner_removes(of='a', pick=1)",
        "employer_signs_in()",
    ],
    "the key of a job ends with its organization, which is restored without it": [
        "owner_allows_machine(of='a')",
        "machine_works(of='a')",
        "owner_deletes_and_restores(of='a')",
        "machine_works(of='a')",
        "owner_allows_machine(of='a')",
        "machine_works(of='a')",
    ],
    "the employer adds a person who has left as its connection says, also while another claim has the address": [
        "owner_sets_connection(pick=1, whole=True)",
        "works_for_a(whole=True)",
        "attacker_maps_address(address=1)",
        "employer_signs_in()",
    ],
    "the vendor's events name the address of a member of before, also once it belongs to another account": [
        "comes_by_connection(of='b', address=3, pick=1, whole=True)",
        "presses_late(address=3)",
        "receivers_read(whole=False)",
        "moves(address=3)",
        "key_adds(of='b', address=3)",
    ],
    "an organization knows the address of a member who is added and removed in one step": [
        "works_for_a(whole=True)",
        "works_for_a(whole=True)",
    ],
    "who was let in by a key, and was added since, is let in once they have confirmed it": [
        "owner_sets_access(pick=0)",
        "key_lets_in(address=3, whole=False)",
        "scim_creates(of='a', address=3, active=True)",
        "comes_to_office(address=3, pick=0)",
        "comes_to_office(address=3, pick=1)",
    ],
}
# Within how many histories of its story a new search finds that a rule was undone.
HISTORIES_TO_FIND = 120
# Drawn histories seldom find some rules. Of so many most have to be found; their stored histories find all of them.
RULES_DRAWN, RULES_FOUND_MIN = 8, 6


@pytest.fixture
def names() -> Generator[NameServer]:
    """The name server that is asked for proofs of domains."""
    with NameServer().open() as names:
        yield names


@pytest.fixture
async def installation(installation: Installation, names: NameServer) -> Installation:
    """The installation, which asks that name server."""
    return replace(installation, resolver=DnsResolver((LOOPBACK, names.port)))


@pytest.fixture
def runner(world: World, names: NameServer) -> Generator[Runner]:
    """Runs histories in the world of the test."""
    with running_openid_provider() as work, running_openid_provider() as evil:
        yield Runner(world, work, evil, names)


async def assert_none_found(runner: Runner, seeds: Iterable[int], length: int, story: Story | None = None) -> None:
    """Run the histories of these seeds."""
    for seed in seeds:
        found = await runner.find(seed, length, story)
        assert found is None, str(found)


async def assert_none_found_until(
    runner: Runner, happened: set[str], number: int, first: int, story: Story | None = None
) -> None:
    """Run a number of histories, and more until all has happened: if every step is refused, nothing is shown."""
    for seed in range(first, first + HISTORIES):
        if seed >= first + number and happened <= runner.happened:
            return
        await assert_none_found(runner, [seed], STEPS_OF_THE_GATE, story)
    assert happened <= runner.happened


@pytest.mark.hypothesis
async def test_no_person_holds_what_was_not_given_to_them(runner: Runner) -> None:
    happened = {
        *(Way.PERSON, Way.MAKER, Way.CONNECTION, "membership", "subscription"),
        *(standing.CAME, standing.CAME_ALONE, standing.ASKED),
        *(deleting.CLOSED, links.LINKED, asserting.ASSERTED, selling.GIVEN, selling.ACTED, people.LISTED),
        # Explanations that are compared with nothing would show nothing either.
        *(SIGNED_IN, Rule.ACCOUNT, Rule.ACTIVATED, Rule.ADDRESS_VERIFIED, Rule.NOT_SUSPENDED),
    }

    await assert_none_found_until(runner, happened, HISTORIES_OF_THE_GATE, first=94)


@pytest.mark.hypothesis
async def test_programs_get_what_their_own_organization_allows(runner: Runner) -> None:
    happened = {machines.WORKED, machines.ENDED, keyrings.MADE, keyrings.REPLACED, keyrings.ENDED}

    await assert_none_found_until(runner, happened, ALONE_IN_THE_GATE, first=7, story=Story.MACHINES)


@pytest.mark.hypothesis
async def test_what_was_switched_off_stays_off(runner: Runner) -> None:
    happened = {switching.REVOKED, switching.LOCKED, blocking.BLOCKED, blocking.OPENED}

    await assert_none_found_until(runner, happened, ALONE_IN_THE_GATE, first=7, story=Story.SWITCHING)


@pytest.mark.hypothesis
async def test_a_service_that_is_closed_lets_in_its_own_people(runner: Runner) -> None:
    happened = {office_rows.CAME, office_rows.SHUT_OUT, admitting.CONFIRMED}

    await assert_none_found_until(runner, happened, ALONE_IN_THE_GATE, first=7, story=Story.ADMITTING)


@pytest.mark.hypothesis
async def test_what_vendors_make_for_customers_is_closed_in_itself(runner: Runner) -> None:
    happened = {market_judging.ADMITTED, market_judging.SHUT_OUT, making.LINKED, made_claims.CLAIMED}
    happened |= {made_claims.GIVEN_BACK, made_domains.ROUTED, made_saml.CAME}

    await assert_none_found_until(runner, happened, ALONE_IN_THE_GATE, first=26, story=Story.MAKING)


@pytest.mark.hypothesis
async def test_what_is_read_besides_names_nobody_whom_its_reader_does_not_know(runner: Runner) -> None:
    happened = {receiving.TOLD, receiving.TOLD_FORMER, logs.NAMED, pressing.WAITED, searching.FOUND}
    happened.add(searching.FOUND_BY_PLATFORM)

    await assert_none_found_until(runner, happened, ALONE_IN_THE_GATE, first=7, story=Story.READING)


@pytest.mark.hypothesis
@pytest.mark.parametrize("steps", ALLOWED.values(), ids=ALLOWED)
async def test_what_is_allowed_is_no_violation(runner: Runner, steps: list[str]) -> None:
    assert await runner.violation_of([step_of(one) for one in steps]) is None


@pytest.mark.hypothesis
@pytest.mark.long
@pytest.mark.parametrize("first", range(0, CHUNK, CHUNK_ALONE))
@pytest.mark.parametrize("story", ALONE)
async def test_the_stories_of_their_own_in_many_histories(runner: Runner, story: Story, first: int) -> None:
    await assert_none_found(runner, drawn_numbers(range(first, first + CHUNK_ALONE)), STEPS, story)


@pytest.mark.hypothesis
@pytest.mark.long
@pytest.mark.parametrize("first", range(0, HISTORIES, CHUNK))
async def test_no_person_holds_what_was_not_given_to_them_in_many_histories(runner: Runner, first: int) -> None:
    await assert_none_found(runner, drawn_numbers(range(first, first + CHUNK)), STEPS)


def test_every_undone_rule_names_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for undone in (*ALL_UNDONE, *OF_VALUES, *OF_ROWS):
        with monkeypatch.context() as patched:
            # Raises where a name or a condition of a statement is gone.
            undone.patch(patched)


def test_stored_histories_are_of_steps_that_exist_and_no_rule_is_without_one_but_those_that_are_searched_for() -> None:
    for undone in ALL_UNDONE:
        if undone.rule not in SEARCHED:
            assert [str(one) for one in history_of(undone.rule)] == stored()[undone.rule]
    assert {*stored(), *SEARCHED} == {undone.rule for undone in ALL_UNDONE}
    assert not SEARCHED & set(stored())


@pytest.mark.hypothesis
@pytest.mark.long
@pytest.mark.parametrize(
    "undone", [one for one in ALL_UNDONE if one.rule not in SEARCHED], ids=lambda undone: undone.rule
)
async def test_the_stored_history_of_a_rule_finds_that_it_was_undone(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, undone: Undone
) -> None:
    steps = history_of(undone.rule)
    assert await runner.violation_of(steps) is None

    undone.patch(monkeypatch)
    violation = await runner.violation_of(steps)

    assert violation is not None
    assert violation.kind in undone.kinds


@pytest.mark.hypothesis
@pytest.mark.long
@pytest.mark.parametrize("undone", [one for one in ALL_UNDONE if one.rule in SOUGHT], ids=lambda undone: undone.rule)
async def test_histories_find_that_a_rule_was_undone(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, undone: Undone
) -> None:
    undone.patch(monkeypatch)

    found = await first_found(runner, undone, histories_of(undone))

    assert found is not None, f"nothing was found in {HISTORIES_TO_FIND} histories"
    if (file := storage()) is not None:
        store(file, undone.rule, await runner.shrunk(found))


@pytest.mark.draws
@pytest.mark.parametrize("first", range(0, len(ALL_UNDONE), RULES_DRAWN))
async def test_drawn_histories_find_most_rules_that_were_undone(runner: Runner, first: int) -> None:
    rules = ALL_UNDONE[first : first + RULES_DRAWN]
    missed, failed = list[str](), list[list[Step]]()
    for undone in rules:
        with pytest.MonkeyPatch.context() as patched:
            undone.patch(patched)
            if await first_found(runner, undone, drawn_numbers(histories_of(undone)), failed) is None:
                missed.append(undone.rule)
    for steps in failed:
        # With all rules in force, the server does what it is asked.
        assert await runner.violation_of(steps) is None

    assert len(rules) - len(missed) >= min(RULES_FOUND_MIN, len(rules) // 2), missed


def histories_of(undone: Undone) -> range:
    """Return the numbers of the histories that a search for a rule tries: those of its story."""
    number = CYCLE.index(undone.story) if undone.story in CYCLE else 0
    return range(number, number + HISTORIES_TO_FIND * len(CYCLE), len(CYCLE))


async def first_found(
    runner: Runner, undone: Undone, seeds: Iterable[int], failed: list[list[Step]] | None = None
) -> Found | None:
    """Return the first violation of a kind that undoing a rule causes.

    Where the database refuses what the rule would have refused, the server fails: such histories are added to `failed`,
    for the caller to run again with the rule in force; without that list, it is an error.
    """
    for seed in seeds:
        steps = draw(seed, STEPS, undone.story)
        try:
            violation = await runner.violation_of(steps)
        except ServerFailed:
            if failed is None:
                raise
            failed.append(steps)
            continue
        if violation is not None and violation.kind in undone.kinds:
            return Found(seed, violation, steps[: runner.begun[0]])
    return None
