"""The clock of a process: it goes on evenly when the machine's jumps, and follows it again once the database agrees."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.clock import (
    DIFFERENCE_SECONDS_MAX,
    JUMP_SECONDS_MAX,
    MOVED_SECONDS_MAX,
    SETTLING_SECONDS,
    CheckedClock,
    KnownTime,
    SharedTime,
)
from adapters.crypto.randomness import SystemRandomness
from tests.machine_clocks import HOUR_SECONDS, MOVES, Machine, Server


@pytest.fixture
def machine() -> Machine:
    return Machine()


def test_the_clock_shows_the_time_of_the_machine_in_utc(machine: Machine) -> None:
    machine.run(1.5)

    assert machine.clock() == machine.correct
    assert machine.clock.error_seconds() == 0
    before = datetime.now(UTC)
    assert before <= CheckedClock()() <= datetime.now(UTC)


@pytest.mark.parametrize("seconds", [86_400 * 400, DIFFERENCE_SECONDS_MAX + 1, -3600, -86_400 * 90])
def test_the_last_good_time_goes_on_when_the_clock_of_the_machine_jumps(machine: Machine, seconds: float) -> None:
    machine.jump(seconds)
    machine.run(60)

    assert machine.off_seconds() == 0
    assert machine.clock.error_seconds() == seconds
    assert machine.compare() == 0
    assert machine.off_seconds() == 0

    machine.jump(-seconds)

    assert (machine.off_seconds(), machine.clock.error_seconds()) == (0, 0)


@pytest.mark.parametrize("seconds", [JUMP_SECONDS_MAX, -JUMP_SECONDS_MAX])
def test_small_steps_are_followed(machine: Machine, seconds: float) -> None:
    machine.jump(seconds)

    assert machine.off_seconds() == seconds


def test_a_clock_that_is_adjusted_slowly_is_followed(machine: Machine) -> None:
    for _ in range(20):
        machine.run(60, drift_seconds=-0.4)
        machine.clock()

    assert machine.off_seconds() == pytest.approx(-8)
    assert machine.clock.error_seconds() == 0


def test_a_jump_that_the_database_confirms_is_followed() -> None:
    # It was wrong from the start, as on a machine without a battery, until NTP has set it.
    machine = Machine(wrong_seconds=-86_400)
    assert machine.off_seconds() == -86_400
    machine.jump(86_400)
    assert machine.off_seconds() == -86_400

    moved_seconds = machine.compare()

    assert (moved_seconds, machine.off_seconds()) == (86_400, 0)


@pytest.mark.parametrize("wrong_seconds", [-3600, DIFFERENCE_SECONDS_MAX + 1, 86_400])
def test_a_process_that_starts_with_a_wrong_clock_takes_the_time_of_the_database(wrong_seconds: float) -> None:
    machine = Machine(wrong_seconds=wrong_seconds)

    moved_seconds = machine.compare()
    machine.run(30)

    assert moved_seconds == -wrong_seconds
    assert machine.off_seconds() == 0
    assert machine.clock.error_seconds() == wrong_seconds


@pytest.mark.parametrize("seconds", [-DIFFERENCE_SECONDS_MAX, 0.5, DIFFERENCE_SECONDS_MAX])
def test_small_differences_between_the_machines_change_nothing(machine: Machine, seconds: float) -> None:
    assert machine.compare(database_error_seconds=seconds) == 0
    assert machine.off_seconds() == 0


@pytest.mark.parametrize("seconds", [86_400, -3600])
def test_a_jump_of_the_clock_of_the_database_is_not_followed(machine: Machine, seconds: float) -> None:
    machine.compare()

    for _ in range(2):
        machine.run(60)
        assert machine.compare(database_error_seconds=seconds) == 0
        assert (machine.off_seconds(), machine.database_error_seconds) == (0, seconds)
    # A right clock shows again once the database's is right.
    machine.jump(seconds / 2)
    assert machine.compare(database_error_seconds=seconds) == 0
    assert machine.off_seconds() == 0
    assert machine.compare() == 0
    assert (machine.off_seconds(), machine.database_error_seconds) == (0, 0)


def test_a_clock_that_drifts_away_from_the_one_of_the_database_is_set_by_it(machine: Machine) -> None:
    moved_seconds = []
    for _ in range(20):
        machine.run(60, drift_seconds=1)
        moved_seconds.append(machine.compare())

    # Small differences are followed, until they have added up.
    assert [seconds for seconds in moved_seconds if abs(seconds) > 1] == [-DIFFERENCE_SECONDS_MAX - 1]
    assert machine.off_seconds() == pytest.approx(0)
    assert machine.clock.error_seconds() == pytest.approx(20)
    assert machine.database_error_seconds == 0


def test_a_slow_answer_of_the_database_is_no_difference(machine: Machine) -> None:
    assert machine.compare(answer_seconds=DIFFERENCE_SECONDS_MAX + 30) == 0
    assert machine.off_seconds() == 0


def test_a_machine_that_was_suspended_needs_no_database(machine: Machine) -> None:
    # The time since the start counts on meanwhile, so both clocks agree.
    machine.run(3 * 86_400, drift_seconds=2)

    assert (machine.off_seconds(), machine.clock.error_seconds()) == (2, 0)


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["jump", "run", "compare"]), st.integers(-(10**8), 10**8)), min_size=1, max_size=30
    )
)
def test_whatever_the_wall_clock_does_time_stays_near_the_correct_one_and_ids_go_up(
    steps: list[tuple[str, int]],
) -> None:
    machine = Machine()
    randomness = SystemRandomness(machine.clock.nanoseconds)
    ids: list[UUID] = []
    for step, seconds in steps:
        match step:
            case "jump":
                # Steps of seconds that are followed add up until the next comparison.
                machine.jump(seconds if abs(seconds) > JUMP_SECONDS_MAX else 10**6)
            case "run":
                machine.run(abs(seconds))
            case _:
                machine.compare()
        assert abs(machine.off_seconds()) <= DIFFERENCE_SECONDS_MAX
        ids.append(randomness.new_id())

    assert ids == sorted(set(ids))


@pytest.mark.parametrize("seconds", MOVES)
def test_a_replaced_worker_goes_on_with_the_time_of_the_others_while_the_clock_of_the_database_is_wrong(
    seconds: float,
) -> None:
    machine = Machine()
    server = Server(machine)
    machine.compare()
    machine.clock.share()
    for worker in (0, 1, 0):
        machine.run(60)

        server.replace(worker)
        before = machine.off_seconds()
        moved_seconds = machine.compare(database_error_seconds=seconds)
        machine.clock.share()

        assert (before, moved_seconds, machine.off_seconds()) == (0, 0, 0), worker
        assert machine.database_error_seconds == seconds
        assert machine.clock.is_settled()
    assert machine.compare() == 0
    assert (machine.off_seconds(), machine.database_error_seconds) == (0, 0)


@pytest.mark.parametrize("seconds", MOVES)
def test_a_replaced_worker_goes_on_with_the_time_of_the_others_while_the_clock_of_its_machine_is_wrong(
    seconds: float,
) -> None:
    machine = Machine()
    server = Server(machine)
    machine.compare()
    machine.clock.share()
    machine.jump(seconds)
    machine.run(60)

    server.replace(1)

    # Also before it has asked the database, which may be away.
    assert machine.off_seconds() == 0
    assert machine.compare() == 0
    assert (machine.off_seconds(), machine.clock.error_seconds()) == (0, seconds)


@pytest.mark.parametrize("seconds", MOVES)
def test_nothing_is_deleted_by_the_time_of_a_first_start_until_the_clocks_have_agreed(seconds: float) -> None:
    machine = Machine()
    machine.compare(database_error_seconds=seconds)
    machine.run(10 * HOUR_SECONDS)
    machine.compare(database_error_seconds=seconds)

    while_they_disagree = machine.clock.is_settled()
    machine.compare()
    # What was written meanwhile with an earlier time seems old at once.
    soon_after = machine.clock.is_settled()
    machine.run(SETTLING_SECONDS)

    assert (while_they_disagree, soon_after, machine.clock.is_settled()) == (False, seconds > 0, True)
    assert machine.off_seconds() == 0


@pytest.mark.parametrize("is_replaced", [False, True])
@pytest.mark.parametrize("seconds", MOVES)
def test_nothing_is_deleted_for_an_hour_after_both_clocks_moved_ahead(seconds: float, *, is_replaced: bool) -> None:
    machine = Machine()
    server = Server(machine)
    machine.compare()
    machine.jump(seconds)
    machine.compare(database_error_seconds=seconds)
    machine.clock.share()

    if is_replaced:
        server.replace(1)
        machine.compare(database_error_seconds=seconds)
    machine.run(SETTLING_SECONDS - 1)
    within = machine.clock.is_settled()
    machine.run(1)

    assert machine.off_seconds() == seconds
    assert (within, machine.clock.is_settled()) == (seconds < 0, True)


def test_a_small_move_ahead_unsettles_nothing() -> None:
    machine = Machine()
    machine.compare()
    machine.jump(MOVED_SECONDS_MAX)
    machine.compare(database_error_seconds=MOVED_SECONDS_MAX)

    assert machine.off_seconds() == MOVED_SECONDS_MAX
    assert machine.clock.is_settled()


def test_a_process_that_has_not_compared_its_clock_deletes_nothing(machine: Machine) -> None:
    assert not machine.clock.is_settled()
    machine.clock.share()
    machine.compare()
    assert machine.clock.is_settled()


def known(noted_at: int, *, database_offset: int | None = 2) -> KnownTime:
    """Return what a worker knew at a moment."""
    return KnownTime(
        noted_at=noted_at, offset=-1, database_offset=database_offset, unsettled_until=3, is_confirmed=True
    )


def test_the_newest_of_what_workers_know_is_read() -> None:
    shared = SharedTime(3)
    assert shared.newest() is None

    shared.note(1, known(20, database_offset=None))
    assert shared.newest() == known(20, database_offset=None)
    shared.note(0, known(10))
    shared.note(5, known(30))

    assert shared.newest() == known(30)


def test_what_a_worker_was_writing_when_it_was_killed_is_not_read() -> None:
    shared = SharedTime(2)
    shared.note(0, known(10))
    shared.note(1, known(20))
    # A part of a later record.
    shared._memory[64:68] = (21).to_bytes(4, "little")

    assert shared.newest() == known(10)
