"""No verdict of a test depends on luck, on the machine's clock or on its load: rules over all sources of the tests."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from tests.sources.decided import DECIDED
from tests.sources.draws import unseeded_draws
from tests.sources.needles import bare_needles, standing
from tests.sources.reading import Finding, Module, read, sources_of_tests
from tests.sources.times import judged, uses_of_time
from tests.sources.uses import Uses


@cache
def tree() -> tuple[list[Module], list[list[Finding]]]:
    """Return all modules of the tests, and what each rule found in them."""
    return read(sources_of_tests(), bare_needles, uses_of_time, unseeded_draws)


def listed(findings: Iterable[Finding]) -> list[str]:
    return [str(finding) for finding in findings]


def test_no_short_text_is_looked_for_in_a_text_that_may_have_random_values() -> None:
    modules, [needles, _, _] = tree()

    assert listed(standing(needles, modules)) == []


def test_no_test_sleeps_or_compares_with_the_clock_of_the_machine() -> None:
    modules, [_, times, _] = tree()

    refused, unused = judged(times, Uses(modules), DECIDED)

    assert listed(refused) == []
    assert unused == set(), "tests/sources/decided.py decides about what is there no more"


def test_every_random_value_follows_from_its_test() -> None:
    _, [_, _, draws] = tree()

    assert listed(draws) == []
