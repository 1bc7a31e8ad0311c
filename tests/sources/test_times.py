"""The rules about time find what waits for the machine's clock or compares with it, and leave what does not."""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.sources.reading import Finding, read
from tests.sources.times import HASTY, READING, SLEEPING, judged, uses_of_time
from tests.sources.uses import Uses

IMPORTS = """import asyncio
import resource
import time
from datetime import UTC, datetime
from time import monotonic, sleep

import pytest
import trio

from tests.waiting import WAIT_SECONDS_MAX, eventually, wait_until

SOME_SECONDS = 0.5
"""


def refused(source: str, decided: dict[str, str] | None = None, **others: str) -> list[Finding]:
    """Return what is refused in `tests/test_it.py`, beside further modules."""
    sources = [("tests/test_it.py", source), *((f"tests/{name}.py", other) for name, other in others.items())]
    modules, [findings] = read(sources, uses_of_time)
    return judged(findings, Uses(modules), decided or {})[0]


def advice(body: str, *, marks: str = "", fixtures: str = "") -> list[str]:
    """Return what is said of a test with this body."""
    return [
        one.advice for one in refused(f"{IMPORTS}\n{marks}\nasync def test_it({fixtures}):\n{indent(body, '    ')}")
    ]


@pytest.mark.parametrize(
    "body",
    [
        "time.sleep(0.1)",
        "time.sleep(SOME_SECONDS)",
        "sleep(2 * seconds)",
        "await trio.sleep(1)",
        "await trio.sleep(SOME_SECONDS)",
        "await asyncio.sleep(0.01)",
        "page.wait_for_timeout(200)",
        "process(lambda: time.sleep(1))",
    ],
)
def test_a_test_that_sleeps_is_found(body: str) -> None:
    assert advice(body) == [SLEEPING]
    assert advice(body, marks="@pytest.mark.timing") == []


@pytest.mark.parametrize(
    "body",
    [
        "assert time.monotonic() < limit",
        "assert monotonic() < limit",
        "began_at = time.perf_counter()",
        "began_at = time.process_time_ns()",
        "used = resource.getrusage(resource.RUSAGE_SELF)",
        "now = datetime.now(UTC)",
        "pool = Pool(monotonic=time.monotonic)",
        "began_at = trio.current_time()",
    ],
)
def test_a_test_that_reads_the_clock_of_the_machine_is_found(body: str) -> None:
    assert advice(body) == [READING]
    assert advice(body, marks="@pytest.mark.timing") == []


@pytest.mark.parametrize(
    "body",
    [
        "with trio.fail_after(5): await ended.wait()",
        "with trio.move_on_after(SOME_SECONDS): await ended.wait()",
        "with trio.fail_after(limit): await ended.wait()",
        "wait_until(is_met, seconds_max=2)",
        "await eventually(is_met, seconds_max=SOME_SECONDS)",
        "answer = urlopen(request, timeout=10)",
        "process.wait(30)",
        "assert is_offered.wait(SOME_SECONDS)",
    ],
)
def test_a_deadline_of_less_than_a_minute_is_found(body: str) -> None:
    assert advice(body) == [HASTY]


@pytest.mark.parametrize(
    "body",
    [
        "time.sleep(0)",
        "await trio.sleep(0)",
        "await trio.lowlevel.checkpoint()",
        "with trio.fail_after(60): await ended.wait()",
        "with trio.fail_after(WAIT_SECONDS_MAX): await ended.wait()",
        "with trio.move_on_after(0): await ended.wait()",
        "wait_until(is_met)",
        "wait_until(is_met, seconds_max=120)",
        "wait_until(is_met, seconds_max=SOME_SECONDS + 60)",
        "now = datetime(2026, 2, 3, tzinfo=UTC)",
        "clock.now = clock() + timedelta(hours=1)",
        "text = time.strftime('%Y')",
        "clock.sleep(3)",
        "answer = urlopen(request, timeout=60)",
        "connection = connect(url, timeout=None)",
        "process.wait(120)",
        "await waiters.wait(3)",
        "text = ', '.join(names)",
    ],
)
def test_what_hangs_on_no_clock_is_left(body: str) -> None:
    assert advice(body) == []


@pytest.mark.parametrize("fixtures", ["autojump_clock: MockClock", "mock_clock"])
def test_a_virtual_clock_allows_what_follows_it(fixtures: str) -> None:
    assert advice("await trio.sleep(5)\nassert trio.current_time() == 5", fixtures=fixtures) == []
    assert advice("time.sleep(5)", fixtures=fixtures) == [SLEEPING]
    assert advice("assert time.monotonic() < 5", fixtures=fixtures) == [READING]


def test_a_virtual_clock_may_come_by_another_fixture_or_by_a_mark() -> None:
    source = f"""{IMPORTS}
@pytest.fixture
def simulation(autojump_clock): ...

@pytest.mark.usefixtures("autojump_clock")
async def test_marked():
    await trio.sleep(1)

async def test_with_a_simulation(simulation):
    await trio.sleep(1)

async def test_without(other):
    await trio.sleep(1)
"""

    assert [one.definition for one in refused(source)] == ["test_without"]


def test_a_helper_is_allowed_when_every_test_that_reaches_it_is() -> None:
    helper = "import trio\n\nclass Receiver:\n    async def answer(self):\n        await trio.sleep(3)\n"
    tests = """
import pytest
from tests.receiver import Receiver

@pytest.fixture
def receiver():
    return Receiver()

async def test_with_a_clock(receiver, autojump_clock): ...

class TestTime:
    @pytest.mark.timing
    async def test_marked(self, receiver): ...
"""

    assert refused(tests, receiver=helper) == []
    [finding] = refused(f"{tests}\nasync def test_without_one(receiver): ...\n", receiver=helper)
    assert str(finding) == (
        f"tests/receiver.py:5: {SLEEPING} (tests/test_it.py::test_without_one uses it, and 0 others)"
    )


def test_a_helper_that_no_test_reaches_by_name_is_found() -> None:
    assert [one.definition for one in refused("import time\n\ndef hang():\n    time.sleep(3600)\n")] == ["hang"]


def test_a_fixture_of_a_folder_reaches_its_tests() -> None:
    fixture = "import time\nimport pytest\n\n@pytest.fixture\ndef slow():\n    time.sleep(1)\n"

    modules, [findings] = read(
        [
            ("tests/web/conftest.py", fixture),
            ("tests/web/test_inside.py", "def test_inside(slow): ..."),
            ("tests/test_outside.py", "def test_outside(slow): ..."),
        ],
        uses_of_time,
    )

    assert Uses(modules).tests_of(("tests/web/conftest.py", "slow")) == {("tests/web/test_inside.py", "test_inside")}
    assert len(findings) == 1


@pytest.mark.parametrize("place", ["tests/test_it.py", "tests/test_it.py::hang"])
def test_a_decision_allows_a_module_or_a_definition(place: str) -> None:
    source = "import time\n\ndef hang():\n    time.sleep(3600)\n"

    assert refused(source, {place: "It hangs on purpose."}) == []
    assert refused(source, {"tests/test_it.py::other": "It hangs on purpose."}) != []


def test_a_decision_about_nothing_is_told() -> None:
    modules, [findings] = read([("tests/test_it.py", "def test_it(): ...\n")], uses_of_time)

    assert judged(findings, Uses(modules), {"tests/test_it.py": "It is old."}) == ([], {"tests/test_it.py"})
