"""Two organizations, their people and an attacker, in any order of steps: no one holds what was not given to them.

What each person was given is in `tests/tenants/model.py`; the kinds of steps are beside it. A history is drawn from its
seed, so the same histories are run everywhere. A failure names the seed, and shows the fewest steps that still fail.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from core.sign_in.rules import Rule
from tests.openid_provider import running_openid_provider
from tests.tenants import asserting, deleting, links, machines, people, selling, standing, switching
from tests.tenants.explaining import SIGNED_IN
from tests.tenants.histories import ALONE, CYCLE, Runner, draw
from tests.tenants.model import Way
from tests.tenants.taking import Story
from tests.tenants.undone import UNDONE, Undone
from tests.world.world import World

# A window of seeds in which all happens that the gate asks for.
HISTORIES_OF_THE_GATE = range(180, 200)
# Of the off-switch: seeds in which a provider ends something, and an account is locked.
ALONE_IN_THE_GATE = (7, 8, 12)
STEPS_OF_THE_GATE = 25
HISTORIES = 200
STEPS = 40
# So that several processes share them, and each test ends long before a test is taken for stuck.
CHUNK = 50
# Within how many histories of its story the test finds that a rule was undone.
HISTORIES_TO_FIND = 120


@pytest.fixture
def runner(world: World) -> Generator[Runner]:
    """Runs histories in the world of the test."""
    with running_openid_provider() as work, running_openid_provider() as evil:
        yield Runner(world, work, evil)


async def assert_none_found(runner: Runner, seeds: range, length: int) -> None:
    """Run the histories of these seeds."""
    for seed in seeds:
        found = await runner.find(seed, length)
        assert found is None, str(found)


@pytest.mark.hypothesis
async def test_no_person_holds_what_was_not_given_to_them(runner: Runner) -> None:
    await assert_none_found(runner, HISTORIES_OF_THE_GATE, STEPS_OF_THE_GATE)

    # Histories in which every step is refused would show nothing.
    assert runner.happened >= {Way.PERSON, Way.MAKER, Way.CONNECTION, "membership", "subscription"}
    assert runner.happened >= {standing.CAME, standing.CAME_ALONE, standing.ASKED}
    assert runner.happened >= {
        deleting.CLOSED,
        links.LINKED,
        asserting.ASSERTED,
        selling.GIVEN,
        selling.ACTED,
        people.LISTED,
    }
    # Nor would explanations that are compared with nothing.
    assert runner.happened >= {SIGNED_IN, Rule.ACCOUNT, Rule.ACTIVATED, Rule.ADDRESS_VERIFIED, Rule.NOT_SUSPENDED}


@pytest.mark.hypothesis
async def test_programs_get_what_their_own_organization_allows(runner: Runner) -> None:
    for seed in ALONE_IN_THE_GATE:
        found = await runner.find(seed, STEPS_OF_THE_GATE, Story.MACHINES)
        assert found is None, str(found)

    assert runner.happened >= {machines.WORKED, machines.ENDED}


@pytest.mark.hypothesis
async def test_what_was_switched_off_stays_off(runner: Runner) -> None:
    for seed in ALONE_IN_THE_GATE:
        found = await runner.find(seed, STEPS_OF_THE_GATE, Story.SWITCHING)
        assert found is None, str(found)

    assert runner.happened >= {switching.REVOKED, switching.LOCKED}


@pytest.mark.hypothesis
@pytest.mark.long
@pytest.mark.parametrize("story", ALONE)
async def test_the_stories_of_their_own_in_many_histories(runner: Runner, story: Story) -> None:
    for seed in range(CHUNK):
        found = await runner.find(seed, STEPS, story)
        assert found is None, str(found)


@pytest.mark.hypothesis
@pytest.mark.long
@pytest.mark.parametrize("first", range(0, HISTORIES, CHUNK))
async def test_no_person_holds_what_was_not_given_to_them_in_many_histories(runner: Runner, first: int) -> None:
    await assert_none_found(runner, range(first, first + CHUNK), STEPS)


@pytest.mark.hypothesis
@pytest.mark.long
@pytest.mark.parametrize("undone", UNDONE, ids=lambda undone: undone.rule)
async def test_histories_find_that_a_rule_was_undone(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, undone: Undone
) -> None:
    undone.patch(monkeypatch)
    number = CYCLE.index(undone.story) if undone.story in CYCLE else 0

    for seed in range(number, number + HISTORIES_TO_FIND * len(CYCLE), len(CYCLE)):
        violation = await runner.violation_of(draw(seed, STEPS, undone.story))
        if violation is not None and violation.kind in undone.kinds:
            return
    pytest.fail(f"nothing was found in {HISTORIES_TO_FIND} histories")
