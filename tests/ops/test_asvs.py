"""The answers to OWASP ASVS 5.0: complete, about tests and files that exist, and shown in the manual as they are."""

from __future__ import annotations

import re
import tomllib
from collections import Counter

import pytest

from ops.security import asvs
from ops.security.asvs_levels import LEVELS

TEST = "tests/ops/test_asvs.py::test_the_page_of_the_manual_shows_the_answers"


def problems_with(old: str, new: str) -> list[str]:
    """Return what the check says of the source with one piece of its text replaced, and not of the source as it is."""
    text = asvs.SOURCE.read_text()
    assert old in text
    known = asvs.problems(asvs.read(text))
    return [problem for problem in asvs.problems(asvs.read(text.replace(old, new, 1))) if problem not in known]


def test_there_are_as_many_requirements_as_the_standard_has() -> None:
    assert Counter(LEVELS.values()) == {1: 70, 2: 183}


def test_every_requirement_has_one_answer_whose_tests_and_files_exist() -> None:
    assert asvs.problems(asvs.read(asvs.SOURCE.read_text())) == []


def test_the_page_of_the_manual_shows_the_answers() -> None:
    shown = asvs.page(asvs.read(asvs.SOURCE.read_text()))

    assert asvs.PAGE.read_text() == shown, "run .venv/bin/python -m ops.security.asvs"


def test_a_test_that_is_gone_is_named_with_its_requirement() -> None:
    # Such as when it was renamed, or its class or file was.
    for old in ("::test_a_change_replaces_the_password", "::TestRefusals::test_a_code_answers", "/test_passwords.py::"):
        [problem] = set(problems_with(old, old.replace("es", "ez")))

        assert re.fullmatch(r"\d+\.\d+\.\d+: the test tests/\S+ does not exist", problem), old


def test_what_else_is_wrong_is_named_with_its_requirement() -> None:
    for old, new, problem in (
        ('"ops/docs/limits.md" =', '"ops/gone/limits.md" =', "2.1.3: the file ops/gone/limits.md does not exist"),
        ("[9.1.2]", "[9.1.9]", "9.1.2: has no answer"),
        ("[9.1.2]", "[9.1.9]", "9.1.9: is no requirement of levels 1 and 2"),
        ("[6.2.1]\nlevel = 1", "[6.2.1]\nlevel = 2", "6.2.1: is of level 1, not 2"),
        ('asks = "Codes work once"', 'asks = ""', "6.5.1: lacks `asks`"),
        ('asks = "Codes work once"', 'asks = "x"\nanswer = "y"', "6.5.1: has the unknown field answer"),
        ('asks = "Codes work once"', 'asks = "x"\ngap = "y"', "6.5.1: has more than one answer: tests, gap"),
        ('gap = "As 13.2.4', 'note = "As 13.2.4', "13.2.5: has no answer of: tests, code, not_applicable, gap"),
        (
            'gap = "As 13.2.4',
            'gap = ""\nnote = "As 13.2.4',
            "13.2.5: has no answer of: tests, code, not_applicable, gap",
        ),
    ):
        assert problem in problems_with(old, new), (old, new)


def test_a_requirement_that_stands_twice_or_elsewhere_is_refused() -> None:
    text = asvs.SOURCE.read_text()
    [row] = re.findall(r"^\[17\.3\.2\]\n(?:.+\n)+", text, re.MULTILINE)

    with pytest.raises(tomllib.TOMLDecodeError, match=r"17.*3.*2"):
        asvs.read(f"{text}\n{row}")
    moved = asvs.read(row + "\n" + text.replace(row, ""))
    assert asvs.problems(moved) == ["17.3.2: does not stand in the order of the numbers"]
