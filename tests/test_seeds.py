"""What a test draws follows from its own id; what the product draws follows from nothing."""

from __future__ import annotations

import json
import os
import random
import re
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from tests.seeds import CANNOT_FOLLOW, Numbers, Unfollowed, drawn_at

ROOT: Final = Path(__file__).parents[1]
LAYERS: Final = ("core", "ports", "adapters", "actors", "entrypoints")
WAIT_SECONDS_MAX: Final = 120
TASKS: Final = 6
NUMBERS: Final = Numbers()
# A module of tests that write what they draw to a file.
DRAWING: Final = """
import json, os, pathlib, random, secrets, threading, uuid
import pytest, trio
from core.secrets import Secret
from entrypoints.web.serving.admission.browsers import masked
from tests.clock import SettableClock
from tests.ids import FollowingRandomness

OF_MODULE = secrets.token_hex()

@pytest.fixture(scope="module")
def shared():
    return secrets.token_hex()

def write(name, *drawn):
    following = FollowingRandomness(SettableClock())
    drawn = [*drawn, OF_MODULE, following.new_id(), following.new_id(), following.token(), masked(Secret("a" * 43))]
    drawn += [uuid.uuid4(), random.random(), random.Random().random(), secrets.randbelow(2**60), os.urandom(8)]
    with pathlib.Path(os.environ["DRAWN"]).open("a") as file:
        file.write(json.dumps([name, [str(one.reveal() if isinstance(one, Secret) else one) for one in drawn]]) + "\\n")

def test_first(shared):
    write("first", shared)

async def test_second():
    await trio.to_thread.run_sync(secrets.token_hex)
    write("second")

def test_third(shared):
    write("third", shared)
"""
# A process that draws as the product does, and prints what of the tests it has.
PRODUCT: Final = """
import json, os, random, sys
from adapters.crypto.randomness import SystemRandomness
from adapters.crypto.vault import MasterKey, Vault
from entrypoints.web.serving.admission.browsers import masked
from core.secrets import Secret

source = SystemRandomness(lambda: 10**18)
vault = Vault([MasterKey(bytes(32))])
drawn = [source.new_id(), source.new_account_id(), source.challenge_id(), source.salt(), source.choice("abcdef", 40)]
drawn += [source.token().reveal(), source.mail_token().reveal(), masked(Secret("a" * 43)), random.random()]
drawn += [MasterKey.generate().value, vault.seal(b"secret", table="t", column="c", row="r"), random.Random().random()]
print(json.dumps([list(map(str, drawn)), [name for name in sys.modules if name.split(".")[0] in ("tests", "pytest")]]))
"""
# In the product `random` decides what is no secret.
USES_OF_RANDOM: Final = {
    "actors/mailboxes.py": "how long an answer is taken for the newest",
    "actors/supervision.py": "how long a failed loop waits",
    "adapters/crypto/machine_slots.py": "the order in which a thread tries the slots",
    "adapters/gateways/stripe.py": "how long a request waits before it is sent again",
    "adapters/postgres/database.py": "how long a transaction waits before it runs again",
    "adapters/tracing/spans.py": "the ids of spans, which are public, and which spans are kept",
    "entrypoints/demo/filling.py": "what the people of the demonstration do, by a seed of its own",
}
# What would replace a source, or give it a seed.
SEEDS_A_SOURCE: Final = re.compile(
    r"\burandom\b[^(]*(?<![=!])=(?!=)|['\"]_?urandom['\"]|\b_urandom\b|\brandom\.seed\b|\bsetstate\b|\bset_seed\b|\b_sysrand\b"
)
# Sources that tests/seeds.py does not replace.
NOT_REPLACED: Final = re.compile(r"/dev/u?random|\bgetrandom\b|\bRAND_bytes\b|\b_random\b|\bnumpy\b")
IMPORTS_RANDOM: Final = re.compile(r"^\s*(?:import|from) random\b", re.MULTILINE)


def draw() -> list[Any]:
    """Draw from each source of Python."""
    return [
        *(os.urandom(16), secrets.token_urlsafe(), secrets.randbelow(2**60), uuid4()),
        *(random.SystemRandom().random(), random.Random().random(), random.random(), random.sample(range(99), 9)),
    ]


def drawn_by(name: str) -> list[Any]:
    """Draw at a place."""
    with drawn_at(name):
        return draw()


def order_of_tasks(name: str) -> list[int]:
    """Return the order in which Trio runs tasks at a place."""
    order = list[int]()

    async def step_twice(number: int) -> None:
        for _ in range(2):
            order.append(number)
            await trio.lowlevel.checkpoint()

    async def run() -> None:
        async with trio.open_nursery() as nursery:
            for number in range(TASKS):
                nursery.start_soon(step_twice, number)

    with drawn_at(name):
        trio.run(run)
    return order


