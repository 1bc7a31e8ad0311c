"""The clock of a process: it goes on evenly when the machine's jumps, and follows it again once the database agrees."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.clock import DIFFERENCE_SECONDS_MAX, JUMP_SECONDS_MAX, CheckedClock
from adapters.crypto.randomness import SystemRandomness

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


class Machine:
    """The clocks of a machine: `jump` moves the wall clock alone, `run` both, and `correct` is the database's clock."""

    def __init__(self, *, wrong_seconds: float = 0.0) -> None:
        self.since_start = timedelta(hours=3)
        self.error = timedelta(seconds=wrong_seconds)
        self.database_error_seconds = 0.0
        self.clock = CheckedClock(self._wall_nanoseconds, self._nanoseconds_since_start)

    @property
    def correct(self) -> datetime:
        return NOON + self.since_start

    def run(self, seconds: float, *, drift_seconds: float = 0.0) -> None:
        """Let time pass; the wall clock goes faster by the drift."""
        self.since_start += timedelta(seconds=seconds)
        self.error += timedelta(seconds=drift_seconds)

    def jump(self, seconds: float) -> None:
        """Set the wall clock."""
        self.error += timedelta(seconds=seconds)

    def compare(self, *, database_error_seconds: float = 0.0, answer_seconds: float = 0.0) -> float:
        """Compare with the database, whose answer takes a while; return by how much the clock has moved."""
        reading = self.clock.reading()
        database_time = self.correct + timedelta(seconds=database_error_seconds)
        self.run(answer_seconds)
        compared = self.clock.compare(reading, database_time)
        self.database_error_seconds = compared.database_error_seconds
        return compared.moved_seconds

    def off_seconds(self) -> float:
        """Return by how much the clock of the process is ahead of the correct time."""
        return (self.clock() - self.correct).total_seconds()

    def _wall_nanoseconds(self) -> int:
        return (self.correct + self.error - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1_000

    def _nanoseconds_since_start(self) -> int:
        return self.since_start // timedelta(microseconds=1) * 1_000


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
    # Whose clock is right shows again once the database's is.
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
