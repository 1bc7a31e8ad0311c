"""The manual's threat model and table of endings agree with their sources, and the tests and rules they name exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.endings import ENDED_BY, Cause, Issued
from ops.security import endings, names, threats
from ops.security.names import is_named, is_test

BOUNDARIES = threats.read(threats.SOURCE.read_text())
RENEW = "run .venv/bin/python -m ops.security.{}"


@pytest.mark.parametrize("boundary", BOUNDARIES, ids=lambda boundary: boundary.name)
def test_the_page_of_a_boundary_is_that_of_the_source(boundary: threats.Boundary) -> None:
    assert boundary.page.read_text() == threats.page(boundary, BOUNDARIES), RENEW.format("threats")


def test_every_threat_has_a_rule_that_is_there_and_tests_that_are_there() -> None:
    assert threats.problems(BOUNDARIES) == []
    assert all(len(boundary.threats) >= 5 for boundary in BOUNDARIES)


@pytest.mark.parametrize(
    ("there", "instead", "problem"),
    [
        ("::test_every_statement_names", "::test_no_statement_names", "database 4: the test "),
        ("core/endings.py::ENDED_BY", "core/endings.py::ENDED", "service 5: the rule is gone: core/endings.py::ENDED"),
        ("adapters/crypto/vault.py::", "adapters/crypto/vaults.py::", "database 1: the rule is gone"),
        ('rule = "13.7"', 'rule = "as ever"', "customer 8: the rule as ever is no number"),
        ("[directory]", "[list]", "the boundaries are "),
    ],
)
def test_what_has_gone_is_named(there: str, instead: str, problem: str) -> None:
    text = threats.SOURCE.read_text()
    renamed = text.replace("[[directory.", "[[list.") if there == "[directory]" else text
    assert there in renamed

    found = threats.problems(threats.read(renamed.replace(there, instead)))

    assert any(one.startswith(problem) for one in found), found


def test_a_threat_that_lacks_something_is_named() -> None:
    source = f'{threats.SOURCE.read_text()}\n[[database.threats]]\nthreat = "A new one."\nrule = "1.1"\n'
    untested = threats.SOURCE.read_text().replace("tests = [", "tests = []\nothers = [", 1)

    assert any("has the fields ['rule', 'threat']" in one for one in threats.problems(threats.read(source)))
    assert any("has the fields" in one for one in threats.problems(threats.read(untested)))


def test_names_are_looked_up_in_the_files_that_have_them() -> None:
    assert is_named("ops/release")
    assert is_named("core/sign_in/entitlement.py::ConnectionStanding::may_sign_in")
    assert is_named("core/endings.py::ENDED_BY")
    assert not is_named("core/sign_in/entitlement.py::may_sign_in")
    assert is_test("tests/ops/test_threats.py::test_names_are_looked_up_in_the_files_that_have_them")
    assert not is_test("tests/ops/test_threats.py::BOUNDARIES")
    assert not is_test("tests/ops/test_threats.py")
    assert not is_test("core/endings.py::Cause")


def test_a_test_that_never_runs_or_is_in_no_file_of_tests_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names, "ROOT", tmp_path)
    (tmp_path / "tests").mkdir()
    text = "import pytest\n" + "".join(
        f"@pytest.mark.{mark}\ndef test_{number}(): ...\n"
        for number, mark in enumerate(("long", "skipif(False, reason='x')", "skip", "skip('x')", "xfail(strict=False)"))
    )
    for name in ("test_a.py", "conftest.py"):
        (tmp_path / "tests" / name).write_text(text)

    found = [is_test(f"tests/{name}::test_{number}") for name in ("test_a.py", "conftest.py") for number in range(5)]

    assert found == [True, True, *[False] * 8]


def test_the_page_of_endings_is_the_table_of_the_code() -> None:
    text = endings.page()
    rows = [line for line in text.splitlines() if "●" in line]

    assert endings.PAGE.read_text() == text, RENEW.format("endings")
    assert sum(row.count("●") for row in rows) == sum(len(issued) for issued in ENDED_BY.values())
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [issued.value for issued in Issued]
    assert all(f"| {cause.value} |" in text for cause in Cause)
