"""The rule about random values finds what the seed of a test does not reach."""

from __future__ import annotations

import pytest

from tests.sources.draws import AT_IMPORT, BOUND, UNSEEDED, unseeded_draws
from tests.sources.reading import read

IMPORTS = """import os, random, secrets, ssl, uuid
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from uuid import UUID, uuid4

import pytest

from adapters.crypto.vault import MasterKey
from tests.ids import new_id
"""


def advice(source: str) -> list[str]:
    """Return what is said of a module."""
    _, [findings] = read([("tests/test_it.py", f"{IMPORTS}\n{source}\n")], unseeded_draws)
    return [finding.advice for finding in findings]


@pytest.mark.parametrize(
    "call",
    ["ssl.RAND_bytes(16)", "os.getrandom(16)", 'open("/dev/urandom", "rb")', 'Path("/dev/random").read_bytes()'],
)
def test_a_source_that_no_seed_reaches_is_found(call: str) -> None:
    assert advice(f"def test_it():\n    key = {call}") == [UNSEEDED]
    assert advice(f"KEY = {call}") == [UNSEEDED]


@pytest.mark.parametrize(
    "source",
    [
        "KEY = os.urandom(32)",
        "KEY = secrets.token_hex()",
        "ADA, GRACE = uuid4(), UUID(int=1)",
        "ADA = str(uuid.uuid4())",
        "ORDER = random.sample(NAMES, 3)",
        "DRAW = Random()",
        "KEY = MasterKey.generate().encoded()",
        "ADA = new_id()",
        "PATHS = [f'/{uuid4()}' for _ in range(1)]",
        "class TestIt:\n    ADA = uuid4()",
        "@dataclass\nclass Person:\n    id: UUID = uuid4()",
        "def insert(user_id=uuid4()): ...",
        "def insert(*, user_id=uuid4()): ...",
        "@pytest.mark.parametrize('content', [os.urandom(9)])\ndef test_it(content): ...",
    ],
)
def test_a_value_drawn_at_import_is_found(source: str) -> None:
    assert advice(source) == [AT_IMPORT]


def test_a_function_bound_at_import_is_found() -> None:
    assert advice("from os import urandom") == [BOUND]
    assert advice("def test_it():\n    from os import urandom") == []


@pytest.mark.parametrize(
    "source",
    [
        "def test_it():\n    key = os.urandom(32), secrets.token_hex(), uuid4(), random.random(), Random()",
        "DRAW = Random(63)",
        "DRAW = random.SystemRandom()",
        "ADA = UUID(int=1)",
        "insert = lambda: uuid4()",
        "@dataclass\nclass Person:\n    id: UUID = field(default_factory=uuid4)",
        "class Builder:\n    def new(self):\n        return uuid4()",
        "@pytest.fixture\ndef key():\n    return MasterKey.generate()",
        'SOURCE = "/dev/urandom"',
    ],
)
def test_what_a_seed_reaches_is_left(source: str) -> None:
    assert advice(source) == []
