"""What a check reads in the output of the programs that it runs."""

from __future__ import annotations

from ops.testing.steps import failed_tests


def test_a_failed_test_is_named_whole_whatever_its_values_are() -> None:
    printed = """
FAILED tests/test_a.py::test_it - assert [1] == [2]
FAILED tests/test_a.py::test_it[displayName eq "a[0]" - or b] - assert 1 == 2
FAILED tests/test_a.py::TestIt::test_it[one two]
ERROR tests/test_b.py - ImportError: no module [c]
ERROR: not found: tests/test_a.py::test_it
(no match in any of [<Module test_a.py>])
"""

    assert failed_tests(printed) == [
        "tests/test_a.py::test_it",
        'tests/test_a.py::test_it[displayName eq "a[0]" - or b]',
        "tests/test_a.py::TestIt::test_it[one two]",
        "tests/test_b.py",
    ]