def source_of(*folders: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each module in folders of the repository."""
    for path in sorted(found for folder in folders for found in (ROOT / folder).rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), path.read_text()


def those_with(pattern: re.Pattern[str], files: Iterable[tuple[str, str]]) -> set[str]:
    """Return the paths of the files in which a pattern is found."""
    return {path for path, text in files if pattern.search(text)}


@given(st.text(), st.text())
def test_a_place_draws_the_same_again_and_another_place_draws_something_else(one: str, other: str) -> None:
    first = drawn_by(one)

    assert drawn_by(one) == first
    assert one == other or not set(map(str, drawn_by(other))) & set(map(str, first))


def test_trio_runs_tasks_in_the_order_of_the_place() -> None:
    orders = [order_of_tasks(f"place {number}") for number in range(10)]

    assert orders == [order_of_tasks(f"place {number}") for number in range(10)]
    assert len(set(map(tuple, orders))) > 1


def test_a_place_within_another_one_changes_nothing_outside() -> None:
    with drawn_at("outer"):
        alone = [draw(), draw()]
    with drawn_at("outer"):
        before = draw()
        drawn_by("inner")
        after = draw()

    assert [before, after] == alone


def test_what_other_threads_draw_changes_nothing_in_the_main_one() -> None:
    alone = drawn_by("place")
    with drawn_at("place"):
        others = list[Any]()
        thread = threading.Thread(target=lambda: others.extend(draw()))
        thread.start()
        thread.join()
        beside = draw()

    assert beside == alone
    assert not set(map(str, others)) & set(map(str, alone))


def test_names_that_other_processes_have_too_follow_from_no_place() -> None:
    with drawn_at("place"):
        one = Unfollowed().random()
    with drawn_at("place"):
        assert Unfollowed().random() != one


def test_a_test_draws_the_same_alone_and_behind_others(tmp_path: Path) -> None:
    module = tmp_path / "test_drawing.py"
    module.write_text(DRAWING)

    def run(*tests: str) -> dict[str, list[str]]:
        file = tmp_path / "drawn"
        file.write_text("")
        options = ["--import-mode=importlib", "-p", "tests.seeds", "-p", "pytest_trio.plugin", "-o", "trio_mode=true"]
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                *options,
                "--rootdir",
                tmp_path,
                *(f"{module}::test_{one}" for one in tests),
            ],
            cwd=tmp_path,
            env=os.environ | {"DRAWN": str(file), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            check=True,
            capture_output=True,
            timeout=WAIT_SECONDS_MAX,
        )
        return dict(map(json.loads, file.read_text().splitlines()))

    whole = run("first", "second", "third")

    assert list(whole) == ["first", "second", "third"]
    # The first one of each run has no other test before it.
    assert run("third", "second", "first") == whole
    # They share what their module and its fixture drew, and nothing else.
    assert len(set(whole["first"]) & set(whole["third"])) == 2
    assert len(set(whole["first"]) & set(whole["second"])) == 1


def test_this_test_runs_where_the_sources_are_replaced(request: pytest.FixtureRequest) -> None:
    assert request.config.pluginmanager.has_plugin("tests.seeds")
    assert os.urandom is vars(random)["_urandom"]
    with drawn_at(request.node.nodeid):
        here = secrets.token_hex()
    assert here == secrets.token_hex()


def test_a_process_of_the_product_draws_from_the_operating_system(tmp_path: Path) -> None:
    given_names = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    given_names |= {"PYTHONHASHSEED": "1", "GATEHOUSE_TEST_SAMPLE": "1", "GATEHOUSE_REPORT_SEED": "1"}

    def run() -> list[list[str]]:
        program = [sys.executable, "-c", PRODUCT]
        options: dict[str, Any] = {"cwd": tmp_path, "env": given_names, "timeout": WAIT_SECONDS_MAX}
        return json.loads(subprocess.run(program, check=True, capture_output=True, **options).stdout)

    (one, of_tests), (other, _) = run(), run()

    assert of_tests == []
    assert len(one) == 12
    assert not set(one) & set(other)


def test_no_module_of_the_product_replaces_a_source_or_gives_it_a_seed() -> None:
    assert those_with(SEEDS_A_SOURCE, source_of(*LAYERS)) == set()
    assert those_with(re.compile(r"^\s*(?:import|from) tests\b", re.MULTILINE), source_of(*LAYERS)) == set()


@pytest.mark.parametrize(
    "line",
    [
        "os.urandom = fixed",
        "urandom: Any = fixed",
        'setattr(os, "urandom", fixed)',
        "random._urandom",
        "random.seed(1)",
        "secrets._sysrand = 1",
    ],
)
def test_what_would_replace_a_source_is_found(line: str) -> None:
    assert SEEDS_A_SOURCE.search(line)


def test_the_product_uses_random_only_for_what_is_no_secret() -> None:
    assert those_with(IMPORTS_RANDOM, source_of(*LAYERS)) == set(USES_OF_RANDOM)


def test_no_module_of_the_product_draws_from_a_source_that_the_tests_cannot_replace() -> None:
    assert those_with(NOT_REPLACED, source_of(*LAYERS)) == set()


def test_what_cannot_follow_has_a_reason_each() -> None:
    assert all(len(reason.split()) > 3 for reason in CANNOT_FOLLOW.values())


@pytest.mark.parametrize("name", ["one", "other"])
def test_numbers_begin_anew_in_each_test(name: str) -> None:
    assert (next(NUMBERS), next(NUMBERS)) == (1, 2)
